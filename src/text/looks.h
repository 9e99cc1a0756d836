/* looks.h -- what a field of a line looks like, to guess formats and to name mistakes. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LOOKS_H
#define TRL_LOOKS_H

#include "trellis/sequence.h"

/* NAME=VALUE, NAME[0]... or NAME:1, as attributes mostly are. */
bool trl_looks_like_attribute(trl_str field);

#endif
