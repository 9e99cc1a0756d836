/* train_chain.h -- training of chains. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TRAIN_CHAIN_H
#define TRL_TRAIN_CHAIN_H

#include "trellis/train.h"

/* As trl_train; *result is cleared. */
trl_status trl_train_chain(const trl_train_options *o, trl_train_result *result, trl_error *err);

#endif
