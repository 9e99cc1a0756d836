/* aggressive.c -- passive-aggressive and AROW. */
/* SPDX-License-Identifier: MIT */
#include "train/aggressive.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"

typedef struct run {
    trl_table_examples *examples;
    const trl_sparse_task *task;
    const trl_aggressive_options *o;
    size_t n, n_weights;
    double *w;     /* [n_weights] */
    double *side;  /* pa: sum of u times the updates, u the number of the example; arow: sigma */
    double *delta; /* 0 between examples */
    trl_sparse found;
    uint32_t *order;
    uint64_t pass, u;
    double loss; /* of the pass */
    trl_rng rng;
} run;

/* ---- one example ----------------------------------------------------------------------------- */

/* Adds the parts of delta up (the gradient of a loss is -delta times v); found.id are the distinct
 * ones afterwards. */
static void collect(run *r, double v)
{
    trl_sparse *s = &r->found;
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->value[i] != 0.0) {
            const uint32_t k = s->id[i];
            const double before = r->delta[k];
            r->delta[k] -= s->value[i] / v;
            if (before == 0.0 && r->delta[k] != 0.0)
                s->id[n++] = k; /* again where it had come back to 0 in between */
        }
    s->n = n;
}

/* 0 for an id that came twice, when it is met again: each is used once, then cleared. */
static double take(run *r, size_t i)
{
    const double d = r->delta[r->found.id[i]];
    r->delta[r->found.id[i]] = 0.0;
    return d;
}

static void drop_repeated(run *r)
{
    trl_sparse *s = &r->found;
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double d = take(r, i);
        if (d == 0.0)
            continue;
        s->id[n] = s->id[i];
        s->value[n++] = d;
    }
    s->n = n;
}

static void update_pa(run *r, double loss, double v)
{
    const trl_sparse *s = &r->found;
    const double c = r->o->c;
    double norm = 0.0;
    for (size_t i = 0; i < s->n; i++)
        norm += s->value[i] * s->value[i];
    if (norm <= 0.0) /* the labellings have the same features: nothing can be learnt */
        return;
    const double tau = v * (r->o->type == 2   ? loss / (norm + 0.5 / c)
                            : r->o->type == 1 ? fmin(c, loss / norm)
                                              : loss / norm);
    for (size_t i = 0; i < s->n; i++) {
        r->w[s->id[i]] += tau * s->value[i];
        r->side[s->id[i]] += tau * (double)r->u * s->value[i];
    }
}

static void update_arow(run *r, double loss, double v)
{
    const trl_sparse *s = &r->found;
    const double gamma = r->o->gamma;
    double sum = gamma;
    for (size_t i = 0; i < s->n; i++) {
        const double d = v * s->value[i];
        sum += d * d * r->side[s->id[i]];
    }
    for (size_t i = 0; i < s->n; i++) {
        const uint32_t k = s->id[i];
        const double d = v * s->value[i];
        r->w[k] += loss / sum * r->side[k] * d;
        r->side[k] = 1.0 / (1.0 / r->side[k] + d * d / gamma);
    }
}

static trl_status step(run *r, size_t example, trl_error *err)
{
    double loss, v;
    r->found.n = 0;
    r->u++;
    trl_status st = r->task->prepare(r->task->self, r->w, err);
    if (st == TRL_OK)
        st = r->task->evaluate(r->task->self, example, 0, &loss, &r->found, err);
    if (st != TRL_OK)
        return st;
    const double wrong = (double)trl_table_examples_wrong(r->examples, &v);
    if (wrong <= 0.0)
        return TRL_OK;
    collect(r, v);
    drop_repeated(r);
    loss /= v;
    loss += r->o->arow ? wrong : r->o->flat ? 1.0 : sqrt(wrong);
    if (r->o->arow)
        update_arow(r, loss, v);
    else
        update_pa(r, loss, v);
    r->loss += v * loss;
    return isfinite(r->loss) ? TRL_OK : trl_fail(err, TRL_ENUMERIC, "the loss is not finite");
}

/* ---- state ----------------------------------------------------------------------------------- */

typedef struct saved_head {
    uint64_t n, n_weights, pass, u;
    trl_rng rng;
} saved_head;

static bool save_state(const void *optimizer, trl_buf *out)
{
    const run *r = optimizer;
    const saved_head h = {r->n, r->n_weights, r->pass, r->u, r->rng};
    return trl_buf_add(out, &h, sizeof h) && trl_buf_add(out, r->w, r->n_weights * sizeof *r->w) &&
           trl_buf_add(out, r->side, r->n_weights * sizeof *r->side);
}

static trl_status load_state(run *r, const unsigned char *p, size_t size, trl_error *err)
{
    saved_head h = {0};
    const size_t each = r->n_weights * sizeof(double);
    if (size == sizeof h + 2 * each)
        memcpy(&h, p, sizeof h);
    if (size != sizeof h + 2 * each || h.n != r->n || h.n_weights != r->n_weights)
        return trl_fail(err, TRL_EMODEL, "the checkpoint does not fit this training run");
    r->pass = h.pass;
    r->u = h.u;
    r->rng = h.rng;
    memcpy(r->w, p + sizeof h, each);
    memcpy(r->side, p + sizeof h + each, each);
    return TRL_OK;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* The weights to report. */
static void current(const run *r, double *x)
{
    const bool mean = !r->o->arow && !r->o->last;
    for (size_t k = 0; k < r->n_weights; k++)
        x[k] = mean ? r->w[k] - r->side[k] / (double)(r->u + 1) : r->w[k];
}

static trl_status one_pass(run *r, const trl_watcher *w, trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t i = 0; i < r->n; i++) /* from scratch: a resumed run shuffles the same */
        r->order[i] = (uint32_t)i;
    for (size_t i = r->n; i > 1; i--) {
        const size_t j = trl_rng_below(&r->rng, i);
        const uint32_t t = r->order[i - 1];
        r->order[i - 1] = r->order[j];
        r->order[j] = t;
    }
    r->loss = 0.0;
    for (size_t i = 0; st == TRL_OK && i < r->n; i++) {
        st = trl_watcher_check(w, err);
        if (st == TRL_OK)
            st = step(r, r->order[i], err);
    }
    return st;
}

static trl_status passes(run *r, const trl_descent *how, trl_error *err)
{
    const trl_watcher *w = how->watcher;
    for (bool done = false, stop = false;;) {
        *how->ending = done ? TRL_END_CONVERGED : stop ? TRL_END_STOPPED : TRL_END_MAX_ITER;
        if (done || stop || r->pass >= r->o->max_iter)
            return TRL_OK;
        trl_status st = one_pass(r, w, err);
        if (st != TRL_OK)
            return st;
        r->pass++;
        current(r, how->x);
        done = r->loss <= r->o->epsilon * (double)r->n;
        const trl_iteration it = {.number = r->pass,
                                  .objective = r->loss,
                                  .gradient = NAN,
                                  .step = 1.0,
                                  .evaluations = r->pass,
                                  .x = how->x,
                                  .last = done,
                                  .ending = TRL_END_CONVERGED};
        st = w ? w->watch(w->self, &it, save_state, r, &stop, err) : TRL_OK;
        if (st != TRL_OK)
            return st;
    }
}

trl_status trl_aggressive(trl_table_examples *examples, const trl_aggressive_options *o,
                          const trl_descent *how, trl_error *err)
{
    run r = {.examples = examples, .task = trl_table_examples_task(examples), .o = o};
    r.n = r.task->n_examples;
    r.n_weights = r.task->n_weights;
    r.rng = trl_rng_seed(o->seed);
    r.w = trl_zalloc(r.n_weights + 64,
                     sizeof *r.w); /* with the room that rows read in vectors need */
    r.side = trl_zalloc(r.n_weights, sizeof *r.side);
    r.delta = trl_zalloc(r.n_weights, sizeof *r.delta);
    r.order = trl_alloc(r.n, sizeof *r.order);
    trl_status st = r.w && r.side && r.delta && r.order ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK && how->state)
        st = load_state(&r, how->state, how->state_size, err);
    else if (st == TRL_OK) {
        memcpy(r.w, how->x, r.n_weights * sizeof *r.w);
        for (size_t k = 0; o->arow && k < r.n_weights; k++)
            r.side[k] = o->variance;
    }
    if (st == TRL_OK)
        st = passes(&r, how, err);
    trl_free(r.w);
    trl_free(r.side);
    trl_free(r.delta);
    trl_free(r.order);
    trl_sparse_fini(&r.found);
    return st;
}
