/* chain_mest.c -- runs without inference in the loop: hidden Markov models, M-estimation. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/format.h"
#include "base/mem.h"
#include "train_chain/chain_training.h"
#include "mest/mest_dual.h"

/* Without a penalty the objective starts at 1 and has no minimum whenever some direction leaves all
 * gold features alone but not their expectations, which is usual with more features than sequences.
 * Below this it is assumed to go to -inf. */
#define BOTTOMLESS (-1e4)

/* ---- hmm ------------------------------------------------------------------------------------- */

/* - log q(x, y) of all sequences, by their weights. */
static trl_status hmm_value(const trl_chain_training *j, double *value, trl_error *err)
{
    const size_t width = j->q0.n_columns;
    uint32_t *v = NULL;
    const trl_status st = trl_hmm_number(&j->q0, &j->columns, &v, err);
    double sum = 0.0;
    for (size_t k = 0; st == TRL_OK && k < j->corpus.n_sequences; k++) {
        const size_t from = (size_t)j->corpus.first[k];
        if (j->corpus.weight[k] > 0.0)
            sum +=
                j->corpus.weight[k] * trl_hmm_log_p(&j->q0, (size_t)j->corpus.first[k + 1] - from,
                                                    j->corpus.label + from, v + from * width);
    }
    trl_free(v);
    *value = -sum;
    return st;
}

trl_status trl_chain_training_run_hmm(trl_chain_training *j, trl_train_result *result,
                                      trl_error *err)
{
    trl_status st = hmm_value(j, &result->objective, err);
    if (st == TRL_OK && trl_has_dev(j->o))
        st = trl_dev_score(&j->dev, j->w, &result->dev_score, err);
    snprintf(result->ending, sizeof result->ending, "counted");
    return st;
}

/* ---- expectations ---------------------------------------------------------------------------- */

static trl_status compute(trl_chain_training *j, const trl_expect_data *x,
                          const trl_sample_options *sample, bool *stop, trl_error *err)
{
    char note[160];
    size_t sampled = 0;
    const double started = trl_clock();
    const trl_status st =
        trl_q0_expect(&(trl_q0_model){j->q0_base, &j->q0}, x, sample, j->E, &sampled, err);
    if (st != TRL_OK)
        return st;
    size_t n = (size_t)trl_snprintf(note, sizeof note, "expectations under q0 = %s: %.2f s",
                                    trl_q0_name(j->q0_base), trl_clock() - started);
    if (sampled && n < sizeof note)
        snprintf(note + n, sizeof note - n, "; %zu line%s of the template by %llu samples", sampled,
                 sampled == 1 ? "" : "s", (unsigned long long)sample->n);
    *stop = trl_chain_training_report(j, "q0", note);
    return TRL_OK;
}

/* From the cache if it fits; else computed, and the cache written. */
static trl_status expect(trl_chain_training *j, bool *stop, trl_error *err)
{
    const char *cache = j->o->q0_cache;
    const trl_expect_data x = {j->tpl, &j->corpus, &j->design, &j->columns, &j->cancel};
    trl_sample_options sample = trl_sample_options_default();
    sample.seed = j->o->seed;
    if (j->o->q0_samples)
        sample.n = j->o->q0_samples;
    j->E = trl_alloc64(trl_design_alloc(&j->design), sizeof *j->E);
    if (!j->E)
        return trl_fail_mem(err);
    if (!cache)
        return compute(j, &x, &sample, stop, err);

    const uint64_t print = trl_q0_fingerprint(j->q0_base, &j->q0, &x, &sample);
    struct stat sb;
    const bool there = stat(cache, &sb) == 0 && sb.st_size > 0;
    bool found = false;
    trl_status st = TRL_OK;
    if (there)
        st = trl_expect_read(cache, print, j->E, (size_t)j->design.n_weights, &found, err);
    if (st != TRL_OK)
        return st;
    if (found) {
        memset(j->E + j->design.n_weights, 0, 64 * sizeof *j->E);
        *stop = trl_chain_training_report(j, "q0", "expectations under q0 read from the cache");
        return TRL_OK;
    }
    if (there)
        trl_chain_training_report(
            j, "q0", "the cache of expectations is of other data, features or q0: computed anew");
    st = compute(j, &x, &sample, stop, err);
    return st == TRL_OK ? trl_expect_write(cache, print, j->E, (size_t)j->design.n_weights, err)
                        : st;
}

/* ---- m-estimation ---------------------------------------------------------------------------- */

static trl_status whole(void *self, const double *w, double c2, double *g, double *F,
                        trl_error *err)
{
    const trl_chain_training *j = self;
    return trl_mest_eval(j->mest, w, c2, g, F, err);
}

static trl_status dual(void *self, const trl_train_options *o, const trl_descent *how,
                       trl_error *err)
{
    const trl_chain_training *j = self;
    const trl_mest_dual_options d = {
        .c2 = o->c2, .max_iter = o->max_iter, .delta = o->delta, .seed = o->seed};
    return trl_mest_dual(j->mest, &d, how, err);
}

trl_status trl_chain_training_expect(trl_chain_training *j, trl_train_result *result,
                                     trl_error *err)
{
    bool stop = false;
    trl_status st = expect(j, &stop, err);
    if (st != TRL_OK || stop) {
        result->stopped = stop;
        return st;
    }
    st = trl_mest_new(&j->design, &j->corpus, j->E, j->pool, &j->mest, err);
    if (st != TRL_OK)
        return st;
    if (j->o->c2 <= 0.0)
        trl_chain_training_report(
            j, "q0",
            "without a quadratic penalty (c2) the objective of M-estimation may have no "
            "minimum");
    j->learner.whole = whole;
    j->learner.dual = dual;
    j->learner.bottom = BOTTOMLESS;
    return TRL_OK;
}
