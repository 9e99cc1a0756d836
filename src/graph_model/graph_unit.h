/* graph_unit.h -- the tokens that one graph is made of: a sentence, or a document of several. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_UNIT_H
#define TRL_GRAPH_UNIT_H

#include "base/buf.h"
#include "trellis/sequence.h"

/* Copies of what was added.  Zero-initialise; release with _fini. */
typedef struct trl_graph_unit {
    size_t n_tokens, n_columns, n_sentences;
    trl_str *cell;      /* [n_tokens][n_columns] */
    size_t *first;      /* [n_sentences + 1] tokens */
    uint32_t *sentence; /* [n_tokens] */
    uint64_t *row;      /* [n_tokens] its line; 0: not known */
    uint32_t *col;      /* [n_tokens][n_columns] where cells start in it; 0: not known */
    size_t *attr_begin; /* [n_tokens + 1] */
    trl_attr *attr;     /* attributes of the data, if they have any */
    char *path;         /* for messages; NULL: none */
    double weight;      /* how often it counts */

    trl_buf bytes; /* cells and names */
    size_t cell_cap, first_cap, sentence_cap, row_cap, col_cap, begin_cap, attr_cap;
} trl_graph_unit;

/* Forgets all sentences, keeps the memory. */
void trl_graph_unit_clear(trl_graph_unit *u);
void trl_graph_unit_fini(trl_graph_unit *u);

/* Adds a sentence of columns.  TRL_EPARSE (with the place): not as many columns as before;
 * TRL_ENOMEM; after that the unit is only good for clear or fini. */
trl_status trl_graph_unit_add(trl_graph_unit *u, const trl_rows *seq, trl_error *err);

/* The attributes of the last sentence's token t (in order, one call each, before the next
 * sentence). TRL_ENOMEM. */
trl_status trl_graph_unit_attributes(trl_graph_unit *u, size_t t, const trl_attr *attr, size_t n,
                                     trl_error *err);

/* Makes the pointers: call it after the last sentence. */
void trl_graph_unit_close(trl_graph_unit *u);

/* Sentence k as rows. */
trl_rows trl_graph_unit_rows(const trl_graph_unit *u, size_t k);

/* Fills in the place of a token, or of its cell `column`. */
trl_status trl_graph_unit_where(const trl_graph_unit *u, trl_status st, size_t token,
                                trl_error *err);
trl_status trl_graph_unit_where_cell(const trl_graph_unit *u, trl_status st, size_t token,
                                     size_t column, trl_error *err);

#endif
