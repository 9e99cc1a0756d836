/* span_features.h -- the atomic features of a state and a span of its roots, as numbers.
 *
 * A feature is a key of 64 bits, its group, question and value; its name has the same parts:
 *
 *     children[1].label=NP       left[*].word=of       words[*].count=3 (at least 3)
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SPAN_FEATURES_H
#define TRL_SPAN_FEATURES_H

#include "base/buf.h"
#include "cluster/clusters.h"
#include "search/feature_groups.h"
#include "search/forest.h"

/* What is asked of a word's cluster: the first 4, 6 and 10 bits of its path, and all of it.  Where
 * a path is shorter, or is not of bits, only all of it. */
#define TRL_PATHS 4

/* The values of features.  Zero-initialise; release with _fini. */
typedef struct trl_search_names {
    trl_strtab labels; /* phrase labels first, TOP is 0; then tags */
    size_t n_phrases;
    trl_strtab words;
    trl_strtab classes;
    uint32_t *class_of; /* [labels.n] */
    size_t class_cap;
    trl_cluster_view clusters;       /* of words, borrowed; all zero: there are none */
    trl_strtab paths;                /* the values of the question cluster */
    uint32_t (*paths_of)[TRL_PATHS]; /* [clusters + 1] of paths; TRL_NO_ID: none */
} trl_search_names;

#define TRL_SEARCH_TOP 0u /* the label of every root of a tree */

/* Adds a label and its class.  TRL_NO_ID: out of memory. */
uint32_t trl_search_label(trl_search_names *x, trl_str label);
void trl_search_names_fini(trl_search_names *x);

/* Takes the clusters for the question cluster; the map must stay.  TRL_ENOMEM. */
trl_status trl_search_names_cluster(trl_search_names *x, trl_cluster_view clusters, trl_error *err);
/* What is asked of the cluster of a word; all TRL_NO_ID: it has none. */
void trl_search_paths(const trl_search_names *x, trl_str word, uint32_t path[TRL_PATHS]);

/* A sentence as features see it. */
typedef struct trl_span_view {
    const trl_feature_groups *groups;
    const trl_search_names *names;
    const trl_forest *forest;
    const uint32_t *word;              /* [n_words] of names->words; TRL_NO_ID: not there */
    const uint32_t (*path)[TRL_PATHS]; /* [n_words] as trl_search_paths says */
} trl_span_view;

typedef struct trl_feature_keys {
    uint64_t *key;
    size_t n, cap;
} trl_feature_keys; /* zero-initialise; release key with trl_free */

/* The features of roots [first .. last] of the state into out->key[0 .. n); one may be there
 * several times.  False: out of memory. */
bool trl_span_features(const trl_span_view *v, const trl_partial_parse *s, size_t first,
                       size_t last, trl_feature_keys *out);

/* The name of a key, appended. */
bool trl_feature_key_name(const trl_feature_groups *g, const trl_search_names *x, uint64_t key,
                          trl_buf *out);
/* The key of a name.  False: it has none (another group, a value that is not there). */
bool trl_feature_key_of(const trl_feature_groups *g, const trl_search_names *x, trl_str name,
                        uint64_t *key);

/* ---- keys to numbers ------------------------------------------------------------------------- */

/* Open addressing, linear probing.  Zero-initialise; release with _fini. */
typedef struct trl_key_index {
    uint64_t *key;
    uint32_t *id; /* TRL_NO_ID: empty */
    size_t n, n_slots;
} trl_key_index;

/* The number of the key; with `add` it becomes `next` when it is new.  TRL_NO_ID: none, or out of
 * memory. */
uint32_t trl_key_index_find(const trl_key_index *x, uint64_t key);
uint32_t trl_key_index_add(trl_key_index *x, uint64_t key, uint32_t next);
void trl_key_index_fini(trl_key_index *x);

/* ---- features as numbers --------------------------------------------------------------------- */

/* The numbers of the features of all items of a forest in all groups, looked up once: parsing asks
 * for them again and again.  Zero-initialise; release with _fini. */
typedef struct trl_item_ids {
    uint32_t *begin; /* [n_items][groups + 1] of id */
    uint32_t *id;
    size_t n_items, n, begin_cap, id_cap;
    uint32_t none[TRL_GROUPS_MAX + 1]; /* begins: of an item that is not there */
    uint32_t n_fixed;                  /* of id: those */
    uint32_t count[TRL_GROUPS_MAX][TRL_GROUP_COUNT_MOST + 1]; /* TRL_NO_ID: none */
    uint32_t *span;                                           /* [n_span] of the last span */
    size_t n_span, span_cap;
} trl_item_ids;

/* For a table of groups and an index, which stay the same.  v: only its groups are used.  False:
 * out of memory. */
bool trl_item_ids_init(trl_item_ids *x, const trl_span_view *v, const trl_key_index *index);
void trl_item_ids_reset(trl_item_ids *x); /* another sentence */
void trl_item_ids_fini(trl_item_ids *x);

/* Looks up the items that are new in the forest.  False: out of memory. */
bool trl_item_ids_extend(trl_item_ids *x, const trl_span_view *v, const trl_key_index *index);

/* The features of a span as trl_span_features finds them into x->span, those that have a number.
 * All items of the forest must have been looked up.  False: out of memory. */
bool trl_span_ids(const trl_span_view *v, const trl_partial_parse *s, size_t first, size_t last,
                  trl_item_ids *x);

#endif
