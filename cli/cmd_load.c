/* cmd_load.c -- trellis load: a dump back into a model. */
/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "trellis/model.h"
#include "verbs.h"

typedef struct settings {
    const char *model;
} settings;

static const option options[] = {
    {"model", 'm', OPTION_STRING, true, OPTION_FIELD(settings, model), .value = "MODEL",
     .file = FILE_OUTPUT, .help = "the model file to write"},
    {0},
};

static int run(void *settings_, const operands *args)
{
    const settings *s = settings_;
    trl_error err = {0};
    if (trl_model_undump(args->item[0], s->model, &err) == TRL_OK)
        return CLI_DONE;
    message_error(&err);
    return CLI_FAILED;
}

const verb verb_load = {
    .name = "load",
    .alias = "undump",
    .summary = "make a model from the text that dump printed",
    .usage = "-m MODEL DUMP",
    .description = "Reads what 'trellis dump' printed ('-': standard input), changed by hand\n"
                   "or not, and writes the model.\n",
    .examples = "  trellis load chunk.dump -m chunk.model\n",
    .options = options,
    .settings_size = sizeof(settings),
    .min_operands = 1,
    .max_operands = 1,
    .operand = "a dump",
    .run = run,
};
