/* tree_training_scenario.h -- parsers of every grade trained while allocations fail, for
 * test_alloc, whose helpers it uses. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TREE_TRAINING_SCENARIO_H
#define TRL_TEST_TREE_TRAINING_SCENARIO_H

#include "parser_scenario.h"

static void train_trees(void)
{
    const tree_train_arg args[] = {
        {folder, "generative", "likelihood", NULL, NULL, false, false, 0},
        {folder, "features", "likelihood", "adagrad", tree_template, false, true, 0},
        {folder, "features", "likelihood", "adagrad", tree_template, true, true, 0},
        {folder, "discriminative", "likelihood", "sgd", NULL, false, false, 0},
        {folder, "features", "likelihood", "lbfgs", tree_template, false, false, 0},
        {folder, "features", "perceptron", "adagrad", tree_template, false, false, 0},
        {folder, "features", "mecfg", "lbfgs", NULL, false, false, 0},
        {folder, "features", "pt-cfg", NULL, NULL, false, false, 0},
        {folder, "features", "m-estimation", NULL, tree_template, false, false, 0},
        {folder, "boosted", "likelihood", NULL, "children[*] label tag\nleft[1] label\n", false,
         false, 0},
        {folder, "generative", "likelihood", NULL, NULL, false, false, 3}};
    for (size_t k = 0; k < sizeof args / sizeof *args; k++) {
        char name[64];
        snprintf(name, sizeof name, "trees %s %s %s%s%s", args[k].grade, args[k].objective,
                 args[k].optimizer ? args[k].optimizer : "", args[k].resume ? " resumed" : "",
                 args[k].rerank ? " second stage" : "");
        fail_all(name, do_train_tree, &args[k]);
        if (k == 1) {
            assert_int_equal(rename(in_folder("want"), in_folder("parser")), 0);
            trl_error err; /* what the next one resumes */
            assert_ok(do_train_tree(&args[k], &err));
        }
    }
}

#endif
