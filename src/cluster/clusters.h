/* clusters.h -- a map from words to clusters, read from a file or borrowed from a model. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CLUSTERS_H
#define TRL_CLUSTERS_H

#include "base/strtab.h"
#include "text/input.h"
#include "trellis/cluster.h"

/* A borrowed, read-only map.  Cluster ids are 1 .. name.n; 0 is every word that is not listed. */
typedef struct trl_cluster_view {
    trl_strview word;
    const uint32_t *id; /* [word.n] 1 .. name.n */
    trl_strview name;   /* of cluster id: string id - 1 */
} trl_cluster_view;

uint32_t trl_cluster_view_find(const trl_cluster_view *v, const char *word, size_t n);

struct trl_clusters {
    trl_strtab word, name;
    uint32_t *id; /* [word.n] */
    size_t id_cap;
};

trl_status trl_clusters_new(trl_clusters **out, trl_error *err); /* empty; TRL_ENOMEM */

/* Adds a word.  *twice: it was added before, to this or another cluster (c is then unchanged).
 * TRL_ENOMEM: c is then only good for trl_clusters_free. */
trl_status trl_clusters_add(trl_clusters *c, trl_str word, trl_str cluster, bool *twice,
                            trl_error *err);

/* As trl_clusters_open, from an input.  Its own line is named when a word comes twice. */
trl_status trl_clusters_read(trl_input *in, trl_cluster_format format, size_t prefix,
                             trl_clusters **out, trl_error *err);

/* Valid until c changes. */
trl_cluster_view trl_clusters_view(const trl_clusters *c);

#endif
