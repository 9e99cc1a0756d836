/* test_cv.c -- trl_cv: the folds, their models to the bit, labels and measures; what it refuses. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "api/folds.h"
#include "base/file.h"
#include "base/rng.h"
#include "trellis/cv.h"
#include "trellis/score.h"
#include "trellis/tagger.h"

#define UNITS 23

static char folder[64]; /* of this run, removed at its end */

static const char *in_folder(const char *name)
{
    static char path[8][512];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

/* ---- data ------------------------------------------------------------------------------------ */

typedef enum form { COLUMNS, ITEMS, GRAPHS, TREES, FORMS } data_form;

/* Unit k, and what a file needs around it. */
static void put_unit(FILE *f, data_form form, size_t k)
{
    trl_rng rng = trl_rng_seed(100 + k);
    const size_t n = 2 + trl_rng_below(&rng, 6);
    if (form == TREES) {
        fprintf(f, "(S (NP (D the%zu) (N w%zu)) (VP (V v%zu)%s))\n", trl_rng_below(&rng, 3),
                trl_rng_below(&rng, 5), trl_rng_below(&rng, 4), k % 3 ? "" : " (NP (N x))");
        return;
    }
    for (size_t t = 0; t < n; t++) {
        static const char *const label[] = {"B-X", "I-X", "O", "B-Y"};
        const size_t w = trl_rng_below(&rng, 12), y = (w + trl_rng_below(&rng, 5) / 4) % 4;
        if (form == ITEMS)
            fprintf(f, "%s\tw=%zu\tl=%zu\n", label[y], w, w % 3);
        else
            fprintf(f, "w%zu p%zu %s\n", w, w % 3, label[y]);
    }
    fprintf(f, "\n");
}

/* Those units for which `left_out` is NULL or 0. */
static const char *write_units(const char *name, data_form form, const uint8_t *left_out)
{
    const char *path = in_folder(name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (size_t k = 0; k < UNITS; k++)
        if (!left_out || !left_out[k])
            put_unit(f, form, k);
    assert_int_equal(fclose(f), 0);
    return path;
}

static const char template_text[] = "U:%x[0,0]\nU:%x[-1,0]/%x[0,0]\nU:%x[0,1]\nB\n";

static trl_train_options options(data_form form, const char **path)
{
    trl_train_options o = trl_train_options_default();
    o.train = path;
    o.n_train = 1;
    o.max_iter = 6;
    o.threads = 1;
    if (form == TREES) {
        o.kind = "tree";
        o.grade = "discriminative";
        o.clusters = "none";
    } else if (form == GRAPHS) {
        o.kind = "graph";
        o.template_text = "labels y column 2\nfactor a: y[i]\nfactor b: y[i-1] y[i]\n";
        o.template_size = strlen(o.template_text);
    } else if (form == COLUMNS) {
        o.template_text = template_text;
        o.template_size = strlen(template_text);
    }
    return o;
}

/* ---- what a run tells ------------------------------------------------------------------------ */

typedef struct heard {
    uint64_t fold_of[UNITS];
    bool labelled[UNITS];
    char labels[UNITS][400];
    trl_cv_fold fold[UNITS];
    size_t n_folds;
} heard;

static trl_status on_labels(void *ctx, const trl_cv_labels *l, trl_error *err)
{
    (void)err;
    heard *h = ctx;
    assert_true(l->sequence < UNITS && !h->labelled[l->sequence]);
    h->labelled[l->sequence] = true;
    h->fold_of[l->sequence] = l->fold;
    char *to = h->labels[l->sequence];
    for (size_t t = 0; t < l->n_tokens * l->n_layers; t++)
        to += sprintf(to, "%.*s ", (int)l->label[t].n, l->label[t].p);
    return TRL_OK;
}

static trl_status on_fold(void *ctx, const trl_cv_fold *f, trl_error *err)
{
    (void)err;
    heard *h = ctx;
    assert_int_equal(f->number, h->n_folds);
    h->fold[h->n_folds++] = *f;
    return TRL_OK;
}

static void validate(const trl_train_options *t, trl_cv_options *o, heard *h, trl_cv_result *r)
{
    trl_error err = {0};
    memset(h, 0, sizeof *h);
    o->train = t;
    o->on_fold = on_fold;
    o->on_labels = on_labels;
    o->ctx = h;
    assert_ok(trl_cv(o, r, &err));
    for (size_t k = 0; k < UNITS; k++)
        assert_true(h->labelled[k]);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Training with some left out is training on a file without them. */
static void test_same_bits(void **state)
{
    (void)state;
    trl_error err = {0};
    for (data_form form = COLUMNS; form < FORMS; form++) {
        const char *all = write_units("all", form, NULL);
        for (size_t round = 0; round < 3; round++) {
            uint8_t out[UNITS] = {0};
            trl_buf a = {0}, b = {0};
            for (size_t k = 0; k < UNITS; k++)
                out[k] = round == 2 ? k < 9 : k % 3 == round;
            trl_train_options o = options(form, &all);
            o.leave_out = out;
            o.n_leave_out = UNITS;
            o.model_out = &a;
            assert_ok(trl_train(&o, NULL, &err));
            const char *part = write_units("part", form, out);
            o = options(form, &part);
            o.model_out = &b;
            assert_ok(trl_train(&o, NULL, &err));
            assert_int_equal(a.len, b.len);
            assert_memory_equal(a.data, b.data, a.len);
            trl_buf_fini(&a);
            trl_buf_fini(&b);
        }
    }
}

/* Of sequences in memory, with weights, where a template scales real values: what is left out does
 * not shift the weights. */
static void test_same_bits_of_columns(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_dataset *all = NULL, *part = NULL;
    assert_ok(trl_dataset_new(&all, &err));
    assert_ok(trl_dataset_new(&part, &err));
    uint8_t out[6] = {0, 1, 0, 0, 1, 0};
    for (size_t k = 0; k < 6; k++) {
        const trl_str cell[] = {{"a", 1}, {"b", 1}, {k % 2 ? "c" : "d", 1}, {k % 2 ? "X" : "Y", 1}};
        const trl_rows rows = {.n_tokens = 2, .n_columns = 2, .cell = cell};
        const double weight = 1.0 + (double)k;
        assert_ok(trl_dataset_add_rows(all, &rows, 1, &weight, &err));
        if (!out[k])
            assert_ok(trl_dataset_add_rows(part, &rows, 1, &weight, &err));
    }
    trl_buf a = {0}, b = {0};
    trl_train_options o = trl_train_options_default();
    o.objective = "m-estimation";
    o.q0_mask = true;
    o.max_iter = 5;
    o.data = all;
    o.leave_out = out;
    o.n_leave_out = 6;
    o.model_out = &a;
    assert_ok(trl_train(&o, NULL, &err));
    o.data = part;
    o.leave_out = NULL;
    o.model_out = &b;
    assert_ok(trl_train(&o, NULL, &err));
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
    trl_buf_fini(&a);
    trl_buf_fini(&b);
    trl_dataset_free(all);
    trl_dataset_free(part);
}

/* Each sequence has the labels of the model that was trained without its fold, and the measures are
 * those of the labels. */
static void test_labels(void **state)
{
    (void)state;
    trl_error err = {0};
    const char *all = write_units("all", COLUMNS, NULL);
    const trl_train_options t = options(COLUMNS, &all);
    trl_cv_options o = trl_cv_options_default();
    trl_cv_result r;
    heard h;
    o.folds = 4;
    validate(&t, &o, &h, &r);
    assert_int_equal(h.n_folds, 4);
    assert_int_equal(r.n_units, UNITS);
    for (uint64_t f = 0; f < 4; f++) {
        uint8_t out[UNITS], in[UNITS];
        trl_model *m = NULL;
        trl_tagger *tagger = NULL;
        trl_reader *reader = NULL;
        trl_buf model = {0};
        uint64_t right = 0, tokens = 0;
        for (size_t k = 0; k < UNITS; k++)
            in[k] = !(out[k] = h.fold_of[k] == f);
        const char *part = write_units("part", COLUMNS, out);
        trl_train_options one = options(COLUMNS, &part);
        one.model_out = &model;
        assert_ok(trl_train(&one, NULL, &err));
        assert_ok(trl_model_from_memory(model.data, model.len, &m, &err));
        assert_ok(trl_tagger_new(m, &tagger, &err));
        assert_ok(
            trl_reader_open(write_units("held", COLUMNS, in), TRL_FORMAT_COLUMNS, &reader, &err));
        for (size_t k = 0; k < UNITS; k++) {
            trl_rows rows;
            bool more;
            uint32_t y[20];
            double score;
            char want[400] = "", *to = want;
            if (!out[k])
                continue;
            assert_ok(trl_reader_rows(reader, &rows, &more, &err));
            assert_true(more && rows.n_tokens < 20);
            assert_ok(trl_tagger_set_rows(tagger, &rows, &err));
            assert_ok(trl_tagger_viterbi(tagger, y, &score, &err));
            for (size_t i = 0; i < rows.n_tokens; i++, tokens++) {
                const trl_str label = trl_model_label(m, y[i]), gold = rows.cell[3 * i + 2];
                to += sprintf(to, "%.*s ", (int)label.n, label.p);
                right += label.n == gold.n && memcmp(label.p, gold.p, gold.n) == 0;
            }
            assert_string_equal(h.labels[k], want);
        }
        assert_string_equal(h.fold[f].name[0], "accuracy");
        assert_near(h.fold[f].value[0], 100.0 * (double)right / (double)tokens, 1e-12);
        trl_reader_free(reader);
        trl_tagger_free(tagger);
        trl_model_free(m);
        trl_buf_fini(&model);
    }
}

/* Mean and deviation as their definitions say; every kind has its measures. */
static void test_measures(void **state)
{
    (void)state;
    for (data_form form = COLUMNS; form < FORMS; form++) {
        const char *all = write_units("all", form, NULL);
        const trl_train_options t = options(form, &all);
        trl_cv_options o = trl_cv_options_default();
        trl_cv_result r;
        heard h;
        o.folds = 3;
        validate(&t, &o, &h, &r);
        assert_int_equal(r.n_measures, 5);
        for (size_t k = 0; k < 5; k++) {
            const double a = h.fold[0].value[k], b = h.fold[1].value[k], c = h.fold[2].value[k];
            const double mean = (a + b + c) / 3.0;
            if (form == GRAPHS && k >= 2) { /* no layer is named as the one of chunks */
                assert_true(isnan(r.measure[k].mean));
                continue;
            }
            const double sum =
                (a - mean) * (a - mean) + (b - mean) * (b - mean) + (c - mean) * (c - mean);
            assert_string_equal(r.measure[k].name, h.fold[0].name[k]);
            assert_near(r.measure[k].mean, mean, 1e-12);
            assert_near(r.measure[k].deviation, sqrt(sum / 2.0), 1e-9);
            assert_true(r.measure[k].all >= fmin(a, fmin(b, c)) - 1e-9 &&
                        r.measure[k].all <= fmax(a, fmax(b, c)) + 1e-9);
        }
        assert_true(r.measure[0].mean > 20.0);
    }
}

/* Chunks by the scheme: in BILOU L and U end them, which conlleval does not know. */
static void test_scheme(void **state)
{
    (void)state;
    const char *path = in_folder("bilou");
    FILE *f = fopen(path, "w");
    for (size_t k = 0; k < UNITS; k++)
        fprintf(f, "a U-X\nb U-X\nc B-X\nd L-X\ne O\n\n");
    fclose(f);
    trl_train_options t = options(ITEMS, &path);
    trl_cv_options o = trl_cv_options_default();
    trl_cv_result r;
    heard h;
    t.scheme = "bilou";
    validate(&t, &o, &h, &r);
    assert_near(r.measure[4].all, 100.0, 0.0);
    assert_near(r.measure[0].all, 100.0, 0.0);
}

/* The same seed deals the same folds, another seed others; sizes differ by one at most. */
static void test_folds(void **state)
{
    (void)state;
    trl_error err = {0};
    const char *all = write_units("all", COLUMNS, NULL);
    trl_train_options t = options(COLUMNS, &all);
    uint32_t first[UNITS];
    bool other = false;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        trl_folds a = {0}, b = {0};
        size_t size[5] = {0};
        t.seed = seed;
        assert_ok(trl_folds_make(&a, &t, &(trl_folds_options){.k = 5}, &err));
        assert_ok(trl_folds_make(&b, &t, &(trl_folds_options){.k = 5}, &err));
        assert_int_equal(a.n, UNITS);
        assert_memory_equal(a.fold, b.fold, UNITS * sizeof *a.fold);
        for (size_t k = 0; k < UNITS; k++)
            size[a.fold[k]]++;
        for (size_t k = 0; k < 5; k++)
            assert_true(size[k] == UNITS / 5 || size[k] == UNITS / 5 + 1);
        if (seed == 1)
            memcpy(first, a.fold, sizeof first);
        other = other || memcmp(first, a.fold, sizeof first) != 0;
        trl_folds_fini(&a);
        trl_folds_fini(&b);
    }
    assert_true(other);
}

/* Documents and named groups stay together. */
static void test_groups(void **state)
{
    (void)state;
    trl_error err = {0};
    const char *path = in_folder("documents"), *groups = in_folder("groups");
    FILE *f = fopen(path, "w"), *g = fopen(groups, "w");
    for (size_t k = 0; k < UNITS; k++) {
        if (k % 4 == 1)
            fprintf(f, "-DOCSTART-\n\n");
        put_unit(f, COLUMNS, k);
        fprintf(g, "name %zu\n", k % 6);
    }
    fclose(f);
    fclose(g);
    for (int graph = 0; graph < 2; graph++) {
        const trl_train_options t = options(graph ? GRAPHS : COLUMNS, &path);
        trl_folds a = {0}, b = {0};
        assert_ok(trl_folds_make(&a, &t, &(trl_folds_options){.k = 3, .documents = true}, &err));
        assert_ok(trl_folds_make(&b, &t, &(trl_folds_options){.k = 3, .groups = groups}, &err));
        assert_int_equal(a.n_groups, 1 + (UNITS + 2) / 4);
        assert_int_equal(b.n_groups, 6);
        for (size_t k = 1; k < UNITS; k++)
            assert_true(k % 4 == 1 || a.fold[k] == a.fold[k - 1]);
        for (size_t k = 6; k < UNITS; k++)
            assert_int_equal(b.fold[k], b.fold[k - 6]);
        trl_folds_fini(&a);
        trl_folds_fini(&b);
    }
}

static bool stop(void *ctx, const trl_progress *p)
{
    (void)ctx;
    return strcmp(p->stage, "iteration") == 0;
}

static void test_refusals(void **state)
{
    (void)state;
    const char *all = write_units("all", COLUMNS, NULL), *stdin_ = "-";
    const char *few = in_folder("few");
    FILE *f = fopen(few, "w");
    fprintf(f, "one\ntwo\n");
    fclose(f);
    trl_train_options t;
    trl_cv_options o;
    trl_buf out = {0};
    trl_cv_result r = {.folds = 77};
#define WRONG(change, status, word, hinted)                                                        \
    do {                                                                                           \
        trl_error err = {0};                                                                       \
        t = options(COLUMNS, &all);                                                                \
        o = trl_cv_options_default();                                                              \
        o.train = &t;                                                                              \
        change;                                                                                    \
        assert_int_equal(trl_cv(&o, &r, &err), status);                                            \
        if (!strstr(err.msg, word))                                                                \
            fail_msg("'%s' does not say '%s'", err.msg, word);                                     \
        assert_int_equal(err.hint[0] != 0, hinted);                                                \
        assert_int_equal(r.folds, 77);                                                             \
    } while (0)
    WRONG(o.folds = 1, TRL_EINVAL, "at least 2", false);
    WRONG(o.folds = UNITS + 1, TRL_EPARSE, "23 sequences are too few for 24 folds", true);
    WRONG(o.documents = true, TRL_EPARSE, "1 documents are too few", true);
    WRONG(o.groups = few, TRL_EPARSE, "fewer lines", true);
    WRONG((o.documents = true, o.groups = few), TRL_EINVAL, "not by both", false);
    WRONG((o.documents = true, t.kind = "tree"), TRL_EINVAL, "no marks of documents", true);
    WRONG(t.train = &stdin_, TRL_EINVAL, "standard input", false);
    WRONG(t.model_out = &out, TRL_EINVAL, "a model file", false);
    WRONG(t.checkpoint = "x", TRL_EINVAL, "a checkpoint", false);
    WRONG(t.hold_out = 3, TRL_EINVAL, "hold_out", false);
    WRONG(t.partial = true, TRL_EINVAL, "partial", true);
    WRONG(t.n_train = 0, TRL_EINVAL, "no training file", false);
    WRONG(o.size = 0, TRL_EINVAL, "size", false);
    WRONG(t.progress = stop, TRL_ECANCEL, "fold 1 of 5", false);
    WRONG(all = in_folder("missing"), TRL_EIO, "", false);
#undef WRONG
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits), cmocka_unit_test(test_same_bits_of_columns),
        cmocka_unit_test(test_labels),    cmocka_unit_test(test_measures),
        cmocka_unit_test(test_scheme),    cmocka_unit_test(test_folds),
        cmocka_unit_test(test_groups),    cmocka_unit_test(test_refusals),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-cv-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const names[] = {"all",       "part",   "held", "bilou",
                                        "documents", "groups", "few"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        unlink(in_folder(names[k]));
    rmdir(folder);
    return failed;
}
