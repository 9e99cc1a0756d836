/* test_graph_objectives.c -- every objective on small graphs of every shape: its value against
 * enumeration, its adjoint against central differences, and what theory says of them. */
/* SPDX-License-Identifier: MIT */
#include "random_graph.h"

#include "graph_problem.h"

enum { MOST = 8 }; /* variables */

/* ---- random examples ---------------------------------------------------------------------------
 */

typedef struct random_example {
    trl_graph *graph; /* with all tables: enumeration's */
    graph_problem p;
    uint32_t y[MOST];
    bool forbidden; /* no labelling is allowed: there is no example */
} random_example;

/* Templates by their numbers of cells; some factors have none and keep their tables. */
static size_t tie(trl_rng *rng, const trl_graph_view *g, size_t *width, uint32_t *family)
{
    size_t n = 0;
    for (size_t a = 0; a < g->n_factors; a++) {
        const size_t cells = g->cell_at[a + 1] - g->cell_at[a];
        size_t f = 0;
        bool finite = true;
        for (size_t c = 0; c < cells; c++)
            finite = finite && g->table[g->table_of[a]][c] > -HUGE_VAL;
        while (f < n && width[f] != cells)
            f++;
        family[a] = TRL_NO_TEMPLATE;
        if (f == TRL_FAMILIES_MAX || !finite || trl_rng_below(rng, 6) == 0)
            continue;
        width[f] = cells;
        family[a] = (uint32_t)f;
        n = f == n ? n + 1 : n;
    }
    if (n == 0)
        width[n++] = 2;
    return n;
}

/* The same graph, with values only where there is no template. */
static trl_graph *without_values(const trl_graph_view *g, const uint32_t *family)
{
    trl_graph *out = NULL;
    trl_error err;
    assert_ok(trl_graph_new(&out, &err));
    for (size_t v = 0; v < g->n_variables; v++)
        assert_ok(trl_graph_add_variable(out, g->labels[v], &err));
    for (size_t a = 0; a < g->n_factors; a++) {
        const bool own = family[a] == TRL_NO_TEMPLATE;
        assert_ok(trl_graph_add_table(out, g->cell_at[a + 1] - g->cell_at[a],
                                      own ? g->table[g->table_of[a]] : NULL, &err));
        assert_ok(trl_graph_add_factor(out, g->scope_at[a + 1] - g->scope_at[a],
                                       g->scope + g->scope_at[a], (uint32_t)a, &err));
    }
    return out;
}

/* Row scores are the graph's tables, less what is shared. */
static void set_scores(trl_rng *rng, random_example *e, double scale)
{
    const trl_graph_view g = trl_graph_look(e->graph);
    const trl_graph_example *x = &e->p.corpus.example[0];
    for (size_t f = 0; f < e->p.corpus.corpus.n_families; f++)
        for (size_t c = 0; e->p.scores.shared[f] && c < e->p.scores.step[f]; c++)
            e->p.scores.shared[f][c] = scale * random_normal(rng);
    for (size_t a = 0; a < g.n_factors; a++) {
        const uint32_t f = x->family[a];
        double *theta = e->graph ? (double *)(uintptr_t)g.table[g.table_of[a]] : NULL;
        if (f == TRL_NO_TEMPLATE)
            continue;
        for (size_t c = 0; c < g.cell_at[a + 1] - g.cell_at[a]; c++) {
            const double shared = e->p.scores.shared[f] ? e->p.scores.shared[f][c] : 0.0;
            if (e->p.scores.row[f])
                e->p.scores.row[f][x->row[a] * e->p.scores.step[f] + c] = theta[c] - shared;
            else
                theta[c] = shared; /* instances without rows are all alike */
        }
    }
}

static void random_example_make(trl_rng *rng, const graph_recipe *r, random_example *e)
{
    size_t width[TRL_FAMILIES_MAX];
    uint32_t family[64];
    *e = (random_example){.graph = random_graph(rng, r)};
    const trl_graph_view g = trl_graph_look(e->graph);
    assert_true(g.n_factors <= 64 && g.n_variables <= MOST);
    for (int tries = 0; tries < 200; tries++) {
        for (size_t v = 0; v < g.n_variables; v++)
            e->y[v] = (uint32_t)trl_rng_below(rng, g.labels[v]);
        if (trl_graph_score(e->graph, NULL, e->y) > -HUGE_VAL)
            break;
    }
    e->forbidden = !(trl_graph_score(e->graph, NULL, e->y) > -HUGE_VAL);
    const size_t n = tie(rng, &g, width, family);
    graph_problem_make(&e->p, width, n, without_values(&g, family), family, e->y,
                       0.5 + trl_rng_unit(rng));
    set_scores(rng, e, r->scale);
}

static void random_example_fini(random_example *e)
{
    graph_problem_fini(&e->p);
    trl_graph_free(e->graph);
}

static graph_recipe recipe(int round)
{
    static const double scale[] = {0.3, 1.0, 3.0};
    return (graph_recipe){.shape = (graph_shape)(round % SHAPES),
                          .scale = scale[round / SHAPES % 3],
                          .zeros = round % 4 == 3 ? 0.1 : 0.0,
                          .unary = round % 3 != 0};
}

/* ---- definitions -------------------------------------------------------------------------------
 */

/* log p of the true labels of the variables that are free, by the factors from .. to - 1. */
static long double term(const random_example *e, const bool *free_variable, size_t from, size_t to)
{
    const trl_graph_view g = trl_graph_look(e->graph);
    uint32_t fixed[MOST], y[MOST];
    long double z = 0.0L, gold = 0.0L;
    for (size_t v = 0; v < g.n_variables; v++) {
        fixed[v] = free_variable[v] ? TRL_UNOBSERVED : e->y[v];
        y[v] = free_variable[v] ? 0 : e->y[v];
    }
    for (size_t a = from; a < to; a++)
        gold += (long double)g.table[g.table_of[a]][cell_of(&g, a, e->y)];
    do {
        long double s = -gold;
        for (size_t a = from; a < to; a++)
            s += (long double)g.table[g.table_of[a]][cell_of(&g, a, y)];
        z += expl(s);
    } while (next_labelling(&g, y, fixed));
    return -logl(z);
}

static void free_factor(const trl_graph_view *g, size_t a, bool *f)
{
    memset(f, 0, MOST * sizeof *f);
    for (size_t k = g->scope_at[a]; k < g->scope_at[a + 1]; k++)
        f[g->scope[k]] = true;
}

static double by_likelihood(const random_example *e)
{
    const bool all[MOST] = {1, 1, 1, 1, 1, 1, 1, 1};
    return (double)term(e, all, 0, trl_graph_look(e->graph).n_factors);
}

static double by_pseudo(const random_example *e)
{
    const trl_graph_view g = trl_graph_look(e->graph);
    long double sum = 0.0L;
    for (size_t v = 0; v < g.n_variables; v++) {
        bool f[MOST] = {0};
        f[v] = true;
        sum += term(e, f, 0, g.n_factors);
    }
    return (double)sum;
}

static double by_pseudo_edge(const random_example *e)
{
    const trl_graph_view g = trl_graph_look(e->graph);
    bool f[MOST], held[MOST] = {0};
    long double sum = 0.0L;
    for (size_t a = 0; a < g.n_factors; a++) {
        if (g.scope_at[a + 1] - g.scope_at[a] < 2)
            continue;
        free_factor(&g, a, f);
        sum += term(e, f, 0, g.n_factors);
        for (size_t v = 0; v < MOST; v++)
            held[v] = held[v] || f[v];
    }
    for (size_t v = 0; v < g.n_variables; v++) {
        memset(f, 0, sizeof f);
        f[v] = true;
        sum += held[v] ? 0.0L : term(e, f, 0, g.n_factors);
    }
    return (double)sum;
}

static double by_piecewise(const random_example *e)
{
    const trl_graph_view g = trl_graph_look(e->graph);
    bool f[MOST];
    long double sum = 0.0L;
    for (size_t a = 0; a < g.n_factors; a++) {
        free_factor(&g, a, f);
        sum += term(e, f, a, a + 1);
    }
    return (double)sum;
}

static double by_pwpl(const random_example *e)
{
    const trl_graph_view g = trl_graph_look(e->graph);
    long double sum = 0.0L;
    for (size_t a = 0; a < g.n_factors; a++)
        for (size_t k = g.scope_at[a]; k < g.scope_at[a + 1]; k++) {
            bool f[MOST] = {0};
            f[g.scope[k]] = true;
            sum += term(e, f, a, a + 1);
        }
    return (double)sum;
}

static double by_perceptron(const random_example *e)
{
    graph_truth t = enumerate(e->graph, NULL, NULL);
    const double value = trl_graph_score(e->graph, NULL, e->y) - t.best;
    truth_fini(&t);
    return value;
}

static const struct {
    const char *name;
    double (*value)(const random_example *e);
} definitions[] = {{"likelihood", by_likelihood},
                   {"pseudolikelihood", by_pseudo},
                   {"pseudolikelihood-edge", by_pseudo_edge},
                   {"piecewise", by_piecewise},
                   {"piecewise-pseudolikelihood", by_pwpl},
                   {"perceptron", by_perceptron}};

static void test_definitions(void **state)
{
    (void)state;
    const trl_infer_options infer = trl_infer_options_default();
    trl_rng rng = trl_rng_seed(71);
    for (int round = 0; round < 150; round++) {
        random_example e;
        const graph_recipe r = recipe(round);
        random_example_make(&rng, &r, &e);
        for (size_t k = 0; !e.forbidden && k < sizeof definitions / sizeof *definitions; k++) {
            graph_problem_objective(&e.p, definitions[k].name, &infer);
            assert_near(graph_problem_value(&e.p),
                        e.p.corpus.corpus.weight[0] * definitions[k].value(&e), 1e-10);
            check_slopes(&e.p, &rng, definitions[k].name, 2, 1e-6);
        }
        random_example_fini(&e);
    }
}

/* ---- estimates ---------------------------------------------------------------------------------
 */

/* Bethe's and the tree-reweighted value have the gradient they say where messages settled; on trees
 * they are the likelihood, and the second never is above it. */
static void test_estimates(void **state)
{
    (void)state;
    trl_infer_options infer = trl_infer_options_default();
    trl_rng rng = trl_rng_seed(72);
    size_t settled = 0;
    infer.tolerance = 1e-13;
    for (int round = 0; round < 120; round++) {
        random_example e;
        const graph_recipe r = recipe(round);
        const bool trw = round % 2, tree = r.shape == SHAPE_TREE;
        uint64_t runs, unsettled;
        random_example_make(&rng, &r, &e);
        if (!e.forbidden) {
            const double exact = e.p.corpus.corpus.weight[0] * by_likelihood(&e);
            infer.damping = trw ? 0.5 : 0.0;
            graph_problem_objective(&e.p, trw ? "trw" : "bethe", &infer);
            const double value = graph_problem_value(&e.p);
            if (tree)
                assert_near(value, exact, 1e-9);
            trl_graph_task_runs(&e.p.task, &runs, &unsettled);
            assert_int_equal(runs, 1);
            if (trw && !unsettled)
                assert_true(value <= exact + 1e-9);
            if (!unsettled && r.scale <= 1.0)
                check_slopes(&e.p, &rng, trw ? "trw" : "bethe", 1, 2e-6);
            settled += !unsettled;
        }
        random_example_fini(&e);
    }
    assert_true(settled > 80);
}

/* What variables in no factor add to log Z. */
static double loose(const trl_graph *graph)
{
    const trl_graph_view g = trl_graph_look(graph);
    double sum = 0.0;
    for (uint32_t v = 0; v < g.n_variables; v++) {
        bool held = false;
        for (size_t k = 0; k < g.scope_at[g.n_factors]; k++)
            held = held || g.scope[k] == v;
        sum += held ? 0.0 : log(g.labels[v]);
    }
    return sum;
}

/* A <= sum A_a, and less as a rule. */
static void test_piecewise_bounds_the_likelihood(void **state)
{
    (void)state;
    const trl_infer_options infer = trl_infer_options_default();
    trl_rng rng = trl_rng_seed(73);
    size_t strict = 0;
    for (int round = 0; round < 200; round++) {
        random_example e;
        const graph_recipe r = recipe(round);
        random_example_make(&rng, &r, &e);
        if (!e.forbidden) {
            graph_problem_objective(&e.p, "likelihood", &infer);
            const double likelihood =
                graph_problem_value(&e.p) + e.p.corpus.corpus.weight[0] * loose(e.graph);
            graph_problem_objective(&e.p, "piecewise", &infer);
            assert_true(graph_problem_value(&e.p) <= likelihood + 1e-9);
            strict += graph_problem_value(&e.p) < likelihood - 1e-3;
        }
        random_example_fini(&e);
    }
    assert_true(strict > 100);
}

/* Pieces of several templates: between single factors and the likelihood, which is one piece of
 * all; the adjoint is the value's. */
static void test_pieces(void **state)
{
    (void)state;
    const trl_infer_options infer = trl_infer_options_default();
    trl_rng rng = trl_rng_seed(74);
    size_t tighter = 0;
    for (int round = 0; round < 150; round++) {
        random_example e;
        const graph_recipe r = recipe(round);
        random_example_make(&rng, &r, &e);
        if (!e.forbidden) {
            graph_problem_objective(&e.p, "likelihood", &infer);
            const double likelihood =
                graph_problem_value(&e.p) + e.p.corpus.corpus.weight[0] * loose(e.graph);
            graph_problem_objective(&e.p, "piecewise", &infer);
            const double single = graph_problem_value(&e.p);
            e.p.corpus.has_pieces = true;
            for (size_t f = 0; f < e.p.corpus.corpus.n_families; f++)
                e.p.corpus.piece[f] =
                    trl_rng_below(&rng, 4) ? (uint32_t)trl_rng_below(&rng, 2) : TRL_ALONE;
            graph_problem_objective(&e.p, "piecewise", &infer);
            const double pieces = graph_problem_value(&e.p);
            assert_true(single <= pieces + 1e-9 && pieces <= likelihood + 1e-9);
            tighter += pieces > single + 1e-3;
            check_slopes(&e.p, &rng, "pieces", 2, 1e-6);
        }
        random_example_fini(&e);
    }
    assert_true(tighter > 50);
}

/* ---- refusals ----------------------------------------------------------------------------------
 */

static void test_bad_scores(void **state)
{
    (void)state;
    const trl_infer_options infer = trl_infer_options_default();
    const size_t width[] = {2, 4};
    trl_error err;
    for (size_t k = 0; trl_objective_at(k); k++) {
        graph_problem p;
        double value;
        trl_graph *g = NULL;
        if (!(trl_objective_at(k)->kinds & TRL_KIND_GRAPH))
            continue;
        assert_ok(trl_graph_new(&g, &err));
        for (uint32_t v = 0; v < 2; v++) {
            assert_ok(trl_graph_add_variable(g, 2, &err));
            assert_ok(trl_graph_add_table(g, 2, NULL, &err));
            assert_ok(trl_graph_add_factor(g, 1, &v, v, &err));
        }
        assert_ok(trl_graph_add_table(g, 4, NULL, &err));
        assert_ok(trl_graph_add_factor(g, 2, (uint32_t[]){0, 1}, 2, &err));
        graph_problem_make(&p, width, 2, g, (uint32_t[]){0, 0, 1}, (uint32_t[]){1, 0}, 1.0);
        graph_problem_objective(&p, trl_objective_at(k)->name, &infer);
        assert_int_equal(graph_problem_try(&p, &value, &err), TRL_OK);
        for (int round = 0; round < 2; round++) {
            p.scores.row[0][p.scores.step[0]] = round ? nan("") : HUGE_VAL;
            assert_int_equal(graph_problem_try(&p, &value, &err), TRL_ENUMERIC);
        }
        graph_problem_fini(&p);
    }
}

static trl_graph *pair_graph(size_t tables)
{
    trl_error err;
    trl_graph *g = NULL;
    assert_ok(trl_graph_new(&g, &err));
    for (uint32_t v = 0; v < 2; v++)
        assert_ok(trl_graph_add_variable(g, 2, &err));
    for (size_t k = 0; k < tables; k++)
        assert_ok(trl_graph_add_table(g, 2, NULL, &err));
    for (uint32_t v = 0; v < 2; v++)
        assert_ok(trl_graph_add_factor(g, 1, &v, tables > 1 ? v : 0, &err));
    return g;
}

static void test_bad_examples(void **state)
{
    (void)state;
    static const trl_attr attr = {{"a", 1}, 1.0};
    static const struct {
        size_t tables;
        uint32_t family[2], y[2];
        size_t begin[3];
        const char *says;
    } bad[] = {{2, {0, 9}, {0, 0}, {0, 0, 0}, "no template 9"},
               {2, {0, 1}, {0, 0}, {0, 0, 0}, "has 2 cells, its template 3"},
               {2, {0, TRL_NO_TEMPLATE}, {0, 0}, {0, 0, 0}, "neither a template nor values"},
               {2, {0, 0}, {0, 2}, {0, 0, 0}, "variable 1 has no label 2"},
               {1, {0, 0}, {0, 0}, {0, 0, 1}, "cannot share a table"},
               {1, {0, 2}, {0, 0}, {0, 0, 0}, "cannot share a table"},
               {3, {0, 0}, {0, 0}, {0, 0, 0}, "table 2 has neither"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        trl_graph_corpus c;
        trl_error err;
        assert_ok(trl_graph_corpus_init(&c, (size_t[]){2, 3, 2}, 3, &err));
        const trl_graph_case x = {.graph = pair_graph(bad[k].tables),
                                  .family = bad[k].family,
                                  .begin = bad[k].begin,
                                  .attr = &attr,
                                  .y = bad[k].y,
                                  .weight = 1.0};
        assert_int_equal(trl_graph_corpus_add(&c, &x, &err), TRL_EINVAL);
        if (!strstr(err.msg, bad[k].says))
            fail_msg("case %zu says '%s'", k, err.msg);
        trl_graph_corpus_fini(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_definitions),
                                       cmocka_unit_test(test_estimates),
                                       cmocka_unit_test(test_piecewise_bounds_the_likelihood),
                                       cmocka_unit_test(test_pieces),
                                       cmocka_unit_test(test_bad_scores),
                                       cmocka_unit_test(test_bad_examples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
