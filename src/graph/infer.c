/* infer.c -- plans, workspaces, and which method answers what. */
/* SPDX-License-Identifier: MIT */
#include "graph/infer.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "graph/problem.h"

trl_infer_options trl_infer_options_default(void)
{
    return (trl_infer_options){.method = TRL_INFER_EXACT,
                               .schedule = TRL_SCHEDULE_SEQUENTIAL,
                               .tolerance = 1e-9,
                               .weighted_fill = true,
                               .max_cells = 0x1p27,
                               .seed = 1,
                               .burn_in = 1000,
                               .samples = 10000};
}

/* ---- plans ----------------------------------------------------------------------------------- */

static trl_status check_options(const trl_infer_options *o, trl_error *err)
{
    if (!(o->damping >= 0.0 && o->damping < 1.0))
        return trl_fail(err, TRL_EINVAL, "damping must be at least 0 and below 1: %g", o->damping);
    if (!(o->tolerance >= 0.0 && o->tolerance < HUGE_VAL))
        return trl_fail(err, TRL_EINVAL, "the tolerance must not be negative: %g", o->tolerance);
    if (!(o->max_cells >= 1.0 && o->max_cells <= 0x1p40))
        return trl_fail(err, TRL_EINVAL, "the budget of cells must be between 1 and 2^40: %g",
                        o->max_cells);
    if (o->samples == 0 || o->samples > UINT64_MAX / 2 || o->burn_in > UINT64_MAX / 2)
        return trl_fail(err, TRL_EINVAL, "at least one sample is needed");
    return TRL_OK;
}

static trl_status make_layout(trl_infer_plan *p, trl_error *err)
{
    const bool by_bp = p->o.method == TRL_INFER_BP || p->o.method == TRL_INFER_TRW;
    trl_status st = trl_layout_new(&p->g, p->observed, &p->layout, err);
    if (st == TRL_OK && by_bp && p->o.schedule == TRL_SCHEDULE_TREE)
        st = trl_layout_forests(&p->g, p->layout, err);
    p->second_start =
        st == TRL_OK && p->o.second_start && p->o.method == TRL_INFER_BP && !p->layout->is_forest;
    if (st == TRL_OK && (p->o.method == TRL_INFER_TRW || p->second_start))
        st = trl_layout_weights(&p->g, p->observed, p->layout, err);
    return st;
}

trl_status trl_infer_plan_new(const trl_graph *g, const trl_infer_options *options,
                              trl_infer_plan **out, trl_error *err)
{
    if (!g || !options || !out)
        return trl_fail_null(err);
    trl_status st = check_options(options, err);
    if (st != TRL_OK)
        return st;
    trl_infer_plan *p = trl_zalloc(1, sizeof *p);
    if (!p)
        return trl_fail_mem(err);
    p->o = *options;
    p->graph = g;
    p->g = trl_graph_look(g);
    p->observed = trl_zalloc(p->g.n_variables, sizeof *p->observed);
    if (p->observed && options->observed)
        memcpy(p->observed, options->observed, p->g.n_variables * sizeof *p->observed);
    p->o.observed = NULL;
    if (!p->observed)
        st = trl_fail_mem(err);
    else if (p->o.method == TRL_INFER_EXACT)
        st = trl_jtree_new(&p->g, p->observed, p->o.weighted_fill, p->o.max_cells, &p->jtree, err);
    else
        st = make_layout(p, err);
    if (st == TRL_OK)
        *out = p;
    else
        trl_infer_plan_free(p);
    return st;
}

void trl_infer_plan_free(trl_infer_plan *p)
{
    if (!p)
        return;
    trl_jtree_free(p->jtree);
    trl_layout_free(p->layout);
    trl_free(p->observed);
    trl_free(p);
}

trl_infer_info trl_infer_plan_info(const trl_infer_plan *p)
{
    trl_infer_info info = {0};
    if (!p)
        return info;
    if (p->jtree) {
        info.n_cliques = p->jtree->n_cliques;
        info.width = p->jtree->width;
        info.cells = p->jtree->total;
        info.largest = p->jtree->largest;
    } else {
        info.n_messages = p->layout->n_messages;
        info.n_numbers = p->layout->message_at[p->layout->n_edges];
        info.n_trees = p->o.method == TRL_INFER_TRW ? p->layout->n_trees : p->layout->n_forests;
    }
    return info;
}

/* ---- workspaces ------------------------------------------------------------------------------ */

trl_status trl_infer_work_new(trl_infer_work **out, trl_error *err)
{
    if (!out)
        return trl_fail_null(err);
    trl_infer_work *w = trl_zalloc(1, sizeof *w);
    if (!w)
        return trl_fail_mem(err);
    *out = w;
    return TRL_OK;
}

void trl_infer_work_free(trl_infer_work *w)
{
    if (!w)
        return;
    trl_arena_fini(&w->arena);
    trl_free(w);
}

const double *trl_infer_messages(const trl_infer_work *w, size_t *n)
{
    if (n)
        *n = w ? w->n_messages : 0;
    return w ? w->messages : NULL;
}

/* ---- what every run begins with ---------------------------------------------------------------
 */
static trl_status check_input(const trl_infer_plan *p, const trl_infer_input *in, trl_error *err)
{
    const trl_graph_view *g = &p->g;
    for (uint32_t v = 0; v < g->n_variables; v++) {
        const uint32_t y = in->evidence ? in->evidence[v] : TRL_UNOBSERVED;
        if (y != TRL_UNOBSERVED && y >= g->labels[v])
            return trl_fail(err, TRL_EINVAL, "variable %u has no label %u", v, y);
        if (p->observed[v] && y == TRL_UNOBSERVED)
            return trl_fail(err, TRL_EINVAL, "the plan needs a label of variable %u", v);
        if (p->jtree && !p->observed[v] && y != TRL_UNOBSERVED && g->labels[v] > 1)
            return trl_fail(err, TRL_EINVAL, "the plan does not expect a label of variable %u", v);
    }
    for (size_t t = 0; !in->table && t < g->n_tables; t++)
        if (!g->table[t])
            return trl_fail(err, TRL_EINVAL, "the table %zu has no values", t);
    for (size_t t = 0; in->table && t < g->n_tables; t++)
        for (size_t i = 0; i < p->graph->about[t].n_cells; i++)
            if (!(in->table[t][i] < HUGE_VAL))
                return trl_fail(err, TRL_EINVAL, "cell %zu of table %zu is %g", i, t,
                                in->table[t][i]);
    return TRL_OK;
}

static trl_status begin(trl_infer_run *r, const trl_infer_plan *p, const trl_infer_input *in,
                        trl_infer_work *w, trl_error *err)
{
    static const trl_infer_input nothing = {0};
    *r = (trl_infer_run){.p = p, .in = in ? in : &nothing, .w = w};
    const trl_status st = check_input(p, r->in, err);
    if (st != TRL_OK)
        return st;
    trl_arena_reset(&w->arena);
    w->messages = NULL;
    w->n_messages = 0;
    r->table = r->in->table ? r->in->table : p->g.table;
    r->variable = trl_arena_get(&w->arena, p->g.label_at[p->g.n_variables], sizeof(double));
    r->factor = trl_arena_get(&w->arena, p->g.cell_at[p->g.n_factors], sizeof(double));
    r->y = trl_arena_get(&w->arena, p->g.n_variables, sizeof *r->y);
    r->r = (trl_infer_result){.log_z = NAN, .bound = HUGE_VAL, .score = -HUGE_VAL};
    return r->variable && r->factor && r->y ? TRL_OK : trl_fail_mem(err);
}

trl_method_options trl_infer_method_options(const trl_infer_run *r)
{
    const trl_infer_options *o = &r->p->o;
    const size_t each =
        o->method == TRL_INFER_MEAN_FIELD ? r->p->g.n_variables : r->p->layout->n_messages;
    return (trl_method_options){.tolerance = o->tolerance,
                                .max_updates = o->max_updates ? o->max_updates : 1000 * each,
                                .seed = o->seed,
                                .burn_in = o->burn_in,
                                .samples = o->samples};
}

static trl_status make_problem(const trl_infer_run *r, trl_problem *problem, trl_error *err)
{
    *problem = (trl_problem){.g = &r->p->g,
                             .l = r->p->layout,
                             .table = r->table,
                             .label = r->in->evidence,
                             .arena = &r->w->arena};
    return trl_problem_init(problem, err);
}

static trl_jtree_input jtree_input(const trl_infer_run *r)
{
    return (trl_jtree_input){r->p->jtree, &r->p->g, r->table, r->in->evidence};
}

/* ---- marginals ------------------------------------------------------------------------------- */

static trl_status marginals(trl_infer_run *r, trl_error *err)
{
    trl_problem problem;
    const trl_infer_method method = r->p->o.method;
    if (method == TRL_INFER_MPLP)
        return trl_fail(err, TRL_EINVAL, "mplp finds the best labelling, not marginals");
    if (method == TRL_INFER_EXACT) {
        const trl_jtree_input in = jtree_input(r);
        r->r.converged = r->r.exact_marginals = true;
        r->r.log_z_status = TRL_VALUE_EXACT;
        return trl_jtree_marginals(&in, &r->w->arena, &r->r.log_z, r->variable, r->factor, err);
    }
    if (method == TRL_INFER_BP || method == TRL_INFER_TRW)
        return trl_infer_bp_marginals(r, err);
    const trl_status st = make_problem(r, &problem, err);
    const trl_method_options o = trl_infer_method_options(r);
    if (st != TRL_OK)
        return st;
    if (method == TRL_INFER_MEAN_FIELD)
        return trl_mean_field(&problem, &o, &r->r, r->variable, r->factor, err);
    r->r.iterations = o.burn_in + o.samples;
    return trl_gibbs(&problem, &o, r->variable, r->factor, NULL, err);
}

/* What all answers begin and end with. */
static trl_status answer(trl_status (*find)(trl_infer_run *r, trl_error *err),
                         const trl_infer_plan *p, const trl_infer_input *input, trl_infer_work *w,
                         trl_infer_result *out, trl_error *err)
{
    trl_infer_run r;
    if (!p || !w || !out)
        return trl_fail_null(err);
    trl_status st = begin(&r, p, input, w, err);
    if (st == TRL_OK)
        st = find(&r, err);
    if (st == TRL_OK)
        *out = r.r;
    return st;
}

static trl_status all_marginals(trl_infer_run *r, trl_error *err)
{
    r->r.variable = r->variable;
    r->r.factor = r->factor;
    return marginals(r, err);
}

trl_status trl_infer_marginals(const trl_infer_plan *p, const trl_infer_input *input,
                               trl_infer_work *w, trl_infer_result *out, trl_error *err)
{
    return answer(all_marginals, p, input, w, out, err);
}

/* ---- max-marginals --------------------------------------------------------------------------- */

static trl_status max_marginals(trl_infer_run *r, trl_error *err)
{
    r->r.variable = r->variable;
    if (r->p->o.method == TRL_INFER_EXACT) {
        const trl_jtree_input in = jtree_input(r);
        r->r.converged = r->r.exact_marginals = true;
        return trl_jtree_max_marginals(&in, &r->w->arena, r->variable, err);
    }
    if (r->p->o.method != TRL_INFER_BP)
        return trl_fail(err, TRL_EINVAL, "max-marginals are found by exact inference and by bp");
    return trl_infer_bp_max_marginals(r, err);
}

trl_status trl_infer_max_marginals(const trl_infer_plan *p, const trl_infer_input *input,
                                   trl_infer_work *w, trl_infer_result *out, trl_error *err)
{
    return answer(max_marginals, p, input, w, out, err);
}

/* ---- the best labelling ---------------------------------------------------------------------- */

static trl_status best_mplp(trl_infer_run *r, const trl_problem *problem, trl_error *err)
{
    const size_t n = r->p->layout->message_at[r->p->layout->n_edges];
    const trl_method_options o = trl_infer_method_options(r);
    double *m = trl_arena_get(&r->w->arena, n, sizeof *m);
    if (!m)
        return trl_fail_mem(err);
    for (size_t i = 0; i < n; i++)
        m[i] = r->in->messages ? r->in->messages[i] : 0.0;
    const trl_status st = trl_mplp(problem, &o, m, &r->r, r->y, err);
    r->w->messages = m;
    r->w->n_messages = n;
    return st;
}

static trl_status best(trl_infer_run *r, trl_error *err)
{
    trl_problem problem;
    const trl_infer_method method = r->p->o.method;
    if (method == TRL_INFER_TRW || method == TRL_INFER_MEAN_FIELD) {
        const trl_status st =
            trl_fail(err, TRL_EINVAL, "trw and mean field find marginals, not the best labelling");
        return trl_fail_hint(err, st,
                             "with 'posterior' the most probable label of each variable is taken");
    }
    if (method == TRL_INFER_EXACT) {
        const trl_jtree_input in = jtree_input(r);
        r->r.converged = r->r.exact = true;
        return trl_jtree_best(&in, &r->w->arena, r->y, err);
    }
    const trl_status st = make_problem(r, &problem, err);
    if (st != TRL_OK)
        return st;
    if (method == TRL_INFER_BP)
        return trl_infer_bp_best(r, &problem, err);
    if (method == TRL_INFER_MPLP)
        return best_mplp(r, &problem, err);
    const trl_method_options o = trl_infer_method_options(r);
    r->r.iterations = o.burn_in + o.samples;
    return trl_gibbs(&problem, &o, r->variable, r->factor, r->y, err);
}

static trl_status scored_best(trl_infer_run *r, trl_error *err)
{
    const trl_status st = best(r, err);
    if (st != TRL_OK)
        return st;
    r->r.y = r->y;
    r->r.score = trl_graph_score(r->p->graph, r->table, r->y);
    if (r->r.exact) /* the two agree up to rounding */
        r->r.bound = r->r.score;
    return TRL_OK;
}

trl_status trl_infer_best(const trl_infer_plan *p, const trl_infer_input *input, trl_infer_work *w,
                          trl_infer_result *out, trl_error *err)
{
    return answer(scored_best, p, input, w, out, err);
}
