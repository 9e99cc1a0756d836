/* model.c -- a trained chain model and what can be asked of it. */
/* SPDX-License-Identifier: MIT */
#include "core.h"

enum { MANY_NAMES = 1 << 20 };

static void model_dealloc(pt_model *self)
{
    while (self->n_spare)
        trl_tagger_free(self->spare[--self->n_spare]);
    trl_model_free(self->model);
    trl_buf_fini(&self->bytes);
    pt_names_fini(&self->names);
    Py_XDECREF(self->borrowed);
    Py_XDECREF(self->labels);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* The labels as strings, once. */
static int make_labels(pt_model *m)
{
    const size_t n = trl_model_get_info(m->model).n_labels;
    m->labels = PyTuple_New((Py_ssize_t)n);
    for (size_t k = 0; m->labels && k < n; k++) {
        PyObject *s = pt_string(trl_model_label(m->model, k));
        if (!s)
            return -1;
        PyTuple_SET_ITEM(m->labels, (Py_ssize_t)k, s);
    }
    return m->labels ? 0 : -1;
}

PyObject *pt_model_of_bytes(trl_buf *bytes)
{
    trl_error err = {0};
    pt_model *m = (pt_model *)pt_model_type.tp_alloc(&pt_model_type, 0);
    if (!m)
        return NULL;
    m->bytes = *bytes;
    *bytes = (trl_buf){0};
    if (trl_model_from_memory(m->bytes.data, m->bytes.len, &m->model, &err) != TRL_OK)
        pt_raise(&err);
    else if (make_labels(m) == 0)
        return (PyObject *)m;
    Py_DECREF(m);
    return NULL;
}

static trl_status load(pt_model *m, PyObject *data, bool map, trl_error *err)
{
    trl_status st;
    if (PyBytes_CheckExact(data)) {
        m->borrowed = Py_NewRef(data);
        const size_t n = (size_t)PyBytes_GET_SIZE(data);
        Py_BEGIN_ALLOW_THREADS st =
            trl_model_from_memory(PyBytes_AS_STRING(data), n, &m->model, err);
        Py_END_ALLOW_THREADS return st;
    }
    PyObject *path = NULL;
    if (!PyUnicode_FSConverter(data, &path))
        return TRL_EINVAL;
    const char *name = PyBytes_AS_STRING(path);
    Py_BEGIN_ALLOW_THREADS st =
        map ? trl_model_map(name, &m->model, err) : trl_model_open(name, &m->model, err);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    return st;
}

static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *words[] = {"data", "map", NULL};
    PyObject *data;
    int map = 0;
    trl_error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O|p", words, &data, &map))
        return NULL;
    PyObject *copy = NULL;
    if (!PyBytes_CheckExact(data) && PyObject_CheckBuffer(data))
        data = copy = PyBytes_FromObject(data); /* what others may change is not borrowed */
    pt_model *m = data ? (pt_model *)type->tp_alloc(type, 0) : NULL;
    const trl_status st = m ? load(m, data, map, &err) : TRL_ENOMEM;
    Py_XDECREF(copy);
    if (m && st == TRL_OK && make_labels(m) == 0)
        return (PyObject *)m;
    Py_XDECREF(m);
    return PyErr_Occurred() ? NULL : pt_raise(&err);
}

trl_tagger *pt_model_tagger(pt_model *m, trl_error *err)
{
    trl_tagger *t = NULL;
    if (m->n_spare)
        return m->spare[--m->n_spare];
    return trl_tagger_new(m->model, &t, err) == TRL_OK ? t : NULL;
}

void pt_model_give_back(pt_model *m, trl_tagger *t)
{
    if (t && m->n_spare < PT_SPARE)
        m->spare[m->n_spare++] = t;
    else
        trl_tagger_free(t);
}

pt_names *pt_model_names(pt_model *m, pt_names *own)
{
    if (m->names_busy)
        return own;
    m->names_busy = true;
    if (m->names.n > MANY_NAMES)
        pt_names_fini(&m->names);
    return &m->names;
}

void pt_model_names_done(pt_model *m, pt_names *names, pt_names *own)
{
    if (names == own)
        pt_names_fini(own);
    else
        m->names_busy = false;
}

int pt_decoding(const char *name, trl_decoding *out)
{
    static const char *const names[] = {"model", "local", "global", "scores"};
    for (int k = 0; k < 4; k++)
        if (strcmp(name, names[k]) == 0) {
            *out = (trl_decoding)k;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "decode is 'model', 'local', 'global' or 'scores', not '%.100s'",
                 name);
    return -1;
}

PyObject *pt_label_list(const pt_model *m, const uint32_t *label, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t k = 0; list && k < n; k++)
        PyList_SET_ITEM(list, (Py_ssize_t)k, Py_NewRef(PyTuple_GET_ITEM(m->labels, label[k])));
    return list;
}

PyObject *pt_doubles(const double *p, size_t n)
{
    return PyByteArray_FromStringAndSize((const char *)p, (Py_ssize_t)(n * sizeof *p));
}

/* ---- asking ---------------------------------------------------------------------------------- */

static PyObject *model_info(pt_model *self, PyObject *unused)
{
    (void)unused;
    const trl_model_info i = trl_model_get_info(self->model);
    return Py_BuildValue(
        "{s:s,s:s,s:s,s:i,s:s,s:n,s:n,s:K,s:K,s:K,s:O,s:O,s:O}", "kind", i.kind, "objective",
        i.objective, "settings", i.settings, "order", i.order, "format",
        i.format == TRL_FORMAT_COLUMNS ? "rows" : "items", "columns", (Py_ssize_t)i.n_columns,
        "labels", (Py_ssize_t)i.n_labels, "attributes", (unsigned long long)i.n_attributes,
        "features", (unsigned long long)i.n_features, "size", (unsigned long long)i.file_size,
        "is_probability", i.is_probability ? Py_True : Py_False, "is_local",
        i.is_local ? Py_True : Py_False, "is_calibrated", i.is_calibrated ? Py_True : Py_False);
}

static int scope_of(int k, trl_scope *out)
{
    if (k < TRL_SCOPE_LABEL || k > TRL_SCOPE_TRIPLE) {
        PyErr_SetString(PyExc_ValueError, "the scope is 0 (labels), 1 (pairs) or 2 (triples)");
        return -1;
    }
    *out = (trl_scope)k;
    return 0;
}

static PyObject *model_attributes(pt_model *self, PyObject *args)
{
    int k = 0;
    trl_scope scope;
    if (!PyArg_ParseTuple(args, "|i", &k) || scope_of(k, &scope) < 0)
        return NULL;
    const size_t n = trl_model_n_attributes(self->model, scope);
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t a = 0; list && a < n; a++) {
        PyObject *s = pt_string(trl_model_attribute(self->model, scope, a));
        if (!s)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)a, s);
    }
    return list;
}

static size_t cells(const pt_model *m, trl_scope scope)
{
    const size_t l = trl_model_get_info(m->model).n_labels;
    return scope == TRL_SCOPE_LABEL ? l : scope == TRL_SCOPE_PAIR ? l * l : l * l * l;
}

/* All weights of an attribute, a number or a name; None when the model does not have it. */
static PyObject *model_weights(pt_model *self, PyObject *args)
{
    PyObject *what;
    int k = 0;
    trl_scope scope;
    trl_error err = {0};
    if (!PyArg_ParseTuple(args, "O|i", &what, &k) || scope_of(k, &scope) < 0)
        return NULL;
    uint32_t a;
    if (what == Py_None) {
        a = trl_model_transitions(self->model, scope);
    } else if (PyLong_Check(what)) {
        const unsigned long x = PyLong_AsUnsignedLong(what);
        if (PyErr_Occurred())
            return NULL;
        a = x < UINT32_MAX ? (uint32_t)x : UINT32_MAX - 1;
    } else {
        trl_str s;
        if (pt_text(what, "an attribute", &s) < 0)
            return NULL;
        a = trl_model_find_attribute(self->model, scope, s);
    }
    if (a == UINT32_MAX)
        Py_RETURN_NONE;
    const size_t n = cells(self, scope);
    PyObject *out = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(n * sizeof(double)));
    if (out && trl_model_weights(self->model, scope, a,
                                 (double *)(void *)PyByteArray_AS_STRING(out), &err) != TRL_OK) {
        Py_DECREF(out);
        return pt_raise(&err);
    }
    return out;
}

/* {(attribute, label): weight}, those that are not 0. */
static PyObject *model_features(pt_model *self, PyObject *unused)
{
    (void)unused;
    trl_error err = {0};
    const size_t n = trl_model_n_attributes(self->model, TRL_SCOPE_LABEL), l = cells(self, 0);
    double *w = PyMem_Malloc((l + 1) * sizeof *w);
    PyObject *d = w ? PyDict_New() : PyErr_NoMemory();
    int st = d ? 0 : -1;
    for (size_t a = 0; st == 0 && a < n; a++) {
        PyObject *name = pt_string(trl_model_attribute(self->model, TRL_SCOPE_LABEL, a));
        if (!name ||
            trl_model_weights(self->model, TRL_SCOPE_LABEL, (uint32_t)a, w, &err) != TRL_OK) {
            st = -1;
            if (name)
                pt_raise(&err);
        }
        for (size_t y = 0; st == 0 && y < l; y++) {
            if (w[y] == 0.0)
                continue;
            PyObject *key = PyTuple_Pack(2, name, PyTuple_GET_ITEM(self->labels, y));
            PyObject *value = PyFloat_FromDouble(w[y]);
            st = key && value ? PyDict_SetItem(d, key, value) : -1;
            Py_XDECREF(key);
            Py_XDECREF(value);
        }
        Py_XDECREF(name);
    }
    PyMem_Free(w);
    if (st < 0)
        Py_CLEAR(d);
    return d;
}

static trl_status append(void *ctx, const char *text, size_t n, trl_error *err)
{
    (void)err;
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *piece = PyBytes_FromStringAndSize(text, (Py_ssize_t)n);
    const int st = piece ? PyList_Append(ctx, piece) : -1;
    Py_XDECREF(piece);
    PyGILState_Release(gil);
    return st < 0 ? TRL_ENOMEM : TRL_OK;
}

/* The model as text; top > 0: a table of the largest weights. */
static PyObject *model_dump(pt_model *self, PyObject *args)
{
    Py_ssize_t top = 0;
    trl_error err = {0};
    if (!PyArg_ParseTuple(args, "|n", &top))
        return NULL;
    if (top < 0)
        return PyErr_Format(PyExc_ValueError, "top is not negative");
    PyObject *list = PyList_New(0);
    if (!list)
        return NULL;
    trl_status st;
    Py_BEGIN_ALLOW_THREADS st =
        top ? trl_model_dump_top(self->model, (size_t)top, append, list, &err)
            : trl_model_dump(self->model, append, list, &err);
    Py_END_ALLOW_THREADS PyObject *none = PyBytes_FromStringAndSize("", 0);
    PyObject *all = st == TRL_OK && none ? PyObject_CallMethod(none, "join", "O", list) : NULL;
    if (st != TRL_OK && !PyErr_Occurred())
        pt_raise(&err);
    Py_XDECREF(none);
    Py_DECREF(list);
    return all;
}

static PyObject *model_bytes(pt_model *self, PyObject *unused)
{
    (void)unused;
    if (self->bytes.len)
        return PyBytes_FromStringAndSize(self->bytes.data, (Py_ssize_t)self->bytes.len);
    if (self->borrowed)
        return Py_NewRef(self->borrowed);
    Py_RETURN_NONE; /* from a file: the caller knows which */
}

static PyObject *model_template(pt_model *self, PyObject *unused)
{
    (void)unused;
    return pt_string(trl_model_template(self->model));
}

static PyObject *model_labels(pt_model *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->labels);
}

static PyGetSetDef model_members[] = {
    {"labels", (getter)model_labels, NULL, "The labels, a tuple.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef model_methods[] = {
    {"info", (PyCFunction)model_info, METH_NOARGS, "What it is and how it was trained."},
    {"attributes", (PyCFunction)model_attributes, METH_VARARGS, "attributes(scope=0)"},
    {"weights", (PyCFunction)model_weights, METH_VARARGS,
     "weights(attribute, scope=0): doubles, or None; attribute None: plain transitions"},
    {"features", (PyCFunction)model_features, METH_NOARGS, "{(attribute, label): weight}"},
    {"dump", (PyCFunction)model_dump, METH_VARARGS, "dump(top=0) -> bytes"},
    {"tobytes", (PyCFunction)model_bytes, METH_NOARGS, "The model file, or None if from a file."},
    {"template", (PyCFunction)model_template, METH_NOARGS, "The template, '' for items."},
    {"predict", (PyCFunction)(void (*)(void))pt_predict, METH_VARARGS | METH_KEYWORDS,
     "predict(X, what='labels', n=1, threads=1, decode='model') -> list"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject pt_model_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "trellis._core.Model",
    .tp_basicsize = sizeof(pt_model),
    .tp_dealloc = (destructor)model_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Model(data, map=False): a chain model from bytes or a path.",
    .tp_methods = model_methods,
    .tp_getset = model_members,
    .tp_new = model_new,
};
