/* rerank_features.c -- features of whole trees. */
/* SPDX-License-Identifier: MIT */
#include "parser/rerank_features.h"

#include "base/fail.h"
#include "base/mem.h"
#include "parser/rerank_nodes.h"

#define MOST 64 /* keys of one node, without those for every child */
#define EACH 24 /* keys for every child */

/* Families: the first number of every key. */
enum {
    RULE = 1,
    RULE_PARENT,
    RULE_GRANDPARENT,
    RULE_WORD,
    PAIR_OF_CHILDREN,
    THREE_CHILDREN,
    HEAD_RULES,
    LAST_RULES,
    HEAD_TAGS,
    HEAD_WORD,
    DEPENDENT_WORD,
    HEAD_WORDS,
    HEAD_DISTANCE,
    ABOVE_TAGS,
    OBJECT_WORDS,
    OBJECT_TAG,
    OBJECT_HEAD_TAG,
    OBJECT_TAGS,
    HEAVY,
    HEAVY_PARENT,
    NEIGHBOURS,
    BEFORE_TWO,
    AFTER_TWO,
    WORD_BEFORE,
    WORD_AFTER,
    EDGE_TAGS,
    EDGE_FIRST,
    EDGE_LAST,
    WORD_PARENT,
    WORD_GRANDPARENT,
    WORD_GREAT,
    PROJECTION_WORD,
    PROJECTION_TAG,
    PARALLEL_SHAPE,
    PARALLEL_LENGTH,
    PARALLEL_TAGS,
    PARALLEL_WORDS,
    CLUSTERS_BITS,
    CLUSTER_HEAD,
    CLUSTER_DEPENDENT,
    CLUSTERS_WHOLE,
    CLUSTERS_OBJECT,
    CLUSTERS_OBJECT_BITS,
    CLUSTERS_PARALLEL,
    CLUSTERS_PARALLEL_BITS,
    ON_RIGHT,
    OFF_RIGHT
};

#define KEY1(f, a) trl_rerank_mix(f, a)
#define KEY2(f, a, b) trl_rerank_mix(KEY1(f, a), b)
#define KEY3(f, a, b, c) trl_rerank_mix(KEY2(f, a, b), c)
#define KEY4(f, a, b, c, d) trl_rerank_mix(KEY3(f, a, b, c), d)
#define KEY5(f, a, b, c, d, e) trl_rerank_mix(KEY4(f, a, b, c, d), e)

static void put(trl_rerank_features *x, uint64_t key)
{
    x->out->key[x->out->n++] = key ? key : 1;
}

/* ---- places ---------------------------------------------------------------------------------- */

static uint64_t above(const trl_rerank_features *x, uint32_t v, int levels)
{
    while (levels-- > 0 && v != TRL_NO_NODE)
        v = x->tree[v].parent;
    return v == TRL_NO_NODE ? TRL_RERANK_NOTHING : x->node[v].label;
}

/* Of words before the first and after the last, too. */
static uint64_t tag_at(const trl_rerank_features *x, int64_t i)
{
    return i < 0 || i >= (int64_t)x->n_words ? TRL_RERANK_NOTHING : x->tag[i];
}

static uint64_t word_at(const trl_rerank_features *x, int64_t i)
{
    return i < 0 || i >= (int64_t)x->n_words ? TRL_RERANK_NOTHING : x->word[i];
}

static uint64_t length_class(uint32_t n)
{
    return n <= 4 ? n : n <= 6 ? 5 : n <= 10 ? 6 : n <= 20 ? 7 : 8;
}

/* ---- families -------------------------------------------------------------------------------- */

static void add_rules(trl_rerank_features *x, uint32_t v)
{
    const trl_rerank_node *me = &x->node[v];
    put(x, KEY1(RULE, me->rule));
    put(x, KEY2(RULE_PARENT, me->rule, above(x, v, 1)));
    put(x, KEY3(RULE_GRANDPARENT, me->rule, above(x, v, 1), above(x, v, 2)));
    put(x, KEY2(RULE_WORD, me->rule, x->word[me->head]));
}

static void add_subtrees(trl_rerank_features *x, uint32_t v)
{
    const trl_rerank_node *me = &x->node[v];
    const uint32_t last = x->kid[me->first + me->n_children - 1];
    put(x, KEY2(HEAD_RULES, me->rule, x->node[me->head_child].rule));
    if (last != me->head_child)
        put(x, KEY2(LAST_RULES, me->rule, x->node[last].rule));
}

/* Where a window of children stands: 0 before the head, 1 with it, 2 after it. */
static void add_ngrams(trl_rerank_features *x, uint32_t v)
{
    const trl_rerank_node *me = &x->node[v];
    uint64_t a = TRL_RERANK_NOTHING, b = TRL_RERANK_NOTHING, side = 0;
    for (uint32_t k = 0; k <= me->n_children; k++) {
        const uint32_t c = k < me->n_children ? x->kid[me->first + k] : TRL_NO_NODE;
        const uint64_t l = c == TRL_NO_NODE ? TRL_RERANK_NOTHING : x->node[c].label;
        side = c == me->head_child && c != TRL_NO_NODE ? 1 : side ? 2 : 0;
        put(x, KEY4(PAIR_OF_CHILDREN, me->label, b, l, side));
        put(x, KEY5(THREE_CHILDREN, me->label, a, b, l, side));
        a = b;
        b = l;
    }
}

/* The head of the last child after a head that is a word: the object of a preposition; TRL_NO_ID:
 * none. */
static uint32_t object_of(const trl_rerank_features *x, uint32_t c)
{
    const trl_rerank_node *me = &x->node[c];
    if (me->n_children < 2 || x->node[me->head_child].n_children)
        return TRL_NO_ID;
    for (uint32_t k = me->n_children; k-- > 0 && x->kid[me->first + k] != me->head_child;)
        if (trl_rerank_kind(x, x->kid[me->first + k]) == TRL_RERANK_PLAIN)
            return x->node[x->kid[me->first + k]].head;
    return TRL_NO_ID;
}

static void add_heads(trl_rerank_features *x, uint32_t v, uint32_t c)
{
    const uint32_t h = x->node[v].head, d = x->node[c].head;
    const uint64_t l =
        KEY3(d < h, x->node[v].label, x->node[c].label, x->node[x->node[v].head_child].label);
    const uint64_t *w = x->word, *t = x->tag;
    put(x, KEY3(HEAD_TAGS, l, t[h], t[d]));
    put(x, KEY3(HEAD_WORD, l, w[h], t[d]));
    put(x, KEY3(DEPENDENT_WORD, l, t[h], w[d]));
    put(x, KEY3(HEAD_WORDS, d < h, w[h], w[d]));
    put(x, KEY4(HEAD_DISTANCE, l, t[h], t[d], length_class(d < h ? h - d : d - h)));
}

static void add_triples(trl_rerank_features *x, uint32_t v, uint32_t c)
{
    const uint32_t h = x->node[v].head, d = x->node[c].head, o = object_of(x, c);
    const uint64_t *w = x->word, *t = x->tag;
    const uint64_t l = KEY2(d < h, x->node[v].label, x->node[c].label);
    uint32_t top = v; /* the node whose parent has another head */
    while (x->tree[top].parent != TRL_NO_NODE && x->node[x->tree[top].parent].head == h)
        top = x->tree[top].parent;
    const uint64_t governor = x->tree[top].parent == TRL_NO_NODE
                                  ? TRL_RERANK_NOTHING
                                  : t[x->node[x->tree[top].parent].head];
    put(x, KEY4(ABOVE_TAGS, l, governor, t[h], t[d]));
    if (o == TRL_NO_ID)
        return;
    put(x, KEY3(OBJECT_WORDS, w[h], w[d], w[o]));
    put(x, KEY4(OBJECT_TAG, l, w[h], w[d], t[o]));
    put(x, KEY4(OBJECT_HEAD_TAG, l, t[h], w[d], w[o]));
    put(x, KEY4(OBJECT_TAGS, l, t[h], w[d], t[o]));
}

/* The same by clusters, where both words have one. */
static void add_clusters(trl_rerank_features *x, uint32_t v, uint32_t c)
{
    const uint32_t h = x->node[v].head, d = x->node[c].head, o = object_of(x, c);
    const uint32_t *p = x->cluster[h], *q = x->cluster[d];
    const uint64_t l = KEY2(d < h, x->node[v].label, x->node[c].label);
    if (!p[0] || !q[0])
        return;
    put(x, KEY3(CLUSTERS_BITS, l, p[2], q[2]));
    put(x, KEY3(CLUSTER_HEAD, l, p[0], x->tag[d]));
    put(x, KEY3(CLUSTER_DEPENDENT, l, x->tag[h], q[0]));
    put(x, KEY3(CLUSTERS_WHOLE, d < h, p[0], q[0]));
    if (o == TRL_NO_ID || !x->cluster[o][0])
        return;
    put(x, KEY4(CLUSTERS_OBJECT, l, p[0], x->word[d], x->cluster[o][0]));
    put(x, KEY4(CLUSTERS_OBJECT_BITS, l, p[2], x->word[d], x->cluster[o][2]));
}

static void add_dependents(trl_rerank_features *x, uint32_t v)
{
    const trl_rerank_node *me = &x->node[v];
    for (uint32_t k = 0; k < me->n_children; k++) {
        const uint32_t c = x->kid[me->first + k];
        if (c == me->head_child)
            continue;
        if (x->groups & TRL_RERANK_HEADS)
            add_heads(x, v, c);
        if (x->groups & TRL_RERANK_TRIPLES)
            add_triples(x, v, c);
        if (x->groups & TRL_RERANK_CLUSTERS)
            add_clusters(x, v, c);
    }
}

static void add_heavy(trl_rerank_features *x, uint32_t v)
{
    const uint64_t l = x->node[v].label, n = length_class(x->tree[v].to - x->tree[v].from);
    const uint32_t to = x->tree[v].to;
    const uint64_t left = x->n_words - to > 2 ? 2 : x->n_words - to;
    put(x, KEY4(HEAVY, l, n, left, tag_at(x, to)));
    put(x, KEY4(HEAVY_PARENT, l, n, above(x, v, 1), left));
}

static void add_neighbours(trl_rerank_features *x, uint32_t v)
{
    const int64_t i = x->tree[v].from, j = x->tree[v].to;
    const uint64_t l = KEY1(x->node[v].label, length_class((uint32_t)(j - i)));
    put(x, KEY3(NEIGHBOURS, l, tag_at(x, i - 1), tag_at(x, j)));
    put(x, KEY3(BEFORE_TWO, l, tag_at(x, i - 2), tag_at(x, i - 1)));
    put(x, KEY3(AFTER_TWO, l, tag_at(x, j), tag_at(x, j + 1)));
    put(x, KEY2(WORD_BEFORE, l, word_at(x, i - 1)));
    put(x, KEY2(WORD_AFTER, l, word_at(x, j)));
}

static void add_edges(trl_rerank_features *x, uint32_t v)
{
    const uint32_t i = x->tree[v].from, j = x->tree[v].to;
    const uint64_t l = x->node[v].label, up = above(x, v, 1);
    put(x, KEY4(EDGE_TAGS, l, up, x->tag[i], x->tag[j - 1]));
    put(x, KEY3(EDGE_FIRST, l, up, x->word[i]));
    put(x, KEY3(EDGE_LAST, l, up, x->word[j - 1]));
}

/* Of a tag: the word with what is above it, and with its projection, the uppermost node that has
 * it as its head. */
static void add_word(trl_rerank_features *x, uint32_t v)
{
    const uint32_t i = x->tree[v].from;
    const uint64_t w = x->word[i], t = x->tag[i], up = above(x, v, 1), up2 = above(x, v, 2);
    put(x, KEY3(WORD_PARENT, w, t, up));
    put(x, KEY4(WORD_GRANDPARENT, w, t, up, up2));
    put(x, KEY5(WORD_GREAT, w, t, up, up2, above(x, v, 3)));
    uint32_t top = v;
    while (x->tree[top].parent != TRL_NO_NODE && x->node[x->tree[top].parent].head == i)
        top = x->tree[top].parent;
    put(x, KEY4(PROJECTION_WORD, w, t, x->node[top].label, above(x, top, 1)));
    put(x, KEY4(PROJECTION_TAG, t, x->node[top].label, above(x, top, 1), above(x, top, 2)));
}

/* To how many levels two nodes are the same, 4 at most: 0 when their labels differ, 1 when their
 * children do. */
static uint32_t same_shape(const trl_rerank_features *x, uint32_t a, uint32_t b, uint32_t levels)
{
    const trl_rerank_node *p = &x->node[a], *q = &x->node[b];
    if (p->label != q->label)
        return 0;
    if (p->rule != q->rule || p->n_children != q->n_children || levels == 1)
        return 1;
    uint32_t least = levels - 1;
    for (uint32_t k = 0; k < p->n_children && least; k++) {
        const uint32_t s = same_shape(x, x->kid[p->first + k], x->kid[q->first + k], levels - 1);
        least = s < least ? s : least;
    }
    return 1 + least;
}

static void add_conjuncts(trl_rerank_features *x, uint32_t v, uint32_t a, uint32_t b)
{
    const trl_rerank_node *p = &x->node[a], *q = &x->node[b];
    const uint64_t l = x->node[v].label;
    const int64_t m = x->tree[a].to - x->tree[a].from, n = x->tree[b].to - x->tree[b].from;
    const int64_t more = n - m < -4 ? -4 : n - m > 4 ? 4 : n - m;
    put(x, KEY4(PARALLEL_SHAPE, l, p->label, q->label, same_shape(x, a, b, 4)));
    put(x, KEY3(PARALLEL_LENGTH, l, (uint64_t)more, x->tree[b].to == x->tree[v].to));
    put(x, KEY3(PARALLEL_TAGS, l, x->tag[p->head], x->tag[q->head]));
    put(x, KEY2(PARALLEL_WORDS, x->word[p->head], x->word[q->head]));
    const uint32_t *f = x->cluster[p->head], *g = x->cluster[q->head];
    if (!f[0] || !g[0])
        return;
    put(x, KEY2(CLUSTERS_PARALLEL, l, f[0] == g[0] ? 1 : f[2] == g[2] ? 2 : f[1] == g[1] ? 3 : 4));
    put(x, KEY3(CLUSTERS_PARALLEL_BITS, l, f[2], g[2]));
}

/* Pairs of children that have nothing but a conjunction or punctuation between them. */
static void add_parallel(trl_rerank_features *x, uint32_t v)
{
    const trl_rerank_node *me = &x->node[v];
    bool coordinated = false;
    for (uint32_t k = 0; k < me->n_children; k++)
        coordinated =
            coordinated || trl_rerank_kind(x, x->kid[me->first + k]) == TRL_RERANK_COORDINATION;
    uint32_t before = TRL_NO_NODE;
    for (uint32_t k = 0; coordinated && k < me->n_children; k++) {
        const uint32_t c = x->kid[me->first + k];
        if (trl_rerank_kind(x, c) != TRL_RERANK_PLAIN)
            continue;
        if (before != TRL_NO_NODE && x->tree[before].to < x->tree[c].from)
            add_conjuncts(x, v, before, c);
        before = c;
    }
}

/* Whether the last word but punctuation is below a node. */
static void add_branching(trl_rerank_features *x)
{
    uint32_t last = 0;
    for (uint32_t v = 0; v < x->n_nodes; v++)
        if (x->node[v].n_children == 0 && trl_rerank_kind(x, v) != TRL_RERANK_PUNCTUATION)
            last = x->tree[v].from;
    for (uint32_t v = 0; v < x->n_nodes; v++)
        if (x->node[v].n_children)
            put(x, KEY1(x->tree[v].from <= last && last < x->tree[v].to ? ON_RIGHT : OFF_RIGHT, 0));
}

static void add_node(trl_rerank_features *x, uint32_t v)
{
    if (x->groups & TRL_RERANK_RULES)
        add_rules(x, v);
    if (x->groups & TRL_RERANK_NGRAMS)
        add_ngrams(x, v);
    if (x->groups & TRL_RERANK_SUBTREES)
        add_subtrees(x, v);
    if (x->groups & (TRL_RERANK_HEADS | TRL_RERANK_TRIPLES | TRL_RERANK_CLUSTERS))
        add_dependents(x, v);
    if (x->groups & TRL_RERANK_HEAVY)
        add_heavy(x, v);
    if (x->groups & TRL_RERANK_NEIGHBOURS)
        add_neighbours(x, v);
    if (x->groups & TRL_RERANK_EDGES)
        add_edges(x, v);
    if (x->groups & TRL_RERANK_PARALLEL)
        add_parallel(x, v);
}

trl_status trl_rerank_tree(trl_rerank_features *x, const trl_node_list *tree, trl_rerank_keys *out,
                           trl_error *err)
{
    out->n = 0;
    uint64_t *key = trl_reserve(out->key, &out->cap, tree->n * (MOST + EACH), sizeof *key);
    out->key = key ? key : out->key;
    if (!key || !trl_rerank_look(x, tree))
        return trl_fail_mem(err);
    x->out = out;
    for (uint32_t v = 0; v < tree->n; v++)
        if (x->node[v].n_children)
            add_node(x, v);
        else if (x->groups & TRL_RERANK_WORDS)
            add_word(x, v);
    if (x->groups & TRL_RERANK_BRANCHING)
        add_branching(x);
    return TRL_OK;
}
