/* verbs.h -- one cmd_VERB.c each; a new verb is one line here and one in main.c. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "options.h"
#include "trellis/sequence.h"

extern const verb verb_train, verb_cv, verb_tune, verb_tag, verb_score, verb_compare, verb_plot,
    verb_dump, verb_load, verb_import, verb_export, verb_columns, verb_trees, verb_parse,
    verb_cluster, verb_infer, verb_boost, verb_align, verb_translate, verb_convert, verb_calibrate,
    verb_explain, verb_errors, verb_shrink, verb_help;

/* The verb that uses models of a kind. */
const char *kind_verb(const char *kind);

extern const char *const format_names[]; /* by trl_format, up to a NULL */

#endif
