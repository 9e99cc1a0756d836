/* text_reader.c -- the public reader of raw text: tokens, their columns, labels from marks. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/mem.h"
#include "text/input.h"
#include "text/marks.h"
#include "text/token_columns.h"
#include "text/utf8.h"

struct trl_text_reader {
    trl_input *in;
    trl_tokenizer *tokenizer;
    trl_sentence_rule sentences;
    trl_str text; /* without marks */
    trl_marked marked;
    bool marks, layers;
    trl_strtab names; /* label columns: B-NAME and I-NAME of label k are 2k and 2k + 1 */

    size_t *column;          /* [n_columns] of trl_text_columns */
    size_t n_columns, width; /* width: with labels */

    size_t at, line; /* of the text: where the next block starts */
    trl_token *token;
    size_t n, next, token_cap; /* of the block; the next sentence of it */
    trl_str *cell;
    size_t cell_cap;
    trl_arena arena;
    size_t span, cut, lost; /* the first span that may reach into what follows; counts */
};

void trl_text_reader_free(trl_text_reader *r)
{
    if (!r)
        return;
    trl_input_free(r->in);
    trl_tokenizer_free(r->tokenizer);
    trl_marked_fini(&r->marked);
    trl_strtab_fini(&r->names);
    trl_free(r->column);
    trl_free(r->token);
    trl_free(r->cell);
    trl_arena_fini(&r->arena);
    trl_free(r);
}

/* ---- opening --------------------------------------------------------------------------------- */

static trl_status set_columns(trl_text_reader *r, const char *list, trl_error *err)
{
    trl_strtab names = {0};
    trl_status st = trl_name_list(list, &names, err);
    r->column = st == TRL_OK ? trl_alloc(names.n + 1, sizeof *r->column) : NULL;
    if (st == TRL_OK && !r->column)
        st = trl_fail_mem(err);
    for (size_t i = 0; st == TRL_OK && i < names.n; i++) {
        const trl_str name = trl_strtab_get(&names, (uint32_t)i);
        r->column[r->n_columns++] = trl_token_column_find(name);
        if (r->column[i] == SIZE_MAX)
            st = trl_fail_hint(err,
                               trl_fail(err, TRL_EINVAL, "there is no column '%.*s' of text",
                                        (int)(name.n < 40 ? name.n : 40), name.p),
                               "columns are word, lower, shape, case, kind, line, field, time, "
                               "date, name");
    }
    trl_strtab_fini(&names);
    return st;
}

static trl_status check_text(const char *name, trl_str text, trl_error *err)
{
    for (size_t at = 0, n; at < text.n; at += n) {
        uint32_t code;
        n = trl_utf8_next(text.p + at, text.n - at, &code);
        if (n && code)
            continue;
        const trl_status st =
            n ? trl_fail(err, TRL_EPARSE, "a NUL byte, which text never has")
              : trl_fail(err, TRL_EPARSE, "byte 0x%02x is not UTF-8", (unsigned char)text.p[at]);
        trl_fail_hint(err, st, "convert the text to UTF-8 first, as with iconv -f latin1 -t utf8");
        return trl_fail_in_text(err, st, name, text, at);
    }
    return TRL_OK;
}

/* B-NAME and I-NAME of every label. */
static trl_status name_labels(trl_text_reader *r, trl_error *err)
{
    trl_buf b = {0};
    trl_status st = TRL_OK;
    for (size_t k = 0; k < 2 * r->marked.labels.n && st == TRL_OK; k++) {
        const trl_str name = trl_strtab_get(&r->marked.labels, (uint32_t)(k / 2));
        b.len = 0;
        trl_buf_str(&b, k % 2 ? "I-" : "B-");
        trl_buf_add(&b, name.p, name.n);
        if (b.failed || trl_strtab_add(&r->names, b.data, b.len) == TRL_NO_ID)
            st = trl_fail_mem(err);
    }
    trl_buf_fini(&b);
    return st;
}

static trl_status read_marks(trl_text_reader *r, trl_str text, const trl_text_options *o,
                             trl_error *err)
{
    trl_status st = trl_marks_read(&r->marked, trl_input_name(r->in), text, o, err);
    if (st == TRL_OK)
        st = name_labels(r, err);
    r->text = (trl_str){r->marked.text.len ? r->marked.text.data : "", r->marked.text.len};
    r->width += o->layers ? r->marked.labels.n : 1;
    return st;
}

/* Takes over r->in. */
static trl_status start(trl_text_reader *r, const trl_text_options *o, trl_error *err)
{
    trl_str text;
    if (o->layers && (!o->marks || !o->labels))
        return trl_fail(err, TRL_EINVAL, "layers need the list of their labels");
    trl_status st = set_columns(r, o->columns ? o->columns : "word", err);
    if (st == TRL_OK)
        st = trl_tokenizer_new(&o->tokens, &r->tokenizer, err);
    if (st == TRL_OK)
        st = trl_input_all(r->in, &text, err);
    if (st == TRL_OK)
        st = check_text(trl_input_name(r->in), text, err);
    if (st != TRL_OK)
        return st;
    r->sentences = o->tokens.sentences;
    r->width = r->n_columns;
    r->marks = o->marks;
    r->layers = o->layers;
    r->text = text;
    return o->marks ? read_marks(r, text, o, err) : TRL_OK;
}

static trl_status finish(trl_text_reader *r, trl_status st, const trl_text_options *o,
                         trl_text_reader **out, trl_error *err)
{
    static const trl_text_options none;
    if (st == TRL_OK)
        st = start(r, o ? o : &none, err);
    if (st == TRL_OK)
        *out = r;
    else
        trl_text_reader_free(r);
    return st;
}

trl_status trl_text_reader_open(const char *path, const trl_text_options *options,
                                trl_text_reader **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_text_reader *r = trl_zalloc(1, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    return finish(r, trl_input_open(path, &r->in, err), options, out, err);
}

trl_status trl_text_reader_memory(const char *name, const void *bytes, size_t n,
                                  const trl_text_options *options, trl_text_reader **out,
                                  trl_error *err)
{
    if (!name || (!bytes && n) || !out)
        return trl_fail_null(err);
    trl_text_reader *r = trl_zalloc(1, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    return finish(r, trl_input_memory(name, bytes, n, &r->in, err), options, out, err);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Where the block that starts at `at` ends: after an empty line, where every sentence ends too, so
 * that a long text needs the memory of a paragraph. */
static size_t block_end(const trl_text_reader *r, size_t at)
{
    bool empty = false;
    if (r->sentences == TRL_SENTENCES_WHOLE)
        return r->text.n;
    for (; at < r->text.n; at++) {
        const char c = r->text.p[at];
        if (c == '\n' && empty)
            return at + 1;
        empty = c == '\n' || (empty && (c == ' ' || c == '\t' || c == '\r'));
    }
    return at;
}

/* Offsets of a block's tokens become those of the text. */
static trl_status take_tokens(trl_text_reader *r, const trl_token *token, size_t n, trl_error *err)
{
    trl_token *grown = trl_reserve(r->token, &r->token_cap, n, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    r->token = grown;
    for (size_t t = 0; t < n; t++) {
        r->token[t] = token[t];
        r->token[t].begin += r->at;
        r->token[t].end += r->at;
        r->token[t].line += r->line;
    }
    r->n = n;
    r->next = 0;
    return TRL_OK;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t overlap(const trl_token *t, const trl_span *s)
{
    const size_t from = t->begin > s->begin ? t->begin : s->begin, to = least(t->end, s->end);
    return to > from ? to - from : 0;
}

/* Labels the tokens of one span: those of which it has half or more, or else the one of which it
 * has most, unless another span has taken it. `first` is the first token that may be in it. */
static void label_span(trl_text_reader *r, const trl_span *s, size_t first, trl_str *cell)
{
    size_t best = r->n, most = 0, labelled = 0;
    bool cut = false;
    for (size_t t = first; t < r->n && r->token[t].begin < s->end; t++) {
        const size_t inside = overlap(&r->token[t], s), all = r->token[t].end - r->token[t].begin;
        const bool is_free = cell[t * r->width].n == 1;
        cut |= inside && inside < all;
        if (inside > most && is_free) {
            most = inside;
            best = t;
        }
        if (2 * inside < all || !inside || !is_free)
            continue;
        r->token[t].starts_sentence &= !labelled; /* no sentence ends inside a mark */
        cell[t * r->width] = trl_strtab_get(&r->names, 2 * s->label + (labelled++ ? 1u : 0u));
    }
    if (!labelled && best < r->n) {
        cell[best * r->width] = trl_strtab_get(&r->names, 2 * s->label);
        labelled++;
    }
    r->cut += cut;
    r->lost += !labelled;
}

/* A span belongs to the block in which it starts; what it has of later ones is cut off. */
static void label_block(trl_text_reader *r, size_t end)
{
    const size_t columns = r->width - r->n_columns;
    for (size_t i = 0; i < r->n * columns; i++)
        r->cell[i / columns * r->width + r->n_columns + i % columns] = TRL_STR("O");
    size_t t = 0;
    for (; r->span < r->marked.n && r->marked.span[r->span].begin < end; r->span++) {
        const trl_span *s = &r->marked.span[r->span];
        while (t < r->n && r->token[t].end <= s->begin)
            t++;
        label_span(r, s, t, r->cell + r->n_columns + (r->layers ? s->label : 0));
    }
}

static trl_status fill_cells(trl_text_reader *r, size_t end, trl_error *err)
{
    trl_str *grown = trl_reserve(r->cell, &r->cell_cap, (uint64_t)r->n * r->width, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    r->cell = grown;
    const trl_token_text x = {r->text, r->token, r->n};
    trl_arena_reset(&r->arena);
    for (size_t c = 0; c < r->n_columns; c++)
        if (!trl_token_column(&x, r->column[c], &r->arena, r->cell + c, r->width))
            return trl_fail_mem(err);
    if (r->marks)
        label_block(r, end);
    return TRL_OK;
}

static trl_status next_block(trl_text_reader *r, trl_error *err)
{
    const size_t end = block_end(r, r->at);
    const trl_token *token;
    size_t n;
    trl_status st =
        trl_tokenize(r->tokenizer, (trl_str){r->text.p + r->at, end - r->at}, &token, &n, err);
    if (st == TRL_OK)
        st = take_tokens(r, token, n, err);
    if (st == TRL_OK)
        st = fill_cells(r, end, err);
    for (; r->at < end; r->at++)
        r->line += r->text.p[r->at] == '\n';
    return st;
}

trl_status trl_text_reader_next(trl_text_reader *r, trl_text_rows *seq, bool *more, trl_error *err)
{
    if (!r || !seq || !more)
        return trl_fail_null(err);
    while (r->next == r->n && r->at < r->text.n) {
        const trl_status st = next_block(r, err);
        if (st != TRL_OK)
            return st;
    }
    const size_t from = r->next;
    *more = from < r->n;
    while (r->next < r->n && (r->next == from || !r->token[r->next].starts_sentence))
        r->next++;
    *seq = (trl_text_rows){.rows = {.n_tokens = r->next - from,
                                    .n_columns = r->width,
                                    .cell = *more ? r->cell + from * r->width : NULL},
                           .token = *more ? r->token + from : NULL,
                           .text = r->text};
    return TRL_OK;
}

void trl_text_reader_marks(const trl_text_reader *r, size_t *cut, size_t *lost)
{
    *cut = r ? r->cut : 0;
    *lost = r ? r->lost : 0;
}
