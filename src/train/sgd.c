/* sgd.c -- SGD and the averaged perceptron.
 *
 *     w <- w + eta_k ( sum over the batch of d value_i / d w  -  (b / n) 2 c2 w )
 *     eta_k = eta_0 tau / (tau + k),   tau = the steps of five passes; unless averaged, those of
 *                                      1 / (2 c2 eta_0) passes, at least 5, at most 20
 *
 * Batches are drawn with replacement [FKM08, sec. 3]; their examples are evaluated side by side
 * and applied in order.  The decay of w is a scalar (feature/lazy_weights.h).  Calibration: eta_0
 * is the best of a row of powers of two after one pass over a sample.
 *
 * Averaging: w_k = scale_k v_k, v_k = v_{k-1} + u_k.  With S_k = scale_1 + ... + scale_k,
 *     sum_k w_k = S_K v_K - sum_k S_{k-1} u_k;
 * the second sum is kept in the lazy direction (which does not drift here).
 *
 * [FKM08] Finkel, Kleeman, Manning. Efficient, feature-based, conditional random field parsing.
 * ACL 2008.   [Col02] Collins. EMNLP 2002.   [Xu11] Xu. Towards optimal one pass large scale
 * learning with averaged stochastic gradient descent. arXiv:1107.2490, 2011.
 */
/* SPDX-License-Identifier: MIT */
#include "train/sgd.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "feature/lazy_weights.h"
#include "num/blas1.h"
#include "train/gradient.h"

#define SAMPLE 300 /* the gain is needed only to a factor of two */
#define RETURNS 16 /* times a pass that far weights get back what the common decay took */

typedef struct slot { /* one example of a batch */
    size_t example;
    trl_arena arena;
    trl_tables adjoint; /* its shared tables are its own */
    double value;
} slot;

typedef struct run {
    const trl_design *d;
    const trl_task *task;
    const trl_sgd_options *o;
    trl_pool *pool;
    size_t n, batch, n_slots;
    trl_lazy z;
    slot *slots;       /* [batch] */
    trl_tables scores; /* shared */
    trl_pair_sets pairs;
    bool has_pairs;
    uint32_t *order; /* perceptron */
    uint64_t steps, pass, averaged_steps;
    double scales;   /* S_k of averaging */
    double eta, sum; /* first gain; values of the current pass */
    double *past;
    double decayed; /* gains times decay since far weights were last given theirs back, */
    double scale;   /* and the scale then */
    trl_rng rng;
} run;

/* ---- one batch ------------------------------------------------------------------------------- */

static trl_status evaluate_slot(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    run *r = ctx;
    slot *s = &r->slots[job];
    const size_t from = (size_t)r->d->first[s->example];
    const size_t n = (size_t)r->d->first[s->example + 1] - from;
    trl_tables scores, adjoint;
    trl_arena_reset(&s->arena);
    const trl_pair_sets *pairs = r->has_pairs ? &r->pairs : NULL;
    if (!trl_tables_get_view(r->d, pairs, from, n, &s->arena, &scores) ||
        !trl_tables_get_sets(r->d, pairs, from, n, &s->arena, &adjoint))
        return trl_fail_mem(err);
    adjoint.chain = scores.chain;
    trl_shared_clear(r->d, &s->adjoint);
    for (size_t k = 0; k < r->d->n_families; k++) {
        scores.shared[k] = r->scores.shared[k];
        adjoint.shared[k] = s->adjoint.shared[k];
    }
    trl_lazy_gather(&r->z, from, &scores);
    if (scores.chain.view)
        trl_pair_view_ready(scores.chain.view);
    const trl_example e = {s->example, job, &s->arena, 0};
    const trl_status st = r->task->evaluate(r->task->self, &e, &scores, &adjoint, &s->value, err);
    trl_task_finish(r->task, job, &adjoint);
    if (adjoint.chain.view)
        trl_pair_view_keep(adjoint.chain.view, &adjoint);
    s->adjoint = adjoint;
    return st;
}

static bool is_zero(const trl_design *d, const trl_tables *a)
{
    for (size_t k = 0; k < d->n_families; k++) {
        for (size_t c = 0; a->row[k] && c < a->n * a->step[k]; c++)
            if (a->row[k][c] != 0.0)
                return false;
        for (size_t c = 0; a->shared[k] && c < d->family[k].width; c++)
            if (a->shared[k][c] != 0.0)
                return false;
    }
    for (size_t c = 0; a->chain.view && c < a->chain.view->n_cells; c++)
        if (a->chain.set_cell[c] != 0.0)
            return false;
    return true;
}

/* Evaluates the batch at the current weights and applies it with gain eta. */
static trl_status step(run *r, size_t batch, double eta, double decay, trl_error *err)
{
    trl_lazy_gather_shared(&r->z, r->scores.shared);
    trl_tables shape = r->scores;
    for (size_t k = 0; k < r->d->n_families; k++) /* any non-NULL pointer says "has rows" */
        shape.row[k] = r->d->family[k].has_rows && !(k == TRL_EDGE && r->has_pairs) ? r->z.v : NULL;
    trl_status st = trl_task_prepare(r->task, &shape, err);
    if (st == TRL_OK)
        st = trl_pool_run(r->pool, batch, evaluate_slot, r, err);
    if (st != TRL_OK)
        return st;
    r->z.scale *= 1.0 - eta * decay;
    r->decayed += eta * decay;
    for (size_t k = 0; k < batch; k++) {
        slot *s = &r->slots[k];
        const size_t from = (size_t)r->d->first[s->example];
        r->sum += s->value;
        if (r->o->perceptron && is_zero(r->d, &s->adjoint))
            continue; /* the best output is the gold one */
        trl_tables_scale(r->d, &s->adjoint, eta / r->z.scale);
        trl_lazy_scatter(&r->z, from, &s->adjoint, true);
        if (r->o->averaged && r->scales > 0.0) {
            trl_tables_scale(r->d, &s->adjoint, r->scales);
            trl_lazy_scatter(&r->z, from, &s->adjoint, false);
        }
    }
    r->steps++;
    if (r->o->perceptron || r->pass > 0) {
        r->scales += r->z.scale;
        r->averaged_steps++;
    }
    return TRL_OK;
}

static double gain(const run *r)
{
    if (r->o->perceptron)
        return 1.0;
    double passes = 5.0;
    if (!r->o->averaged && r->eta > 0.0) /* until the penalty alone has had its effect */
        passes = fmin(20.0, fmax(5.0, 0.5 / (r->o->c2 * r->eta)));
    const double tau = passes * (double)r->n / (double)r->batch;
    return r->eta * tau / (tau + (double)r->steps);
}

/* The decay of far weights is 1 / p^2 of the others' (scaled_values.h). */
static void give_back(run *r)
{
    const trl_far_weights *far = r->o->far;
    for (size_t k = 0; far && k < far->n; k++) {
        const uint64_t j = far->weight[k];
        const double by = exp(-r->decayed / (far->p[j] * far->p[j])) * r->scale / r->z.scale;
        trl_lazy_multiply(&r->z, j, by, r->o->averaged ? r->scales : 0.0);
    }
    r->decayed = 0.0;
    r->scale = r->z.scale;
}

static trl_status one_pass(run *r, size_t n, bool shuffled, trl_error *err)
{
    const size_t part = n / r->batch / RETURNS + 1;
    r->sum = r->decayed = 0.0;
    r->scale = r->z.scale;
    for (size_t at = 0; at < n; at += r->batch) {
        const size_t batch = n - at < r->batch ? n - at : r->batch;
        const double decay = 2.0 * r->o->c2 * (double)batch / (double)r->n;
        for (size_t k = 0; k < batch; k++)
            r->slots[k].example = shuffled ? r->order[at + k] : trl_rng_below(&r->rng, r->n);
        const trl_status st = step(r, batch, gain(r), r->o->perceptron ? 0.0 : decay, err);
        if (st != TRL_OK)
            return st;
        if (at / r->batch % part == part - 1)
            give_back(r);
    }
    give_back(r);
    return TRL_OK;
}

/* ---- calibration ----------------------------------------------------------------------------- */

/* The sample's objective after one pass over it with this gain, from weights x. */
static trl_status trial(run *r, double eta, const double *x, size_t n, double *F, trl_error *err)
{
    const trl_rng rng = r->rng;
    trl_lazy_set(&r->z, x, NULL);
    r->z.scale = 1.0;
    r->eta = eta;
    r->steps = 0;
    trl_status st = one_pass(r, n, true, err);
    if (st == TRL_OK) { /* a second visit with gain 0 measures */
        r->eta = 0.0;
        st = one_pass(r, n, true, err);
    }
    trl_lazy_flush(&r->z);
    double w2 = trl_lazy_norm2(&r->z);
    for (size_t k = 0; r->o->far && k < r->o->far->n; k++) {
        const double v = trl_lazy_at(&r->z, r->o->far->weight[k]);
        w2 -= trl_far_share(r->o->far, r->o->far->weight[k]) * v * v;
    }
    *F = -r->sum + r->o->c2 * w2 * (double)n / (double)r->n;
    r->rng = rng;
    if (st != TRL_ENUMERIC)
        return st;
    *F = HUGE_VAL; /* far too large a gain */
    return TRL_OK;
}

/* The mean is a difference of sums in which a weight counts exp(2 c2 eta) times as much a pass
 * later (at the top): with a larger gain nothing would be left of it. */
static double largest_gain(const run *r)
{
    return r->o->averaged && r->o->c2 > 0.0 ? 5.0 / r->o->c2 : HUGE_VAL;
}

static trl_status calibrate(run *r, const double *x, trl_error *err)
{
    const size_t n = r->n < SAMPLE ? r->n : SAMPLE;
    const double most = largest_gain(r);
    double best_eta = fmin(0.1, most), best = HUGE_VAL;
    for (int down = 0; down < 2; down++) {
        double eta = fmin(down ? 0.05 : 0.1, down ? 0.5 * most : most);
        for (int k = 0; k < 12 && eta <= most; k++) {
            double F;
            const trl_status st = trial(r, eta, x, n, &F, err);
            if (st != TRL_OK)
                return st;
            const bool better = F < best;
            if (better) {
                best = F;
                best_eta = eta;
            }
            if (!better)
                break;
            eta *= down ? 0.5 : 2.0;
        }
        if (best_eta > 0.15)
            break; /* raising the gain was right */
    }
    r->eta = best_eta;
    r->steps = r->averaged_steps = 0;
    r->scales = 0.0;
    return TRL_OK;
}

/* ---- state ----------------------------------------------------------------------------------- */

typedef struct saved_head {
    uint64_t n, n_weights, steps, pass, averaged_steps;
    double eta, scales;
    trl_rng rng;
} saved_head;

static bool save_state(const void *optimizer, trl_buf *out)
{
    const run *r = optimizer;
    const size_t n = (size_t)r->d->n_weights;
    const saved_head h = {r->n, n, r->steps, r->pass, r->averaged_steps, r->eta, r->scales, r->rng};
    double *w = trl_alloc(n, 2 * sizeof *w);
    if (!w)
        return false;
    trl_lazy_get(&r->z, w, w + n);
    const bool good = trl_buf_add(out, &h, sizeof h) &&
                      trl_buf_add(out, r->past, (r->o->period + 1) * sizeof *r->past) &&
                      trl_buf_add(out, w, n * 2 * sizeof *w);
    trl_free(w);
    return good;
}

static trl_status load_state(run *r, const unsigned char *p, size_t size, trl_error *err)
{
    saved_head h = {0};
    const size_t n = (size_t)r->d->n_weights, past = (r->o->period + 1) * sizeof *r->past;
    const bool whole = size == sizeof h + past + n * 2 * sizeof(double);
    if (whole)
        memcpy(&h, p, sizeof h);
    if (!whole || h.n != r->n || h.n_weights != n)
        return trl_fail(err, TRL_EMODEL, "the checkpoint does not fit this training run");
    double *w = trl_alloc(n, 2 * sizeof *w); /* a copy, for its alignment */
    if (!w)
        return trl_fail_mem(err);
    memcpy(r->past, p + sizeof h, past);
    memcpy(w, p + sizeof h + past, n * 2 * sizeof *w);
    trl_lazy_set(&r->z, w, w + n);
    trl_free(w);
    r->steps = h.steps;
    r->pass = h.pass;
    r->averaged_steps = h.averaged_steps;
    r->scales = h.scales;
    r->eta = h.eta;
    r->rng = h.rng;
    return TRL_OK;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* The weights to report: the current ones, or their mean. */
static void current(run *r, double *x)
{
    r->scales /= r->z.scale; /* flush multiplies scale into v */
    trl_lazy_flush(&r->z);
    if (!r->o->averaged || r->averaged_steps == 0)
        trl_lazy_get(&r->z, x, NULL);
    else
        trl_lazy_average(&r->z, r->scales / (double)r->averaged_steps,
                         1.0 / (double)r->averaged_steps, x);
}

static trl_status end_pass(run *r, const trl_watcher *w, double *x, bool *done, bool *stop,
                           trl_error *err)
{
    r->pass++;
    current(r, x);
    const double w2 = trl_far_norm2(r->o->far, (size_t)r->d->n_weights, x);
    const double F = -r->sum + (r->o->perceptron ? 0.0 : r->o->c2 * w2);
    const double before = r->past[(r->pass + 1) % (r->o->period + 1)];
    r->past[r->pass % (r->o->period + 1)] = F;
    /* F is noisy: a rise means nothing */
    *done = r->o->period && r->pass > r->o->period && fabs(before - F) < r->o->delta * fabs(F);
    const trl_iteration it = {.number = r->pass,
                              .objective = F,
                              .gradient = NAN,
                              .step = gain(r),
                              .evaluations = r->pass,
                              .x = x,
                              .last = *done,
                              .ending = TRL_END_STALLED};
    return w ? w->watch(w->self, &it, save_state, r, stop, err) : TRL_OK;
}

static void shuffle(run *r)
{
    for (size_t i = r->n; i > 1; i--) {
        const size_t j = trl_rng_below(&r->rng, i);
        const uint32_t t = r->order[i - 1];
        r->order[i - 1] = r->order[j];
        r->order[j] = t;
    }
}

static trl_status passes(run *r, const trl_watcher *w, double *x, trl_ending *ending,
                         trl_error *err)
{
    for (bool done = false, stop = false;;) {
        *ending = done ? TRL_END_STALLED : stop ? TRL_END_STOPPED : TRL_END_MAX_ITER;
        if (done || stop || (r->o->max_iter && r->pass >= r->o->max_iter))
            return TRL_OK;
        for (size_t i = 0; i < r->n; i++) /* from scratch: a resumed run shuffles the same */
            r->order[i] = (uint32_t)i;
        if (r->o->perceptron)
            shuffle(r);
        if (r->o->averaged && !r->o->perceptron && (r->pass & (r->pass - 1)) == 0) {
            trl_lazy_clear_dir(&r->z); /* passes 1, 2, 4, ...: drop the older half of the mean */
            r->scales = 0.0;
            r->averaged_steps = 0;
        }
        trl_status st = one_pass(r, r->n, r->o->perceptron, err);
        if (st == TRL_OK)
            st = end_pass(r, w, x, &done, &stop, err);
        if (st != TRL_OK)
            return st;
    }
}

static trl_status run_init(run *r, trl_error *err)
{
    r->order = trl_alloc(r->n, sizeof *r->order);
    r->past = trl_zalloc(r->o->period + 1, sizeof *r->past);
    r->slots = trl_zalloc(r->batch, sizeof *r->slots);
    if (!r->order || !r->past || !r->slots)
        return trl_fail_mem(err);
    for (size_t i = 0; i < r->n; i++)
        r->order[i] = (uint32_t)i;
    shuffle(r);
    trl_status st = trl_lazy_init(&r->z, r->d, err);
    if (st == TRL_OK)
        st = trl_shared_new(r->d, &r->scores, err);
    if (st == TRL_OK)
        st = trl_task_pairs(r->task, r->d, &r->pairs, &r->has_pairs, err);
    for (; st == TRL_OK && r->n_slots < r->batch; r->n_slots++)
        st = trl_shared_new(r->d, &r->slots[r->n_slots].adjoint, err);
    return st;
}

static void run_fini(run *r)
{
    for (size_t k = 0; k < r->n_slots; k++) {
        trl_shared_free(&r->slots[k].adjoint);
        trl_arena_fini(&r->slots[k].arena);
    }
    trl_free(r->slots);
    trl_free(r->order);
    trl_free(r->past);
    trl_lazy_fini(&r->z);
    trl_shared_free(&r->scores);
    trl_pair_sets_fini(&r->pairs);
}

trl_status trl_sgd(const trl_design *d, const trl_task *task, const trl_sgd_options *o,
                   const trl_descent *how, trl_error *err)
{
    run r = {.d = d, .task = task, .o = o, .pool = how->pool, .n = d->n_sequences, .eta = o->eta};
    r.batch = o->perceptron || o->batch == 0 ? 1
              : o->batch < TRL_SGD_BATCH_MAX ? o->batch
                                             : TRL_SGD_BATCH_MAX;
    r.rng = trl_rng_seed(o->seed);
    trl_status st = run_init(&r, err);
    if (st == TRL_OK && how->state) {
        st = load_state(&r, how->state, how->state_size, err);
    } else if (st == TRL_OK) {
        if (!o->perceptron && o->eta <= 0.0)
            st = calibrate(&r, how->x, err);
        trl_lazy_set(&r.z, how->x, NULL);
    }
    if (st == TRL_OK)
        st = passes(&r, how->watcher, how->x, how->ending, err);
    run_fini(&r);
    return st;
}
