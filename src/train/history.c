/* history.c -- inner products and linear combinations of the stored pairs. */
/* SPDX-License-Identifier: MIT */
#include "train/history.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "num/blas1.h"
#include "num/float_kernel.h"

#define BLOCK ((size_t)TRL_BF16_BLOCK)
#define PIECE (TRL_PIECE / BLOCK)      /* blocks of a piece of work */
#define SUMS (6 * TRL_HISTORY_MAX + 1) /* the last one: v.v */

bool trl_history_init(trl_history *h, size_t n, size_t m, trl_pool *pool)
{
    *h = (trl_history){.n = n, .m = m < TRL_HISTORY_MAX ? m : TRL_HISTORY_MAX, .pool = pool};
    h->blocks = (n + BLOCK - 1) / BLOCK;
    h->pair = trl_alloc64(h->blocks, 2 * h->m * BLOCK * sizeof *h->pair);
    h->part = trl_alloc((n + TRL_PIECE - 1) / TRL_PIECE, SUMS * sizeof(double));
    if (h->pair && h->part)
        return true;
    trl_history_fini(h);
    return false;
}

void trl_history_fini(trl_history *h)
{
    trl_free(h->pair);
    trl_free(h->part);
    *h = (trl_history){0};
}

/* A slot's share of a block: s followed by y. */
static trl_bf16 *s_of(const trl_history *h, size_t slot, size_t block)
{
    return h->pair + (block * h->m + slot) * 2 * BLOCK;
}

static trl_bf16 *y_of(const trl_history *h, size_t slot, size_t block)
{
    return s_of(h, slot, block) + BLOCK;
}

static size_t block_size(const trl_history *h, size_t block)
{
    return h->n - block * BLOCK < BLOCK ? h->n - block * BLOCK : BLOCK;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

typedef struct piece_range {
    size_t begin, end; /* blocks */
} piece_range;

static piece_range range_of(const trl_history *h, size_t job)
{
    const size_t begin = job * PIECE;
    return (piece_range){begin, h->blocks - begin < PIECE ? h->blocks : begin + PIECE};
}

static size_t pieces_of(const trl_history *h)
{
    return (h->blocks + PIECE - 1) / PIECE;
}

/* ---- the direction under way ----------------------------------------------------------------- */

typedef struct step_job {
    const trl_history *h;
    double t;
    const double *x;
    double *out;
} step_job;

static trl_status step_piece(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const step_job *p = ctx;
    const piece_range r = range_of(p->h, job);
    for (size_t b = r.begin; b < r.end; b++)
        trl_bf16_step(block_size(p->h, b), p->x + b * BLOCK, p->t, s_of(p->h, p->h->next, b),
                      p->out + b * BLOCK);
    return TRL_OK;
}

void trl_history_step(const trl_history *h, double t, const double *x, double *out)
{
    step_job job = {h, t, x, out};
    trl_pool_run_all(h->pool, pieces_of(h), step_piece, &job);
}

double trl_history_dot(const trl_history *h, const double *x)
{
    double sum = 0.0;
    for (size_t b = 0; b < h->blocks; b++)
        sum += trl_bf16_dot(block_size(h, b), x + b * BLOCK, s_of(h, h->next, b));
    return sum;
}

void trl_history_cut(trl_history *h, const double *v)
{
    for (size_t b = 0; b < h->blocks; b++) {
        trl_bf16 *d = s_of(h, h->next, b);
        for (size_t i = 0; i < block_size(h, b); i++)
            if ((double)trl_bf16_float(d[i]) * v[b * BLOCK + i] >= 0.0)
                d[i] = 0;
    }
}

void trl_history_set(trl_history *h, const double *from, const double *to)
{
    float unused[BLOCK];
    for (size_t b = 0; b < h->blocks; b++)
        trl_bf16_difference(block_size(h, b), to + b * BLOCK, from + b * BLOCK, s_of(h, h->next, b),
                            unused);
}

/* ---- sweep 1: new pair and all products ------------------------------------------------------ */

typedef struct push_job {
    trl_history *h;
    const double *g_old, *g_new, *v;
    size_t slot, used; /* slots 0 .. used-1 are valid, the new one included */
} push_job;

/* Of one piece, for every slot i: s.s_i, y.s_i, v.s_i, s.y_i, y.y_i, v.y_i, as stored. */
static trl_status push_piece(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const push_job *p = ctx;
    const trl_history *h = p->h;
    const piece_range r = range_of(h, job);
    float s[BLOCK], y[BLOCK], v[BLOCK];
    double *sum = h->part + job * SUMS;
    memset(sum, 0, SUMS * sizeof *sum);
    for (size_t b = r.begin; b < r.end; b++) {
        const size_t len = block_size(h, b), at = b * BLOCK;
        trl_bf16_widen(len, s_of(h, p->slot, b), s);
        trl_bf16_difference(len, p->g_new + at, p->g_old + at, y_of(h, p->slot, b), y);
        trl_narrow(len, p->v + at, v);
        for (size_t i = 0; i < p->used; i++)
            trl_bf16_dots(len, s_of(h, i, b), y_of(h, i, b), s, y, v, sum + 6 * i);
        sum[SUMS - 1] += trl_dot_piece(len, p->v + at, p->v + at);
    }
    return TRL_OK;
}

/* Fills the tables from sums of stored vectors. */
static void take_products(trl_history *h, size_t k, size_t used, const double *sum)
{
    for (size_t i = 0; i < used; i++) {
        const double *x = sum + 6 * i, t = h->scale[k], a = h->scale[i];
        h->ss[k][i] = h->ss[i][k] = t * a * x[0];
        h->sy[i][k] = a * x[1]; /* s_i . y_new */
        h->vs[i] = a * x[2];
        h->sy[k][i] = t * x[3]; /* s_new . y_i */
        h->yy[k][i] = h->yy[i][k] = x[4];
        h->vy[i] = x[5];
    }
    h->vv = sum[SUMS - 1];
}

void trl_history_push(trl_history *h, double step, const double *g_old, const double *g_new,
                      const double *v)
{
    const size_t k = h->next, pieces = pieces_of(h);
    const size_t used = h->used < h->m ? h->used + 1 : h->m;
    push_job job = {h, g_old, g_new, v, k, used};
    h->scale[k] = step;
    trl_pool_run_all(h->pool, pieces, push_piece, &job);
    double sum[SUMS] = {0};
    for (size_t q = 0; q < pieces; q++) {
        for (size_t i = 0; i < 6 * used; i++)
            sum[i] += h->part[q * SUMS + i];
        sum[SUMS - 1] += h->part[q * SUMS + SUMS - 1];
    }
    take_products(h, k, used, sum);
    if (h->sy[k][k] > 1e-10 * h->yy[k][k] && h->yy[k][k] > 0.0) {
        h->used = used;
        h->next = (k + 1) % h->m;
    } else if (h->used == h->m) {    /* the slot was overwritten: the oldest pair is gone */
        trl_history_clear(h, h->vv); /* rare; start over rather than keep a hole */
    }
}

/* ---- sweep 2: the direction ------------------------------------------------------------------ */

typedef struct direction_job {
    trl_history *h;
    const double *v, *x;
    double *xt;
    double cv;
    double cs[TRL_HISTORY_MAX], cy[TRL_HISTORY_MAX];
} direction_job;

static trl_status direction_piece(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const direction_job *p = ctx;
    const trl_history *h = p->h;
    const piece_range r = range_of(h, job);
    float d[BLOCK];
    for (size_t b = r.begin; b < r.end; b++) {
        const size_t len = block_size(h, b), at = b * BLOCK;
        trl_scale_narrow(len, p->cv, p->v + at, d);
        for (size_t i = 0; i < h->used; i++)
            trl_bf16_add(len, (float)(p->cs[i] * h->scale[i]), s_of(h, i, b), (float)p->cy[i],
                         y_of(h, i, b), d);
        trl_bf16_round(len, d, p->x ? p->x + at : NULL, s_of(h, h->next, b),
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
    trl_pool_run_all(h->pool, pieces_of(h), direction_piece, &job);
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

/* ---- state ----------------------------------------------------------------------------------- */

static bool save_pairs(const trl_history *h, trl_buf *out)
{
    bool good = true;
    for (size_t b = 0; b < h->blocks; b++)
        for (size_t i = 0; i < h->used && good; i++) {
            const size_t bytes = block_size(h, b) * sizeof(trl_bf16);
            good = trl_buf_add(out, s_of(h, i, b), bytes) && trl_buf_add(out, y_of(h, i, b), bytes);
        }
    return good;
}

static bool load_pairs(trl_history *h, const unsigned char **p, size_t *n)
{
    bool good = true;
    for (size_t b = 0; b < h->blocks; b++)
        for (size_t i = 0; i < h->used && good; i++) {
            const size_t bytes = block_size(h, b) * sizeof(trl_bf16);
            good = trl_take(p, n, s_of(h, i, b), bytes) && trl_take(p, n, y_of(h, i, b), bytes);
        }
    return good;
}

/* Sizes, the product tables, then the pairs in use. */
bool trl_history_save(const trl_history *h, trl_buf *out)
{
    const uint64_t head[4] = {h->n, h->m, h->used, h->next};
    return trl_buf_add(out, head, sizeof head) && trl_buf_add(out, h->scale, sizeof h->scale) &&
           trl_buf_add(out, h->ss, sizeof h->ss) && trl_buf_add(out, h->sy, sizeof h->sy) &&
           trl_buf_add(out, h->yy, sizeof h->yy) && trl_buf_add(out, h->vs, sizeof h->vs) &&
           trl_buf_add(out, h->vy, sizeof h->vy) && trl_buf_add(out, &h->vv, sizeof h->vv) &&
           save_pairs(h, out);
}

bool trl_history_load(trl_history *h, const unsigned char **p, size_t *n)
{
    uint64_t head[4];
    if (!trl_take(p, n, head, sizeof head) || head[0] != h->n || head[1] != h->m ||
        head[2] > h->m || head[3] >= h->m)
        return false;
    h->used = (size_t)head[2];
    h->next = (size_t)head[3];
    return trl_take(p, n, h->scale, sizeof h->scale) && trl_take(p, n, h->ss, sizeof h->ss) &&
           trl_take(p, n, h->sy, sizeof h->sy) && trl_take(p, n, h->yy, sizeof h->yy) &&
           trl_take(p, n, h->vs, sizeof h->vs) && trl_take(p, n, h->vy, sizeof h->vy) &&
           trl_take(p, n, &h->vv, sizeof h->vv) && load_pairs(h, p, n);
}
