/* chart_kernel.h -- the cubic loops of chart.c. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHART_KERNEL_H
#define TRL_CHART_KERNEL_H

#include "chart/chart.h"

#define TRL_BACK 5 /* numbers per item in chart.back */
enum { TRL_BACK_RULE, TRL_BACK_SPLIT, TRL_BACK_LEFT, TRL_BACK_RIGHT, TRL_BACK_UNARY };

/* Adds the items of all cells that end at j to c->map, or removes them. */
void trl_chart_map(const trl_chart *c, size_t j, bool on);

/* All cells that end at j, once those that end before are done.  `any`: some edge table exists. */
void trl_chart_inside_end(trl_chart *c, const trl_tree_tables *t, size_t j, bool any);

#endif
