/* parser.c -- parse models: many sentences in one call, over threads. */
/* SPDX-License-Identifier: MIT */
#include "core.h"

#include "trellis/parser.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct pt_parser {
    PyObject_HEAD trl_parse_model *model;
    PyObject *bytes; /* that the model uses, or NULL */
} pt_parser;

enum { MOST_THREADS = 64 };

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
    atomic_size_t next;
    atomic_bool stop;
    struct parse_worker {
        struct work *work;
        pthread_t thread;
        bool started;
        trl_status st;
        size_t failed;
        trl_error err;
    } worker[MOST_THREADS];
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

static int take_options(PyObject *d, trl_parse_options *o)
{
    int decode = (int)o->decode, probability = 0, spans = 0;
    Py_ssize_t nbest = 0, bytes = (Py_ssize_t)o->max_bytes;
    static char *words[] = {"decode",   "nbest",       "probability", "spans",     "penalty", "mix",
                            "max_work", "max_seconds", "prune",       "max_bytes", NULL};
    PyObject *none = PyTuple_New(0);
    const int good =
        none && PyArg_ParseTupleAndKeywords(none, d, "|inppdddddn", words, &decode, &nbest,
                                            &probability, &spans, &o->lambda, &o->mix, &o->max_work,
                                            &o->max_seconds, &o->prune, &bytes);
    Py_XDECREF(none);
    if (!good)
        return -1;
    if (decode < 0 || decode > TRL_PARSE_VITERBI || nbest < 0 || bytes < 0) {
        PyErr_SetString(PyExc_ValueError, "an option of parsing is out of its range");
        return -1;
    }
    o->decode = (trl_parse_decode)decode;
    o->nbest = (size_t)nbest;
    o->probability = probability;
    o->spans = spans;
    o->max_bytes = (size_t)bytes;
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

static void *parse_some(void *ctx)
{
    struct parse_worker *w = ctx;
    work *j = w->work;
    trl_parser *parser = NULL;
    trl_parse found;
    w->st = trl_parser_new(j->model, &j->options, &parser, &w->err);
    while (w->st == TRL_OK && !atomic_load(&j->stop)) {
        const size_t k = atomic_fetch_add(&j->next, 1);
        if (k >= j->n)
            break;
        sentence *s = &j->sentence[k];
        if (!s->n)
            continue;
        w->failed = k + 1;
        w->st = trl_parser_parse(parser, &(trl_parse_input){s->word, s->n, s->known, s->n_known},
                                 &found, &w->err);
        if (w->st == TRL_OK)
            w->st = keep(s, &found, &w->err);
    }
    if (w->st != TRL_OK)
        atomic_store(&j->stop, true);
    trl_parser_free(parser);
    return NULL;
}

static size_t threads_for(Py_ssize_t asked, size_t jobs)
{
    const long n = asked > 0 ? (long)asked : sysconf(_SC_NPROCESSORS_ONLN);
    const size_t most = jobs < MOST_THREADS ? jobs : MOST_THREADS;
    return n < 1 ? 1 : (size_t)n > most ? (most ? most : 1) : (size_t)n;
}

static trl_status parse_all(work *j, Py_ssize_t asked, trl_error *err)
{
    const size_t threads = threads_for(asked, j->n);
    for (size_t k = 0; k < threads; k++) {
        j->worker[k].work = j;
        if (k > 0)
            j->worker[k].started =
                pthread_create(&j->worker[k].thread, NULL, parse_some, &j->worker[k]) == 0;
    }
    parse_some(&j->worker[0]);
    const struct parse_worker *bad = j->worker[0].st == TRL_OK ? NULL : &j->worker[0];
    for (size_t k = 1; k < threads; k++) {
        if (j->worker[k].started)
            pthread_join(j->worker[k].thread, NULL);
        if (j->worker[k].st != TRL_OK && (!bad || j->worker[k].failed < bad->failed))
            bad = &j->worker[k];
    }
    if (!bad)
        return TRL_OK;
    *err = bad->err;
    if (j->n > 1 && bad->failed)
        snprintf(err->msg, sizeof err->msg, "sentence %zu: %.280s", bad->failed, bad->err.msg);
    return bad->st;
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
    work *j = PyMem_RawCalloc(1, sizeof *j);
    if (!j)
        return PyErr_NoMemory();
    j->model = self->model;
    j->options = trl_parse_options_default();
    if (take_options(options, &j->options) == 0 && take_all(j, sentences, known) == 0) {
        Py_BEGIN_ALLOW_THREADS st = parse_all(j, threads, &err);
        Py_END_ALLOW_THREADS out = st == TRL_OK ? PyList_New(0) : pt_raise(&err);
        for (size_t k = 0; out && k < j->n; k++) {
            PyObject *row = found_tuple(&j->sentence[k]);
            if (!row || PyList_Append(out, row) < 0)
                Py_CLEAR(out);
            Py_XDECREF(row);
        }
    }
    for (size_t k = 0; j->sentence && k < j->n; k++)
        sentence_fini(&j->sentence[k]);
    PyMem_RawFree(j->sentence);
    PyMem_RawFree(j);
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
