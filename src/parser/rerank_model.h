/* rerank_model.h -- weights of the second stage of parsing (reranker.h), and their file sections.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_RERANK_MODEL_H
#define TRL_RERANK_MODEL_H

#include "model/container.h"
#include "parser/span_calibration.h"
#include "parser/tree_index.h"
#include "treebank/heads.h"

#define TRL_RERANK_SAID 5 /* numbers of the first stage: TRL_SAID of candidates.h */

/* Zero-initialise: all zero is no second stage. */
typedef struct trl_reranker {
    uint32_t n;      /* trees in a list, besides the first stage's own choice; 0: no second stage */
    uint32_t groups; /* of features: trl_rerank_group */
    double share;    /* in expected brackets */
    double said[TRL_RERANK_SAID]; /* weights */
    trl_span_calibration trees;   /* what is told of the probability of a tree of a list */
    trl_tree_index index;         /* numbers are slots */
    const float *weight;          /* [slots] */
    trl_head_rules *heads;        /* owned */
    uint64_t *own_key;            /* what index and weight point to, unless it is a file */
    float *own_weight;
} trl_reranker;
void trl_reranker_fini(trl_reranker *r);

/* Adds the sections of a second stage, if there is one.  Borrows from r until they are written.
 * TRL_ENOMEM. */
trl_status trl_reranker_save(const trl_reranker *r, trl_container_builder *b, trl_error *err);

/* From a file, if it has any; weights stay in the container.  TRL_EMODEL, TRL_ENOMEM. */
trl_status trl_reranker_load(trl_reranker *r, const trl_container *c, trl_error *err);

#endif
