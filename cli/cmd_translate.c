/* cmd_translate.c -- trellis translate: learns from parallel text, translates by it. */
/* SPDX-License-Identifier: MIT */
#include "trellis/translate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "output.h"
#include "progress.h"
#include "signals.h"
#include "trellis/parser.h"
#include "verbs.h"

typedef struct settings {
    const char *model, *write, *to;
    trl_translate_data data;
    trl_translate_options train;
    trl_translate_limits limits;
    double memory;
    int input; /* words or trees */
    bool score_words, quiet;
} settings;

static const char *const inputs[] = {"words", "trees", NULL};

#define TRAIN_OPTION(name) OPTION_LIBRARY(name, trl_translate_option_table, settings, train)
#define LIMIT_OPTION(name) OPTION_LIBRARY(name, trl_translate_limit_table, settings, limits)

static option options[] = {
    {"model", 'm', OPTION_STRING, OPTION_FIELD(settings, model), .value = "MODEL",
     .file = FILE_INPUT, .help = "translate with what -w has kept"},
    {"write", 'w', OPTION_STRING, OPTION_FIELD(settings, write), .value = "MODEL",
     .file = FILE_OUTPUT, .help = "learn from SOURCE and TARGET and write a model"},
    {TRAIN_OPTION("threads"), .letter = 'j',
     .help = "of -w: threads, 0 for one per processor; the model does not depend on it"},
    {"quiet", 'q', OPTION_FLAG, OPTION_FIELD(settings, quiet), .help = "no progress, no warnings"},
    {.help = "Translating"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, to), .value = "FILE", .file = FILE_OUTPUT,
     .fallback = "standard output", .help = "where to write"},
    {"input", 'f', OPTION_CHOICE, OPTION_FIELD(settings, input), .choices = inputs,
     .help = "a sentence a line, or trees as 'trellis parse' prints them"},
    {LIMIT_OPTION("nbest"), .letter = 'n',
     .help = "the N best translations, from 2 on as lines NUMBER ||| TEXT ||| SCORE, sentences "
             "counted from 0"},
    {LIMIT_OPTION("explain"), .letter = 'e',
     .help = "after each translation its tree, what was chosen for words and nodes, what it costs "
             "and what the alternatives would have cost, then an empty line"},
    {LIMIT_OPTION("ratio")},
    {LIMIT_OPTION("items")},
    {"score-words", .type = OPTION_FLAG, OPTION_FIELD(settings, score_words),
     .help = "how often the classifiers of words are right, on SOURCE and TARGET with links"},
    {.help = "Learning"},
    {"parser", 'p', OPTION_STRING, OPTION_FIELD(settings, data.parser), .value = "MODEL",
     .file = FILE_INPUT,
     .help = "a parser ('trellis train --kind tree'), which becomes part of the model"},
    {"trees", .type = OPTION_STRING, OPTION_FIELD(settings, data.trees), .value = "FILE",
     .file = FILE_INPUT, .fallback = "made by the parser",
     .help = "a tree for every line of SOURCE that is not empty"},
    {"links", .type = OPTION_STRING, OPTION_FIELD(settings, data.links), .value = "FILE",
     .file = FILE_INPUT, .fallback = "as 'trellis align' finds them",
     .help = "word alignments, a line of 0-0 1-2 ... a pair"},
    {"head-rules", .type = OPTION_STRING, OPTION_FIELD(settings, data.heads), .value = "FILE",
     .file = FILE_INPUT, .fallback = "built in", .help = "which child is the head"},
    {TRAIN_OPTION("words")},
    {TRAIN_OPTION("iterations")},
    {TRAIN_OPTION("drop-lost")},
    {TRAIN_OPTION("min-count")},
    {TRAIN_OPTION("min-share")},
    {TRAIN_OPTION("tune")},
    {TRAIN_OPTION("tune-null")},
    {TRAIN_OPTION("lambda")},
    {TRAIN_OPTION("eta")},
    {TRAIN_OPTION("sample")},
    {TRAIN_OPTION("c2")},
    {TRAIN_OPTION("no-intercept")},
    {TRAIN_OPTION("features")},
    {TRAIN_OPTION("features-of")},
    {"memory", .type = OPTION_REAL, OPTION_FIELD(settings, memory), .value = "MB",
     .help = "features of a classifier beyond this go to a temporary file"},
    {TRAIN_OPTION("seed")},
    {TRAIN_OPTION("checkpoint")},
    {TRAIN_OPTION("resume")},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.train = trl_translate_options_default(),
                                        .limits = trl_translate_limits_default(),
                                        .memory = 1024.0};
}

/* ---- learning -------------------------------------------------------------------------------- */

static void on_note(void *ctx, const char *what)
{
    const settings *s = ctx;
    if (!s->quiet)
        message_line("%s", what);
}

static void summarise(const trl_translate_result *r)
{
    char time[40];
    progress_duration(r->seconds, time, sizeof time);
    message_line("nodes: %" PRIu64 " keep their order, %" PRIu64 " swap, %" PRIu64
                 " have a side without words",
                 r->orders[1], r->orders[2], r->orders[0]);
    message_line("words: %" PRIu64 " candidates, %" PRIu64 " classifiers, %" PRIu64
                 " inferences, %" PRIu64 " features",
                 r->candidates, r->classifiers, r->inferences, r->features);
    message_line("orders: %" PRIu64 " classifiers, %" PRIu64 " inferences, %" PRIu64 " features",
                 r->node_classifiers, r->node_examples, r->node_features);
    if (r->lambda > 0.0)
        message_line("tuning: %" PRIu64 " pairs, lambda %.4g to %.4g, loss %.5f", r->tuned,
                     r->lambda, r->lambda_most, r->tune_loss);
    else if (!isnan(r->tune_loss))
        message_line("tuning: %" PRIu64 " pairs, loss %.5f", r->tuned, r->tune_loss);
    if (!isnan(r->tune_f[0])) {
        char most[40] = "";
        if (r->null_most > 0.0)
            snprintf(most, sizeof most, ", at most %.4g", r->null_most);
        message_line("tuning: NULL costs %.4g more%s: F %.2f, with exponent 2 %.2f", r->null_add,
                     most, r->tune_f[0], r->tune_f[1]);
    }
    message_line("time %s", time);
}

static int train(settings *s, const operands *args)
{
    trl_error err = {0};
    trl_translate_result r;
    if (s->train.resume && !s->train.checkpoint)
        return message_usage("--resume needs --checkpoint FILE, the file to go on from");
    if (!output_check(s->write) || (s->train.checkpoint && !output_check(s->train.checkpoint)))
        return CLI_FAILED;
    s->data.source = args->item[0];
    s->data.target = args->n > 1 ? args->item[1] : NULL;
    s->train.memory = (size_t)(s->memory * 1048576.0);
    s->train.note = on_note;
    s->train.note_ctx = s;
    signals_end(s->train.checkpoint ? "stopped: --resume goes on from the checkpoint"
                                    : "stopped: nothing was written");
    if (trl_translate_train(&s->data, &s->train, s->write, &r, &err) != TRL_OK) {
        message_error(&err);
        return CLI_FAILED;
    }
    if (!s->quiet)
        summarise(&r);
    return CLI_DONE;
}

static int score_words(settings *s, const trl_translate_model *m, const operands *args)
{
    trl_error err = {0};
    trl_word_accuracy a;
    text t = {0};
    s->data.source = args->item[0];
    s->data.target = args->n > 1 ? args->item[1] : NULL;
    if (trl_translate_score_words(m, &s->data, s->train.threads, &a, &err) != TRL_OK) {
        message_error(&err);
        return CLI_FAILED;
    }
    text_fmt(&t, "words %" PRIu64 "\nright %" PRIu64 "\naccuracy %.2f\n", a.words, a.right,
             a.words ? 100.0 * (double)a.right / (double)a.words : 0.0);
    text_fmt(&t, "with a choice %" PRIu64 "\nright %" PRIu64 "\naccuracy %.2f\n", a.known,
             a.known_right, a.known ? 100.0 * (double)a.known_right / (double)a.known : 0.0);
    return output_print(&t);
}

/* ---- translating ----------------------------------------------------------------------------- */

typedef struct job {
    const settings *s;
    trl_translator *t;
    output out;
    uint64_t number, warnings;
} job;

static bool print(job *j, const trl_translations *x)
{
    text t = {0};
    for (size_t k = 0; k < x->n; k++) {
        const trl_translated *b = &x->best[k];
        if (j->s->limits.nbest > 1)
            text_fmt(&t, "%" PRIu64 " ||| %.*s ||| %.6f\n", j->number, (int)b->text.n, b->text.p,
                     b->score);
        else
            text_fmt(&t, "%.*s\n", (int)b->text.n, b->text.p);
    }
    if (j->s->limits.explain)
        text_fmt(&t, "%.*s\n", (int)x->explanation.n, x->explanation.n ? x->explanation.p : "");
    j->number++;
    j->warnings += x->warning != NULL;
    const bool ok = output_text(&j->out, &t);
    text_fini(&t);
    return ok;
}

static trl_status translate_words(job *j, const char *path, bool *ok, trl_error *err)
{
    trl_sentence_reader *r = NULL;
    trl_status st = trl_sentence_reader_open(path, TRL_SENTENCE_WORDS, &r, err);
    while (st == TRL_OK && *ok) {
        trl_sentence s;
        trl_translations x;
        bool more;
        st = trl_sentence_reader_next(r, &s, &more, err);
        if (st != TRL_OK || !more)
            break;
        st = trl_translate_sentence(j->t, s.word, s.n, &x, err);
        if (st == TRL_OK)
            *ok = print(j, &x) && (trl_sentence_reader_ready(r) || output_flush(&j->out));
    }
    trl_sentence_reader_free(r);
    return st;
}

static trl_status translate_trees(job *j, const char *path, bool *ok, trl_error *err)
{
    const trl_transform how = {.unescape = true};
    trl_treebank *bank = NULL;
    trl_status st = trl_treebank_open(path, &how, false, &bank, err);
    while (st == TRL_OK && *ok) {
        trl_tree tree;
        trl_translations x;
        bool more;
        st = trl_treebank_next(bank, &tree, &more, err);
        if (st != TRL_OK || !more)
            break;
        st = trl_translate_tree(j->t, &tree, &x, err);
        if (st == TRL_OK)
            *ok = print(j, &x);
    }
    trl_treebank_free(bank);
    return st;
}

static int translate(settings *s, const trl_translate_model *m, const operands *args)
{
    job j = {.s = s};
    trl_error err = {0};
    trl_status st = trl_translator_new(m, &s->limits, &j.t, &err);
    if (st != TRL_OK) {
        message_error(&err);
        return CLI_FAILED;
    }
    bool ok = output_open(&j.out, s->to);
    for (size_t k = 0; st == TRL_OK && ok && k < (args->n ? args->n : 1); k++) {
        const char *path = args->n ? args->item[k] : "-";
        st = (s->input ? translate_trees : translate_words)(&j, path, &ok, &err);
    }
    if (st != TRL_OK) {
        output_flush(&j.out);
        message_error(&err);
    }
    if (j.warnings && !s->quiet)
        message_warn("sentences with a simpler tree than the parser's best: %" PRIu64, j.warnings);
    trl_translator_free(j.t);
    if (st != TRL_OK) {
        output_discard(&j.out);
        return CLI_FAILED;
    }
    return output_close(&j.out) && ok ? CLI_DONE : CLI_FAILED;
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    trl_translate_model *m = NULL;
    trl_error err = {0};
    if (!s->model == !s->write)
        return message_usage("-m translates, -w learns: one of them");
    if (s->write || s->score_words) {
        if (args->n == 0 || args->n > 2)
            return message_usage("SOURCE and TARGET, or one file with both");
        if (s->write)
            return train(s, args);
    }
    if (trl_translate_model_open(s->model, &m, &err) != TRL_OK) {
        message_error(&err);
        return CLI_FAILED;
    }
    const int code = s->score_words ? score_words(s, m, args) : translate(s, m, args);
    trl_translate_model_free(m);
    return code;
}

const verb verb_translate = {
    .name = "translate",
    .summary = "translate, and learn to from parallel text",
    .usage = "-m MODEL [OPTION]... [FILE]...\n       trellis translate -w MODEL [OPTION]... SOURCE "
             "TARGET",
    .description =
        "Translates by changing the tree of a sentence: every word becomes a word of the other\n"
        "language or nothing, every node keeps or swaps its children; boosted classifiers that\n"
        "see the whole sentence say what that costs, and the cheapest translation is printed.\n"
        "\n"
        "With -w it learns: line k of SOURCE is translated by line k of TARGET (or one FILE has\n"
        "'source ||| target').  Words are separated by blanks.  Where --links and --trees are not\n"
        "given, the text is aligned and parsed first.\n",
    .examples = "  trellis translate -w en-fr.model -p en.model train.en train.fr\n"
                "  trellis translate -m en-fr.model new.en >new.fr\n"
                "  trellis translate -m en-fr.model --explain -n 5 new.en\n",
    .options = options,
    .library_rows = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 0,
    .max_operands = (size_t)-1,
    .operand = "text",
    .run = run,
};
