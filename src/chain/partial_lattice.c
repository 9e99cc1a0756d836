/* partial_lattice.c -- sums over the labellings that notes allow, run by run. */
/* SPDX-License-Identifier: MIT */
#include "chain/partial_lattice.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "chain/engine.h"
#include "chain/local_term.h"
#include "chain/partial_kernel.h"

#define SPREAD 120.0

/* The labels that a token has in a sum, and their probabilities (NULL: of one label, or open). */
typedef struct options {
    size_t n;
    const uint32_t *label;
    const double *p;
} options;

/* The table of a factor, and where its sums begin. */
typedef struct table {
    size_t A, B, C;
    double *f;     /* [A][B][C] scores, later their exponentials */
    double *local; /* [A][B][S] p(. | source) of normalised factors, or NULL */
    double *alpha; /* [B][C] */
    double *beta;  /* [B][C] */
    double shift;  /* taken out of f, and the scale of alpha */
    double weight; /* of the token */
} table;

typedef struct work {
    const trl_chain_example *x;
    bool local;
    size_t order, T, L, S;
    trl_term m;
    options *open;  /* [T] what notes allow, */
    options *now;   /* [T] with soft labels as drawn */
    table *at;      /* [T] */
    double one;     /* 1, the alpha before a run */
    double *memory; /* of a run, or of a factor without open labels: */
    size_t used;
} work;

static const options nothing = {1, NULL, NULL}; /* before the first token */

static bool is_open(const work *w, size_t t)
{
    const uint8_t kind = w->x->notes->kind[w->x->note[t]];
    return kind == TRL_LABEL_ANY || kind == TRL_LABEL_SET;
}

static bool is_soft(const work *w, size_t t)
{
    return w->x->notes->kind[w->x->note[t]] == TRL_LABEL_SOFT;
}

/* ---- one factor ------------------------------------------------------------------------------ */

/* The options of the a, b and c of factor t. */
static void options_of(const options *o, size_t order, size_t t, const options *out[3])
{
    out[0] = t >= order ? &o[t - order] : &nothing;
    out[1] = order == 2 && t >= 1 ? &o[t - 1] : &nothing;
    out[2] = &o[t];
}

/* The number of the source with a-th and b-th labels (local_term.h). */
static size_t source_of(const work *w, const options *const o[3], size_t a, size_t b)
{
    const size_t before = o[0]->label ? o[0]->label[a] : 0;
    if (w->order == 1)
        return before;
    return before * w->L + (o[1]->label ? o[1]->label[b] : 0);
}

static double *room(work *w, size_t n)
{
    double *p = w->memory + w->used;
    w->used += trl_padded(n);
    return p;
}

/* What load and sum_run take for factor t. */
static size_t size_of(const work *w, size_t t)
{
    const options *o[3];
    options_of(w->open, w->order, t, o);
    const size_t AB = o[0]->n * o[1]->n, BC = o[1]->n * o[2]->n;
    return trl_padded(AB * o[2]->n + w->S) + (w->local ? trl_padded(AB * w->S) : 0) +
           trl_padded(w->S) + 2 * trl_padded(BC);
}

/* The scores f of factor t, and p(. | source) where it is normalised. */
static void load(work *w, size_t t, const options *of)
{
    const options *o[3];
    table *k = &w->at[t];
    options_of(of, w->order, t, o);
    *k = (table){.A = o[0]->n, .B = o[1]->n, .C = o[2]->n, .weight = 1.0};
    k->f = room(w, k->A * k->B * k->C + w->S);
    k->local = w->local ? room(w, k->A * k->B * w->S) : NULL;
    double *sum = room(w, w->S);
    if (w->local)
        k->weight = w->x->notes->weight[w->x->note[t]];
    for (size_t a = 0; a < k->A; a++)
        for (size_t b = 0; b < k->B; b++) {
            double *f = k->f + (a * k->B + b) * k->C;
            trl_term_source(&w->m, t, source_of(w, o, a, b));
            trl_lines_sum(w->L, w->m.n, w->m.line, 0.0, sum);
            for (size_t c = 0; c < k->C; c++)
                f[c] = sum[o[2]->label[c]];
            if (!w->local)
                continue;
            double *p = k->local + (a * k->B + b) * w->S;
            memcpy(p, sum, w->S * sizeof *p);
            const double z = trl_softmax(w->S, p, false);
            for (size_t c = 0; c < k->C; c++)
                f[c] = f[c] == -HUGE_VAL || k->weight == 0.0 ? (k->weight == 0.0 ? 0.0 : f[c])
                                                             : k->weight * (f[c] - z);
        }
}

/* Adds `scale` times the derivative of sum mu f: mu in place of the table's scores. */
static void add_cells(work *w, size_t t, const options *of, double scale)
{
    const options *o[3];
    const table *k = &w->at[t];
    options_of(of, w->order, t, o);
    for (size_t a = 0; a < k->A; a++)
        for (size_t b = 0; b < k->B; b++) {
            const double *mu = k->f + (a * k->B + b) * k->C;
            double sum = 0.0;
            trl_term_source(&w->m, t, source_of(w, o, a, b));
            for (size_t c = 0; c < k->C; c++)
                sum += mu[c];
            if (sum == 0.0)
                continue;
            trl_cells_add(&w->m, k->C, o[2]->label, scale * k->weight, mu);
            if (k->local)
                trl_lines_add(w->L, w->m.n, w->m.line, -scale * k->weight * sum,
                              k->local + (a * k->B + b) * w->S);
        }
}

/* ---- factors without open labels ------------------------------------------------------------- */

static double share_of(const options *o, size_t k)
{
    return o->p ? o->p[k] : 1.0;
}

/* The expected score of factor t; its derivative is added.  A cell of probability 0 has none. */
static double expected(work *w, size_t t)
{
    const options *o[3];
    double sum = 0.0;
    w->used = 0;
    options_of(w->open, w->order, t, o);
    if (!w->local && o[0]->n * o[1]->n * o[2]->n == 1) {
        trl_term_source(&w->m, t, source_of(w, o, 0, 0));
        return trl_term_gold(&w->m, o[2]->label[0], w->x->weight);
    }
    load(w, t, w->open);
    const table *k = &w->at[t];
    for (size_t a = 0; a < k->A; a++)
        for (size_t b = 0; b < k->B; b++)
            for (size_t c = 0; c < k->C; c++) {
                double *f = k->f + (a * k->B + b) * k->C + c;
                const double q = share_of(o[0], a) * share_of(o[1], b) * share_of(o[2], c);
                sum += q > 0.0 ? q * *f : 0.0;
                *f = q;
            }
    add_cells(w, t, w->open, w->x->weight);
    return sum;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* A run of open tokens, with all factors that touch them: from .. to. */
typedef struct run {
    size_t from, last, to;
} run;

static run run_from(const work *w, size_t t)
{
    run r = {t, t, 0};
    for (size_t u = t + 1; u < w->T && u <= r.last + w->order; u++)
        if (is_open(w, u))
            r.last = u;
    r.to = r.last + w->order < w->T ? r.last + w->order : w->T - 1;
    return r;
}

/* One draw: log of the sum over the open labels; its derivative, times `scale`, is added. */
static double sum_run(work *w, const run *r, double scale)
{
    bool fits = true;
    w->used = 0;
    for (size_t t = r->from; t <= r->to; t++) {
        load(w, t, w->now);
        table *k = &w->at[t];
        k->alpha = room(w, k->B * k->C);
        k->beta = room(w, k->B * k->C);
        double min;
        trl_partial_range(k->A * k->B * k->C, k->f, &min, &k->shift);
        fits &= k->shift - min <= SPREAD;
    }
    double log_z = 0.0;
    for (size_t t = r->from; t <= r->to; t++) {
        table *k = &w->at[t];
        const trl_partial_step step = {k->A, k->B, k->C, k->f};
        const double *before = t == r->from ? &w->one : k[-1].alpha;
        if (fits)
            log_z += trl_partial_forward(&step, k->shift, before, k->alpha);
        else
            trl_partial_forward_log(&step, t == r->from ? NULL : before, k->alpha);
    }
    table *last = &w->at[r->to];
    if (!fits)
        log_z = trl_partial_log_sum(last->B * last->C, last->alpha);
    if (!(log_z > -HUGE_VAL)) /* all forbidden, or not a number */
        return log_z;
    for (size_t k = 0; k < last->B * last->C; k++)
        last->beta[k] = fits ? 1.0 : 0.0;
    for (size_t t = r->to + 1; t-- > r->from;) {
        table *k = &w->at[t];
        const trl_partial_step step = {k->A, k->B, k->C, k->f};
        const double *before = t == r->from ? &w->one : k[-1].alpha;
        double *beta = t == r->from ? NULL : k[-1].beta;
        if (fits)
            trl_partial_backward(&step, before, k->beta, beta);
        else
            trl_partial_backward_log(&step, t == r->from ? NULL : before, k->beta, log_z, beta);
        add_cells(w, t, w->now, scale);
    }
    return log_z;
}

/* The soft tokens from t on, up to `end`, take each of their labels in turn. */
static double draw(work *w, const run *r, size_t t, size_t end, double share)
{
    while (t < end && !is_soft(w, t))
        t++;
    if (t == end)
        return share * sum_run(w, r, share * w->x->weight);
    const options o = w->open[t];
    double sum = 0.0;
    for (size_t k = 0; k < o.n; k++) {
        w->now[t] = (options){1, o.label + k, NULL};
        sum += draw(w, r, t + 1, end, share * o.p[k]);
    }
    w->now[t] = o;
    return sum;
}

/* ---- sequences ------------------------------------------------------------------------------- */

static bool get(const trl_chain_example *x, work *w)
{
    w->open = trl_arena_get(x->arena, w->T, sizeof *w->open);
    w->now = trl_arena_get(x->arena, w->T, sizeof *w->now);
    w->at = trl_arena_get(x->arena, w->T, sizeof *w->at);
    if (!w->open || !w->now || !w->at)
        return false;
    for (size_t t = 0; t < w->T; t++) {
        const trl_label_note note = trl_label_note_of(x->notes, x->note[t]);
        w->open[t] = w->now[t] = (options){note.n, note.label, note.p};
    }
    size_t most = 0;
    for (size_t t = 0; t < w->T;) { /* the largest run */
        const size_t to = is_open(w, t) ? run_from(w, t).to : t;
        size_t size = 0;
        for (; t <= to; t++)
            size += size_of(w, t);
        most = size > most ? size : most;
    }
    w->memory = trl_arena_get(x->arena, most, sizeof *w->memory);
    return w->memory;
}

trl_status trl_partial_sum(const trl_chain_example *x, bool local, trl_tables *adjoint,
                           double *value, trl_error *err)
{
    work w = {.x = x,
              .local = local,
              .order = (size_t)x->chain->order,
              .T = x->scores->n,
              .L = x->chain->L,
              .S = x->chain->stride,
              .m = trl_term_of(x->chain, x->scores, adjoint),
              .one = 1.0};
    *value = 0.0;
    if (!get(x, &w))
        return trl_fail_mem(err);
    for (size_t t = 0; t < w.T;)
        if (is_open(&w, t)) {
            const run r = run_from(&w, t);
            *value += draw(&w, &r, t < w.order ? 0 : t - w.order, r.to + 1, 1.0);
            t = r.to + 1;
        } else {
            *value += expected(&w, t++);
        }
    return TRL_OK;
}

double trl_partial_draws(const trl_label_notes *notes, const uint32_t *note, size_t n, int order)
{
    const trl_chain_example x = {.notes = notes, .note = note};
    const work w = {.x = &x, .order = (size_t)order, .T = n};
    double most = 1.0;
    for (size_t t = 0; t < n; t++)
        if (is_open(&w, t)) {
            const run r = run_from(&w, t);
            double draws = 1.0;
            for (size_t u = t < w.order ? 0 : t - w.order; u <= r.to; u++)
                draws *= is_soft(&w, u) ? (double)trl_label_note_of(notes, note[u]).n : 1.0;
            most = draws > most ? draws : most;
            t = r.to;
        }
    return most;
}
