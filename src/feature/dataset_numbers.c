/* dataset_numbers.c -- items by the numbers of their names, many sequences in a call. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "feature/dataset_parts.h"

/* ---- numbers of names ------------------------------------------------------------------------ */

static trl_status check_name(const char *what, trl_str name, size_t k, bool may_be_empty,
                             trl_error *err)
{
    const char *wrong = name.n || may_be_empty ? trl_dataset_fault(name) : "is empty";
    return wrong ? trl_fail(err, TRL_EINVAL, "%s %zu %s", what, k + 1, wrong) : TRL_OK;
}

trl_status trl_dataset_number(trl_dataset *d, const trl_str *name, size_t n, uint32_t *number,
                              trl_error *err)
{
    if (!d || (n && (!name || !number)))
        return trl_fail_null(err);
    trl_status st = trl_dataset_check_format(d, TRL_FORMAT_CRFSUITE, err);
    for (size_t k = 0; st == TRL_OK && k < n; k++)
        st = check_name("name", name[k], k, true, err);
    for (size_t k = 0; st == TRL_OK && k < n; k += TRL_STRTAB_MANY) {
        const size_t some = n - k < TRL_STRTAB_MANY ? n - k : TRL_STRTAB_MANY;
        if (!trl_strtab_add_many(&d->items.family[TRL_NODE].names, name + k, some, number + k))
            st = trl_fail_mem(err);
    }
    return st;
}

trl_status trl_dataset_number_labels(trl_dataset *d, const trl_str *label, size_t n,
                                     uint32_t *number, trl_error *err)
{
    if (!d || (n && (!label || !number)))
        return trl_fail_null(err);
    trl_status st = trl_dataset_check_format(d, TRL_FORMAT_CRFSUITE, err);
    for (size_t k = 0; st == TRL_OK && k < n; k++)
        st = check_name("label", label[k], k, false, err);
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        number[k] = trl_strtab_add(&d->items.labels, label[k].p, label[k].n);
        if (number[k] == TRL_NO_ID)
            st = trl_fail_mem(err);
    }
    return st;
}

/* ---- sequences ------------------------------------------------------------------------------- */

static trl_status check_attrs(const trl_dataset *d, const trl_numbered_items *x, size_t t,
                              const trl_dataset_place *at, trl_error *err)
{
    const size_t known = d->items.family[TRL_NODE].names.n;
    if (x->begin[t] > x->begin[t + 1])
        return trl_dataset_bad(at, "its attributes end before they begin", err);
    if (x->begin[t] < x->begin[t + 1] && !x->attr)
        return trl_dataset_bad(at, "the attributes are NULL", err);
    for (size_t k = x->begin[t]; k < x->begin[t + 1]; k++) {
        if (x->attr[k] >= known)
            return trl_dataset_bad(at, "the number of an attribute is not known", err);
        if (x->value && !isfinite(x->value[k]))
            return trl_dataset_bad(at, "a value is not finite", err);
    }
    return TRL_OK;
}

static trl_status check_sequence(const trl_dataset *d, const trl_numbered_items *x, size_t k,
                                 trl_error *err)
{
    trl_dataset_place at = {.sequence = d->items.n_sequences + k + 1};
    if (x->first[k] >= x->first[k + 1])
        return trl_dataset_bad(&at, "there are no tokens", err);
    trl_status st = x->weight ? trl_dataset_check_weight(&at, x->weight[k], err) : TRL_OK;
    for (size_t t = x->first[k]; st == TRL_OK && t < x->first[k + 1]; t++) {
        at.token = t - x->first[k] + 1;
        st = x->label[t] < d->items.labels.n
                 ? check_attrs(d, x, t, &at, err)
                 : trl_dataset_bad(&at, "the number of the label is not known", err);
    }
    return st;
}

trl_status trl_dataset_add_numbered(trl_dataset *d, const trl_numbered_items *x, trl_error *err)
{
    if (!d || !x || (x->n_sequences && (!x->first || !x->label || !x->begin)))
        return trl_fail_null(err);
    trl_status st = trl_dataset_check_format(d, TRL_FORMAT_CRFSUITE, err);
    for (size_t k = 0; st == TRL_OK && k < x->n_sequences; k++)
        st = check_sequence(d, x, k, err);
    if (st != TRL_OK || x->n_sequences == 0)
        return st;
    const size_t before = d->items.n_sequences, tokens = d->items.n_tokens;
    for (size_t k = 0; st == TRL_OK && k < x->n_sequences; k++) {
        const trl_numbered one = {.n_tokens = x->first[k + 1] - x->first[k],
                                  .label = x->label + x->first[k],
                                  .begin = x->begin + x->first[k],
                                  .attr = x->attr,
                                  .value = x->value,
                                  .weight = x->weight ? x->weight[k] : 1.0};
        st = trl_corpus_add_numbered(&d->items, &one, err);
    }
    if (st == TRL_OK)
        d->format = TRL_FORMAT_CRFSUITE;
    else
        trl_dataset_take_back_items(&d->items, before, tokens);
    return st;
}
