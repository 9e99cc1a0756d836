/* grmm.h -- sequences for GRMM: the labels of a token, ----, and its features on a line, blanks
 * between them; a blank line ends a sequence.
 *
 * They become rows.  Column 0 is the word: of the first feature WORD=... or W=... that is neither
 * of another token (W=the@-1) nor a conjunction (W=the_&_CAP), '_' where there is none.  Columns 1
 * and up are the labels. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRMM_H
#define TRL_GRMM_H

#include "text/input.h"
#include "trellis/sequence.h"

typedef struct trl_grmm trl_grmm;

/* `in` is borrowed.  TRL_ENOMEM. */
trl_status trl_grmm_new(trl_input *in, trl_grmm **out, trl_error *err);
void trl_grmm_free(trl_grmm *r); /* accepts NULL */

/* The next sequence, never an empty one.  TRL_EPARSE with the place: no ----, not as many labels as
 * before, a NUL byte; TRL_EIO, TRL_ENOMEM. */
trl_status trl_grmm_next(trl_grmm *r, trl_rows *seq, bool *more, trl_error *err);

/* The features of the last sequence: those of token t are attr[begin[t]] .. attr[begin[t + 1] - 1],
 * with the value 1. */
void trl_grmm_attributes(const trl_grmm *r, const size_t **begin, const trl_attr **attr);

#endif
