/* held_score.c -- a chain model, files, labels. */
/* SPDX-License-Identifier: MIT */
#include "train_chain/held_score.h"

#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "trellis/tagger.h"

typedef struct held {
    const trl_model *model;
    const trl_held_data *data;
    trl_held_fn fn;
    void *ctx;
    trl_tagger *tagger;
    trl_arena arena;
    uint64_t n_read, n_scored;
} held;

/* A NUL-terminated copy; NULL: out of memory. */
static const char *copy_label(held *h, trl_str s)
{
    char *to = trl_arena_get(&h->arena, s.n + 1, 1);
    if (!to)
        return NULL;
    memcpy(to, s.p, s.n);
    to[s.n] = '\0';
    return to;
}

/* The sequence is in the tagger; `gold` has its n labels, `stride` apart. */
static trl_status answer(held *h, size_t n, const trl_str *gold, size_t stride, trl_error *err)
{
    uint32_t *label = trl_arena_get(&h->arena, n, sizeof *label);
    const char **name = trl_arena_get(&h->arena, n, 2 * sizeof *name);
    double score;
    if (!label || !name)
        return trl_fail_mem(err);
    const trl_status st = trl_tagger_viterbi(h->tagger, label, &score, err);
    if (st != TRL_OK)
        return st;
    for (size_t t = 0; t < n; t++) {
        name[t] = copy_label(h, gold[t * stride]);
        name[n + t] = copy_label(h, trl_model_label(h->model, label[t]));
        if (!name[t] || !name[n + t])
            return trl_fail_mem(err);
    }
    h->n_scored++;
    const trl_held_answer a = {
        .number = h->n_read - 1, .n = n, .n_layers = 1, .gold = name, .predicted = name + n};
    return h->fn(h->ctx, &a, err);
}

static trl_status no_label(const char *path, uint64_t row, trl_error *err)
{
    const trl_status st = trl_fail(err, TRL_EPARSE, "there is no label to score against");
    return trl_fail_where(err, st, path, row, 0);
}

static trl_status rows(held *h, trl_reader *r, bool *more, trl_error *err)
{
    trl_rows seq;
    trl_status st = trl_reader_rows(r, &seq, more, err);
    if (st != TRL_OK || !*more || !trl_held_wanted(h->data, h->n_read++))
        return st;
    const size_t n_columns = trl_model_get_info(h->model).n_columns;
    if (seq.n_columns < n_columns)
        return no_label(seq.path, seq.first_row, err);
    st = trl_tagger_set_rows(h->tagger, &seq, err);
    if (st != TRL_OK)
        return st;
    return answer(h, seq.n_tokens, seq.cell + n_columns - 1, seq.n_columns, err);
}

static trl_status items(held *h, trl_reader *r, bool *more, trl_error *err)
{
    trl_items seq;
    trl_status st = trl_reader_items(r, &seq, more, err);
    if (st != TRL_OK || !*more || !trl_held_wanted(h->data, h->n_read++))
        return st;
    if (!seq.label)
        return no_label(seq.path, seq.first_row, err);
    st = trl_tagger_set_items(h->tagger, &seq, err);
    return st == TRL_OK ? answer(h, seq.n_tokens, seq.label, 1, err) : st;
}

static trl_status score_file(held *h, const char *path, trl_format format, trl_error *err)
{
    trl_reader *r = NULL;
    trl_status st = trl_reader_open(path, format, &r, err);
    for (bool more = true; st == TRL_OK && more;) {
        trl_arena_reset(&h->arena);
        st = trl_format_is_rows(trl_reader_format(r)) ? rows(h, r, &more, err)
                                                      : items(h, r, &more, err);
    }
    trl_reader_free(r);
    return st;
}

trl_status trl_held_score(const trl_model *m, const trl_held_data *data, trl_held_fn fn, void *ctx,
                          trl_error *err)
{
    held h = {.model = m, .data = data, .fn = fn, .ctx = ctx};
    const trl_format format = data->format ? data->format : trl_model_get_info(m).format;
    trl_status st = trl_tagger_new(m, &h.tagger, err);
    for (size_t k = 0; st == TRL_OK && k < data->n_paths; k++)
        st = score_file(&h, data->paths[k], format, err);
    if (st == TRL_OK && h.n_scored == 0) {
        st = trl_fail(err, TRL_EPARSE, "there are not enough sequences to hold some out");
        trl_fail_where(err, st, data->paths[0], 0, 0);
    }
    trl_arena_fini(&h.arena);
    trl_tagger_free(h.tagger);
    return st;
}
