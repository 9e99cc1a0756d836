/* train_search.h -- training of boosted parsers. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TRAIN_SEARCH_H
#define TRL_TRAIN_SEARCH_H

#include "trellis/train.h"

/* As trl_train for trees of the grade "boosted"; *result is cleared. */
trl_status trl_train_search(const trl_train_options *o, trl_train_result *result, trl_error *err);

#endif
