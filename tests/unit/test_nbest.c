/* The score of a tree is that of all its derivations; trees are ranked by it: against lists of all
 * derivations. */
/* SPDX-License-Identifier: MIT */
#include "tree_oracle.h"

#include "chart/nbest.h"

/* Trees of plain labels and log of the summed exp(score) of their derivations, best first. */
typedef struct summed {
    trl_plain_tree *tree;
    size_t n, several; /* several: trees with more than one derivation */
} summed;

static bool same_tree(const trl_plain_tree *a, const trl_plain_tree *b)
{
    return a->n == b->n && memcmp(a->node, b->node, a->n * sizeof *a->node) == 0;
}

static double add_logs(double a, double b)
{
    return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

static int descending(const void *a, const void *b)
{
    const double x = ((const trl_plain_tree *)a)->score, y = ((const trl_plain_tree *)b)->score;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void sum_up(const world *w, const ders *all, summed *out)
{
    trl_error err;
    trl_btree t = {0};
    *out = (summed){.tree = trl_zalloc(all->n, sizeof *out->tree)};
    uint8_t *twice = trl_zalloc(all->n, 1);
    for (size_t k = 0; k < all->n; k++) {
        trl_plain_tree *x = &out->tree[out->n];
        tree_of(w, &all->at[k], &t);
        assert_ok(trl_grammar_decode(&w->g, &t, &x->node, &x->n, &x->cap, &err));
        x->score = all->at[k].score;
        size_t old = 0;
        while (!same_tree(&out->tree[old], x))
            old++;
        if (old < out->n) {
            out->tree[old].score = add_logs(out->tree[old].score, x->score);
            out->several += !twice[old];
            twice[old] = 1;
        } else {
            out->n++;
        }
    }
    if (out->n < all->n) {
        trl_free(out->tree[out->n].node);
        out->tree[out->n].node = NULL;
    }
    trl_free(twice);
    trl_btree_fini(&t);
    qsort(out->tree, out->n, sizeof *out->tree, descending);
}

static void free_summed(summed *s)
{
    for (size_t k = 0; k < s->n; k++)
        trl_free(s->tree[k].node);
    trl_free(s->tree);
}

/* Every tree's own score, and -inf for trees that differ from one of the chart in a label. */
static void check_scores(world *w, const summed *s, trl_rng *r)
{
    trl_error err;
    trl_tree_sum scratch = {0};
    double score;
    for (size_t k = 0; k < s->n; k++) {
        const trl_plain_tree *x = &s->tree[k];
        assert_ok(trl_chart_tree_sum(&w->c, &w->t, &(trl_node_list){x->node, x->n}, &scratch,
                                     &score, &err));
        assert_near(score, x->score, 1e-10);
        trl_plain_tree other = {.n = x->n, .node = trl_alloc(x->n, sizeof *x->node)};
        memcpy(other.node, x->node, x->n * sizeof *x->node);
        other.node[draw(r, (unsigned)x->n)].label = draw(r, (unsigned)w->g.labels.n);
        double want = -(double)INFINITY;
        for (size_t o = 0; o < s->n; o++)
            want = same_tree(&s->tree[o], &other) ? s->tree[o].score : want;
        assert_ok(trl_chart_tree_sum(&w->c, &w->t, &(trl_node_list){other.node, x->n}, &scratch,
                                     &score, &err));
        assert_true(isinf(want) ? score == want : fabs(score - want) < 1e-10);
        trl_free(other.node);
    }
    trl_tree_sum_fini(&scratch);
}

/* What is listed has its own score; and when the list is sure of itself, no tree is missing. */
static bool check_list(world *w, const summed *s, double log_z, size_t n, trl_nbest *got)
{
    trl_error err;
    assert_ok(trl_chart_nbest(&w->c, &w->t, &(trl_nbest_want){n, log_z}, got, &w->arena, &err));
    assert_true(got->n > 0 && got->n <= n && got->n <= s->n);
    for (size_t k = 0; k < got->n; k++) {
        size_t at = 0;
        while (at < s->n && !same_tree(&s->tree[at], &got->tree[k]))
            at++;
        assert_true(at < s->n);
        assert_near(got->tree[k].score, s->tree[at].score, 1e-10);
        assert_true(k == 0 || got->tree[k].score <= got->tree[k - 1].score);
        if (got->sure)
            assert_near(got->tree[k].score, s->tree[k].score, 1e-10);
    }
    assert_true(!got->sure || got->n == (n < s->n ? n : s->n));
    return got->sure;
}

typedef struct tally {
    unsigned worlds, several, sure, unsure;
} tally;

static void check_world(world *w, const ders *all, trl_rng *r, trl_nbest *got, tally *t)
{
    trl_error err;
    summed s;
    sum_up(w, all, &s);
    assert_ok(trl_chart_inside(&w->c, &w->t, &err));
    const double log_z = w->c.log_z;
    check_scores(w, &s, r);
    const size_t ask[] = {1, 2 + draw(r, 8), s.n, s.n + 3};
    for (size_t a = 0; a < 4; a++) {
        const bool sure = check_list(w, &s, log_z, ask[a], got);
        t->sure += sure;
        t->unsure += !sure;
        assert_true(sure || all->n > 10 * ask[a] + 100);
    }
    t->worlds++;
    t->several += s.several > 0;
    free_summed(&s);
}

/* Few labels and many trees: the same rules below VPs with other heads. */
static void ambiguous_subtree(trl_rng *r, int depth, trl_buf *out)
{
    static const char *const phrase[] = {"VP", "B"};
    static const char *const tag[] = {"x", "y"};
    if (depth == 0 || draw(r, 3) == 0) {
        trl_buf_fmt(out, "(%s w%u)", tag[draw(r, 2)], draw(r, 3));
        return;
    }
    const unsigned n = draw(r, 4) == 0 ? 1 : 2 + draw(r, 2) / 2;
    trl_buf_fmt(out, "(%s", phrase[draw(r, 2)]);
    for (unsigned k = 0; k < n; k++) {
        trl_buf_ch(out, ' ');
        ambiguous_subtree(r, depth - 1, out);
    }
    trl_buf_ch(out, ')');
}

static void ambiguous_world(world *w, trl_rng *r, unsigned how)
{
    trl_buf b = {0};
    *w = (world){0};
    for (size_t k = 0; k < 30; k++) {
        trl_buf_str(&b, "(TOP ");
        ambiguous_subtree(r, 3, &b);
        trl_buf_str(&b, ")\n");
    }
    read_text(&w->trees, b.data, b.len);
    trl_buf_fini(&b);
    world_read(w, how | 4, how % 3 == 0); /* with head tags */
}

static void on_worlds(uint64_t seed, double width, double shift, tally *t)
{
    trl_rng r = trl_rng_seed(seed);
    trl_nbest got = {0};
    for (unsigned round = 0; round < 160; round++) {
        world w;
        forest f;
        ambiguous_world(&w, &r, round);
        world_words(&w, &r, 2 + draw(&r, 3));
        world_skeleton(&w, &r, round % 2 ? 6 : 0);
        world_scores(&w, &r, width, shift, round % 8);
        if (all_trees(&f, &w) && roots(&f) && roots(&f)->n < 3000)
            check_world(&w, roots(&f), &r, &got, t);
        free_forest(&f);
        world_free(&w);
    }
    trl_nbest_fini(&got);
}

static void test_sums(void **state)
{
    (void)state;
    tally t = {0};
    on_worlds(21, 1.0, 0.0, &t);
    on_worlds(22, 4.0, -300.0, &t);
    assert_true(t.worlds > 150 && t.several > 50 && t.sure > 500 && t.unsure > 10);
}

/* Without log Z trees are ranked by their best derivations. */
static void test_scores_that_are_no_probabilities(void **state)
{
    (void)state;
    trl_error err;
    trl_rng r = trl_rng_seed(23);
    unsigned lists = 0;
    for (unsigned round = 0; round < 60; round++) {
        world w;
        forest f;
        trl_nbest got = {0};
        world_grammar(&w, &r, round, false);
        world_words(&w, &r, 3);
        world_skeleton(&w, &r, 0);
        world_scores(&w, &r, 1.0, 0.0, 0);
        if (all_trees(&f, &w) && roots(&f)) {
            double best = -(double)INFINITY;
            for (size_t k = 0; k < roots(&f)->n; k++)
                best = fmax(best, roots(&f)->at[k].score);
            assert_ok(trl_chart_nbest(&w.c, &w.t, &(trl_nbest_want){3, (double)NAN}, &got, &w.arena,
                                      &err));
            assert_near(got.tree[0].score, best, 1e-12);
            lists++;
        }
        trl_nbest_fini(&got);
        free_forest(&f);
        world_free(&w);
    }
    assert_true(lists > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_scores_that_are_no_probabilities),
    };
    return cmocka_run_group_tests(tests, read_heads, free_heads);
}
