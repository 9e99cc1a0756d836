/* tagger_answers.c -- the answers of a tagger: inference on the score tables. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "chain/calibrate.h"
#include "chain/constrained.h"
#include "chain/local.h"
#include "chain/tagger_parts.h"
#include "chain/temperature.h"
#include "num/simd.h"

static trl_status need_sequence(const trl_tagger *t, trl_error *err)
{
    return t->tables.n ? TRL_OK : trl_fail(err, TRL_EINVAL, "no sequence has been set");
}

trl_status trl_tagger_view(trl_tagger *t, const trl_chain **chain, const trl_tables **tables,
                           trl_error *err)
{
    trl_status st = need_sequence(t, err);
    const bool made = t->is_local || t->m->calibration, cooled = t->cool != 1.0;
    *chain = made ? &t->rows : cooled ? &t->cooled : &t->chain;
    *tables = made || cooled ? &t->own : &t->tables;
    if (st != TRL_OK || (!made && !cooled))
        return st;
    if (t->is_local)
        st = trl_local_tables(&t->chain, &t->tables, &t->arena, &t->own, err);
    else if (made)
        st =
            trl_calibrate_tables(&t->chain, &t->tables, t->m->calibration, &t->arena, &t->own, err);
    else
        t->own = t->tables;
    return st == TRL_OK && cooled ? trl_cool_tables(&t->chain, t->cool, &t->arena, &t->own, err)
                                  : st;
}

static trl_status need_probability(const trl_tagger *t, trl_error *err)
{
    if (t->m->is_probability || t->any_scores || t->has_temperature)
        return need_sequence(t, err);
    const trl_status st = trl_fail(
        err, TRL_EINVAL, "the scores of a %s model are not probabilities", t->m->objective);
    return trl_fail_hint(err, st,
                         "train with the objective 'likelihood' to get them, or fit a temperature "
                         "on held-out data");
}

trl_status trl_tagger_viterbi(trl_tagger *t, uint32_t *labels, double *score, trl_error *err)
{
    if (!t || !labels || !score)
        return trl_fail_null(err);
    const trl_chain *chain;
    const trl_tables *tables;
    trl_status st = trl_tagger_view(t, &chain, &tables, err);
    const trl_constrained_ask ask = {t, chain, tables};
    if (st == TRL_OK)
        st = trl_constrained_is_on(t)
                 ? trl_constrained_viterbi(&ask, labels, score, err)
                 : trl_chain_viterbi(chain, tables, &t->arena, labels, score, err);
    trl_arena_reset(&t->arena);
    return st;
}

trl_status trl_tagger_nbest(trl_tagger *t, size_t n, uint32_t *labels, double *scores,
                            size_t *found, trl_error *err)
{
    if (!t || !found || (n && (!labels || !scores)))
        return trl_fail_null(err);
    const trl_chain *chain;
    const trl_tables *tables;
    trl_status st = trl_tagger_view(t, &chain, &tables, err);
    const trl_constrained_ask ask = {t, chain, tables};
    const trl_chain_list list = {.n = n, .y = labels, .score = scores, .found = found};
    *found = 0;
    if (st == TRL_OK && n > 0)
        st = trl_constrained_is_on(t) ? trl_constrained_nbest(&ask, &list, err)
                                      : trl_chain_nbest(chain, tables, &t->arena, &list, err);
    trl_arena_reset(&t->arena);
    return st;
}

/* The probability of a labelling is exp(score - log Z), a difference of sums: beyond this size of a
 * score too few digits are left (2^-52 of it is 2e-7).  Marginals are normalised place by place and
 * have no such limit. */
#define LARGEST_SCORE 1e9

static trl_status need_digits(double largest, trl_error *err)
{
    if (largest <= LARGEST_SCORE)
        return TRL_OK;
    const trl_status st =
        trl_fail(err, TRL_ENUMERIC, "a score of %g is too large for the probability of a labelling",
                 largest);
    return trl_fail_hint(err, st,
                         "a weight of the model, or a value in the data, is out of all "
                         "proportion; marginals can still be had");
}

trl_status trl_tagger_infer(trl_tagger *t, int want, const trl_chain **of, trl_chain_marginals *out,
                            trl_error *err)
{
    const trl_chain *chain;
    const trl_tables *tables;
    trl_status st = need_probability(t, err);
    if (st == TRL_OK)
        st = trl_tagger_view(t, &chain, &tables, err);
    if (st == TRL_OK && (want & TRL_WANT_LOG_Z_ONLY))
        st = need_digits(trl_chain_largest_score(chain, tables), err);
    if (st != TRL_OK)
        return st;
    if (of)
        *of = chain;
    const trl_constrained_ask ask = {t, chain, tables};
    const trl_chain_ask plain = {.s = tables, .arena = &t->arena, .want = want, .weight = 1.0};
    return trl_constrained_is_on(t) ? trl_constrained_infer(&ask, want, out, err)
                                    : trl_chain_infer(chain, &plain, out, NULL, err);
}

/* The label of largest marginal, token by token; p is [n][stride]. */
static void largest_of(const trl_tagger *t, const double *p, uint32_t *labels)
{
    for (size_t pos = 0; pos < t->tables.n; pos++, p += t->chain.stride) {
        labels[pos] = 0;
        for (uint32_t y = 1; y < t->m->L; y++)
            if (p[y] > p[labels[pos]])
                labels[pos] = y;
    }
}

trl_status trl_tagger_posterior(trl_tagger *t, uint32_t *labels, trl_error *err)
{
    if (!t || !labels)
        return trl_fail_null(err);
    trl_chain_marginals out;
    trl_status st = trl_tagger_infer(t, 0, NULL, &out, err);
    if (st == TRL_OK && trl_constrained_is_on(t))
        st = trl_constrained_posterior(t, out.node, labels, err);
    else if (st == TRL_OK)
        largest_of(t, out.node, labels);
    trl_arena_reset(&t->arena);
    return st;
}

trl_status trl_tagger_marginals(trl_tagger *t, double *p, trl_error *err)
{
    if (!t || !p)
        return trl_fail_null(err);
    trl_chain_marginals out;
    const trl_status st = trl_tagger_infer(t, 0, NULL, &out, err);
    for (size_t pos = 0; st == TRL_OK && pos < t->tables.n; pos++)
        for (size_t y = 0; y < t->m->L; y++) { /* rounding may exceed 1 */
            const double x = out.node[pos * t->chain.stride + y];
            p[pos * t->m->L + y] = x < 1.0 ? x : 1.0;
        }
    trl_arena_reset(&t->arena);
    return st;
}

trl_status trl_tagger_pair_marginals(trl_tagger *t, double *p, trl_error *err)
{
    if (!t || !p)
        return trl_fail_null(err);
    trl_chain_marginals out;
    const trl_status st = trl_tagger_infer(t, TRL_WANT_EDGE_ROWS, NULL, &out, err);
    const size_t pairs = t->m->L * t->m->L, step = trl_padded(pairs);
    for (size_t pos = 1; st == TRL_OK && pos < t->tables.n; pos++)
        for (size_t c = 0; c < pairs; c++) { /* rounding may exceed 1 */
            const double x = out.edge[pos * step + c];
            p[(pos - 1) * pairs + c] = x < 1.0 ? x : 1.0;
        }
    trl_arena_reset(&t->arena);
    return st;
}

trl_status trl_tagger_log_z(trl_tagger *t, double *log_z, trl_error *err)
{
    if (!t || !log_z)
        return trl_fail_null(err);
    trl_chain_marginals out;
    const trl_status st = trl_tagger_infer(t, TRL_WANT_LOG_Z_ONLY, NULL, &out, err);
    if (st == TRL_OK)
        *log_z = out.log_z;
    trl_arena_reset(&t->arena);
    return st;
}

trl_status trl_tagger_score(trl_tagger *t, const uint32_t *labels, double *score, trl_error *err)
{
    if (!t || !labels || !score)
        return trl_fail_null(err);
    const trl_chain *chain;
    const trl_tables *tables;
    const trl_status st = trl_tagger_view(t, &chain, &tables, err);
    if (st != TRL_OK)
        return st;
    trl_status bad = TRL_OK;
    for (size_t pos = 0; pos < t->tables.n && bad == TRL_OK; pos++)
        if (labels[pos] >= t->m->L)
            bad = trl_fail(err, TRL_EINVAL, "label %u at token %zu: the model has %zu",
                           (unsigned)labels[pos], pos + 1, t->m->L);
    if (bad == TRL_OK && trl_constrained_is_on(t) && !trl_constrained_obeys(t, labels))
        *score = -HUGE_VAL;
    else if (bad == TRL_OK)
        *score = trl_chain_score(chain, tables, labels);
    trl_arena_reset(&t->arena);
    return bad;
}
