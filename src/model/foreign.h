/* foreign.h -- private: files that are not ours, and what they are instead. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FOREIGN_H
#define TRL_FOREIGN_H

#include <stddef.h>

#include "trellis/status.h"

#define TRL_MAGIC "TRELLIS\x1a" /* the first eight bytes of every container */

/* TRL_EMODEL: says that the n bytes are not a model and, where they are known, what they are. */
trl_status trl_not_a_model(const unsigned char *p, size_t n, trl_error *err);

#endif
