/* train_graph.c -- the learner of graphs. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/train_graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/spill.h"

/* ---- the learner ----------------------------------------------------------------------------- */

static void note(void *self, char *text, size_t size)
{
    trl_graph_training *t = self;
    trl_graph_task_runs(&t->task, &t->runs, &t->unsettled);
    if (t->unsettled)
        snprintf(text, size, "inference did not converge in %" PRIu64 " of %" PRIu64 " runs",
                 t->unsettled, t->runs);
}

static void turn(void *self)
{
    trl_graph_training *t = self;
    trl_graph_messages_turn(&t->task.kept);
}

static bool save_messages(const void *self, trl_buf *out)
{
    const trl_graph_training *t = self;
    return trl_graph_messages_save(&t->task.kept, out);
}

static bool load_messages(void *self, const void *bytes, size_t size)
{
    trl_graph_training *t = self;
    return trl_graph_messages_load(&t->task.kept, bytes, size);
}

static const trl_memory kept_messages = {turn, save_messages, load_messages};

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    const uint64_t parts[2] = {h, n ? trl_str_hash(bytes, n) : 0};
    return trl_str_hash((const char *)parts, sizeof parts);
}

/* What a checkpoint must agree with: graphs, features, objective, how inference goes. */
static uint64_t fingerprint(const trl_graph_training *t, const trl_infer_options *infer)
{
    const trl_corpus *c = &t->corpus->corpus;
    const double numbers[] = {infer->damping, infer->tolerance, infer->max_cells};
    const uint64_t facts[] = {(uint64_t)t->objective->id, (uint64_t)infer->method,
                              (uint64_t)infer->schedule,  infer->max_updates,
                              t->design.n_weights,        c->n_sequences,
                              infer->second_start};
    uint64_t h = mix(mix(t->task.keeps, facts, sizeof facts), numbers, sizeof numbers);
    h = mix(h, c->weight, c->n_sequences * sizeof *c->weight);
    h = mix(h, t->corpus->piece, sizeof t->corpus->piece);
    for (size_t f = 0; f < c->n_families; f++) {
        const trl_strtab *names = &c->family[f].names;
        h = mix(h, c->family[f].gold, c->n_tokens * sizeof *c->family[f].gold);
        h = mix(mix(h, names->pool, names->pool_len), names->end, names->n * sizeof *names->end);
    }
    for (size_t k = 0; k < t->corpus->n; k++) {
        const trl_graph_view g = trl_graph_look(t->corpus->example[k].graph);
        h = mix(h, g.scope_at, (g.n_factors + 1) * sizeof *g.scope_at);
        h = mix(h, g.scope, g.scope_at[g.n_factors] * sizeof *g.scope);
    }
    return h;
}

static void make_learner(trl_graph_training *t, const trl_infer_options *infer)
{
    t->view = trl_graph_task_view(&t->task);
    t->learner = (trl_learner){.self = t,
                               .n_weights = (size_t)t->design.n_weights,
                               .n_features = t->design.n_live,
                               .smooth = t->objective->smooth,
                               .fine = t->task.rows.n > 0,
                               .bottom = -HUGE_VAL,
                               .design = &t->design,
                               .names = &t->corpus->corpus.family[0].names,
                               .task = &t->view,
                               .memory = t->task.keeps ? &kept_messages : NULL,
                               .note = t->task.evaluate ? note : NULL};
    t->session = (trl_session){.o = t->o,
                               .optimizer = t->optimizer,
                               .learner = &t->learner,
                               .pool = t->pool,
                               .cancel = &t->cancel,
                               .fingerprint = t->o->checkpoint ? fingerprint(t, infer) : 0,
                               .started = trl_clock()};
}

/* ---- lifetime -------------------------------------------------------------------------------- */

static trl_status compile(trl_graph_training *t, const trl_infer_options *infer, trl_error *err)
{
    const trl_train_options *o = t->o;
    const trl_design_options d = {.all_pairs = o->all_pairs,
                                  .all_transitions = o->all_transitions,
                                  .all_cells = t->corpus->all_cells,
                                  .min_count = o->min_count,
                                  .min_freq = o->min_freq};
    const size_t threads = trl_pool_count(o->threads);
    t->pool = trl_pool_new(threads);
    if (!t->pool)
        return trl_fail(err, TRL_ENOMEM, "cannot start %zu threads", threads);
    t->cancel = (trl_cancel){o->cancelled, o->cancelled_ctx, false};
    trl_pool_cancel_by(t->pool, &t->cancel);
    trl_status st = trl_design_build(&t->design, &t->corpus->corpus, &d, err);
    t->design.spill = trl_spill_use(NULL); /* what the caller uses; weights are the heap's */
    if (st != TRL_OK)
        return st;
    t->w = trl_alloc64(trl_design_alloc(&t->design), sizeof *t->w);
    if (!t->w)
        return trl_fail_mem(err);
    memset(t->w, 0, trl_design_alloc(&t->design) * sizeof *t->w);
    st = trl_graph_task_init(&t->task, t->corpus, t->objective, infer, trl_session_lanes(o), err);
    if (st == TRL_OK && t->optimizer->keeps_examples)
        st = trl_graph_task_by_rows(&t->task, &t->design.first, &t->design.n_sequences, err);
    return st == TRL_OK && o->keep_messages ? trl_graph_task_keep(&t->task, err) : st;
}

trl_status trl_graph_training_init(trl_graph_training *t, trl_graph_corpus *corpus,
                                   const trl_train_options *o, const trl_infer_options *infer,
                                   trl_error *err)
{
    *t = (trl_graph_training){.o = o, .corpus = corpus};
    trl_status st = trl_objective_choose(o->objective, TRL_KIND_GRAPH, &t->objective, err);
    if (st == TRL_OK)
        st = trl_optimizer_choose(o, t->objective, TRL_KIND_GRAPH, &t->optimizer, err);
    if (st == TRL_OK)
        st = compile(t, infer, err);
    if (st == TRL_OK)
        make_learner(t, infer);
    else
        trl_graph_training_fini(t);
    return st;
}

void trl_graph_training_fini(trl_graph_training *t)
{
    trl_graph_task_fini(&t->task);
    trl_design_fini(&t->design);
    trl_pool_free(t->pool);
    trl_free(t->w);
    *t = (trl_graph_training){0};
}

trl_status trl_graph_training_run(trl_graph_training *t, trl_train_result *result, trl_error *err)
{
    const trl_status st = trl_session_run(&t->session, t->w, result, err);
    result->n_features = t->design.n_live;
    result->n_active = 0;
    for (uint64_t i = 0; i < t->design.n_weights; i++)
        result->n_active += t->w[i] != 0.0;
    return st;
}
