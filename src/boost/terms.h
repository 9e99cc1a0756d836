/* terms.h -- the compound features that have a parameter: a set of literals -> Theta.
 *
 * A literal is 2 a for the atomic feature a, 2 a + 1 for its negation.  The paths of two trees with
 * the same literals in another order are the same compound feature.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BOOST_TERMS_H
#define TRL_BOOST_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct trl_boost_term {
    double theta;
    uint64_t hash;  /* trl_boost_literal_hash of the literals, added up */
    uint64_t begin; /* of its literals, ascending */
    uint64_t n;
} trl_boost_term;

typedef struct trl_boost_terms {
    trl_boost_term *term;
    size_t n, cap;
    uint32_t *literal;
    size_t n_literals, literal_cap;
    uint32_t *slot; /* term + 1, or 0 */
    size_t n_slots;
} trl_boost_terms; /* zero-initialise */

/* The same sum in any order of the literals. */
static inline uint64_t trl_boost_literal_hash(uint32_t literal)
{
    uint64_t z = (literal + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Whether any term has the hash: if not, the literals need not be sorted. */
bool trl_boost_terms_may_have(const trl_boost_terms *t, uint64_t hash);

/* The term of n ascending literals, or SIZE_MAX. */
size_t trl_boost_terms_find(const trl_boost_terms *t, uint64_t hash, const uint32_t *literal,
                            size_t n);

/* Adds a new term, with Theta = 0.  SIZE_MAX: out of memory. */
size_t trl_boost_terms_add(trl_boost_terms *t, uint64_t hash, const uint32_t *literal, size_t n);

/* Slots of terms that were read back.  False: out of memory. */
bool trl_boost_terms_index(trl_boost_terms *t);
void trl_boost_terms_fini(trl_boost_terms *t);

#endif
