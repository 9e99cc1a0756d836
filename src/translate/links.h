/* links.h -- word alignments in Pharaoh's format: a line of `i-j` a pair of sentences, source word
 * i and target word j, from 0.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LINKS_H
#define TRL_LINKS_H

#include "text/input.h"

typedef struct trl_link {
    uint32_t source, target;
} trl_link;

/* The links of all pairs.  Zero-initialise; release with _fini. */
typedef struct trl_links {
    trl_link *link; /* of pair k: link[end[k-1] .. end[k]), by source and target, none twice */
    uint64_t *end;  /* [n] */
    size_t n, n_links, link_cap, end_cap;
} trl_links;

/* Adds a line for a pair of n and m words.  TRL_EPARSE, with the place, for what is no link and
 * for a word that is not there; TRL_ENOMEM. */
trl_status trl_links_add(trl_links *l, const trl_input *in, trl_str line, size_t n, size_t m,
                         trl_error *err);
void trl_links_fini(trl_links *l);

static inline uint64_t trl_links_begin(const trl_links *l, size_t k)
{
    return k ? l->end[k - 1] : 0;
}

#endif
