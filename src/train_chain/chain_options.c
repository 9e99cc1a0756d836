/* chain_options.c -- the options of a run, before anything is read. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "train_chain/chain_training.h"
#include "train/memory_plan.h"
#include "train/places.h"

/* ---- options --------------------------------------------------------------------------------- */

/* Single precision leaves the objective a noise of some 1e-8 of it (docs/numerics.md): harmless
 * unless the run must continue to smaller changes or, as SAG does to find its steps, compares
 * single examples at points close to each other.  A choice for the whole run. */
bool trl_chain_training_single(const trl_chain_training *j)
{
    const trl_train_options *o = j->o;
    if (!j->objective->single || (j->optimizer && j->optimizer->compares_close))
        return false;
    return o->precision ? strcmp(o->precision, "single") == 0 : o->period > 0 && o->delta >= 1e-6;
}

/* ---- hmm and m-estimation -------------------------------------------------------------------- */

const char *trl_chain_training_optimizer(const trl_chain_training *j)
{
    return j->optimizer ? j->optimizer->name : "counting";
}

static trl_status check_counted(const trl_train_options *o, trl_error *err)
{
    const char *what = o->optimizer                 ? "optimizer"
                       : trl_train_starts(o)        ? "init"
                       : o->checkpoint || o->resume ? "checkpoint"
                                                    : NULL;
    return what ? trl_fail(err, TRL_EINVAL,
                           "%s does not go with the objective hmm, which is counted in one pass",
                           what)
                : TRL_OK;
}

static trl_status check_q0(trl_chain_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    const bool mest = trl_chain_training_has_mest(j);
    const char *what = o->q0           ? "q0"
                       : o->q0_cache   ? "q0-cache"
                       : o->q0_samples ? "q0-samples"
                       : o->q0_mask    ? "q0-mask"
                                       : NULL;
    if (what && !mest)
        return trl_fail(err, TRL_EINVAL, "%s goes with the objective m-estimation, not %s", what,
                        j->objective->name);
    j->has_q0 = j->objective->needs_q0;
    if (o->q0 && !trl_q0_find(o->q0, &j->q0_base))
        return trl_fail(err, TRL_EINVAL, "q0 '%s' is not known: use one of " TRL_Q0_KINDS, o->q0);
    return TRL_OK;
}

/* Sets the model's decoding and checks whether it can be calibrated. */
static trl_status check_decode(trl_chain_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    if (o->decode && strcmp(o->decode, "local") != 0 && strcmp(o->decode, "global") != 0)
        return trl_fail(err, TRL_EINVAL, "decode '%s' is not known: use local or global",
                        o->decode);
    if (o->calibrate && !j->objective->calibratable)
        return trl_fail(err, TRL_EINVAL,
                        "calibrate goes with the objectives piecewise-nota, piecewise, "
                        "piecewise-pseudolikelihood and memm, not %s",
                        j->objective->name);
    j->calibrates = o->calibrate || (j->objective->calibrated && !o->decode);
    j->is_local =
        o->decode ? strcmp(o->decode, "local") == 0 : j->objective->local && !j->calibrates;
    return TRL_OK;
}

static trl_status check_objective(trl_chain_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    trl_status st = trl_objective_choose(o->objective, TRL_KIND_CHAIN, &j->objective, err);
    if (st != TRL_OK)
        return st;
    if (o->nota && !j->objective->has_nota)
        return trl_fail(err, TRL_EINVAL, "nota goes with the objective piecewise-nota, not %s",
                        j->objective->name);
    st = trl_nota_parse(o->nota ? o->nota : TRL_NOTA_USUAL, &j->nota_options, err);
    if (st == TRL_OK)
        st = check_q0(j, err);
    return st == TRL_OK ? check_decode(j, err) : st;
}

static trl_status check_optimizer(trl_chain_training *j, trl_error *err)
{
    const trl_status st = j->objective->counted ? check_counted(j->o, err) : TRL_OK;
    return st == TRL_OK
               ? trl_optimizer_choose(j->o, j->objective, TRL_KIND_CHAIN, &j->optimizer, err)
               : st;
}

/* ---- where data come from and the model goes ------------------------------------------------- */

static trl_format asked_format(const trl_train_options *o)
{
    return o->data ? trl_dataset_get_info(o->data).format : o->format;
}

/* ---- all ------------------------------------------------------------------------------------- */

trl_status trl_chain_training_check(trl_chain_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    if (strcmp(o->kind, "chain") != 0)
        return trl_fail(err, TRL_EINVAL, "kind '%s' is not known: use chain", o->kind);
    trl_status st = check_objective(j, err);
    if (st != TRL_OK)
        return st;
    st = trl_check_places(o, err);
    if (st != TRL_OK)
        return st;
    if (o->data && o->format != TRL_FORMAT_GUESS && o->format != asked_format(o))
        return trl_fail(err, TRL_EINVAL, "the format is not that of the data");
    if (o->order < 0 || o->order > 2)
        return trl_fail(err, TRL_EINVAL, "the order is 1 or 2, not %d", o->order);
    if (!(o->min_freq >= 0.0 && isfinite(o->min_freq)))
        return trl_fail(err, TRL_EINVAL, "min-freq must be finite and not negative: %g",
                        o->min_freq);
    if (o->precision && strcmp(o->precision, "single") != 0 && strcmp(o->precision, "double") != 0)
        return trl_fail(err, TRL_EINVAL, "precision '%s' is not known: use single or double",
                        o->precision);
    uint64_t bytes;
    if (o->memory_limit && !trl_size_read(o->memory_limit, &bytes))
        return trl_fail(err, TRL_EINVAL,
                        "memory-limit '%s' is not a size: use 500M, 4G or the like",
                        o->memory_limit);
    if (o->format == TRL_FORMAT_GRMM)
        return trl_fail(err, TRL_EINVAL, "GRMM's data are for graphs, not for chains");
    if (o->template_text &&
        (asked_format(o) == TRL_FORMAT_CRFSUITE || asked_format(o) == TRL_FORMAT_MALLET))
        return trl_fail(err, TRL_EINVAL, "a template goes with columns, not with CRFsuite items");
    st = check_optimizer(j, err);
    if (st == TRL_OK)
        st = trl_chain_training_check_notes(j, err);
    if (st == TRL_OK)
        st = trl_check_writable(o->model, err);
    if (st == TRL_OK)
        st = trl_check_writable(o->q0_cache, err);
    return st == TRL_OK ? trl_check_writable(o->checkpoint, err) : st;
}
