/* factors.c -- objectives over factors by their ids, and the terms they are made of. */
/* SPDX-License-Identifier: MIT */
#include "train/factors.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "num/vexp.h"

static const trl_factor_objective functions[TRL_OBJECTIVES] = {
    [TRL_OBJ_PIECEWISE] = trl_factor_piecewise,
    [TRL_OBJ_PWPL] = trl_factor_pwpl,
    [TRL_OBJ_PSEUDO] = trl_factor_pseudo,
    [TRL_OBJ_PSEUDO_EDGE] = trl_factor_pseudo_edge,
};

trl_factor_objective trl_factor_objective_of(const trl_objective *o)
{
    return functions[o->id];
}

double trl_exponentials(size_t n, const double *s, double *p, double *scale)
{
    const double most = trl_vmax(n, s);
    double sum = 0.0;
    *scale = 0.0;
    if (most == -HUGE_VAL) { /* all forbidden, or not numbers */
        for (size_t c = 0; c < n; c++) {
            sum += s[c];
            p[c] = 0.0;
        }
        return sum;
    }
    sum = trl_vexp_sum(n, s, most, p);
    *scale = 1.0 / sum;
    return most < HUGE_VAL && sum < HUGE_VAL ? most + log(sum) : (double)NAN;
}

double trl_probabilities(size_t n, double *s)
{
    double scale;
    const double log_sum = trl_exponentials(n, s, s, &scale);
    for (size_t c = 0; c < n; c++)
        s[c] *= scale;
    return log_sum;
}

/* n scores to probabilities, in place; returns log p(gold).  -inf when gold is forbidden (all
 * probabilities 0 when everything is); NaN when a score is NaN or +inf. */
static double log_p_of(size_t n, double *s, size_t gold)
{
    const double score = s[gold], log_sum = trl_probabilities(n, s);
    return log_sum == -HUGE_VAL ? log_sum : score - log_sum;
}

trl_status trl_factor_value(const trl_factor_view *x, double sum, double *value, trl_error *err)
{
    for (size_t a = 0; !isfinite(sum) && a < x->n; a++)
        for (size_t c = 0; c < x->factor[a].n_cells; c++)
            if (!(x->factor[a].score[c] < HUGE_VAL))
                return trl_fail(err, TRL_ENUMERIC, "score %zu of factor %zu is %g", c, a,
                                x->factor[a].score[c]);
    if (!(sum < HUGE_VAL))
        return trl_fail(err, TRL_ENUMERIC, "the value of an example is %g", sum);
    *value = x->weight == 0.0 ? 0.0 : x->weight * sum;
    return TRL_OK;
}

/* ---- index ----------------------------------------------------------------------------------- */

static void fill(trl_factor_index *i)
{
    const trl_factor_view *x = i->x;
    memset(i->begin, 0, (x->n_variables + 2) * sizeof *i->begin);
    memset(i->place, 0xff, x->n_variables * sizeof *i->place);
    memset(i->seen, 0, x->n * sizeof *i->seen);
    for (size_t a = 0; a < x->n; a++)
        for (size_t k = 0; k < x->factor[a].n_variables; k++)
            i->begin[x->factor[a].variable[k] + 2]++;
    for (size_t v = 2; v < x->n_variables + 2; v++)
        i->begin[v] += i->begin[v - 1];
    for (size_t a = 0; a < x->n; a++) /* begin[v + 1] moves from the start of v to its end */
        for (size_t k = 0; k < x->factor[a].n_variables; k++)
            i->factor[i->begin[x->factor[a].variable[k] + 1]++] = (uint32_t)a;
}

trl_status trl_factor_index_init(trl_factor_index *i, const trl_factor_view *x, trl_error *err)
{
    size_t links = 0, outcomes = 1, arity = 1;
    for (size_t a = 0; a < x->n; a++) {
        const trl_scored_factor *f = &x->factor[a];
        links += f->n_variables;
        arity = f->n_variables > arity ? f->n_variables : arity;
        outcomes = f->n_cells > outcomes ? f->n_cells : outcomes;
    }
    for (size_t v = 0; v < x->n_variables; v++)
        outcomes = x->labels[v] > outcomes ? x->labels[v] : outcomes;
    *i = (trl_factor_index){.x = x,
                            .begin = trl_arena_get(x->arena, x->n_variables + 2, sizeof *i->begin),
                            .factor = trl_arena_get(x->arena, links, sizeof *i->factor),
                            .place = trl_arena_get(x->arena, x->n_variables, sizeof *i->place),
                            .seen = trl_arena_get(x->arena, x->n, sizeof *i->seen),
                            .take = trl_arena_get(x->arena, x->n, sizeof *i->take),
                            .p = trl_arena_get(x->arena, outcomes, sizeof *i->p),
                            .y = trl_arena_get(x->arena, arity, sizeof *i->y),
                            .stride = trl_arena_get(x->arena, arity, sizeof *i->stride)};
    if (!i->begin || !i->factor || !i->place || !i->seen || !i->take || !i->p || !i->y ||
        !i->stride)
        return trl_fail_mem(err);
    fill(i);
    return TRL_OK;
}

size_t trl_block_factors(trl_factor_index *i, size_t n, const uint32_t *block)
{
    size_t k = 0;
    i->terms++;
    for (size_t u = 0; u < n; u++)
        for (size_t l = i->begin[block[u]]; l < i->begin[block[u] + 1]; l++)
            if (i->seen[i->factor[l]] != i->terms) {
                i->seen[i->factor[l]] = i->terms;
                i->take[k++] = i->factor[l];
            }
    return k;
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* The cells of a factor that the block's outcomes pass, the rest as in gold: the first one, and how
 * far apart they are for each of the block's variables. */
typedef struct cells {
    size_t first;
    size_t *stride; /* [n] */
} cells;

static void cells_of(const trl_factor_index *i, size_t n, const trl_scored_factor *f, cells *out)
{
    size_t power = 1;
    out->first = 0;
    for (size_t u = 0; u < n; u++)
        out->stride[u] = 0;
    for (size_t k = f->n_variables; k-- > 0; power *= i->x->labels[f->variable[k]]) {
        const uint32_t v = f->variable[k];
        if (i->place[v] == UINT32_MAX)
            out->first += i->x->gold[v] * power;
        else
            out->stride[i->place[v]] = power;
    }
}

typedef struct block {
    size_t n, outcomes;
    const uint32_t *variable, *labels;
    uint32_t *y; /* [n] counts through the outcomes, the last variable fastest */
} block;

/* The cell of the next outcome after the last variable has run through its labels. */
static size_t next(const block *b, const cells *c, size_t at)
{
    for (size_t u = b->n - 1; u-- > 0;) {
        at += c->stride[u];
        if (++b->y[u] < b->labels[b->variable[u]])
            return at;
        at -= c->stride[u] * b->y[u];
        b->y[u] = 0;
    }
    return at;
}

/* y[i step] += scale x[i], or x[i] += y[i step]. */
TRL_CLONES static void gather_line(size_t n, size_t step, const double *restrict y,
                                   double *restrict x)
{
    if (step == 1)
        for (size_t i = 0; i < n; i++)
            x[i] += y[i];
    else if (step == 0)
        for (size_t i = 0; i < n; i++)
            x[i] += y[0];
    else
        for (size_t i = 0; i < n; i++)
            x[i] += y[i * step];
}

TRL_CLONES static void scatter_line(size_t n, size_t step, double scale, const double *restrict x,
                                    double *restrict y)
{
    if (step == 1)
        for (size_t i = 0; i < n; i++)
            y[i] += scale * x[i];
    else if (step == 0) {
        trl_v8 sum = {0};
        size_t i = 0;
        double rest = 0.0;
        for (; i + TRL_LANES <= n; i += TRL_LANES)
            sum += *(const trl_v8 *)(x + i);
        for (; i < n; i++)
            rest += x[i];
        y[0] += scale * (rest + trl_v8_sum(&sum));
    } else
        for (size_t i = 0; i < n; i++)
            y[i * step] += scale * x[i];
}

/* s[outcome] += score of its cell; or, with an adjoint, adjoint[cell] += scale * s[outcome]. */
static void along(const block *b, const cells *c, const double *score, double *adjoint,
                  double scale, double *s)
{
    const size_t last = b->labels[b->variable[b->n - 1]], stride = c->stride[b->n - 1];
    size_t at = c->first;
    memset(b->y, 0, b->n * sizeof *b->y);
    for (size_t o = 0; o < b->outcomes; o += last, at = next(b, c, at))
        if (adjoint)
            scatter_line(last, stride, scale, s + o, adjoint + at);
        else
            gather_line(last, stride, score + at, s + o);
}

size_t trl_block_scores(trl_factor_index *i, size_t n, const uint32_t *variable, size_t k)
{
    const trl_factor_view *x = i->x;
    block b = {n, 1, variable, x->labels, i->y};
    cells c = {0, i->stride};
    for (size_t u = 0; u < n; u++) {
        b.outcomes *= x->labels[variable[u]];
        i->place[variable[u]] = (uint32_t)u;
    }
    memset(i->p, 0, b.outcomes * sizeof *i->p);
    for (size_t j = 0; j < k; j++) {
        cells_of(i, n, &x->factor[i->take[j]], &c);
        along(&b, &c, x->factor[i->take[j]].score, NULL, 0.0, i->p);
    }
    return b.outcomes;
}

void trl_block_add(trl_factor_index *i, size_t n, const uint32_t *variable, size_t k,
                   const trl_block_amounts *by)
{
    const trl_factor_view *x = i->x;
    block b = {n, by->outcomes, variable, x->labels, i->y};
    cells c = {0, i->stride};
    for (size_t j = 0; j < k; j++) {
        const trl_scored_factor *f = &x->factor[i->take[j]];
        cells_of(i, n, f, &c);
        along(&b, &c, NULL, f->adjoint, by->scale, i->p);
        if (by->gold != 0.0)
            f->adjoint[f->gold] += by->gold;
    }
    for (size_t u = 0; u < n; u++)
        i->place[variable[u]] = UINT32_MAX;
}

double trl_block_term(trl_factor_index *i, size_t n, const uint32_t *variable, size_t k)
{
    const trl_factor_view *x = i->x;
    size_t gold = 0;
    for (size_t u = 0; u < n; u++)
        gold = gold * x->labels[variable[u]] + x->gold[variable[u]];
    const size_t outcomes = trl_block_scores(i, n, variable, k);
    const double log_p = log_p_of(outcomes, i->p, gold);
    trl_block_add(i, n, variable, k, &(trl_block_amounts){outcomes, -x->weight, x->weight});
    return log_p;
}
