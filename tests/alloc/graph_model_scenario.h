/* graph_model_scenario.h -- from a model file to labels while allocations fail. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_GRAPH_MODEL_SCENARIO_H
#define TRL_TEST_GRAPH_MODEL_SCENARIO_H

#include "base/buf.h"
#include "base/fail.h"
#include "graph_model/graph_spec.h"
#include "trellis/graph_model.h"
#include "trellis/train.h"

static const char graph_model_file[] =
    "unit document\n"
    "labels a column 1\n"
    "score a\n"
    "template w\n"
    "  U:%x[0,0]\n"
    "  U:%m[-1,0,\"..\"]\n"
    "factor a[i] features w\n"
    "factor edge: a[i-1] a[i] features w at i-1, i apart\n"
    "factor a[i] a[j] where %X[i,0] = %X[j,0] and j-i < 9 and %x[i,0] ~ \"[a-z]\"\n"
    "  features w\n"
    "piece edge\n";

static trl_status graph_dump_text(void *ctx, const char *text, size_t n, trl_error *err)
{
    return trl_buf_add(ctx, text, n) ? TRL_OK : trl_fail_mem(err);
}

static trl_status dump_graph_model(const trl_graph_model *m, trl_error *err)
{
    trl_buf text = {0}, model = {0};
    trl_status st = trl_graph_model_dump(m, 0, graph_dump_text, &text, err);
    if (st == TRL_OK)
        st = trl_model_undump_buf("dump", text.data, text.len, &model, err);
    trl_buf_fini(&text);
    trl_buf_fini(&model);
    return st;
}

static trl_status shrink_graph_model(const trl_graph_model *m, const char *folder, trl_error *err)
{
    char path[512];
    trl_shrink_options o = trl_shrink_options_default();
    snprintf(path, sizeof path, "%s/graphs.small", folder);
    o.keep = 0.5;
    const trl_status st = trl_graph_model_shrink(m, &o, path, NULL, err);
    remove(path);
    return st;
}

static trl_status use_graph_model(const trl_buf *bytes, const char *folder, trl_error *err)
{
    static const trl_str cell[] = {{"a", 1}, {"B", 1}, {"a", 1}, {"_", 1}};
    const trl_rows rows = {.n_tokens = 2, .n_columns = 2, .cell = cell};
    trl_graph_model *m = NULL;
    trl_graph_tagger *t = NULL;
    uint32_t y[2];
    double p[20];
    trl_graph_tagger_options o = trl_graph_tagger_options_default();
    o.known = 1;
    trl_status st = trl_graph_model_from_memory(bytes->data, bytes->len, &m, err);
    if (st == TRL_OK)
        st = trl_graph_tagger_new(m, &o, &t, err);
    if (st == TRL_OK)
        st = trl_graph_tagger_add(t, &rows, err);
    if (st == TRL_OK)
        st = trl_graph_tagger_best(t, y, NULL, err);
    if (st == TRL_OK)
        st = trl_graph_tagger_marginals(t, p, NULL, err);
    if (st == TRL_OK)
        st = dump_graph_model(m, err);
    if (st == TRL_OK)
        st = shrink_graph_model(m, folder, err);
    trl_graph_tagger_free(t);
    trl_graph_model_free(m);
    return st;
}

static trl_status read_grmm_templates(trl_error *err)
{
    static const char list[] = "new ACRF.BigramTemplate (0)\nnew SimilarTokensTemplate (0, true)\n";
    trl_graph_spec *s = NULL;
    const trl_status st = trl_graph_spec_parse("list", list, strlen(list), &s, err);
    trl_graph_spec_free(s);
    return st;
}

/* `arg`: the folder, with "graphs" in it. */
static trl_status do_graph_model(const void *arg, trl_error *err)
{
    char data[512];
    const char *train[1] = {data};
    trl_buf out = {0};
    trl_train_options o = trl_train_options_default();
    snprintf(data, sizeof data, "%s/graphs", (const char *)arg);
    o.kind = "graph";
    o.train = train;
    o.n_train = 1;
    o.dev = data;
    o.template_text = graph_model_file;
    o.template_size = strlen(graph_model_file);
    o.objective = "piecewise";
    o.max_iter = 2;
    o.model_out = &out;
    trl_status st = trl_train(&o, NULL, err);
    if (st == TRL_OK)
        st = use_graph_model(&out, arg, err);
    trl_buf_fini(&out);
    return st == TRL_OK ? read_grmm_templates(err) : st;
}

#endif
