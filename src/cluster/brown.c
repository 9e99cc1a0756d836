/* brown.c -- words through the window, one by one; then the tree. */
/* SPDX-License-Identifier: MIT */
#include "cluster/brown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "cluster/merges.h"

#define NO_SLOT UINT32_MAX

typedef struct run {
    const trl_bigrams *b;
    size_t C;
    trl_merges *w;
    uint32_t *parent;       /* [words] a union-find forest: the words of one cluster form a tree */
    uint32_t *slot_of;      /* [words] of a root's cluster; NO_SLOT: not in the window yet */
    uint32_t *root;         /* [W] the root of the cluster in a slot */
    uint32_t *gathered;     /* [W] counts by slot, all 0 between words */
    trl_neighbour *near[2]; /* [W] */

    uint32_t *node;       /* [W] the tree node of a slot */
    uint32_t (*child)[2]; /* [2 C - 1] lower slot's, other's; leaves come first */

    trl_brown_fn progress;
    void *progress_ctx;
    double work, all_work;
} run;

static uint32_t find_root(uint32_t *parent, uint32_t a)
{
    while (parent[a] != a)
        a = parent[a] = parent[parent[a]];
    return a;
}

/* ---- one word -------------------------------------------------------------------------------- */

/* The neighbours of a word by cluster. */
static size_t gather(run *u, int side, uint32_t word)
{
    const trl_bigrams *b = u->b;
    trl_neighbour *near = u->near[side];
    size_t n = 0;
    for (size_t i = b->begin[side][word]; i < b->begin[side][word + 1]; i++) {
        const trl_pair p = b->pair[side][i];
        const uint32_t slot = u->slot_of[find_root(u->parent, p.word)];
        if (slot == NO_SLOT)
            continue;
        if (u->gathered[slot] == 0)
            near[n++].slot = slot;
        u->gathered[slot] += p.count;
    }
    for (size_t i = 0; i < n; i++) {
        near[i].count = u->gathered[near[i].slot];
        u->gathered[near[i].slot] = 0;
    }
    return n;
}

static trl_newcomer newcomer(run *u, uint32_t word)
{
    trl_newcomer x = {.self = u->b->self[word]};
    for (int s = 0; s < 2; s++) {
        x.near[s] = u->near[s];
        x.n_near[s] = gather(u, s, word);
        x.edge[s] = u->b->edge[s][word];
        x.total[s] = u->b->total[s][word];
    }
    return x;
}

static void settle(run *u, uint32_t word, uint32_t slot)
{
    u->slot_of[word] = slot;
    u->root[slot] = word;
}

static double work_of(const trl_bigrams *b, size_t word)
{
    double n = 32.0;
    for (int s = 0; s < 2; s++)
        n += (double)(b->begin[s][word + 1] - b->begin[s][word]);
    return n;
}

static trl_status tell(run *u, bool tree, size_t done, size_t total, trl_error *err)
{
    if (u->progress && u->progress(u->progress_ctx, tree, done, total, u->work / u->all_work))
        return trl_fail(err, TRL_ECANCEL, "stopped");
    return TRL_OK;
}

static trl_status cluster_words(run *u, trl_error *err)
{
    const size_t V = u->b->word.n;
    trl_newcomer x;
    for (uint32_t a = 0; a < u->C; a++) {
        x = newcomer(u, a);
        trl_merges_put(u->w, a, &x);
        settle(u, a, a);
    }
    trl_merges_start(u->w);
    trl_status st = tell(u, false, u->C, V, err);
    uint32_t slot = (uint32_t)u->C;
    for (uint32_t a = (uint32_t)u->C; st == TRL_OK && a < V; a++) {
        x = newcomer(u, a);
        trl_merges_add(u->w, slot, &x);
        settle(u, a, slot);
        size_t c, r;
        trl_merges_best(u->w, &c, &r);
        trl_merges_merge(u->w, c, r);
        u->parent[u->root[r]] = u->root[c];
        slot = (uint32_t)r;
        u->work += work_of(u->b, a);
        st = tell(u, false, a + 1, V, err);
    }
    return st;
}

/* ---- information ----------------------------------------------------------------------------- */

/* f(N) - sum f(l) - sum f(r) over words or clusters and the edge, and the edge's own pairs. */
static int64_t margins(const trl_xlogx *f, size_t n, uint32_t *const total[2],
                       uint32_t *const edge[2], uint32_t pairs)
{
    int64_t sum = trl_xlogx_at(f, pairs);
    for (int s = 0; s < 2; s++) {
        uint32_t edges = 0;
        for (size_t a = 0; a < n; a++) {
            sum += trl_xlogx_at(f, edge[s][a]) - trl_xlogx_at(f, total[s][a]);
            edges += edge[s][a];
        }
        sum -= trl_xlogx_at(f, edges);
    }
    return sum;
}

static void measure(const run *u, trl_brown *out)
{
    const trl_bigrams *b = u->b;
    const trl_merges *w = u->w;
    const trl_xlogx *f = &w->f;
    const uint32_t N = (uint32_t)b->n_pairs;
    int64_t clusters = margins(f, w->W, w->total, w->edge, N),
            words = margins(f, b->word.n, b->total, b->edge, N);
    for (size_t a = 0; a < w->W; a++)
        for (size_t k = 0; k < w->W; k++)
            clusters += trl_xlogx_at(f, w->n[0][a * w->stride + k]);
    for (size_t a = 0; a < b->word.n; a++)
        words += trl_xlogx_at(f, b->self[a]);
    for (size_t i = 0; i < b->begin[0][b->word.n]; i++)
        words += trl_xlogx_at(f, b->pair[0][i].count);
    const double unit = f->scale * (double)N * log(2.0);
    out->information = (double)clusters / unit;
    out->word_information = (double)words / unit;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static trl_status merge_all(run *u, trl_error *err)
{
    uint32_t next = 0;
    for (size_t a = 0; a < u->w->W; a++)
        if (u->w->active[a])
            u->node[a] = next++;
    const double each = next > 1 ? (u->all_work - u->work) / (double)(next - 1) : 0.0;
    trl_status st = TRL_OK;
    for (size_t k = 1; st == TRL_OK && k < u->C; k++) {
        size_t c, r;
        trl_merges_best(u->w, &c, &r);
        trl_merges_merge(u->w, c, r);
        u->child[next][0] = u->node[c];
        u->child[next][1] = u->node[r];
        u->node[c] = next++;
        u->work += each;
        st = tell(u, true, k, u->C - 1, err);
    }
    return st;
}

typedef struct leaf {
    uint32_t node;
    size_t at, len; /* of its path */
    const trl_buf *paths;
} leaf;

static int by_path(const void *x, const void *y)
{
    const leaf *a = x, *b = y;
    const size_t n = a->len < b->len ? a->len : b->len;
    const int d = memcmp(a->paths->data + a->at, b->paths->data + b->at, n);
    return d ? d : (a->len > b->len) - (a->len < b->len);
}

/* Paths of all nodes, from the root (the last one) down; children are older than their parent. */
static bool name_nodes(const run *u, leaf *node, trl_buf *paths)
{
    const size_t n = 2 * u->C - 1;
    node[n - 1] = (leaf){(uint32_t)n - 1, 0, 0, paths};
    for (size_t i = n; i-- > u->C && !paths->failed;)
        for (int k = 0; k < 2; k++) {
            const uint32_t child = u->child[i][k];
            const size_t at = paths->len, len = node[i].len;
            for (size_t j = 0; j < len && !paths->failed; j++)
                trl_buf_ch(paths, paths->data[node[i].at + j]);
            trl_buf_ch(paths, k ? '1' : '0');
            node[child] = (leaf){child, at, len + 1, paths};
        }
    if (u->C == 1) {
        trl_buf_ch(paths, '0');
        node[0].len = 1;
    }
    return !paths->failed;
}

/* leaf_slot[i]: the slot whose cluster is leaf i (before the tree was built). */
static trl_status name_clusters(run *u, const uint32_t *leaf_of_slot, trl_brown *out,
                                trl_error *err)
{
    const size_t V = u->b->word.n;
    leaf *node = trl_alloc(2 * u->C - 1, sizeof *node);
    uint32_t *rank = trl_alloc(u->C, sizeof *rank);
    out->path = trl_alloc(u->C, sizeof *out->path);
    out->cluster = trl_alloc(V, sizeof *out->cluster);
    trl_status st = TRL_OK;
    if (!node || !rank || !out->path || !out->cluster || !name_nodes(u, node, &out->paths)) {
        st = trl_fail_mem(err);
        goto done;
    }
    qsort(node, u->C, sizeof *node, by_path);
    for (size_t i = 0; i < u->C; i++) {
        rank[node[i].node] = (uint32_t)i;
        out->path[i] = (trl_str){out->paths.data + node[i].at, node[i].len};
    }
    for (uint32_t a = 0; a < V; a++)
        out->cluster[a] = rank[leaf_of_slot[u->slot_of[find_root(u->parent, a)]]];
    out->C = u->C;
done:
    trl_free(node);
    trl_free(rank);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

void trl_brown_fini(trl_brown *r)
{
    trl_free(r->cluster);
    trl_free(r->path);
    trl_buf_fini(&r->paths);
    *r = (trl_brown){0};
}

static trl_status run_init(run *u, trl_pool *pool, trl_error *err)
{
    const size_t V = u->b->word.n, W = V > u->C ? u->C + 1 : u->C;
    u->parent = trl_alloc(V, sizeof *u->parent);
    u->slot_of = trl_alloc(V, sizeof *u->slot_of);
    u->root = trl_alloc(W, sizeof *u->root);
    u->gathered = trl_zalloc(W, sizeof *u->gathered);
    u->node = trl_zalloc(W, sizeof *u->node);
    u->child = trl_alloc(2 * u->C - 1, sizeof *u->child);
    for (int s = 0; s < 2; s++)
        u->near[s] = trl_alloc(W, sizeof *u->near[s]);
    if (!u->parent || !u->slot_of || !u->root || !u->gathered || !u->node || !u->child ||
        !u->near[0] || !u->near[1])
        return trl_fail_mem(err);
    u->all_work = 1.0;
    for (uint32_t a = 0; a < V; a++) {
        u->parent[a] = a;
        u->slot_of[a] = NO_SLOT;
        u->all_work += a >= u->C ? work_of(u->b, a) : 0.0;
    }
    u->all_work += 100.0 * (double)u->C;
    return trl_merges_new(W, (uint32_t)u->b->n_pairs, pool, &u->w, err);
}

static void run_fini(run *u)
{
    trl_free(u->parent);
    trl_free(u->slot_of);
    trl_free(u->root);
    trl_free(u->gathered);
    trl_free(u->node);
    trl_free(u->child);
    trl_free(u->near[0]);
    trl_free(u->near[1]);
    trl_merges_free(u->w);
}

trl_status trl_brown_run(const trl_bigrams *b, size_t C, trl_pool *pool,
                         const trl_brown_report *report, trl_brown *out, trl_error *err)
{
    run u = {.b = b,
             .C = C < b->word.n ? C : b->word.n,
             .progress = report->progress,
             .progress_ctx = report->progress_ctx};
    uint32_t *leaf_of_slot = NULL;
    *out = (trl_brown){0};
    trl_status st = run_init(&u, pool, err);
    if (st == TRL_OK)
        st = cluster_words(&u, err);
    if (st != TRL_OK)
        goto done;
    measure(&u, out);
    leaf_of_slot = trl_zalloc(u.w->W, sizeof *leaf_of_slot);
    if (!leaf_of_slot) {
        st = trl_fail_mem(err);
        goto done;
    }
    for (uint32_t a = 0, next = 0; a < u.w->W; a++)
        leaf_of_slot[a] = u.w->active[a] ? next++ : 0;
    if ((st = merge_all(&u, err)) == TRL_OK)
        st = name_clusters(&u, leaf_of_slot, out, err);
done:
    trl_free(leaf_of_slot);
    run_fini(&u);
    if (st != TRL_OK)
        trl_brown_fini(out);
    return st;
}
