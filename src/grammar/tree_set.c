/* tree_set.c -- reading treebanks whole. */
/* SPDX-License-Identifier: MIT */
#include "grammar/tree_set.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "treebank/label.h"
#include "base/buf.h"

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

/* The class of a label's function tags; TRL_NO_ID: out of memory. */
static uint32_t function_class(trl_tree_set *s, trl_str rest, trl_buf *name)
{
    name->len = 0;
    for (trl_str f = trl_label_function(&rest); f.n; f = trl_label_function(&rest)) {
        if (name->len)
            trl_buf_ch(name, '-');
        trl_buf_add(name, f.p, f.n);
    }
    if (name->failed)
        return TRL_NO_ID;
    s->n_functions += name->len > 0;
    return s->keep_functions ? trl_strtab_add(&s->functions, name->len ? name->data : "", name->len)
                             : 0;
}

/* Labels become categories, function tags classes (not those of parts of speech). */
static bool keep_nodes(trl_tree_set *s, const trl_tree *t, trl_node *node, uint32_t *function)
{
    trl_buf name = {0};
    bool ok = !s->keep_functions || trl_strtab_add(&s->functions, "", 0) == 0;
    for (size_t k = 0; ok && k < t->n_nodes; k++) {
        const trl_str label = trl_tree_label(t, (uint32_t)k), base = trl_label_category(label);
        uint32_t class = 0;
        node[k] = t->node[k];
        node[k].label = trl_strtab_add(&s->labels, base.p, base.n);
        if (t->node[k].child != TRL_NO_NODE && base.n < label.n)
            class = function_class(s, (trl_str){base.p + base.n, label.n - base.n}, &name);
        if (function)
            function[k] = class;
        ok = node[k].label != TRL_NO_ID && class != TRL_NO_ID;
    }
    trl_buf_fini(&name);
    return ok;
}

static bool room(trl_tree_set *s)
{
    trl_tree *all = trl_reserve(s->tree, &s->cap, s->n + 1, sizeof *all);
    if (all)
        s->tree = all;
    uint32_t *place = trl_reserve(s->place, &s->cap_place, s->n + 1, sizeof *place);
    if (place)
        s->place = place;
    if (!all || !place || !s->keep_functions)
        return all && place;
    uint32_t **f = trl_reserve(s->function, &s->cap_function, s->n + 1, sizeof *f);
    if (f)
        s->function = f;
    return f != NULL;
}

/* One block: nodes, words, classes of functions, the words' bytes. */
static trl_status keep(trl_tree_set *s, const trl_tree *t, const char *path, uint32_t place,
                       trl_error *err)
{
    size_t bytes = 0;
    for (size_t k = 0; k < t->n_words; k++)
        bytes += t->word[k].n;
    const size_t nodes = t->n_nodes * sizeof(trl_node), words = t->n_words * sizeof(trl_str);
    const size_t functions = s->keep_functions ? t->n_nodes * sizeof(uint32_t) : 0;
    char *block = room(s) ? trl_alloc(nodes + words + functions + bytes, 1) : NULL;
    if (!block)
        return trl_fail_mem(err);
    trl_node *node = (trl_node *)(void *)block;
    trl_str *word = (trl_str *)(void *)(block + nodes);
    uint32_t *function = functions ? (uint32_t *)(void *)(block + nodes + words) : NULL;
    char *text = block + nodes + words + functions;
    if (!keep_nodes(s, t, node, function)) {
        trl_free(block);
        return trl_fail_mem(err);
    }
    for (size_t k = 0; k < t->n_words; k++) {
        memcpy(text, t->word[k].p, t->word[k].n);
        word[k] = (trl_str){text, t->word[k].n};
        text += t->word[k].n;
    }
    if (s->n == 0)
        s->root = root_of(t);
    if (function)
        s->function[s->n] = function;
    s->place[s->n] = place;
    trl_tree *kept = &s->tree[s->n++];
    *kept = *t;
    kept->node = node;
    kept->word = word;
    kept->path = path;
    kept->labels = &s->labels;
    kept->raw = NULL;
    kept->source = (trl_str){0};
    s->n_words += t->n_words;
    return TRL_OK;
}

/* Function tags are taken off when a tree is kept. */
static trl_transform cleaned(void)
{
    return (trl_transform){.drop_empty = true, .root = "TOP"};
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
        const uint32_t place = s->passes ? (uint32_t)s->n_read++ : TRL_NO_ID;
        if (s->passes && s->passes(s->passes_ctx, place))
            continue;
        const bool too_long = max_length && t.n_words > max_length;
        s->too_long += too_long;
        if (!too_long || s->keep_long)
            st = keep(s, &t, path, place, err);
    }
    trl_treebank_free(bank);
    return st;
}

trl_status trl_tree_set_take(trl_tree_set *s, const trl_dataset *from, const char *name,
                             size_t max_length, trl_error *err)
{
    const trl_transform how = cleaned();
    trl_treebank *bank = NULL;
    const trl_status st = trl_dataset_trees(from, name, &how, &bank, err);
    return read_all(s, bank, trl_dataset_place_or(from, name), max_length, st, err);
}

/* Takes the data set over, made with this status. */
static trl_status take_over(trl_tree_set *s, trl_dataset *from, size_t max_length, trl_status st,
                            trl_error *err)
{
    if (st == TRL_OK)
        st = trl_tree_set_take(s, from, NULL, max_length, err);
    trl_dataset_free(from);
    return st;
}

trl_status trl_tree_set_read(trl_tree_set *s, const char *path, size_t max_length, trl_error *err)
{
    trl_dataset *file = NULL;
    const trl_status st = trl_dataset_of_file(path, TRL_FORMAT_GUESS, &file, err);
    return take_over(s, file, max_length, st, err);
}

trl_status trl_tree_set_memory(trl_tree_set *s, const char *name, trl_str text, size_t max_length,
                               trl_error *err)
{
    trl_dataset *given = NULL;
    const trl_status st = trl_dataset_of_text(name, text, TRL_FORMAT_GUESS, &given, err);
    return take_over(s, given, max_length, st, err);
}

static void free_tree(const trl_tree *t)
{
    const void *block = t->node;
    void *p;
    memcpy(&p, &block, sizeof p); /* ours, whatever trl_tree says */
    trl_free(p);
}

void trl_tree_set_balance(trl_tree_set *s, size_t max_length)
{
    uint64_t all_long = 0, seen = 0, taken = 0;
    size_t n = 0;
    for (size_t k = 0; k < s->n; k++)
        all_long += s->tree[k].n_words > max_length ? s->tree[k].n_words : 0;
    const uint64_t others = s->n_words - all_long;
    if (all_long <= others)
        return;
    for (size_t k = 0; k < s->n; k++) {
        const size_t words = s->tree[k].n_words;
        if (words > max_length) {
            seen += words;
            if ((double)(taken + words) * (double)all_long > (double)seen * (double)others) {
                free_tree(&s->tree[k]);
                continue;
            }
            taken += words;
        }
        if (s->function)
            s->function[n] = s->function[k];
        s->place[n] = s->place[k];
        s->tree[n++] = s->tree[k];
    }
    s->n = n;
    s->n_words = (size_t)(others + taken);
}

void trl_tree_set_fini(trl_tree_set *s)
{
    for (size_t k = 0; k < s->n; k++)
        free_tree(&s->tree[k]);
    trl_free(s->tree);
    trl_free(s->function);
    trl_free(s->place);
    trl_strtab_fini(&s->labels);
    trl_strtab_fini(&s->functions);
    *s = (trl_tree_set){0};
}
