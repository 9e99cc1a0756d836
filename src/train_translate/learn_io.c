/* learn_io.c -- what was learnt, as bytes of a checkpoint:
 *
 *     counts        all counts, then of each part: part_counts
 *     u64[n_keys]   keys
 *     each part     nodes, u64 ends of trees, points
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_translate/learn.h"

typedef struct counts {
    uint64_t n, n_keys, examples;
} counts;

typedef struct part_counts {
    uint64_t nodes, trees, points, best;
} part_counts;

bool trl_learnt_save(const trl_learnt *l, trl_buf *out)
{
    const counts c = {l->n, l->n_keys, l->examples};
    trl_buf_add(out, &c, sizeof c);
    for (size_t k = 0; k < l->n; k++) {
        const trl_boost_part *p = &l->part[k];
        const part_counts q = {p->own.n_nodes, p->own.n_trees, p->n_points, p->best};
        trl_buf_add(out, &q, sizeof q);
    }
    trl_buf_add(out, l->key, l->n_keys * sizeof *l->key);
    for (size_t k = 0; k < l->n; k++) {
        const trl_boost_part *p = &l->part[k];
        trl_buf_add(out, p->own.node, p->own.n_nodes * sizeof *p->own.node);
        trl_buf_add(out, p->own.tree_end, p->own.n_trees * sizeof *p->own.tree_end);
        trl_buf_add(out, p->own_point, p->n_points * sizeof *p->own_point);
    }
    return !out->failed;
}

typedef struct bytes {
    const unsigned char *p;
    size_t n;
} bytes;

static trl_status damaged(trl_error *err)
{
    return trl_fail(err, TRL_EMODEL, "a record of the checkpoint is damaged");
}

/* A copy of the next n items.  TRL_EMODEL when fewer are left. */
static trl_status take(bytes *b, uint64_t n, size_t width, void **out, trl_error *err)
{
    if (n > b->n / width)
        return damaged(err);
    if (!(*out = trl_alloc((size_t)n + 1, width)))
        return trl_fail_mem(err);
    (void)trl_take(&b->p, &b->n, *out, (size_t)n * width);
    return TRL_OK;
}

static bool sound_points(const trl_boost_part *p)
{
    for (size_t k = 0; k < p->n_points; k++)
        if (p->own_point[k].trees > p->own.n_trees)
            return false;
    return p->n_points > 0 && p->best < p->n_points;
}

static trl_status load_part(trl_boost_part *p, const part_counts *q, bytes *b, size_t n_keys,
                            trl_error *err)
{
    void *node = NULL, *end = NULL, *point = NULL;
    trl_status st = take(b, q->nodes, sizeof *p->own.node, &node, err);
    if (st == TRL_OK)
        st = take(b, q->trees, sizeof *p->own.tree_end, &end, err);
    if (st == TRL_OK)
        st = take(b, q->points, sizeof *p->own_point, &point, err);
    p->own = (trl_boost_ensemble){.node = node, .tree_end = end};
    p->own_point = point;
    if (st != TRL_OK)
        return st;
    p->own.n_nodes = p->own.node_cap = (size_t)q->nodes;
    p->own.n_trees = p->own.tree_cap = (size_t)q->trees;
    p->n_points = (size_t)q->points;
    p->best = (size_t)q->best;
    const trl_boost_run run = {node, p->own.n_nodes, end, p->own.n_trees};
    bool sound;
    st = trl_boost_check_trees(&run, n_keys, &sound, err);
    if (st != TRL_OK)
        return st;
    sound = sound && trl_boost_begin(p->own.tree_end, p->own.n_trees) == q->nodes;
    return sound && sound_points(p) ? TRL_OK : damaged(err);
}

trl_status trl_learnt_load(trl_learnt *l, const void *p, size_t n, trl_error *err)
{
    bytes b = {p, n};
    counts c;
    void *part = NULL, *key = NULL;
    *l = (trl_learnt){0};
    if (!trl_take(&b.p, &b.n, &c, sizeof c))
        return damaged(err);
    trl_status st = take(&b, c.n, sizeof(part_counts), &part, err);
    if (st == TRL_OK)
        st = take(&b, c.n_keys, sizeof *l->key, &key, err);
    l->key = key;
    if (st == TRL_OK && !(l->part = trl_zalloc((size_t)c.n + 1, sizeof *l->part)))
        st = trl_fail_mem(err);
    if (st == TRL_OK) {
        l->n = (size_t)c.n;
        l->n_keys = (size_t)c.n_keys;
        l->examples = c.examples;
    }
    const part_counts *q = part;
    for (size_t k = 0; st == TRL_OK && k < l->n; k++)
        st = load_part(&l->part[k], &q[k], &b, l->n_keys, err);
    trl_free(part);
    if (st == TRL_OK && b.n)
        st = damaged(err);
    if (st != TRL_OK)
        trl_learnt_fini(l);
    return st;
}
