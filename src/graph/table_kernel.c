/* table_kernel.c -- tables against smaller ones, by rows that a single loop handles. */
/* SPDX-License-Identifier: MIT */
#include "graph/table_kernel.h"

#include <math.h>

/* The dimensions of a map, those merged along which sub stands still or moves on by whole rows, and
 * those of one label left out. */
typedef struct folded {
    size_t n, dim[TRL_TABLE_DIMS], step[TRL_TABLE_DIMS];
} folded;

static void fold(const trl_table_map *m, folded *f)
{
    size_t k = m->n; /* filled from the end */
    for (size_t i = m->n; i-- > 0;) {
        if (m->dim[i] == 1)
            continue;
        if (k < m->n && m->step[i] == f->step[k] * f->dim[k]) {
            f->dim[k] *= m->dim[i];
            continue;
        }
        f->dim[--k] = m->dim[i];
        f->step[k] = m->step[i];
    }
    f->n = m->n - k;
    for (size_t i = 0; i < f->n; i++) {
        f->dim[i] = f->dim[k + i];
        f->step[i] = f->step[k + i];
    }
}

TRL_INLINE void row_still(const trl_table_op op, size_t n, double *restrict x, double *restrict sub)
{
    double c = *sub;
    switch (op) {
    case TRL_TABLE_SET:
        for (size_t i = 0; i < n; i++)
            x[i] = c;
        break;
    case TRL_TABLE_MULTIPLY:
        for (size_t i = 0; i < n; i++)
            x[i] *= c;
        break;
    case TRL_TABLE_ADD:
        for (size_t i = 0; i < n; i++)
            x[i] += c;
        break;
    case TRL_TABLE_SUM: {
        trl_v8 sum = {0};
        size_t i = 0;
        for (; i + 8 <= n; i += 8)
            sum += *(const trl_v8 *)(x + i);
        for (; i < n; i++)
            c += x[i];
        *sub = n >= 8 ? c + trl_v8_sum(&sum) : c;
        break;
    }
    case TRL_TABLE_MAX:
        for (size_t i = 0; i < n; i++)
            c = x[i] > c ? x[i] : c;
        *sub = c;
        break;
    }
}

TRL_INLINE void row_along(const trl_table_op op, size_t n, double *restrict x, double *restrict sub,
                          size_t step)
{
    switch (op) {
    case TRL_TABLE_SET:
        for (size_t i = 0; i < n; i++)
            x[i] = sub[i * step];
        break;
    case TRL_TABLE_MULTIPLY:
        for (size_t i = 0; i < n; i++)
            x[i] *= sub[i * step];
        break;
    case TRL_TABLE_ADD:
        for (size_t i = 0; i < n; i++)
            x[i] += sub[i * step];
        break;
    case TRL_TABLE_SUM:
        for (size_t i = 0; i < n; i++)
            sub[i * step] += x[i];
        break;
    case TRL_TABLE_MAX:
        for (size_t i = 0; i < n; i++)
            sub[i * step] = x[i] > sub[i * step] ? x[i] : sub[i * step];
        break;
    }
}

/* `rows` rows of n cells; from one to the next sub moves by `move`, along a row by `step`. */
TRL_INLINE void rows_of(const trl_table_op op, size_t n, size_t step, size_t rows, size_t move,
                        double *x, double *sub)
{
    for (size_t i = 0; i < rows; i++, x += n, sub += move)
        if (step == 0)
            row_still(op, n, x, sub);
        else
            row_along(op, n, x, sub, step);
}

/* Loops of fixed length, where rows are short. */
TRL_INLINE void short_rows(const trl_table_op op, size_t n, const size_t step, size_t rows,
                           size_t move, double *x, double *sub)
{
    switch (n) {
    case 2:
        rows_of(op, 2, step, rows, move, x, sub);
        break;
    case 3:
        rows_of(op, 3, step, rows, move, x, sub);
        break;
    case 4:
        rows_of(op, 4, step, rows, move, x, sub);
        break;
    case 5:
        rows_of(op, 5, step, rows, move, x, sub);
        break;
    case 6:
        rows_of(op, 6, step, rows, move, x, sub);
        break;
    case 7:
        rows_of(op, 7, step, rows, move, x, sub);
        break;
    default:
        rows_of(op, n, step, rows, move, x, sub);
    }
}

/* The next block's cell of sub; false after the last block. */
TRL_INLINE bool next_block(const folded *f, size_t outer, size_t *index, size_t *at)
{
    for (size_t k = outer; k-- > 0;) {
        *at += f->step[k];
        if (++index[k] < f->dim[k])
            return true;
        *at -= f->step[k] * f->dim[k];
        index[k] = 0;
    }
    return false;
}

TRL_INLINE void walk(const trl_table_op op, const folded *f, double *table, double *sub)
{
    const size_t n = f->n > 0 ? f->dim[f->n - 1] : 1, step = f->n > 0 ? f->step[f->n - 1] : 0;
    const size_t rows = f->n > 1 ? f->dim[f->n - 2] : 1, move = f->n > 1 ? f->step[f->n - 2] : 0;
    const size_t outer = f->n > 2 ? f->n - 2 : 0;
    size_t index[TRL_TABLE_DIMS], at = 0;
    for (size_t k = 0; k < outer; k++)
        index[k] = 0;
    do {
        if (step == 0)
            short_rows(op, n, 0, rows, move, table, sub + at);
        else if (step == 1)
            short_rows(op, n, 1, rows, move, table, sub + at);
        else
            rows_of(op, n, step, rows, move, table, sub + at);
        table += n * rows;
    } while (next_block(f, outer, index, &at));
}

TRL_CLONES void trl_table_apply(trl_table_op op, const trl_table_map *map, double *table,
                                double *sub)
{
    folded f;
    fold(map, &f);
    switch (op) {
    case TRL_TABLE_SET:
        walk(TRL_TABLE_SET, &f, table, sub);
        break;
    case TRL_TABLE_MULTIPLY:
        walk(TRL_TABLE_MULTIPLY, &f, table, sub);
        break;
    case TRL_TABLE_ADD:
        walk(TRL_TABLE_ADD, &f, table, sub);
        break;
    case TRL_TABLE_SUM:
        walk(TRL_TABLE_SUM, &f, table, sub);
        break;
    case TRL_TABLE_MAX:
        walk(TRL_TABLE_MAX, &f, table, sub);
        break;
    }
}

void trl_table_exp_sum(const trl_table_map *map, const double *table, const double *shift,
                       double *sub)
{
    folded f;
    fold(map, &f);
    const size_t n = f.n > 0 ? f.dim[f.n - 1] : 1, step = f.n > 0 ? f.step[f.n - 1] : 0;
    size_t index[TRL_TABLE_DIMS] = {0}, at = 0;
    do {
        for (size_t i = 0; i < n; i++)
            if (shift[at + i * step] > -HUGE_VAL)
                sub[at + i * step] += exp(table[i] - shift[at + i * step]);
        table += n;
    } while (next_block(&f, f.n > 1 ? f.n - 1 : 0, index, &at));
}

TRL_CLONES void trl_table_ratio(size_t n, double scale, const double *restrict now,
                                double *restrict old)
{
    for (size_t i = 0; i < n; i++) {
        const double below = old[i] > 0.0 ? old[i] * scale : 1.0;
        old[i] = (old[i] > 0.0 ? now[i] : 0.0) / below;
    }
}
