/* obj_pt_cfg.h -- which wrong edges become none-of-the-above instances [SM05b, 5]. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_NOTA_H
#define TRL_TREE_NOTA_H

#include "base/pool.h"
#include "parser/tree_decode.h"
#include "train_tree/tree_task.h"

/* Makes the instances of all examples, whose old ones are replaced, by the weights of m->features;
 * word(ctx, source) gives the words of a tree.  Sets t->nota.  *count: how many there are.  An
 * example is either changed or, after a failure, as it was.  Any number of threads gives the same
 * instances.  TRL_ENOMEM, TRL_ENUMERIC. */
typedef const trl_str *(*trl_words_fn)(const void *ctx, size_t source);
/* The words of every example, and how far below the best a wrong edge may be. */
typedef struct trl_nota_edges {
    trl_words_fn words;
    const void *ctx;
    double delta;
} trl_nota_edges;

trl_status trl_tree_nota_make(trl_tree_task *t, const trl_tree_model *m, const trl_nota_edges *from,
                              trl_pool *pool, size_t *count, trl_error *err);

#endif
