/* conllu.h -- CoNLL-U: sentences with comments, ranges of words and empty nodes.
 *
 *     # comment                              before the first token of a sentence
 *     1 <TAB> FORM <TAB> LEMMA ...           a word: ten cells, none empty, numbered from 1
 *     1-2 <TAB> ...                          a range: the token that words 1 and 2 are written as
 *     1.1 <TAB> ...                          an empty node
 *
 * Rows have the words alone, their cells in the order of trl_conllu_columns: what a tagger needs
 * first, its usual label last.  All lines are kept (trl_conllu_source); a comment '# newdoc' is the
 * heading -DOCSTART-, too.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CONLLU_H
#define TRL_CONLLU_H

#include "text/input.h"
#include "trellis/sequence.h"

typedef struct trl_conllu trl_conllu;

/* `in` is borrowed.  TRL_ENOMEM. */
trl_status trl_conllu_new(trl_input *in, trl_conllu **out, trl_error *err);
void trl_conllu_free(trl_conllu *r); /* accepts NULL */

/* The next sentence; *more is false at the end.  TRL_EPARSE with path:row:col for a line without
 * ten cells, an empty cell, an ID that does not follow, comments without a sentence. */
trl_status trl_conllu_next(trl_conllu *r, trl_rows *seq, bool *more, trl_error *err);

/* Of the last sentence: all lines, an LF after each; the line of word t. */
trl_str trl_conllu_source(const trl_conllu *r);
uint64_t trl_conllu_row(const trl_conllu *r, size_t t);

#endif
