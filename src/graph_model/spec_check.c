/* spec_check.c -- does a model file fit the data? */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "graph_model/graph_spec.h"

#define CELLS_MAX ((size_t)1 << 24)

typedef struct checking {
    const trl_graph_spec *s;
    const char *name;
    size_t n_columns;
    trl_error *err;
} checking;

static trl_status check_column(const checking *c, size_t column, uint64_t row, uint64_t col)
{
    trl_status st = TRL_OK;
    const uint32_t layer = trl_graph_spec_column(c->s, column);
    if (column >= c->n_columns)
        st = trl_fail(c->err, TRL_EPARSE, "column %zu is asked for, but the data have %zu columns",
                      column, c->n_columns);
    else if (layer != TRL_NO_LAYER)
        st = trl_fail(c->err, TRL_EPARSE,
                      "column %zu has the labels of '%s', which features and conditions do not see",
                      column, c->s->layer[layer].name);
    return st == TRL_OK ? st : trl_fail_where(c->err, st, c->name, row, col);
}

/* The macros of a template, whose lines are at row[]. */
static trl_status check_macros(const checking *c, const trl_template *t, const uint64_t *row,
                               uint64_t col)
{
    for (size_t k = 0; k < trl_template_count(t); k++)
        for (size_t i = 0; i < trl_template_pieces(t, k); i++) {
            const trl_piece p = trl_template_piece(t, k, i);
            const trl_status st = p.macro ? check_column(c, p.column, row[k], col) : TRL_OK;
            if (st != TRL_OK)
                return st;
        }
    return TRL_OK;
}

/* Of GRMM's data, column 0 is the word. */
static trl_status no_labels(const checking *c, const trl_layer *layer)
{
    const bool word = c->s->attributes && layer->column > 0 && c->n_columns > 0;
    const trl_status st =
        word ? trl_fail(c->err, TRL_EPARSE, "label %zu of a line: those of the data have %zu",
                        layer->column - 1, c->n_columns - 1)
             : trl_fail(c->err, TRL_EPARSE, "labels in column %zu: the data have %zu columns",
                        layer->column, c->n_columns);
    trl_fail_where(c->err, st, c->name, layer->row, layer->col);
    return trl_fail_hint(c->err, st, "%s are counted from 0", word ? "labels" : "columns");
}

trl_status trl_graph_spec_check(const trl_graph_spec *s, const char *name, size_t n_columns,
                                trl_error *err)
{
    const checking c = {s, name, n_columns, err};
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < s->n_layers; k++)
        if (s->layer[k].column >= n_columns)
            st = no_labels(&c, &s->layer[k]);
    for (size_t k = 0; st == TRL_OK && k < s->n_templates; k++)
        if (s->tpl[k].tpl)
            st = check_macros(&c, s->tpl[k].tpl, s->tpl[k].row, 0);
    for (size_t k = 0; st == TRL_OK && k < s->n_values; k++)
        if (s->value[k].tpl)
            st = check_macros(&c, s->value[k].tpl, &s->value[k].row, s->value[k].col);
    return st;
}

size_t trl_factor_spec_cells(const trl_factor_spec *f, const size_t *n_labels)
{
    size_t cells = 1;
    for (size_t k = 0; k < f->n; k++) {
        const size_t n = n_labels[f->layer[k]];
        if (n == 0 || cells > CELLS_MAX / n)
            return 0;
        cells *= n;
    }
    return cells;
}
