/* graph_scenario.h -- a graph and evidence read, written, drawn and asked by every method. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_SCENARIO_H
#define TRL_GRAPH_SCENARIO_H

#include "trellis/graph.h"

static const char graph_text[] =
    "MARKOV 5 2 3 2 2 2  6 1 0  2 0 1  2 1 2  2 2 0  3 2 3 4  2 0 1\n"
    "2 1 2\n6 1 2 3 4 5 6\n6 1 1 2 0 1 1\n4 1 2 2 1\n8 1 2 3 4 0 2 3 1\n6 1 1 1 2 1 1\n";

static trl_status ask_graph(const trl_graph *g, const trl_evidence *e, const trl_infer_options *o,
                            trl_error *err)
{
    trl_infer_plan *p = NULL;
    trl_infer_work *w = NULL;
    trl_infer_result r;
    const trl_infer_input in = {.evidence = e->label};
    trl_status st = trl_infer_plan_new(g, o, &p, err);
    if (st == TRL_OK)
        st = trl_infer_work_new(&w, err);
    if (st == TRL_OK && o->method != TRL_INFER_MPLP)
        st = trl_infer_marginals(p, &in, w, &r, err);
    if (st == TRL_OK && o->method != TRL_INFER_TRW && o->method != TRL_INFER_MEAN_FIELD)
        st = trl_infer_best(p, &in, w, &r, err);
    if (st == TRL_OK && (o->method == TRL_INFER_EXACT || o->method == TRL_INFER_BP))
        st = trl_infer_max_marginals(p, &in, w, &r, err);
    trl_infer_work_free(w);
    trl_infer_plan_free(p);
    return st;
}

/* Two chains of n variables joined at every one: cycles, but none wide. */
static trl_graph *ladder(uint32_t n)
{
    static const double theta[6] = {0.1, 0.2, -0.3, 0.4, 0.0, 0.3};
    trl_error err;
    trl_graph *g = NULL;
    assert_ok(trl_graph_new(&g, &err));
    for (uint32_t v = 0; v < 2 * n; v++)
        assert_ok(trl_graph_add_variable(g, v % 2 ? 3 : 2, &err));
    for (uint32_t v = 0, a = 0; v < 2 * n; v += 2)
        for (uint32_t k = 0; k < (v + 3 < 2 * n ? 3 : 1); k++, a++) {
            const uint32_t ends[3][2] = {{v, v + 1}, {v, v + 3}, {v + 2, v + 1}};
            assert_ok(trl_graph_add_table(g, 6, theta, &err));
            assert_ok(trl_graph_add_factor(g, 2, ends[k], a, &err));
        }
    return g;
}

/* The bytes that are asked for by a plan and a run of it. */
static size_t bytes_of(uint32_t n, const trl_infer_options *o)
{
    trl_error err;
    trl_graph *g = ladder(n);
    const trl_evidence none = {0};
    failing_start(0, false);
    assert_ok(ask_graph(g, &none, o, &err));
    const size_t bytes = failing_bytes();
    trl_graph_free(g);
    return bytes;
}

/* 16 times the graph, 16 times the memory: half as much more is left for blocks that double. */
static void test_graph_memory_is_linear(void **state)
{
    (void)state;
    for (int m = TRL_INFER_EXACT; m <= TRL_INFER_MPLP; m++)
        for (int s = TRL_SCHEDULE_FLOODING; s <= TRL_SCHEDULE_TREE; s++) {
            trl_infer_options o = trl_infer_options_default();
            o.method = (trl_infer_method)m;
            o.schedule = (trl_infer_schedule)s;
            o.samples = o.burn_in = 2;
            o.max_updates = 1000;
            const size_t few = bytes_of(400, &o), many = bytes_of(6400, &o);
            if (many > 24 * few)
                print_error("method %d, schedule %d: %zu and %zu bytes\n", m, s, few, many);
            assert_true(few > 400 && many <= 24 * few);
        }
}

static trl_status do_graph(const void *unused, trl_error *err)
{
    (void)unused;
    static const bool observed[5] = {false, false, false, true, false};
    trl_graph *g = NULL, *again = NULL;
    trl_evidence e = {0};
    trl_buf text = {0};
    trl_infer_options o = trl_infer_options_default();
    o.observed = observed;
    o.damping = 0.3;
    o.samples = o.burn_in = 2;
    trl_status st = trl_graph_read_memory(&(trl_text){"graph", graph_text, strlen(graph_text)},
                                          TRL_GRAPH_GUESS, 0, &g, err);
    if (st == TRL_OK)
        st = trl_graph_write(g, TRL_GRAPH_FG, &text, err);
    if (st == TRL_OK)
        st = trl_graph_read_memory(&(trl_text){"again", text.data, text.len}, TRL_GRAPH_FG, 0,
                                   &again, err);
    if (st == TRL_OK)
        st = trl_graph_dot(again, &text, err);
    if (st == TRL_OK)
        st = trl_evidence_read_memory(&(trl_text){"evidence", "1 3 1", 5}, g, &e, err);
    for (int m = TRL_INFER_EXACT; st == TRL_OK && m <= TRL_INFER_MPLP; m++)
        for (int s = TRL_SCHEDULE_FLOODING; st == TRL_OK && s <= TRL_SCHEDULE_TREE; s++) {
            o.method = (trl_infer_method)m;
            o.schedule = (trl_infer_schedule)s;
            o.second_start = s != TRL_SCHEDULE_FLOODING;
            st = ask_graph(again, &e, &o, err);
        }
    trl_buf_fini(&text);
    trl_evidence_fini(&e);
    trl_graph_free(g);
    trl_graph_free(again);
    return st;
}

/* Allocations of a run whose workspace has seen two like it. */
static size_t count_third_run(const trl_infer_plan *p, bool best)
{
    const trl_infer_input in = {0};
    trl_infer_work *w = NULL;
    trl_infer_result r;
    trl_error err;
    size_t n = 0;
    assert_int_equal(trl_infer_work_new(&w, &err), TRL_OK);
    for (int run = 0; run < 3; run++) {
        failing_start(0, false);
        const trl_status st =
            best ? trl_infer_best(p, &in, w, &r, &err) : trl_infer_marginals(p, &in, w, &r, &err);
        n = failing_count();
        assert_int_equal(st, TRL_OK);
        if (run == 0)
            assert_true(n > 0); /* they are counted at all */
    }
    trl_infer_work_free(w);
    return n;
}

/* Inference keeps its memory: nothing is allocated while messages are passed. */
static void test_inference_allocates_nothing(void **state)
{
    (void)state;
    trl_graph *g = NULL;
    trl_error err;
    trl_infer_options o = trl_infer_options_default();
    o.damping = 0.3;
    o.samples = o.burn_in = 2;
    assert_int_equal(trl_graph_read_memory(&(trl_text){"graph", graph_text, strlen(graph_text)},
                                           TRL_GRAPH_GUESS, 0, &g, &err),
                     TRL_OK);
    for (int m = TRL_INFER_EXACT; m <= TRL_INFER_MPLP; m++)
        for (int s = TRL_SCHEDULE_FLOODING; s <= TRL_SCHEDULE_TREE; s++) {
            trl_infer_plan *p = NULL;
            o.method = (trl_infer_method)m;
            o.schedule = (trl_infer_schedule)s;
            assert_int_equal(trl_infer_plan_new(g, &o, &p, &err), TRL_OK);
            if (m != TRL_INFER_MPLP)
                assert_int_equal(count_third_run(p, false), 0);
            if (m != TRL_INFER_TRW && m != TRL_INFER_MEAN_FIELD)
                assert_int_equal(count_third_run(p, true), 0);
            trl_infer_plan_free(p);
        }
    trl_graph_free(g);
}

#endif
