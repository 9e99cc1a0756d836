/* sparse_batch.c -- the whole corpus as one function: dense gradients by lanes.
 *
 * Examples are cut into LANES runs of neighbours by their number alone; a lane is summed in order
 * by one thread, lanes are added in order.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/sparse.h"

#define LANES 8
#define PIECE 4096

struct trl_sparse_batch {
    const trl_sparse_task *task;
    trl_pool *pool;
    double c2;
    double *lane[LANES]; /* [n_weights] */
    double loss[LANES];
    trl_sparse scratch[LANES];
    const double *x;
    double *g;
};

static trl_status one_lane(void *ctx, size_t lane, size_t worker, trl_error *err)
{
    trl_sparse_batch *b = ctx;
    const size_t n = b->task->n_examples;
    trl_sparse *s = &b->scratch[lane];
    memset(b->lane[lane], 0, b->task->n_weights * sizeof(double));
    b->loss[lane] = 0.0;
    for (size_t e = n * lane / LANES; e < n * (lane + 1) / LANES; e++) {
        double loss;
        s->n = 0;
        trl_status st = trl_pool_check(b->pool, err);
        if (st == TRL_OK)
            st = b->task->evaluate(b->task->self, e, worker, &loss, s, err);
        if (st != TRL_OK)
            return st;
        b->loss[lane] += loss;
        for (size_t k = 0; k < s->n; k++)
            b->lane[lane][s->id[k]] += s->value[k];
    }
    return TRL_OK;
}

static trl_status add_piece(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    trl_sparse_batch *b = ctx;
    const size_t from = piece * PIECE, m = b->task->n_weights;
    for (size_t k = from; k < from + PIECE && k < m; k++) {
        double sum = 2.0 * b->c2 * b->x[k];
        for (size_t l = 0; l < LANES; l++)
            sum += b->lane[l][k];
        b->g[k] = sum;
    }
    return TRL_OK;
}

static trl_status eval(void *self, const double *x, double *g, double *F, trl_error *err)
{
    trl_sparse_batch *b = self;
    const size_t m = b->task->n_weights;
    b->x = x;
    b->g = g;
    trl_status st = b->task->prepare(b->task->self, x, err);
    if (st == TRL_OK)
        st = trl_pool_run(b->pool, LANES, one_lane, b, err);
    if (st == TRL_OK)
        st = trl_pool_run(b->pool, (m + PIECE - 1) / PIECE, add_piece, b, err);
    double sum = 0.0, penalty = 0.0;
    for (size_t l = 0; l < LANES; l++)
        sum += b->loss[l];
    for (size_t k = 0; k < m; k++)
        penalty += x[k] * x[k];
    *F = sum + b->c2 * penalty;
    return st;
}

trl_status trl_sparse_batch_new(const trl_sparse_task *task, double c2, trl_pool *pool,
                                trl_sparse_batch **out, trl_function *f, trl_error *err)
{
    trl_sparse_batch *b = trl_zalloc(1, sizeof *b);
    bool ok = b != NULL;
    for (size_t l = 0; ok && l < LANES; l++) {
        b->lane[l] = trl_alloc64(task->n_weights, sizeof(double));
        ok = b->lane[l] != NULL;
    }
    if (!ok) {
        trl_sparse_batch_free(b);
        return trl_fail_mem(err);
    }
    b->task = task;
    b->pool = pool;
    b->c2 = c2;
    *out = b;
    *f = (trl_function){b, task->n_weights, eval, false};
    return TRL_OK;
}

void trl_sparse_batch_free(trl_sparse_batch *b)
{
    if (!b)
        return;
    for (size_t l = 0; l < LANES; l++) {
        trl_free(b->lane[l]);
        trl_sparse_fini(&b->scratch[l]);
    }
    trl_free(b);
}

/* ---- the value alone
 * ---------------------------------------------------------------------------------- */

#define BLOCK 256 /* examples between two looks at the sum */

typedef struct summing {
    const trl_sparse_task *task;
    size_t from;
    double loss[BLOCK];
} summing;

static trl_status one_loss(void *ctx, size_t k, size_t worker, trl_error *err)
{
    summing *x = ctx;
    return x->task->evaluate(x->task->self, x->from + k, worker, &x->loss[k], NULL, err);
}

trl_status trl_sparse_value(const trl_sparse_task *task, const trl_sparse_point *at, trl_pool *pool,
                            double *F, trl_error *err)
{
    summing x = {.task = task};
    double sum = 0.0;
    for (size_t k = 0; k < task->n_weights; k++)
        sum += at->w[k] * at->w[k];
    sum *= at->c2;
    trl_status st = task->prepare(task->self, at->w, err);
    for (; st == TRL_OK && x.from < task->n_examples && sum <= at->enough; x.from += BLOCK) {
        const size_t left = task->n_examples - x.from, n = left < BLOCK ? left : BLOCK;
        st = trl_pool_run(pool, n, one_loss, &x, err);
        for (size_t k = 0; k < n; k++)
            sum += x.loss[k];
    }
    *F = sum;
    return st == TRL_OK && !isfinite(sum)
               ? trl_fail(err, TRL_ENUMERIC, "the objective is not finite")
               : st;
}
