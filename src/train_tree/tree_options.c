/* tree_options.c -- the options of a run, before anything is read. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "train/places.h"
#include "train_tree/tree_training.h"

static const char *const grades[] = {"generative", "discriminative", "features"};

static trl_status check_grade(trl_tree_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    for (int k = 0; k < 3; k++)
        if (strcmp(o->grade, grades[k]) == 0) {
            j->model_options.grade = (trl_grade)k;
            return TRL_OK;
        }
    return trl_fail(err, TRL_EINVAL,
                    "grade '%s' is not known: use generative, discriminative or features",
                    o->grade);
}

/* parents,tags,heads: any of them, in any order; "none". */
static trl_status check_annotation(trl_tree_training *j, trl_error *err)
{
    trl_annotation *a = &j->model_options.annotation;
    const char *p = j->o->annotate;
    if (j->o->markov < 0 || j->o->markov > 2)
        return trl_fail(err, TRL_EINVAL, "the markov order is 0, 1 or 2, not %d", j->o->markov);
    a->markov = j->o->markov;
    while (*p) {
        const size_t n = strcspn(p, ",");
        if (n == 7 && memcmp(p, "parents", n) == 0)
            a->parents = true;
        else if (n == 4 && memcmp(p, "tags", n) == 0)
            a->tag_parents = true;
        else if (n == 5 && memcmp(p, "heads", n) == 0)
            a->head_tags = true;
        else if (n != 4 || memcmp(p, "none", n) != 0)
            return trl_fail(err, TRL_EINVAL,
                            "annotation '%.*s' is not known: use parents, tags, heads or none",
                            (int)n, p);
        p += n + (p[n] == ',');
    }
    return TRL_OK;
}

static trl_status check_template(trl_tree_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    trl_tree_model_options *m = &j->model_options;
    m->template_name = o->template_name ? o->template_name : "<template>";
    m->template_text = o->template_text;
    m->template_size = o->template_size;
    if (!m->template_text) {
        const bool local = j->objective->local;
        m->template_text = trl_tree_template_text(local ? "local" : o->grade);
        m->template_size = m->template_text ? strlen(m->template_text) : 0;
    } else if (m->grade == TRL_GRADE_GENERATIVE) {
        return trl_fail(err, TRL_EINVAL, "a generative grammar has no features: no template");
    } else {
        const trl_status st =
            trl_tree_template_expand(o->template_text, o->template_size, &j->families, err);
        m->template_text = j->families.data ? j->families.data : "";
        m->template_size = j->families.len;
        return st;
    }
    return TRL_OK;
}

static trl_status check_objective(trl_tree_training *j, trl_error *err)
{
    const trl_status st = trl_objective_choose(j->o->objective, TRL_KIND_TREE, &j->objective, err);
    return st == TRL_OK ? trl_tree_training_check_local(j, err) : st;
}

/* "sieve" is its former name, which models still have in their settings. */
static bool is_span_pruner(const char *name)
{
    return name && (strcmp(name, "spans") == 0 || strcmp(name, "sieve") == 0);
}

static trl_status check_training(trl_tree_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    const trl_status st = trl_optimizer_choose(o, j->objective, TRL_KIND_TREE, &j->optimizer, err);
    if (st != TRL_OK)
        return st;
    if (!(o->prune >= 0.0 && o->prune < 1.0))
        return trl_fail(err, TRL_EINVAL, "the pruning threshold is at least 0 and below 1, not %g",
                        o->prune);
    const bool spans = is_span_pruner(o->pruner);
    if (o->pruner && !spans && strcmp(o->pruner, "pcfg") != 0)
        return trl_fail(err, TRL_EINVAL, "pruner '%s' is not known: use spans or pcfg", o->pruner);
    j->span_pruner =
        o->pruner ? spans : strcmp(o->grade, "features") == 0 && j->objective->needs_inference;
    if (j->span_pruner && j->objective->needs_inference)
        j->given = (size_t)o->max_length;
    if (j->span_pruner) /* parsing gains from harder pruning than training (docs/parser.md) */
        j->model_options.threshold = o->prune < 0.1 ? 10.0 * o->prune : o->prune;
    j->tagger = j->span_pruner && !o->no_tagger && j->objective->id == TRL_OBJ_LIKELIHOOD &&
                j->model_options.grade == TRL_GRADE_FEATURES;
    j->latent = j->span_pruner && j->objective->id == TRL_OBJ_LIKELIHOOD &&
                j->model_options.grade == TRL_GRADE_FEATURES;
    if (o->relaxed && o->strict)
        return trl_fail(err, TRL_EINVAL, "rules are relaxed or strict, not both");
    j->model_options.licence = o->relaxed                     ? TRL_RULES_RELAXED
                               : j->span_pruner && !o->strict ? TRL_RULES_SMOOTHED
                                                              : TRL_RULES_SEEN;
    return TRL_OK;
}

trl_status trl_tree_training_check(trl_tree_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    j->model_options = (trl_tree_model_options){.rare = 4,
                                                .frequent = 5,
                                                .threshold = o->prune,
                                                .clusters = o->clusters,
                                                .raw_text = o->raw_text};
    if (o->raw_text && !o->self_train && strcmp(o->clusters, "auto") != 0)
        return trl_fail(
            err, TRL_EINVAL,
            "raw text is for making clusters or for 'self-train': with 'clusters' %s none are "
            "made",
            o->clusters);
    if (o->n_train == 0 && !o->data)
        return trl_fail(err, TRL_EINVAL, "no treebank is given");
    if (!o->model && !o->model_out)
        return trl_fail(err, TRL_EINVAL, "no model file is given");
    trl_status st = check_grade(j, err);
    if (st == TRL_OK && o->init && j->model_options.grade == TRL_GRADE_GENERATIVE)
        st = trl_fail(err, TRL_EINVAL,
                      "a generative grammar is counted: it starts from no other model");
    if (st == TRL_OK)
        st = check_annotation(j, err);
    if (st == TRL_OK)
        st = check_objective(j, err);
    if (st == TRL_OK)
        st = check_template(j, err);
    if (st == TRL_OK)
        st = check_training(j, err);
    if (st == TRL_OK)
        st = trl_tree_training_check_rerank(j, err);
    if (st == TRL_OK)
        st = trl_tree_training_check_self(j, err);
    if (st == TRL_OK)
        st = trl_tree_training_check_grammars(j, err);
    if (st == TRL_OK)
        st = trl_check_writable(o->model, err);
    return st == TRL_OK ? trl_check_writable(o->checkpoint, err) : st;
}
