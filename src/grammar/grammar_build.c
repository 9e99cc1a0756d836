/* grammar_build.c -- counting the states and rules of trees, and freezing them. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "grammar/grammar_parts.h"

/* ---- begin and end --------------------------------------------------------------------------- */

trl_status trl_grammar_init(trl_grammar *g, const trl_annotation *a, const trl_head_rules *heads,
                            trl_error *err)
{
    *g = (trl_grammar){.annotation = *a, .root = TRL_NO_ID};
    trl_grammar_maps *m = trl_zalloc(1, sizeof *m);
    if (!m)
        return trl_fail_mem(err);
    m->heads = heads;
    g->building = m;
    return TRL_OK;
}

static void free_maps(trl_grammar *g)
{
    trl_grammar_maps *m = g->building;
    if (!m)
        return;
    trl_strtab_fini(&m->binary);
    trl_strtab_fini(&m->unary);
    trl_strtab_fini(&m->chains);
    trl_free(m->binary_count);
    trl_free(m->unary_count);
    trl_free(m->chain);
    trl_btree_fini(&m->tree);
    trl_free(m->marks);
    trl_free(m);
    g->building = NULL;
}

void trl_grammar_fini(trl_grammar *g)
{
    free_maps(g);
    trl_strtab_fini(&g->labels);
    trl_strtab_fini(&g->names);
    trl_strtab_fini(&g->keys);
    trl_free(g->state);
    trl_free(g->binary);
    trl_free(g->binary_count);
    trl_free(g->by_left);
    trl_free(g->pair);
    trl_free(g->pair_by_left);
    trl_free(g->binary_parent);
    trl_free(g->unary);
    trl_free(g->unary_count);
    trl_free(g->by_child);
    trl_free(g->chain_pool);
    trl_free(g->parent_count);
    trl_free(g->parent_unseen);
    *g = (trl_grammar){0};
}

/* ---- counting -------------------------------------------------------------------------------- */

bool trl_count_rule(trl_strtab *rules, double **counts, size_t *cap, const uint32_t key[3],
                    double count)
{
    const size_t n = rules->n;
    double *c = trl_reserve(*counts, cap, n + 1, sizeof *c);
    if (!c)
        return false;
    *counts = c;
    const uint32_t id = trl_strtab_add(rules, (const char *)key, 3 * sizeof *key);
    if (id == TRL_NO_ID)
        return false;
    if (id == n)
        c[id] = 0.0;
    c[id] += count;
    return true;
}

/* The id of the chain below a node of the tree; TRL_NO_ID: out of memory. */
static uint32_t chain_below(trl_tree_coder *c, trl_grammar_maps *m, uint32_t top)
{
    const trl_tree *t = c->tree;
    const uint32_t bottom = trl_chain_bottom(t, top);
    size_t n = 0;
    for (uint32_t v = t->node[top].child; v != bottom && v != TRL_NO_NODE; v = t->node[v].child) {
        uint32_t *chain = trl_reserve(m->chain, &m->chain_cap, n + 1, sizeof *chain);
        if (!chain)
            return TRL_NO_ID;
        m->chain = chain;
        chain[n++] = trl_coder_label(c, t->node[v].label);
        if (c->failed)
            return TRL_NO_ID;
    }
    return trl_strtab_add(&m->chains, n ? (const char *)m->chain : "", n * sizeof *m->chain);
}

static bool count_rules(trl_tree_coder *c, trl_grammar_maps *m)
{
    const trl_bnode *node = m->tree.node;
    bool ok = true;
    for (size_t v = 0; ok && v < m->tree.n; v++) {
        const trl_bnode *b = &node[v];
        if (b->right != TRL_NO_NODE) {
            const uint32_t key[3] = {b->state, node[b->left].state, node[b->right].state};
            ok = trl_count_rule(&m->binary, &m->binary_count, &m->binary_cap, key, 1.0);
        } else if (b->left != TRL_NO_NODE) {
            const uint32_t chain = chain_below(c, m, b->rule);
            const uint32_t key[3] = {b->state, node[b->left].state, chain};
            ok = chain != TRL_NO_ID &&
                 trl_count_rule(&m->unary, &m->unary_count, &m->unary_cap, key, 1.0);
        }
    }
    return ok;
}

trl_status trl_grammar_add(trl_grammar *g, const trl_tree *tree, const trl_strtab *labels,
                           trl_error *err)
{
    trl_grammar_maps *m = g->building;
    trl_tree_coder c = {.g = g, .add = g, .heads = m->heads, .tree = tree, .labels = labels};
    if (g->labels.n == 0) { /* label 0 is the root's */
        const trl_str top =
            tree->n_nodes > 1 ? trl_strtab_get(labels, tree->node[0].label) : (trl_str){"TOP", 3};
        if (trl_strtab_add(&g->labels, top.p, top.n) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    if (!trl_coder_states(&c, &m->tree) || !count_rules(&c, m) || !trl_marks_count(&c, m))
        return trl_fail_mem(err);
    return TRL_OK;
}

/* ---- freezing -------------------------------------------------------------------------------- */

typedef struct counted_binary {
    trl_binary rule;
    double count;
} counted_binary;

typedef struct counted_unary {
    trl_unary rule;
    const uint32_t *pool;
    double count;
} counted_unary;

static int by_left_right_parent(const void *p, const void *q)
{
    const trl_binary *a = &((const counted_binary *)p)->rule;
    const trl_binary *b = &((const counted_binary *)q)->rule;
    if (a->left != b->left)
        return a->left < b->left ? -1 : 1;
    if (a->right != b->right)
        return a->right < b->right ? -1 : 1;
    return a->parent < b->parent ? -1 : a->parent > b->parent;
}

static int by_child_parent_chain(const void *p, const void *q)
{
    const counted_unary *a = p, *b = q;
    return trl_unary_order(&a->rule, &b->rule, a->pool);
}

static bool freeze_binary(trl_grammar *g)
{
    const trl_grammar_maps *m = g->building;
    const size_t n = m->binary.n;
    counted_binary *all = trl_alloc(n, sizeof *all);
    g->binary = trl_alloc(n, sizeof *g->binary);
    g->binary_count = trl_alloc(n, sizeof *g->binary_count);
    if (!all || !g->binary || !g->binary_count) {
        trl_free(all);
        return false;
    }
    for (size_t r = 0; r < n; r++) {
        uint32_t key[3];
        memcpy(key, trl_strtab_get(&m->binary, (uint32_t)r).p, sizeof key);
        all[r] = (counted_binary){{key[0], key[1], key[2], 0}, m->binary_count[r]};
    }
    qsort(all, n, sizeof *all, by_left_right_parent);
    for (size_t r = 0; r < n; r++) {
        g->binary[r] = all[r].rule;
        g->binary_count[r] = all[r].count;
    }
    g->n_binary = n;
    trl_free(all);
    return true;
}

static bool freeze_unary(trl_grammar *g)
{
    const trl_grammar_maps *m = g->building;
    const size_t n = m->unary.n;
    counted_unary *all = trl_alloc(n, sizeof *all);
    g->unary = trl_alloc(n, sizeof *g->unary);
    g->unary_count = trl_alloc(n, sizeof *g->unary_count);
    g->chain_pool = trl_alloc(m->chains.pool_len, 1);
    if (!all || !g->unary || !g->unary_count || !g->chain_pool) {
        trl_free(all);
        return false;
    }
    g->n_chain_pool = m->chains.pool_len / sizeof *g->chain_pool;
    if (g->n_chain_pool)
        memcpy(g->chain_pool, m->chains.pool, m->chains.pool_len);
    for (size_t r = 0; r < n; r++) {
        uint32_t key[3];
        memcpy(key, trl_strtab_get(&m->unary, (uint32_t)r).p, sizeof key);
        const trl_str chain = trl_strtab_get(&m->chains, key[2]);
        const size_t from = (size_t)m->chains.end[key[2]] - chain.n;
        all[r] = (counted_unary){{key[0], key[1], (uint32_t)(from / sizeof(uint32_t)),
                                  (uint32_t)(chain.n / sizeof(uint32_t)), 0},
                                 g->chain_pool,
                                 m->unary_count[r]};
    }
    qsort(all, n, sizeof *all, by_child_parent_chain);
    for (size_t r = 0; r < n; r++) {
        g->unary[r] = all[r].rule;
        g->unary_count[r] = all[r].count;
    }
    g->n_unary = n;
    trl_free(all);
    return true;
}

static bool add_unseen(trl_grammar *g)
{
    trl_mark_rules marks = {0};
    const bool ok = trl_grammar_marks(g, &marks) && trl_grammar_smooth(g) &&
                    trl_mark_rules_add(g, &marks) && trl_grammar_glue(g);
    trl_mark_rules_fini(&marks);
    return ok;
}

trl_status trl_grammar_finish(trl_grammar *g, trl_licence licence, trl_error *err)
{
    if (g->keys.n == 0)
        return trl_fail(err, TRL_EINVAL, "a grammar needs at least one tree");
    g->smoothed = licence == TRL_RULES_SMOOTHED;
    if ((licence != TRL_RULES_SEEN && !trl_grammar_relax(g)) || (g->smoothed && !add_unseen(g)) ||
        !freeze_binary(g) || !freeze_unary(g))
        return trl_fail_mem(err);
    free_maps(g);
    const trl_status st = trl_grammar_make_states(g, err);
    return st == TRL_OK ? trl_grammar_make_index(g, err) : st;
}
