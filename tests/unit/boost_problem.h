/* boost_problem.h -- random examples for boosting, and models compared. */
/* SPDX-License-Identifier: MIT */
#ifndef BOOST_PROBLEM_H
#define BOOST_PROBLEM_H

#include "support.h"

#include "base/rng.h"
#include "boost/model.h"
#include "trellis/boost.h"

typedef struct problem {
    size_t n, F;
    size_t *end;
    uint32_t *feature;
    signed char *y;
    trl_boost_data *data;
} problem;

static problem make_problem(uint64_t seed, size_t n, size_t memory)
{
    enum { F = 300, PER = 12 };
    problem p = {.n = n, .F = F};
    trl_error err;
    trl_rng r = trl_rng_seed(seed);
    p.end = calloc(n, sizeof *p.end);
    p.feature = calloc(n * PER, sizeof *p.feature);
    p.y = calloc(n, 1);
    size_t k = 0;
    for (size_t i = 0; i < n; p.end[i++] = k) {
        bool has[F] = {false};
        for (size_t j = 0; j < PER; j++) {
            const double u = trl_rng_unit(&r);
            const size_t a = (size_t)(u * u * F);
            if (!has[a])
                p.feature[k++] = (uint32_t)a;
            has[a] = true;
        }
        const bool positive = (has[0] && !has[3]) || (has[1] && has[2]) || has[40] || has[77];
        p.y[i] = positive == (trl_rng_unit(&r) < 0.95) ? 1 : -1;
    }
    assert_ok(
        trl_boost_data_new(&(trl_boost_examples){n, F, p.end, p.feature}, memory, &p.data, &err));
    assert_ok(trl_boost_data_answer(p.data, "+1", p.y, NULL, &err));
    return p;
}

static void free_problem(problem *p)
{
    trl_boost_data_free(p->data);
    free(p->end);
    free(p->feature);
    free(p->y);
}

static trl_boost_model *train(const problem *p, const problem *held_out, trl_boost_options o)
{
    trl_boost_model *m = NULL;
    trl_error err;
    assert_ok(trl_boost_train(p->data, held_out ? held_out->data : NULL, &o, &m, &err));
    return m;
}

static void assert_same_models(const trl_boost_model *a, const trl_boost_model *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t k = 0; k < a->n; k++) {
        const trl_boost_part *x = &a->part[k], *y = &b->part[k];
        assert_int_equal(x->n_trees, y->n_trees);
        assert_int_equal(x->n_points, y->n_points);
        assert_int_equal(x->best, y->best);
        const size_t n = x->tree_end[x->n_trees - 1];
        assert_memory_equal(x->tree_end, y->tree_end, x->n_trees * sizeof *x->tree_end);
        assert_memory_equal(x->node, y->node, n * sizeof *x->node);
        for (size_t i = 0; i < x->n_points; i++) {
            trl_boost_point p = x->point[i], q = y->point[i];
            p.seconds = q.seconds = 0.0;
            assert_memory_equal(&p, &q, sizeof p);
        }
    }
}

static trl_boost_options quick(void)
{
    trl_boost_options o = trl_boost_options_default();
    o.lambda_end = 0.01;
    o.threads = 1;
    return o;
}

#endif
