/* train_options.h -- what trl_train asks of its options before it looks at any of them. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TRAIN_OPTIONS_H
#define TRL_TRAIN_OPTIONS_H

#include "trellis/train.h"

/* A copy in which members that the program's headers do not have stand at their defaults.
 * TRL_EINVAL: all zero, or larger than what this library knows. */
trl_status trl_train_options_take(const trl_train_options *o, trl_train_options *out,
                                  trl_error *err);

/* TRL_EINVAL for an option that is set and that models of this kind do not have. */
trl_status trl_train_options_check_kind(const trl_train_options *o, trl_kind kind, trl_error *err);

#endif
