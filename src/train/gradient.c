/* gradient.c -- corpus objective and gradient over lanes. */
/* SPDX-License-Identifier: MIT */
#include "train/gradient.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/select.h"
#include "num/blas1.h"
#include "num/float_kernel.h"
#include "train/gradient_parts.h"

#define COLD_BLOCK 512

/* ---- lifetime -------------------------------------------------------------------------------- */

/* As many lanes as keep their buffers within a quarter of a gigabyte, cut by tokens. */
static void cut_lanes(trl_gradient *g)
{
    const trl_design *d = g->d;
    const uint64_t bytes = (d->n_hot_weights + 64) * sizeof(double);
    const uint64_t fit = ((uint64_t)1 << 28) / bytes;
    g->n_lanes = fit < 1 ? 1 : fit > TRL_LANES_MAX ? TRL_LANES_MAX : (size_t)fit;
    if (g->n_lanes > d->n_sequences)
        g->n_lanes = d->n_sequences;
    size_t seq = 0;
    for (size_t k = 0; k < g->n_lanes; k++) {
        const uint64_t upto = d->n_tokens / g->n_lanes * (k + 1);
        g->lanes[k].seq0 = seq;
        while (seq < d->n_sequences && (k + 1 == g->n_lanes || d->first[seq] < upto))
            seq++;
        g->lanes[k].seq1 = seq;
    }
}

#define LANE_TOKENS 8192 /* grouped, in a lane, if there are enough for 4 lanes and not for 16 */

/* The same for batches of grouped tokens. */
static void cut_batches(trl_gradient *g)
{
    const trl_token_groups *p = &g->group;
    const size_t want = p->n / LANE_TOKENS < 4 ? 4 : p->n / LANE_TOKENS;
    size_t at = 0;
    g->n_lanes = want < g->n_lanes ? want : g->n_lanes;
    for (size_t k = 0; k < g->n_lanes; k++) {
        const size_t upto = p->n / g->n_lanes * (k + 1);
        g->lanes[k].seq0 = at;
        while (at < p->n_batches && (k + 1 == g->n_lanes || p->batch[at].position < upto))
            at++;
        g->lanes[k].seq1 = at;
    }
}

/* Groups where the task can do with tokens and they have enough in common. */
static trl_status group_tokens(trl_gradient *g, const trl_strtab *names, trl_error *err)
{
    const trl_design *d = g->d;
    if (!g->task->chain.tokens || d->family[TRL_EDGE].has_rows || d->family[TRL_TRI].has_rows)
        return TRL_OK;
    trl_status st = trl_token_groups_build(&g->group, &g->implied, d, names, &g->grouped, err);
    if (st == TRL_OK && g->grouped) {
        cut_batches(g);
        st = g->task->chain.arrange(g->task->self, g->group.n, g->group.token, err);
    }
    return st;
}

/* What only the gradient needs. */
static trl_status gradient_buffers(trl_gradient *g, const trl_strtab *names, trl_error *err)
{
    const trl_design *d = g->d;
    const trl_family *f = &d->family[TRL_NODE];
    const bool single = g->task->single && !f->dense_value;
    g->implied.n_rows = f->n_hot;
    trl_status st = names && single ? group_tokens(g, names, err) : TRL_OK;
    if (st == TRL_OK && names && !g->grouped)
        st = trl_implied_build(&g->implied, d, names, single, err);
    if (st == TRL_OK && !g->grouped)
        st = trl_cold_tokens_build(&g->cold, d, err);
    if (st != TRL_OK)
        return st;
    const size_t rows = g->implied.n_rows * f->step + 64;
    const trl_token_groups_list *l = g->group.list;
    g->stream = trl_alloc(l[TRL_TOKEN_GROUPS_ENTRY].n, sizeof *g->stream);
    const size_t kept = g->grouped ? l[TRL_TOKEN_GROUPS_COLD_ROW].n : g->cold.n;
    g->node = trl_alloc64(kept + 1, f->step * sizeof(float));
    g->hot = trl_alloc64(rows, sizeof(double));
    if (g->task->single)
        g->hot32 = trl_alloc64(rows, sizeof(float));
    if (!g->stream || !g->node || !g->hot || (g->task->single && !g->hot32))
        return trl_fail_mem(err);
    for (size_t k = 0; k < g->n_lanes; k++) {
        g->lanes[k].hot = trl_alloc64(d->n_hot_weights + 64, sizeof(double));
        if (single)
            g->lanes[k].hot32 = trl_alloc64(rows, sizeof(float));
        if (!g->lanes[k].hot || (single && !g->lanes[k].hot32))
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

static trl_status pair_buffers(trl_gradient *g, trl_error *err)
{
    const trl_design *d = g->d;
    if (!g->task->chain.pair_sets || d->order != 1 || !d->family[TRL_EDGE].has_rows)
        return TRL_OK;
    trl_status st = trl_pair_sets_build(&g->pairs, d, TRL_PAIR_TABLES, &g->has_pairs, err);
    for (size_t k = 0; k < g->n_lanes && g->has_pairs && st == TRL_OK; k++)
        st = trl_shared_sets(d, &g->pairs, &g->lanes[k].shared, err);
    return st;
}

/* What the gradient is of. */
typedef struct gradient_parts {
    const trl_design *d;
    const trl_strtab *names;
    const trl_task *task;
} gradient_parts;

static trl_status make(const gradient_parts *of, trl_pool *pool, bool values_only,
                       trl_gradient **out, trl_error *err)
{
    trl_gradient *g = trl_zalloc(1, sizeof *g);
    if (!g)
        return trl_fail_mem(err);
    g->d = of->d;
    g->task = of->task;
    g->pool = pool;
    g->values_only = values_only;
    cut_lanes(g);
    g->arenas = trl_zalloc(trl_pool_threads(pool), sizeof *g->arenas);
    trl_status st = g->arenas ? trl_shared_new(of->d, &g->shared, err) : trl_fail_mem(err);
    for (size_t k = 0; k < g->n_lanes && st == TRL_OK; k++)
        st = trl_shared_new(of->d, &g->lanes[k].shared, err);
    if (st == TRL_OK)
        st = pair_buffers(g, err);
    if (st == TRL_OK && !values_only)
        st = gradient_buffers(g, of->names, err);
    if (st != TRL_OK) {
        trl_gradient_free(g);
        return st;
    }
    *out = g;
    return TRL_OK;
}

trl_status trl_gradient_new(const trl_design *d, const trl_strtab *names, const trl_task *task,
                            trl_pool *pool, trl_gradient **out, trl_error *err)
{
    return make(&(gradient_parts){d, names, task}, pool, false, out, err);
}

void trl_gradient_free(trl_gradient *g)
{
    if (!g)
        return;
    for (size_t k = 0; k < TRL_LANES_MAX; k++) {
        trl_free(g->lanes[k].hot);
        trl_free(g->lanes[k].hot32);
        trl_shared_free(&g->lanes[k].shared);
    }
    trl_pair_sets_fini(&g->pairs);
    for (size_t k = 0; g->arenas && k < trl_pool_threads(g->pool); k++)
        trl_arena_fini(&g->arenas[k]);
    trl_shared_free(&g->shared);
    trl_free(g->arenas);
    trl_free(g->node);
    trl_free(g->stream);
    trl_free(g->hot);
    trl_free(g->hot32);
    trl_implied_fini(&g->implied);
    trl_token_groups_fini(&g->group);
    trl_cold_tokens_fini(&g->cold);
    trl_free(g);
}

/* ---- phase 1: examples ----------------------------------------------------------------------- */

/* Nodes as usual, and of the other families the cells that the task reads. */
static void gather(const trl_gradient *g, size_t from, trl_tables *scores, trl_tables *adjoint)
{
    const trl_selection *only = g->task->chain.only;
    trl_tables part = *scores;
    for (size_t k = TRL_EDGE; only && k < g->d->n_families; k++)
        part.row[k] = NULL;
    trl_gather_implied(g->d, &g->implied, g->w, g->hot, g->hot32, from, &part);
    if (only)
        trl_gather_selected(g->d, only, g->w, from, scores);
    scores->chain.only = adjoint->chain.only = only;
    scores->chain.from = adjoint->chain.from = from;
}

/* node: room for the adjoints of the nodes in single precision. */
static void scatter(const trl_gradient *g, size_t from, const trl_tables *adjoint, float *node,
                    lane *l)
{
    trl_tables part = *adjoint;
    for (size_t k = TRL_EDGE; adjoint->chain.only && k < g->d->n_families; k++)
        part.row[k] = NULL;
    trl_scatter_hot(g->d, &g->implied, from, &part, l->hot, l->hot32, node);
    if (node && !g->cold.all)
        trl_cold_tokens_put(&g->cold, from, adjoint->n, node, g->node);
    l->norm2 += trl_scatter_singletons(g->d, &g->implied, from, &part, 2.0 * g->c2, g->w, g->grad);
    if (adjoint->chain.pairs)
        trl_pair_sets_scatter(g->d, adjoint, l->hot);
    if (adjoint->chain.only)
        trl_scatter_selected(g->d, adjoint->chain.only, from, adjoint, l->hot);
}

static trl_status run_example(trl_gradient *g, lane *l, const trl_example *e, double *value,
                              trl_error *err)
{
    const trl_design *d = g->d;
    const trl_family *f = &d->family[TRL_NODE];
    const size_t from = (size_t)d->first[e->number], n = (size_t)d->first[e->number + 1] - from;
    const trl_pair_sets *sets = g->has_pairs ? &g->pairs : NULL;
    trl_tables scores, adjoint;
    trl_arena_reset(e->arena);
    if (!trl_tables_get_sets(d, sets, from, n, e->arena, &scores) ||
        !trl_tables_get_sets(d, sets, from, n, e->arena, &adjoint))
        return trl_fail_mem(err);
    for (size_t k = 0; k < d->n_families; k++) {
        scores.shared[k] = g->shared.shared[k];
        adjoint.shared[k] = l->shared.shared[k];
    }
    adjoint.chain.set_table = l->shared.chain.set_table;
    gather(g, from, &scores, &adjoint);
    const trl_status st = g->task->evaluate(g->task->self, e, &scores, &adjoint, value, err);
    if (st != TRL_OK || g->values_only)
        return st;
    float *node = f->n_cold == 0 ? NULL
                  : g->cold.all  ? g->node + from * f->step
                                 : trl_arena_get(e->arena, n, f->step * sizeof *node);
    if (f->n_cold && !node)
        return trl_fail_mem(err);
    scatter(g, from, &adjoint, node, l);
    return TRL_OK;
}

static trl_status run_batch(trl_gradient *g, lane *l, const trl_example *e, double *value,
                            trl_error *err)
{
    const size_t batch = e->number;
    trl_arena *arena = e->arena;
    const trl_token_groups *p = &g->group;
    const size_t step = g->d->family[TRL_NODE].step, at = p->batch[batch].position;
    const size_t n = p->batch[batch + 1].position - at;
    trl_arena_reset(arena);
    float *score = trl_arena_get(arena, TRL_TOKEN_GROUPS_ROWS, step * sizeof *score);
    float *adjoint = trl_arena_get(arena, TRL_TOKEN_GROUPS_ROWS, step * sizeof *adjoint);
    if (!score || !adjoint)
        return trl_fail_mem(err);
    trl_token_groups_gather(p, g->d, g->w, g->hot32, batch, score);
    const trl_token_block b = {at, n, score, adjoint};
    const trl_status st = g->task->chain.tokens(g->task->self, e->lane, &b, arena, value, err);
    const trl_token_groups_sums to = {l->hot, l->hot32, g->stream, g->node, g->grad, 2.0 * g->c2};
    if (st == TRL_OK)
        l->norm2 += trl_token_groups_scatter(p, g->d, g->w, batch, adjoint, &to);
    return st;
}

static void clear_hot(const trl_gradient *g, lane *l)
{
    const trl_family *f = &g->d->family[TRL_NODE];
    const size_t rows = f->n_hot * f->step, n = (size_t)g->d->n_hot_weights + 64;
    if (l->hot32) {
        const size_t end = (size_t)f->hot_at + rows;
        memset(l->hot32, 0, g->implied.n_rows * f->step * sizeof *l->hot32);
        memset(l->hot, 0, (size_t)f->hot_at * sizeof *l->hot);
        memset(l->hot + end, 0, (n - end) * sizeof *l->hot);
    } else {
        memset(l->hot, 0, n * sizeof *l->hot);
    }
}

static trl_status run_lane(void *ctx, size_t job, size_t worker, trl_error *err)
{
    trl_gradient *g = ctx;
    lane *l = &g->lanes[job];
    double sum = 0.0, lost = 0.0; /* compensated: lanes hold thousands of values */
    if (!g->values_only)
        clear_hot(g, l);
    trl_shared_clear(g->d, &l->shared);
    l->norm2 = 0.0;
    for (size_t seq = l->seq0; seq < l->seq1; seq++) {
        const trl_example e = {seq, job, &g->arenas[worker], 0};
        double value;
        trl_status st = trl_pool_check(g->pool, err);
        if (st == TRL_OK)
            st = (g->grouped ? run_batch : run_example)(g, l, &e, &value, err);
        if (st != TRL_OK)
            return st;
        const double y = value - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    l->value = sum;
    trl_task_finish(g->task, job, &l->shared);
    if (!g->values_only)
        trl_scatter_shared(g->d, &l->shared, l->hot);
    if (!g->values_only && g->has_pairs)
        trl_pair_sets_scatter_tables(g->d, &l->shared, l->hot);
    return TRL_OK;
}

/* ---- phase 2: adding up ---------------------------------------------------------------------- */

static void reduce(trl_gradient *g, size_t i0, size_t i1)
{
    const double *parts[TRL_LANES_MAX];
    for (size_t k = 0; k < g->n_lanes; k++)
        parts[k] = g->lanes[k].hot + i0;
    if (i0 < i1)
        trl_sum_vectors(i1 - i0, g->n_lanes, parts, g->grad + i0);
}

/* out = the sum over lanes of i1 - i0 cells of summed rows. */
static void reduce32(trl_gradient *g, size_t i0, size_t i1, double *out)
{
    const float *parts[TRL_LANES_MAX];
    if (i0 >= i1)
        return;
    for (size_t k = 0; k < g->n_lanes; k++)
        parts[k] = g->lanes[k].hot32 + i0;
    trl_sum_floats(i1 - i0, g->n_lanes, parts, out);
}

static size_t clamp(size_t x, size_t from, size_t to)
{
    return x < from ? from : x > to ? to : x;
}

/* grad[i] = sum over lanes, for a piece of the hot weights. */
static void reduce_hot(trl_gradient *g, size_t i0, size_t i1)
{
    const trl_family *f = &g->d->family[TRL_NODE];
    const size_t rows = g->lanes[0].hot32 ? f->n_hot * f->step : 0;
    const size_t a = clamp((size_t)f->hot_at, i0, i1), b = clamp((size_t)f->hot_at + rows, i0, i1);
    reduce(g, i0, a);
    reduce32(g, a - (size_t)f->hot_at, b - (size_t)f->hot_at, g->grad + a);
    reduce(g, b, i1);
}

/* Bounds of piece `job` when n things are cut into COLD_JOBS pieces. */
static size_t piece(size_t n, size_t job)
{
    return n / COLD_JOBS * job + (n % COLD_JOBS * job) / COLD_JOBS;
}

/* grad = 2 c2 w - grad for n weights, which are in cache; returns their ||w||^2. */
static double regularise(trl_gradient *g, uint64_t at, size_t n)
{
    trl_negate_add(n, 2.0 * g->c2, g->w + at, g->grad + at);
    return g->c2 > 0.0 ? trl_dot_piece(n, g->w + at, g->w + at) : 0.0;
}

/* The gradient of the cold attributes c0 .. c1-1, all dense or all sparse, in blocks small enough
 * to stay in cache; returns ||w||^2. */
static double run_cold(trl_gradient *g, const trl_family *f, size_t c0, size_t c1)
{
    const size_t dense = f->n_dense - f->n_hot;
    const uint64_t *first = f->entry_first + (f->n_warm - f->n_dense); /* cold entries */
    double norm2 = 0.0;
    for (size_t c = c0; c < c1; c += COLD_BLOCK) {
        const size_t end = c1 - c < COLD_BLOCK ? c1 : c + COLD_BLOCK;
        if (g->grouped && c >= dense)
            trl_token_groups_entries(&g->group, g->stream, (size_t)(first[c - dense] - first[0]),
                                     (size_t)(first[end - dense] - first[0]),
                                     g->grad + f->entry_cold_at);
        else
            trl_scatter_cold(g->grouped ? &g->group.rows : g->cold.lists, g->node, c, end, g->grad);
        if (c < dense)
            norm2 += regularise(g, f->cold_at + c * f->width, (end - c) * f->width);
        else
            norm2 += regularise(g, f->entry_cold_at + (first[c - dense] - first[0]),
                                (size_t)(first[end - dense] - first[c - dense]));
    }
    return norm2;
}

/* Hot weights, then cold rows, then cold entries, without singletons (except grouped entries). */
static trl_status run_piece(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker, (void)err;
    trl_gradient *g = ctx;
    const trl_family *f = &g->d->family[TRL_NODE];
    const size_t rows = f->singleton_row - f->n_hot;
    const size_t sparse = (g->grouped ? f->n_attrs : f->singleton_attr) - f->n_warm;
    const size_t dense = f->n_dense - f->n_hot;
    reduce_hot(g, piece((size_t)g->d->n_hot_weights, job),
               piece((size_t)g->d->n_hot_weights, job + 1));
    const size_t extra = (g->implied.n_rows - f->n_hot) * f->step, at = f->n_hot * f->step;
    reduce32(g, at + piece(extra, job), at + piece(extra, job + 1),
             g->hot + at + piece(extra, job));
    g->norm2[job] = run_cold(g, f, piece(rows, job), piece(rows, job + 1)) +
                    run_cold(g, f, dense + piece(sparse, job), dense + piece(sparse, job + 1));
    return TRL_OK;
}

/* Phase 1: the values of all lanes, summed in order. */
static trl_status run_lanes(trl_gradient *g, double *value, trl_error *err)
{
    trl_gather_shared(g->d, g->w, g->shared.shared);
    trl_tables shape = g->shared;
    double any = 0.0; /* a non-NULL row says "has rows" */
    for (size_t k = 0; k < g->d->n_families; k++)
        shape.row[k] = g->d->family[k].has_rows && !(k == TRL_EDGE && g->has_pairs) ? &any : NULL;
    trl_status st = TRL_OK;
    if (g->has_pairs) {
        shape.chain.pairs = &g->pairs;
        st = trl_pair_sets_gather(&g->pairs, g->d, g->w, g->pool, err);
    }
    if (st == TRL_OK)
        st = trl_task_prepare(g->task, &shape, err);
    if (st == TRL_OK)
        st = trl_pool_run(g->pool, g->n_lanes, run_lane, g, err);
    *value = 0.0;
    for (size_t k = 0; st == TRL_OK && k < g->n_lanes; k++)
        *value += g->lanes[k].value;
    return st;
}

static trl_status finite(double F, trl_error *err)
{
    return isfinite(F) ? TRL_OK : trl_fail(err, TRL_ENUMERIC, "the objective is not finite");
}

trl_status trl_gradient_eval(trl_gradient *g, const double *w, double c2, double *grad, double *F,
                             trl_error *err)
{
    double value;
    g->w = w;
    g->grad = grad;
    g->c2 = c2;
    const trl_family *f = &g->d->family[TRL_NODE];
    trl_implied_forward(&g->implied, g->d, w, g->hot);
    if (g->hot32)
        trl_narrow(g->implied.n_rows * f->step, g->hot, g->hot32);
    trl_status st = run_lanes(g, &value, err);
    if (st == TRL_OK)
        st = trl_pool_run(g->pool, COLD_JOBS, run_piece, g, err);
    if (st != TRL_OK)
        return st;
    trl_implied_backward(&g->implied, g->d, g->hot, grad);
    g->norm2[COLD_JOBS] = regularise(g, 0, (size_t)g->d->n_hot_weights);
    trl_clear_dead(g->d, grad);
    memset(grad + g->d->n_weights, 0, 64 * sizeof *grad);
    double norm2 = 0.0;
    for (size_t k = 0; k <= COLD_JOBS; k++)
        norm2 += g->norm2[k];
    for (size_t k = 0; k < g->n_lanes; k++)
        norm2 += g->lanes[k].norm2;
    *F = c2 * norm2 - value;
    return finite(*F, err);
}

trl_status trl_objective_value(const trl_design *d, const trl_task *task, trl_pool *pool,
                               const trl_weights_at *at, double *F, trl_error *err)
{
    trl_gradient *g = NULL;
    double value = 0.0;
    trl_status st = make(&(gradient_parts){d, NULL, task}, pool, true, &g, err);
    if (st != TRL_OK)
        return st;
    g->w = at->w;
    st = run_lanes(g, &value, err);
    trl_gradient_free(g);
    *F = at->c2 * trl_dot(pool, (size_t)d->n_weights, at->w, at->w) - value;
    return st == TRL_OK ? finite(*F, err) : st;
}
