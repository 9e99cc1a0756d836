/* implied_rows.c -- summing the rows that attributes imply (found by implied_rows_find.c), forward
 * and backward. */
/* SPDX-License-Identifier: MIT */
#include "feature/implied_rows.h"

#include <string.h>

#include "base/mem.h"
#include "num/simd.h"

void trl_implied_fini(trl_implied_rows *fold)
{
    trl_free(fold->pair);
    trl_free(fold->entry);
    trl_free(fold->row_begin);
    trl_free(fold->entry_begin);
    trl_free(fold->row);
    trl_free(fold->packed);
    *fold = (trl_implied_rows){0};
}

static void add_row(size_t step, const double *from, double *to)
{
    for (size_t c = 0; c < step; c += 8)
        *(trl_v8 *)(to + c) += *(const trl_v8 *)(from + c);
}

void trl_implied_forward(const trl_implied_rows *fold, const trl_design *d, const double *w,
                         double *hot)
{
    const trl_family *f = &d->family[TRL_NODE];
    memcpy(hot, w + f->hot_at, f->n_hot * f->step * sizeof *hot);
    if (fold->n_rows > f->n_hot)
        memset(hot + f->n_hot * f->step, 0, (fold->n_rows - f->n_hot) * f->step * sizeof *hot);
    for (size_t i = 0; i < fold->n_entries; i++)
        hot[fold->entry[i].cell] += w[fold->entry[i].weight];
    for (size_t i = 0; i < fold->n_pairs; i++)
        add_row(f->step, hot + fold->pair[i].child * f->step, hot + fold->pair[i].parent * f->step);
}

void trl_implied_backward(const trl_implied_rows *fold, const trl_design *d, double *hot, double *g)
{
    const trl_family *f = &d->family[TRL_NODE];
    double *rows = g + f->hot_at;
    for (size_t i = fold->n_pairs; i-- > 0;) {
        const size_t p = fold->pair[i].parent, c = fold->pair[i].child;
        add_row(f->step, (p < f->n_hot ? rows : hot) + p * f->step,
                (c < f->n_hot ? rows : hot) + c * f->step);
    }
    for (size_t i = 0; i < fold->n_entries; i++) {
        const uint64_t cell = fold->entry[i].cell;
        g[fold->entry[i].weight] += cell < f->n_hot * f->step ? rows[cell] : hot[cell];
    }
}
