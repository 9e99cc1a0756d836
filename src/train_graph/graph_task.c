/* graph_task.c -- score tables to log-potentials of a graph, and adjoints back. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_task.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/packed_cells.h"
#include "num/blas1.h"
#include "train_graph/graph_theta.h"

#define UPDATES 100

/* ---- lifetime -------------------------------------------------------------------------------- */

/* Which example was refused, and what else there is. */
static trl_status fail_example(const trl_graph_task *t, size_t k, trl_status st, trl_error *err)
{
    const trl_graph_example *e = &t->corpus->example[k];
    if (e->path)
        trl_fail_where(err, st, e->path, e->line, 0);
    else
        trl_fail_number(err, st, "graph", k);
    if (st != TRL_EINVAL)
        return st;
    return t->evaluate == trl_graph_piecewise
               ? trl_fail_hint(err, st, "make the pieces smaller, or allow more by 'max-cells'")
               : trl_fail_hint(
                     err, st,
                     "'objective' piecewise, bethe and trw need no such tables, nor does "
                     "the perceptron with 'inference' bp; 'max-cells' allows larger ones");
}

static trl_status make_plans(trl_graph_task *t, const trl_infer_options *o, trl_error *err)
{
    t->plan = trl_zalloc(t->corpus->n + 1, sizeof *t->plan);
    if (!t->plan)
        return trl_fail_mem(err);
    for (size_t k = 0; k < t->corpus->n; k++) {
        trl_infer_options own = *o;
        const trl_graph_view g = trl_graph_look(t->corpus->example[k].graph);
        if (own.max_updates == 0) /* of each message, and there are two for each end of a factor */
            own.max_updates = UPDATES * 2 * (g.scope_at[g.n_factors] + 1);
        const trl_status st =
            trl_infer_plan_new(t->corpus->example[k].graph, &own, &t->plan[k], err);
        if (st != TRL_OK)
            return fail_example(t, k, st, err);
    }
    return TRL_OK;
}

static trl_status make_pieces(trl_graph_task *t, const trl_infer_options *o, trl_error *err)
{
    t->pieces = trl_zalloc(t->corpus->n + 1, sizeof *t->pieces);
    if (!t->pieces)
        return trl_fail_mem(err);
    for (size_t k = 0; k < t->corpus->n; k++) {
        const trl_status st =
            trl_graph_pieces_init(&t->pieces[k], &t->corpus->example[k], t->corpus->piece, o, err);
        if (st != TRL_OK)
            return fail_example(t, k, st, err);
    }
    return TRL_OK;
}

trl_status trl_graph_task_init(trl_graph_task *t, const trl_graph_corpus *corpus,
                               const trl_objective *objective, const trl_infer_options *infer,
                               size_t n_lanes, trl_error *err)
{
    trl_infer_options o = *infer;
    *t = (trl_graph_task){.corpus = corpus,
                          .evaluate = trl_graph_objective(objective, corpus->has_pieces),
                          .by_factors = trl_factor_objective_of(objective)};
    if (!t->evaluate && !t->by_factors)
        return trl_fail(err, TRL_EINVAL, "graphs are not trained by %s", objective->name);
    t->apart = !t->evaluate && objective->apart;
    t->packed = !t->evaluate && t->by_factors == trl_factor_piecewise;
    o.method = trl_graph_method(objective, o.method);
    t->sends = t->evaluate == trl_graph_likelihood && o.method != TRL_INFER_EXACT;
    t->lanes = trl_zalloc(n_lanes, sizeof *t->lanes);
    trl_status st = t->lanes ? TRL_OK : trl_fail_mem(err);
    for (; st == TRL_OK && t->n_lanes < n_lanes; t->n_lanes++)
        st = trl_infer_work_new(&t->lanes[t->n_lanes].work, err);
    if (st == TRL_OK && t->evaluate == trl_graph_piecewise)
        st = make_pieces(t, &o, err);
    else if (st == TRL_OK && t->evaluate)
        st = make_plans(t, &o, err);
    if (st != TRL_OK)
        trl_graph_task_fini(t);
    return st;
}

trl_status trl_graph_task_keep(trl_graph_task *t, trl_error *err)
{
    if (t->keeps || !t->sends)
        return TRL_OK;
    const trl_status st = trl_graph_messages_init(&t->kept, t->plan, t->corpus->n, err);
    t->keeps = st == TRL_OK;
    return st;
}

trl_status trl_graph_task_by_rows(trl_graph_task *t, const uint64_t **first, size_t *n,
                                  trl_error *err)
{
    if (!t->apart)
        return TRL_OK;
    const trl_status st = trl_graph_rows_init(&t->rows, t->corpus, err);
    if (t->rows.n) {
        *first = t->rows.first;
        *n = t->rows.n;
    }
    return st;
}

void trl_graph_task_fini(trl_graph_task *t)
{
    trl_graph_rows_fini(&t->rows);
    trl_graph_messages_fini(&t->kept);
    for (size_t k = 0; k < t->n_lanes; k++)
        trl_infer_work_free(t->lanes[k].work);
    for (size_t k = 0; t->plan && k < t->corpus->n; k++)
        trl_infer_plan_free(t->plan[k]);
    for (size_t k = 0; t->pieces && k < t->corpus->n; k++)
        trl_graph_pieces_fini(&t->pieces[k]);
    trl_free(t->pieces);
    trl_free(t->plan);
    trl_free(t->lanes);
    *t = (trl_graph_task){0};
}

void trl_graph_task_runs(trl_graph_task *t, uint64_t *runs, uint64_t *unsettled)
{
    *runs = *unsettled = 0;
    for (size_t k = 0; k < t->n_lanes; k++) {
        *runs += t->lanes[k].runs;
        *unsettled += t->lanes[k].unsettled;
        t->lanes[k].runs = t->lanes[k].unsettled = 0;
    }
}

/* ---- one example ----------------------------------------------------------------------------- */

typedef struct evaluation {
    const trl_graph_example *e;
    trl_graph_view g;
    const trl_tables *scores;
    trl_tables *adjoint;
    trl_arena *arena;
    const trl_occurrences *families;
    bool packed;               /* factors have the cells of packed families, and a rest */
    size_t n;                  /* factors: all, or */
    const uint32_t *of_row;    /* those of one row; else NULL */
    trl_scored_factor *factor; /* [n] */
    const double **table;      /* [n_tables]; with of_row NULL */
} evaluation;

static size_t factor_at(const evaluation *v, size_t i)
{
    return v->of_row ? v->of_row[i] : i;
}

static size_t row_of(const evaluation *v, size_t a)
{
    return v->of_row ? 0 : v->e->row[a];
}

/* The cells of a packed family (packed_cells.h); without any where it is not, or no matter. */
static trl_packed_row packed_of(const evaluation *v, size_t a)
{
    const uint32_t f = v->e->family[a];
    if (f == TRL_NO_TEMPLATE || !v->families[f].cell)
        return (trl_packed_row){0};
    return (trl_packed_row){v->families[f].cell, v->families[f].width, v->families[f].full};
}

/* theta of an instance.  NULL: no memory. */
static const double *potentials(const evaluation *v, size_t a, size_t cells)
{
    const uint32_t f = v->e->family[a];
    if (f == TRL_NO_TEMPLATE)
        return v->g.table[v->g.table_of[a]];
    trl_factor_scores s = {.shared = v->scores->shared[f]};
    if (v->scores->row[f])
        s.row = v->scores->row[f] + row_of(v, a) * v->scores->step[f];
    if (!v->packed)
        s.spread = packed_of(v, a);
    return trl_graph_theta(&s, cells, v->arena);
}

static double *adjoint_row(const evaluation *v, size_t a)
{
    const uint32_t f = v->e->family[a];
    if (f != TRL_NO_TEMPLATE && v->adjoint->row[f])
        return v->adjoint->row[f] + row_of(v, a) * v->adjoint->step[f];
    return NULL;
}

/* Where the adjoint of an instance is added up: its row, else the shared table, else nowhere that
 * matters; of all cells of a packed family in between. */
static double *adjoint_of(const evaluation *v, size_t a, size_t cells)
{
    const uint32_t f = v->e->family[a];
    const bool spread = packed_of(v, a).cell && !v->packed;
    if (!spread && adjoint_row(v, a))
        return adjoint_row(v, a);
    if (!spread && f != TRL_NO_TEMPLATE && v->adjoint->shared[f])
        return v->adjoint->shared[f];
    double *own = trl_arena_get(v->arena, cells, sizeof *own);
    if (own)
        memset(own, 0, cells * sizeof *own);
    return own;
}

static const uint32_t *place_of(const evaluation *v, size_t a)
{
    return v->families[v->e->family[a]].place;
}

static trl_status open_factors(evaluation *v, trl_error *err)
{
    v->factor = trl_arena_get(v->arena, v->n, sizeof *v->factor);
    if (!v->factor)
        return trl_fail_mem(err);
    for (size_t i = 0; i < v->n; i++) {
        const size_t a = factor_at(v, i), all = v->g.cell_at[a + 1] - v->g.cell_at[a];
        const uint32_t *place = v->packed && packed_of(v, a).cell ? place_of(v, a) : NULL;
        const size_t cells = place ? packed_of(v, a).n : all;
        v->factor[i] = (trl_scored_factor){.score = potentials(v, a, cells),
                                           .adjoint = adjoint_of(v, a, cells),
                                           .n_cells = cells,
                                           .rest = all - cells,
                                           .gold = place ? place[v->e->gold[a]] : v->e->gold[a],
                                           .n_variables = v->g.scope_at[a + 1] - v->g.scope_at[a],
                                           .variable = v->g.scope + v->g.scope_at[a]};
        if (!v->factor[i].score || !v->factor[i].adjoint)
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

static trl_status open_tables(evaluation *v, trl_error *err)
{
    v->table = trl_arena_get(v->arena, v->g.n_tables, sizeof *v->table);
    if (!v->table)
        return trl_fail_mem(err);
    for (size_t k = 0; k < v->g.n_tables; k++) /* those of no factor, too */
        v->table[k] = v->g.table[k];
    for (size_t a = 0; a < v->n; a++)
        v->table[v->g.table_of[a]] = v->factor[a].score;
    return TRL_OK;
}

/* Adjoints of rows are those of the shared table, too. */
static void share(const evaluation *v)
{
    for (size_t i = 0; i < v->n; i++) {
        const size_t a = factor_at(v, i);
        const uint32_t f = v->e->family[a];
        const trl_packed_row packed = packed_of(v, a);
        double *row = adjoint_row(v, a);
        if (f == TRL_NO_TEMPLATE)
            continue;
        if (packed.cell && !v->packed && row)
            trl_collect_cells(&packed, v->factor[i].adjoint, row);
        else if (packed.cell && !v->packed && v->adjoint->shared[f])
            trl_collect_cells(&packed, v->factor[i].adjoint, v->adjoint->shared[f]);
        if (row && v->adjoint->shared[f])
            trl_add_scaled(packed.cell ? packed.n : v->factor[i].n_cells, 1.0, row,
                           v->adjoint->shared[f]);
    }
}

static void clear(const trl_graph_task *t, const trl_tables *adjoint)
{
    for (size_t f = 0; f < t->corpus->corpus.n_families; f++)
        if (adjoint->row[f])
            memset(adjoint->row[f], 0, adjoint->n * adjoint->step[f] * sizeof(double));
}

static trl_status evaluate(void *self, const trl_example *of, const trl_tables *scores,
                           trl_tables *adjoint, double *value, trl_error *err)
{
    const size_t example = of->number, lane = of->lane;
    trl_graph_task *t = self;
    const trl_graph_example *e = &t->corpus->example[example];
    const trl_graph_view g = trl_graph_look(e->graph);
    evaluation v = {.e = e,
                    .g = g,
                    .scores = scores,
                    .adjoint = adjoint,
                    .arena = of->arena,
                    .families = t->corpus->corpus.family,
                    .packed = t->packed,
                    .n = g.n_factors};
    bool converged = true;
    const double *messages = NULL;
    clear(t, adjoint);
    trl_status st = open_factors(&v, err);
    if (st == TRL_OK)
        st = open_tables(&v, err);
    if (st == TRL_OK && t->keeps &&
        !trl_graph_messages_get(&t->kept, example, of->arena, &messages))
        st = trl_fail_mem(err);
    if (st != TRL_OK)
        return st;
    const trl_graph_scores x = {.view = {.n = v.n,
                                         .n_variables = v.g.n_variables,
                                         .factor = v.factor,
                                         .labels = v.g.labels,
                                         .gold = e->y,
                                         .weight = t->corpus->corpus.weight[example],
                                         .arena = of->arena},
                                .example = e,
                                .table = v.table,
                                .plan = t->plan ? t->plan[example] : NULL,
                                .pieces = t->pieces ? &t->pieces[example] : NULL,
                                .work = t->lanes[lane].work,
                                .messages = messages,
                                .converged = &converged};
    st = t->evaluate ? t->evaluate(&x, value, err) : t->by_factors(&x.view, value, err);
    if (t->evaluate && st == TRL_OK) {
        t->lanes[lane].runs++;
        t->lanes[lane].unsettled += !converged;
    }
    if (t->keeps && st == TRL_OK) {
        size_t n;
        const double *m = trl_infer_messages(x.work, &n);
        trl_graph_messages_put(&t->kept, example, m, n);
    }
    if (st == TRL_OK)
        share(&v);
    return st;
}

/* ---- one row --------------------------------------------------------------------------------- */

/* The factors of a row with variables of their own, counted from 0: a graph has too many. */
static bool number_variables(evaluation *v, trl_factor_view *x)
{
    size_t n = 0;
    for (size_t i = 0; i < v->n; i++)
        n += v->factor[i].n_variables;
    uint32_t *id = trl_arena_get(v->arena, n, sizeof *id);
    uint32_t *labels = trl_arena_get(v->arena, n, sizeof *labels);
    uint32_t *gold = trl_arena_get(v->arena, n, sizeof *gold);
    if (!id || !labels || !gold)
        return false;
    n = 0;
    for (size_t i = 0; i < v->n; i++) {
        const uint32_t *variable = v->factor[i].variable;
        v->factor[i].variable = id + n;
        for (size_t k = 0; k < v->factor[i].n_variables; k++, n++) {
            id[n] = (uint32_t)n;
            labels[n] = v->g.labels[variable[k]];
            gold[n] = v->e->y[variable[k]];
        }
    }
    x->n_variables = n;
    x->labels = labels;
    x->gold = gold;
    return true;
}

/* Those factors of the row that the part has; the part is a family and one. */
static bool choose(evaluation *v, size_t part)
{
    uint32_t *own = trl_arena_get(v->arena, v->n + 1, sizeof *own);
    size_t n = 0;
    for (size_t i = 0; own && i < v->n; i++)
        if (v->e->family[v->of_row[i]] + 1 == part)
            own[n++] = v->of_row[i];
    v->of_row = own;
    v->n = n;
    return own;
}

static trl_status evaluate_row(void *self, const trl_example *of, const trl_tables *scores,
                               trl_tables *adjoint, double *value, trl_error *err)
{
    const trl_graph_task *t = self;
    const size_t k = t->rows.example[of->number];
    const uint64_t from = t->rows.begin[of->number], to = t->rows.begin[of->number + 1];
    const trl_graph_example *e = &t->corpus->example[k];
    evaluation v = {.e = e,
                    .g = trl_graph_look(e->graph),
                    .scores = scores,
                    .adjoint = adjoint,
                    .arena = of->arena,
                    .families = t->corpus->corpus.family,
                    .packed = t->packed,
                    .n = (size_t)(to - from),
                    .of_row = t->rows.factor + from};
    clear(t, adjoint);
    trl_status st = of->part && !choose(&v, of->part) ? trl_fail_mem(err) : TRL_OK;
    if (st == TRL_OK)
        st = open_factors(&v, err);
    trl_factor_view x = {
        .n = v.n, .factor = v.factor, .weight = t->corpus->corpus.weight[k], .arena = of->arena};
    if (st == TRL_OK && !number_variables(&v, &x))
        st = trl_fail_mem(err);
    if (st == TRL_OK)
        st = t->by_factors(&x, value, err);
    if (st == TRL_OK)
        share(&v);
    return st;
}

/* ---- the pieces of a row --------------------------------------------------------------------- */

static double weight_of(const trl_graph_rows *r, size_t row)
{
    return r->weight ? r->weight[row] : 1.0;
}

/* The part of a row, one factor that is a piece: all there is to know of it are its scores and its
 * true cell, and the graph, which is far away in memory, is not looked at.  Adds to *value. */
static trl_status add_piece(const trl_graph_task *t, const trl_example *of,
                            const trl_tables *scores, trl_tables *adjoint, double *value,
                            trl_error *err)
{
    const size_t f = of->part - 1;
    const trl_occurrences *family = &t->corpus->corpus.family[f];
    const uint32_t gold = t->rows.gold[f][of->number];
    const size_t cells = family->width;
    double *row = adjoint->row[f], *shared = adjoint->shared[f];
    if (row)
        memset(row, 0, adjoint->step[f] * sizeof *row);
    if (gold == TRL_NO_ID)
        return TRL_OK;
    double *to = row ? row : shared ? shared : trl_arena_get(of->arena, cells, sizeof *to);
    const trl_factor_scores s = {.shared = scores->shared[f], .row = scores->row[f]};
    const trl_scored_factor factor = {.score = trl_graph_theta(&s, cells, of->arena),
                                      .adjoint = to,
                                      .n_cells = cells,
                                      .rest = family->cell ? family->full - cells : 0,
                                      .gold = gold};
    if (!factor.score || !to)
        return trl_fail_mem(err);
    if (!row && !shared)
        memset(to, 0, cells * sizeof *to);
    const trl_factor_view x = {
        .n = 1, .factor = &factor, .weight = weight_of(&t->rows, of->number), .arena = of->arena};
    double own;
    const trl_status st = trl_factor_piecewise(&x, &own, err);
    *value += own;
    if (st == TRL_OK && row && shared)
        trl_add_scaled(cells, 1.0, row, shared);
    return st;
}

static trl_status evaluate_pieces(void *self, const trl_example *of, const trl_tables *scores,
                                  trl_tables *adjoint, double *value, trl_error *err)
{
    const trl_graph_task *t = self;
    trl_status st = TRL_OK;
    *value = 0.0;
    if (of->part)
        return add_piece(t, of, scores, adjoint, value, err);
    for (size_t f = 0; st == TRL_OK && f < t->corpus->corpus.n_families; f++) {
        const trl_example part = {of->number, of->lane, of->arena, f + 1};
        st = add_piece(t, &part, scores, adjoint, value, err);
    }
    return st;
}

static double dual_of_pieces(void *self, size_t row, float *const *adjoint)
{
    const trl_graph_task *t = self;
    const double weight = weight_of(&t->rows, row);
    double sum = 0.0;
    for (size_t f = 0; weight > 0.0 && f < t->corpus->corpus.n_families; f++) {
        const trl_occurrences *family = &t->corpus->corpus.family[f];
        const uint32_t gold = adjoint[f] ? t->rows.gold[f][row] : TRL_NO_ID;
        const size_t rest = family->cell ? family->full - family->width : 0;
        if (gold != TRL_NO_ID)
            sum += trl_factor_piecewise_dual(&(trl_scored_factor){.gold = gold, .rest = rest},
                                             family->width, adjoint[f], weight);
    }
    return sum;
}

trl_task trl_graph_task_view(trl_graph_task *t)
{
    return (trl_task){.self = t,
                      .parts = t->rows.n > 0,
                      .evaluate = !t->rows.n  ? evaluate
                                  : t->packed ? evaluate_pieces
                                              : evaluate_row,
                      .dual = t->rows.n && t->packed ? dual_of_pieces : NULL};
}
