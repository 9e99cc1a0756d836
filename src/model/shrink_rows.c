/* shrink_rows.c -- the weights that are kept when a model shrinks. */
/* SPDX-License-Identifier: MIT */
#include "model/shrink_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

trl_status trl_shrink_check(const trl_shrink_options *o, trl_error *err)
{
    if (o->prune > 0.0 && o->keep > 0.0)
        return trl_fail(err, TRL_EINVAL, "a threshold and a share of weights exclude each other");
    if (o->bits != 0 && o->bits != 8 && o->bits != 16 && o->bits != 32)
        return trl_fail(err, TRL_EINVAL, "weights have 32, 16 or 8 bits, not %d", o->bits);
    return TRL_OK;
}

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Is the weight one of the constant attribute, which is kept whole? */
static bool is_constant(const trl_model_family *f, uint64_t at)
{
    if (f->constant == TRL_NO_ID)
        return false;
    const trl_weight_row row = trl_model_row(f, f->constant);
    return at >= row.at && at < row.at + row.k;
}

trl_status trl_shrink_threshold(const trl_model_family *family, size_t n,
                                const trl_shrink_options *o, double *threshold, trl_error *err)
{
    *threshold = o->prune;
    if (o->keep == 0.0 || o->keep == 1.0)
        return TRL_OK;
    size_t all = 0, m = 0;
    for (size_t k = 0; k < n; k++)
        all += (size_t)family[k].n_weights;
    double *size = trl_alloc(all, sizeof *size);
    if (!size)
        return trl_fail_mem(err);
    for (size_t k = 0; k < n; k++)
        for (uint64_t at = 0; at < family[k].n_weights; at++)
            if (!is_constant(&family[k], at))
                size[m++] = fabs(trl_model_weight(&family[k], at));
    if (m) {
        qsort(size, m, sizeof *size, falling);
        const size_t last = (size_t)ceil(o->keep * (double)m);
        *threshold = size[last > 0 ? last - 1 : 0];
    }
    trl_free(size);
    return TRL_OK;
}

/* All names, by number: only what saving reads. */
static bool copy_names(const trl_model_family *f, trl_strtab *out)
{
    size_t bytes = 0;
    for (size_t a = 0; a < f->n_attrs; a++)
        bytes += trl_strview_get(&f->names, (uint32_t)a).n;
    out->pool = trl_alloc(bytes, 1);
    out->end = trl_alloc(f->n_attrs, sizeof *out->end);
    if (!out->pool || !out->end)
        return false;
    for (size_t a = 0; a < f->n_attrs; a++) {
        const trl_str s = trl_strview_get(&f->names, (uint32_t)a);
        if (s.n)
            memcpy(out->pool + out->pool_len, s.p, s.n);
        out->end[a] = out->pool_len += s.n;
    }
    out->n = f->n_attrs;
    return true;
}

static trl_status keep_weight(trl_weight_rows *r, uint32_t cell, double w, trl_error *err)
{
    if (r->type == TRL_WEIGHT_FLOAT && !isfinite((float)w))
        return trl_fail(err, TRL_ENUMERIC, "the weight %g is beyond the range of a float", w);
    return trl_rows_add(r, cell, w) ? TRL_OK : trl_fail_mem(err);
}

trl_status trl_shrink_collect(const trl_model_family *f, double threshold, trl_weight_rows *r,
                              trl_strtab *names, trl_error *err)
{
    r->constant = TRL_NO_ROW;
    if (!copy_names(f, names))
        return trl_fail_mem(err);
    r->names = names;
    trl_status st = TRL_OK;
    for (size_t a = 0; st == TRL_OK && a < f->n_attrs; a++) {
        const trl_weight_row row = trl_model_row(f, (uint32_t)a);
        const bool constant = a == f->constant;
        if (!trl_rows_begin(r, (uint32_t)a))
            return trl_fail_mem(err);
        if (constant)
            r->constant = a;
        for (uint64_t at = row.at; st == TRL_OK && at < row.at + row.k; at++) {
            const double w = trl_model_weight(f, at);
            if (constant || fabs(w) >= threshold)
                st = keep_weight(r, trl_model_cell(f, row, at), w, err);
        }
    }
    return st;
}
