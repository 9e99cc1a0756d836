/* vexp.c -- array exponentials. */
/* SPDX-License-Identifier: MIT */
#include "num/vexp.h"

#include <math.h>
#include <string.h>

TRL_CLONES void trl_vexp(size_t n, const double *x, double shift, double *y)
{
    size_t i = 0;
    for (; i + TRL_LANES <= n; i += TRL_LANES) {
        trl_v8 v = *(const trl_v8 *)(x + i) - shift;
        trl_v8_exp(&v);
        *(trl_v8 *)(y + i) = v;
    }
    if (i < n) {
        double rest[TRL_LANES] = {0};
        memcpy(rest, x + i, (n - i) * sizeof *x);
        trl_v8 v = *(const trl_v8 *)rest - shift;
        trl_v8_exp(&v);
        *(trl_v8 *)rest = v;
        memcpy(y + i, rest, (n - i) * sizeof *y);
    }
}

TRL_CLONES double trl_vexp_sum(size_t n, const double *x, double shift, double *y)
{
    trl_v8 sum = {0};
    size_t i = 0;
    for (; i + TRL_LANES <= n; i += TRL_LANES) {
        trl_v8 v = *(const trl_v8 *)(x + i) - shift;
        trl_v8_exp(&v);
        *(trl_v8 *)(y + i) = v;
        sum += v;
    }
    double total = trl_v8_sum(&sum);
    if (i < n) {
        double rest[TRL_LANES] = {0};
        memcpy(rest, x + i, (n - i) * sizeof *x);
        trl_v8 v = *(const trl_v8 *)rest - shift;
        trl_v8_exp(&v);
        *(trl_v8 *)rest = v;
        memcpy(y + i, rest, (n - i) * sizeof *y);
        for (size_t k = 0; k < n - i; k++)
            total += rest[k];
    }
    return total;
}

TRL_CLONES double trl_vmax(size_t n, const double *x)
{
    double max = -HUGE_VAL;
    trl_v8 best = (trl_v8){0} - HUGE_VAL;
    size_t i = 0;
    for (; i + TRL_LANES <= n; i += TRL_LANES) {
        const trl_v8 v = *(const trl_v8 *)(x + i);
        best = trl_v8_select(v > best, v, best);
    }
    for (; i < n; i++)
        max = x[i] > max ? x[i] : max;
    for (size_t k = 0; n >= TRL_LANES && k < TRL_LANES; k++)
        max = best[k] > max ? best[k] : max;
    return max;
}

TRL_INLINE void power(const double *x, double p, double *y)
{
    const trl_v8 v = *(const trl_v8 *)x, zero = {0};
    trl_v8 t = v;
    trl_v8_log(&t);
    t *= p;
    trl_v8_exp(&t);
    *(trl_v8 *)y = trl_v8_select(v > 0.0, t, zero);
}

TRL_CLONES void trl_vpow(size_t n, const double *x, double p, double *y)
{
    size_t i = 0;
    for (; i + TRL_LANES <= n; i += TRL_LANES)
        power(x + i, p, y + i);
    if (i < n) {
        double rest[TRL_LANES] = {0};
        memcpy(rest, x + i, (n - i) * sizeof *x);
        power(rest, p, rest);
        memcpy(y + i, rest, (n - i) * sizeof *y);
    }
}

/* Lanes below k are all ones. */
static const int64_t lane_mask[2 * TRL_LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};

/* Every lane of hi and lo becomes the extreme of itself and the lane that `order` gives for it. */
#define WIDEN(...)                                                                                 \
    do {                                                                                           \
        const trl_v8 h = __builtin_shufflevector(hi, hi, __VA_ARGS__);                             \
        const trl_v8 l = __builtin_shufflevector(lo, lo, __VA_ARGS__);                             \
        hi = trl_v8_select(h > hi, h, hi);                                                         \
        lo = trl_v8_select(l < lo, l, lo);                                                         \
    } while (0)

TRL_CLONES double trl_exp_row(size_t n, const double *x, double *y, double *min)
{
    const size_t whole = n & ~(size_t)(TRL_LANES - 1), rest = n - whole;
    const trl_v8i keep = *(const trl_v8i *)(lane_mask + TRL_LANES - rest);
    const trl_v8 first = (trl_v8){0} + x[0];
    trl_v8 hi = first, lo = first;
    for (size_t i = 0; i < n; i += TRL_LANES) {
        trl_v8 v = *(const trl_v8 *)(x + i);
        if (i == whole)
            v = trl_v8_select(keep, v, first);
        hi = trl_v8_select(v > hi, v, hi);
        lo = trl_v8_select(v < lo, v, lo);
    }
    WIDEN(4, 5, 6, 7, 0, 1, 2, 3);
    WIDEN(2, 3, 0, 1, 6, 7, 4, 5);
    WIDEN(1, 0, 3, 2, 5, 4, 7, 6);
    const double max = hi[0], low = lo[0];
    for (size_t i = 0; i < n; i += TRL_LANES) {
        trl_v8 v = *(const trl_v8 *)(x + i) - max;
        trl_v8_exp(&v);
        if (i == whole)
            v = (trl_v8)(keep & (trl_v8i)v);
        *(trl_v8 *)(y + i) = v;
    }
    *min = low;
    return max;
}

double trl_logsumexp(size_t n, const double *x)
{
    double max = -HUGE_VAL, sum = 0.0;
    for (size_t i = 0; i < n; i++)
        max = x[i] > max ? x[i] : max;
    if (max == -HUGE_VAL)
        return max;
    for (size_t i = 0; i < n; i++)
        sum += exp(x[i] - max);
    return max + log(sum);
}
