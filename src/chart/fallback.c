/* fallback.c -- the best cover of a sentence by phrases.
 *
 *     cover(j) = min over i < j of cover(i) + (1, -score of the best phrase over (i, j)),
 *
 * pairs compared by their first numbers, then by their second; every word may be a piece.
 */
/* SPDX-License-Identifier: MIT */
#include "chart/fallback.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define LN2 0.693147180559945309417232

/* ---- cover --------------------------------------------------------------------------------------
 */

typedef struct piece { /* the last one of the best cover of words 0 .. j-1 */
    size_t pieces;
    double score;
    uint32_t from, item; /* TRL_NO_ID: the word alone */
} piece;

/* The best phrase of a cell (except the root's label) or, for a word, the best tag; TRL_NO_ID:
 * none.
 */
static uint32_t best_item(const trl_chart *c, size_t cell, trl_state_type type, double *score)
{
    const trl_grammar *g = c->g;
    const uint32_t top = g->state[g->root].base;
    uint32_t best = TRL_NO_ID;
    for (uint32_t x = c->s->first[cell]; x < c->s->first[cell + 1]; x++) {
        const trl_state *s = &g->state[c->s->item[x] & TRL_STATE_MASK];
        if (s->type == type && s->base != top && c->after[x] > 0.0 &&
            (best == TRL_NO_ID || c->after[x] > c->after[best]))
            best = x;
    }
    if (best != TRL_NO_ID)
        *score = log(c->after[best]) + LN2 * c->scale[cell];
    return best;
}

static void cover(const trl_chart *c, size_t n, piece *at)
{
    at[0] = (piece){0, 0.0, 0, TRL_NO_ID};
    for (size_t j = 1; j <= n; j++) {
        double score = 0.0;
        if (c)
            best_item(c, trl_cell(j - 1, j), TRL_STATE_TAG, &score);
        at[j] = (piece){at[j - 1].pieces + 1, at[j - 1].score + score, (uint32_t)j - 1, TRL_NO_ID};
        for (size_t i = 0; c && i + 1 < j; i++) {
            if (at[i].pieces + 1 > at[j].pieces)
                continue;
            const uint32_t x = best_item(c, trl_cell(i, j), TRL_STATE_PHRASE, &score);
            if (x == TRL_NO_ID)
                continue;
            if (at[i].pieces + 1 < at[j].pieces || at[i].score + score > at[j].score)
                at[j] = (piece){at[i].pieces + 1, at[i].score + score, (uint32_t)i, x};
        }
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

typedef struct tagger {
    const trl_grammar *g;
    const trl_lexicon *x;
    uint32_t *tags;
    double *logp, *sum; /* [n_states]; [labels] */
} tagger;

/* The base tag with the largest p(word, tag). */
static uint32_t tag_of(const tagger *t, trl_str word, size_t at)
{
    const size_t n = trl_lexicon_tags(t->x, t->g, trl_lexicon_word(t->x, word),
                                      trl_lexicon_class(t->x, word, at), t->tags, t->logp);
    uint32_t best = t->g->state[t->tags[0]].base;
    double top = -(double)INFINITY;
    for (size_t k = 0; k < n; k++)
        top = t->logp[k] > top ? t->logp[k] : top;
    for (size_t k = 0; k < n; k++)
        t->sum[t->g->state[t->tags[k]].base] = 0.0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t base = t->g->state[t->tags[k]].base;
        t->sum[base] += exp(t->logp[k] - top) * t->x->state_count[t->tags[k]];
        best = t->sum[base] > t->sum[best] ? base : best;
    }
    return best;
}

/* ---- the tree -------------------------------------------------------------------------------- */

typedef struct builder {
    trl_nodes *out;
    uint32_t last;  /* child of the root */
    trl_btree tree; /* scratch of one piece */
    trl_node *piece;
    size_t cap_piece;
} builder;

/* Appends the nodes of one piece, whose links count from 0, below the root. */
static bool append(builder *b, const trl_node *from, size_t n)
{
    trl_node *all = trl_reserve(b->out->node, &b->out->cap, b->out->n + n, sizeof *all);
    if (!all)
        return false;
    b->out->node = all;
    const uint32_t base = (uint32_t)b->out->n;
    for (size_t k = 0; k < n; k++) {
        trl_node *v = &all[base + k];
        *v = from[k];
        v->parent = v->parent == TRL_NO_NODE ? 0 : v->parent + base;
        v->child += v->child == TRL_NO_NODE ? 0 : base;
        v->next += v->next == TRL_NO_NODE ? 0 : base;
    }
    if (base > 0)
        *(b->last == TRL_NO_NODE ? &all[0].child : &all[b->last].next) = base;
    else
        all[0].parent = TRL_NO_NODE;
    b->last = base > 0 ? base : TRL_NO_NODE;
    b->out->n += n;
    return true;
}

static trl_status append_piece(builder *b, const trl_chart *c, const piece *p, size_t to,
                               trl_error *err)
{
    size_t n = 0;
    trl_status st = trl_chart_subtree(c, p->item, p->from, to, &b->tree, err);
    if (st == TRL_OK)
        st = trl_grammar_decode(c->g, &b->tree, &b->piece, &n, &b->cap_piece, err);
    if (st == TRL_OK && !append(b, b->piece, n))
        st = trl_fail_mem(err);
    return st;
}

/* What pieces are made of. */
typedef struct piece_maker {
    const tagger *t;
    const trl_fallback *f;
    const trl_chart *c;
} piece_maker;

static trl_status build(builder *b, const piece_maker *x, const piece *at, uint32_t *ends,
                        trl_error *err)
{
    const size_t n = x->f->n;
    const uint32_t top = x->t->g->state[x->t->g->root].base;
    const trl_node root = {top, TRL_NO_NODE, TRL_NO_NODE, TRL_NO_NODE, 0, (uint32_t)n};
    size_t m = 0;
    for (size_t j = n; j > 0; j = at[j].from)
        ends[m++] = (uint32_t)j;
    trl_status st = append(b, &root, 1) ? TRL_OK : trl_fail_mem(err);
    while (st == TRL_OK && m > 0) {
        const uint32_t j = ends[--m];
        if (at[j].item != TRL_NO_ID) {
            st = append_piece(b, x->c, &at[j], j, err);
            continue;
        }
        const uint32_t tag = tag_of(x->t, x->f->word[j - 1], j - 1);
        const trl_node leaf = {tag, TRL_NO_NODE, TRL_NO_NODE, TRL_NO_NODE, j - 1, j};
        if (!append(b, &leaf, 1))
            st = trl_fail_mem(err);
    }
    return st;
}

trl_status trl_fallback_tree(const trl_fallback *f, trl_nodes *out, trl_arena *arena,
                             trl_error *err)
{
    const trl_grammar *g = f->g;
    const size_t n = f->n;
    if (f->c && !f->c->back && trl_chart_best(f->c, f->t, arena, err) == TRL_ENOMEM)
        return TRL_ENOMEM;
    const trl_chart *c = f->c && !f->c->overflow ? f->c : NULL;
    piece *at = trl_arena_get(arena, n + 1, sizeof *at);
    uint32_t *ends = trl_arena_get(arena, n, sizeof *ends);
    const tagger tags = {g, f->x, trl_arena_get(arena, g->n_states, sizeof *tags.tags),
                         trl_arena_get(arena, g->n_states, sizeof *tags.logp),
                         trl_arena_get(arena, g->labels.n, sizeof *tags.sum)};
    if (!at || !ends || !tags.tags || !tags.logp || !tags.sum)
        return trl_fail_mem(err);
    cover(c, n, at);
    out->n = 0;
    builder b = {.out = out, .last = TRL_NO_NODE};
    const trl_status st = build(&b, &(piece_maker){&tags, f, c}, at, ends, err);
    trl_btree_fini(&b.tree);
    trl_free(b.piece);
    return st;
}
