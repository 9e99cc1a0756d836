/* fuzz_evidence.c -- any bytes as evidence for a small graph. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "trellis/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] = "MARKOV 3 2 3 2 0";
    static const uint32_t labels[] = {2, 3, 2};
    trl_graph *g = NULL;
    trl_evidence e = {0};
    trl_error err = {0};
    CHECK(trl_graph_read_memory(&(trl_text){"graph", text, strlen(text)}, TRL_GRAPH_UAI, 0, &g,
                                NULL) == TRL_OK);
    const trl_status st =
        trl_evidence_read_memory(&(trl_text){"fuzz", (const char *)data, size}, g, &e, &err);
    if (st == TRL_OK)
        for (size_t i = 0; i < 3 * e.n_cases; i++)
            CHECK(e.label[i] == TRL_UNOBSERVED || e.label[i] < labels[i % 3]);
    else
        CHECK(!e.label && (st == TRL_EIO || (st == TRL_EPARSE && err.row > 0)));
    trl_evidence_fini(&e);
    trl_graph_free(g);
    return 0;
}
