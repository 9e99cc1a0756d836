/* dataset_scenario.h -- sequences into a data set, a model trained from it into memory, tags. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_DATASET_SCENARIO_H
#define TRL_TEST_DATASET_SCENARIO_H

#include "trellis/dataset.h"
#include "trellis/batch.h"
#include "trellis/train.h"

#define DATASET_STR(s)                                                                             \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

static const trl_str dataset_cell[] = {
    DATASET_STR("the"),    DATASET_STR("D"), DATASET_STR("cat"), DATASET_STR("N"),
    DATASET_STR("sleeps"), DATASET_STR("V"), DATASET_STR("a"),   DATASET_STR("D"),
    DATASET_STR("dog"),    DATASET_STR("N")};
static const trl_rows dataset_rows[] = {{.n_tokens = 3, .n_columns = 2, .cell = dataset_cell},
                                        {.n_tokens = 2, .n_columns = 2, .cell = dataset_cell + 6}};

static const trl_str dataset_label[] = {DATASET_STR("X"), DATASET_STR("Y"), DATASET_STR("X")};
static const trl_attr dataset_attr[] = {{DATASET_STR("u"), 1.0},
                                        {DATASET_STR("v"), 1.0},
                                        {DATASET_STR("u"), 0.5},
                                        {DATASET_STR("w"), 1.0}};
static const size_t dataset_begin[] = {0, 2, 3, 4};
static const trl_items dataset_items[] = {
    {2, dataset_label, dataset_begin, dataset_attr, 1.0, NULL, 0},
    {3, dataset_label, dataset_begin, dataset_attr, 2.0, NULL, 0}};

/* Adds one batch of two; one that fails leaves nothing. */
static trl_status add_numbers(trl_dataset *d, trl_error *err)
{
    static const size_t first[] = {0, 2, 5}, begin[] = {0, 2, 3, 5, 6, 7};
    static const double value[] = {1.0, 1.0, 0.5, 1.0, 1.0, 0.5, 1.0}, weight[] = {1.0, 2.0};
    static const trl_str name[] = {DATASET_STR("w"), DATASET_STR("u"), DATASET_STR("v")};
    static const uint32_t attr[] = {1, 2, 1, 1, 2, 1, 0};
    uint32_t number[3], y[5];
    trl_status st = trl_dataset_number(d, name, 3, number, err);
    if (st == TRL_OK)
        st = trl_dataset_number_labels(d, dataset_label, 2, y, err);
    if (st == TRL_OK)
        st = trl_dataset_number_labels(d, dataset_label, 3, y + 2, err);
    const trl_numbered_items x = {2, first, y, begin, attr, value, weight};
    return st == TRL_OK ? trl_dataset_add_numbered(d, &x, err) : st;
}

static trl_status add_batch(trl_dataset *d, bool items, trl_error *err)
{
    const trl_dataset_info before = trl_dataset_get_info(d);
    const trl_status st = items && before.n_sequences ? add_numbers(d, err)
                          : items ? trl_dataset_add_items(d, dataset_items, 2, NULL, err)
                                  : trl_dataset_add_rows(d, dataset_rows, 2, NULL, err);
    const trl_dataset_info after = trl_dataset_get_info(d);
    const size_t more = st == TRL_OK ? 2 : 0;
    assert_int_equal(after.n_sequences, before.n_sequences + more);
    assert_int_equal(after.n_tokens, before.n_tokens + (more ? 5 : 0));
    return st;
}

/* The bytes of the run without failures, which comes first. */
static unsigned char dataset_want[2][1 << 14];
static size_t dataset_size[2];

static void same_bytes(const trl_buf *model, bool items)
{
    if (!dataset_size[items]) {
        assert_true(model->len <= sizeof dataset_want[items]);
        memcpy(dataset_want[items], model->data, model->len);
        dataset_size[items] = model->len;
    }
    assert_int_equal(model->len, dataset_size[items]);
    assert_memory_equal(model->data, dataset_want[items], model->len);
}

static trl_status dataset_tag(const trl_buf *model, bool items, trl_error *err)
{
    trl_model *m = NULL;
    trl_tagger *t = NULL;
    uint32_t y[3];
    double score;
    trl_status st = trl_model_from_copy(model->data, model->len, &m, err);
    if (st == TRL_OK)
        st = trl_tagger_new(m, &t, err);
    if (st == TRL_OK)
        st = items ? trl_tagger_set_items(t, &dataset_items[1], err)
                   : trl_tagger_set_rows(t, &dataset_rows[0], err);
    if (st == TRL_OK)
        st = trl_tagger_viterbi(t, y, &score, err);
    const trl_contribution *c;
    size_t n;
    if (st == TRL_OK)
        st = items ? trl_tagger_explain_items(t, &dataset_items[1], 1, &c, &n, err)
                   : trl_tagger_explain_rows(t, &dataset_rows[0], 1, &c, &n, err);
    trl_tag_batch b = trl_tag_batch_default(); /* with room of its own for labels */
    b.scores = &score;
    b.threads = 1;
    if (st == TRL_OK)
        st = items ? trl_tag_items(m, &dataset_items[1], 1, &b, err)
                   : trl_tag_rows(m, dataset_rows, 1, &b, err);
    trl_tagger_free(t);
    trl_model_free(m);
    return st;
}

/* A set of trees: what failed leaves nothing, and can be tried again. */
static trl_status dataset_trees(trl_error *err)
{
    static const char text[] = "(S (NP (NN a)) (VP (VB b)))\n";
    trl_dataset *d = NULL;
    trl_status st = trl_dataset_new(&d, err);
    if (st == TRL_OK && trl_dataset_add_brackets(d, "x", text, sizeof text - 1, err) != TRL_OK) {
        assert_int_equal(trl_dataset_get_info(d).n_trees, 0);
        st = trl_dataset_add_brackets(d, "x", text, sizeof text - 1, err);
    }
    trl_dataset_free(d);
    return st;
}

/* arg: are they items?  A batch that failed is added again: the data set is as it was. */
static trl_status do_dataset(const void *arg, trl_error *err)
{
    const bool items = *(const bool *)arg;
    trl_dataset *d = NULL;
    trl_buf model = {0};
    trl_train_options o = trl_train_options_default();
    trl_status st = dataset_trees(err);
    if (st == TRL_OK)
        st = trl_dataset_new(&d, err);
    for (int batch = 0; st == TRL_OK && batch < 2; batch++)
        if (add_batch(d, items, err) != TRL_OK)
            st = add_batch(d, items, err);
    o.data = o.dev_data = d;
    o.max_iter = 2;
    o.model_out = &model;
    if (st == TRL_OK)
        st = trl_train(&o, NULL, err);
    if (st == TRL_OK)
        same_bytes(&model, items);
    if (st == TRL_OK)
        st = dataset_tag(&model, items, err);
    trl_buf_fini(&model);
    trl_dataset_free(d);
    return st;
}

#endif
