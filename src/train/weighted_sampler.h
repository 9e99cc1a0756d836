/* weighted_sampler.h -- drawing examples in proportion to weights that change all the time. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_WEIGHTED_SAMPLER_H
#define TRL_WEIGHTED_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct trl_weighted_sampler {
    size_t n;
    double *tree; /* [n + 1] Fenwick sums */
    double sum;
} trl_weighted_sampler;

/* All weights are 0.  False when memory is short. */
bool trl_weighted_sampler_init(trl_weighted_sampler *s, size_t n);
void trl_weighted_sampler_fini(trl_weighted_sampler *s);
void trl_weighted_sampler_clear(trl_weighted_sampler *s);

/* Changes the weight of example i; O(log n). */
void trl_weighted_sampler_add(trl_weighted_sampler *s, size_t i, double by);

/* The example at which the running sum of weights passes u * sum, 0 <= u < 1; O(log n). */
size_t trl_weighted_sampler_find(const trl_weighted_sampler *s, double u);

#endif
