/* cmd_cv.c -- trellis cv: cross-validation. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cv_labels.h"
#include "help.h"
#include "memory.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "signals.h"
#include "train_settings.h"
#include "trellis/cv.h"
#include "verbs.h"

typedef struct settings {
    train_settings base; /* first: the shared tables count on it */
    trl_cv_options cv;
    const char *output;
    bool json;
} settings;

#define CV_OPTION(name) OPTION_LIBRARY(name, trl_cv_option_table, settings, cv)

static option options[] = {
    {.help = "Files"},
    {"template", 't', OPTION_STRING, TRAIN_FIELD(template_path), .value = "FILE",
     .file = FILE_INPUT, .fallback = "a built-in one",
     .help = "template for columns: a file (in words, of CRF++ or of Wapiti), or ner, pos, chunk, "
             "address; of graphs the model file"},
    {TRAIN_OPTION("format"), .letter = 'f'},
    {TRAIN_OPTION("dev"), .letter = 'd'},
    {TRAIN_OPTION("init"), .letter = 'i'},
    {TRAIN_OPTION("keep-going")},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, output), .value = "FILE",
     .file = FILE_OUTPUT,
     .help = "write the data with the labels that models gave which had not seen them: a column "
             "more, or trees; '-' is standard output"},

    {.help = "Folds"},
    {CV_OPTION("folds"), .letter = 'k', .help = "parts into which the data are dealt, by --seed"},
    {CV_OPTION("documents")},
    {CV_OPTION("groups")},

#include "train_model_options.h"

#include "train_penalty_options.h"

#include "train_stop_options.h"
    {TRAIN_OPTION("patience")},

    {.help = "Others"},
    {"json", .type = OPTION_FLAG, OPTION_FIELD(settings, json),
     .help = "the results as JSON instead of a table"},
    {"quiet", 'q', OPTION_FLAG, TRAIN_FIELD(quiet), .help = "no progress, the table alone"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ =
        (settings){.base.train = trl_train_options_default(), .cv = trl_cv_options_default()};
}

/* ---- while it runs --------------------------------------------------------------------------- */

typedef struct state {
    const settings *s;
    progress shown;
    uint64_t begun;
    text rows; /* of the table, or of JSON */
    cv_labels labels;
} state;

static bool on_progress(void *ctx, const trl_progress *now)
{
    state *x = ctx;
    if (strcmp(now->stage, "read") == 0) {
        x->shown.shown = -1.0;
        if (!x->s->base.quiet)
            message_line("fold %" PRIu64 " of %" PRIu64, ++x->begun, x->s->cv.folds);
    }
    progress_show(&x->shown, now);
    return false;
}

static void add_heading(text *t, const trl_cv_fold *f)
{
    text_fmt(t, "%-9s %9s", "fold", "held out");
    for (size_t k = 0; k < TRL_CV_MEASURES && f->name[k]; k++)
        text_fmt(t, " %9s", f->name[k]);
    text_fmt(t, " %10s %8s\n", "iterations", "seconds");
}

static void add_value(text *t, double v)
{
    if (isnan(v))
        text_fmt(t, " %9s", "-");
    else
        text_fmt(t, " %9.2f", v);
}

static void add_json_values(text *t, const trl_cv_fold *f)
{
    text_fmt(t, "%s{\"fold\":%" PRIu64 ",\"held_out\":%" PRIu64, f->number ? "," : "",
             f->number + 1, f->n_held);
    for (size_t k = 0; k < TRL_CV_MEASURES && f->name[k]; k++) {
        text_fmt(t, ",\"%s\":", f->name[k]);
        text_json_real(t, f->value[k]);
    }
    text_fmt(t, ",\"iterations\":%" PRIu64 ",\"seconds\":", f->result.iterations);
    text_json_real(t, f->result.seconds);
    text_char(t, '}');
}

static trl_status on_fold(void *ctx, const trl_cv_fold *f, trl_error *err)
{
    (void)err;
    state *x = ctx;
    text *t = &x->rows;
    message_status(NULL);
    if (x->s->json) {
        add_json_values(t, f);
        return TRL_OK;
    }
    if (f->number == 0)
        add_heading(t, f);
    text_fmt(t, "%-9" PRIu64 " %9" PRIu64, f->number + 1, f->n_held);
    for (size_t k = 0; k < TRL_CV_MEASURES && f->name[k]; k++)
        add_value(t, f->value[k]);
    text_fmt(t, " %10" PRIu64 " %8.2f\n", f->result.iterations, f->result.seconds);
    return TRL_OK;
}

static trl_status on_labels(void *ctx, const trl_cv_labels *labels, trl_error *err)
{
    state *x = ctx;
    if (cv_labels_keep(&x->labels, labels))
        return TRL_OK;
    *err = (trl_error){.code = TRL_ENOMEM};
    snprintf(err->msg, sizeof err->msg, "out of memory for the labels of all folds");
    return TRL_ENOMEM;
}

/* ---- what comes out -------------------------------------------------------------------------- */

static void add_summary(text *t, const trl_cv_result *r)
{
    static const char *const name[] = {"mean", "deviation", "all"};
    for (size_t i = 0; i < 3; i++) {
        text_fmt(t, "%-9s %9s", name[i], "");
        for (size_t k = 0; k < r->n_measures; k++) {
            const trl_cv_measure *m = &r->measure[k];
            add_value(t, i == 0 ? m->mean : i == 1 ? m->deviation : m->all);
        }
        if (i == 0)
            text_fmt(t, " %10s %8.2f", "", r->seconds / (double)r->folds);
        text_char(t, '\n');
    }
}

static void add_json(text *out, const text *folds, const trl_cv_result *r)
{
    text_fmt(out, "{\"folds\":%" PRIu64 ",\"sequences\":%" PRIu64 ",\"groups\":%" PRIu64, r->folds,
             r->n_units, r->n_groups);
    text_str(out, ",\"measures\":{");
    for (size_t k = 0; k < r->n_measures; k++) {
        const trl_cv_measure *m = &r->measure[k];
        text_fmt(out, "%s\"%s\":{\"mean\":", k ? "," : "", m->name);
        text_json_real(out, m->mean);
        text_str(out, ",\"deviation\":");
        text_json_real(out, m->deviation);
        text_str(out, ",\"all\":");
        text_json_real(out, m->all);
        text_char(out, '}');
    }
    text_str(out, "},\"runs\":[");
    text_add(out, folds->p, folds->n);
    text_str(out, "]}\n");
}

static bool write_labels(const state *x, const trl_train_options *t)
{
    output o;
    if (!x->s->output)
        return true;
    if (!output_open(&o, x->s->output))
        return false;
    if (cv_labels_write(&x->labels, t, &o))
        return output_close(&o);
    output_discard(&o);
    return false;
}

/* On standard error, line by line; frees it. */
static int say(text *t)
{
    const bool ok = !t->failed;
    for (size_t i = 0, n; ok && i < t->n; i += n + 1) {
        const char *lf = memchr(t->p + i, '\n', t->n - i);
        n = lf ? (size_t)(lf - t->p) - i : t->n - i;
        message_line("%.*s", (int)n, t->p + i);
    }
    text_fini(t);
    return ok ? CLI_DONE : message_memory();
}

static int print_results(state *x, const trl_train_options *t, const trl_cv_result *r)
{
    text out = {0};
    if (x->s->json) {
        add_json(&out, &x->rows, r);
    } else {
        text_add(&out, x->rows.p, x->rows.n);
        add_summary(&out, r);
    }
    out.failed = out.failed || x->rows.failed;
    if (!write_labels(x, t)) {
        text_fini(&out);
        return CLI_FAILED;
    }
    return x->s->output && strcmp(x->s->output, "-") == 0 ? say(&out) : output_print(&out);
}

static int validate(settings *s, const operands *args)
{
    state x = {.s = s};
    trl_train_options *t = &s->base.train;
    progress_init(&x.shown, s->base.quiet);
    x.shown.trees = strcmp(t->kind, "tree") == 0;
    t->train = args->item;
    t->n_train = args->n;
    t->progress = on_progress;
    t->progress_ctx = &x;
    trl_cv_options *o = &s->cv;
    o->train = t;
    o->on_fold = on_fold;
    o->on_labels = s->output ? on_labels : NULL;
    o->ctx = &x;
    trl_cv_result result;
    trl_error err = {0};
    const trl_status st = trl_cv(o, &result, &err);
    message_status(NULL);
    int code = st == TRL_EINVAL ? CLI_USAGE : CLI_FAILED;
    if (st == TRL_OK)
        code = print_results(&x, t, &result);
    else
        message_error(&err);
    text_fini(&x.rows);
    cv_labels_fini(&x.labels);
    return code;
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    trl_train_options *t = &s->base.train;
    if (!train_set_variance(&s->base))
        return CLI_USAGE;
    if (t->patience && !t->dev)
        return message_usage("--patience needs --dev FILE, the data to score on");
    if (!memory_limit(s->base.max_memory, TRAIN_MEMORY))
        return CLI_USAGE;
    signals_end("stopped: there are no results yet");
    text template = {0};
    int code = CLI_FAILED;
    if (train_read_template(&s->base, &template) && (!s->output || output_check(s->output)))
        code = validate(s, args);
    text_fini(&template);
    return code;
}

const verb verb_cv = {
    .name = "cv",
    .summary = "cross-validation: how good models are on data not seen",
    .usage = "[OPTION]... TRAIN...",
    .description =
        "Deals the sequences of TRAIN (of --kind tree the trees, of --kind graph the graphs)\n"
        "into folds.  For every fold a model is trained on the others, as 'trellis train'\n"
        "does on a file without the fold, and scored on it.  All other options are those of\n"
        "'trellis train'.  No model is written.\n"
        "\n"
        "A table goes to standard output: a row for every fold, then the mean over folds,\n"
        "their standard deviation, and the score of all sequences together.  Measures are in\n"
        "percent: right tokens, whole sequences, and precision, recall and F1 of chunks, as\n"
        "conlleval counts them or, with --scheme, by that scheme; of trees those of EVALB,\n"
        "with the tags of the treebank.\n"
        "\n"
        "--output writes the data in their order with the label that each token got from the\n"
        "model which had not seen it as a last column, as 'trellis score' and 'trellis\n"
        "compare' read it.  The same seed gives the same folds.\n",
    .examples = "  trellis cv -t chunk.template train.txt\n"
                "  trellis cv -k 10 --documents --scheme iob2 -o predicted.txt train.txt\n"
                "  trellis cv --kind tree --grade discriminative --json train.trees\n",
    .options = options,
    .library_rows = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .operand = "training data",
    .run = run,
};
