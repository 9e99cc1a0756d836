/* cv_labels.c -- out-of-fold labels in the order of the data. */
/* SPDX-License-Identifier: MIT */
#include "cv_labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

/* ---- keeping --------------------------------------------------------------------------------- */

static bool room(cv_labels *x, size_t n)
{
    if (n <= x->cap)
        return true;
    if (n > SIZE_MAX / 4 / sizeof *x->begin)
        return false;
    const size_t cap = 2 * n;
    size_t *begin = realloc(x->begin, cap * sizeof *begin);
    if (begin)
        x->begin = begin;
    size_t *count = begin ? realloc(x->count, cap * sizeof *count) : NULL;
    if (!count)
        return false;
    x->count = count;
    x->cap = cap;
    return true;
}

bool cv_labels_keep(cv_labels *x, const trl_cv_labels *labels)
{
    const size_t k = (size_t)labels->sequence;
    if (!room(x, k + 1))
        return false;
    for (; x->n <= k; x->n++) {
        x->begin[x->n] = 0;
        x->count[x->n] = 0;
    }
    x->begin[k] = x->bytes.n;
    x->count[k] = labels->n_layers;
    for (size_t t = 0; t < labels->n_tokens * labels->n_layers; t++) {
        text_add(&x->bytes, labels->label[t].p, labels->label[t].n);
        text_char(&x->bytes, '\0');
    }
    return !x->bytes.failed;
}

void cv_labels_fini(cv_labels *x)
{
    text_fini(&x->bytes);
    free(x->begin);
    free(x->count);
    *x = (cv_labels){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct writer {
    const cv_labels *x;
    output *out;
    text line;
    size_t k; /* the sequence at work */
} writer;

/* The labels of a token; the place after them. */
static const char *add_labels(writer *w, const char *label, char separator)
{
    for (size_t i = 0; i < w->x->count[w->k]; i++) {
        const size_t n = strlen(label);
        text_char(&w->line, separator);
        text_add(&w->line, label, n);
        label += n + 1;
    }
    text_char(&w->line, '\n');
    return label;
}

/* The line up to its last cell; where there is none like it, its cells with tabs between. */
static char add_cells(const trl_rows *rows, size_t t, bool as_it_is, text *out)
{
    const trl_str *cell = rows->cell + t * rows->n_columns, last = cell[rows->n_columns - 1];
    if (as_it_is && rows->line) {
        const char *line = rows->line[t];
        const size_t n = (size_t)(last.p - line) + last.n;
        text_add(out, line, n);
        return memchr(line, '\t', n) ? '\t' : ' ';
    }
    for (size_t c = 0; c < rows->n_columns; c++) {
        text_str(out, c ? "\t" : "");
        for (size_t i = 0; i < cell[c].n; i++)
            text_char(out, cell[c].p[i] == ' ' ? '_' : cell[c].p[i]);
    }
    return '\t';
}

/* Lines -DOCSTART-, each with an empty line after it. */
static void add_heading(trl_str heading, text *out)
{
    for (size_t i = 0; i < heading.n; i++) {
        text_char(out, heading.p[i]);
        if (heading.p[i] == '\n')
            text_char(out, '\n');
    }
}

/* The file is not the one that was labelled any more. */
static trl_status changed(const char *path, trl_error *err)
{
    *err = (trl_error){.code = TRL_EIO};
    snprintf(err->path, sizeof err->path, "%s", path);
    snprintf(err->msg, sizeof err->msg, "the file has changed while it was in use");
    return TRL_EIO;
}

static trl_status next_sequence(writer *w, trl_reader *r, const char *path, bool *more,
                                trl_error *err)
{
    const bool is_rows = trl_format_is_rows(trl_reader_format(r));
    const bool as_it_is = trl_reader_format(r) == TRL_FORMAT_COLUMNS;
    trl_rows rows = {0};
    trl_items items = {0};
    trl_status st =
        is_rows ? trl_reader_rows(r, &rows, more, err) : trl_reader_items(r, &items, more, err);
    w->line.n = 0;
    if (st == TRL_OK && is_rows)
        add_heading(rows.heading, &w->line);
    if (st == TRL_OK && *more) {
        if (w->k >= w->x->n)
            return changed(path, err);
        const char *label = w->x->bytes.p + w->x->begin[w->k], *end = w->x->bytes.p + w->x->bytes.n;
        for (size_t t = 0; t < (is_rows ? rows.n_tokens : items.n_tokens); t++) {
            char separator = '\t';
            if (label >= end)
                return changed(path, err);
            if (is_rows)
                separator = add_cells(&rows, t, as_it_is, &w->line);
            else
                text_add(&w->line, items.label[t].p, items.label[t].n);
            label = add_labels(w, label, separator);
        }
        text_char(&w->line, '\n');
        w->k++;
    }
    if (st == TRL_OK && !output_text(w->out, &w->line))
        *more = false;
    return st;
}

static bool write_sequences(writer *w, const trl_train_options *train)
{
    const bool graph = strcmp(train->kind, "graph") == 0;
    const trl_format format =
        train->template_text && !train->format && !graph ? TRL_FORMAT_COLUMNS : train->format;
    trl_error err = {0};
    trl_status st = TRL_OK;
    for (size_t i = 0; st == TRL_OK && i < train->n_train; i++) {
        trl_reader *r = NULL;
        st = trl_reader_open(train->train[i], format, &r, &err);
        for (bool more = true; st == TRL_OK && more;)
            st = next_sequence(w, r, train->train[i], &more, &err);
        trl_reader_free(r);
    }
    if (st != TRL_OK)
        message_error(&err);
    return st == TRL_OK;
}

static bool write_trees(writer *w)
{
    for (size_t k = 0; k < w->x->n; k++) {
        w->line.n = 0;
        text_str(&w->line, w->x->bytes.p + w->x->begin[k]);
        text_char(&w->line, '\n');
        if (!output_text(w->out, &w->line))
            return false;
    }
    return true;
}

bool cv_labels_write(const cv_labels *x, const trl_train_options *train, output *o)
{
    writer w = {.x = x, .out = o};
    const bool ok = strcmp(train->kind, "tree") == 0 ? write_trees(&w) : write_sequences(&w, train);
    text_fini(&w.line);
    return ok && !o->failed;
}
