/* unroll.c -- instances of factors, and what they see. */
/* SPDX-License-Identifier: MIT */
#include "graph_model/unroll.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define FACTORS_MAX 10000000

typedef struct unroller {
    const trl_graph_spec *s;
    const size_t *n_labels;
    const trl_graph_unit *u;
    trl_unrolled *out;
    trl_token_values values;
    trl_error *err;
    uint32_t family; /* that is being unrolled */
    size_t cells;
    uint32_t shared; /* its table of instances without attributes; UINT32_MAX: not yet */
    uint32_t n_tables;
    size_t n_attrs;
} unroller;

/* The token of a place; false: outside the sentence of i or j. */
static bool find_token(const unroller *x, trl_token_place at, size_t i, size_t j, size_t *out)
{
    const size_t base = at.j ? j : i, q = x->u->sentence[base];
    const int64_t t = (int64_t)base + at.offset;
    if (t < (int64_t)x->u->first[q] || t >= (int64_t)x->u->first[q + 1])
        return false;
    *out = (size_t)t;
    return true;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* Names are offsets until all are there. */
static bool add_attr(unroller *x, trl_str prefix, trl_str name, double value)
{
    trl_unrolled *o = x->out;
    trl_attr *all = trl_reserve(o->attr, &o->attr_cap, x->n_attrs + 1, sizeof *all);
    if (!all)
        return false;
    o->attr = all;
    const size_t at = o->names.len;
    if (!trl_buf_add(&o->names, prefix.p, prefix.n) || !trl_buf_add(&o->names, name.p, name.n))
        return false;
    all[x->n_attrs++] = (trl_attr){{(const char *)(uintptr_t)at, prefix.n + name.n}, value};
    return true;
}

/* Is the name among the attributes from `from` on? */
static bool pooled_already(const unroller *x, size_t from, trl_str name)
{
    for (size_t k = from; k < x->n_attrs; k++) {
        const trl_str s = x->out->attr[k].name;
        if (s.n == name.n && memcmp(x->out->names.data + (uintptr_t)s.p, name.p, s.n) == 0)
            return true;
    }
    return false;
}

/* "[i-1]", where a factor sees several tokens apart. */
static trl_str sight_prefix(const trl_sight *g, size_t k, char scratch[24])
{
    if (g->n == 1 || g->pooled)
        return (trl_str){"", 0};
    char digits[12];
    size_t n = 0, d = 0;
    int64_t v = g->at[k].offset < 0 ? -(int64_t)g->at[k].offset : g->at[k].offset;
    scratch[n++] = '[';
    scratch[n++] = g->at[k].j ? 'j' : 'i';
    if (v)
        scratch[n++] = g->at[k].offset < 0 ? '-' : '+';
    for (; v; v /= 10)
        digits[d++] = (char)('0' + v % 10);
    while (d)
        scratch[n++] = digits[--d];
    scratch[n++] = ']';
    return (trl_str){scratch, n};
}

/* What the sight sees at one token; attributes from `from` on are its own. */
static bool see_token(unroller *x, const trl_sight *g, size_t token, trl_str prefix, size_t from)
{
    const trl_template *tpl = x->s->tpl[g->of].tpl;
    trl_buf *b = &x->out->scratch;
    if (!tpl) {
        for (size_t k = x->u->attr_begin[token]; k < x->u->attr_begin[token + 1]; k++) {
            const trl_attr *a = &x->u->attr[k];
            if ((!g->pooled || !pooled_already(x, from, a->name)) &&
                !add_attr(x, prefix, a->name, a->value))
                return false;
        }
        return true;
    }
    const size_t q = x->u->sentence[token];
    const trl_rows rows = trl_graph_unit_rows(x->u, q);
    for (size_t k = 0; k < trl_template_count(tpl); k++) {
        b->len = 0;
        if (!trl_template_expand(tpl, k, &rows, token - x->u->first[q], b))
            return false;
        const trl_str name = {b->data, b->len};
        if ((!g->pooled || !pooled_already(x, from, name)) && !add_attr(x, prefix, name, 1.0))
            return false;
    }
    return true;
}

static bool see(unroller *x, const trl_factor_spec *f, size_t i, size_t j)
{
    char scratch[24];
    for (size_t k = 0; k < f->n_sights; k++) {
        const trl_sight *g = &f->sight[k];
        const size_t from = x->n_attrs;
        for (size_t p = 0; p < g->n; p++) {
            size_t token;
            if (find_token(x, g->at[p], i, j, &token) &&
                !see_token(x, g, token, sight_prefix(g, p, scratch), from))
                return false;
        }
    }
    return true;
}

/* ---- instances ------------------------------------------------------------------------------- */

static trl_status new_table(unroller *x, uint32_t *out)
{
    const trl_status st = trl_graph_add_table(x->out->graph, x->cells, NULL, x->err);
    *out = x->n_tables++;
    return st;
}

static trl_status reserve(unroller *x)
{
    trl_unrolled *o = x->out;
    const size_t n = o->n_factors;
    if (n >= FACTORS_MAX) {
        const trl_status st =
            trl_fail(x->err, TRL_EINVAL, "more than %d factors in one graph", FACTORS_MAX);
        return trl_graph_unit_where(x->u, st, 0, x->err);
    }
    uint32_t *family = trl_reserve(o->family, &o->family_cap, n + 1, sizeof *family);
    if (family)
        o->family = family;
    size_t *begin = trl_reserve(o->begin, &o->begin_cap, n + 2, sizeof *begin);
    if (begin)
        o->begin = begin;
    return family && begin ? TRL_OK : trl_fail_mem(x->err);
}

/* The variables of an instance; false: one is outside, or one is there twice. */
static bool find_scope(const unroller *x, const trl_factor_spec *f, size_t i, size_t j,
                       uint32_t *scope)
{
    for (size_t k = 0; k < f->n; k++) {
        size_t token;
        if (!find_token(x, f->at[k], i, j, &token))
            return false;
        scope[k] = (uint32_t)(token * x->s->n_layers + f->layer[k]);
        for (size_t b = 0; b < k; b++)
            if (scope[b] == scope[k])
                return false;
    }
    return true;
}

static trl_status add_instance(void *ctx, size_t i, size_t j)
{
    unroller *x = ctx;
    trl_unrolled *o = x->out;
    const trl_factor_spec *f = &x->s->factor[x->family];
    uint32_t scope[TRL_GRAPH_SCOPE_MAX], table = UINT32_MAX;
    if (!find_scope(x, f, i, j, scope))
        return TRL_OK;
    trl_status st = reserve(x);
    if (st != TRL_OK)
        return st;
    o->begin[o->n_factors] = x->n_attrs;
    if (!see(x, f, i, j))
        return trl_fail_mem(x->err);
    uint32_t *own = x->n_attrs > o->begin[o->n_factors] ? &table : &x->shared;
    if (*own == UINT32_MAX)
        st = new_table(x, own);
    if (st != TRL_OK)
        return st;
    o->family[o->n_factors++] = x->family;
    o->begin[o->n_factors] = x->n_attrs;
    return trl_graph_add_factor(o->graph, f->n, scope, *own, x->err);
}

static trl_status unroll_factor(unroller *x)
{
    const trl_factor_spec *f = &x->s->factor[x->family];
    x->cells = trl_factor_spec_cells(f, x->n_labels);
    x->shared = UINT32_MAX;
    trl_status st = TRL_OK;
    if (f->pairs)
        return trl_pairs(&x->values, f, add_instance, x, x->err);
    for (size_t t = 0; st == TRL_OK && t < x->u->n_tokens; t++)
        if (trl_condition_holds(&x->values, f, t, t))
            st = add_instance(x, t, t);
    return st;
}

static trl_status add_variables(unroller *x)
{
    trl_status st = TRL_OK;
    for (size_t t = 0; st == TRL_OK && t < x->u->n_tokens; t++)
        for (size_t k = 0; st == TRL_OK && k < x->s->n_layers; k++)
            st = trl_graph_add_variable(x->out->graph, (uint32_t)x->n_labels[k], x->err);
    return st;
}

trl_status trl_unroll(const trl_graph_spec *s, const size_t *n_labels, const trl_graph_unit *unit,
                      trl_unrolled *out, trl_error *err)
{
    unroller x = {.s = s, .n_labels = n_labels, .u = unit, .out = out, .err = err};
    trl_graph_free(out->graph);
    out->graph = NULL;
    out->n_factors = 0;
    out->names.len = 0;
    trl_status st = trl_token_values_init(&x.values, s, unit, err);
    if (st == TRL_OK)
        st = trl_graph_new(&out->graph, err);
    if (st == TRL_OK)
        st = add_variables(&x);
    if (st == TRL_OK)
        st = reserve(&x);
    if (st == TRL_OK)
        out->begin[0] = 0;
    for (; st == TRL_OK && x.family < s->n_factors; x.family++)
        st = unroll_factor(&x);
    for (size_t k = 0; st == TRL_OK && k < x.n_attrs; k++) {
        trl_str *name = &out->attr[k].name;
        name->p = name->n ? out->names.data + (uintptr_t)name->p : "";
    }
    trl_token_values_fini(&x.values);
    return st;
}

void trl_unrolled_fini(trl_unrolled *u)
{
    trl_graph_free(u->graph);
    trl_free(u->family);
    trl_free(u->begin);
    trl_free(u->attr);
    trl_buf_fini(&u->names);
    trl_buf_fini(&u->scratch);
    *u = (trl_unrolled){0};
}
