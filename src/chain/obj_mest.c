/* obj_mest.c -- M-estimation as two sparse matrix-vector products. */
/* SPDX-License-Identifier: MIT */
#include "chain/obj_mest.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/attr_map.h"
#include "num/blas1.h"

#define JOBS 64 /* pieces of either product; of no influence on the result */

/* f_i as a list of weights, one entry per time a feature is on. */
struct trl_mest {
    size_t n_rows, n_weights;
    const double *E;
    trl_pool *pool;
    uint64_t *row_begin; /* [n_rows + 1] */
    uint32_t *weight;    /* by row */
    double *row_value;   /* NULL: all 1 */
    uint64_t *col_begin; /* [n_weights + 1] */
    uint32_t *row;       /* by weight */
    double *col_value;   /* NULL: all 1 */
    double *share;       /* [n_rows] weight_i / sum weight */
    double *v;           /* [n_rows] share_i exp(-w . f_i) */
    double c2;           /* for trl_mest_function */

    /* of the evaluation under way */
    const double *w;
    double *grad;
    double now_c2;
};

/* ---- gold features ------------------------------------------------------------------ */

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

/* The features of family f at token tok whose cell is the gold one. */
static void list_token(lister *l, const trl_family *f, size_t tok, size_t cell)
{
    if (f->has_constant)
        put(l, trl_constant_weight(f, cell), 1.0);
    if (!f->has_rows)
        return;
    for (uint64_t r = f->dense_begin[tok]; r < f->dense_begin[tok + 1]; r++)
        put(l, trl_attr_weight(f, f->dense_row[r], cell),
            f->dense_value ? f->dense_value[r] : 1.0);
    for (uint64_t e = f->entry_begin[tok]; e < f->entry_begin[tok + 1]; e++)
        if (f->entry[e].cell == cell)
            put(l, f->entry[e].weight, f->entry_value ? f->entry_value[e] : 1.0);
}

static void list_sequence(lister *l, size_t seq)
{
    const trl_design *d = l->d;
    const size_t from = (size_t)d->first[seq], n = (size_t)d->first[seq + 1] - from;
    const uint32_t *y = l->corpus->label + from;
    for (size_t t = 0; t < n; t++) {
        size_t cell = 0, power = 1;
        for (size_t f = 0; f <= (size_t)d->order && f <= t; f++) {
            cell += power * y[t - f];
            power *= d->L;
            list_token(l, &d->family[f], from + t, cell);
        }
    }
}

static bool has_values(const trl_design *d)
{
    bool any = false;
    for (size_t f = 0; f <= (size_t)d->order; f++)
        any = any || d->family[f].dense_value || d->family[f].entry_value;
    return any;
}

static bool make_rows(trl_mest *m, const trl_design *d, const trl_corpus *corpus)
{
    lister l = {.d = d, .corpus = corpus};
    for (size_t seq = 0; seq < m->n_rows; seq++) {
        m->row_begin[seq] = l.n;
        list_sequence(&l, seq);
    }
    m->row_begin[m->n_rows] = l.n;
    m->weight = l.weight = trl_alloc(l.n, sizeof *m->weight);
    if (has_values(d)) {
        m->row_value = l.value = trl_alloc(l.n, sizeof *m->row_value);
        if (!m->row_value)
            return false;
    }
    if (!m->weight)
        return false;
    l.n = 0;
    for (size_t seq = 0; seq < m->n_rows; seq++)
        list_sequence(&l, seq);
    return true;
}

/* The same by columns; entries of a column in the order of rows. */
static bool make_columns(trl_mest *m)
{
    const uint64_t n = m->row_begin[m->n_rows];
    m->col_begin = trl_zalloc(m->n_weights + 2, sizeof *m->col_begin);
    m->row = trl_alloc((size_t)n, sizeof *m->row);
    m->col_value = m->row_value ? trl_alloc((size_t)n, sizeof *m->col_value) : NULL;
    if (!m->col_begin || !m->row || (m->row_value && !m->col_value))
        return false;
    for (uint64_t i = 0; i < n; i++)
        m->col_begin[m->weight[i] + 2]++;
    for (size_t j = 0; j < m->n_weights; j++)
        m->col_begin[j + 2] += m->col_begin[j + 1];
    for (size_t k = 0; k < m->n_rows; k++)
        for (uint64_t i = m->row_begin[k]; i < m->row_begin[k + 1]; i++) {
            const uint64_t to = m->col_begin[m->weight[i] + 1]++;
            m->row[to] = (uint32_t)k;
            if (m->row_value)
                m->col_value[to] = m->row_value[i];
        }
    return true; /* col_begin[j] .. col_begin[j + 1] is now column j */
}

/* ---- lifetime ----------------------------------------------------------------------- */

static trl_status build(trl_mest *m, const trl_design *d, const trl_corpus *corpus,
                        trl_error *err)
{
    double total = 0.0;
    m->row_begin = trl_alloc(m->n_rows + 1, sizeof *m->row_begin);
    m->share = trl_alloc(m->n_rows, sizeof *m->share);
    m->v = trl_alloc(m->n_rows, sizeof *m->v);
    if (!m->row_begin || !m->share || !m->v || !make_rows(m, d, corpus) || !make_columns(m))
        return trl_fail_mem(err);
    for (size_t i = 0; i < m->n_rows; i++)
        total += corpus->weight[i];
    if (!(total > 0.0))
        return trl_fail(err, TRL_EINVAL, "all sequences have weight 0");
    for (size_t i = 0; i < m->n_rows; i++)
        m->share[i] = corpus->weight[i] / total;
    return TRL_OK;
}

trl_status trl_mest_new(const trl_design *d, const trl_corpus *corpus, const double *E,
                        trl_pool *pool, trl_mest **out, trl_error *err)
{
    if (d->n_weights > UINT32_MAX - 64)
        return trl_fail(err, TRL_EINVAL, "more than 4,294,967,231 features");
    trl_mest *m = trl_zalloc(1, sizeof *m);
    if (!m)
        return trl_fail_mem(err);
    m->n_rows = d->n_sequences;
    m->n_weights = (size_t)d->n_weights;
    m->E = E;
    m->pool = pool;
    const trl_status st = build(m, d, corpus, err);
    if (st == TRL_OK)
        *out = m;
    else
        trl_mest_free(m);
    return st;
}

void trl_mest_free(trl_mest *m)
{
    if (!m)
        return;
    void *const blocks[] = {m->row_begin, m->weight,    m->row_value, m->col_begin,
                            m->row,       m->col_value, m->share,     m->v};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        trl_free(blocks[i]);
    trl_free(m);
}

/* ---- evaluation --------------------------------------------------------------------- */

/* The first index whose share of the work begins at or behind piece `job` of all work, where
 * begin[i] + i is the work before index i. */
static size_t piece(const uint64_t *begin, size_t n, size_t job)
{
    const uint64_t all = begin[n] + n, want = all / JOBS * job + all % JOBS * job / JOBS;
    size_t lo = 0, hi = n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (begin[mid] + mid < want)
            lo = mid + 1;
        else
            hi = mid;
    }
    return job == JOBS ? n : lo;
}

static trl_status run_rows(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    trl_mest *m = ctx;
    const size_t end = piece(m->row_begin, m->n_rows, job + 1);
    for (size_t i = piece(m->row_begin, m->n_rows, job); i < end; i++) {
        double sum = 0.0;
        for (uint64_t k = m->row_begin[i]; k < m->row_begin[i + 1]; k++)
            sum += m->w[m->weight[k]] * (m->row_value ? m->row_value[k] : 1.0);
        m->v[i] = m->share[i] > 0.0 ? m->share[i] * exp(-sum) : 0.0;
    }
    return TRL_OK;
}

static trl_status run_columns(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    trl_mest *m = ctx;
    const size_t end = piece(m->col_begin, m->n_weights, job + 1);
    for (size_t j = piece(m->col_begin, m->n_weights, job); j < end; j++) {
        double sum = 0.0;
        for (uint64_t k = m->col_begin[j]; k < m->col_begin[j + 1]; k++)
            sum += m->v[m->row[k]] * (m->col_value ? m->col_value[k] : 1.0);
        m->grad[j] = m->E[j] - sum + 2.0 * m->now_c2 * m->w[j];
    }
    return TRL_OK;
}

trl_status trl_mest_eval(trl_mest *m, const double *w, double c2, double *grad, double *F,
                         trl_error *err)
{
    m->w = w;
    m->grad = grad;
    m->now_c2 = c2;
    trl_status st = trl_pool_run(m->pool, JOBS, run_rows, m, err);
    if (st != TRL_OK)
        return st;
    double sum = 0.0, lost = 0.0; /* compensated: thousands of sequences */
    for (size_t i = 0; i < m->n_rows; i++) {
        const double y = m->v[i] - lost, t = sum + y;
        lost = t - sum - y;
        sum = t;
    }
    *F = sum + trl_dot(m->pool, m->n_weights, w, m->E);
    if (c2 > 0.0)
        *F += c2 * trl_dot(m->pool, m->n_weights, w, w);
    if (!isfinite(*F))
        return trl_fail(err, TRL_ENUMERIC, "the objective is not finite");
    st = trl_pool_run(m->pool, JOBS, run_columns, m, err);
    memset(grad + m->n_weights, 0, 64 * sizeof *grad);
    return st;
}

static trl_status eval(void *self, const double *x, double *g, double *F, trl_error *err)
{
    trl_mest *m = self;
    return trl_mest_eval(m, x, m->c2, g, F, err);
}

trl_function trl_mest_function(trl_mest *m, double c2)
{
    m->c2 = c2;
    return (trl_function){m, m->n_weights, eval};
}
