/* token_kernel.h -- softmax over the labels of single tokens, in floats: the hot loop of the
 * locally normalised objectives where only nodes depend on the position.
 *
 * A *term* is one source at one token: outcomes j < n with scores x_j = score[j] + source[j], and
 * what is right, score x*: the gold label's own, or that of NOTA, which is 0.  With
 * S = sum of exp(x_j - x*) over all that is wrong, all in floats, and 1 + S in double,
 *
 *     log p = -log(1 + S),     d log p / d x_j = [j right] - exp(x_j - x*) / (1 + S)
 *
 * and the right one's is S / (1 + S): nearly certain outcomes lose no precision.  exp has an error
 * of some 2 ulp of a float; outcomes below exp(-50) of the right one count as 0, so that nothing is
 * denormal.  A term with S above 2^40, or not a number, is not computed: the caller computes it in
 * another way.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TOKEN_KERNEL_H
#define TRL_TOKEN_KERNEL_H

#include <stdbool.h>

#include "num/simd.h"

#define TRL_TOKEN_PAD -1e30f  /* in the pads of source rows */
#define TRL_TOKEN_MAX 0x1p+40 /* of S */

typedef struct trl_token_terms {
    size_t n, step;        /* tokens; floats from row to row, a multiple of 8 */
    float *score;          /* [n][step]; pads: finite */
    const float *source;   /* [sources][step]; pads TRL_TOKEN_PAD */
    float *sums;           /* [sources][step] += the adjoint, pads 0 */
    const uint32_t *which; /* [n] source */
    const uint32_t *gold;  /* [n] label */
    const float *weight;   /* [n]; NULL: all 1 */
    bool nota;             /* there is the outcome NOTA */
    float *adjoint;        /* [n][step], pads 0 */
    float *right, *held;   /* [padded(n)] scratch: x*, and its part from the score */
    float *S; /* [padded(n)]; where it is not below TRL_TOKEN_MAX (or NaN) the adjoint is
                 garbage, and nothing was added to the sums */
} trl_token_terms;

/* The gold source's term of each token; adjoints are overwritten. */
void trl_token_first(const trl_token_terms *k);

/* m more terms, of wrong sources, for which NOTA is right: source[i] of token[i] < n.  Added to the
 * adjoints, unless S[i], which is set, is not below TRL_TOKEN_MAX.  e: scratch, [m][step]. */
void trl_token_more(const trl_token_terms *k, size_t m, const uint32_t *token,
                    const uint32_t *source, float *e, float *S);

/* The sum of log(1 + S[i]), i < n, over those below TRL_TOKEN_MAX.  S has room for padded(n). */
double trl_token_logs(size_t n, const float *S);

#endif
