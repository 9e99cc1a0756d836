/* Where long sentences are cut, and that pieces make a whole tree. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "parser/borders.h"
#include "trellis/parser.h"
#include "trellis/train.h"

static size_t split(const char *text, trl_str *word)
{
    size_t n = 0;
    for (const char *at = text; *at; n++) {
        word[n] = (trl_str){at, strcspn(at, " ")};
        at += word[n].n + (at[word[n].n] == ' ');
    }
    return n;
}

static void test_strength(void **state)
{
    (void)state;
    static const char text[] = "He said : `` Go . '' ; she , -LRB- then -RRB- -- left ! -RRB- so";
    /* before:                  0  1    2 3  4  5 6  7 8   9 10    11   12    13 14   15 16   17 */
    static const unsigned want[] = {0, 0, 0, 2, 0, 0, 0, 4, 3, 0, 2, 0, 0, 1, 2, 0, 0, 4};
    trl_str word[32];
    const size_t n = split(text, word);
    assert_int_equal(n, sizeof want / sizeof *want);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(trl_border(word, n, i), want[i]);
    assert_int_equal(trl_border(word, n, n), 0);
}

static void test_cut(void **state)
{
    (void)state;
    trl_str word[32];
    size_t n = split("a b c d e , f g h ; i j k , l m", word);
    assert_int_equal(trl_cut(word, n, 20), n);
    assert_int_equal(trl_cut(word, n, 14), 10); /* the semicolon, though a comma is later */
    assert_int_equal(trl_cut(word, n, 9), 6);
    assert_int_equal(trl_cut(word, n, 4), 4); /* nothing to cut at */
    assert_int_equal(trl_cut(word, n, 1), 1);
    for (size_t most = 1; most <= n; most++) { /* pieces cover the sentence */
        size_t at = 0;
        while (at < n) {
            const size_t k = trl_cut(word + at, n - at, most);
            assert_true(k >= 1 && k <= most && at + k <= n);
            at += k;
        }
    }
}

/* A sentence that is over the work allowed: every word is there, in phrases of several words, and
 * the warning says so. */
static void test_pieces(void **state)
{
    (void)state;
    static const char bank[] =
        "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT a) (NN dog))) (. .)))\n"
        "(TOP (S (NP (DT a) (NN dog)) (VP (VBZ sleeps)) (. .)))\n";
    trl_error err;
    trl_buf bytes = {0};
    trl_train_result result;
    trl_parse_model *m = NULL;
    trl_parser *p = NULL;
    trl_parse got;
    char path[] = "/tmp/trellis-test-XXXXXX";
    const int fd = mkstemp(path);
    const char *files[] = {path};
    assert_true(fd >= 0 && write(fd, bank, sizeof bank - 1) == (ssize_t)(sizeof bank - 1));
    close(fd);
    trl_train_options o = trl_train_options_default();
    o.kind = "tree";
    o.train = files;
    o.n_train = 1;
    o.model_out = &bytes;
    o.max_iter = 2;
    o.threads = 1;
    assert_ok(trl_train(&o, &result, &err));
    unlink(path);
    assert_ok(trl_parse_model_from_memory(bytes.data, bytes.len, &m, &err));
    static trl_str word[3000];
    static const char *const cycle[] = {"the", "cat", "sees", "a", "dog", "."};
    for (size_t k = 0; k < 3000; k++)
        word[k] = (trl_str){cycle[k % 6], strlen(cycle[k % 6])};
    trl_parse_options how = trl_parse_options_default();
    how.max_work = 20.0;
    assert_ok(trl_parser_new(m, &how, &p, &err));
    assert_ok(trl_parser_parse(p, &(trl_parse_input){.word = word, .n = 3000}, &got, &err));
    assert_non_null(got.warning);
    const trl_tree *t = &got.trees[0].tree;
    size_t leaves = 0, verbs = 0;
    for (uint32_t v = 0; v < t->n_nodes; v++) {
        const trl_str l = trl_tree_label(t, v);
        if (t->node[v].child == TRL_NO_NODE)
            assert_int_equal(t->node[v].from, leaves++);
        else
            verbs += l.n == 2 && memcmp(l.p, "VP", 2) == 0 && t->node[v].to - t->node[v].from == 3;
    }
    assert_int_equal(leaves, 3000);
    assert_true(verbs > 400); /* of 500: "sees a dog" */
    trl_parser_free(p);
    trl_parse_model_free(m);
    trl_buf_fini(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strength),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
