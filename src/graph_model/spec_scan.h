/* spec_scan.h -- private: words of a model file, with their places. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SPEC_SCAN_H
#define TRL_SPEC_SCAN_H

#include "base/fail.h"
#include "graph_model/graph_spec.h"

typedef struct trl_spec_place {
    uint64_t row, col;
} trl_spec_place;

typedef struct trl_spec_scan {
    trl_graph_spec *spec;
    const char *name;
    const char *line, *p, *end; /* the line, what is not read yet, where the file ends */
    uint64_t row;
    trl_error *err;
} trl_spec_scan;

/* Before the next word of the statement; at its end false.  Indented lines continue it. */
bool trl_spec_more(trl_spec_scan *s);

/* To the first word of the next statement; false at the end of the file. */
bool trl_spec_next(trl_spec_scan *s);

trl_spec_place trl_spec_here(const trl_spec_scan *s);

/* Fills in the place; returns st. */
trl_status trl_spec_at(const trl_spec_scan *s, trl_status st, trl_spec_place at);

#define trl_spec_fail(s, place, ...)                                                               \
    trl_spec_at((s), trl_fail((s)->err, TRL_EPARSE, __VA_ARGS__), (place))

/* The next word (letters, digits, '_'; "" when something else is next), after blanks. */
trl_str trl_spec_word(trl_spec_scan *s);

/* The same without taking it. */
trl_str trl_spec_peek(trl_spec_scan *s);

/* Takes the sign when it is next. */
bool trl_spec_take(trl_spec_scan *s, const char *sign);

/* Takes it or fails: "'[' expected after a name". */
trl_status trl_spec_expect(trl_spec_scan *s, const char *sign, const char *where);

/* A whole number below 10^9. */
trl_status trl_spec_number(trl_spec_scan *s, const char *what, int64_t *out);

/* i, j, i+1, j-2: a token. */
trl_status trl_spec_token(trl_spec_scan *s, trl_token_place *out);

bool trl_spec_is(trl_str word, const char *text);

/* For messages: at most 60 bytes of it. */
#define TRL_SPEC_CUT(s) (int)((s).n < 60 ? (s).n : 60), (s).p

#define TRL_SPEC_NAME_MAX 40

/* A name, or a failure that says what of. */
trl_status trl_spec_name(trl_spec_scan *s, const char *what, trl_str *out, trl_spec_place *at);

/* By name; a failure says what is missing. */
trl_status trl_spec_find_layer(trl_spec_scan *s, trl_str name, trl_spec_place at, uint32_t *out);

/* UINT32_MAX: none. */
uint32_t trl_spec_find_template(const trl_graph_spec *x, trl_str name);

/* One without lines. */
trl_status trl_spec_add_template(trl_spec_scan *s, trl_str name, uint32_t *out);

/* spec_factor.c: what stands after `factor`. */
trl_status trl_spec_factor(trl_spec_scan *s);

/* spec_condition.c: what stands after `where`; *out is its number. */
trl_status trl_spec_condition(trl_spec_scan *s, uint32_t *out);

#endif
