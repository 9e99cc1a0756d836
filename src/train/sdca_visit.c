/* sdca_visit.c -- one example: its adjoint, the step, the curvature along it. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "num/residual_kernel.h"
#include "train/sdca_run.h"

#define L_MIN 1e-3
#define STALE 4 /* steps for which shared scores are used */

/* Of a family: how many numbers an example has that depend on the position, its scores, adjoints
 * and stored adjoints.  Pairs as sets have those of the cells of their view. */
static size_t count_of(const trl_tables *t, size_t k)
{
    return t->chain.view && k == TRL_EDGE ? (t->chain.view->n_cells + 7) / 8 * 8
                                          : t->n * t->step[k];
}

static const double *scores_of(const trl_tables *t, size_t k)
{
    return t->chain.view && k == TRL_EDGE ? t->chain.pairs->score : t->row[k];
}

static const double *adjoint_of(const trl_tables *t, size_t k)
{
    return t->chain.view && k == TRL_EDGE ? t->chain.set_cell : t->row[k];
}

static float *kept_of(const trl_sdca_run *r, const trl_sdca_visit *v, size_t k)
{
    return r->p.has_pairs && k == TRL_EDGE ? trl_stored_adjoints_cells(&r->kept, v->i)
                                           : trl_stored_adjoints_row(&r->kept, k, v->from);
}

/* The weights of constants move little in one step, and all examples need them: their scores (and
 * exponentials) are made for several steps at a time.  Not once steps were shortened twice, nor
 * for factors one by one: when every token moves them (piecewise training), each of these steps
 * makes the whole correction. */
trl_status trl_sdca_refresh(trl_sdca_run *r, trl_error *err)
{
    trl_tables shape = r->p.scores;
    double any = 0.0; /* a non-NULL row says "has rows" */
    double *old[TRL_FAMILIES_MAX];
    const bool anew = r->age == 0;
    if (r->age++ % STALE != 0 && r->p.damp > 0.5 && r->p.d->order > 0)
        return TRL_OK;
    for (size_t k = 0; k < r->p.d->n_families; k++) /* rows keep theirs up to date */
        old[k] = trl_sdca_has(r, k) && (anew || !trl_shared_is_row(r->p.d, k))
                     ? r->p.scores.shared[k]
                     : NULL;
    for (size_t k = 0; k < r->p.d->n_families; k++)
        shape.row[k] =
            r->p.d->family[k].has_rows && !(k == TRL_EDGE && r->p.has_pairs) ? &any : NULL;
    trl_dual_weights_gather_shared(&r->z, old);
    return trl_task_prepare(r->p.task, &shape, err);
}

/* Scores, value and adjoint of the example at the current weights. */
trl_status trl_sdca_evaluate(trl_sdca_run *r, const trl_sdca_visit *v, trl_tables *s, trl_tables *a,
                             double *value, trl_error *err)
{
    trl_status st = trl_passes_tables(&r->p, v->from, v->n, s, a, err);
    if (st != TRL_OK)
        return st;
    for (size_t k = 0; k < r->p.d->n_families; k++)
        if (!trl_sdca_has(r, k))
            s->row[k] = a->row[k] = NULL;
    trl_dual_weights_gather(&r->z, v->from, trl_stored_adjoints_row(&r->kept, TRL_NODE, v->from),
                            s);
    if (s->chain.view)
        trl_pair_view_ready(s->chain.view);
    const trl_example e = {v->i, 0, &r->p.arena, r->part};
    st = r->p.task->evaluate(r->p.task->self, &e, s, a, value, err);
    trl_task_finish(r->p.task, 0, a);
    if (a->chain.view)
        trl_pair_view_keep(a->chain.view, a);
    return st;
}

/* delta, its norm and the adjoint's mass. */
bool trl_sdca_residual(trl_sdca_run *r, trl_sdca_visit *v)
{
    v->far2 = v->mass = 0.0;
    for (size_t k = 0; k < r->p.d->n_families; k++) {
        const trl_family *f = &r->p.d->family[k];
        double mass = 0.0, far2 = 0.0;
        v->delta[k] = NULL;
        v->shared[k] = NULL;
        if (adjoint_of(&v->a, k)) {
            const size_t n = count_of(&v->a, k);
            v->delta[k] = trl_arena_get(&r->p.arena, n + 1, sizeof(float));
            if (!v->delta[k])
                return false;
            far2 = trl_residual(n, adjoint_of(&v->a, k), kept_of(r, v, k), v->delta[k], &mass);
        }
        if (k == TRL_NODE || r->p.d->order == 0) { /* of chains, labels say enough */
            v->far2 += far2;
            v->mass += mass;
        }
        const float *kept = trl_stored_adjoints_shared(&r->kept, k, v->i);
        if (!kept || !v->a.shared[k] || !trl_sdca_has(r, k))
            continue;
        v->shared[k] = trl_arena_get(&r->p.arena, f->n_constant, sizeof(double));
        if (!v->shared[k])
            return false;
        for (size_t c = 0; c < f->n_constant; c++) {
            const double a = v->a.shared[k][f->constant_cell[c]];
            v->shared[k][c] = a - (double)kept[c];
            if (r->part) { /* there is nothing else to go by */
                v->far2 += v->shared[k][c] * v->shared[k][c];
                v->mass += fabs(a);
            }
        }
    }
    return true;
}

static bool has_shared(const trl_sdca_run *r, const trl_sdca_visit *v, size_t k)
{
    return v->shared[k] || (trl_shared_is_row(r->p.d, k) && trl_sdca_has(r, k));
}

/* The delta of a constant's weight: where examples are rows, that of the row. */
static double shared_delta(const trl_sdca_visit *v, const trl_family *f, size_t k, size_t c)
{
    return v->shared[k] ? v->shared[k][c] : (double)v->delta[k][f->constant_cell[c]];
}

/* a_i += gamma delta, and the weights with it. */
void trl_sdca_move(trl_sdca_run *r, const trl_sdca_visit *v, double gamma)
{
    const float by = (float)(gamma * r->z.scale);
    float *rows[TRL_FAMILIES_MAX];
    memcpy(rows, v->delta, sizeof rows);
    if (v->a.chain.view) {
        trl_dual_weights_add_pairs(&r->z, v->from, &v->a, v->delta[TRL_EDGE], by);
        rows[TRL_EDGE] = NULL;
    }
    trl_dual_weights_add(&r->z, v->from, v->n, rows, by);
    for (size_t k = 0; k < r->p.d->n_families; k++) {
        const trl_family *f = &r->p.d->family[k];
        if (v->delta[k])
            trl_blend(count_of(&v->a, k), (float)gamma, v->delta[k], kept_of(r, v, k));
        float *kept = trl_stored_adjoints_shared(&r->kept, k, v->i);
        for (size_t c = 0; v->shared[k] && c < f->n_constant; c++) {
            kept[c] += (float)(gamma * v->shared[k][c]);
            r->z.constant[k][c] += gamma * r->z.scale * v->shared[k][c];
        }
        if (!kept && f->n_constant && trl_sdca_has(r, k))
            trl_dual_weights_add_constants(&r->z, k, v->delta[k], gamma * r->z.scale,
                                           r->p.scores.shared[k]);
    }
}

double trl_sdca_step_length(const trl_sdca_run *r, double L)
{
    const double two = 2.0 * r->o->c2;
    return r->p.damp * two / (two + L);
}

/* L from a second evaluation, after a step of gamma. */
trl_status trl_sdca_measure(trl_sdca_run *r, const trl_sdca_visit *v, double gamma, double *L,
                            trl_error *err)
{
    trl_tables s1 = v->s, a1;
    double value, sum[2] = {0.0, 0.0};
    for (size_t k = 0; k < r->p.d->n_families; k++) { /* this step alone, not those of others */
        const trl_family *f = &r->p.d->family[k];
        for (size_t c = 0; v->shared[k] && c < f->n_constant; c++)
            r->p.scores.shared[k][f->constant_cell[c]] += gamma * r->z.scale * v->shared[k][c];
    }
    r->age = r->p.d->order == 0; /* of chains they must be made anew */
    s1.chain = (trl_chain_tables){0};
    trl_status st = trl_task_prepare(r->p.task, &s1, err);
    if (st == TRL_OK)
        st = trl_sdca_evaluate(r, v, &s1, &a1, &value, err);
    if (st != TRL_OK)
        return st;
    for (size_t k = 0; k < r->p.d->n_families; k++) {
        const trl_family *f = &r->p.d->family[k];
        if (v->delta[k])
            trl_curvature(count_of(&v->a, k), scores_of(&v->s, k), scores_of(&s1, k),
                          adjoint_of(&v->a, k), adjoint_of(&a1, k), v->delta[k], sum);
        const double *before = v->shared[k] ? v->a.shared[k] : v->a.row[k];
        const double *after = v->shared[k] ? a1.shared[k] : a1.row[k];
        if (has_shared(r, v, k) && !v->shared[k] && f->n_constant == f->width) { /* all cells */
            trl_curvature_along(f->step, gamma * r->z.scale, before, after, v->delta[k], sum);
            continue;
        }
        for (size_t c = 0; has_shared(r, v, k) && c < f->n_constant; c++) {
            const size_t cell = f->constant_cell[c];
            const double delta = shared_delta(v, f, k, c), ds = gamma * r->z.scale * delta;
            sum[0] += delta * ds;
            sum[1] += (after[cell] - before[cell]) * ds;
        }
    }
    const double along = gamma * r->z.scale * sum[0];
    *L = along > 1e-12 ? fmax(-sum[1] / along, L_MIN) : *L;
    return TRL_OK;
}
