/* Scores of all classifiers from the features of an example, against walking every tree. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "boost/term_index.h"

#define PARTS 3
#define FEATURES 12

/* A random tree; paths may ask for the same feature twice, leaves may be 0. */
static void grow(trl_boost_ensemble *e, trl_rng *rng, size_t root, int depth)
{
    if (depth == 0 || trl_rng_below64(rng, 5) == 0) {
        const double value = (double)trl_rng_below64(rng, 7) - 3.0;
        assert_true(trl_boost_ensemble_node(e, (trl_boost_node){TRL_NO_ID, 0, value}));
        return;
    }
    const uint32_t f = (uint32_t)trl_rng_below64(rng, FEATURES);
    const size_t at = e->n_nodes;
    assert_true(trl_boost_ensemble_node(e, (trl_boost_node){f, 0, 0.0}));
    grow(e, rng, root, depth - 1);
    e->node[at].off = (uint32_t)(e->n_nodes - root);
    grow(e, rng, root, depth - 1);
}

static double walk(const trl_boost_part *p, const bool *on)
{
    double h = 0.0;
    for (size_t k = 0; k < p->n_trees; k++) {
        const trl_boost_node *root = p->node + trl_boost_begin(p->tree_end, k), *v = root;
        while (v->feature != TRL_NO_ID)
            v = on[v->feature] ? v + 1 : root + v->off;
        h += v->value;
    }
    return h;
}

static void check_examples(const trl_boost_model *m, trl_rng *rng)
{
    trl_error err;
    trl_boost_term_index x = {0};
    trl_boost_present s = {0};
    assert_ok(trl_boost_term_index_make(m, &x, &err));
    assert_true(trl_boost_present_init(&s, &x));
    s.now = UINT32_MAX - 20; /* it begins again at 0 on the way */
    for (int k = 0; k < 60; k++) {
        bool on[FEATURES] = {0};
        uint32_t feature[2 * FEATURES];
        double h[PARTS];
        const size_t n = trl_rng_below64(rng, 2 * FEATURES);
        size_t distinct = 0;
        for (size_t q = 0; q < n; q++) {
            feature[q] = (uint32_t)trl_rng_below64(rng, FEATURES);
            distinct += !on[feature[q]];
            on[feature[q]] = true;
        }
        trl_boost_scores(&x, &s, feature, n, h);
        for (size_t p = 0; p < PARTS; p++)
            assert_float_equal(h[p], walk(&m->part[p], on), 1e-12);
        for (size_t q = 0; q < distinct; q++) {
            assert_true(on[feature[q]]);
            on[feature[q]] = false;
        }
    }
    trl_boost_present_fini(&s);
    trl_boost_term_index_fini(&x);
}

static void test_scores_are_those_of_the_trees(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(11);
    for (int round = 0; round < 200; round++) {
        trl_boost_part part[PARTS] = {0};
        trl_boost_model m = {.part = part, .n = PARTS, .names = {.n = FEATURES}};
        for (size_t p = 0; p < PARTS; p++) {
            trl_boost_ensemble *e = &part[p].own;
            const size_t trees = trl_rng_below64(&rng, 8);
            for (size_t t = 0; t < trees; t++) {
                grow(e, &rng, e->n_nodes, 1 + (int)trl_rng_below64(&rng, 5));
                assert_true(trl_boost_ensemble_tree(e));
            }
            part[p].node = e->node;
            part[p].tree_end = e->tree_end;
            part[p].n_trees = trees;
        }
        check_examples(&m, &rng);
        for (size_t p = 0; p < PARTS; p++)
            trl_boost_ensemble_fini(&part[p].own);
    }
}

/* A chain of splits, each below the one before it where its feature is absent.  Files may hold any
 * tree, and the compound features of a chain take room for the square of its length. */
static void test_deep_trees(void **state)
{
    (void)state;
    for (uint32_t depth = TRL_BOOST_MAX_DEPTH; depth <= TRL_BOOST_MAX_DEPTH + 1; depth++) {
        trl_error err;
        trl_boost_ensemble e = {0};
        trl_boost_terms terms = {0};
        for (uint32_t k = 0; k < depth; k++) {
            assert_true(trl_boost_ensemble_node(&e, (trl_boost_node){k, 2 * k + 2, 0.0}));
            assert_true(trl_boost_ensemble_node(&e, (trl_boost_node){TRL_NO_ID, 0, k ? 0.0 : 1.0}));
        }
        assert_true(trl_boost_ensemble_node(&e, (trl_boost_node){TRL_NO_ID, 0, 2.0}));
        assert_true(trl_boost_ensemble_tree(&e));
        const trl_boost_part part = {.node = e.node, .tree_end = e.tree_end, .n_trees = 1};
        const trl_status st = trl_boost_part_terms(&part, &terms, &err);
        if (depth == TRL_BOOST_MAX_DEPTH) {
            assert_ok(st);
            assert_int_equal(terms.n, 2);
            assert_int_equal(terms.term[1].n, depth);
        } else {
            assert_int_equal(st, TRL_EMODEL);
        }
        trl_boost_terms_fini(&terms);
        trl_boost_ensemble_fini(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scores_are_those_of_the_trees),
                                       cmocka_unit_test(test_deep_trees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
