/* dataset.c -- sequences in memory: rows as the values of their columns, items as a corpus. */
/* SPDX-License-Identifier: MIT */
#include "feature/dataset.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/dataset_parts.h"

trl_status trl_dataset_new(trl_dataset **out, trl_error *err)
{
    if (!out)
        return trl_fail_null(err);
    trl_dataset *d = trl_zalloc(1, sizeof *d);
    if (!d)
        return trl_fail_mem(err);
    const trl_status st = trl_corpus_init(&d->items, err);
    d->items.keep_zeros = true; /* some of its sequences may be held out */
    if (st == TRL_OK)
        *out = d;
    else
        trl_free(d);
    return st;
}

void trl_dataset_free(trl_dataset *d)
{
    if (!d)
        return;
    trl_column_values_fini(&d->rows);
    trl_corpus_fini(&d->items);
    trl_free(d->weight);
    trl_free(d->document);
    trl_buf_fini(&d->brackets);
    trl_free(d);
}

static size_t count(const trl_dataset *d)
{
    return d->rows.n_sequences + d->items.n_sequences;
}

trl_dataset_info trl_dataset_get_info(const trl_dataset *d)
{
    if (!d)
        return (trl_dataset_info){.format = TRL_FORMAT_GUESS};
    return (trl_dataset_info){.format = d->format,
                              .n_sequences = count(d),
                              .n_tokens = d->rows.n_tokens + d->items.n_tokens,
                              .n_columns = d->rows.n_columns,
                              .n_trees = d->n_trees,
                              .n_words = d->n_words};
}

double trl_dataset_weight(const trl_dataset *d, size_t k)
{
    return d->format == TRL_FORMAT_COLUMNS ? d->weight[k] : d->items.weight[k];
}

bool trl_dataset_has_documents(const trl_dataset *d)
{
    for (size_t k = 0; k < d->rows.n_sequences; k++)
        if (d->document[k])
            return true;
    return false;
}

/* ---- checks ---------------------------------------------------------------------------------- */

trl_status trl_dataset_bad(const trl_dataset_place *at, const char *what, trl_error *err)
{
    if (at->column)
        return trl_fail(err, TRL_EINVAL, "sequence %zu, token %zu, column %zu: %s", at->sequence,
                        at->token, at->column, what);
    if (at->token)
        return trl_fail(err, TRL_EINVAL, "sequence %zu, token %zu: %s", at->sequence, at->token,
                        what);
    return trl_fail(err, TRL_EINVAL, "sequence %zu: %s", at->sequence, what);
}

const char *trl_dataset_fault(trl_str s)
{
    if (!s.p && s.n)
        return "is NULL";
    return s.n && memchr(s.p, '\0', s.n) ? "contains a NUL byte" : NULL;
}

static trl_status check_text(const trl_dataset_place *at, const char *name, trl_str s,
                             trl_error *err)
{
    char what[64];
    const char *wrong = s.n ? trl_dataset_fault(s) : "is empty";
    if (!wrong)
        return TRL_OK;
    snprintf(what, sizeof what, "the %s %s", name, wrong);
    return trl_dataset_bad(at, what, err);
}

trl_status trl_dataset_check_weight(const trl_dataset_place *at, double weight, trl_error *err)
{
    if (!isfinite(weight))
        return trl_dataset_bad(at, "the weight is not finite", err);
    return weight < 0.0 ? trl_dataset_bad(at, "the weight is negative", err) : TRL_OK;
}

static trl_status check_rows(const trl_rows *seq, size_t n_columns, trl_dataset_place at,
                             trl_error *err)
{
    if (!seq->n_tokens)
        return trl_dataset_bad(&at, "there are no tokens", err);
    if (!seq->cell)
        return trl_dataset_bad(&at, "the cells are NULL", err);
    if (seq->n_columns < 2)
        return trl_dataset_bad(&at, "a row has at least two columns, the last one being the label",
                               err);
    if (seq->n_columns != n_columns)
        return trl_fail(err, TRL_EINVAL, "sequence %zu: %zu columns where %zu were found before",
                        at.sequence, seq->n_columns, n_columns);
    trl_status st = TRL_OK;
    for (size_t t = 0; st == TRL_OK && t < seq->n_tokens; t++)
        for (size_t c = 0; st == TRL_OK && c < n_columns; c++) {
            at.token = t + 1;
            at.column = c + 1;
            st = check_text(&at, c + 1 < n_columns ? "cell" : "label", seq->cell[t * n_columns + c],
                            err);
        }
    return st;
}

static trl_status check_attr(const trl_dataset_place *at, const trl_attr *a, trl_error *err)
{
    const char *wrong = trl_dataset_fault(a->name);
    const int n = a->name.n < 100 ? (int)a->name.n : 100;
    if (wrong) {
        char what[64];
        snprintf(what, sizeof what, "the name of an attribute %s", wrong);
        return trl_dataset_bad(at, what, err);
    }
    return isfinite(a->value)
               ? TRL_OK
               : trl_fail(err, TRL_EINVAL,
                          "sequence %zu, token %zu: the value of '%.*s' is not finite",
                          at->sequence, at->token, n, n ? a->name.p : "");
}

static trl_status check_items(const trl_items *seq, trl_dataset_place at, trl_error *err)
{
    if (!seq->n_tokens)
        return trl_dataset_bad(&at, "there are no tokens", err);
    if (!seq->label)
        return trl_dataset_bad(&at, "there are no labels", err);
    if (!seq->begin)
        return trl_dataset_bad(&at, "begin is NULL", err);
    trl_status st = TRL_OK;
    for (size_t t = 0; st == TRL_OK && t < seq->n_tokens; t++) {
        at.token = t + 1;
        st = check_text(&at, "label", seq->label[t], err);
        if (st == TRL_OK && seq->begin[t] > seq->begin[t + 1])
            st = trl_dataset_bad(&at, "its attributes end before they begin", err);
        else if (st == TRL_OK && seq->begin[t] < seq->begin[t + 1] && !seq->attr)
            st = trl_dataset_bad(&at, "the attributes are NULL", err);
        for (size_t k = seq->begin[t]; st == TRL_OK && k < seq->begin[t + 1]; k++)
            st = check_attr(&at, &seq->attr[k], err);
    }
    return st;
}

trl_status trl_dataset_check_format(const trl_dataset *d, trl_format format, trl_error *err)
{
    if (d->n_trees)
        return trl_fail(err, TRL_EINVAL, "the data set has trees: sequences do not go with them");
    if (d->format == TRL_FORMAT_GUESS || d->format == format)
        return TRL_OK;
    return format == TRL_FORMAT_COLUMNS
               ? trl_fail(err, TRL_EINVAL, "the data set has items: rows do not go with them")
               : trl_fail(err, TRL_EINVAL, "the data set has rows: items do not go with them");
}

/* ---- adding ---------------------------------------------------------------------------------- */

static bool reserve_weights(trl_dataset *d, size_t n)
{
    const uint64_t all = (uint64_t)count(d) + n;
    double *weight = trl_reserve(d->weight, &d->weight_cap, all, sizeof *weight);
    if (weight)
        d->weight = weight;
    bool *document = trl_reserve(d->document, &d->document_cap, all, sizeof *document);
    if (document)
        d->document = document;
    return weight && document;
}

/* Names that were added stay: no sequence uses them, so nothing shows them but memory. */
void trl_dataset_take_back_rows(trl_dataset *d, size_t n_sequences, size_t n_tokens)
{
    if (n_sequences == 0)
        trl_column_values_fini(&d->rows);
    d->rows.n_sequences = n_sequences;
    d->rows.n_tokens = n_tokens;
}

trl_status trl_dataset_add_rows(trl_dataset *d, const trl_rows *seq, size_t n, const double *weight,
                                trl_error *err)
{
    if (!d || (!seq && n))
        return trl_fail_null(err);
    trl_status st = trl_dataset_check_format(d, TRL_FORMAT_COLUMNS, err);
    const size_t before = count(d), tokens = d->rows.n_tokens;
    const size_t columns = d->rows.n_columns ? d->rows.n_columns : n ? seq[0].n_columns : 0;
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        const trl_dataset_place at = {.sequence = before + k + 1};
        st = check_rows(&seq[k], columns, at, err);
        if (st == TRL_OK && weight)
            st = trl_dataset_check_weight(&at, weight[k], err);
    }
    if (st != TRL_OK || n == 0)
        return st;
    if (!reserve_weights(d, n))
        return trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        d->weight[before + k] = weight ? weight[k] : 1.0;
        d->document[before + k] = seq[k].heading.n > 0;
        st = trl_column_values_add_rows(&d->rows, &seq[k], err);
    }
    if (st == TRL_OK)
        d->format = TRL_FORMAT_COLUMNS;
    else
        trl_dataset_take_back_rows(d, before, tokens);
    return st;
}

/* The corpus as it was when it had so many tokens: its lists are only ever added to. */
void trl_dataset_take_back_items(trl_corpus *c, size_t n_sequences, size_t n_tokens)
{
    c->n_sequences = n_sequences;
    c->n_tokens = n_tokens;
    for (size_t f = 0; f < c->n_families; f++)
        c->family[f].n = (size_t)c->family[f].begin[n_tokens];
}

trl_status trl_dataset_add_items(trl_dataset *d, const trl_items *seq, size_t n,
                                 const double *weight, trl_error *err)
{
    if (!d || (!seq && n))
        return trl_fail_null(err);
    trl_status st = trl_dataset_check_format(d, TRL_FORMAT_CRFSUITE, err);
    const size_t before = count(d), tokens = d->items.n_tokens;
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        const trl_dataset_place at = {.sequence = before + k + 1};
        st = check_items(&seq[k], at, err);
        if (st == TRL_OK)
            st = trl_dataset_check_weight(&at, weight ? weight[k] : seq[k].weight, err);
    }
    if (st != TRL_OK || n == 0)
        return st;
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        trl_items own = seq[k];
        own.weight = weight ? weight[k] : seq[k].weight;
        st = trl_corpus_add_items(&d->items, &own, err);
    }
    if (st == TRL_OK)
        d->format = TRL_FORMAT_CRFSUITE;
    else
        trl_dataset_take_back_items(&d->items, before, tokens);
    return st;
}

/* ---- views ----------------------------------------------------------------------------------- */

void trl_dataset_cursor_fini(trl_dataset_cursor *c)
{
    trl_free(c->text);
    trl_free(c->begin);
    trl_free(c->attr);
    *c = (trl_dataset_cursor){0};
}

static trl_str *text_room(trl_dataset_cursor *c, size_t n)
{
    trl_str *text = trl_reserve(c->text, &c->text_cap, n, sizeof *text);
    if (text)
        c->text = text;
    return text;
}

trl_status trl_dataset_cursor_rows(trl_dataset_cursor *c, trl_rows *seq, double *weight, bool *more,
                                   trl_error *err)
{
    static const char heading[] = "-DOCSTART-\n";
    const trl_column_values *v = &c->set->rows;
    *more = c->next < v->n_sequences;
    if (!*more)
        return TRL_OK;
    const size_t n = (size_t)(v->first[c->next + 1] - v->first[c->next]);
    if (!text_room(c, n * v->n_columns))
        return trl_fail_mem(err);
    *seq = trl_column_values_rows(v, c->next, c->text);
    seq->path = c->name;
    if (c->set->document[c->next])
        seq->heading = (trl_str){heading, sizeof heading - 1};
    *weight = c->set->weight[c->next++];
    return TRL_OK;
}

trl_status trl_dataset_cursor_items(trl_dataset_cursor *c, trl_items *seq, bool *more,
                                    trl_error *err)
{
    const trl_corpus *x = &c->set->items;
    const trl_occurrences *o = &x->family[TRL_NODE];
    *more = c->next < x->n_sequences;
    if (!*more)
        return TRL_OK;
    const size_t from = (size_t)x->first[c->next], n = (size_t)x->first[c->next + 1] - from;
    const size_t at = (size_t)o->begin[from], m = (size_t)o->begin[from + n] - at;
    size_t *begin = trl_reserve(c->begin, &c->begin_cap, n + 1, sizeof *begin);
    if (begin)
        c->begin = begin;
    trl_attr *attr = trl_reserve(c->attr, &c->attr_cap, m, sizeof *attr);
    if (attr)
        c->attr = attr;
    if (!begin || !attr || !text_room(c, n))
        return trl_fail_mem(err);
    for (size_t t = 0; t < n; t++)
        c->text[t] = trl_strtab_get(&x->labels, x->label[from + t]);
    for (size_t t = 0; t <= n; t++)
        begin[t] = (size_t)o->begin[from + t] - at;
    for (size_t k = 0; k < m; k++)
        attr[k] = (trl_attr){trl_strtab_get(&o->names, o->id[at + k]),
                             trl_value_list_at(&o->values, at + k)};
    *seq = (trl_items){.n_tokens = n,
                       .label = c->text,
                       .begin = begin,
                       .attr = attr,
                       .weight = x->weight[c->next++],
                       .path = c->name};
    return TRL_OK;
}

bool trl_dataset_cursor_more(const trl_dataset_cursor *c)
{
    return c->next < c->set->items.n_sequences;
}

const trl_corpus *trl_dataset_corpus(const trl_dataset *d)
{
    return &d->items;
}

trl_status trl_dataset_cursor_copy(trl_dataset_cursor *c, trl_corpus *to, trl_renumbering *r,
                                   trl_error *err)
{
    const size_t k = c->next++;
    const trl_status st = to ? trl_corpus_add_from(to, &c->set->items, k, r, err) : TRL_OK;
    return st == TRL_OK || st == TRL_ENOMEM ? st : trl_fail_where(err, st, c->name, 0, 1);
}
