/* feature_list.h -- templates in words: what features look at, and where.
 *
 *     # what stands around the word
 *     word at -2..2
 *     lower at -1 & lower
 *     suffix 1..4 of lower
 *     gazetteer places "places.txt" folded       a declaration; `places at -1..1` then uses it
 *     edge:                                      label bigrams
 *     edge: word                                 label bigrams with the word
 *
 * The grammar is in docs/templates.md.  A file is in this dialect when its first line that is not
 * blank nor a comment begins with a word of the dialect; such words never begin with the letters
 * of CRF++ and Wapiti (u, b, t, *).
 *
 * Reading makes three tables.  A *property* is something that a token has: its suffix of three
 * letters, the suffix of its lemma, its place in a gazetteer.  A *term* is a property of the token
 * at some distance.  A *feature* is a conjunction of terms on labels, pairs or triples; windows and
 * ranges are written out, so that `suffix 1..4 at -1..1` is twelve features.  A feature makes at a
 * position no attribute where one of its properties has no value, else as many as there are
 * combinations of their values, named
 *
 *     NAME[DISTANCE]=VALUE&NAME[DISTANCE]=VALUE...        without [0]
 *
 * A list is read-only once it has been read, given its word lists and, where there are real
 * values, has learnt their scales: threads may then share it.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FEATURE_LIST_H
#define TRL_FEATURE_LIST_H

#include "base/buf.h"
#include "feature/word_list.h"
#include "text/word_regex.h"

typedef enum trl_word_function {
    TRL_FN_COLUMN,
    TRL_FN_LOWER,
    TRL_FN_ZEROS,
    TRL_FN_PREFIX,
    TRL_FN_SUFFIX,
    TRL_FN_NGRAMS,
    TRL_FN_SHAPE,
    TRL_FN_SHORT_SHAPE,
    TRL_FN_CASE,
    TRL_FN_KIND,
    TRL_FN_SCRIPT,
    TRL_FN_LENGTH,
    TRL_FN_HAS,
    TRL_FN_ALL,
    TRL_FN_MATCH,
    TRL_FN_PART,
    TRL_FN_FIRST,
    TRL_FN_LAST,
    TRL_FN_VALUES,
    TRL_FN_LIST, /* gazetteer, clusters or vectors */
} trl_word_function;

#define TRL_NO_PROPERTY SIZE_MAX

typedef struct trl_property {
    trl_word_function fn;
    size_t of;             /* the property it is made of, an earlier one; or TRL_NO_PROPERTY */
    size_t arg;            /* column, number of characters, class (bits of trl_char_class) */
    size_t list;           /* TRL_FN_LIST: which */
    trl_word_regex *regex; /* TRL_FN_MATCH, TRL_FN_PART: owned */
    size_t column;         /* that it is made of; SIZE_MAX: none */
    bool many;             /* any number of values */
    bool test;             /* its value is that it is there */
    bool dense;            /* numbers: see trl_scale */
    bool padded;           /* has values outside of the sequence: <-1>, <+1>, ... */
    bool context;          /* depends on more than its token's cell */
    uint64_t row, col;     /* place in the template */
} trl_property;

/* The literal text that comes before the value. */
typedef struct trl_feature_term {
    size_t property;
    int64_t offset;
    size_t text, text_len; /* in trl_feature_list.text */
} trl_feature_term;

typedef struct trl_feature {
    int cliques; /* TRL_ON_... bits */
    size_t first, n;
} trl_feature;

/* How the numbers of a dense property are made comparable: (x - mean) * factor.  Learnt: mean and 1
 * over the standard deviation of the training data's tokens, each counted once. */
typedef struct trl_scale {
    size_t width;   /* 0: not known yet */
    uint64_t n;     /* tokens that have been learnt from */
    double *mean;   /* [width] */
    double *factor; /* [width]; while learning the sum of squared deviations */
} trl_scale;

typedef struct trl_named_list {
    trl_word_list_kind kind;
    trl_str name, path; /* in the template's text */
    bool folded, all;
    uint64_t row, col;
    trl_word_list own;       /* read from the file ... */
    trl_word_list_view view; /* ... or a model's */
} trl_named_list;

typedef struct trl_feature_list {
    trl_property *property;
    trl_scale *scale; /* [n_properties] */
    size_t n_properties, property_cap, scale_cap;
    trl_feature_term *term;
    size_t n_terms, term_cap;
    trl_feature *feature;
    size_t n_features, feature_cap;
    trl_named_list *list;
    size_t n_lists, list_cap;
    trl_str *column; /* names of columns, in the template's text */
    size_t n_column_names, column_cap;
    trl_strtab names; /* of properties: name k is that of property k */
    trl_buf text;     /* of terms */
    size_t columns;   /* 1 + largest column used */
    size_t n_scratch; /* numbers that the largest regular expression needs */
    bool learns;      /* has dense properties */
} trl_feature_list;

/* Is the text in this dialect? */
bool trl_feature_list_is(trl_str text);

/* Reads the text, which must outlive the list.  TRL_EPARSE with row:col and a hint; TRL_ENOMEM. */
trl_status trl_feature_list_read(const char *name, trl_str text, trl_feature_list **out,
                                 trl_error *err);
void trl_feature_list_free(trl_feature_list *l); /* accepts NULL */

/* Reads the files that the template names, relative to the folder of `name`.  TRL_EPARSE, TRL_EIO,
 * with the place in the file or, where it cannot be opened, in the template; TRL_ENOMEM. */
trl_status trl_feature_list_open(trl_feature_list *l, const char *name, trl_error *err);

/* All of the training data has been learnt from (trl_feature_learn): sets the factors. */
void trl_feature_list_learned(trl_feature_list *l);

/* Room for the scale of property k, zeroed.  False: no memory. */
bool trl_scale_init(trl_scale *s, size_t width);

/* ---- private to the reader ------------------------------------------------------------------- */

/* feature_properties.c: the number of a property, added when it is new; its name is made of what it
 * is.  SIZE_MAX: no memory.  `regex` is taken over, whatever happens. */
size_t trl_feature_list_property(trl_feature_list *l, trl_property p, trl_str regex);

typedef enum trl_argument {
    TRL_ARG_NONE,
    TRL_ARG_RANGE,
    TRL_ARG_CLASS,
    TRL_ARG_REGEX,
    TRL_ARG_COLUMN
} trl_argument;

typedef struct trl_word_function_row {
    const char *name;
    trl_word_function fn;
    trl_argument argument;
} trl_word_function_row;

/* The function of that name; NULL: there is none. */
const trl_word_function_row *trl_word_function_find(trl_str name);

/* The class of characters of that name as bits; 0: there is none. */
size_t trl_class_find(trl_str name);

#endif
