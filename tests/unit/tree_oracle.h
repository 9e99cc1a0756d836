/* tree_oracle.h -- small random grammars, skeletons and scores, and all their trees one by one. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TREE_ORACLE_H
#define TRL_TEST_TREE_ORACLE_H

#include "read_grammar.h"

#include "chart/chart.h"
#include "grammar/lexicon.h"
#include "chart/prune.h"

/* ---- a small treebank with much ambiguity --------------------------------------------------- */

static inline void small_subtree(trl_rng *r, int depth, trl_buf *out)
{
    static const char *const phrase[] = {"VP", "B", "C"}; /* VP: head tags */
    static const char *const tag[] = {"x", "y", "V"};
    const unsigned what = draw(r, 10);
    if (depth == 0 || what < 3) {
        trl_buf_fmt(out, "(%s w%u)", tag[draw(r, 3)], draw(r, 3));
        return;
    }
    const unsigned n = what < 6 ? 1 : 2 + draw(r, 2);
    trl_buf_fmt(out, "(%s", phrase[draw(r, 3)]);
    for (unsigned k = 0; k < n; k++) {
        trl_buf_ch(out, ' ');
        small_subtree(r, depth - 1, out);
    }
    trl_buf_ch(out, ')');
}

static inline void small_treebank(trl_rng *r, size_t n, tree_list *l)
{
    trl_buf b = {0};
    for (size_t k = 0; k < n; k++) {
        trl_buf_str(&b, "(TOP ");
        small_subtree(r, 4, &b);
        if (draw(r, 3) == 0) {
            trl_buf_ch(&b, ' ');
            small_subtree(r, 3, &b);
        }
        trl_buf_str(&b, ")\n");
    }
    read_text(l, b.data, b.len);
    trl_buf_fini(&b);
}

/* ---- a sentence with scores ------------------------------------------------------------------ */

typedef struct world {
    tree_list trees;
    trl_grammar g;
    trl_lexicon x;
    trl_skeleton s;
    trl_chart c;
    trl_arena arena;
    size_t n;
    trl_str word[8];
    double *binary, *binary_exp, *unary; /* logs; exp; logs */
    uint32_t *edge_class;
    double *edge[TRL_EDGE_ANCHORS]; /* logs, [n + 1][classes], or NULL */
    size_t n_edge_scores;
    trl_tree_tables t;
} world;

static inline double random_score(trl_rng *r, double width)
{
    return width * (2.0 * trl_rng_unit(r) - 1.0);
}

/* The grammar and lexicon of w->trees. */
static inline void world_read(world *w, unsigned how, trl_licence licence)
{
    trl_error err;
    const trl_annotation a = switches(how % N_SWITCHES);
    trl_btree b = {0};
    build(&w->g, &a, &w->trees, licence);
    assert_ok(trl_lexicon_init(&w->x, 1, &err));
    for (size_t k = 0; k < w->trees.n; k++) {
        bool known;
        assert_ok(trl_grammar_encode(&w->g,
                                     &(trl_encoded){heads, &w->trees.tree[k], &w->trees.labels}, &b,
                                     &known, NULL, &err));
        assert_true(known);
        assert_ok(trl_lexicon_add(&w->x, &b, w->trees.tree[k].word, &err));
    }
    assert_ok(trl_lexicon_finish(&w->x, &w->g, &err));
    trl_btree_fini(&b);
}

static inline void world_grammar(world *w, trl_rng *r, unsigned how, trl_licence licence)
{
    *w = (world){0};
    small_treebank(r, 3 + draw(r, 8), &w->trees);
    world_read(w, how, licence);
}

static inline void world_words(world *w, trl_rng *r, size_t n)
{
    static const char *const text[] = {"w0", "w1", "w2", "w9", "Unseen"};
    w->n = n;
    for (size_t i = 0; i < n; i++) {
        const char *p = text[draw(r, 5)];
        w->word[i] = (trl_str){p, strlen(p)};
    }
}

/* A full skeleton with every mark left out now and then. */
static inline void world_skeleton(world *w, trl_rng *r, unsigned one_in)
{
    trl_error err;
    assert_ok(trl_skeleton_full(&(trl_words_grammar){&w->g, &w->x}, &(trl_words){w->word, w->n},
                                &w->s, NULL, &w->arena, &err));
    uint32_t n = 0, from = 0;
    for (size_t cell = 0; one_in && cell < trl_chart_cells(w->n); cell++) {
        const uint32_t to = w->s.first[cell + 1];
        w->s.first[cell] = n;
        for (uint32_t x = from; x < to; x++) {
            uint32_t item = w->s.item[x];
            item &= ~(draw(r, one_in) == 0 ? TRL_BEFORE : 0);
            item &= ~(draw(r, one_in) == 0 ? TRL_AFTER : 0);
            if (item & (TRL_BEFORE | TRL_AFTER))
                w->s.item[n++] = item;
        }
        from = to;
    }
    if (one_in)
        w->s.first[trl_chart_cells(w->n)] = n;
}

static inline double world_fill(void *self, int anchor, size_t at, uint32_t q)
{
    world *w = self;
    const size_t place = at * w->t.n_classes + q;
    assert_true(w->t.edge[anchor][place] < 0.0); /* asked for once */
    return w->t.edge[anchor][place] = exp(w->edge[anchor][place]);
}

/* Forgets the edge scores filled so far. */
static inline void world_unfill(world *w)
{
    for (int a = 0; a < TRL_EDGE_ANCHORS; a++)
        for (size_t k = 0; w->edge[a] && k < w->n_edge_scores; k++)
            w->t.edge[a][k] = -1.0;
}

static inline void world_exp(world *w)
{
    for (size_t k = 0; k < w->g.n_binary; k++)
        w->binary_exp[k] = exp(w->binary[k]);
}

/* A chart and scores: every table random; edge tables with a bit of `anchors` each. */
static inline void world_scores(world *w, trl_rng *r, double width, double shift, unsigned anchors)
{
    trl_error err;
    const trl_grammar *g = &w->g;
    assert_ok(trl_chart_init(&w->c, g, &w->s, &w->arena, &err));
    w->binary = trl_arena_get(&w->arena, g->n_binary, sizeof(double));
    w->binary_exp = trl_arena_get(&w->arena, g->n_binary, sizeof(double));
    w->unary = trl_arena_get(&w->arena, g->n_unary, sizeof(double));
    w->edge_class = trl_arena_get(&w->arena, g->n_binary, sizeof(uint32_t));
    w->t = (trl_tree_tables){.binary_exp = w->binary_exp,
                             .unary = w->unary,
                             .n_classes = g->n_plain_binary,
                             .edge_class = w->edge_class,
                             .fill = world_fill,
                             .self = w};
    w->t.item = trl_arena_get(&w->arena, w->c.n_items, sizeof(double));
    w->t.unary_at = trl_arena_get(&w->arena, w->c.n_unary, sizeof(double));
    for (size_t k = 0; k < g->n_binary; k++) {
        w->binary[k] = random_score(r, width);
        w->edge_class[k] = g->binary[k].plain;
    }
    world_exp(w);
    for (size_t k = 0; k < g->n_unary; k++)
        w->unary[k] = random_score(r, width);
    for (size_t k = 0; k < w->c.n_items; k++)
        w->t.item[k] = shift + random_score(r, width);
    for (size_t k = 0; k < w->c.n_unary; k++)
        w->t.unary_at[k] = random_score(r, width);
    w->n_edge_scores = (w->n + 1) * g->n_plain_binary;
    for (int a = 0; a < TRL_EDGE_ANCHORS; a++) {
        w->edge[a] = NULL;
        if (!(anchors >> a & 1))
            continue;
        w->edge[a] = trl_arena_get(&w->arena, w->n_edge_scores, sizeof(double));
        w->t.edge[a] = trl_arena_get(&w->arena, w->n_edge_scores, sizeof(double));
        for (size_t k = 0; k < w->n_edge_scores; k++)
            w->edge[a][k] = random_score(r, width);
    }
    world_unfill(w);
}

static inline void world_free(world *w)
{
    trl_arena_fini(&w->arena);
    trl_lexicon_fini(&w->x);
    trl_grammar_fini(&w->g);
    free_trees(&w->trees);
}

/* ---- all trees ------------------------------------------------------------------------------ */

/* One derivation of an item before or after its unary rule; children are shared. */
typedef struct der {
    double score;
    uint32_t item, from, to, rule;
    bool after;
    const struct der *left, *right; /* unary, or before becoming after: left alone */
} der;

typedef struct ders {
    der *at;
    size_t n, cap;
} ders;

typedef struct forest {
    const world *w;
    ders *before, *after; /* [items] */
    size_t total;
} forest;

#define MOST_TREES 20000

static inline void add_der(forest *f, ders *d, der x)
{
    if (d->n >= MOST_TREES)
        return;
    d->at = trl_reserve(d->at, &d->cap, d->n + 1, sizeof *d->at);
    assert_non_null(d->at);
    d->at[d->n++] = x;
    f->total++;
}

static inline double edge_sum(const world *w, uint32_t rule, size_t i, size_t k, size_t j)
{
    const size_t at[TRL_EDGE_ANCHORS] = {i, k, j}, q = w->g.binary[rule].plain;
    double sum = 0.0;
    for (int a = 0; a < TRL_EDGE_ANCHORS; a++)
        sum += w->edge[a] ? w->edge[a][at[a] * w->t.n_classes + q] : 0.0;
    return sum;
}

static inline void all_before(forest *f, uint32_t x, size_t i, size_t j)
{
    const world *w = f->w;
    const uint32_t state = w->s.item[x] & TRL_STATE_MASK;
    if (!(w->s.item[x] & TRL_BEFORE))
        return;
    if (j - i == 1) {
        add_der(f, &f->before[x],
                (der){.score = w->t.item[x],
                      .item = x,
                      .from = (uint32_t)i,
                      .to = (uint32_t)j,
                      .rule = TRL_NO_ID});
        return;
    }
    for (uint32_t r = 0; r < w->g.n_binary; r++)
        for (size_t k = i + 1; w->g.binary[r].parent == state && k < j; k++) {
            const uint32_t b = trl_skeleton_find(&w->s, i, k, w->g.binary[r].left);
            const uint32_t d = trl_skeleton_find(&w->s, k, j, w->g.binary[r].right);
            if (b == TRL_NO_ID || d == TRL_NO_ID)
                continue;
            const double own = w->binary[r] + w->t.item[x] + edge_sum(w, r, i, k, j);
            for (size_t p = 0; p < f->after[b].n; p++)
                for (size_t q = 0; q < f->after[d].n; q++)
                    add_der(f, &f->before[x],
                            (der){own + f->after[b].at[p].score + f->after[d].at[q].score, x,
                                  (uint32_t)i, (uint32_t)j, r, false, &f->after[b].at[p],
                                  &f->after[d].at[q]});
        }
}

static inline double unary_score_at(const world *w, size_t cell, uint32_t rule)
{
    for (uint32_t e = w->c.unary_first[cell]; e < w->c.unary_first[cell + 1]; e++)
        if (w->c.unary[e].rule == rule)
            return w->unary[rule] + w->t.unary_at[e];
    fail_msg("the chart has no edge for a unary rule");
    return 0.0;
}

static inline void all_after(forest *f, uint32_t x, size_t i, size_t j)
{
    const world *w = f->w;
    const uint32_t state = w->s.item[x] & TRL_STATE_MASK;
    if (!(w->s.item[x] & TRL_AFTER))
        return;
    for (size_t p = 0; p < f->before[x].n; p++)
        add_der(f, &f->after[x],
                (der){f->before[x].at[p].score, x, (uint32_t)i, (uint32_t)j, TRL_NO_ID, true,
                      &f->before[x].at[p], NULL});
    for (uint32_t u = 0; u < w->g.n_unary; u++) {
        if (w->g.unary[u].parent != state)
            continue;
        const uint32_t b = trl_skeleton_find(&w->s, i, j, w->g.unary[u].child);
        for (size_t p = 0; b != TRL_NO_ID && p < f->before[b].n; p++)
            add_der(f, &f->after[x],
                    (der){f->before[b].at[p].score + unary_score_at(w, trl_cell(i, j), u), x,
                          (uint32_t)i, (uint32_t)j, u, true, &f->before[b].at[p], NULL});
    }
}

/* False: too many to list.  Lists must not move once they are pointed to: a cell's before lists
 * are done before its after lists, and both before any longer span. */
static inline bool all_trees(forest *f, const world *w)
{
    *f = (forest){.w = w};
    f->before = trl_zalloc(w->c.n_items + 1, sizeof *f->before);
    f->after = trl_zalloc(w->c.n_items + 1, sizeof *f->after);
    for (size_t length = 1; length <= w->n; length++)
        for (size_t i = 0; i + length <= w->n; i++) {
            const size_t j = i + length, cell = trl_cell(i, j);
            for (uint32_t x = w->s.first[cell]; x < w->s.first[cell + 1]; x++)
                all_before(f, x, i, j);
            for (uint32_t x = w->s.first[cell]; x < w->s.first[cell + 1]; x++)
                all_after(f, x, i, j);
        }
    for (size_t x = 0; x < w->c.n_items; x++)
        if (f->before[x].n >= MOST_TREES || f->after[x].n >= MOST_TREES)
            return false;
    return true;
}

static inline void free_forest(forest *f)
{
    for (size_t x = 0; x < f->w->c.n_items; x++) {
        trl_free(f->before[x].at);
        trl_free(f->after[x].at);
    }
    trl_free(f->before);
    trl_free(f->after);
}

/* Complete trees; NULL: none. */
static inline ders *roots(const forest *f)
{
    const uint32_t x = trl_skeleton_find(&f->w->s, 0, f->w->n, f->w->g.root);
    return x == TRL_NO_ID || f->after[x].n == 0 ? NULL : &f->after[x];
}

static inline double log_sum(const ders *d)
{
    double top = -(double)INFINITY, sum = 0.0;
    for (size_t k = 0; d && k < d->n; k++)
        top = d->at[k].score > top ? d->at[k].score : top;
    for (size_t k = 0; d && k < d->n; k++)
        sum += exp(d->at[k].score - top);
    return d ? top + log(sum) : -(double)INFINITY;
}

static inline uint32_t put_tree(const world *w, const der *d, trl_btree *out)
{
    if (d->after && d->rule == TRL_NO_ID)
        return put_tree(w, d->left, out);
    const uint32_t me = (uint32_t)out->n;
    out->node = trl_reserve(out->node, &out->cap, out->n + 1, sizeof *out->node);
    out->node[out->n++] = (trl_bnode){
        w->s.item[d->item] & TRL_STATE_MASK, d->rule, d->from, d->to, TRL_NO_NODE, TRL_NO_NODE};
    const uint32_t left = d->left ? put_tree(w, d->left, out) : TRL_NO_NODE;
    const uint32_t right = d->right ? put_tree(w, d->right, out) : TRL_NO_NODE;
    out->node[me].left = left;
    out->node[me].right = right;
    return me;
}

static inline void tree_of(const world *w, const der *d, trl_btree *out)
{
    out->n = 0;
    put_tree(w, d, out);
}

static inline bool same_btree(const trl_btree *a, const trl_btree *b)
{
    return a->n == b->n && memcmp(a->node, b->node, a->n * sizeof *a->node) == 0;
}

#endif
