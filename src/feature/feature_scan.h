/* feature_scan.h -- private: the words, numbers and strings of a template's line. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FEATURE_SCAN_H
#define TRL_FEATURE_SCAN_H

#include <string.h>

#include "feature/feature_list.h"

typedef struct trl_feature_scan {
    trl_feature_list *list;
    const char *name; /* of the file */
    uint64_t row;
    const char *line, *p, *stop; /* the line, what is not read yet, where it ends */
    const char *end;             /* of the file */
    const char *mark;            /* where what is being read began, for messages */
    size_t depth;
    trl_error *err;
} trl_feature_scan;

#define TRL_NUMBERS_MAX 64

typedef struct trl_numbers {
    int64_t v[TRL_NUMBERS_MAX];
    size_t n;
} trl_numbers;

/* Where the lines start: after a byte order mark. */
const char *trl_feature_scan_begin(trl_str text);

/* Sets the line at `at`, without its comment; returns where the next one starts. */
const char *trl_feature_scan_line(trl_feature_scan *s, const char *at);

/* TRL_EPARSE for a NUL byte and for bytes that are not UTF-8. */
trl_status trl_feature_scan_check(trl_feature_scan *s);

/* All of these pass over blanks; those that return false have read nothing else. */
bool trl_feature_scan_at_end(trl_feature_scan *s);
bool trl_feature_scan_sign(trl_feature_scan *s, char c);
bool trl_feature_scan_any_word(trl_feature_scan *s, trl_str *out);
bool trl_feature_scan_word(trl_feature_scan *s, const char *word);
bool trl_feature_scan_marker(trl_feature_scan *s, const char *word); /* word and colon */
bool trl_feature_scan_number_is_next(trl_feature_scan *s);

/* "text", in which \" is a quote: the text as written. */
trl_status trl_feature_scan_string(trl_feature_scan *s, const char *what, trl_str *out);

/* N, N..N, separated by commas, from least to most. */
trl_status trl_feature_scan_numbers(trl_feature_scan *s, int64_t least, int64_t most,
                                    const char *what, trl_numbers *out);

/* The next thing is what messages point at. */
void trl_feature_scan_mark(trl_feature_scan *s);
uint64_t trl_feature_scan_col(const trl_feature_scan *s); /* of the mark */

trl_status trl_feature_scan_fail(trl_feature_scan *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
trl_status trl_feature_scan_fail_at(trl_feature_scan *s, trl_status st,
                                    const char *at); /* adds the place */

/* ---- feature_terms.c ------------------------------------------------------------------------- */

#define TRL_SCAN_DEPTH 20

/* Several properties that are written at once: suffix 1..4. */
typedef struct trl_properties {
    size_t k[TRL_NUMBERS_MAX];
    size_t n;
} trl_properties;

trl_status trl_feature_scan_property(trl_feature_scan *s, trl_properties *out);

/* The number of the column, of the list of that name; SIZE_MAX: there is none. */
size_t trl_feature_scan_column_find(const trl_feature_list *l, trl_str name);
size_t trl_feature_scan_list_find(const trl_feature_list *l, trl_str name);

static inline bool trl_str_is(trl_str s, const char *word)
{
    return strlen(word) == s.n && memcmp(s.p, word, s.n) == 0;
}

static inline bool trl_str_same(trl_str a, trl_str b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

#endif
