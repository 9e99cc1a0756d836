/* cmd_explain.c -- trellis explain: why a token has its label and not another. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "explain.h"
#include "explain_graph.h"
#include "explain_trees.h"
#include "message.h"
#include "output.h"
#include "tag_input.h"
#include "verbs.h"

#define SHOWN_LABELS 40 /* in a hint */

typedef struct settings {
    const char *model, *to, *against;
    trl_format format;
    size_t top, sequence, token;
    explain_rival rival;
    const char *span;
    size_t words[2]; /* of --span */
    bool json;

    bool given; /* the format, by the user; set by check_model */
} settings;

static const char *const rival_names[] = {"none", "second", "input", NULL};

static const option options[] = {
    {"model", 'm', OPTION_STRING, true, OPTION_FIELD(settings, model), .value = "MODEL",
     .file = FILE_INPUT, .help = "a model that 'trellis train' wrote"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, to), .value = "FILE", .file = FILE_OUTPUT,
     .fallback = "standard output", .help = "where to write"},
    {"format", 'f', OPTION_CHOICE, OPTION_FIELD(settings, format), .choices = format_names,
     .fallback = "the model's", .help = "format of the input"},
    {"against", 'a', OPTION_STRING, OPTION_FIELD(settings, against), .value = "LABEL",
     .fallback = "the runner-up of each token", .help = "the label to compare with"},
    {"labelling", 'l', OPTION_CHOICE, OPTION_FIELD(settings, rival), .choices = rival_names,
     .help = "compare whole labellings: the best with the second best, or with the labels of the "
             "input"},
    {"sequence", 's', OPTION_INTEGER, OPTION_FIELD(settings, sequence), .value = "N",
     .above_0 = true, .fallback = "all", .help = "only this sequence, counted from 1"},
    {"token", 't', OPTION_INTEGER, OPTION_FIELD(settings, token), .value = "N", .above_0 = true,
     .fallback = "all", .help = "only this token of a sequence, counted from 1"},
    {"span", .type = OPTION_STRING, OPTION_FIELD(settings, span), .value = "FROM-TO",
     .fallback = "every constituent",
     .help = "trees: only the constituent over these words, counted from 1, or why there is none"},
    {"top", 'n', OPTION_INTEGER, OPTION_FIELD(settings, top), .value = "N",
     .help = "rows of a table, the largest first, the others as one sum; 0 for all"},
    {"json", .type = OPTION_FLAG, OPTION_FIELD(settings, json),
     .help = "a JSON object for each token, a line each, with all contributions"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.top = 10};
}

typedef struct job {
    const settings *s;
    explainer x;
    uint32_t against; /* NO_LABEL: the runner-up */
    size_t explained; /* tokens */
    text pending;
    output out;
} job;

static trl_status explain_sequence(void *ctx, const tag_sequence *seq, bool *stop, trl_error *err)
{
    job *j = ctx;
    const settings *s = j->s;
    const size_t n = seq->rows ? seq->rows->n_tokens : seq->items->n_tokens;
    if (n == 0 || (s->sequence && seq->number != s->sequence) || s->token > n)
        return TRL_OK;
    const size_t from = s->token ? s->token - 1 : 0, end = s->token ? s->token : n;
    trl_status st = explainer_set(&j->x, seq, from, end, err);
    if (st == TRL_OK && s->rival) {
        explanation e;
        st = explainer_compare_whole(&j->x, s->rival, &e, err);
        if (st == TRL_OK && s->json)
            explain_whole_json(&j->x, &e, &j->pending);
        else if (st == TRL_OK)
            explain_whole_text(&j->x, &e, s->top, &j->pending);
        j->explained++;
    }
    for (size_t t = from; t < end && st == TRL_OK && !s->rival; t++) {
        explanation e = {.t = t, .other = j->against};
        st = explainer_compare(&j->x, &e, err);
        if (st != TRL_OK)
            break;
        if (s->json)
            explain_json(&j->x, &e, &j->pending);
        else
            explain_text(&j->x, &e, s->top, &j->pending);
        j->explained++;
    }
    *stop = !output_text(&j->out, &j->pending) || s->sequence;
    j->pending.n = 0;
    return st;
}

/* Fills in the format that the model decides, and refuses what it cannot do. */
static int check_model(settings *s, const trl_model *m)
{
    const trl_model_info info = trl_model_get_info(m);
    if (strcmp(info.kind, "chain") != 0) {
        message_say("%s: a model of kind '%s' cannot be explained", s->model, info.kind);
        message_hint("'trellis %s' uses it", info.kind);
        return CLI_FAILED;
    }
    return tag_input_format(s->model, m, &s->format, &s->given);
}

static int no_such_label(const settings *s, const trl_model *m, size_t n)
{
    text t = {0};
    for (size_t k = 0; k < n && k < SHOWN_LABELS; k++) {
        text_char(&t, ' ');
        text_add(&t, trl_model_label(m, k).p, trl_model_label(m, k).n);
    }
    message_say("%s: the model has no label '%s'", s->model, s->against);
    if (!t.failed && t.n)
        message_hint("it has%.*s%s", (int)t.n, t.p, n > SHOWN_LABELS ? " ..." : "");
    text_fini(&t);
    return CLI_FAILED;
}

static int nothing_explained(const settings *s)
{
    if (!s->sequence && !s->token) {
        message_warn("no sequences in the input");
        return CLI_DONE;
    }
    if (!s->sequence)
        return message_fail("no sequence in the input has a token %zu", s->token);
    return s->token ? message_fail("there is no token %zu of a sequence %zu in the input", s->token,
                                   s->sequence)
                    : message_fail("there is no sequence %zu in the input", s->sequence);
}

static int explain(job *j, const trl_model *m, const operands *args)
{
    const settings *s = j->s;
    const tag_input in = {args, m, s->format, s->given};
    trl_error err = {0};
    trl_status st = explainer_init(&j->x, m, &err);
    if (st != TRL_OK)
        message_error(&err);
    if (st != TRL_OK || !output_open(&j->out, s->to))
        return CLI_FAILED;
    st = tag_input_read(&in, explain_sequence, j, &err);
    if (st != TRL_OK && output_flush(&j->out)) /* what is right comes before what is wrong */
        message_error(&err);
    int code = st == TRL_OK && !j->out.failed ? CLI_DONE : CLI_FAILED;
    if (code == CLI_DONE && !j->explained)
        code = nothing_explained(s);
    if (code == CLI_DONE)
        return output_close(&j->out) ? CLI_DONE : CLI_FAILED;
    output_discard(&j->out);
    return code;
}

static int close_output(output *out, bool ok)
{
    if (ok)
        return output_close(out) ? CLI_DONE : CLI_FAILED;
    output_discard(out);
    return CLI_FAILED;
}

static int explain_parser(settings *s, const trl_model *m, const operands *args)
{
    int used = 0;
    output out;
    if (s->token || s->rival || s->format != TRL_FORMAT_GUESS)
        return message_usage("--token, --labelling and --format are for chains; of a parser there "
                             "is --span");
    if (s->span && (sscanf(s->span, "%zu-%zu%n", &s->words[0], &s->words[1], &used) != 2 ||
                    s->span[used] || s->words[0] < 1 || s->words[1] < s->words[0]))
        return message_usage("--span %s: words FROM-TO, counted from 1, such as 3-5", s->span);
    const explain_trees_options o = {.model = s->model,
                                     .against = s->against,
                                     .span = {s->words[0], s->words[1]},
                                     .sentence = s->sequence,
                                     .top = s->top,
                                     .json = s->json};
    if (!output_open(&out, s->to))
        return CLI_FAILED;
    return close_output(&out, explain_trees(&o, m, args, &out));
}

static int explain_factors(const settings *s, const trl_model *m, const operands *args)
{
    output out;
    if (s->rival || s->span || (s->format != TRL_FORMAT_GUESS && s->format != TRL_FORMAT_GRMM))
        return message_usage("--labelling, --span and --format are not for models of graphs");
    const explain_graph_options o = {.model = s->model,
                                     .against = s->against,
                                     .unit = s->sequence,
                                     .token = s->token,
                                     .top = s->top,
                                     .json = s->json};
    if (!output_open(&out, s->to))
        return CLI_FAILED;
    return close_output(&out, explain_graph(&o, m, args, &out));
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    trl_error err = {0};
    trl_model *m = NULL;
    if (s->rival && (s->token || s->against))
        return message_usage("--labelling compares whole sequences: not with --token or --against");
    if (trl_model_open(s->model, &m, &err) != TRL_OK) {
        message_error(&err);
        return CLI_FAILED;
    }
    job j = {.s = s, .against = NO_LABEL};
    const char *kind = trl_model_get_info(m).kind;
    if (strcmp(kind, "tree") == 0 || strcmp(kind, "graph") == 0) {
        const int done = kind[0] == 't' ? explain_parser(s, m, args) : explain_factors(s, m, args);
        trl_model_free(m);
        return done;
    }
    int code = s->span ? message_usage("--span is for parsers") : check_model(s, m);
    if (code == CLI_DONE && s->against) {
        j.against = trl_model_find_label(m, (trl_str){s->against, strlen(s->against)});
        if (j.against == NO_LABEL)
            code = no_such_label(s, m, trl_model_get_info(m).n_labels);
    }
    if (code == CLI_DONE)
        code = explain(&j, m, args);
    explainer_fini(&j.x);
    text_fini(&j.pending);
    trl_model_free(m);
    return code;
}

const verb verb_explain = {
    .name = "explain",
    .summary = "show which features made a label win",
    .usage = "[OPTION]... -m MODEL [INPUT]...",
    .description =
        "Shows for every token why a chain model gave it its label and not another: the\n"
        "runner-up, or the one of --against. The labels around it stay those of the best\n"
        "labelling, so what differs is what the features of this token say, and the transitions\n"
        "into it and out of it. The contributions add up to the difference of the two scores.\n"
        "\n"
        "A row of the table has what an attribute adds to the difference, what it adds to the\n"
        "score with the one label and with the other, the labels that it is about ('*' is the one\n"
        "compared) and its name. 'B-NP *' is a transition from the label before, '* O' one to the\n"
        "label after; the attribute of plain transitions is B, or T for three labels. Attributes\n"
        "that say the same of both labels, or that the model does not know, are left out.\n"
        "\n"
        "With --labelling whole labellings are compared instead: the best with the second best, "
        "or\n"
        "with the one in the input, as the truth of test data. The table then has what every\n"
        "attribute at every token adds to either score, and the labels that it is about in both.\n"
        "\n"
        "Of a parser (sentences, a line each) every constituent of the best derivation is\n"
        "explained: the derivation is compared with the best one that has none over those words,\n"
        "or, with --against, has that label there. --span asks for certain words, where the tree\n"
        "may have no constituent: then with the best that has one. Rows are the rules and the\n"
        "features that only one of the two derivations has; those of the other count negatively.\n"
        "\n"
        "Of a model of graphs every label of every token is explained: rows are the factors that\n"
        "it is part of, with the layer, token and label of each of their variables.\n"
        "\n"
        "A difference d of a model with probabilities means that the labelling is exp(d) times as\n"
        "probable as the other. What a model adds that is not a weight of a feature (the\n"
        "normalisation of local models, multipliers, a generative model) is a row of its own.\n"
        "Where the model has a temperature, all scores are divided by it.\n",
    .examples = "  trellis explain -m chunk.model test.txt\n"
                "  trellis explain -m chunk.model --sequence 3 --token 5 --against O test.txt\n"
                "  trellis explain -m chunk.model --labelling input test.txt\n"
                "  trellis explain -m parser.model --span 4-7 --against PP sentences.txt\n"
                "  trellis explain -m chunk.model --json test.txt >why.jsonl\n",
    .options = options,
    .defaults = defaults,
    .settings_size = sizeof(settings),
    .max_operands = SIZE_MAX,
    .run = run,
};
