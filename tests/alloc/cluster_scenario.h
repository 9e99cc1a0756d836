/* cluster_scenario.h -- from text to clusters, for test_alloc.c. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_CLUSTER_SCENARIO_H
#define TRL_TEST_CLUSTER_SCENARIO_H

#include "trellis/cluster.h"

static trl_status do_cluster(const void *p, trl_error *err)
{
    (void)p;
    char text[512], model[512];
    const char *texts[1] = {text};
    trl_cluster_options o = trl_cluster_options_default();
    trl_cluster_result result;
    trl_clusters *c = NULL;
    snprintf(text, sizeof text, "%s/text", folder);
    snprintf(model, sizeof model, "%s/model", folder);
    o.text = texts;
    o.n_text = 1;
    o.clusters = 3;
    o.threads = 2;
    o.output = model;
    trl_status st = trl_cluster(&o, &result, err);
    if (st == TRL_OK)
        st = trl_clusters_open(model, TRL_CLUSTERS_GUESS, 0, &c, err);
    trl_clusters_free(c);
    return st;
}

#endif
