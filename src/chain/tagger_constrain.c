/* tagger_constrain.c -- rules and what is known of tokens, given to a tagger; spans. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/constrained.h"

/* ---- rules ----------------------------------------------------------------------------------- */

static bool has_rules(const trl_constraint *c)
{
    bool masks = c->has_pairs;
    for (size_t y = 0; y < c->set.L; y++)
        masks |= !c->first[y] || !c->last[y];
    return masks || c->n_automata;
}

/* Takes over `own`, which may be NULL; `c` is the constraint itself. */
static trl_status set_constraint(trl_tagger *t, const trl_constraint *c, trl_constraint *own,
                                 trl_error *err)
{
    struct trl_constrained *x = trl_zalloc(1, sizeof *x);
    bool *tracked = trl_zalloc(c->n_automata, sizeof *tracked);
    if (!x || !tracked) {
        trl_free(x);
        trl_free(tracked);
        trl_constraint_free(own);
        return trl_fail_mem(err);
    }
    x->c = c;
    x->own = own;
    x->tracked = tracked;
    x->has_rules = has_rules(c);
    trl_constrained_free(t->constrained);
    t->constrained = x;
    return TRL_OK;
}

trl_status trl_tagger_constrain(trl_tagger *t, const trl_constraint *c, trl_error *err)
{
    if (!t)
        return trl_fail_null(err);
    if (!c) {
        trl_constrained_free(t->constrained);
        t->constrained = NULL;
        return TRL_OK;
    }
    bool same = c->set.L == t->m->L;
    for (size_t k = 0; same && k < c->set.L; k++) {
        const trl_str a = c->set.name[k], b = trl_strview_get(&t->m->labels, (uint32_t)k);
        same = a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
    }
    if (!same)
        return trl_fail(err, TRL_EINVAL, "the constraint is for the labels of another model");
    return set_constraint(t, c, NULL, err);
}

trl_status trl_constrained_by_model(trl_tagger *t, trl_error *err)
{
    trl_constraint *own = NULL;
    bool any;
    if (!strstr(t->m->settings, "rule "))
        return TRL_OK;
    trl_status st = trl_constraint_of(t->m, &own, err);
    if (st == TRL_OK)
        st = trl_constraint_of_settings(own, t->m->settings, &any, err);
    if (st == TRL_OK && any)
        return set_constraint(t, own, own, err);
    trl_constraint_free(own);
    return st;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* There is a sequence, and room for what is known of it. */
static trl_status need_known(trl_tagger *t, trl_error *err)
{
    trl_constraint *own = NULL;
    const size_t T = t->tables.n;
    if (T == 0)
        return trl_fail(err, TRL_EINVAL, "no sequence has been set");
    trl_status st = TRL_OK;
    if (!t->constrained) {
        st = trl_constraint_of(t->m, &own, err);
        if (st == TRL_OK)
            st = set_constraint(t, own, own, err);
        if (st != TRL_OK)
            return st;
    }
    struct trl_constrained *x = t->constrained;
    bool *allowed = trl_reserve(x->allowed, &x->allowed_cap, T * t->m->L, sizeof *allowed);
    if (allowed)
        x->allowed = allowed;
    char *joint = trl_reserve(x->joint, &x->joint_cap, T, sizeof *joint);
    if (joint)
        x->joint = joint;
    if (!allowed || !joint)
        return trl_fail_mem(err);
    if (!x->has_allowed)
        memset(allowed, true, T * t->m->L * sizeof *allowed);
    if (!x->has_joint)
        memset(joint, TRL_JOINT_ANY, T * sizeof *joint);
    return TRL_OK;
}

static void allow_only(trl_tagger *t, size_t position, const bool *keep)
{
    const size_t L = t->m->L;
    bool *row = t->constrained->allowed + position * L;
    for (size_t y = 0; y < L; y++)
        row[y] &= keep[y];
    t->constrained->has_allowed = true;
}

static trl_status need_position(const trl_tagger *t, size_t position, trl_error *err)
{
    return position < t->tables.n ? TRL_OK
                                  : trl_fail(err, TRL_EINVAL, "token %zu: the sequence has %zu",
                                             position + 1, t->tables.n);
}

trl_status trl_tagger_allow(trl_tagger *t, size_t position, const uint32_t *labels, size_t n,
                            trl_error *err)
{
    if (!t || (n && !labels))
        return trl_fail_null(err);
    trl_status st = need_known(t, err);
    if (st == TRL_OK)
        st = need_position(t, position, err);
    for (size_t k = 0; k < n && st == TRL_OK; k++)
        if (labels[k] >= t->m->L)
            st = trl_fail(err, TRL_EINVAL, "label %u at token %zu: the model has %zu",
                          (unsigned)labels[k], position + 1, t->m->L);
    bool *keep = st == TRL_OK ? trl_arena_get(&t->arena, t->m->L, sizeof *keep) : NULL;
    if (!keep)
        return st == TRL_OK ? trl_fail_mem(err) : st;
    memset(keep, 0, t->m->L * sizeof *keep);
    for (size_t k = 0; k < n; k++)
        keep[labels[k]] = true;
    allow_only(t, position, keep);
    trl_arena_reset(&t->arena);
    return TRL_OK;
}

trl_status trl_tagger_allow_text(trl_tagger *t, size_t position, trl_str cell, trl_error *err)
{
    if (!t || (cell.n && !cell.p))
        return trl_fail_null(err);
    trl_str bad;
    trl_status st = need_known(t, err);
    if (st == TRL_OK)
        st = need_position(t, position, err);
    if (st != TRL_OK || (cell.n == 1 && *cell.p == '_'))
        return st;
    bool *keep = trl_arena_get(&t->arena, t->m->L, sizeof *keep);
    if (!keep)
        return trl_fail_mem(err);
    if (trl_labels_of_text(t->constrained->c, cell, keep, &bad))
        allow_only(t, position, keep);
    else
        st = trl_fail(err, TRL_EPARSE, "the model has no label '%.*s'",
                      (int)(bad.n < 60 ? bad.n : 60), bad.p);
    trl_arena_reset(&t->arena);
    return st == TRL_OK ? st
                        : trl_fail_hint(err, st,
                                        "labels have '|' between them, '!' before "
                                        "those that are not allowed; _ is any label");
}

/* ---- spans ----------------------------------------------------------------------------------- */

static trl_status check_span(trl_tagger *t, size_t from, size_t to, trl_str type, trl_error *err)
{
    trl_status st = need_known(t, err);
    if (st != TRL_OK)
        return st;
    if (from >= to || to > t->tables.n)
        return trl_fail(err, TRL_EINVAL, "tokens %zu to %zu are no span of the %zu there are",
                        from + 1, to, t->tables.n);
    for (size_t y = 0; y < t->m->L; y++)
        if (trl_label_is_of(&t->constrained->c->set, y, type))
            return TRL_OK;
    st = trl_fail(err, TRL_EINVAL, "the model has no spans of type '%.*s'",
                  (int)(type.n < 60 ? type.n : 60), type.p);
    return trl_fail_hint(err, st, "the type of B-PER and I-PER is PER; O is none");
}

/* Contradictions leave labels that nothing allows. */
static void fix(trl_tagger *t, size_t from, size_t to, trl_str type)
{
    struct trl_constrained *x = t->constrained;
    const size_t L = t->m->L;
    bool clash = false;
    for (size_t k = from; k <= to && k < t->tables.n; k++) {
        const char want = k == from || k == to ? TRL_JOINT_BREAKS : TRL_JOINT_GOES_ON;
        clash |= k > 0 && x->joint[k] != TRL_JOINT_ANY && x->joint[k] != want;
        x->joint[k] = want;
    }
    for (size_t k = from * L; k < to * L; k++)
        x->allowed[k] &= !clash && trl_label_is_of(&x->c->set, k % L, type);
    x->has_allowed = x->has_joint = true;
}

trl_status trl_tagger_fix_span(trl_tagger *t, size_t from, size_t to, trl_str type, trl_error *err)
{
    if (!t || (type.n && !type.p))
        return trl_fail_null(err);
    const trl_status st = check_span(t, from, to, type, err);
    if (st == TRL_OK)
        fix(t, from, to, type);
    return st;
}

/* log Z of the labellings that have the span, too; what is known of the tokens stays as it was. */
static trl_status with_span(trl_tagger *t, size_t from, size_t to, trl_str type, double *log_z,
                            trl_error *err)
{
    struct trl_constrained *x = t->constrained;
    const size_t T = t->tables.n, cells = T * t->m->L;
    const bool had_allowed = x->has_allowed, had_joint = x->has_joint;
    bool *allowed = trl_alloc(cells, sizeof *allowed);
    char *joint = trl_alloc(T, sizeof *joint);
    trl_chain_marginals out;
    trl_status st = allowed && joint ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK) {
        memcpy(allowed, x->allowed, cells * sizeof *allowed);
        memcpy(joint, x->joint, T * sizeof *joint);
        fix(t, from, to, type);
        st = trl_tagger_infer(t, TRL_WANT_LOG_Z_ONLY, NULL, &out, err);
        memcpy(x->allowed, allowed, cells * sizeof *allowed);
        memcpy(x->joint, joint, T * sizeof *joint);
    }
    x->has_allowed = had_allowed;
    x->has_joint = had_joint;
    trl_free(allowed);
    trl_free(joint);
    *log_z = st == TRL_OK ? out.log_z : -HUGE_VAL;
    return st == TRL_ECONFLICT ? TRL_OK : st;
}

trl_status trl_tagger_span(trl_tagger *t, size_t from, size_t to, trl_str type, double *p,
                           trl_error *err)
{
    double log_z;
    trl_chain_marginals all;
    if (!t || (type.n && !type.p) || !p)
        return trl_fail_null(err);
    trl_status st = check_span(t, from, to, type, err);
    if (st == TRL_OK)
        st = trl_tagger_infer(t, TRL_WANT_LOG_Z_ONLY, NULL, &all, err);
    if (st == TRL_OK)
        st = with_span(t, from, to, type, &log_z, err);
    trl_arena_reset(&t->arena);
    if (st == TRL_OK)
        *p = log_z < all.log_z ? exp(log_z - all.log_z) : 1.0;
    return st;
}
