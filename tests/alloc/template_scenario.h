/* template_scenario.h -- a template in words with all kinds of lists, from training to tags and a
 * dump that is read back. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TEMPLATE_SCENARIO_H
#define TRL_TEST_TEMPLATE_SCENARIO_H

static const char words_template[] =
    "columns word number\n"
    "gazetteer g \"phrases\" folded all\n"
    "clusters c \"paths\" folded\nvectors v \"numbers\" folded\n"
    "word at -1..1\ng at -1..1\nc 1..2 & g\nv\nvalues of number\n"
    "match \"^(a|b)+$\" of lower\nngrams 2\nshape & zeros\nedge:\n";

static const trl_str words_cells[] = {{"A", 1}, {"1", 1}, {"X", 1}, {"b", 1}, {"2", 1}, {"Y", 1}};

static trl_status words_tag(const trl_buf *model, trl_error *err)
{
    const trl_rows rows = {.n_tokens = 2, .n_columns = 3, .cell = words_cells};
    trl_model *m = NULL;
    trl_tagger *t = NULL;
    trl_buf text = {0}, again = {0};
    uint32_t y[2];
    double score;
    trl_status st = trl_model_from_copy(model->data, model->len, &m, err);
    if (st == TRL_OK)
        st = trl_tagger_new(m, &t, err);
    if (st == TRL_OK)
        st = trl_tagger_set_rows(t, &rows, err);
    if (st == TRL_OK)
        st = trl_tagger_viterbi(t, y, &score, err);
    if (st == TRL_OK)
        st = trl_model_dump_buf(m, &text, err);
    if (st == TRL_OK)
        st = trl_model_undump_buf("dump", text.data, text.len, &again, err);
    if (st == TRL_OK)
        assert_memory_equal(again.data, model->data, model->len);
    trl_buf_fini(&text);
    trl_buf_fini(&again);
    trl_tagger_free(t);
    trl_model_free(m);
    return st;
}

/* `arg`: the folder, with "phrases", "paths" and "numbers" in it. */
static trl_status do_words(const void *arg, trl_error *err)
{
    const trl_rows rows = {.n_tokens = 2, .n_columns = 3, .cell = words_cells};
    char name[512];
    trl_dataset *d = NULL;
    trl_buf model = {0};
    trl_train_options o = trl_train_options_default();
    snprintf(name, sizeof name, "%s/template", (const char *)arg);
    trl_status st = trl_dataset_new(&d, err);
    if (st == TRL_OK)
        st = trl_dataset_add_rows(d, &rows, 1, NULL, err);
    o.data = d;
    o.max_iter = 2;
    o.model_out = &model;
    o.template_name = name;
    o.template_text = words_template;
    o.template_size = strlen(words_template);
    if (st == TRL_OK)
        st = trl_train(&o, NULL, err);
    if (st == TRL_OK)
        st = words_tag(&model, err);
    trl_buf_fini(&model);
    trl_dataset_free(d);
    return st;
}

static void write_words(void)
{
    write_file("phrases", "a b\tx\nB\ty\nb\tz\n");
    write_file("paths", "01\ta\n1\tb\n");
    write_file("numbers", "a 1 2\nb 2 1\n");
}

#endif
