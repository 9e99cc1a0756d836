/* methods.h -- the tables of what can be trained and how: objectives and optimisers by name. */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_METHODS_H
#define TRELLIS_METHODS_H

#include "trellis/status.h"

TRL_BEGIN_DECLS

/* Kinds of structure; bits, so that a table row can name several. */
typedef enum trl_kind {
    TRL_KIND_CHAIN = 1, /* label sequences */
    TRL_KIND_TREE = 2,  /* parse trees */
    TRL_KIND_GRAPH = 4  /* factor graphs */
} trl_kind;

/* A row, for people.  All strings are static. */
typedef struct trl_method {
    const char *name;
    const char *alias; /* another name that is understood, or NULL */
    const char *what;  /* one line: what it is */
    const char *when;  /* one line: when to use it */
    unsigned kinds;    /* the trl_kind of those that have it */
} trl_method;

/* The k-th objective or optimiser, as trl_train_options takes them; false after the last
 * one. */
TRL_API bool trl_objective_info(size_t k, trl_method *out);
TRL_API bool trl_optimizer_info(size_t k, trl_method *out);

/* "chain", "tree", "graph", and "chains", "trees", "graphs". */
TRL_API const char *trl_kind_name(trl_kind kind);
TRL_API const char *trl_kind_plural(trl_kind kind);

TRL_END_DECLS

#endif
