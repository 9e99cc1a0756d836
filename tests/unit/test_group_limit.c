/* test_group_limit.c -- counts beyond 32 bits are not grouped. */
/* SPDX-License-Identifier: MIT */
#include "support.h"
#include "chain/token_kernel.h"
#include "chain_problem.h"
#include "feature/implied_rows.h"
#include "feature/token_groups.h"

/* Places in the lists are 32 bits: more occurrences are not grouped.  The count alone is large. */
static void test_too_many_for_groups(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(64);
    const corpus_shape h = {.sequences = 100,
                            .max_tokens = 20,
                            .L = 9,
                            .attrs = {400},
                            .per_token = {3},
                            .implied = true};
    const trl_design_options o = {.order = 1};
    chain_problem p;
    trl_token_groups q;
    trl_implied_rows implied;
    trl_error err;
    bool useful;
    problem_make(&rng, &h, &o, "memm", 1, &p);
    uint64_t *end = &p.d.family[TRL_NODE].dense_begin[p.d.n_tokens];
    const uint64_t true_end = *end, counts[] = {true_end, (uint64_t)1 << 32, (uint64_t)5 << 32};
    for (size_t k = 0; k < 3; k++) {
        *end = counts[k];
        assert_ok(
            trl_token_groups_build(&q, &implied, &p.d, &p.c.family[TRL_NODE].names, &useful, &err));
        assert_int_equal(useful, k == 0);
        trl_implied_fini(&implied);
        trl_token_groups_fini(&q);
    }
    *end = true_end;
    problem_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_too_many_for_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
