/* clusters_io.c -- clusters of words as sections of a container. */
/* SPDX-License-Identifier: MIT */
#include "model/clusters_io.h"

#include "base/fail.h"
#include "model/strtab_io.h"

trl_status trl_clusters_save(const trl_clusters *c, trl_container_builder *b, trl_error *err)
{
    trl_status st = trl_strtab_save(&c->word, "clwd", b, err);
    if (st == TRL_OK)
        st = trl_strtab_save(&c->name, "clnm", b, err);
    if (st == TRL_OK)
        trl_container_builder_add(b, "clid", c->id, c->word.n * sizeof *c->id);
    return st;
}

bool trl_clusters_stored(const trl_container *c)
{
    const void *bytes;
    size_t size;
    return trl_container_find(c, "clid", &bytes, &size);
}

trl_status trl_cluster_view_load(const trl_container *c, trl_cluster_view *out, trl_error *err)
{
    trl_cluster_view v;
    const void *id;
    size_t n;
    trl_status st = trl_strview_load(c, "clwd", &v.word, err);
    if (st == TRL_OK)
        st = trl_strview_load(c, "clnm", &v.name, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "clid", sizeof *v.id, &id, &n, err);
    if (st != TRL_OK)
        return st;
    v.id = id;
    if (n != v.word.n)
        return trl_container_damaged(c, err, "words and their clusters differ in number");
    for (size_t i = 0; i < n; i++)
        if (v.id[i] == 0 || v.id[i] > v.name.n)
            return trl_container_damaged(c, err, "a cluster is out of range");
    *out = v;
    return TRL_OK;
}
