/* test_dual_weights.c -- single-precision weights that follow kept adjoints, against the sum in
 * doubles.
 *
 * The plain twin scatters the kept adjoints of all examples with trl_scatter_all and gathers with
 * trl_gather, singletons like all others.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "random_corpus.h"

#include "feature/dual_weights.h"
#include "num/residual_kernel.h"
#include "train/gradient.h"

#define SCALE 0.4

typedef struct twins {
    trl_corpus c;
    trl_design d;
    trl_dual_weights z;
    size_t n;                  /* weights */
    double *w;                 /* SCALE sum_i A_i^T a_i */
    float *kept[TRL_FAMILIES]; /* [n_tokens][step] */
    trl_arena arena;
} twins;

static double signed_unit(trl_rng *rng)
{
    return 2.0 * trl_rng_unit(rng) - 1.0;
}

static void twins_make(trl_rng *rng, int order, twins *p)
{
    trl_error err;
    corpus_shape h = {.sequences = 2 + trl_rng_below(rng, 60),
                      .max_tokens = 10,
                      .L = 1 + trl_rng_below(rng, order == 2 ? 5 : 80),
                      .attrs = {400, 10, 6},
                      .per_token = {8, 2, 2},
                      .constant = {false, true, trl_rng_below(rng, 2) != 0},
                      .values = trl_rng_below(rng, 2),
                      .zeros = trl_rng_below(rng, 2)};
    const trl_design_options o = {
        .order = order, .all_pairs = trl_rng_below(rng, 3) == 0, .min_count = 1};
    *p = (twins){0};
    random_corpus(rng, &h, &p->c);
    assert_ok(trl_design_build(&p->d, &p->c, &o, &err));
    assert_ok(trl_dual_weights_init(&p->z, &p->d, SCALE, &err));
    p->n = (size_t)p->d.n_weights;
    p->w = trl_alloc64(p->n + 64, sizeof *p->w);
    assert_non_null(p->w);
    memset(p->w, 0, (p->n + 64) * sizeof *p->w);
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        p->kept[f] = trl_zalloc(p->d.n_tokens * p->d.family[f].step + 1, sizeof(float));
        assert_non_null(p->kept[f]);
    }
}

static void twins_fini(twins *p)
{
    trl_dual_weights_fini(&p->z);
    trl_design_fini(&p->d);
    trl_corpus_fini(&p->c);
    trl_arena_fini(&p->arena);
    trl_free(p->w);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        trl_free(p->kept[f]);
}

static void gather_both(twins *p, size_t s)
{
    const size_t from = p->d.first[s], len = p->d.first[s + 1] - from;
    trl_tables a, b;
    trl_arena_reset(&p->arena);
    assert_true(trl_tables_get(&p->d, len, &p->arena, &a));
    assert_true(trl_tables_get(&p->d, len, &p->arena, &b));
    trl_dual_weights_prefetch(&p->z, TRL_NODE, from, len,
                              p->kept[TRL_NODE] + from * p->d.family[TRL_NODE].step);
    trl_dual_weights_gather(&p->z, from, p->kept[TRL_NODE] + from * p->d.family[TRL_NODE].step, &a);
    trl_gather(&p->d, p->w, from, &b);
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        const size_t width = p->d.family[f].width, step = p->d.family[f].step;
        for (size_t k = 0; a.row[f] && k < len * step; k++)
            if (k % step < width)
                assert_near(a.row[f][k], b.row[f][k], 2e-5);
    }
}

/* Moves the adjoints of example s by a random delta, and the weights with it. */
static void move_both(trl_rng *rng, twins *p, size_t s)
{
    const size_t from = p->d.first[s], len = p->d.first[s + 1] - from;
    const double gamma = 0.1 + trl_rng_unit(rng);
    float *delta[TRL_FAMILIES];
    trl_tables t;
    trl_arena_reset(&p->arena);
    assert_true(trl_tables_get(&p->d, len, &p->arena, &t));
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        const size_t width = p->d.family[f].width, step = p->d.family[f].step;
        delta[f] = t.row[f] ? trl_arena_get(&p->arena, len * step, sizeof(float)) : NULL;
        for (size_t k = 0; t.row[f] && k < len * step; k++) {
            t.row[f][k] = k % step < width && k / step >= f ? signed_unit(rng) : 0.0;
            delta[f][k] = (float)t.row[f][k];
        }
        if (t.row[f])
            trl_blend(len * step, (float)gamma, delta[f], p->kept[f] + from * step);
    }
    trl_scatter_all(&p->d, from, &t, gamma * SCALE, p->w);
    trl_dual_weights_add(&p->z, from, len, delta, (float)(gamma * SCALE));
}

static void test_follow(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(18);
    size_t singleton_rows = 0, singleton_entries = 0;
    for (int k = 0; k < 60; k++) {
        twins p;
        twins_make(&rng, 1 + k % 2, &p);
        for (int i = 0; i < 100; i++) {
            const size_t s = trl_rng_below(&rng, p.d.n_sequences);
            gather_both(&p, s);
            move_both(&rng, &p, s);
        }
        const trl_family *f = &p.d.family[TRL_NODE];
        singleton_rows += f->n_dense - f->singleton_row;
        singleton_entries += f->n_attrs - f->singleton_attr;
        double *w = trl_alloc(p.n, sizeof *w), *again = trl_alloc(p.n, sizeof *w);
        assert_true(w && again);
        trl_dual_weights_get(&p.z, p.kept[TRL_NODE], w);
        for (size_t i = 0; i < p.n; i++)
            assert_near(w[i], p.w[i], 2e-5);
        for (size_t i = 0; i < p.d.n_dead; i++)
            assert_true(w[p.d.dead[i]] == 0.0);
        trl_dual_weights_set(&p.z, w); /* there and back: the same bits */
        trl_dual_weights_get(&p.z, p.kept[TRL_NODE], again);
        assert_memory_equal(w, again, p.n * sizeof *w);
        for (size_t s = 0; s < p.d.n_sequences; s++)
            gather_both(&p, s);
        trl_free(w);
        trl_free(again);
        twins_fini(&p);
    }
    assert_true(singleton_rows > 100 && singleton_entries > 100);
}

/* Weights of constants are the caller's to change. */
static void test_constants(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(19);
    size_t all_cells = 0, some_cells = 0;
    for (int k = 0; k < 40; k++) {
        twins p;
        trl_error err;
        trl_tables a, b;
        twins_make(&rng, 1 + k % 2, &p);
        assert_ok(trl_shared_new(&p.d, &a, &err));
        assert_ok(trl_shared_new(&p.d, &b, &err));
        for (size_t f = 0; f < TRL_FAMILIES; f++)
            for (size_t i = 0; i < p.d.family[f].n_constant; i++)
                p.w[p.d.family[f].constant_at + i] = p.z.constant[f][i] = signed_unit(&rng);
        trl_dual_weights_gather_shared(&p.z, a.shared);
        trl_gather_shared(&p.d, p.w, b.shared);
        for (size_t f = 0; f < TRL_FAMILIES; f++)
            for (size_t i = 0; a.shared[f] && i < p.d.family[f].width; i++)
                assert_true(a.shared[f][i] == b.shared[f][i]);
        for (size_t f = 0; f < TRL_FAMILIES; f++) {
            const trl_family *fam = &p.d.family[f];
            if (!fam->n_constant)
                continue;
            float *delta = trl_alloc(fam->step, sizeof *delta);
            assert_non_null(delta);
            for (size_t i = 0; i < fam->step; i++)
                delta[i] = i < fam->width ? (float)signed_unit(&rng) : 0.0f;
            all_cells += fam->n_constant > 1 && fam->n_constant == fam->width;
            some_cells += fam->n_constant > 0 && fam->n_constant < fam->width;
            trl_dual_weights_add_constants(&p.z, f, delta, 0.7, a.shared[f]);
            for (size_t i = 0; i < fam->n_constant; i++) {
                const uint32_t cell = fam->constant_cell[i];
                const double want = p.w[fam->constant_at + i] + 0.7 * (double)delta[cell];
                assert_near(p.z.constant[f][i], want, 1e-15);
                assert_near(a.shared[f][cell], want, 1e-15);
            }
            trl_free(delta);
        }
        trl_shared_free(&a);
        trl_shared_free(&b);
        twins_fini(&p);
    }
    assert_true(all_cells > 0 && some_cells > 0);
}

/* ---- kernels --------------------------------------------------------------------------- */

static void test_residual(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(20);
    for (size_t n = 8; n <= 400; n += 56) {
        double a[400], a1[400], s[400], s1[400], mass = 0.5, far2 = 0.0, want = 0.5;
        double sum[2] = {1.0, 2.0}, wanted[2] = {1.0, 2.0}, along[2] = {3.0, 4.0};
        float kept[400], delta[400];
        for (size_t i = 0; i < n; i++) {
            a[i] = signed_unit(&rng);
            a1[i] = signed_unit(&rng);
            s[i] = 5.0 * signed_unit(&rng);
            s1[i] = 5.0 * signed_unit(&rng);
            kept[i] = (float)signed_unit(&rng);
        }
        const double got = trl_residual(n, a, kept, delta, &mass);
        trl_curvature(n, s, s1, a, a1, delta, sum);
        trl_curvature_along(n, 0.3, a, a1, delta, along);
        for (size_t i = 0; i < n; i++) {
            const double d = a[i] - (double)kept[i];
            assert_near((double)delta[i], d, 2e-7);
            far2 += d * d;
            want += fabs(a[i]);
            wanted[0] += (double)delta[i] * (s1[i] - s[i]);
            wanted[1] += (a1[i] - a[i]) * (s1[i] - s[i]);
            along[0] -= 0.3 * (double)delta[i] * (double)delta[i];
            along[1] -= 0.3 * (double)delta[i] * (a1[i] - a[i]);
        }
        assert_near(along[0], 3.0, 1e-10);
        assert_near(along[1], 4.0, 1e-10);
        assert_near(got / far2, 1.0, 1e-5);
        assert_near(mass / want, 1.0, 1e-5);
        assert_near(sum[0], wanted[0], 1e-10);
        assert_near(sum[1], wanted[1], 1e-10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_follow),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_residual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
