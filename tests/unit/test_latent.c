/* Grammars with substates: charts and expected counts against enumeration, EM, files. */
/* SPDX-License-Identifier: MIT */
#include "tree_oracle.h"

#include "base/mem.h"
#include "chart/latent.h"
#include "tampered.h"
#include "train_tree/latent_em.h"

/* ---- a grammar with random substates --------------------------------------------------------- */

/* Numbers of substates are floats. */
static void near(double is, double want)
{
    if (!(fabs(is - want) < 2e-5 * (1.0 + fabs(want))))
        fail_msg("%.9g instead of %.9g", is, want);
}

typedef struct latent_world {
    world w;
    trl_pcfg pcfg;
    trl_latent l;
    float *p; /* [l.at.n]: its numbers, also when it is packed */
} latent_world;

/* As files have it; of binary rules some are nothing, or next to it. */
static float random_p(trl_rng *r, bool binary)
{
    float value[256];
    trl_latent_decode(value);
    const float p = 0.05f + (float)trl_rng_unit(r);
    const float least[] = {0.0f, 5e-7f, 2e-6f};
    return value[trl_latent_code(binary && draw(r, 2) ? least[draw(r, 3)] : p)];
}

/* Some rules of trees have counts as rules that are in no tree. */
static void forget_rules(world *w, trl_rng *r)
{
    for (size_t k = 0; k < w->g.n_binary; k++)
        w->g.binary_count[k] *= draw(r, 6) ? 1.0 : 1e-3;
    for (size_t k = 0; k < w->g.n_unary; k++)
        w->g.unary_count[k] *= draw(r, 6) ? 1.0 : 1e-3;
}

static void open_world(latent_world *x, trl_rng *r, unsigned most, bool smoothed)
{
    trl_error err;
    world_grammar(&x->w, r, 0, smoothed ? TRL_RULES_SMOOTHED : TRL_RULES_SEEN);
    if (smoothed)
        forget_rules(&x->w, r);
    assert_ok(trl_pcfg_init(&x->pcfg, &x->w.g, &x->w.x, &err));
    x->l = (trl_latent){.g = &x->w.g, .x = &x->w.x, .pcfg = &x->pcfg};
    uint8_t *k = trl_alloc(x->w.g.n_states, 1);
    for (size_t s = 0; s < x->w.g.n_states; s++)
        k[s] = (uint8_t)(s == x->w.g.root ? 1u : 1u << draw(r, most));
    assert_ok(trl_latent_layout_init(&x->l.at, x->l.g, x->l.x, k, &err));
    x->l.p = trl_alloc(x->l.at.n, sizeof *x->l.p);
    x->p = trl_alloc(x->l.at.n, sizeof *x->p);
    for (size_t n = 0; n < x->l.at.n; n++)
        x->l.p[n] = random_p(r, n < x->l.at.unary[0]);
    memcpy(x->p, x->l.p, x->l.at.n * sizeof *x->p);
}

static void close_world(latent_world *x)
{
    trl_latent_fini(&x->l);
    trl_pcfg_fini(&x->pcfg);
    trl_free(x->p);
    world_free(&x->w);
}

/* What is next to nothing in binary rules is dropped. */
static void pack(latent_world *x)
{
    trl_error err;
    for (size_t n = 0; n < x->l.at.unary[0]; n++)
        x->p[n] = x->p[n] < 1e-6f ? 0.0f : x->p[n];
    assert_ok(trl_latent_pack(&x->l, &err));
}

/* p(A_a -> B_b C_c); a unary rule has c 0.  unknown: of a rule without numbers; 0: the PCFG's. */
static double rule_p(const latent_world *x, const trl_bnode *v, const trl_btree *t,
                     const unsigned *sub, double unknown)
{
    const unsigned a = sub[v - t->node], b = sub[v->left];
    const unsigned c = v->right != TRL_NO_NODE ? sub[v->right] : 0;
    const trl_latent *l = &x->l;
    const bool binary = v->right != TRL_NO_NODE;
    const size_t *at = binary ? l->at.binary : l->at.unary;
    const size_t nb = l->at.k[t->node[v->left].state];
    const size_t nc = binary ? l->at.k[t->node[v->right].state] : 1;
    if (at[v->rule + 1] > at[v->rule])
        return (double)x->p[at[v->rule] + (a * nb + b) * nc + c];
    const double p = binary ? l->pcfg->binary_exp[v->rule] : exp(l->pcfg->unary[v->rule]);
    return (unknown > 0.0 ? unknown : p) / (double)(nb * nc);
}

static size_t place_of(const trl_latent *l, const trl_str *word, const trl_bnode *v)
{
    return trl_latent_word(&l->at, l->x, trl_lexicon_word(l->x, word[v->from]),
                           trl_lexicon_class(l->x, word[v->from], v->from), v->state);
}

/* The probability of a tree whose nodes have the substates sub[]; unknown: of words and rules
 * without numbers (0: 1, and the PCFG's). */
static double p_of(const latent_world *x, const trl_str *word, const trl_btree *t,
                   const unsigned *sub, double unknown)
{
    double p = 1.0;
    for (size_t k = 0; k < t->n; k++) {
        const trl_bnode *v = &t->node[k];
        if (v->left == TRL_NO_NODE) {
            const size_t at = place_of(&x->l, word, v);
            p *= at != SIZE_MAX ? (double)x->p[at + sub[k]] : unknown > 0.0 ? unknown : 1.0;
            continue;
        }
        p *= rule_p(x, v, t, sub, unknown);
    }
    return p;
}

/* The next of all assignments of substates; false after the last. */
static bool next(const trl_latent *l, const trl_btree *t, unsigned *sub)
{
    for (size_t k = 0; k < t->n; k++) {
        if (++sub[k] < l->at.k[t->node[k].state])
            return true;
        sub[k] = 0;
    }
    return false;
}

static double assignments(const trl_latent *l, const trl_btree *t)
{
    double n = 1.0;
    for (size_t k = 0; k < t->n; k++)
        n *= l->at.k[t->node[k].state];
    return n;
}

/* ---- charts ---------------------------------------------------------------------------------- */

/* log p(word | tag) and the score given, of a word of a tree. */
static double word_score(const latent_world *x, const trl_tag_scores *tags, const trl_bnode *v)
{
    const world *w = &x->w;
    uint32_t tag[16];
    double logp[16];
    const size_t n =
        trl_lexicon_tags(&w->x, &w->g, trl_lexicon_word(&w->x, w->word[v->from]),
                         trl_lexicon_class(&w->x, w->word[v->from], v->from), tag, logp);
    double score = -100.0;
    for (size_t k = 0; k < n; k++)
        score = tag[k] == v->state ? logp[k] : score;
    return score + (tags->given[v->from] ? tags->score[v->from * w->g.n_states + v->state] : 0.0);
}

static double tree_p(const latent_world *x, const trl_tag_scores *tags, const trl_btree *t)
{
    unsigned sub[64] = {0};
    double sum = 0.0, words = 0.0;
    assert_true(t->n <= 64);
    do
        sum += p_of(x, x->w.word, t, sub, 0.0);
    while (next(&x->l, t, sub));
    for (size_t k = 0; k < t->n; k++)
        words += t->node[k].left == TRL_NO_NODE ? word_score(x, tags, &t->node[k]) : 0.0;
    return sum * exp(words);
}

typedef struct expected {
    double *before, *after, *unary, all;
} expected;

static void add_used(const latent_world *x, const der *d, double p, expected *e)
{
    if (d->after) {
        e->after[d->item] += p;
        const trl_chart *c = &x->w.c;
        const size_t cell = trl_cell(d->from, d->to);
        for (uint32_t u = c->unary_first[cell];
             d->rule != TRL_NO_ID && u < c->unary_first[cell + 1]; u++)
            e->unary[u] += c->unary[u].rule == d->rule ? p : 0.0;
    } else {
        e->before[d->item] += p;
    }
    if (d->left)
        add_used(x, d->left, p, e);
    if (d->right)
        add_used(x, d->right, p, e);
}

static bool avoids(const der *d, const uint8_t *dead)
{
    return !(dead && dead[d->item]) && (!d->left || avoids(d->left, dead)) &&
           (!d->right || avoids(d->right, dead));
}

/* dead: items that no tree may have, or NULL. */
static void check_chart(latent_world *x, const forest *f, const trl_tag_scores *tags,
                        const uint8_t *dead)
{
    trl_error err;
    world *w = &x->w;
    const ders *all = roots(f);
    const trl_words words = {w->word, w->n};
    trl_btree t = {0};
    expected e = {trl_zalloc(w->c.n_items + 1, sizeof(double)),
                  trl_zalloc(w->c.n_items + 1, sizeof(double)),
                  trl_zalloc(w->c.n_unary + 1, sizeof(double)), 0.0};
    for (size_t k = 0; all && k < all->n; k++) {
        if (!avoids(&all->at[k], dead))
            continue;
        tree_of(w, &all->at[k], &t);
        const double p = tree_p(x, tags, &t);
        add_used(x, &all->at[k], p, &e);
        e.all += p;
    }
    assert_ok(trl_latent_chart(&x->l, &(trl_latent_sentence){&words, tags, dead}, &w->c, &w->arena,
                               &err));
    assert_int_equal(isfinite(w->c.log_z), e.all > 0.0);
    for (size_t k = 0; e.all > 0.0 && k < w->c.n_items; k++) {
        near(w->c.after[k] * w->c.out_after[k], e.after[k] / e.all);
        near(w->c.before[k] * w->c.out_before[k], e.before[k] / e.all);
    }
    for (size_t k = 0; e.all > 0.0 && k < w->c.n_unary; k++)
        near(w->c.unary_exp[k], e.unary[k] / e.all);
    trl_free(e.before);
    trl_free(e.after);
    trl_free(e.unary);
    trl_btree_fini(&t);
}

/* Trees are few enough, and have few enough assignments of substates, to be listed. */
static bool few(const latent_world *x, const forest *f)
{
    double sum = 0.0;
    trl_btree t = {0};
    for (size_t k = 0; roots(f) && k < roots(f)->n && sum < 3e5; k++) {
        tree_of(&x->w, &roots(f)->at[k], &t);
        sum += t.n > 64 ? 1e9 : assignments(&x->l, &t);
    }
    trl_btree_fini(&t);
    return sum < 3e5;
}

static void test_chart(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(31);
    unsigned done = 0;
    for (unsigned round = 0; round < 150; round++) {
        latent_world x;
        forest f;
        open_world(&x, &r, 1 + round % 3, round % 2);
        world_words(&x.w, &r, 1 + draw(&r, 4));
        world_skeleton(&x.w, &r, round % 3 ? 5 : 0);
        world_scores(&x.w, &r, 1.0, 0.0, 0);
        const size_t n = x.w.n * x.w.g.n_states;
        uint8_t given[8];
        double *score = trl_alloc(n, sizeof *score);
        for (size_t k = 0; k < n; k++)
            score[k] = random_score(&r, 2.0);
        for (size_t k = 0; k < 8; k++)
            given[k] = draw(&r, 2) != 0;
        pack(&x);
        if (all_trees(&f, &x.w) && few(&x, &f)) {
            done += roots(&f) != NULL;
            uint8_t *dead = trl_alloc(x.w.c.n_items + 1, 1);
            for (size_t k = 0; k < x.w.c.n_items; k++)
                dead[k] = draw(&r, 12) == 0;
            check_chart(&x, &f, &(trl_tag_scores){given, score}, NULL);
            check_chart(&x, &f, &(trl_tag_scores){given, score}, dead);
            trl_free(dead);
        }
        free_forest(&f);
        trl_free(score);
        close_world(&x);
    }
    assert_true(done > 50);
}

/* ---- expected counts ------------------------------------------------------------------------- */

static void encode(const world *w, size_t k, trl_latent_tree *out)
{
    trl_error err;
    bool known;
    const trl_tree *t = &w->trees.tree[k];
    *out = (trl_latent_tree){.word = trl_alloc(2 * t->n_words, sizeof *out->word)};
    out->class_ = out->word + t->n_words;
    for (size_t i = 0; i < t->n_words; i++) {
        out->word[i] = trl_lexicon_word(&w->x, t->word[i]);
        out->class_[i] = trl_lexicon_class(&w->x, t->word[i], i);
    }
    assert_ok(trl_grammar_encode(&w->g, &(trl_encoded){NULL, t, &w->trees.labels}, &out->tree,
                                 &known, NULL, &err));
    assert_true(known);
}

static void check_counts(const latent_world *x, const trl_latent_tree *t, const trl_str *word)
{
    const trl_latent *l = &x->l;
    const size_t n = l->at.n;
    double *want = trl_zalloc(n, sizeof *want), all = 0.0;
    float *count = trl_zalloc(n, sizeof *count);
    trl_latent_scratch s = {trl_alloc(t->tree.n, sizeof *s.in),
                            trl_alloc(t->tree.n, sizeof *s.out)};
    unsigned sub[64] = {0};
    do {
        const double p = p_of(x, word, &t->tree, sub, 1e-5);
        all += p;
        for (size_t k = 0; k < t->tree.n; k++) {
            const trl_bnode *v = &t->tree.node[k];
            if (v->left == TRL_NO_NODE) {
                const size_t at = place_of(l, word, v);
                if (at != SIZE_MAX)
                    want[at + sub[k]] += p;
                continue;
            }
            const bool binary = v->right != TRL_NO_NODE;
            const size_t nb = l->at.k[t->tree.node[v->left].state];
            const size_t nc = binary ? l->at.k[t->tree.node[v->right].state] : 1;
            const size_t *places = binary ? l->at.binary : l->at.unary, at = places[v->rule];
            if (places[v->rule + 1] > at)
                want[at + (sub[k] * nb + sub[v->left]) * nc + (binary ? sub[v->right] : 0)] += p;
        }
    } while (next(l, &t->tree, sub));
    const double p = trl_latent_count(l, t, &s, count);
    assert_int_equal(isfinite(p), all > 0.0);
    if (all > 0.0)
        near(p, log(all));
    for (size_t k = 0; k < n; k++)
        near((double)count[k], all > 0.0 ? want[k] / all : 0.0);
    trl_free(want);
    trl_free(count);
    trl_free(s.in);
    trl_free(s.out);
}

static void test_counts(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(32);
    unsigned done = 0;
    for (unsigned round = 0; round < 40; round++) {
        latent_world x;
        open_world(&x, &r, 1 + round % 3, round % 2);
        for (size_t k = 0; k < x.w.trees.n; k++) {
            trl_latent_tree t;
            encode(&x.w, k, &t);
            if (t.tree.n <= 64 && assignments(&x.l, &t.tree) < 5e4) {
                check_counts(&x, &t, x.w.trees.tree[k].word);
                done++;
            }
            trl_latent_tree_fini(&t);
        }
        close_world(&x);
    }
    assert_true(done > 100);
}

static void same_rows(const trl_latent *a, const trl_latent *b)
{
    const size_t rules = a->g->n_binary + 1, n = a->rows.first[rules - 1];
    assert_memory_equal(a->rows.first, b->rows.first, rules * sizeof *a->rows.first);
    assert_memory_equal(a->rows.number, b->rows.number, rules * sizeof *a->rows.number);
    assert_memory_equal(a->rows.xy, b->rows.xy, 2 * n);
    assert_memory_equal(a->rows.p, b->rows.p, trl_latent_rows_size(a) * sizeof *a->rows.p);
}

/* ---- learning -------------------------------------------------------------------------------- */

typedef struct curve {
    double last;
    unsigned most, n;
} curve;

static void follow(void *ctx, unsigned most, unsigned iteration, double log_likelihood)
{
    curve *c = ctx;
    /* before the first step what halves have, noise included, does not add up to 1 */
    if (iteration > 1 && log_likelihood < c->last - 1e-5 * fabs(c->last))
        fail_msg("up to %u, iteration %u: %.9g after %.9g", most, iteration, log_likelihood,
                 c->last);
    c->most = most;
    c->last = log_likelihood;
    c->n++;
}

/* The same trees, by so many threads. */
static void learn(latent_world *x, size_t threads, trl_latent *l, curve *c)
{
    trl_error err;
    trl_latent_tree *tree = trl_zalloc(x->w.trees.n, sizeof *tree);
    trl_latent_options o = trl_latent_options_default();
    trl_pool *pool = trl_pool_new(threads);
    for (size_t k = 0; k < x->w.trees.n; k++)
        encode(&x->w, k, &tree[k]);
    o.most = 4;
    o.iterations = 8;
    o.tokens = 2.0;
    o.prior = o.words = 0.0; /* so that no step lowers the likelihood */
    o.tell = follow;
    o.ctx = c;
    *l = (trl_latent){.g = &x->w.g, .x = &x->w.x, .pcfg = &x->pcfg};
    assert_ok(trl_latent_learn(l, tree, x->w.trees.n, &o, pool, &err));
    for (size_t k = 0; k < x->w.trees.n; k++)
        trl_latent_tree_fini(&tree[k]);
    trl_free(tree);
    trl_pool_free(pool);
}

static void test_learning(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(33);
    for (unsigned round = 0; round < 10; round++) {
        latent_world x;
        trl_latent one, three;
        curve c = {0}, again = {0};
        open_world(&x, &r, 1, round % 2);
        learn(&x, 1, &one, &c);
        learn(&x, 3, &three, &again);
        assert_int_equal(c.n % 8, 0);
        assert_true(c.n == again.n && c.last == again.last);
        assert_int_equal(one.at.n, three.at.n);
        assert_memory_equal(one.p, three.p, (one.at.n - one.at.unary[0]) * sizeof *one.p);
        same_rows(&one, &three);
        assert_memory_equal(one.at.k, three.at.k, x.w.g.n_states);
        trl_latent_fini(&one);
        trl_latent_fini(&three);
        close_world(&x);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static void test_files(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(34);
    unsigned refused = 0;
    for (unsigned round = 0; round < 60; round++) {
        trl_error err;
        latent_world x;
        trl_container_builder b = {0};
        unsigned char *bytes;
        open_world(&x, &r, 3, false);
        pack(&x);
        assert_ok(trl_latent_save(&x.l, 1, &b, &err));
        trl_container *c = NULL;
        size_t size;
        trl_latent l = {.g = &x.w.g, .x = &x.w.x, .pcfg = &x.pcfg};
        assert_ok(trl_container_to_buffer(&b, "test", &bytes, &size, &err));
        assert_ok(trl_container_from_memory(bytes, size, "test", &c, &err));
        assert_false(trl_latent_stored(0, c));
        assert_true(trl_latent_stored(1, c));
        assert_ok(trl_latent_load(&l, 1, c, &err));
        assert_int_equal(l.at.n, x.l.at.n);
        assert_memory_equal(l.p, x.l.p, (l.at.n - l.at.unary[0]) * sizeof *l.p);
        same_rows(&l, &x.l);
        trl_latent_fini(&l);
        trl_container_free(c);
        trl_free(bytes);
        c = tamper(&b, &r, &bytes);
        const trl_status st = trl_latent_load(&l, 1, c, &err);
        assert_true(st == TRL_OK || st == TRL_EMODEL);
        refused += st != TRL_OK;
        trl_latent_fini(&l);
        trl_container_free(c);
        trl_free(bytes);
        trl_container_builder_fini(&b);
        close_world(&x);
    }
    assert_true(refused > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chart), cmocka_unit_test(test_counts),
                                       cmocka_unit_test(test_learning),
                                       cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, read_heads, free_heads);
}
