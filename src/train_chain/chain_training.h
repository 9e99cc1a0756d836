/* chain_training.h -- private: the state of one run of trl_train on chains.
 *
 * The stages of a run are listed in train_chain.c.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHAIN_TRAINING_H
#define TRL_CHAIN_TRAINING_H

#include <string.h>

#include "base/spill.h"
#include "chain/chain_task.h"
#include "train_chain/dev_score.h"
#include "chain/nota_instances.h"
#include "train_chain/source_selection.h"
#include "mest/obj_mest.h"
#include "mest/q0.h"
#include "model/chain_model.h"
#include "train/session.h"
#include "train/stages.h"
#include "trellis/train.h"

typedef struct trl_chain_training {
    const trl_train_options *o;
    const trl_objective *objective;
    const trl_optimizer *optimizer; /* NULL: counted */
    bool is_local; /* how the model decodes: o->decode, or the objective's default */
    int order;
    trl_template *tpl; /* NULL for items */
    bool learns;       /* the template has real values, which are scaled */
    trl_format format; /* of the sequences so far; TRL_FORMAT_GUESS: none yet */
    trl_corpus corpus;
    trl_design design;
    trl_pool *pool;
    trl_cancel cancel; /* of the pool and all loops */
    trl_chain_task task;
    trl_task view; /* of task, for the optimiser */
    trl_learner learner;
    trl_session session;
    bool second; /* piecewise-nota: resumes after the first stage */
    trl_nota_options nota_options;
    trl_nota nota;      /* piecewise-nota only */
    trl_selection only; /* memm, piecewise-nota: the cells that they read */
    trl_dev dev;
    double *w;
    trl_chain_costs costs; /* with o->cost; owned */
    bool calibrates;       /* after training, by the options or the objective */
    double *calibration;   /* [L + 64]; NULL: not calibrated */
    uint64_t n_read;       /* training sequences, those held out included */
    unsigned schemes;      /* bits 1 << trl_scheme: those that the labels must be well-formed in */
    trl_buf rules;         /* lines of o->rules, an LF after each */
    trl_spill *spill;      /* of the data, with o->memory_limit; else NULL */
    double started;

    /* hmm and m-estimation */
    bool has_q0;
    trl_q0_base q0_base;
    trl_column_values columns; /* of the training data; for items, the labels alone */
    trl_hmm q0;
    double *E; /* E_q0[f], trl_design_alloc doubles */
    trl_mest *mest;
} trl_chain_training;

/* Weights on top of a generative model, which is not the whole model. */
static inline bool trl_chain_training_has_mest(const trl_chain_training *j)
{
    return j->objective->needs_q0 && !j->objective->counted;
}

/* chain_options.c: names, ranges and combinations of options, and whether files can be written.
 * TRL_EINVAL, TRL_EIO. */
trl_status trl_chain_training_check(trl_chain_training *j, trl_error *err);

/* chain_notes.c: whether objective and optimiser take labels that are notes, and costs (TRL_EINVAL
 * with a hint that names those that do); then, when the data are there, what they need. */
trl_status trl_chain_training_check_notes(const trl_chain_training *j, trl_error *err);
trl_status trl_chain_training_take_notes(trl_chain_training *j, trl_error *err);

/* chain_rules.c: the rules that the model keeps (o->scheme, o->rules).  Read before the data:
 * TRL_EINVAL, TRL_EIO, TRL_EPARSE for text that is none.  Then each training sequence is checked by
 * the schemes among them (TRL_EPARSE with the place), unless labels are notes.  When all labels are
 * known the rules must make sense: TRL_EPARSE, TRL_EINVAL, with the place in o->rules. */
trl_status trl_chain_training_read_rules(trl_chain_training *j, trl_error *err);
trl_status trl_chain_training_check_rows(const trl_chain_training *j, const trl_rows *seq,
                                         trl_error *err);
trl_status trl_chain_training_check_items(const trl_chain_training *j, const trl_items *seq,
                                          trl_error *err);
trl_status trl_chain_training_take_rules(const trl_chain_training *j, trl_error *err);

static inline bool trl_chain_training_checks_labels(const trl_chain_training *j)
{
    return j->schemes && !j->o->partial;
}

/* Appends them as settings of the model; when there is no memory, settings->failed is set. */
void trl_chain_training_put_rules(const trl_chain_training *j, trl_buf *settings);

/* Inference in single precision? */
bool trl_chain_training_single(const trl_chain_training *j);

/* The name of the optimiser that runs. */
const char *trl_chain_training_optimizer(const trl_chain_training *j);

/* chain_data.c: the training data (with its columns, and q0 trained on them, where there is one);
 * the held-out data, once the design is there. */
trl_status trl_chain_training_read(trl_chain_training *j, trl_error *err);
trl_status trl_chain_training_read_dev(trl_chain_training *j, trl_error *err);

/* chain_model_write.c */
uint64_t trl_chain_training_fingerprint(const trl_chain_training *j);
trl_status trl_chain_training_write(trl_chain_training *j, const trl_train_result *r,
                                    trl_error *err);

/* chain_mest.c: expectations under q0, or the cache, and the learner made of them. */
trl_status trl_chain_training_expect(trl_chain_training *j, trl_train_result *result,
                                     trl_error *err);

/* For models that are counted: objective and dev score. */
trl_status trl_chain_training_run_hmm(trl_chain_training *j, trl_train_result *result,
                                      trl_error *err);

/* chain_calibration.c: multipliers of the source labels for j->w, into j->calibration; the dev
 * score of the model as it then is into *result. */
trl_status trl_chain_training_calibrate(trl_chain_training *j, trl_train_result *result,
                                        trl_error *err);

/* train_chain.c: tells the caller; true when it asks to stop. */
bool trl_chain_training_report(const trl_chain_training *j, const char *stage, const char *note);

/* Report (stage "warning") what is allowed but hardly intended: very large attribute values,
 * before the design takes the lists of the corpus; unsuitable features; an --init that matches
 * no feature. */
void trl_chain_training_warn_values(const trl_chain_training *j);

/* With a template in words, whose features look at characters: text that is not UTF-8. */
void trl_chain_training_warn_text(const trl_chain_training *j);
void trl_chain_training_warn_features(const trl_chain_training *j);
void trl_chain_training_warn_start(const trl_chain_training *j);

#endif
