/* test_container.c -- round trips, damage of every kind, foreign files. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "model/container.h"

static char folder[] = "/tmp/trellis-container-XXXXXX";
static char file[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(file, sizeof file, "%s/model", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(file);
    return rmdir(folder);
}

static const double weights[] = {1.5, -2.0, 0.25};

static void build(trl_container_builder *b)
{
    trl_container_builder_add(b, "weights", weights, sizeof weights);
    trl_container_builder_add(b, "empty", NULL, 0);
    trl_container_builder_add(b, "8letters", "text", 4);
}

static unsigned char *small_file(size_t *size)
{
    trl_error err;
    trl_container_builder b = {0};
    unsigned char *bytes = NULL;
    build(&b);
    assert_ok(trl_container_to_buffer(&b, "chain", &bytes, size, &err));
    trl_container_builder_fini(&b);
    return bytes;
}

static void check_content(const trl_container *c)
{
    const void *p;
    size_t n;
    trl_error err;
    assert_string_equal(trl_container_kind(c), "chain");
    assert_true(trl_container_find(c, "weights", &p, &n));
    assert_int_equal(n, sizeof weights);
    assert_int_equal((uintptr_t)p % 64, 0);
    assert_memory_equal(p, weights, n);
    assert_true(trl_container_find(c, "empty", &p, &n));
    assert_int_equal(n, 0);
    assert_true(trl_container_find(c, "8letters", &p, &n));
    assert_int_equal(n, 4);
    assert_false(trl_container_find(c, "8letter", &p, &n));
    assert_false(trl_container_find(c, "8lettersx", &p, &n));
    assert_ok(trl_container_array(c, "weights", sizeof(double), &p, &n, &err));
    assert_int_equal(n, 3);
    assert_int_equal(trl_container_array(c, "8letters", 8, &p, &n, &err), TRL_EMODEL);
    assert_int_equal(trl_container_array(c, "missing", 8, &p, &n, &err), TRL_EMODEL);
    assert_non_null(strstr(err.msg, "missing"));
    assert_string_equal(err.path, trl_container_path(c));
}

static void test_round_trip(void **state)
{
    (void)state;
    trl_error err;
    trl_container *c = NULL;
    trl_container_builder b = {0};
    build(&b);
    assert_ok(trl_container_write(&b, "chain", file, &err));
    trl_container_builder_fini(&b);
    assert_ok(trl_container_open(file, "chain", &c, &err));
    check_content(c);
    trl_container_free(c);

    size_t n;
    unsigned char *bytes = small_file(&n), *odd = malloc(n + 1), disk[1024];
    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    assert_int_equal(fread(disk, 1, sizeof disk, f), n); /* file and buffer are the same */
    fclose(f);
    assert_memory_equal(disk, bytes, n);
    assert_ok(trl_container_from_memory(bytes, n, NULL, &c, &err));
    check_content(c);
    trl_container_free(c);
    memcpy(odd + 1, bytes, n);
    assert_ok(trl_container_from_memory(odd + 1, n, "chain", &c, &err));
    memset(odd, 0, n + 1); /* unaligned memory was copied */
    check_content(c);
    trl_container_free(c);
    free(odd);
    trl_free(bytes);
}

static void test_no_sections(void **state)
{
    (void)state;
    trl_error err;
    trl_container *c = NULL;
    trl_container_builder b = {0};
    unsigned char *bytes;
    size_t n;
    assert_ok(trl_container_to_buffer(&b, "k", &bytes, &n, &err));
    assert_int_equal(n, 64);
    assert_ok(trl_container_from_memory(bytes, n, "k", &c, &err));
    trl_container_free(c);
    trl_free(bytes);
}

static void test_every_flip_is_found(void **state)
{
    (void)state;
    size_t n;
    unsigned char *bytes = small_file(&n);
    for (size_t i = 0; i < n; i++) {
        for (unsigned flip = 1; flip < 256; flip++) {
            trl_container *c = NULL;
            bytes[i] = (unsigned char)(bytes[i] ^ flip);
            if (trl_container_from_memory(bytes, n, NULL, &c, NULL) != TRL_EMODEL)
                fail_msg("byte %zu xor %u is not noticed", i, flip);
            bytes[i] = (unsigned char)(bytes[i] ^ flip);
        }
    }
    trl_free(bytes);
}

static void test_every_length_is_found(void **state)
{
    (void)state;
    size_t n;
    trl_error err = {0};
    unsigned char *bytes = small_file(&n), *room = trl_alloc64(n + 64, 1);
    memset(room, 0, n + 64);
    memcpy(room, bytes, n);
    for (size_t k = 0; k <= n + 64; k++) {
        trl_container *c = NULL;
        if (k == n)
            continue;
        if (trl_container_from_memory(room, k, NULL, &c, &err) != TRL_EMODEL)
            fail_msg("length %zu of %zu is not noticed", k, n);
        if (k > 0 && k < n)
            assert_non_null(strstr(err.msg, "cut off"));
        FILE *f = fopen(file, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(room, 1, k, f), k);
        fclose(f);
        assert_int_equal(trl_container_open(file, NULL, &c, &err), TRL_EMODEL);
        assert_string_equal(err.path, file);
    }
    trl_free(room);
    trl_free(bytes);
}

/* A file that lies with correct checksums. */
static trl_status forged(size_t at, uint64_t value, size_t width, trl_error *err)
{
    size_t n;
    trl_container *c = NULL;
    unsigned char *bytes = small_file(&n);
    memcpy(bytes + at, &value, width);
    uint64_t sum = XXH3_64bits(bytes + 64, n - 64);
    memcpy(bytes + 24, &sum, 8);
    memset(bytes + 32, 0, 8);
    sum = XXH3_64bits(bytes, 64);
    memcpy(bytes + 32, &sum, 8);
    const trl_status st = trl_container_from_memory(bytes, n, NULL, &c, err);
    trl_container_free(c);
    trl_free(bytes);
    return st;
}

static void test_forged(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint64_t value;
        size_t width;
        const char *msg;
    } lies[] = {
        {8, 3, 4, "version 3"},
        {8, 0, 4, "header"},
        {12, 7, 4, "table"},
        {12, 1u << 30, 4, "header"},
        {16, 1 << 20, 8, "cut off"},
        {16, 128, 8, "follow"},
        {40, 0, 8, "header"},
        {48, 1, 8, "header"},
        {64, 0, 8, "table"},
        {64 + 8, 64, 8, "table"},
        {64 + 8, 200, 8, "table"},
        {64 + 8, 1 << 20, 8, "table"},
        {64 + 16, 1 << 20, 8, "table"},
        {64 + 16, UINT64_MAX, 8, "table"},
        {64 + 24, 1, 8, "table"},
        {64 + 32 + 8, 128, 8, "table"},
        {64 + 32, 0x73746867696577, 8, "table"}, /* "weights" again */
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        trl_error err = {0};
        const trl_status st = forged(lies[i].at, lies[i].value, lies[i].width, &err);
        if (st != TRL_EMODEL || !strstr(err.msg, lies[i].msg))
            fail_msg("lie %zu: status %d, '%s'", i, (int)st, err.msg);
    }
    assert_int_equal(forged(8, 1, 4, NULL), TRL_OK);
}

static void test_wrong_kind_and_names(void **state)
{
    (void)state;
    size_t n;
    trl_error err;
    trl_container *c = NULL;
    unsigned char *bytes = small_file(&n);
    assert_int_equal(trl_container_from_memory(bytes, n, "chkpt", &c, &err), TRL_EMODEL);
    assert_non_null(strstr(err.msg, "'chain'"));
    assert_non_null(strstr(err.msg, "'chkpt'"));
    trl_free(bytes);

    const char *const bad[] = {"", "9letters!", "a b", "\xc3\xa4", "twice"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        trl_container_builder b = {0};
        trl_container_builder_add(&b, "twice", "x", 1);
        trl_container_builder_give(&b, bad[i], malloc(1), 1);
        assert_int_equal(trl_container_to_buffer(&b, "k", &bytes, &n, &err), TRL_EINVAL);
        trl_container_builder_fini(&b);
        if (i < 4)
            assert_int_equal(trl_container_to_buffer(&b, bad[i], &bytes, &n, &err), TRL_EINVAL);
    }
    assert_int_equal(trl_container_open("/no/such/file", NULL, &c, &err), TRL_EIO);
}

static void test_foreign(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *text; /* in the hint, or in the message when there is no hint */
    } files[] = {
        {"", 0, "empty"},
        {"\x1f\x8b\x08\0\0", 5, "gzip"},
        {"\x28\xb5\x2f\xfd\x24", 5, "zstd"},
        {"lCRF\x10\0\0\0FOMC", 12, "CRFsuite"},
        {"#mdl#2#123\n", 11, "Wapiti"},
        {"version: 100\ncost-factor: 1\n", 28, "CRF++"},
        {"\x64\0\0\0\0\0\0\0\0\0\xf0\x3f", 12, "CRF++"},
        {"the DT B-NP\ncat NN I-NP\n", 24, "text"},
        {"\x7f"
         "ELF\2\1\1",
         7, "not a Trellis model"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        trl_container *c = NULL;
        trl_error err = {0};
        assert_int_equal(trl_container_from_memory(files[i].bytes, files[i].n, NULL, &c, &err),
                         TRL_EMODEL);
        if (!strstr(err.hint[0] ? err.hint : err.msg, files[i].text))
            fail_msg("file %zu: '%s', hint '%s'", i, err.msg, err.hint);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_no_sections),
        cmocka_unit_test(test_every_flip_is_found),
        cmocka_unit_test(test_every_length_is_found),
        cmocka_unit_test(test_forged),
        cmocka_unit_test(test_wrong_kind_and_names),
        cmocka_unit_test(test_foreign),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
