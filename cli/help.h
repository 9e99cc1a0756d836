/* help.h -- the program's documentation, made from the tables of the verbs. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "options.h"

void help_overview(text *out);
void help_about(const verb *v, text *out);
void help_objectives(text *out); /* what --objective help prints */
void help_optimizers(text *out);
void help_man(text *out); /* trellis(1), in the man macros of troff */

#endif
