/* tree_tagger.c -- taggers learnt from treebanks. */
/* SPDX-License-Identifier: MIT */
#include "train_search/tree_tagger.h"

#include "base/fail.h"
#include "base/mem.h"
#include "train_chain/tag_lesson.h"
#include "trellis/tagger.h"

static trl_status make_rows(void *ctx, const trl_tree *t, const trl_str *tag, trl_rows *out,
                            trl_error *err)
{
    return trl_tag_words_make(ctx, t->word, tag, t->n_words, out, err);
}

trl_status trl_tree_tagger_train(const trl_tree_tagger_source *s, size_t folds, size_t fold,
                                 trl_buf *out, trl_error *err)
{
    trl_buf template = {0};
    trl_tag_words words = {.names = &s->model->names};
    const trl_tag_lesson lesson = {.trees = s->trees,
                                   .folds = folds,
                                   .fold = fold,
                                   .rows = make_rows,
                                   .ctx = &words,
                                   .template = &template,
                                   .from = s->o};
    const trl_train_options how = {.objective = "memm",
                                   .max_iter = 60,
                                   .epsilon = 1e-4,
                                   .period = 5,
                                   .delta = 1e-3,
                                   .threads = s->o->threads};
    trl_tag_words_template(&s->model->names, &template);
    const trl_status st = trl_tag_lesson_learn(&lesson, how, out, err);
    trl_tag_words_fini(&words);
    trl_buf_fini(&template);
    return st;
}

/* tag[k] = the label of names that the tagger's choice for word k has. */
static trl_status tag_sentence(const trl_strtab *labels, const trl_model *tagger, trl_tagger *t,
                               const trl_rows *seq, uint32_t *tag, trl_error *err)
{
    double score;
    trl_status st = trl_tagger_set_rows(t, seq, err);
    uint32_t *best = trl_alloc(seq->n_tokens + 1, sizeof *best);
    if (st == TRL_OK)
        st = best ? trl_tagger_viterbi(t, best, &score, err) : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < seq->n_tokens; k++) {
        const trl_str name = trl_model_label(tagger, best[k]);
        const uint32_t id = trl_strtab_find(labels, name.p, name.n);
        tag[k] = id == TRL_NO_ID ? tag[k] : id;
    }
    trl_free(best);
    return st;
}

trl_status trl_tree_tagger_apply(const trl_tree_tagger_source *s, const trl_model *tagger,
                                 size_t folds, size_t fold, uint32_t *const *tag, trl_error *err)
{
    trl_tag_words words = {.names = &s->model->names};
    trl_tagger *t = NULL;
    trl_status st = trl_tagger_new(tagger, &t, err);
    for (size_t k = 0; st == TRL_OK && k < s->trees->n; k++) {
        const trl_tree *tree = &s->trees->tree[k];
        trl_rows seq;
        if (s->use[k] == TRL_TREE_TAGS || (folds && !trl_tree_in_fold(k, s->trees->n, folds, fold)))
            continue;
        st = trl_tag_words_make(&words, tree->word, NULL, tree->n_words, &seq, err);
        if (st == TRL_OK)
            st = tag_sentence(&s->model->names.labels, tagger, t, &seq, tag[k], err);
    }
    trl_tagger_free(t);
    trl_tag_words_fini(&words);
    return st;
}
