/* Expectations of a PCFG: against listing all its trees, closed forms, and samples. */
/* SPDX-License-Identifier: MIT */
#include "tree_bank.h"

#include "read_grammar.h"
#include "train_tree/pcfg_expect.h"
#include "train_tree/tree_mest.h"

/* ---- finite grammars, tree by tree ---------------------------------------------------------- */

/* A subtree whose labels know their depth, so that no state comes back below itself. */
static void finite_subtree(trl_rng *r, int depth, trl_buf *out)
{
    if (depth == 3 || draw(r, 4) == 0) {
        trl_buf_fmt(out, "(t%u w%u)", draw(r, 2), draw(r, 3));
        return;
    }
    trl_buf_fmt(out, "(P%d%c", depth, 'a' + (int)draw(r, 2));
    for (unsigned k = 0, n = 1 + draw(r, 3); k < n; k++) {
        trl_buf_ch(out, ' ');
        finite_subtree(r, depth + 1, out);
    }
    trl_buf_ch(out, ')');
}

typedef struct counts { /* of one derivation */
    double p;
    double *n; /* [n_binary][n_unary][tags by state][the first tag by state] */
} counts;

typedef struct list {
    counts *at;
    size_t n, cap;
} list;

typedef struct lister {
    const trl_grammar *g;
    const trl_pcfg *p;
    size_t width;
    size_t total;
} lister;

#define MOST 30000

static void add(lister *l, list *to, double p, const counts *a, const counts *b, size_t own)
{
    to->at = trl_reserve(to->at, &to->cap, to->n + 1, sizeof *to->at);
    counts *c = &to->at[to->n++];
    const size_t first = l->width - l->g->n_states;
    *c = (counts){p * (a ? a->p : 1.0) * (b ? b->p : 1.0), trl_zalloc(l->width, sizeof *c->n)};
    for (size_t k = 0; k < l->width; k++)
        c->n[k] = (a ? a->n[k] : 0.0) + (b && k < first ? b->n[k] : 0.0);
    c->n[own] += 1.0;
    l->total++;
}

static void drop(list *x)
{
    for (size_t k = 0; k < x->n; k++)
        trl_free(x->at[k].n);
    trl_free(x->at);
    *x = (list){0};
}

/* All derivations of a state at a level; gives up (an incomplete list) above MOST. */
static list derive(lister *l, uint32_t s, bool after)
{
    const trl_grammar *g = l->g;
    list out = {0};
    if (g->state[s].type == TRL_STATE_TAG) {
        const size_t tag = g->n_binary + g->n_unary + s;
        add(l, &out, 1.0, NULL, NULL, tag);
        out.at[0].n[tag + g->n_states] = 1.0;
        return out;
    }
    for (uint32_t r = 0; r < g->n_binary && l->total < MOST; r++) {
        if (g->binary[r].parent != s)
            continue;
        list a = derive(l, g->binary[r].left, true), b = derive(l, g->binary[r].right, true);
        for (size_t i = 0; i < a.n && l->total < MOST; i++)
            for (size_t j = 0; j < b.n && l->total < MOST; j++)
                add(l, &out, l->p->binary_exp[r], &a.at[i], &b.at[j], r);
        drop(&a);
        drop(&b);
    }
    for (uint32_t u = 0; after && u < g->n_unary && l->total < MOST; u++) {
        if (g->unary[u].parent != s)
            continue;
        list a = derive(l, g->unary[u].child, false);
        for (size_t i = 0; i < a.n && l->total < MOST; i++)
            add(l, &out, exp(l->p->unary[u]), &a.at[i], NULL, g->n_binary + u);
        drop(&a);
    }
    return out;
}

static void compare(const lister *l, const list *all, const trl_pcfg_expect *e)
{
    const trl_grammar *g = l->g;
    double mass = 0.0, length = 0.0;
    double *mean = trl_zalloc(l->width, sizeof *mean);
    for (size_t k = 0; k < all->n; k++) {
        mass += all->at[k].p;
        for (size_t i = 0; i < l->width; i++)
            mean[i] += all->at[k].p * all->at[k].n[i];
    }
    assert_near(e->mass, mass, 1e-12);
    for (size_t r = 0; r < g->n_binary; r++)
        assert_near(e->before[g->binary[r].parent] * e->binary[r], mean[r] / mass, 1e-12);
    for (size_t u = 0; u < g->n_unary; u++)
        assert_near(e->after[g->unary[u].parent] * e->unary[u], mean[g->n_binary + u] / mass,
                    1e-12);
    for (size_t s = 0; s < g->n_states; s++) {
        const double *tag = mean + g->n_binary + g->n_unary;
        if (g->state[s].type != TRL_STATE_TAG)
            continue;
        assert_near(e->before[s], tag[s] / mass, 1e-12);
        assert_near(e->first_before[s], tag[g->n_states + s] / mass, 1e-12);
        length += tag[s] / mass;
    }
    assert_near(e->length, length, 1e-12);
    trl_free(mean);
}

static void lexicon_of(trl_lexicon *x, const trl_grammar *g, const tree_list *l)
{
    trl_error err;
    trl_btree b = {0};
    bool known;
    assert_ok(trl_lexicon_init(x, 1, &err));
    for (size_t k = 0; k < l->n; k++) {
        assert_ok(trl_grammar_encode(g, &(trl_encoded){heads, &l->tree[k], &l->labels}, &b, &known,
                                     NULL, &err));
        assert_true(known);
        assert_ok(trl_lexicon_add(x, &b, l->tree[k].word, &err));
    }
    assert_ok(trl_lexicon_finish(x, g, &err));
    trl_btree_fini(&b);
}

static void test_enumeration(void **state)
{
    (void)state;
    trl_error err;
    trl_rng r = trl_rng_seed(11);
    size_t compared = 0, deficient = 0;
    for (unsigned round = 0; round < 60; round++) {
        tree_list l = {0};
        trl_buf text = {0};
        trl_grammar g;
        trl_lexicon x;
        trl_pcfg p;
        trl_expansions e;
        trl_pcfg_expect q;
        const unsigned n_trees = 4 + draw(&r, 4);
        const trl_annotation a = switches((round * 8 + round % 4) % N_SWITCHES);
        for (unsigned k = 0; k < n_trees; k++) {
            trl_buf_str(&text, "(TOP ");
            finite_subtree(&r, 1, &text);
            trl_buf_str(&text, ")\n");
        }
        read_text(&l, text.data, text.len);
        build(&g, &a, &l, round % 3 == 0);
        lexicon_of(&x, &g, &l);
        assert_ok(trl_pcfg_init(&p, &g, &x, &err));
        assert_ok(trl_expansions_init(&e, &g, &err));
        lister s = {&g, &p, g.n_binary + g.n_unary + 2 * g.n_states, 0};
        list all = derive(&s, g.root, true);
        if (s.total < MOST) {
            assert_ok(trl_pcfg_expect_init(&q, &p, &e, &err));
            compare(&s, &all, &q);
            compared++;
            deficient += q.mass < 1.0 - 1e-9;
            trl_pcfg_expect_fini(&q);
        }
        drop(&all);
        trl_expansions_fini(&e);
        trl_pcfg_fini(&p);
        trl_lexicon_fini(&x);
        trl_grammar_fini(&g);
        free_trees(&l);
        trl_buf_fini(&text);
    }
    assert_true(compared > 30);
    assert_true(deficient > 2 && deficient < compared);
}

/* ---- a grammar with trees without end ------------------------------------------------------- */

/* S -> S S with p, S -> x with 1 - p: the mass m of its finite trees is min(1, (1 - p) / p), and a
 * finite tree has (1 - p) / m / (1 - 2 p m) words. */
static void test_not_tight(void **state)
{
    (void)state;
    static const char text[] = "(TOP (S (S (x a)) (S (x b))))\n";
    trl_error err;
    tree_list l = {0};
    trl_grammar g;
    trl_lexicon x;
    trl_pcfg p;
    trl_expansions e;
    trl_pcfg_expect q;
    const trl_annotation a = {0};
    read_text(&l, text, strlen(text));
    build(&g, &a, &l, false);
    lexicon_of(&x, &g, &l);
    assert_ok(trl_pcfg_init(&p, &g, &x, &err));
    assert_ok(trl_expansions_init(&e, &g, &err));
    uint32_t s = TRL_NO_ID, tag = TRL_NO_ID, up = TRL_NO_ID;
    for (uint32_t u = 0; u < g.n_unary; u++) {
        if (g.state[g.unary[u].child].type == TRL_STATE_TAG)
            s = g.unary[u].parent, tag = u;
        else
            up = u;
    }
    assert_int_equal(g.n_binary, 1);
    assert_int_equal(g.n_unary, 2);
    assert_int_equal(g.unary[up].child, s);
    for (unsigned k = 1; k < 10; k++) {
        const double rule = k / 10.0, m = rule > 0.5 ? (1.0 - rule) / rule : 1.0;
        p.binary_exp[0] = rule;
        p.unary[tag] = log(1.0 - rule);
        if (k == 5) { /* trees end, but their expected size is infinite */
            assert_int_equal(trl_pcfg_expect_init(&q, &p, &e, &err), TRL_ENUMERIC);
            continue;
        }
        assert_ok(trl_pcfg_expect_init(&q, &p, &e, &err));
        assert_near(q.in_after[s], m, 1e-12);
        /* TOP -> S: S is below a unary rule, so it must be S -> S S; each S below is free */
        assert_near(q.mass, rule * m * m, 1e-12);
        assert_near(q.length, 2.0 * (1.0 - rule) / m / (1.0 - 2.0 * rule * m), 1e-10);
        trl_pcfg_expect_fini(&q);
    }
    trl_expansions_fini(&e);
    trl_pcfg_fini(&p);
    trl_lexicon_fini(&x);
    trl_grammar_fini(&g);
    free_trees(&l);
}

/* ---- samples -------------------------------------------------------------------------------- */

static const char closed_families[] =
    "tag\ntag here.word\nbase-tag here.class\nbase-tag here.form\n"
    "unary-1 first.word\nunary-1 last.form short\nunary-parent\n"
    "base-unary-parent-1 shape\n";

static void close_to(double sum, double squares, size_t n, double exact)
{
    const double mean = sum / (double)n, var = squares / (double)n - mean * mean;
    const double error = sqrt((var > 0.0 ? var : 0.0) / (double)n);
    if (!(fabs(mean - exact) < 5.5 * error + 12.0 / (double)n))
        fail_msg("%g is not %g within %g", mean, exact, error);
}

typedef struct tally {
    const bank *b;
    double *one; /* counts of one tree */
    uint32_t *on;
    size_t n;
} tally;

static bool tally_key(void *ctx, uint64_t key)
{
    tally *t = ctx;
    const uint32_t id = trl_tree_index_find(&t->b->m.features.index, key);
    if (id != TRL_NO_ID) {
        if (t->one[id] == 0.0)
            t->on[t->n++] = id;
        t->one[id] += 1.0;
    }
    return true;
}

/* What has a closed form is the mean over drawn trees. */
static void test_samples(void **state)
{
    (void)state;
    trl_error err;
    bank b;
    const size_t N = 20000;
    bank_open(&b, closed_families, (trl_annotation){true, false, true, 1}, false, 12, 60, 3);
    const trl_tree_features *f = &b.m.features;
    const size_t n = f->index.n;
    double *E = trl_alloc(trl_tree_weights(f), sizeof *E);
    double *sum = trl_zalloc(n, sizeof *sum), *squares = trl_zalloc(n, sizeof *squares);
    uint32_t *id = trl_alloc(500, sizeof *id);
    trl_str word[500];
    trl_seen seen;
    void *memory = trl_alloc(trl_seen_size(500), 1);
    tally t = {&b, trl_zalloc(n, sizeof *t.one), trl_alloc(n, sizeof *t.on), 0};
    trl_tree_expect_report report;
    const trl_tree_expect_options none = {.samples = 0, .max_words = 10, .seed = 1};
    assert_ok(trl_tree_expect(&b.m, &none, E, &report, &err));
    assert_int_equal(report.sampled, 0);
    assert_true(report.mass > 0.5 && report.mass <= 1.0 + 1e-12);

    trl_pcfg_expect q;
    trl_btree tree = {0};
    trl_rng rng = trl_rng_seed(7);
    size_t rejected = 0;
    double words = 0.0, words2 = 0.0, tags0 = 0.0;
    assert_ok(trl_pcfg_expect_init(&q, &b.m.pcfg, &b.m.expansions, &err));
    for (size_t s = 0; s < b.m.fine.n_states; s++)
        tags0 += b.m.fine.state[s].type == TRL_STATE_TAG ? q.first_before[s] : 0.0;
    assert_near(tags0, 1.0, 1e-11);
    for (size_t k = 0; k < N; k++) {
        assert_ok(trl_pcfg_sample(&q, &rng, &(trl_pcfg_draw){500, id, &rejected}, &tree, &err));
        const size_t len = tree.node[0].to;
        words += (double)len;
        words2 += (double)(len * len);
        for (size_t i = 0; i < len; i++)
            word[i] = trl_strtab_get(&b.m.lexicon.words, id[i]);
        trl_observe(&b.m.observer, word, len, memory, &seen);
        t.n = 0;
        for (size_t x = 0; x < tree.n; x++)
            for (size_t at = 0; at < f->t->n; at++)
                trl_tree_node_keys(f, at, &tree.node[x], trl_tree_node_part(&tree, x), &seen,
                                   &(trl_key_sink){tally_key, &t});
        for (size_t x = 0; x < t.n; x++) {
            sum[t.on[x]] += t.one[t.on[x]];
            squares[t.on[x]] += t.one[t.on[x]] * t.one[t.on[x]];
            t.one[t.on[x]] = 0.0;
        }
    }
    assert_int_equal(rejected, 0);
    close_to(words, words2, N, report.length);
    for (size_t k = 0; k < n; k++)
        close_to(sum[k], squares[k], N, E[f->n_direct + k]);
    trl_btree_fini(&tree);
    trl_pcfg_expect_fini(&q);
    trl_free(E);
    trl_free(sum);
    trl_free(squares);
    trl_free(id);
    trl_free(memory);
    trl_free(t.one);
    trl_free(t.on);
    bank_close(&b);
}

/* Long trees are drawn again; the same seed draws the same. */
static void test_bound(void **state)
{
    (void)state;
    trl_error err;
    bank b;
    trl_pcfg_expect q;
    trl_btree one = {0}, two = {0};
    uint32_t w1[6], w2[6];
    size_t rejected = 0, again = 0;
    bank_open(&b, closed_families, (trl_annotation){true, false, true, 1}, false, 12, 20, 3);
    assert_ok(trl_pcfg_expect_init(&q, &b.m.pcfg, &b.m.expansions, &err));
    trl_rng r1 = trl_rng_seed(3), r2 = trl_rng_seed(3);
    for (size_t k = 0; k < 200; k++) {
        assert_ok(trl_pcfg_sample(&q, &r1, &(trl_pcfg_draw){6, w1, &rejected}, &one, &err));
        assert_ok(trl_pcfg_sample(&q, &r2, &(trl_pcfg_draw){6, w2, &again}, &two, &err));
        assert_true(one.node[0].to <= 6 && one.node[0].to == two.node[0].to);
        assert_memory_equal(one.node, two.node, one.n * sizeof *one.node);
        assert_memory_equal(w1, w2, one.node[0].to * sizeof *w1);
    }
    assert_true(rejected > 100 && rejected == again);
    trl_btree_fini(&one);
    trl_btree_fini(&two);
    trl_pcfg_expect_fini(&q);
    bank_close(&b);
}

/* ---- m-estimation --------------------------------------------------------------------------- */

/* Families without a closed form: the plain mean over the same trees, by any number of threads. */
static void test_sampled(void **state)
{
    (void)state;
    trl_error err;
    bank b;
    bank_open(
        &b, "base-rule split.word\nbase-parent inside.tag inside+1.tag\nparent first.form length\n",
        (trl_annotation){true, false, true, 1}, false, 12, 20, 3);
    const trl_tree_features *f = &b.m.features;
    const size_t n = f->index.n, words = 40;
    double *E = trl_alloc(trl_tree_weights(f), sizeof *E),
           *E3 = trl_alloc(trl_tree_weights(f), sizeof *E);
    trl_pool *one = trl_pool_new(1), *three = trl_pool_new(3);
    trl_tree_expect_options o = {
        .samples = 2 * TRL_SAMPLE_BLOCK + 90, .max_words = words, .seed = 5, .pool = one};
    trl_tree_expect_report report, report3;
    assert_ok(trl_tree_expect(&b.m, &o, E, &report, &err));
    o.pool = three;
    assert_ok(trl_tree_expect(&b.m, &o, E3, &report3, &err));
    assert_memory_equal(E, E3, trl_tree_weights(f) * sizeof *E);
    assert_true(report.sampled == 3 && report.rejected == report3.rejected);

    tally t = {&b, trl_zalloc(n, sizeof *t.one), trl_alloc(n, sizeof *t.on), 0};
    double *sum = trl_zalloc(n, sizeof *sum);
    uint32_t id[40];
    trl_str word[40];
    trl_seen seen;
    void *memory = trl_alloc(trl_seen_size(words), 1);
    trl_pcfg_expect q;
    trl_btree tree = {0};
    trl_rng rng = trl_rng_seed(0);
    size_t rejected = 0, on = 0;
    assert_ok(trl_pcfg_expect_init(&q, &b.m.pcfg, &b.m.expansions, &err));
    for (size_t k = 0; k < o.samples; k++) {
        if (k % TRL_SAMPLE_BLOCK == 0)
            rng = trl_sample_rng(o.seed, k / TRL_SAMPLE_BLOCK);
        assert_ok(trl_pcfg_sample(&q, &rng, &(trl_pcfg_draw){words, id, &rejected}, &tree, &err));
        for (size_t i = 0; i < tree.node[0].to; i++)
            word[i] = trl_strtab_get(&b.m.lexicon.words, id[i]);
        trl_observe(&b.m.observer, word, tree.node[0].to, memory, &seen);
        t.n = 0;
        for (size_t x = 0; x < tree.n; x++)
            for (size_t at = 0; at < f->t->n; at++)
                trl_tree_node_keys(f, at, &tree.node[x], trl_tree_node_part(&tree, x), &seen,
                                   &(trl_key_sink){tally_key, &t});
        for (size_t x = 0; x < t.n; x++) {
            sum[t.on[x]] += t.one[t.on[x]];
            t.one[t.on[x]] = 0.0;
        }
    }
    for (size_t k = 0; k < n; k++) {
        assert_near(E[f->n_direct + k], sum[k] / (double)o.samples, 1e-14);
        on += sum[k] > 0.0;
    }
    assert_true(on > 100 && rejected == report.rejected);
    trl_btree_fini(&tree);
    trl_pcfg_expect_fini(&q);
    trl_pool_free(one);
    trl_pool_free(three);
    trl_free(E);
    trl_free(E3);
    trl_free(sum);
    trl_free(memory);
    trl_free(t.one);
    trl_free(t.on);
    bank_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumeration), cmocka_unit_test(test_not_tight),
        cmocka_unit_test(test_samples),     cmocka_unit_test(test_bound),
        cmocka_unit_test(test_sampled),
    };
    return cmocka_run_group_tests(tests, read_heads, free_heads);
}
