/* grammar_glue.c -- a tree for every sequence of tags.
 *
 *     TOP -> L @TOP    @TOP -> L @TOP    TOP -> L G    @TOP -> L G    G -> L    TOP -> L
 *
 * L is every tag and every phrase, G the phrase whose rules vary most (in English fragments): of
 * those expanded at least COMMON times the one with the most different rules an expansion.  Of
 * states that differ by annotation L is the most frequent one below the root or, where there is
 * none, anywhere.  Rules that were not there before count LITTLE, so that they matter where there
 * is no other tree.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "grammar/grammar_parts.h"

#define COMMON 5.0
#define LITTLE 1e-3

typedef struct glue {
    trl_grammar *g;
    trl_grammar_maps *m;
    size_t n;         /* states before */
    double *as_child; /* [n]: occurrences */
    double *expanded; /* [labels]: rules with a phrase of this label as their parent */
    double *varied;   /* [labels]: how many different ones, without annotation */
    uint32_t root, active;
} glue;

static void rule_at(const trl_strtab *rules, size_t r, uint32_t key[3])
{
    memcpy(key, trl_strtab_get(rules, (uint32_t)r).p, 3 * sizeof *key);
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* A rule without annotation. */
typedef struct plain_rule {
    uint32_t parent, left, left_type, right, right_type;
} plain_rule;

static bool count_rule(glue *u, trl_strtab *plain, const uint32_t rule[3], bool binary,
                       double count)
{
    if (count < 1.0)
        return true;
    const trl_state_key p = trl_grammar_key(u->g, rule[0]), l = trl_grammar_key(u->g, rule[1]);
    plain_rule r = {p.base, l.base, l.type, rule[2], TRL_NO_ID};
    u->as_child[rule[1]] += count;
    if (binary) {
        const trl_state_key k = trl_grammar_key(u->g, rule[2]);
        r.right = k.base;
        r.right_type = k.type;
        u->as_child[rule[2]] += count;
    }
    if (p.type != TRL_STATE_PHRASE)
        return true;
    const size_t n = plain->n;
    const uint32_t id = trl_strtab_add(plain, (const char *)&r, sizeof r);
    u->expanded[p.base] += count;
    u->varied[p.base] += id == n;
    return id != TRL_NO_ID;
}

static bool count_rules(glue *u)
{
    const trl_grammar_maps *m = u->m;
    trl_strtab plain = {0};
    uint32_t rule[3];
    bool ok = true;
    for (size_t r = 0; ok && r < m->binary.n; r++) {
        rule_at(&m->binary, r, rule);
        ok = count_rule(u, &plain, rule, true, m->binary_count[r]);
    }
    for (size_t r = 0; ok && r < m->unary.n; r++) {
        rule_at(&m->unary, r, rule);
        ok = count_rule(u, &plain, rule, false, m->unary_count[r]);
    }
    trl_strtab_fini(&plain);
    return ok;
}

/* ---- the parts ------------------------------------------------------------------------------- */

static int by_bytes(trl_str a, trl_str b)
{
    const int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
    return c ? c : a.n < b.n ? -1 : a.n > b.n;
}

/* The label of G; TRL_NO_ID: there is no phrase but the root. */
static uint32_t varied_label(const glue *u)
{
    const trl_strtab *labels = &u->g->labels;
    uint32_t best = TRL_NO_ID;
    for (int rare = 0; rare < 2 && best == TRL_NO_ID; rare++)
        for (uint32_t x = 0; x < labels->n; x++) {
            if (u->expanded[x] < (rare ? 1.0 : COMMON))
                continue;
            const double more = best == TRL_NO_ID ? 1.0
                                                  : u->varied[x] * u->expanded[best] -
                                                        u->varied[best] * u->expanded[x];
            if (more > 0.0 || (more == 0.0 && by_bytes(trl_strtab_get(labels, x),
                                                       trl_strtab_get(labels, best)) < 0))
                best = x;
        }
    return best;
}

/* The most frequent state of the type and label, below the root if there is one. */
static uint32_t usual_state(const glue *u, uint32_t type, uint32_t label)
{
    uint32_t best = TRL_NO_ID;
    bool at_root = false;
    for (uint32_t s = 0; s < u->n; s++) {
        const trl_state_key k = trl_grammar_key(u->g, s);
        if (k.type != type || k.base != label || u->as_child[s] == 0.0)
            continue;
        const bool below = k.above == 0;
        if (best == TRL_NO_ID || (below && !at_root) ||
            (below == at_root && u->as_child[s] > u->as_child[best])) {
            best = s;
            at_root = below;
        }
    }
    return best;
}

static bool add_binary(glue *u, uint32_t parent, uint32_t left, uint32_t right)
{
    const uint32_t rule[3] = {parent, left, right};
    if (trl_strtab_find(&u->m->binary, (const char *)rule, sizeof rule) != TRL_NO_ID)
        return true;
    return trl_count_rule(&u->m->binary, &u->m->binary_count, &u->m->binary_cap, rule, LITTLE);
}

static bool add_unary(glue *u, uint32_t parent, uint32_t child)
{
    const uint32_t rule[3] = {parent, child, trl_strtab_add(&u->m->chains, "", 0)};
    if (rule[2] == TRL_NO_ID)
        return false;
    if (parent == child ||
        trl_strtab_find(&u->m->unary, (const char *)rule, sizeof rule) != TRL_NO_ID)
        return true;
    return trl_count_rule(&u->m->unary, &u->m->unary_count, &u->m->unary_cap, rule, LITTLE);
}

static bool add_part(glue *u, uint32_t part, uint32_t last)
{
    return add_binary(u, u->root, part, u->active) && add_binary(u, u->active, part, u->active) &&
           add_binary(u, u->root, part, last) && add_binary(u, u->active, part, last) &&
           add_unary(u, last, part) && add_unary(u, u->root, part);
}

static bool add_parts(glue *u)
{
    const trl_state_key root = {TRL_KEY_ROOT, 0, TRL_NO_ID, TRL_NO_ID, TRL_NO_ID, TRL_NO_ID};
    const trl_state_key active = {TRL_STATE_ACTIVE, 0, TRL_NO_ID, TRL_NO_ID, TRL_NO_ID, TRL_NO_ID};
    const uint32_t label = varied_label(u);
    if (label == TRL_NO_ID)
        return true;
    const uint32_t last = usual_state(u, TRL_STATE_PHRASE, label);
    u->root = trl_grammar_find(u->g, &root);
    if (last == TRL_NO_ID)
        return true;
    u->active = trl_strtab_add(&u->g->keys, (const char *)&active, sizeof active);
    bool ok = u->active != TRL_NO_ID;
    for (uint32_t x = 0; ok && x < u->g->labels.n; x++)
        for (uint32_t type = TRL_STATE_TAG; ok && type <= TRL_STATE_PHRASE; type++) {
            const uint32_t part = usual_state(u, type, x);
            ok = part == TRL_NO_ID || add_part(u, part, last);
        }
    return ok;
}

bool trl_grammar_glue(trl_grammar *g)
{
    glue u = {.g = g, .m = g->building, .n = g->keys.n};
    u.as_child = trl_zalloc(u.n, sizeof *u.as_child);
    u.expanded = trl_zalloc(g->labels.n, sizeof *u.expanded);
    u.varied = trl_zalloc(g->labels.n, sizeof *u.varied);
    const bool ok = u.as_child && u.expanded && u.varied && count_rules(&u) && add_parts(&u);
    trl_free(u.as_child);
    trl_free(u.expanded);
    trl_free(u.varied);
    return ok;
}
