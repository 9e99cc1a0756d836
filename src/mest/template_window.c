/* template_window.c -- tabulating what the macros of a line make of every value. */
/* SPDX-License-Identifier: MIT */
#include "mest/template_window.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

bool trl_line_has_window(const trl_template *tpl, size_t line)
{
    size_t n = 0;
    for (size_t i = 0; i < trl_template_pieces(tpl, line); i++) {
        const trl_piece pc = trl_template_piece(tpl, line, i);
        n += pc.macro;
        if (pc.macro && (pc.absolute || pc.row < -TRL_REACH_MAX || pc.row > TRL_REACH_MAX))
            return false;
    }
    return n <= TRL_MACROS_MAX;
}

/* ---- macros ---------------------------------------------------------------------------------- */

static uint32_t text_of(const trl_view_source *s, size_t line, size_t piece, trl_str cell,
                        trl_buf *buf)
{
    buf->len = 0;
    if (!trl_template_apply(s->tpl, line, piece, cell, buf))
        return TRL_NO_ID;
    return trl_strtab_add(s->texts, buf->len ? buf->data : "", buf->len);
}

/* After the last value comes the one that was never seen. */
static trl_str value_text(const trl_strtab *values, size_t k)
{
    return k < values->n ? trl_strtab_get(values, (uint32_t)k)
                         : (trl_str){TRL_OOV, strlen(TRL_OOV)};
}

static bool tabulate(const trl_template_window *v, const trl_view_source *s, trl_view_macro *m,
                     trl_buf *buf)
{
    const trl_strtab *values = &s->columns->values[m->column];
    const int reach = (int)v->reach;
    m->of_value = trl_alloc(values->n + 1, sizeof *m->of_value);
    m->outside = trl_alloc(2 * v->reach + 1, sizeof *m->outside);
    if (!m->of_value || !m->outside)
        return false;
    for (size_t k = 0; k <= values->n; k++) {
        m->of_value[k] = text_of(s, v->line, m->piece, value_text(values, k), buf);
        if (m->of_value[k] == TRL_NO_ID)
            return false;
    }
    m->outside[reach] = 0; /* not used */
    for (int d = -reach; d <= reach; d++) {
        char scratch[24];
        if (d == 0)
            continue;
        m->outside[reach + d] =
            text_of(s, v->line, m->piece, trl_template_outside(s->tpl, d, scratch), buf);
        if (m->outside[reach + d] == TRL_NO_ID)
            return false;
    }
    return true;
}

static size_t hmm_column(const trl_hmm *h, size_t column)
{
    size_t c = 0;
    while (c < h->n_columns && h->column[c].column != column)
        c++;
    return c;
}

/* Lists the macros; reach is known afterwards. */
static trl_status list_macros(trl_template_window *v, const trl_view_source *s, trl_error *err)
{
    const size_t n = trl_template_pieces(s->tpl, v->line);
    v->macro = trl_zalloc(n, sizeof *v->macro);
    v->order = trl_alloc(n, sizeof *v->order);
    v->cell = trl_zalloc(n, sizeof *v->cell);
    if (!v->macro || !v->order || !v->cell)
        return trl_fail_mem(err);
    for (size_t i = 0; i < n; i++) {
        const trl_piece pc = trl_template_piece(s->tpl, v->line, i);
        if (!pc.macro)
            continue;
        if (hmm_column(s->hmm, pc.column) == s->hmm->n_columns)
            return trl_fail(err, TRL_EINVAL,
                            "the template reads column %zu, which q0 does not generate", pc.column);
        const size_t far = (size_t)(pc.row < 0 ? -pc.row : pc.row);
        v->reach = far > v->reach ? far : v->reach;
        v->macro[v->n_macros++] =
            (trl_view_macro){.piece = i, .column = pc.column, .row = (int)pc.row};
    }
    return TRL_OK;
}

static bool goes_before(const trl_view_macro *a, const trl_view_macro *b)
{
    return a->row != b->row ? a->row < b->row : a->column < b->column;
}

/* Insertion sort by row and column (lines have a handful of macros), then runs become cells. */
static void group_cells(trl_template_window *v)
{
    for (size_t i = 0; i < v->n_macros; i++) {
        size_t k = i;
        for (; k > 0 && goes_before(&v->macro[i], &v->macro[v->order[k - 1]]); k--)
            v->order[k] = v->order[k - 1];
        v->order[k] = i;
    }
    for (size_t k = 0; k < v->n_macros; k++) {
        const trl_view_macro *m = &v->macro[v->order[k]];
        trl_view_cell *last = v->n_cells ? &v->cell[v->n_cells - 1] : NULL;
        if (!last || last->row != m->row || last->column != m->column) {
            last = &v->cell[v->n_cells++];
            *last = (trl_view_cell){.row = m->row, .column = m->column, .first = k};
        }
        last->n_macros++;
    }
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* The outcome whose texts are those of value k (k < SIZE_MAX), or of the row outside at d. */
static uint32_t outcome_of(const trl_template_window *v, trl_view_cell *c, size_t k, int d,
                           uint32_t *key)
{
    for (size_t i = 0; i < c->n_macros; i++) {
        const trl_view_macro *m = &v->macro[v->order[c->first + i]];
        key[i] = k != SIZE_MAX ? m->of_value[k] : m->outside[(int)v->reach + d];
    }
    return trl_strtab_add(&c->outcomes, (const char *)key, c->n_macros * sizeof *key);
}

/* Every value's part of the probability of the HMM's value it is taken for, the one that was never
 * seen included.  Masked values occur only as OOV. */
static double *share_values(const trl_view_source *s, size_t column, uint32_t *taken_for)
{
    const trl_strtab *values = &s->columns->values[column];
    const size_t h = hmm_column(s->hmm, column);
    double *share = trl_zalloc(values->n + 1, sizeof *share);
    uint64_t rare = 1;
    for (size_t k = 0; share && k < values->n; k++) {
        taken_for[k] = trl_hmm_value(s->hmm, h, trl_strtab_get(values, (uint32_t)k));
        share[k] = taken_for[k] ? 1.0 : 0.0;
        rare += taken_for[k] == 0;
    }
    for (size_t k = 0; share && !s->columns->masked && k < values->n; k++)
        share[k] = taken_for[k] ? 1.0 : 1.0 / (double)rare;
    taken_for[values->n] = 0;
    if (share)
        share[values->n] = s->columns->masked ? 1.0 : 1.0 / (double)rare;
    return share;
}

static bool add_probabilities(const trl_template_window *v, const trl_view_source *s,
                              trl_view_cell *c, const uint32_t *outcome)
{
    const trl_strtab *values = &s->columns->values[c->column];
    const double *e = s->hmm->column[hmm_column(s->hmm, c->column)].p;
    uint32_t *taken_for = trl_alloc(values->n + 1, sizeof *taken_for);
    double *share = taken_for ? share_values(s, c->column, taken_for) : NULL;
    c->p = trl_zalloc(c->outcomes.n, v->L * sizeof *c->p);
    for (size_t k = 0; share && c->p && k <= values->n; k++)
        for (size_t y = 0; y < v->L; y++)
            c->p[outcome[k] * v->L + y] += share[k] * e[taken_for[k] * v->L + y];
    const bool good = share && c->p;
    trl_free(taken_for);
    trl_free(share);
    return good;
}

static bool tabulate_cell(trl_template_window *v, const trl_view_source *s, trl_view_cell *c)
{
    const size_t n = s->columns->values[c->column].n + 1;
    const int reach = (int)v->reach;
    uint32_t *key = trl_alloc(c->n_macros, sizeof *key);
    uint32_t *outcome = trl_alloc(n, sizeof *outcome);
    c->outside = trl_zalloc(2 * v->reach + 1, sizeof *c->outside);
    bool good = key && outcome && c->outside;
    for (size_t k = 0; good && k < n; k++) {
        outcome[k] = outcome_of(v, c, k, 0, key);
        good = outcome[k] != TRL_NO_ID;
    }
    for (int d = -reach; good && d <= reach; d++)
        if (d != 0) {
            c->outside[reach + d] = outcome_of(v, c, SIZE_MAX, d, key);
            good = c->outside[reach + d] != TRL_NO_ID;
        }
    good = good && add_probabilities(v, s, c, outcome);
    trl_free(key);
    trl_free(outcome);
    return good;
}

/* ---- the whole ------------------------------------------------------------------------------- */

trl_status trl_template_window_init(trl_template_window *v, const trl_view_source *s, size_t line,
                                    trl_error *err)
{
    *v = (trl_template_window){.line = line, .L = s->hmm->L};
    trl_buf buf = {0};
    trl_status st = list_macros(v, s, err);
    for (size_t i = 0; st == TRL_OK && i < v->n_macros; i++)
        if (!tabulate(v, s, &v->macro[i], &buf))
            st = trl_fail_mem(err);
    if (st == TRL_OK)
        group_cells(v);
    for (size_t j = 0; st == TRL_OK && j < v->n_cells; j++)
        if (!tabulate_cell(v, s, &v->cell[j]))
            st = trl_fail_mem(err);
    trl_buf_fini(&buf);
    if (st != TRL_OK)
        trl_template_window_fini(v);
    return st;
}

void trl_template_window_fini(trl_template_window *v)
{
    for (size_t i = 0; i < v->n_macros; i++) {
        trl_free(v->macro[i].of_value);
        trl_free(v->macro[i].outside);
    }
    for (size_t j = 0; j < v->n_cells; j++) {
        trl_strtab_fini(&v->cell[j].outcomes);
        trl_free(v->cell[j].p);
        trl_free(v->cell[j].outside);
    }
    trl_free(v->macro);
    trl_free(v->order);
    trl_free(v->cell);
    *v = (trl_template_window){0};
}

void trl_template_window_texts(const trl_template_window *v, const trl_column_values *c,
                               const uint32_t *id, size_t n, size_t t, uint32_t *text)
{
    for (size_t i = 0; i < v->n_macros; i++) {
        const trl_view_macro *m = &v->macro[i];
        const int64_t at = (int64_t)t + m->row;
        if (at < 0)
            text[i] = m->outside[(int64_t)v->reach + at];
        else if (at >= (int64_t)n)
            text[i] = m->outside[(int64_t)v->reach + (at - (int64_t)n + 1)];
        else
            text[i] = m->of_value[id[(size_t)at * c->n_columns + m->column]];
    }
}

bool trl_template_window_outcomes(const trl_template_window *v, const uint32_t *text,
                                  uint32_t *outcome)
{
    for (size_t j = 0; j < v->n_cells; j++) {
        const trl_view_cell *c = &v->cell[j];
        uint32_t key[TRL_MACROS_MAX];
        for (size_t i = 0; i < c->n_macros; i++)
            key[i] = text[v->order[c->first + i]];
        outcome[j] = trl_strtab_find(&c->outcomes, (const char *)key, c->n_macros * sizeof *key);
        if (outcome[j] == TRL_NO_ID)
            return false;
    }
    return true;
}
