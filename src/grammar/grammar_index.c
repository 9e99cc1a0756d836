/* grammar_index.c -- derived from a grammar's states and rules: names, classes, ranges. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "grammar/grammar_parts.h"

trl_state_key trl_grammar_key(const trl_grammar *g, uint32_t state)
{
    trl_state_key k;
    memcpy(&k, trl_strtab_get(&g->keys, state).p, sizeof k);
    return k;
}

/* ---- states ---------------------------------------------------------------------------------- */

static void add_part(const trl_grammar *g, const char *mark, uint32_t label, trl_buf *name)
{
    if (label == TRL_NO_ID)
        return;
    const trl_str s = trl_strtab_get(&g->labels, label);
    trl_buf_str(name, mark);
    if (s.n)
        trl_buf_add(name, s.p, s.n);
    else
        trl_buf_str(name, "ROOT"); /* ( (S ...)) */
}

/* Adds the state's name, with #2, #3 ... where others have it already. */
static bool add_name(trl_grammar *g, const trl_state_key *k, trl_buf *name)
{
    const size_t id = g->names.n;
    name->len = 0;
    add_part(g, k->type == TRL_STATE_ACTIVE ? "@" : "", k->base, name);
    add_part(g, "%", k->head, name);
    add_part(g, "^", k->above, name);
    add_part(g, "|", k->first, name);
    add_part(g, "<", k->previous, name);
    const size_t plain = name->len;
    for (unsigned turn = 2; !name->failed; turn++) {
        const uint32_t at = trl_strtab_add(&g->names, name->data, name->len);
        if (at == TRL_NO_ID)
            return false;
        if (at == id)
            return true;
        name->len = plain;
        trl_buf_fmt(name, "#%u", turn);
    }
    return false;
}

static bool add_state(trl_grammar *g, uint32_t id, trl_strtab *classes, trl_buf *name)
{
    const trl_state_key k = trl_grammar_key(g, id);
    const bool root = k.type == TRL_KEY_ROOT;
    trl_state *s = &g->state[id];
    *s = (trl_state){
        .base = k.base, .above = k.above, .type = root ? TRL_STATE_PHRASE : (trl_state_type)k.type};
    if (root)
        g->root = id;
    const uint32_t class[2] = {k.base, (uint32_t)s->type};
    s->plain = trl_strtab_add(classes, (const char *)class, sizeof class);
    return s->plain != TRL_NO_ID && add_name(g, &k, name);
}

trl_status trl_grammar_make_states(trl_grammar *g, trl_error *err)
{
    trl_strtab classes = {0};
    trl_buf name = {0};
    g->state = trl_alloc(g->keys.n, sizeof *g->state);
    bool ok = g->state != NULL;
    g->n_states = ok ? g->keys.n : 0;
    for (size_t s = 0; ok && s < g->n_states; s++)
        ok = add_state(g, (uint32_t)s, &classes, &name);
    g->n_plain = classes.n;
    trl_strtab_fini(&classes);
    trl_buf_fini(&name);
    return ok ? TRL_OK : trl_fail_mem(err);
}

/* ---- rules ----------------------------------------------------------------------------------- */

int trl_unary_order(const trl_unary *a, const trl_unary *b, const uint32_t *pool)
{
    if (a->child != b->child)
        return a->child < b->child ? -1 : 1;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->chain_length != b->chain_length)
        return a->chain_length < b->chain_length ? -1 : 1;
    for (uint32_t k = 0; k < a->chain_length; k++) {
        const uint32_t x = pool[a->chain + k], y = pool[b->chain + k];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

/* A class by its plain states; in a smoothed grammar a class that was seen at most once has none of
 * its own: it belongs to all such rules of the same parent, with children of the same types.  So
 * that features know rules never seen: by what is learnt of those seen once. */
static uint32_t type_of(const trl_grammar *g, uint32_t state)
{
    return state == TRL_NO_ID ? 0 : (uint32_t)g->state[state].type;
}

static uint32_t plain_of(const trl_grammar *g, uint32_t state)
{
    return state == TRL_NO_ID ? TRL_NO_ID : g->state[state].plain;
}

typedef struct rule_states {
    uint32_t parent, left, right; /* right: TRL_NO_ID in unary rules */
} rule_states;

/* Numbers the classes of n rules in class[]; false: out of memory. */
static bool classify(const trl_grammar *g, const rule_states *rule, const double *rule_count,
                     size_t n, uint32_t *class, size_t *n_classes)
{
    trl_strtab plain = {0}, shared = {0};
    double *count = NULL;
    size_t cap = 0;
    bool ok = true;
    for (size_t r = 0; ok && r < n; r++) {
        const uint32_t key[3] = {plain_of(g, rule[r].parent), plain_of(g, rule[r].left),
                                 plain_of(g, rule[r].right)};
        ok = trl_count_rule(&plain, &count, &cap, key, rule_count[r] < 1.0 ? 0.0 : rule_count[r]);
        if (ok)
            class[r] = trl_strtab_find(&plain, (const char *)key, sizeof key);
    }
    for (size_t r = 0; ok && r < n; r++) {
        uint32_t key[4] = {plain_of(g, rule[r].parent), plain_of(g, rule[r].left),
                           plain_of(g, rule[r].right), 0};
        if (g->smoothed && count[class[r]] < 2.0) {
            key[1] = type_of(g, rule[r].left);
            key[2] = type_of(g, rule[r].right);
            key[3] = 1;
        }
        class[r] = trl_strtab_add(&shared, (const char *)key, sizeof key);
        ok = class[r] != TRL_NO_ID;
    }
    *n_classes = shared.n;
    trl_strtab_fini(&plain);
    trl_strtab_fini(&shared);
    trl_free(count);
    return ok;
}

static bool classify_rules(trl_grammar *g)
{
    const size_t most = g->n_binary > g->n_unary ? g->n_binary : g->n_unary;
    rule_states *rule = trl_alloc(most, sizeof *rule);
    uint32_t *class = trl_alloc(most, sizeof *class);
    bool ok = rule && class;
    for (size_t r = 0; ok && r < g->n_binary; r++)
        rule[r] = (rule_states){g->binary[r].parent, g->binary[r].left, g->binary[r].right};
    ok = ok && classify(g, rule, g->binary_count, g->n_binary, class, &g->n_plain_binary);
    for (size_t r = 0; ok && r < g->n_binary; r++)
        g->binary[r].plain = class[r];
    for (size_t r = 0; ok && r < g->n_unary; r++)
        rule[r] = (rule_states){g->unary[r].parent, g->unary[r].child, TRL_NO_ID};
    ok = ok && classify(g, rule, g->unary_count, g->n_unary, class, &g->n_plain_unary);
    for (size_t r = 0; ok && r < g->n_unary; r++)
        g->unary[r].plain = class[r];
    trl_free(rule);
    trl_free(class);
    return ok;
}

static void count_parent(trl_grammar *g, uint32_t parent, double count)
{
    g->parent_count[parent] += count;
    g->parent_unseen[parent] += count == 0.0;
}

/* Pairs of children, from rules sorted by them. */
static bool make_pairs(trl_grammar *g)
{
    g->pair_by_left = trl_zalloc(g->n_states + 1, sizeof *g->pair_by_left);
    g->binary_parent = trl_alloc(g->n_binary, sizeof *g->binary_parent);
    g->pair = trl_alloc(g->n_binary + 1, sizeof *g->pair);
    if (!g->pair_by_left || !g->binary_parent || !g->pair)
        return false;
    for (uint32_t r = 0; r < g->n_binary; r++) {
        const trl_binary *b = &g->binary[r];
        g->binary_parent[r] = b->parent;
        if (r > 0 && b->left == b[-1].left && b->right == b[-1].right)
            continue;
        g->pair[g->n_pairs++] = (trl_child_pair){b->right, r};
        g->pair_by_left[b->left + 1]++;
    }
    g->pair[g->n_pairs] = (trl_child_pair){TRL_NO_ID, (uint32_t)g->n_binary};
    for (size_t s = 0; s < g->n_states; s++)
        g->pair_by_left[s + 1] += g->pair_by_left[s];
    return true;
}

trl_status trl_grammar_make_index(trl_grammar *g, trl_error *err)
{
    g->by_left = trl_zalloc(g->n_states + 1, sizeof *g->by_left);
    g->by_child = trl_zalloc(g->n_states + 1, sizeof *g->by_child);
    g->parent_count = trl_zalloc(g->n_states, sizeof *g->parent_count);
    g->parent_unseen = trl_zalloc(g->n_states, sizeof *g->parent_unseen);
    if (!g->by_left || !g->by_child || !g->parent_count || !g->parent_unseen ||
        !classify_rules(g) || !make_pairs(g))
        return trl_fail_mem(err);
    for (size_t r = 0; r < g->n_binary; r++) {
        g->by_left[g->binary[r].left + 1]++;
        count_parent(g, g->binary[r].parent, g->binary_count[r]);
    }
    for (size_t r = 0; r < g->n_unary; r++) {
        g->by_child[g->unary[r].child + 1]++;
        count_parent(g, g->unary[r].parent, g->unary_count[r]);
    }
    for (size_t s = 0; s < g->n_states; s++) {
        g->by_left[s + 1] += g->by_left[s];
        g->by_child[s + 1] += g->by_child[s];
    }
    return TRL_OK;
}
