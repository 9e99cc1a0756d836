/* test_graph_start.c -- where the training of whole graphs starts. */
/* SPDX-License-Identifier: MIT */
#include "support.h"
#include "train_setup.h"
#include "trellis/graph_model.h"

/* Columns in a file whose path stays valid. */
static const char *make_data(uint64_t seed, size_t sentences)
{
    static char path[512];
    snprintf(path, sizeof path, "%s", write_columns("train", seed, sentences));
    return path;
}

static void graph_setup(setup *s, const char *train, const char *model_file)
{
    setup_make(s, train);
    s->o.kind = "graph";
    s->o.template_name = "model.graph";
    s->o.template_text = model_file;
    s->o.template_size = strlen(model_file);
    s->o.threads = 1;
}

static void train(setup *s)
{
    trl_error err;
    assert_ok(trl_train(&s->o, &s->result, &err));
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_start_from_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
