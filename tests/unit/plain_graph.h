/* plain_graph.h -- the kernels of graph/bp_kernel.h and graph/table_kernel.h, one loop each: what
 * they are tested against.
 */
/* SPDX-License-Identifier: MIT */
#ifndef PLAIN_GRAPH_H
#define PLAIN_GRAPH_H

#include <math.h>
#include <string.h>

#include "graph/bp_kernel.h"
#include "graph/table_kernel.h"

static inline void bp_pair_plain(bool maximise, size_t n, size_t columns, const double *x,
                                 const double *M, double *y)
{
    for (size_t j = 0; j < trl_row_width(columns); j++) {
        y[j] = 0.0;
        for (size_t i = 0; i < n && j < columns; i++) {
            const double p = x[i] * M[i * trl_matrix_stride(columns) + j];
            y[j] = maximise ? fmax(y[j], p) : y[j] + p;
        }
    }
}

static inline double bp_norm_plain(bool maximise, size_t width, double small, double *y,
                                   const double *old, double *change)
{
    double norm = 0.0;
    for (size_t j = 0; j < width; j++)
        norm = maximise ? fmax(norm, y[j]) : norm + y[j];
    if (!(norm > small && norm < HUGE_VAL))
        return norm;
    *change = 0.0;
    for (size_t j = 0; j < width; j++) {
        y[j] /= norm;
        *change = fmax(*change, fabs(y[j] - old[j]) / (y[j] + old[j] + 1e-250));
    }
    return norm;
}

static inline void bp_product_plain(const trl_bp_rows *r, uint32_t skip, double *out)
{
    for (size_t j = 0; j < r->width; j++) {
        out[j] = r->node[j];
        for (size_t k = 0; k < r->n; k++)
            if (r->link[k] != skip)
                out[j] *= r->base[r->at[r->link[k]] + j];
    }
}

static inline void table_apply_plain(trl_table_op op, const trl_table_map *map, double *table,
                                     double *sub)
{
    size_t cells = 1;
    for (size_t k = 0; k < map->n; k++)
        cells *= map->dim[k];
    for (size_t i = 0; i < cells; i++) {
        size_t rest = i, at = 0;
        for (size_t k = map->n; k-- > 0; rest /= map->dim[k])
            at += map->step[k] * (rest % map->dim[k]);
        if (op == TRL_TABLE_SET)
            table[i] = sub[at];
        else if (op == TRL_TABLE_MULTIPLY)
            table[i] *= sub[at];
        else if (op == TRL_TABLE_ADD)
            table[i] += sub[at];
        else if (op == TRL_TABLE_SUM)
            sub[at] += table[i];
        else if (table[i] > sub[at])
            sub[at] = table[i];
    }
}

static inline double bp_pair_belief_plain(size_t n, size_t k, size_t stride, const double *x,
                                          const double *M, const double *y, double *out)
{
    double Z = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++)
            Z += out[i * k + j] = x[i] * M[i * stride + j] * y[j];
    for (size_t i = 0; i < n * k; i++)
        out[i] /= Z;
    return Z;
}

static inline void table_ratio_plain(size_t n, double scale, const double *now, double *old)
{
    for (size_t i = 0; i < n; i++)
        old[i] = old[i] > 0.0 ? now[i] / (old[i] * scale) : 0.0;
}

#endif
