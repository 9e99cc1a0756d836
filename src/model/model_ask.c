/* model_ask.c -- attributes and weights of a model, by number and name. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "model/model.h"

/* The family of a scope, or NULL: families above the order have no names. */
static const trl_model_family *family(const trl_model *m, trl_scope scope)
{
    const trl_chain_model *c = m ? trl_model_chain(m) : NULL;
    return c && (unsigned)scope < TRL_FAMILIES ? &c->family[scope] : NULL;
}

size_t trl_model_n_attributes(const trl_model *m, trl_scope scope)
{
    const trl_model_family *f = family(m, scope);
    return f ? f->n_attrs : 0;
}

trl_str trl_model_attribute(const trl_model *m, trl_scope scope, size_t k)
{
    const trl_model_family *f = family(m, scope);
    return f && k < f->names.n ? trl_strview_get(&f->names, (uint32_t)k) : (trl_str){"", 0};
}

uint32_t trl_model_find_attribute(const trl_model *m, trl_scope scope, trl_str name)
{
    const trl_model_family *f = family(m, scope);
    if (!f || !f->n_attrs || (!name.p && name.n))
        return TRL_NO_ID;
    return trl_family_find(f, name);
}

uint32_t trl_model_transitions(const trl_model *m, trl_scope scope)
{
    const trl_model_family *f = family(m, scope);
    return f && f->n_attrs ? f->constant : TRL_NO_ID;
}

trl_status trl_model_weights(const trl_model *m, trl_scope scope, uint32_t attribute, double *w,
                             trl_error *err)
{
    const trl_model_family *f = family(m, scope);
    if (!m || !w)
        return trl_fail_null(err);
    if (!f || attribute >= f->n_attrs)
        return trl_fail(err, TRL_EINVAL, "attribute %lu: the model has %zu of this scope",
                        (unsigned long)attribute, f ? f->n_attrs : 0);
    const trl_weight_row row = trl_model_row(f, attribute);
    memset(w, 0, f->width * sizeof *w);
    for (uint64_t at = row.at; at < row.at + row.k; at++)
        w[trl_model_cell(f, row, at)] = trl_model_weight(f, at);
    return TRL_OK;
}
