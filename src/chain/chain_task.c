/* chain_task.c -- chains as a trl_task. */
/* SPDX-License-Identifier: MIT */
#include "chain/chain_task.h"

#include "base/fail.h"
#include "base/mem.h"
#include "train/gradient.h"

trl_status trl_chain_task_init(trl_chain_task *t, const trl_corpus *corpus, int order,
                               const trl_objective *objective, size_t n_lanes, trl_error *err)
{
    *t = (trl_chain_task){.corpus = corpus,
                          .objective = objective,
                          .evaluate = trl_chain_objective(objective),
                          .by_factors = trl_factor_objective_of(objective),
                          .partial = trl_chain_objective_partial(objective),
                          .partial_factors = trl_factor_objective_partial(objective)};
    trl_status st = trl_chain_init(&t->chain, corpus->labels.n, order, err);
    if (st != TRL_OK)
        return st;
    t->lanes = trl_zalloc(n_lanes, sizeof *t->lanes);
    t->open = trl_zalloc(n_lanes, sizeof *t->open);
    if (!t->lanes || !t->open)
        st = trl_fail_mem(err);
    for (; st == TRL_OK && t->n_lanes < n_lanes; t->n_lanes++)
        st = trl_chain_sums_init(&t->lanes[t->n_lanes], &t->chain, err);
    if (st != TRL_OK)
        trl_chain_task_fini(t);
    return st;
}

void trl_chain_task_fini(trl_chain_task *t)
{
    for (size_t k = 0; k < t->n_lanes; k++)
        trl_chain_sums_fini(&t->lanes[k]);
    trl_free(t->lanes);
    trl_free(t->open);
    trl_chain_tokens_fini(&t->tokens);
    trl_chain_fini(&t->chain);
    *t = (trl_chain_task){0};
}

/* A pass that failed left its lanes unfinished: their content must not reach the next pass. */
static trl_status prepare(void *self, const trl_tables *scores, trl_error *err)
{
    trl_chain_task *t = self;
    for (size_t k = 0; k < t->n_lanes; k++)
        if (t->open[k]) {
            trl_chain_sums_clear(&t->lanes[k], &t->chain);
            trl_chain_tokens_clear(&t->tokens, &t->chain, k);
            t->open[k] = false;
        }
    trl_status st = trl_chain_prepare(&t->chain, scores, err);
    for (size_t k = 0; k < t->n_lanes && st == TRL_OK; k++)
        st = trl_chain_sums_pairs(&t->lanes[k], &t->chain, scores, err);
    if (st == TRL_OK)
        trl_chain_tokens_prepare(&t->tokens, &t->chain);
    return st;
}

static trl_status evaluate(void *self, const trl_example *e, const trl_tables *scores,
                           trl_tables *adjoint, double *value, trl_error *err)
{
    trl_chain_task *t = self;
    const size_t from = (size_t)t->corpus->first[e->number];
    const trl_label_notes *notes = t->corpus->notes;
    const bool plain = !notes || trl_label_notes_plain(notes, from, scores->n);
    if (!t->open[e->lane]) /* read first: threads share the cache line */
        t->open[e->lane] = true;
    const trl_chain_example x = {.chain = &t->chain,
                                 .scores = scores,
                                 .gold = t->corpus->label + from,
                                 .weight = t->corpus->weight[e->number],
                                 .nota = t->nota ? trl_nota_at(t->nota, from) : (trl_nota_view){0},
                                 .arena = e->arena,
                                 .by_factors = plain ? t->by_factors : t->partial_factors,
                                 .costs = t->costs,
                                 .notes = notes,
                                 .note = notes ? notes->of + from : NULL};
    return (plain ? t->evaluate : t->partial)(&x, adjoint, &t->lanes[e->lane], value, err);
}

static trl_status arrange(void *self, size_t n, const uint32_t *token, trl_error *err)
{
    trl_chain_task *t = self;
    const size_t lanes = t->n_lanes < TRL_LANES_MAX ? t->n_lanes : TRL_LANES_MAX;
    return trl_chain_tokens_arrange(
        &t->tokens, &t->chain,
        &(trl_tokens_source){
            .o = t->objective, .corpus = t->corpus, .nota = t->nota, .n_lanes = lanes},
        n, token, err);
}

static trl_status tokens(void *self, size_t lane, const trl_token_block *b, trl_arena *arena,
                         double *value, trl_error *err)
{
    trl_chain_task *t = self;
    if (!t->open[lane])
        t->open[lane] = true;
    return trl_chain_tokens_evaluate(&t->tokens, &t->chain, &(trl_tokens_work){lane, arena}, b,
                                     value, err);
}

static void finish(void *self, size_t lane, trl_tables *adjoint)
{
    trl_chain_task *t = self;
    if (adjoint->shared[TRL_EDGE] || adjoint->shared[TRL_TRI])
        trl_chain_sums_add(&t->lanes[lane], &t->chain, -1.0, adjoint->shared[TRL_EDGE],
                           adjoint->shared[TRL_TRI]);
    if (adjoint->chain.pairs)
        trl_chain_sums_add_pairs(&t->lanes[lane], &t->chain, adjoint);
    trl_chain_sums_clear(&t->lanes[lane], &t->chain);
    trl_chain_tokens_finish(&t->tokens, &t->chain, lane, adjoint);
    t->open[lane] = false;
}

trl_task trl_chain_task_view(trl_chain_task *t)
{
    const bool notes = trl_label_notes_matter(t->corpus->notes); /* examples one by one */
    const trl_objective_fn by = trl_chain_objective(t->objective);
    const bool pair_sets =
        t->chain.order == 1 && !notes && (by == trl_obj_likelihood || by == trl_obj_perceptron);
    const bool by_tokens =
        t->single && !notes && trl_chain_tokens_serve(&t->chain, t->objective, t->nota);
    return (trl_task){.self = t,
                      .single = t->single || t->chain.single_E,
                      .prepare = prepare,
                      .evaluate = evaluate,
                      .finish = finish,
                      .chain = {.pair_sets = pair_sets,
                                .arrange = by_tokens ? arrange : NULL,
                                .tokens = by_tokens ? tokens : NULL}};
}
