/* test_objectives.c -- every objective against its definition (objective_oracle.h), against
 * central differences, and against the others where theory says how they compare.
 *
 * Tolerances.  A log-score of size |s| <= 3 T scale carries an error of about eps |s|, and so
 * does, relatively, every probability; an adjoint cell adds up to some hundreds of those.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdbool.h>

#include "chain/local_kernel.h"
#include "chain/nota_instances.h"
#include "objective_oracle.h"

static double tolerance(const chain_shape *h)
{
    return 3e-13 + 1e-14 * (double)h->T * h->scale;
}

/* ---- one evaluation ------------------------------------------------------------------- */

typedef struct example {
    random_chain r;
    uint32_t gold[ORACLE_T];
    double weight;
    uint64_t *bits;
    trl_nota_view nota;
    trl_tables adjoint;
    trl_arena arena;
} example;

static size_t width_of(const random_chain *r, size_t f)
{
    return power(r->shape.L, f + 1);
}

static void example_make(trl_rng *rng, chain_shape h, example *e)
{
    *e = (example){0};
    random_chain_make(rng, h, &e->r);
    for (size_t t = 0; t < h.T; t++)
        e->gold[t] = (uint32_t)trl_rng_below(rng, h.L);
    e->weight = trl_rng_below(rng, 2) ? 1.0 : 0.25 + 2.0 * trl_rng_unit(rng);
    e->adjoint = (trl_tables){.n = h.T};
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        e->adjoint.step[f] = e->r.s.step[f];
        if (e->r.s.row[f])
            e->adjoint.row[f] = malloc(h.T * e->r.s.step[f] * sizeof(double));
        if (e->r.s.shared[f])
            e->adjoint.shared[f] = malloc(width_of(&e->r, f) * sizeof(double));
    }
    const size_t words = ((h.order == 2 ? h.L * h.L : h.L) + 63) / 64;
    e->bits = malloc(h.T * words * sizeof *e->bits);
    const double density = trl_rng_unit(rng);
    for (size_t k = 0; k < h.T * words * 64; k++) {
        const uint64_t one = (uint64_t)1 << k % 64;
        e->bits[k / 64] = (k % 64 ? e->bits[k / 64] : 0) | (trl_rng_unit(rng) < density ? one : 0);
    }
    const size_t kind = trl_rng_below(rng, 4);
    e->nota = (trl_nota_view){kind > 0, kind == 1, e->bits, words};
}

static void example_fini(example *e)
{
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        free(e->adjoint.row[f]);
        free(e->adjoint.shared[f]);
    }
    free(e->bits);
    random_chain_fini(&e->r);
    trl_arena_fini(&e->arena);
}

/* Value and complete adjoint: the chain's sums are taken in, too.  Rows start as garbage. */
static trl_status evaluate(example *e, const trl_objective *o, double *value, trl_error *err)
{
    trl_chain_sums sums;
    assert_ok_at(trl_chain_sums_init(&sums, &e->r.c, err), err, "sums", __FILE__, __LINE__);
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        for (size_t k = 0; e->adjoint.row[f] && k < e->r.shape.T * e->adjoint.step[f]; k++)
            e->adjoint.row[f][k] = nan("");
        for (size_t k = 0; e->adjoint.shared[f] && k < width_of(&e->r, f); k++)
            e->adjoint.shared[f][k] = 0.0;
    }
    trl_arena_reset(&e->arena);
    const trl_chain_example x = {.chain = &e->r.c,
                                 .scores = &e->r.s,
                                 .gold = e->gold,
                                 .weight = e->weight,
                                 .nota = e->nota,
                                 .arena = &e->arena,
                                 .by_factors = trl_factor_objective_of(o)};
    const trl_status st = trl_chain_objective(o)(&x, &e->adjoint, &sums, value, err);
    if (st == TRL_OK)
        trl_chain_sums_add(&sums, &e->r.c, -1.0, e->adjoint.shared[TRL_EDGE],
                           e->adjoint.shared[TRL_TRI]);
    trl_chain_sums_fini(&sums);
    return st;
}

static double value_of(example *e, const char *name)
{
    trl_error err;
    double value = nan("");
    assert_ok(evaluate(e, trl_objective_find(name), &value, &err));
    return value;
}

/* ---- against the definitions ---------------------------------------------------------- */

static void check_cell(const example *e, const char *name, const char *where, size_t t, size_t k,
                       double got, double want, double tol)
{
    if (!(fabs(got - want) <= tol))
        fail_msg("%s: %s [%zu][%zu] is %.17g, not %.17g (T %zu, L %zu, order %d, scale %g)", name,
                 where, t, k, got, want, e->r.shape.T, e->r.shape.L, e->r.shape.order,
                 e->r.shape.scale);
}

static void check_adjoint(const example *e, const char *name, const oracle *o)
{
    const size_t T = e->r.shape.T;
    const double tol = tolerance(&e->r.shape) * (1.0 + e->weight);
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        const size_t width = width_of(&e->r, f), step = e->adjoint.step[f];
        for (size_t k = 0; e->adjoint.row[f] && k < T * step; k++) {
            const bool pad = k % step >= width || k / step < f;
            const double want = pad ? 0.0 : (double)o->row[f][k / step * width + k % step];
            check_cell(e, name, "row", k / step, k % step, e->adjoint.row[f][k], want,
                       pad ? 0.0 : tol);
        }
        for (size_t k = 0; e->adjoint.shared[f] && k < width; k++) {
            long double want = 0.0L;
            for (size_t t = f; t < T; t++)
                want += o->row[f][t * width + k];
            check_cell(e, name, "shared", f, k, e->adjoint.shared[f][k], (double)want, 4.0 * tol);
        }
    }
}

/* Gold is forbidden somewhere: -inf, and the adjoint is no NaN. */
static void check_forbidden(const example *e, const char *name, double value)
{
    assert_true(value == -HUGE_VAL);
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        for (size_t k = 0; e->adjoint.row[f] && k < e->r.shape.T * e->adjoint.step[f]; k++)
            if (!isfinite(e->adjoint.row[f][k]))
                fail_msg("%s: row cell %zu of family %zu is %g", name, k, f, e->adjoint.row[f][k]);
        for (size_t k = 0; e->adjoint.shared[f] && k < width_of(&e->r, f); k++)
            if (!isfinite(e->adjoint.shared[f][k]))
                fail_msg("%s: shared cell %zu is %g", name, k, e->adjoint.shared[f][k]);
    }
}

static void check_example(example *e)
{
    trl_error err;
    for (size_t k = 0; trl_objective_at(k); k++) {
        if (!trl_chain_objective(trl_objective_at(k)))
            continue;
        const trl_objective *obj = trl_objective_at(k);
        double value = nan("");
        oracle o;
        oracle_make(&e->r, e->weight, &o);
        if (oracle_run(&o, obj->name, e->gold, &e->nota)) {
            const trl_status st = evaluate(e, obj, &value, &err);
            if (st == TRL_ENUMERIC) { /* only the likelihood refuses what has no labelling */
                assert_string_equal(obj->short_name, "crf");
                assert_true(o.value == -HUGE_VALL);
            } else {
                assert_ok(st);
                if (o.value == -HUGE_VALL)
                    check_forbidden(e, obj->name, value);
                else if (!(fabs(value - e->weight * (double)o.value) <=
                           tolerance(&e->r.shape) * (1.0 + fabs(value))))
                    fail_msg("%s: %.17g, not %.17g (T %zu, L %zu, order %d, scale %g)", obj->name,
                             value, e->weight * (double)o.value, e->r.shape.T, e->r.shape.L,
                             e->r.shape.order, e->r.shape.scale);
                else
                    check_adjoint(e, obj->name, &o);
            }
        }
        oracle_fini(&o);
    }
}

/* Small ones in all variants, scores of up to +-1000, forbidden cells. */
static void test_definitions(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(31);
    for (int round = 0; round < 4000; round++) {
        example e;
        example_make(&rng, random_shape(&rng), &e);
        check_example(&e);
        example_fini(&e);
    }
}

/* More labels than a vector has lanes, with and without a rest. */
static void test_definitions_with_many_labels(void **state)
{
    (void)state;
    static const size_t many[] = {7, 8, 9, 13, 16, 17};
    trl_rng rng = trl_rng_seed(32);
    for (int round = 0; round < 240; round++) {
        example e;
        chain_shape h = random_shape(&rng);
        h.L = many[round % 6];
        h.T = 1 + (size_t)(round / 6 % 3);
        if (h.order == 2 && h.L > 9)
            h.L = 10;
        example_make(&rng, h, &e);
        check_example(&e);
        example_fini(&e);
    }
}

static void shift_scores(size_t n, double by, double *x)
{
    for (size_t k = 0; x && k < n; k++)
        x[k] += by;
}

/* Close together, but all around -735 or 700: no exponential can be taken as it is. */
static void test_definitions_far_from_zero(void **state)
{
    (void)state;
    static const double by[] = {-735.0, -250.0, 0.0, 250.0, 700.0};
    trl_rng rng = trl_rng_seed(39);
    for (int round = 0; round < 2000; round++) {
        example e;
        trl_error err;
        chain_shape h = random_shape(&rng);
        h.scale = 8.0;
        h.L = round % 20 ? h.L : 9;
        h.T = round % 20 ? h.T : 3;
        example_make(&rng, h, &e);
        for (size_t f = 0; f < TRL_FAMILIES; f++) {
            shift_scores(h.T * e.r.s.step[f], by[trl_rng_below(&rng, 5)], e.r.s.row[f]);
            shift_scores(width_of(&e.r, f), by[trl_rng_below(&rng, 5)], e.r.s.shared[f]);
        }
        e.r.shape.scale = 700.0; /* for the tolerance */
        assert_ok(trl_chain_prepare(&e.r.c, &e.r.s, &err));
        check_example(&e);
        example_fini(&e);
    }
}

/* Pads may hold anything, and come out as 0. */
static void test_exp_of_a_padded_row(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 24; n++) {
        double x[24], y[24];
        for (size_t k = 0; k < 24; k++)
            x[k] = k < n ? 0.25 * (double)k : k % 2 ? nan("") : 1e9;
        trl_exp_plain(n, x, y);
        for (size_t k = 0; k < trl_padded(n); k++)
            assert_near(y[k], k < n ? exp(x[k]) : 0.0, k < n ? 1e-15 : 0.0);
    }
}

/* ---- against central differences ------------------------------------------------------- */

/* d value / d *cell, the chain prepared anew for each value. */
static double difference(example *e, const trl_objective *o, double *cell)
{
    const double at = *cell, step = 1e-5;
    double value[2] = {0.0, 0.0};
    trl_error err;
    for (int k = 0; k < 2; k++) {
        *cell = at + (k ? step : -step);
        assert_ok(trl_chain_prepare(&e->r.c, &e->r.s, &err));
        assert_ok(evaluate(e, o, &value[k], &err));
    }
    *cell = at;
    assert_ok(trl_chain_prepare(&e->r.c, &e->r.s, &err));
    return (value[1] - value[0]) / (2.0 * step);
}

static void check_differences(example *e, const trl_objective *o, trl_rng *rng)
{
    trl_error err;
    double value;
    for (int round = 0; round < 24; round++) {
        const size_t f = trl_rng_below(rng, (size_t)e->r.shape.order + 1);
        const size_t k = trl_rng_below(rng, width_of(&e->r, f)), T = e->r.shape.T;
        const size_t at = f + trl_rng_below(rng, T > f ? T - f : 1);
        assert_ok(evaluate(e, o, &value, &err));
        if (e->r.s.shared[f] && round % 2) {
            const double got = e->adjoint.shared[f][k];
            check_cell(e, o->name, "shared", f, k, got, difference(e, o, e->r.s.shared[f] + k),
                       1e-7);
        } else if (e->r.s.row[f] && T > f) {
            const size_t cell = at * e->adjoint.step[f] + k;
            const double got = e->adjoint.row[f][cell];
            check_cell(e, o->name, "row", at, k, got, difference(e, o, e->r.s.row[f] + cell), 1e-7);
        }
    }
}

/* The two best labellings are told apart by more than a step of the differences. */
static bool is_clear(example *e)
{
    uint32_t y[2 * ORACLE_T];
    double score[2];
    size_t found;
    trl_error err;
    trl_arena_reset(&e->arena);
    assert_ok(trl_chain_nbest(&e->r.c, &e->r.s, &e->arena,
                              &(trl_chain_list){.n = 2, .y = y, .score = score, .found = &found},
                              &err));
    return found < 2 || score[0] - score[1] > 1e-3;
}

static void test_gradients(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(33);
    size_t perceptrons = 0;
    for (int round = 0; round < 400; round++) {
        example e;
        chain_shape h = random_shape(&rng);
        h.forbid = 0.0;
        h.scale = round % 2 ? 3.0 : 8.0;
        h.L = round % 10 == 0 ? 9 : h.L;
        example_make(&rng, h, &e);
        for (size_t k = 0; trl_objective_at(k); k++) {
            if (!trl_chain_objective(trl_objective_at(k)))
                continue;
            const bool tie = strcmp(trl_objective_at(k)->short_name, "ap") == 0;
            if (!tie || is_clear(&e))
                check_differences(&e, trl_objective_at(k), &rng);
            perceptrons += tie && is_clear(&e);
        }
        example_fini(&e);
    }
    assert_true(perceptrons > 300);
}

/* ---- against each other ---------------------------------------------------------------- */

static void test_piecewise_bounds_the_likelihood(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(34);
    for (int round = 0; round < 3000; round++) {
        example e;
        chain_shape h = random_shape(&rng);
        h.forbid = 0.0;
        example_make(&rng, h, &e);
        const double bound = value_of(&e, "pw"), exact = value_of(&e, "crf");
        if (!(bound <= exact + tolerance(&h) * (1.0 + fabs(exact))))
            fail_msg("piecewise %.17g is above the likelihood %.17g", bound, exact);
        example_fini(&e);
    }
}

static void test_equal_on_short_sequences(void **state)
{
    (void)state;
    static const char *const names[] = {"ple", "pl", "memm", "pw"};
    trl_rng rng = trl_rng_seed(35);
    for (int round = 0; round < 400; round++) {
        example e;
        chain_shape h = random_shape(&rng);
        h.forbid = 0.0;
        h.T = 1 + (size_t)round % 2;
        example_make(&rng, h, &e);
        for (size_t k = 0; k < (h.T == 1 ? 4 : 1); k++)
            assert_near(value_of(&e, names[k]), value_of(&e, "crf"), tolerance(&h));
        example_fini(&e);
    }
}

/* Not a bit apart: the same code must run. */
static void test_nota_without_instances_is_the_memm(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(36);
    for (int round = 0; round < 400; round++) {
        example e;
        chain_shape h = random_shape(&rng);
        h.forbid = 0.0;
        example_make(&rng, h, &e);
        e.nota = (trl_nota_view){0};
        assert_true(value_of(&e, "nota") == value_of(&e, "memm"));
        example_fini(&e);
    }
}

/* Exhaustive: s(y) - log prod_t prod_y' (1 + sum_y phi_t(y', y)), the paper's Z_PT. */
static void test_exhaustive_nota_is_the_product(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(37);
    for (int round = 0; round < 400; round++) {
        example e;
        chain_shape h = random_shape(&rng);
        h.forbid = 0.0;
        h.scale = 6.0;
        h.order = 1;
        h.L = 2 + trl_rng_below(&rng, 9);
        example_make(&rng, h, &e);
        e.nota = (trl_nota_view){.any = true, .all = true};
        long double product = 1.0L;
        for (size_t t = 0; t < h.T; t++)
            for (size_t i = 0; i < (t ? h.L : 1); i++) {
                long double sum = 1.0L;
                for (size_t j = 0; j < h.L; j++)
                    sum += expl(family_score(&e.r, TRL_NODE, t, j) +
                                (t ? family_score(&e.r, TRL_EDGE, t, i * h.L + j) : 0.0L));
                product *= sum;
            }
        const double want = (double)(score_of(&e.r, e.gold) - logl(product));
        assert_near(value_of(&e, "nota"), e.weight * want, 1e-12);
        example_fini(&e);
    }
}

/* ---- refusals --------------------------------------------------------------------------- */

static void test_bad_scores_are_refused(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(38);
    for (int round = 0; round < 200; round++) {
        example e;
        trl_error err;
        double value;
        chain_shape h = random_shape(&rng);
        h.forbid = 0.0;
        example_make(&rng, h, &e);
        const size_t t = trl_rng_below(&rng, h.T), j = trl_rng_below(&rng, h.L);
        e.r.s.row[TRL_NODE][t * e.r.s.step[TRL_NODE] + j] = round % 2 ? nan("") : HUGE_VAL;
        char token[32];
        snprintf(token, sizeof token, "token %zu", t + 1);
        for (size_t k = 0; trl_objective_at(k); k++) {
            if (!trl_chain_objective(trl_objective_at(k)))
                continue;
            const trl_objective *o = trl_objective_at(k);
            if (trl_chain_objective(o) ==
                trl_obj_perceptron) /* Viterbi sees a NaN only on its way */
                continue;
            if (evaluate(&e, o, &value, &err) != TRL_ENUMERIC || !strstr(err.msg, token))
                fail_msg("%s does not refuse it, or says '%s'", o->name, err.msg);
        }
        e.r.s.n = e.adjoint.n = 0;
        for (size_t k = 0; trl_objective_at(k); k++)
            if (trl_chain_objective(trl_objective_at(k)))
                assert_int_equal(evaluate(&e, trl_objective_at(k), &value, &err), TRL_EINVAL);
        example_fini(&e);
    }
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"likelihood", "crf"},      {"memm", "memm"},
        {"pseudolikelihood", "pl"}, {"piecewise", "pw"},
        {"piecewise-nota", "nota"}, {"pseudolikelihood-edge", "ple"},
        {"perceptron", "ap"},       {"piecewise-pseudolikelihood", "pwpl"}};
    for (size_t k = 0; k < 7; k++) {
        assert_non_null(trl_objective_find(names[k][0]));
        assert_ptr_equal(trl_objective_find(names[k][0]), trl_objective_find(names[k][1]));
    }
    assert_null(trl_objective_find("piece"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_definitions_with_many_labels),
        cmocka_unit_test(test_definitions_far_from_zero),
        cmocka_unit_test(test_exp_of_a_padded_row),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_piecewise_bounds_the_likelihood),
        cmocka_unit_test(test_equal_on_short_sequences),
        cmocka_unit_test(test_nota_without_instances_is_the_memm),
        cmocka_unit_test(test_exhaustive_nota_is_the_product),
        cmocka_unit_test(test_bad_scores_are_refused),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
