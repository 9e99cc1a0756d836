/* file.h -- whole files, read or mapped.  Writing: trellis/file.h. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FILE_H
#define TRL_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "trellis/file.h"

typedef struct trl_mapped {
    const unsigned char *data; /* 64-byte aligned; NULL when size is 0 */
    size_t size;
    bool mapped; /* munmap, else free */
} trl_mapped;

/* Reads the file into memory: later changes of the file have no effect. It may change while it is
 * being read: check the bytes, not the file.  TRL_EIO, TRL_ENOMEM. */
trl_status trl_read_file(const char *path, trl_mapped *out, trl_error *err);

/* Maps the file read-only and shared: processes share its pages. Changes in place become visible,
 * and truncating the file kills the reader (SIGBUS): only for files that are replaced by rename.
 * TRL_EIO, TRL_ENOMEM. */
trl_status trl_map_file(const char *path, trl_mapped *out, trl_error *err);
void trl_unmap(trl_mapped *m);

#endif
