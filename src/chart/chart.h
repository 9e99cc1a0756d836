/* chart.h -- inside, outside and best tree over the surviving items of a sentence.
 *
 * An *item* is a state over a span of words i .. j-1.  A *skeleton* lists the items of a sentence;
 * an item it leaves out does not exist for any sum or maximum here.  Cells (i, j) are numbered
 *
 *     cell = j (j - 1) / 2 + i,      0 <= i < j <= n,
 *
 * so that the cells that end at j are adjacent.
 *
 * The score table of trees (the counterpart of feature/tables.h).  The score of
 *
 *     a word's tag t at i             item[t over (i, i+1)]
 *     a binary rule r over (i, k, j)  binary[r] + item[parent over (i, j)]
 *                                     + edge[FIRST][i][q] + edge[SPLIT][k][q] + edge[END][j][q]
 *     a unary rule u over (i, j)      unary[u] + unary_at[its edge]
 *
 * q = edge_class[r] (many rules may share one); `item` is filled for every item with TRL_BEFORE,
 * unary_at for every unary edge, before the chart is run; edge tables are filled on demand, because
 * only a small part of them is ever read.
 *
 * Sums are in scaled linear form: a cell's numbers carry a common power of two.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHART_H
#define TRL_CHART_H

#include "base/arena.h"
#include "grammar/grammar.h"

/* ---- which items there are ------------------------------------------------------------------- */

#define TRL_BEFORE 0x80000000u /* may be made by a word or a binary rule */
#define TRL_AFTER 0x40000000u  /* may be used by a binary rule, or be the root */
#define TRL_STATE_MASK 0x3fffffffu

/* A constituent is required over the cell, and one of those over it has this (base) label,
 * uppermost or below a unary rule. */
typedef struct trl_must {
    uint32_t cell, label;
} trl_must;

#define TRL_ANY_LABEL (TRL_NO_ID - 1) /* any label */

typedef struct trl_skeleton {
    size_t n;             /* words */
    uint32_t *first;      /* [cells + 1]: items of a cell are first[cell] .. first[cell+1]-1 */
    uint32_t *item;       /* state with TRL_BEFORE, TRL_AFTER; states ascend in a cell */
    const trl_must *must; /* [n_must], cells ascend (constrain.h) */
    size_t n_must;
} trl_skeleton;

static inline size_t trl_cell(size_t i, size_t j)
{
    return j * (j - 1) / 2 + i;
}
static inline size_t trl_chart_cells(size_t n)
{
    return n * (n + 1) / 2;
}

/* ---- scores ---------------------------------------------------------------------------------- */

enum { TRL_EDGE_FIRST, TRL_EDGE_SPLIT, TRL_EDGE_END, TRL_EDGE_ANCHORS };

typedef struct trl_unary_edge {
    uint32_t rule, child, parent; /* unary rule; items */
} trl_unary_edge;

/* Scores are logs, except edge[], which holds exp(score), negative where not yet filled.  In an
 * adjoint all hold d value / d score. */
typedef struct trl_tree_tables {
    const double *binary_exp; /* [n_binary]: exp(score); adjoint: unused */
    const double *unary;      /* [n_unary]: log */
    double *item;             /* [items]; of those without TRL_BEFORE: unused */
    double *unary_at;         /* [unary edges] */
    size_t n_classes;
    const uint32_t *edge_class;     /* [n_binary] */
    double *edge[TRL_EDGE_ANCHORS]; /* [n + 1][n_classes]; NULL: all 0 */

    /* exp of the score of class q anchored at word `at`; never fails. */
    double (*fill)(void *self, int anchor, size_t at, uint32_t q);
    void *self;
} trl_tree_tables;

typedef struct trl_tree_adjoint {
    double *binary, *unary;         /* [n_binary], [n_unary]: added to */
    double *item, *unary_at;        /* overwritten; expectations alone */
    double *edge[TRL_EDGE_ANCHORS]; /* added to; only filled places are touched */
} trl_tree_adjoint;

/* ---- charts ---------------------------------------------------------------------------------- */

/* The nodes of a tree, preorder, labels of the grammar; node 0 is the root.  Zero-initialise;
 * memory is used again from tree to tree, and released with trl_free(node). */
typedef struct trl_nodes {
    trl_node *node;
    size_t n, cap;
} trl_nodes;

typedef struct trl_chart {
    const trl_grammar *g;
    const trl_skeleton *s;
    size_t n, n_items;
    trl_unary_edge *unary; /* [n_unary], by cell */
    uint32_t *unary_first; /* [cells + 1] */
    size_t n_unary;

    uint32_t *map;                  /* [n][n_states]: item + 1 over (i, j) of the current j, or 0 */
    int32_t *scale;                 /* [cells]: numbers of the cell are times 2^scale */
    double *before, *after;         /* [items], inside (or best) */
    double *out_before, *out_after; /* [items], outside; scaled against Z: in * out is the
                                       posterior of the item */
    double *item_exp, *unary_exp;   /* exp(scores) */
    uint32_t *back;  /* [items][TRL_BACK], best tree only (chart_kernel.h); NULL: sums */
    double log_z;    /* -inf: no tree */
    bool overflow;   /* scores were too large: the numbers are undefined */
    double deadline; /* on trl_clock(): after it the run stops, log_z is -inf and late is set; 0:
                        none */
    double max_work; /* millions of steps: a chart with more (trl_chart_work) is not begun, log_z is
                        -inf, late and heavy are set; 0: no limit */
    bool late, heavy;
    uint32_t root_item; /* TRL_NO_ID: none */
} trl_chart;

/* Lays a chart out in the arena: all of it belongs to the arena.  TRL_ENOMEM. */
trl_status trl_chart_init(trl_chart *c, const trl_grammar *g, const trl_skeleton *s,
                          trl_arena *arena, trl_error *err);

/* The cost of a run over the chart, in millions of steps: for every (i, k, j) whose cells have
 * items, the pairs of children that rules form with the items over (i, k).  Depends on the skeleton
 * alone. */
double trl_chart_work(const trl_chart *c);

/* log Z, or the score of the best tree with back pointers; -inf in c->log_z when there is no tree.
 * TRL_ENUMERIC when a score is NaN or too large. */
trl_status trl_chart_inside(trl_chart *c, const trl_tree_tables *t, trl_error *err);
trl_status trl_chart_best(trl_chart *c, const trl_tree_tables *t, trl_arena *arena, trl_error *err);

/* After trl_chart_inside with a finite log_z: outside scores, and, when `a` is not NULL, the
 * expected number of times each score is used.  After the deadline it stops as inside does. */
void trl_chart_outside(trl_chart *c, const trl_tree_tables *t, trl_tree_adjoint *a);

/* After trl_chart_best with a finite log_z: the tree.  TRL_ENOMEM. */
trl_status trl_chart_tree(const trl_chart *c, trl_btree *out, trl_error *err);

/* The same for any item over (i, j), whose after is not 0. */
trl_status trl_chart_subtree(const trl_chart *c, uint32_t item, size_t i, size_t j, trl_btree *out,
                             trl_error *err);

/* The item of `state` over (i, j), or TRL_NO_ID. */
uint32_t trl_skeleton_find(const trl_skeleton *s, size_t i, size_t j, uint32_t state);

/* Whether s->must allows `state` alone over the cell (rule TRL_NO_ID), or the unary rule there. */
bool trl_skeleton_allows(const trl_skeleton *s, const trl_grammar *g, size_t cell, uint32_t state,
                         uint32_t rule);

#endif
