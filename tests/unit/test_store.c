/* test_store.c -- blocks on the heap and in the file keep what is written to them. */
/* SPDX-License-Identifier: MIT */
#include "base/store.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "support.h"

static void check_blocks(size_t budget, bool want_file)
{
    trl_store *s = NULL;
    trl_error err;
    unsigned char *block[40];
    assert_ok(trl_store_new(budget, &s, &err));
    for (size_t k = 0; k < 40; k++) {
        const size_t n = 1000003 * (k % 5) + k;
        block[k] = trl_store_get(s, n);
        assert_non_null(block[k]);
        assert_int_equal((uintptr_t)block[k] % 8, 0);
        memset(block[k], (int)k + 1, n);
    }
    for (size_t k = 0; k < 40; k++)
        for (size_t i = 0, n = 1000003 * (k % 5) + k; i < n; i += 4093)
            assert_int_equal(block[k][i], k + 1);
    size_t in_file;
    assert_true(trl_store_bytes(s, &in_file) >= 80000000);
    assert_int_equal(in_file > 0, want_file);
    trl_store_free(s);
}

static void test_heap(void **state)
{
    (void)state;
    check_blocks((size_t)1 << 30, false);
}

static void test_file(void **state)
{
    (void)state;
    check_blocks((size_t)20 << 20, true);
    check_blocks(0, true);
    trl_store_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_heap), cmocka_unit_test(test_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
