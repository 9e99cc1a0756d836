/* hmm.h -- generative hidden Markov models of labels and observation columns.
 *
 * A sequence of T >= 1 tokens with labels y and, in each column c, values x^c has
 *
 *     order 1   q(x, y) = p(y_0) prod_{t>=1} p(y_t | y_{t-1}) p(STOP | y_{T-1}) e(x, y)
 *     order 2   q(x, y) = p(y_0) p(y_1 | START, y_0) prod_{t>=2} p(y_t | y_{t-2}, y_{t-1})
 *                         p(STOP | y_{T-2}, y_{T-1}) e(x, y)
 *     e(x, y) = prod_t prod_c e_c(x^c_t | y_t)
 *
 * (order 2, T = 1: p(STOP | START, y_0)), a proper distribution over sequences of all lengths.
 * Training is counting [SVL07, section 5]: the first occurrence of every value counts as the
 * value OOV; transitions are relative frequencies, emissions are smoothed by adding lambda = 1.
 *
 * The `uniform` model ("locally uniform", equation 15 there) gives all labels that were ever seen
 * after y', and STOP, the same probability, and every column its unigram distribution.  Two
 * differences from the paper: sequences are not empty, so STOP cannot follow START; "can follow" is
 * read off the training data.
 *
 * Everything here is a probability unless it is called a score or a log.  A model is read-only
 * after training or loading and may be shared by threads.
 *
 * [SVL07] Smith, Vail, Lafferty. Computationally efficient M-estimation of log-linear structure
 * models. ACL 2007.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_HMM_H
#define TRL_HMM_H

#include "base/arena.h"
#include "feature/column_values.h"
#include "feature/tables.h"
#include "model/container.h"

/* The score that tables for decoding give a transition of probability 0.  One such transition
 * outweighs any two tokens' emissions (a factor of exp(25) each on a million tokens), so the best
 * labelling has as few as possible; but every input has a labelling. */
#define TRL_HMM_FLOOR (-100.0)

typedef struct trl_hmm_column {
    size_t column; /* of the data */
    size_t n;      /* values; 0 is OOV */
    trl_strview values;
    const double *p; /* [n][L] e(value | label) */
    double *log_p;   /* [n][L] */
} trl_hmm_column;

typedef struct trl_hmm {
    size_t L;
    int order;
    const double *start; /* [L] */
    const double *next;  /* [contexts][L + 1], STOP last; all 0 for a context never seen.
                            Contexts: y, in order 2 y' * L + y with y' = L for START */
    size_t n_columns;
    trl_hmm_column *column;
    trl_strtab *names; /* [n_columns] the tables that `values` views; NULL when loaded */
    double *owned;     /* what start, next and p point into; NULL when loaded */
} trl_hmm;

static inline size_t trl_hmm_contexts(size_t L, int order)
{
    return order == 2 ? (L + 1) * L : L;
}

/* ---- training -------------------------------------------------------------------------------- */

typedef struct trl_hmm_options {
    int order;     /* 1 or 2 */
    double lambda; /* > 0, added to emission counts: 1 */
    bool uniform;
    const size_t *column; /* columns to emit; NULL: all but the label's */
    size_t n_columns;
} trl_hmm_options;

/* `label` [columns->n_tokens], below L, belongs to the tokens of `columns`.  One pass for the
 * labels, two per column.  TRL_EINVAL for bad options or no sequences, TRL_ENOMEM. */
trl_status trl_hmm_train(trl_hmm *h, const trl_column_values *columns, const uint32_t *label,
                         size_t L, const trl_hmm_options *o, trl_error *err);
void trl_hmm_fini(trl_hmm *h);

/* ---- asking ---------------------------------------------------------------------------------- */

/* The value of a cell in the model's c-th column: 0 (OOV) when it is not known. */
uint32_t trl_hmm_value(const trl_hmm *h, size_t c, trl_str cell);

/* The values of all tokens, [n_tokens][h->n_columns]; release with trl_free.  TRL_EINVAL when a
 * column is missing, TRL_ENOMEM. */
trl_status trl_hmm_number(const trl_hmm *h, const trl_column_values *columns, uint32_t **out,
                          trl_error *err);

/* The values of one sequence of rows into value[n_tokens][h->n_columns].  TRL_EPARSE, with the
 * place, when a column is missing. */
trl_status trl_hmm_number_rows(const trl_hmm *h, const trl_rows *seq, uint32_t *value,
                               trl_error *err);

/* The rows with cells that the model does not know replaced by TRL_OOV: for features that were
 * trained on masked cells.  `cell` has room for all cells of seq. */
trl_rows trl_hmm_mask_rows(const trl_hmm *h, const trl_rows *seq, trl_str *cell);

/* log q(x, y), -inf when it is impossible.  n >= 1. */
double trl_hmm_log_p(const trl_hmm *h, size_t n, const uint32_t *label, const uint32_t *value);

static inline double trl_hmm_next(const trl_hmm *h, size_t before, size_t y, size_t to)
{
    return h->next[((h->order == 2 ? before * h->L : 0) + y) * (h->L + 1) + to];
}

/* ---- score tables ---------------------------------------------------------------------------- */

/* Adds log q to score tables, split so that a chain's score of y grows by log q(x, y):
 *
 *     shared   order 1: log p(y | y') on edges;  order 2: log p(y | y'', y') on triples
 *     rows     START, STOP and emissions on nodes; order 2: the second token's transition and
 *              STOP on edges, which therefore need rows
 *
 * `floor` replaces log 0: -HUGE_VAL for the truth, TRL_HMM_FLOOR for decoding. */

/* The family whose shared scores the model adds to. */
static inline size_t trl_hmm_shared_family(const trl_hmm *h)
{
    return h->order == 2 ? TRL_TRI : TRL_EDGE;
}

/* shared[family] must be there; the others are not looked at. */
void trl_hmm_add_shared(const trl_hmm *h, double floor, double *const shared[TRL_FAMILIES]);

/* True when the model adds to the rows of family f. */
static inline bool trl_hmm_has_rows(const trl_hmm *h, size_t f)
{
    return f == TRL_NODE || (f == TRL_EDGE && h->order == 2);
}

/* Gives t zeroed rows where the model needs some and t has none (and their step). */
bool trl_hmm_need_rows(const trl_hmm *h, trl_arena *arena, trl_tables *t);

/* value: [t->n][h->n_columns]. */
void trl_hmm_add_rows(const trl_hmm *h, double floor, const uint32_t *value, const trl_tables *t);

/* ---- files ----------------------------------------------------------------------------------- */

/* With the prefix "q0" (exactly two characters) a model becomes the sections
 *
 *     q0info    u64 order, L, number of columns C, then C column numbers
 *     q0start   double[L]
 *     q0next    double[contexts][L + 1]
 *     q0eNN     double[values][L], NN = 00 .. C-1 (two digits)
 *     q0NN....  the values (strtab_io.h)
 *
 * The model is borrowed until the container is written.  TRL_EINVAL for a bad prefix or more
 * than 100 columns, TRL_ENOMEM. */
trl_status trl_hmm_save(const trl_hmm *h, const char *prefix, trl_container_builder *b,
                        trl_error *err);

/* A checked view of the container, which must outlive it.  TRL_EMODEL, TRL_ENOMEM; *h is then
 * empty. */
trl_status trl_hmm_load(trl_hmm *h, const trl_container *c, const char *prefix, trl_error *err);

/* Are all tables distributions (and contexts never seen empty)?  The loader checks this. */
bool trl_hmm_is_proper(const trl_hmm *h);

/* Does the container have a model with this prefix? */
bool trl_hmm_in_container(const trl_container *c, const char *prefix);

#endif
