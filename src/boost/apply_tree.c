/* apply_tree.c -- what a grown tree changes: the ensemble, odds and weights. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "boost/loss.h"
#include "boost/trainer.h"

typedef struct change_job {
    trl_trainer *t;
    const double *factor; /* [slots] exp(value); 1: no change */
    int64_t *part;        /* [pieces][3] sums of w and |w|; features of rows that were visited */
} change_job;

/* The number of its features. */
static int64_t change_row(trl_trainer *t, int64_t *sum, size_t i, int64_t by)
{
    const uint32_t *id = t->d->id;
    const uint64_t begin = trl_boost_begin(t->d->row_end, i), end = t->d->row_end[i];
    for (uint64_t k = begin; k < end; k++)
        sum[id[k]] += by;
    return (int64_t)(end - begin);
}

static trl_status run_change(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)err;
    const change_job *j = ctx;
    trl_trainer *t = j->t;
    int64_t total = 0, weight = 0, visited = 0;
    int64_t *sum = !t->root || worker == 0
                       ? t->root
                       : t->side + (worker - 1) * t->sums.n_blocks * TRL_SUMS_BLOCK;
    const size_t end = (piece + 1) * TRL_LOSS_PIECE < t->n ? (piece + 1) * TRL_LOSS_PIECE : t->n;
    for (size_t i = piece * TRL_LOSS_PIECE; i < end; i++) {
        const bool begins = i % TRL_WEIGHT_BLOCK == 0;
        if (t->slot[i] != TRL_NO_ID && j->factor[t->slot[i]] != 1.0) {
            t->odds[i] *= j->factor[t->slot[i]];
            const int64_t w = trl_loss_weight(t->v[i], t->odds[i], t->scale);
            if (sum && w != t->w[i])
                visited += change_row(t, sum, i, w - t->w[i]);
            t->w[i] = w;
        }
        const int64_t size = t->w[i] < 0 ? -t->w[i] : t->w[i];
        total += t->w[i];
        weight += size;
        if (t->block)
            t->block[i / TRL_WEIGHT_BLOCK] = size + (begins ? 0 : t->block[i / TRL_WEIGHT_BLOCK]);
    }
    j->part[3 * piece] = total;
    j->part[3 * piece + 1] = weight;
    j->part[3 * piece + 2] = visited;
    return TRL_OK;
}

/* Adds what other workers changed to the root's sums, and empties it. */
static void merge_sides(trl_trainer *t)
{
    const size_t n = t->sums.n_blocks * TRL_SUMS_BLOCK;
    for (size_t k = 0; t->side && k + 1 < trl_pool_threads(t->pool); k++) {
        int64_t *side = t->side + k * n;
        for (size_t a = 0; a < n; a++)
            t->root[a] += side[a];
        memset(side, 0, n * sizeof *side);
    }
}

static trl_status change_odds(trl_trainer *t, const double *factor, trl_error *err)
{
    const size_t pieces = trl_loss_pieces(t->n);
    int64_t *part = trl_alloc(pieces, 3 * sizeof *part);
    if (!part)
        return trl_fail_mem(err);
    change_job j = {t, factor, part};
    trl_pool_run_all(t->pool, pieces, run_change, &j);
    merge_sides(t);
    t->total = t->weight = 0;
    for (size_t k = 0; k < pieces; k++) {
        t->total += part[3 * k];
        t->weight += part[3 * k + 1];
        t->visited += (uint64_t)part[3 * k + 2];
    }
    trl_free(part);
    return TRL_OK;
}

/* Whether all leaves below a node are 0; children come after their parents. */
static void mark_zero(trl_trainer *t)
{
    for (size_t k = t->n_grown; k-- > 0;) {
        trl_grown *g = &t->grown[k];
        g->zero = trl_is_leaf(g) ? g->value == 0.0 : t->grown[g->on].zero && t->grown[g->off].zero;
    }
}

/* Nodes in preorder.  The way without the feature is followed in a loop: it may be long. */
static bool append(trl_trainer *t, uint32_t at, size_t first)
{
    while (!trl_is_leaf(&t->grown[at]) && !t->grown[at].zero) {
        const trl_grown g = t->grown[at];
        const size_t here = t->trees.n_nodes;
        if (!trl_boost_ensemble_node(&t->trees,
                                     (trl_boost_node){t->grown[g.on].literal / 2, 0, 0.0}) ||
            !append(t, g.on, first))
            return false;
        t->trees.node[here].off = (uint32_t)(t->trees.n_nodes - first);
        at = g.off;
    }
    const double value = trl_is_leaf(&t->grown[at]) ? t->grown[at].value : 0.0;
    return trl_boost_ensemble_node(&t->trees, (trl_boost_node){TRL_NO_ID, 0, value});
}

trl_status trl_apply_tree(trl_trainer *t, trl_error *err)
{
    double *factor = trl_alloc(t->n_grown, sizeof *factor);
    if (!factor)
        return trl_fail_mem(err);
    for (size_t k = 0; k < t->n_grown; k++)
        if (trl_is_leaf(&t->grown[k]))
            factor[t->grown[k].slot] = exp(t->grown[k].value);
    mark_zero(t);
    trl_status st = TRL_OK;
    if (!append(t, 0, t->trees.n_nodes) || !trl_boost_ensemble_tree(&t->trees))
        st = trl_fail_mem(err);
    if (st == TRL_OK)
        st = change_odds(t, factor, err);
    trl_free(factor);
    return st;
}
