/* span_features.c -- groups of items, and the features of their labels and heads. */
/* SPDX-License-Identifier: MIT */
#include "search/span_features.h"

#include <string.h>

#include "base/mem.h"

#define NONE 0xfffffffeu /* the value of an item that is not there */

static uint64_t make_key(size_t group, trl_group_question q, uint32_t value)
{
    return (uint64_t)group << 40 | (uint64_t)q << 32 | value;
}

uint32_t trl_search_label(trl_search_names *x, trl_str label)
{
    const size_t n = label.n < 2 ? label.n : 2;
    const uint32_t id = trl_strtab_add(&x->labels, label.p, label.n);
    const uint32_t class = trl_strtab_add(&x->classes, label.p, n);
    uint32_t *of = trl_reserve(x->class_of, &x->class_cap, x->labels.n, sizeof *of);
    x->class_of = of ? of : x->class_of;
    if (id == TRL_NO_ID || class == TRL_NO_ID || !of)
        return TRL_NO_ID;
    of[id] = class;
    return id;
}

void trl_search_names_fini(trl_search_names *x)
{
    trl_strtab_fini(&x->labels);
    trl_strtab_fini(&x->words);
    trl_strtab_fini(&x->classes);
    trl_free(x->class_of);
    trl_strtab_fini(&x->paths);
    trl_free(x->paths_of);
    *x = (trl_search_names){0};
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* One span while its features are written. */
typedef struct writer {
    const trl_span_view *v;
    const trl_partial_parse *s;
    size_t first, last;
    uint32_t begin, end; /* words */
    uint64_t *key;       /* NULL: numbers are wanted */
    uint32_t *id;
    const trl_item_ids *ids; /* where they come from */
    size_t n;
    size_t group;
} writer;

/* Numbers [begin[group] .. begin[group + 1]) of a row of `ids`. */
static void copy_ids(writer *w, const uint32_t *begin)
{
    for (uint32_t k = begin[w->group]; k < begin[w->group + 1]; k++)
        w->id[w->n++] = w->ids->id[k];
}

static void answer(writer *w, uint32_t item)
{
    const trl_span_view *v = w->v;
    if (!w->key) {
        copy_ids(w, w->ids->begin + item * (v->groups->n + 1));
        return;
    }
    const trl_item *x = &v->forest->item[item];
    const unsigned q = v->groups->group[w->group].questions;
    const trl_item *head = &v->forest->item[x->head];
    const uint32_t tag = head->label, at = head->from;
    if (q & 1u << TRL_ASK_LABEL)
        w->key[w->n++] = make_key(w->group, TRL_ASK_LABEL, x->label);
    if (q & 1u << TRL_ASK_WORD && v->word[at] != TRL_NO_ID)
        w->key[w->n++] = make_key(w->group, TRL_ASK_WORD, v->word[at]);
    if (q & 1u << TRL_ASK_TAG)
        w->key[w->n++] = make_key(w->group, TRL_ASK_TAG, tag);
    if (q & 1u << TRL_ASK_CLASS)
        w->key[w->n++] = make_key(w->group, TRL_ASK_CLASS, v->names->class_of[tag]);
    if (q & 1u << TRL_ASK_CLUSTER)
        for (int k = 0; k < TRL_PATHS; k++)
            if (v->path[at][k] != TRL_NO_ID)
                w->key[w->n++] = make_key(w->group, TRL_ASK_CLUSTER, v->path[at][k]);
}

static void answer_none(writer *w)
{
    if (!w->key) {
        copy_ids(w, w->ids->none);
        return;
    }
    const unsigned q = w->v->groups->group[w->group].questions;
    for (int k = TRL_ASK_LABEL; k <= TRL_ASK_CLASS; k++)
        if (q & 1u << k)
            w->key[w->n++] = make_key(w->group, (trl_group_question)k, NONE);
}

/* The items of a group that are evenly placed: item number k (from 0) is list[k * step]. */
typedef struct listed {
    const uint32_t *list; /* NULL: the item's number is base + k * step itself */
    long base, step;
    size_t n;
} listed;

static listed list_of(const writer *w, trl_group_source source)
{
    const size_t n_words = w->v->forest->n_words;
    const long base = w->s->base;
    switch (source) {
    case TRL_GROUP_CHILDREN:
        return (listed){w->s->root, (long)w->first, 1, w->last - w->first + 1};
    case TRL_GROUP_LEFT:
        return (listed){w->s->root, (long)w->first - 1, -1, w->first};
    case TRL_GROUP_RIGHT:
        return (listed){w->s->root, (long)w->last + 1, 1, w->s->n - w->last - 1};
    case TRL_GROUP_PASSED:
        return (listed){w->s->root, (long)w->first + 1, 1, w->s->newest - w->first};
    case TRL_GROUP_BEFORE:
        return (listed){NULL, base + (long)w->begin - 1, -1, w->begin};
    case TRL_GROUP_AFTER:
        return (listed){NULL, base + (long)w->end, 1, n_words - w->end};
    default: /* words */
        return (listed){NULL, base + (long)w->begin, 1, w->end - w->begin};
    }
}

static void answer_count(writer *w, size_t n)
{
    for (uint32_t k = 2; k <= TRL_GROUP_COUNT_MOST && k <= n; k++)
        if (w->key)
            w->key[w->n++] = make_key(w->group, TRL_ASK_COUNT, k);
        else if (w->ids->count[w->group][k] != TRL_NO_ID)
            w->id[w->n++] = w->ids->count[w->group][k];
}

static void answer_listed(writer *w, const trl_feature_group *g)
{
    const listed l = list_of(w, g->source);
    const long n = (long)l.n;
    long from = g->to == 0 ? 0 : g->from > 0 ? g->from - 1 : n + g->from;
    long to = g->to == 0 ? n - 1 : g->to > 0 ? g->to - 1 : n + g->to;
    if (g->numbered && (from < 0 || from >= n)) {
        answer_none(w);
        return;
    }
    from = from < 0 ? 0 : from;
    to = to >= n ? n - 1 : to;
    for (long k = from; k <= to; k++) {
        const long at = l.base + k * l.step;
        answer(w, l.list ? l.list[at] : (uint32_t)at);
    }
    if (g->questions & 1u << TRL_ASK_COUNT)
        answer_count(w, l.n);
}

static void answer_grandchildren(writer *w)
{
    const trl_forest *f = w->v->forest;
    for (size_t r = w->first; r <= w->last; r++) {
        const trl_item *x = &f->item[w->s->root[r]];
        for (uint32_t k = 0; k < x->n; k++)
            answer(w, f->child[x->child + k]);
    }
}

static void answer_modifiers(writer *w)
{
    const trl_forest *f = w->v->forest;
    for (size_t r = w->first; r <= w->last; r++) {
        const trl_item *x = &f->item[w->s->root[r]];
        for (uint32_t k = x->from; k < x->to; k++)
            if (w->s->base + k != x->head)
                answer(w, w->s->base + k);
    }
}

/* More keys than there can be: the items of a group do not overlap. */
static size_t most_keys(const writer *w)
{
    return w->v->groups->n * ((4 + TRL_PATHS) * (w->v->forest->n_words + 1) + TRL_GROUP_COUNT_MOST);
}

static void answer_all(writer *w)
{
    const trl_span_view *v = w->v;
    w->begin = v->forest->item[w->s->root[w->first]].from;
    w->end = v->forest->item[w->s->root[w->last]].to;
    for (; w->group < v->groups->n; w->group++) {
        const trl_feature_group *g = &v->groups->group[w->group];
        if (g->source == TRL_GROUP_GRANDCHILDREN)
            answer_grandchildren(w);
        else if (g->source == TRL_GROUP_MODIFIERS)
            answer_modifiers(w);
        else
            answer_listed(w, g);
    }
}

bool trl_span_features(const trl_span_view *v, const trl_partial_parse *s, size_t first,
                       size_t last, trl_feature_keys *out)
{
    writer w = {.v = v, .s = s, .first = first, .last = last};
    w.key = trl_reserve(out->key, &out->cap, most_keys(&w), sizeof *w.key);
    if (!w.key)
        return false;
    out->key = w.key;
    answer_all(&w);
    out->n = w.n;
    return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

void trl_item_ids_fini(trl_item_ids *x)
{
    trl_free(x->begin);
    trl_free(x->id);
    trl_free(x->span);
    *x = (trl_item_ids){0};
}

/* The numbers of keys [0 .. n), of those that have one. */
static void add_ids(trl_item_ids *x, const trl_key_index *index, const uint64_t *key, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const uint32_t id = trl_key_index_find(index, key[k]);
        if (id != TRL_NO_ID)
            x->id[x->n++] = id;
    }
}

/* More numbers than the answers of one item to all groups. */
static size_t most_ids(const trl_span_view *v)
{
    return v->groups->n * (4 + TRL_PATHS);
}

bool trl_item_ids_init(trl_item_ids *x, const trl_span_view *v, const trl_key_index *index)
{
    uint64_t key[4 + TRL_PATHS];
    uint32_t *id = trl_reserve(x->id, &x->id_cap, most_ids(v), sizeof *id);
    if (!id)
        return false;
    x->id = id;
    x->n = x->n_items = 0;
    writer w = {.v = v, .key = key};
    for (; w.group < v->groups->n; w.group++) {
        x->none[w.group] = (uint32_t)x->n;
        w.n = 0;
        answer_none(&w);
        add_ids(x, index, key, w.n);
        for (uint32_t k = 2; k <= TRL_GROUP_COUNT_MOST; k++)
            x->count[w.group][k] = trl_key_index_find(index, make_key(w.group, TRL_ASK_COUNT, k));
    }
    x->none[w.group] = x->n_fixed = (uint32_t)x->n;
    return true;
}

void trl_item_ids_reset(trl_item_ids *x)
{
    x->n = x->n_fixed;
    x->n_items = 0;
}

bool trl_item_ids_extend(trl_item_ids *x, const trl_span_view *v, const trl_key_index *index)
{
    uint64_t key[4 + TRL_PATHS];
    const size_t row = v->groups->n + 1, n_items = v->forest->n_items;
    uint32_t *begin = trl_reserve(x->begin, &x->begin_cap, n_items * row, sizeof *begin);
    x->begin = begin ? begin : x->begin;
    uint32_t *id =
        trl_reserve(x->id, &x->id_cap, x->n + (n_items - x->n_items) * most_ids(v), sizeof *id);
    x->id = id ? id : x->id;
    if (!begin || !id || x->n + n_items * most_ids(v) >= TRL_NO_ID)
        return false;
    for (; x->n_items < n_items; x->n_items++) {
        begin = x->begin + x->n_items * row;
        writer w = {.v = v, .key = key};
        for (; w.group < v->groups->n; w.group++) {
            begin[w.group] = (uint32_t)x->n;
            w.n = 0;
            answer(&w, (uint32_t)x->n_items);
            add_ids(x, index, key, w.n);
        }
        begin[w.group] = (uint32_t)x->n;
    }
    return true;
}

bool trl_span_ids(const trl_span_view *v, const trl_partial_parse *s, size_t first, size_t last,
                  trl_item_ids *x)
{
    writer w = {.v = v, .s = s, .first = first, .last = last, .ids = x};
    w.id = trl_reserve(x->span, &x->span_cap, most_keys(&w), sizeof *w.id);
    if (!w.id)
        return false;
    x->span = w.id;
    answer_all(&w);
    x->n_span = w.n;
    return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

#define NONE_NAME "(none)"

static const trl_strtab *values_of(const trl_search_names *x, trl_group_question q)
{
    return q == TRL_ASK_WORD      ? &x->words
           : q == TRL_ASK_CLASS   ? &x->classes
           : q == TRL_ASK_CLUSTER ? &x->paths
                                  : &x->labels;
}

bool trl_feature_key_name(const trl_feature_groups *g, const trl_search_names *x, uint64_t key,
                          trl_buf *out)
{
    const trl_group_question q = (trl_group_question)(key >> 32 & 0xff);
    const uint32_t value = (uint32_t)key;
    trl_buf_fmt(out, "%s.%s=", g->group[key >> 40].name, trl_group_question_name(q));
    if (q == TRL_ASK_COUNT)
        return trl_buf_fmt(out, "%u", (unsigned)value);
    if (value == NONE)
        return trl_buf_str(out, NONE_NAME);
    const trl_str s = trl_strtab_get(values_of(x, q), value);
    return trl_buf_add(out, s.p, s.n);
}

static bool starts(trl_str *s, const char *with)
{
    const size_t n = strlen(with);
    if (s->n < n || memcmp(s->p, with, n) != 0)
        return false;
    s->p += n;
    s->n -= n;
    return true;
}

static bool read_value(const trl_search_names *x, trl_group_question q, trl_str s, uint32_t *out)
{
    *out = 0;
    if (q == TRL_ASK_COUNT) {
        for (size_t k = 0; k < s.n && *out < 100; k++)
            *out = s.p[k] >= '0' && s.p[k] <= '9' ? 10 * *out + (uint32_t)(s.p[k] - '0') : 100;
        return *out >= 2 && *out <= TRL_GROUP_COUNT_MOST;
    }
    *out = trl_strtab_find(values_of(x, q), s.p, s.n);
    if (*out == TRL_NO_ID && starts(&s, NONE_NAME) && s.n == 0)
        *out = NONE;
    return *out != TRL_NO_ID;
}

bool trl_feature_key_of(const trl_feature_groups *g, const trl_search_names *x, trl_str name,
                        uint64_t *key)
{
    for (size_t k = 0; k < g->n; k++) {
        trl_str rest = name;
        if (!starts(&rest, g->group[k].name) || !starts(&rest, "."))
            continue;
        for (int q = 0; q < TRL_ASK_QUESTIONS; q++) {
            trl_str value = rest;
            uint32_t id;
            if (!starts(&value, trl_group_question_name((trl_group_question)q)) ||
                !starts(&value, "=") || !read_value(x, (trl_group_question)q, value, &id))
                continue;
            *key = make_key(k, (trl_group_question)q, id);
            return true;
        }
    }
    return false;
}
