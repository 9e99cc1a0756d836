/* graph_problem.h -- a graph as a training example: tables by template, value and adjoint. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_GRAPH_PROBLEM_H
#define TRL_TEST_GRAPH_PROBLEM_H

#include "support.h"

#include "base/rng.h"
#include "num/simd.h"
#include "train_graph/graph_task.h"

typedef struct graph_problem {
    trl_graph_corpus corpus; /* one example */
    trl_graph_task task;
    trl_task view;
    trl_tables scores, adjoint;
    trl_arena arena;
} graph_problem;

static inline double *problem_rows(size_t n)
{
    double *x = calloc(n, sizeof *x);
    assert_non_null(x);
    return x;
}

/* Takes over the graph.  Families with bit 0 of their number have shared tables, those with bit 1
 * (and family 0) rows; scores are zero. */
static inline void graph_problem_make(graph_problem *p, const size_t *width, size_t n_families,
                                      trl_graph *graph, const uint32_t *family, const uint32_t *y,
                                      double weight)
{
    trl_error err;
    const size_t n = trl_graph_look(graph).n_factors;
    size_t *begin = calloc(n + 1, sizeof *begin);
    *p = (graph_problem){0};
    assert_ok(trl_graph_corpus_init(&p->corpus, width, n_families, &err));
    assert_ok(trl_graph_corpus_add(
        &p->corpus,
        &(trl_graph_case){
            .graph = graph, .family = family, .begin = begin, .y = y, .weight = weight},
        &err));
    free(begin);
    p->scores.n = p->adjoint.n = (size_t)p->corpus.corpus.first[1];
    for (size_t f = 0; f < n_families; f++) {
        const size_t step = p->scores.step[f] = p->adjoint.step[f] = trl_padded(width[f]);
        if (f % 2) {
            p->scores.shared[f] = problem_rows(step);
            p->adjoint.shared[f] = problem_rows(step);
        }
        if (f % 4 != 1) {
            p->scores.row[f] = problem_rows(p->scores.n * step);
            p->adjoint.row[f] = problem_rows(p->scores.n * step);
        }
    }
}

static inline void graph_problem_objective(graph_problem *p, const char *objective,
                                           const trl_infer_options *infer)
{
    trl_error err;
    trl_graph_task_fini(&p->task);
    assert_ok(
        trl_graph_task_init(&p->task, &p->corpus, trl_objective_find(objective), infer, 2, &err));
    p->view = trl_graph_task_view(&p->task);
}

static inline void graph_problem_fini(graph_problem *p)
{
    for (size_t f = 0; f < TRL_FAMILIES_MAX; f++) {
        free(p->scores.row[f]);
        free(p->scores.shared[f]);
        free(p->adjoint.row[f]);
        free(p->adjoint.shared[f]);
    }
    trl_graph_task_fini(&p->task);
    trl_graph_corpus_fini(&p->corpus);
    trl_arena_fini(&p->arena);
}

/* Value; the adjoint of rows starts as garbage, that of shared tables as 0. */
static inline trl_status graph_problem_try(graph_problem *p, double *value, trl_error *err)
{
    for (size_t f = 0; f < p->corpus.corpus.n_families; f++) {
        for (size_t c = 0; p->adjoint.row[f] && c < p->adjoint.n * p->adjoint.step[f]; c++)
            p->adjoint.row[f][c] = nan("");
        for (size_t c = 0; p->adjoint.shared[f] && c < p->adjoint.step[f]; c++)
            p->adjoint.shared[f][c] = 0.0;
    }
    trl_arena_reset(&p->arena);
    const trl_example e = {0, 1, &p->arena, 0};
    return p->view.evaluate(p->view.self, &e, &p->scores, &p->adjoint, value, err);
}

static inline double graph_problem_value(graph_problem *p)
{
    trl_error err;
    double value = nan("");
    assert_ok(graph_problem_try(p, &value, &err));
    return value;
}

/* The adjoint at one cell against a central difference of the value. */
static inline void check_slope(graph_problem *p, const char *name, double *score,
                               const double *adjoint, double tol)
{
    const double s = *score, h = 1e-4;
    (void)graph_problem_value(p);
    const double got = *adjoint;
    *score = s + h;
    const double up = graph_problem_value(p);
    *score = s - h;
    const double want = (up - graph_problem_value(p)) / (2.0 * h);
    *score = s;
    if (!(fabs(got - want) <= tol))
        fail_msg("%s: the adjoint is %.12g, the difference %.12g", name, got, want);
}

/* At `cells` random cells of every table.  Cells that no factor has must have an adjoint of 0. */
static inline void check_slopes(graph_problem *p, trl_rng *rng, const char *name, size_t cells,
                                double tol)
{
    for (size_t f = 0; f < p->corpus.corpus.n_families; f++)
        for (size_t k = 0; k < cells; k++) {
            const size_t c = trl_rng_below(rng, p->corpus.corpus.family[f].width);
            const size_t at = trl_rng_below(rng, p->scores.n) * p->scores.step[f] + c;
            if (p->scores.row[f])
                check_slope(p, name, p->scores.row[f] + at, p->adjoint.row[f] + at, tol);
            if (p->scores.shared[f])
                check_slope(p, name, p->scores.shared[f] + c, p->adjoint.shared[f] + c, tol);
        }
}

#endif
