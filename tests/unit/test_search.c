/* Boosted parsers: one derivation a tree, features, and best-first search against enumeration. */
/* SPDX-License-Identifier: MIT */
#include "search_enumeration.h"
#include "support.h"

#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "search/search_parser.h"
#include "trellis/train.h"

/* ---- derivations ----------------------------------------------------------------------------- */

/* Builds the tree again by its derivation, and compares. */
static void check_derivation(const trl_tree *t, const trl_head_rules *heads)
{
    uint32_t *order = trl_alloc(t->n_nodes, sizeof *order);
    uint32_t *item = trl_alloc(t->n_nodes, sizeof *item), *tag = trl_alloc(t->n_words, sizeof *tag);
    uint32_t *root = trl_alloc(t->n_words, sizeof *root);
    uint32_t *stack = trl_alloc(2 * t->n_nodes, sizeof *stack);
    trl_node *node = trl_alloc(t->n_nodes, sizeof *node);
    trl_forest f = {0};
    for (size_t v = 0; v < t->n_nodes; v++)
        if (t->node[v].child == TRL_NO_NODE) {
            tag[t->node[v].from] = t->node[v].label;
            item[v] = t->node[v].from;
        }
    assert_true(trl_forest_start(&f, t->n_words, tag));
    trl_partial_parse s = trl_partial_start(&f, 0, root);
    const size_t n = trl_derivation(t, order);
    assert_int_equal(n + t->n_words, t->n_nodes);
    for (size_t k = 0; k < n; k++) {
        const trl_inference x = trl_inference_of(t, order[k], item, &s);
        assert_true(x.first <= s.newest && x.first <= x.last && x.last < s.n);
        item[order[k]] = trl_forest_add(&f, &s, x, heads, t->labels);
        s = trl_partial_after(&s, x.first, x.last, item[order[k]], root);
    }
    assert_int_equal(s.n, 1);
    assert_int_equal(trl_forest_tree(&f, s.root[0], node, stack), t->n_nodes);
    assert_memory_equal(node, t->node, t->n_nodes * sizeof *node);
    trl_forest_fini(&f);
    trl_free(order);
    trl_free(item);
    trl_free(tag);
    trl_free(root);
    trl_free(stack);
    trl_free(node);
}

static size_t check_file(const char *path, const trl_head_rules *heads)
{
    trl_error err;
    trl_tree_set set = {0};
    assert_ok(trl_tree_set_read(&set, path, 0, &err));
    for (size_t k = 0; k < set.n; k++)
        check_derivation(&set.tree[k], heads);
    const size_t n = set.n;
    trl_tree_set_fini(&set);
    return n;
}

static void test_derivations_of_the_sample(void **state)
{
    (void)state;
    trl_error err;
    trl_head_rules *heads = NULL;
    assert_ok(trl_head_rules_read(NULL, &heads, &err));
    assert_true(check_file("corpus/sample.mrg", heads) > 400);
    trl_head_rules_free(heads);
}

static void test_derivations_of_treebanks(void **state)
{
    (void)state;
    static const char *const name[] = {"craft-train", "craft-dev",        "masc-train",
                                       "masc-dev",    "wsj-sample-train", "wsj-sample-dev"};
    const char *dir = test_folder("TRELLIS_DATA", "../shared/data");
    trl_error err;
    trl_head_rules *heads = NULL;
    assert_ok(trl_head_rules_read(NULL, &heads, &err));
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        char path[600];
        snprintf(path, sizeof path, "%s/treebanks/%s.mrg", dir, name[k]);
        assert_true(check_file(path, heads) > 100);
    }
    trl_head_rules_free(heads);
}

/* All derivations of n words with two labels, no label twice in a chain: their trees differ, and
 * there are as many as a recursion over spans counts. */
typedef struct walker {
    trl_forest f;
    const trl_head_rules *heads;
    const trl_strtab *labels;
    uint64_t hash[4096];
    size_t n;
} walker;

static uint64_t hash_tree(const trl_forest *f, uint32_t item)
{
    const trl_item *x = &f->item[item];
    uint64_t h = 0x9e3779b97f4a7c15u * (x->label + 1) ^ x->from * 31u ^ x->to * 1009u;
    for (uint32_t k = 0; k < x->n; k++) {
        h ^= hash_tree(f, f->child[x->child + k]) + (h << 6) + (h >> 2);
        h *= 0xff51afd7ed558ccdu;
    }
    return h;
}

#define N_LABELS 2u

static void walk_all(walker *w, const trl_partial_parse *s)
{
    for (uint32_t first = 0; first <= s->newest; first++)
        for (uint32_t last = first; last < s->n; last++)
            for (uint32_t label = 0; label < N_LABELS; label++) {
                uint32_t root[8];
                const trl_inference x = {first, last, label};
                const bool whole = first == 0 && last + 1 == s->n;
                if ((label == TRL_SEARCH_TOP && !whole) ||
                    (first == last && !trl_unary_allowed(&w->f, s->root[first], label)))
                    continue;
                const size_t items = w->f.n_items, children = w->f.n_children;
                const uint32_t item = trl_forest_add(&w->f, s, x, w->heads, w->labels);
                const trl_partial_parse next = trl_partial_after(s, first, last, item, root);
                if (label == TRL_SEARCH_TOP) {
                    assert_true(w->n < 4096);
                    w->hash[w->n++] = hash_tree(&w->f, item);
                } else {
                    walk_all(w, &next);
                }
                w->f.n_items = items;
                w->f.n_children = children;
            }
}

/* Forests over n words whose trees are a word or an X (once over the same span): ways to put words
 * and X-trees side by side.  With x[n] trees X over exactly n words, x[1] = 1 (X over the word),
 * f[n] forests of n words: f[0] = 1, f[n] = sum_k (w_k + x_k) f[n-k], w_1 = 1. */
static size_t count_trees(size_t n)
{
    double x[8] = {0}, f[8] = {1};
    for (size_t m = 1; m <= n; m++) {
        f[m] = 0;
        for (size_t k = 1; k < m; k++)
            f[m] += (x[k] + (k == 1)) * f[m - k];
        /* now forests of at least two trees; an X over those, or over one word */
        x[m] = f[m] + (m == 1);
        f[m] += x[m] + (m == 1);
    }
    return (size_t)f[n]; /* TOP over each */
}

static void test_one_derivation_a_tree(void **state)
{
    (void)state;
    trl_error err;
    trl_head_rules *heads = NULL;
    trl_strtab labels = {0};
    trl_strtab_add(&labels, "TOP", 3);
    trl_strtab_add(&labels, "X", 1);
    trl_strtab_add(&labels, "NN", 2);
    assert_ok(trl_head_rules_read(NULL, &heads, &err));
    for (size_t n = 1; n <= 4; n++) {
        walker w = {.heads = heads, .labels = &labels};
        const uint32_t tag[4] = {2, 2, 2, 2};
        uint32_t root[4];
        assert_true(trl_forest_start(&w.f, n, tag));
        const trl_partial_parse s = trl_partial_start(&w.f, 0, root);
        walk_all(&w, &s);
        assert_int_equal(w.n, count_trees(n));
        for (size_t a = 0; a < w.n; a++)
            for (size_t b = a + 1; b < w.n; b++)
                assert_true(w.hash[a] != w.hash[b]);
        trl_forest_fini(&w.f);
    }
    trl_head_rules_free(heads);
    trl_strtab_fini(&labels);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void test_bad_groups(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned row, col;
        const char *message;
    } bad[] = {
        {"", 0, 0, "no group"},
        {"# nothing\n", 0, 0, "no group"},
        {"cousins[1] label\n", 1, 1, "is not a group"},
        {"children label\n", 1, 1, "is not a group"},
        {"children[0] label\n", 1, 1, "is not a group"},
        {"children[..-2] label\n", 1, 1, "is not a group"},
        {"children[2..] label\n", 1, 1, "is not a group"},
        {"left[1] label\n left[1] tag\n", 2, 2, "is there twice"},
        {"left[1]\n", 1, 1, "is asked nothing"},
        {"left[1] colour\n", 1, 9, "is not a question"},
        {"left[1] label count\n", 1, 15, "whole groups only"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        trl_feature_groups g;
        trl_error err = {0};
        const trl_str text = {bad[k].text, strlen(bad[k].text)};
        assert_int_equal(trl_feature_groups_parse("g", text, &g, &err), TRL_EPARSE);
        if (err.row != bad[k].row || err.col != bad[k].col || !strstr(err.msg, bad[k].message))
            fail_msg("%s: %u:%u: %s", bad[k].text, (unsigned)err.row, (unsigned)err.col, err.msg);
    }
}

/* ---- a small parser -------------------------------------------------------------------------- */

static const char treebank[] = "(TOP (S (NP (PRP she)) (VP (VBZ sees) (NP (DT the) (NN dog)))))\n"
                               "(TOP (S (NP (PRP he)) (VP (VBZ sleeps))))\n"
                               "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (PRP him)))))\n"
                               "(TOP (S (NP (DT a) (NN cat)) (VP (VBZ sleeps))))\n"
                               "(TOP (NP (DT the) (NN cat)))\n"
                               "(TOP (S (VP (VB see) (NP (DT the) (NN cat)))))\n";

static trl_boosted_model *train_small(const char *folder)
{
    trl_error err;
    char data[600], model[600];
    const char *train[1] = {data};
    trl_train_options o = trl_train_options_default();
    trl_train_result result;
    snprintf(data, sizeof data, "%s/trees", folder);
    snprintf(model, sizeof model, "%s/model", folder);
    FILE *f = fopen(data, "w");
    assert_non_null(f);
    for (int k = 0; k < 5; k++)
        fputs(treebank, f);
    fclose(f);
    o.kind = "tree";
    o.grade = "boosted";
    o.train = train;
    o.n_train = 1;
    o.model = model;
    o.threads = 1;
    assert_ok(trl_train(&o, &result, &err));
    assert_true(result.n_active > 0);
    trl_container *c = NULL;
    trl_boosted_model *m = NULL;
    assert_ok(trl_container_open(model, "tree", &c, &err));
    assert_true(trl_is_boosted(c));
    assert_ok(trl_boosted_model_from(c, &m, &err));
    unlink(data);
    unlink(model);
    return m;
}

static int make_model(void **state)
{
    char folder[] = "/tmp/trellis-test-XXXXXX";
    if (!mkdtemp(folder))
        return -1;
    *state = train_small(folder);
    rmdir(folder);
    return 0;
}

static int free_model(void **state)
{
    trl_boosted_model_free(*state);
    return 0;
}

static void search_against_enumeration(const trl_search_model *m)
{
    static const char *const words[] = {"she", "sees", "the", "dog", "him", "sleeps", "zebra"};
    static const char *const tags[] = {"PRP", "VBZ", "DT", "NN", "VB"};
    trl_searcher x = {.model = m};
    trl_rng rng = trl_rng_seed(7);
    for (int round = 0; round < 40; round++) {
        const size_t n = 1 + trl_rng_below64(&rng, 4);
        const bool two = round % 2 == 1 && n > 1;
        static const double cost[2] = {0.125, 0.5};
        trl_str word[4];
        uint32_t tag[8];
        for (size_t k = 0; k < n; k++) {
            const char *w = words[trl_rng_below64(&rng, 7)], *t = tags[trl_rng_below64(&rng, 5)];
            word[k] = (trl_str){w, strlen(w)};
            tag[k] = trl_strtab_find(&m->names.labels, t, strlen(t));
            assert_true(tag[k] != TRL_NO_ID);
        }
        for (size_t k = 0; k < n; k++) /* another tagging: the first word has the tag of the next */
            tag[n + k] = tag[k ? k : 1];
        if (two && tag[0] != tag[1])
            check_sentence(m, &x, &(trl_search_input){word, n, tag, cost, 2, NULL, 0});
        else
            check_sentence(m, &x, &(trl_search_input){word, n, tag, NULL, 1, NULL, 0});
    }
    trl_searcher_fini(&x);
}

static void test_search_against_enumeration(void **state)
{
    trl_boosted_model *b = *state;
    assert_true(b->m.shares);
    search_against_enumeration(&b->m);
    b->m.shares = false; /* as --decode local */
    search_against_enumeration(&b->m);
    b->m.shares = true;
}

/* Trees that must have a constituent, or must not. */
static void test_known_constituents_against_enumeration(void **state)
{
    const trl_boosted_model *b = *state;
    const trl_search_model *m = &b->m;
    static const trl_str word[4] = {{"she", 3}, {"sees", 4}, {"the", 3}, {"dog", 3}};
    static const char *const tags[] = {"PRP", "VBZ", "DT", "NN"};
    trl_searcher x = {.model = m};
    uint32_t tag[4];
    for (size_t k = 0; k < 4; k++)
        tag[k] = trl_strtab_find(&m->names.labels, tags[k], strlen(tags[k]));
    for (size_t from = 0; from < 4; from++)
        for (size_t to = from + 1; to <= 4; to++)
            for (uint32_t label = 0; label < m->names.n_phrases; label++)
                for (int forbidden = 0; forbidden < 2; forbidden++) {
                    const trl_search_known known = {
                        from, to, label == TRL_SEARCH_TOP ? TRL_NO_ID : label, forbidden};
                    check_sentence(m, &x, &(trl_search_input){word, 4, tag, NULL, 1, &known, 1});
                }
    trl_searcher_fini(&x);
}

/* The parts of a derivation add up to its score, with both kinds of costs. */
static void test_parts(void **state)
{
    trl_boosted_model *b = *state;
    trl_error err;
    const trl_parse_options o = trl_parse_options_default();
    static const trl_str word[] = {{"the", 3}, {"dog", 3}, {"sees", 4}, {"a", 1}, {"cat", 3}};
    for (int way = 0; way < 6; way++) {
        trl_boosted_parser *p = NULL;
        trl_parse tree;
        trl_derived parts;
        b->m.shares = way % 2 == 0;
        const trl_known known = {way / 2 == 1 ? TRL_KNOWN_NO_CONSTITUENT : TRL_KNOWN_CONSTITUENT,
                                 0,
                                 2,
                                 {"NP", way / 2 == 2 ? 2 : 0}};
        const trl_parse_input in = {.word = word, .n = 5, .known = &known, .n_known = way / 2 > 0};
        assert_ok(trl_boosted_parser_new(b, &o, &p, &err));
        assert_ok(trl_boosted_parser_derive(p, &in, &tree, &parts, &err));
        assert_true(parts.n > 3 && tree.n_trees == 1);
        double sum = 0.0;
        for (size_t k = 0; k < parts.n; k++) {
            sum += parts.part[k].score;
            assert_true(parts.part[k].name.n > 0 && parts.part[k].to <= 5);
        }
        assert_float_equal(sum, parts.score, 1e-9);
        assert_true(parts.score <= 0.0);
        trl_boosted_parser_free(p);
    }
    b->m.shares = true;
}

/* Limits: a tree comes all the same, and it is said. */
static void test_limits(void **state)
{
    const trl_boosted_model *b = *state;
    trl_error err;
    static const trl_str word[] = {{"dog", 3}, {"the", 3}, {"the", 3}, {"sees", 4}, {"a", 1},
                                   {"him", 3}, {"she", 3}, {"a", 1},   {"zoo", 3},  {"dog", 3}};
    trl_parse_options o = trl_parse_options_default();
    for (int how = 0; how < 3; how++) {
        trl_boosted_parser *p = NULL;
        trl_parse out;
        const trl_parse_input in = {.word = word, .n = 10};
        o.max_work = how == 1 ? 1e-9 : 1000.0;
        o.beam = how == 2 ? 1 : 0;
        assert_ok(trl_boosted_parser_new(b, &o, &p, &err));
        assert_ok(trl_boosted_parser_parse(p, &in, &out, &err));
        assert_int_equal(out.n_trees, 1);
        assert_int_equal(out.trees[0].tree.n_words, 10);
        assert_int_equal(out.sure, out.warning == NULL);
        if (how == 1)
            assert_false(out.sure);
        trl_boosted_parser_free(p);
    }
}

static void test_known(void **state)
{
    const trl_boosted_model *b = *state;
    trl_error err;
    trl_parse_options o = trl_parse_options_default();
    trl_boosted_parser *p = NULL;
    trl_parse out;
    static const trl_str word[] = {{"she", 3}, {"sleeps", 6}};
    const trl_known tag = {TRL_KNOWN_TAG, 1, 2, {"NN", 2}}, none = {TRL_KNOWN_TAG, 1, 2, {"QQ", 2}},
                    far = {TRL_KNOWN_TAG, 2, 3, {"NN", 2}},
                    span = {TRL_KNOWN_CONSTITUENT, 0, 2, {"NP", 2}};
    assert_ok(trl_boosted_parser_new(b, &o, &p, &err));
    trl_parse_input in = {.word = word, .n = 2, .known = &tag, .n_known = 1};
    assert_ok(trl_boosted_parser_parse(p, &in, &out, &err));
    const trl_tree *t = &out.trees[0].tree;
    const trl_str label = trl_tree_label(t, (uint32_t)t->n_nodes - 1);
    assert_true(label.n == 2 && memcmp(label.p, "NN", 2) == 0);
    const trl_known *const bad[] = {&none, &far, &span};
    for (size_t k = 0; k < 3; k++) {
        in.known = bad[k];
        assert_int_equal(trl_boosted_parser_parse(p, &in, &out, &err), TRL_EINVAL);
    }
    in = (trl_parse_input){.word = word, .n = 0};
    assert_int_equal(trl_boosted_parser_parse(p, &in, &out, &err), TRL_EINVAL);
    trl_boosted_parser_free(p);
    p = NULL;
    o.probability = true;
    assert_int_equal(trl_boosted_parser_new(b, &o, &p, &err), TRL_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivations_of_the_sample),
        cmocka_unit_test(test_derivations_of_treebanks),
        cmocka_unit_test(test_one_derivation_a_tree),
        cmocka_unit_test(test_bad_groups),
        cmocka_unit_test_setup_teardown(test_search_against_enumeration, make_model, free_model),
        cmocka_unit_test_setup_teardown(test_known_constituents_against_enumeration, make_model,
                                        free_model),
        cmocka_unit_test_setup_teardown(test_parts, make_model, free_model),
        cmocka_unit_test_setup_teardown(test_limits, make_model, free_model),
        cmocka_unit_test_setup_teardown(test_known, make_model, free_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
