/* objectives.c -- the table of training objectives. */
/* SPDX-License-Identifier: MIT */
#include "train/objectives.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

#define CHAIN TRL_KIND_CHAIN
#define TREE TRL_KIND_TREE
#define GRAPH TRL_KIND_GRAPH

static const trl_objective objectives[] = {
    {.id = TRL_OBJ_LIKELIHOOD,
     .name = "likelihood",
     .short_name = "crf",
     .what = "conditional likelihood of whole outputs: the CRF, on trees the CRF-CFG",
     .when = "the default: the best scores and right probabilities",
     .kinds = CHAIN | TREE | GRAPH,
     .takes_costs = true,
     .smooth = true,
     .probabilistic = true,
     .single = true,
     .needs_inference = true},
    {.id = TRL_OBJ_MEMM,
     .name = "memm",
     .short_name = "memm",
     .tree_name = "mecfg",
     .what = "every label given the label before it, every rule given its parent",
     .when = "many labels and little time; features that look ahead make up for label bias",
     .kinds = CHAIN | TREE,
     .by_token = true,
     .smooth = true,
     .probabilistic = true,
     .local = true,
     .calibratable = true,
     .selects_sources = true,
     .single = true},
    {.id = TRL_OBJ_PSEUDO,
     .name = "pseudolikelihood",
     .short_name = "pl",
     .what = "every label given its true neighbours",
     .when = "for comparison: fast, but it trusts neighbours that are guesses when tagging",
     .kinds = CHAIN | GRAPH,
     .by_token = true,
     .smooth = true,
     .probabilistic = true,
     .single = true},
    {.id = TRL_OBJ_PSEUDO_EDGE,
     .name = "pseudolikelihood-edge",
     .short_name = "ple",
     .what = "every pair of labels given the true labels on either side",
     .when = "better than pseudolikelihood, at the price of a pair of labels a term",
     .kinds = CHAIN | GRAPH,
     .smooth = true,
     .probabilistic = true},
    {.id = TRL_OBJ_PIECEWISE,
     .name = "piecewise",
     .short_name = "pw",
     .what = "every factor as a model of its own, normalised over all its labels",
     .when = "features of label pairs that see the text of both labels",
     .kinds = CHAIN | GRAPH,
     .apart = true,
     .by_token = true,
     .smooth = true,
     .probabilistic = true,
     .calibratable = true,
     .calibrated = true},
    {.id = TRL_OBJ_PWPL,
     .name = "piecewise-pseudolikelihood",
     .short_name = "pwpl",
     .what = "inside every factor, every label given the others",
     .when = "factors of many labels or variables, where piecewise costs too much",
     .kinds = CHAIN | GRAPH,
     .apart = true,
     .by_token = true,
     .smooth = true,
     .probabilistic = true,
     .calibratable = true,
     .calibrated = true},
    {.id = TRL_OBJ_NOTA,
     .name = "piecewise-nota",
     .short_name = "nota",
     .tree_name = "pt-cfg",
     .what = "memm with a none-of-the-above outcome after wrong labels, or of wrong edges",
     .when = "faster than the likelihood, less label bias than memm",
     .kinds = CHAIN | TREE,
     .smooth = true,
     .probabilistic = true,
     .local = true,
     .calibratable = true,
     .has_nota = true,
     .selects_sources = true,
     .single = true},
    {.id = TRL_OBJ_PERCEPTRON,
     .name = "perceptron",
     .short_name = "ap",
     .what = "the averaged structured perceptron: the best output must be the true one",
     .when = "fast and often as good; it has no probabilities",
     .kinds = CHAIN | TREE | GRAPH,
     .takes_costs = true,
     .needs_inference = true},
    {.id = TRL_OBJ_MEST,
     .name = "m-estimation",
     .short_name = "mest",
     .what = "a generative model corrected by weights, without inference in training",
     .when = "many trainings with other penalties on the same data: expectations are kept",
     .kinds = CHAIN | TREE,
     .smooth = true,
     .probabilistic = true,
     .needs_q0 = true},
    {.id = TRL_OBJ_HMM,
     .name = "hmm",
     .short_name = "hmm",
     .what = "a hidden Markov model, counted in one pass",
     .when = "a baseline in a second",
     .kinds = CHAIN,
     .smooth = true,
     .probabilistic = true,
     .counted = true,
     .needs_q0 = true},
    {.id = TRL_OBJ_BETHE,
     .name = "bethe",
     .short_name = "bp",
     .what = "the likelihood with Bethe's estimate of log Z, by loopy belief propagation",
     .when = "graphs too wide for the likelihood, from weights that are good already",
     .kinds = GRAPH,
     .smooth = true,
     .probabilistic = true,
     .estimate = true,
     .needs_inference = true},
    {.id = TRL_OBJ_TRW,
     .name = "trw",
     .short_name = "trw",
     .what = "a lower bound of the likelihood, by tree-reweighted belief propagation",
     .when = "as bethe; it is concave: there is one optimum",
     .kinds = GRAPH,
     .smooth = true,
     .probabilistic = true,
     .needs_inference = true},
};

const trl_objective *trl_objective_at(size_t k)
{
    return k < sizeof objectives / sizeof *objectives ? &objectives[k] : NULL;
}

const trl_objective *trl_objective_find(const char *name)
{
    for (size_t k = 0; trl_objective_at(k); k++) {
        const trl_objective *o = &objectives[k];
        if (strcmp(name, o->name) == 0 || strcmp(name, o->short_name) == 0 ||
            (o->tree_name && strcmp(name, o->tree_name) == 0))
            return o;
    }
    return NULL;
}

const char *trl_objective_name(const trl_objective *o, trl_kind kind)
{
    return kind == TRL_KIND_TREE && o->tree_name ? o->tree_name : o->name;
}

trl_status trl_objective_choose(const char *name, trl_kind kind, const trl_objective **out,
                                trl_error *err)
{
    const trl_objective *o = trl_objective_find(name);
    if (o && o->kinds & kind) {
        *out = o;
        return TRL_OK;
    }
    char list[240] = "";
    size_t n = 0;
    for (size_t k = 0; trl_objective_at(k) && n < sizeof list; k++)
        if (objectives[k].kinds & kind)
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "",
                                  trl_objective_name(&objectives[k], kind));
    return trl_fail(err, TRL_EINVAL, "objective '%s' of %s is not known: use %s", name,
                    trl_kind_plural(kind), list);
}

/* ---- for people ------------------------------------------------------------------------------ */

bool trl_objective_info(size_t k, trl_method *out)
{
    const trl_objective *o = trl_objective_at(k);
    if (!o || !out)
        return false;
    *out = (trl_method){o->name, o->tree_name ? o->tree_name : o->short_name, o->what, o->when,
                        o->kinds};
    return true;
}

const char *trl_kind_name(trl_kind kind)
{
    return kind == TRL_KIND_CHAIN ? "chain" : kind == TRL_KIND_TREE ? "tree" : "graph";
}

const char *trl_kind_plural(trl_kind kind)
{
    return kind == TRL_KIND_CHAIN ? "chains" : kind == TRL_KIND_TREE ? "trees" : "graphs";
}
