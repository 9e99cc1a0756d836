/* file.h -- whole files: mapped for reading, replaced atomically when written.
 *
 * A writer fills `PATH.tmp-XXXXXX` beside the target; commit flushes, fsyncs, renames and
 * fsyncs the folder; anything else removes the temporary file.  A reader therefore sees the
 * old file or the new one, never a part.  A target that is no regular file (a pipe, /dev/null)
 * is written in place.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FILE_H
#define TRL_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "trellis/status.h"

typedef struct trl_mapped {
    const unsigned char *data; /* NULL when size is 0 */
    size_t size;
    bool mapped; /* munmap, else free */
} trl_mapped;

/* Maps the file read-only and shared.  TRL_EIO, TRL_ENOMEM. */
trl_status trl_map_file(const char *path, trl_mapped *out, trl_error *err);
void trl_unmap(trl_mapped *m);

typedef struct trl_writer trl_writer;

trl_status trl_writer_open(const char *path, trl_writer **out, trl_error *err);
trl_status trl_writer_put(trl_writer *w, const void *bytes, size_t n, trl_error *err);
trl_status trl_writer_commit(trl_writer *w, trl_error *err); /* frees w in any case */
void trl_writer_abort(trl_writer *w);                        /* accepts NULL; frees w */

#endif
