/* test_graph_chain.c -- a graph that is a chain gives what the code of chains gives; an objective
 * of one short file (obj_exponential.h) serves both. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "chain/objective.h"
#include "graph_problem.h"
#include "obj_exponential.h"
#include "random_chain.h"

typedef struct chain_example {
    random_chain r;
    uint32_t gold[8];
    double weight;
    trl_tables adjoint;
    trl_arena arena;
} chain_example;

static void chain_make(trl_rng *rng, chain_example *e)
{
    static const double scale[] = {0.3, 3.0, 20.0};
    const chain_shape h = {.T = 1 + trl_rng_below(rng, 6),
                           .L = 1 + trl_rng_below(rng, 5),
                           .order = 1,
                           .shared = true,
                           .edge_rows = true,
                           .scale = scale[trl_rng_below(rng, 3)]};
    *e = (chain_example){.weight = 0.5 + trl_rng_unit(rng)};
    random_chain_make(rng, h, &e->r);
    for (size_t t = 0; t < h.T; t++)
        e->gold[t] = (uint32_t)trl_rng_below(rng, h.L);
    e->adjoint = e->r.s;
    for (size_t f = 0; f < 2; f++)
        e->adjoint.row[f] = problem_rows(h.T * e->r.s.step[f]);
    e->adjoint.shared[TRL_EDGE] = problem_rows(h.L * h.L);
}

static void chain_fini(chain_example *e)
{
    for (size_t f = 0; f < 2; f++)
        free(e->adjoint.row[f]);
    free(e->adjoint.shared[TRL_EDGE]);
    random_chain_fini(&e->r);
    trl_arena_fini(&e->arena);
}

/* Value and whole adjoint by the code of chains; `demo` instead of a row of the table. */
static double chain_value(chain_example *e, const char *name, trl_factor_objective demo)
{
    trl_error err;
    trl_chain_sums sums;
    double value;
    const trl_objective *o = demo ? NULL : trl_objective_find(name);
    const trl_chain_example x = {.chain = &e->r.c,
                                 .scores = &e->r.s,
                                 .gold = e->gold,
                                 .weight = e->weight,
                                 .arena = &e->arena,
                                 .by_factors = demo ? demo : trl_factor_objective_of(o)};
    const trl_objective_fn evaluate = demo ? trl_obj_by_factors : trl_chain_objective(o);
    trl_arena_reset(&e->arena);
    memset(e->adjoint.shared[TRL_EDGE], 0, e->r.shape.L * e->r.shape.L * sizeof(double));
    assert_ok(trl_chain_sums_init(&sums, &e->r.c, &err));
    assert_ok(evaluate(&x, &e->adjoint, &sums, &value, &err));
    trl_chain_sums_add(&sums, &e->r.c, -1.0, e->adjoint.shared[TRL_EDGE], NULL);
    trl_chain_sums_fini(&sums);
    return value;
}

/* The chain as a graph.  `whole`: its factors are node_0 and the pairs with the node of their
 * second label; else nodes and pairs.  Template 0 has the nodes, 3 the pairs, shared and by row. */
static void graph_make(const chain_example *e, bool whole, graph_problem *p)
{
    const size_t T = e->r.shape.T, L = e->r.shape.L;
    const size_t width[] = {L, 1, 1, L * L};
    trl_error err;
    trl_graph *g = NULL;
    uint32_t family[16], n = 0;
    assert_ok(trl_graph_new(&g, &err));
    for (uint32_t t = 0; t < T; t++) {
        assert_ok(trl_graph_add_variable(g, (uint32_t)L, &err));
        if (t == 0 || !whole) {
            assert_ok(trl_graph_add_table(g, L, NULL, &err));
            assert_ok(trl_graph_add_factor(g, 1, &t, n, &err));
            family[n++] = 0;
        }
        if (t > 0) {
            assert_ok(trl_graph_add_table(g, L * L, NULL, &err));
            assert_ok(trl_graph_add_factor(g, 2, (uint32_t[]){t - 1, t}, n, &err));
            family[n++] = 3;
        }
    }
    graph_problem_make(p, width, 4, g, family, e->gold, e->weight);
    memcpy(p->scores.shared[3], e->r.s.shared[TRL_EDGE], L * L * sizeof(double));
    for (size_t t = 0; t < T; t++) {
        const double *node = e->r.s.row[TRL_NODE] + t * e->r.s.step[TRL_NODE];
        const double *edge = e->r.s.row[TRL_EDGE] + t * e->r.s.step[TRL_EDGE];
        if (t == 0 || !whole)
            memcpy(p->scores.row[0] + t * p->scores.step[0], node, L * sizeof(double));
        for (size_t c = 0; t > 0 && c < L * L; c++)
            p->scores.row[3][(t - 1) * p->scores.step[3] + c] =
                edge[c] + (whole ? node[c % L] : 0.0);
    }
}

static void compare(const chain_example *e, const graph_problem *p, bool whole)
{
    const size_t T = e->r.shape.T, L = e->r.shape.L;
    const trl_tables *a = &e->adjoint, *b = &p->adjoint;
    for (size_t t = 0; t < T; t++) {
        const double *pair = t ? b->row[3] + (t - 1) * b->step[3] : NULL;
        for (size_t y = 0; y < L; y++) {
            double node = whole && t ? 0.0 : b->row[0][t * b->step[0] + y];
            for (size_t q = 0; whole && t && q < L; q++)
                node += pair[q * L + y];
            assert_near(node, a->row[TRL_NODE][t * a->step[TRL_NODE] + y], 1e-10);
        }
        for (size_t c = 0; t && c < L * L; c++)
            assert_near(pair[c], a->row[TRL_EDGE][t * a->step[TRL_EDGE] + c], 1e-10);
    }
    for (size_t c = 0; c < L * L; c++)
        assert_near(b->shared[3][c], a->shared[TRL_EDGE][c], 1e-10);
}

static void test_chains(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool whole;
    } cases[] = {{"likelihood", false},
                 {"likelihood", true},
                 {"pseudolikelihood", false},
                 {"pseudolikelihood", true},
                 {"pseudolikelihood-edge", false},
                 {"pseudolikelihood-edge", true},
                 {"piecewise", true},
                 {"piecewise-pseudolikelihood", true},
                 {"perceptron", false}};
    const trl_infer_options infer = trl_infer_options_default();
    trl_rng rng = trl_rng_seed(81);
    for (int round = 0; round < 100; round++) {
        chain_example e;
        chain_make(&rng, &e);
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            graph_problem p;
            graph_make(&e, cases[k].whole, &p);
            graph_problem_objective(&p, cases[k].name, &infer);
            assert_near(graph_problem_value(&p), chain_value(&e, cases[k].name, NULL), 1e-10);
            compare(&e, &p, cases[k].whole);
            graph_problem_fini(&p);
        }
        chain_fini(&e);
    }
}

/* Bethe's and the tree-reweighted estimate are exact here. */
static void test_messages(void **state)
{
    (void)state;
    const trl_infer_options infer = trl_infer_options_default();
    trl_rng rng = trl_rng_seed(82);
    for (int round = 0; round < 40; round++) {
        chain_example e;
        graph_problem p;
        chain_make(&rng, &e);
        graph_make(&e, false, &p);
        graph_problem_objective(&p, round % 2 ? "bethe" : "trw", &infer);
        assert_near(graph_problem_value(&p), chain_value(&e, "likelihood", NULL), 1e-7);
        graph_problem_fini(&p);
        chain_fini(&e);
    }
}

static void test_one_file_for_both(void **state)
{
    (void)state;
    const trl_infer_options infer = trl_infer_options_default();
    trl_rng rng = trl_rng_seed(83);
    for (int round = 0; round < 60; round++) {
        chain_example e;
        graph_problem p;
        chain_make(&rng, &e);
        graph_make(&e, true, &p);
        graph_problem_objective(&p, "piecewise", &infer);
        p.task.by_factors = obj_exponential;
        assert_near(graph_problem_value(&p), chain_value(&e, NULL, obj_exponential), 1e-10);
        if (e.r.shape.scale < 10.0) {
            compare(&e, &p, true);
            check_slopes(&p, &rng, "exponential", 3, 1e-4);
        }
        graph_problem_fini(&p);
        chain_fini(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains),
                                       cmocka_unit_test(test_messages),
                                       cmocka_unit_test(test_one_file_for_both)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
