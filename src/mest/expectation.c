/* expectation.c -- exact expectations: from template lines to windows to weights. */
/* SPDX-License-Identifier: MIT */
#include "mest/expectation.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mest/window.h"
#include "feature/attr_map.h"

typedef struct run {
    const trl_expect_data *x;
    trl_view_source source;
    trl_strtab texts;
    trl_state_graph graph;
    trl_attr_map map;
    double *table; /* [width of the widest family] */
    double *E;
    trl_buf name;
} run;

/* Lines that make the same attributes from the same texts, and all tuples of texts they make. */
typedef struct group {
    size_t n_lines, n_macros;
    trl_template_window *view;    /* [n_lines] */
    trl_strtab tuples;            /* n_macros text ids each, as bytes */
    uint32_t *attr[TRL_FAMILIES]; /* [tuples] attribute, or TRL_NO_ID */
} group;

/* ---- tuples ---------------------------------------------------------------------------------- */

/* The tuples of one line.  Single macros are frequent enough for their own code path. */
static bool collect(const run *r, group *g, const trl_template_window *v)
{
    const trl_column_values *c = r->x->columns;
    bool *seen = g->n_macros == 1 ? trl_zalloc(r->texts.n, sizeof *seen) : NULL;
    if (g->n_macros == 1 && !seen)
        return false;
    bool good = true;
    for (size_t seq = 0; good && seq < c->n_sequences; seq++) {
        const size_t from = (size_t)c->first[seq], n = (size_t)c->first[seq + 1] - from;
        for (size_t t = 0; good && t < n; t++) {
            uint32_t text[TRL_MACROS_MAX];
            trl_template_window_texts(v, c, c->id + from * c->n_columns, n, t, text);
            if (seen && seen[text[0]])
                continue;
            if (seen)
                seen[text[0]] = true;
            good = trl_strtab_add(&g->tuples, (const char *)text, g->n_macros * sizeof *text) !=
                   TRL_NO_ID;
        }
    }
    trl_free(seen);
    return good;
}

/* The texts of tuple k. */
static void get_texts(const group *g, size_t k, uint32_t *text)
{
    const trl_str s = trl_strtab_get(&g->tuples, (uint32_t)k);
    if (s.n)
        memcpy(text, s.p, s.n);
}

/* The attribute's name: literal pieces and texts in turn. */
static bool make_name(run *r, size_t line, const uint32_t *text)
{
    r->name.len = 0;
    for (size_t i = 0, m = 0; i < trl_template_pieces(r->x->tpl, line); i++) {
        const trl_piece pc = trl_template_piece(r->x->tpl, line, i);
        const trl_str s = pc.macro ? trl_strtab_get(&r->texts, text[m++]) : pc.text;
        if (!trl_buf_add(&r->name, s.p, s.n))
            return false;
    }
    return true;
}

/* Which attribute, if any, each tuple is in each family. */
static bool find_attributes(run *r, group *g)
{
    const size_t n = g->tuples.n;
    for (size_t f = 0; f <= (size_t)r->x->design->order; f++) {
        g->attr[f] = trl_alloc(n, sizeof *g->attr[f]);
        if (!g->attr[f])
            return false;
    }
    for (size_t k = 0; k < n; k++) {
        uint32_t text[TRL_MACROS_MAX];
        get_texts(g, k, text);
        if (!make_name(r, g->view[0].line, text))
            return false;
        for (size_t f = 0; f <= (size_t)r->x->design->order; f++)
            g->attr[f][k] = trl_attr_find(&r->map, f, r->name.data, r->name.len);
    }
    return true;
}

/* ---- windows --------------------------------------------------------------------------------- */

typedef struct filling { /* the windows of one line and family */
    size_t n, n_cells;
    uint32_t *tuple;   /* [n] */
    uint32_t *outcome; /* [n][n_cells] */
    uint32_t *order;   /* [n] sorted by outcomes */
    uint32_t *scratch; /* [n] */
} filling;

static void filling_fini(filling *w)
{
    trl_free(w->tuple);
    trl_free(w->outcome);
    trl_free(w->order);
    trl_free(w->scratch);
}

static bool fill(const group *g, const trl_template_window *v, size_t f, filling *w)
{
    const size_t n = g->tuples.n;
    *w = (filling){.n_cells = v->n_cells};
    w->tuple = trl_alloc(n, sizeof *w->tuple);
    w->outcome = trl_alloc(n, (v->n_cells + 1) * sizeof *w->outcome);
    w->order = trl_alloc(n, sizeof *w->order);
    w->scratch = trl_alloc(n, sizeof *w->scratch);
    if (!w->tuple || !w->outcome || !w->order || !w->scratch)
        return false;
    for (size_t k = 0; k < n; k++) {
        uint32_t text[TRL_MACROS_MAX];
        if (g->attr[f][k] == TRL_NO_ID)
            continue;
        get_texts(g, k, text);
        if (!trl_template_window_outcomes(v, text, w->outcome + w->n * v->n_cells))
            continue; /* another line's tuple */
        w->order[w->n] = (uint32_t)w->n;
        w->tuple[w->n++] = (uint32_t)k;
    }
    return true;
}

/* By outcomes, leftmost cell first: counting sorts from the last cell to the first. */
static bool sort(const trl_template_window *v, filling *w)
{
    for (size_t j = v->n_cells; j-- > 0;) {
        size_t *at = trl_zalloc(v->cell[j].outcomes.n + 1, sizeof *at);
        if (!at)
            return false;
        for (size_t i = 0; i < w->n; i++)
            at[w->outcome[i * w->n_cells + j] + 1]++;
        for (size_t b = 0; b < v->cell[j].outcomes.n; b++)
            at[b + 1] += at[b];
        for (size_t i = 0; i < w->n; i++) {
            const uint32_t k = w->order[i];
            w->scratch[at[w->outcome[k * w->n_cells + j]]++] = k;
        }
        uint32_t *t = w->order;
        w->order = w->scratch;
        w->scratch = t;
        trl_free(at);
    }
    return true;
}

static trl_status run_line(run *r, const group *g, const trl_template_window *v, size_t f,
                           trl_error *err)
{
    const trl_family *fam = &r->x->design->family[f];
    trl_window window = {0};
    filling w;
    trl_status st = fill(g, v, f, &w) && sort(v, &w) ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_window_init(&window, &r->graph, v, f, err);
    for (size_t i = 0; st == TRL_OK && i < w.n; i++) {
        if ((st = trl_cancel_check(r->x->cancel, err)) != TRL_OK)
            break;
        const size_t k = w.order[i];
        memset(r->table, 0, fam->width * sizeof *r->table);
        trl_window_add(&window, w.outcome + k * w.n_cells, r->table);
        trl_attr_add(fam, g->attr[f][w.tuple[k]], r->table, r->E);
    }
    trl_window_fini(&window);
    filling_fini(&w);
    return st;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Same literal text around the same number of macros? */
static bool alike(const trl_template *tpl, size_t a, size_t b)
{
    if (trl_template_pieces(tpl, a) != trl_template_pieces(tpl, b))
        return false;
    for (size_t i = 0; i < trl_template_pieces(tpl, a); i++) {
        const trl_piece p = trl_template_piece(tpl, a, i), q = trl_template_piece(tpl, b, i);
        if (p.macro != q.macro)
            return false;
        if (!p.macro && (p.text.n != q.text.n || memcmp(p.text.p, q.text.p, p.text.n) != 0))
            return false;
    }
    return true;
}

static void group_fini(group *g)
{
    for (size_t i = 0; i < g->n_lines; i++)
        trl_template_window_fini(&g->view[i]);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        trl_free(g->attr[f]);
    trl_strtab_fini(&g->tuples);
    trl_free(g->view);
}

/* Windows of line k and those like it, which are then marked `done`. */
static trl_status group_init(run *r, size_t k, bool *done, group *g, trl_error *err)
{
    const trl_template *tpl = r->x->tpl;
    const size_t n = trl_template_count(tpl);
    trl_status st = TRL_OK;
    *g = (group){.view = trl_zalloc(n, sizeof *g->view)};
    if (!g->view)
        return trl_fail_mem(err);
    for (size_t i = k; st == TRL_OK && i < n; i++) {
        if (done[i] || !alike(tpl, k, i))
            continue;
        done[i] = true;
        st = trl_template_window_init(&g->view[g->n_lines], &r->source, i, err);
        g->n_lines += st == TRL_OK;
    }
    g->n_macros = g->n_lines ? g->view[0].n_macros : 0;
    return st;
}

static trl_status run_group(run *r, size_t k, bool *done, trl_error *err)
{
    group g;
    trl_status st = group_init(r, k, done, &g, err);
    for (size_t i = 0; st == TRL_OK && i < g.n_lines; i++) {
        st = trl_cancel_check(r->x->cancel, err);
        if (st == TRL_OK && !collect(r, &g, &g.view[i]))
            st = trl_fail_mem(err);
    }
    if (st == TRL_OK && !find_attributes(r, &g))
        st = trl_fail_mem(err);
    for (size_t i = 0; st == TRL_OK && i < g.n_lines; i++) {
        const size_t line = g.view[i].line;
        const int on = trl_template_cliques(r->x->tpl, line);
        const bool constant = trl_template_is_constant(r->x->tpl, line);
        for (size_t f = 0; st == TRL_OK && f <= (size_t)r->x->design->order; f++)
            if ((on >> f & 1) && !(constant && f > 0)) /* those are the constant attributes */
                st = run_line(r, &g, &g.view[i], f, err);
    }
    group_fini(&g);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static trl_status run_constants(run *r, trl_error *err)
{
    const trl_template_window nothing = {.L = r->graph.L};
    trl_status st = TRL_OK;
    for (size_t f = 1; st == TRL_OK && f <= (size_t)r->x->design->order; f++) {
        const trl_family *fam = &r->x->design->family[f];
        trl_window window;
        if (!fam->has_constant)
            continue;
        st = trl_window_init(&window, &r->graph, &nothing, f, err);
        if (st != TRL_OK)
            break;
        memset(r->table, 0, fam->width * sizeof *r->table);
        trl_window_add(&window, NULL, r->table);
        trl_constant_add(fam, r->table, r->E);
        trl_window_fini(&window);
    }
    return st;
}

static trl_status run_all(run *r, bool *left_over, trl_error *err)
{
    const trl_template *tpl = r->x->tpl;
    const size_t n = trl_template_count(tpl);
    bool *done = trl_alloc(n, sizeof *done);
    if (!done)
        return trl_fail_mem(err);
    for (size_t k = 0; k < n; k++)
        done[k] = left_over[k] = !trl_line_has_window(tpl, k);
    trl_status st = run_constants(r, err);
    for (size_t k = 0; st == TRL_OK && k < n; k++)
        if (!done[k])
            st = run_group(r, k, done, err);
    trl_free(done);
    return st;
}

trl_status trl_expect_exact(const trl_expect_data *x, const trl_hmm *q0, double *E, bool *left_over,
                            trl_error *err)
{
    if (!x->tpl)
        return trl_fail(err, TRL_EINVAL,
                        "attribute lists cannot be generated: q0 needs columns "
                        "and a template, or must be emp");
    run r = {.x = x, .E = E};
    r.source = (trl_view_source){x->tpl, x->columns, q0, &r.texts};
    trl_status st = trl_state_graph_init(&r.graph, q0, err);
    if (st == TRL_OK)
        st = trl_attr_map_init(&r.map, x->corpus, x->design, err);
    r.table = trl_alloc(x->design->family[x->design->order].width, sizeof *r.table);
    if (st == TRL_OK && !r.table)
        st = trl_fail_mem(err);
    if (st == TRL_OK)
        st = run_all(&r, left_over, err);
    trl_state_graph_fini(&r.graph);
    trl_attr_map_fini(&r.map);
    trl_strtab_fini(&r.texts);
    trl_buf_fini(&r.name);
    trl_free(r.table);
    return st;
}
