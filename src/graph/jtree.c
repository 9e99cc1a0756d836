/* jtree.c -- from an elimination to a tree of cliques. */
/* SPDX-License-Identifier: MIT */
#include "graph/jtree.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define NONE UINT32_MAX

/* Every place i of the elimination stands for the clique {order[i]} + near(i); into[i] is the place
 * whose clique it was merged into, itself when it stays.  last[i] is, of a clique that stays, the
 * last place merged into it: near(last) is its separator. */
typedef struct merging {
    uint32_t *into, *last, *up; /* up[i]: place of the parent's clique before merging, NONE: root */
    uint32_t *number;           /* [n] of the cliques that stay, parents first */
    uint32_t *queue, *child, *sibling;
} merging;

static size_t near_n(const trl_elimination *e, uint32_t i)
{
    return e->near_at[i + 1] - e->near_at[i];
}

static void merge(const trl_elimination *e, merging *m)
{
    for (uint32_t i = 0; i < e->n; i++) {
        m->into[i] = m->last[i] = i;
        m->up[i] = NONE;
        for (size_t k = e->near_at[i]; k < e->near_at[i + 1]; k++)
            if (e->place[e->near[k]] < m->up[i])
                m->up[i] = e->place[e->near[k]];
    }
    for (uint32_t i = 0; i < e->n; i++) {
        const uint32_t p = m->up[i];
        if (p == NONE || m->into[p] != p || near_n(e, i) != near_n(e, p) + 1)
            continue;
        m->into[p] = m->into[i];
        m->last[m->into[i]] = p;
    }
}

/* Numbers the cliques that stay, breadth first from the roots. */
static size_t number_cliques(const trl_elimination *e, merging *m)
{
    size_t n = 0;
    for (uint32_t i = 0; i < e->n; i++)
        m->child[i] = NONE;
    for (uint32_t i = (uint32_t)e->n; i-- > 0;) {
        if (m->into[i] != i)
            continue;
        const uint32_t up = m->up[m->last[i]];
        if (up == NONE) {
            m->queue[n++] = i;
        } else {
            const uint32_t p = m->into[up];
            m->sibling[i] = m->child[p];
            m->child[p] = i;
        }
    }
    for (size_t k = 0; k < n; k++) {
        m->number[m->queue[k]] = (uint32_t)k;
        for (uint32_t c = m->child[m->queue[k]]; c != NONE; c = m->sibling[c])
            m->queue[n++] = c;
    }
    return n;
}

static bool merging_init(merging *m, size_t n)
{
    *m = (merging){trl_alloc(n, 4), trl_alloc(n, 4), trl_alloc(n, 4), trl_alloc(n, 4),
                   trl_alloc(n, 4), trl_alloc(n, 4), trl_alloc(n, 4)};
    return m->into && m->last && m->up && m->number && m->queue && m->child && m->sibling;
}

static void merging_fini(merging *m)
{
    trl_free(m->into);
    trl_free(m->last);
    trl_free(m->up);
    trl_free(m->number);
    trl_free(m->queue);
    trl_free(m->child);
    trl_free(m->sibling);
}

/* ---- layout ---------------------------------------------------------------------------------- */

static bool add_var(trl_jtree *t, const trl_graph_view *g, uint32_t v)
{
    size_t cap = t->cap_vars;
    uint32_t *vars = trl_reserve(t->vars, &cap, t->n_vars + 1, sizeof *vars);
    if (!vars)
        return false;
    t->vars = vars;
    size_t *dim = trl_reserve(t->dim, &t->cap_vars, t->n_vars + 1, sizeof *dim);
    if (!dim)
        return false;
    t->dim = dim;
    vars[t->n_vars] = v;
    dim[t->n_vars++] = g->labels[v];
    return true;
}

/* Appends, for each variable of clique c, its step in a table over scope[0 .. n), last fastest,
 * where fixed variables count for nothing. */
static bool add_steps(trl_jtree *t, const trl_graph_view *g, const trl_clique *c, size_t n,
                      const uint32_t *scope)
{
    size_t *p = trl_reserve(t->step, &t->cap_steps, t->n_steps + c->n, sizeof *p);
    if (!p)
        return false;
    t->step = p;
    p += t->n_steps;
    t->n_steps += c->n;
    for (size_t i = 0; i < c->n; i++)
        p[i] = 0;
    size_t step = 1;
    for (size_t k = n; k-- > 0;) {
        if (t->fixed[scope[k]])
            continue;
        for (size_t i = 0; i < c->n; i++)
            if (t->vars[c->var_at + i] == scope[k])
                p[i] = step;
        step *= g->labels[scope[k]];
    }
    return true;
}

/* The clique at place i: the variables of the merged places, then the separator as the parent has
 * it.  The parent is laid out already. */
static bool lay_out(trl_jtree *t, const trl_graph_view *g, const trl_elimination *e,
                    const merging *m, uint32_t i, trl_clique *c)
{
    const uint32_t last = m->last[i], up = m->up[last];
    c->parent = up == NONE ? NONE : m->number[m->into[up]];
    c->var_at = t->n_vars;
    for (uint32_t q = i;; q = m->up[q]) {
        if (!add_var(t, g, e->order[q]))
            return false;
        if (q == last)
            break;
    }
    c->n_own = t->n_vars - c->var_at;
    c->sep_cells = 1;
    if (c->parent != NONE) {
        const trl_clique *p = &t->clique[c->parent];
        for (size_t j = p->var_at; j < p->var_at + p->n; j++)
            for (size_t k = e->near_at[last]; k < e->near_at[last + 1]; k++)
                if (e->near[k] == t->vars[j]) {
                    if (!add_var(t, g, e->near[k]))
                        return false;
                    c->sep_cells *= g->labels[e->near[k]];
                }
    }
    c->n = t->n_vars - c->var_at;
    c->cells = 1;
    for (size_t k = 0; k < c->n; k++)
        c->cells *= t->dim[c->var_at + k];
    c->at = t->cells;
    c->sep_at = t->sep_cells;
    t->cells += c->cells;
    t->sep_cells += c->sep_cells;
    c->up_at = t->n_steps;
    return c->parent == NONE ||
           add_steps(t, g, &t->clique[c->parent], c->n - c->n_own, t->vars + c->var_at + c->n_own);
}

/* ---- where factors and variables are looked up ------------------------------------------------
 */

#define LOOKS 64 /* cliques of a variable that are considered */

/* Which cliques have a variable: list[at[v] ..). */
typedef struct clique_lists {
    size_t *at;
    uint32_t *list;
} clique_lists;

static bool list_cliques(const trl_jtree *t, const trl_graph_view *g, clique_lists *c)
{
    c->at = trl_zalloc(g->n_variables + 2, sizeof *c->at);
    c->list = trl_alloc(t->n_vars, sizeof *c->list);
    if (!c->at || !c->list)
        return false;
    for (size_t i = 0; i < t->n_vars; i++)
        c->at[t->vars[i] + 2]++;
    for (size_t v = 0; v < g->n_variables; v++)
        c->at[v + 2] += c->at[v + 1];
    for (uint32_t k = 0; k < t->n_cliques; k++)
        for (size_t i = t->clique[k].var_at; i < t->clique[k].var_at + t->clique[k].n; i++)
            c->list[c->at[t->vars[i] + 1]++] = k;
    return true;
}

static bool clique_has(const trl_jtree *t, const trl_clique *c, uint32_t v)
{
    for (size_t i = c->var_at; i < c->var_at + c->n; i++)
        if (t->vars[i] == v)
            return true;
    return false;
}

/* The clique with the fewest cells, among the first LOOKS of the rarest variable's, that has all
 * free ones of scope[0 .. n); `known` is one that does. */
static uint32_t smallest_clique(const trl_jtree *t, const clique_lists *c, size_t n,
                                const uint32_t *scope, uint32_t known)
{
    uint32_t rare = NONE, best = known;
    for (size_t k = 0; k < n; k++)
        if (!t->fixed[scope[k]] &&
            (rare == NONE || c->at[scope[k] + 1] - c->at[scope[k]] < c->at[rare + 1] - c->at[rare]))
            rare = scope[k];
    const size_t from = c->at[rare], to = c->at[rare + 1];
    for (size_t i = from; i < to && i < from + LOOKS; i++) {
        const trl_clique *q = &t->clique[c->list[i]];
        bool all = q->cells < t->clique[best].cells;
        for (size_t k = 0; all && k < n; k++)
            all = t->fixed[scope[k]] || clique_has(t, q, scope[k]);
        best = all ? c->list[i] : best;
    }
    return best;
}

static bool place_factors(trl_jtree *t, const trl_graph_view *g, const trl_elimination *e,
                          const merging *m, const clique_lists *lists)
{
    for (size_t a = 0; a < g->n_factors; a++) {
        const uint32_t *scope = g->scope + g->scope_at[a];
        const size_t n = g->scope_at[a + 1] - g->scope_at[a];
        uint32_t first = NONE;
        size_t cells = 1;
        for (size_t k = 0; k < n; k++)
            if (!t->fixed[scope[k]]) {
                first = e->place[scope[k]] < first ? e->place[scope[k]] : first;
                cells *= g->labels[scope[k]];
            }
        t->largest_cut = cells > t->largest_cut ? cells : t->largest_cut;
        t->home[a] =
            first == NONE ? NONE : smallest_clique(t, lists, n, scope, m->number[m->into[first]]);
        t->home_at[a] = t->n_steps;
        if (first != NONE && !add_steps(t, g, &t->clique[t->home[a]], n, scope))
            return false;
    }
    return true;
}

/* What a run need not find out again: which factors are whole and which come first in their homes,
 * and from which marginals of factors those of variables are summed. */
static void note_factors(trl_jtree *t, const trl_graph_view *g)
{
    for (uint32_t v = 0; v < g->n_variables; v++)
        t->via[v] = NONE;
    for (uint32_t a = 0; a < g->n_factors; a++) {
        const size_t cells = g->cell_at[a + 1] - g->cell_at[a];
        const size_t from = g->scope_at[a], to = g->scope_at[a + 1];
        t->whole[a] = true;
        for (size_t k = from; k < to; k++)
            t->whole[a] = t->whole[a] && !t->fixed[g->scope[k]];
        t->opens[a] = t->home[a] != NONE && !t->clique[t->home[a]].has_factor;
        if (t->home[a] != NONE)
            t->clique[t->home[a]].has_factor = true;
        if (t->whole[a])
            t->table_cells += cells;
        for (size_t k = from; t->whole[a] && to > from + 1 && k < to; k++) {
            uint32_t *via = &t->via[g->scope[k]];
            const size_t best = *via == NONE ? t->clique[t->own[g->scope[k]]].cells
                                             : g->cell_at[*via + 1] - g->cell_at[*via];
            *via = cells < best ? a : *via;
        }
    }
}

static bool build(trl_jtree *t, const trl_graph_view *g, const trl_elimination *e, merging *m)
{
    merge(e, m);
    t->n_cliques = number_cliques(e, m);
    t->clique = trl_zalloc(t->n_cliques, sizeof *t->clique);
    if (!t->clique)
        return false;
    for (size_t k = 0; k < t->n_cliques; k++) {
        trl_clique *c = &t->clique[k];
        if (!lay_out(t, g, e, m, m->queue[k], c))
            return false;
        t->total += (double)c->cells;
        t->largest = (double)c->cells > t->largest ? (double)c->cells : t->largest;
        t->width = c->n > t->width + 1 ? c->n - 1 : t->width;
    }
    clique_lists lists = {0};
    bool ok = list_cliques(t, g, &lists);
    for (uint32_t v = 0; ok && v < g->n_variables; v++)
        t->own[v] =
            t->fixed[v] ? NONE : smallest_clique(t, &lists, 1, &v, m->number[m->into[e->place[v]]]);
    ok = ok && place_factors(t, g, e, m, &lists);
    if (ok)
        note_factors(t, g);
    trl_free(lists.at);
    trl_free(lists.list);
    return ok;
}

/* ---- from a graph ---------------------------------------------------------------------------- */

static trl_status too_wide(const trl_elimination *e, double max_cells, trl_error *err)
{
    trl_fail(
        err, TRL_EINVAL,
        "exact inference needs %s %.3g cells, the largest clique %.3g (%zu variables): more than "
        "the %.3g that are allowed",
        e->complete ? "about" : "at least", e->cells, e->largest, e->width + 1, max_cells);
    return trl_fail_hint(err, TRL_EINVAL,
                         "bp, trw, mf and mplp are approximate but need no cliques");
}

trl_status trl_jtree_new(const trl_graph_view *g, const bool *observed, bool weighted,
                         double max_cells, trl_jtree **out, trl_error *err)
{
    trl_elimination e = {0};
    merging m = {0};
    trl_jtree *t = trl_zalloc(1, sizeof *t);
    if (!t)
        return trl_fail_mem(err);
    t->fixed = trl_alloc(g->n_variables, sizeof *t->fixed);
    t->own = trl_alloc(g->n_variables, sizeof *t->own);
    t->home = trl_alloc(g->n_factors, sizeof *t->home);
    t->home_at = trl_alloc(g->n_factors, sizeof *t->home_at);
    t->whole = trl_alloc(g->n_factors, sizeof *t->whole);
    t->opens = trl_alloc(g->n_factors, sizeof *t->opens);
    t->via = trl_alloc(g->n_variables, sizeof *t->via);
    bool ok = t->fixed && t->own && t->home && t->home_at && t->whole && t->opens && t->via;
    for (size_t v = 0; ok && v < g->n_variables; v++)
        t->fixed[v] = g->labels[v] == 1 || (observed && observed[v]);
    trl_status st =
        ok ? trl_eliminate(g, t->fixed, weighted, max_cells, &e, err) : trl_fail_mem(err);
    if (st == TRL_OK && (!e.complete || e.cells > max_cells))
        st = too_wide(&e, max_cells, err);
    if (st == TRL_OK && (!merging_init(&m, e.n) || !build(t, g, &e, &m)))
        st = trl_fail_mem(err);
    merging_fini(&m);
    trl_elimination_fini(&e);
    if (st == TRL_OK)
        *out = t;
    else
        trl_jtree_free(t);
    return st;
}

void trl_jtree_free(trl_jtree *t)
{
    if (!t)
        return;
    trl_free(t->clique);
    trl_free(t->vars);
    trl_free(t->dim);
    trl_free(t->step);
    trl_free(t->fixed);
    trl_free(t->own);
    trl_free(t->home);
    trl_free(t->home_at);
    trl_free(t->whole);
    trl_free(t->opens);
    trl_free(t->via);
    trl_free(t);
}
