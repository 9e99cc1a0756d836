/* test_grammar_relaxed.c -- relaxed rules against all triples of states. */
/* SPDX-License-Identifier: MIT */
#include "read_grammar.h"

/* ---- relaxed rules by brute force ----------------------------------------------------------- */

/* The part of a state's name that parent annotation does not touch: NP%T|x of NP%T^S|x; false
 * when it has none.  For labels without special characters only. */
static bool cut_above(const trl_grammar *g, uint32_t s, char rest[256], char above[256])
{
    const char *name = name_of(g, s), *hat = strchr(name, '^');
    if (!hat)
        return false;
    const size_t n = strcspn(hat + 1, "|");
    snprintf(above, 256, "%.*s", (int)n, hat + 1);
    snprintf(rest, 256, "%.*s%s", (int)(hat - name), name, hat + 1 + n);
    return true;
}

/* Is state `a` state `b` but for the annotation, which is `above`? */
static bool is_variant(const trl_grammar *g, uint32_t a, uint32_t b, const char *above)
{
    char rest_a[256], rest_b[256], above_a[256], above_b[256];
    return cut_above(g, a, rest_a, above_a) && cut_above(g, b, rest_b, above_b) &&
           strcmp(rest_a, rest_b) == 0 && strcmp(above_a, above) == 0 &&
           g->state[a].type == g->state[b].type;
}

/* Does some seen rule yield parent -> left right? */
static bool is_relaxed(const trl_grammar *g, uint32_t parent, uint32_t left, uint32_t right)
{
    char rest[256], above[256];
    if (!cut_above(g, parent, rest, above))
        return false;
    for (size_t r = 0; r < g->n_binary; r++) {
        const trl_binary *b = &g->binary[r];
        if (b->left == left && is_variant(g, parent, b->parent, above) &&
            (g->state[right].type == TRL_STATE_ACTIVE ? is_variant(g, right, b->right, above)
                                                      : right == b->right))
            return true;
    }
    return false;
}

static bool is_relaxed_unary(const trl_grammar *g, const trl_unary *u)
{
    char rest[256], above[256];
    if (!cut_above(g, u->parent, rest, above))
        return false;
    for (size_t r = 0; r < g->n_unary; r++) {
        const trl_unary *b = &g->unary[r];
        if (b->child == u->child && b->chain_length == u->chain_length &&
            (u->chain_length == 0 || !memcmp(&g->chain_pool[b->chain], &g->chain_pool[u->chain],
                                             u->chain_length * sizeof(uint32_t))) &&
            is_variant(g, u->parent, b->parent, above))
            return true;
    }
    return false;
}

static const char relax_text[] =
    "(TOP (S (NP (DT a) (JJ b) (NN c)) (VP (VBZ d) (NP (NN e)))))"
    "(TOP (S (NP (NN a)) (VP (VBZ b) (NP (DT c) (JJ d) (JJ f) (NN e)) (PP (IN o) (NP (NP (NN "
    "g)))))))"
    "(TOP (S (S (NP (NN x)) (VP (VBD y))) (CC and) (S (VP (TO to) (VP (VB go) (RB so))))))"
    "(TOP (NP (NP (DT a) (NN c)) (PP (IN o) (NP (DT a) (JJ q) (NN b)))))"
    "(TOP (FRAG (VP (VBZ x) (NP (NN e))) (S (VP (VBG y)))))";

static void test_relaxed(void **state)
{
    (void)state;
    tree_list l = {0};
    read_text(&l, relax_text, sizeof relax_text - 1);
    for (unsigned k = 0; k < N_SWITCHES; k++) {
        const trl_annotation a = switches(k);
        trl_grammar seen, g;
        size_t want = 0;
        build(&seen, &a, &l, false);
        build(&g, &a, &l, true);
        assert_int_equal(seen.n_states, g.n_states);
        for (uint32_t p = 0; p < g.n_states; p++)
            for (uint32_t x = 0; x < g.n_states; x++)
                for (uint32_t y = 0; y < g.n_states; y++)
                    want += is_relaxed(&seen, p, x, y);
        size_t known = 0, variants = 0;
        for (size_t r = 0; r < g.n_binary; r++) {
            const trl_binary *b = &g.binary[r];
            const bool is = is_relaxed(&seen, b->parent, b->left, b->right);
            variants += is;
            known += g.binary_count[r] > 0.0;
            assert_true(is || g.binary_count[r] > 0.0);
        }
        assert_int_equal(variants, want);
        assert_int_equal(known, seen.n_binary);
        if (!a.parents)
            assert_int_equal(g.n_binary + g.n_unary, seen.n_binary + seen.n_unary);
        else
            assert_true(g.n_binary > seen.n_binary && g.n_unary > seen.n_unary);
        known = 0;
        for (size_t r = 0; r < g.n_unary; r++) {
            known += g.unary_count[r] > 0.0;
            assert_true(g.unary_count[r] > 0.0 || is_relaxed_unary(&seen, &g.unary[r]));
        }
        assert_int_equal(known, seen.n_unary);
        trl_grammar_stats n;
        trl_grammar_count(&g, &n);
        assert_int_equal(n.binary - n.binary_relaxed, seen.n_binary);
        assert_int_equal(n.unary - n.unary_relaxed, seen.n_unary);
        assert_int_equal(n.tags + n.phrases + n.actives, g.n_states);
        trl_grammar_fini(&seen);
        trl_grammar_fini(&g);
    }
    free_trees(&l);
}

int main(void)
{
    trl_error err;
    if (trl_head_rules_read(NULL, &heads, &err) != TRL_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relaxed),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    trl_head_rules_free(heads);
    return failed;
}
