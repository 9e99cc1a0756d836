/* loss_kernel.c -- sums of the logistic loss. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "boost/loss.h"
#include "num/simd.h"

TRL_CLONES trl_slope trl_loss_slope(size_t n, const double *v, const double *odds, double t)
{
    trl_v8 first = {0}, second = {0};
    const trl_v8 one = first + 1.0;
    const trl_v8i magnitude = (trl_v8i){0} + INT64_MAX; /* all but the sign */
    size_t i = 0;
    for (; i + TRL_LANES <= n; i += TRL_LANES) {
        const trl_v8 a = (trl_v8)(*(const trl_v8i *)(const void *)(v + i) & magnitude);
        const trl_v8 x = *(const trl_v8 *)(odds + i) * t;
        const trl_v8 r = one / (one + x), s = a * (x * r);
        first += s;
        second += s * r;
    }
    trl_slope out = {trl_v8_sum(&first), trl_v8_sum(&second)};
    for (; i < n; i++) {
        const double x = odds[i] * t, r = 1.0 / (1.0 + x), s = fabs(v[i]) * (x * r);
        out.first += s;
        out.second += s * r;
    }
    return out;
}

double trl_loss_value(size_t n, const double *v, const double *odds)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += v[i] > 0.0 ? v[i] * log1p(1.0 / odds[i]) : -v[i] * log1p(odds[i]);
    return sum;
}
