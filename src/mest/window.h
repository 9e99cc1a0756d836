/* window.h -- expected counts of a window under an HMM, summed over all sequences and positions.
 *
 *     table(y) = E_q[ number of positions t with y_{t-f} .. y_t = y and the given outcomes in the
 *                     cells of the window around t ]
 *
 * A path-sum from both sides [SVL07, section 4.1.1, equation 12], f + 1 labels in the middle:
 *
 *     left   A_r = (T^T A_{r-1}) * p_r     from A = visits * p at the leftmost row on; rows that a
 *                                          line does not read are summed out: p = 1, and before
 *                                          the leftmost one nothing is needed at all
 *     right  B_r = T (p_{r+1} * B_{r+1})   from B = ends at the rightmost row on
 *
 * Beyond the ends of the sequence there is one state per row: before it START_d, at distance d,
 * START_d -> START_{d-1} -> .. -> START_1 -> first token, of mass 1 each (every sequence has one);
 * after it STOP -> END_1 -> END_2 ...  Their p is 1 or 0: the outcome of that row is fixed.
 *
 * Windows are computed in turn and reuse what they have in common with the previous one: sort them
 * by outcomes, leftmost cell first.
 *
 * [SVL07] Smith, Vail, Lafferty. Computationally efficient M-estimation of log-linear structure
 * models. ACL 2007.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_WINDOW_H
#define TRL_WINDOW_H

#include "mest/template_window.h"
#include "mest/state_graph.h"

typedef struct trl_window {
    const trl_state_graph *g;
    const trl_template_window *v;
    size_t f;
    int from, mid, to; /* first row of A; the row it ends at; last row of B */
    uint32_t *last;    /* [n_cells] outcomes of the window before */
    bool fresh;        /* there is no previous window */
    size_t width;      /* doubles in a row of A and of B */
    double *A;         /* [mid - from + 1][states | START_1 ..] */
    double *B;         /* [to + 1][states | END_1 ..] */
    double *e;         /* [2][L] emission factors of rows 0 and -1 */
    double *p;         /* [L] scratch */
    double *weighted;  /* [width] scratch */
} trl_window;

/* g and v are borrowed; f: family.  TRL_ENOMEM. */
trl_status trl_window_init(trl_window *w, const trl_state_graph *g, const trl_template_window *v,
                           size_t f, trl_error *err);
void trl_window_fini(trl_window *w);

/* table [L^(f+1)] is added to. */
void trl_window_add(trl_window *w, const uint32_t *outcome, double *table);

#endif
