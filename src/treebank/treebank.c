/* treebank.c -- the public reader of trees: brackets, then the requested changes. */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "base/mem.h"
#include "treebank/label.h"
#include "treebank/transform.h"

struct trl_treebank {
    trl_input *in;
    trl_strtab labels;
    trl_bracket_reader *brackets;
    trl_transformer *change; /* NULL: none */
    trl_tree raw;
    uint64_t passed;
};

void trl_treebank_free(trl_treebank *bank)
{
    if (!bank)
        return;
    trl_transformer_free(bank->change);
    trl_bracket_reader_free(bank->brackets);
    trl_input_free(bank->in);
    trl_strtab_fini(&bank->labels);
    trl_free(bank);
}

static bool changes_nothing(const trl_transform *how)
{
    return !how || (!how->drop_empty && !how->drop_functions && !how->drop_duplicates &&
                    !how->unescape && !how->root);
}

/* Takes the input over. */
static trl_status from_input(trl_input *in, const trl_transform *how, bool keep_source,
                             trl_treebank **out, trl_error *err)
{
    trl_treebank *bank = trl_zalloc(1, sizeof *bank);
    if (!bank) {
        trl_input_free(in);
        return trl_fail_mem(err);
    }
    bank->in = in;
    trl_status st = trl_bracket_reader_new(in, &bank->labels, &bank->brackets, err);
    if (st == TRL_OK && keep_source)
        trl_bracket_reader_keep_source(bank->brackets);
    if (st == TRL_OK && !changes_nothing(how))
        st = trl_transformer_new(how, &bank->labels, &bank->change, err);
    if (st == TRL_OK)
        *out = bank;
    else
        trl_treebank_free(bank);
    return st;
}

trl_status trl_treebank_open(const char *path, const trl_transform *how, bool keep_source,
                             trl_treebank **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_input *in;
    const trl_status st = trl_input_open(path, &in, err);
    return st == TRL_OK ? from_input(in, how, keep_source, out, err) : st;
}

trl_status trl_treebank_memory(const trl_text *text, const trl_transform *how, bool keep_source,
                               trl_treebank **out, trl_error *err)
{
    if (!text || !text->name || (!text->p && text->n) || !out)
        return trl_fail_null(err);
    trl_input *in;
    const trl_status st = trl_input_memory(text->name, text->p, text->n, &in, err);
    return st == TRL_OK ? from_input(in, how, keep_source, out, err) : st;
}

trl_status trl_treebank_next(trl_treebank *bank, trl_tree *tree, bool *more, trl_error *err)
{
    if (!bank || !tree || !more)
        return trl_fail_null(err);
    for (;;) {
        bool any = true;
        trl_status st = trl_bracket_reader_next(bank->brackets, &bank->raw, more, err);
        if (st != TRL_OK || !*more)
            return st;
        if (bank->change)
            st = trl_transformer_run(bank->change, &bank->raw, tree, &any, err);
        else
            *tree = bank->raw;
        if (st != TRL_OK || any)
            return st;
        bank->passed++;
    }
}

void trl_treebank_resync(trl_treebank *bank)
{
    if (bank)
        trl_bracket_reader_resync(bank->brackets);
}

uint64_t trl_treebank_passed(const trl_treebank *bank)
{
    if (!bank)
        return 0;
    return bank->passed;
}

trl_str trl_tree_label(const trl_tree *tree, uint32_t node)
{
    if (!tree || node >= tree->n_nodes)
        return (trl_str){"", 0};
    return trl_strtab_get(tree->labels, tree->node[node].label);
}

size_t trl_tree_length(const trl_tree *tree)
{
    if (!tree)
        return 0;
    size_t n = 0;
    for (uint32_t i = 0; i < tree->n_nodes; i++)
        n += tree->node[i].child == TRL_NO_NODE && !trl_label_is_empty(trl_tree_label(tree, i));
    return n;
}

size_t trl_tree_depth(const trl_tree *tree)
{
    if (!tree || tree->n_nodes == 0)
        return 0;
    size_t depth = 1, deepest = 1;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        depth++;
        for (uint32_t up = i - 1; up != tree->node[i].parent; up = tree->node[up].parent)
            depth--;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}
