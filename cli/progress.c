/* progress.c -- what is shown after each iteration. */
/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "text.h"

#define REDRAW 0.05 /* seconds between two drawings: fast iterations must not wait for us */

void progress_init(progress *p, bool quiet)
{
    const char *term = getenv("TERM");
    const bool dumb = !term || strcmp(term, "dumb") == 0;
    *p = (progress){.quiet = quiet, .terminal = isatty(STDERR_FILENO) && !dumb, .shown = -REDRAW};
}

void progress_duration(double seconds, char *out, size_t cap)
{
    if (seconds < 60.0) {
        snprintf(out, cap, "%.*f s", seconds < 10.0 ? 2 : 1, seconds);
        return;
    }
    const uint64_t s = (uint64_t)(seconds + 0.5);
    if (s < 3600)
        snprintf(out, cap, "%" PRIu64 " min %02" PRIu64 " s", s / 60, s % 60);
    else
        snprintf(out, cap, "%" PRIu64 " h %02" PRIu64 " min", s / 3600, s % 3600 / 60);
}

static void add_duration(text *t, const char *name, double seconds)
{
    char s[40];
    if (!isfinite(seconds))
        return;
    progress_duration(seconds, s, sizeof s);
    text_fmt(t, "  %s %s", name, s);
}

/* Every number with its name: a log is read by people who do not know the columns. */
static void iteration_line(const trl_progress *now, text *t)
{
    text_fmt(t, "iteration %4" PRIu64, now->iteration);
    if (isfinite(now->objective))
        text_fmt(t, "  objective %.4f", now->objective);
    if (isfinite(now->gradient))
        text_fmt(t, "  gradient %.3g", now->gradient);
    if (isfinite(now->dev_score))
        text_fmt(t, "  dev %.2f", now->dev_score);
    if (isfinite(now->dev_best) && now->dev_best > now->dev_score)
        text_fmt(t, " (best %.2f)", now->dev_best);
    add_duration(t, "time", now->seconds);
    add_duration(t, "left", now->seconds_left);
    text_char(t, '\0');
}

static void show_iteration(progress *p, const trl_progress *now)
{
    if (p->terminal && now->seconds - p->shown < REDRAW)
        return;
    text t = {0};
    iteration_line(now, &t);
    if (t.failed) /* no reason to end a run */
        ;
    else if (p->terminal)
        message_status(t.p);
    else
        message_line("%s", t.p);
    text_fini(&t);
    p->shown = now->seconds;
}

void progress_show(progress *p, const trl_progress *now)
{
    if (strcmp(now->stage, "warning") == 0) {
        message_warn("%s", now->note);
        return;
    }
    if (p->quiet)
        return;
    char time[40];
    progress_duration(now->seconds, time, sizeof time);
    if (strcmp(now->stage, "read") == 0 && p->trees)
        message_line("read %" PRIu64 " sentences, %" PRIu64 " words  time %s", now->n_sequences,
                     now->n_tokens, time);
    else if (strcmp(now->stage, "compiled") == 0 && p->trees)
        message_line("compiled %" PRIu64 " rules, %" PRIu64 " features  time %s", now->n_attributes,
                     now->n_features, time);
    else if (strcmp(now->stage, "read") == 0)
        message_line("read %" PRIu64 " sequences, %" PRIu64 " tokens, %" PRIu64 " labels  time %s",
                     now->n_sequences, now->n_tokens, now->n_labels, time);
    else if (strcmp(now->stage, "compiled") == 0)
        message_line("compiled %" PRIu64 " attributes, %" PRIu64 " features  time %s",
                     now->n_attributes, now->n_features, time);
    else if (strcmp(now->stage, "iteration") == 0)
        show_iteration(p, now);
    if (now->note && strcmp(now->stage, "done") != 0) /* the summary has it */
        message_line("%s", now->note);
}
