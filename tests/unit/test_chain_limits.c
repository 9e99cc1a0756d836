/* test_chain_limits.c -- refusals, what is left out, long chains, memory in steady state. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdbool.h>

#include "chain/chain.h"
#include "chain/engine.h"
#include "random_chain.h"

/* ---- refusals ---------------------------------------------------------------------------- */

/* Expects TRL_ENUMERIC from preparation or, failing that, from inference; `word` in its
 * message. */
static void expect_numeric(random_chain *r, const char *word)
{
    trl_arena arena = {0};
    trl_chain_marginals m;
    trl_error err = {0};
    trl_status st = trl_chain_prepare(&r->c, &r->s, &err);
    if (st == TRL_OK)
        st = trl_chain_infer(
            &r->c, &(trl_chain_ask){.s = &r->s, .arena = &arena, .want = 0, .weight = 1.0}, &m,
            NULL, &err);
    assert_int_equal(st, TRL_ENUMERIC);
    assert_int_equal(err.code, TRL_ENUMERIC);
    if (!strstr(err.msg, word))
        fail_msg("'%s' does not say '%s'", err.msg, word);
    trl_arena_fini(&arena);
}

static void test_bad_scores_are_refused(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(26);
    const double bad[] = {nan(""), nan("123"), HUGE_VAL};
    for (int round = 0; round < 600; round++) {
        random_chain r;
        chain_shape h = {4, 3, 1 + round % 2, true, round / 2 % 2, round / 4 % 2, 2.0, 0.0};
        char token[32];
        random_chain_make(&rng, h, &r);
        const int f = (int)trl_rng_below(&rng, (size_t)h.order + 1);
        const size_t width = f == 0 ? 3 : f == 1 ? 9 : 27, cell = trl_rng_below(&rng, width);
        const size_t t = (size_t)f + trl_rng_below(&rng, 4 - (size_t)f);
        if (r.s.row[f]) {
            r.s.row[f][t * r.s.step[f] + cell] = bad[round % 3];
            snprintf(token, sizeof token, "token %zu is NaN", t + 1);
            expect_numeric(&r, token);
        } else {
            r.s.shared[f][cell] = bad[round % 3];
            expect_numeric(&r, "transition score is NaN");
        }
        random_chain_fini(&r);
    }
}

/* A score of 1e16 at one token is a label known there: all marginals are as if the other labels of
 * the token were forbidden, none is above 1, and every row sums to 1. */
static void test_one_huge_score(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(29);
    for (int round = 0; round < 200; round++) {
        random_chain r;
        trl_arena arena = {0};
        trl_chain_marginals m;
        trl_error err = {0};
        const int order = 1 + round % 2;
        const size_t L = 3, T = 1 + trl_rng_below(&rng, 6), at = trl_rng_below(&rng, T);
        chain_shape h = {T, L, order, true, round / 2 % 2, round / 4 % 2, 4.0, 0.0};
        random_chain_make(&rng, h, &r);
        double *row = r.s.row[TRL_NODE] + at * r.s.step[TRL_NODE];
        const size_t y = trl_rng_below(&rng, L), width = order == 2 && r.s.row[TRL_TRI] ? 27 : 9;
        row[y] = 1e16;
        assert_ok(trl_chain_infer(
            &r.c,
            &(trl_chain_ask){.s = &r.s, .arena = &arena, .want = TRL_WANT_EDGE_ROWS, .weight = 1.0},
            &m, NULL, &err));
        double huge[6 * 8], pairs = 0.0;
        memcpy(huge, m.node, T * r.c.stride * sizeof *huge);
        const double *edge = width == 27 ? m.tri : m.edge;
        for (size_t k = 0; T > 2 && edge && k < width; k++)
            pairs += edge[2 * trl_padded(width) + k];
        if (T > 2 && edge)
            assert_near(pairs, 1.0, 1e-12);
        for (size_t k = 0; k < L; k++)
            row[k] = k == y ? 0.0 : -HUGE_VAL;
        assert_ok(trl_chain_infer(
            &r.c, &(trl_chain_ask){.s = &r.s, .arena = &arena, .want = 0, .weight = 1.0}, &m, NULL,
            &err));
        for (size_t t = 0; t < T; t++)
            for (size_t k = 0; k < L; k++) {
                const double p = huge[t * r.c.stride + k];
                assert_true(p >= 0.0 && p <= 1.0 + 1e-12);
                assert_near(p, m.node[t * r.c.stride + k], 1e-12);
            }
        trl_arena_fini(&arena);
        random_chain_fini(&r);
    }
}

static void test_all_forbidden(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(27);
    for (int round = 0; round < 24; round++) {
        random_chain r;
        chain_shape h = {4, 3, 1 + round % 2, true, round / 2 % 2, round / 4 % 2, 2.0, 0.0};
        random_chain_make(&rng, h, &r);
        if (round % 3 == 0) /* one position without a label */
            for (size_t j = 0; j < 3; j++)
                r.s.row[TRL_NODE][2 * r.s.step[TRL_NODE] + j] = -HUGE_VAL;
        else /* no transition */
            for (size_t k = 0; k < (h.order == 2 && round % 3 == 1 ? 27u : 9u); k++)
                r.s.shared[h.order == 2 && round % 3 == 1 ? TRL_TRI : TRL_EDGE][k] = -HUGE_VAL;
        expect_numeric(&r, "every labelling is forbidden");
        random_chain_fini(&r);
    }
}

static void test_bad_shapes(void **state)
{
    (void)state;
    trl_error err;
    trl_chain c;
    assert_int_equal(trl_chain_init(&c, 0, 1, &err), TRL_EINVAL);
    assert_int_equal(trl_chain_init(&c, 3, 3, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "order 3"));
    assert_int_equal(trl_chain_init(&c, 3, 0, NULL), TRL_EINVAL);
    assert_int_equal(trl_chain_init(&c, 70000, 1, &err), TRL_EINVAL);
    for (int order = 1; order <= 2; order++) {
        trl_arena arena = {0};
        trl_chain_marginals m;
        const trl_tables empty = {0};
        assert_ok(trl_chain_init(&c, 3, order, &err));
        assert_ok(trl_chain_prepare(&c, &empty, &err));
        assert_int_equal(
            trl_chain_infer(
                &c, &(trl_chain_ask){.s = &empty, .arena = &arena, .want = 0, .weight = 1.0}, &m,
                NULL, &err),
            TRL_EINVAL);
        trl_chain_fini(&c);
        trl_arena_fini(&arena);
    }
}

/* ---- what is left out, long chains, memory -------------------------------------------------- */

static void test_rows_only_when_asked_for(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(28);
    for (int round = 0; round < 16; round++) {
        trl_error err;
        trl_arena arena = {0};
        trl_chain_marginals m;
        trl_chain_sums sums;
        random_chain r;
        chain_shape h = {
            1 + (size_t)round / 8 * 4,    3,  1 + round % 2, true, round / 2 % 2, false,
            round / 4 % 2 ? 2000.0 : 2.0, 0.0};
        random_chain_make(&rng, h, &r);
        assert_ok(trl_chain_sums_init(&sums, &r.c, &err));
        assert_ok(trl_chain_infer(
            &r.c,
            &(trl_chain_ask){.s = &r.s, .arena = &arena, .want = TRL_WANT_SUMS, .weight = 1.0}, &m,
            &sums, &err));
        assert_non_null(m.node);
        assert_true(!m.edge && !m.tri);
        assert_ok(trl_chain_infer(
            &r.c,
            &(trl_chain_ask){.s = &r.s, .arena = &arena, .want = TRL_WANT_EDGE_ROWS, .weight = 1.0},
            &m, NULL, &err));
        assert_non_null(m.edge);
        assert_true((m.tri != NULL) == (h.order == 2));
        trl_chain_sums_fini(&sums);
        random_chain_fini(&r);
        trl_arena_fini(&arena);
    }
}

/* log Z by the obvious recursion over states (i, j), any order, long double. */
static long double plain_log_z(const random_chain *r)
{
    const size_t L = r->shape.L;
    long double a[3][3] = {{0}}, b[3][3], max = -HUGE_VALL, z = 0.0L, shift = 0.0L;
    for (size_t i = 0; i < L; i++)
        for (size_t j = 0; j < L; j++)
            a[i][j] = expl(family_score(r, TRL_NODE, 0, i) + family_score(r, TRL_NODE, 1, j) +
                           family_score(r, TRL_EDGE, 1, i * L + j));
    for (size_t t = 2; t < r->shape.T; t++) {
        max = 0.0L;
        for (size_t i = 0; i < L; i++)
            for (size_t j = 0; j < L; j++) {
                b[i][j] = 0.0L;
                for (size_t h = 0; h < L; h++)
                    b[i][j] +=
                        a[h][i] * (r->shape.order == 2
                                       ? expl(family_score(r, TRL_TRI, t, (h * L + i) * L + j))
                                       : 1.0L);
                b[i][j] *=
                    expl(family_score(r, TRL_NODE, t, j) + family_score(r, TRL_EDGE, t, i * L + j));
                max = b[i][j] > max ? b[i][j] : max;
            }
        shift += logl(max);
        for (size_t k = 0; k < L * L; k++)
            a[k / L][k % L] = b[k / L][k % L] / max;
    }
    for (size_t k = 0; k < L * L; k++)
        z += a[k / L][k % L];
    return shift + logl(z);
}

static void test_a_hundred_thousand_tokens(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(29);
    for (int order = 1; order <= 2; order++) {
        trl_error err;
        trl_arena arena = {0};
        trl_chain_marginals m, l;
        random_chain r;
        chain_shape h = {100000, 3, order, true, false, false, 10.0, 0.0};
        random_chain_make(&rng, h, &r);
        const trl_chain_call call = {&r.c, &r.s, &arena, TRL_WANT_LOG_Z_ONLY, 1.0, NULL, false};
        assert_ok(trl_chain_infer(
            &r.c, &(trl_chain_ask){.s = &r.s, .arena = &arena, .want = 0, .weight = 1.0}, &m, NULL,
            &err));
        assert_ok(trl_chain_log(&call, &l, NULL, &err));
        const double want = (double)plain_log_z(&r);
        assert_near(m.log_z, want, 1e-13);
        assert_near(l.log_z, want, 1e-11); /* T roundings of numbers as large as log Z */
        for (size_t t = 0; t < h.T; t++) {
            const double *p = m.node + t * r.c.stride;
            assert_near(p[0] + p[1] + p[2], 1.0, 1e-10);
        }
        random_chain_fini(&r);
        trl_arena_fini(&arena);
    }
}

static void test_steady_state_allocates_nothing(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(30);
    enum { N = 40 };
    random_chain r[N];
    trl_chain_sums sums[N];
    trl_arena arena = {0};
    trl_error err;
    for (int k = 0; k < N; k++) {
        chain_shape h = random_shape(&rng);
        h.T = 1 + trl_rng_below(&rng, 300);
        h.forbid = 0.0;
        random_chain_make(&rng, h, &r[k]);
        assert_ok(trl_chain_sums_init(&sums[k], &r[k].c, &err));
    }
    const void *settled = NULL;
    for (int pass = 0; pass < 3; pass++)
        for (int k = 0; k < N; k++) {
            trl_chain_marginals m;
            trl_arena_reset(&arena);
            const void *before = arena.head;
            assert_ok(trl_chain_infer(&r[k].c,
                                      &(trl_chain_ask){.s = &r[k].s,
                                                       .arena = &arena,
                                                       .want = TRL_WANT_EDGE_ROWS | TRL_WANT_SUMS,
                                                       .weight = 1.0},
                                      &m, &sums[k], &err));
            if (pass == 1 && k == 0)
                settled = before;
            if (pass >= 1)
                assert_ptr_equal(arena.head, settled);
        }
    for (int k = 0; k < N; k++) {
        trl_chain_sums_fini(&sums[k]);
        random_chain_fini(&r[k]);
    }
    trl_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_scores_are_refused),
        cmocka_unit_test(test_one_huge_score),
        cmocka_unit_test(test_all_forbidden),
        cmocka_unit_test(test_bad_shapes),
        cmocka_unit_test(test_rows_only_when_asked_for),
        cmocka_unit_test(test_a_hundred_thousand_tokens),
        cmocka_unit_test(test_steady_state_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
