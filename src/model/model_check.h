/* model_check.h -- private to src/model: checks that look at every number of a section. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_MODEL_CHECK_H
#define TRL_MODEL_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool trl_all_finite(const float *x, size_t n);

/* Of n numbers of 1, 2 or 4 bytes; 0 of none. */
uint32_t trl_largest_cell(const void *cells, size_t size, size_t n);

/* Are n numbers all below `limit`? */
bool trl_all_below(const uint32_t *x, size_t n, uint32_t limit);

#endif
