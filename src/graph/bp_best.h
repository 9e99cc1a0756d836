/* bp_best.h -- a labelling from the messages of max-product. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BP_BEST_H
#define TRL_BP_BEST_H

#include "graph/problem.h"

/* Decimation: while a variable's two best labels tie on a graph with cycles, the first such
 * variable is given its best label and messages run again, within limits->max_updates in all.  Then
 * labels are chosen by trl_search and improved by trl_climb.  The messages are logarithms
 * afterwards. TRL_ENUMERIC: no allowed labelling was found; TRL_ENOMEM. */
trl_status trl_bp_best(trl_bp *b, const trl_problem *p, int schedule, const trl_bp_limits *limits,
                       uint32_t *y, trl_error *err);

/* The logarithms of max-product's beliefs, the largest of each variable 0, laid out as variable
 * marginals. */
void trl_bp_max_marginals(const trl_bp *b, double *variable);

#endif
