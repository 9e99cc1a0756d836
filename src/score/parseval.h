/* parseval.h -- scoring trees that are in memory; the rest is in trellis/parseval.h. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PARSEVAL_H
#define TRL_PARSEVAL_H

#include "treebank/brackets.h"
#include "trellis/parseval.h"

/* One sentence: the gold tree and the test tree (NULL: there is none, the sentence is skipped),
 * each with the table its labels live in.  The counts are the same as for the trees written on
 * lines, but no text is made.  Only with options.max_errors = INT64_MAX does scoring continue after
 * any number of errors.  TRL_ENOMEM: nothing was counted. */
trl_status trl_parseval_add_trees(trl_parseval *p, const trl_tree *gold,
                                  const trl_strtab *gold_labels, const trl_tree *test,
                                  const trl_strtab *test_labels, trl_error *err);

/* Words and brackets of sentence i as a table, "" when details were not requested; borrowed until p
 * changes. */
trl_str trl_parseval_details(const trl_parseval *p, size_t i);

/* The length limit of the second block. */
uint64_t trl_parseval_max_length(const trl_parseval *p);

#endif
