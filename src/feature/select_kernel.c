/* select_kernel.c -- gather and scatter of selected blocks. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "feature/select.h"
#include "num/simd.h"

#define AHEAD 4 /* rows are prefetched this far ahead */

/* y += a x, n cells. */
TRL_INLINE void add(size_t n, double a, const double *x, double *y)
{
    size_t j = 0;
    for (; j + 8 <= n; j += 8)
        *(trl_v8 *)(y + j) += a * *(const trl_v8 *)(x + j);
    for (; j < n; j++)
        y[j] += a * x[j];
}

/* One token: its blocks' cells, entries first as in trl_gather. */
TRL_INLINE void gather_token(const trl_family *f, const trl_selected_family *s, size_t L,
                             const double *w, size_t tok, double *out)
{
    const uint64_t b0 = s->block_begin[tok], b1 = s->block_begin[tok + 1];
    const uint64_t r1 = f->dense_begin[tok + 1];
    for (uint64_t b = b0; b < b1; b++)
        memset(out + s->block[b] * L, 0, L * sizeof *out);
    for (uint64_t e = s->entry_begin[tok]; e < s->entry_begin[tok + 1]; e++)
        out[s->entry[e].cell] += (s->entry_value ? s->entry_value[e] : 1.0) * w[s->entry[e].weight];
    for (uint64_t b = b0; b < b1; b++)
        for (uint64_t r = f->dense_begin[tok]; r < r1; r++) {
            const size_t at = s->block[b] * L;
            if (r + AHEAD < r1)
                __builtin_prefetch(w + trl_dense_at(f, f->dense_row[r + AHEAD]) + at);
            add(L, f->dense_value ? f->dense_value[r] : 1.0,
                w + trl_dense_at(f, f->dense_row[r]) + at, out + at);
        }
}

TRL_CLONES static void gather_selected(const trl_family *f, const trl_selected_family *s, size_t L,
                                       const double *w, size_t from, size_t n, double *out)
{
    for (size_t t = 0; t < n; t++)
        gather_token(f, s, L, w, from + t, out + t * f->step);
}

void trl_gather_selected(const trl_design *d, const trl_selection *s, const double *w, size_t from,
                         const trl_tables *t)
{
    for (size_t k = 1; k < d->n_families; k++)
        if (t->row[k])
            gather_selected(&d->family[k], &s->family[k], d->L, w, from, t->n, t->row[k]);
}

TRL_CLONES static void scatter_selected(const trl_family *f, const trl_selected_family *s, size_t L,
                                        size_t from, size_t n, const double *adj, double *g)
{
    for (size_t t = 0; t < n; t++, adj += f->step) {
        const size_t tok = from + t;
        for (uint64_t b = s->block_begin[tok]; b < s->block_begin[tok + 1]; b++) {
            const size_t at = s->block[b] * L;
            for (uint64_t r = f->dense_begin[tok]; r < f->dense_begin[tok + 1]; r++)
                add(L, f->dense_value ? f->dense_value[r] : 1.0, adj + at,
                    g + trl_dense_at(f, f->dense_row[r]) + at);
        }
        for (uint64_t e = s->entry_begin[tok]; e < s->entry_begin[tok + 1]; e++)
            g[s->entry[e].weight] +=
                (s->entry_value ? s->entry_value[e] : 1.0) * adj[s->entry[e].cell];
    }
}

void trl_scatter_selected(const trl_design *d, const trl_selection *s, size_t from,
                          const trl_tables *adjoint, double *g)
{
    for (size_t k = 1; k < d->n_families; k++)
        if (adjoint->row[k])
            scatter_selected(&d->family[k], &s->family[k], d->L, from, adjoint->n, adjoint->row[k],
                             g);
}

void trl_clear_selected(size_t L, const trl_selection *s, size_t from, const trl_tables *t)
{
    for (size_t k = 1; k < TRL_FAMILIES; k++) {
        const trl_selected_family *x = &s->family[k];
        for (size_t i = 0; t->row[k] && i < t->n; i++)
            for (uint64_t b = x->block_begin[from + i]; b < x->block_begin[from + i + 1]; b++)
                memset(t->row[k] + i * t->step[k] + x->block[b] * L, 0, L * sizeof(double));
    }
}
