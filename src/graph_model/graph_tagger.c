/* graph_tagger.c -- labels for new sentences and documents: unroll, score, infer. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/mem.h"
#include "graph_model/graph_model.h"
#include "graph_model/unroll.h"

#define AUTOMATIC_CELLS 4194304.0

struct trl_graph_tagger {
    const trl_graph_model *m;
    trl_graph_tagger_options o;
    trl_graph_unit unit;
    bool closed; /* the unit has all its sentences and is unrolled */
    trl_unrolled unrolled;
    double *plain[TRL_FAMILIES_MAX]; /* [width] weights that are always on */
    const double **table;            /* [n_tables] */
    uint32_t *evidence;              /* [n_variables] */
    bool *observed;
    size_t table_cap, evidence_cap, observed_cap;
    trl_arena arena;         /* the tables */
    trl_infer_plan *plan[2]; /* for marginals, for the best labelling */
    trl_infer_work *work;
    uint64_t n_attributes, n_unknown;
};

/* ---- lifetime -------------------------------------------------------------------------------- */

trl_graph_tagger_options trl_graph_tagger_options_default(void)
{
    trl_graph_tagger_options o = {.automatic = true, .infer = trl_infer_options_default()};
    o.infer.max_cells = AUTOMATIC_CELLS;
    o.infer.damping = 0.1;
    o.infer.tolerance = 1e-6;
    return o;
}

/* The weights of a family's constant attribute as a table. */
static double *plain_table(const trl_model_family *f)
{
    double *t = trl_zalloc(f->width, sizeof *t);
    if (!t || f->constant == TRL_NO_ID)
        return t;
    const trl_weight_row row = trl_model_row(f, f->constant);
    for (uint64_t at = row.at; at < row.at + row.k; at++)
        t[trl_model_cell(f, row, at)] += trl_model_weight(f, at);
    return t;
}

trl_status trl_graph_tagger_new(const trl_graph_model *m, const trl_graph_tagger_options *options,
                                trl_graph_tagger **out, trl_error *err)
{
    if (!m || !out)
        return trl_fail_null(err);
    trl_graph_tagger *t = trl_zalloc(1, sizeof *t);
    if (!t)
        return trl_fail_mem(err);
    t->m = m;
    t->o = options ? *options : trl_graph_tagger_options_default();
    trl_status st = trl_infer_work_new(&t->work, err);
    for (size_t f = 0; st == TRL_OK && f < m->spec->n_factors; f++) {
        t->plain[f] = plain_table(&m->family[f]);
        if (!t->plain[f])
            st = trl_fail_mem(err);
    }
    if (st == TRL_OK)
        *out = t;
    else
        trl_graph_tagger_free(t);
    return st;
}

static void forget_plans(trl_graph_tagger *t)
{
    trl_infer_plan_free(t->plan[0]);
    trl_infer_plan_free(t->plan[1]);
    t->plan[0] = t->plan[1] = NULL;
}

void trl_graph_tagger_free(trl_graph_tagger *t)
{
    if (!t)
        return;
    forget_plans(t);
    for (size_t f = 0; f < TRL_FAMILIES_MAX; f++)
        trl_free(t->plain[f]);
    trl_free(t->table);
    trl_free(t->evidence);
    trl_free(t->observed);
    trl_arena_fini(&t->arena);
    trl_infer_work_free(t->work);
    trl_unrolled_fini(&t->unrolled);
    trl_graph_unit_fini(&t->unit);
    trl_free(t);
}

uint64_t trl_graph_tagger_attributes(const trl_graph_tagger *t)
{
    return t ? t->n_attributes : 0;
}

uint64_t trl_graph_tagger_unknown(const trl_graph_tagger *t)
{
    return t ? t->n_unknown : 0;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

void trl_graph_tagger_clear(trl_graph_tagger *t)
{
    if (!t)
        return;
    forget_plans(t);
    trl_graph_unit_clear(&t->unit);
    t->closed = false;
}

/* Are the columns there that are looked at? */
static trl_status check_columns(const trl_graph_tagger *t, const trl_rows *seq, trl_error *err)
{
    size_t need = t->m->n_text;
    for (size_t k = 0; k < t->m->spec->n_layers; k++)
        if (t->o.known >> k & 1 && t->m->spec->layer[k].column >= need)
            need = t->m->spec->layer[k].column + 1;
    if (seq->n_columns >= need)
        return TRL_OK;
    const trl_status st =
        trl_fail(err, TRL_EPARSE, "%zu columns, but the model looks at column %zu", seq->n_columns,
                 need - 1);
    if (seq->path)
        trl_fail_where(err, st, seq->path, seq->first_row, 0);
    return trl_fail_hint(err, st, "columns are counted from 0");
}

trl_status trl_graph_tagger_add(trl_graph_tagger *t, const trl_rows *sentence, trl_error *err)
{
    if (!t || !sentence || (sentence->n_tokens && !sentence->cell))
        return trl_fail_null(err);
    if (sentence->n_tokens == 0)
        return trl_fail(err, TRL_EINVAL, "a sentence without tokens");
    if (t->closed)
        trl_graph_tagger_clear(t);
    const trl_status st = check_columns(t, sentence, err);
    return st == TRL_OK ? trl_graph_unit_add(&t->unit, sentence, err) : st;
}

trl_status trl_graph_tagger_add_items(trl_graph_tagger *t, const trl_rows *sentence,
                                      const size_t *begin, const trl_attr *attr, trl_error *err)
{
    trl_status st = trl_graph_tagger_add(t, sentence, err);
    for (size_t k = 0; st == TRL_OK && begin && attr && k < sentence->n_tokens; k++)
        st = trl_graph_unit_attributes(&t->unit, k, attr + begin[k], begin[k + 1] - begin[k], err);
    return st;
}

/* ---- scores ---------------------------------------------------------------------------------- */

static void add_row(const trl_model_family *f, uint32_t id, double value, double *theta)
{
    const trl_weight_row row = trl_model_row(f, id);
    for (uint64_t at = row.at; at < row.at + row.k; at++)
        theta[trl_model_cell(f, row, at)] += value * trl_model_weight(f, at);
}

/* The table of one instance. */
static const double *score(trl_graph_tagger *t, size_t a)
{
    const trl_unrolled *u = &t->unrolled;
    const uint32_t k = u->family[a];
    const trl_model_family *f = &t->m->family[k];
    if (u->begin[a] == u->begin[a + 1])
        return t->plain[k];
    double *theta = trl_arena_get(&t->arena, f->width, sizeof *theta);
    if (!theta)
        return NULL;
    memcpy(theta, t->plain[k], f->width * sizeof *theta);
    for (size_t i = u->begin[a]; i < u->begin[a + 1]; i++) {
        const trl_str s = u->attr[i].name;
        const uint32_t id = f->n_attrs ? trl_family_find(f, s) : TRL_NO_ID;
        t->n_attributes++;
        if (id == TRL_NO_ID)
            t->n_unknown++;
        else if (id != f->constant)
            add_row(f, id, u->attr[i].value, theta);
    }
    return theta;
}

static trl_status score_all(trl_graph_tagger *t, trl_error *err)
{
    const trl_graph_view g = trl_graph_look(t->unrolled.graph);
    const double **table = trl_reserve(t->table, &t->table_cap, g.n_tables + 1, sizeof *table);
    if (!table)
        return trl_fail_mem(err);
    t->table = table;
    trl_arena_reset(&t->arena);
    for (size_t a = 0; a < g.n_factors; a++) {
        table[g.table_of[a]] = score(t, a);
        if (!table[g.table_of[a]])
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

/* ---- known labels ---------------------------------------------------------------------------- */

static trl_status know(trl_graph_tagger *t, size_t token, size_t k, uint32_t *out, trl_error *err)
{
    const trl_layer *layer = &t->m->spec->layer[k];
    const trl_str s = t->unit.cell[token * t->unit.n_columns + layer->column];
    *out = trl_graph_model_find_label(t->m, k, s);
    if (*out != TRL_NO_ID)
        return TRL_OK;
    *out = TRL_UNOBSERVED;
    if (s.n == 1 && (s.p[0] == '_' || s.p[0] == '?'))
        return TRL_OK;
    const trl_status st = trl_fail(err, TRL_EPARSE, "'%.*s' is not a label of '%s' in the model",
                                   (int)(s.n < 100 ? s.n : 100), s.p, layer->name);
    trl_fail_hint(err, st, "_ or ? stands for a label that is not known");
    return trl_graph_unit_where_cell(&t->unit, st, token, layer->column, err);
}

static trl_status read_evidence(trl_graph_tagger *t, trl_error *err)
{
    const size_t K = t->m->spec->n_layers, n = t->unit.n_tokens * K;
    uint32_t *evidence = trl_reserve(t->evidence, &t->evidence_cap, n, sizeof *evidence);
    if (evidence)
        t->evidence = evidence;
    bool *observed = trl_reserve(t->observed, &t->observed_cap, n, sizeof *observed);
    if (observed)
        t->observed = observed;
    if (!evidence || !observed)
        return trl_fail_mem(err);
    for (size_t v = 0; v < n; v++) {
        evidence[v] = TRL_UNOBSERVED;
        const trl_status st =
            t->o.known >> v % K & 1 ? know(t, v / K, v % K, &evidence[v], err) : TRL_OK;
        if (st != TRL_OK)
            return st;
        observed[v] = evidence[v] != TRL_UNOBSERVED;
    }
    return TRL_OK;
}

static trl_status close_unit(trl_graph_tagger *t, trl_error *err)
{
    if (t->unit.n_tokens == 0)
        return trl_fail(err, TRL_EINVAL, "there are no tokens");
    if (t->closed)
        return TRL_OK;
    trl_graph_unit_close(&t->unit);
    t->closed = true;
    trl_status st = trl_unroll(t->m->spec, t->m->n_labels, &t->unit, &t->unrolled, err);
    if (st == TRL_OK)
        st = score_all(t, err);
    return st == TRL_OK ? read_evidence(t, err) : st;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* The plan for marginals (0) or the best labelling (1): what is too wide for exact inference gets
 * belief propagation where that is left to us. */
static trl_status make_plan(trl_graph_tagger *t, size_t k, trl_error *err)
{
    trl_status st = close_unit(t, err);
    if (st != TRL_OK || t->plan[k])
        return st;
    trl_infer_options o = t->o.infer;
    o.observed = t->o.known ? t->observed : NULL;
    if (t->o.automatic)
        o.method = TRL_INFER_EXACT;
    st = trl_infer_plan_new(t->unrolled.graph, &o, &t->plan[k], err);
    if (st != TRL_EINVAL || !t->o.automatic)
        return st;
    o.method = TRL_INFER_BP;
    return trl_infer_plan_new(t->unrolled.graph, &o, &t->plan[k], err);
}

trl_status trl_graph_tagger_best(trl_graph_tagger *t, uint32_t *label, trl_graph_answer *answer,
                                 trl_error *err)
{
    if (!t || !label)
        return trl_fail_null(err);
    trl_infer_result r;
    trl_status st = make_plan(t, 1, err);
    const trl_infer_input in = {.table = t->table, .evidence = t->o.known ? t->evidence : NULL};
    if (st == TRL_OK)
        st = trl_infer_best(t->plan[1], &in, t->work, &r, err);
    if (st != TRL_OK)
        return st;
    memcpy(label, r.y, t->unit.n_tokens * t->m->spec->n_layers * sizeof *label);
    if (answer)
        *answer = (trl_graph_answer){.exact = r.exact,
                                     .converged = r.converged,
                                     .score = r.score,
                                     .log_z = NAN,
                                     .log_z_status = TRL_VALUE_NONE};
    return TRL_OK;
}

trl_status trl_graph_tagger_marginals(trl_graph_tagger *t, double *p, trl_graph_answer *answer,
                                      trl_error *err)
{
    if (!t || !p)
        return trl_fail_null(err);
    if (!t->m->is_probability)
        return trl_fail(err, TRL_EINVAL,
                        "a model trained with the objective %s has no "
                        "probabilities",
                        t->m->objective);
    trl_infer_result r;
    trl_status st = make_plan(t, 0, err);
    const trl_infer_input in = {.table = t->table, .evidence = t->o.known ? t->evidence : NULL};
    if (st == TRL_OK)
        st = trl_infer_marginals(t->plan[0], &in, t->work, &r, err);
    if (st != TRL_OK)
        return st;
    const trl_graph_view g = trl_graph_look(t->unrolled.graph);
    memcpy(p, r.variable, g.label_at[g.n_variables] * sizeof *p);
    if (answer)
        *answer = (trl_graph_answer){.exact = r.exact_marginals,
                                     .converged = r.converged,
                                     .score = NAN,
                                     .log_z = r.log_z,
                                     .log_z_status = r.log_z_status};
    return TRL_OK;
}

trl_status trl_graph_tagger_max_marginals(trl_graph_tagger *t, double *m, trl_graph_answer *answer,
                                          trl_error *err)
{
    if (!t || !m)
        return trl_fail_null(err);
    trl_infer_result r;
    trl_status st = make_plan(t, 1, err);
    const trl_infer_input in = {.table = t->table, .evidence = t->o.known ? t->evidence : NULL};
    if (st == TRL_OK)
        st = trl_infer_max_marginals(t->plan[1], &in, t->work, &r, err);
    if (st != TRL_OK)
        return st;
    const trl_graph_view g = trl_graph_look(t->unrolled.graph);
    memcpy(m, r.variable, g.label_at[g.n_variables] * sizeof *m);
    if (answer)
        *answer = (trl_graph_answer){.exact = r.exact_marginals,
                                     .converged = r.converged,
                                     .score = NAN,
                                     .log_z = NAN,
                                     .log_z_status = TRL_VALUE_NONE};
    return TRL_OK;
}

/* Factors with the same table share it here, too. */
static trl_status copy_graph(const trl_graph_tagger *t, trl_graph *to, trl_error *err)
{
    const trl_graph_view g = trl_graph_look(t->unrolled.graph);
    trl_status st = TRL_OK;
    size_t *cells = trl_zalloc(g.n_tables + 1, sizeof *cells);
    if (!cells)
        return trl_fail_mem(err);
    for (size_t a = 0; a < g.n_factors; a++)
        cells[g.table_of[a]] = g.cell_at[a + 1] - g.cell_at[a];
    for (size_t v = 0; st == TRL_OK && v < g.n_variables; v++)
        st = trl_graph_add_variable(to, g.labels[v], err);
    for (size_t k = 0; st == TRL_OK && k < g.n_tables; k++)
        st = trl_graph_add_table(to, cells[k], t->table[k], err);
    for (size_t a = 0; st == TRL_OK && a < g.n_factors; a++)
        st = trl_graph_add_factor(to, g.scope_at[a + 1] - g.scope_at[a], g.scope + g.scope_at[a],
                                  g.table_of[a], err);
    trl_free(cells);
    return st;
}

trl_status trl_graph_tagger_graph(trl_graph_tagger *t, trl_graph **out, trl_error *err)
{
    if (!t || !out)
        return trl_fail_null(err);
    trl_graph *g = NULL;
    trl_status st = close_unit(t, err);
    if (st == TRL_OK)
        st = trl_graph_new(&g, err);
    if (st == TRL_OK)
        st = copy_graph(t, g, err);
    if (st == TRL_OK)
        *out = g;
    else
        trl_graph_free(g);
    return st;
}
