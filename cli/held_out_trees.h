/* held_out_trees.h -- how well a parser does on held-out trees. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_HELD_OUT_TREES_H
#define CLI_HELD_OUT_TREES_H

#include "trellis/model.h"
#include "trellis/parser.h"

/* F1 of brackets in percent, as EVALB with Collins' parameters counts, of all trees of the file,
 * without traces and function tags.  TRL_EINVAL where there are none; what reader and parser
 * return. */
trl_status held_out_trees_score(const trl_model *m, const char *path, double *score,
                                trl_error *err);

#endif
