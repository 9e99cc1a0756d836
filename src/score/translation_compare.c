/* translation_compare.c -- is one translation better than another? */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "base/mem.h"
#include "score/resample.h"
#include "score/translation.h"

/* Sums over sentences: the reference's words, then of either system its words, sizes and matches;
 * n-grams follow from words and sentences only where no sentence is shorter than n, so they are
 * sums, too. */
enum { GOLD, SYSTEM, PER_SYSTEM = 2 + 2 * TRL_BLEU_ORDER, SUMS = 1 + 2 * PER_SYSTEM };

static void scores_of(const double *sums, int system, double *out)
{
    const double *s = sums + SYSTEM + system * PER_SYSTEM, *match = s + 2;
    const double *possible = match + TRL_BLEU_ORDER, gold = sums[GOLD];
    out[TRL_F_1] = trl_translation_f(s[0], possible[0], gold);
    out[TRL_F_2] = trl_translation_f(s[1], possible[0], gold);
    out[TRL_BLEU] = trl_bleu(match, possible, gold, 0.0);
}

static void differences(const double *sums, double *out)
{
    double a[TRL_TRANSLATION_MEASURES], b[TRL_TRANSLATION_MEASURES];
    scores_of(sums, 0, a);
    scores_of(sums, 1, b);
    for (int k = 0; k < TRL_TRANSLATION_MEASURES; k++)
        out[k] = b[k] - a[k];
}

static double measure_of(const trl_translation_sentence *s, int k)
{
    return k == TRL_BLEU ? s->bleu : s->f[k];
}

static void fill(double *unit, const trl_translation_sentence *a, const trl_translation_sentence *b)
{
    const trl_translation_sentence *const s[2] = {a, b};
    unit[GOLD] = (double)a->gold;
    for (int k = 0; k < 2; k++) {
        double *to = unit + SYSTEM + k * PER_SYSTEM;
        to[0] = s[k]->size[0];
        to[1] = s[k]->size[1];
        for (size_t q = 0; q < TRL_BLEU_ORDER; q++) {
            to[2 + q] = (double)s[k]->match[q];
            to[2 + TRL_BLEU_ORDER + q] = (double)s[k]->possible[q];
        }
    }
}

trl_status trl_translation_compare(const trl_translation *a, const trl_translation *b,
                                   const trl_bootstrap_options *o, trl_translation_comparison *out,
                                   trl_error *err)
{
    if (!a || !b || !o || !out)
        return trl_fail_null(err);
    size_t n, m;
    const trl_translation_sentence *x = trl_translation_sentences(a, &n);
    const trl_translation_sentence *y = trl_translation_sentences(b, &m);
    trl_translation_comparison r = {.sentences = n};
    double sums[SUMS] = {0};
    if (n != m)
        return trl_fail(err, TRL_EINVAL, "A has %zu sentences, B has %zu", n, m);
    double *units = trl_alloc(n * SUMS, sizeof *units), *score = trl_alloc(2 * n, sizeof *score);
    trl_status st = units && score ? TRL_OK : trl_fail_mem(err);
    for (size_t i = 0; st == TRL_OK && i < n; i++) {
        fill(units + i * SUMS, &x[i], &y[i]);
        for (size_t k = 0; k < SUMS; k++)
            sums[k] += units[i * SUMS + k];
    }
    if (st == TRL_OK)
        st = trl_resample(&(trl_resampled){.n = n,
                                           .n_sums = SUMS,
                                           .units = units,
                                           .n_out = TRL_TRANSLATION_MEASURES,
                                           .difference = differences},
                          o, r.difference, err);
    for (int k = 0; st == TRL_OK && k < TRL_TRANSLATION_MEASURES; k++) {
        for (size_t i = 0; i < n; i++) {
            score[i] = measure_of(&x[i], k);
            score[n + i] = measure_of(&y[i], k);
        }
        st = trl_wilcoxon(n, score, score + n, &r.wilcoxon[k], err);
    }
    scores_of(sums, 0, r.score[0]);
    scores_of(sums, 1, r.score[1]);
    if (st == TRL_OK)
        *out = r;
    trl_free(units);
    trl_free(score);
    return st;
}
