/* core.c -- the module: errors, text, the list of what is in it. */
/* SPDX-License-Identifier: MIT */
#include "core.h"

#include "trellis/template.h"
#include "trellis/version.h"

static PyObject *error_class[TRL_ECONFLICT + 1]; /* owned for the life of the process */

/* Name, its base beside Error. */
static const struct {
    const char *name, *doc;
    trl_status code;
} error_names[] = {
    {"ArgumentError", "An argument or an option is out of its range.", TRL_EINVAL},
    {"FormatError", "Text is not in the stated format.", TRL_EPARSE},
    {"FileError", "The system could not open, read or write.", TRL_EIO},
    {"ModelError", "A model or checkpoint is damaged, foreign or of another version.", TRL_EMODEL},
    {"NumericError", "A value is not finite where it must be.", TRL_ENUMERIC},
    {"Cancelled", "Stopped before there was anything to keep.", TRL_ECANCEL},
    {"ConflictError", "No labelling obeys the rules and what is known.", TRL_ECONFLICT},
};

static PyObject *base_of(trl_status code)
{
    switch (code) {
    case TRL_EINVAL:
    case TRL_EPARSE:
    case TRL_EMODEL:
    case TRL_ECONFLICT:
        return PyExc_ValueError;
    case TRL_EIO:
        return PyExc_OSError;
    case TRL_ENUMERIC:
        return PyExc_ArithmeticError;
    default:
        return PyExc_RuntimeError;
    }
}

static int set_attribute(PyObject *e, const char *name, PyObject *value)
{
    const int st = value ? PyObject_SetAttrString(e, name, value) : -1;
    Py_XDECREF(value);
    return st;
}

PyObject *pt_raise(const trl_error *err)
{
    if (err->code == TRL_ENOMEM)
        return PyErr_NoMemory();
    if (PyErr_Occurred())
        return NULL;
    PyObject *class = err->code <= TRL_ECONFLICT ? error_class[err->code] : NULL;
    char text[sizeof err->msg + sizeof err->path + sizeof err->hint + 64];
    trl_error_text(err, text, sizeof text);
    const size_t n = strlen(text);
    if (err->hint[0])
        snprintf(text + n, sizeof text - n, " (%s)", err->hint);
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *e =
        message ? PyObject_CallFunctionObjArgs(class ? class : PyExc_RuntimeError, message, NULL)
                : NULL;
    Py_XDECREF(message);
    if (e &&
        set_attribute(e, "hint",
                      PyUnicode_DecodeUTF8(err->hint, (Py_ssize_t)strlen(err->hint), "replace")) ==
            0 &&
        set_attribute(e, "path", PyUnicode_DecodeFSDefault(err->path)) == 0 &&
        set_attribute(e, "row", PyLong_FromUnsignedLongLong(err->row)) == 0 &&
        set_attribute(e, "column", PyLong_FromUnsignedLongLong(err->col)) == 0)
        PyErr_SetObject((PyObject *)Py_TYPE(e), e);
    Py_XDECREF(e);
    return NULL;
}

int pt_text(PyObject *o, const char *what, trl_str *out)
{
    Py_ssize_t n;
    if (PyUnicode_Check(o)) {
        const char *p = PyUnicode_AsUTF8AndSize(o, &n);
        *out = (trl_str){p, p ? (size_t)n : 0};
        return p ? 0 : -1;
    }
    if (PyBytes_Check(o)) {
        *out = (trl_str){PyBytes_AS_STRING(o), (size_t)PyBytes_GET_SIZE(o)};
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "%s is a string, not %.100s", what, Py_TYPE(o)->tp_name);
    return -1;
}

PyObject *pt_string(trl_str s)
{
    return PyUnicode_DecodeUTF8(s.p, (Py_ssize_t)s.n, "surrogateescape");
}

/* ---- tables of methods ----------------------------------------------------------------------- */

static PyObject *methods(bool (*info)(size_t, trl_method *))
{
    trl_method m;
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && info(k, &m); k++) {
        PyObject *row = Py_BuildValue("{s:s,s:z,s:s,s:s,s:I}", "name", m.name, "alias", m.alias,
                                      "what", m.what, "when", m.when, "kinds", m.kinds);
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *objectives(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return methods(trl_objective_info);
}

static PyObject *optimizers(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return methods(trl_optimizer_info);
}

/* What an item becomes: [{name: value}, ...]. */
static PyObject *normalize(PyObject *module, PyObject *x)
{
    (void)module;
    pt_names names = {0};
    pt_batch b = {.names = &names, .keep_zeros = true};
    PyObject *list = pt_batch_add(&b, x, NULL) < 0 ? NULL : PyList_New(0);
    for (size_t t = 0; list && t < b.n_tokens; t++) {
        PyObject *d = PyDict_New();
        int st = d ? PyList_Append(list, d) : -1;
        for (size_t k = b.begin[t]; st == 0 && k < b.begin[t + 1]; k++) {
            PyObject *name = pt_string(names.name[b.id[k]].s);
            PyObject *value = PyFloat_FromDouble(b.value[k]);
            st = name && value ? PyDict_SetItem(d, name, value) : -1;
            Py_XDECREF(name);
            Py_XDECREF(value);
        }
        Py_XDECREF(d);
        if (st < 0)
            Py_CLEAR(list);
    }
    pt_batch_fini(&b);
    pt_names_fini(&names);
    return list;
}

/* The text of a template that is built in; None: there is none of that name. */
static PyObject *template_text(PyObject *self, PyObject *arg)
{
    (void)self;
    const char *name = PyUnicode_AsUTF8(arg);
    if (!name)
        return NULL;
    const char *text = trl_shipped_template_find(name);
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_FromString(text);
}

/* ---- the module ------------------------------------------------------------------------------ */

/* The bytes of a model of another tool as those of one of ours. */
static PyObject *import_model(PyObject *module, PyObject *args)
{
    const char *name, *bytes;
    Py_ssize_t n;
    trl_buf out = {0};
    trl_error err = {0};
    trl_status st;
    (void)module;
    if (!PyArg_ParseTuple(args, "sy#", &name, &bytes, &n))
        return NULL;
    Py_BEGIN_ALLOW_THREADS st = trl_model_import_buf(name, bytes, (size_t)n, &out, &err);
    Py_END_ALLOW_THREADS if (st != TRL_OK) return pt_raise(&err);
    PyObject *made = PyBytes_FromStringAndSize(out.data, (Py_ssize_t)out.len);
    trl_buf_fini(&out);
    return made;
}

static PyMethodDef module_methods[] = {
    {"import_model", import_model, METH_VARARGS,
     "import_model(name, bytes) -> bytes: a model of CRFsuite, CRF++ or Wapiti as a model file."},
    {"train", (PyCFunction)(void (*)(void))pt_train, METH_VARARGS | METH_KEYWORDS,
     "train(options, data=None, dev=None, progress=None, consume=False) -> (Model or None, "
     "dict)\n\n"
     "consume: the data sets are freed as soon as they have been read.\n"
     "options: as trl_train_options names them."},
    {"train_options", pt_train_table, METH_NOARGS,
     "The options of training, as a list of dictionaries."},
    {"parse_options", pt_parse_table, METH_NOARGS,
     "The options of parsing, as a list of dictionaries."},
    {"objectives", objectives, METH_NOARGS, "What can be optimised, as a list of dictionaries."},
    {"optimizers", optimizers, METH_NOARGS, "The optimisers, as a list of dictionaries."},
    {"template", template_text, METH_O, "The text of a built-in template, or None."},
    {"normalize", normalize, METH_O, "The attributes of a sequence: [{name: value}, ...]."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module_def = {PyModuleDef_HEAD_INIT, .m_name = "trellis._core",
                                        .m_doc =
                                            "The C library of Trellis; use the package trellis.",
                                        .m_size = -1, .m_methods = module_methods};

static int add_errors(PyObject *m)
{
    PyObject *error = PyErr_NewExceptionWithDoc(
        "trellis.Error",
        "Base of all errors of the library.\n\nhint: what to do; path, row, "
        "column: where.",
        NULL, NULL);
    if (!error || PyModule_AddObject(m, "Error", error) < 0)
        return -1;
    for (size_t k = 0; k < sizeof error_names / sizeof *error_names; k++) {
        char name[64];
        snprintf(name, sizeof name, "trellis.%s", error_names[k].name);
        PyObject *bases = PyTuple_Pack(2, error, base_of(error_names[k].code));
        PyObject *class =
            bases ? PyErr_NewExceptionWithDoc(name, error_names[k].doc, bases, NULL) : NULL;
        Py_XDECREF(bases);
        if (!class)
            return -1;
        Py_INCREF(class);
        error_class[error_names[k].code] = class;
        if (PyModule_AddObject(m, error_names[k].name, class) < 0)
            return -1;
    }
    return 0;
}

static int add_type(PyObject *m, const char *name, PyTypeObject *type)
{
    if (PyType_Ready(type) < 0)
        return -1;
    Py_INCREF(type);
    return PyModule_AddObject(m, name, (PyObject *)type);
}

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *m = PyModule_Create(&module_def);
    if (!m)
        return NULL;
    if (add_errors(m) < 0 || add_type(m, "Dataset", &pt_dataset_type) < 0 ||
        add_type(m, "Store", &pt_store_type) < 0 || add_type(m, "Model", &pt_model_type) < 0 ||
        add_type(m, "Tagger", &pt_tagger_type) < 0 ||
        add_type(m, "ParseModel", &pt_parser_type) < 0 ||
        PyModule_AddFunctions(m, pt_score_methods) < 0 ||
        PyModule_AddFunctions(m, pt_tree_methods) < 0 ||
        PyModule_AddStringConstant(m, "version", trl_version()) < 0) {
        Py_DECREF(m);
        return NULL;
    }
    return m;
}
