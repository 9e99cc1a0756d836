/* tree_data.c -- treebanks from files and data sets. */
/* SPDX-License-Identifier: MIT */
#include "train/tree_data.h"

#include <string.h>

#include "base/fail.h"
#include "feature/dataset.h"
#include "train/places.h"

static bool leaves_out(const void *options, uint64_t k)
{
    return trl_train_leaves_out(options, k);
}

trl_status trl_tree_data_train(trl_tree_set *s, const trl_train_options *o, trl_error *err)
{
    trl_status st = TRL_OK;
    s->passes = leaves_out;
    s->passes_ctx = o;
    for (size_t k = 0; st == TRL_OK && k < o->n_train; k++)
        st = trl_tree_set_read(s, o->train[k], (size_t)o->max_length, err);
    if (st == TRL_OK && o->data)
        st = trl_tree_set_take(s, o->data, "<data>", (size_t)o->max_length, err);
    s->passes = NULL;
    if (st != TRL_OK)
        return st;
    if (s->n > (s->keep_long ? s->too_long : 0)) {
        if (s->keep_long)
            trl_tree_set_balance(s, (size_t)o->max_length);
        return TRL_OK;
    }
    st = trl_fail(err, TRL_EPARSE,
                  s->too_long ? "all trees are longer than %llu words" : "there are no trees in it",
                  (unsigned long long)o->max_length);
    return trl_fail_where(err, st,
                          o->data                         ? "<data>"
                          : strcmp(o->train[0], "-") == 0 ? "<stdin>"
                                                          : o->train[0],
                          0, 0);
}

trl_status trl_tree_data_dev(trl_tree_set *s, const trl_train_options *o, trl_error *err)
{
    const size_t before = s->n;
    if (!o->dev && !o->dev_data)
        return TRL_OK;
    trl_status st =
        o->dev ? trl_tree_set_read(s, o->dev, (size_t)o->max_length, err)
               : trl_tree_set_take(s, o->dev_data, "<dev_data>", (size_t)o->max_length, err);
    if (st == TRL_OK && s->n == before) {
        st = trl_fail(err, TRL_EPARSE, "there are no trees in it");
        trl_fail_where(err, st, o->dev ? o->dev : "<dev_data>", 0, 0);
    }
    return st;
}
