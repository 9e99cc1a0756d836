/* hmm.c -- hidden Markov models: counting and queries. */
/* SPDX-License-Identifier: MIT */
#include "model/hmm.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

void trl_hmm_fini(trl_hmm *h)
{
    for (size_t c = 0; c < h->n_columns && h->column; c++)
        trl_free(h->column[c].log_p);
    for (size_t c = 0; c < h->n_columns && h->names; c++)
        trl_strtab_fini(&h->names[c]);
    trl_free(h->column);
    trl_free(h->names);
    trl_free(h->owned);
    *h = (trl_hmm){0};
}

/* ---- vocabulary ------------------------------------------------------------------------------ */

static double weight_of(const trl_column_values *columns, size_t seq)
{
    return columns->weight ? columns->weight[seq] : 1.0;
}

static double *count_values(const trl_column_values *columns, size_t column)
{
    double *n = trl_zalloc(columns->values[column].n, sizeof *n);
    for (size_t seq = 0; n && seq < columns->n_sequences; seq++)
        for (size_t t = (size_t)columns->first[seq]; t < columns->first[seq + 1]; t++)
            n[columns->id[t * columns->n_columns + column]] += weight_of(columns, seq);
    return n;
}

/* OOV, then the values that are still seen when their first occurrence is removed. */
static bool make_vocabulary(const trl_column_values *columns, size_t column, trl_strtab *out)
{
    double *n = count_values(columns, column);
    bool good = n && trl_strtab_add(out, TRL_OOV, strlen(TRL_OOV)) != TRL_NO_ID;
    for (size_t v = 0; good && v < columns->values[column].n; v++) {
        const trl_str s = trl_strtab_get(&columns->values[column], (uint32_t)v);
        if (n[v] > (columns->masked ? 0.0 : 1.0))
            good = trl_strtab_add(out, s.p, s.n) != TRL_NO_ID;
    }
    trl_free(n);
    return good;
}

/* The model's value for each value of a column of cells. */
static uint32_t *match_values(const trl_strview *values, const trl_strtab *columns)
{
    uint32_t *to = trl_alloc(columns->n, sizeof *to);
    for (size_t v = 0; to && v < columns->n; v++) {
        const trl_str s = trl_strtab_get(columns, (uint32_t)v);
        const uint32_t id = trl_strview_find(values, s.p, s.n, trl_str_hash(s.p, s.n));
        to[v] = id == TRL_NO_ID ? 0 : id;
    }
    return to;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* start and next hold counts afterwards. */
static void count_labels(const trl_column_values *columns, const uint32_t *label, size_t L,
                         int order, double *start, double *next)
{
    for (size_t seq = 0; seq < columns->n_sequences; seq++) {
        const uint32_t *y = label + columns->first[seq];
        const size_t n = (size_t)(columns->first[seq + 1] - columns->first[seq]);
        const double weight = weight_of(columns, seq);
        start[y[0]] += weight;
        for (size_t t = 1; t <= n; t++) {
            const size_t before = t >= 2 ? y[t - 2] : L;
            const size_t context = (order == 2 ? before * L : 0) + y[t - 1];
            next[context * (L + 1) + (t < n ? y[t] : L)] += weight;
        }
    }
}

static void normalise(size_t n, double *x)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++)
        sum += x[k];
    for (size_t k = 0; sum > 0.0 && k < n; k++)
        x[k] /= sum;
}

/* Counts to 0 or 1; STOP can follow wherever anything does. */
static void flatten(size_t n, double *x, bool stop)
{
    bool any = false;
    for (size_t k = 0; k < n; k++) {
        any = any || x[k] > 0.0;
        x[k] = x[k] > 0.0;
    }
    if (stop && any)
        x[n - 1] = 1.0;
}

static void estimate_labels(size_t L, const trl_hmm_options *o, double *start, double *next)
{
    if (o->uniform)
        flatten(L, start, false);
    normalise(L, start);
    for (size_t c = 0; c < trl_hmm_contexts(L, o->order); c++) {
        double *row = next + c * (L + 1);
        if (o->uniform)
            flatten(L + 1, row, true);
        normalise(L + 1, row);
    }
}

/* p[v][y] holds counts of label y with value v; the first occurrence of a value, that is the first
 * 1 of its weight, goes to OOV: a sequence of weight 9 is nine sequences. */
static bool count_emissions(const trl_column_values *columns, const uint32_t *label, size_t L,
                            const trl_hmm_column *col, double *p)
{
    const trl_strtab *values = &columns->values[col->column];
    uint32_t *to = match_values(&col->values, values);
    double *seen = trl_zalloc(values->n, sizeof *seen); /* up to 1 */
    for (size_t seq = 0; to && seen && seq < columns->n_sequences; seq++)
        for (size_t t = (size_t)columns->first[seq]; t < columns->first[seq + 1]; t++) {
            const uint32_t v = columns->id[t * columns->n_columns + col->column];
            const double weight = weight_of(columns, seq);
            const double left = columns->masked ? 0.0 : 1.0 - seen[v],
                         oov = weight < left ? weight : left;
            p[label[t]] += oov;
            p[to[v] * L + label[t]] += weight - oov;
            seen[v] += oov;
        }
    const bool good = to && seen;
    trl_free(to);
    trl_free(seen);
    return good;
}

static void estimate_emissions(size_t L, size_t n, const trl_hmm_options *o, double *p)
{
    if (o->uniform)
        for (size_t v = 0; v < n; v++) {
            double sum = 0.0;
            for (size_t y = 0; y < L; y++)
                sum += p[v * L + y];
            for (size_t y = 0; y < L; y++)
                p[v * L + y] = sum;
        }
    for (size_t y = 0; y < L; y++) {
        double sum = o->lambda * (double)n;
        for (size_t v = 0; v < n; v++)
            sum += p[v * L + y];
        for (size_t v = 0; v < n; v++)
            p[v * L + y] = (p[v * L + y] + o->lambda) / sum;
    }
}

/* ---- training -------------------------------------------------------------------------------- */

static trl_status check(const trl_column_values *columns, size_t L, const trl_hmm_options *o,
                        trl_error *err)
{
    if (o->order != 1 && o->order != 2)
        return trl_fail(err, TRL_EINVAL, "an HMM has order 1 or 2, not %d", o->order);
    if (!(o->lambda > 0.0 && isfinite(o->lambda)))
        return trl_fail(err, TRL_EINVAL, "what is added to an HMM's counts must be positive: %g",
                        o->lambda);
    if (columns->n_sequences == 0 || L == 0)
        return trl_fail(err, TRL_EINVAL, "an HMM needs at least one sequence");
    for (size_t c = 0; o->column && c < o->n_columns; c++)
        if (o->column[c] >= columns->n_columns)
            return trl_fail(err, TRL_EINVAL, "an HMM cannot emit column %zu: there are %zu",
                            o->column[c], columns->n_columns);
    return TRL_OK;
}

/* Names and sizes of the columns. */
static bool make_columns(trl_hmm *h, const trl_column_values *columns, const trl_hmm_options *o)
{
    const size_t n = o->column ? o->n_columns : columns->n_columns - 1;
    h->column = trl_zalloc(n, sizeof *h->column);
    h->names = trl_zalloc(n, sizeof *h->names);
    if (!h->column || !h->names)
        return false;
    h->n_columns = n;
    for (size_t c = 0; c < n; c++) {
        trl_hmm_column *col = &h->column[c];
        col->column = o->column ? o->column[c] : c;
        if (!make_vocabulary(columns, col->column, &h->names[c]))
            return false;
        col->values = trl_strtab_view(&h->names[c]);
        col->n = h->names[c].n;
        col->log_p = trl_alloc(col->n, h->L * sizeof *col->log_p);
        if (!col->log_p)
            return false;
    }
    return true;
}

/* One block for all parameters, zeroed, cut up. */
static bool make_room(trl_hmm *h, double **start, double **next, double **emit)
{
    const size_t n_next = trl_hmm_contexts(h->L, h->order) * (h->L + 1);
    size_t n = h->L + n_next;
    for (size_t c = 0; c < h->n_columns; c++)
        n += h->column[c].n * h->L;
    h->owned = trl_zalloc(n, sizeof *h->owned);
    if (!h->owned)
        return false;
    h->start = *start = h->owned;
    h->next = *next = h->owned + h->L;
    *emit = *next + n_next;
    return true;
}

static bool train(trl_hmm *h, const trl_column_values *columns, const uint32_t *label,
                  const trl_hmm_options *o)
{
    double *start, *next, *emit;
    if (!make_columns(h, columns, o) || !make_room(h, &start, &next, &emit))
        return false;
    count_labels(columns, label, h->L, h->order, start, next);
    estimate_labels(h->L, o, start, next);
    for (size_t c = 0; c < h->n_columns; c++) {
        trl_hmm_column *col = &h->column[c];
        if (!count_emissions(columns, label, h->L, col, emit))
            return false;
        estimate_emissions(h->L, col->n, o, emit);
        for (size_t i = 0; i < col->n * h->L; i++)
            col->log_p[i] = log(emit[i]);
        col->p = emit;
        emit += col->n * h->L;
    }
    return true;
}

trl_status trl_hmm_train(trl_hmm *h, const trl_column_values *columns, const uint32_t *label,
                         size_t L, const trl_hmm_options *o, trl_error *err)
{
    *h = (trl_hmm){.L = L, .order = o->order};
    const trl_status st = check(columns, L, o, err);
    if (st != TRL_OK)
        return st;
    if (!train(h, columns, label, o)) {
        trl_hmm_fini(h);
        return trl_fail_mem(err);
    }
    return TRL_OK;
}

/* ---- asking ---------------------------------------------------------------------------------- */

uint32_t trl_hmm_value(const trl_hmm *h, size_t c, trl_str cell)
{
    const uint32_t id =
        trl_strview_find(&h->column[c].values, cell.p, cell.n, trl_str_hash(cell.p, cell.n));
    return id == TRL_NO_ID ? 0 : id;
}

trl_status trl_hmm_number(const trl_hmm *h, const trl_column_values *columns, uint32_t **out,
                          trl_error *err)
{
    uint32_t *value = trl_alloc(columns->n_tokens, (h->n_columns + 1) * sizeof *value);
    trl_status st = value ? TRL_OK : trl_fail_mem(err);
    for (size_t c = 0; st == TRL_OK && c < h->n_columns; c++) {
        const size_t k = h->column[c].column;
        if (k >= columns->n_columns) {
            st = trl_fail(err, TRL_EINVAL, "the HMM emits column %zu, but there are %zu", k,
                          columns->n_columns);
            break;
        }
        uint32_t *to = match_values(&h->column[c].values, &columns->values[k]);
        if (!to)
            st = trl_fail_mem(err);
        for (size_t t = 0; to && t < columns->n_tokens; t++)
            value[t * h->n_columns + c] = to[columns->id[t * columns->n_columns + k]];
        trl_free(to);
    }
    if (st == TRL_OK)
        *out = value;
    else
        trl_free(value);
    return st;
}

trl_status trl_hmm_number_rows(const trl_hmm *h, const trl_rows *seq, uint32_t *value,
                               trl_error *err)
{
    for (size_t c = 0; c < h->n_columns; c++) {
        const size_t k = h->column[c].column;
        if (k >= seq->n_columns) {
            const trl_status st =
                trl_fail(err, TRL_EPARSE, "%zu column%s here, but the HMM emits column %zu",
                         seq->n_columns, seq->n_columns == 1 ? "" : "s", k);
            return trl_fail_where(err, st, seq->path, seq->first_row, 0);
        }
        for (size_t t = 0; t < seq->n_tokens; t++)
            value[t * h->n_columns + c] = trl_hmm_value(h, c, seq->cell[t * seq->n_columns + k]);
    }
    return TRL_OK;
}

trl_rows trl_hmm_mask_rows(const trl_hmm *h, const trl_rows *seq, trl_str *cell)
{
    trl_rows out = *seq;
    memcpy(cell, seq->cell, seq->n_tokens * seq->n_columns * sizeof *cell);
    for (size_t c = 0; c < h->n_columns; c++)
        for (size_t t = 0; h->column[c].column < seq->n_columns && t < seq->n_tokens; t++) {
            trl_str *s = &cell[t * seq->n_columns + h->column[c].column];
            if (trl_hmm_value(h, c, *s) == 0)
                *s = (trl_str){TRL_OOV, strlen(TRL_OOV)};
        }
    out.cell = cell;
    return out;
}

double trl_hmm_log_p(const trl_hmm *h, size_t n, const uint32_t *label, const uint32_t *value)
{
    const size_t L = h->L;
    double sum = log(h->start[label[0]]);
    for (size_t t = 0; t < n; t++) {
        sum +=
            log(trl_hmm_next(h, t >= 1 ? label[t - 1] : L, label[t], t + 1 < n ? label[t + 1] : L));
        for (size_t c = 0; c < h->n_columns; c++)
            sum += h->column[c].log_p[value[t * h->n_columns + c] * L + label[t]];
    }
    return sum;
}
