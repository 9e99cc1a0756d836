/* bp.h -- belief propagation, plain and tree-reweighted, for sums and for maxima.
 *
 * One message m_e for each edge e = (factor a, variable v), from a to v.  With weights rho_e (all 1
 * in plain BP) [WJW05]
 *
 *     B_v = node_v prod_e m_e^rho_e          the belief of v, over its edges e
 *     n_e = B_v / m_e                        from v to a
 *
 *     m_e(y_v) = sum over y_u of psi_a(y_u, y_v)^(1/rho_e) n_f(y_u)         a = {u, v}, f = (a, u)
 *     m_e(y_v) = n_e(y_v)^(rho_e - 1) sum over the others of psi_a(y_a) prod_f n_f(y_u)^rho_f
 *                                            a larger: the variable y_a, joined to each part
 *     log Z ~ sum_v (1 - sum_e rho_e) log Z_v
 *             + sum_{pairs} rho_a log Z_a + sum_{larger} log Z_a
 *
 * where Z_v = sum B_v, Z_a = sum psi_a^(1/rho) n_u n_v or sum psi_a prod n_f^rho_f.  With rho = 1
 * it is the Bethe approximation; its derivative in theta is the belief, at a fixed point.  Maxima
 * replace the sums in max-product.  Messages sum to 1, or have the maximum 1.
 *
 * Numbers are linear; factors are scaled to a maximum of 1.  When a row's sum falls below
 * TRL_BP_SMALL, what underflow lost might matter: `range` is set and the caller starts again with
 * `log`, where all rows are logarithms.
 *
 * [WJW05] Wainwright, Jaakkola, Willsky. A new class of upper bounds on the log partition function.
 * IEEE Transactions on Information Theory 51(7), 2005.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BP_H
#define TRL_BP_H

#include "base/arena.h"
#include "graph/bp_kernel.h"
#include "graph/layout.h"

#define TRL_BP_SMALL 1e-200

typedef struct trl_bp {
    const trl_graph_view *g;
    const trl_layout *l;
    const double *const *table;
    const uint32_t *label; /* [n_variables] observed labels; NULL: none */
    const double *rho;     /* [n_edges]; NULL: all 1 */
    bool maximise, log;
    double damping;

    double *node;  /* rows at node_at */
    double *m;     /* rows at message_at */
    double *mr;    /* m^rho; m itself without rho; logarithms: NULL */
    double *n;     /* the rows that variables last sent */
    double *power; /* n^rho where a larger factor needs it; NULL without rho */
    const double *
        *matrix; /* [n_edges] of a pair's edge: rows = the other variable's labels; else NULL */
    const double **psi; /* [n_factors] of larger factors, scaled, linear; else NULL */
    double *row[3];     /* of max_width */
    double *cells[2];   /* of max_cells */
    double shift;       /* sum of what the scaling of factors took off log Z */

    uint64_t updates;
    double change; /* the largest since it was last set to 0 */
    bool range;    /* linear: out of range; logarithms: everything is forbidden */
} trl_bp;

/* Takes memory from the arena, and for linear runs exponentiates every table once (with rho: every
 * factor).  `from`, if not NULL, are messages to start with, linear.  TRL_ENOMEM. */
trl_status trl_bp_init(trl_bp *b, trl_arena *a, const double *from, trl_error *err);

/* The row that variable scope[e] sends along e, to `out`. */
void trl_bp_send(const trl_bp *b, uint32_t e, double *out);

/* The message of edge e from present ones, before damping, to `fresh`; returns the largest change
 * |p - q| / (p + q) of an entry, p and q now and before: small entries matter as much as large
 * ones, because another message may make them decisive.  stored: from the rows b->n as they are;
 * otherwise those of the factor's other variables are computed first. */
double trl_bp_fresh(trl_bp *b, uint32_t e, bool stored, double *fresh);

/* The messages into v, with its own potential. */
trl_bp_rows trl_bp_rows_of(const trl_bp *b, uint32_t v);

/* Makes `fresh`, damped, the message of e: a mean of the old and the new one, of their logarithms
 * where rows are logarithms.  Entries become forbidden at once, without damping. */
void trl_bp_accept(trl_bp *b, uint32_t e, double *fresh);

/* All rows n of variable v. */
void trl_bp_send_all(trl_bp *b, uint32_t v);

/* When a run ends: the largest change is at most `tolerance`, or `max_updates` are done. */
typedef struct trl_bp_limits {
    double tolerance;
    uint64_t max_updates;
} trl_bp_limits;

/* Runs a schedule up to its limits, or until the range is left.  Returns whether it converged;
 * *iterations counts sweeps.  *failed: out of memory. */
bool trl_bp_run(trl_bp *b, int schedule, const trl_bp_limits *limits, trl_arena *a,
                uint64_t *iterations, bool *failed);

/* log Z as above, and beliefs; any of the arrays may be NULL.  Sets b->range. */
double trl_bp_value(trl_bp *b, double *variable, double *factor);

/* Messages as linear rows (what trl_bp_init takes as `from`). */
void trl_bp_export(const trl_bp *b, double *out);

/* ---- rows of logarithms: bp_log.c --------------------------------------------------------------
 */

/* As trl_bp_fresh with stored rows; any factor.  Returns the change. */
double trl_bp_fresh_log(trl_bp *b, uint32_t e, double *fresh);
void trl_bp_send_log(const trl_bp *b, uint32_t e, double *out);

/* out[y_v] = the log of sum or max over the cells of factor a with y_v of exp(theta(cell) / rho +
 * the sum of the other rows), v at place `slot`; rows[k] may be NULL, and `allowed[k]`, if not
 * UINT32_MAX, is the only label of variable k that counts. */
typedef struct trl_contraction {
    const trl_graph_view *g;
    size_t factor, slot;
    const double *theta;
    double scale; /* theta is multiplied by it */
    const double *const *rows;
    const uint32_t *allowed; /* NULL: all */
    bool maximise;
} trl_contraction;
void trl_contract_log(const trl_contraction *c, double *out);

#endif
