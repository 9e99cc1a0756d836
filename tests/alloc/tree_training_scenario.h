/* tree_training_scenario.h -- parsers of every grade trained while allocations fail, for
 * test_alloc, whose helpers it uses. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TREE_TRAINING_SCENARIO_H
#define TRL_TEST_TREE_TRAINING_SCENARIO_H

#include "parser_scenario.h"

static void train_trees(void)
{
    const tree_train_arg args[] = {
        {folder, "generative", "likelihood", NULL, NULL, false, false, 0, 0, false},
        {folder, "features", "likelihood", "adagrad", tree_template, false, true, 0, 0, false},
        {folder, "features", "likelihood", "adagrad", tree_template, true, true, 0, 0, false},
        {folder, "discriminative", "likelihood", "sgd", NULL, false, false, 0, 0, false},
        {folder, "features", "likelihood", "lbfgs", tree_template, false, false, 0, 0, false},
        {folder, "features", "perceptron", "adagrad", tree_template, false, false, 0, 0, false},
        {folder, "features", "mecfg", "lbfgs", NULL, false, false, 0, 0, false},
        {folder, "features", "pt-cfg", NULL, NULL, false, false, 0, 0, false},
        {folder, "features", "m-estimation", NULL, tree_template, false, false, 0, 0, false},
        {folder, "boosted", "likelihood", NULL, "children[*] label tag\nleft[1] label\n", false,
         false, 0, 0, false},
        {folder, "generative", "likelihood", NULL, NULL, false, false, 3, 0, false},
        {folder, "generative", "likelihood", NULL, NULL, false, false, 0, 0, true},
        {folder, "discriminative", "likelihood", "adagrad", NULL, false, false, 0, 3, false}};
    write_file("raw", "Anna sees a dog .\nThe cat sleeps .\n");
    for (size_t k = 0; k < sizeof args / sizeof *args; k++) {
        char name[64];
        snprintf(name, sizeof name, "trees %s %s %s%s%s", args[k].grade, args[k].objective,
                 args[k].optimizer ? args[k].optimizer : "", args[k].resume ? " resumed" : "",
                 args[k].rerank     ? " second stage"
                 : args[k].grammars ? " several grammars"
                 : args[k].raw_text ? " self-training"
                                    : "");
        fail_all(name, do_train_tree, &args[k]);
        if (k == 1) {
            assert_int_equal(rename(in_folder("want"), in_folder("parser")), 0);
            trl_error err; /* what the next one resumes */
            assert_ok(do_train_tree(&args[k], &err));
        }
    }
}

/* A parser with a tagger, as those of enough trees have; one of several grammars. */
static void parse_with(const char *name, const tree_train_arg *arg)
{
    uint64_t want = 0;
    trl_error err;
    char model[512];
    assert_ok(do_train_tree(arg, &err));
    snprintf(model, sizeof model, "%s/tagging", folder);
    assert_int_equal(rename(in_folder("model"), model), 0);
    parse_arg a = {model, trl_parse_options_default(), parser_known, 0, parser_text[0], &want};
    a.o.max_seconds = 0.0;
    fail_all(name, do_parse, &a);
}

static void parse_with_tagger(void)
{
    enum { TIMES = 40 };
    static char trees[TIMES * sizeof parser_trees];
    for (size_t k = 0; k < TIMES; k++)
        memcpy(trees + k * (sizeof parser_trees - 1), parser_trees, sizeof parser_trees);
    write_file("trees", trees);
    parse_with("parse with a tagger", &(tree_train_arg){folder, "features", "likelihood", "adagrad",
                                                        tree_template, false, false, 0, 0, false});
    parse_with("parse with several grammars",
               &(tree_train_arg){folder, "discriminative", "likelihood", "adagrad", NULL, false,
                                 false, 0, 3, false});
}

#endif
