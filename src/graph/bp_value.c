/* bp_value.c -- log Z and beliefs from messages, as bp.h states them. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "graph/bp.h"
#include "num/vexp.h"

static double rho_of(const trl_bp *b, size_t e)
{
    return b->rho ? b->rho[e] : 1.0;
}

/* Turns a row or table of n numbers (their logarithms in logarithms) into probabilities; returns
 * the log of what their sum was. */
static double normalise(trl_bp *b, size_t n, double *x)
{
    double max = 0.0, sum = 0.0;
    if (b->log) {
        max = -HUGE_VAL;
        for (size_t j = 0; j < n; j++)
            max = x[j] > max ? x[j] : max;
        for (size_t j = 0; j < n; j++)
            x[j] = max > -HUGE_VAL ? exp(x[j] - max) : 0.0;
    }
    for (size_t j = 0; j < n; j++)
        sum += x[j];
    if (!(sum > TRL_BP_SMALL && sum < HUGE_VAL)) {
        b->range = true;
        return 0.0;
    }
    for (size_t j = 0; j < n; j++)
        x[j] /= sum;
    return max + log(sum);
}

/* B_v, before it is normalised. */
static void belief(const trl_bp *b, uint32_t v, double *x)
{
    const trl_layout *l = b->l;
    const size_t n = b->g->labels[v];
    for (size_t j = 0; j < n; j++)
        x[j] = b->node[l->node_at[v] + j];
    for (size_t i = l->link_at[v]; i < l->link_at[v + 1]; i++) {
        const uint32_t e = l->link[i];
        const size_t at = l->message_at[e];
        for (size_t j = 0; j < n; j++)
            x[j] = !b->log                    ? x[j] * b->mr[at + j]
                   : b->m[at + j] > -HUGE_VAL ? x[j] + rho_of(b, e) * b->m[at + j]
                                              : -HUGE_VAL;
    }
}

/* Scales the row that variable scope[e] sends so that its largest entry is 1 (0 as a logarithm);
 * the scale's logarithm. */
static double scaled_send(trl_bp *b, uint32_t e, double *x)
{
    const size_t n = b->g->labels[b->g->scope[e]];
    double max = b->log ? -HUGE_VAL : 0.0;
    trl_bp_send(b, e, x);
    for (size_t j = 0; j < n; j++)
        max = x[j] > max ? x[j] : max;
    if (!(max > (b->log ? -HUGE_VAL : TRL_BP_SMALL) && max < HUGE_VAL)) {
        b->range = true;
        return 0.0;
    }
    for (size_t j = 0; j < n; j++)
        x[j] = b->log ? x[j] - max : x[j] / max;
    return b->log ? max : log(max);
}

/* The next cell of a table over all but the last of m variables. */
static void next_row(const trl_graph_view *g, size_t first, size_t m, size_t *index)
{
    for (size_t k = m - 1; k-- > 0; index[k] = 0)
        if (++index[k] < g->labels[g->scope[first + k]])
            return;
}

/* psi^(1/rho) n_u n_v as logarithms, or psi prod n^rho, over all cells, before it is normalised;
 * the rows are in b->n. */
static void factor_table(const trl_bp *b, size_t a, double *x)
{
    const trl_graph_view *g = b->g;
    const size_t first = g->scope_at[a], m = trl_arity(g, a);
    const size_t cells = g->cell_at[a + 1] - g->cell_at[a];
    const size_t columns = g->labels[g->scope[first + m - 1]];
    const double *theta = b->table[g->table_of[a]], *rows[TRL_GRAPH_MAX_ARITY];
    const double scale = m == 2 ? 1.0 / rho_of(b, first) : 1.0;
    size_t index[TRL_GRAPH_MAX_ARITY] = {0};
    for (size_t k = 0; k < m; k++)
        rows[k] = (m > 2 && b->rho ? b->power : b->n) + b->l->message_at[first + k];
    for (size_t i = 0; i < cells; i += columns, next_row(g, first, m, index)) {
        double s = b->log ? 0.0 : 1.0;
        for (size_t k = 0; k + 1 < m; k++)
            s = b->log ? s + rows[k][index[k]] : s * rows[k][index[k]];
        for (size_t j = 0; j < columns; j++)
            x[i + j] = b->log ? theta[i + j] * scale + (s + rows[m - 1][j])
                              : b->psi[a][i + j] * (s * rows[m - 1][j]);
    }
}

/* Larger factors see n^rho. */
static void set_powers(const trl_bp *b, size_t a)
{
    const size_t *at = b->l->message_at;
    for (size_t e = b->g->scope_at[a]; e < b->g->scope_at[a + 1]; e++) {
        if (!b->log)
            trl_vpow(at[e + 1] - at[e], b->n + at[e], b->rho[e], b->power + at[e]);
        for (size_t j = at[e]; b->log && j < at[e + 1]; j++)
            b->power[j] = b->n[j] > -HUGE_VAL ? b->rho[e] * b->n[j] : -HUGE_VAL;
    }
}

/* The belief of a pair, linear; the log of its sum. */
static double pair_belief(trl_bp *b, size_t a, double *out)
{
    const trl_graph_view *g = b->g;
    const size_t first = g->scope_at[a], *at = b->l->message_at;
    const trl_bp_pair_rows pair = {.n = g->labels[g->scope[first]],
                                   .k = g->labels[g->scope[first + 1]],
                                   .x = b->n + at[first],
                                   .M = b->matrix[first + 1],
                                   .y = b->n + at[first + 1]};
    const double Z = trl_bp_pair_belief(&pair, TRL_BP_SMALL, b->row[1], out);
    b->range = b->range || !(Z > TRL_BP_SMALL && Z < HUGE_VAL);
    return b->range ? 0.0 : log(Z);
}

/* log Z_a, weighted as in log Z; its belief to `out`. */
static double factor_value(trl_bp *b, size_t a, double *out)
{
    const trl_graph_view *g = b->g;
    const size_t first = g->scope_at[a], m = trl_arity(g, a);
    double scales = 0.0, log_z;
    for (size_t e = first; e < first + m; e++)
        scales +=
            (m == 2 ? 1.0 : rho_of(b, e)) * scaled_send(b, (uint32_t)e, b->n + b->l->message_at[e]);
    if (b->range)
        return 0.0;
    if (m == 2 && !b->log) {
        log_z = pair_belief(b, a, out) + scales;
    } else {
        if (m > 2 && b->rho)
            set_powers(b, a);
        factor_table(b, a, out);
        log_z = normalise(b, g->cell_at[a + 1] - g->cell_at[a], out) + scales;
    }
    return m == 2 ? rho_of(b, first) * log_z : log_z;
}

double trl_bp_value(trl_bp *b, double *variable, double *factor)
{
    const trl_graph_view *g = b->g;
    const trl_layout *l = b->l;
    double value = b->shift;
    for (uint32_t v = 0; v < g->n_variables && !b->range; v++) {
        double *x = variable ? variable + g->label_at[v] : b->row[0], count = 1.0;
        for (size_t i = l->link_at[v]; i < l->link_at[v + 1]; i++)
            count -= rho_of(b, l->link[i]);
        belief(b, v, x);
        value += count * normalise(b, g->labels[v], x);
    }
    for (size_t a = 0; a < g->n_factors && !b->range; a++) {
        double *x = factor ? factor + g->cell_at[a] : b->cells[0];
        if (trl_arity(g, a) >= 2)
            value += factor_value(b, a, x);
        else if (trl_arity(g, a) == 0)
            x[0] = 1.0;
        else if (variable)
            for (size_t j = 0, v = g->scope[g->scope_at[a]]; j < g->labels[v]; j++)
                x[j] = variable[g->label_at[v] + j];
    }
    return value;
}
