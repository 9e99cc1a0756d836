/* hmm_io.c -- hidden Markov models as sections of a container. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/hmm.h"
#include "model/strtab_io.h"

#define COLUMNS_MAX 100
#define LABELS_MAX 65535 /* as in chain.c */

typedef struct tags {
    char info[9], start[9], next[9];
} tags;

static bool make_tags(const char *prefix, tags *t)
{
    if (strnlen(prefix, 3) != 2)
        return false;
    snprintf(t->info, sizeof t->info, "%.2sinfo", prefix);
    snprintf(t->start, sizeof t->start, "%.2sstart", prefix);
    snprintf(t->next, sizeof t->next, "%.2snext", prefix);
    return true;
}

static void column_tags(const char *prefix, size_t c, char emit[9], char values[5])
{
    const unsigned k = (unsigned)(c % COLUMNS_MAX);
    snprintf(emit, 9, "%.2se%02u", prefix, k);
    snprintf(values, 5, "%.2s%02u", prefix, k);
}

static trl_status bad_prefix(const char *prefix, trl_error *err)
{
    return trl_fail(err, TRL_EINVAL, "'%s' is not a two-letter prefix", prefix);
}

/* ---- writing --------------------------------------------------------------------------------- */

trl_status trl_hmm_save(const trl_hmm *h, const char *prefix, trl_container_builder *b,
                        trl_error *err)
{
    tags tag;
    if (!make_tags(prefix, &tag))
        return bad_prefix(prefix, err);
    if (h->n_columns > COLUMNS_MAX || !h->names)
        return trl_fail(err, TRL_EINVAL,
                        "an HMM that is written has at most %d columns and was "
                        "trained here",
                        COLUMNS_MAX);
    uint64_t *info = trl_alloc(3 + h->n_columns, sizeof *info);
    if (!info)
        return trl_fail_mem(err);
    info[0] = (uint64_t)h->order;
    info[1] = h->L;
    info[2] = h->n_columns;
    for (size_t c = 0; c < h->n_columns; c++)
        info[3 + c] = h->column[c].column;
    trl_container_builder_give(b, tag.info, info, (3 + h->n_columns) * sizeof *info);
    trl_container_builder_add(b, tag.start, h->start, h->L * sizeof(double));
    trl_container_builder_add(b, tag.next, h->next,
                              trl_hmm_contexts(h->L, h->order) * (h->L + 1) * sizeof(double));
    trl_status st = TRL_OK;
    for (size_t c = 0; st == TRL_OK && c < h->n_columns; c++) {
        char emit[9], values[5];
        column_tags(prefix, c, emit, values);
        trl_container_builder_add(b, emit, h->column[c].p, h->column[c].n * h->L * sizeof(double));
        st = trl_strtab_save(&h->names[c], values, b, err);
    }
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

bool trl_hmm_in_container(const trl_container *c, const char *prefix)
{
    tags tag;
    const void *bytes;
    size_t size;
    return make_tags(prefix, &tag) && trl_container_find(c, tag.info, &bytes, &size);
}

/* `rows` lists of `n` probabilities: each sums to 1, or all are 0 where that is allowed. */
static bool are_distributions(const double *p, size_t rows, size_t n, size_t step, size_t stride,
                              bool may_be_empty)
{
    for (size_t r = 0; r < rows; r++) {
        double sum = 0.0;
        for (size_t k = 0; k < n; k++) {
            const double x = p[r * step + k * stride];
            if (!(x >= 0.0 && x <= 1.0))
                return false;
            sum += x;
        }
        if (!(fabs(sum - 1.0) < 1e-6) && !(may_be_empty && sum == 0.0))
            return false;
    }
    return true;
}

bool trl_hmm_is_proper(const trl_hmm *h)
{
    const size_t contexts = trl_hmm_contexts(h->L, h->order);
    bool good = are_distributions(h->start, 1, h->L, 0, 1, false) &&
                are_distributions(h->next, contexts, h->L + 1, h->L + 1, 1, true);
    for (size_t c = 0; good && c < h->n_columns; c++)
        good = are_distributions(h->column[c].p, h->L, h->column[c].n, 1, h->L, false);
    return good;
}

/* double[want] under `tag`. */
static trl_status load_array(const trl_container *c, const char *tag, size_t want,
                             const double **out, trl_error *err)
{
    const void *p;
    size_t n;
    const trl_status st = trl_container_array(c, tag, sizeof(double), &p, &n, err);
    if (st != TRL_OK)
        return st;
    if (n != want)
        return trl_container_damaged(c, err, "the tables of its HMM have a wrong size");
    *out = p;
    return TRL_OK;
}

static trl_status load_column(trl_hmm *h, const trl_container *c, const char *prefix, size_t k,
                              trl_error *err)
{
    char emit[9], values[5];
    trl_hmm_column *col = &h->column[k];
    column_tags(prefix, k, emit, values);
    trl_status st = trl_strview_load(c, values, &col->values, err);
    col->n = col->values.n;
    if (st == TRL_OK && col->n == 0)
        st = trl_container_damaged(c, err, "a column of its HMM has no values");
    if (st == TRL_OK)
        st = load_array(c, emit, col->n * h->L, &col->p, err);
    if (st != TRL_OK)
        return st;
    col->log_p = trl_alloc(col->n, h->L * sizeof *col->log_p);
    if (!col->log_p)
        return trl_fail_mem(err);
    for (size_t i = 0; i < col->n * h->L; i++)
        col->log_p[i] = log(col->p[i]);
    return TRL_OK;
}

static trl_status load_info(trl_hmm *h, const trl_container *c, const char *tag, trl_error *err)
{
    const void *p;
    size_t n;
    const trl_status st = trl_container_array(c, tag, sizeof(uint64_t), &p, &n, err);
    if (st != TRL_OK)
        return st;
    const uint64_t *info = p;
    if (n < 3 || (info[0] != 1 && info[0] != 2) || info[1] < 1 || info[1] > LABELS_MAX ||
        info[2] > COLUMNS_MAX || n != 3 + info[2])
        return trl_container_damaged(c, err, "impossible sizes of its HMM");
    h->order = (int)info[0];
    h->L = (size_t)info[1];
    h->column = trl_zalloc((size_t)info[2], sizeof *h->column);
    if (!h->column)
        return trl_fail_mem(err);
    h->n_columns = (size_t)info[2];
    for (size_t k = 0; k < h->n_columns; k++)
        h->column[k].column = (size_t)info[3 + k];
    return TRL_OK;
}

static trl_status load(trl_hmm *h, const trl_container *c, const char *prefix, const tags *tag,
                       trl_error *err)
{
    trl_status st = load_info(h, c, tag->info, err);
    const size_t contexts = trl_hmm_contexts(h->L, h->order);
    if (st == TRL_OK)
        st = load_array(c, tag->start, h->L, &h->start, err);
    if (st == TRL_OK)
        st = load_array(c, tag->next, contexts * (h->L + 1), &h->next, err);
    for (size_t k = 0; st == TRL_OK && k < h->n_columns; k++)
        st = load_column(h, c, prefix, k, err);
    if (st == TRL_OK && !trl_hmm_is_proper(h))
        st = trl_container_damaged(c, err, "a table of its HMM is not a distribution");
    return st;
}

trl_status trl_hmm_load(trl_hmm *h, const trl_container *c, const char *prefix, trl_error *err)
{
    tags tag;
    *h = (trl_hmm){0};
    if (!make_tags(prefix, &tag))
        return bad_prefix(prefix, err);
    const trl_status st = load(h, c, prefix, &tag, err);
    if (st != TRL_OK)
        trl_hmm_fini(h);
    return st;
}
