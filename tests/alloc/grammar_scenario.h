/* grammar_scenario.h -- grammars and lexicons from trees to files and back, for test_alloc. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_GRAMMAR_SCENARIO_H
#define TRL_TEST_GRAMMAR_SCENARIO_H

#include "base/mem.h"
#include "grammar/lexicon.h"

typedef struct grammar_run {
    trl_head_rules *heads;
    trl_strtab labels;
    trl_grammar g, back;
    trl_lexicon x, x_back;
    trl_btree tree;
    trl_node *node;
    size_t n, cap;
} grammar_run;

/* Every tree of the text: added to the grammar, or (`again`) encoded, decoded, its words
 * counted. */
static trl_status each_tree(grammar_run *run, const char *text, bool again, trl_error *err)
{
    trl_input *in = NULL;
    trl_bracket_reader *r = NULL;
    trl_tree t;
    bool more = true, known;
    trl_status st = trl_input_memory("mem", text, strlen(text), &in, err);
    if (st == TRL_OK)
        st = trl_bracket_reader_new(in, &run->labels, &r, err);
    while (st == TRL_OK) {
        st = trl_bracket_reader_next(r, &t, &more, err);
        if (st != TRL_OK || !more)
            break;
        if (!again) {
            st = trl_grammar_add(&run->g, &t, &run->labels, err);
            continue;
        }
        st = trl_grammar_encode(&run->g, &(trl_encoded){run->heads, &t, &run->labels}, &run->tree,
                                &known, NULL, err);
        if (st == TRL_OK) {
            assert_true(known);
            st = trl_grammar_decode(&run->g, &run->tree, &run->node, &run->n, &run->cap, err);
        }
        if (st == TRL_OK) {
            assert_int_equal(run->n, t.n_nodes + (t.n_nodes == 1)); /* a root of its own */
            st = trl_lexicon_add(&run->x, &run->tree, t.word, err);
        }
    }
    trl_bracket_reader_free(r);
    trl_input_free(in);
    return st;
}

static trl_status save_and_load(grammar_run *run, trl_error *err)
{
    trl_container_builder b = {0};
    trl_container *c = NULL;
    unsigned char *bytes = NULL;
    size_t size;
    trl_status st = trl_grammar_save(&run->g, "g0", &b, err);
    if (st == TRL_OK)
        st = trl_lexicon_save(&run->x, "x0", &b, err);
    if (st == TRL_OK)
        st = trl_container_to_buffer(&b, "test", &bytes, &size, err);
    if (st == TRL_OK)
        st = trl_container_from_memory(bytes, size, "test", &c, err);
    if (st == TRL_OK)
        st = trl_grammar_load(&run->back, "g0", c, err);
    if (st == TRL_OK)
        st = trl_lexicon_load(&run->x_back, "x0", &run->back, c, err);
    trl_container_free(c);
    trl_free(bytes);
    trl_container_builder_fini(&b);
    return st;
}

static trl_status do_grammar(const void *p, trl_error *err)
{
    const char *text = p;
    grammar_run run = {0};
    trl_status st = trl_head_rules_read(NULL, &run.heads, err);
    if (st == TRL_OK)
        st = trl_grammar_init(&run.g, &(trl_annotation){true, true, true, 2}, run.heads, err);
    if (st == TRL_OK)
        st = each_tree(&run, text, false, err);
    if (st == TRL_OK)
        st = trl_grammar_finish(&run.g, TRL_RULES_SMOOTHED, err);
    if (st == TRL_OK)
        st = trl_lexicon_init(&run.x, 1, err);
    if (st == TRL_OK)
        st = each_tree(&run, text, true, err);
    if (st == TRL_OK)
        st = trl_lexicon_finish(&run.x, &run.g, err);
    if (st == TRL_OK)
        st = save_and_load(&run, err);
    trl_lexicon_fini(&run.x);
    trl_lexicon_fini(&run.x_back);
    trl_grammar_fini(&run.g);
    trl_grammar_fini(&run.back);
    trl_btree_fini(&run.tree);
    trl_free(run.node);
    trl_strtab_fini(&run.labels);
    trl_head_rules_free(run.heads);
    return st;
}

/* Two labels above VP, an active state of each, a chain, a VP of 70 children. */
static const char grammar_text[] =
    "(TOP (S (NP (DT the) (JJ old) (NN cat)) (VP (VBZ is) (RB not) (NN here)) (. .)))"
    "(TOP (SINV (VP (VBZ is) (RB so) (NN it)) (NP (NP (X (NN a))))))"
    "(TOP (VP (VB a) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) "
    "(B b)"
    " (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B "
    "b)"
    " (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B "
    "b)"
    " (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B "
    "b)"
    " (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b) (B b)))"
    "(NN dog)";

#endif
