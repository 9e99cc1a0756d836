/* test_dataset.c -- training from memory: the bits of training from files, and what is refused. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>

#include "feature/dataset.h"
#include "train_setup.h"

/* ---- files as data sets ------------------------------------------------------------------ */

static trl_dataset *load_rows(const char *path, const double *weight)
{
    trl_error err;
    trl_dataset *d = NULL;
    trl_reader *r = NULL;
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_reader_open(path, TRL_FORMAT_COLUMNS, &r, &err));
    for (size_t k = 0;; k++) {
        trl_rows seq;
        bool more;
        assert_ok(trl_reader_rows(r, &seq, &more, &err));
        if (!more)
            break;
        assert_ok(trl_dataset_add_rows(d, &seq, 1, weight ? weight + k : NULL, &err));
    }
    trl_reader_free(r);
    return d;
}

static trl_dataset *load_items(const char *path)
{
    trl_error err;
    trl_dataset *d = NULL;
    trl_reader *r = NULL;
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_reader_open(path, TRL_FORMAT_CRFSUITE, &r, &err));
    for (;;) {
        trl_items seq;
        bool more;
        assert_ok(trl_reader_items(r, &seq, &more, &err));
        if (!more)
            break;
        assert_ok(trl_dataset_add_items(d, &seq, 1, NULL, &err));
    }
    trl_reader_free(r);
    return d;
}

/* Trains from the files of s, then from the data sets into memory: the same bytes, the same
 * result. */
static void assert_same_model(setup *s, const trl_dataset *data, const trl_dataset *dev)
{
    trl_error err;
    trl_train_result result;
    trl_buf out = {0};
    trl_mapped file;
    assert_ok(trl_train(&s->o, &s->result, &err));
    trl_train_options o = s->o;
    o.train = NULL;
    o.n_train = 0;
    o.dev = o.model = NULL;
    o.data = data;
    o.dev_data = dev;
    o.model_out = &out;
    assert_ok(trl_train(&o, &result, &err));
    assert_ok(trl_map_file(s->o.model, &file, &err));
    assert_int_equal(out.len, file.size);
    assert_memory_equal(out.data, file.data, file.size);
    assert_int_equal((uintptr_t)out.data % 64, 0);
    assert_int_equal(result.iterations, s->result.iterations);
    assert_true(result.objective == s->result.objective);
    assert_true(!dev || result.dev_score == s->result.dev_score);
    trl_unmap(&file);
    trl_buf_fini(&out);
}

static void test_rows_as_files(void **state)
{
    (void)state;
    static const struct {
        const char *objective, *q0;
        bool mask, plain; /* plain: the built-in template */
        uint64_t hold_out;
    } run[] = {{"likelihood", NULL, false, false, 0},   {"likelihood", NULL, false, true, 0},
               {"likelihood", NULL, false, false, 4},   {"hmm", NULL, false, true, 0},
               {"m-estimation", "hmm", true, false, 3}, {"memm", NULL, false, false, 0}};
    const char *train = write_columns("data", 71, 60), *held = write_columns("dev", 72, 30);
    trl_dataset *data = load_rows(train, NULL), *dev = load_rows(held, NULL);
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        setup s;
        setup_make(&s, train);
        s.o.dev = held;
        s.o.objective = run[k].objective;
        s.o.q0 = run[k].q0;
        s.o.q0_mask = run[k].mask;
        s.o.hold_out = run[k].hold_out;
        s.o.max_iter = 7;
        if (run[k].plain)
            s.o.template_text = NULL;
        assert_same_model(&s, data, dev);
    }
    const trl_dataset_info i = trl_dataset_get_info(data);
    assert_int_equal(i.format, TRL_FORMAT_COLUMNS);
    assert_int_equal(i.n_sequences, 60);
    assert_int_equal(i.n_columns, 3);
    trl_dataset_free(data);
    trl_dataset_free(dev);
}

static const char items_text[] = "@weight:2.5\nX\tw:0.5\tv\nY\tu\tw\\:1\n\nY\tu:2\nX\tv\tw\n\n"
                                 "X\tv:-1\nZ\nX\tw\n\n@weight:0\nY\tu\tv\n";

static void test_items_as_files(void **state)
{
    (void)state;
    const char *train = write_file("items", items_text);
    trl_dataset *data = load_items(train);
    for (int counted = 0; counted < 2; counted++) {
        setup s;
        setup_make(&s, train);
        s.o.template_text = NULL;
        s.o.format = TRL_FORMAT_CRFSUITE;
        s.o.dev = counted ? NULL : train;
        s.o.objective = counted ? "m-estimation" : "likelihood";
        assert_same_model(&s, data, counted ? NULL : data);
    }
    trl_dataset_free(data);
}

/* A row's weight is what repeating the sequence would be; items have it from their file. */
static void test_row_weights(void **state)
{
    (void)state;
    trl_error err;
    static const char once[] = "a X\nb Y\n\nb X\n\na Y\n";
    static const double weight[] = {2.0, 1.0, 3.0};
    const char *many = write_file("many", "a X\nb Y\n\na X\nb Y\n\nb X\n\na Y\n\na Y\n\na Y\n");
    trl_dataset *data = load_rows(write_file("once", once), weight);
    static const char *const objective[] = {"likelihood", "hmm", "m-estimation"};
    for (size_t k = 0; k < sizeof objective / sizeof *objective; k++) {
        setup s;
        trl_train_result result;
        trl_buf out = {0};
        setup_make(&s, many);
        s.o.template_text = k == 1 ? NULL : "U:%x[0,0]\nB\n";
        s.o.template_size = k == 1 ? 0 : strlen(s.o.template_text);
        s.o.objective = objective[k];
        s.o.delta = s.o.epsilon = 1e-12;
        s.o.precision = "double";
        assert_ok(trl_train(&s.o, &s.result, &err));
        trl_train_options o = s.o;
        o.n_train = 0;
        o.model = NULL;
        o.data = data;
        o.model_out = &out;
        assert_ok(trl_train(&o, &result, &err));
        assert_near(result.objective, s.result.objective, 1e-9);
        trl_buf_fini(&out);
    }
    trl_dataset_free(data);
}

/* Sequences held out by number leave the right weights to the others, masked or not. */
static void test_weights_held_out(void **state)
{
    (void)state;
    trl_error err;
    const char *train = write_columns("data", 75, 12);
    double weight[12];
    for (size_t k = 0; k < 12; k++)
        weight[k] = k % 3 == 2 ? 1000.0 : (double)(1 + k % 2);
    trl_dataset *all = load_rows(train, weight), *some = NULL;
    trl_dataset_cursor c = {.set = all};
    assert_ok(trl_dataset_new(&some, &err));
    for (size_t k = 0;; k++) {
        trl_rows seq;
        double w;
        bool more;
        assert_ok(trl_dataset_cursor_rows(&c, &seq, &w, &more, &err));
        if (!more)
            break;
        assert_true(w == weight[k] && w == trl_dataset_weight(all, k));
        if (k % 3 != 2)
            assert_ok(trl_dataset_add_rows(some, &seq, 1, &w, &err));
    }
    trl_dataset_cursor_fini(&c);
    for (int mask = 0; mask < 2; mask++) {
        trl_buf out[2] = {{0}};
        setup s;
        setup_make(&s, NULL);
        s.o.n_train = 0;
        s.o.model = NULL;
        s.o.objective = "m-estimation";
        s.o.q0_mask = mask;
        for (int k = 0; k < 2; k++) {
            s.o.data = k ? some : all;
            s.o.hold_out = k ? 0 : 3;
            s.o.model_out = &out[k];
            assert_ok(trl_train(&s.o, NULL, &err));
        }
        assert_int_equal(out[0].len, out[1].len);
        assert_memory_equal(out[0].data, out[1].data, out[0].len);
        trl_buf_fini(&out[0]);
        trl_buf_fini(&out[1]);
    }
    trl_dataset_free(all);
    trl_dataset_free(some);
}

/* ---- models as bytes --------------------------------------------------------------------- */

#define STR(s)                                                                                     \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

static void test_model_bytes(void **state)
{
    (void)state;
    trl_error err;
    /* what files cannot have: blanks, tabs, line ends, bytes that are not text */
    const trl_str cell[] = {STR("New York"),        STR("B"), STR("\t\n"),
                            STR("I-\tLOC\xff X\n"), STR("b"), STR("B")};
    const trl_rows seq[] = {{.n_tokens = 2, .n_columns = 2, .cell = cell},
                            {.n_tokens = 1, .n_columns = 2, .cell = cell + 4}};
    trl_dataset *d = NULL;
    trl_buf out = {0};
    trl_train_options o = trl_train_options_default();
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_dataset_add_rows(d, seq, 2, NULL, &err));
    o.data = d;
    o.model_out = &out;
    assert_ok(trl_train(&o, NULL, &err));
    assert_ok(trl_train(&o, NULL, &err)); /* what it held is replaced */
    trl_dataset_free(d);
    for (int copied = 0; copied < 2; copied++) {
        trl_model *m = NULL;
        trl_tagger *t = NULL;
        uint32_t y[2];
        double score;
        assert_ok(copied ? trl_model_from_copy(out.data, out.len, &m, &err)
                         : trl_model_from_memory(out.data, out.len, &m, &err));
        if (copied)
            memset(out.data, 0, out.len);
        assert_ok(trl_tagger_new(m, &t, &err));
        assert_ok(trl_tagger_set_rows(t, &seq[0], &err));
        assert_ok(trl_tagger_viterbi(t, y, &score, &err));
        const trl_str name = trl_model_label(m, y[1]);
        assert_int_equal(name.n, 10);
        assert_memory_equal(name.p, "I-\tLOC\xff X\n", 10);
        trl_tagger_free(t);
        trl_model_free(m);
    }
    trl_model *m = NULL;
    assert_int_equal(trl_model_from_copy(out.data, out.len, &m, &err), TRL_EMODEL);
    assert_int_equal(trl_model_from_copy("", 0, &m, &err), TRL_EMODEL);
    assert_null(m);
    trl_buf_fini(&out);
}

/* ---- what is refused --------------------------------------------------------------------- */

static trl_error why;

static void assert_says(trl_status st, const char *words)
{
    assert_int_equal(st, TRL_EINVAL);
    if (!strstr(why.msg, words))
        fail_msg("'%s' does not say '%s'", why.msg, words);
}

static void test_bad_rows(void **state)
{
    (void)state;
    const trl_str good[] = {STR("a"), STR("X"), STR("b"), STR("Y")};
    const trl_str empty[] = {STR("a"), STR("X"), STR(""), STR("Y")};
    const trl_str nul[] = {STR("a"), STR("X"), STR("b"), STR("Y\0Z")};
    const trl_str null[] = {{NULL, 3}, STR("X")};
    const trl_rows right = {.n_tokens = 2, .n_columns = 2, .cell = good};
    const double weights[] = {1.0, (double)NAN};
    trl_dataset *d = NULL;
    assert_int_equal(trl_dataset_new(&d, &why), TRL_OK);
    assert_int_equal(trl_dataset_add_rows(d, &right, 1, NULL, &why), TRL_OK);
    const struct {
        trl_rows seq;
        const char *words;
    } bad[] = {{{.n_columns = 2, .cell = good}, "sequence 3: there are no tokens"},
               {{.n_tokens = 1, .n_columns = 2}, "sequence 3: the cells are NULL"},
               {{.n_tokens = 2, .n_columns = 1, .cell = good}, "at least two columns"},
               {{.n_tokens = 1, .n_columns = 4, .cell = good}, "sequence 3: 4 columns where 2"},
               {{2, 2, .cell = empty}, "sequence 3, token 2, column 1: the cell is empty"},
               {{2, 2, .cell = nul}, "token 2, column 2: the label contains a NUL byte"},
               {{1, 2, .cell = null}, "token 1, column 1: the cell is NULL"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const trl_rows batch[] = {right, bad[k].seq};
        assert_says(trl_dataset_add_rows(d, batch, 2, NULL, &why), bad[k].words);
    }
    const trl_rows twice[] = {right, right};
    assert_says(trl_dataset_add_rows(d, twice, 2, weights, &why), "sequence 3: the weight is not");
    assert_says(trl_dataset_add_rows(d, NULL, 1, NULL, &why), "NULL");
    const trl_items items = {.n_tokens = 0};
    assert_says(trl_dataset_add_items(d, &items, 1, NULL, &why), "the data set has rows");
    assert_int_equal(trl_dataset_get_info(d).n_sequences, 1);
    assert_int_equal(trl_dataset_get_info(d).n_tokens, 2);
    assert_int_equal(trl_dataset_add_rows(d, NULL, 0, NULL, &why), TRL_OK);
    trl_dataset_free(d);
    trl_dataset_free(NULL);
    assert_int_equal(trl_dataset_get_info(NULL).n_sequences, 0);
    assert_int_equal(trl_dataset_new(NULL, &why), TRL_EINVAL);
}

static void test_bad_items(void **state)
{
    (void)state;
    const trl_str label[] = {STR("X"), STR("Y")}, none[] = {STR("X"), STR("")};
    const trl_attr attr[] = {{STR("u"), 1.0}, {STR("v"), 2.0}};
    const trl_attr infinite[] = {{STR("u"), 1.0}, {STR("v"), (double)INFINITY}};
    const trl_attr nul[] = {{STR("u\0"), 1.0}, {STR("v"), 1.0}};
    const size_t begin[] = {0, 1, 2}, falls[] = {0, 2, 1};
    const trl_items right = {2, label, begin, attr, 1.0, NULL, 0};
    trl_dataset *d = NULL;
    assert_int_equal(trl_dataset_new(&d, &why), TRL_OK);
    const struct {
        trl_items seq;
        const char *words;
    } bad[] = {{{0, label, begin, attr, 1.0, NULL, 0}, "sequence 2: there are no tokens"},
               {{2, NULL, begin, attr, 1.0, NULL, 0}, "sequence 2: there are no labels"},
               {{2, label, NULL, attr, 1.0, NULL, 0}, "begin is NULL"},
               {{2, label, begin, NULL, 1.0, NULL, 0}, "token 1: the attributes are NULL"},
               {{2, none, begin, attr, 1.0, NULL, 0}, "token 2: the label is empty"},
               {{2, label, falls, attr, 1.0, NULL, 0}, "token 2: its attributes end before"},
               {{2, label, begin, infinite, 1.0, NULL, 0}, "the value of 'v' is not finite"},
               {{2, label, begin, nul, 1.0, NULL, 0}, "the name of an attribute contains a NUL"},
               {{2, label, begin, attr, -1.0, NULL, 0}, "sequence 2: the weight is negative"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const trl_items batch[] = {right, bad[k].seq};
        assert_says(trl_dataset_add_items(d, batch, 2, NULL, &why), bad[k].words);
    }
    assert_int_equal(trl_dataset_get_info(d).format, TRL_FORMAT_GUESS);
    assert_int_equal(trl_dataset_add_items(d, &right, 1, NULL, &why), TRL_OK);
    const trl_rows rows = {.n_tokens = 0};
    assert_says(trl_dataset_add_rows(d, &rows, 1, NULL, &why), "the data set has items");
    trl_dataset_free(d);
}

static void test_bad_options(void **state)
{
    (void)state;
    const trl_str cell[] = {STR("a"), STR("X")}, label[] = {STR("X")};
    const size_t begin[] = {0, 0};
    const trl_rows rows = {.n_tokens = 1, .n_columns = 2, .cell = cell};
    const trl_items items = {.n_tokens = 1, .label = label, .begin = begin}; /* weight 0 */
    const char *path[] = {"x"};
    trl_dataset *r = NULL, *i = NULL, *empty = NULL;
    trl_buf out = {0};
    assert_int_equal(trl_dataset_new(&r, &why), TRL_OK);
    assert_int_equal(trl_dataset_new(&i, &why), TRL_OK);
    assert_int_equal(trl_dataset_new(&empty, &why), TRL_OK);
    assert_int_equal(trl_dataset_add_rows(r, &rows, 1, NULL, &why), TRL_OK);
    assert_int_equal(trl_dataset_add_items(i, &items, 1, NULL, &why), TRL_OK);
    trl_train_options good = trl_train_options_default(), o;
    good.data = r;
    good.model_out = &out;
#define REFUSED(words, ...)                                                                        \
    do {                                                                                           \
        o = good;                                                                                  \
        __VA_ARGS__;                                                                               \
        assert_says(trl_train(&o, NULL, &why), words);                                             \
        assert_null(out.data);                                                                     \
    } while (0)
    REFUSED("train and data are both", o.train = path, o.n_train = 1);
    REFUSED("dev and dev_data are both", o.dev = "x", o.dev_data = r);
    REFUSED("model and model_out are both", o.model = "x");
    REFUSED("no training file is given, and no data", o.data = NULL);
    REFUSED("no model file is given, and no model_out", o.model_out = NULL);
    REFUSED("rescue goes with a model file", o.rescue = "x");
    REFUSED("not that of the data", o.format = TRL_FORMAT_CRFSUITE);
    REFUSED("a template goes with columns", o.data = i, o.template_text = "B\n");
    REFUSED("dev_data are CRFsuite items", o.dev_data = i);
    REFUSED("the weights of all sequences are 0", o.data = i);
    REFUSED("there are no trees in data", o.kind = "tree");
    o = good;
    o.data = empty;
    assert_int_equal(trl_train(&o, NULL, &why), TRL_EPARSE);
    assert_string_equal(why.path, "<data>");
    o = good;
    o.dev_data = empty;
    assert_int_equal(trl_train(&o, NULL, &why), TRL_EPARSE);
    assert_string_equal(why.path, "<dev_data>");
    trl_dataset_free(r);
    trl_dataset_free(i);
    trl_dataset_free(empty);
}

/* ---- at the same time -------------------------------------------------------------------- */

typedef struct parallel {
    const trl_dataset *data;
    trl_buf out;
    trl_status st;
} parallel;

static void *run_parallel(void *p)
{
    parallel *x = p;
    trl_train_options o = trl_train_options_default();
    o.data = o.dev_data = x->data;
    o.max_iter = 10;
    o.threads = 2;
    o.model_out = &x->out;
    x->st = trl_train(&o, NULL, NULL);
    return NULL;
}

/* Trainings in one process share a data set, and nothing else. */
static void test_parallel(void **state)
{
    (void)state;
    trl_dataset *data = load_rows(write_columns("data", 77, 40), NULL);
    parallel run[3] = {{.data = data}, {.data = data}, {.data = data}};
    pthread_t thread[2];
    for (size_t k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, run_parallel, &run[k]), 0);
    for (size_t k = 0; k < 2; k++)
        assert_int_equal(pthread_join(thread[k], NULL), 0);
    run_parallel(&run[2]);
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(run[k].st, TRL_OK);
        assert_int_equal(run[k].out.len, run[2].out.len);
        assert_memory_equal(run[k].out.data, run[2].out.data, run[2].out.len);
    }
    for (size_t k = 0; k < 3; k++)
        trl_buf_fini(&run[k].out);
    trl_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_as_files), cmocka_unit_test(test_items_as_files),
        cmocka_unit_test(test_row_weights),   cmocka_unit_test(test_weights_held_out),
        cmocka_unit_test(test_model_bytes),   cmocka_unit_test(test_bad_rows),
        cmocka_unit_test(test_bad_items),     cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_parallel),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-dataset-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
