/* coarse_pieces.c -- trees of the coarse grammar for pieces of a sentence. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "parser/borders.h"
#include "parser/coarse_tree.h"
#include "chart/fallback.h"

typedef struct builder {
    const trl_tree_model *m;
    const trl_str *word;
    const trl_piece_parser *p;
    trl_nodes *out;
    uint32_t last; /* child of the root so far */
    trl_nodes piece;
    trl_arena *arena;
} builder;

/* Moves the children of the piece's root to the root of the sentence. */
static bool graft(builder *b, size_t from)
{
    const size_t more = b->piece.n - 1;
    trl_node *all = trl_reserve(b->out->node, &b->out->cap, b->out->n + more, sizeof *all);
    if (!all)
        return false;
    b->out->node = all;
    const uint32_t shift = (uint32_t)b->out->n - 1;
    for (size_t k = 1; k <= more; k++) {
        trl_node v = b->piece.node[k];
        v.from += (uint32_t)from;
        v.to += (uint32_t)from;
        v.child += v.child == TRL_NO_NODE ? 0 : shift;
        v.next += v.next == TRL_NO_NODE ? 0 : shift;
        const uint32_t me = (uint32_t)k + shift;
        if (v.parent == 0) {
            *(b->last == TRL_NO_NODE ? &all[0].child : &all[b->last].next) = me;
            b->last = me;
        } else {
            v.parent += shift;
        }
        all[me] = v;
    }
    b->out->n += more;
    return true;
}

/* For a piece without a tree: its phrases. */
static trl_status cover(builder *b, const trl_str *word, size_t n, trl_error *err)
{
    const trl_pcfg *p = &b->m->coarse_pcfg;
    trl_skeleton s;
    trl_chart c;
    trl_tree_tables t = {
        .binary_exp = p->binary_exp, .unary = p->unary, .n_classes = 1, .edge_class = p->no_class};
    trl_status st = trl_skeleton_full(&(trl_words_grammar){p->g, p->x}, &(trl_words){word, n}, &s,
                                      &t.item, b->arena, err);
    if (st == TRL_OK)
        st = trl_chart_init(&c, p->g, &s, b->arena, err);
    if (st != TRL_OK)
        return st;
    t.unary_at = trl_arena_get(b->arena, c.n_unary, sizeof *t.unary_at);
    if (!t.unary_at)
        return trl_fail_mem(err);
    memset(t.unary_at, 0, c.n_unary * sizeof *t.unary_at);
    st = trl_fallback_tree(&(trl_fallback){p->g, p->x, word, n, &c, &t}, &b->piece, b->arena, err);
    if (st == TRL_OK)
        trl_coarse_rename(b->m, b->piece.node, b->piece.n);
    return st;
}

static trl_status add_piece(builder *b, size_t from, size_t n, trl_error *err)
{
    const trl_words x = {b->word + from, n};
    b->piece.n = 0;
    trl_arena_reset(b->arena);
    trl_status st = b->p->tree ? b->p->tree(b->p->self, &x, &b->piece, err) : TRL_OK;
    if (st == TRL_OK && b->piece.n == 0)
        st = trl_coarse_tree(b->m, &x, &(trl_coarse_limits){b->p->lambda, 0.0}, &b->piece, b->arena,
                             err);
    if (st == TRL_OK && b->piece.n == 0)
        st = cover(b, b->word + from, n, err);
    if (st == TRL_OK && !graft(b, from))
        st = trl_fail_mem(err);
    return st;
}

trl_status trl_coarse_pieces(const trl_tree_model *m, const trl_words *x, const trl_piece_parser *p,
                             trl_nodes *out, trl_arena *arena, trl_error *err)
{
    builder b = {.m = m, .word = x->word, .p = p, .out = out, .last = TRL_NO_NODE, .arena = arena};
    trl_node *root = trl_reserve(out->node, &out->cap, 1, sizeof *root);
    if (!root)
        return trl_fail_mem(err);
    out->node = root;
    *root = (trl_node){
        m->fine.state[m->fine.root].base, TRL_NO_NODE, TRL_NO_NODE, TRL_NO_NODE, 0, (uint32_t)x->n};
    out->n = 1;
    trl_status st = TRL_OK;
    for (size_t at = 0; st == TRL_OK && at < x->n;) {
        const size_t k = trl_cut(x->word + at, x->n - at, p->longest);
        st = add_piece(&b, at, k, err);
        at += k;
    }
    trl_free(b.piece.node);
    return st;
}
