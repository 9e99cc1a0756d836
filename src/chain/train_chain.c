/* train_chain.c -- trl_train for chains: files -> corpus -> design -> session -> model. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "chain/chain_task.h"
#include "chain/dev_score.h"
#include "chain/nota.h"
#include "feature/default_template.h"
#include "model/chain_model.h"
#include "model/model.h"
#include "train/session.h"
#include "trellis/train.h"

typedef struct job {
    const trl_train_options *o;
    const trl_objective     *objective;
    bool                     smooth;
    int                      order;
    trl_template            *tpl; /* NULL for items */
    trl_format               format; /* of the sequences so far; TRL_FORMAT_GUESS: none yet */
    trl_corpus               corpus;
    trl_design               design;
    trl_pool                *pool;
    trl_chain_task           task;
    trl_nota_options         nota_options;
    trl_nota                 nota; /* piecewise-nota only */
    trl_dev                  dev;
    double                  *w;
    uint64_t                 n_read; /* training sequences, those held out included */
    double                   started;
} job;

trl_train_options trl_train_options_default(void)
{
    return (trl_train_options){.kind = "chain",
                               .objective = "likelihood",
                               .c2 = 1.0,
                               .epsilon = 1e-5,
                               .period = 10,
                               .delta = 1e-5,
                               .memory = 6,
                               .seed = 1,
                               .checkpoint_every = 10};
}

/* ---- options ------------------------------------------------------------------------ */

static trl_status unknown_objective(const char *name, trl_error *err)
{
    char list[200] = "";
    size_t n = 0;
    for (size_t k = 0; trl_objective_at(k) && n < sizeof list; k++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", k ? ", " : "",
                              trl_objective_at(k)->name);
    return trl_fail(err, TRL_EINVAL, "objective '%s' is none of %s", name, list);
}

/* Single precision leaves the objective a noise of some 1e-8 of it (docs/numerics.md): no harm
 * unless the run is to go on until smaller changes, or, as SAG does to find its steps, compares
 * single examples at points close to each other.  A choice for the whole run. */
static bool single_precision(const job *j)
{
    const trl_train_options *o = j->o;
    if (strcmp(j->objective->name, "likelihood") != 0 ||
        strcmp(trl_session_optimizer(o, j->smooth), "sag") == 0)
        return false;
    return o->precision ? strcmp(o->precision, "single") == 0
                        : o->period > 0 && o->delta >= 1e-6;
}

/* Can the file be written?  Better known now than after hours of training.  What is no regular
 * file is not touched before its time. */
static trl_status probe(const char *path, trl_error *err)
{
    struct stat sb;
    if (!path || (stat(path, &sb) == 0 && !S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode)))
        return TRL_OK;
    trl_writer *w = NULL;
    const trl_status st = trl_writer_open(path, &w, err);
    trl_writer_abort(w);
    return st;
}

static trl_status check(job *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    if (strcmp(o->kind, "chain") != 0)
        return trl_fail(err, TRL_EINVAL, "kind '%s' is not known: use chain", o->kind);
    j->objective = trl_objective_find(o->objective);
    if (!j->objective)
        return unknown_objective(o->objective, err);
    j->smooth = strcmp(j->objective->name, "perceptron") != 0;
    if (o->n_train == 0)
        return trl_fail(err, TRL_EINVAL, "no training file is given");
    if (!o->model)
        return trl_fail(err, TRL_EINVAL, "no model file is given");
    if (o->order < 0 || o->order > 2)
        return trl_fail(err, TRL_EINVAL, "the order is 1 or 2, not %d", o->order);
    if (o->precision && strcmp(o->precision, "single") != 0 &&
        strcmp(o->precision, "double") != 0)
        return trl_fail(err, TRL_EINVAL, "precision '%s' is not known: use single or double",
                        o->precision);
    if (o->nota && strcmp(j->objective->name, "piecewise-nota") != 0)
        return trl_fail(err, TRL_EINVAL, "nota goes with the objective piecewise-nota, not %s",
                        j->objective->name);
    trl_status st = trl_nota_parse(o->nota ? o->nota : "all", &j->nota_options, err);
    if (st != TRL_OK)
        return st;
    if (o->template_text && o->format == TRL_FORMAT_CRFSUITE)
        return trl_fail(err, TRL_EINVAL, "a template goes with columns, not with CRFsuite items");
    st = trl_session_check(o, j->smooth, err);
    if (st == TRL_OK)
        st = probe(o->model, err);
    return st == TRL_OK ? probe(o->checkpoint, err) : st;
}

/* ---- reading ------------------------------------------------------------------------ */

/* The template must be known before the first sequence of columns is expanded. */
static trl_status need_template(job *j, const trl_rows *seq, trl_error *err)
{
    trl_status st = TRL_OK;
    if (!j->tpl) {
        const char *text = j->o->template_text;
        size_t size = j->o->template_size;
        if (!text) {
            text = trl_default_template(seq->n_columns);
            size = strlen(text);
        }
        st = trl_template_parse(j->o->template_name ? j->o->template_name : "<template>", text,
                                size, &j->tpl, err);
        if (st == TRL_OK)
            st = trl_corpus_use_template(&j->corpus, j->tpl, err);
    }
    const size_t before = j->corpus.n_columns;
    if (st == TRL_OK && before && seq->n_columns != before) {
        st = trl_fail(err, TRL_EPARSE, "%zu columns where %zu were found before",
                      seq->n_columns, before);
        trl_fail_where(err, st, seq->path, seq->first_row, 0);
    } else if (st == TRL_OK && trl_template_columns(j->tpl) >= seq->n_columns) {
        uint64_t row, col;
        trl_template_place(j->tpl, seq->n_columns - 1, &row, &col);
        st = trl_fail(err, TRL_EPARSE,
                      "column %zu is asked for, but the data have %zu columns, the last one "
                      "being the label",
                      trl_template_columns(j->tpl) - 1, seq->n_columns);
        trl_fail_where(err, st, j->o->template_name ? j->o->template_name : "<template>", row,
                       col);
    }
    return st;
}

/* All files of a run have one format. */
static trl_status same_format(job *j, trl_format format, const char *path, trl_error *err)
{
    if (j->format == TRL_FORMAT_GUESS)
        j->format = format;
    if (j->format == format)
        return TRL_OK;
    static const char *const name[] = {"", "columns", "CRFsuite items"};
    const trl_status st = trl_fail(err, TRL_EPARSE, "this looks like %s, the data before like %s",
                                   name[format], name[j->format]);
    trl_fail_where(err, st, path, 0, 0);
    return trl_fail_hint(err, st, "say which it is: --format columns or --format crfsuite");
}

static bool held_out(job *j, const trl_corpus *c)
{
    return c == &j->corpus && j->o->hold_out && ++j->n_read % j->o->hold_out == 0;
}

/* All sequences of one file into c (the training corpus, or a dev set with frozen columns). */
static trl_status read_file(job *j, const char *path, trl_corpus *c, trl_error *err)
{
    trl_reader *r = NULL;
    const trl_format want = j->o->template_text ? TRL_FORMAT_COLUMNS : j->o->format;
    trl_status st = trl_reader_open(path, want, &r, err);
    const bool columns = st == TRL_OK && trl_reader_format(r) == TRL_FORMAT_COLUMNS;
    for (bool more = true; st == TRL_OK && more;) {
        if (columns) {
            trl_rows seq;
            st = trl_reader_rows(r, &seq, &more, err);
            if (st == TRL_OK && more)
                st = same_format(j, TRL_FORMAT_COLUMNS, path, err);
            if (st == TRL_OK && more)
                st = need_template(j, &seq, err);
            if (st == TRL_OK && more && !held_out(j, c))
                st = trl_corpus_add_rows(c, j->tpl, &seq, err);
        } else {
            trl_items seq;
            st = trl_reader_items(r, &seq, &more, err);
            if (st == TRL_OK && more)
                st = same_format(j, TRL_FORMAT_CRFSUITE, path, err);
            if (st == TRL_OK && more && !held_out(j, c))
                st = trl_corpus_add_items(c, &seq, err);
        }
    }
    trl_reader_free(r);
    return st;
}

/* Label bigrams (and trigrams) that no template asks for. */
static trl_status default_transitions(job *j, trl_error *err)
{
    bool pairs = j->tpl == NULL, triples = false;
    for (size_t k = 0; j->tpl && k < trl_template_count(j->tpl); k++)
        triples = triples || (trl_template_cliques(j->tpl, k) & TRL_ON_TRIPLE);
    j->order = j->o->order ? j->o->order : triples ? 2 : 1;
    if (triples && j->order == 1)
        return trl_fail(err, TRL_EINVAL, "the template has label triples: they need order 2");
    trl_status st = TRL_OK;
    if (pairs)
        st = trl_corpus_set_constant(&j->corpus, TRL_EDGE, err);
    if (st == TRL_OK && j->order == 2 && !triples)
        st = trl_corpus_set_constant(&j->corpus, TRL_TRI, err);
    return st;
}

static trl_status read_all(job *j, trl_error *err)
{
    trl_status st = trl_corpus_init(&j->corpus, err);
    for (size_t k = 0; st == TRL_OK && k < j->o->n_train; k++)
        st = read_file(j, j->o->train[k], &j->corpus, err);
    if (st == TRL_OK && j->corpus.n_tokens == 0) {
        st = trl_fail(err, TRL_EPARSE, "there are no sequences in it");
        trl_fail_where(err, st, j->o->train[0], 0, 0);
    }
    return st == TRL_OK ? default_transitions(j, err) : st;
}

static trl_status read_dev(job *j, trl_error *err)
{
    if (!j->o->dev)
        return TRL_OK;
    trl_corpus *c = &j->dev.corpus;
    trl_status st = trl_corpus_init(c, err);
    if (st == TRL_OK)
        st = read_file(j, j->o->dev, c, err);
    if (st == TRL_OK && c->n_tokens == 0) {
        st = trl_fail(err, TRL_EPARSE, "there are no sequences in it");
        trl_fail_where(err, st, j->o->dev, 0, 0);
    }
    if (st == TRL_OK)
        st = trl_dev_init(&j->dev, &j->corpus, &j->design, j->objective, j->pool, err);
    return st;
}

/* ---- the run ------------------------------------------------------------------------ */

static bool report(const job *j, const char *stage, const char *note)
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

static trl_status compile(job *j, trl_error *err)
{
    const trl_design_options d = {.order = j->order,
                                  .all_pairs = j->o->all_pairs,
                                  .all_transitions = j->o->all_transitions,
                                  .min_count = j->o->min_count};
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
    st = trl_chain_task_init(&j->task, &j->corpus, j->order, j->objective,
                             trl_session_lanes(j->o), err);
    if (st == TRL_OK && single_precision(j))
        st = trl_chain_use_single(&j->task.chain, err);
    return st;
}

static trl_status warm_start(job *j, trl_error *err)
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
    trl_model_free(m);
    return st;
}

/* ---- what a checkpoint must agree with ------------------------------------------------ */

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    const uint64_t parts[2] = {h, n ? trl_str_hash(bytes, n) : 0};
    return trl_str_hash((const char *)parts, sizeof parts);
}

static uint64_t mix_names(uint64_t h, const trl_strtab *t)
{
    return mix(mix(h, t->pool, t->pool_len), t->end, t->n * sizeof *t->end);
}

static uint64_t mix_corpus(uint64_t h, const trl_corpus *c)
{
    h = mix_names(h, &c->labels);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        h = mix_names(h, &c->family[f].names);
    h = mix(h, c->label, c->n_tokens * sizeof *c->label);
    h = mix(h, c->first, (c->n_sequences + 1) * sizeof *c->first);
    return mix(h, c->weight, c->n_sequences * sizeof *c->weight);
}

/* What is on where, with its value. */
static uint64_t mix_lists(uint64_t h, const trl_design *d)
{
    for (size_t k = 0; k <= (size_t)d->order; k++) {
        const trl_family *f = &d->family[k];
        const size_t rows = (size_t)f->dense_begin[d->n_tokens];
        const size_t entries = (size_t)f->entry_begin[d->n_tokens];
        h = mix(h, f->dense_row, rows * sizeof *f->dense_row);
        h = mix(h, f->entry, entries * sizeof *f->entry);
        h = mix(h, f->dense_value, f->dense_value ? rows * sizeof *f->dense_value : 0);
        h = mix(h, f->entry_value, f->entry_value ? entries * sizeof *f->entry_value : 0);
    }
    return h;
}

/* Of the data, the features and the options that steer the numbers. */
static uint64_t fingerprint(const job *j)
{
    const trl_train_options *o = j->o;
    const uint64_t counts[] = {j->design.n_weights, j->design.n_live, (uint64_t)j->order,
                               o->period,           o->memory,        o->batch,
                               o->seed,             single_precision(j)};
    const double numbers[] = {o->c1, o->c2, o->epsilon, o->delta, o->eta};
    const char *optimizer = trl_session_optimizer(o, j->smooth);
    uint64_t h = mix(0, counts, sizeof counts);
    h = mix(h, numbers, sizeof numbers);
    h = mix(h, j->objective->name, strlen(j->objective->name));
    h = mix(h, optimizer, strlen(optimizer));
    h = mix_lists(mix_corpus(h, &j->corpus), &j->design);
    return o->dev ? mix_lists(mix_corpus(h, &j->dev.corpus), &j->dev.design) : h;
}

/* ---- the model ------------------------------------------------------------------------ */

static trl_status write_model(job *j, const trl_train_result *r, trl_error *err)
{
    const trl_train_options *o = j->o;
    trl_buf s = {0};
    trl_buf_fmt(&s, "trellis %s\nobjective %s\noptimizer %s\norder %d\nc1 %.17g\nc2 %.17g\n",
                TRL_VERSION, j->objective->name, trl_session_optimizer(o, j->smooth), j->order,
                o->c1, o->c2);
    trl_buf_fmt(&s, "pairs %s\ntransitions %s\nmin-count %zu\nseed %llu\niterations %llu\n",
                o->all_pairs ? "all" : "seen", o->all_transitions ? "all" : "seen", o->min_count,
                (unsigned long long)o->seed, (unsigned long long)r->iterations);
    trl_buf_ch(&s, '\0');
    trl_status st = s.failed ? trl_fail_mem(err) : TRL_OK;
    if (st == TRL_OK) {
        const trl_chain_model_spec spec = {.corpus = &j->corpus,
                                           .design = &j->design,
                                           .w = j->w,
                                           .tpl = j->tpl,
                                           .objective = j->objective->name,
                                           .settings = s.data,
                                           .is_probability = j->objective->is_probability};
        st = trl_chain_model_write(&spec, o->model, err);
    }
    trl_buf_fini(&s);
    return st;
}

/* Piecewise training with none-of-the-above instances.  Marginal selection first trains the
 * MEMM for K iterations, chooses, and goes on from there; a resumed run repeats those K. */
static trl_status run_nota(job *j, const trl_session *s, trl_train_result *result,
                           trl_error *err)
{
    const trl_nota_options *n = &j->nota_options;
    trl_status st = TRL_OK;
    trl_nota_init(&j->nota, &j->corpus, j->order);
    j->task.nota = &j->nota;
    if (n->kind == TRL_NOTA_ALL) {
        trl_nota_take_all(&j->nota, &j->corpus);
    } else if (n->kind == TRL_NOTA_SAMPLE) {
        st = trl_nota_take_sample(&j->nota, &j->corpus, n->p, j->o->seed, err);
    } else if (n->after > 0) {
        trl_train_options first = *j->o;
        first.max_iter = n->after;
        first.checkpoint = NULL;
        first.resume = false;
        trl_session begin = *s;
        begin.o = &first;
        begin.score_dev = NULL;
        st = trl_session_run(&begin, j->smooth, j->w, result, err);
    }
    if (st == TRL_OK && n->kind == TRL_NOTA_MARGINAL)
        st = trl_nota_take_marginal(&j->nota, &j->corpus, &j->design, j->w, n->theta, true,
                                    j->pool, err);
    if (st != TRL_OK)
        return st;
    char note[80];
    snprintf(note, sizeof note, "%llu none-of-the-above instances",
             (unsigned long long)j->nota.n_instances);
    if (result->stopped || report(j, "nota", note))
        return TRL_OK;
    return trl_session_run(s, j->smooth, j->w, result, err);
}

static trl_status run(job *j, trl_train_result *result, trl_error *err)
{
    trl_status st = read_all(j, err);
    if (st != TRL_OK)
        return st;
    report(j, "read", NULL);
    st = compile(j, err);
    if (st == TRL_OK)
        st = read_dev(j, err);
    if (st == TRL_OK)
        st = warm_start(j, err);
    if (st != TRL_OK)
        return st;
    report(j, "compiled", NULL);
    const trl_task task = trl_chain_task_view(&j->task);
    const trl_session s = {.o = j->o,
                           .d = &j->design,
                           .names = &j->corpus.family[TRL_NODE].names,
                           .task = &task,
                           .pool = j->pool,
                           .fingerprint = j->o->checkpoint ? fingerprint(j) : 0,
                           .started = j->started,
                           .score_dev = j->o->dev ? trl_dev_score : NULL,
                           .dev = &j->dev};
    st = strcmp(j->objective->name, "piecewise-nota") == 0
             ? run_nota(j, &s, result, err)
             : trl_session_run(&s, j->smooth, j->w, result, err);
    if (st != TRL_OK)
        return st;
    result->n_features = j->design.n_live;
    for (uint64_t i = 0; i < j->design.n_weights; i++)
        result->n_active += j->w[i] != 0.0;
    st = write_model(j, result, err);
    result->seconds = trl_clock() - j->started;
    report(j, "done", result->ending);
    return st;
}

trl_status trl_train(const trl_train_options *o, trl_train_result *result, trl_error *err)
{
    trl_train_result local;
    result = result ? result : &local;
    *result = (trl_train_result){.objective = NAN, .dev_score = NAN};
    job j = {.o = o, .started = trl_clock()};
    trl_status st = check(&j, err);
    if (st == TRL_OK)
        st = run(&j, result, err);
    trl_dev_fini(&j.dev);
    trl_chain_task_fini(&j.task);
    trl_nota_fini(&j.nota);
    trl_design_fini(&j.design);
    trl_corpus_fini(&j.corpus);
    trl_template_free(j.tpl);
    trl_pool_free(j.pool);
    trl_free(j.w);
    return st;
}
