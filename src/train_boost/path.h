/* path.h -- private to training: one classifier along its regularisation path. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BOOST_PATH_H
#define TRL_BOOST_PATH_H

#include "boost/trainer.h"

typedef struct trl_boost_path {
    trl_trainer t;
    const trl_boost_data *held_out; /* or NULL */
    double *held_h, *held_v;        /* [held_out->n] h after `applied` trees; y b */
    uint64_t applied;
    double held_value; /* sum of |held_v| */

    double first_lambda;
    trl_boost_point *point;
    size_t n_points, point_cap, best;
    uint64_t n_grown; /* trees grown, including those without effect: seeds the sampling */
    bool done;

    char checkpoint[1024]; /* "": none */
    uint64_t fingerprint;
    double started, seconds_before;
    const char *name;
    trl_boost_progress_fn progress; /* already locked; or NULL */
    void *progress_ctx;
    size_t classifiers;
} trl_boost_path;

/* Trains column `column` of d from its start, or from its checkpoint.  Options are checked. */
trl_status trl_boost_path_run(trl_boost_path *p, trl_error *err);
void trl_boost_path_fini(trl_boost_path *p);

trl_status trl_boost_checkpoint_write(const trl_boost_path *p, trl_error *err);
/* *found: whether there was one.  TRL_EMODEL when it is of other data or options. */
trl_status trl_boost_checkpoint_read(trl_boost_path *p, bool *found, trl_error *err);
uint64_t trl_boost_fingerprint(const trl_boost_path *p);

double trl_boost_clock(void);

#endif
