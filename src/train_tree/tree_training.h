/* tree_training.h -- private to training trees: one run and its parts.
 *
 * The stages of a run are listed in train_tree.c.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_TRAINING_H
#define TRL_TREE_TRAINING_H

#include "mest/obj_mest.h"
#include "train/session.h"
#include "train/stages.h"
#include "train_tree/span_pruner_train.h"
#include "parser/chart_model.h"
#include "parser/tree_decode.h"
#include "train_tree/tree_task.h"
#include "trellis/parseval.h"

struct trl_tree_training;

#define TRL_TAGGER_FOLDS 5

/* The bytes of taggers: of all trees, and of all but those of each fold. */
typedef struct trl_tree_taggers {
    trl_buf all, fold[TRL_TAGGER_FOLDS];
    uint8_t *fold_of; /* [read]: the fold of tree k of all trees read */
    uint64_t read;
} trl_tree_taggers;

/* A whole run with runs within it that take its taggers. */
static inline bool trl_tree_taggers_are_kept(const trl_train_options *o)
{
    return o->grammars > 1 || o->rerank;
}

/* A run within a run: what it shares with the whole run, and who takes it when it has been trained;
 * NULL: its model is written to the options' model_out. */
typedef struct trl_tree_part_run {
    const trl_tree_clusters *clusters; /* in place of its own; or NULL */
    void *ctx;
    trl_status (*trained)(void *ctx, struct trl_tree_training *part, trl_error *err);
    const trl_tree_taggers *taggers; /* of these trees or more, in place of its own; or NULL */
} trl_tree_part_run;

typedef struct trl_tree_training {
    const trl_train_options *o;
    const trl_tree_part_run *part; /* NULL: the whole run */
    const trl_objective *objective;
    trl_tree_model_options model_options;
    trl_head_rules *heads;
    trl_tree_set trees, dev;
    trl_tree_model model;
    trl_tree_example *example;    /* [n_examples] */
    size_t n_examples, n_unknown; /* unknown: trees the grammar cannot make */
    trl_buf families;             /* the template, built-in sets written out */
    bool span_pruner;             /* the pruner is a span pruner */
    size_t given;                 /* of trees of more words longer spans are given; 0: of none */
    bool tagger;                  /* the parser has a tagger, if there are trees enough for one */
    bool latent;                  /* the parser may have grammars with substates */
    trl_tree_taggers taggers;     /* `all`: the bytes of model.tagger; folds are kept for parts */
    trl_buf more[TRL_MORE_GRAMMARS]; /* parsers of other grammars, as files; empty: none */
    trl_given_list *tags;            /* [trees] by taggers that have not seen the tree; or NULL */
    trl_store *charts;
    const trl_optimizer *optimizer; /* NULL: counted */
    trl_learner learner;
    trl_session session;
    bool second;         /* pt-cfg: resumes after the first stage */
    double nota_delta;   /* PT-CFG: instances within, ... */
    uint64_t nota_after; /* ... made after this many iterations */
    double *E;           /* M-estimation: E_q0[f] */
    trl_mest *mest;
    trl_pool *pool;
    trl_cancel cancel; /* of the pool */
    trl_tree_task task;
    double *w;
    double started;
    char settings[640]; /* how it was trained, one `name value` a line */

    /* dev set */
    trl_decoder *decoder; /* [threads] */
    trl_buf *parsed;      /* [dev.n] */
    trl_buf gold;
    trl_parseval *score;
    double *binary_exp, *unary;
} trl_tree_training;

/* tree_options.c: TRL_EINVAL with the valid values, TRL_EIO for files that cannot be written. */
trl_status trl_tree_training_check(trl_tree_training *j, trl_error *err);

/* tree_local_training.c: objectives without charts in the loop. */
trl_status trl_tree_training_check_local(trl_tree_training *j, trl_error *err);
trl_status trl_tree_training_check_features(const trl_tree_training *j, trl_error *err);
trl_status trl_tree_training_nota(trl_tree_training *j, trl_train_result *result, trl_error *err);
trl_status trl_tree_training_expect(trl_tree_training *j, trl_error *err);

/* tree_pruner_training.c: trains the model's span pruner, calling `hook` for every tree.
 * TRL_ECANCEL when the callback stops it: there is nothing to save yet, and a resumed run starts
 * over. */
trl_status trl_tree_training_pruner(trl_tree_training *j, const trl_span_pruner_hook *hook,
                                    trl_error *err);

/* tree_tagger_training.c: learns the model's tagger and tags the trees (j->tags), if j->tagger.
 * TRL_ECANCEL; TRL_ENOMEM. */
trl_status trl_tree_training_tagger(trl_tree_training *j, trl_error *err);
void trl_tree_training_tagger_fini(trl_tree_training *j);

/* The tagger that has not seen the trees of a fold, for words under j's grammars; borrows the bytes
 * and j's clusters.  TRL_ENOMEM, TRL_EMODEL. */
trl_status trl_tree_training_fold_tagger(const trl_tree_training *j, const trl_buf *bytes,
                                         trl_word_tagger *out, trl_error *err);

/* tree_latent_training.c: the model's grammars with substates, if o->latent asks for them.
 * TRL_ECANCEL; TRL_ENOMEM. */
trl_status trl_tree_training_latent(trl_tree_training *j, trl_error *err);

/* tree_function_training.c: learns the model's function labels when they are asked for; else says
 * that the trees had some, if so.  TRL_EINVAL without any; TRL_ECANCEL; TRL_ENOMEM. */
trl_status trl_tree_training_functions(trl_tree_training *j, trl_error *err);

/* tree_charts.c: trains the pruner where there is one, makes the examples and numbers their
 * features. */
trl_status trl_tree_training_charts(trl_tree_training *j, trl_error *err);

/* tree_numbers.c: adds the features of all examples to the index, to the same numbers with any
 * number of threads.  TRL_ENOMEM, TRL_ECANCEL. */
trl_status trl_tree_training_number(trl_tree_training *j, trl_error *err);

/* tree_warm_start.c: j->w from the model o->init, as far as that model has the features of the
 * training trees.  TRL_EINVAL when its grammar or template is another, TRL_EIO, TRL_EMODEL,
 * TRL_ENOMEM. */
trl_status trl_tree_training_init(trl_tree_training *j, trl_error *err);

/* tree_rerank_training.c: the second stage, if o->rerank asks for one.  TRL_EINVAL where it cannot
 * be. */
trl_status trl_tree_training_check_rerank(const trl_tree_training *j, trl_error *err);
trl_status trl_tree_training_rerank(trl_tree_training *j, trl_train_result *result, trl_error *err);

/* tree_self_training.c: adds trees of raw text to the treebank's, made by a parser of these, if
 * o->self_train.  TRL_EIO and TRL_EPARSE of the raw text, TRL_ECANCEL, TRL_ENOMEM; the check:
 * TRL_EINVAL where it cannot be. */
trl_status trl_tree_training_check_self(const trl_tree_training *j, trl_error *err);
trl_status trl_tree_training_self(trl_tree_training *j, trl_error *err);

/* tree_part.c: the options of a run within this run, which writes nothing; nowhere: of the caller,
 * stays empty. */
trl_train_options trl_tree_training_part_options(const trl_tree_training *j, trl_buf *nowhere);

/* TRL_EINVAL where the treebank can be read once only. */
trl_status trl_tree_training_reads_again(const trl_tree_training *j, const char *who,
                                         trl_error *err);

/* tree_grammars.c: parsers of other grammars for j->more, if o->grammars asks for them.
 * TRL_ECANCEL, TRL_ENOMEM; the check: TRL_EINVAL where they cannot be. */
trl_status trl_tree_training_check_grammars(const trl_tree_training *j, trl_error *err);
trl_status trl_tree_training_grammars(trl_tree_training *j, trl_train_result *result,
                                      trl_error *err);

/* train_tree.c: as trl_train_tree on a part; o needs a place for a model, which is not used. */
trl_status trl_train_tree_part(const trl_train_options *o, const trl_tree_part_run *part,
                               trl_train_result *result, trl_error *err);

/* train_tree.c: true to stop. */
bool trl_tree_training_report(const trl_tree_training *j, const char *stage, const char *note);

/* tree_dev_score.c: percent of F1 on the dev set (`trl_learner.score`). */
trl_status trl_tree_training_dev(trl_tree_training *j, trl_error *err);
trl_status trl_tree_training_score(void *job, const double *x, double *score, trl_error *err);
void trl_tree_training_dev_fini(trl_tree_training *j);

#endif
