/* tree_warm_start.c -- the weights of another model to start from.
 *
 * Two models number states, rules and words differently.  What they share is the trees: every part
 * of a training tree has a feature of each family in both, so a weight is carried over from the
 * feature of the old model to that of the new one on the same part.
 */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "parser/tree_features.h"
#include "train_tree/tree_training.h"

/* One node of a tree in both models. */
typedef struct carrier {
    const trl_tree_model *old;
    const trl_tree_features *now;
    double *w;
    const trl_seen *old_seen, *now_seen;
    const trl_bnode *old_node;
    size_t family;
} carrier;

static bool carry_feature(void *ctx, const trl_tree_part *p)
{
    const carrier *c = ctx;
    const trl_tree_features *old = &c->old->features;
    trl_tree_part q = *p;
    q.rule = c->old_node->rule;
    q.state = c->old_node->state;
    const uint64_t to = trl_tree_part_key(c->now, c->family, p, c->now_seen);
    const uint64_t from = trl_tree_part_key(old, c->family, &q, c->old_seen);
    const uint32_t id = to ? trl_tree_index_find(&c->now->index, to) : TRL_NO_ID;
    const uint32_t had = from ? trl_tree_index_find(&old->index, from) : TRL_NO_ID;
    if (id != TRL_NO_ID && had != TRL_NO_ID)
        c->w[c->now->n_direct + id] = trl_tree_weight(old, had);
    return true;
}

/* The weights of a rule and of its plain class. */
static void carry_rule(const carrier *c, const trl_bnode *n)
{
    const trl_grammar *g = c->now->g, *h = &c->old->fine;
    const float *from = c->old->features.w32;
    if (n->left == TRL_NO_NODE)
        return;
    if (n->right != TRL_NO_NODE) {
        c->w[n->rule] = (double)from[c->old_node->rule];
        c->w[g->n_binary + g->binary[n->rule].plain] =
            (double)from[h->n_binary + h->binary[c->old_node->rule].plain];
        return;
    }
    const size_t u = g->n_binary + g->n_plain_binary, v = h->n_binary + h->n_plain_binary;
    c->w[u + n->rule] = (double)from[v + c->old_node->rule];
    c->w[u + g->n_unary + g->unary[n->rule].plain] =
        (double)from[v + h->n_unary + h->unary[c->old_node->rule].plain];
}

/* A tree that the old grammar cannot make has no weights to carry over. */
static trl_status carry_tree(carrier *c, const trl_tree_training *j, const trl_tree_example *e,
                             trl_btree *scratch, size_t *carried, trl_error *err)
{
    const trl_tree *t = &j->trees.tree[e->source];
    bool known;
    const trl_status st = trl_grammar_encode(
        &c->old->fine, &(trl_encoded){j->heads, t, &j->trees.labels}, scratch, &known, NULL, err);
    if (st != TRL_OK || !known || scratch->n != e->gold.n)
        return st;
    trl_seen seen;
    void *memory = trl_alloc(trl_seen_size(t->n_words), 1);
    if (!memory)
        return trl_fail_mem(err);
    trl_observe(&c->old->observer, t->word, t->n_words, memory, &seen);
    c->old_seen = &seen;
    c->now_seen = &e->seen;
    for (size_t x = 0; x < e->gold.n; x++) {
        const trl_bnode *n = &e->gold.node[x];
        c->old_node = &scratch->node[x];
        carry_rule(c, n);
        for (c->family = 0; c->family < c->now->t->n; c->family++)
            trl_tree_node_parts(c->now, c->family, n, trl_tree_node_part(&e->gold, x),
                                carry_feature, c);
    }
    ++*carried;
    trl_free(memory);
    return TRL_OK;
}

static trl_status check_fit(const trl_tree_training *j, const trl_tree_model *old,
                            const trl_container *c, trl_error *err)
{
    const trl_annotation *a = &old->fine.annotation, *b = &j->model.fine.annotation;
    const void *text = NULL;
    size_t n = 0;
    const char *wrong = NULL;
    trl_container_find(c, "template", &text, &n);
    if (old->grade == TRL_GRADE_GENERATIVE)
        wrong = "a generative grammar has no weights to start from";
    else if (a->parents != b->parents || a->tag_parents != b->tag_parents ||
             a->head_tags != b->head_tags || a->markov != b->markov)
        wrong = "its grammar is annotated in another way";
    else if (n != j->model_options.template_size ||
             (n && memcmp(text, j->model_options.template_text, n) != 0))
        wrong = "its template is another one";
    if (!wrong)
        return TRL_OK;
    const trl_status st = trl_fail(err, TRL_EINVAL, "%s", wrong);
    trl_fail_where(err, st, j->o->init, 0, 0);
    return trl_fail_hint(err, st, "give the options and the template that it was trained with");
}

static trl_status carry(trl_tree_training *j, const trl_tree_model *old, trl_error *err)
{
    carrier c = {.old = old, .now = &j->model.features, .w = j->w};
    trl_btree scratch = {0};
    size_t carried = 0, some = 0;
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < j->n_examples; k++)
        st = carry_tree(&c, j, &j->example[k], &scratch, &carried, err);
    trl_btree_fini(&scratch);
    if (st != TRL_OK)
        return st;
    const size_t n = trl_tree_weights(&j->model.features);
    for (size_t k = 0; k < n; k++)
        some += j->w[k] != 0.0;
    char note[120];
    snprintf(note, sizeof note,
             "%zu of %zu weights from the first model, which knows %zu of %zu trees", some, n,
             carried, j->n_examples);
    trl_tree_training_report(j, "init", note);
    return TRL_OK;
}

trl_status trl_tree_training_init(trl_tree_training *j, trl_error *err)
{
    trl_container *c = NULL;
    trl_status st = trl_container_open(j->o->init, "tree", &c, err);
    if (st != TRL_OK)
        return st;
    trl_tree_model *old = trl_zalloc(1, sizeof *old);
    st = old ? trl_tree_model_load(old, c, NULL, err) : trl_fail_mem(err);
    if (st == TRL_OK) {
        st = check_fit(j, old, c, err);
        if (st == TRL_OK)
            st = carry(j, old, err);
        trl_tree_model_fini(old);
    }
    trl_free(old);
    trl_container_free(c);
    return st;
}
