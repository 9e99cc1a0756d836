/* tag_batch.c -- batches of sequences: a tagger for every thread, answers at fixed places. */
/* SPDX-License-Identifier: MIT */
#include "trellis/batch.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/pool.h"
#include "chain/tagger_parts.h"

#define TOGETHER 16 /* sequences of a job */

typedef struct batch {
    trl_tag_batch b;
    const trl_rows *rows; /* one of the three */
    const trl_items *items;
    const trl_numbered_items *numbered;
    size_t n, n_labels;
    size_t *first;       /* [n + 1] tokens */
    trl_tagger **tagger; /* [threads] */
    size_t threads;
} batch;

void trl_tag_batch_init(trl_tag_batch *b, size_t size)
{
    const trl_tag_batch usual = {.nbest = 1};
    if (!b || size < sizeof b->size)
        return;
    memset(b, 0, size);
    memcpy(b, &usual, size < sizeof usual ? size : sizeof usual);
    b->size = size;
}

static trl_status check(const trl_model *m, const trl_tag_batch *b, batch *out, trl_error *err)
{
    if (b->size <= offsetof(trl_tag_batch, threads) || b->size > sizeof *b)
        return trl_fail(err, TRL_EINVAL,
                        b->size > sizeof *b
                            ? "the batch is of a newer version"
                            : "the batch has no size: begin with trl_tag_batch_default()");
    trl_tag_batch_init(&out->b, sizeof out->b);
    memcpy(&out->b, b, b->size);
    if (out->b.nbest == 0)
        return trl_fail(err, TRL_EINVAL, "nbest is 0: one labelling is the least");
    if (out->b.nbest > 1 && out->b.posterior)
        return trl_fail(err, TRL_EINVAL, "labels of largest marginal are one labelling, not %zu",
                        out->b.nbest);
    out->n_labels = trl_model_get_info(m).n_labels;
    return TRL_OK;
}

static size_t length(const batch *x, size_t k)
{
    return x->rows    ? x->rows[k].n_tokens
           : x->items ? x->items[k].n_tokens
                      : x->numbered->first[k + 1] - x->numbered->first[k];
}

/* Where the answers of each sequence begin, and whether that can be counted at all. */
static trl_status lay_out(batch *x, trl_error *err)
{
    x->first = trl_alloc(x->n + 1, sizeof *x->first);
    if (!x->first)
        return trl_fail_mem(err);
    x->first[0] = 0;
    for (size_t k = 0; k < x->n; k++)
        if (__builtin_add_overflow(x->first[k], length(x, k), &x->first[k + 1]))
            return trl_fail(err, TRL_EINVAL, "sequence %zu: its length is out of range", k + 1);
    return TRL_OK;
}

/* ---- one sequence ---------------------------------------------------------------------------- */

static trl_status load(const batch *x, trl_tagger *t, size_t k, trl_error *err)
{
    return x->rows    ? trl_tagger_set_rows(t, &x->rows[k], err)
           : x->items ? trl_tagger_set_items(t, &x->items[k], err)
                      : trl_tagger_set_numbered(t, x->numbered, k, err);
}

static trl_status find_nbest(const batch *x, trl_tagger *t, size_t k, size_t *found, trl_error *err)
{
    const size_t N = x->b.nbest, length = x->first[k + 1] - x->first[k];
    uint32_t *labels =
        x->b.labels ? x->b.labels + N * x->first[k] : trl_alloc(N * length, sizeof *labels);
    double *scores = x->b.scores ? x->b.scores + N * k : trl_alloc(N, sizeof *scores);
    trl_status st =
        labels && scores ? trl_tagger_nbest(t, N, labels, scores, found, err) : trl_fail_mem(err);
    for (size_t r = *found; st == TRL_OK && r < N; r++) {
        scores[r] = -INFINITY;
        memset(labels + r * length, 0xff, length * sizeof *labels); /* UINT32_MAX */
    }
    if (!x->b.labels)
        trl_free(labels);
    if (!x->b.scores)
        trl_free(scores);
    return st;
}

static trl_status find_one(const batch *x, trl_tagger *t, size_t k, trl_error *err)
{
    uint32_t *labels = x->b.labels ? x->b.labels + x->first[k]
                                   : trl_alloc(x->first[k + 1] - x->first[k], sizeof *labels);
    double score = 0.0;
    trl_status st = !labels           ? trl_fail_mem(err)
                    : !x->b.posterior ? trl_tagger_viterbi(t, labels, &score, err)
                                      : trl_tagger_posterior(t, labels, err);
    if (st == TRL_OK && x->b.posterior && x->b.scores)
        st = trl_tagger_score(t, labels, &score, err);
    if (st == TRL_OK && x->b.scores)
        x->b.scores[k] = score;
    if (!x->b.labels)
        trl_free(labels);
    return st;
}

static trl_status answer(const batch *x, trl_tagger *t, size_t k, trl_error *err)
{
    const bool several = x->b.nbest > 1;
    size_t found = several ? 0 : 1;
    trl_status st = load(x, t, k, err);
    if (st == TRL_OK && several && (x->b.labels || x->b.scores || x->b.found))
        st = find_nbest(x, t, k, &found, err);
    else if (st == TRL_OK && (x->b.labels || x->b.scores))
        st = find_one(x, t, k, err);
    if (st == TRL_OK && x->b.found)
        x->b.found[k] = found;
    if (st == TRL_OK && x->b.log_z)
        st = trl_tagger_log_z(t, &x->b.log_z[k], err);
    if (st == TRL_OK && x->b.marginals)
        st = trl_tagger_marginals(t, x->b.marginals + x->first[k] * x->n_labels, err);
    return st;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static trl_status tag_some(void *ctx, size_t job, size_t worker, trl_error *err)
{
    const batch *x = ctx;
    const size_t to = x->n - job * TOGETHER < TOGETHER ? x->n : (job + 1) * TOGETHER;
    for (size_t k = job * TOGETHER; k < to; k++) {
        const trl_status st = answer(x, x->tagger[worker], k, err);
        if (st != TRL_OK)
            return trl_fail_number(err, st, "sequence", k);
    }
    return TRL_OK;
}

static trl_status make_taggers(batch *x, const trl_model *m, size_t threads, trl_error *err)
{
    x->tagger = trl_zalloc(threads, sizeof(trl_tagger *));
    trl_status st = x->tagger ? TRL_OK : trl_fail_mem(err);
    x->threads = threads;
    for (size_t k = 0; st == TRL_OK && k < threads; k++) {
        st = trl_tagger_new(m, &x->tagger[k], err);
        if (st == TRL_OK)
            st = trl_tagger_set_decoding(x->tagger[k], x->b.decoding, err);
    }
    return st;
}

static void finish(batch *x)
{
    uint64_t attributes = 0, unknown = 0;
    for (size_t k = 0; x->tagger && k < x->threads; k++) {
        attributes += trl_tagger_attributes(x->tagger[k]);
        unknown += trl_tagger_unknown(x->tagger[k]);
        trl_tagger_free(x->tagger[k]);
    }
    if (x->b.attributes)
        *x->b.attributes = attributes;
    if (x->b.unknown)
        *x->b.unknown = unknown;
    trl_free(x->tagger);
    trl_free(x->first);
}

static trl_status run(batch *x, const trl_model *m, const trl_tag_batch *b, trl_error *err)
{
    trl_status st = check(m, b, x, err);
    if (st != TRL_OK)
        return st;
    const size_t jobs = (x->n + TOGETHER - 1) / TOGETHER;
    const size_t want = trl_pool_count(x->b.threads);
    trl_pool *pool = trl_pool_new(jobs < want ? (jobs ? jobs : 1) : want);
    st = pool ? lay_out(x, err) : trl_fail_mem(err);
    if (st == TRL_OK)
        st = make_taggers(x, m, trl_pool_threads(pool), err);
    if (st == TRL_OK)
        st = trl_pool_run(pool, jobs, tag_some, x, err);
    trl_pool_free(pool);
    finish(x);
    return st;
}

trl_status trl_tag_rows(const trl_model *m, const trl_rows *seq, size_t n, const trl_tag_batch *b,
                        trl_error *err)
{
    if (!m || (n && !seq) || !b)
        return trl_fail_null(err);
    batch x = {.rows = seq, .n = n};
    return run(&x, m, b, err);
}

trl_status trl_tag_items(const trl_model *m, const trl_items *seq, size_t n, const trl_tag_batch *b,
                         trl_error *err)
{
    if (!m || (n && !seq) || !b)
        return trl_fail_null(err);
    batch x = {.items = seq, .n = n};
    return run(&x, m, b, err);
}

/* Lengths come from `first`, which must not fall. */
trl_status trl_tag_numbered(const trl_model *m, const trl_numbered_items *seq,
                            const trl_tag_batch *b, trl_error *err)
{
    if (!m || !seq || !b || (seq->n_sequences && (!seq->first || !seq->begin)))
        return trl_fail_null(err);
    for (size_t k = 0; k < seq->n_sequences; k++)
        if (seq->first[k] > seq->first[k + 1])
            return trl_fail(err, TRL_EINVAL, "sequence %zu: it ends before it begins", k + 1);
    batch x = {.numbered = seq, .n = seq->n_sequences};
    return run(&x, m, b, err);
}
