/* float_kernel.c -- from double to single precision. */
/* SPDX-License-Identifier: MIT */
#include "num/float_kernel.h"

#include "num/simd.h"

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

TRL_CLONES void trl_scale_narrow(size_t n, double a, const double *restrict x, float *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = (float)(a * x[i]);
}
