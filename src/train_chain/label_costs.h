/* label_costs.h -- private: what wrong labels cost, from text (docs/partial.md).
 *
 *     GOLD:WRONG=COST    a token of the label GOLD that gets the label WRONG
 *     GOLD=COST          ... that gets any other label
 *
 * separated by commas, blanks and line ends; '*' is every label; what comes later counts.  Costs
 * are finite and not negative, and 0 where none is given.  A backslash takes the meaning from the
 * character after it.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LABEL_COSTS_H
#define TRL_LABEL_COSTS_H

#include "chain/objective.h"
#include "feature/corpus.h"

/* `from` is such text when there is an '=' in it, else the path of a file of it.  Rows by label or,
 * where the corpus has notes, by note: of a set the least cost of its labels, of a distribution the
 * expected one, 0 where nothing is known.  TRL_EPARSE with the place for what is not of that form,
 * a label that the corpus does not have, a bad number; TRL_EIO, TRL_ENOMEM.  costs->row is freed by
 * the caller. */
trl_status trl_label_costs_read(trl_chain_costs *costs, const char *from, const trl_corpus *corpus,
                                trl_error *err);

#endif
