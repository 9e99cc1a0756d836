/* graph_undump.h -- a dump of a graph model (graph_dump.c) back into a model file. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_UNDUMP_H
#define TRL_GRAPH_UNDUMP_H

#include "text/input.h"

/* Reads `in`, which is freed here, and replaces the file at `path`; to memory when `path` is NULL
 * (*out, *size; release with trl_free).  TRL_EPARSE with the place, TRL_EIO, TRL_ENOMEM. */
trl_status trl_graph_undump(trl_input *in, const char *path, unsigned char **out, size_t *size,
                            trl_error *err);

#endif
