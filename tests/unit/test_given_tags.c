/* Tags given with weights: probabilities against all trees of a sentence, spans, refusals. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "trellis/parser.h"
#include "trellis/train.h"

static const char trees[] =
    "(TOP (S (NP (NNS flies)) (VP (VBP like) (NP (DT a) (NN banana)))))\n"
    "(TOP (S (NP (NN time)) (VP (VBZ flies) (PP (IN like) (NP (DT an) (NN arrow))))))\n"
    "(TOP (S (NP (NN fruit) (NNS flies)) (VP (VBP like) (NP (NNS bananas)))))\n"
    "(TOP (S (VP (VB time) (NP (NNS flies)) (PP (IN like) (NP (DT an) (NN arrow))))))\n"
    "(TOP (S (NP (DT a) (NN like)) (VP (VBZ flies))))\n"
    "(TOP (S (NP (NP (NN time)) (PP (IN like) (NP (NN time)))) (VP (VBZ flies))))\n"
    "(TOP (FRAG (NP (NN time) (NNS flies)) (PP (IN like) (NP (NN time)))))\n"
    "(TOP (S (NP (NN time)) (VP (VP (VBZ flies)) (PP (IN like) (NP (DT an) (NN arrow))))))\n"
    "(TOP (NP (NP (NN fruit) (NNS flies)) (PP (IN like) (NP (NNS bananas)))))\n"
    "(TOP (S (VP (VB time) (NP (NP (NNS flies)) (PP (IN like) (NP (NN fruit)))))))\n"
    "(TOP (S (NP (NN time)) (VP (VBZ flies) (NP (NNS bananas)))))\n";

static const trl_str sentence[] = {{"time", 4}, {"flies", 5}, {"like", 4}, {"an", 2}, {"arrow", 5}};
enum { N = 5, MOST = 500 };

static trl_parse_model *train(const char *grade, trl_buf *bytes)
{
    trl_error err;
    trl_train_result result;
    trl_parse_model *m = NULL;
    char path[] = "/tmp/trellis-test-XXXXXX";
    const int fd = mkstemp(path);
    const char *files[] = {path};
    assert_true(fd >= 0);
    assert_int_equal(write(fd, trees, sizeof trees - 1), sizeof trees - 1);
    close(fd);
    trl_train_options o = trl_train_options_default();
    o.kind = "tree";
    o.grade = grade;
    o.strict = true; /* few trees, which can be listed */
    o.train = files;
    o.n_train = 1;
    o.model_out = bytes;
    o.max_iter = 2;
    o.c2 = 20.0;         /* nothing is sure */
    o.annotate = "none"; /* many trees */
    o.threads = 1;
    assert_ok(trl_train(&o, &result, &err));
    unlink(path);
    assert_ok(trl_parse_model_from_memory(bytes->data, bytes->len, &m, &err));
    return m;
}

/* The product of the weights of a tree's tags; 0: it has one that is not given. */
static double weight_of(const trl_tree *t, const trl_weighted_tag *tag, size_t n)
{
    double product = 1.0;
    for (uint32_t v = 0; v < t->n_nodes; v++) {
        if (t->node[v].child != TRL_NO_NODE)
            continue;
        const trl_str l = trl_tree_label(t, v);
        double mine = 0.0;
        bool any = false;
        for (size_t k = 0; k < n; k++) {
            if (tag[k].word != t->node[v].from)
                continue;
            any = true;
            if (tag[k].tag.n == l.n && memcmp(tag[k].tag.p, l.p, l.n) == 0)
                mine = tag[k].weight;
        }
        product *= any ? mine : 1.0;
    }
    return product;
}

static void print(const trl_tree *t, trl_buf *out)
{
    trl_error err;
    out->len = 0;
    assert_ok(trl_tree_print(t, TRL_TREE_LINE, 0, out, &err));
}

static const trl_weighted_tag given[] = {{0, {"NN", 2}, 0.2},  {0, {"VB", 2}, 3.0},
                                         {1, {"NNS", 3}, 0.6}, {1, {"VBZ", 3}, 0.4},
                                         {2, {"IN", 2}, 0.9},  {4, {"NN", 2}, 0.1}};
#define GIVEN (sizeof given / sizeof *given)

static trl_parser *parser_of(const trl_parse_model *m, trl_parse *out, bool with, bool spans)
{
    trl_error err;
    trl_parser *p = NULL;
    trl_parse_options o = trl_parse_options_default();
    o.nbest = MOST;
    o.prune = 0.0;
    o.spans = spans;
    assert_ok(trl_parser_new(m, &o, &p, &err));
    assert_ok(trl_parser_parse_tags(p, &(trl_parse_input){.word = sentence, .n = N}, given,
                                    with ? GIVEN : 0, out, &err));
    assert_null(out->warning);
    assert_true(out->sure);
    return p;
}

/* Every tree of the sentence is in the list without tags; theirs follow from it. */
static void compare(const char *grade)
{
    trl_buf bytes = {0}, a = {0}, b = {0};
    trl_parse_model *m = train(grade, &bytes);
    trl_parse all, some;
    trl_parser *free_ = parser_of(m, &all, false, false), *tied = parser_of(m, &some, true, true);
    double z = 0.0, total = 0.0, verb = 0.0;
    size_t kept = 0;
    assert_true(all.n_trees < MOST && all.n_trees > 5);
    for (size_t k = 0; k < all.n_trees; k++) {
        z += exp(all.trees[k].log_probability) * weight_of(&all.trees[k].tree, given, GIVEN);
        total += exp(all.trees[k].log_probability);
        kept += weight_of(&all.trees[k].tree, given, GIVEN) > 0.0;
    }
    assert_near(total, 1.0, 1e-6);
    assert_true(kept > 2 && kept < all.n_trees);
    assert_int_equal(some.n_trees, kept);
    for (size_t k = 0; k < all.n_trees; k++) {
        const double w = weight_of(&all.trees[k].tree, given, GIVEN);
        size_t at = 0;
        print(&all.trees[k].tree, &a);
        for (; at < some.n_trees; at++) {
            print(&some.trees[at].tree, &b);
            if (a.len == b.len && memcmp(a.data, b.data, a.len) == 0)
                break;
        }
        assert_int_equal(at<some.n_trees, w> 0.0);
        if (w > 0.0)
            assert_near(exp(some.trees[at].log_probability),
                        exp(all.trees[k].log_probability) * w / z, 1e-9);
    }
    for (size_t k = 0; k < some.n_trees; k++) /* a posterior is a sum over trees */
        for (uint32_t v = 0; v < some.trees[k].tree.n_nodes; v++) {
            const trl_node *x = &some.trees[k].tree.node[v];
            const trl_str l = trl_tree_label(&some.trees[k].tree, v);
            if (x->from == 1 && x->to == N && l.n == 2 && memcmp(l.p, "VP", 2) == 0) {
                verb += exp(some.trees[k].log_probability);
                break;
            }
        }
    double told = 0.0;
    for (size_t k = 0; k < some.n_spans; k++)
        if (some.spans[k].from == 1 && some.spans[k].to == N && some.spans[k].label.n == 2 &&
            memcmp(some.spans[k].label.p, "VP", 2) == 0)
            told = some.spans[k].probability;
    assert_near(told, verb, 1e-9);
    trl_parser_free(free_);
    trl_parser_free(tied);
    trl_parse_model_free(m);
    trl_buf_fini(&bytes);
    trl_buf_fini(&a);
    trl_buf_fini(&b);
}

static void test_enumeration(void **state)
{
    (void)state;
    compare("generative");
    compare("discriminative");
    compare("features");
}

/* A tag that the lexicon does not offer can be given; what is given ends with its sentence. */
static void test_unseen_tag(void **state)
{
    (void)state;
    trl_error err;
    trl_buf bytes = {0};
    trl_parse_model *m = train("features", &bytes);
    trl_parser *p = NULL;
    trl_parse got;
    const trl_parse_options o = trl_parse_options_default();
    const trl_parse_input in = {.word = sentence, .n = N};
    const trl_weighted_tag tag = {4, {"NNS", 3}, 0.5};
    assert_ok(trl_parser_new(m, &o, &p, &err));
    assert_ok(trl_parser_parse_tags(p, &in, &tag, 1, &got, &err));
    assert_null(got.warning);
    const trl_tree *t = &got.trees[0].tree;
    const trl_str last = trl_tree_label(t, (uint32_t)t->n_nodes - 1);
    assert_int_equal(last.n, 3);
    assert_memory_equal(last.p, "NNS", 3);
    assert_ok(trl_parser_parse(p, &in, &got, &err));
    assert_int_equal(trl_tree_label(&got.trees[0].tree, (uint32_t)t->n_nodes - 1).n, 2);
    trl_parser_free(p);
    trl_parse_model_free(m);
    trl_buf_fini(&bytes);
}

static void test_refusals(void **state)
{
    (void)state;
    static const trl_weighted_tag bad[][2] = {
        {{5, {"NN", 2}, 1.0}, {0, {"NN", 2}, 1.0}},  {{0, {"XX", 2}, 1.0}, {0, {"NN", 2}, 1.0}},
        {{0, {"NP", 2}, 1.0}, {0, {"NN", 2}, 1.0}},  {{0, {"NN", 2}, 0.0}, {0, {"VB", 2}, 1.0}},
        {{0, {"NN", 2}, -1.0}, {0, {"VB", 2}, 1.0}}, {{0, {"NN", 2}, 1.0}, {0, {"NN", 2}, 1.0}}};
    trl_error err;
    trl_buf bytes = {0};
    trl_parse_model *m = train("generative", &bytes);
    trl_parser *p = NULL;
    trl_parse got;
    const trl_parse_options o = trl_parse_options_default();
    const trl_parse_input in = {.word = sentence, .n = N};
    assert_ok(trl_parser_new(m, &o, &p, &err));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_equal(trl_parser_parse_tags(p, &in, bad[k], 2, &got, &err), TRL_EINVAL);
    assert_int_equal(trl_parser_parse_tags(p, &in, NULL, 2, &got, &err), TRL_EINVAL);
    assert_ok(trl_parser_parse_tags(p, &in, NULL, 0, &got, &err));
    static const trl_str gap[] = {{"time", 4}, {"", 0}};
    const trl_parse_input empty = {.word = gap, .n = 2};
    assert_int_equal(trl_parser_parse(p, &empty, &got, &err), TRL_EINVAL);
    static const trl_known phrase = {TRL_KNOWN_TAG, 0, 1, {"NP", 2}};
    const trl_parse_input known = {.word = sentence, .n = N, .known = &phrase, .n_known = 1};
    assert_int_equal(trl_parser_parse(p, &known, &got, &err), TRL_EINVAL);
    assert_true(trl_parse_model_has(m, phrase.label) && !trl_parse_model_has_tag(m, phrase.label));
    assert_true(trl_parse_model_has_tag(m, (trl_str){"NN", 2}));
    assert_false(trl_parse_model_has_tag(m, (trl_str){"XX", 2}));
    assert_false(trl_parse_model_has_tag(NULL, (trl_str){"NN", 2}));
    trl_parser_free(p);
    trl_parse_model_free(m);
    trl_buf_fini(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumeration),
        cmocka_unit_test(test_unseen_tag),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
