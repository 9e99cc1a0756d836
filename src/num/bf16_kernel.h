/* bf16_kernel.h -- vectors of bfloat16 numbers: the upper half of a float.
 *
 * A bfloat16 number has a float's range and eight bits of precision (a relative error of at most
 * 2^-9), in two bytes. L-BFGS stores the directions of earlier steps this way: there the cost is
 * the number of bytes a sweep moves. Arithmetic is in single precision; callers add the sums of
 * blocks in double.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BF16_KERNEL_H
#define TRL_BF16_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define TRL_BF16_BLOCK 1024 /* most numbers per call: longer sums would lose digits */

typedef uint16_t trl_bf16;

static inline float trl_bf16_float(trl_bf16 b)
{
    union {
        uint32_t bits;
        float value;
    } u = {.bits = (uint32_t)b << 16};
    return u.value;
}

/* To nearest, ties to even; infinities and NaNs stay what they are. */
static inline trl_bf16 trl_bf16_of(float x)
{
    union {
        float value;
        uint32_t bits;
    } u = {.value = x};
    if (x != x)
        return (trl_bf16)(u.bits >> 16 | 0x40);
    return (trl_bf16)((u.bits + 0x7fff + (u.bits >> 16 & 1)) >> 16);
}

/* b = a - c, rounded, and y = b. */
void trl_bf16_difference(size_t n, const double *a, const double *c, trl_bf16 *b, float *y);

/* y = b. */
void trl_bf16_widen(size_t n, const trl_bf16 *b, float *y);

/* sum[0..2] += b.s, b.y, b.v and sum[3..5] += c.s, c.y, c.v; n at most TRL_BF16_BLOCK. */
void trl_bf16_dots(size_t n, const trl_bf16 *b, const trl_bf16 *c, const float *s, const float *y,
                   const float *v, double sum[6]);

/* d += p b + q c. */
void trl_bf16_add(size_t n, float p, const trl_bf16 *b, float q, const trl_bf16 *c, float *d);

/* b = d, rounded, and out = x + b, unless x is NULL. */
void trl_bf16_round(size_t n, const float *d, const double *x, trl_bf16 *b, double *out);

/* out = x + a b. */
void trl_bf16_step(size_t n, const double *x, double a, const trl_bf16 *b, double *out);

/* x . b */
double trl_bf16_dot(size_t n, const double *x, const trl_bf16 *b);

#endif
