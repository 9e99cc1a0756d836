/* log_z.c -- how far estimates of log Z and marginals are from the exact ones, on the graphs of a
 * trained model.
 *
 *     build/bench/log_z MODEL FILE [SENTENCES]
 *
 * FILE: columns as the model's training data.  A line for every method: the mean of its log Z less
 * the exact one, the mean and the largest distance, the mean and the largest distance of a
 * variable's probabilities, graphs that did not converge, milliseconds a graph.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "trellis/graph_model.h"

static trl_error err;

static void must(trl_status st)
{
    if (st != TRL_OK) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
}

typedef struct method {
    const char *name;
    trl_infer_method method;
    double damping;
    double sum, distance, worst; /* of log Z */
    double p_distance, p_worst;  /* of probabilities */
    double seconds;
    size_t open, below; /* not converged; log Z below the exact one */
} method;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The answer of a method; the work keeps its arrays. */
static trl_infer_result ask(const trl_graph *g, method *m, trl_infer_work *work)
{
    trl_infer_options o = trl_infer_options_default();
    trl_infer_plan *plan;
    trl_infer_result r;
    o.method = m->method;
    o.damping = m->damping;
    o.tolerance = 1e-8;
    const double from = now();
    must(trl_infer_plan_new(g, &o, &plan, &err));
    must(trl_infer_marginals(plan, NULL, work, &r, &err));
    m->seconds += now() - from;
    trl_infer_plan_free(plan);
    return r;
}

static void note_log_z(method *m, double error)
{
    m->sum += error;
    m->distance += fabs(error);
    m->worst = fmax(m->worst, fabs(error));
    m->below += error < -1e-6;
}

/* sum over factors of log sum exp theta_a: the bound of piecewise training. */
static double piecewise_bound(const trl_graph_view *g)
{
    double sum = 0.0;
    for (size_t a = 0; a < g->n_factors; a++) {
        const double *theta = g->table[g->table_of[a]];
        const size_t n = g->cell_at[a + 1] - g->cell_at[a];
        double max = -HUGE_VAL, z = 0.0;
        for (size_t i = 0; i < n; i++)
            max = fmax(max, theta[i]);
        for (size_t i = 0; i < n; i++)
            z += exp(theta[i] - max);
        sum += max + log(z);
    }
    return sum;
}

static void compare(const trl_graph *graph, method *m, size_t n_methods,
                    trl_infer_work *const *work)
{
    const trl_graph_view g = trl_graph_look(graph);
    const trl_infer_result exact = ask(graph, &m[0], work[0]);
    for (size_t k = 1; k + 1 < n_methods; k++) {
        const trl_infer_result r = ask(graph, &m[k], work[1]);
        double sum = 0.0;
        for (size_t i = 0; i < g.label_at[g.n_variables]; i++) {
            const double d = fabs(r.variable[i] - exact.variable[i]);
            sum += d / 2.0; /* total variation */
            m[k].p_worst = fmax(m[k].p_worst, d);
        }
        m[k].p_distance += sum / (double)g.n_variables;
        m[k].open += !r.converged;
        note_log_z(&m[k], r.log_z - exact.log_z);
    }
    const double from = now(), bound = piecewise_bound(&g);
    m[n_methods - 1].seconds += now() - from;
    note_log_z(&m[n_methods - 1], bound - exact.log_z);
}

int main(int argc, char **argv)
{
    method m[] = {{.name = "exact", .method = TRL_INFER_EXACT},
                  {.name = "bp", .method = TRL_INFER_BP},
                  {.name = "trw", .method = TRL_INFER_TRW, .damping = 0.5},
                  {.name = "mf", .method = TRL_INFER_MEAN_FIELD},
                  {.name = "piecewise"}};
    const size_t n_methods = sizeof m / sizeof *m, most = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    trl_graph_model *model;
    trl_graph_tagger *tagger;
    trl_infer_work *work[2];
    trl_reader *in;
    trl_rows rows;
    bool more = true;
    size_t n = 0;
    if (argc < 3)
        return 1;
    must(trl_graph_model_open(argv[1], &model, &err));
    must(trl_graph_tagger_new(model, NULL, &tagger, &err));
    must(trl_infer_work_new(&work[0], &err));
    must(trl_infer_work_new(&work[1], &err));
    must(trl_reader_open(argv[2], TRL_FORMAT_COLUMNS, &in, &err));
    while (!most || n < most) {
        trl_graph *g;
        must(trl_reader_rows(in, &rows, &more, &err));
        if (!more)
            break;
        trl_graph_tagger_clear(tagger);
        must(trl_graph_tagger_add(tagger, &rows, &err));
        must(trl_graph_tagger_graph(tagger, &g, &err));
        compare(g, m, n_methods, work);
        trl_graph_free(g);
        n++;
    }
    for (size_t k = 0; k < n_methods && n; k++)
        printf("%-9s %.5g %.5g %.5g %.3g %.3g %zu %zu %.3f\n", m[k].name, m[k].sum / (double)n,
               m[k].distance / (double)n, m[k].worst, m[k].p_distance / (double)n, m[k].p_worst,
               m[k].open, m[k].below, 1000.0 * m[k].seconds / (double)n);
    trl_reader_free(in);
    trl_infer_work_free(work[0]);
    trl_infer_work_free(work[1]);
    trl_graph_tagger_free(tagger);
    trl_graph_model_free(model);
    return 0;
}
