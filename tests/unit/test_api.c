/* test_api.c -- every public function given NULL, options that are all zero, numbers out of range.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "trellis/align.h"
#include "trellis/boost.h"
#include "trellis/cluster.h"
#include "trellis/compare.h"
#include "trellis/file.h"
#include "trellis/graph.h"
#include "trellis/known.h"
#include "trellis/methods.h"
#include "trellis/parser.h"
#include "trellis/parseval.h"
#include "trellis/score.h"
#include "trellis/tagger.h"
#include "trellis/train.h"
#include "trellis/translation.h"
#include "trellis/trees.h"
#include "trellis/tune.h"
#include "trellis/version.h"

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

/* The headers, the library and what models say of themselves agree. */
static void test_version(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", TRL_VERSION_MAJOR, TRL_VERSION_MINOR,
             TRL_VERSION_PATCH);
    assert_string_equal(trl_version(), text);
    assert_string_equal(TRL_VERSION, text);
}

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
    refused(trl_model_from_copy(NULL, 5, &m, e));
    refused(trl_model_from_copy("x", 1, NULL, e));
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
    refused(trl_tagger_pair_marginals(NULL, x, e));
    refused(trl_tagger_log_z(NULL, x, e));
    refused(trl_tagger_score(NULL, y, x, e));
    assert_int_equal(trl_model_get_info(NULL).n_labels, 0);
    assert_int_equal(trl_model_label(NULL, 0).n, 0);
    assert_int_equal(trl_model_find_label(NULL, (trl_str){"x", 1}), UINT32_MAX);
    assert_int_equal(trl_model_template(NULL).n, 0);
    refused(trl_model_weights(NULL, TRL_SCOPE_LABEL, 0, x, e));
    assert_int_equal(trl_model_n_attributes(NULL, TRL_SCOPE_LABEL), 0);
    assert_int_equal(trl_model_attribute(NULL, TRL_SCOPE_LABEL, 0).n, 0);
    assert_int_equal(trl_model_find_attribute(NULL, TRL_SCOPE_PAIR, (trl_str){"x", 1}), UINT32_MAX);
    assert_int_equal(trl_model_transitions(NULL, TRL_SCOPE_PAIR), UINT32_MAX);
    assert_int_equal(trl_tagger_attributes(NULL) + trl_tagger_unknown(NULL), 0);
    trl_model_free(NULL);
    trl_tagger_free(NULL);
}

/* Functions without a status take NULL as well. */
static void test_null_answers(void **state)
{
    (void)state;
    assert_int_equal(trl_rows_look(NULL), TRL_LOOK_RIGHT);
    assert_int_equal(trl_items_look(NULL), TRL_LOOK_RIGHT);
    assert_null(trl_infer_messages(NULL, NULL));
    trl_treebank_resync(NULL);
    trl_tune_default_grid(NULL);
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
    refused(trl_parser_parse(NULL, &(trl_parse_input){.n = 0}, &parse, e));
    refused(trl_parser_derive(NULL, &(trl_parse_input){.n = 0}, &parse, &(trl_derived){0}, e));
    refused(trl_sentence_reader_open(NULL, TRL_SENTENCE_WORDS, &r, e));
    refused(trl_sentence_reader_memory(NULL, NULL, 0, TRL_SENTENCE_WORDS, &r, e));
    refused(trl_sentence_reader_next(NULL, NULL, &more, e));
    refused(trl_treebank_open(NULL, NULL, false, &bank, e));
    refused(trl_treebank_memory(NULL, NULL, false, &bank, e));
    refused(trl_treebank_memory(&(trl_text){NULL, "x", 1}, NULL, false, &bank, e));
    refused(trl_treebank_memory(&(trl_text){"x", NULL, 3}, NULL, false, &bank, e));
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
    refused(trl_compare_files(NULL, &(trl_compare_paths){"a", "b", "c"}, e));
    refused(trl_compare_trees(NULL, NULL, &(trl_compare_paths){"a", "b", "c"}, &left, e));
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

static void test_null_graphs(void **state)
{
    (void)state;
    trl_graph *g = NULL;
    trl_infer_plan *p = NULL;
    trl_infer_work *w = NULL;
    trl_infer_result r = {0};
    trl_evidence ev = {0};
    trl_buf b = {0};
    const trl_infer_options zero = {0};
    const double theta[2] = {0.0, 0.0};
    const uint32_t v[1] = {0};
    size_t n = 7;
    refused(trl_graph_new(NULL, e));
    refused(trl_graph_add_variable(NULL, 2, e));
    refused(trl_graph_add_table(NULL, 2, theta, e));
    refused(trl_graph_add_factor(NULL, 1, v, 0, e));
    refused(trl_graph_read(NULL, TRL_GRAPH_GUESS, 0, &g, e));
    refused(trl_graph_read("x", TRL_GRAPH_GUESS, 0, NULL, e));
    refused(trl_graph_read_memory(NULL, TRL_GRAPH_GUESS, 0, &g, e));
    refused(trl_graph_read_memory(&(trl_text){"x", NULL, 5}, TRL_GRAPH_GUESS, 0, &g, e));
    refused(trl_graph_read_memory(&(trl_text){"x", "x", 1}, TRL_GRAPH_GUESS, 0, NULL, e));
    refused(trl_graph_write(NULL, TRL_GRAPH_FG, &b, e));
    refused(trl_graph_dot(NULL, &b, e));
    refused(trl_evidence_read(NULL, NULL, &ev, e));
    refused(trl_evidence_read_memory(&(trl_text){"x", "0", 1}, NULL, &ev, e));
    refused(trl_infer_plan_new(NULL, NULL, &p, e));
    refused(trl_infer_plan_new(NULL, &zero, &p, e));
    refused(trl_infer_work_new(NULL, e));
    refused(trl_infer_marginals(NULL, NULL, NULL, &r, e));
    refused(trl_infer_best(NULL, NULL, NULL, &r, e));
    assert_int_equal(trl_graph_look(NULL).n_variables, 0);
    assert_true(isnan(trl_graph_score(NULL, NULL, NULL)));
    (void)trl_infer_plan_info(NULL);
    assert_null(trl_infer_messages(NULL, &n));
    assert_ok(trl_graph_new(&g, &err));
    refused(trl_graph_add_variable(g, 0, e));
    refused(trl_graph_add_factor(g, 1, NULL, 0, e));
    refused(trl_graph_add_factor(g, 1, v, 0, e)); /* no such variable, no such table */
    refused(trl_graph_write(g, TRL_GRAPH_FG, NULL, e));
    refused(trl_graph_dot(g, NULL, e));
    refused(trl_evidence_read_memory(&(trl_text){"x", "0", 1}, g, NULL, e));
    refused(trl_evidence_read_memory(NULL, g, &ev, e));
    refused(trl_infer_plan_new(g, NULL, NULL, e));
    assert_ok(trl_infer_work_new(&w, &err));
    trl_graph_free(g);
    trl_infer_work_free(w);
    trl_graph_free(NULL);
    trl_evidence_fini(NULL);
    trl_infer_plan_free(NULL);
    trl_infer_work_free(NULL);
}

static void test_null_boosting(void **state)
{
    (void)state;
    trl_boost_data *d = NULL;
    trl_boost_model *m = NULL;
    const trl_boost_options zero = {0};
    const trl_boost_options usual = trl_boost_options_default();
    const trl_boost_read_options read = trl_boost_read_options_default();
    const char *const none[] = {NULL};
    const char *const one[] = {"x"};
    const size_t end[1] = {1};
    const uint32_t feature[1] = {5};
    const signed char y[1] = {1};
    double h[1];
    refused(trl_boost_read(NULL, 1, &read, &d, e));
    refused(trl_boost_read(none, 1, &read, &d, e));
    refused(trl_boost_read(one, 0, &read, &d, e));
    refused(trl_boost_read(one, 1, &read, NULL, e));
    refused(trl_boost_data_new(NULL, 0, &d, e));
    refused(trl_boost_data_new(&(trl_boost_examples){1, 2, NULL, feature}, 0, &d, e));
    refused(trl_boost_data_new(&(trl_boost_examples){1, 2, end, NULL}, 0, &d, e));
    refused(trl_boost_data_new(&(trl_boost_examples){1, 2, end, feature}, 0, NULL, e));
    /* feature 5 of 2 */
    refused(trl_boost_data_new(&(trl_boost_examples){1, 2, end, feature}, 0, &d, e));
    refused(trl_boost_data_answer(NULL, "x", y, NULL, e));
    refused(trl_boost_data_save(NULL, "x", e));
    refused(trl_boost_train(NULL, NULL, &usual, &m, e));
    refused(trl_boost_model_save(NULL, "x", e));
    refused(trl_boost_model_open(NULL, &m, e));
    refused(trl_boost_model_open("x", NULL, e));
    refused(trl_boost_predict(NULL, 0, NULL, h, e));
    refused(trl_boost_dump(NULL, 0, NULL, NULL, e));
    assert_int_equal(trl_boost_data_get_info(NULL).examples, 0);
    assert_int_equal(trl_boost_model_classifiers(NULL), 0);
    (void)trl_boost_model_classifier(NULL, 0);
    assert_ok(trl_boost_data_new(&(trl_boost_examples){1, 6, end, feature}, 0, &d, &err));
    refused(trl_boost_data_answer(d, "x", NULL, NULL, e));
    refused(trl_boost_data_save(d, NULL, e));
    refused(trl_boost_train(d, NULL, NULL, &m, e));
    refused(trl_boost_train(d, NULL, &zero, &m, e));
    refused(trl_boost_train(d, NULL, &usual, NULL, e));
    refused(trl_boost_train(d, NULL, &usual, &m, e)); /* no answers */
    trl_boost_data_free(d);
    trl_boost_data_free(NULL);
    trl_boost_model_free(NULL);
}

static void test_null_translation(void **state)
{
    (void)state;
    trl_bitext *b = NULL;
    trl_aligner *a = NULL;
    trl_translation *t = NULL;
    trl_translation_comparison c;
    trl_buf out = {0};
    const trl_align_options usual = trl_align_options_default();
    const uint32_t words[1] = {0};
    double size;
    size_t n = 7;
    refused(trl_bitext_read(NULL, "x", &b, e));
    refused(trl_bitext_read("x", "x", NULL, e));
    refused(trl_aligner_train(NULL, &usual, &a, e));
    refused(trl_aligner_save(NULL, "x", e));
    refused(trl_aligner_open(NULL, &a, e));
    refused(trl_aligner_open("x", NULL, e));
    refused(trl_align(NULL, NULL, TRL_UNION, 1, &out, e));
    refused(trl_translation_files(NULL, "x", &t, e));
    refused(trl_translation_files("x", NULL, &t, e));
    refused(trl_translation_files("x", "x", NULL, e));
    refused(trl_turian_size(
        &(trl_turian_pair){.test = NULL, .n = 1, .gold = words, .m = 1, .e = 1.0}, &size, NULL, e));
    refused(trl_turian_size(
        &(trl_turian_pair){.test = words, .n = 1, .gold = NULL, .m = 1, .e = 1.0}, &size, NULL, e));
    refused(trl_turian_size(
        &(trl_turian_pair){.test = words, .n = 1, .gold = words, .m = 1, .e = 1.0}, NULL, NULL, e));
    refused(
        trl_turian_size(&(trl_turian_pair){.test = words, .n = 1, .gold = words, .m = 1, .e = 0.5},
                        &size, NULL, e));
    refused(trl_translation_compare(NULL, NULL, NULL, &c, e));
    assert_int_equal(trl_bitext_get_info(NULL).pairs, 0);
    assert_null(trl_translation_sentences(NULL, &n));
    (void)trl_translation_get_totals(NULL);
    trl_bitext_free(NULL);
    trl_aligner_free(NULL);
    trl_translation_free(NULL);
}

static void test_methods(void **state)
{
    (void)state;
    trl_method m;
    size_t k = 0;
    assert_false(trl_objective_info(0, NULL) || trl_optimizer_info(0, NULL));
    assert_false(trl_objective_info(SIZE_MAX, &m) || trl_optimizer_info(SIZE_MAX, &m));
    while (trl_objective_info(k, &m)) {
        assert_true(m.name && m.what && m.kinds);
        k++;
    }
    assert_true(k > 5);
    for (k = 0; trl_optimizer_info(k, &m); k++)
        assert_true(m.name && m.what && m.kinds);
    assert_true(k > 5);
    assert_non_null(trl_kind_name(TRL_KIND_TREE));
    assert_non_null(trl_kind_plural((trl_kind)99));
    assert_non_null(trl_kind_name((trl_kind)99));
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
        cmocka_unit_test(test_version),       cmocka_unit_test(test_null_models),
        cmocka_unit_test(test_null_training), cmocka_unit_test(test_null_trees),
        cmocka_unit_test(test_null_scores),   cmocka_unit_test(test_null_files),
        cmocka_unit_test(test_out_of_range),  cmocka_unit_test(test_null_graphs),
        cmocka_unit_test(test_null_boosting), cmocka_unit_test(test_null_translation),
        cmocka_unit_test(test_methods),       cmocka_unit_test(test_null_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
