/* parseval_params.h -- EVALB's parameter files.
 *
 *     # a comment, from the first column
 *     DELETE_LABEL TOP              the bracket, or the word with this tag, is left out
 *     DELETE_LABEL_FOR_LENGTH -NONE-
 *     EQ_LABEL ADVP PRT             taken for the same, in both directions
 *     EQ_WORD colour color
 *     QUOTE_LABEL ''                the tag may belong to a quotation mark, see parseval_match.c
 *     LABELED 1                     0: spans alone
 *     CUTOFF_LEN 40
 *     MAX_ERROR 10
 *     DEBUG 0                       1: list words and brackets
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PARSEVAL_PARAMS_H
#define TRL_PARSEVAL_PARAMS_H

#include "base/strtab.h"
#include "text/input.h"

typedef struct trl_name_list {
    uint32_t *id; /* of `names`; EQ_...: two at a time */
    size_t n, cap;
} trl_name_list;

typedef struct trl_parseval_params {
    trl_strtab names;
    trl_name_list delete_label, delete_for_length, quote_label, eq_label, eq_word;
    int64_t labelled, max_length, max_errors, debug;
} trl_parseval_params;

/* A name ("collins", "new", "none") or a path.  TRL_EPARSE with path:row:col for a word that is not
 * a parameter, or a value that is missing, surplus or not a whole number; TRL_EIO; TRL_ENOMEM.
 * Free *p even after a failure. */
trl_status trl_parseval_params_load(trl_parseval_params *p, const char *name, trl_error *err);
trl_status trl_parseval_params_read(trl_parseval_params *p, trl_input *in, trl_error *err);
void trl_parseval_params_fini(trl_parseval_params *p);

#endif
