/* rules.h -- a score's chunks by either rule, for callers that must not change the rule half
 * way. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_RULES_H
#define TRL_RULES_H

#include "score/chunks.h"
#include "trellis/score.h"

/* IOBES when all gold tags so far are well-formed IOBES, see chunks.h. */
trl_chunk_rule trl_score_rule(const trl_score *s);
trl_score_totals trl_score_get_by(const trl_score *s, trl_chunk_rule rule);

#endif
