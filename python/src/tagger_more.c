/* tagger_more.c -- spans, entropies, what a label is made of, and rules. */
/* SPDX-License-Identifier: MIT */
#include "tagger.h"

static PyObject *text(trl_str s)
{
    return PyUnicode_DecodeUTF8(s.p, (Py_ssize_t)s.n, "surrogateescape");
}

static PyObject *span_list(const trl_tag_span *span, size_t n)
{
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < n; k++) {
        PyObject *row = Py_BuildValue("(nnNdd)", (Py_ssize_t)span[k].begin, (Py_ssize_t)span[k].end,
                                      text(span[k].type), span[k].p, span[k].boundaries);
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *spans_of(pt_tagger *self, PyObject *labels)
{
    trl_error err = {0};
    trl_status st;
    uint32_t *label = NULL;
    size_t n = 0;
    const int known = pt_tagger_labels(self, labels, &label);
    if (known < 0)
        return NULL;
    trl_tag_span *span = known ? PyMem_Calloc(self->n, sizeof *span) : NULL;
    PyObject *out = NULL;
    if (!known)
        PyErr_SetString(PyExc_ValueError, "the model does not have one of the labels");
    else if (!span)
        PyErr_NoMemory();
    else {
        PT_CALL(self, st, trl_tagger_spans(self->tagger, label, span, &n, &err));
        out = st == TRL_OK ? span_list(span, n) : pt_raise(&err);
    }
    PyMem_Free(span);
    PyMem_Free(label);
    return out;
}

PyObject *pt_tagger_spans(pt_tagger *self, PyObject *args)
{
    trl_error err = {0};
    trl_status st;
    PyObject *labels;
    double least;
    size_t n = 0;
    const trl_tag_span *span = NULL;
    if (!PyArg_ParseTuple(args, "Od", &labels, &least) || pt_tagger_ready(self, true) < 0)
        return NULL;
    if (labels != Py_None)
        return spans_of(self, labels);
    PT_CALL(self, st, trl_tagger_spans_above(self->tagger, least, &span, &n, &err));
    return st == TRL_OK ? span_list(span, n) : pt_raise(&err);
}

PyObject *pt_tagger_entropy(pt_tagger *self, PyObject *unused)
{
    (void)unused;
    trl_error err = {0};
    trl_status st;
    double whole;
    if (pt_tagger_ready(self, true) < 0)
        return NULL;
    double *token = PyMem_Calloc(self->n, sizeof *token);
    if (!token)
        return PyErr_NoMemory();
    PT_CALL(self, st, trl_tagger_entropy(self->tagger, &whole, token, &err));
    PyObject *out =
        st == TRL_OK ? Py_BuildValue("(dN)", whole, pt_doubles(token, self->n)) : pt_raise(&err);
    PyMem_Free(token);
    return out;
}

/* ---- what a label is made of ------------------------------------------------------------------
 */

typedef struct explanation {
    pt_loaded then;
    size_t position;
    const trl_contribution *found;
    size_t n;
} explanation;

static trl_status explain(pt_loaded *self, trl_tagger *t, const pt_views *v, trl_error *err)
{
    explanation *e = (explanation *)self;
    return v->rows ? trl_tagger_explain_rows(t, v->rows, e->position, &e->found, &e->n, err)
                   : trl_tagger_explain_items(t, v->items, e->position, &e->found, &e->n, err);
}

static PyObject *weights_of(const pt_tagger *self, const trl_contribution *c)
{
    const trl_model *m = self->model->model;
    size_t cells = 1;
    for (int k = 0; k <= (int)c->scope; k++)
        cells *= trl_model_get_info(m).n_labels;
    double *w = PyMem_Calloc(cells, sizeof *w);
    if (!w)
        return PyErr_NoMemory();
    trl_error err = {0};
    const trl_status st = trl_model_weights(m, c->scope, c->attribute, w, &err);
    PyObject *out = st == TRL_OK ? pt_doubles(w, cells) : pt_raise(&err);
    PyMem_Free(w);
    return out;
}

PyObject *pt_tagger_explain(pt_tagger *self, PyObject *args)
{
    PyObject *x;
    Py_ssize_t position;
    if (!PyArg_ParseTuple(args, "On", &x, &position))
        return NULL;
    if (position < 0)
        return PyErr_Format(PyExc_IndexError, "there is no token %zd", position);
    explanation e = {.then = {explain}, .position = (size_t)position};
    PyObject *done = pt_tagger_load(self, x, &e.then);
    if (!done)
        return NULL;
    Py_DECREF(done);
    PyObject *list = PyList_New(0);
    self->busy = true; /* what was found is the tagger's */
    for (size_t k = 0; list && k < e.n; k++) {
        PyObject *w = weights_of(self, &e.found[k]);
        PyObject *row = w ? Py_BuildValue("(iNdN)", (int)e.found[k].scope, text(e.found[k].name),
                                          e.found[k].value, w)
                          : NULL;
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    self->busy = false;
    return list;
}

/* ---- rules ------------------------------------------------------------------------------------
 */

static int add_rules(trl_constraint *c, PyObject *fast)
{
    trl_error err = {0};
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(fast); k++) {
        trl_str s;
        if (pt_text(PySequence_Fast_GET_ITEM(fast, k), "a rule", &s) < 0)
            return -1;
        if (trl_constraint_rule(c, s, &err) != TRL_OK) {
            pt_raise(&err);
            return -1;
        }
    }
    return 0;
}

/* Those of the model, and these. */
PyObject *pt_tagger_rules(pt_tagger *self, PyObject *rules)
{
    trl_error err = {0};
    trl_constraint *c = NULL;
    if (pt_tagger_ready(self, false) < 0)
        return NULL;
    PyObject *fast = PySequence_Fast(rules, "rules are a list of strings");
    if (!fast)
        return NULL;
    const trl_model *m = self->model->model;
    bool good =
        trl_constraint_new(m, &c, &err) == TRL_OK && trl_constraint_kept(c, m, &err) == TRL_OK;
    if (!good)
        pt_raise(&err);
    good = good && add_rules(c, fast) == 0;
    Py_DECREF(fast);
    if (good && trl_tagger_constrain(self->tagger, c, &err) != TRL_OK) {
        pt_raise(&err);
        good = false;
    }
    if (!good) {
        trl_constraint_free(c);
        return NULL;
    }
    trl_constraint_free(self->constraint);
    self->constraint = c;
    Py_RETURN_NONE;
}

PyObject *pt_tagger_allow(pt_tagger *self, PyObject *args)
{
    trl_error err = {0};
    Py_ssize_t position;
    PyObject *cell;
    trl_str s;
    if (!PyArg_ParseTuple(args, "nO", &position, &cell) || pt_tagger_ready(self, true) < 0 ||
        pt_text(cell, "what a token may be", &s) < 0)
        return NULL;
    if (position < 0 || (size_t)position >= self->n)
        return PyErr_Format(PyExc_IndexError, "there is no token %zd: there are %zu", position,
                            self->n);
    if (trl_tagger_allow_text(self->tagger, (size_t)position, s, &err) != TRL_OK)
        return pt_raise(&err);
    Py_RETURN_NONE;
}

PyObject *pt_tagger_fix_span(pt_tagger *self, PyObject *args)
{
    trl_error err = {0};
    Py_ssize_t from, to;
    PyObject *type;
    trl_str s;
    if (!PyArg_ParseTuple(args, "nnO", &from, &to, &type) || pt_tagger_ready(self, true) < 0 ||
        pt_text(type, "the type of a span", &s) < 0)
        return NULL;
    if (from < 0 || to <= from || (size_t)to > self->n)
        return PyErr_Format(PyExc_IndexError, "there are no tokens %zd to %zd: there are %zu", from,
                            to, self->n);
    if (trl_tagger_fix_span(self->tagger, (size_t)from, (size_t)to, s, &err) != TRL_OK)
        return pt_raise(&err);
    Py_RETURN_NONE;
}
