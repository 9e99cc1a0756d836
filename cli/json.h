/* json.h -- a strict reader of JSON (RFC 8259) for the program's own records.
 *
 * Values lie in one array in the order of the text; what a value holds follows it, up to the
 * index `next`.  Refused beyond the grammar: numbers no double holds, U+0000 in strings, half
 * surrogates, and more than 100 values inside each other.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>

typedef enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
} json_type;

typedef struct json_value {
    json_type type;
    const char *key;    /* of a member of an object; NULL elsewhere */
    const char *string; /* JSON_STRING, NUL-terminated */
    double number;      /* JSON_NUMBER */
    size_t n, next;     /* members; see above */
} json_value;

typedef struct json {
    json_value *value; /* [n], the whole at 0 */
    size_t n, cap;
} json; /* zero-initialise */

/* Reads bytes[0 .. n), bytes[n] must be NUL.  Strings are decoded in place, so the bytes must
 * outlive the values.  False: it has been said, with `path`, row and column. */
bool json_parse(json *j, const char *path, char *bytes, size_t n);
void json_fini(json *j);

/* The first value inside v, and the one beside v; look at v->n before. */
const json_value *json_first(const json *j, const json_value *v);
const json_value *json_next(const json *j, const json_value *v);

/* The first member of that name; NULL: none, or v is NULL or no object. */
const json_value *json_get(const json *j, const json_value *v, const char *key);

/* NaN when v is NULL or not a number. */
double json_number(const json_value *v);

#endif
