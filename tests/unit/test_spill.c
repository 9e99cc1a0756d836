/* test_spill.c -- large blocks on the heap or in files; training with a limit gives the same bits.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/spill.h"
#include "train/memory_plan.h"
#include "trellis/train.h"

#define MB ((size_t)1 << 20)

static void expect_bytes(const trl_spill *s, size_t on_heap, size_t in_files)
{
    uint64_t heap, files;
    trl_spill_bytes(s, &heap, &files);
    assert_int_equal(heap, on_heap);
    assert_int_equal(files, in_files);
}

/* Small blocks are the heap's, large ones too, up to the budget. */
static void test_blocks(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_spill *s = NULL;
    assert_ok(trl_spill_new(3 * MB, &s, &err));
    assert_null(trl_spill_use(s));
    char *small = trl_alloc(100, 1), *one = trl_alloc(2 * MB, 1), *two = trl_zalloc(2 * MB, 1);
    expect_bytes(s, 2 * MB, 2 * MB);
    for (size_t k = 0; k < 2 * MB; k += 511)
        assert_int_equal(two[k], 0);
    char *three = trl_alloc64(1 * MB - 64, 1); /* 64 more: it is large */
    expect_bytes(s, 3 * MB, 2 * MB);
    assert_int_equal((uintptr_t)three % 64, 0);
    memset(one, 1, 2 * MB);
    memset(two, 2, 2 * MB);
    trl_free(one);
    expect_bytes(s, MB, 2 * MB);
    assert_ptr_equal(trl_spill_use(NULL), s);
    char *plain = trl_alloc(2 * MB, 1);
    expect_bytes(s, MB, 2 * MB);
    assert_true(trl_spill_size(two) == 2 * MB && trl_spill_size(plain) == 0);
    assert_int_equal(two[2 * MB - 1], 2);
    trl_free(two); /* also when it is not in use */
    trl_free(three);
    trl_free(plain);
    trl_free(small);
    expect_bytes(s, 0, 0);
    assert_ok(trl_spill_check(s, &err));
    trl_spill_free(s);
}

/* A list that grows keeps its elements from the heap into files. */
static void test_growth(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_spill *s = NULL;
    uint64_t *list = NULL;
    size_t cap = 0;
    assert_ok(trl_spill_new(2 * MB, &s, &err));
    trl_spill_use(s);
    for (uint64_t k = 0; k < 700000; k++) {
        uint64_t *grown = trl_reserve(list, &cap, k + 1, sizeof *list);
        assert_non_null(grown);
        list = grown;
        list[k] = k * k;
    }
    trl_spill_use(NULL);
    expect_bytes(s, 0, 8 * MB);
    list = trl_realloc(list, 650000, sizeof *list); /* back to the heap: it is not in use */
    expect_bytes(s, 0, 0);
    for (uint64_t k = 0; k < 650000; k++)
        assert_int_equal(list[k], k * k);
    trl_free(list);
    trl_spill_free(s);
}

/* No folder, no room: the request fails and says why; nothing else does. */
static void test_no_room(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_spill *s = NULL;
    char before[512] = "";
    const char *folder = getenv("TMPDIR");
    snprintf(before, sizeof before, "%s", folder ? folder : "");
    assert_ok(trl_spill_new(0, &s, &err));
    trl_spill_use(s);
    setenv("TMPDIR", "/no/such/folder", 1);
    assert_null(trl_alloc(2 * MB, 1));
    assert_int_equal(trl_spill_check(s, &err), TRL_EIO);
    assert_non_null(strstr(err.msg, "2.1 MB in /no/such/folder"));
    assert_non_null(strstr(err.hint, "TMPDIR"));
    assert_ok(trl_spill_check(s, &err)); /* said once */
    if (before[0])
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    assert_null(
        trl_alloc((uint64_t)1 << 60, 1)); /* more than any disk, or than addresses of 32 bits */
    assert_int_equal(trl_spill_check(s, &err), SIZE_MAX >> 60 ? TRL_EIO : TRL_OK);
    char *p = trl_alloc(MB, 1);
    assert_non_null(p);
    trl_spill_use(NULL);
    trl_free(p);
    trl_spill_free(s);
}

/* ---- training -------------------------------------------------------------------------------- */

static char folder[64];

static size_t n_files(const char *path)
{
    size_t n = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* Enough for lists of several megabytes. */
static const char *write_data(void)
{
    static char path[128];
    trl_rng rng = trl_rng_seed(3);
    snprintf(path, sizeof path, "%s/data", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (size_t t = 0; t < 60000; t++) {
        const size_t w = trl_rng_below(&rng, 4000);
        fprintf(f, "w%zu p%zu L%zu\n%s", w, w % 50, (w + trl_rng_below(&rng, 5) / 4) % 9,
                trl_rng_below(&rng, 20) ? "" : "\n");
    }
    assert_int_equal(fclose(f), 0);
    return path;
}

static bool see_files(void *ctx, const trl_progress *p)
{
    bool *seen = ctx;
    *seen = *seen || (strcmp(p->stage, "memory") == 0 && strstr(p->note, "in temporary files"));
    return false;
}

static void test_same_bits(void **state)
{
    (void)state;
    trl_error err = {0};
    static const char template_text[] = "U1:%x[0,0]\nU2:%x[-1,0]\nU3:%x[1,0]\nU4:%x[0,1]\n"
                                        "U5:%x[-1,1]/%x[0,0]\nU6:%x[0,1]/%x[1,1]\nB\n";
    static const char graph_text[] =
        "labels y column 2\ntemplate t\n  U1:%x[0,0]\n  U2:%x[-1,0]\n  U3:%x[1,0]\n  U4:%x[0,1]\n"
        "  U5:%x[-1,1]\n  U6:%x[1,1]\n  U7:%x[-2,0]\n  U8:%x[2,0]\n"
        "factor y[i] features t\nfactor y[i-1] y[i]\n";
    static const char *const run[][2] = {{"graph", "lbfgs"},     {"likelihood", "lbfgs"},
                                         {"likelihood", "sdca"}, {"likelihood", "sgd"},
                                         {"memm", "lbfgs"},      {"perceptron", NULL}};
    const char *data = write_data();
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        trl_buf plain = {0}, limited = {0};
        bool seen = false;
        trl_train_options o = trl_train_options_default();
        o.train = &data;
        o.n_train = 1;
        o.template_text = template_text;
        o.template_size = strlen(template_text);
        o.objective = k ? run[k][0] : "piecewise";
        if (k == 0) {
            o.kind = "graph";
            o.template_text = graph_text;
            o.template_size = strlen(graph_text);
        }
        o.optimizer = run[k][1];
        o.max_iter = 2;
        o.threads = 1;
        o.model_out = &plain;
        assert_ok(trl_train(&o, NULL, &err));
        o.model_out = &limited;
        o.memory_limit = "1M";
        o.threads = 2;
        o.progress = see_files;
        o.progress_ctx = &seen;
        assert_ok(trl_train(&o, NULL, &err));
        assert_true(seen);
        assert_int_equal(plain.len, limited.len);
        assert_memory_equal(plain.data, limited.data, plain.len);
        trl_buf_fini(&plain);
        trl_buf_fini(&limited);
    }
    /* nothing is left, no folder is an error */
    char place[128];
    snprintf(place, sizeof place, "%s/place", folder);
    assert_int_equal(mkdir(place, 0700), 0);
    setenv("TMPDIR", place, 1);
    trl_buf model = {0};
    trl_train_options o = trl_train_options_default();
    o.train = &data;
    o.n_train = 1;
    o.max_iter = 2;
    o.memory_limit = "1M";
    o.model_out = &model;
    assert_ok(trl_train(&o, NULL, &err));
    assert_int_equal(n_files(place), 0);
    trl_buf_fini(&model);
    assert_int_equal(rmdir(place), 0);
    assert_int_equal(trl_train(&o, NULL, &err), TRL_EIO);
    assert_non_null(strstr(err.msg, "no room for a temporary file"));
    assert_true(model.len == 0);
    unsetenv("TMPDIR");
    o.memory_limit = "much";
    assert_int_equal(trl_train(&o, NULL, &err), TRL_EINVAL);
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: not a size */
    } sizes[] = {{"500M", 500000000},
                 {"4G", 4000000000},
                 {"1.5GB", 1500000000},
                 {"10k", 10000},
                 {"77", 77},
                 {"", 0},
                 {"M", 0},
                 {"0", 0},
                 {"-5M", 0},
                 {"5X", 0},
                 {"5MM", 0},
                 {"5B", 0},
                 {"1e99", 0},
                 {"inf", 0}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        uint64_t bytes = 0;
        assert_int_equal(trl_size_read(sizes[k].text, &bytes), sizes[k].bytes != 0);
        assert_int_equal(bytes, sizes[k].bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),  cmocka_unit_test(test_growth),
        cmocka_unit_test(test_no_room), cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_sizes),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-spill-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char path[128];
    snprintf(path, sizeof path, "%s/data", folder);
    unlink(path);
    return rmdir(folder) != 0 || failed;
}
