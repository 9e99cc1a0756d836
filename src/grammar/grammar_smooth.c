/* grammar_smooth.c -- rules never seen, made of labels seen in the same places.
 *
 * Which ones, is decided without annotation, so that a coarse and a fine grammar of the same trees
 * have the same ones.  The expected count of an unseen rule A -> B C is
 *
 *     e(A -> B C) = (n1(A) + 1/2) l(B | A) r(C | A)
 *     l(B | A)    = (c(A -> B .) + 2 p(B under A) + p(B)) / (c(A) + 3)          r likewise
 *
 * n1(A) rules of A were seen once, which is about the number of new ones in as much text again
 * [Goo53]; p(B under A) is the share of B among all children of A, on either side, in complete and
 * active states; p(B) among all children.  Of unary rules, with u(.) counting the steps P -> X of
 * their chains,
 *
 *     e(P -> X)            = (n1(P) + 1/2) s(X | P)
 *     e(P -> X -> ... Y)   = e(P -> X) c(X -> ... Y) / c(X),        X -> ... Y seen
 *     s(X | P)             = (u(P -> X) + p_u(X) / 2 + p(X) / 2) / (u(P) + 1)
 *
 * Rules with e of at least LEAST are added, with e as their count.  In a grammar with annotation e
 * is shared among the variants by the counts of their states; variants whose part is below
 * LEAST_VARIANT are left out.
 *
 * [Goo53] Good. The population frequencies of species and the estimation of population parameters.
 * Biometrika 40, 1953.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "grammar/grammar_parts.h"

#define LEAST TRL_SMOOTH_LEAST
#define LEAST_VARIANT TRL_SMOOTH_VARIANT
#define UNDER 2.0 /* the weight of p(B under A), in rules */

typedef struct smoothing {
    trl_grammar *g;
    trl_grammar_maps *m;
    size_t n, n_plain;        /* states; classes (type, base) of them */
    uint32_t *plain;          /* [n] */
    trl_state_key *key;       /* [n] */
    uint32_t *first;          /* [n_plain + 1]: the states of a class, ... */
    uint32_t *state;          /* ... ascending */
    trl_strtab classes, seen; /* seen: keys uint32_t[3], plain binary rules */
    double *seen_count;
    size_t seen_cap;
    double *as_parent;      /* [n]: binary rules by their parent */
    double *as_child;       /* [n]: occurrences as a child */
    double *any;            /* [n_plain]: the same by class, actives apart */
    double all;             /* the sum of any[] */
    double *l, *r, *under;  /* [n_plain]: of the parent in turn */
    trl_strtab unary, step; /* seen unary rules: plain parent, plain child, chain; steps: label of
                               the parent, class of the child, 0 */
    double *unary_count, *step_count;
    size_t unary_cap, step_cap;
    double *steps_to; /* [n_plain] */
    double steps;
    double *expanded; /* [n]: rules by their parent, unary ones included */
} smoothing;

static void free_smoothing(smoothing *s)
{
    trl_free(s->plain);
    trl_free(s->key);
    trl_free(s->first);
    trl_free(s->state);
    trl_strtab_fini(&s->classes);
    trl_strtab_fini(&s->seen);
    trl_free(s->seen_count);
    trl_free(s->as_parent);
    trl_free(s->as_child);
    trl_free(s->any);
    trl_free(s->l);
    trl_free(s->r);
    trl_free(s->under);
    trl_strtab_fini(&s->unary);
    trl_strtab_fini(&s->step);
    trl_free(s->unary_count);
    trl_free(s->step_count);
    trl_free(s->steps_to);
    trl_free(s->expanded);
}

static void rule_at(const trl_strtab *rules, size_t r, uint32_t key[3])
{
    memcpy(key, trl_strtab_get(rules, (uint32_t)r).p, 3 * sizeof *key);
}

/* ---- what was seen --------------------------------------------------------------------------- */

/* The type of a class: the root is a phrase. */
static uint32_t type_of(const trl_state_key *k)
{
    return k->type == TRL_KEY_ROOT ? TRL_STATE_PHRASE : k->type;
}

static bool classify(smoothing *s)
{
    for (size_t k = 0; k < s->n; k++) {
        s->key[k] = trl_grammar_key(s->g, (uint32_t)k);
        const uint32_t class[2] = {type_of(&s->key[k]), s->key[k].base};
        s->plain[k] = trl_strtab_add(&s->classes, (const char *)class, sizeof class);
        if (s->plain[k] == TRL_NO_ID)
            return false;
    }
    s->n_plain = s->classes.n;
    s->first = trl_zalloc(s->n_plain + 2, sizeof *s->first);
    s->any = trl_zalloc(s->n_plain, sizeof *s->any);
    s->l = trl_alloc(s->n_plain, sizeof *s->l);
    s->r = trl_alloc(s->n_plain, sizeof *s->r);
    s->under = trl_alloc(s->n_plain, sizeof *s->under);
    s->steps_to = trl_zalloc(s->n_plain, sizeof *s->steps_to);
    if (!s->first || !s->any || !s->l || !s->r || !s->under || !s->steps_to)
        return false;
    for (size_t k = 0; k < s->n; k++)
        s->first[s->plain[k] + 2]++;
    for (size_t p = 0; p < s->n_plain; p++)
        s->first[p + 2] += s->first[p + 1];
    for (size_t k = 0; k < s->n; k++)
        s->state[s->first[s->plain[k] + 1]++] = (uint32_t)k;
    return true;
}

static void count_child(smoothing *s, uint32_t state, double count)
{
    s->as_child[state] += count;
    if (s->key[state].type == TRL_STATE_ACTIVE)
        return;
    s->any[s->plain[state]] += count;
    s->all += count;
}

static bool count_seen(smoothing *s)
{
    const trl_grammar_maps *m = s->m;
    uint32_t x[3];
    for (size_t k = 0; k < m->binary.n; k++) {
        const double count = m->binary_count[k];
        if (count == 0.0)
            continue;
        rule_at(&m->binary, k, x);
        s->as_parent[x[0]] += count;
        s->expanded[x[0]] += count;
        count_child(s, x[1], count);
        count_child(s, x[2], count);
        const uint32_t plain[3] = {s->plain[x[0]], s->plain[x[1]], s->plain[x[2]]};
        if (!trl_count_rule(&s->seen, &s->seen_count, &s->seen_cap, plain, count))
            return false;
    }
    return true;
}

/* The class of complete phrases with this label; TRL_NO_ID: it is seen inside chains alone. */
static uint32_t phrase_class(const smoothing *s, uint32_t label)
{
    const uint32_t class[2] = {TRL_STATE_PHRASE, label};
    return trl_strtab_find(&s->classes, (const char *)class, sizeof class);
}

static bool count_step(smoothing *s, uint32_t above, uint32_t class, double count)
{
    if (class == TRL_NO_ID)
        return true;
    const uint32_t step[3] = {above, class, 0};
    s->steps_to[class] += count;
    s->steps += count;
    return trl_count_rule(&s->step, &s->step_count, &s->step_cap, step, count);
}

static bool count_unary(smoothing *s)
{
    const trl_grammar_maps *m = s->m;
    bool ok = true;
    for (size_t k = 0; ok && k < m->unary.n; k++) {
        uint32_t x[3];
        const double count = m->unary_count[k];
        if (count == 0.0)
            continue;
        rule_at(&m->unary, k, x);
        count_child(s, x[1], count);
        s->expanded[x[0]] += count;
        const uint32_t plain[3] = {s->plain[x[0]], s->plain[x[1]], x[2]};
        const trl_str chain = trl_strtab_get(&m->chains, x[2]);
        uint32_t above = s->key[x[0]].base, label;
        ok = trl_count_rule(&s->unary, &s->unary_count, &s->unary_cap, plain, count);
        for (size_t at = 0; ok && at < chain.n; at += sizeof label) {
            memcpy(&label, chain.p + at, sizeof label);
            ok = count_step(s, above, phrase_class(s, label), count);
            above = label;
        }
        ok = ok && count_step(s, above, plain[1], count);
    }
    return ok;
}

static bool begin(smoothing *s, trl_grammar *g)
{
    *s = (smoothing){.g = g, .m = g->building, .n = g->keys.n};
    s->plain = trl_alloc(s->n, sizeof *s->plain);
    s->key = trl_alloc(s->n, sizeof *s->key);
    s->state = trl_alloc(s->n, sizeof *s->state);
    s->as_parent = trl_zalloc(s->n, sizeof *s->as_parent);
    s->as_child = trl_zalloc(s->n, sizeof *s->as_child);
    s->expanded = trl_zalloc(s->n, sizeof *s->expanded);
    return s->plain && s->key && s->state && s->as_parent && s->as_child && s->expanded &&
           classify(s) && count_seen(s) && count_unary(s);
}

/* ---- binary rules ---------------------------------------------------------------------------- */

/* l(. | a) and r(. | a) in s->l, s->r; returns n1(a) + 1/2, or 0 when `a` has no rules. */
static double distributions(smoothing *s, uint32_t a)
{
    const uint32_t base = s->key[s->state[s->first[a]]].base;
    double once = 0.0, total = 0.0, children = 0.0;
    memset(s->l, 0, s->n_plain * sizeof *s->l);
    memset(s->r, 0, s->n_plain * sizeof *s->r);
    memset(s->under, 0, s->n_plain * sizeof *s->under);
    for (size_t k = 0; k < s->seen.n; k++) {
        uint32_t x[3];
        rule_at(&s->seen, k, x);
        const double count = s->seen_count[k];
        if (s->key[s->state[s->first[x[0]]]].base != base)
            continue;
        for (int side = 1; side < 3; side++)
            if (s->key[s->state[s->first[x[side]]]].type != TRL_STATE_ACTIVE) {
                s->under[x[side]] += count;
                children += count;
            }
        if (x[0] != a)
            continue;
        s->l[x[1]] += count;
        s->r[x[2]] += count;
        total += count;
        once += count == 1.0;
    }
    for (size_t p = 0; total > 0.0 && p < s->n_plain; p++) {
        const trl_state_key *k = &s->key[s->state[s->first[p]]];
        const bool active = k->type == TRL_STATE_ACTIVE;
        const double more = active ? 1.0 : UNDER * s->under[p] / children + s->any[p] / s->all;
        s->l[p] =
            active || k->type == TRL_KEY_ROOT ? 0.0 : (s->l[p] + more) / (total + UNDER + 1.0);
        s->r[p] = (active && k->base != base) || k->type == TRL_KEY_ROOT
                      ? 0.0
                      : (s->r[p] + more) / (total + UNDER + 1.0);
    }
    return total > 0.0 ? once + 0.5 : 0.0;
}

/* Whether a child that is not active may stand below `parent`. */
static bool fits_below(const smoothing *s, const trl_state_key *parent, const trl_state_key *child)
{
    const trl_annotation *a = &s->g->annotation;
    const bool annotated = child->type == TRL_STATE_TAG ? a->tag_parents : a->parents;
    return child->above == (annotated ? parent->base : TRL_NO_ID);
}

/* Whether an active right child may follow `left` below `parent`. */
static bool follows(const trl_state_key *parent, const trl_state_key *left,
                    const trl_state_key *right)
{
    return right->base == parent->base && right->above == parent->above &&
           right->head == parent->head &&
           (right->previous == TRL_NO_ID || right->previous == left->base);
}

/* The occurrences of the states of a class that may stand below `parent`, after `left` (or NULL).
 */
static double occurrences(const smoothing *s, uint32_t class, const trl_state_key *parent,
                          const trl_state_key *left)
{
    double sum = 0.0;
    for (uint32_t k = s->first[class]; k < s->first[class + 1]; k++) {
        const trl_state_key *c = &s->key[s->state[k]];
        if (c->type == TRL_STATE_ACTIVE ? follows(parent, left, c) : fits_below(s, parent, c))
            sum += s->as_child[s->state[k]];
    }
    return sum;
}

/* The variants with this parent and left child; e: their expected count. */
static bool add_rights(smoothing *s, uint32_t parent, uint32_t left, uint32_t class, double e)
{
    const trl_state_key *p = &s->key[parent], *l = &s->key[left];
    const double all = occurrences(s, class, p, l);
    for (uint32_t k = s->first[class]; all > 0.0 && k < s->first[class + 1]; k++) {
        const uint32_t right = s->state[k];
        const trl_state_key *c = &s->key[right];
        const bool fits = c->type == TRL_STATE_ACTIVE ? follows(p, l, c) : fits_below(s, p, c);
        const double part = e * s->as_child[right] / all;
        const uint32_t rule[3] = {parent, left, right};
        if (fits && part >= LEAST_VARIANT &&
            !trl_count_rule(&s->m->binary, &s->m->binary_count, &s->m->binary_cap, rule, part))
            return false;
    }
    return true;
}

static bool add_binary(smoothing *s, const uint32_t plain[3], double e)
{
    double parents = 0.0;
    for (uint32_t k = s->first[plain[0]]; k < s->first[plain[0] + 1]; k++)
        parents += s->as_parent[s->state[k]];
    for (uint32_t k = s->first[plain[0]]; k < s->first[plain[0] + 1]; k++) {
        const uint32_t parent = s->state[k];
        const trl_state_key *p = &s->key[parent];
        const double share = e * s->as_parent[parent] / parents;
        if (share < LEAST_VARIANT)
            continue;
        const double all = occurrences(s, plain[1], p, NULL);
        for (uint32_t q = s->first[plain[1]]; all > 0.0 && q < s->first[plain[1] + 1]; q++) {
            const uint32_t left = s->state[q];
            const double part = share * s->as_child[left] / all;
            if (part >= LEAST_VARIANT && fits_below(s, p, &s->key[left]) &&
                (p->first == TRL_NO_ID || p->first == s->key[left].base) &&
                !add_rights(s, parent, left, plain[2], part))
                return false;
        }
    }
    return true;
}

static bool smooth_binary(smoothing *s)
{
    for (uint32_t a = 0; a < s->n_plain; a++) {
        const double once = distributions(s, a);
        for (uint32_t b = 0; once > 0.0 && b < s->n_plain; b++)
            for (uint32_t c = 0; once * s->l[b] >= LEAST && c < s->n_plain; c++) {
                const uint32_t rule[3] = {a, b, c};
                const double e = once * s->l[b] * s->r[c];
                if (e >= LEAST &&
                    trl_strtab_find(&s->seen, (const char *)rule, sizeof rule) == TRL_NO_ID &&
                    !add_binary(s, rule, e))
                    return false;
            }
    }
    return true;
}

/* ---- unary rules ----------------------------------------------------------------------------- */

#define LONGEST 3 /* labels between the ends of a new chain */

/* An unseen unary rule of classes; the chain below `parent`. */
typedef struct new_unary {
    uint32_t parent, child;
    uint32_t chain[LONGEST];
    size_t length;
    double e;
} new_unary;

static bool fits_chain(const smoothing *s, const new_unary *u, uint32_t parent_base, uint32_t child)
{
    const trl_state_key above = {.base = u->length ? u->chain[u->length - 1] : parent_base};
    return fits_below(s, &above, &s->key[child]);
}

static bool add_children(smoothing *s, const new_unary *u, uint32_t parent, uint32_t chain,
                         double e)
{
    const uint32_t from = s->first[u->child], to = s->first[u->child + 1];
    const uint32_t base = s->key[parent].base;
    double all = 0.0;
    for (uint32_t k = from; k < to; k++)
        all += fits_chain(s, u, base, s->state[k]) ? s->as_child[s->state[k]] : 0.0;
    for (uint32_t k = from; all > 0.0 && k < to; k++) {
        const uint32_t rule[3] = {parent, s->state[k], chain};
        const double part = e * s->as_child[s->state[k]] / all;
        if (part >= LEAST_VARIANT && fits_chain(s, u, base, s->state[k]) &&
            !trl_count_rule(&s->m->unary, &s->m->unary_count, &s->m->unary_cap, rule, part))
            return false;
    }
    return true;
}

static bool add_unary(smoothing *s, const new_unary *u)
{
    const uint32_t chain =
        trl_strtab_add(&s->m->chains, (const char *)u->chain, u->length * sizeof *u->chain);
    if (chain == TRL_NO_ID)
        return false;
    const uint32_t rule[3] = {u->parent, u->child, chain};
    if (u->e < LEAST || trl_strtab_find(&s->unary, (const char *)rule, sizeof rule) != TRL_NO_ID)
        return true;
    double parents = 0.0;
    for (uint32_t k = s->first[u->parent]; k < s->first[u->parent + 1]; k++)
        parents += s->expanded[s->state[k]];
    for (uint32_t k = s->first[u->parent]; k < s->first[u->parent + 1]; k++) {
        const double share = u->e * s->expanded[s->state[k]] / parents;
        if (share >= LEAST_VARIANT && !add_children(s, u, s->state[k], chain, share))
            return false;
    }
    return true;
}

/* The rules p -> x -> ... that continue with a seen rule of x; `e` is that of p -> x. */
static bool continue_chains(smoothing *s, uint32_t p, uint32_t x, double e)
{
    double all = 0.0;
    for (uint32_t k = s->first[x]; k < s->first[x + 1]; k++)
        all += s->expanded[s->state[k]];
    const size_t seen = s->unary.n;
    for (size_t k = 0; k < seen; k++) {
        uint32_t rule[3];
        rule_at(&s->unary, k, rule);
        const trl_str chain = trl_strtab_get(&s->m->chains, rule[2]);
        new_unary u = {.parent = p, .child = rule[1], .e = e * s->unary_count[k] / all};
        u.length = 1 + chain.n / sizeof *u.chain;
        if (rule[0] != x || u.length > LONGEST)
            continue;
        u.chain[0] = s->key[s->state[s->first[x]]].base;
        if (chain.n)
            memcpy(u.chain + 1, chain.p, chain.n);
        if (!add_unary(s, &u))
            return false;
    }
    return true;
}

static bool smooth_unary(smoothing *s)
{
    bool ok = true;
    for (uint32_t p = 0; ok && p < s->n_plain; p++) {
        const trl_state_key *parent = &s->key[s->state[s->first[p]]];
        double once = 0.5, total = 0.0;
        if (type_of(parent) != TRL_STATE_PHRASE)
            continue;
        for (size_t k = 0; k < s->unary.n; k++) {
            uint32_t rule[3];
            rule_at(&s->unary, k, rule);
            once += rule[0] == p && s->unary_count[k] == 1.0;
        }
        memset(s->l, 0, s->n_plain * sizeof *s->l);
        for (size_t k = 0; k < s->step.n; k++) {
            uint32_t step[3];
            rule_at(&s->step, k, step);
            if (step[0] == parent->base) {
                s->l[step[1]] += s->step_count[k];
                total += s->step_count[k];
            }
        }
        for (uint32_t x = 0; ok && total > 0.0 && x < s->n_plain; x++) {
            const trl_state_key *child = &s->key[s->state[s->first[x]]];
            const double more = 0.5 * s->steps_to[x] / s->steps + 0.5 * s->any[x] / s->all;
            const double e = once * (s->l[x] + more) / (total + 1.0);
            if (e < LEAST || child->type == TRL_STATE_ACTIVE || child->type == TRL_KEY_ROOT ||
                child->base == parent->base)
                continue;
            const new_unary u = {.parent = p, .child = x, .e = e};
            ok = add_unary(s, &u) && continue_chains(s, p, x, e);
        }
    }
    return ok;
}

bool trl_grammar_smooth(trl_grammar *g)
{
    smoothing s;
    const bool ok = begin(&s, g) && smooth_binary(&s) && smooth_unary(&s);
    free_smoothing(&s);
    return ok;
}
