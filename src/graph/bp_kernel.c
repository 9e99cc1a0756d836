/* bp_kernel.c -- message rows in vector lanes; narrow ones with loops of fixed length. */
/* SPDX-License-Identifier: MIT */
#include "graph/bp_kernel.h"

#include <math.h>

#define TINY 1e-250 /* entries far below it count as 0 when changes are measured */

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

/* Columns [0, 8 NV); two sets of accumulators hide the latency of the adds. */
TRL_INLINE void pair_block(const bool maximise, const size_t NV, size_t n, size_t width,
                           const double *x, const double *M, double *y)
{
    trl_v8 a[4], b[4];
    for (size_t k = 0; k < NV; k++)
        a[k] = b[k] = (trl_v8){0};
    size_t i = 0;
    for (; i + 2 <= n; i += 2, M += 2 * width)
        for (size_t k = 0; k < NV; k++) {
            gather_product(maximise, &a[k], x[i] * *(const trl_v8 *)(M + 8 * k));
            gather_product(maximise, &b[k], x[i + 1] * *(const trl_v8 *)(M + width + 8 * k));
        }
    for (size_t k = 0; k < NV; k++) {
        if (i < n)
            gather_product(maximise, &a[k], x[i] * *(const trl_v8 *)(M + 8 * k));
        gather_product(maximise, &a[k], b[k]);
        *(trl_v8 *)(y + 8 * k) = a[k];
    }
}

TRL_INLINE void pair_wide(const bool maximise, size_t n, size_t width, const double *x,
                          const double *M, double *y)
{
    size_t j = 0;
    for (; j + 24 <= width; j += 24)
        pair_block(maximise, 3, n, width, x, M + j, y + j);
    if (width - j == 16)
        pair_block(maximise, 2, n, width, x, M + j, y + j);
    else if (width - j == 8)
        pair_block(maximise, 1, n, width, x, M + j, y + j);
}

TRL_INLINE void pair_any(const bool maximise, size_t n, size_t width, const double *x,
                         const double *M, double *y)
{
    if (width >= 8)
        pair_wide(maximise, n, width, x, M, y);
    else if (width == 4)
        pair_narrow(maximise, 4, n, x, M, y);
    else if (width == 2 && n == 2)
        pair_narrow(maximise, 2, 2, x, M, y);
    else if (width == 2)
        pair_narrow(maximise, 2, n, x, M, y);
    else
        pair_narrow(maximise, 1, n, x, M, y);
}

TRL_CLONES void trl_bp_pair(bool maximise, size_t n, size_t width, const double *x, const double *M,
                            double *y)
{
    if (maximise)
        pair_any(true, n, width, x, M, y);
    else
        pair_any(false, n, width, x, M, y);
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
        d[j] = fabs(p[j] - old[j]) / (p[j] + old[j] + TINY);
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

TRL_INLINE double norm_lanes(const bool maximise, size_t width, double small, double *y,
                             const double *old, lanes *l)
{
    trl_v8 acc = {0};
    for (size_t j = 0; j < width; j += 8)
        if (maximise)
            max_into(&acc, *(const trl_v8 *)(y + j));
        else
            acc += *(const trl_v8 *)(y + j);
    const double norm = maximise ? lane_max(&acc) : lane_sum(&acc);
    if (!(norm > small && norm < HUGE_VAL))
        return norm;
    const double c = 1.0 / norm;
    for (size_t j = 0; j < width; j += 8) {
        const trl_v8 v = *(const trl_v8 *)(y + j) * c, w = *(const trl_v8 *)(old + j);
        trl_v8 d = v - w;
        max_into(&d, w - v);
        const trl_v8 sum = v + w + TINY;
        const trl_v8i larger = d * l->below > l->above * sum;
        *(trl_v8 *)(y + j) = v;
        l->above = (trl_v8)((larger & (trl_v8i)d) | (~larger & (trl_v8i)l->above));
        l->below = (trl_v8)((larger & (trl_v8i)sum) | (~larger & (trl_v8i)l->below));
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

TRL_INLINE double norm_any(const bool maximise, size_t width, double small, double *y,
                           const double *old, double *change)
{
    return width >= 8   ? norm_wide(maximise, width, small, y, old, change)
           : width == 4 ? norm_narrow(maximise, 4, small, y, old, change)
           : width == 2 ? norm_narrow(maximise, 2, small, y, old, change)
                        : norm_narrow(maximise, 1, small, y, old, change);
}

TRL_CLONES double trl_bp_norm(bool maximise, size_t width, double small, double *y,
                              const double *old, double *change)
{
    return maximise ? norm_any(true, width, small, y, old, change)
                    : norm_any(false, width, small, y, old, change);
}

/* ---- products -------------------------------------------------------------------------------- */

TRL_INLINE void product_narrow(const size_t W, const trl_bp_rows *r, uint32_t skip, double *out)
{
    double p[4];
    for (size_t j = 0; j < W; j++)
        p[j] = r->node[j];
    for (size_t k = 0; k < r->n; k++) {
        if (r->link[k] == skip)
            continue;
        const double *row = r->base + r->at[r->link[k]];
        for (size_t j = 0; j < W; j++)
            p[j] *= row[j];
    }
    for (size_t j = 0; j < W; j++)
        out[j] = p[j];
}

TRL_INLINE void product_wide(const trl_bp_rows *r, uint32_t skip, double *out)
{
    for (size_t j = 0; j < r->width; j += 8) {
        trl_v8 p = *(const trl_v8 *)(r->node + j);
        for (size_t k = 0; k < r->n; k++)
            if (r->link[k] != skip)
                p *= *(const trl_v8 *)(r->base + r->at[r->link[k]] + j);
        *(trl_v8 *)(out + j) = p;
    }
}

TRL_INLINE void product_any(const trl_bp_rows *r, uint32_t skip, double *out)
{
    if (r->width >= 8)
        product_wide(r, skip, out);
    else if (r->width == 4)
        product_narrow(4, r, skip, out);
    else if (r->width == 2)
        product_narrow(2, r, skip, out);
    else
        product_narrow(1, r, skip, out);
}

TRL_CLONES void trl_bp_product(const trl_bp_rows *r, uint32_t skip, double *out)
{
    product_any(r, skip, out);
}

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

TRL_CLONES void trl_bp_products(const trl_bp_rows *r, double *out)
{
    products_any(r, out);
}

TRL_CLONES void trl_bp_fold_last(bool maximise, size_t rows, size_t n, const double *T,
                                 const double *x, double *out)
{
    for (size_t i = 0; i < rows; i++, T += n) {
        double acc = 0.0;
        for (size_t j = 0; j < n; j++) {
            const double p = T[j] * x[j];
            acc = !maximise ? acc + p : p > acc ? p : acc;
        }
        out[i] = acc;
    }
}

TRL_CLONES void trl_bp_fold_first(bool maximise, size_t n, size_t rest, const double *x,
                                  const double *T, double *out)
{
    for (size_t j = 0; j < rest; j++)
        out[j] = 0.0;
    for (size_t i = 0; i < n; i++, T += rest)
        if (maximise)
            for (size_t j = 0; j < rest; j++)
                out[j] = x[i] * T[j] > out[j] ? x[i] * T[j] : out[j];
        else
            for (size_t j = 0; j < rest; j++)
                out[j] += x[i] * T[j];
}

/* Made of the kernels above: inlined once more for every machine they took half of the time that
 * this file takes to compile, and nothing was faster for it. */
double trl_bp_pass(bool maximise, size_t n, size_t width, const double *x, const double *M,
                   double small, const double *old, double *fresh, double *change)
{
    trl_bp_pair(maximise, n, width, x, M, fresh);
    return trl_bp_norm(maximise, width, small, fresh, old, change);
}

double trl_bp_through(bool maximise, const trl_bp_rows *r, uint32_t skip, size_t n, size_t width,
                      const double *M, double small, const double *old, double *scratch,
                      double *fresh, double *change)
{
    trl_bp_product(r, skip, scratch);
    return trl_bp_pass(maximise, n, width, scratch, M, small, old, fresh, change);
}

/* ---- a sweep of pairs ------------------------------------------------------------------------ */

/* Changes of wide rows stay in the lanes, those of narrow ones go to *change. */
TRL_INLINE double flood_message(const bool maximise, const trl_bp_sweep *s, size_t e, size_t o,
                                lanes *l, double *change)
{
    const size_t width = s->at[e + 1] - s->at[e], labels = s->labels[s->scope[o]];
    double fresh[TRL_BP_FRESH], *m = s->m + s->at[e], moved = 0.0, norm;
    if (width >= 8) {
        pair_wide(maximise, labels, width, s->n + s->at[o], s->matrix[e], fresh);
        norm = norm_lanes(maximise, width, s->small, fresh, m, l);
        for (size_t j = 0; j < width; j += 8)
            *(trl_v8 *)(m + j) = *(const trl_v8 *)(fresh + j);
        return norm;
    }
    if (width == 2 && labels == 2) {
        pair_narrow(maximise, 2, 2, s->n + s->at[o], s->matrix[e], fresh);
        norm = norm_narrow(maximise, 2, s->small, fresh, m, &moved);
    } else {
        pair_any(maximise, labels, width, s->n + s->at[o], s->matrix[e], fresh);
        norm = norm_any(maximise, width, s->small, fresh, m, &moved);
    }
    *change = moved > *change ? moved : *change;
    for (size_t j = 0; j < width; j++)
        m[j] = fresh[j];
    return norm;
}

TRL_INLINE bool flood(const bool maximise, const trl_bp_sweep *s, double *change)
{
    lanes l = {{0}, {0}};
    l.below += 1.0;
    for (size_t a = s->from; a < s->to; a++) {
        const size_t e = s->scope_at[a];
        const double x = flood_message(maximise, s, e, e + 1, &l, change);
        const double y = flood_message(maximise, s, e + 1, e, &l, change);
        if (!(x > s->small && x < HUGE_VAL && y > s->small && y < HUGE_VAL))
            return false;
    }
    const double wide = largest_of(&l);
    *change = wide > *change ? wide : *change;
    return true;
}

TRL_CLONES bool trl_bp_flood_pairs(const trl_bp_sweep *s, double *change)
{
    return s->maximise ? flood(true, s, change) : flood(false, s, change);
}

#define AHEAD 2   /* links whose matrices are asked for early: they are scattered over memory */
#define EARLY 256 /* numbers of a matrix; the rest follows by itself */

/* The edge at the other end of link k's pair, or UINT32_MAX. */
TRL_INLINE uint32_t other_end(const trl_bp_sweep *s, const trl_bp_rows *r,
                              const uint32_t *edge_factor, uint32_t skip, size_t k)
{
    const size_t f = r->link[k], first = s->scope_at[edge_factor[f]];
    return f == skip || s->scope_at[edge_factor[f] + 1] - first != 2
               ? UINT32_MAX
               : (uint32_t)(2 * first + 1 - f);
}

TRL_INLINE void ask_for(const trl_bp_sweep *s, size_t e, size_t labels)
{
    const size_t n = labels * (s->at[e + 1] - s->at[e]);
    for (size_t i = 0; i < n && i < EARLY; i += 8)
        __builtin_prefetch(s->matrix[e] + i);
    __builtin_prefetch(s->m + s->at[e]);
}

TRL_INLINE bool refresh(const bool maximise, const trl_bp_sweep *s, const trl_bp_rows *r,
                        const uint32_t *edge_factor, uint32_t skip, double *change)
{
    bool good = true;
    for (size_t k = 0; k < r->n && k < AHEAD; k++) {
        const uint32_t e = other_end(s, r, edge_factor, skip, k);
        if (e != UINT32_MAX)
            ask_for(s, e, s->labels[s->scope[r->link[k]]]);
    }
    products_any(r, s->n);
    for (size_t k = 0; k < r->n; k++) {
        const size_t f = r->link[k];
        const uint32_t e = other_end(s, r, edge_factor, skip, k);
        const uint32_t later =
            k + AHEAD < r->n ? other_end(s, r, edge_factor, skip, k + AHEAD) : UINT32_MAX;
        if (later != UINT32_MAX)
            ask_for(s, later, s->labels[s->scope[r->link[k + AHEAD]]]);
        change[k] = -1.0;
        if (e == UINT32_MAX)
            continue;
        const size_t width = s->at[e + 1] - s->at[e];
        double *fresh = s->ready + s->at[e];
        pair_any(maximise, s->labels[s->scope[f]], width, s->n + s->at[f], s->matrix[e], fresh);
        const double norm = norm_any(maximise, width, s->small, fresh, s->m + s->at[e], &change[k]);
        good = good && norm > s->small && norm < HUGE_VAL;
    }
    return good;
}

TRL_CLONES bool trl_bp_refresh(const trl_bp_sweep *s, const trl_bp_rows *r,
                               const uint32_t *edge_factor, uint32_t skip, double *change)
{
    return s->maximise ? refresh(true, s, r, edge_factor, skip, change)
                       : refresh(false, s, r, edge_factor, skip, change);
}
