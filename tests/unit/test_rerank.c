/* The second stage of parsing: lists, gradient, choice, files. */
/* SPDX-License-Identifier: MIT */
#include "tampered.h"

#include <math.h>
#include <stdlib.h>

#include "parser/reranker.h"
#include "train_tree/rerank_fit.h"
#include "trellis/parseval.h"

/* ---- lists ----------------------------------------------------------------------------------- */

typedef struct stage {
    trl_tree_set all, few;
    trl_head_rules *heads;
    trl_tree_model m; /* the PCFG of all */
    trl_rerank_lists lists;
} stage;

static void make_lists(const stage *s, trl_rerank_lists *l, size_t threads)
{
    trl_error err;
    trl_pool *pool = trl_pool_new(threads);
    for (uint32_t fold = 0; fold < 2; fold++) {
        const trl_rerank_source from = {&s->m,          NULL, NULL,           s->heads,
                                        &s->m.clusters, 8,    TRL_RERANK_ALL, fold};
        assert_ok(trl_rerank_lists_add(l, &from, &s->few, pool, &err));
    }
    trl_pool_free(pool);
}

static bool not_the_first(const void *ctx, uint64_t k)
{
    return k % *(const uint64_t *)ctx != 0;
}

static void open_stage(stage *s)
{
    trl_error err;
    static const uint64_t every = 12;
    const char *dir = getenv("TRELLIS_CORPUS");
    char path[1024];
    *s = (stage){0};
    snprintf(path, sizeof path, "%s/sample.mrg", dir && *dir ? dir : "corpus");
    assert_ok(trl_tree_set_read(&s->all, path, 12, &err));
    s->few.passes = not_the_first;
    s->few.passes_ctx = &every;
    assert_ok(trl_tree_set_read(&s->few, path, 12, &err));
    assert_true(s->few.n > 5);
    assert_ok(trl_head_rules_read(NULL, &s->heads, &err));
    const trl_tree_model_options o = {
        .grade = TRL_GRADE_GENERATIVE, .rare = 1, .frequent = 3, .threshold = 1e-5};
    assert_ok(trl_tree_model_build(&s->m, &o, s->heads, &s->all, &err));
    make_lists(s, &s->lists, 1);
    assert_true(s->lists.n > 8);
}

static void close_stage(stage *s)
{
    trl_rerank_lists_fini(&s->lists);
    trl_tree_model_fini(&s->m);
    trl_head_rules_free(s->heads);
    trl_tree_set_fini(&s->all);
    trl_tree_set_fini(&s->few);
}

/* Candidates of a tree's words. */
static void list_candidates(const stage *s, const trl_tree *t, trl_decoder *d, trl_candidates *c)
{
    trl_error err;
    const trl_decode_options o = {.mix = TRL_MIX, .threshold = s->m.threshold};
    assert_ok(trl_decode_prepare(d, &s->m, t->word, t->n_words, &o, &err));
    assert_ok(trl_candidates_of(c, d, &s->m, 8, &err));
}

static void write_tree(const trl_tree *t, const trl_node_list *nodes, const trl_strtab *labels,
                       trl_buf *out)
{
    trl_tree copy = *t;
    copy.node = nodes->node;
    copy.n_nodes = nodes->n;
    out->len = 0;
    assert_true(trl_tree_write(&copy, labels, out));
}

/* Brackets as the scorer counts them; number 0 has the best expected ones; all are different. */
static void test_lists(void **state)
{
    (void)state;
    trl_error err;
    stage s;
    trl_decoder d = {0};
    trl_candidates c = {0};
    trl_parseval *score;
    trl_parseval_options po = trl_parseval_options_default();
    trl_buf gold = {0}, test = {0};
    size_t at = 0;
    open_stage(&s);
    po.gold_tags = true;
    assert_ok(trl_parseval_new(&po, &score, &err));
    for (size_t k = 0; k < s.few.n; k++) {
        const trl_tree *t = &s.few.tree[k];
        list_candidates(&s, t, &d, &c);
        if (c.n < 2)
            continue;
        const trl_rerank_choice *l = &s.lists.choice[at++];
        assert_int_equal(l->n, c.n);
        write_tree(t, &(trl_node_list){t->node, t->n_nodes}, &s.few.labels, &gold);
        for (size_t i = 0; i < c.n; i++) {
            trl_parseval_reset(score);
            write_tree(t, &c.list[i].tree, &s.m.fine.labels, &test);
            assert_ok(trl_parseval_add(score, gold.data, gold.len, test.data, test.len, &err));
            const trl_parseval_totals all = trl_parseval_get(score, UINT64_MAX);
            assert_int_equal(all.match, l->match[i]);
            assert_int_equal(all.gold, l->gold);
            assert_int_equal(all.test, l->test[i]);
            assert_int_equal(l->common[i * l->n + i], l->test[i]);
            assert_true(c.list[i].said[TRL_SAID_GAIN] <= c.list[0].said[TRL_SAID_GAIN] + 1e-6);
            for (size_t j = 0; j < i; j++) {
                assert_false(trl_same_tree(&c.list[i].tree, &c.list[j].tree));
                assert_int_equal(l->common[i * l->n + j], l->common[j * l->n + i]);
            }
        }
    }
    assert_int_equal(2 * at, s.lists.n); /* two folds of the same trees */
    trl_parseval_free(score);
    trl_buf_fini(&gold);
    trl_buf_fini(&test);
    trl_candidates_fini(&c);
    trl_decoder_fini(&d);
    close_stage(&s);
}

static void test_threads(void **state)
{
    (void)state;
    stage s;
    trl_rerank_lists more = {0};
    open_stage(&s);
    make_lists(&s, &more, 3);
    assert_int_equal(more.n, s.lists.n);
    assert_int_equal(more.keys.n, s.lists.keys.n);
    assert_memory_equal(more.seen, s.lists.seen, more.keys.n * sizeof *more.seen);
    for (size_t k = 0; k < more.n; k++) {
        const trl_rerank_choice *a = &more.choice[k], *b = &s.lists.choice[k];
        assert_int_equal(a->n, b->n);
        assert_memory_equal(a->said, b->said, a->n * TRL_SAID * sizeof *a->said);
        assert_memory_equal(a->id, b->id, a->first[a->n] * sizeof *a->id);
        assert_memory_equal(a->times, b->times, a->first[a->n] * sizeof *a->times);
    }
    trl_rerank_lists_fini(&more);
    close_stage(&s);
}

/* ---- the objective --------------------------------------------------------------------------- */

static double value_at(trl_rerank_fit *f, const double *w, size_t example, trl_sparse *out)
{
    trl_error err;
    double loss = 0.0;
    assert_ok(f->task.prepare(f, w, &err));
    assert_ok(f->task.evaluate(f, example, 0, &loss, out, &err));
    return loss;
}

static void test_gradient(void **state)
{
    (void)state;
    trl_error err;
    stage s;
    trl_rerank_fit f;
    trl_sparse g = {0};
    trl_rng r = trl_rng_seed(5);
    open_stage(&s);
    assert_ok(trl_rerank_fit_init(&f, &s.lists, 1, &err));
    double *w = trl_alloc64(f.n_weights + 64, sizeof *w);
    double *dense = trl_zalloc(f.n_weights, sizeof *dense);
    for (size_t k = 0; k < f.n_weights; k++)
        w[k] = (k < TRL_SAID ? 0.02 : 0.5) * (trl_rng_unit(&r) - 0.5);
    for (size_t e = 0; e < s.lists.n; e += 3) {
        g.n = 0;
        assert_true(value_at(&f, w, e, &g) >= 0.0);
        memset(dense, 0, f.n_weights * sizeof *dense);
        for (size_t k = 0; k < g.n; k++)
            dense[g.id[k]] += g.value[k];
        for (size_t k = 0; k < f.n_weights; k += k < TRL_SAID ? 1 : 97) {
            const double old = w[k], h = 1e-5;
            w[k] = old + h;
            const double up = value_at(&f, w, e, NULL);
            w[k] = old - h;
            const double down = value_at(&f, w, e, NULL);
            w[k] = old;
            assert_true(fabs((up - down) / (2 * h) - dense[k]) < 1e-5 * (1.0 + fabs(dense[k])));
        }
    }
    f.left_out = 1; /* the second fold has no loss */
    g.n = 0;
    assert_true(value_at(&f, w, s.lists.n - 1, &g) == 0.0);
    assert_int_equal(g.n, 0);
    trl_sparse_fini(&g);
    trl_free(w);
    trl_free(dense);
    trl_rerank_fit_fini(&f);
    close_stage(&s);
}

/* Fitting lowers the loss of the right candidates. */
static void test_fit(void **state)
{
    (void)state;
    trl_error err;
    stage s;
    trl_rerank_fit f;
    trl_pool *pool = trl_pool_new(2);
    double before = 0.0, after = 0.0;
    open_stage(&s);
    size_t kept = 0;
    for (size_t k = 0; k < s.lists.keys.n; k++)
        kept += s.lists.seen[k] >= 4;
    const trl_rerank_choice *first = &s.lists.choice[0];
    uint32_t in_first = 0;
    for (uint32_t k = 0; k < first->first[first->n]; k++)
        in_first += s.lists.seen[first->id[k]] >= 4;
    assert_ok(trl_rerank_lists_prune(&s.lists, 4, &err));
    assert_int_equal(s.lists.keys.n, kept);
    assert_int_equal(first->first[first->n], in_first);
    assert_ok(trl_rerank_fit_init(&f, &s.lists, 2, &err));
    assert_int_equal(f.n_weights, TRL_SAID + kept);
    double *w = trl_alloc64(f.n_weights + 64, sizeof *w);
    memset(w, 0, (f.n_weights + 64) * sizeof *w);
    for (size_t k = 0; k < s.lists.n; k++)
        before += trl_rerank_loss(&s.lists.choice[k], trl_rerank_fit_p(&f, &s.lists.choice[k], w));
    assert_ok(trl_rerank_fit_run(&f, 0.1, pool, w, &err));
    for (size_t k = 0; k < s.lists.n; k++) {
        const trl_rerank_choice *c = &s.lists.choice[k];
        const double *p = trl_rerank_fit_p(&f, c, w);
        double sum = 0.0;
        for (size_t i = 0; i < c->n; i++)
            sum += p[i];
        assert_true(fabs(sum - 1.0) < 1e-12);
        after += trl_rerank_loss(c, p);
        assert_int_equal(trl_rerank_choose(c, p, 0.0), 0);
    }
    assert_true(after < 0.5 * before);
    trl_free(w);
    trl_rerank_fit_fini(&f);
    trl_pool_free(pool);
    close_stage(&s);
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* A second stage whose keys are those of the lists, with random weights. */
static void random_stage(stage *s, double share)
{
    trl_error err;
    trl_rng r = trl_rng_seed(17);
    trl_reranker *k = &s->m.reranker;
    const trl_tree_index *x = &s->lists.keys;
    *k = (trl_reranker){.n = 8,
                        .groups = TRL_RERANK_ALL,
                        .share = share,
                        .said = {0.5, 0.1, 0.1, 0.0, 0.2},
                        .own_key = trl_alloc(x->n_slots, sizeof *k->own_key),
                        .own_weight = trl_alloc(x->n_slots, sizeof *k->own_weight)};
    memcpy(k->own_key, x->key, x->n_slots * sizeof *k->own_key);
    for (size_t i = 0; i < x->n_slots; i++)
        k->own_weight[i] = x->key[i] ? (float)(0.6 * (trl_rng_unit(&r) - 0.5)) : 0.0f;
    k->index = (trl_tree_index){.key = k->own_key, .n_slots = x->n_slots, .n = x->n};
    k->weight = k->own_weight;
    assert_ok(trl_head_rules_read(NULL, &k->heads, &err));
}

/* How many of b's phrases a has. */
static double overlap(const trl_node_list *a, const trl_node_list *b)
{
    double n = 0.0;
    for (size_t v = 0; v < a->n; v++)
        for (size_t u = 0; u < b->n && a->node[v].child != TRL_NO_NODE; u++)
            if (b->node[u].child != TRL_NO_NODE && a->node[v].label == b->node[u].label &&
                a->node[v].from == b->node[u].from && a->node[v].to == b->node[u].to) {
                n += 1.0;
                break;
            }
    return n;
}

static double phrases(const trl_node_list *t)
{
    double n = 0.0;
    for (size_t v = 0; v < t->n; v++)
        n += t->node[v].child != TRL_NO_NODE;
    return n;
}

static void test_choice(void **state)
{
    (void)state;
    trl_error err;
    stage s;
    trl_decoder d = {0};
    trl_candidates c = {0};
    trl_rerank_scratch x = {0};
    size_t other = 0;
    open_stage(&s);
    for (int round = 0; round < 2; round++) {
        random_stage(&s, round ? 1.0 : 0.0);
        for (size_t k = 0; k < s.few.n; k++) {
            const trl_tree *t = &s.few.tree[k];
            list_candidates(&s, t, &d, &c);
            if (c.n == 0)
                continue;
            assert_ok(trl_rerank(&s.m, &(trl_words){t->word, t->n_words}, &c, &x, &err));
            double sum = 0.0, most = -HUGE_VAL, got = 0.0;
            assert_ok(trl_rerank_tree_of(&s.m, TRL_LAMBDA, &c, x.p, &d, &err));
            const trl_node_list tree = {d.result.node, d.result.n};
            for (size_t i = 0; i < c.n; i++) {
                double gain = -TRL_LAMBDA * phrases(&c.list[i].tree);
                sum += x.p[i];
                for (size_t j = 0; j < c.n; j++)
                    gain += x.p[j] * overlap(&c.list[i].tree, &c.list[j].tree);
                most = gain > most ? gain : most;
                got += x.p[i] * overlap(&tree, &c.list[i].tree);
            }
            assert_true(fabs(sum - 1.0) < 1e-12);
            if (round == 0)
                assert_true(trl_same_tree(&tree, &c.list[0].tree));
            else
                assert_true(got - TRL_LAMBDA * phrases(&tree) >= most - 1e-9);
            other += round && !trl_same_tree(&tree, &c.list[0].tree);
        }
        trl_rerank_scratch_fini(&x); /* has borrowed the head rules */
        trl_reranker_fini(&s.m.reranker);
    }
    assert_true(other > 0);
    trl_candidates_fini(&c);
    trl_decoder_fini(&d);
    close_stage(&s);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void test_files(void **state)
{
    (void)state;
    trl_error err;
    stage s;
    trl_container_builder out = {0};
    trl_container *c = NULL;
    unsigned char *bytes = NULL;
    size_t size, refused = 0;
    trl_reranker again;
    open_stage(&s);
    random_stage(&s, 0.5);
    const trl_reranker *r = &s.m.reranker;
    s.m.reranker.trees = (trl_span_calibration){3, {{0.0, 0.0}, {0.5, 0.3}, {1.0, 0.9}}};
    assert_ok(trl_reranker_save(r, &out, &err));
    assert_ok(trl_container_to_buffer(&out, "test", &bytes, &size, &err));
    assert_ok(trl_container_from_memory(bytes, size, "test", &c, &err));
    assert_ok(trl_reranker_load(&again, c, &err));
    assert_int_equal(again.n, r->n);
    assert_true(again.share == r->share);
    assert_memory_equal(again.said, r->said, sizeof r->said);
    assert_int_equal(again.trees.n, 3);
    assert_true(trl_span_calibrated(&again.trees, 0.5) == 0.3);
    assert_int_equal(again.index.n, r->index.n);
    assert_memory_equal(again.weight, r->weight, r->index.n_slots * sizeof *r->weight);
    trl_reranker_fini(&again);
    trl_container_free(c);
    trl_free(bytes);
    trl_rng rng = trl_rng_seed(3);
    for (int k = 0; k < 300; k++) {
        c = tamper(&out, &rng, &bytes);
        const trl_status st = trl_reranker_load(&again, c, &err);
        assert_true(st == TRL_OK || st == TRL_EMODEL);
        refused += st == TRL_EMODEL;
        trl_reranker_fini(&again);
        trl_container_free(c);
        trl_free(bytes);
    }
    assert_true(refused > 20);
    trl_container_builder_fini(&out);
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_gradient), cmocka_unit_test(test_fit),
        cmocka_unit_test(test_choice),   cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
