/* memory.c -- the limit of a run's memory. */
/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "message.h"

#define LEAST_DEFAULT 1e9

static double limit; /* bytes; 0: none */

static double machine_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (double)pages * (double)size : 0.0;
}

/* NaN: not a size. */
static double read_size(const char *text)
{
    static const char units[] = "kMGT";
    char *end;
    if (strspn(text, "0123456789.") == 0)
        return (double)NAN;
    double x = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++)
            x *= 1e3;
        end++;
    }
    if (*end == 'B' && unit)
        end++;
    return *end || !(x > 0.0) ? (double)NAN : x;
}

/* A sanitizer's shadow memory alone is more than any limit. */
static bool can_limit(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
}

bool memory_limit(const char *size, double share)
{
    if (size && strcmp(size, "none") == 0)
        return true;
    double bytes = size ? read_size(size) : share * machine_memory();
    if (size && isnan(bytes)) {
        message_say("--max-memory %s: not a size", size);
        message_hint("sizes are 500M, 4G and the like; 'none' sets no limit");
        return false;
    }
    if (!size && bytes < LEAST_DEFAULT)
        bytes = LEAST_DEFAULT;
    struct rlimit now;
    if (!can_limit() || getrlimit(RLIMIT_DATA, &now) != 0)
        return true;
    if (now.rlim_cur != RLIM_INFINITY && (double)now.rlim_cur <= bytes)
        return true; /* whoever started us allows less */
    now.rlim_cur = bytes < 9e18 ? (rlim_t)bytes : now.rlim_max;
    if (setrlimit(RLIMIT_DATA, &now) == 0)
        limit = bytes;
    return true;
}

void memory_limit_machine(double share)
{
    (void)memory_limit(NULL, share);
    limit = 0.0;
}

void memory_hint(void)
{
    if (limit > 0.0)
        message_hint("the run may take %.3g GB: --max-memory SIZE allows more", limit / 1e9);
}
