/* The second stage of parsing: features of a tree, counted by hand. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "parser/reranker.h"
#include "support.h"

/* ---- features, counted by hand --------------------------------------------------------------- */

static const char one_tree[] =
    "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (NP (DT the) (NN dog)) (CC and) (NP (DT a) "
    "(NN hen)))) (. .)))";

typedef struct shown {
    trl_tree_set trees;
    trl_head_rules *heads;
    trl_tree_clusters clusters;
    trl_rerank_features x;
    trl_rerank_keys keys;
} shown;

static void show(shown *s, const char *text)
{
    trl_error err;
    *s = (shown){0};
    assert_ok(trl_tree_set_memory(&s->trees, "text", (trl_str){text, strlen(text)}, 0, &err));
    assert_ok(trl_head_rules_read(NULL, &s->heads, &err));
    assert_ok(trl_rerank_features_init(&s->x, s->heads, &s->trees.labels, &s->clusters, &err));
}

static void hide(shown *s)
{
    trl_rerank_features_fini(&s->x);
    trl_free(s->keys.key);
    trl_head_rules_free(s->heads);
    trl_tree_set_fini(&s->trees);
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The keys of tree k, ascending. */
static void keys_of(shown *s, size_t k, unsigned groups)
{
    trl_error err;
    const trl_tree *t = &s->trees.tree[k];
    s->x.groups = groups;
    assert_ok(trl_rerank_sentence(&s->x, t->word, t->n_words, &err));
    assert_ok(trl_rerank_tree(&s->x, &(trl_node_list){t->node, t->n_nodes}, &s->keys, &err));
    if (s->keys.n)
        qsort(s->keys.key, s->keys.n, sizeof *s->keys.key, ascending);
}

/* How many different keys there are that come `times` times. */
static size_t coming(const trl_rerank_keys *k, size_t times)
{
    size_t n = 0;
    for (size_t i = 0; i < k->n;) {
        size_t j = i;
        while (j < k->n && k->key[j] == k->key[i])
            j++;
        n += j - i == times;
        i = j;
    }
    return n;
}

static void test_counts(void **state)
{
    (void)state;
    shown s;
    show(&s, one_tree);
    keys_of(&s, 0, TRL_RERANK_RULES); /* 7 phrases, 4 keys each */
    assert_int_equal(s.keys.n, 28);
    assert_int_equal(coming(&s.keys, 3), 1); /* NP -> DT NN, whatever is above */
    assert_int_equal(coming(&s.keys, 2), 2); /* the same below NP, and below NP below VP */
    keys_of(&s, 0, TRL_RERANK_BRANCHING);    /* TOP S VP NP NP on the way to "hen", NP NP not */
    assert_int_equal(s.keys.n, 7);
    assert_int_equal(coming(&s.keys, 5), 1);
    assert_int_equal(coming(&s.keys, 2), 1);
    keys_of(&s, 0, TRL_RERANK_HEADS); /* dependents: NP . | NP | DT | CC NP | DT | DT */
    assert_int_equal(s.keys.n, 5 * 8);
    keys_of(&s, 0, TRL_RERANK_PARALLEL); /* one pair of conjuncts */
    assert_int_equal(s.keys.n, 4);
    keys_of(&s, 0, TRL_RERANK_WORDS);
    assert_int_equal(s.keys.n, 5 * 9);
    keys_of(&s, 0, TRL_RERANK_CLUSTERS); /* there are none */
    assert_int_equal(s.keys.n, 0);
    keys_of(&s, 0, TRL_RERANK_NGRAMS); /* 2 (children + 1) of every phrase */
    assert_int_equal(s.keys.n, 2 * (2 + 4 + 3 + 3 + 4 + 3 + 3));
    keys_of(&s, 0, TRL_RERANK_TRIPLES); /* no dependent has an object */
    assert_int_equal(s.keys.n, 8);
    keys_of(&s, 0, TRL_RERANK_HEAVY | TRL_RERANK_NEIGHBOURS | TRL_RERANK_EDGES);
    assert_int_equal(s.keys.n, (2 + 5 + 3) * 7);
    hide(&s);
}

/* "saw the man with a hat" both ways: only what depends on the place of the PP differs. */
static void test_attachment(void **state)
{
    (void)state;
    static const char text[] =
        "(TOP (VP (VBD saw) (NP (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN hat))))))\n"
        "(TOP (VP (VBD saw) (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN hat)))))\n";
    shown s;
    show(&s, text);
    keys_of(&s, 0, TRL_RERANK_TRIPLES);
    trl_rerank_keys a = s.keys;
    s.keys = (trl_rerank_keys){0};
    keys_of(&s, 1, TRL_RERANK_TRIPLES);
    /* 5 dependents, one of them with an object: "with a hat" */
    assert_int_equal(a.n, 5 + 4);
    assert_int_equal(s.keys.n, a.n);
    size_t same = 0;
    for (size_t i = 0, j = 0; i < a.n && j < s.keys.n;) {
        same += a.key[i] == s.keys.key[j];
        const bool next = a.key[i] <= s.keys.key[j];
        j += a.key[i] >= s.keys.key[j];
        i += next;
    }
    /* "man" of "saw", "the" of "man" below "saw", "a" of "hat" below "with" */
    assert_int_equal(same, 3);
    trl_free(a.key);
    hide(&s);
}

/* A rule whose first child has its own label: the label counts, and so do heads found before. */
static void test_same_label(void **state)
{
    (void)state;
    static const char text[] = "(TOP (VP (VP (VBD a)) (PP (IN b))))\n(TOP (NP (NP (VBD a)) (PP (IN "
                               "b))))\n(TOP (PP (PP (VBD a)) (PP (IN b))))\n";
    shown s, alone;
    show(&s, text);
    for (size_t a = 0; a < 3; a++) {
        keys_of(&s, a, TRL_RERANK_RULES);
        uint64_t first[16];
        const size_t n = s.keys.n;
        assert_int_equal(n, 16); /* TOP, X, X, PP */
        memcpy(first, s.keys.key, n * sizeof *first);
        for (size_t b = 0; b < a; b++) {
            size_t same = 0;
            keys_of(&s, b, TRL_RERANK_RULES);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < s.keys.n; j++)
                    same += first[i] == s.keys.key[j];
            assert_in_range(same, 1, 2); /* PP -> IN, with its word; below X it is another */
        }
        show(&alone, text); /* which has seen no other tree */
        keys_of(&alone, a, TRL_RERANK_ALL);
        keys_of(&s, a, TRL_RERANK_ALL);
        assert_int_equal(alone.keys.n, s.keys.n);
        assert_memory_equal(alone.keys.key, s.keys.key, s.keys.n * sizeof *s.keys.key);
        hide(&alone);
    }
    hide(&s);
}

/* Numbers of labels do not matter. */
static void test_any_table(void **state)
{
    (void)state;
    char both[1024];
    snprintf(both, sizeof both, "(TOP (X (NN a) (DT b) (VBZ c) (. d)))\n%s\n", one_tree);
    shown a, b;
    show(&a, one_tree);
    show(&b, both);
    keys_of(&a, 0, TRL_RERANK_ALL);
    keys_of(&b, 1, TRL_RERANK_ALL);
    assert_int_equal(a.keys.n, b.keys.n);
    assert_memory_equal(a.keys.key, b.keys.key, a.keys.n * sizeof *a.keys.key);
    hide(&a);
    hide(&b);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_attachment),
        cmocka_unit_test(test_same_label),
        cmocka_unit_test(test_any_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
