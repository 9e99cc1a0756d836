/* items.c -- sequences from Python: dictionaries, lists of strings, rows of cells.
 *
 *     {"word": "dog"}         word:dog          {"bias": 1.5}            bias, value 1.5
 *     {"bias": True}          bias, value 1     {"a": {"b": "c"}}        a:b:c
 *     ["word=dog", "bias"]    value 1 each      {"a": ["b", "c"]}        a:b, a:c
 */
/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <math.h>

enum { DEEPEST = 50 };

void pt_batch_reset(pt_batch *b)
{
    b->before += b->n;
    b->n = b->n_tokens = b->n_ids = 0;
}

void pt_batch_fini(pt_batch *b)
{
    PyMem_RawFree(b->first);
    PyMem_RawFree(b->begin);
    PyMem_RawFree(b->id);
    PyMem_RawFree(b->value);
    PyMem_RawFree(b->label);
    PyMem_RawFree(b->scratch);
    memset(b, 0, sizeof *b);
}

/* Where we are, for messages: numbers from 1. */
static int bad(const pt_batch *b, PyObject *type, const char *what)
{
    PyErr_Format(type, "sequence %llu, token %zu: %s", (unsigned long long)(b->before + b->n + 1),
                 b->n_tokens - b->first[b->n] + 1, what);
    return -1;
}

/* An exception that is already set gets the place. */
static int placed(const pt_batch *b)
{
    PyObject *type, *value, *trace;
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError))
        return -1;
    if (PyErr_ExceptionMatches(PyExc_UnicodeError))
        return -1;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_Format(type, "sequence %llu, token %zu: %S", (unsigned long long)(b->before + b->n + 1),
                 b->n_tokens - b->first[b->n] + 1, value ? value : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return -1;
}

static int push(pt_batch *b, int64_t name, double value)
{
    if (name < 0 || pt_reserve(&b->id, &b->ids_cap, b->n_ids + 1, sizeof *b->id) < 0 ||
        pt_reserve(&b->value, &b->values_cap, b->n_ids + 1, sizeof *b->value) < 0)
        return -1;
    if (!isfinite(value))
        return bad(b, PyExc_ValueError, "a value is not finite");
    b->id[b->n_ids] = (uint32_t)name;
    b->value[b->n_ids++] = value;
    return 0;
}

/* Was there an attribute of this name with the value 0 and the label of this token? */
static bool is_surplus(const pt_batch *b, pt_key *key)
{
    const uint32_t label = b->once ? b->label[b->n_tokens] : UINT32_MAX;
    const uint64_t bit = label < 64 ? UINT64_C(1) << label : 0, before = key->zeros;
    key->zeros |= bit;
    return before & bit;
}

static int push_plain(pt_batch *b, pt_key *key, double value)
{
    if (value == 0.0 && (!b->keep_zeros || is_surplus(b, key)))
        return 0;
    if (!key->plain) {
        const int64_t name = pt_names_add(b->names, key->s);
        if (name < 0)
            return -1;
        key->plain = (uint32_t)name + 1;
    }
    return push(b, key->plain - 1, value);
}

static int nested(pt_batch *b, size_t prefix, PyObject *x, int depth);

/* prefix + key + ":" in scratch; the new length, or 0 with an exception. */
static size_t extend(pt_batch *b, size_t prefix, trl_str s)
{
    if (pt_reserve(&b->scratch, &b->scratch_cap, prefix + s.n + 1, 1) < 0)
        return 0;
    memcpy(b->scratch + prefix, s.p, s.n);
    b->scratch[prefix + s.n] = ':';
    return prefix + s.n + 1;
}

static bool is_text(PyObject *o)
{
    return PyUnicode_Check(o) || PyBytes_Check(o);
}

static bool is_group(PyObject *o)
{
    return PyDict_Check(o) || PyList_Check(o) || PyTuple_Check(o) || PyAnySet_Check(o);
}

static int number(const pt_batch *b, trl_str name, PyObject *o, double *out)
{
    *out = PyFloat_AsDouble(o);
    if (*out != -1.0 || !PyErr_Occurred())
        return 0;
    if (!PyErr_ExceptionMatches(PyExc_TypeError))
        return -1;
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError,
                 "sequence %llu, token %zu: the value of '%.100s' is a number, a string, or a "
                 "dictionary, list or set of these, not %.100s",
                 (unsigned long long)(b->before + b->n + 1), b->n_tokens - b->first[b->n] + 1,
                 name.n ? name.p : "", Py_TYPE(o)->tp_name);
    return -1;
}

/* One pair below a prefix of a nested value, put together in scratch. */
static int nested_pair(pt_batch *b, size_t prefix, PyObject *k, PyObject *v, int depth)
{
    trl_str s, t;
    double value = 1.0;
    if (pt_text(k, "the name of an attribute", &s) < 0)
        return placed(b);
    size_t n = extend(b, prefix, s);
    if (!n)
        return -1;
    if (v && is_group(v))
        return nested(b, n, v, depth + 1);
    n--;
    if (v && is_text(v)) {
        if (pt_text(v, "a value", &t) < 0)
            return -1;
        n = extend(b, n + 1, t);
        if (!n--)
            return -1;
    } else if (v && number(b, s, v, &value) < 0) {
        return -1;
    }
    if (value == 0.0 && !b->keep_zeros)
        return 0;
    return push(b, pt_names_add(b->names, (trl_str){b->scratch, n}), value);
}

static int nested(pt_batch *b, size_t prefix, PyObject *x, int depth)
{
    PyObject *k, *v;
    Py_ssize_t at = 0;
    int st = 0;
    if (depth > DEEPEST)
        return bad(b, PyExc_ValueError, "dictionaries are nested too deeply");
    if (PyDict_Check(x)) {
        while (st == 0 && PyDict_Next(x, &at, &k, &v)) {
            Py_INCREF(k);
            Py_INCREF(v);
            st = nested_pair(b, prefix, k, v, depth);
            Py_DECREF(k);
            Py_DECREF(v);
        }
        return st;
    }
    PyObject *it = PyObject_GetIter(x);
    while (st == 0 && it && (k = PyIter_Next(it))) {
        st = nested_pair(b, prefix, k, NULL, depth);
        Py_DECREF(k);
    }
    Py_XDECREF(it);
    return st < 0 || PyErr_Occurred() ? -1 : 0;
}

static int group(pt_batch *b, pt_key *key, PyObject *v)
{
    Py_INCREF(v); /* a value may be anything, and its methods may do anything */
    const size_t n = extend(b, 0, key->s);
    const int st = n ? nested(b, n, v, 1) : -1;
    Py_DECREF(v);
    return st;
}

static int odd_value(pt_batch *b, pt_key *key, PyObject *v)
{
    double value;
    const pt_key copy = *key; /* the cache may change below */
    Py_INCREF(copy.object);
    Py_INCREF(v);
    int st = number(b, copy.s, v, &value);
    if (st == 0 && (value != 0.0 || b->keep_zeros))
        st = push(b, pt_names_add(b->names, copy.s), value);
    Py_DECREF(v);
    Py_DECREF(copy.object);
    return st;
}

static int pair(pt_batch *b, PyObject *k, PyObject *v)
{
    pt_key *key = pt_names_key(b->names, k);
    if (!key)
        return placed(b);
    if (PyUnicode_Check(v) || PyBytes_Check(v)) {
        trl_str s;
        return pt_text(v, "a value", &s) < 0 ? -1
                                             : push(b, pt_names_add_pair(b->names, key, s), 1.0);
    }
    if (v == Py_True || v == Py_False)
        return push_plain(b, key, v == Py_True);
    if (PyFloat_CheckExact(v))
        return push_plain(b, key, PyFloat_AS_DOUBLE(v));
    return is_group(v) ? group(b, key, v) : odd_value(b, key, v);
}

static int dictionary(pt_batch *b, PyObject *x)
{
    PyObject *k, *v;
    Py_ssize_t at = 0;
    while (PyDict_Next(x, &at, &k, &v))
        if (pair(b, k, v) < 0)
            return -1;
    return 0;
}

static int attribute(pt_batch *b, PyObject *k)
{
    trl_str s;
    return pt_text(k, "an attribute", &s) < 0 ? placed(b) : push(b, pt_names_add(b->names, s), 1.0);
}

static int list_of_names(pt_batch *b, PyObject *x)
{
    int st = 0;
    PyObject *k;
    if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) {
        for (Py_ssize_t i = 0; st == 0 && i < PySequence_Fast_GET_SIZE(x); i++)
            st = attribute(b, PySequence_Fast_GET_ITEM(x, i));
        return st;
    }
    PyObject *it = PyObject_GetIter(x);
    if (!it) {
        PyErr_Clear();
        return bad(b, PyExc_TypeError, "a token is a dictionary or a list of strings");
    }
    while (st == 0 && (k = PyIter_Next(it))) {
        st = attribute(b, k);
        Py_DECREF(k);
    }
    Py_DECREF(it);
    return st < 0 || PyErr_Occurred() ? -1 : 0;
}

static int item(pt_batch *b, PyObject *x)
{
    if (PyDict_Check(x))
        return dictionary(b, x);
    if (is_text(x))
        return bad(b, PyExc_ValueError,
                   "a token is a dictionary or a list of strings, not a string (words without "
                   "features are one column: give a template)");
    if (!PyList_Check(x) && !PyTuple_Check(x) && PyObject_HasAttrString(x, "keys") &&
        PyObject_HasAttrString(x, "__getitem__")) {
        PyObject *d = PyDict_New();
        const int st = !d || PyDict_Update(d, x) < 0 ? -1 : dictionary(b, d);
        Py_XDECREF(d);
        return st;
    }
    return list_of_names(b, x);
}

static int cell(pt_batch *b, PyObject *x)
{
    trl_str s;
    if (pt_text(x, "a cell", &s) < 0)
        return placed(b);
    const int64_t name = pt_names_add(b->names, s);
    if (name < 0 || pt_reserve(&b->id, &b->ids_cap, b->n_ids + 1, sizeof *b->id) < 0)
        return -1;
    b->id[b->n_ids++] = (uint32_t)name;
    return 0;
}

/* A row: a string is a row of one cell. */
static int row(pt_batch *b, PyObject *x)
{
    const size_t from = b->n_ids;
    if (is_text(x)) {
        if (cell(b, x) < 0)
            return -1;
    } else if (PyDict_Check(x) || PyAnySet_Check(x)) {
        return bad(b, PyExc_TypeError, "a row is a string or a list of strings");
    } else {
        PyObject *fast = PySequence_Fast(x, "a row is a string or a list of strings");
        int st = fast ? 0 : placed(b);
        for (Py_ssize_t i = 0; st == 0 && i < PySequence_Fast_GET_SIZE(fast); i++)
            st = cell(b, PySequence_Fast_GET_ITEM(fast, i));
        Py_XDECREF(fast);
        if (st < 0)
            return -1;
    }
    if (b->n_ids == from)
        return bad(b, PyExc_ValueError, "the row has no cells");
    if (!b->n_columns)
        b->n_columns = b->n_ids - from;
    if (b->n_ids - from == b->n_columns)
        return 0;
    PyErr_Format(PyExc_ValueError,
                 "sequence %llu, token %zu: %zu columns where %zu were found before",
                 (unsigned long long)(b->before + b->n + 1), b->n_tokens - b->first[b->n] + 1,
                 b->n_ids - from, b->n_columns);
    return -1;
}

static int label(pt_batch *b, PyObject *y)
{
    trl_str s;
    if (pt_text(y, "a label", &s) < 0)
        return placed(b);
    const int64_t name = pt_names_add(b->labels, s);
    if (name < 0 || pt_reserve(&b->label, &b->labels_cap, b->n_tokens + 1, sizeof *b->label) < 0)
        return -1;
    b->label[b->n_tokens] = (uint32_t)name;
    return 0;
}

static int token(pt_batch *b, PyObject *x, PyObject *y)
{
    if (pt_reserve(&b->begin, &b->begin_cap, b->n_tokens + 2, sizeof *b->begin) < 0)
        return -1;
    b->begin[b->n_tokens] = b->n_ids;
    Py_INCREF(x); /* the list may lose it when a value runs code of its own */
    Py_XINCREF(y);
    const int st = (y && label(b, y) < 0) || (b->rows ? row(b, x) : item(b, x)) < 0 ? -1 : 0;
    Py_DECREF(x);
    Py_XDECREF(y);
    if (st == 0)
        b->begin[++b->n_tokens] = b->n_ids;
    return st;
}

static PyObject *as_sequence(const pt_batch *b, PyObject *x, const char *what)
{
    PyObject *fast = is_text(x) || PyDict_Check(x) ? NULL : PySequence_Fast(x, "");
    if (fast || (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)))
        return fast;
    PyErr_Clear();
    return PyErr_Format(PyExc_TypeError, "sequence %llu: %s, not %.100s",
                        (unsigned long long)(b->before + b->n + 1), what, Py_TYPE(x)->tp_name);
}

int pt_batch_add(pt_batch *b, PyObject *x, PyObject *y)
{
    if (pt_reserve(&b->first, &b->first_cap, b->n + 2, sizeof *b->first) < 0 ||
        pt_reserve(&b->begin, &b->begin_cap, b->n_tokens + 2, sizeof *b->begin) < 0)
        return -1;
    const size_t n_ids = b->n_ids, n_tokens = b->n_tokens;
    b->first[b->n] = b->n_tokens;
    b->begin[b->n_tokens] = b->n_ids;
    PyObject *xs = as_sequence(b, x, "X is a list of tokens");
    PyObject *ys = y && xs ? as_sequence(b, y, "y is a list of labels") : NULL;
    int st = xs && (ys || !y) ? 0 : -1;
    if (st == 0 && ys && PySequence_Fast_GET_SIZE(xs) != PySequence_Fast_GET_SIZE(ys)) {
        PyErr_Format(PyExc_ValueError, "sequence %llu: X has %zd tokens and y has %zd labels",
                     (unsigned long long)(b->before + b->n + 1), PySequence_Fast_GET_SIZE(xs),
                     PySequence_Fast_GET_SIZE(ys));
        st = -1;
    }
    /* Sizes are asked for each time: what a value does when it is made a number is its own affair.
     */
    for (Py_ssize_t i = 0;
         st == 0 && i < PySequence_Fast_GET_SIZE(xs) && (!ys || i < PySequence_Fast_GET_SIZE(ys));
         i++)
        st = token(b, PySequence_Fast_GET_ITEM(xs, i), ys ? PySequence_Fast_GET_ITEM(ys, i) : NULL);
    Py_XDECREF(xs);
    Py_XDECREF(ys);
    if (st < 0) { /* and what it had with the value 0 does not count */
        for (size_t k = 0; k < PT_KEYS; k++)
            b->names->key[k].zeros = 0;
        b->n_ids = n_ids;
        b->n_tokens = n_tokens;
        return -1;
    }
    b->first[++b->n] = b->n_tokens;
    return 0;
}

void pt_batch_number(pt_batch *b)
{
    size_t n = 0, k = 0;
    for (size_t t = 0; t < b->n_tokens; t++) {
        b->begin[t] = n;
        for (const size_t end = b->begin[t + 1]; k < end; k++) {
            const uint32_t number = b->names->name[b->id[k]].number;
            b->id[n] = number;
            b->value[n] = b->value[k];
            n += number != UINT32_MAX;
        }
    }
    b->begin[b->n_tokens] = b->n_ids = n;
}

/* ---- views ----------------------------------------------------------------------------------- */

void pt_views_fini(pt_views *v)
{
    PyMem_RawFree(v->items);
    PyMem_RawFree(v->rows);
    PyMem_RawFree(v->attr);
    PyMem_RawFree(v->text);
    PyMem_RawFree(v->begin);
    memset(v, 0, sizeof *v);
}

static void item_views(pt_views *v, const pt_batch *b, size_t from, size_t to)
{
    const size_t t0 = b->first[from], n = b->first[to] - t0, at = b->begin[t0];
    for (size_t k = at; k < b->begin[t0 + n]; k++)
        v->attr[k - at] = (trl_attr){b->names->name[b->id[k]].s, b->value[k]};
    for (size_t t = 0; b->labelled && t < n; t++)
        v->text[t] = b->labels->name[b->label[t0 + t]].s;
    for (size_t t = 0; t <= n; t++)
        v->begin[t] = b->begin[t0 + t] - at;
    for (size_t k = from; k < to; k++) {
        const size_t t = b->first[k] - t0;
        v->items[k - from] = (trl_items){.n_tokens = b->first[k + 1] - b->first[k],
                                         .label = b->labelled ? v->text + t : NULL,
                                         .begin = v->begin + t,
                                         .attr = v->attr,
                                         .weight = 1.0};
    }
}

static void row_views(pt_views *v, const pt_batch *b, size_t from, size_t to)
{
    const size_t c = b->n_columns, width = c + b->labelled, t0 = b->first[from];
    for (size_t t = t0; t < b->first[to]; t++) {
        trl_str *cell = v->text + (t - t0) * width;
        for (size_t k = 0; k < c; k++)
            cell[k] = b->names->name[b->id[t * c + k]].s;
        if (b->labelled)
            cell[c] = b->labels->name[b->label[t]].s;
    }
    for (size_t k = from; k < to; k++)
        v->rows[k - from] = (trl_rows){.n_tokens = b->first[k + 1] - b->first[k],
                                       .n_columns = width,
                                       .cell = v->text + (b->first[k] - t0) * width};
}

int pt_views_range(pt_views *v, const pt_batch *b, size_t from, size_t to)
{
    const size_t tokens = b->n ? b->first[to] - b->first[from] : 0;
    const size_t ids = b->n ? b->begin[b->first[to]] - b->begin[b->first[from]] : 0;
    memset(v, 0, sizeof *v);
    v->text = PyMem_RawCalloc(tokens * (b->rows ? b->n_columns + 1 : 1) + 1, sizeof *v->text);
    if (b->rows) {
        v->rows = PyMem_RawCalloc(to - from + 1, sizeof *v->rows);
    } else {
        v->items = PyMem_RawCalloc(to - from + 1, sizeof *v->items);
        v->attr = PyMem_RawMalloc((ids + 1) * sizeof *v->attr);
        v->begin = PyMem_RawMalloc((tokens + 1) * sizeof *v->begin);
    }
    if (!v->text || !(b->rows ? v->rows != NULL : v->items && v->attr && v->begin)) {
        pt_views_fini(v);
        PyErr_NoMemory();
        return -1;
    }
    if (b->n && b->rows)
        row_views(v, b, from, to);
    else if (b->n)
        item_views(v, b, from, to);
    return 0;
}

int pt_views_make(pt_views *v, const pt_batch *b)
{
    return pt_views_range(v, b, 0, b->n);
}
