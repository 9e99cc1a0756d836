/* plot_svg_parts.c -- text, marks, title and legend of SVG plots.
 *
 * The colours are those of Okabe and Ito, which stay apart for the colour-blind and, with the
 * markers, in grey; on a dark screen lighter ones take their place.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "plot_svg.h"

static const char *const light[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#e69f00", "#56b4e9", "#5f5f5f", "#7a4fa3"};
static const char *const dark[] = {"#4d9de0", "#f07f3c", "#2fbf8f", "#dc94bd",
                                   "#f0b429", "#9bd6f7", "#b4b4b4", "#ad8fd6"};
static const char *const dashes[] = {"", "7 4", "2 4", "9 4 2 4", "14 5"};
#define COLOURS (sizeof light / sizeof *light)
#define DASHES (sizeof dashes / sizeof *dashes)
#define MARKERS 5

#define FONT "Inter,'Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif"
#define LETTER 0.6 /* its width, of its height */
#define BOLD 1.12  /* the width of bold letters, of that of others */
#define TITLE_ROW 21.0
#define TITLE_ROWS 4
#define LEGEND_ROW 21.0
#define LEGEND_KEY 26.0  /* the line before a name */
#define LEGEND_GAP 14.0  /* after a name */
#define LEGEND_SHARE 0.4 /* of the picture; what is wider stands below the plot */
#define MANY_POINTS 30   /* from there on, a line has no markers */

/* ---- text ------------------------------------------------------------------------------------ */

double svg_text_width(const char *s, double size)
{
    double n = 0.0;
    size_t k = 0;
    for (; *s && k <= SVG_LONGEST_NAME; s++)
        if (((unsigned char)*s & 0xc0) != 0x80) {
            n += (unsigned char)*s >= 0xe3 ? 1.7 : 1.0;
            k++;
        }
    return LETTER * size * n;
}

size_t svg_letters(double room, double size)
{
    return room > LETTER * size ? (size_t)(room / (LETTER * size)) : 1;
}

void svg_escaped(text *t, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] == '&')
            text_str(t, "&amp;");
        else if (s[i] == '<')
            text_str(t, "&lt;");
        else if (s[i] == '>')
            text_str(t, "&gt;");
        else
            text_char(t, s[i]);
}

/* The byte where character k starts, or the end. */
static size_t at_character(const char *s, size_t k)
{
    size_t i = 0;
    for (; s[i]; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80 && k-- == 0)
            break;
    return i;
}

void svg_text(text *t, const svg_label *l, const char *s)
{
    const size_t n = plot_width(s), bytes = strlen(s);
    text_fmt(t, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", l->class, l->x,
             l->y, l->anchor);
    if (n <= l->most)
        svg_escaped(t, s, bytes);
    else {
        const size_t tail = (l->most - 1) / 3, from = at_character(s, n - tail);
        text_str(t, "<title>");
        svg_escaped(t, s, bytes);
        text_str(t, "</title>");
        svg_escaped(t, s, at_character(s, l->most - 1 - tail));
        text_str(t, "\xe2\x80\xa6");
        svg_escaped(t, s + from, bytes - from);
    }
    text_str(t, "</text>\n");
}

/* ---- marks ----------------------------------------------------------------------------------- */

void svg_marker(text *t, size_t k, double x, double y)
{
    text_fmt(t, "<path class=\"m f%zu\" d=\"", k % COLOURS);
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
    text_str(t, "\"/>\n");
}

void svg_line_style(text *t, size_t k)
{
    text_fmt(t, "class=\"l s%zu\"", k % COLOURS);
    if (k >= COLOURS)
        text_fmt(t, " stroke-dasharray=\"%s\"", dashes[k / COLOURS % DASHES]);
}

plot_marks svg_marks_of(const plot *p, const plot_series *s)
{
    if (p->marks != MARKS_GUESS)
        return p->marks;
    if (p->type == PLOT_TIME)
        return MARKS_POINTS;
    return p->type == PLOT_LEARNING && s->n <= MANY_POINTS ? MARKS_BOTH : MARKS_LINES;
}

/* ---- the start of the file ------------------------------------------------------------------- */

static void add_colours(text *t, const plot *p, const char *const *colours)
{
    for (size_t k = 0; k < COLOURS && k < p->n_series; k++)
        text_fmt(t, ".f%zu{fill:%s}.s%zu{stroke:%s}\n", k, colours[k], k, colours[k]);
}

static void add_styles(text *t, const plot *p)
{
    text_str(t, "<style>\n"
                ".b{fill:#fff}\n"
                ".t{font-size:12px;fill:#555}\n"
                ".n{font-size:13px;fill:#333}\n"
                ".h{font-size:16px;font-weight:600;fill:#1a1a1a}\n"
                ".g{stroke:#e4e4e4;stroke-width:1}\n"
                ".a{stroke:#888;stroke-width:1}\n"
                ".l{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\n"
                ".m{stroke:#fff;stroke-width:1}\n");
    add_colours(t, p, light);
    text_str(t, "@media (prefers-color-scheme:dark){\n"
                ".b{fill:#16181d}.t{fill:#b4b7bc}.n{fill:#d8dadd}.h{fill:#f2f2f2}\n"
                ".g{stroke:#30343b}.a{stroke:#80848c}.m{stroke:#16181d}\n");
    add_colours(t, p, dark);
    text_str(t, "}\n</style>\n");
}

/* The bytes of the next line of at most `most` characters: up to a blank where there is one. */
static size_t title_line(const char *s, size_t most)
{
    const size_t end = at_character(s, most);
    if (!s[end])
        return end;
    size_t k = end;
    while (k > 0 && s[k] != ' ')
        k--;
    return k ? k : end;
}

/* Adds the lines of the title from (x, y) on, or only counts them when t is NULL. */
static size_t title_lines(text *t, const char *s, size_t most, double x, double y)
{
    size_t n = 0;
    while (*s) {
        const bool last = n + 1 == TITLE_ROWS;
        const size_t k = last ? strlen(s) : title_line(s, most);
        if (t) {
            text line = {0};
            text_add(&line, s, k);
            text_char(&line, '\0');
            if (!line.failed)
                svg_text(t,
                         &(svg_label){.x = x,
                                      .y = y + TITLE_ROW * (double)n,
                                      .class = "h",
                                      .anchor = "start",
                                      .most = most},
                         line.p);
            t->failed = t->failed || line.failed;
            text_fini(&line);
        }
        s += k;
        s += strspn(s, " ");
        n++;
    }
    return n;
}

#define TITLE_LEFT 18.0

double svg_title_height(const plot *p, double width)
{
    const size_t most = svg_letters(width - 2.0 * TITLE_LEFT, BOLD * SVG_TITLE_SIZE);
    const size_t n = p->title ? title_lines(NULL, p->title, most, 0.0, 0.0) : 0;
    return n ? 9.0 + TITLE_ROW * (double)n : 0.0;
}

void svg_begin(text *t, const plot *p, const svg_frame *f)
{
    const char *name = p->title ? p->title : p->y_name ? p->y_name : "plot";
    text_fmt(t,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
             "viewBox=\"0 0 %.0f %.0f\" role=\"img\" font-family=\"" FONT "\">\n",
             f->width, f->height, f->width, f->height);
    text_str(t, "<title>");
    svg_escaped(t, name, strlen(name));
    text_str(t, "</title>\n");
    add_styles(t, p);
    text_fmt(t, "<rect class=\"b\" width=\"%.0f\" height=\"%.0f\"/>\n", f->width, f->height);
    if (p->title)
        title_lines(t, p->title, svg_letters(f->width - 2.0 * TITLE_LEFT, BOLD * SVG_TITLE_SIZE),
                    TITLE_LEFT, SVG_TITLE_SIZE + 14.0);
}

/* ---- the legend ------------------------------------------------------------------------------ */

static double entry_width(const plot *p)
{
    double w = p->n_series > COLOURS ? svg_text_width("and 10 more", SVG_NAME_SIZE) : 0.0;
    for (size_t k = 0; k < p->n_series; k++)
        w = fmax(w, svg_text_width(p->series[k].name, SVG_NAME_SIZE));
    return w + LEGEND_KEY + LEGEND_GAP;
}

static size_t rows_in(double height)
{
    return height > LEGEND_ROW ? (size_t)(height / LEGEND_ROW) : 1;
}

static void place_beside(svg_frame *f, size_t entries, double entry, double spare, bool fixed)
{
    const double need = f->top + LEGEND_ROW * (double)entries + 10.0;
    if (!fixed)
        f->height = fmax(f->height, need);
    f->right = f->width - entry - spare;
    f->legend.x = f->right + spare + 4.0;
    f->legend.y = f->top + 8.0;
    f->legend.columns = 1;
    f->legend.rows = need <= f->height ? entries : rows_in(f->height - f->top - 10.0);
}

static void place_below(svg_frame *f, size_t entries, double entry, double below, bool fixed)
{
    const double across = f->width - 2.0 * TITLE_LEFT;
    f->legend.columns = across > entry ? (size_t)(across / entry) : 1;
    f->legend.column = fmin(entry, across);
    f->legend.rows = (entries + f->legend.columns - 1) / f->legend.columns;
    if (!fixed)
        f->height += LEGEND_ROW * (double)f->legend.rows + 8.0;
    else { /* the plot keeps most of it */
        const size_t room = rows_in(LEGEND_SHARE * (f->height - f->top - below));
        f->legend.rows = f->legend.rows < room ? f->legend.rows : room;
    }
    f->legend.x = TITLE_LEFT;
    f->legend.y = f->height - LEGEND_ROW * (double)f->legend.rows;
}

void svg_legend_place(const plot *p, svg_frame *f, double spare, double below, bool fixed)
{
    const size_t n = p->n_series > 1 ? p->n_series : 0;
    const size_t entries = n <= SVG_DIFFERENT ? n : SVG_DIFFERENT + 1;
    const double entry = entry_width(p);
    f->right = f->width - spare;
    if (n && entry <= LEGEND_SHARE * f->width)
        place_beside(f, entries, entry, spare, fixed);
    else if (n)
        place_below(f, entries, entry, below, fixed);
    const bool under = n && f->legend.x < f->right;
    f->bottom = f->height - below - (under ? LEGEND_ROW * (double)f->legend.rows + 8.0 : 0.0);
    const size_t places = f->legend.rows * f->legend.columns;
    f->legend.listed = n <= SVG_DIFFERENT && n <= places ? n
                       : places > entries                ? entries - 1
                       : places                          ? places - 1
                                                         : 0;
}

static void add_key(text *t, const plot *p, size_t k, double x, double y)
{
    const plot_marks m = svg_marks_of(p, &p->series[k]);
    if (p->type == PLOT_LABELS) {
        text_fmt(t, "<rect class=\"f%zu\" x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\"/>\n",
                 k % COLOURS, x + 4.0, y - 6.0);
        return;
    }
    if (m != MARKS_POINTS) {
        text_str(t, "<path ");
        svg_line_style(t, k);
        text_fmt(t, " d=\"M%.1f %.1fh20\"/>\n", x, y);
    }
    if (m != MARKS_LINES)
        svg_marker(t, k, x + 10.0, y);
}

void svg_legend(text *t, const plot *p, const svg_frame *f)
{
    const double room = f->legend.x > f->right ? f->width - f->legend.x : f->legend.column;
    const size_t fit = svg_letters(room - LEGEND_KEY - 4.0, SVG_NAME_SIZE);
    const size_t most = fit < SVG_LONGEST_NAME ? fit : SVG_LONGEST_NAME;
    for (size_t k = 0; p->n_series > 1 && k <= f->legend.listed && k < p->n_series; k++) {
        const double x = f->legend.x + f->legend.column * (double)(k / f->legend.rows);
        const double y = f->legend.y + LEGEND_ROW * (double)(k % f->legend.rows);
        if (k < f->legend.listed) {
            add_key(t, p, k, x, y);
            svg_text(t,
                     &(svg_label){.x = x + LEGEND_KEY,
                                  .y = y + 4.5,
                                  .class = "n",
                                  .anchor = "start",
                                  .most = most},
                     p->series[k].name);
            continue;
        }
        text more = {0};
        text_fmt(&more, "and %zu more", p->n_series - k);
        text_char(&more, '\0');
        if (!more.failed)
            svg_text(
                t,
                &(svg_label){.x = x, .y = y + 4.5, .class = "n", .anchor = "start", .most = most},
                more.p);
        t->failed = t->failed || more.failed;
        text_fini(&more);
    }
}
