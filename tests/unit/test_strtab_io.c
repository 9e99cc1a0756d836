/* test_strtab_io.c -- string tables through a container. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/mem.h"
#include "model/strtab_io.h"

static trl_container *store(const trl_strtab *t, unsigned char **bytes)
{
    trl_error err;
    trl_container_builder b = {0};
    trl_container *c = NULL;
    size_t n;
    assert_ok(trl_strtab_save(t, "labl", &b, &err));
    assert_ok(trl_container_to_buffer(&b, "test", bytes, &n, &err));
    trl_container_builder_fini(&b);
    assert_ok(trl_container_from_memory(*bytes, n, "test", &c, &err));
    return c;
}

static void test_round_trip(void **state)
{
    (void)state;
    /* strings -> slots: the smallest power of two with a load of at most 0.8 */
    static const size_t sizes[][2] = {{0, 1},    {1, 2},      {2, 4},      {3, 4},        {4, 8},
                                      {6, 8},    {7, 16},     {12, 16},    {13, 32},      {51, 64},
                                      {52, 128}, {819, 1024}, {820, 2048}, {20000, 32768}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        trl_error err;
        trl_strtab t = {0};
        trl_strview v;
        unsigned char *bytes;
        char s[32];
        for (size_t i = 0; i < sizes[k][0]; i++) {
            int n = snprintf(s, sizeof s, "w%zu", i * 7919);
            n = i == 1 ? 0 : n; /* the empty string, and one with a NUL */
            s[1] = i == 2 ? '\0' : s[1];
            assert_int_equal(trl_strtab_add(&t, s, (size_t)n), i);
        }
        trl_container *c = store(&t, &bytes);
        assert_ok(trl_strview_load(c, "labl", &v, &err));
        assert_int_equal(v.n, sizes[k][0]);
        assert_int_equal(v.n_slots, sizes[k][1]);
        assert_true(v.end32 && !v.end64);
        for (uint32_t i = 0; i < v.n; i++) {
            const trl_str have = trl_strview_get(&v, i), want = trl_strtab_get(&t, i);
            assert_int_equal(have.n, want.n);
            assert_memory_equal(have.p, want.p, want.n);
            const uint64_t hash = trl_str_hash(want.p, want.n);
            assert_int_equal(trl_strview_find(&v, want.p, want.n, hash), i);
        }
        assert_int_equal(trl_strview_find(&v, "none", 4, trl_str_hash("none", 4)), TRL_NO_ID);
        trl_container_free(c);
        trl_free(bytes);
        trl_strtab_fini(&t);
    }
}

/* Sections as a hostile or broken writer would leave them. */
static trl_status load_raw(const char *pool, size_t pool_size, const void *ends, size_t ends_size,
                           const void *slots, size_t slots_size, bool wide)
{
    trl_error err;
    trl_container_builder b = {0};
    trl_container *c = NULL;
    unsigned char *bytes;
    size_t n;
    trl_strview v;
    trl_container_builder_add(&b, "wordpool", pool, pool_size);
    if (ends)
        trl_container_builder_add(&b, wide ? "wordend8" : "wordend4", ends, ends_size);
    trl_container_builder_add(&b, "wordslot", slots, slots_size);
    assert_ok(trl_container_to_buffer(&b, "test", &bytes, &n, &err));
    assert_ok(trl_container_from_memory(bytes, n, NULL, &c, &err));
    const trl_status st = trl_strview_load(c, "word", &v, &err);
    if (st == TRL_OK)
        assert_int_equal(trl_strview_get(&v, 0).n, 2);
    else
        assert_string_equal(err.path, "<memory>");
    trl_container_free(c);
    trl_free(bytes);
    trl_container_builder_fini(&b);
    return st;
}

static void test_checks(void **state)
{
    (void)state;
    const uint32_t end[] = {2, 5}, past[] = {2, 6}, back[] = {3, 2};
    const uint64_t end8[] = {2, 5};
    const uint32_t slot[] = {0, 2, 1, 0}, full[] = {1, 2, 1, 2}, wild[] = {0, 3, 1, 0};
    assert_int_equal(load_raw("abcde", 5, end, 8, slot, 16, false), TRL_OK);
    assert_int_equal(load_raw("abcde", 5, end8, 16, slot, 16, true), TRL_OK);
    assert_int_equal(load_raw("abcde", 5, past, 8, slot, 16, false), TRL_EMODEL);
    assert_int_equal(load_raw("abcde", 5, back, 8, slot, 16, false), TRL_EMODEL);
    assert_int_equal(load_raw("abcde", 5, end, 8, full, 16, false), TRL_EMODEL);
    assert_int_equal(load_raw("abcde", 5, end, 8, wild, 16, false), TRL_EMODEL);
    assert_int_equal(load_raw("abcde", 5, end, 8, slot, 12, false), TRL_EMODEL);
    assert_int_equal(load_raw("abcde", 5, end, 8, slot, 15, false), TRL_EMODEL);
    assert_int_equal(load_raw("abcde", 5, end, 7, slot, 16, false), TRL_EMODEL);
    assert_int_equal(load_raw("abcde", 5, NULL, 0, slot, 16, false), TRL_EMODEL);
}

static void test_prefix(void **state)
{
    (void)state;
    trl_error err;
    trl_strtab t = {0};
    trl_container_builder b = {0};
    assert_int_equal(trl_strtab_save(&t, "abc", &b, &err), TRL_EINVAL);
    assert_int_equal(trl_strtab_save(&t, "abcde", &b, &err), TRL_EINVAL);
    assert_int_equal(b.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
