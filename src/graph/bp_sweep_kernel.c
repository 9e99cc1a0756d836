/* bp_sweep_kernel.c -- many messages of pairs at a time: a flooding sweep, and what a residual
 * update makes due. */
/* SPDX-License-Identifier: MIT */
#include "graph/bp_lanes.h"

/* ---- flooding -------------------------------------------------------------------------------- */

TRL_CLONES void trl_bp_products_all(const trl_layout *l, size_t n, const double *node,
                                    const double *base, double *out)
{
    for (size_t v = 0; v < n; v++) {
        const trl_bp_rows r = {.width = l->node_at[v + 1] - l->node_at[v],
                               .n = l->link_at[v + 1] - l->link_at[v],
                               .node = node + l->node_at[v],
                               .link = l->link + l->link_at[v],
                               .at = l->message_at,
                               .base = base};
        products_any(&r, out);
    }
}

/* Changes of wide rows stay in the lanes, those of narrow ones go to *change. */
TRL_INLINE double flood_message(const bool maximise, const trl_bp_sweep *s, size_t e, size_t o,
                                lanes *l, double *change)
{
    const size_t width = s->at[e + 1] - s->at[e], labels = s->labels[s->scope[o]];
    double fresh[4], *m = s->m + s->at[e], moved = 0.0, norm;
    if (width >= 8) {
        const source from =
            source_of(labels, s->labels[s->scope[e]], s->n + s->at[o], s->matrix[e]);
        return pass_wide(maximise, width, &from, &(target){s->small, m, m}, l);
    }
    if (width == 2 && labels == 2) {
        pair_narrow(maximise, 2, 2, s->n + s->at[o], s->matrix[e], fresh);
        norm = norm_narrow(maximise, 2, s->small, fresh, m, &moved);
    } else {
        pair_some(maximise, labels, width, s->n + s->at[o], s->matrix[e], fresh);
        norm = norm_some(maximise, width, s->small, fresh, m, &moved);
    }
    *change = moved > *change ? moved : *change;
    for (size_t j = 0; j < width; j++)
        m[j] = fresh[j];
    return norm;
}

TRL_INLINE bool flood(const bool maximise, const trl_bp_sweep *s, double *change)
{
    lanes l = {{0}, {0}};
    l.below += 1.0;
    for (size_t a = s->from; a < s->to; a++) {
        const size_t e = s->scope_at[a];
        const double x = flood_message(maximise, s, e, e + 1, &l, change);
        const double y = flood_message(maximise, s, e + 1, e, &l, change);
        if (!(x > s->small && x < HUGE_VAL && y > s->small && y < HUGE_VAL))
            return false;
    }
    const double wide = largest_of(&l);
    *change = wide > *change ? wide : *change;
    return true;
}

TRL_CLONES bool trl_bp_flood_pairs(const trl_bp_sweep *s, double *change)
{
    return s->maximise ? flood(true, s, change) : flood(false, s, change);
}

/* ---- residual -------------------------------------------------------------------------------- */

#define AHEAD 2   /* links whose matrices are asked for early: they are scattered over memory */
#define EARLY 256 /* numbers of a matrix; the rest follows by itself */

TRL_INLINE void ask_for(const trl_bp_sweep *s, size_t e, size_t labels)
{
    const size_t n = labels * trl_matrix_stride(s->labels[s->scope[e]]);
    for (size_t i = 0; i < n && i < EARLY; i += 8)
        __builtin_prefetch(s->matrix[e] + i);
    __builtin_prefetch(s->m + s->at[e]);
}

/* From the row n of f, of n labels, through the factor of both to the ready row of e. */
TRL_INLINE double refresh_message(const bool maximise, const trl_bp_sweep *s, size_t e, size_t f,
                                  size_t n, double *change)
{
    const size_t width = s->at[e + 1] - s->at[e];
    const double *x = s->n + s->at[f], *old = s->m + s->at[e];
    double *fresh = s->ready + s->at[e];
    if (width < 8) {
        pair_some(maximise, n, width, x, s->matrix[e], fresh);
        return norm_some(maximise, width, s->small, fresh, old, change);
    }
    lanes l = {{0}, {0}};
    l.below += 1.0;
    const source from = source_of(n, s->labels[s->scope[e]], x, s->matrix[e]);
    const double norm = pass_wide(maximise, width, &from, &(target){s->small, old, fresh}, &l);
    *change = largest_of(&l);
    return norm;
}

/* The message that link k makes due, or TRL_NO_PARTNER. */
TRL_INLINE uint32_t due(const trl_bp_rows *r, uint32_t skip, size_t k)
{
    return k < r->n && r->link[k] != skip ? r->partner[k] : TRL_NO_PARTNER;
}

TRL_INLINE bool refresh(const bool maximise, const trl_bp_sweep *s, const trl_bp_rows *r,
                        uint32_t skip, double *change)
{
    const size_t n = r->n ? s->labels[s->scope[r->link[0]]] : 0; /* of the variable */
    bool good = true;
    for (size_t k = 0; k < AHEAD; k++)
        if (due(r, skip, k) != TRL_NO_PARTNER)
            ask_for(s, due(r, skip, k), n);
    products_any(r, s->n);
    for (size_t k = 0; k < r->n; k++) {
        const uint32_t e = due(r, skip, k), later = due(r, skip, k + AHEAD);
        if (later != TRL_NO_PARTNER)
            ask_for(s, later, n);
        change[k] = -1.0;
        if (e == TRL_NO_PARTNER)
            continue;
        const double norm = refresh_message(maximise, s, e, r->link[k], n, &change[k]);
        good = good && norm > s->small && norm < HUGE_VAL;
    }
    return good;
}

TRL_CLONES bool trl_bp_refresh(const trl_bp_sweep *s, const trl_bp_rows *r, uint32_t skip,
                               double *change)
{
    return s->maximise ? refresh(true, s, r, skip, change) : refresh(false, s, r, skip, change);
}
