/* places_kernel.c -- alignment of one pair under IBM 1, IBM 2 and the HMM.
 *
 * The HMM has 2 l states: a place j = 1 .. l, and NULL after place j (j = 0 .. l: 0 is the start).
 * With F_i(j) the forward probability of having reached place j last, whether f_i itself came from
 * it or from NULL, the two kinds of states need one row each:
 *
 *     F_i(j) = word_i(j) + none_i(j)
 *     word_i(j) = t(i, j) sum_{j'} F_{i-1}(j') (1 - null) c(j - j') / Z(j')
 *     none_i(j) = t(i, 0) null F_{i-1}(j)
 *
 * Rows are scaled to sum to 1.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "align/places.h"
#include "base/mem.h"
#include "num/simd.h"

#define UNIT 0x1p32

void trl_place_scratch_fini(trl_place_scratch *s)
{
    trl_free(s->block);
    *s = (trl_place_scratch){0};
}

static double *take(trl_place_scratch *s, size_t n)
{
    double *grown = trl_reserve(s->block, &s->cap, n, sizeof *grown);
    if (grown)
        s->block = grown;
    return grown;
}

static void count(uint64_t *to, double x)
{
    __atomic_fetch_add(to, (uint64_t)(x * UNIT + 0.5), __ATOMIC_RELAXED);
}

/* The model that is used for a pair: IBM 1 for long ones. */
static trl_align_model model_for(const trl_places *p, size_t l, size_t m)
{
    return l > TRL_ALIGN_LONGEST || m > TRL_ALIGN_LONGEST ? TRL_ALIGN_IBM1 : p->model;
}

/* ---- IBM 1 and 2 ---------------------------------------------------------------------------- */

/* a(. | i, l, m) of the pair, or UINT32_MAX for uniform. */
static uint32_t places_of(const trl_places *p, size_t l, size_t m)
{
    if (model_for(p, l, m) != TRL_ALIGN_IBM2 || l > TRL_ALIGN_LEARNT || m > TRL_ALIGN_LEARNT)
        return UINT32_MAX;
    return p->place_at[l * (TRL_ALIGN_LEARNT + 1) + m];
}

static double independent(const trl_places *p, size_t l, size_t m, const double *t,
                          double *posterior, trl_place_counts *counts)
{
    const uint32_t at = places_of(p, l, m);
    double log_p = 0.0;
    for (size_t i = 0; i < m; i++) {
        const double *row = t + i * (l + 1),
                     *a = at == UINT32_MAX ? NULL : p->place + at + i * (l + 1);
        double *out = posterior + i * (l + 1), sum = 0.0;
        for (size_t j = 0; j <= l; j++)
            sum += out[j] = a ? row[j] * a[j] : row[j];
        const double scale = 1.0 / sum;
        for (size_t j = 0; j <= l; j++)
            out[j] *= scale;
        log_p += log(a ? sum : sum / (double)(l + 1));
        for (size_t j = 0; counts && a && j <= l; j++)
            count(&counts->place[at + i * (l + 1) + j], out[j]);
    }
    return log_p;
}

static void best_independent(const trl_places *p, size_t l, size_t m, const double *t,
                             uint32_t *best)
{
    const uint32_t at = places_of(p, l, m);
    for (size_t i = 0; i < m; i++) {
        const double *row = t + i * (l + 1),
                     *a = at == UINT32_MAX ? NULL : p->place + at + i * (l + 1);
        double most = -1.0;
        best[i] = 0;
        for (size_t k = 1; k <= l + 1; k++) {
            const size_t j = k <= l ? k : 0;
            const double x = a ? row[j] * a[j] : row[j];
            if (x > most) {
                most = x;
                best[i] = (uint32_t)j;
            }
        }
    }
}

/* ---- HMM ------------------------------------------------------------------------------------ */

typedef struct hmm_rows {
    size_t l, m, wide;          /* wide: l + 1 rounded up */
    double *step;               /* [l + 1][wide] (1 - null) c(j - j') / Z(j'), j = 0: 0 */
    double *word, *none, *back; /* [m][wide] forward of both kinds; backward */
    double *work, *scale;       /* [wide]; [m] what rows were divided by */
    double null;
} hmm_rows;

static bool hmm_start(const trl_places *p, size_t l, size_t m, trl_place_scratch *s, hmm_rows *h)
{
    const size_t wide = trl_padded(l + 1);
    double *block = take(s, (l + 1 + 3 * m + 1) * wide + m);
    if (!block)
        return false;
    *h = (hmm_rows){.l = l, .m = m, .wide = wide, .null = p->null};
    h->step = block;
    h->word = h->step + (l + 1) * wide;
    h->none = h->word + m * wide;
    h->back = h->none + m * wide;
    h->work = h->back + m * wide;
    h->scale = h->work + wide;
    memset(block, 0, ((l + 1 + 3 * m + 1) * wide + m) * sizeof *block);
    for (size_t from = 0; from <= l; from++) {
        const double *c = p->jump + TRL_ALIGN_LONGEST - from;
        double z = 0.0;
        for (size_t j = 1; j <= l; j++)
            z += c[j];
        const double scale = (1.0 - p->null) / z;
        for (size_t j = 1; j <= l; j++)
            h->step[from * wide + j] = scale * c[j];
    }
    return true;
}

/* to[j] = sum_from x[from] step[from][j] */
TRL_CLONES static void advance(const hmm_rows *h, const double *x, double *to)
{
    for (size_t j = 0; j < h->wide; j += TRL_LANES) {
        trl_v8 sum = {0};
        for (size_t from = 0; from <= h->l; from++)
            sum += x[from] * *(const trl_v8 *)(h->step + from * h->wide + j);
        *(trl_v8 *)(to + j) = sum;
    }
}

/* to[from] = sum_j step[from][j] x[j] */
TRL_CLONES static void retreat(const hmm_rows *h, const double *x, double *to)
{
    for (size_t from = 0; from <= h->l; from++) {
        trl_v8 sum = {0};
        for (size_t j = 0; j < h->wide; j += TRL_LANES)
            sum += *(const trl_v8 *)(h->step + from * h->wide + j) * *(const trl_v8 *)(x + j);
        to[from] = trl_v8_sum(&sum);
    }
}

static double hmm_forward(const hmm_rows *h, const double *t)
{
    double log_p = 0.0;
    double *last = h->work; /* F_{i-1} */
    memset(last, 0, h->wide * sizeof *last);
    last[0] = 1.0;
    for (size_t i = 0; i < h->m; i++) {
        double *word = h->word + i * h->wide, *none = h->none + i * h->wide, sum = 0.0;
        const double *row = t + i * (h->l + 1);
        advance(h, last, word);
        for (size_t j = 0; j <= h->l; j++) {
            word[j] *= j ? row[j] : 0.0;
            none[j] = row[0] * h->null * last[j];
            sum += word[j] + none[j];
        }
        const double scale = 1.0 / sum;
        h->scale[i] = sum;
        for (size_t j = 0; j <= h->l; j++) {
            word[j] *= scale;
            none[j] *= scale;
            last[j] = word[j] + none[j];
        }
        log_p += log(sum);
    }
    return log_p;
}

/* back[i][j]: of everything after i given place j, scaled so that sum_j F_i(j) back[i][j] = 1. */
static void hmm_backward(const hmm_rows *h, const double *t)
{
    double *next = h->work;
    for (size_t j = 0; j < h->wide; j++)
        h->back[(h->m - 1) * h->wide + j] = j <= h->l ? 1.0 : 0.0;
    for (size_t i = h->m - 1; i-- > 0;) {
        const double *row = t + (i + 1) * (h->l + 1), *after = h->back + (i + 1) * h->wide;
        double *back = h->back + i * h->wide, sum = 0.0;
        for (size_t j = 0; j <= h->l; j++)
            next[j] = j ? row[j] * after[j] : 0.0;
        retreat(h, next, back);
        for (size_t j = 0; j <= h->l; j++) {
            back[j] += row[0] * h->null * after[j];
            sum += (h->word[i * h->wide + j] + h->none[i * h->wide + j]) * back[j];
        }
        const double scale = 1.0 / sum;
        for (size_t j = 0; j <= h->l; j++)
            back[j] *= scale;
    }
}

/* out = sum_i last_i(from) in_i(j) for eight places j, last_i the forward row before i. */
TRL_INLINE trl_v8 jumps_into(const hmm_rows *h, size_t from, size_t j)
{
    trl_v8 sum = {0};
    if (from == 0)
        sum += *(const trl_v8 *)(h->back + j);
    for (size_t i = 1; i < h->m; i++)
        sum += h->word[(i - 1) * h->wide + from] * *(const trl_v8 *)(h->back + i * h->wide + j);
    return sum;
}

/* Expected jumps: sum_i last_i(from) step(from, j) t(i, j) back_i(j) / scale_i, by width j - from
 * and by `from`.  Rows `word` become the forward rows F, rows `back` become t back / scale. */
TRL_CLONES static void hmm_count(const hmm_rows *h, const double *t, trl_place_counts *counts)
{
    double width[TRL_JUMPS + TRL_LANES] = {0};
    for (size_t i = 0; i < h->m; i++) {
        const double *row = t + i * (h->l + 1), *none = h->none + i * h->wide;
        double *word = h->word + i * h->wide, *back = h->back + i * h->wide;
        const double scale = 1.0 / h->scale[i];
        back[0] = 0.0;
        for (size_t j = 1; j <= h->l; j++)
            back[j] *= row[j] * scale;
        for (size_t j = 0; j <= h->l; j++)
            word[j] += none[j];
    }
    for (size_t from = 0; from <= h->l; from++) {
        double *to = width + TRL_ALIGN_LONGEST - from;
        trl_v8 here = {0};
        for (size_t j = 0; j < h->wide; j += TRL_LANES) {
            const trl_v8 x =
                jumps_into(h, from, j) * *(const trl_v8 *)(h->step + from * h->wide + j);
            here += x;
            *(trl_v8 *)(to + j) += x;
        }
        count(&counts->from[h->l * (TRL_ALIGN_LONGEST + 1) + from], trl_v8_sum(&here));
    }
    for (size_t d = TRL_ALIGN_LONGEST - h->l; d <= TRL_ALIGN_LONGEST + h->l; d++)
        count(&counts->jump[d], width[d]);
}

static bool hmm_posterior(const trl_places *p, const trl_place_pair *x, double *posterior,
                          double *log_p, trl_place_counts *counts, trl_place_scratch *s)
{
    hmm_rows h;
    if (!hmm_start(p, x->l, x->m, s, &h))
        return false;
    *log_p = hmm_forward(&h, x->t);
    hmm_backward(&h, x->t);
    for (size_t i = 0; i < x->m; i++) {
        double *out = posterior + i * (x->l + 1);
        const double *back = h.back + i * h.wide;
        out[0] = 0.0;
        for (size_t j = 0; j <= x->l; j++) {
            if (j)
                out[j] = h.word[i * h.wide + j] * back[j];
            out[0] += h.none[i * h.wide + j] * back[j];
        }
    }
    if (counts)
        hmm_count(&h, x->t, counts);
    return true;
}

/* Viterbi over (place, word or NULL); rows scaled by their maximum. */
static bool hmm_best(const trl_places *p, size_t l, size_t m, const double *t, uint32_t *best,
                     trl_place_scratch *s)
{
    hmm_rows h;
    if (!hmm_start(p, l, m, s, &h))
        return false;
    uint32_t *from = trl_alloc((l + 1) * m, sizeof *from); /* of word states */
    if (!from)
        return false;
    double *last = h.work;
    last[0] = 1.0;
    for (size_t i = 0; i < m; i++) {
        double *word = h.word + i * h.wide, *none = h.none + i * h.wide, most = 0.0;
        const double *row = t + i * (l + 1);
        for (size_t j = 0; j <= l; j++) {
            double top = 0.0;
            uint32_t arg = 0;
            for (size_t k = 0; j && k <= l; k++) {
                const double x = last[k] * h.step[k * h.wide + j];
                if (x > top) {
                    top = x;
                    arg = (uint32_t)k;
                }
            }
            from[i * (l + 1) + j] = arg;
            word[j] = top * row[j];
            none[j] = row[0] * h.null * last[j];
            most = fmax(most, fmax(word[j], none[j]));
        }
        for (size_t j = 0; j <= l; j++) {
            word[j] /= most;
            none[j] /= most;
            last[j] = fmax(word[j], none[j]);
        }
    }
    size_t at = 0;
    for (size_t j = 1; j <= l; j++)
        at = last[j] > last[at] ? j : at;
    for (size_t i = m; i-- > 0;) {
        const bool is_word = h.word[i * h.wide + at] >= h.none[i * h.wide + at] && at;
        best[i] = is_word ? (uint32_t)at : 0;
        at = is_word ? from[i * (l + 1) + at] : at;
    }
    trl_free(from);
    return true;
}

/* ---- all --------------------------------------------------------------------------------------
 */

bool trl_places_posterior(const trl_places *p, const trl_place_pair *x, double *posterior,
                          double *log_p, trl_place_counts *counts, trl_place_scratch *s)
{
    if (model_for(p, x->l, x->m) == TRL_ALIGN_HMM)
        return hmm_posterior(p, &(trl_place_pair){x->l, x->m, x->t}, posterior, log_p, counts, s);
    *log_p = independent(p, x->l, x->m, x->t, posterior, counts);
    return true;
}

bool trl_places_best(const trl_places *p, size_t l, size_t m, const double *t, uint32_t *best,
                     trl_place_scratch *s)
{
    if (model_for(p, l, m) == TRL_ALIGN_HMM)
        return hmm_best(p, l, m, t, best, s);
    best_independent(p, l, m, t, best);
    return true;
}

static void update_jumps(trl_places *p, const trl_place_counts *counts)
{
    double pull[TRL_JUMPS] = {0};
    for (size_t l = 1; l <= TRL_ALIGN_LONGEST; l++)
        for (size_t from = 0; from <= l; from++) {
            const uint64_t n = counts->from[l * (TRL_ALIGN_LONGEST + 1) + from];
            if (!n)
                continue;
            const double *c = p->jump + TRL_ALIGN_LONGEST - from;
            double z = 0.0;
            for (size_t j = 1; j <= l; j++)
                z += c[j];
            for (size_t j = 1; j <= l; j++)
                pull[TRL_ALIGN_LONGEST + j - from] += (double)n / z;
        }
    for (size_t d = 0; d < TRL_JUMPS; d++) /* widths without counts keep a trace: text to come */
        if (pull[d] > 0.0)
            p->jump[d] = fmax((double)counts->jump[d], 1.0) / pull[d];
}

void trl_places_update(trl_places *p, const trl_place_counts *counts)
{
    if (p->model == TRL_ALIGN_HMM)
        update_jumps(p, counts);
    if (p->model != TRL_ALIGN_IBM2)
        return;
    for (size_t l = 0; l <= TRL_ALIGN_LEARNT; l++)
        for (size_t m = 0; m <= TRL_ALIGN_LEARNT; m++) {
            const uint32_t at = p->place_at[l * (TRL_ALIGN_LEARNT + 1) + m];
            for (size_t i = 0; at != UINT32_MAX && i < m; i++) {
                double sum = 0.0;
                for (size_t j = 0; j <= l; j++)
                    sum += (double)counts->place[at + i * (l + 1) + j];
                for (size_t j = 0; j <= l; j++)
                    p->place[at + i * (l + 1) + j] =
                        (double)counts->place[at + i * (l + 1) + j] / sum;
            }
        }
}
