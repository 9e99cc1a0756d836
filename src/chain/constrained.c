/* constrained.c -- answers under a constraint: zeros in the tables, or a lattice. */
/* SPDX-License-Identifier: MIT */
#include "chain/constrained.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "num/simd.h"

bool trl_constrained_is_on(const trl_tagger *t)
{
    const struct trl_constrained *x = t->constrained;
    return x && (x->has_rules || x->has_allowed || x->has_joint);
}

void trl_constrained_free(struct trl_constrained *x)
{
    if (!x)
        return;
    trl_constraint_free(x->own);
    trl_chain_fini(&x->chain);
    trl_chain_fini(&x->rows);
    trl_chain_fini(&x->flat);
    trl_free(x->allowed);
    trl_free(x->joint);
    trl_free(x->tracked);
    trl_lattice_fini(&x->lattice);
    trl_best_rows_fini(&x->best);
    trl_free(x);
}

void trl_constrained_reset(trl_tagger *t)
{
    if (t->constrained)
        t->constrained->has_allowed = t->constrained->has_joint = false;
}

/* ---- chains with forbidden pairs ------------------------------------------------------------- */

/* `out` is `base` with zeros; `rows` says whether its tables have rows of pairs. */
static trl_status mask_chain(const trl_constraint *c, const trl_chain *base, bool rows,
                             trl_chain *out, trl_error *err)
{
    const size_t L = base->L;
    double some_row = 0.0; /* only says that there are rows */
    double *edge = trl_alloc(L * L, sizeof *edge);
    if (!edge)
        return trl_fail_mem(err);
    for (size_t k = 0; k < L * L; k++)
        edge[k] = c->pair[k] ? base->edge[k] : -HUGE_VAL;
    const trl_tables s = {.row = {&some_row, rows ? &some_row : NULL},
                          .shared = {NULL, edge, base->tri}};
    trl_status st = trl_chain_init(out, L, base->order, err);
    out->zeros = true;
    if (st == TRL_OK)
        st = trl_chain_prepare(out, &s, err);
    trl_free(edge);
    if (st != TRL_OK)
        trl_chain_fini(out);
    return st;
}

/* No scores but the zeros: what labellings by marginals are looked for with. */
static trl_status make_flat(struct trl_constrained *x, size_t L, trl_error *err)
{
    trl_chain plain;
    const trl_tables none = {0};
    if (x->flat.L)
        return TRL_OK;
    trl_status st = trl_chain_init(&plain, L, 1, err);
    if (st == TRL_OK)
        st = trl_chain_prepare(&plain, &none, err);
    if (st == TRL_OK)
        st = mask_chain(x->c, &plain, false, &x->flat, err);
    trl_chain_fini(&plain);
    return st;
}

static trl_status masked_chain(trl_tagger *t, const trl_chain **chain, trl_error *err)
{
    struct trl_constrained *x = t->constrained;
    const bool rows = *chain == &t->rows;
    if (!x->c->has_pairs || (!rows && *chain != &t->chain))
        return TRL_OK;
    trl_chain *mine = rows ? &x->rows : &x->chain;
    trl_status st = TRL_OK;
    if (!mine->L)
        st = mask_chain(x->c, *chain, rows || t->has_rows[TRL_EDGE], mine, err);
    *chain = mine;
    return st;
}

/* The tables with zeros for labels that are not allowed where they are. */
static trl_status masked_tables(trl_tagger *t, const trl_tables *s, trl_tables *out, trl_error *err)
{
    const struct trl_constrained *x = t->constrained;
    const size_t T = s->n, L = t->m->L, step = s->step[TRL_NODE];
    double *node = trl_arena_get(&t->arena, T * step, sizeof *node);
    if (!node)
        return trl_fail_mem(err);
    memcpy(node, s->row[TRL_NODE], T * step * sizeof *node);
    for (size_t y = 0; y < L; y++) {
        if (!x->c->first[y])
            node[y] = -HUGE_VAL;
        if (!x->c->last[y])
            node[(T - 1) * step + y] = -HUGE_VAL;
    }
    for (size_t k = 0; x->has_allowed && k < T * L; k++)
        if (!x->allowed[k])
            node[k / L * step + k % L] = -HUGE_VAL;
    *out = *s;
    out->row[TRL_NODE] = node;
    return TRL_OK;
}

/* ---- the best labellings --------------------------------------------------------------------- */

/* Under the masks alone. */
static trl_status by_zeros(const trl_constrained_ask *ask, const trl_chain_list *list,
                           trl_error *err)
{
    const trl_chain *chain = ask->chain;
    trl_tables s;
    trl_status st = masked_chain(ask->t, &chain, err);
    if (st == TRL_OK)
        st = masked_tables(ask->t, ask->tables, &s, err);
    if (st != TRL_OK)
        return st;
    *list->found = 1;
    return list->n == 1 ? trl_chain_viterbi(chain, &s, &ask->t->arena, list->y, list->score, err)
                        : trl_chain_nbest(chain, &s, &ask->t->arena, list, err);
}

static trl_lattice_ask lattice_ask(const trl_constrained_ask *ask)
{
    const struct trl_constrained *x = ask->t->constrained;
    return (trl_lattice_ask){.c = x->c,
                             .tracked = x->tracked,
                             .allowed = x->has_allowed ? x->allowed : NULL,
                             .joint = x->has_joint ? x->joint : NULL,
                             .chain = ask->chain,
                             .tables = ask->tables};
}

static trl_status make_lattice(const trl_constrained_ask *ask, trl_error *err)
{
    const trl_lattice_ask a = lattice_ask(ask);
    return trl_lattice_make(&ask->t->constrained->lattice, &a, err);
}

/* The best labelling under the automata that are tracked, where rows of labels find it. */
static trl_status by_rows(const trl_constrained_ask *ask, const trl_chain_list *list, bool *found,
                          trl_error *err)
{
    struct trl_constrained *x = ask->t->constrained;
    const trl_lattice_ask a = lattice_ask(ask);
    *found = false;
    if (list->n != 1 || ask->chain->order != 1)
        return TRL_OK;
    const trl_status st =
        trl_best_labels(&x->best, &x->lattice.product, &a, list->y, list->score, err);
    *found = st == TRL_OK && isfinite(*list->score);
    return st;
}

/* Under the automata that are tracked. */
static trl_status by_lattice(const trl_constrained_ask *ask, const trl_chain_list *list,
                             trl_error *err)
{
    const trl_lattice *g = &ask->t->constrained->lattice;
    bool found = false;
    trl_status st = by_rows(ask, list, &found, err);
    *list->found = 1;
    if (st == TRL_OK && !found)
        st = make_lattice(ask, err);
    if (st != TRL_OK || found)
        return st;
    return list->n == 1 ? trl_lattice_viterbi(g, &ask->t->arena, list->y, list->score, err)
                        : trl_lattice_nbest(g, &ask->t->arena, list, err);
}

/* From now on all automata are tracked that one of the labellings offends; false: none does. */
static bool track_offended(struct trl_constrained *x, const trl_chain_list *list, size_t T)
{
    bool any = false;
    for (size_t k = 0; k < x->c->n_automata; k++)
        for (size_t rank = 0; rank < *list->found && !x->tracked[k]; rank++)
            any |= x->tracked[k] =
                !trl_automaton_accepts(&x->c->automaton[k], list->y + rank * T, T);
    return any;
}

trl_status trl_constrained_nbest(const trl_constrained_ask *ask, const trl_chain_list *list,
                                 trl_error *err)
{
    struct trl_constrained *x = ask->t->constrained;
    const size_t T = ask->tables->n;
    if (x->c->n_automata)
        memset(x->tracked, 0, x->c->n_automata * sizeof *x->tracked);
    trl_status st = x->has_joint ? by_lattice(ask, list, err) : by_zeros(ask, list, err);
    if (st == TRL_ENUMERIC) /* nothing is left: the lattice says where */
        st = by_lattice(ask, list, err);
    while (st == TRL_OK && track_offended(x, list, T))
        st = by_lattice(ask, list, err);
    if (st != TRL_OK)
        *list->found = 0;
    return st;
}

trl_status trl_constrained_viterbi(const trl_constrained_ask *ask, uint32_t *y, double *score,
                                   trl_error *err)
{
    size_t found;
    const trl_chain_list list = {.n = 1, .y = y, .score = score, .found = &found};
    return trl_constrained_nbest(ask, &list, err);
}

trl_status trl_constrained_posterior(trl_tagger *t, const double *p, uint32_t *y, trl_error *err)
{
    const size_t T = t->tables.n, step = t->chain.stride;
    struct trl_constrained *x = t->constrained;
    double score, *node = trl_arena_get(&t->arena, T * step, sizeof *node);
    trl_status st = node ? make_flat(x, t->m->L, err) : trl_fail_mem(err);
    if (st != TRL_OK)
        return st;
    memcpy(node, p, T * step * sizeof *node);
    const trl_tables s = {.n = T, .step = {step}, .row = {node}};
    const trl_constrained_ask ask = {t, &x->flat, &s};
    return trl_constrained_viterbi(&ask, y, &score, err);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static trl_status sum_by_zeros(const trl_constrained_ask *ask, int want, trl_chain_marginals *out,
                               trl_error *err)
{
    const trl_chain *chain = ask->chain;
    trl_tables s;
    trl_status st = masked_chain(ask->t, &chain, err);
    if (st == TRL_OK)
        st = masked_tables(ask->t, ask->tables, &s, err);
    const trl_chain_ask a = {
        .s = &s, .arena = &ask->t->arena, .want = want, .weight = 1.0, .zeros = true};
    return st == TRL_OK ? trl_chain_infer(chain, &a, out, NULL, err) : st;
}

/* Zeros for n sums. */
static double *zeros(trl_arena *arena, size_t n)
{
    double *x = trl_arena_get(arena, n, sizeof *x);
    if (x)
        memset(x, 0, n * sizeof *x);
    return x;
}

static trl_status sum_by_lattice(const trl_constrained_ask *ask, int want, trl_chain_marginals *out,
                                 trl_error *err)
{
    struct trl_constrained *x = ask->t->constrained;
    const size_t T = ask->tables->n, L = x->c->set.L;
    trl_lattice_sums sums = {
        .L = L, .node_step = ask->chain->stride, .edge_step = trl_padded(L * L)};
    for (size_t k = 0; k < x->c->n_automata; k++)
        x->tracked[k] = true;
    trl_status st = make_lattice(ask, err);
    if (st != TRL_OK)
        return st;
    const bool node = !(want & TRL_WANT_LOG_Z_ONLY), edge = (want & TRL_WANT_EDGE_ROWS) != 0;
    if (node)
        sums.node = zeros(&ask->t->arena, T * sums.node_step);
    if (edge)
        sums.edge = zeros(&ask->t->arena, T * sums.edge_step);
    if (edge)
        sums.arc = trl_arena_get(&ask->t->arena, x->lattice.n_arcs + 1, sizeof *sums.arc);
    if ((node && !sums.node) || (edge && (!sums.edge || !sums.arc)))
        return trl_fail_mem(err);
    st = trl_lattice_infer(&x->lattice, &ask->t->arena, &sums, err);
    x->arc = sums.arc;
    *out = (trl_chain_marginals){.log_z = sums.log_z, .node = sums.node, .edge = sums.edge};
    return st;
}

trl_status trl_constrained_infer(const trl_constrained_ask *ask, int want, trl_chain_marginals *out,
                                 trl_error *err)
{
    struct trl_constrained *x = ask->t->constrained;
    trl_status st = TRL_ENUMERIC;
    x->arc = NULL;
    if (!x->c->n_automata && !x->has_joint)
        st = sum_by_zeros(ask, want, out, err);
    return st == TRL_ENUMERIC ? sum_by_lattice(ask, want, out, err) : st;
}

/* ---- one labelling --------------------------------------------------------------------------- */

bool trl_constrained_obeys(const trl_tagger *t, const uint32_t *y)
{
    const struct trl_constrained *x = t->constrained;
    const trl_constraint *c = x->c;
    const size_t T = t->tables.n, L = t->m->L;
    bool good = c->first[y[0]] && c->last[y[T - 1]];
    for (size_t k = 0; k < T && good; k++) {
        const char joint = x->has_joint && k ? x->joint[k] : TRL_JOINT_ANY;
        good = (!x->has_allowed || x->allowed[k * L + y[k]]) &&
               (k == 0 || c->pair[y[k - 1] * L + y[k]]) &&
               (joint == TRL_JOINT_ANY ||
                trl_label_continues(&c->set, y[k - 1], y[k]) == (joint == TRL_JOINT_GOES_ON));
    }
    for (size_t k = 0; k < c->n_automata && good; k++)
        good = trl_automaton_accepts(&c->automaton[k], y, T);
    return good;
}
