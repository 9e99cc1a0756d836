/* errors.c -- what differs between two sides. */
/* SPDX-License-Identifier: MIT */
#include "errors.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *const error_kind_names[] = {"type",  "boundaries", "both", "missed",
                                        "extra", "tag",        NULL};

/* ---- memory ---------------------------------------------------------------------------------- */

#define BLOCK ((size_t)1 << 16)

struct error_block {
    struct error_block *next;
    size_t used, cap;
    char bytes[];
};

static void *take(error_list *e, size_t n)
{
    n = (n + 15) & ~(size_t)15;
    if (!e->block || e->block->cap - e->block->used < n) {
        const size_t cap = n > BLOCK ? n : BLOCK;
        struct error_block *b = malloc(sizeof *b + cap);
        if (!b)
            return NULL;
        *b = (struct error_block){.next = e->block, .cap = cap};
        e->block = b;
    }
    void *p = e->block->bytes + e->block->used;
    e->block->used += n;
    return p;
}

static bool keep(error_list *e, trl_str *s)
{
    char *p = take(e, s->n + 1);
    if (p && s->n)
        memcpy(p, s->p, s->n);
    *s = (trl_str){p, s->n};
    return p != NULL;
}

static bool grow(void **p, size_t *cap, size_t n, size_t size)
{
    if (n < *cap)
        return true;
    const size_t more = *cap ? 2 * *cap : 64;
    void *q = realloc(*p, more * size);
    if (!q)
        return false;
    *p = q;
    *cap = more;
    return true;
}

void errors_fini(error_list *e)
{
    for (struct error_block *b = e->block, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(e->sentence);
    free(e->item);
    *e = (error_list){0};
}

/* ---- errors ---------------------------------------------------------------------------------- */

static bool add_sentence(error_list *e, const error_sides *s)
{
    if (e->n_sentences && e->sentence[e->n_sentences - 1].number == s->number)
        return true;
    if (!grow((void **)&e->sentence, &e->sentence_cap, e->n_sentences, sizeof *e->sentence))
        return false;
    error_sentence x = {s->number, s->row, take(e, s->n * sizeof *x.word), s->n};
    for (size_t i = 0; x.word && i < s->n; i++) {
        x.word[i] = s->word[i];
        if (!keep(e, &x.word[i]))
            return false;
    }
    if (x.word)
        e->sentence[e->n_sentences++] = x;
    return x.word != NULL;
}

bool errors_add(error_list *e, const error_sides *s, const error_item *item)
{
    if (!add_sentence(e, s) || !grow((void **)&e->item, &e->cap, e->n, sizeof *e->item))
        return false;
    error_item x = *item;
    x.sentence = e->n_sentences - 1;
    if (!keep(e, &x.gold.type) || !keep(e, &x.predicted.type))
        return false;
    e->count[x.kind]++;
    e->item[e->n++] = x;
    return true;
}

static bool same_type(const error_span *a, const error_span *b)
{
    return errors_same_text(a->type, b->type);
}

static size_t overlap(const error_span *a, const error_span *b)
{
    const size_t from = a->begin > b->begin ? a->begin : b->begin;
    const size_t to = a->end < b->end ? a->end : b->end;
    return to > from ? to - from : 0;
}

/* The one of n spans that shares most words with x; NULL: none does. */
static const error_span *nearest(const error_span *x, const error_span *of, size_t n)
{
    const error_span *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (overlap(x, &of[i]) > (best ? overlap(x, best) : 0))
            best = &of[i];
    return best;
}

/* The least sure word of those. */
static double least(const double *p, size_t begin, size_t end)
{
    double x = p ? 1.0 : (double)NAN;
    for (size_t t = begin; p && t < end; t++)
        x = p[t] < x ? p[t] : x;
    return x;
}

static bool add_predicted(error_list *e, const error_sides *s, const error_span *x)
{
    const error_span *gold = nearest(x, s->gold, s->n_gold);
    if (gold && errors_same_words(gold, x) && same_type(gold, x)) {
        e->right++;
        return true;
    }
    error_item item = {.predicted = *x, .p = least(s->p, x->begin, x->end)};
    item.kind = !gold                        ? ERROR_EXTRA
                : errors_same_words(gold, x) ? ERROR_TYPE
                : same_type(gold, x)         ? ERROR_BOUNDARIES
                                             : ERROR_BOTH;
    if (gold)
        item.gold = *gold;
    return errors_add(e, s, &item);
}

bool errors_add_chunks(error_list *e, const error_sides *s)
{
    bool ok = true;
    e->seen++;
    e->words += s->n;
    e->gold += s->n_gold;
    e->predicted += s->n_predicted;
    e->probabilities = e->probabilities || s->p;
    for (size_t i = 0; i < s->n_predicted && ok; i++)
        ok = add_predicted(e, s, &s->predicted[i]);
    for (size_t i = 0; i < s->n_gold && ok; i++) {
        const error_span *g = &s->gold[i];
        if (!nearest(g, s->predicted, s->n_predicted))
            ok = errors_add(e, s,
                            &(error_item){.kind = ERROR_MISSED,
                                          .gold = *g,
                                          .p = least(s->p, g->begin, g->end)});
    }
    return ok;
}

static int by_probability(const void *a_, const void *b_)
{
    const error_item *a = a_, *b = b_;
    const double x = isnan(a->p) ? -1.0 : a->p, y = isnan(b->p) ? -1.0 : b->p;
    if (x != y)
        return x < y ? 1 : -1;
    if (a->sentence != b->sentence)
        return a->sentence < b->sentence ? -1 : 1;
    const size_t i = a->predicted.type.n ? a->predicted.begin : a->gold.begin;
    const size_t j = b->predicted.type.n ? b->predicted.begin : b->gold.begin;
    if (i != j)
        return i < j ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

void errors_sort(error_list *e)
{
    if (e->n)
        qsort(e->item, e->n, sizeof *e->item, by_probability);
}
