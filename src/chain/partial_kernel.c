/* partial_kernel.c -- the steps of sums over labellings that notes allow. */
/* SPDX-License-Identifier: MIT */
#include "chain/partial_kernel.h"

#include <math.h>
#include <string.h>

#include "num/simd.h"
#include "num/vexp.h"

void trl_partial_range(size_t n, const double *x, double *min, double *max)
{
    double lo = HUGE_VAL, hi = -HUGE_VAL, not = 0.0;
    for (size_t k = 0; k < n; k++) {
        lo = x[k] < lo ? x[k] : lo;
        hi = x[k] > hi ? x[k] : hi;
        not += x[k] - x[k] == 0.0 || x[k] == -HUGE_VAL ? 0.0 : 1.0;
    }
    *min = not > 0.0 ? (double)NAN : lo;
    *max = not > 0.0 ? (double)NAN : hi;
}

double trl_partial_log_sum(size_t n, const double *x)
{
    double max = -HUGE_VAL, sum = 0.0;
    for (size_t k = 0; k < n; k++)
        max = x[k] > max ? x[k] : max;
    if (max == -HUGE_VAL)
        return n && x[0] != x[0] ? x[0] : max;
    for (size_t k = 0; k < n; k++)
        sum += exp(x[k] - max);
    return max + log(sum);
}

/* ---- on exponentials ------------------------------------------------------------------------- */

TRL_CLONES double trl_partial_forward(const trl_partial_step *s, double shift, const double *before,
                                      double *restrict alpha)
{
    const size_t BC = s->B * s->C;
    double sum = 0.0;
    trl_vexp(s->A * BC, s->f, shift, s->f);
    memset(alpha, 0, BC * sizeof *alpha);
    for (size_t a = 0; a < s->A; a++)
        for (size_t b = 0; b < s->B; b++) {
            const double x = before[a * s->B + b], *f = s->f + a * BC + b * s->C;
            double *to = alpha + b * s->C;
#pragma omp simd
            for (size_t c = 0; c < s->C; c++)
                to[c] += x * f[c];
        }
    for (size_t k = 0; k < BC; k++)
        sum += alpha[k];
    const double scale = 1.0 / sum;
    for (size_t k = 0; k < BC; k++)
        alpha[k] *= scale;
    return log(sum) + shift;
}

TRL_CLONES void trl_partial_backward(const trl_partial_step *s, const double *before,
                                     const double *restrict beta, double *restrict out)
{
    const size_t BC = s->B * s->C, n = s->A * BC;
    double total = 0.0, most = 0.0;
    for (size_t a = 0; a < s->A; a++)
        for (size_t b = 0; b < s->B; b++) {
            double *restrict f = s->f + a * BC + b * s->C, sum = 0.0;
            const double x = before[a * s->B + b], *y = beta + b * s->C;
#pragma omp simd reduction(+ : sum)
            for (size_t c = 0; c < s->C; c++) {
                f[c] *= y[c];
                sum += f[c];
            }
            for (size_t c = 0; c < s->C; c++)
                f[c] *= x;
            total += x * sum;
            most = sum > most ? sum : most;
            if (out)
                out[a * s->B + b] = sum;
        }
    const double scale = 1.0 / total, less = 1.0 / most;
    for (size_t k = 0; k < n; k++)
        s->f[k] *= scale;
    for (size_t k = 0; out && k < s->A * s->B; k++)
        out[k] *= less;
}

/* ---- in logarithms --------------------------------------------------------------------------- */

/* log(exp a + exp b). */
static double log_add(double a, double b)
{
    const double max = a > b ? a : b, min = a > b ? b : a;
    return min == -HUGE_VAL ? max : max + log1p(exp(min - max));
}

void trl_partial_forward_log(const trl_partial_step *s, const double *before, double *alpha)
{
    for (size_t k = 0; k < s->B * s->C; k++)
        alpha[k] = -HUGE_VAL;
    for (size_t a = 0; a < s->A; a++)
        for (size_t k = 0; k < s->B * s->C; k++) {
            const double x = before ? before[a * s->B + k / s->C] : 0.0;
            alpha[k] = log_add(alpha[k], x + s->f[a * s->B * s->C + k]);
        }
}

void trl_partial_backward_log(const trl_partial_step *s, const double *before, const double *beta,
                              double log_z, double *out)
{
    for (size_t a = 0; a < s->A; a++)
        for (size_t b = 0; b < s->B; b++) {
            const double x = before ? before[a * s->B + b] : 0.0;
            double *f = s->f + (a * s->B + b) * s->C, sum = -HUGE_VAL;
            for (size_t c = 0; c < s->C; c++) {
                const double y = f[c] + beta[b * s->C + c];
                sum = log_add(sum, y);
                f[c] = exp(x + y - log_z);
            }
            if (out)
                out[a * s->B + b] = sum;
        }
}

/* ---- adjoints -------------------------------------------------------------------------------- */

void trl_cells_add(const trl_term *m, size_t n, const uint32_t *label, double scale,
                   const double *mu)
{
    for (size_t l = 0; l < m->n; l++) {
        double *to = m->line[l].adjoint;
        const size_t stride = m->line[l].stride;
        for (size_t c = 0; to && c < n; c++)
            to[label[c] * stride] += scale * mu[c];
    }
}
