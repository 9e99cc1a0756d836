/* token_kernel.c -- softmax over the labels of single tokens, in floats. */
/* SPDX-License-Identifier: MIT */
#include "chain/token_kernel.h"

typedef float    v8f __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t v8u __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t  v8s __attribute__((vector_size(32), aligned(4), may_alias));
typedef float    v4f __attribute__((vector_size(16), aligned(4), may_alias));

#define LOW -50.0f
#define HIGH 60.0f

TRL_INLINE float sum8(v8f v)
{
    const v4f low = __builtin_shufflevector(v, v, 0, 1, 2, 3);
    const v4f a = low + __builtin_shufflevector(v, v, 4, 5, 6, 7);
    const v4f b = a + __builtin_shufflevector(a, a, 2, 3, 0, 1);
    return b[0] + b[1];
}

/* exp(x), 0 below LOW, exp(HIGH) above HIGH; NaN stays NaN.  2^k exp(r) as in trl_v8_exp: adding
 * `magic` rounds to an integer and leaves k + 127 in the low bits; the first part of log 2 has few
 * enough bits for its product with k to be exact; coefficients as in num/single_kernel.c. */
TRL_INLINE v8f exp8(v8f x)
{
    const v8f zero = {0}, magic = zero + (0x1.8p23f + 127.0f), high = zero + HIGH;
    const v8s over = x > high;
    const v8f y = (v8f)((over & (v8s)high) | (~over & (v8s)x));
    const v8f shifted = y * 0x1.715476p+0f + magic, k = shifted - magic;
    const v8f r = (y - k * 0x1.62e4p-1f) - k * 0x1.7f7d1cp-20f, r2 = r * r;
    const v8f p23 = r * 0x1.555492p-3f + 0x1.fffffcp-2f;
    const v8f p45 = r * 0x1.1239e2p-7f + 0x1.5558f2p-5f;
    const v8f p = ((r2 * 0x1.6a2434p-10f + p45) * r2 + p23) * r2 + r + 1.0f;
    return (v8f)((v8s)(p * (v8f)((v8u)shifted << 23)) & ~(x < zero + LOW));
}

/* ---- a term ------------------------------------------------------------------------- */

/* e = exp(score + source - right) but 0 at `gold`, for NV vectors from column col on; returns sums. */
TRL_INLINE v8f exponentials(const size_t NV, size_t col, const float *score, const float *source,
                            float right, uint32_t gold, v8f *e)
{
    static const v8u lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    v8f sum = {0};
    for (size_t i = 0; i < NV; i++) {
        const size_t c = col + 8 * i;
        const v8f x = (*(const v8f *)(score + c) + *(const v8f *)(source + c)) - right;
        e[i] = (v8f)((v8s)exp8(x) & (lanes + (uint32_t)c != gold));
        sum += e[i];
    }
    return sum;
}

/* The adjoints of those vectors: -by e, `top` at gold. */
TRL_INLINE void spread(const size_t NV, size_t col, float by, float top, uint32_t gold, bool first,
                       const v8f *e, float *adjoint, float *sums)
{
    static const v8u lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    const v8f tops = (v8f){0} + top;
    for (size_t i = 0; i < NV; i++) {
        const size_t c = col + 8 * i;
        const v8f d = (v8f)((v8s)(tops) & (lanes + (uint32_t)c == gold)) - by * e[i];
        *(v8f *)(sums + c) += d;
        if (first)
            *(v8f *)(adjoint + c) = d;
        else
            *(v8f *)(adjoint + c) += d;
    }
}

/* NV = step / 8 when that is at most 8, else 0: then exponentials are made twice. */
TRL_INLINE float term(const size_t NV, const trl_token_terms *k, size_t i, size_t source, uint32_t gold,
                      bool first)
{
    const size_t step = NV ? 8 * NV : k->step;
    const float *score = k->score + i * step, *row = k->source + source * step;
    float *adjoint = k->adjoint + i * step, *sums = k->sums + source * step;
    const float right = gold == TRL_TOKEN_NOTA ? 0.0f : score[gold] + row[gold];
    v8f e[8], sum = {0};
    if (NV)
        sum = exponentials(NV, 0, score, row, right, gold, e);
    for (size_t c = 0; !NV && c < step; c += 8)
        sum += exponentials(1, c, score, row, right, gold, e);
    float S = sum8(sum);
    if (k->nota && gold != TRL_TOKEN_NOTA)
        S += exp8((v8f){0} - right)[0];
    if (!(S < (float)TRL_TOKEN_MAX))
        return S;
    const float weight = k->weight ? k->weight[i] : 1.0f, by = weight / (1.0f + S), top = by * S;
    if (NV)
        spread(NV, 0, by, top, gold, first, e, adjoint, sums);
    for (size_t c = 0; !NV && c < step; c += 8) {
        exponentials(1, c, score, row, right, gold, e);
        spread(1, c, by, top, gold, first, e, adjoint, sums);
    }
    return S;
}

TRL_INLINE void terms(const size_t NV, const trl_token_terms *k)
{
    for (size_t i = 0; i < k->n; i++)
        k->S[i] = term(NV, k, i, k->which[i], k->gold[i], true);
}

TRL_CLONES void trl_token_first(const trl_token_terms *k)
{
    switch (k->step / 8) {
    case 1: terms(1, k); break;
    case 2: terms(2, k); break;
    case 3: terms(3, k); break;
    case 4: terms(4, k); break;
    case 5: terms(5, k); break;
    case 6: terms(6, k); break;
    case 7: terms(7, k); break;
    case 8: terms(8, k); break;
    default: terms(0, k); break;
    }
}

TRL_CLONES float trl_token_more(const trl_token_terms *k, size_t i, size_t source)
{
    switch (k->step / 8) {
    case 3: return term(3, k, i, source, TRL_TOKEN_NOTA, false);
    case 6: return term(6, k, i, source, TRL_TOKEN_NOTA, false);
    default: return term(0, k, i, source, TRL_TOKEN_NOTA, false);
    }
}
