/* options.c -- options by name, from Python's values. */
/* SPDX-License-Identifier: MIT */
#include "core.h"
#include "trellis/parser.h"

static PyObject *as_string(const char *name, PyObject *v)
{
    if (PyBool_Check(v))
        return PyUnicode_FromString(v == Py_True ? "true" : "false");
    if (PyUnicode_Check(v))
        return Py_NewRef(v);
    if (PyFloat_Check(v)) { /* also numpy's, whose repr is another one */
        PyObject *plain = PyFloat_FromDouble(PyFloat_AS_DOUBLE(v));
        PyObject *s = plain ? PyObject_Repr(plain) : NULL;
        Py_XDECREF(plain);
        return s;
    }
    if (PyIndex_Check(v)) {
        PyObject *i = PyNumber_Index(v);
        PyObject *s = i ? PyObject_Str(i) : NULL;
        Py_XDECREF(i);
        return s;
    }
    return PyErr_Format(PyExc_TypeError, "%s is a number or a string, not %.100s", name,
                        Py_TYPE(v)->tp_name);
}

const char *pt_option_text(PyObject *texts, const char *name, PyObject *v, Py_ssize_t *n)
{
    PyObject *s = as_string(name, v);
    const char *text = s && PyList_Append(texts, s) == 0 ? PyUnicode_AsUTF8AndSize(s, n) : NULL;
    Py_XDECREF(s);
    if (!text || strlen(text) == (size_t)*n)
        return text;
    PyErr_Format(PyExc_ValueError, "%s contains a NUL byte", name);
    return NULL;
}

int pt_option_set(const trl_option_table *t, void *options, PyObject *texts, const char *name,
                  PyObject *v)
{
    trl_error err = {0};
    Py_ssize_t n;
    const char *text = pt_option_text(texts, name, v, &n);
    if (!text)
        return -1;
    if (trl_options_set(t, options, name, text, &err) == TRL_OK)
        return 0;
    pt_raise(&err);
    return -1;
}

static PyObject *table_list(const trl_option_table *t)
{
    const trl_option *row;
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && (row = trl_options_at(t, k)); k++) {
        PyObject *d = Py_BuildValue("{s:s,s:z,s:z,s:z,s:I}", "name", row->name, "group", row->group,
                                    "default", row->preset, "help", row->help, "kinds", row->kinds);
        if (!d || PyList_Append(list, d) < 0)
            Py_CLEAR(list);
        Py_XDECREF(d);
    }
    return list;
}

PyObject *pt_train_table(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return table_list(trl_train_option_table());
}

PyObject *pt_parse_table(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return table_list(trl_parse_option_table());
}
