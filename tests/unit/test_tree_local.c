/* Grammars normalised at every edge: choices one by one, gradients, decoding. */
/* SPDX-License-Identifier: MIT */
#include "tree_local_bank.h"

/* Gold items alone, and every `one_in`th other item of the chart as a NOTA instance (0: none). */
static void narrow(bank *b, size_t e, unsigned one_in, trl_rng *r)
{
    trl_error err;
    trl_arena arena = {0};
    trl_tree_example *x = &b->example[e];
    trl_skeleton s;
    size_t cap = 0;
    const trl_skeleton full = x->s;
    for (uint32_t j = 1; one_in && j <= full.n; j++)
        for (uint32_t i = 0; i < j; i++)
            for (uint32_t k = full.first[trl_cell(i, j)]; k < full.first[trl_cell(i, j) + 1]; k++)
                if (b->m.fine.state[full.item[k] & TRL_STATE_MASK].type != TRL_STATE_TAG &&
                    trl_rng_below(r, one_in) == 0) {
                    x->nota = trl_reserve(x->nota, &cap, x->n_nota + 1, sizeof *x->nota);
                    x->nota[x->n_nota++] = (trl_span_state){full.item[k] & TRL_STATE_MASK, i, j};
                }
    assert_ok(trl_gold_skeleton(&x->gold, x->nota, x->n_nota, &s, &arena, &err));
    assert_ok(trl_skeleton_copy(&s, NULL, &x->s, &err));
    trl_free(full.first);
    trl_arena_fini(&arena);
}

static void test_values(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(3);
    for (size_t k = 0; k < N_MODELS; k++) {
        bank b;
        trl_tree_task me, pt;
        open_model(&b, k, 6, 9);
        random_weights(&b, k + 1, 0.7);
        for (size_t e = 0; e < b.n; e++)
            narrow(&b, e, 6, &r);
        open_task(&b, &me, objective_of(TRL_OBJ_MEMM), 1);
        open_task(&b, &pt, objective_of(TRL_OBJ_NOTA), 1);
        pt.nota = true;
        for (size_t e = 0; e < b.n; e++) {
            const trl_tree_example *x = &b.example[e];
            double loss = plain_tree(&b, &x->gold, &x->seen, false), gold;
            assert_near(loss_of(&me, b.w, e), loss, 1e-11);
            loss = plain_tree(&b, &x->gold, &x->seen, true);
            for (size_t i = 0; i < x->n_nota; i++)
                loss += log1p(plain_sum(&b, x->nota[i].state, x->nota[i].i, x->nota[i].j,
                                        TRL_CHOOSE_NOTA, 0, &x->seen, &gold));
            assert_true(x->n_nota > 0);
            assert_near(loss_of(&pt, b.w, e), loss, 1e-11);
        }
        trl_tree_task_fini(&me);
        trl_tree_task_fini(&pt);
        bank_close(&b);
    }
}

/* ---- distributions -------------------------------------------------------------------------- */

/* exp(-loss) of one choice. */
static double p_of(trl_chooser *ch, trl_choice c)
{
    trl_error err;
    double loss = 0.0;
    assert_ok(trl_tree_choose(ch, &c, &loss, &err));
    return exp(-loss);
}

static double choices_sum(trl_chooser *ch, const bank *b, trl_choice c, uint32_t a)
{
    const trl_grammar *g = &b->m.fine;
    double sum = 0.0;
    c.what = TRL_CHOOSE_BINARY;
    for (c.rule = 0; c.rule < g->n_binary; c.rule++)
        sum += g->binary[c.rule].parent == a ? p_of(ch, c) : 0.0;
    c.what = TRL_CHOOSE_UNARY;
    for (c.rule = 0; c.rule < g->n_unary; c.rule++)
        sum += g->unary[c.rule].parent == a ? p_of(ch, c) : 0.0;
    c.what = TRL_CHOOSE_NOTA;
    return sum + (c.nota ? p_of(ch, c) : 0.0);
}

static void test_sum_to_one(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(4);
    for (size_t k = 0; k < N_MODELS; k++) {
        bank b;
        trl_tree_task t;
        size_t checked = 0;
        open_model(&b, k, 4, 9);
        random_weights(&b, k + 7, 1.0);
        open_task(&b, &t, objective_of(TRL_OBJ_MEMM), 1);
        for (size_t e = 0; e < b.n; e++) {
            const trl_tree_example *x = &b.example[e];
            narrow(&b, e, 3, &r);
            loss_of(&t, b.w, e); /* leaves the chooser with this example */
            for (uint32_t j = 1; j <= x->s.n; j++)
                for (uint32_t i = 0; i < j; i++)
                    for (uint32_t at = x->s.first[trl_cell(i, j)];
                         at < x->s.first[trl_cell(i, j) + 1]; at++)
                        for (int nota = 0; nota < 2; nota++) {
                            const uint32_t a = x->s.item[at] & TRL_STATE_MASK;
                            const trl_choice ch = {.item = at, .i = i, .j = j, .nota = nota};
                            if (b.m.fine.state[a].type == TRL_STATE_TAG)
                                continue;
                            assert_near(choices_sum(&t.worker[0].chooser, &b, ch, a), 1.0, 1e-11);
                            checked++;
                        }
        }
        assert_true(checked > 100);
        trl_tree_task_fini(&t);
        bank_close(&b);
    }
}

/* ---- gradients ------------------------------------------------------------------------------ */

static size_t check_gradient(bank *b, trl_tree_task *t, size_t e, trl_rng *r)
{
    trl_error err;
    double *g = trl_zalloc(t->sparse.n_weights, sizeof *g), loss;
    trl_sparse s = {0};
    size_t checked = 0;
    const double h = 1e-5;
    assert_ok(t->sparse.prepare(t, b->w, &err));
    assert_ok(t->sparse.evaluate(t, e, 0, &loss, &s, &err));
    for (size_t k = 0; k < s.n; k++)
        g[s.id[k]] += s.value[k];
    for (size_t n = 0; n < 80; n++) {
        const size_t k =
            n % 6 ? s.id[trl_rng_below(r, s.n)] : trl_rng_below(r, t->sparse.n_weights);
        const double old = b->w[k];
        b->w[k] = old + h;
        const double up = loss_of(t, b->w, e);
        b->w[k] = old - h;
        const double down = loss_of(t, b->w, e);
        b->w[k] = old;
        assert_near(g[k], (up - down) / (2 * h), 1e-6);
        checked += fabs(g[k]) > 1e-3;
    }
    trl_sparse_fini(&s);
    trl_free(g);
    return checked;
}

static void test_gradients(void **state)
{
    (void)state;
    const trl_objective *const all[] = {objective_of(TRL_OBJ_MEMM), objective_of(TRL_OBJ_NOTA)};
    trl_rng r = trl_rng_seed(5);
    for (size_t k = 0; k < N_MODELS; k++)
        for (size_t o = 0; o < 2; o++) {
            bank b;
            trl_tree_task t;
            size_t checked = 0;
            open_model(&b, k, 4, 13);
            random_weights(&b, k + 3, 0.6);
            for (size_t e = 0; e < b.n; e++)
                narrow(&b, e, o == 1 ? 8 : 0, &r);
            open_task(&b, &t, all[o], 1);
            t.nota = o == 1;
            for (size_t e = 0; e < b.n; e++)
                checked += check_gradient(&b, &t, e, &r);
            assert_true(checked > 40);
            trl_tree_task_fini(&t);
            bank_close(&b);
        }
}

/* Nearly all of a state's sum is taken off by a word's features: loss and gradient of what is left.
 */
static void test_taken_off(void **state)
{
    (void)state;
    bank b;
    trl_tree_task t;
    trl_rng r = trl_rng_seed(6);
    size_t tried = 0;
    open_model(&b, 0, 10, 9);
    for (size_t e = 0; e < b.n; e++)
        narrow(&b, e, 0, NULL);
    open_task(&b, &t, objective_of(TRL_OBJ_MEMM), 1);
    const trl_tree_features *f = &b.m.features;
    for (size_t e = 0; e < b.n; e++) {
        const trl_tree_example *x = &b.example[e];
        size_t at = 0, others = 0;
        while (x->gold.node[at].left == TRL_NO_NODE || x->gold.node[at].right == TRL_NO_NODE)
            at++;
        const trl_bnode *n = &x->gold.node[at];
        memset(b.w, 0, t.sparse.n_weights * sizeof *b.w);
        for (uint32_t q = 0; q < b.m.fine.n_binary; q++)
            if (b.m.fine.binary[q].parent == n->state && q != n->rule) {
                b.w[q] = -30.0;
                others++;
            }
        const trl_tree_part part = trl_tree_node_part(&x->gold, at);
        const uint32_t id =
            trl_tree_index_find(&f->index, trl_tree_part_key(f, 0, &part, &x->seen));
        assert_int_not_equal(id, TRL_NO_ID);
        b.w[n->rule] = 30.0;
        b.w[f->n_direct + id] = -60.0;
        tried += others > 0;
        assert_near(loss_of(&t, b.w, e), plain_tree(&b, &x->gold, &x->seen, false), 1e-11);
        check_gradient(&b, &t, e, &r);
    }
    assert_true(tried > 5);
    trl_tree_task_fini(&t);
    bank_close(&b);
}

/* Without instances PT-CFG is the MECFG: loss and gradient. */
static void test_no_instances(void **state)
{
    (void)state;
    trl_error err;
    bank b;
    trl_tree_task me, pt;
    trl_sparse g1 = {0}, g2 = {0};
    open_model(&b, 0, 5, 9);
    random_weights(&b, 3, 0.5);
    for (size_t e = 0; e < b.n; e++)
        narrow(&b, e, 0, NULL);
    open_task(&b, &me, objective_of(TRL_OBJ_MEMM), 1);
    open_task(&b, &pt, objective_of(TRL_OBJ_NOTA), 1);
    for (size_t e = 0; e < b.n; e++) {
        double l1, l2;
        g1.n = g2.n = 0;
        assert_ok(me.sparse.prepare(&me, b.w, &err));
        assert_ok(me.sparse.evaluate(&me, e, 0, &l1, &g1, &err));
        assert_ok(pt.sparse.prepare(&pt, b.w, &err));
        assert_ok(pt.sparse.evaluate(&pt, e, 0, &l2, &g2, &err));
        assert_true(l1 == l2 && g1.n == g2.n);
        assert_memory_equal(g1.id, g2.id, g1.n * sizeof *g1.id);
        assert_memory_equal(g1.value, g2.value, g1.n * sizeof *g1.value);
    }
    trl_sparse_fini(&g1);
    trl_sparse_fini(&g2);
    trl_tree_task_fini(&me);
    trl_tree_task_fini(&pt);
    bank_close(&b);
}

/* ---- decoding ------------------------------------------------------------------------------- */

/* The score of any tree in the chart: its rules' probabilities, and its words' by the lexicon. */
static void test_tables(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_MODELS; k++) {
        trl_error err;
        bank b;
        trl_tree_task t;
        trl_arena arena = {0};
        trl_tree_gather ga = {0};
        open_model(&b, k, 6, 9);
        open_task(&b, &t, objective_of(TRL_OBJ_MEMM), 1);
        for (size_t e = 0; e < b.n; e++) {
            const trl_tree_example *x = &b.example[e];
            const trl_tree *source = &b.trees.tree[b.tree_of[e]];
            trl_chart c;
            trl_btree best = {0};
            random_weights(&b, e, 0.8);
            assert_ok(t.sparse.prepare(&t, b.w, &err));
            assert_ok(trl_chart_init(&c, &b.m.fine, &x->s, &arena, &err));
            assert_ok(trl_tree_model_tables(
                &b.m, source->word,
                &(trl_gather_source){&b.m.features, &x->seen, &c, t.binary_exp, t.unary, false},
                &ga, &arena, &err));
            assert_near(trl_tree_gather_tree(&ga, &x->gold, 0.0),
                        plain_words(&b, &x->gold, source->word) -
                            plain_tree(&b, &x->gold, &x->seen, false),
                        1e-11);
            assert_ok(trl_chart_best(&c, &ga.t, &arena, &err));
            assert_ok(trl_chart_tree(&c, &best, &err));
            assert_near(c.log_z,
                        plain_words(&b, &best, source->word) -
                            plain_tree(&b, &best, &x->seen, false),
                        1e-11);
            assert_true(c.log_z >= trl_tree_gather_tree(&ga, &x->gold, 0.0) - 1e-9);
            trl_btree_fini(&best);
        }
        trl_tree_gather_fini(&ga);
        trl_arena_fini(&arena);
        trl_tree_task_fini(&t);
        bank_close(&b);
    }
}

/* Weights that are the PCFG's log probabilities make the PCFG: the sums of all trees, and the best.
 */
static void test_is_the_pcfg(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_MODELS; k++) {
        trl_error err;
        bank b;
        trl_tree_task t;
        trl_arena arena = {0};
        trl_tree_gather ga = {0};
        open_model(&b, k, 6, 9);
        open_task(&b, &t, objective_of(TRL_OBJ_MEMM), 1);
        const trl_grammar *g = &b.m.fine;
        memset(b.w, 0, t.sparse.n_weights * sizeof *b.w);
        for (size_t r = 0; r < g->n_binary; r++)
            b.w[r] = log(b.m.pcfg.binary_exp[r]);
        for (size_t u = 0; u < g->n_unary; u++)
            b.w[g->n_binary + g->n_plain_binary + u] = b.m.pcfg.unary[u];
        assert_ok(t.sparse.prepare(&t, b.w, &err));
        for (size_t e = 0; e < b.n; e++) {
            const trl_str *word = b.trees.tree[b.tree_of[e]].word;
            trl_chart mine, pcfg;
            trl_tree_tables p;
            assert_ok(trl_chart_init(&mine, g, &b.example[e].s, &arena, &err));
            assert_ok(trl_chart_init(&pcfg, g, &b.example[e].s, &arena, &err));
            assert_ok(
                trl_tree_model_tables(&b.m, word,
                                      &(trl_gather_source){&b.m.features, &b.example[e].seen, &mine,
                                                           t.binary_exp, t.unary, false},
                                      &ga, &arena, &err));
            assert_ok(trl_tree_pcfg_tables(&b.m, word, &pcfg, &p, &arena, &err));
            assert_ok(trl_chart_inside(&mine, &ga.t, &err));
            assert_ok(trl_chart_inside(&pcfg, &p, &err));
            assert_true(isfinite(pcfg.log_z));
            assert_near(mine.log_z, pcfg.log_z, 1e-11);
            assert_ok(trl_chart_best(&mine, &ga.t, &arena, &err));
            assert_ok(trl_chart_best(&pcfg, &p, &arena, &err));
            assert_near(mine.log_z, pcfg.log_z, 1e-11);
        }
        trl_tree_gather_fini(&ga);
        trl_arena_fini(&arena);
        trl_tree_task_fini(&t);
        bank_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),       cmocka_unit_test(test_sum_to_one),
        cmocka_unit_test(test_gradients),    cmocka_unit_test(test_taken_off),
        cmocka_unit_test(test_no_instances), cmocka_unit_test(test_tables),
        cmocka_unit_test(test_is_the_pcfg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
