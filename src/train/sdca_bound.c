/* sdca_bound.c -- what the stored adjoints say of the optimum: the dual objective
 *
 *     sum_i dual_i(a_i) - c2 ||w||^2,     w = 1 / (2 c2) sum_i A_i^T a_i.
 */
/* SPDX-License-Identifier: MIT */
#include "num/blas1.h"
#include "train/sdca_run.h"

static double norm2(size_t n, const double *x)
{
    return trl_dot(NULL, n, x, x);
}

/* ||w||^2 of the run's own weights. */
static double own_norm2(const trl_sdca_run *r)
{
    const trl_design *d = r->p.d;
    const size_t n = (size_t)d->n_weights, hot = (size_t)d->n_hot_weights;
    if (r->part == 0)
        return norm2(n, r->x);
    const size_t k = r->part - 1, from = (size_t)d->family[k].constant_at;
    const size_t to = k + 1 < d->n_families ? (size_t)d->family[k + 1].constant_at : hot;
    const double rare = k == TRL_NODE ? norm2(n - hot, r->x + hot) : 0.0;
    return norm2(to - from, r->x + from) + rare;
}

void trl_sdca_bound(trl_sdca_run *r)
{
    const double penalty = r->o->c2 * own_norm2(r);
    double sum = 0.0, value = 0.0;
    for (size_t i = 0; i < r->p.n; i++) {
        float *row[TRL_FAMILIES_MAX];
        for (size_t k = 0; k < r->p.d->n_families; k++)
            row[k] = trl_sdca_has(r, k)
                         ? trl_stored_adjoints_row(&r->kept, k, (size_t)r->p.d->first[i])
                         : NULL;
        sum += r->p.task->dual(r->p.task->self, i, row);
        value += r->ex[i].value;
    }
    r->bound = sum - penalty;
    r->value = value + penalty;
}
