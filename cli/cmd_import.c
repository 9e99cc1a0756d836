/* cmd_import.c -- trellis import: models of CRFsuite, CRF++ and Wapiti. */
/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "trellis/foreign.h"
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
    if (trl_model_import(args->item[0], s->model, &err) == TRL_OK)
        return CLI_DONE;
    message_error(&err);
    return CLI_FAILED;
}

const verb verb_import = {
    .name = "import",
    .summary = "make a model from one of CRFsuite, CRF++ or Wapiti",
    .usage = "-m MODEL FILE",
    .description = "Reads a model ('-': standard input) of CRFsuite (its model file, or what\n"
                   "'crfsuite dump' printed), CRF++ (binary or text) or Wapiti 1.5, which it\n"
                   "tells apart itself, and writes a model that labels as that tool does.\n",
    .examples = "  trellis import ner.crfsuite -m ner.model\n"
                "  trellis tag -m ner.model new.crfsuite\n",
    .options = options,
    .settings_size = sizeof(settings),
    .min_operands = 1,
    .max_operands = 1,
    .operand = "a model of another tool",
    .run = run,
};
