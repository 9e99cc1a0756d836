/* test_graph_model.c -- from a model file and columns to labels: a graph that is a chain gives the
 * chain's numbers; small graphs are enumerated; documents, known labels, starts, checkpoints. */
/* SPDX-License-Identifier: MIT */
#include "graph_setup.h"
#include "trellis/graph_model.h"

static const char chain_file[] = "labels y column 2\n"
                                 "score y\n"
                                 "template words\n"
                                 "  U:%x[0,0]\n"
                                 "  U:%x[-1,0]/%x[0,0]\n"
                                 "  U:%x[0,1]\n"
                                 "factor y[i] features words plain no\n"
                                 "factor y[i-1] y[i]\n";

static const char factorial_file[] = "labels tag column 1\n"
                                     "labels y column 2\n"
                                     "template words\n"
                                     "  U:%x[0,0]\n"
                                     "factor tag[i] features words\n"
                                     "factor y[i] features words\n"
                                     "factor tag[i-1] tag[i]\n"
                                     "factor edges: y[i-1] y[i] features words at i-1, i apart\n"
                                     "factor between: tag[i] y[i] cells all\n";

static const char skip_file[] = "unit document\n"
                                "labels y column 2\n"
                                "template words\n"
                                "  U:%x[0,0]\n"
                                "factor y[i] features words\n"
                                "factor y[i-1] y[i]\n"
                                "factor skip: y[i] y[j] where %x[i,0] = %x[j,0] and j-i < 40\n";

/* ---- chains ---------------------------------------------------------------------------------- */

/* All sentences of a file by both taggers: labels, marginals and log Z. */
static void compare_taggers(const char *chain, const char *graph, const char *data, double tol)
{
    trl_error err;
    trl_model *m = NULL;
    trl_graph_model *g = NULL;
    trl_tagger *a = NULL;
    trl_graph_tagger *b = NULL;
    trl_reader *r = NULL;
    assert_ok(trl_model_open(chain, &m, &err));
    assert_ok(trl_graph_model_open(graph, &g, &err));
    assert_ok(trl_tagger_new(m, &a, &err));
    assert_ok(trl_graph_tagger_new(g, NULL, &b, &err));
    assert_ok(trl_reader_open(data, TRL_FORMAT_COLUMNS, &r, &err));
    const size_t L = trl_model_get_info(m).n_labels;
    assert_int_equal(trl_graph_model_layer(g, 0).n_labels, L);
    for (;;) {
        trl_rows seq;
        bool more;
        uint32_t y[2][20];
        double p[2][200], score, log_z;
        trl_graph_answer answer;
        assert_ok(trl_reader_rows(r, &seq, &more, &err));
        if (!more)
            break;
        assert_ok(trl_tagger_set_rows(a, &seq, &err));
        assert_ok(trl_tagger_viterbi(a, y[0], &score, &err));
        assert_ok(trl_tagger_marginals(a, p[0], &err));
        assert_ok(trl_tagger_log_z(a, &log_z, &err));
        trl_graph_tagger_clear(b);
        assert_ok(trl_graph_tagger_add(b, &seq, &err));
        assert_ok(trl_graph_tagger_best(b, y[1], &answer, &err));
        assert_true(answer.exact && answer.converged);
        assert_near(answer.score, score, tol);
        assert_ok(trl_graph_tagger_marginals(b, p[1], &answer, &err));
        assert_true(answer.exact);
        assert_near(answer.log_z, log_z, tol);
        for (size_t t = 0; t < seq.n_tokens; t++) {
            const trl_str want = trl_model_label(m, y[0][t]);
            assert_int_equal(trl_graph_model_find_label(g, 0, want), y[1][t]);
            for (size_t k = 0; k < L; k++) {
                const uint32_t there = trl_graph_model_find_label(g, 0, trl_model_label(m, k));
                assert_near(p[1][t * L + there], p[0][t * L + k], tol);
            }
        }
    }
    trl_reader_free(r);
    trl_graph_tagger_free(b);
    trl_tagger_free(a);
    trl_graph_model_free(g);
    trl_model_free(m);
}

/* The same objective, step by step, with every objective that both have. */
static void test_chain(void **state)
{
    (void)state;
    static const char *const objectives[] = {"likelihood", "pseudolikelihood",
                                             "pseudolikelihood-edge"};
    const char *data = make_data(1, 40);
    for (size_t k = 0; k < 3; k++) {
        setup a, b;
        setup_make(&a, data);
        a.o.objective = objectives[k];
        a.o.max_iter = 6;
        a.o.precision = "double";
        a.o.model = in_folder("chain.model");
        a.o.dev = data;
        train(&a);
        graph_setup(&b, data, chain_file);
        b.o.objective = objectives[k];
        b.o.max_iter = 6;
        b.o.dev = data;
        b.o.model = in_folder("graph.model");
        train(&b);
        assert_near(b.result.objective, a.result.objective, 1e-10);
        assert_near(b.result.dev_score, a.result.dev_score, 0.0);
        assert_int_equal(b.result.n_features, a.result.n_features);
        compare_taggers(a.o.model, b.o.model, data, 1e-6); /* weights are floats */
    }
}

/* A graph starts with the chain's weights, and has its objective then: at the chain's optimum there
 * is nothing left to gain. */
static void test_start_from_chain(void **state)
{
    (void)state;
    const char *data = make_data(2, 40);
    setup a, b;
    setup_make(&a, data);
    a.o.precision = "double";
    a.o.delta = 1e-9;
    a.o.model = in_folder("chain.model");
    train(&a);
    graph_setup(&b, data, chain_file);
    b.o.init = a.o.model;
    b.o.max_iter = 1;
    b.o.model = in_folder("graph.model");
    train(&b);
    assert_near(b.result.objective, a.result.objective, 1e-6);
}

/* ---- enumeration ----------------------------------------------------------------------------- */

typedef struct sum {
    double z, best;
    uint32_t y[24];
    double *p; /* [label_at] */
} sum;

static void enumerate(const trl_graph *graph, uint32_t *y, size_t v, sum *s)
{
    const trl_graph_view g = trl_graph_look(graph);
    if (v < g.n_variables) {
        for (y[v] = 0; y[v] < g.labels[v]; y[v]++)
            enumerate(graph, y, v + 1, s);
        return;
    }
    const double score = trl_graph_score(graph, NULL, y), w = exp(score);
    s->z += w;
    for (size_t k = 0; k < g.n_variables; k++)
        s->p[g.label_at[k] + y[k]] += w;
    if (score > s->best) {
        s->best = score;
        memcpy(s->y, y, g.n_variables * sizeof *y);
    }
}

static void check_tagger(trl_graph_tagger *t)
{
    trl_error err;
    trl_graph *graph = NULL;
    assert_ok(trl_graph_tagger_graph(t, &graph, &err));
    const trl_graph_view g = trl_graph_look(graph);
    double combinations = 1.0;
    for (size_t v = 0; v < g.n_variables; v++)
        combinations *= g.labels[v];
    if (combinations < 2e5) {
        uint32_t y[24];
        double p[200], q[200] = {0};
        sum s = {.best = -HUGE_VAL, .p = q};
        trl_graph_answer answer;
        enumerate(graph, y, 0, &s);
        assert_ok(trl_graph_tagger_marginals(t, p, &answer, &err));
        assert_near(answer.log_z, log(s.z), 1e-9);
        for (size_t k = 0; k < g.label_at[g.n_variables]; k++)
            assert_near(p[k], q[k] / s.z, 1e-9);
        assert_ok(trl_graph_tagger_best(t, y, &answer, &err));
        assert_near(answer.score, s.best, 1e-9);
    }
    trl_graph_free(graph);
}

static void enumerate_file(const char *model, const char *data)
{
    trl_error err;
    trl_graph_model *g = NULL;
    trl_graph_tagger *t = NULL;
    trl_reader *r = NULL;
    assert_ok(trl_graph_model_open(model, &g, &err));
    assert_ok(trl_graph_tagger_new(g, NULL, &t, &err));
    assert_ok(trl_reader_open(data, TRL_FORMAT_COLUMNS, &r, &err));
    trl_rows seq;
    for (bool more;;) {
        assert_ok(trl_reader_rows(r, &seq, &more, &err));
        if (!more)
            break;
        trl_graph_tagger_clear(t);
        assert_ok(trl_graph_tagger_add(t, &seq, &err));
        check_tagger(t);
    }
    trl_reader_free(r);
    trl_graph_tagger_free(t);
    trl_graph_model_free(g);
}

/* Every objective learns the training data better than nothing, and its model is solved exactly. */
static void test_factorial(void **state)
{
    (void)state;
    static const char *const objectives[] = {"likelihood",
                                             "bethe",
                                             "trw",
                                             "pseudolikelihood",
                                             "pseudolikelihood-edge",
                                             "piecewise",
                                             "piecewise-pseudolikelihood",
                                             "perceptron"};
    const char *data = make_data(3, 40);
    for (size_t k = 0; k < sizeof objectives / sizeof *objectives; k++) {
        setup s;
        graph_setup(&s, data, factorial_file);
        s.o.objective = objectives[k];
        s.o.dev = data;
        s.o.max_iter = 20;
        train(&s);
        assert_true(s.result.dev_score > 80.0);
        if (strcmp(objectives[k], "perceptron") != 0)
            enumerate_file(s.o.model, data);
    }
}

/* ---- pieces ---------------------------------------------------------------------------------- */

#define FACTORS                                                                                    \
    "labels tag column 1\nlabels y column 2\ntemplate words\n  U:%x[0,0]\n"                        \
    "factor a: tag[i] features words\nfactor b: y[i] features words\nfactor c: tag[i-1] tag[i]\n"  \
    "factor d: y[i-1] y[i]\nfactor e: tag[i] y[i]\n"

static double objective_of(const char *data, const char *model_file, const char *objective)
{
    setup s;
    graph_setup(&s, data, model_file);
    s.o.objective = objective;
    s.o.delta = 1e-9;
    train(&s);
    return s.result.objective;
}

/* One piece of everything is the likelihood; of pieces, larger ones bound it better. */
static void test_pieces(void **state)
{
    (void)state;
    const char *data = make_data(8, 30);
    const double exact = objective_of(data, FACTORS, "likelihood");
    const double whole = objective_of(data, FACTORS "piece a b c d e\n", "piecewise");
    const double chains = objective_of(data, FACTORS "piece a c\npiece b d\n", "piecewise");
    const double single = objective_of(data, FACTORS, "piecewise");
    assert_near(whole, exact, 1e-7);
    assert_true(exact < chains && chains < single);
    /* chains that nothing joins are trained exactly by their pieces */
#define APART "labels y column 2\nfactor b: y[i]\nfactor d: y[i-1] y[i]\n"
    assert_near(objective_of(data, APART "piece b d\n", "piecewise"),
                objective_of(data, APART, "likelihood"), 1e-7);
}

/* ---- documents ------------------------------------------------------------------------------- */

static const char *write_documents(const char *name)
{
    return write_file(name, "-DOCSTART-\n\n"
                            "a p A\nb p B\nc p A\n\n"
                            "a q A\nd q B\n\n"
                            "-DOCSTART-\n\n"
                            "d p B\na p B\n\n"
                            "-DOCSTART-\n\n"
                            "a p A\nc p A\n\nc p A\nb p B\n\n");
}

static void test_documents(void **state)
{
    (void)state;
    trl_error err;
    trl_graph_model *g = NULL;
    trl_graph_tagger *t = NULL;
    trl_graph *graph = NULL;
    setup s;
    graph_setup(&s, write_documents("documents"), skip_file);
    s.o.dev = s.o.train[0];
    train(&s);
    assert_ok(trl_graph_model_open(s.o.model, &g, &err));
    assert_true(trl_graph_model_get_info(g).document);
    assert_ok(trl_graph_tagger_new(g, NULL, &t, &err));
    const trl_str first[] = {{"a", 1}, {"b", 1}}, second[] = {{"a", 1}};
    assert_ok(
        trl_graph_tagger_add(t, &(trl_rows){.n_tokens = 2, .n_columns = 1, .cell = first}, &err));
    assert_ok(
        trl_graph_tagger_add(t, &(trl_rows){.n_tokens = 1, .n_columns = 1, .cell = second}, &err));
    assert_ok(trl_graph_tagger_graph(t, &graph, &err));
    assert_int_equal(trl_graph_look(graph).n_factors, 3 + 1 + 1); /* an edge, a skip edge */
    check_tagger(t);
    trl_graph_free(graph);
    trl_graph_tagger_free(t);
    trl_graph_model_free(g);
}

/* ---- known labels ---------------------------------------------------------------------------- */

static void test_known(void **state)
{
    (void)state;
    trl_error err;
    trl_graph_model *g = NULL;
    trl_graph_tagger *t = NULL;
    setup s;
    graph_setup(&s, make_data(4, 40), factorial_file);
    train(&s);
    assert_ok(trl_graph_model_open(s.o.model, &g, &err));
    trl_graph_tagger_options o = trl_graph_tagger_options_default();
    o.known = 1;
    assert_ok(trl_graph_tagger_new(g, &o, &t, &err));
    trl_str cell[] = {{"w1", 2}, {"p2", 2}, {"x", 1}, {"w2", 2}, {"_", 1}, {"x", 1}};
    const trl_rows rows = {
        .n_tokens = 2, .n_columns = 3, .cell = cell, .path = "f", .first_row = 7};
    uint32_t y[4];
    assert_ok(trl_graph_tagger_add(t, &rows, &err));
    assert_ok(trl_graph_tagger_best(t, y, NULL, &err));
    assert_int_equal(y[0], trl_graph_model_find_label(g, 0, (trl_str){"p2", 2}));
    cell[4] = (trl_str){"p9", 2}; /* not a label of the model */
    assert_ok(trl_graph_tagger_add(t, &rows, &err));
    assert_int_equal(trl_graph_tagger_best(t, y, NULL, &err), TRL_EPARSE);
    assert_int_equal(err.row, 8);
    assert_non_null(strstr(err.msg, "'p9' is not a label of 'tag'"));
    const trl_rows narrow = {.n_tokens = 1, .n_columns = 1, .cell = cell};
    assert_int_equal(trl_graph_tagger_add(t, &narrow, &err), TRL_EPARSE);
    trl_graph_tagger_free(t);
    trl_graph_model_free(g);
}

/* ---- the same bits --------------------------------------------------------------------------- */

static bool stop_at_4(void *ctx, const trl_progress *p)
{
    (void)ctx;
    return p->iteration >= 4;
}

static void test_same_bits(void **state)
{
    (void)state;
    const char *data = make_data(5, 40);
    setup a, b;
    graph_setup(&a, data, factorial_file);
    a.o.objective = "bethe";
    a.o.max_iter = 9;
    a.o.dev = data;
    a.o.model = in_folder("one");
    train(&a);
    b = a;
    b.o.train = b.train;
    b.o.model = in_folder("three");
    b.o.threads = 3;
    train(&b);
    assert_same_files(a.o.model, b.o.model);
    b.o.checkpoint = in_folder("checkpoint");
    b.o.checkpoint_every = 1;
    b.o.progress = stop_at_4;
    train(&b);
    assert_true(b.result.stopped);
    b.o.progress = NULL;
    b.o.resume = true;
    train(&b);
    assert_same_files(a.o.model, b.o.model);
}

/* From memory, into memory. */
static void test_memory(void **state)
{
    (void)state;
    trl_error err;
    const char *data = make_data(6, 20);
    trl_dataset *d = NULL;
    trl_reader *r = NULL;
    trl_buf out = {0};
    setup a;
    graph_setup(&a, data, factorial_file);
    a.o.max_iter = 5;
    train(&a);
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_reader_open(data, TRL_FORMAT_COLUMNS, &r, &err));
    for (;;) {
        trl_rows seq;
        bool more;
        assert_ok(trl_reader_rows(r, &seq, &more, &err));
        if (!more)
            break;
        assert_ok(trl_dataset_add_rows(d, &seq, 1, NULL, &err));
    }
    trl_reader_free(r);
    trl_train_options o = a.o;
    o.n_train = 0;
    o.data = d;
    o.model = NULL;
    o.model_out = &out;
    assert_ok(trl_train(&o, NULL, &err));
    FILE *f = fopen(in_folder("copy"), "wb");
    assert_true(f && fwrite(out.data, 1, out.len, f) == out.len && fclose(f) == 0);
    assert_same_files(a.o.model, in_folder("copy"));
    trl_graph_model *g = NULL;
    assert_ok(trl_graph_model_from_memory(out.data, out.len, &g, &err));
    trl_graph_model_free(g);
    trl_buf_fini(&out);
    trl_dataset_free(d);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void assert_refused(const setup *s, trl_status want, const char *says)
{
    trl_error err = {0};
    assert_int_equal(trl_train(&s->o, NULL, &err), want);
    if (!strstr(err.msg, says))
        print_error("%s\n", err.msg);
    assert_non_null(strstr(err.msg, says));
}

static void test_refused(void **state)
{
    (void)state;
    const char *data = make_data(7, 10);
    setup s;
    graph_setup(&s, data, factorial_file);
    s.o.template_text = NULL;
    assert_refused(&s, TRL_EINVAL, "needs a model file");
    graph_setup(&s, data, "labels a column 5\nfactor a[i]\n");
    assert_refused(&s, TRL_EPARSE, "the data have 3 columns");
    graph_setup(&s, data, factorial_file);
    s.o.objective = "memm";
    assert_refused(&s, TRL_EINVAL, "memm");
    graph_setup(&s, data, factorial_file);
    s.o.max_cells = 10.0;
    assert_refused(&s, TRL_EINVAL, "cells");
    graph_setup(&s, data, factorial_file);
    s.o.schedule = "random";
    assert_refused(&s, TRL_EINVAL, "flooding, sequential, residual, tree");
    graph_setup(&s, write_file("empty", "\n\n"), factorial_file);
    assert_refused(&s, TRL_EPARSE, "no sequences");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),     cmocka_unit_test(test_start_from_chain),
        cmocka_unit_test(test_factorial), cmocka_unit_test(test_documents),
        cmocka_unit_test(test_known),     cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
