/* explain.c -- what makes the difference between two labels of a token. */
/* SPDX-License-Identifier: MIT */
#include "explain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_REST 1e-10 /* smaller ones are the rounding of any sum */

static void *grown(void *p, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return p;
    const size_t more = need < SIZE_MAX / 2 / size ? need + need / 2 + 16 : 0;
    void *q = more ? realloc(p, more * size) : NULL;
    if (q)
        *cap = more;
    return q;
}

trl_status explainer_init(explainer *x, const trl_model *m, trl_error *err)
{
    *x = (explainer){.model = m, .info = trl_model_get_info(m)};
    size_t n = x->info.n_labels;
    for (int k = 0; k < x->info.order && n; k++)
        n = n <= SIZE_MAX / sizeof *x->w / x->info.n_labels ? n * x->info.n_labels : 0;
    x->w = n ? malloc(n * sizeof *x->w) : NULL;
    return x->w ? trl_tagger_new(m, &x->tagger, err) : tag_no_memory(err);
}

void explainer_fini(explainer *x)
{
    trl_tagger_free(x->tagger);
    free(x->w);
    free(x->path);
    free(x->other);
    free(x->begin);
    free(x->on);
    free(x->part);
}

static trl_status reserve_tokens(explainer *x, size_t n, trl_error *err)
{
    if (n < x->cap)
        return TRL_OK;
    size_t path_cap = 0, other_cap = 0, begin_cap = 0;
    free(x->path);
    free(x->other);
    free(x->begin);
    x->path = grown(NULL, &path_cap, n + 1, sizeof *x->path);
    x->other = grown(NULL, &other_cap, n + 1, sizeof *x->other);
    x->begin = grown(NULL, &begin_cap, n + 1, sizeof *x->begin);
    x->cap = x->path && x->other && x->begin ? path_cap : 0;
    return x->cap ? TRL_OK : tag_no_memory(err);
}

/* The attributes that are on at the tokens [from, to). */
static trl_status collect(explainer *x, size_t from, size_t to, trl_error *err)
{
    trl_status st = TRL_OK;
    x->n_on = 0;
    for (size_t t = 0; t < x->n_tokens && st == TRL_OK; t++) {
        const trl_contribution *c = NULL;
        size_t n = 0;
        x->begin[t] = x->n_on;
        if (t < from || t >= to)
            continue;
        st = x->seq->rows ? trl_tagger_explain_rows(x->tagger, x->seq->rows, t, &c, &n, err)
                          : trl_tagger_explain_items(x->tagger, x->seq->items, t, &c, &n, err);
        if (st != TRL_OK || n == 0)
            continue;
        trl_contribution *on = grown(x->on, &x->on_cap, x->n_on + n, sizeof *on);
        if (!on)
            return tag_no_memory(err);
        x->on = on;
        memcpy(on + x->n_on, c, n * sizeof *c);
        x->n_on += n;
    }
    x->begin[x->n_tokens] = x->n_on;
    return st;
}

/* By how much the labelling is better than the same with another label at t; infinite where the
 * other is forbidden. */
static trl_status margin(explainer *x, size_t t, uint32_t other, double *by, trl_error *err)
{
    const uint32_t own = x->path[t];
    double changed = 0.0;
    x->path[t] = other;
    const trl_status st = trl_tagger_score(x->tagger, x->path, &changed, err);
    x->path[t] = own;
    *by = x->score - changed;
    return st;
}

/* The label with the smallest margin, the first of equals; NO_LABEL: there is no other. */
static trl_status runner_up(explainer *x, size_t t, uint32_t *label, double *by, trl_error *err)
{
    trl_status st = TRL_OK;
    *label = NO_LABEL;
    *by = INFINITY;
    for (uint32_t k = 0; k < x->info.n_labels && st == TRL_OK; k++) {
        double d = 0.0;
        if (k == x->path[t])
            continue;
        st = margin(x, t, k, &d, err);
        if (st == TRL_OK && d < *by) {
            *by = d;
            *label = k;
        }
    }
    return st;
}

/* Of an attribute's weights, the one of the labels of a path that end at `at`. */
static double weight_at(const explainer *x, const explain_part *p, const uint32_t *path)
{
    size_t cell = 0;
    for (size_t q = p->at - (size_t)p->on.scope; q <= p->at; q++)
        cell = cell * x->info.n_labels + path[q];
    return x->w[cell];
}

/* Does a part look at a token on which the two labellings differ? */
static bool differs(const explainer *x, const explain_part *p)
{
    for (size_t q = p->at - (size_t)p->on.scope; q <= p->at; q++)
        if (x->path[q] != x->other[q])
            return true;
    return false;
}

double explain_adds(const explain_part *p)
{
    return p->own - p->other;
}

bool explain_is_attribute(const explain_part *p)
{
    return p->on.attribute != NO_LABEL;
}

static int by_size(const void *a_, const void *b_)
{
    const explain_part *a = a_, *b = b_;
    const double x = fabs(explain_adds(a)), y = fabs(explain_adds(b));
    if (x != y)
        return x < y ? 1 : -1;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    if (a->on.scope != b->on.scope)
        return a->on.scope < b->on.scope ? -1 : 1;
    return (a->on.attribute > b->on.attribute) - (a->on.attribute < b->on.attribute);
}

static trl_status add_part(explainer *x, explain_part p, trl_error *err)
{
    if (explain_adds(&p) == 0.0)
        return TRL_OK;
    explain_part *all = grown(x->part, &x->part_cap, x->n_parts + 1, sizeof *all);
    if (!all)
        return tag_no_memory(err);
    x->part = all;
    all[x->n_parts++] = p;
    return TRL_OK;
}

/* What a model adds to a score beside the weights of its attributes.  Imported models of CRF++
 * round their sums to single precision, as it does. */
static const char *other_parts(const trl_model_info *i)
{
    if (i->has_q0)
        return "(generative model)";
    return i->is_local        ? "(local normalisation)"
           : i->is_calibrated ? "(multipliers)"
                              : "(rounding)";
}

/* All that differs between the labelling and `other`, at the tokens [from, to) where anything can;
 * `by` in all. */
static trl_status take_apart(explainer *x, size_t from, size_t to, double by, trl_error *err)
{
    const double cool = x->info.temperature > 0.0 ? 1.0 / x->info.temperature : 1.0;
    trl_status st = TRL_OK;
    double sum = 0.0;
    x->n_parts = 0;
    for (size_t t = from; t < to; t++)
        for (size_t i = x->begin[t]; i < x->begin[t + 1] && st == TRL_OK; i++) {
            explain_part p = {.on = x->on[i], .at = t};
            if (!differs(x, &p))
                continue;
            st = trl_model_weights(x->model, p.on.scope, p.on.attribute, x->w, err);
            if (st != TRL_OK)
                return st;
            p.own = cool * p.on.value * weight_at(x, &p, x->path);
            p.other = cool * p.on.value * weight_at(x, &p, x->other);
            sum += explain_adds(&p);
            st = add_part(x, p, err);
        }
    const char *name = other_parts(&x->info);
    if (st == TRL_OK && fabs(by - sum) > LEAST_REST)
        st = add_part(x,
                      (explain_part){.on = {.attribute = NO_LABEL, .name = {name, strlen(name)}},
                                     .at = from,
                                     .own = by - sum},
                      err);
    if (x->n_parts)
        qsort(x->part, x->n_parts, sizeof *x->part, by_size);
    return st;
}

trl_status explainer_set(explainer *x, const tag_sequence *seq, size_t from, size_t end,
                         trl_error *err)
{
    const size_t n = seq->rows ? seq->rows->n_tokens : seq->items->n_tokens;
    const size_t order = (size_t)x->info.order;
    x->seq = seq;
    x->n_tokens = n;
    trl_status st = reserve_tokens(x, n, err);
    if (st == TRL_OK) /* the next tokens have pairs and triples with the last one */
        st = collect(x, from, n - end > order ? end + order : n, err);
    if (st == TRL_OK)
        st = trl_tagger_viterbi(x->tagger, x->path, &x->score, err);
    if (st == TRL_OK) /* summed as the others will be */
        st = trl_tagger_score(x->tagger, x->path, &x->score, err);
    return st;
}

trl_status explainer_compare(explainer *x, explanation *e, trl_error *err)
{
    x->n_parts = 0;
    const trl_status st = e->other == NO_LABEL ? runner_up(x, e->t, &e->other, &e->by, err)
                                               : margin(x, e->t, e->other, &e->by, err);
    if (st != TRL_OK || e->other == NO_LABEL || e->other == x->path[e->t] || !isfinite(e->by))
        return st;
    const size_t end = e->t + (size_t)x->info.order + 1;
    memcpy(x->other, x->path, x->n_tokens * sizeof *x->other);
    x->other[e->t] = e->other;
    return take_apart(x, e->t, end < x->n_tokens ? end : x->n_tokens, e->by, err);
}

/* ---- whole labellings ------------------------------------------------------------------------ */

static trl_status second_best(explainer *x, size_t *found, trl_error *err)
{
    const size_t n = x->n_tokens;
    double score[2];
    uint32_t *two = n < SIZE_MAX / 2 / sizeof *two ? malloc(2 * n * sizeof *two) : NULL;
    if (!two)
        return tag_no_memory(err);
    const trl_status st = trl_tagger_nbest(x->tagger, 2, two, score, found, err);
    if (st == TRL_OK && *found == 2) { /* of two that are equally good either may come first */
        const bool first = memcmp(two, x->path, n * sizeof *two) == 0;
        memcpy(x->other, first ? two + n : two, n * sizeof *two);
    }
    free(two);
    return st;
}

static trl_status no_such_label(const explainer *x, size_t t, trl_str label, trl_error *err)
{
    const trl_rows *rows = x->seq->rows;
    const trl_items *items = x->seq->items;
    const char *path = rows ? rows->path : items->path;
    *err = (trl_error){.code = TRL_EINVAL, .row = (rows ? rows->first_row : items->first_row) + t};
    snprintf(err->path, sizeof err->path, "%s", path ? path : "input");
    if (label.n)
        snprintf(err->msg, sizeof err->msg, "the model has no label '%.*s'",
                 label.n < 60 ? (int)label.n : 60, label.p);
    else
        snprintf(err->msg, sizeof err->msg, "the input has no label here");
    snprintf(err->hint, sizeof err->hint,
             "the labels of the input stand in its last column, as in the training data");
    return TRL_EINVAL;
}

static trl_status labels_of_input(explainer *x, trl_error *err)
{
    const trl_rows *rows = x->seq->rows;
    for (size_t t = 0; t < x->n_tokens; t++) {
        trl_str label = {0};
        if (rows && rows->n_columns >= x->info.n_columns)
            label = rows->cell[t * rows->n_columns + x->info.n_columns - 1];
        else if (!rows && x->seq->items->label)
            label = x->seq->items->label[t];
        x->other[t] = trl_model_find_label(x->model, label);
        if (x->other[t] == NO_LABEL)
            return no_such_label(x, t, label, err);
    }
    return TRL_OK;
}

trl_status explainer_compare_whole(explainer *x, explain_rival rival, explanation *e,
                                   trl_error *err)
{
    size_t found = 2;
    double score = 0.0;
    trl_status st = rival == EXPLAIN_SECOND ? second_best(x, &found, err) : labels_of_input(x, err);
    x->n_parts = 0;
    *e = (explanation){.other = found == 2 ? 0 : NO_LABEL};
    if (st != TRL_OK || found < 2)
        return st;
    while (e->t < x->n_tokens && x->path[e->t] == x->other[e->t])
        e->t++;
    st = trl_tagger_score(x->tagger, x->other, &score, err);
    e->by = x->score - score;
    if (st != TRL_OK || !isfinite(e->by))
        return st;
    return take_apart(x, 0, x->n_tokens, e->by, err);
}
