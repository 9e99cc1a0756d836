/* bp_log.c -- messages as logarithms: any range of potentials, any factor, plain loops. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "graph/bp.h"

void trl_bp_send_log(const trl_bp *b, uint32_t e, double *out)
{
    const trl_layout *l = b->l;
    const uint32_t v = b->g->scope[e];
    const size_t width = l->message_at[e + 1] - l->message_at[e];
    for (size_t j = 0; j < width; j++)
        out[j] = b->node[l->node_at[v] + j];
    for (size_t i = l->link_at[v]; i < l->link_at[v + 1]; i++) {
        const uint32_t f = l->link[i];
        const double *m = b->m + l->message_at[f];
        const double power = (b->rho ? b->rho[f] : 1.0) - (f == e ? 1.0 : 0.0);
        if (power != 0.0)
            for (size_t j = 0; j < width; j++)
                out[j] = m[j] > -HUGE_VAL ? out[j] + power * m[j] : -HUGE_VAL;
    }
}

/* The score of the cell that `index` is at, without variable `slot`; -inf when it does not count.
 */
static double cell_score(const trl_contraction *c, const size_t *index, size_t cell)
{
    const trl_graph_view *g = c->g;
    double s = c->theta[cell] * c->scale;
    for (size_t k = 0; k < trl_arity(g, c->factor); k++) {
        if (c->allowed && c->allowed[k] != UINT32_MAX && c->allowed[k] != index[k])
            return -HUGE_VAL;
        if (k != c->slot && c->rows[k])
            s += c->rows[k][index[k]];
    }
    return s;
}

static void next_cell(const trl_contraction *c, size_t *index)
{
    const trl_graph_view *g = c->g;
    const uint32_t *scope = g->scope + g->scope_at[c->factor];
    for (size_t k = trl_arity(g, c->factor); k-- > 0; index[k] = 0)
        if (++index[k] < g->labels[scope[k]])
            return;
}

void trl_contract_log(const trl_contraction *c, double *out)
{
    const trl_graph_view *g = c->g;
    const size_t cells = g->cell_at[c->factor + 1] - g->cell_at[c->factor];
    const size_t n = g->labels[g->scope[g->scope_at[c->factor] + c->slot]];
    size_t index[TRL_GRAPH_MAX_ARITY] = {0};
    for (size_t j = 0; j < n; j++)
        out[j] = -HUGE_VAL;
    for (size_t i = 0; i < cells; i++, next_cell(c, index)) {
        const double s = cell_score(c, index, i);
        double *to = &out[index[c->slot]];
        if (!(s > -HUGE_VAL))
            continue;
        if (c->maximise)
            *to = s > *to ? s : *to;
        else /* log(exp(a) + exp(b)), the larger one first */
            *to = s > *to ? s + log1p(exp(*to - s)) : *to + log1p(exp(s - *to));
    }
}

double trl_bp_fresh_log(trl_bp *b, uint32_t e, double *fresh)
{
    const trl_graph_view *g = b->g;
    const uint32_t a = b->l->edge_factor[e];
    const size_t first = g->scope_at[a], m = trl_arity(g, a), *at = b->l->message_at;
    const size_t width = at[e + 1] - at[e], n = g->labels[g->scope[e]];
    const double *rows[TRL_GRAPH_MAX_ARITY];
    const bool powers = b->rho && m > 2;
    for (size_t f = first; f < first + m; f++) {
        for (size_t j = at[f]; powers && j < at[f + 1]; j++)
            b->power[j] = b->rho[f] * b->n[j];
        rows[f - first] = (powers ? b->power : b->n) + at[f];
    }
    const trl_contraction c = {.g = g,
                               .factor = a,
                               .slot = e - first,
                               .theta = b->table[g->table_of[a]],
                               .scale = b->rho && m == 2 ? 1.0 / b->rho[e] : 1.0,
                               .rows = rows,
                               .maximise = b->maximise};
    trl_contract_log(&c, fresh);
    double max = -HUGE_VAL, sum = 0.0, change = 0.0;
    for (size_t j = 0; j < n; j++) {
        if (powers)
            fresh[j] = b->n[at[e] + j] > -HUGE_VAL ? fresh[j] + (b->rho[e] - 1.0) * b->n[at[e] + j]
                                                   : -HUGE_VAL;
        max = fresh[j] > max ? fresh[j] : max;
    }
    b->range = b->range || max == -HUGE_VAL;
    for (size_t j = 0; j < n && !b->range; j++)
        sum += exp(fresh[j] - max);
    const double norm = b->maximise ? max : max + log(sum);
    for (size_t j = 0; j < width; j++) {
        fresh[j] = j < n && !b->range ? fresh[j] - norm : -HUGE_VAL;
        if (fresh[j] != b->m[at[e] + j]) /* |p - q| / (p + q) = tanh(|log p - log q| / 2) */
            change = fmax(change, tanh(0.5 * fabs(fresh[j] - b->m[at[e] + j])));
    }
    return change;
}
