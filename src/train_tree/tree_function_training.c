/* tree_function_training.c -- function labels: learnt when asked for, else dropped, which is said.
 */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/format.h"
#include "train_tree/function_training.h"
#include "train_tree/tree_training.h"

/* The head rules of the run, in a copy that belongs to the model. */
static trl_status copy_heads(const trl_tree_training *j, trl_head_rules **out, trl_error *err)
{
    const trl_str text = trl_head_rules_text(j->heads);
    return trl_head_rules_parse("<head rules>", text.p, text.n, out, err);
}

trl_status trl_tree_training_functions(trl_tree_training *j, trl_error *err)
{
    char note[160];
    trl_function_labels *f = &j->model.functions;
    if (!j->o->functions) {
        trl_snprintf(note, sizeof note,
                     "%llu labels have function tags (NP-SBJ), which are dropped: 'functions' "
                     "keeps and predicts them",
                     (unsigned long long)j->trees.n_functions);
        if (j->trees.n_functions)
            trl_tree_training_report(j, "functions", note);
        return TRL_OK;
    }
    trl_status st = copy_heads(j, &f->heads, err);
    if (st == TRL_OK)
        st = trl_function_train(f, &j->trees, j->pool, j->o->seed, err);
    if (st == TRL_OK) {
        trl_snprintf(note, sizeof note, "%zu classes of function labels, %u weights",
                     f->class.n - 1, f->first[f->feature.n]);
        trl_tree_training_report(j, "functions", note);
    }
    return st;
}
