/* table_kernel.c -- tables against smaller ones, by rows that a single loop handles. */
/* SPDX-License-Identifier: MIT */
#include "graph/table_kernel.h"

#include <math.h>

/* The last dimensions as one row: along it sub stands still (step 0) or moves by `step`. */
typedef struct row_map {
    size_t n, step; /* cells of a row; step in sub */
    size_t outer;   /* dimensions left */
} row_map;

static row_map find_row(const trl_table_map *m)
{
    row_map r = {1, 0, m->n};
    while (r.outer > 0 && m->dim[r.outer - 1] == 1)
        r.outer--;
    if (r.outer == 0)
        return r;
    r.outer--;
    r.n = m->dim[r.outer];
    r.step = m->step[r.outer];
    while (r.outer > 0 && (m->dim[r.outer - 1] == 1 || m->step[r.outer - 1] == r.step * r.n)) {
        r.outer--;
        r.n *= m->dim[r.outer];
    }
    return r;
}

TRL_INLINE void row_still(trl_table_op op, size_t n, double *x, double *sub)
{
    double c = *sub;
    switch (op) {
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
        *sub = c + trl_v8_sum(&sum);
        break;
    }
    case TRL_TABLE_MAX:
        for (size_t i = 0; i < n; i++)
            c = x[i] > c ? x[i] : c;
        *sub = c;
        break;
    }
}

TRL_INLINE void row_along(trl_table_op op, size_t n, double *x, double *sub, size_t step)
{
    switch (op) {
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

/* The next row's cell of sub; false after the last row. */
TRL_INLINE bool next_row(const trl_table_map *m, size_t outer, size_t *index, size_t *at)
{
    for (size_t k = outer; k-- > 0;) {
        *at += m->step[k];
        if (++index[k] < m->dim[k])
            return true;
        *at -= m->step[k] * m->dim[k];
        index[k] = 0;
    }
    return false;
}

TRL_INLINE void walk(trl_table_op op, const trl_table_map *m, double *table, double *sub)
{
    const row_map r = find_row(m);
    size_t index[TRL_TABLE_DIMS] = {0}, at = 0;
    do {
        if (r.step == 0)
            row_still(op, r.n, table, sub + at);
        else if (r.step == 1)
            row_along(op, r.n, table, sub + at, 1);
        else
            row_along(op, r.n, table, sub + at, r.step);
        table += r.n;
    } while (next_row(m, r.outer, index, &at));
}

TRL_CLONES void trl_table_apply(trl_table_op op, const trl_table_map *map, double *table,
                                double *sub)
{
    switch (op) {
    case TRL_TABLE_MULTIPLY:
        walk(TRL_TABLE_MULTIPLY, map, table, sub);
        break;
    case TRL_TABLE_ADD:
        walk(TRL_TABLE_ADD, map, table, sub);
        break;
    case TRL_TABLE_SUM:
        walk(TRL_TABLE_SUM, map, table, sub);
        break;
    case TRL_TABLE_MAX:
        walk(TRL_TABLE_MAX, map, table, sub);
        break;
    }
}

void trl_table_exp_sum(const trl_table_map *map, const double *table, const double *shift,
                       double *sub)
{
    const row_map r = find_row(map);
    size_t index[TRL_TABLE_DIMS] = {0}, at = 0;
    do {
        for (size_t i = 0; i < r.n; i++)
            if (shift[at + i * r.step] > -HUGE_VAL)
                sub[at + i * r.step] += exp(table[i] - shift[at + i * r.step]);
        table += r.n;
    } while (next_row(map, r.outer, index, &at));
}
