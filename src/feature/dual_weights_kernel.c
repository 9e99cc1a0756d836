/* dual_weights_kernel.c -- gather from and scatter to single-precision weights. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/dual_weights.h"
#include "feature/pair_view.h"
#include "feature/sparse_lists.h"
#include "num/simd.h"

/* 32 bytes, not 64: gcc 12 keeps these in registers without AVX-512 too. */
typedef float v8f __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t v8s __attribute__((vector_size(32), aligned(4), may_alias));

/* ---- lifetime -------------------------------------------------------------------------------- */

/* Sums of squared values of the singleton rows, or entries, of every token. */
static float *own_sums(const trl_design *d, bool rows)
{
    const trl_family *f = &d->family[TRL_NODE];
    const uint64_t *begin = rows ? f->dense_begin : f->entry_begin;
    const uint64_t singleton = trl_singleton_entry_at(f);
    const double *value = rows ? f->dense_value : f->entry_value;
    float *own = trl_zalloc(d->n_tokens, sizeof *own);
    for (size_t t = 0; own && t < d->n_tokens; t++)
        for (uint64_t k = begin[t + 1]; k-- > begin[t];) {
            if (rows ? f->dense_row[k] < f->singleton_row : f->entry[k].weight < singleton)
                break;
            own[t] += value ? (float)(value[k] * value[k]) : 1.0f;
        }
    return own;
}

trl_status trl_dual_weights_init(trl_dual_weights *z, const trl_design *d, double scale,
                                 trl_error *err)
{
    const trl_family *f = &d->family[TRL_NODE];
    const bool rows = f->singleton_row < f->n_dense, entries = f->singleton_attr < f->n_attrs;
    *z = (trl_dual_weights){.d = d, .scale = scale};
    z->w = trl_alloc64(trl_design_alloc(d), sizeof *z->w);
    z->own_row = rows ? own_sums(d, true) : NULL;
    z->own_entry = entries ? own_sums(d, false) : NULL;
    bool good = z->w && (!rows || z->own_row) && (!entries || z->own_entry);
    for (size_t k = 0; k < z->d->n_families; k++) {
        z->constant[k] = trl_zalloc(d->family[k].n_constant, sizeof **z->constant);
        good = good && z->constant[k];
    }
    if (!good) {
        trl_dual_weights_fini(z);
        return trl_fail_mem(err);
    }
    memset(z->w, 0, trl_design_alloc(d) * sizeof *z->w);
    return TRL_OK;
}

void trl_dual_weights_fini(trl_dual_weights *z)
{
    trl_free(z->w);
    trl_free(z->own_row);
    trl_free(z->own_entry);
    for (size_t k = 0; z->d && k < z->d->n_families; k++)
        trl_free(z->constant[k]);
    *z = (trl_dual_weights){0};
}

/* ---- gather ---------------------------------------------------------------------------------- */

/* Columns col .. col + 8 NV of one token, rows only.  `kept` is the token's, or NULL. */
TRL_INLINE void gather_rows(const size_t NV, const trl_dual_weights *z, const trl_family *f,
                            size_t tok, size_t col, const float *kept, double *out)
{
    v8f acc[8];
    for (size_t i = 0; i < NV; i++)
        acc[i] = (v8f){0};
    for (uint64_t r = f->dense_begin[tok]; r < f->dense_begin[tok + 1]; r++) {
        const size_t row = f->dense_row[r];
        if (row >= f->singleton_row)
            break;
        const float *w = z->w + trl_dense_at(f, row) + col;
        if (f->dense_value)
            for (size_t i = 0; i < NV; i++)
                acc[i] += (float)f->dense_value[r] * *(const v8f *)(w + 8 * i);
        else
            for (size_t i = 0; i < NV; i++)
                acc[i] += *(const v8f *)(w + 8 * i);
    }
    if (kept && z->own_row) {
        const float by = (float)z->scale * z->own_row[tok];
        for (size_t i = 0; i < NV; i++)
            acc[i] += by * *(const v8f *)(kept + col + 8 * i);
    }
    for (size_t i = 0; i < NV; i++)
        *(trl_v8 *)(out + 8 * i) = __builtin_convertvector(acc[i], trl_v8);
}

TRL_INLINE void gather_entries(const trl_dual_weights *z, const trl_family *f, size_t tok,
                               uint64_t singleton, const float *kept, double *out)
{
    if (f->sparse_begin) {
        for (uint64_t i = f->sparse_begin[tok]; i < f->sparse_begin[tok + 1]; i++)
            trl_sparse_gather32(f, f->sparse[i], z->w, out);
        return;
    }
    uint64_t e = f->entry_begin[tok];
    const uint64_t end = f->entry_begin[tok + 1];
    for (; e < end && f->entry[e].weight < singleton; e++)
        out[f->entry[e].cell] +=
            (f->entry_value ? f->entry_value[e] : 1.0) * (double)z->w[f->entry[e].weight];
    if (e < end) { /* singletons have only the token's own label */
        const uint32_t cell = f->entry[e].cell;
        out[cell] += z->scale * (double)z->own_entry[tok] * (double)kept[cell];
    }
}

TRL_INLINE void gather_tokens(const size_t NV, const trl_dual_weights *z, const trl_family *f,
                              size_t from, size_t n, size_t col, const float *kept, double *out)
{
    const bool last = col + 8 * NV == f->step;
    const uint64_t singleton = kept ? trl_singleton_entry_at(f) : UINT64_MAX;
    for (size_t t = 0; t < n; t++, out += f->step) {
        gather_rows(NV, z, f, from + t, col, kept, out + col);
        if (last)
            gather_entries(z, f, from + t, singleton, kept, out);
        kept = kept ? kept + f->step : NULL;
    }
}

TRL_CLONES static void gather_family(const trl_dual_weights *z, const trl_family *f, size_t from,
                                     size_t n, const float *kept, double *out)
{
    size_t col = 0;
    for (; f->step - col > 64; col += 64)
        gather_tokens(8, z, f, from, n, col, kept, out);
    switch ((f->step - col) / 8) {
    case 1:
        gather_tokens(1, z, f, from, n, col, kept, out);
        break;
    case 2:
        gather_tokens(2, z, f, from, n, col, kept, out);
        break;
    case 3:
        gather_tokens(3, z, f, from, n, col, kept, out);
        break;
    case 4:
        gather_tokens(4, z, f, from, n, col, kept, out);
        break;
    case 5:
        gather_tokens(5, z, f, from, n, col, kept, out);
        break;
    case 6:
        gather_tokens(6, z, f, from, n, col, kept, out);
        break;
    case 7:
        gather_tokens(7, z, f, from, n, col, kept, out);
        break;
    case 8:
        gather_tokens(8, z, f, from, n, col, kept, out);
        break;
    default:
        break;
    }
}

/* Scores of the pairs' cells (pair_view.h). */
static void gather_pairs(const trl_dual_weights *z, size_t from, const trl_tables *t)
{
    const trl_family *f = &z->d->family[TRL_EDGE];
    const size_t L = z->d->L;
    for (size_t k = 1; k < t->n; k++) {
        const trl_pair_part p = trl_pair_part_at(t->chain.pairs, t->chain.set, from, k);
        double *score = t->chain.pairs->score + p.begin;
        const uint64_t r0 = f->dense_begin[p.token], e0 = f->entry_begin[p.token];
        for (uint64_t r = r0; p.n && r < f->dense_begin[p.token + 1]; r++) {
            const float *w = z->w + trl_dense_at(f, f->dense_row[r]);
            const double value = f->dense_value ? f->dense_value[r] : 1.0;
            for (size_t i = 0; i < p.n; i++)
                score[i] += value * (double)w[p.cell[i].from * L + p.cell[i].to];
        }
        size_t i = 0;
        for (uint64_t e = e0; p.n && e < f->entry_begin[p.token + 1]; e++) {
            i = trl_pair_place(&p, L, f->entry + e, e == e0, i);
            score[i] +=
                (f->entry_value ? f->entry_value[e] : 1.0) * (double)z->w[f->entry[e].weight];
        }
    }
}

void trl_dual_weights_gather(const trl_dual_weights *z, size_t from, const float *kept,
                             const trl_tables *t)
{
    for (size_t k = 0; k < z->d->n_families; k++)
        if (t->row[k])
            gather_family(z, &z->d->family[k], from, t->n, k == TRL_NODE ? kept : NULL, t->row[k]);
    if (t->chain.pairs)
        gather_pairs(z, from, t);
}

void trl_dual_weights_gather_shared(const trl_dual_weights *z, double *const *out)
{
    for (size_t k = 0; k < z->d->n_families; k++) {
        const trl_family *f = &z->d->family[k];
        if (!f->has_constant || !out[k])
            continue;
        memset(out[k], 0, f->step * sizeof **out);
        for (size_t i = 0; i < f->n_constant; i++)
            out[k][f->constant_cell[i]] = z->constant[k][i];
    }
}

TRL_INLINE void fetch(const void *p, size_t bytes)
{
    for (size_t k = 0; k < bytes; k += 64)
        __builtin_prefetch((const char *)p + k, 0, 2);
}

void trl_dual_weights_prefetch(const trl_dual_weights *z, size_t family, size_t from, size_t n,
                               const float *kept)
{
    const trl_family *f = &z->d->family[family];
    const uint64_t r = f->dense_begin[from], e = f->entry_begin[from];
    fetch(f->dense_row + r, (size_t)(f->dense_begin[from + n] - r) * sizeof *f->dense_row);
    if (!f->sparse_begin)
        fetch(f->entry + e, (size_t)(f->entry_begin[from + n] - e) * sizeof *f->entry);
    fetch(kept, n * f->step * sizeof *kept);
}

/* ---- scatter --------------------------------------------------------------------------------- */

/* Lanes whose bit is set; the others 0. */
TRL_INLINE v8f keep_live(v8f x, uint64_t bits)
{
    static const v8s lane = {1, 2, 4, 8, 16, 32, 64, 128};
    const v8s on = ((v8s){0} + (int32_t)(bits & 255)) & lane;
    return (v8f)((v8s)x & (on == lane));
}

/* w += x in the row's live cells; x has f->step elements. */
TRL_INLINE void add_row(const trl_family *f, size_t row, const float *x, float by, float *w)
{
    const uint64_t *live = f->live ? f->live + row * f->words : NULL;
    const size_t end = row < f->n_hot ? f->step : f->width;
    size_t c = 0;
    for (; c + 8 <= end; c += 8) {
        const v8f v = by * *(const v8f *)(x + c);
        *(v8f *)(w + c) += live ? keep_live(v, live[c / 64] >> (c % 64)) : v;
    }
    for (; c < end; c++)
        if (!live || (live[c / 64] >> (c % 64) & 1))
            w[c] += by * x[c];
}

TRL_CLONES static void add_family(trl_dual_weights *z, const trl_family *f, size_t from, size_t n,
                                  uint64_t singleton, const float *x, float by)
{
    for (size_t tok = from; tok < from + n; tok++, x += f->step) {
        for (uint64_t r = f->dense_begin[tok]; r < f->dense_begin[tok + 1]; r++) {
            const size_t row = f->dense_row[r];
            if (row >= f->singleton_row)
                break;
            add_row(f, row, x, f->dense_value ? by * (float)f->dense_value[r] : by,
                    z->w + trl_dense_at(f, row));
        }
        if (f->sparse_begin) {
            for (uint64_t i = f->sparse_begin[tok]; i < f->sparse_begin[tok + 1]; i++)
                trl_sparse_scatter32(f, f->sparse[i], x, by, z->w);
            continue;
        }
        for (uint64_t e = f->entry_begin[tok]; e < f->entry_begin[tok + 1]; e++) {
            if (f->entry[e].weight >= singleton)
                break;
            z->w[f->entry[e].weight] +=
                (f->entry_value ? by * (float)f->entry_value[e] : by) * x[f->entry[e].cell];
        }
    }
}

void trl_dual_weights_add(trl_dual_weights *z, size_t from, size_t n, float *const *delta, float by)
{
    for (size_t k = 0; k < z->d->n_families; k++) {
        const trl_family *f = &z->d->family[k];
        if (delta[k])
            add_family(z, f, from, n, k == TRL_NODE ? trl_singleton_entry_at(f) : UINT64_MAX,
                       delta[k], by);
    }
}

TRL_CLONES void trl_dual_weights_add_constants(trl_dual_weights *z, size_t family,
                                               const float *delta, double by, double *scores)
{
    const trl_family *f = &z->d->family[family];
    double *w = z->constant[family];
    if (f->n_constant == f->width) { /* all cells, in their order */
        for (size_t c = 0; c < f->width; c++)
            w[c] += by * (double)delta[c];
        memcpy(scores, w, f->width * sizeof *scores);
        return;
    }
    for (size_t c = 0; c < f->n_constant; c++) {
        const size_t cell = f->constant_cell[c];
        scores[cell] = w[c] += by * (double)delta[cell];
    }
}

void trl_dual_weights_add_pairs(trl_dual_weights *z, size_t from, const trl_tables *t,
                                const float *delta, float by)
{
    const trl_family *f = &z->d->family[TRL_EDGE];
    const size_t L = z->d->L;
    for (size_t k = 1; k < t->n; k++) {
        const trl_pair_part p = trl_pair_part_at(t->chain.pairs, t->chain.set, from, k);
        const float *x = delta + p.begin;
        const uint64_t r0 = f->dense_begin[p.token], e0 = f->entry_begin[p.token];
        for (uint64_t r = r0; p.n && r < f->dense_begin[p.token + 1]; r++) {
            float *w = z->w + trl_dense_at(f, f->dense_row[r]);
            const float value = f->dense_value ? by * (float)f->dense_value[r] : by;
            for (size_t i = 0; i < p.n; i++) {
                const size_t c = p.cell[i].from * L + p.cell[i].to;
                if (trl_pair_is_live(f, f->dense_row[r], c))
                    w[c] += value * x[i];
            }
        }
        size_t i = 0;
        for (uint64_t e = e0; p.n && e < f->entry_begin[p.token + 1]; e++) {
            i = trl_pair_place(&p, L, f->entry + e, e == e0, i);
            z->w[f->entry[e].weight] +=
                (f->entry_value ? by * (float)f->entry_value[e] : by) * x[i];
        }
    }
}

/* ---- whole vectors --------------------------------------------------------------------------- */

/* The weights of singletons, each from its only token. */
static void get_singletons(const trl_dual_weights *z, const float *kept, double *w)
{
    const trl_family *f = &z->d->family[TRL_NODE];
    for (size_t c = 0; c < f->n_cold; c++) {
        const size_t a = trl_cold_attr(f, c);
        if (a < f->singleton_row || (a >= f->n_dense && a < f->singleton_attr))
            continue;
        const uint64_t at = f->token_begin[c];
        const float *row = kept + trl_token_at(f, at) * f->step;
        const double by = z->scale * (f->token_value ? f->token_value[at] : 1.0);
        if (a < f->n_dense) {
            for (size_t k = 0; k < f->width; k++)
                w[trl_dense_at(f, a) + k] = by * (double)row[k];
        } else {
            const uint64_t *first = f->entry_first + (a - f->n_dense);
            for (uint64_t e = first[0]; e < first[1]; e++)
                w[trl_entry_at(f, e)] = by * (double)row[f->entry_cell[e]];
        }
    }
}

void trl_dual_weights_get(const trl_dual_weights *z, const float *kept, double *w)
{
    for (size_t i = 0; i < z->d->n_weights; i++)
        w[i] = (double)z->w[i];
    for (size_t k = 0; k < z->d->n_families; k++)
        for (size_t i = 0; i < z->d->family[k].n_constant; i++)
            w[z->d->family[k].constant_at + i] = z->constant[k][i];
    get_singletons(z, kept, w);
}

void trl_dual_weights_set(trl_dual_weights *z, const double *w)
{
    for (size_t i = 0; i < z->d->n_weights; i++)
        z->w[i] = (float)w[i];
    for (size_t k = 0; k < z->d->n_families; k++)
        for (size_t i = 0; i < z->d->family[k].n_constant; i++)
            z->constant[k][i] = w[z->d->family[k].constant_at + i];
}
