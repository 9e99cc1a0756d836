/* lazy_weights_kernel.c -- gather, which brings weights up to date, and scatter into the
 * direction. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/lazy_weights.h"
#include "feature/pair_view.h"
#include "feature/sparse_lists.h"
#include "num/simd.h"

/* Entries lie below the cold rows. */
static size_t entry_end(const trl_design *d)
{
    return (size_t)d->family[TRL_NODE].cold_at;
}

static void mark_entries(trl_lazy *z)
{
    for (size_t k = 0; k < z->d->n_families; k++) {
        const trl_family *f = &z->d->family[k];
        const uint64_t n = f->entry_first ? f->entry_first[f->n_attrs - f->n_dense] : 0;
        for (uint64_t e = 0; e < n; e++)
            z->is_entry[trl_entry_at(f, e)] = true;
    }
}

trl_status trl_lazy_init(trl_lazy *z, const trl_design *d, trl_error *err)
{
    *z = (trl_lazy){.d = d, .scale = 1.0, .m = 1.0};
    const size_t n = trl_design_alloc(d);
    z->v = trl_alloc64(n, sizeof *z->v);
    z->dir = trl_alloc64(n, sizeof *z->dir);
    z->entry = trl_zalloc(entry_end(d), sizeof *z->entry);
    z->is_entry = trl_zalloc(entry_end(d), sizeof *z->is_entry);
    bool good = z->v && z->dir && z->entry && z->is_entry;
    for (size_t k = 0; k < z->d->n_families; k++) {
        z->row_at[k] = trl_zalloc(d->family[k].n_dense, sizeof **z->row_at);
        good = good && z->row_at[k];
    }
    if (!good) {
        trl_lazy_fini(z);
        return trl_fail_mem(err);
    }
    memset(z->v, 0, n * sizeof *z->v);
    memset(z->dir, 0, n * sizeof *z->dir);
    mark_entries(z);
    return TRL_OK;
}

void trl_lazy_fini(trl_lazy *z)
{
    trl_free(z->v);
    trl_free(z->dir);
    trl_free(z->entry);
    trl_free(z->is_entry);
    for (size_t k = 0; z->d && k < z->d->n_families; k++)
        trl_free(z->row_at[k]);
    *z = (trl_lazy){0};
}

/* e and c of v <- e v + c dir after a gap (lazy_weights.h).  The series also has the right limit at
 * lambda = 0. */
TRL_INLINE void coefficients(const trl_lazy *z, double gap, double *e, double *c)
{
    const double x = z->lambda * gap;
    if (x < 0.01) { /* (1 - e) / x by its series, to 1e-15 */
        const double p =
            1.0 - x * (0.5 - x * (1.0 / 6 - x * (1.0 / 24 - x * (1.0 / 120 - x * (1.0 / 720)))));
        *e = 1.0 - x * p;
        *c = gap * p / z->m;
    } else {
        *e = exp(-x);
        *c = (1.0 - *e) / (z->lambda * z->m);
    }
}

/* v[0 .. n) = e v + c dir.  Cold rows are not padded, so the last lanes are done one by one. */
TRL_INLINE void catch_up(size_t n, double e, double c, const double *dir, double *v)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        *(trl_v8 *)(v + i) = e * *(trl_v8 *)(v + i) + c * *(const trl_v8 *)(dir + i);
    for (; i < n; i++)
        v[i] = e * v[i] + c * dir[i];
}

TRL_INLINE void catch_up_row(trl_lazy *z, size_t k, size_t row)
{
    const trl_family *f = &z->d->family[k];
    const double gap = z->time - z->row_at[k][row];
    if (gap == 0.0)
        return;
    const uint64_t at = trl_dense_at(f, row);
    double e, c;
    coefficients(z, gap, &e, &c);
    catch_up(row < f->n_hot ? f->step : f->width, e, c, z->dir + at, z->v + at);
    z->row_at[k][row] = z->time;
}

TRL_INLINE void catch_up_entry(trl_lazy *z, trl_lazy_entry *x)
{
    if (x->at == z->time)
        return;
    double e, c;
    coefficients(z, z->time - x->at, &e, &c);
    x->v = e * x->v + c * x->dir;
    x->at = z->time;
}

static void catch_up_constant(trl_lazy *z, size_t k)
{
    const trl_family *f = &z->d->family[k];
    const double gap = z->time - z->constant_at[k];
    if (!f->has_constant || gap == 0.0)
        return;
    double e, c;
    coefficients(z, gap, &e, &c);
    catch_up(f->n_constant, e, c, z->dir + f->constant_at, z->v + f->constant_at);
    z->constant_at[k] = z->time;
}

/* ---- gather ---------------------------------------------------------------------------------- */

/* Columns col .. col + 8 NV of one token: rows are current when col > 0. */
TRL_INLINE void gather_rows(const size_t NV, trl_lazy *z, size_t k, size_t tok, size_t col,
                            double *out)
{
    const trl_family *f = &z->d->family[k];
    trl_v8 acc[8];
    for (size_t i = 0; i < NV; i++)
        acc[i] = (trl_v8){0};
    for (uint64_t r = f->dense_begin[tok]; r < f->dense_begin[tok + 1]; r++) {
        const size_t row = f->dense_row[r];
        const uint64_t at = trl_dense_at(f, row);
        const double value = f->dense_value ? f->dense_value[r] : 1.0;
        catch_up_row(z, k, row);
        for (size_t i = 0; i < NV; i++)
            acc[i] += value * *(const trl_v8 *)(z->v + at + col + 8 * i);
    }
    for (size_t i = 0; i < NV; i++)
        *(trl_v8 *)(out + 8 * i) = acc[i] * z->scale;
}

TRL_INLINE void gather_entries(trl_lazy *z, const trl_family *f, size_t tok, double *out)
{
    trl_entry_walk walk = trl_entries_of(f, tok);
    while (f->sparse_begin && trl_entry_next(&walk)) {
        trl_lazy_entry *x = &z->entry[walk.entry.weight];
        catch_up_entry(z, x);
        out[walk.entry.cell] += x->v * z->scale;
    }
    for (uint64_t e = f->entry_begin[tok]; e < f->entry_begin[tok + 1]; e++) {
        trl_lazy_entry *x = &z->entry[f->entry[e].weight];
        catch_up_entry(z, x);
        out[f->entry[e].cell] += (f->entry_value ? f->entry_value[e] : 1.0) * x->v * z->scale;
    }
}

TRL_INLINE void gather_tokens(const size_t NV, trl_lazy *z, size_t k, size_t from, size_t n,
                              size_t col, double *out)
{
    const trl_family *f = &z->d->family[k];
    for (size_t t = 0; t < n; t++, out += f->step) {
        gather_rows(NV, z, k, from + t, col, out + col);
        if (col + 8 * NV == f->step) /* the last block */
            gather_entries(z, f, from + t, out);
    }
}

TRL_CLONES static void gather_family(trl_lazy *z, size_t k, size_t from, size_t n, double *out)
{
    const size_t step = z->d->family[k].step;
    size_t col = 0;
    for (; step - col > 64; col += 64)
        gather_tokens(8, z, k, from, n, col, out);
    switch ((step - col) / 8) {
    case 1:
        gather_tokens(1, z, k, from, n, col, out);
        break;
    case 2:
        gather_tokens(2, z, k, from, n, col, out);
        break;
    case 3:
        gather_tokens(3, z, k, from, n, col, out);
        break;
    case 4:
        gather_tokens(4, z, k, from, n, col, out);
        break;
    case 5:
        gather_tokens(5, z, k, from, n, col, out);
        break;
    case 6:
        gather_tokens(6, z, k, from, n, col, out);
        break;
    case 7:
        gather_tokens(7, z, k, from, n, col, out);
        break;
    case 8:
        gather_tokens(8, z, k, from, n, col, out);
        break;
    default:
        break;
    }
}

/* Scores of the pairs' cells (pair_view.h). */
static void gather_pairs(trl_lazy *z, size_t from, const trl_tables *t)
{
    const trl_family *f = &z->d->family[TRL_EDGE];
    const size_t L = z->d->L;
    for (size_t k = 1; k < t->n; k++) {
        const trl_pair_part p = trl_pair_part_at(t->chain.pairs, t->chain.set, from, k);
        double *score = t->chain.pairs->score + p.begin;
        const uint64_t e0 = f->entry_begin[p.token];
        for (uint64_t r = f->dense_begin[p.token]; p.n && r < f->dense_begin[p.token + 1]; r++) {
            const double *v = z->v + trl_dense_at(f, f->dense_row[r]);
            const double by = (f->dense_value ? f->dense_value[r] : 1.0) * z->scale;
            catch_up_row(z, TRL_EDGE, f->dense_row[r]);
            for (size_t i = 0; i < p.n; i++)
                score[i] += by * v[p.cell[i].from * L + p.cell[i].to];
        }
        size_t i = 0;
        for (uint64_t e = e0; p.n && e < f->entry_begin[p.token + 1]; e++) {
            trl_lazy_entry *x = &z->entry[f->entry[e].weight];
            catch_up_entry(z, x);
            i = trl_pair_place(&p, L, f->entry + e, e == e0, i);
            score[i] += (f->entry_value ? f->entry_value[e] : 1.0) * x->v * z->scale;
        }
    }
}

void trl_lazy_gather(trl_lazy *z, size_t from, const trl_tables *t)
{
    for (size_t k = 0; k < z->d->n_families; k++)
        if (t->row[k])
            gather_family(z, k, from, t->n, t->row[k]);
    if (t->chain.pairs)
        gather_pairs(z, from, t);
}

/* Into the second-level cache: the first is too small for an example's rows. */
void trl_lazy_prefetch(const trl_lazy *z, size_t from, size_t n)
{
    for (size_t k = 0; k < z->d->n_families; k++) {
        const trl_family *f = &z->d->family[k];
        if (!f->has_rows)
            continue;
        for (uint64_t r = f->dense_begin[from]; r < f->dense_begin[from + n]; r++) {
            const uint64_t at = trl_dense_at(f, f->dense_row[r]);
            for (size_t c = 0; c < f->step; c += 8) {
                __builtin_prefetch(z->v + at + c, 1, 2);
                __builtin_prefetch(z->dir + at + c, 1, 2);
            }
        }
        for (uint64_t e = f->entry_begin[from]; e < f->entry_begin[from + n]; e++)
            __builtin_prefetch(&z->entry[f->entry[e].weight], 1, 2);
    }
}

void trl_lazy_gather_shared(trl_lazy *z, double *const *out)
{
    for (size_t k = 0; k < z->d->n_families; k++) {
        const trl_family *f = &z->d->family[k];
        if (!f->has_constant)
            continue;
        catch_up_constant(z, k);
        for (size_t i = 0; i < f->step; i++)
            out[k][i] = 0.0;
        for (size_t i = 0; i < f->n_constant; i++)
            out[k][f->constant_cell[i]] = z->scale * z->v[f->constant_at + i];
    }
}

/* ---- scatter --------------------------------------------------------------------------------- */

/* Lanes whose bit is set; the others 0. */
TRL_INLINE trl_v8 keep_live(trl_v8 x, uint64_t bits)
{
    static const trl_v8i lane = {1, 2, 4, 8, 16, 32, 64, 128};
    const trl_v8i on = ((trl_v8i){0} + (int64_t)bits) & lane;
    return (trl_v8)((trl_v8i)x & (on == lane));
}

/* Rows of one token: dir (or v) += adj, live cells only. */
TRL_INLINE void scatter_rows(trl_lazy *z, size_t k, size_t tok, const double *adj, bool to_v)
{
    const trl_family *f = &z->d->family[k];
    double *to = to_v ? z->v : z->dir;
    for (uint64_t r = f->dense_begin[tok]; r < f->dense_begin[tok + 1]; r++) {
        const size_t row = f->dense_row[r];
        const uint64_t *live = f->live ? f->live + row * f->words : NULL;
        const double value = f->dense_value ? f->dense_value[r] : 1.0;
        double *out = to + trl_dense_at(f, row);
        size_t c = 0, end = row < f->n_hot ? f->step : f->width;
        for (; c + 8 <= end; c += 8) {
            const trl_v8 x = value * *(const trl_v8 *)(adj + c);
            *(trl_v8 *)(out + c) += live ? keep_live(x, live[c / 64] >> (c % 64)) : x;
        }
        for (; c < end; c++)
            if (!live || (live[c / 64] >> (c % 64) & 1))
                out[c] += value * adj[c];
    }
}

TRL_INLINE void scatter_entries(trl_lazy *z, const trl_family *f, size_t tok, const double *adj,
                                bool to_v)
{
    trl_entry_walk walk = trl_entries_of(f, tok);
    while (f->sparse_begin && trl_entry_next(&walk)) {
        trl_lazy_entry *x = &z->entry[walk.entry.weight];
        if (to_v)
            x->v += adj[walk.entry.cell];
        else
            x->dir += adj[walk.entry.cell];
    }
    for (uint64_t e = f->entry_begin[tok]; e < f->entry_begin[tok + 1]; e++) {
        trl_lazy_entry *x = &z->entry[f->entry[e].weight];
        const double by = (f->entry_value ? f->entry_value[e] : 1.0) * adj[f->entry[e].cell];
        if (to_v)
            x->v += by;
        else
            x->dir += by;
    }
}

TRL_CLONES static void scatter_family(trl_lazy *z, size_t k, size_t from, size_t n,
                                      const double *adj, bool to_v)
{
    const trl_family *f = &z->d->family[k];
    for (size_t t = 0; t < n; t++, adj += f->step) {
        scatter_rows(z, k, from + t, adj, to_v);
        scatter_entries(z, f, from + t, adj, to_v);
    }
}

static void scatter_pairs(trl_lazy *z, size_t from, const trl_tables *a, bool to_v)
{
    const trl_family *f = &z->d->family[TRL_EDGE];
    const size_t L = z->d->L;
    double *to = to_v ? z->v : z->dir;
    for (size_t k = 1; k < a->n; k++) {
        const trl_pair_part p = trl_pair_part_at(a->chain.pairs, a->chain.set, from, k);
        const double *x = a->chain.set_cell + p.begin;
        const uint64_t e0 = f->entry_begin[p.token];
        for (uint64_t r = f->dense_begin[p.token]; p.n && r < f->dense_begin[p.token + 1]; r++)
            for (size_t i = 0; i < p.n; i++) {
                const size_t c = p.cell[i].from * L + p.cell[i].to;
                if (trl_pair_is_live(f, f->dense_row[r], c))
                    to[trl_dense_at(f, f->dense_row[r]) + c] +=
                        (f->dense_value ? f->dense_value[r] : 1.0) * x[i];
            }
        size_t i = 0;
        for (uint64_t e = e0; p.n && e < f->entry_begin[p.token + 1]; e++) {
            trl_lazy_entry *entry = &z->entry[f->entry[e].weight];
            i = trl_pair_place(&p, L, f->entry + e, e == e0, i);
            *(to_v ? &entry->v : &entry->dir) += (f->entry_value ? f->entry_value[e] : 1.0) * x[i];
        }
    }
}

void trl_lazy_scatter(trl_lazy *z, size_t from, const trl_tables *adjoint, bool to_v)
{
    if (adjoint->chain.pairs)
        scatter_pairs(z, from, adjoint, to_v);
    for (size_t k = 0; k < z->d->n_families; k++) {
        const trl_family *f = &z->d->family[k];
        if (adjoint->row[k])
            scatter_family(z, k, from, adjoint->n, adjoint->row[k], to_v);
        double *to = (to_v ? z->v : z->dir) + f->constant_at;
        for (size_t i = 0; f->has_constant && adjoint->shared[k] && i < f->n_constant; i++)
            to[i] += adjoint->shared[k][f->constant_cell[i]];
    }
}

/* ---- whole vectors --------------------------------------------------------------------------- */

void trl_lazy_flush(trl_lazy *z)
{
    const trl_design *d = z->d;
    for (size_t k = 0; k < z->d->n_families; k++) {
        catch_up_constant(z, k);
        z->constant_at[k] = 0.0;
        for (size_t row = 0; row < d->family[k].n_dense; row++) {
            catch_up_row(z, k, row);
            z->row_at[k][row] = 0.0;
        }
    }
    for (size_t i = 0; i < d->n_weights; i++)
        z->v[i] *= z->scale;
    for (size_t w = 0; w < entry_end(d); w++) {
        trl_lazy_entry *x = &z->entry[w];
        catch_up_entry(z, x);
        x->v *= z->scale;
        x->at = 0.0;
    }
    z->time = 0.0;
    z->scale = 1.0;
}

void trl_lazy_get(const trl_lazy *z, double *w, double *dir)
{
    const size_t bytes = (size_t)z->d->n_weights * sizeof *w;
    if (w)
        memcpy(w, z->v, bytes);
    if (dir)
        memcpy(dir, z->dir, bytes);
    for (size_t at = 0; at < entry_end(z->d); at++) {
        if (w && z->is_entry[at])
            w[at] = z->entry[at].v;
        if (dir && z->is_entry[at])
            dir[at] = z->entry[at].dir;
    }
}

void trl_lazy_average(const trl_lazy *z, double a, double b, double *w)
{
    for (size_t at = 0; at < z->d->n_weights; at++)
        w[at] = a * z->v[at] - b * z->dir[at];
    for (size_t at = 0; at < entry_end(z->d); at++)
        if (z->is_entry[at])
            w[at] = a * z->entry[at].v - b * z->entry[at].dir;
}

void trl_lazy_clear_dir(trl_lazy *z)
{
    memset(z->dir, 0, trl_design_alloc(z->d) * sizeof *z->dir);
    for (size_t w = 0; w < entry_end(z->d); w++)
        z->entry[w].dir = 0.0;
}

void trl_lazy_multiply(trl_lazy *z, uint64_t weight, double by, double counted)
{
    const bool entry = weight < entry_end(z->d) && z->is_entry[weight];
    double *v = entry ? &z->entry[weight].v : &z->v[weight];
    double *dir = entry ? &z->entry[weight].dir : &z->dir[weight];
    const double change = (by - 1.0) * *v;
    *v += change;
    *dir += counted * change;
}

double trl_lazy_at(const trl_lazy *z, uint64_t weight)
{
    return weight < entry_end(z->d) && z->is_entry[weight] ? z->entry[weight].v : z->v[weight];
}

double trl_lazy_norm2(const trl_lazy *z)
{
    double sum = 0.0;
    for (size_t at = 0; at < z->d->n_weights; at++)
        if (at >= entry_end(z->d) || !z->is_entry[at])
            sum += z->v[at] * z->v[at];
    for (size_t at = 0; at < entry_end(z->d); at++)
        sum += z->is_entry[at] ? z->entry[at].v * z->entry[at].v : 0.0;
    return sum;
}

void trl_lazy_set(trl_lazy *z, const double *w, const double *dir)
{
    const size_t bytes = (size_t)z->d->n_weights * sizeof *w;
    if (w)
        memcpy(z->v, w, bytes);
    if (dir)
        memcpy(z->dir, dir, bytes);
    for (size_t at = 0; at < entry_end(z->d); at++) {
        if (w)
            z->entry[at].v = w[at];
        if (dir)
            z->entry[at].dir = dir[at];
    }
}
