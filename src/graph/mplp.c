/* mplp.c -- the best labelling by descent on its dual.
 *
 * The step of a factor a with m variables, d_v = theta_v + sum_{b != a} lambda_bv being the score
 * of v without a:
 *
 *     lambda_av(x) = 1/m max_{y_a: y_v = x} (theta_a(y_a) + sum_u d_u(y_u)) - d_v(x).
 *
 * A label that no cell of some factor allows is struck out: it is never considered again, and
 * everything stays finite.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "graph/problem.h"

typedef struct mplp {
    const trl_problem *p;
    double *lambda; /* rows at message_at */
    double *node;   /* rows at label_at, -inf where struck out */
    double *belief; /* rows at label_at: node + sum of lambda; -inf where struck out */
    double *rows;   /* [TRL_GRAPH_MAX_ARITY][max_width] d_v */
    double *max;    /* [max_width] */
    double *row;
    uint64_t updates;
    bool forbidden;
} mplp;

static void set_beliefs(mplp *s)
{
    const trl_graph_view *g = s->p->g;
    memcpy(s->belief, s->node, g->label_at[g->n_variables] * sizeof *s->node);
    for (size_t e = 0; e < s->p->l->n_edges; e++) {
        const size_t at = s->p->l->message_at[e], v = g->scope[e];
        for (size_t x = 0; s->p->l->message_at[e + 1] > at && x < g->labels[v]; x++)
            s->belief[g->label_at[v] + x] += s->lambda[at + x];
    }
}

static trl_contraction contraction(const mplp *s, size_t a, size_t slot, const double *const *rows)
{
    const trl_graph_view *g = s->p->g;
    return (trl_contraction){.g = g,
                             .factor = a,
                             .slot = slot,
                             .theta = s->p->table[g->table_of[a]],
                             .scale = 1.0,
                             .rows = rows,
                             .maximise = true};
}

/* rows[k] = belief - lambda of factor a's variables. */
static void outside(const mplp *s, size_t a, const double **rows)
{
    const trl_graph_view *g = s->p->g;
    const size_t first = g->scope_at[a];
    for (size_t k = 0; k < trl_arity(g, a); k++) {
        const uint32_t v = g->scope[first + k];
        double *d = s->rows + k * s->p->l->max_width;
        for (size_t x = 0; x < g->labels[v]; x++)
            d[x] = s->belief[g->label_at[v] + x] - s->lambda[s->p->l->message_at[first + k] + x];
        rows[k] = d;
    }
}

static void step(mplp *s, size_t a)
{
    const trl_graph_view *g = s->p->g;
    const size_t first = g->scope_at[a], m = trl_arity(g, a);
    const double *rows[TRL_GRAPH_MAX_ARITY];
    outside(s, a, rows);
    for (size_t k = 0; k < m; k++) {
        const uint32_t v = g->scope[first + k];
        const trl_contraction c = contraction(s, a, k, rows);
        bool any = false;
        trl_contract_log(&c, s->max);
        for (size_t x = 0; x < g->labels[v]; x++) {
            double *node = &s->node[g->label_at[v] + x], *belief = &s->belief[g->label_at[v] + x];
            double *lambda = &s->lambda[s->p->l->message_at[first + k] + x];
            const double top = s->max[x] + rows[k][x];
            if (!(top > -HUGE_VAL)) {
                *node = *belief = -HUGE_VAL;
                *lambda = 0.0;
                continue;
            }
            any = true;
            *lambda = top / (double)m - rows[k][x];
            *belief = top / (double)m; /* d + lambda */
        }
        s->forbidden = s->forbidden || !any;
        s->updates++;
    }
}

/* max over the cells of a of theta_a - sum of lambda, struck out labels aside. */
static double factor_dual(const mplp *s, size_t a)
{
    const trl_graph_view *g = s->p->g;
    const size_t first = g->scope_at[a], m = trl_arity(g, a);
    const double *rows[TRL_GRAPH_MAX_ARITY];
    for (size_t k = 0; k < m; k++) {
        const uint32_t v = g->scope[first + k];
        double *d = s->rows + k * s->p->l->max_width;
        for (size_t x = 0; x < g->labels[v]; x++)
            d[x] = s->node[g->label_at[v] + x] > -HUGE_VAL
                       ? -s->lambda[s->p->l->message_at[first + k] + x]
                       : -HUGE_VAL;
        rows[k] = d;
    }
    const trl_contraction c = contraction(s, a, 0, rows);
    double best = -HUGE_VAL;
    trl_contract_log(&c, s->max);
    for (size_t x = 0; x < g->labels[g->scope[first]]; x++)
        best = fmax(best, s->max[x] + rows[0][x]);
    return best;
}

static double dual(mplp *s)
{
    const trl_graph_view *g = s->p->g;
    double value = s->p->constant;
    set_beliefs(s); /* recomputed, so that rounding errors do not add up */
    for (uint32_t v = 0; v < g->n_variables; v++) {
        double best = -HUGE_VAL;
        for (size_t i = g->label_at[v]; i < g->label_at[v + 1]; i++)
            best = fmax(best, s->belief[i]);
        value += best;
    }
    for (size_t a = 0; a < g->n_factors; a++)
        if (trl_arity(g, a) >= 2)
            value += factor_dual(s, a);
    return value;
}

/* The best labels by the beliefs, improved by single changes; kept when better than before. */
static void decode(mplp *s, uint32_t *try, uint32_t *y, double *score)
{
    const trl_graph_view *g = s->p->g;
    for (uint32_t v = 0; v < g->n_variables; v++) {
        const double *b = s->belief + g->label_at[v];
        try[v] = 0;
        for (uint32_t x = 1; x < g->labels[v]; x++)
            if (b[x] > b[try[v]])
                try[v] = x;
    }
    trl_climb(s->p, s->row, try);
    const double now = trl_problem_score(s->p, try);
    if (now > *score) {
        *score = now;
        memcpy(y, try, g->n_variables * sizeof *y);
    }
}

static bool init(mplp *s, const trl_problem *p, double *lambda)
{
    const size_t labels = p->g->label_at[p->g->n_variables], width = p->l->max_width;
    *s = (mplp){.p = p,
                .lambda = lambda,
                .node = trl_arena_get(p->arena, labels, sizeof(double)),
                .belief = trl_arena_get(p->arena, labels, sizeof(double)),
                .rows = trl_arena_get(p->arena, TRL_GRAPH_MAX_ARITY * width, sizeof(double)),
                .max = trl_arena_get(p->arena, width, sizeof(double)),
                .row = trl_arena_get(p->arena, width, sizeof(double))};
    if (!s->node || !s->belief || !s->rows || !s->max || !s->row)
        return false;
    memcpy(s->node, p->node, labels * sizeof(double));
    return true;
}

static bool is_proof(double bound, double score)
{
    return bound - score <= 1e-9 * (1.0 + fabs(score));
}

/* Sweeps until the bound stops changing, the labelling is proven optimal or the updates are used
 * up. */
static void descend(mplp *s, const trl_method_options *o, uint32_t *try, uint32_t *y,
                    trl_infer_result *out)
{
    out->bound = dual(s);
    decode(s, try, y, &out->score);
    while (!s->forbidden && !is_proof(out->bound, out->score) && s->updates < o->max_updates) {
        for (size_t a = 0; a < s->p->g->n_factors && !s->forbidden; a++)
            if (trl_arity(s->p->g, a) >= 2)
                step(s, a);
        if (s->forbidden)
            return;
        const double bound = dual(s);
        out->change = fabs(out->bound - bound);
        out->bound = fmin(bound, out->bound);
        out->iterations++;
        decode(s, try, y, &out->score);
        out->converged = out->change <= o->tolerance * (1.0 + fabs(bound));
        if (out->converged)
            break;
    }
}

trl_status trl_mplp(const trl_problem *p, const trl_method_options *o, double *messages,
                    trl_infer_result *out, uint32_t *y, trl_error *err)
{
    mplp s;
    uint32_t *try = trl_arena_get(p->arena, p->g->n_variables, sizeof *try);
    if (!try || !init(&s, p, messages))
        return trl_fail_mem(err);
    out->score = -HUGE_VAL;
    descend(&s, o, try, y, out);
    out->updates = s.updates;
    if (s.forbidden)
        return trl_fail(err, TRL_ENUMERIC, "every labelling is forbidden: the probability is 0");
    if (out->score == -HUGE_VAL) {
        const trl_status st = trl_search_allowed(p, try, err);
        if (st != TRL_OK)
            return st;
        trl_climb(p, s.row, try);
        memcpy(y, try, p->g->n_variables * sizeof *y);
        out->score = trl_problem_score(p, y);
    }
    out->exact = is_proof(out->bound, out->score);
    out->converged = out->converged || out->exact;
    return TRL_OK;
}
