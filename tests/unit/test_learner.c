/* test_learner.c -- a new structure under the contract of training (train/learner.h): independent
 * factors of three kinds and widths.  All it supplies is a task from scores to value and adjoint;
 * every optimiser of the table trains it, it is checkpointed, resumed and tuned. */
/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "base/rng.h"
#include "support.h"
#include "train/gradient.h"
#include "train/penalty_grid.h"

enum { EXAMPLES = 60, KINDS = 3, ROOM = 400 };
static const size_t width[KINDS] = {3, 2, 5};

typedef struct toy {
    trl_corpus corpus;
    trl_design design;
    trl_task task;
    trl_learner learner;
    trl_pool *pool;
} toy;

/* log p of a factor on its own; the adjoint is [gold] - p. */
static double factor(const double *s, size_t n, size_t gold, double *adjoint)
{
    double z = 0.0;
    for (size_t c = 0; c < n; c++)
        z += adjoint[c] = exp(s[c]);
    for (size_t c = 0; c < n; c++)
        adjoint[c] = (c == gold) - adjoint[c] / z;
    return s[gold] - log(z);
}

static trl_status evaluate(void *self, const trl_example *e, const trl_tables *scores,
                           trl_tables *adjoint, double *value, trl_error *err)
{
    const toy *t = self;
    (void)err;
    *value = 0.0;
    for (size_t f = 0; f < KINDS; f++) {
        const uint32_t *gold = t->corpus.family[f].gold + t->corpus.first[e->number];
        const size_t step = scores->step[f];
        memset(adjoint->row[f], 0, scores->n * step * sizeof(double));
        for (size_t r = 0, at = 0; r < scores->n && gold[r] != TRL_NO_ID; r++, at += step)
            *value += factor(scores->row[f] + at, width[f], gold[r], adjoint->row[f] + at);
    }
    return TRL_OK;
}

/* The smaller the loss, the higher the score. */
static trl_status score(void *self, const double *x, double *percent, trl_error *err)
{
    toy *t = self;
    const trl_weights_at at = {x, 0.0};
    const trl_status st = trl_objective_value(&t->design, &t->task, t->pool, &at, percent, err);
    *percent = -*percent;
    return st;
}

static void open_toy(toy *t, size_t threads)
{
    static const size_t begin[] = {0, 1, 2, 3, 4, 5};
    trl_error err;
    trl_rng rng = trl_rng_seed(7);
    *t = (toy){.pool = trl_pool_new(threads), .task = {.self = t, .evaluate = evaluate}};
    assert_ok(trl_corpus_init_families(&t->corpus, width, KINDS, &err));
    for (size_t e = 0; e < EXAMPLES; e++) {
        uint32_t gold[KINDS][5];
        trl_attr on[KINDS][5];
        trl_factors x[KINDS];
        for (size_t f = 0; f < KINDS; f++) {
            x[f] = (trl_factors){1 + (e + f) % 5, gold[f], begin, on[f]};
            for (size_t r = 0; r < 5; r++) {
                const size_t k = trl_rng_below(&rng, 4);
                on[f][r] = (trl_attr){{&"abcd"[k], 1}, k == 3 ? 2.0 : 1.0};
                gold[f][r] = (uint32_t)(k % width[f]) * (trl_rng_unit(&rng) < 0.7);
            }
        }
        assert_ok(trl_corpus_add_factors(&t->corpus, x, 1.0, &err));
    }
    assert_ok(trl_design_build(&t->design, &t->corpus, &(trl_design_options){0}, &err));
    const size_t n = (size_t)t->design.n_weights;
    t->learner = (trl_learner){
        .self = t, .n_weights = n, .smooth = true, .design = &t->design, .task = &t->task};
    t->learner.bottom = -HUGE_VAL;
}

static void close_toy(toy *t)
{
    trl_design_fini(&t->design);
    trl_corpus_fini(&t->corpus);
    trl_pool_free(t->pool);
}

/* Trains for so many iterations at most; returns the objective. */
static double train(const trl_optimizer *p, size_t threads, size_t most, bool resume, double *w)
{
    toy t;
    trl_error err;
    trl_train_result r;
    trl_train_options o = trl_train_options_default();
    o.c2 = 0.5, o.c1 = p->needs_l1 ? 0.1 : 0.0, o.max_iter = most, o.delta = 0.0, o.epsilon = 1e-9;
    o.checkpoint = "learner.ck", o.resume = resume;
    open_toy(&t, threads);
    const trl_session s = {.o = &o, .optimizer = p, .learner = &t.learner, .pool = t.pool};
    memset(w, 0, ROOM * sizeof *w);
    assert_ok(trl_session_run(&s, w, &r, &err));
    close_toy(&t);
    return r.objective;
}

static void test_every_optimizer(void **unused)
{
    (void)unused;
    static double first[ROOM], again[ROOM];
    const double optimum = train(trl_optimizer_find("lbfgs"), 1, 100, false, first);
    for (size_t k = 0; trl_optimizer_at(k); k++) {
        const trl_optimizer *p = trl_optimizer_at(k);
        if (p->way == TRL_BY_DUAL || p->way == TRL_BY_STEPS || p->mistakes)
            continue; /* it has weights, no dual, and a gradient */
        const double F = train(p, 1, 100, false, first);
        assert_true(p->needs_l1 || (F < 1.2 * optimum && F > optimum - 1e-6));
        train(p, 1, 3, false, again);
        train(p, 3, 100, true, again); /* resumed, with another number of threads */
        assert_memory_equal(first, again, sizeof first);
    }
    unlink("learner.ck");
}

static void test_tuned(void **unused)
{
    (void)unused;
    static const double c2[] = {10.0, 1.0, 0.01};
    double w[ROOM] = {0}, scores[3];
    size_t best;
    toy t;
    trl_error err;
    const trl_train_options o = trl_train_options_default();
    const trl_optimizer *p = trl_optimizer_find("sdca");
    open_toy(&t, 1);
    t.learner.score = score;
    const trl_session s = {.o = &o, .optimizer = p, .learner = &t.learner, .pool = t.pool};
    assert_ok(trl_penalty_grid(&s, &(trl_penalties){c2, 3}, w, scores, &best, &err));
    /* what is held out is what is trained on: the weaker the penalty, the better */
    assert_true(best == 2 && scores[0] < scores[1] && scores[1] < scores[2]);
    close_toy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_optimizer),
                                       cmocka_unit_test(test_tuned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
