/* bf16_kernel.c -- bfloat16 vectors, eight numbers at a time. */
/* SPDX-License-Identifier: MIT */
#include "num/bf16_kernel.h"

#include "num/simd.h"

/* A sweep goes through a block of all stored vectors, then through the next one (train/history.c):
 * too many streams for the hardware prefetcher, so every vector prefetches its part of the next
 * block into the second-level cache. */
#define AHEAD (12 * TRL_BF16_BLOCK) /* six pairs, the usual number */

typedef float v8f __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t v8u __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint16_t v8h __attribute__((vector_size(16), aligned(2), may_alias));

TRL_INLINE v8f widen(const trl_bf16 *b)
{
    return (v8f)(__builtin_convertvector(*(const v8h *)b, v8u) << 16);
}

TRL_INLINE float sum8(v8f a, v8f b)
{
    a += b;
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

TRL_CLONES void trl_bf16_difference(size_t n, const double *restrict a, const double *restrict c,
                                    trl_bf16 *restrict b, float *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        b[i] = trl_bf16_of((float)(a[i] - c[i]));
        y[i] = trl_bf16_float(b[i]);
    }
}

TRL_CLONES void trl_bf16_widen(size_t n, const trl_bf16 *restrict b, float *restrict y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = trl_bf16_float(b[i]);
}

TRL_CLONES void trl_bf16_dots(size_t n, const trl_bf16 *b, const trl_bf16 *c, const float *s,
                              const float *y, const float *v, double sum[6])
{
    v8f x[6] = {{0}}, z[6] = {{0}}; /* even and odd groups of eight */
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __builtin_prefetch(b + i + AHEAD, 0, 2);
        __builtin_prefetch(c + i + AHEAD, 0, 2);
        const v8f b0 = widen(b + i), b1 = widen(b + i + 8), c0 = widen(c + i),
                  c1 = widen(c + i + 8);
        const v8f s0 = *(const v8f *)(s + i), s1 = *(const v8f *)(s + i + 8);
        const v8f y0 = *(const v8f *)(y + i), y1 = *(const v8f *)(y + i + 8);
        const v8f v0 = *(const v8f *)(v + i), v1 = *(const v8f *)(v + i + 8);
        x[0] += b0 * s0, z[0] += b1 * s1;
        x[1] += b0 * y0, z[1] += b1 * y1;
        x[2] += b0 * v0, z[2] += b1 * v1;
        x[3] += c0 * s0, z[3] += c1 * s1;
        x[4] += c0 * y0, z[4] += c1 * y1;
        x[5] += c0 * v0, z[5] += c1 * v1;
    }
    for (size_t k = 0; k < 6; k++)
        sum[k] += (double)sum8(x[k], z[k]);
    for (; i < n; i++) {
        const double p = (double)trl_bf16_float(b[i]), q = (double)trl_bf16_float(c[i]);
        sum[0] += p * (double)s[i];
        sum[1] += p * (double)y[i];
        sum[2] += p * (double)v[i];
        sum[3] += q * (double)s[i];
        sum[4] += q * (double)y[i];
        sum[5] += q * (double)v[i];
    }
}

TRL_CLONES void trl_bf16_add(size_t n, float p, const trl_bf16 *b, float q, const trl_bf16 *c,
                             float *restrict d)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __builtin_prefetch(b + i + AHEAD, 0, 2);
        __builtin_prefetch(c + i + AHEAD, 0, 2);
        for (size_t k = i; k < i + 32; k += 8)
            *(v8f *)(d + k) += p * widen(b + k) + q * widen(c + k);
    }
    for (; i < n; i++)
        d[i] += p * trl_bf16_float(b[i]) + q * trl_bf16_float(c[i]);
}

TRL_CLONES void trl_bf16_round(size_t n, const float *restrict d, const double *restrict x,
                               trl_bf16 *restrict b, double *restrict out)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        b[i] = trl_bf16_of(d[i]);
    if (!x)
        return;
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] + (double)trl_bf16_float(b[i]);
}

TRL_CLONES void trl_bf16_step(size_t n, const double *restrict x, double a,
                              const trl_bf16 *restrict b, double *restrict out)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] + a * (double)trl_bf16_float(b[i]);
}

TRL_CLONES double trl_bf16_dot(size_t n, const double *x, const trl_bf16 *b)
{
    trl_v8 a = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        a += *(const trl_v8 *)(x + i) * __builtin_convertvector(widen(b + i), trl_v8);
    double sum = trl_v8_sum(&a);
    for (; i < n; i++)
        sum += x[i] * (double)trl_bf16_float(b[i]);
    return sum;
}
