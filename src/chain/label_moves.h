/* label_moves.h -- private: where the labels lead from a state of a product of automata.
 *
 * From most states most labels lead to one and the same state: those that the automata do not speak
 * of.  That state is the `main` one; the labels that lead elsewhere, or nowhere, are listed apart.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LABEL_MOVES_H
#define TRL_LABEL_MOVES_H

#include "chain/label_lattice.h"

typedef struct trl_state_moves {
    bool known;            /* all that follows but n_in */
    uint32_t to;           /* the main state; TRL_DEAD: no label leads anywhere */
    uint32_t n_away, n_no; /* labels apart: first those that lead elsewhere, then nowhere */
    uint32_t n_in;         /* labels that lead to this state from those that are known */
} trl_state_moves;

/* Kept from sequence to sequence, like the product; zero-initialise. */
typedef struct trl_label_moves {
    size_t n; /* states that there is room for */
    uint64_t round;
    trl_state_moves *of; /* [n] */
    uint16_t *apart;     /* [n][L] */
    uint16_t *in;        /* [n][L], in the order of their coming */
    uint32_t *count;     /* [n] zeros between calls */
    size_t of_cap, apart_cap, in_cap, count_cap;
} trl_label_moves;

void trl_label_moves_fini(trl_label_moves *m);

/* Makes the moves of q known.  Pointers into m and p->next last until the next call.  TRL_ENOMEM.
 */
trl_status trl_label_moves_of(trl_label_moves *m, trl_product *p, const trl_constraint *c,
                              uint32_t q, trl_error *err);

#endif
