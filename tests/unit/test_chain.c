/* test_chain.c -- forward-backward against enumeration, the two engines against each other,
 * marginals against central differences.
 *
 * Tolerances.  Both engines carry log-scores of size |s| <= 3 T scale in double, so that a
 * marginal is good to about eps |s|: MARGINAL_TOL below plus that term.  log Z: 1e-13
 * relative.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdbool.h>

#include "chain/chain.h"
#include "chain/engine.h"
#include "random_chain.h"

#define LOG_Z_TOL 1e-13
#define MARGINAL_TOL 2e-14

static double marginal_tol(const chain_shape *h)
{
    return MARGINAL_TOL + 4e-16 * 3.0 * (double)h->T * h->scale;
}

/* ---- enumeration ---------------------------------------------------------------------- */

enum { MAX_T = 5, MAX_L = 4 };

typedef struct truth {
    long double log_z;
    long double node[MAX_T][MAX_L], edge[MAX_T][MAX_L * MAX_L], tri[MAX_T][MAX_L * MAX_L * MAX_L];
} truth;

static void enumerate(const random_chain *r, truth *out)
{
    const chain_shape *h = &r->shape;
    const size_t n = labellings(h), L = h->L;
    uint32_t y[MAX_T];
    long double max = -HUGE_VALL, z = 0.0L;
    memset(out, 0, sizeof *out);
    for (size_t k = 0; k < n; k++) {
        labelling(h, k, y);
        const long double s = score_of(r, y);
        max = s > max ? s : max;
    }
    out->log_z = max;
    if (max == -HUGE_VALL)
        return;
    for (size_t k = 0; k < n; k++) {
        labelling(h, k, y);
        z += expl(score_of(r, y) - max);
    }
    out->log_z = max + logl(z);
    for (size_t k = 0; k < n; k++) {
        labelling(h, k, y);
        const long double p = expl(score_of(r, y) - out->log_z);
        for (size_t t = 0; t < h->T; t++) {
            out->node[t][y[t]] += p;
            if (t >= 1)
                out->edge[t][y[t - 1] * L + y[t]] += p;
            if (t >= 2)
                out->tri[t][(y[t - 2] * L + y[t - 1]) * L + y[t]] += p;
        }
    }
}

/* One row of marginals with its padding. */
static void check_row(const double *got, const long double *want, size_t width, size_t step,
                      double tol, const char *what, size_t t)
{
    for (size_t k = 0; k < step; k++) {
        const double w = k < width ? (double)want[k] : 0.0;
        if (k < width ? !(fabs(got[k] - w) <= tol) : got[k] != 0.0)
            fail_msg("%s marginal [%zu][%zu] is %.17g, not %.17g", what, t, k, got[k], w);
    }
}

static void check_marginals(const random_chain *r, const trl_chain_marginals *m, const truth *w)
{
    const size_t T = r->shape.T, L = r->shape.L;
    const double tol = marginal_tol(&r->shape);
    assert_near(m->log_z, (double)w->log_z, LOG_Z_TOL);
    for (size_t t = 0; t < T; t++)
        check_row(m->node + t * r->c.stride, w->node[t], L, r->c.stride, tol, "node", t);
    for (size_t t = 1; t < T; t++)
        check_row(m->edge + t * r->s.step[TRL_EDGE], w->edge[t], L * L, r->s.step[TRL_EDGE], tol,
                  "edge", t);
    for (size_t t = 2; r->shape.order == 2 && t < T; t++)
        check_row(m->tri + t * r->s.step[TRL_TRI], w->tri[t], L * L * L, r->s.step[TRL_TRI], tol,
                  "triple", t);
}

/* What the sums hold after `weight` of the truth, plus 1 that was there, times scale -2. */
static void check_sums(const random_chain *r, const trl_chain_sums *sums, const truth *w,
                       double weight)
{
    const size_t T = r->shape.T, L = r->shape.L, L2 = L * L, L3 = L2 * L;
    const double tol = 2.0 * fabs(weight) * (double)T * marginal_tol(&r->shape);
    double edge[MAX_L * MAX_L], tri[MAX_L * MAX_L * MAX_L];
    for (size_t k = 0; k < L2; k++)
        edge[k] = 1.0;
    for (size_t k = 0; k < L3; k++)
        tri[k] = 1.0;
    trl_chain_sums_add(sums, &r->c, -2.0, edge, r->shape.order == 2 ? tri : NULL);
    for (size_t k = 0; k < L2; k++) {
        long double want = 0.0L;
        for (size_t t = 1; t < T; t++)
            want += w->edge[t][k];
        assert_near(edge[k], 1.0 - 2.0 * weight * (double)want, tol);
    }
    for (size_t k = 0; r->shape.order == 2 && k < L3; k++) {
        long double want = 0.0L;
        for (size_t t = 2; t < T; t++)
            want += w->tri[t][k];
        assert_near(tri[k], 1.0 - 2.0 * weight * (double)want, tol);
    }
}

static void check_score(const random_chain *r, trl_rng *rng)
{
    uint32_t y[MAX_T];
    labelling(&r->shape, trl_rng_below(rng, labellings(&r->shape)), y);
    const double got = trl_chain_score(&r->c, &r->s, y), want = (double)score_of(r, y);
    if (want == -HUGE_VAL)
        assert_true(got == want);
    else
        assert_near(got, want, 1e-14 * (1.0 + r->shape.scale));
}

/* trl_chain_infer (whatever engine it takes) and the log engine, both against the truth. */
static void check_chain(const random_chain *r, trl_rng *rng, trl_arena *arena)
{
    static truth want;
    trl_error err;
    trl_chain_marginals m;
    trl_chain_sums sums;
    const double weight = trl_rng_below(rng, 2) ? 1.0 : 0.25 + trl_rng_unit(rng);
    const int all = TRL_WANT_EDGE_ROWS | TRL_WANT_SUMS;
    enumerate(r, &want);
    for (int engine = 0; engine < 2; engine++) {
        const trl_chain_call call = {&r->c, &r->s, arena, all, weight, NULL, false};
        assert_ok(trl_chain_sums_init(&sums, &r->c, &err));
        trl_arena_reset(arena);
        const trl_status st =
            engine ? trl_chain_log(&call, &m, &sums, &err)
                   : trl_chain_infer(&r->c,
                                     &(trl_chain_ask){
                                         .s = &r->s, .arena = arena, .want = all, .weight = weight},
                                     &m, &sums, &err);
        if (want.log_z == -HUGE_VALL) {
            assert_int_equal(st, TRL_ENUMERIC);
        } else {
            assert_ok(st);
            check_marginals(r, &m, &want);
            check_sums(r, &sums, &want, weight);
        }
        trl_chain_sums_fini(&sums);
    }
    check_score(r, rng);
}

static void test_enumeration(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(21);
    trl_arena arena = {0};
    for (int round = 0; round < 12000; round++) {
        random_chain r;
        random_chain_make(&rng, random_shape(&rng), &r);
        check_chain(&r, &rng, &arena);
        random_chain_fini(&r);
    }
    trl_arena_fini(&arena);
}

static void make_two_valued(trl_rng *rng, size_t n, double wide, double *x)
{
    for (size_t k = 0; x && k < n; k++)
        x[k] += trl_rng_below(rng, 2) ? wide : 0.0;
}

/* Around the bounds of the scaled engines: each family of scores has two values, up to 800
 * apart, so that good labellings pass through cells far below the best of their row.  In order
 * 2 the prefixes of two states may differ by the spreads of two steps, not one. */
static void test_scores_around_the_bounds(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(22);
    trl_arena arena = {0};
    for (int round = 0; round < 12000; round++) {
        trl_error err;
        random_chain r;
        chain_shape h = {2 + trl_rng_below(&rng, 4),
                         2 + trl_rng_below(&rng, 2),
                         1 + round % 2,
                         round / 2 % 4 != 0,
                         round / 8 % 2,
                         false,
                         1.0,
                         0.0};
        random_chain_make(&rng, h, &r);
        const double top = round % 3 ? 300.0 : 800.0;
        const bool alone = h.order == 2 && round % 4 == 1; /* triples only */
        if (alone && h.shared)
            make_two_valued(&rng, h.L * h.L * h.L, 150.0 + 440.0 * trl_rng_unit(&rng),
                            r.s.shared[TRL_TRI]);
        for (int f = 0; !alone && f < TRL_FAMILIES; f++) {
            const size_t width = f == 0 ? h.L : f == 1 ? h.L * h.L : h.L * h.L * h.L;
            make_two_valued(&rng, width, top * trl_rng_unit(&rng), r.s.shared[f]);
            make_two_valued(&rng, h.T * r.s.step[f], top * trl_rng_unit(&rng), r.s.row[f]);
        }
        r.shape.scale = alone ? 600.0 : top;
        assert_ok(trl_chain_prepare(&r.c, &r.s, &err));
        check_chain(&r, &rng, &arena);
        random_chain_fini(&r);
    }
    trl_arena_fini(&arena);
}

/* The spread on which the choice of the engine rests. */
static void test_spread_of_shared_scores(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(31);
    for (int round = 0; round < 500; round++) {
        random_chain r;
        chain_shape h = {
            2, 1 + trl_rng_below(&rng, 4), 1 + round % 2, true, round / 2 % 2, false, 300.0, 0.0};
        random_chain_make(&rng, h, &r);
        double max = -HUGE_VAL, min = HUGE_VAL;
        for (size_t k = 0; k < (h.order == 2 ? h.L : 1) * h.L * h.L; k++) {
            double x = r.s.shared[h.order][k]; /* (a L + b) L + c: its pair (b, c) is k mod L^2 */
            if (h.order == 2 && !h.edge_rows)
                x += r.s.shared[TRL_EDGE][k % (h.L * h.L)];
            max = x > max ? x : max;
            min = x < min ? x : min;
        }
        assert_true(r.c.spread == max - min);
        assert_true(r.c.scaled == (max - min <= TRL_SCALED_MAX_SPREAD));
        random_chain_fini(&r);
    }
}

/* ---- the engines against each other ------------------------------------------------------ */

static void near_rows(size_t T, size_t from, size_t width, size_t step, const double *a,
                      const double *b, double tol, const char *what)
{
    for (size_t t = from; t < T; t++)
        for (size_t k = 0; k < width; k++)
            if (!(fabs(a[t * step + k] - b[t * step + k]) <= tol))
                fail_msg("%s [%zu][%zu]: scaled %.17g, log %.17g", what, t, k, a[t * step + k],
                         b[t * step + k]);
}

static void near_sums(const random_chain *r, trl_chain_sums *a, trl_chain_sums *b, double tol)
{
    const size_t L2 = r->shape.L * r->shape.L, L3 = r->shape.order == 2 ? L2 * r->shape.L : 0;
    double *x = calloc(2 * (L2 + L3), sizeof *x), *y = x + L2 + L3;
    assert_non_null(x);
    trl_chain_sums_add(a, &r->c, 1.0, x, L3 ? x + L2 : NULL);
    trl_chain_sums_add(b, &r->c, 1.0, y, L3 ? y + L2 : NULL);
    near_rows(1, 0, L2 + L3, 0, x, y, tol, "sum");
    free(x);
}

static void compare_engines(trl_rng *rng, chain_shape h, trl_arena *arena)
{
    trl_error err;
    random_chain r;
    trl_chain_marginals a, b;
    trl_chain_sums sa, sb;
    bool fits = false;
    random_chain_make(rng, h, &r);
    const trl_chain_call call = {&r.c, &r.s, arena, TRL_WANT_EDGE_ROWS | TRL_WANT_SUMS,
                                 0.7,  NULL, false};
    assert_ok(trl_chain_sums_init(&sa, &r.c, &err));
    assert_ok(trl_chain_sums_init(&sb, &r.c, &err));
    assert_true(r.c.scaled);
    assert_ok((h.order == 1 ? trl_chain_scaled1 : trl_chain_scaled2)(&call, &a, &sa, &fits, &err));
    assert_true(fits);
    assert_ok(trl_chain_log(&call, &b, &sb, &err));
    const double tol = marginal_tol(&h);
    assert_near(a.log_z, b.log_z, LOG_Z_TOL);
    near_rows(h.T, 0, r.c.stride, r.c.stride, a.node, b.node, tol, "node");
    near_rows(h.T, 1, h.L * h.L, r.s.step[TRL_EDGE], a.edge, b.edge, tol, "edge");
    if (h.order == 2)
        near_rows(h.T, 2, h.L * h.L * h.L, r.s.step[TRL_TRI], a.tri, b.tri, tol, "triple");
    near_sums(&r, &sa, &sb, (double)h.T * tol);
    trl_chain_sums_fini(&sa);
    trl_chain_sums_fini(&sb);
    random_chain_fini(&r);
    trl_arena_reset(arena);
}

static void test_scaled_equals_log(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(23);
    trl_arena arena = {0};
    static const size_t labels[] = {1, 2, 7, 8, 9, 16, 22, 33, 45};
    static const double scale[] = {0.5, 10.0, 60.0};
    for (size_t k = 0; k < sizeof labels / sizeof *labels; k++)
        for (int v = 0; v < 6; v++) {
            chain_shape h = {.T = 60, .L = labels[k], .order = 1, .shared = v % 3 != 0};
            h.edge_rows = v / 3 != 0;
            h.scale = scale[v % 3];
            compare_engines(&rng, h, &arena);
            h.order = 2;
            h.T = h.L > 22 ? 6 : h.L > 9 ? 15 : 60;
            compare_engines(&rng, h, &arena);
        }
    trl_arena_fini(&arena);
}

static void test_second_order_sixty_tokens_of_22_labels(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(24);
    trl_arena arena = {0};
    compare_engines(&rng, (chain_shape){60, 22, 2, true, false, false, 6.0, 0.0}, &arena);
    trl_arena_fini(&arena);
}

/* ---- derivatives ------------------------------------------------------------------------- */

static double log_z_of(random_chain *r, trl_arena *arena)
{
    trl_error err;
    trl_chain_marginals m;
    trl_arena_reset(arena);
    assert_ok(trl_chain_prepare(&r->c, &r->s, &err));
    assert_ok(trl_chain_infer(
        &r->c,
        &(trl_chain_ask){.s = &r->s, .arena = arena, .want = TRL_WANT_LOG_Z_ONLY, .weight = 1.0},
        &m, NULL, &err));
    assert_true(!m.node && !m.edge && !m.tri);
    return m.log_z;
}

/* want[k] = d log Z / d x[k], to h^2 |log Z'''| / 6 + eps |log Z| / h: about 1e-9. */
static void check_derivative(random_chain *r, trl_arena *arena, size_t n, double *x,
                             const double *want)
{
    const double h = 1e-4;
    for (size_t k = 0; k < n; k++) {
        const double at = x[k];
        x[k] = at + h;
        const double up = log_z_of(r, arena);
        x[k] = at - h;
        const double down = log_z_of(r, arena);
        x[k] = at;
        assert_near(want[k], (up - down) / (2.0 * h), 2e-8);
    }
}

static void test_central_differences(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(25);
    trl_arena arena = {0}, other = {0};
    for (int round = 0; round < 60; round++) {
        trl_error err;
        random_chain r;
        trl_chain_marginals m;
        trl_chain_sums sums;
        chain_shape h = {6, 3, 1 + round % 2, true, round % 3 == 0, round % 5 == 0, 4.0, 0.0};
        double edge[9] = {0}, tri[27] = {0};
        random_chain_make(&rng, h, &r);
        const size_t *step = r.s.step;
        assert_ok(trl_chain_sums_init(&sums, &r.c, &err));
        trl_arena_reset(&arena);
        assert_ok(trl_chain_infer(&r.c,
                                  &(trl_chain_ask){.s = &r.s,
                                                   .arena = &arena,
                                                   .want = TRL_WANT_EDGE_ROWS | TRL_WANT_SUMS,
                                                   .weight = 1.0},
                                  &m, &sums, &err));
        trl_chain_sums_add(&sums, &r.c, 1.0, edge, h.order == 2 ? tri : NULL);
        for (size_t t = 0; t < h.T; t++) {
            double *const *row = r.s.row;
            check_derivative(&r, &other, 3, row[0] + t * step[0], m.node + t * step[0]);
            if (t >= 1 && row[1])
                check_derivative(&r, &other, 9, row[1] + t * step[1], m.edge + t * step[1]);
            if (t >= 2 && row[2])
                check_derivative(&r, &other, 27, row[2] + t * step[2], m.tri + t * step[2]);
        }
        check_derivative(&r, &other, 9, r.s.shared[TRL_EDGE], edge);
        if (h.order == 2)
            check_derivative(&r, &other, 27, r.s.shared[TRL_TRI], tri);
        trl_chain_sums_fini(&sums);
        random_chain_fini(&r);
    }
    trl_arena_fini(&arena);
    trl_arena_fini(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumeration),
        cmocka_unit_test(test_scores_around_the_bounds),
        cmocka_unit_test(test_spread_of_shared_scores),
        cmocka_unit_test(test_scaled_equals_log),
        cmocka_unit_test(test_second_order_sixty_tokens_of_22_labels),
        cmocka_unit_test(test_central_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
