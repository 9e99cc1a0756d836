/* merges.h -- the clusters that may be merged, and what each merge would cost.
 *
 * n(a,b) counts how often a word of cluster a stands before one of b, N is the number of all
 * word pairs, l(a) and r(a) are row and column sums.  With f(x) = x ln x the average mutual
 * information of adjacent clusters [Bro92, eq. 15] is
 *
 *     N I = sum_ab f(n(a,b)) - sum_a f(l(a)) - sum_b f(r(b)) + f(N)
 *
 * and merging a and b loses, with D(x,y) = f(x+y) - f(x) - f(y) (0 when x or y is 0),
 *
 *     N loss(a,b) = D(l_a, l_b) + D(r_a, r_b) - S(a,b) - K(a,b)
 *     S(a,b) = sum_k [ D(n(a,k), n(b,k)) + D(n(k,a), n(k,b)) ]         over all clusters k
 *     K(a,b) = f(sum of the four) - sum of f(each of the four) - the four terms of S
 *              with k = a, b,
 *
 * the four being n(a,a), n(a,b), n(b,a), n(b,b).  Words that are not yet in the window form one
 * more cluster, the rest, and the edges of sentences another; these two are never merged. So I is
 * the information of a partition of the whole text.
 *
 * S has a term only where both counts are positive.  When a context k is divided (a word
 * leaves the rest) or two are joined (a merge), z = p + q, S(a,b) changes by
 *
 *     H(a,b) = D(z_a, z_b) - D(p_a, p_b) - D(q_a, q_b) >= 0,   0 where q_a = q_b = 0:
 *
 * a word with d neighbouring clusters costs O(d C), not O(C^2); [Lia05, ch. 4] updates all
 * pairs.  All values are fixed-point (xlogx.h), all updates exact.
 *
 * [Bro92] Brown, Della Pietra, deSouza, Lai, Mercer. Class-based n-gram models of natural
 *         language. Computational Linguistics 18(4), 1992.
 * [Lia05] Liang. Semi-supervised learning for natural language. MEng thesis, MIT, 2005.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_MERGES_H
#define TRL_MERGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/pool.h"
#include "cluster/xlogx.h"

#define TRL_LOSS_NONE INT64_MAX

typedef struct trl_neighbour {
    uint32_t slot, count; /* count > 0 */
} trl_neighbour;

/* A word about to become a cluster.  Side 0: what follows it, side 1: what precedes it. */
typedef struct trl_newcomer {
    const trl_neighbour *near[2]; /* clusters of the window, each at most once, itself not */
    size_t n_near[2];
    uint32_t self;     /* how often it follows itself */
    uint32_t edge[2];  /* how often a sentence ends, or begins, with it */
    uint32_t total[2]; /* all its pairs on that side, including those with edges and the rest */
} trl_newcomer;

/* The values a context splits into (see H above), on one side. */
typedef struct trl_context {
    uint32_t *p, *q;                  /* [W] */
    size_t *below_plain, *below_both; /* [W] entries of the lists with a smaller slot */
    size_t n_plain, n_both;
    uint32_t *plain, *plain_p;                 /* slots with q = 0 < p, ascending; their p */
    uint32_t *both, *both_p, *both_q, *both_z; /* slots with q > 0 */
    int64_t *both_g, *both_h;                  /* f(p) - f(z), and f(p) + f(q) - f(z) */
} trl_context;

typedef struct trl_merges {
    size_t W, stride, words; /* slots; entries a row of n; 64-bit words a row of bits */
    trl_xlogx f;
    uint32_t *n[2];     /* [W][stride]: n[0][a][b] = n[1][b][a] = n(a,b) */
    uint64_t *bits[2];  /* [W][words]: where n is positive */
    uint32_t *rest[2];  /* [W]: pairs with words outside the window */
    uint32_t *edge[2];  /* [W]: with the edge of a sentence */
    uint32_t *total[2]; /* [W]: l, r */
    bool *active;       /* [W] */
    int64_t *loss;      /* loss(r,c) N, c < r, at r (r - 1) / 2 + c; NONE when not active */
    int64_t *best;      /* [W] the least loss of row r, or (stale) something below it */
    uint32_t *arg;      /* [W] its column, the first of equals */
    bool *stale;
    trl_context context[2];
    int64_t *row;      /* [words 64] S of one cluster with all others */
    uint32_t *list[2]; /* [W] contexts of the newcomer, or of what is merged in */
    trl_pool *pool;    /* borrowed; NULL: in the caller */
} trl_merges;

/* W slots, all empty; counts of pairs must add up to at most n_pairs.  Memory: about 13 W^2
 * bytes. TRL_EINVAL for W outside 1 .. 2^20, TRL_ENOMEM. */
trl_status trl_merges_new(size_t W, uint32_t n_pairs, trl_pool *pool, trl_merges **out,
                          trl_error *err);
void trl_merges_free(trl_merges *w); /* accepts NULL */

/* Puts a word into an empty slot without computing losses; trl_merges_start does that for all. */
void trl_merges_put(trl_merges *w, size_t slot, const trl_newcomer *x);
void trl_merges_start(trl_merges *w);

/* Puts a word into an empty slot and updates every loss. */
void trl_merges_add(trl_merges *w, size_t slot, const trl_newcomer *x);

/* The pair with the least loss, *c < *r; of equals the one with the smallest r, then c.
 * Returns the loss (times N, fixed-point); TRL_LOSS_NONE: fewer than two clusters. */
int64_t trl_merges_best(trl_merges *w, size_t *c, size_t *r);

/* Merges r into c (c < r, both active) and updates every loss; slot r is empty afterwards. */
void trl_merges_merge(trl_merges *w, size_t c, size_t r);

static inline int64_t *trl_merges_row(const trl_merges *w, size_t r)
{
    return w->loss + (r ? r * (r - 1) / 2 : 0);
}

/* ---- kernels (merges_kernel.c) --------------------------------------------------------------- */

/* acc[b] += D(to, y[b]) - D(from, y[b]) for the b in [b0, b1) that are among `bits`, which is
 * where y is positive; b0 is a multiple of 64. */
void trl_merges_accumulate(const trl_xlogx *f, const uint32_t *y, const uint64_t *bits, size_t b0,
                           size_t b1, uint32_t from, uint32_t to, int64_t *acc);

/* The same for every b in [b0, b1). */
void trl_merges_accumulate_all(const trl_xlogx *f, const uint32_t *y, size_t b0, size_t b1,
                               uint32_t from, uint32_t to, int64_t *acc);

/* loss(r, c) += sign H(r, c) for all c < r; best, arg and stale are kept. */
void trl_merges_split_row(trl_merges *w, const trl_context *x, size_t r, int64_t sign);

/* best, arg and stale of row r from its losses. */
void trl_merges_rescan(trl_merges *w, size_t r);

/* loss(r, c) has just become v. */
static inline void trl_merges_note(trl_merges *w, size_t r, uint32_t c, int64_t v)
{
    if (v < w->best[r]) {
        w->best[r] = v;
        w->arg[r] = c;
        w->stale[r] = false;
    } else if (c == w->arg[r]) {
        w->stale[r] |= v > w->best[r];
    } else if (v == w->best[r] && c < w->arg[r] && !w->stale[r]) {
        w->arg[r] = c;
    }
}

#endif
