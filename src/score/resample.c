/* resample.c -- drawing units with replacement. */
/* SPDX-License-Identifier: MIT */
#include "score/resample.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"

trl_bootstrap_options trl_bootstrap_options_default(void)
{
    return (trl_bootstrap_options){.resamples = 10000, .seed = 1, .confidence = 0.95};
}

static trl_status check(size_t n, const trl_bootstrap_options *o, trl_error *err)
{
    if (n == 0)
        return trl_fail(err, TRL_EINVAL, "there is nothing to compare");
    if (o->resamples == 0)
        return trl_fail(err, TRL_EINVAL, "a bootstrap needs at least one resample");
    if (!(o->confidence > 0.0 && o->confidence < 1.0))
        return trl_fail(err, TRL_EINVAL, "the confidence must lie between 0 and 1, and %g does not",
                        o->confidence);
    return TRL_OK;
}

static void draw(size_t n, size_t n_sums, const double *units, trl_rng *rng, double *sums)
{
    for (size_t k = 0; k < n_sums; k++)
        sums[k] = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double *unit = units + trl_rng_below(rng, n) * n_sums;
        for (size_t k = 0; k < n_sums; k++)
            sums[k] += unit[k];
    }
}

static int ascending(const void *va, const void *vb)
{
    const double a = *(const double *)va, b = *(const double *)vb;
    return (a > b) - (a < b);
}

/* The q-quantile of sorted x, linear between neighbours. */
static double quantile(const double *x, size_t n, double q)
{
    const double at = q * (double)(n - 1);
    const size_t i = (size_t)at;
    return i + 1 < n ? x[i] + (at - (double)i) * (x[i + 1] - x[i]) : x[n - 1];
}

/* d is the observed difference, x the resampled ones.  The observed sample counts as one of them,
 * so that p is never 0. */
static trl_bootstrap summarise(double d, double *x, size_t n, double confidence)
{
    size_t extreme = 0;
    for (size_t i = 0; i < n; i++)
        extreme += fabs(x[i] - d) >= fabs(d);
    qsort(x, n, sizeof *x, ascending);
    const double tail = 0.5 * (1.0 - confidence);
    return (trl_bootstrap){
        .difference = d,
        .low = quantile(x, n, tail),
        .high = quantile(x, n, 1.0 - tail),
        .p = ((double)extreme + 1.0) / ((double)n + 1.0),
    };
}

trl_status trl_resample(const trl_resampled *x, const trl_bootstrap_options *options,
                        trl_bootstrap *out, trl_error *err)
{
    if (x->n_sums > TRL_RESAMPLE_MAX || x->n_out > TRL_RESAMPLE_MAX)
        return trl_fail(err, TRL_EINVAL, "more than %d sums of a sentence", TRL_RESAMPLE_MAX);
    const trl_status st = check(x->n, options, err);
    if (st != TRL_OK)
        return st;
    const size_t B = (size_t)options->resamples;
    double *seen = B > SIZE_MAX / x->n_out ? NULL : trl_alloc(B * x->n_out, sizeof *seen);
    if (!seen)
        return trl_fail_mem(err);

    double sums[TRL_RESAMPLE_MAX] = {0}, d[TRL_RESAMPLE_MAX];
    trl_rng rng = trl_rng_seed(options->seed);
    for (size_t r = 0; r < B; r++) {
        draw(x->n, x->n_sums, x->units, &rng, sums);
        x->difference(sums, d);
        for (size_t k = 0; k < x->n_out; k++)
            seen[k * B + r] = d[k];
    }
    for (size_t k = 0; k < x->n_sums; k++) {
        sums[k] = 0.0;
        for (size_t i = 0; i < x->n; i++)
            sums[k] += x->units[i * x->n_sums + k];
    }
    x->difference(sums, d);
    for (size_t k = 0; k < x->n_out; k++)
        out[k] = summarise(d[k], seen + k * B, B, options->confidence);
    trl_free(seen);
    return TRL_OK;
}
