/* tune_table.h -- the runs of 'trellis tune' as a table. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TUNE_TABLE_H
#define CLI_TUNE_TABLE_H

#include "text.h"
#include "trellis/tune.h"

/* What the search has several of: these get columns. */
typedef struct tune_table {
    bool c1, objective, tpl, passes, folds, halving, trees, variant;
    bool chunks; /* set by the first row */
    text text;
} tune_table;

/* "none" without a penalty. */
void tune_name_of_c(double c, char out[24]);

/* A row; the heading before the first one. */
void tune_table_add(tune_table *t, const trl_tune_run *r);

/* What tells a setting from others: "c = 1, c1 = 0.1, objective memm". */
void tune_setting(const tune_table *x, const trl_tune_run *r, text *t);

/* The same without c: what a path along c is called; "" when there is but one. */
void tune_path(const tune_table *t, const trl_tune_run *r, text *out);

/* The name of the record of a run; all of these have a NUL at the end. */
void tune_record_name(const tune_table *t, const trl_tune_run *r, text *out);

#endif
