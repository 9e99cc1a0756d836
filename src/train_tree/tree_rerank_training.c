/* tree_rerank_training.c -- the second stage: lists of trees that a first stage has not seen, the
 * penalty and the share by cross-validation over them, weights.
 *
 * The treebank is cut into folds of neighbouring trees.  A first stage is trained without each of
 * them, with the options of the run, the clusters of its model and the tags that its trees were
 * learnt with, and makes the lists of that fold, whose trees have such tags, too.  Nothing of this
 * is in checkpoints: a run that is resumed does it again, to the same bits.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/format.h"
#include "base/mem.h"
#include "train/places.h"
#include "train/tree_data.h"
#include "train_tree/rerank_fit.h"
#include "train_tree/train_tree.h"
#include "train_tree/tree_training.h"

#define FOLDS 3
#define LEAST_LISTS 3  /* in which a feature makes a difference */
#define LIST_LENGTHS 2 /* sentences of that many times --max-length have lists, too */
#define GROUPS (TRL_RERANK_ALL & ~(TRL_RERANK_NEIGHBOURS | TRL_RERANK_EDGES))

static const double penalties[] = {45.0, 15.0, 5.0};
static const double shares[] = {0.0, 0.25, 0.5, 0.75, 1.0};
#define PENALTIES (sizeof penalties / sizeof *penalties)
#define SHARES (sizeof shares / sizeof *shares)

typedef struct second_stage {
    trl_tree_training *j;
    trl_rerank_lists lists;
    trl_rerank_fit fit;
    uint8_t *left_out; /* [trees read] */
    uint32_t fold;
    double *w; /* [n_weights + 64] */
    double loss[PENALTIES];
    uint64_t match[SHARES], test[SHARES], gold; /* of held-out lists */
    trl_span_outcome *told[SHARES];             /* [lists]: the probabilities of the trees chosen */
} second_stage;

/* ---- lists ----------------------------------------------------------------------------------- */

static void ignore_bad(void *ctx, const trl_error *why)
{
    (void)ctx;
    (void)why;
}

/* Leaves out the fold, or all but the fold. */
static void leave_out(second_stage *s, bool fold)
{
    const trl_tree_training *j = s->j;
    const uint64_t n = j->trees.n_read;
    for (uint64_t k = 0; k < n; k++)
        s->left_out[k] = trl_train_leaves_out(j->o, k) || (k * FOLDS / n == s->fold) == fold;
}

/* Options of a run without what is left out. */
static trl_train_options fold_options(const second_stage *s, trl_buf *nowhere)
{
    trl_train_options o = trl_tree_training_part_options(s->j, nowhere);
    o.leave_out = s->left_out;
    o.latent = 0; /* lists are of the parser alone */
    o.n_leave_out = s->j->trees.n_read;
    return o;
}

/* The taggers of the whole run have seen trees of raw text, which were parsed by all of it. */
static const trl_tree_taggers *shared_taggers(const second_stage *s)
{
    return s->j->model.tagger.model && !s->j->o->self_train ? &s->j->taggers : NULL;
}

/* Lists of held-out trees, those of each fold of the taggers with the tagger that has not seen it.
 */
static trl_status list_tagged(second_stage *s, trl_tree_training *part,
                              const trl_rerank_source *from, const trl_tree_set *held,
                              trl_error *err)
{
    const trl_tree_taggers *known = shared_taggers(s);
    trl_word_tagger own = part->model.tagger;
    trl_status st = TRL_OK;
    for (size_t begin = 0, end; st == TRL_OK && begin < held->n; begin = end) {
        const uint8_t fold = known->fold_of[held->place[begin]];
        for (end = begin; end < held->n && known->fold_of[held->place[end]] == fold;)
            end++;
        trl_tree_set same = *held; /* a view */
        same.tree += begin;
        same.n = end - begin;
        part->model.tagger = (trl_word_tagger){0};
        st = trl_tree_training_fold_tagger(part, &known->fold[fold], &part->model.tagger, err);
        if (st == TRL_OK)
            st = trl_rerank_lists_add(&s->lists, from, &same, part->pool, err);
        trl_word_tagger_fini(&part->model.tagger);
    }
    part->model.tagger = own;
    return st;
}

/* The first stage without the fold has been trained. */
static trl_status list_fold(void *ctx, trl_tree_training *part, trl_error *err)
{
    second_stage *s = ctx;
    trl_tree_set held = {.on_bad = s->j->trees.on_bad ? ignore_bad : NULL, .cancel = &s->j->cancel};
    trl_buf nowhere = {0};
    leave_out(s, false);
    trl_train_options o = fold_options(s, &nowhere);
    o.max_length *= LIST_LENGTHS;
    trl_tree_model *m = &part->model;
    double *binary_exp = trl_alloc64(m->fine.n_binary, sizeof *binary_exp);
    double *unary = trl_alloc64(m->fine.n_unary, sizeof *unary);
    trl_status st = binary_exp && unary ? trl_tree_data_train(&held, &o, err) : trl_fail_mem(err);
    if (st == TRL_EPARSE) /* none of the fold is left: all are too long, say */
        st = TRL_OK;
    if (st == TRL_OK) {
        m->features.w = part->w;
        if (m->grade != TRL_GRADE_GENERATIVE)
            trl_tree_model_shared(m, binary_exp, unary);
        const trl_rerank_source from = {m,
                                        binary_exp,
                                        unary,
                                        s->j->heads,
                                        &s->j->model.clusters,
                                        (uint32_t)s->j->o->rerank,
                                        GROUPS,
                                        s->fold};
        st = shared_taggers(s) && m->tagger.model
                 ? list_tagged(s, part, &from, &held, err)
                 : trl_rerank_lists_add(&s->lists, &from, &held, part->pool, err);
    }
    trl_free(binary_exp);
    trl_free(unary);
    trl_tree_set_fini(&held);
    return st;
}

static trl_status make_lists(second_stage *s, trl_error *err)
{
    trl_status st = TRL_OK;
    trl_buf nowhere = {0};
    char note[80];
    s->left_out = trl_alloc(s->j->trees.n_read, sizeof *s->left_out);
    if (!s->left_out)
        return trl_fail_mem(err);
    for (s->fold = 0; st == TRL_OK && s->fold < FOLDS; s->fold++) {
        trl_train_result result = {0};
        snprintf(note, sizeof note, "second stage: the first without part %u of %d of the trees",
                 (unsigned)s->fold + 1, FOLDS);
        if (trl_tree_training_report(s->j, "rerank", note))
            return trl_fail(err, TRL_ECANCEL, "stopped");
        leave_out(s, true);
        const trl_train_options o = fold_options(s, &nowhere);
        st = trl_train_tree_part(&o,
                                 &(trl_tree_part_run){.clusters = &s->j->model.clusters,
                                                      .ctx = s,
                                                      .trained = list_fold,
                                                      .taggers = shared_taggers(s)},
                                 &result, err);
    }
    trl_buf_fini(&nowhere);
    return st;
}

/* ---- weights --------------------------------------------------------------------------------- */

static void start(second_stage *s)
{
    memset(s->w, 0, (s->fit.n_weights + 64) * sizeof *s->w);
    s->w[TRL_SAID_LOG_P] = 1.0 / TRL_RERANK_SAID_SCALE;
}

static trl_status fit_without(second_stage *s, uint32_t fold, double c2, trl_error *err)
{
    s->fit.left_out = fold;
    return trl_rerank_fit_run(&s->fit, c2, s->j->pool, s->w, err);
}

/* The penalty with the least loss on the first fold; every fit begins with the weights of the one
 * before, the strongest penalty first. */
static trl_status choose_penalty(second_stage *s, double *c2, trl_error *err)
{
    trl_status st = TRL_OK;
    size_t best = 0;
    for (size_t p = 0; st == TRL_OK && p < PENALTIES; p++) {
        st = fit_without(s, 0, penalties[p], err);
        for (size_t k = 0; st == TRL_OK && k < s->lists.n; k++) {
            const trl_rerank_choice *c = &s->lists.choice[k];
            if (c->fold == 0)
                s->loss[p] += trl_rerank_loss(c, trl_rerank_fit_p(&s->fit, c, s->w));
        }
        best = s->loss[p] < s->loss[best] ? p : best;
    }
    *c2 = penalties[best];
    return st;
}

static trl_status make_room(second_stage *s, trl_error *err)
{
    s->w = trl_alloc64(s->fit.n_weights + 64, sizeof *s->w);
    bool ok = s->w != NULL;
    for (size_t x = 0; ok && x < SHARES; x++)
        ok = (s->told[x] = trl_alloc(s->lists.n, sizeof *s->told[x])) != NULL;
    return ok ? TRL_OK : trl_fail_mem(err);
}

/* What the choices of every share would score, each fold by weights that have not seen it. */
static trl_status score_shares(second_stage *s, double c2, trl_error *err)
{
    trl_status st = TRL_OK;
    for (uint32_t fold = 0; st == TRL_OK && fold < FOLDS; fold++) {
        if (fold) /* those before have seen it */
            start(s);
        st = fit_without(s, fold, c2, err);
        for (size_t k = 0; st == TRL_OK && k < s->lists.n; k++) {
            const trl_rerank_choice *c = &s->lists.choice[k];
            if (c->fold != fold)
                continue;
            const double *p = trl_rerank_fit_p(&s->fit, c, s->w);
            s->gold += c->gold;
            for (size_t x = 0; x < SHARES; x++) {
                const size_t chosen = trl_rerank_choose(c, p, shares[x]);
                s->told[x][k] = (trl_span_outcome){p[chosen], c->right[chosen] != 0};
                s->match[x] += c->match[chosen];
                s->test[x] += c->test[chosen];
            }
        }
    }
    return st;
}

static double f1(const second_stage *s, size_t share)
{
    const double all = (double)(s->gold + s->test[share]);
    return all > 0.0 ? 200.0 * (double)s->match[share] / all : 0.0;
}

/* ---- the model ------------------------------------------------------------------------------- */

static trl_status keep_weights(second_stage *s, trl_reranker *r, trl_error *err)
{
    const trl_tree_index *x = &s->lists.keys;
    size_t slots = 1024;
    while (slots * 4 < s->fit.n_weights * 5)
        slots *= 2;
    r->own_key = trl_zalloc(slots, sizeof *r->own_key);
    r->own_weight = trl_zalloc(slots, sizeof *r->own_weight);
    if (!r->own_key || !r->own_weight)
        return trl_fail_mem(err);
    for (size_t at = 0; at < x->n_slots; at++) {
        const double w = x->key[at] ? s->w[TRL_SAID + x->number[at]] : 0.0;
        if ((float)w == 0.0f)
            continue;
        size_t to = trl_tree_hash(x->key[at]) & (slots - 1);
        while (r->own_key[to])
            to = (to + 1) & (slots - 1);
        r->own_key[to] = x->key[at];
        r->own_weight[to] = (float)w;
    }
    r->index = (trl_tree_index){.key = r->own_key, .n_slots = slots};
    r->weight = r->own_weight;
    for (int k = 0; k < TRL_SAID; k++)
        r->said[k] = TRL_RERANK_SAID_SCALE * s->w[k];
    return TRL_OK;
}

static trl_status learn(second_stage *s, trl_error *err)
{
    trl_tree_training *j = s->j;
    trl_reranker *r = &j->model.reranker;
    char note[200];
    double c2 = 0.0;
    size_t best = 0;
    trl_status st = trl_rerank_lists_prune(&s->lists, LEAST_LISTS, err);
    if (st == TRL_OK)
        st = trl_rerank_fit_init(&s->fit, &s->lists, trl_pool_threads(j->pool), err);
    if (st == TRL_OK)
        st = make_room(s, err);
    if (st != TRL_OK)
        return st;
    start(s);
    st = choose_penalty(s, &c2, err);
    if (st == TRL_OK)
        st = score_shares(s, c2, err);
    for (size_t x = 1; st == TRL_OK && x < SHARES; x++)
        best = f1(s, x) > f1(s, best) ? x : best;
    trl_snprintf(note, sizeof note,
                 "second stage: %zu lists, %zu features, c2 %g; F1 of the choice %.2f, without it "
                 "%.2f%s",
                 s->lists.n, s->fit.n_weights, c2, f1(s, best), f1(s, 0),
                 best ? "" : ": it is left out, as it gains nothing");
    trl_tree_training_report(j, "rerank", note);
    if (st != TRL_OK || best == 0)
        return st;
    const trl_str rules = trl_head_rules_text(j->heads);
    st = fit_without(s, TRL_NO_ID, c2, err);
    if (st == TRL_OK)
        st = trl_head_rules_parse("<head rules>", rules.p, rules.n, &r->heads, err);
    if (st == TRL_OK)
        st = keep_weights(s, r, err);
    if (st == TRL_OK) {
        r->groups = GROUPS;
        r->share = shares[best];
        trl_tree_calibration_fit(s->told[best], s->lists.n, &r->trees);
        r->n = (uint32_t)j->o->rerank;
    }
    return st;
}

trl_status trl_tree_training_check_rerank(const trl_tree_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    if (o->rerank == 0)
        return TRL_OK;
    if (o->rerank < 2 || o->rerank > TRL_RERANK_MOST)
        return trl_fail(err, TRL_EINVAL, "a second stage chooses among 2 to %d trees, not %llu",
                        TRL_RERANK_MOST, (unsigned long long)o->rerank);
    if (!j->objective->probabilistic)
        return trl_fail(err, TRL_EINVAL,
                        "a second stage needs probabilities, which a perceptron does not have");
    return trl_tree_training_reads_again(j, "a second stage", err);
}

/* A run that is stopped here keeps its first stage. */
trl_status trl_tree_training_rerank(trl_tree_training *j, trl_train_result *result, trl_error *err)
{
    second_stage s = {.j = j};
    if (j->o->rerank == 0 || j->part)
        return TRL_OK;
    if (j->trees.n < FOLDS)
        return trl_fail(err, TRL_EPARSE, "%zu trees are too few for a second stage", j->trees.n);
    trl_status st = make_lists(&s, err);
    if (st == TRL_OK && s.lists.n)
        st = learn(&s, err);
    if (st != TRL_OK)
        trl_reranker_fini(&j->model.reranker);
    trl_rerank_fit_fini(&s.fit);
    trl_rerank_lists_fini(&s.lists);
    trl_free(s.left_out);
    trl_free(s.w);
    for (size_t x = 0; x < SHARES; x++)
        trl_free(s.told[x]);
    if (st == TRL_ECANCEL && result->iterations) {
        result->stopped = true;
        st = TRL_OK;
    }
    return st;
}
