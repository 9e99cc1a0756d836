/* gather_kernel.c -- moving scores and adjoints between weight rows and table rows.
 *
 * Hot rows are padded with zeros and aligned.  Cold rows are `width` doubles without padding, and
 * vectors overshoot them by up to seven lanes: the surplus falls into the table row's pads.
 */
/* SPDX-License-Identifier: MIT */
#include "feature/implied_rows.h"
#include "feature/sparse_lists.h"
#include "num/float_kernel.h"
#include "num/simd.h"

typedef float v8f __attribute__((vector_size(32), aligned(4), may_alias));

#define AHEAD 12 /* rows prefetched: far enough to hide memory, near enough to stay in L1 */

/* The attributes on at each token: the design's lists, or those that implied rows shortened. */
typedef struct lists {
    const uint64_t *row_begin, *entry_begin;
    const uint32_t *row, *packed; /* packed: instead of entry, unless NULL (trl_implied_rows) */
    const trl_entry *entry;
    const uint64_t *sparse_begin; /* attributes instead of entries, unless NULL */
    const uint32_t *sparse;
    unsigned bits;
    size_t n_hot; /* rows below are hot, the others cold: number `extra` less in the design */
    size_t extra;
} lists;

static lists lists_of(const trl_family *f, const trl_implied_rows *implied)
{
    if (!implied || !implied->row)
        return (lists){.row_begin = f->dense_begin,
                       .entry_begin = f->entry_begin,
                       .row = f->dense_row,
                       .entry = f->entry,
                       .sparse_begin = f->sparse_begin,
                       .sparse = f->sparse,
                       .n_hot = f->n_hot};
    return (lists){.row_begin = implied->row_begin,
                   .entry_begin = implied->entry_begin,
                   .row = implied->row,
                   .packed = implied->packed,
                   .sparse_begin = implied->sparse_begin,
                   .sparse = implied->sparse,
                   .bits = implied->bits,
                   .n_hot = implied->n_rows,
                   .extra = implied->n_rows - f->n_hot};
}

/* The first weight of a row in the lists; for hot rows it is used only to prefetch. */
TRL_INLINE uint64_t cold_at(const trl_family *f, const lists *l, uint32_t row)
{
    return trl_dense_at(f, row >= l->n_hot ? row - l->extra : 0);
}

/* ---- dense rows ------------------------------------------------------------------------------ */

TRL_INLINE void add_row(const size_t NV, const double *row, const double *value, uint64_t r,
                        trl_v8 *acc)
{
    if (value)
        for (size_t k = 0; k < NV; k++)
            acc[k] += value[r] * *(const trl_v8 *)(row + 8 * k);
    else
        for (size_t k = 0; k < NV; k++)
            acc[k] += *(const trl_v8 *)(row + 8 * k);
}

/* out[0 .. 8 NV) += sum over refs of value * row; `col` is the first column of the block.  Hot
 * rows come first and are in cache; cold ones are fetched ahead. */
TRL_INLINE void sum_rows(const size_t NV, const trl_family *f, const lists *l, const double *w,
                         const double *hot_rows, const float *hot32, uint64_t from, uint64_t to,
                         size_t col, double *out)
{
    const uint32_t *list = l->row;
    trl_v8 acc[8];
    for (size_t k = 0; k < NV; k++)
        acc[k] = *(const trl_v8 *)(out + 8 * k);
    const double *hot = hot_rows + col;
    uint64_t r = from;
    if (hot32) { /* sums with implied rows, so without values; a sum of a few floats may be a float
                  */
        v8f sum[8];
        for (size_t k = 0; k < NV; k++)
            sum[k] = (v8f){0};
        for (; r < to && list[r] < l->n_hot; r++) {
            const float *row = hot32 + (uint64_t)list[r] * f->step + col;
            for (size_t k = 0; k < NV; k++)
                sum[k] += *(const v8f *)(row + 8 * k);
        }
        for (size_t k = 0; k < NV; k++)
            acc[k] += __builtin_convertvector(sum[k], trl_v8);
    }
    for (; r < to && list[r] < l->n_hot; r++)
        add_row(NV, hot + (uint64_t)list[r] * f->step, f->dense_value, r, acc);
    for (; r < to; r++) {
        const double *ahead = w + cold_at(f, l, list[r + AHEAD]) + col;
        for (size_t k = 0; k < NV; k++)
            __builtin_prefetch(ahead + 8 * k);
        add_row(NV, w + cold_at(f, l, list[r]) + col, f->dense_value, r, acc);
    }
    for (size_t k = 0; k < NV; k++)
        *(trl_v8 *)(out + 8 * k) = acc[k];
}

TRL_INLINE void gather_dense(const trl_family *f, const lists *l, const double *w,
                             const double *hot, const float *hot32, size_t tok, double *out)
{
    const uint64_t from = l->row_begin[tok], to = l->row_begin[tok + 1];
    size_t col = 0;
    for (; f->step - col >= 64; col += 64)
        sum_rows(8, f, l, w, hot, hot32, from, to, col, out + col);
    switch ((f->step - col) / 8) {
    case 1:
        sum_rows(1, f, l, w, hot, hot32, from, to, col, out + col);
        break;
    case 2:
        sum_rows(2, f, l, w, hot, hot32, from, to, col, out + col);
        break;
    case 3:
        sum_rows(3, f, l, w, hot, hot32, from, to, col, out + col);
        break;
    case 4:
        sum_rows(4, f, l, w, hot, hot32, from, to, col, out + col);
        break;
    case 5:
        sum_rows(5, f, l, w, hot, hot32, from, to, col, out + col);
        break;
    case 6:
        sum_rows(6, f, l, w, hot, hot32, from, to, col, out + col);
        break;
    case 7:
        sum_rows(7, f, l, w, hot, hot32, from, to, col, out + col);
        break;
    default:
        break;
    }
}

TRL_INLINE void gather_entries(const trl_family *f, const lists *l, const double *w, size_t tok,
                               double *out)
{
    if (l->sparse_begin) {
        for (uint64_t i = l->sparse_begin[tok]; i < l->sparse_begin[tok + 1]; i++)
            trl_sparse_gather(f, l->sparse[i], w, out);
        return;
    }
    const uint64_t from = l->entry_begin[tok], to = l->entry_begin[tok + 1];
    const uint32_t mask = (UINT32_C(1) << l->bits) - 1;
    if (l->packed)
        for (uint64_t e = from; e < to; e++)
            out[l->packed[e] & mask] += w[f->entry_hot_at + (l->packed[e] >> l->bits)];
    else if (f->entry_value)
        for (uint64_t e = from; e < to; e++)
            out[l->entry[e].cell] += f->entry_value[e] * w[l->entry[e].weight];
    else
        for (uint64_t e = from; e < to; e++)
            out[l->entry[e].cell] += w[l->entry[e].weight];
}

/* Entries first, for a block of tokens, then rows: additions of entries to the same few cells wait
 * for each other, and only interleaving several tokens keeps the processor busy; and a row's
 * vectors must not be loaded right after scalar stores to it. */
#define TOKENS 32
#define WIDE                                                                                       \
    512 /* cells from which a token has enough of them by itself, and 32 tokens no cache           \
         */

TRL_CLONES static void gather_family(const trl_family *f, const lists *l, const double *w,
                                     const double *hot, const float *hot32, size_t from, size_t n,
                                     double *out)
{
    for (size_t t0 = 0; t0 < n; t0 += TOKENS) {
        const size_t t1 = n - t0 < TOKENS ? n : t0 + TOKENS;
        for (size_t c = t0 * f->step; c < t1 * f->step; c += 8)
            *(trl_v8 *)(out + c) = (trl_v8){0};
        for (size_t t = t0; t < t1; t++)
            gather_entries(f, l, w, from + t, out + t * f->step);
        for (size_t t = t0; t < t1; t++)
            gather_dense(f, l, w, hot, hot32, from + t, out + t * f->step);
    }
}

void trl_gather(const trl_design *d, const double *w, size_t from, const trl_tables *t)
{
    trl_gather_implied(d, NULL, w, NULL, NULL, from, t);
}

void trl_gather_implied(const trl_design *d, const trl_implied_rows *implied, const double *w,
                        const double *hot, const float *hot32, size_t from, const trl_tables *t)
{
    for (size_t k = 0; k < d->n_families; k++) {
        const trl_family *f = &d->family[k];
        const bool with_implied = implied && implied->row && k == TRL_NODE;
        const lists l = lists_of(f, with_implied ? implied : NULL);
        if (t->row[k])
            gather_family(f, &l, w, with_implied ? hot : w + f->hot_at, with_implied ? hot32 : NULL,
                          from, t->n, t->row[k]);
    }
}

/* Adds value * adj to the hot rows among refs: a token's rows are sorted, the rest is cold. */
TRL_INLINE void add_rows(const size_t NV, const trl_family *f, const lists *l, size_t tok,
                         size_t col, const double *adj, double *g, float *hot32, float *node)
{
    const uint32_t *list = l->row;
    const uint64_t from = l->row_begin[tok], to = l->row_begin[tok + 1];
    trl_v8 a[8];
    if (hot32) {
        v8f b[8];
        for (size_t k = 0; k < NV; k++)
            b[k] = __builtin_convertvector(*(const trl_v8 *)(adj + 8 * k), v8f);
        if (node)
            for (size_t k = 0; k < NV; k++)
                *(v8f *)(node + col + 8 * k) = b[k];
        for (uint64_t r = from; r < to && list[r] < l->n_hot; r++) {
            const float *ahead = hot32 + (uint64_t)list[r + AHEAD] * f->step + col;
            for (size_t k = 0; k < NV; k += 2)
                __builtin_prefetch(ahead + 8 * k, 1);
            float *row = hot32 + (uint64_t)list[r] * f->step + col;
            for (size_t k = 0; k < NV; k++)
                *(v8f *)(row + 8 * k) += b[k];
        }
        return;
    }
    double *hot = g + f->hot_at + col;
    for (size_t k = 0; k < NV; k++)
        a[k] = *(const trl_v8 *)(adj + 8 * k);
    if (f->dense_value) {
        for (uint64_t r = from; r < to && list[r] < l->n_hot; r++) {
            double *row = hot + (uint64_t)list[r] * f->step;
            for (size_t k = 0; k < NV; k++)
                *(trl_v8 *)(row + 8 * k) += f->dense_value[r] * a[k];
        }
        return;
    }
    for (uint64_t r = from; r < to && list[r] < l->n_hot; r++) {
        double *row = hot + (uint64_t)list[r] * f->step;
        for (size_t k = 0; k < NV; k++)
            *(trl_v8 *)(row + 8 * k) += a[k];
    }
}

TRL_INLINE void scatter_dense(const trl_family *f, const lists *l, size_t tok, const double *adj,
                              double *g, float *hot32, float *node)
{
    size_t col = 0;
    for (; f->step - col >= 64; col += 64)
        add_rows(8, f, l, tok, col, adj + col, g, hot32, node);
    switch ((f->step - col) / 8) {
    case 1:
        add_rows(1, f, l, tok, col, adj + col, g, hot32, node);
        break;
    case 2:
        add_rows(2, f, l, tok, col, adj + col, g, hot32, node);
        break;
    case 3:
        add_rows(3, f, l, tok, col, adj + col, g, hot32, node);
        break;
    case 4:
        add_rows(4, f, l, tok, col, adj + col, g, hot32, node);
        break;
    case 5:
        add_rows(5, f, l, tok, col, adj + col, g, hot32, node);
        break;
    case 6:
        add_rows(6, f, l, tok, col, adj + col, g, hot32, node);
        break;
    case 7:
        add_rows(7, f, l, tok, col, adj + col, g, hot32, node);
        break;
    default:
        break;
    }
}

/* Entries of a token with weights below `end`, which come first. */
TRL_INLINE void scatter_entries(const trl_family *f, const lists *l, size_t tok, uint64_t end,
                                const double *adj, double scale, double *g)
{
    if (l->sparse_begin) {
        for (uint64_t i = l->sparse_begin[tok]; i < l->sparse_begin[tok + 1]; i++)
            trl_sparse_scatter(f, l->sparse[i], adj, scale, g);
        return;
    }
    const uint64_t from = l->entry_begin[tok], to = l->entry_begin[tok + 1];
    const uint32_t mask = (UINT32_C(1) << l->bits) - 1;
    double *at = g + f->entry_hot_at;
    for (uint64_t e = from; l->packed && e < to; e++) {
        const uint32_t x = l->packed[e];
        if (x >> l->bits >= end - f->entry_hot_at)
            break;
        __builtin_prefetch(at + (l->packed[e + AHEAD] >> l->bits), 1);
        at[x >> l->bits] += scale * adj[x & mask];
    }
    for (uint64_t e = from; !l->packed && e < to && l->entry[e].weight < end; e++) {
        __builtin_prefetch(g + l->entry[e + AHEAD].weight, 1);
        g[l->entry[e].weight] +=
            scale * (f->entry_value ? f->entry_value[e] : 1.0) * adj[l->entry[e].cell];
    }
}

TRL_CLONES static void scatter_family(const trl_family *f, const lists *l, size_t from, size_t n,
                                      const double *adj, uint64_t end, double *g, float *hot32,
                                      float *node)
{
    for (size_t t = 0; t < n; t++, adj += f->step) {
        scatter_dense(f, l, from + t, adj, g, hot32, node ? node + t * f->step : NULL);
        scatter_entries(f, l, from + t, end, adj, 1.0, g);
    }
}

void trl_scatter_hot(const trl_design *d, const trl_implied_rows *implied, size_t from,
                     const trl_tables *adjoint, double *g, float *hot32, float *node)
{
    for (size_t k = 0; k < d->n_families; k++) {
        const trl_family *f = &d->family[k];
        const lists l = lists_of(f, k == TRL_NODE ? implied : NULL);
        if (adjoint->row[k])
            scatter_family(f, &l, from, adjoint->n, adjoint->row[k], d->n_hot_weights, g,
                           k == TRL_NODE ? hot32 : NULL, k == TRL_NODE ? node : NULL);
    }
    if (node && !hot32)
        trl_narrow(adjoint->n * d->family[TRL_NODE].step, adjoint->row[TRL_NODE], node);
}

/* ---- cold attributes: one at a time over its tokens ------------------------------------------ */

TRL_INLINE void cold_block(const size_t NV, const trl_family *f, const float *node, uint64_t from,
                           uint64_t to, size_t col, double *out, size_t room)
{
    trl_v8 acc[8];
    for (size_t k = 0; k < NV; k++)
        acc[k] = (trl_v8){0};
    for (uint64_t r = from; r < to; r++) {
        const float *ahead = node + trl_token_at(f, r + AHEAD) * f->step + col;
        for (size_t k = 0; k < NV; k += 2)
            __builtin_prefetch(ahead + 8 * k);
        const float *adj = node + trl_token_at(f, r) * f->step + col;
        const double v = f->token_value ? f->token_value[r] : 1.0;
        for (size_t k = 0; k < NV; k++)
            acc[k] += v * __builtin_convertvector(*(const v8f *)(adj + 8 * k), trl_v8);
    }
    const double *sum = (const double *)acc;
    for (size_t k = 0; k < 8 * NV && k < room; k++)
        out[k] = sum[k];
}

TRL_INLINE void cold_dense(const trl_family *f, const float *node, size_t c, double *g)
{
    const uint64_t from = f->token_begin[c], to = f->token_begin[c + 1];
    double *out = g + trl_dense_at(f, trl_cold_attr(f, c));
    size_t col = 0;
    for (; f->step - col >= 32; col += 32)
        cold_block(4, f, node, from, to, col, out + col, f->width - col);
    switch ((f->step - col) / 8) {
    case 1:
        cold_block(1, f, node, from, to, col, out + col, f->width - col);
        break;
    case 2:
        cold_block(2, f, node, from, to, col, out + col, f->width - col);
        break;
    case 3:
        cold_block(3, f, node, from, to, col, out + col, f->width - col);
        break;
    default:
        break;
    }
}

TRL_INLINE void cold_entries(const trl_family *f, const float *node, size_t c, double *g)
{
    const uint64_t from = f->token_begin[c], to = f->token_begin[c + 1];
    const size_t a = trl_cold_attr(f, c) - f->n_dense;
    const uint64_t e0 = f->entry_first[a], e1 = f->entry_first[a + 1];
    double *out = g + trl_entry_at(f, e0), sum[8];
    for (uint64_t e = e0; e < e1; e += 8, out += 8) {
        const size_t k = (size_t)(e1 - e < 8 ? e1 - e : 8);
        for (size_t i = 0; i < k; i++)
            sum[i] = 0.0;
        for (uint64_t r = from; r < to; r++) {
            const float *adj = node + trl_token_at(f, r) * f->step;
            const double v = f->token_value ? f->token_value[r] : 1.0;
            __builtin_prefetch(node + trl_token_at(f, r + AHEAD) * f->step);
            for (size_t i = 0; i < k; i++)
                sum[i] += v * (double)adj[f->entry_cell[e + i]];
        }
        for (size_t i = 0; i < k; i++)
            out[i] = sum[i];
    }
}

TRL_CLONES void trl_scatter_cold(const trl_design *d, const float *node, size_t c0, size_t c1,
                                 double *g)
{
    const trl_family *f = &d->family[TRL_NODE];
    const size_t dense = f->n_dense - f->n_hot;
    for (size_t c = c0; c < c1; c++) {
        if (c < dense)
            cold_dense(f, node, c, g);
        else
            cold_entries(f, node, c, g);
    }
}

/* ---- shared tables, single examples ---------------------------------------------------------- */

void trl_gather_shared(const trl_design *d, const double *w, double *const *out)
{
    for (size_t k = 0; k < d->n_families; k++) {
        const trl_family *f = &d->family[k];
        if (!f->has_constant || !out[k])
            continue;
        for (size_t c = 0; c < f->step; c++)
            out[k][c] = 0.0;
        for (size_t i = 0; i < f->n_constant; i++)
            out[k][f->constant_cell[i]] = w[f->constant_at + i];
    }
}

void trl_scatter_shared(const trl_design *d, const trl_tables *adjoint, double *g)
{
    for (size_t k = 0; k < d->n_families; k++) {
        const trl_family *f = &d->family[k];
        if (!f->has_constant || !adjoint->shared[k])
            continue;
        for (size_t i = 0; i < f->n_constant; i++)
            g[f->constant_at + i] += adjoint->shared[k][f->constant_cell[i]];
    }
}

/* Lanes of the mask whose bit is set. */
TRL_INLINE trl_v8 keep_live(trl_v8 x, uint64_t bits)
{
    static const trl_v8i lane = {1, 2, 4, 8, 16, 32, 64, 128};
    const trl_v8i on = ((trl_v8i){0} + (int64_t)bits) & lane;
    return (trl_v8)((trl_v8i)x & (on == lane));
}

TRL_CLONES static void add_live_row(const trl_family *f, size_t row, const double *adj,
                                    double scale, double *g)
{
    double *out = g + trl_dense_at(f, row);
    const uint64_t *live = f->live ? f->live + row * f->words : NULL;
    size_t c = 0;
    for (; c + 8 <= f->width; c += 8) {
        const trl_v8 x = scale * *(const trl_v8 *)(adj + c);
        *(trl_v8 *)(out + c) += live ? keep_live(x, live[c / 64] >> (c % 64)) : x;
    }
    for (; c < f->width; c++)
        if (!live || (live[c / 64] >> (c % 64) & 1))
            out[c] += scale * adj[c];
}

void trl_scatter_all(const trl_design *d, size_t from, const trl_tables *adjoint, double scale,
                     double *g)
{
    for (size_t k = 0; k < d->n_families; k++) {
        const trl_family *f = &d->family[k];
        const lists l = lists_of(f, NULL);
        for (size_t t = 0; adjoint->row[k] && t < adjoint->n; t++) {
            const double *adj = adjoint->row[k] + t * f->step;
            const size_t tok = from + t;
            for (uint64_t r = f->dense_begin[tok]; r < f->dense_begin[tok + 1]; r++)
                add_live_row(f, f->dense_row[r], adj,
                             scale * (f->dense_value ? f->dense_value[r] : 1.0), g);
            scatter_entries(f, &l, tok, UINT64_MAX, adj, scale, g);
        }
        for (size_t i = 0; f->has_constant && adjoint->shared[k] && i < f->n_constant; i++)
            g[f->constant_at + i] += scale * adjoint->shared[k][f->constant_cell[i]];
    }
}

void trl_clear_dead(const trl_design *d, double *g)
{
    for (size_t i = 0; i < d->n_dead; i++)
        g[d->dead[i]] = 0.0;
}
