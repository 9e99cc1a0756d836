/* to_model.c -- a file into a model. */
/* SPDX-License-Identifier: MIT */
#include "to_model.h"

#include "message.h"

const option to_model_options[] = {
    {"model", 'm', OPTION_STRING, true, OPTION_FIELD(to_model_settings, model), .value = "MODEL",
     .file = FILE_OUTPUT, .help = "the model file to write"},
    {0},
};

int to_model(to_model_fn make, const to_model_settings *s, const operands *args)
{
    trl_error err = {0};
    if (make(args->item[0], s->model, &err) == TRL_OK)
        return CLI_DONE;
    message_error(&err);
    return CLI_FAILED;
}
