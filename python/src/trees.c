/* trees.c -- treebanks: trees go in and out as lines of Penn brackets. */
/* SPDX-License-Identifier: MIT */
#include "core.h"

#include "trellis/trees.h"

/* Calls `each` for every tree of the text, or of the file when `path` is not NULL.  Without the
 * GIL. */
typedef trl_status (*each_fn)(void *ctx, const trl_tree *tree, trl_error *err);

typedef struct source {
    const char *path;
    trl_str text;
    trl_transform how;
} source;

static trl_status walk(const source *s, each_fn each, void *ctx, trl_error *err)
{
    trl_treebank *bank = NULL;
    trl_tree tree;
    bool more = true;
    trl_status st = s->path ? trl_treebank_open(s->path, &s->how, false, &bank, err)
                            : trl_treebank_memory(&(trl_text){"<memory>", s->text.p, s->text.n},
                                                  &s->how, false, &bank, err);
    while (st == TRL_OK && more) {
        st = trl_treebank_next(bank, &tree, &more, err);
        if (st == TRL_OK && more)
            st = each(ctx, &tree, err);
    }
    trl_treebank_free(bank);
    return st;
}

/* ---- printing -------------------------------------------------------------------------------- */

typedef struct printing {
    trl_buf out;
    trl_tree_format format;
    size_t width;
    trl_draw_options draw;
    bool drawn;
} printing;

static trl_status print_one(void *ctx, const trl_tree *tree, trl_error *err)
{
    printing *p = ctx;
    return p->drawn ? trl_tree_draw(tree, &p->draw, &p->out, err)
                    : trl_tree_print(tree, p->format, p->width, &p->out, err);
}

static PyObject *run_print(const source *s, printing *p)
{
    trl_error err = {0};
    trl_status st;
    Py_BEGIN_ALLOW_THREADS st = walk(s, print_one, p, &err);
    Py_END_ALLOW_THREADS PyObject *out =
        st == TRL_OK ? pt_string((trl_str){p->out.data ? p->out.data : "", p->out.len})
                     : pt_raise(&err);
    trl_buf_fini(&p->out);
    return out;
}

static int transform_of(PyObject *dict, trl_transform *how)
{
    static const char *const names[] = {"drop_empty", "drop_functions", "drop_duplicates",
                                        "unescape"};
    bool *const member[] = {&how->drop_empty, &how->drop_functions, &how->drop_duplicates,
                            &how->unescape};
    *how = (trl_transform){0};
    if (dict == Py_None)
        return 0;
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "the changes are a dictionary");
        return -1;
    }
    for (size_t k = 0; k < 4; k++) {
        PyObject *v = PyDict_GetItemString(dict, names[k]);
        const int on = v ? PyObject_IsTrue(v) : 0;
        if (on < 0)
            return -1;
        *member[k] = on > 0;
    }
    PyObject *root = PyDict_GetItemString(dict, "root");
    if (root && root != Py_None && !(how->root = PyUnicode_AsUTF8(root)))
        return -1;
    return 0;
}

/* read_trees(text or None, path or None, changes): all trees, a line each. */
static PyObject *read_trees(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *text, *path, *changes = Py_None, *file = NULL, *out = NULL;
    source s = {0};
    printing p = {.format = TRL_TREE_LINE};
    if (!PyArg_ParseTuple(args, "OO|O", &text, &path, &changes) ||
        transform_of(changes, &s.how) < 0)
        return NULL;
    if (path != Py_None) {
        if (!PyUnicode_FSConverter(path, &file))
            return NULL;
        s.path = PyBytes_AS_STRING(file);
    } else if (pt_text(text, "text of trees", &s.text) < 0) {
        return NULL;
    }
    out = run_print(&s, &p);
    Py_XDECREF(file);
    return out;
}

/* print_trees(text, format, width) */
static PyObject *print_trees(PyObject *module, PyObject *args)
{
    (void)module;
    static const char *const names[] = {"line",   "pretty", "columns", "words",
                                        "tagged", "json",   "source"};
    PyObject *text;
    const char *format;
    Py_ssize_t width = 0;
    source s = {0};
    printing p = {0};
    size_t k = 0;
    if (!PyArg_ParseTuple(args, "Os|n", &text, &format, &width) ||
        pt_text(text, "text of trees", &s.text) < 0)
        return NULL;
    while (k < 6 && strcmp(names[k], format) != 0)
        k++;
    if (k == 6)
        return PyErr_Format(PyExc_ValueError, "there is no form '%.100s' of trees", format);
    p.format = (trl_tree_format)k;
    p.width = width > 0 ? (size_t)width : 0;
    return run_print(&s, &p);
}

/* draw_trees(text, style, width, ascii) */
static PyObject *draw_trees(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *text;
    int style = 0, ascii = 0;
    Py_ssize_t width = 0;
    source s = {0};
    printing p = {.drawn = true};
    if (!PyArg_ParseTuple(args, "O|inp", &text, &style, &width, &ascii) ||
        pt_text(text, "text of trees", &s.text) < 0)
        return NULL;
    if (style < TRL_DRAW_AUTO || style > TRL_DRAW_FLAT)
        return PyErr_Format(PyExc_ValueError, "the style is 0, 1 or 2");
    p.draw = trl_draw_options_default();
    p.draw.style = (trl_draw_style)style;
    p.draw.width = width > 0 ? (size_t)width : 0;
    p.draw.ascii = ascii;
    return run_print(&s, &p);
}

/* ---- pictures, counts, search ---------------------------------------------------------------- */

static trl_status svg_one(void *ctx, const trl_tree *tree, trl_error *err)
{
    return trl_tree_svg_add(ctx, tree, err);
}

/* svg_trees(text, part=False) */
static PyObject *svg_trees(PyObject *module, PyObject *args)
{
    (void)module;
    source s = {0};
    trl_error err = {0};
    trl_tree_svg *svg = NULL;
    trl_buf buf = {0};
    trl_status st;
    PyObject *text;
    int part = 0;
    if (!PyArg_ParseTuple(args, "O|p", &text, &part) || pt_text(text, "text of trees", &s.text) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS st =
        part ? trl_tree_svg_new_part(&svg, &err) : trl_tree_svg_new(&svg, &err);
    if (st == TRL_OK)
        st = walk(&s, svg_one, svg, &err);
    if (st == TRL_OK)
        st = trl_tree_svg_finish(svg, &buf, &err);
    Py_END_ALLOW_THREADS PyObject *out =
        st == TRL_OK ? pt_string((trl_str){buf.data ? buf.data : "", buf.len}) : pt_raise(&err);
    trl_tree_svg_free(svg);
    trl_buf_fini(&buf);
    return out;
}

static trl_status count_one(void *ctx, const trl_tree *tree, trl_error *err)
{
    return trl_tree_counts_add(ctx, tree, err);
}

static PyObject *count_trees(PyObject *module, PyObject *text)
{
    (void)module;
    source s = {0};
    trl_error err = {0};
    trl_tree_counts *counts = NULL;
    trl_buf buf = {0};
    trl_status st;
    if (pt_text(text, "text of trees", &s.text) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS st = trl_tree_counts_new(&counts, &err);
    if (st == TRL_OK)
        st = walk(&s, count_one, counts, &err);
    if (st == TRL_OK)
        st = trl_tree_counts_json(counts, &buf, &err);
    Py_END_ALLOW_THREADS PyObject *out =
        st == TRL_OK ? pt_string((trl_str){buf.data ? buf.data : "", buf.len}) : pt_raise(&err);
    trl_tree_counts_free(counts);
    trl_buf_fini(&buf);
    return out;
}

typedef struct search {
    trl_tree_pattern *pattern;
    PyObject *list;
} search;

static trl_status search_one(void *ctx, const trl_tree *tree, trl_error *err)
{
    search *f = ctx;
    size_t n = 0;
    uint32_t first = TRL_NO_NODE;
    const trl_status st = trl_tree_pattern_match(f->pattern, tree, &n, &first, err);
    if (st != TRL_OK)
        return st;
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *count = PyLong_FromSize_t(n);
    const int good = count ? PyList_Append(f->list, count) : -1;
    Py_XDECREF(count);
    PyGILState_Release(gil);
    return good < 0 ? TRL_ENOMEM : TRL_OK;
}

/* search_trees(text, pattern): how many nodes of each tree fit. */
static PyObject *search_trees(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *text;
    const char *pattern;
    source s = {0};
    trl_error err = {0};
    search f = {0};
    trl_status st;
    if (!PyArg_ParseTuple(args, "Os", &text, &pattern) ||
        pt_text(text, "text of trees", &s.text) < 0 || !(f.list = PyList_New(0)))
        return NULL;
    Py_BEGIN_ALLOW_THREADS st = trl_tree_pattern_parse(pattern, &f.pattern, &err);
    if (st == TRL_OK)
        st = walk(&s, search_one, &f, &err);
    Py_END_ALLOW_THREADS trl_tree_pattern_free(f.pattern);
    if (st == TRL_OK)
        return f.list;
    Py_DECREF(f.list);
    return PyErr_Occurred() ? NULL : pt_raise(&err);
}

PyMethodDef pt_tree_methods[] = {
    {"read_trees", read_trees, METH_VARARGS, "read_trees(text, path, changes=None) -> str"},
    {"print_trees", print_trees, METH_VARARGS, "print_trees(text, format, width=0) -> str"},
    {"draw_trees", draw_trees, METH_VARARGS, "draw_trees(text, style=0, width=0, ascii=False)"},
    {"svg_trees", svg_trees, METH_VARARGS, "svg_trees(text, part=False) -> str"},
    {"count_trees", count_trees, METH_O, "count_trees(text) -> JSON"},
    {"search_trees", search_trees, METH_VARARGS, "search_trees(text, pattern) -> list of int"},
    {NULL, NULL, 0, NULL},
};
