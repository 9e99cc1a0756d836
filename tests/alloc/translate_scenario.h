/* translate_scenario.h -- from parallel text to translations, for test_alloc.c. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TRANSLATE_SCENARIO_H
#define TRL_TEST_TRANSLATE_SCENARIO_H

#include "trellis/translate.h"

/* A word with two translations, a node that swaps, a pair without a source side. */
static void write_translate_files(void)
{
    write_file("tr.source", "a b\na c\nb a\n\na b\nc a\na c\nb a\n");
    write_file("tr.target", "x y\nz u\nx y\nv\nx y\nz u\nz u\nx y\n");
    write_file("tr.links", "0-0 1-1\n0-0 1-1\n0-1 1-0\n\n0-0 1-1\n0-1 1-0\n0-0 1-1\n0-1 1-0\n");
    write_file("tr.trees", "(S (A a) (B b))\n(S (A a) (C c))\n(S (B b) (A a))\n(S (A a) (B b))\n"
                           "(S (C c) (A a))\n(S (A a) (C c))\n(S (B b) (A a))\n");
}

/* Every way to use a model. */
static trl_status use_translator(const trl_translate_data *data, const char *model, trl_error *err)
{
    trl_translate_limits limits = trl_translate_limits_default();
    trl_translate_model *m = NULL;
    trl_translator *t = NULL;
    trl_treebank *bank = NULL;
    trl_word_accuracy accuracy;
    limits.nbest = 3;
    limits.explain = true;
    trl_status st = trl_translate_model_open(model, &m, err);
    if (st == TRL_OK)
        st = trl_translator_new(m, &limits, &t, err);
    if (st == TRL_OK)
        st = trl_treebank_open(data->trees, NULL, false, &bank, err);
    for (bool more = true; st == TRL_OK && more;) {
        trl_tree tree;
        trl_translations out;
        st = trl_treebank_next(bank, &tree, &more, err);
        if (st == TRL_OK && more)
            st = trl_translate_tree(t, &tree, &out, err);
    }
    if (st == TRL_OK)
        st = trl_translate_score_words(m, data, 1, &accuracy, err);
    trl_treebank_free(bank);
    trl_translator_free(t);
    trl_translate_model_free(m);
    return st;
}

typedef struct translate_run {
    trl_translate_words words;
    bool resume; /* from a checkpoint, which is written otherwise */
} translate_run;

static trl_status do_translate(const void *p, trl_error *err)
{
    const translate_run *run = p;
    char name[6][512];
    static const char *const ends[] = {"source", "target", "links", "trees", "model", "state"};
    for (size_t k = 0; k < 6; k++)
        snprintf(name[k], sizeof name[k], "%s/tr.%s", folder, ends[k]);
    const trl_translate_data data = {name[0], name[1], name[2], name[3], NULL, NULL};
    trl_translate_options o = trl_translate_options_default();
    trl_translate_result result;
    o.words = run->words;
    o.checkpoint = name[5];
    o.resume = run->resume;
    o.tune = 1;
    o.tune_null = 1;
    o.threads = 2;
    const trl_status st = trl_translate_train(&data, &o, name[4], &result, err);
    return st == TRL_OK ? use_translator(&data, name[4], err) : st;
}

static void fail_translate(void (*fail_all)(const char *name, scenario_fn run, const void *arg))
{
    static const translate_run runs[] = {{TRL_WORDS_BOOSTED, false},
                                         {TRL_WORDS_BOOSTED, true},
                                         {TRL_WORDS_L2, false},
                                         {TRL_WORDS_GENERATIVE, false},
                                         {TRL_WORDS_GENERATIVE, true}};
    write_translate_files();
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
        fail_all("translate", do_translate, &runs[k]);
}

#endif
