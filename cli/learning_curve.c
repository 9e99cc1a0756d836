/* learning_curve.c -- training again on less and less data. */
/* SPDX-License-Identifier: MIT */
#include "learning_curve.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "output.h"
#include "plot.h"
#include "progress.h"
#include "signals.h"

bool learning_fractions_read(const char *list, learning_fractions *f)
{
    *f = (learning_fractions){0};
    for (const char *p = list;; p++) {
        char *end;
        const double x = strtod(p, &end);
        const double last = f->n ? f->at[f->n - 1] : 0.0;
        if (x == 1.0 && end != p && !*end && f->n)
            return true; /* all data come last anyway */
        if (end == p || (*end && *end != ',') || !(x > last && x < 1.0) || f->n == MOST_FRACTIONS) {
            message_usage("--learning-curve %s: rising numbers between 0 and 1, comma between, "
                          "such as 0.1,0.25,0.5",
                          list);
            return false;
        }
        f->at[f->n++] = x;
        if (!*end)
            return true;
        p = end;
    }
}

/* ---- which sequences ------------------------------------------------------------------------- */

/* A number between 0 and 1 for sequence k, the same for the same seed [splitmix64]. */
static double place(uint64_t seed, uint64_t k)
{
    uint64_t x = seed + (k + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* Treebanks have trees that are not counted, as those that are too long. */
static size_t mask_size(const learning_point *all)
{
    return 4 * (size_t)all->sequences + 1000;
}

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct curve_run {
    progress shown;
    learning_point *point;
    bool learning;
} curve_run;

static bool on_progress(void *ctx, const trl_progress *now)
{
    curve_run *r = ctx;
    if (now->n_sequences) {
        r->point->sequences = now->n_sequences;
        r->point->tokens = now->n_tokens;
    }
    progress_show(&r->shown, now);
    return signals_noted();
}

static trl_status train_part(const learning_curve *c, const trl_train_options *o, uint8_t *left,
                             size_t n, learning_point *point, trl_error *err)
{
    curve_run r = {.point = point};
    trl_buf model = {0};
    trl_train_options t = *o;
    progress_init(&r.shown, c->quiet);
    r.shown.trees = strcmp(o->kind, "tree") == 0;
    for (size_t k = 0; k < n; k++)
        left[k] = place(o->seed, k) >= point->fraction;
    t.model = t.rescue = NULL;
    t.model_out = &model;
    t.leave_out = left;
    t.n_leave_out = n;
    t.progress = on_progress;
    t.progress_ctx = &r;
    if (!c->quiet)
        message_line("learning curve: %g of the data", point->fraction);
    const trl_status st = trl_train(&t, &point->result, err);
    message_status(NULL);
    trl_buf_fini(&model);
    return st;
}

/* ---- what comes out -------------------------------------------------------------------------- */

static void add_table(const learning_point *p, size_t n, text *t)
{
    const char *measure = p[n - 1].result.dev_measure;
    text_fmt(t, "%8s %10s %10s %9s %10s %9s\n", "fraction", "sequences", "tokens",
             measure ? measure : "score", "iterations", "seconds");
    for (size_t i = 0; i < n; i++)
        text_fmt(t, "%8g %10" PRIu64 " %10" PRIu64 " %9.2f %10" PRIu64 " %9.2f\n", p[i].fraction,
                 p[i].sequences, p[i].tokens, p[i].result.dev_score, p[i].result.iterations,
                 p[i].result.seconds);
}

static bool write_plot(const learning_point *p, size_t n, const char *path)
{
    plot x = {.type = PLOT_CURVE, .marks = MARKS_BOTH, .y_min = (double)NAN, .y_max = (double)NAN};
    const char *measure = p[n - 1].result.dev_measure;
    text t = {0};
    output o;
    plot_name(&x, &x.title, "learning curve");
    plot_name(&x, &x.x_name, "training sequences");
    plot_name(&x, &x.y_name, measure ? measure : "score");
    const size_t series = plot_series_of(&x, "held out");
    for (size_t i = 0; i < n && !x.failed; i++)
        plot_add(&x, series, (double)p[i].sequences, p[i].result.dev_score);
    bool ok = !x.failed && plot_svg(&x, 0, 0, &t) && output_open(&o, path);
    if (ok) {
        output_text(&o, &t);
        ok = output_close(&o);
    }
    if (x.failed)
        message_memory();
    plot_fini(&x);
    text_fini(&t);
    return ok;
}

int learning_curve_run(const learning_curve *c, const trl_train_options *o,
                       const learning_point *all)
{
    const size_t n = mask_size(all);
    uint8_t *left = malloc(n);
    learning_point point[MOST_FRACTIONS + 1];
    trl_error err = {0};
    trl_status st = TRL_OK;
    bool stopped = false;
    size_t k = 0;
    if (!left)
        return message_memory();
    for (; k < c->fractions.n && st == TRL_OK && !stopped; k++) {
        point[k] = (learning_point){.fraction = c->fractions.at[k]};
        st = train_part(c, o, left, n, &point[k], &err);
        stopped = st == TRL_OK && point[k].result.stopped;
    }
    free(left);
    if (st != TRL_OK) {
        message_error(&err);
        if (st != TRL_ECANCEL)
            message_hint("this was the run on %g of the data; the model on all of them has been "
                         "saved",
                         point[k - 1].fraction);
        return st == TRL_ECANCEL ? signals_exit_code(true) : CLI_FAILED;
    }
    if (stopped)
        return signals_exit_code(true);
    point[k++] = *all;
    text t = {0};
    add_table(point, k, &t);
    const int code = output_print(&t);
    return code == CLI_DONE && c->svg && !write_plot(point, k, c->svg) ? CLI_FAILED : code;
}
