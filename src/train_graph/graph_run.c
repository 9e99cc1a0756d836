/* graph_run.c -- trl_train for graphs: a model file and columns -> graphs -> session -> model. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/spill.h"
#include "graph_model/graph_model.h"
#include "train/places.h"
#include "train/memory_plan.h"

bool trl_graph_run_report(const trl_graph_run *j, const char *stage, const char *note)
{
    if (!j->o->progress)
        return false;
    uint64_t attributes = 0, labels = 0;
    for (size_t f = 0; f < j->corpus.corpus.n_families; f++)
        attributes += j->corpus.corpus.family[f].names.n;
    for (size_t k = 0; k < j->spec->n_layers; k++)
        labels += j->n_labels[k];
    const trl_progress p = {.stage = stage,
                            .objective = NAN,
                            .gradient = NAN,
                            .dev_score = NAN,
                            .dev_best = NAN,
                            .seconds = trl_clock() - j->started,
                            .seconds_left = NAN,
                            .n_sequences = j->n_sentences,
                            .n_tokens = j->n_tokens,
                            .n_labels = labels,
                            .n_attributes = attributes,
                            .n_features = j->training.design.n_live,
                            .note = note};
    return j->o->progress(j->o->progress_ctx, &p);
}

/* ---- options --------------------------------------------------------------------------------- */

typedef struct named {
    const char *name;
    int value;
} named;

static trl_status find_named(const named *list, const char *what, const char *name, int *out,
                             trl_error *err)
{
    char all[120] = "";
    size_t n = 0;
    for (const named *x = list; x->name; x++) {
        if (strcmp(x->name, name) == 0) {
            *out = x->value;
            return TRL_OK;
        }
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", n ? ", " : "", x->name);
    }
    return trl_fail(err, TRL_EINVAL, "%s '%s' is not known: use %s", what, name, all);
}

/* How inference goes in training; whether the numbers make sense is checked by plans. */
static trl_status check_inference(trl_graph_run *j, trl_error *err)
{
    static const named methods[] = {
        {"exact", TRL_INFER_EXACT}, {"bp", TRL_INFER_BP}, {"mplp", TRL_INFER_MPLP}, {NULL, 0}};
    static const named schedules[] = {{"flooding", TRL_SCHEDULE_FLOODING},
                                      {"sequential", TRL_SCHEDULE_SEQUENTIAL},
                                      {"residual", TRL_SCHEDULE_RESIDUAL},
                                      {"tree", TRL_SCHEDULE_TREE},
                                      {NULL, 0}};
    const trl_train_options *o = j->o;
    int method = TRL_INFER_EXACT, schedule = TRL_SCHEDULE_SEQUENTIAL;
    trl_status st =
        o->inference ? find_named(methods, "inference", o->inference, &method, err) : TRL_OK;
    if (st == TRL_OK && o->schedule)
        st = find_named(schedules, "schedule", o->schedule, &schedule, err);
    if (st != TRL_OK)
        return st;
    if (!(o->damping >= 0.0 && o->damping < 1.0))
        return trl_fail(err, TRL_EINVAL, "damping must be in [0, 1): %g", o->damping);
    if (!(o->tolerance > 0.0 && isfinite(o->tolerance)))
        return trl_fail(err, TRL_EINVAL, "tolerance must be above 0: %g", o->tolerance);
    if (!(o->max_cells >= 1.0))
        return trl_fail(err, TRL_EINVAL, "max-cells must be above 0: %g", o->max_cells);
    j->infer = trl_infer_options_default();
    j->infer.method = (trl_infer_method)method;
    j->infer.schedule = (trl_infer_schedule)schedule;
    j->infer.damping = o->damping;
    j->infer.tolerance = o->tolerance;
    j->infer.max_updates = o->max_updates;
    j->infer.max_cells = o->max_cells;
    j->infer.second_start = o->second_start;
    return TRL_OK;
}

/* Options of inference that the objective has no use for: the run is not what they say. */
static void warn_unused(const trl_graph_run *j, const trl_objective *objective)
{
    char note[160];
    const bool sends = objective->id == TRL_OBJ_BETHE || objective->id == TRL_OBJ_TRW;
    const char *name = j->o->inference && objective->id != TRL_OBJ_PERCEPTRON ? "inference"
                       : j->o->keep_messages && !sends                        ? "keep-messages"
                                                                              : NULL;
    if (!name)
        return;
    snprintf(note, sizeof note, "'%s' makes no difference: the objective %s does not use it", name,
             objective->name);
    trl_graph_run_report(j, "warning", note);
}

static trl_status check(trl_graph_run *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    const trl_objective *objective;
    const trl_optimizer *optimizer;
    trl_status st = trl_objective_choose(o->objective, TRL_KIND_GRAPH, &objective, err);
    if (st == TRL_OK)
        st = trl_optimizer_choose(o, objective, TRL_KIND_GRAPH, &optimizer, err);
    if (st == TRL_OK)
        st = check_inference(j, err);
    if (st == TRL_OK)
        st = trl_check_places(o, err);
    if (st == TRL_OK)
        st = trl_graph_run_read_spec(j, err);
    if (st == TRL_OK) {
        warn_unused(j, objective);
        st = trl_check_writable(o->model, err);
    }
    return st == TRL_OK ? trl_check_writable(o->checkpoint, err) : st;
}

/* ---- stages ---------------------------------------------------------------------------------- */

static trl_status read_data(void *run, trl_train_result *result, trl_error *err)
{
    trl_graph_run *j = run;
    (void)result;
    trl_status st = trl_graph_run_read(j, err);
    if (st != TRL_OK)
        return st;
    trl_spill *before = trl_spill_use(j->spill);
    st = trl_graph_run_unroll(j, err);
    trl_spill_use(before);
    return st;
}

static void report_read(const trl_graph_run *j)
{
    char note[160];
    uint64_t factors = 0;
    for (size_t k = 0; k < j->corpus.n; k++)
        factors += trl_graph_look(j->corpus.example[k].graph).n_factors;
    snprintf(note, sizeof note, "%zu graphs of %zu columns, %llu factors of %zu kinds", j->corpus.n,
             j->n_columns, (unsigned long long)factors, j->spec->n_factors);
    trl_graph_run_report(j, "read", note);
}

/* A line that makes no factor is as good as not there: perhaps its condition is not what was meant.
 */
static void warn_missing_factors(const trl_graph_run *j)
{
    bool made[TRL_FAMILIES_MAX] = {false};
    for (size_t k = 0; k < j->corpus.n; k++) {
        const trl_graph_example *e = &j->corpus.example[k];
        for (size_t a = 0; a < trl_graph_look(e->graph).n_factors; a++)
            if (e->family[a] != TRL_NO_TEMPLATE)
                made[e->family[a]] = true;
    }
    for (size_t f = 0; f < j->spec->n_factors; f++) {
        char note[200];
        snprintf(note, sizeof note, "%.100s:%llu: there is no place in the data for this factor",
                 j->spec_name, (unsigned long long)j->spec->factor[f].row);
        if (!made[f])
            trl_graph_run_report(j, "warning", note);
    }
}

/* A factor of several labels that is normalised by itself and sees no text prefers the most
 * frequent labels, which the other factors have counted already. */
static void warn_blind_factors(const trl_graph_run *j)
{
    const trl_graph_spec *s = j->spec;
    const trl_objective_id id = j->training.objective->id;
    const trl_factor_spec *first = NULL;
    size_t n = 0;
    bool sees = false;
    for (size_t f = 0; f < s->n_factors; f++) {
        const bool alone =
            id == TRL_OBJ_PWPL || (id == TRL_OBJ_PIECEWISE && s->piece[f] == TRL_NO_PIECE);
        const bool blind = alone && s->factor[f].n > 1 && s->factor[f].n_sights == 0;
        sees = sees || s->factor[f].n_sights > 0;
        first = blind && !first ? &s->factor[f] : first;
        n += blind;
    }
    if (!sees || !first)
        return;
    char note[400], others[60] = "";
    if (n > 1)
        snprintf(others, sizeof others, " (as %zu more)", n - 1);
    snprintf(
        note, sizeof note,
        "%.100s:%llu: this factor sees no text%s: trained by itself it prefers frequent labels, "
        "whatever the text; give it features%s",
        j->spec_name, (unsigned long long)first->row, others,
        id == TRL_OBJ_PIECEWISE ? ", or join it with others by a line 'piece'" : "");
    trl_graph_run_report(j, "warning", note);
}

static trl_status dev_score(void *self, const double *x, double *score, trl_error *err)
{
    trl_graph_run *j = ((trl_graph_training *)self)->run;
    return trl_graph_dev_score(&j->dev, x, score, err);
}

/* What training takes beside the graphs themselves. */
static void say_memory(const trl_graph_run *j)
{
    char note[200];
    uint64_t on_heap, in_files = 0;
    if (j->spill)
        trl_spill_bytes(j->spill, &on_heap, &in_files);
    const trl_memory_plan p =
        trl_memory_plan_of(&j->training.design, &j->corpus.corpus, j->training.optimizer, j->o);
    trl_memory_plan_say(&p, in_files, note, sizeof note);
    trl_graph_run_report(j, "memory", note);
}

static trl_status make_features(void *run, trl_train_result *result, trl_error *err)
{
    trl_graph_run *j = run;
    report_read(j);
    warn_missing_factors(j);
    trl_spill *before = trl_spill_use(j->spill);
    trl_status st = trl_graph_training_init(&j->training, &j->corpus, j->o, &j->infer, err);
    trl_spill_use(before);
    j->trains = st == TRL_OK;
    if (st == TRL_OK)
        st = trl_graph_run_read_dev(j, err);
    if (st == TRL_OK)
        st = trl_graph_run_start(j, err);
    if (st != TRL_OK)
        return st;
    trl_graph_run_report(j, "compiled", NULL);
    warn_blind_factors(j);
    say_memory(j);
    j->training.run = j;
    j->training.session.started = j->started;
    j->training.learner.score = trl_has_dev(j->o) ? dev_score : NULL;
    result->n_features = j->training.design.n_live;
    result->optimizer = j->training.optimizer->name;
    result->dev_measure = trl_has_dev(j->o) ? trl_graph_dev_measure(&j->dev) : NULL;
    return TRL_OK;
}

static trl_status weights(void *run, trl_train_result *result, trl_error *err)
{
    trl_graph_run *j = run;
    return trl_graph_training_run(&j->training, result, err);
}

static void put_settings(const trl_graph_run *j, const trl_train_result *r, trl_buf *s)
{
    const trl_train_options *o = j->o;
    trl_buf_fmt(s, "trellis %s\nobjective %s\noptimizer %s\nc1 %.17g\nc2 %.17g\n", TRL_VERSION,
                j->training.objective->name, j->training.optimizer->name, o->c1, o->c2);
    trl_buf_fmt(s, "pairs %s\nmin-count %zu\nseed %llu\niterations %llu\n",
                o->all_pairs ? "all" : "seen", o->min_count, (unsigned long long)o->seed,
                (unsigned long long)r->iterations);
    if (trl_has_dev(o))
        trl_buf_fmt(s, "saved-iteration %llu\nobjective-value %.9g\ndev-%s %.4f\n",
                    (unsigned long long)r->saved_iteration, r->objective, r->dev_measure,
                    r->dev_score);
    trl_buf_ch(s, '\0');
}

static trl_status write_model(trl_graph_run *j, const trl_train_result *r, trl_error *err)
{
    trl_buf s = {0};
    unsigned char *bytes = NULL;
    size_t n = 0;
    put_settings(j, r, &s);
    const trl_graph_model_parts parts = {.spec = j->spec,
                                         .objective = j->training.objective->name,
                                         .settings = s.data,
                                         .is_probability = j->training.objective->probabilistic,
                                         .n_columns = j->n_columns,
                                         .labels = j->labels,
                                         .corpus = &j->corpus.corpus,
                                         .design = &j->training.design,
                                         .w = j->training.w,
                                         .rescue = j->o->rescue};
    const trl_status st =
        s.failed ? trl_fail_mem(err) : trl_graph_model_write(&parts, j->o->model, &bytes, &n, err);
    if (st == TRL_OK && !j->o->model) {
        trl_buf_fini(j->o->model_out);
        *j->o->model_out = (trl_buf){.data = (char *)bytes, .len = n, .cap = n};
    }
    trl_buf_fini(&s);
    return st;
}

static trl_status save(void *run, trl_train_result *result, trl_error *err)
{
    trl_graph_run *j = run;
    j->training.cancel.held = true;
    const trl_status st = write_model(j, result, err);
    result->seconds = trl_clock() - j->started;
    trl_graph_run_report(j, "done", result->ending);
    return st;
}

static const trl_stage stages[] = {{"the data", read_data, false},
                                   {"features, dev set, start", make_features, false},
                                   {"weights", weights, true},
                                   {"the model", save, false},
                                   {0}};

static void fini(trl_graph_run *j)
{
    trl_graph_dev_fini(&j->dev);
    if (j->trains)
        trl_graph_training_fini(&j->training);
    trl_graph_corpus_fini(&j->corpus);
    for (size_t k = 0; k < j->n_units; k++)
        trl_graph_unit_fini(&j->unit[k]);
    trl_free(j->unit);
    for (size_t k = 0; k < TRL_LAYERS_MAX; k++)
        trl_strtab_fini(&j->labels[k]);
    trl_graph_spec_free(j->spec);
    trl_free(j);
}

trl_status trl_train_graph(const trl_train_options *o, trl_train_result *result, trl_error *err)
{
    trl_graph_run *j = trl_zalloc(1, sizeof *j);
    if (!j)
        return trl_fail_mem(err);
    j->o = o;
    j->started = trl_clock();
    uint64_t limit;
    trl_status st = check(j, err);
    if (st == TRL_OK && o->memory_limit && trl_size_read(o->memory_limit, &limit))
        st = trl_spill_new(limit / 2, &j->spill, err); /* the rest is for graphs and weights */
    if (st == TRL_OK)
        st = trl_stages_run(stages, j, result, err);
    if (st == TRL_ENOMEM && j->spill && trl_spill_check(j->spill, err) != TRL_OK)
        st = TRL_EIO;
    trl_spill *spill = j->spill;
    fini(j);
    trl_spill_free(spill);
    return st;
}
