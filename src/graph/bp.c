/* bp.c -- potentials and single messages; the linear ones. */
/* SPDX-License-Identifier: MIT */
#include "graph/bp.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "graph/bp_kernel.h"
#include "num/vexp.h"

#define WIDEST 600.0 /* exp(-600) = 1e-260: products of smaller numbers could lose too much */

/* ---- potentials ------------------------------------------------------------------------------ */

/* The largest of x; sets *range when others are finite but further below than doubles can hold. */
static double scaled_max(size_t n, const double *x, double factor, bool *range)
{
    double min, max = trl_bp_extremes(n, x, &min);
    *range = *range || max == -HUGE_VAL || factor * (max - min) > WIDEST;
    return max;
}

static void init_nodes(trl_bp *b)
{
    const trl_graph_view *g = b->g;
    for (uint32_t v = 0; v < g->n_variables; v++) {
        double *row = b->node + b->l->node_at[v];
        for (size_t y = 0; y < trl_row_width(g->labels[v]); y++)
            row[y] =
                y < g->labels[v] && (!b->label || b->label[v] == TRL_UNOBSERVED || b->label[v] == y)
                    ? 0.0
                    : -HUGE_VAL;
    }
    for (size_t a = 0; a < g->n_factors; a++) {
        const double *theta = b->table[g->table_of[a]];
        if (trl_arity(g, a) == 0)
            b->shift += theta[0];
        if (trl_arity(g, a) != 1)
            continue;
        const uint32_t v = g->scope[g->scope_at[a]];
        for (size_t y = 0; y < g->labels[v]; y++)
            b->node[b->l->node_at[v] + y] += theta[y];
    }
    for (uint32_t v = 0; v < g->n_variables; v++) {
        double *row = b->node + b->l->node_at[v];
        const double max = scaled_max(g->labels[v], row, 1.0, &b->range);
        b->shift += max;
        for (size_t y = 0; y < trl_row_width(g->labels[v]); y++)
            row[y] -= max; /* -inf - -inf: the range is left anyway */
    }
    if (!b->log)
        trl_vexp(b->l->node_at[g->n_variables], b->node, 0.0, b->node);
}

/* Both matrices of a table of rows x columns, from *room on, which moves: to the first variable
 * (transposed), to the second. */
static void pair_matrices(trl_bp *b, size_t a, double rho, double **room, const double **to)
{
    const trl_graph_view *g = b->g;
    const uint32_t *scope = g->scope + g->scope_at[a];
    const double *theta = b->table[g->table_of[a]];
    const size_t n = g->labels[scope[0]], k = g->labels[scope[1]];
    const size_t wn = trl_matrix_stride(n), wk = trl_matrix_stride(k);
    double *first = *room, *second = first + k * wn;
    *room = second + n * wk;
    const double max = scaled_max(n * k, theta, 1.0 / rho, &b->range);
    for (size_t i = 0; i < k * wn; i++)
        first[i] = 0.0;
    for (size_t i = 0; i < n; i++) {
        double *row = second + i * wk;
        for (size_t j = 0; rho != 1.0 && j < k; j++)
            row[j] = (theta[i * k + j] - max) / rho;
        if (rho == 1.0)
            trl_vexp(k, theta + i * k, max, row);
        else
            trl_vexp(k, row, 0.0, row);
        for (size_t j = k; j < wk; j++)
            row[j] = 0.0;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++)
            first[j * wn + i] = second[i * wk + j];
    to[0] = first;
    to[1] = second;
}

/* The numbers that all matrices need. */
static size_t matrix_cells(const trl_bp *b, bool *seen)
{
    const trl_graph_view *g = b->g;
    size_t cells = 0;
    for (size_t t = 0; t < g->n_tables; t++)
        seen[t] = false;
    for (size_t a = 0; a < g->n_factors; a++) {
        const uint32_t *scope = g->scope + g->scope_at[a];
        if (trl_arity(g, a) != 2 || (seen[g->table_of[a]] && !b->rho))
            continue;
        seen[g->table_of[a]] = true;
        const size_t n = g->labels[scope[0]], k = g->labels[scope[1]];
        cells += k * trl_matrix_stride(n) + n * trl_matrix_stride(k);
    }
    return cells;
}

static bool larger_table(trl_bp *b, size_t a, trl_arena *arena)
{
    const size_t cells = b->g->cell_at[a + 1] - b->g->cell_at[a];
    const double *theta = b->table[b->g->table_of[a]];
    double *psi = trl_arena_get(arena, cells, sizeof *psi);
    if (!psi)
        return false;
    trl_vexp(cells, theta, scaled_max(cells, theta, 1.0, &b->range), psi);
    b->psi[a] = psi;
    return true;
}

/* Every table once: `first[t]` is the first factor that has it.  With rho, pairs have one each. */
static bool init_factors(trl_bp *b, trl_arena *arena)
{
    const trl_graph_view *g = b->g;
    uint32_t *first = trl_arena_get(arena, g->n_tables, sizeof *first);
    double *max = trl_arena_get(arena, g->n_tables, sizeof *max);
    bool *seen = trl_arena_get(arena, g->n_tables, sizeof *seen);
    if (!first || !max || !seen)
        return false;
    const size_t cells = matrix_cells(b, seen);
    double *room = trl_arena_get(arena, cells + TRL_MATRIX_SLACK, sizeof *room);
    if (!room)
        return false;
    memset(room + cells, 0, TRL_MATRIX_SLACK * sizeof *room);
    for (size_t t = 0; t < g->n_tables; t++)
        first[t] = UINT32_MAX;
    for (size_t a = 0; a < g->n_factors; a++) {
        const uint32_t t = g->table_of[a];
        const size_t m = trl_arity(g, a), e = g->scope_at[a];
        const bool known = first[t] != UINT32_MAX;
        bool ignored = false;
        if (m < 2)
            continue;
        if (!known) {
            first[t] = (uint32_t)a;
            max[t] = scaled_max(g->cell_at[a + 1] - g->cell_at[a], b->table[t], 1.0, &ignored);
        }
        b->shift += max[t];
        if (known && m > 2)
            b->psi[a] = b->psi[first[t]];
        else if (known && !b->rho)
            memcpy(b->matrix + e, b->matrix + g->scope_at[first[t]], 2 * sizeof *b->matrix);
        else if (m == 2)
            pair_matrices(b, a, b->rho ? b->rho[e] : 1.0, &room, b->matrix + e);
        else if (!larger_table(b, a, arena))
            return false;
    }
    return true;
}

/* ---- messages -------------------------------------------------------------------------------- */

static size_t labels_of(const trl_bp *b, uint32_t e)
{
    return b->g->labels[b->g->scope[e]];
}

static void set_power(const trl_bp *b, uint32_t e)
{
    const size_t at = b->l->message_at[e], width = b->l->message_at[e + 1] - at;
    if (b->rho[e] < 1.0)
        trl_vpow(width, b->m + at, b->rho[e], b->mr + at);
    else
        memcpy(b->mr + at, b->m + at, width * sizeof *b->mr);
}

static void init_messages(trl_bp *b, const double *from)
{
    for (uint32_t e = 0; e < b->l->n_edges; e++) {
        const size_t at = b->l->message_at[e], width = b->l->message_at[e + 1] - at;
        const size_t labels = labels_of(b, e);
        for (size_t j = 0; j < width; j++) {
            const double p = j >= labels   ? 0.0
                             : from        ? from[at + j]
                             : b->maximise ? 1.0
                                           : 1.0 / (double)labels;
            b->m[at + j] = b->log ? log(p) : p;
        }
        if (b->rho && !b->log && width)
            set_power(b, e);
    }
}

trl_status trl_bp_init(trl_bp *b, trl_arena *a, const double *from, trl_error *err)
{
    const trl_layout *l = b->l;
    const size_t cells = l->message_at[l->n_edges];
    bool ok = true;
    b->shift = 0.0;
    b->range = false;
    ok = (b->node = trl_arena_get(a, l->node_at[b->g->n_variables], sizeof(double))) && ok;
    ok = (b->m = b->mr = trl_arena_get(a, cells, sizeof(double))) && ok;
    ok = (b->n = trl_arena_get(a, cells, sizeof(double))) && ok;
    ok = (b->matrix = trl_arena_get(a, l->n_edges, sizeof *b->matrix)) && ok;
    ok = (b->psi = trl_arena_get(a, b->g->n_factors, sizeof *b->psi)) && ok;
    for (size_t k = 0; k < 3; k++)
        ok = (b->row[k] = trl_arena_get(a, l->max_width, sizeof(double))) && ok;
    for (size_t k = 0; k < 2; k++)
        ok = (b->cells[k] = trl_arena_get(a, l->max_cells, sizeof(double))) && ok;
    if (b->rho) {
        ok = (b->mr = trl_arena_get(a, cells, sizeof(double))) && ok;
        ok = (b->power = trl_arena_get(a, cells, sizeof(double))) && ok;
    }
    if (!ok)
        return trl_fail_mem(err);
    init_nodes(b);
    if (!b->log && !init_factors(b, a))
        return trl_fail_mem(err);
    if (b->log) /* no range is too wide, but a row may be all -inf */
        b->range = !(b->shift > -HUGE_VAL);
    init_messages(b, from);
    return TRL_OK;
}

void trl_bp_export(const trl_bp *b, double *out)
{
    for (size_t i = 0; i < b->l->message_at[b->l->n_edges]; i++)
        out[i] = b->log ? exp(b->m[i]) : b->m[i];
}

trl_bp_rows trl_bp_rows_of(const trl_bp *b, uint32_t v)
{
    const trl_layout *l = b->l;
    return (trl_bp_rows){.width = trl_row_width(b->g->labels[v]),
                         .n = l->link_at[v + 1] - l->link_at[v],
                         .node = b->node + l->node_at[v],
                         .link = l->link + l->link_at[v],
                         .partner = l->partner + l->link_at[v],
                         .at = l->message_at,
                         .base = b->mr};
}

/* B_v / m_e: the product without e has m_e^rho less, so m_e^(rho - 1) comes to it. */
static void own_power(const trl_bp *b, uint32_t e, double *out)
{
    const size_t at = b->l->message_at[e], width = b->l->message_at[e + 1] - at;
    if (b->rho[e] < 1.0)
        trl_bp_ratio(width, b->mr + at, b->m + at, out);
}

void trl_bp_send(const trl_bp *b, uint32_t e, double *out)
{
    if (b->log) {
        trl_bp_send_log(b, e, out);
        return;
    }
    const trl_bp_rows rows = trl_bp_rows_of(b, b->g->scope[e]);
    trl_bp_product(&rows, e, out);
    if (b->rho)
        own_power(b, e, out);
}

void trl_bp_send_all(trl_bp *b, uint32_t v)
{
    const trl_layout *l = b->l;
    if (!b->log) {
        const trl_bp_rows rows = trl_bp_rows_of(b, v);
        trl_bp_products(&rows, b->n);
    }
    for (size_t i = l->link_at[v]; (b->log || b->rho) && i < l->link_at[v + 1]; i++) {
        const uint32_t e = l->link[i];
        if (b->log)
            trl_bp_send_log(b, e, b->n + l->message_at[e]);
        else
            own_power(b, e, b->n + l->message_at[e]);
    }
}

/* sum or max of psi_a times the rows of all its variables but that at `slot`, into out. */
static void contract(trl_bp *b, size_t a, size_t slot, const double *rows, double *out)
{
    const trl_graph_view *g = b->g;
    const size_t first = g->scope_at[a], m = trl_arity(g, a);
    const double *T = b->psi[a];
    size_t cells = g->cell_at[a + 1] - g->cell_at[a], turn = 0;
    for (size_t k = m; k-- > slot + 1; turn ^= 1) {
        const size_t n = g->labels[g->scope[first + k]];
        cells /= n;
        trl_bp_fold_last(b->maximise, cells, n, T, rows + b->l->message_at[first + k],
                         b->cells[turn]);
        T = b->cells[turn];
    }
    for (size_t k = 0; k < slot; k++, turn ^= 1) {
        const size_t n = g->labels[g->scope[first + k]];
        cells /= n;
        trl_bp_fold_first(b->maximise, n, cells, rows + b->l->message_at[first + k], T,
                          b->cells[turn]);
        T = b->cells[turn];
    }
    memcpy(out, T, cells * sizeof *out);
    for (size_t j = cells; j < trl_row_width(cells); j++)
        out[j] = 0.0;
}

static void fresh_larger(trl_bp *b, uint32_t e, double *fresh)
{
    const trl_graph_view *g = b->g;
    const uint32_t a = b->l->edge_factor[e];
    const size_t *at = b->l->message_at;
    if (!b->rho) {
        contract(b, a, e - g->scope_at[a], b->n, fresh);
        return;
    }
    for (size_t f = g->scope_at[a]; f < g->scope_at[a + 1]; f++)
        trl_vpow(at[f + 1] - at[f], b->n + at[f], b->rho[f], b->power + at[f]);
    contract(b, a, e - g->scope_at[a], b->power, fresh);
    trl_bp_ratio(at[e + 1] - at[e], b->power + at[e], b->n + at[e], fresh);
}

/* A pair's message without weights: from the other variable's row, stored or made here. */
static double fresh_pair(trl_bp *b, uint32_t e, uint32_t o, bool stored, double *fresh)
{
    const size_t *at = b->l->message_at, columns = labels_of(b, e), n = labels_of(b, o);
    double change = 0.0, norm;
    if (stored) {
        norm = trl_bp_pass(b->maximise, n, columns, b->n + at[o], b->matrix[e], TRL_BP_SMALL,
                           b->m + at[e], fresh, &change);
    } else {
        const trl_bp_rows rows = trl_bp_rows_of(b, b->g->scope[o]);
        norm = trl_bp_through(b->maximise, &rows, o, n, columns, b->matrix[e], TRL_BP_SMALL,
                              b->m + at[e], b->row[0], fresh, &change);
    }
    b->range = b->range || !(norm > TRL_BP_SMALL && norm < HUGE_VAL);
    return change;
}

double trl_bp_fresh(trl_bp *b, uint32_t e, bool stored, double *fresh)
{
    const trl_graph_view *g = b->g;
    const uint32_t a = b->l->edge_factor[e];
    const size_t first = g->scope_at[a], m = trl_arity(g, a), *at = b->l->message_at;
    const uint32_t o = (uint32_t)(2 * first + 1 - e); /* of a pair: its other edge */
    double change = 0.0;
    if (m == 2 && !b->log && (stored || !b->rho))
        return fresh_pair(b, e, o, stored, fresh);
    for (uint32_t f = (uint32_t)first; !stored && f < first + m; f++)
        if (f != e || b->rho)
            trl_bp_send(b, f, b->n + at[f]);
    if (b->log)
        return trl_bp_fresh_log(b, e, fresh);
    if (m == 2)
        return fresh_pair(b, e, o, true, fresh);
    fresh_larger(b, e, fresh);
    const double norm =
        trl_bp_norm(b->maximise, at[e + 1] - at[e], TRL_BP_SMALL, fresh, b->m + at[e], &change);
    b->range = b->range || !(norm > TRL_BP_SMALL && norm < HUGE_VAL);
    return change;
}

void trl_bp_accept(trl_bp *b, uint32_t e, double *fresh)
{
    const size_t at = b->l->message_at[e], width = b->l->message_at[e + 1] - at;
    const double old = b->damping, new = 1.0 - b->damping;
    double *m = b->m + at;
    for (size_t j = 0; old > 0.0 && j < width; j++)
        if (!b->log)
            fresh[j] = fresh[j] > 0.0 ? new *fresh[j] + old *m[j] : 0.0;
        else if (m[j] > -HUGE_VAL)
            fresh[j] = new *fresh[j] + old *m[j];
    for (size_t j = 0; j < width; j++)
        m[j] = fresh[j];
    if (b->rho && !b->log)
        set_power(b, e);
    b->updates++;
}
