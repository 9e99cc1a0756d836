/* grammar_relax.c -- rules never seen: known ones with another parent above their parent.
 *
 *     seen     NP^S -> DT^NP @NP^S|NN
 *     relaxed  NP^VP -> DT^NP @NP^VP|NN    when NP^VP and @NP^VP|NN are states
 *
 * An active state is annotated as its parent is, so it changes with it; other children are
 * annotated with the parent's own label, which stays. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "grammar/grammar_parts.h"

/* The states with a parent annotation, grouped by everything else. */
typedef struct variants {
    uint32_t *group; /* [n_states]: of a state, or TRL_NO_ID */
    uint32_t *first; /* [groups + 1] */
    uint32_t *state; /* ascending within a group */
} variants;

static void free_variants(variants *v)
{
    trl_free(v->group);
    trl_free(v->first);
    trl_free(v->state);
}

static bool make_groups(const trl_grammar *g, size_t n, variants *v, size_t *groups)
{
    trl_strtab map = {0};
    bool ok = true;
    for (size_t s = 0; ok && s < n; s++) {
        trl_state_key k = trl_grammar_key(g, (uint32_t)s);
        v->group[s] = TRL_NO_ID;
        if (k.above == TRL_NO_ID)
            continue;
        k.above = 0;
        v->group[s] = trl_strtab_add(&map, (const char *)&k, sizeof k);
        ok = v->group[s] != TRL_NO_ID;
    }
    *groups = map.n;
    trl_strtab_fini(&map);
    return ok;
}

static bool make_variants(const trl_grammar *g, variants *v)
{
    const size_t n = g->keys.n;
    size_t groups;
    *v = (variants){.group = trl_alloc(n, sizeof *v->group),
                    .first = trl_zalloc(n + 2, sizeof *v->first),
                    .state = trl_alloc(n, sizeof *v->state)};
    if (!v->group || !v->first || !v->state || !make_groups(g, n, v, &groups))
        return false;
    for (size_t s = 0; s < n; s++)
        if (v->group[s] != TRL_NO_ID)
            v->first[v->group[s] + 2]++;
    for (size_t k = 0; k < groups; k++)
        v->first[k + 2] += v->first[k + 1];
    for (size_t s = 0; s < n; s++) /* first[k + 1] moves from the beginning of group k to its end */
        if (v->group[s] != TRL_NO_ID)
            v->state[v->first[v->group[s] + 1]++] = (uint32_t)s;
    return true;
}

/* The active state `s` with the parent annotation of `like`; other states stay as they are.
 * TRL_NO_ID: there is none. */
static uint32_t follow(const trl_grammar *g, uint32_t s, uint32_t like)
{
    trl_state_key k = trl_grammar_key(g, s);
    if (k.type != TRL_STATE_ACTIVE)
        return s;
    k.above = trl_grammar_key(g, like).above;
    return trl_grammar_find(g, &k);
}

static bool relax_binary(trl_grammar *g, const variants *v)
{
    trl_grammar_maps *m = g->building;
    const size_t seen = m->binary.n;
    for (size_t r = 0; r < seen; r++) {
        uint32_t key[3];
        memcpy(key, trl_strtab_get(&m->binary, (uint32_t)r).p, sizeof key);
        const uint32_t group = v->group[key[0]], right = key[2];
        if (group == TRL_NO_ID)
            continue;
        for (uint32_t k = v->first[group]; k < v->first[group + 1]; k++) {
            key[0] = v->state[k];
            key[2] = follow(g, right, key[0]);
            if (key[2] != TRL_NO_ID &&
                !trl_count_rule(&m->binary, &m->binary_count, &m->binary_cap, key, 0.0))
                return false;
        }
    }
    return true;
}

static bool relax_unary(trl_grammar *g, const variants *v)
{
    trl_grammar_maps *m = g->building;
    const size_t seen = m->unary.n;
    for (size_t r = 0; r < seen; r++) {
        uint32_t key[3];
        memcpy(key, trl_strtab_get(&m->unary, (uint32_t)r).p, sizeof key);
        const uint32_t group = v->group[key[0]];
        if (group == TRL_NO_ID)
            continue;
        for (uint32_t k = v->first[group]; k < v->first[group + 1]; k++) {
            key[0] = v->state[k];
            if (!trl_count_rule(&m->unary, &m->unary_count, &m->unary_cap, key, 0.0))
                return false;
        }
    }
    return true;
}

bool trl_grammar_relax(trl_grammar *g)
{
    variants v;
    const bool ok = make_variants(g, &v) && relax_binary(g, &v) && relax_unary(g, &v);
    free_variants(&v);
    return ok;
}
