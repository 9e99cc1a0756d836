/* cmd_export.c -- trellis export: a model for CRFsuite. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "message.h"
#include "trellis/foreign.h"
#include "verbs.h"

typedef struct settings {
    const char *to;
} settings;

static const option options[] = {
    {"output", 'o', OPTION_STRING, true, OPTION_FIELD(settings, to), .value = "FILE",
     .file = FILE_OUTPUT, .help = "the model file of CRFsuite to write"},
    {0},
};

static int run(void *settings_, const operands *args)
{
    const settings *s = settings_;
    trl_error err = {0};
    trl_model *m = NULL;
    trl_status st = trl_model_open(args->item[0], &m, &err);
    if (st == TRL_OK) {
        st = trl_model_export(m, s->to, &err);
        if (st != TRL_OK && !err.path[0])
            snprintf(err.path, sizeof err.path, "%s", args->item[0]);
        if (st == TRL_OK && trl_model_get_info(m).n_columns)
            message_warn("the model reads columns: CRFsuite will need its attributes as they are "
                         "after the template, for example 'U00:word'");
    }
    trl_model_free(m);
    if (st == TRL_OK)
        return CLI_DONE;
    message_error(&err);
    return CLI_FAILED;
}

const verb verb_export = {
    .name = "export",
    .summary = "write a model as CRFsuite's",
    .usage = "-o FILE MODEL",
    .description =
        "Writes a chain model of order 1 as a model file of CRFsuite, for programs that\n"
        "use it (crfsuite tag, python-crfsuite).  Weights become doubles.\n",
    .examples = "  trellis export ner.model -o ner.crfsuite\n",
    .options = options,
    .settings_size = sizeof(settings),
    .min_operands = 1,
    .max_operands = 1,
    .operand = "a model",
    .run = run,
};
