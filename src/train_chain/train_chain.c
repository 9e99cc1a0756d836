/* train_chain.c -- trl_train for chains: sequences -> corpus -> design -> session -> model. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/spill.h"
#include "train_chain/chain_training.h"
#include "train_chain/train_chain.h"
#include "model/model.h"
#include "train/memory_plan.h"
#include "train/places.h"

/* ---- the run --------------------------------------------------------------------------------- */

bool trl_chain_training_report(const trl_chain_training *j, const char *stage, const char *note)
{
    if (!j->o->progress)
        return false;
    uint64_t attributes = 0;
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        attributes += j->corpus.family[f].names.n;
    const trl_progress p = {.stage = stage,
                            .objective = NAN,
                            .gradient = NAN,
                            .dev_score = NAN,
                            .dev_best = NAN,
                            .seconds = trl_clock() - j->started,
                            .seconds_left = NAN,
                            .n_sequences = j->corpus.n_sequences,
                            .n_tokens = j->corpus.n_tokens,
                            .n_labels = j->corpus.labels.n,
                            .n_attributes = attributes,
                            .n_features = j->design.n_live,
                            .note = note};
    return j->o->progress(j->o->progress_ctx, &p);
}

static trl_status compile(trl_chain_training *j, trl_error *err)
{
    const trl_design_options d = {.order = j->order,
                                  .all_pairs = j->o->all_pairs,
                                  .all_transitions = j->o->all_transitions,
                                  .min_count = j->o->min_count,
                                  .min_freq = j->o->min_freq};
    const size_t threads = trl_pool_count(j->o->threads);
    j->pool = trl_pool_new(threads);
    if (!j->pool)
        return trl_fail(err, TRL_ENOMEM, "cannot start %zu threads", threads);
    trl_pool_cancel_by(j->pool, &j->cancel);
    trl_spill *before = trl_spill_use(j->spill);
    trl_status st = trl_design_build(&j->design, &j->corpus, &d, err);
    trl_spill_use(before);
    if (st != TRL_OK)
        return st;
    j->design.spill = j->spill;
    j->w = trl_alloc64(trl_design_alloc(&j->design), sizeof *j->w);
    if (!j->w)
        return trl_fail_mem(err);
    memset(j->w, 0, trl_design_alloc(&j->design) * sizeof *j->w);
    if (!trl_chain_objective(j->objective))
        return TRL_OK;
    st = trl_chain_task_init(&j->task, &j->corpus, j->order, j->objective, trl_session_lanes(j->o),
                             err);
    if (j->o->cost)
        j->task.costs = &j->costs;
    if (st == TRL_OK && trl_chain_training_single(j)) {
        j->task.single = !j->objective->needs_inference;
        if (!j->task.single)
            st = trl_chain_use_single(&j->task.chain, err);
    }
    return st;
}

static trl_status warm_start(trl_chain_training *j, trl_error *err)
{
    if (!trl_train_starts(j->o))
        return TRL_OK;
    trl_model *m = NULL; /* of a file */
    trl_status st = j->o->init ? trl_model_open(j->o->init, &m, err) : TRL_OK;
    const trl_model *from = m ? m : j->o->init_model;
    const trl_chain_model *c = st == TRL_OK ? trl_model_chain(from) : NULL;
    if (st == TRL_OK && !c)
        st = trl_model_need_chain(from, err);
    if (c)
        st = trl_chain_model_read_weights(c, &j->corpus, &j->design, j->w, err);
    if (c && st == TRL_OK)
        trl_chain_training_warn_start(j);
    trl_model_free(m);
    return st;
}

/* ---- the learner ------------------------------------------------------------------------------
 */

static trl_status score(void *self, const double *x, double *score, trl_error *err)
{
    trl_chain_training *j = self;
    return trl_dev_score(&j->dev, x, score, err);
}

static const trl_score *scored(const void *self)
{
    const trl_chain_training *j = self;
    return j->dev.last;
}

static void make_learner(trl_chain_training *j)
{
    const bool tables = trl_chain_objective(j->objective);
    j->view = tables ? trl_chain_task_view(&j->task) : (trl_task){0};
    j->learner = (trl_learner){.self = j,
                               .n_weights = (size_t)j->design.n_weights,
                               .n_features = j->design.n_live,
                               .smooth = j->objective->smooth,
                               .bottom = -HUGE_VAL,
                               .design = &j->design,
                               .names = &j->corpus.family[TRL_NODE].names,
                               .task = tables ? &j->view : NULL,
                               .score = trl_has_dev(j->o) ? score : NULL,
                               .scored = scored};
    j->session =
        (trl_session){.o = j->o,
                      .optimizer = j->optimizer,
                      .learner = &j->learner,
                      .pool = j->pool,
                      .cancel = &j->cancel,
                      .fingerprint = j->o->checkpoint ? trl_chain_training_fingerprint(j) : 0,
                      .started = j->started};
}

/* Objectives that condition on few sources read few of the position-dependent cells of pairs and
 * triples: the task is told which.  Others gather single examples. */
static trl_status select_cells(trl_chain_training *j, trl_error *err)
{
    const bool rows = j->design.family[TRL_EDGE].has_rows || j->design.family[TRL_TRI].has_rows;
    const trl_nota *nota = j->task.nota;
    j->view = trl_chain_task_view(&j->task);
    trl_selection_fini(&j->only);
    if (!rows || !j->objective->selects_sources || trl_label_notes_matter(j->corpus.notes) ||
        (nota && nota->all) || !j->optimizer->whole_corpus)
        return TRL_OK;
    const trl_status st = trl_select_sources(&j->only, &j->design, &j->corpus, nota, err);
    j->view.chain.only = st == TRL_OK ? &j->only : NULL;
    return st;
}

/* ---- stages -----------------------------------------------------------------------------------
 */

/* Reports what the data were taken for, so that a wrong guess is noticed. */
static void report_read(const trl_chain_training *j)
{
    char note[120];
    if (j->format == TRL_FORMAT_CRFSUITE)
        snprintf(note, sizeof note, "as CRFsuite items: the label first, then attributes");
    else
        snprintf(note, sizeof note, "as %zu columns, the last one the label%s", j->corpus.n_columns,
                 j->o->template_text || j->objective->counted ? "" : "; built-in template");
    const bool guessed = j->o->format == TRL_FORMAT_GUESS && !j->o->data;
    trl_chain_training_report(j, "read", guessed ? note : NULL);
}

static trl_status read_data(void *training, trl_train_result *result, trl_error *err)
{
    trl_chain_training *j = training;
    (void)result;
    trl_spill *before = trl_spill_use(j->spill);
    const trl_status st = trl_chain_training_read(j, err);
    trl_spill_use(before);
    if (st == TRL_OK) {
        report_read(j);
        trl_chain_training_warn_values(j);
        trl_chain_training_warn_text(j);
    }
    return st;
}

/* Says what memory the run will take.  What weights and names do not need is for the data. */
static void plan_memory(const trl_chain_training *j)
{
    char note[200];
    uint64_t limit = 0, on_heap = 0, in_files = 0;
    const trl_memory_plan p = trl_memory_plan_of(&j->design, &j->corpus, j->optimizer, j->o);
    if (j->spill && trl_size_read(j->o->memory_limit, &limit)) {
        const uint64_t fixed = p.weights + p.names;
        trl_spill_set_budget(j->spill, limit > fixed ? limit - fixed : 0);
        trl_spill_bytes(j->spill, &on_heap, &in_files);
        const uint64_t room = limit > fixed + on_heap ? limit - fixed - on_heap : 0;
        in_files += p.copies > room ? p.copies : 0;
    }
    trl_memory_plan_say(&p, in_files, note, sizeof note);
    trl_chain_training_report(j, "memory", note);
    if (limit && limit < p.weights + p.names)
        trl_chain_training_report(j, "warning",
                                  "weights and names alone take more than 'memory-limit': they "
                                  "cannot be kept in files");
}

static trl_status make_features(void *training, trl_train_result *result, trl_error *err)
{
    trl_chain_training *j = training;
    trl_status st = compile(j, err);
    if (st == TRL_OK)
        st = trl_chain_training_read_dev(j, err);
    if (st == TRL_OK)
        st = warm_start(j, err);
    if (st != TRL_OK)
        return st;
    trl_chain_training_report(j, "compiled", NULL);
    plan_memory(j);
    trl_chain_training_warn_features(j);
    make_learner(j);
    result->n_features = j->design.n_live;
    result->optimizer = trl_chain_training_optimizer(j);
    result->dev_measure = !trl_has_dev(j->o) ? NULL : j->dev.chunks ? "F1" : "accuracy";
    return TRL_OK;
}

static trl_status expectations(void *training, trl_train_result *result, trl_error *err)
{
    trl_chain_training *j = training;
    return trl_chain_training_has_mest(j) ? trl_chain_training_expect(j, result, err) : TRL_OK;
}

/* Marginal selection of none-of-the-above instances first trains the MEMM for K iterations. */
static trl_status first_part(void *training, trl_train_result *result, trl_error *err)
{
    trl_chain_training *j = training;
    const trl_nota_options *n = &j->nota_options;
    if (!j->objective->has_nota)
        return TRL_OK;
    trl_nota_init(&j->nota, &j->corpus, j->order);
    j->task.nota = &j->nota;
    if (n->method != TRL_NOTA_MARGINAL || n->after == 0)
        return TRL_OK;
    const trl_status st = select_cells(j, err);
    return st == TRL_OK ? trl_session_first(&j->session, n->after, j->w, &j->second, result, err)
                        : st;
}

static trl_status instances(void *training, trl_train_result *result, trl_error *err)
{
    trl_chain_training *j = training;
    const trl_nota_options *n = &j->nota_options;
    trl_status st = TRL_OK;
    if (!j->objective->has_nota)
        return TRL_OK;
    if (n->method == TRL_NOTA_ALL)
        trl_nota_take_all(&j->nota, &j->corpus);
    else if (n->method == TRL_NOTA_SAMPLE)
        st = trl_nota_take_sample(&j->nota, &j->corpus, n->p, j->o->seed, err);
    else
        st = trl_nota_take_marginal(&j->nota, &j->corpus, &(trl_nota_weights){&j->design, j->w},
                                    &(trl_nota_threshold){n->theta, true}, j->pool, err);
    char note[80];
    snprintf(note, sizeof note, "%llu none-of-the-above instances",
             (unsigned long long)j->nota.n_instances);
    result->stopped = st == TRL_OK && trl_chain_training_report(j, "nota", note);
    return st;
}

static trl_status weights(void *training, trl_train_result *result, trl_error *err)
{
    trl_chain_training *j = training;
    if (j->objective->counted)
        return trl_chain_training_run_hmm(j, result, err);
    const trl_status st = j->learner.task ? select_cells(j, err) : TRL_OK;
    if (st != TRL_OK)
        return st;
    return j->objective->has_nota && j->nota_options.method == TRL_NOTA_MARGINAL &&
                   j->nota_options.after > 0
               ? trl_session_second(&j->session, j->second, j->w, result, err)
               : trl_session_run(&j->session, j->w, result, err);
}

static trl_status calibration(void *training, trl_train_result *result, trl_error *err)
{
    trl_chain_training *j = training;
    return j->calibrates ? trl_chain_training_calibrate(j, result, err) : TRL_OK;
}

static trl_status save(void *training, trl_train_result *result, trl_error *err)
{
    trl_chain_training *j = training;
    j->cancel.held = true;
    for (uint64_t i = 0; i < j->design.n_weights; i++)
        result->n_active += j->w[i] != 0.0;
    const trl_status st = trl_chain_training_write(j, result, err);
    result->seconds = trl_clock() - j->started;
    trl_chain_training_report(j, "done", result->ending);
    return st;
}

static const trl_stage stages[] = {{"the data", read_data, false},
                                   {"features, dev set, start", make_features, false},
                                   {"m-estimation: expectations under q0", expectations, true},
                                   {"piecewise-nota: the MEMM to choose by", first_part, true},
                                   {"piecewise-nota: instances", instances, true},
                                   {"weights", weights, true},
                                   {"calibration", calibration, true},
                                   {"the model", save, false},
                                   {0}};

trl_status trl_train_chain(const trl_train_options *o, trl_train_result *result, trl_error *err)
{
    trl_chain_training j = {
        .o = o, .started = trl_clock(), .cancel = {o->cancelled, o->cancelled_ctx, false}};
    uint64_t limit;
    trl_status st = trl_chain_training_check(&j, err);
    if (st == TRL_OK && o->memory_limit && trl_size_read(o->memory_limit, &limit))
        st = trl_spill_new(limit / 2, &j.spill, err); /* until the weights are known */
    if (st == TRL_OK)
        st = trl_stages_run(stages, &j, result, err);
    if (st == TRL_ENOMEM && j.spill && trl_spill_check(j.spill, err) != TRL_OK)
        st = TRL_EIO;
    trl_dev_fini(&j.dev);
    trl_chain_task_fini(&j.task);
    trl_free(j.costs.row);
    trl_nota_fini(&j.nota);
    trl_selection_fini(&j.only);
    trl_design_fini(&j.design);
    trl_corpus_fini(&j.corpus);
    trl_template_free(j.tpl);
    trl_pool_free(j.pool);
    trl_mest_free(j.mest);
    trl_hmm_fini(&j.q0);
    trl_column_values_fini(&j.columns);
    trl_buf_fini(&j.rules);
    trl_free(j.E);
    trl_free(j.calibration);
    trl_free(j.w);
    trl_spill_free(j.spill);
    return st;
}
