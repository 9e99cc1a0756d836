/* crfsuite_dump.c -- what 'crfsuite dump' prints.
 *
 *     FILEHEADER = { ... num_labels: L, num_attrs: A ... }
 *     LABELS = {            then L lines    "      0: NAME"
 *     ATTRIBUTES = {        then A lines    "      0: NAME"
 *     TRANSITIONS = {       then lines      "  (1) LABEL --> LABEL: WEIGHT"
 *     STATE_FEATURES = {    then lines      "  (0) ATTRIBUTE --> LABEL: WEIGHT"
 *
 * each up to a line "}".  Weights have six decimals.  Names are not escaped: one may hold " --> "
 * or
 * ": ", so a line is cut where both sides are known names; one with a line end cannot be read.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "foreign/foreign.h"
#include "text/number.h"

typedef struct dump {
    trl_foreign *m;
    trl_cursor at;   /* after the line */
    trl_cursor here; /* at its start, for messages */
    trl_str line;
    uint64_t n_labels, n_attrs;
} dump;

#define FAIL(d, ...) fail((d), trl_fail((d)->m->err, TRL_EPARSE, __VA_ARGS__))

static trl_status fail(dump *d, trl_status st)
{
    trl_cursor_fail(d->m, &d->here, st);
    return trl_fail_hint(d->m->err, st,
                         "the dump was cut off or changed, or a name in it has a line end: import "
                         "the model file itself");
}

static bool next(dump *d)
{
    d->here = d->at;
    return trl_cursor_line(&d->at, &d->line);
}

static bool line_is(const dump *d, const char *text)
{
    return d->line.n == strlen(text) && memcmp(d->line.p, text, d->line.n) == 0;
}

/* Goes to the line, over blank ones. */
static trl_status need_line(dump *d, const char *text)
{
    do {
        if (!next(d))
            return FAIL(d, "the dump ends before '%s'", text);
    } while (d->line.n == 0);
    return line_is(d, text) ? TRL_OK : FAIL(d, "'%s' expected", text);
}

/* The number after "  NAME: " on the line. */
static void take_number(const dump *d, const char *name, uint64_t *out)
{
    trl_cursor s = trl_cursor_begin(d->line);
    const bool named =
        trl_cursor_text(&s, "  ") && trl_cursor_text(&s, name) && trl_cursor_text(&s, ": ");
    if (named)
        trl_cursor_number(&s, out, "");
}

static trl_status read_header(dump *d)
{
    trl_status st = need_line(d, "FILEHEADER = {");
    d->n_labels = d->n_attrs = UINT64_MAX;
    while (st == TRL_OK && !line_is(d, "}")) {
        if (!next(d))
            return FAIL(d, "the header does not end");
        take_number(d, "num_labels", &d->n_labels);
        take_number(d, "num_attrs", &d->n_attrs);
    }
    if (st == TRL_OK && (d->n_labels == UINT64_MAX || d->n_attrs == UINT64_MAX))
        st = FAIL(d, "the header says neither num_labels nor num_attrs");
    return st;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* "  NUMBER: NAME" with the number k. */
static trl_status read_name(dump *d, uint64_t k, trl_str *name)
{
    if (!next(d))
        return FAIL(d, "the dump ends in a list of names");
    trl_cursor s = trl_cursor_begin(d->line);
    uint64_t number;
    while (trl_cursor_text(&s, " "))
        continue;
    if (!trl_cursor_number(&s, &number, ": ") || number != k)
        return FAIL(d, "name %llu expected", (unsigned long long)k);
    *name = (trl_str){s.p, (size_t)(s.end - s.p)};
    return TRL_OK;
}

static trl_status read_labels(dump *d)
{
    trl_status st = need_line(d, "LABELS = {");
    for (uint64_t k = 0; st == TRL_OK && k < d->n_labels; k++) {
        trl_str name;
        st = read_name(d, k, &name);
        if (st == TRL_OK)
            st = trl_foreign_label(d->m, name);
        if (st == TRL_EMODEL)
            st = fail(d, st);
    }
    return st == TRL_OK ? need_line(d, "}") : st;
}

static trl_status read_attributes(dump *d)
{
    trl_strtab *names = &d->m->names[TRL_NODE];
    trl_status st = need_line(d, "ATTRIBUTES = {");
    for (uint64_t k = 0; st == TRL_OK && k < d->n_attrs; k++) {
        trl_str name;
        st = read_name(d, k, &name);
        if (st != TRL_OK)
            return st;
        if (trl_strtab_add(names, name.p, name.n) == TRL_NO_ID)
            return trl_fail_mem(d->m->err);
        if (names->n != k + 1)
            return FAIL(d, "attribute '%.*s' again", name.n < 60 ? (int)name.n : 60, name.p);
    }
    return st == TRL_OK ? need_line(d, "}") : st;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* One line of a list: its source (a number in `sources`), its label, its weight. */
typedef struct feature {
    uint32_t source, y;
    double w;
} feature;

/* Cuts "SOURCE --> LABEL" where both are known. */
static bool cut_names(const dump *d, trl_str text, const trl_strtab *sources, feature *f)
{
    static const char arrow[] = " --> ";
    for (size_t at = text.n; at-- > 0;) {
        if (text.n - at < 5 || memcmp(text.p + at, arrow, 5) != 0)
            continue;
        f->source = trl_strtab_find(sources, text.p, at);
        f->y = trl_strtab_find(&d->m->labels, text.p + at + 5, text.n - at - 5);
        if (f->source != TRL_NO_ID && f->y != TRL_NO_ID)
            return true;
    }
    return false;
}

static trl_status cut_feature(dump *d, const char *head, const trl_strtab *sources, feature *f)
{
    trl_str s = d->line;
    size_t colon = s.n;
    if (s.n < 6 || memcmp(s.p, head, 6) != 0)
        return FAIL(d, "'%s' or '}' expected", head);
    while (colon > 6 && s.p[colon - 1] != ':')
        colon--;
    if (colon == 6 || colon + 1 >= s.n || s.p[colon] != ' ')
        return FAIL(d, "a line without a weight");
    if (trl_number_parse(s.p + colon + 1, s.n - colon - 1, &f->w) != TRL_NUMBER_OK)
        return FAIL(d, "a weight is not a finite number");
    return cut_names(d, (trl_str){s.p + 6, colon - 1 - 6}, sources, f)
               ? TRL_OK
               : FAIL(d, "a name that is not in the lists");
}

static trl_status add_feature(dump *d, size_t family, const feature *f)
{
    trl_weight_rows *rows = &d->m->parts.rows[family];
    bool again;
    const uint32_t cell = family == TRL_NODE ? f->y : f->source * (uint32_t)d->m->labels.n + f->y;
    if (f->w == 0.0)
        return TRL_OK;
    if (!trl_rows_insert(rows, cell, f->w, &again))
        return trl_fail_mem(d->m->err);
    return again ? FAIL(d, "a second weight for the same labels") : TRL_OK;
}

static trl_status read_transitions(dump *d)
{
    trl_weight_rows *rows = &d->m->parts.rows[TRL_EDGE];
    const uint32_t name = trl_strtab_add(&d->m->names[TRL_EDGE], "B", 1);
    rows->constant = 0;
    if (name == TRL_NO_ID || !trl_rows_begin(rows, name))
        return trl_fail_mem(d->m->err);
    trl_status st = need_line(d, "TRANSITIONS = {");
    while (st == TRL_OK) {
        feature f;
        if (!next(d))
            return FAIL(d, "the dump ends in the transitions");
        if (line_is(d, "}"))
            break;
        st = cut_feature(d, "  (1) ", &d->m->labels, &f);
        if (st == TRL_OK)
            st = add_feature(d, TRL_EDGE, &f);
    }
    return st;
}

/* CRFsuite prints the features of an attribute together, in the order of their numbers. */
static trl_status read_states(dump *d)
{
    trl_weight_rows *rows = &d->m->parts.rows[TRL_NODE];
    uint32_t last = TRL_NO_ID;
    trl_status st = need_line(d, "STATE_FEATURES = {");
    while (st == TRL_OK) {
        feature f;
        if (!next(d))
            return FAIL(d, "the dump ends in the state features");
        if (line_is(d, "}"))
            break;
        st = cut_feature(d, "  (0) ", &d->m->names[TRL_NODE], &f);
        if (st != TRL_OK)
            return st;
        if (last != TRL_NO_ID && f.source < last)
            return FAIL(d, "an attribute out of order");
        if (f.source != last && !trl_rows_begin(rows, f.source))
            return trl_fail_mem(d->m->err);
        last = f.source;
        st = add_feature(d, TRL_NODE, &f);
    }
    return st;
}

trl_status trl_read_crfsuite_dump(trl_foreign *m)
{
    dump d = {.m = m, .at = trl_cursor_begin(m->file)};
    d.here = d.at;
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        m->parts.rows[f].type = TRL_WEIGHT_DOUBLE;
    trl_status st = read_header(&d);
    if (st == TRL_OK)
        st = read_labels(&d);
    if (st == TRL_OK && m->labels.n == 0)
        st = FAIL(&d, "it has no labels");
    if (st == TRL_OK)
        st = read_attributes(&d);
    if (st == TRL_OK)
        st = read_transitions(&d);
    if (st == TRL_OK)
        st = read_states(&d);
    return st;
}
