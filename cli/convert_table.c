/* convert_table.c -- formats with a token a line: columns, CoNLL-U, CRFsuite, MALLET, GRMM. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "convert.h"

static trl_str cell_of(const convert_sequence *s, size_t t, size_t column)
{
    return s->rows->cell[t * s->rows->n_columns + column];
}

/* A cell where blanks separate cells: its own become '_'. */
static void put_cell(trl_str cell, text *out)
{
    for (size_t i = 0; i < cell.n; i++) {
        const char c = cell.p[i];
        text_char(out, c == ' ' || c == '\t' || c == '\n' ? '_' : c);
    }
    if (cell.n == 0)
        text_char(out, '_');
}

void convert_columns(const convert_sequence *s, text *out)
{
    const size_t C = s->rows->n_columns;
    text_add(out, s->rows->heading.p, s->rows->heading.n);
    if (s->rows->heading.n)
        text_char(out, '\n');
    for (size_t t = 0; t < s->rows->n_tokens; t++)
        for (size_t c = 0; c < C; c++) {
            put_cell(cell_of(s, t, c), out);
            if (c + 1 == C && s->p) {
                text_char(out, ':');
                text_fixed6(out, s->p[t]);
            }
            text_char(out, c + 1 < C ? ' ' : '\n');
        }
    if (s->rows->n_tokens)
        text_char(out, '\n');
}

/* ---- CoNLL-U --------------------------------------------------------------------------------- */

static void put_conllu_cell(const convert_sequence *s, size_t t, const char *name, text *out)
{
    for (size_t c = 0; c < s->rows->n_columns; c++)
        if (strcmp(s->place[c], name) == 0) {
            const trl_str cell = cell_of(s, t, c);
            for (size_t i = 0; i < cell.n; i++)
                text_char(out, cell.p[i] == '\t' || cell.p[i] == '\n' ? ' ' : cell.p[i]);
            text_str(out, cell.n ? "" : "_");
            return;
        }
    text_char(out, '_');
}

void convert_conllu(const convert_sequence *s, text *out)
{
    static const char *const order[] = {"form", "lemma",  "upos", "xpos", "feats",
                                        "head", "deprel", "deps", "misc"};
    if (s->source.n) {
        text_add(out, s->source.p, s->source.n);
        text_char(out, '\n');
        return;
    }
    for (const char *p = s->rows->heading.p, *end = p + s->rows->heading.n; p < end;) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));
        text_str(out, "# newdoc\n");
        p = lf ? lf + 1 : end;
    }
    for (size_t t = 0; t < s->rows->n_tokens; t++) {
        text_fmt(out, "%zu", t + 1);
        for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
            text_char(out, '\t');
            put_conllu_cell(s, t, order[k], out);
        }
        text_char(out, '\n');
    }
    if (s->rows->n_tokens)
        text_char(out, '\n');
}

/* ---- items ----------------------------------------------------------------------------------- */

static void put_escaped(trl_str s, text *out)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == ':' || s.p[i] == '\\')
            text_char(out, '\\');
        text_char(out, s.p[i] == '\t' || s.p[i] == '\n' ? ' ' : s.p[i]);
    }
}

void convert_crfsuite(const convert_sequence *s, text *out)
{
    const size_t C = s->rows->n_columns, last = C - s->labelled;
    for (size_t t = 0; t < s->rows->n_tokens; t++) {
        if (s->labelled)
            put_escaped(cell_of(s, t, last), out);
        else
            text_char(out, '?');
        for (size_t c = 0; c < last; c++) {
            text_fmt(out, "\t%zu=", c);
            put_escaped(cell_of(s, t, c), out);
        }
        text_char(out, '\n');
    }
    if (s->rows->n_tokens)
        text_char(out, '\n');
}

void convert_mallet(const convert_sequence *s, text *out)
{
    const size_t C = s->rows->n_columns, last = C - s->labelled;
    for (size_t t = 0; t < s->rows->n_tokens; t++) {
        for (size_t c = 0; c < last; c++) {
            text_fmt(out, "%s%zu=", c ? " " : "", c);
            put_cell(cell_of(s, t, c), out);
        }
        text_char(out, ' ');
        put_cell(s->labelled ? cell_of(s, t, last) : (trl_str){"?", 1}, out);
        text_char(out, '\n');
    }
    if (s->rows->n_tokens)
        text_char(out, '\n');
}

/* The first cell is the word, for templates that compare words. */
void convert_grmm(const convert_sequence *s, text *out)
{
    const size_t C = s->rows->n_columns, last = C - s->labelled;
    for (size_t t = 0; t < s->rows->n_tokens; t++) {
        if (s->labelled) {
            put_cell(cell_of(s, t, last), out);
            text_char(out, ' ');
        }
        text_str(out, "----");
        for (size_t c = 0; c < last; c++) {
            if (c)
                text_fmt(out, " %zu=", c);
            else
                text_str(out, " W=");
            put_cell(cell_of(s, t, c), out);
        }
        text_char(out, '\n');
    }
    if (s->rows->n_tokens)
        text_char(out, '\n');
}

/* One token: `label` are those of its line; false: a value that the format has not. */
static bool put_token(convert_format to, const trl_str *label, size_t n_labels,
                      const trl_attr *attr, const trl_attr *end, text *out)
{
    const bool crfsuite = to == CONVERT_CRFSUITE;
    if (crfsuite)
        put_escaped(label[0], out);
    for (size_t k = 0; to == CONVERT_GRMM && k < n_labels; k++) {
        put_cell(label[k], out);
        text_char(out, ' ');
    }
    if (to == CONVERT_GRMM)
        text_str(out, attr < end ? "---- " : "----");
    for (const trl_attr *x = attr; x < end; x++) {
        if (!crfsuite && x->value != 1.0)
            return false;
        if (crfsuite) {
            text_char(out, '\t');
            put_escaped(x->name, out);
            if (x->value != 1.0)
                text_fmt(out, ":%.17g", x->value);
            continue;
        }
        put_cell(x->name, out);
        text_str(out, to == CONVERT_MALLET || x + 1 < end ? " " : "");
    }
    if (to == CONVERT_MALLET)
        put_cell(label[0], out);
    text_char(out, '\n');
    return true;
}

bool convert_items(convert_format to, const trl_items *seq, text *out)
{
    if (to == CONVERT_CRFSUITE && seq->weight != 1.0)
        text_fmt(out, "@weight:%.17g\n", seq->weight);
    for (size_t t = 0; t < seq->n_tokens; t++)
        if (!put_token(to, &seq->label[t], 1, seq->attr + seq->begin[t],
                       seq->attr + seq->begin[t + 1], out))
            return false;
    text_char(out, '\n');
    return true;
}

bool convert_attributes(convert_format to, const trl_reader *r, const trl_rows *seq, text *out)
{
    const size_t *begin;
    const trl_attr *attr;
    const size_t C = seq->n_columns;
    trl_reader_attributes(r, &begin, &attr);
    if (to != CONVERT_GRMM && C != 2)
        return false;
    for (size_t t = 0; begin && t < seq->n_tokens; t++)
        put_token(to, seq->cell + t * C + 1, C - 1,
                  begin[t] < begin[t + 1] ? attr + begin[t] : NULL,
                  begin[t] < begin[t + 1] ? attr + begin[t + 1] : NULL, out);
    text_char(out, '\n');
    return true;
}
