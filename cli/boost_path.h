/* boost_path.h -- regularisation paths of 'trellis boost': as they grow, as tables, as records. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_BOOST_PATH_H
#define CLI_BOOST_PATH_H

#include "options.h"
#include "progress.h"
#include "trellis/boost.h"

/* A trl_boost_progress_fn; ctx: a progress. */
bool boost_path_show(void *ctx, const trl_boost_progress *now);

void boost_path_summary(const trl_boost_model *m, const char *path);

/* One row for each point of classifier k, with the names of the columns first if `head`. */
void boost_path_table(const trl_boost_model *m, size_t k, bool head, text *out);

/* Writes a record as 'trellis train --json' does; its curve is the path of the first classifier,
 * those of all are in "paths".  False: said. */
bool boost_path_record(const trl_boost_model *m, const trl_boost_data *d, const verb *v,
                       const void *settings, const char *path);

#endif
