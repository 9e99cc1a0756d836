/* rerank_lists.c -- candidates of held-out trees, their features and their brackets. */
/* SPDX-License-Identifier: MIT */
#include "train_tree/rerank_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

static void choice_fini(trl_rerank_choice *c)
{
    trl_free(c->match);
    trl_free(c->said);
    trl_free(c->id);
    trl_free(c->times);
    trl_free(c->key);
    *c = (trl_rerank_choice){0};
}

void trl_rerank_lists_fini(trl_rerank_lists *l)
{
    for (size_t k = 0; k < l->n; k++)
        choice_fini(&l->choice[k]);
    trl_free(l->choice);
    trl_free(l->seen);
    trl_tree_index_fini(&l->keys);
    *l = (trl_rerank_lists){0};
}

/* ---- brackets -------------------------------------------------------------------------------- */

static bool is(trl_str s, const char *name)
{
    return s.n == strlen(name) && memcmp(s.p, name, s.n) == 0;
}

static bool is_punctuation(trl_str tag)
{
    return is(tag, ",") || is(tag, ":") || is(tag, ".") || is(tag, "``") || is(tag, "''");
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

#define PLACES 20 /* bits of a place in a sentence, twice in a bracket */

/* Scratch of one thread. */
typedef struct worker {
    trl_decoder d;
    trl_candidates c;
    trl_rerank_features x;
    trl_rerank_keys keys, base;
    uint32_t *place; /* [words + 1]: words before it that are not punctuation */
    uint64_t *bracket, *gold;
    size_t cap_place, cap_bracket, cap_gold, cap_first;
    size_t *first; /* [candidates + 1], into bracket */
} worker;

static void worker_fini(worker *w)
{
    trl_decoder_fini(&w->d);
    trl_candidates_fini(&w->c);
    trl_rerank_features_fini(&w->x);
    trl_free(w->keys.key);
    trl_free(w->base.key);
    trl_free(w->place);
    trl_free(w->bracket);
    trl_free(w->gold);
    trl_free(w->first);
}

static bool number_places(worker *w, const trl_tree *t, const trl_strtab *labels)
{
    uint32_t *place = trl_reserve(w->place, &w->cap_place, t->n_words + 1, sizeof *place);
    w->place = place ? place : w->place;
    if (!place)
        return false;
    for (size_t v = 0; v < t->n_nodes; v++)
        if (t->node[v].child == TRL_NO_NODE)
            place[t->node[v].from + 1] =
                is_punctuation(trl_strtab_get(labels, t->node[v].label)) ? 0 : 1;
    place[0] = 0;
    for (size_t k = 0; k < t->n_words; k++)
        place[k + 1] += place[k];
    return true;
}

/* The brackets of a tree below its root, ascending, in out, which has room for all its nodes. */
static size_t brackets_of(const worker *w, const trl_node *node, size_t n, const trl_strtab *labels,
                          uint64_t *out)
{
    size_t m = 0;
    for (size_t v = 1; v < n; v++) {
        const uint64_t from = w->place[node[v].from], to = w->place[node[v].to];
        if (node[v].child == TRL_NO_NODE || from == to)
            continue;
        trl_str s = trl_strtab_get(labels, node[v].label);
        s = is(s, "PRT") ? (trl_str){"ADVP", 4} : s;
        out[m++] = trl_str_hash(s.p, s.n) << 2 * PLACES | from << PLACES | to;
    }
    if (m)
        qsort(out, m, sizeof *out, ascending);
    return m;
}

static uint32_t shared(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
    uint32_t both = 0;
    for (size_t i = 0, j = 0; i < n && j < m;) {
        both += a[i] == b[j];
        const bool next = a[i] <= b[j];
        j += a[i] >= b[j];
        i += next;
    }
    return both;
}

/* Every node the same, tags included; both with the nodes above first. */
static bool is_right(const trl_tree *gold, const trl_strtab *gold_labels, const trl_node_list *t,
                     const trl_strtab *labels)
{
    bool same = gold->n_nodes == t->n;
    for (size_t v = 0; same && v < t->n; v++) {
        const trl_node *a = &gold->node[v], *b = &t->node[v];
        const trl_str x = trl_strtab_get(gold_labels, a->label),
                      y = trl_strtab_get(labels, b->label);
        same = a->from == b->from && a->to == b->to && x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
    }
    return same;
}

static bool list_brackets(worker *w, const trl_tree *t, const trl_strtab *gold_labels,
                          const trl_strtab *labels, trl_rerank_choice *out)
{
    size_t all = 0;
    for (size_t k = 0; k < w->c.n; k++)
        all += w->c.list[k].tree.n;
    uint64_t *b = trl_reserve(w->bracket, &w->cap_bracket, all, sizeof *b);
    w->bracket = b ? b : w->bracket;
    uint64_t *g = trl_reserve(w->gold, &w->cap_gold, t->n_nodes, sizeof *g);
    w->gold = g ? g : w->gold;
    size_t *first = trl_reserve(w->first, &w->cap_first, w->c.n + 1, sizeof *first);
    w->first = first ? first : w->first;
    if (!b || !g || !first || !number_places(w, t, gold_labels))
        return false;
    out->gold = (uint32_t)brackets_of(w, t->node, t->n_nodes, gold_labels, g);
    first[0] = 0;
    for (size_t k = 0; k < w->c.n; k++) {
        const trl_node_list *c = &w->c.list[k].tree;
        const size_t n = brackets_of(w, c->node, c->n, labels, b + first[k]);
        first[k + 1] = first[k] + n;
        out->test[k] = (uint32_t)n;
        out->match[k] = shared(g, out->gold, b + first[k], n);
        out->right[k] = is_right(t, gold_labels, c, labels);
        for (size_t l = 0; l <= k; l++)
            out->common[k * w->c.n + l] = out->common[l * w->c.n + k] =
                shared(b + first[l], out->test[l], b + first[k], n);
    }
    return true;
}

/* ---- features -------------------------------------------------------------------------------- */

/* What is in a and not in b counts 1, what is in b and not in a -1, repetitions each; both ascend.
 * Writes at most 127 times and -127 times. */
static size_t differences(const trl_rerank_keys *a, const trl_rerank_keys *b, uint64_t *key,
                          int8_t *times)
{
    size_t n = 0;
    for (size_t i = 0, j = 0; i < a->n || j < b->n;) {
        const uint64_t k = j == b->n || (i < a->n && a->key[i] < b->key[j]) ? a->key[i] : b->key[j];
        int more = 0;
        for (; i < a->n && a->key[i] == k; i++)
            more++;
        for (; j < b->n && b->key[j] == k; j++)
            more--;
        if (more == 0)
            continue;
        key[n] = k;
        times[n++] = (int8_t)(more > 127 ? 127 : more < -127 ? -127 : more);
    }
    return n;
}

static trl_status sorted_keys(worker *w, size_t k, trl_rerank_keys *out, trl_error *err)
{
    const trl_status st = trl_rerank_tree(&w->x, &w->c.list[k].tree, out, err);
    if (st == TRL_OK && out->n)
        qsort(out->key, out->n, sizeof *out->key, ascending);
    return st;
}

static trl_status list_features(worker *w, trl_rerank_choice *out, trl_error *err)
{
    size_t cap_key = 0, cap_times = 0;
    trl_status st = sorted_keys(w, 0, &w->base, err);
    out->first[0] = out->first[1] = 0;
    for (size_t k = 1; st == TRL_OK && k < w->c.n; k++) {
        st = sorted_keys(w, k, &w->keys, err);
        const size_t at = out->first[k], most = at + w->keys.n + w->base.n;
        uint64_t *key = st == TRL_OK ? trl_reserve(out->key, &cap_key, most, sizeof *key) : NULL;
        out->key = key ? key : out->key;
        int8_t *times =
            st == TRL_OK ? trl_reserve(out->times, &cap_times, most, sizeof *times) : NULL;
        out->times = times ? times : out->times;
        if (!key || !times)
            return st == TRL_OK ? trl_fail_mem(err) : st;
        out->first[k + 1] = (uint32_t)(at + differences(&w->keys, &w->base, key + at, times + at));
    }
    return st;
}

static void list_said(const worker *w, trl_rerank_choice *out)
{
    for (size_t k = 0; k < w->c.n; k++)
        for (int f = 0; f < TRL_SAID; f++)
            out->said[k * TRL_SAID + (size_t)f] = w->c.list[k].said[f] - w->c.list[0].said[f];
}

/* ---- lists ----------------------------------------------------------------------------------- */

typedef struct listing {
    trl_rerank_lists *l;
    const trl_rerank_source *from;
    const trl_tree_set *trees;
    worker *worker;
    size_t base; /* choice of the first tree */
} listing;

static trl_status make_list(listing *a, worker *w, const trl_tree *t, trl_rerank_choice *out,
                            trl_error *err)
{
    const size_t n = w->c.n;
    out->match = trl_alloc(n * 3 + n * n + n + 1, sizeof *out->match);
    out->said = trl_alloc(n * TRL_SAID, sizeof *out->said);
    if (!out->match || !out->said)
        return trl_fail_mem(err);
    out->n = (uint32_t)n;
    out->fold = a->from->fold;
    out->test = out->match + n;
    out->right = out->test + n;
    out->common = out->right + n;
    out->first = out->common + n * n;
    list_said(w, out);
    if (!list_brackets(w, t, &a->trees->labels, &a->from->m->fine.labels, out))
        return trl_fail_mem(err);
    w->x.groups = a->from->groups;
    const trl_status st = trl_rerank_sentence(&w->x, t->word, t->n_words, err);
    return st == TRL_OK ? list_features(w, out, err) : st;
}

static trl_status list_one(void *ctx, size_t job, size_t number, trl_error *err)
{
    listing *a = ctx;
    worker *w = &a->worker[number];
    const trl_tree *t = &a->trees->tree[job];
    const trl_tree_model *m = a->from->m;
    trl_decode_options o = {.binary_exp = a->from->binary_exp,
                            .unary = a->from->unary,
                            .mix = TRL_MIX,
                            .max_work = TRL_MAX_WORK,
                            .threshold = m->threshold};
    trl_status st = trl_decode_prepare(&w->d, m, t->word, t->n_words, &o, err);
    if (st == TRL_OK)
        st = trl_candidates_of(&w->c, &w->d, m, a->from->n, err);
    if (st != TRL_OK)
        w->c.n = 0;
    st = trl_decode_settle(&w->d, st);
    return st == TRL_OK && w->c.n > 1 ? make_list(a, w, t, &a->l->choice[a->base + job], err) : st;
}

/* Numbers the keys of the choices from `base` on, in order, and drops those without a list. */
static trl_status number_keys(trl_rerank_lists *l, size_t base, trl_error *err)
{
    size_t n = base;
    for (size_t k = base; k < l->n; k++) {
        trl_rerank_choice *c = &l->choice[k];
        if (c->n == 0)
            continue;
        const uint32_t all = c->first[c->n];
        c->id = trl_alloc(all, sizeof *c->id);
        if (!c->id)
            return trl_fail_mem(err);
        for (uint32_t f = 0; f < all; f++)
            if ((c->id[f] = trl_tree_index_add(&l->keys, c->key[f])) == TRL_NO_ID)
                return trl_fail_mem(err);
        trl_free(c->key);
        c->key = NULL;
        l->choice[n] = *c;
        if (n++ != k)
            *c = (trl_rerank_choice){0};
    }
    l->n = n;
    return TRL_OK;
}

/* In how many lists a key makes a difference. */
static trl_status count_lists(trl_rerank_lists *l, size_t base, trl_error *err)
{
    const size_t n = l->keys.n, old = l->cap_seen;
    uint32_t *seen = trl_reserve(l->seen, &l->cap_seen, n, sizeof *seen);
    l->seen = seen ? seen : l->seen;
    uint32_t *last = trl_zalloc(n, sizeof *last); /* choice + 1 */
    if (!seen || !last) {
        trl_free(last);
        return trl_fail_mem(err);
    }
    memset(seen + old, 0, (l->cap_seen - old) * sizeof *seen);
    for (size_t k = base; k < l->n; k++)
        for (uint32_t f = 0; f < l->choice[k].first[l->choice[k].n]; f++) {
            const uint32_t id = l->choice[k].id[f];
            seen[id] += last[id] != k + 1;
            last[id] = (uint32_t)k + 1;
        }
    trl_free(last);
    return TRL_OK;
}

trl_status trl_rerank_lists_add(trl_rerank_lists *l, const trl_rerank_source *from,
                                const trl_tree_set *trees, trl_pool *pool, trl_error *err)
{
    const size_t threads = trl_pool_threads(pool);
    listing a = {l, from, trees, trl_zalloc(threads, sizeof *a.worker), l->n};
    const size_t base = l->n;
    trl_rerank_choice *choice = trl_reserve(l->choice, &l->cap, l->n + trees->n, sizeof *choice);
    trl_status st = a.worker && choice ? TRL_OK : trl_fail_mem(err);
    l->choice = choice ? choice : l->choice;
    if (st == TRL_OK) {
        memset(choice + base, 0, trees->n * sizeof *choice);
        l->n += trees->n;
    }
    for (size_t k = 0; st == TRL_OK && k < threads; k++)
        st = trl_rerank_features_init(&a.worker[k].x, from->heads, &from->m->fine.labels,
                                      from->clusters, err);
    if (st == TRL_OK)
        st = trl_pool_run(pool, trees->n, list_one, &a, err);
    for (size_t k = 0; a.worker && k < threads; k++)
        worker_fini(&a.worker[k]);
    trl_free(a.worker);
    if (st == TRL_OK)
        st = number_keys(l, base, err);
    return st == TRL_OK ? count_lists(l, base, err) : st;
}

/* Keeps the features whose keys have a new number. */
static void renumber(trl_rerank_choice *c, const uint32_t *number)
{
    uint32_t n = 0, from = 0;
    for (size_t k = 0; k < c->n; k++) {
        const uint32_t to = c->first[k + 1];
        for (; from < to; from++)
            if (number[c->id[from]] != TRL_NO_ID) {
                c->times[n] = c->times[from];
                c->id[n++] = number[c->id[from]];
            }
        c->first[k + 1] = n;
    }
    uint32_t *id = trl_realloc(c->id, n, sizeof *id);
    c->id = id ? id : c->id;
    int8_t *times = trl_realloc(c->times, n, sizeof *times);
    c->times = times ? times : c->times;
}

trl_status trl_rerank_lists_prune(trl_rerank_lists *l, uint32_t least, trl_error *err)
{
    trl_tree_index kept = {0};
    uint32_t *number = trl_alloc(l->keys.n, sizeof *number);
    trl_status st = number ? TRL_OK : trl_fail_mem(err);
    for (size_t at = 0; st == TRL_OK && at < l->keys.n_slots; at++) {
        if (l->keys.key[at] == 0)
            continue;
        const uint32_t old = l->keys.number[at];
        number[old] =
            l->seen[old] >= least ? trl_tree_index_add(&kept, l->keys.key[at]) : TRL_NO_ID;
        if (l->seen[old] >= least && number[old] == TRL_NO_ID)
            st = trl_fail_mem(err);
    }
    if (st != TRL_OK) {
        trl_tree_index_fini(&kept);
        trl_free(number);
        return st;
    }
    for (size_t k = 0; k < l->n; k++)
        renumber(&l->choice[k], number);
    trl_free(number);
    trl_free(l->seen);
    l->seen = NULL;
    l->cap_seen = 0;
    trl_tree_index_fini(&l->keys);
    l->keys = kept;
    return TRL_OK;
}
