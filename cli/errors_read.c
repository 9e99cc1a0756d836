/* errors_read.c -- the true and the predicted side, from files of labels and of trees. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "tag_print.h"
#include "trellis/scheme.h"

#define DECIMALS 6 /* of 'trellis tag --marginals' */

static trl_status fail_at(trl_error *err, const char *path, uint64_t row, const char *what)
{
    *err = (trl_error){.code = TRL_EPARSE, .row = row};
    snprintf(err->path, sizeof err->path, "%s", strcmp(path, "-") == 0 ? "<stdin>" : path);
    snprintf(err->msg, sizeof err->msg, "%s", what);
    snprintf(err->hint, sizeof err->hint,
             "the files must have the same sentences and words, in the same order");
    return TRL_EPARSE;
}

/* ---- labels ---------------------------------------------------------------------------------- */

typedef struct tag_side {
    trl_reader *reader;
    const char *path;
    size_t column; /* 0: the last */
    trl_rows rows;
    bool more;
    trl_str *label;
    trl_chunk *chunk;
    error_span *span;
    size_t n_spans, cap;
} tag_side;

typedef struct tag_reading {
    error_list *e;
    tag_side side[2];
    double *p; /* [cap] of the predicted labels */
    size_t cap;
    bool tokens;
    bool known; /* that they are chunks or tokens: a label other than O was there */
} tag_reading;

/* LABEL:P, as 'trellis tag --marginals' writes it, without its P; NaN: there is none. */
static double cut_probability(trl_str *s)
{
    const size_t tail = DECIMALS + 3; /* :0.123456 */
    const char *p = s->n > tail ? s->p + s->n - tail : NULL;
    if (!p || p[0] != ':' || (p[1] != '0' && p[1] != '1') || p[2] != '.')
        return (double)NAN;
    double x = p[1] - '0', place = 0.1;
    for (size_t i = 3; i < tail; i++, place /= 10.0) {
        if (p[i] < '0' || p[i] > '9')
            return (double)NAN;
        x += place * (p[i] - '0');
    }
    s->n -= tail;
    return x;
}

static bool make_room(tag_reading *r, size_t n)
{
    bool ok = true;
    for (int k = 0; k < 2; k++) {
        tag_side *s = &r->side[k];
        if (n <= s->cap)
            continue;
        free(s->label);
        free(s->chunk);
        free(s->span);
        s->label = malloc(2 * n * sizeof *s->label);
        s->chunk = malloc(2 * n * sizeof *s->chunk);
        s->span = malloc(2 * n * sizeof *s->span);
        s->cap = s->label && s->chunk && s->span ? 2 * n : 0;
        ok = ok && s->cap;
    }
    if (n > r->cap) {
        free(r->p);
        r->p = malloc(2 * n * sizeof *r->p);
        r->cap = r->p ? 2 * n : 0;
    }
    return ok && r->cap;
}

static bool is_outside(trl_str label)
{
    return label.n == 1 && label.p[0] == 'O';
}

/* Are these labels of chunks, B-X or the like, or O?  Decided by the first that is not O. */
static void look_at_labels(tag_reading *r, const trl_str *label, size_t n)
{
    for (size_t t = 0; t < n && !r->known; t++) {
        if (is_outside(label[t]))
            continue;
        r->known = true;
        r->tokens = r->tokens || label[t].n < 3 || label[t].p[1] != '-' ||
                    !memchr("BIESLUM", label[t].p[0], 7);
    }
}

static trl_status pick_labels(tag_side *s, trl_error *err)
{
    const trl_rows *r = &s->rows;
    if (s->column >= r->n_columns || r->n_columns < 2)
        return fail_at(err, s->path, r->first_row, "there is no column of labels with this number");
    for (size_t t = 0; t < r->n_tokens; t++)
        s->label[t] = r->cell[t * r->n_columns + (s->column ? s->column : r->n_columns - 1)];
    return TRL_OK;
}

static void find_spans(const tag_reading *r, tag_side *s)
{
    const size_t n = s->rows.n_tokens;
    s->n_spans = r->tokens ? n : trl_chunks_of(s->label, n, s->chunk);
    for (size_t i = 0; i < s->n_spans; i++)
        s->span[i] = r->tokens ? (error_span){i, i + 1, s->label[i], (double)NAN}
                               : (error_span){s->chunk[i].begin, s->chunk[i].end, s->chunk[i].type,
                                              (double)NAN};
}

static trl_status compare_rows(tag_reading *r, uint64_t number, trl_error *err)
{
    tag_side *gold = &r->side[0], *out = &r->side[1];
    const size_t n = gold->rows.n_tokens;
    if (out->rows.n_tokens != n)
        return fail_at(err, out->path, out->rows.first_row,
                       "this sequence has not as many tokens as the true one");
    if (!make_room(r, n))
        return tag_no_memory(err);
    trl_str *word = malloc(n * sizeof *word);
    trl_status st = word ? pick_labels(gold, err) : tag_no_memory(err);
    if (st == TRL_OK)
        st = pick_labels(out, err);
    size_t sure = 0;
    for (size_t t = 0; t < n && st == TRL_OK; t++) {
        word[t] = gold->rows.cell[t * gold->rows.n_columns];
        r->p[t] = cut_probability(&out->label[t]);
        sure += isnan(r->p[t]) ? 0 : 1;
        if (!errors_same_text(word[t], out->rows.cell[t * out->rows.n_columns]))
            st = fail_at(err, out->path, out->rows.first_row + t, "another word than in the truth");
    }
    if (st == TRL_OK) {
        look_at_labels(r, gold->label, n);
        find_spans(r, gold);
        find_spans(r, out);
        const error_sides sides = {
            number,       gold->rows.first_row,   word, n, gold->span, out->span, gold->n_spans,
            out->n_spans, sure == n ? r->p : NULL};
        if (!errors_add_chunks(r->e, &sides))
            st = tag_no_memory(err);
    }
    free(word);
    return st;
}

trl_status errors_read_tags(error_list *e, const error_files *f, trl_error *err)
{
    tag_reading r = {.e = e, .tokens = f->tokens};
    trl_status st = TRL_OK;
    for (int k = 0; k < 2 && st == TRL_OK; k++) {
        r.side[k].path = k ? f->out : f->gold;
        r.side[k].column = f->column[k];
        st = trl_reader_open(r.side[k].path, TRL_FORMAT_COLUMNS, &r.side[k].reader, err);
    }
    for (uint64_t number = 1; st == TRL_OK; number++) {
        for (int k = 0; k < 2 && st == TRL_OK; k++)
            st = trl_reader_rows(r.side[k].reader, &r.side[k].rows, &r.side[k].more, err);
        if (st == TRL_EPARSE && !err->hint[0])
            snprintf(err->hint, sizeof err->hint,
                     "OUT is what 'trellis tag' prints, plain or with --marginals: columns alone");
        if (st != TRL_OK || (!r.side[0].more && !r.side[1].more))
            break;
        const int longer = r.side[0].more ? 0 : 1;
        st = r.side[0].more == r.side[1].more
                 ? compare_rows(&r, number, err)
                 : fail_at(err, r.side[longer].path, r.side[longer].rows.first_row,
                           "the other file has no such sequence");
    }
    e->unit = r.tokens ? "tokens" : "chunks";
    for (int k = 0; k < 2; k++) {
        trl_reader_free(r.side[k].reader);
        free(r.side[k].label);
        free(r.side[k].chunk);
        free(r.side[k].span);
    }
    free(r.p);
    return st;
}
