/* mest_kernel.c -- sums over indexed elements, in eight lanes: the additions of one lane wait for
 * each other, loads that miss the cache do not. */
/* SPDX-License-Identifier: MIT */
#include "mest/mest_kernel.h"

#include "num/simd.h"

double trl_indexed_sum(size_t n, const uint32_t *index, const double *x)
{
    double s[TRL_LANES] = {0.0};
    size_t k = 0;
    for (; k + TRL_LANES <= n; k += TRL_LANES)
        for (size_t i = 0; i < TRL_LANES; i++)
            s[i] += x[index[k + i]];
    for (size_t i = 0; k + i < n; i++)
        s[i] += x[index[k + i]];
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

double trl_indexed_dot(size_t n, const uint32_t *index, const double *value, const double *x)
{
    double s[TRL_LANES] = {0.0};
    size_t k = 0;
    for (; k + TRL_LANES <= n; k += TRL_LANES)
        for (size_t i = 0; i < TRL_LANES; i++)
            s[i] += value[k + i] * x[index[k + i]];
    for (size_t i = 0; k + i < n; i++)
        s[i] += value[k + i] * x[index[k + i]];
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

void trl_indexed_add(size_t n, const uint32_t *index, double a, double *x)
{
    for (size_t k = 0; k < n; k++)
        x[index[k]] += a;
}

void trl_indexed_axpy(size_t n, const uint32_t *index, const double *value, double a, double *x)
{
    for (size_t k = 0; k < n; k++)
        x[index[k]] += a * value[k];
}
