/* cmd_import.c -- trellis import: models of CRFsuite, CRF++ and Wapiti. */
/* SPDX-License-Identifier: MIT */
#include "to_model.h"
#include "trellis/foreign.h"
#include "verbs.h"

static int run(void *settings, const operands *args)
{
    return to_model(trl_model_import, settings, args);
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
    .options = to_model_options,
    .settings_size = sizeof(to_model_settings),
    .min_operands = 1,
    .max_operands = 1,
    .operand = "a model of another tool",
    .run = run,
};
