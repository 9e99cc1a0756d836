/* template.c -- parsing templates into pieces, and making attributes from the pieces. */
/* SPDX-License-Identifier: MIT */
#include "feature/template.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/pattern_regex.h"

#define MAX_NUMBER 1000000000 /* rows and columns a macro may name */

typedef enum piece_type { TEXT, CELL, TEST, MATCH } piece_type;

typedef struct piece {
    piece_type type;
    bool lower, absolute;
    int64_t row;
    size_t column;
    trl_str text;    /* TEXT: into trl_template.text */
    trl_regex *re;   /* TEST, MATCH: owned */
    uint64_t at_row; /* place of the macro, for messages */
    uint64_t at_col;
} piece;

/* The attribute is `letter`, then piece[first .. first + n). */
typedef struct pattern {
    char letter;
    int cliques;
    size_t first, n;
    bool constant;
} pattern;

struct trl_template {
    char *text; /* as given; pieces point into it */
    size_t text_len;
    bool wapiti;
    pattern *pattern;
    size_t n_patterns, pattern_cap;
    piece *piece;
    size_t n_pieces, piece_cap;
    size_t columns;
};

/* ---- reading: one line ----------------------------------------------------------------------- */

typedef struct parser {
    trl_template *t;
    const char *name;
    uint64_t row;
    const char *line, *p, *end; /* the line, what is not read yet, where it ends */
    bool cut;                   /* a comment followed */
    trl_error *err;
} parser;

static trl_status fail_at(const parser *ps, trl_status st, const char *at)
{
    return trl_fail_where(ps->err, st, ps->name, ps->row, (uint64_t)(at - ps->line) + 1);
}

static trl_status add_piece(parser *ps, piece pc)
{
    trl_template *t = ps->t;
    piece *grown = trl_reserve(t->piece, &t->piece_cap, t->n_pieces + 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(ps->err);
    t->piece = grown;
    t->piece[t->n_pieces++] = pc;
    return TRL_OK;
}

static trl_status expect(parser *ps, char c, const char *what)
{
    if (ps->p == ps->end || *ps->p != c)
        return fail_at(ps, trl_fail(ps->err, TRL_EPARSE, "'%c' expected %s", c, what), ps->p);
    ps->p++;
    return TRL_OK;
}

/* A decimal number, blanks and a sign before it. */
static trl_status read_number(parser *ps, const char *what, bool with_sign, int64_t *out)
{
    while (ps->p < ps->end && (*ps->p == ' ' || *ps->p == '\t'))
        ps->p++;
    const char *from = ps->p;
    const bool minus = with_sign && from < ps->end && *from == '-';
    if (minus || (from < ps->end && *from == '+'))
        ps->p++;
    const char *digits = ps->p;
    int64_t v = 0;
    for (; ps->p < ps->end && *ps->p >= '0' && *ps->p <= '9'; ps->p++)
        if (v <= MAX_NUMBER)
            v = v * 10 + (*ps->p - '0');
    if (ps->p == digits)
        return fail_at(ps, trl_fail(ps->err, TRL_EPARSE, "no %s number", what), from);
    if (v > MAX_NUMBER)
        return fail_at(ps, trl_fail(ps->err, TRL_EPARSE, "%s number too large", what), from);
    if (ps->t->wapiti && with_sign && *digits == '0' && ps->p > digits + 1) {
        const trl_status st = trl_fail(ps->err, TRL_EPARSE, "row number with a leading 0");
        trl_fail_hint(ps->err, st, "Wapiti would take it for octal: leave the 0 out");
        return fail_at(ps, st, from);
    }
    *out = minus ? -v : v;
    return TRL_OK;
}

/* ,"re" */
static trl_status read_regex(parser *ps, trl_regex **out)
{
    trl_status st = expect(ps, ',', "before the regular expression");
    const char *quote = ps->p;
    if (st == TRL_OK)
        st = expect(ps, '"', "before the regular expression");
    if (st != TRL_OK)
        return st;
    const char *re = ps->p;
    while (ps->p < ps->end && *ps->p != '"')
        ps->p += *ps->p == '\\' && ps->p + 1 < ps->end ? 2 : 1;
    if (ps->p >= ps->end) {
        st = trl_fail(ps->err, TRL_EPARSE, "the regular expression has no closing quote");
        if (ps->cut)
            trl_fail_hint(ps->err, st, "'#' starts a comment even inside quotes");
        return fail_at(ps, st, quote);
    }
    size_t at;
    st = trl_regex_new(re, (size_t)(ps->p - re), out, &at, ps->err);
    if (st == TRL_EPARSE)
        fail_at(ps, st, re + at);
    ps->p++;
    return st;
}

static trl_status read_arguments(parser *ps, piece *pc)
{
    trl_status st = expect(ps, '[', "after the macro's letter");
    if (st != TRL_OK)
        return st;
    pc->absolute = ps->p < ps->end && *ps->p == '@';
    ps->p += pc->absolute;
    int64_t column = 0;
    st = read_number(ps, "row", true, &pc->row);
    if (st == TRL_OK)
        st = expect(ps, ',', "after the row");
    if (st == TRL_OK)
        st = read_number(ps, "column", false, &column);
    pc->column = (size_t)column;
    if (st == TRL_OK && pc->type != CELL)
        st = read_regex(ps, &pc->re);
    if (st == TRL_OK)
        st = expect(ps, ']', "to end the macro");
    return st;
}

static trl_status read_macro(parser *ps)
{
    const char *at = ps->p++;
    piece pc = {.at_row = ps->row, .at_col = (uint64_t)(at - ps->line) + 1};
    const char c = ps->p < ps->end ? *ps->p : '\0';
    pc.lower = c == 'X' || c == 'T' || c == 'M';
    switch (c | 0x20) {
    case 'x':
        pc.type = CELL;
        break;
    case 't':
        pc.type = TEST;
        break;
    case 'm':
        pc.type = MATCH;
        break;
    default:
        return fail_at(ps, trl_fail(ps->err, TRL_EPARSE, "%%x, %%t or %%m expected"), at);
    }
    ps->p++;
    trl_status st = read_arguments(ps, &pc);
    if (st == TRL_OK)
        st = add_piece(ps, pc);
    if (st != TRL_OK)
        trl_regex_free(pc.re);
    else if (pc.column >= ps->t->columns)
        ps->t->columns = pc.column + 1;
    return st;
}

static int cliques_of(char letter)
{
    switch (letter) {
    case 'u':
    case 'U':
        return TRL_ON_LABEL;
    case 'b':
    case 'B':
        return TRL_ON_PAIR;
    case 't':
    case 'T':
        return TRL_ON_TRIPLE;
    case '*':
        return TRL_ON_LABEL | TRL_ON_PAIR;
    default:
        return 0;
    }
}

static char lowered(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static trl_status read_pattern(parser *ps)
{
    trl_template *t = ps->t;
    pattern pt = {.first = t->n_pieces, .constant = true};
    pt.cliques = cliques_of(*ps->p);
    if (!pt.cliques) {
        const trl_status st = trl_fail(ps->err, TRL_EPARSE, "a template starts with U, B, T, *");
        return fail_at(ps, st, ps->p);
    }
    pt.letter = t->wapiti ? lowered(*ps->p) : *ps->p;
    ps->p++;
    while (ps->p < ps->end) {
        trl_status st;
        if (*ps->p == '%') {
            pt.constant = false;
            st = read_macro(ps);
        } else {
            const char *from = ps->p, *to = memchr(from, '%', (size_t)(ps->end - from));
            ps->p = to ? to : ps->end;
            st = add_piece(ps, (piece){.type = TEXT, .text = {from, (size_t)(ps->p - from)}});
        }
        if (st != TRL_OK)
            return st;
    }
    pattern *all = trl_reserve(t->pattern, &t->pattern_cap, t->n_patterns + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(ps->err);
    t->pattern = all;
    pt.n = t->n_pieces - pt.first;
    t->pattern[t->n_patterns++] = pt;
    return TRL_OK;
}

/* ---- reading: the file ----------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Puts the next line, without comment and line end, into ps->line .. ps->end and returns the start
 * of the next one. ps->p == ps->end when the line is empty. */
static const char *next_line(parser *ps, const char *at, const char *end)
{
    const char *lf = memchr(at, '\n', (size_t)(end - at));
    const char *stop = lf ? lf : end;
    ps->row++;
    ps->line = ps->p = at;
    ps->end = stop;
    if (ps->end > at && ps->end[-1] == '\r')
        ps->end--;
    const char *hash = memchr(at, '#', (size_t)(ps->end - at));
    ps->cut = hash && (hash == at || ps->t->wapiti);
    if (ps->cut)
        ps->end = hash;
    const char *text = ps->end;
    while (text > at && is_space(text[-1]))
        text--;
    if (ps->t->wapiti || text == at)
        ps->end = text;
    return lf ? lf + 1 : end;
}

/* Does the line hold something that Wapiti has and CRF++ would refuse? */
static bool is_wapiti_line(const char *p, const char *end)
{
    if (memchr("ubt*", *p, 4))
        return true;
    while (end - p >= 2 && (p = memchr(p, '%', (size_t)(end - p - 1)))) {
        p++;
        if (memchr("tmXTM", *p, 5) || (end - p >= 3 && memcmp(p, "x[@", 3) == 0))
            return true;
    }
    return false;
}

static trl_status read_text(trl_template *t, const char *name, trl_error *err)
{
    const char *from = t->text, *end = t->text + t->text_len;
    if (t->text_len >= 3 && memcmp(from, "\xef\xbb\xbf", 3) == 0)
        from += 3;
    parser ps = {.t = t, .name = name, .err = err};
    for (const char *at = from; at < end && !t->wapiti;) {
        at = next_line(&ps, at, end);
        t->wapiti = ps.p < ps.end && is_wapiti_line(ps.p, ps.end);
    }
    ps.row = 0;
    for (const char *at = from; at < end;) {
        at = next_line(&ps, at, end);
        if (ps.p == ps.end)
            continue;
        const char *nul = memchr(ps.p, '\0', (size_t)(ps.end - ps.p));
        if (nul)
            return fail_at(&ps, trl_fail(err, TRL_EPARSE, "a NUL byte: this is not text"), nul);
        const trl_status st = read_pattern(&ps);
        if (st != TRL_OK)
            return st;
    }
    return TRL_OK;
}

trl_status trl_template_parse(const char *name, const char *text, size_t n, trl_template **out,
                              trl_error *err)
{
    trl_template *t = trl_zalloc(1, sizeof *t);
    if (t)
        t->text = trl_strndup(n ? text : "", n);
    if (!t || !t->text) {
        trl_template_free(t);
        return trl_fail_mem(err);
    }
    t->text_len = n;
    const trl_status st = read_text(t, name, err);
    if (st != TRL_OK) {
        trl_template_free(t);
        return st;
    }
    *out = t;
    return TRL_OK;
}

void trl_template_free(trl_template *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_pieces; i++)
        trl_regex_free(t->piece[i].re);
    trl_free(t->piece);
    trl_free(t->pattern);
    trl_free(t->text);
    trl_free(t);
}

/* ---- asking ---------------------------------------------------------------------------------- */

trl_str trl_template_text(const trl_template *t)
{
    return (trl_str){t->text, t->text_len};
}

size_t trl_template_count(const trl_template *t)
{
    return t->n_patterns;
}

int trl_template_cliques(const trl_template *t, size_t k)
{
    return t->pattern[k].cliques;
}

bool trl_template_is_constant(const trl_template *t, size_t k)
{
    return t->pattern[k].constant;
}

size_t trl_template_columns(const trl_template *t)
{
    return t->columns;
}

void trl_template_place(const trl_template *t, size_t column, uint64_t *row, uint64_t *col)
{
    *row = *col = 0;
    for (size_t i = 0; i < t->n_pieces; i++) {
        const piece *pc = &t->piece[i];
        if (pc->type != TEXT && pc->column >= column) {
            *row = pc->at_row;
            *col = pc->at_col;
            return;
        }
    }
}

/* ---- expanding ------------------------------------------------------------------------------- */

static bool grow(trl_buf *b, size_t n)
{
    char *data = n < SIZE_MAX - b->len ? trl_reserve(b->data, &b->cap, b->len + n + 1, 1) : NULL;
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    return true;
}

static inline bool append(trl_buf *b, trl_str s, bool lower)
{
    if (s.n >= b->cap - b->len && !grow(b, s.n))
        return false;
    char *to = b->data + b->len;
    if (lower)
        for (size_t i = 0; i < s.n; i++)
            to[i] = lowered(s.p[i]);
    else
        memcpy(to, s.p, s.n);
    b->len += s.n;
    return true;
}

/* What stands for the `distance`-th row (1, 2, ...) before or after the sequence. */
static trl_str outside(const trl_template *t, char sign, int64_t distance, char scratch[24])
{
    char *p = scratch + 24;
    if (t->wapiti && distance > 4)
        *--p = '#';
    else
        for (int64_t v = distance; v > 0; v /= 10)
            *--p = (char)('0' + v % 10);
    *--p = sign;
    *--p = t->wapiti ? 'x' : 'B';
    *--p = '_';
    return (trl_str){p, (size_t)(scratch + 24 - p)};
}

static trl_str value_of(const trl_template *t, const piece *pc, const trl_rows *seq, size_t pos,
                        char scratch[24])
{
    const int64_t n = (int64_t)seq->n_tokens;
    int64_t at = pc->row + (int64_t)pos;
    if (pc->absolute)
        at = pc->row < 0 ? pc->row + n : pc->row - 1;
    if (at < 0)
        return outside(t, '-', -at, scratch);
    if (at >= n)
        return outside(t, '+', at - n + 1, scratch);
    return seq->cell[(size_t)at * seq->n_columns + pc->column];
}

/* Appends what the macro makes of the cell v. */
static bool apply(const piece *pc, trl_str v, trl_buf *out)
{
    size_t from = 0, len = 0;
    const trl_regex_answer a =
        pc->re ? trl_regex_find(pc->re, v.p, v.n, &from, &len) : TRL_REGEX_NO;
    out->failed |= a == TRL_REGEX_NOMEM;
    if (pc->type == TEST)
        v = a == TRL_REGEX_YES ? (trl_str){"true", 4} : (trl_str){"false", 5};
    else if (pc->type == MATCH)
        v = (trl_str){v.p + from, len};
    return a != TRL_REGEX_NOMEM && append(out, v, pc->lower);
}

bool trl_template_expand(const trl_template *t, size_t k, const trl_rows *seq, size_t pos,
                         trl_buf *out)
{
    const pattern *pt = &t->pattern[k];
    char scratch[24];
    if (!append(out, (trl_str){&pt->letter, 1}, false))
        return false;
    for (size_t i = 0; i < pt->n; i++) {
        const piece *pc = &t->piece[pt->first + i];
        const trl_str v = pc->type == TEXT ? pc->text : value_of(t, pc, seq, pos, scratch);
        if (pc->re ? !apply(pc, v, out) : !append(out, v, pc->lower))
            return false;
    }
    return true;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

size_t trl_template_pieces(const trl_template *t, size_t k)
{
    return 1 + t->pattern[k].n;
}

trl_piece trl_template_piece(const trl_template *t, size_t k, size_t i)
{
    const pattern *pt = &t->pattern[k];
    if (i == 0)
        return (trl_piece){.text = {&pt->letter, 1}};
    const piece *pc = &t->piece[pt->first + i - 1];
    return (trl_piece){pc->type != TEXT, pc->type == CELL && !pc->lower,
                       pc->absolute,     pc->row,
                       pc->column,       pc->text};
}

bool trl_template_apply(const trl_template *t, size_t k, size_t i, trl_str v, trl_buf *out)
{
    return apply(&t->piece[t->pattern[k].first + i - 1], v, out);
}

trl_str trl_template_outside(const trl_template *t, int64_t distance, char scratch[24])
{
    return distance < 0 ? outside(t, '-', -distance, scratch) : outside(t, '+', distance, scratch);
}
