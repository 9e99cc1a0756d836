/* token_columns.c -- columns made of tokens. */
/* SPDX-License-Identifier: MIT */
#include "text/token_columns.h"

#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "text/utf8.h"
#include "text/word_forms.h"

/* ---- of the token alone ---------------------------------------------------------------------- */

static trl_str kind(const trl_token *t)
{
    static const char *const names[] = {
        [TRL_TOKEN_WORD] = "word",
        [TRL_TOKEN_NUMBER] = "number",
        [TRL_TOKEN_LINK] = "link",
        [TRL_TOKEN_ABBREVIATION] = "abbreviation",
        [TRL_TOKEN_PUNCTUATION] = "punctuation",
        [TRL_TOKEN_SYMBOL] = "symbol",
    };
    return (trl_str){names[t->kind], strlen(names[t->kind])};
}

/* ---- of its place ---------------------------------------------------------------------------- */

static trl_str place(const trl_token_text *x, size_t t)
{
    const bool first = t == 0 || x->token[t - 1].line < x->token[t].line;
    const bool last = t + 1 == x->n || x->token[t + 1].line > x->token[t].line;
    return first && last ? TRL_STR("only")
           : first       ? TRL_STR("first")
           : last        ? TRL_STR("last")
                         : TRL_STR("inner");
}

#define FIELD_WORDS 3 /* of the name of a header */

/* The name before the colon of a line "Time: 5:00 PM": the tokens of that line get it, in small
 * letters. */
static bool field_column(const trl_token_text *x, trl_arena *arena, trl_str *cell, size_t stride)
{
    for (size_t t = 0, next; t < x->n; t = next) {
        size_t colon = t;
        while (colon < x->n && colon - t <= FIELD_WORDS && x->token[colon].kind == TRL_TOKEN_WORD &&
               x->token[colon].line == x->token[t].line)
            colon++;
        const bool field = colon > t && colon < x->n && x->token[colon].line == x->token[t].line &&
                           trl_token_str(x, colon).n == 1 && *trl_token_str(x, colon).p == ':';
        trl_str name = TRL_STR("-");
        if (field && !trl_word_lower(trl_token_str(x, colon - 1), arena, &name))
            return false;
        for (next = t; next < x->n && x->token[next].line == x->token[t].line; next++)
            cell[next * stride] = name;
    }
    return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { WORD, LOWER, SHAPE, CASE, KIND, LINE, FIELD, TIME, DATE, NAME };

static const trl_text_column columns[] = {
    [WORD] = {"word", "the token"},
    [LOWER] = {"lower", "in small letters"},
    [SHAPE] = {"shape", "X capital, x small, c other letter, d digit, runs once: Xx, d:d"},
    [CASE] = {"case", "title, upper, initial (one capital), lower, mixed, uncased, none"},
    [KIND] = {"kind", "word, number, link, abbreviation, punctuation, symbol"},
    [LINE] = {"line", "place in the line: first, inner, last, only"},
    [FIELD] = {"field", "word before the colon of a header line (Time: ...), or -"},
    [TIME] = {"time", "time of day: start (a dash or 'to' follows), end (before it), time, or -"},
    [DATE] = {"date", "day (of the week), month, date (10/12/94, 13-Apr-94), or -"},
    [NAME] = {"name", "title (Dr.), name (capitals with a title or initials), or -"},
    {0},
};

const trl_text_column *trl_text_columns(void)
{
    return columns;
}

size_t trl_token_column_find(trl_str name)
{
    for (size_t i = 0; columns[i].name; i++)
        if (strlen(columns[i].name) == name.n && memcmp(columns[i].name, name.p, name.n) == 0)
            return i;
    return SIZE_MAX;
}

static bool one_cell(const trl_token_text *x, size_t column, size_t t, trl_arena *arena,
                     trl_str *cell)
{
    const trl_str s = trl_token_str(x, t);
    switch (column) {
    case LOWER:
        return trl_word_lower(s, arena, cell);
    case SHAPE:
        return trl_word_shape(s, true, arena, cell);
    case CASE:
        *cell = trl_word_case(s);
        return true;
    case KIND:
        *cell = kind(&x->token[t]);
        return true;
    case LINE:
        *cell = place(x, t);
        return true;
    case WORD:
    default:
        *cell = s;
        return true;
    }
}

bool trl_token_column(const trl_token_text *x, size_t column, trl_arena *arena, trl_str *cell,
                      size_t stride)
{
    switch (column) {
    case FIELD:
        return field_column(x, arena, cell, stride);
    case TIME:
        trl_time_column(x, cell, stride);
        return true;
    case DATE:
        trl_date_column(x, cell, stride);
        return true;
    case NAME:
        trl_name_column(x, cell, stride);
        return true;
    default:
        for (size_t t = 0; t < x->n; t++)
            if (!one_cell(x, column, t, arena, &cell[t * stride]))
                return false;
        return true;
    }
}

trl_status trl_text_column_of(const char *name, trl_str word, trl_buf *out, trl_error *err)
{
    if (!name || (!word.p && word.n) || !out)
        return trl_fail_null(err);
    const size_t column = trl_token_column_find((trl_str){name, strlen(name)});
    if (column > CASE)
        return trl_fail(err, TRL_EINVAL,
                        "'%.40s' is not a column that a word alone has: word, lower, shape, case",
                        name);
    const trl_token token = {.end = word.n};
    const trl_token_text x = {word, &token, 1};
    trl_arena arena = {0};
    trl_str cell;
    const bool good =
        trl_token_column(&x, column, &arena, &cell, 1) && trl_buf_add(out, cell.p, cell.n);
    trl_arena_fini(&arena);
    return good ? TRL_OK : trl_fail_mem(err);
}
