/* grammar_io.c -- grammars as sections of a container.
 *
 * With the prefix "g0":
 *
 *     g0lb...   labels (model/strtab_io.h)
 *     g0info    u64[4]: annotation switches as bits, markov order, 0, 0
 *     g0keys    u32[n_states][6]: trl_state_key
 *     g0bin     u32[n_binary][3]: parent, left, right    g0bcnt  double[n_binary]
 *     g0una     u32[n_unary][4]: parent, child, chain, length    g0ucnt  double[n_unary]
 *     g0chain   u32: labels
 *
 * Names, classes and ranges are recomputed from these. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/strtab_io.h"
#include "grammar/grammar_parts.h"

typedef struct tags {
    char labels[5], info[9], keys[9], binary[9], binary_count[9], unary[9], unary_count[9],
        chain[9];
} tags;

static trl_status make_tags(const char *prefix, tags *t, trl_error *err)
{
    if (strnlen(prefix, 3) != 2)
        return trl_fail(err, TRL_EINVAL, "'%s' is not a two-letter prefix", prefix);
    snprintf(t->labels, sizeof t->labels, "%.2slb", prefix);
    snprintf(t->info, sizeof t->info, "%.2sinfo", prefix);
    snprintf(t->keys, sizeof t->keys, "%.2skeys", prefix);
    snprintf(t->binary, sizeof t->binary, "%.2sbin", prefix);
    snprintf(t->binary_count, sizeof t->binary_count, "%.2sbcnt", prefix);
    snprintf(t->unary, sizeof t->unary, "%.2suna", prefix);
    snprintf(t->unary_count, sizeof t->unary_count, "%.2sucnt", prefix);
    snprintf(t->chain, sizeof t->chain, "%.2schain", prefix);
    return TRL_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool give_info(const trl_grammar *g, const tags *t, trl_container_builder *b)
{
    const trl_annotation *a = &g->annotation;
    uint64_t *info = trl_zalloc(4, sizeof *info);
    if (!info)
        return false;
    info[0] = (a->parents ? 1u : 0u) | (a->tag_parents ? 2u : 0u) | (a->head_tags ? 4u : 0u) |
              (g->smoothed ? 8u : 0u);
    info[1] = (uint64_t)a->markov;
    trl_container_builder_give(b, t->info, info, 4 * sizeof *info);
    return true;
}

static bool give_rules(const trl_grammar *g, const tags *t, trl_container_builder *b)
{
    uint32_t(*binary)[3] = trl_alloc(g->n_binary, sizeof *binary);
    uint32_t(*unary)[4] = binary ? trl_alloc(g->n_unary, sizeof *unary) : NULL;
    if (!unary) {
        trl_free(binary);
        return false;
    }
    for (size_t r = 0; r < g->n_binary; r++) {
        const trl_binary *x = &g->binary[r];
        memcpy(binary[r], (uint32_t[3]){x->parent, x->left, x->right}, sizeof *binary);
    }
    for (size_t r = 0; r < g->n_unary; r++) {
        const trl_unary *x = &g->unary[r];
        memcpy(unary[r], (uint32_t[4]){x->parent, x->child, x->chain, x->chain_length},
               sizeof *unary);
    }
    trl_container_builder_give(b, t->binary, binary, g->n_binary * sizeof *binary);
    trl_container_builder_give(b, t->unary, unary, g->n_unary * sizeof *unary);
    return true;
}

trl_status trl_grammar_save(const trl_grammar *g, const char *prefix, trl_container_builder *b,
                            trl_error *err)
{
    tags t;
    trl_status st = make_tags(prefix, &t, err);
    if (st != TRL_OK)
        return st;
    if (!give_info(g, &t, b) || !give_rules(g, &t, b))
        return trl_fail_mem(err);
    trl_container_builder_add(b, t.keys, g->keys.pool, g->keys.pool_len);
    trl_container_builder_add(b, t.binary_count, g->binary_count,
                              g->n_binary * sizeof *g->binary_count);
    trl_container_builder_add(b, t.unary_count, g->unary_count,
                              g->n_unary * sizeof *g->unary_count);
    trl_container_builder_add(b, t.chain, g->chain_pool, g->n_chain_pool * sizeof *g->chain_pool);
    return trl_strtab_save(&g->labels, t.labels, b, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static trl_status load_info(trl_grammar *g, const tags *t, const trl_container *c, trl_error *err)
{
    const void *p;
    size_t n;
    const trl_status st = trl_container_array(c, t->info, sizeof(uint64_t), &p, &n, err);
    if (st != TRL_OK)
        return st;
    const uint64_t *info = p;
    if (n != 4 || info[0] > 15 || info[1] > 2)
        return trl_container_damaged(c, err, "impossible annotation of its grammar");
    g->annotation = (trl_annotation){.parents = info[0] & 1,
                                     .tag_parents = (info[0] & 2) != 0,
                                     .head_tags = (info[0] & 4) != 0,
                                     .markov = (int)info[1]};
    g->smoothed = (info[0] & 8) != 0;
    return TRL_OK;
}

static trl_status load_labels(trl_grammar *g, const tags *t, const trl_container *c, trl_error *err)
{
    trl_strview v;
    const trl_status st = trl_strview_load(c, t->labels, &v, err);
    if (st != TRL_OK)
        return st;
    for (size_t i = 0; i < v.n; i++) {
        const trl_str s = trl_strview_get(&v, (uint32_t)i);
        const uint32_t id = trl_strtab_add(&g->labels, s.p, s.n);
        if (id == TRL_NO_ID)
            return trl_fail_mem(err);
        if (id != i)
            return trl_container_damaged(c, err, "its grammar has a label twice");
    }
    return TRL_OK;
}

static bool is_label(const trl_grammar *g, uint32_t id, bool may_miss)
{
    return id < g->labels.n || (may_miss && id == TRL_NO_ID);
}

/* Label 0 is the root's: _encode relies on it. */
static bool key_is_sane(const trl_grammar *g, const trl_state_key *k)
{
    if (k->type == TRL_KEY_ROOT)
        return k->base == 0 && g->labels.n > 0 && k->above == TRL_NO_ID && k->head == TRL_NO_ID &&
               k->first == TRL_NO_ID && k->previous == TRL_NO_ID;
    const bool active = k->type == TRL_STATE_ACTIVE;
    return k->type <= TRL_STATE_ACTIVE && is_label(g, k->base, false) &&
           is_label(g, k->above, true) && is_label(g, k->head, true) &&
           is_label(g, k->first, true) && is_label(g, k->previous, true) &&
           (active || (k->first == TRL_NO_ID && k->previous == TRL_NO_ID));
}

static trl_status load_keys(trl_grammar *g, const tags *t, const trl_container *c, trl_error *err)
{
    const void *p;
    size_t n, roots = 0;
    const trl_status st = trl_container_array(c, t->keys, sizeof(trl_state_key), &p, &n, err);
    if (st != TRL_OK)
        return st;
    const trl_state_key *key = p;
    for (size_t s = 0; s < n; s++) {
        if (!key_is_sane(g, &key[s]))
            return trl_container_damaged(c, err, "impossible state of its grammar");
        roots += key[s].type == TRL_KEY_ROOT;
        const uint32_t id = trl_strtab_add(&g->keys, (const char *)&key[s], sizeof key[s]);
        if (id == TRL_NO_ID)
            return trl_fail_mem(err);
        if (id != s)
            return trl_container_damaged(c, err, "its grammar has a state twice");
    }
    if (roots != 1)
        return trl_container_damaged(c, err, "its grammar has not one root");
    return TRL_OK;
}

/* A copy of double[want]: 0, or of a size that counts have. */
static trl_status load_counts(const trl_container *c, const char *tag, size_t want, double **out,
                              trl_error *err)
{
    const void *p;
    size_t n;
    const trl_status st = trl_container_array(c, tag, sizeof(double), &p, &n, err);
    if (st != TRL_OK)
        return st;
    bool sane = n == want;
    for (size_t i = 0; sane && i < n; i++) {
        const double x = ((const double *)p)[i];
        sane = x == 0.0 || (x >= 1e-6 && x <= 1e15);
    }
    if (!sane)
        return trl_container_damaged(c, err, "impossible counts of its grammar");
    *out = trl_alloc(n, sizeof **out);
    if (!*out)
        return trl_fail_mem(err);
    if (n)
        memcpy(*out, p, n * sizeof **out);
    return TRL_OK;
}

static bool is_state_of(const trl_grammar *g, uint32_t s, bool tag, bool phrase, bool active)
{
    if (s >= g->n_states)
        return false;
    const trl_state_type k = g->state[s].type;
    return k == TRL_STATE_TAG ? tag : k == TRL_STATE_PHRASE ? phrase : active;
}

static bool binary_is_sane(const trl_grammar *g, size_t r)
{
    const trl_binary *x = &g->binary[r], *y = x - 1;
    if (!is_state_of(g, x->parent, false, true, true) ||
        !is_state_of(g, x->left, true, true, false) ||
        !is_state_of(g, x->right, true, true, true) || x->left == g->root || x->right == g->root)
        return false;
    return r == 0 || y->left < x->left ||
           (y->left == x->left &&
            (y->right < x->right || (y->right == x->right && y->parent < x->parent)));
}

static trl_status load_binary(trl_grammar *g, const tags *t, const trl_container *c, trl_error *err)
{
    const void *p;
    size_t n;
    const trl_status st = trl_container_array(c, t->binary, 3 * sizeof(uint32_t), &p, &n, err);
    if (st != TRL_OK)
        return st;
    const uint32_t *rule = p;
    g->binary = n < UINT32_MAX ? trl_alloc(n, sizeof *g->binary) : NULL;
    if (!g->binary)
        return trl_fail_mem(err);
    g->n_binary = n;
    for (size_t r = 0; r < n; r++) {
        g->binary[r] = (trl_binary){rule[3 * r], rule[3 * r + 1], rule[3 * r + 2], 0};
        if (!binary_is_sane(g, r))
            return trl_container_damaged(c, err, "impossible binary rule of its grammar");
    }
    return load_counts(c, t->binary_count, n, &g->binary_count, err);
}

static bool unary_is_sane(const trl_grammar *g, size_t r)
{
    const trl_unary *x = &g->unary[r];
    return is_state_of(g, x->parent, false, true, false) &&
           is_state_of(g, x->child, true, true, false) && x->child != g->root &&
           x->chain <= g->n_chain_pool && x->chain_length <= g->n_chain_pool - x->chain &&
           (r == 0 || trl_unary_order(x - 1, x, g->chain_pool) < 0);
}

static trl_status load_unary(trl_grammar *g, const tags *t, const trl_container *c, trl_error *err)
{
    const void *p;
    size_t n;
    const trl_status st = trl_container_array(c, t->unary, 4 * sizeof(uint32_t), &p, &n, err);
    if (st != TRL_OK)
        return st;
    const uint32_t *rule = p;
    g->unary = n < UINT32_MAX ? trl_alloc(n, sizeof *g->unary) : NULL;
    if (!g->unary)
        return trl_fail_mem(err);
    g->n_unary = n;
    for (size_t r = 0; r < n; r++) {
        g->unary[r] =
            (trl_unary){rule[4 * r], rule[4 * r + 1], rule[4 * r + 2], rule[4 * r + 3], 0};
        if (!unary_is_sane(g, r))
            return trl_container_damaged(c, err, "impossible unary rule of its grammar");
    }
    return load_counts(c, t->unary_count, n, &g->unary_count, err);
}

static trl_status load_chains(trl_grammar *g, const tags *t, const trl_container *c, trl_error *err)
{
    const void *p;
    size_t n;
    const trl_status st = trl_container_array(c, t->chain, sizeof(uint32_t), &p, &n, err);
    if (st != TRL_OK)
        return st;
    g->chain_pool = trl_alloc(n, sizeof *g->chain_pool);
    if (!g->chain_pool)
        return trl_fail_mem(err);
    g->n_chain_pool = n;
    if (n)
        memcpy(g->chain_pool, p, n * sizeof *g->chain_pool);
    for (size_t i = 0; i < n; i++)
        if (!is_label(g, g->chain_pool[i], false))
            return trl_container_damaged(c, err, "a chain of its grammar has no such label");
    return TRL_OK;
}

static trl_status load(trl_grammar *g, const tags *t, const trl_container *c, trl_error *err)
{
    trl_status st = load_info(g, t, c, err);
    if (st == TRL_OK)
        st = load_labels(g, t, c, err);
    if (st == TRL_OK)
        st = load_keys(g, t, c, err);
    if (st == TRL_OK)
        st = load_chains(g, t, c, err);
    if (st == TRL_OK)
        st = trl_grammar_make_states(g, err);
    if (st == TRL_OK)
        st = load_binary(g, t, c, err);
    if (st == TRL_OK)
        st = load_unary(g, t, c, err);
    if (st == TRL_OK)
        st = trl_grammar_make_index(g, err);
    return st;
}

trl_status trl_grammar_load(trl_grammar *g, const char *prefix, const trl_container *c,
                            trl_error *err)
{
    tags t;
    *g = (trl_grammar){0};
    trl_status st = make_tags(prefix, &t, err);
    if (st == TRL_OK)
        st = load(g, &t, c, err);
    if (st != TRL_OK)
        trl_grammar_fini(g);
    return st;
}
