/* chain_pairs.c -- pairs as sets: tables, inserting and removing cells, expected counts. */
/* SPDX-License-Identifier: MIT */
#include "chain/chain_pairs.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "num/matrix_kernel.h"

/* ---- once per pass --------------------------------------------------------------------------- */

bool trl_pairs_range(const trl_chain *c, const trl_pair_sets *p, double *min, double *max)
{
    bool good = true;
    for (uint64_t i = 0; i < p->begin[p->n]; i++) {
        const double x = c->edge[p->cell[i].from * c->L + p->cell[i].to] + p->score[i];
        good &= x < HUGE_VAL;
        *min = x < *min ? x : *min;
        *max = x > *max ? x : *max;
    }
    return good;
}

/* Multiplies the cells of a set into E, or Et. */
static void put_in(const trl_chain *c, const trl_pair_sets *p, size_t set, bool transposed,
                   double *to)
{
    const size_t S = c->stride;
    const double *from = transposed ? c->Et : c->E;
    for (uint64_t i = p->begin[set]; i < p->begin[set + 1]; i++) {
        const trl_pair_cell k = p->cell[i];
        const size_t at = transposed ? k.to * S + k.from : k.from * S + k.to;
        to[at] = from[at] * p->factor[i];
    }
}

trl_status trl_pairs_tables(trl_chain *c, const trl_pair_sets *p, trl_error *err)
{
    const size_t size = c->L * c->stride;
    if (c->set_room < p->n_tables) {
        double *E = trl_alloc64(p->n_tables, size * sizeof *E);
        double *Et = trl_alloc64(p->n_tables, size * sizeof *Et);
        if (!E || !Et) {
            trl_free(E);
            trl_free(Et);
            return trl_fail_mem(err);
        }
        trl_free(c->set_E);
        trl_free(c->set_Et);
        c->set_E = E;
        c->set_Et = Et;
        c->set_room = p->n_tables;
    }
    for (size_t k = 1; k < p->n_tables; k++) {
        memcpy(c->set_E + k * size, c->E, size * sizeof *c->E);
        memcpy(c->set_Et + k * size, c->Et, size * sizeof *c->Et);
        put_in(c, p, k, false, c->set_E + k * size);
        put_in(c, p, k, true, c->set_Et + k * size);
    }
    return TRL_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

bool trl_pairs_work_get(const trl_chain *c, trl_arena *arena, trl_pairs_work *w)
{
    const size_t size = c->L * c->stride;
    w->E = trl_arena_get(arena, size, sizeof *w->E);
    w->Et = trl_arena_get(arena, size, sizeof *w->Et);
    if (!w->E || !w->Et)
        return false;
    memcpy(w->E, c->E, size * sizeof *w->E);
    memcpy(w->Et, c->Et, size * sizeof *w->Et);
    return true;
}

const double *trl_pairs_enter(const trl_chain *c, const trl_tables *s, const trl_pairs_work *w,
                              size_t t, bool transposed)
{
    const size_t set = s->chain.set[t];
    double *own = transposed ? w->Et : w->E;
    if (set == 0)
        return transposed ? c->Et : c->E;
    if (set < s->chain.pairs->n_tables)
        return (transposed ? c->set_Et : c->set_E) + set * c->L * c->stride;
    put_in(c, s->chain.pairs, set, transposed, own);
    return own;
}

void trl_pairs_leave(const trl_chain *c, const trl_tables *s, const trl_pairs_work *w, size_t t,
                     bool transposed)
{
    const trl_pair_sets *p = s->chain.pairs;
    const size_t set = s->chain.set[t], S = c->stride;
    const double *from = transposed ? c->Et : c->E;
    double *to = transposed ? w->Et : w->E;
    if (set < p->n_tables)
        return;
    for (uint64_t i = p->begin[set]; i < p->begin[set + 1]; i++) {
        const trl_pair_cell k = p->cell[i];
        const size_t at = transposed ? k.to * S + k.from : k.from * S + k.to;
        to[at] = from[at];
    }
}

/* ---- expected counts ------------------------------------------------------------------------- */

double *trl_pairs_cells_get(const trl_tables *s, trl_arena *arena)
{
    size_t n = 0;
    for (size_t t = 1; t < s->n; t++)
        n += trl_pair_cells_at(s, t);
    return trl_arena_get(arena, n + 1, sizeof(double));
}

/* What comes from the left, and from the right with the factor of the position. */
typedef struct pair_ends {
    const double *a;
    const double *v;
} pair_ends;

/* One position of a set without tables: the counts of its cells, which also count for the shared
 * scores, are not a v^T times E.  `out` holds the sums of these cells meanwhile. */
static size_t add_cells(const trl_chain *c, const trl_pair_sets *p, size_t set,
                        const pair_ends *ends, trl_chain_sums *sums, double *out)
{
    const size_t L = c->L, S = c->stride, n = trl_pair_set_size(p, set);
    const trl_pair_cell *cell = p->cell + p->begin[set];
    const double *factor = p->factor + p->begin[set];
    for (size_t i = 0; i < n; i++)
        out[i] = sums->outer[cell[i].from * S + cell[i].to];
    trl_outer_sum(1, L, S, ends->a, S, ends->v, S, sums->outer);
    for (size_t i = 0; i < n; i++) {
        const size_t at = cell[i].from * S + cell[i].to;
        sums->outer[at] = out[i];
        out[i] = ends->a[cell[i].from] * (c->E[at] * factor[i]) * ends->v[cell[i].to];
        sums->edge[cell[i].from * L + cell[i].to] += out[i];
    }
    return n;
}

void trl_pairs_results(const trl_chain *c, const trl_tables *s, const double *a, double *v,
                       trl_chain_sums *sums, double *set_cell)
{
    const size_t T = s->n, L = c->L, S = c->stride;
    for (size_t t = 1, end; t < T; t = end) {
        const size_t set = s->chain.set[t];
        end = t + 1;
        if (set >= s->chain.pairs->n_tables) {
            set_cell += add_cells(c, s->chain.pairs, set, &(pair_ends){a + (t - 1) * S, v + t * S},
                                  sums, set_cell);
            continue;
        }
        while (end < T && s->chain.set[end] == set)
            end++;
        trl_outer_sum(end - t, L, S, a + (t - 1) * S, S, v + t * S, S,
                      set ? sums->set_outer + set * L * S : sums->outer);
    }
}

trl_status trl_chain_sums_pairs(trl_chain_sums *m, const trl_chain *c, const trl_tables *s,
                                trl_error *err)
{
    const size_t n = s->chain.pairs ? s->chain.pairs->n_tables : 0, size = c->L * c->stride;
    if (n <= m->set_room)
        return TRL_OK;
    double *outer = trl_alloc64(n, size * sizeof *outer);
    double *edge = trl_alloc64(n, size * sizeof *edge);
    if (!outer || !edge) {
        trl_free(outer);
        trl_free(edge);
        return trl_fail_mem(err);
    }
    trl_free(m->set_outer);
    trl_free(m->set_edge);
    memset(outer, 0, n * size * sizeof *outer);
    memset(edge, 0, n * size * sizeof *edge);
    m->set_outer = outer;
    m->set_edge = edge;
    m->set_room = n;
    return TRL_OK;
}

void trl_chain_sums_add_pairs(const trl_chain_sums *m, const trl_chain *c, trl_tables *adjoint)
{
    const size_t L = c->L, S = c->stride, n = adjoint->chain.pairs->n_tables;
    double *shared = adjoint->shared[TRL_EDGE];
    for (size_t k = 1; k < n; k++)
        for (size_t i = 0; i < L; i++)
            for (size_t j = 0; j < L; j++) {
                const size_t at = (k * L + i) * S + j;
                const double own = c->scaled ? m->set_outer[at] * c->set_E[at] : 0.0;
                adjoint->chain.set_table[(k * L + i) * L + j] -= own + m->set_edge[at];
                if (shared) /* what set_edge holds is in m->edge, too */
                    shared[i * L + j] -= own;
            }
}

/* ---- through rows -----------------------------------------------------------------------------
 */

static void take_from_rows(const trl_chain_call *call, const double *rows, size_t step,
                           trl_chain_sums *sums, double *set_cell)
{
    const trl_pair_sets *p = call->s->chain.pairs;
    const size_t L = call->c->L, S = call->c->stride;
    for (size_t t = 1; t < call->s->n; t++) {
        const size_t set = call->s->chain.set[t];
        const double *row = rows + t * step;
        const bool table = set < p->n_tables;
        for (uint64_t i = p->begin[set]; !table && i < p->begin[set + 1]; i++)
            *set_cell++ = call->weight * row[p->cell[i].from * L + p->cell[i].to];
        for (size_t i = 0; table && set && i < L * L; i++)
            sums->set_edge[(set * L + i / L) * S + i % L] += call->weight * row[i];
    }
}

trl_status trl_pairs_by_rows(const trl_chain_call *call, trl_chain_marginals *out,
                             trl_chain_sums *sums, trl_error *err)
{
    const size_t L = call->c->L, T = call->s->n, step = trl_padded(L * L);
    trl_tables s = *call->s;
    s.chain.pairs = NULL;
    s.step[TRL_EDGE] = step;
    s.row[TRL_EDGE] = trl_arena_get(call->arena, T * step, sizeof(double));
    double *set_cell = trl_pairs_cells_get(call->s, call->arena);
    if (!s.row[TRL_EDGE] || !set_cell)
        return trl_fail_mem(err);
    for (size_t t = 0; t < T; t++)
        trl_pair_set_row(call->s->chain.pairs, call->s->chain.set[t], s.row[TRL_EDGE] + t * step);
    const trl_status st = trl_chain_infer(call->c,
                                          &(trl_chain_ask){.s = &s,
                                                           .arena = call->arena,
                                                           .want = call->want | TRL_WANT_EDGE_ROWS,
                                                           .weight = call->weight},
                                          out, sums, err);
    if (st != TRL_OK || (call->want & TRL_WANT_LOG_Z_ONLY))
        return st;
    if (call->want & TRL_WANT_SUMS)
        take_from_rows(call, out->edge, step, sums, set_cell);
    out->set_cell = set_cell;
    return st;
}

/* ---- one labelling ------------------------------------------------------------------------------
 */

double trl_pairs_score(const trl_tables *s, size_t t, const uint32_t *y)
{
    const size_t i = trl_pair_set_find(s->chain.pairs, s->chain.set[t], y[t - 1], y[t]);
    return i == SIZE_MAX ? 0.0 : s->chain.pairs->score[s->chain.pairs->begin[s->chain.set[t]] + i];
}

void trl_pairs_add_path(const uint32_t *y, double amount, trl_tables *adjoint)
{
    const trl_pair_sets *p = adjoint->chain.pairs;
    double *cells = adjoint->chain.set_cell;
    for (size_t t = 1; t < adjoint->n; t++) {
        const size_t set = adjoint->chain.set[t];
        if (set < p->n_tables) {
            if (set) /* the empty one has no weights */
                adjoint->chain.set_table[(set * p->L + y[t - 1]) * p->L + y[t]] += amount;
            continue;
        }
        const size_t i = trl_pair_set_find(p, set, y[t - 1], y[t]);
        if (i != SIZE_MAX)
            cells[i] += amount;
        cells += trl_pair_set_size(p, set);
    }
}
