/* tagger_spans.c -- how sure a tagger is: probabilities of spans, entropies. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/constrained.h"
#include "chain/tagger_parts.h"

static trl_status need_chunking(trl_tagger *t, trl_error *err)
{
    const size_t L = t->m->L;
    if (t->chunking.L)
        return TRL_OK;
    trl_str *label = trl_alloc(L, sizeof *label);
    if (!label)
        return trl_fail_mem(err);
    for (size_t k = 0; k < L; k++)
        label[k] = trl_strview_get(&t->m->labels, (uint32_t)k);
    const trl_status st = trl_chunking_init(&t->chunking, label, L, err);
    trl_free(label);
    return st;
}

/* The distribution over labellings, in the arena. */
static trl_status posterior(trl_tagger *t, trl_posterior *p, trl_chain_marginals *m, trl_error *err)
{
    const trl_chain *chain;
    const struct trl_constrained *x = t->constrained;
    const trl_status st = trl_tagger_infer(t, TRL_WANT_EDGE_ROWS, &chain, m, err);
    if (st == TRL_OK && trl_constrained_is_on(t) && x->arc)
        return trl_posterior_of_lattice(
            &x->lattice, &(trl_lattice_sums){.node = m->node, .arc = x->arc, .L = t->m->L},
            &t->arena, p, err);
    if (st == TRL_OK && chain->order == 2 && !m->tri && t->tables.n > 2)
        return trl_fail(err, TRL_ENUMERIC, "the scores are too large for a sum");
    return st == TRL_OK ? trl_posterior_of_chain(chain, m, t->tables.n, &t->arena, p, err) : st;
}

static trl_status check_labels(const trl_tagger *t, const uint32_t *labels, trl_error *err)
{
    for (size_t pos = 0; pos < t->tables.n; pos++)
        if (labels[pos] >= t->m->L)
            return trl_fail(err, TRL_EINVAL, "label %u at token %zu: the model has %zu",
                            (unsigned)labels[pos], pos + 1, t->m->L);
    return TRL_OK;
}

/* Where the chunk that starts at `begin` ends. */
static size_t chunk_end(const trl_tagger *t, const uint32_t *labels, size_t begin)
{
    size_t e = begin + 1;
    for (; e < t->tables.n; e++)
        if (!trl_chunk_continues(trl_strview_get(&t->m->labels, labels[e - 1]),
                                 trl_strview_get(&t->m->labels, labels[e])))
            break;
    return e;
}

trl_status trl_tagger_spans(trl_tagger *t, const uint32_t *labels, trl_tag_span *span, size_t *n,
                            trl_error *err)
{
    if (!t || !labels || !span || !n)
        return trl_fail_null(err);
    trl_posterior p;
    trl_chain_marginals m;
    *n = 0;
    trl_status st = need_chunking(t, err);
    if (st == TRL_OK)
        st = check_labels(t, labels, err);
    if (st == TRL_OK)
        st = posterior(t, &p, &m, err);
    for (size_t b = 0, e; st == TRL_OK && b < t->tables.n; b = e) {
        e = chunk_end(t, labels, b);
        const uint32_t type = t->chunking.type[labels[b]];
        if (type == TRL_NO_ID)
            continue;
        span[*n] = (trl_tag_span){.begin = b, .end = e, .type = t->chunking.name[type]};
        st = trl_posterior_span(&p, &t->chunking, type, &t->arena, &span[*n], err);
        ++*n;
    }
    trl_arena_reset(&t->arena);
    return st;
}

static trl_status keep_span(void *ctx, const trl_tag_span *span, trl_error *err)
{
    trl_tagger *t = ctx;
    trl_tag_span *all = trl_reserve(t->span, &t->span_cap, t->n_spans + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(err);
    t->span = all;
    all[t->n_spans++] = *span;
    return TRL_OK;
}

trl_status trl_tagger_spans_above(trl_tagger *t, double least, const trl_tag_span **out, size_t *n,
                                  trl_error *err)
{
    if (!t || !out || !n)
        return trl_fail_null(err);
    if (!(least > 0.0 && least <= 1.0))
        return trl_fail(err, TRL_EINVAL, "%g: spans have probabilities above 0, up to 1", least);
    trl_posterior p;
    trl_chain_marginals m;
    t->n_spans = 0;
    trl_status st = need_chunking(t, err);
    if (st == TRL_OK)
        st = posterior(t, &p, &m, err);
    if (st == TRL_OK)
        st = trl_posterior_spans(&p, &t->chunking, least, &t->arena,
                                 &(trl_span_taker){keep_span, t}, err);
    trl_arena_reset(&t->arena);
    *out = t->span;
    *n = st == TRL_OK ? t->n_spans : 0;
    return st;
}

trl_status trl_tagger_entropy(trl_tagger *t, double *sequence, double *token, trl_error *err)
{
    if (!t || !sequence)
        return trl_fail_null(err);
    trl_posterior p;
    trl_chain_marginals m;
    const trl_status st = posterior(t, &p, &m, err);
    if (st == TRL_OK)
        *sequence = trl_posterior_entropy(&p);
    for (size_t pos = 0; st == TRL_OK && token && pos < t->tables.n; pos++)
        token[pos] = trl_entropy(m.node + pos * t->chain.stride, t->m->L);
    trl_arena_reset(&t->arena);
    return st;
}
