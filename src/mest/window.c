/* window.c -- path sums along a window. */
/* SPDX-License-Identifier: MIT */
#include "mest/window.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

trl_status trl_window_init(trl_window *w, const trl_state_graph *g, const trl_template_window *v,
                           size_t f, trl_error *err)
{
    *w = (trl_window){.g = g, .v = v, .f = f, .fresh = true};
    w->mid = -(int)trl_clique_arcs(g, f);
    w->from = v->n_cells && v->cell[0].row < w->mid ? v->cell[0].row : w->mid;
    w->to = v->n_cells && v->cell[v->n_cells - 1].row > 0 ? v->cell[v->n_cells - 1].row : 0;
    const size_t left = (size_t)(w->mid - w->from), right = (size_t)w->to;
    w->width = g->n + (left > right ? left : right);
    w->last = trl_alloc(v->n_cells, sizeof *w->last);
    w->A = trl_alloc(left + 1, w->width * sizeof *w->A);
    w->B = trl_alloc(right + 1, w->width * sizeof *w->B);
    w->e = trl_alloc(2, g->L * sizeof *w->e);
    w->p = trl_alloc(g->L, sizeof *w->p);
    w->weighted = trl_alloc(w->width, sizeof *w->weighted);
    if (!w->last || !w->A || !w->B || !w->e || !w->p || !w->weighted) {
        trl_window_fini(w);
        return trl_fail_mem(err);
    }
    return TRL_OK;
}

void trl_window_fini(trl_window *w)
{
    trl_free(w->last);
    trl_free(w->A);
    trl_free(w->B);
    trl_free(w->e);
    trl_free(w->p);
    trl_free(w->weighted);
    *w = (trl_window){0};
}

/* ---- one row --------------------------------------------------------------------------------- */

/* p[y]: the probability of the row's outcomes given its label.  False: the row has no cells. */
static bool emission(const trl_window *w, int row, const uint32_t *outcome, double *p)
{
    const size_t L = w->g->L;
    bool any = false;
    for (size_t j = 0; j < w->v->n_cells; j++) {
        const trl_view_cell *c = &w->v->cell[j];
        if (c->row != row)
            continue;
        const double *q = c->p + outcome[j] * L;
        for (size_t y = 0; y < L; y++)
            p[y] = any ? p[y] * q[y] : q[y];
        any = true;
    }
    return any;
}

/* Has the row these outcomes when it lies outside, at distance d? */
static bool matches_outside(const trl_window *w, int row, const uint32_t *outcome, int d)
{
    for (size_t j = 0; j < w->v->n_cells; j++) {
        const trl_view_cell *c = &w->v->cell[j];
        if (c->row == row && c->outside[(int)w->v->reach + d] != outcome[j])
            return false;
    }
    return true;
}

/* x *= p_row, for the states and the n states outside (side -1: START_1 .., 1: END_1 ..). */
static void constrain(trl_window *w, int row, const uint32_t *outcome, int side, size_t n,
                      double *x)
{
    const trl_state_graph *g = w->g;
    if (!emission(w, row, outcome, w->p))
        return;
    for (size_t s = 0; s < g->n; s++)
        x[s] *= w->p[g->label[s]];
    for (size_t d = 1; d <= n; d++)
        if (!matches_outside(w, row, outcome, side * (int)d))
            x[g->n + d - 1] = 0.0;
}

/* ---- both sides ------------------------------------------------------------------------------ */

/* A for the rows from `row` to mid.  START_d can still matter at row r for d <= mid - r. */
static void sweep_left(trl_window *w, int row, const uint32_t *outcome)
{
    const trl_state_graph *g = w->g;
    for (int r = row; r <= w->mid; r++) {
        const size_t outside = (size_t)(w->mid - r);
        double *A = w->A + (size_t)(r - w->from) * w->width;
        if (r == w->from) {
            memcpy(A, g->visits, g->n * sizeof *A);
            for (size_t d = 0; d < outside; d++)
                A[g->n + d] = 1.0;
        } else {
            const double *before = A - w->width, first = before[g->n]; /* START_1 */
            trl_state_graph_forward(g, before, A);
            for (size_t s = 0; first != 0.0 && s < g->n; s++)
                A[s] += first * g->start[s];
            memcpy(A + g->n, before + g->n + 1, outside * sizeof *A);
        }
        constrain(w, r, outcome, -1, outside, A);
    }
}

/* B for all rows.  END_d can be at row r for d <= r. */
static void sweep_right(trl_window *w, const uint32_t *outcome)
{
    const trl_state_graph *g = w->g;
    double *B = w->B + (size_t)w->to * w->width, *x = w->weighted;
    memcpy(B, g->ends, g->n * sizeof *B);
    for (int d = 0; d < w->to; d++)
        B[g->n + (size_t)d] = 1.0;
    for (int r = w->to; r > 0; r--) {
        double *next = w->B + (size_t)(r - 1) * w->width;
        memcpy(x, w->B + (size_t)r * w->width, (g->n + (size_t)r) * sizeof *x);
        constrain(w, r, outcome, 1, (size_t)r, x);
        trl_state_graph_backward(g, x, next);
        for (size_t s = 0; x[g->n] != 0.0 && s < g->n; s++)
            next[s] += g->stop[s] * x[g->n];
        memcpy(next + g->n, x + g->n + 1, (size_t)(r - 1) * sizeof *next);
    }
}

void trl_window_add(trl_window *w, const uint32_t *outcome, double *table)
{
    const trl_template_window *v = w->v;
    size_t same = 0; /* leading cells in common with the window before */
    while (!w->fresh && same < v->n_cells && outcome[same] == w->last[same])
        same++;
    bool right = w->fresh;
    for (size_t j = same; j < v->n_cells; j++)
        right = right || (v->cell[j].row > 0 && outcome[j] != w->last[j]);
    if (w->fresh || (same < v->n_cells && v->cell[same].row <= w->mid))
        sweep_left(w, w->fresh ? w->from : v->cell[same].row, outcome);
    if (right)
        sweep_right(w, outcome);
    if (v->n_cells)
        memcpy(w->last, outcome, v->n_cells * sizeof *w->last);
    w->fresh = false;
    const double *e[2];
    for (int k = 0; k < 2; k++) {
        double *p = w->e + (size_t)k * w->g->L;
        e[k] = -k > w->mid && emission(w, -k, outcome, p) ? p : NULL;
    }
    trl_clique_add(w->g, w->f, w->A + (size_t)(w->mid - w->from) * w->width, w->B, e, table);
}
