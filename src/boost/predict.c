/* predict.c -- values of trees for examples, and compound features in words. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "boost/model.h"
#include "boost/terms.h"

/* ---- scores ---------------------------------------------------------------------------------- */

static double walk(const trl_boost_trees *t, const uint32_t *seen, uint32_t now)
{
    double h = 0.0;
    for (size_t k = t->first; k < t->last; k++) {
        const trl_boost_node *root = t->node + trl_boost_begin(t->tree_end, k), *x = root;
        while (x->feature != TRL_NO_ID) {
            const uint32_t a = t->number ? t->number[x->feature] : x->feature;
            x = a != TRL_NO_ID && seen[a] == now ? x + 1 : root + x->off;
        }
        h += x->value;
    }
    return h;
}

#define EXAMPLES ((size_t)4096) /* of a piece of work */

typedef struct apply_job {
    const trl_boost_trees *t;
    const trl_boost_data *d;
    uint32_t *seen; /* [threads][n_features + 1] the example it was last seen in, + 1 */
    double *h;
} apply_job;

static trl_status run_apply(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)err;
    const apply_job *j = ctx;
    const trl_boost_data *d = j->d;
    uint32_t *seen = j->seen + worker * (d->n_features + 1);
    const size_t end = (piece + 1) * EXAMPLES < d->n ? (piece + 1) * EXAMPLES : d->n;
    for (size_t i = piece * EXAMPLES; i < end; i++) {
        for (uint64_t k = trl_boost_begin(d->row_end, i); k < d->row_end[i]; k++)
            seen[d->id[k]] = (uint32_t)i + 1;
        j->h[i] += walk(j->t, seen, (uint32_t)i + 1);
    }
    return TRL_OK;
}

trl_status trl_boost_apply(const trl_boost_trees *t, const trl_boost_data *d, trl_pool *pool,
                           double *h, trl_error *err)
{
    const size_t threads = pool ? trl_pool_threads(pool) : 1;
    apply_job j = {t, d, trl_zalloc(threads * (d->n_features + 1), sizeof *j.seen), h};
    if (!j.seen)
        return trl_fail_mem(err);
    trl_pool_run_all(pool, (d->n + EXAMPLES - 1) / EXAMPLES, run_apply, &j);
    trl_free(j.seen);
    return TRL_OK;
}

/* The data's number of every feature of the model. */
static trl_status match_features(const trl_boost_model *m, const trl_boost_data *d,
                                 uint32_t *number, trl_error *err)
{
    const trl_boost_data *named = d->like ? d->like : d;
    trl_strtab plain = {0};
    char scratch[24];
    for (uint32_t a = 0; !named->named && a < d->n_features; a++) {
        const trl_str s = trl_boost_feature_name(d, a, scratch);
        if (trl_strtab_add(&plain, s.p, s.n) == TRL_NO_ID) {
            trl_strtab_fini(&plain);
            return trl_fail_mem(err);
        }
    }
    const trl_strtab *names = named->named ? &named->names : &plain;
    for (uint32_t f = 0; f < m->names.n; f++) {
        const trl_str s = trl_strview_get(&m->names, f);
        number[f] = trl_strtab_find(names, s.p, s.n);
    }
    trl_strtab_fini(&plain);
    return TRL_OK;
}

trl_status trl_boost_predict(const trl_boost_model *m, size_t classifier, const trl_boost_data *d,
                             double *h, trl_error *err)
{
    if (!m || !d || !h)
        return trl_fail_null(err);
    if (classifier >= m->n)
        return trl_fail(err, TRL_EINVAL, "there are %zu classifiers", m->n);
    const trl_boost_part *p = &m->part[classifier];
    uint32_t *number = NULL;
    trl_status st = TRL_OK;
    if (d->model != m) {
        number = trl_alloc(m->names.n + 1, sizeof *number);
        st = number ? match_features(m, d, number, err) : trl_fail_mem(err);
    }
    memset(h, 0, d->n * sizeof *h);
    const trl_boost_trees t = {p->node, p->tree_end, 0, p->n_trees, number};
    if (st == TRL_OK)
        st = trl_boost_apply(&t, d, NULL, h, err);
    trl_free(number);
    return st;
}

/* ---- words ----------------------------------------------------------------------------------- */

typedef struct ranked {
    double size;
    size_t term;
} ranked;

static int by_size(const void *pa, const void *pb)
{
    const ranked *a = pa, *b = pb;
    if (a->size != b->size)
        return a->size < b->size ? 1 : -1;
    return a->term < b->term ? -1 : a->term > b->term;
}

static trl_status write_terms(const trl_boost_model *m, const trl_boost_terms *terms,
                              trl_boost_write_fn write, void *ctx, trl_error *err)
{
    ranked *order = trl_alloc(terms->n + 1, sizeof *order);
    trl_buf line = {0};
    trl_status st = order ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < terms->n; k++)
        order[k] = (ranked){fabs(terms->term[k].theta), k};
    if (st == TRL_OK)
        qsort(order, terms->n, sizeof *order, by_size);
    for (size_t k = 0; st == TRL_OK && k < terms->n && order[k].size > 0.0; k++) {
        const trl_boost_term *x = &terms->term[order[k].term];
        line.len = 0;
        trl_buf_fmt(&line, "%.6g\t%s", x->theta, x->n ? "" : "(always)");
        for (size_t q = 0; q < x->n; q++) {
            const uint32_t literal = terms->literal[x->begin + q];
            const trl_str s = trl_strview_get(&m->names, literal / 2);
            trl_buf_fmt(&line, "%s%s", q ? " & " : "", literal & 1 ? "!" : "");
            trl_buf_add(&line, s.p, s.n);
        }
        trl_buf_ch(&line, '\n');
        st = line.failed ? trl_fail_mem(err) : write(ctx, line.data, line.len, err);
    }
    trl_buf_fini(&line);
    trl_free(order);
    return st;
}

trl_status trl_boost_dump(const trl_boost_model *m, size_t classifier, trl_boost_write_fn write,
                          void *ctx, trl_error *err)
{
    if (!m || !write)
        return trl_fail_null(err);
    if (classifier >= m->n)
        return trl_fail(err, TRL_EINVAL, "there are %zu classifiers", m->n);
    trl_boost_terms terms = {0};
    trl_status st = trl_boost_part_terms(&m->part[classifier], &terms, err);
    if (st == TRL_OK)
        st = write_terms(m, &terms, write, ctx, err);
    trl_boost_terms_fini(&terms);
    return st;
}
