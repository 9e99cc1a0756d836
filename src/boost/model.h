/* model.h -- ensembles of decision trees, and the format of a model file.
 *
 * A tree is a run of nodes in preorder: the node after an inner one is where examples with its
 * feature go, `off` (counted from the tree's first node) is where the others go.  Subtrees whose
 * leaves are all 0 are one leaf.
 *
 * A container of kind "boost":
 *
 *     nodes    trl_boost_node of all trees      treeend  u64 nodes up to the end of a tree
 *     part     u64[4] of every classifier: trees, points, best point, bytes of its name
 *     points   trl_boost_point of all           partname the names, back to back
 *     featpool ... names of features            claspool ... names of classes
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BOOST_MODEL_H
#define TRL_BOOST_MODEL_H

#include "base/buf.h"
#include "base/pool.h"
#include "base/strtab.h"
#include "boost/data.h"
#include "boost/terms.h"
#include "model/container.h"
#include "trellis/boost.h"

/* Splits from the root of any tree to a leaf: appending a tree is recursive, and its compound
 * features take room for all of them each. */
#define TRL_BOOST_MAX_DEPTH 4096

typedef struct trl_boost_node {
    uint32_t feature; /* TRL_NO_ID: a leaf */
    uint32_t off;
    double value; /* of a leaf */
} trl_boost_node;

/* Zero-initialise; release with _fini. */
typedef struct trl_boost_ensemble {
    trl_boost_node *node;
    size_t n_nodes, node_cap;
    uint64_t *tree_end; /* [n_trees] in nodes */
    size_t n_trees, tree_cap;
} trl_boost_ensemble;

bool trl_boost_ensemble_node(trl_boost_ensemble *e, trl_boost_node node);
bool trl_boost_ensemble_tree(trl_boost_ensemble *e); /* ends a tree */
void trl_boost_ensemble_fini(trl_boost_ensemble *e);

/* Trees of someone else. */
typedef struct trl_boost_run {
    const trl_boost_node *node;
    size_t n_nodes;
    const uint64_t *tree_end;
    size_t n_trees;
} trl_boost_run;

/* *sound: whether these are whole trees, one after the other, over features below n_features.
 * TRL_ENOMEM. */
trl_status trl_boost_check_trees(const trl_boost_run *r, size_t n_features, bool *sound,
                                 trl_error *err);

typedef struct trl_boost_part {
    char *name;
    const trl_boost_node *node; /* of the first tree; features as the model numbers them */
    const uint64_t *tree_end;   /* [n_trees], counted from `node` */
    size_t n_trees;
    const trl_boost_point *point;
    size_t n_points, best;
    trl_boost_ensemble own; /* of a model that was trained, not opened */
    trl_boost_point *own_point;
} trl_boost_part;

struct trl_boost_model {
    trl_strview names, classes;
    trl_strtab own_names, own_classes;
    trl_boost_part *part;
    size_t n;
    trl_container *file;
};

/* Adds to h[i] the values of trees first .. last-1 for the example.  number[f] is the feature of
 * `d` that the trees call f (TRL_NO_ID: none); NULL: the same.  pool NULL: in this thread.
 * TRL_ENOMEM. */
typedef struct trl_boost_trees {
    const trl_boost_node *node;
    const uint64_t *tree_end;
    size_t first, last;
    const uint32_t *number;
} trl_boost_trees;
trl_status trl_boost_apply(const trl_boost_trees *t, const trl_boost_data *d, trl_pool *pool,
                           double *h, trl_error *err);

/* A model of trained ensembles, which it then owns; only features in use are kept and numbered.
 * `part` has n items whose `own`, `own_point`, n_points, best and name are set.  On failure they
 * still belong to the caller. */
trl_status trl_boost_model_make(const trl_boost_data *d, trl_boost_part *part, size_t n,
                                trl_boost_model **out, trl_error *err);
/* What trl_boost_model_save writes, in memory: release with trl_free. */
trl_status trl_boost_model_bytes(const trl_boost_model *m, unsigned char **bytes, size_t *n,
                                 trl_error *err);
void trl_boost_part_fini(trl_boost_part *p);

/* The compound features of a classifier into `terms`, which is empty: its score is the sum of Theta
 * over those that hold.  TRL_ENOMEM; release `terms` also then. */
trl_status trl_boost_part_terms(const trl_boost_part *p, trl_boost_terms *terms, trl_error *err);

#endif
