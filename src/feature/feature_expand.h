/* feature_expand.h -- the attributes that a list of features makes of a sequence.
 *
 * Properties are computed once for a token, however many features look at them; training and
 * tagging make their attributes here, both of them.  An expander belongs to one thread.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FEATURE_EXPAND_H
#define TRL_FEATURE_EXPAND_H

#include "base/arena.h"
#include "feature/feature_list.h"
#include "text/columns.h"

/* Attributes: bytes at .. at + n of the text, and a value. */
typedef struct trl_named {
    size_t at, n;
    double value;
} trl_named;

typedef struct trl_names {
    trl_buf text;
    trl_named *name;
    size_t n, cap;
} trl_names; /* zero-initialise */

void trl_names_clear(trl_names *x); /* keeps the memory */
void trl_names_fini(trl_names *x);

typedef struct trl_feature_expander trl_feature_expander;

/* Borrows the list.  TRL_ENOMEM. */
trl_status trl_feature_expander_new(const trl_feature_list *l, trl_feature_expander **out,
                                    trl_error *err);
void trl_feature_expander_free(trl_feature_expander *x); /* accepts NULL */

/* Sets the sequence, borrowed until the next one; it has every column that the list uses.
 * TRL_EPARSE, with the place, for a cell of real values that has none, or too few or many;
 * TRL_ENOMEM. */
trl_status trl_feature_expander_set(trl_feature_expander *x, const trl_rows *seq, trl_error *err);

/* Appends what feature k makes at a position, in a fixed order.  False: no memory. */
bool trl_feature_expander_put(trl_feature_expander *x, size_t k, size_t pos, trl_names *out);

/* Adds the sequence to what the scales of l, the expander's list, are learnt from.  As _set, except
 * that real values are checked for the first time. */
trl_status trl_feature_learn(trl_feature_list *l, trl_feature_expander *x, const trl_rows *seq,
                             trl_error *err);

/* ---- private: feature_values.c --------------------------------------------------------------- */

/* Memory of a computation. */
typedef struct trl_property_work {
    trl_arena arena;
    size_t *scratch; /* of regular expressions */
    trl_buf key;     /* of look-ups */
} trl_property_work;

/* The value that a property with one value, which depends on nothing else, makes of the text s;
 * out->p is NULL where there is none.  False: no memory.  Valid until the arena is reset. */
bool trl_property_one(const trl_feature_list *l, const trl_property *p, trl_str s,
                      trl_property_work *w, trl_str *out);

/* The n-grams of s, each once, into an array in the arena. */
bool trl_property_ngrams(const trl_property *p, trl_str s, trl_property_work *w, trl_str **out,
                         size_t *n);

/* Where phrases of a gazetteer stand in the texts s[0 .. n): `one` calls add for each value of each
 * token, tokens in any order. */
typedef struct trl_phrase_sink {
    bool (*add)(void *ctx, size_t token, trl_str value);
    void *ctx;
} trl_phrase_sink;
bool trl_gazetteer_find(const trl_named_list *g, const trl_str *s, size_t n, trl_property_work *w,
                        const trl_phrase_sink *sink);

#endif
