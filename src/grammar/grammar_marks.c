/* grammar_marks.c -- the mark at the end of a sentence, below a phrase that was never seen with it.
 *
 * Treebanks put it into the phrase below the root, whatever that phrase is: (S ... (. .)),
 * (NP ... (. .)), (INTJ (UH Yes) (. .)).  So a phrase A that was seen below the root without a mark
 * may end with one.  R(A) counts the A below the root, R all phrases there, E(M) those of them that
 * end with tag M, which is a mark if these are at least USUAL of all and half of its words, and
 * have several labels; a new one of A is expected with the probability
 *
 *     m = E(M) / R / (R(A) + 1)
 *
 * and adds c m to the counts of the rules that are then used instead of a rule seen c times there:
 *
 *     TOP -> A -> B      TOP -> A,  A -> B M
 *     A -> B C           A -> B @A,  @A -> C M           (and the same of @A -> B C)
 *
 * if that is at least LEAST of grammar_smooth.c.  A grammar without the parents' labels knows of
 * A -> B C only how often it was seen anywhere: what is added is then the share that A has below
 * the root, but what is to be added is decided without it, so that every rule of a grammar with
 * these labels is in the one without.  Where tags have them, the mark may need a new state, and so
 * may @A. Grammars whose active states remember siblings have no such rules.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "grammar/grammar_parts.h"

#define USUAL 0.05

typedef struct marks {
    trl_grammar *g;
    trl_grammar_maps *m;
    size_t n;         /* states before */
    uint32_t root;    /* the state */
    double *any;      /* [labels]: phrases A anywhere */
    uint32_t *phrase; /* [labels]: the state A below the root, or TRL_NO_ID */
    trl_mark_rules *rules;
} marks;

static void rule_at(const trl_strtab *rules, size_t r, uint32_t key[3])
{
    memcpy(key, trl_strtab_get(rules, (uint32_t)r).p, 3 * sizeof *key);
}

static uint32_t chain_label(trl_str chain, size_t k)
{
    uint32_t label;
    memcpy(&label, chain.p + k * sizeof label, sizeof label);
    return label;
}

/* ---- what was seen --------------------------------------------------------------------------- */

/* The counts of a label; NULL: out of memory. */
static trl_mark_count *count_of(trl_tree_coder *c, trl_grammar_maps *m, uint32_t label)
{
    const uint32_t id = trl_coder_label(c, label);
    trl_mark_count *grown =
        c->failed ? NULL : trl_reserve(m->marks, &m->marks_cap, (size_t)id + 1, sizeof *grown);
    if (!grown)
        return NULL;
    m->marks = grown;
    for (; m->n_marks <= id; m->n_marks++)
        grown[m->n_marks] = (trl_mark_count){0};
    return &grown[id];
}

bool trl_marks_count(trl_tree_coder *c, trl_grammar_maps *m)
{
    const trl_tree *t = c->tree;
    for (uint32_t v = 0; v < t->n_nodes; v++) {
        trl_mark_count *tag =
            t->node[v].child == TRL_NO_NODE ? count_of(c, m, t->node[v].label) : NULL;
        if (tag)
            tag->words += 1.0;
        else if (t->node[v].child == TRL_NO_NODE)
            return false;
    }
    const uint32_t top = t->n_nodes ? t->node[0].child : TRL_NO_NODE;
    if (top == TRL_NO_NODE || t->node[top].next != TRL_NO_NODE || t->node[top].child == TRL_NO_NODE)
        return true;
    uint32_t last = t->node[top].child;
    while (t->node[last].next != TRL_NO_NODE)
        last = t->node[last].next;
    trl_mark_count *phrase = count_of(c, m, t->node[top].label);
    if (!phrase)
        return false;
    phrase->below += 1.0;
    m->n_roots += 1.0;
    if (t->node[last].child != TRL_NO_NODE || last == t->node[top].child)
        return true;
    const uint32_t label = trl_coder_label(c, t->node[top].label) + 1;
    trl_mark_count *tag = count_of(c, m, t->node[last].label);
    if (!tag)
        return false;
    tag->ends += 1.0;
    tag->ended = tag->ended == 0 || tag->ended == label ? label : TRL_NO_ID;
    return true;
}

static double below(const marks *x, uint32_t label)
{
    return label < x->m->n_marks ? x->m->marks[label].below : 0.0;
}

/* E(M) / R of a mark, 0 of other tags. */
static double mark_share(const marks *x, uint32_t label)
{
    const trl_mark_count *c = label < x->m->n_marks ? &x->m->marks[label] : NULL;
    return c && c->ended == TRL_NO_ID && c->ends >= USUAL * x->m->n_roots &&
                   c->ends >= 0.5 * c->words
               ? c->ends / x->m->n_roots
               : 0.0;
}

static void count_phrases(marks *x)
{
    const trl_grammar_maps *m = x->m;
    uint32_t r[3];
    for (size_t k = 0; k < m->unary.n; k++) {
        rule_at(&m->unary, k, r);
        const double c = m->unary_count[k];
        const trl_str chain = trl_strtab_get(&m->chains, r[2]);
        const trl_state_key child = trl_grammar_key(x->g, r[1]);
        for (size_t at = 0; at * sizeof(uint32_t) < chain.n; at++)
            x->any[chain_label(chain, at)] += c;
        x->any[child.base] += child.type == TRL_STATE_PHRASE ? c : 0.0;
    }
    for (size_t k = 0; k < m->binary.n; k++)
        for (int side = 1; side < 3; side++) {
            rule_at(&m->binary, k, r);
            const trl_state_key child = trl_grammar_key(x->g, r[side]);
            x->any[child.base] += child.type == TRL_STATE_PHRASE ? m->binary_count[k] : 0.0;
        }
}

/* How much of a state's rules are below the root: by its annotation, or by its label's share. */
static double at_root(const marks *x, const trl_state_key *k)
{
    if (k->type == TRL_KEY_ROOT || k->base == 0 || below(x, k->base) == 0.0)
        return 0.0;
    if (x->g->annotation.parents)
        return k->above == 0 ? 1.0 : 0.0;
    return x->any[k->base] > 0.0 ? below(x, k->base) / x->any[k->base] : 0.0;
}

static void find_states(marks *x)
{
    for (uint32_t a = 0; a < x->g->labels.n; a++)
        x->phrase[a] = TRL_NO_ID;
    for (uint32_t s = 0; s < x->n; s++) {
        const trl_state_key k = trl_grammar_key(x->g, s);
        if (k.type == TRL_STATE_PHRASE && at_root(x, &k) > 0.0 && x->phrase[k.base] == TRL_NO_ID)
            x->phrase[k.base] = s;
    }
}

/* ---- new rules ------------------------------------------------------------------------------- */

/* Adds e to the count of a rule that was not seen. */
static bool expect(marks *x, uint32_t parent, uint32_t left, uint32_t right, double e)
{
    const uint32_t rule[3] = {parent, left, right};
    const uint32_t known = trl_strtab_find(&x->m->binary, (const char *)rule, sizeof rule);
    if (known != TRL_NO_ID && x->m->binary_count[known] >= 1.0)
        return true;
    return trl_count_rule(&x->rules->rule, &x->rules->count, &x->rules->cap, rule, e);
}

/* The state of tag `mark` below a phrase with this label; TRL_NO_ID: out of memory. */
static uint32_t mark_state(marks *x, uint32_t mark, uint32_t label)
{
    const trl_state_key k = {
        TRL_STATE_TAG, mark,      x->g->annotation.tag_parents ? label : TRL_NO_ID,
        TRL_NO_ID,     TRL_NO_ID, TRL_NO_ID};
    return trl_strtab_add(&x->g->keys, (const char *)&k, sizeof k);
}

/* @A of the phrase or active state A, or TRL_NO_ID. */
static uint32_t active_state(marks *x, const trl_state_key *of)
{
    const trl_state_key k = {TRL_STATE_ACTIVE, of->base, of->above, of->head, TRL_NO_ID, TRL_NO_ID};
    return trl_strtab_add(&x->g->keys, (const char *)&k, sizeof k);
}

/* Whether a phrase may have this child as its head; many remember none. */
static bool has_head(const marks *x, uint32_t phrase, uint32_t child)
{
    const uint32_t own = phrase == TRL_NO_ID ? TRL_NO_ID : trl_grammar_key(x->g, phrase).head;
    return phrase != TRL_NO_ID && (own == TRL_NO_ID || own == child);
}

/* A -> B M for TOP -> A -> B. */
static bool mark_unaries(marks *x, uint32_t mark, double share)
{
    const trl_grammar_maps *m = x->m;
    uint32_t r[3];
    for (size_t k = 0; k < m->unary.n; k++) {
        rule_at(&m->unary, k, r);
        const trl_str chain = trl_strtab_get(&m->chains, r[2]);
        if (r[0] != x->root || m->unary_count[k] < 1.0 || chain.n != sizeof(uint32_t))
            continue;
        const uint32_t a = chain_label(chain, 0);
        const double e = m->unary_count[k] * share / (below(x, a) + 1.0);
        if (e < TRL_SMOOTH_LEAST || !has_head(x, x->phrase[a], trl_grammar_key(x->g, r[1]).base))
            continue;
        const uint32_t end = mark_state(x, mark, a);
        if (end == TRL_NO_ID || !expect(x, x->phrase[a], r[1], end, e))
            return false;
    }
    return true;
}

/* A -> B @A and @A -> C M for A -> B C. */
static bool mark_binaries(marks *x, uint32_t mark, double share)
{
    uint32_t r[3];
    for (size_t k = 0; k < x->m->binary.n; k++) {
        rule_at(&x->m->binary, k, r);
        const trl_state_key parent = trl_grammar_key(x->g, r[0]),
                            last = trl_grammar_key(x->g, r[2]);
        const double c = x->m->binary_count[k] < 1.0 ? 0.0 : x->m->binary_count[k];
        const double e = c * share / (below(x, parent.base) + 1.0), part = at_root(x, &parent);
        if (e < TRL_SMOOTH_LEAST || part == 0.0 || last.type == TRL_STATE_ACTIVE ||
            (last.type == TRL_STATE_TAG && mark_share(x, last.base) > 0.0))
            continue;
        const uint32_t end = mark_state(x, mark, parent.base), active = active_state(x, &parent);
        if (end == TRL_NO_ID || active == TRL_NO_ID || !expect(x, r[0], r[1], active, e * part) ||
            !expect(x, active, r[2], end, e * part))
            return false;
    }
    return true;
}

static bool add_marks(marks *x)
{
    for (uint32_t label = 0; label < x->g->labels.n; label++) {
        const double share = mark_share(x, label);
        if (share > 0.0 && !(mark_unaries(x, label, share) && mark_binaries(x, label, share)))
            return false;
    }
    return true;
}

bool trl_grammar_marks(trl_grammar *g, trl_mark_rules *rules)
{
    const trl_state_key root = {TRL_KEY_ROOT, 0, TRL_NO_ID, TRL_NO_ID, TRL_NO_ID, TRL_NO_ID};
    const size_t labels = g->labels.n;
    marks x = {.g = g,
               .m = g->building,
               .n = g->keys.n,
               .root = trl_grammar_find(g, &root),
               .rules = rules};
    x.any = trl_zalloc(labels, sizeof *x.any);
    x.phrase = trl_alloc(labels, sizeof *x.phrase);
    bool ok = x.any && x.phrase;
    if (ok && x.root != TRL_NO_ID && g->annotation.markov == 0) {
        count_phrases(&x);
        find_states(&x);
        ok = add_marks(&x);
    }
    trl_free(x.any);
    trl_free(x.phrase);
    return ok;
}

bool trl_mark_rules_add(trl_grammar *g, const trl_mark_rules *rules)
{
    trl_grammar_maps *m = g->building;
    uint32_t r[3];
    for (size_t k = 0; k < rules->rule.n; k++) {
        rule_at(&rules->rule, k, r);
        if (!trl_count_rule(&m->binary, &m->binary_count, &m->binary_cap, r, rules->count[k]))
            return false;
    }
    return true;
}

void trl_mark_rules_fini(trl_mark_rules *rules)
{
    trl_strtab_fini(&rules->rule);
    trl_free(rules->count);
}
