/* spec_condition.c -- conditions on tokens.
 *
 *     condition   all { "or" all }
 *     all         one { "and" one }
 *     one         "not" one  |  "(" condition ")"  |  "same" "sentence"
 *              |  j - i <= N  |  < N  |  >= N  |  > N  |  = N
 *              |  %t[i,0,"re"]  |  value = value  |  value != value  |  value ~ "re"
 *     value       %x[i,0] %X[i,0] %m[i,0,"re"] %M.. %t.. "text"
 *
 * The expressions of macros see bytes (feature/pattern_regex.h), that of ~ the characters of UTF-8
 * (text/word_regex.h).
 */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "graph_model/spec_scan.h"
#include "text/word_regex.h"

#define DEPTH_MAX 50 /* of brackets and not */

static trl_status read_or(trl_spec_scan *s, int depth, uint32_t *out);

static trl_status add_condition(trl_spec_scan *s, trl_condition c, uint32_t *out)
{
    trl_graph_spec *x = s->spec;
    trl_condition *all =
        trl_reserve(x->condition, &x->condition_cap, x->n_conditions + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(s->err);
    x->condition = all;
    all[x->n_conditions] = c;
    *out = (uint32_t)x->n_conditions++;
    return TRL_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static trl_status add_value(trl_spec_scan *s, const trl_spec_value *v, uint32_t *out)
{
    trl_graph_spec *x = s->spec;
    trl_spec_value *all = trl_reserve(x->value, &x->value_cap, x->n_values + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(s->err);
    x->value = all;
    all[x->n_values] = *v;
    *out = (uint32_t)x->n_values++;
    return TRL_OK;
}

/* From a quote to where the text after its end is; NULL: it does not end on its line. */
static const char *after_quotes(const trl_spec_scan *s)
{
    const char *q = s->p + 1;
    while (q < s->end && *q != '"' && *q != '\n')
        q += *q == '\\' && q + 1 < s->end && q[1] != '\n' ? 2 : 1;
    return q < s->end && *q == '"' ? q + 1 : NULL;
}

/* What stands between the token and the closing bracket of a macro, as it is. */
static trl_status macro_rest(trl_spec_scan *s, trl_str *out)
{
    const trl_spec_place at = trl_spec_here(s);
    const char *from = s->p;
    while (s->p < s->end && *s->p != ']' && *s->p != '\n') {
        const char *q = *s->p == '"' ? after_quotes(s) : s->p + 1;
        if (!q)
            return trl_spec_fail(s, trl_spec_here(s), "a closing quote is missing");
        s->p = q;
    }
    if (s->p == s->end || *s->p != ']')
        return trl_spec_fail(s, at, "']' expected to end the macro");
    s->p++;
    *out = (trl_str){from, (size_t)(s->p - from)};
    return TRL_OK;
}

/* A macro is a template of one line: %x[i-1,0] is U%x[-1,0]. */
static trl_status read_macro(trl_spec_scan *s, trl_spec_value *v)
{
    trl_token_place at;
    trl_str rest = {"", 0};
    const char *letter = s->p + 1;
    if (letter >= s->end || !memchr("xXtTmM", *letter, 6))
        return trl_spec_fail(s, trl_spec_here(s), "%%x, %%t or %%m expected");
    s->p += 2;
    trl_status st = trl_spec_expect(s, "[", "after the macro's letter");
    if (st == TRL_OK)
        st = trl_spec_token(s, &at);
    trl_spec_more(s);
    const trl_spec_place from = trl_spec_here(s);
    if (st == TRL_OK)
        st = macro_rest(s, &rest);
    if (st != TRL_OK)
        return st;
    trl_buf b = {0};
    trl_buf_fmt(&b, "U%%%c[%d", *letter, at.offset);
    const size_t before = b.len;
    trl_buf_add(&b, rest.p, rest.n);
    st = b.failed ? trl_fail_mem(s->err)
                  : trl_template_parse(s->name, b.data, b.len, &v->tpl, s->err);
    if (st == TRL_EPARSE) {
        const uint64_t col = s->err && s->err->col > before ? s->err->col - before - 1 : 0;
        trl_spec_at(s, st, (trl_spec_place){from.row, from.col + col});
    }
    v->j = at.j;
    trl_buf_fini(&b);
    return st;
}

static trl_status read_value(trl_spec_scan *s, uint32_t *out)
{
    trl_spec_more(s);
    const trl_spec_place at = trl_spec_here(s);
    trl_spec_value v = {.row = at.row, .col = at.col};
    trl_status st = TRL_OK;
    if (s->p < s->end && *s->p == '"') {
        const char *to = after_quotes(s);
        if (!to)
            return trl_spec_fail(s, at, "a closing quote is missing");
        v.literal = true;
        v.text = (trl_str){s->p + 1, (size_t)(to - s->p) - 2};
        s->p = to;
    } else if (s->p < s->end && *s->p == '%') {
        st = read_macro(s, &v);
    } else {
        return trl_spec_fail(s, at,
                             "a condition expected: %%x[i,0] = %%x[j,0], %%x[i,0] ~ \"^\\u\", "
                             "j-i <= 20, same sentence, not, and, or");
    }
    if (st == TRL_OK)
        st = add_value(s, &v, out);
    if (st != TRL_OK)
        trl_template_free(v.tpl);
    return st;
}

/* ---- conditions ------------------------------------------------------------------------------ */

static trl_status read_distance(trl_spec_scan *s, uint32_t *out)
{
    trl_condition c = {.kind = TRL_COND_DISTANCE, .least = 1, .most = INT64_MAX};
    int64_t n = 0;
    trl_spec_word(s);
    trl_status st = trl_spec_expect(s, "-", "in j-i <= 20");
    trl_spec_more(s);
    const trl_spec_place at = trl_spec_here(s);
    if (st == TRL_OK && !trl_spec_is(trl_spec_word(s), "i"))
        st = trl_spec_fail(s, at, "i expected in j-i <= 20");
    if (st != TRL_OK)
        return st;
    const char *const signs[] = {"<=", ">=", "<", ">", "="};
    size_t k = 0;
    while (k < 5 && !trl_spec_take(s, signs[k]))
        k++;
    if (k == 5)
        return trl_spec_fail(s, trl_spec_here(s), "<=, <, >=, > or = expected after j-i");
    st = trl_spec_number(s, "a distance", &n);
    if (k == 0 || k == 2)
        c.most = k == 0 ? n : n - 1;
    else
        c.least = k == 3 ? n + 1 : n;
    if (k == 4)
        c.most = n;
    return st == TRL_OK ? add_condition(s, c, out) : st;
}

/* The expression after ~, which makes a test of the value. */
static trl_status read_match(trl_spec_scan *s, trl_condition c, uint32_t *out)
{
    trl_spec_more(s);
    const trl_spec_place at = trl_spec_here(s);
    const char *from = s->p, *to = s->p < s->end && *s->p == '"' ? after_quotes(s) : NULL;
    trl_spec_value *v = &s->spec->value[c.a];
    size_t wrong = 0;
    if (!to)
        return trl_spec_fail(s, at, "an expression in quotes expected after ~");
    if (v->literal)
        return trl_spec_fail(s, at, "~ needs the text of a token before it: %%x[i,0] ~ \"^\\u\"");
    s->p = to;
    const trl_status st =
        trl_word_regex_new((trl_str){from + 1, (size_t)(to - from) - 2}, &v->re, &wrong, s->err);
    if (st == TRL_EPARSE)
        trl_spec_at(s, st, (trl_spec_place){at.row, at.col + 1 + wrong});
    c.kind = TRL_COND_TEST;
    return st == TRL_OK ? add_condition(s, c, out) : st;
}

/* value = value, value != value, value ~ "re", or a test alone. */
static trl_status read_comparison(trl_spec_scan *s, uint32_t *out)
{
    trl_condition c = {.kind = TRL_COND_EQUAL};
    trl_spec_more(s);
    const trl_spec_place at = trl_spec_here(s);
    const bool test = s->end - s->p > 1 && *s->p == '%' && (s->p[1] | 0x20) == 't';
    trl_status st = read_value(s, &c.a);
    if (st != TRL_OK)
        return st;
    if (trl_spec_take(s, "~"))
        return read_match(s, c, out);
    const bool differ = trl_spec_take(s, "!=");
    if (!differ && !trl_spec_take(s, "=")) {
        c.kind = TRL_COND_TEST;
        return test ? add_condition(s, c, out)
                    : trl_spec_fail(s, at,
                                    "=, != or ~ expected after a value: only %%t is a "
                                    "condition by itself");
    }
    st = read_value(s, &c.b);
    const trl_spec_value *v = s->spec->value;
    if (st == TRL_OK && v[c.a].literal && v[c.b].literal)
        st = trl_spec_fail(s, at, "two texts are compared: neither is of a token");
    if (st == TRL_OK)
        st = add_condition(s, c, out);
    const uint32_t equal = *out;
    return st == TRL_OK && differ
               ? add_condition(s, (trl_condition){.kind = TRL_COND_NOT, .a = equal}, out)
               : st;
}

static trl_status read_one(trl_spec_scan *s, int depth, uint32_t *out)
{
    const trl_str word = trl_spec_peek(s);
    const trl_spec_place at = trl_spec_here(s);
    if (depth > DEPTH_MAX)
        return trl_spec_fail(s, at, "more than %d brackets inside each other", DEPTH_MAX);
    if (trl_spec_is(word, "not")) {
        trl_condition c = {.kind = TRL_COND_NOT};
        trl_spec_word(s);
        const trl_status st = read_one(s, depth + 1, &c.a);
        return st == TRL_OK ? add_condition(s, c, out) : st;
    }
    if (trl_spec_is(word, "same")) {
        trl_spec_word(s);
        if (!trl_spec_is(trl_spec_word(s), "sentence"))
            return trl_spec_fail(s, at, "same sentence expected");
        return add_condition(s, (trl_condition){.kind = TRL_COND_SENTENCE}, out);
    }
    if (trl_spec_is(word, "j"))
        return read_distance(s, out);
    if (trl_spec_take(s, "(")) {
        const trl_status st = read_or(s, depth + 1, out);
        return st == TRL_OK ? trl_spec_expect(s, ")", "to close a bracket") : st;
    }
    return read_comparison(s, out);
}

static trl_status read_and(trl_spec_scan *s, int depth, uint32_t *out)
{
    trl_status st = read_one(s, depth, out);
    while (st == TRL_OK && trl_spec_is(trl_spec_peek(s), "and")) {
        trl_condition c = {.kind = TRL_COND_AND, .a = *out};
        trl_spec_word(s);
        st = read_one(s, depth, &c.b);
        if (st == TRL_OK)
            st = add_condition(s, c, out);
    }
    return st;
}

static trl_status read_or(trl_spec_scan *s, int depth, uint32_t *out)
{
    trl_status st = read_and(s, depth, out);
    while (st == TRL_OK && trl_spec_is(trl_spec_peek(s), "or")) {
        trl_condition c = {.kind = TRL_COND_OR, .a = *out};
        trl_spec_word(s);
        st = read_and(s, depth, &c.b);
        if (st == TRL_OK)
            st = add_condition(s, c, out);
    }
    return st;
}

trl_status trl_spec_condition(trl_spec_scan *s, uint32_t *out)
{
    return read_or(s, 0, out);
}
