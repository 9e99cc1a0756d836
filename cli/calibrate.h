/* calibrate.h -- a temperature for a model that is there. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_CALIBRATE_H
#define CLI_CALIBRATE_H

#include "trellis/calibrate.h"

/* Fits a temperature and writes the model with it to `to`, which may be its own file; says what it
 * found unless quiet.  False: said. */
bool calibrate_model(const trl_model *m, const trl_held_out *data, const char *to, bool quiet);

/* The same of a parser's probabilities of constituents, on trees. */
bool calibrate_parser(const trl_model *m, const char *trees, const char *to, bool quiet);

#endif
