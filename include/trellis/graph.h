/* graph.h -- factor graphs: building, reading, writing, and inference.
 *
 * A graph has variables v with labels 0 .. labels[v) - 1 and factors a over any number of them,
 *
 *     s(y) = sum_a theta_a(y_a),     p(y) = exp(s(y) - log Z),     Z = sum_y exp s(y).
 *
 * theta_a is a table of log-potentials; -inf forbids what it stands at, NaN and +inf are refused.
 * Cells are in the order of the factor's variables, the last one changing fastest.  Factors may
 * share a table.
 *
 * Inference has three parts: a graph; a plan, which is made once for a graph and a method, is
 * never changed and may be used by many threads; and a workspace, one for each thread, which
 * keeps its memory from run to run.  Tables can be given anew for every run, so that a model in
 * training makes its plans once.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_GRAPH_H
#define TRELLIS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include "trellis/buf.h"
#include "trellis/status.h"

TRL_BEGIN_DECLS

/* ---- graphs ---------------------------------------------------------------------------------- */

typedef struct trl_graph trl_graph;

TRL_API trl_status trl_graph_new(trl_graph **out, trl_error *err);
TRL_API void trl_graph_free(trl_graph *g); /* accepts NULL */

/* Variables, tables and factors are numbered from 0 in the order they are added.  Values are
 * copied; a table without (theta = NULL) gets them anew for every run.  TRL_EINVAL: no labels, a
 * table of no cells, a value that is NaN or +inf, an unknown variable or table, a variable twice in
 * a factor, a table whose shape is another one; TRL_ENOMEM.  After a failure the graph is as it
 * was. */
TRL_API trl_status trl_graph_add_variable(trl_graph *g, uint32_t labels, trl_error *err);
TRL_API trl_status trl_graph_add_table(trl_graph *g, size_t cells, const double *theta,
                                       trl_error *err);
TRL_API trl_status trl_graph_add_factor(trl_graph *g, size_t n, const uint32_t *variables,
                                        uint32_t table, trl_error *err);

/* The whole graph, borrowed until it is changed or freed. */
typedef struct trl_graph_view {
    size_t n_variables, n_factors, n_tables;
    const uint32_t *labels;     /* [n_variables] */
    const size_t *label_at;     /* [n_variables + 1] sums of labels */
    const size_t *scope_at;     /* [n_factors + 1] */
    const uint32_t *scope;      /* the variables of factor a: scope[scope_at[a] ..) */
    const uint32_t *table_of;   /* [n_factors] */
    const size_t *cell_at;      /* [n_factors + 1] sums of the factors' numbers of cells */
    const double *const *table; /* [n_tables]; NULL: a table without values */
} trl_graph_view;

TRL_API trl_graph_view trl_graph_look(const trl_graph *g);

/* s(y), from the graph's own tables, or from `table` where it is not NULL. */
TRL_API double trl_graph_score(const trl_graph *g, const double *const *table, const uint32_t *y);

/* ---- files ----------------------------------------------------------------------------------- */

typedef enum trl_graph_format {
    TRL_GRAPH_GUESS, /* by the first word: MARKOV or BAYES is .uai, a number .fg */
    TRL_GRAPH_FG,    /* libDAI: first variable fastest, cells that are 0 left out */
    TRL_GRAPH_UAI,   /* UAI evaluations: MARKOV or BAYES, last variable fastest */
} trl_graph_format;

/* Reads a graph; "-" is standard input; gzip and zstd are unpacked.  A graph of more than
 * `max_cells` cells is refused (0: 2^27).  TRL_EPARSE with its place; TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_graph_read(const char *path, trl_graph_format format, size_t max_cells,
                                  trl_graph **out, trl_error *err);
TRL_API trl_status trl_graph_read_memory(const trl_text *text, trl_graph_format format,
                                         size_t max_cells, trl_graph **out, trl_error *err);

/* Appends the graph as text (TRL_GRAPH_FG, or TRL_GRAPH_UAI as MARKOV).  What is read from it again
 * has the same structure and the same log-potentials to the last bit where they came from a file.
 * TRL_ENUMERIC: a potential that is too small or too large for a double; TRL_ENOMEM. */
TRL_API trl_status trl_graph_write(const trl_graph *g, trl_graph_format format, trl_buf *out,
                                   trl_error *err);

/* Appends a drawing for graphviz: variables are circles, factors squares. */
TRL_API trl_status trl_graph_dot(const trl_graph *g, trl_buf *out, trl_error *err);

#define TRL_UNOBSERVED UINT32_MAX

/* Which labels were observed, once or more often. */
typedef struct trl_evidence {
    size_t n_cases;
    uint32_t *label; /* [n_cases][n_variables], TRL_UNOBSERVED where nothing was seen */
    bool counted;    /* the file began with the number of cases */
} trl_evidence;

/* Reads evidence for a graph: `n variable label ...`, or the number of cases and then as many of
 * these. Where both readings are possible, a first line with one number on it is the number of
 * cases. TRL_EPARSE: not a number, an unknown variable or label, two labels for one variable, too
 * few or too many numbers; TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_evidence_read(const char *path, const trl_graph *g, trl_evidence *out,
                                     trl_error *err);
TRL_API trl_status trl_evidence_read_memory(const trl_text *text, const trl_graph *g,
                                            trl_evidence *out, trl_error *err);
TRL_API void trl_evidence_fini(trl_evidence *e);

/* ---- inference ------------------------------------------------------------------------------- */

typedef enum trl_infer_method {
    TRL_INFER_EXACT,      /* junction tree */
    TRL_INFER_BP,         /* loopy belief propagation, sum- or max-product */
    TRL_INFER_TRW,        /* tree-reweighted belief propagation; marginals only */
    TRL_INFER_MEAN_FIELD, /* marginals only */
    TRL_INFER_GIBBS,      /* sampling; marginals (no log Z) and the best sample */
    TRL_INFER_MPLP,       /* the best labelling with a dual bound */
} trl_infer_method;

typedef enum trl_infer_schedule {
    TRL_SCHEDULE_FLOODING,   /* all messages from those before */
    TRL_SCHEDULE_SEQUENTIAL, /* variable by variable, forwards and backwards in turn */
    TRL_SCHEDULE_RESIDUAL,   /* the message that would change most */
    TRL_SCHEDULE_TREE,       /* along spanning forests, to their roots and back */
} trl_infer_schedule;

typedef struct trl_infer_options {
    trl_infer_method method;
    trl_infer_schedule schedule; /* bp, trw */
    double damping;              /* bp, trw: share of the old message that is kept, in [0, 1) */
    double tolerance; /* bp, trw: largest change |p - q| / (p + q) of an entry of a message, mf: of
                         a probability, mplp: of the bound (relative), that counts as converged */
    uint64_t max_updates;      /* messages, or variables in mf; 0: 1000 for each of them */
    bool weighted_fill;        /* exact: weighted min-fill instead of min-fill */
    bool second_start;         /* bp, graphs with cycles: messages start once more, from those of a
                                  few sweeps of trw.  Another fixed point is added to the first: log Z
                                  is that of Z_1 + Z_2, marginals are mixed by these; of two labellings
                                  the better counts. */
    double max_cells;          /* exact: cells of all cliques together */
    uint64_t seed;             /* gibbs */
    uint64_t burn_in, samples; /* gibbs: sweeps */
    const bool *observed;      /* [n_variables] that evidence will be given for; NULL: none.
                                  Read by trl_infer_plan_new only. */
} trl_infer_options;

/* exact, sequential, no damping, tolerance 1e-9, weighted min-fill, 2^27 cells, seed 1, 1,000
 * sweeps of burn-in and 10,000 samples. */
TRL_API trl_infer_options trl_infer_options_default(void);

typedef struct trl_infer_plan trl_infer_plan;

/* What a graph and a plan for it cost. */
typedef struct trl_infer_info {
    size_t n_cliques, width;      /* exact: width = largest clique - 1 */
    double cells, largest;        /* exact: of all cliques, of the largest */
    size_t n_messages, n_numbers; /* bp, trw, mplp: messages, and the numbers they hold */
    size_t n_trees;               /* trw: spanning trees drawn; tree schedule: forests */
} trl_infer_info;

/* `g` is borrowed and must not change.  TRL_EINVAL: options out of range, or an exact plan that
 * needs more than max_cells: the message has the estimate.  TRL_ENOMEM. */
TRL_API trl_status trl_infer_plan_new(const trl_graph *g, const trl_infer_options *options,
                                      trl_infer_plan **out, trl_error *err);
TRL_API void trl_infer_plan_free(trl_infer_plan *p); /* accepts NULL */
TRL_API trl_infer_info trl_infer_plan_info(const trl_infer_plan *p);

/* Memory of runs; belongs to one thread at a time. */
typedef struct trl_infer_work trl_infer_work;

TRL_API trl_status trl_infer_work_new(trl_infer_work **out, trl_error *err);
TRL_API void trl_infer_work_free(trl_infer_work *w); /* accepts NULL */

/* What changes from run to run.  All zero: the graph's own tables, nothing observed, a cold start.
 */
typedef struct trl_infer_input {
    const double *const *table; /* [n_tables]; NULL: the graph's own */
    const uint32_t *evidence; /* [n_variables] labels or TRL_UNOBSERVED; NULL: none.  An exact plan
                                 needs labels for just what it was told would be observed. */
    const double *messages; /* of an earlier run of this plan, see trl_infer_messages; NULL: none */
} trl_infer_input;

/* What is known of a value that a method gives. */
typedef enum trl_value_status {
    TRL_VALUE_NONE,     /* the method has none */
    TRL_VALUE_EXACT,    /* up to rounding */
    TRL_VALUE_ESTIMATE, /* no side is known */
    TRL_VALUE_UPPER,    /* not below the exact one, up to the tolerance */
    TRL_VALUE_LOWER,    /* not above it */
} trl_value_status;

/* Arrays are borrowed from the workspace until its next run. */
typedef struct trl_infer_result {
    bool converged;
    uint64_t iterations, updates; /* sweeps, or updates / messages; updates of messages */
    double change;                /* the largest one of the last sweep */

    /* trl_infer_marginals */
    double log_z; /* NaN for TRL_VALUE_NONE */
    trl_value_status log_z_status;
    bool exact_marginals;
    const double *variable; /* [label_at[n_variables]] P(y_v) = d log Z / d theta_v */
    const double *factor;   /* [cell_at[n_factors]]     P(y_a) = d log Z / d theta_a */

    /* trl_infer_best */
    const uint32_t *y; /* [n_variables] */
    double score;      /* s(y) */
    double bound;      /* no labelling scores more; +inf when none is known */
    bool exact;        /* y is proven to be the best */
} trl_infer_result;

/* log Z and the marginals.  TRL_ENUMERIC: every labelling is forbidden, or none that is not was
 * found (mf, gibbs); TRL_EINVAL: the method has no marginals (mplp), evidence out of range or not
 * as planned, a table with NaN or +inf; TRL_ENOMEM.  After a failure *out is untouched. */
TRL_API trl_status trl_infer_marginals(const trl_infer_plan *p, const trl_infer_input *input,
                                       trl_infer_work *w, trl_infer_result *out, trl_error *err);

/* Max-marginals, by exact inference or by bp (max-product): variable[..] is, for every label, the
 * score of the best labelling that has it less the best score of all: natural logarithms, 0 at
 * best, -inf where it is forbidden.  exact_marginals: they are just that; else estimates.  There
 * are none of factors.  Failures as above; TRL_EINVAL for other methods. */
TRL_API trl_status trl_infer_max_marginals(const trl_infer_plan *p, const trl_infer_input *input,
                                           trl_infer_work *w, trl_infer_result *out,
                                           trl_error *err);

/* The best labelling: exact, bp (max-product), mplp, and gibbs (the best sample).  Failures as
 * above; TRL_EINVAL for trw and mean field. */
TRL_API trl_status trl_infer_best(const trl_infer_plan *p, const trl_infer_input *input,
                                  trl_infer_work *w, trl_infer_result *out, trl_error *err);

/* The messages the last run of a bp, trw or mplp plan ended with (*n of them, n_numbers of its
 * info), to start another run of the same plan from; *n = 0 when there are none.  Valid until the
 * next run. */
TRL_API const double *trl_infer_messages(const trl_infer_work *w, size_t *n);

TRL_END_DECLS

#endif
