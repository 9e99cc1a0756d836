/* held_out.c -- held-out data labelled and scored. */
/* SPDX-License-Identifier: MIT */
#include "held_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tag_input.h"
#include "trellis/score.h"

typedef struct scoring {
    const trl_model *model;
    trl_model_info info;
    trl_tagger *tagger;
    trl_score *score;
    char **name; /* [n_labels] NUL-terminated */
    uint32_t *path;
    const char **predicted, **gold; /* [cap] */
    size_t cap;
    text golds; /* of one sequence, NUL-terminated */
} scoring;

static trl_status refuse(trl_error *err, const char *why)
{
    *err = (trl_error){.code = TRL_EINVAL};
    snprintf(err->msg, sizeof err->msg, "%s", why);
    return TRL_EINVAL;
}

static bool is_chunk_label(trl_str s)
{
    return (s.n == 1 && s.p[0] == 'O') ||
           (s.n > 2 && s.p[1] == '-' && memchr("BIESLMU", s.p[0], 7) != NULL);
}

bool held_out_has_chunks(const trl_model *m)
{
    bool any = false;
    for (size_t k = 0; k < trl_model_get_info(m).n_labels; k++) {
        if (!is_chunk_label(trl_model_label(m, k)))
            return false;
        any = any || trl_model_label(m, k).n > 2;
    }
    return any;
}

/* ---- a sequence ------------------------------------------------------------------------------ */

static bool reserve(scoring *x, size_t n)
{
    if (n <= x->cap)
        return true;
    uint32_t *path = realloc(x->path, n * sizeof *path);
    x->path = path ? path : x->path;
    const char **predicted = realloc(x->predicted, n * sizeof *predicted);
    x->predicted = predicted ? predicted : x->predicted;
    const char **gold = realloc(x->gold, n * sizeof *gold);
    x->gold = gold ? gold : x->gold;
    if (!path || !predicted || !gold)
        return false;
    x->cap = n;
    return true;
}

/* The label that the data give token t, or NULL. */
static const trl_str *gold_of(const scoring *x, const tag_sequence *seq, size_t t)
{
    if (seq->items)
        return seq->items->label ? &seq->items->label[t] : NULL;
    return x->info.n_columns && x->info.n_columns <= seq->rows->n_columns
               ? &seq->rows->cell[t * seq->rows->n_columns + x->info.n_columns - 1]
               : NULL;
}

/* Fills in `gold`. */
static trl_status read_gold(scoring *x, const tag_sequence *seq, size_t n, trl_error *err)
{
    x->golds.n = 0;
    for (size_t t = 0; t < n; t++) {
        const trl_str *s = gold_of(x, seq, t);
        if (!s)
            return refuse(err, "the held-out data have no labels");
        text_add(&x->golds, s->p, s->n);
        text_char(&x->golds, '\0');
    }
    if (x->golds.failed)
        return tag_no_memory(err);
    const char *at = x->golds.p;
    for (size_t t = 0; t < n; t++) {
        x->gold[t] = at;
        at += gold_of(x, seq, t)->n + 1;
    }
    return TRL_OK;
}

static trl_status score_sequence(void *ctx, const tag_sequence *seq, bool *stop, trl_error *err)
{
    scoring *x = ctx;
    const size_t n = seq->rows ? seq->rows->n_tokens : seq->items->n_tokens;
    double best;
    (void)stop;
    if (n == 0)
        return TRL_OK;
    if (!reserve(x, n))
        return tag_no_memory(err);
    trl_status st = read_gold(x, seq, n, err);
    if (st == TRL_OK)
        st = seq->rows ? trl_tagger_set_rows(x->tagger, seq->rows, err)
                       : trl_tagger_set_items(x->tagger, seq->items, err);
    if (st == TRL_OK)
        st = trl_tagger_viterbi(x->tagger, x->path, &best, err);
    for (size_t t = 0; st == TRL_OK && t < n; t++)
        x->predicted[t] = x->name[x->path[t]];
    return st == TRL_OK ? trl_score_add(x->score, n, x->gold, x->predicted, err) : st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static trl_status scoring_init(scoring *x, const trl_model *m, trl_error *err)
{
    const trl_score_options plain = trl_score_options_default();
    *x = (scoring){.model = m, .info = trl_model_get_info(m)};
    x->name = calloc(x->info.n_labels + 1, sizeof *x->name);
    if (!x->name)
        return tag_no_memory(err);
    for (size_t k = 0; k < x->info.n_labels; k++) {
        const trl_str s = trl_model_label(m, k);
        x->name[k] = malloc(s.n + 1);
        if (!x->name[k])
            return tag_no_memory(err);
        memcpy(x->name[k], s.p, s.n);
        x->name[k][s.n] = '\0';
    }
    const trl_status st = trl_tagger_new(m, &x->tagger, err);
    return st == TRL_OK ? trl_score_new(&plain, &x->score, err) : st;
}

static void scoring_fini(scoring *x)
{
    for (size_t k = 0; x->name && x->name[k]; k++)
        free(x->name[k]);
    free(x->name);
    free(x->path);
    free(x->predicted);
    free(x->gold);
    text_fini(&x->golds);
    trl_tagger_free(x->tagger);
    trl_score_free(x->score);
}

trl_status held_out_score(const trl_model *m, const held_out *data, double *score, trl_error *err)
{
    const trl_format own = trl_model_get_info(m).format;
    const trl_format format = data->format == TRL_FORMAT_GUESS ? own : data->format;
    if (trl_format_is_rows(format) != trl_format_is_rows(own))
        return refuse(err, "the model does not read this format");
    scoring x;
    const tag_input in = {data->files, m, format, data->format != TRL_FORMAT_GUESS};
    trl_status st = scoring_init(&x, m, err);
    if (st == TRL_OK)
        st = tag_input_read(&in, score_sequence, &x, err);
    if (st == TRL_OK) {
        const trl_score_totals t = trl_score_get(x.score);
        *score = held_out_has_chunks(m) ? t.f1 : t.accuracy;
        if (t.tokens == 0)
            st = refuse(err, "no sequences in the held-out data");
    }
    if (st == TRL_EINVAL && !err->path[0])
        snprintf(err->path, sizeof err->path, "%s", data->files->item[0]);
    scoring_fini(&x);
    return st;
}
