/* cmd_plot.c -- trellis plot: curves and bars from records, reports and tables. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "message.h"
#include "output.h"
#include "plot.h"
#include "style.h"
#include "verbs.h"

typedef enum label_of { OF_GUESS, OF_CHUNKS, OF_TOKENS } label_of;

typedef struct settings {
    plot_type type;
    const char *x, *by, *title, *to;
    string_list y, labels;
    label_of of;
    plot_marks marks;
    double y_min, y_max; /* NaN: not given */
    bool log_x, log_y, ascii;
    size_t width, height;
} settings;

static const char *const type_names[] = {"curve", "learning", "time", "labels", NULL};
static const char *const marks_names[] = {"guess", "lines", "points", "both", NULL};
static const char *const of_names[] = {"guess", "chunks", "tokens", NULL};

static const option options[] = {
    {"kind", 'k', OPTION_CHOICE, OPTION_FIELD(settings, type), .choices = type_names,
     .help = "what to plot"},
    {"x", 'x', OPTION_STRING, OPTION_FIELD(settings, x), .value = "NAME",
     .fallback = "what suits the kind", .help = "value or column along x"},
    {"y", 'y', OPTION_LIST, OPTION_FIELD(settings, y), .value = "NAME",
     .fallback = "what suits the kind",
     .help = "value or column along y; of a table several may be given"},
    {"by", 'b', OPTION_STRING, OPTION_FIELD(settings, by), .value = "NAME",
     .help = "learning, time: one series for each value of this option (or column)"},
    {"label", 'l', OPTION_LIST, OPTION_FIELD(settings, labels), .value = "NAME",
     .fallback = "their names", .help = "what the files are called, in their order"},
    {"of", .type = OPTION_CHOICE, OPTION_FIELD(settings, of), .choices = of_names,
     .help = "labels: scores of chunk types or of the labels of tokens"},
    {"title", .type = OPTION_STRING, OPTION_FIELD(settings, title), .value = "TEXT",
     .help = "title of the plot"},
    {"marks", .type = OPTION_CHOICE, OPTION_FIELD(settings, marks), .choices = marks_names,
     .help = "how points are shown; guess: points for time, otherwise lines"},
    {"log-x", .type = OPTION_FLAG, OPTION_FIELD(settings, log_x), .help = "logarithmic axis for x"},
    {"log-y", .type = OPTION_FLAG, OPTION_FIELD(settings, log_y), .help = "logarithmic axis for y"},
    {"y-min", .type = OPTION_REAL, OPTION_FIELD(settings, y_min), .value = "X",
     .fallback = "what the data has", .help = "lower end of y"},
    {"y-max", .type = OPTION_REAL, OPTION_FIELD(settings, y_max), .value = "X",
     .fallback = "what the data has", .help = "upper end of y"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, to), .value = "FILE", .file = FILE_OUTPUT,
     .fallback = "the terminal", .help = "write there; as SVG when the name ends in .svg"},
    {"width", .type = OPTION_INTEGER, OPTION_FIELD(settings, width), .value = "N",
     .fallback = "what suits", .help = "width of the plot in characters, or in pixels for an SVG"},
    {"height", .type = OPTION_INTEGER, OPTION_FIELD(settings, height), .value = "N",
     .fallback = "what suits", .help = "height of the plot, likewise"},
    {"ascii", .type = OPTION_FLAG, OPTION_FIELD(settings, ascii),
     .help = "plain characters and no colours in the terminal"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.y_min = (double)NAN, .y_max = (double)NAN};
}

static bool ends_in(const char *path, const char *ending)
{
    const size_t n = path ? strlen(path) : 0, k = strlen(ending);
    return n > k && strcasecmp(path + n - k, ending) == 0;
}

static bool is_svg(const char *path)
{
    return ends_in(path, ".svg");
}

/* A file called so that holds text would be a riddle to what opens it. */
static const char *other_picture(const char *path)
{
    static const char *const endings[] = {".png",  ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif",
                                          ".tiff", ".pdf", ".ps",   ".eps", ".svgz", ".html"};
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        if (ends_in(path, endings[k]))
            return endings[k];
    return NULL;
}

static int check(const settings *s, const operands *args)
{
    const char *picture = other_picture(s->to);
    if (picture) {
        message_say("-o %s: a plot cannot be written as %s", s->to, picture + 1);
        message_hint("a name in .svg gives an SVG picture, which other programs convert; other "
                     "names give text");
        return CLI_USAGE;
    }
    if (s->labels.n > args->n)
        return message_usage("--label: %zu names for %zu files", s->labels.n, args->n);
    if (s->by && s->labels.n)
        return message_usage("--by and --label do not go together: either names the series");
    if (s->log_y && s->type == PLOT_LABELS)
        return message_usage("--log-y: bars start at 0");
    const size_t most = is_svg(s->to) ? 20000 : 1000, least = is_svg(s->to) ? 100 : 20;
    if ((s->width && s->width < least) || s->width > most)
        return message_usage("--width: between %zu and %zu", least, most);
    if ((s->height && s->height < least / 5) || s->height > most)
        return message_usage("--height: between %zu and %zu", least / 5, most);
    return CLI_DONE;
}

static bool draw(const settings *s, const plot *p, text *t)
{
    if (is_svg(s->to))
        return plot_svg(p, s->width, s->height, t);
    const bool terminal = !s->to && isatty(STDOUT_FILENO);
    plot_terminal how = {.width = s->width, .height = s->height, .ascii = s->ascii};
    how.colour = terminal && !s->ascii && style_colour(STDOUT_FILENO);
    const size_t wide = style_width(STDOUT_FILENO, 80);
    if (!how.width && terminal && wide >= 20)
        how.width = wide;
    return plot_text(p, &how, t);
}

static int run(void *settings_, const operands *args)
{
    const settings *s = settings_;
    const int bad = check(s, args);
    if (bad != CLI_DONE)
        return bad;
    const plot_request q = {.type = s->type,
                            .x = s->x,
                            .by = s->by,
                            .y = s->y,
                            .labels = s->labels,
                            .types = s->of == OF_CHUNKS,
                            .whole_tags = s->of == OF_TOKENS};
    plot p = {.type = s->type,
              .marks = s->marks,
              .log_x = s->log_x,
              .log_y = s->log_y,
              .y_min = s->y_min,
              .y_max = s->y_max};
    plot_name(&p, &p.title, s->title);
    bool ok = true;
    for (size_t i = 0; i < args->n && ok; i++)
        ok = plot_read(&p, &q, args->item[i], i);
    if (s->type == PLOT_LEARNING || s->type == PLOT_TIME)
        plot_sort(&p);
    text t = {0};
    output o;
    int code = CLI_FAILED;
    if (ok && draw(s, &p, &t) && output_open(&o, s->to)) {
        output_text(&o, &t);
        code = output_close(&o) ? CLI_DONE : CLI_FAILED;
    }
    text_fini(&t);
    plot_fini(&p);
    return code;
}

const verb verb_plot = {
    .name = "plot",
    .summary = "plot training runs and scores",
    .usage = "[OPTION]... FILE...",
    .description =
        "Plots the records of training runs and scores, in the terminal or as an SVG\n"
        "file.\n"
        "\n"
        "  curve     objective (or with -y dev the score) against iteration (or with\n"
        "            -x seconds the time), one curve for each run\n"
        "  learning  score against training sequences, one point for each run\n"
        "  time      score against training time, one point for each run\n"
        "  labels    score of every label as a bar\n"
        "\n"
        "FILE is the record of a run, as 'trellis train --json FILE' writes it, for 'labels'\n"
        "the report of 'trellis score --json', or a table of words and numbers separated by\n"
        "blanks, with the names of its columns in the first row.  Along x and y may be any\n"
        "value of a record (dev, objective, seconds, tokens, features, model_bytes, c2, ...)\n"
        "or column of a table.  In a table, a column of words says which series a row\n"
        "belongs to.\n",
    .examples = "  trellis plot run.json\n"
                "  trellis plot -x seconds -y dev -o dev.svg lbfgs.json sag.json\n"
                "  trellis plot -k learning --by objective -o learning.svg runs/*.json\n"
                "  trellis score chunks --json tagged.txt | trellis plot -k labels -\n",
    .options = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .operand = "a record of a run, a score report or a table",
    .run = run,
};
