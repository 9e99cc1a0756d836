/* search_explain.h -- why a boosted parser made a tree: the score of its derivation as a sum.
 *
 * The score of a tree is minus its cost.  Every inference adds the parameters of the compound
 * features of its label's classifier that hold for it, h in all, and what the other inferences from
 * its state take away: -ln(c + sum exp(h')) of all of them, or, where costs are no shares, what is
 * left of -ln(1 + exp(-h)) - h.  The tags add minus what they cost.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SEARCH_EXPLAIN_H
#define TRL_SEARCH_EXPLAIN_H

#include "search/best_first.h"
#include "trellis/parser.h"

/* Parts of one derivation, kept from sentence to sentence.  Zero-initialise with `model`; release
 * with _fini. */
typedef struct trl_search_explainer {
    const trl_search_model *model;
    trl_boost_terms *terms; /* [classifiers], those that were asked for */
    bool *has_terms;        /* [classifiers] */
    unsigned char *holds;   /* [2 features] of literals: boost/terms.h */
    uint32_t *order, *item, *root;
    size_t order_cap, item_cap, root_cap;
    trl_parse_part *part; /* [n] names are in `names` */
    size_t n, cap;
    trl_buf names;
} trl_search_explainer;

void trl_search_explainer_fini(trl_search_explainer *e);

/* The parts of the first tree that the search has found, of these inputs.  TRL_ENOMEM. */
trl_status trl_search_explain(trl_search_explainer *e, trl_searcher *x, const trl_search_input *in,
                              trl_error *err);

#endif
