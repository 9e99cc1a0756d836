/* tag_graph_method.c -- values of the options of trellis tag for models of graphs. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "message.h"
#include "tag_graph.h"

int tag_graph_method(const char *name, trl_infer_method *out)
{
    static const char *const names[] = {"exact", "bp", "trw", "mf", "gibbs", "mplp"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k], name) == 0) {
            *out = (trl_infer_method)k;
            return CLI_DONE;
        }
    return message_usage("--method %s: use auto, exact, bp, trw, mf, gibbs or mplp", name);
}

int tag_graph_known(const tag_graph_settings *s, const trl_graph_model *m, uint64_t *out)
{
    const trl_graph_model_info info = trl_graph_model_get_info(m);
    for (const char *p = s->known; p && *p;) {
        const size_t n = strcspn(p, ",");
        size_t k = 0;
        while (k < info.n_layers && (strlen(trl_graph_model_layer(m, k).name) != n ||
                                     memcmp(trl_graph_model_layer(m, k).name, p, n) != 0))
            k++;
        if (k == info.n_layers)
            return message_usage("--known %.*s: the model has no such labels", (int)n, p);
        *out |= (uint64_t)1 << k;
        p += n + (p[n] == ',');
    }
    return CLI_DONE;
}
