/* test_label_best.c -- the step of the best labelling under automata, against a plain loop. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/rng.h"
#include "chain/label_best.h"
#include "num/simd.h"

static double some_score(trl_rng *rng)
{
    return trl_rng_below(rng, 5) ? 10.0 * trl_rng_unit(rng) - 5.0 : -HUGE_VAL;
}

static void check_step(trl_rng *rng, size_t L)
{
    const size_t step = trl_padded(L);
    double *edge = calloc(L * step, sizeof *edge), *D = calloc(L, sizeof *D);
    double *out = calloc(step, sizeof *out);
    uint32_t *list = calloc(L, sizeof *list);
    size_t n = 0;
    assert_true(edge && D && out && list);
    for (size_t k = 0; k < L * step; k++)
        edge[k] = some_score(rng);
    for (uint32_t i = 0; i < L; i++) {
        D[i] = some_score(rng);
        if (D[i] > -HUGE_VAL && trl_rng_below(rng, 4))
            list[n++] = i;
    }
    trl_best_reach(n, list, step, D, edge, out);
    for (size_t y = 0; y < step; y++) {
        double want = -HUGE_VAL;
        for (size_t k = 0; k < n; k++)
            want = fmax(want, D[list[k]] + edge[list[k] * step + y]);
        if (!(out[y] == want))
            fail_msg("%zu labels, %zu: %g is not %g", L, y, out[y], want);
    }
    double *to = calloc(step, sizeof *to), *node = calloc(step, sizeof *node);
    assert_true(to && node);
    for (size_t y = 0; y < step; y++) {
        to[y] = some_score(rng);
        node[y] = some_score(rng);
        edge[y] = fmax(to[y], out[y] + node[y]);
    }
    trl_best_spread(step, out, node, to);
    assert_memory_equal(to, edge, step * sizeof *to);
    free(to);
    free(node);
    free(edge);
    free(D);
    free(out);
    free(list);
}

static void test_step(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(5);
    for (size_t L = 1; L <= 70; L++)
        for (int i = 0; i < 20; i++)
            check_step(&rng, L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
