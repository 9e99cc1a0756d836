/* tree_dev_score.c -- F1 of the current weights on held-out trees. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_tree/tree_training.h"

trl_status trl_tree_training_dev(trl_tree_training *j, trl_error *err)
{
    const size_t threads = trl_pool_threads(j->pool);
    trl_parseval_options o = trl_parseval_options_default();
    o.gold_tags = true;
    o.max_errors = INT32_MAX;
    j->decoder = trl_zalloc(threads, sizeof *j->decoder);
    j->parsed = trl_zalloc(j->dev.n, sizeof *j->parsed);
    j->binary_exp = trl_alloc64(j->model.fine.n_binary, sizeof *j->binary_exp);
    j->unary = trl_alloc64(j->model.fine.n_unary, sizeof *j->unary);
    if (!j->decoder || !j->parsed || !j->binary_exp || !j->unary)
        return trl_fail_mem(err);
    return trl_parseval_new(&o, &j->score, err);
}

void trl_tree_training_dev_fini(trl_tree_training *j)
{
    for (size_t k = 0; j->decoder && k < trl_pool_threads(j->pool); k++)
        trl_decoder_fini(&j->decoder[k]);
    for (size_t k = 0; j->parsed && k < j->dev.n; k++)
        trl_buf_fini(&j->parsed[k]);
    trl_free(j->decoder);
    trl_free(j->parsed);
    trl_buf_fini(&j->gold);
    trl_parseval_free(j->score);
    trl_free(j->binary_exp);
    trl_free(j->unary);
}

static trl_status parse_one(void *ctx, size_t job, size_t worker, trl_error *err)
{
    trl_tree_training *j = ctx;
    trl_decoder *d = &j->decoder[worker];
    const trl_tree *t = &j->dev.tree[job];
    trl_decode_options o = {.binary_exp = j->binary_exp,
                            .unary = j->unary,
                            .mix = TRL_MIX,
                            .latent = TRL_LATENT_SHARE,
                            .threshold = j->model.threshold};
    trl_status st;
    do {
        st = trl_decode_prepare(d, &j->model, t->word, t->n_words, &o, err);
        if (st == TRL_OK)
            st = trl_decode_mbr(d, &j->model, TRL_LAMBDA, err);
        st = trl_decode_settle(d, st);
    } while (st == TRL_OK && d->result.n == 0 && trl_decode_relax(d, t->n_words, &o));
    if (st == TRL_OK && d->result.n == 0)
        st = trl_decode_fallback(d, &j->model, &(trl_words){t->word, t->n_words}, 0.0, true, err);
    if (st != TRL_OK)
        return st;
    const trl_tree parsed = {.n_nodes = d->result.n,
                             .n_words = t->n_words,
                             .node = d->result.node,
                             .word = t->word,
                             .labels = &j->model.fine.labels};
    j->parsed[job].len = 0;
    return trl_tree_write(&parsed, &j->model.fine.labels, &j->parsed[job]) ? TRL_OK
                                                                           : trl_fail_mem(err);
}

trl_status trl_tree_training_score(void *job, const double *x, double *score, trl_error *err)
{
    trl_tree_training *j = job;
    j->model.features.w = x;
    if (j->model.grade != TRL_GRADE_GENERATIVE)
        trl_tree_model_shared(&j->model, j->binary_exp, j->unary);
    trl_status st = trl_pool_run(j->pool, j->dev.n, parse_one, j, err);
    trl_parseval_reset(j->score);
    for (size_t k = 0; st == TRL_OK && k < j->dev.n; k++) {
        j->gold.len = 0;
        if (!trl_tree_write(&j->dev.tree[k], &j->dev.labels, &j->gold))
            return trl_fail_mem(err);
        st = trl_parseval_add(j->score, j->gold.data, j->gold.len, j->parsed[k].data,
                              j->parsed[k].len, err);
    }
    if (st == TRL_OK)
        *score = trl_parseval_get(j->score, UINT64_MAX).f1;
    return st;
}
