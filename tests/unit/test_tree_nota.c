/* Which wrong edges become NOTA instances. */
/* SPDX-License-Identifier: MIT */
#include "tree_local_bank.h"

#include "train_tree/obj_pt_cfg.h"

static const trl_str *words_of(const void *ctx, size_t source)
{
    return ((const bank *)ctx)->trees.tree[source].word;
}

static bool in_gold(const trl_btree *t, const trl_span_state *s)
{
    for (size_t x = 0; x < t->n; x++) {
        bool below = false;
        for (size_t y = 0; y < t->n; y++)
            below = below || (t->node[y].left == x && t->node[y].right == TRL_NO_NODE);
        if (!below && t->node[x].state == s->state && t->node[x].from == s->i &&
            t->node[x].to == s->j)
            return true;
    }
    return false;
}

static void test_instances(void **state)
{
    (void)state;
    trl_error err;
    bank b, other;
    trl_tree_task t, t3;
    size_t count, before = 0;
    open_model(&b, 0, 8, 9);
    open_model(&other, 0, 8, 9);
    random_weights(&b, 1, 0.5);
    random_weights(&other, 1, 0.5);
    for (size_t e = 0; e < b.n; e++)
        b.example[e].source = other.example[e].source = b.tree_of[e];
    trl_pool *one = trl_pool_new(1), *three = trl_pool_new(3);
    open_task(&b, &t, objective_of(TRL_OBJ_NOTA), 1);
    open_task(&other, &t3, objective_of(TRL_OBJ_NOTA), 3);
    static const double delta[] = {0.0, 3.0, 15.0};
    for (size_t d = 0; d < 3; d++) {
        size_t c3;
        assert_ok(trl_tree_nota_make(&t, &b.m, &(trl_nota_edges){words_of, &b, delta[d]}, one,
                                     &count, &err));
        assert_ok(trl_tree_nota_make(&t3, &other.m, &(trl_nota_edges){words_of, &b, delta[d]},
                                     three, &c3, &err));
        assert_int_equal(count, c3);
        assert_true(count > before && t.nota);
        before = count;
        for (size_t e = 0; e < b.n; e++) {
            const trl_tree_example *x = &b.example[e], *y = &other.example[e];
            assert_int_equal(x->n_nota, y->n_nota);
            for (size_t k = 0; k < x->n_nota; k++) {
                assert_memory_equal(&x->nota[k], &y->nota[k], sizeof *x->nota);
                assert_false(in_gold(&x->gold, &x->nota[k]));
                assert_int_not_equal(b.m.fine.state[x->nota[k].state].type, TRL_STATE_TAG);
                assert_int_not_equal(
                    trl_skeleton_find(&x->s, x->nota[k].i, x->nota[k].j, x->nota[k].state),
                    TRL_NO_ID);
            }
            loss_of(&t, b.w, e);
        }
    }
    trl_pool_free(one);
    trl_pool_free(three);
    trl_tree_task_fini(&t);
    trl_tree_task_fini(&t3);
    bank_close(&b);
    bank_close(&other);
}

/* ---- by enumeration -------------------------------------------------------------------------- */

/* Every state over every span of a short sentence, by all rules of the grammar: nothing pruned. */
typedef struct every_edge {
    size_t n, n_states;
    double *before, *after; /* [n_states][n + 1][n + 1]: best log-probability, -inf: none */
    uint8_t *used_before, *used_after; /* part of a complete tree */
} every_edge;

static size_t place(const every_edge *a, uint32_t state, size_t i, size_t j)
{
    return (state * (a->n + 1) + i) * (a->n + 1) + j;
}

static void every_edge_open(every_edge *a, const bank *b, size_t n)
{
    *a = (every_edge){.n = n, .n_states = b->m.fine.n_states};
    const size_t all = a->n_states * (n + 1) * (n + 1);
    a->before = trl_alloc(all, sizeof(double));
    a->after = trl_alloc(all, sizeof(double));
    a->used_before = trl_zalloc(all, 1);
    a->used_after = trl_zalloc(all, 1);
    for (size_t k = 0; k < all; k++)
        a->before[k] = a->after[k] = -(double)INFINITY;
}

static void every_edge_close(every_edge *a)
{
    trl_free(a->before);
    trl_free(a->after);
    trl_free(a->used_before);
    trl_free(a->used_after);
}

static void raise_to(double *best, double p)
{
    *best = fmax(*best, p);
}

static void fill_words(every_edge *a, const bank *b, const trl_str *word)
{
    uint32_t tag[2000];
    double logp[2000];
    const trl_lexicon *x = &b->m.lexicon;
    assert_true(a->n_states <= 2000);
    for (size_t i = 0; i < a->n; i++) {
        const size_t tags = trl_lexicon_tags(x, &b->m.fine, trl_lexicon_word(x, word[i]),
                                             trl_lexicon_class(x, word[i], i), tag, logp);
        for (size_t k = 0; k < tags; k++)
            a->before[place(a, tag[k], i, i + 1)] = logp[k];
    }
}

/* The best way to make every state over (i, j), shorter spans being known. */
static void fill_span(every_edge *a, const bank *b, const trl_seen *seen, size_t i, size_t j)
{
    const trl_grammar *g = &b->m.fine;
    for (uint32_t r = 0; r < g->n_binary; r++) {
        const trl_binary *x = &g->binary[r];
        double best = -(double)INFINITY, phi = 0.0;
        for (size_t k = i + 1; k < j; k++)
            raise_to(&best, a->after[place(a, x->left, i, k)] + a->after[place(a, x->right, k, j)]);
        if (!isfinite(best))
            continue;
        const double z = plain_sum(b, x->parent, i, j, TRL_CHOOSE_BINARY, r, seen, &phi);
        raise_to(&a->before[place(a, x->parent, i, j)], best + log(phi / z));
    }
    for (uint32_t s = 0; s < g->n_states; s++)
        a->after[place(a, s, i, j)] = a->before[place(a, s, i, j)];
    for (uint32_t u = 0; u < g->n_unary; u++) {
        const trl_unary *x = &g->unary[u];
        double phi = 0.0;
        const double below = a->before[place(a, x->child, i, j)];
        if (!isfinite(below))
            continue;
        const double z = plain_sum(b, x->parent, i, j, TRL_CHOOSE_UNARY, u, seen, &phi);
        raise_to(&a->after[place(a, x->parent, i, j)], below + log(phi / z));
    }
}

/* Downwards from the root: what a complete tree uses. */
static void mark_used(every_edge *a, const trl_grammar *g, size_t i, size_t j)
{
    for (uint32_t s = 0; s < g->n_states; s++)
        if (a->used_after[place(a, s, i, j)] && isfinite(a->before[place(a, s, i, j)]))
            a->used_before[place(a, s, i, j)] = 1;
    for (uint32_t u = 0; u < g->n_unary; u++)
        if (a->used_after[place(a, g->unary[u].parent, i, j)] &&
            isfinite(a->before[place(a, g->unary[u].child, i, j)]))
            a->used_before[place(a, g->unary[u].child, i, j)] = 1;
    for (uint32_t r = 0; r < g->n_binary; r++)
        for (size_t k = i + 1; k < j; k++) {
            const size_t left = place(a, g->binary[r].left, i, k);
            const size_t right = place(a, g->binary[r].right, k, j);
            if (a->used_before[place(a, g->binary[r].parent, i, j)] && isfinite(a->after[left]) &&
                isfinite(a->after[right]))
                a->used_after[left] = a->used_after[right] = 1;
        }
}

static bool is_edge(const every_edge *a, const trl_grammar *g, uint32_t s, size_t i, size_t j)
{
    return g->state[s].type != TRL_STATE_TAG && a->used_after[place(a, s, i, j)];
}

/* Counts the instances and finds each of them in the example's list. */
static size_t expect_instances(const every_edge *a, const trl_grammar *g, const trl_tree_example *x,
                               double delta)
{
    size_t count = 0;
    for (size_t length = 1; length <= a->n; length++) {
        double best = -(double)INFINITY;
        for (size_t i = 0; i + length <= a->n; i++)
            for (uint32_t s = 0; s < g->n_states; s++)
                if (is_edge(a, g, s, i, i + length))
                    raise_to(&best, a->after[place(a, s, i, i + length)]);
        for (size_t i = 0; i + length <= a->n; i++)
            for (uint32_t s = 0; s < g->n_states; s++) {
                const trl_span_state at = {s, (uint32_t)i, (uint32_t)(i + length)};
                if (!is_edge(a, g, s, i, i + length) || in_gold(&x->gold, &at) ||
                    a->after[place(a, s, i, i + length)] < best - delta - 1e-9)
                    continue;
                bool found = false;
                for (size_t k = 0; k < x->n_nota; k++)
                    found = found || memcmp(&x->nota[k], &at, sizeof at) == 0;
                assert_true(found);
                count++;
            }
    }
    return count;
}

static size_t check_example(const bank *b, size_t e, double delta)
{
    const trl_tree_example *x = &b->example[e];
    const trl_tree *tree = &b->trees.tree[x->source];
    every_edge a;
    every_edge_open(&a, b, tree->n_words);
    fill_words(&a, b, tree->word);
    for (size_t length = 1; length <= a.n; length++)
        for (size_t i = 0; i + length <= a.n; i++)
            fill_span(&a, b, &x->seen, i, i + length);
    a.used_after[place(&a, b->m.fine.root, 0, a.n)] = 1;
    for (size_t length = a.n; length > 0; length--)
        for (size_t i = 0; i + length <= a.n; i++)
            mark_used(&a, &b->m.fine, i, i + length);
    const size_t count = expect_instances(&a, &b->m.fine, x, delta);
    assert_int_equal(count, x->n_nota);
    every_edge_close(&a);
    return count;
}

/* The instances are those that the definition gives when all edges are made one by one. */
static void test_every_edge(void **state)
{
    (void)state;
    static const double delta[] = {0.5, 4.0};
    trl_error err;
    trl_pool *pool = trl_pool_new(1);
    size_t all = 0;
    for (size_t k = 0; k < 2; k++) {
        bank b;
        trl_tree_task t;
        size_t count;
        open_short(&b, k, 6, 5, 7);
        random_weights(&b, k + 5, 0.8);
        b.m.threshold = 0.0;
        for (size_t e = 0; e < b.n; e++)
            b.example[e].source = b.tree_of[e];
        open_task(&b, &t, objective_of(TRL_OBJ_NOTA), 1);
        for (size_t d = 0; d < 2; d++) {
            assert_ok(trl_tree_nota_make(&t, &b.m, &(trl_nota_edges){words_of, &b, delta[d]}, pool,
                                         &count, &err));
            for (size_t e = 0; e < b.n; e++)
                all += check_example(&b, e, delta[d]);
        }
        trl_tree_task_fini(&t);
        bank_close(&b);
    }
    assert_true(all > 50);
    trl_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_instances),
                                       cmocka_unit_test(test_every_edge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
