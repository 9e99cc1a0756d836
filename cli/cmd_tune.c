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
#include "message.h"
#include "output.h"
#include "plot.h"
#include "progress.h"
#include "record.h"
#include "signals.h"
#include "style.h"
#include "train_settings.h"
#include "trellis/tune.h"
#include "tune_lists.h"
#include "tune_table.h"
#include "verbs.h"

typedef struct settings {
    train_settings base; /* first: the shared tables count on it */
    const char *grid, *c1_grid, *passes, *objectives, *records, *svg;
    string_list templates, variants;
    trl_tune_options tune;
} settings;

#define TUNE_OPTION(name) OPTION_LIBRARY(name, trl_tune_option_table, settings, tune)

static option options[] = {
    {.help = "Files"},
    {TRAIN_OPTION("model"), .letter = 'm',
     .help = "where to write the best model; with --folds it may be left out"},
    {"template", 't', OPTION_LIST, OPTION_FIELD(settings, templates), .value = "FILE",
     .file = FILE_INPUT, .fallback = "a built-in one",
     .help = "template for columns: a file (in words, of CRF++ or of Wapiti), or ner, pos, chunk, "
             "address; given several times, each is tried"},
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
    {"c1-grid", .type = OPTION_STRING, OPTION_FIELD(settings, c1_grid), .value = "LIST",
     .fallback = "--c1 alone",
     .help = "values of c1, separated by commas; each is tried with each c"},
    {"objectives", .type = OPTION_STRING, OPTION_FIELD(settings, objectives), .value = "LIST",
     .fallback = "--objective alone", .help = "objectives, separated by commas; each is tried"},
    {"passes", .type = OPTION_STRING, OPTION_FIELD(settings, passes), .value = "LIST",
     .fallback = "--max-iter alone",
     .help = "values of --max-iter, separated by commas; each is tried"},
    {"variant", .type = OPTION_LIST, OPTION_FIELD(settings, variants), .value = "OPTIONS",
     .fallback = "the options alone",
     .help = "options of training that are tried, on top of the others: 'markov=1 prune=1e-3', "
             "'relaxed', '' for none; given several times, each is tried"},
    {TUNE_OPTION("halving")},
    {TUNE_OPTION("folds"),
     .help = "score by cross-validation, as 'trellis cv' does; the model is then trained on all "
             "data"},
    {TUNE_OPTION("documents")},
    {TUNE_OPTION("groups")},
    {TUNE_OPTION("hold-out")},
    {TUNE_OPTION("select")},
    {TUNE_OPTION("cold")},
    {TUNE_OPTION("refit")},

#include "train_model_options.h"

    {.help = "Penalties"},
    {TRAIN_OPTION("c1"), .help = "adds X times the sum of absolute weights in every run"},

#include "train_stop_options.h"

    {.help = "Others"},
    {"quiet", 'q', OPTION_FLAG, TRAIN_FIELD(quiet),
     .help = "no progress and no plot, the table alone"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ =
        (settings){.base.train = trl_train_options_default(), .tune = trl_tune_options_default()};
}

/* ---- while it runs --------------------------------------------------------------------------- */

typedef struct state {
    settings *s;
    const operands *args;
    progress shown;
    record written;
    bool learning;
    size_t n_begun, n_runs, n_all; /* runs that have begun, that have ended, that there will be */
    uint64_t splits;               /* trainings of a run */
    clock_t since;                 /* processor time of the program when the run began */
    tune_table table;
    plot plot;
} state;

static void say_run(state *x)
{
    const uint64_t fold = x->n_begun++ % x->splits + 1;
    if (x->s->base.quiet)
        return;
    if (x->n_runs >= x->n_all && !x->s->tune.halving)
        message_line("all data");
    else if (x->splits > 1)
        message_line("run %zu, fold %" PRIu64 " of %" PRIu64, x->n_runs + 1, fold, x->splits);
    else if (x->s->tune.halving)
        message_line("run %zu", x->n_runs + 1);
    else
        message_line("run %zu of %zu", x->n_runs + 1, x->n_all);
}

static bool on_progress(void *ctx, const trl_progress *now)
{
    state *x = ctx;
    if (strcmp(now->stage, "read") == 0) { /* a run begins */
        record_fini(&x->written);
        x->shown.shown = -1.0;
        say_run(x);
    } else if (!x->learning && train_learns(now)) {
        signals_note();
        x->learning = true;
    }
    progress_show(&x->shown, now);
    record_add(&x->written, now);
    return signals_noted();
}

/* A run without penalty has no place on the axis: a level line, unless there are several paths
 * along c, which have a series each. */
static void add_point(state *x, const trl_tune_run *r)
{
    text name = {0};
    tune_path(&x->table, r, &name);
    const bool several = !name.failed && name.n > 1;
    if (several && isfinite(r->c))
        plot_add(&x->plot, plot_series_of(&x->plot, name.p), r->c, r->score);
    else if (!several && isfinite(r->c))
        plot_add(&x->plot, plot_series_of(&x->plot, "with penalty"), r->c, r->score);
    text_fini(&name);
    if (several || isfinite(r->c))
        return;
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
    text path = {0}, *m = &x->written.more;
    text_fmt(&path, "%s/", x->s->records);
    tune_record_name(&x->table, r, &path);
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
    char time[40];
    text name = {0};
    x->n_runs++;
    tune_table_add(&x->table, r);
    add_point(x, r);
    tune_setting(&x->table, r, &name);
    message_status(NULL);
    progress_duration(r->result.seconds, time, sizeof time);
    const char *what = name.failed ? "" : name.p;
    if (!x->s->base.quiet && isnan(r->score))
        message_line("%s: %s", what, r->result.ending);
    else if (!x->s->base.quiet)
        message_line("%s: score %.2f%s  time %s", what, r->score,
                     r->best ? ", the best so far" : "", time);
    text_fini(&name);
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

static void say_best(const state *x, const trl_tune_run *best)
{
    const settings *s = x->s;
    const char *model = s->base.train.model;
    text name = {0};
    tune_setting(&x->table, best, &name);
    const char *what = name.failed ? "" : name.p;
    message_line("best: %s (--c2 %.6g), score %.2f%s%s%s", what, best->c2, best->score,
                 model ? "; model " : "", model ? model : "",
                 model && (s->tune.refit || s->tune.folds) ? ", of all data" : "");
    text_fini(&name);
    if (!isnan(best->simple_c) && (best->simple_c != best->c || best->simple_c1 != best->c1)) {
        char c[24];
        tune_name_of_c(best->simple_c, c);
        message_line("within one standard error (%.2f) of it, the strongest penalty: c = %s "
                     "(--c2 %.6g --c1 %.6g), score %.2f",
                     best->deviation / sqrt((double)s->tune.folds), c,
                     isinf(best->simple_c) ? 0.0 : 0.5 / best->simple_c, best->simple_c1,
                     best->simple_score);
    }
}

static int print_results(state *x, const trl_tune_run *best)
{
    const settings *s = x->s;
    text out = {0};
    text_add(&out, x->table.text.p, x->table.text.n);
    out.failed = out.failed || x->table.text.failed;
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
        say_best(x, best);
    return ok ? code : CLI_FAILED;
}

/* A measure of chunks for labels that are none is a mistake worth a word. */
static void warn_of_measure(const state *x)
{
    const trl_tune_measure m = x->s->tune.measure;
    if (!x->table.chunks && !x->table.trees && m != TRL_TUNE_GUESS && m != TRL_TUNE_ACCURACY)
        message_warn("--select %s counts chunks, but the labels are not those of chunks",
                     trl_options_find(trl_tune_option_table(), "select")->choices[m]);
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

static trl_tune_options options_of(settings *s, const operands *args, state *x)
{
    trl_train_options *t = &s->base.train;
    trl_tune_options o = s->tune;
    t->train = args->item;
    t->n_train = args->n;
    t->progress = on_progress;
    t->progress_ctx = x;
    t->cancelled = signals_asked;
    o.train = t;
    o.on_run = on_run;
    o.ctx = x;
    return o;
}

static int tune(settings *s, const operands *args, const tune_lists *lists)
{
    state x = {.s = s, .args = args, .since = clock(), .splits = s->tune.folds ? s->tune.folds : 1};
    x.table = (tune_table){.c1 = lists->n_c1 > 1,
                           .objective = lists->n_objectives > 1,
                           .tpl = lists->n_templates > 1,
                           .passes = lists->n_passes > 1,
                           .variant = s->variants.n > 1,
                           .folds = s->tune.folds > 0,
                           .halving = s->tune.halving,
                           .trees = strcmp(s->base.train.kind, "tree") == 0};
    x.plot = (plot){.type = PLOT_LEARNING,
                    .marks = MARKS_BOTH,
                    .log_x = true,
                    .y_min = (double)NAN,
                    .y_max = (double)NAN};
    plot_name(&x.plot, &x.plot.x_name, "c");
    plot_name(&x.plot, &x.plot.y_name, "held-out score, %");
    progress_init(&x.shown, s->base.quiet);
    x.shown.trees = x.table.trees;
    trl_tune_options o = options_of(s, args, &x);
    tune_lists_set(lists, &o);
    o.variants = s->variants.n ? s->variants.item : NULL;
    o.n_variants = s->variants.n;
    x.n_all = trl_tune_settings(&o);
    trl_tune_run best;
    trl_error err = {0};
    const trl_status st = trl_tune(&o, &best, &err);
    message_status(NULL);
    const int code = say_ending(&x, st, &best, &err);
    record_fini(&x.written);
    text_fini(&x.table.text);
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
    return (!s->base.train.model || output_check(s->base.train.model)) &&
           (!s->svg || output_check(s->svg));
}

static int run_lists(settings *s, const operands *args, tune_lists *lists)
{
    const tune_given given = {s->grid, s->c1_grid, s->passes, s->objectives, &s->templates};
    if (!s->base.train.model && !s->tune.folds)
        return message_usage("tune needs -m MODEL, or --folds N");
    if (s->base.train.model && strcmp(s->base.train.model, "-") == 0)
        return message_usage("a model cannot be written to standard output");
    if (!tune_lists_read(lists, &given) || !memory_limit(s->base.max_memory, TRAIN_MEMORY))
        return CLI_USAGE;
    if (s->base.train.model)
        train_set_rescue(&s->base);
    signals_end(TRAIN_NOTHING_YET);
    return tune_lists_templates(lists, &s->templates, &s->base) && check_places(s)
               ? tune(s, args, lists)
               : CLI_FAILED;
}

static int run(void *settings_, const operands *args)
{
    tune_lists *lists = calloc(1, sizeof *lists);
    if (!lists)
        return message_memory();
    const int code = run_lists(settings_, args, lists);
    tune_lists_fini(lists);
    free(lists);
    return code;
}

const verb verb_tune = {
    .name = "tune",
    .summary = "choose penalty, objective or template on held-out data",
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
        "Lists of --c1-grid, --objectives, --passes, several --template and several --variant are\n"
        "tried in every combination, each along the grid of c.  With --folds a setting is scored "
        "by\n"
        "cross-validation: the table has the mean and the standard deviation over folds, a\n"
        "line below it names the strongest penalty that is as good but for one standard\n"
        "error, and the model, if -m is given, is trained on all data with the best setting.\n"
        "With --kind tree the score is F1 as EVALB counts it, and every run starts from zero.\n"
        "\n"
        "A table of the runs goes to standard output, followed by a plot; --records keeps\n"
        "every run for 'trellis plot'.  SIGINT (Ctrl-C) or SIGTERM ends the search and saves\n"
        "the best model so far; the exit status is then 130 or 143.\n",
    .examples =
        "  trellis tune -t chunk.template -m chunk.model -d dev.txt train.txt\n"
        "  trellis tune --grid 0.5,1,2,none --refit -t chunk.template -m best.model train.txt\n"
        "  trellis tune --folds 5 --c1-grid 0,0.1,1 --halving -m best.model train.txt\n"
        "  trellis tune --folds 5 --objectives likelihood,memm -t a.template -t b.template x.txt\n"
        "  trellis tune --kind tree --folds 3 --grid 0.25,0.5 --variant '' --variant relaxed "
        "x.mrg\n"
        "  trellis tune --records runs --svg c.svg -m best.model train.txt\n"
        "  trellis plot -k time --by c runs/*.json\n",
    .options = options,
    .library_rows = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .operand = "training data",
    .run = run,
};
