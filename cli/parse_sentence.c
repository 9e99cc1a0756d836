/* parse_sentence.c -- one sentence parsed under what is known of it. */
/* SPDX-License-Identifier: MIT */
#include "parse_sentence.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a sentence: tags that are fixed and constraints, and tags with weights. */
typedef struct knowledge {
    trl_known *known;
    trl_weighted_tag *tag;
    size_t n_known, n_tags, cap_tags;
} knowledge;

/* A tag that the model does not have cannot be kept to: said, and left to the parser. */
static void warn_tag(parse_job *x, trl_str tag, size_t word)
{
    if (!x->warning[0])
        snprintf(x->warning, sizeof x->warning,
                 "the model has no tag '%.*s', which word %zu has: it gets another",
                 tag.n < 40 ? (int)tag.n : 40, tag.p, word + 1);
}

/* A tag of the model, and something else after the colon. */
static void refuse_weight(parse_job *x, trl_str item, size_t word)
{
    x->status = TRL_EPARSE;
    x->error = (trl_error){.code = TRL_EPARSE};
    snprintf(x->error.msg, sizeof x->error.msg,
             "'%.*s', of word %zu, has no weight after the colon", item.n < 40 ? (int)item.n : 40,
             item.p, word + 1);
    snprintf(x->error.hint, sizeof x->error.hint,
             "a weight is a number from 0 on, with a decimal point: NN:0.7|VB:0.3");
}

/* TAG:WEIGHT into its parts.  False: it is not of this form. */
static bool split_weight(trl_str item, trl_weighted_tag *t)
{
    size_t cut = item.n;
    while (cut > 1 && item.p[cut - 1] != ':')
        cut--;
    if (cut <= 1)
        return false;
    t->tag.n = cut - 1;
    char number[32], *end = number;
    if (cut == item.n || item.n - cut >= sizeof number)
        return false;
    memcpy(number, item.p + cut, item.n - cut);
    number[item.n - cut] = 0;
    t->weight = strtod(number, &end);
    return *end == 0 && t->weight >= 0.0 && isfinite(t->weight);
}

/* TAG or TAG:WEIGHT, of the word k.  False: out of memory. */
static bool add_tag(const parse_context *j, parse_job *x, size_t k, trl_str item, knowledge *y)
{
    trl_weighted_tag t = {k, item, 1.0};
    if (!split_weight(item, &t)) { /* tags may have colons, too */
        if (t.tag.n < item.n && !trl_parse_model_has_tag(j->model, item) &&
            trl_parse_model_has_tag(j->model, t.tag)) {
            refuse_weight(x, item, k);
            return true;
        }
        t = (trl_weighted_tag){k, item, 1.0};
    }
    if (t.weight <= 0.0)
        return true;
    if (!trl_parse_model_has_tag(j->model, t.tag)) {
        warn_tag(x, t.tag, k);
        return true;
    }
    if (y->n_tags == y->cap_tags) {
        const size_t more = 2 * y->cap_tags + 16;
        trl_weighted_tag *all = realloc(y->tag, more * sizeof *all);
        if (!all)
            return false;
        y->tag = all;
        y->cap_tags = more;
    }
    y->tag[y->n_tags++] = t;
    return true;
}

/* One tag that the model has is kept to; else A:0.7|B:0.3, or A|B; '?' says nothing. */
static bool add_tags(const parse_context *j, parse_job *x, size_t k, knowledge *y)
{
    const trl_str all = x->tag[k];
    const size_t before = y->n_tags;
    bool ok = true;
    if (trl_parse_model_has_tag(j->model, all)) {
        y->known[y->n_known++] = (trl_known){TRL_KNOWN_TAG, k, k + 1, all};
        return true;
    }
    if (all.n == 1 && all.p[0] == '?')
        return true;
    for (size_t from = 0; ok && from <= all.n;) {
        const char *bar = from < all.n ? memchr(all.p + from, '|', all.n - from) : NULL;
        const size_t to = bar ? (size_t)(bar - all.p) : all.n;
        ok = add_tag(j, x, k, (trl_str){all.p + from, to - from}, y);
        from = to + 1;
    }
    if (ok && y->n_tags == before && !x->warning[0])
        snprintf(x->warning, sizeof x->warning,
                 "all tags given for word %zu have the weight 0: it may have any", k + 1);
    return ok;
}

/* Tags and what the file says about this sentence.  False: out of memory. */
static bool gather_knowledge(const parse_context *j, parse_job *x, knowledge *y)
{
    size_t more;
    const trl_known *given = trl_known_list_of(j->known, x->number, &more);
    *y = (knowledge){.known = malloc((more + x->n + 1) * sizeof *y->known)};
    if (!y->known)
        return false;
    for (size_t k = 0; k < more; k++)
        y->known[y->n_known++] = given[k];
    bool ok = true;
    for (size_t k = 0; x->tag && ok && k < x->n; k++)
        ok = add_tags(j, x, k, y);
    return ok;
}

static bool has_label(const parse_context *j, const trl_known *g)
{
    return g->type == TRL_KNOWN_TAG ? trl_parse_model_has_tag(j->model, g->label)
                                    : trl_parse_model_has(j->model, g->label);
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
        if (g->to <= x->n && (g->label.n == 0 || has_label(j, g)))
            continue;
        snprintf(x->error.path, sizeof x->error.path, "%s", j->constraints);
        snprintf(x->error.hint, sizeof x->error.hint, "sentence %" PRIu64 " is at %.150s:%" PRIu64,
                 x->number, j->path, x->row);
        x->error.row = row;
        return;
    }
}

bool parse_prepare(const parse_context *j, parse_job *x, trl_parse_input *in)
{
    knowledge y;
    x->status = TRL_OK;
    x->warning[0] = 0;
    x->unsure = false;
    parse_forget(x);
    const bool ok = gather_knowledge(j, x, &y);
    x->known = y.known;
    x->weighted = y.tag;
    *in = (trl_parse_input){.word = x->word,
                            .n = x->n,
                            .known = y.known,
                            .n_known = y.n_known,
                            .tags = y.tag,
                            .n_tags = y.n_tags};
    return ok;
}

void parse_forget(parse_job *x)
{
    free(x->known);
    free(x->weighted);
    x->known = NULL;
    x->weighted = NULL;
}

trl_status parse_finish(const parse_context *j, parse_job *x, const trl_parse *p, trl_error *err)
{
    if (x->status != TRL_OK) { /* what is given is not well-formed */
        *err = x->error;
        return x->status;
    }
    if (x->n == 0) {
        text_str(&x->out, j->style->picture ? "" : "\n");
        snprintf(x->warning, sizeof x->warning, "an empty line has no tree");
        return TRL_OK;
    }
    x->status = !p                  ? err->code
                : j->style->picture ? parse_picture_add(j->picture, p, x->number, &x->out, err)
                                    : parse_print(j->style, p, &x->out, err);
    x->unsure = p && !p->sure;
    if (p && p->warning) /* more than an odd tag */
        snprintf(x->warning, sizeof x->warning, "%s%s", p->warning,
                 p->sure ? ": a simpler one is printed" : "");
    x->error = *err;
    if (!p && x->status == TRL_EINVAL)
        blame(j, x);
    return x->status;
}
