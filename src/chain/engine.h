/* engine.h -- private: the engines of trl_chain_infer. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHAIN_ENGINE_H
#define TRL_CHAIN_ENGINE_H

#include "chain/chain.h"

/* Leaves exp(108) of a double's range for sums over labels and for row scaling. */
#define TRL_SCALED_MAX_SPREAD 600.0

/* Floats are normal from exp(-87.3) to exp(88.7); chain_single1.c says what must stay below
 * this. */
#define TRL_SINGLE_RANGE 84.0

/* With hard zeros (trl_chain_ask.zeros) no spread of scores bounds what one path loses against the
 * others.  What underflows in a row that sums to 1 is below 1e-307, over the factors of its step
 * and of the one before; its share in a marginal is that over alpha . beta, rows of sum 1 each.
 * Where all three are above this, nothing above 1e-60 is missing. */
#define TRL_ZEROS_LEAST 1e-80

typedef struct trl_chain_call { /* the arguments of one trl_chain_infer */
    const trl_chain *c;
    const trl_tables *s;
    trl_arena *arena;
    int want;
    double weight;
    double *node; /* where -weight times the node marginals go; NULL: out->node gets them */
    bool zeros;   /* -inf among the scores is no reason against the scaled engines */
} trl_chain_call;

/* The scaled engines set *fits to false, and do nothing else, when the rows' scores are too
 * far apart, forbidden or not numbers: the log engine then handles or explains them. */
trl_status trl_chain_scaled1(const trl_chain_call *call, trl_chain_marginals *out,
                             trl_chain_sums *sums, bool *fits, trl_error *err);
trl_status trl_chain_scaled2(const trl_chain_call *call, trl_chain_marginals *out,
                             trl_chain_sums *sums, bool *fits, trl_error *err);

/* Whether the single-precision engine can do what is requested; then the engine itself, which sets
 * *fits as above: the double engine takes what does not fit.  The only engine that fills
 * call->node: trl_chain_infer does it for the others. */
bool trl_chain_single_serves(const trl_chain_call *call);
trl_status trl_chain_single1(const trl_chain_call *call, trl_chain_marginals *out,
                             trl_chain_sums *sums, bool *fits, trl_error *err);

trl_status trl_chain_log(const trl_chain_call *call, trl_chain_marginals *out, trl_chain_sums *sums,
                         trl_error *err);

/* TRL_ENUMERIC, naming the token, when a row or set holds NaN or +inf. */
trl_status trl_chain_check_scores(const trl_tables *s, size_t L, trl_error *err);

/* sum_t log c[t] with one logarithm per hundred factors or so: the product is kept within
 * exp(+-345), and no single c[t] is beyond exp(+-TRL_SCALED_MAX_SPREAD). */
double trl_sum_log(size_t n, const double *c);

/* Score of the pair (i, j) ending at t, and of the triple (h, i, j), shared and row added. */
static inline double trl_edge_at(const trl_chain *c, const trl_tables *s, size_t t, size_t i,
                                 size_t j)
{
    const size_t cell = i * c->L + j;
    const double *row = s->row[TRL_EDGE];
    return c->edge[cell] + (row ? row[t * s->step[TRL_EDGE] + cell] : 0.0);
}

static inline double trl_tri_at(const trl_chain *c, const trl_tables *s, size_t t, size_t h,
                                size_t i, size_t j)
{
    const size_t cell = (h * c->L + i) * c->L + j;
    const double *row = s->row[TRL_TRI];
    return c->tri[cell] + (row ? row[t * s->step[TRL_TRI] + cell] : 0.0);
}

static inline double trl_node_at(const trl_tables *s, size_t t, size_t j)
{
    return s->row[TRL_NODE][t * s->step[TRL_NODE] + j];
}

#endif
