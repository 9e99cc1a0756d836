/* tree_features.c -- keys of tree parts; the index of a treebank's features. */
/* SPDX-License-Identifier: MIT */
#include "parser/tree_features.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "num/vexp.h"

/* ---- set-up ------------------------------------------------------------------------------------
 */

static uint8_t marks_of(const trl_grammar *g, const trl_binary *r)
{
    const trl_state *left = &g->state[r->left], *right = &g->state[r->right];
    const trl_str l = trl_strtab_get(&g->labels, left->base);
    const trl_str x = trl_strtab_get(&g->labels, right->base);
    unsigned marks = 0;
    if (right->type == TRL_STATE_PHRASE && x.n == 2 && memcmp(x.p, "PP", 2) == 0)
        marks |= TRL_RIGHT_PP;
    if (left->type == TRL_STATE_TAG && l.n && l.p[0] == 'V')
        marks |= TRL_LEFT_VERB;
    if (right->type == TRL_STATE_TAG && x.n && x.p[0] == 'V')
        marks |= TRL_RIGHT_VERB;
    return (uint8_t)marks;
}

trl_status trl_tree_features_init(trl_tree_features *f, const trl_grammar *g,
                                  const trl_tree_template *t, trl_error *err)
{
    *f = (trl_tree_features){.g = g, .t = t};
    for (size_t k = 0; k < t->n; k++) {
        const trl_tree_family *fam = &t->family[k];
        const size_t group =
            fam->attachment == TRL_ATTACH_EDGE ? TRL_ATTACHS + fam->anchor : fam->attachment;
        f->family[group][f->n_family[group]++] = (uint8_t)k;
    }
    f->n_direct = g->n_binary + g->n_plain_binary + g->n_unary + g->n_plain_unary;
    f->n_classes = t->annotated_edges ? g->n_binary : g->n_plain_binary;
    f->edge_class = trl_alloc(g->n_binary, sizeof *f->edge_class);
    f->edge_rule = trl_zalloc(f->n_classes, sizeof *f->edge_rule);
    f->rule_marks = trl_alloc(g->n_binary, 1);
    if (!f->edge_class || !f->edge_rule || !f->rule_marks) {
        trl_tree_features_fini(f);
        return trl_fail_mem(err);
    }
    for (uint32_t r = 0; r < g->n_binary; r++) {
        f->edge_class[r] = t->annotated_edges ? r : g->binary[r].plain;
        f->edge_rule[f->edge_class[r]] = r;
        f->rule_marks[r] = marks_of(g, &g->binary[r]);
    }
    return TRL_OK;
}

void trl_tree_features_fini(trl_tree_features *f)
{
    trl_tree_index_fini(&f->index);
    trl_free(f->edge_class);
    trl_free(f->edge_rule);
    trl_free(f->rule_marks);
    *f = (trl_tree_features){0};
}

bool trl_tree_attaches(const trl_tree_template *t, int attachment, int anchor)
{
    for (size_t k = 0; k < t->n; k++)
        if (t->family[k].attachment == attachment &&
            (attachment != TRL_ATTACH_EDGE || t->family[k].anchor == anchor))
            return true;
    return false;
}

/* ---- keys ---------------------------------------------------------------------------------------
 */

uint32_t trl_tree_class_of(const trl_tree_features *f, size_t at, const trl_tree_part *p)
{
    const trl_grammar *g = f->g;
    const trl_tree_family *fam = &f->t->family[at];
    switch (fam->part) {
    case TRL_PART_TAG:
    case TRL_PART_PARENT:
    case TRL_PART_UNARY_PARENT:
        return p->state;
    case TRL_PART_BASE_TAG:
    case TRL_PART_BASE_PARENT:
    case TRL_PART_BASE_UNARY_PARENT:
        return g->state[p->state].plain;
    case TRL_PART_TAG_PARENT:
        return g->state[p->state].above;
    case TRL_PART_RULE:
    case TRL_PART_UNARY:
        return p->rule;
    case TRL_PART_BASE_RULE:
        return g->binary[p->rule].plain;
    case TRL_PART_PP_RULE:
        return f->rule_marks[p->rule] & TRL_RIGHT_PP ? p->rule : TRL_NO_ID;
    case TRL_PART_VERB_RULE: {
        const unsigned mark = fam->anchor == TRL_EDGE_END ? TRL_RIGHT_VERB : TRL_LEFT_VERB;
        return f->rule_marks[p->rule] & mark ? p->rule : TRL_NO_ID;
    }
    case TRL_PART_BASE_UNARY:
        return g->unary[p->rule].plain;
    }
    return TRL_NO_ID;
}

uint64_t trl_tree_class_key(const trl_tree_features *f, size_t at, uint32_t cls,
                            const trl_tree_part *p, const trl_seen *seen)
{
    const trl_tree_family *fam = &f->t->family[at];
    uint32_t observation[TRL_OBSERVATIONS];
    if (fam->one_word && p->j - p->i != 1)
        return 0;
    for (size_t s = 0; s < fam->n; s++) {
        const trl_observation *v = &fam->observation[s];
        const size_t base = v->place == TRL_PLACE_FIRST ? p->i
                            : v->place == TRL_PLACE_END ? p->j
                                                        : p->k;
        observation[s] = v->place == TRL_PLACE_SPAN
                             ? trl_seen_span(seen, v->type, p->i, p->j)
                             : trl_seen_at(seen, v->type, (ptrdiff_t)base + v->offset);
        if (observation[s] == 0)
            return 0;
    }
    return trl_tree_key(at, cls, observation, fam->n);
}

uint64_t trl_tree_part_key(const trl_tree_features *f, size_t at, const trl_tree_part *p,
                           const trl_seen *seen)
{
    const uint32_t cls = trl_tree_class_of(f, at, p);
    return cls == TRL_NO_ID ? 0 : trl_tree_class_key(f, at, cls, p, seen);
}

/* ---- the features of gold trees -------------------------------------------------------------- */

bool trl_tree_node_parts(const trl_tree_features *f, size_t at, const trl_bnode *n, trl_tree_part p,
                         trl_part_fn fn, void *ctx)
{
    const trl_tree_family *fam = &f->t->family[at];
    const bool word = n->left == TRL_NO_NODE, unary = !word && n->right == TRL_NO_NODE;
    if (fam->attachment == TRL_ATTACH_WORD    ? !word
        : fam->attachment == TRL_ATTACH_UNARY ? !unary
                                              : word || unary)
        return true;
    const bool inside = fam->attachment == TRL_ATTACH_INSIDE;
    const size_t last = inside ? (p.j >= p.i + fam->width ? p.j - fam->width + 1 : p.i) : p.i + 1;
    for (size_t at_word = p.i; at_word < last; at_word++) {
        if (inside)
            p.k = at_word;
        if (!fn(ctx, &p))
            return false;
    }
    return true;
}

typedef struct key_caller {
    const trl_tree_features *f;
    const trl_seen *seen;
    size_t at;
    trl_key_fn fn;
    void *ctx;
} key_caller;

static bool call_key(void *ctx, const trl_tree_part *p)
{
    const key_caller *c = ctx;
    const uint64_t key = trl_tree_part_key(c->f, c->at, p, c->seen);
    return key == 0 || c->fn(c->ctx, key);
}

bool trl_tree_node_keys(const trl_tree_features *f, size_t at, const trl_bnode *n, trl_tree_part p,
                        const trl_seen *seen, const trl_key_sink *sink)
{
    key_caller c = {f, seen, at, sink->fn, sink->ctx};
    return trl_tree_node_parts(f, at, n, p, call_key, &c);
}

bool trl_tree_gold_keys(const trl_tree_features *f, const trl_btree *tree, const trl_seen *seen,
                        const trl_key_sink *sink)
{
    for (size_t x = 0; x < tree->n; x++)
        for (size_t at = 0; at < f->t->n; at++)
            if (!trl_tree_node_keys(f, at, &tree->node[x], trl_tree_node_part(tree, x), seen, sink))
                return false;
    return true;
}

static bool add_key(void *index, uint64_t key)
{
    return trl_tree_index_add(index, key) != TRL_NO_ID;
}

trl_status trl_tree_features_add(trl_tree_features *f, const trl_btree *tree, const trl_seen *seen,
                                 trl_error *err)
{
    const trl_key_sink sink = {add_key, &f->index};
    return trl_tree_gold_keys(f, tree, seen, &sink) ? TRL_OK : trl_fail_mem(err);
}

/* Rules without scores: only the keys matter. */
trl_status trl_tree_features_add_chart(trl_tree_features *f, const trl_skeleton *s,
                                       const trl_seen *seen, trl_tree_gather *ga, trl_arena *arena,
                                       trl_error *err)
{
    const trl_grammar *g = f->g;
    trl_chart c;
    double *ones = trl_arena_get(arena, g->n_binary, sizeof *ones);
    double *zeros = trl_arena_get(arena, g->n_unary, sizeof *zeros);
    if (!ones || !zeros)
        return trl_fail_mem(err);
    for (size_t r = 0; r < g->n_binary; r++)
        ones[r] = 1.0;
    for (size_t u = 0; u < g->n_unary; u++)
        zeros[u] = 0.0;
    f->grow = &f->index;
    trl_status st = trl_chart_init(&c, g, s, arena, err);
    if (st == TRL_OK)
        st = trl_tree_gather_scores(ga, &(trl_gather_source){f, seen, &c, ones, zeros, false},
                                    arena, err);
    if (st == TRL_OK)
        st = trl_chart_inside(&c, &ga->t, err);
    f->grow = NULL;
    return st == TRL_OK && ga->failed ? trl_fail_mem(err) : st;
}

/* ---- what all sentences share ---------------------------------------------------------------- */

void trl_tree_shared(const trl_tree_features *f, double *binary_exp, double *unary)
{
    const trl_grammar *g = f->g;
    const size_t plain = g->n_binary, u0 = plain + g->n_plain_binary, p0 = u0 + g->n_unary;
    for (size_t r = 0; r < g->n_binary; r++) {
        const size_t q = plain + g->binary[r].plain;
        binary_exp[r] = f->w ? f->w[r] + f->w[q] : (double)f->w32[r] + (double)f->w32[q];
    }
    trl_vexp(g->n_binary, binary_exp, 0.0, binary_exp);
    for (size_t u = 0; u < g->n_unary; u++) {
        const size_t q = p0 + g->unary[u].plain;
        unary[u] = f->w ? f->w[u0 + u] + f->w[q] : (double)f->w32[u0 + u] + (double)f->w32[q];
    }
}
