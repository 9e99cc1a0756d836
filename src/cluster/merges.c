/* merges.c -- adding a word to the window, merging two clusters, finding the cheapest merge. */
/* SPDX-License-Identifier: MIT */
#include "cluster/merges.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define MAX_W ((size_t)1 << 20)
#define BLOCK_SUMS 256 /* a job sums the row of this many clusters, a multiple of 64, */
#define BLOCK_ROWS 64  /* or updates this many rows of losses */
#define WORTH 20000    /* with fewer look-ups, threads cost more than they save */
#define NO_SLOT SIZE_MAX

/* ---- memory ---------------------------------------------------------------------------------- */

static bool context_init(trl_context *x, size_t W)
{
    x->p = trl_zalloc(W, sizeof *x->p);
    x->q = trl_zalloc(W, sizeof *x->q);
    x->below_plain = trl_alloc(W, sizeof *x->below_plain);
    x->below_both = trl_alloc(W, sizeof *x->below_both);
    x->plain = trl_alloc(W, sizeof *x->plain);
    x->plain_p = trl_alloc(W, sizeof *x->plain_p);
    x->both = trl_alloc(W, sizeof *x->both);
    x->both_p = trl_alloc(W, sizeof *x->both_p);
    x->both_q = trl_alloc(W, sizeof *x->both_q);
    x->both_z = trl_alloc(W, sizeof *x->both_z);
    x->both_g = trl_alloc(W, sizeof *x->both_g);
    x->both_h = trl_alloc(W, sizeof *x->both_h);
    return x->p && x->q && x->below_plain && x->below_both && x->plain && x->plain_p && x->both &&
           x->both_p && x->both_q && x->both_z && x->both_g && x->both_h;
}

static void context_fini(trl_context *x)
{
    trl_free(x->p);
    trl_free(x->q);
    trl_free(x->below_plain);
    trl_free(x->below_both);
    trl_free(x->plain);
    trl_free(x->plain_p);
    trl_free(x->both);
    trl_free(x->both_p);
    trl_free(x->both_q);
    trl_free(x->both_z);
    trl_free(x->both_g);
    trl_free(x->both_h);
}

static bool window_init(trl_merges *w)
{
    const size_t W = w->W, rows = w->words * 64;
    bool good = true;
    for (int s = 0; s < 2; s++) {
        w->n[s] = trl_zalloc(W * w->stride, sizeof *w->n[s]);
        w->bits[s] = trl_zalloc(W * w->words, sizeof *w->bits[s]);
        w->rest[s] = trl_zalloc(W, sizeof *w->rest[s]);
        w->edge[s] = trl_zalloc(W, sizeof *w->edge[s]);
        w->total[s] = trl_zalloc(W, sizeof *w->total[s]);
        w->list[s] = trl_alloc(W, sizeof *w->list[s]);
        good &= w->n[s] && w->bits[s] && w->rest[s] && w->edge[s] && w->total[s] && w->list[s];
        good &= context_init(&w->context[s], W);
    }
    w->active = trl_zalloc(W, sizeof *w->active);
    w->loss = trl_alloc(W * (W - 1) / 2, sizeof *w->loss);
    w->best = trl_alloc(W, sizeof *w->best);
    w->arg = trl_zalloc(W, sizeof *w->arg);
    w->stale = trl_zalloc(W, sizeof *w->stale);
    w->row = trl_alloc(rows, sizeof *w->row);
    return good && w->active && w->loss && w->best && w->arg && w->stale && w->row;
}

trl_status trl_merges_new(size_t W, uint32_t n_pairs, trl_pool *pool, trl_merges **out,
                          trl_error *err)
{
    if (W == 0 || W > MAX_W)
        return trl_fail(err, TRL_EINVAL, "between 1 and %zu clusters, not %zu", MAX_W, W);
    trl_merges *w = trl_zalloc(1, sizeof *w);
    if (!w)
        return trl_fail_mem(err);
    w->W = W;
    w->stride = (W + 15) & ~(size_t)15;
    w->words = (W + 63) / 64;
    w->pool = pool;
    trl_status st = trl_xlogx_init(&w->f, n_pairs, err);
    if (st == TRL_OK && !window_init(w))
        st = trl_fail_mem(err);
    if (st != TRL_OK) {
        trl_merges_free(w);
        return st;
    }
    for (size_t i = 0; i < W * (W - 1) / 2; i++)
        w->loss[i] = TRL_LOSS_NONE;
    for (size_t r = 0; r < W; r++)
        w->best[r] = TRL_LOSS_NONE;
    *out = w;
    return TRL_OK;
}

void trl_merges_free(trl_merges *w)
{
    if (!w)
        return;
    for (int s = 0; s < 2; s++) {
        trl_free(w->n[s]);
        trl_free(w->bits[s]);
        trl_free(w->rest[s]);
        trl_free(w->edge[s]);
        trl_free(w->total[s]);
        trl_free(w->list[s]);
        context_fini(&w->context[s]);
    }
    trl_free(w->active);
    trl_free(w->loss);
    trl_free(w->best);
    trl_free(w->arg);
    trl_free(w->stale);
    trl_free(w->row);
    trl_xlogx_fini(&w->f);
    trl_free(w);
}

/* ---- counts ---------------------------------------------------------------------------------- */

static uint32_t *counts(const trl_merges *w, int side, size_t a)
{
    return w->n[side] + a * w->stride;
}

static uint64_t *bits_of(const trl_merges *w, int side, size_t a)
{
    return w->bits[side] + a * w->words;
}

/* n(a,b) = v. */
static void set_count(trl_merges *w, size_t a, size_t b, uint32_t v)
{
    const size_t at[2] = {a, b};
    for (int s = 0; s < 2; s++) {
        const size_t i = at[s], k = at[1 - s];
        uint64_t *word = &bits_of(w, s, i)[k / 64];
        const uint64_t bit = (uint64_t)1 << (k % 64);
        counts(w, s, i)[k] = v;
        *word = v ? *word | bit : *word & ~bit;
    }
}

static size_t list_contexts(const trl_merges *w, int side, size_t a, uint32_t *list)
{
    const uint64_t *bits = bits_of(w, side, a);
    size_t n = 0;
    for (size_t i = 0; i < w->words; i++)
        for (uint64_t m = bits[i]; m; m &= m - 1)
            list[n++] = (uint32_t)(i * 64 + (size_t)__builtin_ctzll(m));
    return n;
}

void trl_merges_put(trl_merges *w, size_t slot, const trl_newcomer *x)
{
    for (int s = 0; s < 2; s++) {
        uint32_t rest = x->total[s] - x->self - x->edge[s];
        for (size_t i = 0; i < x->n_near[s]; i++) {
            const trl_neighbour b = x->near[s][i];
            set_count(w, s ? b.slot : slot, s ? slot : b.slot, b.count);
            w->rest[1 - s][b.slot] -= b.count;
            rest -= b.count;
        }
        w->rest[s][slot] = rest;
        w->edge[s][slot] = x->edge[s];
        w->total[s][slot] = x->total[s];
    }
    set_count(w, slot, slot, x->self);
    w->active[slot] = true;
}

/* ---- one row --------------------------------------------------------------------------------- */

/* K(a,b) of merges.h. */
static int64_t own_terms(const trl_merges *w, size_t a, size_t b)
{
    const trl_xlogx *f = &w->f;
    const uint32_t aa = counts(w, 0, a)[a], ab = counts(w, 0, a)[b], ba = counts(w, 0, b)[a],
                   bb = counts(w, 0, b)[b];
    if (!(aa | ab | ba | bb))
        return 0;
    const int64_t together = trl_xlogx_at(f, aa + ab + ba + bb) - trl_xlogx_at(f, aa) -
                             trl_xlogx_at(f, ab) - trl_xlogx_at(f, ba) - trl_xlogx_at(f, bb);
    return together - trl_xlogx_join(f, aa, ba) - trl_xlogx_join(f, ab, bb) -
           trl_xlogx_join(f, aa, ab) - trl_xlogx_join(f, ba, bb);
}

/* loss + S: the part of a loss other than S. */
static int64_t without_contexts(const trl_merges *w, size_t a, size_t b)
{
    return trl_xlogx_join(&w->f, w->total[0][a], w->total[0][b]) +
           trl_xlogx_join(&w->f, w->total[1][a], w->total[1][b]) - own_terms(w, a, b);
}

static int64_t *loss_of(trl_merges *w, size_t a, size_t b)
{
    return a > b ? trl_merges_row(w, a) + b : trl_merges_row(w, b) + a;
}

/* Every loss of `slot` from w->row, which holds S(slot, .). */
static void finish_row(trl_merges *w, size_t slot)
{
    for (size_t b = 0; b < w->W; b++)
        if (b != slot && w->active[b]) {
            const int64_t v = without_contexts(w, slot, b) - w->row[b];
            *loss_of(w, slot, b) = v;
            if (b > slot)
                trl_merges_note(w, b, (uint32_t)slot, v);
        }
    trl_merges_rescan(w, slot);
}

static void clear_row(trl_merges *w, size_t slot)
{
    int64_t *row = trl_merges_row(w, slot);
    for (size_t c = 0; c < slot; c++)
        row[c] = TRL_LOSS_NONE;
    w->best[slot] = TRL_LOSS_NONE;
    w->stale[slot] = false;
    for (size_t r = slot + 1; r < w->W; r++) {
        trl_merges_row(w, r)[slot] = TRL_LOSS_NONE;
        w->stale[r] |= w->arg[r] == slot && w->best[r] != TRL_LOSS_NONE;
    }
}

/* ---- one step: a row of S is summed, and the losses of all other pairs follow a context ------ */

typedef struct step {
    trl_merges *w;
    size_t base, other; /* the row is summed for base + other; base may be NO_SLOT: other alone */
    size_t n_list[2];   /* contexts of other, in w->list */
    int64_t sign;
    size_t row_jobs;
} step;

static void sum_row(const step *t, size_t b0, size_t b1)
{
    trl_merges *w = t->w;
    for (int s = 0; s < 2; s++) {
        const uint32_t *more = counts(w, s, t->other);
        const uint32_t *have = t->base == NO_SLOT ? NULL : counts(w, s, t->base);
        for (size_t i = 0; i < t->n_list[s]; i++) {
            const size_t k = w->list[s][i];
            const uint32_t from = have ? have[k] : 0;
            trl_merges_accumulate(&w->f, counts(w, 1 - s, k), bits_of(w, 1 - s, k), b0, b1, from,
                                  from + more[k], w->row);
        }
        const uint32_t *const fixed[2] = {w->rest[s], w->edge[s]};
        for (int i = 0; i < 2; i++) {
            const uint32_t from = have ? fixed[i][t->base] : 0, add = fixed[i][t->other];
            if (add)
                trl_merges_accumulate_all(&w->f, fixed[i], b0, b1, from, from + add, w->row);
        }
    }
}

static trl_status step_job(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const step *t = ctx;
    trl_merges *w = t->w;
    if (job < t->row_jobs) {
        const size_t from = job * BLOCK_SUMS, to = from + BLOCK_SUMS;
        sum_row(t, from, to < w->W ? to : w->W);
        return TRL_OK;
    }
    const size_t from = (job - t->row_jobs) * BLOCK_ROWS;
    for (size_t r = from; r < from + BLOCK_ROWS && r < w->W; r++)
        for (int s = 0; s < 2; s++)
            trl_merges_split_row(w, &w->context[s], r, t->sign);
    return TRL_OK;
}

/* Compiles the lists of a context from p and q. */
static void list_context(const trl_merges *w, trl_context *x)
{
    x->n_plain = x->n_both = 0;
    for (size_t a = 0; a < w->W; a++) {
        const uint32_t p = x->p[a], q = x->q[a];
        x->below_plain[a] = x->n_plain;
        x->below_both[a] = x->n_both;
        if (q) {
            const size_t i = x->n_both++;
            x->both[i] = (uint32_t)a;
            x->both_p[i] = p;
            x->both_q[i] = q;
            x->both_z[i] = p + q;
            x->both_g[i] = trl_xlogx_at(&w->f, p) - trl_xlogx_at(&w->f, p + q);
            x->both_h[i] = x->both_g[i] + trl_xlogx_at(&w->f, q);
        } else if (p) {
            x->plain[x->n_plain] = (uint32_t)a;
            x->plain_p[x->n_plain++] = p;
        }
    }
}

static void run_step(step *t)
{
    trl_merges *w = t->w;
    uint64_t work = 0;
    for (int s = 0; s < 2; s++) {
        trl_context *x = &w->context[s];
        list_context(w, x);
        t->n_list[s] = list_contexts(w, s, t->other, w->list[s]);
        work += x->n_both * (x->n_plain + x->n_both) + t->n_list[s] * w->W / 4;
    }
    t->row_jobs = (w->W + BLOCK_SUMS - 1) / BLOCK_SUMS;
    const size_t jobs = t->row_jobs + (w->W + BLOCK_ROWS - 1) / BLOCK_ROWS;
    if (w->pool && work > WORTH) {
        trl_pool_run_all(w->pool, jobs, step_job, t);
        return;
    }
    for (size_t job = 0; job < jobs; job++)
        step_job(t, job, 0, NULL);
}

/* ---- the operations -------------------------------------------------------------------------- */

static trl_status start_job(void *ctx, size_t r, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    trl_merges *w = ctx;
    int64_t *loss = trl_merges_row(w, r);
    if (!w->active[r])
        return TRL_OK;
    for (size_t c = 0; c < r; c++)
        loss[c] = 0;
    for (int s = 0; s < 2; s++) {
        const uint32_t *own = counts(w, s, r);
        for (size_t k = 0; k < w->W; k++)
            if (own[k])
                trl_merges_accumulate(&w->f, counts(w, 1 - s, k), bits_of(w, 1 - s, k), 0, r, 0,
                                      own[k], loss);
        trl_merges_accumulate_all(&w->f, w->rest[s], 0, r, 0, w->rest[s][r], loss);
        trl_merges_accumulate_all(&w->f, w->edge[s], 0, r, 0, w->edge[s][r], loss);
    }
    for (size_t c = 0; c < r; c++)
        loss[c] = w->active[c] ? without_contexts(w, r, c) - loss[c] : TRL_LOSS_NONE;
    trl_merges_rescan(w, r);
    return TRL_OK;
}

void trl_merges_start(trl_merges *w)
{
    if (w->pool) {
        trl_pool_run_all(w->pool, w->W, start_job, w);
        return;
    }
    for (size_t r = 0; r < w->W; r++)
        start_job(w, r, 0, NULL);
}

void trl_merges_add(trl_merges *w, size_t slot, const trl_newcomer *x)
{
    trl_merges_put(w, slot, x);
    for (int s = 0; s < 2; s++) {
        trl_context *c = &w->context[s];
        memcpy(c->q, counts(w, 1 - s, slot), w->W * sizeof *c->q);
        memcpy(c->p, w->rest[s], w->W * sizeof *c->p);
        c->p[slot] = c->q[slot] = 0;
    }
    memset(w->row, 0, w->words * 64 * sizeof *w->row);
    step t = {.w = w, .base = NO_SLOT, .other = slot, .sign = 1};
    run_step(&t);
    finish_row(w, slot);
}

int64_t trl_merges_best(trl_merges *w, size_t *c, size_t *r)
{
    for (;;) {
        size_t at = 0;
        for (size_t i = 1; i < w->W; i++)
            if (w->best[i] < w->best[at])
                at = i;
        if (!w->stale[at]) {
            *r = at;
            *c = w->arg[at];
            return w->best[at];
        }
        trl_merges_rescan(w, at);
    }
}

static size_t n_contexts(const trl_merges *w, size_t a)
{
    size_t n = 0;
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < w->words; i++)
            n += (size_t)__builtin_popcountll(bits_of(w, s, a)[i]);
    return n;
}

/* S(c + r, b) also changes because the contexts c and r are joined. */
static void join_contexts_in_row(trl_merges *w, size_t c, size_t r)
{
    const trl_xlogx *f = &w->f;
    for (int s = 0; s < 2; s++) {
        const uint32_t p = counts(w, s, c)[c] + counts(w, s, r)[c],
                       q = counts(w, s, c)[r] + counts(w, s, r)[r];
        const uint32_t *bp = counts(w, 1 - s, c), *bq = counts(w, 1 - s, r);
        for (size_t b = 0; (p | q) && b < w->W; b++)
            if (bp[b] | bq[b])
                w->row[b] += trl_xlogx_join(f, p + q, bp[b] + bq[b]) - trl_xlogx_join(f, p, bp[b]) -
                             trl_xlogx_join(f, q, bq[b]);
    }
}

static void merge_counts(trl_merges *w, size_t c, size_t r)
{
    const uint32_t self =
        counts(w, 0, c)[c] + counts(w, 0, c)[r] + counts(w, 0, r)[c] + counts(w, 0, r)[r];
    for (int s = 0; s < 2; s++) {
        const size_t n = list_contexts(w, s, r, w->list[s]);
        for (size_t i = 0; i < n; i++) {
            const size_t k = w->list[s][i];
            const uint32_t sum = counts(w, s, c)[k] + counts(w, s, r)[k];
            if (k != c && k != r)
                set_count(w, s ? k : c, s ? c : k, sum);
            set_count(w, s ? k : r, s ? r : k, 0);
        }
        w->rest[s][c] += w->rest[s][r];
        w->edge[s][c] += w->edge[s][r];
        w->total[s][c] += w->total[s][r];
        w->rest[s][r] = w->edge[s][r] = w->total[s][r] = 0;
    }
    set_count(w, c, c, self);
    w->active[r] = false;
}

void trl_merges_merge(trl_merges *w, size_t c, size_t r)
{
    const bool swap = n_contexts(w, r) > n_contexts(w, c);
    const size_t base = swap ? r : c, other = swap ? c : r;
    memset(w->row, 0, w->words * 64 * sizeof *w->row);
    for (size_t b = 0; b < w->W; b++)
        if (b != base && w->active[b])
            w->row[b] = without_contexts(w, base, b) - *loss_of(w, base, b);
    for (int s = 0; s < 2; s++) {
        trl_context *x = &w->context[s];
        memcpy(x->p, counts(w, 1 - s, base), w->W * sizeof *x->p);
        memcpy(x->q, counts(w, 1 - s, other), w->W * sizeof *x->q);
        x->p[c] = x->p[r] = x->q[c] = x->q[r] = 0;
    }
    step t = {.w = w, .base = base, .other = other, .sign = -1};
    run_step(&t);
    join_contexts_in_row(w, c, r);
    merge_counts(w, c, r);
    clear_row(w, r);
    finish_row(w, c);
}
