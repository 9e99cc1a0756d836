/* test_data_memory.c -- parsers from memory into memory, data sets from callbacks and files: the
 * bits of training from files. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "train_setup.h"
#include "trellis/parser.h"

static trl_error err;

static const char bank[] = "(TOP (S (NP-SBJ (NNP Kim)) (VP (VBZ sleeps)) (. .)))\n"
                           "(TOP (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ sees) (NP (NNP Kim)))\n"
                           "  (. .)))\n(TOP (S (NP (-NONE- *)) (VP (VB go))))\n";
static const char held[] = "(TOP (S (NP (NNP Kim)) (VP (VBZ barks))))\n";

#define REFUSED(status, sentence, call)                                                            \
    do {                                                                                           \
        err = (trl_error){0};                                                                      \
        assert_int_equal((call), (status));                                                        \
        if (!strstr(err.msg, sentence))                                                            \
            fail_msg("%s", err.msg);                                                               \
    } while (0)

static trl_dataset *set_of(const char *text)
{
    trl_dataset *d = NULL;
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_dataset_add_brackets(d, "text", text, strlen(text), &err));
    return d;
}

static void same_as_file(const trl_buf *bytes, const char *path)
{
    trl_mapped file;
    assert_ok(trl_map_file(path, &file, &err));
    assert_int_equal(bytes->len, file.size);
    assert_memory_equal(bytes->data, file.data, file.size);
    assert_int_equal((uintptr_t)bytes->data % 64, 0);
    trl_unmap(&file);
}

/* ---- trees ----------------------------------------------------------------------------------- */

static void test_parsers(void **state)
{
    (void)state;
    const char *path[] = {write_file("bank", bank)};
    const char *dev = write_file("held", held);
    trl_dataset *data = set_of(bank), *dev_data = NULL;
    assert_ok(trl_dataset_new(&dev_data, &err));
    assert_ok(trl_dataset_read_trees(dev_data, dev, &err));
    const trl_dataset_info i = trl_dataset_get_info(data);
    assert_int_equal(i.n_trees, 3);
    assert_int_equal(i.n_words, 10);
    assert_int_equal(i.n_sequences, 0);
    static const char *const grade[] = {"generative", "discriminative", "features"};
    for (size_t k = 0; k < 3; k++) {
        trl_buf out = {0};
        trl_train_result a, b;
        trl_train_options o = trl_train_options_default();
        o.kind = "tree";
        o.grade = grade[k];
        o.clusters = "none";
        o.max_iter = 3;
        o.train = path;
        o.n_train = 1;
        o.dev = dev;
        o.model = in_folder("model");
        assert_ok(trl_train(&o, &a, &err));
        o.train = NULL;
        o.n_train = 0;
        o.dev = o.model = NULL;
        o.data = data;
        o.dev_data = dev_data;
        o.model_out = &out;
        assert_ok(trl_train(&o, &b, &err));
        same_as_file(&out, in_folder("model"));
        assert_true(a.dev_score == b.dev_score);
        assert_string_equal(b.dev_measure, "F1");
        trl_buf_fini(&out);
    }
    trl_dataset_free(data);
    trl_dataset_free(dev_data);
}

static void train_generative(const trl_dataset *d, trl_buf *out)
{
    trl_train_options o = trl_train_options_default();
    o.kind = "tree";
    o.grade = "generative";
    o.clusters = "none";
    o.data = d;
    o.model_out = out;
    assert_ok(trl_train(&o, NULL, &err));
}

/* Trees of a file, with roots of every kind, and after others. */
static void test_tree_files(void **state)
{
    (void)state;
    static const char more[] = "( (S (NP-1 (NN x)) (VP (VB y) (NP (-NONE- *T*-1)))))\n"
                               "(TOP (S (NP (NN -LRB-)) (X (SYM a\\/b))))";
    trl_dataset *d = NULL, *whole = set_of(bank);
    trl_buf one = {0}, two = {0};
    assert_ok(trl_dataset_add_brackets(whole, "more", more, strlen(more), &err));
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_dataset_read_trees(d, write_file("bank", bank), &err));
    REFUSED(TRL_EIO, "", trl_dataset_read_trees(d, "/no/such/file", &err));
    const char *broken = write_file("broken", "(S (A b))\n(S (A b)");
    REFUSED(TRL_EPARSE, "", trl_dataset_read_trees(d, broken, &err));
    assert_string_equal(err.path, broken);
    assert_int_equal(trl_dataset_get_info(d).n_trees, 3); /* as it was */
    assert_int_equal(trl_dataset_get_info(d).n_words, 10);
    assert_ok(trl_dataset_read_trees(d, write_file("more", more), &err));
    assert_int_equal(trl_dataset_get_info(d).n_trees, 5);
    REFUSED(TRL_EINVAL, "NULL", trl_dataset_read_trees(NULL, "x", &err));
    REFUSED(TRL_EINVAL, "NULL", trl_dataset_read_trees(d, NULL, &err));
    train_generative(d, &one);
    train_generative(whole, &two);
    assert_int_equal(one.len, two.len);
    assert_memory_equal(one.data, two.data, one.len);
    trl_buf_fini(&one);
    trl_buf_fini(&two);
    trl_dataset_free(d);
    trl_dataset_free(whole);
}

/* Trees that were read are trees that were written. */
static void test_single_trees(void **state)
{
    (void)state;
    trl_dataset *d = NULL;
    trl_treebank *b = NULL;
    trl_tree tree;
    bool more = true;
    trl_buf one = {0}, two = {0};
    trl_dataset *whole = set_of(bank);
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_treebank_memory(&(trl_text){"bank", bank, strlen(bank)}, NULL, false, &b, &err));
    while (assert_ok(trl_treebank_next(b, &tree, &more, &err)), more)
        assert_ok(trl_dataset_add_tree(d, &tree, &err));
    trl_treebank_free(b);
    train_generative(d, &one);
    train_generative(whole, &two);
    assert_int_equal(one.len, two.len);
    assert_memory_equal(one.data, two.data, one.len);
    trl_buf_fini(&one);
    trl_buf_fini(&two);
    trl_dataset_free(d);
    trl_dataset_free(whole);
}

static void test_wrong_trees(void **state)
{
    (void)state;
    const trl_str cell[] = {{"a", 1}, {"X", 1}};
    const trl_rows rows = {.n_tokens = 1, .n_columns = 2, .cell = cell};
    const trl_tree nothing = {0};
    trl_dataset *d = NULL, *sequences = NULL, *empty = NULL;
    trl_buf out = {0};
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_dataset_new(&sequences, &err));
    assert_ok(trl_dataset_new(&empty, &err));
    assert_ok(trl_dataset_add_rows(sequences, &rows, 1, NULL, &err));
    REFUSED(TRL_EINVAL, "NULL", trl_dataset_add_brackets(NULL, "x", "", 0, &err));
    REFUSED(TRL_EINVAL, "NULL", trl_dataset_add_brackets(d, NULL, "", 0, &err));
    REFUSED(TRL_EINVAL, "NULL", trl_dataset_add_brackets(d, "x", NULL, 3, &err));
    REFUSED(TRL_EINVAL, "NULL", trl_dataset_add_tree(d, NULL, &err));
    REFUSED(TRL_EINVAL, "NULL", trl_dataset_add_tree(d, &nothing, &err));
    REFUSED(TRL_EPARSE, "", trl_dataset_add_brackets(d, "x", "(S (A b)", 8, &err));
    assert_string_equal(err.path, "x");
    assert_int_equal(trl_dataset_get_info(d).n_trees, 0);
    REFUSED(TRL_EINVAL, "has sequences",
            trl_dataset_add_brackets(sequences, "x", held, strlen(held), &err));
    REFUSED(TRL_EINVAL, "has sequences", trl_dataset_read_trees(sequences, "x", &err));
    assert_ok(trl_dataset_add_brackets(d, "x", held, strlen(held), &err));
    REFUSED(TRL_EINVAL, "has trees", trl_dataset_add_rows(d, &rows, 1, NULL, &err));
    trl_train_options o = trl_train_options_default();
    o.data = d;
    o.model_out = &out;
    REFUSED(TRL_EINVAL, "go with models of trees", trl_train(&o, NULL, &err));
    o.kind = "tree";
    o.data = sequences;
    REFUSED(TRL_EINVAL, "there are no trees in data", trl_train(&o, NULL, &err));
    o.data = empty;
    REFUSED(TRL_EINVAL, "there are no trees in data", trl_train(&o, NULL, &err));
    o.data = d;
    o.dev_data = sequences;
    REFUSED(TRL_EINVAL, "there are no trees in dev_data", trl_train(&o, NULL, &err));
    o.dev_data = NULL;
    o.model = in_folder("both");
    REFUSED(TRL_EINVAL, "model and model_out are both given", trl_train(&o, NULL, &err));
    o.model = NULL;
    o.rescue = "x";
    REFUSED(TRL_EINVAL, "rescue goes with a model file", trl_train(&o, NULL, &err));
    assert_null(out.data);
    trl_dataset_free(d);
    trl_dataset_free(sequences);
    trl_dataset_free(empty);
}

/* ---- callbacks and files --------------------------------------------------------------------- */

typedef struct feed {
    size_t next, n, bad; /* bad: the call that fails, from 1; 0: none */
    bool weighted;
} feed;

static const trl_str cells[] = {{"a", 1}, {"X", 1}, {"b", 1}, {"Y", 1}};
static const trl_attr attr[] = {{{"a", 1}, 1.0}, {{"b", 1}, 2.0}};
static const size_t begin[] = {0, 1, 2};
static const trl_str label[] = {{"X", 1}, {"Y", 1}};

static trl_status next_rows(void *ctx, trl_rows *seq, double *weight, bool *more, trl_error *e)
{
    feed *f = ctx;
    assert_true(*weight == 1.0 && *more);
    if (f->next + 1 == f->bad) {
        snprintf(e->msg, sizeof e->msg, "no more of this");
        return TRL_ECANCEL;
    }
    *more = f->next < f->n;
    if (f->weighted)
        *weight = 2.0;
    *seq = (trl_rows){.n_tokens = 1 + f->next % 2, .n_columns = 2, .cell = cells};
    f->next++;
    return TRL_OK;
}

static trl_status next_items(void *ctx, trl_items *seq, bool *more, trl_error *e)
{
    feed *f = ctx;
    (void)e;
    *more = f->next < f->n;
    seq->n_tokens = f->next + 1 == f->bad ? 0 : 1 + f->next % 2;
    seq->label = label;
    seq->begin = begin;
    seq->attr = attr;
    f->next++;
    return TRL_OK;
}

static void test_callbacks(void **state)
{
    (void)state;
    for (int items = 0; items < 2; items++) {
        trl_dataset *d = NULL;
        feed good = {.n = 5, .weighted = true}, bad = {.n = 5, .bad = 4}, none = {0};
        assert_ok(trl_dataset_new(&d, &err));
        err = (trl_error){0};
        assert_int_equal(items ? trl_dataset_fill_items(d, next_items, &bad, &err)
                               : trl_dataset_fill_rows(d, next_rows, &bad, &err),
                         items ? TRL_EINVAL : TRL_ECANCEL);
        assert_non_null(strstr(err.msg, items ? "sequence 4" : "no more of this"));
        assert_int_equal(trl_dataset_get_info(d).n_sequences, 0);
        assert_int_equal(trl_dataset_get_info(d).format, TRL_FORMAT_GUESS);
        assert_ok(items ? trl_dataset_fill_items(d, next_items, &good, &err)
                        : trl_dataset_fill_rows(d, next_rows, &good, &err));
        assert_int_equal(trl_dataset_get_info(d).n_sequences, 5);
        assert_int_equal(trl_dataset_get_info(d).n_tokens, 7);
        bad.next = 0;
        assert_true((items ? trl_dataset_fill_items(d, next_items, &bad, &err)
                           : trl_dataset_fill_rows(d, next_rows, &bad, &err)) != TRL_OK);
        assert_int_equal(trl_dataset_get_info(d).n_tokens, 7); /* as it was */
        assert_ok(items ? trl_dataset_fill_items(d, next_items, &none, &err)
                        : trl_dataset_fill_rows(d, next_rows, &none, &err));
        assert_int_equal(trl_dataset_get_info(d).n_sequences, 5);
        REFUSED(TRL_EINVAL, "NULL", trl_dataset_fill_rows(NULL, next_rows, &good, &err));
        REFUSED(TRL_EINVAL, "NULL", trl_dataset_fill_rows(d, NULL, &good, &err));
        REFUSED(TRL_EINVAL, "NULL", trl_dataset_fill_items(NULL, next_items, &good, &err));
        REFUSED(TRL_EINVAL, "NULL", trl_dataset_fill_items(d, NULL, &good, &err));
        trl_dataset_free(d);
    }
}

static void test_files(void **state)
{
    (void)state;
    static const char conllu[] =
        "# a comment\n1\ta\ta\tDET\tDT\t_\t2\tdet\t_\t_\n2\tb\tb\tNOUN\tNN\t_\t0\troot\t_\t_\n\n";
    static const struct {
        const char *text; /* NULL: made up */
        trl_format format;
    } file[] = {{NULL, TRL_FORMAT_GUESS},
                {"@weight:3\na X\nb Y\n\nb X\n", TRL_FORMAT_COLUMNS},
                {"X\ta\tb:2\nY\tc\n\n@weight:2\nX\tc\n", TRL_FORMAT_GUESS},
                {conllu, TRL_FORMAT_CONLLU},
                {"a b X\nc Y\n\nc X\n", TRL_FORMAT_MALLET},
                {"{\"tokens\": [\"a\", \"b\"], \"labels\": [\"X\", \"Y\"]}\n", TRL_FORMAT_JSONL}};
    for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
        const char *path =
            file[k].text ? write_file("data", file[k].text) : write_columns("data", 3, 30);
        trl_dataset *d = NULL;
        trl_buf out = {0};
        trl_train_options o = trl_train_options_default();
        o.max_iter = 5;
        o.train = &path;
        o.format = file[k].format;
        o.n_train = 1;
        o.model = in_folder("model");
        assert_ok(trl_train(&o, NULL, &err));
        assert_ok(trl_dataset_new(&d, &err));
        assert_ok(trl_dataset_read(d, path, file[k].format, &err));
        o.n_train = 0;
        o.format = TRL_FORMAT_GUESS;
        o.model = NULL;
        o.data = d;
        o.model_out = &out;
        assert_ok(trl_train(&o, NULL, &err));
        same_as_file(&out, in_folder("model"));
        assert_int_equal(trl_dataset_read(d, "/no/such/file", TRL_FORMAT_GUESS, &err), TRL_EIO);
        REFUSED(TRL_EINVAL, "NULL", trl_dataset_read(d, NULL, TRL_FORMAT_GUESS, &err));
        REFUSED(TRL_EINVAL, "NULL", trl_dataset_read(NULL, "x", TRL_FORMAT_GUESS, &err));
        trl_buf_fini(&out);
        trl_dataset_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parsers),      cmocka_unit_test(test_tree_files),
        cmocka_unit_test(test_single_trees), cmocka_unit_test(test_wrong_trees),
        cmocka_unit_test(test_callbacks),    cmocka_unit_test(test_files),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-memory-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
