/* tree_grammars.c -- parsers of several grammars: the same trees, tagger, clusters and features,
 * but states with other annotation, which err differently; what they expect of constituents is
 * averaged in parsing (chart_parser.c).
 *
 * Nothing of the others is in checkpoints: a run that is resumed learns them again, to the same
 * bits.
 */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/fail.h"
#include "train_tree/tree_training.h"

/* In the order in which they are worth most beside the default grammar (docs/parser.md). */
static const struct {
    const char *annotate;
    int markov;
} others[TRL_MORE_GRAMMARS] = {{"parents", 0}, {"parents,heads", 1}};

trl_status trl_tree_training_check_grammars(const trl_tree_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    if (o->grammars < 2)
        return TRL_OK;
    if (!j->objective->probabilistic || j->objective->local ||
        j->model_options.grade == TRL_GRADE_GENERATIVE)
        return trl_fail(err, TRL_EINVAL,
                        "grammars are averaged when they are learnt by the likelihood of trees");
    return trl_tree_training_reads_again(j, "another grammar", err);
}

static trl_status learn(trl_tree_training *j, size_t k, trl_error *err)
{
    char note[120];
    trl_train_result result = {0};
    snprintf(note, sizeof note, "grammar %zu of %zu: annotation %s, markov order %d", k + 2,
             (size_t)j->o->grammars, others[k].annotate, others[k].markov);
    if (trl_tree_training_report(j, "grammars", note))
        return trl_fail(err, TRL_ECANCEL, "stopped");
    trl_train_options o = trl_tree_training_part_options(j, &j->more[k]);
    o.annotate = others[k].annotate;
    o.markov = others[k].markov;
    o.latent = 0;
    const bool same_trees = !o.self_train && j->model.tagger.model;
    return trl_train_tree_part(
        &o,
        &(trl_tree_part_run){.clusters = o.self_train ? NULL : &j->model.clusters,
                             .taggers = same_trees ? &j->taggers : NULL},
        &result, err);
}

/* A run that is stopped here keeps its first grammar. */
trl_status trl_tree_training_grammars(trl_tree_training *j, trl_train_result *result,
                                      trl_error *err)
{
    trl_status st = TRL_OK;
    if (j->part)
        return TRL_OK;
    for (size_t k = 0; st == TRL_OK && k + 1 < j->o->grammars; k++)
        st = learn(j, k, err);
    for (size_t k = 0; st != TRL_OK && k < TRL_MORE_GRAMMARS; k++)
        trl_buf_fini(&j->more[k]);
    if (st == TRL_ECANCEL && result->iterations) {
        result->stopped = true;
        st = TRL_OK;
    }
    return st;
}
