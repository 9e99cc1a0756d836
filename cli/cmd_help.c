/* cmd_help.c -- trellis help: the overview, one command, or the whole man page. */
/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "help.h"
#include "message.h"
#include "output.h"
#include "style.h"
#include "verbs.h"

typedef struct settings {
    bool man;
} settings;

static const option options[] = {
    {"man", .type = OPTION_FLAG, OPTION_FIELD(settings, man),
     .help = "print the man page of the whole program"},
    {0},
};

static int run(void *settings_, const operands *args)
{
    const settings *s = settings_;
    const verb *v = NULL;
    if (args->n && !(v = verb_find(args->item[0]))) {
        message_hint("'trellis help' lists the commands");
        return CLI_USAGE;
    }
    text t = {0};
    if (s->man)
        help_man(&t);
    else if (v)
        help_about(v, &t);
    else
        help_overview(&t);
    if (!s->man && style_colour(STDOUT_FILENO))
        style_help(&t);
    return output_print(&t);
}

const verb verb_help = {
    .name = "help",
    .summary = "explain a command",
    .usage = "[--man] [COMMAND]",
    .description = "Explains a command, or lists them all.\n",
    .options = options,
    .settings_size = sizeof(settings),
    .max_operands = 1,
    .run = run,
};
