/* test_graph_bp.c -- linear messages, by vector kernels, against logarithms, by plain loops.
 *
 * After the same number of updates of the same schedule both have the same messages, whatever the
 * semiring, the weights and the factors: every kernel that a schedule uses is held to its plain
 * twin, update by update.
 */
/* SPDX-License-Identifier: MIT */
#include "random_graph.h"

#include "graph/bp.h"

typedef struct bp_case {
    trl_graph_view g;
    trl_layout *l;
    bool weighted, maximise;
    int schedule;
    uint64_t updates;
} bp_case;

/* Messages after the updates; NULL: the range was left.  To be freed. */
static double *messages_after(const bp_case *c, bool log, uint64_t *done)
{
    trl_arena arena = {0};
    trl_error err = {0};
    trl_bp b = {.g = &c->g,
                .l = c->l,
                .table = c->g.table,
                .rho = c->weighted ? c->l->rho : NULL,
                .maximise = c->maximise,
                .log = log};
    uint64_t iterations;
    bool failed;
    assert_ok(trl_bp_init(&b, &arena, NULL, &err));
    trl_bp_run(&b, c->schedule, &(trl_bp_limits){0.0, c->updates}, &arena, &iterations, &failed);
    assert_false(failed);
    double *m = malloc((c->l->message_at[c->l->n_edges] + 1) * sizeof *m);
    assert_non_null(m);
    trl_bp_export(&b, m);
    *done = b.updates;
    if (b.range) {
        free(m);
        m = NULL;
    }
    trl_arena_fini(&arena);
    return m;
}

static void compare(const bp_case *c, size_t *compared)
{
    uint64_t linear_updates, log_updates;
    double *linear = messages_after(c, false, &linear_updates);
    double *logs = messages_after(c, true, &log_updates);
    assert_true(linear || !logs); /* only a forbidden graph has no messages at this range */
    if (linear && logs && linear_updates == log_updates) {
        ++*compared;
        for (size_t i = 0; i < c->l->message_at[c->l->n_edges]; i++)
            if (!(fabs(linear[i] - logs[i]) <= 1e-10))
                fail_msg("schedule %d, %d updates, %s%s: [%zu] is %.17g, not %.17g", c->schedule,
                         (int)c->updates, c->weighted ? "weighted" : "plain",
                         c->maximise ? ", max" : "", i, linear[i], logs[i]);
    }
    free(linear);
    free(logs);
}

/* distinct: no two messages are alike. */
static void check_graph(trl_rng *rng, const trl_graph *g, bool distinct, size_t *compared)
{
    trl_error err = {0};
    bp_case c = {.g = trl_graph_look(g)};
    assert_ok(trl_layout_new(&c.g, NULL, &c.l, &err));
    assert_ok(trl_layout_forests(&c.g, c.l, &err));
    assert_ok(trl_layout_weights(&c.g, NULL, c.l, &err));
    for (int k = 0; k < 16; k++) {
        c.schedule = k % 4;
        c.weighted = k / 4 % 2;
        c.maximise = k / 8;
        if ((c.maximise || !distinct) && c.schedule == TRL_SCHEDULE_RESIDUAL)
            continue; /* of equal changes, rounding decides which is first; of maxima they often are
                       */
        c.updates = 1 + trl_rng_below(rng, 2 * c.l->n_messages + 1);
        compare(&c, compared);
    }
    trl_layout_free(c.l);
}

static void test_small(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(41);
    size_t compared = 0;
    for (int round = 0; round < 150; round++) {
        const graph_recipe how = {.shape = (graph_shape)(round % SHAPES),
                                  .scale = 1.5,
                                  .zeros = round % 3 == 1 ? 0.2 : 0.0,
                                  .unary = round % 4 > 0,
                                  .shared = round % 2};
        trl_graph *g = random_graph(&rng, &how);
        check_graph(&rng, g, !how.shared, &compared);
        trl_graph_free(g);
    }
    assert_true(compared > 1500);
}

/* Rows of all widths: two variables of n and k labels, a third that closes the cycle. */
static void test_widths(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(42);
    size_t compared = 0;
    static const uint32_t labels[] = {1, 2, 3, 4, 5, 8, 9, 16, 17, 23, 24, 25, 44};
    const graph_recipe how = {.scale = 1.0};
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        for (size_t j = 0; j <= i; j++) {
            trl_error err = {0};
            trl_graph *g = NULL;
            assert_ok(trl_graph_new(&g, &err));
            assert_ok(trl_graph_add_variable(g, labels[i], &err));
            assert_ok(trl_graph_add_variable(g, labels[j], &err));
            assert_ok(trl_graph_add_variable(g, 3, &err));
            random_factor(&rng, g, &how, 2, (uint32_t[]){0, 1});
            random_factor(&rng, g, &how, 2, (uint32_t[]){2, 1});
            random_factor(&rng, g, &how, 2, (uint32_t[]){0, 2});
            check_graph(&rng, g, true, &compared);
            trl_graph_free(g);
        }
    assert_true(compared > 1000);
}

/* The edges of a spanning forest of pairs, and those that lead to a variable of one label. */
static size_t forest_edges(const trl_graph_view *g)
{
    size_t n = 0;
    uint32_t part[16];
    for (uint32_t v = 0; v < g->n_variables; v++)
        part[v] = v;
    for (size_t e = 0; e < g->scope_at[g->n_factors]; e += 2) {
        const uint32_t u = g->scope[e], w = g->scope[e + 1], from = part[u], to = part[w];
        const bool is_fixed = g->labels[u] == 1 || g->labels[w] == 1;
        n += is_fixed || from != to;
        for (uint32_t v = 0; v < g->n_variables && !is_fixed; v++)
            part[v] = part[v] == from ? to : part[v];
    }
    return n;
}

/* Weights of spanning trees: in (0, 1]; without cycles 1; they sum to the edges of a spanning
 * forest, and to 1 for each edge of a variable that is fixed. */
static void test_weights(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(43);
    for (int round = 0; round < 200; round++) {
        const graph_recipe how = {.shape = round % 2 ? SHAPE_TREE : SHAPE_GRID, .scale = 1.0};
        trl_graph *g = random_graph(&rng, &how);
        const trl_graph_view look = trl_graph_look(g);
        trl_error err = {0};
        trl_layout *l = NULL;
        double sum = 0.0;
        assert_ok(trl_layout_new(&look, NULL, &l, &err));
        assert_ok(trl_layout_weights(&look, NULL, l, &err));
        for (size_t e = 0; e < l->n_edges; e++) {
            assert_true(l->rho[e] > 0.0 && l->rho[e] <= 1.0);
            assert_true(how.shape != SHAPE_TREE || l->rho[e] == 1.0);
            sum += l->rho[e] / 2.0; /* both edges of a pair have its weight */
        }
        assert_near(sum, (double)forest_edges(&look), 1e-12);
        trl_layout_free(l);
        trl_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
