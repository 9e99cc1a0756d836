/* chain.h -- exact inference in linear chains of order 1 and 2.
 *
 * With T positions and L labels a labelling y scores, in order 1,
 *
 *     s(y) = sum_t node_t(y_t) + sum_{t>=1} edge_t(y_{t-1}, y_t)
 *
 * and in order 2 also + sum_{t>=2} tri_t(y_{t-2}, y_{t-1}, y_t);  p(y) = exp(s(y) - log Z).
 * Scores come as a trl_tables (feature/tables.h): natural logs, -inf forbids, NaN and +inf are
 * refused.  Marginals are d log Z / d score.
 *
 * Two engines compute the same: the scaled one (chain_scaled*.c) works on exp(score) with rows
 * scaled to sum 1 and runs where a bound on the scores proves that nothing can under- or overflow;
 * the log one (chain_log.c) handles any scores, with an exp and a log per cell.  A third
 * (chain_single1.c) is the scaled one in single precision, used only on request.
 *
 * A trl_chain holds what depends on the shared scores only (their exponentials).  It is
 * prepared once per weight vector and then read by any number of threads; each thread works
 * in its own trl_chain_work.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHAIN_H
#define TRL_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "feature/tables.h"
#include "trellis/status.h"

typedef struct trl_chain {
    size_t L, stride; /* labels; padded(L) */
    int order;        /* 1 or 2 */
    bool scaled;      /* the shared scores allow the scaled engine */
    bool zeros; /* set before trl_chain_prepare: shared scores may be -inf, as in trl_chain_ask */

    double *edge;  /* [L][L] shared edge scores, zeros where there are none */
    double *tri;   /* [L][L][L], order 2 */
    double spread; /* max - min over the shared scores (edge, or edge + tri) */

    /* Order 1: E[i][j] = exp(edge[i][j] - shift) and its transpose, padded rows.
     * Order 2: E[j][i][k] = exp(tri[i][j][k] - shift), rows by the middle label j, so that each
     * step is L independent vector-matrix products; Et[j][k][i] its transpose per j.  When edges
     * do not depend on the position, edge[j][k] is in E too. */
    double *E, *Et;
    double shift;
    bool edge_in_E; /* order 2 */

    /* Order 1, while pairs come as sets: E and Et of each set that has tables,
     * [n_tables][L][stride], the first one's those above. */
    double *set_E, *set_Et;
    size_t set_room; /* sets there is room for */

    /* Once trl_chain_use_single was called: E and Et rounded, and E - single_E. */
    float *single_E, *single_Et, *single_rest;
} trl_chain;

/* Allocates for L labels.  TRL_EINVAL for L = 0 or an order other than 1, 2; TRL_ENOMEM. */
trl_status trl_chain_init(trl_chain *c, size_t L, int order, trl_error *err);
void trl_chain_fini(trl_chain *c);

/* Lets trl_chain_infer work in single precision from the next trl_chain_prepare on, for node
 * marginals and sums of order 1 without edge rows: about twice as fast.  Scores too far apart for
 * floats (spread of a row + 3 times that of the edges + log L above 84) are still worked on in
 * double.  Errors held by test_chain_single: log Z 2e-7 per token; marginals, and sums per token,
 * 5e-7 with random scores, 2e-6 with all of them at that limit.  Nothing happens in order 2.
 * TRL_ENOMEM. */
trl_status trl_chain_use_single(trl_chain *c, trl_error *err);

/* Sets the shared scores from `s` (its rows are not read, only whether there are any).
 * TRL_ENUMERIC for NaN or +inf. */
trl_status trl_chain_prepare(trl_chain *c, const trl_tables *s, trl_error *err);

/* The result of one inference; arrays live in the arena until its reset. */
typedef struct trl_chain_marginals {
    double log_z;
    double *node; /* [T][stride]      P(y_t), pads 0 */
    double *edge; /* [T][step[1]]     P(y_{t-1}, y_t), rows 1.. valid; NULL unless requested */
    double *tri;  /* [T][step[2]]     rows 2.. valid; NULL unless requested */
    double *
        set_cell; /* pairs as sets: weight times P of the cells of sets without tables (tables.h) */
} trl_chain_marginals;

/* Sums over positions of edge and triple marginals, for shared scores.  `outer` holds them
 * still divided by E (a sum of outer products); trl_chain_sums_add turns them into expected
 * counts.  One per shard of the corpus. */
typedef struct trl_chain_sums {
    double *outer;     /* like chain->E */
    double *edge;      /* [L][L] from the log engine, and first edges of order 2 */
    double *tri;       /* [L][L][L] from the log engine */
    double *set_outer; /* [n_tables][L][stride] of sets, like outer; the first is not used */
    double *set_edge;  /* [n_tables][L][stride] from engines that read rows */
    size_t set_room;
} trl_chain_sums;

trl_status trl_chain_sums_init(trl_chain_sums *m, const trl_chain *c, trl_error *err);
void trl_chain_sums_fini(trl_chain_sums *m);
void trl_chain_sums_clear(trl_chain_sums *m, const trl_chain *c);

/* Room for the sets that the chain was prepared with, if any.  TRL_ENOMEM. */
trl_status trl_chain_sums_pairs(trl_chain_sums *m, const trl_chain *c, const trl_tables *s,
                                trl_error *err);

/* adjoint->shared[TRL_EDGE] and set_table -= the expected counts of sets with tables. */
void trl_chain_sums_add_pairs(const trl_chain_sums *m, const trl_chain *c, trl_tables *adjoint);

/* edge[i][j] += scale * expected count, the same for tri; either may be NULL. */
void trl_chain_sums_add(const trl_chain_sums *m, const trl_chain *c, double scale, double *edge,
                        double *tri);

/* Which marginals beyond the nodes to compute. */
enum {
    TRL_WANT_EDGE_ROWS = 1,  /* out->edge, out->tri */
    TRL_WANT_SUMS = 2,       /* `sums` += weight * (sums over positions) */
    TRL_WANT_LOG_Z_ONLY = 4, /* the forward pass and nothing else */
};

/* What is asked of a chain: its scores, bits of TRL_WANT_*, the weight of what is added up. */
typedef struct trl_chain_ask {
    const trl_tables *s;
    trl_arena *arena;
    int want;
    double weight;
    bool zeros; /* some scores forbid (-inf): no bound can be had beforehand, so the scaled engine
                   measures afterwards whether anything was lost, and the log one runs only then */
} trl_chain_ask;

/* Forward-backward.  O(T L^2) or O(T L^3).  `sums` may be NULL unless wanted.
 * TRL_EINVAL for T = 0; TRL_ENUMERIC for NaN or +inf (the message names the token), or when every
 * labelling is forbidden; TRL_ENOMEM. */
trl_status trl_chain_infer(const trl_chain *c, const trl_chain_ask *ask, trl_chain_marginals *out,
                           trl_chain_sums *sums, trl_error *err);

/* The same, but -weight times the node marginals go to node, [T][stride]; out->node is NULL. */
trl_status trl_chain_adjoint(const trl_chain *c, const trl_chain_ask *ask, double *node,
                             trl_chain_marginals *out, trl_chain_sums *sums, trl_error *err);

/* The score s(y) of one labelling.  Labels must be below L. */
double trl_chain_score(const trl_chain *c, const trl_tables *s, const uint32_t *y);

/* The largest magnitude among the finite scores that are in use. */
double trl_chain_largest_score(const trl_chain *c, const trl_tables *s);

/* The best labelling (ties: the lowest label at the latest position) into y[T], its score
 * into *score. */
trl_status trl_chain_viterbi(const trl_chain *c, const trl_tables *s, trl_arena *arena, uint32_t *y,
                             double *score, trl_error *err);

/* The n best: labels y[n][T], scores, and how many there are. */
typedef struct trl_chain_list {
    size_t n;
    uint32_t *y;
    double *score;
    size_t *found;
} trl_chain_list;

/* The n best labellings, best first: y[rank][T], score[rank]; *found <= n of them exist.
 * O(T L^2 n log) -- exact, by n-best lists per state. */
trl_status trl_chain_nbest(const trl_chain *c, const trl_tables *s, trl_arena *arena,
                           const trl_chain_list *list, trl_error *err);

#endif
