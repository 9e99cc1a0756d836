/* Which items a chart has: filter, coarse to fine. */
/* SPDX-License-Identifier: MIT */
#include "tree_oracle.h"

#include "chart/coarse.h"
#include "chart/corner_filter.h"

/* ---- filter: an item survives iff it is in some tree ----------------------------------------- */

static void mark_used(const der *d, uint32_t *marks)
{
    marks[d->item] |= d->after ? TRL_AFTER : TRL_BEFORE;
    if (d->left)
        mark_used(d->left, marks);
    if (d->right)
        mark_used(d->right, marks);
}

static void check_filter(world *w, forest *f, unsigned *dropped)
{
    trl_error err;
    bool complete;
    const size_t items = w->c.n_items, cells = trl_chart_cells(w->n);
    uint32_t *marks = trl_zalloc(items + 1, sizeof *marks);
    trl_skeleton s;
    for (size_t k = 0; roots(f) && k < roots(f)->n; k++)
        mark_used(&roots(f)->at[k], marks);
    assert_ok(trl_skeleton_copy(&w->s, NULL, &s, &err));
    assert_ok(trl_filter(&w->g, &s, &complete, &w->arena, &err));
    assert_int_equal(complete, roots(f) != NULL);
    uint32_t n = 0;
    for (size_t cell = 0; cell < cells; cell++) {
        assert_int_equal(s.first[cell], complete ? n : w->s.first[cell]);
        for (uint32_t x = w->s.first[cell]; complete && x < w->s.first[cell + 1]; x++) {
            const uint32_t want = (w->s.item[x] & TRL_STATE_MASK) | marks[x];
            if (marks[x])
                assert_int_equal(s.item[n++], want);
            *dropped += marks[x] != (w->s.item[x] & ~TRL_STATE_MASK);
        }
    }
    assert_int_equal(s.first[cells], complete ? n : items);
    trl_free(s.first);
    trl_free(marks);
}

static void test_filter(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(21);
    unsigned dropped = 0, whole = 0;
    for (unsigned round = 0; round < 120; round++) {
        world w;
        forest f;
        world_grammar(&w, &r, round, round % 3 == 0);
        world_words(&w, &r, 1 + draw(&r, 5));
        world_skeleton(&w, &r, round % 2 ? 6 : 0);
        world_scores(&w, &r, 1.0, 0.0, 0);
        if (all_trees(&f, &w)) {
            whole += roots(&f) != NULL;
            check_filter(&w, &f, &dropped);
        }
        free_forest(&f);
        world_free(&w);
    }
    assert_true(whole > 40 && whole < 120 && dropped > 100);
}

/* ---- coarse to fine -------------------------------------------------------------------------- */

typedef struct pair { /* a fine and a coarse grammar of the same trees */
    world w;
    trl_grammar coarse;
    trl_lexicon x;
    trl_pcfg pcfg;
    trl_coarse vectors;
    trl_coarse_map map;
} pair;

static void make_pair(pair *p, trl_rng *r, unsigned how)
{
    trl_error err;
    trl_btree b = {0};
    world_grammar(&p->w, r, how, how % 2);
    build(&p->coarse, &(trl_annotation){0}, &p->w.trees, false);
    assert_ok(trl_lexicon_init(&p->x, 1, &err));
    for (size_t k = 0; k < p->w.trees.n; k++) {
        bool known;
        const trl_tree *t = &p->w.trees.tree[k];
        assert_ok(trl_grammar_encode(&p->coarse, &(trl_encoded){NULL, t, &p->w.trees.labels}, &b,
                                     &known, NULL, &err));
        assert_ok(trl_lexicon_add(&p->x, &b, t->word, &err));
    }
    trl_btree_fini(&b);
    assert_ok(trl_lexicon_finish(&p->x, &p->coarse, &err));
    assert_ok(trl_pcfg_init(&p->pcfg, &p->coarse, &p->x, &err));
    assert_ok(trl_coarse_init(&p->vectors, &p->pcfg, &err));
    assert_ok(trl_coarse_map_init(&p->map, &p->w.g, &p->coarse, &err));
}

static void free_pair(pair *p)
{
    trl_coarse_map_fini(&p->map);
    trl_coarse_fini(&p->vectors);
    trl_pcfg_fini(&p->pcfg);
    trl_lexicon_fini(&p->x);
    trl_grammar_fini(&p->coarse);
    world_free(&p->w);
}

/* The chart of the coarse PCFG over a full skeleton without the cells that keep[] (or NULL) bars.
 */
static void plain_chart(pair *p, const uint8_t *keep, trl_skeleton *s, trl_chart *c)
{
    trl_error err;
    double *logp;
    world *w = &p->w;
    assert_ok(trl_skeleton_full(&(trl_words_grammar){&p->coarse, &p->x},
                                &(trl_words){w->word, w->n}, s, &logp, &w->arena, &err));
    uint32_t n = 0, from = 0;
    for (size_t cell = 0; keep && cell < trl_chart_cells(w->n); cell++) {
        const uint32_t to = s->first[cell + 1];
        s->first[cell] = n;
        for (uint32_t x = from; x < to && keep[cell]; x++, n++) {
            s->item[n] = s->item[x];
            logp[n] = logp[x];
        }
        from = to;
    }
    if (keep)
        s->first[trl_chart_cells(w->n)] = n;
    assert_ok(trl_pcfg_chart(&p->pcfg, s, logp, c, &w->arena, &err));
}

static void compare_charts(const trl_chart *c, const trl_coarse_chart *v, size_t n_states)
{
    assert_int_equal(isfinite(c->log_z), isfinite(v->log_z));
    if (!isfinite(c->log_z))
        return;
    assert_near(v->log_z, c->log_z, 1e-5);
    for (size_t cell = 0; cell < trl_chart_cells(c->n); cell++) {
        uint32_t x = c->s->first[cell];
        for (uint32_t state = 0; state < n_states; state++) {
            const size_t at = cell * n_states + state;
            const bool there =
                x < c->s->first[cell + 1] && (c->s->item[x] & TRL_STATE_MASK) == state;
            const double b = there ? c->before[x] * c->out_before[x] : 0.0;
            const double a = there ? c->after[x] * c->out_after[x] : 0.0;
            const bool dead = v->scale[cell] == INT32_MIN;
            assert_near(dead ? 0.0 : (double)v->before[at] * (double)v->out_before[at], b, 1e-5);
            assert_near(dead ? 0.0 : (double)v->after[at] * (double)v->out_after[at], a, 1e-5);
            x += there;
        }
    }
}

/* The fine items of a plain coarse chart's posteriors, as trl_coarse_prune has them of vectors. */
static uint32_t marks_of(const trl_chart *c, uint32_t x, double threshold)
{
    const double before = c->before[x] * c->out_before[x], after = c->after[x] * c->out_after[x];
    return ((c->s->item[x] & TRL_BEFORE) && before > threshold ? TRL_BEFORE : 0) |
           ((c->s->item[x] & TRL_AFTER) && after > threshold ? TRL_AFTER : 0);
}

static int by_state(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a & TRL_STATE_MASK;
    const uint32_t y = *(const uint32_t *)b & TRL_STATE_MASK;
    return x < y ? -1 : x > y;
}

static void prune_plain(const trl_chart *coarse, const trl_coarse_map *m, double threshold,
                        trl_skeleton *fine, trl_arena *arena)
{
    const trl_skeleton *s = coarse->s;
    const size_t cells = trl_chart_cells(s->n);
    *fine = (trl_skeleton){
        .n = s->n,
        .first = trl_arena_get(arena, cells + 1, sizeof *fine->first),
        .item = trl_arena_get(arena, coarse->n_items * m->n_fine, sizeof *fine->item)};
    assert_true(fine->first && fine->item);
    uint32_t n = 0;
    for (size_t cell = 0; cell < cells; cell++) {
        const uint32_t from = fine->first[cell] = n;
        for (uint32_t x = s->first[cell]; x < s->first[cell + 1]; x++) {
            const uint32_t marks = marks_of(coarse, x, threshold);
            const uint32_t state = s->item[x] & TRL_STATE_MASK;
            for (uint32_t k = m->first[state]; marks && k < m->first[state + 1]; k++)
                fine->item[n++] = m->state[k] | marks;
        }
        qsort(fine->item + from, n - from, sizeof *fine->item, by_state);
    }
    fine->first[cells] = n;
}

static void test_coarse(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(22);
    unsigned whole = 0, barred = 0;
    for (unsigned round = 0; round < 80; round++) {
        trl_error err;
        pair p;
        trl_skeleton s;
        trl_chart c;
        trl_coarse_chart v;
        uint8_t keep[64];
        make_pair(&p, &r, round);
        world_words(&p.w, &r, 1 + draw(&r, 7));
        plain_chart(&p, NULL, &s, &c);
        assert_ok(trl_coarse_run(&p.vectors, &(trl_words){p.w.word, p.w.n}, &(trl_coarse_how){0},
                                 &v, &p.w.arena, &err));
        compare_charts(&c, &v, p.coarse.n_states);
        assert_ok(trl_coarse_run(&p.vectors, &(trl_words){p.w.word, p.w.n},
                                 &(trl_coarse_how){.least = 1e-7f}, &v, &p.w.arena, &err));
        compare_charts(&c, &v, p.coarse.n_states);
        whole += isfinite(c.log_z) != 0;
        for (size_t j = 1; j <= p.w.n; j++)
            for (size_t i = 0; i < j; i++)
                keep[trl_cell(i, j)] = j - i == 1 || draw(&r, 4) > 0;
        plain_chart(&p, keep, &s, &c);
        assert_ok(trl_coarse_run(&p.vectors, &(trl_words){p.w.word, p.w.n},
                                 &(trl_coarse_how){.keep = keep}, &v, &p.w.arena, &err));
        compare_charts(&c, &v, p.coarse.n_states);
        barred += isfinite(c.log_z) != 0;
        free_pair(&p);
    }
    assert_true(whole > 40 && barred > 20 && barred < whole);
}

static bool within(const trl_skeleton *small, const trl_skeleton *large)
{
    for (size_t j = 1; j <= small->n; j++)
        for (size_t i = 0; i < j; i++)
            for (uint32_t x = small->first[trl_cell(i, j)]; x < small->first[trl_cell(i, j) + 1];
                 x++) {
                const uint32_t y = trl_skeleton_find(large, i, j, small->item[x] & TRL_STATE_MASK);
                if (y == TRL_NO_ID || (small->item[x] & ~large->item[y]))
                    return false;
            }
    return true;
}

static uint32_t size_of(const trl_skeleton *s)
{
    return s->first[trl_chart_cells(s->n)];
}

/* Threshold 0 loses nothing that is in a tree of the fine grammar; higher ones lose more and more,
 * and both twins the same. */
static void test_prune(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(23);
    unsigned whole = 0, less = 0;
    for (unsigned round = 0; round < 80; round++) {
        trl_error err;
        pair p;
        trl_skeleton s, full, by_chart, by_vectors, high;
        trl_chart c;
        trl_coarse_chart v;
        bool complete, complete2;
        make_pair(&p, &r, round);
        world_words(&p.w, &r, 1 + draw(&r, 6));
        trl_arena *arena = &p.w.arena;
        assert_ok(trl_skeleton_full(&(trl_words_grammar){&p.w.g, &p.w.x},
                                    &(trl_words){p.w.word, p.w.n}, &full, NULL, arena, &err));
        assert_ok(trl_filter(&p.w.g, &full, &complete, arena, &err));
        plain_chart(&p, NULL, &s, &c);
        assert_ok(trl_coarse_run(&p.vectors, &(trl_words){p.w.word, p.w.n}, &(trl_coarse_how){0},
                                 &v, arena, &err));
        assert_true(!complete || isfinite(c.log_z));
        if (isfinite(c.log_z)) {
            prune_plain(&c, &p.map, 0.0, &by_chart, arena);
            assert_ok(trl_coarse_prune(&v, &p.map, 0.0, &by_vectors, arena, &err));
            assert_true(within(&by_chart, &by_vectors) && within(&by_vectors, &by_chart));
            assert_ok(trl_filter(&p.w.g, &by_chart, &complete2, arena, &err));
            assert_true(complete2 || !complete);
            assert_true(!complete || within(&full, &by_chart));
            prune_plain(&c, &p.map, 0.05, &high, arena);
            assert_true(within(&high, &by_vectors));
            less += size_of(&high) < size_of(&by_vectors);
            for (uint32_t x = 0; x < c.n_items; x++) { /* exactly those above */
                const uint32_t at = s.item[x] & TRL_STATE_MASK;
                size_t cell = 0;
                while (s.first[cell + 1] <= x)
                    cell++;
                size_t j = 1;
                while (trl_cell(0, j + 1) <= cell)
                    j++;
                for (uint32_t k = p.map.first[at]; k < p.map.first[at + 1]; k++) {
                    const uint32_t y =
                        trl_skeleton_find(&high, cell - trl_cell(0, j), j, p.map.state[k]);
                    const uint32_t marks = y == TRL_NO_ID ? 0 : high.item[y];
                    assert_int_equal((marks & TRL_BEFORE) != 0,
                                     c.before[x] * c.out_before[x] > 0.05);
                    assert_int_equal((marks & TRL_AFTER) != 0, c.after[x] * c.out_after[x] > 0.05);
                }
            }
        }
        whole += complete;
        free_pair(&p);
    }
    assert_true(whole > 40 && less > 40);
}

static void copy_skeleton(const trl_skeleton *s, trl_skeleton *to, trl_arena *arena)
{
    const size_t cells = trl_chart_cells(s->n);
    *to = (trl_skeleton){.n = s->n,
                         .first = trl_arena_get(arena, cells + 1, sizeof *to->first),
                         .item = trl_arena_get(arena, size_of(s) + 1, sizeof *to->item)};
    assert_true(to->first && to->item);
    memcpy(to->first, s->first, (cells + 1) * sizeof *to->first);
    memcpy(to->item, s->item, size_of(s) * sizeof *to->item);
}

/* What the filter of corners drops is part of no complete tree, and it drops something. */
static void test_corners(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(25);
    unsigned whole = 0, dropped = 0, all = 0;
    for (unsigned round = 0; round < 120; round++) {
        trl_error err;
        world w;
        trl_corners corners;
        trl_skeleton full, some, exact;
        bool complete;
        world_grammar(&w, &r, round, round % 2);
        world_words(&w, &r, 1 + draw(&r, 6));
        assert_ok(trl_corners_init(&corners, &w.g, &err));
        assert_ok(trl_skeleton_full(&(trl_words_grammar){&w.g, &w.x}, &(trl_words){w.word, w.n},
                                    &full, NULL, &w.arena, &err));
        copy_skeleton(&full, &some, &w.arena);
        copy_skeleton(&full, &exact, &w.arena);
        assert_ok(trl_corner_filter(&corners, &w.g, &some, &w.arena, &err));
        assert_ok(trl_filter(&w.g, &exact, &complete, &w.arena, &err));
        assert_true(within(&some, &full));
        if (complete) {
            assert_true(within(&exact, &some));
            whole++;
            all += size_of(&full);
            dropped += size_of(&full) - size_of(&some);
            assert_ok(trl_filter(&w.g, &some, &complete, &w.arena, &err));
            assert_true(complete && within(&exact, &some) && within(&some, &exact));
        }
        trl_corners_fini(&corners);
        world_free(&w);
    }
    assert_true(whole > 40 && dropped > all / 4);
}

/* Every node has its item, with the marks it needs. */
static bool holds(const trl_skeleton *s, const trl_btree *t)
{
    for (size_t k = 0; k < t->n; k++) {
        const trl_bnode *b = &t->node[k];
        const bool unary = b->left != TRL_NO_NODE && b->right == TRL_NO_NODE;
        bool below = false;
        for (size_t p = 0; p < k; p++)
            below = below || (t->node[p].left == k && t->node[p].right == TRL_NO_NODE);
        const uint32_t x = trl_skeleton_find(s, b->from, b->to, b->state);
        const uint32_t want = (unary ? 0 : TRL_BEFORE) | (below ? 0 : TRL_AFTER);
        if (x == TRL_NO_ID || (want & ~s->item[x]))
            return false;
    }
    return true;
}

/* Adding a tree that was pruned away makes the skeleton hold it. */
static void test_add_tree(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(24);
    for (unsigned round = 0; round < 60; round++) {
        trl_error err;
        world w;
        trl_btree gold = {0};
        bool known, complete;
        world_grammar(&w, &r, round, false);
        const trl_tree *t = &w.trees.tree[draw(&r, (unsigned)w.trees.n)];
        assert_ok(trl_grammar_encode(&w.g, &(trl_encoded){heads, t, &w.trees.labels}, &gold, &known,
                                     NULL, &err));
        w.n = t->n_words;
        if (w.n <= 8) {
            memcpy(w.word, t->word, w.n * sizeof *w.word);
            world_skeleton(&w, &r, 2);
            assert_ok(trl_skeleton_add_tree(&w.s, &gold, &w.arena, &err));
            assert_true(holds(&w.s, &gold));
            assert_ok(trl_filter(&w.g, &w.s, &complete, &w.arena, &err));
            assert_true(complete && holds(&w.s, &gold));
        }
        trl_btree_fini(&gold);
        world_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter),   cmocka_unit_test(test_coarse),
        cmocka_unit_test(test_prune),    cmocka_unit_test(test_corners),
        cmocka_unit_test(test_add_tree),
    };
    return cmocka_run_group_tests(tests, read_heads, free_heads);
}
