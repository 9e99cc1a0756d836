/* label_notes.c -- the notes on labels of a corpus. */
/* SPDX-License-Identifier: MIT */
#include "feature/label_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

trl_status trl_label_notes_new(trl_label_notes **out, trl_error *err)
{
    trl_label_notes *x = trl_zalloc(1, sizeof *x);
    size_t *begin = x ? trl_reserve(NULL, &x->begin_cap, 1, sizeof *begin) : NULL;
    if (!begin) {
        trl_free(x);
        return trl_fail_mem(err);
    }
    begin[0] = 0;
    x->begin = begin;
    *out = x;
    return TRL_OK;
}

void trl_label_notes_free(trl_label_notes *x)
{
    if (!x)
        return;
    trl_strtab_fini(&x->texts);
    trl_free(x->kind);
    trl_free(x->weight);
    trl_free(x->begin);
    trl_free(x->label);
    trl_free(x->p);
    trl_free(x->of);
    trl_free(x->every);
    trl_label_text_fini(&x->text);
    trl_free(x);
}

/* Room for one more note with n labels. */
static bool reserve(trl_label_notes *x, size_t n)
{
    const size_t notes = x->texts.n, labels = x->begin[notes];
    uint8_t *kind = trl_reserve(x->kind, &x->kind_cap, notes + 1, sizeof *kind);
    x->kind = kind ? kind : x->kind;
    double *weight = trl_reserve(x->weight, &x->weight_cap, notes + 1, sizeof *weight);
    x->weight = weight ? weight : x->weight;
    size_t *begin = trl_reserve(x->begin, &x->begin_cap, notes + 2, sizeof *begin);
    x->begin = begin ? begin : x->begin;
    uint32_t *label = trl_reserve(x->label, &x->label_cap, labels + n + 1, sizeof *label);
    x->label = label ? label : x->label;
    double *p = trl_reserve(x->p, &x->p_cap, labels + n + 1, sizeof *p);
    x->p = p ? p : x->p;
    return kind && weight && begin && label && p;
}

static int by_label(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Is a label among the n there twice?  Sorts a copy; sets are small, and parsed once. */
static trl_status check_twice(const trl_label_notes *x, const trl_strtab *labels, size_t *col,
                              trl_error *err)
{
    const size_t n = x->text.n, at = x->begin[x->texts.n];
    uint32_t *sorted = trl_alloc(n + 1, sizeof *sorted);
    if (!sorted)
        return trl_fail_mem(err);
    memcpy(sorted, x->label + at, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_label);
    trl_status st = TRL_OK;
    for (size_t k = 1; k < n && st == TRL_OK; k++)
        if (sorted[k] == sorted[k - 1]) {
            const trl_str name = trl_strtab_get(labels, sorted[k]);
            for (size_t i = 0; i < n; i++)
                *col = x->label[at + i] == sorted[k] ? x->text.part[i].col : *col;
            st = trl_fail(err, TRL_EPARSE, "label '%.*s' is there twice",
                          (int)(name.n < 100 ? name.n : 100), name.p);
        }
    trl_free(sorted);
    return st;
}

trl_status trl_label_notes_add(trl_label_notes *x, trl_strtab *labels, trl_str text,
                               uint32_t *number, size_t *col, trl_error *err)
{
    *col = 0;
    *number = trl_strtab_find(&x->texts, text.p, text.n);
    if (*number != TRL_NO_ID)
        return TRL_OK;
    trl_status st = trl_label_text_parse(&x->text, text, col, err);
    if (st != TRL_OK)
        return st;
    if (!reserve(x, x->text.n))
        return trl_fail_mem(err);
    const size_t note = x->texts.n, at = x->begin[note];
    for (size_t k = 0; k < x->text.n; k++) {
        const trl_str name = trl_label_part_name(&x->text, k);
        x->label[at + k] = trl_strtab_add(labels, name.p, name.n);
        x->p[at + k] = x->text.part[k].p;
        if (x->label[at + k] == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    st = check_twice(x, labels, col, err);
    if (st != TRL_OK)
        return st;
    x->kind[note] = (uint8_t)x->text.kind;
    x->weight[note] = x->text.weight;
    x->begin[note + 1] = at + x->text.n;
    *number = trl_strtab_add(&x->texts, text.p, text.n);
    return *number == TRL_NO_ID ? trl_fail_mem(err) : TRL_OK;
}

bool trl_label_notes_set(trl_label_notes *x, size_t t, uint32_t number)
{
    uint32_t *of = trl_reserve(x->of, &x->of_cap, t + 1, sizeof *of);
    if (!of)
        return false;
    x->of = of;
    of[t] = number;
    x->partial |= x->kind[number] == TRL_LABEL_ANY || x->kind[number] == TRL_LABEL_SET;
    x->soft |= x->kind[number] == TRL_LABEL_SOFT;
    x->weights |= x->weight[number] != 1.0;
    return true;
}

uint32_t trl_label_notes_stand_in(const trl_label_notes *x, uint32_t number)
{
    const size_t from = x->begin[number], to = x->begin[number + 1];
    size_t best = from;
    for (size_t k = from + 1; k < to; k++)
        best = x->p[k] > x->p[best] ? k : best;
    return from < to ? x->label[best] : 0;
}

trl_status trl_label_notes_close(trl_label_notes *x, size_t n_labels, trl_error *err)
{
    x->every = trl_alloc(n_labels + 1, sizeof *x->every);
    if (!x->every)
        return trl_fail_mem(err);
    for (size_t k = 0; k < n_labels; k++)
        x->every[k] = (uint32_t)k;
    x->n_labels = n_labels;
    return TRL_OK;
}

bool trl_label_notes_plain(const trl_label_notes *x, size_t first, size_t n)
{
    for (size_t t = first; t < first + n; t++)
        if (x->kind[x->of[t]] != TRL_LABEL_ONE || x->weight[x->of[t]] != 1.0)
            return false;
    return true;
}
