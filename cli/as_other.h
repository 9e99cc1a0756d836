/* as_other.h -- command lines of CRF++ and Wapiti: 'trellis crf_learn ...' and so on, or the
 * program under such a name.
 *
 * Their options are turned into ours, which are then said and run; what has no counterpart is said,
 * or refused where leaving it out would give something else than was asked for.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_AS_OTHER_H
#define CLI_AS_OTHER_H

#include "text.h"

/* A command line of ours. */
typedef struct as_other {
    char **arg; /* [n + 1], the verb first, NULL last */
    size_t n, cap;
    bool failed; /* no memory */
} as_other;

/* Is this the name of a program or verb of theirs: crf_learn, crf_test, wapiti? */
bool as_other_known(const char *name);

/* Translates what follows that name.  False: it has been said; *code is the exit code (help that
 * was asked for and printed: CLI_DONE).  To be freed in any case. */
bool as_other_translate(const char *name, int argc, char **argv, as_other *out, int *code);
void as_other_fini(as_other *x);

#endif
