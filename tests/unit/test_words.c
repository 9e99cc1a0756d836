/* test_words.c -- text and sentences in one call, against the calls that they stand for. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/buf.h"

#include "trellis/parser.h"
#include "trellis/tagger.h"
#include "trellis/train.h"
#include "trellis/words.h"

#define COLUMNS "the DT\ndog NN\nbarks VB\n\na DT\ntree NN\nfalls VB\n"
#define ITEMS "X\ta\tb:2\nY\tc\n\nX\tc\n"
#define TREES                                                                                      \
    "(S (NP (DT the) (NN dog)) (VP (VB barks)))\n(S (NP (DT a) (NN tree)) (VP (VB falls)))\n"

static trl_str str(const char *s)
{
    return (trl_str){s, strlen(s)};
}

/* A model of the text; `out` holds its bytes. */
static trl_model *learn(const char *kind, const char *text, trl_buf *out)
{
    trl_error err = {0};
    trl_dataset *d = NULL;
    trl_model *m = NULL;
    trl_train_options o = trl_train_options_default();
    assert_ok(trl_dataset_new(&d, &err));
    if (strcmp(kind, "tree") == 0)
        assert_ok(trl_dataset_add_brackets(d, "trees", text, strlen(text), &err));
    else
        assert_ok(trl_dataset_add_text(d, "text", str(text), TRL_FORMAT_GUESS, &err));
    o.kind = kind;
    if (strcmp(kind, "tree") == 0)
        o.grade = "generative";
    o.data = d;
    o.model_out = out;
    assert_ok(trl_train(&o, NULL, &err));
    assert_ok(trl_model_from_memory(out->data, out->len, &m, &err));
    trl_dataset_free(d);
    return m;
}

static void test_text(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_dataset *d = NULL;
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_dataset_add_text(d, "text", str(COLUMNS), TRL_FORMAT_GUESS, &err));
    assert_ok(trl_dataset_add_text(d, "text", str(""), TRL_FORMAT_COLUMNS, &err));
    assert_int_equal(trl_dataset_get_info(d).n_sequences, 2);
    assert_int_equal(trl_dataset_get_info(d).n_tokens, 6);
    /* all or none, with the place */
    assert_int_equal(
        trl_dataset_add_text(d, "text", str("a DT\n\nb c NN\n"), TRL_FORMAT_COLUMNS, &err),
        TRL_EPARSE);
    assert_int_equal(
        trl_dataset_add_text(d, "here", str("a DT\nb c NN\n"), TRL_FORMAT_COLUMNS, &err),
        TRL_EPARSE);
    assert_string_equal(err.path, "here");
    assert_int_equal(err.row, 2);
    assert_int_equal(trl_dataset_get_info(d).n_sequences, 2);
    assert_int_equal(trl_dataset_add_text(d, "x", str(ITEMS), TRL_FORMAT_GRMM, &err), TRL_EINVAL);
    assert_int_equal(trl_dataset_add_text(d, NULL, str("a b\n"), TRL_FORMAT_GUESS, &err),
                     TRL_EINVAL);
    assert_int_equal(trl_dataset_add_text(NULL, "x", str("a b\n"), TRL_FORMAT_GUESS, NULL),
                     TRL_EINVAL);
    trl_dataset_free(d);
}

static void test_labels(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_buf bytes = {0};
    const char *const word[] = {"a", "dog", "falls"}, *const gap[] = {"a", NULL};
    trl_str label[3] = {{NULL, 7}};
    trl_model *m = learn("chain", COLUMNS, &bytes);
    assert_int_equal(trl_tag_words(m, word, 0, label, &err), TRL_EINVAL);
    assert_int_equal(trl_tag_words(m, gap, 2, label, &err), TRL_EINVAL);
    assert_int_equal(trl_tag_words(NULL, word, 3, label, NULL), TRL_EINVAL);
    assert_int_equal(trl_tag_words(m, NULL, 3, label, NULL), TRL_EINVAL);
    assert_int_equal(trl_parse_words(m, word, 3, &bytes, &err), TRL_EINVAL);
    assert_int_equal(label[0].n, 7);
    assert_ok(trl_tag_words(m, word, 3, label, &err));
    const char *const right[] = {"DT", "NN", "VB"};
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(label[k].n, 2);
        assert_memory_equal(label[k].p, right[k], 2);
    }
    trl_model_free(m);
    trl_buf_fini(&bytes);
    m = learn("chain", ITEMS, &bytes);
    assert_int_equal(trl_tag_words(m, word, 3, label, &err), TRL_EINVAL);
    trl_model_free(m);
    trl_buf_fini(&bytes);
}

static void test_tree(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_buf bytes = {0}, out = {0};
    const char *const word[] = {"a", "dog", "falls"};
    trl_str label[3];
    trl_model *m = learn("tree", TREES, &bytes);
    assert_true(trl_buf_add(&out, ">", 1));
    assert_int_equal(trl_tag_words(m, word, 3, label, &err), TRL_EINVAL);
    assert_int_equal(trl_parse_words(m, NULL, 3, &out, &err), TRL_EINVAL);
    assert_int_equal(trl_parse_words(m, word, 3, NULL, &err), TRL_EINVAL);
    assert_int_equal(out.len, 1);
    assert_ok(trl_parse_words(m, word, 3, &out, &err));
    const char right[] = ">(S (NP (DT a) (NN dog)) (VP (VB falls)))\n";
    assert_int_equal(out.len, sizeof right - 1);
    assert_memory_equal(out.data, right, sizeof right - 1);
    trl_model_free(m);
    trl_buf_fini(&bytes);
    trl_buf_fini(&out);
}

/* A model without a file owns the bytes that a buffer would have got. */
static void test_model_at_once(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_dataset *d = NULL, *none = NULL;
    trl_model *m = NULL;
    trl_buf bytes = {0};
    trl_train_result result;
    trl_train_options o = trl_train_options_default();
    assert_ok(trl_dataset_from_text("text", str(COLUMNS), TRL_FORMAT_COLUMNS, &d, &err));
    o.data = d;
    assert_ok(trl_train_model(&o, &result, &m, &err));
    o.model_out = &bytes;
    assert_ok(trl_train(&o, NULL, &err));
    size_t n;
    const void *own = trl_model_bytes(m, &n);
    assert_int_equal(n, bytes.len);
    assert_memory_equal(own, bytes.data, n);
    trl_model_free(m);
    m = NULL;
    assert_int_equal(trl_train_model(&o, NULL, &m, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "in memory"));
    o.model_out = NULL;
    o.model = "x";
    assert_int_equal(trl_train_model(&o, NULL, &m, &err), TRL_EINVAL);
    assert_int_equal(trl_train_model(&o, NULL, NULL, &err), TRL_EINVAL);
    assert_int_equal(trl_train_model(NULL, NULL, &m, &err), TRL_EINVAL);
    assert_int_equal(
        trl_dataset_from_text("text", str("a b\nc\n"), TRL_FORMAT_COLUMNS, &none, &err),
        TRL_EPARSE);
    assert_int_equal(trl_dataset_from_text("text", str("a b\n"), TRL_FORMAT_COLUMNS, NULL, &err),
                     TRL_EINVAL);
    assert_null(m);
    assert_null(none);
    trl_buf_fini(&bytes);
    trl_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_at_once),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
