/* shrink_scenario.h -- a model shrunk, opened and used, for test_alloc.c. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_SHRINK_SCENARIO_H
#define TRL_TEST_SHRINK_SCENARIO_H

#include "trellis/shrink.h"

/* Three tokens with two words. */
static trl_status tag_small(const trl_model *m, trl_error *err)
{
    const trl_str cell[] = {{"a", 1}, {"x", 1}, {"b", 1}, {"y", 1}, {"?", 1}, {"?", 1}};
    const trl_rows rows = {.n_tokens = 3, .n_columns = 2, .cell = cell};
    trl_tagger *t = NULL;
    uint32_t labels[3];
    double score;
    trl_status st = trl_tagger_new(m, &t, err);
    if (st == TRL_OK)
        st = trl_tagger_set_rows(t, &rows, err);
    if (st == TRL_OK)
        st = trl_tagger_viterbi(t, labels, &score, err);
    trl_tagger_free(t);
    return st;
}

/* p: how; the model is in `ready`. */
static trl_status do_shrink(const void *p, trl_error *err)
{
    char from[512], to[512];
    trl_model *m = NULL, *small = NULL;
    trl_shrink_report report;
    snprintf(from, sizeof from, "%s/ready", folder);
    snprintf(to, sizeof to, "%s/model", folder);
    trl_status st = trl_model_open(from, &m, err);
    if (st == TRL_OK)
        st = trl_model_shrink_file(m, p, to, &report, err);
    if (st == TRL_OK)
        st = trl_model_map(to, &small, err);
    if (st == TRL_OK)
        st = tag_small(small, err);
    trl_model_free(m);
    trl_model_free(small);
    return st;
}

static void fail_shrink(void (*fail_all)(const char *name, scenario_fn run, const void *arg))
{
    static const trl_shrink_options how[] = {
        {.size = sizeof *how, .keep = 0.5, .bits = 16, .fingerprints = true},
        {.size = sizeof *how, .prune = 1e-3, .bits = 8}};
    for (size_t k = 0; k < sizeof how / sizeof *how; k++)
        fail_all("shrink", do_shrink, &how[k]);
}

#endif
