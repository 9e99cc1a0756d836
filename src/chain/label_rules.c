/* label_rules.c -- building a constraint. */
/* SPDX-License-Identifier: MIT */
#include "chain/label_rules.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/model.h"

/* ---- lifetime -------------------------------------------------------------------------------- */

static bool copy_names(const trl_strview *labels, trl_constraint *c)
{
    const size_t L = c->set.L;
    size_t bytes = 0, at = 0;
    for (size_t k = 0; k < L; k++)
        bytes += trl_strview_get(labels, (uint32_t)k).n;
    c->names = trl_alloc(bytes + 1, 1);
    c->set.name = trl_alloc(L, sizeof *c->set.name);
    c->set.tag = trl_alloc(L, sizeof *c->set.tag);
    if (!c->names || !c->set.name || !c->set.tag)
        return false;
    for (size_t k = 0; k < L; k++) {
        const trl_str s = trl_strview_get(labels, (uint32_t)k);
        if (s.n)
            memcpy(c->names + at, s.p, s.n);
        c->set.name[k] = (trl_str){c->names + at, s.n};
        c->set.tag[k] = trl_scheme_tag_of(c->set.name[k]);
        at += s.n;
    }
    return true;
}

trl_status trl_constraint_of_labels(const trl_strview *labels, size_t L, trl_constraint **out,
                                    trl_error *err)
{
    trl_constraint *c = trl_zalloc(1, sizeof *c);
    if (!c)
        return trl_fail_mem(err);
    c->set.L = L;
    c->max_states = TRL_RULES_MAX_STATES;
    c->pair = trl_alloc(L * L, sizeof *c->pair);
    c->first = trl_alloc(L, sizeof *c->first);
    c->last = trl_alloc(L, sizeof *c->last);
    if (!c->pair || !c->first || !c->last || !copy_names(labels, c)) {
        trl_constraint_free(c);
        return trl_fail_mem(err);
    }
    memset(c->pair, true, L * L * sizeof *c->pair);
    memset(c->first, true, L * sizeof *c->first);
    memset(c->last, true, L * sizeof *c->last);
    *out = c;
    return TRL_OK;
}

trl_status trl_constraint_of(const trl_chain_model *m, trl_constraint **out, trl_error *err)
{
    return trl_constraint_of_labels(&m->labels, m->L, out, err);
}

trl_status trl_constraint_new(const trl_model *m, trl_constraint **out, trl_error *err)
{
    if (!m || !out)
        return trl_fail_null(err);
    const trl_chain_model *chain = trl_model_chain(m);
    return chain ? trl_constraint_of(chain, out, err) : trl_model_need_chain(m, err);
}

void trl_constraint_free(trl_constraint *c)
{
    if (!c)
        return;
    for (size_t k = 0; k < c->n_automata; k++)
        trl_automaton_fini(&c->automaton[k]);
    trl_free(c->automaton);
    trl_free(c->names);
    trl_free(c->set.name);
    trl_free(c->set.tag);
    trl_free(c->pair);
    trl_free(c->first);
    trl_free(c->last);
    trl_free(c);
}

uint32_t trl_constraint_label(const trl_constraint *c, trl_str name)
{
    for (size_t k = 0; k < c->set.L; k++)
        if (c->set.name[k].n == name.n &&
            (name.n == 0 || memcmp(c->set.name[k].p, name.p, name.n) == 0))
            return (uint32_t)k;
    return TRL_OUTSIDE;
}

trl_status trl_constraint_max_states(trl_constraint *c, size_t n, trl_error *err)
{
    if (!c)
        return trl_fail_null(err);
    if (n == 0 || n > (size_t)1 << 30)
        return trl_fail(err, TRL_EINVAL, "%zu states: 1 to 2^30 can be allowed", n);
    c->max_states = n;
    return TRL_OK;
}

/* ---- masks ----------------------------------------------------------------------------------- */

/* Marks the labels that some labelling of any length has; *any: there is one at all. */
static trl_status find_usable(const trl_constraint *c, bool *usable, bool *any, trl_error *err)
{
    const size_t L = c->set.L;
    bool *reached = trl_alloc(L, sizeof *reached);
    if (!reached)
        return trl_fail_mem(err);
    memcpy(reached, c->first, L * sizeof *reached);
    memcpy(usable, c->last, L * sizeof *usable);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < L; i++)
            for (size_t j = 0; j < L; j++) {
                if (!c->pair[i * L + j])
                    continue;
                changed |= (reached[i] && !reached[j]) || (usable[j] && !usable[i]);
                reached[j] |= reached[i];
                usable[i] |= usable[j];
            }
    }
    *any = false;
    for (size_t k = 0; k < L; k++)
        *any |= usable[k] = usable[k] && reached[k];
    trl_free(reached);
    return TRL_OK;
}

/* Something must be left. */
static trl_status check_masks(trl_constraint *c, const char *what, trl_error *err)
{
    bool any, *usable = trl_alloc(c->set.L, sizeof *usable);
    trl_status st = usable ? find_usable(c, usable, &any, err) : trl_fail_mem(err);
    if (st == TRL_OK && !any)
        st = trl_fail(err, TRL_EINVAL, "%s: no labelling is left that obeys all rules", what);
    trl_free(usable);
    c->has_pairs = false;
    for (size_t k = 0; k < c->set.L * c->set.L; k++)
        c->has_pairs |= !c->pair[k];
    return st;
}

static trl_status check_scheme(trl_constraint *c, trl_scheme scheme, trl_error *err)
{
    bool any, chunks = false, left = false, *usable = trl_alloc(c->set.L, sizeof *usable);
    trl_status st = usable ? find_usable(c, usable, &any, err) : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < c->set.L; k++) {
        chunks |= c->set.tag[k].prefix != 'O';
        left |= usable[k] && c->set.tag[k].prefix != 'O';
    }
    trl_free(usable);
    if (st != TRL_OK || left || !chunks)
        return st == TRL_OK ? check_masks(c, "scheme", err) : st;
    st = trl_fail(err, TRL_EINVAL, "the labels of the model are not of the scheme %s",
                  trl_scheme_name(scheme));
    return trl_fail_hint(err, st, "with it none of them but O could ever be given");
}

trl_status trl_constraint_scheme(trl_constraint *c, trl_scheme scheme, trl_error *err)
{
    const trl_scheme_tag outside = {.prefix = 'O'};
    if (!c)
        return trl_fail_null(err);
    if (scheme < TRL_SCHEME_NONE || scheme > TRL_SCHEME_BILOU)
        return trl_fail(err, TRL_EINVAL, "%d is not a tag scheme", (int)scheme);
    const size_t L = c->set.L;
    for (size_t j = 0; scheme != TRL_SCHEME_NONE && j < L; j++) {
        const trl_scheme_tag y = c->set.tag[j];
        const bool has = trl_scheme_has(scheme, y);
        c->first[j] &= has && trl_scheme_follows(scheme, outside, y);
        c->last[j] &= has && trl_scheme_follows(scheme, y, outside);
        for (size_t i = 0; i < L; i++)
            c->pair[i * L + j] &= has && trl_scheme_has(scheme, c->set.tag[i]) &&
                                  trl_scheme_follows(scheme, c->set.tag[i], y);
    }
    return scheme == TRL_SCHEME_NONE ? TRL_OK : check_scheme(c, scheme, err);
}

static trl_status need_label(const trl_constraint *c, uint32_t y, bool outside, trl_error *err)
{
    if (y < c->set.L || (outside && y == TRL_OUTSIDE))
        return TRL_OK;
    return trl_fail(err, TRL_EINVAL, "label %u: the model has %zu", (unsigned)y, c->set.L);
}

/* What stands in the masks for label j after i; TRL_OUTSIDE for one of them. */
static bool *mask_at(const trl_constraint *c, uint32_t i, uint32_t j)
{
    return i == TRL_OUTSIDE   ? &c->first[j]
           : j == TRL_OUTSIDE ? &c->last[i]
                              : &c->pair[i * c->set.L + j];
}

trl_status trl_constraint_forbid(trl_constraint *c, uint32_t before, uint32_t label, trl_error *err)
{
    if (!c)
        return trl_fail_null(err);
    trl_status st = need_label(c, before, true, err);
    if (st == TRL_OK)
        st = need_label(c, label, before != TRL_OUTSIDE, err);
    if (st != TRL_OK)
        return st;
    *mask_at(c, before, label) = false;
    return check_masks(c, "forbid", err);
}

trl_status trl_constraint_follow(trl_constraint *c, uint32_t before, const uint32_t *labels,
                                 size_t n, trl_error *err)
{
    if (!c || (n && !labels))
        return trl_fail_null(err);
    const size_t L = c->set.L;
    trl_status st = need_label(c, before, true, err);
    for (size_t k = 0; k < n && st == TRL_OK; k++)
        st = need_label(c, labels[k], true, err);
    bool *keep = st == TRL_OK ? trl_zalloc(L + 1, sizeof *keep) : NULL;
    if (!keep)
        return st == TRL_OK ? trl_fail_mem(err) : st;
    for (size_t k = 0; k < n; k++)
        keep[labels[k] == TRL_OUTSIDE ? L : labels[k]] = true;
    for (uint32_t j = 0; j < L; j++)
        *mask_at(c, before, j) &= keep[j];
    if (before != TRL_OUTSIDE)
        c->last[before] &= keep[L];
    trl_free(keep);
    return check_masks(c, "follow", err);
}

trl_status trl_constraint_only(trl_constraint *c, const bool *seen, trl_error *err)
{
    const size_t L = c->set.L;
    for (size_t i = 0; i < L; i++) {
        for (size_t j = 0; j < L; j++)
            c->pair[i * L + j] &= seen[i * (L + 1) + j];
        c->last[i] &= seen[i * (L + 1) + L];
        c->first[i] &= seen[L * (L + 1) + i];
    }
    return check_masks(c, "transitions seen", err);
}

/* ---- automata -------------------------------------------------------------------------------- */

static trl_status add_automaton(trl_constraint *c, trl_label_automaton *a, trl_error *err)
{
    trl_label_automaton *all = trl_reserve(c->automaton, &c->cap, c->n_automata + 1, sizeof *all);
    if (!all) {
        trl_automaton_fini(a);
        return trl_fail_mem(err);
    }
    c->automaton = all;
    all[c->n_automata++] = *a;
    return TRL_OK;
}

trl_status trl_constraint_require(trl_constraint *c, uint32_t before, uint32_t label,
                                  trl_error *err)
{
    trl_label_automaton a;
    if (!c)
        return trl_fail_null(err);
    trl_status st = need_label(c, before, false, err);
    if (st == TRL_OK)
        st = need_label(c, label, false, err);
    if (st == TRL_OK)
        st = trl_automaton_bigram(&a, c->set.L, before, label, err);
    return st == TRL_OK ? add_automaton(c, &a, err) : st;
}

trl_status trl_constraint_pattern(trl_constraint *c, trl_str pattern, trl_error *err)
{
    trl_label_automaton a;
    if (!c || (pattern.n && !pattern.p))
        return trl_fail_null(err);
    const trl_status st = trl_automaton_pattern(&a, &c->set, pattern, c->max_states, err);
    return st == TRL_OK ? add_automaton(c, &a, err) : st;
}

trl_status trl_constraint_max_spans(trl_constraint *c, trl_str type, size_t most, trl_error *err)
{
    trl_label_automaton a;
    if (!c || (type.n && !type.p))
        return trl_fail_null(err);
    bool any = false;
    for (size_t y = 0; y < c->set.L; y++)
        any |= trl_label_is_of(&c->set, y, type);
    if (!any) {
        const trl_status st = trl_fail(err, TRL_EINVAL, "the model has no spans of type '%.*s'",
                                       (int)(type.n < 60 ? type.n : 60), type.p);
        return trl_fail_hint(err, st, "the type of B-PER and I-PER is PER; O is none");
    }
    if (most > 100000)
        return trl_fail(err, TRL_EINVAL, "%zu spans: 0 to 100000 can be counted", most);
    const trl_status st = trl_automaton_max_spans(&a, &c->set, type, most, err);
    return st == TRL_OK ? add_automaton(c, &a, err) : st;
}

trl_status trl_constraint_one_span(trl_constraint *c, trl_error *err)
{
    if (!c)
        return trl_fail_null(err);
    trl_status st = TRL_OK;
    for (size_t y = 0; y < c->set.L && st == TRL_OK; y++) {
        bool before = c->set.tag[y].prefix == 'O';
        for (size_t k = 0; k < y; k++)
            before |= trl_label_is_of(&c->set, k, c->set.tag[y].type);
        if (!before)
            st = trl_constraint_max_spans(c, c->set.tag[y].type, 1, err);
    }
    return st;
}
