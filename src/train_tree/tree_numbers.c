/* tree_numbers.c -- the features of the training trees, numbered by their first occurrence.
 *
 * A block of neighbouring trees lists each of its features once, in their order, by a small index
 * of its own: a job of a thread.  The lists, which are several times shorter than what they were
 * made of, are then added to the model's index, block by block: the numbers are those of one tree
 * after the other.
 */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "base/mem.h"
#include "parser/tree_features.h"
#include "train_tree/tree_training.h"

#define BLOCK 64  /* trees */
#define ROUND 128 /* blocks whose lists are in memory */
#define AHEAD 16  /* keys whose places are fetched before their turn */

typedef struct block {
    trl_tree_index own;
    uint64_t *key; /* [own.n] */
    size_t cap;
} block;

typedef struct numbering {
    const trl_tree_training *j;
    size_t first; /* block of the round */
    block block[ROUND];
} numbering;

static bool list_key(void *ctx, uint64_t key)
{
    block *b = ctx;
    const size_t n = b->own.n;
    if (trl_tree_index_add(&b->own, key) == TRL_NO_ID)
        return false;
    if (b->own.n == n)
        return true;
    uint64_t *grown = trl_reserve(b->key, &b->cap, n + 1, sizeof *grown);
    if (!grown)
        return false;
    b->key = grown;
    grown[n] = key;
    return true;
}

static trl_status list_block(void *ctx, size_t job, size_t worker, trl_error *err)
{
    numbering *x = ctx;
    (void)worker;
    const trl_tree_training *j = x->j;
    const size_t from = (x->first + job) * BLOCK;
    for (size_t k = from; k < from + BLOCK && k < j->n_examples; k++)
        if (!trl_tree_gold_keys(&j->model.features, &j->example[k].gold, &j->example[k].seen,
                                &(trl_key_sink){list_key, &x->block[job]}))
            return trl_fail_mem(err);
    return TRL_OK;
}

static bool add_list(trl_tree_index *to, const block *b)
{
    for (size_t k = 0; k < b->own.n; k++) {
        if (k + AHEAD < b->own.n)
            trl_tree_index_prefetch(to, b->key[k + AHEAD]);
        if (trl_tree_index_add(to, b->key[k]) == TRL_NO_ID)
            return false;
    }
    return true;
}

trl_status trl_tree_training_number(trl_tree_training *j, trl_error *err)
{
    const size_t blocks = (j->n_examples + BLOCK - 1) / BLOCK;
    numbering *x = trl_zalloc(1, sizeof *x);
    trl_status st = x ? TRL_OK : trl_fail_mem(err);
    for (size_t first = 0; st == TRL_OK && first < blocks; first += ROUND) {
        const size_t n = blocks - first < ROUND ? blocks - first : ROUND;
        x->j = j;
        x->first = first;
        st = trl_pool_run(j->pool, n, list_block, x, err);
        for (size_t b = 0; b < n; b++) {
            if (st == TRL_OK && !add_list(&j->model.features.index, &x->block[b]))
                st = trl_fail_mem(err);
            trl_tree_index_fini(&x->block[b].own);
            trl_free(x->block[b].key);
            x->block[b] = (block){0};
        }
    }
    trl_free(x);
    return st;
}
