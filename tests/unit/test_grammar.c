/* test_grammar.c -- grammars read off trees: there and back, rules, relaxed rules, files. */
/* SPDX-License-Identifier: MIT */
#include "read_grammar.h"

/* ---- there and back ------------------------------------------------------------------------ */

/* What the header promises about an encoded tree. */
static void assert_sound(const trl_grammar *g, const trl_btree *t, size_t n_words)
{
    size_t words = 0;
    assert_int_equal(t->node[0].state, g->root);
    assert_int_equal(t->node[0].to, n_words);
    for (size_t v = 0; v < t->n; v++) {
        const trl_bnode *b = &t->node[v];
        const trl_state_type type = g->state[b->state].type;
        if (b->left == TRL_NO_NODE) {
            assert_int_equal(type, TRL_STATE_TAG);
            assert_int_equal(b->rule, TRL_NO_ID);
            assert_int_equal(b->from, words++);
            continue;
        }
        const trl_bnode *l = &t->node[b->left];
        assert_int_equal(b->left, v + 1);
        assert_int_not_equal(type, TRL_STATE_TAG);
        if (b->right == TRL_NO_NODE) {
            const trl_unary *r = &g->unary[b->rule];
            assert_int_equal(type, TRL_STATE_PHRASE);
            assert_int_not_equal(g->state[l->state].type, TRL_STATE_ACTIVE);
            assert_true(l->right != TRL_NO_NODE || l->left == TRL_NO_NODE); /* one per span */
            assert_true(r->parent == b->state && r->child == l->state);
            assert_true(b->from == l->from && b->to == l->to);
            continue;
        }
        const trl_bnode *q = &t->node[b->right];
        const trl_binary *r = &g->binary[b->rule];
        assert_true(r->parent == b->state && r->left == l->state && r->right == q->state);
        assert_int_not_equal(g->state[l->state].type, TRL_STATE_ACTIVE);
        assert_true(b->from == l->from && l->to == q->from && q->to == b->to);
    }
    assert_int_equal(words, n_words);
}

typedef struct memory {
    trl_btree b;
    trl_node *node;
    size_t n, cap;
    trl_buf have, want;
} memory;

static void forget(memory *m)
{
    trl_btree_fini(&m->b);
    trl_free(m->node);
    trl_buf_fini(&m->have);
    trl_buf_fini(&m->want);
}

static void assert_comes_back(const trl_grammar *g, const trl_tree *t, const trl_strtab *labels,
                              memory *m)
{
    trl_error err;
    bool known;
    assert_ok(trl_grammar_encode(g, &(trl_encoded){heads, t, labels}, &m->b, &known, NULL, &err));
    assert_true(known);
    assert_sound(g, &m->b, t->n_words);
    assert_ok(trl_grammar_decode(g, &m->b, &m->node, &m->n, &m->cap, &err));
    const trl_tree back = {
        .n_nodes = m->n, .n_words = t->n_words, .node = m->node, .word = t->word};
    m->have.len = m->want.len = 0;
    assert_true(trl_tree_write(&back, &g->labels, &m->have));
    assert_true(trl_tree_write(t, labels, &m->want));
    trl_buf_ch(&m->have, '\0');
    trl_buf_ch(&m->want, '\0');
    assert_string_equal(m->have.data, m->want.data);
    for (size_t v = 0; v < m->n; v++) /* links and spans, which writing does not show */
        assert_memory_equal(&m->node[v].parent, &t->node[v].parent,
                            sizeof(trl_node) - sizeof(uint32_t));
}

static void assert_all_come_back(const tree_list *l, unsigned step)
{
    memory m = {0};
    for (unsigned k = 0; k < N_SWITCHES; k += step) {
        const trl_annotation a = switches(k);
        trl_grammar g;
        double rules = 0.0, nodes = 0.0;
        build(&g, &a, l, k % 5 == 0);
        for (size_t i = 0; i < l->n; i++) {
            assert_comes_back(&g, &l->tree[i], &l->labels, &m);
            nodes += (double)(m.b.n - l->tree[i].n_words);
        }
        for (size_t r = 0; r < g.n_binary; r++)
            rules += g.binary_count[r];
        for (size_t r = 0; r < g.n_unary; r++)
            rules += g.unary_count[r];
        assert_true(rules == nodes);
        trl_grammar_fini(&g);
    }
    forget(&m);
}

static void test_random_trees_come_back(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(1);
    for (int turn = 0; turn < 5; turn++) {
        trl_buf text = {0};
        tree_list l = {0};
        random_trees(&r, 60, &text);
        read_text(&l, text.data, text.len);
        assert_int_equal(l.n, 60);
        assert_all_come_back(&l, 1);
        trl_buf_fini(&text);
        free_trees(&l);
    }
}

static void test_treebanks_come_back(void **state)
{
    (void)state;
    static const char *const file[] = {
        "craft-dev.mrg",          "craft-train.mrg",     "masc-dev.mrg",
        "masc-dev.raw.mrg",       "masc-train.mrg",      "wsj-sample-dev.mrg",
        "wsj-sample-dev.raw.mrg", "wsj-sample-test.mrg", "wsj-sample-train.mrg"};
    const char *dir = test_folder("TRELLIS_DATA", "../shared/data");
    for (size_t f = 0; f < sizeof file / sizeof *file; f++) {
        trl_error err;
        tree_list l = {0};
        trl_input *in = NULL;
        char path[512];
        snprintf(path, sizeof path, "%s/treebanks/%s", dir, file[f]);
        assert_ok(trl_input_open(path, &in, &err));
        read_trees(&l, in, SIZE_MAX);
        assert_true(l.n > 100);
        /* all switches; of large ones the plainest, the richest and some between */
        assert_all_come_back(&l, l.n < 1000 ? 1 : l.n < 10000 ? 5 : N_SWITCHES - 1);
        free_trees(&l);
    }
}

/* ---- what exactly the states are ------------------------------------------------------------ */

static void show(const trl_grammar *g, const trl_btree *t, trl_buf *out)
{
    out->len = 0;
    for (size_t v = 0; v < t->n; v++) {
        const trl_bnode *b = &t->node[v];
        trl_buf_fmt(out, "%s%s", v ? "; " : "", name_of(g, b->state));
        if (b->left == TRL_NO_NODE)
            continue;
        trl_buf_fmt(out, " -> %s", name_of(g, t->node[b->left].state));
        if (b->right != TRL_NO_NODE)
            trl_buf_fmt(out, " %s", name_of(g, t->node[b->right].state));
    }
    trl_buf_ch(out, '\0');
}

static void assert_states(const char *text, trl_annotation a, const char *want)
{
    trl_error err;
    tree_list l = {0};
    trl_grammar g;
    memory m = {0};
    bool known;
    read_text(&l, text, strlen(text));
    build(&g, &a, &l, false);
    assert_ok(trl_grammar_encode(&g, &(trl_encoded){heads, &l.tree[l.n - 1], &l.labels}, &m.b,
                                 &known, NULL, &err));
    assert_true(known);
    show(&g, &m.b, &m.have);
    assert_string_equal(m.have.data, want);
    forget(&m);
    trl_grammar_fini(&g);
    free_trees(&l);
}

static void test_states(void **state)
{
    (void)state;
    const char *const tree = "(TOP (S (NP (NN x)) (VP (VBZ y) (NP (NN z)) (PP p) (RB r)) (. .)))";
    assert_states(tree, (trl_annotation){0},
                  "TOP -> S; S -> NP @S; NP -> NN; NN; @S -> VP .; VP -> VBZ @VP; VBZ; "
                  "@VP -> NP @VP; NP -> NN; NN; @VP -> PP RB; PP; RB; .");
    assert_states(tree, (trl_annotation){true, true, true, 2},
                  "TOP -> S^TOP; S^TOP -> NP^S @S^TOP|VP<NP; NP^S -> NN^NP; NN^NP; "
                  "@S^TOP|VP<NP -> VP%VBZ^S .^S; VP%VBZ^S -> VBZ^VP @VP%VBZ^S|NP<VBZ; VBZ^VP; "
                  "@VP%VBZ^S|NP<VBZ -> NP^VP @VP%VBZ^S|PP<NP; NP^VP -> NN^NP; NN^NP; "
                  "@VP%VBZ^S|PP<NP -> PP^VP RB^VP; PP^VP; RB^VP; .^S");
    assert_states("(TOP (S (VP (VP (TO to) (VP (VB go))))))",
                  (trl_annotation){true, false, true, 1},
                  "TOP -> VP%TO^VP; VP%TO^VP -> TO VP%VB^VP; TO; VP%VB^VP -> VB; VB");
}

static void test_odd_roots(void **state)
{
    (void)state;
    assert_states("(NN dog)", (trl_annotation){true, true, false, 1}, "TOP -> NN^TOP; NN^TOP");
    assert_states("( (NN dog))", (trl_annotation){true, true, false, 1},
                  "ROOT -> NN^ROOT; NN^ROOT");
    assert_states("(TOP (NN a) (NN b))(S1 (NN a) (NN b) (NN c))(TOP (NN c) (NN a) (NN a))",
                  (trl_annotation){true, true, false, 1},
                  "TOP -> NN^TOP @TOP|NN; NN^TOP; @TOP|NN -> NN^TOP NN^TOP; NN^TOP; NN^TOP");
    /* the root is not S further down */
    assert_states("(S (S (NN a) (NN b)))", (trl_annotation){0}, "S -> S#2; S#2 -> NN NN; NN; NN");
    assert_states("(TOP (X (X x) (X y)))", (trl_annotation){0}, "TOP -> X; X -> X#2 X#2; X#2; X#2");
}

static void test_unknown(void **state)
{
    (void)state;
    static const char text[] =
        "(TOP (S (NP (NN a)) (VP (VBZ b))))(TOP (S (X (Y (NN a))) (VP (VBZ b))))";
    static const struct {
        const char *tree;
        uint32_t missing; /* TRL_NO_NODE: none */
    } row[] = {
        {"(ROOT (S (NP (NN q)) (VP (VBZ r))))", TRL_NO_NODE},
        {"(TOP (S (X (Y (NN q))) (VP (VBZ r))))", TRL_NO_NODE},
        {"(TOP (S (NP (NN q)) (VP (VBD r))))", 4},
        {"(TOP (S (NP (NNP q)) (VP (VBD r))))", 2},
        {"(TOP (S (X (NN q)) (VP (VBZ r))))", 2},
        {"(TOP (S (X (Y (Y (NN q)))) (VP (VBZ r))))", 2},
        {"(TOP (S (X (Z (NN q))) (VP (VBZ r))))", 2},
        {"(TOP (S (NP (NN q)) (VP (VBZ r)) (. .)))", 1},
        {"(NN a)", 0},
        {"(Q a)", 0},
    };
    trl_error err;
    tree_list l = {0}, other = {0};
    trl_grammar g;
    memory m = {0};
    read_text(&l, text, sizeof text - 1);
    build(&g, &(trl_annotation){0}, &l, false);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        bool known;
        uint32_t missing = TRL_NO_NODE;
        read_text(&other, row[i].tree, strlen(row[i].tree));
        assert_ok(trl_grammar_encode(&g, &(trl_encoded){heads, &other.tree[i], &other.labels}, &m.b,
                                     &known, &missing, &err));
        assert_int_equal(known, row[i].missing == TRL_NO_NODE);
        assert_int_equal(missing, row[i].missing);
    }
    forget(&m);
    trl_grammar_fini(&g);
    free_trees(&l);
    free_trees(&other);
}

static void test_nothing_added(void **state)
{
    (void)state;
    trl_error err;
    trl_grammar g;
    assert_ok(trl_grammar_init(&g, &(trl_annotation){0}, NULL, &err));
    assert_int_equal(trl_grammar_finish(&g, false, &err), TRL_EINVAL);
    trl_grammar_fini(&g);
}

/* ---- order and classes ---------------------------------------------------------------------- */

static void assert_same_class(const trl_grammar *g, uint32_t s, uint32_t t)
{
    const trl_state *a = &g->state[s], *b = &g->state[t];
    assert_int_equal(a->plain == b->plain, a->base == b->base && a->type == b->type);
}

static void test_classes(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(2);
    trl_buf text = {0};
    tree_list l = {0};
    trl_grammar g;
    random_trees(&r, 30, &text);
    read_text(&l, text.data, text.len);
    build(&g, &(trl_annotation){true, true, true, 1}, &l, true);
    for (uint32_t s = 0; s < g.n_states; s++) {
        assert_true(g.state[s].plain < g.n_plain);
        for (uint32_t t = 0; t < s; t++)
            assert_same_class(&g, s, t);
        for (uint32_t k = g.by_left[s]; k < g.by_left[s + 1]; k++)
            assert_int_equal(g.binary[k].left, s);
        for (uint32_t k = g.by_child[s]; k < g.by_child[s + 1]; k++)
            assert_int_equal(g.unary[k].child, s);
    }
    assert_int_equal(g.by_left[g.n_states], g.n_binary);
    assert_int_equal(g.by_child[g.n_states], g.n_unary);
    for (size_t x = 1; x < g.n_binary; x++) {
        const size_t y = draw(&r, (unsigned)x);
        const trl_binary *a = &g.binary[x], *b = &g.binary[y];
        const trl_state *s = g.state;
        assert_int_equal(a->plain == b->plain, s[a->parent].plain == s[b->parent].plain &&
                                                   s[a->left].plain == s[b->left].plain &&
                                                   s[a->right].plain == s[b->right].plain);
        assert_true(a->plain < g.n_plain_binary);
    }
    for (size_t x = 0; x < g.n_unary; x++)
        for (size_t y = 0; y < x; y++) {
            const trl_unary *a = &g.unary[x], *b = &g.unary[y];
            assert_int_equal(a->plain == b->plain,
                             g.state[a->parent].plain == g.state[b->parent].plain &&
                                 g.state[a->child].plain == g.state[b->child].plain);
        }
    trl_grammar_fini(&g);
    trl_buf_fini(&text);
    free_trees(&l);
}

static void test_projection(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(3);
    trl_buf text = {0};
    tree_list l = {0};
    trl_grammar fine, coarse;
    random_trees(&r, 40, &text);
    read_text(&l, text.data, text.len);
    build(&fine, &(trl_annotation){true, true, true, 2}, &l, true);
    build(&coarse, &(trl_annotation){0}, &l, false);
    uint32_t *map = trl_alloc(fine.n_states, sizeof *map);
    trl_grammar_project(&fine, &coarse, map);
    for (size_t s = 0; s < fine.n_states; s++) {
        assert_true(map[s] < coarse.n_states);
        assert_int_equal(fine.state[s].type, coarse.state[map[s]].type);
        assert_int_equal(s == fine.root, map[s] == coarse.root);
        const trl_str a = trl_strtab_get(&fine.labels, fine.state[s].base);
        const trl_str b = trl_strtab_get(&coarse.labels, coarse.state[map[s]].base);
        assert_true(a.n == b.n && memcmp(a.p, b.p, a.n) == 0);
    }
    trl_free(map);
    trl_grammar_fini(&fine);
    trl_grammar_fini(&coarse);
    trl_buf_fini(&text);
    free_trees(&l);
}

int main(void)
{
    trl_error err;
    if (trl_head_rules_read(NULL, &heads, &err) != TRL_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_odd_roots),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_nothing_added),
        cmocka_unit_test(test_random_trees_come_back),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_treebanks_come_back),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    trl_head_rules_free(heads);
    return failed;
}
