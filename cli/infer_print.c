/* infer_print.c -- answers about a graph. */
/* SPDX-License-Identifier: MIT */
#include "infer_print.h"

#include <inttypes.h>
#include <math.h>

const char *const infer_tasks[] = {"PR", "MAR", "MPE", NULL};
const char *const infer_methods[] = {"exact", "bp", "trw", "mf", "gibbs", "mplp", NULL};

static double log10_of(double log_z)
{
    return log_z / log(10.0);
}

const char *infer_value_status(trl_value_status status)
{
    static const char *const names[] = {
        [TRL_VALUE_NONE] = "unknown",      [TRL_VALUE_EXACT] = "exact",
        [TRL_VALUE_ESTIMATE] = "estimate", [TRL_VALUE_UPPER] = "upper bound",
        [TRL_VALUE_LOWER] = "lower bound",
    };
    return names[status];
}

/* ---- as the UAI evaluations want it -----------------------------------------------------------
 */

static void uai_case(const infer_printer *p, const trl_graph_view *g, const trl_infer_result *r,
                     text *t)
{
    if (p->task == TASK_PR) {
        text_fmt(t, "%.12g\n", log10_of(r->log_z));
        return;
    }
    text_fmt(t, "%zu", g->n_variables);
    for (size_t v = 0; v < g->n_variables; v++) {
        if (p->task == TASK_MPE) {
            text_fmt(t, " %" PRIu32, r->y[v]);
            continue;
        }
        text_fmt(t, " %" PRIu32, g->labels[v]);
        for (size_t i = g->label_at[v]; i < g->label_at[v + 1]; i++)
            text_fmt(t, " %.10g", r->variable[i]);
    }
    text_char(t, '\n');
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void table_case(const infer_printer *p, const trl_graph_view *g, const trl_infer_result *r,
                       text *t)
{
    if (p->cases > 1)
        text_fmt(t, "%scase %zu\n", p->done ? "\n" : "", p->done + 1);
    if (p->task == TASK_PR) {
        text_fmt(t, "log Z    %.12g\nlog10 Z  %.12g\nvalue    %s\n", r->log_z, log10_of(r->log_z),
                 infer_value_status(r->log_z_status));
    } else if (p->task == TASK_MPE) {
        text_fmt(t, "score  %.12g\nvalue  %s\n", r->score, r->exact ? "exact" : "estimate");
        if (!r->exact && r->bound < HUGE_VAL)
            text_fmt(t, "bound  %.12g\n", r->bound);
        text_str(t, "\nvariable  label\n");
        for (size_t v = 0; v < g->n_variables; v++)
            text_fmt(t, "%8zu  %5" PRIu32 "\n", v, r->y[v]);
    } else {
        text_fmt(t, "value  %s\n\nvariable  label  probability\n",
                 r->exact_marginals ? "exact" : "estimate");
        for (size_t v = 0; v < g->n_variables; v++)
            for (size_t i = g->label_at[v]; i < g->label_at[v + 1]; i++)
                text_fmt(t, "%8zu  %5zu  %11.8f\n", v, i - g->label_at[v], r->variable[i]);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_key(text *t, const char *key, double x)
{
    text_fmt(t, ",\"%s\":", key);
    text_json_real(t, x);
}

static void json_case(const infer_printer *p, const trl_graph_view *g, const trl_infer_result *r,
                      text *t)
{
    text_fmt(t, "%s{\"converged\":%s,\"iterations\":%" PRIu64 ",\"updates\":%" PRIu64,
             p->done ? "," : "", r->converged ? "true" : "false", r->iterations, r->updates);
    json_key(t, "change", r->change);
    if (p->task == TASK_MPE) {
        json_key(t, "score", r->score);
        json_key(t, "bound", r->bound);
        text_fmt(t, ",\"exact\":%s,\"labels\":[", r->exact ? "true" : "false");
        for (size_t v = 0; v < g->n_variables; v++)
            text_fmt(t, "%s%" PRIu32, v ? "," : "", r->y[v]);
        text_str(t, "]}");
        return;
    }
    json_key(t, "log_z", r->log_z);
    json_key(t, "log10_z", log10_of(r->log_z));
    text_fmt(t, ",\"kind\":\"%s\",\"exact\":%s", infer_value_status(r->log_z_status),
             r->exact_marginals ? "true" : "false");
    if (p->task == TASK_MAR) {
        text_str(t, ",\"marginals\":[");
        for (size_t v = 0; v < g->n_variables; v++)
            for (size_t i = g->label_at[v]; i < g->label_at[v + 1]; i++) {
                text_str(t, i > g->label_at[v] ? "," : v ? "],[" : "[");
                text_json_real(t, r->variable[i]);
            }
        text_str(t, g->n_variables ? "]]" : "]");
    }
    text_char(t, '}');
}

/* ---- any of them ------------------------------------------------------------------------------
 */

void infer_print_head(const infer_printer *p, text *t)
{
    if (p->form == FORM_UAI) {
        text_fmt(t, "%s\n", infer_tasks[p->task]);
        if (p->counted)
            text_fmt(t, "%zu\n", p->cases);
    } else if (p->form == FORM_JSON)
        text_fmt(t, "{\"task\":\"%s\",\"method\":\"%s\",\"cases\":[", infer_tasks[p->task],
                 infer_methods[p->method]);
}

void infer_print_case(infer_printer *p, const trl_graph_view *g, const trl_infer_result *r, text *t)
{
    if (p->form == FORM_UAI)
        uai_case(p, g, r, t);
    else if (p->form == FORM_TABLE)
        table_case(p, g, r, t);
    else
        json_case(p, g, r, t);
    p->done++;
}

void infer_print_tail(const infer_printer *p, text *t)
{
    if (p->form == FORM_JSON)
        text_str(t, "]}\n");
}

/* ---- sizes ----------------------------------------------------------------------------------- */

typedef struct graph_sizes {
    uint32_t most_labels;
    size_t most_variables, largest; /* of a factor: variables, cells */
    double zeros;                   /* share of forbidden cells */
} graph_sizes;

static graph_sizes measure(const trl_graph_view *g)
{
    graph_sizes s = {0};
    size_t zeros = 0;
    for (size_t v = 0; v < g->n_variables; v++)
        s.most_labels = g->labels[v] > s.most_labels ? g->labels[v] : s.most_labels;
    for (size_t a = 0; a < g->n_factors; a++) {
        const size_t cells = g->cell_at[a + 1] - g->cell_at[a];
        const size_t n = g->scope_at[a + 1] - g->scope_at[a];
        s.largest = cells > s.largest ? cells : s.largest;
        s.most_variables = n > s.most_variables ? n : s.most_variables;
        for (size_t i = 0; i < cells; i++)
            zeros += g->table[g->table_of[a]][i] == -HUGE_VAL;
    }
    s.zeros = g->n_factors ? (double)zeros / (double)g->cell_at[g->n_factors] : 0.0;
    return s;
}

void infer_print_info(const trl_graph_view *g, const trl_infer_info *jtree, const char *refused,
                      infer_form form, text *t)
{
    const graph_sizes s = measure(g);
    const size_t cells = g->cell_at[g->n_factors];
    if (form != FORM_JSON) {
        text_fmt(t, "variables   %zu, up to %" PRIu32 " labels\n", g->n_variables, s.most_labels);
        text_fmt(t, "factors     %zu, up to %zu variables\n", g->n_factors, s.most_variables);
        text_fmt(t, "cells       %zu, up to %zu a factor, %.1f %% forbidden\n", cells, s.largest,
                 100.0 * s.zeros);
        if (jtree)
            text_fmt(t, "cliques     %zu, width %zu, %.0f cells, up to %.0f a clique\n",
                     jtree->n_cliques, jtree->width, jtree->cells, jtree->largest);
        else
            text_fmt(t, "cliques     %s\n", refused);
        return;
    }
    text_fmt(t, "{\"variables\":%zu,\"most_labels\":%" PRIu32 ",\"factors\":%zu", g->n_variables,
             s.most_labels, g->n_factors);
    text_fmt(t, ",\"most_variables\":%zu,\"cells\":%zu,\"largest_factor\":%zu", s.most_variables,
             cells, s.largest);
    json_key(t, "forbidden", s.zeros);
    if (jtree) {
        text_fmt(t, ",\"cliques\":%zu,\"width\":%zu", jtree->n_cliques, jtree->width);
        json_key(t, "clique_cells", jtree->cells);
        json_key(t, "largest_clique", jtree->largest);
    } else {
        text_str(t, ",\"refused\":");
        text_json_str(t, refused);
    }
    text_str(t, "}\n");
}
