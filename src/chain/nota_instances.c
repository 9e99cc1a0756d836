/* nota_instances.c -- sets of none-of-the-above instances. */
/* SPDX-License-Identifier: MIT */
#include "chain/nota_instances.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "chain/engine.h"
#include "chain/sweep.h"
#include "chain/local_term.h"
#include "text/number.h"

/* ---- options --------------------------------------------------------------------------------- */

static trl_status refuse(trl_error *err, trl_status st)
{
    return trl_fail_hint(err, st,
                         "use all, sample:P or marginal:THETA[@K], as in sample:0.1 "
                         "or marginal:0.2@20");
}

/* Whether 0 and 1 may be, and what it is for. */
typedef struct fraction_range {
    bool zero;
    bool one;
    const char *what;
} fraction_range;

/* A number between 0 and 1, the ends in or out as said; `what` is for the message. */
static trl_status fraction(const char *text, size_t n, const fraction_range *range, double *out,
                           trl_error *err)
{
    double x;
    if (trl_number_parse(text, n, &x) != TRL_NUMBER_OK)
        return trl_fail(err, TRL_EINVAL, "%s '%.*s' is not a number", range->what,
                        (int)(n < 60 ? n : 60), text);
    if (!(range->zero ? x >= 0.0 : x > 0.0) || !(range->one ? x <= 1.0 : x < 1.0))
        return trl_fail(err, TRL_EINVAL, "%s must be %s 0 and %s 1, not %g", range->what,
                        range->zero ? "at least" : "above", range->one ? "at most" : "below", x);
    *out = x;
    return TRL_OK;
}

static trl_status iterations(const char *text, uint64_t *out, trl_error *err)
{
    uint64_t k = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9' && k < 100000000; p++)
        k = k * 10 + (uint64_t)(*p - '0');
    if (*p || p == text)
        return trl_fail(err, TRL_EINVAL,
                        "the number of iterations '%.60s' after @ is not a whole number", text);
    *out = k;
    return TRL_OK;
}

static trl_status parse_marginal(const char *rest, trl_nota_options *o, trl_error *err)
{
    o->method = TRL_NOTA_MARGINAL;
    if (!*rest)
        return TRL_OK;
    const char *at = strchr(++rest, '@');
    const size_t n = at ? (size_t)(at - rest) : strlen(rest);
    const trl_status st =
        fraction(rest, n, &(fraction_range){true, false, "the marginal THETA"}, &o->theta, err);
    return st == TRL_OK && at ? iterations(at + 1, &o->after, err) : st;
}

trl_status trl_nota_parse(const char *text, trl_nota_options *out, trl_error *err)
{
    trl_nota_options o = {.theta = 0.2, .after = 20};
    trl_status st = TRL_OK;
    const size_t name = strcspn(text, ":");
    if (strcmp(text, "all") == 0)
        o.method = TRL_NOTA_ALL;
    else if (name == 8 && memcmp(text, "marginal", 8) == 0)
        st = parse_marginal(text + 8, &o, err);
    else if (strcmp(text, "sample") == 0)
        st = trl_fail(err, TRL_EINVAL, "sample needs the probability of an instance");
    else if (name == 6 && memcmp(text, "sample", 6) == 0) {
        o.method = TRL_NOTA_SAMPLE;
        st = fraction(text + 7, strlen(text + 7),
                      &(fraction_range){false, true, "the probability P"}, &o.p, err);
    } else
        st = trl_fail(err, TRL_EINVAL, "there is no choice of NOTA instances called '%.60s'", text);
    if (st != TRL_OK)
        return refuse(err, st);
    *out = o;
    return TRL_OK;
}

/* ---- sets ------------------------------------------------------------------------------------ */

void trl_nota_init(trl_nota *n, const trl_corpus *c, int order)
{
    const size_t L = c->labels.n;
    *n = (trl_nota){.L = L, .n_tokens = c->n_tokens, .order = order};
    n->words = ((order == 2 ? L * L : L) + 63) / 64;
}

void trl_nota_fini(trl_nota *n)
{
    trl_free(n->bits);
    *n = (trl_nota){0};
}

static void replace(trl_nota *n, bool all, uint64_t *bits, uint64_t count)
{
    trl_free(n->bits);
    n->all = all;
    n->bits = bits;
    n->n_instances = count;
}

/* What trl_sources and trl_gold_source look at. */
static trl_chain shape_of(const trl_nota *n)
{
    return (trl_chain){.L = n->L, .order = n->order};
}

void trl_nota_take_all(trl_nota *n, const trl_corpus *c)
{
    const trl_chain shape = shape_of(n);
    uint64_t count = 0;
    for (size_t s = 0; s < c->n_sequences; s++)
        for (size_t t = 1; t < c->first[s + 1] - c->first[s]; t++)
            count += trl_sources(&shape, t) - 1;
    replace(n, true, NULL, count);
}

trl_status trl_nota_take_sample(trl_nota *n, const trl_corpus *c, double p, uint64_t seed,
                                trl_error *err)
{
    const trl_chain shape = shape_of(n);
    trl_rng rng = trl_rng_seed(seed);
    uint64_t count = 0, *bits = trl_zalloc(n->n_tokens, n->words * sizeof *bits);
    if (!bits)
        return trl_fail_mem(err);
    for (size_t s = 0; s < c->n_sequences; s++)
        for (size_t t = 1; t < c->first[s + 1] - c->first[s]; t++) {
            const size_t from = (size_t)c->first[s];
            const size_t gold = trl_gold_source(&shape, c->label + from, t);
            for (size_t q = 0; q < trl_sources(&shape, t); q++)
                if (q != gold && trl_rng_unit(&rng) < p) {
                    bits[(from + t) * n->words + q / 64] |= (uint64_t)1 << q % 64;
                    count++;
                }
        }
    replace(n, false, bits, count);
    return TRL_OK;
}

/* ---- marginal selection ---------------------------------------------------------------------- */

typedef struct selection {
    const trl_nota *n;
    const trl_corpus *c;
    double theta;
    bool local;
    uint64_t *bits;
    uint64_t count[TRL_SWEEP_LANES];
} selection;

/* Sets the bits of the sources of token from + t that are wrong and more probable than theta. */
static uint64_t select_at(const selection *x, const trl_chain *c, size_t from, size_t t,
                          const double *p)
{
    const size_t right = trl_gold_source(c, x->c->label + from, t);
    uint64_t *bits = x->bits + (from + t) * x->n->words;
    uint64_t count = 0;
    for (size_t q = 0; q < trl_sources(c, t); q++)
        if (p[q] > x->theta && q != right) {
            bits[q / 64] |= (uint64_t)1 << q % 64;
            count++;
        }
    return count;
}

/* By trl_chain_infer on the scores as one CRF, with its statuses. */
static trl_status select_global(selection *x, const trl_sweep_visit *v, trl_error *err)
{
    const trl_chain *c = v->chain;
    const trl_tables *s = v->scores;
    trl_chain_marginals m;
    const bool second = c->order == 2;
    const size_t edge_step = trl_padded(c->L * c->L);
    const trl_status st = trl_chain_infer(
        c,
        &(trl_chain_ask){
            .s = s, .arena = v->arena, .want = second ? TRL_WANT_EDGE_ROWS : 0, .weight = 1.0},
        &m, NULL, err);
    for (size_t t = 1; st == TRL_OK && t < s->n; t++) {
        const double *p =
            second && t > 1 ? m.edge + (t - 1) * edge_step : m.node + (t - 1) * c->stride;
        x->count[v->lane] += select_at(x, c, v->from, t, p);
    }
    return st;
}

/* next: the sources of t + 1, from those of t.  False for a NaN. */
static bool step_local(trl_term *m, size_t t, size_t n, const double *source, double *next,
                       double *p)
{
    const size_t L = m->L;
    bool good = true;
    for (size_t q = 0; q < n; q++) {
        double *to = next + (m->order == 2 && t > 0 ? q % L * L : 0);
        trl_term_source(m, t, q);
        trl_lines_sum(L, m->n, m->line, 0.0, p);
        good &= !isnan(trl_softmax(trl_padded(L), p, false));
        for (size_t j = 0; j < L; j++)
            to[j] += source[q] * p[j];
    }
    return good;
}

/* For the locally normalised model, where no later position has a say and
 *
 *     P(source of t + 1) = sum over q of P(source of t = q) p(y | q)
 *
 * gives the marginals in one sweep forward, an exponential per cell.  TRL_ENUMERIC, TRL_ENOMEM. */
static trl_status select_local(selection *x, const trl_sweep_visit *v, trl_error *err)
{
    const trl_chain *c = v->chain;
    const trl_tables *s = v->scores;
    const size_t most = (c->order == 2 ? c->L : 1) * c->L;
    double *p = trl_arena_get(v->arena, c->stride, sizeof *p);
    double *source = trl_arena_get(v->arena, most, sizeof *source);
    double *next = trl_arena_get(v->arena, most, sizeof *next);
    if (!p || !source || !next)
        return trl_fail_mem(err);
    trl_term m = trl_term_of(c, s, NULL);
    bool good = true;
    source[0] = 1.0;
    for (size_t t = 0; t < s->n; t++) {
        memset(next, 0, most * sizeof *next);
        x->count[v->lane] += t > 0 ? select_at(x, c, v->from, t, source) : 0;
        good &= step_local(&m, t, trl_sources(c, t), source, next, p);
        memcpy(source, next, most * sizeof *next);
    }
    return good ? TRL_OK : trl_chain_check_scores(s, c->L, err);
}

static trl_status visit(void *ctx, const trl_sweep_visit *v, trl_error *err)
{
    selection *s = ctx;
    return (s->local ? select_local : select_global)(s, v, err);
}

trl_status trl_nota_take_marginal(trl_nota *n, const trl_corpus *c, const trl_nota_weights *by,
                                  const trl_nota_threshold *least, trl_pool *pool, trl_error *err)
{
    selection s = {.n = n, .c = c, .theta = least->theta, .local = least->local};
    s.bits = trl_zalloc(n->n_tokens, n->words * sizeof *s.bits);
    const trl_status st =
        s.bits ? trl_chain_sweep(by->d, by->w, pool, visit, &s, err) : trl_fail_mem(err);
    if (st != TRL_OK) {
        trl_free(s.bits);
        return st;
    }
    uint64_t count = 0;
    for (size_t k = 0; k < TRL_SWEEP_LANES; k++)
        count += s.count[k];
    replace(n, false, s.bits, count);
    return TRL_OK;
}

trl_nota_view trl_nota_at(const trl_nota *n, size_t from)
{
    return (trl_nota_view){.any = n->n_instances > 0,
                           .all = n->all,
                           .bits = n->bits ? n->bits + from * n->words : NULL,
                           .words = n->words};
}
