/* test_chain_single.c -- the single-precision engine against the one in double, and where it hands
 * over to it.
 *
 * Exponentials and sums of positive terms are rounded by some 2^-24, and errors of steps add up in
 * log Z.  The bounds are those of chain.h; what is seen is printed.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "chain/engine.h"
#include "chain_problem.h"
#include "random_chain.h"

typedef struct worst {
    double log_z, node, sum; /* log Z per token, marginals, sums per token */
} worst;

static void compare(random_chain *r, trl_arena *arena, double weight, worst *w)
{
    trl_error err;
    trl_chain_marginals a, b;
    trl_chain_sums sa, sb;
    bool fits = false;
    const size_t T = r->shape.T, L = r->shape.L;
    const trl_chain_call call = {&r->c, &r->s, arena, TRL_WANT_SUMS, weight, NULL, false};
    double *x = calloc(2 * L * L, sizeof *x), *y = x + L * L;
    assert_ok(trl_chain_use_single(&r->c, &err));
    assert_ok(trl_chain_prepare(&r->c, &r->s, &err));
    assert_true(trl_chain_single_serves(&call));
    assert_ok(trl_chain_sums_init(&sa, &r->c, &err));
    assert_ok(trl_chain_sums_init(&sb, &r->c, &err));
    trl_arena_reset(arena);
    assert_ok(trl_chain_single1(&call, &a, &sa, &fits, &err));
    assert_true(fits);
    assert_ok(trl_chain_scaled1(&call, &b, &sb, &fits, &err));
    assert_true(fits);
    w->log_z = fmax(w->log_z, fabs(a.log_z - b.log_z) / (double)T);
    assert_true(isfinite(a.log_z));
    for (size_t k = 0; k < T * r->c.stride; k++) {
        assert_true(isfinite(a.node[k]));
        assert_true(k % r->c.stride < L || a.node[k] == 0.0);
        w->node = fmax(w->node, fabs(a.node[k] - b.node[k]));
    }
    trl_chain_sums_add(&sa, &r->c, 1.0, x, NULL);
    trl_chain_sums_add(&sb, &r->c, 1.0, y, NULL);
    for (size_t k = 0; k < L * L; k++) {
        assert_true(isfinite(x[k]));
        w->sum = fmax(w->sum, fabs(x[k] - y[k]) / (weight * (double)T));
    }
    free(x);
    trl_chain_sums_fini(&sa);
    trl_chain_sums_fini(&sb);
}

static void check_worst(const worst *w, double log_z, double marginal, const char *what)
{
    print_message("%s: log Z %.1e per token, marginals %.1e, sums %.1e per token\n", what, w->log_z,
                  w->node, w->sum);
    assert_true(w->log_z <= log_z);
    assert_true(w->node <= marginal);
    assert_true(w->sum <= marginal);
}

static chain_shape shape_of(trl_rng *rng, double scale)
{
    return (chain_shape){.T = 1 + trl_rng_below(rng, 200),
                         .L = 1 + trl_rng_below(rng, 70),
                         .order = 1,
                         .shared = true,
                         .scale = scale};
}

static void test_random_scores(void **state)
{
    (void)state;
    static const double scale[] = {0.0, 1.0, 6.0, 12.0, 19.0};
    trl_rng rng = trl_rng_seed(51);
    trl_arena arena = {0};
    for (size_t k = 0; k < sizeof scale / sizeof *scale; k++) {
        char what[40];
        worst w = {0};
        for (int round = 0; round < 150; round++) {
            random_chain r;
            random_chain_make(&rng, shape_of(&rng, scale[k]), &r);
            compare(&r, &arena, round % 2 ? 1.0 : 0.2 + trl_rng_unit(&rng), &w);
            random_chain_fini(&r);
        }
        snprintf(what, sizeof what, "spreads up to %g", scale[k]);
        check_worst(&w, 2e-7, 5e-7, what);
    }
    trl_arena_fini(&arena);
}

static void two_values(trl_rng *rng, size_t n, double rare, double wide, double *x)
{
    for (size_t k = 0; k < n; k++)
        x[k] = (trl_rng_unit(rng) < rare ? wide : 0.0) - 7.0;
}

/* Nodes and edges of two values each, together as far apart as is let through: the best labellings
 * pass through cells that are all but the worst of their row. */
static void test_limit(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(52);
    trl_arena arena = {0};
    worst w = {0};
    for (int round = 0; round < 600; round++) {
        random_chain r;
        chain_shape h = shape_of(&rng, 0.0);
        h.L = 1 + (round % 3 ? trl_rng_below(&rng, 6) : h.L);
        random_chain_make(&rng, h, &r);
        const double range = TRL_SINGLE_RANGE - log((double)h.L) - 1e-9;
        const double part = (const double[]){1.0, 0.0, trl_rng_unit(&rng), 0.5}[round % 4];
        const double rare = round / 4 % 2 ? 0.5 : 1.0 / (double)h.L;
        two_values(&rng, h.L * h.L, rare, part * range / 3.0, r.s.shared[TRL_EDGE]);
        for (size_t t = 0; t < h.T; t++)
            two_values(&rng, h.L, rare, (1.0 - part) * range,
                       r.s.row[TRL_NODE] + t * r.s.step[TRL_NODE]);
        compare(&r, &arena, 1.0, &w);
        random_chain_fini(&r);
    }
    check_worst(&w, 2e-7, 2e-6, "at the limit");
    trl_arena_fini(&arena);
}

/* ---- handing over ------------------------------------------------------------------------ */

/* Scores wider than floats can take, -inf included: the answers are the double engine's, bit by
 * bit, and NaN is refused as ever. */
static void test_hands_over(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(53);
    trl_arena arena = {0};
    for (int round = 0; round < 400; round++) {
        trl_error err;
        trl_chain_marginals a, b;
        random_chain r;
        chain_shape h = {.T = 2 + trl_rng_below(&rng, 9), .L = 2 + trl_rng_below(&rng, 20)};
        h.order = 1;
        h.shared = round % 2;
        h.scale = 10.0;
        random_chain_make(&rng, h, &r);
        double *cell = r.s.row[TRL_NODE] + trl_rng_below(&rng, h.T) * r.s.step[TRL_NODE] +
                       trl_rng_below(&rng, h.L);
        *cell = (const double[]){90.0, -90.0, -HUGE_VAL, HUGE_VAL, nan(""), -1e300}[round % 6];
        const trl_status want = trl_chain_infer(
            &r.c, &(trl_chain_ask){.s = &r.s, .arena = &arena, .want = 0, .weight = 1.0}, &a, NULL,
            &err);
        assert_ok(trl_chain_use_single(&r.c, &err));
        assert_ok(trl_chain_prepare(&r.c, &r.s, &err));
        assert_int_equal(
            trl_chain_infer(&r.c,
                            &(trl_chain_ask){.s = &r.s, .arena = &arena, .want = 0, .weight = 1.0},
                            &b, NULL, &err),
            want);
        assert_int_equal(want, round % 6 == 3 || round % 6 == 4 ? TRL_ENUMERIC : TRL_OK);
        if (want == TRL_OK) {
            assert_true(a.log_z == b.log_z);
            assert_memory_equal(a.node, b.node, h.T * r.c.stride * sizeof *a.node);
        }
        random_chain_fini(&r);
        trl_arena_reset(&arena);
    }
    trl_arena_fini(&arena);
}

/* The spreads of a row and of the edges count together. */
static void test_bound(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(56);
    trl_arena arena = {0};
    for (int wide = 0; wide < 2; wide++) {
        trl_error err;
        trl_chain_marginals m;
        random_chain r;
        bool fits = wide;
        random_chain_make(&rng, (chain_shape){.T = 3, .L = 9, .order = 1, .shared = true}, &r);
        r.s.row[TRL_NODE][r.s.step[TRL_NODE] + 8] = -20.0;
        r.s.shared[TRL_EDGE][5] = wide ? 20.7 : 20.5;
        assert_ok(trl_chain_use_single(&r.c, &err));
        assert_ok(trl_chain_prepare(&r.c, &r.s, &err));
        const trl_chain_call call = {&r.c, &r.s, &arena, 0, 1.0, NULL, false};
        assert_ok(trl_chain_single1(&call, &m, NULL, &fits, &err));
        assert_true(fits == !wide);
        random_chain_fini(&r);
    }
    trl_arena_fini(&arena);
}

/* Edges too wide, edge rows, log Z alone and order 2 are not its business. */
static void test_serves(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(54);
    for (int round = 0; round < 5; round++) {
        trl_error err;
        random_chain r;
        chain_shape h = {.T = 4, .L = 3, .order = round == 3 ? 2 : 1, .shared = true};
        h.scale = 1.0;
        h.edge_rows = round == 2;
        random_chain_make(&rng, h, &r);
        assert_ok(trl_chain_use_single(&r.c, &err));
        assert_ok(trl_chain_use_single(&r.c, &err)); /* again */
        if (round == 1)
            r.s.shared[TRL_EDGE][4] = 40.0;
        assert_ok(trl_chain_prepare(&r.c, &r.s, &err));
        trl_chain_call call = {&r.c, &r.s, NULL, TRL_WANT_SUMS, 1.0, NULL, false};
        if (round == 4)
            call.want = TRL_WANT_LOG_Z_ONLY;
        assert_true(trl_chain_single_serves(&call) == (round == 0));
        random_chain_fini(&r);
    }
}

/* ---- training ---------------------------------------------------------------------------- */

/* F and gradient of a corpus, both ways, at random weights: near an optimum, where the gradient
 * vanishes and its error does not, see docs/numerics.md. */
static void test_gradient(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(55);
    double worst_f = 0.0, worst_g = 0.0;
    for (int round = 0; round < 12; round++) {
        const corpus_shape h = {.sequences = 100,
                                .max_tokens = 40,
                                .L = (const size_t[]){2, 5, 9, 22, 44, 60}[round % 6],
                                .attrs = {200},
                                .per_token = {6},
                                .constant = {false, true},
                                .weights = round % 2};
        const trl_design_options o = {.order = 1, .all_transitions = round % 3 == 0};
        chain_problem p;
        trl_error err;
        problem_make(&rng, &h, &o, "likelihood", 1, &p);
        p.c2 = 0.1;
        double *w = problem_vector(&p), *g[2] = {problem_vector(&p), problem_vector(&p)};
        double F[2], norm = 0.0, diff = 0.0;
        for (uint64_t i = 0; i < p.d.n_weights; i++)
            w[i] = 2.0 * trl_rng_unit(&rng) - 1.0;
        trl_clear_dead(&p.d, w);
        assert_ok(problem_eval(&p, w, g[0], &F[0], &err));
        assert_ok(trl_chain_use_single(&p.chain.chain, &err));
        assert_ok(problem_eval(&p, w, g[1], &F[1], &err));
        for (uint64_t i = 0; i < p.d.n_weights; i++) {
            norm += g[0][i] * g[0][i];
            diff += (g[1][i] - g[0][i]) * (g[1][i] - g[0][i]);
        }
        assert_true(diff > 0.0); /* it was used */
        worst_g = fmax(worst_g, sqrt(diff / norm));
        worst_f = fmax(worst_f, fabs(F[1] / F[0] - 1.0));
        for (int k = 0; k < 2; k++)
            trl_free(g[k]);
        trl_free(w);
        problem_fini(&p);
    }
    print_message("F %.1e, gradient %.1e\n", worst_f, worst_g);
    assert_true(worst_f < 1e-8);
    assert_true(worst_g < 1e-7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_scores), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_hands_over),    cmocka_unit_test(test_serves),
        cmocka_unit_test(test_bound),         cmocka_unit_test(test_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
