/* file_check.h -- what is written must not be what is read, nor be written twice. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILE_CHECK_H
#define CLI_FILE_CHECK_H

#include "options.h"

/* False: an output (an option with FILE_OUTPUT) names the same file as an input (one with
 * FILE_INPUT or an operand) or as another output, and it has been said. */
bool file_check(const verb *v, const void *settings, const operands *args);

#endif
