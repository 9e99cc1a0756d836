/* test_graph_second_start.c -- belief propagation that starts twice, where it has two fixed points.
 */
/* SPDX-License-Identifier: MIT */
#include "random_graph.h"

typedef struct answers {
    trl_infer_plan *plan;
    trl_infer_work *work;
    trl_infer_result r;
} answers;

static answers ask(const trl_graph *g, const trl_infer_options *o, const trl_infer_input *in,
                   bool best)
{
    answers a = {0};
    trl_error err = {0};
    assert_ok(trl_infer_plan_new(g, o, &a.plan, &err));
    assert_ok(trl_infer_work_new(&a.work, &err));
    assert_ok(best ? trl_infer_best(a.plan, in, a.work, &a.r, &err)
                   : trl_infer_marginals(a.plan, in, a.work, &a.r, &err));
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

static void same(size_t n, const double *got, const double *want, double tol, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= tol))
            fail_msg("%s [%zu] is %.17g, not %.17g", what, i, got[i], want[i]);
}

/* d log Z / d (a cell of the table that all pairs share) = the sum of their beliefs. */
static void check_derivative(const trl_graph *g, const trl_infer_options *o)
{
    const trl_graph_view look = trl_graph_look(g);
    double pair[4];
    const double *table[] = {look.table[0], pair};
    const trl_infer_input in = {.table = table};
    memcpy(pair, look.table[1], sizeof pair);
    answers here = ask(g, o, &in, false);
    for (size_t i = 0; i < 4; i++) {
        double want = 0.0, value[2];
        for (size_t a = 8; a < look.n_factors; a++)
            want += here.r.factor[look.cell_at[a] + i];
        for (int side = 0; side < 2; side++) {
            pair[i] = look.table[1][i] + (side ? 1e-5 : -1e-5);
            answers there = ask(g, o, &in, false);
            value[side] = there.r.log_z;
            answers_free(&there);
        }
        pair[i] = look.table[1][i];
        assert_near((value[1] - value[0]) / 2e-5, want, 1e-5);
    }
    answers_free(&here);
}

/* Eight variables, all joined: each alone would take label 0, all together gain by label 1. */
static trl_graph *attracted(double alone, double both_0, double both_1)
{
    trl_error err = {0};
    trl_graph *g = NULL;
    assert_ok(trl_graph_new(&g, &err));
    for (int v = 0; v < 8; v++)
        assert_ok(trl_graph_add_variable(g, 2, &err));
    assert_ok(trl_graph_add_table(g, 2, (double[]){alone, 0.0}, &err));
    assert_ok(trl_graph_add_table(g, 4, (double[]){both_0, 0.0, 0.0, both_1}, &err));
    for (uint32_t v = 0; v < 8; v++)
        assert_ok(trl_graph_add_factor(g, 1, &v, 0, &err));
    for (uint32_t v = 0; v < 8; v++)
        for (uint32_t u = v + 1; u < 8; u++)
            assert_ok(trl_graph_add_factor(g, 2, (uint32_t[]){v, u}, 1, &err));
    return g;
}

/* Messages that start anew miss what the second start finds, and both together are the whole sum:
 * log Z, beliefs and their derivatives.  */
static void test_second_start(void **state)
{
    (void)state;
    static const double strength[][3] = {{3.0, 0.5, 1.5}, {2.0, 0.6, 1.2}, {2.0, 0.6, 1.15}};
    for (size_t k = 0; k < 3; k++) {
        trl_graph *g = attracted(strength[k][0], strength[k][1], strength[k][2]);
        const trl_graph_view look = trl_graph_look(g);
        trl_infer_options exact = method(TRL_INFER_EXACT), once = method(TRL_INFER_BP), twice;
        once.tolerance = 1e-13;
        twice = once;
        twice.second_start = true;
        answers e = ask(g, &exact, NULL, false), a = ask(g, &once, NULL, false);
        answers b = ask(g, &twice, NULL, false);
        assert_true(a.r.converged && b.r.converged);
        assert_true(e.r.log_z - a.r.log_z > 0.4);
        assert_near(b.r.log_z, e.r.log_z, 1e-3);
        same(look.label_at[8], b.r.variable, e.r.variable, 1e-2, "variable");
        same(look.cell_at[look.n_factors], b.r.factor, e.r.factor, 1e-2, "factor");
        check_derivative(g, &twice);
        answers_free(&b);
        answers_free(&a);
        b = ask(g, &twice, NULL, true);
        a = ask(g, &exact, NULL, true);
        assert_near(b.r.score, a.r.score, 1e-12);
        answers_free(&a);
        answers_free(&b);
        answers_free(&e);
        trl_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_second_start)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
