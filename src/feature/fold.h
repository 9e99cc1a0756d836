/* fold.h -- adding up attributes that imply each other once per pass, not once per token.
 *
 * In real templates many attributes determine others: wherever pos[-1]|pos[0]=DT|NN is on, so is
 * pos[0]=NN.  A frequent attribute c can then be *folded into* the attributes p that imply it: once
 * per pass  row'(p) = row(p) + row'(c),  and the tokens where p is on need no look at c any more.
 * On the way back the gradient of p is added to that of c.  This is exact; it only regroups
 * sums.  What implies what is read off the corpus; names only say which attributes are of one kind (a
 * *slot*: the same name up to '=' or ':').
 *
 *     gather:  w --forward--> folded hot rows --token lists--> scores
 *     scatter: adjoints --token lists--> folded hot rows --backward--> gradient
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FOLD_H
#define TRL_FOLD_H

#include "feature/design.h"

typedef struct trl_fold_pair {
    uint32_t parent, child; /* hot rows of family 0 */
} trl_fold_pair;

typedef struct trl_fold {
    size_t         n_pairs;
    trl_fold_pair *pair;  /* a child's own pairs, as a parent, come before its pairs as a child */
    uint64_t      *begin; /* [n_tokens + 1] the shortened lists of dense rows; NULL: the design's */
    uint32_t      *row;
} trl_fold;

/* Finds the folding of family 0's hot rows; `names` are the family's in the corpus.  With values, or
 * where nothing implies anything, there are no pairs and the lists are the design's own.
 * TRL_ENOMEM. */
trl_status trl_fold_build(trl_fold *fold, const trl_design *d, const trl_strtab *names,
                          trl_error *err);
void       trl_fold_fini(trl_fold *fold);

/* hot[n_hot][step] = the hot rows of w with their children added. */
void trl_fold_forward(const trl_fold *fold, const trl_design *d, const double *w, double *hot);

/* The reverse, in place on a gradient of folded hot rows. */
void trl_fold_backward(const trl_fold *fold, const trl_design *d, double *g);

/* As trl_gather, by the shortened lists and the folded rows; fold NULL: by the design's own.  hot32,
 * unless NULL, is `hot` in single precision and used instead: half the cache. */
void trl_gather_folded(const trl_design *d, const trl_fold *fold, const double *w,
                       const double *hot, const float *hot32, size_t from, const trl_tables *t);

/* The hot weights of the tokens from ..: g, of n_hot_weights (+ 64) doubles, += A^T adjoint, in
 * folded form when `fold` is not NULL.  Dead cells receive garbage: clear them with
 * trl_clear_dead.  With hot32, [n_hot][step], the hot rows of family 0 are added up there and not
 * in g; there must be no values then.  The adjoint rows of family 0 are also left in node, [n][step],
 * unless that is NULL. */
void trl_scatter_hot(const trl_design *d, const trl_fold *fold, size_t from,
                     const trl_tables *adjoint, double *g, float *hot32, float *node);

/* The lone weights of the tokens from .., with their regulariser: g = a w - A^T adjoint.  Every one of
 * them is written, once, and no other.  Returns their ||w||^2. */
double trl_scatter_lone(const trl_design *d, const trl_fold *fold, size_t from,
                        const trl_tables *adjoint, double a, const double *w, double *g);

#endif
