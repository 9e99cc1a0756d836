/* graph_start.c -- where training starts: the weights of an earlier model, by name.
 *
 * Of a graph model: factors with the same name, attributes and labels by name.  Of a chain:
 * attributes of single labels go to factors of one variable, those of pairs to factors of one layer
 * at neighbouring tokens, where the labels are the layer's.  So a chain that was trained with the
 * lines of a factor's template gives that factor its weights.
 *
 * Weights of factors that were trained one by one are too large together: every factor of a label
 * says all that there is to say of it.  Where they start the training of whole graphs, they are
 * halved for as long as that makes the objective lower.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "graph_model/graph_model.h"
#include "model/model.h"
#include "train_graph/graph_run.h"
#include "train/places.h"

#define HALVED 6 /* times at most */

/* The numbers here of labels there; NULL: no memory. */
static uint32_t *map_labels(const trl_strview *from, const trl_strtab *to)
{
    uint32_t *label = trl_alloc(from->n + 1, sizeof *label);
    for (size_t k = 0; label && k < from->n; k++) {
        const trl_str s = trl_strview_get(from, (uint32_t)k);
        label[k] = trl_strtab_find(to, s.p, s.n);
    }
    return label;
}

static trl_family_transfer transfer(trl_graph_run *j, size_t f)
{
    return (trl_family_transfer){.to = &j->training.design.family[f],
                                 .names = &j->corpus.corpus.family[f].names,
                                 .n = j->spec->factor[f].n,
                                 .w = j->training.w};
}

/* ---- from a graph ---------------------------------------------------------------------------- */

/* Do both have the same layers in the same places, by name? */
static bool same_scope(const trl_graph_spec *a, const trl_factor_spec *x, const trl_graph_spec *b,
                       const trl_factor_spec *y)
{
    bool same = x->n == y->n && strcmp(x->name, y->name) == 0;
    for (size_t k = 0; same && k < x->n; k++)
        same = strcmp(a->layer[x->layer[k]].name, b->layer[y->layer[k]].name) == 0;
    return same;
}

static uint64_t start_factor(trl_graph_run *j, const trl_graph_model *m, size_t f, size_t from,
                             uint32_t *const *label)
{
    const trl_factor_spec *x = &j->spec->factor[f];
    trl_family_transfer t = transfer(j, f);
    t.from = &m->family[from];
    for (size_t k = 0; k < x->n; k++) {
        const uint32_t there = m->spec->factor[from].layer[k];
        t.n_from[k] = m->n_labels[there];
        t.n_to[k] = j->n_labels[x->layer[k]];
        t.label[k] = label[there];
    }
    return trl_family_read_weights(&t);
}

static trl_status start_graph(trl_graph_run *j, const trl_graph_model *m, uint64_t *n,
                              trl_error *err)
{
    uint32_t *label[TRL_LAYERS_MAX] = {0};
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < m->spec->n_layers; k++) {
        const char *name = m->spec->layer[k].name;
        const uint32_t here = trl_graph_spec_layer(j->spec, (trl_str){name, strlen(name)});
        const trl_strtab none = {0};
        label[k] = map_labels(&m->labels[k], here == TRL_NO_LAYER ? &none : &j->labels[here]);
        if (!label[k])
            st = trl_fail_mem(err);
    }
    for (size_t f = 0; st == TRL_OK && f < j->spec->n_factors; f++)
        for (size_t g = 0; g < m->spec->n_factors; g++)
            if (same_scope(j->spec, &j->spec->factor[f], m->spec, &m->spec->factor[g]))
                *n += start_factor(j, m, f, g, label);
    for (size_t k = 0; k < TRL_LAYERS_MAX; k++)
        trl_free(label[k]);
    return st;
}

/* ---- from a chain ---------------------------------------------------------------------------- */

/* The family of a chain that a factor is like; TRL_FAMILIES: none. */
static size_t like_chain(const trl_factor_spec *x)
{
    if (x->pairs || x->n > 2)
        return TRL_FAMILIES;
    if (x->n == 1)
        return TRL_NODE;
    return x->layer[0] == x->layer[1] && x->at[1].offset - x->at[0].offset == 1 ? TRL_EDGE
                                                                                : TRL_FAMILIES;
}

static trl_status start_chain(trl_graph_run *j, const trl_chain_model *m, uint64_t *n,
                              trl_error *err)
{
    for (size_t f = 0; f < j->spec->n_factors; f++) {
        const trl_factor_spec *x = &j->spec->factor[f];
        const size_t family = like_chain(x);
        if (family > (size_t)m->order)
            continue;
        uint32_t *label = map_labels(&m->labels, &j->labels[x->layer[0]]);
        if (!label)
            return trl_fail_mem(err);
        trl_family_transfer t = transfer(j, f);
        t.from = &m->family[family];
        for (size_t k = 0; k < x->n; k++) {
            t.n_from[k] = m->L;
            t.n_to[k] = j->n_labels[x->layer[k]];
            t.label[k] = label;
        }
        *n += trl_family_read_weights(&t);
        trl_free(label);
    }
    return TRL_OK;
}

/* ---- their size ------------------------------------------------------------------------------ */

static bool one_by_one(const char *objective)
{
    const trl_objective *o = trl_objective_find(objective);
    return o && o->apart;
}

static trl_status halve(trl_graph_run *j, trl_error *err)
{
    trl_graph_training *t = &j->training;
    const size_t n = (size_t)t->design.n_weights, all = trl_design_alloc(&t->design);
    double *x = trl_alloc64(all, sizeof *x), best = HUGE_VAL, F, norm;
    trl_status st = x ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK)
        memcpy(x, t->w, all * sizeof *x);
    for (int k = 0; st == TRL_OK && k <= HALVED; k++) {
        const trl_value_point at = {x, j->o->c2, HUGE_VAL};
        st = trl_learner_value(&t->learner, &at, t->pool, &F, &norm, err);
        if (st == TRL_ENUMERIC) {
            st = TRL_OK;
            F = HUGE_VAL;
        }
        if (st != TRL_OK || !(F <= best))
            break;
        best = F;
        memcpy(t->w, x, all * sizeof *x);
        for (size_t i = 0; i < n; i++)
            x[i] *= 0.5;
    }
    uint64_t runs, unsettled;
    trl_graph_task_runs(&t->task, &runs, &unsettled); /* those of iterations are counted */
    trl_free(x);
    return st;
}

trl_status trl_graph_run_start(trl_graph_run *j, trl_error *err)
{
    if (!trl_train_starts(j->o))
        return TRL_OK;
    uint64_t n = 0;
    trl_graph_model *g = NULL;
    trl_model *m = NULL; /* of a file */
    trl_status st = j->o->init ? trl_model_open(j->o->init, &m, err) : TRL_OK;
    const trl_model *from = m ? m : j->o->init_model;
    const bool graph = st == TRL_OK && strcmp(trl_model_get_info(from).kind, TRL_GRAPH_KIND) == 0;
    if (graph)
        st = trl_graph_model_of(from, &g, err);
    else if (st == TRL_OK && !trl_model_chain(from))
        st = trl_model_need_chain(from, err);
    if (st == TRL_OK)
        st = graph ? start_graph(j, g, &n, err) : start_chain(j, trl_model_chain(from), &n, err);
    if (st == TRL_OK && graph && n && !j->o->resume && one_by_one(g->objective) &&
        j->training.task.plan && j->training.objective->smooth)
        st = halve(j, err);
    trl_graph_model_free(g);
    trl_model_free(m);
    if (st == TRL_OK && n == 0)
        trl_graph_run_report(j, "warning",
                             "the model to start from has no weight of any of these factors");
    return st;
}
