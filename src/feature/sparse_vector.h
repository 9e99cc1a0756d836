/* sparse_vector.h -- a list of numbers with ids: what a structure whose features are looked up
 * rather than laid out has for a gradient.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SPARSE_VECTOR_H
#define TRL_SPARSE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids may repeat: the entry of an id is the sum of its values. */
typedef struct trl_sparse {
    uint32_t *id;
    double *value;
    size_t n, cap_id, cap_value;
} trl_sparse; /* zero-initialise */

/* Makes room for `more` pairs after the n there are.  False: out of memory, nothing is lost. */
bool trl_sparse_room(trl_sparse *s, size_t more);
void trl_sparse_fini(trl_sparse *s);

#endif
