/* The span pruner: gains in the coarse pass, their gradient, training, files. */
/* SPDX-License-Identifier: MIT */
#include "tree_bank.h"

#include "tampered.h"
#include "train_tree/given_spans.h"
#include "train_tree/span_pruner_train.h"

enum { SPAN_BITS = 6, WORD_BITS = 4 };

static void open_bank(bank *b)
{
    bank_open(b, trl_tree_template_text("discriminative"), (trl_annotation){.parents = true}, false,
              9, 20, 3);
}

static double *some_weights(const trl_span_pruner_task *t, double width)
{
    trl_rng r = trl_rng_seed(5);
    double *w = trl_alloc(t->sparse.n_weights, sizeof *w);
    for (size_t k = 0; k < t->sparse.n_weights; k++)
        w[k] = width * (2.0 * trl_rng_unit(&r) - 1.0);
    return w;
}

static void start(trl_span_pruner_task *t, const bank *b, size_t threads)
{
    trl_error err;
    assert_ok(trl_span_pruner_task_init(
        t,
        &(trl_span_pruner_data){
            .c = &b->m.pruner, .o = &b->m.observer, .trees = &b->trees, .fine = &b->m.fine},
        SPAN_BITS, WORD_BITS, threads, &err));
}

static void gains_of(const bank *b, const trl_span_pruner *s, const trl_tree *t, trl_gains *g,
                     trl_arena *arena)
{
    trl_error err;
    trl_seen seen;
    trl_observe(&b->m.observer, t->word, t->n_words,
                trl_arena_get(arena, trl_seen_size(t->n_words), 1), &seen);
    assert_ok(trl_span_pruner_gains(s, &seen, g, arena, &err));
}

/* ---- the coarse pass with gains is the chart with the same scores of items ------------------- */

static void add_gains(const trl_grammar *g, const trl_gains *gains, const trl_skeleton *s,
                      double *logp)
{
    for (size_t j = 1; j <= s->n; j++)
        for (size_t i = 0; i < j; i++)
            for (uint32_t x = s->first[trl_cell(i, j)]; x < s->first[trl_cell(i, j) + 1]; x++) {
                const uint32_t state = s->item[x] & TRL_STATE_MASK;
                const uint8_t c = gains->class_of[state];
                if (j - i > 1)
                    logp[x] +=
                        (double)gains->log_span[trl_cell(i, j) * TRL_SPAN_PRUNER_CLASSES + c];
                else if (g->state[state].type == TRL_STATE_TAG)
                    logp[x] += (double)gains->log_word[i * TRL_SPAN_PRUNER_TAGS + c];
            }
}

static void compare(const trl_chart *c, const trl_coarse_chart *v)
{
    assert_true(isfinite(c->log_z));
    assert_near(v->log_z, c->log_z, 1e-4);
    for (size_t cell = 0; cell < trl_chart_cells(c->n); cell++)
        for (uint32_t x = c->s->first[cell]; x < c->s->first[cell + 1]; x++) {
            const size_t at = cell * v->n_states + (c->s->item[x] & TRL_STATE_MASK);
            const bool dead = v->scale[cell] == INT32_MIN;
            assert_near(dead ? 0.0 : (double)v->before[at] * (double)v->out_before[at],
                        c->before[x] * c->out_before[x], 1e-4);
            assert_near(dead ? 0.0 : (double)v->after[at] * (double)v->out_after[at],
                        c->after[x] * c->out_after[x], 1e-4);
        }
}

static void test_gains(void **state)
{
    (void)state;
    bank b;
    trl_error err;
    trl_span_pruner_task t;
    trl_arena arena = {0};
    open_bank(&b);
    start(&t, &b, 1);
    double *w = some_weights(&t, 0.7), moved = 0.0;
    t.span_pruner.exact = w;
    for (size_t k = 0; k < b.trees.n; k += 7) {
        const trl_tree *tree = &b.trees.tree[k];
        trl_gains g;
        trl_coarse_chart v, bare;
        trl_skeleton s;
        trl_chart c;
        double *logp;
        trl_arena_reset(&arena);
        gains_of(&b, &t.span_pruner, tree, &g, &arena);
        assert_ok(trl_coarse_run(&b.m.pruner, &(trl_words){tree->word, tree->n_words},
                                 &(trl_coarse_how){.gains = &g}, &v, &arena, &err));
        assert_ok(trl_coarse_run(&b.m.pruner, &(trl_words){tree->word, tree->n_words},
                                 &(trl_coarse_how){0}, &bare, &arena, &err));
        assert_ok(trl_skeleton_full(&(trl_words_grammar){&b.m.coarse, &b.m.coarse_lexicon},
                                    &(trl_words){tree->word, tree->n_words}, &s, &logp, &arena,
                                    &err));
        add_gains(&b.m.coarse, &g, &s, logp);
        assert_ok(trl_pcfg_chart(&b.m.coarse_pcfg, &s, logp, &c, &arena, &err));
        compare(&c, &v);
        moved += fabs(v.log_z - bare.log_z);
    }
    assert_true(moved > 1.0);
    trl_free(w);
    trl_span_pruner_task_fini(&t);
    trl_arena_fini(&arena);
    bank_close(&b);
}

/* ---- gradient -------------------------------------------------------------------------------- */

static double loss_at(trl_span_pruner_task *t, const double *w, size_t example, trl_sparse *g)
{
    trl_error err;
    double loss;
    assert_ok(t->sparse.prepare(t, w, &err));
    assert_ok(t->sparse.evaluate(t, example, 0, &loss, g, &err));
    return loss;
}

/* Of every word of the tree its tag and another, with scores. */
static size_t give_tags(const bank *b, const trl_tree *t, trl_given_tag *tag)
{
    size_t n = 0;
    const uint32_t other = trl_strtab_find(&b->m.fine.labels, "NN", 2);
    for (uint32_t v = 0; v < t->n_nodes; v++) {
        if (t->node[v].child != TRL_NO_NODE)
            continue;
        const trl_str name = trl_tree_label(t, v);
        const uint32_t right = trl_strtab_find(&b->m.fine.labels, name.p, name.n);
        tag[n++] = (trl_given_tag){t->node[v].from, right, -0.3};
        if (right != other)
            tag[n++] = (trl_given_tag){t->node[v].from, other, -1.1};
    }
    return n;
}

static void check_gradient(bool with_tags, size_t most)
{
    bank b;
    trl_span_pruner_task t;
    trl_given_tag tag[2 * 9];
    open_bank(&b);
    start(&t, &b, 1);
    t.least = 0.0f;
    t.most = most;
    trl_given_list *tags = trl_zalloc(b.trees.n, sizeof *tags);
    tags[3] = (trl_given_list){tag, give_tags(&b, &b.trees.tree[3], tag)};
    t.tags = with_tags ? tags : NULL;
    double *w = some_weights(&t, 0.3);
    double *dense = trl_zalloc(t.sparse.n_weights, sizeof *dense);
    trl_sparse g = {0};
    unsigned large = 0;
    const size_t example = 3;
    loss_at(&t, w, example, &g);
    for (size_t k = 0; k < g.n; k++)
        dense[g.id[k]] += g.value[k];
    for (size_t k = 0; k < t.sparse.n_weights; k += 3) {
        const double h = 0.02, old = w[k];
        w[k] = old + h;
        const double up = loss_at(&t, w, example, NULL);
        w[k] = old - h;
        const double down = loss_at(&t, w, example, NULL);
        w[k] = old;
        assert_near((up - down) / (2.0 * h), dense[k], 3e-3);
        large += fabs(dense[k]) > 0.1;
    }
    assert_true(large > 20);
    const double with = loss_at(&t, w, example, NULL);
    t.tags = NULL;
    assert_true(with_tags == (fabs(with - loss_at(&t, w, example, NULL)) > 0.01));
    trl_free(tags);
    trl_sparse_fini(&g);
    trl_free(dense);
    trl_free(w);
    trl_span_pruner_task_fini(&t);
    bank_close(&b);
}

static void test_gradient(void **state)
{
    (void)state;
    check_gradient(false, 0);
    check_gradient(true, 0);
    check_gradient(false, 4);
}

/* ---- long spans that are given --------------------------------------------------------------- */

static bool crosses(const trl_bnode *x, size_t i, size_t j)
{
    return (i < x->from && x->from < j && j < x->to) || (x->from < i && i < x->to && x->to < j);
}

/* By the definition. */
static bool may_have(const trl_btree *t, size_t most, size_t i, size_t j)
{
    bool there = false, crossing = false;
    for (size_t x = 0; x < t->n; x++) {
        const trl_bnode *n = &t->node[x];
        there |= n->from == i && n->to == j;
        crossing |= n->to - n->from > most && crosses(n, i, j);
    }
    return j - i > most ? there : !crossing;
}

/* The sum with given spans is that of a chart without all others. */
static void check_sum(const bank *b, const trl_tree *tree, const uint8_t *keep, trl_arena *arena)
{
    trl_error err;
    trl_coarse_chart v, all;
    trl_skeleton s;
    trl_chart c;
    double *logp;
    const trl_words words = {tree->word, tree->n_words};
    assert_ok(
        trl_coarse_run(&b->m.pruner, &words, &(trl_coarse_how){.keep = keep}, &v, arena, &err));
    assert_ok(trl_coarse_run(&b->m.pruner, &words, &(trl_coarse_how){0}, &all, arena, &err));
    assert_ok(trl_skeleton_full(&(trl_words_grammar){&b->m.coarse, &b->m.coarse_lexicon}, &words,
                                &s, &logp, arena, &err));
    for (size_t cell = 0; cell < trl_chart_cells(s.n); cell++)
        for (uint32_t x = s.first[cell]; x < s.first[cell + 1]; x++)
            logp[x] = keep[cell] ? logp[x] : -1e3;
    assert_ok(trl_pcfg_chart(&b->m.coarse_pcfg, &s, logp, &c, arena, &err));
    compare(&c, &v);
    assert_true(v.log_z <= all.log_z + 1e-4);
}

static void test_given_spans(void **state)
{
    (void)state;
    bank b;
    trl_error err;
    trl_arena arena = {0};
    trl_btree gold = {0};
    size_t kept = 0, cells = 0;
    open_bank(&b);
    for (size_t k = 0; k < b.trees.n; k++) {
        const trl_tree *tree = &b.trees.tree[k];
        const size_t n = tree->n_words, most = 2 + k % 4;
        bool known;
        trl_arena_reset(&arena);
        assert_ok(trl_grammar_encode(&b.m.coarse, &(trl_encoded){NULL, tree, &b.trees.labels},
                                     &gold, &known, NULL, &err));
        uint8_t *keep = trl_arena_get(&arena, trl_chart_cells(n), 1);
        trl_given_spans(&gold, n, most, keep);
        for (size_t j = 1; j <= n; j++)
            for (size_t i = 0; i < j; i++) {
                assert_int_equal(keep[trl_cell(i, j)], may_have(&gold, most, i, j));
                kept += keep[trl_cell(i, j)];
                cells++;
            }
        if (k % 7 == 0)
            check_sum(&b, tree, keep, &arena);
    }
    assert_true(kept > cells / 4 && kept < cells);
    trl_btree_fini(&gold);
    trl_arena_fini(&arena);
    bank_close(&b);
}

/* ---- training and files ---------------------------------------------------------------------- */

static const trl_span_pruner_options training = {.span_bits = SPAN_BITS,
                                                 .word_bits = WORD_BITS,
                                                 .passes = 3,
                                                 .batch = 4,
                                                 .seed = 1,
                                                 .c2 = 0.1,
                                                 .eta = 0.1};

static void train(bank *b, trl_span_pruner *s, size_t threads)
{
    trl_error err;
    trl_pool *pool = trl_pool_new(threads);
    assert_ok(trl_span_pruner_init(s, &b->m.coarse, &err));
    assert_ok(trl_span_pruner_train(
        s, &(trl_span_pruner_data){.c = &b->m.pruner, .o = &b->m.observer, .trees = &b->trees},
        &training, pool, &(trl_span_pruner_watch){NULL, NULL}, &err));
    trl_pool_free(pool);
}

/* -log p of the trees, up to the PCFG's part. */
static double loss_of(const bank *b, const trl_span_pruner *s)
{
    trl_span_pruner_task t;
    start(&t, b, 1);
    double *w = trl_zalloc(t.sparse.n_weights, sizeof *w), sum = 0.0;
    for (size_t k = 0; s && k < t.sparse.n_weights; k++)
        w[k] = s->span[k] * (double)s->unit;
    for (size_t k = 0; k < b->trees.n; k++)
        sum += loss_at(&t, w, k, NULL);
    trl_free(w);
    trl_span_pruner_task_fini(&t);
    return sum;
}

static void test_training(void **state)
{
    (void)state;
    bank b;
    trl_span_pruner one, two;
    open_bank(&b);
    train(&b, &one, 1);
    train(&b, &two, 2);
    assert_memory_equal(one.span, two.span, trl_span_pruner_weights(one.span_mask, one.word_mask));
    assert_true(one.unit == two.unit);
    assert_true(loss_of(&b, &one) < loss_of(&b, NULL) - 20.0);
    trl_span_pruner_fini(&one);
    trl_span_pruner_fini(&two);
    bank_close(&b);
}

/* Rounded weights give nearly the gains of exact ones. */
static void test_rounding(void **state)
{
    (void)state;
    bank b;
    trl_error err;
    trl_span_pruner_task t;
    trl_span_pruner s;
    trl_arena arena = {0};
    trl_gains exact, rounded;
    open_bank(&b);
    start(&t, &b, 1);
    double *w = some_weights(&t, 1.0);
    t.span_pruner.exact = w;
    assert_ok(trl_span_pruner_init(&s, &b.m.coarse, &err));
    assert_ok(trl_span_pruner_round(&s, w, t.span_pruner.span_mask, t.span_pruner.word_mask, &err));
    const trl_tree *tree = &b.trees.tree[4];
    gains_of(&b, &t.span_pruner, tree, &exact, &arena);
    gains_of(&b, &s, tree, &rounded, &arena);
    const double most = 0.51 * (double)s.unit * (2 * TRL_SPAN_PRUNER_END + TRL_SPAN_PRUNER_PAIR);
    double off = 0.0;
    for (size_t k = 0; k < trl_chart_cells(tree->n_words) * TRL_SPAN_PRUNER_CLASSES; k++) {
        const double d = fabs((double)exact.log_span[k] - (double)rounded.log_span[k]);
        assert_true(d < most);
        off = d > off ? d : off;
    }
    for (size_t k = 0; k < tree->n_words * TRL_SPAN_PRUNER_TAGS; k++)
        assert_true(fabs((double)exact.log_word[k] - (double)rounded.log_word[k]) < most);
    assert_true(off > 0.0);
    trl_free(w);
    trl_span_pruner_fini(&s);
    trl_span_pruner_task_fini(&t);
    trl_arena_fini(&arena);
    bank_close(&b);
}

static void test_files(void **state)
{
    (void)state;
    bank b;
    trl_error err;
    trl_span_pruner s, again;
    trl_container_builder out = {0};
    trl_container *c = NULL;
    unsigned char *bytes = NULL;
    size_t size;
    open_bank(&b);
    train(&b, &s, 1);
    assert_ok(trl_span_pruner_save(&s, &out, &err));
    assert_ok(trl_container_to_buffer(&out, "test", &bytes, &size, &err));
    assert_ok(trl_container_from_memory(bytes, size, "test", &c, &err));
    assert_ok(trl_span_pruner_init(&again, &b.m.coarse, &err));
    assert_ok(trl_span_pruner_load(&again, c, &err));
    assert_true(again.unit == s.unit && again.span_mask == s.span_mask &&
                again.word_mask == s.word_mask);
    assert_memory_equal(again.span, s.span, trl_span_pruner_weights(s.span_mask, s.word_mask));
    trl_span_pruner_fini(&again);
    trl_container_free(c);
    free(bytes);
    trl_rng r = trl_rng_seed(9);
    unsigned refused = 0;
    for (unsigned k = 0; k < 60; k++) { /* a wrong weight cannot be seen; a wrong size can */
        c = tamper(&out, &r, &bytes);
        assert_ok(trl_span_pruner_init(&again, &b.m.coarse, &err));
        const trl_status st = trl_span_pruner_load(&again, c, &err);
        assert_true(st == TRL_OK || st == TRL_EMODEL);
        refused += st != TRL_OK;
        trl_span_pruner_fini(&again);
        trl_container_free(c);
        free(bytes);
    }
    assert_true(refused > 3);
    trl_container_builder_fini(&out);
    trl_span_pruner_fini(&s);
    bank_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gains),    cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_training), cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_files),    cmocka_unit_test(test_given_spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
