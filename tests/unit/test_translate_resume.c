/* test_translate_resume.c -- training of a translator that was cut off at any place and resumed
 * gives the same bits; a checkpoint of something else is refused. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "train_translate/journal.h"
#include "trellis/translate.h"

#define PAIRS 120

enum { SOURCE, TARGET, LINKS, TREES, MODEL, CHECKPOINT, FILES };
static const char *const names[] = {"source", "target", "links", "trees", "model", "checkpoint"};
static char path[FILES][1024];

/* Words a to d with two translations each, one of which goes with a neighbour; some pairs swap. */
static void write_corpus(void)
{
    const char *dir = getenv("TMPDIR");
    trl_rng rng = trl_rng_seed(5);
    FILE *f[4];
    for (int k = 0; k < FILES; k++)
        snprintf(path[k], sizeof path[k], "%s/translate_resume.%s.%ld", dir && *dir ? dir : "/tmp",
                 names[k], (long)getpid());
    for (int k = 0; k < 4; k++)
        assert_non_null(f[k] = fopen(path[k], "w"));
    for (size_t i = 0; i < PAIRS; i++) {
        const unsigned a = (unsigned)trl_rng_below(&rng, 4), b = (unsigned)trl_rng_below(&rng, 4);
        const bool swap = b == 3 || trl_rng_below(&rng, 8) == 0;
        const unsigned u = 2 * a + (b > 1), v = 2 * b + (unsigned)trl_rng_below(&rng, 2);
        fprintf(f[SOURCE], "%c %c\n", 'a' + a, 'a' + b);
        fprintf(f[TARGET], "t%u t%u\n", swap ? v : u, swap ? u : v);
        fprintf(f[LINKS], swap ? "0-1 1-0\n" : "0-0 1-1\n");
        fprintf(f[TREES], "(TOP (S (A %c) (B %c)))\n", 'a' + a, 'a' + b);
    }
    for (int k = 0; k < 4; k++)
        assert_int_equal(fclose(f[k]), 0);
}

static trl_status train(trl_translate_words words, bool given, bool checkpoint, bool resume,
                        trl_error *err)
{
    const trl_translate_data data = {path[SOURCE], path[TARGET], given ? path[LINKS] : NULL,
                                     path[TREES],  NULL,         NULL};
    trl_translate_options o = trl_translate_options_default();
    trl_translate_result r;
    o.words = words;
    o.threads = 2;
    o.tune_null = 1;
    o.checkpoint = checkpoint ? path[CHECKPOINT] : NULL;
    o.resume = resume;
    return trl_translate_train(&data, &o, path[MODEL], &r, err);
}

typedef struct bytes {
    unsigned char *p;
    size_t n;
} bytes;

static bytes read_all(const char *from)
{
    trl_mapped m;
    trl_error err;
    assert_ok(trl_read_file(from, &m, &err));
    bytes b = {malloc(m.size + 1), m.size};
    assert_non_null(b.p);
    memcpy(b.p, m.data, m.size);
    trl_unmap(&m);
    return b;
}

static void write_some(const char *to, const unsigned char *p, size_t n)
{
    FILE *f = fopen(to, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void expect_model(bytes model)
{
    bytes now = read_all(path[MODEL]);
    assert_int_equal(now.n, model.n);
    assert_memory_equal(now.p, model.p, model.n);
    free(now.p);
}

/* Cut off after any number of bytes; then with one byte changed. */
static void cut_and_resume(trl_translate_words words, bool given)
{
    trl_error err;
    assert_ok(train(words, given, false, false, &err));
    bytes model = read_all(path[MODEL]);
    assert_ok(train(words, given, true, false, &err));
    expect_model(model);
    bytes whole = read_all(path[CHECKPOINT]);
    assert_true(whole.n > 400);
    for (size_t k = 0; k <= 40; k++) {
        write_some(path[CHECKPOINT], whole.p, whole.n * k / 40);
        assert_ok(train(words, given, true, true, &err));
        expect_model(model);
    }
    for (size_t k = 1; k < 20; k++) {
        const size_t at = 16 + (whole.n - 17) * k / 20;
        whole.p[at] ^= 4;
        write_some(path[CHECKPOINT], whole.p, whole.n);
        whole.p[at] ^= 4;
        assert_ok(train(words, given, true, true, &err));
        expect_model(model);
    }
    free(model.p);
    free(whole.p);
}

static void test_same_bits(void **state)
{
    (void)state;
    write_corpus();
    cut_and_resume(TRL_WORDS_BOOSTED, true);
    cut_and_resume(TRL_WORDS_BOOSTED, false);
    cut_and_resume(TRL_WORDS_L2, true);
    cut_and_resume(TRL_WORDS_GENERATIVE, true);
}

/* What is in the checkpoint is taken from there, not made again. */
static void test_taken(void **state)
{
    (void)state;
    trl_error err;
    write_corpus();
    assert_ok(train(TRL_WORDS_BOOSTED, true, true, false, &err));
    bytes whole = read_all(path[CHECKPOINT]);
    assert_ok(train(TRL_WORDS_BOOSTED, true, true, true, &err));
    bytes again = read_all(path[CHECKPOINT]);
    assert_int_equal(again.n, whole.n); /* nothing was added */
    free(whole.p);
    free(again.p);
}

static void test_refused(void **state)
{
    (void)state;
    trl_error err;
    write_corpus();
    assert_ok(train(TRL_WORDS_BOOSTED, true, true, false, &err));
    assert_int_equal(train(TRL_WORDS_L2, true, true, true, &err), TRL_EMODEL);
    assert_non_null(strstr(err.msg, "other data or options"));
    assert_string_equal(err.path, path[CHECKPOINT]);
    FILE *f = fopen(path[LINKS], "r+");
    assert_non_null(f);
    fputs("0-0 1-0", f); /* the first line, as long */
    assert_int_equal(fclose(f), 0);
    assert_int_equal(train(TRL_WORDS_BOOSTED, true, true, true, &err), TRL_EMODEL);
    assert_non_null(strstr(err.msg, "other links or trees"));
    assert_int_equal(train(TRL_WORDS_BOOSTED, true, true, false, &err), TRL_OK); /* anew */
    write_some(path[CHECKPOINT], (const unsigned char *)"this is a letter, not a checkpoint", 34);
    assert_int_equal(train(TRL_WORDS_BOOSTED, true, true, true, &err), TRL_EMODEL);
    assert_non_null(strstr(err.msg, "no checkpoint"));
}

/* Records whose check is right, but whose bytes are of something else. */
static void test_wrong_records(void **state)
{
    (void)state;
    trl_error err;
    write_corpus();
    assert_ok(train(TRL_WORDS_BOOSTED, true, true, false, &err));
    bytes whole = read_all(path[CHECKPOINT]);
    uint64_t print;
    memcpy(&print, whole.p + 8, sizeof print);
    for (size_t n = 0; n <= 64; n += 8) {
        const unsigned char zeros[64] = {0};
        trl_journal *j = NULL;
        assert_ok(trl_journal_open(path[CHECKPOINT], print, false, &j, &err));
        trl_journal_add(j, TRL_RECORD_TASK, 0, zeros, n);
        assert_null(trl_journal_warning(j));
        trl_journal_free(j);
        assert_int_equal(train(TRL_WORDS_BOOSTED, true, true, true, &err), TRL_EMODEL);
        assert_non_null(strstr(err.msg, "record"));
    }
    free(whole.p);
}

/* A disk without room: a warning, and the journal takes nothing more. */
static void test_full(void **state)
{
    (void)state;
    trl_error err;
    trl_journal *j = NULL;
    if (access("/dev/full", W_OK) != 0)
        return;
    const trl_status st = trl_journal_open("/dev/full", 1, false, &j, &err);
    assert_int_equal(st, TRL_EIO); /* not even a header */
    assert_string_equal(err.path, "/dev/full");
}

static int remove_files(void **state)
{
    (void)state;
    for (int k = 0; k < FILES; k++)
        if (path[k][0])
            remove(path[k]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_same_bits, remove_files),
        cmocka_unit_test_teardown(test_taken, remove_files),
        cmocka_unit_test_teardown(test_refused, remove_files),
        cmocka_unit_test_teardown(test_wrong_records, remove_files),
        cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
