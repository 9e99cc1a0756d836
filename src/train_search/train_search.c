/* train_search.c -- trl_train for boosted parsers: treebank -> tags -> examples -> classifiers ->
 * model. */
/* SPDX-License-Identifier: MIT */
#include "train/optimizers.h"
#include "train/tree_data.h"
#include "train_search/train_search.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/format.h"
#include "base/mem.h"
#include "train/objectives.h"
#include "train/stages.h"
#include "train_search/search_examples.h"
#include "train_search/tree_tagger.h"

#define FOLDS 5 /* of jackknifing */

/* Where a path ends, in examples, or, where those have the values of states, in parts of the first
 * lambda: docs/boosting.md. */
#define LAMBDA_LEAST 0.3
#define LAMBDA_END 1e-4

/* Small steps generalise better than the best ones: docs/boosting.md. */
#define RATE 0.3

typedef struct run {
    const trl_train_options *o;
    trl_train_result *result;
    trl_tree_set trees;
    trl_search_model model;
    size_t n_train;    /* trees; those after them are the dev set */
    trl_tree_use *use; /* [trees.n] */
    uint32_t *label;   /* [trees.labels] of model.names */
    uint32_t **tag;    /* [trees.n][words] */
    trl_str groups;    /* their text */
    trl_buf tagger;    /* model bytes */
    trl_search_examples examples, dev;
    double started;
    bool stop; /* asked for by the callback */
} run;

static bool report(run *r, const char *stage, const char *note)
{
    if (!r->o->progress)
        return false;
    const trl_progress p = {.stage = stage,
                            .objective = NAN,
                            .gradient = NAN,
                            .dev_score = NAN,
                            .dev_best = NAN,
                            .seconds = trl_clock() - r->started,
                            .seconds_left = NAN,
                            .n_sequences = r->trees.n,
                            .n_tokens = r->trees.n_words,
                            .n_labels = r->model.names.n_phrases,
                            .n_features = r->examples.data ? r->examples.data->n_features : 0,
                            .note = note};
    return r->o->progress(r->o->progress_ctx, &p);
}

static trl_status cancelled(run *r, bool asked, trl_error *err)
{
    const trl_train_options *o = r->o;
    if (asked || (o->cancelled && o->cancelled(o->cancelled_ctx)))
        return trl_fail(err, TRL_ECANCEL, "stopped before it began: no model was written");
    return TRL_OK;
}

/* ---- treebank -------------------------------------------------------------------------------- */

static void skip_bad(void *ctx, const trl_error *why)
{
    char note[1200];
    snprintf(note, sizeof note, "%s:%" PRIu64 ":%" PRIu64 ": %s: this tree is left out", why->path,
             (uint64_t)why->row, (uint64_t)why->col, why->msg);
    (void)report(ctx, "warning", note);
}

/* What each tree is for. */
static trl_status divide(run *r, trl_error *err)
{
    const trl_train_options *o = r->o;
    size_t n = 0;
    if (!(r->use = trl_alloc(r->trees.n + 1, sizeof *r->use)))
        return trl_fail_mem(err);
    for (size_t k = 0; k < r->trees.n; k++) {
        if (k >= r->n_train)
            r->use[k] = TRL_TREE_CHOOSE;
        else if (o->max_length && r->trees.tree[k].n_words > o->max_length)
            r->use[k] = TRL_TREE_TAGS;
        else
            r->use[k] = TRL_TREE_LEARN;
        n += r->use[k] == TRL_TREE_LEARN;
    }
    if (n)
        return TRL_OK;
    trl_fail(err, TRL_EPARSE, "all trees are longer than %" PRIu64 " words",
             (uint64_t)o->max_length);
    return trl_fail_where(err, TRL_EPARSE, o->data ? "<data>" : o->train[0], 0, 0);
}

static trl_status read_trees(run *r, trl_error *err)
{
    const trl_train_options *o = r->o;
    trl_status st = TRL_OK;
    if (o->keep_going) {
        r->trees.on_bad = skip_bad;
        r->trees.bad_ctx = r;
    }
    trl_train_options all = *o; /* long trees teach the tagger */
    all.max_length = 0;
    st = trl_tree_data_train(&r->trees, &all, err);
    r->n_train = r->trees.n;
    if (st == TRL_OK)
        st = trl_tree_data_dev(&r->trees, o, err);
    return st == TRL_OK ? divide(r, err) : st;
}

/* Labels of inner nodes of the trees that are learnt from, TOP first; then the tags of all. */
static trl_status collect_labels(run *r, trl_error *err)
{
    trl_search_names *names = &r->model.names;
    r->label = trl_alloc(r->trees.labels.n + 1, sizeof *r->label);
    if (!r->label)
        return trl_fail_mem(err);
    for (size_t k = 0; k < r->trees.labels.n; k++)
        r->label[k] = TRL_NO_ID;
    for (int tags = 0; tags < 2; tags++) {
        for (size_t k = 0; k < r->trees.n; k++)
            for (uint32_t v = 0; v < r->trees.tree[k].n_nodes; v++) {
                const trl_node *node = &r->trees.tree[k].node[v];
                const bool is_tag = node->child == TRL_NO_NODE;
                if (is_tag != (tags == 1) || (!is_tag && r->use[k] != TRL_TREE_LEARN) ||
                    r->label[node->label] != TRL_NO_ID)
                    continue;
                const trl_str s = trl_tree_label(&r->trees.tree[k], v);
                if ((r->label[node->label] = trl_search_label(names, s)) == TRL_NO_ID)
                    return trl_fail_mem(err);
            }
        if (tags == 0)
            names->n_phrases = names->labels.n;
    }
    return TRL_OK;
}

typedef struct counted {
    uint64_t count;
    uint32_t id;
} counted;

static int by_count(const void *pa, const void *pb)
{
    const counted *a = pa, *b = pb;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Words by falling count. */
static trl_status collect_words(run *r, trl_error *err)
{
    trl_strtab *words = &r->model.names.words;
    counted *c = trl_zalloc(r->trees.n_words + 1, sizeof *c);
    uint32_t *order = trl_alloc(r->trees.n_words + 1, sizeof *order);
    trl_status st = c && order ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < r->n_train; k++)
        for (size_t i = 0; st == TRL_OK && i < r->trees.tree[k].n_words; i++) {
            const trl_str w = r->trees.tree[k].word[i];
            const uint32_t id = trl_strtab_add(words, w.p, w.n);
            if (id == TRL_NO_ID)
                st = trl_fail_mem(err);
            else
                c[id].count++;
        }
    if (st == TRL_OK) {
        for (uint32_t k = 0; k < words->n; k++)
            c[k].id = k;
        qsort(c, words->n, sizeof *c, by_count);
        for (size_t k = 0; k < words->n; k++)
            order[k] = c[k].id;
        if (!trl_strtab_select(words, order, words->n))
            st = trl_fail_mem(err);
    }
    trl_free(c);
    trl_free(order);
    return st;
}

static trl_status read_rules(run *r, trl_error *err)
{
    const trl_train_options *o = r->o;
    const char *groups = trl_feature_groups_builtin(), *heads = trl_head_rules_builtin();
    r->groups = o->template_text ? (trl_str){o->template_text, o->template_size}
                                 : (trl_str){groups, strlen(groups)};
    const trl_status st = trl_feature_groups_parse(
        o->template_text ? o->template_name : "<feature groups>", r->groups, &r->model.groups, err);
    if (st != TRL_OK)
        return st;
    return o->head_rules
               ? trl_head_rules_read(o->head_rules, &r->model.heads, err)
               : trl_head_rules_parse("<head rules>", heads, strlen(heads), &r->model.heads, err);
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* Only of a file: those of the training data alone did the tagger no good. */
static trl_status find_clusters(run *r, trl_error *err)
{
    const char *clusters = r->o->clusters;
    trl_status st = TRL_OK;
    if (clusters && strcmp(clusters, "auto") != 0 && strcmp(clusters, "none") != 0)
        st = trl_tree_clusters_read(&r->model.clusters, clusters, err);
    return st == TRL_OK ? trl_search_names_cluster(&r->model.names, r->model.clusters.view, err)
                        : st;
}

/* ---- tags ------------------------------------------------------------------------------------ */

static trl_status gold_tags(run *r, trl_error *err)
{
    if (!(r->tag = trl_zalloc(r->trees.n + 1, sizeof *r->tag)))
        return trl_fail_mem(err);
    for (size_t k = 0; k < r->trees.n; k++) {
        const trl_tree *t = &r->trees.tree[k];
        if (!(r->tag[k] = trl_alloc(t->n_words + 1, sizeof **r->tag)))
            return trl_fail_mem(err);
        for (size_t v = 0; v < t->n_nodes; v++)
            if (t->node[v].child == TRL_NO_NODE)
                r->tag[k][t->node[v].from] = r->label[t->node[v].label];
    }
    return TRL_OK;
}

static trl_status retag(const trl_tree_tagger_source *s, uint32_t *const *tag, size_t fold,
                        trl_error *err)
{
    trl_buf bytes = {0};
    trl_model *tagger = NULL;
    trl_status st = trl_tree_tagger_train(s, FOLDS, fold, &bytes, err);
    if (st == TRL_OK)
        st = trl_model_from_memory(bytes.data, bytes.len, &tagger, err);
    if (st == TRL_OK)
        st = trl_tree_tagger_apply(s, tagger, FOLDS, fold, tag, err);
    trl_model_free(tagger);
    trl_buf_fini(&bytes);
    return st;
}

/* The tagger of the model; the trees get the tags of others if that is wanted. */
static trl_status make_tags(run *r, trl_error *err)
{
    trl_tree_set all = r->trees; /* a view: of the training trees, then of the dev set */
    all.n = r->n_train;
    trl_tree_tagger_source s = {r->o, &r->model, &all, r->label, r->use};
    trl_status st = gold_tags(r, err);
    if (st == TRL_OK)
        st = trl_tree_tagger_train(&s, 0, 0, &r->tagger, err);
    if (!r->o->jackknife || st != TRL_OK)
        return st;
    for (size_t k = 0; st == TRL_OK && all.n > FOLDS && k < FOLDS; k++)
        st = retag(&s, r->tag, k, err);
    trl_model *tagger = NULL;
    s.use += r->n_train;
    all.tree += r->n_train;
    all.n = r->trees.n - r->n_train;
    if (st == TRL_OK && all.n)
        st = trl_model_from_memory(r->tagger.data, r->tagger.len, &tagger, err);
    if (st == TRL_OK && all.n)
        st = trl_tree_tagger_apply(&s, tagger, 0, 0, r->tag + r->n_train, err);
    trl_model_free(tagger);
    return st;
}

/* ---- examples and classifiers ---------------------------------------------------------------- */

/* Values of states leave a classifier with no reason to tell a chance of 9 in 10 from one of 1 in
 * 10: of a thousand inferences from a state both are far above the average.  Shares need to know.
 */
static bool is_uniform(const run *r)
{
    return r->model.shares || r->o->uniform_values;
}

static trl_status make_examples(run *r, trl_error *err)
{
    trl_search_source s = {.model = &r->model,
                           .trees = &r->trees,
                           .label = r->label,
                           .tag = (const uint32_t *const *)r->tag,
                           .use = r->use,
                           .want = TRL_TREE_LEARN,
                           .uniform = is_uniform(r),
                           .memory = (size_t)r->o->chart_memory << 20,
                           .threads = trl_pool_count(r->o->threads)};
    trl_status st = trl_search_examples_make(&r->examples, &s, err);
    s.want = TRL_TREE_CHOOSE;
    s.like = r->examples.data;
    if (st == TRL_OK)
        st = trl_search_examples_make(&r->dev, &s, err);
    char note[200];
    snprintf(note, sizeof note,
             "%" PRIu64 " states, %zu spans of them, %" PRIu64 " examples, %zu features",
             r->examples.n_states, r->examples.n_rows, r->examples.n_examples,
             r->examples.data ? r->examples.data->n_features : 0);
    return st == TRL_OK ? cancelled(r, report(r, "examples", note), err) : st;
}

static bool on_progress(void *ctx, const trl_boost_progress *b)
{
    run *r = ctx;
    const trl_train_options *o = r->o;
    if (o->cancelled && o->cancelled(o->cancelled_ctx))
        r->stop = true;
    if (b->point && o->progress) {
        char note[160], held_out[40] = "";
        if (isfinite(b->point->held_out))
            snprintf(held_out, sizeof held_out, ", held-out loss %.6g", b->point->held_out);
        snprintf(note, sizeof note, "%s: lambda %.3g, %" PRIu64 " trees%s, %.1f s of the processor",
                 b->classifier, b->point->lambda, b->point->trees, held_out, b->seconds);
        r->stop = report(r, "classifier", note) || r->stop;
    }
    return r->stop;
}

static trl_status boost(run *r, trl_error *err)
{
    const trl_train_options *o = r->o;
    const trl_boost_options b = {.size = sizeof b,
                                 .decay = 0.8,
                                 .lambda_end = is_uniform(r) ? 1e-9 : LAMBDA_END,
                                 .lambda_least = is_uniform(r) ? LAMBDA_LEAST : 0.0,
                                 .min_gain = 0.1,
                                 .rate = o->eta > 0.0 ? o->eta : RATE,
                                 .patience = 5,
                                 .trees = o->max_iter,
                                 .depth = o->stumps ? 1 : 0,
                                 .sample = o->sample,
                                 .seed = o->seed,
                                 .threads = o->threads,
                                 .checkpoint = o->checkpoint,
                                 .checkpoint_every = 100,
                                 .resume = o->resume,
                                 .progress = on_progress,
                                 .progress_ctx = r,
                                 .cancelled = o->cancelled,
                                 .cancelled_ctx = o->cancelled_ctx};
    return trl_boost_train(r->examples.data, r->dev.data, &b, &r->model.boost, err);
}

/* ---- model ----------------------------------------------------------------------------------- */

static void summarise(run *r)
{
    trl_train_result *result = r->result;
    const trl_boost_model *m = r->model.boost;
    for (size_t k = 0; k < m->n; k++) {
        const trl_boost_part *p = &m->part[k];
        result->n_active += p->n_points ? p->point[p->best].compound : 0;
        result->iterations += p->n_trees;
    }
    result->saved_iteration = result->iterations;
    result->n_features = r->examples.data->n_features;
    result->seconds = trl_clock() - r->started;
    result->stopped = r->stop;
    result->optimizer = "boosting";
    snprintf(result->ending, sizeof result->ending,
             r->stop ? "it was stopped" : "every classifier reached the end of its path");
}

static trl_status write_model(run *r, trl_error *err)
{
    const trl_train_options *o = r->o;
    unsigned char *bytes = NULL;
    size_t n = 0;
    trl_container_builder b = {0};
    char settings[400];
    const int size = trl_snprintf(
        settings, sizeof settings,
        "grade boosted\nobjective boosting\nseed %" PRIu64 "\nsample %" PRIu64
        "\ntrees %s\nvalues %s\ntags %s\ncosts %s\nstates %" PRIu64 "\nexamples %" PRIu64 "\n",
        o->seed, o->sample, o->stumps ? "stumps" : "full", is_uniform(r) ? "uniform" : "states",
        o->jackknife ? "jackknifed" : "gold", r->model.shares ? "shares" : "own",
        r->examples.n_states, r->examples.n_examples);
    trl_status st = trl_boost_model_bytes(r->model.boost, &bytes, &n, err);
    const trl_search_parts parts = {
        r->groups, {(const char *)bytes, n}, {r->tagger.data, r->tagger.len}};
    r->model.root = r->trees.root;
    if (st == TRL_OK)
        st = trl_search_model_add(&r->model, &parts, &b, err);
    trl_container_builder_add(&b, "settings", settings, (size_t)size);
    if (st == TRL_OK)
        st = o->model ? trl_container_rescue(&b, "tree", o->model, o->rescue, err)
                      : trl_container_to_buf(&b, "tree", o->model_out, err);
    trl_container_builder_fini(&b);
    trl_free(bytes);
    return st;
}

static void run_fini(run *r)
{
    for (size_t k = 0; r->tag && k < r->trees.n; k++)
        trl_free(r->tag[k]);
    trl_free(r->tag);
    trl_free(r->label);
    trl_free(r->use);
    trl_buf_fini(&r->tagger);
    trl_search_examples_fini(&r->dev);
    trl_search_examples_fini(&r->examples);
    trl_search_model_fini(&r->model);
    trl_tree_set_fini(&r->trees);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static trl_status read_all(void *training, trl_train_result *result, trl_error *err)
{
    (void)result;
    run *r = training;
    trl_status st = read_rules(r, err);
    if (st == TRL_OK)
        st = read_trees(r, err);
    if (st == TRL_OK)
        st = collect_labels(r, err);
    if (st == TRL_OK)
        st = collect_words(r, err);
    if (st == TRL_OK)
        st = find_clusters(r, err);
    return st == TRL_OK ? cancelled(r, report(r, "read", NULL), err) : st;
}

static trl_status tag_all(void *training, trl_train_result *result, trl_error *err)
{
    (void)result;
    const trl_status st = make_tags(training, err);
    return st == TRL_OK ? cancelled(training, report(training, "tagged", NULL), err) : st;
}

static trl_status list_examples(void *training, trl_train_result *result, trl_error *err)
{
    (void)result;
    return make_examples(training, err);
}

static trl_status learn(void *training, trl_train_result *result, trl_error *err)
{
    (void)result;
    return boost(training, err);
}

static trl_status save(void *training, trl_train_result *result, trl_error *err)
{
    (void)result;
    const trl_status st = write_model(training, err);
    if (st == TRL_OK)
        summarise(training);
    return st;
}

static const trl_stage stages[] = {
    {"the treebank", read_all, false},  {"tags", tag_all, false},
    {"examples", list_examples, false}, {"classifiers", learn, false},
    {"the model", save, false},         {0}};

trl_status trl_train_search(const trl_train_options *o, trl_train_result *result, trl_error *err)
{
    if (o->n_train == 0 && !o->data)
        return trl_fail(err, TRL_EINVAL, "there is no training data");
    const trl_objective *objective = trl_objective_find(o->objective);
    if (o->optimizer || !objective || objective->id != TRL_OBJ_LIKELIHOOD)
        return trl_fail(err, TRL_EINVAL,
                        "boosted parsers have one way of training: no objective, no optimizer can "
                        "be chosen");
    if (o->raw_text || o->self_train)
        return trl_fail(err, TRL_EINVAL, "boosted parsers make no clusters: raw text is of no use");
    if (!o->model && !o->model_out)
        return trl_fail(err, TRL_EINVAL, "where to write the model is not given");
    run *r = trl_zalloc(1, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    r->o = o;
    r->result = result;
    r->started = trl_clock();
    r->model.shares = !o->decode || strcmp(o->decode, "local") != 0;
    const trl_status st = trl_stages_run(stages, r, result, err);
    run_fini(r);
    trl_free(r);
    return st;
}
