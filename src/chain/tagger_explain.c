/* tagger_explain.c -- which attributes make the scores at a token. */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "base/mem.h"
#include "chain/tagger_parts.h"

/* Attributes that the model does not know add nothing. */
static bool add(trl_tagger *t, size_t family, uint32_t id, double value)
{
    if (id == TRL_NO_ID)
        return true;
    trl_contribution *all =
        trl_reserve(t->contribution, &t->contribution_cap, t->n_contributions + 1, sizeof *all);
    if (!all)
        return false;
    t->contribution = all;
    all[t->n_contributions++] =
        (trl_contribution){.scope = (trl_scope)family,
                           .attribute = id,
                           .name = trl_strview_get(&t->m->family[family].names, id),
                           .value = value};
    return true;
}

/* The constant attribute is on everywhere and counted once, whoever names it. */
static bool add_name(trl_tagger *t, size_t family, trl_str name, double value)
{
    const trl_model_family *f = &t->m->family[family];
    if (!f->n_attrs)
        return true;
    const uint32_t id = trl_family_find(f, name);
    return id == f->constant || add(t, family, id, value);
}

static bool add_transitions(trl_tagger *t, size_t family)
{
    const trl_model_family *f = &t->m->family[family];
    return family == TRL_NODE || !f->n_attrs || add(t, family, f->constant, 1.0);
}

static trl_status begin(trl_tagger *t, size_t position, size_t n, trl_error *err)
{
    t->n_contributions = 0;
    return position < n
               ? trl_chain_need_names(t->m, err)
               : trl_fail(err, TRL_EINVAL, "token %zu: the sequence has %zu", position + 1, n);
}

static trl_status answer(const trl_tagger *t, bool ok, const trl_contribution **out, size_t *n,
                         trl_error *err)
{
    if (!ok)
        return trl_fail_mem(err);
    *out = t->contribution;
    *n = t->n_contributions;
    return TRL_OK;
}

/* What a line of the template makes. */
static bool add_line(trl_tagger *t, size_t family, size_t line, size_t position)
{
    t->text.len = 0;
    return trl_expander_put(t->expander, line, position, &t->text) &&
           add_name(t, family, (trl_str){t->text.data, t->text.len}, 1.0);
}

static bool add_feature(trl_tagger *t, size_t family, size_t k, size_t position)
{
    trl_names_clear(&t->made);
    bool ok = trl_feature_expander_put(t->words, k, position, &t->made);
    for (size_t i = 0; ok && i < t->made.n; i++) {
        const trl_named *a = &t->made.name[i];
        ok = add_name(t, family, (trl_str){t->made.text.data + a->at, a->n}, a->value);
    }
    return ok;
}

trl_status trl_tagger_explain_rows(trl_tagger *t, const trl_rows *seq, size_t position,
                                   const trl_contribution **out, size_t *n, trl_error *err)
{
    if (!t || !seq || !out || !n)
        return trl_fail_null(err);
    trl_status st = trl_tagger_set_rows(t, seq, err);
    if (st == TRL_OK)
        st = begin(t, position, seq->n_tokens, err);
    if (st != TRL_OK)
        return st;
    bool ok = true;
    for (size_t f = 0; f <= (size_t)t->m->order && f <= position; f++) {
        for (size_t i = 0; ok && i < t->n_lines[f]; i++)
            ok = (t->words ? add_feature : add_line)(t, f, t->line[f][i], position);
        ok = ok && add_transitions(t, f);
    }
    return answer(t, ok, out, n, err);
}

trl_status trl_tagger_explain_items(trl_tagger *t, const trl_items *seq, size_t position,
                                    const trl_contribution **out, size_t *n, trl_error *err)
{
    if (!t || !seq || !out || !n)
        return trl_fail_null(err);
    trl_status st = trl_tagger_set_items(t, seq, err);
    if (st == TRL_OK)
        st = begin(t, position, seq->n_tokens, err);
    if (st != TRL_OK)
        return st;
    bool ok = true;
    for (size_t i = seq->begin[position]; ok && i < seq->begin[position + 1]; i++)
        ok = add_name(t, TRL_NODE, seq->attr[i].name, seq->attr[i].value);
    for (size_t f = 1; ok && f <= (size_t)t->m->order && f <= position; f++)
        ok = add_transitions(t, f);
    return answer(t, ok, out, n, err);
}
