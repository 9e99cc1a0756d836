/* graph_corpus.h -- labelled factor graphs whose factors are instances of templates.
 *
 * A template ties the weights of its instances: it is a family of the design, of its own width, and
 * its instances in an example are rows 0, 1, .. of that family, in the order of the factors.  The
 * true cells come from the true labels of the variables.  Tables of the graph that belong to
 * instances have no values: training gives them.  Factors without a template keep the graph's own
 * table: hard constraints, known scores.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_CORPUS_H
#define TRL_GRAPH_CORPUS_H

#include "feature/corpus.h"
#include "trellis/graph.h"

#define TRL_NO_TEMPLATE UINT32_MAX
#define TRL_ALONE UINT32_MAX /* a template that is in no piece */

typedef struct trl_graph_example {
    trl_graph *graph;
    uint32_t *family; /* [n_factors] template; TRL_NO_TEMPLATE: none */
    uint32_t *row;    /* [n_factors] which of its instances */
    uint32_t *gold;   /* [n_factors] true cells */
    uint32_t *y;      /* [n_variables] true labels */
    char *path;       /* where it begins, for messages; NULL: not from a file */
    uint64_t line;
} trl_graph_example;

typedef struct trl_graph_corpus {
    trl_corpus corpus; /* examples are its sequences */
    uint32_t
        piece[TRL_FAMILIES_MAX]; /* of piecewise training: that of each template (graph_pieces.h) */
    bool has_pieces;             /* else every factor is one */
    size_t n, cap;
    trl_graph_example *example; /* [n] */
    uint64_t all_cells;         /* templates (bits) with weights for all cells, not only for seen */
} trl_graph_corpus;

/* Templates with so many cells each.  TRL_EINVAL: none or more than TRL_FAMILIES_MAX; TRL_ENOMEM.
 * Constants: trl_corpus_set_constant. */
trl_status trl_graph_corpus_init(trl_graph_corpus *c, const size_t *width, size_t n,
                                 trl_error *err);
void trl_graph_corpus_fini(trl_graph_corpus *c);

/* An example to add; all but the graph is borrowed. */
typedef struct trl_graph_case {
    trl_graph *graph;       /* taken over, also when adding fails */
    const uint32_t *family; /* [n_factors] */
    const size_t *begin;    /* [n_factors + 1] into attr; factors without a template have none */
    const trl_attr *attr;
    const uint32_t *y; /* [n_variables] */
    double weight;
    const char *path; /* where it begins, for messages; may be NULL */
    uint64_t line;
} trl_graph_case;

/* TRL_EINVAL: an unknown template or label, a factor whose cells are not the template's, a table
 * without values and template, a table that instances of two templates or instances with attributes
 * share; TRL_ENOMEM.  After a failure the corpus is only good for fini. */
trl_status trl_graph_corpus_add(trl_graph_corpus *c, const trl_graph_case *x, trl_error *err);

#endif
