/* path.c -- lambda from the value at which nothing is worth its penalty down to the best one on
 * held-out data.
 */
/* SPDX-License-Identifier: MIT */
#include "train_boost/path.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "train/session.h"

#define INTERCEPT_OFF                                                                              \
    0.01              /* lambdas that the sum of all weights may be off before it is recomputed */
#define FINEST 0x1p22 /* units of weight (trainer.h) below which a lambda is lost in rounding */

/* One thread: its processor time, which others at work do not change. */
static double now(const trl_boost_path *p)
{
    return p->pool ? trl_clock() : trl_thread_clock();
}

double trl_boost_path_seconds(const trl_boost_path *p)
{
    return p->seconds_before + now(p) - p->started;
}

void trl_boost_path_fini(trl_boost_path *p)
{
    trl_trainer_fini(&p->t);
    trl_pool_free(p->pool);
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
    const trl_status st = trl_boost_apply(&t, p->held_out, p->t.pool, p->held_h, err);
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

/* Appends the point that has been reached. */
static trl_status add_point(trl_boost_path *p, trl_error *err)
{
    trl_boost_point *grown = trl_reserve(p->point, &p->point_cap, p->n_points + 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    p->point = grown;
    trl_boost_point x = {.lambda = p->t.lambda,
                         .loss = trl_trainer_loss(&p->t),
                         .trees = p->t.trees.n_trees,
                         .seconds = trl_boost_path_seconds(p)};
    trl_status st = held_out_loss(p, &x.held_out, err);
    if (st == TRL_OK)
        st = count_terms(p, &x, err);
    if (st != TRL_OK)
        return st;
    p->point[p->n_points++] = x;
    if (!p->held_out)
        p->best = p->n_points - 1;
    return TRL_OK;
}

/* The trees so far become a point, unless there is no new one among them. */
static trl_status end_point(trl_boost_path *p, trl_error *err)
{
    if (p->n_points && p->point[p->n_points - 1].trees == p->t.trees.n_trees)
        return TRL_OK;
    return add_point(p, err);
}

static int64_t off_balance(const trl_trainer *t)
{
    return t->total < 0 ? -t->total : t->total;
}

/* One more tree.  An intercept that does not bring the weights closer to balance is as good as it
 * can be. */
static trl_status grow(trl_boost_path *p, bool *grew, trl_error *err)
{
    trl_trainer *t = &p->t;
    bool split = false;
    *grew = false;
    trl_status st = trl_grow(t, p->n_grown, &split, err);
    if (st == TRL_ECANCEL)
        return st;
    if (st == TRL_OK && split)
        st = trl_fit_leaves(t, grew, err);
    p->n_grown++;
    if (st != TRL_OK || *grew || t->o->no_intercept)
        return st;
    const int64_t off = off_balance(t);
    if ((double)off <= INTERCEPT_OFF * t->lambda * t->scale)
        return TRL_OK;
    st = trl_fit_intercept(t, err);
    *grew = off_balance(t) < off / 2;
    return st;
}

/* ---- as a learner ---------------------------------------------------------------------------- */

static bool is_full(const trl_boost_path *p)
{
    return p->t.o->trees && p->t.trees.n_trees >= p->t.o->trees;
}

/* Ends the point; then lambda decays, or the path ends. */
static trl_status next_lambda(trl_boost_path *p, trl_iteration *it, trl_error *err)
{
    const trl_boost_options *o = p->t.o;
    const double lambda = p->t.lambda * o->decay;
    const trl_status st = end_point(p, err);
    it->last = lambda < o->lambda_end * p->first_lambda || lambda < o->lambda_least ||
               lambda * p->t.scale < FINEST || is_full(p);
    it->ending = is_full(p) ? TRL_END_MAX_ITER : TRL_END_CONVERGED;
    if (st == TRL_OK && !it->last)
        trl_trainer_set_lambda(&p->t, lambda);
    return st;
}

/* The first step: the intercept, and lambda where nothing can be split. */
static trl_status start(trl_boost_path *p, trl_iteration *it, trl_error *err)
{
    trl_status st = p->t.o->no_intercept ? TRL_OK : trl_fit_intercept(&p->t, err);
    if (st != TRL_OK)
        return st;
    p->first_lambda = trl_trainer_largest_gain(&p->t);
    trl_trainer_set_lambda(&p->t, p->first_lambda);
    if (p->first_lambda * p->t.scale >= FINEST)
        return next_lambda(p, it, err);
    it->last = true; /* no feature is informative */
    it->ending = TRL_END_CONVERGED;
    return add_point(p, err);
}

static trl_status begin(void *self, trl_error *err)
{
    (void)err;
    trl_boost_path *p = self;
    trl_trainer_weigh(&p->t);
    return TRL_OK;
}

/* Threads that have no classifier left help those that go on: between two trees. */
static void get_help(trl_boost_path *p)
{
    const size_t left = atomic_load_explicit(&p->helpers->left, memory_order_relaxed);
    const size_t share = left ? p->helpers->threads / left : 1;
    if (share <= (p->pool ? trl_pool_threads(p->pool) : 1) || share <= p->asked)
        return;
    trl_pool *pool = trl_pool_new(share);
    p->asked = share; /* whatever comes of it: it goes without */
    if (!pool)
        return;
    trl_pool_stay_awake(pool);
    if (!trl_trainer_share(&p->t, pool)) {
        trl_pool_free(pool);
        return;
    }
    const double seconds = trl_boost_path_seconds(p);
    trl_pool_free(p->pool);
    p->pool = pool;
    p->seconds_before = seconds;
    p->started = now(p);
}

static trl_status step(void *self, trl_iteration *it, trl_error *err)
{
    trl_boost_path *p = self;
    bool grew = false;
    get_help(p);
    trl_status st = p->steps ? grow(p, &grew, err) : start(p, it, err);
    if (st == TRL_OK && p->steps && (!grew || is_full(p)))
        st = next_lambda(p, it, err);
    if (st != TRL_OK)
        return st;
    it->number = ++p->steps;
    it->objective = p->point[p->n_points - 1].objective;
    return TRL_OK;
}

/* Of the point that has just ended. */
static trl_status score(void *self, const double *x, double *score, trl_error *err)
{
    (void)x;
    (void)err;
    trl_boost_path *p = self;
    *score = p->scored < p->n_points ? -p->point[p->n_points - 1].held_out : (double)NAN;
    p->scored = p->n_points;
    return TRL_OK;
}

static void mark(void *self)
{
    trl_boost_path *p = self;
    p->best = p->n_points - 1;
}

static trl_status end(void *self, trl_error *err)
{
    return end_point(self, err);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* What the session reports, in the words of boosting. */
static bool tell(void *ctx, const trl_progress *now)
{
    trl_boost_path *p = ctx;
    const bool point = !now->note && p->told < p->n_points;
    const trl_boost_point *last = point ? &p->point[p->n_points - 1] : NULL;
    const trl_boost_progress boost = {.classifier = p->name,
                                      .number = p->t.column,
                                      .classifiers = p->classifiers,
                                      .point = last,
                                      .trees = p->t.trees.n_trees,
                                      .lambda = last ? last->lambda : p->t.lambda,
                                      .seconds = trl_boost_path_seconds(p),
                                      .note = now->note};
    if (point)
        p->told = p->n_points;
    return p->progress && p->progress(p->progress_ctx, &boost);
}

static trl_train_options session_options(trl_boost_path *p)
{
    const trl_boost_options *o = p->t.o;
    const bool found = p->checkpoint[0] && access(p->checkpoint, F_OK) == 0;
    return (trl_train_options){.patience = p->held_out ? o->patience : 0,
                               .checkpoint = p->checkpoint[0] ? p->checkpoint : NULL,
                               .checkpoint_every = o->checkpoint_every,
                               .resume = o->resume && found,
                               .progress = tell,
                               .progress_ctx = p};
}

trl_status trl_boost_path_run(trl_boost_path *p, trl_error *err)
{
    static const trl_steps steps = {
        begin, step, mark, end, trl_boost_state_save, trl_boost_state_load};
    const trl_learner learner = {
        .self = p, .bottom = -HUGE_VAL, .steps = &steps, .score = p->held_out ? score : NULL};
    double none[64] = {0};
    trl_train_result result = {0};
    p->started = now(p);
    p->cancel = (trl_cancel){p->t.o->cancelled, p->t.o->cancelled_ctx, false};
    p->t.cancel = &p->cancel;
    const trl_status st = init_held_out(p, p->t.column, err);
    if (st != TRL_OK)
        return st;
    const trl_train_options o = session_options(p);
    const trl_session s = {.o = &o,
                           .optimizer = trl_optimizer_steps(),
                           .learner = &learner,
                           .cancel = &p->cancel,
                           .fingerprint = o.checkpoint ? trl_boost_fingerprint(p) : 0,
                           .started = trl_clock()};
    return trl_session_run(&s, none, &result, err);
}
