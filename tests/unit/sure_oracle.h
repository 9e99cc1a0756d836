/* sure_oracle.h -- spans and entropies under rules, by enumeration, for test_constrained.c. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_SURE_ORACLE_H
#define TRL_TEST_SURE_ORACLE_H

/* The chunks of labelling k. */
static size_t chunks_of(const world *w, size_t k, trl_chunk *chunk)
{
    trl_str label[8];
    for (size_t i = 0; i < w->m->T; i++)
        label[i] = w->m->label[w->y[k][i]];
    return trl_chunks_of(label, w->m->T, chunk);
}

/* The probability of a span by enumeration. */
static double span_of(const world *w, const trl_chunk *span)
{
    double p = 0.0;
    for (size_t k = 0; k < w->n; k++) {
        trl_chunk chunk[8];
        const size_t n = chunks_of(w, k, chunk);
        for (size_t c = 0; c < n; c++)
            if (chunk[c].begin == span->begin && chunk[c].end == span->end &&
                chunk[c].type.n == span->type.n &&
                memcmp(chunk[c].type.p, span->type.p, span->type.n) == 0)
                p += p_of(w, k);
    }
    return p;
}

/* Lists of spans, and entropies. */
static void check_sure(const world *w, trl_tagger *t)
{
    const size_t T = w->m->T, L = w->m->L;
    const trl_tag_span *above;
    trl_tag_span own[8];
    double H, want = 0.0, token[8], p[64], score, sum = 0.0, listed = 0.0;
    uint32_t y[8];
    size_t n;
    for (size_t k = 0; k < w->n; k++)
        want -= p_of(w, k) > 0.0 ? p_of(w, k) * log(p_of(w, k)) : 0.0;
    assert_ok(trl_tagger_entropy(t, &H, token, &err));
    assert_near(H, want, 1e-8);
    assert_ok(trl_tagger_marginals(t, p, &err));
    for (size_t i = 0; i < T; i++) {
        double h = 0.0;
        for (size_t j = 0; j < L; j++)
            h -= p[i * L + j] > 0.0 ? p[i * L + j] * log(p[i * L + j]) : 0.0;
        assert_near(token[i], h, 1e-8);
    }
    assert_ok(trl_tagger_spans_above(t, 1e-7, &above, &n, &err));
    for (size_t k = 0; k < n; k++) {
        check_near(above[k].p,
                   span_of(w, &(trl_chunk){above[k].begin, above[k].end, above[k].type}));
        listed += above[k].p;
    }
    for (size_t k = 0; k < w->n; k++) { /* all spans together: their expected number */
        trl_chunk chunk[8];
        sum += p_of(w, k) * (double)chunks_of(w, k, chunk);
    }
    assert_near(listed, sum, 1e-4);
    assert_ok(trl_tagger_viterbi(t, y, &score, &err));
    assert_ok(trl_tagger_spans(t, y, own, &n, &err));
    for (size_t k = 0; k < n; k++)
        check_near(own[k].p, span_of(w, &(trl_chunk){own[k].begin, own[k].end, own[k].type}));
}

#endif
