/* tree_task.c -- examples for the sparse optimisers. */
/* SPDX-License-Identifier: MIT */
#include "train_tree/tree_task.h"

#include "base/fail.h"
#include "base/mem.h"

void trl_tree_example_fini(trl_tree_example *e)
{
    if (!e->stored)
        trl_free(e->s.first);
    trl_free(e->seen.at);
    trl_btree_fini(&e->gold);
    trl_free(e->nota);
    *e = (trl_tree_example){0};
}

static const trl_tree_loss_fn losses[TRL_OBJECTIVES] = {
    [TRL_OBJ_LIKELIHOOD] = trl_loss_tree_likelihood,
    [TRL_OBJ_PERCEPTRON] = trl_loss_tree_perceptron,
    [TRL_OBJ_MEMM] = trl_loss_mecfg,
    [TRL_OBJ_NOTA] = trl_loss_pt_cfg,
};

/* The code of a row of the table (train/objectives.h); NULL for M-estimation, which has all
 * examples at once (tree_mest.h).  Objectives that need no inference look at gold items alone:
 * their examples' skeletons need no other (trl_gold_skeleton). */
static trl_tree_loss_fn loss_of(const trl_objective *o)
{
    return losses[o->id];
}

static trl_status prepare(void *self, const double *w, trl_error *err)
{
    (void)err;
    trl_tree_task *t = self;
    t->f->w = w;
    trl_tree_shared(t->f, t->binary_exp, t->unary);
    if (t->chooser)
        trl_chooser_shared_prepare(t->chooser, t->binary_exp);
    return TRL_OK;
}

static trl_status evaluate(void *self, size_t example, size_t worker, double *loss, trl_sparse *out,
                           trl_error *err)
{
    trl_tree_task *t = self;
    trl_tree_worker *w = &t->worker[worker];
    trl_arena_reset(&w->arena);
    trl_status st = t->loss(t, &t->example[example], w, out != NULL, loss, err);
    if (st == TRL_OK && w->gather.failed)
        st = trl_fail_mem(err);
    return st == TRL_OK && out ? trl_tree_scatter(&w->gather, out, err) : st;
}

static size_t size(const void *self, size_t example)
{
    const trl_tree_task *t = self;
    return t->example[example].seen.n;
}

trl_status trl_tree_task_init(trl_tree_task *t, const trl_objective *objective,
                              trl_tree_features *f, const trl_task_examples *x, size_t n_workers,
                              trl_error *err)
{
    *t = (trl_tree_task){.objective = objective,
                         .loss = loss_of(objective),
                         .f = f,
                         .example = x->example,
                         .n_examples = x->n_examples,
                         .n_workers = n_workers};
    t->worker = trl_zalloc(n_workers, sizeof *t->worker);
    t->binary_exp = trl_alloc64(f->g->n_binary, sizeof *t->binary_exp);
    t->unary = trl_alloc64(f->g->n_unary, sizeof *t->unary);
    if (!t->worker || !t->binary_exp || !t->unary) {
        trl_tree_task_fini(t);
        return trl_fail_mem(err);
    }
    t->sparse = (trl_sparse_task){t, x->n_examples, trl_tree_weights(f), prepare, evaluate, size};
    return TRL_OK;
}

trl_status trl_tree_task_local(trl_tree_task *t, const trl_expansions *x,
                               const trl_rule_index *lists, trl_error *err)
{
    t->chooser = trl_zalloc(1, sizeof *t->chooser);
    return t->chooser ? trl_chooser_shared_init(t->chooser, t->f, x, lists, err)
                      : trl_fail_mem(err);
}

void trl_tree_task_fini(trl_tree_task *t)
{
    for (size_t k = 0; t->worker && k < t->n_workers; k++) {
        trl_arena_fini(&t->worker[k].arena);
        trl_tree_gather_fini(&t->worker[k].gather);
        trl_chooser_fini(&t->worker[k].chooser);
    }
    if (t->chooser)
        trl_chooser_shared_fini(t->chooser);
    trl_free(t->chooser);
    trl_free(t->worker);
    trl_free(t->binary_exp);
    trl_free(t->unary);
    *t = (trl_tree_task){0};
}
