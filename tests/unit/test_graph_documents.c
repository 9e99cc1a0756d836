/* test_graph_documents.c -- documents of several sentences, from a file and from memory. */
/* SPDX-License-Identifier: MIT */
#include "graph_setup.h"
#include "trellis/graph_model.h"

static const char text[] = "-DOCSTART-\n\nRex N\nbarks V\n\nthe D\ndog N\n\nRex N\nsaw V\n\n"
                           "-DOCSTART-\n\nsaw V\nRex V\n\nRex N\n\n";
static const char skip[] = "unit document\n"
                           "labels y column 1\n"
                           "template words\n"
                           "  U:%x[0,0]\n"
                           "factor y[i] features words\n"
                           "factor y[i] y[j] where %x[i,0] = %x[j,0] and %x[i,0] ~ \"^\\u\"\n";

/* The sequences of the text, with or without what says that a document begins. */
static trl_dataset *sequences(const char *path, bool documents)
{
    trl_error err;
    trl_dataset *d = NULL;
    trl_reader *r = NULL;
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_reader_open(path, TRL_FORMAT_COLUMNS, &r, &err));
    for (;;) {
        trl_rows seq;
        bool more;
        assert_ok(trl_reader_rows(r, &seq, &more, &err));
        if (!more)
            break;
        if (!documents)
            seq.heading = (trl_str){NULL, 0};
        assert_ok(trl_dataset_add_rows(d, &seq, 1, NULL, &err));
    }
    trl_reader_free(r);
    return d;
}

/* The objective; of the sequences, which are freed, instead of the file. */
static double train_to(const char *model, setup *s, trl_dataset *d)
{
    s->o.model = model;
    s->o.max_iter = 5;
    if (d) {
        s->o.n_train = 0;
        s->o.data = d;
    }
    train(s);
    trl_dataset_free(d);
    return s->result.objective;
}

static void test_memory(void **state)
{
    (void)state;
    const char *data = write_file("train", text);
    char file[512], memory[512], apart[512], each[512];
    snprintf(file, sizeof file, "%s", in_folder("file"));
    snprintf(memory, sizeof memory, "%s", in_folder("memory"));
    snprintf(apart, sizeof apart, "%s", in_folder("apart"));
    snprintf(each, sizeof each, "%s", in_folder("each"));
    setup s;
    graph_setup(&s, data, skip);
    const double whole = train_to(file, &s, NULL);
    graph_setup(&s, data, skip);
    train_to(memory, &s, sequences(data, true));
    assert_same_files(file, memory);
    /* without documents every sequence is one: as a file that says so, and not as above */
    graph_setup(&s, data, skip);
    const double alone = train_to(apart, &s, sequences(data, false));
    assert_true(fabs(alone - whole) > 1e-3);
    const char *cut =
        write_file("cut", "-DOCSTART-\n\nRex N\nbarks V\n\n-DOCSTART-\n\nthe D\ndog N\n\n"
                          "-DOCSTART-\n\nRex N\nsaw V\n\n-DOCSTART-\n\nsaw V\nRex V\n\n"
                          "-DOCSTART-\n\nRex N\n\n");
    graph_setup(&s, cut, skip);
    train_to(each, &s, NULL);
    assert_same_files(apart, each);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
