/* optimizer_choice.c -- which optimiser a run has, and whether its options make sense. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/format.h"
#include "train/optimizers.h"
#include "train/sgd.h"
#include "train/places.h"

/* ---- by properties --------------------------------------------------------------------------- */

/* Can the optimiser do anything with the objective?  Objectives with a generative model below them
 * are not sums over examples; those that keep something of every example need concave terms. */
static bool fits(const trl_optimizer *p, const trl_objective *o, trl_kind kind)
{
    const bool whole = p->way == TRL_BY_WHOLE || p->way == TRL_BY_DUAL;
    return p->kinds & kind && (o->needs_q0 ? whole : p->way != TRL_BY_DUAL) &&
           (o->smooth ? !p->mistakes : !p->smooth) &&
           !(o->estimate && p->smooth && p->way == TRL_BY_TABLES);
}

/* The first row that fits among those that evaluate the objective in the given way. */
static const trl_optimizer *first_of(const trl_objective *o, trl_kind kind, trl_way way,
                                     const trl_train_options *options)
{
    for (size_t k = 0; trl_optimizer_at(k); k++) {
        const trl_optimizer *p = trl_optimizer_at(k);
        if (p->way == way && fits(p, o, kind) &&
            (way != TRL_BY_TABLES || p->mistakes == !o->smooth) &&
            p->needs_l1 == (options->c1 > 0.0 && kind == TRL_KIND_TREE) &&
            (!p->needs_c2 || (options->c2 > 0.0 && options->c1 <= 0.0)))
            return p;
    }
    return NULL;
}

/* The default: the learner's own dual; single examples where the structure has no tables; else the
 * whole corpus, or, for objectives that learn from mistakes, the perceptron over tables. */
static const trl_optimizer *usual(const trl_objective *o, trl_kind kind,
                                  const trl_train_options *options)
{
    const trl_optimizer *p = first_of(o, kind, TRL_BY_DUAL, options);
    if (!p && kind == TRL_KIND_TREE)
        p = first_of(o, kind, TRL_BY_EXAMPLES, options);
    if (!p)
        p = first_of(o, kind, TRL_BY_WHOLE, options);
    return p ? p : first_of(o, kind, TRL_BY_TABLES, options);
}

#define AUTO "auto"
#define FINE 1e-6 /* delta below which single precision is not enough */

/* What takes the least processor time (docs/performance.md), on any number of threads, so that the
 * result does not depend on them: of the exact likelihood of chains the row over tables that needs
 * the penalty there is; on graphs, of an objective of one factor at a time, the one that needs c2;
 * else the default. */
static const trl_optimizer *fastest(const trl_objective *o, trl_kind kind,
                                    const trl_train_options *options)
{
    const bool likelihood = kind == TRL_KIND_CHAIN && o->smooth && o->needs_inference &&
                            !options->partial && !options->cost;
    const bool l1 = options->c1 > 0.0, factors = kind == TRL_KIND_GRAPH && o->apart && !l1;
    if ((likelihood || factors) && !trl_train_starts(options) &&
        (l1 || (options->c2 > 0.0 && options->delta >= FINE)))
        for (size_t k = 0; trl_optimizer_at(k); k++) {
            const trl_optimizer *p = trl_optimizer_at(k);
            if (p->way == TRL_BY_TABLES && (l1 ? p->needs_l1 : p->needs_c2) && fits(p, o, kind))
                return p;
        }
    return usual(o, kind, options);
}

/* ---- checks ---------------------------------------------------------------------------------- */

#define SPARSE_BATCH_MAX 1000

static trl_status check_ranges(const trl_train_options *o, trl_kind kind, trl_error *err)
{
    const int batch = kind == TRL_KIND_TREE ? SPARSE_BATCH_MAX : TRL_SGD_BATCH_MAX;
    if (!(o->c1 >= 0.0 && isfinite(o->c1)) || !(o->c2 >= 0.0 && isfinite(o->c2)))
        return trl_fail(err, TRL_EINVAL, "c1 and c2 must be finite and not negative: %g, %g", o->c1,
                        o->c2);
    if (!(o->epsilon >= 0.0) || !(o->delta >= 0.0))
        return trl_fail(err, TRL_EINVAL, "epsilon and delta must not be negative: %g, %g",
                        o->epsilon, o->delta);
    if (o->period > 60)
        return trl_fail(err, TRL_EINVAL, "the period must be 0 to 60");
    if (o->memory < 1 || o->memory > 32)
        return trl_fail(err, TRL_EINVAL, "L-BFGS keeps 1 to 32 pairs, not %llu",
                        (unsigned long long)o->memory);
    if (o->batch > (uint64_t)batch)
        return trl_fail(err, TRL_EINVAL, "a batch has 1 to %d examples", batch);
    if (!(o->eta >= 0.0 && isfinite(o->eta)))
        return trl_fail(err, TRL_EINVAL, "the gain eta must be finite and not negative: %g",
                        o->eta);
    if (o->resume && !o->checkpoint)
        return trl_fail(err, TRL_EINVAL, "resuming needs a checkpoint file");
    if (o->patience && !trl_has_dev(o))
        return trl_fail(err, TRL_EINVAL, "patience needs a dev set");
    return TRL_OK;
}

typedef bool (*property)(const trl_optimizer *p, const trl_objective *o, trl_kind kind);

static bool has_gain(const trl_optimizer *p, const trl_objective *o, trl_kind kind)
{
    return p->has_gain && fits(p, o, kind);
}

static bool has_batch(const trl_optimizer *p, const trl_objective *o, trl_kind kind)
{
    return p->has_batch && fits(p, o, kind);
}

static bool of_kind(const trl_optimizer *p, const trl_objective *o, trl_kind kind)
{
    (void)o;
    return p->kinds & kind;
}

/* The names of the optimisers that have it: "lbfgs, owlqn, sag". */
static const char *names(property has, const trl_objective *o, trl_kind kind, char list[120])
{
    size_t n = 0;
    list[0] = '\0';
    for (size_t k = 0; trl_optimizer_at(k) && n < 120; k++)
        if (has(trl_optimizer_at(k), o, kind))
            n += (size_t)snprintf(list + n, 120 - n, "%s%s", n ? ", " : "",
                                  trl_optimizer_at(k)->name);
    return list;
}

/* Options that an optimiser does not use are refused rather than ignored. */
static trl_status check_unused(const trl_train_options *o, const trl_optimizer *p,
                               const trl_objective *objective, trl_kind kind, trl_error *err)
{
    char list[120];
    const bool gain = o->eta > 0.0 && !p->has_gain, batch = o->batch && !p->has_batch;
    if (!gain && !batch)
        return TRL_OK;
    names(gain ? has_gain : has_batch, objective, kind, list);
    if (!*list)
        return trl_fail(err, TRL_EINVAL, "%s does not go with the objective %s",
                        gain ? "eta" : "batch", trl_objective_name(objective, kind));
    return trl_fail(err, TRL_EINVAL, "%s goes with the optimizers %s, not %s",
                    gain ? "eta" : "batch", list, p->name);
}

static trl_status check_penalties(const trl_train_options *o, const trl_optimizer *p,
                                  trl_error *err)
{
    if (o->c1 > 0.0 && !p->takes_l1)
        return trl_fail(err, TRL_EINVAL,
                        "c1 (L1) needs the optimizer lbfgs (which is OWL-QN then), not %s",
                        p->name);
    if (p->needs_l1 && o->c1 <= 0.0)
        return trl_fail(err, TRL_EINVAL, "%s is for c1 > 0; without L1 use lbfgs", p->name);
    if (p->needs_c2 && !(o->c2 > 0.0))
        return trl_fail(err, TRL_EINVAL, "the optimizer %s needs c2 above 0", p->name);
    if (p->whole_labels && (o->partial || o->cost))
        return trl_fail(err, TRL_EINVAL,
                        "the optimizer %s does not go with %s: use the perceptron's own", p->name,
                        o->partial ? "partial labels" : "costs of labels");
    if (!p->starts && trl_train_starts(o))
        return trl_fail(err, TRL_EINVAL,
                        "the optimizer %s cannot start from a model (init): use lbfgs", p->name);
    return TRL_OK;
}

trl_status trl_optimizer_known(const char *name, trl_kind kind, trl_error *err)
{
    char list[120];
    return trl_optimizer_find(name) || strcmp(name, AUTO) == 0
               ? TRL_OK
               : trl_fail(err, TRL_EINVAL, "optimizer '%.60s' of %s is not known: use %s", name,
                          trl_kind_plural(kind), names(of_kind, NULL, kind, list));
}

static trl_status choose(const trl_train_options *o, const trl_objective *objective, trl_kind kind,
                         const trl_optimizer **out, trl_error *err)
{
    char list[120];
    const trl_optimizer *p = !o->optimizer                     ? usual(objective, kind, o)
                             : strcmp(o->optimizer, AUTO) == 0 ? fastest(objective, kind, o)
                                                               : trl_optimizer_find(o->optimizer);
    if (!p || !(p->kinds & kind))
        return trl_fail(err, TRL_EINVAL, "optimizer '%s' of %s is not known: use %s", o->optimizer,
                        trl_kind_plural(kind), names(of_kind, objective, kind, list));
    if (!fits(p, objective, kind))
        return trl_fail(err, TRL_EINVAL,
                        "the optimizer %s does not go with the objective %s: use %s", p->name,
                        trl_objective_name(objective, kind), names(fits, objective, kind, list));
    *out = p;
    return TRL_OK;
}

trl_status trl_optimizer_choose(const trl_train_options *o, const trl_objective *objective,
                                trl_kind kind, const trl_optimizer **out, trl_error *err)
{
    *out = NULL;
    trl_status st = objective->counted ? TRL_OK : choose(o, objective, kind, out, err);
    if (st == TRL_OK)
        st = check_ranges(o, kind, err);
    if (st == TRL_OK && *out)
        st = check_penalties(o, *out, err);
    return st == TRL_OK && *out ? check_unused(o, *out, objective, kind, err) : st;
}
