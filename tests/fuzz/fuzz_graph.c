/* fuzz_graph.c -- any bytes as a graph: written and read again it is the same, and small ones are
 * solved. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trellis/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static void same(const trl_graph *a, const trl_graph *b)
{
    const trl_graph_view x = trl_graph_look(a), y = trl_graph_look(b);
    CHECK(x.n_factors == y.n_factors);
    for (size_t f = 0; f < x.n_factors; f++) {
        CHECK(x.scope_at[f + 1] == y.scope_at[f + 1] && x.cell_at[f + 1] == y.cell_at[f + 1]);
        for (size_t i = 0; i < x.cell_at[f + 1] - x.cell_at[f]; i++)
            CHECK(x.table[x.table_of[f]][i] == y.table[y.table_of[f]][i]);
    }
    for (size_t e = 0; e < x.scope_at[x.n_factors]; e++)
        CHECK(x.scope[e] == y.scope[e]);
}

static void round_trip(const trl_graph *g, trl_graph_format format)
{
    trl_buf b = {0};
    trl_graph *again = NULL;
    CHECK(trl_graph_write(g, format, &b, NULL) == TRL_OK);
    CHECK(trl_graph_read_memory(&(trl_text){"again", b.data, b.len}, format, 0, &again, NULL) ==
          TRL_OK);
    same(g, again);
    trl_graph_free(again);
    trl_buf_fini(&b);
}

static void solve(const trl_graph *g, trl_infer_method method)
{
    trl_infer_options o = trl_infer_options_default();
    trl_infer_plan *p = NULL;
    trl_infer_work *w = NULL;
    trl_infer_result r;
    o.method = method;
    o.max_cells = 1 << 16;
    o.max_updates = 1000;
    o.samples = o.burn_in = 3;
    CHECK(trl_infer_work_new(&w, NULL) == TRL_OK);
    const trl_status st = trl_infer_plan_new(g, &o, &p, NULL);
    CHECK(st == TRL_OK || st == TRL_EINVAL);
    if (st == TRL_OK && method != TRL_INFER_MPLP &&
        trl_infer_marginals(p, NULL, w, &r, NULL) == TRL_OK)
        CHECK(method == TRL_INFER_GIBBS || r.log_z < HUGE_VAL);
    if (st == TRL_OK && method != TRL_INFER_TRW && method != TRL_INFER_MEAN_FIELD &&
        trl_infer_best(p, NULL, w, &r, NULL) == TRL_OK)
        CHECK(r.score > -HUGE_VAL && !isnan(r.bound));
    trl_infer_plan_free(p);
    trl_infer_work_free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_graph *g = NULL;
    trl_error err = {0};
    const trl_status st = trl_graph_read_memory(&(trl_text){"fuzz", (const char *)data, size},
                                                TRL_GRAPH_GUESS, 1 << 12, &g, &err);
    if (st != TRL_OK) {
        CHECK(!g && (st == TRL_EIO || (st == TRL_EPARSE && err.row > 0)));
        return 0;
    }
    const trl_graph_view look = trl_graph_look(g);
    if (look.n_variables <= 1 << 16) { /* a line can name the variable 3000000 */
        round_trip(g, TRL_GRAPH_FG);
        round_trip(g, TRL_GRAPH_UAI);
    }
    if (look.n_variables <= 64 && look.n_factors <= 64 && look.label_at[look.n_variables] <= 4096)
        for (int m = TRL_INFER_EXACT; m <= TRL_INFER_MPLP; m++)
            solve(g, (trl_infer_method)m);
    trl_graph_free(g);
    return 0;
}
