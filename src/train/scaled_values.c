/* scaled_values.c -- a design whose values are divided by the scales of their weights. */
/* SPDX-License-Identifier: MIT */
#include "train/scaled_values.h"

#include "base/fail.h"
#include "base/mem.h"
#include "num/blas1.h"
#include "train/scaling.h"

double trl_far_norm2(const trl_far_weights *far, size_t n, const double *v)
{
    double sum = 0.0;
    if (!far)
        return trl_dot(NULL, n, v, v);
    for (size_t j = 0; j < n; j++)
        sum += (v[j] / far->p[j]) * (v[j] / far->p[j]);
    return sum;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Copies of the family's values, divided.  False: out of memory; what is there is released by
 * _close. */
static bool divide_values(const trl_design *d, trl_family *f, const double *p)
{
    const uint64_t rows = f->dense_begin[d->n_tokens], entries = f->entry_begin[d->n_tokens];
    const double *row_value = f->dense_value, *entry_value = f->entry_value;
    f->dense_value = row_value ? trl_alloc((size_t)rows, sizeof(double)) : NULL;
    f->entry_value = entry_value ? trl_alloc((size_t)entries, sizeof(double)) : NULL;
    if ((row_value && !f->dense_value) || (entry_value && !f->entry_value))
        return false;
    for (uint64_t i = 0; row_value && i < rows; i++)
        f->dense_value[i] = row_value[i] / p[trl_dense_at(f, f->dense_row[i])];
    for (uint64_t i = 0; entry_value && i < entries; i++)
        f->entry_value[i] = entry_value[i] / p[f->entry[i].weight];
    return true;
}

/* Weights of singletons that are far are no longer told by their adjoints alone (dual_weights.h).
 */
static bool make_design(trl_scaled_values *s, const trl_design *d)
{
    bool good = true;
    s->own = *d;
    for (size_t k = 0; k < trl_design_built(d); k++) {
        trl_family *f = &s->own.family[k];
        if (!f->has_rows)
            continue;
        f->singleton_row = f->n_dense;
        f->singleton_attr = f->n_attrs;
        good = divide_values(d, f, s->p) && good;
    }
    s->d = &s->own;
    return good;
}

static bool list_far(trl_scaled_values *s, size_t n)
{
    size_t m = 0;
    for (size_t j = 0; j < n; j++)
        m += s->p[j] != 1.0;
    s->weight = trl_alloc(m, sizeof *s->weight);
    if (!s->weight)
        return false;
    s->list = (trl_far_weights){0, s->weight, s->p};
    for (size_t j = 0; j < n; j++)
        if (s->p[j] != 1.0)
            s->weight[s->list.n++] = j;
    return true;
}

/* ---- weights --------------------------------------------------------------------------------- */

static trl_status watch(void *self, const trl_iteration *it, trl_state_fn save,
                        const void *optimizer, bool *stop, trl_error *err)
{
    trl_scaled_values *s = self;
    trl_iteration now = *it;
    for (size_t j = 0; j < s->own.n_weights; j++)
        s->w[j] = it->x[j] / s->p[j];
    now.x = s->w;
    return s->outer->watch(s->outer->self, &now, save, optimizer, stop, err);
}

/* Without a penalty any scale will do; with one, none below 1. */
static bool keep_large(double *p, size_t n)
{
    bool any = false;
    for (size_t j = 0; j < n; j++) {
        p[j] = p[j] < 1.0 ? 1.0 : p[j];
        any = any || p[j] != 1.0;
    }
    return any;
}

trl_status trl_scaled_values_open(trl_scaled_values *s, const trl_design *d, double c2,
                                  const trl_descent *how, trl_error *err)
{
    const size_t n = (size_t)d->n_weights;
    *s = (trl_scaled_values){.d = d, .how = *how, .outer = how->watcher};
    const trl_status st = trl_scaling_of(d, c2, &s->p, err);
    if (st != TRL_OK || !s->p || (c2 > 0.0 && !keep_large(s->p, n)))
        return st;
    s->w = trl_alloc64(n + 64, sizeof *s->w);
    if (!s->w || !list_far(s, n) || !make_design(s, d))
        return trl_fail_mem(err);
    s->eye = (trl_watcher){s, watch, how->watcher ? how->watcher->cancel : NULL};
    s->how.watcher = how->watcher ? &s->eye : NULL;
    s->far = &s->list;
    for (size_t j = 0; j < n; j++)
        how->x[j] *= s->p[j];
    return TRL_OK;
}

void trl_scaled_values_close(trl_scaled_values *s)
{
    for (size_t j = 0; s->far && j < s->own.n_weights; j++)
        s->how.x[j] /= s->p[j];
    for (size_t k = 0; s->d == &s->own && k < trl_design_built(s->d); k++)
        if (s->own.family[k].has_rows) {
            trl_free(s->own.family[k].dense_value);
            trl_free(s->own.family[k].entry_value);
        }
    trl_free(s->p);
    trl_free(s->w);
    trl_free(s->weight);
    *s = (trl_scaled_values){0};
}
