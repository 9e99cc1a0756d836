/* rerank_fit.c -- the likelihood of the best candidates. */
/* SPDX-License-Identifier: MIT */
#include "train_tree/rerank_fit.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/lbfgs.h"

/* ---- one list -------------------------------------------------------------------------------- */

static uint32_t errors(const trl_rerank_choice *c, size_t k)
{
    return c->gold + c->test[k] - 2 * c->match[k];
}

static uint32_t fewest_errors(const trl_rerank_choice *c)
{
    uint32_t least = errors(c, 0);
    for (size_t k = 1; k < c->n; k++)
        least = errors(c, k) < least ? errors(c, k) : least;
    return least;
}

double trl_rerank_loss(const trl_rerank_choice *c, const double *p)
{
    const uint32_t least = fewest_errors(c);
    double right = 0.0;
    for (size_t k = 0; k < c->n; k++)
        right += errors(c, k) == least ? p[k] : 0.0;
    return right < 1.0 ? -log(right) : 0.0;
}

size_t trl_rerank_choose(const trl_rerank_choice *c, const double *p, double share)
{
    size_t best = 0;
    double most = -(double)INFINITY;
    for (size_t k = 0; k < c->n; k++) {
        double listed = -TRL_LAMBDA * c->test[k];
        for (size_t l = 0; l < c->n; l++)
            listed += p[l] * c->common[k * c->n + l];
        const double gain = share * listed + (1.0 - share) * c->said[k * TRL_SAID + TRL_SAID_GAIN];
        if (gain > most) {
            most = gain;
            best = k;
        }
    }
    return best;
}

/* log scores of candidates to probabilities; scores of no size make p NaN, which the loss shows. */
static void score_list(const trl_rerank_choice *c, const double *w, double *p)
{
    for (size_t k = 0; k < c->n; k++) {
        p[k] = 0.0;
        for (size_t s = 0; s < TRL_SAID; s++)
            p[k] += TRL_RERANK_SAID_SCALE * w[s] * c->said[k * TRL_SAID + s];
        for (uint32_t i = c->first[k]; i < c->first[k + 1]; i++)
            p[k] += w[TRL_SAID + c->id[i]] * c->times[i];
    }
    if (!trl_rerank_softmax(p, c->n))
        for (size_t k = 0; k < c->n; k++)
            p[k] = (double)NAN;
}

const double *trl_rerank_fit_p(trl_rerank_fit *f, const trl_rerank_choice *c, const double *w)
{
    score_list(c, w, f->score[0]);
    return f->score[0];
}

/* ---- the objective --------------------------------------------------------------------------- */

static void put(trl_sparse *out, uint32_t id, double value)
{
    out->id[out->n] = id;
    out->value[out->n++] = value;
}

/* d loss / d score of candidate k is p(k) - [k is right] p(k) / (sum of p over right ones). */
static bool add_gradient(const trl_rerank_choice *c, const double *p, trl_sparse *out)
{
    const uint32_t least = fewest_errors(c);
    double right = 0.0;
    for (size_t k = 0; k < c->n; k++)
        right += errors(c, k) == least ? p[k] : 0.0;
    if (!trl_sparse_room(out, c->n * TRL_SAID + c->first[c->n]))
        return false;
    for (size_t k = 0; k < c->n; k++) {
        const double a = p[k] - (errors(c, k) == least && right > 0.0 ? p[k] / right : 0.0);
        if (a == 0.0)
            continue;
        for (uint32_t s = 0; s < TRL_SAID; s++)
            put(out, s, a * TRL_RERANK_SAID_SCALE * c->said[k * TRL_SAID + s]);
        for (uint32_t i = c->first[k]; i < c->first[k + 1]; i++)
            put(out, TRL_SAID + c->id[i], a * c->times[i]);
    }
    return true;
}

static trl_status prepare(void *self, const double *w, trl_error *err)
{
    trl_rerank_fit *f = self;
    (void)err;
    f->w = w;
    return TRL_OK;
}

static trl_status evaluate(void *self, size_t example, size_t worker, double *loss, trl_sparse *out,
                           trl_error *err)
{
    const trl_rerank_fit *f = self;
    const trl_rerank_choice *c = &f->l->choice[example];
    double *p = f->score[worker];
    *loss = 0.0;
    if (c->fold == f->left_out)
        return TRL_OK;
    score_list(c, f->w, p);
    *loss = trl_rerank_loss(c, p);
    return !out || add_gradient(c, p, out) ? TRL_OK : trl_fail_mem(err);
}

/* ---- fitting --------------------------------------------------------------------------------- */

trl_status trl_rerank_fit_init(trl_rerank_fit *f, const trl_rerank_lists *l, size_t threads,
                               trl_error *err)
{
    size_t longest = 1;
    *f = (trl_rerank_fit){.l = l,
                          .n_weights = TRL_SAID + l->keys.n,
                          .left_out = TRL_NO_ID,
                          .score = trl_zalloc(threads, sizeof *f->score),
                          .threads = threads};
    for (size_t k = 0; k < l->n; k++)
        longest = l->choice[k].n > longest ? l->choice[k].n : longest;
    bool ok = f->score != NULL;
    for (size_t k = 0; ok && k < threads; k++)
        ok = (f->score[k] = trl_alloc(longest, sizeof **f->score)) != NULL;
    if (!ok) {
        trl_rerank_fit_fini(f);
        return trl_fail_mem(err);
    }
    f->task = (trl_sparse_task){.self = f,
                                .n_examples = l->n,
                                .n_weights = f->n_weights,
                                .prepare = prepare,
                                .evaluate = evaluate};
    return TRL_OK;
}

void trl_rerank_fit_fini(trl_rerank_fit *f)
{
    for (size_t k = 0; f->score && k < f->threads; k++)
        trl_free(f->score[k]);
    trl_free(f->score);
    *f = (trl_rerank_fit){0};
}

trl_status trl_rerank_fit_run(trl_rerank_fit *f, double c2, trl_pool *pool, double *w,
                              trl_error *err)
{
    static const trl_lbfgs_options how = {
        .memory = 6, .max_iter = 40, .epsilon = 1e-4, .period = 5, .delta = 1e-3};
    trl_sparse_batch *batch;
    trl_function function;
    trl_ending ending;
    trl_status st = trl_sparse_batch_new(&f->task, c2, pool, &batch, &function, err);
    if (st != TRL_OK)
        return st;
    st = trl_lbfgs(&function, &how, &(trl_descent){.pool = pool, .x = w, .ending = &ending}, err);
    trl_sparse_batch_free(batch);
    return st;
}
