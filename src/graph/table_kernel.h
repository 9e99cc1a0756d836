/* table_kernel.h -- products and sums of a table with one over some of its variables.
 *
 * A table has dimensions dim[0 .. n), the last fastest.  A smaller one, `sub`, has some of them:
 * the cell of the table with indices i_k corresponds to cell sum_k step[k] i_k of sub, step[k] = 0
 * where sub does not have dimension k.  Nothing here allocates or fails.  A plain twin
 * is in tests/unit/plain_graph.h.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TABLE_KERNEL_H
#define TRL_TABLE_KERNEL_H

#include <stdbool.h>

#include "num/simd.h"

#define TRL_TABLE_DIMS 64

typedef struct trl_table_map {
    size_t n;           /* at most TRL_TABLE_DIMS */
    const size_t *dim;  /* [n] */
    const size_t *step; /* [n] */
} trl_table_map;

typedef enum trl_table_op {
    TRL_TABLE_SET,      /* table = sub */
    TRL_TABLE_MULTIPLY, /* table *= sub */
    TRL_TABLE_ADD,      /* table += sub */
    TRL_TABLE_SUM,      /* sub += table */
    TRL_TABLE_MAX,      /* sub = max(sub, table) */
} trl_table_op;

void trl_table_apply(trl_table_op op, const trl_table_map *map, double *table, double *sub);

/* sub += exp(table - shift), shift like sub; where shift is -inf nothing is added. */
void trl_table_exp_sum(const trl_table_map *map, const double *table, const double *shift,
                       double *sub);

/* old = now / (old * scale), 0 where old is 0. */
void trl_table_ratio(size_t n, double scale, const double *now, double *old);

#endif
