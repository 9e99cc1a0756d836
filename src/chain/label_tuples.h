/* label_tuples.h -- tuples of numbers, each kept once: states of automata that are made of others.
 *
 * A hash table with open addressing; tuples are numbered in the order of their coming.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LABEL_TUPLES_H
#define TRL_LABEL_TUPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct trl_tuples {
    size_t width, n;
    uint32_t *item; /* [n][width] */
    size_t item_cap;
    uint32_t *slot; /* [n_slots] numbers; UINT32_MAX: empty */
    size_t n_slots; /* a power of two, or 0 */
} trl_tuples;

void trl_tuples_init(trl_tuples *t, size_t width);
void trl_tuples_fini(trl_tuples *t);
void trl_tuples_clear(trl_tuples *t); /* keeps the memory */

/* The number of x[width], which must not be part of the table.  False: no memory. */
bool trl_tuples_put(trl_tuples *t, const uint32_t *x, uint32_t *number);

/* Valid until the next put. */
static inline const uint32_t *trl_tuples_at(const trl_tuples *t, uint32_t number)
{
    return t->item + number * t->width;
}

#endif
