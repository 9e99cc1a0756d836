/* tree_clusters.c -- clusters for the observer. */
/* SPDX-License-Identifier: MIT */
#include "parser/tree_clusters.h"

#include "base/fail.h"
#include "base/mem.h"
#include "cluster/brown.h"
#include "model/clusters_io.h"

/* The first `bits` of a path as a number, with a 1 before them; 0 when it is not a path. */
static uint32_t prefix_of(trl_str path, size_t bits)
{
    uint32_t x = 1;
    for (size_t k = 0; k < path.n && k < bits; k++) {
        if (path.p[k] != '0' && path.p[k] != '1')
            return 0;
        x = x << 1 | (path.p[k] == '1');
    }
    return x;
}

static trl_status index_prefixes(trl_tree_clusters *c, trl_error *err)
{
    static const size_t bits[2] = {4, 6};
    const size_t n = c->view.name.n;
    for (int k = 0; k < 2; k++) {
        c->prefix[k] = trl_zalloc(n + 1, sizeof *c->prefix[k]);
        if (!c->prefix[k]) {
            trl_tree_clusters_fini(c);
            return trl_fail_mem(err);
        }
        for (uint32_t id = 0; id < n; id++)
            c->prefix[k][id + 1] = prefix_of(trl_strview_get(&c->view.name, id), bits[k]);
    }
    return TRL_OK;
}

trl_status trl_tree_clusters_read(trl_tree_clusters *c, const char *path, trl_error *err)
{
    const trl_status st = trl_clusters_open(path, TRL_CLUSTERS_GUESS, 0, &c->owned, err);
    if (st != TRL_OK)
        return st;
    c->view = trl_clusters_view(c->owned);
    return index_prefixes(c, err);
}

/* ---- from the trees themselves --------------------------------------------------------------- */

#define LEAST_COUNT 2
#define MOST_CLUSTERS 400
#define WORDS_PER_CLUSTER 8 /* distinct ones, at least */

static trl_status take_over(trl_tree_clusters *c, const trl_bigrams *b, const trl_brown *r,
                            trl_error *err)
{
    trl_status st = trl_clusters_new(&c->owned, err);
    for (uint32_t w = 0; st == TRL_OK && w < b->word.n; w++) {
        bool twice;
        st = trl_clusters_add(c->owned, trl_strtab_get(&b->word, w), r->path[r->cluster[w]], &twice,
                              err);
    }
    if (st == TRL_OK) {
        c->view = trl_clusters_view(c->owned);
        st = index_prefixes(c, err);
    }
    return st;
}

/* As trl_brown_run's progress: nothing is shown, but it can be cancelled. */
static bool is_cancelled(void *pool, bool tree, size_t done, size_t total, double work)
{
    (void)tree, (void)done, (void)total, (void)work;
    return trl_pool_check(pool, NULL) != TRL_OK;
}

/* Words of trees and of raw text, each once, and their neighbours. */
static trl_status count_words(trl_bigrams *b, const trl_tree_set *trees, const char *raw_text,
                              trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < trees->n - trees->n_raw; k++)
        st = trl_bigrams_add(b, trees->tree[k].word, trees->tree[k].n_words, err);
    if (st != TRL_OK || !raw_text)
        return st;
    trl_input *in = NULL;
    st = trl_input_open(raw_text, &in, err);
    if (st == TRL_OK)
        st = trl_bigrams_text(b, in, err);
    trl_input_free(in);
    return st;
}

trl_status trl_tree_clusters_make(trl_tree_clusters *c, const trl_tree_set *trees,
                                  const char *raw_text, trl_pool *pool, trl_error *err)
{
    trl_bigrams b = {0};
    trl_brown r = {0};
    trl_status st = count_words(&b, trees, raw_text, err);
    if (st == TRL_OK && b.tokens < TRL_CLUSTERS_LEAST_WORDS) {
        trl_bigrams_fini(&b);
        return TRL_OK;
    }
    const bool counted = st == TRL_OK;
    if (counted)
        st = trl_bigrams_finish(&b, LEAST_COUNT, err);
    const size_t n = counted ? b.word.n / WORDS_PER_CLUSTER : 0;
    if (counted && (st == TRL_EINVAL || (st == TRL_OK && n < 2))) { /* no pairs, or hardly any */
        trl_bigrams_fini(&b);
        return TRL_OK;
    }
    if (st == TRL_OK)
        st = trl_brown_run(&b, n < MOST_CLUSTERS ? n : MOST_CLUSTERS, pool,
                           &(trl_brown_report){is_cancelled, pool}, &r, err);
    if (st == TRL_OK)
        st = take_over(c, &b, &r, err);
    trl_brown_fini(&r);
    trl_bigrams_fini(&b);
    if (st != TRL_OK)
        trl_tree_clusters_fini(c);
    return st;
}

trl_status trl_tree_clusters_load(trl_tree_clusters *c, const trl_container *from, trl_error *err)
{
    if (!trl_clusters_stored(from))
        return TRL_OK;
    const trl_status st = trl_cluster_view_load(from, &c->view, err);
    return st == TRL_OK ? index_prefixes(c, err) : st;
}

trl_status trl_tree_clusters_share(trl_tree_clusters *c, const trl_tree_clusters *from,
                                   trl_error *err)
{
    *c = (trl_tree_clusters){.view = from->view};
    return from->prefix[0] ? index_prefixes(c, err) : TRL_OK;
}

void trl_tree_clusters_fini(trl_tree_clusters *c)
{
    trl_clusters_free(c->owned);
    trl_free(c->prefix[0]);
    trl_free(c->prefix[1]);
    *c = (trl_tree_clusters){0};
}

void trl_tree_cluster_of(const void *clusters, trl_str word, uint32_t at[3])
{
    const trl_tree_clusters *c = clusters;
    const uint32_t id = trl_cluster_view_find(&c->view, word.p, word.n);
    at[0] = id;
    at[1] = id ? c->prefix[0][id] : 0;
    at[2] = id ? c->prefix[1][id] : 0;
}
