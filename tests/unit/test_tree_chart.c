/* Charts against all trees one by one: log Z, best, k best; expectations against differences. */
/* SPDX-License-Identifier: MIT */
#include "tree_kbest.h"
#include "tree_oracle.h"

/* Runs `check` on random sentences whose trees can be listed; at least `enough` have a tree. */
typedef void (*check_fn)(world *w, forest *f, trl_rng *r);

static void on_worlds(uint64_t seed, double width, double shift, unsigned enough, check_fn check)
{
    trl_rng r = trl_rng_seed(seed);
    unsigned with_tree = 0, big = 0;
    for (unsigned round = 0; round < 120; round++) {
        world w;
        forest f;
        world_grammar(&w, &r, round, round % 3 == 0);
        world_words(&w, &r, 1 + draw(&r, 5));
        world_skeleton(&w, &r, round % 2 ? 6 : 0);
        world_scores(&w, &r, width, shift, round % 8);
        if (all_trees(&f, &w)) {
            with_tree += roots(&f) != NULL;
            big += roots(&f) && roots(&f)->n > 20;
            check(&w, &f, &r);
        }
        free_forest(&f);
        world_free(&w);
    }
    assert_true(with_tree >= enough && big >= enough / 4);
}

/* ---- inside, best ---------------------------------------------------------------------------- */

static void check_inside(world *w, forest *f, trl_rng *r)
{
    (void)r;
    trl_error err;
    const ders *d = roots(f);
    assert_ok(trl_chart_inside(&w->c, &w->t, &err));
    if (!d) {
        assert_true(isinf(w->c.log_z) && w->c.log_z < 0);
        return;
    }
    assert_near(w->c.log_z, log_sum(d), 1e-12);
    /* every item, not only the root */
    for (size_t j = 1; j <= w->n; j++)
        for (size_t i = 0; i < j; i++)
            for (uint32_t x = w->s.first[trl_cell(i, j)]; x < w->s.first[trl_cell(i, j) + 1]; x++) {
                const double scale = log(2.0) * w->c.scale[trl_cell(i, j)];
                if (f->before[x].n)
                    assert_near(log(w->c.before[x]) + scale, log_sum(&f->before[x]), 1e-12);
                else
                    assert_true(w->c.before[x] == 0.0);
                if (f->after[x].n)
                    assert_near(log(w->c.after[x]) + scale, log_sum(&f->after[x]), 1e-12);
                else
                    assert_true(w->c.after[x] == 0.0);
            }
}

static const der *top_of(const ders *d)
{
    const der *best = &d->at[0];
    for (size_t k = 1; k < d->n; k++)
        if (d->at[k].score > best->score)
            best = &d->at[k];
    return best;
}

static void check_best(world *w, forest *f, trl_rng *r)
{
    (void)r;
    trl_error err;
    trl_btree got = {0}, want = {0};
    assert_ok(trl_chart_best(&w->c, &w->t, &w->arena, &err));
    if (roots(f)) {
        const der *d = top_of(roots(f));
        assert_near(w->c.log_z, d->score, 1e-12);
        assert_ok(trl_chart_tree(&w->c, &got, &err));
        tree_of(w, d, &want);
        assert_true(same_btree(&got, &want)); /* scores are random: no ties */
    } else {
        assert_true(isinf(w->c.log_z));
    }
    trl_btree_fini(&got);
    trl_btree_fini(&want);
}

static void test_inside(void **state)
{
    (void)state;
    on_worlds(1, 1.0, 0.0, 40, check_inside);
}

static void test_best(void **state)
{
    (void)state;
    on_worlds(2, 1.0, 0.0, 40, check_best);
}

/* ---- outside --------------------------------------------------------------------------------- */

static void lay_out_adjoint(world *w, trl_tree_adjoint *a)
{
    const size_t n_edges = w->n_edge_scores;
    *a = (trl_tree_adjoint){.binary = trl_arena_get(&w->arena, w->g.n_binary, 8),
                            .unary = trl_arena_get(&w->arena, w->g.n_unary, 8),
                            .item = trl_arena_get(&w->arena, w->c.n_items, 8),
                            .unary_at = trl_arena_get(&w->arena, w->c.n_unary, 8)};
    memset(a->binary, 0, w->g.n_binary * 8);
    memset(a->unary, 0, w->g.n_unary * 8);
    for (int k = 0; k < TRL_EDGE_ANCHORS; k++)
        if (w->edge[k]) {
            a->edge[k] = trl_arena_get(&w->arena, n_edges, 8);
            memset(a->edge[k], 0, n_edges * 8);
        }
}

static double log_z_at(world *w, double *score, double value)
{
    trl_error err;
    const double old = *score;
    *score = value;
    world_exp(w);
    world_unfill(w);
    assert_ok(trl_chart_inside(&w->c, &w->t, &err));
    *score = old;
    return w->c.log_z;
}

static void check_differences(world *w, double *score, const double *got, size_t n, trl_rng *r)
{
    const double h = 1e-5;
    for (size_t k = n > 60 ? draw(r, 20) : 0; k<n; k += n> 60 ? 1 + draw(r, (unsigned)n / 30) : 1) {
        const double up = log_z_at(w, &score[k], score[k] + h);
        const double down = log_z_at(w, &score[k], score[k] - h);
        assert_near(got[k], (up - down) / (2 * h), 1e-7);
    }
}

static void check_expectations(world *w, forest *f, trl_rng *r)
{
    trl_error err;
    trl_tree_adjoint a;
    if (!roots(f))
        return;
    lay_out_adjoint(w, &a);
    assert_ok(trl_chart_inside(&w->c, &w->t, &err));
    trl_chart_outside(&w->c, &w->t, &a);
    check_differences(w, w->binary, a.binary, w->g.n_binary, r);
    check_differences(w, w->unary, a.unary, w->g.n_unary, r);
    check_differences(w, w->t.unary_at, a.unary_at, w->c.n_unary, r);
    for (uint32_t x = 0; x < w->c.n_items; x++)
        if (w->s.item[x] & TRL_BEFORE)
            check_differences(w, &w->t.item[x], &a.item[x], 1, r);
    for (int k = 0; k < TRL_EDGE_ANCHORS; k++)
        if (w->edge[k])
            check_differences(w, w->edge[k], a.edge[k], w->n_edge_scores, r);
}

/* in * out is the posterior of every item, before and after. */
static double share(const ders *all, double log_z, uint32_t item, bool after);

static double uses(const der *d, uint32_t item, bool after)
{
    double n = d->item == item && d->after == after;
    n += d->left ? uses(d->left, item, after) : 0.0;
    return n + (d->right ? uses(d->right, item, after) : 0.0);
}

static double share(const ders *all, double log_z, uint32_t item, bool after)
{
    double sum = 0.0;
    for (size_t k = 0; k < all->n; k++)
        sum += exp(all->at[k].score - log_z) * uses(&all->at[k], item, after);
    return sum;
}

static void check_posteriors(world *w, forest *f, trl_rng *r)
{
    (void)r;
    trl_error err;
    if (!roots(f) || roots(f)->n > 500)
        return;
    assert_ok(trl_chart_inside(&w->c, &w->t, &err));
    trl_chart_outside(&w->c, &w->t, NULL);
    for (uint32_t x = 0; x < w->c.n_items; x++) {
        assert_near(w->c.before[x] * w->c.out_before[x], share(roots(f), w->c.log_z, x, false),
                    1e-11);
        assert_near(w->c.after[x] * w->c.out_after[x], share(roots(f), w->c.log_z, x, true), 1e-11);
    }
}

static void test_expectations(void **state)
{
    (void)state;
    on_worlds(3, 1.0, 0.0, 40, check_expectations);
}

static void test_posteriors(void **state)
{
    (void)state;
    on_worlds(4, 1.0, 0.0, 40, check_posteriors);
}

/* ---- scaling --------------------------------------------------------------------------------- */

static void test_scaling(void **state)
{
    (void)state;
    on_worlds(5, 1.0, 400.0, 40, check_inside);
    on_worlds(6, 1.0, -400.0, 40, check_inside);
    on_worlds(7, 1.0, -500.0, 40, check_posteriors);
    on_worlds(8, 40.0, 0.0, 40, check_best);
    on_worlds(9, 40.0, -200.0, 40, check_expectations);
}

/* What a double cannot hold is an error, not a wrong number. */
static void check_overflow(world *w, forest *f, trl_rng *r)
{
    (void)r;
    trl_error err = {0};
    if (!roots(f) || w->n < 3)
        return;
    for (size_t k = 0; k < w->g.n_binary; k++)
        w->binary[k] = 600.0;
    world_exp(w);
    for (size_t k = 0; k < w->c.n_items; k++)
        w->t.item[k] = 600.0;
    assert_int_equal(trl_chart_inside(&w->c, &w->t, &err), TRL_ENUMERIC);
    assert_int_equal(trl_chart_best(&w->c, &w->t, &w->arena, &err), TRL_ENUMERIC);
    w->t.item[w->c.root_item] = (double)NAN;
    assert_int_equal(trl_chart_inside(&w->c, &w->t, &err), TRL_ENUMERIC);
}

static void test_overflow(void **state)
{
    (void)state;
    on_worlds(10, 1.0, 0.0, 40, check_overflow);
}

/* After the deadline both ways give up and say so. */
static void check_deadline(world *w, forest *f, trl_rng *r)
{
    (void)r;
    trl_error err = {0};
    if (!roots(f))
        return;
    assert_ok(trl_chart_inside(&w->c, &w->t, &err));
    assert_true(isfinite(w->c.log_z) && !w->c.late);
    w->c.deadline = 1e-9;
    trl_chart_outside(&w->c, &w->t, NULL);
    assert_true(w->c.late && !isfinite(w->c.log_z));
    w->c.late = false;
    assert_ok(trl_chart_inside(&w->c, &w->t, &err));
    assert_true(w->c.late && !isfinite(w->c.log_z));
}

/* The work of a chart by its definition; one that is allowed no less is run, another is not begun.
 */
static void check_work(world *w, forest *f, trl_rng *r)
{
    (void)r;
    trl_error err = {0};
    const trl_skeleton *s = &w->s;
    const uint32_t *at = s->first;
    size_t steps = 0;
    for (size_t j = 1; j <= w->n; j++)
        for (size_t i = 0; i < j; i++)
            for (size_t k = i + 1; k < j; k++)
                for (uint32_t x = at[trl_cell(i, k)]; x < at[trl_cell(i, k) + 1]; x++)
                    if (at[trl_cell(k, j)] < at[trl_cell(k, j) + 1] &&
                        at[trl_cell(i, j)] < at[trl_cell(i, j) + 1] && (s->item[x] & TRL_AFTER)) {
                        const uint32_t *p = w->g.pair_by_left + (s->item[x] & TRL_STATE_MASK);
                        steps += p[1] - p[0];
                    }
    const double work = trl_chart_work(&w->c);
    assert_near(work, 1e-6 * (double)steps, 1e-15);
    if (!roots(f) || steps == 0)
        return;
    w->c.max_work = work;
    assert_ok(trl_chart_inside(&w->c, &w->t, &err));
    assert_true(isfinite(w->c.log_z) && !w->c.late && !w->c.heavy);
    w->c.max_work = work * (1.0 - 1e-9);
    assert_ok(trl_chart_inside(&w->c, &w->t, &err));
    assert_true(!isfinite(w->c.log_z) && w->c.late && w->c.heavy);
}

static void test_work(void **state)
{
    (void)state;
    on_worlds(14, 1.0, 0.0, 40, check_work);
}

static void test_deadline(void **state)
{
    (void)state;
    on_worlds(11, 1.0, 0.0, 10, check_deadline);
}

/* ---- k best ---------------------------------------------------------------------------------- */

static int descending(const void *a, const void *b)
{
    const double x = ((const der *)a)->score, y = ((const der *)b)->score;
    return x < y ? 1 : x > y ? -1 : 0;
}

static size_t place_in(const world *w, const ders *all, const trl_btree *t, trl_btree *scratch)
{
    for (size_t k = 0; k < all->n; k++) {
        tree_of(w, &all->at[k], scratch);
        if (same_btree(scratch, t))
            return k;
    }
    fail_msg("a tree that the chart does not have");
    return 0;
}

static void check_kbest(world *w, forest *f, trl_rng *r)
{
    trl_error err;
    kbest got = {0};
    trl_btree scratch = {0};
    ders *all = roots(f);
    const size_t have = all ? all->n : 0, ask[] = {1, 2 + draw(r, 30), have + 5};
    if (all)
        qsort(all->at, all->n, sizeof *all->at, descending);
    for (size_t a = 0; a < 3 && have < 2000; a++) {
        const size_t want = ask[a] < have ? ask[a] : have;
        world_unfill(w);
        assert_ok(kbest_get(&w->c, &w->t, ask[a], &got, &w->arena, &err));
        assert_int_equal(got.n, want);
        for (size_t k = 0; k < want; k++) {
            assert_near(got.score[k], all->at[k].score, 1e-12);
            assert_true(k == 0 || got.score[k] <= got.score[k - 1]);
            if (a < 2 || have < 200)
                assert_int_equal(place_in(w, all, &got.tree[k], &scratch), k);
        }
    }
    trl_btree_fini(&scratch);
    kbest_fini(&got);
}

static void test_kbest(void **state)
{
    (void)state;
    on_worlds(11, 1.0, 0.0, 40, check_kbest);
    on_worlds(12, 20.0, -100.0, 40, check_kbest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inside),     cmocka_unit_test(test_best),
        cmocka_unit_test(test_posteriors), cmocka_unit_test(test_expectations),
        cmocka_unit_test(test_scaling),    cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_deadline),   cmocka_unit_test(test_kbest),
        cmocka_unit_test(test_work),
    };
    return cmocka_run_group_tests(tests, read_heads, free_heads);
}
