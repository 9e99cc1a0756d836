/* solve.h -- dense linear systems by LU decomposition with partial pivoting.
 *
 *     P A = L U,    A x = b  by two triangular solves,    A^T x = b  by the same two transposed
 *
 * For systems of up to a few thousand unknowns that are solved once: n^3 / 3 multiply-adds.  The
 * backward error of partial pivoting is a small multiple of n u ||A|| in practice [GV13, 3.4];
 * test_solve.c holds the residual to 1e-13.
 *
 * [GV13] Golub, Van Loan. Matrix computations, 4th edition. 2013.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SOLVE_H
#define TRL_SOLVE_H

#include <stdbool.h>
#include <stddef.h>

/* Factors A [n][n], row-major, in place: U on and above the diagonal, L (unit diagonal) below;
 * pivot[k] is the row that was exchanged with row k.  False when A is singular to working precision
 * or holds NaN; its content is then undefined. */
bool trl_lu_factor(size_t n, double *A, size_t *pivot);

/* x: the right side on entry, the solution on return. */
void trl_lu_solve(size_t n, const double *LU, const size_t *pivot, double *x);
void trl_lu_solve_transposed(size_t n, const double *LU, const size_t *pivot, double *x);

#endif
