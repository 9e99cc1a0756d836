/* tree_clusters.h -- clusters of words as observations: whole, and by the first bits of their path.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_CLUSTERS_H
#define TRL_TREE_CLUSTERS_H

#include "cluster/clusters.h"
#include "base/pool.h"
#include "model/container.h"
#include "grammar/tree_set.h"

typedef struct trl_tree_clusters {
    trl_cluster_view view; /* of `owned`, or of a model file */
    trl_clusters *owned;   /* NULL: none */
    uint32_t *prefix[2];   /* [names + 1]: number + 1 of the first 4 and 6 bits; 0: no path */
} trl_tree_clusters;       /* all zero: no clusters */

/* TRL_EPARSE, TRL_EIO, TRL_ENOMEM. */
trl_status trl_tree_clusters_read(trl_tree_clusters *c, const char *path, trl_error *err);

/* The least number of running words: clusters from less text do more harm than good. */
#define TRL_CLUSTERS_LEAST_WORDS 20000

/* Brown clusters of the words of these trees and of a file of raw text (one sentence a line; or
 * NULL), as many as their number suggests: none at all when there are too few words.  TRL_ENOMEM;
 * of the text TRL_EIO, TRL_EPARSE. */
trl_status trl_tree_clusters_make(trl_tree_clusters *c, const trl_tree_set *trees,
                                  const char *raw_text, trl_pool *pool, trl_error *err);

/* From a model file, if it has any; the container must outlive c.  TRL_EMODEL, TRL_ENOMEM. */
trl_status trl_tree_clusters_load(trl_tree_clusters *c, const trl_container *from, trl_error *err);
/* The same clusters once more; `from` must outlive c.  TRL_ENOMEM. */
trl_status trl_tree_clusters_share(trl_tree_clusters *c, const trl_tree_clusters *from,
                                   trl_error *err);
void trl_tree_clusters_fini(trl_tree_clusters *c);

/* For trl_observer.cluster. */
void trl_tree_cluster_of(const void *clusters, trl_str word, uint32_t at[3]);

#endif
