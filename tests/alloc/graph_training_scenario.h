/* graph_training_scenario.h -- graphs are trained by every objective while allocations fail. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_GRAPH_TRAINING_SCENARIO_H
#define TRL_TEST_GRAPH_TRAINING_SCENARIO_H

#include "graph_scenario.h"

#include "train_graph/train_graph.h"

/* A triangle, so that messages go in circles. */
static trl_status make_triangle(trl_graph **out, trl_error *err)
{
    trl_status st = trl_graph_new(out, err);
    for (uint32_t v = 0; st == TRL_OK && v < 3; v++)
        st = trl_graph_add_variable(*out, 2, err);
    for (uint32_t v = 0; st == TRL_OK && v < 3; v++) {
        st = trl_graph_add_table(*out, 4, NULL, err);
        if (st == TRL_OK)
            st = trl_graph_add_factor(*out, 2, (uint32_t[]){v, (v + 1) % 3}, v, err);
    }
    return st;
}

static trl_status fill_graphs(trl_graph_corpus *c, trl_error *err)
{
    static const uint32_t family[] = {0, 0, 0}, y[2][3] = {{0, 1, 0}, {1, 1, 0}};
    static const size_t begin[] = {0, 1, 1, 1};
    static const trl_attr attr = {{"a", 1}, 1.0};
    trl_status st = trl_corpus_set_constant(&c->corpus, 0, err);
    for (size_t e = 0; st == TRL_OK && e < 2; e++) {
        trl_graph *g = NULL;
        st = make_triangle(&g, err);
        if (st == TRL_OK)
            st = trl_graph_corpus_add(c,
                                      &(trl_graph_case){.graph = g,
                                                        .family = family,
                                                        .begin = begin,
                                                        .attr = &attr,
                                                        .y = y[e],
                                                        .weight = 1.0},
                                      err);
        else
            trl_graph_free(g);
    }
    return st;
}

static trl_status train_graphs(const char *objective, const char *optimizer, trl_error *err)
{
    trl_graph_corpus c = {0};
    trl_graph_training t = {0};
    trl_train_result r;
    trl_infer_options infer = trl_infer_options_default();
    trl_train_options o = trl_train_options_default();
    o.objective = objective, o.optimizer = optimizer;
    o.threads = 1, o.max_iter = 2, o.c2 = 1.0;
    o.keep_messages = strcmp(objective, "bethe") == 0;
    infer.damping = 0.3;
    trl_status st = trl_graph_corpus_init(&c, (size_t[]){4}, 1, err);
    if (st == TRL_OK)
        st = fill_graphs(&c, err);
    if (st == TRL_OK)
        st = trl_graph_training_init(&t, &c, &o, &infer, err);
    if (st == TRL_OK) {
        st = trl_graph_training_run(&t, &r, err);
        trl_graph_training_fini(&t);
    }
    trl_graph_corpus_fini(&c);
    return st;
}

static trl_status do_graph_training(const void *unused, trl_error *err)
{
    trl_status st = TRL_OK;
    (void)unused;
    for (size_t k = 0; st == TRL_OK && trl_objective_at(k); k++)
        if (trl_objective_at(k)->kinds & TRL_KIND_GRAPH)
            st = train_graphs(trl_objective_at(k)->name, NULL, err);
    return st == TRL_OK ? train_graphs("piecewise", "sdca", err) : st;
}

#endif
