/* cmd_align.c -- trellis align: which words of a text and its translation belong together. */
/* SPDX-License-Identifier: MIT */
#include "trellis/align.h"

#include <string.h>

#include "message.h"
#include "output.h"
#include "progress.h"
#include "signals.h"
#include "verbs.h"

typedef struct settings {
    trl_align_options align;
    trl_symmetry symmetry;
    const char *model, *write, *to;
    size_t iterations;
    bool quiet;
} settings;

static const char *const symmetries[] = {
    "grow-diag-final-and", "grow-diag", "intersection", "union", "forward", "reverse", NULL};

#define ALIGN_OPTION(name) OPTION_LIBRARY(name, trl_align_option_table, settings, align)

static option options[] = {
    {ALIGN_OPTION("kind"), .letter = 'k'},
    {"iterations", 'n', OPTION_INTEGER, OPTION_FIELD(settings, iterations), .value = "N",
     .above_0 = true, .help = "of EM, for each model in turn"},
    {"symmetry", 's', OPTION_CHOICE, OPTION_FIELD(settings, symmetry), .choices = symmetries,
     .help = "how the two directions become one; forward: TARGET words choose"},
    {ALIGN_OPTION("null")},
    {"write", 'w', OPTION_STRING, OPTION_FIELD(settings, write), .value = "MODEL",
     .file = FILE_OUTPUT, .help = "keep what was learnt, to align other text with -m"},
    {"model", 'm', OPTION_STRING, OPTION_FIELD(settings, model), .value = "MODEL",
     .file = FILE_INPUT, .help = "do not learn: align with what -w has kept"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, to), .value = "FILE", .file = FILE_OUTPUT,
     .fallback = "standard output", .help = "where to write the alignments"},
    {ALIGN_OPTION("threads"), .letter = 'j'},
    {"quiet", 'q', OPTION_FLAG, OPTION_FIELD(settings, quiet), .help = "no progress, no warnings"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.align = trl_align_options_default(), .iterations = 5};
}

static bool on_progress(void *ctx, const trl_align_progress *p)
{
    const settings *s = ctx;
    char time[40];
    progress_duration(p->seconds, time, sizeof time);
    if (!s->quiet)
        message_line("%s  %s  iteration %zu  perplexity %.4f  time %s", p->direction, p->model,
                     p->iteration, p->perplexity, time);
    return false;
}

static void warn(const trl_bitext *b)
{
    const trl_bitext_info i = trl_bitext_get_info(b);
    const size_t unaligned = trl_bitext_unaligned(b);
    message_count n;
    if (i.empty)
        message_warn("%s of %zu without words on both sides: the line of links is empty there",
                     message_counted(i.empty, "pair", &n), i.pairs);
    if (unaligned)
        message_warn("%s with more than %d words on a side: not learnt from, the line of links is "
                     "empty there",
                     message_counted(unaligned, "pair", &n), TRL_ALIGN_MOST);
    if (i.longer > unaligned)
        message_warn("%s with more than %d words on a side: where words stand is not looked at",
                     message_counted(i.longer - unaligned, "pair", &n), TRL_ALIGN_LONGEST);
}

#define NO_LINKS "stopped: the model has been saved, no links were written"

static trl_status make_aligner(settings *s, const trl_bitext *b, trl_aligner **a, trl_error *err)
{
    if (s->model)
        return trl_aligner_open(s->model, a, err);
    s->align.ibm1 = s->align.ibm2 = s->align.hmm = s->iterations;
    s->align.forward_only = s->symmetry == TRL_FORWARD && !s->write;
    s->align.progress = on_progress;
    s->align.progress_ctx = s;
    trl_status st = trl_aligner_train(b, &s->align, a, err);
    if (st != TRL_OK || !s->write)
        return st;
    signals_note(); /* what is being written is finished */
    st = trl_aligner_save(*a, s->write, err);
    if (st == TRL_OK && !signals_noted())
        signals_end(NO_LINKS);
    return st;
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    trl_bitext *b = NULL;
    trl_aligner *a = NULL;
    trl_buf lines = {0};
    trl_error err = {0};
    output o;
    if (s->model && s->write)
        return message_usage("-m uses a model, -w writes one: one of them");
    signals_end("stopped: nothing was written");
    if (s->write && !output_check(s->write))
        return CLI_FAILED;
    trl_status st = trl_bitext_read(args->n ? args->item[0] : "-",
                                    args->n > 1 ? args->item[1] : NULL, &b, &err);
    if (st == TRL_OK && !s->quiet)
        warn(b);
    if (st == TRL_OK)
        st = make_aligner(s, b, &a, &err);
    const bool stopped = st == TRL_OK && signals_noted();
    if (st == TRL_OK && !stopped)
        st = trl_align(a, b, s->symmetry, s->align.threads, &lines, &err);
    int code = CLI_FAILED;
    if (st != TRL_OK)
        message_error(&err);
    else if (stopped) {
        message_say(NO_LINKS);
        code = signals_exit_code(true);
    } else if (output_open(&o, s->to)) {
        output_put(&o, lines.data, lines.len);
        code = output_close(&o) ? CLI_DONE : CLI_FAILED;
    }
    trl_buf_fini(&lines);
    trl_aligner_free(a);
    trl_bitext_free(b);
    return code;
}

const verb verb_align = {
    .name = "align",
    .summary = "align the words of parallel text",
    .usage = "[OPTION]... [SOURCE TARGET | FILE]",
    .description =
        "Finds out which words of a text and of its translation belong together, by models that\n"
        "are learnt from the text itself: IBM 1, IBM 2 or the hidden Markov model, in both\n"
        "directions.  Line k of SOURCE is translated by line k of TARGET; one FILE has both,\n"
        "\n"
        "  the cat sleeps ||| le chat dort\n"
        "\n"
        "Words are separated by blanks.  Every pair gives one line of links (Pharaoh's format):\n"
        "source word - target word, counted from 0.\n"
        "\n"
        "  0-0 1-1 2-2\n",
    .examples = "  trellis align train.en train.fr >train.align\n"
                "  trellis align -w en-fr.model -o train.align train.en.gz train.fr.gz\n"
                "  trellis align -m en-fr.model -s intersection new.en new.fr\n",
    .options = options,
    .library_rows = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 0,
    .max_operands = 2,
    .operand = "a text and its translation",
    .run = run,
};
