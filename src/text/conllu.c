/* conllu.c -- reading CoNLL-U. */
/* SPDX-License-Identifier: MIT */
#include "text/conllu.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"

/* Cells of a row by column of the file. */
static const unsigned char place_of[TRL_CONLLU_COLUMNS] = {8, 0, 1, 9, 2, 3, 4, 5, 6, 7};
static const char *const names[TRL_CONLLU_COLUMNS + 1] = {
    "form", "lemma", "xpos", "feats", "head", "deprel", "deps", "misc", "id", "upos", NULL};

const char *const *trl_conllu_columns(void)
{
    return names;
}

typedef struct word {
    size_t line; /* in source */
    uint64_t row;
} word;

struct trl_conllu {
    trl_input *in;
    trl_buf source; /* the lines of the sentence, an LF after each */
    word *word;
    size_t n, word_cap;
    uint64_t range_end; /* of the last range */
    bool document;      /* a comment '# newdoc' */
    trl_str *cell;
    const char **line;
    size_t cell_cap, line_cap;
};

trl_status trl_conllu_new(trl_input *in, trl_conllu **out, trl_error *err)
{
    trl_conllu *r = trl_zalloc(1, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    r->in = in;
    *out = r;
    return TRL_OK;
}

void trl_conllu_free(trl_conllu *r)
{
    if (!r)
        return;
    trl_buf_fini(&r->source);
    trl_free(r->word);
    trl_free(r->cell);
    trl_free(r->line);
    trl_free(r);
}

/* ---- one line -------------------------------------------------------------------------------- */

static trl_status refuse(const trl_conllu *r, trl_status st, size_t col, trl_error *err)
{
    trl_fail_hint(err, st,
                  "a word of CoNLL-U is ten cells with tabs between them, '_' where there is "
                  "nothing; plain columns are the format columns");
    return trl_input_fail(r->in, err, st, col);
}

static trl_status check_cells(const trl_conllu *r, trl_str line, trl_error *err)
{
    size_t n = 1, from = 0;
    for (size_t i = 0; i <= line.n; i++) {
        if (i < line.n && line.p[i] != '\t')
            continue;
        if (i == from)
            return refuse(r, trl_fail(err, TRL_EPARSE, "cell %zu is empty", n), i + 1, err);
        from = i + 1;
        n += i < line.n;
        if (n > TRL_CONLLU_COLUMNS)
            return refuse(r, trl_fail(err, TRL_EPARSE, "more than ten cells"), i + 1, err);
    }
    if (n < TRL_CONLLU_COLUMNS)
        return refuse(r,
                      trl_fail(err, TRL_EPARSE, "%zu cell%s instead of ten", n, n == 1 ? "" : "s"),
                      line.n + 1, err);
    return TRL_OK;
}

/* The number at *at, which moves past it; false: there is none. */
static bool take_number(trl_str s, size_t *at, uint64_t *x)
{
    const size_t from = *at;
    *x = 0;
    while (*at < s.n && *at - from < 18 && s.p[*at] >= '0' && s.p[*at] <= '9')
        *x = 10 * *x + (uint64_t)(s.p[(*at)++] - '0');
    return *at > from;
}

/* Is the ID the next one?  *is_word: neither a range nor an empty node. */
static bool id_follows(trl_conllu *r, trl_str line, bool *is_word)
{
    uint64_t a, b;
    size_t at = 0;
    const uint64_t last = r->n;
    *is_word = false;
    if (!take_number(line, &at, &a))
        return false;
    if (line.p[at] == '\t') {
        *is_word = true;
        return a == last + 1;
    }
    const char mark = line.p[at++];
    if ((mark != '-' && mark != '.') || !take_number(line, &at, &b) || line.p[at] != '\t')
        return false;
    if (mark == '.')
        return a == last && b > 0;
    const bool good = a == last + 1 && b > a && a > r->range_end;
    r->range_end = b;
    return good;
}

static trl_status add_word(trl_conllu *r, size_t line, trl_error *err)
{
    word *grown = trl_reserve(r->word, &r->word_cap, r->n + 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    r->word = grown;
    r->word[r->n++] = (word){line, trl_input_row(r->in)};
    return TRL_OK;
}

static trl_status add_line(trl_conllu *r, trl_str line, bool *in_words, trl_error *err)
{
    const size_t start = r->source.len;
    bool is_word;
    trl_status st = trl_input_check_utf8(r->in, line, err);
    if (st != TRL_OK)
        return st;
    trl_buf_add(&r->source, line.p, line.n);
    trl_buf_ch(&r->source, '\n');
    if (r->source.failed)
        return trl_fail_mem(err);
    if (line.p[0] == '#' && !*in_words) {
        r->document |= line.n >= 8 && memcmp(line.p, "# newdoc", 8) == 0;
        return TRL_OK;
    }
    *in_words = true;
    st = check_cells(r, line, err);
    if (st != TRL_OK)
        return st;
    if (!id_follows(r, line, &is_word))
        return refuse(r,
                      trl_fail(err, TRL_EPARSE,
                               "the ID '%.*s' does not follow: word %zu is expected, a range "
                               "from it, or an empty node before it",
                               (int)strcspn(line.p, "\t"), line.p, r->n + 1),
                      1, err);
    return is_word ? add_word(r, start, err) : TRL_OK;
}

/* ---- sentences ------------------------------------------------------------------------------- */

static trl_status make_rows(trl_conllu *r, trl_rows *seq, trl_error *err)
{
    static const char heading[] = "-DOCSTART-\n";
    trl_str *cell =
        trl_reserve(r->cell, &r->cell_cap, (uint64_t)r->n * TRL_CONLLU_COLUMNS, sizeof *cell);
    if (cell)
        r->cell = cell;
    const char **line = trl_reserve(r->line, &r->line_cap, r->n, sizeof *line);
    if (line)
        r->line = line;
    if (!cell || !line)
        return trl_fail_mem(err);
    for (size_t t = 0; t < r->n; t++) {
        const char *p = line[t] = r->source.data + r->word[t].line;
        for (size_t c = 0; c < TRL_CONLLU_COLUMNS; c++) {
            const size_t n = strcspn(p, "\t\n");
            cell[t * TRL_CONLLU_COLUMNS + place_of[c]] = (trl_str){p, n};
            p += n + 1;
        }
    }
    *seq = (trl_rows){.n_tokens = r->n,
                      .n_columns = TRL_CONLLU_COLUMNS,
                      .cell = cell,
                      .path = trl_input_name(r->in),
                      .first_row = r->word[0].row,
                      .line = line,
                      .heading = {heading, r->document ? sizeof heading - 1 : 0}};
    return TRL_OK;
}

trl_status trl_conllu_next(trl_conllu *r, trl_rows *seq, bool *more, trl_error *err)
{
    bool in_words = false;
    r->source.len = r->n = 0;
    r->range_end = 0;
    r->document = false;
    *more = false;
    for (;;) {
        trl_str line;
        bool any;
        trl_status st = trl_input_line(r->in, &line, &any, err);
        if (st == TRL_OK && any && line.n)
            st = add_line(r, line, &in_words, err);
        if (st != TRL_OK)
            return st;
        if (any && (line.n || r->source.len == 0))
            continue;
        if (!in_words && r->source.len == 0) {
            *seq = (trl_rows){.path = trl_input_name(r->in)};
            return TRL_OK;
        }
        if (r->n == 0 || r->range_end > r->n)
            return refuse(r,
                          trl_fail(err, TRL_EPARSE,
                                   r->n ? "the sentence ends inside a range"
                                        : "comments or nodes without a word"),
                          1, err);
        *more = true;
        return make_rows(r, seq, err);
    }
}

trl_str trl_conllu_source(const trl_conllu *r)
{
    return (trl_str){r->source.len ? r->source.data : "", r->source.len};
}

uint64_t trl_conllu_row(const trl_conllu *r, size_t t)
{
    return t < r->n ? r->word[t].row : 0;
}
