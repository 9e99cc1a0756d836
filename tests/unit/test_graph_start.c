/* test_graph_start.c -- where the training of whole graphs starts, and what is said of its end. */
/* SPDX-License-Identifier: MIT */
#include "graph_setup.h"
#include "trellis/graph_model.h"

/* Six factors that say the same, each trained by itself: together their weights are too large, and
 * whole graphs start from a part of them. */
static void test_start_from_pieces(void **state)
{
    (void)state;
    static const char six[] = "labels y column 2\n"
                              "template words\n"
                              "  U:%x[0,0]\n"
                              "factor a: y[i] features words\n"
                              "factor b: y[i] features words\n"
                              "factor c: y[i] features words\n"
                              "factor d: y[i] features words\n"
                              "factor e: y[i] features words\n"
                              "factor f: y[i] features words\n";
    const char *data = make_data(2, 40);
    setup pieces, whole, best;
    graph_setup(&pieces, data, six);
    pieces.o.objective = "piecewise";
    pieces.o.model = in_folder("pieces.model");
    train(&pieces);
    graph_setup(&best, data, six);
    best.o.model = in_folder("best.model");
    train(&best);
    graph_setup(&whole, data, six);
    whole.o.init = in_folder("pieces.model");
    whole.o.max_iter = 1;
    whole.o.model = in_folder("whole.model");
    train(&whole);
    assert_true(whole.result.objective < 1.2 * best.result.objective);
}

/* A penalty that the pieces did not have wants less than a thirty-second of their weights: the last
 * halving counts, too. */
static void test_start_halved_to_the_end(void **state)
{
    (void)state;
    static const char two[] = "labels y column 2\n"
                              "template words\n"
                              "  U:%x[0,0]\n"
                              "factor a: y[i] features words\n"
                              "factor b: y[i] features words\n";
    const char *data = make_data(2, 40);
    setup pieces, whole, best;
    graph_setup(&pieces, data, two);
    pieces.o.objective = "piecewise";
    pieces.o.c2 = 1e-4;
    pieces.o.model = in_folder("pieces.model");
    train(&pieces);
    graph_setup(&whole, data, two);
    whole.o.init = in_folder("pieces.model");
    whole.o.c2 = 100.0;
    whole.o.max_iter = 1;
    train(&whole);
    graph_setup(&best, data, two);
    best.o.c2 = 100.0;
    train(&best);
    assert_true(whole.result.objective < 1.5 * best.result.objective);
}

/* How far the optimum can be follows from the gradient where the objective is convex; Bethe's is
 * not. */
static void test_ending(void **state)
{
    (void)state;
    static const char *const objectives[] = {"likelihood", "trw", "bethe"};
    const char *data = make_data(3, 20);
    for (size_t k = 0; k < 3; k++) {
        setup s;
        graph_setup(&s, data,
                    "labels a column 1\nlabels y column 2\ntemplate words\n  U:%x[0,0]\n"
                    "factor y[i] features words\nfactor y[i-1] y[i]\n"
                    "factor a[i-1] a[i]\nfactor a[i] y[i]\n");
        s.o.objective = objectives[k];
        s.o.epsilon = 0.0;
        train(&s);
        assert_non_null(strstr(s.result.ending, "% above the optimum"));
        assert_int_equal(strstr(s.result.ending, "were it convex") != NULL, k == 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ending),
                                       cmocka_unit_test(test_start_from_pieces),
                                       cmocka_unit_test(test_start_halved_to_the_end)};
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
