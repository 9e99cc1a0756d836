/* tree_tagger.c -- taggers learnt from treebanks. */
/* SPDX-License-Identifier: MIT */
#include "train_search/tree_tagger.h"

#include "base/fail.h"
#include "base/mem.h"
#include "train_chain/train_chain.h"
#include "trellis/tagger.h"

/* By cross-validation on the words of MASC up to 15 words: docs/results/boosting.md. */
#define PENALTY 0.25

static bool is_in(const trl_tree_tagger_source *s, size_t tree, size_t folds, size_t fold)
{
    return folds == 0 || tree * folds / s->trees->n == fold;
}

static void read_tags(const trl_tree *t, trl_str *tag)
{
    for (uint32_t v = 0; v < t->n_nodes; v++)
        if (t->node[v].child == TRL_NO_NODE)
            tag[t->node[v].from] = trl_tree_label(t, v);
}

static trl_status fill_data(const trl_tree_tagger_source *s, size_t folds, size_t fold,
                            trl_dataset *data, trl_error *err)
{
    trl_tag_words words = {.names = &s->model->names};
    trl_str *tag = NULL;
    size_t cap = 0;
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < s->trees->n; k++) {
        const trl_tree *t = &s->trees->tree[k];
        trl_rows seq;
        if (folds && is_in(s, k, folds, fold))
            continue;
        trl_str *grown = trl_reserve(tag, &cap, t->n_words, sizeof *tag);
        if (!grown) {
            st = trl_fail_mem(err);
            break;
        }
        tag = grown;
        read_tags(t, tag);
        st = trl_tag_words_make(&words, t->word, tag, t->n_words, &seq, err);
        if (st == TRL_OK)
            st = trl_dataset_add_rows(data, &seq, 1, NULL, err);
    }
    trl_tag_words_fini(&words);
    trl_free(tag);
    return st;
}

trl_status trl_tree_tagger_train(const trl_tree_tagger_source *s, size_t folds, size_t fold,
                                 trl_buf *out, trl_error *err)
{
    trl_dataset *data = NULL;
    trl_buf template = {0};
    trl_train_result result = {0};
    trl_tag_words_template(&s->model->names, &template);
    trl_train_options o = {.kind = "chain",
                           .template_name = "<tagger>",
                           .template_text = template.data,
                           .template_size = template.len,
                           .objective = "memm",
                           .c2 = PENALTY,
                           .max_iter = 60,
                           .epsilon = 1e-4,
                           .period = 5,
                           .delta = 1e-3,
                           .memory = 6,
                           .seed = s->o->seed,
                           .threads = s->o->threads,
                           .checkpoint_every = 10,
                           .grade = s->o->grade,
                           .annotate = s->o->annotate,
                           .clusters = s->o->clusters,
                           .model_out = out,
                           .cancelled = s->o->cancelled,
                           .cancelled_ctx = s->o->cancelled_ctx};
    trl_status st = template.failed ? trl_fail_mem(err) : trl_dataset_new(&data, err);
    if (st == TRL_OK)
        st = fill_data(s, folds, fold, data, err);
    o.data = data;
    if (st == TRL_OK)
        st = trl_train_chain(&o, &result, err);
    if (st == TRL_OK && result.stopped)
        st = trl_fail(err, TRL_ECANCEL, "stopped");
    trl_dataset_free(data);
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
        if (!is_in(s, k, folds, fold) || s->use[k] == TRL_TREE_TAGS)
            continue;
        st = trl_tag_words_make(&words, tree->word, NULL, tree->n_words, &seq, err);
        if (st == TRL_OK)
            st = tag_sentence(&s->model->names.labels, tagger, t, &seq, tag[k], err);
    }
    trl_tagger_free(t);
    trl_tag_words_fini(&words);
    return st;
}
