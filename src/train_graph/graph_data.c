/* graph_data.c -- the model file and the data of a run: units, labels, graphs. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/places.h"
#include "train_graph/graph_run.h"
#include "train_graph/graph_units.h"

trl_status trl_graph_run_read_spec(trl_graph_run *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    if (!o->template_text) {
        const trl_status st = trl_fail(err, TRL_EINVAL, "a graph needs a model file");
        return trl_fail_hint(err, st, "give it as the template: -t factorial.graph");
    }
    j->spec_name = o->template_name ? o->template_name : "<model file>";
    trl_status st =
        trl_graph_spec_parse(j->spec_name, o->template_text, o->template_size, &j->spec, err);
    const trl_format reads =
        st == TRL_OK && j->spec->attributes ? TRL_FORMAT_GRMM : TRL_FORMAT_COLUMNS;
    if (st == TRL_OK && o->format != TRL_FORMAT_GUESS && o->format != reads) {
        st = trl_fail(err, TRL_EINVAL, "this model file reads %s",
                      reads == TRL_FORMAT_GRMM ? "GRMM's data (grmm)" : "columns");
        trl_fail_where(err, st, j->spec_name, 0, 0);
        trl_fail_hint(err, st, "features attributes are GRMM's, those of templates are of columns");
    }
    return st;
}

/* ---- units ----------------------------------------------------------------------------------- */

/* Every unit has the same columns, which fit the model file. */
static trl_status check_columns(trl_graph_run *j, const trl_graph_unit *u, trl_error *err)
{
    if (j->n_columns == u->n_columns)
        return TRL_OK;
    if (j->n_columns) {
        const trl_status st = trl_fail(err, TRL_EPARSE, "%zu columns where %zu were found before",
                                       u->n_columns, j->n_columns);
        return trl_graph_unit_where(u, st, 0, err);
    }
    j->n_columns = u->n_columns;
    return trl_graph_spec_check(j->spec, j->spec_name, j->n_columns, err);
}

static trl_graph_unit *next_unit(trl_graph_run *j)
{
    trl_graph_unit *all = trl_reserve(j->unit, &j->unit_cap, j->n_units + 1, sizeof *all);
    if (!all)
        return NULL;
    j->unit = all;
    all[j->n_units] = (trl_graph_unit){0};
    return &all[j->n_units++];
}

static void drop_units(trl_graph_run *j, size_t n)
{
    while (j->n_units > n)
        trl_graph_unit_fini(&j->unit[--j->n_units]);
}

/* One document although there are several sentences is hardly what was meant. */
static void warn_documents(const trl_graph_run *j, const trl_unit_source *s, size_t units,
                           uint64_t sentences, const char *name)
{
    char note[400];
    if (!j->spec->document || s->n_documents || units != 1 || sentences < 2 || !name)
        return;
    snprintf(note, sizeof note,
             "%.250s: there is no line -DOCSTART-: its %llu sentences are one document", name,
             (unsigned long long)sentences);
    trl_graph_run_report(j, "warning", note);
}

/* All units of a file or a data set. */
static trl_status read_source(trl_graph_run *j, const char *path, const trl_dataset *set, bool dev,
                              trl_error *err)
{
    trl_unit_source s;
    const size_t before = j->n_units;
    uint64_t sentences = 0;
    trl_status st = trl_unit_source_open(&s, path, set, j->spec, err);
    if (st != TRL_OK)
        return st;
    for (bool more = true; st == TRL_OK && more;) {
        trl_graph_unit *u = next_unit(j);
        st = u ? trl_unit_source_next(&s, u, &more, err) : trl_fail_mem(err);
        if (st == TRL_OK && more)
            st = check_columns(j, u, err);
        sentences += st == TRL_OK ? u->n_sentences : 0;
        const bool held = !dev && more && trl_train_leaves_out(j->o, j->n_read++);
        if (st == TRL_OK && (!more || held))
            drop_units(j, j->n_units - 1);
    }
    if (st == TRL_OK)
        warn_documents(j, &s, j->n_units - before, sentences, path);
    trl_unit_source_fini(&s);
    return st;
}

static trl_status no_sentences(const char *name, trl_error *err)
{
    const trl_status st = trl_fail(err, TRL_EPARSE, "there are no sequences in it");
    return trl_fail_where(err, st, name, 0, 0);
}

trl_status trl_graph_run_read(trl_graph_run *j, trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < j->o->n_train; k++)
        st = read_source(j, j->o->train[k], NULL, false, err);
    if (st == TRL_OK && j->o->data)
        st = read_source(j, NULL, j->o->data, false, err);
    if (st == TRL_OK && j->n_units == 0)
        st = no_sentences(j->o->n_train ? j->o->train[0] : "<data>", err);
    for (size_t k = 0; k < j->n_units; k++) {
        j->n_tokens += j->unit[k].n_tokens;
        j->n_sentences += j->unit[k].n_sentences;
    }
    return st;
}

/* ---- labels ---------------------------------------------------------------------------------- */

static trl_status collect_labels(trl_graph_run *j, trl_error *err)
{
    for (size_t k = 0; k < j->spec->n_layers; k++) {
        for (size_t n = 0; n < j->n_units; n++)
            for (size_t t = 0; t < j->unit[n].n_tokens; t++) {
                const trl_str s = j->unit[n].cell[t * j->n_columns + j->spec->layer[k].column];
                if (trl_strtab_add(&j->labels[k], s.p, s.n) == TRL_NO_ID)
                    return trl_fail_mem(err);
            }
        j->n_labels[k] = j->labels[k].n;
    }
    return TRL_OK;
}

/* One family for every factor, as wide as its labels demand. */
static trl_status init_corpus(const trl_graph_run *j, trl_graph_corpus *c, trl_error *err)
{
    size_t width[TRL_FAMILIES_MAX];
    for (size_t f = 0; f < j->spec->n_factors; f++) {
        const trl_factor_spec *s = &j->spec->factor[f];
        width[f] = trl_factor_spec_cells(s, j->n_labels);
        if (width[f])
            continue;
        trl_status st =
            trl_fail(err, TRL_EINVAL, "the factor '%s' has more than 2^24 cells", s->name);
        return trl_fail_where(err, st, j->spec_name, s->row, s->col);
    }
    trl_status st = trl_graph_corpus_init(c, width, j->spec->n_factors, err);
    for (size_t f = 0; st == TRL_OK && f < j->spec->n_factors; f++) {
        if (j->spec->factor[f].plain)
            st = trl_corpus_set_constant(&c->corpus, f, err);
        c->piece[f] = j->spec->piece[f];
        c->has_pieces = c->has_pieces || c->piece[f] != TRL_ALONE;
        c->all_cells |= (uint64_t)j->spec->factor[f].all_cells << f;
    }
    return st;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* The numbers of a unit's labels; what was not seen in training gets 0. */
static trl_status number_labels(const trl_graph_run *j, const trl_graph_unit *u, uint32_t **out,
                                trl_error *err)
{
    const size_t K = j->spec->n_layers;
    uint32_t *y = trl_alloc(u->n_tokens * K + 1, sizeof *y);
    if (!y)
        return trl_fail_mem(err);
    for (size_t v = 0; v < u->n_tokens * K; v++) {
        const trl_str s = u->cell[v / K * u->n_columns + j->spec->layer[v % K].column];
        const uint32_t id = trl_strtab_find(&j->labels[v % K], s.p, s.n);
        y[v] = id == TRL_NO_ID ? 0 : id;
    }
    *out = y;
    return TRL_OK;
}

static trl_status add_unit(const trl_graph_run *j, const trl_graph_unit *u, trl_unrolled *x,
                           trl_graph_corpus *c, trl_error *err)
{
    uint32_t *y = NULL;
    trl_status st = trl_unroll(j->spec, j->n_labels, u, x, err);
    if (st == TRL_OK)
        st = number_labels(j, u, &y, err);
    if (st == TRL_OK) {
        const trl_graph_case example = {.graph = x->graph,
                                        .family = x->family,
                                        .begin = x->begin,
                                        .attr = x->attr,
                                        .y = y,
                                        .weight = u->weight,
                                        .path = u->path,
                                        .line = u->n_tokens ? u->row[0] : 0};
        x->graph = NULL;
        st = trl_graph_corpus_add(c, &example, err);
    }
    trl_free(y);
    return st;
}

/* All units to graphs; training's are released on the way. */
static trl_status unroll_all(trl_graph_run *j, trl_graph_corpus *c, bool keep, trl_error *err)
{
    trl_unrolled x = {0};
    trl_status st = init_corpus(j, c, err);
    for (size_t k = 0; st == TRL_OK && k < j->n_units; k++) {
        st = add_unit(j, &j->unit[k], &x, c, err);
        if (!keep)
            trl_graph_unit_fini(&j->unit[k]);
    }
    trl_unrolled_fini(&x);
    return st;
}

trl_status trl_graph_run_unroll(trl_graph_run *j, trl_error *err)
{
    trl_status st = collect_labels(j, err);
    if (st == TRL_OK)
        st = unroll_all(j, &j->corpus, false, err);
    drop_units(j, 0);
    return st;
}

trl_status trl_graph_run_read_dev(trl_graph_run *j, trl_error *err)
{
    if (!trl_has_dev(j->o))
        return TRL_OK;
    trl_status st = read_source(j, j->o->dev, j->o->dev_data, true, err);
    if (st == TRL_OK && j->n_units == 0)
        st = no_sentences(j->o->dev ? j->o->dev : "<dev_data>", err);
    if (st == TRL_OK)
        st = unroll_all(j, &j->dev.corpus, true, err);
    if (st == TRL_OK)
        st = trl_graph_dev_init(&j->dev,
                                &(trl_graph_dev_setup){j->spec, j->labels, j->unit, j->n_units,
                                                       &j->infer, &j->training},
                                err);
    drop_units(j, 0);
    return st;
}
