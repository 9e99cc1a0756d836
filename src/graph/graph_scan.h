/* graph_scan.h -- words and numbers of graph files, wherever the lines break. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_SCAN_H
#define TRL_GRAPH_SCAN_H

#include "graph/graph.h"
#include "text/input.h"

typedef struct trl_graph_scan {
    trl_input *in; /* borrowed */
    bool comments; /* '#' hides the rest of its line */
    trl_str line, word;
    size_t at;         /* in the line */
    uint64_t row, col; /* of the word; after the end: of the last one */
} trl_graph_scan;

/* The next word; *more is false at the end of the input. */
trl_status trl_scan_word(trl_graph_scan *s, bool *more, trl_error *err);

/* The next word, which must be a whole number of at most `max`, or a finite number of at least 0.
 * `what` says what was expected.  TRL_EPARSE with its place. */
trl_status trl_scan_count(trl_graph_scan *s, const char *what, uint64_t max, uint64_t *out,
                          trl_error *err);
trl_status trl_scan_potential(trl_graph_scan *s, double *theta, trl_error *err); /* its log */

/* TRL_EPARSE when there is more input. */
trl_status trl_scan_end(trl_graph_scan *s, trl_error *err);

/* Puts the place of the last word into err; returns err's code, or `code`. */
trl_status trl_scan_fail(const trl_graph_scan *s, trl_status code, trl_error *err);

/* Appends exp(theta) so that its log, read again, is theta wherever a double has that log, with as
 * few of 10, 15 or 17 digits as that takes.  False: exp(theta) is not a double, or is 0 although
 * theta is finite. */
bool trl_scan_print(double theta, trl_buf *out);

/* The two formats: graph_fg.c, graph_uai.c.  Writers only append; out->failed is the caller's to
 * check. */
trl_status trl_fg_read(trl_graph_scan *s, size_t max_cells, trl_graph *g, trl_error *err);
trl_status trl_uai_read(trl_graph_scan *s, size_t max_cells, trl_graph *g, trl_error *err);
trl_status trl_fg_write(const trl_graph *g, trl_buf *out, trl_error *err);
trl_status trl_uai_write(const trl_graph *g, trl_buf *out, trl_error *err);

#endif
