/* problem.c -- scores of labellings, climbing, and the search for an allowed one. */
/* SPDX-License-Identifier: MIT */
#include "graph/problem.h"

#include <math.h>

#include "base/fail.h"

#define NONE UINT32_MAX

static trl_status forbidden(trl_error *err)
{
    return trl_fail(err, TRL_ENUMERIC, "every labelling is forbidden: the probability is 0");
}

trl_status trl_problem_init(trl_problem *p, trl_error *err)
{
    const trl_graph_view *g = p->g;
    p->node = trl_arena_get(p->arena, g->label_at[g->n_variables], sizeof *p->node);
    if (!p->node)
        return trl_fail_mem(err);
    p->constant = 0.0;
    for (uint32_t v = 0; v < g->n_variables; v++)
        for (uint32_t y = 0; y < g->labels[v]; y++)
            p->node[g->label_at[v] + y] =
                !p->label || p->label[v] == TRL_UNOBSERVED || p->label[v] == y ? 0.0 : -HUGE_VAL;
    p->has_zeros = false;
    for (size_t a = 0; a < g->n_factors; a++) {
        const double *theta = p->table[g->table_of[a]];
        for (size_t i = 0; i < g->cell_at[a + 1] - g->cell_at[a]; i++)
            p->has_zeros = p->has_zeros || theta[i] == -HUGE_VAL;
        if (trl_arity(g, a) == 0)
            p->constant += theta[0];
        if (trl_arity(g, a) != 1)
            continue;
        const uint32_t v = g->scope[g->scope_at[a]];
        for (size_t y = 0; y < g->labels[v]; y++)
            p->node[g->label_at[v] + y] += theta[y];
    }
    for (uint32_t v = 0; v < g->n_variables; v++) {
        bool any = false;
        for (size_t i = g->label_at[v]; i < g->label_at[v + 1]; i++)
            any = any || p->node[i] > -HUGE_VAL;
        if (!any)
            return forbidden(err);
    }
    return p->constant > -HUGE_VAL ? TRL_OK : forbidden(err);
}

double trl_problem_score(const trl_problem *p, const uint32_t *y)
{
    const trl_graph_view *g = p->g;
    double score = 0.0;
    for (size_t a = 0; a < g->n_factors; a++) {
        size_t cell = 0;
        for (size_t k = g->scope_at[a]; k < g->scope_at[a + 1]; k++)
            cell = cell * g->labels[g->scope[k]] + y[g->scope[k]];
        score += p->table[g->table_of[a]][cell];
    }
    return score;
}

void trl_local_scores(const trl_problem *p, uint32_t v, const uint32_t *y, double *out)
{
    const trl_graph_view *g = p->g;
    for (size_t x = 0; x < g->labels[v]; x++)
        out[x] = p->node[g->label_at[v] + x];
    for (size_t i = p->l->link_at[v]; i < p->l->link_at[v + 1]; i++) {
        const uint32_t a = p->l->edge_factor[p->l->link[i]];
        size_t cell = 0, step = 0;
        for (size_t k = g->scope_at[a]; k < g->scope_at[a + 1]; k++) {
            const uint32_t u = g->scope[k];
            cell = cell * g->labels[u] + (u == v ? 0 : y[u]);
            step = u == v ? 1 : step * g->labels[u];
        }
        for (size_t x = 0; x < g->labels[v]; x++)
            out[x] += p->table[g->table_of[a]][cell + x * step];
    }
}

void trl_climb(const trl_problem *p, double *row, uint32_t *y)
{
    bool better = true;
    for (int sweep = 0; better && sweep < 1000; sweep++) {
        better = false;
        for (uint32_t v = 0; v < p->g->n_variables; v++) {
            trl_local_scores(p, v, y, row);
            uint32_t best = y[v];
            for (uint32_t x = 0; x < p->g->labels[v]; x++)
                if (row[x] > row[best])
                    best = x;
            better = better || best != y[v];
            y[v] = best;
        }
    }
}

/* ---- search ---------------------------------------------------------------------------------- */

typedef struct search {
    const trl_problem *p;
    const trl_bp *messages;
    uint32_t *order;  /* [n_variables] breadth first */
    uint32_t *chosen; /* [n_variables] label; NONE: not yet */
    uint32_t *ranked; /* at label_at: labels, the best first */
    uint32_t *n_left; /* [n_variables] how many of them are allowed */
    uint32_t *next;   /* [n_variables] the one to try next */
    double *rows;     /* TRL_GRAPH_MAX_ARITY of max_width */
    double *sum, *row;
} search;

uint64_t trl_search_steps(const trl_graph_view *g)
{
    return 100000 + 20 * (uint64_t)g->n_variables;
}

static void order_variables(search *s)
{
    const trl_graph_view *g = s->p->g;
    const trl_layout *l = s->p->l;
    size_t head = 0, tail = 0;
    for (uint32_t v = 0; v < g->n_variables; v++)
        s->chosen[v] = NONE;
    for (uint32_t root = 0; root < g->n_variables; root++) {
        if (s->chosen[root] != NONE)
            continue;
        s->chosen[root] = 0; /* stands for: in the order */
        for (s->order[tail++] = root; head < tail; head++) {
            const uint32_t v = s->order[head];
            for (size_t i = l->link_at[v]; i < l->link_at[v + 1]; i++) {
                const uint32_t a = l->edge_factor[l->link[i]];
                for (size_t k = g->scope_at[a]; k < g->scope_at[a + 1]; k++)
                    if (s->chosen[g->scope[k]] == NONE) {
                        s->chosen[g->scope[k]] = 0;
                        s->order[tail++] = g->scope[k];
                    }
            }
        }
    }
    for (uint32_t v = 0; v < g->n_variables; v++)
        s->chosen[v] = NONE;
}

/* s->row = the best score of the factor of edge e for each label of its variable, the chosen labels
 * given. */
static void promise(search *s, uint32_t e)
{
    const trl_graph_view *g = s->p->g;
    const uint32_t a = s->p->l->edge_factor[e];
    const size_t first = g->scope_at[a], m = trl_arity(g, a);
    const double *rows[TRL_GRAPH_MAX_ARITY] = {0};
    uint32_t allowed[TRL_GRAPH_MAX_ARITY];
    for (size_t k = 0; k < m; k++) {
        const uint32_t u = g->scope[first + k];
        allowed[k] = first + k == e ? NONE : s->chosen[u];
        if (first + k == e || allowed[k] != NONE)
            continue;
        if (s->messages) {
            double *row = s->rows + k * s->p->l->max_width;
            trl_bp_send_log(s->messages, (uint32_t)(first + k), row);
            rows[k] = row;
        } else
            rows[k] = s->p->node + g->label_at[u];
    }
    trl_contract_log(&(trl_contraction){.g = g,
                                        .factor = a,
                                        .slot = e - first,
                                        .theta = s->p->table[g->table_of[a]],
                                        .scale = 1.0,
                                        .rows = rows,
                                        .allowed = allowed,
                                        .maximise = true},
                     s->row);
}

/* Ranks the labels of v; equals by number. */
static void rank(search *s, uint32_t v)
{
    const trl_graph_view *g = s->p->g;
    const uint32_t n = g->labels[v];
    uint32_t *to = s->ranked + g->label_at[v], k = 0;
    for (uint32_t x = 0; x < n; x++)
        s->sum[x] = s->messages ? s->messages->node[s->p->l->node_at[v] + x]
                                : s->p->node[g->label_at[v] + x];
    for (size_t i = s->p->l->link_at[v]; i < s->p->l->link_at[v + 1]; i++) {
        promise(s, s->p->l->link[i]);
        for (uint32_t x = 0; x < n; x++)
            s->sum[x] += s->row[x];
    }
    for (uint32_t x = 0; x < n; x++) {
        if (!(s->sum[x] > -HUGE_VAL))
            continue;
        uint32_t at = k++;
        for (; at > 0 && s->sum[to[at - 1]] < s->sum[x]; at--)
            to[at] = to[at - 1];
        to[at] = x;
    }
    s->n_left[v] = k;
    s->next[v] = 0;
}

static trl_status walk(search *s, uint64_t max_steps, bool *found, trl_error *err)
{
    const trl_graph_view *g = s->p->g;
    size_t depth = 0;
    bool forwards = true;
    for (uint64_t step = 0; depth < g->n_variables; step++) {
        if (step >= max_steps) {
            *found = false;
            return TRL_OK;
        }
        const uint32_t v = s->order[depth];
        if (forwards)
            rank(s, v);
        if (s->next[v] < s->n_left[v]) {
            s->chosen[v] = s->ranked[g->label_at[v] + s->next[v]++];
            depth++;
            forwards = true;
        } else {
            if (depth == 0)
                return forbidden(err);
            depth--;
            forwards = false;
            s->chosen[s->order[depth]] = NONE;
        }
    }
    *found = true;
    return TRL_OK;
}

trl_status trl_search(const trl_problem *p, const trl_bp *messages, uint64_t max_steps, uint32_t *y,
                      bool *found, trl_error *err)
{
    const size_t n = p->g->n_variables, width = p->l->max_width;
    search s = {.p = p,
                .messages = messages,
                .order = trl_arena_get(p->arena, n, 4),
                .chosen = y,
                .ranked = trl_arena_get(p->arena, p->g->label_at[n], 4),
                .n_left = trl_arena_get(p->arena, n, 4),
                .next = trl_arena_get(p->arena, n, 4),
                .rows = trl_arena_get(p->arena, TRL_GRAPH_MAX_ARITY * width, sizeof(double)),
                .sum = trl_arena_get(p->arena, width, sizeof(double)),
                .row = trl_arena_get(p->arena, width, sizeof(double))};
    if (!s.order || !s.ranked || !s.n_left || !s.next || !s.rows || !s.sum || !s.row)
        return trl_fail_mem(err);
    order_variables(&s);
    return walk(&s, max_steps, found, err);
}

trl_status trl_search_allowed(const trl_problem *p, uint32_t *y, trl_error *err)
{
    bool found;
    const trl_status st = trl_search(p, NULL, trl_search_steps(p->g), y, &found, err);
    if (st == TRL_OK && !found)
        return trl_fail(err, TRL_ENUMERIC, "no labelling that is allowed was found");
    return st;
}
