/* score_scheme.h -- chunks of any tag scheme, scored. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_SCORE_SCHEME_H
#define CLI_SCORE_SCHEME_H

#include "trellis/scheme.h"
#include "trellis/score.h"

/* Adds the sequences of a file of columns, the last two true and predicted labels.  Chunks are
 * found in the scheme; strict: those that are not written as the scheme writes them do not count,
 * on either side.  What trl_reader_rows returns, and TRL_EPARSE for a file of one column. */
trl_status score_scheme_file(trl_score *score, trl_scheme scheme, bool strict, const char *path,
                             trl_error *err);

#endif
