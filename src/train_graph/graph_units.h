/* graph_units.h -- private: the units of a file or a data set, one after the other. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_UNITS_H
#define TRL_GRAPH_UNITS_H

#include "graph_model/graph_spec.h"
#include "graph_model/graph_unit.h"
#include "feature/sequence_source.h"

typedef struct trl_unit_source {
    trl_sequence_source from;
    bool document;
    bool alone;     /* data from memory without documents: every sequence is one */
    trl_rows ahead; /* the next sentence; borrowed from the reader */
    double weight;
    bool has_ahead, ended;
    size_t n_documents; /* lines that begin one */
} trl_unit_source;

/* Of a file, or, where `path` is NULL, a data set, as the model file says: columns, or labels and
 * attributes, which a data set has not (TRL_EINVAL).  Else as trl_reader_open. */
trl_status trl_unit_source_open(trl_unit_source *s, const char *path, const trl_dataset *set,
                                const trl_graph_spec *spec, trl_error *err);
void trl_unit_source_fini(trl_unit_source *s);

/* The next unit, closed; *more is false when there was none.  As trl_reader_rows and
 * trl_graph_unit_add. */
trl_status trl_unit_source_next(trl_unit_source *s, trl_graph_unit *u, bool *more, trl_error *err);

#endif
