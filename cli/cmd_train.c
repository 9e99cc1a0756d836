/* cmd_train.c -- trellis train: a model from labelled sequences. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibrate.h"
#include "memory.h"
#include "help.h"
#include "learning_curve.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "record.h"
#include "signals.h"
#include "train_settings.h"
#include "verbs.h"

typedef struct settings {
    train_settings base; /* first: the shared tables count on it */
    const char *algorithm, *json, *calibrate_on, *fractions;
    learning_curve curve; /* its svg; the fractions are read from the above */
    string_list parameters;
} settings;

static option options[] = {
    {.help = "Files"},
    {TRAIN_OPTION("model"), .letter = 'm', .required = true},
    {"template", 't', OPTION_STRING, TRAIN_FIELD(template_path), .value = "FILE",
     .file = FILE_INPUT, .fallback = "a built-in one",
     .help = "template for columns: a file (in words, of CRF++ or of Wapiti), or ner, pos, chunk, "
             "address"},
    {TRAIN_OPTION("format"), .letter = 'f'},
    {TRAIN_OPTION("dev"), .letter = 'd'},
    {TRAIN_OPTION("init"), .letter = 'i'},
    {TRAIN_OPTION("checkpoint")},
    {TRAIN_OPTION("checkpoint-every")},
    {TRAIN_OPTION("keep-going"), .letter = 'k'},
    {TRAIN_OPTION("resume")},
    {"calibrate-on", .type = OPTION_STRING, OPTION_FIELD(settings, calibrate_on), .value = "FILE",
     .file = FILE_INPUT, .fallback = "no temperature",
     .help = "held-out data to fit a temperature on, or trees for the probabilities of trees and "
             "constituents, as 'trellis calibrate' does"},
    {"json", .type = OPTION_STRING, OPTION_FIELD(settings, json), .value = "FILE",
     .file = FILE_OUTPUT, .help = "write a record of the run: options, curve, result"},
    {"learning-curve", .type = OPTION_STRING, OPTION_FIELD(settings, fractions), .value = "LIST",
     .fallback = "none",
     .help = "then train again on these fractions of the data, such as 0.1,0.25,0.5, and print "
             "the score of each on --dev"},
    {"learning-curve-svg", .type = OPTION_STRING, OPTION_FIELD(settings, curve.svg),
     .value = "FILE", .file = FILE_OUTPUT, .help = "the same as a plot"},

#include "train_model_options.h"

#include "train_penalty_options.h"

#include "train_stop_options.h"
    {TRAIN_OPTION("patience")},

    {.help = "Others"},
    {"algorithm", 'a', OPTION_STRING, OPTION_FIELD(settings, algorithm), .value = "NAME",
     .help = "CRFsuite's name for objective and optimizer: lbfgs, l2sgd, ap"},
    {"parameter", 'p', OPTION_LIST, OPTION_FIELD(settings, parameters), .value = "NAME=VALUE",
     .help = "CRFsuite's name for an option: c1, c2, max_iterations, num_memories, epsilon, "
             "period, delta, feature.minfreq, feature.possible_states, "
             "feature.possible_transitions"},
    {"quiet", 'q', OPTION_FLAG, TRAIN_FIELD(quiet), .help = "no progress, no summary"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.base.train = trl_train_options_default()};
}

/* ---- CRFsuite's command line ----------------------------------------------------------------- */

static int apply_algorithm(settings *s)
{
    static const struct {
        const char *name, *objective, *optimizer;
    } known[] = {
        {"lbfgs", "likelihood", "lbfgs"}, {"l2sgd", "likelihood", "sgd"},
        {"ap", "perceptron", NULL},       {"averaged-perceptron", "perceptron", NULL},
        {"pa", "perceptron", "pa"},       {"passive-aggressive", "perceptron", "pa"},
        {"arow", "perceptron", "arow"},
    };
    const char *a = s->algorithm;
    if (!a)
        return CLI_DONE;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(a, known[k].name) == 0) {
            s->base.train.objective = known[k].objective;
            s->base.train.optimizer = known[k].optimizer;
            return CLI_DONE;
        }
    message_say("-a %s: unknown algorithm; CRFsuite's lbfgs, l2sgd, ap, pa and arow are known", a);
    message_hint("command lines of CRF++ and Wapiti: 'trellis crf_learn', 'trellis wapiti train'");
    return CLI_USAGE;
}

typedef struct parameter {
    const char *theirs, *ours; /* ours NULL: has no counterpart and changes no optimum */
    bool is_switch;            /* 0 or 1 there, seen or all here */
} parameter;

static const parameter parameters[] = {
    {"c1", "c1", false},
    {"c2", "c2", false},
    {"max_iterations", "max-iter", false},
    {"num_memories", "memory", false},
    {"epsilon", "epsilon", false},
    {"period", "period", false},
    {"delta", "delta", false},
    {"feature.minfreq", "min-freq", false},
    {"feature.possible_states", "pairs", true},
    {"feature.possible_transitions", "transitions", true},
    {"type", "pa-type", false},
    {"c", "pa-c", false},
    {"error_sensitive", "error-sensitive", false},
    {"averaging", "averaging", false},
    {"variance", "variance", false},
    {"gamma", "gamma", false},
    {"linesearch", NULL, false},
    {"max_linesearch", NULL, false},
    {"calibration.eta", NULL, false},
    {"calibration.rate", NULL, false},
    {"calibration.samples", NULL, false},
    {"calibration.candidates", NULL, false},
    {"calibration.max_trials", NULL, false},
};

static int set_parameter(settings *s, const char *given)
{
    const char *equals = strchr(given, '=');
    if (!equals) {
        message_say("-p %s: NAME=VALUE is missing its '='", given);
        message_hint("command lines of CRF++ and Wapiti: 'trellis crf_learn', 'trellis wapiti "
                     "train'");
        return CLI_USAGE;
    }
    const size_t n = (size_t)(equals - given);
    const char *value = equals + 1;
    const parameter *p = NULL;
    for (size_t k = 0; k < sizeof parameters / sizeof *parameters; k++)
        if (strlen(parameters[k].theirs) == n && memcmp(parameters[k].theirs, given, n) == 0)
            p = &parameters[k];
    if (!p) {
        message_say("-p %s: unknown CRFsuite parameter", given);
        message_hint("'trellis train --help' lists those of -p, and all options");
        return CLI_USAGE;
    }
    if (!p->ours) {
        message_warn("-p %s has no counterpart and is ignored", given);
        return CLI_DONE;
    }
    if (p->is_switch) {
        if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
            return message_usage("-p %s: the value is 0 or 1", given);
        value = seen_or_all[value[0] == '1'];
    }
    char shown[60];
    snprintf(shown, sizeof shown, "-p %s", p->theirs);
    return options_set(&verb_train, p->ours, shown, value, s) ? CLI_DONE : CLI_USAGE;
}

/* ---- before the run -------------------------------------------------------------------------- */

static int check_settings(settings *s)
{
    const trl_train_options *t = &s->base.train;
    int code = apply_algorithm(s);
    for (size_t i = 0; code == CLI_DONE && i < s->parameters.n; i++)
        code = set_parameter(s, s->parameters.item[i]);
    if (code != CLI_DONE)
        return code;
    if (!train_set_variance(&s->base))
        return CLI_USAGE;
    s->base.train.c2 = trl_train_c2(t); /* the record of the run shall have it */
    if (t->resume && !t->checkpoint)
        return message_usage("--resume needs --checkpoint FILE, the file to go on from");
    if (t->patience && !t->dev)
        return message_usage("--patience needs --dev FILE, the data to score on");
    if (s->curve.svg && !s->fractions)
        return message_usage("--learning-curve-svg needs --learning-curve LIST");
    if (s->fractions && !t->dev)
        return message_usage("--learning-curve needs --dev FILE, the data to score on");
    if (s->fractions && (t->checkpoint || t->hold_out))
        return message_usage("--learning-curve is of whole runs: not with --checkpoint");
    if (s->fractions && !learning_fractions_read(s->fractions, &s->curve.fractions))
        return CLI_USAGE;
    if (strcmp(t->model, "-") == 0)
        return message_usage("a model cannot be written to standard output");
    if (s->calibrate_on && strcmp(t->kind, "chain") != 0 && strcmp(t->kind, "tree") != 0)
        return message_usage("--calibrate-on is for chains and trees");
    if (s->calibrate_on && access(s->calibrate_on, R_OK) != 0)
        return message_fail("%s: %s", s->calibrate_on, strerror(errno));
    return CLI_DONE;
}

/* A folder that cannot be written to is better found before the training than after. */
static bool check_places(const settings *s)
{
    return output_check(s->base.train.model) &&
           (!s->base.train.checkpoint || output_check(s->base.train.checkpoint)) &&
           (!s->json || output_check(s->json)) && (!s->curve.svg || output_check(s->curve.svg));
}

/* ---- the run --------------------------------------------------------------------------------- */

typedef struct run_state {
    progress shown;
    record written;
    bool learning;
    learning_point all; /* the data of the run */
} run_state;

static bool on_progress(void *ctx, const trl_progress *now)
{
    run_state *r = ctx;
    if (!r->learning && train_learns(now)) {
        signals_note();
        r->learning = true;
    }
    if (now->n_sequences) {
        r->all.sequences = now->n_sequences;
        r->all.tokens = now->n_tokens;
    }
    progress_show(&r->shown, now);
    record_add(&r->written, now);
    return signals_noted();
}

static uint64_t file_size(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0 ? (uint64_t)sb.st_size : 0;
}

static void summary(const settings *s, const trl_train_result *r, uint64_t bytes)
{
    char time[40];
    progress_duration(r->seconds, time, sizeof time);
    message_line("features    %" PRIu64 ", of which %" PRIu64 " are not 0", r->n_features,
                 r->n_active);
    if (isfinite(r->objective))
        message_line("objective   %s%.6f", r->estimated ? "about " : "", r->objective);
    if (isfinite(r->dev_score))
        message_line("dev score   %.2f%s%s", r->dev_score, r->dev_measure ? " " : "",
                     r->dev_measure ? r->dev_measure : "");
    message_line("optimizer   %s", r->optimizer ? r->optimizer : "none");
    message_line("iterations  %" PRIu64 "%s%s", r->iterations, r->ending[0] ? ": " : "", r->ending);
    if (r->saved_iteration != r->iterations)
        message_line("saved       iteration %" PRIu64 ", the best on the dev set",
                     r->saved_iteration);
    message_line("time        %s", time);
    message_line("model       %s, %.2f MB", s->base.train.model, (double)bytes / 1e6);
}

/* The model that was written gets its temperature. */
static bool calibrate(const settings *s)
{
    trl_error err = {0};
    trl_model *m = NULL;
    const trl_train_options *t = &s->base.train;
    bool ok = trl_model_open(t->model, &m, &err) == TRL_OK;
    if (!ok)
        message_error(&err);
    else if (strcmp(t->kind, "tree") == 0)
        ok = calibrate_parser(m, s->calibrate_on, t->model, s->base.quiet);
    else
        ok = calibrate_model(m, &(trl_held_out){.path = s->calibrate_on, .format = t->format},
                             t->model, s->base.quiet);
    if (!ok)
        message_hint("the model has been saved without it");
    trl_model_free(m);
    return ok;
}

static int train(settings *s, const operands *args)
{
    run_state r = {0};
    progress_init(&r.shown, s->base.quiet);
    r.shown.trees = strcmp(s->base.train.kind, "tree") == 0;
    s->base.train.train = args->item;
    s->base.train.n_train = args->n;
    s->base.train.progress = on_progress;
    s->base.train.progress_ctx = &r;
    s->base.train.cancelled = signals_asked;
    trl_train_result result = {0};
    trl_error err = {0};
    const trl_status st = trl_train(&s->base.train, &result, &err);
    message_status(NULL);
    int code = CLI_DONE;
    if (st != TRL_OK) {
        message_error(&err);
        code = st == TRL_EINVAL    ? CLI_USAGE
               : st == TRL_ECANCEL ? signals_exit_code(true)
                                   : CLI_FAILED;
    } else {
        const uint64_t bytes = file_size(s->base.train.model);
        if (result.stopped)
            message_say("interrupted after iteration %" PRIu64 "; the model has been saved",
                        result.iterations);
        if (!s->base.quiet)
            summary(s, &result, bytes);
        code = signals_exit_code(result.stopped);
        if (s->calibrate_on && !calibrate(s))
            code = CLI_FAILED;
        if (s->json && !record_save(&r.written, s->json,
                                    &(record_run){.v = &verb_train,
                                                  .settings = s,
                                                  .train = args,
                                                  .result = &result,
                                                  .model_bytes = bytes}))
            code = CLI_FAILED;
        if (code == CLI_DONE && s->fractions && !result.stopped) {
            r.all.fraction = 1.0;
            r.all.result = result;
            s->curve.quiet = s->base.quiet;
            code = learning_curve_run(&s->curve, &s->base.train, &r.all);
        }
    }
    record_fini(&r.written);
    return code;
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    int code = check_settings(s);
    if (code != CLI_DONE)
        return code;
    if (!memory_limit(s->base.max_memory, TRAIN_MEMORY))
        return CLI_USAGE;
    train_set_rescue(&s->base);
    signals_end(TRAIN_NOTHING_YET);
    text template = {0};
    code = CLI_FAILED;
    if (train_read_template(&s->base, &template) && check_places(s))
        code = train(s, args);
    text_fini(&template);
    return code;
}

const verb verb_train = {
    .name = "train",
    .alias = "learn",
    .summary = "learn a model from labelled sequences",
    .usage = "[OPTION]... -m MODEL TRAIN...",
    .description =
        "Learns a model from labelled sequences.  TRAIN is one or more files in one of two\n"
        "formats, recognised by their first lines:\n"
        "\n"
        "  columns   one token a line, its columns separated by blanks or tabs, the\n"
        "            label last; an empty line after each sequence; '#' is a token\n"
        "            like any other\n"
        "  crfsuite  LABEL, a tab, and attributes NAME or NAME:VALUE separated by\n"
        "            tabs; '\\:' and '\\\\' stand for ':' and '\\'; @weight:X before the\n"
        "            label weighs the sequence\n"
        "\n"
        "With --kind tree the files are treebanks in Penn brackets, and the model is a parser.\n"
        "With --kind graph the template is a model file, or a list of GRMM's templates, whose\n"
        "data (--format grmm) are lines of labels, ---- and features.\n"
        "\n"
        "--learning-curve shows whether more data would help: after the model, others are trained\n"
        "on parts of the data, each part within the next, and their scores on --dev printed.\n"
        "\n"
        "The command lines of other programs are understood, too: 'trellis crf_learn ...' and\n"
        "'trellis wapiti train ...' say what they are here and run it; -a and -p are CRFsuite's.\n"
        "\n"
        "A template, which is kept in the model, makes features of the columns.  The objective\n"
        "is minimised, penalties --c1 and --c2 included.  SIGINT (Ctrl-C) or SIGTERM stops\n"
        "within a moment and saves the model of the last whole iteration, if there is one; the\n"
        "exit status is then 130 or 143, 128 plus the number of the signal.\n",
    .examples =
        "  trellis train -t chunk.template -m chunk.model train.txt\n"
        "  trellis train -t chunk.template -m chunk.model -d dev.txt --patience 5 train.txt\n"
        "  trellis train -a lbfgs -p c2=1 -m chunk.model train.crfsuite\n",
    .options = options,
    .library_rows = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .operand = "training data",
    .run = run,
};
