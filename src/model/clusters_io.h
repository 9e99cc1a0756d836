/* clusters_io.h -- clusters of words as sections of a container.
 *
 *     clwd....   the words, a string table (strtab_io.h)
 *     clnm....   the names of the clusters, a string table
 *     clid       u32[words] cluster of each word, 1 .. names
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CLUSTERS_IO_H
#define TRL_CLUSTERS_IO_H

#include "cluster/clusters.h"
#include "model/container.h"

/* Adds the map to the builder, which borrows it: c must not change until the container is
 * written. TRL_ENOMEM. */
trl_status trl_clusters_save(const trl_clusters *c, trl_container_builder *b, trl_error *err);

/* Does the container have clusters? */
bool trl_clusters_stored(const trl_container *c);

/* A checked view into the container, valid as long as it is.  O(words).  TRL_EMODEL when sections
 * are missing or damaged; *out is then untouched. */
trl_status trl_cluster_view_load(const trl_container *c, trl_cluster_view *out, trl_error *err);

#endif
