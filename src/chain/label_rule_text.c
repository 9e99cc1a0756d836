/* label_rule_text.c -- rules about labels as text. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "chain/label_rules.h"
#include "model/model.h"

/* ---- labels ---------------------------------------------------------------------------------- */

bool trl_labels_of_text(const trl_constraint *c, trl_str text, bool *set, trl_str *bad)
{
    const char *end = text.p + text.n;
    const bool others =
        text.n > 1 && *text.p == '!' && trl_constraint_label(c, text) == TRL_OUTSIDE;
    memset(set, 0, c->set.L * sizeof *set);
    *bad = text;
    if (text.n == 0)
        return false;
    const uint32_t whole = trl_constraint_label(c, text); /* one that has a '|' itself */
    if (whole != TRL_OUTSIDE) {
        set[whole] = true;
        return true;
    }
    for (const char *p = text.p + others; p <= end;) {
        const char *bar = memchr(p, '|', (size_t)(end - p));
        *bad = (trl_str){p, (size_t)((bar ? bar : end) - p)};
        const uint32_t y = trl_constraint_label(c, *bad);
        if (y == TRL_OUTSIDE)
            return false;
        set[y] = true;
        p += bad->n + 1;
    }
    for (size_t y = 0; others && y < c->set.L; y++)
        set[y] = !set[y];
    return true;
}

static bool is_plain(trl_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\0' || strchr(" \t\r|'\"<", s.p[i]))
            return false;
    return s.n > 0;
}

bool trl_label_put(trl_buf *out, trl_str s)
{
    const char quote = is_plain(s)                       ? '\0'
                       : !s.n || !memchr(s.p, '\'', s.n) ? '\''
                       : s.n && !memchr(s.p, '"', s.n)   ? '"'
                                                         : '?';
    if (quote == '?' || (s.n && memchr(s.p, '\n', s.n)))
        return false;
    if (quote)
        trl_buf_add(out, &quote, 1);
    if (s.n)
        trl_buf_add(out, s.p, s.n);
    if (quote)
        trl_buf_add(out, &quote, 1);
    return true;
}

/* ---- words of a rule ------------------------------------------------------------------------- */

typedef struct cursor {
    trl_constraint *c;
    const char *begin, *p, *end;
    trl_error *err;
} cursor;

static trl_status fail_here(const cursor *x, const char *what)
{
    const trl_status st = trl_fail(x->err, TRL_EPARSE, "rule: %s", what);
    trl_fail_hint(x->err, st,
                  "a rule is scheme NAME, forbid A B, follow A B|C, require A B, "
                  "pattern REGEX, max-spans TYPE=N or one-span");
    return trl_fail_where(x->err, st, NULL, 0, (uint64_t)(x->p - x->begin) + 1);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(cursor *x)
{
    while (x->p < x->end && is_blank(*x->p))
        x->p++;
}

static trl_str take_word(cursor *x)
{
    const char *from = x->p;
    while (x->p < x->end && !is_blank(*x->p))
        x->p++;
    return (trl_str){from, (size_t)(x->p - from)};
}

static bool is(trl_str s, const char *word)
{
    return s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

/* A label, perhaps in quotes, or `outside`; ends at a blank, and at '|' when `several`. */
static trl_status take_label(cursor *x, const char *outside, bool several, uint32_t *y)
{
    skip_blanks(x);
    const char *at = x->p;
    const char quote = at < x->end && (*at == '\'' || *at == '"') ? *at : '\0';
    const char *close = quote ? memchr(at + 1, quote, (size_t)(x->end - at - 1)) : NULL;
    trl_str s;
    if (close) {
        s = (trl_str){at + 1, (size_t)(close - at - 1)};
        x->p = close + 1;
    } else {
        while (x->p < x->end && !is_blank(*x->p) && !(several && *x->p == '|'))
            x->p++;
        s = (trl_str){at, (size_t)(x->p - at)};
    }
    *y = trl_constraint_label(x->c, s);
    if (*y != TRL_OUTSIDE || (!close && outside && is(s, outside)))
        return TRL_OK;
    x->p = at;
    if (s.n == 0 && !close)
        return fail_here(x, "a label is expected");
    const trl_status st = trl_fail(x->err, TRL_EPARSE, "rule: the model has no label '%.*s'",
                                   (int)(s.n < 60 ? s.n : 60), s.p);
    return trl_fail_where(x->err, st, NULL, 0, (uint64_t)(at - x->begin) + 1);
}

static trl_status at_end(cursor *x)
{
    skip_blanks(x);
    return x->p == x->end ? TRL_OK : fail_here(x, "there is more on the line than that");
}

/* ---- rules ----------------------------------------------------------------------------------- */

trl_scheme trl_scheme_named(trl_str name)
{
    for (int k = TRL_SCHEME_IOB1; k <= TRL_SCHEME_BILOU; k++)
        if (is(name, trl_scheme_name((trl_scheme)k)))
            return (trl_scheme)k;
    return is(name, "ioe") ? TRL_SCHEME_IOE2 : TRL_SCHEME_NONE;
}

trl_scheme trl_scheme_of_rule(trl_str rule)
{
    cursor x = {.begin = rule.p, .p = rule.p, .end = rule.p + rule.n};
    skip_blanks(&x);
    if (!is(take_word(&x), "scheme"))
        return TRL_SCHEME_NONE;
    skip_blanks(&x);
    return trl_scheme_named(take_word(&x));
}

static trl_status add_scheme(cursor *x)
{
    skip_blanks(x);
    const char *at = x->p;
    const trl_scheme scheme = trl_scheme_named(take_word(x));
    if (scheme == TRL_SCHEME_NONE) {
        x->p = at;
        return fail_here(x, "a scheme is iob1, iob2, ioe1, ioe2, iobes or bilou");
    }
    const trl_status st = at_end(x);
    return st == TRL_OK ? trl_constraint_scheme(x->c, scheme, x->err) : st;
}

static trl_status add_forbid(cursor *x)
{
    uint32_t a, b;
    trl_status st = take_label(x, "<s>", false, &a);
    if (st == TRL_OK)
        st = take_label(x, a == TRL_OUTSIDE ? NULL : "</s>", false, &b);
    if (st == TRL_OK)
        st = at_end(x);
    return st == TRL_OK ? trl_constraint_forbid(x->c, a, b, x->err) : st;
}

static trl_status add_require(cursor *x)
{
    uint32_t a, b;
    trl_status st = take_label(x, NULL, false, &a);
    if (st == TRL_OK)
        st = take_label(x, NULL, false, &b);
    if (st == TRL_OK)
        st = at_end(x);
    return st == TRL_OK ? trl_constraint_require(x->c, a, b, x->err) : st;
}

static trl_status add_follow(cursor *x)
{
    uint32_t a, *list = NULL;
    size_t n = 0, cap = 0;
    trl_status st = take_label(x, "<s>", false, &a);
    for (bool more = true; st == TRL_OK && more; n++) {
        uint32_t *grown = trl_reserve(list, &cap, n + 1, sizeof *list);
        if (!grown) {
            st = trl_fail_mem(x->err);
            break;
        }
        list = grown;
        st = take_label(x, "</s>", true, &list[n]);
        more = x->p < x->end && *x->p == '|';
        x->p += more;
    }
    if (st == TRL_OK)
        st = at_end(x);
    if (st == TRL_OK)
        st = trl_constraint_follow(x->c, a, list, n, x->err);
    trl_free(list);
    return st;
}

static trl_status add_pattern(cursor *x)
{
    skip_blanks(x);
    const size_t before = (size_t)(x->p - x->begin);
    const trl_str rest = {x->p, (size_t)(x->end - x->p)};
    const trl_status st = trl_constraint_pattern(x->c, rest, x->err);
    if (st == TRL_EPARSE && x->err && x->err->col)
        x->err->col += before;
    return st;
}

/* TYPE=N; a type may have a '=' itself. */
static trl_status add_max_spans(cursor *x)
{
    skip_blanks(x);
    const char *at = x->p;
    const trl_str s = take_word(x);
    size_t eq = s.n, most = 0;
    while (eq > 0 && s.p[eq - 1] != '=')
        eq--;
    bool good = eq > 1 && eq < s.n && s.n - eq <= 6;
    for (size_t k = eq; good && k < s.n; k++) {
        good = s.p[k] >= '0' && s.p[k] <= '9';
        most = 10 * most + (size_t)(s.p[k] - '0');
    }
    x->p = at;
    if (!good)
        return fail_here(x, "TYPE=N is expected, N a number up to 100000");
    x->p = at + s.n;
    const trl_status st = at_end(x);
    return st == TRL_OK ? trl_constraint_max_spans(x->c, (trl_str){s.p, eq - 1}, most, x->err) : st;
}

static trl_status add_one_span(cursor *x)
{
    const trl_status st = at_end(x);
    return st == TRL_OK ? trl_constraint_one_span(x->c, x->err) : st;
}

trl_status trl_constraint_rule(trl_constraint *c, trl_str rule, trl_error *err)
{
    static const struct {
        const char *name;
        trl_status (*add)(cursor *x);
    } rules[] = {{"scheme", add_scheme},    {"forbid", add_forbid},   {"follow", add_follow},
                 {"require", add_require},  {"pattern", add_pattern}, {"max-spans", add_max_spans},
                 {"one-span", add_one_span}};
    if (!c || (rule.n && !rule.p))
        return trl_fail_null(err);
    cursor x = {c, rule.p, rule.p, rule.p + rule.n, err};
    skip_blanks(&x);
    if (x.p == x.end || *x.p == '#')
        return TRL_OK;
    const char *at = x.p;
    const trl_str name = take_word(&x);
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        if (is(name, rules[k].name))
            return rules[k].add(&x);
    x.p = at;
    return fail_here(&x, "there is no rule of that name");
}

/* ---- kept by the model
 * --------------------------------------------------------------------------- */

static const char *line_end(const char *p)
{
    const char *lf = strchr(p, '\n');
    return lf ? lf : p + strlen(p);
}

trl_status trl_constraint_of_settings(trl_constraint *c, const char *settings, bool *any,
                                      trl_error *err)
{
    trl_status st = TRL_OK;
    *any = false;
    for (const char *p = settings; *p && st == TRL_OK; p = line_end(p) + (*line_end(p) != 0)) {
        if (strncmp(p, "rule ", 5) != 0)
            continue;
        const trl_str rule = {p + 5, (size_t)(line_end(p) - p - 5)};
        *any = true;
        st = trl_constraint_rule(c, rule, err);
        if (st == TRL_EPARSE || st == TRL_EINVAL)
            st = trl_fail(err, TRL_EMODEL, "a rule that the model keeps, '%.*s', is none",
                          (int)(rule.n < 80 ? rule.n : 80), rule.p);
    }
    return st;
}

trl_status trl_constraint_kept(trl_constraint *c, const trl_model *m, trl_error *err)
{
    bool any;
    if (!c || !m)
        return trl_fail_null(err);
    const trl_chain_model *chain = trl_model_chain(m);
    return chain ? trl_constraint_of_settings(c, chain->settings, &any, err)
                 : trl_model_need_chain(m, err);
}
