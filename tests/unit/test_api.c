/* test_api.c -- every public function given NULL, options that are all zero, numbers out of range.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "trellis/cluster.h"
#include "trellis/compare.h"
#include "trellis/file.h"
#include "trellis/known.h"
#include "trellis/parser.h"
#include "trellis/parseval.h"
#include "trellis/score.h"
#include "trellis/tagger.h"
#include "trellis/train.h"
#include "trellis/trees.h"
#include "trellis/tune.h"

static trl_error err;

/* Twice: with and without somewhere to explain. */
#define refused(call_with_error)                                                                   \
    do {                                                                                           \
        trl_error *e = NULL;                                                                       \
        assert_int_equal((call_with_error), TRL_EINVAL);                                           \
        err = (trl_error){0};                                                                      \
        e = &err;                                                                                  \
        assert_int_equal((call_with_error), TRL_EINVAL);                                           \
        assert_int_equal(err.code, TRL_EINVAL);                                                    \
        assert_true(err.msg[0] != '\0');                                                           \
    } while (0)

static void test_null_models(void **state)
{
    (void)state;
    trl_model *m = NULL;
    trl_tagger *t = NULL;
    uint32_t y[4];
    double x[4];
    size_t n;
    refused(trl_model_open(NULL, &m, e));
    refused(trl_model_open("x", NULL, e));
    refused(trl_model_map(NULL, &m, e));
    refused(trl_model_from_memory(NULL, 5, &m, e));
    refused(trl_model_dump(NULL, NULL, NULL, e));
    refused(trl_model_dump_top(NULL, 1, NULL, NULL, e));
    refused(trl_model_undump(NULL, "x", e));
    refused(trl_model_undump("x", NULL, e));
    refused(trl_tagger_new(NULL, &t, e));
    refused(trl_tagger_set_decoding(NULL, TRL_DECODE_MODEL, e));
    refused(trl_tagger_set_rows(NULL, NULL, e));
    refused(trl_tagger_set_items(NULL, NULL, e));
    refused(trl_tagger_viterbi(NULL, y, x, e));
    refused(trl_tagger_posterior(NULL, y, e));
    refused(trl_tagger_nbest(NULL, 1, y, x, &n, e));
    refused(trl_tagger_marginals(NULL, x, e));
    refused(trl_tagger_log_z(NULL, x, e));
    refused(trl_tagger_score(NULL, y, x, e));
    assert_int_equal(trl_model_get_info(NULL).n_labels, 0);
    assert_int_equal(trl_model_label(NULL, 0).n, 0);
    assert_int_equal(trl_model_find_label(NULL, (trl_str){"x", 1}), UINT32_MAX);
    assert_int_equal(trl_model_template(NULL).n, 0);
    assert_int_equal(trl_tagger_attributes(NULL) + trl_tagger_unknown(NULL), 0);
    trl_model_free(NULL);
    trl_tagger_free(NULL);
}

static void test_null_training(void **state)
{
    (void)state;
    const trl_train_options none = {0};
    const trl_tune_options no_tune = {0};
    const trl_cluster_options no_cluster = {0};
    trl_train_options o = trl_train_options_default();
    refused(trl_train(NULL, NULL, e));
    refused(trl_train(&none, NULL, e));
    refused(trl_train(&o, NULL, e)); /* neither data nor a model */
    o.model = "/tmp/x";
    refused(trl_train(&o, NULL, e));
    o.n_train = 1; /* of a list that is not there */
    refused(trl_train(&o, NULL, e));
    const char *const paths[] = {NULL};
    o.train = paths;
    refused(trl_train(&o, NULL, e));
    o.kind = "tree";
    refused(trl_train(&o, NULL, e));
    o.train = NULL;
    refused(trl_train(&o, NULL, e));
    refused(trl_tune(NULL, NULL, e));
    refused(trl_tune(&no_tune, NULL, e));
    refused(trl_cluster(NULL, NULL, e));
    refused(trl_cluster(&no_cluster, NULL, e));
    assert_true(trl_train_c2(NULL) > 0.0);
}

static void test_null_trees(void **state)
{
    (void)state;
    const trl_tree_columns_options none = {0};
    const trl_parse_options zero = {0};
    trl_parse_model *m = NULL;
    trl_parser *p = NULL;
    trl_parse parse;
    trl_sentence_reader *r = NULL;
    trl_treebank *bank = NULL;
    trl_tree_columns *columns = NULL;
    trl_tree_pattern *pattern = NULL;
    trl_known_list *known = NULL;
    trl_tree tree = {0};
    bool more;
    refused(trl_parse_model_open(NULL, &m, e));
    refused(trl_parse_model_map(NULL, &m, e));
    refused(trl_parse_model_from_memory(NULL, 1, &m, e));
    refused(trl_parse_model_describe(NULL, 0, NULL, e));
    refused(trl_parser_new(NULL, &zero, &p, e));
    refused(trl_parser_parse(NULL, NULL, 0, NULL, 0, &parse, e));
    refused(trl_sentence_reader_open(NULL, TRL_SENTENCE_WORDS, &r, e));
    refused(trl_sentence_reader_memory(NULL, NULL, 0, TRL_SENTENCE_WORDS, &r, e));
    refused(trl_sentence_reader_next(NULL, NULL, &more, e));
    refused(trl_treebank_open(NULL, NULL, false, &bank, e));
    refused(trl_treebank_memory("x", NULL, 3, NULL, false, &bank, e));
    refused(trl_treebank_next(NULL, &tree, &more, e));
    refused(trl_tree_print(NULL, TRL_TREE_LINE, 0, NULL, e));
    refused(trl_tree_draw(NULL, NULL, NULL, e));
    refused(trl_tree_svg_new(NULL, e));
    refused(trl_tree_svg_add(NULL, &tree, e));
    refused(trl_tree_svg_finish(NULL, NULL, e));
    refused(trl_tree_counts_new(NULL, e));
    refused(trl_tree_counts_add(NULL, &tree, e));
    refused(trl_tree_counts_report(NULL, 1, NULL, e));
    refused(trl_tree_counts_json(NULL, NULL, e));
    refused(trl_tree_pattern_parse(NULL, &pattern, e));
    refused(trl_tree_pattern_match(NULL, &tree, NULL, NULL, e));
    refused(trl_tree_columns_open(NULL, &columns, e));
    refused(trl_tree_columns_open(&none, &columns, e));
    refused(trl_tree_columns_next(NULL, NULL, &more, e));
    refused(trl_known_list_read(NULL, &known, e));
    refused(trl_known_list_memory(NULL, NULL, 0, &known, e));
    assert_int_equal(trl_parse_model_info(NULL).n_states, 0);
    assert_false(trl_parse_model_has(NULL, (trl_str){"NP", 2}));
    assert_int_equal(trl_tree_label(NULL, 0).n + trl_tree_label(&tree, 0).n, 0);
    assert_int_equal(trl_tree_length(NULL) + trl_tree_depth(NULL) + trl_tree_depth(&tree), 0);
    assert_true(trl_tree_is_utf8(NULL));
    assert_int_equal(trl_treebank_passed(NULL), 0);
    assert_true(trl_sentence_reader_ready(NULL));
}

static void test_null_scores(void **state)
{
    (void)state;
    const trl_score_options no_score = {0};
    const trl_parseval_options no_parseval = {0};
    const trl_bootstrap_options no_bootstrap = {0};
    trl_score *s = NULL;
    trl_compare *c = NULL;
    trl_parseval *p = NULL;
    trl_reader *r = NULL;
    trl_clusters *k = NULL;
    trl_bootstrap b;
    trl_comparison result;
    trl_test test;
    trl_rows rows;
    trl_items items;
    double x[1] = {0.0};
    char *text = NULL;
    bool more;
    uint64_t left;
    refused(trl_score_new(NULL, &s, e));
    refused(trl_score_new(&no_score, &s, e));
    refused(trl_score_add(NULL, 0, NULL, NULL, e));
    refused(trl_score_file(NULL, "x", e));
    refused(trl_score_report_chunks(NULL, false, &text, e));
    refused(trl_score_report_tokens(NULL, &text, e));
    refused(trl_score_report_json(NULL, &text, e));
    refused(trl_wilcoxon(1, NULL, NULL, &test, e));
    refused(trl_bootstrap_mean(1, x, x, NULL, &b, e));
    refused(trl_bootstrap_mean(1, x, x, &no_bootstrap, &b, e));
    refused(trl_compare_new(NULL, e));
    refused(trl_compare_add(NULL, 0, NULL, NULL, NULL, e));
    refused(trl_compare_files(NULL, "a", "b", "c", e));
    refused(trl_compare_trees(NULL, NULL, "a", "b", "c", &left, e));
    refused(trl_compare_run(NULL, NULL, &result, e));
    refused(trl_parseval_new(NULL, &p, e));
    refused(trl_parseval_new(&no_parseval, &p, e));
    refused(trl_parseval_add(NULL, "", 0, "", 0, e));
    refused(trl_parseval_files(NULL, "a", "b", e));
    refused(trl_parseval_report(NULL, &text, e));
    refused(trl_parseval_report_json(NULL, &text, e));
    refused(trl_reader_open(NULL, TRL_FORMAT_GUESS, &r, e));
    refused(trl_reader_rows(NULL, &rows, &more, e));
    refused(trl_reader_items(NULL, &items, &more, e));
    refused(trl_clusters_open(NULL, TRL_CLUSTERS_GUESS, 0, &k, e));
    assert_int_equal(trl_score_get(NULL).tokens, 0);
    assert_int_equal(trl_score_chunks(NULL, NULL, 0) + trl_score_labels(NULL, NULL, 0) +
                         trl_score_confusions(NULL, NULL, 0),
                     0);
    assert_null(trl_compare_errors(NULL, 0));
    assert_int_equal(trl_compare_sentences(NULL), 0);
    assert_ok(trl_compare_new(&c, &err));
    assert_null(trl_compare_errors(c, 2));
    trl_compare_free(c);
    assert_null(trl_parseval_sentences(NULL, NULL));
    assert_int_equal(trl_parseval_get(NULL, 40).sentences, 0);
    assert_string_equal(trl_parseval_errors(NULL), "");
    assert_false(trl_parseval_stopped(NULL));
    trl_parseval_reset(NULL);
    assert_true(isnan(trl_paired_t(1, NULL, NULL).p));
    assert_int_equal(trl_clusters_count(NULL) + trl_clusters_words(NULL), 0);
    assert_int_equal(trl_clusters_find(NULL, "x", 1), 0);
    assert_int_equal(trl_clusters_name(NULL, 1).n, 0);
}

static void test_null_files(void **state)
{
    (void)state;
    trl_writer *w = NULL;
    char text[8] = "x";
    refused(trl_writer_open(NULL, &w, e));
    refused(trl_writer_put(NULL, "x", 1, e));
    refused(trl_writer_flush(NULL, e));
    refused(trl_writer_commit(NULL, e));
    trl_writer_abort(NULL);
    assert_null(trl_writer_temporary(NULL));
    trl_error_text(NULL, text, sizeof text);
    assert_string_equal(text, "");
    trl_error_text(&err, NULL, 0);
    trl_buf_fini(NULL);
    assert_string_equal(trl_status_name((trl_status)99), "unknown status");
}

/* Labels that the model does not have; answers without a sequence. */
static void test_out_of_range(void **state)
{
    (void)state;
    char data[] = "/tmp/trellis-api-XXXXXX", model[64];
    const int fd = mkstemp(data);
    static const char text[] = "a X\nb Y\n\nb Y\na X\n\n";
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    close(fd);
    snprintf(model, sizeof model, "%s.model", data);
    const char *const train[] = {data};
    trl_train_options o = trl_train_options_default();
    o.train = train;
    o.n_train = 1;
    o.model = model;
    assert_ok(trl_train(&o, NULL, &err));
    trl_model *m = NULL;
    trl_tagger *t = NULL;
    trl_reader *r = NULL;
    trl_rows rows;
    bool more;
    uint32_t y[2] = {0, 2};
    double score;
    assert_ok(trl_model_open(model, &m, &err));
    assert_int_equal(trl_model_label(m, 2).n, 0);
    assert_int_equal(trl_model_label(m, SIZE_MAX).n, 0);
    assert_ok(trl_tagger_new(m, &t, &err));
    refused(trl_tagger_viterbi(t, y, &score, e));
    refused(trl_tagger_set_rows(t, NULL, e));
    refused(trl_tagger_set_decoding(t, (trl_decoding)7, e));
    assert_ok(trl_reader_open(data, TRL_FORMAT_COLUMNS, &r, &err));
    assert_ok(trl_reader_rows(r, &rows, &more, &err));
    assert_ok(trl_tagger_set_rows(t, &rows, &err));
    refused(trl_tagger_score(t, y, &score, e));
    refused(trl_tagger_score(t, NULL, &score, e));
    y[1] = 1;
    assert_ok(trl_tagger_score(t, y, &score, &err));
    const trl_parse_options zero = {0};
    trl_parser *p = NULL;
    refused(trl_parser_new(NULL, &zero, &p, e));
    trl_reader_free(r);
    trl_tagger_free(t);
    trl_model_free(m);
    assert_int_equal(unlink(data) | unlink(model), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_models), cmocka_unit_test(test_null_training),
        cmocka_unit_test(test_null_trees),  cmocka_unit_test(test_null_scores),
        cmocka_unit_test(test_null_files),  cmocka_unit_test(test_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
