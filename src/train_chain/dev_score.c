/* dev_score.c -- decoding and scoring a held-out corpus. */
/* SPDX-License-Identifier: MIT */
#include "train_chain/dev_score.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/calibrate.h"
#include "chain/local.h"
#include "train/gradient.h"
#include "trellis/score.h"

#define JOB 64 /* sequences a job */

bool trl_is_chunk_tag(trl_str s)
{
    return (s.n == 1 && s.p[0] == 'O') ||
           (s.n > 2 && s.p[1] == '-' && memchr("BIESLMU", s.p[0], 7) != NULL);
}

/* NUL-terminated copies of both corpora's labels, for the scorer. */
static bool copy_names(trl_dev *d)
{
    const trl_strtab *tabs[2] = {&d->train->labels, &d->corpus.labels};
    size_t n = 0, bytes = 0;
    for (size_t k = 0; k < 2; k++) {
        n += tabs[k]->n;
        bytes += tabs[k]->pool_len + tabs[k]->n;
    }
    d->names = trl_alloc(n, sizeof *d->names);
    d->name_bytes = trl_alloc(bytes, 1);
    if (!d->names || !d->name_bytes)
        return false;
    d->chunks = true;
    bool any = false;
    char *to = d->name_bytes;
    size_t at = 0;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < tabs[k]->n; i++, at++) {
            const trl_str s = trl_strtab_get(tabs[k], (uint32_t)i);
            d->chunks = d->chunks && trl_is_chunk_tag(s);
            any = any || s.n > 2;
            memcpy(to, s.p, s.n);
            to[s.n] = '\0';
            d->names[at] = to;
            to += s.n + 1;
        }
    d->chunks = d->chunks && any;
    return true;
}

/* A shared table for q0 where the weights have none. */
static trl_status need_q0_shared(trl_dev *d, trl_error *err)
{
    const size_t f = trl_hmm_shared_family(d->q0), L = d->train->labels.n;
    if (d->shared.shared[f])
        return TRL_OK;
    d->q0_shared = trl_zalloc(f == TRL_TRI ? L * L * L : L * L, sizeof *d->q0_shared);
    return d->q0_shared ? TRL_OK : trl_fail_mem(err);
}

trl_status trl_dev_init(trl_dev *d, const trl_corpus *train, const trl_design *design,
                        trl_pool *pool, trl_error *err)
{
    d->train = train;
    d->pool = pool;
    trl_status st = trl_design_project(design, train, &d->corpus, &d->design, err);
    if (st == TRL_OK)
        st = trl_chain_init(&d->chain, train->labels.n, design->order, err);
    if (st == TRL_OK)
        st = trl_rows_chain_init(&d->rows, train->labels.n, design->order, err);
    if (st == TRL_OK)
        st = trl_shared_new(&d->design, &d->shared, err);
    if (st == TRL_OK && d->q0)
        st = need_q0_shared(d, err);
    if (st != TRL_OK)
        return st;
    d->predicted = trl_alloc(d->corpus.n_tokens, sizeof *d->predicted);
    d->arenas = trl_zalloc(trl_pool_threads(pool), sizeof *d->arenas);
    if (!d->predicted || !d->arenas || !copy_names(d))
        return trl_fail_mem(err);
    return TRL_OK;
}

void trl_dev_fini(trl_dev *d)
{
    for (size_t k = 0; d->arenas && k < trl_pool_threads(d->pool); k++)
        trl_arena_fini(&d->arenas[k]);
    trl_free(d->arenas);
    trl_score_free(d->last);
    trl_free(d->predicted);
    trl_free(d->names);
    trl_free(d->name_bytes);
    trl_shared_free(&d->shared);
    trl_chain_fini(&d->chain);
    trl_chain_fini(&d->rows);
    trl_free(d->value);
    trl_free(d->q0_shared);
    trl_projection_fini(&d->design);
    trl_corpus_fini(&d->corpus);
    *d = (trl_dev){0};
}

/* The scores of the tokens from .. from + n - 1, q0's included. */
static trl_status get_scores(const trl_dev *d, size_t from, size_t n, trl_arena *arena,
                             trl_tables *s, trl_error *err)
{
    if (!trl_tables_get(&d->design, n, arena, s) || (d->q0 && !trl_hmm_need_rows(d->q0, arena, s)))
        return trl_fail_mem(err);
    for (size_t k = 0; k < TRL_FAMILIES; k++)
        s->shared[k] = d->shared.shared[k];
    trl_gather(&d->design, d->w, from, s);
    if (d->q0) {
        const size_t f = trl_hmm_shared_family(d->q0);
        s->shared[f] = d->q0_shared ? d->q0_shared : s->shared[f];
        trl_hmm_add_rows(d->q0, TRL_HMM_FLOOR, d->value ? d->value + from * d->q0->n_columns : NULL,
                         s);
    }
    return TRL_OK;
}

static trl_status decode_one(const trl_dev *d, const trl_tables *s, trl_arena *arena, uint32_t *y,
                             trl_error *err)
{
    trl_tables own;
    double score;
    trl_status st = TRL_OK;
    if (d->is_local)
        st = trl_local_tables(&d->chain, s, arena, &own, err);
    else if (d->calibration)
        st = trl_calibrate_tables(&d->chain, s, d->calibration, arena, &own, err);
    if (st != TRL_OK)
        return st;
    const bool made = d->is_local || d->calibration;
    return trl_chain_viterbi(made ? &d->rows : &d->chain, made ? &own : s, arena, y, &score, err);
}

static trl_status decode(void *ctx, size_t job, size_t worker, trl_error *err)
{
    trl_dev *d = ctx;
    const size_t end =
        (job + 1) * JOB < d->corpus.n_sequences ? (job + 1) * JOB : d->corpus.n_sequences;
    for (size_t seq = job * JOB; seq < end; seq++) {
        const size_t from = (size_t)d->corpus.first[seq];
        const size_t n = (size_t)d->corpus.first[seq + 1] - from;
        trl_tables s;
        trl_arena_reset(&d->arenas[worker]);
        trl_status st = get_scores(d, from, n, &d->arenas[worker], &s, err);
        if (st == TRL_OK)
            st = decode_one(d, &s, &d->arenas[worker], d->predicted + from, err);
        if (st != TRL_OK)
            return st;
    }
    return TRL_OK;
}

/* `predicted` false: scores the true labels instead of the predicted ones.  The caller frees *out.
 */
static trl_status count(trl_dev *d, bool predicted, trl_score **out, trl_error *err)
{
    const trl_score_options o = trl_score_options_default();
    trl_score *s = NULL;
    trl_status st = trl_score_new(&o, &s, err);
    const size_t n_train = d->train->labels.n;
    for (size_t seq = 0; st == TRL_OK && seq < d->corpus.n_sequences; seq++) {
        const size_t from = (size_t)d->corpus.first[seq];
        const size_t n = (size_t)d->corpus.first[seq + 1] - from;
        trl_arena_reset(&d->arenas[0]);
        const char **gold = trl_arena_get(&d->arenas[0], n, 2 * sizeof *gold);
        if (!gold) {
            st = trl_fail_mem(err);
            break;
        }
        for (size_t t = 0; t < n; t++) {
            gold[t] = d->names[n_train + d->corpus.label[from + t]];
            gold[n + t] = predicted ? d->names[d->predicted[from + t]] : gold[t];
        }
        st = trl_score_add(s, n, gold, gold + n, err);
    }
    if (st == TRL_OK)
        *out = s;
    else
        trl_score_free(s);
    return st;
}

trl_status trl_dev_broken_iobes(trl_dev *d, bool *broken, trl_error *err)
{
    trl_score *s = NULL;
    const trl_status st = d->chunks ? count(d, false, &s, err) : TRL_OK;
    *broken = s && trl_score_get(s).broken_iobes;
    trl_score_free(s);
    return st;
}

trl_status trl_dev_score(void *dev, const double *w, double *score, trl_error *err)
{
    trl_dev *d = dev;
    d->w = w;
    trl_gather_shared(&d->design, w, d->shared.shared);
    trl_tables shape = d->shared;
    double any = 0.0; /* a non-NULL row says "has rows" */
    for (size_t k = 0; k < TRL_FAMILIES; k++)
        shape.row[k] =
            d->design.family[k].has_rows || (d->q0 && trl_hmm_has_rows(d->q0, k)) ? &any : NULL;
    if (d->q0) {
        const size_t f = trl_hmm_shared_family(d->q0), L = d->train->labels.n;
        if (d->q0_shared) {
            memset(d->q0_shared, 0, (f == TRL_TRI ? L : 1) * L * L * sizeof(double));
            shape.shared[f] = d->q0_shared;
        }
        trl_hmm_add_shared(d->q0, TRL_HMM_FLOOR, shape.shared);
    }
    trl_status st = trl_chain_prepare(&d->chain, &shape, err);
    if (st == TRL_OK)
        st = trl_pool_run(d->pool, (d->corpus.n_sequences + JOB - 1) / JOB, decode, d, err);
    trl_score *s = NULL;
    if (st == TRL_OK)
        st = count(d, true, &s, err);
    if (st != TRL_OK)
        return st;
    trl_score_free(d->last);
    d->last = s;
    const trl_score_totals t = trl_score_get(s);
    *score = d->chunks ? t.f1 : t.accuracy;
    return TRL_OK;
}
