/* graph_dev.c -- decoding and scoring held-out graphs. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_dev.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/gradient.h"
#include "train_chain/dev_score.h"
#include "train_graph/graph_theta.h"
#include "trellis/score.h"

#define DEV_CELLS 4194304.0 /* exact decoding where the cliques have no more, else max-product */

/* ---- names ----------------------------------------------------------------------------------- */

static char *put_name(char *to, trl_str s, const char **out)
{
    if (s.n)
        memcpy(to, s.p, s.n);
    to[s.n] = '\0';
    *out = to;
    return to + s.n + 1;
}

/* Copies of all labels: those of training, and the true ones. */
static bool copy_names(trl_graph_dev *d, const trl_graph_dev_setup *s)
{
    const size_t K = s->spec->n_layers;
    size_t bytes = 0, n_names = 0, n = 0, at = 0;
    for (size_t k = 0; k < K; k++) {
        n_names += s->labels[k].n;
        bytes += s->labels[k].pool_len + s->labels[k].n;
    }
    for (size_t u = 0; u < s->n_units; u++)
        for (size_t v = 0; v < s->unit[u].n_tokens * K; v++, n++)
            bytes +=
                s->unit[u].cell[v / K * s->unit[u].n_columns + s->spec->layer[v % K].column].n + 1;
    d->bytes = trl_alloc(bytes + 1, 1);
    d->name = trl_alloc(n_names + 1, sizeof *d->name);
    d->gold = trl_alloc(n + 1, sizeof *d->gold);
    if (!d->bytes || !d->name || !d->gold)
        return false;
    char *to = d->bytes;
    for (size_t k = 0; k < K; k++) {
        d->name_at[k] = at;
        for (size_t i = 0; i < s->labels[k].n; i++)
            to = put_name(to, trl_strtab_get(&s->labels[k], (uint32_t)i), &d->name[at++]);
    }
    n = 0;
    for (size_t u = 0; u < s->n_units; u++)
        for (size_t v = 0; v < s->unit[u].n_tokens * K; v++)
            to = put_name(
                to, s->unit[u].cell[v / K * s->unit[u].n_columns + s->spec->layer[v % K].column],
                &d->gold[n++]);
    return true;
}

/* Are all labels of the layer tags of chunks? */
static bool has_chunks(const trl_graph_dev *d, const trl_graph_dev_setup *s)
{
    const uint32_t k = s->spec->scored;
    if (k == TRL_NO_LAYER)
        return false;
    bool all = true, any = false;
    for (size_t i = 0; i < s->labels[k].n; i++) {
        const trl_str name = trl_strtab_get(&s->labels[k], (uint32_t)i);
        all = all && trl_is_chunk_tag(name);
        any = any || name.n > 2;
    }
    for (size_t v = k; v < d->first[d->corpus.n]; v += s->spec->n_layers)
        all = all && trl_is_chunk_tag((trl_str){d->gold[v], strlen(d->gold[v])});
    return all && any;
}

/* ---- lifetime -------------------------------------------------------------------------------- */

static trl_status make_plan(const trl_graph_dev *d, size_t k, const trl_infer_options *infer,
                            trl_error *err)
{
    trl_infer_options o = *infer;
    o.method = TRL_INFER_EXACT;
    o.max_cells = DEV_CELLS;
    const trl_graph *g = d->corpus.example[k].graph;
    const trl_status st = trl_infer_plan_new(g, &o, &d->plan[k], err);
    if (st != TRL_EINVAL)
        return st;
    o.method = TRL_INFER_BP;
    return trl_infer_plan_new(g, &o, &d->plan[k], err);
}

static trl_status make_places(trl_graph_dev *d, const trl_graph_dev_setup *s, trl_error *err)
{
    const size_t K = s->spec->n_layers;
    size_t n_sentences = 0, q = 0, t = 0;
    for (size_t u = 0; u < s->n_units; u++)
        n_sentences += s->unit[u].n_sentences;
    d->first = trl_alloc(d->corpus.n + 1, sizeof *d->first);
    d->sentence = trl_alloc(n_sentences + 1, sizeof *d->sentence);
    if (!d->first || !d->sentence)
        return trl_fail_mem(err);
    d->first[0] = d->sentence[0] = 0;
    for (size_t u = 0; u < s->n_units; t += s->unit[u++].n_tokens) {
        d->first[u + 1] = d->first[u] + s->unit[u].n_tokens * K;
        for (size_t k = 0; k < s->unit[u].n_sentences; k++)
            d->sentence[++q] = t + s->unit[u].first[k + 1];
    }
    d->n_sentences = n_sentences;
    d->predicted = trl_alloc(d->first[d->corpus.n] + 1, sizeof *d->predicted);
    return d->predicted ? TRL_OK : trl_fail_mem(err);
}

trl_status trl_graph_dev_init(trl_graph_dev *d, const trl_graph_dev_setup *s, trl_error *err)
{
    trl_graph_training *t = s->training;
    d->pool = t->pool;
    d->spec = s->spec;
    d->ready = true;
    const size_t threads = trl_pool_threads(t->pool);
    trl_status st =
        trl_design_project(&t->design, &t->corpus->corpus, &d->corpus.corpus, &d->design, err);
    if (st == TRL_OK)
        st = trl_shared_new(&d->design, &d->shared, err);
    if (st == TRL_OK)
        st = make_places(d, s, err);
    if (st != TRL_OK)
        return st;
    d->plan = trl_zalloc(d->corpus.n + 1, sizeof *d->plan);
    d->work = trl_zalloc(threads, sizeof *d->work);
    d->arenas = trl_zalloc(threads, sizeof *d->arenas);
    if (!d->plan || !d->work || !d->arenas || !copy_names(d, s))
        return trl_fail_mem(err);
    d->chunks = has_chunks(d, s);
    for (size_t k = 0; st == TRL_OK && k < threads; k++)
        st = trl_infer_work_new(&d->work[k], err);
    for (size_t k = 0; st == TRL_OK && k < d->corpus.n; k++)
        st = make_plan(d, k, s->infer, err);
    return st;
}

void trl_graph_dev_fini(trl_graph_dev *d)
{
    for (size_t k = 0; d->plan && k < d->corpus.n; k++)
        trl_infer_plan_free(d->plan[k]);
    for (size_t k = 0; d->pool && k < trl_pool_threads(d->pool); k++) {
        if (d->work)
            trl_infer_work_free(d->work[k]);
        if (d->arenas)
            trl_arena_fini(&d->arenas[k]);
    }
    trl_free(d->plan);
    trl_free(d->work);
    trl_free(d->arenas);
    trl_free(d->predicted);
    trl_free(d->first);
    trl_free(d->sentence);
    trl_free(d->bytes);
    trl_free(d->gold);
    trl_free(d->name);
    trl_shared_free(&d->shared);
    if (d->ready)
        trl_projection_fini(&d->design);
    trl_graph_corpus_fini(&d->corpus);
    *d = (trl_graph_dev){0};
}

/* ---- decoding -------------------------------------------------------------------------------- */

/* The tables of a graph from its scores.  NULL: no memory. */
static const double **make_tables(const trl_graph_dev *d, const trl_graph_example *e,
                                  const trl_tables *s, trl_arena *arena)
{
    const trl_graph_view g = trl_graph_look(e->graph);
    const double **table = trl_arena_get(arena, g.n_tables + 1, sizeof *table);
    for (size_t a = 0; table && a < g.n_factors; a++) {
        const uint32_t f = e->family[a];
        const size_t cells = g.cell_at[a + 1] - g.cell_at[a];
        const trl_family *family = &d->design.family[f];
        const trl_factor_scores x = {.shared = d->shared.shared[f],
                                     .row = s->row[f] ? s->row[f] + e->row[a] * s->step[f] : NULL,
                                     .spread = {family->cell, family->width, cells}};
        table[g.table_of[a]] = trl_graph_theta(&x, cells, arena);
        if (!table[g.table_of[a]])
            return NULL;
    }
    return table;
}

static trl_status decode(void *ctx, size_t k, size_t worker, trl_error *err)
{
    trl_graph_dev *d = ctx;
    trl_arena *arena = &d->arenas[worker];
    const trl_corpus *c = &d->corpus.corpus;
    const size_t from = (size_t)c->first[k], n = (size_t)c->first[k + 1] - from;
    trl_tables s;
    trl_infer_result r;
    trl_arena_reset(arena);
    if (!trl_tables_get(&d->design, n, arena, &s))
        return trl_fail_mem(err);
    trl_gather(&d->design, d->w, from, &s);
    const trl_infer_input in = {.table = make_tables(d, &d->corpus.example[k], &s, arena)};
    if (!in.table)
        return trl_fail_mem(err);
    const trl_status st = trl_infer_best(d->plan[k], &in, d->work[worker], &r, err);
    if (st == TRL_OK)
        memcpy(d->predicted + d->first[k], r.y,
               (d->first[k + 1] - d->first[k]) * sizeof *d->predicted);
    return trl_graph_failed(st, err);
}

/* ---- scoring --------------------------------------------------------------------------------- */

static const char *predicted_name(const trl_graph_dev *d, size_t v)
{
    return d->name[d->name_at[v % d->spec->n_layers] + d->predicted[v]];
}

/* Chunks of the layer that is scored, sentence by sentence. */
static trl_status count_layer(trl_graph_dev *d, trl_score_totals *totals, trl_error *err)
{
    const trl_score_options o = trl_score_options_default();
    const size_t K = d->spec->n_layers;
    trl_score *s = NULL;
    trl_status st = trl_score_new(&o, &s, err);
    for (size_t q = 0; st == TRL_OK && q < d->n_sentences; q++) {
        const size_t n = d->sentence[q + 1] - d->sentence[q];
        trl_arena_reset(&d->arenas[0]);
        const char **pair = trl_arena_get(&d->arenas[0], n, 2 * sizeof *pair);
        for (size_t t = 0; pair && t < n; t++) {
            const size_t v = (d->sentence[q] + t) * K + d->spec->scored;
            pair[t] = d->gold[v];
            pair[n + t] = predicted_name(d, v);
        }
        st = pair ? trl_score_add(s, n, pair, pair + n, err) : trl_fail_mem(err);
    }
    if (st == TRL_OK)
        *totals = trl_score_get(s);
    trl_score_free(s);
    return st;
}

trl_status trl_graph_dev_score(trl_graph_dev *d, const double *w, double *score, trl_error *err)
{
    d->w = w;
    trl_gather_shared(&d->design, w, d->shared.shared);
    trl_status st = trl_pool_run(d->pool, d->corpus.n, decode, d, err);
    if (st != TRL_OK)
        return st;
    if (d->spec->scored != TRL_NO_LAYER) {
        trl_score_totals t;
        st = count_layer(d, &t, err);
        if (st == TRL_OK)
            *score = d->chunks ? t.f1 : t.accuracy;
        return st;
    }
    size_t right = 0, n = d->first[d->corpus.n];
    for (size_t v = 0; v < n; v++)
        right += strcmp(d->gold[v], predicted_name(d, v)) == 0;
    *score = 100.0 * (double)right / (double)n;
    return TRL_OK;
}

const char *trl_graph_dev_measure(const trl_graph_dev *d)
{
    return d->chunks ? "F1" : "accuracy";
}
