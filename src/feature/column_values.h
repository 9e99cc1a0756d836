/* column_values.h -- the columns of a corpus as value ids: what generative models count.
 *
 * Attributes (feature/corpus.h) do not record which columns they were made from.  A generative
 * model of the observations needs the columns themselves: per column a table of the distinct
 * values, per token one id for each column, the label's (the last column) included.
 *
 * Out of vocabulary.  A value is *rare* when it occurs once.  Generative models here take the
 * first occurrence of every value as an occurrence of the value TRL_OOV, so rare values are
 * never seen as themselves [SVL07, section 5].  Two ways to let features see that too:
 *
 *     raw      features see the data as they are; the model's OOV mass is shared out evenly
 *              among the rare values and one value that was never seen
 *     masked   trl_column_values_mask replaces every first occurrence by the text TRL_OOV; rows
 *              for the template come from trl_column_values_rows (the paper's way; unknown
 *              values must then be masked when tagging, too)
 *
 * [SVL07] Smith, Vail, Lafferty. Computationally efficient M-estimation of log-linear structure
 * models. ACL 2007.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_COLUMN_VALUES_H
#define TRL_COLUMN_VALUES_H

#include "base/strtab.h"
#include "trellis/sequence.h"

#define TRL_OOV "<OOV>"

typedef struct trl_column_values {
    size_t n_columns;   /* the label's included */
    trl_strtab *values; /* [n_columns] */
    size_t n_tokens, n_sequences;
    uint32_t *id;    /* [n_tokens][n_columns] */
    uint64_t *first; /* [n_sequences + 1] token numbers; NULL while empty */
    bool masked;
    const double *weight; /* [n_sequences] how often each sequence counts, borrowed; NULL: once */
    size_t id_cap, first_cap;
} trl_column_values; /* zero-initialise */

/* Adds one sequence.  TRL_EPARSE when the number of columns differs, TRL_ENOMEM; the object is
 * then only good for fini. */
trl_status trl_column_values_add_rows(trl_column_values *c, const trl_rows *seq, trl_error *err);
void trl_column_values_fini(trl_column_values *c);

/* Replaces the first occurrence of every value, in every column but the label's, by TRL_OOV.
 * Once only: a second call does nothing.  TRL_ENOMEM. */
trl_status trl_column_values_mask(trl_column_values *c, trl_error *err);

/* Sequence number `seq` as rows; `cell` (room for tokens * columns) holds them.  Valid until the
 * next add. */
trl_rows trl_column_values_rows(const trl_column_values *c, size_t seq, trl_str *cell);

#endif
