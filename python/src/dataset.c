/* dataset.c -- labelled sequences in the library's memory. */
/* SPDX-License-Identifier: MIT */
#include "core.h"

enum { BATCH_TOKENS = 8192 };

static PyObject *dataset_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    (void)args, (void)kw;
    trl_error err = {0};
    pt_dataset *self = (pt_dataset *)type->tp_alloc(type, 0);
    if (self && trl_dataset_new(&self->data, &err) != TRL_OK) {
        Py_DECREF(self);
        return pt_raise(&err);
    }
    return (PyObject *)self;
}

static void dataset_dealloc(pt_dataset *self)
{
    trl_dataset_free(self->data);
    pt_names_fini(&self->names);
    pt_names_fini(&self->labels);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* The names go when the data is there: they are in the library, too. */
static PyObject *dataset_done(pt_dataset *self, PyObject *unused)
{
    (void)unused;
    if (self->busy < 0)
        return PyErr_Format(PyExc_RuntimeError, "another thread is adding to the data set");
    pt_names_fini(&self->names);
    pt_names_fini(&self->labels);
    Py_RETURN_NONE;
}

typedef trl_status (*number_fn)(trl_dataset *, const trl_str *, size_t, uint32_t *, trl_error *);

/* The numbers of names that have none yet. */
static trl_status number(trl_dataset *d, pt_names *t, number_fn get, trl_error *err)
{
    trl_status st = TRL_OK;
    while (st == TRL_OK && t->numbered < t->n) {
        trl_str name[64];
        uint32_t got[64];
        size_t n = 0;
        for (; n < 64 && t->numbered + n < t->n; n++)
            name[n] = t->name[t->numbered + n].s;
        st = get(d, name, n, got, err);
        for (size_t k = 0; st == TRL_OK && k < n; k++)
            t->name[t->numbered++].number = got[k];
    }
    return st;
}

static trl_status add_items(pt_dataset *self, pt_batch *b, const double *weight, trl_error *err)
{
    trl_status st = number(self->data, &self->names, trl_dataset_number, err);
    if (st == TRL_OK)
        st = number(self->data, &self->labels, trl_dataset_number_labels, err);
    if (st != TRL_OK)
        return st;
    pt_batch_number(b);
    for (size_t t = 0; t < b->n_tokens; t++)
        b->label[t] = self->labels.name[b->label[t]].number;
    const trl_numbered_items x = {.n_sequences = b->n,
                                  .first = b->first,
                                  .label = b->label,
                                  .begin = b->begin,
                                  .attr = b->id,
                                  .value = b->value,
                                  .weight = weight};
    return trl_dataset_add_numbered(self->data, &x, err);
}

/* Hands the batch to the library. */
static int flush(pt_dataset *self, pt_batch *b, const double *weight)
{
    pt_views v = {0};
    trl_error err = {0};
    trl_status st;
    if (b->n == 0)
        return 0;
    if (b->rows && pt_views_make(&v, b) < 0)
        return -1;
    Py_BEGIN_ALLOW_THREADS st = b->rows
                                    ? trl_dataset_add_rows(self->data, v.rows, b->n, weight, &err)
                                    : add_items(self, b, weight, &err);
    Py_END_ALLOW_THREADS pt_views_fini(&v);
    pt_batch_reset(b);
    if (st == TRL_OK)
        return 0;
    pt_raise(&err);
    return -1;
}

static int take(PyObject *it, PyObject **out)
{
    *out = PyIter_Next(it);
    return *out ? 1 : PyErr_Occurred() ? -1 : 0;
}

/* The weight of the next sequence; without weights 1. */
static int next_weight(PyObject *it, double *w)
{
    PyObject *o;
    *w = 1.0;
    if (!it)
        return 0;
    const int got = take(it, &o);
    if (got == 0)
        PyErr_SetString(PyExc_ValueError, "fewer weights than sequences");
    if (got <= 0)
        return -1;
    *w = PyFloat_AsDouble(o);
    Py_DECREF(o);
    return *w == -1.0 && PyErr_Occurred() ? -1 : 0;
}

/* Adds X and y, iterators, until both end. */
static int add_all(pt_dataset *self, pt_batch *b, PyObject *xs, PyObject *ys, PyObject *ws)
{
    double *weight = NULL;
    size_t cap = 0;
    int st = 0, more = 1;
    while (st == 0 && more > 0) {
        PyObject *x = NULL, *y = NULL;
        more = take(xs, &x);
        const int more_y = more < 0 ? -1 : take(ys, &y);
        if (more < 0 || more_y < 0)
            st = -1;
        else if (more != more_y) {
            PyErr_SetString(PyExc_ValueError,
                            more ? "X has more sequences than y" : "y has more sequences than X");
            st = -1;
        } else if (more) {
            st = pt_reserve(&weight, &cap, b->n + 1, sizeof *weight);
            if (st == 0)
                st = next_weight(ws, &weight[b->n]);
            if (st == 0)
                st = pt_batch_add(b, x, y);
        }
        Py_XDECREF(x);
        Py_XDECREF(y);
        if (st == 0 && (!more || b->n_tokens >= BATCH_TOKENS))
            st = flush(self, b, ws ? weight : NULL);
        if (st == 0 && PyErr_CheckSignals() < 0)
            st = -1;
    }
    PyMem_RawFree(weight);
    return st;
}

static PyObject *dataset_add(pt_dataset *self, PyObject *args, PyObject *kw)
{
    static char *words[] = {"X", "y", "weight", "rows", "once", NULL};
    PyObject *x, *y, *w = Py_None;
    int rows = 0, once = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "OO|Opp", words, &x, &y, &w, &rows, &once))
        return NULL;
    if (self->busy)
        return PyErr_Format(PyExc_RuntimeError, "another thread is using the data set");
    if (!self->data)
        return PyErr_Format(PyExc_ValueError, "the data set was used up by a training");
    const trl_dataset_info info = trl_dataset_get_info(self->data);
    pt_batch b = {.names = &self->names,
                  .labels = &self->labels,
                  .rows = rows,
                  .labelled = true,
                  .keep_zeros = true,
                  .once = once,
                  .before = info.n_sequences,
                  .n_columns = rows && info.n_columns ? info.n_columns - 1 : 0};
    PyObject *xs = PyObject_GetIter(x), *ys = xs ? PyObject_GetIter(y) : NULL;
    PyObject *ws = ys && w != Py_None ? PyObject_GetIter(w) : NULL;
    self->busy = -1;
    const int st = xs && ys && (ws || w == Py_None) ? add_all(self, &b, xs, ys, ws) : -1;
    self->busy = 0;
    Py_XDECREF(xs);
    Py_XDECREF(ys);
    Py_XDECREF(ws);
    pt_batch_fini(&b);
    if (st < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *dataset_add_brackets(pt_dataset *self, PyObject *text)
{
    trl_error err = {0};
    trl_status st;
    trl_str s;
    if (pt_text(text, "a treebank", &s) < 0)
        return NULL;
    if (self->busy)
        return PyErr_Format(PyExc_RuntimeError, "another thread is using the data set");
    if (!self->data)
        return PyErr_Format(PyExc_ValueError, "the data set was used up by a training");
    self->busy = -1;
    Py_BEGIN_ALLOW_THREADS st = trl_dataset_add_brackets(self->data, "trees", s.p, s.n, &err);
    Py_END_ALLOW_THREADS self->busy = 0;
    if (st != TRL_OK)
        return pt_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *dataset_info(pt_dataset *self, PyObject *unused)
{
    (void)unused;
    if (self->busy < 0)
        return PyErr_Format(PyExc_RuntimeError, "another thread is adding to the data set");
    const trl_dataset_info i = trl_dataset_get_info(self->data);
    return Py_BuildValue("{s:s,s:n,s:n,s:n}", "format",
                         i.format == TRL_FORMAT_COLUMNS    ? "rows"
                         : i.format == TRL_FORMAT_CRFSUITE ? "items"
                                                           : "empty",
                         "sequences", (Py_ssize_t)i.n_sequences, "tokens", (Py_ssize_t)i.n_tokens,
                         "columns", (Py_ssize_t)i.n_columns);
}

static PyMethodDef dataset_methods[] = {
    {"add", (PyCFunction)(void (*)(void))dataset_add, METH_VARARGS | METH_KEYWORDS,
     "add(X, y, weight=None, rows=False, once=False)\n\nAdds sequences, in batches; those before "
     "the "
     "one that is refused stay.  once: all of them are trained on, as they are, so that an "
     "attribute "
     "with the value 0 need not be kept more than once with a label."},
    {"add_brackets", (PyCFunction)dataset_add_brackets, METH_O,
     "Trees in Penn brackets, for parsers."},
    {"done", (PyCFunction)dataset_done, METH_NOARGS, "Frees what only adding needs."},
    {"info", (PyCFunction)dataset_info, METH_NOARGS, "Format and counts."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject pt_dataset_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "trellis._core.Dataset",
    .tp_basicsize = sizeof(pt_dataset),
    .tp_dealloc = (destructor)dataset_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Labelled sequences, copied out of Python.",
    .tp_methods = dataset_methods,
    .tp_new = dataset_new,
};
