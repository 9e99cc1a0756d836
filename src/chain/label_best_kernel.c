/* label_best_kernel.c -- one step from one state of the product, all labels at once. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "chain/label_best.h"
#include "num/simd.h"

/* gcc 12 takes comparisons of 64-byte vectors apart where the machine has 32 bytes. */
typedef double v4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t v4i __attribute__((vector_size(32), aligned(8), may_alias));

TRL_INLINE v4 larger(v4 a, v4 b)
{
    const v4i better = a > b;
    return (v4)((better & (v4i)a) | (~better & (v4i)b));
}

/* out[0 .. 4 N) for the n labels i of the list, N at most 8. */
TRL_INLINE void reach_columns(size_t N, size_t n, const uint32_t *list, size_t step,
                              const double *D, const double *edge, double *out)
{
    v4 best[8];
    for (size_t v = 0; v < N; v++)
        best[v] = (v4){0} - HUGE_VAL;
    for (size_t k = 0; k < n; k++) {
        const double d = D[list[k]];
        const double *row = edge + list[k] * step;
        for (size_t v = 0; v < N; v++)
            best[v] = larger(d + *(const v4 *)(row + 4 * v), best[v]);
    }
    for (size_t v = 0; v < N; v++)
        *(v4 *)(out + 4 * v) = best[v];
}

TRL_CLONES void trl_best_reach(size_t n, const uint32_t *list, size_t step, const double *D,
                               const double *edge, double *out)
{
    size_t j = 0;
    for (; j + 32 <= step; j += 32)
        reach_columns(8, n, list, step, D, edge + j, out + j);
    if (step - j == 24)
        reach_columns(6, n, list, step, D, edge + j, out + j);
    else if (step - j == 16)
        reach_columns(4, n, list, step, D, edge + j, out + j);
    else if (step - j == 8)
        reach_columns(2, n, list, step, D, edge + j, out + j);
}

TRL_CLONES void trl_best_spread(size_t step, const double *reached, const double *node, double *to)
{
    for (size_t j = 0; j < step; j += 4) {
        const v4 score = *(const v4 *)(reached + j) + *(const v4 *)(node + j);
        *(v4 *)(to + j) = larger(score, *(const v4 *)(to + j));
    }
}
