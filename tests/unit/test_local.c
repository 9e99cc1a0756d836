/* test_local.c -- locally normalised models as chains of their own, and calibration. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdbool.h>

#include "chain/calibrate.h"
#include "chain/local.h"
#include "objective_oracle.h"

#define TOL 1e-11 /* scores up to 3 * 280, T 5: 4e-13, and room for sums */

static chain_shape moderate_shape(trl_rng *rng)
{
    chain_shape h = random_shape(rng);
    h.scale = h.scale > 280.0 ? 280.0 : h.scale;
    h.forbid = 0.0;
    return h;
}

static trl_chain_example example_of(const random_chain *r, const uint32_t *gold, double weight,
                                    trl_arena *arena)
{
    return (trl_chain_example){
        .chain = &r->c, .scores = &r->s, .gold = gold, .weight = weight, .arena = arena};
}

/* ---- local tables ---------------------------------------------------------------------- */

static void check_local(const random_chain *r, trl_arena *arena)
{
    trl_error err;
    trl_tables local;
    trl_chain rows;
    trl_chain_marginals m;
    uint32_t y[ORACLE_T];
    trl_arena_reset(arena);
    assert_ok(trl_local_tables(&r->c, &r->s, arena, &local, &err));
    assert_ok(trl_rows_chain_init(&rows, r->c.L, r->c.order, &err));
    assert_ok(trl_chain_infer(
        &rows, &(trl_chain_ask){.s = &local, .arena = arena, .want = 0, .weight = 1.0}, &m, NULL,
        &err));
    assert_near(m.log_z, 0.0, TOL);
    long double sum = 0.0L, node[ORACLE_T][4] = {{0}};
    for (size_t k = 0; k < labellings(&r->shape); k++) {
        labelling(&r->shape, k, y);
        const trl_chain_example x = example_of(r, y, 1.0, arena);
        const double log_p = trl_chain_score(&rows, &local, y);
        assert_near(log_p, objective_value("memm", &x), TOL);
        sum += expl((long double)log_p);
        for (size_t t = 0; t < r->shape.T; t++)
            node[t][y[t]] += expl((long double)log_p);
    }
    assert_near((double)sum, 1.0, TOL);
    for (size_t t = 0; t < r->shape.T; t++)
        for (size_t j = 0; j < r->c.L; j++)
            assert_near(m.node[t * rows.stride + j], (double)node[t][j], TOL);
    for (size_t t = 0; t < r->shape.T; t++)
        for (size_t q = 0; q < (t == 0 ? 1 : power(r->c.L, t == 1 ? 1 : (size_t)r->c.order)); q++) {
            double row = 0.0;
            for (size_t j = 0; j < r->c.L; j++)
                row += exp(trl_factor_row(&r->c, &local, t, q)[j]);
            assert_near(row, 1.0, 1e-13);
        }
    trl_chain_fini(&rows);
}

static void test_local_tables(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(41);
    trl_arena arena = {0};
    for (int round = 0; round < 600; round++) {
        random_chain r;
        random_chain_make(&rng, moderate_shape(&rng), &r);
        check_local(&r, &arena);
        random_chain_fini(&r);
    }
    trl_arena_fini(&arena);
}

/* From label 1 there is no way on: its row stays forbidden and log Z is the log of the rest. */
static void test_dead_ends(void **state)
{
    (void)state;
    trl_error err;
    trl_rng rng = trl_rng_seed(42);
    trl_arena arena = {0};
    trl_tables local;
    trl_chain rows;
    trl_chain_marginals m;
    random_chain r;
    const chain_shape h = {.T = 2, .L = 3, .order = 1, .shared = true, .scale = 2.0};
    random_chain_make(&rng, h, &r);
    for (size_t j = 0; j < 3; j++)
        r.s.shared[TRL_EDGE][3 + j] = -HUGE_VAL;
    assert_ok(trl_chain_prepare(&r.c, &r.s, &err));
    assert_ok(trl_local_tables(&r.c, &r.s, &arena, &local, &err));
    assert_ok(trl_rows_chain_init(&rows, 3, 1, &err));
    assert_ok(trl_chain_infer(
        &rows, &(trl_chain_ask){.s = &local, .arena = &arena, .want = 0, .weight = 1.0}, &m, NULL,
        &err));
    assert_near(m.log_z, log1p(-exp(local.row[TRL_NODE][1])), 1e-13);
    for (size_t j = 0; j < 3; j++)
        assert_true(trl_factor_row(&r.c, &local, 1, 1)[j] == -HUGE_VAL);
    r.s.row[TRL_NODE][r.s.step[TRL_NODE]] = nan("");
    assert_int_equal(trl_local_tables(&r.c, &r.s, &arena, &local, &err), TRL_ENUMERIC);
    assert_non_null(strstr(err.msg, "token 2"));
    r.s.n = 0;
    assert_int_equal(trl_local_tables(&r.c, &r.s, &arena, &local, &err), TRL_EINVAL);
    trl_chain_fini(&rows);
    random_chain_fini(&r);
    trl_arena_fini(&arena);
}

/* ---- calibration ------------------------------------------------------------------------ */

static double calibrated(const trl_chain_example *x, const trl_chain *rows, const double *a,
                         double *grad)
{
    trl_error err;
    double value;
    memset(grad, 0, x->chain->L * sizeof *grad);
    assert_ok(trl_calibrate_example(x, rows, a, &value, grad, &err));
    return value;
}

/* s' from its definition, in one sum over all labellings. */
static long double log_likelihood(const random_chain *r, const uint32_t *gold, const double *a)
{
    long double z = 0.0L, own = 0.0L;
    uint32_t y[ORACLE_T];
    for (size_t k = 0; k <= labellings(&r->shape); k++) {
        if (k < labellings(&r->shape))
            labelling(&r->shape, k, y);
        else
            memcpy(y, gold, sizeof y);
        long double s = factors_of(r, y, 0, 0);
        for (size_t t = 1; t < r->shape.T; t++)
            s += (long double)a[y[t - 1]] * factors_of(r, y, t, t);
        if (k < labellings(&r->shape))
            z += expl(s);
        else
            own = s;
    }
    return own - logl(z);
}

static void test_calibration(void **state)
{
    (void)state;
    trl_error err;
    trl_rng rng = trl_rng_seed(43);
    trl_arena arena = {0};
    for (int round = 0; round < 400; round++) {
        random_chain r;
        trl_chain rows;
        uint32_t gold[ORACLE_T] = {0};
        double a[4] = {1.0, 1.0, 1.0, 1.0}, g[4], no[4];
        chain_shape h = moderate_shape(&rng);
        h.scale = 4.0;
        random_chain_make(&rng, h, &r);
        labelling(&h, trl_rng_below(&rng, labellings(&h)), gold);
        assert_ok(trl_rows_chain_init(&rows, h.L, h.order, &err));
        const trl_chain_example x = example_of(&r, gold, 0.5 + trl_rng_unit(&rng), &arena);
        assert_near(calibrated(&x, &rows, a, g), objective_value("crf", &x), 1e-12);
        for (size_t i = 0; i < h.L; i++)
            a[i] = 0.4 + trl_rng_unit(&rng);
        assert_near(calibrated(&x, &rows, a, g), x.weight * (double)log_likelihood(&r, gold, a),
                    1e-12);
        for (size_t i = 0; i < h.L; i++) {
            const double at = a[i];
            a[i] = at + 1e-5;
            const double up = calibrated(&x, &rows, a, no);
            a[i] = at - 1e-5;
            assert_near(g[i], (up - calibrated(&x, &rows, a, no)) / 2e-5, 1e-7);
            a[i] = at;
        }
        trl_chain_fini(&rows);
        random_chain_fini(&r);
        trl_arena_reset(&arena);
    }
    trl_arena_fini(&arena);
}

/* Whatever the multiplier (0 and negative ones, too), a forbidden cell stays forbidden. */
static void test_calibration_of_forbidden_cells(void **state)
{
    (void)state;
    static const double a[3][2] = {{0.0, 1.0}, {-1.0, 1.0}, {2.0, 1.0}};
    trl_error err;
    trl_rng rng = trl_rng_seed(44);
    trl_arena arena = {0};
    trl_chain rows;
    random_chain r;
    random_chain_make(&rng, (chain_shape){.T = 3, .L = 2, .order = 1, .shared = true, .scale = 2.0},
                      &r);
    r.s.shared[TRL_EDGE][1] = -HUGE_VAL;
    assert_ok(trl_chain_prepare(&r.c, &r.s, &err));
    assert_ok(trl_rows_chain_init(&rows, 2, 1, &err));
    for (size_t k = 0; k < 3; k++) {
        double g[2];
        const uint32_t good[3] = {1, 0, 0}, bad[3] = {1, 0, 1};
        trl_chain_example x = example_of(&r, good, 1.0, &arena);
        assert_true(isfinite(calibrated(&x, &rows, a[k], g)));
        assert_true(isfinite(g[0]) && isfinite(g[1]));
        x.gold = bad;
        assert_true(calibrated(&x, &rows, a[k], g) == -HUGE_VAL);
        assert_true(g[0] == 0.0 && g[1] == 0.0);
    }
    trl_chain_fini(&rows);
    random_chain_fini(&r);
    trl_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local_tables),
        cmocka_unit_test(test_dead_ends),
        cmocka_unit_test(test_calibration),
        cmocka_unit_test(test_calibration_of_forbidden_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
