/* The tagger of a parser: its tags against those of the chain model itself, trees and their
 * probabilities against the same tags given, threads, files, dumps. */
/* SPDX-License-Identifier: MIT */
#include "tree_bank.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/container.h"
#include "parser/word_tagger.h"
#include "trellis/parser.h"
#include "trellis/tagger.h"
#include "trellis/train.h"

enum { TREES = 120, MOST = 300, WORDS = 5 };

static const trl_str sentence[WORDS] = {
    {"time", 4}, {"flies", 5}, {"like", 4}, {"an", 2}, {"arrow", 5}};

/* Trees of a few shapes, with words that have several tags. */
static void write_trees(int fd)
{
    static const char *const noun[] = {"time", "fruit", "arrow", "like", "banana"};
    static const char *const verb[] = {"flies", "likes", "times"};
    for (size_t k = 0; k < TREES; k++) {
        const char *a = noun[k % 5], *b = noun[k * 7 / 3 % 5], *v = verb[k % 3];
        char line[200];
        const int n =
            k % 4 == 0 ? snprintf(line, sizeof line,
                                  "(TOP (S (NP (NN %s)) (VP (VBZ %s) (PP (IN like) (NP (DT an) "
                                  "(NN %s))))))\n",
                                  a, v, b)
            : k % 4 == 1
                ? snprintf(line, sizeof line,
                           "(TOP (S (NP (NN %s) (NNS flies)) (VP (VBP like) (NP (DT an) (NN "
                           "%s)))))\n",
                           a, b)
            : k % 4 == 2
                ? snprintf(
                      line, sizeof line,
                      "(TOP (S (VP (VB time) (NP (NNS flies)) (PP (IN like) (NP (NN %s))))))\n", a)
                : snprintf(line, sizeof line, "(TOP (FRAG (NP (DT an) (NN %s)) (NP (NNS %s))))\n",
                           a, v);
        assert_int_equal(write(fd, line, (size_t)n), n);
    }
}

static void train(size_t threads, bool no_tagger, trl_buf *bytes)
{
    trl_error err;
    trl_train_result result;
    char path[] = "/tmp/trellis-test-XXXXXX";
    const int fd = mkstemp(path);
    const char *files[] = {path};
    assert_true(fd >= 0);
    write_trees(fd);
    close(fd);
    trl_train_options o = trl_train_options_default();
    o.kind = "tree";
    o.train = files;
    o.n_train = 1;
    o.model_out = bytes;
    o.max_iter = 2;
    o.c2 = 20.0;
    o.annotate = "none";
    o.strict = true; /* few trees, which can be listed */
    o.threads = threads;
    o.no_tagger = no_tagger;
    assert_ok(trl_train(&o, &result, &err));
    unlink(path);
}

/* The marginals of the chain model in the file, as tags with weights. */
static size_t tags_of(const trl_buf *bytes, trl_weighted_tag *tag, trl_model **tagger)
{
    trl_error err;
    trl_container *c = NULL;
    const void *file;
    size_t size, n = 0;
    assert_ok(trl_container_from_memory(bytes->data, bytes->len, "tree", &c, &err));
    assert_true(trl_container_find(c, "tagger", &file, &size));
    assert_ok(trl_model_from_copy(file, size, tagger, &err));
    trl_container_free(c);
    const size_t labels = trl_model_get_info(*tagger).n_labels;
    double *p = calloc(WORDS * labels, sizeof *p);
    trl_tagger *t = NULL;
    assert_non_null(p);
    assert_ok(trl_tagger_new(*tagger, &t, &err));
    assert_ok(trl_tagger_set_rows(
        t, &(trl_rows){.n_tokens = WORDS, .n_columns = 1, .cell = sentence}, &err));
    assert_ok(trl_tagger_marginals(t, p, &err));
    for (size_t k = 0; k < WORDS * labels; k++)
        if (p[k] >= TRL_TAG_LEAST)
            tag[n++] = (trl_weighted_tag){k / labels, trl_model_label(*tagger, k % labels), p[k]};
    trl_tagger_free(t);
    free(p);
    return n;
}

static trl_parser *parse(const trl_parse_model *m, const trl_weighted_tag *tag, size_t n,
                         trl_parse *out)
{
    trl_error err;
    trl_parser *p = NULL;
    trl_parse_options o = trl_parse_options_default();
    o.nbest = MOST;
    o.prune = 0.0;
    o.spans = true;
    assert_ok(trl_parser_new(m, &o, &p, &err));
    assert_ok(trl_parser_parse_tags(p, &(trl_parse_input){.word = sentence, .n = WORDS}, tag, n,
                                    out, &err));
    assert_null(out->warning);
    return p;
}

/* Giving the tagger's tags changes nothing: that the weights of given tags are factors is held
 * against all trees in test_given_tags. */
static void test_same_as_given(void **state)
{
    (void)state;
    trl_error err;
    trl_buf bytes = {0};
    trl_parse_model *m = NULL;
    trl_model *tagger = NULL;
    trl_weighted_tag tag[200];
    trl_parse own, same, other;
    train(1, false, &bytes);
    assert_ok(trl_parse_model_from_memory(bytes.data, bytes.len, &m, &err));
    const size_t n = tags_of(&bytes, tag, &tagger);
    assert_true(n > WORDS);
    trl_parser *a = parse(m, NULL, 0, &own), *b = parse(m, tag, n, &same);
    double total = 0.0;
    assert_true(own.n_trees > 3 && own.n_trees < MOST);
    assert_int_equal(own.n_trees, same.n_trees);
    assert_int_equal(own.n_spans, same.n_spans);
    for (size_t k = 0; k < own.n_trees; k++) {
        total += exp(own.trees[k].log_probability);
        assert_near(own.trees[k].log_probability, same.trees[k].log_probability, 1e-9);
    }
    for (size_t k = 0; k < own.n_spans; k++)
        assert_near(own.spans[k].probability, same.spans[k].probability, 1e-9);
    assert_near(total, 1.0, 1e-6);
    /* and a weight that is changed changes the trees in proportion */
    for (size_t k = 0; k < n; k++)
        tag[k].weight *= tag[k].word == 0 ? 3.0 : 1.0;
    trl_parser *c = parse(m, tag, n, &other);
    assert_int_equal(own.n_trees, other.n_trees);
    for (size_t k = 0; k < own.n_trees; k++)
        assert_near(own.trees[k].log_probability, other.trees[k].log_probability, 1e-9);
    trl_parser_free(a);
    trl_parser_free(b);
    trl_parser_free(c);
    trl_parse_model_free(m);
    trl_model_free(tagger);
    trl_buf_fini(&bytes);
}

/* A word whose tag is given has it, and the others those of the tagger; what is given ends with its
 * sentence. */
static void test_some_given(void **state)
{
    (void)state;
    trl_error err;
    trl_buf bytes = {0};
    trl_parse_model *m = NULL;
    trl_model *tagger = NULL;
    trl_weighted_tag tag[200], some[200];
    trl_parse one, all;
    size_t n_some = 0;
    train(1, false, &bytes);
    assert_ok(trl_parse_model_from_memory(bytes.data, bytes.len, &m, &err));
    const size_t n = tags_of(&bytes, tag, &tagger);
    const trl_weighted_tag vb = {0, {"VB", 2}, 1.0};
    some[n_some++] = vb;
    for (size_t k = 0; k < n; k++)
        if (tag[k].word > 0)
            some[n_some++] = tag[k];
    trl_parser *a = parse(m, &vb, 1, &one), *b = parse(m, some, n_some, &all);
    assert_true(one.n_trees > 0);
    assert_int_equal(one.n_trees, all.n_trees);
    for (size_t k = 0; k < one.n_trees; k++)
        assert_near(one.trees[k].log_probability, all.trees[k].log_probability, 1e-9);
    trl_parser_free(a);
    trl_parser_free(b);
    trl_parse_model_free(m);
    trl_model_free(tagger);
    trl_buf_fini(&bytes);
}

static bool has_tagger(const trl_buf *bytes)
{
    trl_error err;
    trl_container *c = NULL;
    const void *file;
    size_t size;
    assert_ok(trl_container_from_memory(bytes->data, bytes->len, "tree", &c, &err));
    const bool has = trl_container_find(c, "tagger", &file, &size);
    trl_container_free(c);
    return has;
}

static void test_threads_and_option(void **state)
{
    (void)state;
    trl_buf one = {0}, three = {0}, without = {0};
    train(1, false, &one);
    train(3, false, &three);
    train(1, true, &without);
    assert_int_equal(one.len, three.len);
    assert_memory_equal(one.data, three.data, one.len);
    assert_true(has_tagger(&one));
    assert_false(has_tagger(&without));
    trl_buf_fini(&one);
    trl_buf_fini(&three);
    trl_buf_fini(&without);
}

/* Rows have the paths of clusters: bits where a path is longer, else "-". */
static void test_rows(void **state)
{
    (void)state;
    trl_error err;
    trl_clusters *c = NULL;
    bool twice;
    trl_tag_rows rows = {0};
    trl_rows out;
    static const trl_str word[] = {{"cat", 3}, {"dog", 3}, {"emu", 3}},
                         tag[] = {{"NN", 2}, {"VB", 2}, {"JJ", 2}};
    assert_ok(trl_clusters_new(&c, &err));
    assert_ok(trl_clusters_add(c, word[0], (trl_str){"01011", 5}, &twice, &err));
    assert_ok(trl_clusters_add(c, word[1], (trl_str){"animals", 7}, &twice, &err));
    const trl_cluster_view view = trl_clusters_view(c);
    assert_ok(trl_tag_rows_make(&rows, &view, &(trl_words){word, 3}, tag, &out, &err));
    static const char *const want[] = {"cat", "0101", "-", "-", "01011",   "NN",
                                       "dog", "-",    "-", "-", "animals", "VB",
                                       "emu", "-",    "-", "-", "-",       "JJ"};
    assert_int_equal(out.n_columns, 6);
    for (size_t k = 0; k < 18; k++) {
        assert_int_equal(out.cell[k].n, strlen(want[k]));
        assert_memory_equal(out.cell[k].p, want[k], out.cell[k].n);
    }
    assert_ok(
        trl_tag_rows_make(&rows, &(trl_cluster_view){0}, &(trl_words){word, 3}, NULL, &out, &err));
    assert_int_equal(out.n_columns, 1);
    trl_free(rows.cell);
    trl_clusters_free(c);
}

/* Scores from a list are those of the table that is made of it. */
static void test_list(void **state)
{
    (void)state;
    trl_error err;
    bank b;
    trl_given_tag tag[200];
    trl_given_tags table = {0};
    bank_open(&b, trl_tree_template_text("discriminative"), (trl_annotation){.tag_parents = true},
              false, 9, 10, 3);
    for (size_t k = 0; k < b.n; k++) {
        const trl_tree_example *e = &b.example[k];
        const uint32_t nn = trl_strtab_find(&b.m.fine.labels, "NN", 2),
                       vb = trl_strtab_find(&b.m.fine.labels, "VB", 2);
        size_t n = 0, items = e->s.first[trl_chart_cells(e->s.n)];
        for (size_t i = 0; i < e->s.n; i += 2) { /* every other word */
            tag[n++] = (trl_given_tag){i, nn, -0.5};
            tag[n++] = (trl_given_tag){i, vb, -0.2 * (double)i};
        }
        double *x = trl_zalloc(items, sizeof *x), *y = trl_zalloc(items, sizeof *y);
        const trl_given_list list = {tag, n};
        assert_ok(trl_given_tags_set(&table, &(trl_given_grammars){&b.m.fine, &b.m.coarse}, e->s.n,
                                     &list, &err));
        trl_given_tags_add(&table, &b.m.fine, &e->s, x);
        trl_given_list_add(&list, &b.m.fine, &e->s, y);
        assert_memory_equal(x, y, items * sizeof *x);
        trl_seen a = e->seen;
        trl_given_tags_observe(&table, &a);
        for (size_t i = 0; i < e->s.n; i += 2)
            assert_int_equal(trl_seen_at(&a, TRL_SEEN_TAG, (ptrdiff_t)i),
                             TRL_SEEN_FIRST + (i <= 2 ? vb : nn)); /* -0.4 or -0.8 */
        const uint32_t other = trl_seen_at(&a, TRL_SEEN_TAG, 1);
        trl_given_list_observe(&list, &a);
        assert_int_equal(trl_seen_at(&a, TRL_SEEN_TAG, 1), other);
        trl_free(x);
        trl_free(y);
    }
    trl_given_tags_fini(&table);
    bank_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_given),
                                       cmocka_unit_test(test_some_given),
                                       cmocka_unit_test(test_threads_and_option),
                                       cmocka_unit_test(test_rows), cmocka_unit_test(test_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
