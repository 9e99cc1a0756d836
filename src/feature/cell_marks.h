/* cell_marks.h -- which cells of an attribute are features: those seen, or seen often enough.
 *
 * The frequency of a feature, an attribute (or none: label pairs alone) with a cell of labels, is
 * the sum of its values at the gold labels, each times the weight of its sequence: CRFsuite's
 * definition.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CELL_MARKS_H
#define TRL_CELL_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feature/corpus.h"

typedef struct trl_cell_marks {
    uint32_t *stamp; /* [width] equal to now: a feature */
    uint32_t now;
    double least;     /* the frequency of a feature; 0: any */
    double *weight;   /* [n_tokens] of its sequence; NULL with 0 */
    double *sum;      /* [width] of values; NULL with 0 */
    uint32_t *summed; /* [width] equal to now: sum is of this attribute */
} trl_cell_marks;

/* For `width` cells.  False when memory ran out; call fini even then. */
bool trl_cell_marks_init(trl_cell_marks *m, size_t width, const trl_corpus *c, double least);
void trl_cell_marks_fini(trl_cell_marks *m);

/* Forgets all marks: the next attribute. */
static inline void trl_cell_marks_next(trl_cell_marks *m)
{
    m->now++;
}

static inline bool trl_cell_marked(const trl_cell_marks *m, size_t cell)
{
    return m->stamp[cell] == m->now;
}

/* A token of a family of a corpus. */
typedef struct trl_marked_token {
    const trl_corpus *corpus;
    size_t family;
    size_t token;
} trl_marked_token;

/* Counts the gold cell of a token where the attribute has that value; where labels are notes, every
 * cell that they allow, soft ones by their probability, and none where nothing is known of a label.
 * Returns the change in the number of marked cells; it falls where values are negative. */
int trl_cell_mark_token(trl_cell_marks *m, const trl_marked_token *at, double value);

#endif
