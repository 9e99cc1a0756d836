/* places.h -- where the data of a run come from and where its model goes. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PLACES_H
#define TRL_PLACES_H

#include "trellis/train.h"

/* Data, dev data and the model are each a file or memory, and data and model are there.
 * TRL_EINVAL. */
trl_status trl_check_places(const trl_train_options *o, trl_error *err);

/* Can the file be written? Better to know before than after hours of training.  Only regular files
 * are opened early; NULL: nothing to do.  TRL_EIO, TRL_ENOMEM. */
trl_status trl_check_writable(const char *path, trl_error *err);

/* Does the run start from a model? */
static inline bool trl_train_starts(const trl_train_options *o)
{
    return o->init || o->init_model;
}

/* Is sequence k of the training data, from 0, left out? */
static inline bool trl_train_leaves_out(const trl_train_options *o, uint64_t k)
{
    return (o->hold_out && (k + 1) % o->hold_out == 0) ||
           (o->leave_out && k < o->n_leave_out && o->leave_out[k]);
}

#endif
