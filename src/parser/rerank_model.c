/* rerank_model.c -- sections of the second stage. */
/* SPDX-License-Identifier: MIT */
#include "parser/rerank_model.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "parser/reranker.h"

typedef struct meta {
    uint32_t version, n, groups, none;
    double share, said[TRL_RERANK_SAID];
} meta;

void trl_reranker_fini(trl_reranker *r)
{
    trl_head_rules_free(r->heads);
    trl_free(r->own_key);
    trl_free(r->own_weight);
    *r = (trl_reranker){0};
}

trl_status trl_reranker_save(const trl_reranker *r, trl_container_builder *b, trl_error *err)
{
    if (r->n == 0)
        return TRL_OK;
    meta *head = trl_zalloc(1, sizeof *head);
    const trl_str rules = trl_head_rules_text(r->heads);
    if (!head)
        return trl_fail_mem(err);
    *head = (meta){.version = 1, .n = r->n, .groups = r->groups, .share = r->share};
    memcpy(head->said, r->said, sizeof head->said);
    trl_container_builder_give(b, "rmeta", head, sizeof *head);
    trl_container_builder_add(b, "rheads", rules.p, rules.n);
    trl_container_builder_add(b, "rkeys", r->index.key, r->index.n_slots * sizeof *r->index.key);
    trl_container_builder_add(b, "rweights", r->weight, r->index.n_slots * sizeof *r->weight);
    return trl_span_calibration_save(&r->trees, TRL_LIST_CALIBRATION_TAG, b, err);
}

static bool sane(const meta *m)
{
    bool ok = m->version == 1 && m->n > 0 && m->n <= TRL_RERANK_MOST &&
              m->groups <= TRL_RERANK_ALL && m->share >= 0.0 && m->share <= 1.0;
    for (int k = 0; k < TRL_RERANK_SAID; k++)
        ok = ok && isfinite(m->said[k]);
    return ok;
}

/* The table must have a free slot, or a search may not end. */
static trl_status load_weights(trl_reranker *r, const trl_container *c, trl_error *err)
{
    const void *keys, *weights;
    size_t slots, n, used = 0;
    trl_status st = trl_container_array(c, "rkeys", sizeof(uint64_t), &keys, &slots, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "rweights", sizeof(float), &weights, &n, err);
    if (st != TRL_OK)
        return st;
    if (slots == 0 || (slots & (slots - 1)) || slots > UINT32_MAX || n != slots)
        return trl_container_damaged(c, err, "weights and features of trees do not match");
    r->index = (trl_tree_index){.key = keys, .n_slots = slots};
    r->weight = weights;
    for (size_t k = 0; k < slots; k++) {
        used += r->index.key[k] != 0;
        if (!isfinite(r->weight[k]))
            return trl_container_damaged(c, err, "a weight of a tree's feature is not a number");
    }
    r->index.n = used;
    return used < slots ? TRL_OK
                        : trl_container_damaged(c, err, "the table of features of trees is full");
}

trl_status trl_reranker_load(trl_reranker *r, const trl_container *c, trl_error *err)
{
    const void *bytes, *rules;
    size_t n, size;
    meta head;
    *r = (trl_reranker){0};
    if (!trl_container_find(c, "rmeta", &bytes, &n))
        return TRL_OK;
    if (n != sizeof head || !trl_container_find(c, "rheads", &rules, &size))
        return trl_container_damaged(c, err, "its second stage is not whole");
    memcpy(&head, bytes, sizeof head);
    if (!sane(&head))
        return trl_container_damaged(c, err, "the header of its second stage makes no sense");
    trl_status st = load_weights(r, c, err);
    if (st == TRL_OK)
        st = trl_span_calibration_load(&r->trees, TRL_LIST_CALIBRATION_TAG, c, err);
    if (st != TRL_OK)
        return st;
    st = trl_head_rules_parse("<head rules>", rules, size, &r->heads, err);
    if (st != TRL_OK)
        return st == TRL_ENOMEM ? st
                                : trl_container_damaged(
                                      c, err, "the head rules of its second stage make no sense");
    r->groups = head.groups;
    r->share = head.share;
    memcpy(r->said, head.said, sizeof r->said);
    r->n = head.n;
    return TRL_OK;
}
