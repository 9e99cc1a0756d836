/* tag_words.c -- attributes of words for the tagger of a parser. */
/* SPDX-License-Identifier: MIT */
#include "search/tag_words.h"

#include <stdint.h>

#include "base/fail.h"
#include "base/mem.h"

#define AFFIX 4
#define MOST_ATTRIBUTES (2 * AFFIX + 3 + 4 + 1)

/* Names lie in `text`, which may move: attributes hold offsets until all are there. */
static void name(trl_tag_words *t, size_t *n_attr, const char *prefix, trl_str s)
{
    const size_t at = t->text.len;
    trl_buf_str(&t->text, prefix);
    trl_buf_add(&t->text, s.p, s.n);
    t->attr[(*n_attr)++] = (trl_attr){{(const char *)(uintptr_t)at, t->text.len - at}, 1.0};
}

static void spelling(trl_tag_words *t, size_t *n, trl_str w)
{
    static const char *const first[AFFIX] = {"p1=", "p2=", "p3=", "p4="};
    static const char *const last[AFFIX] = {"s1=", "s2=", "s3=", "s4="};
    bool digit = false, upper = false, hyphen = false;
    for (size_t k = 0; k < AFFIX && k < w.n; k++) {
        name(t, n, first[k], (trl_str){w.p, k + 1});
        name(t, n, last[k], (trl_str){w.p + w.n - k - 1, k + 1});
    }
    for (size_t k = 0; k < w.n; k++) {
        digit = digit || (w.p[k] >= '0' && w.p[k] <= '9');
        upper = upper || (w.p[k] >= 'A' && w.p[k] <= 'Z');
        hyphen = hyphen || w.p[k] == '-';
    }
    const trl_str none = {"", 0};
    if (digit)
        name(t, n, "digit", none);
    if (upper)
        name(t, n, "upper", none);
    if (hyphen)
        name(t, n, "hyphen", none);
}

static void token(trl_tag_words *t, const trl_str *word, size_t n_words, size_t i, size_t *n)
{
    const trl_str none = {"", 0};
    const uint32_t id = trl_strtab_find(t->words, word[i].p, word[i].n);
    if (id < t->n_frequent)
        name(t, n, "w=", word[i]);
    else
        spelling(t, n, word[i]);
    name(t, n, "w-1=", i > 0 ? word[i - 1] : none);
    name(t, n, "w-2=", i > 1 ? word[i - 2] : none);
    name(t, n, "w+1=", i + 1 < n_words ? word[i + 1] : none);
    name(t, n, "w+2=", i + 2 < n_words ? word[i + 2] : none);
}

trl_status trl_tag_words_make(trl_tag_words *t, const trl_str *word, size_t n, trl_items *out,
                              trl_error *err)
{
    trl_attr *attr = trl_reserve(t->attr, &t->attr_cap, n * MOST_ATTRIBUTES + 1, sizeof *attr);
    if (attr)
        t->attr = attr;
    size_t *begin = trl_reserve(t->begin, &t->begin_cap, n + 1, sizeof *begin);
    if (begin)
        t->begin = begin;
    if (!attr || !begin)
        return trl_fail_mem(err);
    size_t n_attr = 0;
    t->text.len = 0;
    t->text.failed = false;
    for (size_t i = 0; i < n; i++) {
        begin[i] = n_attr;
        token(t, word, n, i, &n_attr);
    }
    begin[n] = n_attr;
    if (t->text.failed)
        return trl_fail_mem(err);
    for (size_t k = 0; k < n_attr; k++)
        attr[k].name.p = t->text.data + (uintptr_t)attr[k].name.p;
    *out = (trl_items){.n_tokens = n, .begin = begin, .attr = attr, .weight = 1.0};
    return TRL_OK;
}

void trl_tag_words_fini(trl_tag_words *t)
{
    trl_buf_fini(&t->text);
    trl_free(t->attr);
    trl_free(t->begin);
    *t = (trl_tag_words){0};
}
