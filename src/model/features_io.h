/* features_io.h -- what a template in words needs beside its text, as sections of a container.
 *
 *     wlists    {u32 kind, u32 width}[lists], in the order of the template (kinds: word_list.h)
 *     wkNN....  keys of list NN, a string table (strtab_io.h); wnNN.... names of types or clusters
 *     wiNN      u32[keys] 1 + number of the name, 0: the beginning of a phrase
 *     wvNN      float[keys][width], of vectors
 *     scales    double: for every property with real values, in the order of the template, its
 *               width, then means and factors
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FEATURES_IO_H
#define TRL_FEATURES_IO_H

#include "feature/feature_list.h"
#include "model/container.h"

/* Adds the sections, if any; l must not change until the container is written, and owns its word
 * lists.  TRL_ENOMEM. */
trl_status trl_features_save(const trl_feature_list *l, trl_container_builder *b, trl_error *err);

/* Gives a list that was read from the model's template its word lists, views into the container,
 * and its scales.  TRL_EMODEL when sections are missing or do not fit; TRL_ENOMEM. */
trl_status trl_features_load(trl_feature_list *l, const trl_container *c, trl_error *err);

#endif
