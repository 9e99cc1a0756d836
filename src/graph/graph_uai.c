/* graph_uai.c -- the format of the UAI evaluations.
 *
 *     MARKOV                         or BAYES: read alike, a conditional table is a factor
 *     number of variables            whose last variable is the child
 *     labels_0 labels_1 ...
 *     number of factors
 *     m variable_1 ... variable_m    a line for each factor
 *
 *     number of cells                for each factor in turn, the last variable fastest
 *     value value ...
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "graph/graph_scan.h"

static trl_status read_network_type(trl_graph_scan *s, trl_error *err)
{
    bool more;
    const trl_status st = trl_scan_word(s, &more, err);
    if (st != TRL_OK)
        return st;
    if (more && ((s->word.n == 6 && memcmp(s->word.p, "MARKOV", 6) == 0) ||
                 (s->word.n == 5 && memcmp(s->word.p, "BAYES", 5) == 0)))
        return TRL_OK;
    trl_fail(err, TRL_EPARSE, "the file starts neither with MARKOV nor with BAYES");
    return trl_scan_fail(s, TRL_EPARSE, err);
}

static trl_status read_variables(trl_graph_scan *s, trl_graph *g, trl_error *err)
{
    uint64_t n, labels;
    trl_status st = trl_scan_count(s, "the number of variables", TRL_GRAPH_MAX_VARIABLES, &n, err);
    for (; st == TRL_OK && n > 0; n--) {
        st = trl_scan_count(s, "a number of labels", UINT32_MAX - 1, &labels, err);
        if (st == TRL_OK && labels == 0) {
            trl_fail(err, TRL_EPARSE, "a variable without labels");
            st = trl_scan_fail(s, TRL_EPARSE, err);
        }
        if (st == TRL_OK)
            st = trl_graph_add_variable(g, (uint32_t)labels, err);
    }
    return st;
}

/* All scopes come before the first table: each as its size and its variables. */
typedef struct uai_scopes {
    uint32_t *p;
    size_t n, cap;
    uint64_t n_factors;
} uai_scopes;

static trl_status read_scope(trl_graph_scan *s, const trl_graph *g, uai_scopes *to, trl_error *err)
{
    uint64_t m, x;
    trl_status st =
        trl_scan_count(s, "the number of a factor's variables", TRL_GRAPH_MAX_ARITY, &m, err);
    if (st != TRL_OK)
        return st;
    uint32_t *p = trl_reserve(to->p, &to->cap, to->n + m + 1, sizeof *p);
    if (!p)
        return trl_fail_mem(err);
    to->p = p;
    p += to->n;
    to->n += m + 1;
    p[0] = (uint32_t)m;
    for (size_t k = 1; k <= m && st == TRL_OK; k++) {
        if (g->n_variables == 0) {
            trl_fail(err, TRL_EPARSE, "a factor needs variables, but there are none");
            return trl_scan_fail(s, TRL_EPARSE, err);
        }
        st = trl_scan_count(s, "a variable", g->n_variables - 1, &x, err);
        for (size_t j = 1; st == TRL_OK && j < k; j++)
            if (p[j] == x) {
                trl_fail(err, TRL_EPARSE, "variable %" PRIu64 " is twice in a factor", x);
                st = trl_scan_fail(s, TRL_EPARSE, err);
            }
        p[k] = (uint32_t)x;
    }
    return st;
}

static trl_status read_scopes(trl_graph_scan *s, const trl_graph *g, uai_scopes *to, trl_error *err)
{
    trl_status st = trl_scan_count(s, "the number of factors", UINT32_MAX - 2, &to->n_factors, err);
    for (uint64_t a = 0; st == TRL_OK && a < to->n_factors; a++)
        st = read_scope(s, g, to, err);
    return st;
}

/* The values come one by one: memory grows with the file, whatever number of cells it claims. */
static trl_status read_cells(trl_graph_scan *s, size_t cells, double **theta, trl_error *err)
{
    size_t cap = 0;
    trl_status st = TRL_OK;
    for (size_t i = 0; i < cells && st == TRL_OK; i++) {
        double *p = trl_reserve(*theta, &cap, i + 1, sizeof *p);
        if (!p)
            return trl_fail_mem(err);
        *theta = p;
        st = trl_scan_potential(s, &p[i], err);
    }
    return st;
}

static trl_status read_table(trl_graph_scan *s, size_t m, const uint32_t *scope, size_t *room,
                             trl_graph *g, trl_error *err)
{
    const trl_graph_view v = trl_graph_look(g);
    const size_t want = trl_graph_cells(&v, m, scope, *room);
    uint64_t cells;
    trl_status st = trl_scan_count(s, "a number of cells", UINT64_MAX, &cells, err);
    if (st != TRL_OK)
        return st;
    if (want == SIZE_MAX || cells != want) {
        if (want == SIZE_MAX)
            trl_fail(err, TRL_EPARSE, "the tables have too many cells: no more than %zu are left",
                     *room);
        else
            trl_fail(err, TRL_EPARSE, "%" PRIu64 " cells, but the factor's variables make %zu",
                     cells, want);
        return trl_scan_fail(s, TRL_EPARSE, err);
    }
    *room -= want;
    double *theta = NULL;
    st = read_cells(s, want, &theta, err);
    if (st == TRL_OK)
        st = trl_graph_take_table(g, want, theta, err);
    if (st != TRL_OK) {
        trl_free(theta);
        return st;
    }
    return trl_graph_add_factor(g, m, scope, (uint32_t)(g->n_tables - 1), err);
}

trl_status trl_uai_read(trl_graph_scan *s, size_t max_cells, trl_graph *g, trl_error *err)
{
    uai_scopes scopes = {0};
    trl_status st = read_network_type(s, err);
    if (st == TRL_OK)
        st = read_variables(s, g, err);
    if (st == TRL_OK)
        st = read_scopes(s, g, &scopes, err);
    const uint32_t *p = scopes.p;
    for (uint64_t a = 0; st == TRL_OK && a < scopes.n_factors; a++, p += p[0] + 1)
        st = read_table(s, p[0], p + 1, &max_cells, g, err);
    if (st == TRL_OK)
        st = trl_scan_end(s, err);
    trl_free(scopes.p);
    return st;
}

/* ---- writing --------------------------------------------------------------------------------- */

trl_status trl_uai_write(const trl_graph *g, trl_buf *out, trl_error *err)
{
    trl_buf_fmt(out, "MARKOV\n%zu\n", g->n_variables);
    for (size_t v = 0; v < g->n_variables; v++)
        trl_buf_fmt(out, "%s%u", v ? " " : "", g->labels[v]);
    trl_buf_fmt(out, "\n%zu\n", g->n_factors);
    for (size_t a = 0; a < g->n_factors; a++) {
        trl_buf_fmt(out, "%zu", g->scope_at[a + 1] - g->scope_at[a]);
        for (size_t k = g->scope_at[a]; k < g->scope_at[a + 1]; k++)
            trl_buf_fmt(out, " %u", g->scope[k]);
        trl_buf_ch(out, '\n');
    }
    for (size_t a = 0; a < g->n_factors && !out->failed; a++) {
        const size_t cells = g->cell_at[a + 1] - g->cell_at[a];
        const double *theta = g->table[g->table_of[a]];
        trl_buf_fmt(out, "\n%zu\n", cells);
        for (size_t i = 0; i < cells; i++) {
            if (!trl_scan_print(theta[i], out))
                return trl_fail(err, TRL_ENUMERIC, "factor %zu: exp(%g) is not within a double", a,
                                theta[i]);
            trl_buf_ch(out, i + 1 < cells && i % 8 != 7 ? ' ' : '\n');
        }
    }
    return TRL_OK;
}

/* ---- a drawing ------------------------------------------------------------------------------- */

trl_status trl_graph_dot(const trl_graph *g, trl_buf *out, trl_error *err)
{
    if (!g || !out)
        return trl_fail_null(err);
    trl_buf_str(out, "graph {\n");
    for (size_t v = 0; v < g->n_variables; v++)
        trl_buf_fmt(out, "  v%zu [shape=circle, label=\"%zu:%u\"];\n", v, v, g->labels[v]);
    for (size_t a = 0; a < g->n_factors; a++) {
        trl_buf_fmt(out, "  f%zu [shape=box, style=filled, label=\"%zu\"];\n", a, a);
        for (size_t k = g->scope_at[a]; k < g->scope_at[a + 1]; k++)
            trl_buf_fmt(out, "  f%zu -- v%u;\n", a, g->scope[k]);
    }
    trl_buf_str(out, "}\n");
    return out->failed ? trl_fail_mem(err) : TRL_OK;
}
