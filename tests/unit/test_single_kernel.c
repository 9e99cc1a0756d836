/* test_single_kernel.c -- the kernels in floats against plain loops in double.
 *
 * All terms are positive: a sum of n has a relative error of some sqrt(n) 2^-24, and at most
 * (n / 2 + 3) 2^-24 with two sets of accumulators; over T steps these add up.  Where a kernel's
 * result depends on its own earlier ones, each step is checked from the kernel's own input.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/rng.h"
#include "num/single_kernel.h"

#define TOL 1e-6
#define MAX 70

static void *get(size_t n, size_t size)
{
    void *p = malloc(n * size);
    assert_non_null(p);
    return p;
}

static float *floats(trl_rng *rng, size_t rows, size_t n, size_t stride)
{
    float *x = get(rows * stride, sizeof *x);
    for (size_t k = 0; k < rows * stride; k++)
        x[k] = k % stride < n ? (float)(0.01 + trl_rng_unit(rng)) : 0.0f;
    return x;
}

static void near_rel(double got, double want, double tol, const char *what, size_t n, size_t at)
{
    if (!(fabs(got - want) <= tol * fabs(want)))
        fail_msg("%s, n = %zu: [%zu] is %.9g, not %.9g", what, n, at, got, want);
}

/* ---- exponentials ---------------------------------------------------------------------- */

static void check_exp_rows(trl_rng *rng, size_t T, size_t n, double wide, double *worst)
{
    static const double unused[] = {HUGE_VAL, -1e9, 1e9};
    const size_t S = trl_padded(n), step = S + trl_rng_below(rng, 3);
    double *x = get(T * step, sizeof *x), low, want_low = 0.0, want_shift = 0.0;
    float *psi = get(T * S, sizeof *psi);
    for (size_t k = 0; k < T * step; k++)
        x[k] =
            k % step < n ? 5.0 - wide * trl_rng_unit(rng) : (k % 4 ? unused[k % 4 - 1] : nan(""));
    const double shift = trl_single_exp_rows(T, n, x, step, psi, &low);
    for (size_t t = 0; t < T; t++) {
        const double *row = x + t * step;
        double max = row[0];
        for (size_t j = 0; j < n; j++)
            max = row[j] > max ? row[j] : max;
        want_shift += max;
        for (size_t j = 0; j < S; j++) {
            const double at = j < n ? row[j] - max : 0.0;
            const double got = (double)psi[t * S + j], want = j < n ? exp(at) : 0.0;
            if (j >= n) {
                assert_true(got == 0.0);
                continue;
            }
            want_low = at < want_low ? at : want_low;
            int e;
            (void)frexp(want, &e);
            *worst = fmax(*worst, fabs(got - want) / ldexp(1.0, e - 24));
            near_rel(got, want, TOL, "exp", n, j);
            if (row[j] == max)
                assert_true(got == 1.0);
        }
    }
    assert_near(shift, want_shift, 1e-14);
    assert_true(low == want_low);
    free(x);
    free(psi);
}

static void test_exp_rows(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(41);
    double worst = 0.0;
    for (size_t n = 1; n <= MAX; n++)
        for (int k = 0; k < 6; k++)
            check_exp_rows(&rng, 1 + trl_rng_below(&rng, 40), n,
                           (const double[]){0.0, 0.3, 4.0, 20.0, 40.0, 86.0}[k], &worst);
    print_message("exp: %.2f ulp\n", worst);
    assert_true(worst < 2.0);
}

static void test_exp_of_no_numbers(void **state)
{
    (void)state;
    static const double bad[] = {HUGE_VAL, -HUGE_VAL, 1e300, -1e300};
    for (size_t n = 1; n <= 20; n++)
        for (size_t at = 0; at < n; at++) {
            double x[24] = {0}, low;
            float psi[24];
            x[at] = nan("77");
            (void)trl_single_exp_rows(1, n, x, 24, psi, &low);
            assert_true(isnan(psi[at]));
            for (size_t k = 0; k < 4; k++) {
                x[at] = bad[k];
                (void)trl_single_exp_rows(1, n, x, 24, psi, &low);
                assert_true(low < -1e9 || isnan(psi[at]) || n == 1);
            }
        }
}

/* ---- recursions -------------------------------------------------------------------------- */

typedef struct storage {
    trl_single_lattice g;
    float *E, *Et;
} storage;

static storage storage_make(trl_rng *rng, size_t T, size_t n)
{
    const size_t S = trl_padded(n);
    storage s = {.E = floats(rng, n, n, S), .Et = floats(rng, n, n, S)};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            s.Et[j * S + i] = s.E[i * S + j];
    s.g = (trl_single_lattice){.T = T, .n = n, .stride = S, .E = s.E, .Et = s.Et};
    s.g.psi = floats(rng, T, n, S);
    s.g.alpha = get(T * S, sizeof(float));
    s.g.beta = get(T * S, sizeof(float));
    s.g.q = get(T * S, sizeof(float));
    s.g.scale = get(T, sizeof(float));
    return s;
}

static void storage_fini(storage *s)
{
    free(s->E);
    free(s->Et);
    free(s->g.psi);
    free(s->g.alpha);
    free(s->g.beta);
    free(s->g.q);
    free(s->g.scale);
}

static double row_sum(const float *x, size_t n)
{
    double sum = 0.0;
    for (size_t j = 0; j < n; j++)
        sum += (double)x[j];
    return sum;
}

/* want[j] = psi[j] scale sum_i x[i] M[i][j] */
static void step_plain(const trl_single_lattice *g, const float *x, const float *M,
                       const float *psi, double scale, double *want)
{
    for (size_t j = 0; j < g->stride; j++) {
        want[j] = 0.0;
        for (size_t i = 0; i < g->n; i++)
            want[j] += (double)x[i] * (double)M[i * g->stride + j];
        want[j] *= scale * (psi ? (double)psi[j] : 1.0);
    }
}

static void check_power(double scale, double sum)
{
    int e;
    assert_true(frexp(scale, &e) == 0.5);
    assert_true(scale * sum > 1.0 - TOL && scale * sum < 2.0 + TOL);
}

static void check_sweep(const trl_single_lattice *g, double log_sum)
{
    const size_t T = g->T, S = g->stride, n = g->n;
    double want[MAX + 8], logs = 0.0;
    for (size_t t = 0; t < T; t++) {
        const float *alpha = g->alpha + t * S, *psi = g->psi + t * S;
        for (size_t j = 0; j < S; j++)
            want[j] = (double)psi[j];
        if (t > 0)
            step_plain(g, alpha - S, g->E, psi, (double)g->scale[t - 1], want);
        for (size_t j = 0; j < S; j++)
            near_rel((double)alpha[j], want[j], TOL, "alpha", n, j);
        check_power((double)g->scale[t], row_sum(alpha, n));
        logs -= t + 1 < T ? log((double)g->scale[t]) : 0.0;
    }
    assert_near(log_sum, log(row_sum(g->alpha + (T - 1) * S, n)) + logs, TOL);
    for (size_t t = T; t-- > 0;) {
        const float *beta = g->beta + t * S, *psi = g->psi + t * S;
        double scale = 1.0;
        for (size_t j = 0; j < S; j++)
            want[j] = j < n ? 1.0 : 0.0;
        if (t + 1 < T) {
            step_plain(g, g->q + (t + 1) * S, g->Et, NULL, 1.0, want);
            scale = exp2(round(log2((double)beta[0] / want[0])));
            check_power(scale, row_sum(beta + S, n));
        }
        for (size_t j = 0; j < S; j++) {
            near_rel((double)beta[j], want[j] * scale, TOL, "beta", n, j);
            assert_true(g->q[t * S + j] == beta[j] * psi[j]);
        }
    }
}

static void check_combine(const trl_single_lattice *g)
{
    const size_t T = g->T, S = g->stride, n = g->n;
    double *node = get(T * S, sizeof *node), *want = get(2 * T * S, sizeof *want);
    for (size_t t = 0; t < T; t++) {
        const double scale = t > 0 ? (double)g->scale[t - 1] : 1.0;
        double d = 0.0;
        for (size_t k = t * S; k < (t + 1) * S; k++)
            d += (double)g->alpha[k] * (double)g->beta[k];
        for (size_t k = t * S; k < (t + 1) * S; k++) {
            want[k] = (double)g->alpha[k] * (double)g->beta[k] / d;
            want[T * S + k] = scale * (double)g->q[k] / d;
        }
    }
    trl_single_combine(g, -3.0, node);
    for (size_t k = 0; k < T * S; k++) {
        near_rel((double)g->beta[k], want[k], TOL, "marginal", n, k);
        assert_true(node[k] == -3.0 * (double)g->beta[k]);
        near_rel((double)g->q[k], want[T * S + k], TOL, "combined q", n, k);
    }
    free(node);
    free(want);
}

static void test_recursions(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(42);
    for (size_t n = 1; n <= MAX; n++)
        for (int round = 0; round < 3; round++) {
            storage s = storage_make(&rng, round ? 1 + trl_rng_below(&rng, 30) : 1, n);
            check_sweep(&s.g, trl_single_sweep(&s.g));
            check_combine(&s.g);
            storage_fini(&s);
        }
}

/* ---- outer products ---------------------------------------------------------------------- */

static void check_outer(trl_rng *rng, size_t T, size_t n, double weight)
{
    const size_t S = trl_padded(n);
    float *A = floats(rng, T, n, S), *B = floats(rng, T, n, S), *D = floats(rng, n, n, S);
    float *part = get(n * S, sizeof *part);
    double *X = get(n * S, sizeof *X), *want = get(n * S, sizeof *want);
    double want_dot = 0.0;
    for (size_t k = 0; k < n * S; k++)
        want[k] = X[k] = trl_rng_unit(rng);
    for (size_t t = 0; t < T; t++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < S; j++) {
                const double product = (double)A[t * S + i] * (double)B[t * S + j];
                want[i * S + j] += weight * product;
                want_dot += (double)D[i * S + j] * product;
            }
    const double dot = trl_single_outer_sum(T, n, S, A, B, weight, D, part, X);
    near_rel(dot, want_dot, TOL, "dot", n, 0);
    for (size_t k = 0; k < n * S; k++)
        near_rel(X[k], want[k], TOL, "outer sum", n, k);
    free(A);
    free(B);
    free(D);
    free(part);
    free(X);
    free(want);
}

static void test_outer_sum(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(43);
    for (size_t n = 1; n <= MAX; n++) {
        check_outer(&rng, 1 + trl_rng_below(&rng, 20), n, 1.0);
        check_outer(&rng, 20, n, 0.3 + trl_rng_unit(&rng));
        check_outer(&rng, 0, n, 1.0);
    }
    check_outer(&rng, 256, 22, 1.0);
    check_outer(&rng, 257, 22, 1.0);
    check_outer(&rng, 3000, 9, 2.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp_rows),
        cmocka_unit_test(test_exp_of_no_numbers),
        cmocka_unit_test(test_recursions),
        cmocka_unit_test(test_outer_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
