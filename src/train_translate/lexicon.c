/* lexicon.c -- counting translations and orders. */
/* SPDX-License-Identifier: MIT */
#include "train_translate/lexicon.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* ---- candidates ------------------------------------------------------------------------------ */

typedef struct entry {
    uint32_t word, target, count;
} entry;

static int by_word(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->word != y->word)
        return x->word < y->word ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

static trl_status count_words(const trl_translate_corpus *c, entry **out, size_t *n, trl_error *err)
{
    trl_key_index index = {0};
    entry *all = NULL;
    size_t cap = 0;
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < c->n; k++) {
        const trl_translate_pair *p = &c->pair[k];
        for (size_t i = 0; st == TRL_OK && !p->held && i < p->source.n_words; i++) {
            const uint64_t key = (uint64_t)p->source.word[i] << 32 | p->target[i];
            const uint32_t next = (uint32_t)index.n;
            entry *grown = trl_reserve(all, &cap, next + (size_t)1, sizeof *grown);
            all = grown ? grown : all;
            const uint32_t at = grown ? trl_key_index_add(&index, key, next) : TRL_NO_ID;
            if (at == TRL_NO_ID)
                st = trl_fail_mem(err);
            else if (at == next)
                all[at] = (entry){p->source.word[i], p->target[i], 1};
            else
                all[at].count++;
        }
    }
    *n = index.n;
    *out = all;
    trl_key_index_fini(&index);
    if (st == TRL_OK && *n)
        qsort(all, *n, sizeof *all, by_word);
    return st;
}

static trl_status add_candidate(trl_translate_model *m, size_t *n, const entry *e,
                                const trl_bitext *text, trl_error *err)
{
    uint32_t target = TRL_NO_ID;
    if (e->target != TRL_NO_ID) {
        const trl_str s = trl_strtab_get(&text->side[1].words, e->target);
        if ((target = trl_strtab_add(&m->targets, s.p, s.n)) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    m->candidate[(*n)++] = (trl_candidate){target, e->count, TRL_NO_ID};
    return TRL_OK;
}

static trl_status filter_words(trl_translate_model *m, const entry *all, size_t n,
                               const trl_bitext *text, const trl_candidate_filter *filter,
                               trl_error *err)
{
    size_t kept = 0, at = 0;
    trl_status st = TRL_OK;
    for (uint32_t w = 0; st == TRL_OK && w < m->names.words.n; w++) {
        size_t end = at;
        uint64_t total = 0;
        for (; end < n && all[end].word == w; end++)
            total += all[end].count;
        for (size_t k = at; st == TRL_OK && k < end; k++)
            if (k == at || (all[k].count >= filter->count &&
                            (double)all[k].count >= filter->share * (double)total))
                st = add_candidate(m, &kept, &all[k], text, err);
        m->candidate_end[w] = kept;
        m->total[w] = (uint32_t)total;
        at = end;
    }
    return st;
}

trl_status trl_lexicon_make(trl_translate_model *m, const trl_translate_corpus *c,
                            const trl_bitext *text, const trl_candidate_filter *filter,
                            trl_error *err)
{
    entry *all = NULL;
    size_t n = 0;
    trl_status st = count_words(c, &all, &n, err);
    m->candidate = trl_alloc(n + 1, sizeof *m->candidate);
    m->candidate_end = trl_zalloc(m->names.words.n + 1, sizeof *m->candidate_end);
    m->total = trl_zalloc(m->names.words.n + 1, sizeof *m->total);
    m->order = trl_zalloc(m->names.labels.n + 1, sizeof *m->order);
    if (st == TRL_OK && !(m->candidate && m->candidate_end && m->total && m->order))
        st = trl_fail_mem(err);
    if (st == TRL_OK)
        st = filter_words(m, all, n, text, filter, err);
    trl_free(all);
    if (st != TRL_OK)
        return st;
    for (size_t k = 0; k < m->names.labels.n; k++)
        m->order[k].classifier = TRL_NO_ID;
    for (size_t k = 0; k < c->n; k++) {
        const trl_translate_pair *p = &c->pair[k];
        for (size_t v = p->source.n_words; !p->held && v < p->source.n_nodes; v++) {
            trl_order *o = &m->order[p->source.node[v].label];
            o->kept += p->order[v] == TRL_ORDER_KEPT;
            o->swapped += p->order[v] == TRL_ORDER_SWAPPED;
        }
    }
    return TRL_OK;
}

/* ---- places ---------------------------------------------------------------------------------- */

void trl_places_fini(trl_places *p)
{
    trl_free(p->place);
    trl_free(p->end);
    *p = (trl_places){0};
}

/* The number that place `at` of a pair belongs to; TRL_NO_ID: none. */
typedef uint32_t (*number_fn)(const trl_translate_pair *p, size_t at);

static uint32_t word_at(const trl_translate_pair *p, size_t at)
{
    return at < p->source.n_words ? p->source.word[at] : TRL_NO_ID;
}

static uint32_t label_at(const trl_translate_pair *p, size_t at)
{
    const bool has = at >= p->source.n_words && p->order[at] != TRL_ORDER_FREE;
    return has ? p->source.node[at].label : TRL_NO_ID;
}

/* Counting sort. */
static trl_status sort_places(trl_places *p, const trl_translate_corpus *c, size_t n,
                              number_fn number, trl_error *err)
{
    p->n = n;
    size_t *next = p->end = trl_zalloc(n + 2, sizeof *p->end);
    for (int pass = 0; pass < 2; pass++) {
        if (!next || (pass && !p->place))
            return trl_fail_mem(err);
        for (uint32_t k = 0; k < c->n; k++)
            for (uint32_t at = 0; !c->pair[k].held && at < c->pair[k].source.n_nodes; at++) {
                const uint32_t x = number(&c->pair[k], at);
                if (x == TRL_NO_ID)
                    continue;
                if (pass)
                    p->place[next[x]++] = (trl_place){k, at};
                else
                    next[x + 1]++;
            }
        for (size_t x = 0; !pass && x < n; x++) /* next[x]: where the places of x begin */
            next[x + 1] += next[x];
        if (!pass)
            p->place = trl_alloc(next[n] + 1, sizeof *p->place);
    }
    return TRL_OK;
}

trl_status trl_places_of_words(trl_places *p, const trl_translate_corpus *c, size_t n_words,
                               trl_error *err)
{
    return sort_places(p, c, n_words, word_at, err);
}

trl_status trl_places_of_labels(trl_places *p, const trl_translate_corpus *c, size_t n_labels,
                                trl_error *err)
{
    return sort_places(p, c, n_labels, label_at, err);
}
