/* stats.h -- the distributions that tests of difference need.
 *
 * All functions are pure.  Relative accuracy: 1e-13 for small parameters; prefactors are
 * exponentials of log-gamma differences, so for parameters near N about 1e-15 N log N is lost.
 * test_stats holds 1e-12 up to parameters of 30 and 1e-9 up to 1e5.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_STATS_H
#define TRL_STATS_H

#include <stdint.h>

/* log Gamma(x), x > 0. */
double trl_log_gamma(double x);

/* The regularised incomplete beta function I_x(a, b), a, b > 0, 0 <= x <= 1;
 * y = 1 - x, given so that neither loses digits. */
double trl_beta_inc(double a, double b, double x, double y);

/* The regularised upper incomplete gamma function Q(a, x), a > 0, x >= 0. */
double trl_gamma_inc(double a, double x);

/* P(N <= z) for a standard normal N, also far in the tails. */

/* P(|N| >= |z|). */
double trl_normal_two_sided(double z);

/* P(|T| >= |t|) for Student's t with df > 0 degrees of freedom. */
double trl_t_two_sided(double t, double df);

/* P(X >= x) for a chi-square X with df > 0 degrees of freedom. */
double trl_chi2_upper(double x, double df);

/* P(K <= k) for the number K of heads in n throws of a fair coin. */
double trl_coin_lower(uint64_t k, uint64_t n);

#endif
