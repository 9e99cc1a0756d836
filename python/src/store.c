/* store.c -- labelled sequences that are added one by one, and data sets of some of them. */
/* SPDX-License-Identifier: MIT */
#include "core.h"

typedef struct pt_store {
    PyObject_HEAD pt_names names, labels;
    pt_batch batch;
    bool busy;
} pt_store;

static PyObject *store_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    (void)args, (void)kw;
    pt_store *self = (pt_store *)type->tp_alloc(type, 0);
    if (self) {
        self->batch.names = &self->names;
        self->batch.labels = &self->labels;
        self->batch.labelled = self->batch.keep_zeros = true;
    }
    return (PyObject *)self;
}

static void store_dealloc(pt_store *self)
{
    pt_batch_fini(&self->batch);
    pt_names_fini(&self->names);
    pt_names_fini(&self->labels);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *store_add(pt_store *self, PyObject *args)
{
    PyObject *x, *y;
    if (!PyArg_ParseTuple(args, "OO", &x, &y))
        return NULL;
    if (self->busy)
        return PyErr_Format(PyExc_RuntimeError, "the data is in use");
    self->busy = true;
    const int st = pt_batch_add(&self->batch, x, y);
    self->busy = false;
    return st < 0 ? NULL : PyLong_FromSize_t(self->batch.n - 1);
}

/* Adds sequences from .. to-1 to the data set. */
static int copy(const pt_store *self, pt_dataset *d, size_t from, size_t to)
{
    pt_views v;
    trl_error err = {0};
    if (pt_views_range(&v, &self->batch, from, to) < 0)
        return -1;
    const trl_status st = trl_dataset_add_items(d->data, v.items, to - from, NULL, &err);
    pt_views_fini(&v);
    if (st == TRL_OK)
        return 0;
    pt_raise(&err);
    return -1;
}

static PyObject *store_dataset(pt_store *self, PyObject *mask)
{
    if (self->busy)
        return PyErr_Format(PyExc_RuntimeError, "the data is in use");
    if (!PyBytes_Check(mask) || (size_t)PyBytes_GET_SIZE(mask) != self->batch.n)
        return PyErr_Format(PyExc_ValueError, "the choice is bytes, one for each sequence");
    const char *chosen = PyBytes_AS_STRING(mask);
    pt_dataset *d = (pt_dataset *)PyObject_CallNoArgs((PyObject *)&pt_dataset_type);
    int st = d ? 0 : -1;
    for (size_t k = 0; st == 0 && k < self->batch.n;) {
        size_t to = k;
        while (to < self->batch.n && to - k < 256 && chosen[to] &&
               self->batch.first[to] < self->batch.first[to + 1])
            to++;
        if (to > k)
            st = copy(self, d, k, to);
        k = to > k ? to : k + 1;
    }
    if (st < 0)
        Py_CLEAR(d);
    return (PyObject *)d;
}

static PyMethodDef store_methods[] = {
    {"add", (PyCFunction)store_add, METH_VARARGS, "add(xseq, yseq) -> its number"},
    {"dataset", (PyCFunction)store_dataset, METH_O,
     "dataset(mask): a Dataset of the sequences whose byte is not 0, those without tokens left "
     "out"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject pt_store_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "trellis._core.Store",
    .tp_basicsize = sizeof(pt_store),
    .tp_dealloc = (destructor)store_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Labelled sequences, copied out of Python one by one.",
    .tp_methods = store_methods,
    .tp_new = store_new,
};
