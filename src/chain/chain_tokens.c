/* chain_tokens.c -- memm, piecewise-nota and pseudolikelihood token by token, in single precision.
 */
/* SPDX-License-Identifier: MIT */
#include "chain/chain_tokens.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/local_kernel.h"
#include "chain/local_term.h"
#include "chain/token_kernel.h"
#include "num/simd.h"

#define MAX_SOURCES ((size_t)1 << 18) /* floats in the rows of sources */
#define MAX_INSTANCES 6               /* NOTA instances a token */

static bool has_both(const trl_objective *o)
{
    return o->id == TRL_OBJ_PSEUDO;
}

static size_t sources_of(const trl_chain *c, bool both)
{
    return both ? (c->L + 1) * (c->L + 1) : 1 + c->L + (c->order == 2 ? c->L * c->L : 0);
}

bool trl_chain_tokens_serve(const trl_chain *c, const trl_objective *o, const trl_nota *nota)
{
    const bool both = has_both(o);
    return (both ? c->order == 1 : o->local) && c->L <= 1024 &&
           sources_of(c, both) * c->stride <= MAX_SOURCES &&
           (!nota || (!nota->all && nota->n_instances <= MAX_INSTANCES * nota->n_tokens));
}

/* ---- lifetime -------------------------------------------------------------------------------- */

void trl_chain_tokens_fini(trl_chain_tokens *k)
{
    for (size_t l = 0; k->sums && l < k->n_lanes; l++)
        trl_free(k->sums[l]);
    trl_free(k->sums);
    trl_free(k->which);
    trl_free(k->gold);
    trl_free(k->weight);
    trl_free(k->source);
    trl_free(k->more);
    trl_free(k->more_at);
    trl_free(k->more_of);
    *k = (trl_chain_tokens){0};
}

static bool allocate(trl_chain_tokens *k, const trl_chain *c, bool weights)
{
    const size_t cells = k->n_sources * c->stride;
    k->which = trl_alloc(k->n, sizeof *k->which);
    k->gold = trl_alloc(k->n, sizeof *k->gold);
    k->weight = weights ? trl_alloc(k->n, sizeof *k->weight) : NULL;
    k->source = trl_alloc64(cells, sizeof *k->source);
    k->sums = trl_zalloc(k->n_lanes, sizeof *k->sums);
    bool good = k->which && k->gold && (k->weight || !weights) && k->source && k->sums;
    for (size_t l = 0; good && l < k->n_lanes; l++) {
        k->sums[l] = trl_alloc64(cells, sizeof **k->sums);
        good = k->sums[l];
        if (good)
            memset(k->sums[l], 0, cells * sizeof **k->sums);
    }
    return good;
}

/* The wrong sources of a token that have an instance; *of NULL: only their number. */
static size_t list_instances(const trl_chain *c, const trl_nota *nota, uint32_t which,
                             uint32_t token, uint32_t *of)
{
    const size_t base = which > c->L ? 1 + c->L : 1; /* pairs, or labels */
    size_t n = 0;
    for (size_t b = 0; which && b < nota->words; b++)
        for (uint64_t set = nota->bits[token * nota->words + b]; set; set &= set - 1) {
            const uint32_t q = (uint32_t)(base + b * 64 + (size_t)__builtin_ctzll(set));
            if (q == which)
                continue;
            if (of)
                of[n] = q;
            n++;
        }
    return n;
}

static bool arrange_instances(trl_chain_tokens *k, const trl_chain *c, const trl_nota *nota,
                              const uint32_t *token)
{
    uint64_t total = 0;
    k->any = nota && nota->n_instances > 0;
    if (!k->any)
        return true;
    k->more = trl_alloc(k->n + 1, sizeof *k->more);
    for (size_t i = 0; k->more && i < k->n; i++) {
        k->more[i] = total;
        total += list_instances(c, nota, k->which[i], token[i], NULL);
    }
    k->more_at = trl_alloc((size_t)total, sizeof *k->more_at);
    k->more_of = trl_alloc((size_t)total, sizeof *k->more_of);
    if (!k->more || !k->more_at || !k->more_of)
        return false;
    k->more[k->n] = total;
    for (size_t i = 0; i < k->n; i++) {
        list_instances(c, nota, k->which[i], token[i], k->more_of + k->more[i]);
        for (uint64_t j = k->more[i]; j < k->more[i + 1]; j++)
            k->more_at[j] = (uint32_t)i;
    }
    return true;
}

/* The source of position t of n, by which way. */
static size_t one_at(const trl_chain *c, const uint32_t *y, size_t t)
{
    return t == 0 ? 0 : 1 + trl_gold_source(c, y, t) + (t > 1 && c->order == 2 ? c->L : 0);
}

static size_t both_at(const trl_chain *c, const uint32_t *y, size_t n, size_t t)
{
    return (t > 0 ? y[t - 1] + 1 : 0) * (c->L + 1) + (t + 1 < n ? y[t + 1] + 1 : 0);
}

/* Gold labels, their sources and the sequences' weights, by position. */
static void arrange_gold(trl_chain_tokens *k, const trl_chain *c, const trl_corpus *corpus,
                         const uint32_t *position)
{
    for (size_t s = 0; s < corpus->n_sequences; s++)
        for (uint64_t from = corpus->first[s], t = 0; from + t < corpus->first[s + 1]; t++) {
            const uint32_t i = position[from + t], *y = corpus->label + from;
            const size_t n = (size_t)(corpus->first[s + 1] - from);
            k->gold[i] = y[t];
            k->which[i] =
                (uint32_t)(k->both ? both_at(c, y, n, (size_t)t) : one_at(c, y, (size_t)t));
            if (k->weight)
                k->weight[i] = (float)corpus->weight[s];
        }
}

trl_status trl_chain_tokens_arrange(trl_chain_tokens *k, const trl_chain *c,
                                    const trl_tokens_source *from, size_t n, const uint32_t *token,
                                    trl_error *err)
{
    bool weights = false;
    for (size_t s = 0; s < from->corpus->n_sequences; s++)
        weights |= from->corpus->weight[s] != 1.0;
    trl_chain_tokens_fini(k);
    *k = (trl_chain_tokens){.both = has_both(from->o),
                            .n = n,
                            .n_sources = sources_of(c, has_both(from->o)),
                            .n_lanes = from->n_lanes};
    uint32_t *position = trl_alloc(n, sizeof *position);
    bool good = position && allocate(k, c, weights);
    for (size_t i = 0; good && i < n; i++)
        position[token[i]] = (uint32_t)i;
    if (good) {
        arrange_gold(k, c, from->corpus, position);
        good = arrange_instances(k, c, from->nota, token);
    }
    trl_free(position);
    if (!good) {
        trl_chain_tokens_fini(k);
        return trl_fail_mem(err);
    }
    return TRL_OK;
}

/* ---- shared scores --------------------------------------------------------------------------- */

/* The parts of a source's row: edge(y', .), tri(y'', y', .) and edge(., y''), whose cells are L
 * apart. */
typedef struct parts {
    size_t edge, tri, next; /* 0: none, else the place + 1 */
} parts;

static parts parts_of(const trl_chain_tokens *k, size_t L, size_t q)
{
    if (k->both) {
        const size_t a = q / (L + 1), b = q % (L + 1);
        return (parts){a ? (a - 1) * L + 1 : 0, 0, b};
    } /* 1 + L + y'' L + y': (q - 1) % L is y' in either case */
    return (parts){q ? (q - 1) % L * L + 1 : 0, q > L ? (q - 1 - L) * L + 1 : 0, 0};
}

void trl_chain_tokens_prepare(trl_chain_tokens *k, const trl_chain *c)
{
    const size_t L = c->L, S = c->stride;
    for (size_t q = 0; k->n && q < k->n_sources; q++) {
        const parts p = parts_of(k, L, q);
        float *row = k->source + q * S;
        for (size_t j = 0; j < L; j++)
            row[j] = (float)((p.edge ? c->edge[p.edge - 1 + j] : 0.0) +
                             (p.tri ? c->tri[p.tri - 1 + j] : 0.0) +
                             (p.next ? c->edge[j * L + p.next - 1] : 0.0));
        for (size_t j = L; j < S; j++)
            row[j] = TRL_TOKEN_PAD;
    }
}

void trl_chain_tokens_clear(trl_chain_tokens *k, const trl_chain *c, size_t lane)
{
    if (k->n && lane < k->n_lanes)
        memset(k->sums[lane], 0, k->n_sources * c->stride * sizeof **k->sums);
}

void trl_chain_tokens_finish(trl_chain_tokens *k, const trl_chain *c, size_t lane,
                             trl_tables *adjoint)
{
    const size_t L = c->L, S = c->stride;
    double *edge = adjoint->shared[TRL_EDGE], *tri = adjoint->shared[TRL_TRI];
    if (!k->n || lane >= k->n_lanes)
        return;
    for (size_t q = 1; q < k->n_sources; q++) {
        const parts p = parts_of(k, L, q);
        const float *row = k->sums[lane] + q * S;
        for (size_t j = 0; edge && p.edge && j < L; j++)
            edge[p.edge - 1 + j] += (double)row[j];
        for (size_t j = 0; tri && p.tri && j < L; j++)
            tri[p.tri - 1 + j] += (double)row[j];
        for (size_t j = 0; edge && p.next && j < L; j++)
            edge[j * L + p.next - 1] += (double)row[j];
    }
    trl_chain_tokens_clear(k, c, lane);
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* The value of n terms that the kernel computed: weight[i], of token at[i] (NULL: i), times -log(1
 * + S[i]). */
static double value_of(size_t n, const float *S, const float *weight, const uint32_t *at)
{
    if (!weight)
        return -trl_token_logs(n, S);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        if (S[i] < (float)TRL_TOKEN_MAX)
            sum -= (double)weight[at ? at[i] : i] * log1p((double)S[i]);
    return sum;
}

#define NOTA UINT32_MAX /* as gold: NOTA is right */

/* A term: the token in its block, its source and its true label. */
typedef struct term_at {
    size_t i;
    size_t source;
    uint32_t gold;
} term_at;

/* A term for scores of any size, in double. */
static trl_status wide_term(const trl_token_terms *m, const trl_chain *c, const term_at *at,
                            trl_arena *arena, double *value, trl_error *err)
{
    const size_t S = m->step;
    const float *score = m->score + at->i * S, *row = m->source + at->source * S;
    float *adjoint = m->adjoint + at->i * S, *sums = m->sums + at->source * S;
    const float weight = m->weight ? m->weight[at->i] : 1.0f;
    double *p = trl_arena_get(arena, S, sizeof *p);
    if (!p)
        return trl_fail_mem(err);
    for (size_t j = 0; j < S; j++)
        p[j] = j < c->L ? (double)score[j] + (double)row[j] : -HUGE_VAL;
    const double right = at->gold == NOTA ? 0.0 : p[at->gold], z = trl_softmax(S, p, m->nota);
    if (isnan(z))
        return trl_fail(err, TRL_ENUMERIC, "a score is not a number or not finite");
    if (weight != 0.0f)
        *value += right == -HUGE_VAL ? right : (double)weight * (right - z);
    for (size_t j = 0; j < S; j++) {
        const float d = weight * (float)((j == at->gold ? 1.0 : 0.0) - p[j]);
        adjoint[j] = at->gold == NOTA ? adjoint[j] + d : d;
        sums[j] += d;
    }
    return TRL_OK;
}

/* The tokens and their chain. */
typedef struct arranged {
    const trl_chain_tokens *k;
    const trl_chain *c;
} arranged;

/* The instances of a block: wrong sources, for which NOTA is right. */
static trl_status instances(const arranged *x, const trl_token_terms *m, size_t position,
                            trl_arena *arena, double *value, trl_error *err)
{
    const uint64_t from = x->k->more[position];
    const size_t n = (size_t)(x->k->more[position + m->n] - from);
    uint32_t *at = trl_arena_get(arena, n, sizeof *at);
    float *S = trl_arena_get(arena, trl_padded(n), sizeof *S);
    float *e = trl_arena_get(arena, n, m->step * sizeof *e);
    if (!at || !S || !e)
        return trl_fail_mem(err);
    for (size_t i = 0; i < n; i++)
        at[i] = x->k->more_at[from + i] - (uint32_t)position;
    trl_token_more(m, n, at, x->k->more_of + from, e, S);
    *value += value_of(n, S, m->weight, at);
    trl_status st = TRL_OK;
    for (size_t i = 0; st == TRL_OK && i < n; i++)
        if (!(S[i] < (float)TRL_TOKEN_MAX))
            st = wide_term(m, x->c, &(term_at){at[i], x->k->more_of[from + i], NOTA}, arena, value,
                           err);
    return st;
}

trl_status trl_chain_tokens_evaluate(trl_chain_tokens *k, const trl_chain *c,
                                     const trl_tokens_work *work, const trl_token_block *b,
                                     double *value, trl_error *err)
{
    const size_t n = trl_padded(b->n);
    float *S = trl_arena_get(work->arena, 3 * n, sizeof *S);
    if (!S)
        return trl_fail_mem(err);
    memset(S + n, 0, n * sizeof *S);
    const trl_token_terms m = {.n = b->n,
                               .step = c->stride,
                               .score = b->score,
                               .source = k->source,
                               .sums = k->sums[work->lane],
                               .which = k->which + b->position,
                               .gold = k->gold + b->position,
                               .weight = k->weight ? k->weight + b->position : NULL,
                               .nota = k->any,
                               .adjoint = b->adjoint,
                               .right = S + n,
                               .held = S + 2 * n,
                               .S = S};
    trl_token_first(&m);
    *value = value_of(b->n, S, m.weight, NULL);
    trl_status st = TRL_OK;
    for (size_t i = 0; st == TRL_OK && i < b->n; i++)
        if (!(S[i] < (float)TRL_TOKEN_MAX))
            st = wide_term(&m, c, &(term_at){i, m.which[i], m.gold[i]}, work->arena, value, err);
    if (st == TRL_OK && k->any)
        st = instances(&(arranged){k, c}, &m, b->position, work->arena, value, err);
    return st;
}
