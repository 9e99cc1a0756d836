/* search_model.c -- boosted parsers in files. */
/* SPDX-License-Identifier: MIT */
#include "search/search_model.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/clusters_io.h"
#include "model/strtab_io.h"

void trl_search_model_fini(trl_search_model *m)
{
    trl_search_names_fini(&m->names);
    trl_head_rules_free(m->heads);
    trl_boost_model_free(m->boost);
    trl_key_index_fini(&m->index);
    trl_free(m->label_of);
    trl_boost_term_index_fini(&m->terms);
    trl_model_free(m->tagger);
    trl_tree_clusters_fini(&m->clusters);
    *m = (trl_search_model){0};
}

/* Completes a model whose groups, names, heads and boost are there: label_of, index, n_trees,
 * terms. */
static trl_status complete(trl_search_model *m, trl_error *err)
{
    const trl_boost_model *b = m->boost;
    if (!(m->label_of = trl_alloc(b->n + 1, sizeof *m->label_of)))
        return trl_fail_mem(err);
    for (size_t k = 0; k < b->n; k++) {
        const char *name = b->part[k].name;
        m->label_of[k] = trl_strtab_find(&m->names.labels, name, strlen(name));
        if (m->label_of[k] >= m->names.n_phrases)
            return trl_fail(err, TRL_EMODEL, "damaged model: a classifier has no label");
        m->n_trees += b->part[k].n_trees;
    }
    for (uint32_t f = 0; f < b->names.n; f++) {
        uint64_t key;
        if (trl_feature_key_of(&m->groups, &m->names, trl_strview_get(&b->names, f), &key) &&
            trl_key_index_add(&m->index, key, f) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    return trl_boost_term_index_make(b, &m->terms, err);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void add_root(const trl_tree_root *root, trl_container_builder *b)
{
    const size_t n = root->bare ? 0 : strlen(root->label);
    char *text = trl_alloc(1 + n, 1);
    if (!text) {
        b->failed = TRL_ENOMEM;
        return;
    }
    text[0] = root->bare ? '-' : '(';
    memcpy(text + 1, root->label, n);
    trl_container_builder_give(b, "root", text, 1 + n);
}

trl_status trl_search_model_add(const trl_search_model *m, const trl_search_parts *parts,
                                trl_container_builder *b, trl_error *err)
{
    uint64_t *counts = trl_alloc(2, sizeof *counts);
    if (!counts)
        return trl_fail_mem(err);
    counts[0] = m->names.n_phrases;
    counts[1] = m->shares;
    const trl_str heads = trl_head_rules_text(m->heads);
    trl_container_builder_add(b, "groups", parts->groups.p, parts->groups.n);
    trl_container_builder_add(b, "heads", heads.p, heads.n);
    add_root(&m->root, b);
    trl_container_builder_give(b, "counts", counts, 2 * sizeof *counts);
    trl_container_builder_add(b, "boost", parts->boost.p, parts->boost.n);
    if (parts->tagger.n)
        trl_container_builder_add(b, "tagger", parts->tagger.p, parts->tagger.n);
    trl_status st = trl_strtab_save(&m->names.labels, "labl", b, err);
    if (st == TRL_OK)
        st = trl_strtab_save(&m->names.words, "word", b, err);
    return st == TRL_OK && m->clusters.owned ? trl_clusters_save(m->clusters.owned, b, err) : st;
}

/* ---- reading --------------------------------------------------------------------------------- */

static trl_str text_of(const trl_container *c, const char *tag)
{
    const void *p = "";
    size_t n = 0;
    trl_container_find(c, tag, &p, &n);
    return (trl_str){p, n};
}

static trl_status load_names(trl_search_model *m, const trl_container *c, trl_error *err)
{
    const void *counts;
    size_t n;
    trl_strview labels, words;
    trl_status st = trl_container_array(c, "counts", sizeof(uint64_t), &counts, &n, err);
    if (st == TRL_OK)
        st = trl_strview_load(c, "labl", &labels, err);
    if (st == TRL_OK)
        st = trl_strview_load(c, "word", &words, err);
    if (st != TRL_OK)
        return st;
    if (n != 2)
        return trl_container_damaged(c, err, "its counts are not two");
    const uint64_t *count = counts;
    if (count[0] == 0 || count[0] > labels.n || count[1] > words.n)
        return trl_container_damaged(c, err, "a count is out of range");
    m->names.n_phrases = count[0];
    m->shares = count[1] != 0;
    for (uint32_t k = 0; k < labels.n; k++)
        if (trl_search_label(&m->names, trl_strview_get(&labels, k)) == TRL_NO_ID)
            return trl_fail_mem(err);
    for (uint32_t k = 0; k < words.n; k++) {
        const trl_str s = trl_strview_get(&words, k);
        if (trl_strtab_add(&m->names.words, s.p, s.n) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    return m->names.labels.n == labels.n && m->names.words.n == words.n
               ? TRL_OK
               : trl_container_damaged(c, err, "a name is there twice");
}

static trl_status load_root(trl_tree_root *root, const trl_container *c, trl_error *err)
{
    const trl_str s = text_of(c, "root");
    if (s.n == 0 || s.n > sizeof root->label || (s.p[0] != '(' && s.p[0] != '-'))
        return trl_container_damaged(c, err, "its root is not one");
    root->bare = s.p[0] == '-';
    memcpy(root->label, s.p + 1, s.n - 1);
    return TRL_OK;
}

trl_status trl_search_model_load(trl_search_model *m, const trl_container *c, trl_error *err)
{
    const char *path = trl_container_path(c);
    const trl_str heads = text_of(c, "heads"), boost = text_of(c, "boost"),
                  tagger = text_of(c, "tagger");
    trl_status st = trl_feature_groups_parse(path, text_of(c, "groups"), &m->groups, err);
    if (st == TRL_OK)
        st = trl_head_rules_parse(path, heads.p, heads.n, &m->heads, err);
    if (st == TRL_EPARSE)
        st = trl_container_damaged(c, err, "its rules cannot be read");
    if (st == TRL_OK)
        st = load_root(&m->root, c, err);
    if (st == TRL_OK)
        st = load_names(m, c, err);
    if (st == TRL_OK)
        st = trl_boost_model_from_memory(boost.p, boost.n, &m->boost, err);
    if (st == TRL_OK)
        st = trl_tree_clusters_load(&m->clusters, c, err);
    if (st == TRL_OK)
        st = trl_search_names_cluster(&m->names, m->clusters.view, err);
    if (st == TRL_OK && tagger.n)
        st = trl_model_from_memory(tagger.p, tagger.n, &m->tagger, err);
    if (st == TRL_OK && m->tagger && trl_model_template(m->tagger).n == 0)
        return trl_fail(err, TRL_EMODEL,
                        "its tagger is of an earlier version: the parser must be trained again");
    return st == TRL_OK ? complete(m, err) : st;
}
