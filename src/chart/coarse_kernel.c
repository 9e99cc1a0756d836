/* coarse_kernel.c -- sums of outer products, and their transposes. */
/* SPDX-License-Identifier: MIT */
#include "chart/coarse_kernel.h"

#include "num/simd.h"

typedef float v8 __attribute__((vector_size(32), aligned(4), may_alias));
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

TRL_CLONES void trl_rule_sums(size_t n, const uint32_t *first, const uint32_t *place,
                              const float *p, const float *m, float *before)
{
    for (size_t a = 0; a < n; a++) {
        float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
        uint32_t q = first[a];
        const uint32_t to = first[a + 1];
        for (; q + 4 <= to; q += 4) {
            s0 += p[q] * m[place[q]];
            s1 += p[q + 1] * m[place[q + 1]];
            s2 += p[q + 2] * m[place[q + 2]];
            s3 += p[q + 3] * m[place[q + 3]];
        }
        for (; q < to; q++)
            s0 += p[q] * m[place[q]];
        before[a] += (s0 + s1) + (s2 + s3);
    }
}

TRL_INLINE float sum_of(const v16 *v)
{
    const float *x = (const float *)v;
    const v8 a = *(const v8 *)x + *(const v8 *)(x + 8);
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

TRL_CLONES void trl_outer_back(const trl_outer *o, const float *l, const float *r, float *ol,
                               float *or_)
{
    const size_t stride = o->stride;
    for (size_t k = 0; k < o->n_rows; k++) {
        const size_t b = o->row[k];
        const float x = l[b] * o->f;
        if (x == 0.0f)
            continue; /* an absent child needs no outside */
        const float *row = o->m + b * stride;
        v16 sum = {0};
        for (size_t c = 0; c < stride; c += 16) {
            const v16 y = *(const v16 *)(row + c);
            sum += y * *(const v16 *)(r + c);
            *(v16 *)(or_ + c) += x * y;
        }
        ol[b] += o->f * sum_of(&sum);
    }
}
