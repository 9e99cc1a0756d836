/* fail.h -- filling trl_error in one line: check, explain, return. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FAIL_H
#define TRL_FAIL_H

#include "trellis/status.h"

trl_status trl_fail_at(trl_error *err, trl_status code, const char *src_file, int src_line,
                       const char *fmt, ...) __attribute__((format(printf, 5, 6), cold));

/* Both return err->code (or `code` unchanged), so that they can end a return statement. */
trl_status trl_fail_where(trl_error *err, trl_status code, const char *path, uint64_t row,
                          uint64_t col);
trl_status trl_fail_hint(trl_error *err, trl_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Puts "sequence 3: " before the message of what, from 0, has number k, unless it has a path, which
 * tells it already, or is about memory. */
trl_status trl_fail_number(trl_error *err, trl_status code, const char *what, size_t k);

/* return trl_fail(err, TRL_EINVAL, "c2 must not be negative: %g", c2); */
#define trl_fail(err, code, ...) trl_fail_at((err), (code), __FILE__, __LINE__, __VA_ARGS__)

/* Says how many bytes were refused (this thread's last failed request, from mem.h) and, by the
 * folder of the source file, what they were for. */
#define trl_fail_mem(err) trl_fail_mem_at((err), __FILE__, __LINE__)
trl_status trl_fail_mem_at(trl_error *err, const char *src_file, int src_line)
    __attribute__((cold));

/* For functions of the public headers. */
#define trl_fail_null(err)                                                                         \
    trl_fail_at((err), TRL_EINVAL, __FILE__, __LINE__,                                             \
                "%s: an argument that must be given is NULL", __func__)

#endif
