/* gold_matrix.c -- listing the features of the gold labellings, by sequence and by weight. */
/* SPDX-License-Identifier: MIT */
#include "mest/gold_matrix.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/attr_map.h"

/* ---- gold features --------------------------------------------------------------------------- */

typedef struct lister {
    const trl_design *d;
    const trl_corpus *corpus;
    uint32_t *weight; /* NULL: only count */
    double *value;    /* NULL: all 1 */
    uint64_t n;
} lister;

static void put(lister *l, uint64_t weight, double value)
{
    if (weight == TRL_NO_WEIGHT)
        return;
    if (l->weight)
        l->weight[l->n] = (uint32_t)weight;
    if (l->value)
        l->value[l->n] = value;
    l->n++;
}

/* The features of family f at token tok whose labels, number `tuple` of the table, are the gold
 * ones. */
static void list_token(lister *l, const trl_family *f, size_t tok, size_t tuple)
{
    if (f->has_constant)
        put(l, trl_constant_weight(f, tuple), 1.0);
    if (!f->has_rows)
        return;
    for (uint64_t r = f->dense_begin[tok]; r < f->dense_begin[tok + 1]; r++)
        put(l, trl_attr_weight(f, f->dense_row[r], tuple),
            f->dense_value ? f->dense_value[r] : 1.0);
    for (uint64_t e = f->entry_begin[tok]; e < f->entry_begin[tok + 1]; e++)
        if (f->entry[e].cell == tuple)
            put(l, f->entry[e].weight, f->entry_value ? f->entry_value[e] : 1.0);
}

static void list_sequence(lister *l, size_t seq)
{
    const trl_design *d = l->d;
    const size_t from = (size_t)d->first[seq], n = (size_t)d->first[seq + 1] - from;
    const uint32_t *y = l->corpus->label + from;
    for (size_t t = 0; t < n; t++) {
        size_t tuple = 0, power = 1;
        for (size_t f = 0; f <= (size_t)d->order && f <= t; f++) {
            tuple += power * y[t - f];
            power *= d->L;
            list_token(l, &d->family[f], from + t, tuple);
        }
    }
}

/* ---- both sides ------------------------------------------------------------------------------ */

static bool has_values(const trl_design *d)
{
    bool any = false;
    for (size_t f = 0; f <= (size_t)d->order; f++)
        any = any || d->family[f].dense_value || d->family[f].entry_value;
    return any;
}

static bool list_all(const trl_design *d, const trl_corpus *corpus, trl_gold_listing *out)
{
    lister l = {.d = d, .corpus = corpus};
    const size_t n = d->n_sequences;
    *out = (trl_gold_listing){.begin = trl_alloc(n + 1, sizeof *out->begin)};
    for (size_t seq = 0; out->begin && seq < n; seq++) {
        out->begin[seq] = l.n;
        list_sequence(&l, seq);
    }
    out->weight = l.weight = trl_alloc((size_t)l.n, sizeof *out->weight);
    if (has_values(d))
        out->value = l.value = trl_alloc((size_t)l.n, sizeof *out->value);
    if (!out->begin || !out->weight || (has_values(d) && !out->value))
        return false;
    out->begin[n] = l.n;
    l.n = 0;
    for (size_t seq = 0; seq < n; seq++)
        list_sequence(&l, seq);
    return true;
}

static bool side_alloc(trl_sparse_side *s, size_t n, uint64_t elements)
{
    s->n = n;
    s->begin = trl_zalloc(n + 2, sizeof *s->begin);
    s->ones = trl_alloc(n, sizeof *s->ones);
    s->other = trl_alloc(n, sizeof *s->other);
    s->index = trl_alloc((size_t)elements, sizeof *s->index);
    s->value = trl_alloc((size_t)elements, sizeof *s->value);
    return s->begin && s->ones && s->other && s->index && s->value;
}

static void side_fini(trl_sparse_side *s)
{
    trl_free(s->begin);
    trl_free(s->ones);
    trl_free(s->other);
    trl_free(s->index);
    trl_free(s->value);
}

/* Columns in the form (row, value), value by value; elements of a row that fall on the same place
 * are neighbours and become one. */
static void to_columns(const trl_gold_listing *l, size_t n_rows, trl_sparse_side *s)
{
    const uint64_t n = l->begin[n_rows];
    for (uint64_t i = 0; i < n; i++)
        s->begin[l->weight[i] + 2]++;
    for (size_t j = 0; j < s->n; j++)
        s->begin[j + 2] += s->begin[j + 1];
    for (size_t r = 0; r < n_rows; r++)
        for (uint64_t i = l->begin[r]; i < l->begin[r + 1]; i++) {
            const uint64_t to = s->begin[l->weight[i] + 1]++;
            s->index[to] = (uint32_t)r;
            s->value[to] = l->value ? l->value[i] : 1.0;
        }
    uint64_t to = 0; /* begin[j] .. begin[j + 1] is now column j */
    for (size_t j = 0; j < s->n; j++) {
        const uint64_t from = s->begin[j], end = s->begin[j + 1];
        s->begin[j] = to;
        for (uint64_t i = from; i < end; i++) {
            if (i > from && s->index[to - 1] == s->index[i]) {
                s->value[to - 1] += s->value[i];
            } else {
                s->index[to] = s->index[i];
                s->value[to++] = s->value[i];
            }
        }
    }
    s->begin[s->n] = to;
}

/* The other side, in the same form. */
static void to_rows(const trl_sparse_side *c, trl_sparse_side *r)
{
    for (uint64_t i = 0; i < c->begin[c->n]; i++)
        r->begin[c->index[i] + 2]++;
    for (size_t k = 0; k < r->n; k++)
        r->begin[k + 2] += r->begin[k + 1];
    for (size_t j = 0; j < c->n; j++)
        for (uint64_t i = c->begin[j]; i < c->begin[j + 1]; i++) {
            const uint64_t to = r->begin[c->index[i] + 1]++;
            r->index[to] = (uint32_t)j;
            r->value[to] = c->value[i];
        }
}

/* Reorders each line so that ones come first: `scratch` has room for the longest line. */
static void part(trl_sparse_side *s, uint32_t *scratch)
{
    uint64_t others = 0;
    for (size_t k = 0; k < s->n; k++) {
        uint64_t one = s->begin[k];
        size_t n = 0;
        s->other[k] = others;
        for (uint64_t i = s->begin[k]; i < s->begin[k + 1]; i++) {
            if (s->value[i] == 1.0) {
                s->index[one++] = s->index[i];
            } else {
                scratch[n++] = s->index[i];
                s->value[others++] = s->value[i]; /* others <= i */
            }
        }
        s->ones[k] = one;
        for (size_t i = 0; i < n; i++)
            s->index[one + i] = scratch[i];
    }
}

/* Releases the memory that `part` left unused; a failure to shrink does not matter. */
static void shrink(trl_sparse_side *s)
{
    const size_t n = (size_t)s->begin[s->n];
    size_t others = 0;
    for (size_t k = 0; k < s->n; k++)
        others += (size_t)(s->begin[k + 1] - s->ones[k]);
    uint32_t *index = trl_realloc(s->index, n, sizeof *index);
    double *value = trl_realloc(s->value, others, sizeof *value);
    s->index = index ? index : s->index;
    s->value = value ? value : s->value;
}

static bool build(trl_gold_matrix *m, const trl_gold_listing *l, uint32_t *scratch)
{
    const uint64_t n = l->begin[m->rows.n];
    if (!side_alloc(&m->columns, m->columns.n, n))
        return false;
    to_columns(l, m->rows.n, &m->columns);
    if (!side_alloc(&m->rows, m->rows.n, m->columns.begin[m->columns.n]))
        return false;
    to_rows(&m->columns, &m->rows);
    part(&m->columns, scratch);
    part(&m->rows, scratch);
    shrink(&m->columns);
    shrink(&m->rows);
    return true;
}

trl_status trl_gold_matrix_of(trl_gold_matrix *m, const trl_gold_listing *l, size_t rows,
                              size_t columns, trl_error *err)
{
    *m = (trl_gold_matrix){.rows.n = rows, .columns.n = columns};
    if (columns > UINT32_MAX - 64 || rows > UINT32_MAX - 64)
        return trl_fail(err, TRL_EINVAL, "more than 4,294,967,231 features or sequences");
    uint32_t *scratch = trl_alloc(rows + columns, sizeof *scratch);
    const bool good = scratch && build(m, l, scratch);
    trl_free(scratch);
    if (good)
        return TRL_OK;
    trl_gold_matrix_fini(m);
    return trl_fail_mem(err);
}

trl_status trl_gold_matrix_init(trl_gold_matrix *m, const trl_design *d, const trl_corpus *corpus,
                                trl_error *err)
{
    *m = (trl_gold_matrix){0};
    if (d->n_weights > UINT32_MAX - 64)
        return trl_fail(err, TRL_EINVAL, "more than 4,294,967,231 features or sequences");
    trl_gold_listing l = {0};
    const trl_status st = list_all(d, corpus, &l)
                              ? trl_gold_matrix_of(m, &l, d->n_sequences, (size_t)d->n_weights, err)
                              : trl_fail_mem(err);
    trl_free(l.begin);
    trl_free(l.weight);
    trl_free(l.value);
    return st;
}

void trl_gold_matrix_fini(trl_gold_matrix *m)
{
    side_fini(&m->rows);
    side_fini(&m->columns);
    *m = (trl_gold_matrix){0};
}
