/* folds.c -- which sequence is in which fold. */
/* SPDX-License-Identifier: MIT */
#include "api/folds.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/strtab.h"
#include "text/input.h"
#include "feature/sequence_source.h"
#include "train_graph/graph_units.h"
#include "trellis/trees.h"

/* ---- what there is --------------------------------------------------------------------------- */

static trl_status add_unit(trl_folds *f, bool starts, trl_error *err)
{
    uint32_t *group = trl_reserve(f->group, &f->group_cap, f->n + 1, sizeof *group);
    if (!group)
        return trl_fail_mem(err);
    if (f->n == UINT32_MAX)
        return trl_fail(err, TRL_EINVAL, "there are more than 2^32 - 1 sequences");
    f->group = group;
    f->n_groups += starts || f->n == 0;
    f->group[f->n++] = (uint32_t)(f->n_groups - 1);
    return TRL_OK;
}

static trl_status count_sequences(trl_folds *f, const trl_train_options *o, const char *path,
                                  bool documents, trl_error *err)
{
    trl_sequence_source s;
    const trl_format format = o->template_text && !o->format ? TRL_FORMAT_COLUMNS : o->format;
    trl_status st = trl_sequence_source_file(&s, path, format, err);
    if (st != TRL_OK)
        return st;
    bool first = true;
    for (bool more = true; st == TRL_OK && more; first = false) {
        trl_rows rows = {0};
        trl_items items;
        double weight;
        st = s.format == TRL_FORMAT_COLUMNS
                 ? trl_sequence_source_rows(&s, &rows, &weight, &more, err)
                 : trl_sequence_source_items(&s, &items, &more, err);
        if (st == TRL_OK && more)
            st = add_unit(f, !documents || first || rows.heading.n, err);
    }
    trl_sequence_source_fini(&s);
    return st;
}

static trl_status count_graphs(trl_folds *f, const trl_graph_spec *spec, const char *path,
                               bool documents, trl_error *err)
{
    trl_unit_source s;
    trl_graph_unit u = {0};
    trl_status st = trl_unit_source_open(&s, path, NULL, spec, err);
    if (st != TRL_OK)
        return st;
    bool starts = true;
    for (bool more = true; st == TRL_OK && more;) {
        st = trl_unit_source_next(&s, &u, &more, err);
        if (st == TRL_OK && more)
            st = add_unit(f, !documents || starts, err);
        starts = s.has_ahead && s.ahead.heading.n > 0;
    }
    trl_graph_unit_fini(&u);
    trl_unit_source_fini(&s);
    return st;
}

static trl_status count_trees(trl_folds *f, const char *path, bool keep_going, trl_error *err)
{
    trl_treebank *bank = NULL;
    trl_dataset *file = NULL;
    const trl_transform how = trl_transform_clean();
    trl_status st = trl_dataset_of_file(path, TRL_FORMAT_GUESS, &file, err);
    if (st == TRL_OK)
        st = trl_dataset_trees(file, path, &how, &bank, err);
    if (st == TRL_OK && keep_going)
        trl_treebank_resync(bank);
    for (bool more = true; st == TRL_OK && more;) {
        trl_tree t;
        st = trl_treebank_next(bank, &t, &more, err);
        if (st == TRL_EPARSE && keep_going)
            st = TRL_OK;
        else if (st == TRL_OK && more)
            st = add_unit(f, true, err);
    }
    trl_treebank_free(bank);
    trl_dataset_free(file);
    return st;
}

static trl_status count(trl_folds *f, const trl_train_options *o, bool documents, trl_error *err)
{
    trl_graph_spec *spec = NULL;
    trl_status st = TRL_OK;
    const bool graph = strcmp(o->kind, "graph") == 0, tree = strcmp(o->kind, "tree") == 0;
    if (graph && !o->template_text)
        return trl_fail_hint(err, trl_fail(err, TRL_EINVAL, "a graph needs a model file"),
                             "give it as the template: -t factorial.graph");
    if (graph)
        st = trl_graph_spec_parse(o->template_name ? o->template_name : "<model file>",
                                  o->template_text, o->template_size, &spec, err);
    for (size_t k = 0; st == TRL_OK && k < o->n_train; k++)
        st = tree    ? count_trees(f, o->train[k], o->keep_going, err)
             : graph ? count_graphs(f, spec, o->train[k], documents, err)
                     : count_sequences(f, o, o->train[k], documents, err);
    trl_graph_spec_free(spec);
    return st;
}

/* ---- groups by name -------------------------------------------------------------------------- */

static trl_status wrong_length(const trl_folds *f, const char *path, uint64_t row, trl_error *err)
{
    const trl_status st = trl_fail(err, TRL_EPARSE,
                                   row ? "there are more lines than the %zu sequences of the data"
                                       : "there are fewer lines than the %zu sequences of the data",
                                   f->n);
    trl_fail_where(err, st, path, row, 0);
    return trl_fail_hint(err, st, "each line names the group of one sequence (graph, tree)");
}

static trl_status name_groups(trl_folds *f, const char *path, trl_error *err)
{
    trl_strtab names = {0};
    trl_input *in = NULL;
    size_t n = 0;
    trl_status st = trl_input_open(path, &in, err);
    for (bool more = true; st == TRL_OK && more;) {
        trl_str line;
        st = trl_input_line(in, &line, &more, err);
        if (st != TRL_OK || !more)
            break;
        if (n == f->n)
            st = wrong_length(f, path, n + 1, err);
        else if ((f->group[n++] = trl_strtab_add(&names, line.p, line.n)) == TRL_NO_ID)
            st = trl_fail_mem(err);
    }
    if (st == TRL_OK && n < f->n)
        st = wrong_length(f, path, 0, err);
    f->n_groups = names.n;
    trl_input_free(in);
    trl_strtab_fini(&names);
    return st;
}

/* ---- dealing --------------------------------------------------------------------------------- */

static trl_status too_few(const trl_folds *f, const trl_train_options *o,
                          const trl_folds_options *how, trl_error *err)
{
    const char *what = how->groups                     ? "groups"
                       : how->documents                ? "documents"
                       : strcmp(o->kind, "tree") == 0  ? "trees"
                       : strcmp(o->kind, "graph") == 0 ? "graphs"
                                                       : "sequences";
    const trl_status st = trl_fail(err, TRL_EPARSE, "%zu %s are too few for %llu folds",
                                   f->n_groups, what, (unsigned long long)how->k);
    trl_fail_where(err, st, how->groups ? how->groups : o->train[0], 0, 0);
    if (f->n_groups < 2 && how->documents)
        return trl_fail_hint(err, st,
                             "a document begins with a line -DOCSTART-, in CoNLL-U # newdoc, or "
                             "with a file; name groups otherwise");
    return f->n_groups < 2 ? trl_fail_hint(err, st, "give more data")
                           : trl_fail_hint(err, st, "ask for at most %zu folds", f->n_groups);
}

static trl_status deal(trl_folds *f, uint64_t seed, trl_error *err)
{
    trl_rng rng = trl_rng_seed(seed);
    uint32_t *order = trl_alloc(f->n_groups, sizeof *order);
    uint32_t *of_group = trl_alloc(f->n_groups, sizeof *of_group);
    uint64_t *size = trl_zalloc(f->n_groups, sizeof *size);
    uint64_t *filled = trl_zalloc((size_t)f->k, sizeof *filled);
    f->fold = trl_alloc(f->n, sizeof *f->fold);
    const bool ok = order && of_group && size && filled && f->fold;
    for (size_t k = 0; ok && k < f->n; k++)
        size[f->group[k]]++;
    for (size_t k = 0; ok && k < f->n_groups; k++) { /* a random order, inside out */
        const size_t at = trl_rng_below(&rng, k + 1);
        order[k] = order[at];
        order[at] = (uint32_t)k;
    }
    for (size_t k = 0; ok && k < f->n_groups; k++) {
        /* One group each to begin with, so that no fold is empty. */
        size_t to = k < f->k ? k : 0;
        for (size_t i = 1; k >= f->k && i < f->k; i++)
            to = filled[i] < filled[to] ? i : to;
        of_group[order[k]] = (uint32_t)to;
        filled[to] += size[order[k]];
    }
    for (size_t k = 0; ok && k < f->n; k++)
        f->fold[k] = of_group[f->group[k]];
    trl_free(order);
    trl_free(of_group);
    trl_free(size);
    trl_free(filled);
    return ok ? TRL_OK : trl_fail_mem(err);
}

trl_status trl_folds_make(trl_folds *f, const trl_train_options *train,
                          const trl_folds_options *how, trl_error *err)
{
    trl_status st = count(f, train, how->documents, err);
    if (st == TRL_OK && how->groups)
        st = name_groups(f, how->groups, err);
    if (st == TRL_OK && f->n_groups < how->k)
        st = too_few(f, train, how, err);
    f->k = how->k;
    return st == TRL_OK ? deal(f, train->seed, err) : st;
}

void trl_folds_fini(trl_folds *f)
{
    trl_free(f->fold);
    trl_free(f->group);
    *f = (trl_folds){0};
}
