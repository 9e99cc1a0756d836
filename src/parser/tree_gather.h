/* tree_gather.h -- weights to the score table of a sentence's chart, and the adjoint back.
 *
 * Scores attached to one position are gathered once per (class, position), those summed over the
 * words of a span as prefix sums: spans need only additions, rules only products.  Scatter does the
 * same in reverse.
 *
 * Weights: the first n_direct belong to rules, in this order: binary rules, plain binary rules,
 * unary rules, plain unary rules; then come the features of the index.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_GATHER_H
#define TRL_TREE_GATHER_H

#include "chart/chart.h"
#include "feature/sparse_vector.h"
#include "grammar/observation.h"
#include "parser/tree_index.h"
#include "parser/tree_template.h"

/* What turns a sentence into scores; read-only while charts are run.  All pointers are borrowed. */
typedef struct trl_tree_features {
    const trl_grammar *g;
    const trl_tree_template *t;
    trl_tree_index index;
    size_t n_direct;
    uint32_t *edge_class; /* [n_binary]; owned */
    size_t n_classes;
    uint32_t *edge_rule; /* [n_classes]: some rule of the class; owned */
    uint8_t *rule_marks; /* [n_binary]: TRL_RIGHT_PP, TRL_VERB_*; owned */
    uint8_t family[TRL_ATTACHS + TRL_EDGE_ANCHORS][TRL_TREE_FAMILIES]; /* edges by anchor, last */
    size_t n_family[TRL_ATTACHS + TRL_EDGE_ANCHORS];
    trl_tree_index *grow;    /* keys that are looked up are added here; NULL: not added */
    const double *w;         /* [n_weights]; NULL while growing; or */
    const float *w32;        /* [n_weights], of shrunk models [n_direct], and the features': */
    const int16_t *multiple; /* [slots] multiples of unit; or NULL */
    float unit;
    const uint8_t *code; /* [slots] numbers in value; or NULL */
    const float *value;  /* [256] */
} trl_tree_features;

/* The weight of a feature of the index. */
static inline double trl_tree_weight(const trl_tree_features *f, uint32_t id)
{
    if (f->w)
        return f->w[f->n_direct + id];
    if (f->multiple)
        return (double)((float)f->multiple[id] * f->unit);
    return (double)(f->code ? f->value[f->code[id]] : f->w32[f->n_direct + id]);
}

static inline void trl_tree_weight_prefetch(const trl_tree_features *f, uint32_t id)
{
    if (f->w)
        __builtin_prefetch(&f->w[f->n_direct + id]);
    else if (f->multiple)
        __builtin_prefetch(&f->multiple[id]);
    else if (f->code)
        __builtin_prefetch(&f->code[id]);
    else
        __builtin_prefetch(&f->w32[f->n_direct + id]);
}

#define TRL_RIGHT_PP 1u /* rule_marks */
#define TRL_LEFT_VERB 2u
#define TRL_RIGHT_VERB 4u

/* TRL_ENOMEM. */
trl_status trl_tree_features_init(trl_tree_features *f, const trl_grammar *g,
                                  const trl_tree_template *t, trl_error *err);
void trl_tree_features_fini(trl_tree_features *f);

static inline size_t trl_tree_weights(const trl_tree_features *f)
{
    return f->n_direct + f->index.n;
}

/* Adds the features of one gold tree to the index.  TRL_ENOMEM. */
trl_status trl_tree_features_add(trl_tree_features *f, const trl_btree *tree, const trl_seen *seen,
                                 trl_error *err);

/* Adds the features of everything in a chart.  Scratch in ga and the arena.  TRL_ENOMEM. */
struct trl_tree_gather;
trl_status trl_tree_features_add_chart(trl_tree_features *f, const trl_skeleton *s,
                                       const trl_seen *seen, struct trl_tree_gather *ga,
                                       trl_arena *arena, trl_error *err);

/* exp(score) of binary rules, score of unary rules, which are the same in every sentence. */
void trl_tree_shared(const trl_tree_features *f, double *binary_exp, double *unary);

/* ---- one sentence ---------------------------------------------------------------------------- */

/* Features of one part: ids[first .. first + n). */
typedef struct trl_slot {
    uint32_t first, n;
    double score, adjoint;
} trl_slot;

typedef struct trl_edge_slot {
    uint32_t first, n;
    uint32_t anchor;
    size_t at; /* place in edge[anchor] */
} trl_edge_slot;

/* Scratch of one thread; zero-initialise. */
typedef struct trl_tree_gather {
    const trl_tree_features *f;
    const trl_seen *seen;
    const trl_chart *c;
    trl_tree_tables t;
    trl_tree_adjoint a;
    uint32_t *ids;
    size_t n_ids, cap_ids;
    trl_slot *slot; /* FIRST and END and INSIDE of base parents */
    size_t n_slots, cap_slots;
    trl_edge_slot *edge;
    size_t n_edges, cap_edges;
    uint32_t *memo[2];   /* [n + 1][n_plain]: slot + 1, for FIRST and END */
    uint32_t *inside;    /* [n_plain]: slot + 1 of [widths][n + 1] slots, whose scores
                            are prefix sums and adjoints differences */
    uint32_t *own_first; /* [items + unary edges + 1]: own ids of each */
    bool failed;         /* out of memory while filling on demand */
} trl_tree_gather;
void trl_tree_gather_fini(trl_tree_gather *ga);

/* What is scored, and by what.  All pointers are borrowed. */
typedef struct trl_gather_source {
    const trl_tree_features *f;
    const trl_seen *seen; /* the sentence */
    const trl_chart *c;
    const double *binary_exp, *unary; /* of trl_tree_shared */
    bool with_adjoint;                /* the adjoint is laid out as well */
} trl_gather_source;

/* Scores of the chart's items and unary edges; edges on demand.  Tables live in the arena and in ga
 * until the next call.  TRL_ENOMEM. */
trl_status trl_tree_gather_scores(trl_tree_gather *ga, const trl_gather_source *x, trl_arena *arena,
                                  trl_error *err);

/* The scores of items alone, for local models: tables of edges and of unary rules are NULL.  Of the
 * chart only g, s, n, n_items are needed, n_unary being 0. */
trl_status trl_tree_gather_items(trl_tree_gather *ga, const trl_gather_source *x, trl_arena *arena,
                                 trl_error *err);

/* Score of a tree by the tables, which must hold all its parts; and `weight` times its counts
 * added to the adjoint ga->a.  -inf when the chart does not hold it. */
double trl_tree_gather_tree(trl_tree_gather *ga, const trl_btree *tree, double weight);

/* For models that sum over all expansions of a state: the score of item x over (i, j), whatever its
 * marks. */
double trl_tree_gather_item(trl_tree_gather *ga, uint32_t x, size_t i, size_t j);

/* A slot with the n features listed, whose adjoint may be added to; TRL_NO_ID: out of memory.
 * Slots have consecutive numbers. */
struct trl_listed;
uint32_t trl_tree_gather_listed(trl_tree_gather *ga, const struct trl_listed *listed, size_t n);

/* Carries ga->a back: appends d / d weight to out.  TRL_ENOMEM. */
trl_status trl_tree_scatter(trl_tree_gather *ga, trl_sparse *out, trl_error *err);

#endif
