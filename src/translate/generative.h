/* generative.h -- a top-down lexicalised tree transducer: the generative model of translation.
 *
 * Given the source tree, the root generates its target head word, every node the target heads of
 * its other children given that of its head child, and the order of its children when both have
 * words:
 *
 *     p(v | w, v')   w the source head of the child, v' the target head of the node (or the root)
 *     p(o | label, label of the left child, label of the right child)
 *
 * The head child has the target head of its node; a leaf becomes its target head, which may be
 * NULL. Estimates are the most probable ones under Dirichlet priors,
 *
 *     p(v | w, v') = (c(w, v', v) + K p0(v | w)) / (c(w, v') + K),
 *     p0(v | w)    = (c0(w, v) + [v = NULL] / 2) / (c0(w) + 1/2),
 *     p(o | ...)   = (c(..., o) + 1) / (c(...) + 2),
 *
 * c0 counts of the word alignment, which stay, c those of derivations [GK04].
 *
 * [GK04] Graehl, Knight. Training tree transducers. HLT-NAACL 2004.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GENERATIVE_H
#define TRL_GENERATIVE_H

#include "translate/source.h"
#include "search/span_features.h"

#define TRL_ROOT_HEAD (TRL_NO_ID - 1) /* v' of the root */
#define TRL_BILEXICAL_PRIOR 5.0       /* K */

/* Keys and counts. */
typedef struct trl_counts {
    trl_key_index index;
    uint64_t *key;   /* [index.n] */
    uint32_t *count; /* [index.n] */
    size_t key_cap, count_cap;
} trl_counts; /* zero-initialise; release with _fini */

bool trl_counts_add(trl_counts *c, uint64_t key, uint32_t n); /* false: out of memory */
uint32_t trl_counts_get(const trl_counts *c, uint64_t key);
void trl_counts_fini(trl_counts *c);

typedef struct trl_generative {
    trl_counts base, base_total; /* c0(w, v), c0(w) */
    trl_counts context;          /* c(w, v'); its numbers are used in */
    trl_counts triple;           /* c(w, v', v) */
    trl_counts order;            /* twice the key of a node, + 1 where it swaps */
} trl_generative;                /* zero-initialise; release with _fini */

/* Adds n to c(w, v', v); v' may be TRL_ROOT_HEAD, v and v' TRL_NO_ID (NULL).  False: out of memory.
 */
bool trl_generative_add_word(trl_generative *g, uint32_t word, const uint32_t pair[2], uint32_t n);
bool trl_generative_add_order(trl_generative *g, const trl_source *s, size_t node, bool swapped,
                              uint32_t n);
/* Forgets all derivations; c0 stays. */
void trl_generative_clear(trl_generative *g);

/* Minus the log probabilities. */
double trl_generative_word_cost(const trl_generative *g, uint32_t word, uint32_t head,
                                uint32_t target);
double trl_generative_order_cost(const trl_generative *g, const trl_source *s, size_t node,
                                 bool swapped);
void trl_generative_fini(trl_generative *g);

#endif
