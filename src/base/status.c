/* status.c -- error values: names, formatting; the version. */
/* SPDX-License-Identifier: MIT */
#include "trellis/status.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/format.h"
#include "base/mem.h"
#include "trellis/version.h"

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
        [TRL_ECONFLICT] = "contradictory constraints",
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
    (void)trl_vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    return code;
}

/* What the code in each folder of src/ needs memory for. */
static const char *purpose(const char *src_file)
{
    static const struct {
        const char *folder, *what;
    } known[] = {
        {"/text/", "reading the input"}, {"/cluster/", "word clusters"},
        {"/treebank/", "trees"},         {"/score/", "scoring"},
        {"/feature/", "the features"},   {"/model/", "the model"},
        {"/train/", "training"},         {"/chain/", "the tables of a sequence"},
        {"/mest/", "M-estimation"},      {"/train_chain/", "the training data"},
        {"/grammar/", "the grammar"},    {"/chart/", "the chart of a sentence"},
        {"/parser/", "parsing"},         {"/train_tree/", "training on trees"},
        {"/graph/", "the graph"},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strstr(src_file, known[k].folder))
            return known[k].what;
    return "files and threads";
}

trl_status trl_fail_number(trl_error *err, trl_status code, const char *what, size_t k)
{
    char msg[sizeof err->msg];
    if (!err || err->path[0] || code == TRL_ENOMEM)
        return code;
    trl_snprintf(msg, sizeof msg, "%s %zu: %.280s", what, k + 1, err->msg);
    memcpy(err->msg, msg, sizeof msg);
    return code;
}

trl_status trl_fail_mem_at(trl_error *err, const char *src_file, int src_line)
{
    const double n = (double)trl_refused_bytes();
    const char *unit = n >= 1e9 ? "GB" : n >= 1e6 ? "MB" : n >= 1e3 ? "kB" : "bytes";
    const double scaled = n >= 1e9 ? n / 1e9 : n >= 1e6 ? n / 1e6 : n >= 1e3 ? n / 1e3 : n;
    if (n == 0.0)
        return trl_fail_at(err, TRL_ENOMEM, src_file, src_line, "out of memory for %s",
                           purpose(src_file));
    return trl_fail_at(err, TRL_ENOMEM, src_file, src_line,
                       "out of memory: %.0f %s more for %s were refused", scaled, unit,
                       purpose(src_file));
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
    (void)trl_vsnprintf(err->hint, sizeof err->hint, fmt, ap);
    va_end(ap);
    return code;
}

const char *trl_version(void)
{
    return TRL_VERSION;
}

void trl_error_text(const trl_error *err, char *out, unsigned long cap)
{
    char where[600] = "";
    int n = 0;
    if (!out || !cap)
        return;
    out[0] = '\0';
    if (!err)
        return;
    if (err->path[0])
        n = snprintf(where, sizeof where, "%s:", err->path);
    if (err->row && n >= 0 && (size_t)n < sizeof where)
        n += snprintf(where + n, sizeof where - (size_t)n, "%" PRIu64 ":", err->row);
    if (err->row && err->col && n >= 0 && (size_t)n < sizeof where)
        n += snprintf(where + n, sizeof where - (size_t)n, "%" PRIu64 ":", err->col);
    snprintf(out, cap, "%s%s%s", where, where[0] ? " " : "", err->msg);
}
