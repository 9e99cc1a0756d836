/* unroll_pairs.c -- which tokens meet a condition.
 *
 * A condition that demands two equal values is answered from the lists of tokens that share a
 * value; a distance bounds the search; otherwise all pairs are tried.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "graph_model/unroll.h"
#include "text/word_forms.h"
#include "text/word_regex.h"

/* ---- values ---------------------------------------------------------------------------------- */

/* Whether the text matches the value's expression, as %t says it. */
static trl_str match(const trl_spec_value *x, trl_str text, size_t *scratch)
{
    trl_str found;
    return trl_word_regex_find(x->re, text, scratch, &found) ? TRL_STR("true") : TRL_STR("false");
}

/* Of value k at all tokens.  The first letter of an attribute is its line's, not the value's. */
static trl_status number_value(trl_token_values *v, size_t k, trl_strtab *seen, trl_buf *b,
                               size_t *scratch, trl_error *err)
{
    const trl_spec_value *x = &v->s->value[k];
    uint32_t *id = v->id + k * v->u->n_tokens;
    for (size_t q = 0; q < v->u->n_sentences; q++) {
        const trl_rows rows = trl_graph_unit_rows(v->u, q);
        for (size_t t = 0; t < rows.n_tokens; t++) {
            trl_str text = x->text;
            if (!x->literal) {
                b->len = 0;
                if (!trl_template_expand(x->tpl, 0, &rows, t, b))
                    return trl_fail_mem(err);
                text = (trl_str){b->data + 1, b->len - 1};
            }
            if (x->re)
                text = match(x, text, scratch);
            const uint32_t number = trl_strtab_add(seen, text.p, text.n);
            if (number == TRL_NO_ID)
                return trl_fail_mem(err);
            id[v->u->first[q] + t] = number;
        }
    }
    return TRL_OK;
}

trl_status trl_token_values_init(trl_token_values *v, const trl_graph_spec *s,
                                 const trl_graph_unit *u, trl_error *err)
{
    *v = (trl_token_values){.s = s, .u = u};
    if (s->n_conditions == 0)
        return TRL_OK;
    trl_strtab seen = {0};
    trl_buf scratch = {0};
    v->id = trl_alloc((uint64_t)s->n_values * u->n_tokens, sizeof *v->id);
    v->truth = trl_alloc(s->n_conditions, sizeof *v->truth);
    v->yes = trl_strtab_add(&seen, "true", 4);
    trl_status st = v->id && v->truth && v->yes != TRL_NO_ID ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < s->n_values; k++) {
        const size_t states = s->value[k].re ? trl_word_regex_scratch(s->value[k].re) : 0;
        size_t *numbers = trl_alloc(states, sizeof *numbers);
        st = numbers ? number_value(v, k, &seen, &scratch, numbers, err) : trl_fail_mem(err);
        trl_free(numbers);
    }
    v->n_ids = seen.n;
    trl_strtab_fini(&seen);
    trl_buf_fini(&scratch);
    if (st != TRL_OK)
        trl_token_values_fini(v);
    return st;
}

void trl_token_values_fini(trl_token_values *v)
{
    trl_free(v->id);
    trl_free(v->truth);
    *v = (trl_token_values){0};
}

static uint32_t value_at(const trl_token_values *v, uint32_t k, size_t i, size_t j)
{
    return v->id[k * v->u->n_tokens + (v->s->value[k].j ? j : i)];
}

bool trl_condition_holds(const trl_token_values *v, const trl_factor_spec *f, size_t i, size_t j)
{
    if (f->where == TRL_NO_CONDITION)
        return true;
    const trl_condition *c = v->s->condition;
    bool *truth = v->truth; /* those inside others come first */
    for (uint32_t k = f->where_first; k <= f->where; k++)
        switch (c[k].kind) {
        case TRL_COND_AND:
            truth[k] = truth[c[k].a] && truth[c[k].b];
            break;
        case TRL_COND_OR:
            truth[k] = truth[c[k].a] || truth[c[k].b];
            break;
        case TRL_COND_NOT:
            truth[k] = !truth[c[k].a];
            break;
        case TRL_COND_TEST:
            truth[k] = value_at(v, c[k].a, i, j) == v->yes;
            break;
        case TRL_COND_EQUAL:
            truth[k] = value_at(v, c[k].a, i, j) == value_at(v, c[k].b, i, j);
            break;
        case TRL_COND_DISTANCE:
            truth[k] = (int64_t)(j - i) >= c[k].least && (int64_t)(j - i) <= c[k].most;
            break;
        case TRL_COND_SENTENCE:
            truth[k] = v->u->sentence[i] == v->u->sentence[j];
            break;
        }
    return truth[f->where];
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* What must hold in any case, as far as it helps the search. */
typedef struct bounds {
    size_t least, most;
    const uint32_t *of_i, *of_j; /* [n_tokens] values that must be equal; NULL: none */
} bounds;

static bounds find_bounds(const trl_token_values *v, const trl_factor_spec *f)
{
    const trl_condition *c = v->s->condition;
    bounds b = {.least = 1, .most = v->u->n_tokens};
    bool *must = v->truth; /* reached by `and` alone */
    memset(must + f->where_first, 0, (f->where - f->where_first + 1) * sizeof *must);
    must[f->where] = true;
    for (uint32_t k = f->where + 1; k-- > f->where_first;) {
        if (!must[k])
            continue;
        if (c[k].kind == TRL_COND_AND)
            must[c[k].a] = must[c[k].b] = true;
        if (c[k].kind == TRL_COND_DISTANCE) {
            if (c[k].least > 0 && (uint64_t)c[k].least > b.least)
                b.least = (size_t)c[k].least;
            if ((uint64_t)(c[k].most < 0 ? 0 : c[k].most) < b.most)
                b.most = (size_t)(c[k].most < 0 ? 0 : c[k].most);
        }
        if (c[k].kind != TRL_COND_EQUAL)
            continue;
        const bool a = v->s->value[c[k].a].j, z = v->s->value[c[k].b].j;
        if (a != z && !v->s->value[c[k].a].literal && !v->s->value[c[k].b].literal) {
            b.of_i = v->id + (a ? c[k].b : c[k].a) * v->u->n_tokens;
            b.of_j = v->id + (a ? c[k].a : c[k].b) * v->u->n_tokens;
        }
    }
    return b;
}

/* next[t]: the first token after t with the same value of j; start[id]: the first of all. */
static void link_equal(const bounds *b, size_t n, uint32_t *start, size_t n_ids, uint32_t *next)
{
    memset(start, 0xff, n_ids * sizeof *start);
    for (size_t t = n; t-- > 0;) {
        next[t] = start[b->of_j[t]];
        start[b->of_j[t]] = (uint32_t)t;
    }
}

static trl_status equal_pairs(const trl_token_values *v, const trl_factor_spec *f, const bounds *b,
                              trl_pair_fn use, void *ctx, trl_error *err)
{
    const size_t n = v->u->n_tokens;
    uint32_t *start = trl_alloc(v->n_ids, sizeof *start), *next = trl_alloc(n, sizeof *next);
    trl_status st = start && next ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK)
        link_equal(b, n, start, v->n_ids, next);
    for (size_t i = 0; st == TRL_OK && i < n; i++) {
        uint32_t *j = &start[b->of_i[i]]; /* tokens before i are not needed any more */
        while (*j != UINT32_MAX && *j <= i)
            *j = next[*j];
        for (uint32_t k = *j; st == TRL_OK && k != UINT32_MAX && k - i <= b->most; k = next[k])
            if (trl_condition_holds(v, f, i, k))
                st = use(ctx, i, k);
    }
    trl_free(start);
    trl_free(next);
    return st;
}

trl_status trl_pairs(const trl_token_values *v, const trl_factor_spec *f, trl_pair_fn use,
                     void *ctx, trl_error *err)
{
    const size_t n = v->u->n_tokens;
    const bounds b = find_bounds(v, f);
    trl_status st = TRL_OK;
    if (b.of_i)
        return equal_pairs(v, f, &b, use, ctx, err);
    for (size_t i = 0; st == TRL_OK && i < n; i++)
        for (size_t j = i + b.least; st == TRL_OK && j < n && j - i <= b.most; j++)
            if (trl_condition_holds(v, f, i, j))
                st = use(ctx, i, j);
    return st;
}
