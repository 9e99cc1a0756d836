/* test_graph_io.c -- graph and evidence files: what they mean, round trips, and what is wrong with
 * them. */
/* SPDX-License-Identifier: MIT */
#include "random_graph.h"

static trl_graph *read_text(const char *text)
{
    trl_error err = {0};
    trl_graph *g = NULL;
    assert_ok(trl_graph_read_memory(&(trl_text){"text", text, strlen(text)}, TRL_GRAPH_GUESS, 0, &g,
                                    &err));
    return g;
}

/* The same graph in both formats: psi(y0, y1) = 1 + 10 y0 + y1, two and three labels. */
static void test_order(void **state)
{
    (void)state;
    trl_graph *uai = read_text("MARKOV\n2\n2 3\n1\n2 0 1\n\n6\n1 2 3\n11 12 13\n");
    trl_graph *fg =
        read_text("# comment\n1\n\n2\n0 1\n2 3\n6\n0 1\n1 11\n2 2 # more\n3 12\n4 3\n5 13\n");
    for (uint32_t y0 = 0; y0 < 2; y0++)
        for (uint32_t y1 = 0; y1 < 3; y1++) {
            const uint32_t y[2] = {y0, y1};
            assert_near(trl_graph_score(uai, NULL, y), log(1 + 10 * y0 + y1), 1e-15);
            assert_near(trl_graph_score(fg, NULL, y), log(1 + 10 * y0 + y1), 1e-15);
        }
    trl_graph_free(uai);
    trl_graph_free(fg);
}

/* Cells left out are zeros; numbers left out are variables with one label; BAYES; constants. */
static void test_details(void **state)
{
    (void)state;
    trl_graph *g = read_text("1\n2\n3 0\n2 2\n1\n2 0.5\n");
    const trl_graph_view look = trl_graph_look(g);
    assert_int_equal(look.n_variables, 4);
    assert_int_equal(look.labels[1], 1);
    assert_near(trl_graph_score(g, NULL, (uint32_t[]){1, 0, 0, 0}), log(0.5), 1e-15);
    assert_true(trl_graph_score(g, NULL, (uint32_t[]){0, 0, 0, 0}) == -HUGE_VAL);
    trl_graph_free(g);
    g = read_text("BAYES 1 2 2  1 0  0  2 0.25 0.75  1 3");
    assert_near(trl_graph_score(g, NULL, (uint32_t[]){1}), log(0.75 * 3), 1e-15);
    trl_graph_free(g);
}

static void same_graph(const trl_graph *a, const trl_graph *b)
{
    const trl_graph_view x = trl_graph_look(a), y = trl_graph_look(b);
    assert_int_equal(x.n_factors, y.n_factors);
    for (size_t f = 0; f < x.n_factors; f++) {
        assert_int_equal(x.scope_at[f + 1], y.scope_at[f + 1]);
        const size_t n = x.cell_at[f + 1] - x.cell_at[f];
        assert_memory_equal(x.table[x.table_of[f]], y.table[y.table_of[f]], n * sizeof(double));
    }
    for (size_t e = 0; e < x.scope_at[x.n_factors]; e++) {
        assert_int_equal(x.scope[e], y.scope[e]);
        assert_int_equal(x.labels[x.scope[e]], y.labels[y.scope[e]]);
    }
}

static trl_graph *again(const trl_graph *g, trl_graph_format format)
{
    trl_buf b = {0};
    trl_error err = {0};
    trl_graph *copy = NULL;
    assert_ok(trl_graph_write(g, format, &b, &err));
    assert_ok(trl_graph_read_memory(&(trl_text){"copy", b.data, b.len}, format, 0, &copy, &err));
    trl_buf_fini(&b);
    return copy;
}

/* Structure and bits survive both formats, one after the other. */
static void test_round_trip(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(9);
    for (int round = 0; round < 200; round++) {
        const graph_recipe how = {.shape = (graph_shape)(round % SHAPES),
                                  .scale = round % 4 ? 1.0 : 50.0,
                                  .zeros = 0.2,
                                  .unary = true};
        trl_graph *made = random_graph(&rng, &how);
        trl_graph *g = again(made, TRL_GRAPH_FG); /* now its potentials are doubles */
        trl_graph *uai = again(g, TRL_GRAPH_UAI), *fg = again(uai, TRL_GRAPH_FG);
        same_graph(g, uai);
        same_graph(g, fg);
        trl_graph_free(made);
        trl_graph_free(g);
        trl_graph_free(uai);
        trl_graph_free(fg);
    }
}

static void test_too_small(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_graph *g = NULL;
    trl_buf b = {0};
    assert_ok(trl_graph_new(&g, &err));
    assert_ok(trl_graph_add_variable(g, 2, &err));
    assert_ok(trl_graph_add_table(g, 2, (double[]){0.0, -800.0}, &err));
    assert_ok(trl_graph_add_factor(g, 1, (uint32_t[]){0}, 0, &err));
    assert_int_equal(trl_graph_write(g, TRL_GRAPH_UAI, &b, &err), TRL_ENUMERIC);
    assert_int_equal(trl_graph_write(g, TRL_GRAPH_FG, &b, &err), TRL_ENUMERIC);
    trl_buf_fini(&b);
    trl_graph_free(g);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

typedef struct bad_text {
    const char *text;
    unsigned row, col;
    const char *message;
} bad_text;

static const bad_text bad_graphs[] = {
    {"", 1, 1, "not a factor graph"},
    {"hello", 1, 1, "not a factor graph"},
    {"MARKO\n1\n", 1, 1, "neither with MARKOV"},
    {"MARKOV\n", 1, 1, "the file ends where the number of variables"},
    {"MARKOV\nx", 2, 1, "'x' is not the number of variables"},
    {"MARKOV\n99999999999\n", 2, 1, "too large"},
    {"MARKOV\n1\n0\n", 3, 1, "without labels"},
    {"MARKOV\n1 2\n1\n1 1\n", 4, 3, "a variable can be at most 0"},
    {"MARKOV\n2 2 2\n1\n2 1 1\n", 4, 5, "twice"},
    {"MARKOV\n1 2\n1\n1 0\n3\n", 5, 1, "3 cells, but the factor's variables make 2"},
    {"MARKOV\n1 2\n1\n1 0\n2\n0.5 -1\n", 6, 5, "negative"},
    {"MARKOV\n1 2\n1\n1 0\n2\n0.5 nan\n", 6, 5, "not finite"},
    {"MARKOV\n1 2\n1\n1 0\n2\n0.5 1e999\n", 6, 5, "not finite"},
    {"MARKOV\n1 2\n1\n1 0\n2\n0.5 x\n", 6, 5, "not a number"},
    {"MARKOV\n1 2\n1\n1 0\n2\n0.5\n", 6, 1, "the file ends where a potential"},
    {"MARKOV\n1 2\n1\n1 0\n2\n0.5 1 2\n", 6, 7, "something follows"},
    {"MARKOV\n2 4000000000 4000000000\n1\n2 0 1\n16\n", 5, 1, "too many cells"},
    {"MARKOV\n1 2\n1\n65 0\n", 4, 1, "too large"},
    {"1\n\n1\n0\n2\n3\n", 6, 1, "too large"},
    {"1\n\n1\n0\n2\n1\n2 0.5\n", 7, 1, "a cell's number can be at most 1"},
    {"1\n\n1\n0\n2\n2\n0 0.5\n0 1\n", 8, 1, "comes twice"},
    {"1\n\n1\n0\n2\n1\n0 -0.5\n", 7, 3, "negative"},
    {"1\n\n2\n0 0\n2 2\n", 4, 3, "twice"},
    {"1\n\n2\n0 1\n2 0\n", 5, 3, "without labels"},
    {"2\n\n1\n0\n2\n0\n\n1\n0\n3\n0\n", 10, 1, "3 labels here, but 2 before"},
    {"1\n\n1\n99999999\n", 4, 1, "too large"},
    {"1\n\n3\n0 1 2\n40000 40000 40000\n", 5, 7, "more than"},
    {"1\n", 1, 1, "the file ends where the number of a factor's variables"},
    {"0\n7", 2, 1, "something follows"},
};

static void test_bad_graphs(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof bad_graphs / sizeof *bad_graphs; k++) {
        const bad_text *b = &bad_graphs[k];
        trl_graph *g = NULL;
        trl_error err = {0};
        const trl_status st = trl_graph_read_memory(&(trl_text){"text", b->text, strlen(b->text)},
                                                    TRL_GRAPH_GUESS, 0, &g, &err);
        if (st != TRL_EPARSE || err.row != b->row || err.col != b->col ||
            !strstr(err.msg, b->message))
            fail_msg("%s: status %d at %u:%u: %s", b->text, (int)st, (unsigned)err.row,
                     (unsigned)err.col, err.msg);
        assert_null(g);
    }
}

static const char two[] = "MARKOV 3 2 3 2 0";

static const bad_text bad_evidence[] = {
    {"", 1, 1, "empty"},
    {"x", 1, 1, "not a whole number from 0"},
    {"1 3 0", 1, 3, "no variable 3"},
    {"1 1 3", 1, 5, "no label 3: they are 0 to 2"},
    {"1 1", 1, 3, "not evidence"},
    {"2 0 1 0 0", 1, 9, "observed as 1 already"},
    {"1 0 1 5", 1, 7, "not evidence"},
    {"2\n1 0 1\n1 1 7\n", 3, 5, "no label 7"},
};

static void test_bad_evidence(void **state)
{
    (void)state;
    trl_graph *g = read_text(two);
    for (size_t k = 0; k < sizeof bad_evidence / sizeof *bad_evidence; k++) {
        const bad_text *b = &bad_evidence[k];
        trl_evidence e = {0};
        trl_error err = {0};
        const trl_status st =
            trl_evidence_read_memory(&(trl_text){"text", b->text, strlen(b->text)}, g, &e, &err);
        if (st != TRL_EPARSE || err.row != b->row || err.col != b->col ||
            !strstr(err.msg, b->message))
            fail_msg("%s: status %d at %u:%u: %s", b->text, (int)st, (unsigned)err.row,
                     (unsigned)err.col, err.msg);
    }
    trl_graph_free(g);
}

/* cases, then labels with 9 for what is not observed */
static void expect_evidence(const trl_graph *g, const char *text, size_t cases, const char *labels)
{
    trl_evidence e = {0};
    trl_error err = {0};
    assert_ok(trl_evidence_read_memory(&(trl_text){"text", text, strlen(text)}, g, &e, &err));
    assert_int_equal(e.n_cases, cases);
    for (size_t i = 0; i < 3 * cases; i++)
        assert_int_equal(e.label[i],
                         labels[i] == '9' ? TRL_UNOBSERVED : (uint32_t)(labels[i] - '0'));
    trl_evidence_fini(&e);
}

static void test_evidence(void **state)
{
    (void)state;
    trl_graph *g = read_text(two);
    expect_evidence(g, "0", 1, "999");
    expect_evidence(g, "1 1 2", 1, "929");
    expect_evidence(g, "1\n1 1 2\n", 1, "929");
    expect_evidence(g, "1\n0\n", 1, "999");
    expect_evidence(g, "2\n1 1 2\n2 0 1 2 0\n", 2, "929190");
    expect_evidence(g, "2 0 1 2 0", 1, "190");      /* both readings are possible */
    expect_evidence(g, "2\n0\n1 2 0", 2, "999990"); /* a number of its own line is the count */
    expect_evidence(g, "2 0 1\n2 0", 1, "190");
    trl_graph_free(g);
}

/* ---- building and planning ------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_graph *g = NULL;
    assert_ok(trl_graph_new(&g, &err));
    assert_int_equal(trl_graph_add_variable(g, 0, &err), TRL_EINVAL);
    assert_ok(trl_graph_add_variable(g, 2, &err));
    assert_ok(trl_graph_add_variable(g, 3, &err));
    assert_ok(trl_graph_add_variable(g, 2, &err));
    assert_int_equal(trl_graph_add_table(g, 0, NULL, &err), TRL_EINVAL);
    assert_int_equal(trl_graph_add_table(g, 1, (double[]){NAN}, &err), TRL_EINVAL);
    assert_int_equal(trl_graph_add_table(g, 1, (double[]){HUGE_VAL}, &err), TRL_EINVAL);
    assert_ok(trl_graph_add_table(g, 6, (double[]){0, 1, 2, 3, 4, 5}, &err));
    assert_int_equal(trl_graph_add_factor(g, 2, (uint32_t[]){0, 2}, 0, &err), TRL_EINVAL);
    assert_int_equal(trl_graph_add_factor(g, 2, (uint32_t[]){0, 1}, 1, &err), TRL_EINVAL);
    assert_int_equal(trl_graph_add_factor(g, 2, (uint32_t[]){0, 3}, 0, &err), TRL_EINVAL);
    assert_int_equal(trl_graph_add_factor(g, 2, (uint32_t[]){1, 1}, 0, &err), TRL_EINVAL);
    assert_ok(trl_graph_add_factor(g, 2, (uint32_t[]){0, 1}, 0, &err));
    assert_ok(trl_graph_add_factor(g, 2, (uint32_t[]){2, 1}, 0, &err));
    assert_int_equal(trl_graph_add_factor(g, 2, (uint32_t[]){1, 0}, 0, &err),
                     TRL_EINVAL); /* 3 x 2 */

    trl_infer_options o = trl_infer_options_default();
    trl_infer_plan *p = NULL;
    trl_infer_work *w = NULL;
    trl_infer_result r;
    o.max_cells = 5;
    assert_int_equal(trl_infer_plan_new(g, &o, &p, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "cells"));
    o.max_cells = 0x1p20;
    o.damping = 1.0;
    assert_int_equal(trl_infer_plan_new(g, &o, &p, &err), TRL_EINVAL);
    o.damping = NAN;
    assert_int_equal(trl_infer_plan_new(g, &o, &p, &err), TRL_EINVAL);
    o.damping = 0.0;
    const bool observed[3] = {true, false, false};
    o.observed = observed;
    assert_ok(trl_infer_plan_new(g, &o, &p, &err));
    assert_ok(trl_infer_work_new(&w, &err));
    assert_int_equal(trl_infer_marginals(p, NULL, w, &r, &err), TRL_EINVAL);
    trl_infer_input in = {.evidence = (uint32_t[]){2, TRL_UNOBSERVED, TRL_UNOBSERVED}};
    assert_int_equal(trl_infer_marginals(p, &in, w, &r, &err), TRL_EINVAL);
    in.evidence = (uint32_t[]){0, 1, TRL_UNOBSERVED};
    assert_int_equal(trl_infer_marginals(p, &in, w, &r, &err), TRL_EINVAL);
    in.evidence = (uint32_t[]){0, TRL_UNOBSERVED, TRL_UNOBSERVED};
    in.table = (const double *[]){(double[]){0, 1, 2, 3, NAN, 5}};
    assert_int_equal(trl_infer_marginals(p, &in, w, &r, &err), TRL_EINVAL);
    in.table = NULL;
    assert_ok(trl_infer_marginals(p, &in, w, &r, &err));
    trl_infer_plan_free(p);

    /* a table without values: they come with the run, or not at all */
    trl_buf b = {0};
    o.observed = NULL;
    assert_ok(trl_graph_add_table(g, 2, NULL, &err));
    assert_ok(trl_graph_add_factor(g, 1, (uint32_t[]){0}, 1, &err));
    assert_ok(trl_infer_plan_new(g, &o, &p, &err));
    assert_int_equal(trl_infer_marginals(p, NULL, w, &r, &err), TRL_EINVAL);
    assert_int_equal(trl_graph_write(g, TRL_GRAPH_FG, &b, &err), TRL_EINVAL);
    assert_true(isnan(trl_graph_score(g, NULL, (uint32_t[]){0, 0, 0})));
    in = (trl_infer_input){
        .table = (const double *[]){(double[]){0, 0, 0, 0, 0, 0}, (double[]){0, log(3.0)}}};
    assert_ok(trl_infer_marginals(p, &in, w, &r, &err));
    assert_near(r.log_z, log(4 * 3 * 2), 1e-12);
    trl_buf_fini(&b);
    trl_infer_plan_free(p);
    trl_infer_work_free(w);
    trl_graph_free(g);
}

/* A grid of 100 x 100 is far too wide; the estimate says so without taking long. */
static void test_wide(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_graph *g = NULL;
    trl_infer_plan *p = NULL;
    const trl_infer_options o = trl_infer_options_default();
    assert_ok(trl_graph_new(&g, &err));
    for (int v = 0; v < 10000; v++)
        assert_ok(trl_graph_add_variable(g, 2, &err));
    assert_ok(trl_graph_add_table(g, 4, (double[]){0.0, 1.0, 1.0, 0.0}, &err));
    for (uint32_t v = 0; v < 10000; v++) {
        if (v % 100)
            assert_ok(trl_graph_add_factor(g, 2, (uint32_t[]){v - 1, v}, 0, &err));
        if (v >= 100)
            assert_ok(trl_graph_add_factor(g, 2, (uint32_t[]){v - 100, v}, 0, &err));
    }
    assert_int_equal(trl_infer_plan_new(g, &o, &p, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "exact inference needs"));
    trl_graph_free(g);
}

/* All pairs of 1,500 variables: refused before any elimination. */
static void test_dense(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_graph *g = NULL;
    trl_infer_plan *p = NULL;
    trl_infer_options o = trl_infer_options_default();
    assert_ok(trl_graph_new(&g, &err));
    for (int v = 0; v < 1500; v++)
        assert_ok(trl_graph_add_variable(g, 2, &err));
    assert_ok(trl_graph_add_table(g, 4, (double[]){0.0, 1.0, 1.0, 0.0}, &err));
    for (uint32_t v = 0; v < 1500; v++)
        for (uint32_t u = 0; u < v; u++)
            assert_ok(trl_graph_add_factor(g, 2, (uint32_t[]){u, v}, 0, &err));
    assert_int_equal(trl_infer_plan_new(g, &o, &p, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "at least"));
    assert_non_null(strstr(err.msg, "1500 variables"));
    trl_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),      cmocka_unit_test(test_details),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_too_small),
        cmocka_unit_test(test_bad_graphs), cmocka_unit_test(test_bad_evidence),
        cmocka_unit_test(test_evidence),   cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_wide),       cmocka_unit_test(test_dense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
