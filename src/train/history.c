/* history.c -- inner products and linear combinations of the stored pairs. */
/* SPDX-License-Identifier: MIT */
#include "train/history.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "num/blas1.h"
#include "num/float_kernel.h"

#define BLOCK 4096 /* elements per sweep step; float_kernel.c fetches as many ahead */
#define SUMS (6 * TRL_HISTORY_MAX + 1) /* the last one: v.v */

bool trl_history_init(trl_history *h, size_t n, size_t m, trl_pool *pool)
{
    *h = (trl_history){.n = n, .m = m < TRL_HISTORY_MAX ? m : TRL_HISTORY_MAX, .pool = pool};
    h->s = trl_alloc64(n, h->m * sizeof(float));
    h->y = trl_alloc64(n, h->m * sizeof(float));
    h->part = trl_alloc((n + TRL_PIECE - 1) / TRL_PIECE, SUMS * sizeof(double));
    if (h->s && h->y && h->part)
        return true;
    trl_history_fini(h);
    return false;
}

void trl_history_fini(trl_history *h)
{
    trl_free(h->s);
    trl_free(h->y);
    trl_free(h->part);
    *h = (trl_history){0};
}

/* ---- sweep 1: new pair and all products --------------------------------------------- */

typedef struct push_job {
    trl_history  *h;
    double        step;
    const double *g_old, *g_new, *v;
    size_t        slot, used; /* slots 0 .. used-1 are valid, the new one included */
} push_job;

/* Of one piece, for every slot i: s.s_i, s.y_i, y.s_i, y.y_i, v.s_i, v.y_i. */
static trl_status push_piece(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const push_job *p = ctx;
    trl_history *h = p->h;
    const size_t n = h->n, begin = job * TRL_PIECE;
    const size_t end = n - begin < TRL_PIECE ? n : begin + TRL_PIECE;
    double *sum = h->part + job * SUMS;
    memset(sum, 0, SUMS * sizeof *sum);
    for (size_t at = begin; at < end; at += BLOCK) {
        const size_t len = end - at < BLOCK ? end - at : BLOCK;
        float *s = h->s + p->slot * n + at, *y = h->y + p->slot * n + at;
        if (p->step != 1.0)
            trl_scale_floats(len, p->step, s);
        trl_difference(len, p->g_new + at, p->g_old + at, y);
        for (size_t i = 0; i < p->used; i++) {
            trl_dot3(len, h->s + i * n + at, s, y, p->v + at, sum + 6 * i);
            trl_dot3(len, h->y + i * n + at, s, y, p->v + at, sum + 6 * i + 3);
        }
        sum[SUMS - 1] += trl_dot_piece(len, p->v + at, p->v + at);
    }
    return TRL_OK;
}

void trl_history_push(trl_history *h, double step, const double *g_old, const double *g_new,
                      const double *v)
{
    const size_t k = h->next, pieces = (h->n + TRL_PIECE - 1) / TRL_PIECE;
    const size_t used = h->used < h->m ? h->used + 1 : h->m;
    push_job job = {h, step, g_old, g_new, v, k, used};
    (void)trl_pool_run(h->pool, pieces, push_piece, &job, NULL);
    double sum[SUMS] = {0};
    for (size_t q = 0; q < pieces; q++) {
        for (size_t i = 0; i < 6 * used; i++)
            sum[i] += h->part[q * SUMS + i];
        sum[SUMS - 1] += h->part[q * SUMS + SUMS - 1];
    }
    h->vv = sum[SUMS - 1];
    for (size_t i = 0; i < used; i++) {
        const double *x = sum + 6 * i; /* s.s_i y.s_i v.s_i s.y_i y.y_i v.y_i */
        h->ss[k][i] = h->ss[i][k] = x[0];
        h->sy[i][k] = x[1]; /* s_i . y_new */
        h->vs[i] = x[2];
        h->sy[k][i] = x[3]; /* s_new . y_i */
        h->yy[k][i] = h->yy[i][k] = x[4];
        h->vy[i] = x[5];
    }
    if (h->sy[k][k] > 1e-10 * h->yy[k][k] && h->yy[k][k] > 0.0) {
        h->used = used;
        h->next = (k + 1) % h->m;
    } else if (h->used == h->m) { /* the slot was overwritten: the oldest pair is gone */
        trl_history_clear(h, h->vv); /* rare; start anew rather than keep a hole */
    }
}

/* ---- sweep 2: the direction --------------------------------------------------------- */

typedef struct direction_job {
    trl_history  *h;
    const double *v, *x;
    double       *xt;
    double        cv;
    double        cs[TRL_HISTORY_MAX], cy[TRL_HISTORY_MAX];
} direction_job;

static trl_status direction_piece(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const direction_job *p = ctx;
    const size_t n = p->h->n, begin = job * TRL_PIECE;
    const size_t end = n - begin < TRL_PIECE ? n : begin + TRL_PIECE;
    double d[BLOCK];
    for (size_t at = begin; at < end; at += BLOCK) {
        const size_t len = end - at < BLOCK ? end - at : BLOCK;
        trl_scale_to(len, p->cv, p->v + at, d);
        for (size_t i = 0; i < p->h->used; i++)
            trl_add2(len, p->cs[i], p->h->s + i * n + at, p->cy[i], p->h->y + i * n + at, d);
        trl_round_add(len, d, p->x ? p->x + at : NULL, trl_history_d(p->h) + at,
                      p->x ? p->xt + at : NULL);
    }
    return TRL_OK;
}

/* The two-loop recursion [LN89] on coefficients: q = cv v + sum cs_i s_i + cy_i y_i. */
static void coefficients(const trl_history *h, direction_job *p)
{
    const size_t u = h->used;
    double alpha[TRL_HISTORY_MAX];
    p->cv = -1.0;
    for (size_t i = 0; i < TRL_HISTORY_MAX; i++)
        p->cs[i] = p->cy[i] = 0.0;
    for (size_t r = 1; r <= u; r++) { /* newest first */
        const size_t i = (h->next + h->m - r) % h->m;
        double sq = p->cv * h->vs[i];
        for (size_t j = 0; j < u; j++)
            sq += p->cs[j] * h->ss[i][j] + p->cy[j] * h->sy[i][j];
        alpha[i] = sq / h->sy[i][i];
        p->cy[i] -= alpha[i];
    }
    if (u) {
        const size_t last = (h->next + h->m - 1) % h->m;
        const double gamma = h->sy[last][last] / h->yy[last][last];
        p->cv *= gamma;
        for (size_t j = 0; j < u; j++) {
            p->cs[j] *= gamma;
            p->cy[j] *= gamma;
        }
    }
    for (size_t r = u; r >= 1; r--) { /* oldest first */
        const size_t i = (h->next + h->m - r) % h->m;
        double yq = p->cv * h->vy[i];
        for (size_t j = 0; j < u; j++)
            yq += p->cs[j] * h->sy[j][i] + p->cy[j] * h->yy[j][i];
        p->cs[i] += alpha[i] - yq / h->sy[i][i];
    }
}

double trl_history_direction(trl_history *h, const double *v, const double *x, double *xt)
{
    direction_job job = {.h = h, .v = v, .x = x, .xt = xt};
    coefficients(h, &job);
    (void)trl_pool_run(h->pool, (h->n + TRL_PIECE - 1) / TRL_PIECE, direction_piece, &job, NULL);
    double slope = job.cv * h->vv;
    for (size_t i = 0; i < h->used; i++)
        slope += job.cs[i] * h->vs[i] + job.cy[i] * h->vy[i];
    return slope;
}

void trl_history_clear(trl_history *h, double vv)
{
    h->used = h->next = 0;
    h->vv = vv;
}

/* ---- state -------------------------------------------------------------------------- */

/* used, next, the product tables, then the stored vectors of the slots in use. */
bool trl_history_save(const trl_history *h, trl_buf *out)
{
    const uint64_t head[4] = {h->n, h->m, h->used, h->next};
    return trl_buf_add(out, head, sizeof head) && trl_buf_add(out, h->ss, sizeof h->ss) &&
           trl_buf_add(out, h->sy, sizeof h->sy) && trl_buf_add(out, h->yy, sizeof h->yy) &&
           trl_buf_add(out, h->vs, sizeof h->vs) && trl_buf_add(out, h->vy, sizeof h->vy) &&
           trl_buf_add(out, &h->vv, sizeof h->vv) &&
           trl_buf_add(out, h->s, h->used * h->n * sizeof *h->s) &&
           trl_buf_add(out, h->y, h->used * h->n * sizeof *h->y);
}

bool trl_history_load(trl_history *h, const unsigned char **p, size_t *n)
{
    uint64_t head[4];
    if (!trl_take(p, n, head, sizeof head) || head[0] != h->n || head[1] != h->m ||
        head[2] > h->m || head[3] >= h->m)
        return false;
    h->used = (size_t)head[2];
    h->next = (size_t)head[3];
    return trl_take(p, n, h->ss, sizeof h->ss) && trl_take(p, n, h->sy, sizeof h->sy) &&
           trl_take(p, n, h->yy, sizeof h->yy) && trl_take(p, n, h->vs, sizeof h->vs) &&
           trl_take(p, n, h->vy, sizeof h->vy) && trl_take(p, n, &h->vv, sizeof h->vv) &&
           trl_take(p, n, h->s, h->used * h->n * sizeof *h->s) &&
           trl_take(p, n, h->y, h->used * h->n * sizeof *h->y);
}
