/* scaling.c -- scales of weights, and L-BFGS through them. */
/* SPDX-License-Identifier: MIT */
#include "train/scaling.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/sparse_lists.h"

#define NEAR 16.0    /* values from 1 / NEAR to NEAR are left alone */
#define FURTHEST 500 /* largest exponent of a scale: its square is still finite */

/* ---- scales ---------------------------------------------------------------------------------- */

static bool is_far(size_t n, const double *value)
{
    for (size_t i = 0; value && i < n; i++)
        if (value[i] != 0.0 && !(fabs(value[i]) <= NEAR && fabs(value[i]) >= 1.0 / NEAR))
            return true;
    return false;
}

static bool any_far(const trl_design *d)
{
    for (size_t k = 0; k < trl_design_built(d); k++) {
        const trl_family *f = &d->family[k];
        if (f->has_rows && (is_far((size_t)f->dense_begin[d->n_tokens], f->dense_value) ||
                            is_far((size_t)f->entry_begin[d->n_tokens], f->entry_value)))
            return true;
    }
    return false;
}

/* Sums of squares of values and their numbers, of every weight of the family (of a dense row at its
 * first weight). */
static void add_values(const trl_design *d, const trl_family *f, double *S, double *n)
{
    for (uint64_t i = 0; i < f->dense_begin[d->n_tokens]; i++) {
        const uint64_t at = trl_dense_at(f, f->dense_row[i]);
        S[at] += f->dense_value ? f->dense_value[i] * f->dense_value[i] : 1.0;
        n[at] += 1.0;
    }
    for (size_t tok = 0; tok < d->n_tokens; tok++)
        for (trl_entry_walk x = trl_entries_of(f, tok); trl_entry_next(&x);) {
            S[x.entry.weight] += x.value * x.value;
            n[x.entry.weight] += 1.0;
        }
}

static double scale_of(double S, double n, double c2)
{
    const double ratio = (2.0 * c2 + 0.25 * S) / (2.0 * c2 + 0.25 * n);
    if (!(S > 0.0) || !(ratio > 0.0) || !isfinite(ratio))
        return S > 0.0 && !isfinite(ratio) ? ldexp(1.0, FURTHEST) : 1.0;
    const double log = 0.5 * log2(ratio);
    if (fabs(log) <= log2(NEAR))
        return 1.0;
    return ldexp(1.0, (int)fmax(-FURTHEST, fmin(FURTHEST, round(log))));
}

/* Turns S into scales. */
static void make_scales(const trl_family *f, double c2, double *S, const double *n)
{
    for (size_t row = 0; row < f->n_dense; row++) {
        const uint64_t at = trl_dense_at(f, row);
        const double p = scale_of(S[at], n[at], c2);
        for (size_t c = 0; c < f->width; c++)
            S[at + c] = p;
    }
    for (uint64_t e = 0; e < f->entry_first[f->n_attrs - f->n_dense]; e++) {
        const uint64_t at = trl_entry_at(f, e);
        S[at] = scale_of(S[at], n[at], c2);
    }
}

trl_status trl_scaling_of(const trl_design *d, double c2, double **scale, trl_error *err)
{
    *scale = NULL;
    if (!any_far(d))
        return TRL_OK;
    double *S = trl_zalloc(trl_design_alloc(d), sizeof *S);
    double *n = trl_zalloc(trl_design_alloc(d), sizeof *n);
    if (!S || !n) {
        trl_free(S);
        trl_free(n);
        return trl_fail_mem(err);
    }
    for (size_t k = 0; k < trl_design_built(d); k++) {
        if (!d->family[k].has_rows)
            continue;
        add_values(d, &d->family[k], S, n);
        make_scales(&d->family[k], c2, S, n);
    }
    trl_free(n);
    bool any = false;
    for (uint64_t j = 0; j < d->n_weights; j++) {
        S[j] = S[j] > 0.0 ? S[j] : 1.0; /* constants, pads */
        any = any || S[j] != 1.0;
    }
    if (any)
        *scale = S;
    else
        trl_free(S);
    return TRL_OK;
}

/* ---- L-BFGS ---------------------------------------------------------------------------------- */

typedef struct scaled {
    const trl_function *f;
    const trl_watcher *watcher;
    const double *p;
    double *w;   /* [n + 64] */
    double norm; /* of dF/dw at the last point */
    bool l1;
} scaled;

static trl_status eval(void *self, const double *v, double *g, double *F, trl_error *err)
{
    scaled *s = self;
    double sum = 0.0;
    for (size_t j = 0; j < s->f->n; j++)
        s->w[j] = v[j] / s->p[j];
    const trl_status st = s->f->eval(s->f->self, s->w, g, F, err);
    for (size_t j = 0; st == TRL_OK && j < s->f->n; j++) {
        sum += g[j] * g[j];
        g[j] /= s->p[j];
    }
    s->norm = sqrt(sum);
    return st;
}

/* The last point that was evaluated is the one that was accepted: norm is its. */
static trl_status watch(void *self, const trl_iteration *it, trl_state_fn save,
                        const void *optimizer, bool *stop, trl_error *err)
{
    scaled *s = self;
    trl_iteration now = *it;
    for (size_t j = 0; j < s->f->n; j++)
        s->w[j] = it->x[j] / s->p[j];
    now.x = s->w;
    now.gradient = s->l1 ? (double)NAN : s->norm;
    return s->watcher->watch(s->watcher->self, &now, save, optimizer, stop, err);
}

trl_status trl_lbfgs_scaled(const trl_function *f, const trl_lbfgs_options *o, const double *scale,
                            const trl_descent *how, trl_error *err)
{
    if (!scale)
        return trl_lbfgs(f, o, how, err);
    scaled s = {.f = f, .watcher = how->watcher, .p = scale, .l1 = o->c1 > 0.0};
    s.w = trl_alloc64(f->n + 64, sizeof *s.w);
    double *before = o->before ? trl_alloc(f->n, sizeof *before) : NULL;
    if (!s.w || (o->before && !before)) {
        trl_free(s.w);
        trl_free(before);
        return trl_fail_mem(err);
    }
    memset(s.w + f->n, 0, 64 * sizeof *s.w);
    const trl_function own = {&s, f->n, eval, f->remembers};
    const trl_watcher eye = {&s, watch, how->watcher ? how->watcher->cancel : NULL};
    trl_lbfgs_options in = *o;
    trl_descent inner = *how;
    in.scale = scale;
    in.before = before;
    for (size_t j = 0; before && j < f->n; j++)
        before[j] = o->before[j] * scale[j];
    inner.watcher = how->watcher ? &eye : NULL;
    for (size_t j = 0; j < f->n; j++)
        how->x[j] *= scale[j];
    const trl_status st = trl_lbfgs(&own, &in, &inner, err);
    for (size_t j = 0; j < f->n; j++)
        how->x[j] /= scale[j];
    trl_free(s.w);
    trl_free(before);
    return st;
}
