/* cmd_parse.c -- trellis parse: trees for sentences. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "message.h"
#include "output.h"
#include "parse_sentence.h"
#include "trellis/known.h"
#include "trellis/parser.h"
#include "verbs.h"

typedef struct settings {
    const char *model, *to, *constraints;
    trl_sentence_format input;
    parse_style style;
    bool map, verbose, quiet;
    double max_memory;
    size_t threads;
    trl_parse_options parse;
    bool html, svg;
    parse_picture picture;
} settings;

static const char *const input_names[] = {"words", "tagged", "columns", "tagged-columns", NULL};
static const char *const form_names[] = {"line",   "pretty", "columns", "words",
                                         "tagged", "json",   "conllu",  NULL};

#define PARSE_OPTION(name) OPTION_LIBRARY(name, trl_parse_option_table, settings, parse)

static option options[] = {
    {"model", 'm', OPTION_STRING, true, OPTION_FIELD(settings, model), .value = "MODEL",
     .file = FILE_INPUT, .help = "the model that 'trellis train --kind tree' wrote"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, to), .value = "FILE", .file = FILE_OUTPUT,
     .fallback = "standard output", .help = "where to write"},
    {"input", 'f', OPTION_CHOICE, OPTION_FIELD(settings, input), .choices = input_names,
     .help =
         "one sentence a line; the same with word_TAG, the tags being kept; one word a "
         "line, in the first column; or the same with its tag in the second.  Several tags, each "
         "with a weight, are written NN:0.7|VB:0.3; ? says that the tag is not known"},
    {.help = "What to print"},
    {"to", 't', OPTION_CHOICE, OPTION_FIELD(settings, style.form), .choices = form_names,
     .help = "how trees are written; conllu: as heads and relations of the words"},
    {"draw", 'd', OPTION_FLAG, OPTION_FIELD(settings, style.draw), .help = "draw the trees"},
    {"html", .type = OPTION_FLAG, OPTION_FIELD(settings, html),
     .help = "write a page with the trees drawn, each constituent with its probability"},
    {"svg", .type = OPTION_FLAG, OPTION_FIELD(settings, svg),
     .help = "write the same as one picture, for slides and papers"},
    {PARSE_OPTION("nbest"), .letter = 'n',
     .help = "the N most probable trees, from 2 on each after its probability and a tab, with an "
             "empty line after each sentence; the first is that of --decode tree and may differ "
             "from the one tree that is printed without this option"},
    {PARSE_OPTION("probability"), .letter = 'p',
     .help =
         "print the probability of the tree and a tab before it: 0 for a tree that the grammar "
         "cannot make (--decode brackets may find one), '-' for a simpler tree, which has none. "
         "Drawn and pretty trees have it on a line of its own, JSON as "
         "{\"probability\":X,\"tree\":{...}}, X null without"},
    {PARSE_OPTION("spans"), .letter = 's',
     .help = "after the tree, a line FROM-TO LABEL PROBABILITY for every constituent that is "
             "there with 0.01 or more, most probable first, then an empty line; with --to json a "
             "line {\"spans\":[...]} of objects with from, to, label and probability"},
    {.help = "How to parse"},
    {PARSE_OPTION("decode")},
    {PARSE_OPTION("lambda")},
    {PARSE_OPTION("mix")},
    {PARSE_OPTION("latent")},
    {PARSE_OPTION("no-rerank"),
     .help = "parse by the first stage alone, where the model has a second one (train --rerank)"},
    {PARSE_OPTION("no-functions"),
     .help = "labels without function tags, also where the model was trained with --functions"},
    {"constraints", .type = OPTION_STRING, OPTION_FIELD(settings, constraints), .value = "FILE",
     .file = FILE_INPUT,
     .help = "what is known: lines SENTENCE FROM-TO LABEL ('*': any, '!': no constituent) and "
             "SENTENCE WORD =TAG, all counted from 1"},
    {PARSE_OPTION("beam")},
    {PARSE_OPTION("max-work")},
    {PARSE_OPTION("max-time")},
    {"max-memory", .type = OPTION_REAL, OPTION_FIELD(settings, max_memory), .value = "MB",
     .help = "for one sentence; 0: no limit"},
    {PARSE_OPTION("prune")},
    {"threads", 'j', OPTION_INTEGER, OPTION_FIELD(settings, threads), .value = "N",
     .help = "threads, 0 for one per processor; the output does not depend on it"},
    {"map", .type = OPTION_FLAG, OPTION_FIELD(settings, map),
     .help =
         "share the model's pages with other processes instead of reading a copy; its file must "
         "then be replaced by renaming only, never changed in place"},
    {"verbose", 'v', OPTION_FLAG, OPTION_FIELD(settings, verbose),
     .help = "say how much was parsed, and how fast"},
    {"quiet", 'q', OPTION_FLAG, OPTION_FIELD(settings, quiet), .help = "no warnings"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ =
        (settings){.threads = 1, .max_memory = 2048.0, .parse = trl_parse_options_default()};
    ((settings *)settings_)->parse.nbest = 1;
}

/* ---- batches --------------------------------------------------------------------------------- */

#define BATCH 256

typedef struct job {
    const settings *s;
    parse_context context;
    trl_parsers *parsers;
    parse_job *batch;       /* [BATCH] */
    trl_parse_input *input; /* [BATCH] */
    size_t n;
    output out;
    uint64_t sentences, words, warnings, odd, unsure;
} job;

static trl_status on_parsed(void *ctx, size_t k, const trl_parse *found, trl_error *err)
{
    job *j = ctx;
    return parse_finish(&j->context, &j->batch[k], found, err);
}

static bool run_batch(job *j)
{
    bool ok = true;
    for (size_t k = 0; k < j->n && ok; k++)
        ok = parse_prepare(&j->context, &j->batch[k], &j->input[k]);
    if (!ok) {
        message_memory();
        return false;
    }
    trl_error err = {0};
    const trl_status st = trl_parsers_run(j->parsers, j->input, j->n, on_parsed, j, &err);
    for (size_t k = 0; k < j->n && ok; k++) {
        parse_job *x = &j->batch[k];
        ok = output_text(&j->out, &x->out);
        if (ok && x->status != TRL_OK) {
            output_flush(&j->out);
            if (x->error.path[0] == 0) {
                snprintf(x->error.path, sizeof x->error.path, "%s", j->context.path);
                x->error.row = x->row;
            }
            message_error(&x->error);
            ok = false;
        } else if (x->warning[0]) {
            if (!j->s->quiet)
                message_warn("%s:%" PRIu64 ": %s", j->context.path, x->row, x->warning);
            j->warnings++;
        }
        j->sentences++;
        j->unsure += x->unsure;
        j->words += x->n;
    }
    for (size_t k = 0; k < j->n; k++) {
        free(j->batch[k].block);
        j->batch[k].out.n = 0;
        j->batch[k].block = NULL;
    }
    j->n = 0;
    if (ok && st != TRL_OK)
        message_error(&err);
    return ok && st == TRL_OK;
}

/* Copies the sentence into the batch: pointers first, bytes after them. */
static bool add_sentence(job *j, const trl_sentence *s, uint64_t number)
{
    parse_job *x = &j->batch[j->n];
    size_t bytes = 0;
    for (size_t k = 0; k < s->n; k++)
        bytes += s->word[k].n + (s->tag ? s->tag[k].n : 0);
    const size_t lists = s->n * sizeof(trl_str) * (s->tag ? 2 : 1);
    x->block = malloc(lists + bytes + 1);
    if (!x->block)
        return false;
    x->word = (trl_str *)(void *)x->block;
    x->tag = s->tag ? x->word + s->n : NULL;
    x->n = s->n;
    x->row = s->row;
    x->number = number;
    char *to = x->block + lists;
    for (size_t k = 0; k < s->n; k++) {
        memcpy(to, s->word[k].p, s->word[k].n);
        x->word[k] = (trl_str){to, s->word[k].n};
        to += s->word[k].n;
        if (s->tag) {
            memcpy(to, s->tag[k].p, s->tag[k].n);
            x->tag[k] = (trl_str){to, s->tag[k].n};
            to += s->tag[k].n;
        }
    }
    j->n++;
    return true;
}

/* Trees instead of words are parsed like anything else, but hardly on purpose. */
static void doubt(const job *j, const trl_sentence *s)
{
    const trl_str first = s->n ? s->word[0] : (trl_str){0};
    const trl_str last = s->n ? s->word[s->n - 1] : (trl_str){0};
    if (first.n < 2 || first.p[0] != '(' || last.n < 2 || last.p[last.n - 1] != ')')
        return;
    message_warn("%s:%" PRIu64 ": this looks like a tree; words are expected", j->context.path,
                 s->row);
    message_hint("'trellis trees --to words' gives the words of trees");
}

/* What a terminal or a pipe has brought is answered before more is waited for. */
static bool parse_file(job *j, const char *path, uint64_t *number)
{
    trl_sentence_reader *r = NULL;
    trl_error err = {0};
    j->context.path = strcmp(path, "-") == 0 ? "<stdin>" : path;
    trl_status st = trl_sentence_reader_open(path, j->s->input, &r, &err);
    bool ok = true;
    for (bool more = true; st == TRL_OK && ok && more;) {
        trl_sentence s;
        st = trl_sentence_reader_next(r, &s, &more, &err);
        if (st != TRL_OK || !more)
            break;
        if (s.odd_row && j->odd++ == 0)
            message_warn("%s:%" PRIu64 ":%" PRIu64 ": this is not UTF-8; such bytes are taken as "
                         "they are",
                         j->context.path, s.odd_row, s.odd_col);
        if (*number == 0)
            doubt(j, &s);
        ok = add_sentence(j, &s, ++*number);
        if (!ok)
            message_memory();
        const bool wait = !trl_sentence_reader_ready(r);
        if (ok && (wait || j->n == BATCH))
            ok = run_batch(j) && (!wait || output_flush(&j->out));
    }
    if (ok && j->n)
        ok = run_batch(j);
    if (st != TRL_OK) {
        output_flush(&j->out);
        message_error(&err);
    }
    trl_sentence_reader_free(r);
    return ok && st == TRL_OK;
}

/* ---- the run --------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool start(job *j, trl_error *err)
{
    j->batch = calloc(BATCH, sizeof *j->batch);
    j->input = calloc(BATCH, sizeof *j->input);
    if (!j->batch || !j->input) {
        message_memory();
        return false;
    }
    if (trl_parsers_new(j->context.model, &j->s->parse, j->s->threads, &j->parsers, err) == TRL_OK)
        return true;
    message_error(err);
    return false;
}

static void finish(job *j)
{
    trl_parsers_free(j->parsers);
    for (size_t k = 0; j->batch && k < BATCH; k++) {
        free(j->batch[k].block);
        parse_forget(&j->batch[k]);
        text_fini(&j->batch[k].out);
    }
    free(j->batch);
    free(j->input);
}

#define MOST_NAMED 10

/* Warns of what is said about sentences that are not there, `sentences` having been read. */
static void check_known(const job *j, uint64_t sentences)
{
    uint64_t which, row;
    size_t beyond = 0;
    for (size_t k = 0; trl_known_list_item(j->context.known, k, &which, &row); k++)
        if (which > sentences && beyond++ < MOST_NAMED)
            message_warn("%s:%" PRIu64 ": there is no sentence %" PRIu64
                         " in the input, which has %" PRIu64,
                         j->s->constraints, row, which, sentences);
    if (beyond > MOST_NAMED)
        message_warn("%s: and so on: %zu more", j->s->constraints, beyond - MOST_NAMED);
}

static bool parse_all(job *j, const operands *args)
{
    uint64_t number = 0;
    const double from = seconds();
    bool ok = true;
    if (args->n == 0)
        ok = parse_file(j, "-", &number);
    for (size_t k = 0; ok && k < args->n; k++)
        ok = parse_file(j, args->item[k], &number);
    const double took = seconds() - from;
    if (ok && number == 0 && !j->s->quiet)
        message_warn("no sentences in the input");
    if (ok && j->s->constraints)
        check_known(j, number);
    const uint64_t states = trl_parsers_states(j->parsers);
    if (ok && j->unsure && !j->s->quiet)
        message_line("%" PRIu64 " of %" PRIu64 " sentences %s", j->unsure, j->sentences,
                     states ? "have the best tree that was found before the search met its limit"
                            : "have more derivations than were looked at: a tree that is not "
                              "listed may be more probable than the last one that is");
    if (ok && j->s->verbose)
        message_line("%" PRIu64 " sentences, %" PRIu64 " words in %.2f s: %.0f words/s",
                     j->sentences, j->words, took, (double)j->words / took);
    if (ok && j->s->verbose && states)
        message_line("%" PRIu64 " states looked at, %.1f a word", states,
                     (double)states / (double)j->words);
    return ok;
}

/* Pictures show probabilities where the model has them; all trees of one are drawn in order. */
static int settle_picture(settings *s)
{
    if (s->html && s->svg)
        return message_usage("give one of --html and --svg");
    if (s->style.draw || s->style.form != TRL_TREE_LINE || s->parse.spans || s->parse.probability)
        return message_usage("--html and --svg draw trees with their probabilities: leave out "
                             "--draw, --to, --spans and --probability");
    s->picture.as = s->html ? PICTURE_HTML : PICTURE_SVG;
    s->style.picture = true;
    if (s->svg)
        s->threads = 1;
    return CLI_DONE;
}

/* What is printed follows from what is asked for; CLI_DONE, or a refusal that was said. */
static int settle(settings *s)
{
    if (s->parse.nbest == 0)
        return message_usage("--nbest 0: a number above 0 is needed");
    s->parse.max_bytes = s->max_memory > 0.0 ? (size_t)(s->max_memory * 1048576.0) : 0;
    s->style.numbered = s->parse.nbest > 1 || s->parse.probability;
    s->style.apart = s->parse.nbest > 1 || s->parse.spans;
    s->style.spans = s->parse.spans;
    if (s->style.numbered && s->style.form == TRL_TREE_COLUMNS && !s->style.draw)
        return message_usage("columns have no place for probabilities: --to columns goes with "
                             "neither --nbest nor --probability");
    return s->html || s->svg ? settle_picture(s) : CLI_DONE;
}

/* With the beginning and the end of a page or picture, if it is one. */
static bool parse_shown(job *j, settings *s, const operands *args)
{
    trl_error err = {0};
    text t = {0};
    const char *slash = strrchr(s->model, '/');
    char title[300];
    snprintf(title, sizeof title, "Trees by %s", slash ? slash + 1 : s->model);
    trl_status st = parse_picture_begin(&s->picture, title, &t, &err);
    bool ok = st == TRL_OK && output_text(&j->out, &t) && parse_all(j, args);
    t.n = 0;
    if (ok)
        st = parse_picture_end(&s->picture, &t, &err);
    if (st != TRL_OK)
        message_error(&err);
    ok = ok && st == TRL_OK && output_text(&j->out, &t);
    text_fini(&t);
    return ok;
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    const int refused = settle(s);
    if (refused)
        return refused;
    memory_limit_machine(1.0);
    trl_error err = {0};
    trl_parse_model *model = NULL;
    trl_known_list *known = NULL;
    if ((s->constraints && trl_known_list_read(s->constraints, &known, &err) != TRL_OK) ||
        (s->map ? trl_parse_model_map : trl_parse_model_open)(s->model, &model, &err) != TRL_OK) {
        message_error(&err);
        trl_known_list_free(known);
        return CLI_FAILED;
    }
    job j = {.s = s, .context = {&s->style, model, known, s->constraints, NULL, &s->picture}};
    bool ok = false;
    if (s->style.picture)
        s->parse.spans = s->parse.probability = trl_parse_model_info(model).is_probability;
    if (output_open(&j.out, s->to)) {
        ok = start(&j, &err) && (s->style.picture ? parse_shown(&j, s, args) : parse_all(&j, args));
        if (ok)
            ok = output_close(&j.out);
        else
            output_discard(&j.out);
    }
    finish(&j);
    parse_picture_fini(&s->picture);
    trl_parse_model_free(model);
    trl_known_list_free(known);
    return ok ? CLI_DONE : err.code == TRL_EINVAL ? CLI_USAGE : CLI_FAILED;
}

const verb verb_parse = {
    .name = "parse",
    .summary = "parse sentences into trees",
    .usage = "[OPTION]... -m MODEL [INPUT]...",
    .description =
        "Parses sentences, standard input without INPUT: one tokenised sentence a line, one tree\n"
        "a line back.  There is always a tree: where the grammar has none, or a limit is met, a\n"
        "simpler one is printed with a warning.  Trees are printed as sentences come: a program\n"
        "may write one and read the answer before it writes the next.\n"
        "\n"
        "--html writes a page and --svg one picture of all trees, to look at: below the label of\n"
        "a constituent stands how probable it is, whatever the rest of the tree, and its ground\n"
        "is filled the more the more probable it is. Models without probabilities have plain "
        "trees.\n",
    .examples = "  echo 'The cat sleeps .' | trellis parse -m parser.model --draw\n"
                "  trellis parse -m parser.model --html -o trees.html sentences.txt\n"
                "  trellis parse -m parser.model -j 0 sentences.txt >trees.mrg\n"
                "  trellis parse -m parser.model --nbest 5 sentences.txt\n",
    .options = options,
    .library_rows = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .max_operands = (size_t)-1,
    .operand = "sentences",
    .run = run,
};
