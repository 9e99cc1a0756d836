/* foreign.h -- private: models of other tools on their way into a chain model.
 *
 * A reader gets the whole file in memory and fills labels, names, rows and template; nothing of the
 * file is believed: every offset, number and name is checked before it is used.  What cannot be
 * right is TRL_EMODEL (binary) or TRL_EPARSE with row and column (text), with the path and a hint.
 *
 * What all three tools have in common with us: the first label wins a tie, weights that are not
 * stored are 0, a score is a sum in the order of the attributes.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FOREIGN_MODELS_H
#define TRL_FOREIGN_MODELS_H

#include "base/buf.h"
#include "base/fail.h"
#include "model/chain_parts.h"
#include "text/input.h"

typedef struct trl_foreign {
    const char *path; /* for messages */
    trl_str file;     /* all of it; borrowed */
    trl_chain_parts parts;
    trl_strtab labels, names[TRL_FAMILIES];
    trl_buf settings, template_text;
    trl_error *err;
} trl_foreign;

/* Whole files to parts; the caller writes and releases them. */
trl_status trl_read_crfsuite(trl_foreign *m);
trl_status trl_read_crfsuite_dump(trl_foreign *m);
trl_status trl_read_crfpp(trl_foreign *m);
trl_status trl_read_crfpp_text(trl_foreign *m);
trl_status trl_read_wapiti(trl_foreign *m);

/* "damaged model of TOOL: what, at byte N", with the path and a hint. */
#define TRL_DAMAGED(m, tool, at, ...)                                                              \
    trl_foreign_damaged((m), (tool), (at), trl_fail((m)->err, TRL_EMODEL, __VA_ARGS__))
trl_status trl_foreign_damaged(trl_foreign *m, const char *tool, size_t at, trl_status st);

/* Adds a label; TRL_EMODEL for a second of the same name, for too many, and for an empty one. */
trl_status trl_foreign_label(trl_foreign *m, trl_str name);

/* The template, which must be a sound one; `columns` are those of the data, without the label. */
trl_status trl_foreign_template(trl_foreign *m, size_t columns);

/* Have all lines that score label pairs no macro?  Then they are plain transitions, which the model
 * has as one table; else they are looked up line by line, as the other tools do. */
bool trl_pairs_are_constant(const trl_template *tpl);

/* How many lines make the attribute of label pairs `name` at every position. */
size_t trl_constant_lines(const trl_template *tpl, trl_str name);

/* ---- text ------------------------------------------------------------------------------------ */

/* A cursor over text: lines, or numbers and strings with their length before them. */
typedef struct trl_cursor {
    const char *p, *end, *line; /* line: the start of the current one */
    uint64_t row;               /* 1-based */
} trl_cursor;

trl_cursor trl_cursor_begin(trl_str text);

/* The next line without its end (LF or CR LF); false at the end of the text. */
bool trl_cursor_line(trl_cursor *s, trl_str *line);

/* A decimal number below 2^53, then the text `after`.  False: it is not there, and nothing has
 * moved. */
bool trl_cursor_number(trl_cursor *s, uint64_t *x, const char *after);
bool trl_cursor_text(trl_cursor *s, const char *text);

/* TRL_EPARSE at the cursor, with a hint. */
#define TRL_TEXT_FAIL(m, s, ...)                                                                   \
    trl_cursor_fail((m), (s), trl_fail((m)->err, TRL_EPARSE, __VA_ARGS__))
trl_status trl_cursor_fail(trl_foreign *m, const trl_cursor *s, trl_status st);

/* ---- bytes ----------------------------------------------------------------------------------- */

static inline uint32_t trl_get_u32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline double trl_get_double(const char *p)
{
    const uint64_t bits = trl_get_u32(p) | (uint64_t)trl_get_u32(p + 4) << 32;
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float trl_get_float(const char *p)
{
    const uint32_t bits = trl_get_u32(p);
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

/* Are there n bytes from `at` on? */
static inline bool trl_has(trl_str file, uint64_t at, uint64_t n)
{
    return at <= file.n && n <= file.n - at;
}

#endif
