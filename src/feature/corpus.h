/* corpus.h -- labelled sequences as attribute ids: what training starts from.
 *
 * A sequence is a run of tokens; a token has a label and, for each clique family, a list of
 * attributes with values:
 *
 *     family 0   (node)  attributes that score the label y_t
 *     family 1   (edge)  attributes that score the pair (y_{t-1}, y_t), from t = 1 on
 *     family 2   (tri)   attributes that score (y_{t-2}, y_{t-1}, y_t), from t = 2 on
 *
 * Other structures have families of their own: every kind of factor is one, its width the number
 * of its label combinations, its rows the factors of that kind in an example, whatever their
 * number: an example has as many rows (here: tokens) as its largest family has factors, and the
 * other families leave rows unused.  Their true cells are listed (`gold`), not made from labels.
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
#include "feature/feature_expand.h"
#include "feature/label_notes.h"
#include "feature/tables.h"
#include "feature/template.h"
#include "feature/value_list.h"
#include "text/columns.h"
#include "text/items.h"
#include "trellis/status.h"

typedef struct trl_occurrences {
    size_t width;   /* cells of a row; 0: L^(f + 1), a chain's */
    uint32_t *gold; /* [n_tokens] the true cell, or TRL_NO_ID where a row is not used; NULL: by the
                       labels, a chain's.  Owned */
    uint32_t *cell, *place; /* of a packed family (packed_cells.h), else NULL; owned */
    size_t full;            /* its cells before that */
    trl_strtab names;
    uint32_t constant; /* id of the constant attribute, or TRL_NO_ID */
    uint64_t *begin;   /* [n_tokens + 1] into id and values */
    uint32_t *id;
    trl_value_list values;
    size_t n, cap, begin_cap, gold_cap;
} trl_occurrences;

typedef struct trl_corpus {
    size_t n_sequences, n_tokens;
    uint64_t *first;        /* [n_sequences + 1] token numbers */
    uint32_t *label;        /* [n_tokens] */
    double *weight;         /* [n_sequences] */
    trl_label_notes *notes; /* NULL: all labels are known.  Else what is known of them, and `label`
                               holds stand-ins where that is not one label.  Owned */
    trl_strtab labels;
    size_t n_families; /* 3 of chains */
    trl_occurrences family[TRL_FAMILIES_MAX];
    size_t first_cap, label_cap, weight_cap;
    size_t n_columns;   /* columns per token, label included; 0 for items */
    bool frozen_labels; /* a label that is not in `labels` is an error */
    bool known_only;    /* a note that is not one known label is an error */
    bool keep_zeros;    /* every occurrence with the value 0, not only the first with a label */
    trl_strtab zeros;   /* pairs of attribute and label that occurred with the value 0 */
    trl_buf scratch;
    trl_feature_expander *expander; /* of a template in words */
    trl_names made;
} trl_corpus;

trl_status trl_corpus_init(trl_corpus *c, trl_error *err);
void trl_corpus_fini(trl_corpus *c);

/* A corpus of another structure: n families with the given numbers of cells.  Their rows are added
 * by trl_corpus_add_factors, their labels are the structure's own business.  TRL_EINVAL,
 * TRL_ENOMEM.
 */
trl_status trl_corpus_init_families(trl_corpus *c, const size_t *width, size_t n, trl_error *err);

/* Gives family 1 or 2 its constant attribute, named "B" or "T". */
trl_status trl_corpus_set_constant(trl_corpus *c, size_t family, trl_error *err);

/* Adds the constant attributes that the template's lines without macros ask for. */
trl_status trl_corpus_use_template(trl_corpus *c, const trl_template *tpl, trl_error *err);

/* Labels are notes from the first sequence on.  TRL_ENOMEM. */
trl_status trl_corpus_use_notes(trl_corpus *c, trl_error *err);

/* Frees the lists, not the names. */
void trl_occurrences_fini(trl_occurrences *o);

/* Lets a template in words that has real values learn their scales from a sequence; to be done with
 * all sequences before the first is added.  TRL_EPARSE with the place, TRL_ENOMEM. */
trl_status trl_corpus_learn_rows(trl_corpus *c, const trl_template *tpl, const trl_rows *seq,
                                 trl_error *err);

/* Adds one sequence.  TRL_EPARSE (with the place) for a label that a frozen corpus does not
 * know or a missing column; TRL_ENOMEM.  After a failure the corpus is only good for fini. */
trl_status trl_corpus_add_rows(trl_corpus *c, const trl_template *tpl, const trl_rows *seq,
                               trl_error *err);
trl_status trl_corpus_add_items(trl_corpus *c, const trl_items *seq, trl_error *err);

/* From the numbers of labels and node attributes of another corpus to those of this one: what has
 * not been seen yet is TRL_NO_ID, and gets its number in the order of first occurrence. */
typedef struct trl_renumbering {
    uint32_t *label, *attr; /* [labels of the other], [node attributes of the other]; labels that
                               are notes: the number of the note */
} trl_renumbering;

bool trl_renumbering_init(trl_renumbering *r, const trl_corpus *from); /* false: no memory */
void trl_renumbering_fini(trl_renumbering *r);

/* Adds sequence k of another corpus of items: as trl_corpus_add_items of the same names, without
 * looking them up. */
trl_status trl_corpus_add_from(trl_corpus *c, const trl_corpus *from, size_t k, trl_renumbering *r,
                               trl_error *err);

/* Adds a sequence by numbers of this corpus, which are in range. */
typedef struct trl_numbered {
    size_t n_tokens;
    const uint32_t *label; /* [n_tokens] */
    const size_t *begin;   /* [n_tokens + 1] into attr and value */
    const uint32_t *attr;
    const double *value; /* NULL: all 1 */
    double weight;
} trl_numbered;
trl_status trl_corpus_add_numbered(trl_corpus *c, const trl_numbered *seq, trl_error *err);

/* The factors of one kind in an example, borrowed. */
typedef struct trl_factors {
    size_t n;
    const uint32_t *gold; /* [n] true cells */
    const size_t *begin;  /* [n + 1] into attr */
    const trl_attr *attr; /* those of factor r: attr[begin[r]] ... */
} trl_factors;

/* Adds an example: x has an element for each family.  TRL_EINVAL for a cell that is out of range,
 * TRL_ENOMEM; after that the corpus is only good for fini. */
trl_status trl_corpus_add_factors(trl_corpus *c, const trl_factors *x, double weight,
                                  trl_error *err);

/* ---- private to corpus.c and corpus_features.c ----------------------------------------------- */

/* One attribute more at the token being added.  False: no memory. */
bool trl_occurrences_add(trl_occurrences *o, const char *p, size_t n, double value);

/* Sets the sequence; then adds the attributes that features make at its token t. */
trl_status trl_corpus_set_features(trl_corpus *c, const trl_feature_list *l, const trl_rows *seq,
                                   trl_error *err);
bool trl_corpus_expand_features(trl_corpus *c, const trl_feature_list *l, size_t t);

#endif
