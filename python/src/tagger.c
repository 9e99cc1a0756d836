/* tagger.c -- questions about one sequence after the other. */
/* SPDX-License-Identifier: MIT */
#include "tagger.h"

static PyObject *tagger_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *words[] = {"model", "decode", NULL};
    PyObject *model;
    const char *decode = "model";
    trl_decoding how;
    trl_error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O!|s", words, &pt_model_type, &model, &decode) ||
        pt_decoding(decode, &how) < 0)
        return NULL;
    pt_tagger *self = (pt_tagger *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->model = (pt_model *)Py_NewRef(model);
    self->tagger = pt_model_tagger(self->model, &err);
    if (self->tagger && trl_tagger_set_decoding(self->tagger, how, &err) == TRL_OK)
        return (PyObject *)self;
    Py_DECREF(self);
    return pt_raise(&err);
}

static void tagger_dealloc(pt_tagger *self)
{
    if (self->constraint) { /* nobody else has its rules */
        trl_tagger_free(self->tagger);
        trl_constraint_free(self->constraint);
    } else if (self->model) {
        pt_model_give_back(self->model, self->tagger);
    }
    Py_XDECREF(self->model);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

int pt_tagger_ready(const pt_tagger *self, bool sequence)
{
    if (self->busy)
        PyErr_SetString(PyExc_RuntimeError, "another thread is using the tagger");
    else if (sequence && !self->n)
        PyErr_SetString(PyExc_ValueError, "there is no sequence yet: call set first");
    else
        return 0;
    return -1;
}

PyObject *pt_tagger_load(pt_tagger *self, PyObject *x, pt_loaded *then)
{
    trl_error err = {0};
    trl_status st = TRL_OK;
    pt_views v = {0};
    if (pt_tagger_ready(self, false) < 0)
        return NULL;
    pt_names own = {0}, *names = pt_model_names(self->model, &own);
    pt_batch b = {.names = names,
                  .rows = trl_model_get_info(self->model->model).format == TRL_FORMAT_COLUMNS};
    self->busy = true; /* reading x may run any code */
    const bool good = pt_batch_add(&b, x, NULL) == 0 && pt_views_make(&v, &b) == 0;
    if (good && then)
        st = then->ask(then, self->tagger, &v, &err);
    else if (good && b.n_tokens)
        PT_CALL(self, st,
                b.rows ? trl_tagger_set_rows(self->tagger, v.rows, &err)
                       : trl_tagger_set_items(self->tagger, v.items, &err));
    self->busy = false;
    if (good && st == TRL_OK)
        self->n = b.n_tokens;
    pt_views_fini(&v);
    pt_batch_fini(&b);
    pt_model_names_done(self->model, names, &own);
    if (!good)
        return NULL;
    if (st != TRL_OK)
        return pt_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *tagger_set(pt_tagger *self, PyObject *x)
{
    return pt_tagger_load(self, x, NULL);
}

static PyObject *tagger_viterbi(pt_tagger *self, PyObject *unused)
{
    (void)unused;
    trl_error err = {0};
    trl_status st;
    double score;
    if (pt_tagger_ready(self, false) < 0)
        return NULL;
    if (!self->n)
        return Py_BuildValue("([]d)", 0.0);
    uint32_t *label = PyMem_Malloc(self->n * sizeof *label);
    if (!label)
        return PyErr_NoMemory();
    PT_CALL(self, st, trl_tagger_viterbi(self->tagger, label, &score, &err));
    PyObject *out = st == TRL_OK
                        ? Py_BuildValue("(Nd)", pt_label_list(self->model, label, self->n), score)
                        : pt_raise(&err);
    PyMem_Free(label);
    return out;
}

static PyObject *numbers(pt_tagger *self, bool pairs)
{
    trl_error err = {0};
    trl_status st;
    if (pt_tagger_ready(self, true) < 0)
        return NULL;
    const size_t l = trl_model_get_info(self->model->model).n_labels;
    const size_t n = pairs ? (self->n - 1) * l * l : self->n * l;
    double *p = PyMem_Calloc(n + 1, sizeof *p);
    if (!p)
        return PyErr_NoMemory();
    PT_CALL(self, st,
            pairs ? trl_tagger_pair_marginals(self->tagger, p, &err)
                  : trl_tagger_marginals(self->tagger, p, &err));
    PyObject *out = st == TRL_OK ? pt_doubles(p, n) : pt_raise(&err);
    PyMem_Free(p);
    return out;
}

static PyObject *tagger_marginals(pt_tagger *self, PyObject *unused)
{
    (void)unused;
    return numbers(self, false);
}

static PyObject *tagger_pairs(pt_tagger *self, PyObject *unused)
{
    (void)unused;
    return numbers(self, true);
}

static PyObject *tagger_log_z(pt_tagger *self, PyObject *unused)
{
    (void)unused;
    trl_error err = {0};
    trl_status st;
    double z;
    if (pt_tagger_ready(self, true) < 0)
        return NULL;
    PT_CALL(self, st, trl_tagger_log_z(self->tagger, &z, &err));
    return st == TRL_OK ? PyFloat_FromDouble(z) : pt_raise(&err);
}

/* The numbers of n labels; *label is to be freed with PyMem_Free.  0: the model does not have one
 * of them; -1 with an exception. */
int pt_tagger_labels(const pt_tagger *self, PyObject *labels, uint32_t **label)
{
    int known = 1;
    PyObject *fast = PySequence_Fast(labels, "a labelling is a list of labels");
    if (!fast)
        return -1;
    if ((size_t)PySequence_Fast_GET_SIZE(fast) != self->n) {
        PyErr_Format(PyExc_ValueError, "%zd labels for %zu tokens", PySequence_Fast_GET_SIZE(fast),
                     self->n);
        Py_DECREF(fast);
        return -1;
    }
    *label = PyMem_Malloc(self->n * sizeof **label);
    if (!*label)
        PyErr_NoMemory();
    for (size_t k = 0; *label && k < self->n; k++) {
        trl_str s;
        if (pt_text(PySequence_Fast_GET_ITEM(fast, (Py_ssize_t)k), "a label", &s) < 0) {
            PyMem_Free(*label);
            *label = NULL;
            break;
        }
        (*label)[k] = trl_model_find_label(self->model->model, s);
        known = known && (*label)[k] != UINT32_MAX;
    }
    Py_DECREF(fast);
    return *label ? known : -1;
}

/* The score of a labelling; None when the model does not have one of its labels. */
static PyObject *tagger_score(pt_tagger *self, PyObject *labels)
{
    trl_error err = {0};
    trl_status st;
    double score;
    uint32_t *label = NULL;
    const int known = pt_tagger_ready(self, true) < 0 ? -1 : pt_tagger_labels(self, labels, &label);
    if (known < 0)
        return NULL;
    if (!known) {
        PyMem_Free(label);
        Py_RETURN_NONE;
    }
    PT_CALL(self, st, trl_tagger_score(self->tagger, label, &score, &err));
    PyMem_Free(label);
    return st == TRL_OK ? PyFloat_FromDouble(score) : pt_raise(&err);
}

static PyObject *tagger_length(pt_tagger *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(self->n);
}

static PyGetSetDef tagger_members[] = {
    {"n_tokens", (getter)tagger_length, NULL, "Tokens of the current sequence.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef tagger_methods[] = {
    {"set", (PyCFunction)tagger_set, METH_O, "Loads a sequence."},
    {"viterbi", (PyCFunction)tagger_viterbi, METH_NOARGS, "(labels, score)"},
    {"marginals", (PyCFunction)tagger_marginals, METH_NOARGS, "doubles [tokens][labels]"},
    {"pair_marginals", (PyCFunction)tagger_pairs, METH_NOARGS,
     "doubles [tokens - 1][labels][labels]"},
    {"log_z", (PyCFunction)tagger_log_z, METH_NOARGS, "log Z"},
    {"score", (PyCFunction)tagger_score, METH_O, "The score of a labelling."},
    {"spans", (PyCFunction)pt_tagger_spans, METH_VARARGS,
     "spans(labels, least): [(begin, end, type, p, boundaries)] of the labelling, or of all spans "
     "with at least that probability"},
    {"entropy", (PyCFunction)pt_tagger_entropy, METH_NOARGS,
     "(of the labelling, doubles [tokens])"},
    {"explain", (PyCFunction)pt_tagger_explain, METH_VARARGS,
     "explain(xseq, position): [(scope, name, value, weights)] of the attributes at a token"},
    {"rules", (PyCFunction)pt_tagger_rules, METH_O, "Rules about labels, for all sequences."},
    {"allow", (PyCFunction)pt_tagger_allow, METH_VARARGS,
     "allow(position, 'A|B'): what a token of the sequence may be"},
    {"fix_span", (PyCFunction)pt_tagger_fix_span, METH_VARARGS,
     "fix_span(begin, end, type): a span of the sequence"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject pt_tagger_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "trellis._core.Tagger",
    .tp_basicsize = sizeof(pt_tagger),
    .tp_dealloc = (destructor)tagger_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Tagger(model, decode='model'): questions about one sequence after the other.",
    .tp_methods = tagger_methods,
    .tp_getset = tagger_members,
    .tp_new = tagger_new,
};
