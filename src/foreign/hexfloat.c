/* hexfloat.c -- hexadecimal to double: exact, so there is nothing to round but denormals. */
/* SPDX-License-Identifier: MIT */
#include "foreign/hexfloat.h"

#include <math.h>
#include <stdint.h>

#include "text/number.h"

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* [+-] digits, up to the end. */
static bool scan_exponent(const char *p, const char *end, int *e)
{
    const bool minus = p < end && *p == '-';
    int v = 0;
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end)
        return false;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9')
            return false;
        v = v < 100000 ? v * 10 + (*p - '0') : v;
    }
    *e = minus ? -v : v;
    return true;
}

bool trl_hexfloat_parse(const char *p, size_t n, double *out)
{
    const char *const whole = p, *const end = p + n;
    const bool minus = p < end && *p == '-';
    uint64_t w = 0;
    int scale = 0, e, digits = 0;
    bool point = false;
    p += minus;
    if (end - p < 2 || p[0] != '0' || (p[1] != 'x' && p[1] != 'X'))
        return trl_number_parse(whole, n, out) == TRL_NUMBER_OK;
    for (p += 2; p < end && *p != 'p' && *p != 'P'; p++) {
        const int d = digit(*p);
        if (d < 0 && !((*p == '.' || *p == ',') && !point))
            return false;
        point |= d < 0;
        if (d < 0)
            continue;
        digits++;
        if (w >> 60 && d != 0)
            return false;
        scale += w >> 60 ? (point ? 0 : 4) : (point ? -4 : 0);
        w = w >> 60 ? w : w << 4 | (uint64_t)d;
    }
    if (digits == 0 || p == end || !scan_exponent(p + 1, end, &e))
        return false;
    const double x = ldexp((double)w, scale + e);
    if (!isfinite(x))
        return false;
    *out = minus ? -x : x;
    return true;
}
