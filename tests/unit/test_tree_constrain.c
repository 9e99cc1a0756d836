/* Constraints: the trees that are left are those that obey. */
/* SPDX-License-Identifier: MIT */
#include "tree_kbest.h"
#include "tree_oracle.h"

#include "chart/constrain.h"
#include "chart/mbr.h"

static bool obeys(const trl_constraint *c, const trl_node *node, size_t n)
{
    bool span = false, labelled = false, tagged = false;
    for (size_t k = 0; k < n; k++) {
        const bool tag = node[k].child == TRL_NO_NODE;
        if (tag && node[k].from == c->i)
            tagged = node[k].label == c->label;
        if (node[k].from != c->i || node[k].to != c->j)
            continue;
        span = span || !tag;
        labelled = labelled || node[k].label == c->label;
    }
    switch (c->type) {
    case TRL_CONSTRAIN_TAG:
        return tagged;
    case TRL_CONSTRAIN_SPAN:
        return span || c->j - c->i == 1;
    case TRL_CONSTRAIN_LABEL:
        return labelled;
    case TRL_CONSTRAIN_NOT:
        return !span;
    }
    return false;
}

static bool obeys_all(const world *w, const trl_constraint *c, size_t n_c, const trl_btree *t)
{
    static trl_node *node;
    static size_t cap;
    size_t n;
    trl_error err;
    assert_ok(trl_grammar_decode(&w->g, t, &node, &n, &cap, &err));
    for (size_t k = 0; k < n_c; k++)
        if (!obeys(&c[k], node, n))
            return false;
    return true;
}

/* Mostly what some tree has, so that something is left. */
static void random_constraint(const world *w, const forest *f, trl_rng *r, trl_constraint *c)
{
    trl_error err;
    trl_btree t = {0};
    trl_node *node = NULL;
    size_t n, cap = 0;
    tree_of(w, &roots(f)->at[draw(r, (unsigned)roots(f)->n)], &t);
    assert_ok(trl_grammar_decode(&w->g, &t, &node, &n, &cap, &err));
    const trl_node *v = &node[draw(r, (unsigned)n)];
    *c = (trl_constraint){(trl_constraint_type)draw(r, 4), v->from, v->to, v->label};
    if (c->type == TRL_CONSTRAIN_NOT || draw(r, 4) == 0) {
        c->i = draw(r, (unsigned)w->n);
        c->j = c->i + 1 + draw(r, (unsigned)(w->n - c->i));
    }
    if (c->type == TRL_CONSTRAIN_TAG) /* a tag that is there */
        for (size_t k = 0; k < n; k++)
            if (node[k].child == TRL_NO_NODE && node[k].from == c->i)
                c->label = node[k].label;
    trl_btree_fini(&t);
    trl_free(node);
}

/* All scores 0: Z counts trees. */
static void zero_scores(world *w, trl_rng *r)
{
    world_scores(w, r, 0.0, 0.0, 0);
}

/* The tree of best brackets obeys, too, whatever lambda is. */
static void check_mbr(world *w, const trl_brackets *b, const trl_constraint *c, size_t n_c)
{
    static const double lambda[] = {0.1, 0.5, 0.99};
    static trl_nodes tree;
    trl_error err;
    for (size_t k = 0; k < 3; k++) {
        assert_ok(trl_mbr_tree(b, w->g.state[w->g.root].base, lambda[k], &tree, &w->arena, &err));
        for (size_t q = 0; q < n_c; q++)
            assert_true(obeys(&c[q], tree.node, tree.n));
    }
}

static void check_constraints(world *w, forest *f, trl_rng *r, unsigned *left)
{
    trl_error err;
    trl_btree t = {0};
    kbest got = {0};
    trl_brackets b;
    trl_constraint c[3];
    const size_t n_c = 1 + draw(r, 3);
    const size_t all = roots(f)->n;
    bool complete;
    size_t want = 0;
    for (size_t k = 0; k < n_c; k++)
        random_constraint(w, f, r, &c[k]);
    for (size_t k = 0; k < all; k++) {
        tree_of(w, &roots(f)->at[k], &t);
        want += obeys_all(w, c, n_c, &t);
    }
    assert_ok(trl_constrain(&w->g, &(trl_constraints){c, n_c}, &w->s, &complete, &w->arena, &err));
    zero_scores(w, r);
    assert_ok(trl_chart_inside(&w->c, &w->t, &err));
    assert_int_equal(complete, want > 0);
    *left += want > 0 && want < all;
    if (want) {
        assert_near(exp(w->c.log_z), (double)want, 1e-10);
        trl_chart_outside(&w->c, &w->t, NULL);
        assert_ok(trl_chart_brackets(&w->c, &b, &w->arena, &err));
        for (size_t k = 0; k < n_c; k++) {
            const size_t cell = c[k].type == TRL_CONSTRAIN_TAG ? 0 : trl_cell(c[k].i, c[k].j);
            double p = 0.0;
            for (uint32_t q = b.first[cell]; q < b.first[cell + 1]; q++)
                p += b.bracket[q].label == c[k].label ? b.bracket[q].p : 0.0;
            if (c[k].type == TRL_CONSTRAIN_LABEL && c[k].j - c[k].i > 1)
                assert_true(p > 1.0 - 1e-10);
        }
        check_mbr(w, &b, c, n_c);
    }
    assert_ok(kbest_get(&w->c, &w->t, 4000, &got, &w->arena, &err));
    assert_int_equal(got.n, want < 4000 ? want : 4000);
    for (size_t k = 0; k < got.n; k++)
        assert_true(obeys_all(w, c, n_c, &got.tree[k]));
    kbest_fini(&got);
    trl_btree_fini(&t);
}

static void test_constraints(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(25);
    unsigned left = 0;
    for (unsigned round = 0; round < 200; round++) {
        world w;
        forest f;
        world_grammar(&w, &r, round, round % 3 == 0);
        world_words(&w, &r, 1 + draw(&r, 4));
        world_skeleton(&w, &r, round % 2 ? 8 : 0);
        world_scores(&w, &r, 1.0, 0.0, 0);
        const trl_skeleton old = w.s;
        const size_t items = w.c.n_items;
        const bool listed = all_trees(&f, &w) && roots(&f) && roots(&f)->n < 3000;
        if (listed)
            check_constraints(&w, &f, &r, &left);
        w.s = old; /* what the forest is made of */
        w.c.n_items = items;
        free_forest(&f);
        world_free(&w);
    }
    assert_true(left > 40);
}

/* A tag that no word was seen with is taken at the user's word; spans must lie in the sentence. */
static void test_constraint_edges(void **state)
{
    (void)state;
    static const char text[] =
        "(TOP (A (x a) (y b)))\n(TOP (A (x b) (y c)))\n(TOP (B (y c) (V d)))\n";
    trl_error err = {0};
    trl_btree b = {0};
    world w = {0};
    bool known, complete;
    read_text(&w.trees, text, sizeof text - 1);
    build(&w.g, &(trl_annotation){0}, &w.trees, false);
    assert_ok(trl_lexicon_init(&w.x, 0, &err));
    for (size_t k = 0; k < w.trees.n; k++) {
        assert_ok(trl_grammar_encode(&w.g, &(trl_encoded){heads, &w.trees.tree[k], &w.trees.labels},
                                     &b, &known, NULL, &err));
        assert_ok(trl_lexicon_add(&w.x, &b, w.trees.tree[k].word, &err));
    }
    assert_ok(trl_lexicon_finish(&w.x, &w.g, &err));
    trl_btree_fini(&b);
    w.n = 2;
    w.word[0] = (trl_str){"a", 1};
    w.word[1] = (trl_str){"a", 1};
    world_skeleton(&w, NULL, 0);
    const trl_skeleton old = w.s;
    assert_ok(trl_constrain(&w.g, &(trl_constraints){NULL, 0}, &w.s, &complete, &w.arena, &err));
    assert_false(complete); /* x x makes nothing */
    const uint32_t y = trl_strtab_find(&w.g.labels, "y", 1);
    trl_constraint c = {TRL_CONSTRAIN_TAG, 1, 0, y};
    w.s = old;
    assert_ok(trl_constrain(&w.g, &(trl_constraints){&c, 1}, &w.s, &complete, &w.arena, &err));
    assert_true(complete);
    c.label = TRL_NO_ID;
    w.s = old;
    assert_ok(trl_constrain(&w.g, &(trl_constraints){&c, 1}, &w.s, &complete, &w.arena, &err));
    assert_false(complete);
    c.i = 2;
    assert_int_equal(
        trl_constrain(&w.g, &(trl_constraints){&c, 1}, &w.s, &complete, &w.arena, &err),
        TRL_EINVAL);
    c = (trl_constraint){TRL_CONSTRAIN_SPAN, 1, 1, 0};
    assert_int_equal(
        trl_constrain(&w.g, &(trl_constraints){&c, 1}, &w.s, &complete, &w.arena, &err),
        TRL_EINVAL);
    c = (trl_constraint){TRL_CONSTRAIN_NOT, 0, 3, 0};
    assert_int_equal(
        trl_constrain(&w.g, &(trl_constraints){&c, 1}, &w.s, &complete, &w.arena, &err),
        TRL_EINVAL);
    assert_non_null(strstr(err.msg, "words 0 to 3 of a sentence of 2"));
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_constraint_edges),
    };
    return cmocka_run_group_tests(tests, read_heads, free_heads);
}
