/* latent_scenario.h -- a grammar with substates from trees to a file and a chart, for test_alloc.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_LATENT_SCENARIO_H
#define TRL_TEST_LATENT_SCENARIO_H

#include "base/mem.h"
#include "grammar/tree_set.h"
#include "train_tree/latent_em.h"

typedef struct latent_run {
    trl_tree_set trees;
    trl_grammar g;
    trl_lexicon x;
    trl_pcfg pcfg;
    trl_latent l, back;
    trl_latent_tree tree[8];
    trl_pool *pool;
    trl_arena arena;
} latent_run;

static trl_status count_trees(latent_run *r, trl_error *err)
{
    static const trl_annotation none = {0};
    trl_status st = trl_grammar_init(&r->g, &none, NULL, err);
    for (size_t k = 0; st == TRL_OK && k < r->trees.n; k++)
        st = trl_grammar_add(&r->g, &r->trees.tree[k], &r->trees.labels, err);
    if (st == TRL_OK)
        st = trl_grammar_finish(&r->g, TRL_RULES_SMOOTHED, err);
    if (st == TRL_OK)
        st = trl_lexicon_init(&r->x, 1, err);
    for (size_t k = 0; st == TRL_OK && k < r->trees.n; k++) {
        bool known;
        st = trl_grammar_encode(&r->g, &(trl_encoded){NULL, &r->trees.tree[k], &r->trees.labels},
                                &r->tree[k].tree, &known, NULL, err);
        if (st == TRL_OK)
            st = trl_lexicon_add(&r->x, &r->tree[k].tree, r->trees.tree[k].word, err);
    }
    if (st == TRL_OK)
        st = trl_lexicon_finish(&r->x, &r->g, err);
    return st == TRL_OK ? trl_pcfg_init(&r->pcfg, &r->g, &r->x, err) : st;
}

static trl_status number_words(latent_run *r, trl_error *err)
{
    for (size_t k = 0; k < r->trees.n; k++) {
        const trl_tree *t = &r->trees.tree[k];
        r->tree[k].word = trl_alloc(2 * t->n_words, sizeof *r->tree[k].word);
        if (!r->tree[k].word)
            return trl_fail_mem(err);
        r->tree[k].class_ = r->tree[k].word + t->n_words;
        for (size_t i = 0; i < t->n_words; i++) {
            r->tree[k].word[i] = trl_lexicon_word(&r->x, t->word[i]);
            r->tree[k].class_[i] = trl_lexicon_class(&r->x, t->word[i], i);
        }
    }
    return TRL_OK;
}

static trl_status learn_latent(latent_run *r, trl_error *err)
{
    trl_latent_options o = trl_latent_options_default();
    o.most = 4;
    o.iterations = 1;
    o.tokens = 1.0;
    r->pool = trl_pool_new(1);
    if (!r->pool)
        return trl_fail_mem(err);
    r->l = r->back = (trl_latent){.g = &r->g, .x = &r->x, .pcfg = &r->pcfg};
    return trl_latent_learn(&r->l, r->tree, r->trees.n, &o, r->pool, err);
}

static trl_status latent_to_file(latent_run *r, trl_error *err)
{
    trl_container_builder b = {0};
    trl_container *c = NULL;
    unsigned char *bytes = NULL;
    size_t size;
    trl_status st = trl_latent_save(&r->l, 0, &b, err);
    if (st == TRL_OK)
        st = trl_container_to_buffer(&b, "test", &bytes, &size, err);
    if (st == TRL_OK)
        st = trl_container_from_memory(bytes, size, "test", &c, err);
    if (st == TRL_OK)
        st = trl_latent_load(&r->back, 0, c, err);
    trl_container_free(c);
    trl_free(bytes);
    trl_container_builder_fini(&b);
    return st;
}

static trl_status chart_latent(latent_run *r, trl_error *err)
{
    const trl_tree *t = &r->trees.tree[0];
    const trl_words words = {t->word, t->n_words};
    trl_skeleton s;
    trl_chart c;
    trl_status st =
        trl_skeleton_full(&(trl_words_grammar){&r->g, &r->x}, &words, &s, NULL, &r->arena, err);
    if (st == TRL_OK)
        st = trl_chart_init(&c, &r->g, &s, &r->arena, err);
    if (st == TRL_OK)
        st =
            trl_latent_chart(&r->back, &(trl_latent_sentence){.words = &words}, &c, &r->arena, err);
    if (st == TRL_OK)
        assert_true(isfinite(c.log_z));
    return st;
}

static trl_status do_latent(const void *p, trl_error *err)
{
    const char *text = p;
    latent_run r = {0};
    trl_status st = trl_tree_set_memory(&r.trees, "mem", (trl_str){text, strlen(text)}, 0, err);
    if (st == TRL_OK)
        st = count_trees(&r, err);
    if (st == TRL_OK)
        st = number_words(&r, err);
    if (st == TRL_OK)
        st = learn_latent(&r, err);
    if (st == TRL_OK)
        st = latent_to_file(&r, err);
    if (st == TRL_OK)
        st = chart_latent(&r, err);
    for (size_t k = 0; k < sizeof r.tree / sizeof *r.tree; k++)
        trl_latent_tree_fini(&r.tree[k]);
    trl_latent_fini(&r.l);
    trl_latent_fini(&r.back);
    trl_pcfg_fini(&r.pcfg);
    trl_lexicon_fini(&r.x);
    trl_grammar_fini(&r.g);
    trl_tree_set_fini(&r.trees);
    trl_arena_fini(&r.arena);
    trl_pool_free(r.pool);
    return st;
}

static const char latent_text[] =
    "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ is) (RB not) (NN here)) (. .)))"
    "(TOP (S (NP (NP (DT the) (NN dog)) (PP (IN of) (NP (NN it)))) (VP (VBZ is) (NP (NN here)))))"
    "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (DT the) (NN cat))) (. .)))";

#endif
