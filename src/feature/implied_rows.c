/* implied_rows.c -- summing the rows that attributes imply (found by implied_rows_find.c), forward
 * and backward. */
/* SPDX-License-Identifier: MIT */
#include "feature/implied_rows.h"

#include <string.h>

#include "base/mem.h"
#include "num/simd.h"

void trl_implied_fini(trl_implied_rows *implied)
{
    trl_free(implied->pair);
    trl_free(implied->entry);
    trl_free(implied->row_begin);
    trl_free(implied->entry_begin);
    trl_free(implied->row);
    trl_free(implied->packed);
    trl_free(implied->sparse_begin);
    trl_free(implied->sparse);
    *implied = (trl_implied_rows){0};
}

bool trl_implied_add_row(trl_implied_rows *implied, uint32_t row, uint32_t child)
{
    trl_implied_pair *grown =
        trl_reserve(implied->pair, &implied->pair_cap, implied->n_pairs + 1, sizeof *grown);
    if (!grown)
        return false;
    implied->pair = grown;
    implied->pair[implied->n_pairs++] = (trl_implied_pair){row, child};
    return true;
}

bool trl_implied_add_entries(trl_implied_rows *implied, const trl_family *f, uint32_t row, size_t a)
{
    for (uint64_t e = f->entry_first[a - f->n_dense]; e < f->entry_first[a - f->n_dense + 1]; e++) {
        trl_implied_entry *grown =
            trl_reserve(implied->entry, &implied->entry_cap, implied->n_entries + 1, sizeof *grown);
        if (!grown)
            return false;
        implied->entry = grown;
        implied->entry[implied->n_entries++] =
            (trl_implied_entry){(uint64_t)row * f->step + f->entry_cell[e], trl_entry_at(f, e)};
    }
    return true;
}

static void add_row(size_t step, const double *from, double *to)
{
    for (size_t c = 0; c < step; c += 8)
        *(trl_v8 *)(to + c) += *(const trl_v8 *)(from + c);
}

void trl_implied_forward(const trl_implied_rows *implied, const trl_design *d, const double *w,
                         double *hot)
{
    const trl_family *f = &d->family[TRL_NODE];
    memcpy(hot, w + f->hot_at, f->n_hot * f->step * sizeof *hot);
    if (implied->n_rows > f->n_hot)
        memset(hot + f->n_hot * f->step, 0, (implied->n_rows - f->n_hot) * f->step * sizeof *hot);
    for (size_t i = 0; i < implied->n_entries; i++)
        hot[implied->entry[i].cell] += w[implied->entry[i].weight];
    for (size_t i = 0; i < implied->n_pairs; i++)
        add_row(f->step, hot + implied->pair[i].child * f->step,
                hot + implied->pair[i].parent * f->step);
}

void trl_implied_backward(const trl_implied_rows *implied, const trl_design *d, double *hot,
                          double *g)
{
    const trl_family *f = &d->family[TRL_NODE];
    double *rows = g + f->hot_at;
    for (size_t i = implied->n_pairs; i-- > 0;) {
        const size_t p = implied->pair[i].parent, c = implied->pair[i].child;
        add_row(f->step, (p < f->n_hot ? rows : hot) + p * f->step,
                (c < f->n_hot ? rows : hot) + c * f->step);
    }
    for (size_t i = 0; i < implied->n_entries; i++) {
        const uint64_t cell = implied->entry[i].cell;
        g[implied->entry[i].weight] += cell < f->n_hot * f->step ? rows[cell] : hot[cell];
    }
}
