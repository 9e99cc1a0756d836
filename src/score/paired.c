/* paired.c -- tests of the difference between paired measurements; see compare.h. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "score/resample.h"
#include "score/stats.h"

trl_test trl_mcnemar(uint64_t only_a, uint64_t only_b)
{
    const uint64_t n = only_a + only_b, few = only_a < only_b ? only_a : only_b;
    trl_test t = {.n = (size_t)n, .exact = n < TRL_MCNEMAR_EXACT};
    if (t.exact) {
        t.statistic = (double)few;
        t.p = fmin(1.0, 2.0 * trl_coin_lower(few, n)); /* few = n / 2 counts the middle twice */
        return t;
    }
    const double gap = fmax(0.0, (double)(n - 2 * few) - 1.0);
    t.statistic = gap * gap / (double)n;
    t.p = trl_chi2_upper(t.statistic, 1.0);
    return t;
}

trl_test trl_paired_t(size_t n, const double *a, const double *b)
{
    if (n && (!a || !b))
        return (trl_test){.p = NAN};
    double mean = 0.0, squares = 0.0; /* Welford: no cancellation */
    for (size_t i = 0; i < n; i++) {
        const double d = b[i] - a[i], off = d - mean;
        mean += off / (double)(i + 1);
        squares += off * (d - mean);
    }
    trl_test t = {.n = n, .p = (double)NAN, .statistic = (double)NAN};
    if (n < 2 || !isfinite(mean) || !isfinite(squares))
        return t;
    const double df = (double)(n - 1), error = sqrt(squares / df / (double)n);
    t.statistic = error > 0.0 ? mean / error : mean == 0.0 ? 0.0 : copysign(HUGE_VAL, mean);
    t.p = trl_t_two_sided(t.statistic, df);
    return t;
}

/* ---- Wilcoxon -------------------------------------------------------------------------------- */

static int by_size(const void *va, const void *vb)
{
    const double a = fabs(*(const double *)va), b = fabs(*(const double *)vb);
    return (a > b) - (a < b);
}

#define ROUNDING 1e-12 /* of the largest value: differences that differ by less are ties */

/* The sum of the ranks of the sorted differences; `ties`: sum of t^3 - t over groups of ties. */
typedef struct rank_sums {
    double positive, ties;
} rank_sums;

static rank_sums rank(size_t n, const double *d, double close)
{
    rank_sums s = {0};
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && fabs(d[end]) - fabs(d[end - 1]) <= close;)
            end++;
        const double t = (double)(end - i), shared = 0.5 * (double)(i + 1 + end);
        for (size_t k = i; k < end; k++)
            s.positive += d[k] > 0.0 ? shared : 0.0;
        s.ties += t * t * t - t;
    }
    return s;
}

/* P(W <= w) for ranks 1 .. n with fair signs: ways[s] counts the subsets of the ranks that sum to
 * s.  There are 2^n <= 2^50 of them: whole numbers that a double holds exactly. */
static double signed_rank_lower(size_t n, size_t w)
{
    double ways[TRL_WILCOXON_EXACT * (TRL_WILCOXON_EXACT + 1) / 2 + 1] = {1.0}, sum = 0.0;
    for (size_t r = 1, top = 0; r <= n; r++) {
        top += r;
        for (size_t s = top; s >= r; s--)
            ways[s] += ways[s - r];
    }
    for (size_t s = 0; s <= w; s++)
        sum += ways[s];
    return ldexp(sum, -(int)n);
}

static trl_test signed_rank(size_t n, const double *d, double close)
{
    const rank_sums s = rank(n, d, close);
    const double k = (double)n, all = 0.5 * k * (k + 1.0);
    trl_test t = {.n = n, .statistic = s.positive, .p = 1.0};
    t.exact = n <= TRL_WILCOXON_EXACT && s.ties == 0.0;
    if (n == 0)
        return t;
    if (t.exact) {
        const double few = fmin(s.positive, all - s.positive);
        t.p = fmin(1.0, 2.0 * signed_rank_lower(n, (size_t)few));
        return t;
    }
    const double variance = k * (k + 1.0) * (2.0 * k + 1.0) / 24.0 - s.ties / 48.0;
    const double gap = fmax(0.0, fabs(s.positive - 0.5 * all) - 0.5);
    t.p = trl_normal_two_sided(gap / sqrt(variance));
    return t;
}

trl_status trl_wilcoxon(size_t n, const double *a, const double *b, trl_test *out, trl_error *err)
{
    if (!out || (n && (!a || !b)))
        return trl_fail_null(err);
    double *d = trl_alloc(n, sizeof *d);
    if (!d)
        return trl_fail_mem(err);
    size_t used = 0;
    double close = 0.0;
    for (size_t i = 0; i < n; i++)
        close = fmax(close, ROUNDING * fmax(fabs(a[i]), fabs(b[i])));
    for (size_t i = 0; i < n; i++) {
        const double x = b[i] - a[i];
        if (!isfinite(x)) {
            trl_free(d);
            return trl_fail(err, TRL_EINVAL, "pair %zu holds a value that is not finite", i);
        }
        d[used] = x;
        used += fabs(x) > close;
    }
    qsort(d, used, sizeof *d, by_size);
    *out = signed_rank(used, d, close);
    trl_free(d);
    return TRL_OK;
}

/* ---- bootstrap of a mean --------------------------------------------------------------------- */

/* sums: differences, units. */
static void mean_of(const double *sums, double *out)
{
    *out = sums[0] / sums[1];
}

trl_status trl_bootstrap_mean(size_t n, const double *a, const double *b,
                              const trl_bootstrap_options *options, trl_bootstrap *out,
                              trl_error *err)
{
    if (!options || !out || (n && (!a || !b)))
        return trl_fail_null(err);
    double *units = n > SIZE_MAX / 2 ? NULL : trl_alloc(2 * n, sizeof *units);
    if (!units)
        return trl_fail_mem(err);
    for (size_t i = 0; i < n; i++) {
        units[2 * i] = b[i] - a[i];
        units[2 * i + 1] = 1.0;
    }
    const trl_status st = trl_resample(
        &(trl_resampled){.n = n, .n_sums = 2, .units = units, .n_out = 1, .difference = mean_of},
        options, out, err);
    trl_free(units);
    return st;
}

/* ---- several tests --------------------------------------------------------------------------- */

typedef struct ranked {
    double p;
    size_t at;
} ranked;

/* NaN last. */
static int by_p(const void *a_, const void *b_)
{
    const ranked *a = a_, *b = b_;
    const double x = isnan(a->p) ? 2.0 : a->p, y = isnan(b->p) ? 2.0 : b->p;
    if (x != y)
        return x < y ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

trl_status trl_holm(size_t n, const double *p, double *adjusted, trl_error *err)
{
    if (n == 0)
        return TRL_OK;
    if (!p || !adjusted)
        return trl_fail_null(err);
    ranked *r = trl_alloc(n, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    for (size_t i = 0; i < n; i++)
        r[i] = (ranked){p[i], i};
    qsort(r, n, sizeof *r, by_p);
    double most = 0.0;
    for (size_t k = 0; k < n; k++) {
        const double x = (double)(n - k) * r[k].p;
        most = x > most ? (x < 1.0 ? x : 1.0) : most;
        adjusted[r[k].at] = isnan(r[k].p) ? r[k].p : most;
    }
    trl_free(r);
    return TRL_OK;
}
