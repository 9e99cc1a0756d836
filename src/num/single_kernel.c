/* single_kernel.c -- forward-backward in floats, blocked for registers. */
/* SPDX-License-Identifier: MIT */
#include "num/single_kernel.h"

#include <math.h>
#include <string.h>

/* Vectors of 32 bytes and not 64 as elsewhere, doubles too: gcc 12 keeps these in registers without
 * AVX-512, and machines with AVX-512 have two such units or split the wide ones. */
typedef float v8f __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t v8u __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t v8s __attribute__((vector_size(32), aligned(4), may_alias));
typedef float v4f __attribute__((vector_size(16), aligned(4), may_alias));
typedef double v4d __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t v4s __attribute__((vector_size(32), aligned(8), may_alias));

TRL_INLINE float sum8(v8f v)
{
    const v4f low = __builtin_shufflevector(v, v, 0, 1, 2, 3);
    const v4f a = low + __builtin_shufflevector(v, v, 4, 5, 6, 7);
    const v4f b = a + __builtin_shufflevector(a, a, 2, 3, 0, 1);
    return b[0] + b[1];
}

/* ---- exponentials ---------------------------------------------------------------------------- */

/* exp(x) = 2^k exp(r) as in trl_v8_exp, x and the reduction in double, so that a large x loses
 * nothing; then a polynomial of degree 6 (relative error 2^-28 before its coefficients are rounded)
 * in single.  The low halves of `shifted` hold k + 127, which becomes 2^k.  It is multiplied in,
 * not added to the exponent, so that a NaN stays one. */
TRL_INLINE v8f exp8(v4d x0, v4d x1)
{
    const v4d magic = (v4d){0} + (0x1.8p52 + 127.0);
    const v4d shifted0 = x0 * 0x1.71547652b82fep+0 + magic;
    const v4d shifted1 = x1 * 0x1.71547652b82fep+0 + magic;
    const v4d r0 = x0 - (shifted0 - magic) * 0x1.62e42fefa39efp-1;
    const v4d r1 = x1 - (shifted1 - magic) * 0x1.62e42fefa39efp-1;
    const v4f a = __builtin_convertvector(r0, v4f), b = __builtin_convertvector(r1, v4f);
    const v8f r = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7), r2 = r * r;
    const v8u k = __builtin_shufflevector((v8u)shifted0, (v8u)shifted1, 0, 2, 4, 6, 8, 10, 12, 14);
    const v8f p23 = r * 0x1.555492p-3f + 0x1.fffffcp-2f;
    const v8f p45 = r * 0x1.1239e2p-7f + 0x1.5558f2p-5f;
    const v8f p = ((r2 * 0x1.6a2434p-10f + p45) * r2 + p23) * r2 + r + 1.0f;
    return p * (v8f)(k << 23);
}

/* mask ? a : b; the comparison must stand in the call (trl_v8_select). */
TRL_INLINE v4d select4(v4s mask, v4d a, v4d b)
{
    return (v4d)((mask & (v4s)a) | (~mask & (v4s)b));
}

TRL_INLINE double max_of(v4d v)
{
    const double x = v[2] > v[0] ? v[2] : v[0], y = v[3] > v[1] ? v[3] : v[1];
    return y > x ? y : x;
}

/* Loaded from lane_mask + 8 - k, lanes below k are all ones. */
static const int64_t lane_mask[2 * TRL_LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};

typedef struct tail { /* lanes of a row's last vectors that count */
    size_t whole;     /* elements before */
    v4s keep0, keep1;
    v8s keep;
} tail;

TRL_INLINE tail tail_of(size_t n)
{
    const size_t whole = n & ~(size_t)(TRL_LANES - 1);
    const int64_t *mask = lane_mask + TRL_LANES - (n - whole);
    tail e = {.whole = whole, .keep0 = *(const v4s *)mask, .keep1 = *(const v4s *)(mask + 4)};
    for (size_t k = 0; k < TRL_LANES; k++)
        e.keep[k] = (int32_t)mask[k];
    return e;
}

TRL_INLINE double row_max(size_t n, const tail *e, const double *x)
{
    const v4d first = (v4d){0} + x[0];
    v4d hi0 = first, hi1 = first;
    for (size_t i = 0; i < n; i += TRL_LANES) {
        v4d a = *(const v4d *)(x + i), b = *(const v4d *)(x + i + 4);
        if (i == e->whole) {
            a = select4(e->keep0, a, first);
            b = select4(e->keep1, b, first);
        }
        hi0 = select4(a > hi0, a, hi0);
        hi1 = select4(b > hi1, b, hi1);
    }
    return max_of(select4(hi1 > hi0, hi1, hi0));
}

/* All maxima first, stored at the beginning of their psi rows: maxima of different rows are
 * independent of each other, whereas a row's exponentials would wait for its own maximum. */
TRL_CLONES double trl_single_exp_rows(size_t T, size_t n, const double *x, size_t step, float *psi,
                                      double *low)
{
    const size_t stride = trl_padded(n);
    const tail e = tail_of(n);
    double shift = 0.0;
    v4d low0 = {0}, low1 = {0};
    for (size_t t = 0; t < T; t++) {
        const double max = row_max(n, &e, x + t * step);
        memcpy(psi + t * stride, &max, sizeof max);
        shift += max;
    }
    for (size_t t = 0; t < T; t++, x += step, psi += stride) {
        double max;
        memcpy(&max, psi, sizeof max);
        for (size_t i = 0; i < n; i += TRL_LANES) {
            v4d a = *(const v4d *)(x + i) - max, b = *(const v4d *)(x + i + 4) - max;
            if (i == e.whole) {
                a = (v4d)(e.keep0 & (v4s)a);
                b = (v4d)(e.keep1 & (v4s)b);
            }
            low0 = select4(a < low0, a, low0);
            low1 = select4(b < low1, b, low1);
            v8f y = exp8(a, b);
            if (i == e.whole)
                y = (v8f)(e.keep & (v8s)y);
            *(v8f *)(psi + i) = y;
        }
    }
    *low = -max_of(-select4(low1 < low0, low1, low0));
    return shift;
}

/* ---- both recursions ------------------------------------------------------------------------- */

/* 2^-k for x in [2^k, 2^(k+1)), x normal and below 2^126. */
TRL_INLINE float inverse_power(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (UINT32_C(254) << 23) - (bits & UINT32_C(0x7f800000));
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* k of 2^k. */
TRL_INLINE int64_t exponent(float power)
{
    uint32_t bits;
    memcpy(&bits, &power, sizeof bits);
    return (int64_t)(bits >> 23) - 127;
}

typedef struct pair {            /* one step of each recursion */
    const float *x, *E, *psi_x;  /* alpha_{t-1}, psi_t */
    const float *z, *Et, *psi_z; /* q_u, psi_{u-1} */
    float x_scale, z_scale;
    float *alpha, *beta, *q; /* rows to write: alpha_t, beta_{u-1}, q_{u-1} */
    v8f alpha_sum, beta_sum;
} pair;

/* x[0 .. 3] in both halves: one load for four factors instead of four; a shuffle (factor) selects
 * one, which leaves the load ports to the multiply-adds. */
TRL_INLINE v8f four(const float *x)
{
    const v4f v = *(const v4f *)x;
    return __builtin_shufflevector(v, v, 0, 1, 2, 3, 0, 1, 2, 3);
}

TRL_INLINE v8f factor(v8f v, const size_t k)
{
    return k == 0   ? __builtin_shufflevector(v, v, 0, 0, 0, 0, 4, 4, 4, 4)
           : k == 1 ? __builtin_shufflevector(v, v, 1, 1, 1, 1, 5, 5, 5, 5)
           : k == 2 ? __builtin_shufflevector(v, v, 2, 2, 2, 2, 6, 6, 6, 6)
                    : __builtin_shufflevector(v, v, 3, 3, 3, 3, 7, 7, 7, 7);
}

/* Columns j .. j + 8 NV - 1 of both recursions.  SETS sets of accumulators (1 or 2) hide the
 * latency of the adds where NV alone does not. */
TRL_INLINE void pair_block(const size_t NV, const size_t SETS, size_t n, size_t stride, size_t j,
                           pair *p)
{
    v8f a[2][6], b[2][6];
    for (size_t s = 0; s < SETS; s++)
        for (size_t k = 0; k < NV; k++)
            a[s][k] = b[s][k] = (v8f){0};
    const float *E = p->E + j, *Et = p->Et + j, *x = p->x, *z = p->z;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const v8f x4 = four(x + i), z4 = four(z + i);
        for (size_t r = 0; r < 4; r++, E += stride, Et += stride) {
            const v8f xi = factor(x4, r), zi = factor(z4, r);
            for (size_t k = 0; k < NV; k++)
                a[r % SETS][k] += xi * *(const v8f *)(E + 8 * k);
            for (size_t k = 0; k < NV; k++)
                b[r % SETS][k] += zi * *(const v8f *)(Et + 8 * k);
        }
    }
    for (; i < n; i++, E += stride, Et += stride) {
        for (size_t k = 0; k < NV; k++)
            a[0][k] += x[i] * *(const v8f *)(E + 8 * k);
        for (size_t k = 0; k < NV; k++)
            b[0][k] += z[i] * *(const v8f *)(Et + 8 * k);
    }
    for (size_t k = 0; k < NV; k++) {
        const size_t at = j + 8 * k;
        v8f y = a[0][k], w = b[0][k];
        if (SETS == 2) {
            y += a[1][k];
            w += b[1][k];
        }
        y *= *(const v8f *)(p->psi_x + at) * p->x_scale;
        w *= p->z_scale;
        *(v8f *)(p->alpha + at) = y;
        p->alpha_sum += y;
        *(v8f *)(p->beta + at) = w;
        *(v8f *)(p->q + at) = w * *(const v8f *)(p->psi_z + at);
        p->beta_sum += w;
    }
}

/* All steps; NV = stride / 8 when that is at most 6, else 0. */
TRL_INLINE float sweep(const size_t NV, const trl_single_lattice *g, float sum, int64_t *powers)
{
    const size_t T = g->T, S = NV ? 8 * NV : g->stride;
    float beta_sum = (float)g->n;
    for (size_t t = 1; t < T; t++) {
        const size_t u = T - t;
        g->scale[t - 1] = inverse_power(sum);
        *powers += exponent(g->scale[t - 1]);
        pair p = {.x = g->alpha + (t - 1) * S,
                  .E = g->E,
                  .psi_x = g->psi + t * S,
                  .z = g->q + u * S,
                  .Et = g->Et,
                  .psi_z = g->psi + (u - 1) * S,
                  .x_scale = g->scale[t - 1],
                  .z_scale = inverse_power(beta_sum),
                  .alpha = g->alpha + t * S,
                  .beta = g->beta + (u - 1) * S,
                  .q = g->q + (u - 1) * S};
        if (NV) {
            pair_block(NV, NV > 3 ? 1 : 2, g->n, S, 0, &p);
        } else {
            size_t j = 0;
            for (; j + 32 <= S; j += 32)
                pair_block(4, 1, g->n, S, j, &p);
            for (; j < S; j += 8)
                pair_block(1, 2, g->n, S, j, &p);
        }
        sum = sum8(p.alpha_sum);
        beta_sum = sum8(p.beta_sum);
    }
    g->scale[T - 1] = inverse_power(sum);
    return sum;
}

/* alpha_0, beta_{T-1} and q_{T-1}; returns the sum of alpha_0. */
TRL_INLINE float first_rows(const trl_single_lattice *g)
{
    const size_t S = g->stride, last = (g->T - 1) * S;
    v8f sum = {0};
    for (size_t j = 0; j < S; j += 8) {
        const v8f v = *(const v8f *)(g->psi + j);
        *(v8f *)(g->alpha + j) = v;
        sum += v;
        *(v8f *)(g->q + last + j) = *(const v8f *)(g->psi + last + j);
    }
    for (size_t j = 0; j < S; j++)
        g->beta[last + j] = j < g->n ? 1.0f : 0.0f;
    return sum8(sum);
}

TRL_CLONES double trl_single_sweep(const trl_single_lattice *g)
{
    int64_t powers = 0;
    float sum = first_rows(g);
    switch (g->stride / 8) {
    case 1:
        sum = sweep(1, g, sum, &powers);
        break;
    case 2:
        sum = sweep(2, g, sum, &powers);
        break;
    case 3:
        sum = sweep(3, g, sum, &powers);
        break;
    case 4:
        sum = sweep(4, g, sum, &powers);
        break;
    case 5:
        sum = sweep(5, g, sum, &powers);
        break;
    case 6:
        sum = sweep(6, g, sum, &powers);
        break;
    default:
        sum = sweep(0, g, sum, &powers);
        break;
    }
    return log((double)sum) - (double)powers * 0.69314718055994531;
}

/* The conversion to double is a separate loop here and below: gcc 12 splits converted vectors when
 * they come from registers. */
TRL_CLONES void trl_single_combine(const trl_single_lattice *g, double by, double *restrict node)
{
    const size_t T = g->T, S = g->stride;
    const float *alpha = g->alpha;
    float *restrict beta = g->beta, *q = g->q, scale = 1.0f;
    for (size_t t = 0; t < T; t++, alpha += S, beta += S, q += S) {
        v8f dot = {0};
        for (size_t j = 0; j < S; j += 8)
            dot += *(const v8f *)(alpha + j) * *(const v8f *)(beta + j);
        const float d = 1.0f / sum8(dot);
        for (size_t j = 0; j < S; j += 8) {
            *(v8f *)(beta + j) *= *(const v8f *)(alpha + j) * d;
            *(v8f *)(q + j) = *(const v8f *)(q + j) * d * scale;
        }
        scale = g->scale[t];
    }
    beta = g->beta;
#pragma omp simd
    for (size_t k = 0; k < T * S; k++)
        node[k] = by * (double)beta[k];
}

/* ---- the sum of outer products --------------------------------------------------------------- */

#define FLUSH 256

/* Rows i .. i+R-1, columns [0, 8 NV) of P = A^T B. */
TRL_INLINE void outer_block(const size_t R, const size_t NV, size_t T, const float *A,
                            const float *B, float *P, size_t stride)
{
    v8f acc[4][3];
    for (size_t r = 0; r < R; r++)
        for (size_t k = 0; k < NV; k++)
            acc[r][k] = (v8f){0};
    for (size_t t = 0; t < T; t++, A += stride, B += stride)
        for (size_t r = 0; r < R; r++)
            for (size_t k = 0; k < NV; k++)
                acc[r][k] += A[r] * *(const v8f *)(B + 8 * k);
    for (size_t r = 0; r < R; r++)
        for (size_t k = 0; k < NV; k++)
            *(v8f *)(P + r * stride + 8 * k) = acc[r][k];
}

TRL_INLINE void outer_columns(const size_t NV, size_t T, size_t n, const float *A, const float *B,
                              float *P, size_t stride)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        outer_block(4, NV, T, A + i, B, P + i * stride, stride);
    switch (n - i) {
    case 3:
        outer_block(3, NV, T, A + i, B, P + i * stride, stride);
        break;
    case 2:
        outer_block(2, NV, T, A + i, B, P + i * stride, stride);
        break;
    case 1:
        outer_block(1, NV, T, A + i, B, P + i * stride, stride);
        break;
    default:
        break;
    }
}

TRL_CLONES double trl_single_outer_sum(size_t T, size_t n, size_t stride, const float *A,
                                       const float *B, double weight, const float *restrict D,
                                       float *restrict part, double *restrict X)
{
    double dot = 0.0;
    for (size_t t = 0; t < T; t += FLUSH, A += FLUSH * stride, B += FLUSH * stride) {
        const size_t rows = T - t < FLUSH ? T - t : FLUSH;
        size_t j = 0;
        for (; j + 24 <= stride; j += 24)
            outer_columns(3, rows, n, A, B + j, part + j, stride);
        if (stride - j == 16)
            outer_columns(2, rows, n, A, B + j, part + j, stride);
        else if (stride - j == 8)
            outer_columns(1, rows, n, A, B + j, part + j, stride);
#pragma omp simd reduction(+ : dot)
        for (size_t k = 0; k < n * stride; k++) {
            X[k] += weight * (double)part[k];
            dot += (double)(D[k] * part[k]);
        }
    }
    return dot;
}
