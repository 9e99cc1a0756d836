/* grmm.c -- reading GRMM's lines. */
/* SPDX-License-Identifier: MIT */
#include "text/grmm.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "text/token_lines.h"

#define NOT_KNOWN SIZE_MAX

struct trl_grmm {
    trl_input *in;
    trl_arena text;
    size_t n_labels; /* of every token; NOT_KNOWN before the first */
    trl_str *cell;   /* the word and the labels of each token */
    const char **line;
    trl_token_attrs attrs;
    size_t n, n_cells, cell_cap, line_cap;
};

trl_status trl_grmm_new(trl_input *in, trl_grmm **out, trl_error *err)
{
    trl_grmm *r = trl_zalloc(1, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    r->in = in;
    r->n_labels = NOT_KNOWN;
    *out = r;
    return TRL_OK;
}

void trl_grmm_free(trl_grmm *r)
{
    if (!r)
        return;
    trl_arena_fini(&r->text);
    trl_free(r->cell);
    trl_free(r->line);
    trl_token_attrs_fini(&r->attrs);
    trl_free(r);
}

void trl_grmm_attributes(const trl_grmm *r, const size_t **begin, const trl_attr **attr)
{
    *begin = r->attrs.begin;
    *attr = r->attrs.attr;
}

/* ---- words ----------------------------------------------------------------------------------- */

static bool is_separator(trl_str s)
{
    return s.n == 4 && memcmp(s.p, "----", 4) == 0;
}

/* Of another token, or a conjunction? */
static bool is_combined(trl_str s)
{
    for (size_t i = 0; i + 1 < s.n; i++) {
        const char *p = s.p + i;
        const size_t left = s.n - i;
        if (left >= 3 && memcmp(p, "_&_", 3) == 0)
            return true;
        const size_t digit = p[1] == '-' ? 2 : 1;
        if (p[0] == '@' && digit < left && p[digit] >= '0' && p[digit] <= '9')
            return true;
    }
    return false;
}

/* What stands after WORD= or W=; empty: neither, or not this token's. */
static trl_str word_text(trl_str s)
{
    const size_t n = s.n > 5 && memcmp(s.p, "WORD=", 5) == 0 ? 5
                     : s.n > 2 && memcmp(s.p, "W=", 2) == 0  ? 2
                                                             : 0;
    return n && !is_combined(s) ? (trl_str){s.p + n, s.n - n} : (trl_str){"", 0};
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool add_cell(trl_grmm *r, trl_str s)
{
    trl_str *cell = trl_reserve(r->cell, &r->cell_cap, r->n_cells + 1, sizeof *cell);
    if (!cell)
        return false;
    r->cell = cell;
    cell[r->n_cells++] = s;
    return true;
}

static trl_status fail_at(const trl_grmm *r, trl_status st, const char *line, const char *p,
                          trl_error *err)
{
    return trl_fail_where(err, st, trl_input_name(r->in), trl_input_row(r->in),
                          (uint64_t)(p - line) + 1);
}

/* The labels up to ----. */
static trl_status add_labels(trl_grmm *r, const char *line, const char **p, trl_error *err)
{
    size_t n = 0;
    trl_str s = trl_next_word(p);
    for (; s.n && !is_separator(s); s = trl_next_word(p), n++)
        if (!add_cell(r, s))
            return trl_fail_mem(err);
    if (s.n == 0) {
        const trl_status st =
            trl_fail(err, TRL_EPARSE, "---- expected between labels and features");
        fail_at(r, st, line, s.p, err);
        return trl_fail_hint(err, st, "a line is LABEL ... ---- FEATURE ...");
    }
    if (r->n_labels == NOT_KNOWN)
        r->n_labels = n;
    if (n == r->n_labels)
        return TRL_OK;
    return fail_at(r,
                   trl_fail(err, TRL_EPARSE, "%zu label%s where %zu were found before", n,
                            n == 1 ? "" : "s", r->n_labels),
                   line, s.p, err);
}

static trl_status add_token(void *ctx, const char *line, trl_error *err)
{
    trl_grmm *r = ctx;
    const char **lines = trl_reserve(r->line, &r->line_cap, r->n + 1, sizeof *lines);
    if (lines)
        r->line = lines;
    const size_t word = r->n_cells;
    if (!lines || !trl_token_attrs_room(&r->attrs, r->n) || !add_cell(r, (trl_str){"_", 1}))
        return trl_fail_mem(err);
    r->attrs.begin[r->n] = r->attrs.n;
    r->line[r->n] = line;
    const char *p = line;
    const trl_status st = add_labels(r, line, &p, err);
    if (st != TRL_OK)
        return st;
    bool found = false;
    for (trl_str s; (s = trl_next_word(&p)).n;) {
        if (!trl_token_attrs_add(&r->attrs, s))
            return trl_fail_mem(err);
        const trl_str text = found ? (trl_str){"", 0} : word_text(s);
        if (text.n)
            r->cell[word] = text;
        found = found || text.n;
    }
    r->attrs.begin[++r->n] = r->attrs.n;
    return TRL_OK;
}

trl_status trl_grmm_next(trl_grmm *r, trl_rows *seq, bool *more, trl_error *err)
{
    uint64_t first_row = 0;
    const trl_token_lines lines = {r->in, &r->text, add_token, r};
    size_t n;
    r->n = r->n_cells = r->attrs.n = 0;
    const trl_status st = trl_token_lines_next(&lines, &n, &first_row, err);
    if (st != TRL_OK)
        return st;
    *more = n > 0;
    *seq = (trl_rows){.n_tokens = n,
                      .n_columns = n ? r->n_labels + 1 : 0,
                      .cell = r->cell,
                      .path = trl_input_name(r->in),
                      .first_row = first_row,
                      .line = r->line};
    return TRL_OK;
}
