/* graph_held.c -- a graph model, files, a score. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_held.h"

#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "graph_model/graph_model.h"
#include "train_chain/dev_score.h"
#include "train_graph/graph_units.h"

typedef struct held {
    trl_graph_model *model;
    trl_graph_tagger *tagger;
    trl_score *score;
    trl_arena arena;
    uint64_t every, n_read, n_scored;
    bool all_chunks, any_chunk;
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
    h->all_chunks = h->all_chunks && trl_is_chunk_tag(s);
    h->any_chunk = h->any_chunk || s.n > 2;
    return to;
}

/* One layer of a sentence whose first token is number `from` of the unit. */
static trl_status score_layer(held *h, const trl_rows *s, size_t from, const uint32_t *label,
                              size_t layer, trl_error *err)
{
    const size_t K = h->model->spec->n_layers, n = s->n_tokens;
    const size_t column = h->model->spec->layer[layer].column;
    const char **name = trl_arena_get(&h->arena, n, 2 * sizeof *name);
    if (!name)
        return trl_fail_mem(err);
    for (size_t t = 0; t < n; t++) {
        const uint32_t y = label[(from + t) * K + layer];
        name[t] = copy_label(h, s->cell[t * s->n_columns + column]);
        name[n + t] = copy_label(h, trl_graph_model_label(h->model, layer, y));
        if (!name[t] || !name[n + t])
            return trl_fail_mem(err);
    }
    return trl_score_add(h->score, n, name, name + n, err);
}

static trl_status score_unit(held *h, const trl_graph_unit *u, trl_error *err)
{
    const trl_graph_spec *spec = h->model->spec;
    trl_graph_answer answer;
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
        st = trl_graph_tagger_best(h->tagger, label, &answer, err);
    for (size_t k = 0; st == TRL_OK && k < u->n_sentences; k++) {
        const trl_rows s = trl_graph_unit_rows(u, k);
        for (size_t layer = 0; st == TRL_OK && layer < spec->n_layers; layer++)
            if (spec->scored == TRL_NO_LAYER || spec->scored == layer)
                st = score_layer(h, &s, u->first[k], label, layer, err);
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
        if (st == TRL_OK && more && ++h->n_read % h->every == 0)
            st = score_unit(h, &u, err);
    }
    trl_graph_unit_fini(&u);
    trl_unit_source_fini(&s);
    return st;
}

trl_status trl_graph_held_score(const char *model, const trl_held_data *data,
                                trl_score_totals *totals, bool *chunks, trl_error *err)
{
    const trl_score_options options = trl_score_options_default();
    const trl_graph_tagger_options tagging = trl_graph_tagger_options_default();
    held h = {.every = data->every, .all_chunks = true};
    trl_status st = trl_graph_model_open(model, &h.model, err);
    if (st == TRL_OK)
        st = trl_graph_tagger_new(h.model, &tagging, &h.tagger, err);
    if (st == TRL_OK)
        st = trl_score_new(&options, &h.score, err);
    for (size_t k = 0; st == TRL_OK && k < data->n_paths; k++)
        st = score_file(&h, data->paths[k], err);
    if (st == TRL_OK && h.n_scored == 0) {
        st = trl_fail(err, TRL_EPARSE, "there are not enough graphs to hold some out");
        trl_fail_where(err, st, data->paths[0], 0, 0);
    }
    if (st == TRL_OK) {
        *totals = trl_score_get(h.score);
        *chunks = h.all_chunks && h.any_chunk && h.model->spec->scored != TRL_NO_LAYER;
    }
    trl_arena_fini(&h.arena);
    trl_score_free(h.score);
    trl_graph_tagger_free(h.tagger);
    trl_graph_model_free(h.model);
    return st;
}
