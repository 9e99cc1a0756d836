/* random_tree.h -- trees for tests: random ones, and those of a treebank. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_RANDOM_TREE_H
#define TRL_TEST_RANDOM_TREE_H

#include "support.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "treebank/brackets.h"

static inline unsigned draw(trl_rng *r, unsigned n)
{
    return (unsigned)(trl_rng_u64(r) >> 33) % n;
}

/* Labels of all sorts: phrases that are also tags (X), the root's inside, special characters. */
static inline void random_subtree(trl_rng *r, int depth, trl_buf *out)
{
    static const char *const phrase[] = {"S", "NP", "VP", "VP-PRD", "X", "TOP", "A^B", "@NP", "%"};
    static const char *const tag[] = {"NN", "VBZ", "DT", "X", "A|B", "NP"};
    static const char *const word[] = {"the", "cat", "Kim", "1990", "well-known", "sleeps", "."};
    const unsigned what = draw(r, 10);
    if (depth == 0 || what < 3) {
        if (draw(r, 3)) /* some words often, many once */
            trl_buf_fmt(out, "(%s %s)", tag[draw(r, 6)], word[draw(r, 7)]);
        else
            trl_buf_fmt(out, "(%s w%u%s)", tag[draw(r, 6)], draw(r, 5000), word[draw(r, 7)]);
        return;
    }
    const unsigned n = what < 5 ? 1 : what < 9 ? 2 + draw(r, 2) : 4 + draw(r, 80) * (depth == 1);
    trl_buf_fmt(out, "(%s", phrase[draw(r, 9)]);
    for (unsigned k = 0; k < n; k++) {
        trl_buf_ch(out, ' ');
        random_subtree(r, depth - 1, out);
    }
    trl_buf_ch(out, ')');
}

/* `n` trees, one a line, all with the root TOP. */
static inline void random_trees(trl_rng *r, size_t n, trl_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned kids = draw(r, 3) ? 1 : 1 + draw(r, 4);
        trl_buf_str(out, "(TOP");
        for (unsigned k = 0; k < kids; k++) {
            trl_buf_ch(out, ' ');
            random_subtree(r, (int)draw(r, 6), out);
        }
        trl_buf_str(out, ")\n");
    }
    assert_false(out->failed);
}

/* Trees kept in memory. */
typedef struct tree_list {
    trl_strtab labels;
    trl_tree *tree;
    size_t n, cap;
} tree_list;

static inline void keep_tree(tree_list *l, const trl_tree *t)
{
    l->tree = trl_reserve(l->tree, &l->cap, l->n + 1, sizeof *l->tree);
    trl_node *node = trl_alloc(t->n_nodes, sizeof *node);
    trl_str *word = trl_alloc(t->n_words, sizeof *word);
    memcpy(node, t->node, t->n_nodes * sizeof *node);
    for (size_t i = 0; i < t->n_words; i++)
        word[i] = (trl_str){trl_strndup(t->word[i].p, t->word[i].n), t->word[i].n};
    l->tree[l->n++] =
        (trl_tree){.n_nodes = t->n_nodes, .n_words = t->n_words, .node = node, .word = word};
}

/* Adds those of at most max_words words. */
static inline void read_trees(tree_list *l, trl_input *in, size_t max_words)
{
    trl_error err;
    trl_bracket_reader *r = NULL;
    trl_tree t;
    bool more;
    assert_ok(trl_bracket_reader_new(in, &l->labels, &r, &err));
    for (;;) {
        assert_ok(trl_bracket_reader_next(r, &t, &more, &err));
        if (!more)
            break;
        if (t.n_words <= max_words)
            keep_tree(l, &t);
    }
    trl_bracket_reader_free(r);
    trl_input_free(in);
}

static inline void read_text(tree_list *l, const char *text, size_t n)
{
    trl_error err;
    trl_input *in = NULL;
    assert_ok(trl_input_memory("mem", text, n, &in, &err));
    read_trees(l, in, SIZE_MAX);
}

static inline void free_trees(tree_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        for (size_t k = 0; k < l->tree[i].n_words; k++)
            free((void *)(uintptr_t)l->tree[i].word[k].p);
        free((void *)(uintptr_t)l->tree[i].node);
        free((void *)(uintptr_t)l->tree[i].word);
    }
    trl_free(l->tree);
    trl_strtab_fini(&l->labels);
    *l = (tree_list){0};
}

#endif
