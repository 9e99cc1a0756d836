/* lazy_kernel.c -- gather with catching up. */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "base/mem.h"
#include "feature/lazy.h"
#include "num/simd.h"

#include <string.h>

/* Entries lie below the cold rows. */
static size_t entry_end(const trl_design *d)
{
    return (size_t)d->family[TRL_NODE].cold_at;
}

trl_status trl_lazy_init(trl_lazy *z, const trl_design *d, trl_error *err)
{
    *z = (trl_lazy){.d = d, .scale = 1.0};
    const size_t n = trl_design_alloc(d);
    z->v = trl_alloc64(n, sizeof *z->v);
    z->dir = trl_alloc64(n, sizeof *z->dir);
    z->entry_at = trl_zalloc(entry_end(d), sizeof *z->entry_at);
    bool good = z->v && z->dir && z->entry_at;
    for (size_t k = 0; k < TRL_FAMILIES; k++) {
        z->row_at[k] = trl_zalloc(d->family[k].n_dense, sizeof **z->row_at);
        good = good && z->row_at[k];
    }
    if (!good) {
        trl_lazy_fini(z);
        return trl_fail_mem(err);
    }
    memset(z->v, 0, n * sizeof *z->v);
    memset(z->dir, 0, n * sizeof *z->dir);
    return TRL_OK;
}

void trl_lazy_fini(trl_lazy *z)
{
    trl_free(z->v);
    trl_free(z->dir);
    trl_free(z->entry_at);
    for (size_t k = 0; k < TRL_FAMILIES; k++)
        trl_free(z->row_at[k]);
    *z = (trl_lazy){0};
}

/* v[0 .. n) += gap * dir; rows overshoot into their neighbours' only where those are padded, so
 * the last lanes are done one by one. */
TRL_INLINE void catch_up(size_t n, double gap, const double *dir, double *v)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        *(trl_v8 *)(v + i) += gap * *(const trl_v8 *)(dir + i);
    for (; i < n; i++)
        v[i] += gap * dir[i];
}

TRL_INLINE void add_row(size_t step, const double *row, double value, double *out)
{
    for (size_t i = 0; i < step; i += 8)
        *(trl_v8 *)(out + i) += value * *(const trl_v8 *)(row + i);
}

TRL_CLONES static void gather_token(trl_lazy *z, size_t k, size_t tok, double *out)
{
    const trl_family *f = &z->d->family[k];
    memset(out, 0, f->step * sizeof *out);
    for (uint64_t r = f->dense_begin[tok]; r < f->dense_begin[tok + 1]; r++) {
        const size_t row = f->dense_row[r];
        const uint64_t at = trl_dense_at(f, row);
        const double gap = z->drift - z->row_at[k][row];
        if (gap != 0.0) {
            catch_up(f->width, gap, z->dir + at, z->v + at);
            z->row_at[k][row] = z->drift;
        }
        add_row(f->step, z->v + at, f->dense_value ? f->dense_value[r] : 1.0, out);
    }
    for (uint64_t e = f->entry_begin[tok]; e < f->entry_begin[tok + 1]; e++) {
        const uint32_t w = f->entry[e].weight;
        z->v[w] += (z->drift - z->entry_at[w]) * z->dir[w];
        z->entry_at[w] = z->drift;
        out[f->entry[e].cell] += (f->entry_value ? f->entry_value[e] : 1.0) * z->v[w];
    }
    for (size_t i = 0; i < f->step; i++)
        out[i] *= z->scale;
}

void trl_lazy_gather(trl_lazy *z, size_t from, const trl_tables *t)
{
    for (size_t k = 0; k < TRL_FAMILIES; k++)
        for (size_t i = 0; t->row[k] && i < t->n; i++)
            gather_token(z, k, from + i, t->row[k] + i * t->step[k]);
}

void trl_lazy_gather_shared(trl_lazy *z, double *const out[TRL_FAMILIES])
{
    const double gap = z->drift - z->constant_at;
    for (size_t k = 0; k < TRL_FAMILIES; k++) {
        const trl_family *f = &z->d->family[k];
        if (!f->has_constant)
            continue;
        catch_up(f->n_constant, gap, z->dir + f->constant_at, z->v + f->constant_at);
        for (size_t i = 0; i < f->step; i++)
            out[k][i] = 0.0;
        for (size_t i = 0; i < f->n_constant; i++)
            out[k][f->constant_cell[i]] = z->scale * z->v[f->constant_at + i];
    }
    z->constant_at = z->drift;
}

void trl_lazy_flush(trl_lazy *z)
{
    const trl_design *d = z->d;
    for (size_t k = 0; k < TRL_FAMILIES; k++) {
        const trl_family *f = &d->family[k];
        if (f->has_constant)
            catch_up(f->n_constant, z->drift - z->constant_at, z->dir + f->constant_at,
                     z->v + f->constant_at);
        for (size_t row = 0; row < f->n_dense; row++) {
            const uint64_t at = trl_dense_at(f, row);
            catch_up(f->width, z->drift - z->row_at[k][row], z->dir + at, z->v + at);
            z->row_at[k][row] = 0.0;
        }
        const uint64_t n = f->entry_first ? f->entry_first[f->n_attrs - f->n_dense] : 0;
        for (uint64_t e = 0; e < n; e++) {
            const uint64_t w = trl_entry_at(f, e);
            z->v[w] += (z->drift - z->entry_at[w]) * z->dir[w];
            z->entry_at[w] = 0.0;
        }
    }
    for (size_t i = 0; i < d->n_weights; i++)
        z->v[i] *= z->scale;
    z->constant_at = z->drift = 0.0;
    z->scale = 1.0;
}
