/* float_kernel.c -- mixed precision vectors. */
/* SPDX-License-Identifier: MIT */
#include "num/float_kernel.h"

#include "num/simd.h"

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

TRL_CLONES void trl_dot3(size_t n, const float *b, const float *s, const float *y,
                         const double *v, double sum[3])
{
    trl_v8 bs = {0}, by = {0}, bv = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const trl_v8 x = widen(b + i);
        bs += x * widen(s + i);
        by += x * widen(y + i);
        bv += x * *(const trl_v8 *)(v + i);
    }
    sum[0] += trl_v8_sum(&bs);
    sum[1] += trl_v8_sum(&by);
    sum[2] += trl_v8_sum(&bv);
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
    for (; i + 8 <= n; i += 8)
        *(trl_v8 *)(d + i) += a * widen(s + i) + b * widen(y + i);
    for (; i < n; i++)
        d[i] += a * (double)s[i] + b * (double)y[i];
}
