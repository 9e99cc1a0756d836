/* columns_scenario.h -- columns made of trees, for test_alloc. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_COLUMNS_SCENARIO_H
#define TRL_TEST_COLUMNS_SCENARIO_H

#include "trellis/trees.h"

static trl_status do_trees(const void *p, trl_error *err)
{
    (void)p;
    trl_tree_columns_options o = trl_tree_columns_options_default();
    trl_tree_columns *r = NULL;
    char trees[512], marks[512], documents[512];
    snprintf(trees, sizeof trees, "%s/trees", folder);
    snprintf(marks, sizeof marks, "%s/marks", folder);
    snprintf(documents, sizeof documents, "%s/documents", folder);
    o.treebank = trees;
    o.entities = marks;
    o.documents = documents;
    o.split = "train";
    trl_status st = trl_tree_columns_open(&o, &r, err);
    for (bool more = true; st == TRL_OK && more;) {
        trl_rows seq;
        st = trl_tree_columns_next(r, &seq, &more, err);
    }
    trl_tree_columns_free(r);
    return st;
}

#endif
