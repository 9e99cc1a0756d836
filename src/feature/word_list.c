/* word_list.c -- reading gazetteers, clusters and vectors of words. */
/* SPDX-License-Identifier: MIT */
#include "feature/word_list.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "cluster/clusters.h"
#include "text/number.h"
#include "text/utf8.h"
#include "text/word_forms.h"

#define MAX_WIDTH 65536 /* numbers of a vector */

void trl_word_list_fini(trl_word_list *l)
{
    trl_strtab_fini(&l->key);
    trl_strtab_fini(&l->name);
    trl_free(l->id);
    trl_free(l->vector);
    *l = (trl_word_list){0};
}

trl_word_list_view trl_word_list_get(const trl_word_list *l)
{
    return (trl_word_list_view){trl_strtab_view(&l->key), l->id, trl_strtab_view(&l->name),
                                l->vector, l->width};
}

/* ---- one entry ------------------------------------------------------------------------------- */

/* The number of the key; a new one gets room for its id or vector. */
static uint32_t add_key(trl_word_list *l, trl_str key, bool vector)
{
    const size_t before = l->key.n;
    const uint32_t k = trl_strtab_add(&l->key, key.p, key.n);
    if (k == TRL_NO_ID || l->key.n == before)
        return k;
    if (vector) {
        float *v = trl_reserve(l->vector, &l->vector_cap, (uint64_t)l->key.n * l->width, sizeof *v);
        if (!v)
            return TRL_NO_ID;
        l->vector = v;
        return k;
    }
    uint32_t *id = trl_reserve(l->id, &l->id_cap, l->key.n, sizeof *id);
    if (!id)
        return TRL_NO_ID;
    l->id = id;
    id[k] = 0;
    return k;
}

bool trl_word_list_add(trl_word_list *l, trl_str key, trl_str name, const float *vector)
{
    const size_t before = l->key.n;
    const uint32_t k = add_key(l, key, vector != NULL);
    if (k == TRL_NO_ID)
        return false;
    if (vector) {
        if (l->key.n > before) /* the first vector of a word counts */
            memcpy(l->vector + (size_t)k * l->width, vector, l->width * sizeof *vector);
        return true;
    }
    if (!name.p)
        return true;
    const uint32_t id = trl_strtab_add(&l->name, name.p, name.n);
    if (id != TRL_NO_ID)
        l->id[k] = id + 1;
    return id != TRL_NO_ID;
}

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct reading {
    trl_word_list *list;
    trl_input *in;
    bool folded;
    trl_arena arena; /* of one line */
    float *row;      /* of one vector */
    size_t row_cap;
    trl_error *err;
} reading;

static trl_status fold(reading *r, trl_str *key)
{
    return !r->folded || trl_word_lower(*key, &r->arena, key) ? TRL_OK : trl_fail_mem(r->err);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static trl_status check_utf8(reading *r, trl_str line)
{
    uint32_t code;
    for (size_t at = 0, n; at < line.n; at += n) {
        n = trl_utf8_next(line.p + at, line.n - at, &code);
        if (n == 0) {
            const trl_status st = trl_fail(r->err, TRL_EPARSE, "this byte is not UTF-8");
            trl_fail_hint(r->err, st, "convert the file: iconv -t utf-8");
            return trl_input_fail(r->in, r->err, st, at + 1);
        }
    }
    return TRL_OK;
}

/* A phrase that has a type already gets one more: "city|person". */
static trl_status add_type(reading *r, uint32_t k, trl_str type)
{
    trl_word_list *l = r->list;
    if (l->id[k]) {
        const trl_str have = trl_strtab_get(&l->name, l->id[k] - 1);
        for (size_t at = 0; at <= have.n;) {
            const char *bar = memchr(have.p + at, '|', have.n - at);
            const size_t n = bar ? (size_t)(bar - have.p) - at : have.n - at;
            if (n == type.n && memcmp(have.p + at, type.p, n) == 0)
                return TRL_OK;
            at += n + 1;
        }
        char *both = trl_arena_get(&r->arena, (uint64_t)have.n + type.n + 1, 1);
        if (!both)
            return trl_fail_mem(r->err);
        memcpy(both, have.p, have.n);
        both[have.n] = '|';
        memcpy(both + have.n + 1, type.p, type.n);
        type = (trl_str){both, have.n + 1 + type.n};
    }
    const uint32_t id = trl_strtab_add(&l->name, type.p, type.n);
    if (id == TRL_NO_ID)
        return trl_fail_mem(r->err);
    l->id[k] = id + 1;
    return TRL_OK;
}

static trl_status read_phrase(reading *r, trl_str line)
{
    const char *tab = memchr(line.p, '\t', line.n);
    trl_str type = {"", 0}, phrase = {line.p, tab ? (size_t)(tab - line.p) : line.n};
    if (tab)
        type = (trl_str){tab + 1, line.n - phrase.n - 1};
    while (type.n && is_blank(type.p[type.n - 1]))
        type.n--;
    if (memchr(type.p, '\t', type.n) || memchr(type.p, '|', type.n)) {
        const trl_status st = trl_fail(r->err, TRL_EPARSE, "a type with a tab or '|' in it");
        trl_fail_hint(r->err, st, "a line is PHRASE or PHRASE, a tab and TYPE");
        return trl_input_fail(r->in, r->err, st, (uint64_t)(type.p - line.p) + 1);
    }
    trl_status st = fold(r, &phrase);
    char *key = trl_arena_get(&r->arena, (uint64_t)phrase.n + 1, 1);
    if (st != TRL_OK || !key)
        return trl_fail_mem(r->err);
    size_t n = 0;
    uint32_t last = TRL_NO_ID;
    for (size_t at = 0; at < phrase.n;) {
        size_t end = at;
        while (end < phrase.n && !is_blank(phrase.p[end]))
            end++;
        if (end > at) {
            if (n)
                key[n++] = ' ';
            memcpy(key + n, phrase.p + at, end - at);
            n += end - at;
            last = add_key(r->list, (trl_str){key, n}, false);
            if (last == TRL_NO_ID)
                return trl_fail_mem(r->err);
        }
        at = end + 1;
    }
    if (last != TRL_NO_ID)
        return add_type(r, last, type);
    return trl_input_fail(r->in, r->err, trl_fail(r->err, TRL_EPARSE, "a type without a phrase"),
                          1);
}

/* The next field of a line of vectors; empty at its end. */
static trl_str next_field(trl_str line, size_t *at)
{
    while (*at < line.n && is_blank(line.p[*at]))
        ++*at;
    const size_t from = *at;
    while (*at < line.n && !is_blank(line.p[*at]))
        ++*at;
    return (trl_str){line.p + from, *at - from};
}

static trl_status read_vector(reading *r, trl_str line)
{
    size_t at = 0, n = 0;
    trl_str key = next_field(line, &at);
    trl_status st = fold(r, &key);
    for (trl_str f; st == TRL_OK && (f = next_field(line, &at)).n;) {
        double v;
        const uint64_t col = (uint64_t)(f.p - line.p) + 1;
        if (trl_number_parse(f.p, f.n, &v) != TRL_NUMBER_OK || !isfinite((float)v)) {
            st = trl_fail(r->err, TRL_EPARSE, "'%.*s' is not a number", (int)(f.n < 40 ? f.n : 40),
                          f.p);
            trl_fail_hint(r->err, st, "a line is a word and its numbers, separated by blanks");
            return trl_input_fail(r->in, r->err, st, col);
        }
        float *row = n < MAX_WIDTH ? trl_reserve(r->row, &r->row_cap, n + 1, sizeof *row) : NULL;
        if (!row)
            return n < MAX_WIDTH
                       ? trl_fail_mem(r->err)
                       : trl_input_fail(
                             r->in, r->err,
                             trl_fail(r->err, TRL_EPARSE, "more than %d numbers", MAX_WIDTH), col);
        r->row = row;
        row[n++] = (float)v;
    }
    if (st != TRL_OK)
        return st;
    const bool counts = n == 1 && trl_input_row(r->in) == 1; /* word2vec's first line */
    if (counts)
        return TRL_OK;
    if (r->list->width == 0)
        r->list->width = n;
    if (n == 0 || n != r->list->width) {
        st = trl_fail(r->err, TRL_EPARSE, "%zu numbers where %zu were found before", n,
                      r->list->width);
        return trl_input_fail(r->in, r->err, st, 1);
    }
    return trl_word_list_add(r->list, key, (trl_str){0}, r->row) ? TRL_OK : trl_fail_mem(r->err);
}

static trl_status read_lines(reading *r, trl_word_list_kind kind)
{
    for (bool more = true;;) {
        trl_str line;
        trl_status st = trl_input_line(r->in, &line, &more, r->err);
        if (st != TRL_OK || !more)
            return st;
        size_t at = 0;
        while (at < line.n && is_blank(line.p[at]))
            at++;
        if (at == line.n)
            continue;
        trl_arena_reset(&r->arena);
        st = trl_input_check_text(r->in, line, r->err);
        if (st == TRL_OK)
            st = check_utf8(r, line);
        if (st == TRL_OK)
            st = kind == TRL_GAZETTEER ? read_phrase(r, line) : read_vector(r, line);
        if (st != TRL_OK)
            return st;
    }
}

/* By the reader of clusters; folding may make words equal: the first counts. */
static trl_status read_clusters(reading *r)
{
    trl_clusters *c = NULL;
    trl_status st = trl_clusters_read(r->in, TRL_CLUSTERS_GUESS, 0, &c, r->err);
    if (st != TRL_OK)
        return st;
    for (size_t k = 0; st == TRL_OK && k < c->word.n; k++) {
        trl_str key = trl_strtab_get(&c->word, (uint32_t)k);
        trl_arena_reset(&r->arena);
        st = fold(r, &key);
        if (st == TRL_OK && trl_strtab_find(&r->list->key, key.p, key.n) == TRL_NO_ID &&
            !trl_word_list_add(r->list, key, trl_strtab_get(&c->name, c->id[k] - 1), NULL))
            st = trl_fail_mem(r->err);
    }
    trl_clusters_free(c);
    return st;
}

/* Names in the order of the keys that have them, without those that types added to: the same list
 * is the same bytes, whatever it was read from. */
static trl_status order_names(trl_word_list *l, trl_error *err)
{
    const size_t n = l->name.n;
    uint32_t *old = trl_alloc(n + 1, sizeof *old), *now = trl_zalloc(n + 1, sizeof *now);
    size_t kept = 0;
    bool good = old && now;
    for (size_t k = 0; good && k < l->key.n; k++) {
        uint32_t *id = &l->id[k];
        if (*id && !now[*id - 1]) {
            old[kept++] = *id - 1;
            now[*id - 1] = (uint32_t)kept;
        }
        *id = *id ? now[*id - 1] : 0;
    }
    good = good && trl_strtab_select(&l->name, old, kept);
    trl_free(old);
    trl_free(now);
    return good ? TRL_OK : trl_fail_mem(err);
}

trl_status trl_word_list_read(trl_word_list *l, trl_word_list_kind kind, bool folded, trl_input *in,
                              trl_error *err)
{
    reading r = {.list = l, .in = in, .folded = folded, .err = err};
    trl_status st = kind == TRL_CLUSTERS ? read_clusters(&r) : read_lines(&r, kind);
    if (st == TRL_OK && kind == TRL_GAZETTEER && l->key.n)
        st = order_names(l, err);
    if (st == TRL_OK && l->key.n == 0)
        st = trl_fail_where(err, trl_fail(err, TRL_EPARSE, "there is nothing in it"),
                            trl_input_name(in), 0, 0);
    trl_arena_fini(&r.arena);
    trl_free(r.row);
    return st;
}
