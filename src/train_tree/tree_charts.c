/* tree_charts.c -- charts and features of the training trees.
 *
 * The span pruner learns first.  While it does, every tree's chart is pruned by what it knew before
 * it saw that tree, as the chart of an unseen sentence will be.
 */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_tree/tree_training.h"

typedef struct charting {
    trl_tree_training *j;
    trl_arena *arena;     /* [threads] */
    uint8_t *unknown;     /* [trees] */
    trl_given_tags *tags; /* [threads] of the tree */
} charting;

/* The tags of a tree, or NULL. */
static trl_status tags_of(charting *c, size_t k, size_t worker, const trl_given_tags **out,
                          trl_error *err)
{
    const trl_tree_training *j = c->j;
    *out = NULL;
    if (!j->tags)
        return TRL_OK;
    *out = &c->tags[worker];
    return trl_given_tags_set(&c->tags[worker],
                              &(trl_given_grammars){&j->model.fine, &j->model.coarse},
                              j->trees.tree[k].n_words, &j->tags[k], err);
}

/* The parts of an example other than its chart. */
static trl_status fill_example(trl_tree_training *j, size_t k, bool *known, trl_error *err)
{
    trl_tree_example *e = &j->example[k];
    const trl_tree *t = &j->trees.tree[k];
    trl_status st = trl_grammar_encode(
        &j->model.fine, &(trl_encoded){j->heads, t, &j->trees.labels}, &e->gold, known, NULL, err);
    void *memory = trl_alloc(trl_seen_size(t->n_words), 1);
    if (!memory)
        return trl_fail_mem(err);
    trl_observe(&j->model.observer, t->word, t->n_words, memory, &e->seen);
    e->source = k;
    e->tags = j->tags ? &j->tags[k] : NULL;
    if (e->tags)
        trl_given_list_observe(e->tags, &e->seen);
    e->stored = true;
    return st;
}

/* While the pruner learns: the charts of trees it has not learnt from. */
static trl_status chart_unseen(void *ctx, size_t k, size_t worker, const trl_coarse_chart *coarse,
                               const trl_gains *gains, trl_error *err)
{
    charting *c = ctx;
    trl_tree_training *j = c->j;
    const trl_tree *t = &j->trees.tree[k];
    bool known, complete = false;
    trl_skeleton s;
    trl_arena_reset(&c->arena[worker]);
    const trl_given_tags *tags;
    trl_status st = tags_of(c, k, worker, &tags, err);
    if (st == TRL_OK)
        st = fill_example(j, k, &known, err);
    const trl_pruning p = {
        .threshold = j->o->prune, .gold = &j->example[k].gold, .filter = true, .tags = tags};
    if (st == TRL_OK && known)
        st = trl_tree_skeleton_of(
            &j->model,
            &(trl_skeleton_source){.word = t->word, .coarse = coarse, .gains = gains, .p = &p}, &s,
            &complete, &c->arena[worker], err);
    if (st == TRL_OK && complete)
        st = trl_skeleton_copy(&s, j->charts, &j->example[k].s, err);
    c->unknown[k] = !complete;
    return st;
}

static trl_status chart_one(void *ctx, size_t k, size_t worker, trl_error *err)
{
    charting *c = ctx;
    trl_tree_training *j = c->j;
    trl_tree_example *e = &j->example[k];
    const trl_tree *t = &j->trees.tree[k];
    bool known, complete = false;
    trl_skeleton s;
    if (e->seen.at)
        return TRL_OK;
    if (j->given && t->n_words > j->given) { /* the coarse grammar cannot make it */
        c->unknown[k] = 1;
        return TRL_OK;
    }
    trl_arena_reset(&c->arena[worker]);
    const trl_given_tags *tags;
    trl_status st = tags_of(c, k, worker, &tags, err);
    if (st == TRL_OK)
        st = fill_example(j, k, &known, err);
    if (st == TRL_OK && known && !j->objective->needs_inference) {
        complete = true;
        st = trl_gold_skeleton(&e->gold, NULL, 0, &s, &c->arena[worker], err);
    } else if (st == TRL_OK && known)
        st = trl_tree_skeleton(&j->model,
                               &(trl_pruned_sentence){t->word, t->n_words,
                                                      &(trl_pruning){.threshold = j->o->prune,
                                                                     .gold = &e->gold,
                                                                     .filter = true,
                                                                     .tags = tags}},
                               &s, &complete, &c->arena[worker], err);
    if (st == TRL_OK && complete)
        st = trl_skeleton_copy(&s, j->charts, &e->s, err);
    c->unknown[k] = !complete;
    return st;
}

#define MOST_LISTED 20

/* Drops, in order, the trees that the grammar cannot make, and lists them; then numbers the
 * features. */
static trl_status collect(trl_tree_training *j, const uint8_t *unknown, trl_error *err)
{
    size_t n = 0;
    for (size_t k = 0; k < j->trees.n; k++) {
        if (unknown[k]) {
            trl_tree_example_fini(&j->example[k]);
            if (j->n_unknown++ < MOST_LISTED) {
                char note[700];
                snprintf(note, sizeof note, "%s:%llu: the grammar cannot derive this tree",
                         j->trees.tree[k].path, (unsigned long long)j->trees.tree[k].row);
                trl_tree_training_report(j, "skipped", note);
            }
            continue;
        }
        if (n != k) {
            j->example[n] = j->example[k];
            j->example[k] = (trl_tree_example){0};
        }
        n++;
    }
    j->n_examples = n;
    trl_status st = trl_tree_training_number(j, err);
    trl_tree_gather ga = {0};
    trl_arena arena = {0};
    for (size_t k = 0; st == TRL_OK && j->o->all_pairs && k < n; k++) {
        trl_arena_reset(&arena);
        st = trl_tree_features_add_chart(&j->model.features, &j->example[k].s, &j->example[k].seen,
                                         &ga, &arena, err);
    }
    trl_tree_gather_fini(&ga);
    trl_arena_fini(&arena);
    if (st == TRL_OK && n == 0)
        st = trl_fail(err, TRL_EPARSE, "the grammar can derive none of the trees");
    return st;
}

trl_status trl_tree_training_charts(trl_tree_training *j, trl_error *err)
{
    const size_t threads = trl_pool_threads(j->pool);
    charting c = {j, trl_zalloc(threads, sizeof *c.arena), trl_zalloc(j->trees.n, 1),
                  trl_zalloc(threads, sizeof *c.tags)};
    j->example = trl_zalloc(j->trees.n, sizeof *j->example);
    trl_status st = c.arena && c.unknown && c.tags && j->example ? TRL_OK : trl_fail_mem(err);
    j->n_examples = st == TRL_OK ? j->trees.n : 0;
    if (st == TRL_OK)
        st = trl_store_new((size_t)j->o->chart_memory << 20, &j->charts, err);
    const trl_span_pruner_hook hook = {&c, chart_unseen};
    if (st == TRL_OK && j->span_pruner)
        st = trl_tree_training_pruner(j, j->objective->needs_inference ? &hook : NULL, err);
    if (st == TRL_OK)
        st = trl_pool_run(j->pool, j->trees.n, chart_one, &c, err);
    if (st == TRL_OK)
        st = collect(j, c.unknown, err);
    for (size_t k = 0; c.arena && k < threads; k++)
        trl_arena_fini(&c.arena[k]);
    for (size_t k = 0; c.tags && k < threads; k++)
        trl_given_tags_fini(&c.tags[k]);
    trl_free(c.arena);
    trl_free(c.tags);
    trl_free(c.unknown);
    return st;
}
