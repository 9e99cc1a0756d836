/* plot_svg.c -- plots as SVG 1.1: light background, colours of Okabe and Ito that stay apart
 * for the colour-blind and, with the markers, in grey. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "plot.h"

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#5f5f5f", "#7a4fa3"};
#define COLOURS (sizeof colours / sizeof *colours)
#define MARKERS 5

#define FONT "Inter,'Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif"
#define TICK_SIZE 12.0
#define NAME_SIZE 13.0
#define TITLE_SIZE 16.0
#define LEGEND_ROW 21.0
#define BAR_VALUE 48.0  /* room for the number behind a bar */
#define LEGEND_KEY 26.0 /* the line before a name */
#define LONGEST_NAME 34 /* characters of a name that are shown */
#define MANY_POINTS 30  /* beyond, a line has no markers */

/* Where things lie, in pixels; y grows downwards. */
typedef struct frame {
    double width, height, left, right, top, bottom;
} frame;

/* ---- pieces ----------------------------------------------------------------------------- */

/* A guess; no font is at hand.  Sans-serif letters are a little over half as wide as high. */
static double text_width(const char *s, double size)
{
    size_t n = plot_width(s);
    return 0.6 * size * (double)(n < LONGEST_NAME ? n : LONGEST_NAME + 1);
}

/* Escaped, cut at LONGEST_NAME characters when `cut`.  Names hold nothing XML forbids. */
static void add_escaped(text *t, const char *s, bool cut)
{
    size_t n = 0;
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if ((c & 0xc0) != 0x80 && cut && n++ == LONGEST_NAME) {
            text_str(t, "\xe2\x80\xa6");
            return;
        }
        if (c == '&')
            text_str(t, "&amp;");
        else if (c == '<')
            text_str(t, "&lt;");
        else if (c == '>')
            text_str(t, "&gt;");
        else
            text_char(t, *s);
    }
}

static void add_text(text *t, double x, double y, const char *class, const char *anchor,
                     const char *s)
{
    text_fmt(t, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y,
             anchor);
    add_escaped(t, s, true);
    text_str(t, "</text>\n");
}

static void add_line(text *t, const char *class, double x1, double y1, double x2, double y2)
{
    text_fmt(t, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
             class, x1, y1, x2, y2);
}

static void add_marker(text *t, size_t k, double x, double y)
{
    const char *colour = colours[k % COLOURS];
    text_str(t, "<path class=\"m\" d=\"");
    switch (k % MARKERS) {
    case 0: /* disc */
        text_fmt(t, "M%.1f %.1fa4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", x - 4.0, y);
        break;
    case 1: /* square */
        text_fmt(t, "M%.1f %.1fh7v7h-7z", x - 3.5, y - 3.5);
        break;
    case 2: /* triangle */
        text_fmt(t, "M%.1f %.1fl4.6 8h-9.2z", x, y - 5.0);
        break;
    case 3: /* diamond */
        text_fmt(t, "M%.1f %.1fl5 5l-5 5l-5 -5z", x, y - 5.0);
        break;
    default: /* triangle on its tip */
        text_fmt(t, "M%.1f %.1fl4.6 -8h-9.2z", x, y + 5.0);
    }
    text_fmt(t, "\" fill=\"%s\"/>\n", colour);
}

static void begin(text *t, const plot *p, const frame *f)
{
    text_fmt(t,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
             "viewBox=\"0 0 %.0f %.0f\" role=\"img\" font-family=\"" FONT "\">\n",
             f->width, f->height, f->width, f->height);
    text_str(t, "<title>");
    add_escaped(t, p->title ? p->title : p->y_name ? p->y_name : "plot", false);
    text_str(t, "</title>\n<style>\n"
                ".t{font-size:12px;fill:#555}\n"
                ".n{font-size:13px;fill:#333}\n"
                ".h{font-size:16px;font-weight:600;fill:#1a1a1a}\n"
                ".g{stroke:#e4e4e4;stroke-width:1}\n"
                ".a{stroke:#888;stroke-width:1}\n"
                ".l{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\n"
                ".m{stroke:#fff;stroke-width:1}\n"
                "</style>\n");
    text_fmt(t, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", f->width, f->height);
    if (p->title)
        add_text(t, f->left, TITLE_SIZE + 14.0, "h", "start", p->title);
}

static double legend_width(const plot *p)
{
    double w = 0.0;
    for (size_t k = 0; p->n_series > 1 && k < p->n_series; k++)
        w = fmax(w, text_width(p->series[k].name, NAME_SIZE) + LEGEND_KEY + 22.0);
    return w;
}

static plot_marks marks_of(const plot *p, const plot_series *s)
{
    if (p->marks != MARKS_GUESS)
        return p->marks;
    if (p->kind == PLOT_TIME)
        return MARKS_POINTS;
    return p->kind == PLOT_LEARNING && s->n <= MANY_POINTS ? MARKS_BOTH : MARKS_LINES;
}

static void add_legend(text *t, const plot *p, const frame *f)
{
    double y = f->top + 8.0;
    const double x = f->right + (p->kind == PLOT_LABELS ? BAR_VALUE : 18.0);
    for (size_t k = 0; p->n_series > 1 && k < p->n_series; k++, y += LEGEND_ROW) {
        const plot_marks m = marks_of(p, &p->series[k]);
        const char *colour = colours[k % COLOURS];
        if (p->kind == PLOT_LABELS)
            text_fmt(t,
                     "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n",
                     x + 4.0, y - 6.0, colour);
        else if (m != MARKS_POINTS)
            text_fmt(t, "<path class=\"l\" stroke=\"%s\" d=\"M%.1f %.1fh20\"/>\n", colour, x,
                     y);
        if (p->kind != PLOT_LABELS && m != MARKS_LINES)
            add_marker(t, k, x + 10.0, y);
        add_text(t, x + LEGEND_KEY, y + 4.5, "n", "start", p->series[k].name);
    }
}

/* ---- curves ----------------------------------------------------------------------------- */

static double widest_label(const plot_axis *a)
{
    double w = 0.0;
    for (size_t i = 0; i < a->n; i++)
        w = fmax(w, text_width(a->label[i], TICK_SIZE));
    return w;
}

static frame curve_frame(const plot *p, size_t width, size_t height, const plot_axis *y)
{
    frame f = {.width = width ? (double)width : 760.0,
               .height = height ? (double)height : 440.0};
    f.left = 18.0 + (p->y_name ? NAME_SIZE + 10.0 : 0.0) + widest_label(y);
    f.right = f.width - fmax(24.0, legend_width(p));
    f.top = p->title ? 52.0 : 22.0;
    f.bottom = f.height - (p->x_name ? 54.0 : 32.0);
    f.right = fmax(f.right, f.left + 40.0);
    f.bottom = fmax(f.bottom, f.top + 40.0);
    return f;
}

static void add_axes(text *t, const plot *p, const frame *f, const plot_axis *x,
                     const plot_axis *y)
{
    for (size_t i = 0; i < y->n; i++) {
        const double at = f->bottom - plot_axis_at(y, y->tick[i]) * (f->bottom - f->top);
        add_line(t, "g", f->left, at, f->right, at);
        add_text(t, f->left - 8.0, at + 4.0, "t", "end", y->label[i]);
    }
    for (size_t i = 0; i < x->n; i++) {
        const double at = f->left + plot_axis_at(x, x->tick[i]) * (f->right - f->left);
        add_line(t, "a", at, f->bottom, at, f->bottom + 5.0);
        add_text(t, at, f->bottom + 19.0, "t", "middle", x->label[i]);
    }
    add_line(t, "a", f->left, f->bottom, f->right, f->bottom);
    if (p->x_name)
        add_text(t, 0.5 * (f->left + f->right), f->height - 14.0, "n", "middle", p->x_name);
    if (p->y_name) {
        const double middle = 0.5 * (f->top + f->bottom);
        text_fmt(t,
                 "<text class=\"n\" transform=\"translate(18 %.1f) rotate(-90)\" "
                 "text-anchor=\"middle\">",
                 middle);
        add_escaped(t, p->y_name, true);
        text_str(t, "</text>\n");
    }
}

static void add_series(text *t, const plot *p, size_t k, const frame *f, const plot_axis *x,
                       const plot_axis *y)
{
    const plot_series *s = &p->series[k];
    const plot_marks m = marks_of(p, s);
    const double w = f->right - f->left, h = f->bottom - f->top;
    if (m != MARKS_POINTS && s->n > 0) {
        text_fmt(t, "<path class=\"l\" stroke=\"%s\" d=\"", colours[k % COLOURS]);
        for (size_t i = 0; i < s->n; i++)
            text_fmt(t, "%s%.1f %.1f", i == 0 ? "M" : "L",
                     f->left + w * plot_axis_at(x, s->x[i]),
                     f->bottom - h * plot_axis_at(y, s->y[i]));
        text_str(t, "\"/>\n");
    }
    for (size_t i = 0; i < s->n && (m != MARKS_LINES || s->n == 1); i++)
        add_marker(t, k, f->left + w * plot_axis_at(x, s->x[i]),
                   f->bottom - h * plot_axis_at(y, s->y[i]));
}

static void add_clip(text *t, const frame *f)
{
    text_fmt(t,
             "<clipPath id=\"c\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>"
             "</clipPath>\n<g clip-path=\"url(#c)\">\n",
             f->left - 6.0, f->top - 6.0, f->right - f->left + 12.0,
             f->bottom - f->top + 12.0);
}

/* ---- bars ------------------------------------------------------------------------------- */

static frame bar_frame(const plot *p, size_t width, size_t height, double *row)
{
    frame f = {.width = width ? (double)width : 640.0};
    const double thick = p->n_series > 1 ? 11.0 : 15.0;
    double widest = 0.0;
    for (size_t k = 0; k < p->n_categories; k++)
        widest = fmax(widest, text_width(p->category[k], NAME_SIZE));
    *row = thick * (double)p->n_series + 8.0;
    f.top = p->title ? 48.0 : 18.0;
    const double feet = p->y_name ? 52.0 : 32.0, rows = (double)p->n_categories;
    if (height) { /* fit */
        f.height = (double)height;
        *row = fmax(4.0, (f.height - f.top - feet) / rows);
    } else
        f.height = f.top + feet + *row * rows;
    f.bottom = f.top + *row * rows;
    f.left = widest + 26.0;
    f.right = fmax(f.width - fmax(BAR_VALUE, legend_width(p) + BAR_VALUE), f.left + 40.0);
    return f;
}

static void add_bars(text *t, const plot *p, size_t k, const frame *f, double row,
                     const plot_axis *v)
{
    const plot_series *s = &p->series[k];
    const double gap = fmin(8.0, 0.3 * row), thick = (row - gap) / (double)p->n_series;
    const double from = f->left, scale = f->right - f->left;
    for (size_t i = 0; i < s->n; i++) {
        const double at = f->top + row * s->x[i] + 0.5 * gap + thick * (double)k;
        const double to = fmin(fmax(plot_axis_at(v, s->y[i]), 0.0), 1.0) * scale;
        char shown[32];
        text_fmt(t,
                 "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                 from, at, to, fmax(thick - 1.0, 1.0), colours[k % COLOURS]);
        snprintf(shown, sizeof shown, "%.1f", s->y[i]);
        if (thick >= 9.0)
            add_text(t, from + to + 5.0, at + 0.5 * thick + 3.8, "t", "start", shown);
    }
}

static void draw_bars(text *t, const plot *p, size_t width, size_t height, const plot_axis *v)
{
    double row;
    const frame f = bar_frame(p, width, height, &row);
    begin(t, p, &f);
    for (size_t i = 0; i < v->n; i++) {
        const double at = f.left + plot_axis_at(v, v->tick[i]) * (f.right - f.left);
        add_line(t, "g", at, f.top, at, f.bottom);
        add_text(t, at, f.bottom + 17.0, "t", "middle", v->label[i]);
    }
    for (size_t i = 0; i < p->n_categories; i++)
        add_text(t, f.left - 8.0, f.top + row * ((double)i + 0.5) + 4.5, "n", "end",
                 p->category[i]);
    for (size_t k = 0; k < p->n_series; k++)
        add_bars(t, p, k, &f, row, v);
    add_line(t, "a", f.left, f.top, f.left, f.bottom);
    if (p->y_name)
        add_text(t, 0.5 * (f.left + f.right), f.height - 12.0, "n", "middle", p->y_name);
    add_legend(t, p, &f);
}

bool plot_svg(const plot *p, size_t width, size_t height, text *out)
{
    plot_axis x, y;
    if (!plot_axes(p, 8, p->kind == PLOT_LABELS ? 5 : 6, &x, &y))
        return false;
    if (p->kind == PLOT_LABELS)
        draw_bars(out, p, width, height, &y);
    else {
        const frame f = curve_frame(p, width, height, &y);
        begin(out, p, &f);
        add_axes(out, p, &f, &x, &y);
        add_clip(out, &f);
        for (size_t k = 0; k < p->n_series; k++)
            add_series(out, p, k, &f, &x, &y);
        text_str(out, "</g>\n");
        add_legend(out, p, &f);
    }
    text_str(out, "</svg>\n");
    return true;
}
