/* status.c -- error values: names, formatting. */
/* SPDX-License-Identifier: MIT */
#include "trellis/status.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

const char *trl_status_name(trl_status code)
{
    static const char *const names[] = {
        [TRL_OK] = "ok",
        [TRL_ENOMEM] = "out of memory",
        [TRL_EINVAL] = "invalid argument",
        [TRL_EPARSE] = "malformed input",
        [TRL_EIO] = "input/output error",
        [TRL_EMODEL] = "unusable model",
        [TRL_ENUMERIC] = "numeric failure",
        [TRL_ECANCEL] = "stopped",
    };
    const unsigned n = sizeof names / sizeof *names;
    return (unsigned)code < n ? names[code] : "unknown status";
}

trl_status trl_fail_at(trl_error *err, trl_status code, const char *src_file, int src_line,
                       const char *fmt, ...)
{
    if (!err)
        return code;
    *err = (trl_error){.code = code, .src_file = src_file, .src_line = src_line};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    return code;
}

trl_status trl_fail_where(trl_error *err, trl_status code, const char *path, uint64_t row,
                          uint64_t col)
{
    if (err) {
        snprintf(err->path, sizeof err->path, "%s", path ? path : "");
        err->row = row;
        err->col = col;
    }
    return code;
}

trl_status trl_fail_hint(trl_error *err, trl_status code, const char *fmt, ...)
{
    if (!err)
        return code;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->hint, sizeof err->hint, fmt, ap);
    va_end(ap);
    return code;
}

void trl_error_text(const trl_error *err, char *out, unsigned long cap)
{
    char where[600] = "";
    int n = 0;
    if (err->path[0])
        n = snprintf(where, sizeof where, "%s:", err->path);
    if (err->row && n >= 0 && (size_t)n < sizeof where)
        n += snprintf(where + n, sizeof where - (size_t)n, "%" PRIu64 ":", err->row);
    if (err->row && err->col && n >= 0 && (size_t)n < sizeof where)
        n += snprintf(where + n, sizeof where - (size_t)n, "%" PRIu64 ":", err->col);
    snprintf(out, cap, "%s%s%s", where, where[0] ? " " : "", err->msg);
}
