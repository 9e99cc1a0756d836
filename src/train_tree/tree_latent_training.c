/* tree_latent_training.c -- grammars with substates, beside the parser's own.
 *
 * They are learnt from the trees in the states of the coarse grammar, by themselves; in parsing
 * what they expect of constituents is averaged with what the parser does
 * (parser/latent_posteriors.h). Nothing of them is in checkpoints: a run that is resumed learns
 * them again, to the same bits.
 */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_tree/latent_em.h"
#include "train_tree/tree_training.h"

#define LEAST_TREES 500 /* of fewer they learn too little */

typedef struct encoding {
    const trl_tree_training *j;
    trl_latent_tree *tree; /* [trees]; without nodes where the grammar cannot make it */
    size_t n;              /* trees that it can */
} encoding;

static trl_status encode(void *ctx, size_t k, size_t worker, trl_error *err)
{
    const encoding *e = ctx;
    const trl_tree *t = &e->j->trees.tree[k];
    const trl_lexicon *x = &e->j->model.coarse_lexicon;
    trl_latent_tree *out = &e->tree[k];
    bool known;
    (void)worker;
    out->word = trl_alloc(2 * t->n_words + 1, sizeof *out->word);
    if (!out->word)
        return trl_fail_mem(err);
    out->class_ = out->word + t->n_words;
    for (size_t i = 0; i < t->n_words; i++) {
        out->word[i] = trl_lexicon_word(x, t->word[i]);
        out->class_[i] = trl_lexicon_class(x, t->word[i], i);
    }
    const trl_status st =
        trl_grammar_encode(&e->j->model.coarse, &(trl_encoded){NULL, t, &e->j->trees.labels},
                           &out->tree, &known, NULL, err);
    out->tree.n = known ? out->tree.n : 0;
    return st;
}

/* What a run says of itself: a line where substates have been split and learnt. */
typedef struct telling {
    const trl_tree_training *j;
    size_t number;
    unsigned iterations;
} telling;

static void tell(void *ctx, unsigned most, unsigned iteration, double log_likelihood)
{
    const telling *t = ctx;
    char note[120];
    if (iteration + 1 < t->iterations)
        return;
    snprintf(note, sizeof note, "grammar with substates %zu: up to %u, log-likelihood %.6g",
             t->number + 1, most, log_likelihood);
    (void)trl_tree_training_report(t->j, "latent", note); /* asked again while trees are counted */
}

static trl_status learn(trl_tree_training *j, const encoding *e, trl_error *err)
{
    trl_latent_options o = trl_latent_options_default();
    telling t = {j, 0, o.iterations};
    trl_status st = TRL_OK;
    o.tell = tell;
    o.ctx = &t;
    for (; st == TRL_OK && t.number < j->o->latent; t.number++) {
        o.seed = j->o->seed + t.number;
        st = trl_latent_learn(&j->model.latent[t.number], e->tree, e->n, &o, j->pool, err);
        j->model.n_latent += st == TRL_OK; /* where it failed there is nothing to release */
    }
    return st;
}

/* Trees that the grammar cannot make are left out, in order. */
static void keep_known(encoding *e, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (e->tree[k].tree.n == 0) {
            trl_latent_tree_fini(&e->tree[k]);
            continue;
        }
        if (e->n != k) {
            e->tree[e->n] = e->tree[k];
            e->tree[k] = (trl_latent_tree){0};
        }
        e->n++;
    }
}

trl_status trl_tree_training_latent(trl_tree_training *j, trl_error *err)
{
    encoding e = {.j = j};
    if (j->o->latent == 0 || !j->latent || j->trees.n < LEAST_TREES)
        return TRL_OK;
    e.tree = trl_zalloc(j->trees.n, sizeof *e.tree);
    trl_status st = e.tree ? trl_pool_run(j->pool, j->trees.n, encode, &e, err) : trl_fail_mem(err);
    if (st == TRL_OK) {
        keep_known(&e, j->trees.n);
        st = learn(j, &e, err);
    }
    for (size_t k = 0; e.tree && k < j->trees.n; k++)
        trl_latent_tree_fini(&e.tree[k]);
    trl_free(e.tree);
    return st;
}
