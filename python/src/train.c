/* train.c -- a training run: options by name, progress, Ctrl-C. */
/* SPDX-License-Identifier: MIT */
#include "core.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

/* What a run needs besides: the callback, and what it did. */
typedef struct run {
    PyObject *progress;             /* or NULL */
    PyObject *type, *value, *trace; /* what the callback, or a signal handler, raised */
    pthread_t thread;               /* the one that called */
    atomic_bool stop, interrupted;
    atomic_uint asked;
    const char **paths;
    PyObject *texts;     /* strings that the options use */
    pt_dataset *used[2]; /* data, dev data that nobody needs afterwards; or NULL */
    bool chain;          /* what is trained */
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
        "{s:s,s:K,s:K,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:K,s:K,s:K,s:K,s:K,s:O,s:z,s:d,s:K,s:N}",
        "stage", p->stage, "iteration", (unsigned long long)p->iteration, "max_iterations",
        (unsigned long long)p->max_iterations, "objective", number_or_none(p->objective),
        "gradient", number_or_none(p->gradient), "step", number_or_none(p->step), "dev_score",
        number_or_none(p->dev_score), "dev_best", number_or_none(p->dev_best), "seconds",
        number_or_none(p->seconds), "seconds_left", number_or_none(p->seconds_left), "sequences",
        (unsigned long long)p->n_sequences, "tokens", (unsigned long long)p->n_tokens, "labels",
        (unsigned long long)p->n_labels, "attributes", (unsigned long long)p->n_attributes,
        "features", (unsigned long long)p->n_features, "estimated",
        p->estimated ? Py_True : Py_False, "note", p->note, "norm", p->norm, "active",
        (unsigned long long)p->n_active, "dev",
        p->dev ? pt_score_tuple(p->dev) : Py_NewRef(Py_None));
}

/* train.h: the data is borrowed until it has been read, dev data until features are compiled. */
static void free_used(run *r, const char *stage)
{
    const int k = strcmp(stage, "read") == 0 ? 0 : 1;
    if (!r->used[k] || (k == 1 && strcmp(stage, "compiled") != 0))
        return;
    trl_dataset_free(r->used[k]->data);
    r->used[k]->data = NULL;
    r->used[k] = NULL;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

static bool on_progress(void *ctx, const trl_progress *p)
{
    run *r = ctx;
    const PyGILState_STATE gil = PyGILState_Ensure();
    free_used(r, p->stage);
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

/* What is not in the library's table: inputs and outputs. */
static const char **file_member(trl_train_options *o, const char *name)
{
    static const struct {
        const char *name;
        size_t at;
    } members[] = {{"template_text", offsetof(trl_train_options, template_text)},
                   {"template_name", offsetof(trl_train_options, template_name)},
                   {"model", offsetof(trl_train_options, model)},
                   {"dev", offsetof(trl_train_options, dev)}};
    for (size_t k = 0; k < sizeof members / sizeof *members; k++)
        if (strcmp(name, members[k].name) == 0)
            return (const char **)(void *)((char *)o + members[k].at);
    return NULL;
}

static int set_option(trl_train_options *o, run *r, PyObject *key, PyObject *v)
{
    Py_ssize_t n = 0;
    const char *name = PyUnicode_AsUTF8(key);
    if (!name)
        return -1;
    if (strcmp(name, "train") == 0)
        return set_paths(o, r, v);
    const char **member = file_member(o, name);
    if (!member)
        return pt_option_set(trl_train_option_table(), o, r->texts, name, v);
    if (!(*member = pt_option_text(r->texts, name, v, &n)))
        return -1;
    if (strcmp(name, "template_text") == 0)
        o->template_size = (size_t)n;
    return 0;
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
    if (!d->data) {
        PyErr_SetString(PyExc_ValueError, "the data set was used up by a training");
        return -1;
    }
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

/* The model of chains; the bytes of others; None where it went to a file. */
static PyObject *model_of(trl_buf *bytes, bool chain)
{
    if (!bytes->len)
        return Py_NewRef(Py_None);
    return chain ? pt_model_of_bytes(bytes)
                 : PyBytes_FromStringAndSize(bytes->data, (Py_ssize_t)bytes->len);
}

static PyObject *answer(run *r, trl_status st, trl_buf *bytes, const trl_train_result *result,
                        const trl_error *err)
{
    if (st == TRL_OK) {
        if (r->type)
            PyErr_NormalizeException(&r->type, &r->value, &r->trace);
        PyObject *model = model_of(bytes, r->chain);
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
    static char *words[] = {"options", "data", "dev", "progress", "consume", NULL};
    int consume = 0;
    PyObject *dict, *data = Py_None, *dev = Py_None, *progress = Py_None, *out = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O!|OOOp", words, &PyDict_Type, &dict, &data, &dev,
                                     &progress, &consume))
        return NULL;
    run r = {.progress = progress == Py_None ? NULL : progress, .thread = pthread_self()};
    trl_train_options o = trl_train_options_default();
    trl_train_result result = {0};
    trl_error err = {0};
    trl_buf bytes = {0};
    trl_status st = TRL_OK;
    dict = PyDict_Copy(dict); /* nobody changes it meanwhile, and its strings live */
    r.texts = PyList_New(0);
    if (dict && r.texts && set_options(&o, &r, dict) == 0 && hold(data, &o, false) == 0) {
        if (hold(dev, &o, true) == 0) {
            if (!o.model)
                o.model_out = &bytes;
            r.chain = !o.kind || strcmp(o.kind, "chain") == 0;
            if (consume && r.chain) { /* unless somebody else trains from it, too */
                r.used[0] =
                    data != Py_None && ((pt_dataset *)data)->busy == 1 ? (pt_dataset *)data : NULL;
                r.used[1] =
                    dev != Py_None && ((pt_dataset *)dev)->busy == 1 ? (pt_dataset *)dev : NULL;
            }
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
    Py_XDECREF(r.texts);
    Py_XDECREF(r.type);
    Py_XDECREF(r.value);
    Py_XDECREF(r.trace);
    return out;
}
