/* test_graph_oracle.c -- libDAI's junction tree, belief propagation and best labelling, to their
 * digits. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "trellis/graph.h"

static const char *const names[] = {"chain", "cycle", "factorial", "grid4",
                                    "skip",  "tree",  "triples"};

static trl_infer_result run(const trl_graph *g, trl_infer_method method, bool best,
                            trl_infer_plan **plan, trl_infer_work **work)
{
    trl_error err = {0};
    trl_infer_options o = trl_infer_options_default();
    trl_infer_result r;
    o.method = method;
    o.tolerance = 1e-12;
    assert_ok(trl_infer_plan_new(g, &o, plan, &err));
    assert_ok(trl_infer_work_new(work, &err));
    if (best)
        assert_ok(trl_infer_best(*plan, NULL, *work, &r, &err));
    else
        assert_ok(trl_infer_marginals(*plan, NULL, *work, &r, &err));
    return r;
}

/* `SECTION.KIND number p p p ...` */
static void check_row(const char *row, const char *kind, const trl_graph_view *g,
                      const trl_infer_result *r, double tol)
{
    char *end;
    const size_t k = strtoul(row, &end, 10);
    const bool variable = strcmp(kind, "var") == 0;
    const size_t *at = variable ? g->label_at : g->cell_at;
    const double *p = variable ? r->variable : r->factor;
    assert_true(k < (variable ? g->n_variables : g->n_factors));
    for (size_t i = at[k]; i < at[k + 1]; i++)
        assert_near(p[i], strtod(end, &end), tol);
}

static size_t check_line(char *line, const trl_graph *graph, const trl_infer_result *exact,
                         const trl_infer_result *bp, const trl_infer_result *best)
{
    const trl_graph_view g = trl_graph_look(graph);
    const bool is_bp = strncmp(line, "bp.", 3) == 0;
    const trl_infer_result *r = is_bp ? bp : exact;
    const double tol = is_bp ? 1e-6 : 1e-8;
    char *rest = strchr(line, ' ');
    assert_non_null(rest);
    *rest++ = '\0';
    const char *kind = strchr(line, '.');
    if (strcmp(line, "map.logscore") == 0)
        assert_near(best->score, strtod(rest, NULL), 1e-8);
    else if (strcmp(line, "map") == 0)
        for (size_t v = 0; v < g.n_variables; v++)
            assert_int_equal(best->y[v], strtoul(rest, &rest, 10));
    else if (strcmp(kind, ".logZ") == 0)
        assert_near(r->log_z, strtod(rest, NULL), tol);
    else if (strcmp(kind, ".var") == 0 || strcmp(kind, ".factor") == 0)
        check_row(rest, kind + 1, &g, r, tol);
    else
        return 0;
    return 1;
}

static void check_graph(const char *root, const char *name)
{
    char path[600], line[1 << 16];
    trl_error err = {0};
    trl_graph *g = NULL;
    trl_infer_plan *plan[3];
    trl_infer_work *work[3];
    snprintf(path, sizeof path, "%s/graph/%s.fg", root, name);
    assert_ok(trl_graph_read(path, TRL_GRAPH_GUESS, 0, &g, &err));
    const trl_infer_result exact = run(g, TRL_INFER_EXACT, false, &plan[0], &work[0]);
    const trl_infer_result bp = run(g, TRL_INFER_BP, false, &plan[1], &work[1]);
    const trl_infer_result best = run(g, TRL_INFER_EXACT, true, &plan[2], &work[2]);
    snprintf(path, sizeof path, "%s/graph/%s.expected", root, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t checked = 0;
    while (fgets(line, sizeof line, f))
        checked += check_line(line, g, &exact, &bp, &best);
    fclose(f);
    assert_true(checked > 10);
    for (int k = 0; k < 3; k++) {
        trl_infer_plan_free(plan[k]);
        trl_infer_work_free(work[k]);
    }
    trl_graph_free(g);
}

static void test_oracle(void **state)
{
    (void)state;
    const char *root = test_folder("TRELLIS_ORACLES", "../shared/oracles");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        check_graph(root, names[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
