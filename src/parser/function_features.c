/* function_features.c -- the texts of a node's features. */
/* SPDX-License-Identifier: MIT */
#include "parser/function_features.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "treebank/label.h"

void trl_function_reader_fini(trl_function_reader *r)
{
    trl_free(r->head_child);
    trl_free(r->head);
    trl_free(r->tag);
    trl_buf_fini(&r->text);
    *r = (trl_function_reader){0};
}

trl_status trl_function_reader_begin(trl_function_reader *r, const trl_tree *tree, trl_error *err)
{
    uint32_t *child = trl_reserve(r->head_child, &r->cap_head_child, tree->n_nodes, sizeof *child);
    r->head_child = child ? child : r->head_child;
    uint32_t *head = trl_reserve(r->head, &r->cap_head, tree->n_nodes, sizeof *head);
    r->head = head ? head : r->head;
    uint32_t *tag = trl_reserve(r->tag, &r->cap_tag, tree->n_words, sizeof *tag);
    r->tag = tag ? tag : r->tag;
    if (!child || !head || !tag)
        return trl_fail_mem(err);
    r->tree = tree;
    trl_tree_heads(tree, r->heads, child, head);
    for (uint32_t v = 0; v < tree->n_nodes; v++)
        if (tree->node[v].child == TRL_NO_NODE)
            tag[tree->node[v].from] = v;
    return TRL_OK;
}

trl_str trl_function_feature(const trl_function_reader *r, size_t k)
{
    const size_t from = k ? r->end[k - 1] : 0;
    return (trl_str){r->text.data + from, r->end[k] - from};
}

/* ---- what is looked at ----------------------------------------------------------------------- */

static const trl_str nothing = {"-", 1};

static trl_str label(const trl_function_reader *r, uint32_t v)
{
    return v == TRL_NO_NODE ? nothing : trl_tree_label(r->tree, v);
}

/* Words before and after the sentence are nothing. */
static trl_str tag_at(const trl_function_reader *r, size_t i)
{
    return i < r->tree->n_words ? label(r, r->tag[i]) : nothing;
}

static trl_str word_at(const trl_function_reader *r, size_t i)
{
    return i < r->tree->n_words ? r->tree->word[i] : nothing;
}

/* Where a node stands among its parent's children. */
typedef struct place {
    uint32_t before, after; /* its sisters, or TRL_NO_NODE */
    char side;              /* of the parent's head: l, r; h: it is the head */
    unsigned distance;      /* from the head, at most 3 */
    unsigned phrases;       /* NPs before it, at most 2 */
} place;

static place find_place(const trl_function_reader *r, uint32_t v)
{
    const trl_node *node = r->tree->node;
    const uint32_t parent = node[v].parent;
    place p = {TRL_NO_NODE, node[v].next, 'h', 0, 0};
    if (parent == TRL_NO_NODE)
        return p;
    unsigned k = 0, mine = 0, heads = 0;
    for (uint32_t c = node[parent].child; c != TRL_NO_NODE; c = node[c].next, k++) {
        if (c == v)
            mine = k;
        if (c == r->head_child[parent])
            heads = k;
        if (c < v)
            p.before = c;
        p.phrases += c < v && p.phrases < 2 && trl_label_is(label(r, c), "NP", 2);
    }
    const unsigned apart = mine < heads ? heads - mine : mine - heads;
    p.side = mine < heads ? 'l' : mine > heads ? 'r' : 'h';
    p.distance = apart < 3 ? apart : 3;
    return p;
}

/* The last child that is a phrase: what a preposition or conjunction governs. */
static uint32_t find_object(const trl_function_reader *r, uint32_t v)
{
    const trl_node *node = r->tree->node;
    uint32_t last = TRL_NO_NODE;
    for (uint32_t c = node[v].child; c != TRL_NO_NODE; c = node[c].next)
        if (node[c].child != TRL_NO_NODE)
            last = c;
    return last;
}

/* The head of the nearest VP above. */
static size_t find_governor(const trl_function_reader *r, uint32_t v)
{
    const trl_node *node = r->tree->node;
    for (uint32_t up = node[v].parent; up != TRL_NO_NODE; up = node[up].parent)
        if (trl_label_is(label(r, up), "VP", 2))
            return r->head[up];
    return SIZE_MAX;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Words longer than this are cut: no text grows without bound. */
#define LONGEST 40

static void put(trl_function_reader *r, char mark, trl_str s)
{
    trl_buf_ch(&r->text, mark);
    for (size_t k = 0; k < s.n && k < LONGEST; k++) {
        const char c = s.p[k];
        trl_buf_ch(&r->text, c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
    }
}

/* The number of the feature and its parts. */
static void feature(trl_function_reader *r, const trl_str *part, size_t n)
{
    trl_buf_fmt(&r->text, "%zu", r->n);
    for (size_t k = 0; k < n; k++)
        put(r, k ? '|' : '=', part[k]);
    r->end[r->n++] = r->text.len;
}

#define FEATURE(r, ...)                                                                            \
    feature((r), (const trl_str[]){__VA_ARGS__},                                                   \
            sizeof((const trl_str[]){__VA_ARGS__}) / sizeof(trl_str))

/* A word's cluster, at three depths, as texts in `memory`. */
typedef struct cluster_text {
    char memory[3][16];
    trl_str at[3];
} cluster_text;

static void find_clusters(const trl_function_reader *r, trl_str word, cluster_text *c)
{
    uint32_t id[3] = {0, 0, 0};
    if (r->observer && r->observer->cluster)
        r->observer->cluster(r->observer->clusters, word, id);
    for (size_t k = 0; k < 3; k++) {
        size_t n = 0;
        for (uint32_t x = id[k]; n == 0 || x; x /= 10)
            c->memory[k][n++] = (char)('0' + x % 10);
        c->at[k] = (trl_str){c->memory[k], n};
    }
}

static void read_neighbours(trl_function_reader *r, uint32_t v, trl_str up, const place *at)
{
    const trl_node *node = r->tree->node;
    const uint32_t parent = node[v].parent;
    const uint32_t above = parent == TRL_NO_NODE ? TRL_NO_NODE : node[parent].parent;
    const char text[4] = {at->side, (char)('0' + at->distance), '/', (char)('0' + at->phrases)};
    const trl_str l = label(r, v), side = {text, 2}, whole = {text, 4};
    const trl_str before = label(r, at->before), after = label(r, at->after);
    const trl_str g = label(r, above);
    FEATURE(r, l, up);
    FEATURE(r, l, up, g);
    FEATURE(r, l, up, side);
    FEATURE(r, l, up, whole, g);
    FEATURE(r, l, up, before);
    FEATURE(r, l, up, after);
    FEATURE(r, l, up, before, after);
    FEATURE(r, l, tag_at(r, (size_t)node[v].from - 1));
    FEATURE(r, l, tag_at(r, node[v].to));
    const size_t pw = parent == TRL_NO_NODE ? SIZE_MAX : r->head[parent];
    FEATURE(r, l, up, word_at(r, pw));
    FEATURE(r, l, up, tag_at(r, pw), side);
    FEATURE(r, l, word_at(r, pw), word_at(r, node[v].from));
    FEATURE(r, l, word_at(r, pw), tag_at(r, find_governor(r, v)));
    FEATURE(r, l, word_at(r, pw), g);
}

static void read_words(trl_function_reader *r, uint32_t v, trl_str up)
{
    const trl_node *node = &r->tree->node[v];
    const trl_str l = label(r, v);
    const trl_str h = word_at(r, r->head[v]), ht = tag_at(r, r->head[v]);
    const trl_str first = word_at(r, node->from), last = word_at(r, (size_t)node->to - 1);
    const size_t verb = find_governor(r, v), length = (size_t)(node->to - node->from);
    const char *size = length == 1 ? "1" : length == 2 ? "2" : length < 6 ? "5" : "6";
    FEATURE(r, l, h);
    FEATURE(r, h, up);
    FEATURE(r, l, ht, up);
    FEATURE(r, l, h, up);
    FEATURE(r, l, first);
    FEATURE(r, l, last);
    FEATURE(r, first, last);
    FEATURE(r, l, tag_at(r, node->from), tag_at(r, (size_t)node->to - 1));
    FEATURE(r, l, word_at(r, verb), up);
    FEATURE(r, l, word_at(r, verb), h);
    FEATURE(r, l, up, (trl_str){size, 1});
    cluster_text c;
    find_clusters(r, h, &c);
    FEATURE(r, l, c.at[0]);
    FEATURE(r, l, c.at[2], up);
    FEATURE(r, l, c.at[1], up);
}

static void read_inside(trl_function_reader *r, uint32_t v, trl_str up)
{
    const trl_node *node = r->tree->node;
    const uint32_t object = find_object(r, v);
    const size_t ow = object == TRL_NO_NODE ? SIZE_MAX : r->head[object];
    const trl_str l = label(r, v), first = word_at(r, node[v].from), o = word_at(r, ow);
    FEATURE(r, l, label(r, r->head_child[v]), up);
    FEATURE(r, l, first, label(r, object));
    FEATURE(r, l, o);
    FEATURE(r, l, first, o);
    FEATURE(r, l, first, tag_at(r, ow));
    cluster_text c;
    find_clusters(r, o, &c);
    FEATURE(r, l, first, c.at[0]);
    FEATURE(r, l, first, c.at[2]);
    FEATURE(r, l, c.at[2]);
    trl_str rule[6] = {l, nothing, nothing, nothing, nothing, nothing};
    size_t n = 1;
    for (uint32_t k = node[v].child; k != TRL_NO_NODE && n < 5; k = node[k].next)
        rule[n++] = label(r, k);
    feature(r, rule, n);
    rule[n] = up;
    feature(r, rule, n + 1);
}

trl_status trl_function_read(trl_function_reader *r, uint32_t v, trl_error *err)
{
    const trl_str l = label(r, v), up = label(r, r->tree->node[v].parent);
    const place at = find_place(r, v);
    r->text.len = r->n = 0;
    r->text.failed = false;
    FEATURE(r, l);
    read_neighbours(r, v, up, &at);
    read_words(r, v, up);
    read_inside(r, v, up);
    return r->text.failed ? trl_fail_mem(err) : TRL_OK;
}
