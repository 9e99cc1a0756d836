/* sparse.c -- adagrad and sgd over sparse gradients. */
/* SPDX-License-Identifier: MIT */
#include "train/sparse.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"

typedef struct slot { /* one example of a batch */
    size_t example;
    double loss;
    trl_sparse g;
    trl_sparse dealt; /* several parts: g part by part, */
    size_t *end;      /* [n_parts] the end of each */
} slot;

/* A share of the weights: blocks of neighbours, dealt out by their number. */
typedef struct part {
    uint32_t *touched;
    size_t n, cap;
} part;

/* What a step needs of a weight besides itself, in half a cache line: steps touch weights here and
 * there, and every line that one thread writes has to travel when another one needs it. */
typedef struct course {
    double g;      /* sum of the batch, 0 between batches */
    double sum;    /* of squares (adagrad) */
    double mean;   /* averaged: sum over steps of the weight, up to date with last */
    uint64_t last; /* step it was last brought up to date at */
} course;

typedef struct run {
    const trl_sparse_task *task;
    const trl_sparse_options *o;
    trl_pool *pool;
    size_t n, batch;
    double *w;
    course *course; /* [n_weights] */
    part *parts;    /* [n_parts]: one a thread */
    size_t n_parts;
    slot *slots;
    size_t *ends;   /* of the slots */
    uint32_t *turn; /* [batch]: slots in the order of their evaluation */
    size_t in_batch;
    uint32_t *order;
    uint64_t step, pass, mean_from;
    double loss, past[64];
    trl_rng rng;
} run;

/* ---- one weight -------------------------------------------------------------------------------
 */

/* What the penalty is divided by. */
static double relief(const run *r, size_t k)
{
    return r->o->scale ? r->o->scale[k] * r->o->scale[k] : 1.0;
}

static double gain(const run *r, uint64_t step)
{
    const double tau = 5.0 * (double)((r->task->n_examples + r->batch - 1) / r->batch);
    return r->o->eta * tau / (tau + (double)step);
}

/* Brings weight k up to date: the penalty of the steps since it was last touched, and its share of
 * the mean. */
static void catch_up(run *r, uint32_t k)
{
    course *c = &r->course[k];
    const uint64_t missed = r->step - c->last;
    if (missed == 0)
        return;
    const double per = 2.0 * r->o->c2 / (double)r->n / relief(r, k);
    double rate;
    if (r->o->adaptive)
        rate = c->sum > 0.0 ? r->o->eta / sqrt(c->sum) * per : 0.0;
    else
        rate = gain(r, r->step) * per * (double)r->batch;
    const double keep = rate < 1.0 ? 1.0 - rate : 0.0;
    const double old = r->w[k];
    if (rate > 0.0)
        r->w[k] *= missed == 1 ? keep : pow(keep, (double)missed);
    if (r->o->averaged) {
        const uint64_t from = c->last > r->mean_from ? c->last : r->mean_from;
        if (r->step > from)
            c->mean += 0.5 * (old + r->w[k]) * (double)(r->step - from);
    }
    c->last = r->step;
}

static void apply(run *r, uint32_t k)
{
    course *c = &r->course[k];
    const double g = r->o->adaptive ? c->g / (double)r->batch : c->g;
    c->g = 0.0;
    catch_up(r, k);
    if (r->o->adaptive) {
        c->sum += g * g;
        if (g != 0.0)
            r->w[k] -= r->o->eta * g / (sqrt(c->sum) + 1e-8);
    } else {
        r->w[k] -= gain(r, r->step) * g;
    }
}

/* ---- one batch ----------------------------------------------------------------------------------
 */

#define BLOCK_BITS 6 /* neighbours share a part: two threads do not write one cache line */

static size_t part_of(const run *r, uint32_t id)
{
    const uint32_t mixed = (id >> BLOCK_BITS) * UINT32_C(0x9e3779b1);
    return (size_t)((uint64_t)mixed * r->n_parts >> 32);
}

/* Deals an example's gradient out to the parts, each in its order. */
static bool deal(const run *r, slot *s)
{
    const trl_sparse *g = &s->g;
    trl_sparse *to = &s->dealt;
    to->n = 0;
    if (!trl_sparse_room(to, g->n))
        return false;
    memset(s->end, 0, r->n_parts * sizeof *s->end);
    for (size_t k = 0; k < g->n; k++)
        s->end[part_of(r, g->id[k])]++;
    for (size_t p = 0, at = 0; p < r->n_parts; p++) {
        const size_t n = s->end[p];
        s->end[p] = at;
        at += n;
    }
    for (size_t k = 0; k < g->n; k++) {
        const size_t at = s->end[part_of(r, g->id[k])]++;
        to->id[at] = g->id[k];
        to->value[at] = g->value[k];
    }
    return true;
}

static trl_status evaluate(void *ctx, size_t job, size_t worker, trl_error *err)
{
    run *r = ctx;
    slot *s = &r->slots[r->turn[job]];
    s->g.n = 0;
    const trl_status st =
        r->task->evaluate(r->task->self, s->example, worker, &s->loss, &s->g, err);
    return st == TRL_OK && r->n_parts > 1 && !deal(r, s) ? trl_fail_mem(err) : st;
}

#define AHEAD 12 /* weights that are fetched before their turn */

/* Adds n entries; false: out of memory. */
static bool add(run *r, part *p, const uint32_t *id, const double *value, size_t n)
{
    uint32_t *t = trl_reserve(p->touched, &p->cap, p->n + n, sizeof *t);
    if (!t)
        return false;
    p->touched = t;
    for (size_t k = 0; k < n; k++) {
        if (k + AHEAD < n)
            __builtin_prefetch(&r->course[id[k + AHEAD]], 1);
        course *c = &r->course[id[k]];
        if (c->g == 0.0)
            t[p->n++] = id[k];
        c->g += value[k];
    }
    return true;
}

/* Adds the slots' gradients for one share of the weights, in order, and takes the step. */
static trl_status update(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    run *r = ctx;
    part *p = &r->parts[job];
    p->n = 0;
    for (size_t b = 0; b < r->in_batch; b++) {
        const slot *s = &r->slots[b];
        const trl_sparse *g = r->n_parts > 1 ? &s->dealt : &s->g;
        const size_t from = r->n_parts > 1 && job ? s->end[job - 1] : 0,
                     to = r->n_parts > 1 ? s->end[job] : g->n;
        if (to > from && !add(r, p, g->id + from, g->value + from, to - from))
            return trl_fail_mem(err);
    }
    for (size_t k = 0; k < p->n; k++) {
        if (k + AHEAD < p->n) {
            __builtin_prefetch(&r->course[p->touched[k + AHEAD]], 1);
            __builtin_prefetch(&r->w[p->touched[k + AHEAD]], 1);
        }
        if (r->course[p->touched[k]].g != 0.0)
            apply(r, p->touched[k]);
    }
    return TRL_OK;
}

#define FEW 256 /* examples of a batch that are sorted */

/* The longest first: no thread begins the longest when the others are done. */
static void take_turns(run *r, size_t n)
{
    size_t size[FEW];
    for (size_t b = 0; b < n; b++) {
        size_t at = b;
        const size_t mine = r->task->size && n <= FEW && r->n_parts > 1
                                ? r->task->size(r->task->self, r->slots[b].example)
                                : 0;
        for (; mine && at > 0 && size[at - 1] < mine; at--) {
            size[at] = size[at - 1];
            r->turn[at] = r->turn[at - 1];
        }
        if (at < FEW)
            size[at] = mine;
        r->turn[at] = (uint32_t)b;
    }
}

static trl_status one_batch(run *r, size_t n, trl_error *err)
{
    take_turns(r, n);
    r->in_batch = n;
    trl_status st = r->task->prepare(r->task->self, r->w, err);
    if (st == TRL_OK)
        st = trl_pool_run(r->pool, n, evaluate, r, err);
    if (st == TRL_OK)
        st = trl_pool_run(r->pool, r->n_parts, update, r, err);
    if (st != TRL_OK)
        return st;
    for (size_t b = 0; b < n; b++)
        r->loss += r->slots[b].loss;
    r->step++;
    return TRL_OK;
}

#define PIECE 4096

static trl_status catch_up_piece(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)worker, (void)err;
    run *r = ctx;
    for (size_t k = piece * PIECE; k < (piece + 1) * PIECE && k < r->task->n_weights; k++)
        catch_up(r, (uint32_t)k);
    return TRL_OK;
}

static void shuffle(run *r)
{
    for (size_t k = r->n; k > 1; k--) {
        const size_t other = trl_rng_below(&r->rng, k);
        const uint32_t t = r->order[k - 1];
        r->order[k - 1] = r->order[other];
        r->order[other] = t;
    }
}

static trl_status one_pass(run *r, trl_error *err)
{
    if (r->o->adaptive)
        shuffle(r);
    r->loss = 0.0;
    trl_status st = TRL_OK;
    for (size_t from = 0; st == TRL_OK && from < r->n; from += r->batch) {
        const size_t n = r->n - from < r->batch ? r->n - from : r->batch;
        for (size_t b = 0; b < n; b++)
            r->slots[b].example =
                r->o->adaptive ? r->order[from + b] : trl_rng_below(&r->rng, r->n);
        st = one_batch(r, n, err);
    }
    trl_pool_run_all(r->pool, (r->task->n_weights + PIECE - 1) / PIECE, catch_up_piece, r);
    r->pass++;
    if (r->o->averaged && r->pass == 1) { /* the mean starts after the first pass */
        r->mean_from = r->step;
        for (size_t k = 0; k < r->task->n_weights; k++)
            r->course[k].mean = 0.0;
    }
    return st;
}

/* ---- state ----------------------------------------------------------------------------------- */

/* Weights, their sums and, where there are any, their means, one after the other. */
static size_t state_bytes(const run *r)
{
    return r->task->n_weights * sizeof(double) * (r->o->averaged ? 3 : 2);
}

static bool save(const void *self, trl_buf *out)
{
    const run *r = self;
    const size_t m = r->task->n_weights;
    const uint64_t head[3] = {r->step, r->pass, r->mean_from};
    trl_buf_add(out, head, sizeof head);
    trl_buf_add(out, &r->rng, sizeof r->rng);
    trl_buf_add(out, r->past, sizeof r->past);
    trl_buf_add(out, r->order, r->n * sizeof *r->order);
    trl_buf_add(out, r->w, m * sizeof *r->w);
    for (size_t k = 0; k < m; k++)
        trl_buf_add(out, &r->course[k].sum, sizeof(double));
    for (size_t k = 0; r->o->averaged && k < m; k++)
        trl_buf_add(out, &r->course[k].mean, sizeof(double));
    return !out->failed;
}

static trl_status restore(run *r, const unsigned char *p, size_t n, trl_error *err)
{
    const size_t m = r->task->n_weights;
    uint64_t head[3];
    if (!trl_take(&p, &n, head, sizeof head) || !trl_take(&p, &n, &r->rng, sizeof r->rng) ||
        !trl_take(&p, &n, r->past, sizeof r->past) ||
        !trl_take(&p, &n, r->order, r->n * sizeof *r->order) || n != state_bytes(r) ||
        !trl_take(&p, &n, r->w, m * sizeof *r->w))
        return trl_fail(err, TRL_EMODEL, "the checkpoint belongs to another run");
    for (size_t k = 0; k < m; k++)
        trl_take(&p, &n, &r->course[k].sum, sizeof(double));
    for (size_t k = 0; r->o->averaged && k < m; k++)
        trl_take(&p, &n, &r->course[k].mean, sizeof(double));
    for (size_t k = 0; k < r->n; k++)
        if (r->order[k] >= r->n)
            return trl_fail(err, TRL_EMODEL, "the checkpoint is damaged");
    r->step = head[0];
    r->pass = head[1];
    r->mean_from = head[2];
    for (size_t k = 0; k < m; k++)
        r->course[k].last = r->step;
    return TRL_OK;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void finish(run *r)
{
    for (size_t b = 0; r->slots && b < r->batch; b++) {
        trl_sparse_fini(&r->slots[b].g);
        trl_sparse_fini(&r->slots[b].dealt);
    }
    trl_free(r->slots);
    trl_free(r->ends);
    trl_free(r->w);
    trl_free(r->course);
    trl_free(r->order);
    trl_free(r->turn);
    for (size_t k = 0; r->parts && k < r->n_parts; k++)
        trl_free(r->parts[k].touched);
    trl_free(r->parts);
}

static bool start(run *r, const double *x)
{
    const size_t m = r->task->n_weights;
    r->w = trl_alloc64(m + 64, sizeof *r->w); /* as learner.h asks: rows are read in vectors */
    r->course = trl_alloc64(m + 1, sizeof *r->course);
    r->order = trl_alloc(r->n, sizeof *r->order);
    r->slots = trl_zalloc(r->batch, sizeof *r->slots);
    r->turn = trl_alloc(r->batch, sizeof *r->turn);
    r->n_parts = trl_pool_threads(r->pool);
    r->parts = trl_zalloc(r->n_parts, sizeof *r->parts);
    r->ends = trl_alloc(r->batch * r->n_parts, sizeof *r->ends);
    if (!r->w || !r->course || !r->order || !r->slots || !r->turn || !r->parts || !r->ends)
        return false;
    memcpy(r->w, x, m * sizeof *x);
    memset(r->w + m, 0, 64 * sizeof *r->w);
    memset(r->course, 0, m * sizeof *r->course);
    for (size_t k = 0; k < r->n; k++)
        r->order[k] = (uint32_t)k;
    for (size_t b = 0; b < r->batch; b++)
        r->slots[b].end = r->ends + b * r->n_parts;
    return true;
}

/* The weights as a user would have them now. */
static void current(const run *r, double *x)
{
    const double steps = (double)(r->step - r->mean_from);
    const bool mean = r->o->averaged && r->pass > 1;
    for (size_t k = 0; k < r->task->n_weights; k++)
        x[k] = mean ? r->course[k].mean / steps : r->w[k];
}

static bool settled(const run *r)
{
    const uint64_t period = r->o->period;
    if (period == 0 || period >= 64 || r->pass <= period)
        return false;
    const double now = r->past[r->pass % 64], then = r->past[(r->pass - period) % 64];
    return fabs(then - now) < r->o->delta * fabs(now); /* a rise is noise, or worse: not a stall */
}

static trl_status report(run *r, const trl_watcher *watcher, double *x, bool *done, bool *stop,
                         trl_error *err)
{
    double penalty = 0.0;
    for (size_t k = 0; k < r->task->n_weights; k++)
        penalty += r->w[k] * r->w[k] / relief(r, k);
    current(r, x);
    const double F = r->loss + r->o->c2 * penalty;
    r->past[r->pass % 64] = F;
    *done = settled(r);
    const trl_iteration it = {.number = r->pass,
                              .objective = F,
                              .gradient = (double)NAN,
                              .step = r->o->adaptive ? r->o->eta : gain(r, r->step),
                              .evaluations = r->pass,
                              .x = x,
                              .last = *done,
                              .ending = TRL_END_STALLED};
    return watcher ? watcher->watch(watcher->self, &it, save, r, stop, err) : TRL_OK;
}

trl_status trl_sparse_train(const trl_sparse_task *task, const trl_sparse_options *o,
                            const trl_descent *how, trl_error *err)
{
    run r = {
        .task = task, .o = o, .pool = how->pool, .n = task->n_examples, .batch = (size_t)o->batch};
    r.rng = trl_rng_seed(o->seed);
    trl_status st = start(&r, how->x) ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK && how->state_size)
        st = restore(&r, how->state, how->state_size, err);
    bool stop = false, done = false;
    while (st == TRL_OK && r.pass < o->max_iter && !stop && !done) {
        st = one_pass(&r, err);
        if (st == TRL_OK)
            st = report(&r, how->watcher, how->x, &done, &stop, err);
    }
    *how->ending = done ? TRL_END_STALLED : stop ? TRL_END_STOPPED : TRL_END_MAX_ITER;
    if (st == TRL_OK && how->state_size && r.pass >= o->max_iter)
        current(&r, how->x);
    finish(&r);
    return st;
}
