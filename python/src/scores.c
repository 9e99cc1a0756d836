/* scores.c -- how good taggings and trees are, and whether two systems differ. */
/* SPDX-License-Identifier: MIT */
#include "core.h"

#include "trellis/compare.h"
#include "trellis/parseval.h"

#include <math.h>

static PyObject *text_and_free(char *text)
{
    PyObject *out = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
    trl_text_free(text);
    return out;
}

/* ---- tags ------------------------------------------------------------------------------------ */

/* The tags of n columns of one sentence, in a row each; the strings belong to the lists. */
static int take_tags(PyObject *const *list, size_t n, const char ***out, Py_ssize_t *length)
{
    *length = -1;
    for (size_t k = 0; k < n; k++) {
        const Py_ssize_t m = PyList_Check(list[k]) ? PyList_GET_SIZE(list[k]) : -1;
        if (m < 0 || (*length >= 0 && m != *length)) {
            PyErr_SetString(m < 0 ? PyExc_TypeError : PyExc_ValueError,
                            m < 0 ? "the tags of a sentence are a list"
                                  : "a sentence has different numbers of tags");
            return -1;
        }
        *length = m;
    }
    const char **tag = PyMem_Calloc((size_t)*length * n + 1, sizeof *tag);
    if (!tag) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t k = 0; k < n; k++)
        for (Py_ssize_t t = 0; t < *length; t++) {
            trl_str s;
            if (pt_text(PyList_GET_ITEM(list[k], t), "a tag", &s) < 0 ||
                (strlen(s.p) != s.n &&
                 (PyErr_SetString(PyExc_ValueError, "a tag contains a NUL byte"), true))) {
                PyMem_Free(tag);
                return -1;
            }
            tag[k * (size_t)*length + (size_t)t] = s.p;
        }
    *out = tag;
    return 0;
}

static PyObject *row_list(const trl_score *s,
                          size_t (*get)(const trl_score *, trl_score_row *, size_t))
{
    const size_t n = get(s, NULL, 0);
    trl_score_row *rows = PyMem_Calloc(n + 1, sizeof *rows);
    PyObject *list = rows ? PyList_New(0) : PyErr_NoMemory();
    get(s, rows, rows ? n : 0);
    for (size_t k = 0; list && k < n; k++) {
        PyObject *row = Py_BuildValue(
            "(NKKKddd)", pt_string((trl_str){rows[k].name, strlen(rows[k].name)}),
            (unsigned long long)rows[k].correct, (unsigned long long)rows[k].gold,
            (unsigned long long)rows[k].predicted, rows[k].precision, rows[k].recall, rows[k].f1);
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    PyMem_Free(rows);
    return list;
}

static PyObject *confusion_list(const trl_score *s)
{
    const size_t n = trl_score_confusions(s, NULL, 0);
    trl_score_confusion *rows = PyMem_Calloc(n + 1, sizeof *rows);
    PyObject *list = rows ? PyList_New(0) : PyErr_NoMemory();
    trl_score_confusions(s, rows, rows ? n : 0);
    for (size_t k = 0; list && k < n; k++) {
        PyObject *row =
            Py_BuildValue("(NNK)", pt_string((trl_str){rows[k].gold, strlen(rows[k].gold)}),
                          pt_string((trl_str){rows[k].predicted, strlen(rows[k].predicted)}),
                          (unsigned long long)rows[k].count);
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    PyMem_Free(rows);
    return list;
}

static PyObject *totals_dict(const trl_score *s)
{
    const trl_score_totals t = trl_score_get(s);
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:d,s:d,s:d,s:d,s:d}", "tokens", (unsigned long long)t.tokens,
        "correct_tokens", (unsigned long long)t.correct_tokens, "sequences",
        (unsigned long long)t.sequences, "correct_sequences",
        (unsigned long long)t.correct_sequences, "gold", (unsigned long long)t.gold, "predicted",
        (unsigned long long)t.predicted, "correct", (unsigned long long)t.correct, "accuracy",
        t.accuracy, "sequence_accuracy", t.sequence_accuracy, "precision", t.precision, "recall",
        t.recall, "f1", t.f1);
}

static int add_tags(trl_score *s, PyObject *gold, PyObject *predicted)
{
    trl_error err = {0};
    if (PyList_GET_SIZE(gold) != PyList_GET_SIZE(predicted)) {
        PyErr_Format(PyExc_ValueError, "%zd sentences and %zd predictions", PyList_GET_SIZE(gold),
                     PyList_GET_SIZE(predicted));
        return -1;
    }
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(gold); k++) {
        PyObject *const pair[] = {PyList_GET_ITEM(gold, k), PyList_GET_ITEM(predicted, k)};
        const char **tag;
        Py_ssize_t n;
        if (take_tags(pair, 2, &tag, &n) < 0)
            return -1;
        const trl_status st = trl_score_add(s, (size_t)n, tag, tag + n, &err);
        PyMem_Free(tag);
        if (st != TRL_OK) {
            pt_raise(&err);
            return -1;
        }
    }
    return 0;
}

PyObject *pt_score_tuple(const trl_score *s)
{
    trl_error err = {0};
    char *chunks = NULL, *tokens = NULL;
    if (trl_score_report_chunks(s, false, &chunks, &err) != TRL_OK ||
        trl_score_report_tokens(s, &tokens, &err) != TRL_OK) {
        trl_text_free(chunks);
        return pt_raise(&err);
    }
    return Py_BuildValue("(NNNNNN)", totals_dict(s), row_list(s, trl_score_chunks),
                         row_list(s, trl_score_labels), confusion_list(s), text_and_free(chunks),
                         text_and_free(tokens));
}

/* score_tags(gold, predicted, raw): as pt_score_tuple */
static PyObject *score_tags(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *gold, *predicted, *out = NULL;
    int raw = 0;
    trl_error err = {0};
    trl_score *s = NULL;
    if (!PyArg_ParseTuple(args, "O!O!|p", &PyList_Type, &gold, &PyList_Type, &predicted, &raw))
        return NULL;
    trl_score_options o = trl_score_options_default();
    o.raw = raw;
    if (trl_score_new(&o, &s, &err) != TRL_OK)
        return pt_raise(&err);
    if (add_tags(s, gold, predicted) == 0)
        out = pt_score_tuple(s);
    trl_score_free(s);
    return out;
}

/* ---- trees ----------------------------------------------------------------------------------- */

static PyObject *tree_totals(const trl_parseval *p)
{
    const trl_parseval_totals t = trl_parseval_get(p, UINT64_MAX);
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:d,s:d,s:d,s:d,s:d,s:d}", "sentences",
        (unsigned long long)t.sentences, "errors", (unsigned long long)t.errors, "skipped",
        (unsigned long long)t.skipped, "valid", (unsigned long long)t.valid, "matched",
        (unsigned long long)t.match, "gold", (unsigned long long)t.gold, "predicted",
        (unsigned long long)t.test, "precision", t.precision, "recall", t.recall, "f1", t.f1,
        "exact", t.exact, "crossing", t.mean_crossing, "tagging", t.tagging);
}

static PyObject *tree_rows(const trl_parseval *p)
{
    size_t n;
    const trl_parseval_sentence *s = trl_parseval_sentences(p, &n);
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < n; k++) {
        PyObject *row = Py_BuildValue("(iIIII)", (int)s[k].state, s[k].length, s[k].match,
                                      s[k].gold, s[k].test);
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static int add_trees(trl_parseval *p, PyObject *gold, PyObject *test)
{
    trl_error err = {0};
    trl_str a, b;
    if (PyList_GET_SIZE(gold) != PyList_GET_SIZE(test)) {
        PyErr_Format(PyExc_ValueError, "%zd trees and %zd predictions", PyList_GET_SIZE(gold),
                     PyList_GET_SIZE(test));
        return -1;
    }
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(gold); k++) {
        if (pt_text(PyList_GET_ITEM(gold, k), "a tree", &a) < 0 ||
            pt_text(PyList_GET_ITEM(test, k), "a tree", &b) < 0)
            return -1;
        if (trl_parseval_add(p, a.p, a.n, b.p, b.n, &err) != TRL_OK) {
            pt_raise(&err);
            return -1;
        }
    }
    return 0;
}

/* score_trees(gold lines, test lines, params, unlabelled): totals, sentences, errors, report */
static PyObject *score_trees(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *gold, *test, *out = NULL;
    const char *params = "collins";
    int unlabelled = 0;
    trl_error err = {0};
    trl_parseval *p = NULL;
    char *report = NULL;
    if (!PyArg_ParseTuple(args, "O!O!|sp", &PyList_Type, &gold, &PyList_Type, &test, &params,
                          &unlabelled))
        return NULL;
    trl_parseval_options o = trl_parseval_options_default();
    o.params = params;
    o.unlabelled = unlabelled;
    if (trl_parseval_new(&o, &p, &err) != TRL_OK)
        return pt_raise(&err);
    if (add_trees(p, gold, test) == 0) {
        if (trl_parseval_report(p, &report, &err) == TRL_OK)
            out = Py_BuildValue("(NNsN)", tree_totals(p), tree_rows(p), trl_parseval_errors(p),
                                text_and_free(report));
        else
            pt_raise(&err);
    }
    trl_parseval_free(p);
    return out;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static PyObject *test_tuple(const trl_test *t)
{
    return Py_BuildValue("(ddnO)", t->statistic, t->p, (Py_ssize_t)t->n,
                         t->exact ? Py_True : Py_False);
}

static PyObject *comparison_tuple(const trl_comparison *c)
{
    PyObject *rows = PyList_New(0);
    for (int k = 0; rows && k < TRL_MEASURES; k++) {
        PyObject *row =
            Py_BuildValue("(dddddd)", c->score[0][k], c->score[1][k], c->difference[k].difference,
                          c->difference[k].low, c->difference[k].high, c->difference[k].p);
        if (!row || PyList_Append(rows, row) < 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    return rows
               ? Py_BuildValue("(KKKONKKNNN)", (unsigned long long)c->sentences,
                               (unsigned long long)c->tokens, (unsigned long long)c->chunks,
                               c->chunk_tags ? Py_True : Py_False, rows,
                               (unsigned long long)c->only_a, (unsigned long long)c->only_b,
                               test_tuple(&c->mcnemar), test_tuple(&c->t), test_tuple(&c->wilcoxon))
               : NULL;
}

static int add_three(trl_compare *c, PyObject *gold, PyObject *a, PyObject *b)
{
    trl_error err = {0};
    const Py_ssize_t n = PyList_GET_SIZE(gold);
    if (PyList_GET_SIZE(a) != n || PyList_GET_SIZE(b) != n) {
        PyErr_SetString(PyExc_ValueError, "the systems have different numbers of sentences");
        return -1;
    }
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *const three[] = {PyList_GET_ITEM(gold, k), PyList_GET_ITEM(a, k),
                                   PyList_GET_ITEM(b, k)};
        const char **tag;
        Py_ssize_t m;
        if (take_tags(three, 3, &tag, &m) < 0)
            return -1;
        const trl_status st =
            m ? trl_compare_add(c, (size_t)m, tag, tag + m, tag + 2 * m, &err) : TRL_OK;
        PyMem_Free(tag);
        if (st != TRL_OK) {
            pt_raise(&err);
            return -1;
        }
    }
    return 0;
}

static PyObject *run_comparison(trl_compare *c, const trl_bootstrap_options *o)
{
    trl_comparison r;
    trl_error err = {0};
    trl_status st;
    Py_BEGIN_ALLOW_THREADS st = trl_compare_run(c, o, &r, &err);
    Py_END_ALLOW_THREADS return st == TRL_OK ? comparison_tuple(&r) : pt_raise(&err);
}

/* compare_tags(gold, a, b, resamples, seed, confidence) */
static PyObject *compare_tags(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *gold, *a, *b, *out = NULL;
    unsigned long long resamples, seed;
    trl_error err = {0};
    trl_compare *c = NULL;
    trl_bootstrap_options o = trl_bootstrap_options_default();
    if (!PyArg_ParseTuple(args, "O!O!O!KKd", &PyList_Type, &gold, &PyList_Type, &a, &PyList_Type,
                          &b, &resamples, &seed, &o.confidence))
        return NULL;
    o.resamples = resamples;
    o.seed = seed;
    if (trl_compare_new(&c, &err) != TRL_OK)
        return pt_raise(&err);
    if (add_three(c, gold, a, b) == 0)
        out = run_comparison(c, &o);
    trl_compare_free(c);
    return out;
}

/* compare_trees(paths of gold, a, b, resamples, seed, confidence, params) */
static PyObject *compare_trees(PyObject *module, PyObject *args)
{
    (void)module;
    const char *gold, *a, *b, *params = "collins";
    unsigned long long resamples, seed;
    uint64_t left_out;
    trl_error err = {0};
    trl_compare *c = NULL;
    trl_bootstrap_options o = trl_bootstrap_options_default();
    if (!PyArg_ParseTuple(args, "sssKKd|s", &gold, &a, &b, &resamples, &seed, &o.confidence,
                          &params))
        return NULL;
    trl_parseval_options p = trl_parseval_options_default();
    p.params = params;
    o.resamples = resamples;
    o.seed = seed;
    trl_status st;
    Py_BEGIN_ALLOW_THREADS st = trl_compare_new(&c, &err);
    if (st == TRL_OK)
        st = trl_compare_trees(c, &p, &(trl_compare_paths){gold, a, b}, &left_out, &err);
    Py_END_ALLOW_THREADS PyObject *out = st == TRL_OK ? run_comparison(c, &o) : pt_raise(&err);
    trl_compare_free(c);
    return out;
}

PyMethodDef pt_score_methods[] = {
    {"score_tags", score_tags, METH_VARARGS,
     "score_tags(gold, predicted, raw=False) -> totals, chunks, labels, confusions, reports"},
    {"score_trees", score_trees, METH_VARARGS,
     "score_trees(gold, test, params, unlabelled) -> totals, sentences, errors, report"},
    {"compare_tags", compare_tags, METH_VARARGS,
     "compare_tags(gold, a, b, resamples, seed, confidence)"},
    {"compare_trees", compare_trees, METH_VARARGS,
     "compare_trees(gold, a, b, resamples, seed, confidence, params): of files"},
    {NULL, NULL, 0, NULL},
};
