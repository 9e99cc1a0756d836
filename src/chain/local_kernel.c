/* local_kernel.c -- softmax over sums of score lines. */
/* SPDX-License-Identifier: MIT */
#include "chain/local_kernel.h"

#include <math.h>

#include "num/vexp.h"

/* ---- lines ----------------------------------------------------------------------------------- */

TRL_CLONES void trl_lines_sum(size_t n, size_t k, const trl_line *line, double start, double *x)
{
    const size_t whole = n & ~(size_t)(TRL_LANES - 1);
    for (size_t j = 0; j < whole; j += TRL_LANES) {
        trl_v8 v = (trl_v8){0} + start;
        for (size_t l = 0; l < k; l++)
            if (line[l].stride == 1)
                v += *(const trl_v8 *)(line[l].score + j);
        *(trl_v8 *)(x + j) = v;
    }
    for (size_t j = whole; j < n; j++) {
        double v = start;
        for (size_t l = 0; l < k; l++)
            if (line[l].stride == 1)
                v += line[l].score[j];
        x[j] = v;
    }
    for (size_t l = 0; l < k; l++)
        if (line[l].stride != 1)
            for (size_t j = 0; j < n; j++)
                x[j] += line[l].score[j * line[l].stride];
    for (size_t j = n; j < trl_padded(n); j++)
        x[j] = -HUGE_VAL;
}

TRL_CLONES void trl_lines_add(size_t n, size_t k, const trl_line *line, double scale,
                              const double *p)
{
    const size_t whole = n & ~(size_t)(TRL_LANES - 1);
    for (size_t l = 0; l < k; l++) {
        double *to = line[l].adjoint;
        const size_t stride = line[l].stride;
        if (!to)
            continue;
        for (size_t j = 0; stride == 1 && j < whole; j += TRL_LANES)
            *(trl_v8 *)(to + j) += scale * *(const trl_v8 *)(p + j);
        for (size_t j = stride == 1 ? whole : 0; j < n; j++)
            to[j * stride] += scale * p[j];
    }
}

/* ---- softmax --------------------------------------------------------------------------------- */

TRL_CLONES double trl_softmax(size_t n, double *x, bool nota)
{
    trl_v8 hi = (trl_v8){0} + (nota ? 0.0 : -HUGE_VAL), sum = {0};
    for (size_t j = 0; j < n; j += TRL_LANES) {
        const trl_v8 v = *(const trl_v8 *)(x + j);
        hi = trl_v8_select(v > hi, v, hi);
    }
    double max = hi[0];
    for (size_t k = 1; k < TRL_LANES; k++)
        max = hi[k] > max ? hi[k] : max;
    /* All forbidden: shifted by 0 instead of -inf, exp gives 0 (and NaN for a NaN). */
    const double shift = max == -HUGE_VAL ? 0.0 : max;
    for (size_t j = 0; j < n; j += TRL_LANES) {
        trl_v8 v = *(const trl_v8 *)(x + j) - shift;
        trl_v8_exp(&v);
        *(trl_v8 *)(x + j) = v;
        sum += v;
    }
    const double z = trl_v8_sum(&sum) + (nota ? exp(-shift) : 0.0);
    if (z == 0.0)
        return -HUGE_VAL;
    const double inverse = 1.0 / z;
    for (size_t j = 0; j < n; j += TRL_LANES)
        *(trl_v8 *)(x + j) *= inverse;
    return shift + log(z);
}

/* ---- both at once ---------------------------------------------------------------------------- */

/* p[j] = exp(sum of the lines), pads 0; returns their sum.  Reads no cell beyond a row. */
TRL_INLINE double exp_lines(const size_t K, size_t n, const trl_line *line, double *p)
{
    const size_t whole = n & ~(size_t)(TRL_LANES - 1);
    trl_v8 sum = {0};
    for (size_t j = 0; j < whole; j += TRL_LANES) {
        trl_v8 v = *(const trl_v8 *)(line[0].score + j);
        for (size_t l = 1; l < K; l++)
            v += *(const trl_v8 *)(line[l].score + j);
        trl_v8_exp(&v);
        *(trl_v8 *)(p + j) = v;
        sum += v;
    }
    if (whole < n) {
        trl_v8 v = (trl_v8){0} - HUGE_VAL;
        for (size_t j = whole; j < n; j++) {
            double x = line[0].score[j];
            for (size_t l = 1; l < K; l++)
                x += line[l].score[j];
            v[j - whole] = x;
        }
        trl_v8_exp(&v);
        *(trl_v8 *)(p + whole) = v;
        sum += v;
    }
    return trl_v8_sum(&sum);
}

double trl_log_sum_value(const trl_log_sum *s)
{
    return s->sum + log(s->product);
}

/* exp without a shift comes first: where the sum is within these bounds, no outcome that matters
 * has over- or underflowed, and the search for the maximum is saved.  A product within them
 * times such a sum is a double, too. */
#define SUM_MIN 0x1p-500
#define SUM_MAX 0x1p+500

TRL_INLINE void log_sum_add(trl_log_sum *z, double x)
{
    z->product *= x;
    if (!(z->product > SUM_MIN && z->product < SUM_MAX)) {
        z->sum += log(z->product);
        z->product = 1.0;
    }
}

/* Shifted by their maximum, for any range. */
static void rows_term_wide(size_t n, size_t k, const trl_line *line, bool nota, bool first,
                           double weight, double *p, trl_log_sum *z)
{
    trl_lines_sum(n, k, line, 0.0, p);
    z->sum += trl_softmax(trl_padded(n), p, nota);
    for (size_t j = 0; first && j < trl_padded(n); j++)
        line[0].adjoint[j] = 0.0;
    trl_lines_add(n, k, line, -weight, p);
}

TRL_CLONES void trl_rows_term(size_t n, size_t k, const trl_line *line, bool nota, bool first,
                              double weight, double *p, trl_log_sum *z)
{
    const size_t whole = n & ~(size_t)(TRL_LANES - 1);
    const double sum =
        (nota ? 1.0 : 0.0) + (k == 2 ? exp_lines(2, n, line, p) : exp_lines(k, n, line, p));
    if (!(sum > SUM_MIN && sum < SUM_MAX)) {
        rows_term_wide(n, k, line, nota, first, weight, p, z);
        return;
    }
    const double scale = -weight / sum;
    for (size_t j = 0; j < n; j += TRL_LANES) {
        trl_v8 d = scale * *(const trl_v8 *)(p + j);
        if (!first)
            d += *(const trl_v8 *)(line[0].adjoint + j);
        *(trl_v8 *)(line[0].adjoint + j) = d;
    }
    for (size_t l = 1; l < k; l++) {
        double *to = line[l].adjoint;
        for (size_t j = 0; to && j < whole; j += TRL_LANES)
            *(trl_v8 *)(to + j) += scale * *(const trl_v8 *)(p + j);
        for (size_t j = whole; to && j < n; j++)
            to[j] += scale * p[j];
    }
    log_sum_add(z, sum);
}

/* Lanes below k are all ones. */
static const int64_t lane_mask[2 * TRL_LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};

TRL_CLONES void trl_exp_plain(size_t n, const double *x, double *y)
{
    const size_t whole = n & ~(size_t)(TRL_LANES - 1);
    const trl_v8i keep = *(const trl_v8i *)(lane_mask + TRL_LANES - (n - whole));
    for (size_t j = 0; j < n; j += TRL_LANES) {
        trl_v8 v = *(const trl_v8 *)(x + j);
        trl_v8_exp(&v);
        if (j == whole)
            v = (trl_v8)(keep & (trl_v8i)v);
        *(trl_v8 *)(y + j) = v;
    }
}

TRL_CLONES bool trl_exp_term(size_t stride, const double *psi, const double *E, double factor,
                             bool nota, bool first, double weight, double *node, double *outer,
                             trl_log_sum *z)
{
    trl_v8 dot = {0};
    for (size_t j = 0; j < stride; j += TRL_LANES)
        dot += *(const trl_v8 *)(psi + j) * *(const trl_v8 *)(E + j);
    const double sum = factor * trl_v8_sum(&dot) + (nota ? 1.0 : 0.0);
    if (!(sum > SUM_MIN && sum < SUM_MAX))
        return false;
    const double scale = weight * factor / sum;
    for (size_t j = 0; j < stride; j += TRL_LANES) {
        const trl_v8 r = scale * *(const trl_v8 *)(psi + j);
        trl_v8 d = -r * *(const trl_v8 *)(E + j);
        if (!first)
            d += *(const trl_v8 *)(node + j);
        *(trl_v8 *)(node + j) = d;
        *(trl_v8 *)(outer + j) += r;
    }
    log_sum_add(z, sum);
    return true;
}

TRL_CLONES double trl_nota_sources(size_t n, double one, const double *keep, double *z)
{
    trl_v8 product = (trl_v8){0} + 1.0;
    trl_log_sum sum = {0.0, 1.0};
    for (size_t h = 0; h < n; h += TRL_LANES) {
        const trl_v8 k = *(const trl_v8 *)(keep + h), x = *(const trl_v8 *)(z + h) + one;
        product *= k * x + (1.0 - k);
        *(trl_v8 *)(z + h) = k / x;
    }
    bool safe = true;
    for (size_t k = 0; k < TRL_LANES; k++)
        safe &= product[k] > SUM_MIN && product[k] < SUM_MAX;
    for (size_t k = 0; safe && k < TRL_LANES; k++)
        log_sum_add(&sum, product[k]);
    for (size_t h = 0; !safe && h < n; h++) /* one by one, from what was written */
        if (keep[h] > 0.0)
            sum.sum -= log(z[h]);
    return trl_log_sum_value(&sum);
}

/* ---- on exponentials ------------------------------------------------------------------------- */

TRL_CLONES double trl_exp_piece(size_t n, double weight, const double *psi, const double *C,
                                double *node, double *sum)
{
    const double z = trl_dot_rows(n, psi, C), scale = weight / z;
    for (size_t j = 0; j < n; j += TRL_LANES) {
        const trl_v8 r = scale * *(const trl_v8 *)(psi + j);
        *(trl_v8 *)(sum + j) += r;
        *(trl_v8 *)(node + j) = -r * *(const trl_v8 *)(C + j);
    }
    return z;
}

TRL_CLONES void trl_block_sums(size_t n, size_t stride, const double *X, double *row,
                               double *column)
{
    for (size_t j = 0; j < stride; j += TRL_LANES)
        *(trl_v8 *)(column + j) = (trl_v8){0};
    for (size_t i = 0; i < n; i++) {
        trl_v8 sum = {0};
        for (size_t j = 0; j < stride; j += TRL_LANES) {
            const trl_v8 v = *(const trl_v8 *)(X + i * stride + j);
            *(trl_v8 *)(column + j) += v;
            sum += v;
        }
        row[i] = trl_v8_sum(&sum);
    }
}

TRL_CLONES double trl_dot_rows(size_t n, const double *x, const double *y)
{
    trl_v8 sum = {0};
    for (size_t j = 0; j < n; j += TRL_LANES)
        sum += *(const trl_v8 *)(x + j) * *(const trl_v8 *)(y + j);
    return trl_v8_sum(&sum);
}

TRL_CLONES void trl_scale_rows(size_t n, double scale, const double *y, double *x)
{
    for (size_t j = 0; j < n; j += TRL_LANES)
        *(trl_v8 *)(x + j) *= scale * *(const trl_v8 *)(y + j);
}
