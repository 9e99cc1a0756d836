/* residual_kernel.c -- see residual_kernel.h. */
/* SPDX-License-Identifier: MIT */
#include "num/residual_kernel.h"

#include "num/simd.h"
#include "num/vexp.h"

typedef float v8f __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t v8s __attribute__((vector_size(32), aligned(4), may_alias));

TRL_INLINE double sum8(v8f v)
{
    const trl_v8 wide = __builtin_convertvector(v, trl_v8);
    return trl_v8_sum(&wide);
}

TRL_CLONES double trl_residual(size_t n, const double *a, const float *kept, float *delta,
                               double *mass)
{
    v8f square = {0}, sum = {0};
    for (size_t i = 0; i < n; i += 8) {
        const v8f x = __builtin_convertvector(*(const trl_v8 *)(a + i), v8f);
        const v8f d = x - *(const v8f *)(kept + i);
        *(v8f *)(delta + i) = d;
        square += d * d;
        sum += (v8f)((v8s)x & INT32_MAX); /* |x| */
    }
    *mass += sum8(sum);
    return sum8(square);
}

TRL_CLONES void trl_blend(size_t n, float by, const float *restrict x, float *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] += by * x[i];
}

TRL_CLONES void trl_curvature(size_t n, const double *s0, const double *s1, const double *a0,
                              const double *a1, const float *delta, double sum[2])
{
    trl_v8 along = {0}, change = {0};
    for (size_t i = 0; i < n; i += 8) {
        const trl_v8 ds = *(const trl_v8 *)(s1 + i) - *(const trl_v8 *)(s0 + i);
        const trl_v8 da = *(const trl_v8 *)(a1 + i) - *(const trl_v8 *)(a0 + i);
        along += __builtin_convertvector(*(const v8f *)(delta + i), trl_v8) * ds;
        change += da * ds;
    }
    sum[0] += trl_v8_sum(&along);
    sum[1] += trl_v8_sum(&change);
}

TRL_CLONES void trl_curvature_along(size_t n, double by, const double *a0, const double *a1,
                                    const float *delta, double sum[2])
{
    trl_v8 along = {0}, change = {0};
    for (size_t i = 0; i < n; i += 8) {
        const trl_v8 d = __builtin_convertvector(*(const v8f *)(delta + i), trl_v8), ds = by * d;
        const trl_v8 da = *(const trl_v8 *)(a1 + i) - *(const trl_v8 *)(a0 + i);
        along += d * ds;
        change += da * ds;
    }
    sum[0] += trl_v8_sum(&along);
    sum[1] += trl_v8_sum(&change);
}

TRL_CLONES double trl_dual_entropy(size_t n, const float *a, double *sum)
{
    trl_v8 mass = {0}, entropy = {0};
    for (size_t i = 0; i < n; i += 8) {
        const trl_v8 zero = {0}, x = -__builtin_convertvector(*(const v8f *)(a + i), trl_v8);
        const trl_v8 p = trl_v8_select(x > 0.0, x, zero);
        trl_v8 log_p = p;
        trl_v8_log(&log_p);
        mass += p;
        entropy -= p * log_p;
    }
    *sum += trl_v8_sum(&mass);
    return trl_v8_sum(&entropy);
}
