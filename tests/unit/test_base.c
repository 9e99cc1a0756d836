/* test_base.c -- strings, memory, random numbers, errors. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/strtab.h"

/* ---- strtab against a list ---------------------------------------------------------------- */

enum { MAX_STRINGS = 3000, MAX_LEN = 12 };

typedef struct naive { /* the obvious table: a list searched from the front */
    size_t n, len[MAX_STRINGS];
    char text[MAX_STRINGS][MAX_LEN];
} naive;

static uint32_t naive_find(const naive *m, const char *p, size_t n)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->len[i] == n && memcmp(m->text[i], p, n) == 0)
            return (uint32_t)i;
    return TRL_NO_ID;
}

static uint32_t naive_add(naive *m, const char *p, size_t n)
{
    const uint32_t have = naive_find(m, p, n);
    if (have != TRL_NO_ID)
        return have;
    memcpy(m->text[m->n], p, n);
    m->len[m->n] = n;
    return (uint32_t)m->n++;
}

/* Bytes from a small set with NUL in it, so that prefixes and repeats are common. */
static size_t random_string(trl_rng *rng, char *p)
{
    const size_t n = trl_rng_below(rng, MAX_LEN + 1);
    for (size_t i = 0; i < n; i++)
        p[i] = "a\0\xff"[trl_rng_below(rng, 3)];
    return n;
}

static void check_same(const trl_strtab *t, const naive *m, trl_rng *rng)
{
    const trl_strview v = trl_strtab_view(t);
    assert_int_equal(t->n, m->n);
    assert_int_equal(v.n, m->n);
    assert_true(trl_strview_check(&v, t->pool_len));
    for (uint32_t i = 0; i < m->n; i++) {
        const trl_str a = trl_strtab_get(t, i), b = trl_strview_get(&v, i);
        assert_int_equal(a.n, m->len[i]);
        assert_memory_equal(a.p, m->text[i], a.n);
        assert_true(a.p == b.p && a.n == b.n);
    }
    for (int k = 0; k < 500; k++) {
        char p[MAX_LEN];
        const size_t n = random_string(rng, p);
        const uint32_t want = naive_find(m, p, n);
        assert_int_equal(trl_strtab_find(t, p, n), want);
        assert_int_equal(trl_strview_find(&v, p, n, trl_str_hash(p, n)), want);
    }
}

static void test_strtab(void **state)
{
    (void)state;
    static naive m, kept;
    trl_rng rng = trl_rng_seed(51);
    trl_strtab t = {0};
    char p[MAX_LEN];
    m.n = 0;
    check_same(&t, &m, &rng);
    for (int k = 0; k < 4000 && m.n < MAX_STRINGS; k++) {
        const size_t n = random_string(&rng, p);
        const uint32_t want = naive_add(&m, p, n);
        assert_int_equal(trl_strtab_add(&t, p, n), want);
        if (k % 500 == 0)
            check_same(&t, &m, &rng);
    }
    assert_true(m.n > 1000 && naive_find(&m, "", 0) != TRL_NO_ID);
    check_same(&t, &m, &rng);

    static uint32_t old[MAX_STRINGS];
    for (int round = 0; round < 4; round++) { /* every third, shuffled; at last none */
        size_t n = 0;
        for (uint32_t i = 0; round < 3 && i < m.n; i++)
            if (trl_rng_below(&rng, 3) == 0)
                old[n++] = i;
        for (size_t i = n; i > 1; i--) {
            const size_t j = trl_rng_below(&rng, i);
            const uint32_t x = old[i - 1];
            old[i - 1] = old[j];
            old[j] = x;
        }
        kept.n = 0;
        for (size_t i = 0; i < n; i++)
            assert_int_equal(naive_add(&kept, m.text[old[i]], m.len[old[i]]), i);
        assert_true(trl_strtab_select(&t, old, n));
        m = kept;
        check_same(&t, &m, &rng);
        assert_int_equal(trl_strtab_add(&t, "new string", 10), naive_add(&m, "new string", 10));
        check_same(&t, &m, &rng);
    }
    trl_strtab_fini(&t);
}

static void test_strtab_many(void **state)
{
    (void)state;
    static naive m;
    trl_rng rng = trl_rng_seed(52);
    trl_strtab t = {0};
    m.n = 0;
    for (int k = 0; k < 200 && m.n + TRL_STRTAB_MANY < MAX_STRINGS; k++) {
        static char text[TRL_STRTAB_MANY][MAX_LEN];
        trl_str s[TRL_STRTAB_MANY];
        uint32_t id[TRL_STRTAB_MANY];
        const size_t n = trl_rng_below(&rng, TRL_STRTAB_MANY + 1);
        for (size_t i = 0; i < n; i++)
            s[i] = (trl_str){text[i], random_string(&rng, text[i])};
        assert_true(trl_strtab_add_many(&t, s, n, id));
        for (size_t i = 0; i < n; i++)
            assert_int_equal(id[i], naive_add(&m, s[i].p, s[i].n));
    }
    assert_true(m.n > 1000);
    check_same(&t, &m, &rng);
    trl_strtab_fini(&t);
}

static void test_strview_check_finds_damage(void **state)
{
    (void)state;
    trl_strtab t = {0};
    for (char c = 'a'; c <= 'z'; c++)
        trl_strtab_add(&t, &c, 1);
    uint32_t end[26], slot[64];
    trl_strview v = trl_strtab_view(&t);
    for (size_t i = 0; i < 26; i++)
        end[i] = (uint32_t)t.end[i];
    memcpy(slot, v.slot, sizeof slot);
    assert_int_equal(v.n_slots, 64);
    v.end64 = NULL;
    v.end32 = end; /* the narrow form, as in a file */
    v.slot = slot;
    assert_true(trl_strview_check(&v, 26));
    assert_int_equal(trl_strview_find(&v, "q", 1, trl_str_hash("q", 1)), 'q' - 'a');
    assert_memory_equal(trl_strview_get(&v, 3).p, "d", 1);
    assert_false(trl_strview_check(&v, 25)); /* the last string ends outside */
    end[5] = 3;                              /* before its start */
    assert_false(trl_strview_check(&v, 26));
    end[5] = 6;
    for (size_t k = 0; k < 64; k++) { /* a slot out of range; no slot free */
        const uint32_t was = slot[k];
        slot[k] = 27;
        assert_false(trl_strview_check(&v, 26));
        slot[k] = was;
    }
    for (size_t k = 0; k < 64; k++)
        slot[k] = 1;
    assert_false(trl_strview_check(&v, 26));
    memcpy(slot, t.slot, sizeof slot);
    v.n_slots = 63;
    assert_false(trl_strview_check(&v, 26));
    v.n_slots = 16; /* fewer than strings */
    assert_false(trl_strview_check(&v, 26));
    v.n_slots = 0;
    assert_false(trl_strview_check(&v, 26));
    trl_strtab_fini(&t);
}

/* ---- memory ------------------------------------------------------------------------------- */

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
/* Nothing beside the array may be touched, and nothing at all after a reset. */
static void check_edges(unsigned char *p, size_t n)
{
    assert_null(__asan_region_is_poisoned(p, n));
    for (size_t k = 0; k < 64; k++)
        assert_true(__asan_address_is_poisoned(p + n + k));
}
static void check_gone(unsigned char *p, size_t n)
{
    assert_true(n == 0 || __asan_address_is_poisoned(p));
    assert_true(n == 0 || __asan_address_is_poisoned(p + n - 1));
}
#else
static void check_edges(unsigned char *p, size_t n)
{
    (void)p, (void)n;
}
static void check_gone(unsigned char *p, size_t n)
{
    (void)p, (void)n;
}
#endif

static void test_arena(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(52);
    trl_arena a = {0};
    unsigned char *got[300];
    size_t len[300];
    const void *settled = NULL;
    trl_arena_reset(&a); /* of nothing */
    for (int pass = 0; pass < 4; pass++) {
        for (int k = 0; k < 300; k++) {
            len[k] = pass ? len[k] : trl_rng_below(&rng, 5000);
            got[k] = trl_arena_get(&a, len[k], 1);
            assert_non_null(got[k]);
            assert_int_equal((uintptr_t)got[k] % 64, 0);
            check_edges(got[k], len[k]);
        }
        for (int k = 0; k < 300; k++)
            memset(got[k], k & 0xff, len[k]);
        for (int k = 0; k < 300; k++)
            for (size_t i = 0; i < len[k]; i++)
                assert_int_equal(got[k][i], k & 0xff);
        if (pass >= 1)
            assert_ptr_equal(a.head, settled);
        trl_arena_reset(&a);
        for (int k = 0; pass >= 1 && k < 300; k++)
            check_gone(got[k], len[k]);
        settled = a.head;
    }
    assert_null(trl_arena_get(&a, SIZE_MAX / 2, 3));
    assert_null(trl_arena_get(&a, SIZE_MAX - 10, 1));
    assert_non_null(trl_arena_get(&a, 0, 8));
    trl_arena_fini(&a);
    /* a limit on all blocks together, also after a reset */
    a = (trl_arena){.limit = 200000};
    for (int round = 0; round < 3; round++) {
        size_t held = 0;
        a.limited = false;
        while (trl_arena_get(&a, 30000, 1))
            held += 30000;
        assert_true(a.limited && held >= 150000 && held <= 200000);
        trl_arena_reset(&a);
    }
    trl_arena_fini(&a);
    assert_null(a.head);
}

static void test_mem(void **state)
{
    (void)state;
    assert_null(trl_alloc(SIZE_MAX / 2, 3));
    assert_null(trl_zalloc(SIZE_MAX / 2, 3));
    assert_null(trl_alloc64(SIZE_MAX - 5, 1));
    size_t cap = 0;
    int *p = trl_reserve(NULL, &cap, 5, sizeof *p);
    assert_true(p && cap >= 5);
    for (int i = 0; i < 5; i++)
        p[i] = i;
    const size_t before = cap;
    assert_ptr_equal(trl_reserve(p, &cap, before, sizeof *p), p);
    assert_null(trl_reserve(p, &cap, SIZE_MAX / 2, sizeof *p));
    assert_int_equal(cap, before);
    p = trl_reserve(p, &cap, before + 1, sizeof *p);
    assert_true(p && cap >= 2 * before && p[4] == 4);
    trl_free(p);
    char *s = trl_strndup("a\0bc", 4);
    assert_memory_equal(s, "a\0bc", 5);
    trl_free(s);
}

static void test_buf(void **state)
{
    (void)state;
    trl_buf b = {0};
    char want[4000];
    size_t n = 0;
    for (int k = 0; k < 300; k++) {
        assert_true(trl_buf_fmt(&b, "%d,", k));
        n += (size_t)snprintf(want + n, sizeof want - n, "%d,", k);
        assert_true(trl_buf_ch(&b, '\0') && trl_buf_str(&b, "xy") && trl_buf_add(&b, NULL, 0));
        memcpy(want + n, "\0xy", 3);
        n += 3;
    }
    assert_int_equal(b.len, n);
    assert_memory_equal(b.data, want, n);
    assert_false(b.failed);
    assert_false(trl_buf_add(&b, want, SIZE_MAX - 5)); /* too much: refused, nothing lost */
    assert_true(b.failed && b.len == n && memcmp(b.data, want, n) == 0);
    trl_buf_fini(&b);
    assert_true(!b.data && !b.failed);
}

/* ---- random numbers: the published outputs of splitmix64 and xoshiro256** ------------------- */

/* Known products, and (a b) mod 2^64 = 0 - a (2^64 - b): the carries of both must agree. */
static void test_mul_high(void **state)
{
    (void)state;
    static const uint64_t known[][3] = {
        {UINT64_MAX, UINT64_MAX, UINT64_MAX - 1},
        {UINT64_MAX, 2, 1},
        {UINT64_C(1) << 63, 6, 3},
        {UINT64_C(0xffffffff), UINT64_C(0xffffffff), 0},
        {UINT64_C(0x123456789abcdef0), 0, 0},
        {UINT64_C(0x100000001), UINT64_C(0xffffffff00000001), UINT64_C(0x100000000)}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        assert_true(trl_mul_high(known[k][0], known[k][1]) == known[k][2]);
    trl_rng rng = trl_rng_seed(9);
    for (int round = 0; round < 100000; round++) {
        const uint64_t a = trl_rng_u64(&rng) | 1, b = trl_rng_u64(&rng) | 1;
        /* a b + a (2^64 - b) = a 2^64; neither low half is 0, so one is carried */
        assert_true(trl_mul_high(a, b) + trl_mul_high(a, 0 - b) + 1 == a);
        trl_rng one = trl_rng_seed(b), two = one;
        assert_true(trl_rng_below64(&one, a) == trl_mul_high(trl_rng_u64(&two), a));
    }
}

static void test_rng(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(1234567);
    static const uint64_t seeded[4] = {6457827717110365317u, 3203168211198807973u,
                                       9817491932198370423u, 4593380528125082431u};
    static const uint64_t out[10] = {11520u,
                                     0u,
                                     1509978240u,
                                     1215971899390074240u,
                                     1216172134540287360u,
                                     607988272756665600u,
                                     16172922978634559625u,
                                     8476171486693032832u,
                                     10595114339597558777u,
                                     2904607092377533576u};
    for (int i = 0; i < 4; i++)
        assert_true(r.s[i] == seeded[i]);
    r = (trl_rng){{1, 2, 3, 4}};
    for (int i = 0; i < 10; i++)
        assert_true(trl_rng_u64(&r) == out[i]);
    size_t count[7] = {0};
    double sum = 0.0;
    for (int i = 0; i < 70000; i++) {
        const double u = trl_rng_unit(&r);
        assert_true(u >= 0.0 && u < 1.0);
        sum += u;
        count[trl_rng_below(&r, 7)]++; /* ASan and the sums below watch the range */
    }
    assert_near(sum / 70000.0, 0.5, 0.01);
    for (int i = 0; i < 7; i++)
        assert_near((double)count[i], 10000.0, 0.05);
    assert_int_equal(trl_rng_below(&r, 1), 0);
}

/* ---- errors ----------------------------------------------------------------------------- */

static void test_errors(void **state)
{
    (void)state;
    trl_error err;
    char text[64];
    assert_int_equal(trl_fail(&err, TRL_EPARSE, "%d fields", 3), TRL_EPARSE);
    trl_error_text(&err, text, sizeof text);
    assert_string_equal(text, "3 fields");
    trl_fail_where(&err, TRL_EPARSE, "a.txt", 17, 4);
    trl_error_text(&err, text, sizeof text);
    assert_string_equal(text, "a.txt:17:4: 3 fields");
    trl_error_text(&err, text, 8);
    assert_string_equal(text, "a.txt:1");
    assert_int_equal(trl_fail(NULL, TRL_EIO, "x"), TRL_EIO);
    for (int code = TRL_OK; code <= TRL_ECANCEL; code++)
        assert_string_not_equal(trl_status_name((trl_status)code), "unknown status");
    assert_string_equal(trl_status_name((trl_status)99), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strtab),
        cmocka_unit_test(test_strtab_many),
        cmocka_unit_test(test_strview_check_finds_damage),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_mem),
        cmocka_unit_test(test_buf),
        cmocka_unit_test(test_mul_high),
        cmocka_unit_test(test_rng),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
