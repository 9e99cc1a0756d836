/* explain_graph.c -- the best labelling of a graph with one label changed, factor by factor. */
/* SPDX-License-Identifier: MIT */
#include "explain_graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "tag_print.h"

typedef struct difference {
    size_t factor;
    double own, other; /* its scores with either label */
} difference;

typedef struct job {
    const explain_graph_options *o;
    const trl_graph_model *model;
    trl_graph_model_info info;
    trl_graph_tagger *tagger;
    text words;   /* of the unit's tokens, one after the other */
    size_t *ends; /* [tokens] of each in `words` */
    size_t tokens, ends_cap;
    trl_graph *graph;
    trl_graph_view v;
    uint32_t *y; /* [n_variables] the best labelling */
    difference *row;
    size_t n_rows, y_cap, row_cap;
    text pending;
    output *out;
    uint64_t number; /* of the unit */
    size_t explained;
} job;

static bool room(void **p, size_t *cap, size_t n, size_t size)
{
    if (n <= *cap)
        return true;
    void *q = realloc(*p, 2 * n * size);
    if (!q)
        return false;
    *p = q;
    *cap = 2 * n;
    return true;
}

static trl_str label_of(const job *j, size_t variable, uint32_t k)
{
    return trl_graph_model_label(j->model, variable % j->info.n_layers, k);
}

static const char *layer_of(const job *j, size_t variable)
{
    return trl_graph_model_layer(j->model, variable % j->info.n_layers).name;
}

/* The score of a factor with `label` at a variable, and the best labels elsewhere. */
static double factor_score(const job *j, size_t a, size_t variable, uint32_t label)
{
    const trl_graph_view *v = &j->v;
    size_t cell = 0;
    for (size_t i = v->scope_at[a]; i < v->scope_at[a + 1]; i++) {
        const uint32_t u = v->scope[i];
        cell = cell * v->labels[u] + (u == variable ? label : j->y[u]);
    }
    return v->table[v->table_of[a]][cell];
}

static bool has_variable(const job *j, size_t a, size_t variable)
{
    for (size_t i = j->v.scope_at[a]; i < j->v.scope_at[a + 1]; i++)
        if (j->v.scope[i] == variable)
            return true;
    return false;
}

/* By how much the labelling is better than with another label there. */
static double margin(job *j, size_t variable, uint32_t other)
{
    const uint32_t own = j->y[variable];
    const double best = trl_graph_score(j->graph, NULL, j->y);
    j->y[variable] = other;
    const double changed = trl_graph_score(j->graph, NULL, j->y);
    j->y[variable] = own;
    return best - changed;
}

static uint32_t runner_up(job *j, size_t variable)
{
    uint32_t best = UINT32_MAX;
    double least = INFINITY;
    for (uint32_t k = 0; k < j->v.labels[variable]; k++) {
        double d = 0.0;
        if (k == j->y[variable])
            continue;
        for (size_t i = 0; i < j->n_rows; i++)
            d += j->row[i].own - factor_score(j, j->row[i].factor, variable, k);
        if (d < least) {
            least = d;
            best = k;
        }
    }
    return best;
}

static int by_size(const void *a_, const void *b_)
{
    const difference *a = a_, *b = b_;
    const double x = fabs(a->own - a->other), y = fabs(b->own - b->other);
    if (x != y)
        return x < y ? 1 : -1;
    return (a->factor > b->factor) - (a->factor < b->factor);
}

/* The factors of a variable, with its own label. */
static bool find_factors(job *j, size_t variable)
{
    j->n_rows = 0;
    for (size_t a = 0; a < j->v.n_factors; a++) {
        if (!has_variable(j, a, variable))
            continue;
        if (!room((void **)&j->row, &j->row_cap, j->n_rows + 1, sizeof *j->row))
            return false;
        const double own = factor_score(j, a, variable, j->y[variable]);
        j->row[j->n_rows++] = (difference){a, own, own};
    }
    return true;
}

/* ---- printing -------------------------------------------------------------------------------- */

static trl_str word_of(const job *j, size_t t)
{
    const size_t from = t ? j->ends[t - 1] : 0;
    return (trl_str){j->words.p + from, j->ends[t] - from};
}

static void add_scope(const job *j, size_t a, size_t variable, text *out)
{
    for (size_t i = j->v.scope_at[a]; i < j->v.scope_at[a + 1]; i++) {
        const uint32_t u = j->v.scope[i];
        const trl_str label = label_of(j, u, j->y[u]);
        text_fmt(out, "%s%s %zu ", i > j->v.scope_at[a] ? ", " : "", layer_of(j, u),
                 u / j->info.n_layers + 1);
        text_add(out, u == variable ? "*" : label.p, u == variable ? 1 : label.n);
    }
}

static void add_text(const job *j, size_t variable, uint32_t other, double by, text *out)
{
    const size_t t = variable / j->info.n_layers;
    const trl_str own = label_of(j, variable, j->y[variable]), word = word_of(j, t);
    const size_t shown = j->o->top && j->n_rows > j->o->top ? j->o->top : j->n_rows;
    text_fmt(out, "%s %" PRIu64 ", token %zu, ", j->info.document ? "document" : "sequence",
             j->number, t + 1);
    text_add(out, word.p, word.n);
    text_fmt(out, ", %s: ", layer_of(j, variable));
    text_add(out, own.p, own.n);
    if (other == j->y[variable]) {
        text_str(out, ", the label to compare with\n\n");
        return;
    }
    text_str(out, " over ");
    text_add(out, label_of(j, variable, other).p, label_of(j, variable, other).n);
    text_fmt(out, " by %.4f\n        adds         own     against  factor\n", by);
    double rest = 0.0;
    for (size_t i = 0; i < j->n_rows; i++) {
        const difference *d = &j->row[i];
        if (i >= shown) {
            rest += d->own - d->other;
            continue;
        }
        text_fmt(out, "  %+10.4f  %10.4f  %10.4f  ", d->own - d->other, d->own, d->other);
        add_scope(j, d->factor, variable, out);
        text_char(out, '\n');
    }
    if (shown < j->n_rows)
        text_fmt(out, "  %+10.4f  %zu more\n", rest, j->n_rows - shown);
    text_char(out, '\n');
}

static void json_scope(const job *j, size_t a, size_t variable, text *out)
{
    for (size_t i = j->v.scope_at[a]; i < j->v.scope_at[a + 1]; i++) {
        const uint32_t u = j->v.scope[i];
        const trl_str label = label_of(j, u, j->y[u]);
        text_str(out, i > j->v.scope_at[a] ? ",{\"layer\":" : "{\"layer\":");
        text_json_str(out, layer_of(j, u));
        text_fmt(out, ",\"token\":%zu,\"label\":", u / j->info.n_layers + 1);
        if (u == variable)
            text_str(out, "null");
        else
            text_json_bytes(out, label.p, label.n);
        text_char(out, '}');
    }
}

static void add_json(const job *j, size_t variable, uint32_t other, double by, text *out)
{
    const trl_str own = label_of(j, variable, j->y[variable]),
                  against = label_of(j, variable, other);
    text_fmt(out, "{\"sequence\":%" PRIu64 ",\"token\":%zu,\"layer\":", j->number,
             variable / j->info.n_layers + 1);
    text_json_str(out, layer_of(j, variable));
    text_str(out, ",\"label\":");
    text_json_bytes(out, own.p, own.n);
    text_str(out, ",\"against\":");
    text_json_bytes(out, against.p, against.n);
    text_str(out, ",\"difference\":");
    text_json_real(out, by);
    text_str(out, ",\"contributions\":[");
    for (size_t i = 0; i < j->n_rows; i++) {
        const difference *d = &j->row[i];
        text_str(out, i ? ",{\"factor\":[" : "{\"factor\":[");
        json_scope(j, d->factor, variable, out);
        text_str(out, "],\"label\":");
        text_json_real(out, d->own);
        text_str(out, ",\"against\":");
        text_json_real(out, d->other);
        text_str(out, ",\"contribution\":");
        text_json_real(out, d->own - d->other);
        text_char(out, '}');
    }
    text_str(out, "]}\n");
}

/* ---- units ----------------------------------------------------------------------------------- */

static bool explain_variable(job *j, size_t variable)
{
    const char *against = j->o->against;
    if (!find_factors(j, variable))
        return false;
    const uint32_t other = against
                               ? trl_graph_model_find_label(j->model, variable % j->info.n_layers,
                                                            (trl_str){against, strlen(against)})
                               : runner_up(j, variable);
    if (other == UINT32_MAX) /* a layer without it, or with one label */
        return true;
    size_t kept = 0;
    for (size_t i = 0; i < j->n_rows; i++) {
        j->row[i].other = factor_score(j, j->row[i].factor, variable, other);
        if (j->row[i].other != j->row[i].own)
            j->row[kept++] = j->row[i];
    }
    j->n_rows = kept;
    if (kept)
        qsort(j->row, kept, sizeof *j->row, by_size);
    (j->o->json ? add_json : add_text)(j, variable, other, margin(j, variable, other), &j->pending);
    j->explained++;
    return true;
}

static trl_status explain_unit(job *j, trl_error *err)
{
    trl_graph_answer answer;
    const size_t layers = j->info.n_layers, n = j->tokens * layers;
    j->number++;
    if ((j->o->unit && j->o->unit != j->number) || j->o->token > j->tokens)
        return TRL_OK;
    if (!room((void **)&j->y, &j->y_cap, n, sizeof *j->y))
        return tag_no_memory(err);
    trl_status st = trl_graph_tagger_best(j->tagger, j->y, &answer, err);
    if (st == TRL_OK)
        st = trl_graph_tagger_graph(j->tagger, &j->graph, err);
    if (st != TRL_OK)
        return st;
    j->v = trl_graph_look(j->graph);
    const size_t from = j->o->token ? (j->o->token - 1) * layers : 0;
    const size_t end = j->o->token ? from + layers : n;
    for (size_t k = from; k < end && st == TRL_OK; k++)
        if (!explain_variable(j, k))
            st = tag_no_memory(err);
    trl_graph_free(j->graph);
    j->graph = NULL;
    return st;
}

static trl_status add_sentence(job *j, const trl_reader *r, const trl_rows *rows, trl_error *err)
{
    const size_t *begin;
    const trl_attr *attr;
    if (!room((void **)&j->ends, &j->ends_cap, j->tokens + rows->n_tokens, sizeof *j->ends))
        return tag_no_memory(err);
    for (size_t t = 0; t < rows->n_tokens; t++) {
        const trl_str word = rows->cell[t * rows->n_columns];
        text_add(&j->words, word.p, word.n);
        j->ends[j->tokens++] = j->words.n;
    }
    trl_reader_attributes(r, &begin, &attr);
    return begin ? trl_graph_tagger_add_items(j->tagger, rows, begin, attr, err)
                 : trl_graph_tagger_add(j->tagger, rows, err);
}

/* Ends the unit, if there is one, and begins another. */
static trl_status next_unit(job *j, bool *ok, trl_error *err)
{
    const trl_status st = j->tokens ? explain_unit(j, err) : TRL_OK;
    *ok = output_text(j->out, &j->pending);
    j->pending.n = j->words.n = j->tokens = 0;
    trl_graph_tagger_clear(j->tagger);
    return st;
}

static bool explain_file(job *j, const char *path)
{
    trl_reader *r = NULL;
    trl_error err = {0};
    bool ok = true, more = true;
    const trl_format format = j->info.attributes ? TRL_FORMAT_GRMM : TRL_FORMAT_COLUMNS;
    trl_status st = trl_reader_open(path, format, &r, &err);
    while (st == TRL_OK && ok && more) {
        trl_rows rows;
        st = trl_reader_rows(r, &rows, &more, &err);
        if (st == TRL_OK && (!more || !j->info.document || rows.heading.n))
            st = next_unit(j, &ok, &err);
        if (st == TRL_OK && more)
            st = add_sentence(j, r, &rows, &err);
    }
    if (st != TRL_OK && output_flush(j->out))
        message_error(&err);
    trl_reader_free(r);
    return ok && st == TRL_OK;
}

static bool finish(const job *j, bool ok)
{
    if (!ok || j->explained)
        return ok;
    if (!j->o->unit && !j->o->token && !j->o->against) {
        message_warn("no sequences in the input");
        return true;
    }
    message_say("there is no such sequence, token or label in the input");
    return false;
}

bool explain_graph(const explain_graph_options *o, const trl_model *m, const operands *files,
                   output *out)
{
    job j = {.o = o, .out = out};
    trl_error err = {0};
    trl_graph_model *model = NULL;
    trl_status st = trl_graph_model_of(m, &model, &err);
    if (st == TRL_OK) {
        j.model = model;
        j.info = trl_graph_model_get_info(model);
        st = trl_graph_tagger_new(model, NULL, &j.tagger, &err);
    }
    if (st != TRL_OK)
        message_error(&err);
    bool ok = st == TRL_OK;
    for (size_t k = 0; ok && k < (files->n ? files->n : 1); k++)
        ok = explain_file(&j, files->n ? files->item[k] : "-");
    ok = finish(&j, ok);
    trl_graph_tagger_free(j.tagger);
    trl_graph_model_free(model);
    text_fini(&j.words);
    text_fini(&j.pending);
    free(j.ends);
    free(j.y);
    free(j.row);
    return ok;
}
