/* path.c -- lambda from the value at which nothing is worth its penalty down to the best one on
 * held-out data.
 */
/* SPDX-License-Identifier: MIT */
#include "train_boost/path.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/mem.h"

#define INTERCEPT_OFF                                                                              \
    0.01 /* lambdas that the sum of all weights may be off before it is recomputed */

double trl_boost_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void trl_boost_path_fini(trl_boost_path *p)
{
    trl_trainer_fini(&p->t);
    trl_free(p->held_h);
    trl_free(p->held_v);
    trl_free(p->point);
}

static trl_status init_held_out(trl_boost_path *p, size_t column, trl_error *err)
{
    const trl_boost_data *d = p->held_out;
    if (!d)
        return TRL_OK;
    p->held_h = trl_zalloc(d->n, sizeof *p->held_h);
    p->held_v = trl_alloc(d->n, sizeof *p->held_v);
    if (!p->held_h || !p->held_v)
        return trl_fail_mem(err);
    trl_boost_fill(d, column, p->held_v);
    for (size_t i = 0; i < d->n; i++)
        p->held_value += fabs(p->held_v[i]);
    if (!(p->held_value > 0.0))
        return trl_fail(err, TRL_EINVAL, "the held-out examples have no value");
    return TRL_OK;
}

/* ln(1 + exp(x)) */
static double softplus(double x)
{
    return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static trl_status held_out_loss(trl_boost_path *p, double *loss, trl_error *err)
{
    *loss = NAN;
    if (!p->held_out)
        return TRL_OK;
    const trl_boost_ensemble *e = &p->t.trees;
    const trl_boost_trees t = {e->node, e->tree_end, p->applied, e->n_trees, NULL};
    const trl_status st = trl_boost_apply(&t, p->held_out, p->held_h, err);
    if (st != TRL_OK)
        return st;
    p->applied = e->n_trees;
    double sum = 0.0;
    for (size_t i = 0; i < p->held_out->n; i++) {
        const double v = p->held_v[i];
        sum += fabs(v) * softplus(v > 0.0 ? -p->held_h[i] : p->held_h[i]);
    }
    *loss = sum / p->held_value;
    return TRL_OK;
}

/* Distinct compound features with a parameter, atomic features in them, and the penalty. */
static trl_status count_terms(const trl_boost_path *p, trl_boost_point *x, trl_error *err)
{
    const trl_boost_terms *terms = &p->t.terms;
    unsigned char *used = trl_zalloc(p->t.d->n_features + 1, 1);
    double penalty = 0.0;
    if (!used)
        return trl_fail_mem(err);
    for (size_t k = 0; k < terms->n; k++) {
        const trl_boost_term *term = &terms->term[k];
        if (term->theta == 0.0)
            continue;
        penalty += fabs(term->theta);
        x->compound++;
        for (size_t q = 0; q < term->n; q++) {
            const uint32_t a = terms->literal[term->begin + q] / 2;
            x->atomic += !used[a];
            used[a] = 1;
        }
    }
    trl_free(used);
    x->objective = x->loss + x->lambda * penalty;
    return TRL_OK;
}

/* Appends the point that has been reached; the best is the one with the least held-out loss. */
static trl_status add_point(trl_boost_path *p, trl_error *err)
{
    trl_boost_point *grown = trl_reserve(p->point, &p->point_cap, p->n_points + 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    p->point = grown;
    trl_boost_point x = {.lambda = p->t.lambda,
                         .loss = trl_trainer_loss(&p->t),
                         .trees = p->t.trees.n_trees,
                         .seconds = p->seconds_before + trl_boost_clock() - p->started};
    trl_status st = held_out_loss(p, &x.held_out, err);
    if (st == TRL_OK)
        st = count_terms(p, &x, err);
    if (st != TRL_OK)
        return st;
    p->point[p->n_points++] = x;
    if (!p->held_out || x.held_out < p->point[p->best].held_out)
        p->best = p->n_points - 1;
    return TRL_OK;
}

static bool tell(const trl_boost_path *p, bool point)
{
    const trl_boost_progress now = {.classifier = p->name,
                                    .number = p->t.column,
                                    .classifiers = p->classifiers,
                                    .point = point ? &p->point[p->n_points - 1] : NULL,
                                    .trees = p->t.trees.n_trees,
                                    .lambda = p->t.lambda,
                                    .seconds = p->seconds_before + trl_boost_clock() - p->started};
    return p->progress && p->progress(p->progress_ctx, &now);
}

/* One more tree, or the next lambda. */
static trl_status step(trl_boost_path *p, bool *grew, trl_error *err)
{
    trl_trainer *t = &p->t;
    bool split = false;
    *grew = false;
    trl_status st = trl_grow(t, p->n_grown, &split, err);
    if (st == TRL_OK && split)
        st = trl_fit_leaves(t, grew, err);
    p->n_grown++;
    if (st != TRL_OK || *grew || t->o->no_intercept)
        return st;
    const int64_t off = t->total < 0 ? -t->total : t->total;
    if ((double)off <= INTERCEPT_OFF * t->lambda * t->scale)
        return TRL_OK;
    *grew = true;
    return trl_fit_intercept(t, err);
}

/* The current ensemble becomes a point if it has new trees; then lambda decays, or the path
 * ends. */
static trl_status next_point(trl_boost_path *p, trl_error *err)
{
    const trl_boost_options *o = p->t.o;
    const double lambda = p->t.lambda * o->decay;
    bool stop = false;
    if (!p->n_points || p->point[p->n_points - 1].trees < p->t.trees.n_trees) {
        const trl_status st = add_point(p, err);
        if (st != TRL_OK)
            return st;
        stop = tell(p, true);
    }
    p->done = stop || lambda < o->lambda_end * p->first_lambda ||
              (o->trees && p->t.trees.n_trees >= o->trees) ||
              (p->held_out && o->patience && p->n_points - 1 - p->best >= o->patience);
    if (!p->done)
        trl_trainer_set_lambda(&p->t, lambda);
    return TRL_OK;
}

/* From the odds: the intercept, and lambda where nothing can be split. */
static trl_status start(trl_boost_path *p, trl_error *err)
{
    trl_trainer_weigh(&p->t);
    trl_status st = p->t.o->no_intercept ? TRL_OK : trl_fit_intercept(&p->t, err);
    if (st != TRL_OK)
        return st;
    p->first_lambda = trl_trainer_largest_gain(&p->t);
    trl_trainer_set_lambda(&p->t, p->first_lambda);
    if (!(p->first_lambda > 0.0))
        p->done = true; /* no feature is informative */
    return p->done ? add_point(p, err) : next_point(p, err);
}

static trl_status climb(trl_boost_path *p, trl_error *err)
{
    const trl_boost_options *o = p->t.o;
    trl_status st = TRL_OK;
    while (st == TRL_OK && !p->done) {
        bool grew;
        st = step(p, &grew, err);
        const bool full = o->trees && p->t.trees.n_trees >= o->trees;
        if (st == TRL_OK && (!grew || full || tell(p, false)))
            st = next_point(p, err);
        if (st == TRL_OK && grew && p->checkpoint[0] && !p->done &&
            p->t.trees.n_trees % o->checkpoint_every == 0)
            st = trl_boost_checkpoint_write(p, err);
    }
    if (st == TRL_OK && p->checkpoint[0])
        st = trl_boost_checkpoint_write(p, err);
    return st;
}

trl_status trl_boost_path_run(trl_boost_path *p, trl_error *err)
{
    bool found = false;
    p->started = trl_boost_clock();
    trl_status st = init_held_out(p, p->t.column, err);
    if (st == TRL_OK && p->checkpoint[0])
        p->fingerprint = trl_boost_fingerprint(p);
    if (st == TRL_OK && p->checkpoint[0] && p->t.o->resume)
        st = trl_boost_checkpoint_read(p, &found, err);
    if (st == TRL_OK && !found)
        st = start(p, err);
    return st == TRL_OK ? climb(p, err) : st;
}
