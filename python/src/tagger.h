/* tagger.h -- questions about one sequence after the other: tagger.c, tagger_more.c. */
/* SPDX-License-Identifier: MIT */
#ifndef PT_TAGGER_H
#define PT_TAGGER_H

#include "core.h"

#include "trellis/constraint.h"

typedef struct pt_tagger {
    PyObject_HEAD pt_model *model;
    trl_tagger *tagger;
    trl_constraint *constraint; /* of its own, or NULL */
    size_t n;                   /* tokens of the current sequence */
    bool busy;
} pt_tagger;

/* Runs a call of the library without the GIL; only one thread at a time. */
#define PT_CALL(self, st, call)                                                                    \
    do {                                                                                           \
        (self)->busy = true;                                                                       \
        Py_BEGIN_ALLOW_THREADS st = (call);                                                        \
        Py_END_ALLOW_THREADS(self)->busy = false;                                                  \
    } while (0)

/* -1 with an exception: another thread has it, or there is no sequence. */
int pt_tagger_ready(const pt_tagger *self, bool sequence);

/* The numbers of the labels of the current sequence, freed with PyMem_Free.  0: the model does not
 * have one of them; -1 with an exception, and nothing to free. */
int pt_tagger_labels(const pt_tagger *self, PyObject *labels, uint32_t **label);

/* What is asked about a sequence as it is loaded. */
typedef struct pt_loaded {
    trl_status (*ask)(struct pt_loaded *self, trl_tagger *t, const pt_views *v, trl_error *err);
} pt_loaded;

/* Loads a sequence, by `then` unless NULL, which has the GIL.  None, or NULL with an exception. */
PyObject *pt_tagger_load(pt_tagger *self, PyObject *x, pt_loaded *then);

PyObject *pt_tagger_spans(pt_tagger *self, PyObject *args);
PyObject *pt_tagger_entropy(pt_tagger *self, PyObject *unused);
PyObject *pt_tagger_explain(pt_tagger *self, PyObject *args);
PyObject *pt_tagger_rules(pt_tagger *self, PyObject *rules);
PyObject *pt_tagger_allow(pt_tagger *self, PyObject *args);
PyObject *pt_tagger_fix_span(pt_tagger *self, PyObject *args);

#endif
