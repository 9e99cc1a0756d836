/* source.c -- trees to binary trees with heads and dependencies. */
/* SPDX-License-Identifier: MIT */
#include "translate/source.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* What is at work while a tree is made. */
typedef struct maker {
    const trl_tree *t;
    const trl_head_rules *heads;
    uint32_t *label;      /* [n_nodes] as names have it */
    uint32_t *head_child; /* [n_nodes] TRL_NO_NODE: a word's node */
    uint32_t *head;       /* [n_nodes] a word */
    uint32_t *made;       /* [n_nodes] its binary node */
    uint32_t *child;      /* [n_nodes] scratch: binary nodes of children */
} maker;

void trl_source_fini(trl_source *s)
{
    trl_free(s->word);
    *s = (trl_source){0};
}

/* ---- names and heads ------------------------------------------------------------------------- */

static trl_status number(trl_strtab *t, trl_str s, bool add, uint32_t *id, trl_error *err)
{
    *id = add ? trl_strtab_add(t, s.p, s.n) : trl_strtab_find(t, s.p, s.n);
    return add && *id == TRL_NO_ID ? trl_fail_mem(err) : TRL_OK;
}

/* ---- the binary tree ------------------------------------------------------------------------- */

/* The children of v, made, become one node. */
static uint32_t cut(maker *m, trl_source *s, uint32_t v)
{
    size_t n = 0, head = 0;
    for (uint32_t c = m->t->node[v].child; c != TRL_NO_NODE; c = m->t->node[c].next) {
        if (c == m->head_child[v])
            head = n;
        m->child[n++] = m->made[c];
    }
    uint32_t top = m->child[head];
    for (size_t k = 1; k < n; k++) {
        const bool right = head + k < n;
        const uint32_t other = right ? m->child[head + k] : m->child[n - 1 - k];
        s->node[s->n_nodes] =
            (trl_source_node){m->label[v], right ? top : other, right ? other : top, m->head[v]};
        top = (uint32_t)s->n_nodes++;
    }
    return top;
}

/* Preorder backwards has children before parents. */
static void make_nodes(maker *m, trl_source *s)
{
    const trl_tree *t = m->t;
    for (uint32_t v = 0; v < t->n_nodes; v++)
        if (t->node[v].child == TRL_NO_NODE) {
            const uint32_t at = t->node[v].from;
            s->node[at] = (trl_source_node){m->label[v], TRL_NO_NODE, TRL_NO_NODE, at};
            m->made[v] = at;
        }
    s->n_nodes = s->n_words;
    for (uint32_t v = (uint32_t)t->n_nodes; v-- > 0;)
        if (t->node[v].child != TRL_NO_NODE)
            m->made[v] = cut(m, s, v);
}

/* ---- dependencies ---------------------------------------------------------------------------- */

typedef struct list {
    trl_source *s;
    uint32_t n;
} list;

static void put(list *l, trl_relation relation, uint32_t value)
{
    if (value != TRL_NO_ID)
        l->s->dependency[l->n++] = (trl_source_dependency){(uint32_t)relation, value};
}

/* Down from the maximal projection to the word. */
static void add_projection(const maker *m, list *l, uint32_t top)
{
    const trl_tree *t = m->t;
    const uint32_t parent = t->node[top].parent;
    put(l, TRL_TOP_LABEL, m->label[top]);
    if (parent != TRL_NO_NODE) {
        put(l, TRL_PARENT_LABEL, m->label[parent]);
        put(l, TRL_PARENT_HEAD, l->s->word[m->head[parent]]);
    }
    for (uint32_t v = top; m->head_child[v] != TRL_NO_NODE; v = m->head_child[v]) {
        put(l, TRL_HEAD_LABEL, m->label[m->head_child[v]]);
        for (uint32_t c = t->node[v].child; c != TRL_NO_NODE; c = t->node[c].next)
            if (c != m->head_child[v]) {
                put(l, TRL_DEPENDENT_LABEL, m->label[c]);
                put(l, TRL_DEPENDENT_HEAD, l->s->word[m->head[c]]);
            }
    }
}

/* `child` of the maker becomes the maximal projection of each word. */
static void make_dependencies(maker *m, trl_source *s)
{
    list l = {.s = s};
    for (uint32_t v = (uint32_t)m->t->n_nodes; v-- > 0;) /* the highest is the last to be set */
        m->child[m->head[v]] = v;
    for (size_t w = 0; w < s->n_words; w++) {
        add_projection(m, &l, m->child[w]);
        s->dependency_end[w] = l.n;
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

/* A node is a head child, or a dependent and a maximal projection: at most five numbers of it. */
static bool get_room(trl_source *s, size_t n_words, size_t n_nodes)
{
    const size_t nodes = 2 * n_words - 1, dependencies = 5 * n_nodes;
    const size_t bytes = nodes * sizeof *s->node + dependencies * sizeof *s->dependency +
                         2 * n_words * sizeof *s->word;
    char *block = trl_alloc(bytes, 1);
    if (!block)
        return false;
    s->word = (void *)block;
    s->dependency_end = s->word + n_words;
    s->node = (void *)(s->dependency_end + n_words);
    s->dependency = (void *)(s->node + nodes);
    s->n_words = n_words;
    return true;
}

trl_status trl_source_make(trl_source *s, const trl_tree *t, const trl_head_rules *heads,
                           trl_source_names *names, bool add, trl_error *err)
{
    const size_t n = t->n_nodes;
    uint32_t *room = trl_alloc(5 * n, sizeof *room);
    *s = (trl_source){0};
    if (!room || !get_room(s, t->n_words, n)) {
        trl_free(room);
        return trl_fail_mem(err);
    }
    maker m = {t, heads, room, room + n, room + 2 * n, room + 3 * n, room + 4 * n};
    trl_status st = TRL_OK;
    for (uint32_t v = 0; st == TRL_OK && v < n; v++)
        st = number(&names->labels, trl_tree_label(t, v), add, &m.label[v], err);
    for (size_t w = 0; st == TRL_OK && w < t->n_words; w++)
        st = number(&names->words, t->word[w], add, &s->word[w], err);
    if (st == TRL_OK) {
        trl_tree_heads(m.t, m.heads, m.head_child, m.head);
        make_nodes(&m, s);
        make_dependencies(&m, s);
    } else {
        trl_source_fini(s);
    }
    trl_free(room);
    return st;
}
