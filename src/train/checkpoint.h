/* checkpoint.h -- private to training: what is reported and what is saved after an iteration. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHECKPOINT_H
#define TRL_CHECKPOINT_H

#include "model/container.h"
#include "train/optimizer.h"
#include "train/session.h"

/* What a session remembers from iteration to iteration; saved as it is. */
typedef struct trl_progress_state {
    uint64_t iterations, best_iteration;
    uint64_t since_best;          /* scores after the best one */
    double objective, best_score; /* NaN: none yet */
    double best_objective;        /* of the iteration with the best score */
    double gradient;              /* norm; NaN: not known */
    double gap;                   /* at most so far above the optimum; NaN: not known */
    double start;                 /* objective at the weights given; NaN: none were */
    double seconds_before;        /* of earlier, interrupted runs */
    double fall[2];               /* relative decrease of the objective, last and before */
    double last_objective;
    uint64_t exact, descends; /* as of trl_iteration */
    uint64_t ended;           /* 0: the optimiser would go on; else 1 + trl_ending */
    uint64_t asked_to_stop, out_of_patience;
    uint64_t most;        /* iterations at most; 0: not known */
    uint64_t handed_over; /* as of trl_iteration */
} trl_progress_state;

/* Calls the user's callback with everything known; true when it asks to stop. */
bool trl_report_iteration(trl_progress_state *ps, const trl_session *s, const trl_iteration *it,
                          double dev_score);

/* Passes a sentence to the user's callback (stage "warning"), for example that a checkpoint could
 * not be written while the run continues. */
void trl_report_note(const trl_session *s, const char *note);
void trl_report_warning(const trl_session *s, const trl_error *e);

/* A checkpoint read back; `state` points into the container. */
typedef struct trl_checkpoint {
    trl_container *file;
    const unsigned char *state;
    size_t state_size;
} trl_checkpoint;

/* Writes weights, best weights (NULL: none) and the optimiser's state, atomically. */
trl_status trl_checkpoint_write(const trl_session *s, const trl_progress_state *ps, const double *x,
                                const double *best, const trl_buf *state, trl_error *err);

/* Reads it into x, best and *ps.  TRL_EMODEL when it belongs to other data or options. */
trl_status trl_checkpoint_read(const trl_session *s, trl_progress_state *ps, double *x,
                               double *best, trl_checkpoint *out, trl_error *err);
void trl_checkpoint_fini(trl_checkpoint *c);

/* Looks into the checkpoint that s->o resumes from: *found is true, and x has the weights that the
 * stage before ended with, when it is one of this stage.  TRL_EIO, TRL_EMODEL. */
trl_status trl_checkpoint_base(const trl_session *s, double *x, bool *found, trl_error *err);

#endif
