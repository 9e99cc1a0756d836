/* weighted_sampler.h -- drawing examples in proportion to weights that change all the time. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LOTTERY_H
#define TRL_LOTTERY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct trl_lottery {
    size_t  n;
    double *tree; /* [n + 1] Fenwick sums */
    double  sum;
} trl_lottery;

/* All weights are 0.  False when memory is short. */
bool trl_lottery_init(trl_lottery *s, size_t n);
void trl_lottery_fini(trl_lottery *s);
void trl_lottery_clear(trl_lottery *s);

/* Changes the weight of example i; O(log n). */
void trl_lottery_add(trl_lottery *s, size_t i, double by);

/* The example at which the running sum of weights passes u * sum, 0 <= u < 1; O(log n). */
size_t trl_lottery_find(const trl_lottery *s, double u);

#endif
