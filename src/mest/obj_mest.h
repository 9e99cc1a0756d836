/* obj_mest.h -- M-estimation: weights that correct a base distribution q0 [JL06, SVL07].
 *
 * The model is p(x, y) ~ q0(x, y) exp(w . f(x, y)), q0 a cheap generative model (mest/q0.h).
 *
 *     F(w) = (1/n) sum_i exp(-w . f(x_i, y_i)) + w . E_q0[f] + c2 ||w||^2        (minimised)
 *     dF/dw = -(1/n) sum_i exp(-w . f(x_i, y_i)) f(x_i, y_i) + E_q0[f] + 2 c2 w
 *
 * with c2 = 1 / (2c) in the paper's terms.  (Its equation 13 lacks the 1/n.) F is convex and needs
 * no inference: only the features of the gold labellings enter it.  They are stored as a sparse
 * matrix, by rows for w . f and by columns for the gradient, so that every weight is summed by one
 * thread, in order.  Weighted sequences count weight_i / sum weight instead of 1/n.
 *
 * The decoder's score is log q0(x, y) + w . f(x, y): trl_hmm_add_shared, trl_hmm_add_rows.
 *
 * [JL06]  Jeon, Lin. An effective method for high-dimensional log-density ANOVA estimation.
 *         Statistica Sinica 16, 2006.
 * [SVL07] Smith, Vail, Lafferty. Computationally efficient M-estimation of log-linear structure
 *         models. ACL 2007.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_OBJ_MEST_H
#define TRL_OBJ_MEST_H

#include "base/pool.h"
#include "feature/design.h"
#include "mest/gold_matrix.h"

typedef struct trl_mest trl_mest;

/* d, its corpus, E [n_weights] and the pool are borrowed.  Memory: gold_matrix.h.
 * TRL_EINVAL when all weights of sequences are 0 or there are 2^32 features; TRL_ENOMEM. */
trl_status trl_mest_new(const trl_design *d, const trl_corpus *corpus, const double *E,
                        trl_pool *pool, trl_mest **out, trl_error *err);

/* Gold features of n examples, and expectations [n_weights]. */
typedef struct trl_mest_listed {
    const trl_gold_listing *l;
    size_t n;
    size_t n_weights;
    const double *E;
} trl_mest_listed;

/* The same for any structures whose gold features are listed, each with weight 1/n.  The listing
 * may be freed afterwards; E [n_weights] and the pool are borrowed.  Gradients have 64 doubles more
 * than n_weights, set to 0. */
trl_status trl_mest_new_listed(const trl_mest_listed *data, trl_pool *pool, trl_mest **out,
                               trl_error *err);
void trl_mest_free(trl_mest *m); /* accepts NULL */

/* As trl_gradient_eval: w and grad have trl_design_alloc doubles.  TRL_ENUMERIC when F is not
 * finite: exp overflows where w . f < -709; a line search takes that for a failed step. */
trl_status trl_mest_eval(trl_mest *m, const double *w, double c2, double *grad, double *F,
                         trl_error *err);

#endif
