/* test_grammar_smoothed.c -- rules never seen, against their definition; every sentence has a tree.
 */
/* SPDX-License-Identifier: MIT */
#include "tree_oracle.h"

#include "chart/constrain.h"
#include "grammar/grammar_parts.h"

/* ---- the expected counts, one by one --------------------------------------------------------- */

static bool is_active(const trl_grammar *g, uint32_t s)
{
    return g->state[s].type == TRL_STATE_ACTIVE;
}

/* How often a state that is not active is a child, of the base label `below` (TRL_NO_ID: of any) in
 * binary rules, and in unary ones, if `unary`. */
static double child_count(const trl_grammar *g, uint32_t child, uint32_t below, bool unary)
{
    double sum = 0.0;
    for (size_t r = 0; r < g->n_binary; r++) {
        const trl_binary *b = &g->binary[r];
        if (below != TRL_NO_ID && g->state[b->parent].base != below)
            continue;
        sum += ((b->left == child) + (b->right == child)) * g->binary_count[r];
    }
    for (size_t r = 0; unary && r < g->n_unary; r++)
        sum += (g->unary[r].child == child) * g->unary_count[r];
    return sum;
}

static double all_children(const trl_grammar *g, uint32_t below, bool unary)
{
    double sum = 0.0;
    for (uint32_t s = 0; s < g->n_states; s++)
        sum += is_active(g, s) ? 0.0 : child_count(g, s, below, unary);
    return sum;
}

/* l(child | parent), right: r(child | parent). */
static double side(const trl_grammar *g, uint32_t parent, uint32_t child, bool right, double total)
{
    const uint32_t base = g->state[parent].base;
    double sum = 0.0;
    if (child == g->root || (is_active(g, child) && (!right || g->state[child].base != base)))
        return 0.0;
    for (size_t r = 0; r < g->n_binary; r++)
        if (g->binary[r].parent == parent &&
            (right ? g->binary[r].right : g->binary[r].left) == child)
            sum += g->binary_count[r];
    sum += is_active(g, child)
               ? 1.0
               : 2.0 * child_count(g, child, base, false) / all_children(g, base, false) +
                     child_count(g, child, TRL_NO_ID, true) / all_children(g, TRL_NO_ID, true);
    return sum / (total + 3.0);
}

static uint32_t find_rule(const trl_grammar *g, uint32_t parent, uint32_t left, uint32_t right)
{
    for (uint32_t r = 0; r < g->n_binary; r++)
        if (g->binary[r].parent == parent && g->binary[r].left == left &&
            g->binary[r].right == right)
            return r;
    return TRL_NO_ID;
}

/* Whether a rule is one of those that hold any pieces together. */
static bool is_glue(const trl_grammar *g, const trl_binary *b)
{
    return g->state[b->parent].base == 0 && g->state[b->right].type != TRL_STATE_TAG;
}

/* ---- marks at the end of sentences ----------------------------------------------------------- */

/* By label: phrases below the root, and anywhere; tags that end the former; words; bits of the
 * labels that end with a tag. */
typedef struct root_counts {
    double below[64], any[64], ends[64], words[64], all;
    uint64_t ended[64];
} root_counts;

static bool is_phrase(const trl_grammar *g, uint32_t s)
{
    return g->state[s].type == TRL_STATE_PHRASE;
}

typedef struct listed_tree {
    const trl_grammar *g;
    const trl_tree *t;
    const trl_strtab *labels;
} listed_tree;

static uint32_t label_of(const listed_tree *x, uint32_t v)
{
    const trl_str name = trl_strtab_get(x->labels, x->t->node[v].label);
    return trl_strtab_find(&x->g->labels, name.p, name.n);
}

static void count_root(const listed_tree *of, root_counts *x)
{
    const trl_tree *t = of->t;
    uint32_t top = TRL_NO_NODE, last = TRL_NO_NODE, tops = 0, lasts = 0;
    for (uint32_t v = 1; v < t->n_nodes; v++) {
        const bool tag = t->node[v].child == TRL_NO_NODE;
        *(tag ? &x->words[label_of(of, v)] : &x->any[label_of(of, v)]) += 1.0;
        top = t->node[v].parent == 0 ? v : top;
        tops += t->node[v].parent == 0;
    }
    for (uint32_t v = 1; v < t->n_nodes; v++)
        if (t->node[v].parent == top) {
            last = v;
            lasts++;
        }
    if (tops != 1 || lasts == 0)
        return;
    x->below[label_of(of, top)] += 1.0;
    x->all += 1.0;
    if (lasts == 1 || t->node[last].child != TRL_NO_NODE)
        return;
    x->ends[label_of(of, last)] += 1.0;
    x->ended[label_of(of, last)] |= UINT64_C(1) << label_of(of, top);
}

static root_counts count_roots(const trl_grammar *g, const tree_list *l)
{
    root_counts x = {0};
    assert_true(g->labels.n <= 64);
    for (size_t k = 0; k < l->n; k++)
        count_root(&(listed_tree){g, &l->tree[k], &l->labels}, &x);
    return x;
}

static double mark_share(const trl_grammar *g, const root_counts *x, uint32_t state)
{
    const uint32_t tag = g->state[state].base;
    const double share = x->all > 0.0 ? x->ends[tag] / x->all : 0.0;
    const bool several = (x->ended[tag] & (x->ended[tag] - 1)) != 0;
    return g->state[state].type == TRL_STATE_TAG && share >= 0.05 && several &&
                   x->ends[tag] >= 0.5 * x->words[tag]
               ? share
               : 0.0;
}

static double enough(double e, double part)
{
    return e >= TRL_SMOOTH_LEAST ? e * part : 0.0;
}

/* What is added to the count of the unseen rule a -> b c because phrases below the root may end
 * with a mark. */
static double mark_count(const trl_grammar *g, const root_counts *x, uint32_t a, uint32_t b,
                         uint32_t c)
{
    const uint32_t label = g->state[a].base;
    const double share = mark_share(g, x, c), n = x->below[label] + 1.0;
    double sum = 0.0;
    if (label == 0 || x->below[label] == 0.0)
        return 0.0;
    const double part = x->below[label] / x->any[label];
    for (size_t r = 0; share > 0.0 && is_phrase(g, a) && r < g->n_unary; r++) {
        const trl_unary *u = &g->unary[r];
        if (u->parent == g->root && u->child == b && u->chain_length == 1 &&
            g->chain_pool[u->chain] == label)
            sum += enough(g->unary_count[r] * share / n, 1.0);
    }
    for (size_t r = 0; r < g->n_binary; r++) {
        const trl_binary *s = &g->binary[r];
        if (g->state[s->parent].base != label || is_active(g, s->right) ||
            mark_share(g, x, s->right) > 0.0)
            continue;
        if (is_active(g, a) && s->right == b)
            sum += enough(g->binary_count[r] * share / n, part);
        for (uint32_t m = 0; is_active(g, c) && g->state[c].base == label && s->parent == a &&
                             s->left == b && m < g->n_states;
             m++)
            sum += enough(g->binary_count[r] * mark_share(g, x, m) / n, part);
    }
    return sum;
}

/* Every binary rule of the smoothed grammar `g`, and none else: seen, or expected. */
static void check_binary(const trl_grammar *seen, const trl_grammar *g, const root_counts *roots,
                         size_t *added, size_t *marked)
{
    for (uint32_t a = 0; a < seen->n_states; a++) {
        double total = 0.0, once = 0.5;
        for (size_t r = 0; r < seen->n_binary; r++)
            if (seen->binary[r].parent == a) {
                total += seen->binary_count[r];
                once += seen->binary_count[r] == 1.0;
            }
        double l[64], s[64];
        for (uint32_t b = 0; total > 0.0 && b < seen->n_states; b++) {
            l[b] = side(seen, a, b, false, total);
            s[b] = side(seen, a, b, true, total);
        }
        for (uint32_t b = 0; b < seen->n_states; b++)
            for (uint32_t c = 0; c < seen->n_states; c++) {
                const uint32_t was = find_rule(seen, a, b, c), is = find_rule(g, a, b, c);
                double e = total > 0.0 ? once * l[b] * s[c] : 0.0;
                const double mark = mark_count(seen, roots, a, b, c);
                *marked += was == TRL_NO_ID && mark > 0.0;
                if (mark > 0.0) /* whatever else is expected */
                    e = mark + (e < TRL_SMOOTH_LEAST ? 0.0 : e);
                if (was != TRL_NO_ID) {
                    assert_true(g->binary_count[is] == seen->binary_count[was]);
                } else if (is != TRL_NO_ID && mark == 0.0 && e < TRL_SMOOTH_LEAST * (1.0 - 1e-12)) {
                    assert_true(is_glue(g, &g->binary[is]));
                } else if (e > TRL_SMOOTH_LEAST * (1.0 + 1e-12) || mark > 0.0) {
                    assert_int_not_equal(is, TRL_NO_ID);
                    assert_near(g->binary_count[is], e, 1e-12);
                    ++*added;
                }
            }
    }
}

/* Flat phrases below the root, of which the last label's never end with the mark. */
static void marked_treebank(trl_rng *r, size_t n, tree_list *l)
{
    static const char *const label[] = {"P", "VP", "R"}, *const tag[] = {"a", "V", "c"};
    trl_buf b = {0};
    for (size_t k = 0; k < n; k++) {
        const uint32_t which = draw(r, 3);
        trl_buf_fmt(&b, "(TOP (%s", label[which]);
        for (size_t words = 1 + draw(r, 3); words > 0; words--)
            trl_buf_fmt(&b, draw(r, 3) ? " (%s w1)" : " (P (%s w2))", tag[draw(r, 3)]);
        trl_buf_str(&b, which < 2 && draw(r, 3) ? " (. .)))\n" : "))\n");
    }
    read_text(l, b.data, b.len);
    trl_buf_fini(&b);
}

static void test_expected_counts(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(31);
    size_t added = 0, marked = 0;
    for (int round = 0; round < 40; round++) {
        tree_list l = {0};
        trl_grammar seen, g;
        const trl_annotation none = {0};
        (round % 2 ? marked_treebank : small_treebank)(&r, 3 + draw(&r, 12), &l);
        build(&seen, &none, &l, TRL_RULES_SEEN);
        build(&g, &none, &l, TRL_RULES_SMOOTHED);
        assert_true(seen.n_states < 64 && g.n_states <= seen.n_states + 1 + seen.labels.n);
        for (uint32_t s = 0; s < seen.n_states; s++)
            assert_string_equal(name_of(&seen, s), name_of(&g, s));
        const root_counts roots = count_roots(&seen, &l);
        check_binary(&seen, &g, &roots, &added, &marked);
        trl_grammar_fini(&seen);
        trl_grammar_fini(&g);
        free_trees(&l);
    }
    assert_true(added > 500 && marked > 20);
}

/* ---- coarse and fine ------------------------------------------------------------------------- */

static bool has_unary(const trl_grammar *g, uint32_t parent, uint32_t child)
{
    for (size_t r = 0; r < g->n_unary; r++)
        if (g->unary[r].parent == parent && g->unary[r].child == child)
            return true;
    return false;
}

/* What the fine grammar can do the coarse one can: pruning by it loses nothing. */
static void test_projection(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(32);
    for (unsigned round = 0; round < 2 * N_SWITCHES; round++) {
        tree_list l = {0};
        trl_grammar coarse, fine;
        const trl_annotation none = {0}, a = switches(round % N_SWITCHES);
        (round % 3 ? marked_treebank : small_treebank)(&r, 3 + draw(&r, 12), &l);
        build(&coarse, &none, &l, TRL_RULES_SMOOTHED);
        build(&fine, &a, &l, TRL_RULES_SMOOTHED);
        uint32_t *up = trl_alloc(fine.n_states, sizeof *up);
        trl_grammar_project(&fine, &coarse, up);
        for (size_t k = 0; k < fine.n_binary; k++) {
            const trl_binary *b = &fine.binary[k];
            assert_int_not_equal(find_rule(&coarse, up[b->parent], up[b->left], up[b->right]),
                                 TRL_NO_ID);
        }
        for (size_t k = 0; k < fine.n_unary; k++)
            assert_true(has_unary(&coarse, up[fine.unary[k].parent], up[fine.unary[k].child]));
        trl_free(up);
        trl_grammar_fini(&coarse);
        trl_grammar_fini(&fine);
        free_trees(&l);
    }
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Rules seen at most once, without annotation, share a class with others of their parent and the
 * types of their children, all other rules with those of the same plain states alone. */
static void test_classes(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(33);
    size_t shared = 0;
    for (unsigned round = 0; round < 12; round++) {
        tree_list l = {0};
        trl_grammar g;
        const trl_annotation a = switches(round);
        (round % 3 ? marked_treebank : small_treebank)(&r, 10, &l);
        build(&g, &a, &l, TRL_RULES_SMOOTHED);
        for (size_t x = 0; x < g.n_binary; x++) {
            const trl_binary *b = &g.binary[x];
            double count = 0.0;
            for (size_t y = 0; y < g.n_binary; y++) {
                const trl_binary *c = &g.binary[y];
                const bool same_parent = g.state[b->parent].plain == g.state[c->parent].plain;
                const bool same = same_parent && g.state[b->left].plain == g.state[c->left].plain &&
                                  g.state[b->right].plain == g.state[c->right].plain;
                const bool types = g.state[b->left].type == g.state[c->left].type &&
                                   g.state[b->right].type == g.state[c->right].type;
                count += same && g.binary_count[y] >= 1.0 ? g.binary_count[y] : 0.0;
                if (same)
                    assert_int_equal(b->plain, c->plain);
                else if (b->plain == c->plain)
                    assert_true(same_parent && types);
            }
            for (size_t y = 0; y < g.n_binary; y++) {
                const trl_binary *c = &g.binary[y];
                const bool same = g.state[b->left].plain == g.state[c->left].plain &&
                                  g.state[b->right].plain == g.state[c->right].plain;
                shared += !same && b->plain == c->plain;
                if (count >= 2.0 && !same)
                    assert_int_not_equal(b->plain, c->plain);
            }
        }
        trl_grammar_fini(&g);
        free_trees(&l);
    }
    assert_true(shared > 0);
}

/* ---- every sentence has a tree --------------------------------------------------------------- */

static void test_every_sentence(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(34);
    for (unsigned round = 0; round < 120; round++) {
        world w;
        trl_error err;
        bool complete;
        world_grammar(&w, &r, round, TRL_RULES_SMOOTHED);
        world_words(&w, &r, 1 + draw(&r, 6));
        world_skeleton(&w, &r, 0);
        trl_constraint known[8];
        size_t n = 0;
        for (size_t i = 0; i < w.n; i++) { /* any tag for any word */
            uint32_t s = draw(&r, (unsigned)w.g.n_states);
            while (w.g.state[s].type != TRL_STATE_TAG)
                s = (s + 1) % (uint32_t)w.g.n_states;
            known[n++] = (trl_constraint){TRL_CONSTRAIN_TAG, i, i + 1, w.g.state[s].base};
        }
        bool phrases = false;
        for (size_t s = 0; s < w.g.n_states; s++)
            phrases |= w.g.state[s].type == TRL_STATE_PHRASE && s != w.g.root;
        assert_ok(
            trl_constrain(&w.g, &(trl_constraints){known, n}, &w.s, &complete, &w.arena, &err));
        assert_true(complete || !phrases);
        world_free(&w);
    }
}

/* Sums over the charts of a smoothed grammar against all trees, one by one. */
static void test_sums(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(35);
    unsigned with_tree = 0;
    for (unsigned round = 0; round < 40; round++) {
        world w;
        forest f;
        trl_error err;
        world_grammar(&w, &r, round, TRL_RULES_SMOOTHED);
        world_words(&w, &r, 1 + draw(&r, 3));
        world_skeleton(&w, &r, 3);
        world_scores(&w, &r, 1.0, 0.0, round % 8);
        if (all_trees(&f, &w) && roots(&f)) {
            with_tree++;
            assert_ok(trl_chart_inside(&w.c, &w.t, &err));
            assert_near(w.c.log_z, log_sum(roots(&f)), 1e-12);
        }
        free_forest(&f);
        world_free(&w);
    }
    assert_true(with_tree > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expected_counts),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_every_sentence),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, read_heads, free_heads);
}
