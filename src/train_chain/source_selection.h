/* source_selection.h -- the sources that memm and piecewise-nota condition on, as a selection of
 * cells. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SOURCES_H
#define TRL_SOURCES_H

#include "chain/nota_instances.h"
#include "feature/select.h"

/* At every position the gold source, and those with an instance (nota NULL: none; not `all`, which
 * needs all cells).  Sources of pairs, in order 2, are the last labels of those of triples.
 * TRL_ENOMEM. */
trl_status trl_select_sources(trl_selection *s, const trl_design *d, const trl_corpus *corpus,
                              const trl_nota *nota, trl_error *err);

#endif
