/* optimizers.c -- the table of optimisers and how options reach them. */
/* SPDX-License-Identifier: MIT */
#include "train/optimizers.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "train/aggressive.h"
#include "train/handover.h"
#include "train/sag.h"
#include "train/scaled_values.h"
#include "train/scaling.h"
#include "train/sdca.h"
#include "train/sgd.h"
#include "train/table_examples.h"

static trl_descent descent_of(const trl_fit *fit, double *x, trl_ending *ending)
{
    return (trl_descent){fit->pool, fit->watcher, fit->state, fit->state_size, x, ending};
}

/* ---- options to each one's own --------------------------------------------------------------- */

static trl_status run_lbfgs(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err)
{
    const trl_descent how = descent_of(fit, x, ending);
    const trl_train_options *o = fit->o;
    const trl_lbfgs_options lo = {.memory = (size_t)o->memory,
                                  .c1 = o->c1,
                                  .max_iter = (size_t)o->max_iter,
                                  .epsilon = o->epsilon,
                                  .period = (size_t)o->period,
                                  .delta = o->delta,
                                  .before = fit->before};
    trl_batch b;
    double *scale = NULL;
    trl_status st = trl_batch_init(&b, fit->learner, o->c2, fit->pool, err);
    if (st == TRL_OK && fit->learner->design)
        st = trl_scaling_of(fit->learner->design, o->c2, &scale, err);
    if (st == TRL_OK)
        st = trl_lbfgs_scaled(&b.f, &lo, scale, &how, err);
    trl_free(scale);
    trl_batch_fini(&b);
    return st;
}

static trl_status run_sag(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err)
{
    const trl_descent how = descent_of(fit, x, ending);
    const trl_train_options *o = fit->o;
    const trl_learner *l = fit->learner;
    trl_scaled_values s;
    trl_status st = trl_scaled_values_open(&s, l->design, o->c2, &how, err);
    const trl_sag_options so = {.c2 = o->c2,
                                .max_iter = o->max_iter,
                                .epsilon = o->epsilon,
                                .period = o->period < 3 ? o->period : 3,
                                .delta = o->delta,
                                .seed = o->seed,
                                .far = s.far};
    if (st == TRL_OK)
        st = trl_sag(s.d, l->task, &so, &s.how, err);
    trl_scaled_values_close(&s);
    return st;
}

static trl_status only_sdca(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err)
{
    const trl_descent how = descent_of(fit, x, ending);
    const trl_train_options *o = fit->o;
    const trl_learner *l = fit->learner;
    trl_scaled_values s;
    trl_status st = trl_scaled_values_open(&s, l->design, o->c2, &how, err);
    const trl_sdca_options so = {.c2 = o->c2,
                                 .max_iter = o->max_iter,
                                 .epsilon = o->epsilon,
                                 .period = o->period < 3 ? o->period : 3,
                                 .delta = o->delta,
                                 .seed = o->seed,
                                 .far = s.far};
    if (st == TRL_OK)
        st = trl_sdca(s.d, l->task, &so, &s.how, err);
    trl_scaled_values_close(&s);
    return st;
}

/* Passes after which L-BFGS goes on: so many cost as much as all of its iterations. */
#define MANY 60

static trl_status run_sdca(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err)
{
    const trl_handover h = {only_sdca, run_lbfgs, MANY, .sure = false};
    return trl_handover_run(&h, fit, x, ending, err);
}

static trl_status by_tables(const trl_fit *fit, trl_sgd_options so, double *x, trl_ending *ending,
                            trl_error *err)
{
    const trl_descent how = descent_of(fit, x, ending);
    const trl_train_options *o = fit->o;
    const trl_learner *l = fit->learner;
    so.c2 = o->c2;
    so.eta = o->eta;
    so.batch = o->batch ? o->batch : so.batch;
    so.max_iter = o->max_iter ? o->max_iter : so.max_iter;
    so.delta = o->delta;
    so.seed = o->seed;
    trl_scaled_values s;
    trl_status st = trl_scaled_values_open(&s, l->design, so.perceptron ? 0.0 : o->c2, &how, err);
    so.far = s.far;
    if (st == TRL_OK)
        st = trl_sgd(s.d, l->task, &so, &s.how, err);
    trl_scaled_values_close(&s);
    return st;
}

/* Examples made of tables, whose values are scaled. */
static trl_status by_made_examples(const trl_fit *fit, trl_sparse_options so,
                                   const trl_descent *how, trl_error *err)
{
    trl_learner learner = *fit->learner;
    trl_table_examples *made = NULL;
    trl_scaled_values s;
    trl_status st = trl_scaled_values_open(&s, learner.design, so.c2, how, err);
    learner.design = s.d;
    so.scale = s.far ? s.far->p : NULL;
    if (st == TRL_OK)
        st = trl_table_examples_new(&learner, fit->pool, &made, err);
    if (st == TRL_OK)
        st = trl_sparse_train(trl_table_examples_task(made), &so, &s.how, err);
    trl_table_examples_free(made);
    trl_scaled_values_close(&s);
    return st;
}

static trl_status by_examples(const trl_fit *fit, bool adaptive, uint64_t passes, double *x,
                              trl_ending *ending, trl_error *err)
{
    const trl_descent how = descent_of(fit, x, ending);
    const trl_train_options *o = fit->o;
    /* of a perceptron only the ratio to the penalty matters (docs/parser.md) */
    const double usual = adaptive && !fit->learner->smooth ? 1.0 : 0.1;
    const trl_sparse_options so = {.adaptive = adaptive,
                                   .averaged = adaptive,
                                   .c2 = o->c2,
                                   .eta = o->eta > 0.0 ? o->eta : usual,
                                   .batch = o->batch ? o->batch : 15,
                                   .max_iter = passes,
                                   .period = o->max_iter ? 0 : 3,
                                   .delta = 0.005,
                                   .seed = o->seed};
    const trl_sparse_task *examples = fit->learner->examples;
    return examples ? trl_sparse_train(examples, &so, &how, err)
                    : by_made_examples(fit, so, &how, err);
}

static uint64_t adagrad_passes(const trl_fit *fit)
{
    const uint64_t usual = fit->learner->passes ? fit->learner->passes : 12;
    return fit->o->max_iter ? fit->o->max_iter : usual;
}

static trl_status run_adagrad(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err)
{
    return by_examples(fit, true, adagrad_passes(fit), x, ending, err);
}

static uint64_t sgd_passes(const trl_fit *fit)
{
    return fit->o->max_iter ? fit->o->max_iter : fit->learner->task ? 0 : 30;
}

static trl_status run_sgd(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err)
{
    if (!fit->learner->task)
        return by_examples(fit, false, sgd_passes(fit), x, ending, err);
    const trl_sgd_options so = {.batch = 15, .max_iter = 50, .period = fit->o->period};
    return by_tables(fit, so, x, ending, err);
}

static trl_status run_asgd(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err)
{
    const trl_sgd_options so = {
        .batch = 1, .averaged = true, .max_iter = 50, .period = fit->o->period};
    return by_tables(fit, so, x, ending, err);
}

/* Passes of asgd before OWL-QN; six instead save it three iterations, which cost less. */
#define BEFORE_OWLQN 3

static trl_status run_asgd_owlqn(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err)
{
    const trl_handover h = {run_asgd, run_lbfgs, BEFORE_OWLQN, .sure = true};
    return trl_handover_run(&h, fit, x, ending, err);
}

static trl_status run_perceptron(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err)
{
    const trl_sgd_options so = {.batch = 1, .averaged = true, .perceptron = true, .max_iter = 20};
    return by_tables(fit, so, x, ending, err);
}

#define AGGRESSIVE_PASSES 100

static uint64_t aggressive_passes(const trl_fit *fit)
{
    return fit->o->max_iter ? fit->o->max_iter : AGGRESSIVE_PASSES;
}

static trl_status run_aggressive(const trl_fit *fit, bool arow, double *x, trl_ending *ending,
                                 trl_error *err)
{
    const trl_descent how = descent_of(fit, x, ending);
    const trl_train_options *o = fit->o;
    const trl_aggressive_options ao = {.arow = arow,
                                       .type = o->pa_type,
                                       .c = o->pa_c,
                                       .flat = !o->error_sensitive,
                                       .last = !o->averaging,
                                       .variance = o->variance,
                                       .gamma = o->gamma,
                                       .max_iter = aggressive_passes(fit),
                                       .epsilon = o->epsilon,
                                       .seed = o->seed};
    trl_table_examples *made = NULL;
    trl_status st = trl_table_examples_new(fit->learner, fit->pool, &made, err);
    if (st == TRL_OK)
        st = trl_aggressive(made, &ao, &how, err);
    trl_table_examples_free(made);
    return st;
}

static trl_status run_pa(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err)
{
    return run_aggressive(fit, false, x, ending, err);
}

static trl_status run_arow(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err)
{
    return run_aggressive(fit, true, x, ending, err);
}

static trl_status run_dual(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err)
{
    const trl_learner *l = fit->learner;
    const trl_descent how = descent_of(fit, x, ending);
    return l->dual(l->self, fit->o, &how, err);
}

/* The learner's own steps; the session has given it its state. */
static trl_status run_steps(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err)
{
    const trl_learner *l = fit->learner;
    const trl_watcher *w = fit->watcher;
    trl_iteration it = {.last = false};
    trl_status st = TRL_OK;
    for (bool stop = false; st == TRL_OK && !stop && !it.last;) {
        it = (trl_iteration){.objective = NAN, .gradient = NAN, .x = x};
        st = l->steps->step(l->self, &it, err);
        if (st == TRL_OK)
            st = w->watch(w->self, &it, l->steps->save, l->self, &stop, err);
    }
    *ending = it.last ? it.ending : TRL_END_STOPPED;
    return st;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define TABLES (TRL_KIND_CHAIN | TRL_KIND_GRAPH)
#define ALL (TRL_KIND_CHAIN | TRL_KIND_TREE | TRL_KIND_GRAPH)

static const trl_optimizer optimizers[] = {
    {.name = "lbfgs",
     .what = "limited-memory BFGS; with 'c1' it is OWL-QN",
     .when = "few iterations over all the data, every core used, to the last digits",
     .kinds = ALL,
     .way = TRL_BY_WHOLE,
     .smooth = true,
     .takes_l1 = true,
     .whole_corpus = true,
     .starts = true,
     .threads = true,
     .scales = true,
     .leaves_last = true,
     .run = run_lbfgs},
    {.name = "owlqn",
     .what = "L-BFGS for an L1 penalty ('c1'), which makes most weights 0",
     .when = "small models",
     .kinds = ALL,
     .way = TRL_BY_WHOLE,
     .smooth = true,
     .takes_l1 = true,
     .needs_l1 = true,
     .whole_corpus = true,
     .starts = true,
     .threads = true,
     .scales = true,
     .leaves_last = true,
     .run = run_lbfgs},
    {.name = "sag",
     .what = "stochastic average gradient",
     .when = "for comparison: sdca is faster where c2 is above 0",
     .kinds = TABLES,
     .way = TRL_BY_TABLES,
     .keeps_examples = true,
     .smooth = true,
     .compares_close = true,
     .starts = true,
     .scales = true,
     .run = run_sag},
    {.name = "sdca",
     .what = "stochastic dual coordinate ascent",
     .when = "close to the optimum after a few passes on one core, with a penalty c2 near 1; "
             "lbfgs goes on where it gets no further",
     .kinds = TABLES,
     .way = TRL_BY_TABLES,
     .keeps_examples = true,
     .smooth = true,
     .needs_c2 = true,
     .plain_labels = true,
     .scales = true,
     .run = run_sdca},
    {.name = "sgd",
     .alias = "l2sgd",
     .what = "stochastic gradient descent with a falling gain",
     .when = "a quick look at large data",
     .kinds = ALL,
     .way = TRL_BY_TABLES,
     .has_gain = true,
     .has_batch = true,
     .starts = true,
     .threads = true,
     .scales = true,
     .run = run_sgd,
     .passes = sgd_passes},
    {.name = "asgd",
     .what = "stochastic gradient descent, weights averaged over steps",
     .when = "good scores after few passes, when the optimum does not matter",
     .kinds = TABLES,
     .way = TRL_BY_TABLES,
     .has_gain = true,
     .has_batch = true,
     .starts = true,
     .scales = true,
     .run = run_asgd},
    {.name = "asgd-owlqn",
     .what = "three passes of asgd, then OWL-QN ('c1') from there",
     .when = "small models, in half the time of OWL-QN alone",
     .kinds = TABLES,
     .way = TRL_BY_TABLES,
     .smooth = true,
     .takes_l1 = true,
     .needs_l1 = true,
     .first = "asgd",
     .then = "owlqn",
     .has_gain = true,
     .has_batch = true,
     .starts = true,
     .threads = true,
     .scales = true,
     .run = run_asgd_owlqn},
    {.name = "adagrad",
     .what = "stochastic gradients, each weight with a gain of its own, averaged",
     .when = "parsers: many features that are seen rarely",
     .kinds = ALL,
     .way = TRL_BY_EXAMPLES,
     .has_gain = true,
     .has_batch = true,
     .starts = true,
     .threads = true,
     .scales = true,
     .run = run_adagrad,
     .passes = adagrad_passes},
    {.name = "perceptron",
     .alias = "ap",
     .what = "the perceptron's steps, averaged",
     .when = "the objective perceptron on chains and graphs",
     .kinds = TABLES,
     .way = TRL_BY_TABLES,
     .mistakes = true,
     .has_batch = true,
     .starts = true,
     .scales = true,
     .run = run_perceptron},
    {.name = "pa",
     .alias = "passive-aggressive",
     .what = "passive-aggressive steps: as small as correct a mistake by its cost",
     .when = "the objective perceptron on chains; CRFsuite's pa",
     .kinds = TRL_KIND_CHAIN,
     .way = TRL_BY_TABLES,
     .mistakes = true,
     .starts = true,
     .whole_labels = true,
     .run = run_pa,
     .passes = aggressive_passes},
    {.name = "arow",
     .what = "adaptive regularisation of weights: such steps, smaller for weights seen often",
     .when = "the objective perceptron on chains; CRFsuite's arow",
     .kinds = TRL_KIND_CHAIN,
     .way = TRL_BY_TABLES,
     .mistakes = true,
     .starts = true,
     .whole_labels = true,
     .run = run_arow,
     .passes = aggressive_passes},
    {.name = "dual",
     .what = "coordinate ascent in the dual of M-estimation",
     .when = "m-estimation of chains with a penalty c2",
     .kinds = TRL_KIND_CHAIN,
     .way = TRL_BY_DUAL,
     .smooth = true,
     .needs_c2 = true,
     .starts = true,
     .run = run_dual},
    {.name = "steps",
     .what = "the learner's own steps",
     .when = "boosting, which has trees in place of weights",
     .way = TRL_BY_STEPS,
     .threads = true,
     .run = run_steps},
};

const trl_optimizer *trl_optimizer_at(size_t k)
{
    return k < sizeof optimizers / sizeof *optimizers ? &optimizers[k] : NULL;
}

const trl_optimizer *trl_optimizer_find(const char *name)
{
    for (size_t k = 0; trl_optimizer_at(k); k++)
        if (strcmp(name, optimizers[k].name) == 0 ||
            (optimizers[k].alias && strcmp(name, optimizers[k].alias) == 0))
            return &optimizers[k];
    return NULL;
}

const trl_optimizer *trl_optimizer_steps(void)
{
    size_t k = 0;
    while (optimizers[k].way != TRL_BY_STEPS)
        k++;
    return &optimizers[k];
}

uint64_t trl_optimizer_passes(const trl_optimizer *p, const trl_fit *fit)
{
    return p->passes ? p->passes(fit) : fit->o->max_iter;
}

bool trl_optimizer_info(size_t k, trl_method *out)
{
    const trl_optimizer *p = trl_optimizer_at(k);
    if (!p || !p->kinds || !out) /* the last row is of no kind that trl_train takes */
        return false;
    const unsigned from_files = TRL_KIND_CHAIN | TRL_KIND_TREE; /* what trl_train takes */
    *out = (trl_method){p->name, p->alias, p->what, p->when, p->kinds & from_files};
    return true;
}
