/* tree_local_bank.h -- a bank of trees for tests of local objectives. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_LOCAL_BANK_H
#define TREE_LOCAL_BANK_H

#include "tree_bank.h"

/* Places of all sorts but splits. */
static const char several[] = "tag here.word\nbase-tag here-1.class\n"
                              "parent first.form last.form\nparent length\n"
                              "base-parent first.tag\nbase-parent after.tag\n"
                              "base-parent inside.tag inside+1.tag\n"
                              "rule first.class\nbase-rule last.form\n"
                              "unary first.word\nbase-unary last.tag short\nunary-parent length\n";

static const struct {
    const char *name;
    trl_annotation a;
    bool relaxed;
} models[] = {{"local", {true, false, true, 1}, false},
              {"local", {false, false, false, 0}, false},
              {NULL, {true, true, false, 2}, true}};
#define N_MODELS 3

/* Model k and n examples, every `step`th of those with at most max_words. */
static inline void open_short(bank *b, size_t k, size_t n, size_t step, size_t max_words)
{
    bank_open(b, models[k].name ? trl_tree_template_text(models[k].name) : several, models[k].a,
              models[k].relaxed, max_words, n, step);
    b->m.scoring = TRL_SCORING_LOCAL;
    b->m.features.w = b->w;
    trl_error err;
    assert_ok(trl_tree_model_index_rules(&b->m, &err));
}

static inline void open_model(bank *b, size_t k, size_t n, size_t step)
{
    open_short(b, k, n, step, 12);
}

static void open_task(bank *b, trl_tree_task *t, const trl_objective *o, size_t threads)
{
    trl_error err;
    assert_ok(trl_tree_task_init(t, o, &b->m.features, &(trl_task_examples){b->example, b->n},
                                 threads, &err));
    assert_ok(trl_tree_task_local(t, &b->m.expansions, &b->m.lists, &err));
}

static double loss_of(trl_tree_task *t, const double *w, size_t e)
{
    trl_error err;
    double loss;
    assert_ok(t->sparse.prepare(t, w, &err));
    assert_ok(t->sparse.evaluate(t, e, 0, &loss, NULL, &err));
    return loss;
}

/* ---- the plain twin ------------------------------------------------------------------------- */

/* Features of families for `what` (binary or unary rules) on a part, one by one. */
static inline double plain_features(const bank *b, int what, trl_tree_part p, const trl_seen *seen)
{
    const trl_tree_features *f = &b->m.features;
    double sum = 0.0;
    for (size_t k = 0; k < f->t->n; k++) {
        const trl_tree_family *fam = &f->t->family[k];
        const int is = fam->part >= TRL_PART_UNARY ? TRL_CHOOSE_UNARY : TRL_CHOOSE_BINARY;
        if (is != what || fam->part <= TRL_PART_TAG_PARENT)
            continue;
        const bool inside = fam->n && fam->observation[0].place == TRL_PLACE_INSIDE;
        for (size_t at = p.i; at < (inside ? p.j - fam->width + 1 : p.i + 1); at++) {
            p.k = inside ? at : 0;
            const uint64_t key = trl_tree_part_key(f, k, &p, seen);
            const uint32_t id = key ? trl_tree_index_find(&f->index, key) : TRL_NO_ID;
            sum += id == TRL_NO_ID ? 0.0 : b->w[f->n_direct + id];
        }
    }
    return sum;
}

/* phi of everything that `state` can choose, added up; *gold: of the rule chosen. */
static inline double plain_sum(const bank *b, uint32_t state, size_t i, size_t j, int what,
                               uint32_t rule, const trl_seen *seen, double *gold)
{
    const trl_grammar *g = &b->m.fine;
    const size_t p0 = g->n_binary, u0 = p0 + g->n_plain_binary, q0 = u0 + g->n_unary;
    double sum = 0.0;
    for (uint32_t r = 0; r < g->n_binary; r++) {
        if (g->binary[r].parent != state)
            continue;
        const double phi =
            exp(b->w[r] + b->w[p0 + g->binary[r].plain] +
                plain_features(b, TRL_CHOOSE_BINARY, (trl_tree_part){r, state, i, i, j}, seen));
        sum += phi;
        *gold = what == TRL_CHOOSE_BINARY && r == rule ? phi : *gold;
    }
    for (uint32_t u = 0; u < g->n_unary; u++) {
        if (g->unary[u].parent != state)
            continue;
        const double phi =
            exp(b->w[u0 + u] + b->w[q0 + g->unary[u].plain] +
                plain_features(b, TRL_CHOOSE_UNARY, (trl_tree_part){u, state, i, i, j}, seen));
        sum += phi;
        *gold = what == TRL_CHOOSE_UNARY && u == rule ? phi : *gold;
    }
    return sum;
}

static inline double plain_tree(const bank *b, const trl_btree *tree, const trl_seen *seen,
                                bool nota)
{
    double loss = 0.0;
    for (size_t x = 0; x < tree->n; x++) {
        const trl_bnode *n = &tree->node[x];
        double gold = 0.0;
        if (n->left == TRL_NO_NODE)
            continue;
        const double z = plain_sum(b, n->state, n->from, n->to,
                                   n->right == TRL_NO_NODE ? TRL_CHOOSE_UNARY : TRL_CHOOSE_BINARY,
                                   n->rule, seen, &gold);
        loss -= log(gold / (z + (nota ? 1.0 : 0.0)));
    }
    return loss;
}

/* log p(word | tag) of a tree's words by the lexicon. */
static inline double plain_words(const bank *b, const trl_btree *tree, const trl_str *word)
{
    uint32_t tag[2000];
    double logp[2000], sum = 0.0;
    const trl_lexicon *x = &b->m.lexicon;
    assert_true(b->m.fine.n_states <= 2000);
    for (size_t k = 0; k < tree->n; k++) {
        const trl_bnode *n = &tree->node[k];
        if (n->left != TRL_NO_NODE)
            continue;
        const trl_str w = word[n->from];
        const size_t tags = trl_lexicon_tags(x, &b->m.fine, trl_lexicon_word(x, w),
                                             trl_lexicon_class(x, w, n->from), tag, logp);
        size_t at = 0;
        while (at < tags && tag[at] != n->state)
            at++;
        assert_true(at < tags);
        sum += logp[at];
    }
    return sum;
}

#endif
