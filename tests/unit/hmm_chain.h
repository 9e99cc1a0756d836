/* hmm_chain.h -- a chain prepared for tables that hold nothing but an HMM. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_HMM_CHAIN_H
#define TRL_TEST_HMM_CHAIN_H

#include <stdlib.h>

#include "chain/chain.h"
#include "model/hmm.h"

static inline trl_status hmm_chain(const trl_hmm *h, double floor, trl_chain *chain, trl_error *err)
{
    const size_t f = trl_hmm_shared_family(h);
    const size_t width = h->order == 2 ? h->L * h->L * h->L : h->L * h->L;
    trl_tables s = {0};
    double some_row = 0.0; /* only says that there are rows */
    trl_status st = trl_chain_init(chain, h->L, h->order, err);
    s.shared[f] = calloc(width, sizeof *s.shared[f]);
    if (st == TRL_OK && !s.shared[f])
        st = TRL_ENOMEM;
    for (size_t k = 0; k < TRL_FAMILIES; k++)
        s.row[k] = trl_hmm_has_rows(h, k) ? &some_row : NULL;
    if (st == TRL_OK) {
        trl_hmm_add_shared(h, floor, s.shared);
        st = trl_chain_prepare(chain, &s, err);
    }
    if (st != TRL_OK)
        trl_chain_fini(chain);
    free(s.shared[f]);
    return st;
}

#endif
