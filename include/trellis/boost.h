/* boost.h -- boosted decision trees under an L1 penalty, on sparse binary examples.
 *
 * An example has a set of atomic features (present or not), an answer y = +1 or -1 and a value b >=
 * 0. The learner finds compound features (conjunctions of atomic features, some negated: the paths
 * of decision trees) and one parameter for each, so that
 *
 *     h(i) = Theta_0 + sum_{f in i} Theta_f
 *     R    = sum_i b(i) ln(1 + exp(-y(i) h(i))) + lambda sum_f |Theta_f|
 *
 * falls with every tree [WTM06].  lambda starts where no feature is worth its penalty and decays
 * whenever the root of a tree cannot be split: one run gives the whole regularisation path, and the
 * point that is best on held-out examples is kept.  docs/boosting.md has the equations.
 *
 * Data is read-only once made and may be shared by threads; so is a model.
 *
 * [WTM06] Wellington, Turian, Melamed. Scalable purely-discriminative training for word and tree
 * transducers. AMTA 2006.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_BOOST_H
#define TRELLIS_BOOST_H

#include "trellis/model.h"
#include "trellis/options.h"
#include "trellis/sequence.h"

TRL_BEGIN_DECLS

typedef struct trl_boost_data trl_boost_data;
typedef struct trl_boost_model trl_boost_model;

/* ---- examples -------------------------------------------------------------------------------- */

typedef enum trl_boost_format {
    TRL_BOOST_GUESS = 0, /* a cache by its first bytes; VW when the first line has a '|' */
    TRL_BOOST_LIBSVM,    /* ANSWER[:VALUE] FEATURE[:1] ...        a '#' starts a comment */
    TRL_BOOST_VW,        /* [ANSWER [VALUE]] ['TAG]|[SPACE] FEATURE[:1] ... |SPACE FEATURE ... */
} trl_boost_format;

typedef struct trl_boost_read_options {
    trl_boost_format format;
    size_t memory;   /* bytes of features on the heap; the rest goes to a temporary file */
    bool classes;    /* answers are names of classes: one classifier for each against the others */
    bool unanswered; /* answers may be missing and are ignored */
    const trl_boost_data *like;   /* same features and classes; other features are dropped */
    const trl_boost_model *model; /* likewise as in a model; at most one of the two */
} trl_boost_read_options;

TRL_API trl_boost_read_options trl_boost_read_options_default(void);

/* Reads text (plain, gzip, zstd; "-" is standard input) or one cache; with `like` or `model`, any
 * number of both.  TRL_EPARSE with path:row:col for a malformed line, a feature twice in a line, a
 * value that is negative or not a number; TRL_EINVAL for files without examples; TRL_EMODEL for a
 * damaged cache; TRL_EIO, also when the temporary file has no room; TRL_ENOMEM. */
TRL_API trl_status trl_boost_read(const char *const *path, size_t n_paths,
                                  const trl_boost_read_options *o, trl_boost_data **out,
                                  trl_error *err);

/* Examples in memory: features of example i are feature[end[i-1] .. end[i]), distinct and below
 * n_features, in any order; their names are their numbers. */
typedef struct trl_boost_examples {
    size_t n, n_features;
    const size_t *end;       /* [n] */
    const uint32_t *feature; /* [end[n-1]] */
} trl_boost_examples;

/* All is copied; `memory` as in trl_boost_read_options.  There are no answers until
 * trl_boost_data_answer adds some.  TRL_EINVAL, TRL_EIO, TRL_ENOMEM. */
TRL_API trl_status trl_boost_data_new(const trl_boost_examples *x, size_t memory,
                                      trl_boost_data **out, trl_error *err);

/* One more classifier over the same examples, borrowed until the data is freed: y[i] is +1 or -1,
 * value[i] >= 0 (NULL: all 1; an example of value 0 does not take part).  TRL_EINVAL for other
 * numbers; TRL_ENOMEM. Must not run while other threads use the data. */
TRL_API trl_status trl_boost_data_answer(trl_boost_data *d, const char *name, const signed char *y,
                                         const double *value, trl_error *err);

/* Writes a cache, atomically: the examples as they were read.  TRL_EINVAL for examples from memory;
 * TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_boost_data_save(const trl_boost_data *d, const char *path, trl_error *err);
TRL_API void trl_boost_data_free(trl_boost_data *d); /* accepts NULL */

typedef struct trl_boost_data_info {
    size_t examples, features; /* features: distinct */
    size_t classifiers;
    uint64_t active;         /* features over all examples */
    uint64_t bytes, in_file; /* of the features; those in a temporary file */
} trl_boost_data_info;

TRL_API trl_boost_data_info trl_boost_data_get_info(const trl_boost_data *d);

/* ---- training -------------------------------------------------------------------------------- */

/* One point of the regularisation path: all trees of lambda and of larger ones.  A lambda without
 * new trees has no point. */
typedef struct trl_boost_point {
    double lambda;
    double loss, objective; /* sum b ln(1 + exp(-y h)), and with the penalty: R */
    double held_out;        /* mean loss of the held-out examples' value; NaN: there are none */
    uint64_t trees, compound,
        atomic;     /* so far; compound: distinct, Theta not 0; atomic: in those */
    double seconds; /* of this classifier: of the processor when one thread trains it, else of the
                       clock */
} trl_boost_point;

typedef struct trl_boost_progress {
    const char *classifier;
    size_t number, classifiers;   /* number: 0 the first */
    const trl_boost_point *point; /* NULL: trees have been added, but no point */
    uint64_t trees;
    double lambda, seconds;
    const char *note; /* a warning, or NULL: of a checkpoint that could not be written */
} trl_boost_progress;

/* Return true to stop: training ends as if lambda had reached its end; its checkpoint goes on
 * from there.  Called by one thread at a time. */
typedef bool (*trl_boost_progress_fn)(void *ctx, const trl_boost_progress *p);

/* Begin with trl_boost_options_default(): later versions have more members. */
typedef struct trl_boost_options {
    size_t size;       /* of the struct, as the program was compiled */
    double decay;      /* 0 < decay < 1: lambda shrinks by it: 0.8 */
    double lambda_end; /* 0 < x < 1: ends when lambda is below x times the first: 0.0001 */
    double min_gain;   /* >= 0: a split must add more than this many lambdas to the gain: 0.1 */
    double rate;       /* 0 < rate <= 1: the share of the way to its minimum that a leaf goes: 1 */
    uint64_t trees;    /* at most; 0: no limit */
    size_t depth;      /* of a tree; 0: no limit; 1: stumps */
    size_t patience;   /* points without a better held-out loss; 0: no limit: 5 */
    size_t sample;     /* examples drawn by weight to choose a split; 0: all, exact */
    bool no_intercept; /* Theta_0 stays 0 */
    uint64_t seed;     /* of the sampling */
    size_t threads;    /* 0: one per processor; changes nothing but the time */
    const char *checkpoint;         /* a file, with ".K" appended for classifier K > 0; or NULL */
    uint64_t checkpoint_every;      /* steps, each a tree or the next lambda: 100 */
    bool resume;                    /* continue from existing checkpoints */
    trl_boost_progress_fn progress; /* or NULL */
    void *progress_ctx;
    bool (*cancelled)(void *ctx); /* asked by any thread while a tree grows, as if progress had said
                                   * to stop: the tree is thrown away; or NULL */
    void *cancelled_ctx;
    double lambda_least; /* >= 0: of every classifier ends when lambda is below it, too: 0 */
} trl_boost_options;

TRL_API void trl_boost_options_init(trl_boost_options *o, size_t size); /* sizeof *o */

static inline trl_boost_options trl_boost_options_default(void)
{
    trl_boost_options o;
    trl_boost_options_init(&o, sizeof o);
    return o;
}

/* The options that have a name. */
TRL_API const trl_option_table *trl_boost_option_table(void);

/* Trains every classifier of `d`.  held_out (or NULL) was read with like = d.
 * TRL_EINVAL for an option out of range, or a classifier without positive or without negative
 * value; TRL_EMODEL for a checkpoint of other data or options; TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_boost_train(const trl_boost_data *d, const trl_boost_data *held_out,
                                   const trl_boost_options *o, trl_boost_model **out,
                                   trl_error *err);

/* ---- models ---------------------------------------------------------------------------------- */

TRL_API trl_status trl_boost_model_save(const trl_boost_model *m, const char *path,
                                        trl_error *err); /* atomically */
TRL_API trl_status trl_boost_model_open(const char *path, trl_boost_model **out, trl_error *err);
/* The n bytes of a model file, borrowed as by trl_model_from_memory; a trl_model of kind "boost",
 * borrowed. */
TRL_API trl_status trl_boost_model_from_memory(const void *bytes, size_t n, trl_boost_model **out,
                                               trl_error *err);
TRL_API trl_status trl_boost_model_of(const trl_model *m, trl_boost_model **out, trl_error *err);
TRL_API void trl_boost_model_free(trl_boost_model *m); /* accepts NULL */

typedef struct trl_boost_classifier {
    const char *name;             /* of the class; "+1" when there is one classifier only */
    uint64_t trees;               /* kept */
    const trl_boost_point *point; /* [n_points] the path */
    size_t n_points, best;        /* best: the point that was kept */
} trl_boost_classifier;

TRL_API size_t trl_boost_model_classifiers(const trl_boost_model *m);
TRL_API trl_boost_classifier trl_boost_model_classifier(const trl_boost_model *m, size_t k);

/* h of every example, read with like or model: h[0 .. examples).  The probability of +1 is
 * 1 / (1 + exp(-h)).  TRL_ENOMEM. */
TRL_API trl_status trl_boost_predict(const trl_boost_model *m, size_t classifier,
                                     const trl_boost_data *d, double *h, trl_error *err);

/* The compound features in words, one a line, the largest |Theta| first:
 *     THETA <TAB> feature & !feature & ...        of none: "(always)"
 * Written piece by piece by `write`, whose failure ends it. */
typedef trl_status (*trl_boost_write_fn)(void *ctx, const char *text, size_t n, trl_error *err);
TRL_API trl_status trl_boost_dump(const trl_boost_model *m, size_t classifier,
                                  trl_boost_write_fn write, void *ctx, trl_error *err);

TRL_END_DECLS

#endif
