/* spec_factor.c -- the statement `factor`: variables, condition, features. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "graph_model/spec_scan.h"

#define DISTANCE_MAX 1000 /* of i-1000 */

/* The layer and token of one variable: np[i-1]. */
static trl_status read_member(trl_spec_scan *s, trl_factor_spec *f)
{
    trl_str name;
    trl_spec_place at;
    uint32_t layer = 0;
    trl_status st = trl_spec_name(s, "a label variable, as in np[i]", &name, &at);
    if (st == TRL_OK)
        st = trl_spec_find_layer(s, name, at, &layer);
    if (st == TRL_OK)
        st = trl_spec_expect(s, "[", "after the name of labels, as in np[i]");
    if (st == TRL_OK && f->n == TRL_GRAPH_SCOPE_MAX)
        st = trl_spec_fail(s, at, "a factor has at most %d variables", TRL_GRAPH_SCOPE_MAX);
    if (st == TRL_OK)
        st = trl_spec_token(s, &f->at[f->n]);
    if (st == TRL_OK)
        st = trl_spec_expect(s, "]", "after the token");
    if (st != TRL_OK)
        return st;
    const trl_token_place t = f->at[f->n];
    if (t.offset > DISTANCE_MAX || t.offset < -DISTANCE_MAX)
        return trl_spec_fail(s, at, "more than %d tokens away", DISTANCE_MAX);
    for (size_t k = 0; k < f->n; k++)
        if (f->layer[k] == layer && f->at[k].j == t.j && f->at[k].offset == t.offset)
            return trl_spec_fail(s, at, "the same variable twice in a factor");
    f->layer[f->n++] = layer;
    f->pairs = f->pairs || t.j;
    return TRL_OK;
}

/* `at i, j` and `apart` or `pooled`. */
static trl_status read_sight(trl_spec_scan *s, trl_factor_spec *f)
{
    trl_graph_spec *x = s->spec;
    trl_str name;
    trl_spec_place at;
    trl_status st = trl_spec_name(s, "the name of a template", &name, &at);
    if (st != TRL_OK)
        return st;
    if (f->n_sights == TRL_SIGHTS_MAX)
        return trl_spec_fail(s, at, "more than %d templates in a factor", TRL_SIGHTS_MAX);
    trl_sight *g = &f->sight[f->n_sights];
    *g = (trl_sight){.of = trl_spec_find_template(x, name), .pooled = f->pairs};
    if (g->of == UINT32_MAX && trl_spec_is(name, "attributes")) {
        st = trl_spec_add_template(s, name, &g->of);
        x->attributes = true;
    } else if (g->of == UINT32_MAX) {
        st = trl_spec_fail(s, at, "there is no template '%.*s'", TRL_SPEC_CUT(name));
        return trl_fail_hint(s->err, st, "a line before must say: template %.*s",
                             TRL_SPEC_CUT(name));
    }
    if (st == TRL_OK && trl_spec_is(trl_spec_peek(s), "at")) {
        trl_spec_word(s);
        do {
            if (g->n == TRL_GRAPH_SCOPE_MAX)
                return trl_spec_fail(s, trl_spec_here(s), "more than %d tokens",
                                     TRL_GRAPH_SCOPE_MAX);
            st = trl_spec_token(s, &g->at[g->n]);
            if (st == TRL_OK && g->at[g->n].j && !f->pairs)
                st = trl_spec_fail(s, trl_spec_here(s), "j is not a token of this factor");
            g->n++;
        } while (st == TRL_OK && trl_spec_take(s, ","));
    } else {
        g->n = f->pairs ? 2 : 1;
        g->at[0] = (trl_token_place){0};
        g->at[1] = (trl_token_place){.j = true};
    }
    if (st == TRL_OK &&
        (trl_spec_is(trl_spec_peek(s), "apart") || trl_spec_is(trl_spec_peek(s), "pooled")))
        g->pooled = trl_spec_is(trl_spec_word(s), "pooled");
    f->n_sights++;
    return st;
}

/* One of two words. */
static trl_status read_choice(trl_spec_scan *s, const char *yes, const char *no, bool *out)
{
    const trl_str word = trl_spec_peek(s);
    *out = trl_spec_is(word, yes);
    if (!*out && !trl_spec_is(word, no))
        return trl_spec_fail(s, trl_spec_here(s), "%s or %s expected", yes, no);
    trl_spec_word(s);
    return TRL_OK;
}

static trl_status read_where(trl_spec_scan *s, trl_factor_spec *f, trl_spec_place at)
{
    if (f->where != TRL_NO_CONDITION)
        return trl_spec_fail(s, at, "a second condition: join them by and");
    f->where_first = (uint32_t)s->spec->n_conditions;
    const size_t v = s->spec->n_values;
    const trl_status st = trl_spec_condition(s, &f->where);
    for (size_t k = f->where_first; st == TRL_OK && k < s->spec->n_conditions && !f->pairs; k++)
        if (s->spec->condition[k].kind == TRL_COND_DISTANCE ||
            s->spec->condition[k].kind == TRL_COND_SENTENCE)
            return trl_spec_fail(s, at, "j is not a token of this factor");
    for (size_t k = v; st == TRL_OK && k < s->spec->n_values; k++)
        if (s->spec->value[k].j && !f->pairs)
            return trl_spec_fail(s,
                                 ((trl_spec_place){s->spec->value[k].row, s->spec->value[k].col}),
                                 "j is not a token of this factor");
    return st;
}

static trl_status read_clause(trl_spec_scan *s, trl_factor_spec *f)
{
    const trl_str word = trl_spec_peek(s);
    const trl_spec_place at = trl_spec_here(s);
    trl_spec_word(s);
    if (trl_spec_is(word, "features"))
        return read_sight(s, f);
    if (trl_spec_is(word, "where"))
        return read_where(s, f, at);
    if (trl_spec_is(word, "cells"))
        return read_choice(s, "all", "seen", &f->all_cells);
    if (trl_spec_is(word, "plain"))
        return read_choice(s, "yes", "no", &f->plain);
    return trl_spec_fail(s, at,
                         "a variable as in np[i], or features, where, cells or plain "
                         "expected");
}

/* np[i-1]np[i], for factors that have no name of their own. */
static char *scope_name(const trl_graph_spec *x, const trl_factor_spec *f)
{
    trl_buf b = {0};
    for (size_t k = 0; k < f->n; k++) {
        trl_buf_fmt(&b, "%s[%c", x->layer[f->layer[k]].name, f->at[k].j ? 'j' : 'i');
        if (f->at[k].offset)
            trl_buf_fmt(&b, "%+d", f->at[k].offset);
        trl_buf_ch(&b, ']');
    }
    char *name = b.failed ? NULL : trl_strndup(b.data, b.len);
    trl_buf_fini(&b);
    return name;
}

static bool name_taken(const trl_graph_spec *x, const char *name)
{
    for (size_t k = 0; k + 1 < x->n_factors; k++)
        if (strcmp(x->factor[k].name, name) == 0)
            return true;
    return false;
}

/* A name before a colon. */
static trl_status read_factor_name(trl_spec_scan *s, trl_factor_spec *f)
{
    const trl_spec_scan before = *s;
    const trl_str word = trl_spec_word(s);
    if (word.n == 0 || !trl_spec_take(s, ":")) {
        *s = before;
        return TRL_OK;
    }
    if (word.n > TRL_SPEC_NAME_MAX)
        return trl_spec_fail(s, trl_spec_here(&before), "a name of more than %d letters",
                             TRL_SPEC_NAME_MAX);
    f->name = trl_strndup(word.p, word.n);
    return f->name ? TRL_OK : trl_fail_mem(s->err);
}

static trl_status finish_factor(trl_spec_scan *s, trl_factor_spec *f)
{
    const trl_spec_place at = {f->row, f->col};
    if (f->pairs && f->where == TRL_NO_CONDITION) {
        const trl_status st = trl_spec_fail(s, at, "a factor of i and j needs a condition");
        return trl_fail_hint(s->err, st, "say which tokens: where %%x[i,0] = %%x[j,0]");
    }
    if (!f->plain && f->n_sights == 0)
        return trl_spec_fail(s, at, "a factor without features has no weights: plain yes");
    if (!f->name)
        f->name = scope_name(s->spec, f);
    if (!f->name)
        return trl_fail_mem(s->err);
    if (!name_taken(s->spec, f->name))
        return TRL_OK;
    const trl_status st = trl_spec_fail(s, at, "there is a factor '%s' already", f->name);
    return trl_fail_hint(s->err, st, "give it a name of its own: factor NAME: ...");
}

trl_status trl_spec_factor(trl_spec_scan *s)
{
    trl_graph_spec *x = s->spec;
    const trl_spec_place at = trl_spec_more(s) ? trl_spec_here(s) : trl_spec_here(s);
    if (x->n_factors == TRL_FAMILIES_MAX)
        return trl_spec_fail(s, at, "more than %d kinds of factors", TRL_FAMILIES_MAX);
    trl_factor_spec *f = &x->factor[x->n_factors++];
    *f = (trl_factor_spec){.where = TRL_NO_CONDITION, .plain = true, .row = at.row, .col = at.col};
    x->piece[x->n_factors - 1] = TRL_NO_PIECE;
    trl_status st = read_factor_name(s, f);
    if (st == TRL_OK)
        st = read_member(s, f);
    while (st == TRL_OK && trl_spec_more(s)) {
        const trl_str word = trl_spec_peek(s);
        const char *after = word.p + word.n;
        const bool member = word.n && after < s->end && *after == '[';
        st = member ? read_member(s, f) : read_clause(s, f);
    }
    return st == TRL_OK ? finish_factor(s, f) : st;
}
