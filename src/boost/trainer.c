/* trainer.c -- the state of one classifier. */
/* SPDX-License-Identifier: MIT */
#include "boost/trainer.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "boost/loss.h"

trl_status trl_boost_values(const trl_boost_data *d, size_t column, double *v, trl_boost_worth *w,
                            trl_error *err)
{
    *w = (trl_boost_worth){0};
    trl_boost_fill(d, column, v);
    for (size_t i = 0; i < d->n; i++) {
        if (v[i] > 0.0)
            w->positive += v[i];
        else
            w->negative -= v[i];
        w->n += v[i] != 0.0;
    }
    if (!(w->positive > 0.0) || !(w->negative > 0.0)) {
        char scratch[80];
        const char *name = trl_boost_column_name(d, column, scratch, sizeof scratch);
        const trl_status st =
            trl_fail(err, TRL_EINVAL, "classifier %s: no example that counts is %s", name,
                     w->positive > 0.0 ? "negative" : "positive");
        return trl_fail_hint(
            err, st,
            "a classifier learns from examples of both kinds; those of value 0 do not count");
    }
    return TRL_OK;
}

/* Values, their sums and the unit of weights. */
static trl_status set_values(trl_trainer *t, trl_error *err)
{
    trl_boost_worth w;
    const trl_status st = trl_boost_values(t->d, t->column, t->v, &w, err);
    if (st != TRL_OK)
        return st;
    for (size_t i = 0; i < t->n; i++)
        t->odds[i] = 1.0;
    t->positive = w.positive;
    t->n_valued = w.n;
    if (!isfinite(w.positive + w.negative))
        return trl_fail(err, TRL_EINVAL, "the values of all examples add up to infinity");
    int exponent;
    (void)frexp(w.positive + w.negative, &exponent); /* the sum is below 2^exponent */
    t->scale = ldexp(1.0, 61 - exponent);
    if (!isfinite(t->scale))
        return trl_fail(err, TRL_EINVAL, "the values of all examples are too small");
    return TRL_OK;
}

static bool allocate(trl_trainer *t)
{
    const size_t n = t->n, pieces = n / TRL_LOSS_PIECE + 2;
    t->v = trl_alloc64(n, sizeof *t->v);
    t->odds = trl_alloc64(n, sizeof *t->odds);
    t->w = trl_alloc64(n, sizeof *t->w);
    t->slot = trl_alloc(n, sizeof *t->slot);
    t->work = trl_alloc(n, sizeof *t->work);
    t->found = trl_alloc(n, sizeof *t->found);
    t->piece = trl_alloc(n / TRL_WALK_PIECE + 1, sizeof *t->piece);
    t->leaf_v = trl_alloc64(n, sizeof *t->leaf_v);
    t->leaf_odds = trl_alloc64(n, sizeof *t->leaf_odds);
    t->slope = trl_alloc(pieces, 2 * sizeof *t->slope);
    t->grown = trl_alloc(1, sizeof *t->grown);
    t->grown_cap = 1;
    bool ok = trl_sums_init(&t->sums, t->d->n_features) && t->v && t->odds && t->w && t->slot &&
              t->work && t->found && t->piece && t->leaf_v && t->leaf_odds && t->slope && t->grown;
    const size_t sums = t->sums.n_blocks * TRL_SUMS_BLOCK;
    if (t->o->sample) {
        const size_t blocks = n / TRL_WEIGHT_BLOCK + 1;
        t->drawn = trl_zalloc(n, sizeof *t->drawn);
        t->block = trl_zalloc(blocks, sizeof *t->block);
        t->rest = trl_zalloc(blocks, sizeof *t->rest);
        return ok && t->drawn && t->block && t->rest;
    }
    return ok && (t->root = trl_zalloc(sums, sizeof *t->root));
}

/* As many ranges of features as threads, with about as many entries of rows in each; they begin
 * where blocks of sums do. */
static void divide_features(trl_trainer *t, size_t threads)
{
    const size_t F = t->d->n_features;
    const uint64_t all = trl_boost_active(t->d);
    uint32_t a = 0;
    t->range[0] = 0;
    t->n_ranges = 1;
    for (size_t k = 1; k < threads; k++) {
        while (a < F && t->d->column_end[a] < all / threads * k)
            a++;
        a = (a + TRL_SUMS_BLOCK / 2) / TRL_SUMS_BLOCK * TRL_SUMS_BLOCK;
        if (a > t->range[t->n_ranges - 1] && a < F)
            t->range[t->n_ranges++] = a;
    }
}

bool trl_trainer_share(trl_trainer *t, trl_pool *pool)
{
    const size_t threads = trl_pool_threads(pool), sums = t->sums.n_blocks * TRL_SUMS_BLOCK;
    if (t->root && threads > 1) {
        int64_t *side = trl_zalloc((threads - 1) * sums, sizeof *side);
        if (!side)
            return false;
        trl_free(t->side);
        t->side = side;
    }
    t->pool = pool;
    divide_features(t, threads);
    return true;
}

trl_status trl_trainer_init(trl_trainer *t, const trl_boost_data *d, size_t column,
                            const trl_boost_options *o, trl_error *err)
{
    *t = (trl_trainer){.d = d, .o = o, .column = column, .n = d->n, .n_ranges = 1};
    if (!allocate(t))
        return trl_fail_mem(err);
    return set_values(t, err);
}

void trl_trainer_fini(trl_trainer *t)
{
    trl_free(t->v);
    trl_free(t->odds);
    trl_free(t->w);
    trl_free(t->drawn);
    trl_free(t->block);
    trl_free(t->rest);
    trl_free(t->slot);
    trl_free(t->work);
    trl_free(t->found);
    trl_free(t->piece);
    trl_free(t->leaf_v);
    trl_free(t->leaf_odds);
    trl_free(t->leaf_at);
    trl_free(t->fit);
    trl_free(t->slope);
    trl_free(t->grown);
    trl_free(t->pending);
    trl_free(t->path);
    trl_free(t->root);
    trl_free(t->side);
    trl_sums_fini(&t->sums);
    trl_boost_ensemble_fini(&t->trees);
    trl_boost_terms_fini(&t->terms);
}

static trl_status run_unslot(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    trl_trainer *t = ctx;
    const size_t end = (piece + 1) * TRL_LOSS_PIECE < t->n ? (piece + 1) * TRL_LOSS_PIECE : t->n;
    for (size_t i = piece * TRL_LOSS_PIECE; i < end; i++)
        t->slot[i] = t->v[i] != 0.0 ? 0 : TRL_NO_ID;
    return TRL_OK;
}

void trl_trainer_unslot(trl_trainer *t)
{
    trl_pool_run_all(t->pool, trl_loss_pieces(t->n), run_unslot, t);
}

static void add_rows(const trl_trainer *t, int64_t *sum)
{
    for (size_t i = 0; i < t->n; i++)
        for (uint64_t k = trl_boost_begin(t->d->row_end, i); k < t->d->row_end[i]; k++)
            sum[t->d->id[k]] += t->w[i];
}

void trl_trainer_weigh(trl_trainer *t)
{
    t->total = t->weight = 0;
    if (t->block)
        memset(t->block, 0, (t->n / TRL_WEIGHT_BLOCK + 1) * sizeof *t->block);
    for (size_t i = 0; i < t->n; i++) {
        t->w[i] = trl_loss_weight(t->v[i], t->odds[i], t->scale);
        const int64_t size = t->w[i] < 0 ? -t->w[i] : t->w[i];
        t->total += t->w[i];
        t->weight += size;
        if (t->block)
            t->block[i / TRL_WEIGHT_BLOCK] += size;
    }
    if (t->root) {
        memset(t->root, 0, t->sums.n_blocks * TRL_SUMS_BLOCK * sizeof *t->root);
        add_rows(t, t->root);
    }
}

/* As an integer; what is beyond all gains (a least gain of 1e300) stays beyond them. */
static int64_t units(double x)
{
    return x < ldexp(1.0, 62) ? (int64_t)x : (int64_t)1 << 62;
}

void trl_trainer_set_lambda(trl_trainer *t, double lambda)
{
    t->lambda = lambda;
    t->lambda_units = units(lambda * t->scale);
    t->margin_units = units(lambda * t->o->min_gain * t->scale);
}

/* max over features of max(|S|, |T - S|): both are largest at an extreme of S. */
double trl_trainer_largest_gain(trl_trainer *t)
{
    trl_sums_clear(&t->sums);
    if (t->root)
        trl_sums_set(&t->sums, t->root);
    else
        for (size_t i = 0; i < t->n; i++) {
            const uint64_t begin = trl_boost_begin(t->d->row_end, i);
            trl_sums_add(&t->sums, t->d->id + begin, t->d->row_end[i] - begin, t->w[i]);
        }
    const trl_extremes e = trl_sums_extremes(&t->sums);
    const int64_t x[] = {e.low, e.high, t->total - e.low, t->total - e.high};
    int64_t most = 0;
    for (size_t k = 0; k < sizeof x / sizeof *x; k++)
        most = x[k] > most ? x[k] : -x[k] > most ? -x[k] : most;
    return (double)most / t->scale;
}

static trl_status run_loss(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const trl_trainer *t = ctx;
    const size_t at = piece * TRL_LOSS_PIECE, left = t->n - at;
    t->slope[piece] =
        trl_loss_value(left < TRL_LOSS_PIECE ? left : TRL_LOSS_PIECE, t->v + at, t->odds + at);
    return TRL_OK;
}

double trl_trainer_loss(trl_trainer *t)
{
    const size_t pieces = trl_loss_pieces(t->n);
    double sum = 0.0;
    trl_pool_run_all(t->pool, pieces, run_loss, t);
    for (size_t k = 0; k < pieces; k++)
        sum += t->slope[k];
    return sum;
}
