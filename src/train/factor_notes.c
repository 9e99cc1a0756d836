/* factor_notes.c -- sums of local terms where labels are notes (text/label_text.h).
 *
 * A term of these objectives is log p(y_U | y_V), the labels of a block of variables U given those
 * of the variables V that its factors hold beside them:
 *
 *     piecewise              U the labels of a factor, V none
 *     pseudolikelihood       U a label, V its neighbours
 *     pseudolikelihood-edge  U two labels next to each other, V their neighbours
 *     piecewise pseudol.     U a label of a factor, V the others of that factor
 *
 * With sets O_u of labels that the variables of U may have,
 *
 *     term = log sum over y_U in prod O_u of exp s(y_U, y_V) - log sum over all y_U of exp s(y_U,
 *            y_V)
 *
 * A term whose V is not known is left out: what it conditions on is not there, and the terms that
 * remain are conditional likelihoods still [Lin88].  Soft labels, of U or of V, make it an
 * expectation over independent draws.  The term counts as often as the last token of U does.
 *
 * [Lin88] Lindsay. Composite likelihood methods. Contemporary Mathematics 80, 1988.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "train/factors.h"

typedef struct options {
    size_t n;
    const uint32_t *label;
} options;

typedef struct work {
    trl_factor_view x; /* of the caller, with gold = y */
    trl_factor_index i;
    options *open;  /* [n_variables] what notes allow; soft labels as drawn */
    uint32_t *y;    /* [n_variables] known or drawn labels */
    double *right;  /* outcomes */
    uint32_t *soft; /* [n_variables] the soft variables of a term */
} work;

/* The block of a term, and its factors: n_factors in i.take. */
typedef struct term {
    size_t n;
    const uint32_t *block;
    size_t n_factors, n_soft;
    double weight;
} term;

static trl_label_kind kind_of(const work *w, uint32_t v)
{
    return (trl_label_kind)w->x.notes->kind[w->x.note[v]];
}

static trl_status init(work *w, const trl_factor_view *x, trl_error *err)
{
    w->x = *x;
    w->y = trl_arena_get(x->arena, x->n_variables, sizeof *w->y);
    w->open = trl_arena_get(x->arena, x->n_variables, sizeof *w->open);
    w->soft = trl_arena_get(x->arena, x->n_variables, sizeof *w->soft);
    if (!w->y || !w->open || !w->soft)
        return trl_fail_mem(err);
    memcpy(w->y, x->gold, x->n_variables * sizeof *w->y);
    w->x.gold = w->y;
    for (size_t v = 0; v < x->n_variables; v++) {
        const trl_label_note note = trl_label_note_of(x->notes, x->note[v]);
        w->open[v] = (options){note.n, note.label};
    }
    const trl_status st = trl_factor_index_init(&w->i, &w->x, err);
    if (st != TRL_OK)
        return st;
    size_t outcomes = 1;
    for (size_t a = 0; a < x->n; a++)
        outcomes = x->factor[a].n_cells > outcomes ? x->factor[a].n_cells : outcomes;
    w->right = trl_arena_get(x->arena, outcomes, sizeof *w->right);
    return w->right ? TRL_OK : trl_fail_mem(err);
}

/* ---- one draw -------------------------------------------------------------------------------- */

/* right = the scores of the outcomes that are allowed, from variable u of the block on; -inf
 * elsewhere. */
static void allow(work *w, const term *k, size_t u, size_t outcome)
{
    if (u == k->n) {
        w->right[outcome] = w->i.p[outcome];
        return;
    }
    const options *o = &w->open[k->block[u]];
    for (size_t j = 0; j < o->n; j++)
        allow(w, k, u + 1, outcome * w->x.labels[k->block[u]] + o->label[j]);
}

static double evaluate(work *w, const term *k, double share)
{
    const size_t n = trl_block_scores(&w->i, k->n, k->block, k->n_factors);
    for (size_t o = 0; o < n; o++)
        w->right[o] = -HUGE_VAL;
    allow(w, k, 0, 0);
    const double right = trl_probabilities(n, w->right);
    const double all = trl_probabilities(n, w->i.p);
    for (size_t o = 0; o < n; o++)
        w->i.p[o] = w->right[o] - w->i.p[o];
    share *= k->weight;
    trl_block_add(&w->i, k->n, k->block, k->n_factors,
                  &(trl_block_amounts){n, share * w->x.weight, 0.0});
    return share == 0.0 ? 0.0 : share * (right == -HUGE_VAL ? right : right - all);
}

/* The soft variables from number d on take each of their labels in turn. */
static double draw(work *w, const term *k, size_t d, double share)
{
    if (d == k->n_soft)
        return evaluate(w, k, share);
    const uint32_t v = w->soft[d];
    const trl_label_note note = trl_label_note_of(w->x.notes, w->x.note[v]);
    const options before = w->open[v];
    double sum = 0.0;
    for (size_t j = 0; j < note.n; j++) {
        w->open[v] = (options){1, note.label + j};
        w->y[v] = note.label[j];
        sum += draw(w, k, d + 1, share * note.p[j]);
    }
    w->open[v] = before;
    return sum;
}

/* ---- terms ----------------------------------------------------------------------------------- */

static bool in_block(const term *k, uint32_t v)
{
    for (size_t u = 0; u < k->n; u++)
        if (k->block[u] == v)
            return true;
    return false;
}

/* Lists the soft variables of a term; false: it is left out, as something that it conditions on is
 * not known, or says nothing. */
static bool look(work *w, term *k)
{
    bool any = true;
    k->n_soft = 0;
    for (size_t u = 0; u < k->n; u++) {
        any &= kind_of(w, k->block[u]) == TRL_LABEL_ANY;
        if (kind_of(w, k->block[u]) == TRL_LABEL_SOFT)
            w->soft[k->n_soft++] = k->block[u];
    }
    if (any)
        return false;
    for (size_t j = 0; j < k->n_factors; j++) {
        const trl_scored_factor *f = &w->x.factor[w->i.take[j]];
        for (size_t i = 0; i < f->n_variables; i++) {
            const uint32_t v = f->variable[i];
            const trl_label_kind kind = kind_of(w, v);
            if (kind == TRL_LABEL_ONE || in_block(k, v))
                continue;
            if (kind != TRL_LABEL_SOFT)
                return false;
            size_t d = 0;
            while (d < k->n_soft && w->soft[d] != v)
                d++;
            if (d == k->n_soft)
                w->soft[k->n_soft++] = v;
        }
    }
    return true;
}

/* The term of a block by some of its factors, n_factors of them in i.take. */
static double term_of(work *w, size_t n, const uint32_t *block, size_t n_factors)
{
    term k = {.n = n,
              .block = block,
              .n_factors = n_factors,
              .weight = w->x.notes->weight[w->x.note[block[n - 1]]]};
    return look(w, &k) ? draw(w, &k, 0, 1.0) : 0.0;
}

static trl_status piecewise(const trl_factor_view *x, double *value, trl_error *err)
{
    work w;
    double sum = 0.0;
    const trl_status st = init(&w, x, err);
    for (size_t a = 0; st == TRL_OK && a < x->n; a++) {
        w.i.take[0] = (uint32_t)a;
        sum += term_of(&w, x->factor[a].n_variables, x->factor[a].variable, 1);
    }
    return st == TRL_OK ? trl_factor_value(x, sum, value, err) : st;
}

static trl_status pwpl(const trl_factor_view *x, double *value, trl_error *err)
{
    work w;
    double sum = 0.0;
    const trl_status st = init(&w, x, err);
    for (size_t a = 0; st == TRL_OK && a < x->n; a++)
        for (size_t k = 0; k < x->factor[a].n_variables; k++) {
            w.i.take[0] = (uint32_t)a;
            sum += term_of(&w, 1, &x->factor[a].variable[k], 1);
        }
    return st == TRL_OK ? trl_factor_value(x, sum, value, err) : st;
}

/* The blocks are `n` variables next to each other: those of a chain are in a line. */
static trl_status pseudo(const trl_factor_view *x, size_t n, double *value, trl_error *err)
{
    work w;
    double sum = 0.0;
    const trl_status st = init(&w, x, err);
    for (size_t v = 0; st == TRL_OK && v + n <= x->n_variables; v++) {
        const uint32_t block[2] = {(uint32_t)v, (uint32_t)v + 1};
        sum += term_of(&w, n, block, trl_block_factors(&w.i, n, block));
    }
    return st == TRL_OK ? trl_factor_value(x, sum, value, err) : st;
}

static trl_status pseudo_node(const trl_factor_view *x, double *value, trl_error *err)
{
    return pseudo(x, 1, value, err);
}

static trl_status pseudo_edge(const trl_factor_view *x, double *value, trl_error *err)
{
    return pseudo(x, x->n_variables > 1 ? 2 : 1, value, err);
}

trl_factor_objective trl_factor_objective_partial(const trl_objective *o)
{
    static const trl_factor_objective functions[TRL_OBJECTIVES] = {
        [TRL_OBJ_PIECEWISE] = piecewise,
        [TRL_OBJ_PWPL] = pwpl,
        [TRL_OBJ_PSEUDO] = pseudo_node,
        [TRL_OBJ_PSEUDO_EDGE] = pseudo_edge,
    };
    return functions[o->id];
}
