/* score_tables.c -- memory for score tables. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/gradient.h"

bool trl_tables_get(const trl_design *d, size_t n, trl_arena *arena, trl_tables *out)
{
    *out = (trl_tables){.n = n};
    for (size_t k = 0; k < d->n_families; k++) {
        out->step[k] = d->family[k].step;
        if (!d->family[k].has_rows)
            continue;
        out->row[k] = trl_arena_get(arena, n, out->step[k] * sizeof(double));
        if (!out->row[k])
            return false;
    }
    return true;
}

bool trl_tables_get_sets(const trl_design *d, const trl_pair_sets *pairs, size_t from, size_t n,
                         trl_arena *arena, trl_tables *out)
{
    if (!pairs)
        return trl_tables_get(d, n, arena, out);
    *out = (trl_tables){.n = n, .chain = {.pairs = pairs, .set = pairs->of + from}};
    for (size_t k = 0; k < d->n_families; k++)
        out->step[k] = d->family[k].step;
    out->row[TRL_NODE] = trl_arena_get(arena, n, out->step[TRL_NODE] * sizeof(double));
    return out->row[TRL_NODE] != NULL;
}

bool trl_tables_get_view(const trl_design *d, const trl_pair_sets *all, size_t from, size_t n,
                         trl_arena *arena, trl_tables *out)
{
    trl_pair_view *v = all ? trl_pair_view_get(all, from, n, arena) : NULL;
    if ((all && !v) || !trl_tables_get_sets(d, all, from, n, arena, out))
        return false;
    if (v)
        out->chain = (trl_chain_tables){.pairs = &v->sets, .set = v->set, .view = v};
    return true;
}

trl_status trl_task_pairs(const trl_task *task, const trl_design *d, trl_pair_sets *out, bool *has,
                          trl_error *err)
{
    *has = false;
    const bool may = task->chain.pair_sets && d->order == 1 && d->family[TRL_EDGE].has_rows;
    return may ? trl_pair_sets_build(out, d, 1, has, err) : TRL_OK;
}

void trl_tables_scale(const trl_design *d, trl_tables *t, double by)
{
    for (size_t k = 0; k < d->n_families; k++) {
        for (size_t c = 0; t->row[k] && c < t->n * t->step[k]; c++)
            t->row[k][c] *= by;
        for (size_t c = 0; t->shared[k] && c < d->family[k].width; c++)
            t->shared[k][c] *= by;
    }
    for (size_t c = 0; t->chain.view && c < t->chain.view->n_cells; c++)
        t->chain.set_cell[c] *= by;
}

trl_status trl_shared_new(const trl_design *d, trl_tables *out, trl_error *err)
{
    *out = (trl_tables){0};
    for (size_t k = 0; k < d->n_families; k++) {
        out->step[k] = d->family[k].step;
        if (!d->family[k].has_constant)
            continue;
        out->shared[k] = trl_alloc64(d->family[k].step, sizeof(double));
        if (!out->shared[k]) {
            trl_shared_free(out);
            return trl_fail_mem(err);
        }
    }
    trl_shared_clear(d, out);
    return TRL_OK;
}

void trl_shared_clear(const trl_design *d, trl_tables *t)
{
    for (size_t k = 0; k < d->n_families; k++)
        if (t->shared[k])
            memset(t->shared[k], 0, d->family[k].step * sizeof(double));
    if (t->chain.set_table)
        memset(t->chain.set_table, 0,
               t->chain.pairs->n_tables * d->family[TRL_EDGE].width * sizeof *t->chain.set_table);
}

trl_status trl_shared_sets(const trl_design *d, const trl_pair_sets *pairs, trl_tables *out,
                           trl_error *err)
{
    const size_t width = d->family[TRL_EDGE].width;
    out->chain.pairs = pairs;
    out->chain.set_table = trl_alloc64(pairs->n_tables, width * sizeof *out->chain.set_table);
    if (!out->chain.set_table)
        return trl_fail_mem(err);
    memset(out->chain.set_table, 0, pairs->n_tables * width * sizeof *out->chain.set_table);
    return TRL_OK;
}

void trl_shared_free(trl_tables *t)
{
    trl_free(t->chain.set_table);
    t->chain.set_table = NULL;
    for (size_t k = 0; k < TRL_FAMILIES_MAX; k++) {
        trl_free(t->shared[k]);
        t->shared[k] = NULL;
    }
}
