/* unnamed.c -- temporary files without a name. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/temporary.h"

const char *trl_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

int trl_temporary_unnamed(void)
{
    const char *folder = trl_temporary_folder();
#ifdef O_TMPFILE
    const int unnamed = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (unnamed >= 0)
        return unnamed; /* it never had one */
#endif
    char path[512];
    const int n = snprintf(path, sizeof path, "%s/trellis-XXXXXX", folder);
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = mkstemp(path);
    if (fd >= 0)
        unlink(path);
    return fd;
}
