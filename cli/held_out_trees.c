/* held_out_trees.c -- held-out trees parsed and scored. */
/* SPDX-License-Identifier: MIT */
#include "held_out_trees.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "trellis/parseval.h"

typedef struct scoring {
    trl_parse_model *model;
    trl_parser *parser;
    trl_parseval *score;
    trl_treebank *bank;
    trl_buf gold, found; /* a tree each, as a line */
    uint64_t n;
} scoring;

static void scoring_fini(scoring *x)
{
    trl_parser_free(x->parser);
    trl_parse_model_free(x->model);
    trl_parseval_free(x->score);
    trl_treebank_free(x->bank);
    trl_buf_fini(&x->gold);
    trl_buf_fini(&x->found);
}

static trl_status open_all(scoring *x, const trl_model *m, const char *path, trl_error *err)
{
    const trl_parse_options o = trl_parse_options_default();
    const trl_parseval_options how = trl_parseval_options_default();
    const trl_transform clean = trl_transform_clean();
    trl_status st = trl_parse_model_of(m, &x->model, err);
    if (st == TRL_OK)
        st = trl_parser_new(x->model, &o, &x->parser, err);
    if (st == TRL_OK)
        st = trl_parseval_new(&how, &x->score, err);
    return st == TRL_OK ? trl_treebank_open(path, &clean, false, &x->bank, err) : st;
}

static trl_status add_tree(scoring *x, const trl_tree *t, trl_error *err)
{
    const trl_parse_input in = {.word = t->word, .n = t->n_words};
    trl_parse found;
    x->gold.len = x->found.len = 0;
    trl_status st = trl_parser_parse(x->parser, &in, &found, err);
    if (st == TRL_OK)
        st = trl_tree_print(t, TRL_TREE_LINE, 0, &x->gold, err);
    if (st == TRL_OK)
        st = trl_tree_print(&found.trees[0].tree, TRL_TREE_LINE, 0, &x->found, err);
    x->n++;
    return st == TRL_OK ? trl_parseval_add(x->score, x->gold.data, x->gold.len - 1, x->found.data,
                                           x->found.len - 1, err)
                        : st;
}

trl_status held_out_trees_score(const trl_model *m, const char *path, double *score, trl_error *err)
{
    scoring x = {0};
    trl_status st = open_all(&x, m, path, err);
    for (bool more = true; st == TRL_OK;) {
        trl_tree t;
        st = trl_treebank_next(x.bank, &t, &more, err);
        if (st != TRL_OK || !more)
            break;
        st = add_tree(&x, &t, err);
    }
    if (st == TRL_OK && x.n == 0) {
        *err = (trl_error){.code = st = TRL_EINVAL};
        snprintf(err->msg, sizeof err->msg, "there are no trees in it");
        snprintf(err->path, sizeof err->path, "%s", path);
    }
    if (st == TRL_OK)
        *score = trl_parseval_get(x.score, UINT64_MAX).f1;
    scoring_fini(&x);
    return st;
}
