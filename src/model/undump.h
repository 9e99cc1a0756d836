/* undump.h -- the state of reading a dump; lines and headers are read here for models of graphs,
 * too. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_UNDUMP_H
#define TRL_UNDUMP_H

#include "base/fail.h"
#include "model/chain_parts.h"
#include "text/input.h"

#define TRL_UNDUMP_FIELDS 12 /* factor NAME ATTRIBUTE, eight labels, WEIGHT */

/* The HMM so far. */
typedef struct trl_hmm_parts {
    bool any;
    trl_hmm h; /* `names` and `column` are owned, as in a trained model */
    double *start, *next;
    double **p; /* [n_columns], [values][L] */
    size_t *p_cap;
} trl_hmm_parts;

/* One line `scale`, until the template is known. */
typedef struct trl_undump_scale_line {
    uint32_t property; /* in `scaled` */
    size_t d;
    double mean, factor;
    uint64_t row;
} trl_undump_scale_line;

typedef struct trl_undump_lists {
    trl_named_list *list; /* kinds and entries alone */
    size_t n, cap;
    trl_undump_scale_line *scale;
    size_t n_scales, scale_cap;
    trl_strtab scaled; /* names of properties */
} trl_undump_lists;

typedef struct trl_undump {
    trl_input *in;
    char *line; /* a copy of the line, unescaped in place */
    size_t line_cap;
    trl_str field[TRL_UNDUMP_FIELDS];
    size_t col[TRL_UNDUMP_FIELDS]; /* where each starts, 1-based */
    size_t n_fields;
    trl_error *err;

    const char *kind; /* that it must be of */
    bool has_kind, has_probability, has_columns, in_weights;
    bool must_end, ended; /* a line `end` was announced; was read */
    char *objective;
    trl_buf settings, template_text;
    uint64_t template_row; /* of its first line */
    trl_strtab labels, names[TRL_FAMILIES];
    uint32_t constant[TRL_FAMILIES]; /* ids in names */
    trl_chain_parts parts;
    trl_template *tpl; /* once everything has been read */
    trl_undump_lists lists;
    trl_hmm_parts q0;
    double *calibration; /* [labels]; NULL: none */
} trl_undump;

/* Completes a failure with the place of field k. */
trl_status trl_undump_at(trl_undump *u, size_t k, trl_status st);

#define FAIL_AT(u, k, ...) trl_undump_at((u), (k), trl_fail((u)->err, TRL_EPARSE, __VA_ARGS__))

/* The next line that is not blank or a comment; *more is false at the end. */
trl_status trl_undump_next(trl_undump *u, bool *more);

/* The line `end`; and whether a dump that must have one had it. */
trl_status trl_undump_end(trl_undump *u);
trl_status trl_undump_check_end(trl_undump *u);

/* The first line: trellis-model and a version that is known. */
trl_status trl_undump_version(trl_undump *u);

/* Reads a line that the dumps of all kinds begin with; *known: it is one. */
trl_status trl_undump_header(trl_undump *u, const char *kind, bool *known);

/* Releases what u holds, its input too. */
void trl_undump_fini(trl_undump *u);

/* The part of a name that a message shows. */
static inline int trl_shown(trl_str s)
{
    return s.n < 60 ? (int)s.n : 60;
}

/* The label or the finite number in field k. */
trl_status trl_undump_label(trl_undump *u, size_t k, uint32_t *y);
trl_status trl_undump_number(trl_undump *u, size_t k, double *x);

/* undump_weights.c: the family a word names, or TRL_FAMILIES; the lines of weights. */
size_t trl_undump_family(trl_str word);
trl_status trl_undump_constant(trl_undump *u);
trl_status trl_undump_weight(trl_undump *u, size_t family);

/* What must be known before the first weight or probability. */
trl_status trl_undump_begin(trl_undump *u);

/* undump_hmm.c: the multiplier of a source label; the lines q0-... of an HMM, and its end. */
trl_status trl_undump_calibration(trl_undump *u);
trl_status trl_undump_temperature(trl_undump *u);
trl_status trl_undump_q0_order(trl_undump *u);
trl_status trl_undump_q0_start(trl_undump *u);
trl_status trl_undump_q0_next(trl_undump *u);
trl_status trl_undump_q0_stop(trl_undump *u);
trl_status trl_undump_q0_column(trl_undump *u);
trl_status trl_undump_q0_emit(trl_undump *u);
trl_status trl_undump_q0_finish(trl_undump *u);
void trl_hmm_parts_fini(trl_hmm_parts *p);

#endif
