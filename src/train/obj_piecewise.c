/* obj_piecewise.c -- piecewise training: every factor its own normalised model [SM05, eq. 13].
 *
 *     value = sum_a [ theta_a(y_a) - A_a ],   A_a = log sum over all cells of exp theta_a
 *     d value / d theta_a = [gold cell] - exp(theta_a - A_a)
 *
 * The value bounds the likelihood from below on every graph: A <= sum_a A_a (Proposition 1). Chains
 * have a faster form (chain/obj_piecewise.c).
 *
 * The loss A_a - theta_a(y_a) has the conjugate sum p log p at p - [gold cell]: with a stored
 * adjoint a, its dual is the entropy of p = [gold cell] - a.
 *
 * [SM05] Sutton, McCallum. Piecewise training for undirected models. UAI 2005.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "num/blas1.h"
#include "num/residual_kernel.h"
#include "train/factors.h"

#define LATELY 16 /* tables that are looked for among those before */

/* Instances of a template without text have the same scores: these are normalised once. */
typedef struct piece {
    uint32_t first; /* the first factor with these scores */
    uint32_t times; /* how many there are, counted at the first one */
    double log_sum; /* of the first one */
} piece;

static void find_pieces(const trl_factor_view *x, piece *p)
{
    uint32_t lately[LATELY], n = 0;
    for (uint32_t a = 0; a < x->n; a++) {
        const trl_scored_factor *f = &x->factor[a];
        uint32_t k = 0;
        while (k < n && (x->factor[lately[k]].score != f->score ||
                         x->factor[lately[k]].adjoint != f->adjoint))
            k++;
        p[a] = (piece){.first = k < n ? lately[k] : a};
        p[p[a].first].times++;
        if (k < n)
            continue;
        lately[n < LATELY ? n : a % LATELY] = a;
        n += n < LATELY;
    }
}

/* As trl_exponentials, with the rest of a factor's cells. */
static double exponentials(const trl_scored_factor *f, double *p, double *scale)
{
    const double log_sum = trl_exponentials(f->n_cells, f->score, p, scale);
    if (f->rest == 0 || !(log_sum > -HUGE_VAL))
        return f->rest == 0 || isnan(log_sum) ? log_sum : log((double)f->rest);
    const double more = log((double)f->rest) - log_sum; /* of both: log_sum + log(1 + exp(more)) */
    *scale /= 1.0 + exp(more);
    return more > 0.0 ? log((double)f->rest) + log1p(exp(-more)) : log_sum + log1p(exp(more));
}

trl_status trl_factor_piecewise(const trl_factor_view *x, double *value, trl_error *err)
{
    size_t most = 0;
    double sum = 0.0;
    for (size_t a = 0; a < x->n; a++)
        most = x->factor[a].n_cells > most ? x->factor[a].n_cells : most;
    double *p = trl_arena_get(x->arena, most, sizeof *p);
    piece *all = trl_arena_get(x->arena, x->n, sizeof *all);
    if (!p || !all)
        return trl_fail_mem(err);
    find_pieces(x, all);
    for (size_t a = 0; a < x->n; a++) {
        const trl_scored_factor *f = &x->factor[a];
        if (all[a].times > 0) {
            double scale;
            all[a].log_sum = exponentials(f, p, &scale);
            trl_add_scaled(f->n_cells, -x->weight * all[a].times * scale, p, f->adjoint);
        }
        const double log_sum = all[all[a].first].log_sum;
        sum += log_sum == -HUGE_VAL ? log_sum : f->score[f->gold] - log_sum;
        f->adjoint[f->gold] += x->weight;
    }
    return trl_factor_value(x, sum, value, err);
}

/* With the weight k, a is k times that of a loss without. */
double trl_factor_piecewise_dual(const trl_scored_factor *of, size_t n, const float *a,
                                 double weight)
{
    const double gold = weight - (double)a[of->gold]; /* its own -a is not above 0 */
    double mass = gold, entropy = gold > 0.0 ? -gold * log(gold) : 0.0;
    entropy += trl_dual_entropy((n + 7) / 8 * 8, a, &mass);
    const double rest = weight - mass; /* the same share for each of them */
    if (of->rest && rest > 0.0)
        entropy -= rest * log(rest / (double)of->rest);
    return entropy + weight * log(weight); /* sums of -k p log(k p) to k times those of -p log p */
}
