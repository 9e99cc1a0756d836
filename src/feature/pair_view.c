/* pair_view.c -- the sets of one example. */
/* SPDX-License-Identifier: MIT */
#include "feature/pair_view.h"

#include <math.h>
#include <string.h>

#include "num/vexp.h"

#define PADDED(n) (((n) + 7) / 8 * 8)

static size_t count_cells(const trl_pair_sets *all, size_t from, size_t n)
{
    size_t cells = 0;
    for (size_t t = 1; t < n; t++)
        cells += trl_pair_set_size(all, all->of[from + t]);
    return cells;
}

size_t trl_pair_view_room(const trl_pair_sets *all, size_t from, size_t n)
{
    return PADDED(count_cells(all, from, n));
}

/* Sets 0 and, for the first position, 1 .. 1 are empty. */
static void fill(trl_pair_view *v, const trl_pair_sets *all, size_t from, size_t n)
{
    uint64_t *begin = v->sets.begin, at = 0;
    v->set[0] = 0;
    begin[0] = begin[1] = 0;
    for (size_t t = 1; t < n; t++) {
        const size_t set = all->of[from + t], cells = trl_pair_set_size(all, set);
        v->set[t] = cells ? (uint32_t)t : 0;
        memcpy(v->sets.cell + at, all->cell + all->begin[set], cells * sizeof *all->cell);
        at += cells;
        begin[t + 1] = at;
    }
}

trl_pair_view *trl_pair_view_get(const trl_pair_sets *all, size_t from, size_t n, trl_arena *arena)
{
    const size_t cells = count_cells(all, from, n), room = PADDED(cells) + 8;
    trl_pair_view *v = trl_arena_get(arena, 1, sizeof *v);
    if (!v)
        return NULL;
    *v = (trl_pair_view){.sets = {.L = all->L, .n = n, .n_tables = 1}, .n_cells = cells};
    v->set = trl_arena_get(arena, n, sizeof *v->set);
    v->sets.begin = trl_arena_get(arena, n + 1, sizeof *v->sets.begin);
    v->sets.cell = trl_arena_get(arena, room, sizeof *v->sets.cell);
    v->sets.score = trl_arena_get(arena, room, sizeof *v->sets.score);
    v->sets.factor = trl_arena_get(arena, room, sizeof *v->sets.factor);
    v->adjoint = trl_arena_get(arena, room, sizeof *v->adjoint);
    if (!v->set || !v->sets.begin || !v->sets.cell || !v->sets.score || !v->sets.factor ||
        !v->adjoint)
        return NULL;
    fill(v, all, from, n);
    memset(v->sets.score, 0, room * sizeof *v->sets.score);
    memset(v->adjoint, 0, room * sizeof *v->adjoint);
    return v;
}

void trl_pair_view_gather(const trl_design *d, const double *w, size_t from, const trl_tables *t)
{
    const trl_family *f = &d->family[TRL_EDGE];
    for (size_t k = 1; k < t->n; k++) {
        const trl_pair_part p = trl_pair_part_at(t->chain.pairs, t->chain.set, from, k);
        double *score = t->chain.pairs->score + p.begin;
        const uint64_t e0 = f->entry_begin[p.token];
        for (uint64_t r = f->dense_begin[p.token]; p.n && r < f->dense_begin[p.token + 1]; r++) {
            const double *v = w + trl_dense_at(f, f->dense_row[r]);
            const double by = f->dense_value ? f->dense_value[r] : 1.0;
            for (size_t i = 0; i < p.n; i++)
                score[i] += by * v[p.cell[i].from * d->L + p.cell[i].to];
        }
        size_t i = 0;
        for (uint64_t e = e0; p.n && e < f->entry_begin[p.token + 1]; e++) {
            i = trl_pair_place(&p, d->L, f->entry + e, e == e0, i);
            score[i] += (f->entry_value ? f->entry_value[e] : 1.0) * w[f->entry[e].weight];
        }
    }
}

void trl_pair_view_ready(trl_pair_view *v)
{
    double wide = 0.0;
    for (size_t i = 0; i < v->n_cells; i++) {
        const double x = fabs(v->sets.score[i]);
        wide = x <= wide ? wide : x < HUGE_VAL ? x : HUGE_VAL; /* NaN, too */
    }
    v->sets.wide = wide;
    trl_vexp(v->n_cells, v->sets.score, 0.0, v->sets.factor);
}

void trl_pair_view_keep(trl_pair_view *v, trl_tables *adjoint)
{
    if (adjoint->chain.set_cell)
        memcpy(v->adjoint, adjoint->chain.set_cell, v->n_cells * sizeof *v->adjoint);
    adjoint->chain.set_cell = v->adjoint;
}

void trl_pair_view_scatter(const trl_pair_view *v, const trl_design *d, size_t from, const float *x,
                           double scale, double *g)
{
    const trl_family *f = &d->family[TRL_EDGE];
    for (size_t t = 1; t < v->sets.n; t++) {
        const trl_pair_part p = trl_pair_part_at(&v->sets, v->set, from, t);
        const float *own = x + p.begin;
        const uint64_t r0 = f->dense_begin[p.token], e0 = f->entry_begin[p.token];
        for (uint64_t r = r0; p.n && r < f->dense_begin[p.token + 1]; r++)
            for (size_t i = 0; i < p.n; i++) {
                const size_t c = p.cell[i].from * d->L + p.cell[i].to;
                if (trl_pair_is_live(f, f->dense_row[r], c))
                    g[trl_dense_at(f, f->dense_row[r]) + c] +=
                        scale * (f->dense_value ? f->dense_value[r] : 1.0) * (double)own[i];
            }
        size_t i = 0;
        for (uint64_t e = e0; p.n && e < f->entry_begin[p.token + 1]; e++) {
            i = trl_pair_place(&p, d->L, f->entry + e, e == e0, i);
            g[f->entry[e].weight] +=
                scale * (f->entry_value ? f->entry_value[e] : 1.0) * (double)own[i];
        }
    }
}
