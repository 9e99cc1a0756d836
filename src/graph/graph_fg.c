/* graph_fg.c -- libDAI's format.
 *
 *     number of factors
 *                                  an empty line before each factor; '#' starts a comment
 *     number of variables m
 *     variable_1 ... variable_m
 *     labels_1 ... labels_m
 *     number of cells that follow; those not named are 0
 *     cell value                   cell = y_1 + labels_1 (y_2 + labels_2 (y_3 + ...))
 *
 * The first variable changes fastest, so the scope is kept in reverse: then the last one does.  A
 * number below the largest that no factor names is a variable with one label.
 */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "graph/graph_scan.h"

/* Variables become known one by one, but are added in order at the end: until then their labels are
 * here. */
typedef struct fg_reader {
    trl_graph_scan *s;
    uint32_t *labels; /* 0: not named yet */
    size_t n_variables, cap_labels;
    uint32_t *scope; /* of all factors: their size, then the variables in reverse */
    size_t n_scope, cap_scope;
    size_t cells, max_cells;
} fg_reader;

static trl_status set_labels(fg_reader *r, uint32_t variable, uint32_t labels, trl_error *err)
{
    uint32_t *p = trl_reserve(r->labels, &r->cap_labels, (size_t)variable + 1, sizeof *p);
    if (!p)
        return trl_fail_mem(err);
    r->labels = p;
    for (; r->n_variables <= variable; r->n_variables++)
        p[r->n_variables] = 0;
    if (p[variable] == 0)
        p[variable] = labels;
    if (p[variable] == labels)
        return TRL_OK;
    trl_fail(err, TRL_EPARSE, "variable %u has %u labels here, but %u before", variable, labels,
             p[variable]);
    return trl_scan_fail(r->s, TRL_EPARSE, err);
}

/* The scope of a factor in reverse, and its number of cells. */
static trl_status read_scope(fg_reader *r, size_t *cells, trl_error *err)
{
    uint64_t m, x;
    trl_status st =
        trl_scan_count(r->s, "the number of a factor's variables", TRL_GRAPH_MAX_ARITY, &m, err);
    if (st != TRL_OK)
        return st;
    uint32_t *p = trl_reserve(r->scope, &r->cap_scope, r->n_scope + m + 1, sizeof *p);
    if (!p)
        return trl_fail_mem(err);
    r->scope = p;
    p += r->n_scope;
    p[0] = (uint32_t)m;
    r->n_scope += m + 1;
    for (size_t k = 0; k < m && st == TRL_OK; k++) {
        st = trl_scan_count(r->s, "a variable", TRL_GRAPH_MAX_VARIABLES - 1, &x, err);
        for (size_t j = m - k + 1; st == TRL_OK && j <= m; j++)
            if (p[j] == x) {
                trl_fail(err, TRL_EPARSE, "variable %" PRIu64 " is twice in a factor", x);
                st = trl_scan_fail(r->s, TRL_EPARSE, err);
            }
        p[m - k] = (uint32_t)x;
    }
    *cells = 1;
    for (size_t k = 0; k < m && st == TRL_OK; k++) {
        st = trl_scan_count(r->s, "a number of labels", UINT32_MAX - 1, &x, err);
        if (st == TRL_OK &&
            (x == 0 || __builtin_mul_overflow(*cells, x, cells) || *cells > r->max_cells)) {
            trl_fail(err, TRL_EPARSE,
                     x == 0 ? "a variable without labels"
                            : "the factor's table has more than %zu cells",
                     r->max_cells);
            st = trl_scan_fail(r->s, TRL_EPARSE, err);
        }
        if (st == TRL_OK)
            st = set_labels(r, p[m - k], (uint32_t)x, err);
    }
    return st;
}

static trl_status read_cells(fg_reader *r, size_t cells, double *theta, trl_error *err)
{
    uint64_t n, at;
    for (size_t i = 0; i < cells; i++)
        theta[i] = NAN; /* not named */
    trl_status st = trl_scan_count(r->s, "the number of cells that follow", cells, &n, err);
    for (; st == TRL_OK && n > 0; n--) {
        st = trl_scan_count(r->s, "a cell's number", cells - 1, &at, err);
        if (st == TRL_OK && !isnan(theta[at])) {
            trl_fail(err, TRL_EPARSE, "cell %" PRIu64 " comes twice", at);
            st = trl_scan_fail(r->s, TRL_EPARSE, err);
        }
        if (st == TRL_OK)
            st = trl_scan_potential(r->s, &theta[at], err);
    }
    for (size_t i = 0; i < cells; i++)
        if (isnan(theta[i]))
            theta[i] = -HUGE_VAL;
    return st;
}

static trl_status read_factor(fg_reader *r, trl_graph *g, trl_error *err)
{
    size_t cells = 1;
    trl_status st = read_scope(r, &cells, err);
    if (st != TRL_OK)
        return st;
    if (r->cells + cells > r->max_cells) {
        trl_fail(err, TRL_EPARSE, "the tables have more than %zu cells", r->max_cells);
        return trl_scan_fail(r->s, TRL_EPARSE, err);
    }
    r->cells += cells;
    double *theta = trl_alloc(cells, sizeof *theta);
    if (!theta)
        return trl_fail_mem(err);
    st = read_cells(r, cells, theta, err);
    if (st == TRL_OK)
        st = trl_graph_take_table(g, cells, theta, err);
    if (st != TRL_OK)
        trl_free(theta);
    return st;
}

static trl_status add_all(const fg_reader *r, trl_graph *g, trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t v = 0; v < r->n_variables && st == TRL_OK; v++)
        st = trl_graph_add_variable(g, r->labels[v] ? r->labels[v] : 1, err);
    const uint32_t *p = r->scope;
    for (uint32_t a = 0; a < g->n_tables && st == TRL_OK; a++, p += p[0] + 1)
        st = trl_graph_add_factor(g, p[0], p + 1, a, err);
    return st;
}

trl_status trl_fg_read(trl_graph_scan *s, size_t max_cells, trl_graph *g, trl_error *err)
{
    fg_reader r = {.s = s, .max_cells = max_cells};
    uint64_t n;
    trl_status st = trl_scan_count(s, "the number of factors", UINT32_MAX - 2, &n, err);
    for (; st == TRL_OK && n > 0; n--)
        st = read_factor(&r, g, err);
    if (st == TRL_OK)
        st = trl_scan_end(s, err);
    if (st == TRL_OK)
        st = add_all(&r, g, err);
    trl_free(r.labels);
    trl_free(r.scope);
    return st;
}

/* ---- writing --------------------------------------------------------------------------------- */

trl_status trl_fg_write(const trl_graph *g, trl_buf *out, trl_error *err)
{
    trl_buf_fmt(out, "%zu\n", g->n_factors);
    for (size_t a = 0; a < g->n_factors && !out->failed; a++) {
        const size_t from = g->scope_at[a], to = g->scope_at[a + 1];
        const size_t cells = g->cell_at[a + 1] - g->cell_at[a];
        const double *theta = g->table[g->table_of[a]];
        trl_buf_fmt(out, "\n%zu\n", to - from);
        for (size_t k = to; k-- > from;)
            trl_buf_fmt(out, "%u%s", g->scope[k], k > from ? " " : "");
        trl_buf_ch(out, '\n');
        for (size_t k = to; k-- > from;)
            trl_buf_fmt(out, "%u%s", g->labels[g->scope[k]], k > from ? " " : "");
        trl_buf_ch(out, '\n');
        size_t n = 0;
        for (size_t i = 0; i < cells; i++)
            n += theta[i] > -HUGE_VAL;
        trl_buf_fmt(out, "%zu\n", n);
        for (size_t i = 0; i < cells; i++) {
            if (!(theta[i] > -HUGE_VAL))
                continue;
            trl_buf_fmt(out, "%zu ", i);
            if (!trl_scan_print(theta[i], out))
                return trl_fail(err, TRL_ENUMERIC, "factor %zu: exp(%g) is not within a double", a,
                                theta[i]);
            trl_buf_ch(out, '\n');
        }
    }
    return TRL_OK;
}
