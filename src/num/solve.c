/* solve.c -- LU decomposition, right-looking, by rows: the inner loop streams two rows. */
/* SPDX-License-Identifier: MIT */
#include "num/solve.h"

#include <float.h>
#include <math.h>

static void swap_rows(size_t n, double *a, double *b)
{
    for (size_t j = 0; j < n; j++) {
        const double t = a[j];
        a[j] = b[j];
        b[j] = t;
    }
}

/* a -= m b */
static void subtract(size_t n, double m, const double *restrict b, double *restrict a)
{
#pragma omp simd
    for (size_t j = 0; j < n; j++)
        a[j] -= m * b[j];
}

/* The row >= k with the largest element in column k; NaN is never larger. */
static size_t pivot_row(size_t n, const double *A, size_t k)
{
    size_t p = k;
    for (size_t i = k + 1; i < n; i++)
        if (fabs(A[i * n + k]) > fabs(A[p * n + k]))
            p = i;
    return p;
}

bool trl_lu_factor(size_t n, double *A, size_t *pivot)
{
    double largest = 0.0;
    for (size_t i = 0; i < n * n; i++) {
        if (!isfinite(A[i]))
            return false;
        largest = fabs(A[i]) > largest ? fabs(A[i]) : largest;
    }
    const double tiny = largest * (double)n * DBL_EPSILON;
    for (size_t k = 0; k < n; k++) {
        const size_t p = pivot_row(n, A, k);
        pivot[k] = p;
        if (p != k)
            swap_rows(n, A + k * n, A + p * n);
        const double *row = A + k * n, d = row[k];
        if (!(fabs(d) > tiny))
            return false;
        for (size_t i = k + 1; i < n; i++) {
            double *a = A + i * n;
            if (a[k] == 0.0)
                continue;
            a[k] /= d;
            subtract(n - k - 1, a[k], row + k + 1, a + k + 1);
        }
    }
    return true;
}

static void exchange(double *x, size_t a, size_t b)
{
    const double t = x[a];
    x[a] = x[b];
    x[b] = t;
}

void trl_lu_solve(size_t n, const double *LU, const size_t *pivot, double *x)
{
    for (size_t k = 0; k < n; k++)
        exchange(x, k, pivot[k]);
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            x[i] -= LU[i * n + j] * x[j];
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++)
            x[i] -= LU[i * n + j] * x[j];
        x[i] /= LU[i * n + i];
    }
}

/* A^T = U^T L^T P: first U^T, then L^T, by rows of LU, then the exchanges backwards. */
void trl_lu_solve_transposed(size_t n, const double *LU, const size_t *pivot, double *x)
{
    for (size_t i = 0; i < n; i++) {
        x[i] /= LU[i * n + i];
        subtract(n - i - 1, x[i], LU + i * n + i + 1, x + i + 1);
    }
    for (size_t i = n; i-- > 1;)
        subtract(i, x[i], LU + i * n, x);
    for (size_t k = n; k-- > 0;)
        exchange(x, k, pivot[k]);
}
