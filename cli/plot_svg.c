/* plot_svg.c -- plots as SVG 1.1: curves and bars. */
/* SPDX-License-Identifier: MIT */
#include "plot_svg.h"

#include <math.h>
#include <stdio.h>

#define BAR_VALUE 56.0 /* room for the number after a bar */

/* ---- curves ---------------------------------------------------------------------------------- */

static double widest_label(const plot_axis *a)
{
    double w = 0.0;
    for (size_t i = 0; i < a->n; i++)
        w = fmax(w, svg_text_width(a->label[i], SVG_TICK_SIZE));
    return w;
}

static svg_frame curve_frame(const plot *p, size_t width, size_t height, const plot_axis *y)
{
    svg_frame f = {.width = width ? (double)width : 760.0,
                   .height = height ? (double)height : 440.0};
    f.left = 18.0 + (p->y_name ? SVG_NAME_SIZE + 10.0 : 0.0) + widest_label(y);
    f.top = 22.0 + svg_title_height(p, f.width);
    svg_legend_place(p, &f, 24.0, p->x_name ? 54.0 : 32.0, height != 0);
    f.right = fmax(f.right, f.left + 40.0);
    f.bottom = fmax(f.bottom, f.top + 40.0);
    return f;
}

static void add_line(text *t, const char *class, double x1, double y1, double x2, double y2)
{
    text_fmt(t, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1,
             y1, x2, y2);
}

static void add_axes(text *t, const plot *p, const svg_frame *f, const plot_axis *x,
                     const plot_axis *y)
{
    for (size_t i = 0; i < y->n; i++) {
        const double at = f->bottom - plot_axis_at(y, y->tick[i]) * (f->bottom - f->top);
        add_line(t, "g", f->left, at, f->right, at);
        svg_text(t,
                 &(svg_label){.x = f->left - 8.0,
                              .y = at + 4.0,
                              .class = "t",
                              .anchor = "end",
                              .most = SVG_LONGEST_NAME},
                 y->label[i]);
    }
    for (size_t i = 0; i < x->n; i++) {
        const double at = f->left + plot_axis_at(x, x->tick[i]) * (f->right - f->left);
        add_line(t, "a", at, f->bottom, at, f->bottom + 5.0);
        svg_text(t,
                 &(svg_label){.x = at,
                              .y = f->bottom + 19.0,
                              .class = "t",
                              .anchor = "middle",
                              .most = SVG_LONGEST_NAME},
                 x->label[i]);
    }
    add_line(t, "a", f->left, f->bottom, f->right, f->bottom);
    if (p->x_name)
        svg_text(t,
                 &(svg_label){.x = 0.5 * (f->left + f->right),
                              .y = f->bottom + 40.0,
                              .class = "n",
                              .anchor = "middle",
                              .most = svg_letters(f->right - f->left + 40.0, SVG_NAME_SIZE)},
                 p->x_name);
    if (p->y_name) {
        text_fmt(t, "<g transform=\"translate(18 %.1f) rotate(-90)\">", 0.5 * (f->top + f->bottom));
        svg_text(t,
                 &(svg_label){.x = 0.0,
                              .y = 0.0,
                              .class = "n",
                              .anchor = "middle",
                              .most = svg_letters(f->bottom - f->top + 20.0, SVG_NAME_SIZE)},
                 p->y_name);
        text_str(t, "</g>\n");
    }
}

static void add_series(text *t, const plot *p, size_t k, const svg_frame *f, const plot_axis *x,
                       const plot_axis *y)
{
    const plot_series *s = &p->series[k];
    const plot_marks m = svg_marks_of(p, s);
    const double w = f->right - f->left, h = f->bottom - f->top;
    if (m != MARKS_POINTS && s->n > 0) {
        text_str(t, "<path ");
        svg_line_style(t, k);
        text_str(t, " d=\"");
        for (size_t i = 0; i < s->n; i++)
            text_fmt(t, "%s%.1f %.1f", i == 0 ? "M" : "L", f->left + w * plot_axis_at(x, s->x[i]),
                     f->bottom - h * plot_axis_at(y, s->y[i]));
        text_str(t, "\"/>\n");
    }
    for (size_t i = 0; i < s->n && (m != MARKS_LINES || s->n == 1); i++)
        svg_marker(t, k, f->left + w * plot_axis_at(x, s->x[i]),
                   f->bottom - h * plot_axis_at(y, s->y[i]));
}

static void add_clip(text *t, const svg_frame *f)
{
    text_fmt(t,
             "<clipPath id=\"c\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>"
             "</clipPath>\n<g clip-path=\"url(#c)\">\n",
             f->left - 6.0, f->top - 6.0, f->right - f->left + 12.0, f->bottom - f->top + 12.0);
}

/* Fewer numbers along x until none touches the next. */
static bool labels_fit(const svg_frame *f, const plot_axis *x)
{
    for (size_t i = 1; i < x->n; i++) {
        const double apart =
            (plot_axis_at(x, x->tick[i]) - plot_axis_at(x, x->tick[i - 1])) * (f->right - f->left);
        const double need = svg_text_width(x->label[i - 1], SVG_TICK_SIZE) +
                            svg_text_width(x->label[i], SVG_TICK_SIZE);
        if (apart < 0.5 * need + 6.0)
            return false;
    }
    return true;
}

static bool draw_curves(text *t, const plot *p, size_t width, size_t height)
{
    plot_axis x, y;
    svg_frame f;
    size_t target = 8;
    do {
        if (!plot_axes(p, target, 6, &x, &y))
            return false;
        f = curve_frame(p, width, height, &y);
    } while (!labels_fit(&f, &x) && --target > 0);
    svg_begin(t, p, &f);
    add_axes(t, p, &f, &x, &y);
    add_clip(t, &f);
    for (size_t k = 0; k < p->n_series; k++)
        add_series(t, p, k, &f, &x, &y);
    text_str(t, "</g>\n");
    svg_legend(t, p, &f);
    return true;
}

/* ---- bars ------------------------------------------------------------------------------------ */

static svg_frame bar_frame(const plot *p, size_t width, size_t height, double *row)
{
    svg_frame f = {.width = width ? (double)width : 640.0};
    const double thick = p->n_series > 1 ? 11.0 : 15.0;
    double widest = 0.0;
    for (size_t k = 0; k < p->n_categories; k++)
        widest = fmax(widest, svg_text_width(p->category[k], SVG_NAME_SIZE));
    *row = thick * (double)p->n_series + 8.0;
    f.top = 18.0 + svg_title_height(p, f.width);
    const double feet = p->y_name ? 52.0 : 32.0, rows = (double)p->n_categories;
    f.height = height ? (double)height : f.top + feet + *row * rows;
    svg_legend_place(p, &f, BAR_VALUE, feet, height != 0);
    if (height) /* fit */
        *row = fmax(4.0, (f.bottom - f.top) / rows);
    f.bottom = f.top + *row * rows;
    f.left = fmin(widest + 26.0, 0.4 * f.width);
    f.right = fmax(f.right, f.left + 40.0);
    return f;
}

static void add_bars(text *t, const plot *p, size_t k, const svg_frame *f, double row,
                     const plot_axis *v)
{
    const plot_series *s = &p->series[k];
    const double gap = fmin(8.0, 0.3 * row), thick = (row - gap) / (double)p->n_series;
    const double scale = f->right - f->left;
    const double zero = fmin(fmax(plot_axis_at(v, 0.0), 0.0), 1.0) * scale;
    for (size_t i = 0; i < s->n; i++) {
        const double at = f->top + row * s->x[i] + 0.5 * gap + thick * (double)k;
        const double to = fmin(fmax(plot_axis_at(v, s->y[i]), 0.0), 1.0) * scale;
        char shown[PLOT_VALUE];
        text_fmt(t, "<rect class=\"f%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                 k % 8, f->left + fmin(zero, to), at, fabs(to - zero), fmax(thick - 1.0, 1.0));
        plot_value(s->y[i], shown);
        if (thick >= 9.0)
            svg_text(t,
                     &(svg_label){.x = f->left + fmax(zero, to) + 5.0,
                                  .y = at + 0.5 * thick + 3.8,
                                  .class = "t",
                                  .anchor = "start",
                                  .most = sizeof shown},
                     shown);
    }
}

static bool draw_bars(text *t, const plot *p, size_t width, size_t height)
{
    double row;
    plot_axis x, v;
    if (!plot_axes(p, 8, 5, &x, &v))
        return false;
    const svg_frame f = bar_frame(p, width, height, &row);
    for (size_t target = 4; target > 0 && !labels_fit(&f, &v); target--)
        plot_axes(p, 8, target, &x, &v);
    svg_begin(t, p, &f);
    for (size_t i = 0; i < v.n; i++) {
        const double at = f.left + plot_axis_at(&v, v.tick[i]) * (f.right - f.left);
        add_line(t, "g", at, f.top, at, f.bottom);
        svg_text(t,
                 &(svg_label){.x = at,
                              .y = f.bottom + 17.0,
                              .class = "t",
                              .anchor = "middle",
                              .most = SVG_LONGEST_NAME},
                 v.label[i]);
    }
    const size_t fit = svg_letters(f.left - 14.0, SVG_NAME_SIZE);
    for (size_t i = 0; i < p->n_categories; i++)
        svg_text(t,
                 &(svg_label){.x = f.left - 8.0,
                              .y = f.top + row * ((double)i + 0.5) + 4.5,
                              .class = "n",
                              .anchor = "end",
                              .most = fit < SVG_LONGEST_NAME ? fit : SVG_LONGEST_NAME},
                 p->category[i]);
    for (size_t k = 0; k < p->n_series; k++)
        add_bars(t, p, k, &f, row, &v);
    const double zero = f.left + fmax(0.0, plot_axis_at(&v, 0.0)) * (f.right - f.left);
    add_line(t, "a", zero, f.top, zero, f.bottom);
    if (p->y_name)
        svg_text(t,
                 &(svg_label){.x = 0.5 * (f.left + f.right),
                              .y = f.bottom + 40.0,
                              .class = "n",
                              .anchor = "middle",
                              .most = svg_letters(f.right - f.left + 40.0, SVG_NAME_SIZE)},
                 p->y_name);
    svg_legend(t, p, &f);
    return true;
}

bool plot_svg(const plot *p, size_t width, size_t height, text *out)
{
    const bool ok = p->type == PLOT_LABELS ? draw_bars(out, p, width, height)
                                           : draw_curves(out, p, width, height);
    if (ok)
        text_str(out, "</svg>\n");
    return ok;
}
