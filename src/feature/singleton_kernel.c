/* singleton_kernel.c -- the gradient of singleton attributes, each at its only token.
 *
 * A singleton's weights have just been read for the same token's scores, and no other token adds to
 * their gradient: computed here, it is written once and the weights are not fetched again.
 */
/* SPDX-License-Identifier: MIT */
#include "feature/implied_rows.h"
#include "num/simd.h"

typedef double v4d __attribute__((vector_size(32), aligned(8), may_alias));
typedef double v2d __attribute__((vector_size(16), aligned(8), may_alias));

/* g = a w - v adj for n weights, and no more: the next row may belong to another thread. */
TRL_INLINE double finish_row(size_t n, double a, double v, const double *w, const double *adj,
                             double *g)
{
    trl_v8 sum8 = {0};
    size_t c = 0;
    for (; c + 8 <= n; c += 8) {
        const trl_v8 x = *(const trl_v8 *)(w + c);
        *(trl_v8 *)(g + c) = a * x - v * *(const trl_v8 *)(adj + c);
        sum8 += x * x;
    }
    double sum = trl_v8_sum(&sum8);
    if (n & 4) {
        const v4d x = *(const v4d *)(w + c), xx = x * x;
        *(v4d *)(g + c) = a * x - v * *(const v4d *)(adj + c);
        sum += (xx[0] + xx[2]) + (xx[1] + xx[3]);
        c += 4;
    }
    if (n & 2) {
        const v2d x = *(const v2d *)(w + c), xx = x * x;
        *(v2d *)(g + c) = a * x - v * *(const v2d *)(adj + c);
        sum += xx[0] + xx[1];
        c += 2;
    }
    if (n & 1) {
        g[c] = a * w[c] - v * adj[c];
        sum += w[c] * w[c];
    }
    return sum;
}

/* The singleton entries of one token, from the design's list. */
TRL_INLINE double finish_entries(const trl_family *f, size_t tok, double a, const double *w,
                                 const double *adj, double *g)
{
    const uint64_t singleton = trl_singleton_entry_at(f);
    double sum = 0.0;
    for (uint64_t e = f->entry_begin[tok + 1];
         e > f->entry_begin[tok] && f->entry[e - 1].weight >= singleton; e--) {
        const uint64_t at = f->entry[e - 1].weight;
        const double v = f->entry_value ? f->entry_value[e - 1] : 1.0;
        g[at] = a * w[at] - v * adj[f->entry[e - 1].cell];
        sum += w[at] * w[at];
    }
    return sum;
}

/* The same from the shortened list. */
TRL_INLINE double finish_packed(const trl_family *f, const trl_implied_rows *implied, size_t tok,
                                double a, const double *w, const double *adj, double *g)
{
    const uint64_t singleton = trl_singleton_entry_at(f) - f->entry_hot_at;
    const uint32_t mask = (UINT32_C(1) << implied->bits) - 1;
    double sum = 0.0;
    for (uint64_t e = implied->entry_begin[tok + 1]; e > implied->entry_begin[tok]; e--) {
        const uint32_t x = implied->packed[e - 1];
        if (x >> implied->bits < singleton)
            break;
        const uint64_t at = f->entry_hot_at + (x >> implied->bits);
        g[at] = a * w[at] - adj[x & mask];
        sum += w[at] * w[at];
    }
    return sum;
}

TRL_CLONES double trl_scatter_singletons(const trl_design *d, const trl_implied_rows *implied,
                                         size_t from, const trl_tables *adjoint, double a,
                                         const double *w, double *g)
{
    const trl_family *f = &d->family[TRL_NODE];
    const bool with_implied = implied && implied->row;
    const uint64_t *begin = with_implied ? implied->row_begin : f->dense_begin;
    const uint32_t *list = with_implied ? implied->row : f->dense_row;
    const size_t extra = with_implied ? implied->n_rows - f->n_hot : 0,
                 singleton_row = f->singleton_row + extra;
    const double *adj = adjoint->row[TRL_NODE];
    double sum = 0.0;
    if (f->singleton_row == f->n_dense && f->singleton_attr == f->n_attrs)
        return sum;
    for (size_t t = from; t < from + adjoint->n; t++, adj += f->step) {
        for (uint64_t r = begin[t + 1]; r > begin[t] && list[r - 1] >= singleton_row; r--) {
            const uint64_t at = trl_dense_at(f, list[r - 1] - extra);
            sum += finish_row(f->width, a, f->dense_value ? f->dense_value[r - 1] : 1.0, w + at,
                              adj, g + at);
        }
        sum += with_implied ? finish_packed(f, implied, t, a, w, adj, g)
                            : finish_entries(f, t, a, w, adj, g);
    }
    return sum;
}
