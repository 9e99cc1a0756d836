/* trainer.h -- private to training: the state of one classifier.
 *
 * Weights of examples, w(i) = b(i) / (1 + exp(y(i) h(i))), are kept with the sign of y as whole
 * multiples of 1 / scale, scale the power of two that puts the sum of all values between 2^61 and
 * 2^62. Gains are exact sums of those, compared as integers.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BOOST_TRAINER_H
#define TRL_BOOST_TRAINER_H

#include "base/pool.h"
#include "boost/data.h"
#include "boost/model.h"
#include "boost/sums.h"
#include "boost/terms.h"

#define TRL_WEIGHT_BLOCK ((size_t)64) /* divides TRL_LOSS_PIECE and TRL_WALK_PIECE */
#define TRL_WALK_PIECE ((size_t)4096) /* entries of a column that one thread takes at a time */

/* A piece of a walk along a column: what was found or drawn in it. */
typedef struct trl_walk_piece {
    size_t begin, n; /* of t->found or t->work */
    int64_t total, weight;
    int64_t at; /* sum of the weights of earlier pieces */
} trl_walk_piece;

/* A node of the tree that is being grown. */
typedef struct trl_grown {
    uint32_t parent;  /* TRL_NO_ID: the root */
    uint32_t literal; /* how the parent leads here */
    uint32_t on, off; /* children, or TRL_NO_ID */
    uint32_t slot;    /* of its examples: shared with the children that lack their feature; the
                         number of the first node that has it */
    uint32_t depth;
    int64_t total, weight; /* sums of w y and of w over its examples */
    uint64_t count;        /* examples */
    uint64_t hash;         /* of the literals of its path */
    double value;          /* what the tree adds to h; of a leaf */
    bool zero;             /* no leaf below has a value */
} trl_grown;

static inline bool trl_is_leaf(const trl_grown *g)
{
    return g->on == TRL_NO_ID;
}

/* A leaf that gets a value. */
typedef struct trl_leaf_fit {
    uint32_t at;  /* node */
    size_t term;  /* its compound feature; SIZE_MAX: none yet */
    double theta; /* of that */
} trl_leaf_fit;

typedef struct trl_trainer {
    const trl_boost_data *d;
    const trl_boost_options *o;
    size_t column;
    trl_pool *pool;           /* NULL: this thread alone */
    const trl_cancel *cancel; /* of growing a tree; or NULL */

    size_t n, n_valued; /* examples; of which have a value */
    double *v;          /* [n] y b */
    double *odds;       /* [n] exp h */
    int64_t *w;         /* [n] y w in units */
    int64_t *drawn;     /* [n] of examples in `work`: their weight in a sample; NULL: no sampling */
    int64_t *block;     /* [n / TRL_WEIGHT_BLOCK + 1] sampling: sums of |w| of so many examples */
    int64_t *rest;   /* the same, of those that are still in the root's slot of the growing tree */
    uint32_t *slot;  /* [n] of its node in the growing tree; TRL_NO_ID for examples without value */
    double positive; /* sum of v > 0 */
    double scale;
    int64_t total, weight; /* sums of w and |w| */

    double lambda;
    int64_t lambda_units, margin_units; /* lambda, min_gain lambda */

    trl_sums sums;    /* of the node that is being split */
    int64_t *root;    /* exact: sums of all examples, kept up to date; NULL with sampling */
    int64_t *side;    /* [threads][sums] changes by other workers, or NULL */
    uint64_t visited; /* features of rows that were added to sums, for benchmarks */

    trl_grown *grown;
    size_t n_grown, grown_cap;
    uint32_t *work; /* [n] examples of a node: all, or drawn */
    size_t n_work;
    uint32_t *found; /* [n] examples with a feature, by pieces */
    trl_walk_piece *piece;
    size_t n_pieces;
    uint32_t
        range[TRL_POOL_MOST]; /* [n_ranges] where ranges of features begin that threads share */
    size_t n_ranges;
    uint32_t *pending; /* stack of nodes to split */
    size_t n_pending, pending_cap;
    uint32_t *path; /* literals of a leaf */
    size_t path_cap;
    double *leaf_v, *leaf_odds; /* [n] examples of the leaves that get a value, leaf by leaf */
    uint64_t *leaf_at;          /* [n_grown] where they are */
    size_t leaf_cap;
    trl_leaf_fit *fit;
    size_t n_fit, fit_cap;
    double *slope; /* [pieces][2] partial sums */

    trl_boost_ensemble trees;
    trl_boost_terms terms;
} trl_trainer;

/* What all examples of an answer are worth. */
typedef struct trl_boost_worth {
    double positive, negative;
    size_t n; /* examples of value */
} trl_boost_worth;

/* v[i] = y b of a classifier.  TRL_EINVAL: one class only. */
trl_status trl_boost_values(const trl_boost_data *d, size_t column, double *v, trl_boost_worth *w,
                            trl_error *err);

/* Values, odds 1 and weights of the classifier, for this thread alone.  TRL_EINVAL: one class only;
 * TRL_ENOMEM. */
trl_status trl_trainer_init(trl_trainer *t, const trl_boost_data *d, size_t column,
                            const trl_boost_options *o, trl_error *err);
void trl_trainer_fini(trl_trainer *t);

/* From now on `pool` (borrowed) shares the work.  False: out of memory, all is as before. */
bool trl_trainer_share(trl_trainer *t, trl_pool *pool);

/* All examples with a value into the root's slot. */
void trl_trainer_unslot(trl_trainer *t);

/* Weights and root sums from the odds: after the start and after reading a checkpoint. */
void trl_trainer_weigh(trl_trainer *t);
void trl_trainer_set_lambda(trl_trainer *t, double lambda);

/* The largest gain that a child of the root could have with lambda = 0. */
double trl_trainer_largest_gain(trl_trainer *t);

/* Grows a tree; *split is false when the root could not be split.  `number` seeds the sampling.
 * Only trl_fit_leaves changes the classifier: growing may be cancelled. */
trl_status trl_grow(trl_trainer *t, uint64_t number, bool *split, trl_error *err);

/* Sets each leaf value of the grown tree to the minimum of R, updates odds and weights, and appends
 * the tree to the ensemble.  *moved: whether any value is not 0. */
trl_status trl_fit_leaves(trl_trainer *t, bool *moved, trl_error *err);

/* Appends the grown tree to the ensemble and brings odds and weights up to date.  TRL_ENOMEM. */
trl_status trl_apply_tree(trl_trainer *t, trl_error *err);

/* Sets the intercept to its optimum: a tree that is one leaf, without penalty. */
trl_status trl_fit_intercept(trl_trainer *t, trl_error *err);

/* sum b ln(1 + exp(-y h)). */
double trl_trainer_loss(trl_trainer *t);

#endif
