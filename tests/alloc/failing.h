/* failing.h -- allocations that fail on demand.
 *
 * The test is linked with -Wl,--wrap=malloc,... so that every allocation of the library comes
 * here.  Not for threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_FAILING_H
#define TRL_TEST_FAILING_H

#include <stdbool.h>
#include <stddef.h>

/* From now on: the k-th allocation (1 for the first) fails, and all after it when `on`. */
void failing_start(size_t k, bool on);

/* No more failures; true when there was one. */
bool failing_end(void);

/* Allocations since failing_start, and the bytes they asked for together. */
size_t failing_count(void);
size_t failing_bytes(void);

#endif
