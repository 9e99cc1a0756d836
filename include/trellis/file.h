/* file.h -- replacing files atomically.
 *
 * A writer fills PATH.tmp-XXXXXXXXXXXX beside its target; commit flushes, fsyncs, renames and
 * fsyncs the folder, anything else removes the temporary file.  A reader therefore sees the old
 * file or the new one, never a part.  A symbolic link is followed: what it names is replaced, the
 * link stays.  The new file has the permissions (and, where the system allows it, the owner) of
 * the one that it replaces, or those that the umask gives.  A target that is not a regular file
 * (a pipe, /dev/null) is written in place.
 *
 * A temporary file is locked (flock) while it is written.  Unlocked ones of the same target, left
 * by a process that was killed, are removed when a writer is opened.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_FILE_H
#define TRELLIS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "trellis/status.h"

TRL_BEGIN_DECLS

typedef struct trl_writer trl_writer;

/* TRL_EIO (err->path is `path`), TRL_EINVAL for NULL, TRL_ENOMEM.  The other functions fail in the
 * same ways. */
TRL_API trl_status trl_writer_open(const char *path, trl_writer **out, trl_error *err);
TRL_API trl_status trl_writer_put(trl_writer *w, const void *bytes, size_t n, trl_error *err);
TRL_API trl_status trl_writer_commit(trl_writer *w, trl_error *err); /* frees w in any case */
TRL_API void trl_writer_abort(trl_writer *w);                        /* accepts NULL; frees w */

/* Passes everything written so far to the system: for readers of a pipe. */
TRL_API trl_status trl_writer_flush(trl_writer *w, trl_error *err);

/* The temporary file, for a handler of fatal signals to unlink; NULL when written in place.  Valid
 * until the writer is freed. */
TRL_API const char *trl_writer_temporary(const trl_writer *w);

/* Whether writing `a` would replace or change what `b` names: one regular file by device and inode,
 * or, where neither exists, one path after symbolic links.  False for NULL and for "-". */
TRL_API bool trl_same_file(const char *a, const char *b);

TRL_END_DECLS

#endif
