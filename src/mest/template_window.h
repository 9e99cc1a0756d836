/* template_window.h -- a template line as constraints on the cells of a window.
 *
 * At position t the macros of a line read cells (row, column) around t; the attribute is a function
 * of what they make of them, their *texts*.  Macros that read the same cell are taken together:
 * what they make of it is the cell's *outcome*. Given the labels, all cells are independent in an
 * HMM, so expectations need only, for every cell of a line,
 *
 *     p(outcome | y) = sum over values v with that outcome of e(v | y)
 *
 * and which outcome the rows before and after the sequence have.
 *
 * Values that the HMM takes for OOV share its probability evenly, and when cells are not
 * masked one more value, never seen, has a share too (feature/column_values.h); macros see TRL_OOV
 * in its place.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEMPLATE_WINDOW_H
#define TRL_TEMPLATE_WINDOW_H

#include "model/hmm.h"
#include "feature/template.h"

#define TRL_REACH_MAX 64 /* rows that a window may reach to either side */
#define TRL_MACROS_MAX 64

typedef struct trl_view_macro {
    size_t piece, column;
    int row;
    uint32_t *of_value; /* [values of the column + 1] text; the last is the value never seen */
    uint32_t *outside;  /* [2 reach + 1] text of the row at distance d, at reach + d */
} trl_view_macro;

typedef struct trl_view_cell {
    int row;
    size_t column;
    size_t first, n_macros; /* into trl_template_window.order */
    trl_strtab outcomes;    /* id <-> texts of the macros, as bytes */
    double *p;              /* [outcomes][L] */
    uint32_t *outside;      /* [2 reach + 1] outcome of the row at distance d */
} trl_view_cell;

typedef struct trl_template_window {
    size_t line, L;
    size_t reach; /* largest distance of a row from t */
    size_t n_macros, n_cells;
    trl_view_macro *macro; /* as written in the line */
    size_t *order;         /* [n_macros] by row and column */
    trl_view_cell *cell;   /* by row, then column */
} trl_template_window;

typedef struct trl_view_source { /* borrowed */
    const trl_template *tpl;
    const trl_column_values *columns;
    const trl_hmm *hmm;
    trl_strtab *texts; /* interned here */
} trl_view_source;

/* Can the line be treated this way? It must have no absolute rows, no rows beyond TRL_REACH_MAX and
 * at most TRL_MACROS_MAX macros. */
bool trl_line_has_window(const trl_template *tpl, size_t line);

/* TRL_EINVAL when the HMM does not emit a column that the line reads; TRL_ENOMEM. */
trl_status trl_template_window_init(trl_template_window *v, const trl_view_source *s, size_t line,
                                    trl_error *err);
void trl_template_window_fini(trl_template_window *v);

/* The texts that the line's macros make at position t of a sequence of n tokens whose first cell
 * is id[0]. */
void trl_template_window_texts(const trl_template_window *v, const trl_column_values *c,
                               const uint32_t *id, size_t n, size_t t, uint32_t *text);

/* From texts to outcomes, one per cell.  False when the line can never make these texts. */
bool trl_template_window_outcomes(const trl_template_window *v, const uint32_t *text,
                                  uint32_t *outcome);

#endif
