/* parseval_side.c -- from a line or a tree to words and brackets. */
/* SPDX-License-Identifier: MIT */
#include "score/parseval_side.h"

#include "base/fail.h"
#include "base/mem.h"

void trl_side_fini(trl_side *s)
{
    trl_free(s->leaf);
    trl_free(s->bracket);
    trl_free(s->open);
    trl_free(s->before);
    *s = (trl_side){0};
}

static trl_status add_leaf(trl_side *s, trl_label_table *labels, trl_str tag, trl_str word,
                           trl_error *err)
{
    if (s->n_leaves >= INT32_MAX - 1)
        return trl_fail(err, TRL_EINVAL, "a sentence of 2^31 words");
    trl_leaf *leaf = trl_reserve(s->leaf, &s->cap_leaves, s->n_leaves + 1, sizeof *leaf);
    if (leaf)
        s->leaf = leaf;
    const uint32_t id = leaf ? trl_label_id(labels, tag) : TRL_NO_ID;
    if (id == TRL_NO_ID)
        return trl_fail_mem(err);
    leaf[s->n_leaves++] = (trl_leaf){.word = word, .tag = id};
    return TRL_OK;
}

static trl_status add_bracket(trl_side *s, trl_label_table *labels, trl_str label, int32_t from,
                              int32_t to, trl_error *err)
{
    trl_bracket *b = s->n_brackets < UINT32_MAX
                         ? trl_reserve(s->bracket, &s->cap_brackets, s->n_brackets + 1, sizeof *b)
                         : NULL;
    if (b)
        s->bracket = b;
    const uint32_t id = b ? trl_label_id(labels, label) : TRL_NO_ID;
    if (id == TRL_NO_ID)
        return trl_fail_mem(err);
    b[s->n_brackets++] = (trl_bracket){.label = id, .from = from, .to = to};
    return TRL_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct scanner {
    trl_side *side;
    trl_label_table *labels;
    trl_str line;
    size_t at, n_open;
    bool bad;
} scanner;

static bool is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool ends_token(char c)
{
    return is_white(c) || c == '(' || c == ')';
}

static trl_str token(const scanner *c, size_t from)
{
    size_t to = from;
    while (to < c->line.n && !ends_token(c->line.p[to]))
        to++;
    return (trl_str){c->line.p + from, to - from};
}

static size_t after_white(const scanner *c, size_t at)
{
    while (at < c->line.n && is_white(c->line.p[at]))
        at++;
    return at;
}

static trl_status complain(scanner *c, size_t at, trl_error *err)
{
    c->bad = true;
    trl_fail_where(err, TRL_EPARSE, NULL, 0, (uint64_t)at + 1);
    return TRL_OK;
}

static int shown(trl_str s)
{
    return (int)(s.n < 40 ? s.n : 40);
}

static trl_status push(scanner *c, trl_str label, size_t at, trl_error *err)
{
    trl_side *s = c->side;
    uint32_t *open = trl_reserve(s->open, &s->cap_open, c->n_open + 1, sizeof *open);
    if (!open)
        return trl_fail_mem(err);
    s->open = open;
    if (c->n_open == 0)
        s->first_open = at;
    open[c->n_open++] = (uint32_t)s->n_brackets;
    return add_bracket(s, c->labels, label, (int32_t)s->n_leaves, TRL_UNCLOSED, err);
}

/* At an opening bracket: reads (TAG WORD) at once, else the bracket and its label. */
static trl_status scan_open(scanner *c, trl_error *err)
{
    const size_t at = c->at, n = c->line.n;
    const trl_str label = token(c, at + 1);
    const size_t after = at + 1 + label.n, from = after_white(c, after);
    c->at = after;
    if (from == after || from == n || c->line.p[from] == '(')
        return push(c, label, at, err);
    const trl_str word = token(c, from); /* empty in (TAG ), as EVALB takes it */
    const size_t to = from + word.n, next = after_white(c, to);
    if (next < n && c->line.p[next] == ')') {
        c->at = next + 1;
        return add_leaf(c->side, c->labels, label, word, err);
    }
    if (next == n)
        trl_fail(err, TRL_EPARSE, "the line ends inside a bracket");
    else if (c->line.p[next] == '(')
        trl_fail(err, TRL_EPARSE, "a bracket opens after the word '%.*s'", shown(word), word.p);
    else
        trl_fail(err, TRL_EPARSE, "more than one word in a bracket");
    return complain(c, next == n ? at : next, err);
}

static trl_status scan(scanner *c, trl_error *err)
{
    trl_status st = TRL_OK;
    while (st == TRL_OK && !c->bad && (c->at = after_white(c, c->at)) < c->line.n) {
        trl_side *s = c->side;
        const char ch = c->line.p[c->at];
        if (ch == '(') {
            st = scan_open(c, err);
        } else if (ch == ')' && c->n_open) {
            s->bracket[s->open[--c->n_open]].to = (int32_t)s->n_leaves;
            c->at++;
        } else if (ch == ')') {
            trl_fail(err, TRL_EPARSE, "')' without a '(' before it");
            return complain(c, c->at, err);
        } else {
            const trl_str word = token(c, c->at);
            trl_fail(err, TRL_EPARSE, "word '%.*s' where a bracket is expected", shown(word),
                     word.p);
            return complain(c, c->at, err);
        }
    }
    return st;
}

trl_status trl_side_line(trl_side *s, trl_label_table *labels, trl_str line, bool *ok, bool *whole,
                         trl_error *err)
{
    scanner c = {.side = s, .labels = labels, .line = line};
    s->n_leaves = s->n_brackets = 0;
    const trl_status st = scan(&c, err);
    if (st != TRL_OK)
        return st;
    *whole = !c.bad;
    *ok = !c.bad && c.n_open == 0;
    if (*whole && !*ok) {
        trl_fail(err, TRL_EPARSE, "the line ends inside the bracket that opens here");
        complain(&c, s->first_open, err);
    }
    return TRL_OK;
}
