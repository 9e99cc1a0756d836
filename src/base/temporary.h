/* temporary.h -- private to file writing: the temporary file beside a target, and what links name.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEMPORARY_H
#define TRL_TEMPORARY_H

/* What `path` names after symbolic links, whether it exists or not; to be freed.  NULL: errno
 * (ENOMEM, ELOOP, ...). */
char *trl_follow_links(const char *path);

/* Creates and locks a new file beside `target`, which obeys the umask; first removes those that
 * dead processes left.  The descriptor and its name (to be freed), or -1 and errno. */
int trl_temporary_create(const char *target, char **name);

#endif
