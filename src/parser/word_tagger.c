/* word_tagger.c -- tags of words by a chain model, as scores of tags. */
/* SPDX-License-Identifier: MIT */
#include "parser/word_tagger.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "trellis/template.h"

#define PATHS 4

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_path(trl_str s)
{
    for (size_t k = 0; k < s.n; k++)
        if (s.p[k] != '0' && s.p[k] != '1')
            return false;
    return s.n > 0;
}

/* The first bits of the path of the word's cluster, and all of it. */
static void fill_paths(const trl_cluster_view *clusters, trl_str word, trl_str cell[PATHS])
{
    static const size_t bits[PATHS - 1] = {4, 6, 10};
    const uint32_t id = trl_cluster_view_find(clusters, word.p, word.n);
    const trl_str path = id ? trl_strview_get(&clusters->name, id - 1) : (trl_str){"-", 1};
    const bool cut = id && is_path(path);
    for (size_t k = 0; k + 1 < PATHS; k++)
        cell[k] = cut && path.n > bits[k] ? (trl_str){path.p, bits[k]} : (trl_str){"-", 1};
    cell[PATHS - 1] = path;
}

trl_status trl_tag_rows_make(trl_tag_rows *r, const trl_cluster_view *clusters, const trl_words *w,
                             const trl_str *tag, trl_rows *out, trl_error *err)
{
    const size_t paths = clusters->name.n ? PATHS : 0, width = 1 + paths + (tag ? 1 : 0);
    trl_str *cell = trl_reserve(r->cell, &r->cap, w->n * width, sizeof *cell);
    if (!cell)
        return trl_fail_mem(err);
    r->cell = cell;
    for (size_t i = 0; i < w->n; i++, cell += width) {
        cell[0] = w->word[i];
        if (paths)
            fill_paths(clusters, w->word[i], cell + 1);
        if (tag)
            cell[width - 1] = tag[i];
    }
    *out = (trl_rows){.n_tokens = w->n, .n_columns = width, .cell = r->cell};
    return TRL_OK;
}

void trl_tag_rows_template(bool clusters, trl_buf *out)
{
    trl_buf_str(out, trl_shipped_template_find("pos"));
    for (int k = 1; clusters && k <= PATHS; k++)
        trl_buf_fmt(out, "column %d at -1..1\n", k);
}

/* ---- the tagger ------------------------------------------------------------------------------ */

void trl_word_tagger_fini(trl_word_tagger *t)
{
    trl_model_free(t->model);
    trl_free(t->label);
    *t = (trl_word_tagger){0};
}

/* The label of the fine grammar, if both grammars have it as a tag. */
static uint32_t find_label(const trl_given_grammars *g, trl_str name)
{
    const uint32_t fine = trl_strtab_find(&g->fine->labels, name.p, name.n);
    const uint32_t coarse = trl_strtab_find(&g->coarse->labels, name.p, name.n);
    const bool both = fine != TRL_NO_ID && coarse != TRL_NO_ID &&
                      trl_grammar_has_tag(g->fine, fine) && trl_grammar_has_tag(g->coarse, coarse);
    return both ? fine : TRL_NO_ID;
}

/* Of the rows above, with probabilities. */
static bool is_tagger(const trl_model *m, const trl_cluster_view *clusters)
{
    const trl_model_info x = trl_model_get_info(m);
    return strcmp(x.kind, "chain") == 0 && x.format == TRL_FORMAT_COLUMNS && x.is_probability &&
           x.n_labels > 0 && x.n_columns == 2u + (clusters->name.n ? PATHS : 0u);
}

trl_status trl_word_tagger_open(trl_word_tagger *t, trl_str bytes, const trl_given_grammars *g,
                                const trl_cluster_view *clusters, trl_error *err)
{
    trl_model *model = NULL;
    trl_status st = trl_model_from_memory(bytes.p, bytes.n, &model, err);
    if (st == TRL_OK && !is_tagger(model, clusters))
        st = trl_fail(err, TRL_EMODEL, "damaged model: its tagger is of another kind");
    const size_t n = st == TRL_OK ? trl_model_get_info(model).n_labels : 0;
    uint32_t *label = trl_alloc(n + 1, sizeof *label);
    if (st == TRL_OK && !label)
        st = trl_fail_mem(err);
    if (st != TRL_OK) {
        trl_model_free(model);
        trl_free(label);
        return st;
    }
    for (size_t k = 0; k < n; k++)
        label[k] = find_label(g, trl_model_label(model, k));
    trl_word_tagger_fini(t);
    *t = (trl_word_tagger){model, n, label, clusters};
    return TRL_OK;
}

/* ---- a sentence ------------------------------------------------------------------------------ */

void trl_tag_finder_fini(trl_tag_finder *f)
{
    trl_tagger_free(f->tagger);
    trl_free(f->rows.cell);
    trl_free(f->p);
    trl_free(f->tag);
    *f = (trl_tag_finder){0};
}

static trl_status start(trl_tag_finder *f, const trl_word_tagger *t, trl_error *err)
{
    if (f->model == t->model)
        return TRL_OK;
    trl_tagger_free(f->tagger);
    f->tagger = NULL;
    f->model = NULL;
    const trl_status st = trl_tagger_new(t->model, &f->tagger, err);
    f->model = st == TRL_OK ? t->model : NULL;
    return st;
}

trl_status trl_tag_find(trl_tag_finder *f, const trl_word_tagger *t, const trl_words *w,
                        trl_error *err)
{
    const size_t labels = t->n_labels;
    trl_rows rows;
    f->n = 0;
    trl_status st = start(f, t, err);
    if (st == TRL_OK)
        st = trl_tag_rows_make(&f->rows, t->clusters, w, NULL, &rows, err);
    if (st == TRL_OK)
        st = trl_tagger_set_rows(f->tagger, &rows, err);
    double *p = trl_reserve(f->p, &f->cap_p, w->n * labels, sizeof *p);
    f->p = p ? p : f->p;
    trl_given_tag *tag = trl_reserve(f->tag, &f->cap_tag, w->n * labels, sizeof *tag);
    f->tag = tag ? tag : f->tag;
    if (st == TRL_OK)
        st = p && tag ? trl_tagger_marginals(f->tagger, p, err) : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < w->n * labels; k++) {
        const uint32_t label = t->label[k % labels];
        if (p[k] >= TRL_TAG_LEAST && label != TRL_NO_ID)
            tag[f->n++] = (trl_given_tag){k / labels, label, log(p[k])};
    }
    return st;
}
