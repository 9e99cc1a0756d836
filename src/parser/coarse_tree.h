/* coarse_tree.h -- the tree of the coarse grammar, for sentences that the fine one cannot parse.
 *
 * The coarse PCFG knows no annotation and remembers nothing between children: it has a tree for
 * nearly every sentence.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_COARSE_TREE_H
#define TRL_COARSE_TREE_H

#include "parser/tree_model.h"

/* What a bracket must be worth (mbr.h), and until when it may take (trl_clock). */
typedef struct trl_coarse_limits {
    double lambda;
    double deadline;
} trl_coarse_limits;

/* The tree with the best expected brackets (chart/mbr.h) of the coarse PCFG, with labels of the
 * fine grammar; out->n is 0 when it has none, or the deadline (on
 * trl_clock(); 0: none) has passed.  TRL_ENOMEM. */
trl_status trl_coarse_tree(const trl_tree_model *m, const trl_words *x,
                           const trl_coarse_limits *limits, trl_nodes *out, trl_arena *arena,
                           trl_error *err);

/* How pieces of a sentence are parsed. */
typedef struct trl_piece_parser {
    size_t longest; /* words of a piece */
    double lambda;  /* of the coarse grammar's trees */
    /* A better tree of a piece than the coarse grammar's; out->n is 0 where there is none.  NULL:
     * there never is. */
    trl_status (*tree)(void *self, const trl_words *x, trl_nodes *out, trl_error *err);
    void *self;
} trl_piece_parser;

/* The same for pieces of the sentence, cut at punctuation where there is some (borders.h): their
 * trees, or for pieces without one their phrases (chart/fallback.h), become the children of one
 * root.  Time and memory are linear in n.  The arena is reset.  n > 0.  TRL_ENOMEM. */
trl_status trl_coarse_pieces(const trl_tree_model *m, const trl_words *x, const trl_piece_parser *p,
                             trl_nodes *out, trl_arena *arena, trl_error *err);

/* Labels of the coarse grammar become those of the fine one. */
void trl_coarse_rename(const trl_tree_model *m, trl_node *node, size_t n);

#endif
