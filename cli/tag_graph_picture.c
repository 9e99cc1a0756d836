/* tag_graph_picture.c -- labels of graphs as HTML and SVG. */
/* SPDX-License-Identifier: MIT */
#include "tag_graph_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trellis/scheme.h"

bool graph_picture_init(graph_picture *x, picture as, const trl_graph_model *m)
{
    *x = (graph_picture){.m = m, .n_layers = trl_graph_model_get_info(m).n_layers};
    size_t at = 0;
    for (size_t k = 0; k < x->n_layers; k++)
        x->n_labels += trl_graph_model_layer(m, k).n_labels;
    x->label = malloc((x->n_labels + 1) * sizeof *x->label);
    for (size_t k = 0; x->label && k < x->n_layers; k++)
        for (size_t i = 0; i < trl_graph_model_layer(m, k).n_labels; i++)
            x->label[at++] = trl_graph_model_label(m, k, i);
    return x->label && tag_picture_init(&x->picture, as, x->label, x->n_labels);
}

void graph_picture_fini(graph_picture *x)
{
    tag_picture_fini(&x->picture);
    text_fini(&x->body);
    free(x->label);
    free(x->word);
    free(x->path);
    free(x->span);
}

static bool room(graph_picture *x, size_t n)
{
    if (n <= x->cap)
        return true;
    if (n > SIZE_MAX / 4 / sizeof *x->span)
        return false;
    trl_str *word = realloc(x->word, 2 * n * sizeof *word);
    x->word = word ? word : x->word;
    uint32_t *path = realloc(x->path, 2 * n * sizeof *path);
    x->path = path ? path : x->path;
    trl_tag_span *span = realloc(x->span, 2 * n * sizeof *span);
    x->span = span ? span : x->span;
    x->cap = word && path && span ? 2 * n : x->cap;
    return word && path && span;
}

/* The chunks of the path; a chunk is as probable as the least probable of its labels. */
static size_t find_spans(graph_picture *x, const graph_sentence *s)
{
    size_t found = 0;
    for (size_t t = 0; t < s->n; t++) {
        const trl_str label = x->label[x->path[t]], kind = page_kind_of(label);
        const double p = s->p ? s->p[t * x->n_labels + x->path[t]] : 0.0;
        if (t && trl_chunk_continues(x->label[x->path[t - 1]], label)) {
            x->span[found - 1].end = t + 1;
            x->span[found - 1].p = fmin(x->span[found - 1].p, p);
        } else if (kind.n) {
            x->span[found++] = (trl_tag_span){.begin = t, .end = t + 1, .type = kind, .p = p};
        }
    }
    return found;
}

bool graph_picture_add(graph_picture *x, const graph_sentence *s)
{
    if (!room(x, s->n + 1))
        return false;
    for (size_t t = 0; t < s->n; t++) {
        const size_t from = t ? s->end[t - 1] : s->from, n = s->end[t] - from;
        const char *p = s->lines + from;
        size_t word = 0;
        while (word < n && p[word] != ' ' && p[word] != '\t')
            word++;
        x->word[t] = (trl_str){p, word};
    }
    size_t first = 0;
    x->n_sentences++;
    for (size_t k = 0; k < x->n_layers; k++) {
        const trl_graph_layer layer = trl_graph_model_layer(x->m, k);
        for (size_t t = 0; t < s->n; t++)
            x->path[t] = (uint32_t)first + s->label[t * x->n_layers + k];
        const tag_shown shown = {.n = s->n,
                                 .word = x->word,
                                 .path = x->path,
                                 .span = x->span,
                                 .n_spans = find_spans(x, s),
                                 .p = s->p,
                                 .probability = s->probability,
                                 .number = x->n_sentences,
                                 .document = s->document && k == 0,
                                 .layer = x->n_layers > 1 ? layer.name : NULL,
                                 .first_label = first,
                                 .n_layer_labels = layer.n_labels};
        tag_picture_add(&x->picture, &shown, &x->body);
        first += layer.n_labels;
    }
    return !x->body.failed;
}

void graph_picture_finish(graph_picture *x, const char *title, text *out)
{
    tag_picture_begin(&x->picture, title, out);
    text_add(out, x->body.p, x->body.n);
    tag_picture_end(&x->picture, out);
}
