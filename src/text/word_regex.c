/* word_regex.c -- from an expression to an automaton without captures, and running it. */
/* SPDX-License-Identifier: MIT */
#include "text/word_regex.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "text/tokens.h"

#define MAX_DEPTH 50
#define MAX_REPEAT 100
#define NOT 0x8000u /* in a class: its complement */

typedef enum op_code { ONE, SET, SPLIT, JUMP, START, END, MATCH } op_code;

/* SET: range [x .. y) of the expression's ranges, `inverted`; SPLIT: to x and y; JUMP: to x. */
typedef struct op {
    op_code code;
    bool inverted;
    uint32_t x, y;
} op;

/* Characters first .. last, or, class != 0, those of a class (bits of trl_char_class; NOT). */
typedef struct range {
    uint32_t first, last, class;
} range;

struct trl_word_regex {
    op *op;
    size_t n, cap;
    range *range;
    size_t n_ranges, range_cap;
};

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reader {
    trl_word_regex *re;
    trl_str s;
    size_t at, depth;
    trl_error *err;
} reader;

static trl_status refuse(reader *r, size_t at, const char *why)
{
    r->at = at;
    return trl_fail(r->err, TRL_EPARSE, "in the regular expression: %s", why);
}

static trl_status emit(reader *r, op o)
{
    trl_word_regex *re = r->re;
    if (re->n == TRL_WORD_REGEX_MAX)
        return refuse(r, r->at, "it is too large");
    op *all = trl_reserve(re->op, &re->cap, re->n + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(r->err);
    re->op = all;
    all[re->n++] = o;
    return TRL_OK;
}

static trl_status add_range(reader *r, range x)
{
    trl_word_regex *re = r->re;
    range *all = trl_reserve(re->range, &re->range_cap, re->n_ranges + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(r->err);
    re->range = all;
    all[re->n_ranges++] = x;
    return TRL_OK;
}

#define BIT(class) (1u << TRL_CHAR_##class)

/* The classes of \x; 0: the character itself. */
static uint32_t class_of(uint32_t x)
{
    const uint32_t letters = BIT(UPPER) | BIT(LOWER) | BIT(LETTER) | BIT(IDEOGRAPH);
    const bool capital = x >= 'A' && x <= 'Z';
    uint32_t bits = 0;
    switch (capital ? x + 32 : x) {
    case 'd':
        bits = BIT(DIGIT);
        break;
    case 'a':
        bits = letters;
        break;
    case 'w':
        bits = letters | BIT(DIGIT) | BIT(NUMBER) | BIT(MARK) | 1u << 14;
        break;
    case 'l':
        bits = BIT(LOWER);
        break;
    case 'u':
        bits = BIT(UPPER);
        break;
    case 'p':
        bits = BIT(PUNCTUATION);
        break;
    case 'y':
        bits = BIT(SYMBOL);
        break;
    case 's':
        bits = BIT(BLANK);
        break;
    default:
        return 0;
    }
    return bits | (capital ? NOT : 0);
}

/* One character or \x as a range. */
static trl_status read_range(reader *r, range *out)
{
    trl_char c = trl_char_at(r->s, r->at);
    *out = (range){c.code, c.code, 0};
    if (c.code == '\\') {
        c = trl_char_at(r->s, r->at + 1);
        if (!c.n)
            return refuse(r, r->at, "a single backslash at the end");
        *out = (range){c.code, c.code, class_of(c.code)};
        r->at++;
    }
    r->at += c.n;
    return TRL_OK;
}

static bool next_is(const reader *r, char c)
{
    return r->at < r->s.n && r->s.p[r->at] == c;
}

static trl_status read_set(reader *r)
{
    const size_t open = r->at++;
    op o = {.code = SET, .x = (uint32_t)r->re->n_ranges, .inverted = next_is(r, '^')};
    r->at += o.inverted;
    trl_status st = TRL_OK;
    for (bool first = true; st == TRL_OK && (first || !next_is(r, ']')); first = false) {
        range x, y;
        if (r->at >= r->s.n)
            return refuse(r, open, "'[' without ']'");
        const size_t from = r->at;
        st = read_range(r, &x);
        const bool dash = next_is(r, '-') && r->at + 1 < r->s.n && r->s.p[r->at + 1] != ']';
        if (st == TRL_OK && dash && !x.class) {
            r->at++;
            st = read_range(r, &y);
            if (st == TRL_OK && (y.class || y.first < x.first))
                return refuse(r, from, "the range ends before it begins");
            x.last = y.first;
        }
        if (st == TRL_OK)
            st = add_range(r, x);
    }
    if (st != TRL_OK)
        return st;
    r->at++;
    o.y = (uint32_t)r->re->n_ranges;
    return emit(r, o);
}

static trl_status read_either(reader *r);

static trl_status read_atom(reader *r)
{
    range x;
    trl_status st;
    const size_t open = r->at;
    switch (r->s.p[r->at]) {
    case '(':
        if (++r->depth > MAX_DEPTH)
            return refuse(r, open, "brackets are nested too deeply");
        r->at++;
        st = read_either(r);
        if (st != TRL_OK)
            return st;
        if (!next_is(r, ')'))
            return refuse(r, open, "'(' without ')'");
        r->at++;
        r->depth--;
        return st;
    case '[':
        return read_set(r);
    case '.':
        r->at++;
        return emit(r, (op){.code = ONE});
    case '^':
    case '$':
        r->at++;
        return emit(r, (op){.code = r->s.p[open] == '^' ? START : END});
    case '*':
    case '+':
    case '?':
    case '{':
        return refuse(r, open, "nothing to repeat");
    default:
        st = read_range(r, &x);
        if (st == TRL_OK)
            st = add_range(r, x);
        const uint32_t n = (uint32_t)r->re->n_ranges;
        return st == TRL_OK ? emit(r, (op){.code = SET, .x = n - 1, .y = n}) : st;
    }
}

/* {m}, {m,}, {m,n}; *most 0: no limit. */
static trl_status read_counts(reader *r, size_t *least, size_t *most)
{
    const size_t open = r->at++;
    size_t v[2] = {0, 0};
    bool given[2] = {false, false}, comma = false;
    for (; r->at < r->s.n && !next_is(r, '}'); r->at++) {
        const char c = r->s.p[r->at];
        if (c == ',' && !comma) {
            comma = true;
        } else if (c >= '0' && c <= '9' && v[comma] <= MAX_REPEAT) {
            v[comma] = v[comma] * 10 + (size_t)(c - '0');
            given[comma] = true;
        } else {
            return refuse(r, open, "{2}, {2,} or {2,4} is expected, with numbers up to 100");
        }
    }
    if (r->at >= r->s.n || !given[0] || v[0] > MAX_REPEAT || v[1] > MAX_REPEAT ||
        (given[1] && (v[1] < v[0] || v[1] == 0)) || (!comma && v[0] == 0))
        return refuse(r, open, "{2}, {2,} or {2,4} is expected, with numbers up to 100");
    r->at++;
    *least = v[0];
    *most = comma ? v[1] : v[0];
    return TRL_OK;
}

/* The atom at `from` once more. */
static trl_status repeat_atom(reader *r, size_t from)
{
    const size_t after = r->at;
    r->at = from;
    const trl_status st = read_atom(r);
    if (st == TRL_OK)
        r->at = after;
    return st;
}

/* The last copy of the atom, as many times as will do: L1: split L2, L3; L2: atom; jump L1; L3. */
static trl_status emit_loop(reader *r, size_t from)
{
    const size_t split = r->re->n;
    trl_status st = emit(r, (op){.code = SPLIT, .x = (uint32_t)split + 1});
    if (st == TRL_OK)
        st = repeat_atom(r, from);
    if (st == TRL_OK)
        st = emit(r, (op){.code = JUMP, .x = (uint32_t)split});
    if (st == TRL_OK)
        r->re->op[split].y = (uint32_t)r->re->n;
    return st;
}

static trl_status emit_maybe(reader *r, size_t from)
{
    const size_t split = r->re->n;
    trl_status st = emit(r, (op){.code = SPLIT, .x = (uint32_t)split + 1});
    if (st == TRL_OK)
        st = repeat_atom(r, from);
    if (st == TRL_OK)
        r->re->op[split].y = (uint32_t)r->re->n;
    return st;
}

static trl_status read_repeated(reader *r)
{
    const size_t from = r->at, before = r->re->n, ranges = r->re->n_ranges;
    trl_status st = read_atom(r);
    if (st != TRL_OK || r->at >= r->s.n || !strchr("*+?{", r->s.p[r->at]) || !r->s.p[r->at])
        return st;
    size_t least = next_is(r, '+') ? 1 : 0, most = next_is(r, '?') ? 1 : 0;
    if (next_is(r, '{'))
        st = read_counts(r, &least, &most);
    else
        r->at++;
    r->re->n = before; /* written anew, as often as needed */
    r->re->n_ranges = ranges;
    for (size_t i = 0; st == TRL_OK && i < least; i++)
        st = repeat_atom(r, from);
    for (size_t i = least; st == TRL_OK && i < most; i++)
        st = emit_maybe(r, from);
    if (st == TRL_OK && most == 0)
        st = emit_loop(r, from);
    return st;
}

static trl_status read_sequence(reader *r)
{
    trl_status st = TRL_OK;
    while (st == TRL_OK && r->at < r->s.n && !next_is(r, '|') && !next_is(r, ')'))
        st = read_repeated(r);
    return st;
}

/* a|b: split L1, L2; L1: a; jump L3; L2: b; L3.  A split is put before what is there already. */
static trl_status read_either(reader *r)
{
    const size_t start = r->re->n;
    trl_status st = read_sequence(r);
    while (st == TRL_OK && next_is(r, '|')) {
        r->at++;
        st = emit(r, (op){.code = JUMP}); /* room */
        if (st != TRL_OK)
            return st;
        op *o = r->re->op;
        memmove(o + start + 1, o + start, (r->re->n - 1 - start) * sizeof *o);
        for (size_t i = start + 1; i < r->re->n; i++) {
            o[i].x += o[i].code == SPLIT || o[i].code == JUMP;
            o[i].y += o[i].code == SPLIT;
        }
        o[start] = (op){.code = SPLIT, .x = (uint32_t)start + 1};
        const size_t jump = r->re->n;
        st = emit(r, (op){.code = JUMP});
        if (st == TRL_OK)
            r->re->op[start].y = (uint32_t)r->re->n;
        if (st == TRL_OK)
            st = read_sequence(r);
        if (st == TRL_OK)
            r->re->op[jump].x = (uint32_t)r->re->n;
    }
    return st;
}

trl_status trl_word_regex_new(trl_str s, trl_word_regex **out, size_t *at, trl_error *err)
{
    trl_word_regex *re = trl_zalloc(1, sizeof *re);
    *at = 0;
    if (!re)
        return trl_fail_mem(err);
    reader r = {.re = re, .s = s, .err = err};
    trl_status st = read_either(&r);
    if (st == TRL_OK && r.at < s.n)
        st = refuse(&r, r.at, "')' without '('");
    if (st == TRL_OK)
        st = emit(&r, (op){.code = MATCH});
    if (st != TRL_OK) {
        *at = r.at < s.n ? r.at : s.n;
        trl_word_regex_free(re);
        return st;
    }
    *out = re;
    return TRL_OK;
}

void trl_word_regex_free(trl_word_regex *re)
{
    if (!re)
        return;
    trl_free(re->op);
    trl_free(re->range);
    trl_free(re);
}

/* ---- running --------------------------------------------------------------------------------- */

static bool in_range(const range *x, trl_char c)
{
    if (!x->class)
        return c.code >= x->first && c.code <= x->last;
    const bool in = (x->class >> c.class & 1) || (c.code == '_' && (x->class & 1u << 14));
    return in != ((x->class & NOT) != 0);
}

static bool takes(const trl_word_regex *re, const op *o, trl_char c)
{
    if (o->code == ONE)
        return true;
    if (o->code != SET)
        return false;
    bool in = false;
    for (uint32_t k = o->x; k < o->y && !in; k++)
        in = in_range(&re->range[k], c);
    return in != o->inverted;
}

/* The states that are alive, each with where its match started: earlier starts come first. */
typedef struct states {
    size_t n;
    size_t *state, *start;
} states;

typedef struct search {
    const trl_word_regex *re;
    size_t *seen;  /* [n] the last position + 1 that added the state */
    size_t *stack; /* [2 n + 2] */
    size_t at, end;
} search;

/* Adds a state and what is reached from it without a character. */
static void follow(search *s, states *to, size_t state, size_t start)
{
    size_t depth = 0;
    s->stack[depth++] = state;
    while (depth > 0) {
        const size_t k = s->stack[--depth];
        const op *o = &s->re->op[k];
        if (s->seen[k] == s->at + 1)
            continue;
        s->seen[k] = s->at + 1;
        if (o->code == JUMP) {
            s->stack[depth++] = o->x;
        } else if (o->code == SPLIT) {
            s->stack[depth++] = o->y;
            s->stack[depth++] = o->x;
        } else if (o->code == START || o->code == END) {
            if (s->at == (o->code == START ? 0 : s->end))
                s->stack[depth++] = k + 1;
        } else {
            to->state[to->n] = k;
            to->start[to->n++] = start;
        }
    }
}

size_t trl_word_regex_scratch(const trl_word_regex *re)
{
    return 7 * re->n + 8;
}

bool trl_word_regex_find(const trl_word_regex *re, trl_str s, size_t *scratch, trl_str *match)
{
    const size_t n = re->n;
    states now = {0, scratch, scratch + n}, next = {0, scratch + 2 * n, scratch + 3 * n};
    search x = {re, scratch + 4 * n, scratch + 5 * n, 0, s.n};
    size_t from = SIZE_MAX, to = 0;
    memset(x.seen, 0, n * sizeof *x.seen);
    for (;;) {
        if (from == SIZE_MAX)
            follow(&x, &now, 0, x.at);
        for (size_t i = 0; i < now.n; i++)
            if (re->op[now.state[i]].code == MATCH && now.start[i] <= from) {
                from = now.start[i];
                to = x.at;
            }
        const trl_char c = trl_char_at(s, x.at);
        if (!c.n)
            break;
        x.at += c.n;
        next.n = 0;
        for (size_t i = 0; i < now.n; i++)
            if (now.start[i] <= from && takes(re, &re->op[now.state[i]], c))
                follow(&x, &next, now.state[i] + 1, now.start[i]);
        const states swap = now;
        now = next;
        next = swap;
        if (now.n == 0 && from != SIZE_MAX)
            break;
    }
    if (from != SIZE_MAX)
        *match = (trl_str){s.p + from, to - from};
    return from != SIZE_MAX;
}
