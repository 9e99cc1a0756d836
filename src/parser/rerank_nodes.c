/* rerank_nodes.c -- labels, heads and children of a tree, before its features are made. */
/* SPDX-License-Identifier: MIT */
#include "parser/rerank_nodes.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define MEMO 4096 /* heads of rules that are remembered, a power of two */

/* ---- memory ---------------------------------------------------------------------------------- */

static uint8_t kind_of(trl_str label)
{
    static const char punctuation[] = ",.:`'-";
    if ((label.n == 2 && memcmp(label.p, "CC", 2) == 0) ||
        (label.n == 5 && memcmp(label.p, "CONJP", 5) == 0))
        return TRL_RERANK_COORDINATION;
    return label.n && memchr(punctuation, label.p[0], sizeof punctuation - 1)
               ? TRL_RERANK_PUNCTUATION
               : TRL_RERANK_PLAIN;
}

trl_status trl_rerank_features_init(trl_rerank_features *x, const trl_head_rules *heads,
                                    const trl_strtab *labels, const trl_tree_clusters *clusters,
                                    trl_error *err)
{
    *x = (trl_rerank_features){.heads = heads,
                               .labels = labels,
                               .clusters = clusters,
                               .groups = TRL_RERANK_ALL,
                               .n_labels = labels->n,
                               .label = trl_alloc(labels->n, sizeof *x->label),
                               .kind = trl_alloc(labels->n, sizeof *x->kind),
                               .rule = trl_zalloc(MEMO, sizeof *x->rule),
                               .rule_head = trl_zalloc(MEMO, sizeof *x->rule_head)};
    if (!x->label || !x->kind || !x->rule || !x->rule_head) {
        trl_rerank_features_fini(x);
        return trl_fail_mem(err);
    }
    for (size_t k = 0; k < labels->n; k++) {
        const trl_str s = trl_strtab_get(labels, (uint32_t)k);
        x->label[k] = trl_str_hash(s.p, s.n);
        x->kind[k] = kind_of(s);
    }
    return TRL_OK;
}

void trl_rerank_features_fini(trl_rerank_features *x)
{
    trl_free(x->label);
    trl_free(x->kind);
    trl_free(x->word);
    trl_free(x->tag);
    trl_free(x->cluster);
    trl_free(x->node);
    trl_free(x->kid);
    trl_free(x->name);
    trl_free(x->rule);
    trl_free(x->rule_head);
    *x = (trl_rerank_features){0};
}

trl_status trl_rerank_sentence(trl_rerank_features *x, const trl_str *word, size_t n,
                               trl_error *err)
{
    uint64_t *hash = trl_reserve(x->word, &x->cap_word, n, sizeof *hash);
    x->word = hash ? hash : x->word;
    uint64_t *tag = trl_reserve(x->tag, &x->cap_tag, n, sizeof *tag);
    x->tag = tag ? tag : x->tag;
    uint32_t(*cluster)[3] = trl_reserve(x->cluster, &x->cap_cluster, n, sizeof *cluster);
    x->cluster = cluster ? cluster : x->cluster;
    if (!hash || !tag || !cluster)
        return trl_fail_mem(err);
    x->n_words = n;
    for (size_t k = 0; k < n; k++) {
        hash[k] = trl_str_hash(word[k].p, word[k].n);
        trl_tree_cluster_of(x->clusters, word[k], cluster[k]);
    }
    return TRL_OK;
}

static bool make_room(trl_rerank_features *x, size_t n)
{
    trl_rerank_node *node = trl_reserve(x->node, &x->cap_node, n, sizeof *node);
    x->node = node ? node : x->node;
    uint32_t *kid = trl_reserve(x->kid, &x->cap_kid, n, sizeof *kid);
    x->kid = kid ? kid : x->kid;
    trl_str *name = trl_reserve(x->name, &x->cap_name, n, sizeof *name);
    x->name = name ? name : x->name;
    return node && kid && name;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static uint64_t label_of(const trl_rerank_features *x, uint32_t label)
{
    return label < x->n_labels ? x->label[label] : TRL_RERANK_NOTHING;
}

static trl_str name_of(const trl_rerank_features *x, uint32_t label)
{
    return label < x->n_labels ? trl_strtab_get(x->labels, label) : (trl_str){"", 0};
}

/* Which child is the head; rules come again and again. */
static uint32_t head_child(trl_rerank_features *x, uint32_t v)
{
    const trl_rerank_node *me = &x->node[v];
    const size_t at = (size_t)(me->rule >> 20) & (MEMO - 1);
    if (x->rule[at] == me->rule)
        return x->kid[me->first + x->rule_head[at]];
    for (uint32_t k = 0; k < me->n_children; k++)
        x->name[k] = name_of(x, x->tree[x->kid[me->first + k]].label);
    const size_t head =
        trl_head_child(x->heads, name_of(x, x->tree[v].label), x->name, me->n_children);
    x->rule[at] = me->rule;
    x->rule_head[at] = (uint32_t)head;
    return x->kid[me->first + head];
}

/* Children have larger numbers than their parents. */
bool trl_rerank_look(trl_rerank_features *x, const trl_node_list *tree)
{
    uint32_t n_kids = 0;
    if (!make_room(x, tree->n))
        return false;
    x->tree = tree->node;
    x->n_nodes = tree->n;
    for (uint32_t v = 0; v < x->n_nodes; v++) {
        trl_rerank_node *me = &x->node[v];
        *me = (trl_rerank_node){.label = label_of(x, x->tree[v].label),
                                .head = x->tree[v].from,
                                .head_child = TRL_NO_NODE,
                                .first = n_kids};
        me->rule = me->label;
        for (uint32_t c = x->tree[v].child; c != TRL_NO_NODE; c = x->tree[c].next) {
            me->rule = trl_rerank_mix(me->rule, label_of(x, x->tree[c].label));
            x->kid[n_kids++] = c;
        }
        me->n_children = n_kids - me->first;
        if (me->n_children == 0)
            x->tag[me->head] = me->label;
    }
    for (uint32_t v = (uint32_t)x->n_nodes; v-- > 0;)
        if (x->node[v].n_children) {
            x->node[v].head_child = head_child(x, v);
            x->node[v].head = x->node[x->node[v].head_child].head;
        }
    return true;
}
