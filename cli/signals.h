/* signals.h -- SIGINT and SIGTERM while the program works on something that takes long.
 *
 * There are two ways to take the first of these signals.  While there is nothing to save (data are
 * being read, features collected) it ends the program at once, wherever that is.  Later it is only
 * noted, and whoever works ends in order and saves what there is.  The second signal always ends
 * the program.  The exit status is 128 + the signal's number either way, so that a script does not
 * take what was saved for a finished model.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

/* From now on a signal ends the program after `word` (static, a whole line without the program's
 * name) on standard error.  Unfinished output (output.h) is removed. */
void signals_end(const char *word);

/* From now on the first signal is only noted. */
void signals_note(void);

/* Has one been noted? */
bool signals_noted(void);
bool signals_asked(void *ctx); /* the same, as trl_cancel_fn */

/* The exit status of a run that ended well, or, `stopped`, by a signal. */
int signals_exit_code(bool stopped);

#endif
