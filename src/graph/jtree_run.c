/* jtree_run.c -- messages in a junction tree: up to the roots, and down again.
 *
 * Each clique's table phi is the product of its factors.  Upwards, S = sum of phi over what the
 * parent does not have, and the parent's phi is multiplied by S; downwards, S* = the same sum of
 * the parent's phi, and phi is multiplied by S* / S [JLO90].  At the end phi is the clique's
 * marginal distribution.
 *
 * Numbers are linear, every factor and every S scaled to a largest entry of 1 and the scales'
 * logarithms summed.  Then no product exceeds 1, and what is lost to underflow is below 1e-308 of
 * what is kept as long as the largest entry of every S stays above SMALL: relative to that, 1e-108.
 * Otherwise (or when everything is forbidden) all is done again in logarithms, which have no such
 * limits.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "graph/jtree.h"
#include "num/vexp.h"

#define NONE UINT32_MAX
#define SMALL 1e-200

typedef struct run {
    const trl_jtree_input *in;
    const trl_jtree *t;
    double *phi;   /* [cells] */
    double *sep;   /* [sep_cells] */
    double *part;  /* [largest_cut] a factor cut at what is fixed */
    double **psi;  /* [n_tables] exponentials of tables, made once; NULL: not yet */
    double *max;   /* [n_tables] their scales */
    double *room;  /* [table_cells] where psi are, from here on free */
    double *tmp;   /* [largest separator] */
    double *scale; /* [n_cliques] of S, as it was before scaling */
    double log_z;
} run;

static trl_table_map map_of(const trl_jtree *t, const trl_clique *c, size_t step_at)
{
    return (trl_table_map){c->n, t->dim + c->var_at, t->step + step_at};
}

/* ---- factors --------------------------------------------------------------------------------- */

/* Calls of `copy` see the cells of factor a that agree with what is fixed, in order.  The number of
 * them. */
static size_t cut_cells(const run *r, size_t a, const double *from, double *part, double *back)
{
    const trl_graph_view *g = r->in->g;
    const uint32_t *scope = g->scope + g->scope_at[a];
    const size_t n = g->scope_at[a + 1] - g->scope_at[a];
    size_t step[TRL_TABLE_DIMS], dim[TRL_TABLE_DIMS], index[TRL_TABLE_DIMS] = {0};
    size_t at = 0, free_dims = 0, s = 1, cells = 1;
    for (size_t k = n; k-- > 0;) {
        const uint32_t v = scope[k];
        if (!r->t->fixed[v]) {
            step[free_dims] = s; /* the fastest first */
            dim[free_dims++] = g->labels[v];
            cells *= g->labels[v];
        } else if (g->labels[v] > 1)
            at += s * r->in->label[v];
        s *= g->labels[v];
    }
    for (size_t i = 0; i < cells; i++) {
        if (back)
            back[at] = part[i];
        else
            part[i] = from[at];
        for (size_t k = 0; k < free_dims; k++) {
            at += step[k];
            if (++index[k] < dim[k])
                break;
            at -= step[k] * dim[k];
            index[k] = 0;
        }
    }
    return cells;
}

static void fill(size_t n, double x, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x;
}

/* The exponentials of factor a's table, made when they are first needed. */
static double *exponentials(run *r, size_t a, double *max)
{
    const trl_graph_view *g = r->in->g;
    const size_t n = g->cell_at[a + 1] - g->cell_at[a];
    const uint32_t t = g->table_of[a];
    if (!r->psi[t]) {
        r->max[t] = trl_vmax(n, r->in->table[t]);
        r->psi[t] = r->room;
        r->room += n;
        trl_vexp(n, r->in->table[t], r->max[t], r->psi[t]);
    }
    *max = r->max[t];
    return r->psi[t];
}

/* Factor a as its home takes it, cut at what is fixed; *max is its largest logarithm. */
static double *potentials(run *r, size_t a, bool linear, double *max)
{
    if (linear && r->t->whole[a] && r->t->home[a] != NONE)
        return exponentials(r, a, max);
    const size_t n = cut_cells(r, a, r->in->table[r->in->g->table_of[a]], r->part, NULL);
    *max = trl_vmax(n, r->part);
    if (linear && *max > -HUGE_VAL)
        trl_vexp(n, r->part, *max, r->part);
    return r->part;
}

/* All factors into the cliques' tables, linear or as logarithms.  Largest entries go to log_z when
 * linear.  False: a factor forbids everything. */
static bool load(run *r, bool linear)
{
    const trl_jtree *t = r->t;
    for (size_t k = 0; k < t->n_cliques; k++)
        if (!t->clique[k].has_factor)
            fill(t->clique[k].cells, linear ? 1.0 : 0.0, r->phi + t->clique[k].at);
    r->log_z = 0.0;
    for (size_t a = 0; a < r->in->g->n_factors; a++) {
        double max, *x = potentials(r, a, linear, &max);
        if (max == -HUGE_VAL)
            return false;
        if (linear || t->home[a] == NONE) /* then it is its only cell */
            r->log_z += max;
        if (t->home[a] == NONE)
            continue;
        const trl_clique *c = &t->clique[t->home[a]];
        const trl_table_map map = map_of(t, c, t->home_at[a]);
        trl_table_apply(t->opens[a] ? TRL_TABLE_SET
                        : linear    ? TRL_TABLE_MULTIPLY
                                    : TRL_TABLE_ADD,
                        &map, r->phi + c->at, x);
    }
    return true;
}

/* ---- linear ---------------------------------------------------------------------------------- */

static void scale(size_t n, double c, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] *= c;
}

/* The sum over what the parent does not have: whole rows, for the separator is last and fastest. */
static void sum_own(const run *r, const trl_clique *c, double *sep)
{
    const size_t dim[2] = {c->cells / c->sep_cells, c->sep_cells};
    const size_t step[2] = {0, 1};
    fill(c->sep_cells, 0.0, sep);
    trl_table_apply(TRL_TABLE_SUM, &(trl_table_map){2, dim, step}, r->phi + c->at, sep);
}

/* False: out of the range of doubles, or everything is forbidden. */
static bool up(run *r)
{
    const trl_jtree *t = r->t;
    for (size_t k = t->n_cliques; k-- > 0;) {
        const trl_clique *c = &t->clique[k];
        double *sep = r->sep + c->sep_at;
        if (c->parent == NONE) {
            double sum = 0.0;
            const size_t step = 0;
            trl_table_apply(TRL_TABLE_SUM, &(trl_table_map){1, &c->cells, &step}, r->phi + c->at,
                            &sum);
            if (!(sum >= SMALL))
                return false;
            scale(c->cells, 1.0 / sum, r->phi + c->at);
            r->log_z += log(sum);
            continue;
        }
        sum_own(r, c, sep);
        const double max = trl_vmax(c->sep_cells, sep);
        if (!(max >= SMALL))
            return false;
        scale(c->sep_cells, 1.0 / max, sep);
        r->scale[k] = max;
        r->log_z += log(max);
        const trl_clique *p = &t->clique[c->parent];
        const trl_table_map map = map_of(t, p, c->up_at);
        trl_table_apply(TRL_TABLE_MULTIPLY, &map, r->phi + p->at, sep);
    }
    return true;
}

static void down(run *r)
{
    const trl_jtree *t = r->t;
    for (size_t k = 0; k < t->n_cliques; k++) {
        const trl_clique *c = &t->clique[k];
        if (c->parent == NONE)
            continue;
        const trl_clique *p = &t->clique[c->parent];
        const trl_table_map map = map_of(t, p, c->up_at);
        double *old = r->sep + c->sep_at;
        fill(c->sep_cells, 0.0, r->tmp);
        trl_table_apply(TRL_TABLE_SUM, &map, r->phi + p->at, r->tmp);
        trl_table_ratio(c->sep_cells, r->scale[k], r->tmp, old);
        const size_t dim[2] = {c->cells / c->sep_cells, c->sep_cells};
        const size_t step[2] = {0, 1};
        trl_table_apply(TRL_TABLE_MULTIPLY, &(trl_table_map){2, dim, step}, r->phi + c->at, old);
    }
}

/* ---- logarithms ------------------------------------------------------------------------------ */

/* sub = log sum exp of table; `shift` is scratch like sub. */
static void log_sum(const trl_table_map *map, double *table, size_t n_sub, double *shift,
                    double *sub)
{
    fill(n_sub, -HUGE_VAL, shift);
    trl_table_apply(TRL_TABLE_MAX, map, table, shift);
    fill(n_sub, 0.0, sub);
    trl_table_exp_sum(map, table, shift, sub);
    for (size_t i = 0; i < n_sub; i++)
        sub[i] = shift[i] > -HUGE_VAL ? shift[i] + log(sub[i]) : -HUGE_VAL;
}

static void own_map(const trl_clique *c, size_t *dim, size_t *step)
{
    dim[0] = c->cells / c->sep_cells;
    dim[1] = c->sep_cells;
    step[0] = 0;
    step[1] = 1;
}

static bool up_log(run *r, bool maximise)
{
    const trl_jtree *t = r->t;
    for (size_t k = t->n_cliques; k-- > 0;) {
        const trl_clique *c = &t->clique[k];
        double *sep = r->sep + c->sep_at;
        size_t dim[2], step[2];
        own_map(c, dim, step); /* of a root: one separator cell */
        const trl_table_map own = {2, dim, step};
        fill(c->sep_cells, -HUGE_VAL, sep);
        if (maximise)
            trl_table_apply(TRL_TABLE_MAX, &own, r->phi + c->at, sep);
        else
            log_sum(&own, r->phi + c->at, c->sep_cells, r->tmp, sep);
        if (!(trl_vmax(c->sep_cells, sep) > -HUGE_VAL))
            return false;
        if (c->parent == NONE) {
            r->log_z += sep[0];
            for (size_t i = 0; !maximise && i < c->cells; i++)
                r->phi[c->at + i] -= sep[0];
            continue;
        }
        const trl_clique *p = &t->clique[c->parent];
        const trl_table_map map = map_of(t, p, c->up_at);
        trl_table_apply(TRL_TABLE_ADD, &map, r->phi + p->at, sep);
    }
    return true;
}

/* Then turns everything into probabilities.  `more` is scratch like tmp. */
static void down_log(run *r, double *more)
{
    const trl_jtree *t = r->t;
    for (size_t k = 0; k < t->n_cliques; k++) {
        const trl_clique *c = &t->clique[k];
        if (c->parent == NONE)
            continue;
        const trl_clique *p = &t->clique[c->parent];
        const trl_table_map map = map_of(t, p, c->up_at);
        double *old = r->sep + c->sep_at;
        log_sum(&map, r->phi + p->at, c->sep_cells, more, r->tmp);
        for (size_t i = 0; i < c->sep_cells; i++)
            old[i] = old[i] > -HUGE_VAL ? r->tmp[i] - old[i] : -HUGE_VAL;
        size_t dim[2], step[2];
        own_map(c, dim, step);
        trl_table_apply(TRL_TABLE_ADD, &(trl_table_map){2, dim, step}, r->phi + c->at, old);
    }
    trl_vexp(t->cells, r->phi, 0.0, r->phi);
}

/* ---- results --------------------------------------------------------------------------------- */

/* From the marginals of its factor. */
static void sum_factor(const trl_graph_view *g, uint32_t a, uint32_t v, double *factor, double *p)
{
    const size_t n = g->scope_at[a + 1] - g->scope_at[a];
    size_t dim[TRL_TABLE_DIMS], step[TRL_TABLE_DIMS];
    for (size_t k = 0; k < n; k++) {
        dim[k] = g->labels[g->scope[g->scope_at[a] + k]];
        step[k] = g->scope[g->scope_at[a] + k] == v;
    }
    trl_table_apply(TRL_TABLE_SUM, &(trl_table_map){n, dim, step}, factor + g->cell_at[a], p);
}

static void variable_marginals(const run *r, double *factor, double *out)
{
    const trl_graph_view *g = r->in->g;
    size_t step[TRL_TABLE_DIMS];
    for (uint32_t v = 0; v < g->n_variables; v++) {
        double *p = out + g->label_at[v];
        fill(g->labels[v], 0.0, p);
        if (r->t->own[v] == NONE) {
            p[g->labels[v] > 1 ? r->in->label[v] : 0] = 1.0;
            continue;
        }
        if (r->t->via[v] != NONE) {
            sum_factor(g, r->t->via[v], v, factor, p);
            continue;
        }
        const trl_clique *c = &r->t->clique[r->t->own[v]];
        for (size_t k = 0; k < c->n; k++)
            step[k] = r->t->vars[c->var_at + k] == v;
        const trl_table_map map = {c->n, r->t->dim + c->var_at, step};
        trl_table_apply(TRL_TABLE_SUM, &map, r->phi + c->at, p);
    }
}

static void factor_marginal(const run *r, size_t a, double *p)
{
    const trl_graph_view *g = r->in->g;
    const size_t cells = g->cell_at[a + 1] - g->cell_at[a];
    size_t cut = 1;
    for (size_t k = g->scope_at[a]; k < g->scope_at[a + 1]; k++)
        cut *= r->t->fixed[g->scope[k]] ? 1 : g->labels[g->scope[k]];
    double *to = cut == cells ? p : r->part;
    fill(cells, 0.0, p);
    fill(cut, r->t->home[a] == NONE ? 1.0 : 0.0, to);
    if (r->t->home[a] != NONE) {
        const trl_clique *c = &r->t->clique[r->t->home[a]];
        const trl_table_map map = map_of(r->t, c, r->t->home_at[a]);
        trl_table_apply(TRL_TABLE_SUM, &map, r->phi + c->at, to);
    }
    if (to != p)
        cut_cells(r, a, NULL, r->part, p);
}

/* Those of one variable are the variable's. */
static void marginals(const run *r, double *variable, double *factor)
{
    const trl_graph_view *g = r->in->g;
    for (size_t a = 0; a < g->n_factors; a++)
        if (g->scope_at[a + 1] - g->scope_at[a] != 1)
            factor_marginal(r, a, factor + g->cell_at[a]);
    variable_marginals(r, factor, variable);
    for (size_t a = 0; a < g->n_factors; a++)
        if (g->scope_at[a + 1] - g->scope_at[a] == 1)
            memcpy(factor + g->cell_at[a], variable + g->label_at[g->scope[g->scope_at[a]]],
                   (g->cell_at[a + 1] - g->cell_at[a]) * sizeof *factor);
}

static size_t largest_separator(const trl_jtree *t)
{
    size_t n = 1;
    for (size_t k = 0; k < t->n_cliques; k++)
        n = t->clique[k].sep_cells > n ? t->clique[k].sep_cells : n;
    return n;
}

static bool run_init(run *r, const trl_jtree_input *in, trl_arena *a)
{
    const trl_jtree *t = in->tree;
    *r = (run){.in = in,
               .t = t,
               .phi = trl_arena_get(a, t->cells, sizeof(double)),
               .sep = trl_arena_get(a, t->sep_cells, sizeof(double)),
               .part = trl_arena_get(a, t->largest_cut, sizeof(double)),
               .tmp = trl_arena_get(a, largest_separator(t), sizeof(double)),
               .scale = trl_arena_get(a, t->n_cliques, sizeof(double)),
               .psi = trl_arena_get(a, in->g->n_tables, sizeof(double *)),
               .max = trl_arena_get(a, in->g->n_tables, sizeof(double)),
               .room = trl_arena_get(a, t->table_cells, sizeof(double))};
    for (size_t k = 0; r->psi && k < in->g->n_tables; k++)
        r->psi[k] = NULL;
    return r->phi && r->sep && r->part && r->tmp && r->scale && r->psi && r->max && r->room;
}

static trl_status forbidden(trl_error *err)
{
    return trl_fail(err, TRL_ENUMERIC, "every labelling is forbidden: the probability is 0");
}

trl_status trl_jtree_marginals(const trl_jtree_input *in, trl_arena *a, double *log_z,
                               double *variable, double *factor, trl_error *err)
{
    run r;
    if (!run_init(&r, in, a))
        return trl_fail_mem(err);
    if (load(&r, true) && up(&r)) {
        down(&r);
    } else {
        double *more = trl_arena_get(a, largest_separator(in->tree), sizeof *more);
        if (!more)
            return trl_fail_mem(err);
        if (!load(&r, false) || !up_log(&r, false))
            return forbidden(err);
        down_log(&r, more);
    }
    *log_z = r.log_z;
    marginals(&r, variable, factor);
    return TRL_OK;
}

/* Maxima of the whole graph for the cells of every clique, after up_log. */
static void down_max(run *r)
{
    const trl_jtree *t = r->t;
    for (size_t k = 0; k < t->n_cliques; k++) {
        const trl_clique *c = &t->clique[k];
        if (c->parent == NONE)
            continue;
        const trl_clique *p = &t->clique[c->parent];
        const trl_table_map map = map_of(t, p, c->up_at);
        double *old = r->sep + c->sep_at;
        fill(c->sep_cells, -HUGE_VAL, r->tmp);
        trl_table_apply(TRL_TABLE_MAX, &map, r->phi + p->at, r->tmp);
        for (size_t i = 0; i < c->sep_cells; i++)
            old[i] = old[i] > -HUGE_VAL ? r->tmp[i] - old[i] : -HUGE_VAL;
        size_t dim[2], step[2];
        own_map(c, dim, step);
        trl_table_apply(TRL_TABLE_ADD, &(trl_table_map){2, dim, step}, r->phi + c->at, old);
    }
}

trl_status trl_jtree_max_marginals(const trl_jtree_input *in, trl_arena *a, double *variable,
                                   trl_error *err)
{
    const trl_graph_view *g = in->g;
    run r;
    size_t step[TRL_TABLE_DIMS];
    if (!run_init(&r, in, a))
        return trl_fail_mem(err);
    if (!load(&r, false) || !up_log(&r, true))
        return forbidden(err);
    down_max(&r);
    for (uint32_t v = 0; v < g->n_variables; v++) {
        double *m = variable + g->label_at[v];
        fill(g->labels[v], -HUGE_VAL, m);
        if (r.t->own[v] == NONE) {
            m[g->labels[v] > 1 ? in->label[v] : 0] = 0.0;
            continue;
        }
        const trl_clique *c = &r.t->clique[r.t->own[v]];
        for (size_t k = 0; k < c->n; k++)
            step[k] = r.t->vars[c->var_at + k] == v;
        trl_table_apply(TRL_TABLE_MAX, &(trl_table_map){c->n, r.t->dim + c->var_at, step},
                        r.phi + c->at, m);
        const double most = trl_vmax(g->labels[v], m);
        for (size_t j = 0; j < g->labels[v]; j++)
            m[j] -= most;
    }
    return TRL_OK;
}

/* The best labels of the variables that only clique c has, given its separator's in y. */
static void decode(const run *r, const trl_clique *c, uint32_t *y)
{
    const trl_jtree *t = r->t;
    size_t at = 0, best = 0;
    for (size_t k = c->n_own; k < c->n; k++)
        at = at * t->dim[c->var_at + k] + y[t->vars[c->var_at + k]];
    const double *phi = r->phi + c->at + at;
    for (size_t i = 1; i < c->cells / c->sep_cells; i++)
        if (phi[i * c->sep_cells] > phi[best * c->sep_cells])
            best = i;
    for (size_t k = c->n_own; k-- > 0; best /= t->dim[c->var_at + k])
        y[t->vars[c->var_at + k]] = (uint32_t)(best % t->dim[c->var_at + k]);
}

trl_status trl_jtree_best(const trl_jtree_input *in, trl_arena *a, uint32_t *y, trl_error *err)
{
    run r;
    if (!run_init(&r, in, a))
        return trl_fail_mem(err);
    if (!load(&r, false) || !up_log(&r, true))
        return forbidden(err);
    for (uint32_t v = 0; v < in->g->n_variables; v++)
        y[v] = in->g->labels[v] > 1 && in->tree->fixed[v] ? in->label[v] : 0;
    for (size_t k = 0; k < in->tree->n_cliques; k++)
        decode(&r, &in->tree->clique[k], y);
    return TRL_OK;
}
