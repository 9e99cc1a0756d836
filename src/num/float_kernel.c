/* float_kernel.c -- mixed precision vectors. */
/* SPDX-License-Identifier: MIT */
#include "num/float_kernel.h"

#include "num/simd.h"

/* Sweeps go through a dozen vectors block by block (train/history.c), too many streams for the machine
 * to follow: each asks for its own next block, for the second-level cache. */
#define TRL_FLOATS_AHEAD 4096

typedef float v8f __attribute__((vector_size(32), aligned(4), may_alias));

TRL_CLONES void trl_difference(size_t n, const double *restrict a, const double *restrict b,
                               float *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = (float)(a[i] - b[i]);
}

TRL_CLONES void trl_scale_floats(size_t n, double a, float *d)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        d[i] = (float)(a * (double)d[i]);
}

TRL_CLONES void trl_step_floats(size_t n, const double *restrict x, double a,
                                const float *restrict d, double *restrict out)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] + a * (double)d[i];
}

TRL_INLINE trl_v8 widen(const float *p)
{
    return __builtin_convertvector(*(const v8f *)p, trl_v8);
}

/* Half as wide: gcc 12 converts these by one instruction, eight at a time by five. */
typedef float  v4f __attribute__((vector_size(16), aligned(4), may_alias));
typedef double v4d __attribute__((vector_size(32), aligned(8), may_alias));

TRL_INLINE v4d widen4(const float *p)
{
    return __builtin_convertvector(*(const v4f *)p, v4d);
}

TRL_INLINE double sum4(v4d a, v4d b)
{
    a += b;
    return (a[0] + a[2]) + (a[1] + a[3]);
}

TRL_CLONES void trl_dot3(size_t n, const float *b, const float *s, const float *y,
                         const double *v, double sum[3])
{
    v4d bs0 = {0}, bs1 = {0}, by0 = {0}, by1 = {0}, bv0 = {0}, bv1 = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __builtin_prefetch(b + i + TRL_FLOATS_AHEAD, 0, 2);
        const v4d x0 = widen4(b + i), x1 = widen4(b + i + 4);
        bs0 += x0 * widen4(s + i);
        bs1 += x1 * widen4(s + i + 4);
        by0 += x0 * widen4(y + i);
        by1 += x1 * widen4(y + i + 4);
        bv0 += x0 * *(const v4d *)(v + i);
        bv1 += x1 * *(const v4d *)(v + i + 4);
    }
    sum[0] += sum4(bs0, bs1);
    sum[1] += sum4(by0, by1);
    sum[2] += sum4(bv0, bv1);
    for (; i < n; i++) {
        const double x = (double)b[i];
        sum[0] += x * (double)s[i];
        sum[1] += x * (double)y[i];
        sum[2] += x * v[i];
    }
}

TRL_CLONES void trl_narrow(size_t n, const double *restrict x, float *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = (float)x[i];
}

TRL_CLONES void trl_narrow_rest(size_t n, const double *restrict x, float *restrict y,
                                float *restrict rest)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        y[i] = (float)x[i];
        rest[i] = (float)(x[i] - (double)y[i]);
    }
}

TRL_CLONES double trl_dot_floats(size_t n, const double *x, const float *d)
{
    trl_v8 a = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        a += *(const trl_v8 *)(x + i) * widen(d + i);
    double sum = trl_v8_sum(&a);
    for (; i < n; i++)
        sum += x[i] * (double)d[i];
    return sum;
}

TRL_CLONES void trl_round_add(size_t n, const double *restrict x, const double *restrict y,
                              float *restrict d, double *restrict out)
{
    if (!y) {
        trl_narrow(n, x, d);
        return;
    }
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        const float f = (float)x[i];
        d[i] = f;
        out[i] = y[i] + (double)f;
    }
}

TRL_CLONES void trl_scale_to(size_t n, double a, const double *restrict x, double *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = a * x[i];
}

TRL_CLONES void trl_add2(size_t n, double a, const float *s, double b, const float *y,
                         double *restrict d)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __builtin_prefetch(s + i + TRL_FLOATS_AHEAD, 0, 2);
        __builtin_prefetch(y + i + TRL_FLOATS_AHEAD, 0, 2);
        *(v4d *)(d + i) += a * widen4(s + i) + b * widen4(y + i);
        *(v4d *)(d + i + 4) += a * widen4(s + i + 4) + b * widen4(y + i + 4);
    }
    for (; i < n; i++)
        d[i] += a * (double)s[i] + b * (double)y[i];
}
