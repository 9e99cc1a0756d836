/* design_parts.h -- private to design.c and design_lists.c. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_DESIGN_PARTS_H
#define TRL_DESIGN_PARTS_H

#include "feature/cell_marks.h"
#include "feature/design.h"

#define TRL_DESIGN_SLACK 16 /* list elements that kernels may prefetch past the end */
#define TRL_DESIGN_DROPPED UINT32_MAX

/* A family while it is being compiled. */
typedef struct trl_design_draft {
    const trl_corpus *c;
    trl_occurrences *o;
    trl_family *f;
    size_t k;             /* family number */
    bool chain;           /* of a chain: all its lists are of entries */
    uint64_t *at;         /* [n_old + 1] into tokens: the transposed lists */
    uint32_t *token;      /* by attribute, ascending: the lower 32 bits */
    uint8_t *high;        /* parallel to token: the others; NULL: all 0 */
    double *value;        /* parallel to token; NULL: all 1 */
    uint32_t *live;       /* [n_old] number of live cells; 0: dropped */
    uint32_t *new_id;     /* [n_old], or DROPPED */
    trl_cell_marks marks; /* of the current attribute */
} trl_design_draft;

/* The token-major lists of the family, once its attributes have numbers and cells.  Occurrences
 * with the value 0 are in no list: they say which cells are features, and add nothing to scores.
 * The occurrences of the corpus have new ids from then on.  False: no memory. */
bool trl_design_token_lists(trl_design_draft *b);

/* The attribute-major lists, of family 0. */
bool trl_design_attribute_lists(trl_design_draft *b);

#endif
