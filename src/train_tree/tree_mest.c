/* tree_mest.c -- M-estimation on trees: the features of all gold trees as a sparse matrix. */
/* SPDX-License-Identifier: MIT */
#include "train_tree/tree_mest.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "parser/tree_keys.h"

typedef struct lister {
    const trl_tree_features *f;
    const trl_tree_example *example;
    trl_tree_keys *keys; /* [threads] */
    uint32_t **row;      /* [n]: weights of a tree */
    size_t *size;        /* [n] */
} lister;

/* The weights of the rules in a tree, which have no keys: two per node. */
static size_t put_rules(const trl_grammar *g, const trl_btree *tree, uint32_t *out)
{
    const size_t plain = g->n_binary, u0 = plain + g->n_plain_binary, p0 = u0 + g->n_unary;
    size_t n = 0;
    for (size_t x = 0; x < tree->n; x++) {
        const trl_bnode *node = &tree->node[x];
        if (node->left == TRL_NO_NODE)
            continue;
        const bool unary = node->right == TRL_NO_NODE;
        out[n++] = (uint32_t)(unary ? u0 + node->rule : node->rule);
        out[n++] = (uint32_t)(unary ? p0 + g->unary[node->rule].plain
                                    : plain + g->binary[node->rule].plain);
    }
    return n;
}

static trl_status list_tree(void *ctx, size_t k, size_t worker, trl_error *err)
{
    lister *l = ctx;
    const trl_tree_example *e = &l->example[k];
    trl_tree_keys *keys = &l->keys[worker];
    const trl_status st = trl_tree_keys_of(l->f, &e->gold, &e->seen, NULL, keys, err);
    if (st != TRL_OK)
        return st;
    uint32_t *row = l->row[k] = trl_alloc(keys->n + 2 * e->gold.n, sizeof *row);
    if (!row)
        return trl_fail_mem(err);
    size_t n = put_rules(l->f->g, &e->gold, row);
    for (size_t i = 0; i < keys->n; i++)
        row[n++] = (uint32_t)l->f->n_direct + keys->id[i];
    l->size[k] = n;
    return TRL_OK;
}

/* Concatenates all rows and frees them one by one. */
static trl_status join(lister *l, size_t n, trl_gold_listing *out, trl_error *err)
{
    uint64_t all = 0;
    for (size_t k = 0; k < n; k++)
        all += l->size[k];
    out->begin = trl_alloc(n + 1, sizeof *out->begin);
    out->weight = trl_alloc((size_t)all, sizeof *out->weight);
    if (!out->begin || !out->weight)
        return trl_fail_mem(err);
    all = 0;
    for (size_t k = 0; k < n; k++) {
        out->begin[k] = all;
        memcpy(out->weight + all, l->row[k], l->size[k] * sizeof *out->weight);
        all += l->size[k];
        trl_free(l->row[k]);
        l->row[k] = NULL;
    }
    out->begin[n] = all;
    return TRL_OK;
}

trl_status trl_tree_mest_new(const trl_tree_features *f, const trl_tree_examples *x,
                             const double *E, trl_pool *pool, trl_mest **out, trl_error *err)
{
    const size_t threads = trl_pool_threads(pool);
    lister l = {.f = f,
                .example = x->example,
                .keys = trl_zalloc(threads, sizeof *l.keys),
                .row = trl_zalloc(x->n, sizeof *l.row),
                .size = trl_zalloc(x->n, sizeof *l.size)};
    trl_gold_listing all = {0};
    trl_status st = l.keys && l.row && l.size ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_pool_run(pool, x->n, list_tree, &l, err);
    if (st == TRL_OK)
        st = join(&l, x->n, &all, err);
    for (size_t k = 0; l.row && k < x->n; k++)
        trl_free(l.row[k]);
    for (size_t k = 0; l.keys && k < threads; k++)
        trl_tree_keys_fini(&l.keys[k]);
    trl_free(l.keys);
    trl_free(l.row);
    trl_free(l.size);
    if (st == TRL_OK)
        st = trl_mest_new_listed(
            &(trl_mest_listed){.l = &all, .n = x->n, .n_weights = trl_tree_weights(f), .E = E},
            pool, out, err);
    trl_free(all.begin);
    trl_free(all.weight);
    return st;
}
