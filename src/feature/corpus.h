/* corpus.h -- labelled sequences as attribute ids: what training starts from.
 *
 * A sequence is a run of tokens; a token has a label and, for each clique family, a list of
 * attributes with values:
 *
 *     family 0   (node)  attributes that score the label y_t
 *     family 1   (edge)  attributes that score the pair (y_{t-1}, y_t), from t = 1 on
 *     family 2   (tri)   attributes that score (y_{t-2}, y_{t-1}, y_t), from t = 2 on
 *
 * A family may have one *constant* attribute: it is on at every position of the family
 * with value 1 and is not listed in the occurrences (plain label bigrams and trigrams).
 * Attribute names are opaque bytes, interned per family.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CORPUS_H
#define TRL_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strtab.h"
#include "feature/tables.h"
#include "feature/template.h"
#include "text/columns.h"
#include "text/items.h"
#include "trellis/status.h"

typedef struct trl_occurrences {
    trl_strtab names;
    uint32_t constant; /* id of the constant attribute, or TRL_NO_ID */
    uint64_t *begin;   /* [n_tokens + 1] into id and value */
    uint32_t *id;
    double *value; /* NULL as long as every value is 1 */
    size_t n, cap, value_cap, begin_cap;
} trl_occurrences;

typedef struct trl_corpus {
    size_t n_sequences, n_tokens;
    uint64_t *first; /* [n_sequences + 1] token numbers */
    uint32_t *label; /* [n_tokens] */
    double *weight;  /* [n_sequences] */
    trl_strtab labels;
    trl_occurrences family[TRL_FAMILIES];
    size_t first_cap, label_cap, weight_cap;
    size_t n_columns;   /* columns per token, label included; 0 for items */
    bool frozen_labels; /* a label that is not in `labels` is an error */
    trl_buf scratch;
} trl_corpus;

trl_status trl_corpus_init(trl_corpus *c, trl_error *err);
void trl_corpus_fini(trl_corpus *c);

/* Gives family 1 or 2 its constant attribute, named "B" or "T". */
trl_status trl_corpus_set_constant(trl_corpus *c, size_t family, trl_error *err);

/* The constant attributes that the template's macro-free lines ask for. */
trl_status trl_corpus_use_template(trl_corpus *c, const trl_template *tpl, trl_error *err);

/* Frees the lists, not the names. */
void trl_occurrences_fini(trl_occurrences *o);

/* Adds one sequence.  TRL_EPARSE (with the place) for a label that a frozen corpus does not
 * know or a missing column; TRL_ENOMEM.  After a failure the corpus is only good for fini. */
trl_status trl_corpus_add_rows(trl_corpus *c, const trl_template *tpl, const trl_rows *seq,
                               trl_error *err);
trl_status trl_corpus_add_items(trl_corpus *c, const trl_items *seq, trl_error *err);

#endif
