/* clock.h -- time for progress reports and limits. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CLOCK_H
#define TRL_CLOCK_H

/* Seconds on a monotonic clock. */
double trl_clock(void);

/* Seconds that the processor has spent on this thread. */
double trl_thread_clock(void);

#endif
