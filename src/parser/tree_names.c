/* tree_names.c -- features of tree models in words. */
/* SPDX-License-Identifier: MIT */
#include "parser/tree_dump.h"

/* ---- classes --------------------------------------------------------------------------------- */

static void put(trl_buf *out, trl_str s)
{
    trl_buf_add(out, s.p, s.n);
}

/* With its annotation, or without. */
static void put_state(const trl_grammar *g, uint32_t s, bool plain, trl_buf *out)
{
    if (!plain) {
        put(out, trl_strtab_get(&g->names, s));
        return;
    }
    if (g->state[s].type == TRL_STATE_ACTIVE)
        trl_buf_ch(out, '@');
    put(out, trl_strtab_get(&g->labels, g->state[s].base));
}

void trl_tree_name_binary(const trl_grammar *g, uint32_t rule, bool plain, trl_buf *out)
{
    const trl_binary *r = &g->binary[rule];
    put_state(g, r->parent, plain, out);
    trl_buf_str(out, " -> ");
    put_state(g, r->left, plain, out);
    trl_buf_ch(out, ' ');
    put_state(g, r->right, plain, out);
}

/* Chains are not part of what a plain rule is. */
void trl_tree_name_unary(const trl_grammar *g, uint32_t rule, bool plain, trl_buf *out)
{
    const trl_unary *u = &g->unary[rule];
    put_state(g, u->parent, plain, out);
    for (uint32_t k = 0; !plain && k < u->chain_length; k++) {
        trl_buf_str(out, " -> ");
        put(out, trl_strtab_get(&g->labels, g->chain_pool[u->chain + k]));
    }
    trl_buf_str(out, " -> ");
    put_state(g, u->child, plain, out);
}

/* The first member of a plain class, or TRL_NO_ID. */
static uint32_t plain_state(const trl_grammar *g, uint32_t cls)
{
    for (uint32_t s = 0; s < g->n_states; s++)
        if (g->state[s].plain == cls)
            return s;
    return TRL_NO_ID;
}

static uint32_t plain_binary(const trl_grammar *g, uint32_t cls)
{
    for (uint32_t r = 0; r < g->n_binary; r++)
        if (g->binary[r].plain == cls)
            return r;
    return TRL_NO_ID;
}

static uint32_t plain_unary(const trl_grammar *g, uint32_t cls)
{
    for (uint32_t r = 0; r < g->n_unary; r++)
        if (g->unary[r].plain == cls)
            return r;
    return TRL_NO_ID;
}

static const char *const types[] = {"<tag>", "<phrase>", "<active>"};

static bool same_plain(const trl_grammar *g, uint32_t a, uint32_t b)
{
    return g->state[a].plain == g->state[b].plain;
}

/* A class of rules by one of them.  In a smoothed grammar it may have many, seen at most once: then
 * only the types of the children are named. */
static void put_binary_class(const trl_grammar *g, uint32_t rule, trl_buf *out)
{
    const trl_binary *b = &g->binary[rule];
    for (size_t r = rule; g->smoothed && r < g->n_binary; r++) {
        const trl_binary *c = &g->binary[r];
        if (c->plain != b->plain ||
            (same_plain(g, b->left, c->left) && same_plain(g, b->right, c->right)))
            continue;
        put_state(g, b->parent, true, out);
        trl_buf_fmt(out, " -> %s %s", types[g->state[b->left].type],
                    types[g->state[b->right].type]);
        return;
    }
    trl_tree_name_binary(g, rule, true, out);
}

static void put_unary_class(const trl_grammar *g, uint32_t rule, trl_buf *out)
{
    const trl_unary *u = &g->unary[rule];
    for (size_t r = rule; g->smoothed && r < g->n_unary; r++) {
        if (g->unary[r].plain != u->plain || same_plain(g, u->child, g->unary[r].child))
            continue;
        put_state(g, u->parent, true, out);
        trl_buf_fmt(out, " -> %s", types[g->state[u->child].type]);
        return;
    }
    trl_tree_name_unary(g, rule, true, out);
}

/* False: the class does not exist, in a damaged file. */
static bool put_class(const trl_grammar *g, int part, uint32_t cls, trl_buf *out)
{
    const bool plain = part == TRL_PART_BASE_TAG || part == TRL_PART_BASE_PARENT ||
                       part == TRL_PART_BASE_UNARY_PARENT || part == TRL_PART_BASE_RULE ||
                       part == TRL_PART_BASE_UNARY;
    const bool binary = part >= TRL_PART_RULE && part <= TRL_PART_VERB_RULE;
    const bool unary = part == TRL_PART_UNARY || part == TRL_PART_BASE_UNARY;
    if (part == TRL_PART_TAG_PARENT) {
        if (cls < g->labels.n)
            put(out, trl_strtab_get(&g->labels, cls));
        return cls < g->labels.n;
    }
    const uint32_t id = !plain   ? cls
                        : binary ? plain_binary(g, cls)
                        : unary  ? plain_unary(g, cls)
                                 : plain_state(g, cls);
    if (id >= (binary ? g->n_binary : unary ? g->n_unary : g->n_states))
        return false;
    if (binary && plain)
        put_binary_class(g, id, out);
    else if (binary)
        trl_tree_name_binary(g, id, false, out);
    else if (unary && plain)
        put_unary_class(g, id, out);
    else if (unary)
        trl_tree_name_unary(g, id, false, out);
    else
        put_state(g, id, plain, out);
    return true;
}

/* ---- observations ---------------------------------------------------------------------------- */

static void put_string(const trl_strtab *t, uint32_t id, trl_buf *out)
{
    if (id < t->n)
        put(out, trl_strtab_get(t, id));
    else
        trl_buf_fmt(out, "#%u", id);
}

/* A cluster, or the first bits of its path. */
static void put_cluster(const trl_tree_clusters *c, int type, uint32_t id, trl_buf *out)
{
    const size_t bits = type == TRL_SEEN_CLUSTER4 ? 4 : 6;
    const uint32_t *prefix = c->prefix[type == TRL_SEEN_CLUSTER6];
    uint32_t k = 0;
    if (type == TRL_SEEN_CLUSTER)
        k = id;
    else
        while (prefix && k < c->view.name.n && prefix[k + 1] != id + 1)
            k++;
    if (k >= c->view.name.n) {
        trl_buf_fmt(out, "#%u", id);
        return;
    }
    trl_str name = trl_strview_get(&c->view.name, k);
    if (type != TRL_SEEN_CLUSTER && name.n > bits)
        name.n = bits;
    put(out, name);
}

/* How many values a type has: more than the key's bits hold cannot be distinguished. */
static size_t values_of(const trl_tree_model *m, int type)
{
    const trl_observer *o = &m->observer;
    switch (type) {
    case TRL_SEEN_WORD:
        return m->lexicon.words.n;
    case TRL_SEEN_LOWER:
        return o->lower.n;
    case TRL_SEEN_CLASS:
        return m->lexicon.classes.n;
    case TRL_SEEN_FORM:
        return m->lexicon.classes.n + m->lexicon.words.n;
    case TRL_SEEN_TAG:
        return m->fine.labels.n;
    case TRL_SEEN_SUFFIX2:
        return o->suffix2.n;
    case TRL_SEEN_SUFFIX3:
        return o->suffix3.n;
    case TRL_SEEN_CLUSTER:
    case TRL_SEEN_CLUSTER4:
    case TRL_SEEN_CLUSTER6:
        return m->clusters.view.name.n;
    case TRL_SEEN_SHAPE:
        return SIZE_MAX - TRL_SEEN_FIRST;
    default:
        return 128; /* lengths */
    }
}

static void put_length(uint32_t cls, trl_buf *out)
{
    static const char *const from_to[] = {"0",   "1",    "2",     "3",     "4",  "5",
                                          "6-7", "8-10", "11-15", "16-20", "21-"};
    if (cls < sizeof from_to / sizeof *from_to)
        trl_buf_str(out, from_to[cls]);
    else
        trl_buf_fmt(out, "#%u", cls);
}

/* The table that values of the kind are numbered by, and the value's number there; NULL: none. */
static const trl_strtab *table_of(const trl_tree_model *m, int type, uint32_t *id)
{
    const uint32_t classes = (uint32_t)m->lexicon.classes.n;
    const bool of_class = type == TRL_SEEN_CLASS || (type == TRL_SEEN_FORM && *id < classes);
    if (type == TRL_SEEN_FORM && !of_class)
        *id -= classes;
    return of_class                                         ? &m->lexicon.classes
           : type == TRL_SEEN_WORD || type == TRL_SEEN_FORM ? &m->lexicon.words
           : type == TRL_SEEN_LOWER                         ? &m->observer.lower
           : type == TRL_SEEN_TAG                           ? &m->fine.labels
           : type == TRL_SEEN_SUFFIX2                       ? &m->observer.suffix2
           : type == TRL_SEEN_SUFFIX3                       ? &m->observer.suffix3
                                                            : NULL;
}

static void put_value(const trl_tree_model *m, int type, uint32_t v, trl_buf *out)
{
    uint32_t id = v - TRL_SEEN_FIRST;
    const trl_strtab *table = table_of(m, type, &id);
    if (table) {
        put_string(table, id, out);
        return;
    }
    switch (type) {
    case TRL_SEEN_CLUSTER:
    case TRL_SEEN_CLUSTER4:
    case TRL_SEEN_CLUSTER6:
        put_cluster(&m->clusters, type, id, out);
        break;
    case TRL_SEEN_LENGTH:
        put_length(id, out);
        break;
    case TRL_SEEN_SHORT:
        trl_buf_fmt(out, "%u", id);
        break;
    case TRL_SEEN_HEAVY:
        put_length(v / 8 - TRL_SEEN_FIRST, out);
        trl_buf_fmt(out,
                    v % 8 == 4   ? ", 6 or more after"
                    : v % 8 == 3 ? ", 3-5 after"
                                 : ", %u after",
                    v % 8);
        break;
    default:
        trl_buf_fmt(out, "#%x", v);
    }
}

void trl_tree_name_class(const trl_tree_model *m, size_t family, uint32_t cls, trl_buf *out)
{
    if (!put_class(&m->fine, m->tpl.family[family].part, cls, out))
        trl_buf_fmt(out, "#%u", cls);
}

void trl_tree_name_seen(const trl_tree_model *m, size_t family, uint64_t seen, trl_buf *out)
{
    static const uint8_t bits[4] = {36, 36, 18, 12};
    const trl_tree_family *f = &m->tpl.family[family];
    const unsigned width = bits[f->n];
    for (size_t k = 0; k < f->n; k++) {
        const int type = f->observation[k].type;
        const uint64_t v = seen >> (width * (f->n - 1 - k)) & ((UINT64_C(1) << width) - 1);
        trl_buf_str(out, "  ");
        if (v == TRL_SEEN_START && type < TRL_SEEN_TYPES)
            trl_buf_str(out, "<s>");
        else if (v == TRL_SEEN_END && type < TRL_SEEN_TYPES)
            trl_buf_str(out, "</s>");
        else if (v < TRL_SEEN_FIRST || values_of(m, type) + TRL_SEEN_FIRST > UINT64_C(1) << width)
            trl_buf_fmt(out, "#%llx", (unsigned long long)v);
        else
            put_value(m, type, (uint32_t)v, out);
    }
}
