/* parseval_side.h -- one tree as the scorer sees it: words, and brackets over them.
 *
 * EVALB reads lines, not trees: a line may hold several trees, or none, and a node without words is
 * a bracket around nothing.  Hence a scanner of its own beside treebank/brackets.h; trees in memory
 * (trl_side_tree) give the same result.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PARSEVAL_SIDE_H
#define TRL_PARSEVAL_SIDE_H

#include "score/parseval_labels.h"
#include "treebank/brackets.h"

#define TRL_UNCLOSED (-1)

typedef struct trl_leaf {
    trl_str word; /* borrowed from the line or the tree */
    uint32_t tag;
    uint32_t copies; /* 0: deleted; parseval_match.c says when there are two */
} trl_leaf;

typedef struct trl_bracket {
    uint32_t label;     /* as written */
    int32_t from, to;   /* leaves [from, to); to may be TRL_UNCLOSED */
    int32_t start, end; /* the same among the words that are left */
    bool live;          /* counts */
    bool matched;
    uint32_t partner; /* of a gold bracket that matched: the test bracket */
} trl_bracket;

typedef struct trl_side {
    trl_leaf *leaf;
    trl_bracket *bracket; /* in the order they open */
    uint32_t *open;       /* stack of the scanner */
    int32_t *before;      /* [n_leaves + 1]: words left before the leaf */
    size_t n_leaves, cap_leaves, n_brackets, cap_brackets, cap_open, cap_before;
    int32_t put_back;  /* see parseval_match.c */
    size_t first_open; /* where in the line the outermost open bracket is; scanner only */
} trl_side;            /* zero-initialise */

void trl_side_fini(trl_side *s);

/* A line, without its end.  *ok is false when it is not a sequence of trees; err then says why and
 * err->col where in the line.  Brackets left open at the end are such an error, too, but then the
 * side is complete, with to = TRL_UNCLOSED, and *whole is true; after other errors it holds what
 * came before.  TRL_ENOMEM; TRL_EINVAL for 2^31 words. */
trl_status trl_side_line(trl_side *s, trl_label_table *labels, trl_str line, bool *ok, bool *whole,
                         trl_error *err);

#endif
