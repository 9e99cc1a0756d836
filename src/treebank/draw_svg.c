/* draw_svg.c -- trees as SVG 1.1, one below the other. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "text/utf8.h"
#include "treebank/layout.h"

#define UNIT 10 /* layout units per pixel */
#define MARGIN 24
#define GAP 14     /* between neighbours */
#define LEVEL 46   /* from label to label */
#define NUMBER 11  /* more of it, for a probability below the label */
#define TO_WORD 34 /* from tag to word */
#define BETWEEN 36 /* trees */
#define LABEL_SIZE 13
#define WORD_SIZE 15
#define NUMBER_SIZE 10
#define CAPTION 20 /* its line */

struct trl_tree_svg {
    trl_buf body;
    size_t width, height; /* pixels, without margins */
    size_t n;
    bool part; /* of a page: styles at the elements */
};

/* A class of elements: its name where there is a style sheet, else what it looks like in a page of
 * any colour. */
static void add_class(trl_tree_svg *svg, char class)
{
    static const char font[] = "font-family=\"Inter,'Helvetica Neue',Helvetica,Arial,'DejaVu "
                               "Sans',sans-serif\" text-anchor=";
    trl_buf *b = &svg->body;
    if (!svg->part)
        trl_buf_fmt(b, " class=\"%c\"", class);
    else if (class == 'f')
        trl_buf_str(b, " fill=\"#3d8fd1\"");
    else if (class == 'm')
        trl_buf_str(b, " fill=\"#d1743d\" fill-opacity=\"0.25\" stroke=\"#d1743d\"");
    else {
        const bool label = class == 'p' || class == 't';
        trl_buf_fmt(b, " %s\"%s\" font-size=\"%d\" fill=\"%s\"%s", font,
                    class == 'c' ? "start" : "middle",
                    class == 'w'   ? WORD_SIZE
                    : class == 'n' ? NUMBER_SIZE
                                   : LABEL_SIZE,
                    !label         ? "currentColor"
                    : class == 'p' ? "#3d8fd1"
                                   : "#2c9c78",
                    class == 'p' ? " font-weight=\"600\"" : "");
    }
}

/* An estimate in thousandths of the font size: the font is not known. */
static size_t letter_width(uint32_t x)
{
    if (trl_utf8_columns_of(x) != 1)
        return 500 * (size_t)trl_utf8_columns_of(x);
    if (x < 128 && x && __builtin_strchr("ijl.,:;'`|!", (int)x))
        return 300;
    if (x < 128 && x && __builtin_strchr("frt()[]{}/\\-\" ", (int)x))
        return 390;
    if (x < 128 && x && __builtin_strchr("mwMW@%", (int)x))
        return 900;
    return x >= 'A' && x <= 'Z' ? 720 : 580;
}

static size_t text_width(trl_str s, size_t size)
{
    size_t sum = 0;
    for (size_t i = 0, n; i < s.n; i += n) {
        uint32_t x;
        n = trl_utf8_next(s.p + i, s.n - i, &x);
        sum += n ? letter_width(x) : 1000;
        n = n ? n : 1;
    }
    return sum * size * UNIT / 1000 + 2 * UNIT;
}

static void add_number(trl_buf *b, const char *name, size_t units)
{
    trl_buf_fmt(b, " %s=\"%zu.%zu\"", name, units / UNIT, units % UNIT);
}

static void add_text(trl_tree_svg *svg, char class, size_t x, size_t y, trl_str s)
{
    trl_buf *b = &svg->body;
    trl_buf_str(b, "<text");
    add_class(svg, class);
    add_number(b, "x", x);
    add_number(b, "y", y);
    trl_buf_ch(b, '>');
    trl_buf_xml(b, s);
    trl_buf_str(b, "</text>\n");
}

static void add_edge(trl_tree_svg *svg, size_t x1, size_t y1, size_t x2, size_t y2)
{
    trl_buf *b = &svg->body;
    trl_buf_str(b, "<line");
    if (svg->part)
        trl_buf_str(b, " stroke=\"#8a96a3\" stroke-width=\"1.2\" stroke-linecap=\"round\"");
    add_number(b, "x1", x1);
    add_number(b, "y1", y1);
    add_number(b, "x2", x2);
    add_number(b, "y2", y2);
    trl_buf_str(b, "/>\n");
}

/* A tree, where its nodes stand, and what is shown of them. */
typedef struct drawing {
    const trl_tree *tree;
    const trl_box *box;
    trl_tree_marks marks;
    size_t number; /* room below each label */
} drawing;

/* The base line of a label, of a word. */
static size_t label_y(const drawing *d, uint32_t i)
{
    return (d->box[i].depth * (LEVEL + d->number) + LABEL_SIZE) * UNIT;
}

static size_t word_y(const drawing *d, uint32_t i)
{
    return label_y(d, i) + (TO_WORD + d->number) * UNIT;
}

/* The probability of a node; NaN: not shown. */
static double probability(const drawing *d, uint32_t i)
{
    return d->marks.probability ? d->marks.probability[i] : (double)NAN;
}

static void add_edges(trl_tree_svg *svg, const drawing *d)
{
    const trl_tree *t = d->tree;
    const trl_box *box = d->box;
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const size_t number = isnan(probability(d, i)) ? 0 : d->number;
        const size_t from = label_y(d, i) + (5 + number) * UNIT;
        if (t->node[i].child == TRL_NO_NODE)
            add_edge(svg, box[i].centre, from, box[i].centre, word_y(d, i) - WORD_SIZE * UNIT);
        for (uint32_t c = t->node[i].child; c != TRL_NO_NODE; c = t->node[c].next)
            add_edge(svg, box[i].centre, from, box[c].centre,
                     label_y(d, c) - (LABEL_SIZE + 1) * UNIT);
    }
}

/* The frame of a marked node, the fill of one with a probability. */
static void add_ground(trl_tree_svg *svg, const drawing *d, uint32_t i)
{
    trl_buf *b = &svg->body;
    const bool marked = d->marks.marked && d->marks.marked[i];
    const double p = probability(d, i);
    if (!marked && isnan(p))
        return;
    const size_t half = d->box[i].label / 2 + 4 * UNIT, high = LABEL_SIZE + 5 + d->number;
    const size_t left = d->box[i].centre > half ? d->box[i].centre - half : 0;
    trl_buf_str(b, "<rect");
    add_class(svg, marked ? 'm' : 'f');
    trl_buf_str(b, " rx=\"4\"");
    add_number(b, "x", left);
    add_number(b, "y", label_y(d, i) - (LABEL_SIZE - 1) * UNIT);
    add_number(b, "width", 2 * half);
    add_number(b, "height", high * UNIT);
    if (!isnan(p) && !marked)
        trl_buf_fmt(b, " fill-opacity=\"%.2f\"", 0.02 + 0.3 * p);
    trl_buf_str(b, "/>\n");
}

static void add_percent(trl_tree_svg *svg, const drawing *d, uint32_t i)
{
    char shown[16];
    const double x = 100.0 * probability(d, i);
    if (isnan(x))
        return;
    snprintf(shown, sizeof shown, "%s%%", x > 99.0 && x < 99.95 ? ">99" : x < 1.0 ? "<1" : "");
    if (shown[0] == '%')
        snprintf(shown, sizeof shown, "%.0f%%", x);
    add_text(svg, 'n', d->box[i].centre, label_y(d, i) + NUMBER * UNIT,
             (trl_str){shown, strlen(shown)});
}

static void add_tree(trl_tree_svg *svg, const drawing *d)
{
    const trl_tree *t = d->tree;
    add_edges(svg, d); /* below all text */
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const bool leaf = t->node[i].child == TRL_NO_NODE;
        add_ground(svg, d, i);
        add_text(svg, leaf ? 't' : 'p', d->box[i].centre, label_y(d, i), trl_shown_label(t, i));
        add_percent(svg, d, i);
        if (leaf)
            add_text(svg, 'w', d->box[i].centre, word_y(d, i), t->word[t->node[i].from]);
    }
}

trl_status trl_tree_svg_new(trl_tree_svg **out, trl_error *err)
{
    if (!out)
        return trl_fail_null(err);
    *out = trl_zalloc(1, sizeof **out);
    return *out ? TRL_OK : trl_fail_mem(err);
}

trl_status trl_tree_svg_new_part(trl_tree_svg **out, trl_error *err)
{
    const trl_status st = trl_tree_svg_new(out, err);
    if (st == TRL_OK)
        (*out)->part = true;
    return st;
}

void trl_tree_svg_free(trl_tree_svg *svg)
{
    if (!svg)
        return;
    trl_buf_fini(&svg->body);
    trl_free(svg);
}

/* The widths of all labels and words; the answer is the depth of the tree. */
static size_t measure(drawing *d, trl_box *box)
{
    const trl_tree *t = d->tree;
    size_t deepest = 0;
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const bool leaf = t->node[i].child == TRL_NO_NODE;
        const size_t number = text_width((trl_str){">99%", 4}, NUMBER_SIZE);
        box[i].label = text_width(trl_shown_label(t, i), LABEL_SIZE);
        if (d->number && box[i].label < number)
            box[i].label = number;
        box[i].word = leaf ? text_width(t->word[t->node[i].from], WORD_SIZE) : 0;
        deepest = box[i].depth > deepest ? box[i].depth : deepest;
    }
    return deepest;
}

static void begin_tree(trl_tree_svg *svg, const drawing *d)
{
    trl_buf *b = &svg->body;
    const char *caption = d->marks.caption;
    svg->height += svg->n++ ? BETWEEN : 0;
    if (caption) {
        svg->height += CAPTION;
        const trl_str line = {caption, strlen(caption)};
        const size_t width = text_width(line, LABEL_SIZE) / UNIT + 1;
        svg->width = width > svg->width ? width : svg->width;
        add_text(svg, 'c', MARGIN * UNIT, (svg->height + MARGIN - 6) * UNIT, line);
    }
    trl_buf_fmt(b, "<g transform=\"translate(%d %zu)\">\n<title>", MARGIN, svg->height + MARGIN);
    for (size_t i = 0; i < d->tree->n_words; i++) {
        if (i)
            trl_buf_ch(b, ' ');
        trl_buf_xml(b, d->tree->word[i]);
    }
    trl_buf_str(b, "</title>\n");
}

trl_status trl_tree_svg_add_marked(trl_tree_svg *svg, const trl_tree *t,
                                   const trl_tree_marks *marks, trl_error *err)
{
    if (!svg || !t || !marks)
        return trl_fail_null(err);
    trl_layout l;
    const trl_status st = trl_layout_init(&l, t, err);
    if (st != TRL_OK)
        return st;
    drawing d = {.tree = t, .box = l.box, .marks = *marks};
    d.number = marks->probability ? NUMBER : 0;
    const size_t deepest = measure(&d, l.box);
    trl_layout_place(&l, t, GAP * UNIT);
    const size_t width = l.box[0].width / UNIT + 1;
    begin_tree(svg, &d);
    add_tree(svg, &d);
    trl_buf_str(&svg->body, "</g>\n");
    svg->height += deepest * (LEVEL + d.number) + LABEL_SIZE + TO_WORD + d.number + WORD_SIZE / 2;
    svg->width = width > svg->width ? width : svg->width;
    trl_layout_fini(&l);
    return svg->body.failed ? trl_fail_mem(err) : TRL_OK;
}

trl_status trl_tree_svg_add(trl_tree_svg *svg, const trl_tree *t, trl_error *err)
{
    return trl_tree_svg_add_marked(svg, t, &(trl_tree_marks){0}, err);
}

static void add_style(trl_buf *out)
{
    trl_buf_fmt(out,
                "<style>\n"
                "text { text-anchor: middle; font-family: Inter,'Helvetica Neue',Helvetica,"
                "Arial,'DejaVu Sans',sans-serif }\n"
                ".p { font-size: %dpx; font-weight: 600; fill: #0072b2 }\n"
                ".t { font-size: %dpx; fill: #00795a }\n"
                ".w { font-size: %dpx; fill: #1a1a1a }\n"
                "line { stroke: #a9b4c0; stroke-width: 1.2; stroke-linecap: round }\n",
                LABEL_SIZE, LABEL_SIZE, WORD_SIZE);
    trl_buf_fmt(out,
                ".n { font-size: %dpx; fill: #1a1a1a }\n"
                ".c { font-size: %dpx; fill: #595959; text-anchor: start }\n"
                ".f { fill: #0072b2 }\n"
                ".m { fill: #ffe08a; stroke: #b35900; stroke-width: 2 }\n"
                ".b { fill: #ffffff }\n"
                "@media (prefers-color-scheme: dark) { .p { fill: #6cb6f0 } .t { fill: #4fc9a0 } "
                ".w, .n { fill: #e8e8e8 } .c { fill: #a8a8a8 } line { stroke: #6b7682 } "
                ".f { fill: #4d9de0 } .m { fill: #5a3a00; stroke: #f0a040 } "
                ".b { fill: #16181c } }\n"
                "</style>\n",
                NUMBER_SIZE, LABEL_SIZE);
    trl_buf_str(out, "<rect width=\"100%\" height=\"100%\" class=\"b\"/>\n");
}

trl_status trl_tree_svg_finish(const trl_tree_svg *svg, trl_buf *out, trl_error *err)
{
    if (!svg || !out)
        return trl_fail_null(err);
    const size_t w = svg->width + 2 * MARGIN, h = svg->height + 2 * MARGIN;
    trl_buf_fmt(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
                "viewBox=\"0 0 %zu %zu\">\n",
                w, h, w, h);
    if (!svg->part)
        add_style(out);
    trl_buf_add(out, svg->body.data, svg->body.len);
    trl_buf_str(out, "</svg>\n");
    return out->failed || svg->body.failed ? trl_fail_mem(err) : TRL_OK;
}
