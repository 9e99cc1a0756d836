/* clock.c -- the clocks. */
/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <time.h>

static double read_clock(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double trl_clock(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double trl_thread_clock(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
