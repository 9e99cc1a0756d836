/* test_transducer.c -- chart search against enumeration, features and their names, linear models
 * against finite differences. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/mem.h"
#include "random_brackets.h"
#include "train_translate/learn.h"
#include "translate/transducer.h"
#include "translate/word_features.h"

typedef struct setup {
    trl_treebank *bank;
    trl_head_rules *heads;
    trl_source_names names;
    trl_source s;
} setup;

static void make(setup *x, trl_rng *rng, size_t n)
{
    trl_error err;
    trl_tree tree;
    trl_buf text = {0};
    bool more;
    *x = (setup){0};
    random_brackets(rng, &text, 0, n, 0);
    assert_ok(
        trl_treebank_memory(&(trl_text){"test", text.data, text.len}, NULL, false, &x->bank, &err));
    assert_ok(trl_head_rules_read(NULL, &x->heads, &err));
    assert_ok(trl_treebank_next(x->bank, &tree, &more, &err));
    assert_ok(trl_source_make(&x->s, &tree, x->heads, &x->names, true, &err));
    trl_buf_fini(&text);
}

static void drop(setup *x)
{
    trl_source_fini(&x->s);
    trl_strtab_fini(&x->names.words);
    trl_strtab_fini(&x->names.labels);
    trl_head_rules_free(x->heads);
    trl_treebank_free(x->bank);
}

/* ---- enumeration ----------------------------------------------------------------------------- */

enum { WORDS = 4, TARGETS = 4, MOST = 4096 };

typedef struct answer {
    double cost;
    uint32_t word[WORDS];
    size_t n;
} answer;

typedef struct every {
    const trl_transducer *t;
    uint32_t choice[WORDS];
    unsigned swap;
    answer all[MOST];
    size_t n;
} every;

static double toy_join(const void *ctx, uint32_t word, uint32_t head, uint32_t other)
{
    const double *table = ctx;
    return table[(word * 7 + (head + 3) % 11 * 5 + (other + 2) % 13 * 3) % 64];
}

/* Target words of a node, and its head's; the cost of all below it is added. */
static uint32_t spell(const every *e, uint32_t v, answer *a)
{
    const trl_transducer *t = e->t;
    if (v < t->s->n_words) {
        const trl_word_option *o = &t->option[(v ? t->option_end[v - 1] : 0) + e->choice[v]];
        a->cost += o->cost;
        if (o->target != TRL_NO_ID)
            a->word[a->n++] = o->target;
        return o->target;
    }
    const trl_source_node *node = &t->s->node[v];
    const bool swap = e->swap >> (v - t->s->n_words) & 1;
    const bool head_left = t->s->node[node->left].head == node->head;
    const uint32_t first = swap ? node->right : node->left;
    const size_t n0 = a->n;
    const uint32_t head0 = spell(e, first, a);
    const size_t n1 = a->n;
    const uint32_t head1 = spell(e, swap ? node->left : node->right, a);
    const bool is_free = n1 == n0 || a->n == n1;
    const uint32_t left = swap ? head1 : head0, right = swap ? head0 : head1;
    a->cost += is_free ? fmin(t->order[v][0], t->order[v][1]) : t->order[v][swap];
    if (t->join)
        a->cost += t->join(t->join_ctx, t->s->node[head_left ? node->right : node->left].head,
                           head_left ? left : right, head_left ? right : left);
    return head_left ? left : right;
}

static void enumerate(every *e, size_t word)
{
    const trl_transducer *t = e->t;
    if (word < t->s->n_words) {
        const uint32_t n = t->option_end[word] - (word ? t->option_end[word - 1] : 0);
        for (e->choice[word] = 0; e->choice[word] < n; e->choice[word]++)
            enumerate(e, word + 1);
        return;
    }
    const uint32_t root = (uint32_t)t->s->n_nodes - 1;
    for (e->swap = 0; e->swap < 1u << (t->s->n_words - 1); e->swap++) {
        answer a = {0};
        const uint32_t head = spell(e, root, &a);
        if (t->join)
            a.cost += t->join(t->join_ctx, t->s->node[root].head, TRL_ROOT_HEAD, head);
        size_t k = 0;
        while (k < e->n && (e->all[k].n != a.n || memcmp(e->all[k].word, a.word, a.n * 4) != 0))
            k++;
        if (k == e->n) {
            assert_true(e->n < MOST);
            e->all[e->n++] = a;
        } else if (a.cost < e->all[k].cost) {
            e->all[k] = a;
        }
    }
}

static int by_cost(const void *a, const void *b)
{
    const answer *x = a, *y = b;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

static void check(every *e, const trl_transduced *got, size_t n)
{
    const size_t wanted = e->t->nbest < e->n ? e->t->nbest : e->n;
    assert_int_equal(n, wanted);
    qsort(e->all, e->n, sizeof *e->all, by_cost);
    for (size_t k = 0; k < n; k++) {
        assert_near(got[k].cost, e->all[k].cost, 1e-12);
        size_t at = 0; /* equal costs may come in another order */
        while (at < e->n && (e->all[at].n != got[k].n ||
                             memcmp(e->all[at].word, got[k].word, got[k].n * 4) != 0))
            at++;
        assert_true(at < e->n);
        assert_near(got[k].cost, e->all[at].cost, 1e-12);
        memcpy(e->choice, got[k].choice, e->t->s->n_words * 4); /* choices give the words */
        e->swap = 0;
        for (size_t v = e->t->s->n_words; v < e->t->s->n_nodes; v++)
            e->swap |= (unsigned)got[k].order[v] << (v - e->t->s->n_words);
        answer a = {0};
        (void)spell(e, (uint32_t)e->t->s->n_nodes - 1, &a);
        assert_int_equal(a.n, got[k].n);
        assert_memory_equal(a.word, got[k].word, a.n * 4);
    }
}

static void test_search(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(11);
    trl_arena arena = {0};
    every *e = trl_alloc(1, sizeof *e);
    for (size_t round = 0; round < 300; round++) {
        const size_t n = 1 + trl_rng_below(&rng, WORDS);
        setup x;
        trl_word_option option[WORDS * 4];
        uint32_t end[WORDS], n_options = 0;
        double order[2 * WORDS][2], table[64];
        make(&x, &rng, n);
        for (size_t w = 0; w < n; w++) {
            const uint32_t first = (uint32_t)trl_rng_below(&rng, TARGETS);
            for (uint32_t k = 0, m = 1 + (uint32_t)trl_rng_below(&rng, 3); k < m; k++) {
                const uint32_t target = (first + k) % TARGETS;
                option[n_options++] =
                    (trl_word_option){target ? target : TRL_NO_ID, trl_rng_unit(&rng)};
            }
            end[w] = n_options;
        }
        for (size_t v = 0; v < 2 * WORDS; v++)
            for (int k = 0; k < 2; k++)
                order[v][k] = trl_rng_unit(&rng);
        for (size_t k = 0; k < 64; k++)
            table[k] = trl_rng_unit(&rng);
        trl_transducer t = {.s = &x.s,
                            .option = option,
                            .option_end = end,
                            .order = (const double(*)[2])order,
                            .join = round % 2 ? toy_join : NULL,
                            .join_ctx = table,
                            .nbest = round % 3 ? 1 : 1 + trl_rng_below(&rng, 50)};
        trl_transduced *got;
        trl_error err;
        size_t n_got;
        trl_arena_reset(&arena);
        assert_ok(trl_transduce(&t, &arena, &got, &n_got, &err));
        e->t = &t;
        e->n = 0;
        enumerate(e, 0);
        check(e, got, n_got);
        const double best = got[0].cost;
        t.ratio = 1.5;
        t.most = 2;
        t.nbest = 1;
        assert_ok(trl_transduce(&t, &arena, &got, &n_got, &err));
        assert_true(n_got == 1 && got[0].cost >= best - 1e-12);
        if (!t.join) /* the cheapest parts make the cheapest whole */
            assert_near(got[0].cost, best, 1e-12);
        drop(&x);
    }
    trl_free(e);
    trl_arena_fini(&arena);
}

/* ---- features -------------------------------------------------------------------------------- */

static void test_names(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(5);
    trl_feature_keys keys = {0};
    setup x;
    make(&x, &rng, 6);
    for (size_t at = 0; at < x.s.n_nodes; at++) {
        assert_true((at < x.s.n_words ? trl_word_features : trl_node_features)(&x.s, at, &keys));
        assert_true(keys.n > 20);
        for (size_t k = 0; k < keys.n; k++) {
            trl_buf name = {0};
            uint64_t key;
            assert_true(trl_word_key_name(&x.names, keys.key[k], &name));
            assert_true(trl_word_key_of(&x.names, (trl_str){name.data, name.len}, &key));
            assert_true(key == keys.key[k]);
            trl_buf_fini(&name);
        }
    }
    uint64_t key;
    assert_false(trl_word_key_of(&x.names, (trl_str){"word=nobody", 11}, &key));
    assert_false(trl_word_key_of(&x.names, (trl_str){"weird=w0", 8}, &key));
    assert_false(trl_word_key_of(&x.names, (trl_str){"word", 4}, &key));
    assert_false(trl_word_key_of(&x.names, (trl_str){"tag=", 4}, &key));
    trl_free(keys.key);
    drop(&x);
}

static bool has(const setup *x, const trl_feature_keys *keys, const char *name)
{
    uint64_t key;
    assert_true(trl_word_key_of(&x->names, (trl_str){name, strlen(name)}, &key));
    for (size_t k = 0; k < keys->n; k++)
        if (keys->key[k] == key)
            return true;
    return false;
}

static void test_features(void **state)
{
    (void)state;
    static const char text[] = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ eats) (NP (NN meat)))))";
    trl_feature_keys keys = {0};
    trl_error err;
    trl_tree tree;
    bool more;
    setup x = {0};
    assert_ok(trl_treebank_memory(&(trl_text){"test", text, sizeof text - 1}, NULL, false, &x.bank,
                                  &err));
    assert_ok(trl_head_rules_read(NULL, &x.heads, &err));
    assert_ok(trl_treebank_next(x.bank, &tree, &more, &err));
    assert_ok(trl_source_make(&x.s, &tree, x.heads, &x.names, true, &err));
    assert_true(trl_word_features(&x.s, 1, &keys));
    assert_true(has(&x, &keys, "word=dog") && has(&x, &keys, "word-1=the"));
    assert_true(has(&x, &keys, "word-2=") && has(&x, &keys, "word+2=meat"));
    assert_true(has(&x, &keys, "tag+1=VBZ") && has(&x, &keys, "any.word=meat"));
    assert_true(has(&x, &keys, "any.tag=NN") && has(&x, &keys, "top.label=NP"));
    assert_true(has(&x, &keys, "parent.word=eats") && has(&x, &keys, "dependent.word=the"));
    assert_false(has(&x, &keys, "word+1=meat") || has(&x, &keys, "parent.word=dog"));
    assert_true(trl_node_features(&x.s, x.s.n_nodes - 1, &keys));
    assert_true(has(&x, &keys, "node=S") && has(&x, &keys, "left=NP") &&
                has(&x, &keys, "right=VP"));
    assert_true(has(&x, &keys, "left.word=dog") && has(&x, &keys, "right.word=eats"));
    assert_true(has(&x, &keys, "right.dependent.word=meat"));
    trl_free(keys.key);
    drop(&x);
}

/* ---- linear models --------------------------------------------------------------------------- */

static void test_linear(void **state)
{
    (void)state;
    enum { N = 30, F = 8 };
    trl_rng rng = trl_rng_seed(3);
    size_t end[N], n = 0;
    uint32_t feature[N * F];
    signed char y[N];
    _Alignas(64) double w[F + 65] = {0};
    double g[F + 65], other[F + 65];
    for (size_t i = 0; i < N; i++) {
        for (uint32_t f = 0; f < F; f++)
            if (trl_rng_below(&rng, 3) == 0)
                feature[n++] = f;
        end[i] = n;
        y[i] = trl_rng_below(&rng, 3) ? 1 : -1;
    }
    const trl_linear_problem p = {N, F, end, feature, y, 0.3, false};
    trl_error err;
    for (size_t k = 0; k <= F; k++)
        w[k] = trl_rng_unit(&rng) - 0.5;
    (void)trl_linear_objective(&p, w, g);
    for (size_t k = 0; k <= F; k++) {
        const double was = w[k], step = 1e-5;
        w[k] = was + step;
        const double up = trl_linear_objective(&p, w, other);
        w[k] = was - step;
        const double down = trl_linear_objective(&p, w, other);
        w[k] = was;
        assert_near(g[k], (up - down) / (2.0 * step), 1e-6);
    }
    assert_ok(trl_linear_fit(&p, w, &err));
    const double least = trl_linear_objective(&p, w, g);
    for (size_t k = 0; k <= F; k++) {
        assert_true(fabs(g[k]) < 1e-2);
        w[k] += 0.05;
        assert_true(trl_linear_objective(&p, w, other) > least);
        w[k] -= 0.05;
    }
    const trl_linear_problem without = {N, F, end, feature, y, 0.3, true};
    assert_ok(trl_linear_fit(&without, w, &err));
    assert_true(w[F] == 0.0);
    assert_true(trl_linear_objective(&p, w, g) > least);
    for (size_t k = 0; k < F; k++)
        assert_true(fabs(g[k]) < 1e-2);
    assert_true(fabs(g[F]) > 1e-2);
}

/* Classifiers over the same rows: each is what it is alone, to the end of its path. */
static void test_together(void **state)
{
    (void)state;
    enum { N = 200, K = 3 };
    trl_example_rows r = {0};
    trl_learnt all = {0}, one = {0};
    trl_error err;
    trl_rng rng = trl_rng_seed(12);
    static signed char y[K * N];
    for (size_t i = 0; i < N; i++) {
        uint64_t key[6];
        trl_feature_keys keys = {.key = key};
        for (uint64_t f = 0; f < 6; f++)
            if (trl_rng_below(&rng, 2))
                key[keys.n++] = f;
        assert_ok(trl_example_rows_add(&r, &keys, &err));
        for (size_t k = 0; k < K; k++) /* the first needs no feature, the last two need one each */
            y[k * N + i] = trl_rng_below(&rng, 10) < 3 ? 1 : -1;
        for (size_t q = 0; q < keys.n; q++)
            if (key[q] == 1 || key[q] == 2)
                y[key[q] * N + i] = 1;
    }
    const trl_learn_options o = {.learner = TRL_LEARN_BOOSTED,
                                 .boost = trl_boost_options_default(),
                                 .lambda_end = 2.0,
                                 .memory = 1 << 20};
    assert_ok(trl_learn(&all, &r, y, K, &o, &err));
    for (size_t k = 0; k < K; k++) {
        assert_ok(trl_learn(&one, &r, y + k * N, 1, &o, &err));
        const trl_boost_part *a = &all.part[k], *b = &one.part[0];
        assert_int_equal(a->n_points, b->n_points);
        assert_int_equal(a->own.n_nodes, b->own.n_nodes);
        assert_true(k == 0 || a->own.n_trees > 3);
        for (size_t v = 0; v < a->own.n_nodes; v++) {
            const trl_boost_node *x = &a->own.node[v], *z = &b->own.node[v];
            assert_int_equal(x->feature == TRL_NO_ID, z->feature == TRL_NO_ID);
            assert_true(x->feature == TRL_NO_ID || all.key[x->feature] == one.key[z->feature]);
            assert_true(x->value == z->value);
        }
        assert_true(a->own_point[a->n_points - 1].lambda >= 2.0);
        trl_learnt_fini(&one);
    }
    trl_learnt_fini(&all);
    trl_example_rows_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_search), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_features),
                                       cmocka_unit_test(test_linear),
                                       cmocka_unit_test(test_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
