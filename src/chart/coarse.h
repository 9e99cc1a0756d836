/* coarse.h -- inside-outside of a small PCFG over all spans, by vectors: the pass that prunes.
 *
 * Its rules do not depend on where they apply, so they are applied once per span instead of once
 * per split: with M(b, c) = sum_k after(b, i, k) after(c, k, j),
 *
 *     before(a, i, j) = sum_{a -> b c} p(a -> b c) M(b, c).
 *
 * M is a sum of outer products of short vectors, one per split: the cubic part has no rules in it.
 * Tags, which span one word only, are not in the vectors.  Single precision; a cell's numbers carry
 * a common power of two.  test_coarse holds it against trl_chart.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_COARSE_H
#define TRL_COARSE_H

#include "chart/prune.h"
#include "chart/span_pruner.h"

typedef struct trl_coarse_rule {
    uint32_t parent, left, right; /* states; places in the vectors for children that are phrases */
    float p;
} trl_coarse_rule;

typedef struct trl_coarse {
    const trl_pcfg *pcfg;
    size_t n_states;
    uint32_t *left, *right;             /* states by place: children that are not tags */
    size_t n_left, n_right, stride;     /* stride: n_right in whole vectors */
    trl_coarse_rule *nn, *tn, *nt, *tt; /* by the children: (n)ot a tag, (t)ag; nn by parent, tn
                                           and tt by left tag, nt by right tag */
    size_t n_nn;
    uint32_t *nn_first;                                /* [n_states + 1], by parent */
    uint32_t *nn_place;                                /* [n_nn]: left * stride + right, */
    float *nn_p;                                       /* [n_nn]: and p, once more */
    uint32_t *tn_first, *nt_first, *tt_first;          /* [n_states + 1] */
    trl_coarse_rule *tn_up, *nt_up, *tt_up;            /* the same rules by tag and parent, */
    uint32_t *tn_up_first, *nt_up_first, *tt_up_first; /* [n_states * n_states + 1] */
    float *unary;                                      /* [n_unary]: p */
    uint32_t *unary_parent;                            /* [n_unary] */
} trl_coarse;

trl_status trl_coarse_init(trl_coarse *c, const trl_pcfg *p, trl_error *err);
void trl_coarse_fini(trl_coarse *c);

/* Inside and outside numbers of a sentence, in the arena.  in * out is the posterior. */
typedef struct trl_coarse_chart {
    size_t n, n_states;
    float *before, *after, *out_before, *out_after; /* [cells][n_states] */
    float *l, *r;                                   /* [cells][n_left], [cells][stride]: after */
    int32_t *scale;                                 /* [cells] */
    double log_z;                                   /* -inf: no tree */
} trl_coarse_chart;

/* Scores that are added to log p(word | tag) of words with given[i]; -inf: it does not have the
 * tag; a tag that the lexicon does not offer is added by a finite one. */
typedef struct trl_tag_scores {
    const uint8_t *given; /* [n] */
    const double *score;  /* [n][n_states] */
} trl_tag_scores;

typedef struct trl_coarse_how { /* zero: defaults */
    const uint8_t *keep;        /* cells with keep[cell] 0 stay empty; NULL: none does */
    const trl_gains *gains;     /* of the span pruner, or NULL */
    double deadline;            /* on trl_clock(): after it the run stops, with log_z -inf */
    float least; /* smaller posteriors may become 0 and add nothing to others: most cells then need
                    no outside */
    const trl_tag_scores *tags; /* or NULL */
} trl_coarse_how;

/* TRL_ENOMEM. */
trl_status trl_coarse_run(const trl_coarse *c, const trl_words *x, const trl_coarse_how *how,
                          trl_coarse_chart *out, trl_arena *arena, trl_error *err);

/* Fine items by the posteriors of the coarse chart: those of coarse items above the threshold,
 * separately before and after the unary rule.  In the arena.  TRL_ENOMEM. */
trl_status trl_coarse_prune(const trl_coarse_chart *c, const trl_coarse_map *m, double threshold,
                            trl_skeleton *fine, trl_arena *arena, trl_error *err);

#endif
