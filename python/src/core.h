/* core.h -- what the files of the extension module share.
 *
 * The module sees the library's public headers and nothing else of it.  The GIL is released
 * wherever the library works; an object that must not be used by two threads at a time has a flag
 * for that, so that the second one gets an exception.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_PYTHON_CORE_H
#define TRELLIS_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030A0000
static inline PyObject *Py_NewRef(PyObject *o)
{
    Py_INCREF(o);
    return o;
}
#endif

#include "trellis/dataset.h"
#include "trellis/foreign.h"
#include "trellis/model.h"
#include "trellis/score.h"
#include "trellis/tagger.h"
#include "trellis/train.h"

/* ---- errors (core.c) ------------------------------------------------------------------------- */

/* Raises the exception of a status, with the library's sentence; returns NULL. */
PyObject *pt_raise(const trl_error *err);

/* The bytes of a str (as UTF-8) or bytes, borrowed from it.  -1 and TypeError for anything else. */
int pt_text(PyObject *o, const char *what, trl_str *out);
PyObject *pt_string(trl_str s); /* str; bytes that are not UTF-8 are kept as surrogates */

/* ---- names (names.c) ------------------------------------------------------------------------- */

/* Every name once, at an address that stays.  `key` remembers what is known of the keys of
 * dictionaries, which are mostly the same few objects. */
typedef struct pt_name {
    uint64_t hash;
    trl_str s;
    uint32_t number; /* of the data set or the model; UINT32_MAX: the model does not know it */
} pt_name;

enum { PT_KEYS = 512 };

typedef struct pt_key {
    PyObject *object; /* owned */
    trl_str s;        /* borrowed from it */
    uint64_t hash;    /* of `s` and a colon */
    uint32_t plain;   /* the name that is `s` alone, + 1; 0: not yet made */
    uint64_t zeros;   /* labels below 64 with which it had the value 0, as bits */
} pt_key;

typedef struct pt_names {
    pt_name *name;
    size_t n, cap;
    size_t numbered; /* the first ones have their numbers */
    uint32_t *slot;  /* name + 1; 0: free */
    size_t n_slots;
    char **block; /* of text */
    size_t n_blocks, blocks_cap, used, block_size;
    pt_key key[PT_KEYS];
} pt_names;

void pt_names_fini(pt_names *t);

/* The number of the name `s`, or of `s:value`; -1 with an exception. */
int64_t pt_names_add(pt_names *t, trl_str s);
int64_t pt_names_add_pair(pt_names *t, const pt_key *key, trl_str value);

/* What is known of a key; borrowed until the next call.  NULL with an exception. */
pt_key *pt_names_key(pt_names *t, PyObject *object);

/* ---- sequences (items.c, rows.c) ------------------------------------------------------------- */

/* Sequences on their way from Python to the library: names are in `names`, cells too. */
typedef struct pt_batch {
    pt_names *names, *labels; /* those of labels may be NULL where there are none */
    bool keep_zeros;          /* attributes with the value 0, too, which add nothing to a
                                 score, but say in training what occurs together */
    bool once;                /* ... of an attribute with a label, where that is easily seen, once:
                                 training needs no more */
    bool rows;                /* cells, not attributes */
    bool labelled;            /* rows: the last cell is a label that comes from elsewhere */
    size_t n;                 /* sequences */
    size_t *first;            /* [n + 1] tokens */
    size_t first_cap;
    size_t n_tokens, tokens_cap;
    size_t *begin; /* items: [n_tokens + 1] into id */
    size_t begin_cap;
    uint32_t *id; /* names of attributes or cells */
    double *value;
    size_t n_ids, ids_cap, values_cap;
    uint32_t *label; /* [n_tokens] */
    size_t labels_cap;
    size_t n_columns;
    uint64_t before; /* sequences of earlier batches, for messages */
    char *scratch;
    size_t scratch_cap;
} pt_batch;

void pt_batch_reset(pt_batch *b); /* forgets the sequences, keeps the memory */
void pt_batch_fini(pt_batch *b);

/* One sequence; y may be NULL.  -1 with an exception. */
int pt_batch_add(pt_batch *b, PyObject *x, PyObject *y);

/* The batch by the numbers of its names, which all have one: names that the model does not know are
 * left out.  Replaces id and begin; label keeps the numbers of names. */
void pt_batch_number(pt_batch *b);

/* The views of the batch that the library takes, [b->n]; freed with pt_views_fini. */
typedef struct pt_views {
    trl_items *items;
    trl_rows *rows;
    trl_attr *attr;
    trl_str *text;
    size_t *begin;
} pt_views;

int pt_views_make(pt_views *v, const pt_batch *b);
int pt_views_range(pt_views *v, const pt_batch *b, size_t from, size_t to);
void pt_views_fini(pt_views *v);

/* Memory for n elements of `size` bytes at *p, which has room for *cap.  -1 with MemoryError. */
int pt_reserve(void *p, size_t *cap, size_t n, size_t size);

/* ---- objects --------------------------------------------------------------------------------- */

typedef struct pt_dataset {
    PyObject_HEAD trl_dataset *data;
    pt_names names, labels;
    Py_ssize_t busy; /* being changed: -1; being read: how often */
} pt_dataset;

enum { PT_SPARE = 64 };

typedef struct pt_model {
    PyObject_HEAD trl_model *model;
    trl_buf bytes;               /* of a model that was trained here */
    PyObject *borrowed;          /* bytes that the model uses, or NULL */
    PyObject *labels;            /* tuple of str */
    trl_tagger *spare[PT_SPARE]; /* taggers that nobody uses now */
    size_t n_spare;
    pt_names names;
    bool names_busy;
} pt_model;

/* The model's table of names, or `own` when that one is in use; emptied when it is large. */
pt_names *pt_model_names(pt_model *m, pt_names *own);
void pt_model_names_done(pt_model *m, pt_names *names, pt_names *own);

extern PyTypeObject pt_dataset_type, pt_store_type, pt_model_type, pt_tagger_type, pt_parser_type;

/* Takes over the bytes.  NULL with an exception. */
PyObject *pt_model_of_bytes(trl_buf *bytes);
trl_tagger *pt_model_tagger(pt_model *m, trl_error *err);
void pt_model_give_back(pt_model *m, trl_tagger *t);

/* ---- options (options.c) --------------------------------------------------------------------- */

/* The value as text, without a NUL; the list `texts` keeps it.  NULL with an exception. */
const char *pt_option_text(PyObject *texts, const char *name, PyObject *v, Py_ssize_t *n);

/* Sets an option of the library by name; strings are borrowed from `texts`.  -1 with an exception.
 */
int pt_option_set(const trl_option_table *t, void *options, PyObject *texts, const char *name,
                  PyObject *v);

/* ---- functions ------------------------------------------------------------------------------- */

PyObject *pt_score_tuple(const trl_score *s); /* totals, chunks, labels, confusions, two reports */
PyObject *pt_train(PyObject *module, PyObject *args, PyObject *kw);
PyObject *pt_train_table(PyObject *module, PyObject *unused);
PyObject *pt_parse_table(PyObject *module, PyObject *unused);
PyObject *pt_predict(pt_model *self, PyObject *args, PyObject *kw);
PyObject *pt_label_list(const pt_model *m, const uint32_t *label, size_t n);
int pt_decoding(const char *name, trl_decoding *out); /* -1 with an exception */
PyObject *pt_doubles(const double *p, size_t n);      /* a bytearray */
extern PyMethodDef pt_score_methods[], pt_tree_methods[];

#endif
