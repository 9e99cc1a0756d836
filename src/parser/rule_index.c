/* rule_index.c -- inverting the index of features. */
/* SPDX-License-Identifier: MIT */
#include "parser/rule_index.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"

/* ---- rules of a class ------------------------------------------------------------------------ */

/* Rules by the class that a family gives them: rule[first[class]] ...; classes as in a key. */
typedef struct by_class {
    uint32_t *first, *rule;
} by_class;

#define CLASSES ((size_t)1 << 20) /* as many as a key distinguishes (tree_index.h) */

static bool sort_rules(const trl_tree_features *f, size_t at, by_class *b)
{
    const bool unary = f->t->family[at].attachment == TRL_ATTACH_UNARY;
    const size_t n = unary ? f->g->n_unary : f->g->n_binary;
    uint32_t *cls = trl_alloc(n, sizeof *cls);
    b->first = trl_zalloc(CLASSES + 2, sizeof *b->first);
    b->rule = trl_alloc(n, sizeof *b->rule);
    const bool ok = cls && b->first && b->rule;
    for (uint32_t r = 0; ok && r < n; r++) {
        const uint32_t parent = unary ? f->g->unary[r].parent : f->g->binary[r].parent;
        cls[r] = trl_tree_class_of(f, at, &(trl_tree_part){.rule = r, .state = parent});
        if (cls[r] != TRL_NO_ID)
            b->first[(cls[r] & (CLASSES - 1)) + 2]++;
    }
    for (size_t c = 2; ok && c < CLASSES + 2; c++)
        b->first[c] += b->first[c - 1];
    for (uint32_t r = 0; ok && r < n; r++)
        if (cls[r] != TRL_NO_ID)
            b->rule[b->first[(cls[r] & (CLASSES - 1)) + 1]++] = r;
    trl_free(cls);
    return ok;
}

/* ---- lists ----------------------------------------------------------------------------------- */

typedef struct placed {
    uint32_t list;
    trl_listed what;
} placed;

static int by_list(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->list != y->list)
        return x->list < y->list ? -1 : 1;
    if (x->what.rule != y->what.rule)
        return x->what.rule < y->what.rule ? -1 : 1;
    return x->what.id < y->what.id ? -1 : x->what.id > y->what.id;
}

typedef struct listing {
    placed *at;
    size_t n, cap;
} listing;

/* One feature: an entry for each rule of its class. */
static bool list_feature(trl_rule_index *l, const trl_tree_features *f, const by_class *b,
                         uint64_t key, uint32_t id, listing *out)
{
    const size_t cls = (size_t)(key >> 36) & (CLASSES - 1), at = (size_t)(key >> 56) - 1;
    const bool unary = f->t->family[at].attachment == TRL_ATTACH_UNARY;
    for (uint32_t k = b->first[cls]; k < b->first[cls + 1]; k++) {
        const uint32_t r = b->rule[k];
        const uint64_t parent = unary ? f->g->unary[r].parent : f->g->binary[r].parent;
        const uint64_t mine = (key & ~((uint64_t)(CLASSES - 1) << 36)) | (parent & (CLASSES - 1))
                                                                             << 36;
        const uint32_t list = trl_tree_index_add(&l->index, mine);
        placed *p = trl_reserve(out->at, &out->cap, out->n + 1, sizeof *p);
        out->at = p ? p : out->at;
        if (list == TRL_NO_ID || !p)
            return false;
        p[out->n++] = (placed){list, {r, id}};
    }
    return true;
}

static bool list_all(trl_rule_index *l, const trl_tree_features *f, listing *out)
{
    const trl_tree_index *x = &f->index;
    for (size_t at = 0; at < f->t->n; at++) {
        by_class b = {0};
        const int attachment = f->t->family[at].attachment;
        if (attachment != TRL_ATTACH_EDGE && attachment != TRL_ATTACH_UNARY)
            continue;
        bool ok = sort_rules(f, at, &b);
        for (size_t k = 0; ok && k < x->n_slots; k++)
            if (x->key[k] >> 56 == at + 1)
                ok = list_feature(l, f, &b, x->key[k], x->number ? x->number[k] : (uint32_t)k, out);
        trl_free(b.first);
        trl_free(b.rule);
        if (!ok)
            return false;
    }
    return true;
}

trl_status trl_rule_index_init(trl_rule_index *l, const trl_tree_features *f, trl_error *err)
{
    listing all = {0};
    *l = (trl_rule_index){0};
    if (f->g->n_states > CLASSES)
        return trl_fail(err, TRL_EINVAL, "the grammar has more than %zu states", CLASSES);
    bool ok = list_all(l, f, &all);
    l->first = ok ? trl_zalloc(l->index.n + 1, sizeof *l->first) : NULL;
    l->entry = ok ? trl_alloc(all.n, sizeof *l->entry) : NULL;
    ok = l->first && l->entry;
    if (ok && all.n)
        qsort(all.at, all.n, sizeof *all.at, by_list);
    for (size_t k = 0; ok && k < all.n; k++) {
        l->entry[k] = all.at[k].what;
        l->first[all.at[k].list + 1] = k + 1;
    }
    trl_free(all.at);
    if (ok)
        return TRL_OK;
    trl_rule_index_fini(l);
    return trl_fail_mem(err);
}

void trl_rule_index_fini(trl_rule_index *l)
{
    trl_tree_index_fini(&l->index);
    trl_free(l->first);
    trl_free(l->entry);
    *l = (trl_rule_index){0};
}
