/* tree_bank.h -- tree models of the sample treebank, their examples and random weights. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TREE_BANK_H
#define TRL_TEST_TREE_BANK_H

#include "support.h"

#include "base/mem.h"
#include "base/rng.h"
#include "parser/tree_features.h"
#include "parser/tree_model.h"
#include "train/objectives.h"
#include "train_tree/tree_task.h"

typedef struct bank {
    trl_tree_set trees;
    trl_head_rules *heads;
    trl_tree_model m;
    trl_tree_example *example;
    size_t *tree_of; /* [n]: the tree of an example */
    size_t n;
    double *w;
} bank;

/* Clusters for tests: by length and first byte. */
static inline void toy_cluster(const void *self, trl_str w, uint32_t at[3])
{
    (void)self;
    at[0] = 1 + (uint32_t)(w.n % 5) * 4 + (unsigned char)w.p[0] % 4;
    at[1] = 1 + (uint32_t)(w.n % 5);
    at[2] = w.n > 7 ? 0 : 1 + (uint32_t)(w.n % 5) * 2 + (unsigned char)w.p[0] % 2;
}

/* Examples of trees `from`, `from` + step, ... until there are n, the features of all indexed. */
static inline void bank_open(bank *b, const char *text, trl_annotation a, bool relaxed,
                             size_t max_length, size_t n, size_t step)
{
    trl_error err;
    *b = (bank){0};
    const char *dir = getenv("TRELLIS_CORPUS");
    char path[1024];
    snprintf(path, sizeof path, "%s/sample.mrg", dir && *dir ? dir : "corpus");
    assert_ok(trl_tree_set_read(&b->trees, path, max_length, &err));
    for (size_t k = 0; k < b->trees.n; k++)
        b->trees.tree[k].path = NULL; /* is ours */
    assert_ok(trl_head_rules_read(NULL, &b->heads, &err));
    const trl_tree_model_options o = {.grade = TRL_GRADE_FEATURES,
                                      .annotation = a,
                                      .licence = relaxed ? TRL_RULES_RELAXED : TRL_RULES_SEEN,
                                      .rare = 1,
                                      .frequent = 3,
                                      .threshold = 1e-4,
                                      .template_name = "test",
                                      .template_text = text,
                                      .template_size = strlen(text)};
    assert_ok(trl_tree_model_build(&b->m, &o, b->heads, &b->trees, &err));
    b->m.observer.cluster = toy_cluster;
    b->example = trl_zalloc(n, sizeof *b->example);
    b->tree_of = trl_zalloc(n, sizeof *b->tree_of);
    trl_arena arena = {0};
    for (size_t k = 0; k < b->trees.n && b->n < n; k += step) {
        const trl_tree *t = &b->trees.tree[k];
        trl_tree_example *e = &b->example[b->n];
        trl_skeleton s;
        bool known, complete;
        assert_ok(trl_grammar_encode(&b->m.fine, &(trl_encoded){b->heads, t, &b->trees.labels},
                                     &e->gold, &known, NULL, &err));
        assert_true(known);
        trl_observe(&b->m.observer, t->word, t->n_words, trl_alloc(trl_seen_size(t->n_words), 1),
                    &e->seen);
        trl_arena_reset(&arena);
        assert_ok(trl_tree_skeleton(
            &b->m,
            &(trl_pruned_sentence){
                t->word, t->n_words,
                &(trl_pruning){.threshold = 1e-4, .gold = &e->gold, .filter = true}},
            &s, &complete, &arena, &err));
        assert_true(complete);
        assert_ok(trl_skeleton_copy(&s, NULL, &e->s, &err));
        assert_ok(trl_tree_features_add(&b->m.features, &e->gold, &e->seen, &err));
        b->tree_of[b->n++] = k;
    }
    trl_arena_fini(&arena);
    b->w = trl_zalloc(trl_tree_weights(&b->m.features), sizeof *b->w);
    assert_non_null(b->w);
}

static inline void random_weights(bank *b, uint64_t seed, double width)
{
    trl_rng r = trl_rng_seed(seed);
    for (size_t k = 0; k < trl_tree_weights(&b->m.features); k++)
        b->w[k] = width * (2.0 * trl_rng_unit(&r) - 1.0);
}

static inline void bank_close(bank *b)
{
    for (size_t k = 0; k < b->n; k++)
        trl_tree_example_fini(&b->example[k]);
    trl_free(b->example);
    trl_free(b->tree_of);
    trl_free(b->w);
    trl_tree_model_fini(&b->m);
    trl_head_rules_free(b->heads);
    trl_tree_set_fini(&b->trees);
}

/* The score of a tree feature by feature. */
static inline double naive_score(const bank *b, const trl_btree *tree, const trl_seen *seen)
{
    const trl_tree_features *f = &b->m.features;
    const trl_grammar *g = f->g;
    const size_t p0 = g->n_binary, u0 = p0 + g->n_plain_binary, q0 = u0 + g->n_unary;
    double sum = 0.0;
    for (size_t x = 0; x < tree->n; x++) {
        const trl_bnode *n = &tree->node[x];
        const bool word = n->left == TRL_NO_NODE, unary = !word && n->right == TRL_NO_NODE;
        if (unary)
            sum += b->w[u0 + n->rule] + b->w[q0 + g->unary[n->rule].plain];
        else if (!word)
            sum += b->w[n->rule] + b->w[p0 + g->binary[n->rule].plain];
        for (size_t k = 0; k < f->t->n; k++) {
            const trl_tree_family *fam = &f->t->family[k];
            const bool for_word = fam->part <= TRL_PART_TAG_PARENT;
            const bool for_unary = fam->part >= TRL_PART_UNARY;
            if (for_word != word || for_unary != unary)
                continue;
            trl_tree_part p = {n->rule, n->state, n->from,
                               word || unary ? 0 : tree->node[n->right].from, n->to};
            const bool inside = fam->n && fam->observation[0].place == TRL_PLACE_INSIDE;
            for (size_t at = inside ? n->from : 0; at < (inside ? n->to : 1); at++) {
                size_t wide = 1;
                for (size_t s = 0; inside && s < fam->n; s++)
                    wide = (size_t)fam->observation[s].offset + 1 > wide
                               ? (size_t)fam->observation[s].offset + 1
                               : wide;
                if (inside && at + wide > n->to)
                    break;
                p.k = inside ? at : p.k;
                const uint64_t key = trl_tree_part_key(f, k, &p, seen);
                const uint32_t id = key ? trl_tree_index_find(&f->index, key) : TRL_NO_ID;
                sum += id == TRL_NO_ID ? 0.0 : b->w[f->n_direct + id];
            }
        }
    }
    return sum;
}

static inline const trl_objective *objective_of(trl_objective_id id)
{
    size_t k = 0;
    while (trl_objective_at(k) && trl_objective_at(k)->id != id)
        k++;
    return trl_objective_at(k);
}

#endif
