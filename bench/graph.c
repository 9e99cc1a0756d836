/* graph.c -- message updates a second, and junction trees, on graphs of three kinds.
 *
 *     build/bench/graph [FOLDER [NAME]]
 *
 * Flooding and residual belief propagation on a binary grid of 100 x 100, a factorial model of 25
 * words (44 and 3 labels), and a skip chain of 3,175 tokens with 2,263 skip edges and 9 labels;
 * junction trees on the factorial model, a grid of 14 x 14 and a ladder of 1,000 rungs of 6 labels.
 * All factors have two variables and a table of their own.  Processor seconds for about 80,000
 * updates, at most seven sweeps from uniform messages at a time, the best of five. With FOLDER the
 * graphs are written there as .fg, for bench/libdai.cpp; NAME is the only one to measure.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "graph/bp.h"
#include "graph/infer.h"

#define REPEATS 5
#define UPDATES 80000 /* of one measurement, in whole sweeps ... */
#define SWEEPS 7      /* ... at most so many from uniform messages: later changes are rounding */

static void need(trl_status st)
{
    if (st != TRL_OK)
        exit(1);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static void add_variables(trl_graph *g, size_t n, uint32_t labels)
{
    for (size_t v = 0; v < n; v++)
        need(trl_graph_add_variable(g, labels, NULL));
}

static void add_pair(trl_graph *g, trl_rng *rng, uint32_t u, uint32_t v)
{
    double theta[44 * 44];
    const trl_graph_view look = trl_graph_look(g);
    const size_t n = (size_t)look.labels[u] * look.labels[v];
    for (size_t i = 0; i < n; i++)
        theta[i] = log(0.5 + trl_rng_unit(rng));
    need(trl_graph_add_table(g, n, theta, NULL));
    need(trl_graph_add_factor(g, 2, (uint32_t[]){u, v}, (uint32_t)look.n_tables, NULL));
}

static trl_graph *make_grid(uint32_t side)
{
    trl_graph *g = NULL;
    trl_rng rng = trl_rng_seed(1);
    need(trl_graph_new(&g, NULL));
    add_variables(g, (size_t)side * side, 2);
    for (uint32_t v = 0; v < side * side; v++) {
        if (v % side)
            add_pair(g, &rng, v - 1, v);
        if (v >= side)
            add_pair(g, &rng, v - side, v);
    }
    return g;
}

/* Two chains, joined at every word. */
static trl_graph *make_factorial(uint32_t words, uint32_t tags, uint32_t chunks)
{
    trl_graph *g = NULL;
    trl_rng rng = trl_rng_seed(2);
    need(trl_graph_new(&g, NULL));
    for (uint32_t t = 0; t < words; t++) {
        add_variables(g, 1, tags);
        add_variables(g, 1, chunks);
    }
    for (uint32_t t = 0; t < words; t++) {
        add_pair(g, &rng, 2 * t, 2 * t + 1);
        if (t > 0) {
            add_pair(g, &rng, 2 * t - 2, 2 * t);
            add_pair(g, &rng, 2 * t - 1, 2 * t + 1);
        }
    }
    return g;
}

/* A chain, and words that come again: every two of a group are joined. */
static trl_graph *make_skip_chain(uint32_t tokens, size_t skips, uint32_t labels)
{
    trl_graph *g = NULL;
    trl_rng rng = trl_rng_seed(3);
    need(trl_graph_new(&g, NULL));
    add_variables(g, tokens, labels);
    for (uint32_t t = 1; t < tokens; t++)
        add_pair(g, &rng, t - 1, t);
    for (size_t size = 30, made = 0; made<skips; size = size> 3 ? size - 1 : 30) {
        uint32_t at[30];
        for (size_t k = 0; k < size; k++)
            at[k] = (uint32_t)(k * (tokens / size) + trl_rng_below(&rng, tokens / size));
        for (size_t i = 0; i < size; i++)
            for (size_t j = 0; j < i && made < skips; j++, made++)
                add_pair(g, &rng, at[j], at[i]);
    }
    return g;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds for `updates` messages. */
static double time_bp(const trl_infer_plan *p, int schedule, uint64_t updates, trl_arena *arena)
{
    trl_bp b = {.g = &p->g, .l = p->layout, .table = p->g.table};
    uint64_t iterations;
    bool failed;
    trl_arena_reset(arena);
    need(trl_bp_init(&b, arena, NULL, NULL));
    const double start = now();
    trl_bp_run(&b, schedule, &(trl_bp_limits){0.0, updates}, arena, &iterations, &failed);
    const double seconds = now() - start;
    if (failed || b.range)
        exit(1);
    return seconds;
}

static void measure_bp(const char *name, const trl_graph *g, int schedule)
{
    trl_infer_options o = trl_infer_options_default();
    trl_infer_plan *p = NULL;
    o.method = TRL_INFER_BP;
    o.schedule = (trl_infer_schedule)schedule;
    need(trl_infer_plan_new(g, &o, &p, NULL));
    const size_t messages = p->layout->n_messages;
    const uint64_t sweeps = UPDATES / messages < SWEEPS ? UPDATES / messages : SWEEPS;
    const uint64_t starts = UPDATES / (sweeps * messages);
    double best = HUGE_VAL;
    trl_arena arena = {0}; /* kept, as that of a workspace is */
    for (int k = 0; k < REPEATS; k++) {
        double seconds = 0.0;
        for (uint64_t i = 0; i < starts; i++)
            seconds += time_bp(p, schedule, sweeps * messages, &arena);
        best = fmin(best, seconds);
    }
    printf("%-10s %-9s %7zu messages %llu x %llu sweeps %8.4f s %10.3g updates/s\n", name,
           schedule == TRL_SCHEDULE_FLOODING ? "flooding" : "residual", messages,
           (unsigned long long)starts, (unsigned long long)sweeps, best,
           (double)(starts * sweeps * messages) / best);
    trl_arena_fini(&arena);
    trl_infer_plan_free(p);
}

static void measure_exact(const char *name, const trl_graph *g)
{
    const trl_infer_options o = trl_infer_options_default();
    trl_infer_plan *p = NULL;
    trl_infer_work *w = NULL;
    trl_infer_result r = {0};
    double best = HUGE_VAL, plan = HUGE_VAL;
    need(trl_infer_work_new(&w, NULL));
    for (int k = 0; k < REPEATS; k++) {
        trl_infer_plan_free(p);
        double start = now();
        need(trl_infer_plan_new(g, &o, &p, NULL));
        plan = fmin(plan, now() - start);
        start = now();
        need(trl_infer_marginals(p, NULL, w, &r, NULL));
        best = fmin(best, now() - start);
    }
    const trl_infer_info info = trl_infer_plan_info(p);
    printf("%-10s exact     width %2zu %9.0f cells  plan %8.5f s  run %8.5f s  log Z %.10g\n", name,
           info.width, info.cells, plan, best, r.log_z);
    trl_infer_plan_free(p);
    trl_infer_work_free(w);
}

static void write_graph(const char *folder, const char *name, const trl_graph *g)
{
    char path[512];
    trl_buf b = {0};
    snprintf(path, sizeof path, "%s/%s.fg", folder, name);
    need(trl_graph_write(g, TRL_GRAPH_FG, &b, NULL));
    FILE *f = fopen(path, "w");
    if (!f || fwrite(b.data, 1, b.len, f) != b.len || fclose(f) != 0)
        exit(1);
    trl_buf_fini(&b);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"grid100", "factorial", "skip", "grid14", "ladder"};
    trl_graph *g[] = {make_grid(100), make_factorial(25, 44, 3), make_skip_chain(3175, 2263, 9),
                      make_grid(14), make_factorial(1000, 6, 6)};
    for (size_t k = 0; k < 5; k++) {
        if (argc > 1)
            write_graph(argv[1], names[k], g[k]);
        const bool wanted = argc < 3 || strcmp(argv[2], names[k]) == 0;
        if (wanted && k < 3) {
            measure_bp(names[k], g[k], TRL_SCHEDULE_FLOODING);
            measure_bp(names[k], g[k], TRL_SCHEDULE_RESIDUAL);
        }
        if (wanted && k != 0 && k != 2)
            measure_exact(names[k], g[k]);
        trl_graph_free(g[k]);
    }
    return 0;
}
