/* marks.c -- taking marks out of a text. */
/* SPDX-License-Identifier: MIT */
#include "text/marks.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define NOT_OPEN SIZE_MAX

void trl_marked_fini(trl_marked *m)
{
    trl_buf_fini(&m->text);
    trl_strtab_fini(&m->labels);
    trl_free(m->span);
    *m = (trl_marked){0};
}

trl_status trl_name_list(const char *list, trl_strtab *names, trl_error *err)
{
    for (const char *p = list;; p++) {
        const size_t n = strcspn(p, ",");
        if (n == 0)
            return trl_fail(err, TRL_EINVAL, "an empty name in the list '%s'", list);
        if (trl_strtab_add(names, p, n) == TRL_NO_ID)
            return trl_fail_mem(err);
        p += n;
        if (!*p)
            return TRL_OK;
    }
}

trl_status trl_fail_in_text(trl_error *err, trl_status st, const char *name, trl_str text,
                            size_t at)
{
    uint64_t row = 1;
    size_t line = 0;
    for (size_t i = 0; i < at; i++)
        if (text.p[i] == '\n') {
            row++;
            line = i + 1;
        }
    return trl_fail_where(err, st, name, row, at - line + 1);
}

/* ---- one mark -------------------------------------------------------------------------------- */

typedef struct mark {
    trl_str name;
    bool closes;
    size_t end; /* after its '>' */
} mark;

static bool is_name(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (!first && ((c >= '0' && c <= '9') || c == '-' || c == '_'));
}

/* Is there a mark at the '<' at `at`? */
static bool mark_at(trl_str text, size_t at, mark *m)
{
    size_t i = at + 1;
    m->closes = i < text.n && text.p[i] == '/';
    i += m->closes;
    const size_t from = i;
    while (i < text.n && is_name(text.p[i], i == from))
        i++;
    m->name = (trl_str){text.p + from, i - from};
    m->end = i + 1;
    return i > from && i < text.n && text.p[i] == '>';
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct reading {
    trl_marked *m;
    const char *name;
    trl_str text;
    trl_strtab ignored;
    bool listed;  /* the labels are given */
    size_t *open; /* by label: its span, or NOT_OPEN */
    size_t open_cap, n_open;
} reading;

static trl_status fail_mark(const reading *r, trl_error *err, size_t at, const mark *k,
                            const char *what)
{
    const trl_status st = trl_fail(err, TRL_EPARSE, "<%s%.*s> %s", k->closes ? "/" : "",
                                   (int)(k->name.n < 60 ? k->name.n : 60), k->name.p, what);
    trl_fail_hint(
        err, st,
        "marks that are not labels can be ignored; with a list of labels all others are text");
    return trl_fail_in_text(err, st, r->name, r->text, at);
}

static trl_status reserve_open(reading *r, uint32_t label, trl_error *err)
{
    size_t *grown = trl_reserve(r->open, &r->open_cap, (uint64_t)label + 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    r->open = grown;
    while (r->n_open <= label)
        r->open[r->n_open++] = NOT_OPEN;
    return TRL_OK;
}

static trl_status take_label(reading *r, uint32_t label, size_t at, const mark *k, trl_error *err)
{
    trl_marked *m = r->m;
    trl_status st = reserve_open(r, label, err);
    if (st != TRL_OK)
        return st;
    const size_t open = r->open[label];
    if (k->closes) {
        if (open == NOT_OPEN)
            return fail_mark(r, err, at, k, "closes what was not opened");
        m->span[open].end = m->text.len;
        r->open[label] = NOT_OPEN;
        return TRL_OK;
    }
    if (open != NOT_OPEN)
        return fail_mark(r, err, m->span[open].mark, k,
                         "is not closed before the next of its name");
    trl_span *grown = trl_reserve(m->span, &m->cap, m->n + 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    m->span = grown;
    r->open[label] = m->n;
    m->span[m->n++] = (trl_span){.begin = m->text.len, .label = label, .mark = at};
    return TRL_OK;
}

/* Is the mark at `at` one of ours?  *text: no, it is part of the text. */
static trl_status take_mark(reading *r, size_t at, const mark *k, bool *text, trl_error *err)
{
    uint32_t label = trl_strtab_find(&r->m->labels, k->name.p, k->name.n);
    *text = false;
    if (label == TRL_NO_ID && trl_strtab_find(&r->ignored, k->name.p, k->name.n) != TRL_NO_ID)
        return TRL_OK;
    if (label == TRL_NO_ID && r->listed) {
        *text = true;
        return TRL_OK;
    }
    if (label == TRL_NO_ID)
        label = trl_strtab_add(&r->m->labels, k->name.p, k->name.n);
    if (label == TRL_NO_ID)
        return trl_fail_mem(err);
    return take_label(r, label, at, k, err);
}

static trl_status read_all(reading *r, trl_error *err)
{
    const trl_str text = r->text;
    for (size_t at = 0; at < text.n;) {
        const char *p = memchr(text.p + at, '<', text.n - at);
        const size_t next = p ? (size_t)(p - text.p) : text.n;
        trl_buf_add(&r->m->text, text.p + at, next - at);
        at = next;
        mark k;
        bool is_text = true;
        if (at < text.n && mark_at(text, at, &k)) {
            const trl_status st = take_mark(r, at, &k, &is_text, err);
            if (st != TRL_OK)
                return st;
        }
        if (at < text.n && is_text)
            trl_buf_ch(&r->m->text, '<');
        at = is_text ? at + 1 : k.end;
    }
    return r->m->text.failed ? trl_fail_mem(err) : TRL_OK;
}

/* Every mark is closed, and none lies in another. */
static trl_status check_spans(const reading *r, bool layers, trl_error *err)
{
    const trl_marked *m = r->m;
    mark k;
    for (size_t label = 0; label < r->n_open; label++)
        if (r->open[label] != NOT_OPEN) {
            const size_t at = m->span[r->open[label]].mark;
            mark_at(r->text, at, &k);
            return fail_mark(r, err, at, &k, "is not closed");
        }
    for (size_t i = 1; i < m->n && !layers; i++)
        if (m->span[i].begin < m->span[i - 1].end) {
            mark_at(r->text, m->span[i].mark, &k);
            const trl_status st =
                fail_mark(r, err, m->span[i].mark, &k, "overlaps the mark before it");
            return trl_fail_hint(
                err, st,
                "one column has one label for a token: list the labels that you want, "
                "or have layers, a column for each");
        }
    return TRL_OK;
}

trl_status trl_marks_read(trl_marked *m, const char *name, trl_str text, const trl_text_options *o,
                          trl_error *err)
{
    reading r = {.m = m, .name = name, .text = text, .listed = o->labels != NULL};
    const char *ignored = o->ignored ? o->ignored : "sentence,paragraph";
    trl_status st = TRL_OK;
    if (*ignored)
        st = trl_name_list(ignored, &r.ignored, err);
    if (st == TRL_OK && o->labels)
        st = trl_name_list(o->labels, &m->labels, err);
    if (st == TRL_OK)
        st = read_all(&r, err);
    if (st == TRL_OK)
        st = check_spans(&r, o->layers, err);
    trl_strtab_fini(&r.ignored);
    trl_free(r.open);
    return st;
}
