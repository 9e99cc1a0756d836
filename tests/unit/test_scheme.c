/* test_scheme.c -- chunks and labels: every labelling of four tokens, in every scheme. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "trellis/scheme.h"

#define TOKENS 4

static trl_error err;

/* Labels that any scheme may have, of two types. */
static const char *const labels[] = {"O",   "B-X", "I-X", "E-X", "S-X", "L-X", "U-X",
                                     "B-Y", "I-Y", "E-Y", "S-Y", "L-Y", "U-Y", "N"};
#define LABELS (sizeof labels / sizeof *labels)

static void pick(size_t code, trl_str *label)
{
    for (size_t t = 0; t < TOKENS; t++, code /= LABELS) {
        const char *s = labels[code % LABELS];
        label[t] = (trl_str){s, strlen(s)};
    }
}

/* The labels of the chunks, as text. */
static void write_labels(trl_scheme scheme, const trl_chunk *chunk, size_t n, char out[TOKENS][8])
{
    char prefix[TOKENS];
    trl_scheme_prefixes(scheme, chunk, n, prefix, TOKENS);
    for (size_t t = 0; t < TOKENS; t++)
        snprintf(out[t], 8, "%c", prefix[t]);
    for (size_t k = 0; k < n; k++)
        for (size_t t = chunk[k].begin; t < chunk[k].end; t++)
            snprintf(out[t], 8, "%c-%.*s", prefix[t], (int)chunk[k].type.n, chunk[k].type.p);
}

/* Labels are well-formed exactly when their chunks are written by the same labels. */
static void test_enumeration(void **state)
{
    (void)state;
    size_t good[TRL_SCHEME_BILOU + 1] = {0};
    for (size_t code = 0; code < LABELS * LABELS * LABELS * LABELS; code++) {
        trl_str label[TOKENS];
        trl_chunk chunk[TOKENS];
        char again[TOKENS][8];
        pick(code, label);
        const size_t n = trl_chunks_of(label, TOKENS, chunk);
        for (trl_scheme s = TRL_SCHEME_IOB1; s <= TRL_SCHEME_BILOU; s++) {
            bool same = true;
            size_t at = TOKENS;
            write_labels(s, chunk, n, again);
            for (size_t t = 0; t < TOKENS; t++)
                same &=
                    strlen(again[t]) == label[t].n && memcmp(again[t], label[t].p, label[t].n) == 0;
            const trl_status st = trl_scheme_check(s, label, TOKENS, &at, &err);
            assert_int_equal(st, same ? TRL_OK : TRL_EPARSE);
            assert_true(st == TRL_OK || (at < TOKENS && err.msg[0]));
            good[s] += same;
        }
    }
    for (trl_scheme s = TRL_SCHEME_IOB2; s <= TRL_SCHEME_BILOU; s++) /* as many as chunkings */
        assert_int_equal(good[s], good[TRL_SCHEME_IOB1]);
    assert_int_equal(good[TRL_SCHEME_IOB1], 153);
}

static void expect_fault(trl_scheme s, const char *const *text, size_t n, size_t token,
                         const char *what)
{
    trl_str label[8];
    size_t at = 99;
    for (size_t t = 0; t < n; t++)
        label[t] = (trl_str){text[t], strlen(text[t])};
    assert_int_equal(trl_scheme_check(s, label, n, &at, &err), TRL_EPARSE);
    assert_int_equal(at, token);
    assert_string_equal(err.msg, what);
}

static void test_faults(void **state)
{
    (void)state;
    expect_fault(TRL_SCHEME_IOB2, (const char *[]){"O", "I-X"}, 2, 1,
                 "'I-X' does not follow 'O' in iob2");
    expect_fault(TRL_SCHEME_IOBES, (const char *[]){"O", "B-X"}, 2, 1,
                 "'B-X' does not end a sequence in iobes");
    expect_fault(TRL_SCHEME_BILOU, (const char *[]){"L-X"}, 1, 0,
                 "'L-X' does not start a sequence in bilou");
    expect_fault(TRL_SCHEME_IOE2, (const char *[]){"S-X"}, 1, 0, "'S-X' is not a label of ioe2");
    size_t at;
    assert_ok(trl_scheme_check(TRL_SCHEME_NONE, NULL, 0, &at, &err));
    assert_ok(trl_scheme_check(TRL_SCHEME_IOB2, NULL, 0, &at, &err));
    assert_int_equal(trl_scheme_check(TRL_SCHEME_IOB2, NULL, 1, &at, &err), TRL_EINVAL);
    assert_string_equal(trl_scheme_name(TRL_SCHEME_IOE1), "ioe1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_enumeration),
                                       cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
