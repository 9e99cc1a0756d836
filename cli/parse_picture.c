/* parse_picture.c -- parses drawn, each node above its probability. */
/* SPDX-License-Identifier: MIT */
#include "parse_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

trl_status parse_picture_begin(parse_picture *x, const char *title, text *out, trl_error *err)
{
    if (x->as == PICTURE_SVG)
        return trl_tree_svg_new(&x->svg, err);
    page_begin(out, title, "section>div{overflow-x:auto}\n.warning{color:var(--bad)}\n");
    return TRL_OK;
}

void parse_picture_fini(parse_picture *x)
{
    trl_tree_svg_free(x->svg);
    *x = (parse_picture){0};
}

/* The probability of a node with its label and words, below 0.01 as 0; NaN: not known, as of parts
 * of speech and where the parser gives none. */
static double probability(const trl_parse *p, const trl_tree *t, uint32_t i)
{
    const trl_node *node = &t->node[i];
    const trl_str label = trl_tree_label(t, i);
    if (node->child == TRL_NO_NODE || p->n_spans == 0)
        return (double)NAN;
    for (size_t k = 0; k < p->n_spans; k++) {
        const trl_span *s = &p->spans[k];
        if (s->from == node->from && s->to == node->to && s->label.n == label.n &&
            memcmp(s->label.p, label.p, label.n) == 0)
            return s->probability;
    }
    return 0.0;
}

static trl_status draw(const parse_picture *x, trl_tree_svg *svg, const trl_parse *p, size_t rank,
                       const char *caption, trl_error *err)
{
    const trl_tree *t = &p->trees[rank].tree;
    double *known = malloc(t->n_nodes * sizeof *known);
    if (!known) {
        *err = (trl_error){.code = TRL_ENOMEM, .msg = "out of memory"};
        return TRL_ENOMEM;
    }
    for (uint32_t i = 0; i < t->n_nodes; i++)
        known[i] = probability(p, t, i);
    const trl_tree_marks marks = {.caption = x->as == PICTURE_SVG ? caption : NULL,
                                  .probability = p->n_spans ? known : NULL};
    const trl_status st = trl_tree_svg_add_marked(svg, t, &marks, err);
    free(known);
    return st;
}

static trl_status add_html(const parse_picture *x, const trl_parse *p, size_t rank,
                           const char *caption, text *out, trl_error *err)
{
    trl_tree_svg *svg = NULL;
    trl_buf b = {0};
    trl_status st = trl_tree_svg_new(&svg, err);
    if (st == TRL_OK)
        st = draw(x, svg, p, rank, caption, err);
    if (st == TRL_OK)
        st = trl_tree_svg_finish(svg, &b, err);
    if (st == TRL_OK) {
        text_str(out, "<section><h2>");
        text_xml(out, caption, strlen(caption));
        text_str(out, "</h2>\n<div>");
        text_add(out, b.data, b.len);
        text_str(out, "</div></section>\n");
    }
    trl_tree_svg_free(svg);
    trl_buf_fini(&b);
    return st;
}

trl_status parse_picture_add(const parse_picture *x, const trl_parse *p, uint64_t number, text *out,
                             trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t rank = 0; rank < p->n_trees && st == TRL_OK; rank++) {
        const double log_p = p->trees[rank].log_probability;
        char caption[100];
        int n = snprintf(caption, sizeof caption, "%llu", (unsigned long long)number);
        if (p->n_trees > 1)
            n += snprintf(caption + n, sizeof caption - (size_t)n, ", tree %zu", rank + 1);
        if (isinf(log_p)) /* best by its constituents, which the grammar does not put together so */
            n += snprintf(caption + n, sizeof caption - (size_t)n, ", best by its constituents");
        else if (!isnan(log_p))
            n +=
                snprintf(caption + n, sizeof caption - (size_t)n, ", probability %.3g", exp(log_p));
        if (p->warning)
            snprintf(caption + n, sizeof caption - (size_t)n, ": a simpler tree");
        st = x->as == PICTURE_SVG ? draw(x, x->svg, p, rank, caption, err)
                                  : add_html(x, p, rank, caption, out, err);
    }
    return st;
}

trl_status parse_picture_end(const parse_picture *x, text *out, trl_error *err)
{
    if (x->as == PICTURE_HTML) {
        page_end(out);
        return TRL_OK;
    }
    trl_buf b = {0};
    const trl_status st = trl_tree_svg_finish(x->svg, &b, err);
    if (st == TRL_OK)
        text_add(out, b.data, b.len);
    trl_buf_fini(&b);
    return st;
}
