/* cmd_load.c -- trellis load: a dump back into a model. */
/* SPDX-License-Identifier: MIT */
#include "to_model.h"
#include "trellis/model.h"
#include "verbs.h"

static int run(void *settings, const operands *args)
{
    return to_model(trl_model_undump, settings, args);
}

const verb verb_load = {
    .name = "load",
    .alias = "undump",
    .summary = "make a model from the text that dump printed",
    .usage = "-m MODEL DUMP",
    .description = "Reads what 'trellis dump' printed ('-': standard input), changed by hand\n"
                   "or not, and writes the model.\n",
    .examples = "  trellis load chunk.dump -m chunk.model\n",
    .options = to_model_options,
    .settings_size = sizeof(to_model_settings),
    .min_operands = 1,
    .max_operands = 1,
    .operand = "a dump",
    .run = run,
};
