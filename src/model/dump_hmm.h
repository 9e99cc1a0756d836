/* dump_hmm.h -- private to src/model: the HMM of a model in a dump. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_DUMP_HMM_H
#define TRL_DUMP_HMM_H

#include "model/chain_model.h"
#include "model/dump_text.h"

/* All of it.  What the writer returns, TRL_ENOMEM. */
trl_status trl_put_hmm(trl_printer *p, const trl_chain_model *m, trl_error *err);

/* The `top` most probable values of every label in every column. */
trl_status trl_put_hmm_top(trl_printer *p, const trl_chain_model *m, size_t top, trl_error *err);

#endif
