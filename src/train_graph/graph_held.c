/* graph_held.c -- a graph model, files, labels. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_held.h"

#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "graph_model/graph_model.h"
#include "train_graph/graph_units.h"

typedef struct held {
    trl_graph_model *model;
    const trl_held_data *data;
    trl_held_fn fn;
    void *ctx;
    trl_graph_tagger *tagger;
    trl_arena arena;
    uint64_t n_read, n_scored, n_sentences;
} held;

/* A NUL-terminated copy; NULL: out of memory. */
static const char *copy_label(held *h, trl_str s)
{
    char *to = trl_arena_get(&h->arena, s.n + 1, 1);
    if (!to)
        return NULL;
    if (s.n)
        memcpy(to, s.p, s.n);
    to[s.n] = '\0';
    return to;
}

/* A sentence whose first token is number `from` of the unit, and its number in the data. */
static trl_status answer(held *h, const trl_rows *s, size_t from, uint64_t number,
                         const uint32_t *label, trl_error *err)
{
    const trl_graph_spec *spec = h->model->spec;
    const size_t K = spec->n_layers, n = s->n_tokens;
    const char **gold = trl_arena_get(&h->arena, n * K + 1, 2 * sizeof *gold);
    if (!gold)
        return trl_fail_mem(err);
    const char **predicted = gold + n * K;
    for (size_t v = 0; v < n * K; v++) {
        const size_t layer = v / n, t = v % n;
        const uint32_t y = label[(from + t) * K + layer];
        gold[v] = copy_label(h, s->cell[t * s->n_columns + spec->layer[layer].column]);
        predicted[v] = copy_label(h, trl_graph_model_label(h->model, layer, y));
        if (!gold[v] || !predicted[v])
            return trl_fail_mem(err);
    }
    const trl_held_answer a = {.number = number,
                               .n = n,
                               .n_layers = K,
                               .scored =
                                   spec->scored == TRL_NO_LAYER ? TRL_ALL_LAYERS : spec->scored,
                               .gold = gold,
                               .predicted = predicted};
    return h->fn(h->ctx, &a, err);
}

static trl_status score_unit(held *h, const trl_graph_unit *u, trl_error *err)
{
    const trl_graph_spec *spec = h->model->spec;
    trl_graph_answer best;
    if (u->n_columns < h->model->n_columns) {
        const trl_status st =
            trl_fail(err, TRL_EPARSE, "%zu columns where the model was trained on %zu",
                     u->n_columns, h->model->n_columns);
        return trl_graph_unit_where(u, st, 0, err);
    }
    uint32_t *label = trl_arena_get(&h->arena, u->n_tokens * spec->n_layers + 1, sizeof *label);
    trl_status st = label ? TRL_OK : trl_fail_mem(err);
    trl_graph_tagger_clear(h->tagger);
    for (size_t k = 0; st == TRL_OK && k < u->n_sentences; k++) {
        const trl_rows s = trl_graph_unit_rows(u, k);
        st = trl_graph_tagger_add_items(h->tagger, &s, u->attr_begin + u->first[k], u->attr, err);
    }
    if (st == TRL_OK)
        st = trl_graph_tagger_best(h->tagger, label, &best, err);
    for (size_t k = 0; st == TRL_OK && k < u->n_sentences; k++) {
        const trl_rows s = trl_graph_unit_rows(u, k);
        st = answer(h, &s, u->first[k], h->n_sentences + k, label, err);
    }
    h->n_scored++;
    return st;
}

static trl_status score_file(held *h, const char *path, trl_error *err)
{
    trl_unit_source s;
    trl_graph_unit u = {0};
    trl_status st = trl_unit_source_open(&s, path, NULL, h->model->spec, err);
    if (st != TRL_OK)
        return st;
    for (bool more = true; st == TRL_OK && more;) {
        trl_arena_reset(&h->arena);
        trl_graph_unit_clear(&u);
        st = trl_unit_source_next(&s, &u, &more, err);
        if (st == TRL_OK && more && trl_held_wanted(h->data, h->n_read++))
            st = score_unit(h, &u, err);
        h->n_sentences += u.n_sentences;
    }
    trl_graph_unit_fini(&u);
    trl_unit_source_fini(&s);
    return st;
}

trl_status trl_graph_held_score(const trl_model *m, const trl_held_data *data, trl_held_fn fn,
                                void *ctx, trl_error *err)
{
    const trl_graph_tagger_options tagging = trl_graph_tagger_options_default();
    held h = {.data = data, .fn = fn, .ctx = ctx};
    trl_status st = trl_graph_model_of(m, &h.model, err);
    if (st == TRL_OK)
        st = trl_graph_tagger_new(h.model, &tagging, &h.tagger, err);
    for (size_t k = 0; st == TRL_OK && k < data->n_paths; k++)
        st = score_file(&h, data->paths[k], err);
    if (st == TRL_OK && h.n_scored == 0) {
        st = trl_fail(err, TRL_EPARSE, "there are not enough graphs to hold some out");
        trl_fail_where(err, st, data->paths[0], 0, 0);
    }
    trl_arena_fini(&h.arena);
    trl_graph_tagger_free(h.tagger);
    trl_graph_model_free(h.model);
    return st;
}
