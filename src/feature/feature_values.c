/* feature_values.c -- the value of a property, given the text it is taken of. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "feature/feature_expand.h"
#include "text/word_forms.h"

#define LONG_WORD 10 /* characters: lengths from here on are one value */

static const trl_str none = {0};
static const trl_str yes = {"", 0};

/* ---- parts of words -------------------------------------------------------------------------- */

static trl_str prefix(trl_str s, size_t k)
{
    size_t at = 0;
    for (size_t i = 0; i < k; i++) {
        const trl_char c = trl_char_at(s, at);
        if (!c.n)
            return none;
        at += c.n;
    }
    return (trl_str){s.p, at};
}

static trl_str suffix(trl_str s, size_t k)
{
    size_t at = s.n;
    for (size_t i = 0; i < k; i++) {
        if (at == 0)
            return none;
        at -= trl_char_before(s, at).n;
    }
    return (trl_str){s.p + at, s.n - at};
}

static trl_str length(trl_str s)
{
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10+"};
    size_t n = 0;
    trl_char c;
    for (size_t at = 0; n < LONG_WORD && (c = trl_char_at(s, at)).n; at += c.n)
        n += c.class != TRL_CHAR_MARK;
    return (trl_str){names[n], strlen(names[n])};
}

/* Has it a character of the classes, or none of another?  Marks belong to what they are on. */
static trl_str has(trl_str s, size_t classes, bool all)
{
    trl_char c;
    bool any = false;
    for (size_t at = 0; (c = trl_char_at(s, at)).n; at += c.n) {
        const bool in = classes >> c.class & 1;
        if (in && !all)
            return yes;
        if (!in && all && c.class != TRL_CHAR_MARK)
            return none;
        any |= in;
    }
    return all && any ? yes : none;
}

static trl_str or_none(trl_str s)
{
    return s.n ? s : none;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static uint32_t find(const trl_word_list_view *v, trl_str s)
{
    return v->key.n ? trl_strview_find(&v->key, s.p, s.n, trl_str_hash(s.p, s.n)) : TRL_NO_ID;
}

/* The cluster's name, or its first `bits` characters. */
static bool cluster(const trl_named_list *list, size_t bits, trl_str s, trl_property_work *w,
                    trl_str *out)
{
    *out = none;
    if (list->folded && !trl_word_lower(s, &w->arena, &s))
        return false;
    const uint32_t k = find(&list->view, s);
    if (k == TRL_NO_ID || list->view.id[k] == 0)
        return true;
    *out = trl_strview_get(&list->view.name, list->view.id[k] - 1);
    if (bits && bits < out->n)
        out->n = bits;
    return true;
}

bool trl_property_one(const trl_feature_list *l, const trl_property *p, trl_str s,
                      trl_property_work *w, trl_str *out)
{
    trl_str match;
    *out = none;
    switch (p->fn) {
    case TRL_FN_LOWER:
        return trl_word_lower(s, &w->arena, out);
    case TRL_FN_ZEROS:
        return trl_word_zeros(s, &w->arena, out);
    case TRL_FN_PREFIX:
        *out = prefix(s, p->arg);
        return true;
    case TRL_FN_SUFFIX:
        *out = suffix(s, p->arg);
        return true;
    case TRL_FN_SHAPE:
    case TRL_FN_SHORT_SHAPE:
        return trl_word_shape(s, p->fn == TRL_FN_SHORT_SHAPE, &w->arena, out);
    case TRL_FN_CASE:
        *out = trl_word_case(s);
        return true;
    case TRL_FN_KIND:
        *out = or_none(trl_word_kind(s));
        return true;
    case TRL_FN_SCRIPT:
        *out = or_none(trl_word_script(s));
        return true;
    case TRL_FN_LENGTH:
        *out = length(s);
        return true;
    case TRL_FN_HAS:
    case TRL_FN_ALL:
        *out = has(s, p->arg, p->fn == TRL_FN_ALL);
        return true;
    case TRL_FN_MATCH:
    case TRL_FN_PART:
        if (trl_word_regex_find(p->regex, s, w->scratch, &match))
            *out = p->fn == TRL_FN_MATCH ? yes : or_none(match);
        return true;
    case TRL_FN_LIST:
        return cluster(&l->list[p->list], p->arg, s, w, out);
    default:
        return true;
    }
}

/* ---- several values -------------------------------------------------------------------------- */

static bool listed(const trl_str *list, size_t n, trl_str s)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].n == s.n && memcmp(list[i].p, s.p, s.n) == 0)
            return true;
    return false;
}

/* Of two and more characters, the ends of the word are characters too: '<' and '>'. */
bool trl_property_ngrams(const trl_property *p, trl_str s, trl_property_work *w, trl_str **out,
                         size_t *n)
{
    const bool ends = p->arg > 1;
    char *text = trl_arena_get(&w->arena, (uint64_t)s.n + 2, 1);
    size_t *start = trl_arena_get(&w->arena, (uint64_t)s.n + 3, sizeof *start);
    trl_str *list = trl_arena_get(&w->arena, (uint64_t)s.n + 2, sizeof *list);
    *out = list;
    *n = 0;
    if (!text || !start || !list)
        return false;
    size_t len = 0, m = 0;
    if (ends)
        text[len++] = '<';
    if (s.n)
        memcpy(text + len, s.p, s.n);
    len += s.n;
    if (ends)
        text[len++] = '>';
    const trl_str whole = {text, len};
    for (size_t at = 0; at < len; at += trl_char_at(whole, at).n)
        start[m++] = at;
    start[m] = len;
    for (size_t i = 0; s.n && i + p->arg <= m; i++) {
        const trl_str gram = {text + start[i], start[i + p->arg] - start[i]};
        if (!listed(list, *n, gram))
            list[(*n)++] = gram;
    }
    return true;
}

/* B or I, and a dash and the type where there is one; every type of the phrase. */
static bool add_phrase(const trl_named_list *g, uint32_t id, const size_t span[2],
                       trl_property_work *w, const trl_phrase_sink *sink)
{
    const trl_str types = trl_strview_get(&g->view.name, id - 1);
    for (size_t at = 0; at <= types.n;) {
        const char *bar = types.n > at ? memchr(types.p + at, '|', types.n - at) : NULL;
        const size_t n = bar ? (size_t)(bar - types.p) - at : types.n - at;
        char *text = trl_arena_get(&w->arena, 2 * (uint64_t)n + 4, 1);
        if (!text)
            return false;
        const size_t len = n ? n + 2 : 1;
        for (size_t k = 0; k < 2; k++) {
            char *to = text + k * (n + 2);
            to[0] = k ? 'I' : 'B';
            to[1] = '-';
            if (n)
                memcpy(to + 2, types.p + at, n);
        }
        for (size_t t = span[0]; t < span[1]; t++)
            if (!sink->add(sink->ctx, t, (trl_str){text + (t > span[0] ? n + 2 : 0), len}))
                return false;
        at += n + 1;
    }
    return true;
}

/* All phrases that start at the token: calls sink for them (`all`) or for the longest.  *next:
 * where to go on. */
static bool phrases_at(const trl_named_list *g, const trl_str *s, const size_t span[2],
                       trl_property_work *w, size_t *next, const trl_phrase_sink *sink)
{
    uint32_t best = 0;
    size_t best_end = span[0];
    w->key.len = 0;
    for (size_t t = span[0]; t < span[1] && s[t].p; t++) {
        trl_str word = s[t];
        if (g->folded && !trl_word_lower(word, &w->arena, &word))
            return false;
        if ((t > span[0] && !trl_buf_ch(&w->key, ' ')) || !trl_buf_add(&w->key, word.p, word.n))
            return false;
        const uint32_t k = find(&g->view, (trl_str){w->key.data, w->key.len});
        if (k == TRL_NO_ID)
            break;
        const uint32_t id = g->view.id[k];
        if (!id)
            continue;
        best = id;
        best_end = t + 1;
        if (g->all && !add_phrase(g, id, (size_t[2]){span[0], t + 1}, w, sink))
            return false;
    }
    *next = best && !g->all ? best_end : span[0] + 1;
    return !best || g->all || add_phrase(g, best, (size_t[2]){span[0], best_end}, w, sink);
}

bool trl_gazetteer_find(const trl_named_list *g, const trl_str *s, size_t n, trl_property_work *w,
                        const trl_phrase_sink *sink)
{
    for (size_t t = 0; t < n;)
        if (!phrases_at(g, s, (size_t[2]){t, n}, w, &t, sink))
            return false;
    return true;
}
