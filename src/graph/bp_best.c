/* bp_best.c -- decimation and decoding. */
/* SPDX-License-Identifier: MIT */
#include "graph/bp_best.h"

#include <math.h>

#include "base/fail.h"

#define TIE 1e-6 /* relative, of the beliefs of two labels */

/* The logarithm of the belief in label j of v, up to a constant of v. */
static double log_belief(const trl_bp *b, uint32_t v, uint32_t j)
{
    const trl_layout *l = b->l;
    const double node = b->node[l->node_at[v] + j];
    double x = b->log ? node : log(node);
    for (size_t i = l->link_at[v]; i < l->link_at[v + 1]; i++) {
        const double m = b->m[l->message_at[l->link[i]] + j];
        x += b->log ? m : log(m);
    }
    return x;
}

void trl_bp_max_marginals(const trl_bp *b, double *variable)
{
    for (uint32_t v = 0; v < b->g->n_variables; v++) {
        double *x = variable + b->g->label_at[v], most = -HUGE_VAL;
        for (uint32_t j = 0; j < b->g->labels[v]; j++) {
            x[j] = log_belief(b, v, j);
            most = x[j] > most ? x[j] : most;
        }
        for (uint32_t j = 0; j < b->g->labels[v] && most > -HUGE_VAL; j++)
            x[j] -= most;
    }
}

/* The best label of v, and whether another one is as good. */
static uint32_t best_label(const trl_bp *b, uint32_t v, bool *tie)
{
    double *x = b->row[0], second = -HUGE_VAL;
    uint32_t best = 0;
    for (uint32_t j = 0; j < b->g->labels[v]; j++) {
        x[j] = log_belief(b, v, j);
        if (j > 0 && x[j] > x[best]) {
            second = x[best];
            best = j;
        } else if (j > 0 && x[j] > second)
            second = x[j];
    }
    *tie = second > -HUGE_VAL && x[best] - second < TIE;
    return best;
}

static void fix(trl_bp *b, uint32_t v, uint32_t label)
{
    double *node = b->node + b->l->node_at[v];
    for (uint32_t j = 0; j < b->g->labels[v]; j++)
        if (j != label)
            node[j] = b->log ? -HUGE_VAL : 0.0;
}

/* Fixes tied variables one after another; false: memory ran out. */
static bool decimate(trl_bp *b, trl_arena *a, int schedule, const trl_bp_limits *limits)
{
    for (uint32_t v = 0; v < b->g->n_variables && b->updates < limits->max_updates; v++) {
        bool tie, failed;
        uint64_t iterations;
        const uint32_t label = best_label(b, v, &tie);
        if (!tie)
            continue;
        fix(b, v, label);
        const trl_bp_limits rest = {limits->tolerance, limits->max_updates - b->updates};
        trl_bp_run(b, schedule, &rest, a, &iterations, &failed);
        if (failed)
            return false;
        if (b->range) /* the search continues without messages */
            return true;
    }
    return true;
}

static void to_logarithms(trl_bp *b)
{
    for (size_t i = 0; i < b->l->node_at[b->g->n_variables] && !b->log; i++)
        b->node[i] = log(b->node[i]);
    for (size_t i = 0; i < b->l->message_at[b->l->n_edges] && !b->log; i++)
        b->m[i] = log(b->m[i]);
    b->log = true;
}

trl_status trl_bp_best(trl_bp *b, const trl_problem *p, int schedule, const trl_bp_limits *limits,
                       uint32_t *y, trl_error *err)
{
    bool found = false;
    /* residual would take new memory for its heap each time */
    const int again = schedule == TRL_SCHEDULE_RESIDUAL ? TRL_SCHEDULE_SEQUENTIAL : schedule;
    if (!p->l->is_forest && !decimate(b, p->arena, again, limits))
        return trl_fail_mem(err);
    to_logarithms(b);
    trl_status st = TRL_OK;
    if (!b->range)
        st = trl_search(p, b, trl_search_steps(p->g), y, &found, NULL);
    if (st == TRL_ENOMEM)
        return trl_fail_mem(err);
    if (!found) /* messages may have excluded allowed labels */
        st = trl_search_allowed(p, y, err);
    if (st == TRL_OK)
        trl_climb(p, b->row[0], y);
    return st;
}
