/* obj_pt_cfg.c -- piecewise training of grammars with none-of-the-above instances, PT-CFG [SM05b,
 * 5].
 *
 *     loss = - sum over gold nodes of log p(rule | A, x, i, j)
 *            - sum over wrong edges (A, i, j) of log p(NOTA | A, x, i, j)
 *
 *     p(choice | A, x, i, j) = phi(choice) / (1 + Z),   p(NOTA | A, x, i, j) = 1 / (1 + Z)
 *
 * Where no example has an instance there is no outcome NOTA, and the model is the MECFG.
 *
 * [SM05b] Sutton, McCallum. Fast, piecewise training for discriminative finite-state and parsing
 *         models. CIIR report IR-403, 2005.
 */
/* SPDX-License-Identifier: MIT */
#include "train_tree/obj_pt_cfg.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_tree/obj_mecfg.h"

#define LN2 0.693147180559945309417232

trl_status trl_loss_pt_cfg(const trl_tree_task *t, const trl_tree_example *e, trl_tree_worker *w,
                           bool adjoint, double *value, trl_error *err)
{
    *value = 0.0;
    trl_status st = trl_tree_local_begin(t, e, w, adjoint, err);
    if (st == TRL_OK)
        st = trl_tree_local_gold(t, e, w, value, err);
    for (size_t k = 0; st == TRL_OK && k < e->n_nota; k++) {
        const trl_span_state *x = &e->nota[k];
        const trl_choice c = {.item = trl_skeleton_find(&e->s, x->i, x->j, x->state),
                              .what = TRL_CHOOSE_NOTA,
                              .i = x->i,
                              .j = x->j,
                              .nota = true};
        st = trl_tree_choose(&w->chooser, &c, value, err);
    }
    if (st == TRL_OK && adjoint)
        trl_chooser_end(&w->chooser);
    return st;
}

/* ---- instances ------------------------------------------------------------------------------- */

/* Marks the items that the gold tree has after the unary rule. */
static trl_status mark_gold(const trl_skeleton *s, const trl_btree *gold, uint8_t *is_gold,
                            trl_arena *arena, trl_error *err)
{
    uint8_t *below = trl_arena_get(arena, gold->n, 1);
    if (!below)
        return trl_fail_mem(err);
    memset(below, 0, gold->n);
    for (size_t x = 0; x < gold->n; x++) {
        const trl_bnode *n = &gold->node[x];
        if (n->left != TRL_NO_NODE && n->right == TRL_NO_NODE)
            below[n->left] = 1;
        const uint32_t item = below[x] ? TRL_NO_ID : trl_skeleton_find(s, n->from, n->to, n->state);
        if (item != TRL_NO_ID)
            is_gold[item] = 1;
    }
    return TRL_OK;
}

/* The best score of a state over a span, after the unary rule; -inf for a tag, which is not an
 * edge. */
static double edge_score(const trl_chart *c, uint32_t x, size_t cell)
{
    const bool tag = c->g->state[c->s->item[x] & TRL_STATE_MASK].type == TRL_STATE_TAG;
    return !tag && c->after[x] > 0.0 ? log(c->after[x]) + LN2 * c->scale[cell] : -(double)INFINITY;
}

static double best_edge(const trl_chart *c, size_t length)
{
    double best = -(double)INFINITY;
    for (size_t i = 0; i + length <= c->n; i++) {
        const size_t cell = trl_cell(i, i + length);
        for (uint32_t x = c->s->first[cell]; x < c->s->first[cell + 1]; x++)
            best = fmax(best, edge_score(c, x, cell));
    }
    return best;
}

typedef struct edge_list {
    trl_span_state *edge;
    size_t n, cap;
} edge_list;

static bool take_length(const trl_chart *c, size_t length, const uint8_t *is_gold, double delta,
                        edge_list *out)
{
    const double least = best_edge(c, length) - delta;
    for (size_t i = 0; i + length <= c->n; i++) {
        const size_t cell = trl_cell(i, i + length);
        for (uint32_t x = c->s->first[cell]; x < c->s->first[cell + 1]; x++) {
            const double score = edge_score(c, x, cell);
            if (!isfinite(score) || score < least || is_gold[x])
                continue;
            trl_span_state *p = trl_reserve(out->edge, &out->cap, out->n + 1, sizeof *p);
            if (!p)
                return false;
            out->edge = p;
            p[out->n++] = (trl_span_state){c->s->item[x] & TRL_STATE_MASK, (uint32_t)i,
                                           (uint32_t)(i + length)};
        }
    }
    return true;
}

typedef struct making {
    trl_tree_task *t;
    const trl_tree_model *m;
    trl_words_fn words;
    const void *ctx;
    double delta;
    trl_decoder *decoder; /* [threads] */
} making;

/* Keeps only parts of complete trees of the fine grammar: other edges cannot be used. */
static trl_status keep_complete(void *ctx, trl_skeleton *s, bool *complete, trl_arena *arena,
                                trl_error *err)
{
    const trl_grammar *const *g = ctx;
    return trl_filter(*g, s, complete, arena, err);
}

/* Parses the example's sentence and appends its wrong edges A over (i, j) whose best score is
 * within `delta` (natural log) of the best edge of j - i words: states after the unary rule that
 * the gold tree does not have there.  Not edges, neither here nor for the best one, are tags, which
 * choose nothing, what the coarse grammar prunes, and what is part of no complete tree.
 * TRL_ENOMEM, TRL_ENUMERIC. */
static trl_status find_edges(const making *a, trl_decoder *d, const trl_tree_example *e,
                             edge_list *out, trl_error *err)
{
    const trl_grammar *g = &a->m->fine;
    const trl_decode_options o = {.binary_exp = a->t->binary_exp,
                                  .unary = a->t->unary,
                                  .edit = keep_complete,
                                  .ctx = &g,
                                  .threshold = a->m->threshold};
    const size_t n = e->gold.node[0].to;
    trl_status st = trl_decode_prepare(d, a->m, a->words(a->ctx, e->source), n, &o, err);
    if (st != TRL_OK || d->failure)
        return st;
    uint8_t *is_gold = trl_arena_get(&d->arena, d->chart.n_items, 1);
    if (!is_gold)
        return trl_fail_mem(err);
    memset(is_gold, 0, d->chart.n_items);
    st = trl_chart_best(&d->chart, &d->tables, &d->arena, err);
    if (st == TRL_OK)
        st = mark_gold(d->chart.s, &e->gold, is_gold, &d->arena, err);
    for (size_t length = 1; st == TRL_OK && length <= n; length++)
        if (!take_length(&d->chart, length, is_gold, a->delta, out))
            st = trl_fail_mem(err);
    return st;
}

/* ---- of a treebank --------------------------------------------------------------------------- */

static trl_status make_one(void *ctx, size_t k, size_t worker, trl_error *err)
{
    const making *a = ctx;
    trl_tree_example *e = &a->t->example[k];
    trl_decoder *d = &a->decoder[worker];
    edge_list nota = {0};
    trl_skeleton s, copy;
    trl_status st = find_edges(a, d, e, &nota, err);
    if (st == TRL_OK)
        st = trl_gold_skeleton(&e->gold, nota.edge, nota.n, &s, &d->arena, err);
    if (st == TRL_OK)
        st = trl_skeleton_copy(&s, NULL, &copy, err);
    if (st != TRL_OK) {
        trl_free(nota.edge);
        return st;
    }
    if (!e->stored)
        trl_free(e->s.first);
    e->stored = false;
    trl_free(e->nota);
    e->s = copy;
    e->nota = nota.edge;
    e->n_nota = nota.n;
    return TRL_OK;
}

trl_status trl_tree_nota_make(trl_tree_task *t, const trl_tree_model *m, const trl_nota_edges *from,
                              trl_pool *pool, size_t *count, trl_error *err)
{
    const size_t threads = trl_pool_threads(pool);
    making a = {t, m, from->words, from->ctx, from->delta, trl_zalloc(threads, sizeof *a.decoder)};
    if (!a.decoder)
        return trl_fail_mem(err);
    trl_tree_model_shared(m, t->binary_exp, t->unary);
    const trl_status st = trl_pool_run(pool, t->n_examples, make_one, &a, err);
    for (size_t k = 0; k < threads; k++)
        trl_decoder_fini(&a.decoder[k]);
    trl_free(a.decoder);
    *count = 0;
    for (size_t k = 0; k < t->n_examples; k++)
        *count += t->example[k].n_nota;
    t->nota = *count > 0;
    return st;
}
