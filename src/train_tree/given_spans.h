/* given_spans.h -- long trees are learnt from below: what is long in them is given.
 *
 * With a limit of m words, a longer tree t of the sentence s counts with
 *
 *     log P(t | s, the spans of more than m words that t has),
 *
 * which sums over the trees that have these spans and no other of more than m words: their labels
 * and everything below them are learnt, in charts that grow with n m instead of n^2.  Spans are
 * those of the binarised tree.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GIVEN_SPANS_H
#define TRL_GIVEN_SPANS_H

#include "grammar/grammar.h"

/* keep[trl_cell(i, j)], of n words: whether such a tree may have the span. */
void trl_given_spans(const trl_btree *t, size_t n, size_t most, uint8_t *keep);

#endif
