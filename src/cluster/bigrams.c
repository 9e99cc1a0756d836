/* bigrams.c -- counting pairs of words, then ranking words and listing their neighbours. */
/* SPDX-License-Identifier: MIT */
#include "cluster/bigrams.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "text/columns.h"

void trl_bigrams_fini(trl_bigrams *b)
{
    trl_strtab_fini(&b->word);
    trl_free(b->count);
    trl_free(b->key);
    trl_free(b->times);
    trl_free(b->self);
    for (int s = 0; s < 2; s++) {
        trl_free(b->begin[s]);
        trl_free(b->pair[s]);
        trl_free(b->edge[s]);
        trl_free(b->total[s]);
    }
    *b = (trl_bigrams){0};
}

/* ---- counting -------------------------------------------------------------------------------- */

static size_t slot_of(const uint64_t *key, size_t n_slots, uint64_t k)
{
    uint64_t h = k * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    size_t i = (size_t)h & (n_slots - 1);
    while (key[i] && key[i] != k)
        i = (i + 1) & (n_slots - 1);
    return i;
}

static bool grow_pairs(trl_bigrams *b)
{
    const size_t n = b->n_slots ? b->n_slots * 2 : 1024;
    uint64_t *key = trl_zalloc(n, sizeof *key), *times = trl_alloc(n, sizeof *times);
    if (!key || !times) {
        trl_free(key);
        trl_free(times);
        return false;
    }
    for (size_t i = 0; i < b->n_slots; i++)
        if (b->key[i]) {
            const size_t at = slot_of(key, n, b->key[i]);
            key[at] = b->key[i];
            times[at] = b->times[i];
        }
    trl_free(b->key);
    trl_free(b->times);
    b->key = key;
    b->times = times;
    b->n_slots = n;
    return true;
}

static bool count_pair(trl_bigrams *b, uint32_t first, uint32_t second)
{
    if (b->n_keys * 3 >= b->n_slots * 2 && !grow_pairs(b))
        return false;
    const uint64_t k = ((uint64_t)first << 32 | second) + 1;
    const size_t at = slot_of(b->key, b->n_slots, k);
    if (!b->key[at]) {
        b->key[at] = k;
        b->times[at] = 0;
        b->n_keys++;
    }
    b->times[at]++;
    b->n_pairs++;
    return true;
}

static bool count_word(trl_bigrams *b, trl_str s, uint32_t *id)
{
    const size_t known = b->word.n;
    *id = trl_strtab_add(&b->word, s.p, s.n);
    if (*id == TRL_NO_ID)
        return false;
    if (*id == known) {
        uint64_t *count = trl_reserve(b->count, &b->count_cap, known + 1, sizeof *count);
        if (!count)
            return false;
        b->count = count;
        count[known] = 0;
    }
    b->count[*id]++;
    b->tokens++;
    return true;
}

trl_status trl_bigrams_add(trl_bigrams *b, const trl_str *word, size_t n, trl_error *err)
{
    uint32_t last = TRL_NO_ID, id;
    for (size_t i = 0; i < n; i++) {
        if (!count_word(b, word[i], &id) || !count_pair(b, last, id))
            return trl_fail_mem(err);
        last = id;
    }
    if (n && !count_pair(b, last, TRL_NO_ID))
        return trl_fail_mem(err);
    b->sentences += n > 0;
    return TRL_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

typedef struct words {
    trl_str *item;
    size_t n, cap;
} words;

static trl_status split_line(trl_str line, words *w, const trl_input *in, trl_error *err)
{
    const trl_status st = trl_input_check_text(in, line, err);
    if (st != TRL_OK)
        return st;
    w->n = 0;
    for (size_t i = 0; i < line.n;) {
        const size_t from = i;
        while (i < line.n && !is_blank(line.p[i]))
            i++;
        if (i > from) {
            trl_str *item = trl_reserve(w->item, &w->cap, w->n + 1, sizeof *item);
            if (!item)
                return trl_fail_mem(err);
            w->item = item;
            item[w->n++] = (trl_str){line.p + from, i - from};
        }
        i += i < line.n;
    }
    return TRL_OK;
}

trl_status trl_bigrams_text(trl_bigrams *b, trl_input *in, trl_error *err)
{
    words w = {0};
    trl_status st;
    for (;;) {
        trl_str line;
        bool more;
        if ((st = trl_input_line(in, &line, &more, err)) != TRL_OK || !more ||
            (st = split_line(line, &w, in, err)) != TRL_OK ||
            (st = trl_bigrams_add(b, w.item, w.n, err)) != TRL_OK)
            break;
    }
    trl_free(w.item);
    return st;
}

static trl_status add_rows(trl_bigrams *b, const trl_rows *rows, size_t column, words *w,
                           trl_error *err)
{
    if (column >= rows->n_columns) {
        trl_fail(err, TRL_EPARSE, "no column %zu: there are %zu", column + 1, rows->n_columns);
        return trl_fail_where(err, TRL_EPARSE, rows->path, rows->first_row, 1);
    }
    trl_str *item = trl_reserve(w->item, &w->cap, rows->n_tokens, sizeof *item);
    if (!item)
        return trl_fail_mem(err);
    w->item = item;
    for (size_t t = 0; t < rows->n_tokens; t++)
        item[t] = rows->cell[t * rows->n_columns + column];
    return trl_bigrams_add(b, item, rows->n_tokens, err);
}

trl_status trl_bigrams_columns(trl_bigrams *b, trl_input *in, size_t column, trl_error *err)
{
    trl_columns *r = NULL;
    words w = {0};
    trl_status st = trl_columns_new(in, &r, err);
    while (st == TRL_OK) {
        trl_rows rows;
        bool more;
        if ((st = trl_columns_next(r, &rows, &more, err)) != TRL_OK || !more)
            break;
        st = add_rows(b, &rows, column, &w, err);
    }
    trl_free(w.item);
    trl_columns_free(r);
    return st;
}

/* ---- finishing ------------------------------------------------------------------------------- */

typedef struct ranked {
    const trl_bigrams *b;
    uint64_t count;
    uint32_t id;
} ranked;

static int by_rank(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    const trl_str s = trl_strtab_get(&a->b->word, a->id), t = trl_strtab_get(&b->b->word, b->id);
    const int d = memcmp(s.p, t.p, s.n < t.n ? s.n : t.n);
    return d ? d : (s.n > t.n) - (s.n < t.n);
}

/* old id -> new id or TRL_NO_ID, for the words of at least min_count that have a pair. */
static trl_status rank_words(trl_bigrams *b, uint64_t min_count, uint32_t *new_id, trl_error *err)
{
    const size_t n = b->word.n;
    ranked *list = trl_alloc(n, sizeof *list);
    uint32_t *old = trl_alloc(n, sizeof *old);
    uint64_t *count = trl_alloc(n, sizeof *count);
    trl_status st = list && old && count ? TRL_OK : trl_fail_mem(err);
    if (st != TRL_OK)
        goto out;
    for (size_t i = 0; i < n; i++)
        new_id[i] = TRL_NO_ID;
    for (size_t i = 0; i < b->n_slots; i++) {
        if (!b->key[i])
            continue;
        const uint64_t k = b->key[i] - 1;
        const uint32_t end[2] = {(uint32_t)(k >> 32), (uint32_t)k};
        bool kept = true;
        for (int s = 0; s < 2; s++)
            kept &= end[s] == TRL_NO_ID || b->count[end[s]] >= min_count;
        for (int s = 0; kept && s < 2; s++)
            if (end[s] != TRL_NO_ID)
                new_id[end[s]] = 0; /* has a pair */
    }
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (new_id[i] != TRL_NO_ID)
            list[kept++] = (ranked){b, b->count[i], (uint32_t)i};
    qsort(list, kept, sizeof *list, by_rank);
    for (size_t i = 0; i < kept; i++) {
        old[i] = list[i].id;
        count[i] = list[i].count;
        new_id[list[i].id] = (uint32_t)i;
    }
    if (!trl_strtab_select(&b->word, old, kept)) {
        st = trl_fail_mem(err);
        goto out;
    }
    if (kept)
        memcpy(b->count, count, kept * sizeof *count);
    b->left_out = n - kept;
out:
    trl_free(list);
    trl_free(old);
    trl_free(count);
    return st;
}

typedef struct numbered {
    uint32_t word[2]; /* TRL_NO_ID: the edge */
    uint64_t times;
} numbered;

static int by_words(const void *x, const void *y)
{
    const numbered *a = x, *b = y;
    for (int s = 0; s < 2; s++)
        if (a->word[s] != b->word[s])
            return a->word[s] < b->word[s] ? -1 : 1;
    return 0;
}

/* The pairs of kept words, renumbered and sorted; the hash table is given back. */
static numbered *take_pairs(trl_bigrams *b, const uint32_t *new_id, size_t *n, bool *between_words)
{
    numbered *pair = trl_alloc(b->n_keys, sizeof *pair);
    size_t m = 0;
    b->n_pairs = 0;
    for (size_t i = 0; pair && i < b->n_slots; i++) {
        if (!b->key[i])
            continue;
        const uint64_t k = b->key[i] - 1;
        const uint32_t end[2] = {(uint32_t)(k >> 32), (uint32_t)k};
        bool kept = true;
        for (int s = 0; s < 2; s++) {
            pair[m].word[s] = end[s] == TRL_NO_ID ? TRL_NO_ID : new_id[end[s]];
            kept &= end[s] == TRL_NO_ID || new_id[end[s]] != TRL_NO_ID;
        }
        if (!kept)
            continue;
        pair[m++].times = b->times[i];
        b->n_pairs += b->times[i];
        *between_words |= end[0] != TRL_NO_ID && end[1] != TRL_NO_ID;
    }
    trl_free(b->key);
    trl_free(b->times);
    b->key = b->times = NULL;
    b->n_slots = b->n_keys = 0;
    if (pair)
        qsort(pair, m, sizeof *pair, by_words);
    *n = m;
    return pair;
}

/* Pairs sorted by first and second word keep, list by list, the order of the other word. */
static trl_status list_pairs(trl_bigrams *b, const numbered *pair, size_t n, trl_error *err)
{
    const size_t V = b->word.n;
    b->self = trl_zalloc(V, sizeof *b->self);
    bool good = b->self;
    for (int s = 0; s < 2; s++) {
        b->begin[s] = trl_zalloc(V + 2, sizeof *b->begin[s]);
        b->pair[s] = trl_alloc(n, sizeof *b->pair[s]);
        b->edge[s] = trl_zalloc(V, sizeof *b->edge[s]);
        b->total[s] = trl_zalloc(V, sizeof *b->total[s]);
        good = good && b->begin[s] && b->pair[s] && b->edge[s] && b->total[s];
    }
    if (!good)
        return trl_fail_mem(err);
    for (int s = 0; s < 2; s++) {
        size_t *at = b->begin[s] + 1; /* at[a]: where the next pair of a goes */
        for (size_t i = 0; i < n; i++)
            if (pair[i].word[0] != pair[i].word[1] && pair[i].word[0] != TRL_NO_ID &&
                pair[i].word[1] != TRL_NO_ID)
                at[pair[i].word[s] + 1]++;
        for (size_t a = 0; a < V; a++)
            at[a + 1] += at[a];
        for (size_t i = 0; i < n; i++) {
            const uint32_t a = pair[i].word[s], other = pair[i].word[1 - s];
            const uint32_t times = (uint32_t)pair[i].times;
            if (a == TRL_NO_ID)
                continue;
            b->total[s][a] += times;
            if (other == TRL_NO_ID)
                b->edge[s][a] = times;
            else if (a == other)
                b->self[a] = times;
            else
                b->pair[s][at[a]++] = (trl_pair){other, times};
        }
    }
    return TRL_OK;
}

trl_status trl_bigrams_finish(trl_bigrams *b, uint64_t min_count, trl_error *err)
{
    uint32_t *new_id = trl_alloc(b->word.n, sizeof *new_id);
    if (!new_id)
        return trl_fail_mem(err);
    numbered *pair = NULL;
    size_t n = 0;
    bool between_words = false;
    trl_status st = rank_words(b, min_count, new_id, err);
    if (st == TRL_OK && !(pair = take_pairs(b, new_id, &n, &between_words)))
        st = trl_fail_mem(err);
    if (st == TRL_OK && !between_words) {
        st = trl_fail(err, TRL_EINVAL, "no two words stand side by side in the text");
        if (min_count > 1)
            trl_fail_hint(err, st, "every word that occurs less than %" PRIu64 " times is left out",
                          min_count);
    }
    if (st == TRL_OK && b->n_pairs > UINT32_MAX)
        st = trl_fail(err, TRL_EINVAL, "%" PRIu64 " pairs of words; at most %" PRIu32, b->n_pairs,
                      UINT32_MAX);
    if (st == TRL_OK)
        st = list_pairs(b, pair, n, err);
    trl_free(pair);
    trl_free(new_id);
    return st;
}
