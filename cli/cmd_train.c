/* cmd_train.c -- trellis train: a model from labelled sequences. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"
#include "output.h"
#include "progress.h"
#include "record.h"
#include "trellis/train.h"
#include "verbs.h"

typedef struct settings {
    trl_train_options train;
    const char *template_path, *algorithm, *json;
    string_list parameters;
    bool quiet;
} settings;

static const char *const seen_or_all[] = {"seen", "all", NULL};

static const option options[] = {
    {.help = "Files"},
    {"model", 'm', OPTION_STRING, true, OPTION_FIELD(settings, train.model), .value = "MODEL",
     .help = "where to write the model"},
    {"template", 't', OPTION_STRING, OPTION_FIELD(settings, template_path), .value = "FILE",
     .fallback = "a built-in one", .help = "CRF++ template or Wapiti patterns, for columns"},
    {"format", 'f', OPTION_CHOICE, OPTION_FIELD(settings, train.format),
     .choices = format_names, .help = "what the training data is written in"},
    {"dev", 'd', OPTION_STRING, OPTION_FIELD(settings, train.dev), .value = "FILE",
     .help = "data to score every iteration on; the best model is kept"},
    {"init", 'i', OPTION_STRING, OPTION_FIELD(settings, train.init), .value = "MODEL",
     .help = "start from the weights of this model"},
    {"checkpoint", .type = OPTION_STRING, OPTION_FIELD(settings, train.checkpoint),
     .value = "FILE", .help = "save the state of the run here from time to time"},
    {"checkpoint-every", .type = OPTION_INTEGER,
     OPTION_FIELD(settings, train.checkpoint_every), .value = "N",
     .help = "iterations between checkpoints"},
    {"resume", .type = OPTION_FLAG, OPTION_FIELD(settings, train.resume),
     .help = "go on from the checkpoint as if the run had never ended"},
    {"json", .type = OPTION_STRING, OPTION_FIELD(settings, json), .value = "FILE",
     .help = "write a record of the run: options, curve, result"},

    {.help = "Model"},
    {"kind", .type = OPTION_STRING, OPTION_FIELD(settings, train.kind), .value = "KIND",
     .help = "the structure of the model"},
    {"order", .type = OPTION_INTEGER, OPTION_FIELD(settings, train.order), .value = "N",
     .fallback = "what the template asks for",
     .help = "features of label pairs (1) or also triples (2)"},
    {"pairs", .type = OPTION_CHOICE, OPTION_FIELD(settings, train.all_pairs),
     .choices = seen_or_all, .help = "features for attribute and label seen together, or all"},
    {"transitions", .type = OPTION_CHOICE, OPTION_FIELD(settings, train.all_transitions),
     .choices = seen_or_all, .help = "features for label sequences seen in the data, or all"},
    {"min-count", .type = OPTION_INTEGER, OPTION_FIELD(settings, train.min_count),
     .value = "N", .help = "drop attributes that occur less often"},

    {.help = "Training"},
    {"objective", .type = OPTION_STRING, OPTION_FIELD(settings, train.objective),
     .value = "NAME",
     .help = "what is optimised: likelihood, memm, pseudolikelihood, pseudolikelihood-edge, "
             "piecewise, piecewise-nota, perceptron"},
    {"nota", .type = OPTION_STRING, OPTION_FIELD(settings, train.nota), .value = "SET",
     .fallback = "all",
     .help = "piecewise-nota: wrong sources with an instance: all, sample:P, marginal:THETA@K"},
    {"optimizer", .type = OPTION_STRING, OPTION_FIELD(settings, train.optimizer),
     .value = "NAME", .fallback = "what suits the objective",
     .help = "how: lbfgs (with --c1 OWL-QN), sag, sgd, asgd, perceptron"},
    {"precision", .type = OPTION_STRING, OPTION_FIELD(settings, train.precision),
     .value = "NAME", .fallback = "single, but double when --delta is below 1e-6",
     .help = "of inference for the likelihood: single (faster) or double"},
    {"c1", .type = OPTION_REAL, OPTION_FIELD(settings, train.c1), .value = "X",
     .help = "adds X times the sum of absolute weights"},
    {"c2", .type = OPTION_REAL, OPTION_FIELD(settings, train.c2), .value = "X",
     .help = "adds X times the sum of squared weights"},
    {"memory", .type = OPTION_INTEGER, OPTION_FIELD(settings, train.memory), .value = "N",
     .help = "lbfgs: pairs of vectors remembered"},
    {"eta", .type = OPTION_REAL, OPTION_FIELD(settings, train.eta), .value = "X",
     .fallback = "calibrated", .help = "sgd: first gain"},
    {"batch", .type = OPTION_INTEGER, OPTION_FIELD(settings, train.batch), .value = "N",
     .help = "sgd: sequences a step"},
    {"seed", .type = OPTION_INTEGER, OPTION_FIELD(settings, train.seed), .value = "N",
     .help = "of the random order of sequences"},
    {"threads", 'j', OPTION_INTEGER, OPTION_FIELD(settings, train.threads), .value = "N",
     .help = "threads, 0 for one per processor; the result does not depend on it"},

    {.help = "When to stop"},
    {"max-iter", .type = OPTION_INTEGER, OPTION_FIELD(settings, train.max_iter), .value = "N",
     .fallback = "the optimizer's own rule", .help = "iterations at most"},
    {"epsilon", .type = OPTION_REAL, OPTION_FIELD(settings, train.epsilon), .value = "X",
     .help = "stop when gradient norm / weight norm is below X"},
    {"period", .type = OPTION_INTEGER, OPTION_FIELD(settings, train.period), .value = "N",
     .help = "iterations over which --delta is measured"},
    {"delta", .type = OPTION_REAL, OPTION_FIELD(settings, train.delta), .value = "X",
     .help = "stop when the objective fell by less than this fraction"},
    {"patience", .type = OPTION_INTEGER, OPTION_FIELD(settings, train.patience), .value = "N",
     .fallback = "never", .help = "stop after N iterations without a better --dev score"},

    {.help = "Others"},
    {"algorithm", 'a', OPTION_STRING, OPTION_FIELD(settings, algorithm), .value = "NAME",
     .help = "CRFsuite's name for objective and optimizer: lbfgs, l2sgd, ap"},
    {"parameter", 'p', OPTION_LIST, OPTION_FIELD(settings, parameters), .value = "NAME=VALUE",
     .help = "CRFsuite's name for an option: c1, c2, max_iterations, num_memories, epsilon, "
             "period, delta, feature.minfreq, feature.possible_states, "
             "feature.possible_transitions"},
    {"quiet", 'q', OPTION_FLAG, OPTION_FIELD(settings, quiet),
     .help = "no progress, no summary"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.train = trl_train_options_default()};
}

/* ---- CRFsuite's command line ------------------------------------------------------------ */

static int apply_algorithm(settings *s)
{
    static const struct {
        const char *name, *objective, *optimizer;
    } known[] = {
        {"lbfgs", "likelihood", "lbfgs"},
        {"l2sgd", "likelihood", "sgd"},
        {"ap", "perceptron", NULL},
        {"averaged-perceptron", "perceptron", NULL},
    };
    const char *a = s->algorithm;
    if (!a)
        return CLI_DONE;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(a, known[k].name) == 0) {
            s->train.objective = known[k].objective;
            s->train.optimizer = known[k].optimizer;
            return CLI_DONE;
        }
    const bool online =
        strcmp(a, "pa") == 0 || strcmp(a, "passive-aggressive") == 0 || strcmp(a, "arow") == 0;
    message_say(online ? "-a %s: there is no such training method here"
                       : "-a %s: unknown algorithm; CRFsuite's lbfgs, l2sgd and ap are known",
                a);
    if (online)
        message_hint("-a ap is the nearest of its kind");
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
    {"feature.minfreq", "min-count", false},
    {"feature.possible_states", "pairs", true},
    {"feature.possible_transitions", "transitions", true},
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
    if (!equals)
        return message_usage("-p %s: NAME=VALUE is missing its '='", given);
    const size_t n = (size_t)(equals - given);
    const char *value = equals + 1;
    const parameter *p = NULL;
    for (size_t k = 0; k < sizeof parameters / sizeof *parameters; k++)
        if (strlen(parameters[k].theirs) == n && memcmp(parameters[k].theirs, given, n) == 0)
            p = &parameters[k];
    if (!p) {
        message_say("-p %s: CRFsuite has no such parameter that is known here", given);
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

/* ---- before the run --------------------------------------------------------------------- */

static int check_settings(settings *s)
{
    const trl_train_options *t = &s->train;
    int code = apply_algorithm(s);
    for (size_t i = 0; code == CLI_DONE && i < s->parameters.n; i++)
        code = set_parameter(s, s->parameters.item[i]);
    if (code != CLI_DONE)
        return code;
    if (t->resume && !t->checkpoint)
        return message_usage("--resume needs --checkpoint FILE, the file to go on from");
    if (t->patience && !t->dev)
        return message_usage("--patience needs --dev FILE, the data to score on");
    if (strcmp(t->model, "-") == 0)
        return message_usage("a model cannot be written to standard output");
    return CLI_DONE;
}

/* A folder that cannot be written to is better found before the training than after. */
static bool check_places(const settings *s)
{
    return output_check(s->train.model) &&
           (!s->train.checkpoint || output_check(s->train.checkpoint)) &&
           (!s->json || output_check(s->json));
}

/* Reads the whole template.  False: said. */
static bool read_template(settings *s, text *t)
{
    FILE *f = fopen(s->template_path, "rb");
    char block[4096];
    size_t n;
    while (f && (n = fread(block, 1, sizeof block, f)) > 0)
        text_add(t, block, n);
    const bool ok = f && !ferror(f) && !t->failed;
    if (!ok)
        message_say("%s: cannot read: %s", s->template_path,
                    t->failed ? "out of memory" : strerror(errno));
    if (f)
        fclose(f);
    s->train.template_name = s->template_path;
    s->train.template_text = t->n ? t->p : "";
    s->train.template_size = t->n;
    return ok;
}

/* ---- the run ---------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

/* The second signal of either kind finds its default action. */
static void on_interrupt(int sig)
{
    (void)sig;
    interrupted = 1;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

/* Also where a shell ignores SIGINT for what it runs in the background: whoever sends it to a
 * training means it. */
static void catch_signals(void)
{
    struct sigaction act = {0};
    act.sa_handler = on_interrupt;
    act.sa_flags = SA_RESTART;
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

typedef struct run_state {
    progress shown;
    record written;
    bool catching;
} run_state;

/* While the data is being read there is nothing to save, and a signal ends the program. */
static bool on_progress(void *ctx, const trl_progress *now)
{
    run_state *r = ctx;
    if (!r->catching && strcmp(now->stage, "read") != 0) {
        catch_signals();
        r->catching = true;
    }
    progress_show(&r->shown, now);
    record_add(&r->written, now);
    return interrupted != 0;
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
        message_line("objective   %.6f", r->objective);
    if (isfinite(r->dev_score))
        message_line("dev score   %.2f", r->dev_score);
    message_line("iterations  %" PRIu64 "%s%s", r->iterations, r->ending[0] ? ": " : "",
                 r->ending);
    message_line("time        %s", time);
    message_line("model       %s, %.2f MB", s->train.model, (double)bytes / 1e6);
}

static int train(settings *s, const operands *args)
{
    run_state r = {0};
    progress_init(&r.shown, s->quiet);
    s->train.train = args->item;
    s->train.n_train = args->n;
    s->train.progress = on_progress;
    s->train.progress_ctx = &r;
    trl_train_result result = {0};
    trl_error err = {0};
    const trl_status st = trl_train(&s->train, &result, &err);
    message_status(NULL);
    int code = CLI_DONE;
    if (st != TRL_OK) {
        message_error(&err);
        code = st == TRL_EINVAL ? CLI_USAGE : CLI_FAILED;
    } else {
        const uint64_t bytes = file_size(s->train.model);
        if (result.stopped)
            message_say("interrupted after iteration %" PRIu64 "; the model has been saved",
                        result.iterations);
        if (!s->quiet)
            summary(s, &result, bytes);
        if (s->json && !record_save(&r.written, s->json, &verb_train, s, args, &result, bytes))
            code = CLI_FAILED;
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
    text template = {0};
    code = CLI_FAILED;
    if ((!s->template_path || read_template(s, &template)) && check_places(s))
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
        "formats, told apart by their first lines:\n"
        "\n"
        "  columns   one token a line, its columns separated by blanks or tabs, the\n"
        "            label last; an empty line after each sequence; '#' is a token\n"
        "            like any other\n"
        "  crfsuite  LABEL, a tab, and attributes NAME or NAME:VALUE separated by\n"
        "            tabs; '\\:' and '\\\\' stand for ':' and '\\'; @weight:X before the\n"
        "            label weighs the sequence\n"
        "\n"
        "Columns become features by a template, which is kept in the model.  The objective\n"
        "is minimised, penalties --c1 and --c2 included.  SIGINT (Ctrl-C) or SIGTERM stops\n"
        "after the current iteration and saves the model.\n",
    .examples =
        "  trellis train -t chunk.template -m chunk.model train.txt\n"
        "  trellis train -t chunk.template -m chunk.model -d dev.txt --patience 5 train.txt\n"
        "  trellis train -a lbfgs -p c2=1 -m chunk.model train.crfsuite\n",
    .options = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .operand = "training data",
    .run = run,
};
