/* search_model.h -- what a boosted parser consists of, and its file.
 *
 * A container of kind "tree" with the sections
 *
 *     settings   text: how it was trained, a name and a value a line
 *     groups     text: the feature groups (feature_groups.h)
 *     heads      text: the head rules (treebank/heads.h)
 *     root       text: '(' and the label of the root, or '-' for none
 *     counts     u64[2]: phrase labels; 1 when costs are shares of states, else 0
 *     labl...    labels: phrase labels, TOP first, then tags
 *     word...    words, by falling count
 *     cl...      clusters of words (model/clusters_io.h), or nothing
 *     boost      a model of boosted trees (boost/model.h): one classifier a phrase label
 *     tagger     a chain model, or nothing: the sentence must then come with tags
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SEARCH_MODEL_H
#define TRL_SEARCH_MODEL_H

#include "boost/term_index.h"
#include "grammar/tree_set.h"
#include "parser/tree_clusters.h"
#include "search/span_features.h"
#include "trellis/model.h"

typedef struct trl_search_model {
    trl_feature_groups groups;
    trl_search_names names;
    trl_head_rules *heads;
    trl_tree_root root;
    trl_boost_model *boost;
    uint32_t *label_of;  /* [boost->n] phrase label of a classifier */
    trl_key_index index; /* keys of boost->names */
    size_t n_trees;      /* of all classifiers */
    trl_boost_term_index terms;
    trl_model *tagger; /* NULL: none */
    bool shares;       /* costs are shares of states: best_first.h */
    trl_tree_clusters clusters;
} trl_search_model; /* zero-initialise; release with _fini */

/* Fills it from the file, which must stay open as long as it is used.  TRL_EMODEL, TRL_ENOMEM. */
trl_status trl_search_model_load(trl_search_model *m, const trl_container *c, trl_error *err);

/* Adds all sections but the settings.  boost and tagger: bytes of their files, borrowed. */
typedef struct trl_search_parts {
    trl_str groups, boost, tagger;
} trl_search_parts;
trl_status trl_search_model_add(const trl_search_model *m, const trl_search_parts *parts,
                                trl_container_builder *b, trl_error *err);
void trl_search_model_fini(trl_search_model *m);

#endif
