/* layout.h -- where the nodes of an upright tree stand, in any unit (columns, tenths of pixels).
 *
 * A subtree takes the room its label or word needs, or its children side by side, whichever is
 * more; a parent stands in the middle between its first and its last child, as far as its
 * label then stays within that room.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LAYOUT_H
#define TRL_LAYOUT_H

#include "treebank/brackets.h"

typedef struct trl_box {
    size_t label, word; /* widths, given by the caller; word: 0 above words */
    size_t width, left; /* of the subtree */
    size_t inner;       /* of the children side by side */
    size_t centre;      /* left <= centre < left + width */
    size_t depth;       /* of the root: 0 */
    size_t label_left, word_left;
} trl_box;

typedef struct trl_layout {
    trl_box *box;    /* [n_nodes] */
    uint32_t *order; /* [n_nodes]: nodes by depth, each level from left to right */
    size_t *level;   /* [n_levels + 1]: level d is order[level[d] .. level[d + 1]) */
    size_t n_levels;
} trl_layout; /* zero-initialise */

/* Room for the tree, depths and levels; the caller then sets widths and calls _place.
 * TRL_ENOMEM. */
trl_status trl_layout_init(trl_layout *l, const trl_tree *tree, trl_error *err);
void trl_layout_fini(trl_layout *l);

/* Places all nodes, `gap` between neighbours.  box[0].width is the whole width. */
void trl_layout_place(trl_layout *l, const trl_tree *tree, size_t gap);

/* The label of a node as drawings show it: "()" for an empty one. */
static inline trl_str trl_shown_label(const trl_tree *tree, uint32_t node)
{
    const trl_str s = trl_tree_label(tree, node);
    return s.n ? s : (trl_str){"()", 2};
}

#endif
