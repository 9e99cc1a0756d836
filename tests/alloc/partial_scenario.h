/* partial_scenario.h -- training from labels that are notes, with costs, in memory. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_PARTIAL_SCENARIO_H
#define TRL_TEST_PARTIAL_SCENARIO_H

#include "trellis/dataset.h"
#include "trellis/train.h"

static trl_status do_partial(const void *objective, trl_error *err)
{
    static const trl_str label[] = {{"O", 1}, {"?", 1}, {"A|B", 3}, {"A:0.5|O:0.5", 11}, {"B", 1}};
    static const trl_attr attr[] = {
        {{"u", 1}, 1.0}, {{"v", 1}, 1.0}, {{"u", 1}, 0.0}, {{"w", 1}, 1.0}, {{"v", 1}, 2.0}};
    static const size_t begin[] = {0, 1, 2, 3, 4, 5};
    static const trl_items items = {5, label, begin, attr, 1.0, NULL, 0};
    trl_dataset *d = NULL;
    trl_buf model = {0};
    trl_train_result result;
    trl_train_options o = trl_train_options_default();
    trl_status st = trl_dataset_new(&d, err);
    if (st == TRL_OK)
        st = trl_dataset_add_items(d, &items, 1, NULL, err);
    o.data = d;
    o.model_out = &model;
    o.objective = objective;
    o.partial = true;
    o.cost = strcmp(objective, "likelihood") == 0 ? "O=1,*:A=2" : NULL;
    o.max_iter = 3;
    o.threads = 1;
    if (st == TRL_OK)
        st = trl_train(&o, &result, err);
    trl_buf_fini(&model);
    trl_dataset_free(d);
    return st;
}

static void fail_partial(void (*fail_all)(const char *name, scenario_fn run, const void *arg))
{
    static const char *const objectives[] = {"likelihood", "memm", "pseudolikelihood"};
    for (size_t k = 0; k < sizeof objectives / sizeof *objectives; k++)
        fail_all(objectives[k], do_partial, objectives[k]);
}

#endif
