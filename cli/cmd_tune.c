/* cmd_tune.c -- trellis tune: the penalty chosen on held-out data. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "help.h"
#include "library_options.h"
#include "message.h"
#include "output.h"
#include "plot.h"
#include "progress.h"
#include "record.h"
#include "signals.h"
#include "style.h"
#include "train_settings.h"
#include "trellis/tune.h"
#include "verbs.h"

typedef struct settings {
    train_settings base; /* first: the shared tables count on it */
    const char *grid, *records, *svg;
    uint64_t hold_out;
    trl_tune_measure measure;
    bool cold, refit;
} settings;

static const char *const measure_names[] = {
    [TRL_TUNE_GUESS] = "guess",         [TRL_TUNE_F1] = "f1",
    [TRL_TUNE_PRECISION] = "precision", [TRL_TUNE_RECALL] = "recall",
    [TRL_TUNE_ACCURACY] = "accuracy",   NULL,
};

static option options[] = {
    {.help = "Files"},
    {TRAIN_OPTION("model"), .letter = 'm', .required = true,
     .help = "where to write the best model"},
    {"template", 't', OPTION_STRING, TRAIN_FIELD(template_path), .value = "FILE",
     .file = FILE_INPUT, .fallback = "a built-in one",
     .help = "template for columns: a file (in words, of CRF++ or of Wapiti), or ner, pos, chunk, "
             "address"},
    {TRAIN_OPTION("format"), .letter = 'f'},
    {TRAIN_OPTION("dev"), .letter = 'd', .fallback = "a share of TRAIN",
     .help = "data to score the models on"},
    {TRAIN_OPTION("init"), .letter = 'i',
     .help = "start the first run from the weights of this model"},
    {"records", .type = OPTION_STRING, OPTION_FIELD(settings, records), .value = "DIR",
     .help = "write a record of every run there, as 'train --json' does: c-0.1.json, ..."},
    {"svg", .type = OPTION_STRING, OPTION_FIELD(settings, svg), .value = "FILE",
     .file = FILE_OUTPUT, .help = "write the plot there as well"},

    {.help = "Search"},
    {"grid", 'g', OPTION_STRING, OPTION_FIELD(settings, grid), .value = "LIST",
     .fallback = "0.1,0.215,0.464,1,2.15,4.64,10,none, exactly",
     .help = "values of c, separated by commas; 'none': no penalty"},
    {"hold-out", .type = OPTION_INTEGER, OPTION_FIELD(settings, hold_out), .value = "N",
     .help = "without --dev: one sequence in N of TRAIN is held out"},
    {"select", .type = OPTION_CHOICE, OPTION_FIELD(settings, measure), .choices = measure_names,
     .help = "what is compared; guess: F1 of chunks for tags like B-X and O, otherwise accuracy"},
    {"cold", .type = OPTION_FLAG, OPTION_FIELD(settings, cold),
     .help = "start every run from zero, not from the weights of the previous one"},
    {"refit", .type = OPTION_FLAG, OPTION_FIELD(settings, refit),
     .help = "train the model once more with the c chosen, held-out data included"},

#define TRAIN_CHAINS_ONLY
#include "train_model_options.h"

    {.help = "Penalties"},
    {TRAIN_OPTION("c1"), .help = "adds X times the sum of absolute weights in every run"},

#include "train_stop_options.h"

    {.help = "Others"},
    {"quiet", 'q', OPTION_FLAG, TRAIN_FIELD(quiet),
     .help = "no progress and no plot, the table alone"},
    {0},
};

static void complete(void)
{
    library_options_complete(options);
}

static void defaults(void *settings_)
{
    const trl_tune_options o = trl_tune_options_default();
    *(settings *)settings_ =
        (settings){.base.train = o.train, .hold_out = o.hold_out, .measure = o.measure};
}

/* ---- the grid -------------------------------------------------------------------------------- */

#define MOST_VALUES 1000

/* One value of c, up to a comma or the end.  False: said. */
static bool read_value(const char *s, size_t n, double *c)
{
    char word[40];
    char *end = word;
    *c = 0.0;
    if (n < sizeof word) {
        memcpy(word, s, n);
        word[n] = '\0';
        const bool none = strcmp(word, "none") == 0;
        if (!word[strspn(word, "0123456789.eE+-")] && n)
            *c = strtod(word, &end);
        if (none || (n && *end == '\0' && *c > 0.0 && isfinite(*c))) {
            *c = none ? (double)INFINITY : *c;
            return true;
        }
    }
    message_say("--grid: '%.*s' is neither a number above 0 nor 'none'", (int)n, s);
    return false;
}

/* grid[MOST_VALUES].  0: said. */
static size_t read_grid(const char *s, double *grid)
{
    for (size_t n = 0;; n++) {
        const size_t k = strcspn(s, ",");
        if (n == MOST_VALUES) {
            message_say("--grid: more than %d values", MOST_VALUES);
            return 0;
        }
        if (!read_value(s, k, &grid[n]))
            return 0;
        if (s[k] == '\0')
            return n + 1;
        s += k + 1;
    }
}

/* ---- while it runs --------------------------------------------------------------------------- */

typedef struct state {
    settings *s;
    const operands *args;
    progress shown;
    record written;
    bool learning, chunks, heading;
    size_t n_runs, n_grid;
    clock_t since; /* processor time of the program when the run began */
    text table;
    plot plot;
} state;

static bool on_progress(void *ctx, const trl_progress *now)
{
    state *x = ctx;
    if (strcmp(now->stage, "read") == 0) { /* a run begins */
        record_fini(&x->written);
        x->shown.shown = -1.0;
        if (!x->s->base.quiet)
            message_line(x->n_runs < x->n_grid ? "run %zu of %zu" : "all data", x->n_runs + 1,
                         x->n_grid);
    } else if (!x->learning && train_learns(now)) {
        signals_note();
        x->learning = true;
    }
    progress_show(&x->shown, now);
    record_add(&x->written, now);
    return signals_noted();
}

static void name_of_c(double c, char out[24])
{
    snprintf(out, 24, isinf(c) ? "none" : "%.4g", c);
}

/* A narrow terminal has fewer columns: 88 hold them all. */
static void add_columns(state *x, const char *c, const trl_tune_run *r)
{
    const trl_score_totals *h = &r->held_out;
    const size_t wide = style_width(STDOUT_FILENO, 88);
    const double none = (double)NAN;
    const bool known = !isnan(r->score);
    text *t = &x->table;
    const struct {
        bool shown;
        int width, digits;
        const char *name;
        double value;
    } column[] = {
        {wide >= 63, 8, 4, "c2", r->c2},
        {true, 8, 2, "score", r->score},
        {x->chunks && wide >= 45, 9, 2, "precision", known ? h->precision : none},
        {x->chunks && wide >= 45, 8, 2, "recall", known ? h->recall : none},
        {wide >= 54, 8, 2, "accuracy", known ? h->accuracy : none},
        {wide >= 74, 10, 0, "iterations", known ? (double)r->result.iterations : none},
        {true, 8, 2, "seconds", r->result.seconds},
        {wide >= 88, 14, 4, "objective", known ? r->result.objective : none},
    };
    text_fmt(t, "%-7s", c);
    for (size_t k = 0; k < sizeof column / sizeof *column; k++) {
        if (!column[k].shown)
            continue;
        if (x->heading)
            text_fmt(t, " %*s", column[k].width, column[k].name);
        else if (isnan(column[k].value))
            text_fmt(t, " %*s", column[k].width, "-");
        else if (k == 0)
            text_fmt(t, " %*.*g", column[k].width, column[k].digits, column[k].value);
        else
            text_fmt(t, " %*.*f", column[k].width, column[k].digits, column[k].value);
    }
    text_char(t, '\n');
}

static void add_row(state *x, const trl_tune_run *r)
{
    char c[24];
    name_of_c(r->c, c);
    x->heading = x->table.n == 0;
    if (x->heading) {
        x->chunks = r->chunks;
        add_columns(x, "c", r);
        x->heading = false;
    }
    add_columns(x, isinf(r->c) ? "-" : c, r);
}

/* A run without penalty has no place on the axis: a level line. */
static void add_point(state *x, const trl_tune_run *r)
{
    if (isfinite(r->c)) {
        plot_add(&x->plot, plot_series_of(&x->plot, "with penalty"), r->c, r->score);
        return;
    }
    double low = (double)INFINITY, high = 0.0;
    const size_t n = x->plot.n_series ? x->plot.series[0].n : 0;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, x->plot.series[0].x[i]);
        high = fmax(high, x->plot.series[0].x[i]);
    }
    const size_t level = plot_series_of(&x->plot, "no penalty");
    plot_add(&x->plot, level, n ? low : 1.0, r->score);
    plot_add(&x->plot, level, n ? high : 10.0, r->score);
}

static void result_field(text *t, const char *name, double v)
{
    text_fmt(t, "%s\"%s\":", t->n ? "," : "", name);
    text_json_real(t, v);
}

static bool save_record(state *x, const trl_tune_run *r)
{
    char c[24];
    name_of_c(r->c, c);
    text path = {0}, *m = &x->written.more;
    text_fmt(&path, "%s/c-%s.json", x->s->records, c);
    text_char(&path, '\0');
    result_field(m, "c", r->c);
    result_field(m, "c2", r->c2);
    result_field(m, "processor", (double)(clock() - x->since) / CLOCKS_PER_SEC);
    result_field(m, "f1", r->held_out.f1);
    result_field(m, "precision", r->held_out.precision);
    result_field(m, "recall", r->held_out.recall);
    result_field(m, "accuracy", r->held_out.accuracy);
    bool ok = !path.failed;
    if (!ok)
        message_memory();
    ok = ok && record_save(&x->written, path.p,
                           &(record_run){.v = &verb_tune,
                                         .settings = x->s,
                                         .train = x->args,
                                         .result = &r->result,
                                         .model_bytes = 0});
    text_fini(&path);
    return ok;
}

/* TRL_ECANCEL: said. */
static trl_status on_run(void *ctx, const trl_tune_run *r, trl_error *err)
{
    (void)err;
    state *x = ctx;
    if (r->refit)
        return TRL_OK;
    char c[24], time[40];
    name_of_c(r->c, c);
    x->n_runs++;
    add_row(x, r);
    add_point(x, r);
    message_status(NULL);
    progress_duration(r->result.seconds, time, sizeof time);
    if (!x->s->base.quiet && isnan(r->score))
        message_line("c = %s: %s", c, r->result.ending);
    else if (!x->s->base.quiet)
        message_line("c = %s: score %.2f%s  time %s", c, r->score,
                     r->best ? ", the best so far" : "", time);
    const bool ok = !x->s->records || isnan(r->score) || save_record(x, r);
    x->since = clock();
    return ok ? TRL_OK : TRL_ECANCEL;
}

/* ---- what comes out -------------------------------------------------------------------------- */

static bool draw_svg(const state *x)
{
    text t = {0};
    output o;
    bool ok = plot_svg(&x->plot, 0, 0, &t) && output_open(&o, x->s->svg);
    if (ok) {
        output_text(&o, &t);
        ok = output_close(&o);
    }
    text_fini(&t);
    return ok;
}

static int print_results(state *x, const trl_tune_run *best)
{
    const settings *s = x->s;
    char c[24];
    name_of_c(best->c, c);
    text out = {0};
    text_add(&out, x->table.p, x->table.n);
    out.failed = out.failed || x->table.failed;
    if (x->plot.failed)
        return message_memory();
    bool ok = !s->svg || draw_svg(x);
    if (ok && !s->base.quiet && x->n_runs > 1) {
        const plot_terminal how = {.height = 14, .width = style_width(STDOUT_FILENO, 80)};
        text_char(&out, '\n');
        ok = plot_text(&x->plot, &how, &out);
    }
    const int code = output_print(&out);
    if (!s->base.quiet)
        message_line("best: c = %s (--c2 %.6g), score %.2f; model %s%s", c, best->c2, best->score,
                     s->base.train.model, s->refit ? ", of all data" : "");
    return ok ? code : CLI_FAILED;
}

/* A measure of chunks for labels that are none is a mistake worth a word. */
static void warn_of_measure(const state *x)
{
    const trl_tune_measure m = x->s->measure;
    if (!x->chunks && m != TRL_TUNE_GUESS && m != TRL_TUNE_ACCURACY)
        message_warn("--select %s counts chunks, but the labels are not those of chunks",
                     measure_names[m]);
}

/* Says how it ended; returns the exit status. */
static int say_ending(state *x, trl_status st, const trl_tune_run *best, const trl_error *err)
{
    if (st != TRL_OK) {
        if (!err->msg[0]) /* on_run has said it */
            return CLI_FAILED;
        message_error(err);
        return st == TRL_EINVAL    ? CLI_USAGE
               : st == TRL_ECANCEL ? signals_exit_code(true)
                                   : CLI_FAILED;
    }
    if (best->result.stopped)
        message_say("interrupted; the best model so far has been saved");
    warn_of_measure(x);
    if (best->chunks && best->held_out.broken_iobes)
        message_warn("the held-out labels " BROKEN_IOBES);
    const int code = print_results(x, best);
    return code == CLI_DONE ? signals_exit_code(best->result.stopped) : code;
}

static int tune(settings *s, const operands *args, const double *grid, size_t n_grid)
{
    state x = {
        .s = s, .args = args, .since = clock(), .n_grid = n_grid ? n_grid : TRL_TUNE_DEFAULT};
    x.plot = (plot){.type = PLOT_LEARNING,
                    .marks = MARKS_BOTH,
                    .log_x = true,
                    .y_min = (double)NAN,
                    .y_max = (double)NAN};
    plot_name(&x.plot, &x.plot.x_name, "c");
    plot_name(&x.plot, &x.plot.y_name, "held-out score, %");
    progress_init(&x.shown, s->base.quiet);
    trl_tune_options o = {.train = s->base.train,
                          .grid = n_grid ? grid : NULL,
                          .n_grid = n_grid,
                          .hold_out = s->hold_out,
                          .measure = s->measure,
                          .cold = s->cold,
                          .refit = s->refit,
                          .on_run = on_run,
                          .ctx = &x};
    o.train.train = args->item;
    o.train.n_train = args->n;
    o.train.progress = on_progress;
    o.train.progress_ctx = &x;
    o.train.cancelled = signals_asked;
    trl_tune_run best;
    trl_error err = {0};
    const trl_status st = trl_tune(&o, &best, &err);
    message_status(NULL);
    const int code = say_ending(&x, st, &best, &err);
    record_fini(&x.written);
    text_fini(&x.table);
    plot_fini(&x.plot);
    return code;
}

/* ---- before it runs -------------------------------------------------------------------------- */

static bool check_places(const settings *s)
{
    if (s->records && mkdir(s->records, 0777) != 0) {
        struct stat sb;
        if (stat(s->records, &sb) != 0 || !S_ISDIR(sb.st_mode)) {
            message_say("%s: cannot make the folder", s->records);
            return false;
        }
    }
    return output_check(s->base.train.model) && (!s->svg || output_check(s->svg));
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    double grid[MOST_VALUES];
    size_t n = 0;
    if (strcmp(s->base.train.model, "-") == 0)
        return message_usage("a model cannot be written to standard output");
    if (s->grid && (n = read_grid(s->grid, grid)) == 0)
        return CLI_USAGE;
    if (!memory_limit(s->base.max_memory, TRAIN_MEMORY))
        return CLI_USAGE;
    train_set_rescue(&s->base);
    signals_end(TRAIN_NOTHING_YET);
    text template = {0};
    int code = CLI_FAILED;
    if (train_read_template(&s->base, &template) && check_places(s))
        code = tune(s, args, grid, n);
    text_fini(&template);
    return code;
}

const verb verb_tune = {
    .name = "tune",
    .summary = "choose the penalty on held-out data",
    .usage = "[OPTION]... -m MODEL TRAIN...",
    .description =
        "Trains a model for every c of a grid, with the sum of squared weights divided by\n"
        "2 c added to the objective (as by --c2 X of 'trellis train', X being 1 / (2 c)),\n"
        "and keeps the one with the best score on held-out data: --dev, or one in ten\n"
        "sequences of TRAIN.  The order is from strong to weak penalties; every run starts from "
        "the "
        "weights of the previous one.  All other options are those of 'trellis\n"
        "train'.\n"
        "\n"
        "A table of the runs goes to standard output, followed by a plot; --records keeps\n"
        "every run for 'trellis plot'.  SIGINT (Ctrl-C) or SIGTERM ends the search and saves\n"
        "the best model so far; the exit status is then 130 or 143.\n",
    .examples =
        "  trellis tune -t chunk.template -m chunk.model -d dev.txt train.txt\n"
        "  trellis tune --grid 0.5,1,2,none --refit -t chunk.template -m best.model train.txt\n"
        "  trellis tune --records runs --svg c.svg -m best.model train.txt\n"
        "  trellis plot -k time --by c runs/*.json\n",
    .options = options,
    .complete = complete,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .operand = "training data",
    .run = run,
};
