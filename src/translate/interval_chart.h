/* interval_chart.h -- charts over the nodes of a source tree whose items cover intervals of the
 * target sentence: what links become a transduction (tree_align.h), and what derivations EM counts.
 *
 * An item of a node is a choice of target words for its source words, in the interval lo .. hi; the
 * items of two children can be joined when their intervals do not overlap, and then have the order
 * in which they stand there.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_INTERVAL_CHART_H
#define TRL_INTERVAL_CHART_H

#include "base/arena.h"
#include "translate/source.h"

typedef enum trl_node_order {
    TRL_ORDER_FREE, /* a child has no target words: either order gives the same */
    TRL_ORDER_KEPT,
    TRL_ORDER_SWAPPED,
} trl_node_order;

typedef struct trl_interval_item {
    double cost;
    uint32_t lo, hi;      /* hi < lo: no target words */
    uint32_t head;        /* target word of its head, or anything that tells items apart */
    uint32_t left, right; /* items of the children; of a word `left` is what the caller put there */
    uint32_t order;       /* trl_node_order */
} trl_interval_item;

typedef struct trl_interval_cell {
    trl_interval_item *item; /* [n] */
    size_t n;
} trl_interval_cell;

typedef struct trl_interval_chart {
    const trl_source *s;
    trl_arena *arena;        /* of everything here */
    trl_interval_cell *cell; /* [n_nodes] */
} trl_interval_chart;

static inline bool trl_interval_empty(const trl_interval_item *x)
{
    return x->hi < x->lo;
}

/* Empty cells, from the arena, which is reset.  False: out of memory. */
bool trl_interval_start(trl_interval_chart *c, const trl_source *s, trl_arena *arena);

/* What the node pays for joining a and b, items of its left and right child, beyond their costs;
 * it may set out->head.  NULL: nothing. */
typedef void (*trl_interval_pay_fn)(const void *ctx, uint32_t node, const trl_interval_item pair[2],
                                    trl_interval_item *out);

/* Fills the cell of an inner node with all items that its children's can be joined to; the caller
 * prunes them.  False: out of memory. */
bool trl_interval_join(trl_interval_chart *c, uint32_t node, trl_interval_pay_fn pay,
                       const void *ctx);

/* Follows item `root` of the root down: `left` of the items of words, orders of all nodes.  False:
 * out of memory. */
bool trl_interval_read(const trl_interval_chart *c, uint32_t root, uint32_t *word,
                       unsigned char *order);

#endif
