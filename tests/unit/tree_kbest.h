/* tree_kbest.h -- the derivations of a chart as a list. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_KBEST_H
#define TREE_KBEST_H

#include "base/mem.h"
#include "chart/kbest.h"
#include "support.h"

typedef struct kbest {
    trl_btree *tree; /* [n], owned */
    double *score;   /* [n], log, descending */
    size_t n;
} kbest; /* zero-initialise */

static trl_status kbest_append(void *ctx, const trl_btree *tree, double score, bool *enough,
                               trl_error *err)
{
    (void)enough, (void)err;
    kbest *b = ctx;
    b->tree = realloc(b->tree, (b->n + 1) * sizeof *b->tree);
    b->score = realloc(b->score, (b->n + 1) * sizeof *b->score);
    assert_true(b->tree && b->score);
    b->tree[b->n] = (trl_btree){0};
    trl_bnode *node = trl_reserve(NULL, &b->tree[b->n].cap, tree->n, sizeof *node);
    assert_non_null(node);
    memcpy(node, tree->node, tree->n * sizeof *node);
    b->tree[b->n].node = node;
    b->tree[b->n].n = tree->n;
    b->score[b->n++] = score;
    return TRL_OK;
}

static void kbest_fini(kbest *b)
{
    for (size_t k = 0; k < b->n; k++)
        trl_btree_fini(&b->tree[k]);
    free(b->tree);
    free(b->score);
    *b = (kbest){0};
}

/* The first k, in place of what was there. */
static trl_status kbest_get(trl_chart *c, const trl_tree_tables *t, size_t k, kbest *out,
                            trl_arena *arena, trl_error *err)
{
    kbest_fini(out);
    return trl_chart_derivations(c, t, &(trl_derivation_sink){k, kbest_append, out}, arena, err);
}

#endif
