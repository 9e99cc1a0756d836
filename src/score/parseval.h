/* parseval.h -- scoring trees that are in memory; the rest is in trellis/parseval.h. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PARSEVAL_H
#define TRL_PARSEVAL_H

#include "treebank/brackets.h"
#include "trellis/parseval.h"

/* Words and brackets of sentence i as a table, "" when details were not requested; borrowed until p
 * changes. */
trl_str trl_parseval_details(const trl_parseval *p, size_t i);

/* The length limit of the second block. */
uint64_t trl_parseval_max_length(const trl_parseval *p);

#endif
