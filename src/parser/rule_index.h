/* rule_index.h -- which rules of a state have features where a word is seen.
 *
 * A state has up to thousands of rules, and few of them a feature for a given word.  The features
 * of families that hang on rules, turned round: (family, parent of the rule, sights) -> rules.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_RULE_INDEX_H
#define TRL_RULE_INDEX_H

#include "parser/tree_features.h"

typedef struct trl_listed {
    uint32_t rule, id; /* id: number in the features' index */
} trl_listed;

typedef struct trl_rule_index {
    trl_tree_index index; /* key (trl_tree_key of family, parent, sights) -> list */
    size_t *first;        /* [lists + 1] */
    trl_listed *entry;    /* of list k: entry[first[k]] ...; rules ascend */
} trl_rule_index;

/* Of the features in f->index, families of TRL_ATTACH_EDGE and TRL_ATTACH_UNARY.  TRL_ENOMEM;
 * TRL_EINVAL for more states than keys tell apart (2^20). */
trl_status trl_rule_index_init(trl_rule_index *l, const trl_tree_features *f, trl_error *err);
void trl_rule_index_fini(trl_rule_index *l);

/* The rules of p->state that have a feature of family `at` on p (whose rule is not looked at), *n
 * of them. */
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
