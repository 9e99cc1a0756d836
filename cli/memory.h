/* memory.h -- how much memory a run may take, so that a small compressed file or an endless pipe
 * ends with a message instead of a machine that swaps. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stdbool.h>

/* Limits the process (RLIMIT_DATA) to `size`: a number of bytes, or with k, M, G or T (powers of
 * 1000); "none": no limit; NULL: `share` of the machine's memory, at least 1 GB.  False: said. */
bool memory_limit(const char *size, double share);

/* The same for a verb whose --max-memory means something else: `share`, and no hint. */
void memory_limit_machine(double share);

/* After a refused allocation: says what the limit is and how to change it; nothing without one. */
void memory_hint(void);

#endif
