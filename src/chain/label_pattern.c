/* label_pattern.c -- regular expressions over labels, compiled to deterministic automata.
 *
 *     pattern  = branch { "|" branch }        branch = { atom [ "*" | "+" | "?" | "{m,n}" ] }
 *     atom     = LABEL | 'LABEL' | "LABEL" | "." | "[" LABEL... "]" | "[^" LABEL... "]" | "("
 * pattern ")"
 *
 * with blanks between labels.  The syntax tree is compiled to an automaton with empty moves
 * (Thompson's construction), and that to a deterministic one, whose states are sets of its states.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "chain/label_automaton.h"
#include "chain/label_tuples.h"

#define DEEPEST 100        /* parentheses in parentheses */
#define MOST_MOVES 4096    /* states of the automaton with empty moves */
#define MOST_NODES 16384   /* of the syntax tree; their compilation is recursive */
#define MOST_STEPS 65536   /* of that compilation */
#define MOST_REPEATS 1000  /* of {m,n} */
#define ENDLESS UINT32_MAX /* the n of {m,} */

typedef enum kind { LABELS, EMPTY, THEN, OR, REPEAT } kind;

typedef struct node { /* of the syntax tree */
    kind what;
    uint32_t a, b;     /* THEN, OR: parts; REPEAT: a; LABELS: a is its set */
    uint32_t min, max; /* REPEAT */
} node;

typedef struct moves {  /* a state: reads one of a set, or moves to two others for nothing */
    uint32_t set;       /* UINT32_MAX: moves for nothing */
    uint32_t to, or_to; /* UINT32_MAX: nowhere */
} moves;

typedef struct compiler {
    const trl_label_set *s;
    const char *begin, *p, *end;
    node *node;
    size_t n_nodes, node_cap;
    bool *set; /* [n_sets][L] */
    size_t n_sets, set_cap;
    moves *move;
    size_t n_moves, move_cap, depth, steps;
    trl_error *err;
} compiler;

#define NONE UINT32_MAX
#define THE_END (UINT32_MAX - 1)

static trl_status fail_here(compiler *c, const char *what)
{
    const trl_status st = trl_fail(c->err, TRL_EPARSE, "pattern: %s", what);
    trl_fail_hint(c->err, st,
                  "for example 'O* (B-PER I-PER* O*)+'; a label with blanks or any of "
                  "()[]{}|*+?.^'\" is put in quotes");
    return trl_fail_where(c->err, st, NULL, 0, (uint64_t)(c->p - c->begin) + 1);
}

/* ---- the syntax tree ------------------------------------------------------------------------- */

static trl_status add_node(compiler *c, node x, uint32_t *at)
{
    if (c->n_nodes == MOST_NODES)
        return fail_here(c, "it is too long");
    node *all = trl_reserve(c->node, &c->node_cap, c->n_nodes + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(c->err);
    c->node = all;
    *at = (uint32_t)c->n_nodes;
    all[c->n_nodes++] = x;
    return TRL_OK;
}

static bool *add_set(compiler *c)
{
    bool *all = trl_reserve(c->set, &c->set_cap, (c->n_sets + 1) * c->s->L, sizeof *all);
    if (!all)
        return NULL;
    c->set = all;
    memset(all + c->n_sets * c->s->L, 0, c->s->L * sizeof *all);
    return all + c->n_sets++ * c->s->L;
}

static void skip_blanks(compiler *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\r' || *c->p == '\n'))
        c->p++;
}

static bool is_special(char x)
{
    return x == '\0' || strchr(" \t\r\n()[]{}|*+?.^'\"", x) != NULL;
}

/* A label at c->p, bare or in quotes. */
static trl_status take_label(compiler *c, uint32_t *y)
{
    const char quote = *c->p == '\'' || *c->p == '"' ? *c->p : '\0';
    const char *from = c->p + (quote != 0), *to = from;
    while (to < c->end && (quote ? *to != quote : !is_special(*to)))
        to++;
    if (quote && to == c->end)
        return fail_here(c, "a quote is not closed");
    if (to == from)
        return fail_here(c, "a label is expected");
    for (size_t k = 0; k < c->s->L; k++)
        if (c->s->name[k].n == (size_t)(to - from) &&
            memcmp(c->s->name[k].p, from, (size_t)(to - from)) == 0) {
            *y = (uint32_t)k;
            c->p = to + (quote != 0);
            return TRL_OK;
        }
    const trl_status st = trl_fail(c->err, TRL_EPARSE, "pattern: the model has no label '%.*s'",
                                   (int)(to - from < 60 ? to - from : 60), from);
    return trl_fail_where(c->err, st, NULL, 0, (uint64_t)(c->p - c->begin) + 1);
}

/* "[A B]" or "[^A B]"; c->p is after the bracket. */
static trl_status take_set(compiler *c, bool *set)
{
    const bool others = c->p < c->end && *c->p == '^';
    c->p += others;
    for (skip_blanks(c); c->p < c->end && *c->p != ']'; skip_blanks(c)) {
        uint32_t y;
        const trl_status st = take_label(c, &y);
        if (st != TRL_OK)
            return st;
        set[y] = true;
    }
    if (c->p == c->end)
        return fail_here(c, "']' is missing");
    c->p++;
    for (size_t y = 0; others && y < c->s->L; y++)
        set[y] = !set[y];
    return TRL_OK;
}

static trl_status take_pattern(compiler *c, uint32_t *at);

static trl_status take_group(compiler *c, uint32_t *at)
{
    if (++c->depth > DEEPEST)
        return fail_here(c, "too many parentheses in one another");
    c->p++;
    const trl_status st = take_pattern(c, at);
    if (st != TRL_OK)
        return st;
    if (c->p == c->end || *c->p != ')')
        return fail_here(c, "')' is missing");
    c->p++;
    c->depth--;
    return TRL_OK;
}

static trl_status take_atom(compiler *c, uint32_t *at)
{
    if (*c->p == '(')
        return take_group(c, at);
    bool *set = add_set(c);
    if (!set)
        return trl_fail_mem(c->err);
    const uint32_t number = (uint32_t)c->n_sets - 1;
    trl_status st = TRL_OK;
    if (*c->p == '.') {
        c->p++;
        memset(set, true, c->s->L * sizeof *set);
    } else if (*c->p == '[') {
        c->p++;
        st = take_set(c, set);
    } else {
        uint32_t y = 0;
        st = take_label(c, &y);
        set[y] = true;
    }
    return st == TRL_OK ? add_node(c, (node){.what = LABELS, .a = number}, at) : st;
}

static bool take_number(compiler *c, uint32_t *x)
{
    const char *from = c->p;
    *x = 0;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9' && *x <= MOST_REPEATS; c->p++)
        *x = 10 * *x + (uint32_t)(*c->p - '0');
    return c->p > from && *x <= MOST_REPEATS;
}

/* "{m}", "{m,}" or "{m,n}" */
static trl_status take_counts(compiler *c, node *x)
{
    c->p++;
    if (!take_number(c, &x->min))
        return fail_here(c, "a number up to 1000 is expected");
    x->max = x->min;
    if (c->p < c->end && *c->p == ',') {
        c->p++;
        x->max = ENDLESS;
        if (c->p < c->end && *c->p != '}' && (!take_number(c, &x->max) || x->max < x->min))
            return fail_here(c, "a number up to 1000, and not below the first, is expected");
    }
    if (c->p == c->end || *c->p != '}')
        return fail_here(c, "'}' is missing");
    c->p++;
    return TRL_OK;
}

static trl_status take_repeats(compiler *c, uint32_t *at)
{
    for (skip_blanks(c); c->p < c->end && strchr("*+?{", *c->p) && *c->p; skip_blanks(c)) {
        node x = {.what = REPEAT, .a = *at, .min = *c->p == '+', .max = *c->p == '?' ? 1 : ENDLESS};
        trl_status st = TRL_OK;
        if (*c->p == '{')
            st = take_counts(c, &x);
        else
            c->p++;
        if (st == TRL_OK)
            st = add_node(c, x, at);
        if (st != TRL_OK)
            return st;
    }
    return TRL_OK;
}

static trl_status take_branch(compiler *c, uint32_t *at)
{
    trl_status st = add_node(c, (node){.what = EMPTY}, at);
    for (skip_blanks(c); st == TRL_OK && c->p < c->end && *c->p != '|' && *c->p != ')';
         skip_blanks(c)) {
        uint32_t next;
        st = take_atom(c, &next);
        if (st == TRL_OK)
            st = take_repeats(c, &next);
        if (st == TRL_OK)
            st = add_node(c, (node){.what = THEN, .a = *at, .b = next}, at);
    }
    return st;
}

static trl_status take_pattern(compiler *c, uint32_t *at)
{
    trl_status st = take_branch(c, at);
    while (st == TRL_OK && c->p < c->end && *c->p == '|') {
        uint32_t next;
        c->p++;
        st = take_branch(c, &next);
        if (st == TRL_OK)
            st = add_node(c, (node){.what = OR, .a = *at, .b = next}, at);
    }
    return st;
}

/* ---- with empty moves ------------------------------------------------------------------------ */

static trl_status too_large(compiler *c)
{
    return trl_fail(c->err, TRL_EINVAL,
                    "pattern: with its repetitions written out it has more than %d parts",
                    MOST_MOVES);
}

static trl_status add_move(compiler *c, moves x, uint32_t *at)
{
    if (c->n_moves == MOST_MOVES)
        return too_large(c);
    moves *all = trl_reserve(c->move, &c->move_cap, c->n_moves + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(c->err);
    c->move = all;
    *at = (uint32_t)c->n_moves;
    all[c->n_moves++] = x;
    return TRL_OK;
}

static trl_status compile(compiler *c, uint32_t at, uint32_t then, uint32_t *out);

/* `max` copies in front of `then`, from the last one on; those above `min` can be left out. */
static trl_status compile_repeat(compiler *c, node x, uint32_t then, uint32_t *out)
{
    trl_status st = TRL_OK;
    uint32_t from = then;
    if (x.max == ENDLESS) { /* a loop: again, or go on */
        uint32_t again;
        st = add_move(c, (moves){NONE, NONE, then}, &from);
        if (st == TRL_OK)
            st = compile(c, x.a, from, &again);
        if (st == TRL_OK)
            c->move[from].to = again;
    }
    const uint32_t copies = x.max == ENDLESS ? x.min : x.max;
    for (uint32_t k = copies; st == TRL_OK && k-- > 0;) {
        st = compile(c, x.a, from, &from);
        if (st == TRL_OK && k >= x.min)
            st = add_move(c, (moves){NONE, from, then}, &from);
    }
    *out = from;
    return st;
}

/* The state in which the part begins, when `then` is where it goes on. */
static trl_status compile(compiler *c, uint32_t at, uint32_t then, uint32_t *out)
{
    const node x = c->node[at];
    trl_status st = TRL_OK;
    uint32_t a = then, b = then;
    if (++c->steps > MOST_STEPS) /* repetitions of nothing add no moves */
        return too_large(c);
    switch (x.what) {
    case LABELS:
        return add_move(c, (moves){x.a, then, NONE}, out);
    case THEN:
        st = compile(c, x.b, then, &b);
        return st == TRL_OK ? compile(c, x.a, b, out) : st;
    case OR:
        st = compile(c, x.a, then, &a);
        if (st == TRL_OK)
            st = compile(c, x.b, then, &b);
        return st == TRL_OK ? add_move(c, (moves){NONE, a, b}, out) : st;
    case REPEAT:
        return compile_repeat(c, x, then, out);
    case EMPTY:
    default:
        *out = then;
        return TRL_OK;
    }
}

/* ---- without --------------------------------------------------------------------------------- */

/* Sets of states are bits; state n_moves, the end, is the last one. */
typedef struct subsets {
    const compiler *c;
    size_t words, max_states;
    trl_tuples seen;
    uint32_t *work, *stack;
} subsets;

static bool has(const uint32_t *set, uint32_t k)
{
    return set[k / 32] >> k % 32 & 1;
}

/* Adds the state and all that can be reached from it for nothing. */
static void add_closure(const subsets *x, uint32_t state, uint32_t *set)
{
    size_t n = 0;
    x->stack[n++] = state;
    while (n) {
        const uint32_t k = x->stack[--n];
        if (k == NONE || has(set, k))
            continue;
        set[k / 32] |= (uint32_t)1 << k % 32;
        if (k < x->c->n_moves && x->c->move[k].set == NONE) {
            x->stack[n++] = x->c->move[k].to;
            x->stack[n++] = x->c->move[k].or_to;
        }
    }
}

/* The set after reading y into x->work; false when it is empty. */
static bool step(const subsets *x, uint32_t from, size_t y)
{
    const uint32_t *set = trl_tuples_at(&x->seen, from);
    bool any = false;
    memset(x->work, 0, x->words * sizeof *x->work);
    for (uint32_t k = 0; k < x->c->n_moves; k++)
        if (has(set, k) && x->c->move[k].set != NONE &&
            x->c->set[x->c->move[k].set * x->c->s->L + y]) {
            add_closure(x, x->c->move[k].to, x->work);
            any = true;
        }
    return any;
}

static trl_status too_many(const subsets *x, trl_error *err)
{
    const trl_status st =
        trl_fail(err, TRL_EINVAL, "pattern: its automaton has more than %zu states", x->max_states);
    return trl_fail_hint(err, st, "allow more, or write it with fewer repetitions and choices");
}

/* All sets that can be reached, their transitions in a table that grows with them. */
static trl_status find_subsets(subsets *x, trl_label_automaton *a, trl_error *err)
{
    const size_t L = x->c->s->L;
    size_t cap = 0;
    for (size_t q = 0; q < x->seen.n; q++) {
        uint32_t *next = trl_reserve(a->next, &cap, (q + 1) * L, sizeof *next);
        if (!next)
            return trl_fail_mem(err);
        a->next = next;
        for (size_t y = 0; y < L; y++) {
            next[q * L + y] = TRL_DEAD;
            if (!step(x, (uint32_t)q, y))
                continue;
            if (!trl_tuples_put(&x->seen, x->work, &next[q * L + y]))
                return trl_fail_mem(err);
            if (x->seen.n > x->max_states)
                return too_many(x, err);
        }
    }
    a->n_states = x->seen.n;
    a->L = L;
    a->final = trl_zalloc(a->n_states, sizeof *a->final);
    if (!a->final)
        return trl_fail_mem(err);
    for (size_t q = 0; q < a->n_states; q++)
        a->final[q] = has(trl_tuples_at(&x->seen, (uint32_t)q), (uint32_t)x->c->n_moves);
    return TRL_OK;
}

static trl_status determine(const compiler *c, uint32_t first, size_t max_states,
                            trl_label_automaton *a, trl_error *err)
{
    uint32_t start;
    subsets x = {.c = c, .words = c->n_moves / 32 + 1, .max_states = max_states};
    trl_tuples_init(&x.seen, x.words);
    x.work = trl_zalloc(x.words, sizeof *x.work);
    x.stack = trl_alloc(2 * c->n_moves + 3, sizeof *x.stack);
    trl_status st = x.work && x.stack ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK) {
        add_closure(&x, first, x.work);
        st = trl_tuples_put(&x.seen, x.work, &start) ? find_subsets(&x, a, err) : trl_fail_mem(err);
    }
    trl_tuples_fini(&x.seen);
    trl_free(x.work);
    trl_free(x.stack);
    return st;
}

trl_status trl_automaton_pattern(trl_label_automaton *a, const trl_label_set *s, trl_str pattern,
                                 size_t max_states, trl_error *err)
{
    compiler c = {.s = s, .begin = pattern.p, .p = pattern.p, .end = pattern.p + pattern.n};
    uint32_t root = 0, first = 0;
    c.err = err;
    *a = (trl_label_automaton){0};
    trl_status st = take_pattern(&c, &root);
    if (st == TRL_OK && c.p < c.end)
        st = fail_here(&c, "')' without '('");
    /* `then` of the whole is a number that only the size of the whole tells */
    if (st == TRL_OK)
        st = compile(&c, root, THE_END, &first);
    for (size_t k = 0; st == TRL_OK && k < c.n_moves; k++) {
        moves *x = &c.move[k];
        x->to = x->to == THE_END ? (uint32_t)c.n_moves : x->to;
        x->or_to = x->or_to == THE_END ? (uint32_t)c.n_moves : x->or_to;
    }
    if (st == TRL_OK)
        st = determine(&c, first == THE_END ? (uint32_t)c.n_moves : first, max_states, a, err);
    if (st == TRL_OK && !trl_automaton_trim(a, &st, err) && st == TRL_OK)
        st = trl_fail(err, TRL_EINVAL, "pattern: no labelling matches it");
    if (st != TRL_OK)
        trl_automaton_fini(a);
    trl_free(c.node);
    trl_free(c.set);
    trl_free(c.move);
    return st;
}
