/* graph_rows.c -- the factors of every row. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_rows.h"

#include "base/fail.h"
#include "base/mem.h"

void trl_graph_rows_fini(trl_graph_rows *r)
{
    trl_free(r->first);
    trl_free(r->example);
    trl_free(r->begin);
    trl_free(r->factor);
    for (size_t f = 0; f < TRL_FAMILIES_MAX; f++)
        trl_free(r->gold[f]);
    trl_free(r->weight);
    *r = (trl_graph_rows){0};
}

/* Counts the factors; false: one of them has no template. */
static bool count(const trl_graph_corpus *c, size_t *n)
{
    *n = 0;
    for (size_t k = 0; k < c->n; k++) {
        const size_t m = trl_graph_look(c->example[k].graph).n_factors;
        for (size_t a = 0; a < m; a++)
            if (c->example[k].family[a] == TRL_NO_TEMPLATE)
                return false;
        *n += m;
    }
    return true;
}

/* begin[row + 1] moves from the start of a row to its end. */
static void fill(trl_graph_rows *r, const trl_graph_corpus *c)
{
    for (size_t k = 0; k < c->n; k++) {
        const size_t m = trl_graph_look(c->example[k].graph).n_factors;
        const uint64_t at = c->corpus.first[k];
        for (uint64_t row = at; row < c->corpus.first[k + 1]; row++)
            r->example[row] = (uint32_t)k;
        for (size_t a = 0; a < m; a++)
            r->begin[at + c->example[k].row[a] + 2]++;
    }
    for (size_t row = 0; row < r->n; row++)
        r->begin[row + 2] += r->begin[row + 1];
    for (size_t k = 0; k < c->n; k++) {
        const size_t m = trl_graph_look(c->example[k].graph).n_factors;
        for (size_t a = 0; a < m; a++)
            r->factor[r->begin[c->corpus.first[k] + c->example[k].row[a] + 1]++] = (uint32_t)a;
    }
}

static bool make_gold(trl_graph_rows *r, const trl_graph_corpus *c)
{
    for (size_t f = 0; f < c->corpus.n_families; f++) {
        r->gold[f] = trl_alloc(r->n + 1, sizeof *r->gold[f]);
        for (size_t row = 0; r->gold[f] && row < r->n; row++)
            r->gold[f][row] = TRL_NO_ID;
        if (!r->gold[f])
            return false;
    }
    for (size_t row = 0; row < r->n; row++) {
        const trl_graph_example *e = &c->example[r->example[row]];
        for (uint64_t k = r->begin[row]; k < r->begin[row + 1]; k++) {
            const uint32_t a = r->factor[k], *place = c->corpus.family[e->family[a]].place;
            r->gold[e->family[a]][row] = place ? place[e->gold[a]] : e->gold[a];
        }
    }
    return true;
}

static bool make_weight(trl_graph_rows *r, const trl_graph_corpus *c)
{
    bool plain = true;
    for (size_t k = 0; k < c->n; k++)
        plain = plain && c->corpus.weight[k] == 1.0;
    r->weight = plain ? NULL : trl_alloc(r->n + 1, sizeof *r->weight);
    for (size_t row = 0; r->weight && row < r->n; row++)
        r->weight[row] = c->corpus.weight[r->example[row]];
    return plain || r->weight;
}

trl_status trl_graph_rows_init(trl_graph_rows *r, const trl_graph_corpus *c, trl_error *err)
{
    size_t factors;
    *r = (trl_graph_rows){0};
    if (!count(c, &factors))
        return TRL_OK;
    const size_t n = c->corpus.n_tokens;
    r->first = trl_alloc(n + 1, sizeof *r->first);
    r->example = trl_alloc(n + 1, sizeof *r->example);
    r->begin = trl_zalloc(n + 2, sizeof *r->begin);
    r->factor = trl_alloc(factors + 1, sizeof *r->factor);
    if (!r->first || !r->example || !r->begin || !r->factor) {
        trl_graph_rows_fini(r);
        return trl_fail_mem(err);
    }
    r->n = n;
    for (size_t row = 0; row <= n; row++)
        r->first[row] = row;
    fill(r, c);
    if (make_gold(r, c) && make_weight(r, c))
        return TRL_OK;
    trl_graph_rows_fini(r);
    return trl_fail_mem(err);
}
