/* test_partial.c -- objectives where labels are unknown, sets or distributions, with weights of
 * tokens and costs: values against enumeration, adjoints against differences of the enumeration. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/mem.h"
#include "chain/calibrate.h"
#include "chain/local.h"
#include "chain_problem.h"
#include "partial_oracle.h"

static const char *const objectives[] = {"likelihood",
                                         "memm",
                                         "piecewise",
                                         "pseudolikelihood",
                                         "pseudolikelihood-edge",
                                         "piecewise-pseudolikelihood"};

typedef struct example {
    random_chain r;
    trl_label_notes *notes;
    uint32_t gold[ORACLE_T];
    double weight;
    trl_chain_costs costs;
    trl_tables adjoint;
    trl_arena arena;
    noted oracle;
    double *cost; /* [T][L], the oracle's */
} example;

static void add_text(trl_rng *rng, size_t L, bool weights, trl_buf *b)
{
    const size_t what = trl_rng_below(rng, 4), n = 2 + trl_rng_below(rng, L);
    size_t first = trl_rng_below(rng, L);
    b->len = 0;
    if (what == 0)
        assert_true(trl_buf_ch(b, '?'));
    for (size_t k = 0; what && k < (what == 1 || L == 1 ? 1 : n < L ? n : L); k++) {
        if (k)
            assert_true(trl_buf_ch(b, '|'));
        assert_true(trl_buf_fmt(b, "L%zu", (first + k) % L));
        if (what == 3 && L > 1) /* 1/2, 1/4, .., the last one twice */
            assert_true(
                trl_buf_fmt(b, ":%.9f", pow(0.5, (double)(k + 1 < n && k + 1 < L ? k + 1 : k))));
    }
    if (weights)
        assert_true(trl_buf_fmt(b, "@%.3f", 2.0 * trl_rng_unit(rng)));
}

static void make_notes(trl_rng *rng, bool weights, example *e)
{
    trl_error err;
    trl_buf text = {0};
    trl_strtab labels = {0};
    const size_t L = e->r.shape.L;
    assert_ok(trl_label_notes_new(&e->notes, &err));
    for (size_t y = 0; y < L; y++) {
        char name[16];
        const int n = snprintf(name, sizeof name, "L%zu", y);
        assert_int_equal(trl_strtab_add(&labels, name, (size_t)n), y);
    }
    for (size_t t = 0; t < e->r.shape.T; t++) {
        uint32_t number;
        size_t col;
        add_text(rng, L, weights, &text);
        assert_ok(trl_label_notes_add(e->notes, &labels, (trl_str){text.data, text.len}, &number,
                                      &col, &err));
        assert_true(trl_label_notes_set(e->notes, t, number));
        e->gold[t] = trl_label_notes_stand_in(e->notes, number);
    }
    assert_ok(trl_label_notes_close(e->notes, L, &err));
    for (size_t t = 0; t < e->r.shape.T; t++)
        e->oracle.note[t] = trl_label_note_of(e->notes, e->notes->of[t]);
    trl_strtab_fini(&labels);
    trl_buf_fini(&text);
}

static void make_costs(trl_rng *rng, example *e)
{
    const size_t n = e->notes->texts.n, S = e->r.c.stride, L = e->r.shape.L;
    e->costs = (trl_chain_costs){calloc(n * S, sizeof *e->costs.row), true};
    e->cost = malloc(e->r.shape.T * L * sizeof *e->cost);
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < L; j++)
            e->costs.row[k * S + j] = 3.0 * trl_rng_unit(rng);
    for (size_t t = 0; t < e->r.shape.T; t++)
        for (size_t j = 0; j < L; j++)
            e->cost[t * L + j] = e->costs.row[e->notes->of[t] * S + j];
}

static void example_make(trl_rng *rng, chain_shape h, const char *name, example *e)
{
    const bool tokens =
        strcmp(name, "likelihood") != 0 && strcmp(name, "pseudolikelihood-edge") != 0;
    *e = (example){0};
    random_chain_make(rng, h, &e->r);
    make_notes(rng, tokens && trl_rng_below(rng, 2), e);
    e->weight = trl_rng_below(rng, 2) ? 1.0 : 0.25 + 2.0 * trl_rng_unit(rng);
    e->oracle.r = &e->r;
    if (strcmp(name, "likelihood") == 0 && trl_rng_below(rng, 2)) {
        make_costs(rng, e);
        e->oracle.cost = e->cost;
    }
    e->adjoint = (trl_tables){.n = h.T};
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        e->adjoint.step[f] = e->r.s.step[f];
        if (e->r.s.row[f])
            e->adjoint.row[f] = malloc(h.T * e->r.s.step[f] * sizeof(double));
        if (e->r.s.shared[f])
            e->adjoint.shared[f] = calloc(power(h.L, f + 1), sizeof(double));
    }
}

static void example_fini(example *e)
{
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        free(e->adjoint.row[f]);
        free(e->adjoint.shared[f]);
    }
    free(e->costs.row);
    free(e->cost);
    trl_label_notes_free(e->notes);
    random_chain_fini(&e->r);
    trl_arena_fini(&e->arena);
}

/* NaN when every labelling is forbidden. */
static double evaluate(example *e, const char *name)
{
    trl_error err;
    trl_chain_sums sums;
    double value = nan("");
    const trl_objective *o = trl_objective_find(name);
    assert_ok(trl_chain_sums_init(&sums, &e->r.c, &err));
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        for (size_t k = 0; e->adjoint.row[f] && k < e->r.shape.T * e->adjoint.step[f]; k++)
            e->adjoint.row[f][k] = nan("");
    const trl_chain_example x = {.chain = &e->r.c,
                                 .scores = &e->r.s,
                                 .gold = e->gold,
                                 .weight = e->weight,
                                 .arena = &e->arena,
                                 .by_factors = trl_factor_objective_partial(o),
                                 .costs = e->cost ? &e->costs : NULL,
                                 .notes = e->notes,
                                 .note = e->notes->of};
    const trl_status st = trl_chain_objective_partial(o)(&x, &e->adjoint, &sums, &value, &err);
    assert_true(st == TRL_OK || st == TRL_ENUMERIC);
    if (st == TRL_OK)
        trl_chain_sums_add(&sums, &e->r.c, -1.0, e->adjoint.shared[TRL_EDGE],
                           e->adjoint.shared[TRL_TRI]);
    trl_chain_sums_fini(&sums);
    return value;
}

/* d value / d *score, by the enumeration. */
static double slope(example *e, const char *name, double *score)
{
    const double at = *score, h = 1e-4;
    *score = at + h;
    const long double up = noted_value(&e->oracle, name, 0), high = (long double)*score;
    *score = at - h;
    const long double down = noted_value(&e->oracle, name, 0), low = (long double)*score;
    *score = at;
    return e->weight * (double)((up - down) / (high - low));
}

static void check_adjoint(example *e, const char *name)
{
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        const size_t width = power(e->r.shape.L, f + 1), step = e->r.s.step[f];
        for (size_t t = 0; e->r.s.row[f] && t < e->r.shape.T; t++)
            for (size_t k = 0; k < step; k++) {
                const double got = e->adjoint.row[f][t * step + k];
                if (t < f || k >= width)
                    assert_true(got == 0.0);
                else
                    assert_near(got, slope(e, name, &e->r.s.row[f][t * step + k]), 1e-6);
            }
        for (size_t k = 0; e->r.s.shared[f] && k < width; k++)
            assert_near(e->adjoint.shared[f][k], slope(e, name, &e->r.s.shared[f][k]), 1e-6);
    }
}

static void test_enumeration(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(31);
    for (size_t o = 0; o < sizeof objectives / sizeof *objectives; o++)
        for (int i = 0; i < 400; i++) {
            example e;
            chain_shape h = random_shape(&rng);
            h.L = h.L > 3 ? 3 : h.L;
            example_make(&rng, h, objectives[o], &e);
            const double got = evaluate(&e, objectives[o]);
            const double want = e.weight * (double)noted_value(&e.oracle, objectives[o], 0);
            if (isfinite(want))
                assert_near(got, want, 1e-12 * (1.0 + 10.0 * (double)h.T * h.scale));
            else
                assert_true(got == want || isnan(want));
            if (isnan(got)) {
                assert_true(isnan(want));
                example_fini(&e);
                continue;
            }
            if (h.forbid == 0.0 && h.scale <= 8.0 && h.T <= 4 && i % 4 == 0)
                check_adjoint(&e, objectives[o]);
            for (size_t k = 0; k < h.T * e.adjoint.step[TRL_NODE]; k++)
                assert_true(isfinite(e.adjoint.row[TRL_NODE][k]));
            example_fini(&e);
        }
}

/* ---- calibration ------------------------------------------------------------------------------
 */

/* The multipliers' gradient, by differences of the value, which is the likelihood's at 1. */
static void test_calibration(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(32);
    for (int i = 0; i < 60; i++) {
        example e;
        trl_error err;
        trl_chain rows;
        double a[4], grad[4] = {0}, none[4], value, up, down;
        const chain_shape h = {.T = 1 + trl_rng_below(&rng, 4),
                               .L = 2 + trl_rng_below(&rng, 2),
                               .order = 1 + i % 2,
                               .shared = true,
                               .scale = 4.0};
        example_make(&rng, h, "memm", &e);
        const trl_chain_example x = {.chain = &e.r.c,
                                     .scores = &e.r.s,
                                     .gold = e.gold,
                                     .weight = e.weight,
                                     .arena = &e.arena,
                                     .notes = e.notes,
                                     .note = e.notes->of};
        assert_ok(trl_rows_chain_init(&rows, h.L, h.order, &err));
        for (size_t k = 0; k < h.L; k++)
            a[k] = 1.0;
        assert_ok(trl_calibrate_example(&x, &rows, a, &value, grad, &err));
        e.oracle.cost = NULL;
        assert_near(value, e.weight * (double)noted_value(&e.oracle, "likelihood", 0), 1e-10);
        for (size_t k = 0; k < h.L; k++) {
            a[k] = 1.0 + 1e-5;
            assert_ok(trl_calibrate_example(&x, &rows, a, &up, none, &err));
            a[k] = 1.0 - 1e-5;
            assert_ok(trl_calibrate_example(&x, &rows, a, &down, none, &err));
            a[k] = 1.0;
            assert_near(grad[k], (up - down) / 2e-5, 1e-5);
        }
        trl_chain_fini(&rows);
        example_fini(&e);
    }
}

/* ---- all of training ---------------------------------------------------------------------------
 */

/* Notes on the labels of a random corpus. */
static void note_corpus(trl_rng *rng, bool weights, trl_corpus *c)
{
    trl_error err;
    trl_buf text = {0};
    assert_ok(trl_corpus_use_notes(c, &err));
    for (size_t t = 0; t < c->n_tokens; t++) {
        uint32_t number;
        size_t col;
        add_text(rng, c->labels.n, weights, &text);
        assert_ok(trl_label_notes_add(c->notes, &c->labels, (trl_str){text.data, text.len}, &number,
                                      &col, &err));
        assert_true(trl_label_notes_set(c->notes, t, number));
        c->label[t] = trl_label_notes_stand_in(c->notes, number);
    }
    assert_ok(trl_label_notes_close(c->notes, c->labels.n, &err));
    trl_buf_fini(&text);
}

/* The gradient of weights by central differences. */
static void test_differences(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(33);
    for (int i = 0; i < 36; i++) {
        const char *name = objectives[i % 6];
        const trl_design_options o = {.order = 1 + i / 6 % 2, .all_pairs = i % 4 == 0};
        const corpus_shape h = {.sequences = 4,
                                .max_tokens = 5,
                                .L = 3,
                                .attrs = {8, i % 3 == 0 ? 3 : 0},
                                .per_token = {3, 1},
                                .constant = {false, true, o.order == 2},
                                .weights = true};
        chain_problem p = {.c2 = 0.5};
        trl_error err;
        random_corpus(&rng, &h, &p.c);
        note_corpus(&rng, trl_objective_find(name)->by_token, &p.c);
        assert_ok(trl_design_build(&p.d, &p.c, &o, &err));
        assert_ok(trl_chain_task_init(&p.chain, &p.c, o.order, trl_objective_find(name), 16, &err));
        p.task = trl_chain_task_view(&p.chain);
        p.pool = trl_pool_new(1 + 2 * (size_t)(i % 2));
        assert_ok(trl_gradient_new(&p.d, &p.c.family[TRL_NODE].names, &p.task, p.pool, &p.g, &err));
        double *w = problem_vector(&p), *g = problem_vector(&p), F, slope;
        for (uint64_t k = 0; k < p.d.n_weights; k++)
            w[k] = 2.0 * trl_rng_unit(&rng) - 1.0;
        trl_clear_dead(&p.d, w);
        assert_ok(problem_eval(&p, w, g, &F, &err));
        for (int tries = 0; tries < 5; tries++) { /* along random weights that have features */
            const uint64_t k = trl_rng_below(&rng, p.d.n_weights);
            const double at = w[k];
            if (g[k] == 0.0)
                continue;
            w[k] = at + 1e-5;
            const double up = problem_value(&p, w, NULL);
            w[k] = at - 1e-5;
            slope = (up - problem_value(&p, w, NULL)) / 2e-5;
            w[k] = at;
            assert_near(g[k], slope, 1e-6);
        }
        trl_free(w);
        trl_free(g);
        problem_fini(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumeration),
        cmocka_unit_test(test_calibration),
        cmocka_unit_test(test_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
