/* test_graph_kernels.c -- every kernel of tables and messages against its plain twin.
 *
 * All numbers are positive, so twins differ by the rounding of some hundred operations at most.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/rng.h"
#include "plain_graph.h"
#include "graph/bp_kernel.h"
#include "graph/layout.h"
#include "graph/table_kernel.h"

#define TOL 1e-13
#define MAX 60

static double *numbers(trl_rng *rng, size_t n)
{
    double *x = malloc((n + 1) * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = trl_rng_unit(rng) + 0x1p-40;
    return x;
}

static void same(size_t n, const double *got, const double *want, const char *what, size_t size)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= TOL * fabs(want[i])))
            fail_msg("%s of %zu: [%zu] is %.17g, not %.17g", what, size, i, got[i], want[i]);
}

/* ---- tables ---------------------------------------------------------------------------------- */

typedef struct shape {
    size_t n, dim[6], step[6], cells, sub;
} shape;

/* Some dimensions in sub, in any order; some of one label. */
static shape random_shape(trl_rng *rng)
{
    shape s = {.n = trl_rng_below(rng, 7), .cells = 1, .sub = 1};
    size_t order[6];
    for (size_t k = 0; k < s.n; k++) {
        s.dim[k] = 1 + trl_rng_below(rng, k < 3 ? 5 : 9);
        s.cells *= s.dim[k];
        order[k] = k;
    }
    if (trl_rng_below(rng, 2))
        for (size_t k = s.n; k > 1; k--) {
            const size_t j = trl_rng_below(rng, k), t = order[j];
            order[j] = order[k - 1];
            order[k - 1] = t;
        }
    for (size_t k = s.n; k-- > 0;) {
        const bool has = trl_rng_below(rng, 2);
        s.step[order[k]] = has ? s.sub : 0;
        s.sub *= has ? s.dim[order[k]] : 1;
    }
    return s;
}

static void test_tables(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(31);
    for (int round = 0; round < 4000; round++) {
        const shape s = random_shape(&rng);
        const trl_table_map map = {s.n, s.dim, s.step};
        for (int op = TRL_TABLE_SET; op <= TRL_TABLE_MAX; op++) {
            double *table = numbers(&rng, s.cells), *sub = numbers(&rng, s.sub);
            double *table2 = malloc((s.cells + 1) * sizeof *table2);
            double *sub2 = malloc((s.sub + 1) * sizeof *sub2);
            assert_true(table2 && sub2);
            memcpy(table2, table, s.cells * sizeof *table);
            memcpy(sub2, sub, s.sub * sizeof *sub);
            trl_table_apply((trl_table_op)op, &map, table, sub);
            table_apply_plain((trl_table_op)op, &map, table2, sub2);
            same(s.cells, table, table2, "table", s.cells);
            same(s.sub, sub, sub2, "sub", s.cells);
            free(table);
            free(sub);
            free(table2);
            free(sub2);
        }
    }
}

/* log sum exp by the maximum and trl_table_exp_sum is the log of the sum of exponentials. */
static void test_exp_sum(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(32);
    for (int round = 0; round < 500; round++) {
        const shape s = random_shape(&rng);
        const trl_table_map map = {s.n, s.dim, s.step};
        double *table = numbers(&rng, s.cells), *sub = numbers(&rng, s.sub);
        double *shift = numbers(&rng, s.sub), *want = numbers(&rng, s.sub);
        for (size_t i = 0; i < s.sub; i++) {
            shift[i] = -HUGE_VAL;
            sub[i] = want[i] = 0.0;
        }
        trl_table_apply(TRL_TABLE_MAX, &map, table, shift);
        trl_table_exp_sum(&map, table, shift, sub);
        for (size_t i = 0; i < s.cells; i++)
            table[i] = exp(table[i]);
        table_apply_plain(TRL_TABLE_SUM, &map, table, want);
        for (size_t i = 0; i < s.sub; i++)
            sub[i] *= exp(shift[i]);
        same(s.sub, sub, want, "exp sum", s.cells);
        free(table);
        free(sub);
        free(shift);
        free(want);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

/* A matrix: numbers in its columns, zeros in what pads its rows, and numbers that must not matter
 * after the last one. */
static double *matrix(trl_rng *rng, size_t n, size_t columns)
{
    const size_t stride = trl_matrix_stride(columns);
    double *M = numbers(rng, n * stride + TRL_MATRIX_SLACK);
    for (size_t i = 0; i < n; i++)
        for (size_t j = columns; j < stride; j++)
            M[i * stride + j] = 0.0;
    return M;
}

static void test_pairs(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(33);
    for (size_t n = 1; n <= MAX; n++)
        for (size_t labels = 1; labels <= MAX; labels++)
            for (int maximise = 0; maximise < 2; maximise++) {
                const size_t width = trl_row_width(labels);
                double *x = numbers(&rng, n), *M = matrix(&rng, n, labels);
                double *y = numbers(&rng, width), *want = numbers(&rng, width);
                trl_bp_pair(maximise, n, labels, x, M, y);
                bp_pair_plain(maximise, n, labels, x, M, want);
                same(width, y, want, "pair", n);
                double *old = numbers(&rng, width), change = -1.0, change2 = -1.0;
                const double a = trl_bp_norm(maximise, width, 0.0, y, old, &change);
                const double b = bp_norm_plain(maximise, width, 0.0, want, old, &change2);
                same(1, &a, &b, "norm", width);
                same(width, y, want, "row", width);
                assert_near(change, change2, 1e-13);
                assert_near(trl_bp_norm(maximise, width, 1e9, y, old, &change), 1.0,
                            maximise ? 1e-15 : 1e-13);
                same(width, y, want, "row below small", width);
                const double c = trl_bp_pass(maximise, n, labels, x, M, 0.0, old, y, &change);
                same(1, &c, &b, "norm of a pass", width);
                same(width, y, want, "pass", width);
                assert_near(change, change2, 1e-13);
                free(x);
                free(M);
                free(y);
                free(want);
                free(old);
            }
}

static void test_products(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(34);
    for (size_t labels = 1; labels <= MAX; labels++)
        for (size_t degree = 0; degree < 7; degree++) {
            const size_t width = trl_row_width(labels);
            uint32_t link[7];
            size_t at[14];
            for (size_t k = 0; k < 14; k++)
                at[k] = k * width;
            for (uint32_t k = 0; k < degree; k++)
                link[k] = 2 * k + (k & 1);
            double *base = numbers(&rng, 14 * width), *node = numbers(&rng, width);
            double *out = numbers(&rng, 14 * width), *want = numbers(&rng, width);
            const trl_bp_rows rows = {width, degree, node, link, NULL, at, base};
            trl_bp_product(&rows, UINT32_MAX, out);
            bp_product_plain(&rows, UINT32_MAX, want);
            same(width, out, want, "product", degree);
            trl_bp_products(&rows, out);
            for (size_t k = 0; k < degree; k++) {
                bp_product_plain(&rows, link[k], want);
                same(width, out + at[link[k]], want, "products", degree);
            }
            for (size_t n = 1; degree > 0 && n <= labels; n += 5) {
                double *M = matrix(&rng, n, labels), *fresh = numbers(&rng, width);
                double *old = numbers(&rng, width), change, change2 = 0.0;
                const uint32_t skip = link[degree / 2];
                double *scratch = numbers(&rng, width);
                const double norm = trl_bp_through(false, &rows, skip, n, labels, M, 0.0, old,
                                                   scratch, fresh, &change);
                bp_product_plain(&rows, skip, scratch);
                bp_pair_plain(false, n, labels, scratch, M, want);
                const double b = bp_norm_plain(false, width, 0.0, want, old, &change2);
                same(1, &norm, &b, "norm through", degree);
                same(width, fresh, want, "through", degree);
                assert_near(change, change2, 1e-13);
                free(M);
                free(fresh);
                free(old);
                free(scratch);
            }
            free(base);
            free(node);
            free(out);
            free(want);
        }
}

static void test_beliefs(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(36);
    for (size_t n = 1; n <= MAX; n += 1 + n / 8)
        for (size_t k = 1; k <= MAX; k++) {
            const size_t width = trl_row_width(k);
            double *x = numbers(&rng, n), *M = matrix(&rng, n, k), *y = numbers(&rng, width);
            double *row = numbers(&rng, width), *out = numbers(&rng, n * k + 1);
            double *want = numbers(&rng, n * k);
            const double guard = out[n * k];
            const trl_bp_pair_rows pair = {n, k, x, M, y};
            const double a = trl_bp_pair_belief(&pair, 0.0, row, out);
            const double b = bp_pair_belief_plain(n, k, trl_matrix_stride(k), x, M, y, want);
            same(1, &a, &b, "sum of a belief", k);
            same(n * k, out, want, "belief", k);
            assert_true(out[n * k] == guard);
            assert_near(trl_bp_pair_belief(&pair, 1e9, row, out), b, 1e-13 * b);
            same(n * k, out, want, "belief below small", k);
            free(x);
            free(M);
            free(y);
            free(row);
            free(out);
            free(want);
        }
}

/* Ratios have zeros below, maxima infinities and any place. */
static void test_rows(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(37);
    for (size_t n = 0; n <= MAX; n++)
        for (int round = 0; round < 20; round++) {
            double *x = numbers(&rng, n), *y = numbers(&rng, n), *want = numbers(&rng, n);
            double max = -HUGE_VAL, min = HUGE_VAL, low;
            for (size_t i = 0; i < n; i++) {
                x[i] = trl_rng_below(&rng, 5) ? x[i] - 0.5 : -HUGE_VAL;
                max = fmax(max, x[i]);
                min = x[i] > -HUGE_VAL ? fmin(min, x[i]) : min;
                want[i] = y[i] = trl_rng_below(&rng, 4) ? y[i] : 0.0;
            }
            assert_true(trl_bp_extremes(n, x, &low) == max && low == min);
            for (size_t i = 0; i < n; i++)
                x[i] = fabs(x[i]) < 1.0 ? fabs(x[i]) : 0.0;
            trl_table_ratio(n, 0.25, x, y);
            table_ratio_plain(n, 0.25, x, want);
            same(n, y, want, "ratio", n);
            double *below = numbers(&rng, n);
            for (size_t i = 0; i < n; i++) {
                below[i] = trl_rng_below(&rng, 4) ? below[i] : 0.0;
                want[i] = below[i] > 0.0 ? y[i] * x[i] / below[i] : 0.0;
            }
            trl_bp_ratio(n, x, below, y);
            same(n, y, want, "product and ratio", n);
            free(below);
            free(x);
            free(y);
            free(want);
        }
}

static void test_folds(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(35);
    for (int round = 0; round < 2000; round++) {
        const size_t rows = 1 + trl_rng_below(&rng, 30), n = 1 + trl_rng_below(&rng, 30);
        const bool maximise = round % 2;
        double *T = numbers(&rng, rows * n), *x = numbers(&rng, rows + n);
        double *out = numbers(&rng, rows + n), *want = numbers(&rng, rows + n);
        trl_bp_fold_last(maximise, rows, n, T, x, out);
        for (size_t i = 0; i < rows; i++) {
            want[i] = 0.0;
            for (size_t j = 0; j < n; j++)
                want[i] =
                    maximise ? fmax(want[i], T[i * n + j] * x[j]) : want[i] + T[i * n + j] * x[j];
        }
        same(rows, out, want, "fold last", n);
        trl_bp_fold_first(maximise, rows, n, x, T, out);
        for (size_t j = 0; j < n; j++) {
            want[j] = 0.0;
            for (size_t i = 0; i < rows; i++)
                want[j] =
                    maximise ? fmax(want[j], x[i] * T[i * n + j]) : want[j] + x[i] * T[i * n + j];
        }
        same(n, out, want, "fold first", rows);
        free(T);
        free(x);
        free(out);
        free(want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables), cmocka_unit_test(test_exp_sum),
        cmocka_unit_test(test_pairs),  cmocka_unit_test(test_products),
        cmocka_unit_test(test_folds),  cmocka_unit_test(test_beliefs),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
