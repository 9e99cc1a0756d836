/* vexp.h -- exp and log over arrays, about as accurate as the C library's and much faster.
 *
 * exp: |error| < 2 ulp for x in [-708, 709]; below -708 (and for -inf) the result is 0, above
 * 709 it is +inf; NaN stays NaN.  test_vexp holds the bounds.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_VEXP_H
#define TRL_VEXP_H

#include "num/simd.h"

/* y[i] = exp(x[i] - shift) for i < n.  x and y may be the same array. */
void trl_vexp(size_t n, const double *x, double shift, double *y);

/* y[i] = x[i]^p for i < n and x[i] >= 0, 0 < p <= 1: relative error below 2e-13; 0 stays 0.  x and
 * y may be the same array. */
void trl_vpow(size_t n, const double *x, double p, double *y);

/* One row: y[i] = exp(x[i] - max x) for i < n and 0 for n <= i < padded(n), which both rows
 * must have room for (x's padding is read and ignored); n > 0.  Returns max x and puts min x
 * into *min.  A NaN or +inf in x makes some y NaN; all -inf makes every y NaN. */
double trl_exp_row(size_t n, const double *x, double *y, double *min);

/* y[i] = exp(x[i] - shift) for i < n, as trl_vexp; returns their sum, eight lanes at a time. */
double trl_vexp_sum(size_t n, const double *x, double shift, double *y);

/* The largest of n numbers, NaN left out; -inf of none. */
double trl_vmax(size_t n, const double *x);

/* log sum_i exp(x[i]); -inf for n = 0 or when all are -inf. */
double trl_logsumexp(size_t n, const double *x);

/* mask ? a : b, lane by lane; the comparison must be written in the call itself, or gcc 12 splits
 * the mask into scalars. */
TRL_INLINE trl_v8 trl_v8_select(trl_v8i mask, trl_v8 a, trl_v8 b)
{
    return (trl_v8)((mask & (trl_v8i)a) | (~mask & (trl_v8i)b));
}

/* The kernel itself, for inlining into others: eight lanes. */
TRL_INLINE void trl_v8_exp(trl_v8 *x)
{
    /* exp(x) = 2^k exp(r), k = round(x / ln 2), |r| <= ln 2 / 2: Cody-Waite in two steps, then
     * a polynomial of degree 11 (minimax with c0 = c1 = 1, relative error 2^-56 on that range,
     * coefficients rounded), its terms paired to shorten the chain.  r and 1 are added last: the
     * error stays below 1 ulp, where (1 + r) + ... reaches 1.7. */
    const trl_v8 v = *x, zero = {0};
    const trl_v8 not_low = trl_v8_select(v >= -708.0, v, zero - 708.0); /* also for NaN */
    const trl_v8 safe = trl_v8_select(not_low > 709.0, zero + 709.0, not_low);
    const trl_v8 magic = zero + 0x1.8p52; /* adding it rounds to an integer in the low bits */
    const trl_v8 kd = safe * 0x1.71547652b82fep+0 + magic;
    const trl_v8 k = kd - magic;
    const trl_v8 r = (safe - k * 0x1.62e42fefa0000p-1) - k * 0x1.cf79abc9e3b3ap-40;
    const trl_v8 r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    const trl_v8 p23 = r * 0x1.55555555554f9p-3 + 0x1.000000000000ap-1;
    const trl_v8 p45 = r * 0x1.1111111127d0ep-7 + 0x1.555555555083ep-5;
    const trl_v8 p67 = r * 0x1.a01a012a0f351p-13 + 0x1.6c16c18438b08p-10;
    const trl_v8 p89 = r * 0x1.71df25b3100a2p-19 + 0x1.a01999e2633fdp-16;
    const trl_v8 pab = r * 0x1.ad7f3ee016e7dp-26 + 0x1.28ad9b8551757p-22;
    const trl_v8 p = (p23 * r2 + ((pab * r2 + p89) * r8 + (p67 * r2 + p45) * r4)) + r + 1.0;
    trl_v8 y = (trl_v8)((trl_v8i)p + ((trl_v8i)kd << 52)); /* k is in kd's low bits */
    y = trl_v8_select(v < -708.0, zero, y);
    y = trl_v8_select(v > 709.0, zero + __builtin_inf(), y);
    *x = trl_v8_select(v != v, v, y);
}

/* log of eight positive numbers, error below 2 ulp; 0 gives a finite number far below all logs. */
TRL_INLINE void trl_v8_log(trl_v8 *x)
{
    /* x = 2^k m, sqrt(1/2) <= m < sqrt(2); log m = 2 artanh s, s = (m - 1) / (m + 1), by its series
     * in s^2 <= 0.0295: ten terms leave less than 2^-56. */
    const trl_v8 zero = {0}, v = *x;
    const trl_v8 safe = trl_v8_select(v < 0x1p-1022, v * 0x1p54, v); /* subnormal numbers */
    const trl_v8 less = trl_v8_select(v < 0x1p-1022, zero + 54.0, zero);
    const trl_v8i bits = (trl_v8i)safe - 0x3fe6a09e667f3bcd; /* sqrt(1/2) becomes 0 */
    const trl_v8i exponent = bits >> 52;
    const trl_v8 m = (trl_v8)((trl_v8i)safe - (exponent << 52));
    const trl_v8 k = (trl_v8)(exponent + 0x4338000000000000) - 0x1.8p52 - less;
    const trl_v8 f = m - 1.0, s = f / (f + 2.0), z = s * s;
    trl_v8 p = z * (2.0 / 21.0) + 2.0 / 19.0;
    p = p * z + 2.0 / 17.0;
    p = p * z + 2.0 / 15.0;
    p = p * z + 2.0 / 13.0;
    p = p * z + 2.0 / 11.0;
    p = p * z + 2.0 / 9.0;
    p = p * z + 2.0 / 7.0;
    p = p * z + 2.0 / 5.0;
    p = p * z + 2.0 / 3.0;
    const trl_v8 half = f * f * 0.5; /* log m = f - (f^2 / 2 - s (f^2 / 2 + z p)) */
    *x = k * 0x1.62e42fefa0000p-1 + (f - (half - (s * (half + z * p) + k * 0x1.cf79abc9e3b3ap-40)));
}

#endif
