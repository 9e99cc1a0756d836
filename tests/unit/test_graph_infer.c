/* test_graph_infer.c -- every method against enumeration, on small graphs of every shape. */
/* SPDX-License-Identifier: MIT */
#include "random_graph.h"

typedef struct answers {
    trl_infer_plan *plan;
    trl_infer_work *work;
    trl_infer_result r;
    trl_status st;
    trl_error err;
} answers;

static answers ask(const trl_graph *g, const trl_infer_options *o, const trl_infer_input *in,
                   bool best)
{
    answers a = {0};
    trl_error err = {0};
    assert_ok(trl_infer_plan_new(g, o, &a.plan, &err));
    assert_ok(trl_infer_work_new(&a.work, &err));
    a.st = best ? trl_infer_best(a.plan, in, a.work, &a.r, &a.err)
                : trl_infer_marginals(a.plan, in, a.work, &a.r, &a.err);
    return a;
}

static void answers_free(answers *a)
{
    trl_infer_plan_free(a->plan);
    trl_infer_work_free(a->work);
}

static trl_infer_options method(trl_infer_method m)
{
    trl_infer_options o = trl_infer_options_default();
    o.method = m;
    return o;
}

static graph_recipe recipe(trl_rng *rng, int round)
{
    static const double scales[] = {1.0, 3.0, 0.1, 30.0, 400.0};
    return (graph_recipe){.shape = (graph_shape)(round % SHAPES),
                          .scale = scales[trl_rng_below(rng, 5)],
                          .zeros = round % 3 == 0 ? 0.0 : 0.25,
                          .unary = trl_rng_below(rng, 4) > 0,
                          .shared = trl_rng_below(rng, 2)};
}

/* Some variables observed; NULL in one case of three. */
static uint32_t *random_evidence(trl_rng *rng, const trl_graph_view *g, bool *observed)
{
    uint32_t *y = malloc((g->n_variables + 1) * sizeof *y);
    assert_non_null(y);
    const size_t share = trl_rng_below(rng, 3);
    for (size_t v = 0; v < g->n_variables; v++) {
        observed[v] = trl_rng_below(rng, 4) < share;
        y[v] = observed[v] ? (uint32_t)trl_rng_below(rng, g->labels[v]) : TRL_UNOBSERVED;
    }
    return y;
}

static void same(size_t n, const double *got, const double *want, double tol, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= tol))
            fail_msg("%s [%zu] is %.17g, not %.17g", what, i, got[i], want[i]);
}

static void same_marginals(const trl_graph_view *g, const trl_infer_result *r, const graph_truth *t,
                           double tol)
{
    assert_near(r->log_z, t->log_z, tol);
    same(g->label_at[g->n_variables], r->variable, t->variable, tol, "variable");
    same(g->cell_at[g->n_factors], r->factor, t->factor, tol, "factor");
}

/* A budget of the largest clique alone is never called hopeless: the estimate is a whole
 * elimination's. */
static void check_estimate(const trl_graph *g, trl_infer_options o)
{
    trl_infer_plan *p = NULL;
    trl_error err = {0};
    assert_ok(trl_infer_plan_new(g, &o, &p, &err));
    o.max_cells = fmax(1.0, trl_infer_plan_info(p).largest);
    trl_infer_plan_free(p);
    p = NULL;
    if (trl_infer_plan_new(g, &o, &p, &err) != TRL_OK)
        assert_non_null(strstr(err.msg, "about"));
    trl_infer_plan_free(p);
}

static void test_exact(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(1);
    size_t forbidden = 0;
    for (int round = 0; round < 1500; round++) {
        const graph_recipe how = recipe(&rng, round);
        trl_graph *g = random_graph(&rng, &how);
        const trl_graph_view look = trl_graph_look(g);
        bool observed[16];
        uint32_t *evidence = random_evidence(&rng, &look, observed);
        const trl_infer_input in = {.evidence = evidence};
        trl_infer_options o = method(TRL_INFER_EXACT);
        o.weighted_fill = round % 2;
        o.observed = observed;
        check_estimate(g, o);
        graph_truth t = enumerate(g, NULL, evidence);
        answers a = ask(g, &o, &in, false), b = ask(g, &o, &in, true);
        if (t.log_z == -HUGE_VAL) {
            forbidden++;
            assert_int_equal(a.st, TRL_ENUMERIC);
            assert_int_equal(b.st, TRL_ENUMERIC);
        } else {
            assert_int_equal(a.st, TRL_OK);
            same_marginals(&look, &a.r, &t, 1e-9);
            assert_int_equal(a.r.log_z_status, TRL_VALUE_EXACT);
            assert_int_equal(b.st, TRL_OK);
            assert_near(b.r.score, t.best, 1e-12);
            assert_near(trl_graph_score(g, NULL, b.r.y), t.best, 1e-12);
            for (size_t v = 0; v < look.n_variables; v++)
                assert_true(!observed[v] || b.r.y[v] == evidence[v]);
        }
        answers_free(&a);
        answers_free(&b);
        truth_fini(&t);
        free(evidence);
        trl_graph_free(g);
    }
    assert_in_range(forbidden, 10, 700); /* both kinds were seen */
}

/* On trees, whatever the schedule and damping. */
static void test_trees(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(2);
    size_t seen = 0;
    for (int round = 0; round < 800; round++) {
        graph_recipe how = recipe(&rng, round);
        how.shape = SHAPE_TREE;
        trl_graph *g = random_graph(&rng, &how);
        const trl_graph_view look = trl_graph_look(g);
        bool observed[16];
        uint32_t *evidence = random_evidence(&rng, &look, observed);
        const trl_infer_input in = {.evidence = evidence};
        trl_infer_options o = method(round % 2 ? TRL_INFER_TRW : TRL_INFER_BP);
        o.schedule = (trl_infer_schedule)(round / 2 % 4);
        o.damping = round % 5 == 4 ? 0.3 : 0.0;
        o.tolerance = 1e-11; /* logarithms of 1000 have no more digits */
        o.max_updates = 1000000;
        graph_truth t = enumerate(g, NULL, evidence);
        answers a = ask(g, &o, &in, false);
        assert_int_equal(a.st, t.log_z == -HUGE_VAL ? TRL_ENUMERIC : TRL_OK);
        if (a.st == TRL_OK) {
            assert_true(a.r.converged);
            same_marginals(&look, &a.r, &t, 1e-8);
            assert_true(a.r.exact_marginals && a.r.log_z_status == TRL_VALUE_EXACT);
        }
        o.method = TRL_INFER_BP;
        answers b = ask(g, &o, &in, true);
        assert_int_equal(b.st, a.st);
        if (b.st == TRL_OK) {
            seen++;
            assert_true(b.r.exact);
            assert_near(b.r.score, t.best, 1e-10);
        }
        answers_free(&a);
        answers_free(&b);
        truth_fini(&t);
        free(evidence);
        trl_graph_free(g);
    }
    assert_in_range(seen, 400, 800);
}

/* Cycles that fixed variables cut, by evidence or by their one label, are none: exact is exact. */
static void test_cut_cycles(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(12);
    size_t exact = 0;
    for (int round = 0; round < 800; round++) {
        const graph_recipe how = recipe(&rng, round);
        trl_graph *g = random_graph(&rng, &how);
        const trl_graph_view look = trl_graph_look(g);
        bool observed[16];
        uint32_t *evidence = random_evidence(&rng, &look, observed);
        trl_infer_options o = method(round % 2 ? TRL_INFER_TRW : TRL_INFER_BP);
        o.tolerance = 1e-11;
        o.observed = observed;
        graph_truth t = enumerate(g, NULL, evidence);
        answers a = ask(g, &o, &(trl_infer_input){.evidence = evidence}, false);
        if (a.st == TRL_OK && a.r.log_z_status == TRL_VALUE_EXACT) {
            exact++;
            same_marginals(&look, &a.r, &t, 1e-8);
        }
        answers_free(&a);
        truth_fini(&t);
        free(evidence);
        trl_graph_free(g);
    }
    assert_true(exact > 200);
}

/* A <= A_TRW; A <= sum of the factors' own A; A >= the mean field bound; MPLP's bound. */
static void test_bounds(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(3);
    size_t upper = 0, proven = 0, rounds = 0, best = 0;
    for (int round = 0; round < 600; round++) {
        graph_recipe how = recipe(&rng, round);
        how.scale = how.scale > 3.0 ? 2.0 : how.scale;
        trl_graph *g = random_graph(&rng, &how);
        const trl_graph_view look = trl_graph_look(g);
        graph_truth t = enumerate(g, NULL, NULL);
        trl_infer_options o = method(TRL_INFER_TRW);
        o.damping = 0.5;
        o.schedule = (trl_infer_schedule)(round % 4);
        o.tolerance = 1e-11;
        answers trw = ask(g, &o, NULL, false);
        o = method(TRL_INFER_MEAN_FIELD);
        answers mf = ask(g, &o, NULL, false);
        o = method(TRL_INFER_MPLP);
        answers mplp = ask(g, &o, NULL, true);
        if (t.log_z == -HUGE_VAL) {
            assert_int_equal(mf.st, TRL_ENUMERIC);
            assert_int_equal(mplp.st, TRL_ENUMERIC);
        } else {
            rounds++;
            double pieces = 0.0;
            for (size_t a = 0; a < look.n_factors; a++) {
                double sum = 0.0;
                for (size_t i = 0; i < look.cell_at[a + 1] - look.cell_at[a]; i++)
                    sum += exp(look.table[look.table_of[a]][i]);
                pieces += log(sum);
            }
            bool covered[16] = {false}; /* a variable without factors counts its labels */
            for (size_t e = 0; e < look.scope_at[look.n_factors]; e++)
                covered[look.scope[e]] = true;
            for (size_t v = 0; v < look.n_variables; v++)
                pieces += covered[v] ? 0.0 : log(look.labels[v]);
            assert_true(t.log_z <= pieces + 1e-9 * (1.0 + fabs(pieces)));
            assert_int_equal(trw.st, TRL_OK);
            if (trw.r.log_z_status == TRL_VALUE_UPPER || trw.r.log_z_status == TRL_VALUE_EXACT) {
                upper++;
                assert_true(t.log_z <= trw.r.log_z + 1e-8 * (1.0 + fabs(t.log_z)));
            }
            assert_int_equal(mf.st, TRL_OK);
            assert_true(mf.r.log_z <= t.log_z + 1e-9 * (1.0 + fabs(t.log_z)));
            assert_true(mf.r.log_z > -HUGE_VAL && mf.r.log_z_status == TRL_VALUE_LOWER);
            assert_int_equal(mplp.st, TRL_OK);
            assert_true(mplp.r.bound >= t.best - 1e-8 * (1.0 + fabs(t.best)));
            assert_true(mplp.r.score <= t.best + 1e-9 * (1.0 + fabs(t.best)));
            assert_true(mplp.r.score > -HUGE_VAL);
            if (mplp.r.exact) {
                proven++;
                assert_near(mplp.r.score, t.best, 1e-8);
            }
            best += mplp.r.score > t.best - 1e-9;
        }
        answers_free(&trw);
        answers_free(&mf);
        answers_free(&mplp);
        truth_fini(&t);
        trl_graph_free(g);
    }
    assert_true(upper > rounds * 9 / 10);
    assert_true(proven > rounds / 2 && best > rounds * 9 / 10);
}

/* d log Z / d theta = marginals: exact always, Bethe and TRW at convergence. */
static void check_derivative(const trl_graph *g, const trl_infer_options *o, trl_rng *rng)
{
    const trl_graph_view look = trl_graph_look(g);
    double theta[8][64] = {{0}};
    const double *table[8];
    assert_true(look.n_tables <= 8);
    for (size_t a = 0; a < look.n_factors; a++) {
        const size_t n = look.cell_at[a + 1] - look.cell_at[a];
        assert_true(n <= 64);
        memcpy(theta[look.table_of[a]], look.table[look.table_of[a]], n * sizeof(double));
        table[look.table_of[a]] = theta[look.table_of[a]];
    }
    const trl_infer_input in = {.table = table};
    answers here = ask(g, o, &in, false);
    assert_int_equal(here.st, TRL_OK);
    for (int k = 0; k < 3 && here.r.converged && look.n_factors; k++) {
        const uint32_t t = (uint32_t)trl_rng_below(rng, look.n_tables);
        size_t cells = 0;
        for (size_t a = 0; a < look.n_factors; a++)
            if (look.table_of[a] == t)
                cells = look.cell_at[a + 1] - look.cell_at[a];
        const size_t i = trl_rng_below(rng, cells);
        double want = 0.0, value[2];
        for (size_t a = 0; a < look.n_factors; a++) /* all factors that share it */
            want += look.table_of[a] == t ? here.r.factor[look.cell_at[a] + i] : 0.0;
        bool converged = true;
        for (int side = 0; side < 2; side++) {
            const double keep = theta[t][i];
            theta[t][i] += side ? 1e-5 : -1e-5;
            answers there = ask(g, o, &in, false);
            converged = converged && there.r.converged;
            value[side] = there.r.log_z;
            answers_free(&there);
            theta[t][i] = keep;
        }
        if (converged)
            assert_near((value[1] - value[0]) / 2e-5, want, 1e-6);
    }
    answers_free(&here);
}

static void test_derivatives(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(4);
    static const trl_infer_method methods[] = {TRL_INFER_EXACT, TRL_INFER_BP, TRL_INFER_TRW};
    for (int round = 0; round < 300; round++) {
        const graph_recipe how = {.shape = (graph_shape)(round % SHAPE_ANY),
                                  .scale = 0.7,
                                  .unary = round % 2,
                                  .shared = true};
        trl_graph *g = random_graph(&rng, &how);
        trl_infer_options o = method(methods[round % 3]);
        o.damping = o.method == TRL_INFER_TRW ? 0.3 : 0.0;
        o.tolerance = 1e-13;
        if (trl_graph_look(g).n_tables <= 8)
            check_derivative(g, &o, &rng);
        trl_graph_free(g);
    }
}

/* BP's fixed point is the same by every schedule, from logarithms and from warm starts. */
static void test_schedules(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(5);
    size_t compared = 0;
    for (int round = 0; round < 200; round++) {
        graph_recipe how = recipe(&rng, round);
        how.scale = 0.4;
        trl_graph *g = random_graph(&rng, &how);
        const trl_graph_view look = trl_graph_look(g);
        trl_infer_options o = method(round % 2 ? TRL_INFER_BP : TRL_INFER_TRW);
        o.tolerance = 1e-13;
        o.damping = o.method == TRL_INFER_TRW ? 0.4 : 0.1;
        answers first = ask(g, &o, NULL, false);
        for (int s = 0; s < 4 && first.st == TRL_OK && first.r.converged; s++) {
            o.schedule = (trl_infer_schedule)s;
            answers other = ask(g, &o, NULL, false);
            assert_int_equal(other.st, TRL_OK);
            if (other.r.converged) {
                compared++;
                assert_near(other.r.log_z, first.r.log_z, 1e-9);
                same(look.label_at[look.n_variables], other.r.variable, first.r.variable, 1e-9,
                     "variable");
                /* warm: almost nothing is left to do */
                size_t n;
                const double *m = trl_infer_messages(other.work, &n);
                double *kept = malloc((n + 1) * sizeof *kept);
                assert_non_null(kept);
                memcpy(kept, m, n * sizeof *kept);
                const trl_infer_input warm = {.messages = kept};
                const uint64_t cold = other.r.updates;
                trl_error err = {0};
                assert_ok(trl_infer_marginals(other.plan, &warm, other.work, &other.r, &err));
                assert_true(other.r.converged && other.r.updates <= cold);
                assert_near(other.r.log_z, first.r.log_z, 1e-9);
                free(kept);
            }
            answers_free(&other);
        }
        answers_free(&first);
        trl_graph_free(g);
    }
    assert_in_range(compared, 400, 800);
}

static void test_gibbs(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(6);
    for (int round = 0; round < 20; round++) {
        const graph_recipe how = {
            .shape = (graph_shape)(round % SHAPES), .scale = 0.5, .unary = true};
        trl_graph *g = random_graph(&rng, &how);
        const trl_graph_view look = trl_graph_look(g);
        graph_truth t = enumerate(g, NULL, NULL);
        trl_infer_options o = method(TRL_INFER_GIBBS);
        answers a = ask(g, &o, NULL, false), b = ask(g, &o, NULL, false),
                c = ask(g, &o, NULL, true);
        assert_int_equal(a.st, TRL_OK);
        assert_int_equal(a.r.log_z_status, TRL_VALUE_NONE);
        same(look.label_at[look.n_variables], a.r.variable, t.variable, 0.04, "variable");
        same(look.cell_at[look.n_factors], a.r.factor, t.factor, 0.06, "factor");
        same(look.cell_at[look.n_factors], a.r.factor, b.r.factor, 0.0, "same seed");
        assert_near(c.r.score, t.best, 1e-9);
        answers_free(&a);
        answers_free(&b);
        answers_free(&c);
        truth_fini(&t);
        trl_graph_free(g);
    }
}

/* Ties everywhere: exclusive labels on a cycle of four, two best labellings.  Every method finds
 * one. */
static void test_ties(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_graph *g = NULL;
    assert_ok(trl_graph_new(&g, &err));
    for (int v = 0; v < 4; v++)
        assert_ok(trl_graph_add_variable(g, 2, &err));
    assert_ok(trl_graph_add_table(g, 4, (double[]){-HUGE_VAL, 0.0, 0.0, -HUGE_VAL}, &err));
    for (uint32_t v = 0; v < 4; v++)
        assert_ok(trl_graph_add_factor(g, 2, (uint32_t[]){v, (v + 1) % 4}, 0, &err));
    static const trl_infer_method methods[] = {TRL_INFER_EXACT, TRL_INFER_BP, TRL_INFER_MPLP,
                                               TRL_INFER_GIBBS};
    for (size_t k = 0; k < 4; k++) {
        trl_infer_options o = method(methods[k]);
        answers a = ask(g, &o, NULL, true);
        assert_int_equal(a.st, TRL_OK);
        assert_near(a.r.score, 0.0, 1e-12);
        answers_free(&a);
    }
    trl_graph_free(g);
}

/* Max-marginals of the junction tree on all graphs, of max-product on trees, against enumeration.
 */
static void check_max_marginals(const trl_graph *g, trl_infer_options o, const trl_infer_input *in)
{
    const trl_graph_view look = trl_graph_look(g);
    trl_error err = {0};
    graph_truth t = enumerate(g, NULL, in->evidence);
    trl_infer_plan *plan = NULL;
    trl_infer_work *work = NULL;
    trl_infer_result r;
    uint32_t given[16];
    assert_ok(trl_infer_plan_new(g, &o, &plan, &err));
    assert_ok(trl_infer_work_new(&work, &err));
    const trl_status st = trl_infer_max_marginals(plan, in, work, &r, &err);
    assert_int_equal(st, t.log_z == -HUGE_VAL ? TRL_ENUMERIC : TRL_OK);
    for (uint32_t v = 0; st == TRL_OK && v < look.n_variables; v++)
        for (uint32_t j = 0; j < look.labels[v]; j++) {
            memcpy(given, in->evidence, look.n_variables * sizeof *given);
            const bool other = given[v] != TRL_UNOBSERVED && given[v] != j;
            given[v] = j;
            graph_truth with = enumerate(g, NULL, given);
            const double want = other ? -HUGE_VAL : with.best - t.best;
            const double got = r.variable[look.label_at[v] + j];
            if (want == -HUGE_VAL)
                assert_true(got == -HUGE_VAL);
            else
                assert_near(got, want, 1e-9);
            truth_fini(&with);
        }
    assert_true(st != TRL_OK || r.exact_marginals);
    truth_fini(&t);
    trl_infer_plan_free(plan);
    trl_infer_work_free(work);
}

static void test_max_marginals(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(7);
    for (int round = 0; round < 400; round++) {
        graph_recipe how = recipe(&rng, round);
        const bool tree = round % 2;
        how.shape = tree ? SHAPE_TREE : how.shape;
        trl_graph *g = random_graph(&rng, &how);
        const trl_graph_view look = trl_graph_look(g);
        bool observed[16];
        uint32_t *evidence = random_evidence(&rng, &look, observed);
        const trl_infer_input in = {.evidence = evidence};
        trl_infer_options o = method(tree ? TRL_INFER_BP : TRL_INFER_EXACT);
        o.tolerance = 1e-11;
        o.max_updates = 1000000;
        o.observed = tree ? NULL : observed;
        check_max_marginals(g, o, &in);
        free(evidence);
        trl_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),         cmocka_unit_test(test_trees),
        cmocka_unit_test(test_cut_cycles),    cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_derivatives),   cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_gibbs),         cmocka_unit_test(test_ties),
        cmocka_unit_test(test_max_marginals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
