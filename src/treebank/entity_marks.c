/* entity_marks.c -- marked text against the words it should have. */
/* SPDX-License-Identifier: MIT */
#include "treebank/entity_marks.h"

#include <string.h>

#include "base/fail.h"

typedef struct scan {
    const trl_input *in;
    trl_str line, type; /* type.p is NULL outside marks */
    size_t at;          /* of the current token, in `line` */
    size_t opened;      /* of the open mark */
    bool begins;        /* no word has come since */
} scan;

static trl_status fail_here(const scan *s, size_t at, trl_status st, trl_error *err)
{
    return trl_input_fail(s->in, err, st, (uint64_t)at + 1);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static trl_str next_token(scan *s, size_t from)
{
    while (from < s->line.n && is_blank(s->line.p[from]))
        from++;
    size_t to = from;
    while (to < s->line.n && !is_blank(s->line.p[to]))
        to++;
    s->at = from;
    return (trl_str){s->line.p + from, to - from};
}

static bool equal(trl_str a, trl_str b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static int cut(trl_str s) /* a length for %.*s */
{
    return s.n < 40 ? (int)s.n : 40;
}

static trl_status open_mark(scan *s, trl_str token, trl_error *err)
{
    if (s->type.p) {
        const trl_status st = trl_fail(err, TRL_EPARSE, "'%.*s' opens inside the mark [%.*s",
                                       cut(token), token.p, cut(s->type), s->type.p);
        trl_fail_hint(err, st, "marks do not nest; close the first one with ']'");
        return fail_here(s, s->at, st, err);
    }
    if (token.n == 1)
        return fail_here(s, s->at, trl_fail(err, TRL_EPARSE, "a mark without a type"), err);
    if (memchr(token.p, ']', token.n))
        return fail_here(s, s->at, trl_fail(err, TRL_EPARSE, "a mark without words"), err);
    s->type = (trl_str){token.p + 1, token.n - 1};
    s->opened = s->at;
    s->begins = true;
    return TRL_OK;
}

/* B-TYPE, I-TYPE or O as an id. */
static trl_status tag_word(scan *s, trl_strtab *tags, uint32_t *tag, trl_error *err)
{
    char text[130] = "O";
    size_t n = 1;
    if (s->type.p) {
        if (s->type.n > sizeof text - 2) {
            const trl_status st = trl_fail(err, TRL_EPARSE, "the type of a mark is too long");
            return fail_here(s, s->opened, st, err);
        }
        text[0] = s->begins ? 'B' : 'I';
        text[1] = '-';
        memcpy(text + 2, s->type.p, s->type.n);
        n = 2 + s->type.n;
    }
    s->begins = false;
    *tag = trl_strtab_add(tags, text, n);
    return *tag == TRL_NO_ID ? trl_fail_mem(err) : TRL_OK;
}

static trl_status wrong_word(const scan *s, trl_str token, trl_str word, trl_error *err)
{
    trl_status st;
    if (token.n == 0)
        st = trl_fail(err, TRL_EPARSE, "the line ends, but the tree goes on with '%.*s'", cut(word),
                      word.p);
    else
        st = trl_fail(err, TRL_EPARSE, "'%.*s' here, but '%.*s' in the tree", cut(token), token.p,
                      cut(word), word.p);
    return fail_here(s, s->at, st, err);
}

/* The current token must be the word, with or without a closing bracket. */
static trl_status take_word(scan *s, trl_str token, trl_str word, bool *closes, trl_error *err)
{
    *closes = token.n == word.n + 1 && token.p[word.n] == ']';
    const trl_str bare = {token.p, token.n - *closes};
    if (!equal(bare, word))
        return wrong_word(s, token, word, err);
    if (*closes && !s->type.p)
        return fail_here(s, s->at + word.n,
                         trl_fail(err, TRL_EPARSE, "']' without a '[TYPE' before it"), err);
    return TRL_OK;
}

static trl_status end_line(const scan *s, trl_str token, trl_error *err)
{
    if (s->type.p) {
        const trl_status st =
            trl_fail(err, TRL_EPARSE, "the mark [%.*s is not closed", cut(s->type), s->type.p);
        return fail_here(s, s->opened, st, err);
    }
    if (token.n) {
        const trl_status st = trl_fail(
            err, TRL_EPARSE, "'%.*s' comes after the last word of the tree", cut(token), token.p);
        return fail_here(s, s->at, st, err);
    }
    return TRL_OK;
}

trl_status trl_entity_marks(const trl_input *in, trl_str line, const trl_word_column *x,
                            trl_strtab *tags, uint32_t *tag, trl_error *err)
{
    scan s = {.in = in, .line = line};
    trl_str token = next_token(&s, 0);
    for (size_t i = 0; i < x->n; i++) {
        const trl_str word = x->words[i * x->step];
        bool closes;
        while (token.n && token.p[0] == '[' && !equal(token, word)) {
            const trl_status st = open_mark(&s, token, err);
            if (st != TRL_OK)
                return st;
            token = next_token(&s, s.at + token.n);
        }
        trl_status st = take_word(&s, token, word, &closes, err);
        if (st == TRL_OK)
            st = tag_word(&s, tags, &tag[i], err);
        if (st != TRL_OK)
            return st;
        if (closes)
            s.type = (trl_str){0};
        token = next_token(&s, s.at + token.n);
    }
    return end_line(&s, token, err);
}
