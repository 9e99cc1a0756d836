/* places.c -- where the data of a run come from and where its model goes. */
/* SPDX-License-Identifier: MIT */
#include "train/places.h"

#include <sys/stat.h>

#include "base/fail.h"
#include "base/file.h"

trl_status trl_check_places(const trl_train_options *o, trl_error *err)
{
    const char *both = o->n_train && o->data      ? "train and data"
                       : o->dev && o->dev_data    ? "dev and dev_data"
                       : o->model && o->model_out ? "model and model_out"
                                                  : NULL;
    if (both)
        return trl_fail(err, TRL_EINVAL, "%s are both given: use a file or memory", both);
    if (o->n_train == 0 && !o->data)
        return trl_fail(err, TRL_EINVAL, "no training file is given, and no data");
    if (!o->model && !o->model_out)
        return trl_fail(err, TRL_EINVAL, "no model file is given, and no model_out");
    if (o->init && o->init_model)
        return trl_fail(err, TRL_EINVAL, "init and init_model are both given: use one of them");
    if (o->rescue && !o->model)
        return trl_fail(err, TRL_EINVAL, "rescue goes with a model file, not with model_out");
    return TRL_OK;
}

trl_status trl_check_writable(const char *path, trl_error *err)
{
    struct stat sb;
    if (!path || (stat(path, &sb) == 0 && !S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode)))
        return TRL_OK;
    trl_writer *w = NULL;
    const trl_status st = trl_writer_open(path, &w, err);
    trl_writer_abort(w);
    return st;
}
