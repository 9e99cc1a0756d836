/* name_clusters.c -- clusters of words as values of features. */
/* SPDX-License-Identifier: MIT */
#include "search/span_features.h"

#include "base/fail.h"
#include "base/mem.h"

static bool is_path(trl_str s)
{
    for (size_t k = 0; k < s.n; k++)
        if (s.p[k] != '0' && s.p[k] != '1')
            return false;
    return s.n > 0;
}

trl_status trl_search_names_cluster(trl_search_names *x, trl_cluster_view clusters, trl_error *err)
{
    static const size_t bits[TRL_PATHS - 1] = {4, 6, 10};
    x->clusters = clusters;
    if (clusters.name.n == 0)
        return TRL_OK;
    x->paths_of = trl_alloc(clusters.name.n + 1, sizeof *x->paths_of);
    if (!x->paths_of)
        return trl_fail_mem(err);
    for (uint32_t c = 0; c < clusters.name.n; c++) {
        const trl_str path = trl_strview_get(&clusters.name, c);
        uint32_t *of = x->paths_of[c + 1];
        for (int k = 0; k < TRL_PATHS; k++) {
            const bool all = k == TRL_PATHS - 1;
            of[k] = TRL_NO_ID;
            if (!all && (path.n <= bits[k] || !is_path(path)))
                continue;
            of[k] = trl_strtab_add(&x->paths, path.p, all ? path.n : bits[k]);
            if (of[k] == TRL_NO_ID)
                return trl_fail_mem(err);
        }
    }
    return TRL_OK;
}

void trl_search_paths(const trl_search_names *x, trl_str word, uint32_t path[TRL_PATHS])
{
    const uint32_t id =
        x->clusters.name.n ? trl_cluster_view_find(&x->clusters, word.p, word.n) : 0;
    for (int k = 0; k < TRL_PATHS; k++)
        path[k] = id ? x->paths_of[id][k] : TRL_NO_ID;
}
