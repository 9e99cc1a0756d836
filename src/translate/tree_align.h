/* tree_align.h -- from word links to a transduction of the source tree: a target word or NULL for
 * every source word, an order for the children of every node.
 *
 * The target words that a tree can put into place are those of a choice of links, at most one for
 * a source word and one for a target word, for which the children of every node cover intervals
 * of the target sentence that do not overlap.  The choice with the most links is found; of equal
 * ones the one with the largest sum of `like`.
 *
 * A chart with the nodes of the tree as cells: an item is an interval and the links inside, best
 * first; one that covers another and has no more links than it is dropped.  With `beam` 0 the
 * result is exact.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_ALIGN_H
#define TRL_TREE_ALIGN_H

#include "translate/interval_chart.h"
#include "translate/links.h"

#define TRL_TREE_ALIGN_LONGEST 128 /* words for which `like` never outweighs a link */

typedef struct trl_tree_links {
    const trl_link *link; /* [n_links] by source word */
    size_t n_links;
    const double *like; /* [n_links] 0 to 1; or NULL */
    size_t beam;        /* items kept in a cell; 0: all */
} trl_tree_links;

/* target[i]: the word that source word i becomes, TRL_NO_ID: NULL.  order[v] of every node (of a
 * word's node TRL_ORDER_FREE).  *kept: the links that are left.  `scratch` is reset.  TRL_ENOMEM.
 */
typedef struct trl_transduction {
    uint32_t *target;     /* [n_words] */
    unsigned char *order; /* [n_nodes] trl_node_order */
    size_t kept;
} trl_transduction;
trl_status trl_tree_align(const trl_source *s, const trl_tree_links *links, trl_arena *scratch,
                          trl_transduction *out, trl_error *err);

#endif
