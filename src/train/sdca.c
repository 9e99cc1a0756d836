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
#include "base/rng.h"
#include "feature/dual_weights.h"
#include "num/blas1.h"
#include "num/residual_kernel.h"
#include "train/gradient.h"
#include "train/stored_adjoints.h"
#include "train/weighted_sampler.h"

#define UNIFORM 0.25 /* share of examples drawn uniformly */
#define FAR 0.2      /* ||d||^2 / mass from which L is measured */
#define FIRST 500    /* first visits that are all measured; then every tenth */
#define PAUSE 3      /* visits between two measurements at least */
#define MEMORY 0.998 /* of the mean of L / sqrt(mass) */
#define L_MIN 1e-3
#define RENEWAL 16 /* passes after which the weights are summed anew */
#define STALE 4    /* steps for which shared scores are used */
#define WIDE 5e-3  /* swings of the objective that count as wide, relative */
#define LATE 200   /* passes after which any swing counts */

typedef struct example_state {
    double value;  /* of f_i when last seen */
    float L;       /* curvature; 0 before the first visit */
    float mass;    /* when L was measured */
    float rank;    /* for sampling */
    uint16_t skip; /* visits until the next measurement */
    uint16_t ease; /* measurements in a row that changed little */
} example_state;

typedef struct run {
    const trl_design *d;
    const trl_task *task;
    const trl_sdca_options *o;
    size_t n;
    trl_dual_weights z;
    example_state *ex; /* [n] */
    trl_weighted_sampler ranks;
    double guess, guesses; /* sums of L / sqrt(mass) and of 1, fading */
    double damp, lowest;   /* of steps; least objective so far */
    trl_stored_adjoints kept;
    uint32_t *order; /* the first pass */
    uint64_t seen, pass, next;
    uint64_t age; /* steps since the shared scores were made */
    trl_rng rng;
    trl_arena arena;
    trl_tables scores, adjoint; /* shared tables; rows come from the arena */
    double *past;               /* objective estimates, [period + 1] */
} run;

/* One visit: scores and adjoint before the step, and its distance from the stored one. */
typedef struct visit {
    size_t i, from, n;
    trl_tables s, a;
    float *delta[TRL_FAMILIES_MAX];   /* [n][step] */
    double *shared[TRL_FAMILIES_MAX]; /* [n_constant] the same for shared cells */
    double far2, mass;
} visit;

/* ---- sampling -------------------------------------------------------------------------------- */

static void set_rank(run *r, size_t i, float rank)
{
    trl_weighted_sampler_add(&r->ranks, i, (double)rank - (double)r->ex[i].rank);
    r->ex[i].rank = rank;
}

/* The next example, drawn one step ahead: its weights are fetched while another is worked on. */
static size_t draw(run *r)
{
    const size_t now = (size_t)r->next;
    if (r->seen + 1 < r->n)
        r->next = r->order[r->seen + 1];
    else if (trl_rng_unit(&r->rng) < UNIFORM || !(r->ranks.sum > 0.0))
        r->next = trl_rng_below(&r->rng, r->n);
    else
        r->next = trl_weighted_sampler_find(&r->ranks, trl_rng_unit(&r->rng));
    const size_t from = (size_t)r->d->first[r->next];
    trl_dual_weights_prefetch(&r->z, from, (size_t)r->d->first[r->next + 1] - from,
                              trl_stored_adjoints_row(&r->kept, TRL_NODE, from));
    return now;
}

/* ---- one example ----------------------------------------------------------------------------- */

/* The weights of constants move little in one step, and all examples need them: their scores (and
 * exponentials) are made for several steps at a time.  Not once steps were shortened twice: when
 * every token moves them (piecewise training), each of these steps makes the whole correction. */
static trl_status refresh(run *r, trl_error *err)
{
    trl_tables shape = r->scores;
    double any = 0.0; /* a non-NULL row says "has rows" */
    if (r->age++ % STALE != 0 && r->damp > 0.5)
        return TRL_OK;
    for (size_t k = 0; k < r->d->n_families; k++)
        shape.row[k] = r->d->family[k].has_rows ? &any : NULL;
    trl_dual_weights_gather_shared(&r->z, r->scores.shared);
    return trl_task_prepare(r->task, &shape, err);
}

/* Scores, value and adjoint of the example at the current weights. */
static trl_status evaluate(run *r, const visit *v, trl_tables *s, trl_tables *a, double *value,
                           trl_error *err)
{
    if (!trl_tables_get(r->d, v->n, &r->arena, s) || !trl_tables_get(r->d, v->n, &r->arena, a))
        return trl_fail_mem(err);
    for (size_t k = 0; k < r->d->n_families; k++) {
        s->shared[k] = r->scores.shared[k];
        a->shared[k] = r->adjoint.shared[k];
    }
    trl_shared_clear(r->d, a);
    trl_dual_weights_gather(&r->z, v->from, trl_stored_adjoints_row(&r->kept, TRL_NODE, v->from),
                            s);
    const trl_status st = r->task->evaluate(r->task->self, v->i, 0, &r->arena, s, a, value, err);
    trl_task_finish(r->task, 0, a);
    return st;
}

/* delta, its norm and the adjoint's mass. */
static bool residual(run *r, visit *v)
{
    v->far2 = v->mass = 0.0;
    for (size_t k = 0; k < r->d->n_families; k++) {
        const trl_family *f = &r->d->family[k];
        double mass = 0.0, far2 = 0.0;
        v->delta[k] = NULL;
        v->shared[k] = trl_arena_get(&r->arena, f->n_constant, sizeof(double));
        if (v->a.row[k]) {
            v->delta[k] = trl_arena_get(&r->arena, v->n, f->step * sizeof(float));
            if (!v->delta[k])
                return false;
            far2 = trl_residual(v->n * f->step, v->a.row[k],
                                trl_stored_adjoints_row(&r->kept, k, v->from), v->delta[k], &mass);
        }
        if (k == TRL_NODE) {
            v->far2 = far2;
            v->mass = mass;
        }
        const float *kept = trl_stored_adjoints_shared(&r->kept, k, v->i);
        if (!v->shared[k])
            return false;
        for (size_t c = 0; v->a.shared[k] && c < f->n_constant; c++)
            v->shared[k][c] = v->a.shared[k][f->constant_cell[c]] - (double)kept[c];
    }
    return true;
}

/* a_i += gamma delta, and the weights with it. */
static void move(run *r, const visit *v, double gamma)
{
    trl_dual_weights_add(&r->z, v->from, v->n, v->delta, (float)(gamma * r->z.scale));
    for (size_t k = 0; k < r->d->n_families; k++) {
        const trl_family *f = &r->d->family[k];
        if (v->delta[k])
            trl_blend(v->n * f->step, (float)gamma, v->delta[k],
                      trl_stored_adjoints_row(&r->kept, k, v->from));
        float *kept = trl_stored_adjoints_shared(&r->kept, k, v->i);
        for (size_t c = 0; v->a.shared[k] && c < f->n_constant; c++) {
            kept[c] += (float)(gamma * v->shared[k][c]);
            r->z.constant[k][c] += gamma * r->z.scale * v->shared[k][c];
        }
    }
}

/* Copies of the shared tables, which the next evaluation will overwrite. */
static bool keep_shared(run *r, trl_tables *t)
{
    for (size_t k = 0; k < r->d->n_families; k++) {
        if (!t->shared[k])
            continue;
        double *copy = trl_arena_get(&r->arena, r->d->family[k].step, sizeof *copy);
        if (!copy)
            return false;
        memcpy(copy, t->shared[k], r->d->family[k].step * sizeof *copy);
        t->shared[k] = copy;
    }
    return true;
}

static double step_length(const run *r, double L)
{
    const double two = 2.0 * r->o->c2;
    return r->damp * two / (two + L);
}

/* L from a second evaluation, after a step of gamma. */
static trl_status measure(run *r, const visit *v, double gamma, double *L, trl_error *err)
{
    trl_tables s1 = v->s, a1;
    double value, sum[2] = {0.0, 0.0};
    for (size_t k = 0; k < r->d->n_families; k++) /* this step alone, not those of others */
        for (size_t c = 0; v->a.shared[k] && c < r->d->family[k].n_constant; c++)
            r->scores.shared[k][r->d->family[k].constant_cell[c]] +=
                gamma * r->z.scale * v->shared[k][c];
    r->age = 0;
    trl_status st = trl_task_prepare(r->task, &s1, err);
    if (st == TRL_OK)
        st = evaluate(r, v, &s1, &a1, &value, err);
    if (st != TRL_OK)
        return st;
    for (size_t k = 0; k < r->d->n_families; k++) {
        const trl_family *f = &r->d->family[k];
        if (v->delta[k])
            trl_curvature(v->n * f->step, v->s.row[k], s1.row[k], v->a.row[k], a1.row[k],
                          v->delta[k], sum);
        for (size_t c = 0; v->a.shared[k] && c < f->n_constant; c++) {
            const size_t cell = f->constant_cell[c];
            const double ds = gamma * r->z.scale * v->shared[k][c];
            sum[0] += v->shared[k][c] * ds;
            sum[1] += (a1.shared[k][cell] - v->a.shared[k][cell]) * ds;
        }
    }
    const double along = gamma * r->z.scale * sum[0];
    *L = along > 1e-12 ? fmax(-sum[1] / along, L_MIN) : *L;
    return TRL_OK;
}

static void keep_measured(run *r, example_state *x, double L, double mass, double gamma)
{
    const double better = step_length(r, L);
    const bool same = better > 0.7 * gamma && better < 1.4 * gamma;
    x->ease = (uint16_t)(!same ? 0 : x->ease < 8 ? x->ease + 1 : 8);
    x->skip = (uint16_t)(PAUSE + (x->ease ? (1u << (x->ease - 1)) - 1 : 0));
    x->L = (float)L;
    x->mass = (float)mass;
    r->guess = MEMORY * r->guess + L / sqrt(mass);
    r->guesses = MEMORY * r->guesses + 1.0;
}

/* The estimate of L before the step, and whether to measure it. */
static double expect(run *r, example_state *x, const visit *v, bool *to_measure)
{
    const bool first = x->L == 0.0f;
    if (!first) {
        *to_measure = x->skip == 0 || v->far2 > FAR * v->mass;
        x->skip = (uint16_t)(x->skip - (x->skip > 0));
        return (double)x->L * sqrt(v->mass / (double)x->mass);
    }
    const double L = r->guesses > 0.0 ? r->guess / r->guesses * sqrt(v->mass) : 100.0;
    *to_measure = r->seen < FIRST || r->seen % 10 == 0;
    x->L = (float)L;
    x->mass = (float)v->mass;
    x->skip = 1;
    return L;
}

static trl_status step(run *r, trl_error *err)
{
    double value;
    visit v = {.i = draw(r)};
    example_state *x = &r->ex[v.i];
    trl_arena_reset(&r->arena);
    v.from = (size_t)r->d->first[v.i];
    v.n = (size_t)r->d->first[v.i + 1] - v.from;
    trl_status st = refresh(r, err);
    if (st == TRL_OK)
        st = evaluate(r, &v, &v.s, &v.a, &value, err);
    if (st == TRL_OK && !residual(r, &v))
        st = trl_fail_mem(err);
    if (st != TRL_OK)
        return st;
    bool to_measure;
    v.mass += 1e-3;
    double L = expect(r, x, &v, &to_measure);
    const double gamma = step_length(r, L);
    x->value = -value;
    set_rank(r, v.i, (float)(v.far2 / sqrt((double)v.n)));
    r->seen += r->seen < r->n;
    if (to_measure && !keep_shared(r, &v.a))
        return trl_fail_mem(err);
    move(r, &v, gamma);
    if (!to_measure)
        return TRL_OK;
    st = measure(r, &v, gamma, &L, err);
    const double better = step_length(r, L);
    if (st == TRL_OK && better < 0.7 * gamma)
        move(r, &v, better - gamma);
    keep_measured(r, x, L, v.mass, gamma);
    return st;
}

/* ---- state ----------------------------------------------------------------------------------- */

typedef struct saved_head {
    uint64_t n, n_weights, n_tokens, seen, pass, next;
    double guess, guesses, damp, lowest;
    trl_rng rng;
} saved_head;

static bool save_state(const void *optimizer, trl_buf *out)
{
    const run *r = optimizer;
    const saved_head h = {r->n,     r->d->n_weights, r->d->n_tokens, r->seen,   r->pass, r->next,
                          r->guess, r->guesses,      r->damp,        r->lowest, r->rng};
    return trl_buf_add(out, &h, sizeof h) && trl_buf_add(out, r->ex, r->n * sizeof *r->ex) &&
           trl_buf_add(out, r->past, (r->o->period + 1) * sizeof *r->past) &&
           trl_stored_adjoints_save(&r->kept, out);
}

static bool load_state(run *r, const unsigned char *p, size_t n)
{
    saved_head h;
    if (!trl_take(&p, &n, &h, sizeof h) || h.n != r->n || h.n_weights != r->d->n_weights ||
        h.n_tokens != r->d->n_tokens || h.seen > r->n || h.next >= r->n)
        return false;
    r->seen = h.seen;
    r->pass = h.pass;
    r->next = h.next;
    r->guess = h.guess;
    r->guesses = h.guesses;
    r->damp = h.damp;
    r->lowest = h.lowest;
    r->rng = h.rng;
    return trl_take(&p, &n, r->ex, r->n * sizeof *r->ex) &&
           trl_take(&p, &n, r->past, (r->o->period + 1) * sizeof *r->past) &&
           trl_stored_adjoints_load(&r->kept, &p, &n) && n == 0;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* Recomputes running sums, so that a resumed run has the same ones. */
static void settle(run *r)
{
    r->age = 0;
    trl_weighted_sampler_clear(&r->ranks);
    for (size_t i = 0; i < r->n; i++)
        trl_weighted_sampler_add(&r->ranks, i, (double)r->ex[i].rank);
}

/* Checked every `period` passes: none fell below the one before them, in wide swings or late. */
static bool is_stuck(const run *r)
{
    const size_t n = (size_t)r->o->period + 1;
    const double *oldest = r->past + (r->pass + 1) % n;
    bool lower = false, wide = r->pass > LATE;
    if (r->damp <= 0.5 || n == 1 || r->pass < n || r->pass % (n - 1) != 0)
        return false;
    for (size_t k = 0; k < n && !lower; k++) {
        lower = r->past[k] < *oldest;
        wide = wide || r->past[k] - *oldest > WIDE * fabs(*oldest);
    }
    return wide && !lower;
}

/* Should the objective rise or swing, steps were too long: they are shortened, all L measured anew.
 */
static void keep_in_check(run *r, double F)
{
    if ((r->pass > 3 && F > 1.1 * r->lowest) || is_stuck(r)) {
        r->damp *= 0.7;
        r->lowest = F;
        for (size_t i = 0; i < r->n; i++)
            r->ex[i].skip = r->ex[i].ease = 0;
    } else if (F < r->lowest) {
        r->lowest = F;
    }
}

/* F, made of values from some steps ago, may rise and fall: none of the last ones may be far away.
 */
static bool at_rest(run *r, double F)
{
    const size_t period = (size_t)r->o->period;
    bool rest = period && r->pass > period;
    r->past[r->pass % (period + 1)] = F;
    for (size_t k = 0; k <= period; k++)
        rest = rest && fabs(r->past[k] - F) < r->o->delta * fabs(F);
    return rest;
}

static trl_status end_pass(run *r, const trl_watcher *w, double *x, trl_ending *ending, bool *done,
                           bool *stop, trl_error *err)
{
    settle(r);
    r->pass++;
    if (r->pass % RENEWAL == 0) { /* corrects the rounding errors of many small steps */
        const trl_status st = trl_stored_adjoints_sum(&r->kept, r->z.scale, &r->arena, x, err);
        if (st != TRL_OK)
            return st;
        trl_dual_weights_set(&r->z, x);
    }
    trl_dual_weights_get(&r->z, r->kept.row[TRL_NODE], x);
    double F = 0.0, far2 = 0.0;
    for (size_t i = 0; i < r->n; i++) {
        F += r->ex[i].value;
        far2 += (double)r->ex[i].rank * sqrt((double)(r->d->first[i + 1] - r->d->first[i]));
    }
    const double w2 = trl_dot(NULL, (size_t)r->d->n_weights, x, x);
    F += r->o->c2 * w2;
    const bool small = sqrt(far2) < r->o->epsilon * fmax(1.0, sqrt(w2));
    *ending = small ? TRL_END_CONVERGED : TRL_END_STALLED;
    *done = at_rest(r, F) || small;
    keep_in_check(r, F);
    const trl_iteration it = {.number = r->pass,
                              .objective = F,
                              .gradient = NAN,
                              .step = r->damp,
                              .evaluations = r->pass,
                              .x = x,
                              .last = *done,
                              .ending = *ending};
    return w ? w->watch(w->self, &it, save_state, r, stop, err) : TRL_OK;
}

static trl_status passes(run *r, const trl_watcher *w, double *x, trl_ending *ending,
                         trl_error *err)
{
    for (bool done = false, stop = false;;) {
        *ending = done ? *ending : stop ? TRL_END_STOPPED : TRL_END_MAX_ITER;
        if (done || stop || r->pass >= (r->o->max_iter ? r->o->max_iter : TRL_MOST_PASSES))
            return TRL_OK;
        trl_status st = TRL_OK;
        for (size_t k = 0; st == TRL_OK && k < r->n; k++)
            st = step(r, err);
        if (st == TRL_OK)
            st = end_pass(r, w, x, ending, &done, &stop, err);
        if (st != TRL_OK)
            return st;
    }
}

/* The first pass takes the examples in this order. */
static void shuffle(run *r)
{
    trl_rng rng = r->rng;
    for (size_t i = 0; i < r->n; i++) {
        const size_t j = trl_rng_below(&rng, i + 1);
        r->order[i] = r->order[j];
        r->order[j] = (uint32_t)i;
    }
    r->next = r->order[0];
}

static trl_status run_init(run *r, trl_error *err)
{
    const bool good = trl_weighted_sampler_init(&r->ranks, r->n);
    r->ex = trl_zalloc(r->n, sizeof *r->ex);
    r->order = trl_alloc(r->n, sizeof *r->order);
    r->past = trl_zalloc(r->o->period + 1, sizeof *r->past);
    if (!good || !r->ex || !r->order || !r->past)
        return trl_fail_mem(err);
    shuffle(r);
    trl_status st = trl_stored_adjoints_init(&r->kept, r->d, err);
    if (st == TRL_OK)
        st = trl_dual_weights_init(&r->z, r->d, 0.5 / r->o->c2, err);
    if (st == TRL_OK)
        st = trl_shared_new(r->d, &r->scores, err);
    if (st == TRL_OK)
        st = trl_shared_new(r->d, &r->adjoint, err);
    return st;
}

static void run_fini(run *r)
{
    trl_free(r->ex);
    trl_weighted_sampler_fini(&r->ranks);
    trl_free(r->order);
    trl_free(r->past);
    trl_stored_adjoints_fini(&r->kept);
    trl_dual_weights_fini(&r->z);
    trl_shared_free(&r->scores);
    trl_shared_free(&r->adjoint);
    trl_arena_fini(&r->arena);
}

trl_status trl_sdca(const trl_design *d, const trl_task *task, const trl_sdca_options *o,
                    const trl_watcher *watcher, const void *state, size_t state_size, double *x,
                    trl_ending *ending, trl_error *err)
{
    run r = {.d = d, .task = task, .o = o, .n = d->n_sequences, .damp = 1.0, .lowest = HUGE_VAL};
    for (uint64_t i = 0; !state && i < d->n_weights; i++)
        if (x[i] != 0.0) {
            const trl_status st = trl_fail(err, TRL_EINVAL, "sdca cannot start from given weights");
            return trl_fail_hint(err, st, "start from them with the optimizer lbfgs or sag");
        }
    r.rng = trl_rng_seed(o->seed);
    trl_status st = run_init(&r, err);
    if (st == TRL_OK && state && !load_state(&r, state, state_size))
        st = trl_fail(err, TRL_EMODEL, "the checkpoint does not fit this training run");
    if (st == TRL_OK) {
        trl_dual_weights_set(&r.z, x);
        settle(&r);
        st = passes(&r, watcher, x, ending, err);
    }
    run_fini(&r);
    return st;
}
