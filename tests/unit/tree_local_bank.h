/* tree_local_bank.h -- a bank of trees for tests of local objectives. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_LOCAL_BANK_H
#define TREE_LOCAL_BANK_H

#include "tree_bank.h"

/* Places of all sorts but splits. */
static const char several[] = "tag here.word\nbase-tag here-1.class\n"
                              "parent first.form last.form\nparent length\n"
                              "base-parent first.tag\nbase-parent after.tag\n"
                              "base-parent inside.tag inside+1.tag\n"
                              "rule first.class\nbase-rule last.form\n"
                              "unary first.word\nbase-unary last.tag short\nunary-parent length\n";

static const struct {
    const char *name;
    trl_annotation a;
    bool relaxed;
} models[] = {{"local", {true, false, true, 1}, false},
              {"local", {false, false, false, 0}, false},
              {NULL, {true, true, false, 2}, true}};
#define N_MODELS 3

static void open_model(bank *b, size_t k, size_t n, size_t step)
{
    bank_open(b, models[k].name ? trl_tree_template_text(models[k].name) : several, models[k].a,
              models[k].relaxed, 12, n, step);
    b->m.scoring = TRL_SCORING_LOCAL;
    b->m.features.w = b->w;
    trl_error err;
    assert_ok(trl_tree_model_index_rules(&b->m, &err));
}

static void open_task(bank *b, trl_tree_task *t, const trl_objective *o, size_t threads)
{
    trl_error err;
    assert_ok(trl_tree_task_init(t, o, &b->m.features, &(trl_task_examples){b->example, b->n},
                                 threads, &err));
    assert_ok(trl_tree_task_local(t, &b->m.expansions, &b->m.lists, &err));
}

static double loss_of(trl_tree_task *t, const double *w, size_t e)
{
    trl_error err;
    double loss;
    assert_ok(t->sparse.prepare(t, w, &err));
    assert_ok(t->sparse.evaluate(t, e, 0, &loss, NULL, &err));
    return loss;
}

#endif
