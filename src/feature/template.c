/* template.c -- making attributes from the pieces of a template. */
/* SPDX-License-Identifier: MIT */
#include "feature/template.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/template_parts.h"

trl_status trl_template_parse(const char *name, const char *text, size_t n, trl_template **out,
                              trl_error *err)
{
    trl_template *t = trl_zalloc(1, sizeof *t);
    if (t)
        t->text = trl_strndup(n ? text : "", n);
    if (!t || !t->text) {
        trl_template_free(t);
        return trl_fail_mem(err);
    }
    t->text_len = n;
    const trl_str copy = {t->text, n};
    const trl_status st = trl_feature_list_is(copy)
                              ? trl_feature_list_read(name, copy, &t->list, err)
                              : trl_template_read(t, name, err);
    if (st != TRL_OK) {
        trl_template_free(t);
        return st;
    }
    *out = t;
    return TRL_OK;
}

void trl_template_free(trl_template *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_pieces; i++)
        trl_regex_free(t->piece[i].re);
    trl_feature_list_free(t->list);
    trl_free(t->piece);
    trl_free(t->pattern);
    trl_free(t->text);
    trl_free(t);
}

/* ---- asking ---------------------------------------------------------------------------------- */

trl_str trl_template_text(const trl_template *t)
{
    return (trl_str){t->text, t->text_len};
}

trl_feature_list *trl_template_list(const trl_template *t)
{
    return t->list;
}

size_t trl_template_count(const trl_template *t)
{
    return t->list ? t->list->n_features : t->n_patterns;
}

int trl_template_cliques(const trl_template *t, size_t k)
{
    return t->list ? t->list->feature[k].cliques : t->pattern[k].cliques;
}

bool trl_template_is_constant(const trl_template *t, size_t k)
{
    return t->list ? t->list->feature[k].n == 0 : t->pattern[k].constant;
}

size_t trl_template_columns(const trl_template *t)
{
    return t->list ? t->list->columns : t->columns;
}

void trl_template_place(const trl_template *t, size_t column, uint64_t *row, uint64_t *col)
{
    *row = *col = 0;
    for (size_t i = 0; t->list && i < t->list->n_properties; i++) {
        const trl_property *p = &t->list->property[i];
        if (p->column != SIZE_MAX && p->column >= column && p->row) {
            *row = p->row;
            *col = p->col;
            return;
        }
    }
    for (size_t i = 0; i < t->n_pieces; i++) {
        const piece *pc = &t->piece[i];
        if (pc->type != TEXT && pc->column >= column) {
            *row = pc->at_row;
            *col = pc->at_col;
            return;
        }
    }
}

/* ---- expanding ------------------------------------------------------------------------------- */

static bool grow(trl_buf *b, size_t n)
{
    char *data = n < SIZE_MAX - b->len ? trl_reserve(b->data, &b->cap, b->len + n + 1, 1) : NULL;
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    return true;
}

static inline bool append(trl_buf *b, trl_str s, bool lower)
{
    if (s.n >= b->cap - b->len && !grow(b, s.n))
        return false;
    char *to = b->data + b->len;
    if (lower)
        for (size_t i = 0; i < s.n; i++)
            to[i] = trl_template_lowered(s.p[i]);
    else
        memcpy(to, s.p, s.n);
    b->len += s.n;
    return true;
}

/* What stands for the `distance`-th row (1, 2, ...) before or after the sequence. */
static trl_str outside(const trl_template *t, char sign, int64_t distance, char scratch[24])
{
    char *p = scratch + 24;
    if (t->wapiti && distance > 4)
        *--p = '#';
    else
        for (int64_t v = distance; v > 0; v /= 10)
            *--p = (char)('0' + v % 10);
    *--p = sign;
    *--p = t->wapiti ? 'x' : 'B';
    *--p = '_';
    return (trl_str){p, (size_t)(scratch + 24 - p)};
}

static trl_str value_of(const trl_template *t, const piece *pc, const trl_rows *seq, size_t pos,
                        char scratch[24])
{
    const int64_t n = (int64_t)seq->n_tokens;
    int64_t at = pc->row + (int64_t)pos;
    if (pc->absolute)
        at = pc->row < 0 ? pc->row + n : pc->row - 1;
    if (at < 0)
        return outside(t, '-', -at, scratch);
    if (at >= n)
        return outside(t, '+', at - n + 1, scratch);
    return seq->cell[(size_t)at * seq->n_columns + pc->column];
}

/* Appends what the macro makes of the cell v. */
static bool apply(const piece *pc, trl_str v, trl_buf *out)
{
    size_t from = 0, len = 0;
    const trl_regex_answer a =
        pc->re ? trl_regex_find(pc->re, v.p, v.n, &from, &len) : TRL_REGEX_NO;
    out->failed |= a == TRL_REGEX_NOMEM;
    if (pc->type == TEST)
        v = a == TRL_REGEX_YES ? (trl_str){"true", 4} : (trl_str){"false", 5};
    else if (pc->type == MATCH)
        v = (trl_str){v.p + from, len};
    return a != TRL_REGEX_NOMEM && append(out, v, pc->lower);
}

bool trl_template_expand(const trl_template *t, size_t k, const trl_rows *seq, size_t pos,
                         trl_buf *out)
{
    const pattern *pt = &t->pattern[k];
    char scratch[24];
    if (!append(out, (trl_str){&pt->letter, 1}, false))
        return false;
    for (size_t i = 0; i < pt->n; i++) {
        const piece *pc = &t->piece[pt->first + i];
        const trl_str v = pc->type == TEXT ? pc->text : value_of(t, pc, seq, pos, scratch);
        if (pc->re ? !apply(pc, v, out) : !append(out, v, pc->lower))
            return false;
    }
    return true;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

size_t trl_template_pieces(const trl_template *t, size_t k)
{
    return 1 + t->pattern[k].n;
}

trl_piece trl_template_piece(const trl_template *t, size_t k, size_t i)
{
    const pattern *pt = &t->pattern[k];
    if (i == 0)
        return (trl_piece){.text = {&pt->letter, 1}};
    const piece *pc = &t->piece[pt->first + i - 1];
    return (trl_piece){pc->type != TEXT, pc->type == CELL && !pc->lower,
                       pc->absolute,     pc->row,
                       pc->column,       pc->text};
}

bool trl_template_apply(const trl_template *t, size_t k, size_t i, trl_str v, trl_buf *out)
{
    return apply(&t->piece[t->pattern[k].first + i - 1], v, out);
}

trl_str trl_template_outside(const trl_template *t, int64_t distance, char scratch[24])
{
    return distance < 0 ? outside(t, '-', -distance, scratch) : outside(t, '+', distance, scratch);
}
