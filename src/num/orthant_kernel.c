/* orthant_kernel.c -- see orthant_kernel.h. */
/* SPDX-License-Identifier: MIT */
#include "num/orthant_kernel.h"

#include "num/simd.h"

/* a where the mask is set, else 0. */
TRL_INLINE trl_v8 where(trl_v8i mask, trl_v8 a)
{
    return (trl_v8)((trl_v8i)a & mask);
}

TRL_INLINE trl_v8 gradient8(trl_v8 c1, trl_v8 x, trl_v8 g)
{
    const trl_v8 up = g + c1, down = g - c1;
    const trl_v8i at0 = x == 0.0;
    return where((x > 0.0) | (at0 & (up < 0.0)), up) +
           where((x < 0.0) | (at0 & (down > 0.0)), down);
}

TRL_INLINE trl_v8 project8(trl_v8 x, trl_v8 v, trl_v8 to)
{
    const trl_v8i at0 = x == 0.0;
    const trl_v8 side = where(~at0, x) - where(at0, v);
    return where(~(to * side <= 0.0), to);
}

TRL_INLINE trl_v8 abs8(trl_v8 x)
{
    return (trl_v8)((trl_v8i)x & INT64_MAX);
}

/* The last n < 8 elements as a vector, with ones after them. */
TRL_INLINE trl_v8 load(const double *x, size_t n)
{
    trl_v8 out = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    for (size_t i = 0; i < n; i++)
        out[i] = x[i];
    return out;
}

TRL_INLINE void store(trl_v8 from, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = from[i];
}

/* c1 of eight elements, n of which are there. */
TRL_INLINE trl_v8 c1_of(double c1, const double *scale, size_t n)
{
    trl_v8 out = {0};
    out += c1;
    if (scale && n >= 8)
        out /= *(const trl_v8 *)scale;
    else if (scale)
        out /= load(scale, n);
    return out;
}

TRL_CLONES void trl_orthant_gradient(size_t n, double c1, const double *scale, const double *x,
                                     const double *g, double *v)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        *(trl_v8 *)(v + i) = gradient8(c1_of(c1, scale ? scale + i : NULL, 8),
                                       *(const trl_v8 *)(x + i), *(const trl_v8 *)(g + i));
    const trl_v8 most = c1_of(c1, scale ? scale + i : NULL, n - i);
    store(gradient8(most, load(x + i, n - i), load(g + i, n - i)), n - i, v + i);
}

TRL_CLONES void trl_orthant_project(size_t n, const double *x, const double *v, double *to)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        *(trl_v8 *)(to + i) =
            project8(*(const trl_v8 *)(x + i), *(const trl_v8 *)(v + i), *(const trl_v8 *)(to + i));
    store(project8(load(x + i, n - i), load(v + i, n - i), load(to + i, n - i)), n - i, to + i);
}

TRL_CLONES double trl_orthant_penalty(size_t n, double c1, const double *scale, const double *x)
{
    trl_v8 sum = {0};
    double rest = 0.0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        trl_v8 a = abs8(*(const trl_v8 *)(x + i));
        if (scale)
            a /= *(const trl_v8 *)(scale + i);
        sum += a;
    }
    for (; i < n; i++)
        rest += (x[i] < 0.0 ? -x[i] : x[i]) / (scale ? scale[i] : 1.0);
    return c1 * (trl_v8_sum(&sum) + rest);
}

TRL_CLONES double trl_orthant_slope(size_t n, const double *v, const double *x, const double *to)
{
    trl_v8 sum = {0};
    double rest = 0.0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        sum += *(const trl_v8 *)(v + i) * (*(const trl_v8 *)(to + i) - *(const trl_v8 *)(x + i));
    for (; i < n; i++)
        rest += v[i] * (to[i] - x[i]);
    return trl_v8_sum(&sum) + rest;
}
