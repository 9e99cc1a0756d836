/* train.h -- learning a model from labelled sequences. */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_TRAIN_H
#define TRELLIS_TRAIN_H

#include "trellis/buf.h"
#include "trellis/dataset.h"
#include "trellis/methods.h"
#include "trellis/options.h"
#include "trellis/sequence.h"

TRL_BEGIN_DECLS

struct trl_score;

/* What a run reports, once per iteration and at a few other points. */
typedef struct trl_progress {
    const char *stage;  /* "read", "compiled", "iteration", "warning", "done" */
    uint64_t iteration; /* 1 for the first */
    uint64_t max_iterations;
    double objective; /* minimised, penalties included; NaN when not known */
    double gradient;  /* norm; NaN when not known */
    double step;
    double dev_score, dev_best;   /* percent; NaN without a dev set */
    double seconds, seconds_left; /* since the start; NaN when not known */
    uint64_t n_sequences, n_tokens, n_labels, n_attributes, n_features;
    bool estimated;    /* objective is a sum of losses of single examples during the pass: near the
                          true value, on either side */
    const char *note;  /* a sentence, or NULL */
    double norm;       /* of the weights, after an iteration of a method that has some; else 0 */
    uint64_t n_active; /* weights that are not 0 then */
    const struct trl_score *dev; /* all scores of the dev set of a chain (score.h), for the time of
                                    the call; NULL without one */
} trl_progress;

/* Return true to stop: the best weights so far are saved as usual. */
typedef bool (*trl_progress_fn)(void *ctx, const trl_progress *p);

/* Return true to stop within a moment, also in the middle of an iteration.  Asked very often and by
 * any thread of the run, so it shall do no more than look at an atomic flag; once true, it stays
 * true until the run has returned. */
typedef bool (*trl_cancel_fn)(void *ctx);

#define TRL_USUAL (-1e300) /* instead of a number: the default for the kind of model */

/* Begin with trl_train_options_default(), then change members, or set options by their names: a
 * program keeps working when later versions have more of them, which stand at their defaults. */
typedef struct trl_train_options {
    size_t size;              /* of the struct, as the program was compiled */
    const char *kind;         /* "chain", "tree", "graph" */
    const char *const *train; /* paths; "-" is standard input */
    size_t n_train;
    const trl_dataset *data; /* instead of files (n_train is 0); or NULL.  Borrowed: of chains until
                                the stage "read" is reported */
    uint64_t hold_out;       /* N: the Nth, 2Nth, ... sequence is left out; 0: none */
    const char *dev;         /* path or NULL */
    const trl_dataset *dev_data; /* instead of a file (dev is NULL); or NULL.  Borrowed: of chains
                                    until the stage "compiled" is reported */
    trl_format format; /* of files, guessed by default; of a data set only what it is, if given */

    const char *template_name; /* for messages */
    const char *template_text; /* NULL: items need none; columns get a built-in one */
    size_t template_size;

    const char *objective; /* "likelihood" */
    const char *nota;      /* piecewise-nota: "all", "sample:P", "marginal:THETA@K"; NULL: "all"; of
                              trees (pt-cfg) "score:DELTA@K"; NULL: "score:15@10" */
    const char *q0;        /* m-estimation: "hmm", "lu", "emp"; NULL: "hmm", for items "emp" */
    uint64_t q0_samples;   /* m-estimation: sequences drawn for features without a closed form;
                              0: 100,000; trees: 30,000 */
    bool q0_mask;          /* m-estimation: features see first occurrences as out of vocabulary */
    const char *q0_cache;  /* m-estimation: file of expectations, used if it matches; or NULL */
    bool calibrate;        /* piecewise-nota, piecewise, memm: fit a multiplier per source label by
                              the global likelihood */
    const char *decode;    /* "local", "global"; NULL: local for memm and piecewise-nota unless
                              calibrated */
    const char *optimizer; /* "lbfgs", "owlqn", "sag", "sdca", "sgd", "asgd", "asgd-owlqn",
                              "perceptron", "dual"; NULL: the objective's default */
    const char *precision; /* "single", "double": of forward-backward in the likelihood of order 1
                              and of sums over labels in memm, piecewise-nota and pseudolikelihood,
                              twice as fast in single; NULL: single unless delta is below 1e-6, or
                              period 0; sag is always double */
    int order;             /* 1, 2; 0: as the template requires */
    double c1, c2;         /* + c1 ||w||_1 + c2 ||w||^2; 0, TRL_USUAL */
    bool all_pairs, all_transitions;
    size_t min_count; /* attributes seen less often are dropped */
    double min_freq;  /* above 0: features (attribute and label, label pair) are dropped whose
                         values, weighted by sequence, sum to less; as CRFsuite's feature.minfreq */

    uint64_t max_iter; /* 0: the optimiser's own rule decides */
    double epsilon;    /* stop at this gradient norm / weight norm: 1e-5 */
    uint64_t period;   /* stop when the objective fell by less than ... */
    double delta;      /* ... this fraction in `period` iterations: 10, 1e-5 */
    uint64_t memory;   /* L-BFGS pairs: 6 */
    double eta;        /* SGD first gain; 0: calibrated.  Boosted parsers: the share of the best
                          step that leaves take; 0: 0.3 */
    uint64_t batch;    /* SGD sequences per step; 0: 15 for sgd, 1 for asgd */
    uint64_t patience; /* stop after this many iterations without a better dev score; 0: never */
    uint64_t seed;
    size_t threads; /* 0 (default): one per processor; changes nothing but the time */

    const char *model;  /* where to write it */
    trl_buf *model_out; /* instead of a file (model is NULL); or NULL.  What it held
                           is replaced by the bytes of the file, 64-byte aligned, as
                           trl_model_from_memory uses them without a copy; kept on failure */
    const char *rescue; /* where to write it when `model` cannot be written (TRL_EIO, with a hint
                           that names it), or NULL */
    const char *init;   /* a model to start from, or NULL */
    const char *checkpoint; /* file for checkpoints, or NULL; when the disk is full a "warning" is
                               reported and the run continues */
    uint64_t checkpoint_every; /* iterations: 10 */
    bool resume;               /* continue from `checkpoint` */

    /* trees */
    const char *grade; /* "generative", "discriminative", "features"; "boosted": boosted decision
                          trees and best-first search, see docs/boosting.md */
    const char
        *annotate;   /* states: any of "parents", "tags", "heads", separated by commas; "none" */
    int markov;      /* what active states remember: 0, 1, 2 */
    bool keep_going; /* trees: broken ones are left out, with a warning each */
    bool relaxed;    /* rules also with other parent annotations than seen, ... */
    bool strict; /* ... or only as seen; neither: with the span pruner smoothed (docs/parser.md) */
    uint64_t max_length;    /* longer trees are left out; with the span pruner their constituents of
                               more words are given, and learnt is what is below, of as many as have
                               no more words than the other trees; 0: no limit */
    const char *clusters;   /* file of word clusters; "auto": made of the training data; "none" */
    const char *head_rules; /* file, or NULL: built in */
    double prune; /* items with a smaller coarse posterior are left out; 0: only those that are
                     part of no tree */
    const char *pruner;    /* "spans": a PCFG with features of the words around spans; "pcfg"; NULL:
                              "spans" for the likelihood and the perceptron over features */
    uint64_t chart_memory; /* megabytes of charts (boosted: of examples) kept in memory */
    uint64_t sample;       /* boosted: examples drawn by weight to choose a split; 0: all, exact */
    bool stumps;           /* boosted: trees of one split */
    bool uniform_values; /* boosted, decode local: every example counts the same, not every state */
    bool jackknife;      /* boosted: learns from the tags of taggers that did not see the tree */

    trl_progress_fn progress; /* or NULL */
    void *progress_ctx;
    trl_cancel_fn cancelled; /* or NULL */
    void *cancelled_ctx;

    /* graphs */
    const char *inference; /* perceptron: "exact", "bp", "mplp"; NULL: "exact" */
    const char *schedule;  /* of belief propagation: "flooding", "sequential", "residual", "tree";
                              NULL: "sequential" */
    double damping;        /* share of the old message that is kept, in [0, 1): 0 */
    double tolerance;      /* change of a message that counts as converged: 1e-6 */
    uint64_t max_updates;  /* messages in one run of inference; 0: 100 times each */
    double max_cells;      /* exact inference: cells of all cliques of a graph: 2^27 */
    bool keep_messages;    /* bethe, trw: messages start from those of the iteration before */

    /* chains: see docs/partial.md */
    bool partial;     /* labels say what is known: "?" nothing, "A|B" one of these, "A:0.7|B:0.3"
                         with these probabilities; "@2" after it: how often the token counts */
    const char *cost; /* of wrong labels: "O:PER=5,..." or the path of a file of these; or NULL */

    /* the optimizers pa and arow */
    uint64_t pa_type;         /* pa: 0 without slack, 1 PA-I, 2 PA-II: 1 */
    double pa_c;              /* pa: the largest step of type 1, the softness of type 2: 1 */
    uint64_t error_sensitive; /* pa: 1 the cost is the root of the number of wrong labels; 0: 1 */
    uint64_t averaging;       /* pa: 1 the result is the mean of all weights; 0 the last ones */
    double variance;          /* arow: of every weight at the start: 1 */
    double gamma;             /* arow: how much a mistake may change: 1 */

    /* chains: rules about labels that the model keeps and every tagger of it obeys, see
     * docs/constraints.md */
    const char *scheme; /* "iob1", "iob2", "ioe1", "ioe2" (or "ioe"), "iobes", "bilou"; or NULL.
                           Training labels that are not well-formed are refused */
    const char *rules;  /* path of a file of rules, one a line; or NULL */

    /* Sequences (of graphs: graphs; trees) that are left out, as if they were not in the training
     * data: number k of all files together, from 0, when k < n_leave_out and leave_out[k] is not 0.
     * NULL: none. */
    const uint8_t *leave_out;
    size_t n_leave_out;

    const struct trl_model *init_model; /* chains, graphs: to start from, instead of a file (init is
                                           NULL); or NULL.  Borrowed */

    /* graphs */
    bool second_start; /* bethe: messages start once more, from those of trw: see graph.h */

    const char *memory_limit; /* chains, graphs: "500M", "4G"; what the data take beyond it is kept
                                 in temporary files ($TMPDIR, or /tmp), to the same bits; or NULL */
    bool functions;  /* trees: learn function labels (SBJ, TMP), for trees that are parsed */
    uint64_t rerank; /* trees: a second stage chooses among this many of the most probable trees; 0:
                        there is none */
    bool no_tagger;  /* trees: the parser has no tagger of words, whose probabilities of tags count
                        in the choice of the tree; by default those of features have one */
    const char *raw_text; /* trees: a file of sentences without trees, one a line, whose words are
                             counted, too, when `clusters` is "auto"; or NULL */
    bool self_train; /* trees: a first parser parses raw_text, and its trees are learnt from, too */
    uint64_t grammars; /* trees: parsers of so many grammars, whose expected brackets are averaged:
                          1 (or 0), 2, 3 */
    uint64_t
        latent; /* trees: grammars with substates, 8 at most, whose expected brackets are averaged
                   with the parser's, where there are enough trees to learn any; 0: none */
} trl_train_options;

TRL_API void trl_train_options_init(trl_train_options *o, size_t size); /* sizeof *o */

static inline trl_train_options trl_train_options_default(void)
{
    trl_train_options o;
    trl_train_options_init(&o, sizeof o);
    return o;
}

/* The options that have a name. */
TRL_API const trl_option_table *trl_train_option_table(void);

/* trl_options_set and _get of that table. */
TRL_API trl_status trl_train_options_set(trl_train_options *o, const char *name, const char *value,
                                         trl_error *err);
TRL_API trl_status trl_train_options_get(const trl_train_options *o, const char *name, trl_buf *out,
                                         trl_error *err);

/* The c2 a run will have: o->c2, or where that is TRL_USUAL 2 for trees by the likelihood of
 * features, 0.25 for chains by M-estimation and 1 for all else. */
TRL_API double trl_train_c2(const trl_train_options *o);

typedef struct trl_train_result {
    uint64_t iterations, n_features, n_active; /* n_active: weights other than 0 */
    double objective, dev_score;               /* NaN when not known */
    double seconds;
    bool stopped;     /* by a callback */
    bool estimated;   /* the objective: a stochastic run was cancelled, and its last estimate
                         is all there is */
    char ending[120]; /* why it ended, in words */
    uint64_t saved_iteration; /* the iteration whose weights the model has: with a dev set the best,
                                 else the last; objective and dev_score belong to it */
    const char *dev_measure;  /* what dev_score is: "F1", "accuracy"; NULL without a dev set */
    const char *optimizer;    /* its name, static; "counting" when there was none */
} trl_train_result;

/* Reads, trains, writes the model atomically.  The same data and options give the same model, bit
 * for bit, from files or memory, with any number of threads.  Several runs may go on in one process
 * at the same time, each called from its own thread with files and a buffer of its own.  Options
 * are checked before any work: TRL_EINVAL with a sentence that names the valid values.  TRL_EPARSE
 * with path:row:col for bad data, TRL_EIO, TRL_ENOMEM, TRL_ENUMERIC.  When stopped by a callback it
 * still writes the model (and the checkpoint) of the last iteration that was finished and returns
 * TRL_OK with result->stopped set; what `cancelled` cut off within an iteration is thrown away, so
 * that a resumed run gives the same bits as one that was never stopped.  TRL_ECANCEL, and nothing
 * is written, when there is no finished iteration yet (reading, expectations, charts, the pruner of
 * a parser). */
TRL_API trl_status trl_train(const trl_train_options *o, trl_train_result *result, trl_error *err);

/* The same without a file: the model itself, which owns its bytes.  result may be NULL; model and
 * model_out of the options are not given: TRL_EINVAL. */
TRL_API trl_status trl_train_model(const trl_train_options *o, trl_train_result *result,
                                   struct trl_model **model, trl_error *err);

TRL_END_DECLS

#endif
