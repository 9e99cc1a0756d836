/* graph_pieces.c -- the graphs of pieces. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_pieces.h"

#include "base/fail.h"
#include "base/mem.h"

/* The factors of an example that belong to piece k (TRL_ALONE: to none). */
static uint32_t *list_factors(const trl_graph_example *e, const uint32_t *of, uint32_t k, size_t *n)
{
    const trl_graph_view g = trl_graph_look(e->graph);
    uint32_t *list = trl_alloc(g.n_factors + 1, sizeof *list);
    *n = 0;
    for (size_t a = 0; list && a < g.n_factors; a++)
        if (e->family[a] == TRL_NO_TEMPLATE ? k == TRL_ALONE : of[e->family[a]] == k)
            list[(*n)++] = (uint32_t)a;
    return list;
}

/* Variables that occur, with new numbers; a table for each factor. */
static trl_status build(trl_graph_piece *p, const trl_graph_view *g, uint32_t *number,
                        trl_error *err)
{
    uint32_t n_variables = 0;
    trl_status st = trl_graph_new(&p->graph, err);
    for (size_t v = 0; v < g->n_variables; v++)
        number[v] = UINT32_MAX;
    for (size_t i = 0; st == TRL_OK && i < p->n; i++) {
        const size_t a = p->factor[i];
        uint32_t scope[16];
        const size_t from = g->scope_at[a], n = g->scope_at[a + 1] - from;
        if (n > 16)
            return trl_fail(err, TRL_EINVAL, "a factor of %zu variables in a piece", n);
        for (size_t k = 0; st == TRL_OK && k < n; k++) {
            const uint32_t v = g->scope[from + k];
            if (number[v] == UINT32_MAX) {
                number[v] = n_variables++;
                st = trl_graph_add_variable(p->graph, g->labels[v], err);
            }
            scope[k] = number[v];
        }
        if (st == TRL_OK)
            st = trl_graph_add_table(p->graph, g->cell_at[a + 1] - g->cell_at[a], NULL, err);
        if (st == TRL_OK)
            st = trl_graph_add_factor(p->graph, n, scope, (uint32_t)i, err);
    }
    return st;
}

static trl_status add_piece(trl_graph_pieces *p, const trl_graph_example *e, const uint32_t *of,
                            uint32_t k, const trl_infer_options *infer, trl_error *err)
{
    const trl_graph_view g = trl_graph_look(e->graph);
    trl_graph_piece *x = &p->piece[p->n++];
    uint32_t *number = trl_alloc(g.n_variables + 1, sizeof *number);
    x->factor = list_factors(e, of, k, &x->n);
    trl_status st = number && x->factor ? build(x, &g, number, err) : trl_fail_mem(err);
    trl_infer_options o = *infer;
    o.method = TRL_INFER_EXACT;
    if (st == TRL_OK && x->n > 0)
        st = trl_infer_plan_new(x->graph, &o, &x->plan, err);
    trl_free(number);
    return st;
}

trl_status trl_graph_pieces_init(trl_graph_pieces *p, const trl_graph_example *e,
                                 const uint32_t *of, const trl_infer_options *infer, trl_error *err)
{
    *p = (trl_graph_pieces){0};
    p->single = list_factors(e, of, TRL_ALONE, &p->n_single);
    trl_status st = p->single ? TRL_OK : trl_fail_mem(err);
    for (uint32_t k = 0; st == TRL_OK && k < TRL_FAMILIES_MAX; k++) {
        bool used = false;
        for (size_t f = 0; f < TRL_FAMILIES_MAX; f++)
            used = used || of[f] == k;
        if (used)
            st = add_piece(p, e, of, k, infer, err);
    }
    return st;
}

void trl_graph_pieces_fini(trl_graph_pieces *p)
{
    for (size_t k = 0; k < p->n; k++) {
        trl_infer_plan_free(p->piece[k].plan);
        trl_graph_free(p->piece[k].graph);
        trl_free(p->piece[k].factor);
    }
    trl_free(p->single);
    *p = (trl_graph_pieces){0};
}
