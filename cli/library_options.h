/* library_options.h -- what the command line has from the library: of options that the library
 * has type, help, default and checks, of all options how values are read and written.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_LIBRARY_OPTIONS_H
#define CLI_LIBRARY_OPTIONS_H

#include "options.h"

/* Fills in what the rows of library options leave open; help and default that are there stay. */
void library_options_complete(option *rows);

/* The row as the library has rows, with its place in the settings. */
trl_option library_row(const option *o);

/* Sets it.  False: said, with `shown` instead of the option's name. */
bool library_option_set(const option *o, const char *shown, const char *value, void *settings);

/* Adds s, in which the library has names of options in single quotes, with those that `rows` have
 * as the command line does: 'c1' becomes --c1. */
void library_words(const option *rows, const char *s, text *out);

#endif
