/* test_lazy_weights.c -- weights that are updated only when touched, against weights that always
 * are.
 *
 * The eager twin keeps plain vectors w and dir and moves every weight at every step.  With a
 * drift both follow the same linear equation, so they agree to rounding, not only to first
 * order.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "random_corpus.h"

#include "feature/lazy_weights.h"
#include "train/gradient.h"

typedef struct twins {
    trl_corpus c;
    trl_design d;
    trl_lazy z;
    size_t n;        /* weights */
    double *w, *dir; /* the eager ones; w includes the scale */
    bool *live;
    trl_arena arena;
} twins;

static double signed_unit(trl_rng *rng)
{
    return 2.0 * trl_rng_unit(rng) - 1.0;
}

static double *vector(size_t n)
{
    double *x = trl_alloc64(n + 64, sizeof *x);
    assert_non_null(x);
    memset(x, 0, (n + 64) * sizeof *x);
    return x;
}

/* Everything but the dead cells (pads are not listed as dead, and stay 0 as well). */
static void mark_live(twins *p)
{
    double *g = vector(p->n);
    for (size_t k = 0; k < p->d.n_dead; k++)
        g[p->d.dead[k]] = 1.0;
    for (size_t k = 0; k < p->n; k++)
        p->live[k] = g[k] == 0.0;
    trl_free(g);
}

static void twins_make(trl_rng *rng, int order, twins *p)
{
    trl_error err;
    corpus_shape h = {.sequences = 2 + trl_rng_below(rng, 40),
                      .max_tokens = 10,
                      .L = 1 + trl_rng_below(rng, order == 2 ? 5 : 80),
                      .attrs = {150, 10, 6},
                      .per_token = {8, 2, 2},
                      .constant = {false, true, trl_rng_below(rng, 2) != 0},
                      .values = trl_rng_below(rng, 2),
                      .zeros = trl_rng_below(rng, 2)};
    const trl_design_options o = {
        .order = order, .all_pairs = trl_rng_below(rng, 4) == 0, .min_count = 1};
    *p = (twins){0};
    random_corpus(rng, &h, &p->c);
    assert_ok(trl_design_build(&p->d, &p->c, &o, &err));
    assert_ok(trl_lazy_init(&p->z, &p->d, &err));
    p->n = (size_t)p->d.n_weights;
    p->w = vector(p->n);
    p->dir = vector(p->n);
    p->live = malloc((p->n + 1) * sizeof *p->live);
    assert_non_null(p->live);
    mark_live(p);
}

static void twins_fini(twins *p)
{
    trl_lazy_fini(&p->z);
    trl_design_fini(&p->d);
    trl_corpus_fini(&p->c);
    trl_arena_fini(&p->arena);
    trl_free(p->w);
    trl_free(p->dir);
    free(p->live);
}

static void tables_make(twins *p, size_t len, trl_tables *t)
{
    trl_error err;
    trl_tables shared;
    assert_true(trl_tables_get(&p->d, len, &p->arena, t));
    assert_ok(trl_shared_new(&p->d, &shared, &err));
    memcpy(t->shared, shared.shared, sizeof t->shared);
}

/* Both gather example s; the scores must agree. */
static void gather_both(twins *p, size_t s, double tol)
{
    const size_t from = p->d.first[s], len = p->d.first[s + 1] - from;
    trl_tables a, b;
    trl_arena_reset(&p->arena);
    tables_make(p, len, &a);
    tables_make(p, len, &b);
    trl_lazy_prefetch(&p->z, from, len);
    trl_lazy_gather(&p->z, from, &a);
    trl_lazy_gather_shared(&p->z, a.shared);
    trl_gather(&p->d, p->w, from, &b);
    trl_gather_shared(&p->d, p->w, b.shared);
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        const size_t width = p->d.family[f].width, step = p->d.family[f].step;
        for (size_t k = 0; a.row[f] && k < len * step; k++)
            if (k % step < width)
                assert_near(a.row[f][k], b.row[f][k], tol);
        for (size_t k = 0; a.shared[f] && k < width; k++)
            assert_near(a.shared[f][k], b.shared[f][k], tol);
    }
    trl_shared_free(&a);
    trl_shared_free(&b);
}

/* Adds `by` times a random adjoint of example s to both directions or both weights. */
static void scatter_both(trl_rng *rng, twins *p, size_t s, bool to_v, double by)
{
    const size_t from = p->d.first[s], len = p->d.first[s + 1] - from;
    trl_tables a;
    trl_arena_reset(&p->arena);
    tables_make(p, len, &a);
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        const size_t width = p->d.family[f].width, step = p->d.family[f].step;
        for (size_t k = 0; a.row[f] && k < len * step; k++)
            a.row[f][k] = k % step < width && k / step >= f ? signed_unit(rng) : 0.0;
        for (size_t k = 0; a.shared[f] && k < width; k++)
            a.shared[f][k] = signed_unit(rng);
    }
    trl_scatter_all(&p->d, from, &a, by, to_v ? p->w : p->dir);
    const double factor = to_v ? by / p->z.scale : by;
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        for (size_t k = 0; a.row[f] && k < len * p->d.family[f].step; k++)
            a.row[f][k] *= factor;
        for (size_t k = 0; a.shared[f] && k < p->d.family[f].width; k++)
            a.shared[f][k] *= factor;
    }
    trl_lazy_scatter(&p->z, from, &a, to_v);
    trl_shared_free(&a);
}

static void check_vectors(twins *p, double tol)
{
    double *w = vector(p->n), *dir = vector(p->n), norm2 = 0.0;
    trl_lazy_get(&p->z, w, dir);
    for (size_t i = 0; i < p->n; i++) {
        assert_near(w[i], p->w[i], tol);
        assert_near(dir[i], p->dir[i], tol);
        assert_true(p->live[i] || (w[i] == 0.0 && dir[i] == 0.0));
        norm2 += p->w[i] * p->w[i];
    }
    assert_near(trl_lazy_norm2(&p->z), norm2, tol > 0.0 ? tol : 1e-13); /* another order */
    trl_free(w);
    trl_free(dir);
}

/* Every weight follows dw/dt = dir / m - lambda w for a time a. */
static void drift(twins *p, double a)
{
    const double lambda = p->z.lambda, e = exp(-lambda * a);
    const double c = lambda > 0.0 ? -expm1(-lambda * a) / lambda : a;
    for (size_t i = 0; i < p->n; i++)
        p->w[i] = e * p->w[i] + c * p->dir[i] / p->z.m;
    p->z.time += a;
}

static void test_drift(void **state)
{
    (void)state;
    static const double lambdas[] = {0.0, 1e-9, 1e-4, 0.03, 2.0};
    trl_rng rng = trl_rng_seed(8);
    for (int k = 0; k < 60; k++) {
        twins p;
        twins_make(&rng, 1 + k % 2, &p);
        p.z.lambda = lambdas[k % 5];
        p.z.m = 1.0 + (double)trl_rng_below(&rng, 50);
        for (int pass = 0; pass < 3; pass++) {
            for (int i = 0; i < 50; i++) {
                const size_t s = trl_rng_below(&rng, p.d.n_sequences);
                gather_both(&p, s, 1e-11);
                if (trl_rng_below(&rng, 4)) /* a step tried out, mostly */
                    scatter_both(&rng, &p, s, true, 0.25);
                scatter_both(&rng, &p, s, false, 1.0);
                drift(&p, trl_rng_unit(&rng) * (i % 7 ? 0.01 : 1.0));
            }
            trl_lazy_flush(&p.z);
            assert_true(p.z.time == 0.0 && p.z.scale == 1.0);
            check_vectors(&p, 1e-11);
        }
        twins_fini(&p);
    }
}

/* SGD's way: no drift, w = scale * v. */
static void test_scale(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(9);
    for (int k = 0; k < 40; k++) {
        twins p;
        twins_make(&rng, 1 + k % 2, &p);
        for (int i = 0; i < 120; i++) {
            const size_t s = trl_rng_below(&rng, p.d.n_sequences);
            gather_both(&p, s, 1e-11);
            const double shrink = 1.0 - 0.05 * trl_rng_unit(&rng);
            p.z.scale *= shrink;
            for (size_t j = 0; j < p.n; j++)
                p.w[j] *= shrink;
            scatter_both(&rng, &p, s, true, 0.5);
            if (i % 50 == 49) {
                trl_lazy_flush(&p.z);
                check_vectors(&p, 1e-11);
            }
        }
        twins_fini(&p);
    }
}

/* The mean of all weight vectors from S_K v_K - sum_k S_{k-1} u_k, as in sgd.c. */
static void test_average(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(10);
    for (int k = 0; k < 20; k++) {
        twins p;
        twins_make(&rng, 1 + k % 2, &p);
        const size_t steps = 60;
        double *mean = vector(p.n), *got = vector(p.n), scales = 0.0;
        for (size_t i = 0; i < steps; i++) {
            const size_t s = trl_rng_below(&rng, p.d.n_sequences);
            const double shrink = 1.0 - 0.02 * trl_rng_unit(&rng);
            p.z.scale *= shrink;
            for (size_t j = 0; j < p.n; j++)
                p.w[j] *= shrink;
            trl_rng twice = rng; /* the same adjoint to v and, weighted, to dir */
            scatter_both(&rng, &p, s, true, 0.3);
            scatter_both(&twice, &p, s, false, scales * 0.3 / p.z.scale);
            scales += p.z.scale;
            for (size_t j = 0; j < p.n; j++)
                mean[j] += p.w[j] / (double)steps;
        }
        scales /= p.z.scale;
        trl_lazy_flush(&p.z);
        trl_lazy_average(&p.z, scales / (double)steps, 1.0 / (double)steps, got);
        for (size_t j = 0; j < p.n; j++)
            assert_near(got[j], mean[j], 1e-11);
        trl_free(mean);
        trl_free(got);
        twins_fini(&p);
    }
}

static void test_set_and_clear(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(11);
    for (int k = 0; k < 20; k++) {
        twins p;
        twins_make(&rng, 1 + k % 2, &p);
        for (size_t j = 0; j < p.n; j++)
            if (p.live[j])
                p.w[j] = signed_unit(&rng), p.dir[j] = signed_unit(&rng);
        trl_lazy_set(&p.z, p.w, p.dir);
        check_vectors(&p, 0.0);
        for (size_t s = 0; s < p.d.n_sequences; s++)
            gather_both(&p, s, 1e-12);
        trl_lazy_clear_dir(&p.z);
        memset(p.dir, 0, p.n * sizeof *p.dir);
        check_vectors(&p, 0.0);
        drift(&p, 5.0); /* with lambda 0 and no direction nothing moves */
        trl_lazy_flush(&p.z);
        check_vectors(&p, 0.0);
        twins_fini(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_average),
        cmocka_unit_test(test_set_and_clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
