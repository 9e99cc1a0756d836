/* cmd_cluster.c -- trellis cluster: Brown clusters of the words of a text. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "message.h"
#include "output.h"
#include "progress.h"
#include "signals.h"
#include "trellis/cluster.h"
#include "verbs.h"

typedef struct settings {
    trl_cluster_options cluster;
    bool quiet;
} settings;

static const char *const text_formats[] = {"text", "columns", NULL};

static const option options[] = {
    {"output", 'o', OPTION_STRING, true, OPTION_FIELD(settings, cluster.output),
     .value = "CLUSTERS", .file = FILE_OUTPUT, .help = "where to write the clusters"},
    {"clusters", 'c', OPTION_INTEGER, OPTION_FIELD(settings, cluster.clusters), .value = "N",
     .help = "number of clusters"},
    {"min-count", .type = OPTION_INTEGER, OPTION_FIELD(settings, cluster.min_count), .value = "N",
     .help = "leave words out that occur less often"},
    {"format", 'f', OPTION_CHOICE, OPTION_FIELD(settings, cluster.columns), .choices = text_formats,
     .help = "one sentence a line, or one word a line in columns"},
    {"column", .type = OPTION_INTEGER, OPTION_FIELD(settings, cluster.column), .value = "N",
     .help = "the column of the words, 1 the first"},
    {"threads", 'j', OPTION_INTEGER, OPTION_FIELD(settings, cluster.threads), .value = "N",
     .help = "threads, 0 for one per processor; the result does not depend on it"},
    {"quiet", 'q', OPTION_FLAG, OPTION_FIELD(settings, quiet), .help = "no progress, no summary"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.cluster = trl_cluster_options_default()};
}

#define STOPPED "stopped: no clusters were written"

/* A log gets one line in ten seconds, a terminal a line that is rewritten. */
static bool on_progress(void *ctx, const trl_cluster_progress *now)
{
    progress *p = ctx;
    char time[40], left[40] = "";
    const bool read = strcmp(now->stage, "read") == 0;
    if (read)
        signals_note();
    if (p->quiet)
        return signals_noted();
    progress_duration(now->seconds, time, sizeof time);
    if (read) {
        message_line("read %" PRIu64 " tokens, %" PRIu64 " words, %" PRIu64 " pairs  time %s",
                     now->tokens, now->words, now->pairs, time);
        return signals_noted();
    }
    if (!p->terminal && now->seconds - p->shown < 10.0)
        return signals_noted();
    p->shown = now->seconds;
    if (isfinite(now->seconds_left))
        progress_duration(now->seconds_left, left, sizeof left);
    text t = {0};
    text_fmt(&t, "%s %" PRIu64 " of %" PRIu64 "  time %s%s%s", now->stage, now->done, now->total,
             time, left[0] ? "  left " : "", left);
    text_char(&t, '\0');
    if (t.failed) /* no reason to end a run */
        ;
    else if (p->terminal)
        message_status(t.p);
    else
        message_line("%s", t.p);
    text_fini(&t);
    return signals_noted();
}

static void summary(const settings *s, const trl_cluster_result *r)
{
    char time[40];
    progress_duration(r->seconds, time, sizeof time);
    message_line("words        %" PRIu64 " in %zu clusters", r->words, r->clusters);
    if (r->left_out)
        message_line("left out     %" PRIu64 " words that are too rare", r->left_out);
    message_line("information  %.6f bits of %.6f between adjacent words", r->information,
                 r->word_information);
    message_line("time         %s", time);
    message_line("clusters     %s", s->cluster.output);
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    static const char *const standard_input[] = {"-"};
    progress shown;
    trl_cluster_result result;
    trl_error err = {0};
    if (strcmp(s->cluster.output, "-") == 0)
        return message_usage("clusters cannot be written to standard output");
    signals_end(STOPPED);
    if (!output_check(s->cluster.output))
        return CLI_FAILED;
    progress_init(&shown, s->quiet);
    s->cluster.text = args->n ? args->item : standard_input;
    s->cluster.n_text = args->n ? args->n : 1;
    s->cluster.progress = on_progress;
    s->cluster.progress_ctx = &shown;
    const trl_status st = trl_cluster(&s->cluster, &result, &err);
    message_status(NULL);
    if (st != TRL_OK) {
        if (st != TRL_ECANCEL) {
            message_error(&err);
            return CLI_FAILED;
        }
        message_say("%s", STOPPED);
        return signals_exit_code(true);
    }
    if (!s->quiet)
        summary(s, &result);
    return CLI_DONE;
}

const verb verb_cluster = {
    .name = "cluster",
    .summary = "group the words of a text into clusters",
    .usage = "[OPTION]... -o CLUSTERS [TEXT]...",
    .description =
        "Groups words that occur next to similar words (Brown clustering), from raw text:\n"
        "one sentence a line, words separated by blanks, or columns.  Without TEXT it\n"
        "reads standard input.  CLUSTERS gets one line for each word,\n"
        "\n"
        "  PATH <TAB> WORD <TAB> COUNT\n"
        "\n"
        "where PATH is the way to the word's cluster in the tree of merges, written in 0 and "
        "1:\n"
        "clusters with a long common prefix are alike.  Lines are sorted by path, then by "
        "decreasing count.  Neighbours are counted within a sentence; its beginning and its end\n"
        "count as neighbours, too.\n"
        "\n"
        "At the end it prints the mutual information of adjacent clusters, which the\n"
        "clustering keeps as large as it can, and that of adjacent words, its upper bound.\n",
    .examples = "  trellis cluster -c 256 -o news.clusters news.txt.gz\n"
                "  trellis cluster --min-count 3 -f columns -o words.clusters train.txt\n",
    .options = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 0,
    .max_operands = (size_t)-1,
    .operand = "a text",
    .run = run,
};
