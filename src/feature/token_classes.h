/* token_classes.h -- private: sorting things into classes by what they have in common.
 *
 * Things have one attribute, or none, in each of some slots.  A class is made of those that are
 * equal in the slots *taken*; the cost of these is then paid once per class instead of once per
 * thing.  One slot, the key, is chosen on a sample as the one that determines most of the others;
 * then every slot that lowers the cost is added.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TOKEN_GROUPS_CLASSES_H
#define TRL_TOKEN_GROUPS_CLASSES_H

#include "feature/attribute_slots.h"

typedef struct trl_classes {
    size_t n, n_slots;
    uint32_t *at;             /* [n_slots][n] attribute + 1, or 0 */
    uint64_t cost[TRL_SLOTS]; /* of all things' attributes of the slot */
    uint64_t other;           /* of what no class can share */
    double cost_factor;       /* the cost of a slot per class, relative to its cost per thing */
    bool bad[TRL_SLOTS];      /* not to be taken */
    bool taken[TRL_SLOTS];    /* classes go by this slot */
    uint32_t *class;          /* [n] */
    size_t n_classes;
} trl_classes;

/* Sets taken, class and n_classes from the members before them.  *left: the part of the cost that
 * remains, 1 when nothing was taken.  False when memory ran out. */
bool trl_classes_make(trl_classes *x, double *left);

/* Frees `at` and `class`. */
void trl_classes_fini(trl_classes *x);

#endif
