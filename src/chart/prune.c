/* prune.c -- coarse to fine.
 *
 * [CJ05] Charniak, Johnson. Coarse-to-fine n-best parsing and MaxEnt discriminative reranking. ACL
 * 2005.
 */
/* SPDX-License-Identifier: MIT */
#include "chart/prune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "num/vexp.h"

/* ---- the PCFG -------------------------------------------------------------------------------- */

trl_status trl_pcfg_init(trl_pcfg *p, const trl_grammar *g, const trl_lexicon *x, trl_error *err)
{
    *p = (trl_pcfg){.g = g, .x = x};
    p->binary_exp = trl_alloc(g->n_binary, sizeof *p->binary_exp);
    p->unary = trl_alloc(g->n_unary, sizeof *p->unary);
    p->no_class = trl_zalloc(g->n_binary, sizeof *p->no_class);
    if (!p->binary_exp || !p->unary || !p->no_class) {
        trl_pcfg_fini(p);
        return trl_fail_mem(err);
    }
    trl_pcfg_rules(g, 0.1, p->binary_exp, p->unary);
    trl_vexp(g->n_binary, p->binary_exp, 0.0, p->binary_exp);
    return TRL_OK;
}

void trl_pcfg_fini(trl_pcfg *p)
{
    trl_free(p->binary_exp);
    trl_free(p->unary);
    trl_free(p->no_class);
    *p = (trl_pcfg){0};
}

/* ---- full skeletons -------------------------------------------------------------------------- */

/* Items over one word: its tags, and phrases that unary rules may put above. */
static uint32_t one_word(const trl_grammar *g, const uint32_t *tags, const double *logp, size_t n,
                         uint32_t *item, double *score)
{
    uint32_t made = 0;
    size_t t = 0;
    for (uint32_t s = 0; s < g->n_states; s++) {
        const bool tag = t < n && tags[t] == s;
        if (g->state[s].type != TRL_STATE_PHRASE && !tag)
            continue;
        if (score)
            score[made] = tag ? logp[t] : 0.0;
        item[made++] = s | TRL_AFTER | (tag ? TRL_BEFORE : 0);
        t += tag;
    }
    return made;
}

static uint32_t many_words(const trl_grammar *g, uint32_t *item)
{
    uint32_t made = 0;
    for (uint32_t s = 0; s < g->n_states; s++)
        if (g->state[s].type != TRL_STATE_TAG)
            item[made++] = s | TRL_AFTER | TRL_BEFORE;
    return made;
}

trl_status trl_skeleton_full(const trl_words_grammar *by, const trl_words *w, trl_skeleton *s,
                             double **logp, trl_arena *arena, trl_error *err)
{
    const size_t cells = trl_chart_cells(w->n), most = cells * by->g->n_states;
    *s = (trl_skeleton){.n = w->n,
                        .first = trl_arena_get(arena, cells + 1, sizeof *s->first),
                        .item = trl_arena_get(arena, most, sizeof *s->item)};
    uint32_t *tags = trl_arena_get(arena, by->g->n_states, sizeof *tags);
    double *score = trl_arena_get(arena, by->g->n_states, sizeof *score);
    double *all = logp ? trl_arena_get(arena, most, sizeof *all) : NULL;
    if (!s->first || !s->item || !tags || !score || (logp && !all))
        return trl_fail_mem(err);
    uint32_t at = 0;
    for (size_t j = 1; j <= w->n; j++)
        for (size_t i = 0; i < j; i++) {
            s->first[trl_cell(i, j)] = at;
            if (j - i > 1) {
                const uint32_t more = many_words(by->g, s->item + at);
                for (uint32_t k = 0; all && k < more; k++)
                    all[at + k] = 0.0;
                at += more;
                continue;
            }
            const size_t m = trl_lexicon_tags(by->x, by->g, trl_lexicon_word(by->x, w->word[i]),
                                              trl_lexicon_class(by->x, w->word[i], i), tags, score);
            at += one_word(by->g, tags, score, m, s->item + at, all ? all + at : NULL);
        }
    s->first[cells] = at;
    if (logp)
        *logp = all;
    return TRL_OK;
}

trl_status trl_pcfg_chart(const trl_pcfg *p, const trl_skeleton *s, double *logp, trl_chart *chart,
                          trl_arena *arena, trl_error *err)
{
    trl_status st = trl_chart_init(chart, p->g, s, arena, err);
    if (st != TRL_OK)
        return st;
    double *none = trl_arena_get(arena, chart->n_unary, sizeof *none);
    if (!none)
        return trl_fail_mem(err);
    memset(none, 0, chart->n_unary * sizeof *none);
    const trl_tree_tables t = {.binary_exp = p->binary_exp,
                               .unary = p->unary,
                               .item = logp,
                               .unary_at = none,
                               .n_classes = 1,
                               .edge_class = p->no_class};
    st = trl_chart_inside(chart, &t, err);
    if (st == TRL_OK && isfinite(chart->log_z))
        trl_chart_outside(chart, &t, NULL);
    return st;
}

/* ---- fine items ------------------------------------------------------------------------------ */

trl_status trl_coarse_map_init(trl_coarse_map *m, const trl_grammar *fine,
                               const trl_grammar *coarse, trl_error *err)
{
    uint32_t *up = trl_alloc(fine->n_states, sizeof *up);
    *m = (trl_coarse_map){trl_zalloc(coarse->n_states + 2, sizeof *m->first),
                          trl_alloc(fine->n_states, sizeof *m->state), fine->n_states};
    if (!up || !m->first || !m->state) {
        trl_free(up);
        trl_coarse_map_fini(m);
        return trl_fail_mem(err);
    }
    trl_grammar_project(fine, coarse, up);
    for (size_t s = 0; s < fine->n_states; s++)
        if (up[s] != TRL_NO_ID)
            m->first[up[s] + 2]++;
    for (size_t c = 2; c < coarse->n_states + 2; c++)
        m->first[c] += m->first[c - 1];
    for (uint32_t s = 0; s < fine->n_states; s++)
        if (up[s] != TRL_NO_ID)
            m->state[m->first[up[s] + 1]++] = s;
    trl_free(up);
    return TRL_OK;
}

void trl_coarse_map_fini(trl_coarse_map *m)
{
    trl_free(m->first);
    trl_free(m->state);
    *m = (trl_coarse_map){0};
}

static int by_state(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a & TRL_STATE_MASK;
    const uint32_t y = *(const uint32_t *)b & TRL_STATE_MASK;
    return x < y ? -1 : x > y;
}

/* The marks that an item of the coarse chart gives to its fine items. */
static uint32_t marks_of(const trl_chart *c, uint32_t x, double threshold)
{
    const double before = c->before[x] * c->out_before[x], after = c->after[x] * c->out_after[x];
    uint32_t marks = 0;
    if ((c->s->item[x] & TRL_BEFORE) && before > threshold)
        marks |= TRL_BEFORE;
    if ((c->s->item[x] & TRL_AFTER) && after > threshold)
        marks |= TRL_AFTER;
    return marks;
}

trl_status trl_prune_chart(const trl_chart *c, double threshold, trl_skeleton *out,
                           trl_arena *arena, trl_error *err)
{
    const size_t cells = trl_chart_cells(c->n);
    *out = (trl_skeleton){.n = c->n,
                          .first = trl_arena_get(arena, cells + 1, sizeof *out->first),
                          .item = trl_arena_get(arena, c->n_items, sizeof *out->item)};
    if (!out->first || !out->item)
        return trl_fail_mem(err);
    uint32_t n = 0;
    for (size_t cell = 0; cell < cells; cell++) {
        out->first[cell] = n;
        for (uint32_t x = c->s->first[cell]; x < c->s->first[cell + 1]; x++) {
            const uint32_t marks = marks_of(c, x, threshold);
            if (marks)
                out->item[n++] = (c->s->item[x] & TRL_STATE_MASK) | marks;
        }
    }
    out->first[cells] = n;
    return TRL_OK;
}

/* ---- changing skeletons ---------------------------------------------------------------------- */

/* The mark that a node of a tree needs: words and binary nodes are made before the unary rule, all
 * but children of unary nodes are used after it. */
static uint32_t node_marks(const trl_btree *tree, size_t x, const uint8_t *below_unary)
{
    const trl_bnode *n = &tree->node[x];
    const bool unary = n->left != TRL_NO_NODE && n->right == TRL_NO_NODE;
    return (unary ? 0 : TRL_BEFORE) | (below_unary[x] ? 0 : TRL_AFTER);
}

typedef struct extra {
    uint32_t cell, item;
} extra;

static int by_cell(const void *a, const void *b)
{
    const extra *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return by_state(&x->item, &y->item);
}

/* Merges one cell's items with extras of the same cell, marks united. */
static uint32_t merge_cell(const uint32_t *old, uint32_t n_old, const extra *add, size_t n_add,
                           uint32_t *out)
{
    uint32_t a = 0, made = 0;
    size_t b = 0;
    while (a < n_old || b < n_add) {
        uint32_t item;
        if (b == n_add || (a < n_old && by_state(&old[a], &add[b].item) < 0))
            item = old[a++];
        else
            item = add[b++].item;
        if (made && by_state(&out[made - 1], &item) == 0)
            out[made - 1] |= item;
        else
            out[made++] = item;
    }
    return made;
}

trl_status trl_skeleton_add_tree(trl_skeleton *s, const trl_btree *tree, trl_arena *arena,
                                 trl_error *err)
{
    const size_t cells = trl_chart_cells(s->n);
    extra *add = trl_arena_get(arena, tree->n, sizeof *add);
    uint8_t *below = trl_arena_get(arena, tree->n, 1);
    uint32_t *first = trl_arena_get(arena, cells + 1, sizeof *first);
    uint32_t *item = trl_arena_get(arena, s->first[cells] + tree->n, sizeof *item);
    if (!add || !below || !first || !item)
        return trl_fail_mem(err);
    memset(below, 0, tree->n);
    for (size_t x = 0; x < tree->n; x++) {
        const trl_bnode *n = &tree->node[x];
        if (n->left != TRL_NO_NODE && n->right == TRL_NO_NODE)
            below[n->left] = 1;
        add[x] = (extra){(uint32_t)trl_cell(n->from, n->to), n->state | node_marks(tree, x, below)};
    }
    qsort(add, tree->n, sizeof *add, by_cell);
    uint32_t n = 0;
    for (size_t cell = 0, b = 0; cell < cells; cell++) {
        const size_t from = b;
        while (b < tree->n && add[b].cell == cell)
            b++;
        first[cell] = n;
        n += merge_cell(s->item + s->first[cell], s->first[cell + 1] - s->first[cell], add + from,
                        b - from, item + n);
    }
    first[cells] = n;
    s->first = first;
    s->item = item;
    return TRL_OK;
}

trl_status trl_skeleton_copy(const trl_skeleton *s, trl_store *store, trl_skeleton *out,
                             trl_error *err)
{
    const size_t cells = trl_chart_cells(s->n), items = s->first[cells];
    const size_t bytes = (cells + 1 + items) * sizeof(uint32_t);
    uint32_t *block = store ? trl_store_get(store, bytes) : trl_alloc(bytes, 1);
    if (!block)
        return store ? trl_fail(err, TRL_ENOMEM,
                                "no room for charts, neither in memory nor in a "
                                "temporary file")
                     : trl_fail_mem(err);
    memcpy(block, s->first, (cells + 1) * sizeof *block);
    memcpy(block + cells + 1, s->item, items * sizeof *block);
    *out = (trl_skeleton){.n = s->n, .first = block, .item = block + cells + 1};
    return TRL_OK;
}
