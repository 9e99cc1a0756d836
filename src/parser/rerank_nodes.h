/* rerank_nodes.h -- private to the features of whole trees: what is known of nodes, and keys. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_RERANK_NODES_H
#define TRL_RERANK_NODES_H

#include "parser/rerank_features.h"

enum { TRL_RERANK_PLAIN, TRL_RERANK_PUNCTUATION, TRL_RERANK_COORDINATION };

/* In place of a label, tag or word where there is none. */
#define TRL_RERANK_NOTHING 0x5bd1e995u

/* The two must not cancel: X -> X Y is not Z -> Z Y. */
static inline uint64_t trl_rerank_mix(uint64_t h, uint64_t x)
{
    h = (h * 0xd6e8feb86659fd93u ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static inline uint8_t trl_rerank_kind(const trl_rerank_features *x, uint32_t v)
{
    const uint32_t label = x->tree[v].label;
    return label < x->n_labels ? x->kind[label] : TRL_RERANK_PLAIN;
}

/* Fills x->tree, node, kid and tag.  False: out of memory. */
bool trl_rerank_look(trl_rerank_features *x, const trl_node_list *tree);

#endif
