/* rule_index.h -- the rules of a state that have features for given observations.
 *
 * A state has up to thousands of rules, and few of them a feature for a given word.  This is the
 * inverted index of the families that are attached to rules: (family, parent of the rule,
 * observations) -> rules.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_RULE_INDEX_H
#define TRL_RULE_INDEX_H

#include "parser/tree_features.h"

typedef struct trl_listed {
    uint32_t rule, id; /* id: number in the features' index */
} trl_listed;

typedef struct trl_rule_index {
    trl_tree_index index; /* key (trl_tree_key of family, parent, observations) -> list */
    size_t *first;        /* [lists + 1] */
    trl_listed *entry;    /* of list k: entry[first[k]] ...; rules ascend */
} trl_rule_index;

/* Indexes the features in f->index of the families TRL_ATTACH_EDGE and TRL_ATTACH_UNARY.
 * TRL_ENOMEM; TRL_EINVAL for more states than keys distinguish (2^20). */
trl_status trl_rule_index_init(trl_rule_index *l, const trl_tree_features *f, trl_error *err);
void trl_rule_index_fini(trl_rule_index *l);

/* The rules of p->state that have a feature of family `at` on p (whose rule is ignored); *n is
 * their number. */
static inline const trl_listed *trl_rule_index_find(const trl_rule_index *l,
                                                    const trl_tree_features *f, size_t at,
                                                    const trl_tree_part *p, const trl_seen *seen,
                                                    size_t *n)
{
    const uint64_t key = trl_tree_class_key(f, at, p->state, p, seen);
    const uint32_t k = key ? trl_tree_index_find(&l->index, key) : TRL_NO_ID;
    *n = k == TRL_NO_ID ? 0 : l->first[k + 1] - l->first[k];
    return k == TRL_NO_ID ? NULL : l->entry + l->first[k];
}

#endif
