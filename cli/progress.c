/* progress.c -- what is shown after each iteration. */
/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "style.h"

#define REDRAW 0.05 /* seconds between two drawings: fast iterations must not wait for us */

void progress_init(progress *p, bool quiet)
{
    *p = (progress){.quiet = quiet, .terminal = style_is_terminal(STDERR_FILENO), .shown = -REDRAW};
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

/* Seconds matter less the longer it takes; an estimate has no fractions. */
static void short_duration(double seconds, char *out, size_t cap)
{
    if (seconds < 59.5)
        snprintf(out, cap, "%.0f s", seconds < 1.0 ? 1.0 : seconds);
    else if (seconds < 3570.0)
        snprintf(out, cap, "%.0f min", seconds / 60.0);
    else
        snprintf(out, cap, "%.1f h", seconds / 3600.0);
}

/* Not where nothing is left, nor less than a second. */
static void add_left(const trl_progress *now, text *t)
{
    char time[40];
    const bool last = now->max_iterations && now->iteration >= now->max_iterations;
    if (last || !isfinite(now->seconds_left) || now->seconds_left < 1.0)
        return;
    short_duration(now->seconds_left, time, sizeof time);
    text_fmt(t, "  left %s", time);
}

/* Every number with its name: a log is read by people who do not know the columns. */
static void log_line(const trl_progress *now, text *t)
{
    char time[40];
    progress_duration(now->seconds, time, sizeof time);
    text_fmt(t, "iteration %4" PRIu64, now->iteration);
    if (isfinite(now->objective))
        text_fmt(t, "  objective %s%.4f", now->estimated ? "about " : "", now->objective);
    if (isfinite(now->gradient))
        text_fmt(t, "  gradient %.3g", now->gradient);
    if (isfinite(now->dev_score))
        text_fmt(t, "  dev %.2f", now->dev_score);
    if (isfinite(now->dev_best) && now->dev_best > now->dev_score)
        text_fmt(t, " (best %.2f)", now->dev_best);
    text_fmt(t, "  time %s", time);
    add_left(now, t);
}

/* ---- the line of a terminal ------------------------------------------------------------------ */

/* What is left out, one after the other, until the line fits; dev score and time stay. */
enum { NO_BAR = 1, NO_GRADIENT, NO_BEST, SHORT_NAMES, NO_LEFT, NO_OBJECTIVE, LAST_CUT };

#define BAR 20

/* How far the iterations are, where they have an end. */
static void add_bar(const trl_progress *now, text *t)
{
    const uint64_t most = now->max_iterations;
    const double part = (double)now->iteration / (double)most;
    const int full = (int)((part < 1.0 ? part : 1.0) * BAR);
    text_str(t, " [");
    for (int i = 0; i < BAR; i++)
        text_char(t, i < full ? '=' : i == full ? '>' : ' ');
    text_char(t, ']');
}

static void terminal_line(const trl_progress *now, int cut, text *t)
{
    char time[40];
    const bool full = cut < SHORT_NAMES, end = now->max_iterations >= now->iteration;
    text_fmt(t, full ? "iteration %" PRIu64 : "%" PRIu64, now->iteration);
    if (end)
        text_fmt(t, full ? " of %" PRIu64 : "/%" PRIu64, now->max_iterations);
    if (end && cut < NO_BAR)
        add_bar(now, t);
    if (isfinite(now->objective) && cut < NO_OBJECTIVE)
        text_fmt(t, full ? "  objective %.4f" : "  %.1f", now->objective);
    if (isfinite(now->gradient) && cut < NO_GRADIENT)
        text_fmt(t, "  gradient %.3g", now->gradient);
    if (isfinite(now->dev_score))
        text_fmt(t, "  dev %.2f", now->dev_score);
    if (isfinite(now->dev_best) && now->dev_best > now->dev_score && cut < NO_BEST)
        text_fmt(t, " (best %.2f)", now->dev_best);
    if (full)
        progress_duration(now->seconds, time, sizeof time);
    else
        short_duration(now->seconds, time, sizeof time);
    text_fmt(t, full ? "  time %s" : "  %s", time);
    if (cut < NO_LEFT)
        add_left(now, t);
}

static void iteration_line(const progress *p, const trl_progress *now, text *t)
{
    const size_t room = style_width(STDERR_FILENO, 80) - 1;
    if (!p->terminal)
        log_line(now, t);
    for (int cut = 0; p->terminal && cut < LAST_CUT; cut++) {
        t->n = 0;
        terminal_line(now, cut, t);
        if (t->n <= room)
            break;
    }
    text_char(t, '\0');
}

static void show_iteration(progress *p, const trl_progress *now)
{
    if (p->terminal && now->seconds - p->shown < REDRAW)
        return;
    text t = {0};
    iteration_line(p, now, &t);
    if (t.failed) /* no reason to end a run */
        ;
    else if (p->terminal)
        message_status(t.p);
    else
        message_line("%s", t.p);
    text_fini(&t);
    p->shown = now->seconds;
}

static void show_read(const progress *p, const trl_progress *now)
{
    char time[40];
    message_count a, b, c;
    progress_duration(now->seconds, time, sizeof time);
    message_counted(now->n_sequences, p->trees ? "sentence" : "sequence", &a);
    message_counted(now->n_tokens, p->trees ? "word" : "token", &b);
    if (p->trees)
        message_line("read %s, %s  time %s", a.text, b.text, time);
    else
        message_line("read %s, %s, %s  time %s", a.text, b.text,
                     message_counted(now->n_labels, "label", &c), time);
}

static void show_compiled(const progress *p, const trl_progress *now)
{
    char time[40];
    message_count a, b;
    progress_duration(now->seconds, time, sizeof time);
    message_line("compiled %s, %s  time %s",
                 message_counted(now->n_attributes, p->trees ? "rule" : "attribute", &a),
                 message_counted(now->n_features, "feature", &b), time);
}

void progress_show(progress *p, const trl_progress *now)
{
    if (strcmp(now->stage, "warning") == 0) {
        message_warn_words(now->note);
        return;
    }
    if (p->quiet)
        return;
    if (strcmp(now->stage, "read") == 0)
        show_read(p, now);
    else if (strcmp(now->stage, "compiled") == 0)
        show_compiled(p, now);
    else if (strcmp(now->stage, "iteration") == 0)
        show_iteration(p, now);
    if (now->note && strcmp(now->stage, "done") != 0) /* the summary has it */
        message_line_words(now->note);
}
