/* test_foreign.c -- imported models against what CRFsuite, CRF++ and Wapiti answered, on files in
 * tests/oracle/foreign; damage of every byte; export.
 *
 * Answers: `@ SCORE LOGZ` before each sequence (- where the tool does not say), then a line with
 * the label and, where it says it, its marginal probability; all with 17 digits. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "base/mem.h"
#include "foreign/crfsuite_hash.h"
#include "foreign/hexfloat.h"
#include "model/chain_model.h"
#include "model/model.h"
#include "trellis/foreign.h"
#include "trellis/tagger.h"

#define FOLDER "tests/oracle/foreign/"

static char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    char *p = malloc(*n + 1);
    assert_int_equal(fread(p, 1, *n, f), *n);
    p[*n] = '\0';
    fclose(f);
    return p;
}

static trl_model *import(const char *path)
{
    trl_error err = {0};
    trl_buf out = {0};
    trl_model *m = NULL;
    size_t n;
    char *bytes = read_all(path, &n);
    assert_ok(trl_model_import_buf(path, bytes, n, &out, &err));
    assert_ok(trl_model_from_copy(out.data, out.len, &m, &err));
    trl_buf_fini(&out);
    free(bytes);
    return m;
}

/* ---- tags and scores ------------------------------------------------------------------------- */

typedef struct expected {
    const char *model, *data, *answers;
    trl_format format;
    bool posterior;   /* the most probable label of every token */
    double tolerance; /* of scores, relative to 1 + |score| */
} expected;

/* Viterbi, n-best of one, scores and marginals of a sequence that is set. */
static void check_sequence(const expected *e, const trl_model *m, trl_tagger *t, size_t n,
                           char **at)
{
    trl_error err = {0};
    const size_t L = trl_model_get_info(m).n_labels;
    uint32_t *y = malloc(n * sizeof *y);
    double *p = malloc(n * L * sizeof *p), score = 0.0, log_z;
    assert_ok(trl_tagger_viterbi(t, y, &score, &err));
    if (e->posterior)
        assert_ok(trl_tagger_posterior(t, y, &err));
    assert_ok(trl_tagger_marginals(t, p, &err));
    assert_ok(trl_tagger_log_z(t, &log_z, &err));
    assert_int_equal(**at, '@');
    char *word = strtok_r(NULL, "\n", at);
    char *end = word + 2;
    if (*end != '-')
        assert_near(score, strtod(end, &end), e->tolerance);
    end += strcspn(end, "0123456789-");
    if (*end != '-')
        assert_near(log_z, strtod(end, NULL), e->tolerance);
    for (size_t i = 0; i < n; i++) {
        word = strtok_r(NULL, "\n", at);
        assert_non_null(word);
        const size_t k = strcspn(word, "\t");
        const trl_str label = trl_model_label(m, y[i]);
        assert_int_equal(label.n, k);
        assert_memory_equal(label.p, word, k);
        if (word[k])
            assert_near(p[i * L + y[i]], strtod(word + k, NULL), e->tolerance);
    }
    free(y);
    free(p);
}

static size_t check_all(const expected *e, const trl_model *m)
{
    trl_error err = {0};
    trl_reader *r = NULL;
    trl_tagger *t = NULL;
    bool more = true;
    size_t size, sequences = 0;
    char *answers = read_all(e->answers, &size), *at = answers;
    assert_ok(trl_reader_open(e->data, e->format, &r, &err));
    assert_ok(trl_tagger_new(m, &t, &err));
    for (;; sequences++) {
        trl_rows rows;
        trl_items items;
        const bool columns = e->format == TRL_FORMAT_COLUMNS;
        assert_ok(columns ? trl_reader_rows(r, &rows, &more, &err)
                          : trl_reader_items(r, &items, &more, &err));
        if (!more)
            break;
        assert_ok(columns ? trl_tagger_set_rows(t, &rows, &err)
                          : trl_tagger_set_items(t, &items, &err));
        at += strspn(at, "\n");
        check_sequence(e, m, t, columns ? rows.n_tokens : items.n_tokens, &at);
    }
    trl_tagger_free(t);
    trl_reader_free(r);
    free(answers);
    return sequences;
}

static void check(const expected *e)
{
    trl_model *m = import(e->model);
    assert_int_equal(check_all(e, m), 25);
    trl_model_free(m);
}

static void test_crfsuite(void **state)
{
    (void)state;
    const expected e[] = {
        {FOLDER "crfsuite-lbfgs.model", FOLDER "test.crfsuite", FOLDER "crfsuite-lbfgs.out",
         TRL_FORMAT_CRFSUITE, false, 1e-12},
        {FOLDER "crfsuite-ap.model", FOLDER "test.crfsuite", FOLDER "crfsuite-ap.out",
         TRL_FORMAT_CRFSUITE, false, 1e-12},
        /* weights with six decimals: tags are the same, a score is off by their sum */
        {FOLDER "crfsuite-lbfgs.dump", FOLDER "test.crfsuite", FOLDER "crfsuite-lbfgs.out",
         TRL_FORMAT_CRFSUITE, false, 1e-6},
    };
    for (size_t k = 0; k < sizeof e / sizeof *e; k++)
        check(&e[k]);
}

/* Scores of CRF++ are sums of rounded sums: the same bits, but for the order of log-sum-exp. */
static void test_crfpp(void **state)
{
    (void)state;
    static const char *const names[] = {"uni", "plain", "pairs"};
    for (size_t k = 0; k < 3; k++)
        for (int text = 0; text < 2; text++) {
            char model[100], answers[100];
            snprintf(model, sizeof model, FOLDER "crfpp-%s.model%s", names[k], text ? ".txt" : "");
            snprintf(answers, sizeof answers, FOLDER "crfpp-%s.out", names[k]);
            check(
                &(expected){model, FOLDER "test.chunk", answers, TRL_FORMAT_COLUMNS, false, 1e-9});
        }
}

static void test_wapiti(void **state)
{
    (void)state;
    const expected e[] = {
        {FOLDER "wapiti-pairs.model", FOLDER "test.chunk", FOLDER "wapiti-pairs.out",
         TRL_FORMAT_COLUMNS, false, 1e-12},
        {FOLDER "wapiti-pairs.model", FOLDER "test.chunk", FOLDER "wapiti-pairs.posterior",
         TRL_FORMAT_COLUMNS, true, 1e-9},
        {FOLDER "wapiti-plain.model", FOLDER "test.chunk", FOLDER "wapiti-plain.out",
         TRL_FORMAT_COLUMNS, false, 1e-12},
        {FOLDER "wapiti-plain.model", FOLDER "test.chunk", FOLDER "wapiti-plain.posterior",
         TRL_FORMAT_COLUMNS, true, 1e-9},
        {FOLDER "wapiti-memm.model", FOLDER "test.chunk", FOLDER "wapiti-memm.out",
         TRL_FORMAT_COLUMNS, false, 1e-9},
        {FOLDER "wapiti-raw.model", FOLDER "test.raw", FOLDER "wapiti-raw.out", TRL_FORMAT_MALLET,
         false, 1e-12},
    };
    for (size_t k = 0; k < sizeof e / sizeof *e; k++)
        check(&e[k]);
}

/* ---- dumps and export ------------------------------------------------------------------------ */

static const char *const models[] = {
    "crfsuite-lbfgs.model",  "crfsuite-ap.model",  "crfsuite-lbfgs.dump", "crfpp-uni.model",
    "crfpp-plain.model",     "crfpp-pairs.model",  "crfpp-uni.model.txt", "crfpp-plain.model.txt",
    "crfpp-pairs.model.txt", "wapiti-plain.model", "wapiti-pairs.model",  "wapiti-memm.model",
    "wapiti-raw.model",
};

#define N_MODELS (sizeof models / sizeof *models)

static const char *path_of(size_t k)
{
    static char path[200];
    snprintf(path, sizeof path, FOLDER "%s", models[k]);
    return path;
}

/* Our own dump has all digits. */
static void test_dump_and_load(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_MODELS; k++) {
        trl_error err = {0};
        trl_model *m = import(path_of(k));
        trl_buf text = {0}, again = {0};
        size_t n;
        const void *bytes = trl_model_bytes(m, &n);
        assert_ok(trl_model_dump_buf(m, &text, &err));
        assert_ok(trl_model_undump_buf("dump", text.data, text.len, &again, &err));
        assert_int_equal(again.len, n);
        assert_memory_equal(again.data, bytes, n);
        trl_buf_fini(&text);
        trl_buf_fini(&again);
        trl_model_free(m);
    }
}

/* Where the first label of a dump is. */
static const char *labels_in(const trl_buf *b)
{
    size_t at = 0;
    while (at + 6 < b->len && memcmp(b->data + at, "label\t", 6) != 0)
        at++;
    assert_true(at + 6 < b->len);
    return b->data + at;
}

/* What is exported is imported again as the same model, but for its settings, which say so. */
static void test_export(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        trl_error err = {0};
        trl_model *m = import(path_of(k)), *again = NULL;
        trl_buf file = {0}, back = {0}, a = {0}, b = {0};
        assert_ok(trl_model_export_buf(m, &file, &err));
        assert_ok(trl_model_import_buf("file", file.data, file.len, &back, &err));
        assert_ok(trl_model_from_copy(back.data, back.len, &again, &err));
        assert_ok(trl_model_dump_buf(m, &a, &err));
        assert_ok(trl_model_dump_buf(again, &b, &err));
        const char *p = labels_in(&a), *q = labels_in(&b);
        assert_int_equal(a.data + a.len - p, b.data + b.len - q);
        assert_memory_equal(p, q, (size_t)(a.data + a.len - p));
        trl_model_free(m);
        trl_model_free(again);
        trl_buf_fini(&file);
        trl_buf_fini(&back);
        trl_buf_fini(&a);
        trl_buf_fini(&b);
    }
}

/* Models that CRFsuite cannot hold are refused, and nothing is written. */
static void test_export_refused(void **state)
{
    (void)state;
    static const struct refused {
        size_t model;
        const char *why;
    } refused[] = {{5, "label pairs"}, {4, "single"}, {10, "label pairs"}, {11, "label pairs"}};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        trl_error err = {0};
        trl_buf file = {0};
        trl_model *m = import(path_of(refused[k].model));
        assert_int_equal(trl_model_export_buf(m, &file, &err), TRL_EINVAL);
        assert_non_null(strstr(err.msg, refused[k].why));
        assert_true(err.hint[0] && file.len == 0);
        trl_model_free(m);
    }
}

/* Every string of an exported table is found by its hash, as CRFsuite looks for it. */
static uint32_t u32(const trl_buf *b, size_t at)
{
    const unsigned char *p = (const unsigned char *)b->data + at;
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static size_t look_up(const trl_buf *b, size_t base, trl_str s)
{
    char name[1000];
    memcpy(name, s.p, s.n);
    name[s.n] = '\0';
    const uint32_t h = trl_crfsuite_hash(name, s.n + 1);
    const size_t table = base + 24 + 8 * (h % 256), at = base + u32(b, table),
                 n = u32(b, table + 4);
    for (size_t k = (h >> 8) % n, tries = 0; tries < n && u32(b, at + 8 * k + 4);
         k = (k + 1) % n, tries++)
        if (u32(b, at + 8 * k) == h &&
            strcmp(b->data + base + u32(b, at + 8 * k + 4) + 8, name) == 0)
            return u32(b, base + u32(b, at + 8 * k + 4));
    return SIZE_MAX;
}

static void test_export_hashes(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_buf file = {0};
    trl_model *m = import(path_of(1));
    assert_ok(trl_model_export_buf(m, &file, &err));
    const size_t labels = u32(&file, 32), attrs = u32(&file, 36);
    for (size_t k = 0; k < trl_model_get_info(m).n_labels; k++)
        assert_int_equal(look_up(&file, labels, trl_model_label(m, k)), k);
    const size_t n = trl_model_n_attributes(m, TRL_SCOPE_LABEL);
    assert_true(n > 100);
    for (size_t k = 0; k < n; k++)
        assert_int_equal(look_up(&file, attrs, trl_model_attribute(m, TRL_SCOPE_LABEL, k)), k);
    trl_buf_fini(&file);
    trl_model_free(m);
}

/* The values that lookup3.c gives itself. */
static void test_hash(void **state)
{
    (void)state;
    assert_int_equal(trl_crfsuite_hash("", 0), 0xdeadbeef);
    assert_int_equal(trl_crfsuite_hash("Four score and seven years ago", 30), 0x17770551);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void check_damage(const char *name, const char *bytes, size_t n)
{
    trl_error err = {0};
    trl_buf out = {0};
    const trl_status st = trl_model_import_buf(name, bytes, n, &out, &err);
    if (st == TRL_OK) { /* a weight or a letter: what came out must be sound */
        trl_model *m = NULL;
        assert_ok(trl_model_from_copy(out.data, out.len, &m, &err));
        trl_model_free(m);
        trl_buf_fini(&out);
        return;
    }
    assert_true(st == TRL_EMODEL || st == TRL_EPARSE || st == TRL_EINVAL);
    assert_int_equal(st, err.code);
    assert_string_equal(err.path, name);
    assert_true(err.msg[0] && err.hint[0] && out.len == 0);
}

/* Cut off anywhere it is refused, with path, reason and hint. */
static void test_cut(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_MODELS; k++) {
        size_t n;
        char *bytes = read_all(path_of(k), &n);
        for (size_t cut = 0; cut + 2 < n; cut += 1 + cut / 7) {
            trl_error err = {0};
            trl_buf out = {0};
            char *part = malloc(cut ? cut : 1); /* of its size: reading on is seen by ASan */
            memcpy(part, bytes, cut);
            assert_true(trl_model_import_buf("cut", part, cut, &out, &err) != TRL_OK);
            check_damage("cut", part, cut);
            free(part);
        }
        free(bytes);
    }
}

/* Bytes changed, one at a time: refused or sound. */
static void test_changed(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_MODELS; k++) {
        size_t n;
        char *bytes = read_all(path_of(k), &n);
        for (size_t at = 0; at < n; at += at < 400 ? 1 : 1 + n / 300) {
            static const unsigned char with[] = {0, 1, '9', 0x7f, 0xff};
            const char old = bytes[at];
            for (size_t w = 0; w < sizeof with; w++) {
                bytes[at] = (char)with[w];
                check_damage("changed", bytes, n);
            }
            bytes[at] = old;
        }
        free(bytes);
    }
}

static void test_not_known(void **state)
{
    (void)state;
    check_damage("none", "", 0);
    check_damage("none", "The DT B-NP\n", 12);
    check_damage("none", "lCRF", 4);
    trl_error err = {0};
    trl_buf out = {0};
    assert_int_equal(trl_model_import_buf("ours", "TRELLIS\x1a", 8, &out, &err), TRL_EMODEL);
    assert_non_null(strstr(err.msg, "already"));
    assert_int_equal(trl_model_import(NULL, "x", &err), TRL_EINVAL);
    assert_int_equal(trl_model_import("/nonexistent", "/tmp/x", &err), TRL_EIO);
    assert_int_equal(trl_model_export(NULL, "x", &err), TRL_EINVAL);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void test_hexfloat(void **state)
{
    (void)state;
    static const double values[] = {0.0,
                                    1.0,
                                    -1.5,
                                    0x1.5bf0a8b145769p+1,
                                    0x1p-1074,
                                    0x1p-1022,
                                    0x1.fffffffffffffp1023,
                                    3.25e-300,
                                    -0x1.8p-3};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        char text[64];
        double x = NAN;
        const int n = snprintf(text, sizeof text, "%a", values[k]);
        assert_true(trl_hexfloat_parse(text, (size_t)n, &x));
        assert_memory_equal(&x, &values[k], sizeof x);
    }
    double x;
    assert_true(trl_hexfloat_parse("0x1,8p+1", 8, &x) && x == 3.0);
    assert_true(trl_hexfloat_parse("0XA.P0", 6, &x) && x == 10.0);
    assert_true(trl_hexfloat_parse("-2.5e1", 6, &x) && x == -25.0);
    static const char *const bad[] = {"",
                                      "0x",
                                      "0x1",
                                      "0xp1",
                                      "0x1p",
                                      "0x1.8.8p1",
                                      "0x1p+-1",
                                      "0x1p9999",
                                      "nan",
                                      "inf",
                                      "0xgp1",
                                      "0x1p1 ",
                                      "0x123456789abcdef12p0"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_false(trl_hexfloat_parse(bad[k], strlen(bad[k]), &x));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crfsuite),      cmocka_unit_test(test_crfpp),
        cmocka_unit_test(test_wapiti),        cmocka_unit_test(test_dump_and_load),
        cmocka_unit_test(test_export),        cmocka_unit_test(test_export_refused),
        cmocka_unit_test(test_export_hashes), cmocka_unit_test(test_hash),
        cmocka_unit_test(test_cut),           cmocka_unit_test(test_changed),
        cmocka_unit_test(test_not_known),     cmocka_unit_test(test_hexfloat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
