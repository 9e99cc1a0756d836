/* temporary.h -- private to file writing: the temporary file beside a target, and resolving
 * symbolic links.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEMPORARY_H
#define TRL_TEMPORARY_H

/* The path that `path` leads to through symbolic links, whether it exists or not; the caller frees
 * it.  NULL: errno (ENOMEM, ELOOP, ...). */
char *trl_follow_links(const char *path);

/* Creates and locks a new file beside `target`, with the permissions that the umask allows; first
 * removes the ones that dead processes left. Returns the descriptor and the name (the caller frees
 * it), or -1 with errno set. */
int trl_temporary_create(const char *target, char **name);

/* Where temporary files without a name go: $TMPDIR, or /tmp. */
const char *trl_temporary_folder(void);

/* A new file there that has no name, for reading and writing; -1 with errno set. */
int trl_temporary_unnamed(void);

#endif
