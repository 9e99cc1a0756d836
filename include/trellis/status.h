/* status.h -- how every fallible function of the library reports.
 *
 * A function that can fail returns trl_status and takes `trl_error *err` last (NULL is allowed).
 * Any other pointer that is NULL where its description does not allow it, and options that are all
 * zero where that makes no sense, give TRL_EINVAL; functions that return no status return 0, "" or
 * false for NULL.  On failure *err holds one sentence for the user, where in the input it went
 * wrong, and, if known, what to do about it.  On success *err is not touched.  The library never
 * prints, exits or aborts.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_STATUS_H
#define TRELLIS_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRL_API __attribute__((visibility("default")))

/* Around the declarations of every header, for C++. */
#ifdef __cplusplus
#define TRL_BEGIN_DECLS extern "C" {
#define TRL_END_DECLS }
#else
#define TRL_BEGIN_DECLS
#define TRL_END_DECLS
#endif

TRL_BEGIN_DECLS

typedef enum trl_status {
    TRL_OK = 0,
    TRL_ENOMEM,    /* an allocation failed */
    TRL_EINVAL,    /* an argument or an option is out of its range */
    TRL_EPARSE,    /* the user's text is not in the stated format */
    TRL_EIO,       /* the system could not open, read or write */
    TRL_EMODEL,    /* a model or checkpoint is damaged, foreign or of another version */
    TRL_ENUMERIC,  /* a value is not finite where it must be */
    TRL_ECANCEL,   /* a callback asked to stop */
    TRL_ECONFLICT, /* no labelling obeys the constraints */
} trl_status;

/* Filled on failure only.  All strings are copies, cut when too long. */
typedef struct trl_error {
    trl_status code;
    char msg[320];        /* one sentence, no newline, no prefix */
    char hint[240];       /* what to do; "" when not known */
    char path[512];       /* the user's file; "" when there is none */
    uint64_t row, col;    /* 1-based; 0 = not known */
    const char *src_file; /* the check that failed, for bug reports */
    int src_line;
} trl_error;

/* The name of a status ("out of memory", ...), a static string. */
TRL_API const char *trl_status_name(trl_status code);

/* Writes `path:row:col: message` (the parts that are known) into out, cut at cap bytes. */
TRL_API void trl_error_text(const trl_error *err, char *out, unsigned long cap);

TRL_END_DECLS

#endif
