/* to_model.h -- what verbs share that make a model of one file. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TO_MODEL_H
#define CLI_TO_MODEL_H

#include "options.h"

typedef struct to_model_settings {
    const char *model;
} to_model_settings;

extern const option to_model_options[]; /* -m MODEL */

/* Makes the model at `to` of the file at `from`. */
typedef trl_status (*to_model_fn)(const char *from, const char *to, trl_error *err);

/* Of the first operand; the exit code. */
int to_model(to_model_fn make, const to_model_settings *s, const operands *args);

#endif
