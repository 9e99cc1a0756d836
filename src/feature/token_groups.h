/* token_groups.h -- tokens reordered: those that have most attributes in common are adjacent.
 *
 * A locally normalised model looks at every token by itself, so that a pass may take them in any
 * order.  All attributes made of one word (itself, its affixes, its shape) are on together wherever
 * it stands: tokens with the same word form *groups*, the attributes they have in common are summed
 * once per group, and a token adds only its own (the words around it).  On the way back the group's
 * tokens are summed first.  This is exact; it only regroups sums.
 *
 *     score(token) = shared(group) + own(token)          adjoint(group) = sum over its tokens
 *
 * Which attributes are common is found from the corpus (token_groups_find.c); names only give the
 * slots (attribute_prefix.h).  Positions number tokens in the new order; groups are runs of
 * positions, and tokens that share nothing come last, in no group.  Everything works in single
 * precision.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TOKEN_GROUPS_H
#define TRL_TOKEN_GROUPS_H

#include "feature/implied_rows.h"

#define TRL_TOKEN_GROUPS_BATCH 64 /* tokens worked on at a time; no group has more */
#define TRL_TOKEN_GROUPS_ROWS                                                                      \
    96 /* rows of a batch's table: its tokens', and from row 64 on its groups' */

/* Occurrences, batch by batch: what is on, and where in the batch's table. */
typedef struct trl_token_groups_list {
    size_t n;
    uint32_t *what;
    uint16_t *at;
} trl_token_groups_list;

enum trl_token_groups_part {
    TRL_TOKEN_GROUPS_HOT_ROW,  /* what: hot row, or from n_hot on an extra one (implied_rows.h); at:
                                  row */
    TRL_TOKEN_GROUPS_COLD_ROW, /* what: row of the design; at: row */
    TRL_TOKEN_GROUPS_SINGLETON_ROW, /* the same, of attributes that are on at one token */
    TRL_TOKEN_GROUPS_HOT_ENTRY,     /* what: weight - entry_hot_at; at: cell of the table */
    TRL_TOKEN_GROUPS_ENTRY,         /* the same for entries that are not hot */
    TRL_TOKEN_GROUPS_PARTS
};

typedef struct trl_token_groups_batch {
    uint32_t position, group;               /* the first ones */
    uint32_t begin[TRL_TOKEN_GROUPS_PARTS]; /* in the lists */
} trl_token_groups_batch;

/* Adjoints of what is not hot are left in *streams*, one number (or row) for each element of its
 * list, and every weight picks up its own from there. */
typedef struct trl_token_groups {
    size_t n, n_groups; /* tokens; groups */
    uint32_t *token;    /* [n] the token at each position */
    uint32_t *first;    /* [n_groups + 1] first position of each group; the end of grouped ones */

    size_t n_batches;
    trl_token_groups_batch *batch; /* [n_batches + 1] */
    trl_token_groups_list list[TRL_TOKEN_GROUPS_PARTS];

    uint64_t *entry_begin; /* [entries that are not hot + 1] */
    uint32_t *entry_at;    /* places in the stream */
    trl_design
        rows; /* the design, but cold rows' tokens are places in the stream: for trl_scatter_cold */
    uint64_t *rows_begin;
    uint32_t *rows_at;
} trl_token_groups;

/* `names`: of family 0.  *useful says whether tokens have enough in common to be worth grouping; if
 * not (or with real values, or very many labels) the rest is undefined.  *implied gets the extra
 * rows (and no lists).  The design is borrowed.  TRL_ENOMEM. */
trl_status trl_token_groups_build(trl_token_groups *p, trl_implied_rows *implied,
                                  const trl_design *d, const trl_strtab *names, bool *useful,
                                  trl_error *err);
void trl_token_groups_fini(trl_token_groups *p);

/* The scores of a batch's tokens, table[i][step], pads garbage; the table has TRL_TOKEN_GROUPS_ROWS
 * rows. hot32: the summed rows of w, rounded. */
void trl_token_groups_gather(const trl_token_groups *p, const trl_design *d, const double *w,
                             const float *hot32, size_t batch, float *table);

/* Where a pass leaves its gradient. */
typedef struct trl_token_groups_sums {
    double *hot;  /* += A^T adjoint for hot entries */
    float *hot32; /* the same for summed rows */
    float *entry; /* the stream of entries */
    float *rows;  /* [][step] the stream of cold rows */
    double *g;    /* singleton rows: = a w - A^T adjoint */
    double a;
} trl_token_groups_sums;

/* The gradient of a batch from its tokens' adjoints, table[i][step], pads 0, in a table of
 * TRL_TOKEN_GROUPS_ROWS rows.  Returns ||w||^2 of its singleton rows, each of which is written once
 * in a pass. */
double trl_token_groups_scatter(const trl_token_groups *p, const trl_design *d, const double *w,
                                size_t batch, float *table, const trl_token_groups_sums *s);

/* g[i] = the sum of what the stream has for entry i, from <= i < to, of those that are not hot. */
void trl_token_groups_entries(const trl_token_groups *p, const float *stream, size_t from,
                              size_t to, double *g);

#endif
