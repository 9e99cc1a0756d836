/* token_kernel.c -- softmax over the labels of single tokens, in floats. */
/* SPDX-License-Identifier: MIT */
#include "chain/token_kernel.h"

#include <math.h>

#include "num/vexp.h"

typedef float v8f __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t v8u __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t v8s __attribute__((vector_size(32), aligned(4), may_alias));
typedef float v4f __attribute__((vector_size(16), aligned(4), may_alias));

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

/* ---- terms ----------------------------------------------------------------------------------- */

/* out = exp(score + source - right); returns the sum.  NV = step / 8, or 0: step says. */
TRL_INLINE float exponentials(const size_t NV, size_t step, const float *score, const float *source,
                              float right, float *out)
{
    v8f sum[2] = {{0}, {0}};
    for (size_t i = 0; i < (NV ? NV : step / 8); i++) {
        const v8f x = (*(const v8f *)(score + 8 * i) + *(const v8f *)(source + 8 * i)) - right;
        const v8f e = exp8(x);
        *(v8f *)(out + 8 * i) = e;
        sum[i % 2] += e;
    }
    return sum8(sum[0] + sum[1]);
}

/* adjoint = -by e, or that much more; the sums get it, too. */
TRL_INLINE void spread(size_t step, float by, const float *e, bool first, float *adjoint,
                       float *sums)
{
    for (size_t c = 0; c < step; c += 8) {
        const v8f d = *(const v8f *)(e + c) * -by;
        *(v8f *)(sums + c) += d;
        if (first)
            *(v8f *)(adjoint + c) = d;
        else
            *(v8f *)(adjoint + c) += d;
    }
}

TRL_INLINE float weight_of(const trl_token_terms *k, size_t i)
{
    return k->weight ? k->weight[i] : 1.0f;
}

/* Step by step for all tokens: a token's own next step would be waited for. */
TRL_INLINE void first_terms(const size_t NV, const trl_token_terms *k)
{
    const size_t step = NV ? 8 * NV : k->step;
    for (size_t i = 0; i < k->n; i++) {
        k->held[i] = k->score[i * step + k->gold[i]];
        k->right[i] = k->held[i] + k->source[k->which[i] * step + k->gold[i]];
    }
    for (size_t i = 0; i < k->n; i++) /* what is right does not count */
        k->score[i * step + k->gold[i]] = TRL_TOKEN_PAD;
    for (size_t i = 0; i < k->n; i++)
        k->S[i] = exponentials(NV, step, k->score + i * step, k->source + k->which[i] * step,
                               k->right[i], k->adjoint + i * step);
    for (size_t i = 0; i < k->n; i++)
        k->score[i * step + k->gold[i]] = k->held[i];
    for (size_t i = 0; k->nota && i < k->n; i += 8)
        *(v8f *)(k->S + i) += exp8(-*(const v8f *)(k->right + i));
    for (size_t i = 0; i < k->n; i++)
        if (k->S[i] < (float)TRL_TOKEN_MAX)
            spread(step, weight_of(k, i) / (1.0f + k->S[i]), k->adjoint + i * step, true,
                   k->adjoint + i * step, k->sums + k->which[i] * step);
    for (size_t i = 0; i < k->n; i++)
        if (k->S[i] < (float)TRL_TOKEN_MAX) {
            const float top = weight_of(k, i) * (k->S[i] / (1.0f + k->S[i]));
            k->adjoint[i * step + k->gold[i]] = top;
            k->sums[k->which[i] * step + k->gold[i]] += top;
        }
}

TRL_CLONES void trl_token_first(const trl_token_terms *k)
{
    switch (k->step / 8) {
    case 1:
        first_terms(1, k);
        break;
    case 2:
        first_terms(2, k);
        break;
    case 3:
        first_terms(3, k);
        break;
    case 4:
        first_terms(4, k);
        break;
    case 5:
        first_terms(5, k);
        break;
    case 6:
        first_terms(6, k);
        break;
    case 7:
        first_terms(7, k);
        break;
    case 8:
        first_terms(8, k);
        break;
    default:
        first_terms(0, k);
        break;
    }
}

TRL_INLINE void more_terms(const size_t NV, const trl_token_terms *k, size_t m,
                           const uint32_t *token, const uint32_t *source, float *e, float *S)
{
    const size_t step = NV ? 8 * NV : k->step;
    for (size_t i = 0; i < m; i++)
        S[i] = exponentials(NV, step, k->score + token[i] * step, k->source + source[i] * step,
                            0.0f, e + i * step);
    for (size_t i = 0; i < m; i++)
        if (S[i] < (float)TRL_TOKEN_MAX)
            spread(step, weight_of(k, token[i]) / (1.0f + S[i]), e + i * step, false,
                   k->adjoint + token[i] * step, k->sums + source[i] * step);
}

TRL_CLONES void trl_token_more(const trl_token_terms *k, size_t m, const uint32_t *token,
                               const uint32_t *source, float *e, float *S)
{
    switch (k->step / 8) {
    case 1:
        more_terms(1, k, m, token, source, e, S);
        break;
    case 3:
        more_terms(3, k, m, token, source, e, S);
        break;
    case 6:
        more_terms(6, k, m, token, source, e, S);
        break;
    default:
        more_terms(0, k, m, token, source, e, S);
        break;
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

#define FACTORS 64 /* eight to a lane: 2^320 at most, and two lanes' product is safe */

TRL_CLONES double trl_token_logs(size_t n, const float *S)
{
    double sum = 0.0;
    for (size_t from = 0; from < n; from += FACTORS) {
        trl_v8 product = (trl_v8){0} + 1.0;
        for (size_t i = from; i < n && i < from + FACTORS; i += 8) {
            trl_v8 f = __builtin_convertvector(*(const v8f *)(S + i), trl_v8);
            for (size_t k = 0; n - i < 8 && k < 8; k++)
                f[k] = i + k < n ? f[k] : 0.0;
            product *= 1.0 + trl_v8_select(f < TRL_TOKEN_MAX, f, (trl_v8){0});
        }
        for (size_t k = 0; k < 4; k++)
            sum += log(product[k] * product[k + 4]);
    }
    return sum;
}
