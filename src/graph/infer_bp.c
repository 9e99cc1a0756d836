/* infer_bp.c -- belief propagation as a method of inference, plain and tree-reweighted. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "graph/bp_best.h"
#include "graph/infer.h"

#define WEIGHTED_SWEEPS 6 /* of tree-reweighted messages before the second start */
#define FLOOR 1e-12       /* of what such a message says of a label */
#define SAME 1e-3         /* beliefs that differ by less are those of one fixed point */

/* ---- marginals ------------------------------------------------------------------------------- */

static trl_bp_limits bp_limits(const trl_infer_run *r)
{
    const trl_method_options m = trl_infer_method_options(r);
    return (trl_bp_limits){m.tolerance, m.max_updates};
}

/* Runs messages from `from` (NULL: anew), tree-reweighted if there is `rho`; fills in what the
 * result says of a run. */
typedef struct bp_course {
    bool maximise;
    const double *from, *rho;
    trl_bp_limits limits;
} bp_course;

static trl_status run_bp(trl_infer_run *r, const bp_course *c, trl_bp *b, trl_error *err)
{
    const trl_infer_options *o = &r->p->o;
    for (int log = 0; log < 2; log++) {
        bool failed;
        *b = (trl_bp){.g = &r->p->g,
                      .l = r->p->layout,
                      .table = r->table,
                      .label = r->in->evidence,
                      .rho = c->rho,
                      .maximise = c->maximise,
                      .log = log,
                      .damping = o->damping};
        const trl_status st = trl_bp_init(b, &r->w->arena, c->from, err);
        if (st != TRL_OK)
            return st;
        r->r.converged =
            trl_bp_run(b, (int)o->schedule, &c->limits, &r->w->arena, &r->r.iterations, &failed);
        if (failed)
            return trl_fail_mem(err);
        if (!b->range && !c->maximise)
            r->r.log_z = trl_bp_value(b, r->variable, r->factor);
        if (!b->range)
            break;
    }
    if (b->range)
        return trl_fail(err, TRL_ENUMERIC, "every labelling is forbidden: the probability is 0");
    r->r.updates = b->updates;
    r->r.change = b->change;
    return TRL_OK;
}

static trl_status keep_messages(trl_infer_run *r, const trl_bp *b, trl_error *err)
{
    const size_t n = b->l->message_at[b->l->n_edges];
    double *m = trl_arena_get(&r->w->arena, n, sizeof *m);
    if (!m)
        return trl_fail_mem(err);
    trl_bp_export(b, m);
    r->w->messages = m;
    r->w->n_messages = n;
    return TRL_OK;
}

static bp_course first_course(const trl_infer_run *r, bool maximise)
{
    return (bp_course){.maximise = maximise,
                       .from = r->in->messages,
                       .rho = r->p->o.method == TRL_INFER_TRW ? r->p->layout->rho : NULL,
                       .limits = bp_limits(r)};
}

/* ---- a second start --------------------------------------------------------------------------
 *
 * Where factors attract each other, messages have several fixed points, one for each way to agree,
 * and those that start anew, or from another fixed point, need not find the one with the largest
 * log Z.  Tree-reweighted messages have one fixed point [WJW05], which sees all ways; a few sweeps
 * of these are near enough to start from.
 *
 * [WJW05] Wainwright, Jaakkola, Willsky. A new class of upper bounds on the log partition function.
 *         IEEE Trans. Information Theory 51(7), 2005. */

static trl_status weighted_messages(trl_infer_run *r, const double **out, trl_error *err)
{
    trl_bp b;
    const trl_layout *l = r->p->layout;
    const bp_course c = {.rho = l->rho, .limits = {0.0, WEIGHTED_SWEEPS * l->n_messages}};
    trl_infer_run own = *r; /* its result is not wanted, but memory for it is */
    own.variable = own.factor = NULL;
    double *m = trl_arena_get(&r->w->arena, l->message_at[l->n_edges], sizeof *m);
    const trl_status st = m ? run_bp(&own, &c, &b, err) : trl_fail_mem(err);
    if (st != TRL_OK)
        return st;
    trl_bp_export(&b, m);
    for (size_t i = 0; i < l->message_at[l->n_edges]; i++)
        m[i] = m[i] > FLOOR ? m[i] : FLOOR; /* 0 would forbid a label */
    *out = m;
    return TRL_OK;
}

static bool same_beliefs(size_t n, const double *x, const double *y)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most < SAME;
}

static void mix_rows(size_t n, double share, const double *other, double *row)
{
    for (size_t i = 0; i < n; i++)
        row[i] = share * row[i] + (1.0 - share) * other[i];
}

/* Two fixed points are two parts of one sum: Z = Z_1 + Z_2.  Beliefs are mixed in their shares, and
 * so remain the derivatives of log Z. */
static void mix(trl_infer_run *r, const trl_infer_run *other)
{
    const trl_graph_view *g = &r->p->g;
    const double first = r->r.log_z, second = other->r.log_z;
    const double share = 1.0 / (1.0 + exp(second - first));
    r->r.log_z = fmax(first, second) + log1p(exp(-fabs(first - second)));
    mix_rows(g->label_at[g->n_variables], share, other->variable, r->variable);
    mix_rows(g->cell_at[g->n_factors], share, other->factor, r->factor);
}

/* From the second start.  Of two fixed points the messages of the larger are kept. */
static trl_status second_marginals(trl_infer_run *r, trl_bp *b, trl_error *err)
{
    const trl_graph_view *g = &r->p->g;
    trl_bp second;
    trl_infer_run other = *r;
    bp_course c = first_course(r, false);
    other.variable = trl_arena_get(&r->w->arena, g->label_at[g->n_variables], sizeof(double));
    other.factor = trl_arena_get(&r->w->arena, g->cell_at[g->n_factors], sizeof(double));
    if (!other.variable || !other.factor)
        return trl_fail_mem(err);
    trl_status st = weighted_messages(r, &c.from, err);
    if (st == TRL_OK)
        st = run_bp(&other, &c, &second, err);
    if (st != TRL_OK || (r->r.converged && !other.r.converged) ||
        same_beliefs(g->label_at[g->n_variables], r->variable, other.variable))
        return st;
    if (other.r.log_z > r->r.log_z || !r->r.converged)
        *b = second;
    if (r->r.converged)
        mix(r, &other);
    else
        *r = other;
    return TRL_OK;
}

trl_status trl_infer_bp_marginals(trl_infer_run *r, trl_error *err)
{
    trl_bp b;
    const bp_course c = first_course(r, false);
    trl_status st = run_bp(r, &c, &b, err);
    if (st == TRL_OK && r->p->second_start)
        st = second_marginals(r, &b, err);
    if (st != TRL_OK)
        return st;
    const bool exact = r->p->layout->is_forest && r->r.converged;
    r->r.exact_marginals = exact;
    r->r.log_z_status = exact                                               ? TRL_VALUE_EXACT
                        : r->p->o.method == TRL_INFER_TRW && r->r.converged ? TRL_VALUE_UPPER
                                                                            : TRL_VALUE_ESTIMATE;
    return keep_messages(r, &b, err);
}

/* ---- the best labelling ---------------------------------------------------------------------- */

static trl_status best_from(trl_infer_run *r, const bp_course *c, const trl_problem *problem,
                            trl_error *err)
{
    trl_bp b;
    trl_status st = run_bp(r, c, &b, err);
    if (st == TRL_OK)
        st = keep_messages(r, &b, err);
    if (st == TRL_OK)
        st = trl_bp_best(&b, problem, (int)r->p->o.schedule, &c->limits, r->y, err);
    r->r.exact = r->p->layout->is_forest && r->r.converged;
    return st;
}

/* The labelling from the second start takes the place of the first if it is better. */
static trl_status second_best(trl_infer_run *r, const trl_problem *problem, trl_error *err)
{
    const double *messages = r->w->messages; /* of the first start */
    trl_infer_run other = *r;
    bp_course c = first_course(r, true);
    other.y = trl_arena_get(&r->w->arena, r->p->g.n_variables, sizeof *other.y);
    if (!other.y)
        return trl_fail_mem(err);
    trl_status st = weighted_messages(r, &c.from, err);
    if (st == TRL_OK)
        st = best_from(&other, &c, problem, err);
    if (st != TRL_OK)
        return st;
    if (trl_graph_score(r->p->graph, r->table, other.y) >
        trl_graph_score(r->p->graph, r->table, r->y))
        *r = other;
    else
        r->w->messages = messages;
    return TRL_OK;
}

trl_status trl_infer_bp_best(trl_infer_run *r, const trl_problem *problem, trl_error *err)
{
    const bp_course c = first_course(r, true);
    const trl_status st = best_from(r, &c, problem, err);
    return st == TRL_OK && r->p->second_start ? second_best(r, problem, err) : st;
}

trl_status trl_infer_bp_max_marginals(trl_infer_run *r, trl_error *err)
{
    trl_bp b;
    const bp_course c = first_course(r, true);
    const trl_status st = run_bp(r, &c, &b, err);
    if (st != TRL_OK)
        return st;
    r->r.exact_marginals = r->p->layout->is_forest && r->r.converged;
    trl_bp_max_marginals(&b, r->variable);
    return keep_messages(r, &b, err);
}
