/* test_model_kinds.c -- one trl_model for every kind: what it is, its bytes, the views of other
 * headers, dumps as buffers. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "train_setup.h"
#include "trellis/align.h"
#include "trellis/boost.h"
#include "trellis/parser.h"

static trl_error err;

#define REFUSED(sentence, call)                                                                    \
    do {                                                                                           \
        err = (trl_error){0};                                                                      \
        assert_int_equal((call), TRL_EINVAL);                                                      \
        if (!strstr(err.msg, sentence))                                                            \
            fail_msg("%s", err.msg);                                                               \
    } while (0)

/* ---- a model of each kind -------------------------------------------------------------------- */

static const char *make_chain(void)
{
    setup s;
    setup_make(&s, write_columns("data", 5, 40));
    s.o.model = in_folder("chain");
    assert_ok(trl_train(&s.o, NULL, &err));
    return s.o.model;
}

static const char *make_tree(void)
{
    const char *path[] = {write_file("bank", "(S (NP (NNP Kim)) (VP (VBZ sleeps)))\n"
                                             "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n")};
    trl_train_options o = trl_train_options_default();
    o.kind = "tree";
    o.grade = "generative";
    o.clusters = "none";
    o.train = path;
    o.n_train = 1;
    o.model = in_folder("tree");
    assert_ok(trl_train(&o, NULL, &err));
    return o.model;
}

static const char *make_graph(void)
{
    static const char spec[] = "labels tag column 1\nlabels np column 2\nscore np\ntemplate words\n"
                               "  U0:%x[0,0]\nfactor tag[i] features words\nfactor np[i]\n"
                               "factor tag[i-1] tag[i]\nfactor tag[i] np[i]\n";
    const char *path[] = {
        write_file("graphs", "the D B\ndog N I\nsaw V O\n\nRex N B\nbarks V O\n")};
    trl_train_options o = trl_train_options_default();
    o.kind = "graph";
    o.template_text = spec;
    o.template_size = sizeof spec - 1;
    o.max_iter = 5;
    o.train = path;
    o.n_train = 1;
    o.model = in_folder("graph");
    assert_ok(trl_train(&o, NULL, &err));
    return o.model;
}

static const uint32_t feature[] = {0, 1, 0, 1, 2};
static const size_t ends[] = {1, 2, 4, 5};

static trl_boost_data *boost_data(void)
{
    static const signed char y[] = {1, -1, 1, -1};
    trl_boost_data *d = NULL;
    assert_ok(trl_boost_data_new(&(trl_boost_examples){4, 3, ends, feature}, 1 << 20, &d, &err));
    assert_ok(trl_boost_data_answer(d, "+1", y, NULL, &err));
    return d;
}

static const char *make_boost(void)
{
    trl_boost_data *d = boost_data();
    trl_boost_model *m = NULL;
    const trl_boost_options o = trl_boost_options_default();
    const char *path = in_folder("boost");
    assert_ok(trl_boost_train(d, NULL, &o, &m, &err));
    assert_ok(trl_boost_model_save(m, path, &err));
    trl_boost_model_free(m);
    trl_boost_data_free(d);
    return path;
}

static const char *make_align(void)
{
    const char *text = write_file("pairs", "das Haus ||| the house\ndas Buch ||| the book\n");
    trl_bitext *b = NULL;
    trl_aligner *a = NULL;
    const trl_align_options o = trl_align_options_default();
    const char *path = in_folder("align");
    assert_ok(trl_bitext_read(text, NULL, &b, &err));
    assert_ok(trl_aligner_train(b, &o, &a, &err));
    assert_ok(trl_aligner_save(a, path, &err));
    trl_aligner_free(a);
    trl_bitext_free(b);
    return path;
}

/* ---- opened as models ------------------------------------------------------------------------ */

static void no_chain(const trl_model *m)
{
    trl_tagger *t = NULL;
    trl_buf b = {0};
    double w[4];
    REFUSED("not a chain", trl_tagger_new(m, &t, &err));
    assert_true(err.hint[0] && err.path[0]);
    const char *kind = trl_model_get_info(m).kind;
    if (strcmp(kind, "tree") != 0 && strcmp(kind, "graph") != 0)
        REFUSED("not a chain", trl_model_dump_buf(m, &b, &err));
    REFUSED("attribute 0", trl_model_weights(m, TRL_SCOPE_LABEL, 0, w, &err));
    assert_int_equal(trl_model_label(m, 0).n, 0);
    assert_int_equal(trl_model_find_label(m, (trl_str){"O", 1}), UINT32_MAX);
    assert_int_equal(trl_model_n_attributes(m, TRL_SCOPE_LABEL), 0);
    assert_int_equal(trl_model_find_attribute(m, TRL_SCOPE_PAIR, (trl_str){"B", 1}), UINT32_MAX);
    assert_int_equal(trl_model_transitions(m, TRL_SCOPE_PAIR), UINT32_MAX);
    assert_int_equal(trl_model_template(m).n, 0);
    assert_null(b.data);
}

/* From the file, mapped, and from its own bytes: the same. */
static trl_model *opened(const char *path, const char *kind)
{
    trl_model *m = NULL, *mapped = NULL, *again = NULL;
    trl_mapped file;
    size_t n = 0;
    assert_ok(trl_model_open(path, &m, &err));
    assert_ok(trl_map_file(path, &file, &err));
    const void *bytes = trl_model_bytes(m, &n);
    assert_int_equal(n, file.size);
    assert_memory_equal(bytes, file.data, n);
    assert_ptr_equal(trl_model_bytes(m, NULL), bytes);
    assert_int_equal((uintptr_t)bytes % 64, 0);
    assert_string_equal(trl_model_get_info(m).kind, kind);
    assert_int_equal(trl_model_get_info(m).file_size, n);
    assert_non_null(trl_model_get_info(m).settings);
    assert_ok(trl_model_map(path, &mapped, &err));
    assert_string_equal(trl_model_get_info(mapped).kind, kind);
    assert_ok(trl_model_from_memory(bytes, n, &again, &err));
    assert_ptr_equal(trl_model_bytes(again, &n), bytes); /* not copied */
    trl_model_free(mapped);
    trl_model_free(again);
    trl_unmap(&file);
    if (strcmp(kind, "chain") != 0)
        no_chain(m);
    return m;
}

/* Through text and back: the same bytes. */
static void test_text_of_each(void **state)
{
    (void)state;
    const char *const path[] = {make_chain(), make_tree(), make_graph()};
    static const char *const kind[] = {"chain", "tree", "graph"};
    for (size_t k = 0; k < 3; k++) {
        trl_model *m = opened(path[k], kind[k]);
        trl_buf text = {0}, back = {0};
        size_t n;
        const void *bytes = trl_model_bytes(m, &n);
        assert_ok(trl_model_dump_buf(m, &text, &err));
        assert_ok(trl_model_undump_buf("text", text.data, text.len, &back, &err));
        assert_int_equal(back.len, n);
        assert_memory_equal(back.data, bytes, n);
        trl_buf_fini(&text);
        trl_buf_fini(&back);
        trl_model_free(m);
    }
}

static void test_trees(void **state)
{
    (void)state;
    const char *path = make_tree();
    trl_model *m = opened(path, "tree");
    trl_parse_model *one = NULL, *two = NULL;
    assert_ok(trl_parse_model_of(m, &one, &err));
    assert_ok(trl_parse_model_open(path, &two, &err));
    const trl_parse_info a = trl_parse_model_info(one), b = trl_parse_model_info(two);
    assert_string_equal(a.settings, b.settings);
    assert_int_equal(a.n_features, b.n_features);
    trl_parse_model_free(two);
    trl_parser *p = NULL;
    trl_parse got;
    const trl_parse_options o = trl_parse_options_default();
    const trl_str word[] = {{"Kim", 3}, {"barks", 5}};
    assert_ok(trl_parser_new(one, &o, &p, &err));
    assert_ok(trl_parser_parse(p, &(trl_parse_input){.word = word, .n = 2}, &got, &err));
    assert_null(got.warning);
    trl_parser_free(p);
    trl_parse_model_free(one);
    trl_boost_model *boost = NULL;
    trl_aligner *align = NULL;
    REFUSED("kind 'tree', not of boosted trees", trl_boost_model_of(m, &boost, &err));
    REFUSED("kind 'tree', not an aligner's", trl_aligner_of(m, &align, &err));
    REFUSED("NULL", trl_parse_model_of(NULL, &one, &err));
    REFUSED("NULL", trl_parse_model_of(m, NULL, &err));
    trl_model_free(m);
}

static void test_boosting(void **state)
{
    (void)state;
    const char *path = make_boost();
    trl_model *m = opened(path, "boost");
    trl_boost_model *one = NULL, *two = NULL;
    trl_boost_data *d = boost_data();
    double a[4], b[4];
    assert_ok(trl_boost_model_of(m, &one, &err));
    assert_ok(trl_boost_model_open(path, &two, &err));
    assert_int_equal(trl_boost_model_classifiers(one), 1);
    trl_boost_data_free(d);
    const trl_boost_read_options r = {.memory = 1 << 20, .unanswered = true, .model = two};
    const char *text[] = {write_file("examples", "1 0\n1 1\n-1 2\n1 0 1\n")};
    assert_ok(trl_boost_read(text, 1, &r, &d, &err));
    assert_ok(trl_boost_predict(one, 0, d, a, &err));
    assert_ok(trl_boost_predict(two, 0, d, b, &err));
    assert_memory_equal(a, b, sizeof a);
    trl_boost_data_free(d);
    trl_boost_model_free(one);
    trl_boost_model_free(two);
    trl_parse_model *parser = NULL;
    REFUSED("kind 'boost', not a parser's", trl_parse_model_of(m, &parser, &err));
    REFUSED("NULL", trl_boost_model_of(m, NULL, &err));
    REFUSED("NULL", trl_boost_model_from_memory(NULL, 3, &one, &err));
    trl_model_free(m);
}

static void test_alignment(void **state)
{
    (void)state;
    const char *path = make_align();
    trl_model *m = opened(path, "align");
    trl_aligner *one = NULL, *two = NULL;
    trl_bitext *b = NULL;
    trl_buf x = {0}, y = {0};
    assert_ok(trl_bitext_read(in_folder("pairs"), NULL, &b, &err));
    assert_ok(trl_aligner_of(m, &one, &err));
    assert_ok(trl_aligner_open(path, &two, &err));
    assert_ok(trl_align(one, b, TRL_UNION, 1, &x, &err));
    assert_ok(trl_align(two, b, TRL_UNION, 1, &y, &err));
    assert_true(x.len > 0);
    assert_int_equal(x.len, y.len);
    assert_memory_equal(x.data, y.data, x.len);
    trl_buf_fini(&x);
    trl_buf_fini(&y);
    trl_bitext_free(b);
    trl_aligner_free(one);
    trl_aligner_free(two);
    REFUSED("NULL", trl_aligner_of(NULL, &one, &err));
    REFUSED("NULL", trl_aligner_from_memory(NULL, 3, &one, &err));
    assert_int_equal(trl_aligner_from_memory("x", 1, &one, &err), TRL_EMODEL);
    trl_model_free(m);
}

static void test_dumps(void **state)
{
    (void)state;
    trl_model *m = opened(make_chain(), "chain");
    trl_buf text = {0}, bytes = {0};
    size_t n;
    const void *want = trl_model_bytes(m, &n);
    assert_ok(trl_model_dump_buf(m, &text, &err));
    assert_ok(trl_model_undump_buf("dump", text.data, text.len, &bytes, &err));
    assert_int_equal(bytes.len, n);
    assert_memory_equal(bytes.data, want, n);
    assert_int_equal((uintptr_t)bytes.data % 64, 0);
    assert_int_equal(trl_model_undump_buf("bad", "x\n", 2, &bytes, &err), TRL_EPARSE);
    assert_int_equal(bytes.len, n); /* kept */
    REFUSED("NULL", trl_model_dump_buf(NULL, &text, &err));
    REFUSED("NULL", trl_model_dump_buf(m, NULL, &err));
    REFUSED("NULL", trl_model_undump_buf(NULL, "x", 1, &bytes, &err));
    REFUSED("NULL", trl_model_undump_buf("x", NULL, 1, &bytes, &err));
    REFUSED("NULL", trl_model_undump_buf("x", "x", 1, NULL, &err));
    assert_null(trl_model_bytes(NULL, &n));
    assert_int_equal(n, 0);
    trl_buf_fini(&text);
    trl_buf_fini(&bytes);
    trl_parse_model *parser = NULL;
    REFUSED("kind 'chain', not a parser's", trl_parse_model_of(m, &parser, &err));
    trl_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_of_each), cmocka_unit_test(test_trees),
        cmocka_unit_test(test_boosting),     cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_dumps),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-kinds-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
