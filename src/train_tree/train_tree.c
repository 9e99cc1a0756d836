/* train_tree.c -- trl_train for trees: treebank -> grammar -> charts, features -> session -> model.
 */
/* SPDX-License-Identifier: MIT */
#include "train/memory_plan.h"
#include "train/tree_data.h"
#include "train_tree/train_tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/format.h"
#include "base/mem.h"
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
    if (o->keep_going) {
        j->trees.on_bad = j->dev.on_bad = skip_bad;
        j->trees.bad_ctx = j->dev.bad_ctx = j;
    }
    j->trees.cancel = j->dev.cancel = &j->cancel;
    j->trees.keep_functions = o->functions;
    j->trees.keep_long = j->given > 0;
    const trl_status st = trl_tree_data_train(&j->trees, o, err);
    return st == TRL_OK ? trl_tree_data_dev(&j->dev, o, err) : st;
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
    const size_t threads = trl_pool_count(j->o->threads);
    j->pool = trl_pool_new(threads);
    if (!j->pool)
        return trl_fail(err, TRL_ENOMEM, "cannot start %zu threads", threads);
    trl_pool_cancel_by(j->pool, &j->cancel);
    return TRL_OK;
}

/* ---- training -------------------------------------------------------------------------------- */

static trl_status whole(void *self, const double *w, double c2, double *g, double *F,
                        trl_error *err)
{
    const trl_tree_training *j = self;
    return trl_mest_eval(j->mest, w, c2, g, F, err);
}

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    const uint64_t parts[2] = {h, n ? trl_str_hash(bytes, n) : 0};
    return trl_str_hash((const char *)parts, sizeof parts);
}

/* The fingerprint of the data, the features and the options that affect the numbers. */
static uint64_t fingerprint(const trl_tree_training *j)
{
    const trl_train_options *o = j->o;
    const double numbers[] = {o->c1, o->c2, o->eta, o->epsilon, o->delta, o->prune};
    const uint64_t counts[] = {j->n_examples, trl_tree_weights(&j->model.features),
                               o->batch,      o->seed,
                               o->memory,     o->period,
                               j->given,      o->max_iter ? 1 : 0};
    uint64_t h = mix(0, numbers, sizeof numbers);
    h = mix(h, counts, sizeof counts);
    h = mix(h, &j->span_pruner, sizeof j->span_pruner);
    h = mix(h, &j->tagger, sizeof j->tagger);
    h = mix(h, trl_objective_name(j->objective, TRL_KIND_TREE),
            strlen(trl_objective_name(j->objective, TRL_KIND_TREE)));
    if (o->nota)
        h = mix(h, o->nota, strlen(o->nota));
    h = mix(h, j->optimizer->name, strlen(j->optimizer->name));
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

static bool counted(const trl_tree_training *j)
{
    return j->model.grade == TRL_GRADE_GENERATIVE;
}

static void make_learner(trl_tree_training *j)
{
    const size_t n = trl_tree_weights(&j->model.features);
    j->learner = (trl_learner){.self = j,
                               .n_weights = n,
                               .n_features = n,
                               .smooth = j->objective->smooth,
                               .bottom = -HUGE_VAL,
                               .passes = j->span_pruner ? 5 : 0,
                               .examples = j->mest ? NULL : &j->task.sparse,
                               .whole = j->mest ? whole : NULL,
                               .score = trl_has_dev(j->o) ? trl_tree_training_score : NULL};
    j->session = (trl_session){.o = j->o,
                               .optimizer = j->optimizer,
                               .learner = &j->learner,
                               .pool = j->pool,
                               .cancel = &j->cancel,
                               .fingerprint = fingerprint(j),
                               .started = j->started};
}

/* The PCFG has been counted; it only remains to score it. */
static trl_status count(trl_tree_training *j, trl_train_result *result, trl_error *err)
{
    trl_status st = TRL_OK;
    if (trl_has_dev(j->o)) {
        st = trl_tree_training_score(j, NULL, &result->dev_score, err);
    }
    result->n_features = result->n_active = j->model.fine.n_binary + j->model.fine.n_unary;
    snprintf(result->ending, sizeof result->ending, "counted");
    return st;
}

/* ---- the model ------------------------------------------------------------------------------- */

static const char *const licences[] = {"seen", "relaxed", "smoothed"};

static trl_status write_model(trl_tree_training *j, const trl_train_result *r, trl_error *err)
{
    const trl_train_options *o = j->o;
    trl_container_builder b = {0};
    char rerank[32] = "", latent[32] = "";
    if (j->model.reranker.n)
        trl_snprintf(rerank, sizeof rerank, "rerank %u\n", (unsigned)j->model.reranker.n);
    else if (j->more[0].len)
        trl_snprintf(rerank, sizeof rerank, "grammars %u\n", (unsigned)o->grammars);
    if (j->model.n_latent)
        trl_snprintf(latent, sizeof latent, "latent %zu\n", j->model.n_latent);
    const int n = trl_snprintf(
        j->settings, sizeof j->settings,
        "grade %s\nobjective %s\noptimizer %s\nc1 %g\nc2 %g\nannotate %s\nmarkov "
        "%d\nrules %s\nmax-length %llu\nprune %g\npruner %s\niterations %llu\ntrees %zu\n%s%s%s%s",
        o->grade, counted(j) ? "counting" : trl_objective_name(j->objective, TRL_KIND_TREE),
        counted(j) ? "none" : j->optimizer->name, o->c1, o->c2, o->annotate, o->markov,
        licences[j->model_options.licence], (unsigned long long)o->max_length, o->prune,
        j->span_pruner ? "spans" : "pcfg", (unsigned long long)r->iterations, j->trees.n,
        j->model.tagger.model ? "tagger chain\n" : "", o->functions ? "functions yes\n" : "",
        latent, rerank);
    size_t size = n > 0 ? (size_t)n : 0;
    if (trl_has_dev(o) && !counted(j) && size < sizeof j->settings)
        size += (size_t)trl_snprintf(j->settings + size, sizeof j->settings - size,
                                     "saved-iteration %llu\nobjective-value %.9g\ndev-%s %.4f\n",
                                     (unsigned long long)r->saved_iteration, r->objective,
                                     r->dev_measure, r->dev_score);
    trl_container_builder_add(&b, "settings", j->settings,
                              size < sizeof j->settings ? size : sizeof j->settings);
    const trl_str text = {j->model_options.template_text, j->model_options.template_size};
    if (j->model_options.licence == TRL_RULES_SMOOTHED && j->objective->id == TRL_OBJ_LIKELIHOOD) {
        const bool mixed = j->model.n_latent > 0;
        j->model.spans = mixed ? trl_span_calibration_latent : trl_span_calibration_usual;
        j->model.trees = trl_tree_calibration_usual;
    }
    trl_status st = trl_tree_model_save(&j->model, j->w, text, &b, err);
    for (size_t k = 0; k < TRL_MORE_GRAMMARS; k++)
        if (j->more[k].len)
            trl_container_builder_add(&b, trl_chart_model_more_tag(k), j->more[k].data,
                                      j->more[k].len);
    if (st == TRL_OK)
        st = o->model ? trl_container_rescue(&b, "tree", o->model, o->rescue, err)
                      : trl_container_to_buf(&b, "tree", o->model_out, err);
    trl_container_builder_fini(&b);
    return st;
}

/* ---- stages ---------------------------------------------------------------------------------- */

static trl_status read_data(void *training, trl_train_result *result, trl_error *err)
{
    trl_tree_training *j = training;
    (void)result;
    trl_status st = read_heads(j, err);
    if (st == TRL_OK)
        st = read_trees(j, err);
    return st == TRL_OK ? start_pool(j, err) : st;
}

static trl_status raw_text(void *training, trl_train_result *result, trl_error *err)
{
    (void)result;
    return trl_tree_training_self(training, err);
}

static trl_status grammar(void *training, trl_train_result *result, trl_error *err)
{
    trl_tree_training *j = training;
    (void)result;
    char note[160];
    j->model_options.pool = j->pool;
    j->model_options.shared_clusters = j->part ? j->part->clusters : NULL;
    trl_status st = trl_tree_model_build(&j->model, &j->model_options, j->heads, &j->trees, err);
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
            "%zu words are too few to make clusters of (%d): there are none, unless 'clusters' "
            "names a file of some or 'raw-text' more words",
            j->trees.n_words, TRL_CLUSTERS_LEAST_WORDS);
        trl_tree_training_report(j, "clusters", note);
    }
    return TRL_OK;
}

static trl_status tagger(void *training, trl_train_result *result, trl_error *err)
{
    (void)result;
    return trl_tree_training_tagger(training, err);
}

static trl_status substates(void *training, trl_train_result *result, trl_error *err)
{
    (void)result;
    return trl_tree_training_latent(training, err);
}

static trl_status functions(void *training, trl_train_result *result, trl_error *err)
{
    trl_tree_training *j = training;
    (void)result;
    return trl_tree_training_functions(j, err);
}

/* The pruner first: it prunes the charts while it learns, before it has seen their trees. */
#define VECTORS 4 /* of weights: the weights, their steps, their mean, a gradient */

/* Charts that are not in a file, and weights. */
static void say_memory(const trl_tree_training *j, uint64_t charts)
{
    char note[120], all[24], one[24], two[24];
    const uint64_t vector = trl_tree_weights(&j->model.features) * sizeof(double);
    const bool pairs = j->optimizer->way == TRL_BY_WHOLE;
    const uint64_t weights = vector * (pairs ? 2 * j->o->memory + VECTORS : VECTORS);
    trl_size_text(charts + weights, all);
    trl_size_text(charts, one);
    trl_size_text(weights, two);
    snprintf(note, sizeof note,
             charts + weights < 1000000 ? "memory: %s" : "memory: about %s: charts %s, weights %s",
             all, one, two);
    trl_tree_training_report(j, "memory", note);
}

static trl_status charts(void *training, trl_train_result *result, trl_error *err)
{
    trl_tree_training *j = training;
    (void)result;
    char note[160];
    trl_status st = TRL_OK;
    if (!counted(j))
        st = trl_tree_training_charts(j, err);
    else if (j->span_pruner)
        st = trl_tree_training_pruner(j, NULL, err);
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
    trl_tree_training_report(j, "compiled", counted(j) ? NULL : note);
    if (!counted(j))
        say_memory(j, bytes - in_file);
    return TRL_OK;
}

static trl_status start(void *training, trl_train_result *result, trl_error *err)
{
    trl_tree_training *j = training;
    const size_t n = trl_tree_weights(&j->model.features);
    result->optimizer = counted(j) ? "counting" : j->optimizer->name;
    result->dev_measure = trl_has_dev(j->o) ? "F1" : NULL;
    if (counted(j))
        return TRL_OK;
    result->n_features = n;
    j->w = trl_alloc64(n + 64, sizeof *j->w);
    if (!j->w)
        return trl_fail_mem(err);
    memset(j->w, 0, (n + 64) * sizeof *j->w);
    trl_status st = trl_tree_task_init(&j->task, j->objective, &j->model.features,
                                       &(trl_task_examples){j->example, j->n_examples},
                                       trl_pool_threads(j->pool), err);
    if (st == TRL_OK && j->objective->local)
        st = start_local(j, err);
    return st == TRL_OK && j->o->init ? trl_tree_training_init(j, err) : st;
}

static trl_status expectations(void *training, trl_train_result *result, trl_error *err)
{
    trl_tree_training *j = training;
    (void)result;
    trl_status st = TRL_OK;
    if (!counted(j) && j->objective->needs_q0) {
        st = trl_tree_training_expect(j, err);
        if (st == TRL_OK)
            st = trl_tree_mest_new(&j->model.features,
                                   &(trl_tree_examples){j->example, j->n_examples}, j->E, j->pool,
                                   &j->mest, err);
    }
    if (st == TRL_OK && trl_has_dev(j->o))
        st = trl_tree_training_dev(j, err);
    if (st == TRL_OK && !counted(j))
        make_learner(j);
    return st;
}

static trl_status first_part(void *training, trl_train_result *result, trl_error *err)
{
    trl_tree_training *j = training;
    return j->objective->has_nota && !counted(j)
               ? trl_session_first(&j->session, j->nota_after, j->w, &j->second, result, err)
               : TRL_OK;
}

static trl_status weights(void *training, trl_train_result *result, trl_error *err)
{
    trl_tree_training *j = training;
    if (counted(j))
        return count(j, result, err);
    return j->objective->has_nota ? trl_tree_training_nota(j, result, err)
                                  : trl_session_run(&j->session, j->w, result, err);
}

static trl_status save(void *training, trl_train_result *result, trl_error *err)
{
    trl_tree_training *j = training;
    if (j->part && j->part->trained)
        return j->part->trained(j->part->ctx, j, err);
    j->cancel.held = true;
    if (j->w)
        result->n_active = trl_tree_model_active(&j->model, j->w);
    const trl_status st = write_model(j, result, err);
    result->seconds = trl_clock() - j->started;
    if (st == TRL_OK)
        trl_tree_training_report(j, "done", result->ending);
    return st;
}

static trl_status second_stage(void *training, trl_train_result *result, trl_error *err)
{
    return trl_tree_training_rerank(training, result, err);
}

static trl_status other_grammars(void *training, trl_train_result *result, trl_error *err)
{
    return trl_tree_training_grammars(training, result, err);
}

static const trl_stage stages[] = {{"the treebank", read_data, false},
                                   {"trees of raw text", raw_text, false},
                                   {"grammar and lexicon", grammar, false},
                                   {"tagger", tagger, false},
                                   {"grammars with substates", substates, false},
                                   {"function labels", functions, false},
                                   {"span pruner, charts, features", charts, false},
                                   {"start", start, false},
                                   {"m-estimation: expectations; dev set", expectations, false},
                                   {"pt-cfg: the MECFG to choose by", first_part, true},
                                   {"weights, pt-cfg: instances", weights, true},
                                   {"second stage", second_stage, true},
                                   {"other grammars", other_grammars, true},
                                   {"the model", save, false},
                                   {0}};

trl_status trl_train_tree(const trl_train_options *o, trl_train_result *result, trl_error *err)
{
    return trl_train_tree_part(o, NULL, result, err);
}

trl_status trl_train_tree_part(const trl_train_options *o, const trl_tree_part_run *part,
                               trl_train_result *result, trl_error *err)
{
    trl_tree_training *j = trl_zalloc(1, sizeof *j);
    if (!j)
        return trl_fail_mem(err);
    j->o = o;
    j->part = part;
    j->started = trl_clock();
    j->cancel = (trl_cancel){o->cancelled, o->cancelled_ctx, false};
    trl_status st = trl_tree_training_check(j, err);
    if (st == TRL_OK)
        st = trl_stages_run(stages, j, result, err);
    trl_tree_training_dev_fini(j);
    trl_tree_task_fini(&j->task);
    for (size_t k = 0; k < j->n_examples; k++)
        trl_tree_example_fini(&j->example[k]);
    trl_free(j->example);
    trl_store_free(j->charts);
    trl_buf_fini(&j->families);
    for (size_t k = 0; k < TRL_MORE_GRAMMARS; k++)
        trl_buf_fini(&j->more[k]);
    trl_tree_model_fini(&j->model);
    trl_tree_training_tagger_fini(j);
    trl_tree_set_fini(&j->trees);
    trl_tree_set_fini(&j->dev);
    trl_head_rules_free(j->heads);
    trl_pool_free(j->pool);
    trl_free(j->w);
    trl_mest_free(j->mest);
    trl_free(j->E);
    trl_free(j);
    return st;
}
