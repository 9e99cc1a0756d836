/* number.c -- decimal to double, in three ways that all round correctly.
 *
 * A number is w 10^e with an integer w of `significant` digits.
 *
 *   1. w <= 2^53, |e| <= 22: both w and 10^|e| are doubles, so one multiplication or division
 *      rounds once [Cli90].
 *   2. w < 2^64 (19 digits), |e| <= 27: 5^27 < 2^63, so w 5^e or a 63-bit quotient of
 *      w / 5^-e with its remainder fits 128-bit integers.  This is what 17-digit printouts of
 *      doubles need.
 *   3. the rest, and 2 on machines without such integers: strtod, given digits and an exponent
 *      but no decimal point, which is all that a locale could change.
 *
 * [Cli90] Clinger. How to read floating point numbers accurately. PLDI 1990.
 */
/* SPDX-License-Identifier: MIT */
#include "text/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAST_DIGITS 19 /* 10^19 < 2^64 */
#define FAST_SCALE 27
/* No double and no midpoint of two has more than 768 significant digits: of the digits after those
 * it only matters whether all are zero. */
#define KEPT_DIGITS 800
#define MAX_EXPONENT 100000 /* further out everything is 0 or infinite */

typedef struct decimal {
    bool negative;
    const char *first, *end; /* the digits (and point) from the first non-zero one on */
    uint64_t w;              /* the first FAST_DIGITS significant digits */
    size_t significant;
    int64_t e; /* the number is (all its digits as an integer) 10^e */
} decimal;

/* ---- scanning -------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static const char *scan_digits(const char *p, const char *end, decimal *d)
{
    for (; p < end && is_digit(*p); p++) {
        if (d->significant == 0) {
            if (*p == '0')
                continue;
            d->first = p;
        }
        if (d->significant++ < FAST_DIGITS)
            d->w = d->w * 10 + (uint64_t)(*p - '0');
    }
    return p;
}

/* The exponent after 'e'; false when it is not one. Saturates far outside a double's range. */
static bool scan_exponent(const char *p, const char *end, int64_t *e)
{
    const bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end)
        return false;
    int64_t v = 0;
    for (; p < end; p++) {
        if (!is_digit(*p))
            return false;
        if (v < INT64_C(100000000000000000))
            v = v * 10 + (*p - '0');
    }
    *e = minus ? -v : v;
    return true;
}

static bool same_word(const char *p, size_t n, const char *lower)
{
    if (strlen(lower) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((p[i] | 0x20) != lower[i])
            return false;
    return true;
}

static trl_number scan_word(const char *p, size_t n)
{
    if (same_word(p, n, "inf") || same_word(p, n, "infinity") || same_word(p, n, "nan"))
        return TRL_NUMBER_NOT_FINITE;
    if (n >= 5 && same_word(p, 3, "nan") && p[3] == '(' && p[n - 1] == ')')
        return TRL_NUMBER_NOT_FINITE;
    return TRL_NUMBER_BAD;
}

static trl_number scan(const char *p, size_t n, decimal *d)
{
    const char *end = p + n;
    if (p < end && (*p == '-' || *p == '+'))
        d->negative = *p++ == '-';
    const char *mantissa = p;
    p = scan_digits(p, end, d);
    size_t digits = (size_t)(p - mantissa);
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = scan_digits(p, end, d);
        d->e = fraction - p;
        digits += (size_t)(p - fraction);
    }
    d->end = p;
    if (digits == 0)
        return scan_word(mantissa, (size_t)(end - mantissa));
    if (p == end)
        return TRL_NUMBER_OK;
    int64_t e = 0;
    if ((*p != 'e' && *p != 'E') || !scan_exponent(p + 1, end, &e))
        return TRL_NUMBER_BAD;
    d->e += e;
    return TRL_NUMBER_OK;
}

/* ---- rounding -------------------------------------------------------------------------------- */

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 u128;

/* Way 2. A u128 or uint64_t converts to double with one correct rounding, and ldexp is exact: the
 * result lies between 1e-27 and 2e46. */
static double scale_exact(uint64_t w, int e)
{
    uint64_t five = 1;
    for (int k = e < 0 ? -e : e; k > 0; k--)
        five *= 5;
    if (e >= 0)
        return ldexp((double)((u128)w * five), e);
    /* With a and b shifted to 64 bits, 2^62 < a 2^63 / b < 2^64: at least nine bits more than a
     * double holds, so the remainder may be merged into the last one. */
    const int za = __builtin_clzll(w), zb = __builtin_clzll(five);
    const u128 a = (u128)(w << za) << 63;
    const uint64_t b = five << zb;
    const uint64_t q = (uint64_t)(a / b);
    const bool rest = (u128)q * b != a;
    return ldexp((double)(q | rest), e - 63 - za + zb);
}
#endif

/* Way 3. */
static double scale_any(const decimal *d)
{
    char text[KEPT_DIGITS + 32];
    size_t n = 0;
    int64_t e = d->e;
    bool rest = false;
    for (const char *p = d->first; p < d->end; p++) {
        if (*p == '.')
            continue;
        if (n < KEPT_DIGITS) {
            text[n++] = *p;
        } else {
            rest |= *p != '0';
            e++;
        }
    }
    if (rest) {
        text[n++] = '1';
        e--;
    }
    e = e > MAX_EXPONENT ? MAX_EXPONENT : e < -MAX_EXPONENT ? -MAX_EXPONENT : e;
    snprintf(text + n, sizeof text - n, "e%d", (int)e);
    return strtod(text, NULL);
}

trl_number trl_number_parse(const char *p, size_t n, double *out)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    decimal d = {0};
    const trl_number result = scan(p, n, &d);
    if (result != TRL_NUMBER_OK)
        return result;
    const bool small = d.significant <= FAST_DIGITS;
    double v;
    if (d.significant == 0)
        v = 0.0;
    else if (small && d.w <= UINT64_C(1) << 53 && d.e >= -22 && d.e <= 22)
        v = d.e < 0 ? (double)d.w / ten[-d.e] : (double)d.w * ten[d.e];
#ifdef __SIZEOF_INT128__
    else if (small && d.e >= -FAST_SCALE && d.e <= FAST_SCALE)
        v = scale_exact(d.w, (int)d.e);
#endif
    else
        v = scale_any(&d);
    if (!(v <= 0x1.fffffffffffffp1023))
        return TRL_NUMBER_NOT_FINITE;
    *out = d.negative ? -v : v;
    return TRL_NUMBER_OK;
}
