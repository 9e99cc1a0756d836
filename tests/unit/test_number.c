/* test_number.c -- decimal parsing, against strtod bit for bit. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <locale.h>

#include "base/rng.h"
#include "text/number.h"

/* The parser gets exactly the bytes: a copy without a terminator, for the address sanitizer. */
static trl_number parse(const char *s, double *out)
{
    const size_t n = strlen(s);
    char *bytes = malloc(n ? n : 1);
    memcpy(bytes, s, n);
    const trl_number kind = trl_number_parse(bytes, n, out);
    free(bytes);
    return kind;
}

static void check(const char *s)
{
    const double want = strtod(s, NULL);
    double got = 42.0;
    const trl_number kind = parse(s, &got);
    if (!isfinite(want)) {
        if (kind != TRL_NUMBER_NOT_FINITE || got != 42.0)
            fail_msg("%s: not refused", s);
    } else if (kind != TRL_NUMBER_OK || memcmp(&got, &want, sizeof got) != 0) {
        fail_msg("%s: %a (kind %d), not %a", s, got, (int)kind, want);
    }
}

static void test_hard(void **state)
{
    (void)state;
    static const char *const hard[] = {
        "0",
        "-0",
        "+0.0",
        "1",
        "-1",
        "1.",
        ".5",
        "5.e1",
        "00012",
        "0.000",
        "0e999999999999999999",
        "1e22",
        "1e23",
        "8.5e22",
        "9007199254740992",
        "9007199254740993",
        "9007199254740991e22",
        "9007199254740993e-1",
        "9007199254740993.00000000000000000000000000000000001",
        "9007199254740992.99999999999999999999999999999999999",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        ("1797693134862315807937289714053034150799341327100378269361737789804449682927647509466"
         "49017"),
        "1e999",
        "-1e999",
        "1e-999",
        "-1e-999",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0.1",
        "0.2",
        "0.3",
        "1.1",
        "123456789012345678",
        "1234567890123456789",
        "12345678901234567890",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999e27",
        "9999999999999999999e-27",
        "1e-27",
        "1e27",
        "1e-28",
        "1e28",
        "6.02214076e23",
        "1.6021766339999e-19",
        "3.141592653589793238462643383279502884",
        "7.2057594037927933e16",
        "72057594037927933",
        "72057594037927945",
        "72057594037927941e-3",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
        "0.500000000000000166533453693773481063544750213623046875",
        "104308485241983990666713401708072175773165034278685682111762656e-10",
        "8.10109172351e-10",
        "1.2345e-5",
        "5e-20",
        "67e+4",
        "985e15",
        "7693e-42",
        "1448997445238699",
        "0.393e-35",
        "123456789.123456789",
        "-123.456e-7",
        "1E5",
        "1E+05",
        "1e-00005",
    };
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        check(hard[i]);
}

/* Midpoints of neighbouring doubles, exact and with a last digit up or down, in full length. */
static void test_midpoints(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(7);
    char s[1600];
    for (int i = 0; i < 3000; i++) {
        const int e = (int)trl_rng_below(&rng, i % 3 ? 120 : 2000) - (i % 3 ? 60 : 1040);
        const uint64_t m = (trl_rng_u64(&rng) >> 11) | UINT64_C(1) << 52;
        /* (2m + 1) 2^(e-1) is exact in a long double (64 bits) */
        const long double mid = ldexpl((long double)(2 * m + 1), e > 900 ? 900 : e - 1);
        const int n = snprintf(s, sizeof s, "%.1100Lf", mid);
        assert_true(n > 0 && (size_t)n < sizeof s);
        check(s);
        s[n - 1] = '1';
        check(s);
        char *p = s + n - 2; /* a little below: borrow from the last digit that is not 0 */
        while (*p == '0' || *p == '.')
            p--;
        (*p)--;
        check(s);
        snprintf(s, sizeof s, "%.20Le", mid);
        check(s);
    }
}

static void test_random(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(1);
    char s[128];
    for (int i = 0; i < 300000; i++) {
        const uint64_t bits = trl_rng_u64(&rng);
        double v;
        memcpy(&v, &bits, sizeof v);
        snprintf(s, sizeof s, "%.*e", (int)trl_rng_below(&rng, 20), v);
        check(s);
        v = (trl_rng_unit(&rng) - 0.5) * (double)(1u << trl_rng_below(&rng, 20));
        snprintf(s, sizeof s, "%.17g", v);
        check(s);
        snprintf(s, sizeof s, "%.*f", (int)trl_rng_below(&rng, 25), v);
        check(s);
        snprintf(s, sizeof s, "%llue%d", (unsigned long long)trl_rng_u64(&rng),
                 (int)trl_rng_below(&rng, 60) - 30);
        check(s);
    }
}

/* Strings over the alphabet of numbers: what is accepted, and as what. */
static void test_grammar(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(2);
    static const char alphabet[] = "0019.eE+-";
    char s[12];
    for (int i = 0; i < 300000; i++) {
        const size_t n = trl_rng_below(&rng, 9);
        for (size_t j = 0; j < n; j++)
            s[j] = alphabet[trl_rng_below(&rng, sizeof alphabet - 1)];
        s[n] = '\0';
        char *end;
        strtod(s, &end);
        double got;
        if (n == 0 || *end) {
            if (parse(s, &got) != TRL_NUMBER_BAD)
                fail_msg("'%s' accepted", s);
        } else {
            check(s);
        }
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",     " ",     "1 ",    " 1",   "x",    "1x",  "0x10",  "1e",       "1e+",
        "e5",   ".",     "-",     "+",    "--1",  "1,5", "1_000", "infinit",  "nanx",
        "nan(", "1.2.3", "1e5.0", "info", "-.e1", "+-1", "1d5",   "\xd9\xa1",
    };
    static const char *const not_finite[] = {
        "inf", "INF", "-inf", "+Inf",  "infinity", "-InFiNiTy",
        "nan", "NaN", "-nan", "nan()", "NAN(0x7)", "1e309",
    };
    double v = 3.0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (parse(bad[i], &v) != TRL_NUMBER_BAD)
            fail_msg("'%s' accepted", bad[i]);
    for (size_t i = 0; i < sizeof not_finite / sizeof *not_finite; i++)
        if (parse(not_finite[i], &v) != TRL_NUMBER_NOT_FINITE)
            fail_msg("'%s' not called infinite", not_finite[i]);
    assert_true(v == 3.0);
    assert_int_equal(trl_number_parse("1\0", 2, &v), TRL_NUMBER_BAD);
}

static void test_long(void **state)
{
    (void)state;
    const size_t n = 100000;
    char *s = malloc(n + 16);
    memset(s, '0', n);
    s[0] = '1';
    snprintf(s + n, 16, "e-%zu", n);
    check(s);
    memset(s, '0', n);
    s[1] = '.';
    s[n - 1] = '7';
    snprintf(s + n, 16, "e%zu", n - 100);
    check(s);
    memset(s, '9', n);
    s[n] = '\0';
    check(s);
    free(s);
}

static void test_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) {
        print_message("no locale with a decimal comma\n");
        skip();
    }
    double v = 0.0;
    assert_int_equal(parse("1.5e-300", &v), TRL_NUMBER_OK);
    assert_true(v == 1.5e-300);
    assert_int_equal(parse("1,5", &v), TRL_NUMBER_BAD);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hard),    cmocka_unit_test(test_midpoints),
        cmocka_unit_test(test_random),  cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_long),
        cmocka_unit_test(test_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
