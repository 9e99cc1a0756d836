/* train.c -- trl_train: checks the options and runs the training of the model's kind. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "train/objectives.h"
#include "train_chain/train_chain.h"
#include "train_tree/train_tree.h"

trl_train_options trl_train_options_default(void)
{
    return (trl_train_options){.kind = "chain",
                               .objective = "likelihood",
                               .c2 = TRL_USUAL,
                               .epsilon = 1e-5,
                               .period = 10,
                               .delta = 1e-5,
                               .memory = 6,
                               .seed = 1,
                               .checkpoint_every = 10,
                               .grade = "features",
                               .annotate = "parents,tags,heads",
                               .clusters = "auto",
                               .prune = 1e-4,
                               .chart_memory = 4096};
}

typedef struct choice {
    const char *name;
    bool made;
} choice;

static bool differ(const char *a, const char *b)
{
    return (a == NULL) != (b == NULL) || (a && strcmp(a, b) != 0);
}

/* An option without effect is refused: its user expects one. */
static trl_status check_kind(const trl_train_options *o, bool tree, trl_error *err)
{
    const trl_train_options d = trl_train_options_default();
    const choice chains[] = {{"format", o->format != d.format},
                             {"order", o->order != 0},
                             {"transitions all", o->all_transitions},
                             {"min-count", o->min_count > 1},
                             {"min-freq", o->min_freq > 0.0},
                             {"calibrate", o->calibrate},
                             {"precision", o->precision},
                             {"q0-cache", o->q0_cache},
                             {"q0-mask", o->q0_mask},
                             {"hold-out", o->hold_out},
                             {"data", o->data},
                             {"dev_data", o->dev_data},
                             {"model_out", o->model_out},
                             {NULL, false}};
    const choice trees[] = {{"grade", differ(o->grade, d.grade)},
                            {"annotate", differ(o->annotate, d.annotate)},
                            {"markov", o->markov != d.markov},
                            {"relaxed", o->relaxed},
                            {"strict", o->strict},
                            {"keep-going", o->keep_going},
                            {"max-length", o->max_length},
                            {"clusters", differ(o->clusters, d.clusters)},
                            {"head-rules", o->head_rules},
                            {"prune", o->prune != d.prune},
                            {"pruner", o->pruner},
                            {"chart-memory", o->chart_memory != d.chart_memory},
                            {NULL, false}};
    for (const choice *c = tree ? chains : trees; c->name; c++)
        if (c->made)
            return trl_fail(err, TRL_EINVAL, "%s goes with models of %s, not of %s", c->name,
                            tree ? "chains" : "trees", tree ? "trees" : "chains");
    return TRL_OK;
}

double trl_train_c2(const trl_train_options *o)
{
    if (!o)
        return 1.0;
    if (o->c2 != TRL_USUAL)
        return o->c2;
    const trl_objective *x = trl_objective_find(o->objective);
    const bool tree = strcmp(o->kind, "tree") == 0;
    if (x && x->needs_q0 && !x->counted && !tree)
        return 0.25; /* m-estimation is a mean over sequences: docs/objectives.md */
    return x && x->id == TRL_OBJ_LIKELIHOOD && tree && strcmp(o->grade, "features") == 0 ? 2.0
                                                                                         : 1.0;
}

/* A run that was cut off before its first checkpoint starts over, to the same bits; this is
 * reported.  True: the callback asked to stop. */
static bool nothing_to_resume(trl_train_options *o)
{
    if (!o->resume || !o->checkpoint || access(o->checkpoint, F_OK) == 0 || errno != ENOENT)
        return false;
    char note[700];
    snprintf(note, sizeof note, "%.600s: there is no checkpoint yet: the run starts afresh",
             o->checkpoint);
    o->resume = false;
    const trl_progress p = {.stage = "resume",
                            .objective = NAN,
                            .gradient = NAN,
                            .dev_score = NAN,
                            .dev_best = NAN,
                            .seconds_left = NAN,
                            .note = note};
    return o->progress && o->progress(o->progress_ctx, &p);
}

trl_status trl_train(const trl_train_options *o, trl_train_result *result, trl_error *err)
{
    if (!o || !o->kind || !o->objective || !o->grade || !o->annotate || !o->clusters)
        return trl_fail_null(err);
    for (size_t k = 0; k < o->n_train; k++)
        if (!o->train || !o->train[k])
            return trl_fail(err, TRL_EINVAL, "the path of training file %zu is NULL", k + 1);
    trl_train_result local;
    trl_train_options own = *o;
    own.c2 = trl_train_c2(o);
    o = &own;
    result = result ? result : &local;
    *result = (trl_train_result){.objective = NAN, .dev_score = NAN};
    const bool tree = strcmp(o->kind, "tree") == 0;
    if (tree || strcmp(o->kind, "chain") == 0) {
        const trl_status st = check_kind(o, tree, err);
        if (st != TRL_OK)
            return st;
        if (nothing_to_resume(&own))
            return trl_fail(err, TRL_ECANCEL, "stopped before it began: no model was written");
        return tree ? trl_train_tree(o, result, err) : trl_train_chain(o, result, err);
    }
    return trl_fail(err, TRL_EINVAL, "kind '%s' is not known: use chain or tree", o->kind);
}
