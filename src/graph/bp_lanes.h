/* bp_lanes.h -- message rows in vector lanes; narrow ones with loops of fixed length.  Inlined,
 * once for every machine, into the kernels of bp_kernel.c and bp_sweep_kernel.c.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BP_LANES_H
#define TRL_BP_LANES_H

#include <math.h>

#include "graph/bp_kernel.h"

#define TRL_BP_TINY 1e-250 /* entries far below it count as 0 when changes are measured */

TRL_INLINE void max_into(trl_v8 *best, trl_v8 x)
{
    const trl_v8i larger = x > *best;
    *best = (trl_v8)((larger & (trl_v8i)x) | (~larger & (trl_v8i)*best));
}

/* ---- matrix-vector products ------------------------------------------------------------------ */

TRL_INLINE double gather_number(const bool maximise, double acc, double p)
{
    return !maximise ? acc + p : p > acc ? p : acc;
}

/* Four sets of accumulators, for the latency of the adds; one when there are few rows. */
TRL_INLINE void pair_narrow(const bool maximise, const size_t W, size_t n, const double *x,
                            const double *M, double *y)
{
    double acc[4][4] = {{0}};
    size_t i = 0;
    for (; n > 4 && i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++)
            for (size_t j = 0; j < W; j++)
                acc[k][j] = gather_number(maximise, acc[k][j], x[i + k] * M[(i + k) * W + j]);
    for (; i < n; i++)
        for (size_t j = 0; j < W; j++)
            acc[0][j] = gather_number(maximise, acc[0][j], x[i] * M[i * W + j]);
    for (size_t k = 1; n > 4 && k < 4; k++)
        for (size_t j = 0; j < W; j++)
            acc[0][j] = gather_number(maximise, acc[0][j], acc[k][j]);
    for (size_t j = 0; j < W; j++)
        y[j] = acc[0][j];
}

TRL_INLINE void gather_product(const bool maximise, trl_v8 *acc, trl_v8 p)
{
    if (maximise)
        max_into(acc, p);
    else
        *acc += p;
}

/* A row x of n numbers, and the matrix M that it goes through. */
typedef struct source {
    size_t n, columns, stride;
    const double *x, *M;
} source;

TRL_INLINE source source_of(size_t n, size_t columns, const double *x, const double *M)
{
    return (source){n, columns, trl_matrix_stride(columns), x, M};
}

/* NV vectors of columns from `from` on, those after the last column 0; two sets of accumulators
 * hide the latency of the adds. */
TRL_INLINE void pair_sums(const bool maximise, const size_t NV, const source *s, size_t from,
                          trl_v8 *a)
{
    const size_t n = s->n, stride = s->stride;
    const double *x = s->x, *M = s->M + from;
    const trl_v8i lane = {0, 1, 2, 3, 4, 5, 6, 7};
    const trl_v8i counts = lane < (int64_t)s->columns - (int64_t)(from + 8 * NV - 8);
    trl_v8 b[4];
    for (size_t k = 0; k < NV; k++)
        a[k] = b[k] = (trl_v8){0};
    size_t i = 0;
    for (; i + 2 <= n; i += 2, M += 2 * stride)
        for (size_t k = 0; k < NV; k++) {
            gather_product(maximise, &a[k], x[i] * *(const trl_v8 *)(M + 8 * k));
            gather_product(maximise, &b[k], x[i + 1] * *(const trl_v8 *)(M + stride + 8 * k));
        }
    for (size_t k = 0; k < NV; k++) {
        if (i < n)
            gather_product(maximise, &a[k], x[i] * *(const trl_v8 *)(M + 8 * k));
        gather_product(maximise, &a[k], b[k]);
    }
    a[NV - 1] = (trl_v8)((trl_v8i)a[NV - 1] & counts);
}

TRL_INLINE void pair_block(const bool maximise, const size_t NV, const source *s, size_t from,
                           double *y)
{
    trl_v8 a[4];
    pair_sums(maximise, NV, s, from, a);
    for (size_t k = 0; k < NV; k++)
        *(trl_v8 *)(y + from + 8 * k) = a[k];
}

TRL_INLINE void pair_wide(const bool maximise, size_t width, const source *s, double *y)
{
    size_t j = 0;
    for (; j + 24 <= width; j += 24)
        pair_block(maximise, 3, s, j, y);
    if (width - j == 16)
        pair_block(maximise, 2, s, j, y);
    else if (width - j == 8)
        pair_block(maximise, 1, s, j, y);
}

TRL_INLINE void pair_some(const bool maximise, size_t n, size_t width, const double *x,
                          const double *M, double *y)
{
    if (width == 4)
        pair_narrow(maximise, 4, n, x, M, y);
    else if (width == 2 && n == 2)
        pair_narrow(maximise, 2, 2, x, M, y);
    else if (width == 2)
        pair_narrow(maximise, 2, n, x, M, y);
    else
        pair_narrow(maximise, 1, n, x, M, y);
}

TRL_INLINE void pair_any(const bool maximise, size_t width, const source *s, double *y)
{
    if (width >= 8)
        pair_wide(maximise, width, s, y);
    else
        pair_some(maximise, s->n, width, s->x, s->M, y);
}

/* ---- norms ----------------------------------------------------------------------------------- */

TRL_INLINE double norm_narrow(const bool maximise, const size_t W, double small, double *y,
                              const double *old, double *change)
{
    double norm = 0.0, p[4], d[4], largest = 0.0;
    for (size_t j = 0; j < W; j++)
        norm = !maximise ? norm + y[j] : y[j] > norm ? y[j] : norm;
    if (!(norm > small && norm < HUGE_VAL))
        return norm;
    const double c = 1.0 / norm;
    for (size_t j = 0; j < W; j++)
        p[j] = y[j] * c;
    for (size_t j = 0; j < W; j++)
        d[j] = fabs(p[j] - old[j]) / (p[j] + old[j] + TRL_BP_TINY);
    for (size_t j = 0; j < W; j++) {
        y[j] = p[j];
        largest = d[j] > largest ? d[j] : largest;
    }
    *change = largest;
    return norm;
}

/* Of all lanes, by halves: the compiler would extract them one by one. */
TRL_INLINE double lane_max(const trl_v8 *x)
{
    trl_v8 v = *x;
    max_into(&v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
    max_into(&v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
    return v[0] > v[1] ? v[0] : v[1];
}

TRL_INLINE double lane_sum(const trl_v8 *x)
{
    trl_v8 v = *x;
    v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
    v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5);
    return v[0] + v[1];
}

/* Each lane's largest |p - q| / (p + q) so far, as a fraction: a / b > c / d where a d > c b. */
typedef struct lanes {
    trl_v8 above, below;
} lanes;

TRL_INLINE double largest_of(lanes *l)
{
    l->above /= l->below;
    return lane_max(&l->above);
}

TRL_INLINE void compare_lanes(const trl_v8 *now, const double *old, lanes *l)
{
    const trl_v8 v = *now, w = *(const trl_v8 *)old;
    trl_v8 d = v - w;
    max_into(&d, w - v);
    const trl_v8 sum = v + w + TRL_BP_TINY;
    const trl_v8i larger = d * l->below > l->above * sum;
    l->above = (trl_v8)((larger & (trl_v8i)d) | (~larger & (trl_v8i)l->above));
    l->below = (trl_v8)((larger & (trl_v8i)sum) | (~larger & (trl_v8i)l->below));
}

TRL_INLINE double norm_lanes(const bool maximise, size_t width, double small, double *y,
                             const double *old, lanes *l)
{
    trl_v8 acc = {0};
    for (size_t j = 0; j < width; j += 8)
        gather_product(maximise, &acc, *(const trl_v8 *)(y + j));
    const double norm = maximise ? lane_max(&acc) : lane_sum(&acc);
    if (!(norm > small && norm < HUGE_VAL))
        return norm;
    const double c = 1.0 / norm;
    for (size_t j = 0; j < width; j += 8) {
        const trl_v8 v = *(const trl_v8 *)(y + j) * c;
        compare_lanes(&v, old + j, l);
        *(trl_v8 *)(y + j) = v;
    }
    return norm;
}

/* Where a message is and where the new one goes, which may be the same place; a norm that is not
 * above `small` leaves it undefined. */
typedef struct target {
    double small;
    const double *old;
    double *fresh;
} target;

/* pair_block and norm_lanes of NV vectors that stay in registers. */
TRL_INLINE double pass_block(const bool maximise, const size_t NV, const source *s, const target *t,
                             lanes *l)
{
    trl_v8 a[4], acc = {0};
    pair_sums(maximise, NV, s, 0, a);
    for (size_t k = 0; k < NV; k++)
        gather_product(maximise, &acc, a[k]);
    const double norm = maximise ? lane_max(&acc) : lane_sum(&acc);
    const double c = norm > t->small && norm < HUGE_VAL ? 1.0 / norm : 1.0;
    for (size_t k = 0; k < NV; k++) {
        const trl_v8 v = a[k] * c;
        compare_lanes(&v, t->old + 8 * k, l);
        *(trl_v8 *)(t->fresh + 8 * k) = v;
    }
    return norm;
}

TRL_INLINE double norm_wide(const bool maximise, size_t width, double small, double *y,
                            const double *old, double *change)
{
    lanes l = {{0}, {0}};
    l.below += 1.0;
    const double norm = norm_lanes(maximise, width, small, y, old, &l);
    if (norm > small && norm < HUGE_VAL)
        *change = largest_of(&l);
    return norm;
}

TRL_INLINE double norm_some(const bool maximise, size_t width, double small, double *y,
                            const double *old, double *change)
{
    return width == 4   ? norm_narrow(maximise, 4, small, y, old, change)
           : width == 2 ? norm_narrow(maximise, 2, small, y, old, change)
                        : norm_narrow(maximise, 1, small, y, old, change);
}

TRL_INLINE double norm_any(const bool maximise, size_t width, double small, double *y,
                           const double *old, double *change)
{
    return width >= 8 ? norm_wide(maximise, width, small, y, old, change)
                      : norm_some(maximise, width, small, y, old, change);
}

/* A message of at least eight numbers; its change goes to the lanes.  Long rows are worth a call:
 * inlined here, too, they would be half of the library's kernels for graphs. */
TRL_INLINE double pass_wide(const bool maximise, size_t width, const source *s, const target *t,
                            lanes *l)
{
    if (width == 8)
        return pass_block(maximise, 1, s, t, l);
    if (width == 16)
        return pass_block(maximise, 2, s, t, l);
    if (width == 24)
        return pass_block(maximise, 3, s, t, l);
    double y[TRL_BP_FRESH], *to = t->fresh == t->old ? y : t->fresh, change = 0.0;
    const double norm =
        trl_bp_pass(maximise, s->n, s->columns, s->x, s->M, t->small, t->old, to, &change);
    if (change * l->below[0] > l->above[0]) {
        l->above[0] = change;
        l->below[0] = 1.0;
    }
    for (size_t j = 0; to == y && j < width; j += 8)
        *(trl_v8 *)(t->fresh + j) = *(const trl_v8 *)(y + j);
    return norm;
}

/* ---- products -------------------------------------------------------------------------------- */

/* Those before a link, into its place; then times those after it. */
TRL_INLINE void products_chunk(const size_t W, const trl_bp_rows *r, size_t from, double *out)
{
    double p[4];
    for (size_t j = 0; j < W; j++)
        p[j] = r->node[from + j];
    for (size_t k = 0; k < r->n; k++) {
        const size_t at = r->at[r->link[k]] + from;
        for (size_t j = 0; j < W; j++) {
            out[at + j] = p[j];
            p[j] *= r->base[at + j];
        }
    }
    for (size_t j = 0; j < W; j++)
        p[j] = 1.0;
    for (size_t k = r->n; k-- > 0;) {
        const size_t at = r->at[r->link[k]] + from;
        for (size_t j = 0; j < W; j++) {
            out[at + j] *= p[j];
            p[j] *= r->base[at + j];
        }
    }
}

TRL_INLINE void products_wide(const trl_bp_rows *r, size_t from, double *out)
{
    trl_v8 p = *(const trl_v8 *)(r->node + from);
    for (size_t k = 0; k < r->n; k++) {
        const size_t at = r->at[r->link[k]] + from;
        *(trl_v8 *)(out + at) = p;
        p *= *(const trl_v8 *)(r->base + at);
    }
    if (r->n < 2)
        return;
    p = *(const trl_v8 *)(r->base + r->at[r->link[r->n - 1]] + from);
    for (size_t k = r->n - 1; k-- > 0;) {
        const size_t at = r->at[r->link[k]] + from;
        *(trl_v8 *)(out + at) *= p;
        p *= *(const trl_v8 *)(r->base + at);
    }
}

TRL_INLINE void products_any(const trl_bp_rows *r, double *out)
{
    if (r->width == 2)
        products_chunk(2, r, 0, out);
    else if (r->width == 4)
        products_chunk(4, r, 0, out);
    else if (r->width == 1)
        products_chunk(1, r, 0, out);
    else
        for (size_t j = 0; j < r->width; j += 8)
            products_wide(r, j, out);
}

#endif
