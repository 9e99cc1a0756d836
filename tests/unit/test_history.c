/* Brief numbers against plain loops, and directions made of stored pairs against the two-loop
 * recursion. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "num/bf16_kernel.h"
#include "num/float_kernel.h"
#include "train/history.h"

#define N 1000 /* no multiple of a vector */

/* |a - b| <= within. */
#define assert_close(a, b, within) assert_true(fabs((a) - (b)) <= (within))

static double normal(trl_rng *r)
{
    double sum = -6.0;
    for (int k = 0; k < 12; k++)
        sum += trl_rng_unit(r);
    return sum;
}

/* ---- rounding -----------------------------------------------------------------------------------
 */

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Of every brief number and its neighbour above: itself, what lies between, and the tie. */
static void rounds_to_nearest(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < 0x7f80; b++) {
        const uint32_t up = b + 1, even = b & 1 ? up : b;
        for (uint32_t sign = 0; sign <= 0x8000; sign += 0x8000) {
            const uint32_t bits = (b | sign) << 16;
            assert_int_equal(trl_bf16_of(float_of(bits)), b | sign);
            assert_int_equal(trl_bf16_of(float_of(bits + 1)), b | sign);
            assert_int_equal(trl_bf16_of(float_of(bits + 0x7fff)), b | sign);
            assert_int_equal(trl_bf16_of(float_of(bits + 0x8000)), even | sign);
            assert_int_equal(trl_bf16_of(float_of(bits + 0x8001)), up | sign);
            assert_true(trl_bf16_float((trl_bf16)(b | sign)) == float_of(bits));
        }
    }
    assert_true(isinf(trl_bf16_float(trl_bf16_of((float)INFINITY))));
    assert_true(isnan(trl_bf16_float(trl_bf16_of((float)NAN))));
    assert_true(isnan(trl_bf16_float(trl_bf16_of(float_of(0x7f800001)))));
    assert_true(isnan(trl_bf16_float(trl_bf16_of(float_of(0xffffffff)))));
}

/* ---- kernels ------------------------------------------------------------------------------------
 */

typedef struct vectors {
    double x[N], z[N], out[N];
    float f[N], s[N], y[N], v[N];
    trl_bf16 b[N], c[N];
} vectors;

static void fill(vectors *t, uint64_t seed)
{
    trl_rng r = trl_rng_seed(seed);
    for (size_t i = 0; i < N; i++) {
        t->x[i] = normal(&r);
        t->z[i] = normal(&r);
        t->s[i] = (float)normal(&r);
        t->y[i] = (float)normal(&r);
        t->v[i] = (float)normal(&r);
        t->b[i] = trl_bf16_of((float)normal(&r));
        t->c[i] = trl_bf16_of((float)normal(&r));
    }
}

static void kernels_round(void **state)
{
    (void)state;
    static vectors t;
    static trl_bf16 b[N];
    fill(&t, 1);
    trl_bf16_difference(N, t.x, t.z, b, t.f);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(b[i], trl_bf16_of((float)(t.x[i] - t.z[i])));
        assert_true(t.f[i] == trl_bf16_float(b[i]));
    }
    trl_bf16_round(N, t.s, t.x, b, t.out);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(b[i], trl_bf16_of(t.s[i]));
        assert_true(t.out[i] == t.x[i] + (double)trl_bf16_float(b[i]));
    }
    memset(b, 0, sizeof b);
    trl_bf16_round(N, t.y, NULL, b, NULL);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(b[i], trl_bf16_of(t.y[i]));
    trl_bf16_widen(N, t.c, t.f);
    for (size_t i = 0; i < N; i++)
        assert_true(t.f[i] == trl_bf16_float(t.c[i]));
    trl_scale_narrow(N, 0.3, t.x, t.f);
    for (size_t i = 0; i < N; i++)
        assert_true(t.f[i] == (float)(0.3 * t.x[i]));
}

static void kernels_add(void **state)
{
    (void)state;
    static vectors t;
    static float d[N];
    fill(&t, 2);
    memcpy(d, t.v, sizeof d);
    trl_bf16_add(N, 0.7f, t.b, -1.9f, t.c, d);
    trl_bf16_step(N, t.x, 0.37, t.b, t.out);
    double dot = 0.0;
    for (size_t i = 0; i < N; i++) {
        const double b = (double)trl_bf16_float(t.b[i]), c = (double)trl_bf16_float(t.c[i]);
        assert_close((double)d[i], (double)t.v[i] + 0.7 * b - 1.9 * c, 2e-6);
        assert_close(t.out[i], t.x[i] + 0.37 * b, 1e-14);
        dot += t.x[i] * b;
    }
    assert_close(trl_bf16_dot(N, t.x, t.b), dot, 1e-11);
}

static void kernels_dot(void **state)
{
    (void)state;
    static vectors t;
    fill(&t, 3);
    for (size_t n = 0; n <= N; n += n < 40 ? 1 : 192) {
        double sum[6] = {1, 2, 3, 4, 5, 6}, want[6] = {1, 2, 3, 4, 5, 6};
        const float *with[3] = {t.s, t.y, t.v};
        trl_bf16_dots(n, t.b, t.c, t.s, t.y, t.v, sum);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < 3; k++) {
                want[k] += (double)trl_bf16_float(t.b[i]) * (double)with[k][i];
                want[3 + k] += (double)trl_bf16_float(t.c[i]) * (double)with[k][i];
            }
        for (size_t k = 0; k < 6; k++)
            assert_close(sum[k], want[k], 2e-5);
    }
}

/* ---- directions ---------------------------------------------------------------------------------
 */

#define LONG 40000 /* several pieces of work */
#define M 4

typedef struct plain { /* the same pairs in doubles, oldest first */
    double s[M][LONG], y[M][LONG];
    size_t used;
} plain;

static double dot(const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < LONG; i++)
        sum += a[i] * b[i];
    return sum;
}

static void plain_push(plain *p, const double *s, const double *y)
{
    if (p->used == M) {
        memmove(p->s[0], p->s[1], sizeof p->s - sizeof p->s[0]);
        memmove(p->y[0], p->y[1], sizeof p->y - sizeof p->y[0]);
        p->used--;
    }
    memcpy(p->s[p->used], s, sizeof p->s[0]);
    memcpy(p->y[p->used++], y, sizeof p->y[0]);
}

/* q = -H v as in Liu & Nocedal's paper. */
static void two_loops(const plain *p, const double *v, double *q)
{
    double alpha[M];
    for (size_t i = 0; i < LONG; i++)
        q[i] = -v[i];
    for (size_t k = p->used; k-- > 0;) {
        alpha[k] = dot(p->s[k], q) / dot(p->s[k], p->y[k]);
        for (size_t i = 0; i < LONG; i++)
            q[i] -= alpha[k] * p->y[k][i];
    }
    if (p->used) {
        const size_t k = p->used - 1;
        const double gamma = dot(p->s[k], p->y[k]) / dot(p->y[k], p->y[k]);
        for (size_t i = 0; i < LONG; i++)
            q[i] *= gamma;
    }
    for (size_t k = 0; k < p->used; k++) {
        const double beta = dot(p->y[k], q) / dot(p->s[k], p->y[k]);
        for (size_t i = 0; i < LONG; i++)
            q[i] += (alpha[k] - beta) * p->s[k][i];
    }
}

typedef struct walk {
    trl_history h;
    double x[LONG], xt[LONG], g[LONG], gt[LONG], q[LONG], curve[LONG];
} walk;

/* A quadratic: g = curve x. */
static void gradient_at(const walk *w, const double *x, double *g)
{
    for (size_t i = 0; i < LONG; i++)
        g[i] = w->curve[i] * x[i];
}

static void start(walk *w, trl_pool *pool)
{
    trl_rng r = trl_rng_seed(4);
    assert_non_null(pool);
    assert_true(trl_history_init(&w->h, LONG, M, pool));
    for (size_t i = 0; i < LONG; i++) {
        w->x[i] = normal(&r);
        w->curve[i] = 0.5 + 4.0 * trl_rng_unit(&r);
    }
    gradient_at(w, w->x, w->g);
    trl_history_clear(&w->h, dot(w->g, w->g));
}

/* One step of length t along d, which is in the history; what is stored of it goes to p. */
static void advance(walk *w, double t, plain *p)
{
    static double s[LONG], y[LONG];
    trl_history_step(&w->h, t, w->x, w->xt);
    gradient_at(w, w->xt, w->gt);
    trl_history_push(&w->h, t, w->g, w->gt, w->gt);
    for (size_t i = 0; i < LONG; i++) {
        s[i] = w->xt[i] - w->x[i];
        y[i] = (double)trl_bf16_float(trl_bf16_of((float)(w->gt[i] - w->g[i])));
    }
    if (p)
        plain_push(p, s, y);
    memcpy(w->x, w->xt, sizeof w->x);
    memcpy(w->g, w->gt, sizeof w->g);
}

static void directions_are_those_of_two_loops(void **state)
{
    (void)state;
    static walk w;
    static plain p;
    trl_pool *pool = trl_pool_new(1);
    p.used = 0;
    start(&w, pool);
    for (int k = 0; k < 9; k++) {
        const double slope = trl_history_direction(&w.h, w.g, w.x, w.xt);
        two_loops(&p, w.g, w.q);
        const double size = sqrt(dot(w.q, w.q) / LONG), want = dot(w.q, w.g);
        assert_close(slope, want, 1e-4 * fabs(want));
        for (size_t i = 0; i < LONG; i++)
            assert_close(w.xt[i] - w.x[i], w.q[i], fabs(w.q[i]) / 250.0 + 1e-4 * size);
        assert_close(trl_history_dot(&w.h, w.g), want, 1e-3 * fabs(want));
        advance(&w, k % 3 ? 0.25 : 0.3 / (1 + k), &p);
    }
    trl_history_fini(&w.h);
    trl_pool_free(pool);
}

static void threads_and_saved_states_change_nothing(void **state)
{
    (void)state;
    static walk a, b;
    trl_pool *one = trl_pool_new(1), *pool = trl_pool_new(3);
    start(&a, one);
    start(&b, pool);
    for (int k = 0; k < 7; k++) {
        const double sa = trl_history_direction(&a.h, a.g, a.x, a.xt);
        const double sb = trl_history_direction(&b.h, b.g, b.x, b.xt);
        assert_true(sa == sb);
        assert_memory_equal(a.xt, b.xt, sizeof a.xt);
        advance(&a, 0.2, NULL);
        advance(&b, 0.2, NULL);
        trl_buf saved = {0};
        assert_true(trl_history_save(&b.h, &saved));
        trl_history_fini(&b.h);
        assert_true(trl_history_init(&b.h, LONG, M, pool));
        const unsigned char *at = (const unsigned char *)saved.data;
        size_t left = saved.len - 1;
        assert_false(trl_history_load(&b.h, &at, &left)); /* cut short */
        at = (const unsigned char *)saved.data;
        left = saved.len;
        assert_true(trl_history_load(&b.h, &at, &left));
        assert_int_equal(left, 0);
        trl_buf_fini(&saved);
    }
    trl_history_fini(&a.h);
    trl_history_fini(&b.h);
    trl_pool_free(one);
    trl_pool_free(pool);
}

/* What OWL-QN does to the direction. */
static void cut_and_set(void **state)
{
    (void)state;
    static walk w;
    trl_pool *pool = trl_pool_new(1);
    start(&w, pool);
    trl_history_direction(&w.h, w.g, w.x, w.xt);
    for (size_t i = 0; i < LONG; i++)
        w.gt[i] = i % 2 ? w.g[i] : -w.g[i];
    trl_history_cut(&w.h, w.gt);
    trl_history_step(&w.h, 1.0, w.x, w.q);
    for (size_t i = 0; i < LONG; i++)
        assert_true(w.q[i] == (i % 2 ? w.xt[i] : w.x[i]));
    trl_history_set(&w.h, w.x, w.g);
    trl_history_step(&w.h, 2.0, w.x, w.q);
    for (size_t i = 0; i < LONG; i++)
        assert_close(w.q[i], w.x[i] + 2.0 * (w.g[i] - w.x[i]), fabs(w.g[i] - w.x[i]) / 128.0);
    trl_history_fini(&w.h);
    trl_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_to_nearest),
        cmocka_unit_test(kernels_round),
        cmocka_unit_test(kernels_add),
        cmocka_unit_test(kernels_dot),
        cmocka_unit_test(directions_are_those_of_two_loops),
        cmocka_unit_test(threads_and_saved_states_change_nothing),
        cmocka_unit_test(cut_and_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
