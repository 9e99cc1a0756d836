/* test_decode.c -- the best and the n best labellings against enumeration.
 *
 * Scores are sums of at most 3 T terms taken in different orders: 1e-14 times their scale.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdbool.h>

#include "chain/chain.h"
#include "random_chain.h"

enum { MAX_T = 5, MAX_N = 1024 }; /* 4^5 labellings at most */

static double score_tol(const random_chain *r)
{
    return 1e-14 * (1.0 + r->shape.scale);
}

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The scores of all labellings that are not forbidden, best first; returns their number. */
static size_t all_scores(const random_chain *r, double *score)
{
    uint32_t y[MAX_T];
    size_t n = 0;
    for (size_t k = 0; k < labellings(&r->shape); k++) {
        labelling(&r->shape, k, y);
        const double s = (double)score_of(r, y);
        if (s > -HUGE_VAL)
            score[n++] = s;
    }
    qsort(score, n, sizeof *score, falling);
    return n;
}

static size_t number_of(const chain_shape *h, const uint32_t *y)
{
    size_t k = 0;
    for (size_t t = h->T; t-- > 0;) {
        assert_true(y[t] < h->L);
        k = k * h->L + y[t];
    }
    return k;
}

static void check_viterbi(const random_chain *r, trl_arena *arena, size_t n, const double *want)
{
    trl_error err;
    uint32_t y[MAX_T];
    double score;
    trl_arena_reset(arena);
    const trl_status st = trl_chain_viterbi(&r->c, &r->s, arena, y, &score, &err);
    if (n == 0) {
        assert_int_equal(st, TRL_ENUMERIC);
        assert_string_equal(err.msg, "every labelling is forbidden");
        return;
    }
    assert_ok(st);
    assert_near(score, want[0], score_tol(r));
    assert_near((double)score_of(r, y), want[0], score_tol(r)); /* the labelling itself */
    assert_near(trl_chain_score(&r->c, &r->s, y), score, score_tol(r));
}

/* Asks for `ask` labellings where `n` exist with the scores want[]. */
static void check_nbest(const random_chain *r, trl_arena *arena, size_t ask, size_t n,
                        const double *want)
{
    static uint32_t y[(MAX_N + 10) * MAX_T];
    static double score[MAX_N + 10];
    bool seen[MAX_N] = {false};
    trl_error err;
    size_t found = 99;
    trl_arena_reset(arena);
    const trl_status st =
        trl_chain_nbest(&r->c, &r->s, arena,
                        &(trl_chain_list){.n = ask, .y = y, .score = score, .found = &found}, &err);
    if (n == 0) {
        assert_int_equal(st, TRL_ENUMERIC);
        return;
    }
    assert_ok(st);
    assert_int_equal(found, ask < n ? ask : n);
    for (size_t k = 0; k < found; k++) {
        const uint32_t *yk = y + k * r->shape.T;
        const size_t number = number_of(&r->shape, yk);
        assert_false(seen[number]);
        seen[number] = true;
        assert_near(score[k], want[k], score_tol(r));
        assert_near(trl_chain_score(&r->c, &r->s, yk), score[k], score_tol(r));
        assert_true(k == 0 || score[k] <= score[k - 1]);
    }
}

/* Without ties (scores are random) the first of any list is Viterbi's labelling. */
static void check_first(const random_chain *r, trl_arena *arena)
{
    trl_error err;
    uint32_t best[MAX_T], first[MAX_T];
    double score, first_score;
    size_t found;
    trl_arena_reset(arena);
    assert_ok(trl_chain_viterbi(&r->c, &r->s, arena, best, &score, &err));
    assert_ok(trl_chain_nbest(
        &r->c, &r->s, arena,
        &(trl_chain_list){.n = 1, .y = first, .score = &first_score, .found = &found}, &err));
    assert_int_equal(found, 1);
    assert_memory_equal(best, first, r->shape.T * sizeof *best);
    assert_near(first_score, score, score_tol(r));
}

static void test_enumeration(void **state)
{
    (void)state;
    static double want[MAX_N];
    trl_rng rng = trl_rng_seed(41);
    trl_arena arena = {0};
    for (int round = 0; round < 4000; round++) {
        random_chain r;
        chain_shape h = random_shape(&rng);
        h.scale = h.scale < 1.0 ? 1.0 : h.scale; /* else near-ties */
        random_chain_make(&rng, h, &r);
        const size_t n = all_scores(&r, want);
        check_viterbi(&r, &arena, n, want);
        check_nbest(&r, &arena, 1 + trl_rng_below(&rng, 12), n, want);
        if (round % 8 == 0) { /* all there are, and more than there are */
            check_nbest(&r, &arena, n ? n : 1, n, want);
            check_nbest(&r, &arena, n + 5, n, want);
        }
        if (n)
            check_first(&r, &arena);
        random_chain_fini(&r);
    }
    trl_arena_fini(&arena);
}

/* Small whole numbers: most maxima are ties, sums are exact.  The first labelling in the order
 * of labelling() is the one with the lowest label at the latest position. */
static void test_ties_take_the_lowest_label_at_the_latest_position(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(42);
    trl_arena arena = {0};
    for (int round = 0; round < 2000; round++) {
        random_chain r;
        chain_shape h = random_shape(&rng);
        h.scale = 3.0;
        random_chain_make(&rng, h, &r);
        for (int f = 0; f < TRL_FAMILIES; f++) {
            const size_t width = f == 0 ? h.L : f == 1 ? h.L * h.L : h.L * h.L * h.L;
            for (size_t k = 0; r.s.row[f] && k < h.T * r.s.step[f]; k++)
                r.s.row[f][k] = floor(r.s.row[f][k]);
            for (size_t k = 0; r.s.shared[f] && k < width; k++)
                r.s.shared[f][k] = floor(r.s.shared[f][k]);
        }
        trl_error err;
        assert_ok(trl_chain_prepare(&r.c, &r.s, &err));
        uint32_t y[MAX_T], got[MAX_T];
        size_t first = 0;
        long double best = -HUGE_VALL;
        for (size_t k = 0; k < labellings(&h); k++) {
            labelling(&h, k, y);
            if (score_of(&r, y) > best) {
                best = score_of(&r, y);
                first = k;
            }
        }
        double score;
        trl_arena_reset(&arena);
        const trl_status st = trl_chain_viterbi(&r.c, &r.s, &arena, got, &score, &err);
        if (best > -HUGE_VALL) {
            assert_ok(st);
            assert_true((long double)score == best);
            assert_int_equal(number_of(&h, got), first);
        } else {
            assert_int_equal(st, TRL_ENUMERIC);
        }
        static double want[MAX_N];
        const size_t n = all_scores(&r, want);
        check_nbest(&r, &arena, 1 + n / 2, n, want);
        random_chain_fini(&r);
    }
    trl_arena_fini(&arena);
}

/* Many labels: whole vectors, tails, and label numbers beyond a byte. */
static void test_viterbi_is_the_first_of_ten(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(43);
    static const size_t labels[] = {7, 8, 9, 22, 45, 300};
    for (size_t k = 0; k < 6; k++)
        for (int v = 0; v < 4; v++) {
            trl_error err;
            trl_arena arena = {0};
            random_chain r;
            chain_shape h = {40, labels[k], 1 + v % 2, true, v / 2 != 0, false, 4.0, 0.05};
            if (h.L > 22) {
                h.order = 1;
                h.T = 10;
            }
            random_chain_make(&rng, h, &r);
            uint32_t best[40], y[10 * 40];
            double score, scores[10];
            size_t found;
            assert_ok(trl_chain_viterbi(&r.c, &r.s, &arena, best, &score, &err));
            assert_ok(trl_chain_nbest(
                &r.c, &r.s, &arena,
                &(trl_chain_list){.n = 10, .y = y, .score = scores, .found = &found}, &err));
            assert_int_equal(found, 10);
            assert_memory_equal(best, y, h.T * sizeof *best);
            assert_near(score, scores[0], 1e-13);
            for (size_t i = 0; i < found; i++) {
                assert_near((double)score_of(&r, y + i * h.T), scores[i], 1e-13);
                for (size_t j = 0; j < i; j++)
                    assert_memory_not_equal(y + i * h.T, y + j * h.T, h.T * sizeof *y);
            }
            random_chain_fini(&r);
            trl_arena_fini(&arena);
        }
}

static void test_refusals(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(44);
    for (int order = 1; order <= 2; order++) {
        trl_error err = {0};
        trl_arena arena = {0};
        random_chain r;
        uint32_t y[8];
        double score[2];
        size_t found;
        random_chain_make(&rng, (chain_shape){4, 3, order, true, false, false, 1.0, 0.0}, &r);
        assert_int_equal(
            trl_chain_nbest(&r.c, &r.s, &arena,
                            &(trl_chain_list){.n = 0, .y = y, .score = score, .found = &found},
                            &err),
            TRL_EINVAL);
        assert_int_equal(
            trl_chain_nbest(
                &r.c, &r.s, &arena,
                &(trl_chain_list){.n = SIZE_MAX / 2, .y = y, .score = score, .found = &found},
                &err),
            TRL_ENOMEM);
        r.s.row[TRL_NODE][r.s.step[TRL_NODE] + 1] = HUGE_VAL;
        assert_int_equal(trl_chain_viterbi(&r.c, &r.s, &arena, y, score, &err), TRL_ENUMERIC);
        assert_string_equal(err.msg, "a label score at token 2 is NaN or infinite");
        assert_int_equal(
            trl_chain_nbest(&r.c, &r.s, &arena,
                            &(trl_chain_list){.n = 2, .y = y, .score = score, .found = &found},
                            &err),
            TRL_ENUMERIC);
        r.s.row[TRL_NODE][r.s.step[TRL_NODE] + 1] = nan("");
        assert_int_equal(trl_chain_viterbi(&r.c, &r.s, &arena, y, score, &err), TRL_ENUMERIC);
        assert_int_equal(
            trl_chain_nbest(&r.c, &r.s, &arena,
                            &(trl_chain_list){.n = 2, .y = y, .score = score, .found = &found},
                            &err),
            TRL_ENUMERIC);
        assert_string_equal(err.msg, "a label score at token 2 is NaN or infinite");
        const trl_tables empty = {0};
        assert_int_equal(trl_chain_viterbi(&r.c, &empty, &arena, y, score, &err), TRL_EINVAL);
        assert_int_equal(
            trl_chain_nbest(&r.c, &empty, &arena,
                            &(trl_chain_list){.n = 1, .y = y, .score = score, .found = &found},
                            &err),
            TRL_EINVAL);
        random_chain_fini(&r);
        trl_arena_fini(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumeration),
        cmocka_unit_test(test_ties_take_the_lowest_label_at_the_latest_position),
        cmocka_unit_test(test_viterbi_is_the_first_of_ten),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
