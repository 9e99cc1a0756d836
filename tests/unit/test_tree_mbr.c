/* Posteriors of brackets, the tree that maximises them, and trees for sentences without one. */
/* SPDX-License-Identifier: MIT */
#include "tree_oracle.h"

#include "chart/fallback.h"
#include "chart/mbr.h"

#define MOST_LABELS 16

/* p[cell][label], above[cell][label], any[cell][label], tag[word][label], by listing trees. */
typedef struct listed {
    double p[64][MOST_LABELS], above[64][MOST_LABELS], any[64][MOST_LABELS], tag[8][MOST_LABELS];
} listed;

/* Whether a node above v has its span and label. */
static bool repeated(const trl_node *node, size_t v)
{
    uint32_t u = node[v].parent;
    while (u != TRL_NO_NODE && (node[u].label != node[v].label || node[u].from != node[v].from ||
                                node[u].to != node[v].to))
        u = node[u].parent;
    return u != TRL_NO_NODE;
}

static void list_brackets(const world *w, const ders *all, double log_z, listed *out)
{
    trl_error err;
    trl_btree t = {0};
    trl_node *node = NULL;
    size_t n, cap = 0;
    assert_true(w->g.labels.n <= MOST_LABELS);
    memset(out, 0, sizeof *out);
    for (size_t k = 0; k < all->n; k++) {
        const double p = exp(all->at[k].score - log_z);
        tree_of(w, &all->at[k], &t);
        assert_ok(trl_grammar_decode(&w->g, &t, &node, &n, &cap, &err));
        for (size_t v = 0; v < n; v++) {
            const trl_node *x = &node[v];
            const size_t cell = trl_cell(x->from, x->to);
            if (x->child == TRL_NO_NODE) {
                out->tag[x->from][x->label] += p;
                continue;
            }
            out->p[cell][x->label] += p;
            out->any[cell][x->label] += repeated(node, v) ? 0.0 : p;
            for (uint32_t u = x->parent;
                 u != TRL_NO_NODE && node[u].from == x->from && node[u].to == x->to;
                 u = node[u].parent)
                out->above[cell][x->label] += p;
        }
    }
    trl_btree_fini(&t);
    trl_free(node);
}

static void check_brackets(const world *w, const trl_brackets *b, const listed *want)
{
    for (size_t cell = 0; cell < trl_chart_cells(w->n); cell++) {
        bool seen[MOST_LABELS] = {0};
        for (uint32_t k = b->first[cell]; k < b->first[cell + 1]; k++) {
            const trl_bracket *x = &b->bracket[k];
            assert_near(x->p, want->p[cell][x->label], 1e-11);
            assert_near(x->above, want->above[cell][x->label], 1e-11);
            assert_near(x->any, want->any[cell][x->label], 1e-11);
            assert_true(x->any < 1.0 + 1e-11);
            assert_true(k == b->first[cell] || x[-1].p >= x->p);
            assert_false(seen[x->label]);
            seen[x->label] = true;
        }
        for (size_t l = 0; l < w->g.labels.n; l++)
            assert_true(seen[l] || want->p[cell][l] < 1.1e-4);
    }
    for (size_t i = 0; i < w->n; i++) {
        assert_near(b->tag_p[i], want->tag[i][b->tag[i]], 1e-11);
        for (size_t l = 0; l < w->g.labels.n; l++)
            assert_true(want->tag[i][l] <= b->tag_p[i] + 1e-9);
    }
}

/* A tree as trees.h wants it: preorder, links and spans right. */
static void check_shape(const trl_node *node, size_t n, size_t words)
{
    assert_true(n > 0 && node[0].parent == TRL_NO_NODE && node[0].from == 0 && node[0].to == words);
    for (uint32_t v = 0; v < n; v++) {
        uint32_t at = node[v].from, last = v;
        if (node[v].child == TRL_NO_NODE) {
            assert_int_equal(node[v].to, node[v].from + 1);
            continue;
        }
        assert_int_equal(node[v].child, v + 1);
        for (uint32_t c = node[v].child; c != TRL_NO_NODE; c = node[c].next) {
            assert_true(c > last && c < n && node[c].parent == v);
            assert_int_equal(node[c].from, at);
            at = node[c].to;
            last = c;
        }
        assert_int_equal(at, node[v].to);
    }
}

static bool crossing(size_t a, size_t b, size_t i, size_t j)
{
    return (a < i && i < b && b < j) || (i < a && a < j && j < b);
}

/* The largest sum over sets of spans that do not cross. */
static double best_bracketing(const world *w, const listed *l, double lambda)
{
    size_t from[16], to[16], n = 0;
    double gain[16], words = 0.0, best = -1.0;
    for (size_t j = 1; j <= w->n; j++)
        for (size_t i = 0; i < j; i++) {
            double g = 0.0;
            for (size_t k = 0; k < w->g.labels.n; k++)
                g += fmax(l->p[trl_cell(i, j)][k] - lambda, 0.0);
            words += j - i == 1 ? g : 0.0;
            if (j - i == 1)
                continue;
            from[n] = i;
            to[n] = j;
            gain[n++] = g;
        }
    for (uint32_t set = 0; set < 1u << n; set++) {
        double sum = words;
        bool ok = true;
        for (size_t a = 0; a < n && ok; a++)
            for (size_t b = 0; b < a && ok; b++)
                ok = !(set >> a & 1 && set >> b & 1) || !crossing(from[a], to[a], from[b], to[b]);
        for (size_t a = 0; a < n; a++)
            sum += set >> a & 1 ? gain[a] : 0.0;
        best = ok && sum > best ? sum : best;
    }
    return best;
}

/* What the phrase below the root adds, where none of its labels is worth lambda: at most 0. */
static double root_phrase(const world *w, const listed *l, double lambda)
{
    double sum = 0.0, best = 0.0;
    for (size_t k = 0; k < w->g.labels.n; k++) {
        const double p = l->p[trl_cell(0, w->n)][k];
        if (k == w->g.state[w->g.root].base)
            continue;
        sum += p > 1e-4 ? p : 0.0; /* of brackets that are kept */
        best = fmax(best, p);
    }
    return sum > 0.5 && best <= lambda ? best - lambda : 0.0;
}

static void check_mbr(world *w, const listed *l, const trl_brackets *b, double lambda)
{
    trl_error err;
    static trl_nodes tree;
    double sum = 0.0;
    const uint32_t root = w->g.state[w->g.root].base;
    assert_ok(trl_mbr_tree(b, root, lambda, &tree, &w->arena, &err));
    check_shape(tree.node, tree.n, w->n);
    assert_int_equal(tree.node[0].label, root);
    for (size_t v = 0; v < tree.n; v++) {
        if (tree.node[v].child == TRL_NO_NODE)
            assert_int_equal(tree.node[v].label, b->tag[tree.node[v].from]);
        else
            sum += l->p[trl_cell(tree.node[v].from, tree.node[v].to)][tree.node[v].label] - lambda;
    }
    assert_near(sum, best_bracketing(w, l, lambda) + root_phrase(w, l, lambda), 1e-9);
}

static void test_mbr(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(31);
    unsigned whole = 0, twice = 0;
    static listed l;
    for (unsigned round = 0; round < 150; round++) {
        trl_error err;
        world w;
        forest f;
        trl_brackets b;
        world_grammar(&w, &r, round, round % 3 == 0);
        world_words(&w, &r, 1 + draw(&r, 4));
        world_skeleton(&w, &r, round % 2 ? 8 : 0);
        world_scores(&w, &r, 2.0, 0.0, round % 8);
        if (all_trees(&f, &w) && roots(&f)) {
            whole++;
            assert_ok(trl_chart_inside(&w.c, &w.t, &err));
            trl_chart_outside(&w.c, &w.t, NULL);
            assert_ok(trl_chart_brackets(&w.c, &b, &w.arena, &err));
            list_brackets(&w, roots(&f), w.c.log_z, &l);
            check_brackets(&w, &b, &l);
            for (uint32_t k = 0; k < b.first[trl_chart_cells(w.n)]; k++)
                twice += b.bracket[k].any < b.bracket[k].p - 1e-3;
            static const double lambda[] = {0.05, 0.3, 0.5, 0.9};
            for (size_t k = 0; k < 4; k++)
                check_mbr(&w, &l, &b, lambda[k]);
        }
        free_forest(&f);
        world_free(&w);
    }
    assert_true(whole > 60 && twice > 10);
}

/* The root's label inside a sentence is a label like any other. */
static void test_root_label_inside(void **state)
{
    (void)state;
    trl_error err;
    trl_arena arena = {0};
    trl_nodes tree = {0};
    uint32_t first[] = {0, 0, 1, 1, 2, 2, 3};
    trl_bracket bracket[] = {{1, 0.9, 0.9, 0.9}, {1, 0.8, 0.8, 0.8}, {1, 1.0, 1.0, 1.0}};
    uint32_t tag[] = {2, 2, 2};
    double tag_p[] = {1, 1, 1};
    /* cells of 3 words: (0,1) (0,2) (1,2) (0,3) (1,3) (2,3) */
    const trl_brackets b = {3, first, bracket, tag, tag_p, NULL, 0};
    assert_ok(trl_mbr_tree(&b, 1, 0.5, &tree, &arena, &err));
    check_shape(tree.node, tree.n, 3);
    assert_int_equal(tree.n, 6); /* (1 (1 2 2) (1 2)) */
    assert_int_equal(tree.node[1].label, 1);
    assert_int_equal(tree.node[1].to, 2);
    trl_free(tree.node);
    trl_arena_fini(&arena);
}

/* ---- fallback -------------------------------------------------------------------------------- */

static const der *best_piece(const forest *f, size_t i, size_t j, trl_state_type type)
{
    const world *w = f->w;
    const der *best = NULL;
    for (uint32_t x = w->s.first[trl_cell(i, j)]; x < w->s.first[trl_cell(i, j) + 1]; x++) {
        const trl_state *s = &w->g.state[w->s.item[x] & TRL_STATE_MASK];
        for (size_t k = 0; k < f->after[x].n; k++)
            if (s->type == type && s->base != w->g.state[w->g.root].base &&
                (!best || f->after[x].at[k].score > best->score))
                best = &f->after[x].at[k];
    }
    return best;
}

/* Every way to cut the sentence: bit k of `cuts` is a cut after word k. */
static uint32_t best_cuts(const forest *f, size_t *pieces)
{
    const size_t n = f->w->n;
    uint32_t best = 0;
    double top = 0.0;
    *pieces = SIZE_MAX;
    for (uint32_t cuts = 0; cuts < 1u << (n - 1); cuts++) {
        double sum = 0.0;
        size_t m = 0, from = 0;
        bool ok = true;
        for (size_t k = 0; k < n && ok; k++) {
            if (k + 1 < n && !(cuts >> k & 1))
                continue;
            const size_t to = k + 1;
            const der *d =
                best_piece(f, from, to, to - from == 1 ? TRL_STATE_TAG : TRL_STATE_PHRASE);
            ok = d || to - from == 1;
            sum += d ? d->score : 0.0;
            m++;
            from = to;
        }
        if (ok && (m < *pieces || (m == *pieces && sum > top))) {
            best = cuts;
            top = sum;
            *pieces = m;
        }
    }
    return best;
}

/* No tag is likelier than `got`. */
static bool likeliest(const world *w, size_t i, uint32_t got)
{
    uint32_t tags[128];
    double logp[128], top = -1.0, own = 0.0;
    assert_true(w->g.n_states <= 128);
    const size_t n = trl_lexicon_tags(&w->x, &w->g, trl_lexicon_word(&w->x, w->word[i]),
                                      trl_lexicon_class(&w->x, w->word[i], i), tags, logp);
    for (uint32_t l = 0; l < w->g.labels.n; l++) {
        double p = 0.0;
        for (size_t k = 0; k < n; k++)
            if (w->g.state[tags[k]].base == l)
                p += exp(logp[k]) * w->x.state_count[tags[k]];
        own = l == got ? p : own;
        top = p > top ? p : top;
    }
    return own > 0.0 && own >= top * (1.0 - 1e-12);
}

static void check_pieces(world *w, const forest *f, const trl_node *node, size_t n)
{
    trl_error err;
    trl_btree t = {0};
    trl_node *want = NULL;
    size_t n_want, cap = 0, pieces, made = 0;
    const uint32_t cuts = best_cuts(f, &pieces);
    for (uint32_t c = node[0].child; c != TRL_NO_NODE; c = node[c].next, made++) {
        const size_t i = node[c].from, j = node[c].to;
        assert_true(j == w->n || (cuts >> (j - 1) & 1));
        if (j - i == 1) {
            assert_int_equal(node[c].child, TRL_NO_NODE);
            continue;
        }
        tree_of(w, best_piece(f, i, j, TRL_STATE_PHRASE), &t);
        assert_ok(trl_grammar_decode(&w->g, &t, &want, &n_want, &cap, &err));
        assert_true(c + n_want <= n);
        for (size_t k = 0; k < n_want; k++)
            assert_true(node[c + k].label == want[k].label && node[c + k].from == want[k].from &&
                        node[c + k].to == want[k].to);
    }
    assert_int_equal(made, pieces);
    trl_btree_fini(&t);
    trl_free(want);
}

static void test_fallback(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(32);
    unsigned phrases = 0, several = 0;
    trl_nodes tree = {0};
    for (unsigned round = 0; round < 150; round++) {
        trl_error err;
        world w;
        forest f;
        world_grammar(&w, &r, round, false);
        world_words(&w, &r, 1 + draw(&r, 5));
        world_skeleton(&w, &r, 3);
        world_scores(&w, &r, 1.0, 0.0, round % 8);
        if (all_trees(&f, &w)) {
            if (round % 2)
                assert_ok(trl_chart_inside(&w.c, &w.t, &err));
            else
                assert_ok(trl_chart_best(&w.c, &w.t, &w.arena, &err));
            assert_ok(trl_fallback_tree(&(trl_fallback){&w.g, &w.x, w.word, w.n, &w.c, &w.t}, &tree,
                                        &w.arena, &err));
            check_shape(tree.node, tree.n, w.n);
            check_pieces(&w, &f, tree.node, tree.n);
            phrases += tree.n > w.n + 1;
            several += tree.n > w.n + 1 && tree.node[tree.node[0].child].next != TRL_NO_NODE;
        }
        assert_ok(trl_fallback_tree(&(trl_fallback){&w.g, &w.x, w.word, w.n, NULL, NULL}, &tree,
                                    &w.arena, &err));
        check_shape(tree.node, tree.n, w.n);
        assert_int_equal(tree.n, w.n + 1);
        assert_int_equal(tree.node[0].label, w.g.state[w.g.root].base);
        for (size_t i = 0; i < w.n; i++)
            assert_true(likeliest(&w, i, tree.node[1 + i].label));
        free_forest(&f);
        world_free(&w);
    }
    assert_true(phrases > 40 && several > 20);
    trl_free(tree.node);
}

/* Scores too large for any sum: a flat tree. */
static void test_fallback_overflow(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(33);
    trl_error err;
    trl_nodes tree = {0};
    world w;
    world_grammar(&w, &r, 0, false);
    world_words(&w, &r, 4);
    world_skeleton(&w, &r, 0);
    world_scores(&w, &r, 1.0, 2000.0, 0);
    assert_ok(trl_fallback_tree(&(trl_fallback){&w.g, &w.x, w.word, 4, &w.c, &w.t}, &tree, &w.arena,
                                &err));
    assert_int_equal(tree.n, 5);
    trl_free(tree.node);
    world_free(&w);
}

/* Shares of two opinions, sorted anew; labels the other does not know lose their share. */
static void test_mix(void **state)
{
    (void)state;
    uint32_t first[] = {0, 0, 3, 3}, other_first[] = {0, 1, 3, 3};
    trl_bracket b[] = {{4, 0.6, 0.5, 0.6}, {2, 0.5, 0.5, 0.4}, {7, 0.1, 0.0, 0.1}};
    trl_bracket q[] = {{4, 0.9, 0.9, 0.9}, {2, 1.0, 0.8, 0.8}, {9, 0.7, 0.7, 0.7}};
    trl_brackets x = {.n = 2, .first = first, .bracket = b};
    const trl_brackets other = {.n = 2, .first = other_first, .bracket = q};
    trl_brackets_mix(&x, &other, 0.25);
    assert_int_equal(b[0].label, 2);
    assert_near(b[0].p, 0.625, 1e-12);
    assert_near(b[0].above, 0.575, 1e-12);
    assert_near(b[0].any, 0.5, 1e-12);
    assert_int_equal(b[1].label, 4);
    assert_near(b[1].p, 0.45, 1e-12);
    assert_int_equal(b[2].label, 7);
    assert_near(b[2].p, 0.075, 1e-12);
}

/* Means of two charts with other numbers for the labels; what one does not have counts 0 there. */
static void test_average(void **state)
{
    (void)state;
    trl_error err;
    trl_arena arena = {0};
    trl_brackets out;
    uint32_t first[] = {0, 0, 2, 2}, other_first[] = {0, 1, 4, 4};
    trl_bracket b[] = {{4, 0.6, 0.5, 0.6}, {2, 0.5, 0.5, 0.4}};
    trl_bracket q[] = {
        {0, 0.8, 0.4, 0.8}, {1, 1.0, 0.7, 0.8}, {0, 0.7, 0.7, 0.7}, {2, 0.9, 0.9, 0.9}};
    static const uint32_t label[] = {9, 2, TRL_NO_ID};
    uint32_t tag[] = {5, 6};
    const trl_brackets x = {.n = 2, .first = first, .bracket = b, .tag = tag};
    const trl_brackets y = {.n = 2, .first = other_first, .bracket = q};
    assert_ok(trl_brackets_average((const trl_brackets *[]){&x, &y},
                                   (const uint32_t *[]){NULL, label}, 2, &out, &arena, &err));
    static const trl_bracket want[] = {
        {9, 0.4, 0.2, 0.4}, {2, 0.75, 0.6, 0.6}, {9, 0.35, 0.35, 0.35}, {4, 0.3, 0.25, 0.3}};
    static const uint32_t want_first[] = {0, 1, 4, 4};
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(out.first[k], want_first[k]);
        assert_int_equal(out.bracket[k].label, want[k].label);
        assert_near(out.bracket[k].p, want[k].p, 1e-12);
        assert_near(out.bracket[k].above, want[k].above, 1e-12);
        assert_near(out.bracket[k].any, want[k].any, 1e-12);
    }
    assert_ptr_equal(out.tag, tag);
    trl_arena_fini(&arena);
}

/* Labels over one span stand in the order of their depths, also below the root, whatever their
 * probabilities are. */
static void test_chain_order(void **state)
{
    (void)state;
    trl_error err;
    trl_arena arena = {0};
    trl_nodes tree = {0};
    uint32_t first[] = {0, 4}, tag[] = {9};
    double tag_p[] = {1.0};
    trl_bracket b[] = {
        {0, 1.0, 0.0, 1.0}, {3, 0.95, 1.8, 0.95}, {5, 0.9, 0.92, 0.9}, {7, 0.6, 1.7, 0.6}};
    const trl_brackets x = {.n = 1, .first = first, .bracket = b, .tag = tag, .tag_p = tag_p};
    assert_ok(trl_mbr_tree(&x, 0, 0.44, &tree, &arena, &err));
    assert_int_equal(tree.n, 5);
    static const uint32_t want[] = {0, 5, 3, 7, 9};
    for (size_t k = 0; k < 5; k++) {
        assert_int_equal(tree.node[k].label, want[k]);
        assert_int_equal(tree.node[k].parent, k ? k - 1 : TRL_NO_NODE);
    }
    trl_free(tree.node);
    trl_arena_fini(&arena);
}

/* Below the root a phrase that is more probable than none has its most probable label, though that
 * is below lambda; one that is less probable is left out. */
static void test_root_phrase(void **state)
{
    (void)state;
    trl_error err;
    trl_arena arena = {0};
    trl_nodes tree = {0};
    uint32_t first[] = {0, 0, 3, 3}, tag[] = {8, 9};
    double tag_p[] = {1.0, 1.0};
    trl_bracket b[] = {{0, 1.0, 0.0, 1.0}, {3, 0.35, 0.35, 0.35}, {5, 0.2, 0.2, 0.2}};
    const trl_brackets x = {.n = 2, .first = first, .bracket = b, .tag = tag, .tag_p = tag_p};
    assert_int_equal(trl_cell(0, 2), 1);
    assert_ok(trl_mbr_tree(&x, 0, 0.44, &tree, &arena, &err));
    assert_int_equal(tree.n, 4);
    assert_int_equal(tree.node[1].label, 3);
    assert_int_equal(tree.node[2].parent, 1);
    assert_int_equal(tree.node[3].parent, 1);
    b[2].p = 0.1;
    assert_ok(trl_mbr_tree(&x, 0, 0.44, &tree, &arena, &err));
    assert_int_equal(tree.n, 3);
    trl_free(tree.node);
    trl_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mix),         cmocka_unit_test(test_chain_order),
        cmocka_unit_test(test_root_phrase), cmocka_unit_test(test_average),
        cmocka_unit_test(test_mbr),         cmocka_unit_test(test_root_label_inside),
        cmocka_unit_test(test_fallback),    cmocka_unit_test(test_fallback_overflow),
    };
    return cmocka_run_group_tests(tests, read_heads, free_heads);
}
