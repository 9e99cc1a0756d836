/* sentences.c -- the public reader of sentences to parse. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/buf.h"
#include "text/input.h"
#include "text/utf8.h"
#include "trellis/parser.h"

struct trl_sentence_reader {
    trl_input *in;
    trl_sentence_format format;
    trl_str *word, *tag;
    size_t cap_word, cap_tag, n;
    trl_buf text; /* columns: the words of one sentence, each before its tag */
    size_t *end;  /* columns: where each word ends in text, and each tag */
    size_t cap_end;
    uint64_t row;              /* of the sentence; in columns of its first word */
    uint64_t odd_row, odd_col; /* as of trl_sentence */
};

static trl_status reader_new(trl_sentence_format format, trl_sentence_reader **out, trl_error *err)
{
    trl_sentence_reader *r = trl_zalloc(1, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    r->format = format;
    *out = r;
    return TRL_OK;
}

trl_status trl_sentence_reader_open(const char *path, trl_sentence_format format,
                                    trl_sentence_reader **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_sentence_reader *r = NULL;
    trl_status st = reader_new(format, &r, err);
    if (st == TRL_OK)
        st = trl_input_open(path, &r->in, err);
    if (st == TRL_OK)
        *out = r;
    else
        trl_sentence_reader_free(r);
    return st;
}

trl_status trl_sentence_reader_memory(const char *name, const void *bytes, size_t n,
                                      trl_sentence_format format, trl_sentence_reader **out,
                                      trl_error *err)
{
    if (!name || (!bytes && n) || !out)
        return trl_fail_null(err);
    trl_sentence_reader *r = NULL;
    trl_status st = reader_new(format, &r, err);
    if (st == TRL_OK)
        st = trl_input_memory(name, bytes, n, &r->in, err);
    if (st == TRL_OK)
        *out = r;
    else
        trl_sentence_reader_free(r);
    return st;
}

void trl_sentence_reader_free(trl_sentence_reader *r)
{
    if (!r)
        return;
    trl_input_free(r->in);
    trl_free(r->word);
    trl_free(r->tag);
    trl_free(r->end);
    trl_buf_fini(&r->text);
    trl_free(r);
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* A round bracket that is a whole word, as treebanks write it. */
static trl_str escaped(trl_str w)
{
    if (w.n == 1 && w.p[0] == '(')
        return (trl_str){"-LRB-", 5};
    return w.n == 1 && w.p[0] == ')' ? (trl_str){"-RRB-", 5} : w;
}

/* NUL bytes are refused; bytes that are not UTF-8 are noted. */
static trl_status check_text(trl_sentence_reader *r, trl_str line, trl_error *err)
{
    const trl_status st = trl_input_check_text(r->in, line, err);
    if (st != TRL_OK || r->odd_row || trl_utf8_valid(line))
        return st;
    uint32_t code;
    size_t at = 0, step;
    while (at < line.n && (step = trl_utf8_next(line.p + at, line.n - at, &code)) > 0)
        at += step;
    r->odd_row = trl_input_row(r->in);
    r->odd_col = at + 1;
    return TRL_OK;
}

static bool room(trl_sentence_reader *r)
{
    trl_str *w = trl_reserve(r->word, &r->cap_word, r->n + 1, sizeof *w);
    if (w)
        r->word = w;
    trl_str *t = trl_reserve(r->tag, &r->cap_tag, r->n + 1, sizeof *t);
    if (t)
        r->tag = t;
    return w && t;
}

static trl_status split_line(trl_sentence_reader *r, trl_str line, trl_error *err)
{
    size_t at = 0;
    r->n = 0;
    for (;;) {
        while (at < line.n && blank(line.p[at]))
            at++;
        if (at == line.n)
            return TRL_OK;
        const size_t from = at;
        while (at < line.n && !blank(line.p[at]))
            at++;
        if (!room(r))
            return trl_fail_mem(err);
        trl_str w = {line.p + from, at - from}, tag = {0};
        if (r->format == TRL_SENTENCE_TAGGED) {
            size_t cut = w.n;
            while (cut > 0 && w.p[cut - 1] != '_')
                cut--;
            if (cut < 2 || cut == w.n) {
                trl_fail(err, TRL_EPARSE, "'%.*s' is not of the form word_TAG", (int)w.n, w.p);
                return trl_input_fail(r->in, err, TRL_EPARSE, from + 1);
            }
            tag = (trl_str){w.p + cut, w.n - cut};
            w.n = cut - 1;
        }
        r->word[r->n] = escaped(w);
        r->tag[r->n++] = tag;
    }
}

/* The next cell of a line from *at on; empty at its end. */
static trl_str next_cell(trl_str line, size_t *at)
{
    while (*at < line.n && blank(line.p[*at]))
        ++*at;
    const size_t from = *at;
    while (*at < line.n && !blank(line.p[*at]))
        ++*at;
    return (trl_str){line.p + from, *at - from};
}

/* Word and tag of a line, copied. */
static trl_status add_row(trl_sentence_reader *r, trl_str line, trl_error *err)
{
    size_t at = 0;
    const trl_str word = next_cell(line, &at), tag = next_cell(line, &at);
    if (r->format == TRL_SENTENCE_TAGGED_COLUMNS && tag.n == 0) {
        trl_fail(err, TRL_EPARSE, "'%.*s' has no tag in the second column", (int)word.n, word.p);
        return trl_input_fail(r->in, err, TRL_EPARSE, 1);
    }
    size_t *end = trl_reserve(r->end, &r->cap_end, 2 * r->n + 2, sizeof *end);
    if (end)
        r->end = end;
    if (!end || !room(r) || !trl_buf_add(&r->text, word.p, word.n))
        return trl_fail_mem(err);
    end[2 * r->n] = r->text.len;
    if (!trl_buf_add(&r->text, tag.p, tag.n))
        return trl_fail_mem(err);
    end[2 * r->n++ + 1] = r->text.len;
    return TRL_OK;
}

/* Lines up to an empty one; words are copied, their places known only at the end. */
static trl_status gather_columns(trl_sentence_reader *r, bool *more, trl_error *err)
{
    r->n = 0;
    r->text.len = 0;
    for (;;) {
        trl_str line;
        size_t at = 0;
        trl_status st = trl_input_line(r->in, &line, more, err);
        if (st == TRL_OK && *more)
            st = check_text(r, line, err);
        if (st != TRL_OK)
            return st;
        const bool empty = !*more || next_cell(line, &at).n == 0;
        if (empty && *more && r->n == 0)
            continue;
        if (empty)
            break;
        if (r->n == 0)
            r->row = trl_input_row(r->in);
        st = add_row(r, line, err);
        if (st != TRL_OK)
            return st;
    }
    for (size_t k = 0; k < r->n; k++) {
        const size_t from = k ? r->end[2 * k - 1] : 0, to = r->end[2 * k];
        r->word[k] = escaped((trl_str){r->text.data + from, to - from});
        r->tag[k] = (trl_str){r->text.data + to, r->end[2 * k + 1] - to};
    }
    *more = r->n > 0;
    return TRL_OK;
}

static bool in_columns(const trl_sentence_reader *r)
{
    return r->format == TRL_SENTENCE_COLUMNS || r->format == TRL_SENTENCE_TAGGED_COLUMNS;
}

trl_status trl_sentence_reader_next(trl_sentence_reader *r, trl_sentence *s, bool *more,
                                    trl_error *err)
{
    if (!r || !s || !more)
        return trl_fail_null(err);
    trl_status st;
    r->odd_row = r->odd_col = 0;
    if (in_columns(r)) {
        st = gather_columns(r, more, err);
    } else {
        trl_str line;
        st = trl_input_line(r->in, &line, more, err);
        if (st == TRL_OK && *more)
            st = check_text(r, line, err);
        r->row = trl_input_row(r->in);
        if (st == TRL_OK && *more)
            st = split_line(r, line, err);
    }
    *s = (trl_sentence){
        .n = r->n,
        .word = r->word,
        .tag = r->format == TRL_SENTENCE_TAGGED || r->format == TRL_SENTENCE_TAGGED_COLUMNS ? r->tag
                                                                                            : NULL,
        .row = r->row,
        .odd_row = r->odd_row,
        .odd_col = r->odd_col};
    return st;
}

/* ---- without waiting ------------------------------------------------------------------------- */

static bool has_line(trl_str unread)
{
    return memchr(unread.p, '\n', unread.n) != NULL;
}

/* An empty line after one that is not. */
static bool has_block(trl_str unread)
{
    bool words = false, empty = true;
    for (size_t k = 0; k < unread.n; k++) {
        if (unread.p[k] != '\n') {
            empty = empty && blank(unread.p[k]);
            continue;
        }
        if (empty && words)
            return true;
        words = words || !empty;
        empty = true;
    }
    return false;
}

bool trl_sentence_reader_ready(trl_sentence_reader *r)
{
    if (!r)
        return true;
    return trl_input_ready(r->in, in_columns(r) ? has_block : has_line);
}
