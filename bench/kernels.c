/* kernels.c -- micro-benchmarks: each vector kernel beside its plain twin.
 *
 * Prints one JSON object a line: nanoseconds a call (median of SAMPLES), the twin's, the
 * spread (90th percentile over 10th), floating-point operations and bytes touched a second.
 * Sizes are those of a chunker (22 labels) and a tagger of parts of speech (44); numbers come
 * from a fixed seed.  The twins of gather and scatter are the loops their definition gives.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "feature/design.h"
#include "num/matrix_kernel.h"
#include "../tests/unit/plain_matrix.h"
#include "num/vexp.h"
#include "train/history.h"

#define SAMPLES 31
#define SAMPLE_SECONDS 2e-3

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *must(void *p)
{
    if (!p) {
        fprintf(stderr, "kernels: out of memory\n");
        exit(1);
    }
    return p;
}

static double *numbers(trl_rng *rng, size_t n, double low, double high)
{
    double *x = must(trl_alloc64(n + 64, sizeof *x));
    for (size_t i = 0; i < n + 64; i++)
        x[i] = low + (high - low) * trl_rng_unit(rng);
    return x;
}

/* ---- timing ----------------------------------------------------------------------------- */

typedef void (*kernel_fn)(void *ctx);

typedef struct timing {
    double ns, spread;
} timing;

static double seconds_of(kernel_fn f, void *ctx, size_t calls)
{
    const double start = now();
    for (size_t k = 0; k < calls; k++)
        f(ctx);
    return now() - start;
}

static int ascending(const void *va, const void *vb)
{
    const double a = *(const double *)va, b = *(const double *)vb;
    return (a > b) - (a < b);
}

static timing time_of(kernel_fn f, void *ctx)
{
    size_t calls = 1;
    while (seconds_of(f, ctx, calls) < SAMPLE_SECONDS) /* warms up, too */
        calls *= 2;
    double sample[SAMPLES];
    for (size_t i = 0; i < SAMPLES; i++)
        sample[i] = 1e9 * seconds_of(f, ctx, calls) / (double)calls;
    qsort(sample, SAMPLES, sizeof *sample, ascending);
    return (timing){sample[SAMPLES / 2], sample[SAMPLES * 9 / 10] / sample[SAMPLES / 10]};
}

static void report(const char *kernel, const char *size, kernel_fn fast, kernel_fn plain, void *ctx,
                   double flops, double bytes)
{
    const timing a = time_of(fast, ctx), b = time_of(plain, ctx);
    printf("{\"kernel\": \"%s\", \"size\": \"%s\", \"ns\": %.2f, \"plain_ns\": %.2f, "
           "\"spread\": %.3f, \"gflops\": %.2f, \"gbytes\": %.2f}\n",
           kernel, size, a.ns, b.ns, a.spread, flops / a.ns, bytes / a.ns);
    fflush(stdout);
}

/* ---- dense kernels ---------------------------------------------------------------------- */

typedef struct dense {
    size_t L, stride, T;
    double *x, *M, *psi, *beta, *y, *tmp, *A, *B, *X;
    int64_t *from;
} dense;

static dense dense_make(trl_rng *rng, size_t L, size_t T)
{
    const size_t s = trl_padded(L);
    dense d = {.L = L, .stride = s, .T = T};
    d.x = numbers(rng, s, -5.0, 5.0);
    d.M = numbers(rng, L * s, 0.1, 1.0);
    d.psi = numbers(rng, s, 0.1, 1.0);
    d.beta = numbers(rng, s, 0.1, 1.0);
    d.y = numbers(rng, s, 0.0, 1.0);
    d.tmp = numbers(rng, s, 0.0, 1.0);
    d.A = numbers(rng, T * s, 0.0, 1.0);
    d.B = numbers(rng, T * s, 0.0, 1.0);
    d.X = numbers(rng, L * s, 0.0, 1.0);
    d.from = must(trl_alloc64(s, sizeof *d.from));
    return d;
}

static void dense_free(dense *d)
{
    double *all[] = {d->x, d->M, d->psi, d->beta, d->y, d->tmp, d->A, d->B, d->X};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        trl_free(all[i]);
    trl_free(d->from);
}

static void exp_fast(void *c)
{
    dense *d = c;
    trl_vexp(d->T * d->stride, d->A, 0.5, d->B);
}

static void exp_plain(void *c)
{
    dense *d = c;
    for (size_t i = 0; i < d->T * d->stride; i++)
        d->B[i] = exp(d->A[i] - 0.5);
}

static void forward_fast(void *c)
{
    dense *d = c;
    (void)trl_forward_step(d->L, d->stride, d->beta, d->M, 0.5, d->psi, d->y);
}

static void forward_plain(void *c)
{
    dense *d = c;
    (void)forward_step_plain(d->L, d->stride, d->beta, d->M, 0.5, d->psi, d->y);
}

static void backward_fast(void *c)
{
    dense *d = c;
    (void)trl_backward_step(d->L, d->stride, d->psi, d->beta, d->M, 0.5, d->tmp, d->y);
}

static void backward_plain(void *c)
{
    dense *d = c;
    (void)backward_step_plain(d->L, d->stride, d->psi, d->beta, d->M, 0.5, d->tmp, d->y);
}

static void outer_fast(void *c)
{
    dense *d = c;
    trl_outer_sum(d->T, d->L, d->stride, d->A, d->stride, d->B, d->stride, d->X);
}

static void outer_plain(void *c)
{
    dense *d = c;
    outer_sum_plain(d->T, d->L, d->stride, d->A, d->stride, d->B, d->stride, d->X);
}

static void max_fast(void *c)
{
    dense *d = c;
    trl_maxplus(d->L, d->stride, d->x, d->M, d->stride, d->y, d->from);
}

static void max_plain(void *c)
{
    dense *d = c;
    maxplus_plain(d->L, d->stride, d->x, d->M, d->stride, d->y, d->from);
}

/* Operations are those the result needs, pads left out; exp is counted as the 28 of vexp.h. */
static void bench_dense(trl_rng *rng, size_t L)
{
    dense d = dense_make(rng, L, 24);
    char size[32], row[32];
    const double LL = (double)(L * L), s = (double)d.stride, T = (double)d.T;
    const double matrix = 8.0 * (double)L * s;
    snprintf(size, sizeof size, "%zu labels", L);
    snprintf(row, sizeof row, "24 x %zu", L);
    report("vexp", row, exp_fast, exp_plain, &d, 28.0 * T * s, 16.0 * T * s);
    report("forward step", size, forward_fast, forward_plain, &d, 2.0 * LL, matrix + 24.0 * s);
    report("backward step", size, backward_fast, backward_plain, &d, 2.0 * LL, matrix + 24.0 * s);
    report("outer sum", row, outer_fast, outer_plain, &d, 2.0 * T * LL,
           2.0 * matrix + 16.0 * T * s);
    report("max-plus step", size, max_fast, max_plain, &d, 2.0 * LL, matrix + 24.0 * s);
    dense_free(&d);
}

/* ---- gather and scatter ----------------------------------------------------------------- */

enum { SEQUENCES = 500, LENGTH = 24, ATTRIBUTES = 19, KINDS = 20000 };

typedef struct sparse {
    trl_corpus corpus;
    trl_design design;
    trl_tables tables; /* one sequence */
    double *w, *g;
    size_t at; /* the sequence whose turn it is */
} sparse;

static void check(trl_status st, const trl_error *err)
{
    if (st != TRL_OK) {
        fprintf(stderr, "kernels: %s\n", err->msg);
        exit(1);
    }
}

/* Attribute numbers fall off as words do, and the first ones decide about the label. */
static void add_sequence(trl_rng *rng, trl_corpus *c, size_t L)
{
    static char names[LENGTH * ATTRIBUTES][16], labels[LENGTH][8];
    trl_attr attr[LENGTH * ATTRIBUTES];
    trl_str label[LENGTH];
    size_t begin[LENGTH + 1];
    trl_error err = {0};
    for (size_t t = 0; t < LENGTH; t++) {
        size_t first = 0;
        begin[t] = t * ATTRIBUTES;
        for (size_t k = 0; k < ATTRIBUTES; k++) {
            const size_t i = t * ATTRIBUTES + k;
            const double u = trl_rng_unit(rng);
            const size_t kind = (size_t)(pow(u, 6.0) * KINDS);
            first = k == 0 ? kind : first;
            const int n = snprintf(names[i], sizeof names[i], "%zu=%zu", k, kind);
            attr[i] = (trl_attr){{names[i], (size_t)n}, 1.0};
        }
        const size_t y = trl_rng_below(rng, 4) ? first % L : trl_rng_below(rng, L);
        const int n = snprintf(labels[t], sizeof labels[t], "%zu", y);
        label[t] = (trl_str){labels[t], (size_t)n};
    }
    begin[LENGTH] = LENGTH * ATTRIBUTES;
    const trl_items items = {
        .n_tokens = LENGTH, .label = label, .begin = begin, .attr = attr, .weight = 1.0};
    check(trl_corpus_add_items(c, &items, &err), &err);
}

static void sparse_make(sparse *s, trl_rng *rng, size_t L, bool all_pairs)
{
    trl_error err = {0};
    *s = (sparse){0};
    check(trl_corpus_init(&s->corpus, &err), &err);
    check(trl_corpus_set_constant(&s->corpus, TRL_EDGE, &err), &err);
    for (size_t i = 0; i < SEQUENCES; i++)
        add_sequence(rng, &s->corpus, L);
    const trl_design_options o = {.order = 1, .all_pairs = all_pairs};
    check(trl_design_build(&s->design, &s->corpus, &o, &err), &err);
    s->w = numbers(rng, trl_design_alloc(&s->design), -1.0, 1.0);
    s->g = numbers(rng, trl_design_alloc(&s->design), 0.0, 0.0);
    s->tables.n = LENGTH;
    s->tables.step[TRL_NODE] = s->design.family[TRL_NODE].step;
    s->tables.row[TRL_NODE] = numbers(rng, LENGTH * s->tables.step[TRL_NODE], -1.0, 1.0);
}

static void sparse_free(sparse *s)
{
    trl_free(s->w);
    trl_free(s->g);
    trl_free(s->tables.row[TRL_NODE]);
    trl_design_fini(&s->design);
    trl_corpus_fini(&s->corpus);
}

static size_t next_sequence(sparse *s)
{
    s->at = (s->at + 1) % SEQUENCES;
    return s->at * LENGTH;
}

static void gather_fast(void *c)
{
    sparse *s = c;
    trl_gather(&s->design, s->w, next_sequence(s), &s->tables);
}

static void gather_plain(void *c)
{
    sparse *s = c;
    const trl_family *f = &s->design.family[TRL_NODE];
    const size_t from = next_sequence(s);
    double *out = s->tables.row[TRL_NODE];
    for (size_t t = from; t < from + LENGTH; t++, out += f->step) {
        for (size_t y = 0; y < f->width; y++)
            out[y] = 0.0;
        for (uint64_t r = f->dense_begin[t]; r < f->dense_begin[t + 1]; r++)
            for (size_t y = 0; y < f->width; y++)
                out[y] += s->w[trl_dense_at(f, f->dense_row[r]) + y];
        for (uint64_t e = f->entry_begin[t]; e < f->entry_begin[t + 1]; e++)
            out[f->entry[e].cell] += s->w[f->entry[e].weight];
    }
}

static void scatter_fast(void *c)
{
    sparse *s = c;
    trl_scatter_all(&s->design, next_sequence(s), &s->tables, 0.5, s->g);
}

static bool is_live(const trl_family *f, size_t row, size_t y)
{
    return !f->live || (f->live[row * f->words + y / 64] >> (y % 64) & 1);
}

static void scatter_plain(void *c)
{
    sparse *s = c;
    const trl_family *f = &s->design.family[TRL_NODE];
    const size_t from = next_sequence(s);
    const double *adj = s->tables.row[TRL_NODE];
    for (size_t t = from; t < from + LENGTH; t++, adj += f->step) {
        for (uint64_t r = f->dense_begin[t]; r < f->dense_begin[t + 1]; r++)
            for (size_t y = 0; y < f->width; y++)
                if (is_live(f, f->dense_row[r], y))
                    s->g[trl_dense_at(f, f->dense_row[r]) + y] += 0.5 * adj[y];
        for (uint64_t e = f->entry_begin[t]; e < f->entry_begin[t + 1]; e++)
            s->g[f->entry[e].weight] += 0.5 * adj[f->entry[e].cell];
    }
}

static void bench_sparse(trl_rng *rng, size_t L, bool all_pairs)
{
    sparse s;
    sparse_make(&s, rng, L, all_pairs);
    const trl_family *f = &s.design.family[TRL_NODE];
    const double rows = (double)f->dense_begin[SEQUENCES * LENGTH];
    const double entries = (double)f->entry_begin[SEQUENCES * LENGTH];
    const double adds = (rows * (double)L + entries) / SEQUENCES;
    const double bytes = (rows * (8.0 * (double)L + 4.0) + entries * 16.0) / SEQUENCES;
    char size[48];
    snprintf(size, sizeof size, "24 x 19 x %zu %s", L, all_pairs ? "all pairs" : "seen pairs");
    report("gather", size, gather_fast, gather_plain, &s, adds, bytes);
    report("scatter", size, scatter_fast, scatter_plain, &s, 2.0 * adds,
           bytes + 8.0 * (rows * (double)L + entries) / SEQUENCES);
    sparse_free(&s);
}

/* ---- L-BFGS: a pair taken in and a direction made of six --------------------------------------
 */

#define LONG ((size_t)1 << 22) /* more than a cache holds */
#define PAIRS 6

typedef struct quasi_newton {
    trl_history h;
    double *x, *xt, *g, *g_old, *d, *s[PAIRS], *y[PAIRS];
} quasi_newton;

static void history_fast(void *c)
{
    quasi_newton *q = c;
    trl_history_push(&q->h, 1.0, q->g_old, q->g, q->g);
    (void)trl_history_direction(&q->h, q->g, q->x, q->xt);
}

static double dot_plain(const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < LONG; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add_plain(double a, const double *x, double *y)
{
    for (size_t i = 0; i < LONG; i++)
        y[i] += a * x[i];
}

/* The two-loop recursion as it is usually written. */
static void history_plain(void *c)
{
    quasi_newton *q = c;
    double alpha[PAIRS], sy[PAIRS];
    for (size_t i = 0; i < LONG; i++) {
        q->s[0][i] = q->xt[i] - q->x[i];
        q->y[0][i] = q->g[i] - q->g_old[i];
        q->d[i] = -q->g[i];
    }
    for (size_t k = PAIRS; k-- > 0;) {
        sy[k] = dot_plain(q->s[k], q->y[k]);
        alpha[k] = dot_plain(q->s[k], q->d) / sy[k];
        add_plain(-alpha[k], q->y[k], q->d);
    }
    for (size_t k = 0; k < PAIRS; k++)
        add_plain(alpha[k] - dot_plain(q->y[k], q->d) / sy[k], q->s[k], q->d);
    for (size_t i = 0; i < LONG; i++)
        q->xt[i] = q->x[i] + q->d[i];
}

static void bench_history(trl_rng *rng)
{
    trl_pool *pool = must(trl_pool_new(1));
    quasi_newton q = {.x = numbers(rng, LONG, -1.0, 1.0),
                      .xt = numbers(rng, LONG, -1.0, 1.0),
                      .g = numbers(rng, LONG, -1.0, 1.0),
                      .g_old = numbers(rng, LONG, -1.0, 1.0),
                      .d = numbers(rng, LONG, -1.0, 1.0)};
    if (!trl_history_init(&q.h, LONG, PAIRS, pool))
        must(NULL);
    for (size_t i = 0; i < LONG; i++) /* a gradient that falls: s.y > 0, pairs are kept */
        q.g_old[i] = 1.5 * q.g[i];
    trl_history_clear(&q.h, 1.0);
    (void)trl_history_direction(&q.h, q.g, q.x, q.xt);
    for (size_t k = 0; k < PAIRS; k++) {
        q.s[k] = numbers(rng, LONG, 0.0, 1.0);
        q.y[k] = numbers(rng, LONG, 0.0, 1.0);
        history_fast(&q);
    }
    if (q.h.used != PAIRS) {
        fprintf(stderr, "kernels: pairs were dropped\n");
        exit(1);
    }
    report("L-BFGS pair and direction", "6 pairs of 2^22", history_fast, history_plain, &q,
           2.0 * LONG * (6 * PAIRS + 2 * PAIRS), LONG * (2 * 2.0 * 2 * PAIRS + 2 * 2.0 + 6 * 8.0));
    trl_history_fini(&q.h);
    double *all[] = {q.x, q.xt, q.g, q.g_old, q.d};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        trl_free(all[i]);
    for (size_t k = 0; k < PAIRS; k++) {
        trl_free(q.s[k]);
        trl_free(q.y[k]);
    }
    trl_pool_free(pool);
}

int main(void)
{
    trl_rng rng = trl_rng_seed(2024);
    bench_dense(&rng, 22);
    bench_dense(&rng, 44);
    for (int all = 0; all < 2; all++) {
        bench_sparse(&rng, 22, all);
        bench_sparse(&rng, 44, all);
    }
    bench_history(&rng);
    return 0;
}
