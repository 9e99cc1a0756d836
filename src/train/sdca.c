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
#include "feature/dual_weights.h"
#include "num/blas1.h"
#include "num/residual_kernel.h"
#include "train/example_passes.h"
#include "train/gradient.h"
#include "train/stored_adjoints.h"

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
    trl_passes p; /* examples are drawn by rank */
    const trl_sdca_options *o;
    double *x;
    trl_dual_weights z;
    example_state *ex; /* [n] */
    double guess[2];   /* sums of L / sqrt(mass) and of 1, fading */
    trl_stored_adjoints kept;
    uint64_t age;   /* steps since the shared scores were made */
    double lengths; /* of the steps of this pass, summed */
    double *anchor; /* [n_weights] what far weights are penalised from; NULL: none are far */
    double *moved;  /* [n_weights] */
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
    trl_weighted_sampler_add(&r->p.weights, i, (double)rank - (double)r->ex[i].rank);
    r->ex[i].rank = rank;
}

static size_t draw(run *r)
{
    const size_t now = trl_passes_draw(&r->p), from = (size_t)r->p.d->first[r->p.next];
    trl_dual_weights_prefetch(&r->z, from, (size_t)r->p.d->first[r->p.next + 1] - from,
                              trl_stored_adjoints_row(&r->kept, TRL_NODE, from));
    return now;
}

/* ---- one example ----------------------------------------------------------------------------- */

/* Of a family: how many numbers an example has that depend on the position, its scores, adjoints
 * and stored adjoints.  Pairs as sets have those of the cells of their view. */
static size_t count_of(const trl_tables *t, size_t k)
{
    return t->chain.view && k == TRL_EDGE ? (t->chain.view->n_cells + 7) / 8 * 8
                                          : t->n * t->step[k];
}

static const double *scores_of(const trl_tables *t, size_t k)
{
    return t->chain.view && k == TRL_EDGE ? t->chain.pairs->score : t->row[k];
}

static const double *adjoint_of(const trl_tables *t, size_t k)
{
    return t->chain.view && k == TRL_EDGE ? t->chain.set_cell : t->row[k];
}

static float *kept_of(const run *r, const visit *v, size_t k)
{
    return r->p.has_pairs && k == TRL_EDGE ? trl_stored_adjoints_cells(&r->kept, v->i)
                                           : trl_stored_adjoints_row(&r->kept, k, v->from);
}

/* The weights of constants move little in one step, and all examples need them: their scores (and
 * exponentials) are made for several steps at a time.  Not once steps were shortened twice, nor
 * for factors one by one: when every token moves them (piecewise training), each of these steps
 * makes the whole correction. */
static trl_status refresh(run *r, trl_error *err)
{
    trl_tables shape = r->p.scores;
    double any = 0.0; /* a non-NULL row says "has rows" */
    if (r->age++ % STALE != 0 && r->p.damp > 0.5 && r->p.d->order > 0)
        return TRL_OK;
    for (size_t k = 0; k < r->p.d->n_families; k++)
        shape.row[k] =
            r->p.d->family[k].has_rows && !(k == TRL_EDGE && r->p.has_pairs) ? &any : NULL;
    trl_dual_weights_gather_shared(&r->z, r->p.scores.shared);
    return trl_task_prepare(r->p.task, &shape, err);
}

/* Scores, value and adjoint of the example at the current weights. */
static trl_status evaluate(run *r, const visit *v, trl_tables *s, trl_tables *a, double *value,
                           trl_error *err)
{
    trl_status st = trl_passes_tables(&r->p, v->from, v->n, s, a, err);
    if (st != TRL_OK)
        return st;
    trl_dual_weights_gather(&r->z, v->from, trl_stored_adjoints_row(&r->kept, TRL_NODE, v->from),
                            s);
    if (s->chain.view)
        trl_pair_view_ready(s->chain.view);
    const trl_example e = {v->i, 0, &r->p.arena};
    st = r->p.task->evaluate(r->p.task->self, &e, s, a, value, err);
    trl_task_finish(r->p.task, 0, a);
    if (a->chain.view)
        trl_pair_view_keep(a->chain.view, a);
    return st;
}

/* delta, its norm and the adjoint's mass. */
static bool residual(run *r, visit *v)
{
    v->far2 = v->mass = 0.0;
    for (size_t k = 0; k < r->p.d->n_families; k++) {
        const trl_family *f = &r->p.d->family[k];
        double mass = 0.0, far2 = 0.0;
        v->delta[k] = NULL;
        v->shared[k] = trl_arena_get(&r->p.arena, f->n_constant, sizeof(double));
        if (adjoint_of(&v->a, k)) {
            const size_t n = count_of(&v->a, k);
            v->delta[k] = trl_arena_get(&r->p.arena, n + 1, sizeof(float));
            if (!v->delta[k])
                return false;
            far2 = trl_residual(n, adjoint_of(&v->a, k), kept_of(r, v, k), v->delta[k], &mass);
        }
        if (k == TRL_NODE || r->p.d->order == 0) { /* of chains, labels say enough */
            v->far2 += far2;
            v->mass += mass;
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
    const float by = (float)(gamma * r->z.scale);
    float *rows[TRL_FAMILIES_MAX];
    memcpy(rows, v->delta, sizeof rows);
    if (v->a.chain.view) {
        trl_dual_weights_add_pairs(&r->z, v->from, &v->a, v->delta[TRL_EDGE], by);
        rows[TRL_EDGE] = NULL;
    }
    trl_dual_weights_add(&r->z, v->from, v->n, rows, by);
    for (size_t k = 0; k < r->p.d->n_families; k++) {
        const trl_family *f = &r->p.d->family[k];
        if (v->delta[k])
            trl_blend(count_of(&v->a, k), (float)gamma, v->delta[k], kept_of(r, v, k));
        float *kept = trl_stored_adjoints_shared(&r->kept, k, v->i);
        for (size_t c = 0; v->a.shared[k] && c < f->n_constant; c++) {
            kept[c] += (float)(gamma * v->shared[k][c]);
            r->z.constant[k][c] += gamma * r->z.scale * v->shared[k][c];
        }
    }
}

static double step_length(const run *r, double L)
{
    const double two = 2.0 * r->o->c2;
    return r->p.damp * two / (two + L);
}

/* L from a second evaluation, after a step of gamma. */
static trl_status measure(run *r, const visit *v, double gamma, double *L, trl_error *err)
{
    trl_tables s1 = v->s, a1;
    double value, sum[2] = {0.0, 0.0};
    for (size_t k = 0; k < r->p.d->n_families; k++) /* this step alone, not those of others */
        for (size_t c = 0; v->a.shared[k] && c < r->p.d->family[k].n_constant; c++)
            r->p.scores.shared[k][r->p.d->family[k].constant_cell[c]] +=
                gamma * r->z.scale * v->shared[k][c];
    r->age = 0;
    s1.chain = (trl_chain_tables){0};
    trl_status st = trl_task_prepare(r->p.task, &s1, err);
    if (st == TRL_OK)
        st = evaluate(r, v, &s1, &a1, &value, err);
    if (st != TRL_OK)
        return st;
    for (size_t k = 0; k < r->p.d->n_families; k++) {
        const trl_family *f = &r->p.d->family[k];
        if (v->delta[k])
            trl_curvature(count_of(&v->a, k), scores_of(&v->s, k), scores_of(&s1, k),
                          adjoint_of(&v->a, k), adjoint_of(&a1, k), v->delta[k], sum);
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
    r->guess[0] = MEMORY * r->guess[0] + L / sqrt(mass);
    r->guess[1] = MEMORY * r->guess[1] + 1.0;
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
    const double L = r->guess[1] > 0.0 ? r->guess[0] / r->guess[1] * sqrt(v->mass) : 100.0;
    *to_measure = r->p.seen < FIRST || r->p.seen % 10 == 0;
    x->L = (float)L;
    x->mass = (float)v->mass;
    x->skip = 1;
    return L;
}

static trl_status step(void *self, trl_error *err)
{
    run *r = self;
    double value;
    visit v = {.i = draw(r)};
    example_state *x = &r->ex[v.i];
    trl_arena_reset(&r->p.arena);
    v.from = (size_t)r->p.d->first[v.i];
    v.n = (size_t)r->p.d->first[v.i + 1] - v.from;
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
    r->p.seen += r->p.seen < r->p.n;
    if (to_measure && !trl_passes_keep_shared(&r->p, &v.a))
        return trl_fail_mem(err);
    r->lengths += gamma;
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

static trl_passes_state own_state(run *r)
{
    return (trl_passes_state){r->guess, 2, r->ex, sizeof *r->ex};
}

static bool save_state(const void *optimizer, trl_buf *out)
{
    run r = *(const run *)optimizer;
    const trl_passes_state own = own_state(&r);
    const size_t far = r.anchor ? (size_t)r.p.d->n_weights : 0;
    return trl_passes_save(&r.p, &own, out) && trl_stored_adjoints_save(&r.kept, out) &&
           trl_buf_add(out, r.anchor, far * sizeof *r.anchor);
}

static bool load_state(run *r, const unsigned char *p, size_t n)
{
    const trl_passes_state own = own_state(r);
    const size_t far = r->anchor ? (size_t)r->p.d->n_weights : 0;
    return trl_passes_load(&r->p, &own, &p, &n) && trl_stored_adjoints_load(&r->kept, &p, &n) &&
           trl_take(&p, &n, r->anchor, far * sizeof *r->anchor) && n == 0;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* Recomputes running sums, so that a resumed run has the same ones. */
static void settle(run *r)
{
    r->age = 0;
    trl_weighted_sampler_clear(&r->p.weights);
    for (size_t i = 0; i < r->p.n; i++)
        trl_weighted_sampler_add(&r->p.weights, i, (double)r->ex[i].rank);
}

/* Far weights are penalised from q times where they are now (scaled_values.h).  x stays. */
static void move_anchor(run *r)
{
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
static bool is_stuck(const run *r)
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

/* Should the objective rise or swing, steps were too long: they are shortened, all L measured anew.
 */
static void keep_in_check(run *r, double F)
{
    if ((r->p.pass > 3 && F > 1.1 * r->p.lowest) || is_stuck(r)) {
        r->p.damp *= 0.7;
        r->p.lowest = F;
        for (size_t i = 0; i < r->p.n; i++)
            r->ex[i].skip = r->ex[i].ease = 0;
    } else if (F < r->p.lowest) {
        r->p.lowest = F;
    }
}

/* F, made of values from some steps ago, may rise and fall: none of the last ones may be far away.
 */
static bool at_rest(run *r, double F)
{
    const size_t period = (size_t)r->p.period;
    bool rest = period && r->p.pass > period;
    r->p.past[r->p.pass % (period + 1)] = F;
    for (size_t k = 0; k <= period; k++)
        rest = rest && fabs(r->p.past[k] - F) < r->o->delta * fabs(F);
    return rest;
}

static trl_status end_pass(void *self, trl_ending *ending, bool *done, bool *stop, trl_error *err)
{
    run *r = self;
    double *x = r->x;
    settle(r);
    r->p.pass++;
    if (r->p.pass % RENEWAL == 0) { /* corrects the rounding errors of many small steps */
        const trl_status st = trl_stored_adjoints_sum(&r->kept, r->z.scale, &r->p.arena, x, err);
        if (st != TRL_OK)
            return st;
        for (size_t k = 0; r->o->far && k < r->o->far->n; k++)
            x[r->o->far->weight[k]] += r->anchor[r->o->far->weight[k]];
        trl_dual_weights_set(&r->z, x);
    }
    trl_dual_weights_get(&r->z, r->kept.row[TRL_NODE], x);
    double F = 0.0, far2 = 0.0;
    for (size_t i = 0; i < r->p.n; i++) {
        F += r->ex[i].value;
        far2 += (double)r->ex[i].rank * sqrt((double)(r->p.d->first[i + 1] - r->p.d->first[i]));
    }
    const double w2 = trl_far_norm2(r->o->far, (size_t)r->p.d->n_weights, x);
    F += r->o->c2 * w2;
    const bool small = sqrt(far2) < r->o->epsilon * fmax(1.0, sqrt(w2));
    *ending = small ? TRL_END_CONVERGED : TRL_END_STALLED;
    *done = at_rest(r, F) || small;
    keep_in_check(r, F);
    const trl_iteration it = {.number = r->p.pass,
                              .objective = F,
                              .gradient = NAN,
                              .step = r->lengths / (double)r->p.n,
                              .evaluations = r->p.pass,
                              .x = x,
                              .last = *done,
                              .ending = *ending};
    const trl_watcher *w = r->p.watcher;
    const trl_status st = w ? w->watch(w->self, &it, save_state, r, stop, err) : TRL_OK;
    move_anchor(r);
    r->lengths = 0.0;
    return st;
}

static trl_status run_init(run *r, trl_error *err)
{
    trl_status st = trl_passes_init(&r->p, r->o->seed, err);
    r->ex = trl_zalloc(r->p.n, sizeof *r->ex);
    if (r->o->far) {
        r->anchor = trl_zalloc((size_t)r->p.d->n_weights, sizeof *r->anchor);
        r->moved = trl_alloc((size_t)r->p.d->n_weights, sizeof *r->moved);
    }
    if (st == TRL_OK && (!r->ex || (r->o->far && !(r->anchor && r->moved))))
        st = trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_stored_adjoints_init(&r->kept, r->p.d, r->p.has_pairs ? &r->p.pairs : NULL, err);
    return st == TRL_OK ? trl_dual_weights_init(&r->z, r->p.d, 0.5 / r->o->c2, err) : st;
}

static void run_fini(run *r)
{
    trl_passes_fini(&r->p);
    trl_free(r->ex);
    trl_free(r->anchor);
    trl_free(r->moved);
    trl_stored_adjoints_fini(&r->kept);
    trl_dual_weights_fini(&r->z);
}

trl_status trl_sdca(const trl_design *d, const trl_task *task, const trl_sdca_options *o,
                    const trl_descent *how, trl_error *err)
{
    run r = {.p = {.d = d,
                   .task = task,
                   .max_iter = o->max_iter,
                   .period = o->period,
                   .uniform = UNIFORM,
                   .watcher = how->watcher,
                   .takes_pairs = true},
             .o = o,
             .x = how->x};
    for (uint64_t i = 0; !how->state && i < d->n_weights; i++)
        if (how->x[i] != 0.0) {
            const trl_status st = trl_fail(err, TRL_EINVAL, "sdca cannot start from given weights");
            return trl_fail_hint(err, st, "start from them with the optimizer lbfgs or sag");
        }
    trl_status st = run_init(&r, err);
    if (st == TRL_OK && how->state && !load_state(&r, how->state, how->state_size))
        st = trl_fail(err, TRL_EMODEL, "the checkpoint does not fit this training run");
    if (st == TRL_OK) {
        trl_dual_weights_set(&r.z, how->x);
        if (how->state)
            move_anchor(&r);
        settle(&r);
        st = trl_passes_run(&r.p, &(trl_passes_fns){step, end_pass}, &r, how->ending, err);
    }
    run_fini(&r);
    return st;
}
