/* jsonl.c -- reading JSON lines. */
/* SPDX-License-Identifier: MIT */
#include "text/jsonl.h"

#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/mem.h"
#include "text/number.h"

#define DEPTH_MOST 64

typedef struct list {
    size_t begin, n; /* in r->string */
} list;

struct trl_jsonl {
    trl_input *in;
    trl_arena text;
    char *start, *p, *end; /* of the line, a copy in which strings are unescaped */
    trl_str *string;       /* of all lists */
    size_t n_strings, string_cap;
    list *column; /* the tokens first */
    size_t n_columns, column_cap;
    trl_str *cell;
    size_t cell_cap;
    size_t width;  /* of the first sequence; 0 before it */
    bool document; /* the sequence starts one */
    double weight; /* how often it counts */
};

trl_status trl_jsonl_new(trl_input *in, trl_jsonl **out, trl_error *err)
{
    trl_jsonl *r = trl_zalloc(1, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    r->in = in;
    *out = r;
    return TRL_OK;
}

void trl_jsonl_free(trl_jsonl *r)
{
    if (!r)
        return;
    trl_arena_fini(&r->text);
    trl_free(r->string);
    trl_free(r->column);
    trl_free(r->cell);
    trl_free(r);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static trl_status refuse(const trl_jsonl *r, const char *p, const char *what, trl_error *err)
{
    const trl_status st = trl_fail(err, TRL_EPARSE, "%s", what);
    trl_fail_hint(err, st, "a line is {\"tokens\": [\"a\", ...], \"labels\": [\"O\", ...]}");
    return trl_input_fail(r->in, err, st, (uint64_t)(p - r->start) + 1);
}

static char skip(trl_jsonl *r)
{
    while (r->p < r->end && memchr(" \t\r", *r->p, 3))
        r->p++;
    return r->p < r->end ? *r->p : '\0';
}

static bool hex4(const char *p, uint32_t *x)
{
    *x = 0;
    for (int i = 0; i < 4; i++) {
        const char c = p[i], low = (char)(c | 32);
        if (!((c >= '0' && c <= '9') || (low >= 'a' && low <= 'f')))
            return false;
        *x = *x << 4 | (uint32_t)(c <= '9' ? c - '0' : low - 'a' + 10);
    }
    return true;
}

static char *put_utf8(char *to, uint32_t x)
{
    const size_t n = x < 0x80 ? 1 : x < 0x800 ? 2 : x < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; x >>= 6)
        to[i] = (char)(0x80 | (x & 0x3f));
    to[0] = (char)(lead[n] | x);
    return to + n;
}

/* \uXXXX at r->p, after the u; two for what lies beyond U+FFFF.  A lone half becomes U+FFFD. */
static bool take_unicode(trl_jsonl *r, char **to)
{
    uint32_t x, y;
    if (r->end - r->p < 4 || !hex4(r->p, &x) || x == 0)
        return false;
    r->p += 4;
    if (x >= 0xd800 && x < 0xdc00 && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u' &&
        hex4(r->p + 2, &y) && y >= 0xdc00 && y < 0xe000) {
        x = 0x10000 + ((x - 0xd800) << 10) + (y - 0xdc00);
        r->p += 6;
    }
    *to = put_utf8(*to, x >= 0xd800 && x < 0xe000 ? 0xfffd : x);
    return true;
}

/* The string at the quote at r->p, unescaped where it stands: it never grows. */
static trl_status take_string(trl_jsonl *r, trl_str *out, trl_error *err)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char *start = r->p++;
    char *text = r->p, *to = text;
    for (;;) {
        if (r->p == r->end || (unsigned char)*r->p < ' ')
            return refuse(r, start, "a string that does not end", err);
        const char c = *r->p++;
        if (c == '"')
            break;
        if (c != '\\') {
            *to++ = c;
            continue;
        }
        const char *e = r->p < r->end ? memchr(from, *r->p, 8) : NULL;
        if (e) {
            *to++ = into[e - from];
            r->p++;
        } else if (r->p == r->end || *r->p++ != 'u' || !take_unicode(r, &to)) {
            return refuse(r, r->p - 1, "no such escape in a string", err);
        }
    }
    *out = (trl_str){text, (size_t)(to - text)};
    return TRL_OK;
}

/* Passes over a number or a word. */
static trl_status skip_scalar(trl_jsonl *r, trl_error *err)
{
    const char *from = r->p;
    double x;
    while (r->p < r->end && !memchr(",]} \t", *r->p, 5))
        r->p++;
    const size_t n = (size_t)(r->p - from);
    const bool word = (n == 4 && (memcmp(from, "true", 4) == 0 || memcmp(from, "null", 4) == 0)) ||
                      (n == 5 && memcmp(from, "false", 5) == 0);
    return word || trl_number_parse(from, n, &x) == TRL_NUMBER_OK
               ? TRL_OK
               : refuse(r, from, "a value is expected here", err);
}

/* Passes over any value, however it is nested. */
static trl_status skip_value(trl_jsonl *r, int depth, trl_error *err)
{
    trl_str s;
    const char open = skip(r), close = open == '[' ? ']' : '}';
    if (open == '"')
        return take_string(r, &s, err);
    if (open != '[' && open != '{')
        return skip_scalar(r, err);
    if (depth == DEPTH_MOST)
        return refuse(r, r->p, "nested too deeply", err);
    r->p++;
    for (bool first = true;; first = false) {
        if (skip(r) == close && first)
            break;
        trl_status st = TRL_OK;
        if (open == '{') {
            if (skip(r) != '"')
                return refuse(r, r->p, "a name in quotes is expected here", err);
            st = take_string(r, &s, err);
            if (st == TRL_OK && skip(r) != ':')
                return refuse(r, r->p, "':' is expected here", err);
            r->p++;
        }
        if (st == TRL_OK)
            st = skip_value(r, depth + 1, err);
        if (st != TRL_OK)
            return st;
        if (skip(r) == close)
            break;
        if (*r->p != ',' || r->p == r->end)
            return refuse(r, r->p, "',' or the end of the list is expected here", err);
        r->p++;
    }
    r->p++;
    return TRL_OK;
}

/* ---- sequences ------------------------------------------------------------------------------- */

static trl_status take_list(trl_jsonl *r, list *out, trl_error *err)
{
    *out = (list){.begin = r->n_strings};
    if (skip(r) != '[')
        return refuse(r, r->p, "a list of strings is expected here", err);
    r->p++;
    if (skip(r) == ']') {
        r->p++;
        return TRL_OK;
    }
    for (;;) {
        if (skip(r) != '"')
            return refuse(r, r->p, "a string is expected here", err);
        trl_str *grown = trl_reserve(r->string, &r->string_cap, r->n_strings + 1, sizeof *grown);
        if (!grown)
            return trl_fail_mem(err);
        r->string = grown;
        const char *at = r->p;
        const trl_status st = take_string(r, &r->string[r->n_strings], err);
        if (st != TRL_OK)
            return st;
        if (r->string[r->n_strings].n == 0)
            return refuse(r, at, "an empty string", err);
        r->n_strings++;
        out->n++;
        const char next = skip(r);
        if (next != ',' && next != ']')
            return refuse(r, r->p, "',' or ']' is expected here", err);
        r->p++;
        if (next == ']')
            return TRL_OK;
    }
}

static trl_status add_column(trl_jsonl *r, size_t at, trl_error *err)
{
    list new;
    list *grown = trl_reserve(r->column, &r->column_cap, r->n_columns + 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    r->column = grown;
    const trl_status st = take_list(r, &new, err);
    if (st != TRL_OK)
        return st;
    memmove(r->column + at + 1, r->column + at, (r->n_columns - at) * sizeof *r->column);
    r->column[at] = new;
    r->n_columns++;
    return TRL_OK;
}

static trl_status take_columns(trl_jsonl *r, bool labels, trl_error *err)
{
    if (skip(r) != '[')
        return refuse(r, r->p, "a list of lists is expected here", err);
    r->p++;
    if (skip(r) == ']') {
        r->p++;
        return TRL_OK;
    }
    for (;;) {
        const trl_status st = add_column(r, r->n_columns - labels, err);
        if (st != TRL_OK)
            return st;
        const char next = skip(r);
        if (next != ',' && next != ']')
            return refuse(r, r->p, "',' or ']' is expected here", err);
        r->p++;
        if (next == ']')
            return TRL_OK;
    }
}

static bool is_name(trl_str s, const char *name)
{
    return s.n == strlen(name) && memcmp(s.p, name, s.n) == 0;
}

/* The value of "weight". */
static trl_status take_weight(trl_jsonl *r, trl_error *err)
{
    skip(r);
    const char *from = r->p;
    const trl_status st = skip_value(r, 0, err);
    if (st != TRL_OK)
        return st;
    if (trl_number_parse(from, (size_t)(r->p - from), &r->weight) != TRL_NUMBER_OK ||
        !(r->weight >= 0.0))
        return refuse(r, from, "the weight of a sequence must be a number and not negative", err);
    return TRL_OK;
}

static trl_status take_document(trl_jsonl *r, trl_error *err)
{
    skip(r);
    r->document = r->end - r->p >= 4 && memcmp(r->p, "true", 4) == 0;
    return skip_value(r, 0, err);
}

/* One member of the object; `seen` has bits: tokens 1, labels 2, columns 4, document 8. */
static trl_status take_member(trl_jsonl *r, unsigned *seen, trl_error *err)
{
    trl_str name;
    if (skip(r) != '"')
        return refuse(r, r->p, "a name in quotes is expected here", err);
    const char *at = r->p;
    const trl_status st = take_string(r, &name, err);
    if (st != TRL_OK)
        return st;
    if (skip(r) != ':')
        return refuse(r, r->p, "':' is expected here", err);
    r->p++;
    const unsigned bit = is_name(name, "tokens")     ? 1
                         : is_name(name, "labels")   ? 2
                         : is_name(name, "columns")  ? 4
                         : is_name(name, "document") ? 8
                         : is_name(name, "weight")   ? 16
                                                     : 0;
    if (*seen & bit)
        return refuse(r, at, "a member that is there twice", err);
    const bool labels = *seen & 2;
    *seen |= bit;
    return bit == 1    ? add_column(r, 0, err)
           : bit == 2  ? add_column(r, r->n_columns, err)
           : bit == 4  ? take_columns(r, labels, err)
           : bit == 8  ? take_document(r, err)
           : bit == 16 ? take_weight(r, err)
                       : skip_value(r, 0, err);
}

static trl_status take_object(trl_jsonl *r, trl_error *err)
{
    unsigned seen = 0;
    if (skip(r) != '{')
        return refuse(r, r->p, "an object is expected here", err);
    r->p++;
    if (skip(r) == '}')
        return refuse(r, r->p, "there are no tokens", err);
    for (;;) {
        const trl_status st = take_member(r, &seen, err);
        if (st != TRL_OK)
            return st;
        const char next = skip(r);
        if (next != ',' && next != '}')
            return refuse(r, r->p, "',' or '}' is expected here", err);
        r->p++;
        if (next == '}')
            break;
    }
    if (skip(r) != '\0')
        return refuse(r, r->p, "more than one object", err);
    return seen & 1 ? TRL_OK : refuse(r, r->start, "there are no tokens", err);
}

static trl_status make_rows(trl_jsonl *r, trl_rows *seq, trl_error *err)
{
    static const char heading[] = "-DOCSTART-\n";
    const size_t n = r->column[0].n, width = r->n_columns;
    for (size_t c = 1; c < width; c++)
        if (r->column[c].n != n)
            return refuse(r, r->start, "the lists have different lengths", err);
    if (r->width && r->width != width && n)
        return refuse(r, r->start, "not as many columns, with labels, as in the lines before", err);
    trl_str *cell = trl_reserve(r->cell, &r->cell_cap, (uint64_t)n * width, sizeof *cell);
    if (!cell)
        return trl_fail_mem(err);
    r->cell = cell;
    for (size_t t = 0; t < n; t++) {
        for (size_t c = 0; c < width; c++)
            cell[t * width + c] = r->string[r->column[c].begin + t];
    }
    r->width = n ? width : r->width;
    *seq = (trl_rows){.n_tokens = n,
                      .n_columns = width,
                      .cell = cell,
                      .path = trl_input_name(r->in),
                      .first_row = trl_input_row(r->in),
                      .heading = {heading, r->document ? sizeof heading - 1 : 0}};
    return TRL_OK;
}

double trl_jsonl_weight(const trl_jsonl *r)
{
    return r->weight;
}

trl_status trl_jsonl_next(trl_jsonl *r, trl_rows *seq, bool *more, trl_error *err)
{
    for (;;) {
        size_t n;
        trl_arena_reset(&r->text);
        r->n_strings = r->n_columns = 0;
        r->document = false;
        r->weight = 1.0;
        trl_status st = trl_input_line_copy(r->in, &r->text, &r->start, &n, err);
        if (st == TRL_OK && r->start)
            st = trl_input_check_utf8(r->in, (trl_str){r->start, n}, err);
        if (st != TRL_OK)
            return st;
        *more = r->start != NULL;
        if (!*more) {
            *seq = (trl_rows){.path = trl_input_name(r->in)};
            return TRL_OK;
        }
        r->p = r->start;
        r->end = r->start + n;
        if (skip(r) == '\0')
            continue;
        st = take_object(r, err);
        if (st == TRL_OK)
            st = make_rows(r, seq, err);
        if (st != TRL_OK || seq->n_tokens)
            return st;
    }
}
