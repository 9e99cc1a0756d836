/* train_tree.c -- trl_train for trees: treebank -> grammar -> charts, features -> session -> model.
 */
/* SPDX-License-Identifier: MIT */
#include "train_tree/train_tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/format.h"
#include "base/mem.h"
#include "train/lbfgs.h"
#include "train_tree/tree_training.h"
#include "train_tree/tree_mest.h"

/* ---- reading -----------------------------------------------------------------------------------
 */

static void skip_bad(void *ctx, const trl_error *why)
{
    char note[1200];
    snprintf(note, sizeof note, "%s:%llu:%llu: %s: this tree is left out", why->path,
             (unsigned long long)why->row, (unsigned long long)why->col, why->msg);
    (void)trl_tree_training_report(ctx, "warning", note); /* asked again after reading */
}

static trl_status read_trees(trl_tree_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    trl_status st = TRL_OK;
    if (o->keep_going) {
        j->trees.on_bad = j->dev.on_bad = skip_bad;
        j->trees.bad_ctx = j->dev.bad_ctx = j;
    }
    for (size_t k = 0; st == TRL_OK && k < o->n_train; k++)
        st = trl_tree_set_read(&j->trees, o->train[k], (size_t)o->max_length, err);
    if (st == TRL_OK && j->trees.n == 0) {
        st = trl_fail(err, TRL_EPARSE,
                      j->trees.too_long ? "all trees are longer than %llu words"
                                        : "there are no trees in it",
                      (unsigned long long)o->max_length);
        trl_fail_where(err, st, strcmp(o->train[0], "-") == 0 ? "<stdin>" : o->train[0], 0, 0);
    }
    if (st == TRL_OK && o->dev)
        st = trl_tree_set_read(&j->dev, o->dev, (size_t)o->max_length, err);
    if (st == TRL_OK && o->dev && j->dev.n == 0) {
        st = trl_fail(err, TRL_EPARSE, "there are no trees in it");
        trl_fail_where(err, st, o->dev, 0, 0);
    }
    return st;
}

static trl_status read_heads(trl_tree_training *j, trl_error *err)
{
    if (j->o->head_rules)
        return trl_head_rules_read(j->o->head_rules, &j->heads, err);
    const char *text = trl_head_rules_builtin();
    return trl_head_rules_parse("<head rules>", text, strlen(text), &j->heads, err);
}

bool trl_tree_training_report(const trl_tree_training *j, const char *stage, const char *note)
{
    if (!j->o->progress)
        return false;
    const trl_progress p = {.stage = stage,
                            .objective = NAN,
                            .gradient = NAN,
                            .dev_score = NAN,
                            .dev_best = NAN,
                            .seconds = trl_clock() - j->started,
                            .seconds_left = NAN,
                            .n_sequences = j->trees.n,
                            .n_tokens = j->trees.n_words,
                            .n_labels = j->model.fine.n_states,
                            .n_attributes = j->model.fine.n_binary + j->model.fine.n_unary,
                            .n_features = j->model.grade == TRL_GRADE_GENERATIVE
                                              ? j->model.fine.n_binary + j->model.fine.n_unary
                                              : trl_tree_weights(&j->model.features),
                            .note = note};
    return j->o->progress(j->o->progress_ctx, &p);
}

static trl_status start_pool(trl_tree_training *j, trl_error *err)
{
    size_t threads = j->o->threads;
    if (threads == 0) {
        const long n = sysconf(_SC_NPROCESSORS_ONLN);
        threads = n > 0 ? (size_t)n : 1;
    }
    j->pool = trl_pool_new(threads);
    return j->pool ? TRL_OK : trl_fail(err, TRL_ENOMEM, "cannot start %zu threads", threads);
}

/* ---- charts and features --------------------------------------------------------------------- */

typedef struct charting {
    trl_tree_training *j;
    trl_arena *arena; /* [threads] */
    uint8_t *unknown; /* [trees] */
} charting;

/* What the example has beside its chart. */
static trl_status fill_example(trl_tree_training *j, size_t k, bool *known, trl_error *err)
{
    trl_tree_example *e = &j->example[k];
    const trl_tree *t = &j->trees.tree[k];
    trl_status st = trl_grammar_encode(&j->model.fine, j->heads, t, &j->trees.labels, &e->gold,
                                       known, NULL, err);
    void *memory = trl_alloc(trl_seen_size(t->n_words), 1);
    if (!memory)
        return trl_fail_mem(err);
    trl_observe(&j->model.observer, t->word, t->n_words, memory, &e->seen);
    e->source = k;
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
    trl_status st = fill_example(j, k, &known, err);
    const trl_pruning p = {.threshold = j->o->prune, .gold = &j->example[k].gold, .filter = true};
    if (st == TRL_OK && known)
        st = trl_tree_skeleton_of(&j->model, t->word, coarse, gains, &p, &s, &complete,
                                  &c->arena[worker], err);
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
    trl_arena_reset(&c->arena[worker]);
    trl_status st = fill_example(j, k, &known, err);
    if (st == TRL_OK && known && !j->objective->needs_inference) {
        complete = true;
        st = trl_gold_skeleton(&e->gold, NULL, 0, &s, &c->arena[worker], err);
    } else if (st == TRL_OK && known)
        st = trl_tree_skeleton(
            &j->model, t->word, t->n_words,
            &(trl_pruning){.threshold = j->o->prune, .gold = &e->gold, .filter = true}, &s,
            &complete, &c->arena[worker], err);
    if (st == TRL_OK && complete)
        st = trl_skeleton_copy(&s, j->charts, &e->s, err);
    c->unknown[k] = !complete;
    return st;
}

#define MOST_LISTED 20

/* Drops what the grammar cannot make, in order, and lists it; then gives features their numbers. */
static trl_status collect(trl_tree_training *j, const uint8_t *unknown, trl_error *err)
{
    trl_status st = TRL_OK;
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
    for (size_t k = 0; st == TRL_OK && k < n; k++)
        st = trl_tree_features_add(&j->model.features, &j->example[k].gold, &j->example[k].seen,
                                   err);
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

static trl_status make_charts(trl_tree_training *j, trl_error *err)
{
    const size_t threads = trl_pool_threads(j->pool);
    charting c = {j, trl_zalloc(threads, sizeof *c.arena), trl_zalloc(j->trees.n, 1)};
    j->example = trl_zalloc(j->trees.n, sizeof *j->example);
    trl_status st = c.arena && c.unknown && j->example ? TRL_OK : trl_fail_mem(err);
    j->n_examples = st == TRL_OK ? j->trees.n : 0;
    if (st == TRL_OK)
        st = trl_store_new((size_t)j->o->chart_memory << 20, &j->charts, err);
    const trl_span_pruner_hook hook = {&c, chart_unseen};
    if (st == TRL_OK && j->span_pruner)
        st = trl_tree_training_sieve(j, j->objective->needs_inference ? &hook : NULL, err);
    if (st == TRL_OK)
        st = trl_pool_run(j->pool, j->trees.n, chart_one, &c, err);
    if (st == TRL_OK)
        st = collect(j, c.unknown, err);
    for (size_t k = 0; c.arena && k < threads; k++)
        trl_arena_fini(&c.arena[k]);
    trl_free(c.arena);
    trl_free(c.unknown);
    return st;
}

/* ---- training -------------------------------------------------------------------------------- */

/* Passes; 0: until L-BFGS is done. */
static uint64_t most_passes(const trl_tree_training *j)
{
    if (j->o->max_iter)
        return j->o->max_iter;
    return strcmp(j->optimizer, "adagrad") == 0 ? (j->span_pruner ? 5 : 12)
           : strcmp(j->optimizer, "sgd") == 0   ? 30
                                                : 0;
}

static trl_status solve(void *self, const trl_watcher *watcher, const void *state,
                        size_t state_size, double *x, trl_ending *ending, trl_error *err)
{
    trl_tree_training *j = self;
    const trl_train_options *o = j->o;
    const char *name = j->optimizer;
    if (strcmp(name, "adagrad") == 0 || strcmp(name, "sgd") == 0) {
        const bool adaptive = strcmp(name, "adagrad") == 0;
        const trl_sparse_options so = {.adaptive = adaptive,
                                       .averaged = adaptive,
                                       .c2 = o->c2,
                                       .eta = o->eta > 0.0 ? o->eta : 0.1,
                                       .batch = o->batch ? o->batch : 15,
                                       .max_iter = most_passes(j),
                                       .period = o->max_iter ? 0 : 3,
                                       .delta = 0.005,
                                       .seed = o->seed};
        return trl_sparse_train(&j->task.sparse, &so, j->pool, watcher, state, state_size, x,
                                ending, err);
    }
    const trl_lbfgs_options lo = {.memory = (size_t)o->memory,
                                  .c1 = o->c1,
                                  .max_iter = (size_t)o->max_iter,
                                  .epsilon = o->epsilon,
                                  .period = (size_t)o->period,
                                  .delta = o->delta};
    trl_sparse_batch *batch = NULL;
    trl_mest *mest = NULL;
    trl_function f = {0};
    trl_status st = j->E ? trl_tree_mest_new(&j->model.features, j->example, j->n_examples, j->E,
                                             j->pool, &mest, err)
                         : trl_sparse_batch_new(&j->task.sparse, o->c2, j->pool, &batch, &f, err);
    if (mest)
        f = trl_mest_function(mest, o->c2);
    if (st == TRL_OK)
        st = trl_lbfgs(&f, &lo, j->pool, watcher, state, state_size, x, ending, err);
    trl_sparse_batch_free(batch);
    trl_mest_free(mest);
    return st;
}

/* The objective at x (`trl_session.value`). */
static trl_status value(void *self, const double *x, double enough, double *F, double *norm,
                        trl_error *err)
{
    trl_tree_training *j = self;
    *norm = NAN;
    if (!j->E)
        return trl_sparse_value(&j->task.sparse, x, j->o->c2, enough, j->pool, F, err);
    const size_t n = trl_tree_weights(&j->model.features);
    trl_mest *mest = NULL;
    double *g = trl_alloc64(n + 64, sizeof *g);
    trl_status st = g ? trl_tree_mest_new(&j->model.features, j->example, j->n_examples, j->E,
                                          j->pool, &mest, err)
                      : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_mest_eval(mest, x, j->o->c2, g, F, err);
    trl_mest_free(mest);
    trl_free(g);
    return st;
}

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    const uint64_t parts[2] = {h, n ? trl_str_hash(bytes, n) : 0};
    return trl_str_hash((const char *)parts, sizeof parts);
}

/* Of the data, the features and the options that steer the numbers. */
static uint64_t fingerprint(const trl_tree_training *j)
{
    const trl_train_options *o = j->o;
    const double numbers[] = {o->c1, o->c2, o->eta, o->epsilon, o->delta, o->prune};
    const uint64_t counts[] = {j->n_examples,      trl_tree_weights(&j->model.features),
                               o->batch,           o->seed,
                               o->memory,          o->period,
                               o->max_iter ? 1 : 0};
    uint64_t h = mix(0, numbers, sizeof numbers);
    h = mix(h, counts, sizeof counts);
    h = mix(h, &j->span_pruner, sizeof j->span_pruner);
    h = mix(h, trl_objective_name(j->objective, TRL_KIND_TREE),
            strlen(trl_objective_name(j->objective, TRL_KIND_TREE)));
    if (o->nota)
        h = mix(h, o->nota, strlen(o->nota));
    h = mix(h, j->optimizer, strlen(j->optimizer));
    h = mix(h, j->model_options.template_text, j->model_options.template_size);
    for (size_t k = 0; k < j->n_examples; k++) {
        const trl_tree_example *e = &j->example[k];
        h = mix(h, e->gold.node, e->gold.n * sizeof *e->gold.node);
    }
    return h;
}

static trl_status start_local(trl_tree_training *j, trl_error *err)
{
    const trl_status st = trl_tree_model_index_rules(&j->model, err);
    return st == TRL_OK ? trl_tree_task_local(&j->task, &j->model.expansions, &j->model.lists, err)
                        : st;
}

static trl_status train(trl_tree_training *j, trl_train_result *result, trl_error *err)
{
    trl_tree_features *f = &j->model.features;
    const size_t n = trl_tree_weights(f);
    j->w = trl_alloc64(n + 64, sizeof *j->w);
    if (!j->w)
        return trl_fail_mem(err);
    memset(j->w, 0, (n + 64) * sizeof *j->w);
    trl_status st = trl_tree_task_init(&j->task, j->objective, f, j->example, j->n_examples,
                                       trl_pool_threads(j->pool), err);
    if (st == TRL_OK && j->objective->local)
        st = start_local(j, err);
    if (st == TRL_OK && j->objective->needs_q0)
        st = trl_tree_training_expect(j, err);
    if (st == TRL_OK && j->o->init)
        st = trl_tree_training_init(j, err);
    if (st == TRL_OK && j->o->dev)
        st = trl_tree_training_dev(j, err);
    if (st != TRL_OK)
        return st;
    const trl_session s = {.o = j->o,
                           .pool = j->pool,
                           .fingerprint = fingerprint(j),
                           .started = j->started,
                           .score_dev = j->o->dev ? trl_tree_training_score : NULL,
                           .dev = j,
                           .solve = solve,
                           .value = j->objective->smooth ? value : NULL,
                           .solver = j,
                           .max_iter = most_passes(j),
                           .n_weights = n,
                           .n_features = n};
    st = j->objective->has_nota ? trl_tree_training_nota(j, &s, result, err)
                                : trl_session_run(&s, true, j->w, result, err);
    result->n_active = st == TRL_OK ? trl_tree_model_active(&j->model, j->w) : 0;
    result->n_features = n;
    result->dev_measure = j->o->dev ? "F1" : NULL;
    return st;
}

/* The PCFG is counted already; all that is left is to score it. */
static trl_status count(trl_tree_training *j, trl_train_result *result, trl_error *err)
{
    trl_status st = TRL_OK;
    if (j->o->dev) {
        st = trl_tree_training_dev(j, err);
        if (st == TRL_OK)
            st = trl_tree_training_score(j, NULL, &result->dev_score, err);
        result->dev_measure = "F1";
    }
    result->n_features = result->n_active = j->model.fine.n_binary + j->model.fine.n_unary;
    snprintf(result->ending, sizeof result->ending, "counted");
    return st;
}

/* ---- the model ------------------------------------------------------------------------------- */

static trl_status write_model(trl_tree_training *j, const trl_train_result *r, trl_error *err)
{
    const trl_train_options *o = j->o;
    const bool counted = j->model.grade == TRL_GRADE_GENERATIVE;
    trl_container_builder b = {0};
    const int n = trl_snprintf(
        j->settings, sizeof j->settings,
        "grade %s\nobjective %s\noptimizer %s\nc1 %g\nc2 %g\nannotate %s\nmarkov "
        "%d\nrelaxed %s\nmax-length %llu\nprune %g\npruner %s\niterations %llu\ntrees %zu\n",
        o->grade, counted ? "counting" : trl_objective_name(j->objective, TRL_KIND_TREE),
        counted ? "none" : j->optimizer, o->c1, o->c2, o->annotate, o->markov,
        j->model_options.relaxed ? "yes" : "no", (unsigned long long)o->max_length, o->prune,
        j->span_pruner ? "sieve" : "pcfg", (unsigned long long)r->iterations, j->trees.n);
    size_t size = n > 0 ? (size_t)n : 0;
    if (o->dev && !counted && size < sizeof j->settings)
        size += (size_t)trl_snprintf(j->settings + size, sizeof j->settings - size,
                                     "saved-iteration %llu\nobjective-value %.9g\ndev-%s %.4f\n",
                                     (unsigned long long)r->saved_iteration, r->objective,
                                     r->dev_measure, r->dev_score);
    trl_container_builder_add(&b, "settings", j->settings,
                              size < sizeof j->settings ? size : sizeof j->settings);
    const trl_str text = {j->model_options.template_text, j->model_options.template_size};
    trl_status st = trl_tree_model_save(&j->model, j->w, text, &b, err);
    if (st == TRL_OK)
        st = trl_container_rescue(&b, "tree", o->model, o->rescue, err);
    trl_container_builder_fini(&b);
    return st;
}

/* ---- the run --------------------------------------------------------------------------------- */

static trl_status run(trl_tree_training *j, trl_train_result *result, trl_error *err)
{
    char note[160];
    trl_status st = read_heads(j, err);
    if (st == TRL_OK)
        st = read_trees(j, err);
    if (st == TRL_OK)
        st = start_pool(j, err);
    j->model_options.pool = j->pool;
    if (st == TRL_OK)
        st = trl_tree_model_build(&j->model, &j->model_options, j->heads, &j->trees, err);
    if (st == TRL_OK)
        st = trl_tree_training_check_features(j, err);
    if (st != TRL_OK)
        return st;
    snprintf(note, sizeof note, "%zu states, %zu binary and %zu unary rules",
             j->model.fine.n_states, j->model.fine.n_binary, j->model.fine.n_unary);
    trl_tree_training_report(j, "read", note);
    if (strcmp(j->o->clusters, "auto") == 0 && j->model.tpl.clusters && !j->model.clusters.owned) {
        snprintf(
            note, sizeof note,
            "%zu words are too few to make clusters of (%d): there are none, unless --clusters "
            "FILE brings some",
            j->trees.n_words, TRL_CLUSTERS_LEAST_WORDS);
        trl_tree_training_report(j, "clusters", note);
    }
    const bool counted = j->model.grade == TRL_GRADE_GENERATIVE;
    if (!counted)
        st = make_charts(j, err);
    else if (j->span_pruner)
        st = trl_tree_training_sieve(j, NULL, err);
    if (st != TRL_OK)
        return st;
    size_t in_file = 0;
    const size_t bytes = j->charts ? trl_store_bytes(j->charts, &in_file) : 0;
    char unknown[64] = "";
    if (j->n_unknown)
        trl_snprintf(unknown, sizeof unknown, "the grammar cannot derive %zu of the trees; ",
                     j->n_unknown);
    trl_snprintf(note, sizeof note, "%scharts: %.1f MB%s", unknown, (double)bytes / 1e6,
                 in_file ? ", partly in a temporary file" : "");
    trl_tree_training_report(j, "compiled", counted ? NULL : note);
    st = counted ? count(j, result, err) : train(j, result, err);
    if (st == TRL_OK)
        st = write_model(j, result, err);
    result->seconds = trl_clock() - j->started;
    if (st == TRL_OK)
        trl_tree_training_report(j, "done", result->ending);
    return st;
}

trl_status trl_train_tree(const trl_train_options *o, trl_train_result *result, trl_error *err)
{
    trl_tree_training *j = trl_zalloc(1, sizeof *j);
    if (!j)
        return trl_fail_mem(err);
    j->o = o;
    j->started = trl_clock();
    trl_status st = trl_tree_training_check(j, err);
    if (st == TRL_OK)
        st = run(j, result, err);
    trl_tree_training_dev_fini(j);
    trl_tree_task_fini(&j->task);
    for (size_t k = 0; k < j->n_examples; k++)
        trl_tree_example_fini(&j->example[k]);
    trl_free(j->example);
    trl_store_free(j->charts);
    trl_buf_fini(&j->families);
    trl_tree_model_fini(&j->model);
    trl_tree_set_fini(&j->trees);
    trl_tree_set_fini(&j->dev);
    trl_head_rules_free(j->heads);
    trl_pool_free(j->pool);
    trl_free(j->w);
    trl_free(j->E);
    trl_free(j);
    return st;
}
