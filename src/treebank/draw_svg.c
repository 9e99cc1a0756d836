/* draw_svg.c -- trees as SVG 1.1, one below the other. */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "base/mem.h"
#include "text/utf8.h"
#include "treebank/layout.h"

#define UNIT 10 /* layout units per pixel */
#define MARGIN 24
#define GAP 14     /* between neighbours */
#define LEVEL 46   /* from label to label */
#define TO_WORD 34 /* from tag to word */
#define BETWEEN 36 /* trees */
#define LABEL_SIZE 13
#define WORD_SIZE 15

struct trl_tree_svg {
    trl_buf body;
    size_t width, height; /* pixels, without margins */
    size_t n;
};

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

static void add_text(trl_buf *b, char class, size_t x, size_t y, trl_str s)
{
    trl_buf_fmt(b, "<text class=\"%c\"", class);
    add_number(b, "x", x);
    add_number(b, "y", y);
    trl_buf_ch(b, '>');
    trl_buf_xml(b, s);
    trl_buf_str(b, "</text>\n");
}

static void add_edge(trl_buf *b, size_t x1, size_t y1, size_t x2, size_t y2)
{
    trl_buf_str(b, "<line");
    add_number(b, "x1", x1);
    add_number(b, "y1", y1);
    add_number(b, "x2", x2);
    add_number(b, "y2", y2);
    trl_buf_str(b, "/>\n");
}

/* The base line of a label, of a word. */
static size_t label_y(const trl_box *box)
{
    return (box->depth * LEVEL + LABEL_SIZE) * UNIT;
}

static size_t word_y(const trl_box *box)
{
    return label_y(box) + TO_WORD * UNIT;
}

static void add_tree(trl_buf *b, const trl_layout *l, const trl_tree *t)
{
    const trl_box *box = l->box;
    for (uint32_t i = 0; i < t->n_nodes; i++) { /* edges below all text */
        const size_t from = label_y(&box[i]) + 5 * UNIT;
        if (t->node[i].child == TRL_NO_NODE)
            add_edge(b, box[i].centre, from, box[i].centre, word_y(&box[i]) - WORD_SIZE * UNIT);
        for (uint32_t c = t->node[i].child; c != TRL_NO_NODE; c = t->node[c].next)
            add_edge(b, box[i].centre, from, box[c].centre,
                     label_y(&box[c]) - (LABEL_SIZE + 1) * UNIT);
    }
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const bool leaf = t->node[i].child == TRL_NO_NODE;
        add_text(b, leaf ? 't' : 'p', box[i].centre, label_y(&box[i]), trl_shown_label(t, i));
        if (leaf)
            add_text(b, 'w', box[i].centre, word_y(&box[i]), t->word[t->node[i].from]);
    }
}

trl_status trl_tree_svg_new(trl_tree_svg **out, trl_error *err)
{
    if (!out)
        return trl_fail_null(err);
    *out = trl_zalloc(1, sizeof **out);
    return *out ? TRL_OK : trl_fail_mem(err);
}

void trl_tree_svg_free(trl_tree_svg *svg)
{
    if (!svg)
        return;
    trl_buf_fini(&svg->body);
    trl_free(svg);
}

trl_status trl_tree_svg_add(trl_tree_svg *svg, const trl_tree *t, trl_error *err)
{
    if (!svg || !t)
        return trl_fail_null(err);
    trl_layout l;
    const trl_status st = trl_layout_init(&l, t, err);
    if (st != TRL_OK)
        return st;
    size_t deepest = 0;
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const bool leaf = t->node[i].child == TRL_NO_NODE;
        l.box[i].label = text_width(trl_shown_label(t, i), LABEL_SIZE);
        l.box[i].word = leaf ? text_width(t->word[t->node[i].from], WORD_SIZE) : 0;
        deepest = l.box[i].depth > deepest ? l.box[i].depth : deepest;
    }
    trl_layout_place(&l, t, GAP * UNIT);
    const size_t width = l.box[0].width / UNIT + 1;
    trl_buf *b = &svg->body;
    svg->height += svg->n++ ? BETWEEN : 0;
    trl_buf_fmt(b, "<g transform=\"translate(%d %zu)\">\n<title>", MARGIN, svg->height + MARGIN);
    for (size_t i = 0; i < t->n_words; i++) {
        if (i)
            trl_buf_ch(b, ' ');
        trl_buf_xml(b, t->word[i]);
    }
    trl_buf_str(b, "</title>\n");
    add_tree(b, &l, t);
    trl_buf_str(b, "</g>\n");
    svg->height += deepest * LEVEL + LABEL_SIZE + TO_WORD + WORD_SIZE / 2;
    svg->width = width > svg->width ? width : svg->width;
    trl_layout_fini(&l);
    return b->failed ? trl_fail_mem(err) : TRL_OK;
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
    trl_buf_fmt(out,
                "<style>\n"
                "text { text-anchor: middle; font-family: Inter,'Helvetica Neue',Helvetica,"
                "Arial,'DejaVu Sans',sans-serif }\n"
                ".p { font-size: %dpx; font-weight: 600; fill: #0072b2 }\n"
                ".t { font-size: %dpx; fill: #00795a }\n"
                ".w { font-size: %dpx; fill: #1a1a1a }\n"
                "line { stroke: #a9b4c0; stroke-width: 1.2; stroke-linecap: round }\n"
                "</style>\n",
                LABEL_SIZE, LABEL_SIZE, WORD_SIZE);
    trl_buf_str(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    trl_buf_add(out, svg->body.data, svg->body.len);
    trl_buf_str(out, "</svg>\n");
    return out->failed || svg->body.failed ? trl_fail_mem(err) : TRL_OK;
}
