/* grammar_code.c -- trees in states and rules.
 *
 * The nodes of a tree lie in preorder, and so do those of its binary form: before every child but
 * the first and the last there is an active node.  So one pass over the tree yields the binary
 * nodes in their final order, and the number of children of each, from which the links follow.
 * Nothing recurses, nothing but the result is allocated. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "grammar/grammar_parts.h"
#include "treebank/label.h"

#define WIDE 64 /* children of a VP whose labels are gathered without an allocation */

void trl_btree_fini(trl_btree *t)
{
    trl_free(t->node);
    *t = (trl_btree){0};
}

/* ---- the binary nodes of a tree, one by one -------------------------------------------------- */

typedef struct item {
    uint32_t node; /* of the tree; of an active one: its first child */
    bool active, root;
    int children;
    uint32_t from, to;
} item;

typedef struct walk {
    const trl_tree *tree;
    uint32_t at;
    bool inside; /* the active node before `at` was given */
    bool rooted; /* the root was given */
} walk;

static bool has_one_child(const trl_tree *t, uint32_t v)
{
    const uint32_t c = t->node[v].child;
    return c != TRL_NO_NODE && t->node[c].next == TRL_NO_NODE;
}

uint32_t trl_chain_bottom(const trl_tree *tree, uint32_t top)
{
    uint32_t v = tree->node[top].child;
    if (v == TRL_NO_NODE)
        return top; /* a single tag below an added root */
    while (has_one_child(tree, v))
        v = tree->node[v].child;
    return v;
}

static bool next_item(walk *w, item *it)
{
    const trl_tree *t = w->tree;
    if (w->at >= t->n_nodes)
        return false;
    const trl_node *v = &t->node[w->at];
    *it = (item){.node = w->at, .from = v->from, .to = v->to};
    if (!w->rooted) {
        it->root = w->rooted = true;
        if (t->n_nodes == 1) {
            it->children = 1;
            return true; /* and the tag next */
        }
    } else if (!w->inside && v->parent != TRL_NO_NODE && v->next != TRL_NO_NODE &&
               t->node[v->parent].child != w->at) {
        it->active = w->inside = true;
        it->children = 2;
        it->to = t->node[v->parent].to;
        return true;
    }
    w->inside = false;
    if (v->child == TRL_NO_NODE) {
        w->at++;
    } else if (has_one_child(t, w->at)) {
        it->children = 1;
        w->at = trl_chain_bottom(t, w->at);
    } else {
        it->children = 2;
        w->at++;
    }
    return true;
}

/* ---- labels and states ----------------------------------------------------------------------- */

uint32_t trl_coder_label(trl_tree_coder *c, uint32_t label)
{
    const trl_str s = trl_strtab_get(c->labels, label);
    if (!c->add)
        return trl_strtab_find(&c->g->labels, s.p, s.n);
    const uint32_t id = trl_strtab_add(&c->add->labels, s.p, s.n);
    c->failed |= id == TRL_NO_ID;
    return id;
}

/* The label of a node; the root has the grammar's root label, which is label 0. */
static uint32_t label_of(trl_tree_coder *c, uint32_t v)
{
    const bool root = v == TRL_NO_NODE || (v == 0 && c->tree->n_nodes > 1);
    return root ? 0 : trl_coder_label(c, c->tree->node[v].label);
}

static trl_str text_of(const trl_tree_coder *c, uint32_t v)
{
    return trl_strtab_get(c->labels, c->tree->node[v].label);
}

/* The head child. */
static uint32_t head_of(trl_tree_coder *c, uint32_t v)
{
    const trl_node *node = c->tree->node;
    trl_str near[WIDE], *label = near;
    size_t n = 0;
    for (uint32_t k = node[v].child; k != TRL_NO_NODE; k = node[k].next)
        n++;
    if (n > WIDE && !(label = trl_alloc(n, sizeof *label))) {
        c->failed = true;
        return node[v].child;
    }
    n = 0;
    for (uint32_t k = node[v].child; k != TRL_NO_NODE; k = node[k].next)
        label[n++] = text_of(c, k);
    size_t at = trl_head_child(c->heads, text_of(c, v), label, n);
    uint32_t head = node[v].child;
    while (at--)
        head = node[head].next;
    if (label != near)
        trl_free(label);
    return head;
}

/* The tag of the head word below a VP; else, or when that is off, TRL_NO_ID. */
static uint32_t head_tag(trl_tree_coder *c, uint32_t v)
{
    if (!c->g->annotation.head_tags || !c->heads || v == 0)
        return TRL_NO_ID;
    if (!trl_label_is(trl_label_category(text_of(c, v)), "VP", 2))
        return TRL_NO_ID;
    while (c->tree->node[v].child != TRL_NO_NODE)
        v = has_one_child(c->tree, v) ? c->tree->node[v].child : head_of(c, v);
    return trl_coder_label(c, c->tree->node[v].label);
}

static uint32_t sibling_before(const trl_tree *t, uint32_t v)
{
    uint32_t u = v - 1;
    while (t->node[u].parent != t->node[v].parent)
        u = t->node[u].parent;
    return u;
}

/* The key of the phrase or tag v under the annotation. */
static trl_state_key key_of_node(trl_tree_coder *c, uint32_t v)
{
    const trl_annotation *a = &c->g->annotation;
    const trl_node *node = &c->tree->node[v];
    const bool tag = node->child == TRL_NO_NODE;
    trl_state_key k = {TRL_STATE_PHRASE, label_of(c, v), TRL_NO_ID,
                       TRL_NO_ID,        TRL_NO_ID,      TRL_NO_ID};
    if (v == 0 && !tag)
        return k;
    k.type = tag ? TRL_STATE_TAG : TRL_STATE_PHRASE;
    if (tag ? a->tag_parents : a->parents)
        k.above = label_of(c, node->parent);
    if (!tag)
        k.head = head_tag(c, v);
    return k;
}

static trl_state_key key_of_item(trl_tree_coder *c, const item *it)
{
    if (it->root)
        return (trl_state_key){TRL_KEY_ROOT, 0, TRL_NO_ID, TRL_NO_ID, TRL_NO_ID, TRL_NO_ID};
    if (!it->active)
        return key_of_node(c, it->node);
    trl_state_key k = key_of_node(c, c->tree->node[it->node].parent);
    k.type = TRL_STATE_ACTIVE;
    if (c->g->annotation.markov >= 1)
        k.first = label_of(c, it->node);
    if (c->g->annotation.markov >= 2)
        k.previous = label_of(c, sibling_before(c->tree, it->node));
    return k;
}

/* In look-ups an unknown label is TRL_NO_ID, which in a key means "off". That never leads to a
 * wrong tree: the node with that label has a key that no state has. */
static uint32_t state_of(trl_tree_coder *c, const item *it)
{
    const trl_state_key k = key_of_item(c, it);
    if (!c->add)
        return trl_grammar_find(c->g, &k);
    const uint32_t id = trl_strtab_add(&c->add->keys, (const char *)&k, sizeof k);
    c->failed |= id == TRL_NO_ID;
    return id;
}

bool trl_coder_states(trl_tree_coder *c, trl_btree *out)
{
    walk w = {.tree = c->tree};
    item it;
    uint32_t open = TRL_NO_NODE; /* nodes that wait for a right child, linked by `rule` */
    int before = 0;              /* children of the last node */
    out->n = 0;
    while (next_item(&w, &it)) {
        trl_bnode *node = trl_reserve(out->node, &out->cap, out->n + 1, sizeof *node);
        if (!node)
            return false;
        out->node = node;
        const uint32_t v = (uint32_t)out->n++;
        node[v] =
            (trl_bnode){state_of(c, &it), TRL_NO_ID, it.from, it.to, TRL_NO_NODE, TRL_NO_NODE};
        if (before) {
            node[v - 1].left = v;
        } else if (open != TRL_NO_NODE) {
            const uint32_t p = open;
            node[p].right = v;
            open = node[p].rule;
            node[p].rule = TRL_NO_ID;
        }
        if (it.children == 2) {
            node[v].rule = open;
            open = v;
        } else if (it.children == 1) {
            node[v].rule = it.node;
        }
        before = it.children;
    }
    return !c->failed;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static uint32_t find_binary(const trl_grammar *g, uint32_t parent, uint32_t left, uint32_t right)
{
    if (parent == TRL_NO_ID || left == TRL_NO_ID || right == TRL_NO_ID)
        return TRL_NO_ID;
    uint32_t from = g->by_left[left], to = g->by_left[left + 1];
    while (from < to) {
        const uint32_t mid = from + (to - from) / 2;
        const trl_binary *r = &g->binary[mid];
        if (r->right < right || (r->right == right && r->parent < parent))
            from = mid + 1;
        else
            to = mid;
    }
    if (from == g->by_left[left + 1] || g->binary[from].right != right ||
        g->binary[from].parent != parent)
        return TRL_NO_ID;
    return from;
}

static bool same_chain(trl_tree_coder *c, const trl_unary *r, uint32_t top, uint32_t bottom)
{
    uint32_t v = c->tree->node[top].child;
    for (uint32_t k = 0; k < r->chain_length; k++) {
        if (v == TRL_NO_NODE || v == bottom ||
            trl_coder_label(c, c->tree->node[v].label) != c->g->chain_pool[r->chain + k])
            return false;
        v = c->tree->node[v].child;
    }
    return v == bottom || v == TRL_NO_NODE;
}

static uint32_t find_unary(trl_tree_coder *c, uint32_t parent, uint32_t child, uint32_t top)
{
    const trl_grammar *g = c->g;
    if (parent == TRL_NO_ID || child == TRL_NO_ID)
        return TRL_NO_ID;
    const uint32_t end = g->by_child[child + 1];
    uint32_t from = g->by_child[child], to = end;
    while (from < to) {
        const uint32_t mid = from + (to - from) / 2;
        if (g->unary[mid].parent < parent)
            from = mid + 1;
        else
            to = mid;
    }
    const uint32_t bottom = trl_chain_bottom(c->tree, top);
    for (; from < end && g->unary[from].parent == parent; from++) {
        if (same_chain(c, &g->unary[from], top, bottom))
            return from;
    }
    return TRL_NO_ID;
}

/* The node of the tree that binary node number n stands for; of an active one: its parent. */
static uint32_t source_of(const trl_tree *tree, size_t n)
{
    walk w = {.tree = tree};
    item it = {0};
    for (size_t i = 0; i <= n; i++)
        next_item(&w, &it);
    return it.active ? tree->node[it.node].parent : it.node;
}

trl_status trl_grammar_encode(const trl_grammar *g, const trl_encoded *of, trl_btree *out,
                              bool *known, uint32_t *missing, trl_error *err)
{
    trl_tree_coder c = {.g = g, .heads = of->heads, .tree = of->tree, .labels = of->labels};
    *known = false;
    if (!trl_coder_states(&c, out))
        return trl_fail_mem(err);
    for (size_t v = 0; v < out->n; v++) {
        trl_bnode *b = &out->node[v];
        bool found = b->state != TRL_NO_ID;
        if (b->right != TRL_NO_NODE) {
            b->rule = find_binary(g, b->state, out->node[b->left].state, out->node[b->right].state);
            found = b->rule != TRL_NO_ID;
        } else if (b->left != TRL_NO_NODE) {
            b->rule = find_unary(&c, b->state, out->node[b->left].state, b->rule);
            found = b->rule != TRL_NO_ID;
        }
        if (!found) {
            if (missing)
                *missing = source_of(of->tree, v);
            return TRL_OK;
        }
    }
    *known = true;
    return TRL_OK;
}
