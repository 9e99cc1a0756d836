/* cmd_calibrate.c -- trellis calibrate: a temperature from held-out data, kept in the model. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "calibrate.h"
#include "message.h"
#include "names.h"
#include "output.h"
#include "verbs.h"

typedef struct settings {
    const char *model, *to;
    trl_format format;
    double temperature;
    bool none, quiet;
} settings;

static const option options[] = {
    {"model", 'm', OPTION_STRING, true, OPTION_FIELD(settings, model), .value = "MODEL",
     .help = "a model that 'trellis train' wrote"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, to), .value = "MODEL",
     .file = FILE_OUTPUT, .fallback = "the same model", .help = "where to write the model"},
    {"format", 'f', OPTION_CHOICE, OPTION_FIELD(settings, format), .choices = format_names,
     .fallback = "the model's", .help = "format of the held-out data"},
    {"temperature", .type = OPTION_REAL, OPTION_FIELD(settings, temperature), .value = "T",
     .above_0 = true, .fallback = "fitted", .help = "this one, without any data"},
    {"none", .type = OPTION_FLAG, OPTION_FIELD(settings, none),
     .help = "take the temperature, or a parser's calibration, out of the model"},
    {"quiet", 'q', OPTION_FLAG, OPTION_FIELD(settings, quiet), .help = "say nothing"},
    {0},
};

static void report(const trl_temperature_fit *f)
{
    message_count a, b;
    if (f->left_out)
        message_warn("%s with labels that the model does not have %s left out",
                     message_counted(f->left_out, "sequence", &a),
                     f->left_out == 1 ? "was" : "were");
    message_line("temperature %.5g from %s, %s; log-likelihood a token %.6f, before %.6f",
                 f->temperature, message_counted(f->sequences, "sequence", &a),
                 message_counted(f->tokens, "token", &b), f->after, f->before);
}

bool calibrate_model(const trl_model *m, const trl_held_out *data, const char *to, bool quiet)
{
    trl_error err = {0};
    trl_temperature_fit fit;
    trl_status st = trl_temperature_find(m, data, &fit, &err);
    if (st == TRL_OK)
        st = trl_model_save_temperature(m, fit.temperature, to, &err);
    if (st != TRL_OK)
        message_error(&err);
    else if (!quiet)
        report(&fit);
    return st == TRL_OK;
}

bool calibrate_parser(const trl_model *m, const char *trees, const char *to, bool quiet)
{
    trl_error err = {0};
    trl_parse_fit fit;
    trl_status st = trl_parse_fit_find(m, trees, &fit, &err);
    if (st == TRL_OK)
        st = trl_model_save_parse_fit(m, &fit, to, &err);
    if (st != TRL_OK)
        message_error(&err);
    else if (!quiet)
        message_line("probabilities of constituents and trees from %" PRIu64 " trees, %" PRIu64
                     " constituents; Brier score of constituents %.6f, before %.6f; of trees %.6f, "
                     "before %.6f",
                     fit.span.trees, fit.span.spans, fit.span.after, fit.span.before,
                     fit.tree.after, fit.tree.before);
    return st == TRL_OK;
}

/* A parser has no temperature; --none takes its calibration out. */
static bool run_parser(const settings *s, const trl_model *m, const operands *args, const char *to)
{
    trl_error err = {0};
    if (args->n)
        return calibrate_parser(m, args->item[0], to, s->quiet);
    if (trl_model_save_parse_fit(m, NULL, to, &err) == TRL_OK)
        return true;
    message_error(&err);
    return false;
}

static int run(void *settings_, const operands *args)
{
    const settings *s = settings_;
    const char *to = s->to ? s->to : s->model;
    const bool given = s->none || s->temperature > 0.0;
    if (s->none && s->temperature > 0.0)
        return message_usage("--none and --temperature exclude each other");
    if (given == (args->n == 1))
        return message_usage(given ? "with --temperature and --none no data are read"
                                   : "calibrate needs held-out data, or --temperature or --none");
    if (strcmp(to, "-") == 0)
        return message_usage("a model cannot be written to standard output");
    trl_error err = {0};
    trl_model *m = NULL;
    if (trl_model_open(s->model, &m, &err) != TRL_OK) {
        message_error(&err);
        return CLI_FAILED;
    }
    bool ok;
    const bool parser = strcmp(trl_model_get_info(m).kind, "tree") == 0;
    if (parser && s->temperature > 0.0) {
        trl_model_free(m);
        return message_usage("--temperature is for chains");
    }
    if (parser) {
        ok = run_parser(s, m, args, to);
    } else if (given) {
        ok = trl_model_save_temperature(m, s->none ? 0.0 : s->temperature, to, &err) == TRL_OK;
        if (!ok)
            message_error(&err);
    } else {
        ok = calibrate_model(m, &(trl_held_out){.path = args->item[0], .format = s->format}, to,
                             s->quiet);
    }
    trl_model_free(m);
    return ok ? CLI_DONE : CLI_FAILED;
}

const verb verb_calibrate = {
    .name = "calibrate",
    .summary = "fit probabilities on held-out data, so that they mean what they say",
    .usage = "[OPTION]... -m MODEL [HELD-OUT]",
    .description =
        "Divides the scores of a chain model by a temperature, the one under which the held-out\n"
        "data are most probable, and keeps it in the model. Every probability that 'trellis tag'\n"
        "prints is then that of the divided scores; labels and n-best lists stay as they are. A\n"
        "temperature above 1 says that the model was too sure of itself. A perceptron has\n"
        "probabilities only then.\n"
        "\n"
        "The data must not be those the model was trained on: of these it is too sure. Fitted "
        "anew,\n"
        "a temperature that is already there is forgotten. 'trellis score calibration' shows what\n"
        "it does.\n"
        "\n"
        "Of a parser the probabilities of constituents ('trellis parse --spans') and of trees\n"
        "(--probability, --nbest) are fitted on the trees of HELD-OUT; its trees stay as they "
        "are.\n",
    .examples = "  trellis calibrate -m chunk.model dev.txt\n"
                "  trellis calibrate -m chunk.model -o calibrated.model dev.txt\n"
                "  trellis calibrate -m chunk.model --none\n",
    .options = options,
    .settings_size = sizeof(settings),
    .max_operands = 1,
    .run = run,
};
