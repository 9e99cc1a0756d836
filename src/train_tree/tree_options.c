/* tree_options.c -- the options of a run, before anything is read. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "train_tree/tree_training.h"

static const char *const grades[] = {"generative", "discriminative", "features"};
static const char *const optimizers[] = {"adagrad", "sgd", "lbfgs", "owlqn"};

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

static trl_status check_training(trl_tree_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    bool fits = !o->optimizer;
    for (size_t k = 0; o->optimizer && k < sizeof optimizers / sizeof *optimizers; k++)
        fits = fits || strcmp(o->optimizer, optimizers[k]) == 0;
    if (!fits)
        return trl_fail(err, TRL_EINVAL,
                        "optimizer '%s' is not known for trees: use adagrad, sgd, lbfgs or owlqn",
                        o->optimizer);
    const bool batch =
        o->optimizer && (strcmp(o->optimizer, "lbfgs") == 0 || strcmp(o->optimizer, "owlqn") == 0);
    j->optimizer = o->optimizer             ? o->optimizer
                   : o->c1 > 0.0            ? "owlqn"
                   : j->objective->needs_q0 ? "lbfgs"
                                            : "adagrad";
    if (!batch && o->optimizer && j->objective->needs_q0)
        return trl_fail(err, TRL_EINVAL,
                        "m-estimation goes with the optimizers lbfgs and owlqn, not %s",
                        o->optimizer);
    if (batch && !j->objective->smooth)
        return trl_fail(err, TRL_EINVAL,
                        "the perceptron has no gradient for %s: use adagrad or sgd", o->optimizer);
    if (o->c1 > 0.0 && o->optimizer && !batch)
        return trl_fail(err, TRL_EINVAL,
                        "c1 (L1) needs the optimizer lbfgs (which is OWL-QN then)");
    if (!(o->c1 >= 0.0) || !(o->c2 >= 0.0) || !isfinite(o->c1) || !isfinite(o->c2))
        return trl_fail(err, TRL_EINVAL, "c1 and c2 must be finite and not negative: %g, %g", o->c1,
                        o->c2);
    if (!(o->prune >= 0.0 && o->prune < 1.0))
        return trl_fail(err, TRL_EINVAL, "the pruning threshold is at least 0 and below 1, not %g",
                        o->prune);
    if (o->pruner && strcmp(o->pruner, "sieve") != 0 && strcmp(o->pruner, "pcfg") != 0)
        return trl_fail(err, TRL_EINVAL, "pruner '%s' is not known: use sieve or pcfg", o->pruner);
    j->span_pruner = o->pruner ? strcmp(o->pruner, "sieve") == 0
                               : strcmp(o->grade, "features") == 0 && j->objective->needs_inference;
    if (j->span_pruner) /* parsing gains from harder pruning than training (docs/parser.md) */
        j->model_options.threshold = o->prune < 0.1 ? 10.0 * o->prune : o->prune;
    if (o->relaxed && o->strict)
        return trl_fail(err, TRL_EINVAL, "rules are relaxed or strict, not both");
    j->model_options.relaxed = o->relaxed || (j->span_pruner && !o->strict);
    if ((o->eta > 0.0 || o->batch) && (batch || j->objective->needs_q0))
        return trl_fail(err, TRL_EINVAL, "%s goes with the optimizers adagrad and sgd, not %s",
                        o->eta > 0.0 ? "eta" : "batch", j->optimizer);
    if (o->batch > 1000 || o->period > 60 || o->memory < 1 || o->memory > 32)
        return trl_fail(err, TRL_EINVAL, "batch is 1 to 1000, period 0 to 60, memory 1 to 32");
    if (o->patience && !o->dev)
        return trl_fail(err, TRL_EINVAL, "patience needs a dev set");
    if (o->resume && !o->checkpoint)
        return trl_fail(err, TRL_EINVAL, "resuming needs a checkpoint file");
    return TRL_OK;
}

static trl_status probe(const char *path, trl_error *err)
{
    trl_writer *w = NULL;
    if (!path)
        return TRL_OK;
    const trl_status st = trl_writer_open(path, &w, err);
    trl_writer_abort(w);
    return st;
}

trl_status trl_tree_training_check(trl_tree_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    j->model_options = (trl_tree_model_options){
        .rare = 4, .frequent = 5, .threshold = o->prune, .clusters = o->clusters};
    if (o->n_train == 0)
        return trl_fail(err, TRL_EINVAL, "no treebank is given");
    if (!o->model)
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
        st = probe(o->model, err);
    return st == TRL_OK ? probe(o->checkpoint, err) : st;
}
