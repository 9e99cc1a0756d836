/* sample_q0.c -- drawing sequences from an HMM and counting their features. */
/* SPDX-License-Identifier: MIT */
#include "mest/sample_q0.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "feature/attr_map.h"

#define TOKENS_MAX 10000000

/* ---- drawing --------------------------------------------------------------------------------- */

typedef struct sampler {
    const trl_hmm *hmm;
    const trl_column_values *columns;
    trl_rng rng;
    double **sum;    /* by column of the HMM: [L][values] running sums of e */
    uint32_t **rare; /* by column of the HMM: values of the column that it does not know */
    size_t *n_rare;
    trl_str *cell; /* of the sequence drawn last */
    uint32_t *label;
    size_t cell_cap, label_cap;
} sampler;

static void sampler_fini(sampler *s)
{
    for (size_t c = 0; s->hmm && c < s->hmm->n_columns; c++) {
        if (s->sum)
            trl_free(s->sum[c]);
        if (s->rare)
            trl_free(s->rare[c]);
    }
    trl_free(s->sum);
    trl_free(s->rare);
    trl_free(s->n_rare);
    trl_free(s->cell);
    trl_free(s->label);
    *s = (sampler){0};
}

static bool make_sums(sampler *s, size_t c)
{
    const trl_hmm_column *col = &s->hmm->column[c];
    const size_t L = s->hmm->L;
    s->sum[c] = trl_alloc(L, col->n * sizeof **s->sum);
    for (size_t y = 0; s->sum[c] && y < L; y++) {
        double sum = 0.0;
        for (size_t v = 0; v < col->n; v++)
            s->sum[c][y * col->n + v] = sum += col->p[v * L + y];
    }
    return s->sum[c] != NULL;
}

static bool list_rare(sampler *s, size_t c)
{
    const trl_strtab *values = &s->columns->values[s->hmm->column[c].column];
    s->rare[c] = trl_alloc(values->n, sizeof **s->rare);
    for (size_t v = 0; s->rare[c] && !s->columns->masked && v < values->n; v++)
        if (trl_hmm_value(s->hmm, c, trl_strtab_get(values, (uint32_t)v)) == 0)
            s->rare[c][s->n_rare[c]++] = (uint32_t)v;
    return s->rare[c] != NULL;
}

/* hmm and cells are borrowed.  OOV is drawn as TRL_OOV from masked cells, else as one of
 * the rare values or, as often as each of them, as TRL_OOV.  TRL_ENOMEM. */
static trl_status sampler_init(sampler *s, const trl_hmm *hmm, const trl_column_values *columns,
                               uint64_t seed, trl_error *err)
{
    const size_t n = hmm->n_columns;
    *s = (sampler){.hmm = hmm, .columns = columns, .rng = trl_rng_seed(seed)};
    s->sum = trl_zalloc(n, sizeof *s->sum);
    s->rare = trl_zalloc(n, sizeof *s->rare);
    s->n_rare = trl_zalloc(n, sizeof *s->n_rare);
    bool good = s->sum && s->rare && s->n_rare;
    for (size_t c = 0; good && c < n; c++)
        good = make_sums(s, c) && list_rare(s, c);
    if (!good) {
        sampler_fini(s);
        return trl_fail_mem(err);
    }
    return TRL_OK;
}

/* One of n outcomes with the running sums `sum`. */
static size_t draw_sorted(trl_rng *rng, const double *sum, size_t n)
{
    const double u = trl_rng_unit(rng) * sum[n - 1];
    size_t lo = 0, hi = n - 1;
    while (lo < hi) { /* the first with sum > u */
        const size_t mid = lo + (hi - lo) / 2;
        if (sum[mid] > u)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* One of n outcomes with probabilities p; never one of probability 0. */
static size_t draw(trl_rng *rng, const double *p, size_t n)
{
    double u = trl_rng_unit(rng);
    size_t last = 0;
    for (size_t k = 0; k < n; k++) {
        if (p[k] <= 0.0)
            continue;
        last = k;
        if (u < p[k])
            break;
        u -= p[k];
    }
    return last;
}

static trl_str draw_cell(sampler *s, size_t c, size_t y)
{
    const trl_hmm_column *col = &s->hmm->column[c];
    const size_t v = draw_sorted(&s->rng, s->sum[c] + y * col->n, col->n);
    if (v == 0 && s->n_rare[c]) {
        const size_t k = trl_rng_below(&s->rng, s->n_rare[c] + 1);
        if (k < s->n_rare[c])
            return trl_strtab_get(&s->columns->values[col->column], s->rare[c][k]);
    }
    return trl_strview_get(&col->values, (uint32_t)v);
}

static bool put_token(sampler *s, size_t t, size_t y)
{
    const size_t n = s->columns->n_columns;
    uint32_t *label = trl_reserve(s->label, &s->label_cap, t + 1, sizeof *label);
    if (label)
        s->label = label;
    trl_str *cell = trl_reserve(s->cell, &s->cell_cap, (t + 1) * n, sizeof *cell);
    if (cell)
        s->cell = cell;
    if (!label || !cell)
        return false;
    label[t] = (uint32_t)y;
    for (size_t k = 0; k < n; k++)
        cell[t * n + k] = (trl_str){"", 0};
    for (size_t c = 0; c < s->hmm->n_columns; c++)
        cell[t * n + s->hmm->column[c].column] = draw_cell(s, c, y);
    return true;
}

/* The next sequence, its labels in s->label, with the columns of the data; columns that the HMM
 * does not emit, including the label's, are empty.  Valid until the next call.  TRL_ENOMEM;
 * TRL_ENUMERIC beyond ten million tokens. */
static trl_status sampler_draw(sampler *s, trl_rows *seq, trl_error *err)
{
    const trl_hmm *h = s->hmm;
    size_t before = h->L, y = draw(&s->rng, h->start, h->L), t = 0;
    for (; y < h->L; t++) {
        if (t == TOKENS_MAX)
            return trl_fail(err, TRL_ENUMERIC, "a sequence drawn from q0 does not end");
        if (!put_token(s, t, y))
            return trl_fail_mem(err);
        const size_t context = (h->order == 2 ? before * h->L : 0) + y;
        before = y;
        y = draw(&s->rng, h->next + context * (h->L + 1), h->L + 1);
    }
    *seq = (trl_rows){.n_tokens = t, .n_columns = s->columns->n_columns, .cell = s->cell};
    return TRL_OK;
}

/* ---- counting -------------------------------------------------------------------------------- */

typedef struct counter {
    const trl_expect_data *x;
    const bool *which;
    trl_attr_map map;
    double *count; /* [weights] */
    bool *owned;   /* [weights] features of the lines in question; NULL: do not mark */
    trl_buf name;
} counter;

/* The number of the labels y_{t-f} .. y_t in a table of family f. */
static size_t tuple_of(const uint32_t *y, size_t f, size_t L)
{
    size_t tuple = 0;
    for (size_t k = f + 1; k-- > 0;)
        tuple = tuple * L + *(y - k);
    return tuple;
}

/* The features of one line at t: counted, or all weights of their attributes marked. */
static bool visit_line(counter *c, size_t line, const trl_rows *seq, size_t t,
                       const uint32_t *label, bool mark)
{
    const trl_design *d = c->x->design;
    const int on = trl_template_cliques(c->x->tpl, line);
    const bool constant = trl_template_is_constant(c->x->tpl, line);
    c->name.len = 0;
    if (!trl_template_expand(c->x->tpl, line, seq, t, &c->name))
        return false;
    for (size_t f = 0; f <= (size_t)d->order && f <= t; f++) {
        if (!(on >> f & 1) || (constant && f > 0))
            continue;
        const uint32_t attr = trl_attr_find(&c->map, f, c->name.data, c->name.len);
        if (attr == TRL_NO_ID)
            continue;
        const size_t one = tuple_of(label + t, f, d->L);
        for (size_t tuple = mark ? 0 : one; tuple < (mark ? d->family[f].width : one + 1);
             tuple++) {
            const uint64_t w = trl_attr_weight(&d->family[f], attr, tuple);
            if (w != TRL_NO_WEIGHT && mark)
                c->owned[w] = true;
            else if (w != TRL_NO_WEIGHT)
                c->count[w] += 1.0;
        }
    }
    return true;
}

static bool visit(counter *c, const trl_rows *seq, const uint32_t *label, bool mark)
{
    const trl_design *d = c->x->design;
    for (size_t line = 0; line < trl_template_count(c->x->tpl); line++)
        for (size_t t = 0; (!c->which || c->which[line]) && t < seq->n_tokens; t++)
            if (!visit_line(c, line, seq, t, label, mark))
                return false;
    for (size_t f = 1; !c->which && f <= (size_t)d->order; f++)
        for (size_t t = f; t < seq->n_tokens; t++) {
            const uint64_t w = trl_constant_weight(&d->family[f], tuple_of(label + t, f, d->L));
            if (w != TRL_NO_WEIGHT && mark)
                c->owned[w] = true;
            else if (w != TRL_NO_WEIGHT)
                c->count[w] += 1.0;
        }
    return true;
}

static trl_status count_samples(counter *c, const trl_hmm *q0, const trl_sample_options *o,
                                trl_error *err)
{
    sampler s;
    trl_status st = sampler_init(&s, q0, c->x->columns, o->seed, err);
    for (uint64_t i = 0; st == TRL_OK && i < o->n; i++) {
        trl_rows seq;
        st = trl_cancel_check(c->x->cancel, err);
        if (st == TRL_OK)
            st = sampler_draw(&s, &seq, err);
        if (st == TRL_OK && !visit(c, &seq, s.label, false))
            st = trl_fail_mem(err);
    }
    sampler_fini(&s);
    return st;
}

/* Finds the features of the lines in the training data. */
static trl_status mark_features(counter *c, trl_error *err)
{
    const trl_column_values *columns = c->x->columns;
    trl_str *cell = NULL;
    size_t cap = 0;
    trl_status st = TRL_OK;
    for (size_t seq = 0; st == TRL_OK && seq < columns->n_sequences; seq++) {
        if ((st = trl_cancel_check(c->x->cancel, err)) != TRL_OK)
            break;
        const size_t from = (size_t)columns->first[seq];
        const size_t n = (size_t)columns->first[seq + 1] - from;
        trl_str *grown = trl_reserve(cell, &cap, n * columns->n_columns, sizeof *cell);
        if (grown)
            cell = grown;
        const trl_rows rows = grown ? trl_column_values_rows(columns, seq, cell) : (trl_rows){0};
        if (!grown || !visit(c, &rows, c->x->corpus->label + from, true))
            st = trl_fail_mem(err);
    }
    trl_free(cell);
    return st;
}

trl_status trl_expect_sampled(const trl_expect_data *x, const trl_hmm *q0, const bool *which,
                              const trl_sample_options *o, double *E, trl_error *err)
{
    if (!x->tpl)
        return trl_fail(err, TRL_EINVAL,
                        "attribute lists cannot be generated: q0 needs columns "
                        "and a template, or must be emp");
    if (o->n == 0 || !(o->lambda >= 0.0 && isfinite(o->lambda)))
        return trl_fail(err, TRL_EINVAL,
                        "sampling takes at least one sample and a lambda that "
                        "is not negative");
    const size_t n = (size_t)x->design->n_weights;
    counter c = {.x = x, .which = which};
    c.count = trl_zalloc(n, sizeof *c.count);
    c.owned = trl_zalloc(n, sizeof *c.owned);
    trl_status st = c.count && c.owned ? trl_attr_map_init(&c.map, x->corpus, x->design, err)
                                       : trl_fail_mem(err);
    if (st == TRL_OK)
        st = count_samples(&c, q0, o, err);
    if (st == TRL_OK && o->lambda > 0.0)
        st = mark_features(&c, err);
    for (size_t i = 0; st == TRL_OK && i < n; i++)
        E[i] += (c.count[i] + (c.owned[i] ? o->lambda : 0.0)) / (double)o->n;
    trl_attr_map_fini(&c.map);
    trl_buf_fini(&c.name);
    trl_free(c.count);
    trl_free(c.owned);
    return st;
}
