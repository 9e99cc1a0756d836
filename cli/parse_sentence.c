/* parse_sentence.c -- one sentence parsed under what is known of it. */
/* SPDX-License-Identifier: MIT */
#include "parse_sentence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Fixed tags and what the file says about this sentence.  A tag that the model does not have cannot
 * be kept to: said, and left to the parser. */
static trl_known *knowledge(const parse_context *j, parse_job *x, size_t *n)
{
    size_t more;
    const trl_known *given = trl_known_list_of(j->known, x->number, &more);
    trl_known *all = malloc((more + x->n + 1) * sizeof *all);
    *n = 0;
    if (!all)
        return NULL;
    for (size_t k = 0; k < more; k++)
        all[(*n)++] = given[k];
    for (size_t k = 0; x->tag && k < x->n; k++)
        if (trl_parse_model_has(j->model, x->tag[k]))
            all[(*n)++] = (trl_known){TRL_KNOWN_TAG, k, k + 1, x->tag[k]};
        else if (!x->warning[0])
            snprintf(x->warning, sizeof x->warning,
                     "the model has no tag '%.*s', which word %zu has: it gets another",
                     x->tag[k].n < 40 ? (int)x->tag[k].n : 40, x->tag[k].p, k + 1);
    return all;
}

/* The parser refuses the first thing said that cannot be: a label that the model does not have,
 * words that are not there.  Moves the error to where it was said; nothing happens when it is
 * another error. */
static void blame(const parse_context *j, parse_job *x)
{
    uint64_t which, row;
    size_t n, at = 0;
    const trl_known *given = trl_known_list_of(j->known, x->number, &n);
    for (size_t k = 0; trl_known_list_item(j->known, k, &which, &row) && at < n; k++) {
        if (which != x->number)
            continue;
        const trl_known *g = &given[at++];
        if (g->to <= x->n && (g->label.n == 0 || trl_parse_model_has(j->model, g->label)))
            continue;
        snprintf(x->error.path, sizeof x->error.path, "%s", j->constraints);
        snprintf(x->error.hint, sizeof x->error.hint, "sentence %" PRIu64 " is at %.150s:%" PRIu64,
                 x->number, j->path, x->row);
        x->error.row = row;
        return;
    }
}

void parse_sentence(const parse_context *j, parse_job *x, trl_parser *parser)
{
    size_t n;
    trl_parse p;
    x->status = TRL_OK;
    x->warning[0] = 0;
    x->unsure = false;
    if (x->n == 0) {
        text_str(&x->out, j->style->picture ? "" : "\n");
        snprintf(x->warning, sizeof x->warning, "an empty line has no tree");
        return;
    }
    trl_known *known = knowledge(j, x, &n);
    if (!known) {
        x->status = TRL_ENOMEM;
        x->error = (trl_error){.code = TRL_ENOMEM, .msg = "out of memory"};
        return;
    }
    x->status =
        trl_parser_parse(parser, &(trl_parse_input){x->word, x->n, known, n}, &p, &x->error);
    if (x->status == TRL_OK) {
        x->status = j->style->picture
                        ? parse_picture_add(j->picture, &p, x->number, &x->out, &x->error)
                        : parse_print(j->style, &p, &x->out, &x->error);
        x->unsure = !p.sure;
        if (p.warning) /* more than an odd tag */
            snprintf(x->warning, sizeof x->warning, "%s: a simpler one is printed", p.warning);
    } else if (x->status == TRL_EINVAL) {
        blame(j, x);
    }
    free(known);
}
