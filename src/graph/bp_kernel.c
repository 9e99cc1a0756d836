/* bp_kernel.c -- single rows of messages: products, matrix-vector products, norms. */
/* SPDX-License-Identifier: MIT */
#include "graph/bp_lanes.h"

TRL_CLONES void trl_bp_pair(bool maximise, size_t n, size_t columns, const double *x,
                            const double *M, double *y)
{
    const source s = source_of(n, columns, x, M);
    if (maximise)
        pair_any(true, trl_row_width(columns), &s, y);
    else
        pair_any(false, trl_row_width(columns), &s, y);
}

TRL_CLONES double trl_bp_norm(bool maximise, size_t width, double small, double *y,
                              const double *old, double *change)
{
    return maximise ? norm_any(true, width, small, y, old, change)
                    : norm_any(false, width, small, y, old, change);
}

/* ---- products -------------------------------------------------------------------------------- */

TRL_INLINE void product_narrow(const size_t W, const trl_bp_rows *r, uint32_t skip, double *out)
{
    double p[4];
    for (size_t j = 0; j < W; j++)
        p[j] = r->node[j];
    for (size_t k = 0; k < r->n; k++) {
        if (r->link[k] == skip)
            continue;
        const double *row = r->base + r->at[r->link[k]];
        for (size_t j = 0; j < W; j++)
            p[j] *= row[j];
    }
    for (size_t j = 0; j < W; j++)
        out[j] = p[j];
}

TRL_INLINE void product_wide(const trl_bp_rows *r, uint32_t skip, double *out)
{
    for (size_t j = 0; j < r->width; j += 8) {
        trl_v8 p = *(const trl_v8 *)(r->node + j);
        for (size_t k = 0; k < r->n; k++)
            if (r->link[k] != skip)
                p *= *(const trl_v8 *)(r->base + r->at[r->link[k]] + j);
        *(trl_v8 *)(out + j) = p;
    }
}

TRL_INLINE void product_any(const trl_bp_rows *r, uint32_t skip, double *out)
{
    if (r->width >= 8)
        product_wide(r, skip, out);
    else if (r->width == 4)
        product_narrow(4, r, skip, out);
    else if (r->width == 2)
        product_narrow(2, r, skip, out);
    else
        product_narrow(1, r, skip, out);
}

TRL_CLONES void trl_bp_product(const trl_bp_rows *r, uint32_t skip, double *out)
{
    product_any(r, skip, out);
}

TRL_CLONES void trl_bp_products(const trl_bp_rows *r, double *out)
{
    products_any(r, out);
}

TRL_CLONES void trl_bp_fold_last(bool maximise, size_t rows, size_t n, const double *T,
                                 const double *x, double *out)
{
    for (size_t i = 0; i < rows; i++, T += n) {
        double acc = 0.0;
        for (size_t j = 0; j < n; j++) {
            const double p = T[j] * x[j];
            acc = !maximise ? acc + p : p > acc ? p : acc;
        }
        out[i] = acc;
    }
}

TRL_CLONES void trl_bp_fold_first(bool maximise, size_t n, size_t rest, const double *x,
                                  const double *T, double *out)
{
    for (size_t j = 0; j < rest; j++)
        out[j] = 0.0;
    for (size_t i = 0; i < n; i++, T += rest)
        if (maximise)
            for (size_t j = 0; j < rest; j++)
                out[j] = x[i] * T[j] > out[j] ? x[i] * T[j] : out[j];
        else
            for (size_t j = 0; j < rest; j++)
                out[j] += x[i] * T[j];
}

/* Made of the kernels above: inlined once more for every machine they took half of the time that
 * this file takes to compile, and nothing was faster for it. */
double trl_bp_pass(bool maximise, size_t n, size_t columns, const double *x, const double *M,
                   double small, const double *old, double *fresh, double *change)
{
    trl_bp_pair(maximise, n, columns, x, M, fresh);
    return trl_bp_norm(maximise, trl_row_width(columns), small, fresh, old, change);
}

double trl_bp_through(bool maximise, const trl_bp_rows *r, uint32_t skip, size_t n, size_t columns,
                      const double *M, double small, const double *old, double *scratch,
                      double *fresh, double *change)
{
    trl_bp_product(r, skip, scratch);
    return trl_bp_pass(maximise, n, columns, scratch, M, small, old, fresh, change);
}
