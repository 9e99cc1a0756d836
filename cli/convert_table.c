/* convert_table.c -- formats with a token a line: columns, CoNLL-U, CRFsuite, MALLET. */
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

bool convert_items(convert_format to, const trl_items *seq, text *out)
{
    const bool mallet = to == CONVERT_MALLET;
    if (!mallet && seq->weight != 1.0)
        text_fmt(out, "@weight:%.17g\n", seq->weight);
    for (size_t t = 0; t < seq->n_tokens; t++) {
        if (!mallet)
            put_escaped(seq->label[t], out);
        for (size_t a = seq->begin[t]; a < seq->begin[t + 1]; a++) {
            const trl_attr *x = &seq->attr[a];
            if (mallet && x->value != 1.0)
                return false;
            if (mallet) {
                put_cell(x->name, out);
                text_char(out, ' ');
                continue;
            }
            text_char(out, '\t');
            put_escaped(x->name, out);
            if (x->value != 1.0)
                text_fmt(out, ":%.17g", x->value);
        }
        if (mallet)
            put_cell(seq->label[t], out);
        text_char(out, '\n');
    }
    text_char(out, '\n');
    return true;
}
