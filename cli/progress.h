/* progress.h -- a training run as it goes, on standard error.
 *
 * On a terminal one line that is rewritten; elsewhere one plain line per iteration.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "trellis/train.h"

typedef struct progress {
    bool quiet, terminal;
    double shown; /* when the line was last rewritten, in seconds of the run */
    bool trees;   /* sentences, words and rules instead of sequences, tokens and attributes */
} progress;

void progress_init(progress *p, bool quiet);
void progress_show(progress *p, const trl_progress *now);

/* "12.3 s", "2 min 05 s", "3 h 07 min" into out. */
void progress_duration(double seconds, char *out, size_t cap);

#endif
