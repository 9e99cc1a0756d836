/* label.h -- the category in a label of a treebank: the label without function tags and indices. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_LABEL_H
#define TRL_TREE_LABEL_H

#include "base/strtab.h"

/* NP of NP-SBJ-1, NP=2 and NP-SBJ=3-1; all of a label that starts with '-' (-LRB-, -NONE-) or
 * with '='.  A part of the argument. */
trl_str trl_label_category(trl_str label);

/* The next function tag in what follows the category of a label, which is taken off *rest: TMP of
 * "-TMP-2".  Indices (-2, =2) are passed over.  n = 0: there is none. */
trl_str trl_label_function(trl_str *rest);

static inline bool trl_label_is(trl_str label, const char *name, size_t n)
{
    return label.n == n && __builtin_memcmp(label.p, name, n) == 0;
}

/* Is it the tag of an empty element, -NONE-? */
static inline bool trl_label_is_empty(trl_str label)
{
    return trl_label_is(label, "-NONE-", 6);
}

#endif
