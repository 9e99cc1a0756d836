/* stats.c -- incomplete beta and gamma functions, and what follows from them.
 *
 * [DLMF]  NIST Digital Library of Mathematical Functions, chapters 5 and 8.
 * [Len76] Lentz. Generating Bessel functions in Mie scattering calculations using continued
 *         fractions. Applied Optics 15(3), 1976; as modified by Thompson and Barnett, 1986.
 */
/* SPDX-License-Identifier: MIT */
#include "score/stats.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define MAX_TERMS 10000000 /* of a fraction or series; O(sqrt(largest parameter)) are needed */

static const double half_log_2pi = 0.91893853320467274178;
static const double sqrt_half = 0.70710678118654752440;

/* Stirling's series [DLMF 5.11.1] from 10 on, where eight terms leave less than 1e-16; below,
 * Gamma(x) = Gamma(x + k) / (x (x + 1) ... (x + k - 1)). */
double trl_log_gamma(double x)
{
    static const double c[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                               1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
    if (!(x > 0.0))
        return (double)NAN;
    double product = 1.0;
    for (; x < 10.0; x += 1.0)
        product *= x;
    const double r2 = 1.0 / (x * x);
    double sum = 0.0;
    for (int k = 7; k >= 0; k--)
        sum = sum * r2 + c[k];
    return (x - 0.5) * log(x) - x + half_log_2pi + sum / x - log(product);
}

/* ---- continued fractions b0 + a1 / (b1 + a2 / (b2 + ...)) [Len76] ---------------------------- */

typedef struct fraction {
    double value, C, D;
} fraction;

/* Lentz's rule for a denominator of 0: the next step undoes it. */
static double off_zero(double x)
{
    return x == 0.0 ? DBL_MIN : x;
}

static fraction fraction_start(double b0)
{
    const double f = off_zero(b0);
    return (fraction){f, f, 0.0};
}

/* Takes in the next a / (b + ...).  False: the value does not change any more. */
static bool fraction_step(fraction *f, double a, double b)
{
    f->D = 1.0 / off_zero(b + a * f->D);
    f->C = off_zero(b + a / f->C);
    f->value *= f->C * f->D;
    return fabs(f->C * f->D - 1.0) > DBL_EPSILON;
}

/* ---- incomplete beta and gamma --------------------------------------------------------------- */

/* [DLMF 8.17.22], fast for x < (a + 1) / (a + b + 2):
 *
 *     I_x(a, b) = x^a y^b / (a B(a, b)) / (1 + d1 / (1 + d2 / (1 + ...))),   y = 1 - x */
static double beta_fraction(double a, double b, double x, double y)
{
    const double log_x = y < 0.5 ? log1p(-y) : log(x), log_y = x < 0.5 ? log1p(-x) : log(y);
    const double front =
        exp(a * log_x + b * log_y + trl_log_gamma(a + b) - trl_log_gamma(a) - trl_log_gamma(b)) / a;
    fraction f = fraction_start(1.0);
    for (int k = 0; k < MAX_TERMS; k++) {
        const double m = k, at = a + 2.0 * m;
        fraction_step(&f, -(a + m) * (a + b + m) * x / (at * (at + 1.0)), 1.0);
        if (!fraction_step(&f, (m + 1.0) * (b - m - 1.0) * x / ((at + 1.0) * (at + 2.0)), 1.0))
            break;
    }
    return front / f.value;
}

double trl_beta_inc(double a, double b, double x, double y)
{
    if (x <= 0.0)
        return 0.0;
    if (y <= 0.0)
        return 1.0;
    return x * (a + b + 2.0) < a + 1.0 ? beta_fraction(a, b, x, y)
                                       : 1.0 - beta_fraction(b, a, y, x);
}

/* P(a, x) = x^a e^-x / Gamma(a + 1) (1 + x / (a + 1) + x^2 / ((a + 1)(a + 2)) + ...)
 * [DLMF 8.11.4], and Q by the fraction of [DLMF 8.9.2]. */
double trl_gamma_inc(double a, double x)
{
    if (x <= 0.0)
        return 1.0;
    if (isinf(x))
        return 0.0;
    const double front = exp(a * log(x) - x - trl_log_gamma(a));
    if (x < a + 1.0) {
        double term = 1.0 / a, sum = term;
        for (int k = 1; k < MAX_TERMS && term > sum * DBL_EPSILON; k++) {
            term *= x / (a + k);
            sum += term;
        }
        return 1.0 - front * sum;
    }
    fraction f = fraction_start(x + 1.0 - a);
    for (int k = 1; k < MAX_TERMS; k++)
        if (!fraction_step(&f, -k * (k - a), x + 1.0 - a + 2.0 * k))
            break;
    return front / f.value;
}

/* ---- distributions --------------------------------------------------------------------------- */

double trl_normal_two_sided(double z)
{
    return erfc(fabs(z) * sqrt_half);
}

double trl_t_two_sided(double t, double df)
{
    if (isinf(t))
        return 0.0;
    const double t2 = t * t;
    return trl_beta_inc(0.5 * df, 0.5, df / (df + t2), t2 / (df + t2));
}

double trl_chi2_upper(double x, double df)
{
    return trl_gamma_inc(0.5 * df, 0.5 * x);
}

/* P(K <= k) = I_{1/2}(n - k, k + 1) [DLMF 8.17.5]. */
double trl_coin_lower(uint64_t k, uint64_t n)
{
    return k >= n ? 1.0 : trl_beta_inc((double)(n - k), (double)k + 1.0, 0.5, 0.5);
}
