/* parseval_match.c -- deleting, aligning and matching; see parseval.h for what is counted.
 *
 * Quotes.  An apostrophe may be a quotation mark, whose tag is deleted, or a possessive, whose tag
 * is not.  A parser that takes one for the other would make the sentence an error.  So, when the
 * lengths differ, EVALB looks at the words ' " / with a QUOTE_LABEL: where one at the same place,
 * counted in words left, has another tag and is deleted on one side only, it is put back there.
 * Places from a word put back onwards, its own included, move by one, so that a word may be put
 * back twice; we do the same, since the numbers must agree.
 *
 * Crossing.  The test bracket [s, e) crosses a gold bracket [a, b) when a < s < b < e or
 * s < a < e < b, that is, when
 *
 *     min { b : a < s < b } < e     or     max { a : a < e < b } > s.
 *
 * Both are tables over positions, filled in order of b, or of a, so that each entry is set once;
 * entries already set are skipped by links, as in union-find.
 */
/* SPDX-License-Identifier: MIT */
#include "score/parseval_match.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

typedef struct trl_match_key {
    int32_t start, end;
    uint32_t index; /* of the test bracket */
    bool used;
    size_t first; /* in the first key of a span: the first that is not used, in keys */
} key;

void trl_matcher_fini(trl_matcher *m)
{
    trl_free(m->key);
    trl_free(m->mark);
    *m = (trl_matcher){0};
}

static int32_t *marks(trl_matcher *m, size_t n)
{
    int32_t *mark = trl_reserve(m->mark, &m->cap_mark, n, sizeof *mark);
    if (mark)
        m->mark = mark;
    return mark;
}

/* ---- tags ------------------------------------------------------------------------------------ */

static size_t full_words(const trl_side *s, const trl_label_table *labels)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_leaves; i++)
        n += !labels->info[s->leaf[i].tag].no_length;
    return n;
}

void trl_side_copy_tags(const trl_side *gold, trl_side *test, const trl_label_table *labels)
{
    const bool all = gold->n_leaves == test->n_leaves;
    if (!all && full_words(gold, labels) != full_words(test, labels))
        return;
    for (size_t g = 0, t = 0;; g++, t++) {
        while (!all && g < gold->n_leaves && labels->info[gold->leaf[g].tag].no_length)
            g++;
        while (!all && t < test->n_leaves && labels->info[test->leaf[t].tag].no_length)
            t++;
        if (g >= gold->n_leaves || t >= test->n_leaves)
            return;
        test->leaf[t].tag = gold->leaf[g].tag;
    }
}

/* ---- deleting and aligning ------------------------------------------------------------------- */

static size_t delete_words(trl_side *s, const trl_label_table *labels)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_leaves; i++) {
        s->leaf[i].copies = !labels->info[s->leaf[i].tag].word_deleted;
        n += s->leaf[i].copies;
    }
    s->put_back = 0;
    return n;
}

static bool may_be_quote(const trl_leaf *leaf, const trl_label_table *labels)
{
    return leaf->word.n == 1 && memchr("'\"/", leaf->word.p[0], 3) && labels->info[leaf->tag].quote;
}

/* The leaves that may be quotes and their places: two numbers each.  Returns how many. */
static size_t list_quotes(const trl_side *s, const trl_label_table *labels, int32_t *out)
{
    size_t n = 0;
    int32_t place = 0;
    for (size_t i = 0; i < s->n_leaves; i++) {
        if (may_be_quote(&s->leaf[i], labels)) {
            out[2 * n] = (int32_t)i;
            out[2 * n++ + 1] = place;
        }
        place += (int32_t)s->leaf[i].copies;
    }
    return n;
}

static void put_back(trl_side *s, int32_t *quotes, size_t n, size_t k)
{
    s->leaf[quotes[2 * k]].copies++;
    s->put_back++;
    for (; k < n; k++)
        quotes[2 * k + 1]++;
}

static trl_status fix_quotes(trl_matcher *m, trl_side *gold, trl_side *test,
                             const trl_label_table *labels, trl_error *err)
{
    int32_t *g = marks(m, 2 * (gold->n_leaves + test->n_leaves) + 1);
    if (!g)
        return trl_fail_mem(err);
    const size_t n_g = list_quotes(gold, labels, g);
    int32_t *t = g + 2 * n_g;
    const size_t n_t = list_quotes(test, labels, t);
    for (size_t i = 0; i < n_t; i++) {
        const int32_t place = t[2 * i + 1];
        const uint32_t x = test->leaf[t[2 * i]].tag;
        for (size_t j = 0; j < n_g; j++) {
            const uint32_t y = gold->leaf[g[2 * j]].tag;
            const bool x_deleted = labels->info[x].word_deleted;
            if (g[2 * j + 1] != place || labels->info[y].word_deleted == x_deleted)
                continue;
            if (x_deleted)
                put_back(test, t, n_t, i);
            else
                put_back(gold, g, n_g, j);
        }
    }
    return TRL_OK;
}

static size_t words_left(const trl_side *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_leaves; i++)
        n += s->leaf[i].copies;
    return n;
}

const trl_leaf *trl_side_next(trl_side_walk *w)
{
    const trl_side *s = w->side;
    while (w->leaf < s->n_leaves && w->copy >= s->leaf[w->leaf].copies) {
        w->leaf++;
        w->copy = 0;
    }
    if (w->leaf == s->n_leaves)
        return NULL;
    w->copy++;
    return &s->leaf[w->leaf];
}

trl_status trl_side_align(trl_matcher *m, const trl_side_pair *pair, trl_alignment *how, size_t *a,
                          size_t *b, trl_error *err)
{
    *a = delete_words(pair->gold, pair->labels);
    *b = delete_words(pair->test, pair->labels);
    *how = *b == 0 ? TRL_NO_WORDS : TRL_LENGTHS;
    if (*b == 0)
        return TRL_OK;
    if (*a != *b) {
        const trl_status st = fix_quotes(m, pair->gold, pair->test, pair->labels, err);
        if (st != TRL_OK)
            return st;
        *a = words_left(pair->gold);
        *b = words_left(pair->test);
    }
    if (*a != *b)
        return TRL_OK;
    trl_side_walk g = {.side = pair->gold}, t = {.side = pair->test};
    for (const trl_leaf *x, *y; (x = trl_side_next(&g)) && (y = trl_side_next(&t));) {
        if (trl_word_equal(pair->labels, x->word, y->word))
            continue;
        *how = TRL_WORDS_DIFFER;
        *a = g.leaf;
        *b = t.leaf;
        return TRL_OK;
    }
    *how = TRL_ALIGNED;
    return TRL_OK;
}

/* ---- matching -------------------------------------------------------------------------------- */

/* Spans among the words left, and which brackets count.  A bracket that was never closed ends
 * before the first word, as in EVALB, and moves with every word put back. */
trl_status trl_side_settle(trl_side *s, const trl_label_table *labels, uint32_t *n_live,
                           trl_error *err)
{
    int32_t *before = trl_reserve(s->before, &s->cap_before, s->n_leaves + 1, sizeof *before);
    if (!before)
        return trl_fail_mem(err);
    s->before = before;
    before[0] = 0;
    for (size_t i = 0; i < s->n_leaves; i++)
        before[i + 1] = before[i] + (int32_t)s->leaf[i].copies;
    *n_live = 0;
    for (size_t i = 0; i < s->n_brackets; i++) {
        trl_bracket *b = &s->bracket[i];
        b->start = before[b->from];
        b->end = b->to == TRL_UNCLOSED ? s->put_back - 1 : before[b->to];
        b->matched = false;
        b->live = b->start != b->end && !labels->info[b->label].bracket_deleted;
        *n_live += b->live;
    }
    return TRL_OK;
}

static int by_span(const void *va, const void *vb)
{
    const key *a = va, *b = vb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static size_t find_span(const key *k, size_t n, const trl_bracket *b)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (k[mid].start < b->start || (k[mid].start == b->start && k[mid].end < b->end))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Takes the first free test bracket of the same span and label. */
static bool match_one(key *k, size_t n, trl_side *test, trl_bracket *b,
                      const trl_label_table *labels, bool labelled)
{
    const size_t head = find_span(k, n, b);
    const uint32_t bare = labels->info[b->label].bare;
    for (size_t i = head < n ? k[head].first : n;
         i < n && k[i].start == b->start && k[i].end == b->end; i++) {
        if (k[i].used)
            continue;
        trl_bracket *other = &test->bracket[k[i].index];
        if (labelled && !trl_label_equal(labels, bare, labels->info[other->label].bare))
            continue;
        k[i].used = other->matched = true;
        b->partner = k[i].index;
        while (k[head].first < n && k[k[head].first].used)
            k[head].first++;
        return true;
    }
    return false;
}

static trl_status count_matches(trl_matcher *m, const trl_side_pair *pair, bool labelled,
                                trl_parseval_sentence *out, trl_error *err)
{
    key *k = trl_reserve(m->key, &m->cap_key, (size_t)out->test + 1, sizeof *k);
    if (!k)
        return trl_fail_mem(err);
    m->key = k;
    size_t n = 0;
    for (size_t i = 0; i < pair->test->n_brackets; i++) {
        const trl_bracket *b = &pair->test->bracket[i];
        if (b->live)
            k[n++] = (key){.start = b->start, .end = b->end, .index = (uint32_t)i};
    }
    qsort(k, n, sizeof *k, by_span);
    for (size_t i = 0; i < n; i++)
        k[i].first = i;
    for (size_t i = 0; i < pair->gold->n_brackets; i++) {
        trl_bracket *b = &pair->gold->bracket[i];
        b->matched = b->live && match_one(k, n, pair->test, b, pair->labels, labelled);
        out->match += b->matched;
    }
    return TRL_OK;
}

/* ---- crossing -------------------------------------------------------------------------------- */

/* The next position from x on that has not been set; compresses the path for later calls. */
static int32_t unset_from(int32_t *skip, int32_t x)
{
    int32_t end = x;
    while (skip[end] != end)
        end = skip[end];
    while (skip[x] != end) {
        const int32_t next = skip[x];
        skip[x] = end;
        x = next;
    }
    return end;
}

/* Scratch. */
typedef struct edge_lists {
    int32_t *skip;
    int32_t *list;
    int32_t *next;
} edge_lists;

/* to[x] = min { b : a < x < b } (by_end) or max { a : a < x < b } over live gold brackets
 * [a, b); `none` where there is none.  list, next: brackets by b or a. */
static void nearest_edges(const trl_side *gold, int32_t W, bool by_end, int32_t none, int32_t *to,
                          const edge_lists *scratch)
{
    for (int32_t x = 0; x <= W; x++) {
        to[x] = none;
        scratch->skip[x] = x;
        scratch->list[x] = -1;
    }
    for (size_t i = 0; i < gold->n_brackets; i++) {
        const trl_bracket *b = &gold->bracket[i];
        if (!b->live || b->end < b->start)
            continue;
        const int32_t at = by_end ? b->end : b->start;
        scratch->next[i] = scratch->list[at];
        scratch->list[at] = (int32_t)i;
    }
    for (int32_t x = 0; x <= W; x++) {
        const int32_t edge = by_end ? x : W - x;
        for (int32_t i = scratch->list[edge]; i >= 0; i = scratch->next[i]) {
            const trl_bracket *b = &gold->bracket[i];
            for (int32_t s = unset_from(scratch->skip, b->start + 1); s < b->end;
                 s = unset_from(scratch->skip, s)) {
                to[s] = edge;
                scratch->skip[s] = s + 1;
            }
        }
    }
}

static trl_status count_crossing(trl_matcher *m, const trl_side *gold, const trl_side *test,
                                 trl_parseval_sentence *out, trl_error *err)
{
    const int32_t W = gold->before[gold->n_leaves];
    const size_t row = (size_t)W + 2;
    if (gold->n_brackets > INT32_MAX)
        return trl_fail_mem(err);
    int32_t *least_end = marks(m, 4 * row + gold->n_brackets);
    if (!least_end)
        return trl_fail_mem(err);
    int32_t *most_start = least_end + row, *skip = most_start + row, *list = skip + row;
    nearest_edges(gold, W, true, INT32_MAX, least_end, &(edge_lists){skip, list, list + row});
    nearest_edges(gold, W, false, -1, most_start, &(edge_lists){skip, list, list + row});
    for (size_t i = 0; i < test->n_brackets; i++) {
        const trl_bracket *b = &test->bracket[i];
        if (b->live && b->end >= 0)
            out->crossing += least_end[b->start] < b->end || most_start[b->end] > b->start;
    }
    return TRL_OK;
}

trl_status trl_side_match(trl_matcher *m, const trl_side_pair *pair, bool labelled,
                          trl_parseval_sentence *out, trl_error *err)
{
    trl_status st = trl_side_settle(pair->gold, pair->labels, &out->gold, err);
    if (st == TRL_OK)
        st = trl_side_settle(pair->test, pair->labels, &out->test, err);
    if (st == TRL_OK)
        st = count_matches(m, &(trl_side_pair){pair->gold, pair->test, pair->labels}, labelled, out,
                           err);
    if (st == TRL_OK)
        st = count_crossing(m, pair->gold, pair->test, out, err);
    if (st != TRL_OK)
        return st;
    trl_side_walk g = {.side = pair->gold}, t = {.side = pair->test};
    for (const trl_leaf *x, *y; (x = trl_side_next(&g)) && (y = trl_side_next(&t));) {
        out->words++;
        out->tags += trl_label_equal(pair->labels, x->tag, y->tag);
    }
    return TRL_OK;
}
