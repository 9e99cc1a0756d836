/* tag_picture.c -- labelled sequences as HTML and SVG. */
/* SPDX-License-Identifier: MIT */
#include "tag_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SURE 0.9       /* below it, being outside is marked */
#define ALTERNATIVES 4 /* labels named on hover */
#define LEAST_NAMED 0.0005

/* SVG, in pixels. */
#define WIDTH 960.0
#define MARGIN 24.0
#define WORD 15.0
#define NAME 11.0
#define ROW 50.0   /* from line to line */
#define PAD 6.0    /* inside a box */
#define BLANK 6.0  /* between words */
#define APART 30.0 /* between sequences, with the number in it */
#define TOP 20.0   /* from the top of a box to the base line of its words */
#define BELOW 35.0 /* and of its name */
#define BOX 41.0   /* its height */

bool tag_picture_init(tag_picture *x, picture as, const trl_str *label, size_t n_labels)
{
    *x = (tag_picture){.as = as, .label = label, .n_labels = n_labels};
    x->order = malloc((n_labels + 1) * sizeof *x->order);
    for (size_t k = 0; k < n_labels; k++)
        page_kinds_add(&x->kinds, page_kind_of(label[k]));
    return x->order && !x->kinds.failed;
}

void tag_picture_fini(tag_picture *x)
{
    page_kinds_fini(&x->kinds);
    free(x->order);
}

/* The most probable labels of a token, a line each; nothing without probabilities. */
static void add_alternatives(const tag_picture *x, const tag_shown *seq, size_t t, text *out)
{
    const double *p = seq->p ? seq->p + t * x->n_labels : NULL;
    const size_t all = seq->n_layer_labels ? seq->n_layer_labels : x->n_labels;
    size_t n = 0;
    for (uint32_t k = (uint32_t)seq->first_label; p && k < seq->first_label + all;
         k++) { /* the few largest, in order */
        size_t at = n < ALTERNATIVES ? n++ : ALTERNATIVES;
        for (; at > 0 && p[x->order[at - 1]] < p[k]; at--)
            if (at < ALTERNATIVES)
                x->order[at] = x->order[at - 1];
        if (at < ALTERNATIVES)
            x->order[at] = k;
    }
    for (size_t i = 0; i < n && (i == 0 || p[x->order[i]] >= LEAST_NAMED); i++) {
        const trl_str label = x->label[x->order[i]];
        text_str(out, i ? "\n" : "");
        text_xml(out, label.p, label.n);
        text_fmt(out, " %.1f %%", 100.0 * p[x->order[i]]);
    }
}

/* How probable what is shown of a token is; NaN: not known. */
static double own_probability(const tag_picture *x, const tag_shown *seq, size_t t)
{
    return seq->p ? seq->p[t * x->n_labels + seq->path[t]] : (double)NAN;
}

/* Its number, what is labelled, and how probable all of it is. */
static void add_heading(const tag_shown *seq, text *out)
{
    text_fmt(out, "%llu", (unsigned long long)seq->number);
    if (seq->layer) {
        text_str(out, ", ");
        text_xml(out, seq->layer, strlen(seq->layer));
    }
    if (seq->p && !isnan(seq->probability))
        text_fmt(out, ", probability %.3g", seq->probability);
}

static void add_name(trl_str name, double p, text *out)
{
    text_xml(out, name.p, name.n);
    if (!isnan(p)) {
        text_char(out, ' ');
        page_percent(out, p);
    }
}

/* ---- HTML ------------------------------------------------------------------------------------ */

static void add_word(const tag_picture *x, const tag_shown *seq, size_t t, text *out)
{
    text_str(out, "<span");
    if (seq->p) {
        text_str(out, " title=\"");
        add_alternatives(x, seq, t, out);
        text_char(out, '"');
    }
    text_char(out, '>');
    text_xml(out, seq->word[t].p, seq->word[t].n);
    text_str(out, "</span>");
}

static void add_chunk(const tag_picture *x, const tag_shown *seq, const trl_tag_span *s, text *out)
{
    text_fmt(out, "<span class=\"c\" style=\"--h:%u", page_hue(&x->kinds, s->type));
    if (seq->p)
        text_fmt(out, ";--p:%.2f", s->p);
    text_str(out, "\">");
    for (size_t t = s->begin; t < s->end; t++) {
        text_str(out, t > s->begin ? " " : "");
        add_word(x, seq, t, out);
    }
    text_str(out, "<small>");
    add_name(s->type, seq->p ? s->p : (double)NAN, out);
    text_str(out, "</small></span>");
}

static void add_outside(const tag_picture *x, const tag_shown *seq, size_t t, text *out)
{
    const double p = own_probability(x, seq, t);
    const bool unsure = p < SURE;
    text_str(out, unsure ? "<span class=\"u\">" : "");
    add_word(x, seq, t, out);
    if (unsure) {
        text_str(out, "<small>");
        add_name(x->label[seq->path[t]], p, out);
        text_str(out, "</small></span>");
    }
}

static void add_html(const tag_picture *x, const tag_shown *seq, text *out)
{
    text_fmt(out, "%s<section><h2>", seq->document ? "<hr>\n" : "");
    add_heading(seq, out);
    text_str(out, "</h2><div dir=\"auto\">");
    for (size_t t = 0, i = 0; t < seq->n;) {
        text_str(out, t ? "\n" : "");
        if (i < seq->n_spans && seq->span[i].begin == t) {
            add_chunk(x, seq, &seq->span[i], out);
            t = seq->span[i++].end;
        } else
            add_outside(x, seq, t++, out);
    }
    text_str(out, "</div></section>\n");
}

/* ---- SVG ------------------------------------------------------------------------------------- */

/* What is placed as a whole: words [begin, end) with a name below, or without one. */
typedef struct piece {
    size_t begin, end;
    trl_str name; /* empty: none */
    double p;     /* NaN: not shown */
    int hue;      /* -1: no box */
    bool unsure;
    double words, width;
} piece;

typedef struct place {
    double x, y;
} place;

static void measure(piece *a, const trl_str *word)
{
    a->words = BLANK * (double)(a->end - a->begin - 1);
    for (size_t t = a->begin; t < a->end; t++)
        a->words += page_text_width(word[t], WORD);
    a->width = a->words;
    if (a->name.n) {
        const double below = page_text_width(a->name, NAME) +
                             (isnan(a->p) ? 0.0 : page_text_width((trl_str){" >99%", 5}, NAME));
        a->width = fmax(a->width, below) + 2.0 * PAD;
    }
}

static void put_piece(const tag_picture *x, const tag_shown *seq, const piece *a, place at,
                      text *out)
{
    if (a->hue >= 0)
        text_fmt(out,
                 "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" rx=\"5\" "
                 "style=\"fill:hsl(%d,75%%,50%%);fill-opacity:%.2f;stroke:hsl(%d,70%%,45%%)\"/>\n",
                 at.x, at.y, a->width, BOX, a->hue, 0.06 + 0.4 * (isnan(a->p) ? 1.0 : a->p),
                 a->hue);
    else if (a->unsure)
        text_fmt(out, "<line class=\"u\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                 at.x + 2.0, at.x + a->width - 2.0, at.y + TOP + 4.0, at.y + TOP + 4.0);
    double from = at.x + (a->width - a->words) / 2.0;
    for (size_t t = a->begin; t < a->end; t++) {
        const double w = page_text_width(seq->word[t], WORD);
        text_fmt(out, "<text class=\"w\" x=\"%.1f\" y=\"%.1f\">", from + w / 2.0, at.y + TOP);
        if (seq->p) {
            text_str(out, "<title>");
            add_alternatives(x, seq, t, out);
            text_str(out, "</title>");
        }
        text_xml(out, seq->word[t].p, seq->word[t].n);
        text_str(out, "</text>\n");
        from += w + BLANK;
    }
    if (a->name.n) {
        text_fmt(out, "<text class=\"n\" x=\"%.1f\" y=\"%.1f\">", at.x + a->width / 2.0,
                 at.y + BELOW);
        add_name(a->name, a->p, out);
        text_str(out, "</text>\n");
    }
}

static void put(const tag_picture *x, const tag_shown *seq, piece *a, place *at, text *out)
{
    measure(a, seq->word);
    if (at->x > MARGIN && at->x + a->width > WIDTH - MARGIN)
        *at = (place){MARGIN, at->y + ROW};
    put_piece(x, seq, a, *at, out);
    at->x += a->width + BLANK;
}

/* A chunk as a whole, or, where it is longer than a line, word by word. */
static void put_chunk(const tag_picture *x, const tag_shown *seq, const trl_tag_span *s, place *at,
                      text *out)
{
    piece a = {.begin = s->begin,
               .end = s->end,
               .name = s->type,
               .p = seq->p ? s->p : (double)NAN,
               .hue = (int)page_hue(&x->kinds, s->type)};
    measure(&a, seq->word);
    if (a.width <= WIDTH - 2.0 * MARGIN) {
        put(x, seq, &a, at, out);
        return;
    }
    for (size_t t = s->begin; t < s->end; t++) {
        a.begin = t;
        a.end = t + 1;
        put(x, seq, &a, at, out);
    }
}

static void add_svg(tag_picture *x, const tag_shown *seq, text *out)
{
    place at = {MARGIN, MARGIN + x->height + APART};
    text_fmt(out, "<text class=\"s\" x=\"%.1f\" y=\"%.1f\">", MARGIN, at.y - 9.0);
    add_heading(seq, out);
    text_str(out, "</text>\n");
    for (size_t t = 0, i = 0; t < seq->n;) {
        if (i < seq->n_spans && seq->span[i].begin == t) {
            put_chunk(x, seq, &seq->span[i], &at, out);
            t = seq->span[i++].end;
            continue;
        }
        const double p = own_probability(x, seq, t);
        const bool unsure = p < SURE;
        piece a = {.begin = t,
                   .end = t + 1,
                   .name = unsure ? x->label[seq->path[t]] : (trl_str){0},
                   .p = p,
                   .hue = -1,
                   .unsure = unsure};
        put(x, seq, &a, &at, out);
        t++;
    }
    x->height = at.y + BOX - MARGIN;
}

/* ---- all ------------------------------------------------------------------------------------- */

void tag_picture_add(tag_picture *x, const tag_shown *seq, text *out)
{
    if (x->as == PICTURE_HTML)
        add_html(x, seq, out);
    else
        add_svg(x, seq, out);
}

void tag_picture_begin(const tag_picture *x, const char *title, text *out)
{
    if (x->as == PICTURE_HTML) {
        page_begin(out, title, "");
        page_key(&x->kinds, out);
        return;
    }
    const double h = x->height + 2.0 * MARGIN;
    text_fmt(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
             "viewBox=\"0 0 %.0f %.0f\">\n<title>",
             WIDTH, h, WIDTH, h);
    text_xml(out, title, strlen(title));
    text_fmt(out,
             "</title>\n<style>\n"
             "text{font-family:" PAGE_FONT ";text-anchor:middle;fill:#1a1a1a}\n"
             ".w{font-size:%.0fpx}.n{font-size:%.0fpx}\n"
             ".s{font-size:12px;text-anchor:start;fill:#595959}\n"
             ".u{stroke:#595959;stroke-width:2;stroke-dasharray:2 3}\n"
             ".b{fill:#fff}\n"
             "@media (prefers-color-scheme:dark){text{fill:#e8e8e8}.s{fill:#a8a8a8}"
             ".u{stroke:#a8a8a8}.b{fill:#16181c}}\n"
             "</style>\n<rect class=\"b\" width=\"100%%\" height=\"100%%\"/>\n",
             WORD, NAME);
}

void tag_picture_end(const tag_picture *x, text *out)
{
    if (x->as == PICTURE_HTML)
        page_end(out);
    else
        text_str(out, "</svg>\n");
}
