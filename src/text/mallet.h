/* mallet.h -- sequences for MALLET's SimpleTagger: features and, last, the label of a token on a
 * line, blanks between them; a blank line ends a sequence. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_MALLET_H
#define TRL_MALLET_H

#include "text/input.h"
#include "trellis/sequence.h"

typedef struct trl_mallet trl_mallet;

/* `in` is borrowed.  TRL_ENOMEM. */
trl_status trl_mallet_new(trl_input *in, trl_mallet **out, trl_error *err);
void trl_mallet_free(trl_mallet *r); /* accepts NULL */

/* The next sequence, never an empty one.  TRL_EPARSE for a NUL byte; TRL_EIO, TRL_ENOMEM. */
trl_status trl_mallet_next(trl_mallet *r, trl_items *seq, bool *more, trl_error *err);

#endif
