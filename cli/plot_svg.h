/* plot_svg.h -- what the parts of an SVG plot share: text, marks, the title and the legend. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_PLOT_SVG_H
#define CLI_PLOT_SVG_H

#include "plot.h"

#define SVG_TICK_SIZE 12.0 /* heights of letters, in pixels */
#define SVG_NAME_SIZE 13.0
#define SVG_TITLE_SIZE 16.0
#define SVG_LONGEST_NAME 34 /* characters of a name in a legend or beside a bar */

/* Where things lie, in pixels; y grows downwards. */
typedef struct svg_frame {
    double width, height, left, right, top, bottom;
    struct {
        double x, y, column;          /* of the first entry; between columns */
        size_t rows, columns, listed; /* listed < series: the last entry says how many more */
    } legend;
} svg_frame;

/* A guess, since no font is at hand: sans-serif letters are a little over half as wide as
 * they are high, those of Chinese, Japanese and Korean as wide. */
double svg_text_width(const char *s, double size);

/* How many letters of that size fit. */
size_t svg_letters(double room, double size);

/* Where a text stands and how; at most `most` characters of it. */
typedef struct svg_label {
    double x;
    double y;
    const char *class;
    const char *anchor;
    size_t most;
} svg_label;

/* Cut to `most` characters, with an ellipsis in the middle: names often differ at their ends.
 * anchor: start, middle or end. */
void svg_text(text *t, const svg_label *l, const char *s);

/* What XML gives a meaning is escaped.  s[0 .. n) holds nothing that XML forbids. */
void svg_escaped(text *t, const char *s, size_t n);

/* The mark of series k: shape and colour together are the same only for k and k + 40. */
#define SVG_DIFFERENT 40
void svg_marker(text *t, size_t k, double x, double y);

/* Attributes of a line of series k: class, colour, dashes from the ninth on. */
void svg_line_style(text *t, size_t k);

plot_marks svg_marks_of(const plot *p, const plot_series *s);

/* The start of the file: size, styles for light and dark screens, background, title. */
void svg_begin(text *t, const plot *p, const svg_frame *f);

/* The height of the title, which is broken into lines where the picture ends; 0: none. */
double svg_title_height(const plot *p, double width);

/* Makes room for the legend beside or below the plot; f->width, f->height and f->top are set, and
 * the height grows when it was not given.  `spare`: what else stands to the right of the plot.
 * `below` is the height to keep free under the plot, without the legend's own.  Sets right, bottom
 * and legend. */
void svg_legend_place(const plot *p, svg_frame *f, double spare, double below, bool fixed);
void svg_legend(text *t, const plot *p, const svg_frame *f);

#endif
