/* section_text_read.c -- text to sections. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/section_text.h"
#include "model/strtab_io.h"
#include "model/undump.h"
#include "text/number.h"

/* The section that is being read. */
typedef struct open_section {
    char what; /* t: text, s: strings, n: numbers, b: bytes; 0: none yet */
    char tag[9];
    char type;
    size_t width, n, row; /* row: bytes of one; n: rows, or strings */
    size_t next;          /* the least number that a row may have */
    unsigned char *bytes;
    size_t size;
    trl_buf text;
    trl_strtab *strings;
    bool closed; /* a text after its `rest` */
} open_section;

typedef struct reading {
    trl_undump u;
    const char *kind;
    open_section s;
    trl_container_builder b;
    trl_strtab **tables; /* of strings: the builder borrows from them */
    size_t n_tables, cap_tables;
    bool has_kind, has_last;
} reading;

#define WHAT(u, k) trl_shown((u)->field[k]), (u)->field[k].p

static bool is(trl_str s, const char *word)
{
    return s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

/* A whole number; what is larger than a size is refused. */
static trl_status whole(reading *x, size_t k, uint64_t *out)
{
    const trl_str s = x->u.field[k];
    uint64_t n = 0;
    bool ok = s.n > 0 && s.n <= 20;
    for (size_t i = 0; ok && i < s.n; i++) {
        const unsigned digit = (unsigned)(s.p[i] - '0');
        ok = digit < 10 && n <= (UINT64_MAX - digit) / 10;
        n = n * 10 + digit;
    }
    *out = n;
    return ok ? TRL_OK
              : FAIL_AT(&x->u, k, "'%.*s' is not a whole number of 64 bits", WHAT(&x->u, k));
}

/* ---- closing a section ----------------------------------------------------------------------- */

static trl_status close_strings(reading *x)
{
    open_section *s = &x->s;
    if (s->strings->n != s->n)
        return FAIL_AT(&x->u, 0, "the table '%s' has %zu strings instead of %zu", s->tag,
                       s->strings->n, s->n);
    return trl_strtab_save(s->strings, s->tag, &x->b, x->u.err);
}

/* Gives what was read to the builder. */
static trl_status close_section(reading *x)
{
    open_section *s = &x->s;
    trl_status st = TRL_OK;
    if (s->what == 's') {
        st = close_strings(x);
    } else if (s->what == 't') {
        trl_container_builder_give(&x->b, s->tag, s->text.data, s->text.len);
        s->text = (trl_buf){0};
    } else if (s->what) {
        trl_container_builder_give(&x->b, s->tag, s->bytes, s->size);
        s->bytes = NULL;
    }
    *s = (open_section){0};
    return st;
}

/* ---- opening one ----------------------------------------------------------------------------- */

static trl_status take_tag(reading *x, size_t most)
{
    const trl_str tag = x->u.field[1];
    bool ok = tag.n > 0 && tag.n <= most;
    for (size_t i = 0; ok && i < tag.n; i++)
        ok = tag.p[i] > ' ' && tag.p[i] < 127;
    if (!ok || (most == 4 && tag.n != 4))
        return FAIL_AT(&x->u, 1, "'%.*s' is not the name of a section", WHAT(&x->u, 1));
    for (size_t k = 0; k < x->b.n; k++)
        if (strncmp(x->b.section[k].tag, tag.p, tag.n) == 0 &&
            (tag.n == 8 || x->b.section[k].tag[tag.n] == 0))
            return FAIL_AT(&x->u, 1, "a second section '%.*s'", WHAT(&x->u, 1));
    memcpy(x->s.tag, tag.p, tag.n);
    return TRL_OK;
}

static trl_status expect(reading *x, size_t n)
{
    return x->u.n_fields == n ? TRL_OK
                              : FAIL_AT(&x->u, 0, "'%.*s' has %zu fields instead of %zu",
                                        WHAT(&x->u, 0), x->u.n_fields, n);
}

static trl_status open_text(reading *x)
{
    trl_status st = expect(x, 2);
    if (st == TRL_OK)
        st = take_tag(x, 8);
    x->s.what = st == TRL_OK ? 't' : 0;
    return st;
}

static trl_status open_strings(reading *x)
{
    uint64_t n = 0;
    trl_status st = expect(x, 3);
    if (st == TRL_OK)
        st = whole(x, 2, &n);
    if (st == TRL_OK)
        st = take_tag(x, 4);
    if (st != TRL_OK)
        return st;
    trl_strtab **all = trl_reserve(x->tables, &x->cap_tables, x->n_tables + 1, sizeof *all);
    x->tables = all ? all : x->tables;
    trl_strtab *table = all ? trl_zalloc(1, sizeof *table) : NULL;
    if (!table)
        return trl_fail_mem(x->u.err);
    all[x->n_tables++] = x->s.strings = table;
    x->s.n = n < SIZE_MAX ? (size_t)n : SIZE_MAX;
    x->s.what = 's';
    return TRL_OK;
}

/* Room for what was announced: 2^40 bytes at most, and taken as rows come in. */
#define MOST (UINT64_C(1) << 40)

static trl_status open_rows(reading *x, uint64_t n, uint64_t row, char what)
{
    if (n > MOST / row || n * row > SIZE_MAX)
        return FAIL_AT(&x->u, 2, "that many are too many");
    x->s.n = (size_t)n;
    x->s.row = (size_t)row;
    x->s.what = what;
    return TRL_OK;
}

static trl_status open_numbers(reading *x)
{
    static const char *const names[] = {"u32", "u64", "f32", "f64"};
    uint64_t n = 0, width = 0;
    trl_status st = expect(x, 5);
    if (st == TRL_OK)
        st = whole(x, 3, &n);
    if (st == TRL_OK)
        st = whole(x, 4, &width);
    if (st == TRL_OK)
        st = take_tag(x, 8);
    if (st != TRL_OK)
        return st;
    for (size_t k = 0; k < 4; k++)
        if (is(x->u.field[2], names[k]))
            x->s.type = "uwfd"[k];
    if (!x->s.type)
        return FAIL_AT(&x->u, 2, "'%.*s' is not a type of numbers: u32, u64, f32 or f64",
                       WHAT(&x->u, 2));
    if (width == 0 || width > 8)
        return FAIL_AT(&x->u, 4, "a row has 1 to 8 numbers");
    x->s.width = (size_t)width;
    return open_rows(x, n, width * (x->s.type == 'w' || x->s.type == 'd' ? 8 : 4), 'n');
}

static trl_status open_bytes(reading *x)
{
    uint64_t n = 0;
    trl_status st = expect(x, 3);
    if (st == TRL_OK)
        st = whole(x, 2, &n);
    if (st == TRL_OK)
        st = take_tag(x, 8);
    return st == TRL_OK ? open_rows(x, n, 1, 'b') : st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static trl_status take_line(reading *x, bool last)
{
    open_section *s = &x->s;
    if (s->what != 't' || s->closed)
        return FAIL_AT(&x->u, 0, "a line of text where there is none");
    trl_status st = expect(x, 2);
    if (st != TRL_OK)
        return st;
    trl_buf_add(&s->text, x->u.field[1].p, x->u.field[1].n);
    if (!last)
        trl_buf_ch(&s->text, '\n');
    s->closed = last;
    return s->text.failed ? trl_fail_mem(x->u.err) : TRL_OK;
}

static trl_status take_string(reading *x)
{
    open_section *s = &x->s;
    if (s->what != 's')
        return FAIL_AT(&x->u, 0, "a string outside of a table");
    const trl_status st = expect(x, 2);
    if (st != TRL_OK)
        return st;
    const size_t before = s->strings->n;
    const uint32_t id = trl_strtab_add(s->strings, x->u.field[1].p, x->u.field[1].n);
    if (id == TRL_NO_ID)
        return trl_fail_mem(x->u.err);
    return s->strings->n > before
               ? TRL_OK
               : FAIL_AT(&x->u, 1, "'%.*s' is in the table already", WHAT(&x->u, 1));
}

/* Grows the section to `size` bytes, the new ones 0. */
static trl_status grow(reading *x, size_t size)
{
    open_section *s = &x->s;
    if (size <= s->size)
        return TRL_OK;
    unsigned char *p = trl_realloc(s->bytes, size, 1);
    if (!p)
        return trl_fail_mem(x->u.err);
    memset(p + s->size, 0, size - s->size);
    s->bytes = p;
    s->size = size;
    return TRL_OK;
}

/* Blocks, so that many small rows do not make many copies. */
static trl_status make_room(reading *x, size_t end, size_t all)
{
    const size_t block = end + end / 2 + 4096;
    return grow(x, end <= x->s.size ? end : block < all ? block : all);
}

static trl_status take_number(reading *x, size_t k, unsigned char *to)
{
    uint64_t v = 0;
    double d = 0.0;
    trl_status st = TRL_OK;
    if (x->s.type == 'u' || x->s.type == 'w') {
        st = whole(x, k, &v);
        if (st == TRL_OK && x->s.type == 'u' && v > UINT32_MAX)
            st = FAIL_AT(&x->u, k, "'%.*s' has more than 32 bits", WHAT(&x->u, k));
        const uint32_t u = (uint32_t)v;
        memcpy(to, x->s.type == 'u' ? (const void *)&u : &v, x->s.type == 'u' ? 4 : 8);
        return st;
    }
    const trl_str s = x->u.field[k];
    if (trl_number_parse(s.p, s.n, &d) != TRL_NUMBER_OK ||
        (x->s.type == 'f' && !isfinite((float)d)))
        return FAIL_AT(&x->u, k, "'%.*s' is not a number", WHAT(&x->u, k));
    const float f = (float)d;
    memcpy(to, x->s.type == 'f' ? (const void *)&f : &d, x->s.type == 'f' ? 4 : 8);
    return st;
}

static trl_status take_numbers(reading *x, size_t at)
{
    open_section *s = &x->s;
    const bool named = x->u.n_fields == s->width + 3 && x->u.field[s->width + 2].n &&
                       x->u.field[s->width + 2].p[0] == '#';
    trl_status st = named ? TRL_OK : expect(x, s->width + 2);
    if (st == TRL_OK)
        st = make_room(x, (at + 1) * s->row, s->n * s->row);
    for (size_t k = 0; st == TRL_OK && k < s->width; k++)
        st = take_number(x, k + 2, s->bytes + at * s->row + k * (s->row / s->width));
    return st;
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static trl_status take_bytes(reading *x, size_t at)
{
    open_section *s = &x->s;
    trl_status st = expect(x, 3);
    const size_t from = at * TRL_BYTES_ROW, left = s->n - from;
    const size_t n = left < TRL_BYTES_ROW ? left : TRL_BYTES_ROW;
    if (st == TRL_OK && x->u.field[2].n != 2 * n)
        st = FAIL_AT(&x->u, 2, "%zu bytes are %zu digits", n, 2 * n);
    if (st == TRL_OK)
        st = make_room(x, from + n, s->n);
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        const char *p = x->u.field[2].p + 2 * k;
        if (hex(p[0]) < 0 || hex(p[1]) < 0)
            return FAIL_AT(&x->u, 2, "'%.2s' is not a byte of two digits 0-9, a-f", p);
        s->bytes[from + k] = (unsigned char)(hex(p[0]) * 16 + hex(p[1]));
    }
    return st;
}

static size_t rows_of(const open_section *s)
{
    return s->what == 'n' ? s->n : s->n / TRL_BYTES_ROW + (s->n % TRL_BYTES_ROW != 0);
}

static trl_status take_row(reading *x)
{
    open_section *s = &x->s;
    uint64_t at = 0;
    if (s->what != 'n' && s->what != 'b')
        return FAIL_AT(&x->u, 0, "a row outside of numbers and bytes");
    if (x->u.n_fields < 3)
        return FAIL_AT(&x->u, 0, "a row has its number and what is in it");
    trl_status st = whole(x, 1, &at);
    if (st == TRL_OK && (at < s->next || at >= rows_of(s)))
        st = FAIL_AT(&x->u, 1, "row %" PRIu64 " where %zu to %zu may be", at, s->next,
                     rows_of(s) - 1);
    else if (st == TRL_OK && at - s->next >= TRL_ROW_GAP)
        st = FAIL_AT(&x->u, 1, "rows %zu to %" PRIu64 " are missing", s->next, at - 1);
    if (st != TRL_OK)
        return st;
    s->next = (size_t)at + 1;
    return s->what == 'n' ? take_numbers(x, (size_t)at) : take_bytes(x, (size_t)at);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The last row of a section is always there. */
static trl_status finish_section(reading *x)
{
    const bool rows = x->s.what == 'n' || x->s.what == 'b';
    if (rows && x->s.next != rows_of(&x->s))
        return FAIL_AT(&x->u, 0, "section '%s' ends after %zu of %zu rows", x->s.tag, x->s.next,
                       rows_of(&x->s));
    if (rows)
        x->s.size = x->s.n * x->s.row;
    return close_section(x);
}

typedef struct line_reader {
    const char *word;
    trl_status (*open)(reading *x); /* ends the section before it */
} line_reader;

static trl_status take(reading *x)
{
    static const line_reader openers[] = {{"text", open_text},
                                          {"strings", open_strings},
                                          {"numbers", open_numbers},
                                          {"bytes", open_bytes}};
    const trl_str word = x->u.field[0];
    if (is(word, "row"))
        return take_row(x);
    if (is(word, "string"))
        return take_string(x);
    if (is(word, "line") || is(word, "rest"))
        return take_line(x, is(word, "rest"));
    trl_status st = finish_section(x);
    if (st == TRL_OK && is(word, "end"))
        return trl_undump_end(&x->u);
    for (size_t k = 0; st == TRL_OK && k < 4; k++)
        if (is(word, openers[k].word))
            return x->has_kind ? openers[k].open(x) : FAIL_AT(&x->u, 0, "'kind' must come before");
    if (st == TRL_OK && is(word, "kind") && x->u.n_fields == 2 && is(x->u.field[1], x->kind)) {
        x->has_kind = true;
        return TRL_OK;
    }
    if (st == TRL_OK && is(word, "format") && x->u.n_fields == 2 && is(x->u.field[1], "2")) {
        x->b.version = 2;
        return TRL_OK;
    }
    if (st == TRL_OK && is(word, "last") && x->u.n_fields == 2 && is(x->u.field[1], "end"))
        return TRL_OK;
    return st == TRL_OK ? FAIL_AT(&x->u, 0, "'%.*s' is not known here", WHAT(&x->u, 0)) : st;
}

static trl_status read_all(reading *x)
{
    trl_status st = trl_undump_version(&x->u);
    for (bool more = true; st == TRL_OK;) {
        st = trl_undump_next(&x->u, &more);
        if (st != TRL_OK || !more)
            break;
        st = take(x);
    }
    return st == TRL_OK ? trl_undump_check_end(&x->u) : st;
}

trl_status trl_sections_undump(trl_input *in, const char *kind, unsigned char **out, size_t *size,
                               trl_error *err)
{
    reading *x = trl_zalloc(1, sizeof *x);
    if (!x) {
        trl_input_free(in);
        return trl_fail_mem(err);
    }
    x->kind = kind;
    x->u.in = in;
    x->u.err = err;
    x->u.must_end = true;
    trl_status st = read_all(x);
    if (st == TRL_OK)
        st = trl_container_to_buffer(&x->b, kind, out, size, err);
    trl_container_builder_fini(&x->b);
    trl_free(x->s.bytes);
    trl_buf_fini(&x->s.text);
    for (size_t k = 0; k < x->n_tables; k++) {
        trl_strtab_fini(x->tables[k]);
        trl_free(x->tables[k]);
    }
    trl_free(x->tables);
    trl_undump_fini(&x->u);
    trl_free(x);
    return st;
}
