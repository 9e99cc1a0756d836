/* test_place_cursor.c -- numbers and words of a line, up to their limits. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "support.h"
#include "text/place_cursor.h"

static trl_place_cursor over(const char *line)
{
    return (trl_place_cursor){line, line + strlen(line)};
}

static void test_numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "x", "0", "01", "-1", "9007199254740993", "99999999999999999999999"};
    uint64_t x;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        trl_place_cursor c = over(bad[k]);
        assert_false(trl_place_number(&c, &x));
    }
    trl_place_cursor c = over("9007199254740992-7");
    assert_true(trl_place_number(&c, &x));
    assert_int_equal(x, (uint64_t)1 << 53);
    assert_string_equal(c.p, "-7");
}

static void test_words(void **state)
{
    (void)state;
    trl_place_cursor c = over(" \t3 =A|B \r");
    trl_place_skip_blanks(&c);
    assert_int_equal(trl_place_word(&c).n, 1);
    trl_place_skip_blanks(&c);
    const trl_str w = trl_place_word(&c);
    assert_int_equal(w.n, 4);
    assert_memory_equal(w.p, "=A|B", 4);
    trl_place_skip_blanks(&c);
    assert_ptr_equal(c.p, c.end);
    assert_int_equal(trl_place_word(&c).n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
