/* train.c -- trl_train: checks the options and runs the training of the model's kind. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/train_options.h"
#include "base/fail.h"
#include "model/model.h"
#include "train/objectives.h"
#include "train_chain/train_chain.h"
#include "train_graph/graph_run.h"
#include "train_search/train_search.h"
#include "train_tree/train_tree.h"

static bool has_trees(const trl_dataset *d)
{
    return d && trl_dataset_get_info(d).n_trees > 0;
}

/* What is in memory has no name.  Of chains, chain_options.c checks the rest. */
static trl_status check_memory(const trl_train_options *o, bool tree, trl_error *err)
{
    if (!tree)
        return has_trees(o->data) || has_trees(o->dev_data)
                   ? trl_fail(err, TRL_EINVAL, "the data are trees: they go with models of trees")
                   : TRL_OK;
    const char *both = o->n_train && o->data      ? "train and data"
                       : o->dev && o->dev_data    ? "dev and dev_data"
                       : o->model && o->model_out ? "model and model_out"
                                                  : NULL;
    if (both)
        return trl_fail(err, TRL_EINVAL, "%s are both given: use a file or memory", both);
    if ((o->data && !has_trees(o->data)) || (o->dev_data && !has_trees(o->dev_data)))
        return trl_fail(err, TRL_EINVAL, "there are no trees in %s, which models of trees need",
                        has_trees(o->data) || !o->data ? "dev_data" : "data");
    if (o->init_model)
        return trl_fail(err, TRL_EINVAL, "init_model is for chains and graphs");
    return o->rescue && !o->model
               ? trl_fail(err, TRL_EINVAL, "rescue goes with a model file, not with model_out")
               : TRL_OK;
}

double trl_train_c2(const trl_train_options *o)
{
    if (!o || !o->kind || !o->grade)
        return 1.0;
    if (o->c2 != TRL_USUAL)
        return o->c2;
    const trl_objective *x = trl_objective_find(o->objective);
    const bool tree = strcmp(o->kind, "tree") == 0;
    if (x && x->needs_q0 && !x->counted && !tree)
        return 0.25; /* m-estimation is a mean over sequences: docs/objectives.md */
    if (!x || x->id != TRL_OBJ_LIKELIHOOD || !tree)
        return 1.0;
    return strcmp(o->grade, "features") == 0         ? 2.0 /* docs/parser.md */
           : strcmp(o->grade, "discriminative") == 0 ? 0.1
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

typedef struct kind_of_model {
    const char *name;
    trl_kind kind;
    trl_status (*train)(const trl_train_options *o, trl_train_result *result, trl_error *err);
} kind_of_model;

/* By charts, or by search. */
static trl_status train_parser(const trl_train_options *o, trl_train_result *result, trl_error *err)
{
    if (strcmp(o->grade, "boosted") == 0 && o->rerank)
        return trl_fail(err, TRL_EINVAL, "boosted parsers have no second stage");
    if (strcmp(o->grade, "boosted") == 0 && o->grammars > 1)
        return trl_fail(err, TRL_EINVAL, "boosted parsers have no grammar to have several of");
    if (strcmp(o->grade, "boosted") == 0 && o->functions)
        return trl_fail(err, TRL_EINVAL, "boosted parsers learn no function labels");
    if (strcmp(o->grade, "boosted") == 0)
        return trl_train_search(o, result, err);
    if (o->sample || o->stumps || o->uniform_values || o->jackknife)
        return trl_fail(err, TRL_EINVAL, "%s goes with the grade boosted",
                        o->sample           ? "sample"
                        : o->stumps         ? "stumps"
                        : o->uniform_values ? "uniform-values"
                                            : "jackknife");
    return trl_train_tree(o, result, err);
}

static const kind_of_model kinds[] = {{"chain", TRL_KIND_CHAIN, trl_train_chain},
                                      {"tree", TRL_KIND_TREE, train_parser},
                                      {"graph", TRL_KIND_GRAPH, trl_train_graph},
                                      {0}};

trl_status trl_train(const trl_train_options *o, trl_train_result *result, trl_error *err)
{
    trl_train_options own;
    if (!o)
        return trl_fail_null(err);
    trl_status st = trl_train_options_take(o, &own, err);
    if (st != TRL_OK)
        return st;
    o = &own;
    if (!o->kind || !o->objective || !o->grade || !o->annotate || !o->clusters)
        return trl_fail_null(err);
    for (size_t k = 0; k < o->n_train; k++)
        if (!o->train || !o->train[k])
            return trl_fail(err, TRL_EINVAL, "the path of training file %zu is NULL", k + 1);
    trl_train_result local;
    own.c2 = trl_train_c2(o);
    result = result ? result : &local;
    *result = (trl_train_result){.objective = NAN, .dev_score = NAN};
    const kind_of_model *k = kinds;
    while (k->name && strcmp(k->name, o->kind) != 0)
        k++;
    if (!k->name)
        return trl_fail(err, TRL_EINVAL, "kind '%s' is not known: use chain, tree or graph",
                        o->kind);
    st = trl_train_options_check_kind(o, k->kind, err);
    if (st == TRL_OK)
        st = check_memory(o, k->kind == TRL_KIND_TREE, err);
    if (st != TRL_OK)
        return st;
    if (nothing_to_resume(&own))
        return trl_fail(err, TRL_ECANCEL, "stopped before it began: no model was written");
    return k->train(o, result, err);
}

trl_status trl_train_model(const trl_train_options *o, trl_train_result *result, trl_model **model,
                           trl_error *err)
{
    trl_train_options own;
    trl_buf bytes = {0};
    trl_model *m = NULL;
    if (!o || !model)
        return trl_fail_null(err);
    trl_status st = trl_train_options_take(o, &own, err);
    if (st == TRL_OK && (own.model || own.model_out))
        st = trl_fail(err, TRL_EINVAL, "the model is wanted in memory: no 'model', no model_out");
    own.model_out = &bytes;
    if (st == TRL_OK)
        st = trl_train(&own, result, err);
    if (st == TRL_OK)
        st = trl_model_from_memory(bytes.data, bytes.len, &m, err);
    if (st == TRL_OK) {
        trl_model_own(m, &bytes);
        *model = m;
    }
    trl_buf_fini(&bytes);
    return st;
}
