/* test_tag_expand.c -- the expander makes what trl_template_expand makes, on any template. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/rng.h"
#include "chain/tag_expand.h"

static trl_error err;

/* A template of random lines: plain ones, far and absolute rows, tests, long texts. */
static void random_template(trl_rng *rng, trl_buf *out)
{
    const bool wapiti = trl_rng_below(rng, 2) != 0;
    for (size_t k = 1 + trl_rng_below(rng, 6); k > 0; k--) {
        trl_buf_str(out, wapiti ? "u" : "U");
        for (size_t i = trl_rng_below(rng, 5); i > 0; i--) {
            const int row = (int)trl_rng_below(rng, 23) - 11, column = (int)trl_rng_below(rng, 3);
            for (size_t n = trl_rng_below(rng, trl_rng_below(rng, 4) ? 5 : 60); n > 0; n--)
                trl_buf_ch(out, (char)('a' + trl_rng_below(rng, 26)));
            switch (wapiti ? trl_rng_below(rng, 6) : 0) {
            case 1:
                trl_buf_fmt(out, "%%X[%d,%d]", row, column);
                break;
            case 2:
                trl_buf_fmt(out, "%%x[@%d,%d]", row, column);
                break;
            case 3:
                trl_buf_fmt(out, "%%m[%d,%d,\"[a-f]*\"]", row, column);
                break;
            default:
                trl_buf_fmt(out, "%%x[%d,%d]", row, column);
                break;
            }
        }
        trl_buf_ch(out, '\n');
    }
}

static void compare(trl_rng *rng, const trl_template *tpl, trl_expander *x)
{
    static const char letters[] = "Abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
    enum { MAX_T = 30, COLUMNS = 4 };
    trl_str cell[MAX_T * COLUMNS];
    const trl_rows seq = {
        .n_tokens = 1 + trl_rng_below(rng, MAX_T), .n_columns = COLUMNS, .cell = cell};
    for (size_t i = 0; i < MAX_T * COLUMNS; i++)
        cell[i] = (trl_str){letters, trl_rng_below(rng, trl_rng_below(rng, 3) ? 9 : 50)};
    trl_buf have = {0}, want = {0};
    assert_true(trl_expander_set(x, &seq));
    for (size_t k = 0; k < trl_template_count(tpl); k++)
        for (size_t pos = 0; pos < seq.n_tokens; pos++) {
            assert_true(trl_expander_put(x, k, pos, &have));
            assert_true(trl_template_expand(tpl, k, &seq, pos, &want));
            assert_int_equal(have.len, want.len);
            assert_memory_equal(have.data, want.data, want.len);
        }
    trl_buf_fini(&have);
    trl_buf_fini(&want);
}

static void test_same(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(1);
    for (int trial = 0; trial < 300; trial++) {
        trl_buf text = {0};
        trl_template *tpl = NULL;
        trl_expander *x = NULL;
        random_template(&rng, &text);
        assert_ok(trl_template_parse("t", text.data, text.len, &tpl, &err));
        assert_ok(trl_expander_new(tpl, &x, &err));
        for (int s = 0; s < 4; s++)
            compare(&rng, tpl, x);
        trl_expander_free(x);
        trl_template_free(tpl);
        trl_buf_fini(&text);
    }
    trl_expander_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
