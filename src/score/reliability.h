/* reliability.h -- private: the readers of trellis/reliability.h, from any input. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SCORE_RELIABILITY_H
#define TRL_SCORE_RELIABILITY_H

#include "text/input.h"
#include "trellis/reliability.h"
#include "trellis/trees.h"

/* As trl_reliability_file and trl_reliability_trees; what is read from stays the caller's. */
trl_status trl_reliability_read(trl_input *in, trl_reliability *r, trl_error *err);
trl_status trl_reliability_read_parses(trl_input *in, trl_treebank *gold,
                                       trl_reliability *constituents, trl_reliability *trees,
                                       trl_error *err);

#endif
