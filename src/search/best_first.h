/* best_first.h -- the cheapest tree of a sentence, by best-first search over states.
 *
 * An inference costs c = ln(1 + exp(-h)) >= 0, h the score of the label's classifier; a tree costs
 * the sum over its derivation [TM06, equation 1].  Or, with shares, it costs -ln of its share
 * exp(h) / (c + sum exp(h')) among all inferences h' from its state, c that none of them is right:
 * a state that is sure of its next inference costs nothing, but one from which nothing looks right
 * costs.  States are taken from a queue,
 * cheapest first: the first tree that comes out is the cheapest of all.  A first descent that
 * always takes the cheapest inference, and queues the others, gives a tree at once, and a bound:
 * what costs as much as the best tree known is never queued.
 *
 * The search ends early, with the best tree known, when it has done its work (counted before it is
 * done, so that results do not depend on the machine) or its time is over.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BEST_FIRST_H
#define TRL_BEST_FIRST_H

#include "base/arena.h"
#include "search/search_model.h"

/* With shares: an inference is not possible when another one from the same state has a score that
 * is larger by more than this. */
#define TRL_SEARCH_UNLIKELY 12.0

/* With shares: what no inference counts beside exp(h) of the others.  By cross-validation 1 is as
 * good and slower, 0 worse: docs/results/boosting.md. */
#define TRL_SEARCH_NONE 0.3

typedef struct trl_search_options {
    size_t nbest;    /* trees; 0, 1: one */
    size_t beam;     /* states of each number of inferences that are looked at; 0: no limit */
    double max_work; /* millions of trees of classifiers looked at; 0: no limit */
    double deadline; /* trl_clock(); 0: none */
} trl_search_options;

/* What is known of the tree: an item over exactly the words [from .. to), or none.  TOP is not
 * concerned. */
typedef struct trl_search_known {
    size_t from, to;
    uint32_t label; /* TRL_NO_ID: any */
    bool forbidden;
} trl_search_known;

typedef struct trl_found_tree {
    double cost;
    trl_node *node; /* labels of model->names; valid until the next search */
    size_t n_nodes;
} trl_found_tree;

typedef struct trl_search_node trl_search_node;
typedef struct trl_search_state trl_search_state;

/* Working memory of one thread, kept from sentence to sentence.  Zero-initialise with `model`;
 * release with _fini. */
typedef struct trl_searcher {
    const trl_search_model *model;

    trl_forest forest;
    trl_item_ids ids;
    trl_boost_present present;
    uint32_t *word;              /* [n_words] */
    uint32_t (*path)[TRL_PATHS]; /* [n_words] */
    size_t word_cap, path_cap;

    trl_arena arena; /* roots of states; trees */
    trl_search_node *node;
    trl_search_state *state;
    uint32_t *heap;
    size_t n_nodes, node_cap, n_states, state_cap, n_heap, heap_cap;
    uint32_t *expanded; /* [depth] states of this many inferences: for the beam */
    size_t expanded_cap;
    double *cost; /* [spans][classifiers] of a state */
    size_t cost_cap;
    double bound; /* what costs as much is not queued */
    const trl_search_known *known;
    size_t n_known;
    size_t want;   /* trees */
    uint32_t leaf; /* the node of the cheapest tree known */

    trl_found_tree *found;
    size_t n_found, found_cap;
    bool exact;          /* of the last search: nothing cheaper was missed */
    uint64_t n_expanded; /* states of the last search */
    double work;
} trl_searcher;

void trl_searcher_fini(trl_searcher *x);

/* A sentence.  With several taggings a tree also costs what its own does: the search finds the tags
 * and the tree that are cheapest together. */
typedef struct trl_search_input {
    const trl_str *word; /* [n] */
    size_t n;
    const uint32_t *tag;           /* [taggings][n], no tagging twice */
    const double *cost;            /* [taggings] >= 0, ascending; NULL: 0 */
    size_t n_taggings;             /* at least 1 */
    const trl_search_known *known; /* [n_known] */
    size_t n_known;
} trl_search_input;

/* The cheapest trees of a sentence into found[0 .. n_found), at least one; where something is
 * known, perhaps none.  TRL_ENOMEM. */
trl_status trl_best_first(trl_searcher *x, const trl_search_input *in, const trl_search_options *o,
                          trl_error *err);

/* The costs of all inferences from a state of the last search into x->cost[spans][classifiers],
 * spans by first root, then by last; INFINITY: not possible.  TRL_ENOMEM. */
trl_status trl_search_costs(trl_searcher *x, const trl_partial_parse *s, trl_error *err);

/* The features of a span of the state that was looked at last into x->ids.span.  TRL_ENOMEM. */
trl_status trl_search_features(trl_searcher *x, const trl_partial_parse *s, size_t first,
                               size_t last, trl_error *err);

/* The state of the last search's sentence with tagging k, nothing inferred yet. */
trl_partial_parse trl_search_begin(const trl_searcher *x, size_t k);

#endif
