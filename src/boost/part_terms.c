/* part_terms.c -- the trees of a classifier as a sum over distinct compound features. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "boost/model.h"
#include "boost/terms.h"

typedef struct collector {
    trl_boost_terms *terms;
    uint32_t *path; /* literals from the root to a node */
    uint32_t *sorted;
    size_t n, cap, sorted_cap;
} collector;

static int by_literal(const void *pa, const void *pb)
{
    const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    return a < b ? -1 : a > b;
}

static trl_status add_leaf(collector *d, double value, trl_error *err)
{
    uint32_t *sorted = trl_reserve(d->sorted, &d->sorted_cap, d->n + 1, sizeof *sorted);
    if (!sorted)
        return trl_fail_mem(err);
    d->sorted = sorted;
    uint64_t hash = 0;
    for (size_t k = 0; k < d->n; k++) {
        sorted[k] = d->path[k];
        hash += trl_boost_literal_hash(d->path[k]);
    }
    qsort(sorted, d->n, sizeof *sorted, by_literal);
    size_t term = trl_boost_terms_find(d->terms, hash, sorted, d->n);
    if (term == SIZE_MAX)
        term = trl_boost_terms_add(d->terms, hash, sorted, d->n);
    if (term == SIZE_MAX)
        return trl_fail_mem(err);
    d->terms->term[term].theta += value;
    return TRL_OK;
}

static trl_status push_literal(collector *d, uint32_t literal, trl_error *err)
{
    if (d->n == TRL_BOOST_MAX_DEPTH)
        return trl_fail(err, TRL_EMODEL, "damaged model: a tree has more than %d splits in a row",
                        TRL_BOOST_MAX_DEPTH);
    uint32_t *path = trl_reserve(d->path, &d->cap, d->n + 1, sizeof *path);
    if (!path)
        return trl_fail_mem(err);
    d->path = path;
    d->path[d->n++] = literal;
    return TRL_OK;
}

/* Preorder: when a node is some `off`, the paths that were open before it end. */
static trl_status add_tree(collector *d, const trl_boost_node *root, size_t n, trl_error *err)
{
    trl_status st = TRL_OK;
    uint32_t *turn = trl_alloc(n + 1, sizeof *turn); /* node -> the node whose `off` it is, + 1 */
    size_t *depth = trl_alloc(n + 1, sizeof *depth);
    if (!turn || !depth)
        st = trl_fail_mem(err);
    else
        memset(turn, 0, n * sizeof *turn);
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        if (k == 0)
            d->n = 0;
        else if (turn[k]) {
            d->n = depth[turn[k] - 1];
            st = push_literal(d, 2 * root[turn[k] - 1].feature + 1, err);
        } else
            st = push_literal(d, 2 * root[k - 1].feature, err);
        depth[k] = d->n;
        if (root[k].feature != TRL_NO_ID)
            turn[root[k].off] = (uint32_t)k + 1;
        else if (st == TRL_OK && root[k].value != 0.0)
            st = add_leaf(d, root[k].value, err);
    }
    trl_free(turn);
    trl_free(depth);
    return st;
}

trl_status trl_boost_part_terms(const trl_boost_part *p, trl_boost_terms *terms, trl_error *err)
{
    collector d = {.terms = terms};
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < p->n_trees; k++) {
        const uint64_t begin = trl_boost_begin(p->tree_end, k);
        st = add_tree(&d, p->node + begin, p->tree_end[k] - begin, err);
    }
    trl_free(d.path);
    trl_free(d.sorted);
    return st;
}
