/* cmd_boost.c -- trellis boost: boosted decision trees on sparse binary examples. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boost_path.h"
#include "message.h"
#include "names.h"
#include "output.h"
#include "signals.h"
#include "trellis/boost.h"
#include "verbs.h"

typedef struct settings {
    const char *model, *held_out, *cache, *record, *to, *class;
    trl_boost_format format;
    bool classes, stumps, scores, path, quiet;
    size_t memory, top;
    trl_boost_options boost;
} settings;

static const char *const boost_formats[] = {"guess", "libsvm", "vw", NULL};

#define BOOST_OPTION(name) OPTION_LIBRARY(name, trl_boost_option_table, settings, boost)

static option options[] = {
    {"model", 'm', OPTION_STRING, true, OPTION_FIELD(settings, model), .value = "MODEL",
     .file = FILE_OUTPUT, .help = "the model: written by train, read by predict and dump"},
    {"format", 'f', OPTION_CHOICE, OPTION_FIELD(settings, format), .choices = boost_formats,
     .help = "of the examples; guess: by the first line"},
    {"classes", .type = OPTION_FLAG, OPTION_FIELD(settings, classes),
     .help = "train: answers are names of classes; one classifier for each"},
    {"memory", .type = OPTION_INTEGER, OPTION_FIELD(settings, memory), .value = "MB",
     .help = "of the examples' features; beyond it they lie in a file in TMPDIR"},
    {BOOST_OPTION("threads"), .letter = 'j',
     .help = "train: threads, 0 for one per processor; the result does not depend on it"},
    {"quiet", 'q', OPTION_FLAG, OPTION_FIELD(settings, quiet), .help = "no progress, no summary"},
    {.help = "Training"},
    {"dev", 'd', OPTION_STRING, OPTION_FIELD(settings, held_out), .value = "FILE",
     .file = FILE_INPUT, .help = "held-out examples: the best point of the path for them is kept"},
    {BOOST_OPTION("sample"), .letter = 's'},
    {"stumps", .type = OPTION_FLAG, OPTION_FIELD(settings, stumps),
     .help = "trees of one split; the same as --depth 1"},
    {BOOST_OPTION("depth")},
    {BOOST_OPTION("trees")},
    {BOOST_OPTION("min-gain")},
    {BOOST_OPTION("rate")},
    {BOOST_OPTION("decay")},
    {BOOST_OPTION("lambda-end")},
    {BOOST_OPTION("lambda-least")},
    {BOOST_OPTION("patience")},
    {BOOST_OPTION("no-intercept")},
    {BOOST_OPTION("seed")},
    {"cache", .type = OPTION_STRING, OPTION_FIELD(settings, cache), .value = "FILE",
     .file = FILE_OUTPUT, .help = "write the examples there, to be read much faster the next time"},
    {"json", .type = OPTION_STRING, OPTION_FIELD(settings, record), .value = "FILE",
     .file = FILE_OUTPUT, .help = "write the paths there, for 'trellis plot'"},
    {BOOST_OPTION("checkpoint")},
    {BOOST_OPTION("checkpoint-every")},
    {BOOST_OPTION("resume")},
    {.help = "Prediction and dump"},
    {"scores", .type = OPTION_FLAG, OPTION_FIELD(settings, scores),
     .help = "predict: h instead of the probability 1 / (1 + exp(-h))"},
    {"path", .type = OPTION_FLAG, OPTION_FIELD(settings, path),
     .help = "dump: the regularisation path as a table, which 'trellis plot' reads, too"},
    {"class", .type = OPTION_STRING, OPTION_FIELD(settings, class), .value = "NAME",
     .fallback = "all", .help = "dump: only this classifier"},
    {"top", .type = OPTION_INTEGER, OPTION_FIELD(settings, top), .value = "N", .fallback = "all",
     .help = "dump: only the N compound features with the largest |Theta|"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, to), .value = "FILE", .file = FILE_OUTPUT,
     .fallback = "standard output", .help = "predict, dump: where to write"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){
        .boost = trl_boost_options_default(),
        .memory = trl_boost_read_options_default().memory >> 20,
    };
}

static int failed(const trl_error *err)
{
    message_status(NULL);
    message_error(err);
    return CLI_FAILED;
}

/* ---- train ----------------------------------------------------------------------------------- */

static trl_boost_read_options read_options(const settings *s)
{
    trl_boost_read_options o = trl_boost_read_options_default();
    o.format = s->format;
    o.memory = s->memory > SIZE_MAX >> 20 ? SIZE_MAX : s->memory << 20;
    o.classes = s->classes;
    return o;
}

static void tell_data(const trl_boost_data *d)
{
    const trl_boost_data_info i = trl_boost_data_get_info(d);
    message_line("read %zu examples, %zu features, %.1f in an example", i.examples, i.features,
                 (double)i.active / (double)i.examples);
    if (i.in_file)
        message_line("%.0f of %.0f MB of features lie in a temporary file", (double)i.in_file / 1e6,
                     (double)i.bytes / 1e6);
}

static int train_on(settings *s, const trl_boost_data *d, const trl_boost_data *held_out)
{
    trl_boost_model *m = NULL;
    trl_error err = {0};
    progress shown;
    progress_init(&shown, s->quiet);
    s->boost.progress = boost_path_show;
    s->boost.progress_ctx = &shown;
    s->boost.cancelled = signals_asked;
    signals_note();
    if (trl_boost_train(d, held_out, &s->boost, &m, &err) != TRL_OK)
        return failed(&err);
    const bool stopped = signals_noted();
    int code = signals_exit_code(stopped);
    message_status(NULL);
    if (trl_boost_model_save(m, s->model, &err) != TRL_OK)
        code = failed(&err);
    else if (s->record && !boost_path_record(m, d, &verb_boost, s, s->record))
        code = CLI_FAILED;
    else if (stopped)
        message_say("interrupted; the model has been saved");
    if (code != CLI_FAILED && !s->quiet)
        boost_path_summary(m, s->model);
    trl_boost_model_free(m);
    return code;
}

static int train(settings *s, const operands *files)
{
    trl_boost_data *d = NULL, *held_out = NULL;
    trl_boost_read_options o = read_options(s);
    trl_error err = {0};
    if (s->stumps && s->boost.depth > 1)
        return message_usage("--stumps and --depth do not go together");
    if (s->boost.resume && !s->boost.checkpoint)
        return message_usage("--resume needs --checkpoint FILE");
    if (s->stumps)
        s->boost.depth = 1;
    signals_end("stopped before the training had begun: no model was written");
    if (!output_check(s->model) || (s->record && !output_check(s->record)) ||
        (s->cache && !output_check(s->cache)))
        return CLI_FAILED;
    if (trl_boost_read(files->item, files->n, &o, &d, &err) != TRL_OK)
        return failed(&err);
    if (!s->quiet)
        tell_data(d);
    int code = CLI_DONE;
    o.like = d;
    if (s->cache && trl_boost_data_save(d, s->cache, &err) != TRL_OK)
        code = failed(&err);
    else if (s->held_out && trl_boost_read(&s->held_out, 1, &o, &held_out, &err) != TRL_OK)
        code = failed(&err);
    else
        code = train_on(s, d, held_out);
    trl_boost_data_free(held_out);
    trl_boost_data_free(d);
    return code;
}

/* ---- predict --------------------------------------------------------------------------------- */

static void add_number(const settings *s, double h, text *t)
{
    if (s->scores)
        text_fmt(t, "%.9g", h);
    else
        text_fmt(t, "%.9g", 1.0 / (1.0 + exp(-h)));
}

static int print_predictions(const settings *s, const trl_boost_model *m, const trl_boost_data *d)
{
    const size_t K = trl_boost_model_classifiers(m), n = trl_boost_data_get_info(d).examples;
    double *h = calloc(K * n, sizeof *h);
    trl_error err = {0};
    output o;
    text t = {0};
    if (!h)
        return message_memory();
    for (size_t k = 0; k < K; k++)
        if (trl_boost_predict(m, k, d, h + k * n, &err) != TRL_OK) {
            free(h);
            return failed(&err);
        }
    bool ok = output_open(&o, s->to);
    for (size_t k = 0; K > 1 && k < K; k++)
        text_fmt(&t, "%s%s", trl_boost_model_classifier(m, k).name, k + 1 < K ? "\t" : "\n");
    for (size_t i = 0; ok && i < n; i++) {
        for (size_t k = 0; k < K; k++) {
            add_number(s, h[k * n + i], &t);
            text_char(&t, k + 1 < K ? '\t' : '\n');
        }
        if (t.n > 1 << 16 || i + 1 == n) {
            ok = output_text(&o, &t);
            t.n = 0;
        }
    }
    free(h);
    text_fini(&t);
    return output_close(&o) && ok ? CLI_DONE : CLI_FAILED;
}

static int predict(const settings *s, const operands *files)
{
    static const char *const standard_input[] = {"-"};
    trl_boost_model *m = NULL;
    trl_boost_data *d = NULL;
    trl_error err = {0};
    if (trl_boost_model_open(s->model, &m, &err) != TRL_OK)
        return failed(&err);
    trl_boost_read_options o = read_options(s);
    o.model = m;
    o.unanswered = true;
    int code;
    if (trl_boost_read(files->n ? files->item : standard_input, files->n ? files->n : 1, &o, &d,
                       &err) != TRL_OK)
        code = failed(&err);
    else
        code = print_predictions(s, m, d);
    trl_boost_data_free(d);
    trl_boost_model_free(m);
    return code;
}

/* ---- dump ------------------------------------------------------------------------------------ */

typedef struct dump_out {
    output *o;
    size_t left;
} dump_out;

static trl_status write_line(void *ctx, const char *line, size_t n, trl_error *err)
{
    (void)err; /* the output says itself what is wrong */
    dump_out *d = ctx;
    if (d->left == 0)
        return TRL_OK;
    d->left--;
    return output_put(d->o, line, n) ? TRL_OK : TRL_ECANCEL;
}

static bool dump_classifier(const settings *s, const trl_boost_model *m, size_t k, output *o)
{
    const trl_boost_classifier c = trl_boost_model_classifier(m, k);
    text t = {0};
    if (s->path) {
        boost_path_table(m, k, k == 0 || s->class, &t);
        const bool ok = output_text(o, &t);
        text_fini(&t);
        return ok;
    }
    trl_error err = {0};
    dump_out d = {o, s->top ? s->top : SIZE_MAX};
    if (trl_boost_model_classifiers(m) > 1)
        text_fmt(&t, "%sclass %s\n", k && !s->class ? "\n" : "", c.name);
    bool ok = output_text(o, &t);
    text_fini(&t);
    const trl_status st = ok ? trl_boost_dump(m, k, write_line, &d, &err) : TRL_ECANCEL;
    if (st != TRL_OK && st != TRL_ECANCEL)
        message_error(&err);
    return st == TRL_OK;
}

static int dump(const settings *s)
{
    trl_boost_model *m = NULL;
    trl_error err = {0};
    output o;
    if (trl_boost_model_open(s->model, &m, &err) != TRL_OK)
        return failed(&err);
    size_t found = 0;
    const size_t K = trl_boost_model_classifiers(m);
    for (size_t k = 0; k < K; k++)
        found += !s->class || strcmp(s->class, trl_boost_model_classifier(m, k).name) == 0;
    if (!found) {
        trl_boost_model_free(m);
        return message_fail("%s: there is no classifier '%s'", s->model, s->class);
    }
    bool ok = output_open(&o, s->to);
    for (size_t k = 0; ok && k < K; k++)
        if (!s->class || strcmp(s->class, trl_boost_model_classifier(m, k).name) == 0)
            ok = dump_classifier(s, m, k, &o);
    if (!ok)
        output_discard(&o);
    else
        ok = output_close(&o);
    trl_boost_model_free(m);
    return ok ? CLI_DONE : CLI_FAILED;
}

/* ---- the verb -------------------------------------------------------------------------------- */

static const char *action_name(const void *set, size_t k)
{
    (void)set;
    static const char *const names[] = {"train", "predict", "dump", NULL};
    return names[k];
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    const size_t action = name_lookup("action", "", args->item[0], action_name, NULL);
    const operands files = {.item = args->item + 1, .n = args->n - 1};
    if (action == NAME_NOT_FOUND) {
        message_hint("'trellis boost train', 'trellis boost predict' or 'trellis boost dump'");
        return CLI_USAGE;
    }
    if (action == 0 && files.n == 0)
        return message_usage("boost train needs a file of examples");
    if (action == 2 && files.n)
        return message_usage("boost dump has no use for '%s'", files.item[0]);
    return action == 0 ? train(s, &files) : action == 1 ? predict(s, &files) : dump(s);
}

const verb verb_boost = {
    .name = "boost",
    .summary = "boosted decision trees: train, predict, dump",
    .usage = "[OPTION]... -m MODEL train|predict|dump [DATA]...",
    .description =
        "Learns binary classifiers from examples with sparse binary features: decision trees are\n"
        "grown one after the other, their paths are compound features (conjunctions of features,\n"
        "some negated), and every compound feature pays a penalty lambda.  lambda starts where\n"
        "none is worth it and decays: one run gives the whole regularisation path, and the point\n"
        "with the smallest loss on the examples of --dev is kept.\n"
        "\n"
        "A line of DATA is an example, in one of two formats:\n"
        "\n"
        "  +1:0.5 3:1 17:1 20:1         libsvm: answer, value (1 if not given), features\n"
        "  -1 0.5 |word the of |tag DT  VW: answer, value, features in name spaces\n"
        "\n"
        "SIGINT (Ctrl-C) or SIGTERM stops training within a moment and saves the model of the "
        "trees\n"
        "so far; the exit status is then 130 or 143, 128 plus the number of the signal.\n"
        "\n"
        "'predict' prints the probability of +1, one a line; of several classes one column for\n"
        "each, named in the first line.  Features that training has not seen are ignored.\n"
        "'dump' prints the compound features in words, the largest parameters first.\n",
    .examples = "  trellis boost train -m nouns.model -d dev.txt --json path.json train.txt\n"
                "  trellis boost predict -m nouns.model test.txt\n"
                "  trellis boost dump -m nouns.model --top 20\n"
                "  trellis plot -x compound -y held_out path.json\n",
    .options = options,
    .library_rows = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .operand = "what to do: train, predict or dump",
    .run = run,
};
