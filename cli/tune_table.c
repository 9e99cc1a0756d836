/* tune_table.c -- the runs of 'trellis tune' as a table. */
/* SPDX-License-Identifier: MIT */
#include "tune_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "style.h"

void tune_name_of_c(double c, char out[24])
{
    snprintf(out, 24, isinf(c) ? "none" : "%.4g", c);
}

static const char *file_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "-";
}

static const char *variant_name(const trl_tune_run *r)
{
    return r->variant && *r->variant ? r->variant : "-";
}

/* The columns of what there are several values of; r NULL: the heading. */
static void add_names(const tune_table *x, const trl_tune_run *r, text *t)
{
    if (x->variant)
        text_fmt(t, " %-24.24s", r ? variant_name(r) : "variant");
    if (x->tpl)
        text_fmt(t, " %-16.16s", r ? file_name(r->template_name) : "template");
    if (x->objective)
        text_fmt(t, " %-16.16s", r ? r->objective : "objective");
    if (x->halving && !r)
        text_fmt(t, " %6s", "round");
    else if (x->halving)
        text_fmt(t, " %6" PRIu64, r->round + 1);
    if (x->passes && !r)
        text_fmt(t, " %6s", "passes");
    else if (x->passes)
        text_fmt(t, " %6" PRIu64, r->passes);
    if (x->c1 && !r)
        text_fmt(t, " %8s", "c1");
    else if (x->c1)
        text_fmt(t, " %8.4g", r->c1);
}

typedef struct column {
    bool shown;
    int width, digits;
    const char *name;
    double value;
} column;

/* A narrow terminal has fewer columns: 88 hold them all.  The heading has no values. */
static void add_columns(const tune_table *x, const trl_tune_run *r, bool heading, text *t)
{
    const trl_score_totals *h = &r->held_out;
    const size_t wide = style_width(STDOUT_FILENO, 88);
    const double none = (double)NAN;
    const bool known = !isnan(r->score);
    const trl_cv_measure *m = r->measure; /* of trees: precision, recall, f1, exact, tags */
    const bool trees = x->trees && known;
    const bool two = x->chunks || x->trees;
    const column columns[] = {
        {wide >= 63, 8, 4, "c2", r->c2},
        {true, 8, 2, "score", r->score},
        {x->folds, 9, 2, "deviation", r->deviation},
        {two && wide >= 45, 9, 2, "precision",
         trees   ? m[0].all
         : known ? h->precision
                 : none},
        {two && wide >= 45, 8, 2, "recall",
         trees   ? m[1].all
         : known ? h->recall
                 : none},
        {!x->trees && wide >= 54, 8, 2, "accuracy", known ? h->accuracy : none},
        {x->trees && wide >= 54, 8, 2, "tags", trees ? m[4].all : none},
        {wide >= 74, 10, 0, "iterations", known ? (double)r->result.iterations : none},
        {true, 8, 2, "seconds", r->result.seconds},
        {wide >= 88 && !x->folds, 14, 4, "objective", known ? r->result.objective : none},
    };
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        const column *c = &columns[k];
        if (!c->shown)
            continue;
        if (heading)
            text_fmt(t, " %*s", c->width, c->name);
        else if (isnan(c->value))
            text_fmt(t, " %*s", c->width, "-");
        else if (k == 0)
            text_fmt(t, " %*.*g", c->width, c->digits, c->value);
        else
            text_fmt(t, " %*.*f", c->width, c->digits, c->value);
    }
    text_char(t, '\n');
}

void tune_table_add(tune_table *x, const trl_tune_run *r)
{
    char c[24];
    text *t = &x->text;
    tune_name_of_c(r->c, c);
    if (t->n == 0) {
        x->chunks = r->chunks;
        text_fmt(t, "%-7s", "c");
        add_names(x, NULL, t);
        add_columns(x, r, true, t);
    }
    text_fmt(t, "%-7s", isinf(r->c) ? "-" : c);
    add_names(x, r, t);
    add_columns(x, r, false, t);
}

/* All but c; ", " before each. */
static void add_others(const tune_table *x, const trl_tune_run *r, text *t)
{
    if (x->c1)
        text_fmt(t, ", c1 = %.4g", r->c1);
    if (x->passes)
        text_fmt(t, ", %" PRIu64 " passes", r->passes);
    if (x->objective)
        text_fmt(t, ", %s", r->objective);
    if (x->tpl)
        text_fmt(t, ", %s", file_name(r->template_name));
    if (x->variant)
        text_fmt(t, ", variant '%s'", r->variant ? r->variant : "");
}

void tune_setting(const tune_table *x, const trl_tune_run *r, text *t)
{
    char c[24];
    tune_name_of_c(r->c, c);
    text_fmt(t, "c = %s", c);
    add_others(x, r, t);
    text_char(t, '\0');
}

void tune_path(const tune_table *x, const trl_tune_run *r, text *t)
{
    add_others(x, r, t);
    if (x->halving)
        text_fmt(t, ", round %" PRIu64, r->round + 1);
    if (t->n && !t->failed) {
        t->n -= 2;
        memmove(t->p, t->p + 2, t->n);
    }
    text_char(t, '\0');
}

void tune_record_name(const tune_table *x, const trl_tune_run *r, text *t)
{
    char c[24];
    tune_name_of_c(r->c, c);
    text_fmt(t, "c-%s", c);
    if (x->c1)
        text_fmt(t, "-c1-%.4g", r->c1);
    if (x->passes)
        text_fmt(t, "-passes-%" PRIu64, r->passes);
    if (x->objective)
        text_fmt(t, "-%s", r->objective);
    if (x->tpl)
        text_fmt(t, "-%s", file_name(r->template_name));
    for (const char *p = x->variant && r->variant ? r->variant : ""; *p; p++)
        text_fmt(t, "%s%c", p == r->variant ? "-" : "", strchr("/= \t", *p) ? '-' : *p);
    text_str(t, ".json");
    text_char(t, '\0');
}
