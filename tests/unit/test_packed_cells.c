/* test_packed_cells.c -- families whose cells were never all seen, and the dual of piecewise
 * training.
 *
 * The twin of a packed family has weights for all cells: those of cells never seen are 0 here, and
 * everything must be the same.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <math.h>

#include "base/rng.h"
#include "feature/packed_cells.h"
#include "train/factors.h"
#include "graph_training.h"

enum { LABELS = 18, TOKENS = 5, SENTENCES = 8, TEXTS = 4, EDGE = 1 };

static const char *const text[TEXTS] = {"ape", "bee", "cow", "doe"};

/* Chains of variables with 18 labels: priors and edges with text. */
static void add_chain(trl_graph_corpus *c, trl_rng *rng, double weight)
{
    trl_error err;
    trl_graph *g;
    uint32_t y[TOKENS], family[2 * TOKENS], n = 0;
    size_t begin[2 * TOKENS + 1] = {0};
    trl_attr attr[2 * TOKENS];
    assert_ok(trl_graph_new(&g, &err));
    for (uint32_t t = 0; t < TOKENS; t++) {
        const char *word = text[trl_rng_below(rng, TEXTS)];
        y[t] = (uint32_t)trl_rng_below(rng, LABELS);
        assert_ok(trl_graph_add_variable(g, LABELS, &err));
        for (uint32_t f = 0; f <= (t > 0); f++) {
            const uint32_t v[] = {f ? t - 1 : t, t};
            assert_ok(trl_graph_add_table(g, f ? LABELS * LABELS : LABELS, NULL, &err));
            assert_ok(trl_graph_add_factor(g, 1 + f, v, n, &err));
            attr[n] = (trl_attr){{word, 3}, 1.0};
            family[n++] = f;
            begin[n] = n;
        }
    }
    assert_ok(trl_graph_corpus_add(
        c,
        &(trl_graph_case){
            .graph = g, .family = family, .begin = begin, .attr = attr, .y = y, .weight = weight},
        &err));
}

static void problem_open(problem *p, const char *objective, const char *optimizer, bool all)
{
    static const size_t width[] = {LABELS, LABELS * LABELS};
    trl_error err;
    trl_infer_options infer = trl_infer_options_default();
    trl_rng rng = trl_rng_seed(5);
    infer.tolerance = 1e-12;
    p->o = trl_train_options_default();
    p->o.objective = objective, p->o.optimizer = optimizer, p->o.threads = 1, p->o.c2 = 0.2;
    assert_ok(trl_graph_corpus_init(&p->corpus, width, 2, &err));
    assert_ok(trl_corpus_set_constant(&p->corpus.corpus, EDGE, &err));
    for (size_t e = 0; e < SENTENCES; e++)
        add_chain(&p->corpus, &rng, e % 2 ? 1.0 : 2.5);
    p->corpus.all_cells = all ? UINT64_C(1) << EDGE : 0;
    assert_ok(trl_graph_training_init(&p->t, &p->corpus, &p->o, &infer, &err));
}

/* Where the weight of attribute `name` (or the constant) and the factor's own cell is; UINT64_MAX:
 * nowhere. */
static uint64_t place(const trl_family *f, uint32_t name, bool constant, size_t own)
{
    const size_t cell = trl_cell_place(f, own);
    if (cell == TRL_NO_ID)
        return UINT64_MAX;
    for (size_t i = 0; constant && i < f->n_constant; i++)
        if (f->constant_cell[i] == cell)
            return f->constant_at + i;
    for (size_t a = 0; !constant && a < f->n_attrs; a++) {
        if (f->name[a] != name)
            continue;
        if (a < f->n_dense)
            return !f->live || (f->live[a * f->words + cell / 64] >> (cell % 64) & 1)
                       ? trl_dense_at(f, a) + cell
                       : UINT64_MAX;
        for (uint64_t e = f->entry_first[a - f->n_dense]; e < f->entry_first[a - f->n_dense + 1];
             e++)
            if (f->entry_cell[e] == cell)
                return trl_entry_at(f, e);
    }
    return UINT64_MAX;
}

/* from -> to: weights of the first problem to those of the second, or (back) gradients of the
 * second to those of the first. */
static void carry(const problem *a, const problem *b, const double *from, double *to, bool back)
{
    for (size_t k = 0; k < 2; k++) {
        const trl_family *x = &a->t.design.family[k], *y = &b->t.design.family[k];
        const size_t cells = k == EDGE ? LABELS * LABELS : LABELS;
        for (uint32_t name = 0; name < a->corpus.corpus.family[k].names.n; name++)
            for (size_t c = 0; c < cells; c++) {
                const bool constant = name == a->corpus.corpus.family[k].constant;
                const uint64_t i = place(x, name, constant, c), j = place(y, name, constant, c);
                if (i == UINT64_MAX)
                    continue;
                assert_true(j != UINT64_MAX);
                to[back ? i : j] = from[back ? j : i];
            }
    }
}

static void check_twin(const char *objective, const char *optimizer)
{
    problem p, all;
    trl_rng rng = trl_rng_seed(3);
    problem_open(&p, objective, optimizer, false);
    problem_open(&all, objective, optimizer, true);
    const trl_family *f = &p.t.design.family[EDGE];
    assert_non_null(f->cell);
    assert_true(f->width < LABELS * LABELS / 2 && f->full == LABELS * LABELS);
    assert_null(all.t.design.family[EDGE].cell);
    const size_t n = trl_design_alloc(&p.t.design), m = trl_design_alloc(&all.t.design);
    double *w = calloc(n, sizeof *w), *g = calloc(n, sizeof *g), *h = calloc(n, sizeof *h);
    double *wide = calloc(m, sizeof *wide), *slope = calloc(m, sizeof *slope);
    assert_true(w && g && h && wide && slope);
    for (size_t j = 0; j < p.t.design.n_weights; j++)
        h[j] = 2.0 * trl_rng_unit(&rng) - 1.0;
    carry(&p, &p, h, w, false); /* features alone: pads and dead cells stay 0 */
    carry(&p, &all, w, wide, false);
    const double F = value_at(&p, w, g);
    assert_near(value_at(&all, wide, slope), F, 1e-9 * F);
    memcpy(h, g, n * sizeof *h);
    carry(&p, &all, slope, h, true);
    for (size_t j = 0; j < p.t.design.n_weights; j++)
        assert_near(g[j], h[j], 1e-8 * (1.0 + fabs(g[j])));
    free(w), free(g), free(h), free(wide), free(slope);
    problem_close(&p);
    problem_close(&all);
}

static void test_twins(void **state)
{
    (void)state;
    static const char *const objective[] = {"piecewise",
                                            "piecewise-pseudolikelihood",
                                            "pseudolikelihood",
                                            "pseudolikelihood-edge",
                                            "likelihood",
                                            "bethe",
                                            "trw"};
    for (size_t k = 0; k < sizeof objective / sizeof *objective; k++)
        check_twin(objective[k], "lbfgs");
    check_twin("piecewise", "sdca");
    check_twin("piecewise-pseudolikelihood", "sdca");
}

static void test_spread_and_collect(void **state)
{
    (void)state;
    static const uint32_t cell[] = {1, 4, 5};
    const trl_packed_row p = {cell, 3, 7};
    const double a[] = {1, 2, 3}, b[] = {10, 20, 30};
    double out[7], back[3] = {100, 0, 0};
    trl_spread_cells(&p, a, b, out);
    static const double both[] = {0, 11, 0, 0, 22, 33, 0}, one[] = {0, 10, 0, 0, 20, 30, 0};
    assert_memory_equal(out, both, sizeof out);
    trl_collect_cells(&p, out, back);
    assert_true(back[0] == 111 && back[1] == 22 && back[2] == 33);
    trl_spread_cells(&p, NULL, b, out);
    assert_memory_equal(out, one, sizeof out);
}

/* a . s - value(s) is the dual at the scores that a is the adjoint of, and above it elsewhere. */
static void test_dual(void **state)
{
    (void)state;
    enum { N = 8 };
    trl_error err;
    trl_rng rng = trl_rng_seed(17);
    trl_arena arena = {0};
    for (size_t round = 0; round < 200; round++) {
        const size_t rest = round % 3 ? 5 : 0, gold = trl_rng_below(&rng, N);
        const double weight = round % 2 ? 1.0 : 0.7;
        double least = HUGE_VAL, first = 0.0, own = 0.0;
        float kept[N];
        for (size_t k = 0; k < 20; k++) {
            double s[N], a[N] = {0}, value, along = 0.0;
            for (size_t c = 0; c < N; c++)
                s[c] = 6.0 * trl_rng_unit(&rng) - 3.0;
            const trl_scored_factor f = {
                .score = s, .adjoint = a, .n_cells = N, .gold = gold, .rest = rest};
            const trl_factor_view x = {.n = 1, .factor = &f, .weight = weight, .arena = &arena};
            trl_arena_reset(&arena);
            assert_ok(trl_factor_piecewise(&x, &value, &err));
            for (size_t c = 0; k == 0 && c < N; c++)
                kept[c] = (float)a[c];
            if (k == 0)
                own = trl_factor_piecewise_dual(&f, N, kept, weight);
            for (size_t c = 0; c < N; c++)
                along += (double)kept[c] * s[c];
            first = k == 0 ? along - value : first;
            least = fmin(least, along - value);
        }
        assert_near(own, first, 1e-5);
        assert_true(least > own - 1e-5);
    }
    trl_arena_fini(&arena);
}

/* sdca ends by itself, at most 10 delta above the optimum. */
static void test_gap(void **state)
{
    (void)state;
    trl_error err;
    trl_train_result best, r;
    problem p;
    problem_open(&p, "piecewise", "lbfgs", false);
    p.o.epsilon = 1e-9, p.o.delta = 1e-12, p.o.c2 = 1.0;
    assert_ok(trl_graph_training_run(&p.t, &best, &err));
    problem_close(&p);
    problem_open(&p, "piecewise", "sdca", false);
    p.o.c2 = 1.0;
    assert_ok(trl_graph_training_run(&p.t, &r, &err));
    assert_non_null(strstr(r.ending, "% above the optimum"));
    assert_null(strstr(r.ending, "lbfgs"));
    assert_true(r.iterations % 4 == 0);
    assert_true(r.objective < (1.0 + 10.0 * p.o.delta) * best.objective);
    problem_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_twins),
                                       cmocka_unit_test(test_spread_and_collect),
                                       cmocka_unit_test(test_dual), cmocka_unit_test(test_gap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
