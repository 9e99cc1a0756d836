/* group_kernel.c -- scores and adjoints of grouped tokens, in floats. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "feature/group.h"
#include "num/simd.h"

typedef float v8f __attribute__((vector_size(32), aligned(4), may_alias));

#define AHEAD 12 /* list elements fetched ahead */
#define FAR 40   /* the same for single weights in gather, most of them not in the cache */

/* ---- gather ------------------------------------------------------------------------- */

TRL_INLINE void gather_entries(const trl_group *p, const double *at, size_t i, float *out)
{
    const uint32_t mask = (UINT32_C(1) << p->bits) - 1;
    for (uint64_t e = p->entry_begin[i]; e < p->entry_begin[i + 1]; e++) {
        const uint32_t x = p->packed[e];
        __builtin_prefetch(at + (p->packed[e + FAR] >> p->bits));
        out[x & mask] += (float)at[x >> p->bits];
    }
}

/* out[col .. col + 8 NV) += base + rows. */
TRL_INLINE void sum_rows(const size_t NV, const trl_group *p, const trl_family *f, const double *w,
                         const float *hot32, size_t i, size_t col, const float *base, float *out)
{
    v8f acc[8];
    for (size_t k = 0; k < NV; k++)
        acc[k] = *(const v8f *)(out + col + 8 * k);
    if (base)
        for (size_t k = 0; k < NV; k++)
            acc[k] += *(const v8f *)(base + col + 8 * k);
    uint64_t r = p->row_begin[i];
    const uint64_t to = p->row_begin[i + 1];
    for (; r < to && p->row[r] < f->n_hot + p->n_extra; r++) {
        const float *row = hot32 + (uint64_t)p->row[r] * f->step + col;
        const float *ahead = hot32 + (uint64_t)p->row[r + AHEAD] * f->step + col;
        for (size_t k = 0; k < NV; k += 2)
            __builtin_prefetch(ahead + 8 * k);
        for (size_t k = 0; k < NV; k++)
            acc[k] += *(const v8f *)(row + 8 * k);
    }
    for (; r < to; r++) { /* cold ones are not padded: what is beyond falls into the pads */
        const double *row = w + trl_dense_at(f, trl_group_cold_row(p, f, r)) + col;
        const double *ahead = w + trl_dense_at(f, trl_group_cold_row(p, f, r + AHEAD)) + col;
        for (size_t k = 0; k < NV; k++) {
            __builtin_prefetch(ahead + 8 * k);
            acc[k] += __builtin_convertvector(*(const trl_v8 *)(row + 8 * k), v8f);
        }
    }
    for (size_t k = 0; k < NV; k++)
        *(v8f *)(out + col + 8 * k) = acc[k];
}

TRL_INLINE void gather_rows(const trl_group *p, const trl_family *f, const double *w,
                            const float *hot32, size_t i, const float *base, float *out)
{
    size_t col = 0;
    for (; f->step - col >= 64; col += 64)
        sum_rows(8, p, f, w, hot32, i, col, base, out);
    switch ((f->step - col) / 8) {
    case 1: sum_rows(1, p, f, w, hot32, i, col, base, out); break;
    case 2: sum_rows(2, p, f, w, hot32, i, col, base, out); break;
    case 3: sum_rows(3, p, f, w, hot32, i, col, base, out); break;
    case 4: sum_rows(4, p, f, w, hot32, i, col, base, out); break;
    case 5: sum_rows(5, p, f, w, hot32, i, col, base, out); break;
    case 6: sum_rows(6, p, f, w, hot32, i, col, base, out); break;
    case 7: sum_rows(7, p, f, w, hot32, i, col, base, out); break;
    default: break;
    }
}

/* Entries of all before the rows of any: additions to one cell wait for each other, and vectors must
 * not be loaded right behind scalar stores. */
TRL_CLONES void trl_group_gather(const trl_group *p, const trl_design *d, const double *w,
                                 const float *hot32, size_t batch, float *shared, float *score)
{
    const trl_family *f = &d->family[TRL_NODE];
    const double *at = w + f->entry_hot_at;
    const size_t g0 = p->batch[batch].group, g1 = p->batch[batch + 1].group;
    const size_t i0 = p->batch[batch].position, i1 = p->batch[batch + 1].position;
    memset(shared, 0, (g1 - g0) * f->step * sizeof *shared);
    memset(score, 0, (i1 - i0) * f->step * sizeof *score);
    for (size_t k = g0; k < g1; k++)
        gather_entries(p, at, p->n + k, shared + (k - g0) * f->step);
    for (size_t i = i0; i < i1; i++)
        gather_entries(p, at, i, score + (i - i0) * f->step);
    size_t i = i0;
    for (size_t k = g0; k < g1; k++) {
        float *base = shared + (k - g0) * f->step;
        gather_rows(p, f, w, hot32, p->n + k, NULL, base);
        for (; i < p->first[k + 1]; i++)
            gather_rows(p, f, w, hot32, i, base, score + (i - i0) * f->step);
    }
    for (; i < i1; i++)
        gather_rows(p, f, w, hot32, i, NULL, score + (i - i0) * f->step);
}

/* ---- scatter ------------------------------------------------------------------------ */

TRL_INLINE void add_rows(const size_t NV, const trl_group *p, const trl_family *f, size_t i,
                         size_t col, const float *adj, float *hot32)
{
    v8f b[8];
    for (size_t k = 0; k < NV; k++)
        b[k] = *(const v8f *)(adj + col + 8 * k);
    const uint32_t end = (uint32_t)(f->n_hot + p->n_extra);
    for (uint64_t r = p->row_begin[i]; r < p->row_begin[i + 1] && p->row[r] < end; r++) {
        const float *ahead = hot32 + (uint64_t)p->row[r + AHEAD] * f->step + col;
        for (size_t k = 0; k < NV; k += 2)
            __builtin_prefetch(ahead + 8 * k, 1);
        float *row = hot32 + (uint64_t)p->row[r] * f->step + col;
        for (size_t k = 0; k < NV; k++)
            *(v8f *)(row + 8 * k) += b[k];
    }
}

TRL_INLINE void scatter_rows(const trl_group *p, const trl_family *f, size_t i, const float *adj,
                             float *hot32)
{
    size_t col = 0;
    for (; f->step - col >= 64; col += 64)
        add_rows(8, p, f, i, col, adj, hot32);
    switch ((f->step - col) / 8) {
    case 1: add_rows(1, p, f, i, col, adj, hot32); break;
    case 2: add_rows(2, p, f, i, col, adj, hot32); break;
    case 3: add_rows(3, p, f, i, col, adj, hot32); break;
    case 4: add_rows(4, p, f, i, col, adj, hot32); break;
    case 5: add_rows(5, p, f, i, col, adj, hot32); break;
    case 6: add_rows(6, p, f, i, col, adj, hot32); break;
    case 7: add_rows(7, p, f, i, col, adj, hot32); break;
    default: break;
    }
}

/* Hot entries, from the front of the list; the others, from `end` on, go to the stream.  Returns its
 * next place. */
TRL_INLINE float *scatter_entries(const trl_group *p, size_t i, uint32_t end, const float *adj,
                                  double *at, float *cold)
{
    const uint32_t mask = (UINT32_C(1) << p->bits) - 1;
    const uint64_t to = p->entry_begin[i + 1];
    uint64_t e = p->entry_begin[i];
    for (; e < to; e++) {
        const uint32_t x = p->packed[e];
        if (x >> p->bits >= end)
            break;
        __builtin_prefetch(at + (p->packed[e + AHEAD] >> p->bits), 1);
        at[x >> p->bits] += (double)adj[x & mask];
    }
    for (; e < to; e++)
        *cold++ = adj[p->packed[e] & mask];
    return cold;
}

/* Cold rows, behind the hot ones, to their stream; then lone ones, whose ||w||^2 is returned. */
TRL_INLINE double finish_rows(const trl_group *p, const trl_family *f, size_t i, const double *w,
                              const float *adj, const trl_group_sums *s, float **rows)
{
    const uint32_t end = (uint32_t)(f->n_hot + p->n_extra);
    double sum = 0.0;
    for (uint64_t r = p->row_begin[i + 1]; r > p->row_begin[i] && p->row[r - 1] >= end; r--) {
        const uint32_t row = p->row[r - 1] - (uint32_t)p->n_extra;
        if (row < f->lone_row) {
            memcpy(*rows, adj, f->step * sizeof *adj);
            *rows += f->step;
            continue;
        }
        const uint64_t at = trl_dense_at(f, row);
        for (size_t c = 0; c < f->width; c++) {
            s->g[at + c] = s->a * w[at + c] - (double)adj[c];
            sum += w[at + c] * w[at + c];
        }
    }
    return sum;
}

/* The sum of a group's adjoints. */
TRL_INLINE void add_up(size_t n, size_t step, const float *adj, float *out)
{
    for (size_t c = 0; c < step; c += 8) {
        v8f sum = {0};
        for (size_t i = 0; i < n; i++)
            sum += *(const v8f *)(adj + i * step + c);
        *(v8f *)(out + c) = sum;
    }
}

TRL_CLONES double trl_group_scatter(const trl_group *p, const trl_design *d, const double *w,
                                    size_t batch, const float *adjoint, float *shared,
                                    const trl_group_sums *s)
{
    const trl_family *f = &d->family[TRL_NODE];
    const trl_group_batch *b = &p->batch[batch];
    const uint32_t end = (uint32_t)(d->n_hot_weights - f->entry_hot_at);
    double *at = s->hot + f->entry_hot_at, sum = 0.0;
    float *cold = s->cold + b->cold[0], *rows = s->rows + b->row[0] * f->step;
    for (size_t i = b->position; i < b[1].position; i++) {
        const float *adj = adjoint + (i - b->position) * f->step;
        scatter_rows(p, f, i, adj, s->hot32);
        cold = scatter_entries(p, i, end, adj, at, cold);
        sum += finish_rows(p, f, i, w, adj, s, &rows);
    }
    cold = s->cold + b->cold[1];
    rows = s->rows + b->row[1] * f->step;
    for (size_t k = b->group; k < b[1].group; k++) {
        float *adj = shared + (k - b->group) * f->step;
        add_up(p->first[k + 1] - p->first[k], f->step,
               adjoint + (p->first[k] - b->position) * f->step, adj);
        scatter_rows(p, f, p->n + k, adj, s->hot32);
        cold = scatter_entries(p, p->n + k, end, adj, at, cold);
        sum += finish_rows(p, f, p->n + k, w, adj, s, &rows);
    }
    return sum;
}

void trl_group_cold(const trl_group *p, const float *cold, size_t from, size_t to, double *g)
{
    for (size_t i = from; i < to; i++) {
        double sum = 0.0;
        for (uint64_t k = p->cold_begin[i]; k < p->cold_begin[i + 1]; k++)
            sum += (double)cold[p->cold_at[k]];
        g[i] = sum;
    }
}
