/* weight_bits.h -- private to src/model: weights in 16 and 8 bits.
 *
 *     16   w ~ q u, q a signed number of 16 bits, u = max |w| / 32767: off by at most u / 2
 *     8    w ~ v[c], c the number of the nearest of 256 values: min w (k / 128)^1.5, k = 128 .. 1,
 * and max w (k / 127)^1.5, k = 0 .. 127; the values are in the file
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_WEIGHT_BITS_H
#define TRL_WEIGHT_BITS_H

#include <stddef.h>

#include "model/model_family.h"

/* The type that holds n weights of a family in at most so many bits, the values included, and takes
 * less room than floats do: TRL_WEIGHT_16, TRL_WEIGHT_8, or floats where there are few. */
trl_weight_type trl_weight_bits_type(int bits, size_t n);

/* Adds the n weights and what they stand for, as sections with the prefix.  TRL_ENOMEM. */
trl_status trl_weight_bits_save(const float *w, size_t n, trl_weight_type type, const char *prefix,
                                trl_container_builder *b, trl_error *err);

#endif
