/* train_settings.h -- what every verb that trains has in common: options, template. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TRAIN_SETTINGS_H
#define CLI_TRAIN_SETTINGS_H

#include "options.h"
#include "trellis/train.h"

/* First member of the settings of such a verb; filled by its own options and those of
 * train_model_options.h and train_stop_options.h. */
typedef struct train_settings {
    trl_train_options train;
    const char *template_path;
    const char *max_memory;
    double c; /* 0: not given */
    bool quiet;
    char rescue[600]; /* what train.rescue points to */
} train_settings;

#define TRAIN_MEMORY 1.0 /* of the machine's, unless --max-memory says otherwise */

#define TRAIN_FIELD(member) OPTION_FIELD(train_settings, member)

/* A row for an option of trl_train_options: what is not said here is taken from the library. */
#define TRAIN_OPTION(option_name)                                                                  \
    OPTION_LIBRARY(option_name, trl_train_option_table, train_settings, train)

extern const char *const seen_or_all[]; /* "seen", "all", NULL */

/* Reads the whole template, if one was named, into t, which train.template_text then borrows.
 * False: said. */
bool train_read_template(train_settings *s, text *t);

/* --c as c2.  False: said. */
bool train_set_variance(train_settings *s);

/* Where the model goes when its own place cannot be written at the end of the run: a new name in
 * $TMPDIR, or /tmp. */
void train_set_rescue(train_settings *s);

/* Has the training begun?  Until then there is nothing to save: signals_end(TRAIN_NOTHING_YET). */
bool train_learns(const trl_progress *now);

#define TRAIN_NOTHING_YET "stopped before the training had begun: no model was written"

#endif
