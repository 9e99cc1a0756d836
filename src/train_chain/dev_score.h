/* dev_score.h -- scoring weights in training on a held-out corpus. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_DEV_SCORE_H
#define TRL_DEV_SCORE_H

#include "base/pool.h"
#include "chain/objective.h"
#include "feature/project.h"
#include "model/hmm.h"
#include "trellis/score.h"

typedef struct trl_dev {
    trl_corpus corpus; /* filled by the caller before init; has its own label table */
    const trl_corpus *train;
    trl_design design;         /* the training design's weights, this corpus' tokens */
    trl_chain chain, rows;     /* rows: for tables that are made of the scores */
    bool is_local;             /* normalise locally */
    const double *calibration; /* borrowed; NULL: none.  Set between scorings. */
    const trl_hmm *q0;         /* borrowed; NULL: none */
    uint32_t *value;           /* [n_tokens][columns of q0], filled by the caller */
    size_t value_cap;
    double *q0_shared; /* where only q0 has scores */
    trl_pool *pool;
    trl_arena *arenas;   /* [threads] */
    uint32_t *predicted; /* [n_tokens] labels of the training corpus */
    trl_tables shared;
    const double *w;    /* of the current scoring */
    const char **names; /* label names, NUL-terminated: training's, then dev's */
    char *name_bytes;
    bool chunks;     /* all labels are B-X, I-X, O ...: F1 of chunks, else accuracy */
    trl_score *last; /* of the last scoring; NULL before */
} trl_dev;

/* A tag of a chunk scheme: O, or one of B I E S L M U before '-'. */
bool trl_is_chunk_tag(trl_str s);

/* Corpus, q0, value and is_local are set before; everything is borrowed except corpus and
 * value. */
trl_status trl_dev_init(trl_dev *d, const trl_corpus *train, const trl_design *design,
                        trl_pool *pool, trl_error *err);
void trl_dev_fini(trl_dev *d);

/* Whether the chunks' true labels are meant as IOBES and are not well-formed (trellis/score.h).
 * TRL_ENOMEM. */
trl_status trl_dev_broken_iobes(trl_dev *d, bool *broken, trl_error *err);

/* Decodes (Viterbi) with weights w; *score is the chunk F1 or token accuracy, in percent.  `dev` is
 * a trl_dev. */
trl_status trl_dev_score(void *dev, const double *w, double *score, trl_error *err);

#endif
