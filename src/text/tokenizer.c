/* tokenizer.c -- a text as a list of tokens. */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "base/mem.h"
#include "text/tokens.h"
#include "text/utf8.h"

struct trl_tokenizer {
    trl_token_options options;
    trl_token *token;
    size_t n, cap;
};

trl_status trl_tokenizer_new(const trl_token_options *options, trl_tokenizer **out, trl_error *err)
{
    if (!out)
        return trl_fail_null(err);
    if (options && (options->grain > TRL_GRAIN_FINE || options->sentences > TRL_SENTENCES_WHOLE))
        return trl_fail(err, TRL_EINVAL, "there is no such way to cut a text into tokens");
    trl_tokenizer *t = trl_zalloc(1, sizeof *t);
    if (!t)
        return trl_fail_mem(err);
    if (options)
        t->options = *options;
    *out = t;
    return TRL_OK;
}

void trl_tokenizer_free(trl_tokenizer *t)
{
    if (!t)
        return;
    trl_free(t->token);
    trl_free(t);
}

trl_char trl_char_decode(trl_str text, size_t at)
{
    trl_char c = {0};
    if (at >= text.n)
        return c;
    c.n = trl_utf8_next(text.p + at, text.n - at, &c.code);
    if (c.n)
        c.class = trl_char_class_of(c.code);
    else
        c = (trl_char){.n = 1, .code = 0xfffd, .class = TRL_CHAR_OTHER};
    return c;
}

trl_char trl_char_before(trl_str text, size_t at)
{
    size_t back = 1;
    while (back < 4 && back < at && (text.p[at - back] & 0xc0) == 0x80)
        back++;
    if (at == 0)
        return (trl_char){0};
    const trl_char c = trl_char_at((trl_str){text.p, at}, at - back);
    return c.n == back ? c : trl_char_at((trl_str){text.p, at}, at - 1);
}

/* Over blanks; counts the lines that end there. */
static size_t skip_blanks(trl_str text, size_t at, size_t *lines)
{
    for (;;) {
        const trl_char c = trl_char_at(text, at);
        if (c.n == 0 || c.class != TRL_CHAR_BLANK)
            return at;
        *lines += c.code == '\n';
        at += c.n;
    }
}

static bool starts_sentence(const trl_tokenizer *t, trl_str text, size_t lines)
{
    if (t->n == 0)
        return true;
    switch (t->options.sentences) {
    case TRL_SENTENCES_LINES:
        return lines > 0;
    case TRL_SENTENCES_SPLIT:
        return lines > 1 || trl_sentence_ends(text, t->token, &t->token[t->n]);
    case TRL_SENTENCES_WHOLE:
    default:
        return false;
    }
}

trl_status trl_tokenize(trl_tokenizer *t, trl_str text, const trl_token **token, size_t *n,
                        trl_error *err)
{
    if (!t || (!text.p && text.n) || !token || !n)
        return trl_fail_null(err);
    size_t line = 0;
    t->n = 0;
    for (size_t at = 0;;) {
        size_t lines = 0;
        at = skip_blanks(text, at, &lines);
        line += lines;
        if (at == text.n)
            break;
        trl_token *grown = trl_reserve(t->token, &t->cap, t->n + 1, sizeof *grown);
        if (!grown)
            return trl_fail_mem(err);
        t->token = grown;
        trl_token *new = &t->token[t->n];
        *new = (trl_token){.begin = at, .line = line};
        new->end = at = trl_token_end(text, at, t->options.grain, &new->kind);
        new->starts_sentence = starts_sentence(t, text, lines);
        t->n++;
    }
    *token = t->token;
    *n = t->n;
    return TRL_OK;
}
