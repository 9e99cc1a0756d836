/* tag_lesson.c -- a tagger learnt from the tags of a treebank. */
/* SPDX-License-Identifier: MIT */
#include "train_chain/tag_lesson.h"

#include "base/fail.h"
#include "base/mem.h"
#include "train_chain/train_chain.h"

void trl_tree_read_tags(const trl_tree *t, trl_str *tag)
{
    for (uint32_t v = 0; v < t->n_nodes; v++)
        if (t->node[v].child == TRL_NO_NODE)
            tag[t->node[v].from] = trl_tree_label(t, v);
}

static trl_status fill_data(const trl_tag_lesson *l, trl_dataset *data, trl_error *err)
{
    trl_str *tag = NULL;
    size_t cap = 0;
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < l->trees->n; k++) {
        const trl_tree *t = &l->trees->tree[k];
        trl_rows seq;
        if (l->folds && trl_tree_in_fold(k, l->trees->n, l->folds, l->fold))
            continue;
        trl_str *grown = trl_reserve(tag, &cap, t->n_words, sizeof *tag);
        if (!grown) {
            st = trl_fail_mem(err);
            break;
        }
        tag = grown;
        trl_tree_read_tags(t, tag);
        st = l->rows(l->ctx, t, tag, &seq, err);
        if (st == TRL_OK)
            st = trl_dataset_add_rows(data, &seq, 1, NULL, err);
    }
    trl_free(tag);
    return st;
}

trl_status trl_tag_lesson_learn(const trl_tag_lesson *l, trl_train_options how, trl_buf *out,
                                trl_error *err)
{
    const trl_train_options *from = l->from;
    trl_dataset *data = NULL;
    trl_train_result result = {0};
    how.kind = "chain";
    how.template_name = "<tagger>";
    how.template_text = l->template->data;
    how.template_size = l->template->len;
    how.c2 = TRL_TAG_PENALTY;
    how.memory = 6;
    how.checkpoint_every = 10;
    how.seed = from->seed;
    how.grade = from->grade;
    how.annotate = from->annotate;
    how.clusters = from->clusters;
    how.model_out = out;
    how.cancelled = from->cancelled;
    how.cancelled_ctx = from->cancelled_ctx;
    trl_status st = l->template->failed ? trl_fail_mem(err) : trl_dataset_new(&data, err);
    if (st == TRL_OK)
        st = fill_data(l, data, err);
    how.data = data;
    if (st == TRL_OK)
        st = trl_train_chain(&how, &result, err);
    if (st == TRL_OK && result.stopped)
        st = trl_fail(err, TRL_ECANCEL, "stopped");
    trl_dataset_free(data);
    return st;
}
