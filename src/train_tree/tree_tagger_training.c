/* tree_tagger_training.c -- the parser's tagger, and the tags that training trees have by it.
 *
 * Every tree has the tags of a tagger of all folds but its own (train_chain/tag_lesson.h).
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "train_chain/tag_lesson.h"
#include "train_tree/tree_training.h"

#define FOLDS TRL_TAGGER_FOLDS
#define PASSES 15       /* within 0.1 % of the optimum; twice as many tag no better ... */
#define STEPS 30000     /* ... but small treebanks, of fewer steps, need more */
#define LEAST_TREES 100 /* of fewer a tagger learns too little */

typedef struct tagging {
    trl_tree_training *j;
    bool clusters; /* the tagger looks at them */
} tagging;

/* ---- learning -------------------------------------------------------------------------------- */

typedef struct row_maker {
    const trl_cluster_view *clusters;
    trl_tag_rows rows;
} row_maker;

static trl_status make_rows(void *ctx, const trl_tree *t, const trl_str *tag, trl_rows *out,
                            trl_error *err)
{
    row_maker *m = ctx;
    return trl_tag_rows_make(&m->rows, m->clusters, &(trl_words){t->word, t->n_words}, tag, out,
                             err);
}

static uint64_t passes_of(size_t trees)
{
    const uint64_t passes = STEPS / (trees ? trees : 1);
    return passes > PASSES ? passes : PASSES;
}

static trl_status copy(const trl_buf *from, trl_buf *out, trl_error *err)
{
    out->len = 0;
    trl_buf_add(out, from->data, from->len);
    return out->failed ? trl_fail_mem(err) : TRL_OK;
}

/* The tagger of all trees but those of a fold (FOLDS: of all), as a file's bytes. */
static trl_status learn(const tagging *x, size_t fold, trl_buf *out, trl_error *err)
{
    const trl_tree_taggers *known = x->j->part ? x->j->part->taggers : NULL;
    if (known)
        return copy(fold == FOLDS ? &known->all : &known->fold[fold], out, err);
    trl_buf template = {0};
    row_maker rows = {.clusters = &x->j->model.clusters.view};
    const trl_tag_lesson lesson = {.trees = &x->j->trees,
                                   .folds = fold == FOLDS ? 0 : FOLDS,
                                   .fold = fold,
                                   .rows = make_rows,
                                   .ctx = &rows,
                                   .template = &template,
                                   .from = x->j->o};
    const trl_train_options how = {.objective = "likelihood",
                                   .optimizer = "sdca",
                                   .epsilon = 1e-5,
                                   .period = 10,
                                   .delta = 1e-5,
                                   .max_iter = passes_of(x->j->trees.n),
                                   .threads = 1};
    trl_tag_rows_template(x->clusters, &template);
    const trl_status st = trl_tag_lesson_learn(&lesson, how, out, err);
    trl_free(rows.rows.cell);
    trl_buf_fini(&template);
    return st;
}

/* ---- the tags of trees ----------------------------------------------------------------------- */

/* Copies the tags found for a tree, word by word, and adds the right one where it is ruled out. */
static trl_status keep_tags(trl_tree_training *j, size_t tree, const trl_tag_finder *f,
                            trl_error *err)
{
    const trl_tree *t = &j->trees.tree[tree];
    const trl_grammar *g = &j->model.fine;
    trl_given_tag *list = trl_alloc(f->n + t->n_words, sizeof *list);
    trl_str *tag = trl_alloc(t->n_words, sizeof *tag);
    size_t n = 0;
    if (list && tag)
        trl_tree_read_tags(t, tag);
    for (size_t i = 0, k = 0; list && tag && i < t->n_words; i++) {
        const uint32_t right = trl_strtab_find(&g->labels, tag[i].p, tag[i].n);
        bool there = false;
        for (; k < f->n && f->tag[k].word == i; k++) {
            there |= f->tag[k].label == right;
            list[n++] = f->tag[k];
        }
        if (!there && right != TRL_NO_ID)
            list[n++] = (trl_given_tag){i, right, log(TRL_TAG_LEAST)};
    }
    trl_free(tag);
    j->tags[tree] = (trl_given_list){list, n};
    return list && tag ? TRL_OK : trl_fail_mem(err);
}

trl_status trl_tree_training_fold_tagger(const trl_tree_training *j, const trl_buf *bytes,
                                         trl_word_tagger *out, trl_error *err)
{
    const trl_tree_model *m = &j->model;
    return trl_word_tagger_open(out, (trl_str){bytes->data, bytes->len},
                                &(trl_given_grammars){&m->fine, &m->coarse}, &m->clusters.view,
                                err);
}

/* By the whole run's folds where its taggers are taken. */
static bool in_fold(const trl_tree_training *j, size_t tree, size_t fold)
{
    const trl_tree_taggers *known = j->part ? j->part->taggers : NULL;
    return known ? known->fold_of[j->trees.place[tree]] == fold
                 : trl_tree_in_fold(tree, j->trees.n, FOLDS, fold);
}

static trl_status tag_fold(trl_tree_training *j, size_t fold, const trl_buf *bytes, trl_error *err)
{
    trl_word_tagger tagger = {0};
    trl_tag_finder finder = {0};
    trl_status st = trl_tree_training_fold_tagger(j, bytes, &tagger, err);
    for (size_t k = 0; st == TRL_OK && k < j->trees.n; k++) {
        const trl_tree *t = &j->trees.tree[k];
        if (!in_fold(j, k, fold))
            continue;
        st = trl_tag_find(&finder, &tagger, &(trl_words){t->word, t->n_words}, err);
        if (st == TRL_OK)
            st = keep_tags(j, k, &finder, err);
    }
    trl_tag_finder_fini(&finder);
    trl_word_tagger_fini(&tagger);
    return st;
}

/* The first job, the longest, learns the tagger of the model; those after it tag a fold each. */
static trl_status run_fold(void *ctx, size_t job, size_t worker, trl_error *err)
{
    tagging *x = ctx;
    trl_tree_taggers *own = &x->j->taggers;
    (void)worker;
    if (job == 0)
        return learn(x, FOLDS, &own->all, err);
    const size_t fold = job - 1;
    trl_status st = learn(x, fold, &own->fold[fold], err);
    if (st == TRL_OK)
        st = tag_fold(x->j, fold, &own->fold[fold], err);
    if (!trl_tree_taggers_are_kept(x->j->o))
        trl_buf_fini(&own->fold[fold]);
    return st;
}

/* The fold of every tree that was read; a tree that was left out is in that of the one before. */
static trl_status keep_folds(trl_tree_training *j, trl_error *err)
{
    trl_tree_taggers *own = &j->taggers;
    const trl_tree_set *s = &j->trees;
    if (!trl_tree_taggers_are_kept(j->o))
        return TRL_OK;
    own->fold_of = trl_zalloc(s->n_read + 1, sizeof *own->fold_of);
    if (!own->fold_of)
        return trl_fail_mem(err);
    own->read = s->n_read;
    for (size_t k = 0; k < s->n; k++) {
        const uint64_t end = k + 1 < s->n ? s->place[k + 1] : s->n_read;
        for (uint64_t r = s->place[k]; r < end && r < s->n_read; r++)
            own->fold_of[r] = (uint8_t)(k * FOLDS / s->n);
    }
    return TRL_OK;
}

/* ---- the stage ------------------------------------------------------------------------------- */

trl_status trl_tree_training_tagger(trl_tree_training *j, trl_error *err)
{
    tagging x = {j, j->model.clusters.view.name.n > 0};
    char note[96];
    if (!j->tagger || j->trees.n < LEAST_TREES)
        return TRL_OK;
    j->tags = trl_zalloc(j->trees.n, sizeof *j->tags);
    trl_status st =
        j->tags ? trl_pool_run(j->pool, FOLDS + 1, run_fold, &x, err) : trl_fail_mem(err);
    if (st == TRL_OK)
        st = keep_folds(j, err);
    if (st == TRL_OK)
        st = trl_tree_training_fold_tagger(j, &j->taggers.all, &j->model.tagger, err);
    if (st != TRL_OK)
        return st;
    snprintf(note, sizeof note, "tagger of %zu tags, and %d of parts of the trees",
             j->model.tagger.n_labels, FOLDS);
    trl_tree_training_report(j, "tagger", note);
    return TRL_OK;
}

void trl_tree_training_tagger_fini(trl_tree_training *j)
{
    for (size_t k = 0; j->tags && k < j->trees.n; k++)
        trl_free((void *)(uintptr_t)j->tags[k].tag);
    trl_free(j->tags);
    trl_free(j->taggers.fold_of);
    trl_buf_fini(&j->taggers.all);
    for (size_t k = 0; k < FOLDS; k++)
        trl_buf_fini(&j->taggers.fold[k]);
}
