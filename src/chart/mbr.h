/* mbr.h -- the tree with the best expected brackets [Goo96].
 *
 * p(X, i, j) is the posterior of a constituent X over the words i .. j-1 of the un-binarised,
 * un-annotated tree, by all derivations.  The tree maximises
 *
 *     sum over its constituents of p(X, i, j) - lambda,
 *
 * where a larger lambda favours precision, a smaller one recall; it need not be a tree of the
 * grammar.  Tags: the best posterior of each word.  Below the root there is a phrase over all words
 * also where no label of it is worth lambda, when it is more probable than not that there is one.
 *
 * [Goo96] Goodman. Parsing algorithms and metrics. ACL 1996.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_MBR_H
#define TRL_MBR_H

#include "chart/chart.h"

/* A labelled span and its posteriors.  X over X in one span are two brackets: p is an expected
 * count, which may be above 1; `any` is the probability that there is at least one. */
typedef struct trl_bracket {
    uint32_t label;
    double p,
        above; /* above: the expected number of brackets over the same span that it is under */
    double any;
} trl_bracket;

/* Posteriors of labelled spans of a chart after trl_chart_outside: brackets of a cell are
 * bracket[first[cell] .. first[cell+1]), p descending; tags over single words are kept in `tag`.
 * In the arena.
 */
typedef struct trl_brackets {
    size_t n;
    uint32_t *first;
    trl_bracket *bracket;
    uint32_t *tag; /* [n] best label of each word */
    double *tag_p;
    const trl_must *must; /* of the skeleton: spans that are in the tree for any lambda */
    size_t n_must;
} trl_brackets;

trl_status trl_chart_brackets(const trl_chart *c, trl_brackets *b, trl_arena *arena,
                              trl_error *err);

/* Every p becomes (1 - share) p + share q, q being the other's of the same label and span (0 where
 * it has none), top and any likewise; sorted again. */
void trl_brackets_mix(trl_brackets *b, const trl_brackets *other, double share);

/* What several charts of one sentence say: the means of p, above and any, a label that a chart does
 * not have counting 0; tags and spans that must be there are those of the first.  label[k][x]: the
 * label of the first that label x of chart k is, or TRL_NO_ID (label[0] is not looked at).  In the
 * arena.  TRL_ENOMEM. */
trl_status trl_brackets_average(const trl_brackets *const *from, const uint32_t *const *label,
                                size_t n, trl_brackets *out, trl_arena *arena, trl_error *err);

/* The best tree, in place of what was in *out.  Scratch in the arena.  TRL_ENOMEM. */
trl_status trl_mbr_tree(const trl_brackets *b, uint32_t root_label, double lambda, trl_nodes *out,
                        trl_arena *arena, trl_error *err);

#endif
