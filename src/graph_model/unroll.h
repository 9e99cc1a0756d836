/* unroll.h -- from a model file and tokens to a graph: every factor's instances.
 *
 * Variables are numbered token by token: label variable k of token t is t * n_layers + k.  Tables
 * have no values: training or a model gives them.  Instances without attributes share a table.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_UNROLL_H
#define TRL_UNROLL_H

#include "base/strtab.h"
#include "graph_model/graph_spec.h"
#include "graph_model/graph_unit.h"
#include "trellis/graph.h"

/* Memory is kept from unit to unit.  Zero-initialise; release with _fini. */
typedef struct trl_unrolled {
    trl_graph *graph; /* owned; whoever takes it sets NULL */
    size_t n_factors;
    uint32_t *family; /* [n_factors] the factor of the model file */
    size_t *begin;    /* [n_factors + 1] into attr */
    trl_attr *attr;

    size_t family_cap, begin_cap, attr_cap;
    trl_buf names, scratch;
} trl_unrolled;

/* `n_labels`: of every layer; the unit's columns fit the model file (trl_graph_spec_check).
 * TRL_EINVAL: more than 10 million factors; TRL_ENOMEM. */
trl_status trl_unroll(const trl_graph_spec *s, const size_t *n_labels, const trl_graph_unit *unit,
                      trl_unrolled *out, trl_error *err);
void trl_unrolled_fini(trl_unrolled *u);

/* ---- parts (unroll_pairs.c) ------------------------------------------------------------------ */

/* The values of all conditions at all tokens, as numbers: equal ones have the same. */
typedef struct trl_token_values {
    const trl_graph_spec *s;
    const trl_graph_unit *u;
    uint32_t *id; /* [n_values][n_tokens] */
    uint32_t yes; /* of "true" */
    size_t n_ids;
    bool *truth; /* [n_conditions] scratch */
} trl_token_values;

trl_status trl_token_values_init(trl_token_values *v, const trl_graph_spec *s,
                                 const trl_graph_unit *u, trl_error *err);
void trl_token_values_fini(trl_token_values *v);

/* Does the factor's condition hold?  j is ignored where it has none. */
bool trl_condition_holds(const trl_token_values *v, const trl_factor_spec *f, size_t i, size_t j);

/* Calls `use` for all i < j that meet the condition, in order of i, then j. */
typedef trl_status (*trl_pair_fn)(void *ctx, size_t i, size_t j);
trl_status trl_pairs(const trl_token_values *v, const trl_factor_spec *f, trl_pair_fn use,
                     void *ctx, trl_error *err);

#endif
