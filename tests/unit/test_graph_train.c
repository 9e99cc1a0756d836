/* test_graph_train.c -- factorial graphs under the contract of training: every objective by every
 * optimiser that goes with it, any number of threads, checkpoints, inference that does not settle.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "train/optimizers.h"
#include "graph_training.h"
#include "two_layers.h"

static bool keep_messages; /* of the problems opened below */

static void problem_open(problem *p, const char *objective, const char *optimizer, size_t threads,
                         const char *checkpoint)
{
    trl_error err;
    trl_infer_options infer = trl_infer_options_default();
    infer.damping = 0.2;
    p->o = trl_train_options_default();
    p->o.objective = objective;
    p->o.optimizer = optimizer;
    p->o.threads = threads;
    p->o.c2 = 0.1, p->o.max_iter = 12, p->o.delta = 0.0;
    p->o.checkpoint = checkpoint;
    p->o.keep_messages = keep_messages;
    p->o.c1 = optimizer && trl_optimizer_find(optimizer)->needs_l1 ? 0.05 : 0.0;
    make_corpus(&p->corpus, 5, false);
    assert_ok(trl_graph_training_init(&p->t, &p->corpus, &p->o, &infer, &err));
}

/* ---- every objective by every optimiser
 * ---------------------------------------------------------- */

static bool stop_at_three(void *ctx, const trl_progress *p)
{
    (void)ctx;
    return p->iteration == 3;
}

static double *trained(const char *objective, const trl_optimizer *by, size_t threads, bool stop,
                       bool resume)
{
    problem p;
    trl_error err;
    trl_train_result r;
    problem_open(&p, objective, by->name, threads, "graph.ck");
    p.o.resume = resume;
    p.o.progress = stop ? stop_at_three : NULL;
    assert_ok(trl_graph_training_run(&p.t, &r, &err));
    assert_int_equal(r.stopped, stop);
    double *w = malloc(p.t.learner.n_weights * sizeof *w);
    assert_non_null(w);
    memcpy(w, p.t.w, p.t.learner.n_weights * sizeof *w);
    problem_close(&p);
    return w;
}

static size_t n_weights(void)
{
    problem p;
    problem_open(&p, "piecewise", "lbfgs", 1, NULL);
    const size_t n = p.t.learner.n_weights;
    problem_close(&p);
    return n;
}

static bool goes(const char *objective, const char *optimizer, double c1)
{
    const trl_optimizer *chosen;
    trl_train_options o = trl_train_options_default();
    o.optimizer = optimizer, o.c1 = c1, o.c2 = 0.1;
    return trl_optimizer_choose(&o, trl_objective_find(objective), TRL_KIND_GRAPH, &chosen, NULL) ==
           TRL_OK;
}

/* Every objective by every optimiser: bits with other threads and after a checkpoint.  How many. */
static size_t compare_runs(bool messages_only)
{
    const size_t n = n_weights();
    size_t pairs = 0;
    for (size_t k = 0; trl_objective_at(k); k++)
        for (size_t i = 0; trl_optimizer_at(i); i++) {
            const trl_optimizer *by = trl_optimizer_at(i);
            const char *name = trl_objective_at(k)->name;
            if (!(trl_objective_at(k)->kinds & TRL_KIND_GRAPH) ||
                (messages_only && strcmp(name, "bethe") != 0 && strcmp(name, "trw") != 0) ||
                !goes(name, by->name, by->needs_l1 ? 0.05 : 0.0))
                continue;
            double *first = trained(name, by, 1, false, false);
            double *other = trained(name, by, 3, false, false);
            assert_memory_equal(first, other, n * sizeof *first);
            free(trained(name, by, 1, true, false));
            free(other);
            other = trained(name, by, 3, false, true);
            assert_memory_equal(first, other, n * sizeof *first);
            free(first);
            free(other);
            pairs++;
        }
    unlink("graph.ck");
    return pairs;
}

static void test_threads_and_checkpoints(void **state)
{
    (void)state;
    assert_true(compare_runs(false) > 40);
    assert_false(goes("bethe", "sdca", 0.0)); /* its terms are not concave */
    assert_true(goes("trw", "sdca", 0.0));
}

/* The same with kept messages; they lead to the same weights within the tolerance. */
static void test_kept_messages(void **state)
{
    (void)state;
    const trl_optimizer *by = trl_optimizer_find("sgd"); /* lbfgs rounds gradients */
    const size_t n = n_weights();
    double *anew = trained("bethe", by, 1, false, false), largest = 0.0;
    keep_messages = true;
    double *kept = trained("bethe", by, 1, false, false);
    assert_true(memcmp(anew, kept, n * sizeof *kept) != 0); /* the option does something */
    for (size_t k = 0; k < n; k++)
        largest = fmax(largest, fabs(anew[k] - kept[k]));
    assert_true(largest < 1e-5);
    free(anew);
    free(kept);
    assert_true(compare_runs(true) >= 10);
    keep_messages = false;
}

/* ---- what is learnt
 * ------------------------------------------------------------------------------ */

/* How many true labellings are not the best ones under the weights w. */
static size_t wrong(const double *w)
{
    problem p;
    trl_error err;
    trl_arena arena = {0};
    trl_tables shared, scores, adjoint;
    size_t n = 0;
    problem_open(&p, "perceptron", NULL, 1, NULL);
    const trl_design *d = &p.t.design;
    assert_ok(trl_shared_new(d, &shared, &err));
    trl_gather_shared(d, w, shared.shared);
    for (size_t e = 0; e < EXAMPLES; e++) {
        const size_t from = (size_t)d->first[e], rows = (size_t)d->first[e + 1] - from;
        double value;
        trl_arena_reset(&arena);
        assert_true(trl_tables_get(d, rows, &arena, &scores));
        assert_true(trl_tables_get(d, rows, &arena, &adjoint));
        for (size_t f = 0; f < d->n_families; f++)
            scores.shared[f] = shared.shared[f];
        trl_gather(d, w, from, &scores);
        assert_ok(p.t.view.evaluate(p.t.view.self, &(trl_example){e, 0, &arena, 0}, &scores,
                                    &adjoint, &value, &err));
        n += value < 0.0;
    }
    trl_shared_free(&shared);
    trl_arena_fini(&arena);
    problem_close(&p);
    return n;
}

/* - log likelihood under the weights w. */
static double surprise(const double *w)
{
    problem p;
    trl_error err;
    double F;
    problem_open(&p, "likelihood", NULL, 1, NULL);
    assert_ok(
        trl_objective_value(&p.t.design, &p.t.view, p.t.pool, &(trl_weights_at){w, 0.0}, &F, &err));
    problem_close(&p);
    return F;
}

static void test_learns(void **state)
{
    (void)state;
    const size_t n = n_weights();
    double *zero = calloc(n + 64, sizeof *zero), *w = calloc(n + 64, sizeof *w), best = 0.0;
    const double before = surprise(zero);
    for (size_t k = 0; trl_objective_at(k); k++) {
        const trl_objective *o = trl_objective_at(k);
        problem p;
        trl_error err;
        trl_train_result r;
        if (!(o->kinds & TRL_KIND_GRAPH))
            continue;
        problem_open(&p, o->name, NULL, 1, NULL);
        p.o.c2 = 0.01, p.o.max_iter = 60;
        assert_ok(trl_graph_training_run(&p.t, &r, &err));
        memcpy(w, p.t.w, n * sizeof *w);
        problem_close(&p);
        const double after = surprise(w);
        best = k == 0 ? after : best; /* the likelihood's own */
        if (wrong(w) > EXAMPLES * 3 / 4 || (o->smooth && !(after < 0.7 * before)) ||
            after < best - 0.5)
            fail_msg("%s: %zu wrong, - log likelihood %g, %g by the likelihood, %g before", o->name,
                     wrong(w), after, best, before);
    }
    free(zero);
    free(w);
}

/* Mistakes in any template count, not only in the first: here it has nothing to learn. */
static void test_perceptron_sees_every_template(void **state)
{
    (void)state;
    trl_error err;
    trl_train_result r;
    trl_graph_corpus c;
    trl_graph_training t;
    const trl_infer_options infer = trl_infer_options_default();
    trl_train_options o = trl_train_options_default();
    o.objective = "perceptron", o.threads = 1, o.c2 = 0.0, o.max_iter = 10;
    assert_ok(trl_graph_corpus_init(&c, (size_t[]){2, 3}, 2, &err));
    assert_ok(trl_corpus_set_constant(&c.corpus, 0, &err));
    for (uint32_t e = 0; e < 9; e++) {
        const uint32_t y[2] = {0, e % 3};
        const trl_attr attr = {{word[e % 3], 3}, 1.0};
        trl_graph *g = NULL;
        assert_ok(trl_graph_new(&g, &err));
        for (uint32_t v = 0; v < 2; v++) {
            assert_ok(trl_graph_add_variable(g, 2 + v, &err));
            assert_ok(trl_graph_add_table(g, 2 + v, NULL, &err));
            assert_ok(trl_graph_add_factor(g, 1, &v, v, &err));
        }
        assert_ok(trl_graph_corpus_add(&c,
                                       &(trl_graph_case){.graph = g,
                                                         .family = (uint32_t[]){0, 1},
                                                         .begin = (size_t[]){0, 0, 1},
                                                         .attr = &attr,
                                                         .y = y,
                                                         .weight = 1.0},
                                       &err));
    }
    assert_ok(trl_graph_training_init(&t, &c, &o, &infer, &err));
    assert_ok(trl_graph_training_run(&t, &r, &err));
    size_t positive = 0;
    for (size_t k = 0; k < t.learner.n_weights; k++)
        positive += t.w[k] > 0.0;
    assert_true(positive >= 2); /* of three words, the first label is what ties give */
    trl_graph_training_fini(&t);
    trl_graph_corpus_fini(&c);
}

/* ---- messages that do not settle
 * ----------------------------------------------------------------- */

typedef struct listener {
    uint64_t iterations, notes;
    char last[200];
} listener;

static bool listen(void *ctx, const trl_progress *p)
{
    listener *l = ctx;
    l->iterations++;
    if (p->note) {
        l->notes++;
        snprintf(l->last, sizeof l->last, "%s", p->note);
    }
    return false;
}

static void test_unsettled_runs_are_counted(void **state)
{
    (void)state;
    for (int round = 0; round < 4;
         round++) { /* bethe, trw; with few updates, or as many as it takes */
        problem p = {0};
        listener l = {0};
        trl_error err;
        trl_train_result r;
        trl_infer_options infer = trl_infer_options_default();
        infer.max_updates = round < 2 ? 3 : 0;
        infer.damping = 0.3;
        p.o = trl_train_options_default();
        p.o.objective = round % 2 ? "trw" : "bethe";
        p.o.threads = 1, p.o.c2 = 0.5, p.o.max_iter = 10;
        p.o.progress = listen, p.o.progress_ctx = &l;
        make_corpus(&p.corpus, 5, false);
        assert_ok(trl_graph_training_init(&p.t, &p.corpus, &p.o, &infer, &err));
        assert_ok(trl_graph_training_run(&p.t, &r, &err)); /* the optimiser survives them */
        assert_true(l.iterations > 0 && p.t.runs >= EXAMPLES);
        if (round < 2) {
            assert_int_equal(l.notes, l.iterations);
            assert_non_null(strstr(l.last, "did not converge"));
            assert_true(p.t.unsettled > 0 && p.t.unsettled <= p.t.runs);
        } else {
            assert_int_equal(l.notes, 0);
            assert_int_equal(p.t.unsettled, 0);
        }
        problem_close(&p);
    }
}

/* ---- refusals
 * ------------------------------------------------------------------------------------ */

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *objective, *optimizer;
        double max_cells;
        const char *says;
    } bad[] = {{"memm", NULL, 1e6, "objective 'memm' of graphs is not known: use likelihood"},
               {"nothing", NULL, 1e6, "of graphs is not known"},
               {"likelihood", "dual", 1e6, "optimizer 'dual' of graphs is not known"},
               {"bethe", "sag", 1e6, "does not go with the objective bethe"},
               {"likelihood", NULL, 8, "cells"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        problem p = {0};
        trl_error err;
        trl_infer_options infer = trl_infer_options_default();
        infer.max_cells = bad[k].max_cells;
        p.o = trl_train_options_default();
        p.o.objective = bad[k].objective, p.o.optimizer = bad[k].optimizer, p.o.c2 = 1.0;
        make_corpus(&p.corpus, 5, false);
        assert_int_equal(trl_graph_training_init(&p.t, &p.corpus, &p.o, &infer, &err), TRL_EINVAL);
        if (!strstr(err.msg, bad[k].says))
            fail_msg("case %zu says '%s'", k, err.msg);
        problem_close(&p);
    }
}

/* A checkpoint of other data does not fit. */
static void test_checkpoint_of_other_graphs(void **state)
{
    (void)state;
    problem p;
    trl_error err;
    trl_train_result r;
    free(trained("piecewise", trl_optimizer_find("lbfgs"), 1, true, false));
    const trl_infer_options infer = trl_infer_options_default();
    p.o = trl_train_options_default();
    p.o.objective = "piecewise", p.o.checkpoint = "graph.ck", p.o.resume = true, p.o.threads = 1,
    p.o.c2 = 1.0;
    make_corpus(&p.corpus, 6, false);
    assert_ok(trl_graph_training_init(&p.t, &p.corpus, &p.o, &infer, &err));
    assert_true(trl_graph_training_run(&p.t, &r, &err) != TRL_OK);
    problem_close(&p);
    unlink("graph.ck");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads_and_checkpoints),
                                       cmocka_unit_test(test_kept_messages),
                                       cmocka_unit_test(test_learns),
                                       cmocka_unit_test(test_perceptron_sees_every_template),
                                       cmocka_unit_test(test_unsettled_runs_are_counted),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_checkpoint_of_other_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
