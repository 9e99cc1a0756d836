/* parser.c -- parse models: many sentences in one call, over threads. */
/* SPDX-License-Identifier: MIT */
#include "core.h"

#include "trellis/parser.h"

#include <math.h>
#include <pthread.h>

typedef struct pt_parser {
    PyObject_HEAD trl_parse_model *model;
    PyObject *bytes; /* that the model uses, or NULL */
} pt_parser;

/* A sentence on its way: words and what is known; then what was found. */
typedef struct sentence {
    trl_str *word;
    size_t n;
    trl_known *known;
    size_t n_known;
    trl_buf trees; /* a line each */
    double *log_p; /* [n_trees] */
    size_t n_trees;
    trl_span *span; /* labels have their lengths alone, and lie in */
    char *labels;   /* ... one after the other */
    size_t n_spans;
    bool sure;
    char warning[256];
} sentence;

typedef struct work {
    const trl_parse_model *model;
    trl_parse_options options;
    sentence *sentence;
    size_t n;
    pthread_t thread; /* the one that called */
    bool raised;      /* by a signal handler: that exception is the answer */
} work;

static void parser_dealloc(pt_parser *self)
{
    trl_parse_model_free(self->model);
    Py_XDECREF(self->bytes);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *parser_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *words[] = {"data", "map", NULL};
    PyObject *data, *path = NULL;
    int map = 0;
    trl_error err = {0};
    trl_status st;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O|p", words, &data, &map))
        return NULL;
    if (!PyBytes_Check(data) && !PyUnicode_FSConverter(data, &path))
        return NULL;
    pt_parser *self = (pt_parser *)type->tp_alloc(type, 0);
    if (!self) {
        Py_XDECREF(path);
        return NULL;
    }
    if (!path)
        self->bytes = Py_NewRef(data);
    const char *name = PyBytes_AS_STRING(path ? path : data);
    const size_t n = (size_t)PyBytes_GET_SIZE(path ? path : data);
    Py_BEGIN_ALLOW_THREADS st = !path ? trl_parse_model_from_memory(name, n, &self->model, &err)
                                : map ? trl_parse_model_map(name, &self->model, &err)
                                      : trl_parse_model_open(name, &self->model, &err);
    Py_END_ALLOW_THREADS Py_XDECREF(path);
    if (st == TRL_OK)
        return (PyObject *)self;
    Py_DECREF(self);
    return pt_raise(&err);
}

static PyObject *parser_info(pt_parser *self, PyObject *unused)
{
    (void)unused;
    const trl_parse_info i = trl_parse_model_info(self->model);
    return Py_BuildValue("{s:s,s:s,s:O,s:n,s:n,s:n,s:n,s:n,s:K}", "grade", i.grade, "settings",
                         i.settings, "is_probability", i.is_probability ? Py_True : Py_False,
                         "states", (Py_ssize_t)i.n_states, "binary", (Py_ssize_t)i.n_binary,
                         "unary", (Py_ssize_t)i.n_unary, "words", (Py_ssize_t)i.n_words, "features",
                         (Py_ssize_t)i.n_features, "size", (unsigned long long)i.file_size);
}

static PyObject *parser_has(pt_parser *self, PyObject *label)
{
    trl_str s;
    if (pt_text(label, "a label", &s) < 0)
        return NULL;
    return PyBool_FromLong(trl_parse_model_has(self->model, s));
}

static PyObject *parser_describe(pt_parser *self, PyObject *args)
{
    Py_ssize_t top = 0;
    trl_buf buf = {0};
    trl_error err = {0};
    if (!PyArg_ParseTuple(args, "|n", &top))
        return NULL;
    PyObject *out = NULL;
    if (top < 0)
        PyErr_SetString(PyExc_ValueError, "top is not negative");
    else if (trl_parse_model_describe(self->model, (size_t)top, &buf, &err) == TRL_OK)
        out = pt_string((trl_str){buf.data ? buf.data : "", buf.len});
    else
        pt_raise(&err);
    trl_buf_fini(&buf);
    return out;
}

/* ---- from Python ----------------------------------------------------------------------------- */

static void sentence_fini(sentence *s)
{
    PyMem_RawFree(s->word);
    PyMem_RawFree(s->known);
    PyMem_RawFree(s->log_p);
    PyMem_RawFree(s->span);
    PyMem_RawFree(s->labels);
    trl_buf_fini(&s->trees);
}

/* A tuple of words, whose bytes live as long as the tuple. */
static int take_words(sentence *s, PyObject *words)
{
    s->n = (size_t)PyTuple_GET_SIZE(words);
    s->word = PyMem_RawCalloc(s->n + 1, sizeof *s->word);
    if (!s->word) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t k = 0; k < s->n; k++)
        if (pt_text(PyTuple_GET_ITEM(words, (Py_ssize_t)k), "a word", &s->word[k]) < 0)
            return -1;
    return 0;
}

/* A tuple of (kind, from, to, label). */
static int take_known(sentence *s, PyObject *known)
{
    s->n_known = (size_t)PyTuple_GET_SIZE(known);
    s->known = PyMem_RawCalloc(s->n_known + 1, sizeof *s->known);
    if (!s->known) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t k = 0; k < s->n_known; k++) {
        int kind;
        Py_ssize_t from, to;
        PyObject *label, *row = PyTuple_GET_ITEM(known, (Py_ssize_t)k);
        trl_str text;
        if (!PyTuple_Check(row) || !PyArg_ParseTuple(row, "innO", &kind, &from, &to, &label)) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "what is known is a tuple of four");
            return -1;
        }
        if (kind < 0 || kind > 2 || from < 0 || to < 0) {
            PyErr_SetString(PyExc_ValueError, "what is known is out of its range");
            return -1;
        }
        if (pt_text(label, "a label", &text) < 0)
            return -1;
        s->known[k] = (trl_known){(trl_known_type)kind, (size_t)from, (size_t)to, text};
    }
    return 0;
}

/* Options by name; a string lives in `texts`. */
static int take_options(PyObject *d, trl_parse_options *o, PyObject *texts)
{
    PyObject *k, *v;
    Py_ssize_t at = 0;
    while (PyDict_Next(d, &at, &k, &v)) {
        const char *name = PyUnicode_Check(k) ? PyUnicode_AsUTF8(k) : NULL;
        if (!name && !PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "options are named by strings");
        if (!name || (v != Py_None && pt_option_set(trl_parse_option_table(), o, texts, name, v)))
            return -1;
    }
    return 0;
}

/* ---- parsing, without the GIL ---------------------------------------------------------------- */

static trl_status keep_spans(sentence *s, const trl_parse *p, trl_error *err)
{
    size_t n = 0;
    for (size_t k = 0; k < p->n_spans; k++)
        n += p->spans[k].label.n;
    s->span = PyMem_RawCalloc(p->n_spans + 1, sizeof *s->span);
    char *text = PyMem_RawMalloc(n + 1);
    if (!s->span || !text) {
        PyMem_RawFree(text);
        err->code = TRL_ENOMEM;
        return TRL_ENOMEM;
    }
    s->n_spans = p->n_spans;
    char *at = text;
    for (size_t k = 0; k < p->n_spans; k++) {
        s->span[k] = p->spans[k];
        memcpy(at, p->spans[k].label.p, p->spans[k].label.n);
        s->span[k].label.p = NULL;
        at += p->spans[k].label.n;
    }
    s->labels = text;
    return TRL_OK;
}

static trl_status keep(sentence *s, const trl_parse *p, trl_error *err)
{
    trl_status st = keep_spans(s, p, err);
    s->log_p = PyMem_RawCalloc(p->n_trees + 1, sizeof *s->log_p);
    if (!s->log_p) {
        err->code = TRL_ENOMEM;
        return TRL_ENOMEM;
    }
    for (size_t k = 0; st == TRL_OK && k < p->n_trees; k++) {
        s->log_p[k] = p->trees[k].log_probability;
        st = trl_tree_print(&p->trees[k].tree, TRL_TREE_LINE, 0, &s->trees, err);
    }
    s->n_trees = p->n_trees;
    s->sure = p->sure;
    snprintf(s->warning, sizeof s->warning, "%s", p->warning ? p->warning : "");
    return st;
}

/* Ctrl-C is heard between two sentences of the thread that called. */
static trl_status hear_signals(work *j, trl_error *err)
{
    if (!pthread_equal(pthread_self(), j->thread))
        return TRL_OK;
    const PyGILState_STATE gil = PyGILState_Ensure();
    j->raised = PyErr_CheckSignals() < 0;
    PyGILState_Release(gil);
    if (j->raised)
        err->code = TRL_ECANCEL;
    return j->raised ? TRL_ECANCEL : TRL_OK;
}

static trl_status on_parsed(void *ctx, size_t k, const trl_parse *found, trl_error *err)
{
    work *j = ctx;
    sentence *s = &j->sentence[k];
    if (s->n && !found)
        return err->code;
    const trl_status st = s->n ? keep(s, found, err) : TRL_OK;
    return st == TRL_OK ? hear_signals(j, err) : st;
}

static trl_status parse_all(work *j, size_t threads, trl_error *err)
{
    trl_parsers *p = NULL;
    trl_parse_input *in = PyMem_RawCalloc(j->n + 1, sizeof *in);
    if (!in) {
        err->code = TRL_ENOMEM;
        return TRL_ENOMEM;
    }
    for (size_t k = 0; k < j->n; k++) {
        const sentence *s = &j->sentence[k];
        in[k] =
            (trl_parse_input){.word = s->word, .n = s->n, .known = s->known, .n_known = s->n_known};
    }
    trl_status st = trl_parsers_new(j->model, &j->options, j->n == 1 ? 1 : threads, &p, err);
    if (st == TRL_OK)
        st = trl_parsers_run(p, in, j->n, on_parsed, j, err);
    trl_parsers_free(p);
    PyMem_RawFree(in);
    return st;
}

/* ---- to Python ------------------------------------------------------------------------------- */

static PyObject *span_list(const sentence *s)
{
    PyObject *list = PyList_New(0);
    const char *at = s->labels;
    for (size_t k = 0; list && k < s->n_spans; k++) {
        PyObject *label = pt_string((trl_str){at, s->span[k].label.n});
        PyObject *row = label ? Py_BuildValue("(Nnnd)", label, (Py_ssize_t)s->span[k].from,
                                              (Py_ssize_t)s->span[k].to, s->span[k].probability)
                              : NULL;
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
        at += s->span[k].label.n;
    }
    return list;
}

/* (text of the trees, [log probability], [span], sure, warning or None) */
static PyObject *found_tuple(const sentence *s)
{
    PyObject *p = PyList_New((Py_ssize_t)s->n_trees);
    for (size_t k = 0; p && k < s->n_trees; k++) {
        PyObject *x = PyFloat_FromDouble(s->log_p[k]);
        if (!x)
            Py_CLEAR(p);
        else
            PyList_SET_ITEM(p, (Py_ssize_t)k, x);
    }
    PyObject *text = pt_string((trl_str){s->trees.data ? s->trees.data : "", s->trees.len});
    PyObject *spans = span_list(s);
    if (p && text && spans)
        return Py_BuildValue("(NNNOz)", text, p, spans, s->sure ? Py_True : Py_False,
                             s->warning[0] ? s->warning : NULL);
    Py_XDECREF(p);
    Py_XDECREF(text);
    Py_XDECREF(spans);
    return NULL;
}

static int take_all(work *j, PyObject *sentences, PyObject *known)
{
    j->n = (size_t)PyTuple_GET_SIZE(sentences);
    j->sentence = PyMem_RawCalloc(j->n + 1, sizeof *j->sentence);
    if (!j->sentence) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t k = 0; k < j->n; k++) {
        PyObject *s = PyTuple_GET_ITEM(sentences, (Py_ssize_t)k);
        PyObject *c =
            k < (size_t)PyTuple_GET_SIZE(known) ? PyTuple_GET_ITEM(known, (Py_ssize_t)k) : NULL;
        if (!PyTuple_Check(s) || (c && !PyTuple_Check(c))) {
            PyErr_SetString(PyExc_TypeError, "a sentence is a tuple of words");
            return -1;
        }
        if (take_words(&j->sentence[k], s) < 0 || (c && take_known(&j->sentence[k], c) < 0))
            return -1;
    }
    return 0;
}

static PyObject *parser_parse(pt_parser *self, PyObject *args)
{
    PyObject *sentences, *known, *options, *out = NULL;
    Py_ssize_t threads = 0;
    trl_error err = {0};
    trl_status st = TRL_OK;
    if (!PyArg_ParseTuple(args, "O!O!O!n", &PyTuple_Type, &sentences, &PyTuple_Type, &known,
                          &PyDict_Type, &options, &threads))
        return NULL;
    if (threads < 0) {
        PyErr_SetString(PyExc_ValueError, "threads is not negative");
        return NULL;
    }
    work j = {.model = self->model, .thread = pthread_self()};
    PyObject *texts = PyList_New(0);
    trl_parse_options_init(&j.options, sizeof j.options);
    if (texts && take_options(options, &j.options, texts) == 0 &&
        take_all(&j, sentences, known) == 0) {
        Py_BEGIN_ALLOW_THREADS st = parse_all(&j, (size_t)threads, &err);
        Py_END_ALLOW_THREADS out = st == TRL_OK ? PyList_New(0) : j.raised ? NULL : pt_raise(&err);
        for (size_t k = 0; out && k < j.n; k++) {
            PyObject *row = found_tuple(&j.sentence[k]);
            if (!row || PyList_Append(out, row) < 0)
                Py_CLEAR(out);
            Py_XDECREF(row);
        }
    }
    for (size_t k = 0; j.sentence && k < j.n; k++)
        sentence_fini(&j.sentence[k]);
    PyMem_RawFree(j.sentence);
    Py_XDECREF(texts);
    return out;
}

static PyMethodDef parser_methods[] = {
    {"info", (PyCFunction)parser_info, METH_NOARGS, "What it is and how it was trained."},
    {"has", (PyCFunction)parser_has, METH_O, "Whether trees may have this label or tag."},
    {"describe", (PyCFunction)parser_describe, METH_VARARGS, "describe(top=0) -> str"},
    {"parse", (PyCFunction)parser_parse, METH_VARARGS,
     "parse(sentences, known, options, threads) -> [(trees, log probabilities, spans, sure, "
     "warning), ...]"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject pt_parser_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "trellis._core.ParseModel",
    .tp_basicsize = sizeof(pt_parser),
    .tp_dealloc = (destructor)parser_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "ParseModel(data, map=False): a parser from bytes or a path.",
    .tp_methods = parser_methods,
    .tp_new = parser_new,
};
