/* plot_text.c -- plots in a terminal.
 *
 * One series, or several in colour, are drawn in dots: a Braille character (U+2800) has two by
 * four of them.  Several without colour, more than there are colours, and all with --ascii get a
 * sign of their own each, letters after the first eight.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "plot.h"

static const char *const ascii_signs[] = {"*", "+", "o", "x", "#", "@", "%", "="};
static const char *const signs[] = {"\xe2\x97\x8f", "\xe2\x97\x8b", "\xe2\x96\xb2", "\xe2\x96\xa1",
                                    "\xe2\x97\x86", "\xe2\x97\x87", "\xe2\x96\xa0", "\xe2\x96\xb3"};
static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char *const ascii_fills[] = {"#", "=", "+", "-"};
static const char *const fills[] = {"\xe2\x96\x88", "\xe2\x96\x93", "\xe2\x96\x92", "\xe2\x96\x91"};
static const int colours[] = {33, 208, 36, 175, 214, 117, 245, 98}; /* of 256 */
#define SIGNS 8
#define FILLS 4

/* ---- the canvas ------------------------------------------------------------------------------ */

typedef struct canvas {
    size_t w, h;        /* characters */
    unsigned char *dot; /* [h][w] Braille bits, or 1 */
    size_t *owner;      /* [h][w] series + 1; 0: empty */
    bool braille;
} canvas;

static bool canvas_init(canvas *c, size_t w, size_t h, bool braille)
{
    *c = (canvas){.w = w, .h = h, .braille = braille};
    c->dot = calloc(w * h, sizeof *c->dot);
    c->owner = calloc(w * h, sizeof *c->owner);
    return c->dot && c->owner;
}

static void canvas_fini(canvas *c)
{
    free(c->dot);
    free(c->owner);
}

/* (x, y) in dots from the lower left corner. */
static void canvas_set(canvas *c, size_t series, double x, double y)
{
    static const unsigned char bit[4][2] = {
        {0x40, 0x80}, {0x04, 0x20}, {0x02, 0x10}, {0x01, 0x08}}; /* from the bottom up */
    const size_t wide = c->braille ? 2 : 1, high = c->braille ? 4 : 1;
    if (!(x >= 0.0 && y >= 0.0 && x < (double)(c->w * wide) && y < (double)(c->h * high)))
        return;
    const size_t i = (size_t)x, j = (size_t)y;
    const size_t at = (c->h - 1 - j / high) * c->w + i / wide;
    c->dot[at] = (unsigned char)(c->dot[at] | (c->braille ? bit[j % 4][i % 2] : 1));
    c->owner[at] = series + 1;
}

static void canvas_line(canvas *c, size_t series, double x0, double y0, double x1, double y1)
{
    const double steps = ceil(fmax(fabs(x1 - x0), fabs(y1 - y0)));
    for (double k = 0.0; k <= steps; k += 1.0) {
        const double a = steps > 0.0 ? k / steps : 0.0;
        canvas_set(c, series, x0 + a * (x1 - x0), y0 + a * (y1 - y0));
    }
}

static void draw(const plot *p, canvas *c, const plot_axis *x, const plot_axis *y)
{
    const double w = (double)(c->w * (c->braille ? 2 : 1)) - 1.0;
    const double h = (double)(c->h * (c->braille ? 4 : 1)) - 1.0;
    const bool points =
        p->marks == MARKS_POINTS || (p->marks == MARKS_GUESS && p->type == PLOT_TIME);
    for (size_t k = 0; k < p->n_series; k++) {
        const plot_series *s = &p->series[k];
        double px = 0.0, py = 0.0;
        for (size_t i = 0; i < s->n; i++) {
            const double qx = 0.5 + w * plot_axis_at(x, s->x[i]);
            const double qy = 0.5 + h * plot_axis_at(y, s->y[i]);
            const bool join = i > 0 && !points && fabs(qy) < 1e5 && fabs(py) < 1e5;
            canvas_line(c, k, join ? px : qx, join ? py : qy, qx, qy);
            px = qx;
            py = qy;
        }
    }
}

/* ---- signs ----------------------------------------------------------------------------------- */

static void colour_on(const plot_terminal *how, size_t series, text *t)
{
    if (how->colour)
        text_fmt(t, "\033[38;5;%dm", colours[series % SIGNS]);
}

static void colour_off(const plot_terminal *how, text *t)
{
    if (how->colour)
        text_str(t, "\033[0m");
}

static void add_sign(const plot_terminal *how, size_t series, text *t)
{
    if (series < SIGNS)
        text_str(t, (how->ascii ? ascii_signs : signs)[series]);
    else
        text_char(t, letters[(series - SIGNS) % (sizeof letters - 1)]);
}

static void add_cell(const canvas *c, size_t at, const plot_terminal *how, text *t)
{
    if (c->owner[at] == 0) {
        text_char(t, ' ');
        return;
    }
    const size_t series = c->owner[at] - 1;
    colour_on(how, series, t);
    if (c->braille) {
        const unsigned u = 0x2800u + c->dot[at];
        const char utf8[] = {(char)0xe2, (char)(0x80 | (u >> 6 & 0x3f)), (char)(0x80 | (u & 0x3f))};
        text_add(t, utf8, sizeof utf8);
    } else
        add_sign(how, series, t);
    colour_off(how, t);
}

static void add_padded(text *t, const char *s, size_t width, bool right)
{
    const size_t n = plot_width(s), pad = n < width ? width - n : 0;
    if (right)
        text_fmt(t, "%*s", (int)pad, "");
    text_str(t, s);
    if (!right)
        text_fmt(t, "%*s", (int)pad, "");
}

static void add_legend(const plot *p, const plot_terminal *how, bool braille, size_t indent,
                       text *t)
{
    for (size_t k = 0; p->n_series > 1 && k < p->n_series; k++) {
        const bool bars = p->type == PLOT_LABELS;
        text_fmt(t, "%*s", (int)indent, "");
        colour_on(how, k, t);
        if (bars)
            text_str(t, how->colour && !how->ascii ? fills[0]
                        : how->ascii               ? ascii_fills[k % FILLS]
                                                   : fills[k % FILLS]);
        else if (braille)
            text_str(t, "\xe2\xa3\x89\xe2\xa3\x89");
        else
            add_sign(how, k, t);
        colour_off(how, t);
        text_fmt(t, " %s\n", p->series[k].name);
    }
}

/* ---- curves ---------------------------------------------------------------------------------- */

static size_t widest_label(const plot_axis *a)
{
    size_t w = 0;
    for (size_t i = 0; i < a->n; i++)
        w = strlen(a->label[i]) > w ? strlen(a->label[i]) : w;
    return w;
}

static void add_rows(const canvas *c, const plot_axis *y, size_t margin, const plot_terminal *how,
                     text *t)
{
    for (size_t r = 0; r < c->h; r++) {
        const char *label = "";
        for (size_t i = 0; i < y->n; i++) {
            const double from_top = (1.0 - plot_axis_at(y, y->tick[i])) * (double)(c->h - 1);
            if ((size_t)(from_top + 0.5) == r)
                label = y->label[i];
        }
        add_padded(t, label, margin, true);
        text_str(t, how->ascii ? (label[0] ? " +" : " |")
                               : (label[0] ? " \xe2\x94\xa4" : " \xe2\x94\x82"));
        size_t last = c->w;
        while (last > 0 && c->owner[r * c->w + last - 1] == 0)
            last--;
        for (size_t i = 0; i < last; i++)
            add_cell(c, r * c->w + i, how, t);
        text_char(t, '\n');
    }
}

/* The line under the plot, and the labels that have room. */
static void add_x_axis(const plot_axis *x, size_t w, size_t margin, bool ascii, text *t)
{
    char *labels = malloc(w + 32);
    bool *tick = calloc(w, sizeof *tick);
    if (!labels || !tick) {
        t->failed = true;
        goto out;
    }
    memset(labels, ' ', w + 32);
    size_t free_from = 0, end = 0;
    for (size_t i = 0; i < x->n; i++) {
        const size_t at = (size_t)(plot_axis_at(x, x->tick[i]) * (double)(w - 1) + 0.5);
        const size_t n = strlen(x->label[i]), from = at > n / 2 ? at - n / 2 : 0;
        if (at >= w)
            continue;
        tick[at] = true;
        if (from < free_from || from + n > w + 8)
            continue;
        memcpy(labels + from, x->label[i], n);
        end = from + n;
        free_from = end + 1;
    }
    text_fmt(t, "%*s", (int)margin, "");
    text_str(t, ascii ? " +" : " \xe2\x94\x94");
    for (size_t i = 0; i < w; i++)
        text_str(t, ascii ? (tick[i] ? "+" : "-") : (tick[i] ? "\xe2\x94\xac" : "\xe2\x94\x80"));
    text_fmt(t, "\n%*s", (int)margin + 2, "");
    text_add(t, labels, end);
    text_char(t, '\n');
out:
    free(labels);
    free(tick);
}

static bool text_curves(const plot *p, const plot_terminal *how, size_t width, size_t height,
                        text *t)
{
    plot_axis x, y;
    if (!plot_axes(p, width / 12 + 1, height / 4 + 1, &x, &y))
        return false;
    const size_t margin = widest_label(&y);
    const size_t w = width > margin + 12 ? width - margin - 3 : 10;
    const bool braille = !how->ascii && (how->colour ? p->n_series <= SIGNS : p->n_series < 2);
    canvas c;
    const bool ok = canvas_init(&c, w, height, braille);
    if (ok) {
        draw(p, &c, &x, &y);
        if (p->y_name)
            text_fmt(t, "%*s%s\n", (int)margin + 2, "", p->y_name);
        add_rows(&c, &y, margin, how, t);
        add_x_axis(&x, w, margin, how->ascii, t);
        if (p->x_name) {
            const size_t n = plot_width(p->x_name);
            text_fmt(t, "%*s%s\n", (int)(margin + 2 + (w > n ? (w - n) / 2 : 0)), "", p->x_name);
        }
        add_legend(p, how, braille, margin + 2, t);
    } else
        message_memory();
    canvas_fini(&c);
    return ok;
}

/* ---- bars ------------------------------------------------------------------------------------ */

/* `width` characters, the last one in eighths where the characters have them. */
static void add_bar(double width, size_t series, const plot_terminal *how, bool several, text *t)
{
    const bool eighths = !how->ascii && (how->colour || !several);
    const size_t n = (size_t)(eighths ? width : width + 0.5);
    const size_t rest = eighths ? (size_t)((width - (double)n) * 8.0) : 0;
    colour_on(how, series, t);
    for (size_t i = 0; i < n; i++)
        text_str(t, how->ascii ? ascii_fills[series % FILLS]
                    : eighths  ? fills[0]
                               : fills[series % FILLS]);
    if (rest) {
        const char part[] = {(char)0xe2, (char)0x96, (char)(0x90 - rest)};
        text_add(t, part, sizeof part);
    }
    colour_off(how, t);
}

static bool text_bars(const plot *p, const plot_terminal *how, size_t width, text *t)
{
    plot_axis x, v;
    if (!plot_axes(p, 5, 5, &x, &v))
        return false;
    size_t margin = 0;
    for (size_t k = 0; k < p->n_categories; k++) {
        const size_t n = plot_width(p->category[k]);
        margin = n > margin ? n : margin;
    }
    const double room = width > margin + 20 ? (double)(width - margin - 10) : 10.0;
    if (p->y_name)
        text_fmt(t, "%*s%s\n", (int)margin + 1, "", p->y_name);
    for (size_t c = 0; c < p->n_categories; c++)
        for (size_t k = 0; k < p->n_series; k++) {
            const plot_series *s = &p->series[k];
            add_padded(t, k == 0 ? p->category[c] : "", margin, false);
            text_char(t, ' ');
            for (size_t i = 0; i < s->n; i++)
                if (s->x[i] == (double)c) {
                    const double a = fmin(fmax(plot_axis_at(&v, s->y[i]), 0.0), 1.0);
                    add_bar(a * room, k, how, p->n_series > 1, t);
                    char shown[PLOT_VALUE];
                    plot_value(s->y[i], shown);
                    text_fmt(t, " %s", shown);
                }
            text_char(t, '\n');
        }
    add_legend(p, how, false, margin + 1, t);
    return true;
}

bool plot_text(const plot *p, const plot_terminal *how, text *out)
{
    const size_t width = how->width ? how->width : 80, height = how->height ? how->height : 18;
    if (p->title)
        text_fmt(out, "%s\n", p->title);
    return p->type == PLOT_LABELS ? text_bars(p, how, width, out)
                                  : text_curves(p, how, width, height, out);
}
