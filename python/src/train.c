/* train.c -- a training run: options by name, progress, Ctrl-C. */
/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef enum kind { TEXT, PATHS, REAL, WHOLE, SIZE, INT, FLAG } kind;

#define FIELD(type, name)                                                                          \
    {                                                                                              \
#name, type, offsetof(trl_train_options, name)                                             \
    }

static const struct option {
    const char *name;
    kind type;
    size_t at;
} options[] = {
    FIELD(TEXT, kind),
    FIELD(PATHS, train),
    FIELD(WHOLE, hold_out),
    FIELD(TEXT, dev),
    FIELD(TEXT, template_name),
    FIELD(TEXT, template_text),
    FIELD(TEXT, objective),
    FIELD(TEXT, nota),
    FIELD(TEXT, q0),
    FIELD(WHOLE, q0_samples),
    FIELD(FLAG, q0_mask),
    FIELD(TEXT, q0_cache),
    FIELD(FLAG, calibrate),
    FIELD(TEXT, decode),
    FIELD(TEXT, optimizer),
    FIELD(TEXT, precision),
    FIELD(INT, order),
    FIELD(REAL, c1),
    FIELD(REAL, c2),
    FIELD(FLAG, all_pairs),
    FIELD(FLAG, all_transitions),
    FIELD(SIZE, min_count),
    FIELD(REAL, min_freq),
    FIELD(WHOLE, max_iter),
    FIELD(REAL, epsilon),
    FIELD(WHOLE, period),
    FIELD(REAL, delta),
    FIELD(WHOLE, memory),
    FIELD(REAL, eta),
    FIELD(WHOLE, batch),
    FIELD(WHOLE, patience),
    FIELD(WHOLE, seed),
    FIELD(SIZE, threads),
    FIELD(TEXT, model),
    FIELD(TEXT, init),
    FIELD(TEXT, checkpoint),
    FIELD(WHOLE, checkpoint_every),
    FIELD(FLAG, resume),
    FIELD(TEXT, grade),
    FIELD(TEXT, annotate),
    FIELD(INT, markov),
    FIELD(FLAG, keep_going),
    FIELD(FLAG, relaxed),
    FIELD(FLAG, strict),
    FIELD(WHOLE, max_length),
    FIELD(TEXT, clusters),
    FIELD(TEXT, head_rules),
    FIELD(REAL, prune),
    FIELD(TEXT, pruner),
    FIELD(WHOLE, chart_memory),
};

enum { N_OPTIONS = sizeof options / sizeof *options };

/* What a run needs besides: the callback, and what it did. */
typedef struct run {
    PyObject *progress;             /* or NULL */
    PyObject *type, *value, *trace; /* what the callback, or a signal handler, raised */
    pthread_t thread;               /* the one that called */
    atomic_bool stop, interrupted;
    atomic_uint asked;
    const char **paths;
} run;

static void keep_exception(run *r)
{
    if (!r->type)
        PyErr_Fetch(&r->type, &r->value, &r->trace);
    else
        PyErr_Clear();
    atomic_store(&r->stop, true);
}

static PyObject *number_or_none(double x)
{
    return isnan(x) ? Py_NewRef(Py_None) : PyFloat_FromDouble(x);
}

static PyObject *progress_dict(const trl_progress *p)
{
    return Py_BuildValue(
        "{s:s,s:K,s:K,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:K,s:K,s:K,s:K,s:K,s:O,s:z}", "stage", p->stage,
        "iteration", (unsigned long long)p->iteration, "max_iterations",
        (unsigned long long)p->max_iterations, "objective", number_or_none(p->objective),
        "gradient", number_or_none(p->gradient), "step", number_or_none(p->step), "dev_score",
        number_or_none(p->dev_score), "dev_best", number_or_none(p->dev_best), "seconds",
        number_or_none(p->seconds), "seconds_left", number_or_none(p->seconds_left), "sequences",
        (unsigned long long)p->n_sequences, "tokens", (unsigned long long)p->n_tokens, "labels",
        (unsigned long long)p->n_labels, "attributes", (unsigned long long)p->n_attributes,
        "features", (unsigned long long)p->n_features, "estimated",
        p->estimated ? Py_True : Py_False, "note", p->note);
}

static bool on_progress(void *ctx, const trl_progress *p)
{
    run *r = ctx;
    const PyGILState_STATE gil = PyGILState_Ensure();
    if (PyErr_CheckSignals() < 0) {
        keep_exception(r);
    } else if (r->progress && !r->type) {
        PyObject *d = progress_dict(p);
        PyObject *answer = d ? PyObject_CallFunctionObjArgs(r->progress, d, NULL) : NULL;
        const int stop = answer ? PyObject_IsTrue(answer) : -1;
        Py_XDECREF(d);
        Py_XDECREF(answer);
        if (stop < 0)
            keep_exception(r);
        else if (stop)
            atomic_store(&r->stop, true);
    }
    PyGILState_Release(gil);
    return atomic_load(&r->stop);
}

/* Python runs signal handlers in the main thread alone: that thread looks now and then. */
static bool is_cancelled(void *ctx)
{
    run *r = ctx;
    if (pthread_equal(pthread_self(), r->thread) && atomic_fetch_add(&r->asked, 1) % 16 == 15) {
        const PyGILState_STATE gil = PyGILState_Ensure();
        if (PyErr_CheckSignals() < 0) {
            keep_exception(r);
            atomic_store(&r->interrupted, true);
        }
        PyGILState_Release(gil);
    }
    return atomic_load(&r->interrupted);
}

/* ---- options --------------------------------------------------------------------------------- */

static int set_paths(trl_train_options *o, run *r, PyObject *v)
{
    if (!PyTuple_Check(v)) {
        PyErr_SetString(PyExc_TypeError, "train is a tuple of paths");
        return -1;
    }
    const Py_ssize_t n = PyTuple_GET_SIZE(v);
    PyMem_RawFree(r->paths);
    r->paths = PyMem_RawCalloc((size_t)n + 1, sizeof *r->paths);
    for (Py_ssize_t k = 0; r->paths && k < n; k++)
        if (!(r->paths[k] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(v, k))))
            return -1;
    if (!r->paths) {
        PyErr_NoMemory();
        return -1;
    }
    o->train = (const char *const *)r->paths;
    o->n_train = (size_t)n;
    return 0;
}

static int set_text(trl_train_options *o, const struct option *k, PyObject *v)
{
    Py_ssize_t n;
    const char *text = PyUnicode_Check(v) ? PyUnicode_AsUTF8AndSize(v, &n) : NULL;
    if (!text) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "%s is a string, not %.100s", k->name,
                         Py_TYPE(v)->tp_name);
        return -1;
    }
    if (k->at == offsetof(trl_train_options, template_text))
        o->template_size = (size_t)n;
    else if (strlen(text) != (size_t)n) {
        PyErr_Format(PyExc_ValueError, "%s contains a NUL byte", k->name);
        return -1;
    }
    memcpy((char *)o + k->at, &text, sizeof text);
    return 0;
}

static int set_whole(trl_train_options *o, const struct option *k, PyObject *v)
{
    PyObject *i = PyNumber_Index(v);
    const unsigned long long x = i ? PyLong_AsUnsignedLongLong(i) : 0;
    Py_XDECREF(i);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "%s is a whole number, not %R", k->name, v);
        return -1;
    }
    if (k->type == INT && x > INT32_MAX) {
        PyErr_Format(PyExc_ValueError, "%s is too large: %R", k->name, v);
        return -1;
    }
    char *at = (char *)o + k->at;
    if (k->type == INT)
        *(int *)(void *)at = (int)x;
    else if (k->type == SIZE)
        *(size_t *)(void *)at = (size_t)x;
    else
        *(uint64_t *)(void *)at = (uint64_t)x;
    return 0;
}

static int set_real(trl_train_options *o, const struct option *k, PyObject *v)
{
    const double x = PyFloat_AsDouble(v);
    if (x == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s is a number, not %R", k->name, v);
        return -1;
    }
    *(double *)(void *)((char *)o + k->at) = x;
    return 0;
}

static int set_option(trl_train_options *o, run *r, PyObject *name, PyObject *v)
{
    for (size_t k = 0; k < N_OPTIONS; k++) {
        if (PyUnicode_CompareWithASCIIString(name, options[k].name) != 0)
            continue;
        switch (options[k].type) {
        case TEXT:
            return set_text(o, &options[k], v);
        case PATHS:
            return set_paths(o, r, v);
        case REAL:
            return set_real(o, &options[k], v);
        case WHOLE:
        case SIZE:
        case INT:
            return set_whole(o, &options[k], v);
        case FLAG: {
            const int x = PyObject_IsTrue(v);
            *(bool *)((char *)o + options[k].at) = x > 0;
            return x < 0 ? -1 : 0;
        }
        }
    }
    PyErr_Format(PyExc_ValueError, "there is no option %R", name);
    return -1;
}

static int set_options(trl_train_options *o, run *r, PyObject *dict)
{
    PyObject *k, *v;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &k, &v)) {
        if (!PyUnicode_Check(k)) {
            PyErr_SetString(PyExc_TypeError, "options are named by strings");
            return -1;
        }
        if (v != Py_None && set_option(o, r, k, v) < 0)
            return -1;
    }
    return 0;
}

static PyObject *option_value(const trl_train_options *o, const struct option *k)
{
    const char *at = (const char *)o + k->at;
    switch (k->type) {
    case TEXT: {
        const char *text;
        memcpy(&text, at, sizeof text);
        return Py_BuildValue("z", text);
    }
    case REAL: {
        const double x = *(const double *)(const void *)at;
        return x == TRL_USUAL ? Py_NewRef(Py_None) : PyFloat_FromDouble(x);
    }
    case WHOLE:
        return PyLong_FromUnsignedLongLong(*(const uint64_t *)(const void *)at);
    case SIZE:
        return PyLong_FromSize_t(*(const size_t *)(const void *)at);
    case INT:
        return PyLong_FromLong(*(const int *)(const void *)at);
    case FLAG:
        return PyBool_FromLong(*(const bool *)at);
    default:
        return Py_NewRef(Py_None);
    }
}

PyObject *pt_train_defaults(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    const trl_train_options o = trl_train_options_default();
    PyObject *d = PyDict_New();
    for (size_t k = 0; d && k < N_OPTIONS; k++) {
        PyObject *v = option_value(&o, &options[k]);
        if (!v || PyDict_SetItemString(d, options[k].name, v) < 0)
            Py_CLEAR(d);
        Py_XDECREF(v);
    }
    return d;
}

/* ---- the run --------------------------------------------------------------------------------- */

static PyObject *result_dict(const trl_train_result *r, const run *by)
{
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:N,s:N,s:d,s:O,s:s,s:K,s:z,s:s,s:O}", "iterations",
        (unsigned long long)r->iterations, "features", (unsigned long long)r->n_features, "active",
        (unsigned long long)r->n_active, "objective", number_or_none(r->objective), "dev_score",
        number_or_none(r->dev_score), "seconds", r->seconds, "stopped",
        r->stopped ? Py_True : Py_False, "ending", r->ending, "saved_iteration",
        (unsigned long long)r->saved_iteration, "dev_measure", r->dev_measure, "optimizer",
        r->optimizer ? r->optimizer : "", "exception", by->value ? by->value : Py_None);
}

static int hold(PyObject *o, trl_train_options *opt, bool dev)
{
    if (o == Py_None)
        return 0;
    if (!PyObject_TypeCheck(o, &pt_dataset_type)) {
        PyErr_SetString(PyExc_TypeError, "the data is a Dataset");
        return -1;
    }
    pt_dataset *d = (pt_dataset *)o;
    if (d->busy < 0) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is adding to the data set");
        return -1;
    }
    d->busy++;
    if (dev)
        opt->dev_data = d->data;
    else
        opt->data = d->data;
    return 0;
}

static PyObject *answer(run *r, trl_status st, trl_buf *bytes, const trl_train_result *result,
                        const trl_error *err)
{
    if (st == TRL_OK) {
        if (r->type)
            PyErr_NormalizeException(&r->type, &r->value, &r->trace);
        PyObject *model = bytes->len ? pt_model_of_bytes(bytes) : Py_NewRef(Py_None);
        return model ? Py_BuildValue("(NN)", model, result_dict(result, r)) : NULL;
    }
    if (!r->type)
        return pt_raise(err);
    PyErr_Restore(r->type, r->value, r->trace);
    r->type = r->value = r->trace = NULL;
    return NULL;
}

PyObject *pt_train(PyObject *module, PyObject *args, PyObject *kw)
{
    (void)module;
    static char *words[] = {"options", "data", "dev", "progress", NULL};
    PyObject *dict, *data = Py_None, *dev = Py_None, *progress = Py_None, *out = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O!|OOO", words, &PyDict_Type, &dict, &data, &dev,
                                     &progress))
        return NULL;
    run r = {.progress = progress == Py_None ? NULL : progress, .thread = pthread_self()};
    trl_train_options o = trl_train_options_default();
    trl_train_result result = {0};
    trl_error err = {0};
    trl_buf bytes = {0};
    trl_status st = TRL_OK;
    dict = PyDict_Copy(dict); /* its strings live as long as the run */
    if (dict && set_options(&o, &r, dict) == 0 && hold(data, &o, false) == 0) {
        if (hold(dev, &o, true) == 0) {
            if (!o.model)
                o.model_out = &bytes;
            o.progress = on_progress;
            o.cancelled = is_cancelled;
            o.progress_ctx = o.cancelled_ctx = &r;
            Py_BEGIN_ALLOW_THREADS st = trl_train(&o, &result, &err);
            Py_END_ALLOW_THREADS if (dev != Py_None)((pt_dataset *)dev)->busy--;
            out = answer(&r, st, &bytes, &result, &err);
        }
        if (data != Py_None)
            ((pt_dataset *)data)->busy--;
    }
    trl_buf_fini(&bytes);
    PyMem_RawFree(r.paths);
    Py_XDECREF(dict);
    Py_XDECREF(r.type);
    Py_XDECREF(r.value);
    Py_XDECREF(r.trace);
    return out;
}
