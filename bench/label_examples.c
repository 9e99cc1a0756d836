/* label_examples.c -- the examples of one label of a boosted parser, as text for any learner.
 *
 *     build/bench/label_examples LABEL LENGTH TREES HELD-OUT OUT HELD-OUT-OUT
 *
 * Writes an example a line, `1` or `0` and features `n:1`, ascending, from 1 on: every inference
 * that could follow a state of the derivation of a tree of at most LENGTH words; is an item with
 * LABEL right?  True tags; features that TREES do not have are dropped.
 */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "train_search/search_examples.h"

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "label_examples: %s\n", what);
    exit(1);
}

typedef struct bank {
    trl_tree_set trees;
    trl_search_model model;
    uint32_t *label, **tag;
    trl_tree_use *use;
} bank;

/* Phrase labels, then tags; words. */
static void name_all(bank *b)
{
    trl_search_names *names = &b->model.names;
    for (size_t k = 0; k < b->trees.labels.n; k++)
        b->label[k] = TRL_NO_ID;
    for (int tags = 0; tags < 2; tags++) {
        for (size_t k = 0; k < b->trees.n; k++)
            for (uint32_t v = 0; v < b->trees.tree[k].n_nodes; v++) {
                const trl_node *node = &b->trees.tree[k].node[v];
                if ((node->child == TRL_NO_NODE) != (tags == 1) ||
                    b->label[node->label] != TRL_NO_ID)
                    continue;
                b->label[node->label] =
                    trl_search_label(names, trl_tree_label(&b->trees.tree[k], v));
                must(b->label[node->label] != TRL_NO_ID, "out of memory");
            }
        if (tags == 0)
            names->n_phrases = names->labels.n;
    }
    for (size_t k = 0; k < b->trees.n; k++)
        for (size_t i = 0; b->use[k] == TRL_TREE_LEARN && i < b->trees.tree[k].n_words; i++) {
            const trl_str w = b->trees.tree[k].word[i];
            must(trl_strtab_add(&names->words, w.p, w.n) != TRL_NO_ID, "out of memory");
        }
}

static void take_tags(bank *b)
{
    for (size_t k = 0; k < b->trees.n; k++) {
        const trl_tree *t = &b->trees.tree[k];
        must((b->tag[k] = trl_alloc(t->n_words + 1, sizeof **b->tag)) != NULL, "out of memory");
        for (size_t v = 0; v < t->n_nodes; v++)
            if (t->node[v].child == TRL_NO_NODE)
                b->tag[k][t->node[v].from] = b->label[t->node[v].label];
    }
}

static void write_examples(const trl_search_examples *x, uint32_t label, const char *path)
{
    FILE *f = fopen(path, "w");
    must(f != NULL, "cannot write");
    const trl_boost_data *d = x->data;
    for (size_t i = 0; i < d->n; i++) {
        fputc(x->row[i].label == label ? '1' : '0', f);
        for (uint64_t k = trl_boost_begin(d->row_end, i); k < d->row_end[i]; k++)
            fprintf(f, " %u:1", (unsigned)d->id[k] + 1);
        fputc('\n', f);
    }
    must(fclose(f) == 0, "cannot write");
}

int main(int argc, char **argv)
{
    must(argc == 7, "LABEL LENGTH TREES HELD-OUT OUT HELD-OUT-OUT");
    trl_error err = {0};
    bank b = {0};
    const size_t most = (size_t)atol(argv[2]);
    must(trl_tree_set_read(&b.trees, argv[3], most, &err) == TRL_OK, err.msg);
    const size_t n_train = b.trees.n;
    must(trl_tree_set_read(&b.trees, argv[4], most, &err) == TRL_OK, err.msg);
    b.label = trl_alloc(b.trees.labels.n + 1, sizeof *b.label);
    b.tag = trl_zalloc(b.trees.n + 1, sizeof *b.tag);
    b.use = trl_alloc(b.trees.n + 1, sizeof *b.use);
    must(b.label && b.tag && b.use, "out of memory");
    for (size_t k = 0; k < b.trees.n; k++)
        b.use[k] = k < n_train ? TRL_TREE_LEARN : TRL_TREE_CHOOSE;
    const char *groups = trl_feature_groups_builtin();
    must(trl_feature_groups_parse("groups", (trl_str){groups, strlen(groups)}, &b.model.groups,
                                  &err) == TRL_OK &&
             trl_head_rules_read(NULL, &b.model.heads, &err) == TRL_OK,
         err.msg);
    name_all(&b);
    take_tags(&b);
    const uint32_t label = trl_strtab_find(&b.model.names.labels, argv[1], strlen(argv[1]));
    must(label < b.model.names.n_phrases, "no tree has the label");
    trl_search_examples train = {0}, held_out = {0};
    trl_search_source s = {.model = &b.model,
                           .trees = &b.trees,
                           .label = b.label,
                           .tag = (const uint32_t *const *)b.tag,
                           .use = b.use,
                           .want = TRL_TREE_LEARN,
                           .uniform = true,
                           .memory = (size_t)4000 << 20};
    must(trl_search_examples_make(&train, &s, &err) == TRL_OK, err.msg);
    s.want = TRL_TREE_CHOOSE;
    s.like = train.data;
    must(trl_search_examples_make(&held_out, &s, &err) == TRL_OK, err.msg);
    write_examples(&train, label, argv[5]);
    write_examples(&held_out, label, argv[6]);
    printf("%zu examples, %zu features, %.1f of them an example; %zu held out\n", train.data->n,
           train.data->n_features, (double)trl_boost_active(train.data) / (double)train.data->n,
           held_out.data->n);
    return 0;
}
