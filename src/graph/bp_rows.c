/* bp_rows.c -- beliefs of pairs, and what else is done to single rows of messages. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "graph/bp_kernel.h"
#include "num/vexp.h"

/* ---- beliefs --------------------------------------------------------------------------------- */

/* Whole vectors: what runs over the end of a row is the beginning of the next one, written later.
 */
TRL_INLINE void belief_wide(const trl_bp_pair_rows p, double c, double *out)
{
    const size_t width = trl_padded(p.k), stride = trl_matrix_stride(p.k);
    const double *M = p.M;
    for (size_t i = 0; i + 1 < p.n; i++, M += stride, out += p.k)
        for (size_t j = 0; j < width; j += 8)
            *(trl_v8 *)(out + j) =
                p.x[i] * c * *(const trl_v8 *)(M + j) * *(const trl_v8 *)(p.y + j);
    for (size_t j = 0; j < p.k; j++)
        out[j] = p.x[p.n - 1] * c * M[j] * p.y[j];
}

TRL_INLINE void belief_narrow(const size_t W, const trl_bp_pair_rows p, double c, double *out)
{
    for (size_t i = 0; i < p.n; i++)
        for (size_t j = 0; j < p.k; j++)
            out[i * p.k + j] = p.x[i] * c * p.M[i * W + j] * p.y[j];
}

TRL_CLONES double trl_bp_pair_belief(const trl_bp_pair_rows *pair, double small, double *scratch,
                                     double *out)
{
    const trl_bp_pair_rows p = *pair; /* a copy, which `out` cannot overlap */
    const size_t k = p.k;
    double Z = 0.0;
    trl_bp_pair(false, p.n, k, p.x, p.M, scratch);
    for (size_t j = 0; j < k; j++)
        Z += scratch[j] * p.y[j];
    if (!(Z > small && Z < HUGE_VAL))
        return Z;
    if (k >= 8)
        belief_wide(p, 1.0 / Z, out);
    else
        belief_narrow(trl_matrix_stride(k), p, 1.0 / Z, out);
    return Z;
}

TRL_CLONES void trl_bp_ratio(size_t n, const double *restrict above, const double *restrict below,
                             double *restrict out)
{
    for (size_t j = 0; j < n; j++) {
        const double product = below[j] > 0.0 ? out[j] * above[j] : 0.0;
        out[j] = product / (below[j] > 0.0 ? below[j] : 1.0);
    }
}

TRL_CLONES double trl_bp_extremes(size_t n, const double *x, double *min)
{
    const trl_v8 none = (trl_v8){0} + HUGE_VAL;
    trl_v8 hi = -none, lo = none;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const trl_v8 v = *(const trl_v8 *)(x + i);
        const trl_v8 finite = trl_v8_select(v > -HUGE_VAL, v, none);
        hi = trl_v8_select(v > hi, v, hi);
        lo = trl_v8_select(finite < lo, finite, lo);
    }
    double max = -HUGE_VAL, low = HUGE_VAL;
    for (size_t k = 0; k < 8; k++) {
        max = hi[k] > max ? hi[k] : max;
        low = lo[k] < low ? lo[k] : low;
    }
    for (; i < n; i++) {
        max = x[i] > max ? x[i] : max;
        low = x[i] < low && x[i] > -HUGE_VAL ? x[i] : low;
    }
    *min = low;
    return max;
}
