/* support.h -- what every unit test needs: cmocka in its required order, and comparisons
 * that print both values. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_SUPPORT_H
#define TRL_TEST_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trellis/status.h"

/* |a - b| <= tol (1 + |b|), both finite; the message names the line and both values. */
#define assert_near(a, b, tol) assert_near_at((a), (b), (tol), __FILE__, __LINE__)

static inline void assert_near_at(double a, double b, double tol, const char *file, int line)
{
    if (!(fabs(a - b) <= tol * (1.0 + fabs(b)))) {
        print_error("%s:%d: %.17g is not %.17g (tolerance %g)\n", file, line, a, b, tol);
        _fail(file, line);
    }
}

#define assert_ok(call) assert_ok_at((call), &err, #call, __FILE__, __LINE__)

/* Expects a variable `trl_error err` in scope. */
static inline void assert_ok_at(trl_status st, const trl_error *e, const char *what,
                                const char *file, int line)
{
    if (st != TRL_OK) {
        print_error("%s:%d: %s failed: %s\n", file, line, what, e->msg);
        _fail(file, line);
    }
}

/* A folder named by an environment variable, or its default when that exists, for tests that need
 * outside data; when there is none the test ends here, as skipped. */
static inline const char *test_folder(const char *variable, const char *fallback)
{
    const char *dir = getenv(variable);
    if (!dir) {
        FILE *f = fopen(fallback, "r");
        if (f) {
            fclose(f);
            dir = fallback;
        }
    }
    if (!dir) {
        print_message("no %s and %s is not there\n", variable, fallback);
        skip();
    }
    return dir;
}

#endif
