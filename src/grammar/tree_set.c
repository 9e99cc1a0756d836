/* tree_set.c -- reading treebanks whole. */
/* SPDX-License-Identifier: MIT */
#include "grammar/tree_set.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

static trl_tree_root root_of(const trl_tree *t)
{
    static const char *const known[] = {"", "TOP", "ROOT", "S1", "VROOT"};
    const trl_str label = trl_tree_label(t->raw ? t->raw : t, 0);
    trl_tree_root root = {"TOP", true};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (label.n == strlen(known[k]) && memcmp(label.p, known[k], label.n) == 0) {
            memcpy(root.label, known[k], label.n + 1);
            root.bare = false;
        }
    return root;
}

/* One block: nodes, words, the words' bytes. */
static trl_status keep(trl_tree_set *s, const trl_tree *t, const char *path, trl_error *err)
{
    size_t bytes = 0;
    for (size_t k = 0; k < t->n_words; k++)
        bytes += t->word[k].n;
    trl_tree *all = trl_reserve(s->tree, &s->cap, s->n + 1, sizeof *all);
    if (all)
        s->tree = all;
    const size_t nodes = t->n_nodes * sizeof(trl_node), words = t->n_words * sizeof(trl_str);
    char *block = trl_alloc(nodes + words + bytes, 1);
    if (!all || !block) {
        trl_free(block);
        return trl_fail_mem(err);
    }
    trl_node *node = (trl_node *)(void *)block;
    trl_str *word = (trl_str *)(void *)(block + nodes);
    char *text = block + nodes + words;
    for (size_t k = 0; k < t->n_nodes; k++) {
        const trl_str label = trl_tree_label(t, (uint32_t)k);
        node[k] = t->node[k];
        node[k].label = trl_strtab_add(&s->labels, label.p, label.n);
        if (node[k].label == TRL_NO_ID) {
            trl_free(block);
            return trl_fail_mem(err);
        }
    }
    for (size_t k = 0; k < t->n_words; k++) {
        memcpy(text, t->word[k].p, t->word[k].n);
        word[k] = (trl_str){text, t->word[k].n};
        text += t->word[k].n;
    }
    if (s->n == 0)
        s->root = root_of(t);
    s->tree[s->n] = *t;
    s->tree[s->n].node = node;
    s->tree[s->n].word = word;
    s->tree[s->n].path = path;
    s->tree[s->n].labels = &s->labels;
    s->tree[s->n].raw = NULL;
    s->tree[s->n].source = (trl_str){0};
    s->n++;
    s->n_words += t->n_words;
    return TRL_OK;
}

static trl_transform cleaned(void)
{
    trl_transform how = trl_transform_clean();
    how.root = "TOP";
    return how;
}

/* Takes the bank, NULL after a failure `st`. */
static trl_status read_all(trl_tree_set *s, trl_treebank *bank, const char *path, size_t max_length,
                           trl_status st, trl_error *err)
{
    if (st == TRL_OK && s->on_bad)
        trl_treebank_resync(bank);
    for (bool more = true; st == TRL_OK && more;) {
        trl_tree t;
        trl_error why = {0};
        st = trl_cancel_check(s->cancel, &why);
        if (st == TRL_OK)
            st = trl_treebank_next(bank, &t, &more, &why);
        if (st == TRL_EPARSE && s->on_bad) {
            s->on_bad(s->bad_ctx, &why);
            s->bad++;
            st = TRL_OK;
            continue;
        }
        if (st != TRL_OK && err)
            *err = why;
        if (st != TRL_OK || !more)
            break;
        if (s->passes && s->passes(s->passes_ctx, s->n_read++))
            continue;
        if (max_length && t.n_words > max_length)
            s->too_long++;
        else
            st = keep(s, &t, path, err);
    }
    trl_treebank_free(bank);
    return st;
}

trl_status trl_tree_set_read(trl_tree_set *s, const char *path, size_t max_length, trl_error *err)
{
    const trl_transform how = cleaned();
    trl_treebank *bank = NULL;
    const trl_status st = trl_treebank_open(path, &how, false, &bank, err);
    return read_all(s, bank, path, max_length, st, err);
}

trl_status trl_tree_set_memory(trl_tree_set *s, const char *name, trl_str text, size_t max_length,
                               trl_error *err)
{
    const trl_transform how = cleaned();
    trl_treebank *bank = NULL;
    const trl_status st =
        trl_treebank_memory(&(trl_text){name, text.p, text.n}, &how, false, &bank, err);
    return read_all(s, bank, name, max_length, st, err);
}

void trl_tree_set_fini(trl_tree_set *s)
{
    for (size_t k = 0; k < s->n; k++) {
        const void *block = s->tree[k].node;
        void *p;
        memcpy(&p, &block, sizeof p); /* ours, whatever trl_tree says */
        trl_free(p);
    }
    trl_free(s->tree);
    trl_strtab_fini(&s->labels);
    *s = (trl_tree_set){0};
}
