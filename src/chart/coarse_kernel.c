/* coarse_kernel.c -- sums of outer products, and their transposes. */
/* SPDX-License-Identifier: MIT */
#include "chart/coarse_kernel.h"

#include "num/simd.h"

typedef float v16 __attribute__((vector_size(64), aligned(4), may_alias));

TRL_CLONES void trl_outer_add(size_t n, size_t stride, const float *l, const float *r, float f,
                              float *m)
{
    for (size_t b = 0; b < n; b++) {
        const float x = l[b] * f;
        if (x == 0.0f)
            continue;
        float *row = m + b * stride;
        for (size_t c = 0; c < stride; c += 16) {
            v16 *to = (v16 *)(row + c);
            *to += x * *(const v16 *)(r + c);
        }
    }
}

TRL_CLONES void trl_outer_back(size_t n, size_t stride, const float *m, const float *l,
                               const float *r, float f, float *ol, float *or_)
{
    for (size_t b = 0; b < n; b++) {
        const float x = l[b] * f;
        if (x == 0.0f)
            continue; /* an absent child needs no outside */
        const float *row = m + b * stride;
        v16 sum = {0};
        for (size_t c = 0; c < stride; c += 16) {
            const v16 y = *(const v16 *)(row + c);
            sum += y * *(const v16 *)(r + c);
            *(v16 *)(or_ + c) += x * y;
        }
        float s = 0.0f;
        for (int k = 0; k < 16; k++)
            s += sum[k];
        ol[b] += f * s;
    }
}
