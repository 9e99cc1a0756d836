/* outcome.c -- checking weights before they become a model, and saying how a run ended. */
/* SPDX-License-Identifier: MIT */
#include "train/outcome.h"

#include <float.h>
#include <math.h>

#include "base/fail.h"
#include "base/format.h"
#include "base/mem.h"
#include "num/blas1.h"
#include "train/objectives.h"

#define CLOSE                                                                                      \
    1e-3 /* of the objective: a proven distance to the optimum below which a run has converged */
#define MUCH 1.5 /* times the objective without weights: not a model */

/* ---- measuring ------------------------------------------------------------------------------- */

trl_status trl_standing_at(const trl_session *s, const double *x, double enough, trl_standing *out,
                           trl_error *err)
{
    *out = (trl_standing){NAN, NAN, sqrt(trl_dot(s->pool, s->learner->n_weights, x, x)), NAN};
    return trl_learner_value(s->learner, &(trl_value_point){x, s->o->c2, enough}, s->pool,
                             &out->objective, &out->gradient, err);
}

/* ---- is it a model? -------------------------------------------------------------------------- */

trl_status trl_outcome_hint(const trl_session *s, trl_status st, trl_error *err)
{
    if (st != TRL_ENUMERIC || (err && err->hint[0]))
        return st;
    const bool lbfgs = s->optimizer->whole_corpus;
    if (s->o->eta > 0.0)
        return trl_fail_hint(err, st, "use a smaller 'eta', or leave it out");
    return trl_fail_hint(
        err, st, "very large values of attributes or weights of sequences may be the cause%s",
        lbfgs ? "" : "; 'optimizer' lbfgs copes best with them");
}

static trl_status check_finite(const trl_session *s, const double *x, trl_error *err)
{
    for (size_t k = 0; k < s->learner->n_weights; k++)
        if (!(fabs(x[k]) <= (double)FLT_MAX)) {
            const trl_status st = trl_fail(
                err, TRL_ENUMERIC, "training failed: a weight is %g; no model was written", x[k]);
            return trl_outcome_hint(s, st, err);
        }
    return TRL_OK;
}

/* F0: the objective without any weights; lost: they are all 0.  With a gain that the user chose,
 * F must be below F0.  With our own gains, whose steps may be too few for a few examples and a
 * strong penalty, F may be up to MUCH F0.  A run that was cut short gets a warning and keeps its
 * weights. */
static trl_status judge(const trl_session *s, double F, double F0, bool lost, bool cut,
                        trl_error *err)
{
    const double most = s->o->eta > 0.0 ? F0 : MUCH * F0;
    if (F < most || F0 <= 0.0 || (F == F0 && !lost))
        return TRL_OK;
    if (cut && s->o->eta <= 0.0) {
        char note[160];
        trl_snprintf(
            note, sizeof note,
            "the run was cut short: the objective is %g, without any weights it would be %g", F,
            F0);
        trl_report_note(s, note);
        return TRL_OK;
    }
    const trl_status st = trl_fail(err, TRL_ENUMERIC,
                                   "training failed: the objective is %g, without any weights it "
                                   "would be %g; no model was written",
                                   F, F0);
    return trl_outcome_hint(s, st, err);
}

trl_status trl_outcome_check(const trl_session *s, const trl_progress_state *ps, const double *x,
                             double F, trl_error *err)
{
    trl_status st = check_finite(s, x, err);
    if (st != TRL_OK || isnan(F) || ps->descends || F <= ps->start)
        return st;
    const bool cut = ps->asked_to_stop || (s->o->max_iter && ps->iterations >= s->o->max_iter);
    const size_t n = s->learner->n_weights + 64;
    double *zero = trl_alloc64(n, sizeof *zero);
    if (!zero)
        return trl_fail_mem(err);
    for (size_t k = 0; k < n; k++)
        zero[k] = 0.0;
    bool lost = true;
    for (size_t k = 0; lost && k < s->learner->n_weights; k++)
        lost = x[k] == 0.0;
    trl_standing at;
    st = trl_standing_at(s, zero, F, &at, err);
    trl_free(zero);
    return st == TRL_OK ? judge(s, F, at.objective, lost, cut, err) : st;
}

bool trl_outcome_is_close(double F, double norm, double c2)
{
    return c2 > 0.0 && norm * norm / (4.0 * c2) <= CLOSE * fabs(F);
}

/* ---- the ending ------------------------------------------------------------------------------ */

/* Is the objective one of those that need not be convex, so that no gradient proves a distance? */
static bool is_estimate(const trl_session *s)
{
    const trl_objective *o = s->o->objective ? trl_objective_find(s->o->objective) : NULL;
    return o && o->estimate;
}

void trl_outcome_describe(const trl_session *s, trl_ending ending, const trl_standing *at,
                          double fall, char *out, size_t cap)
{
    const double c2 = s->o->c2, g = at->gradient, F = fabs(at->objective);
    const double by_norm = c2 > 0.0 ? g * g / (4.0 * c2 * F) : (double)NAN;
    const double most = fmin(by_norm, at->gap / F); /* above the optimum */
    const bool verified =
        isnan(g) ? ending == TRL_END_CONVERGED : g < s->o->epsilon * fmax(1.0, at->norm_x);
    switch (ending) {
    case TRL_END_MAX_ITER:
        trl_snprintf(out, cap, "the maximum number of iterations was reached");
        return;
    case TRL_END_STOPPED:
        trl_snprintf(out, cap, "stopped");
        return;
    case TRL_END_NO_STEP:
        trl_snprintf(out, cap, "stopped: what is left to gain is smaller than rounding errors");
        return;
    case TRL_END_NO_MINIMUM:
        trl_snprintf(out, cap, "the objective has no minimum without a penalty (c2)");
        return;
    default:
        break;
    }
    if (verified)
        trl_snprintf(out, cap, "converged");
    else if (most <= CLOSE)
        trl_snprintf(out, cap, "converged, at most %.2g %% above the optimum%s", 100.0 * most,
                     is_estimate(s) ? ", were it convex" : "");
    else {
        char rate[60] = "", norm[40] = "";
        if (!isnan(fall))
            trl_snprintf(rate, sizeof rate, ": the objective fell by %.2g %% an iteration",
                         100.0 * fall);
        if (!isnan(g))
            trl_snprintf(norm, sizeof norm, ", gradient norm %.3g", g);
        /* by the gradient of scaled values (scaling.h), which the weights' own does not confirm */
        const bool small = ending == TRL_END_CONVERGED && !isnan(fall) && fall > s->o->delta;
        trl_snprintf(out, cap, "%s%s%s",
                     small          ? "stopped, with a small gradient of the scaled values"
                     : rate[0] != 0 ? "stopped"
                                    : "stopped improving",
                     rate, norm);
    }
}
