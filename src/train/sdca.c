/* sdca.c -- dual coordinate ascent with measured step lengths.
 *
 *     d = adjoint_i(w) - a_i,     a_i <- a_i + gamma d,     w <- w + gamma / (2 c2) A_i^T d
 *
 * The dual objective along d, to second order, is highest at gamma = 2 c2 / (2 c2 + L_i), L_i
 * being the curvature of - value_i in the direction A_i^T d.  L_i is measured by evaluating the
 * example a second time, after the step: with s the scores and a the adjoint,
 *
 *     L_i = - (2 c2 / gamma)  (da . ds) / (d . ds)
 *
 * and a step that was far too long is partly undone.  Measurements are rare.  Between them L_i is
 * taken to go with the square root of the mass sum |adjoint|, which falls as the example is learnt;
 * an example that has moved far is measured anyway.  After the first pass, which visits all, a
 * quarter of the examples is drawn uniformly, the rest in proportion to ||d||^2 / sqrt(T), d as
 * last seen.
 */
/* SPDX-License-Identifier: MIT */
#include "train/sdca.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "num/blas1.h"
#include "train/gradient.h"
#include "train/sdca_run.h"

#define UNIFORM 0.25 /* share of examples drawn uniformly */
#define FAR 0.2      /* ||d||^2 / mass from which L is measured */
#define FIRST 500    /* first visits that are all measured; then every tenth */
#define PAUSE 3      /* visits between two measurements at least */
#define MEMORY 0.998 /* of the mean of L / sqrt(mass) */
#define RENEWAL 16   /* passes after which the weights are summed anew */
#define WIDE 5e-3    /* swings of the objective that count as wide, relative */
#define LATE 200     /* passes after which any swing counts */
#define BELOW 1e-4   /* of a bound: values seen that lie below it by more come from long steps */
#define NARROW 16    /* times narrower than the widest: a line takes twice as many steps */
#define SOON 4       /* passes after which they are looked at */

/* ---- sampling -------------------------------------------------------------------------------- */

static void set_rank(trl_sdca_run *r, size_t i, float rank)
{
    trl_weighted_sampler_add(&r->p.weights, i, (double)rank - (double)r->ex[i].rank);
    r->ex[i].rank = rank;
}

static size_t draw(trl_sdca_run *r)
{
    const size_t now = trl_passes_draw(&r->p), from = (size_t)r->p.d->first[r->p.next];
    const size_t k = r->part ? r->part - 1 : TRL_NODE;
    __builtin_prefetch(&r->ex[r->p.next], 1, 2);
    trl_dual_weights_prefetch(&r->z, k, from, (size_t)r->p.d->first[r->p.next + 1] - from,
                              trl_stored_adjoints_row(&r->kept, k, from));
    return now;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void keep_measured(trl_sdca_run *r, trl_sdca_example *x, double L, double mass, double gamma)
{
    const double better = trl_sdca_step_length(r, L);
    const bool same = better > 0.7 * gamma && better < 1.4 * gamma;
    x->ease = (uint16_t)(!same ? 0 : x->ease < 8 ? x->ease + 1 : 8);
    x->skip = (uint16_t)(PAUSE + (x->ease ? (1u << (x->ease - 1)) - 1 : 0));
    x->L = (float)L;
    x->mass = (float)mass;
    r->guess[0] = MEMORY * r->guess[0] + L / sqrt(mass);
    r->guess[1] = MEMORY * r->guess[1] + 1.0;
}

/* The estimate of L before the step, and whether to measure it. */
static double expect(trl_sdca_run *r, trl_sdca_example *x, const trl_sdca_visit *v,
                     bool *to_measure)
{
    const bool first = x->L == 0.0f;
    if (!first) {
        *to_measure = x->skip == 0 || v->far2 > FAR * v->mass;
        x->skip = (uint16_t)(x->skip - (x->skip > 0));
        return (double)x->L * sqrt(v->mass / (double)x->mass);
    }
    const double L = r->guess[1] > 0.0 ? r->guess[0] / r->guess[1] * sqrt(v->mass) : 100.0;
    *to_measure = r->p.seen < FIRST || r->p.seen % 10 == 0;
    x->L = (float)L;
    x->mass = (float)v->mass;
    x->skip = 1;
    return L;
}

static trl_status step(trl_sdca_run *r, trl_error *err)
{
    double value;
    trl_sdca_visit v = {.i = draw(r)};
    trl_sdca_example *x = &r->ex[v.i];
    trl_arena_reset(&r->p.arena);
    v.from = (size_t)r->p.d->first[v.i];
    v.n = (size_t)r->p.d->first[v.i + 1] - v.from;
    trl_status st = trl_sdca_refresh(r, err);
    if (st == TRL_OK)
        st = trl_sdca_evaluate(r, &v, &v.s, &v.a, &value, err);
    if (st == TRL_OK && !trl_sdca_residual(r, &v))
        st = trl_fail_mem(err);
    if (st != TRL_OK)
        return st;
    bool to_measure;
    v.mass += 1e-3;
    double L = expect(r, x, &v, &to_measure);
    const double gamma = trl_sdca_step_length(r, L);
    x->value = -value;
    set_rank(r, v.i, (float)(v.far2 / sqrt((double)v.n)));
    r->p.seen += r->p.seen < r->p.n;
    if (to_measure && !trl_passes_keep_shared(&r->p, &v.a))
        return trl_fail_mem(err);
    r->lengths += gamma;
    trl_sdca_move(r, &v, gamma);
    if (!to_measure)
        return TRL_OK;
    st = trl_sdca_measure(r, &v, gamma, &L, err);
    const double better = trl_sdca_step_length(r, L);
    if (st == TRL_OK && better < 0.7 * gamma)
        trl_sdca_move(r, &v, better - gamma);
    keep_measured(r, x, L, v.mass, gamma);
    return st;
}

/* ---- parts ----------------------------------------------------------------------------------- */

typedef struct parts {
    size_t n; /* 1, or one for each family */
    trl_sdca_run *run;
    trl_pool *pool;
} parts;

static trl_status only_step(void *self, trl_error *err)
{
    return step(((parts *)self)->run, err);
}

static trl_status pass_of(void *self, size_t part, size_t worker, trl_error *err)
{
    trl_sdca_run *r = &((parts *)self)->run[part];
    trl_status st = TRL_OK;
    (void)worker;
    for (size_t k = 0; st == TRL_OK && k < (r->narrow ? 2 : 1) * r->p.n; k++) {
        st = trl_watcher_check(r->p.watcher, err);
        if (st == TRL_OK)
            st = step(r, err);
    }
    return st;
}

static trl_status pass_of_all(void *self, trl_error *err)
{
    parts *all = self;
    trl_status st = TRL_OK;
    if (all->pool)
        return trl_pool_run(all->pool, all->n, pass_of, all, err);
    for (size_t k = 0; st == TRL_OK && k < all->n; k++)
        st = pass_of(all, k, 0, err);
    return st;
}

/* ---- state ----------------------------------------------------------------------------------- */

static trl_passes_state own_state(trl_sdca_run *r)
{
    return (trl_passes_state){r->guess, 2, r->ex, sizeof *r->ex};
}

static bool save_state(const void *optimizer, trl_buf *out)
{
    const parts *all = optimizer;
    const trl_sdca_run *r = &all->run[0];
    const size_t far = r->anchor ? (size_t)r->p.d->n_weights : 0;
    for (size_t k = 0; k < all->n; k++) {
        trl_sdca_run one = all->run[k];
        const trl_passes_state own = own_state(&one);
        if (!trl_passes_save(&one.p, &own, out))
            return false;
    }
    return trl_stored_adjoints_save(&r->kept, out) &&
           trl_buf_add(out, r->anchor, far * sizeof *r->anchor);
}

static bool load_state(parts *all, const unsigned char *p, size_t n)
{
    trl_sdca_run *r = &all->run[0];
    const size_t far = r->anchor ? (size_t)r->p.d->n_weights : 0;
    for (size_t k = 0; k < all->n; k++) {
        const trl_passes_state own = own_state(&all->run[k]);
        if (!trl_passes_load(&all->run[k].p, &own, &p, &n))
            return false;
    }
    return trl_stored_adjoints_load(&r->kept, &p, &n) &&
           trl_take(&p, &n, r->anchor, far * sizeof *r->anchor) && n == 0;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* Recomputes running sums, so that a resumed trl_sdca_run has the same ones. */
static void settle(parts *all)
{
    for (size_t k = 0; k < all->n; k++) {
        trl_sdca_run *r = &all->run[k];
        r->age = 0;
        trl_weighted_sampler_clear(&r->p.weights);
        for (size_t i = 0; i < r->p.n; i++)
            trl_weighted_sampler_add(&r->p.weights, i, (double)r->ex[i].rank);
    }
}

/* Far weights are penalised from q times where they are now (scaled_values.h).  x stays. */
static void move_anchor(parts *all)
{
    trl_sdca_run *r = &all->run[0];
    const trl_far_weights *far = r->o->far;
    if (!far)
        return;
    memcpy(r->moved, r->x, (size_t)r->p.d->n_weights * sizeof *r->moved);
    for (size_t k = 0; k < far->n; k++) {
        const uint64_t j = far->weight[k];
        const double to = trl_far_share(far, j) * r->x[j];
        r->moved[j] += to - r->anchor[j];
        r->anchor[j] = to;
    }
    trl_dual_weights_set(&r->z, r->moved);
}

/* Checked every `period` passes: none fell below the one before them, in wide swings or late. */
static bool is_stuck(const trl_sdca_run *r)
{
    const size_t n = (size_t)r->p.period + 1;
    const double *oldest = r->p.past + (r->p.pass + 1) % n;
    bool lower = false, wide = r->p.pass > LATE;
    if (r->p.damp <= 0.5 || n == 1 || r->p.pass < n || r->p.pass % (n - 1) != 0)
        return false;
    for (size_t k = 0; k < n && !lower; k++) {
        lower = r->p.past[k] < *oldest;
        wide = wide || r->p.past[k] - *oldest > WIDE * fabs(*oldest);
    }
    return wide && !lower;
}

/* Steps were too long: they are shortened, all L measured anew. */
static void shorten(trl_sdca_run *r)
{
    r->p.damp *= 0.7;
    for (size_t i = 0; i < r->p.n; i++)
        r->ex[i].skip = r->ex[i].ease = 0;
}

/* They are shortened should the objective rise or swing.  Of parts it is made of values from when
 * it was lower, and rises without harm; but where these are below what the lowest objective can be
 * (bounded), every step goes beyond what the others leave of it. */
static void keep_in_check(parts *all, double F, bool bounded)
{
    trl_sdca_run *r = &all->run[0];
    const bool by_bound = bounded && all->n > 1;
    if ((r->p.pass > 3 && F > 1.1 * r->p.lowest) ||
        ((all->n == 1 || !r->p.task->dual) && is_stuck(r))) {
        r->p.lowest = F;
        for (size_t k = 0; k < all->n; k++)
            shorten(&all->run[k]);
        return;
    }
    r->p.lowest = fmin(r->p.lowest, F);
    for (size_t k = 0; by_bound && r->p.pass >= SOON && k < all->n; k++)
        if (all->run[k].value < (1.0 - BELOW) * all->run[k].bound)
            shorten(&all->run[k]);
}

/* F, made of values from some steps ago, may rise and fall: none of the last ones may be far away.
 */
static bool at_rest(trl_sdca_run *r, double F)
{
    const size_t period = (size_t)r->p.period;
    bool rest = period && r->p.pass > period;
    r->p.past[r->p.pass % (period + 1)] = F;
    for (size_t k = 0; k <= period; k++)
        rest = rest && fabs(r->p.past[k] - F) < r->o->delta * fabs(F);
    return rest;
}

static trl_status bound_of(void *self, size_t part, size_t worker, trl_error *err)
{
    (void)worker, (void)err;
    trl_sdca_bound(&((parts *)self)->run[part]);
    return TRL_OK;
}

/* The dual objective of all; NaN: not known. */
static double bound_of_all(parts *all)
{
    const trl_sdca_run *r = all->run;
    double sum = 0.0;
    bool known = r->p.task->dual && !r->o->far && trl_pass_is_measured(r->p.pass, true);
    for (size_t k = 0; k < r->p.d->n_families; k++)
        known = known && r->p.d->family[k].has_rows;
    if (!known)
        return NAN;
    trl_pool_run_all(all->pool, all->n, bound_of, all);
    for (size_t k = 0; k < all->n; k++)
        sum += all->run[k].bound;
    return sum;
}

/* The weights of the pass, and now and then their rounding errors of many small steps corrected. */
static trl_status end_weights(parts *all, trl_error *err)
{
    trl_sdca_run *r = &all->run[0];
    if (r->p.pass % RENEWAL == 0) {
        const trl_status st = trl_stored_adjoints_sum(&r->kept, r->z.scale, &r->p.arena, r->x, err);
        if (st != TRL_OK)
            return st;
        for (size_t k = 0; r->o->far && k < r->o->far->n; k++)
            r->x[r->o->far->weight[k]] += r->anchor[r->o->far->weight[k]];
        trl_dual_weights_set(&r->z, r->x);
    }
    trl_dual_weights_get(&r->z, r->kept.row[TRL_NODE], r->x);
    return TRL_OK;
}

static trl_status end_pass(void *self, trl_ending *ending, bool *done, bool *stop, trl_error *err)
{
    parts *all = self;
    trl_sdca_run *r = &all->run[0];
    settle(all);
    r->p.pass++;
    const trl_status made = end_weights(all, err);
    if (made != TRL_OK)
        return made;
    double F = 0.0, far2 = 0.0, lengths = 0.0;
    size_t steps = 0;
    for (size_t k = 0; k < all->n; k++) {
        const trl_sdca_run *one = &all->run[k];
        const uint64_t *first = one->p.d->first;
        for (size_t i = 0; i < one->p.n; i++) {
            F += one->ex[i].value;
            far2 += (double)one->ex[i].rank * sqrt((double)(first[i + 1] - first[i]));
        }
        lengths += one->lengths;
        steps += (one->narrow ? 2 : 1) * one->p.n;
        all->run[k].lengths = 0.0;
    }
    const double w2 = trl_far_norm2(r->o->far, (size_t)r->p.d->n_weights, r->x);
    F += r->o->c2 * w2;
    const bool small = sqrt(far2) < r->o->epsilon * fmax(1.0, sqrt(w2));
    *ending = small ? TRL_END_CONVERGED : TRL_END_STALLED;
    *done = at_rest(r, F) || small;
    const double bound = bound_of_all(all);
    keep_in_check(all, F, !isnan(bound));
    const trl_iteration it = {.number = r->p.pass,
                              .has_bound = !isnan(bound),
                              .bound = bound,
                              .objective = F,
                              .gradient = NAN,
                              .step = lengths / (double)steps,
                              .evaluations = r->p.pass,
                              .x = r->x,
                              .last = *done,
                              .ending = *ending};
    const trl_watcher *w = r->p.watcher;
    const trl_status st = w ? w->watch(w->self, &it, save_state, all, stop, err) : TRL_OK;
    move_anchor(all);
    return st;
}

static trl_status part_init(trl_sdca_run *r, size_t part, trl_error *err)
{
    trl_status st = trl_passes_init(&r->p, r->o->seed + part, err);
    r->ex = trl_zalloc64(r->p.n, sizeof *r->ex);
    for (size_t k = 0; k < r->p.d->n_families; k++) /* adjoints that rows have, or another part */
        if (!trl_sdca_has(r, k) || trl_shared_is_row(r->p.d, k)) {
            trl_free(r->p.adjoint.shared[k]);
            r->p.adjoint.shared[k] = NULL;
        }
    return st == TRL_OK && !r->ex ? trl_fail_mem(err) : st;
}

/* What all share is made for the first one. */
static trl_status shared_init(trl_sdca_run *r, trl_error *err)
{
    if (r->o->far) {
        r->anchor = trl_zalloc((size_t)r->p.d->n_weights, sizeof *r->anchor);
        r->moved = trl_alloc((size_t)r->p.d->n_weights, sizeof *r->moved);
        if (!r->anchor || !r->moved)
            return trl_fail_mem(err);
    }
    const trl_status st =
        trl_stored_adjoints_init(&r->kept, r->p.d, r->p.has_pairs ? &r->p.pairs : NULL, err);
    return st == TRL_OK ? trl_dual_weights_init(&r->z, r->p.d, 0.5 / r->o->c2, err) : st;
}

/* The number of family k, and one, by the width of families: long passes begin first. */
static size_t part_at(const trl_design *d, size_t k)
{
    for (size_t f = 0; f < d->n_families; f++) {
        size_t before = 0;
        for (size_t g = 0; g < d->n_families; g++)
            before += d->family[g].width > d->family[f].width ||
                      (d->family[g].width == d->family[f].width && g < f);
        if (before == k)
            return f + 1;
    }
    return 0;
}

/* So much narrower than the widest one that its steps cost next to nothing. */
static bool is_narrow(const trl_design *d, size_t family)
{
    size_t widest = 0;
    for (size_t f = 0; f < d->n_families; f++)
        widest = d->family[f].width > widest ? d->family[f].width : widest;
    return d->family[family].width <= widest / NARROW;
}

static trl_status parts_init(parts *all, const trl_sdca_run *like, trl_error *err)
{
    const bool cut = like->p.task->parts && like->p.d->n_families > 1;
    all->n = cut ? like->p.d->n_families : 1;
    all->run = trl_zalloc(all->n, sizeof *all->run);
    trl_status st = all->run ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < all->n; k++) {
        all->run[k] = *like;
        all->run[k].part = cut ? part_at(like->p.d, k) : 0;
        all->run[k].narrow = cut && is_narrow(like->p.d, all->run[k].part - 1);
        st = part_init(&all->run[k], k, err);
    }
    if (st == TRL_OK)
        st = shared_init(all->run, err);
    for (size_t k = 1; st == TRL_OK && k < all->n; k++) {
        all->run[k].kept = all->run->kept;
        all->run[k].z = all->run->z;
    }
    if (cut && st == TRL_OK)
        all->run->p.steps = 1; /* of all together */
    return st;
}

static void parts_fini(parts *all)
{
    if (!all->run)
        return;
    for (size_t k = 0; k < all->n; k++) {
        trl_passes_fini(&all->run[k].p);
        trl_free(all->run[k].ex);
    }
    trl_free(all->run->anchor);
    trl_free(all->run->moved);
    trl_stored_adjoints_fini(&all->run->kept);
    trl_dual_weights_fini(&all->run->z);
    trl_free(all->run);
}

trl_status trl_sdca(const trl_design *d, const trl_task *task, const trl_sdca_options *o,
                    const trl_descent *how, trl_error *err)
{
    const trl_sdca_run like = {.p = {.d = d,
                                     .task = task,
                                     .max_iter = o->max_iter,
                                     .period = o->period,
                                     .uniform = UNIFORM,
                                     .watcher = how->watcher,
                                     .takes_pairs = true},
                               .o = o,
                               .x = how->x};
    parts all = {.pool = how->pool};
    for (uint64_t i = 0; !how->state && i < d->n_weights; i++)
        if (how->x[i] != 0.0) {
            const trl_status st = trl_fail(err, TRL_EINVAL, "sdca cannot start from given weights");
            return trl_fail_hint(err, st, "start from them with the optimizer lbfgs or sag");
        }
    trl_status st = parts_init(&all, &like, err);
    if (st == TRL_OK && how->state && !load_state(&all, how->state, how->state_size))
        st = trl_fail(err, TRL_EMODEL, "the checkpoint does not fit this training run");
    if (st == TRL_OK) {
        const trl_passes_fns fns = {all.n > 1 ? pass_of_all : only_step, end_pass};
        trl_dual_weights_set(&all.run->z, how->x);
        if (how->state)
            move_anchor(&all);
        settle(&all);
        st = trl_passes_run(&all.run->p, &fns, &all, how->ending, err);
    }
    parts_fini(&all);
    return st;
}
