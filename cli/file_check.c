/* file_check.c -- every output against everything else on the command line. */
/* SPDX-License-Identifier: MIT */
#include "file_check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "trellis/file.h"

static const char *path_of(const option *o, const void *settings)
{
    const char *path = NULL;
    if (o->name && o->type == OPTION_STRING && o->file != FILE_NONE)
        memcpy(&path, (const char *)settings + o->at, sizeof path);
    return path;
}

static bool refuse(const option *o, const char *path, const char *other)
{
    message_say("--%s %s: this is also %s, which would be lost", o->name, path, other);
    message_hint("give the output a name of its own");
    return false;
}

/* Against the options after `o` and the inputs before it, so that no pair comes twice.  An input
 * that is not there cannot be lost, and may not be a file at all, as the word auto of --clusters.
 */
static bool check_options(const verb *v, const option *o, const char *path, const void *settings)
{
    for (const option *x = v->options; !option_is_last(x); x++) {
        const char *other = path_of(x, settings);
        if (x == o || !other || (x->file == FILE_OUTPUT && x < o) ||
            (x->file == FILE_INPUT && access(other, F_OK) != 0) || !trl_same_file(path, other))
            continue;
        char shown[600];
        snprintf(shown, sizeof shown, "--%s %s", x->name, other);
        return refuse(o, path, shown);
    }
    return true;
}

bool file_check(const verb *v, const void *settings, const operands *args)
{
    for (const option *o = v->options; !option_is_last(o); o++) {
        const char *path = o->file == FILE_OUTPUT ? path_of(o, settings) : NULL;
        if (path && !check_options(v, o, path, settings))
            return false;
        for (size_t i = 0; path && i < args->n; i++)
            if (access(args->item[i], F_OK) == 0 && trl_same_file(path, args->item[i])) {
                char shown[600];
                snprintf(shown, sizeof shown, "the input %s", args->item[i]);
                return refuse(o, path, shown);
            }
    }
    return true;
}
