/* tree_held.c -- a parser, treebanks, trees. */
/* SPDX-License-Identifier: MIT */
#include "api/tree_held.h"

#include <string.h>

#include "base/fail.h"
#include "trellis/parser.h"

typedef struct held {
    const trl_held_data *data;
    bool keep_going;
    trl_held_fn fn;
    void *ctx;
    trl_parser *parser;
    trl_buf gold, predicted;
    uint64_t n_read, n_scored;
} held;

/* The part of speech of every word: nodes without children, in order. */
static uint32_t next_tag(const trl_tree *t, uint32_t node)
{
    while (node < t->n_nodes && t->node[node].child != TRL_NO_NODE)
        node++;
    return node;
}

static size_t count_right_tags(const trl_tree *a, const trl_tree *b)
{
    size_t right = 0;
    uint32_t i = 0, j = 0;
    for (size_t k = 0; k < a->n_words && k < b->n_words; k++) {
        i = next_tag(a, i);
        j = next_tag(b, j);
        const trl_str x = trl_tree_label(a, i++), y = trl_tree_label(b, j++);
        right += x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
    }
    return right;
}

/* As a line without its end. */
static trl_status print(const trl_tree *t, trl_buf *out, trl_str *line, trl_error *err)
{
    out->len = 0;
    const trl_status st = trl_tree_print(t, TRL_TREE_LINE, 0, out, err);
    *line = (trl_str){out->data, out->len ? out->len - 1 : 0};
    return st;
}

static trl_status answer(held *h, const trl_tree *gold, trl_error *err)
{
    const trl_parse_input in = {.word = gold->word, .n = gold->n_words};
    trl_parse parse;
    trl_held_answer a = {.number = h->n_read - 1, .n = gold->n_words};
    trl_status st = trl_parser_parse(h->parser, &in, &parse, err);
    if (st == TRL_OK)
        st = print(gold, &h->gold, &a.gold_tree, err);
    if (st == TRL_OK)
        st = print(&parse.trees[0].tree, &h->predicted, &a.predicted_tree, err);
    if (st != TRL_OK)
        return st;
    a.right_tags = count_right_tags(gold, &parse.trees[0].tree);
    h->n_scored++;
    return h->fn(h->ctx, &a, err);
}

static trl_status score_file(held *h, const char *path, trl_error *err)
{
    const trl_transform how = trl_transform_clean();
    trl_treebank *bank = NULL;
    trl_status st = trl_treebank_open(path, &how, false, &bank, err);
    if (st == TRL_OK && h->keep_going)
        trl_treebank_resync(bank);
    for (bool more = true; st == TRL_OK && more;) {
        trl_tree t;
        st = trl_treebank_next(bank, &t, &more, err);
        if (st == TRL_EPARSE && h->keep_going)
            st = TRL_OK;
        else if (st == TRL_OK && more && trl_held_wanted(h->data, h->n_read++))
            st = answer(h, &t, err);
    }
    trl_treebank_free(bank);
    return st;
}

trl_status trl_tree_held_score(const trl_model *m, const trl_held_data *data, bool keep_going,
                               trl_held_fn fn, void *ctx, trl_error *err)
{
    const trl_parse_options o = trl_parse_options_default();
    held h = {.data = data, .keep_going = keep_going, .fn = fn, .ctx = ctx};
    trl_parse_model *model = NULL;
    trl_status st = trl_parse_model_of(m, &model, err);
    if (st == TRL_OK)
        st = trl_parser_new(model, &o, &h.parser, err);
    for (size_t k = 0; st == TRL_OK && k < data->n_paths; k++)
        st = score_file(&h, data->paths[k], err);
    if (st == TRL_OK && h.n_scored == 0) {
        st = trl_fail(err, TRL_EPARSE, "there are not enough trees to hold some out");
        trl_fail_where(err, st, data->paths[0], 0, 0);
    }
    trl_parser_free(h.parser);
    trl_parse_model_free(model);
    trl_buf_fini(&h.gold);
    trl_buf_fini(&h.predicted);
    return st;
}
