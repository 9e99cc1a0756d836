/* span_calibration.c -- isotonic regression of right constituents on posteriors. */
/* SPDX-License-Identifier: MIT */
#include "parser/span_calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define BINS (TRL_SPAN_KNOTS - 2)
#define LEAST 50 /* outcomes of a bin, where there are enough */
#define PRIOR 20 /* outcomes of trees that a bin has beforehand, by the usual function */

const trl_span_calibration trl_span_calibration_usual = {
    28, {{0.00000, 0.00000}, {0.01092, 0.02598}, {0.01301, 0.02654}, {0.01556, 0.03162},
         {0.01853, 0.03614}, {0.02214, 0.03981}, {0.02667, 0.04376}, {0.03219, 0.05223},
         {0.03899, 0.05421}, {0.04745, 0.06806}, {0.05822, 0.08187}, {0.07185, 0.09684},
         {0.08943, 0.10418}, {0.11205, 0.12253}, {0.14125, 0.14681}, {0.17881, 0.18012},
         {0.22769, 0.21993}, {0.29057, 0.27930}, {0.36831, 0.32863}, {0.46616, 0.39413},
         {0.57673, 0.49831}, {0.69007, 0.58075}, {0.79393, 0.69255}, {0.87794, 0.78487},
         {0.93491, 0.84472}, {0.97023, 0.90765}, {0.99505, 0.93224}, {1.00000, 0.99000}}};

const trl_span_calibration trl_span_calibration_latent = {
    25, {{0.00000, 0.00000}, {0.01095, 0.01120}, {0.01316, 0.01580}, {0.01588, 0.01620},
         {0.02126, 0.02090}, {0.02850, 0.02160}, {0.03507, 0.02960}, {0.04352, 0.03920},
         {0.05442, 0.04620}, {0.06915, 0.05520}, {0.08827, 0.06200}, {0.11306, 0.08600},
         {0.14508, 0.11760}, {0.18704, 0.14100}, {0.24401, 0.19740}, {0.31595, 0.27040},
         {0.40634, 0.37620}, {0.51365, 0.49000}, {0.63419, 0.63700}, {0.75622, 0.76820},
         {0.86217, 0.86100}, {0.93535, 0.92120}, {0.97475, 0.96340}, {0.99662, 0.97613},
         {1.00000, 0.99000}}};

const trl_span_calibration trl_tree_calibration_usual = {13,
                                                         {{0.00000, 0.00000},
                                                          {0.00627, 0.00519},
                                                          {0.03232, 0.01270},
                                                          {0.08439, 0.03234},
                                                          {0.15765, 0.06414},
                                                          {0.21604, 0.13531},
                                                          {0.27581, 0.19645},
                                                          {0.39366, 0.35407},
                                                          {0.51353, 0.44292},
                                                          {0.57430, 0.51515},
                                                          {0.69587, 0.57642},
                                                          {0.86119, 0.68606},
                                                          {1.00000, 0.85000}}};

double trl_span_calibrated(const trl_span_calibration *s, double p)
{
    if (s->n == 0)
        return p;
    size_t k = 1;
    while (k + 1 < s->n && s->knot[k].p < p)
        k++;
    const double from = s->knot[k - 1].p, to = s->knot[k].p;
    const double at = p <= from ? 0.0 : p >= to ? 1.0 : (p - from) / (to - from);
    return s->knot[k - 1].share + at * (s->knot[k].share - s->knot[k - 1].share);
}

double trl_log_calibrated(const trl_span_calibration *s, double log_p)
{
    if (s->n == 0 || !isfinite(log_p))
        return log_p;
    const double p = exp(log_p);
    if (p >= s->knot[1].p)
        return log(trl_span_calibrated(s, p));
    return log_p + log(s->knot[1].share / s->knot[1].p); /* p may be too small for a number */
}

/* ---- fitting --------------------------------------------------------------------------------- */

typedef struct pool {
    double n, p, right; /* outcomes, sums */
} pool;

static int by_p(const void *a, const void *b)
{
    const trl_span_outcome *x = a, *y = b;
    return x->p != y->p ? (x->p < y->p ? -1 : 1) : (int)x->right - (int)y->right;
}

/* Whether the second must be one with the first: it falls, or is at the same place. */
static bool together(const pool *a, const pool *b)
{
    return b->right * a->n <= a->right * b->n || b->p * a->n <= a->p * b->n;
}

/* Pool adjacent violators; returns how many are left. */
static size_t merge(pool *x, size_t n)
{
    size_t kept = 0;
    for (size_t k = 0; k < n; k++) {
        x[kept++] = x[k];
        while (kept > 1 && together(&x[kept - 2], &x[kept - 1])) {
            x[kept - 2].n += x[kept - 1].n;
            x[kept - 2].p += x[kept - 1].p;
            x[kept - 2].right += x[kept - 1].right;
            kept--;
        }
    }
    return kept;
}

/* Sorts x; returns how many bins there are. */
static size_t fill_bins(trl_span_outcome *x, size_t n, pool *bin)
{
    const size_t many = n / LEAST, bins = many > BINS ? BINS : many > 1 ? many : 1;
    qsort(x, n, sizeof *x, by_p);
    for (size_t k = 0; k < bins; k++) {
        bin[k] = (pool){0};
        for (size_t i = n * k / bins; i < n * (k + 1) / bins; i++) {
            bin[k].n += 1.0;
            bin[k].p += x[i].p;
            bin[k].right += x[i].right;
        }
    }
    return bins;
}

/* The function through the means of the bins, level after the last one; returns how many are left,
 * one with the next where the share would fall. */
static size_t through(pool *bin, size_t bins, trl_span_calibration *out)
{
    const size_t kept = merge(bin, bins);
    *out = (trl_span_calibration){.n = 1};
    for (size_t k = 0; k < kept; k++) {
        const double p = bin[k].p / bin[k].n;
        if (p <= 0.0 || p >= 1.0)
            continue;
        out->knot[out->n].p = p;
        out->knot[out->n++].share = bin[k].right / bin[k].n;
    }
    out->knot[out->n].p = 1.0;
    out->knot[out->n++].share = bin[kept - 1].right / bin[kept - 1].n;
    return kept;
}

bool trl_span_calibration_fit(trl_span_outcome *x, size_t n, trl_span_calibration *out)
{
    pool bin[BINS];
    if (n == 0)
        return false;
    through(bin, fill_bins(x, n, bin), out);
    return true;
}

/* Trees are few, and most have a small p: a bin has PRIOR outcomes beforehand, and after the last
 * bin the share is midway between level and its ratio to p, continued. */
bool trl_tree_calibration_fit(trl_span_outcome *x, size_t n, trl_span_calibration *out)
{
    pool bin[BINS];
    if (n == 0)
        return false;
    const size_t bins = fill_bins(x, n, bin);
    for (size_t k = 0; k < bins; k++) {
        const double p = bin[k].p / bin[k].n;
        bin[k].right += PRIOR * trl_span_calibrated(&trl_tree_calibration_usual, p);
        bin[k].p += PRIOR * p;
        bin[k].n += PRIOR;
    }
    const pool *last = &bin[through(bin, bins, out) - 1];
    if (last->right < last->p)
        out->knot[out->n - 1].share = 0.5 * (last->right / last->n + last->right / last->p);
    for (size_t k = 1; k < out->n; k++)
        if (out->knot[k].share > out->knot[k].p)
            out->knot[k].share = out->knot[k].p;
    return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

trl_status trl_span_calibration_save(const trl_span_calibration *s, const char *tag,
                                     trl_container_builder *b, trl_error *err)
{
    if (s->n == 0)
        return TRL_OK;
    double(*knot)[2] = trl_alloc(s->n, sizeof *knot);
    if (!knot)
        return trl_fail_mem(err);
    for (size_t k = 0; k < s->n; k++) {
        knot[k][0] = s->knot[k].p;
        knot[k][1] = s->knot[k].share;
    }
    trl_container_builder_give(b, tag, knot, s->n * sizeof *knot);
    return TRL_OK;
}

trl_status trl_span_calibration_load(trl_span_calibration *s, const char *tag,
                                     const trl_container *c, trl_error *err)
{
    const void *bytes;
    size_t n;
    double x[2], p = -1.0, share = 0.0;
    const bool below = strcmp(tag, TRL_SPAN_CALIBRATION_TAG) != 0; /* of trees */
    *s = (trl_span_calibration){0};
    if (!trl_container_find(c, tag, &bytes, &n))
        return TRL_OK;
    bool sane = n % sizeof x == 0 && n >= 2 * sizeof x && n <= TRL_SPAN_KNOTS * sizeof x;
    for (size_t at = 0; sane && at < n; at += sizeof x) {
        memcpy(x, (const char *)bytes + at, sizeof x);
        sane = x[0] > p && x[1] >= share && x[1] <= (below ? x[0] : 1.0);
        p = s->knot[s->n].p = x[0];
        share = s->knot[s->n++].share = x[1];
    }
    if (!sane || s->knot[0].p != 0.0 || p != 1.0)
        return trl_container_damaged(c, err, "its calibration makes no sense");
    return TRL_OK;
}
