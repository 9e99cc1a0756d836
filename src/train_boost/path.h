/* path.h -- private to training: one classifier along its regularisation path.
 *
 * A learner with a state of its own (train/learner.h): a step adds a tree, or ends a point of the
 * path and makes lambda smaller.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BOOST_PATH_H
#define TRL_BOOST_PATH_H

#include <stdatomic.h>

#include "base/buf.h"
#include "boost/trainer.h"

/* Classifiers that are not finished, and threads: when there are fewer of those than of these, a
 * classifier gets threads of its own.  The result does not depend on it. */
typedef struct trl_boost_helpers {
    atomic_size_t left;
    size_t threads;
} trl_boost_helpers;

typedef struct trl_boost_path {
    trl_trainer t;
    trl_boost_helpers *helpers;
    trl_pool *pool;                 /* of this classifier, or NULL */
    size_t asked;                   /* threads for it */
    const trl_boost_data *held_out; /* or NULL */
    double *held_h, *held_v;        /* [held_out->n] h after `applied` trees; y b */
    uint64_t applied;
    double held_value; /* sum of |held_v| */

    double first_lambda;
    trl_boost_point *point;
    size_t n_points, point_cap;
    size_t best;      /* the point with the best score; the last one without held-out examples */
    size_t scored;    /* points that the session knows, */
    size_t told;      /* and the user */
    uint64_t steps;   /* taken */
    uint64_t n_grown; /* trees grown, including those without effect: seeds the sampling */

    char checkpoint[1024]; /* "": none */
    trl_cancel cancel;     /* of this classifier alone: others may be at another point */
    double started, seconds_before;
    const char *name;
    trl_boost_progress_fn progress; /* already locked; or NULL */
    void *progress_ctx;
    size_t classifiers;
} trl_boost_path;

/* Trains from the start, or from the checkpoint if there is one.  Options are checked; t, held_out,
 * checkpoint, name and progress are set. */
trl_status trl_boost_path_run(trl_boost_path *p, trl_error *err);
void trl_boost_path_fini(trl_boost_path *p);

/* The state, as of trl_steps, and what data and options it goes with. */
bool trl_boost_state_save(const void *path, trl_buf *out);
trl_status trl_boost_state_load(void *path, const void *state, size_t size, trl_error *err);
uint64_t trl_boost_fingerprint(const trl_boost_path *p);

double trl_boost_path_seconds(const trl_boost_path *p);

#endif
