/* text.h -- a growing byte buffer: append freely, check `failed` once at the end. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct text {
    char *p; /* NULL until the first byte; no NUL after the last */
    size_t n, cap;
    bool failed; /* memory ran out: what was appended since is lost */
} text;

void text_add(text *t, const void *bytes, size_t n);
void text_str(text *t, const char *s);
void text_char(text *t, char c);
void text_fmt(text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As "%.6f" prints it. */
void text_fixed6(text *t, double x);

void text_fini(text *t); /* leaves it empty and usable */

/* ---- JSON: values only, the caller writes braces, commas and keys ---------------------------- */

/* Quoted and escaped; bytes that are not UTF-8 become U+FFFD.  NULL becomes null. */
void text_json_str(text *t, const char *s);
void text_json_bytes(text *t, const char *s, size_t len);
void text_json_real(text *t, double x); /* reads back to the same bits; null when not finite */

/* ---- markup ---------------------------------------------------------------------------------- */

/* For HTML and SVG, inside of elements and of attributes in double quotes: & < > " escaped; bytes
 * that are not UTF-8 and control characters become U+FFFD. */
void text_xml(text *t, const char *s, size_t len);

#endif
