/* template_read.c -- parsing templates of CRF++ and Wapiti into pieces. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/template_parts.h"

#define MAX_NUMBER 1000000000 /* rows and columns a macro may name */

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

static trl_status read_pattern(parser *ps)
{
    trl_template *t = ps->t;
    pattern pt = {.first = t->n_pieces, .constant = true};
    pt.cliques = cliques_of(*ps->p);
    if (!pt.cliques) {
        const trl_status st = trl_fail(ps->err, TRL_EPARSE, "a template starts with U, B, T, *");
        trl_fail_hint(
            ps->err, st,
            "this is taken for CRF++'s and Wapiti's templates; one in words begins with a "
            "property such as 'word at -1..1', or with 'columns' and their names");
        return fail_at(ps, st, ps->p);
    }
    pt.letter = t->wapiti ? trl_template_lowered(*ps->p) : *ps->p;
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

trl_status trl_template_read(trl_template *t, const char *name, trl_error *err)
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
