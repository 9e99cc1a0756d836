/* graph_corpus.c -- factors to rows of families. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_corpus.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

trl_status trl_graph_corpus_init(trl_graph_corpus *c, const size_t *width, size_t n, trl_error *err)
{
    *c = (trl_graph_corpus){0};
    for (size_t f = 0; f < TRL_FAMILIES_MAX; f++)
        c->piece[f] = TRL_ALONE;
    return trl_corpus_init_families(&c->corpus, width, n, err);
}

static void example_fini(trl_graph_example *e)
{
    trl_graph_free(e->graph);
    trl_free(e->family);
    trl_free(e->row);
    trl_free(e->gold);
    trl_free(e->y);
    trl_free(e->path);
}

void trl_graph_corpus_fini(trl_graph_corpus *c)
{
    for (size_t k = 0; k < c->n; k++)
        example_fini(&c->example[k]);
    trl_free(c->example);
    trl_corpus_fini(&c->corpus);
    *c = (trl_graph_corpus){0};
}

/* ---- checks ---------------------------------------------------------------------------------- */

static trl_status check_factor(const trl_graph_corpus *c, const trl_graph_view *g,
                               const trl_graph_case *x, size_t a, trl_error *err)
{
    const uint32_t f = x->family[a];
    const size_t cells = g->cell_at[a + 1] - g->cell_at[a];
    if (f == TRL_NO_TEMPLATE) {
        if (!g->table[g->table_of[a]])
            return trl_fail(err, TRL_EINVAL, "factor %zu has neither a template nor values", a);
        if (x->begin[a] != x->begin[a + 1])
            return trl_fail(err, TRL_EINVAL, "factor %zu has attributes but no template", a);
        return TRL_OK;
    }
    if (f >= c->corpus.n_families)
        return trl_fail(err, TRL_EINVAL, "factor %zu: there is no template %lu", a,
                        (unsigned long)f);
    if (cells != c->corpus.family[f].width)
        return trl_fail(err, TRL_EINVAL, "factor %zu has %zu cells, its template %zu", a, cells,
                        c->corpus.family[f].width);
    return TRL_OK;
}

/* `first`: [n_tables] the first factor of each table, UINT32_MAX before it was seen. */
static trl_status check_tables(const trl_graph_view *g, const trl_graph_case *x, uint32_t *first,
                               trl_error *err)
{
    for (size_t a = 0; a < g->n_factors; a++) {
        uint32_t *before = &first[g->table_of[a]];
        if (*before == UINT32_MAX) {
            *before = (uint32_t)a;
            continue;
        }
        const size_t b = *before, n = x->begin[a + 1] - x->begin[a] + x->begin[b + 1] - x->begin[b];
        if (x->family[a] != x->family[b] || n > 0)
            return trl_fail(err, TRL_EINVAL, "factors %zu and %zu cannot share a table", b, a);
    }
    for (size_t k = 0; k < g->n_tables; k++)
        if (first[k] == UINT32_MAX && !g->table[k])
            return trl_fail(err, TRL_EINVAL, "table %zu has neither a factor nor values", k);
    return TRL_OK;
}

static trl_status check(const trl_graph_corpus *c, const trl_graph_view *g, const trl_graph_case *x,
                        trl_error *err)
{
    for (size_t v = 0; v < g->n_variables; v++)
        if (x->y[v] >= g->labels[v])
            return trl_fail(err, TRL_EINVAL, "variable %zu has no label %lu", v,
                            (unsigned long)x->y[v]);
    for (size_t a = 0; a < g->n_factors; a++) {
        const trl_status st = check_factor(c, g, x, a, err);
        if (st != TRL_OK)
            return st;
    }
    uint32_t *first = trl_alloc(g->n_tables + 1, sizeof *first);
    if (!first)
        return trl_fail_mem(err);
    memset(first, 0xff, g->n_tables * sizeof *first);
    const trl_status st = check_tables(g, x, first, err);
    trl_free(first);
    return st;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static size_t gold_cell(const trl_graph_view *g, size_t a, const uint32_t *y)
{
    size_t cell = 0;
    for (size_t k = g->scope_at[a]; k < g->scope_at[a + 1]; k++)
        cell = cell * g->labels[g->scope[k]] + y[g->scope[k]];
    return cell;
}

/* The next example, with room for what is known about it; the graph is its own from here on. */
static trl_graph_example *next_example(trl_graph_corpus *c, const trl_graph_case *x,
                                       const trl_graph_view *g)
{
    trl_graph_example *all = trl_reserve(c->example, &c->cap, c->n + 1, sizeof *all);
    if (!all) {
        trl_graph_free(x->graph);
        return NULL;
    }
    c->example = all;
    trl_graph_example *e = &all[c->n++];
    *e = (trl_graph_example){.graph = x->graph,
                             .family = trl_alloc(g->n_factors + 1, sizeof *e->family),
                             .row = trl_alloc(g->n_factors + 1, sizeof *e->row),
                             .gold = trl_alloc(g->n_factors + 1, sizeof *e->gold),
                             .y = trl_alloc(g->n_variables + 1, sizeof *e->y),
                             .line = x->line};
    const size_t n = x->path ? strlen(x->path) + 1 : 0;
    if (n && (e->path = trl_alloc(n, 1)))
        memcpy(e->path, x->path, n);
    return e->family && e->row && e->gold && e->y && (e->path || !n) ? e : NULL;
}

static void number_rows(const trl_graph_view *g, const trl_graph_case *x, trl_graph_example *e,
                        size_t n_rows[TRL_FAMILIES_MAX])
{
    memcpy(e->family, x->family, g->n_factors * sizeof *e->family);
    memcpy(e->y, x->y, g->n_variables * sizeof *e->y);
    for (size_t a = 0; a < g->n_factors; a++) {
        const bool tied = e->family[a] != TRL_NO_TEMPLATE;
        e->row[a] = tied ? (uint32_t)n_rows[e->family[a]]++ : 0;
        e->gold[a] = (uint32_t)gold_cell(g, a, x->y);
    }
}

/* The attributes of each family's rows after each other, as the corpus takes them. */
static trl_status add_rows(trl_graph_corpus *c, const trl_graph_view *g, const trl_graph_case *x,
                           const trl_graph_example *e, const size_t n_rows[TRL_FAMILIES_MAX],
                           trl_error *err)
{
    const size_t F = c->corpus.n_families, n_attrs = x->begin[g->n_factors];
    trl_factors part[TRL_FAMILIES_MAX] = {0};
    uint32_t *gold = trl_alloc(g->n_factors + 1, sizeof *gold);
    size_t *begin = trl_alloc(g->n_factors + F + 1, sizeof *begin), r = 0, at = 0;
    trl_attr *attr = trl_alloc(n_attrs + 1, sizeof *attr);
    for (uint32_t f = 0; gold && begin && attr && f < F; f++) {
        part[f] = (trl_factors){n_rows[f], gold + r, begin + r + f, attr};
        for (size_t a = 0; a < g->n_factors; a++) {
            if (e->family[a] != f)
                continue;
            begin[r + f] = at;
            gold[r++] = e->gold[a];
            for (size_t k = x->begin[a]; k < x->begin[a + 1]; k++)
                attr[at++] = x->attr[k];
        }
        begin[r + f] = at;
    }
    const trl_status st = gold && begin && attr
                              ? trl_corpus_add_factors(&c->corpus, part, x->weight, err)
                              : trl_fail_mem(err);
    trl_free(gold);
    trl_free(begin);
    trl_free(attr);
    return st;
}

trl_status trl_graph_corpus_add(trl_graph_corpus *c, const trl_graph_case *x, trl_error *err)
{
    const trl_graph_view g = trl_graph_look(x->graph);
    size_t n_rows[TRL_FAMILIES_MAX] = {0};
    trl_graph_example *e = next_example(c, x, &g);
    if (!e)
        return trl_fail_mem(err);
    const trl_status st = check(c, &g, x, err);
    if (st != TRL_OK)
        return st;
    number_rows(&g, x, e, n_rows);
    return add_rows(c, &g, x, e, n_rows, err);
}
