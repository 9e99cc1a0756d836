/* tree_decode.c -- sentence -> coarse chart -> skeleton -> scores -> fine chart -> tree. */
/* SPDX-License-Identifier: MIT */
#include "tree/tree_decode.h"

#include <math.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/session.h"

void trl_decoder_fini(trl_decoder *d)
{
    trl_arena_fini(&d->arena);
    trl_tree_gather_fini(&d->gather);
    trl_btree_fini(&d->tree);
    trl_free(d->node);
    *d = (trl_decoder){0};
}

/* ---- charts ------------------------------------------------------------------------------------ */

static trl_status fill_tables(trl_decoder *d, const trl_tree_model *m, const double *binary_exp,
                              const double *unary, const trl_str *word, size_t n, trl_error *err)
{
    if (m->grade == TRL_GRADE_GENERATIVE)
        return trl_tree_pcfg_tables(m, word, &d->chart, &d->tables, &d->arena, err);
    void *memory = trl_arena_get(&d->arena, trl_seen_size(n), 1);
    if (!memory)
        return trl_fail_mem(err);
    trl_observe(&m->observer, word, n, memory, &d->seen);
    const trl_status st = trl_tree_gather_scores(&d->gather, &m->features, &d->seen, &d->chart,
                                                 binary_exp, unary, false, &d->arena, err);
    d->tables = d->gather.t;
    return st;
}

/* Bytes of the coarse chart and what belongs to it, and of the fine one's fixed part. */
static size_t coarse_bytes(const trl_tree_model *m, size_t n)
{
    const size_t cell = 16 * m->coarse.n_states + 8 * m->pruner.n_left + 8 * m->pruner.stride + 16;
    return trl_cells(n) * cell + n * m->fine.n_states * 4 + 3 * n * m->features.n_classes * 8;
}

trl_status trl_decode_prepare(trl_decoder *d, const trl_tree_model *m, const double *binary_exp,
                              const double *unary, const trl_str *word, size_t n,
                              const trl_decode_options *o, trl_edit_fn edit, void *ctx,
                              trl_error *err)
{
    bool complete;
    trl_arena_reset(&d->arena);
    d->trouble = NULL;
    d->n_nodes = 0;
    if (o->max_bytes && coarse_bytes(m, n) > o->max_bytes) {
        d->trouble = "it is too long for the memory allowed";
        return TRL_OK;
    }
    trl_status st = trl_tree_skeleton(m, word, n, o->threshold, o->deadline, NULL, edit != NULL, &d->s,
                                      &complete, &d->arena, err);
    if (st == TRL_OK && edit)
        st = edit(ctx, &d->s, &d->arena, err);
    if (st != TRL_OK)
        return st;
    if (!complete) {
        d->trouble = "the grammar has no tree for it, or time ran out";
        return TRL_OK;
    }
    st = trl_chart_init(&d->chart, &m->fine, &d->s, &d->arena, err);
    if (st == TRL_OK && d->chart.root_item == TRL_NO_ID)
        d->trouble = "the grammar has no tree for it";
    d->chart.deadline = o->deadline;
    return st == TRL_OK && !d->trouble ? fill_tables(d, m, binary_exp, unary, word, n, err) : st;
}

static void note_failure(trl_decoder *d)
{
    d->trouble = d->chart.late ? "time ran out" : "the grammar has no tree for it";
}

trl_status trl_decode_best(trl_decoder *d, const trl_tree_model *m, trl_error *err)
{
    if (d->trouble)
        return TRL_OK;
    trl_status st = trl_chart_best(&d->chart, &d->tables, &d->arena, err);
    if (st != TRL_OK || !isfinite(d->chart.log_z)) {
        note_failure(d);
        return st;
    }
    st = trl_chart_tree(&d->chart, &d->tree, err);
    return st == TRL_OK
               ? trl_grammar_decode(&m->fine, &d->tree, &d->node, &d->n_nodes, &d->cap_nodes, err)
               : st;
}

trl_status trl_decode_mbr(trl_decoder *d, const trl_tree_model *m, double lambda, trl_error *err)
{
    trl_brackets b;
    if (d->trouble)
        return TRL_OK;
    trl_status st = trl_chart_inside(&d->chart, &d->tables, err);
    if (st != TRL_OK || !isfinite(d->chart.log_z)) {
        note_failure(d);
        return st;
    }
    trl_chart_outside(&d->chart, &d->tables, NULL);
    st = trl_chart_brackets(&d->chart, &b, &d->arena, err);
    return st == TRL_OK ? trl_mbr_tree(&b, m->fine.state[m->fine.root].base, lambda, &d->node,
                                       &d->n_nodes, &d->cap_nodes, &d->arena, err)
                        : st;
}

/* ---- the last resort ------------------------------------------------------------------------------ */

trl_status trl_decode_flat(trl_decoder *d, const trl_tree_model *m, const trl_str *word, size_t n,
                           trl_error *err)
{
    const trl_grammar *g = &m->coarse;
    trl_arena_reset(&d->arena);
    uint32_t *tags = trl_arena_get(&d->arena, g->n_states, sizeof *tags);
    double *logp = trl_arena_get(&d->arena, g->n_states, sizeof *logp);
    trl_node *node = trl_reserve(d->node, &d->cap_nodes, n + 1, sizeof *node);
    if (node)
        d->node = node;
    if (!tags || !logp || !node)
        return trl_fail_mem(err);
    node[0] = (trl_node){m->fine.state[m->fine.root].base, TRL_NO_NODE, 1, TRL_NO_NODE, 0,
                         (uint32_t)n};
    for (uint32_t i = 0; i < n; i++) {
        const trl_lexicon *x = &m->coarse_lexicon;
        const size_t k = trl_lexicon_tags(x, g, trl_lexicon_word(x, word[i]),
                                          trl_lexicon_class(x, word[i], i), tags, logp);
        size_t best = 0;
        for (size_t t = 1; t < k; t++) {
            const double a = logp[t] + log(x->state_count[tags[t]] + 1.0);
            best = a > logp[best] + log(x->state_count[tags[best]] + 1.0) ? t : best;
        }
        const trl_str name = trl_strtab_get(&g->labels, g->state[tags[best]].base);
        const uint32_t label = trl_strtab_find(&m->fine.labels, name.p, name.n);
        node[i + 1] = (trl_node){label, 0, TRL_NO_NODE, i + 1 < n ? i + 2 : TRL_NO_NODE, i, i + 1};
    }
    d->n_nodes = n + 1;
    return TRL_OK;
}
