/* train_chain.c -- trl_train for chains: files -> corpus -> design -> session -> model. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_chain/chain_training.h"
#include "train_chain/train_chain.h"
#include "model/model.h"

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
    size_t threads = j->o->threads;
    if (threads == 0) {
        const long n = sysconf(_SC_NPROCESSORS_ONLN);
        threads = n > 0 ? (size_t)n : 1;
    }
    j->pool = trl_pool_new(threads);
    if (!j->pool)
        return trl_fail(err, TRL_ENOMEM, "cannot start %zu threads", threads);
    trl_status st = trl_design_build(&j->design, &j->corpus, &d, err);
    if (st != TRL_OK)
        return st;
    j->w = trl_alloc64(trl_design_alloc(&j->design), sizeof *j->w);
    if (!j->w)
        return trl_fail_mem(err);
    memset(j->w, 0, trl_design_alloc(&j->design) * sizeof *j->w);
    if (!trl_chain_objective(j->objective))
        return TRL_OK;
    st = trl_chain_task_init(&j->task, &j->corpus, j->order, j->objective, trl_session_lanes(j->o),
                             err);
    if (st == TRL_OK && trl_chain_training_single(j)) {
        j->task.single = !j->objective->needs_inference;
        if (!j->task.single)
            st = trl_chain_use_single(&j->task.chain, err);
    }
    return st;
}

static trl_status warm_start(trl_chain_training *j, trl_error *err)
{
    if (!j->o->init)
        return TRL_OK;
    trl_model *m = NULL;
    trl_status st = trl_model_open(j->o->init, &m, err);
    const trl_chain_model *c = st == TRL_OK ? trl_model_chain(m) : NULL;
    if (st == TRL_OK && !c)
        st = trl_fail(err, TRL_EMODEL, "a chain cannot start from a model of another kind");
    if (c)
        st = trl_chain_model_read_weights(c, &j->corpus, &j->design, j->w, err);
    if (c && st == TRL_OK)
        trl_chain_training_warn_start(j);
    trl_model_free(m);
    return st;
}

/* Memm and piecewise-nota look at few of the cells of pairs and triples that depend on the
 * position: *task is told which.  Batch optimisers only; others gather single examples. */
static trl_status select_cells(trl_chain_training *j, trl_task *task, trl_error *err)
{
    const char *optimizer = trl_chain_training_optimizer(j);
    const bool rows = j->design.family[TRL_EDGE].has_rows || j->design.family[TRL_TRI].has_rows;
    const trl_nota *nota = j->task.nota;
    *task = trl_chain_task_view(&j->task);
    trl_selection_fini(&j->only);
    if (!rows || !j->objective->selects_sources || (nota && nota->all) ||
        (strcmp(optimizer, "lbfgs") != 0 && strcmp(optimizer, "owlqn") != 0))
        return TRL_OK;
    const trl_status st = trl_select_sources(&j->only, &j->design, &j->corpus, nota, err);
    task->only = st == TRL_OK ? &j->only : NULL;
    return st;
}

/* Marginal selection first trains the MEMM for K iterations.  *s becomes the session of what
 * follows: the weights between the two are kept in its checkpoints, which are told apart by their
 * fingerprints. */
static trl_status first_stage(trl_chain_training *j, trl_session *s, trl_train_options *o,
                              double **base, trl_train_result *result, trl_error *err)
{
    bool second = false; /* resumes behind it */
    trl_status st = o->resume ? trl_session_base(s, j->w, &second, err) : TRL_OK;
    if (st != TRL_OK)
        return st;
    if (!second) {
        trl_train_options first = *o;
        trl_session begin = *s;
        first.max_iter = j->nota_options.after;
        first.patience = 0;
        begin.o = &first;
        begin.fingerprint = ~s->fingerprint;
        begin.score_dev = NULL;
        st = trl_session_run(&begin, j->objective->smooth, j->w, result, err);
        if (st != TRL_OK || result->stopped)
            return st;
    }
    const size_t n = trl_session_weights(s);
    *base = trl_alloc(n + 1, sizeof **base);
    if (!*base)
        return trl_fail_mem(err);
    memcpy(*base, j->w, n * sizeof **base);
    o->resume = second;
    s->base = *base;
    return TRL_OK;
}

static trl_status choose_instances(trl_chain_training *j, trl_session *s, trl_task *task,
                                   trl_train_options *o, double **base, trl_train_result *result,
                                   trl_error *err)
{
    const trl_nota_options *n = &j->nota_options;
    trl_status st = TRL_OK;
    if (n->kind == TRL_NOTA_ALL)
        trl_nota_take_all(&j->nota, &j->corpus);
    else if (n->kind == TRL_NOTA_SAMPLE)
        st = trl_nota_take_sample(&j->nota, &j->corpus, n->p, j->o->seed, err);
    else if (n->after > 0) {
        st = select_cells(j, task, err);
        if (st == TRL_OK)
            st = first_stage(j, s, o, base, result, err);
    }
    if (st == TRL_OK && !result->stopped && n->kind == TRL_NOTA_MARGINAL)
        st = trl_nota_take_marginal(&j->nota, &j->corpus, &j->design, j->w, n->theta, true, j->pool,
                                    err);
    return st;
}

/* Piecewise training with none-of-the-above instances. */
static trl_status run_nota(trl_chain_training *j, const trl_session *s, trl_train_result *result,
                           trl_error *err)
{
    trl_task task = *s->task;
    trl_session own = *s;
    trl_train_options o = *s->o;
    double *base = NULL;
    own.task = &task;
    own.o = &o;
    trl_nota_init(&j->nota, &j->corpus, j->order);
    j->task.nota = &j->nota;
    trl_status st = choose_instances(j, &own, &task, &o, &base, result, err);
    if (st != TRL_OK || result->stopped) {
        trl_free(base);
        return st;
    }
    char note[80];
    snprintf(note, sizeof note, "%llu none-of-the-above instances",
             (unsigned long long)j->nota.n_instances);
    if (!trl_chain_training_report(j, "nota", note)) {
        st = select_cells(j, &task, err);
        if (st == TRL_OK)
            st = trl_session_run(&own, j->objective->smooth, j->w, result, err);
    }
    trl_free(base);
    return st;
}

/* The part that depends on the objective; j->w, and *result but for sizes and time. */
static trl_status train(trl_chain_training *j, trl_train_result *result, trl_error *err)
{
    trl_task task = trl_chain_task_view(&j->task);
    const trl_session s = {.o = j->o,
                           .d = &j->design,
                           .names = &j->corpus.family[TRL_NODE].names,
                           .task = &task,
                           .pool = j->pool,
                           .fingerprint = j->o->checkpoint ? trl_chain_training_fingerprint(j) : 0,
                           .started = j->started,
                           .score_dev = j->o->dev ? trl_dev_score : NULL,
                           .dev = &j->dev};
    if (j->objective->counted)
        return trl_chain_training_run_hmm(j, result, err);
    if (trl_chain_training_has_mest(j))
        return trl_chain_training_run_mest(j, &s, result, err);
    if (j->objective->has_nota)
        return run_nota(j, &s, result, err);
    const trl_status st = select_cells(j, &task, err);
    if (st != TRL_OK)
        return st;
    return trl_session_run(&s, j->objective->smooth, j->w, result, err);
}

/* What the data were taken for: a wrong guess shall be seen. */
static void report_read(const trl_chain_training *j)
{
    char note[120];
    if (j->format == TRL_FORMAT_CRFSUITE)
        snprintf(note, sizeof note, "as CRFsuite items: the label first, then attributes");
    else
        snprintf(note, sizeof note, "as %zu columns, the last one the label%s", j->corpus.n_columns,
                 j->o->template_text || j->objective->counted ? "" : "; built-in template");
    trl_chain_training_report(j, "read", j->o->format == TRL_FORMAT_GUESS ? note : NULL);
}

static trl_status run(trl_chain_training *j, trl_train_result *result, trl_error *err)
{
    trl_status st = trl_chain_training_read(j, err);
    if (st != TRL_OK)
        return st;
    report_read(j);
    trl_chain_training_warn_values(j);
    st = compile(j, err);
    if (st == TRL_OK)
        st = trl_chain_training_read_dev(j, err);
    if (st == TRL_OK)
        st = warm_start(j, err);
    if (st != TRL_OK)
        return st;
    trl_chain_training_report(j, "compiled", NULL);
    trl_chain_training_warn_features(j);
    st = train(j, result, err);
    if (st == TRL_OK && j->o->calibrate && !result->stopped)
        st = trl_chain_training_calibrate(j, result, err);
    if (st != TRL_OK)
        return st;
    result->n_features = j->design.n_live;
    result->dev_measure = !j->o->dev ? NULL : j->dev.chunks ? "F1" : "accuracy";
    for (uint64_t i = 0; i < j->design.n_weights; i++)
        result->n_active += j->w[i] != 0.0;
    st = trl_chain_training_write(j, result, err);
    result->seconds = trl_clock() - j->started;
    trl_chain_training_report(j, "done", result->ending);
    return st;
}

trl_status trl_train_chain(const trl_train_options *o, trl_train_result *result, trl_error *err)
{
    trl_chain_training j = {.o = o, .started = trl_clock()};
    trl_status st = trl_chain_training_check(&j, err);
    if (st == TRL_OK)
        st = run(&j, result, err);
    trl_dev_fini(&j.dev);
    trl_chain_task_fini(&j.task);
    trl_nota_fini(&j.nota);
    trl_selection_fini(&j.only);
    trl_design_fini(&j.design);
    trl_corpus_fini(&j.corpus);
    trl_template_free(j.tpl);
    trl_pool_free(j.pool);
    trl_mest_free(j.mest);
    trl_hmm_fini(&j.q0);
    trl_column_values_fini(&j.cells);
    trl_free(j.E);
    trl_free(j.calibration);
    trl_free(j.w);
    return st;
}
