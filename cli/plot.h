/* plot.h -- a plot as numbers and names: made by the readers, drawn as SVG or as text. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"

typedef enum plot_type { PLOT_CURVE, PLOT_LEARNING, PLOT_TIME, PLOT_LABELS } plot_type;
typedef enum plot_marks { MARKS_GUESS, MARKS_LINES, MARKS_POINTS, MARKS_BOTH } plot_marks;

typedef struct plot_series {
    char *name;
    double *x, *y; /* [n], finite; bars: x is the category */
    size_t n, cap;
} plot_series;

typedef struct plot {
    plot_type type;
    plot_marks marks;
    char *title, *x_name, *y_name; /* NULL: none */
    plot_series *series;
    size_t n_series, cap_series;
    char **category; /* PLOT_LABELS: one bar of every series each */
    size_t n_categories, cap_categories;
    bool log_x, log_y;
    double y_min, y_max; /* NaN: as the data has it */
    bool failed;         /* memory ran out */
} plot;                  /* zero-initialise, but for y_min and y_max */

void plot_fini(plot *p);

/* The series or category of that name, made when new.  (size_t)-1: out of memory, as `failed`
 * says from then on. */
size_t plot_series_of(plot *p, const char *name);
size_t plot_category_of(plot *p, const char *name);

/* Points that are not finite, or beyond 1e300, are left out. */
void plot_add(plot *p, size_t series, double x, double y);

/* Sets a string that is not set yet; NULL sets nothing. */
void plot_name(plot *p, char **where, const char *name);

/* Sorts the points of every series by x. */
void plot_sort(plot *p);

/* What the user asked for, beyond the kind. */
typedef struct plot_request {
    plot_type type;
    const char *x, *by;     /* NULL: what suits */
    string_list y, labels;  /* names of columns or fields; of series */
    bool types, whole_tags; /* kind labels: chunk types or labels; neither: what suits */
} plot_request;

/* Adds what the file has: run records and score reports (JSON), tables.  False: said. */
bool plot_read(plot *p, const plot_request *q, const char *path, size_t number);

/* plot_json.c, plot_table.c: `bytes` are the whole file, with a NUL after them, and may be changed;
 * `name` is what its series is called. */
bool plot_read_json(plot *p, const plot_request *q, const char *path, const char *name, char *bytes,
                    size_t n);
bool plot_read_table(plot *p, const plot_request *q, const char *path, const char *name,
                     char *bytes, size_t n);

/* ---- axes ------------------------------------------------------------------------------------ */

#define MAX_TICKS 24

typedef struct plot_axis {
    bool log;
    double low, high; /* low < high */
    double tick[MAX_TICKS];
    char label[MAX_TICKS][24];
    size_t n;
} plot_axis;

/* About `target` ticks at round numbers.  `whole`: the axis ends at ticks.  On a logarithmic
 * axis values must be above 0. */
plot_axis plot_axis_make(double min, double max, bool log, size_t target, bool whole);

/* The axes that hold all points; bars: y only.  False: said (no points, a log of 0). */
bool plot_axes(const plot *p, size_t x_target, size_t y_target, plot_axis *x, plot_axis *y);

/* 0 at the low end, 1 at the high one. */
double plot_axis_at(const plot_axis *a, double v);

/* Characters of a UTF-8 string. */
size_t plot_width(const char *s);

/* The number beside a bar: 93.4, 1.23e+08, 4e-06. */
#define PLOT_VALUE 24
void plot_value(double v, char out[PLOT_VALUE]);

/* ---- drawing --------------------------------------------------------------------------------- */

/* Sizes in pixels, 0 for what suits.  False: said. */
bool plot_svg(const plot *p, size_t width, size_t height, text *out);

typedef struct plot_terminal {
    size_t width, height; /* characters, 0 for what suits */
    bool ascii, colour;
} plot_terminal;

bool plot_text(const plot *p, const plot_terminal *how, text *out);

#endif
