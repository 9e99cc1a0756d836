/* graph_spec.c -- the statements of a model file. */
/* SPDX-License-Identifier: MIT */
#include "graph_model/graph_spec.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "graph_model/grmm_templates.h"
#include "graph_model/spec_scan.h"
#include "text/word_regex.h"

#define TEMPLATES_MAX 1000

/* ---- names ----------------------------------------------------------------------------------- */

trl_status trl_spec_name(trl_spec_scan *s, const char *what, trl_str *out, trl_spec_place *at)
{
    *out = trl_spec_peek(s);
    *at = trl_spec_here(s);
    if (out->n == 0)
        return trl_spec_fail(s, *at, "%s expected: letters, digits and '_'", what);
    if (out->n > TRL_SPEC_NAME_MAX)
        return trl_spec_fail(s, *at, "a name of more than %d letters", TRL_SPEC_NAME_MAX);
    trl_spec_word(s);
    return TRL_OK;
}

uint32_t trl_graph_spec_layer(const trl_graph_spec *s, trl_str name)
{
    for (size_t k = 0; k < s->n_layers; k++)
        if (trl_spec_is(name, s->layer[k].name))
            return (uint32_t)k;
    return TRL_NO_LAYER;
}

uint32_t trl_graph_spec_column(const trl_graph_spec *s, size_t column)
{
    for (size_t k = 0; k < s->n_layers; k++)
        if (s->layer[k].column == column)
            return (uint32_t)k;
    return TRL_NO_LAYER;
}

trl_status trl_spec_find_layer(trl_spec_scan *s, trl_str name, trl_spec_place at, uint32_t *out)
{
    *out = trl_graph_spec_layer(s->spec, name);
    if (*out != TRL_NO_LAYER)
        return TRL_OK;
    const trl_status st = trl_spec_fail(s, at, "there are no labels '%.*s'", TRL_SPEC_CUT(name));
    return trl_fail_hint(s->err, st, "a line before must say: labels %.*s column N",
                         TRL_SPEC_CUT(name));
}

/* ---- unit, labels, score, template ----------------------------------------------------------- */

static trl_status read_unit(trl_spec_scan *s)
{
    const trl_str word = trl_spec_peek(s);
    s->spec->document = trl_spec_is(word, "document");
    if (!s->spec->document && !trl_spec_is(word, "sentence"))
        return trl_spec_fail(s, trl_spec_here(s), "sentence or document expected after unit");
    trl_spec_word(s);
    return TRL_OK;
}

static trl_status read_labels(trl_spec_scan *s)
{
    trl_graph_spec *x = s->spec;
    trl_str name;
    trl_spec_place at;
    int64_t column = 0;
    trl_status st = trl_spec_name(s, "a name for the labels", &name, &at);
    if (st == TRL_OK && trl_graph_spec_layer(x, name) != TRL_NO_LAYER)
        st = trl_spec_fail(s, at, "there are labels '%.*s' already", TRL_SPEC_CUT(name));
    if (st == TRL_OK && x->n_layers == TRL_LAYERS_MAX)
        st = trl_spec_fail(s, at, "more than %d kinds of labels", TRL_LAYERS_MAX);
    if (st == TRL_OK && !trl_spec_is(trl_spec_word(s), "column"))
        st = trl_spec_fail(s, at,
                           "column and its number expected after the name: labels "
                           "%.*s column 1",
                           TRL_SPEC_CUT(name));
    if (st != TRL_OK)
        return st;
    trl_spec_more(s);
    const trl_spec_place where = trl_spec_here(s);
    st = trl_spec_number(s, "the number of a column, from 0 on", &column);
    if (st == TRL_OK && trl_graph_spec_column(x, (size_t)column) != TRL_NO_LAYER)
        st =
            trl_spec_fail(s, where, "column %lld has the labels of '%s' already", (long long)column,
                          x->layer[trl_graph_spec_column(x, (size_t)column)].name);
    if (st != TRL_OK)
        return st;
    char *copy = trl_strndup(name.p, name.n);
    if (!copy)
        return trl_fail_mem(s->err);
    x->layer[x->n_layers++] = (trl_layer){copy, (size_t)column, where.row, where.col};
    return TRL_OK;
}

static trl_status read_score(trl_spec_scan *s)
{
    trl_str name;
    trl_spec_place at;
    const trl_status st = trl_spec_name(s, "the name of labels", &name, &at);
    return st == TRL_OK ? trl_spec_find_layer(s, name, at, &s->spec->scored) : st;
}

uint32_t trl_spec_find_template(const trl_graph_spec *x, trl_str name)
{
    for (size_t k = 0; k < x->n_templates; k++)
        if (trl_spec_is(name, x->tpl[k].name))
            return (uint32_t)k;
    return UINT32_MAX;
}

trl_status trl_spec_add_template(trl_spec_scan *s, trl_str name, uint32_t *out)
{
    trl_graph_spec *x = s->spec;
    trl_spec_template *all = trl_reserve(x->tpl, &x->template_cap, x->n_templates + 1, sizeof *all);
    char *copy = trl_strndup(name.p, name.n);
    if (all)
        x->tpl = all;
    if (!all || !copy) {
        trl_free(copy);
        return trl_fail_mem(s->err);
    }
    all[x->n_templates] = (trl_spec_template){.name = copy};
    *out = (uint32_t)x->n_templates++;
    return TRL_OK;
}

/* The indented lines as they are, without their indents: `lines` gets the text, `place` where each
 * of them starts. */
static trl_status read_lines(trl_spec_scan *s, trl_buf *lines, trl_spec_place **place, size_t *n)
{
    size_t cap = 0;
    while (trl_spec_more(s)) {
        const char *to = s->p;
        while (to < s->end && *to != '\n')
            to++;
        trl_spec_place *all = trl_reserve(*place, &cap, *n + 1, sizeof *all);
        if (!all)
            return trl_fail_mem(s->err);
        *place = all;
        all[(*n)++] = trl_spec_here(s);
        trl_buf_add(lines, s->p, (size_t)(to - s->p));
        trl_buf_ch(lines, '\n');
        s->p = to;
    }
    return lines->failed ? trl_fail_mem(s->err) : TRL_OK;
}

/* Every line makes attributes: those that are empty or a comment were left out. */
static trl_status parse_lines(trl_spec_scan *s, const trl_buf *lines, const trl_spec_place *place,
                              size_t n, trl_spec_template *out)
{
    trl_status st = trl_template_parse(s->name, lines->data, lines->len, &out->tpl, s->err);
    if (st == TRL_EPARSE && s->err && s->err->row > 0 && s->err->row <= n) {
        const trl_spec_place at = place[s->err->row - 1];
        return trl_spec_at(s, st,
                           (trl_spec_place){at.row, at.col + (s->err->col ? s->err->col - 1 : 0)});
    }
    if (st != TRL_OK)
        return st;
    if (trl_template_list(out->tpl))
        return trl_spec_fail(s, place[0],
                             "templates of graphs are CRF++'s or Wapiti's, not in words");
    out->row = trl_zalloc(n + 1, sizeof *out->row);
    if (!out->row)
        return trl_fail_mem(s->err);
    if (trl_template_count(out->tpl) != n)
        return trl_spec_fail(s, place[0], "a line of this template makes no feature");
    for (size_t k = 0; k < n; k++)
        out->row[k] = place[k].row;
    return TRL_OK;
}

static trl_status read_template(trl_spec_scan *s)
{
    trl_graph_spec *x = s->spec;
    trl_str name;
    trl_spec_place at, *place = NULL;
    trl_buf lines = {0};
    size_t n = 0;
    uint32_t k = 0;
    trl_status st = trl_spec_name(s, "a name for the template", &name, &at);
    if (st == TRL_OK &&
        (trl_spec_find_template(x, name) != UINT32_MAX || trl_spec_is(name, "attributes")))
        st = trl_spec_fail(s, at, "there is a template '%.*s' already", TRL_SPEC_CUT(name));
    if (st == TRL_OK && x->n_templates == TEMPLATES_MAX)
        st = trl_spec_fail(s, at, "more than %d templates", TEMPLATES_MAX);
    if (st == TRL_OK)
        st = trl_spec_add_template(s, name, &k);
    if (st != TRL_OK)
        return st;
    st = read_lines(s, &lines, &place, &n);
    if (st == TRL_OK && n == 0)
        st = trl_spec_fail(s, at,
                           "the template '%.*s' has no lines: they are indented, as in "
                           "'  U00:%%x[0,0]'",
                           TRL_SPEC_CUT(name));
    if (st == TRL_OK)
        st = parse_lines(s, &lines, place, n, &x->tpl[k]);
    trl_buf_fini(&lines);
    trl_free(place);
    return st;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static trl_status read_piece(trl_spec_scan *s)
{
    trl_graph_spec *x = s->spec;
    uint32_t number = 0;
    for (size_t k = 0; k < x->n_factors; k++)
        if (x->piece[k] != TRL_NO_PIECE && x->piece[k] >= number)
            number = x->piece[k] + 1;
    trl_status st = TRL_OK;
    do {
        trl_str name;
        trl_spec_place at;
        size_t k = 0;
        st = trl_spec_name(s, "the name of a factor", &name, &at);
        while (st == TRL_OK && k < x->n_factors && !trl_spec_is(name, x->factor[k].name))
            k++;
        if (st == TRL_OK && k == x->n_factors) {
            st = trl_spec_fail(s, at, "there is no factor '%.*s'", TRL_SPEC_CUT(name));
            trl_fail_hint(s->err, st, "a factor gets a name before a colon: factor %.*s: ...",
                          TRL_SPEC_CUT(name));
        }
        if (st == TRL_OK && x->piece[k] != TRL_NO_PIECE)
            st =
                trl_spec_fail(s, at, "the factor '%.*s' is in a piece already", TRL_SPEC_CUT(name));
        if (st == TRL_OK)
            x->piece[k] = number;
    } while (st == TRL_OK && trl_spec_more(s));
    return st;
}

/* ---- the file -------------------------------------------------------------------------------- */

typedef struct statement {
    const char *word;
    trl_status (*read)(trl_spec_scan *s);
} statement;

static const statement statements[] = {
    {"unit", read_unit},         {"labels", read_labels},     {"score", read_score},
    {"template", read_template}, {"factor", trl_spec_factor}, {"piece", read_piece},
};

static trl_status read_statement(trl_spec_scan *s)
{
    const trl_spec_place at = trl_spec_here(s);
    if (at.col > 1)
        return trl_spec_fail(s, at, "an indented line continues the one before, and there is none");
    const trl_str word = trl_spec_word(s);
    for (size_t k = 0; k < sizeof statements / sizeof *statements; k++)
        if (trl_spec_is(word, statements[k].word)) {
            const trl_status st = statements[k].read(s);
            return st == TRL_OK && trl_spec_more(s)
                       ? trl_spec_fail(s, trl_spec_here(s), "the end of the line expected")
                       : st;
        }
    return trl_spec_fail(s, at, "unit, labels, score, template, factor or piece expected");
}

static bool in_factor(const trl_graph_spec *x, uint32_t layer)
{
    for (size_t f = 0; f < x->n_factors; f++)
        for (size_t k = 0; k < x->factor[f].n; k++)
            if (x->factor[f].layer[k] == layer)
                return true;
    return false;
}

static trl_status read_all(trl_graph_spec *x, const char *name, trl_error *err)
{
    trl_spec_scan s = {.spec = x,
                       .name = name,
                       .line = x->text,
                       .p = x->text,
                       .end = x->text + x->text_len,
                       .row = 1,
                       .err = err};
    if (x->text_len >= 3 && memcmp(x->text, "\xef\xbb\xbf", 3) == 0)
        s.line = s.p = x->text + 3;
    trl_status st = TRL_OK;
    while (st == TRL_OK && trl_spec_next(&s))
        st = read_statement(&s);
    if (st == TRL_OK && x->n_factors == 0)
        st = trl_spec_at(&s, trl_fail(err, TRL_EPARSE, "there is no factor in it"),
                         (trl_spec_place){0, 0});
    for (uint32_t k = 0; st == TRL_OK && k < x->n_layers; k++)
        if (!in_factor(x, k))
            st = trl_spec_at(
                &s, trl_fail(err, TRL_EPARSE, "no factor has the labels '%s'", x->layer[k].name),
                (trl_spec_place){x->layer[k].row, 0});
    for (size_t k = 0; st == TRL_OK && x->attributes && k < x->n_templates; k++)
        if (x->tpl[k].tpl)
            st = trl_spec_at(&s,
                             trl_fail(err, TRL_EPARSE,
                                      "features attributes are those of the data: there are no "
                                      "cells for a template"),
                             (trl_spec_place){x->tpl[k].row[0], 0});
    return st;
}

trl_status trl_graph_spec_parse(const char *name, const char *text, size_t n, trl_graph_spec **out,
                                trl_error *err)
{
    if (trl_grmm_templates_here(text, n))
        return trl_grmm_templates_parse(name, text, n, out, err);
    trl_graph_spec *x = trl_zalloc(1, sizeof *x);
    if (x)
        x->text = trl_strndup(n ? text : "", n);
    if (!x || !x->text) {
        trl_graph_spec_free(x);
        return trl_fail_mem(err);
    }
    x->text_len = n;
    x->scored = TRL_NO_LAYER;
    const trl_status st = read_all(x, name, err);
    if (st == TRL_OK)
        *out = x;
    else
        trl_graph_spec_free(x);
    return st;
}

static void free_value(trl_spec_value *v)
{
    trl_template_free(v->tpl);
    trl_word_regex_free(v->re);
}

void trl_graph_spec_free(trl_graph_spec *s)
{
    if (!s)
        return;
    for (size_t k = 0; k < s->n_layers; k++)
        trl_free(s->layer[k].name);
    for (size_t k = 0; k < s->n_templates; k++) {
        trl_free(s->tpl[k].name);
        trl_free(s->tpl[k].row);
        trl_template_free(s->tpl[k].tpl);
    }
    for (size_t k = 0; k < s->n_factors; k++)
        trl_free(s->factor[k].name);
    for (size_t k = 0; k < s->n_values; k++)
        free_value(&s->value[k]);
    trl_free(s->tpl);
    trl_free(s->condition);
    trl_free(s->value);
    trl_free(s->text);
    trl_free(s);
}
