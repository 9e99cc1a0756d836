/* cmd_tag.c -- trellis tag: labels for new sequences. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "message.h"
#include "output.h"
#include "tag_graph.h"
#include "tag_print.h"
#include "tag_rules.h"
#include "tag_run.h"
#include "tag_text.h"
#include "verbs.h"

#define MOST_THREADS 256
#define TAG_MEMORY 0.25 /* of the machine's */

typedef struct settings {
    const char *model, *to, *max_memory;
    tag_graph_settings graph; /* method, known and damping; the rest is filled in */
    trl_format format;
    tag_style style;
    size_t threads;
    bool map, verbose, text, html, svg;
    tag_text_options raw; /* --text */
    tag_rule_options rules;

    bool given;      /* the format, by the user; set by check_model */
    char title[300]; /* of a page; set by check_picture */
} settings;

static const char *const decoding_names[] = {"model", "local", "global", NULL};

static const option options[] = {
    {"model", 'm', OPTION_STRING, true, OPTION_FIELD(settings, model), .value = "MODEL",
     .file = FILE_INPUT, .help = "the model that 'trellis train' wrote"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, to), .value = "FILE", .file = FILE_OUTPUT,
     .fallback = "standard output", .help = "where to write"},
    {"format", 'f', OPTION_CHOICE, OPTION_FIELD(settings, format), .choices = format_names,
     .fallback = "the model's", .help = "format of the input"},
#include "tag_answer_options.h"
#include "tag_graph_options.h"
    {"threads", 'j', OPTION_INTEGER, OPTION_FIELD(settings, threads), .value = "N",
     .help = "threads, 0 for one per processor; the output does not depend on it"},
    {"max-memory", .type = OPTION_STRING, OPTION_FIELD(settings, max_memory), .value = "SIZE",
     .fallback = "a quarter of the machine's",
     .help = "stop when more memory is needed, as for a sequence without end: 500M, 4G; none"},
    {"map", .type = OPTION_FLAG, OPTION_FIELD(settings, map),
     .help =
         "share the model's pages with other processes instead of reading a copy; its file must "
         "then be replaced by renaming only, never changed in place"},
    {"verbose", 'v', OPTION_FLAG, OPTION_FIELD(settings, verbose),
     .help = "say how much was tagged, how fast, and how many attributes were unknown"},
#include "tag_rule_options.h"
#include "tag_raw_options.h"
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.threads = 1, .graph.damping = NAN};
}

/* ---- before and after ------------------------------------------------------------------------ */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(const settings *s, const tag_text_counts *n, bool attributes, double seconds)
{
    if (n->tokens > 0 && n->attributes == n->unknown && attributes)
        message_warn("the model knows nothing of what is in the input: the labels are those of no "
                     "attributes; "
                     "is it the format that the model was trained with?");
    if (n->sequences == 0)
        message_warn("no sequences in the input");
    if (!s->verbose)
        return;
    message_count a, b, c;
    message_say("%s, %s in %.2f s (%.0f tokens/s); %s unknown to the model %s ignored",
                message_counted(n->sequences, "sequence", &a),
                message_counted(n->tokens, "token", &b), seconds,
                (double)n->tokens / (seconds > 0.0 ? seconds : 1e-9),
                message_counted(n->unknown, "attribute", &c), n->unknown == 1 ? "was" : "were");
}

/* Fills in what the model decides, and refuses what it cannot do. */
static int check_model(settings *s, const trl_model *m)
{
    const trl_model_info info = trl_model_get_info(m);
    const tag_style *y = &s->style;
    if (strcmp(info.kind, "chain") != 0) {
        message_say("%s: the model is of kind '%s', not a chain", s->model, info.kind);
        if (strcmp(info.kind, "tree") == 0)
            message_hint("it is a parser's: 'trellis parse' uses it");
        else
            message_hint("'trellis %s' uses it", kind_verb(info.kind));
        return CLI_FAILED;
    }
    if (!info.is_probability &&
        (y->marginals || y->probability || y->posterior || y->confidence || y->spans)) {
        message_say("%s: a model trained with the objective %s has no probabilities", s->model,
                    info.objective);
        message_hint("leave out --marginals, --all-marginals, --probability, --posterior, "
                     "--confidence and --spans, train with --objective likelihood, or fit a "
                     "temperature with 'trellis calibrate'");
        return CLI_FAILED;
    }
    if (tag_input_format(s->model, m, &s->format, &s->given) != CLI_DONE)
        return CLI_FAILED;
    const bool sure = y->marginals || y->confidence;
    s->raw.confidence = s->raw.confidence || (y->picture && info.is_probability);
    if (s->format == TRL_FORMAT_CONLLU && !y->json && (sure || y->nbest || y->probability))
        return message_fail("conllu has labels alone: leave out --marginals, --all-marginals, "
                            "--confidence, --nbest and --probability, or print --to jsonl");
    if ((s->format == TRL_FORMAT_JSONL || y->json) && (y->nbest || y->probability))
        return message_fail("JSON lines have one labelling: leave out --nbest, and take "
                            "--confidence for --probability");
    if (y->reference && info.format == TRL_FORMAT_COLUMNS)
        return message_fail("--reference is for the crfsuite format; columns keep their label");
    return CLI_DONE;
}

static int tag(settings *s, const trl_model *m, const operands *args)
{
    const trl_model_info info = trl_model_get_info(m);
    tag_job j = {.in = {args, m, s->format, s->given}, .threads = s->threads};
    int code = CLI_FAILED;
    trl_error err = {0};
    const double start = seconds_now();
    if (tag_job_init(&j, m, &s->style, &err) != TRL_OK)
        message_error(&err);
    else if (output_open(&j.out, s->to)) {
        if (!(s->style.picture ? tag_job_picture(&j, s->title) : tag_job_run(&j)))
            output_discard(&j.out);
        else if (output_close(&j.out)) {
            code = CLI_DONE;
            const tag_text_counts n = tag_job_count(&j);
            /* models with q0 know words beside attributes */
            report(s, &n, info.n_attributes > 0 && !info.has_q0, seconds_now() - start);
            if (s->style.rules)
                tag_rules_end(s->style.rules, &s->rules, n.sequences, n.free);
        }
    }
    tag_job_fini(&j);
    return code;
}

/* Raw text; one thread. */
static int tag_raw(settings *s, const trl_model *m, const operands *args)
{
    const trl_model_info info = trl_model_get_info(m);
    const double start = seconds_now();
    tag_text_counts n = {0};
    output out;
    if (info.format != TRL_FORMAT_COLUMNS)
        return message_fail(
            "%s: the model reads CRFsuite items; --text needs one that reads columns", s->model);
    if (!output_open(&out, s->to))
        return CLI_FAILED;
    if (!tag_text(&s->raw, m, args, &out, &n)) {
        output_discard(&out);
        return CLI_FAILED;
    }
    if (!output_close(&out))
        return CLI_FAILED;
    report(s, &n, info.n_attributes > 0 && !info.has_q0, seconds_now() - start);
    return CLI_DONE;
}

/* What goes with --text, and what only with it. */
static int check_text(settings *s)
{
    const tag_style *y = &s->style;
    s->style.json = !s->text && s->raw.form == TAG_JSONL;
    if (!s->text && (s->raw.columns || s->raw.tokens.grain || s->raw.tokens.sentences ||
                     s->raw.form > TAG_JSONL))
        return message_usage("--columns, --tokens, --sentences, --to marks and --to colour are for "
                             "--text");
    if (s->text && (y->all_marginals || y->nbest || y->probability || y->reference || y->spans ||
                    s->format != TRL_FORMAT_GUESS))
        return message_usage("--text goes with --marginals, --confidence, --posterior and "
                             "--decode, not with --format, --all-marginals, --nbest, "
                             "--probability, --spans or --reference");
    if (s->text && (y->marginals || y->confidence) &&
        (s->raw.form == TAG_MARKS || s->raw.form == TAG_COLOUR))
        return message_usage("--marginals and --confidence are printed as columns and jsonl");
    if (s->text && y->confidence && s->raw.form != TAG_JSONL)
        return message_usage("--confidence of --text is printed --to jsonl");
    s->raw.confidence = y->confidence;
    s->raw.posterior = y->posterior;
    s->raw.marginals = y->marginals;
    s->raw.decoding = y->decoding;
    if (s->text && (s->rules.column || s->rules.constraints || s->rules.unsatisfiable))
        return message_usage("--text does not go with --allowed-column, --constraints or "
                             "--unsatisfiable");
    return CLI_DONE;
}

/* What goes with --html and --svg; a picture has all its sequences in order, from one thread. */
static int check_picture(settings *s)
{
    const tag_style *y = &s->style;
    if (s->html && s->svg)
        return message_usage("give one of --html and --svg");
    s->style.picture = s->raw.picture = s->html  ? PICTURE_HTML
                                        : s->svg ? PICTURE_SVG
                                                 : PICTURE_NONE;
    if (!s->style.picture)
        return CLI_DONE;
    if (y->nbest || y->spans || y->reference || y->probability || y->marginals ||
        y->all_marginals || y->confidence || s->raw.form != TAG_AUTO)
        return message_usage("--html and --svg show labels, chunks and probabilities: leave out "
                             "--nbest, --spans, --spans-above, --reference, --probability, "
                             "--marginals, --all-marginals, --confidence and --as");
    if (s->svg)
        s->threads = 1;
    const char *slash = strrchr(s->model, '/');
    snprintf(s->title, sizeof s->title, "Labels by %s", slash ? slash + 1 : s->model);
    s->raw.title = s->title;
    return CLI_DONE;
}

/* Under the constraints, if there are any. */
static int tag_chain(settings *s, const trl_model *m, const operands *args)
{
    tag_rules rules = {0};
    int code = CLI_FAILED;
    const bool given = tag_rules_given(&s->rules);
    if (!given || tag_rules_init(&rules, &s->rules, m, s->format)) {
        s->style.rules = s->raw.rules = given ? &rules : NULL;
        code = s->text ? tag_raw(s, m, args) : tag(s, m, args);
    }
    tag_rules_fini(&rules);
    return code;
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    s->style.spans = s->style.spans || s->style.above > 0.0;
    if (s->style.nbest &&
        (s->style.posterior || s->style.probability || s->style.confidence || s->style.spans))
        return message_usage("--nbest has probabilities of its own, and does not go with "
                             "--posterior, --probability, --confidence or --spans");
    if (s->style.above > 1.0)
        return message_usage("--spans-above %g: probabilities are at most 1", s->style.above);
    if (s->style.spans && s->style.reference)
        return message_usage("--spans has no tokens for --reference");
    if (check_picture(s) != CLI_DONE || check_text(s) != CLI_DONE)
        return CLI_USAGE;
    if (s->threads == 0) {
        const long n = sysconf(_SC_NPROCESSORS_ONLN);
        s->threads = n > 0 ? (size_t)n : 1;
    }
    const size_t most = tag_input_threads(args, MOST_THREADS);
    if (s->threads > most)
        s->threads = most;
    if (!memory_limit(s->max_memory, TAG_MEMORY))
        return CLI_USAGE;
    s->style.marginals = s->style.marginals || s->style.all_marginals;

    trl_error err = {0};
    trl_model *m = NULL;
    const trl_status st = (s->map ? trl_model_map : trl_model_open)(s->model, &m, &err);
    s->graph.model = s->model;
    s->graph.to = s->to;
    s->graph.style = s->style;
    s->graph.threads = s->threads;
    s->graph.verbose = s->verbose;
    s->graph.title = s->title;
    if (st != TRL_OK) {
        message_error(&err);
        return CLI_FAILED;
    }
    if (strcmp(trl_model_get_info(m).kind, "graph") == 0 && tag_rules_given(&s->rules)) {
        trl_model_free(m);
        return message_fail("constraints are for models of chains, not of graphs");
    }
    if (strcmp(trl_model_get_info(m).kind, "graph") == 0)
        return tag_graph_run(&s->graph, m, s->text, s->format, args);
    int code = tag_graph_unused(&s->graph, s->format);
    if (code == CLI_DONE)
        code = check_model(s, m);
    if (code == CLI_DONE)
        code = tag_chain(s, m, args);
    trl_model_free(m);
    return code;
}

const verb verb_tag = {
    .name = "tag",
    .alias = "label",
    .summary = "label sequences with a model",
    .usage = "[OPTION]... -m MODEL [INPUT]...",
    .description =
        "Labels the sequences of the INPUT files, or of standard input, and prints an empty\n"
        "line after each.  Sequences are printed as they come: a program may write one and\n"
        "read the answer before it writes the next.\n"
        "\n"
        "Columns are printed as they are, with the predicted label as one more column,\n"
        "after a tab if the line has one, otherwise after a blank; the label column of the\n"
        "training data may be there or not.  For the crfsuite format only the label is\n"
        "printed, for grmm the word and labels, then those predicted. CoNLL-U comes back with\n"
        "the label as the UPOS of every word and all other lines as they are, JSON lines with\n"
        "\"labels\". Probabilities have six decimals. A model without them shows scores in\n"
        "the headings of --nbest, and refuses what asks for them.\n"
        "\n"
        "With --text the input is raw text in UTF-8. It is cut into tokens and sentences as by\n"
        "'trellis convert', and tagged by models of columns whose first column is the word. A\n"
        "template that uses more columns names them in a line '# columns: word,shape,...'; they\n"
        "are then made from the text. Each file is read to its end first.\n"
        "\n"
        "Under constraints the labels are the best that obey all of them, n-best lists hold\n"
        "such labellings alone, and probabilities are given that the labelling obeys; with\n"
        "--posterior the labels are those, of all labellings that obey, whose probabilities\n"
        "have the largest sum. docs/constraints.md explains each.\n"
        "\n"
        "--html writes a page and --svg one picture, to look at: every chunk, or, where labels\n"
        "are no chunks, every token, is a box with its words, its label and its probability,\n"
        "filled the more the more probable it is. What is outside of chunks is underlined with\n"
        "dots where that is less than 90 % sure. The page names other labels under the mouse.\n"
        "\n"
        "'trellis crf_test ...' and 'trellis wapiti label ...' take the options of those "
        "programs.\n"
        "\n"
        "A model of graphs predicts one more column for each of its kinds of labels.  It says\n"
        "LABEL:P for probabilities that are exact and LABEL~P for estimates; how many graphs\n"
        "were not solved exactly is said at the end. Pages and pictures have every sentence once\n"
        "for each kind of labels; a chunk is as probable as the least probable of its labels.\n",
    .examples = "  trellis tag -m chunk.model new.txt > tagged.txt\n"
                "  trellis tag -m chunk.model --marginals --nbest 3 < new.txt\n"
                "  trellis tag -m ner.model --html -o tagged.html new.txt\n"
                "  trellis tag -m ner.model --scheme iob2 --max-spans PER=2 new.txt\n"
                "  echo 'Anna Berg lives in Graz.' | trellis tag -m ner.model --text\n",
    .options = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .max_operands = (size_t)-1,
    .run = run,
};
